package gitobject

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"
)

// Inflater reads a part of a file through a buffer, and zlib streams in it. The stream's Adler-32 is not looked at:
// every object is compared with its id.
type Inflater struct {
	*bufio.Reader // reads part; flate knows this type, and so calls no interface for each byte
	part          part
	Flate         io.ReadCloser // reads the stream that Zlib began
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
	return &Inflater{Reader: bufio.NewReaderSize(nil, nextRead)}
}}

// Inflate starts at an offset of a file and reads nothing at or beyond end.
func Inflate(file io.ReaderAt, at, end int64) *Inflater {
	r := inflaters.Get().(*Inflater)
	r.begin(file, at, end)
	return r
}

func (r *Inflater) begin(file io.ReaderAt, at, end int64) {
	r.part = part{file: file, at: at, end: end}
	r.Reset(&r.part)
}

// Release lets another Inflate use the memory of r.
func (r *Inflater) Release() {
	r.part.file = nil
	inflaters.Put(r)
}

// Head returns the next bytes of the file, as many as one read returns.
func (r *Inflater) Head() ([]byte, error) {
	if _, err := r.Peek(1); err != nil {
		return nil, err
	}
	return r.Peek(r.Buffered())
}

// Offset returns the position in the file up to which the stream was read.
func (r *Inflater) Offset() int64 { return r.part.at - int64(r.Buffered()) }

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

// Zlib begins a zlib stream at the place that was read to, for AtMost and Exactly.
func (r *Inflater) Zlib() error {
	head, err := r.Peek(2)
	if err != nil {
		return StreamError(err)
	}
	if head[0]&0x0f != 8 || head[1]&0x20 != 0 || binary.BigEndian.Uint16(head)%31 != 0 {
		return fmt.Errorf("%w: no zlib stream", ErrCorrupt)
	}
	r.Discard(len(head))
	if r.Flate == nil {
		r.Flate = flate.NewReader(r.Reader)
		return nil
	}
	// Reset leaves the code tables of the stream before, by which a damaged stream that uses a code without symbols is
	// decoded. What comes of that is compared with the object's id, as all is.
	return r.Flate.(flate.Resetter).Reset(r.Reader, nil)
}

// Stream fills out with a whole zlib stream.
func (r *Inflater) Stream(out []byte) error {
	if err := r.Zlib(); err != nil {
		return err
	}
	return r.Exactly(out)
}

// Exactly fills out with the rest of the stream. It fails if the stream is longer.
func (r *Inflater) Exactly(out []byte) error {
	if _, err := io.ReadFull(r.Flate, out); err != nil {
		return StreamError(err)
	}
	var more [1]byte
	n, err := io.ReadFull(r.Flate, more[:])
	if n > 0 {
		return fmt.Errorf("%w: more than its %d bytes", ErrCorrupt, len(out))
	}
	if err != io.EOF {
		return StreamError(err)
	}
	return nil
}

// AtMost fills out with the start of the stream, or all of it.
func (r *Inflater) AtMost(out []byte) (int, error) {
	n, err := io.ReadFull(r.Flate, out)
	if err != nil && err != io.ErrUnexpectedEOF && err != io.EOF {
		return n, StreamError(err)
	}
	return n, nil
}

// StreamError distinguishes damage of the stream from failures to read the file.
func StreamError(err error) error {
	var damage flate.CorruptInputError
	var impossible flate.InternalError // so it calls what it decodes by a code without symbols
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &damage) ||
		errors.As(err, &impossible) {
		return fmt.Errorf("%w: its compressed bytes end early or are damaged (%w)", ErrCorrupt, err)
	}
	return err
}
