// Package packtest writes packs that git would write, and packs that it would not.
package packtest

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
)

// A Writer writes a pack and knows what its index says.
type Writer struct {
	Pack    bytes.Buffer
	Entries []Entry
	zlib    *zlib.Writer
}

// NewWriter returns a pack without entries.
func NewWriter() *Writer {
	w := &Writer{}
	w.Pack.WriteString("PACK\x00\x00\x00\x02____")
	return w
}

// Add appends an entry and returns its offset. The size in its head is that of data, plus lie.
func (w *Writer) Add(id gitobject.ID, kind gitobject.Type, base, data []byte, lie int64) int64 {
	at := w.head(id, kind, base, uint64(int64(len(data))+lie))
	if w.zlib == nil {
		w.zlib = zlib.NewWriter(&w.Pack)
	}
	w.zlib.Reset(&w.Pack)
	w.zlib.Write(data) // into memory, which does not fail
	w.zlib.Close()
	return at
}

// head appends what is before the stream of an entry.
func (w *Writer) head(id gitobject.ID, kind gitobject.Type, base []byte, size uint64) int64 {
	at := int64(w.Pack.Len())
	w.Note(id, at)
	w.Pack.Write(Head(kind, size))
	w.Pack.Write(base)
	return at
}

// Note has the index name an entry that Add did not append.
func (w *Writer) Note(id gitobject.ID, offset int64) {
	w.Entries = append(w.Entries, Entry{ID: id, Offset: offset})
}

// Object appends a whole object.
func (w *Writer) Object(kind gitobject.Type, data []byte) (gitobject.ID, int64) {
	id := HashOf(kind, data)
	return id, w.Add(id, kind, nil, data, 0)
}

// OffsetTo returns how the entry that is added next names a base before it.
func (w *Writer) OffsetTo(base int64) []byte {
	return OffsetBytes(int64(w.Pack.Len()) - base)
}

// OffsetBytes returns how a delta names a base that begins n bytes before it.
func OffsetBytes(n int64) []byte {
	out := []byte{byte(n & 0x7f)}
	for n >>= 7; n > 0; n >>= 7 {
		n--
		out = append([]byte{byte(n&0x7f) | 0x80}, out...)
	}
	return out
}

// Bytes returns the pack and its index.
func (w *Writer) Bytes() (pack, idx []byte) {
	pack = w.Sealed()
	return pack, IndexBytes(w.Entries, pack[len(pack)-sha1.Size:])
}

// A Delta is a delta that is being written.
type Delta struct{ bytes.Buffer }

// NewDelta begins a delta that makes result bytes of a base.
func NewDelta(base, result int64) *Delta {
	d := &Delta{}
	for _, n := range []int64{base, result} {
		for ; n >= 0x80; n >>= 7 {
			d.WriteByte(byte(n) | 0x80)
		}
		d.WriteByte(byte(n))
	}
	return d
}

// Copy copies a range of the base, by pieces as large as git makes them.
func (d *Delta) Copy(from, n int) *Delta {
	for n > 0 {
		size := min(n, 0x10000)
		d.WriteByte(0x80 | 0x3f)
		d.Write([]byte{byte(from), byte(from >> 8), byte(from >> 16), byte(from >> 24), byte(size), byte(size >> 8)})
		from, n = from+size, n-size
	}
	return d
}

// Insert inserts data.
func (d *Delta) Insert(data []byte) *Delta {
	for len(data) > 0 {
		n := min(len(data), 127)
		d.WriteByte(byte(n))
		d.Write(data[:n])
		data = data[n:]
	}
	return d
}

// Sealed returns the pack with its count and its checksum.
func (w *Writer) Sealed() []byte {
	pack := bytes.Clone(w.Pack.Bytes())
	binary.BigEndian.PutUint32(pack[8:], uint32(len(w.Entries)))
	sum := sha1.Sum(pack)
	return append(pack, sum[:]...)
}

// Stream appends an entry whose head declares size, and whose stream is as given.
func (w *Writer) Stream(kind gitobject.Type, base []byte, size int64, stream []byte) int64 {
	at := w.head(HashOf(gitobject.Blob, fmt.Append(nil, w.Pack.Len())), kind, base, uint64(size))
	w.Pack.Write(stream)
	return at
}

// Head returns the type and size at the start of an entry.
func Head(kind gitobject.Type, size uint64) []byte {
	out := []byte{byte(kind)<<4 | byte(size&15)}
	for size >>= 4; size > 0; size >>= 7 {
		out[len(out)-1] |= 0x80
		out = append(out, byte(size&0x7f))
	}
	return out
}

// An Entry is what an index says about an object.
type Entry struct {
	ID     gitobject.ID
	Offset int64
	CRC    uint32
}

// HashOf returns the SHA-1 id of an object.
func HashOf(kind gitobject.Type, data []byte) gitobject.ID {
	h := sha1.New()
	fmt.Fprintf(h, "%s %d\x00", kind, len(data))
	h.Write(data)
	return gitobject.BytesID(h.Sum(nil))
}

// IndexBytes returns the index of a pack with these entries, which it sorts, and this checksum.
func IndexBytes(entries []Entry, pack []byte) []byte {
	slices.SortFunc(entries, func(a, b Entry) int { return a.ID.Compare(b.ID) })
	var fanout [256]uint32
	var names, crcs, offsets, large []byte
	for _, e := range entries {
		for i := int(e.ID.Bytes()[0]); i < 256; i++ {
			fanout[i]++
		}
		names = append(names, e.ID.Bytes()...)
		crcs = binary.BigEndian.AppendUint32(crcs, e.CRC)
		if e.Offset >= 0 && e.Offset < 1<<31 {
			offsets = binary.BigEndian.AppendUint32(offsets, uint32(e.Offset))
			continue
		}
		offsets = binary.BigEndian.AppendUint32(offsets, 1<<31|uint32(len(large)/8))
		large = binary.BigEndian.AppendUint64(large, uint64(e.Offset))
	}
	out := []byte("\xfftOc\x00\x00\x00\x02")
	for _, n := range fanout {
		out = binary.BigEndian.AppendUint32(out, n)
	}
	for _, part := range [][]byte{names, crcs, offsets, large, pack} {
		out = append(out, part...)
	}
	sum := sha1.Sum(out)
	return append(out, sum[:]...)
}
