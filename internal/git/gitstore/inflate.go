package gitstore

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"
)

// inflater reads a part of a file through a buffer, and zlib streams in it. The stream's Adler-32 is not looked at:
// every object is compared with its id.
type inflater struct {
	*bufio.Reader // reads part; flate knows this type, and so calls no interface for each byte
	part          part
	flate         io.ReadCloser
}

// part is what a file holds from at to end. Its first Read is a short one.
type part struct {
	file    io.ReaderAt
	at, end int64
	started bool
}

const (
	firstRead = 1 << 10 // most objects of a registry take less
	nextRead  = 16 << 10
)

var inflaters = sync.Pool{New: func() any {
	return &inflater{Reader: bufio.NewReaderSize(nil, nextRead)}
}}

// inflate starts at an offset of a file and reads nothing at or beyond end.
func inflate(file io.ReaderAt, at, end int64) *inflater {
	r := inflaters.Get().(*inflater)
	r.begin(file, at, end)
	return r
}

func (r *inflater) begin(file io.ReaderAt, at, end int64) {
	r.part = part{file: file, at: at, end: end}
	r.Reset(&r.part)
}

func (r *inflater) release() {
	r.part.file = nil
	inflaters.Put(r)
}

// head returns the next bytes of the file, as many as one read returns.
func (r *inflater) head() ([]byte, error) {
	if _, err := r.Peek(1); err != nil {
		return nil, err
	}
	return r.Peek(r.Buffered())
}

// offset returns the position in the file up to which the stream was read.
func (r *inflater) offset() int64 { return r.part.at - int64(r.Buffered()) }

// Read reads the file as it is.
func (p *part) Read(b []byte) (int, error) {
	n := min(int64(len(b)), p.end-p.at)
	if !p.started {
		n, p.started = min(n, firstRead), true
	}
	if n <= 0 {
		return 0, io.EOF
	}
	got, err := p.file.ReadAt(b[:n], p.at)
	p.at += int64(got)
	if got > 0 {
		err = nil
	}
	return got, err
}

// zlib begins a zlib stream at the place that was read to, for atMost and exactly.
func (r *inflater) zlib() error {
	head, err := r.Peek(2)
	if err != nil {
		return streamError(err)
	}
	if head[0]&0x0f != 8 || head[1]&0x20 != 0 || binary.BigEndian.Uint16(head)%31 != 0 {
		return fmt.Errorf("%w: no zlib stream", ErrCorrupt)
	}
	r.Discard(len(head))
	if r.flate == nil {
		r.flate = flate.NewReader(r.Reader)
		return nil
	}
	// Reset leaves the code tables of the stream before, by which a damaged stream that uses a code without symbols is
	// decoded. What comes of that is compared with the object's id, as all is.
	return r.flate.(flate.Resetter).Reset(r.Reader, nil)
}

// stream fills out with a whole zlib stream.
func (r *inflater) stream(out []byte) error {
	if err := r.zlib(); err != nil {
		return err
	}
	return r.exactly(out)
}

// exactly fills out with the rest of the stream. It fails if the stream is longer.
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

// streamError distinguishes damage of the stream from failures to read the file.
func streamError(err error) error {
	var damage flate.CorruptInputError
	var impossible flate.InternalError // so it calls what it decodes by a code without symbols
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &damage) ||
		errors.As(err, &impossible) {
		return fmt.Errorf("%w: its compressed bytes end early or are damaged (%w)", ErrCorrupt, err)
	}
	return err
}
