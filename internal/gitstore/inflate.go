package gitstore

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"
)

// inflater reads a part of a file through a buffer, and zlib streams in it. The stream's Adler-32 is not looked at:
// every object is held against its id.
type inflater struct {
	file    io.ReaderAt
	at, end int64 // of what is not yet in buf
	buf     []byte
	rest    []byte // of buf, not yet read
	flate   io.ReadCloser
	started bool
}

const (
	firstRead = 1 << 10 // most objects of a registry take less
	nextRead  = 16 << 10
)

var inflaters = sync.Pool{New: func() any {
	return &inflater{buf: make([]byte, nextRead)}
}}

// inflate starts at an offset of a file and reads nothing at or beyond end.
func inflate(file io.ReaderAt, at, end int64) *inflater {
	r := inflaters.Get().(*inflater)
	r.file, r.at, r.end, r.rest, r.started = file, at, end, nil, false
	return r
}

func (r *inflater) release() {
	r.file = nil
	inflaters.Put(r)
}

// peek is what the file holds next, as much as the first read gives.
func (r *inflater) peek() ([]byte, error) {
	if len(r.rest) == 0 {
		if err := r.fill(); err != nil {
			return nil, err
		}
	}
	return r.rest, nil
}

func (r *inflater) skip(n int) { r.rest = r.rest[n:] }

func (r *inflater) fill() error {
	n := int64(nextRead)
	if !r.started {
		n, r.started = firstRead, true
	}
	n = min(n, r.end-r.at)
	if n <= 0 {
		return io.EOF
	}
	got, err := r.file.ReadAt(r.buf[:n], r.at)
	if got == 0 && err != nil {
		return err
	}
	r.rest, r.at = r.buf[:got], r.at+int64(got)
	return nil
}

// ReadByte reads the file as it is.
func (r *inflater) ReadByte() (byte, error) {
	rest, err := r.peek()
	if err != nil {
		return 0, err
	}
	r.rest = rest[1:]
	return rest[0], nil
}

// Read reads the file as it is.
func (r *inflater) Read(p []byte) (int, error) {
	rest, err := r.peek()
	if err != nil {
		return 0, err
	}
	n := copy(p, rest)
	r.skip(n)
	return n, nil
}

// zlib begins a zlib stream at the place that was read to, for atMost and exactly.
func (r *inflater) zlib() error {
	cmf, err := r.ReadByte()
	if err != nil {
		return streamError(err)
	}
	flg, err := r.ReadByte()
	if err != nil {
		return streamError(err)
	}
	if cmf&0x0f != 8 || flg&0x20 != 0 || (uint(cmf)<<8|uint(flg))%31 != 0 {
		return fmt.Errorf("%w: no zlib stream", ErrCorrupt)
	}
	if r.flate == nil {
		r.flate = flate.NewReader(r)
		return nil
	}
	// Reset leaves the code tables of the stream before, by which a damaged stream that uses a code without symbols is
	// decoded. What comes of that is held against the object's id, as all is.
	return r.flate.(flate.Resetter).Reset(r, nil)
}

// stream fills out with a whole zlib stream.
func (r *inflater) stream(out []byte) error {
	if err := r.zlib(); err != nil {
		return err
	}
	return r.exactly(out)
}

// exactly fills out with the rest of the stream, which is no longer.
func (r *inflater) exactly(out []byte) error {
	if _, err := io.ReadFull(r.flate, out); err != nil {
		return streamError(err)
	}
	var more [1]byte
	n, err := io.ReadFull(r.flate, more[:])
	if n > 0 {
		return fmt.Errorf("%w: more than its %d bytes", ErrCorrupt, len(out))
	}
	if err != io.EOF {
		return streamError(err)
	}
	return nil
}

// atMost fills out with the start of the stream, or all of it.
func (r *inflater) atMost(out []byte) (int, error) {
	n, err := io.ReadFull(r.flate, out)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return n, streamError(err)
	}
	return n, nil
}

// streamError tells damage of the stream from failures to read the file.
func streamError(err error) error {
	var damage flate.CorruptInputError
	var impossible flate.InternalError // so it calls what it decodes by a code without symbols
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &damage) ||
		errors.As(err, &impossible) {
		return fmt.Errorf("%w: its compressed bytes end early or are damaged (%w)", ErrCorrupt, err)
	}
	return err
}
