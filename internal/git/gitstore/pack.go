package gitstore

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"
)

// Kinds of pack entries that are not objects.
const (
	offsetDelta Type = 6
	refDelta    Type = 7
)

// pack is a pack and its index. It is opened when first read; until that succeeds each reader tries again.
type pack struct {
	path  string // the pack file
	index *index

	opened  atomic.Bool // file and end are set, and stay
	opening sync.Mutex
	file    file
	end     int64 // where the checksum of the pack begins
}

// file is what is read of an *os.File.
type file interface {
	io.ReaderAt
	io.Closer
}

// ready opens the pack and compares its header and checksum with the index. The error is fs.ErrNotExist if gc removed
// the pack.
func (p *pack) ready() error {
	if p.opened.Load() {
		return nil
	}
	p.opening.Lock()
	defer p.opening.Unlock()
	if p.opened.Load() {
		return nil
	}
	f, err := open(p.path)
	if err != nil {
		return err
	}
	end, err := checkPack(f, p.index)
	if err != nil {
		return errors.Join(err, f.Close())
	}
	p.file, p.end = f, end
	p.opened.Store(true)
	return nil
}

func checkPack(f *os.File, x *index) (int64, error) {
	count, end, err := packHead(f, x.idSize)
	if err != nil {
		return 0, err
	}
	tail := make([]byte, x.idSize)
	if _, err := f.ReadAt(tail, end); err != nil {
		return 0, err
	}
	switch {
	case int64(count) != int64(x.count()):
		return 0, fmt.Errorf("%w: pack of %d objects, its index has %d", ErrCorrupt, count, x.count())
	case !bytes.Equal(tail, x.pack):
		return 0, fmt.Errorf("%w: the index is of another pack", ErrCorrupt)
	}
	return end, nil
}

// packHeadSize is the size of a pack's head, after which the first entry begins.
const packHeadSize = 12

// packHead reads the head of a pack: how many objects it has. The entries end at end, where the checksum begins.
func packHead(f *os.File, idSize int) (count uint32, end int64, err error) {
	if end, err = packEnd(f, idSize); err != nil {
		return 0, 0, err
	}
	var head [packHeadSize]byte
	if _, err := f.ReadAt(head[:], 0); err != nil {
		return 0, 0, err
	}
	version, count := binary.BigEndian.Uint32(head[4:]), binary.BigEndian.Uint32(head[8:])
	switch {
	case string(head[:4]) != "PACK":
		return 0, 0, fmt.Errorf("%w: no pack", ErrCorrupt)
	case version != 2 && version != 3:
		return 0, 0, fmt.Errorf("pack version %d is %w", version, ErrUnsupported)
	}
	return count, end, nil
}

func packEnd(f *os.File, idSize int) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	end := info.Size() - int64(idSize)
	if end < packHeadSize {
		return 0, fmt.Errorf("%w: pack of %d bytes", ErrCorrupt, info.Size())
	}
	return end, nil
}

// packSum is PackSum of an open file, whose trailer begins at end.
func packSum(ctx context.Context, f *os.File, end int64, idSize int) ([]byte, error) {
	h := NewHash(idSize)
	entries := readerOf{ctx, io.NewSectionReader(f, 0, end)}
	if _, err := io.CopyBuffer(h, entries, make([]byte, 256<<10)); err != nil {
		return nil, err
	}
	tail := make([]byte, idSize)
	if _, err := f.ReadAt(tail, end); err != nil {
		return nil, err
	}
	sum := h.Sum(nil)
	if !bytes.Equal(sum, tail) {
		return nil, fmt.Errorf("%w: its bytes do not hash to its trailer", ErrCorrupt)
	}
	return sum, nil
}

// readerOf is a reader that ends with a context.
type readerOf struct {
	ctx context.Context
	io.Reader
}

func (r readerOf) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

func (p *pack) close() error {
	if !p.opened.Load() {
		return nil
	}
	return p.file.Close()
}

// entry is the head of a pack entry. Size is what its stream inflates to: an object, or a delta.
type entry struct {
	kind Type
	size int64
	base int64 // offset of the base of a delta
}

// start reads the header of the entry at an offset and returns an inflater at the start of its stream. The caller
// releases the inflater.
func (p *pack) start(at int64) (*inflater, entry, error) {
	if at < packHeadSize || at >= p.end {
		return nil, entry{}, fmt.Errorf("%w: offset %d lies outside the pack", ErrCorrupt, at)
	}
	r := inflate(p.file, at, p.end)
	e, err := p.entry(r, at)
	if err != nil {
		r.release()
		return nil, entry{}, err
	}
	return r, e, nil
}

// entry reads the head of an entry.
func (p *pack) entry(r *inflater, at int64) (entry, error) {
	head, err := r.head()
	if err != nil {
		return entry{}, err
	}
	e, base, used, err := parseEntry(head, at, p.index.idSize)
	if err != nil {
		return entry{}, err
	}
	if e.kind == refDelta {
		var found bool
		if e.base, found = p.index.find(base); !found {
			return entry{}, fmt.Errorf("%w: the delta at %d has the base %s, which is not in the pack", ErrCorrupt, at,
				base)
		}
	}
	r.Discard(used)
	return e, nil
}

// kind returns the type of the object at an offset, which is that of the whole object at the end of its delta chain.
func (p *pack) kind(at int64) (Type, error) {
	for range maxChain {
		r, e, err := p.start(at)
		if err != nil {
			return 0, err
		}
		r.release()
		if e.kind < offsetDelta {
			return e.kind, nil
		}
		at = e.base
	}
	return 0, fmt.Errorf("%w: a chain of more than %d deltas", ErrTooLarge, maxChain)
}

var errEntryEnds = fmt.Errorf("%w: the pack ends inside the head of an entry, or its size does not end", ErrCorrupt)

// parseEntry reads the head of the entry at an offset, gitformat-pack(5), which takes used bytes. A refDelta has its
// base by its id.
func parseEntry(head []byte, at int64, idSize int) (e entry, base ID, used int, err error) {
	if len(head) == 0 {
		return e, base, 0, errEntryEnds
	}
	c := head[0]
	e = entry{kind: Type(c >> 4 & 7), size: int64(c & 15)}
	used = 1
	for shift := 4; c >= 0x80; shift += 7 {
		if used == len(head) || shift > 53 {
			return e, base, 0, errEntryEnds
		}
		c = head[used]
		e.size |= int64(c&0x7f) << shift
		used++
	}
	switch e.kind {
	case Commit, Tree, Blob, Tag:
	case offsetDelta:
		back, n := offsetBack(head[used:])
		if n == 0 || back <= 0 || back > at-packHeadSize {
			return e, base, 0, fmt.Errorf("%w: the delta at %d has its base %d bytes before", ErrCorrupt, at, back)
		}
		e.base, used = at-back, used+n
	case refDelta:
		if len(head)-used < idSize {
			return e, base, 0, errEntryEnds
		}
		base, used = BytesID(head[used:used+idSize]), used+idSize
	default:
		return e, base, 0, fmt.Errorf("%w: entry of type %d at %d", ErrCorrupt, e.kind, at)
	}
	return e, base, used, nil
}

// offsetBack reads how far back the base of an offset delta is, and how many bytes say so; 0 if they do not end.
func offsetBack(b []byte) (back int64, used int) {
	for i, c := range b {
		if i > 7 {
			break
		}
		if i > 0 {
			back++
		}
		back = back<<7 | int64(c&0x7f)
		if c < 0x80 {
			return back, i + 1
		}
	}
	return 0, 0
}
