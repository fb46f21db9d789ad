package gitobject

import (
	"encoding/binary"
	"fmt"
	"os"
)

// Kinds of pack entries that are not objects.
const (
	OffsetDelta Type = 6
	RefDelta    Type = 7
)

// MaxChain is the length of a delta chain; git writes at most 4095.
const MaxChain = 4096

// IndexMagic begins a pack index of version 2.
var IndexMagic = []byte{0xff, 't', 'O', 'c', 0, 0, 0, 2}

// PackHeadSize is the size of a pack's head, after which the first entry begins.
const PackHeadSize = 12

// PackHead reads the head of a pack: how many objects it has. The entries end at end, where the checksum begins.
func PackHead(f *os.File, idSize int) (count uint32, end int64, err error) {
	if end, err = PackEnd(f, idSize); err != nil {
		return 0, 0, err
	}
	var head [PackHeadSize]byte
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

// PackEnd returns where the entries of a pack end and its checksum begins.
func PackEnd(f *os.File, idSize int) (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	end := info.Size() - int64(idSize)
	if end < PackHeadSize {
		return 0, fmt.Errorf("%w: pack of %d bytes", ErrCorrupt, info.Size())
	}
	return end, nil
}

// Entry is the head of a pack entry. Size is what its stream inflates to: an object, or a delta.
type Entry struct {
	Kind Type
	Size int64
	Base int64 // offset of the base of a delta
}

// ErrEntryEnds is the ErrCorrupt of an entry without an end.
var ErrEntryEnds = fmt.Errorf("%w: the pack ends inside the head of an entry, or its size does not end", ErrCorrupt)

// ParseEntry reads the head of the entry at an offset, gitformat-pack(5), which takes used bytes. A RefDelta has its
// base by its id.
func ParseEntry(head []byte, at int64, idSize int) (e Entry, base ID, used int, err error) {
	if len(head) == 0 {
		return e, base, 0, ErrEntryEnds
	}
	c := head[0]
	e = Entry{Kind: Type(c >> 4 & 7), Size: int64(c & 15)}
	used = 1
	for shift := 4; c >= 0x80; shift += 7 {
		if used == len(head) || shift > 53 {
			return e, base, 0, ErrEntryEnds
		}
		c = head[used]
		e.Size |= int64(c&0x7f) << shift
		used++
	}
	switch e.Kind {
	case Commit, Tree, Blob, Tag:
	case OffsetDelta:
		back, n := offsetBack(head[used:])
		if n == 0 || back <= 0 || back > at-PackHeadSize {
			return e, base, 0, fmt.Errorf("%w: the delta at %d has its base %d bytes before", ErrCorrupt, at, back)
		}
		e.Base, used = at-back, used+n
	case RefDelta:
		if len(head)-used < idSize {
			return e, base, 0, ErrEntryEnds
		}
		base, used = BytesID(head[used:used+idSize]), used+idSize
	default:
		return e, base, 0, fmt.Errorf("%w: entry of type %d at %d", ErrCorrupt, e.Kind, at)
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
