package gitstore

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// packWriter writes packs that git would, and packs that it would not.
type packWriter struct {
	t       testing.TB
	pack    bytes.Buffer
	entries []packed
	zlib    *zlib.Writer
}

func newPackWriter(t testing.TB) *packWriter {
	w := &packWriter{t: t}
	w.pack.WriteString("PACK\x00\x00\x00\x02____")
	return w
}

// add appends an entry and returns its offset. The size in its head is that of data, plus lie.
func (w *packWriter) add(id ID, kind Type, base, data []byte, lie int64) int64 {
	w.t.Helper()
	at := int64(w.pack.Len())
	w.entries = append(w.entries, packed{id, at})
	size := uint64(int64(len(data)) + lie)
	c := byte(kind)<<4 | byte(size&15)
	for size >>= 4; size > 0; size >>= 7 {
		w.pack.WriteByte(c | 0x80)
		c = byte(size & 0x7f)
	}
	w.pack.WriteByte(c)
	w.pack.Write(base)
	if w.zlib == nil {
		w.zlib = zlib.NewWriter(&w.pack)
	}
	w.zlib.Reset(&w.pack)
	if _, err := w.zlib.Write(data); err != nil {
		w.t.Fatal(err)
	}
	if err := w.zlib.Close(); err != nil {
		w.t.Fatal(err)
	}
	return at
}

// object appends a whole object.
func (w *packWriter) object(kind Type, data []byte) (ID, int64) {
	id := hashOf(kind, data)
	return id, w.add(id, kind, nil, data, 0)
}

// offsetTo is how the entry that is added next names a base before it.
func (w *packWriter) offsetTo(base int64) []byte {
	return offsetBytes(int64(w.pack.Len()) - base)
}

func offsetBytes(n int64) []byte {
	out := []byte{byte(n & 0x7f)}
	for n >>= 7; n > 0; n >>= 7 {
		n--
		out = append([]byte{byte(n&0x7f) | 0x80}, out...)
	}
	return out
}

// bytes are the pack and its index.
func (w *packWriter) bytes() (pack, idx []byte) {
	pack = w.pack.Bytes()
	binary.BigEndian.PutUint32(pack[8:], uint32(len(w.entries)))
	sum := sha1.Sum(pack)
	return append(bytes.Clone(pack), sum[:]...), indexBytes(w.entries, sum[:])
}

// write puts the pack into a clone.
func (w *packWriter) write(c clone) {
	w.t.Helper()
	pack, idx := w.bytes()
	name := fmt.Sprintf("pack-%x", sha1.Sum(pack))
	dir := filepath.Join(c.Dir, ".git/objects/pack")
	for ext, data := range map[string][]byte{".pack": pack, ".idx": idx} {
		if err := os.WriteFile(filepath.Join(dir, name+ext), data, 0o666); err != nil {
			w.t.Fatal(err)
		}
	}
}

// deltaWriter makes a delta.
type deltaWriter struct{ bytes.Buffer }

func newDelta(base, result int64) *deltaWriter {
	d := &deltaWriter{}
	for _, n := range []int64{base, result} {
		for ; n >= 0x80; n >>= 7 {
			d.WriteByte(byte(n) | 0x80)
		}
		d.WriteByte(byte(n))
	}
	return d
}

// copy copies a range of the base, by pieces as large as git makes them.
func (d *deltaWriter) copy(from, n int) *deltaWriter {
	for n > 0 {
		size := min(n, 0x10000)
		d.WriteByte(0x80 | 0x3f)
		d.Write([]byte{byte(from), byte(from >> 8), byte(from >> 16), byte(from >> 24), byte(size), byte(size >> 8)})
		from, n = from+size, n-size
	}
	return d
}

func (d *deltaWriter) insert(data []byte) *deltaWriter {
	for len(data) > 0 {
		n := min(len(data), 127)
		d.WriteByte(byte(n))
		d.Write(data[:n])
		data = data[n:]
	}
	return d
}

var _ io.Writer = &deltaWriter{}
