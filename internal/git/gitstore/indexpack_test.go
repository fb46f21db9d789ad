package gitstore

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

// IndexPack writes the bytes that git index-pack does.
func TestIndexPack(t *testing.T) {
	c := newClone(t)
	var files, tree, trees strings.Builder
	for i := range 300 {
		name := fmt.Sprintf("listing-%04d.json", i)
		c.Write(name, fmt.Sprint(i))
		fmt.Fprintln(&files, name)
	}
	for i, id := range strings.Fields(c.GitInput(files.String(), "hash-object", "-w", "--stdin-paths")) {
		fmt.Fprintf(&tree, "100644 blob %s\tlisting-%04d.json\n", id, i)
		if i%3 == 0 {
			fmt.Fprintln(&trees, tree.String())
		}
	}
	c.GitInput(trees.String(), "mktree", "--batch")
	large := bytes.Repeat([]byte("0123456789abcdef"), 300_000)
	for i := range 3 {
		large[i*1000] = 'x'
		c.GitInput(string(large), "hash-object", "-w", "--stdin")
	}
	all := c.Git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
	for _, args := range [][]string{{"--delta-base-offset"}, {}, {"--window=0"}} {
		dir := t.TempDir()
		sum := c.GitInput(all, append([]string{"pack-objects", "-q", filepath.Join(dir, "pack")}, args...)...)
		pack := filepath.Join(dir, "pack-"+sum+".pack")
		ours := filepath.Join(dir, "ours.idx")
		got, err := IndexPack(t.Context(), pack, ours)
		if err != nil {
			t.Fatalf("%q: %v", args, err)
		}
		if got != lastID(t, pack) {
			t.Errorf("%q: checksum %s, want %s", args, got, lastID(t, pack))
		}
		theirs := strings.TrimSuffix(pack, ".pack") + ".idx"
		if a, b := read(t, ours), read(t, theirs); !bytes.Equal(a, b) {
			t.Errorf("%q: the index has %d bytes and is not git's of %d", args, len(a), len(b))
		}
	}
}

func lastID(t *testing.T, pack string) string {
	data := read(t, pack)
	return fmt.Sprintf("%x", data[len(data)-sha1.Size:])
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// zeros is a zlib stream of some bytes and n that are zero, made without holding them.
func zeros(t testing.TB, before []byte, n int64) []byte {
	var out bytes.Buffer
	z, err := zlib.NewWriterLevel(&out, zlib.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(before); err != nil {
		t.Fatal(err)
	}
	piece := make([]byte, 1<<20)
	for ; n > 0; n -= int64(len(piece)) {
		if _, err := z.Write(piece[:min(n, int64(len(piece)))]); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// stream appends an entry whose head declares size, and whose stream is as given.
func (w *packWriter) stream(kind Type, base []byte, size int64, stream []byte) int64 {
	at := int64(w.pack.Len())
	w.entries = append(w.entries, packed{hashOf(Blob, fmt.Append(nil, at)), at})
	c := byte(kind)<<4 | byte(size&15)
	for size >>= 4; size > 0; size >>= 7 {
		w.pack.WriteByte(c | 0x80)
		c = byte(size & 0x7f)
	}
	w.pack.WriteByte(c)
	w.pack.Write(base)
	w.pack.Write(stream)
	return at
}

// A pack by which a stranger means harm is refused, in little memory and time.
func TestIndexPackHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("it allocates up to 200 MiB")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	base := bytes.Repeat([]byte("0123456789abcdef"), 1<<12)
	small := func(w *packWriter) int64 { _, at := w.object(Blob, base); return at }
	tests := []struct {
		name string
		make func(*packWriter)
		edit func([]byte) []byte
		want error
	}{
		{"a delta that makes 3 GiB", func(w *packWriter) {
			at := small(w)
			d := newDelta(int64(len(base)), 3<<30)
			for range 3 << 30 / len(base) {
				d.copy(0, len(base))
			}
			w.add(ID{}, offsetDelta, w.offsetTo(at), d.Bytes(), 0)
		}, nil, ErrTooLarge},
		{"a stream of 1 GiB that says so", func(w *packWriter) { w.stream(Blob, nil, 1<<30, zeros(t, nil, 1<<20)) },
			nil,
			ErrTooLarge},
		{"a stream of 1 GiB that says 10 bytes", func(w *packWriter) { w.stream(Blob, nil, 10, zeros(t, nil, 64<<20)) },
			nil, ErrCorrupt},
		{"a stream shorter than it says", func(w *packWriter) { w.stream(Blob, nil, 10, zeros(t, nil, 9)) }, nil,
			ErrCorrupt},
		{"a delta of 64 MiB that makes 64 MiB of 64 MiB", func(w *packWriter) {
			at := w.stream(Blob, nil, 64<<20, zeros(t, nil, 64<<20))
			d := newDelta(64<<20, 64<<20).Bytes()
			w.stream(offsetDelta, w.offsetTo(at), 64<<20, zeros(t, d, 64<<20-int64(len(d))))
		}, nil, ErrTooLarge},
		{"deltas without end", func(w *packWriter) {
			at := w.stream(Blob, nil, 32<<20, zeros(t, nil, 32<<20))
			for i := range 20 {
				d := newDelta(32<<20, 32<<20)
				d.insert([]byte(fmt.Sprintf("%04d", i)))
				d.copy(0, 32<<20-4)
				w.add(ID{}, offsetDelta, w.offsetTo(at), d.Bytes(), 0)
			}
		}, nil, ErrTooLarge},
		{"a chain of 5000", func(w *packWriter) {
			_, at := w.object(Blob, []byte("0000"))
			for i := range 5000 {
				at = w.add(ID{}, offsetDelta, w.offsetTo(at),
					newDelta(4, 4).insert(fmt.Appendf(nil, "%04d", i+1)).Bytes(), 0)
			}
		}, nil, ErrTooLarge},
		{"a base that is not there", func(w *packWriter) {
			w.add(ID{}, refDelta, hashOf(Blob, []byte("x")).Bytes(), newDelta(1, 1).copy(0, 1).Bytes(), 0)
		}, nil, ErrCorrupt},
		{"a base inside an entry", func(w *packWriter) {
			at := small(w)
			w.add(ID{}, offsetDelta, w.offsetTo(at+1), newDelta(1, 1).copy(0, 1).Bytes(), 0)
		}, nil, ErrCorrupt},
		{"an object twice", func(w *packWriter) { small(w); small(w) }, nil, ErrCorrupt},
		{"a delta that makes its own base", func(w *packWriter) {
			at := small(w)
			w.add(ID{}, offsetDelta, w.offsetTo(at), newDelta(int64(len(base)), int64(len(base))).copy(0,
				len(base)).Bytes(), 0)
		}, nil, ErrCorrupt},
		{"a delta for a base of another size", func(w *packWriter) {
			at := small(w)
			w.add(ID{}, offsetDelta, w.offsetTo(at), newDelta(7, 1).copy(0, 1).Bytes(), 0)
		}, nil, ErrCorrupt},
		{"a type that is none", func(w *packWriter) { w.add(ID{}, 5, nil, []byte("x"), 0) }, nil, ErrCorrupt},
		{"more objects than bytes", func(w *packWriter) { small(w) }, func(p []byte) []byte {
			binary.BigEndian.PutUint32(p[8:], 1_999_999)
			return resummed(p)
		}, ErrCorrupt},
		{"four billion objects", func(w *packWriter) { small(w) }, func(p []byte) []byte {
			binary.BigEndian.PutUint32(p[8:], 1<<32-1)
			return resummed(p)
		}, ErrTooLarge},
		{"fewer objects than it says", func(w *packWriter) { small(w); small(w) }, func(p []byte) []byte {
			binary.BigEndian.PutUint32(p[8:], 1)
			return resummed(p)
		}, ErrCorrupt},
		{"more objects than there are", func(w *packWriter) { small(w) }, func(p []byte) []byte {
			binary.BigEndian.PutUint32(p[8:], 2)
			return resummed(p)
		}, ErrCorrupt},
		{"another checksum", func(w *packWriter) { small(w) }, func(p []byte) []byte { p[20]++; return p }, ErrCorrupt},
		{"another checksum of a stream", func(w *packWriter) { small(w) }, func(p []byte) []byte {
			p[len(p)-sha1.Size-1]++
			return resummed(p)
		}, ErrCorrupt},
		{"cut off", func(w *packWriter) { small(w) }, func(p []byte) []byte { return resummed(p[:len(p)-5]) },
			ErrCorrupt},
		{"version 4", func(w *packWriter) { small(w) }, func(p []byte) []byte { p[7] = 4; return resummed(p) },
			ErrUnsupported},
		{"no pack", func(w *packWriter) { small(w) }, func(p []byte) []byte { p[0] = 'K'; return resummed(p) },
			ErrCorrupt},
		{"nothing", func(w *packWriter) {}, func([]byte) []byte { return nil }, ErrCorrupt},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newPackWriter(t)
			tt.make(w)
			pack := w.sealed()
			if tt.edit != nil {
				pack = tt.edit(pack)
			}
			file := filepath.Join(t.TempDir(), "pack")
			if err := os.WriteFile(file, pack, 0o666); err != nil {
				t.Fatal(err)
			}
			w, pack = nil, nil
			runtime.GC()
			stop, most := watchHeap()
			_, err := indexPack(t.Context(), file, file+".idx", 512<<20)
			stop()
			if !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
			if *most > 300<<20 {
				t.Errorf("it took %d MiB", *most>>20)
			}
			if _, err := os.Stat(file + ".idx"); err == nil {
				t.Error("an index was written")
			}
		})
	}
}

// sealed is the pack with its count and its checksum.
func (w *packWriter) sealed() []byte {
	pack := bytes.Clone(w.pack.Bytes())
	binary.BigEndian.PutUint32(pack[8:], uint32(len(w.entries)))
	sum := sha1.Sum(pack)
	return append(pack, sum[:]...)
}

func resummed(pack []byte) []byte {
	body := pack[:len(pack)-sha1.Size]
	sum := sha1.Sum(body)
	return append(body, sum[:]...)
}

// watchHeap looks at what the heap takes until it is stopped.
func watchHeap() (stop func(), most *uint64) {
	most = new(uint64)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			*most = max(*most, m.HeapInuse)
			time.Sleep(5 * time.Millisecond)
		}
	}()
	return func() { cancel(); <-done }, most
}

// The context ends the work on a pack.
func TestIndexPackContext(t *testing.T) {
	w := newPackWriter(t)
	w.object(Blob, []byte("x"))
	pack, _ := w.bytes()
	file := filepath.Join(t.TempDir(), "pack")
	if err := os.WriteFile(file, pack, 0o666); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	if _, err := IndexPack(ctx, file, file+".idx"); err != why {
		t.Errorf("error %v, want %v", err, why)
	}
}

// The work on a pack is bounded by what a registry in a pack of its size may need.
func TestIndexPackWork(t *testing.T) {
	for _, tt := range []struct{ size, least, most int64 }{
		{16 << 10, leastPackWork, leastPackWork + 4<<20},
		{1 << 20, 8 << 30, 10 << 30},
		// 10,000 commits of one new listing each, of which git leaves out what came before: 7.5 MB make 56 GB.
		{7_500_000, 56e9, maxPackWork},
		// 1,000,000 listings and 1,000 commits: 250 MB make 61 GB.
		{250e6, 61e9, maxPackWork},
		{4 << 30, maxPackWork, maxPackWork},
	} {
		if got := packWork(tt.size); got < tt.least || got > tt.most {
			t.Errorf("a pack of %d bytes may take %d, want from %d to %d", tt.size, got, tt.least, tt.most)
		}
	}
	w := newPackWriter(t)
	w.stream(Blob, nil, 1<<20, zeros(t, nil, 1<<20))
	file := filepath.Join(t.TempDir(), "pack")
	if err := os.WriteFile(file, w.sealed(), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := indexPack(t.Context(), file, file+".idx", 1<<20-1); !errors.Is(err, ErrTooLarge) {
		t.Errorf("error %v, want %v", err, ErrTooLarge)
	}
}

// A chain that takes more than may be held beside others is worked on alone.
func TestIndexPackLarge(t *testing.T) {
	const size = 10 << 20
	w := newPackWriter(t)
	at := w.stream(Tree, nil, size, zeros(t, nil, size))
	for i := range 3 {
		d := newDelta(size, size).insert([]byte{byte(i + 1)}).copy(1, size-1)
		at = w.add(ID{}, offsetDelta, w.offsetTo(at), d.Bytes(), 0)
	}
	file := filepath.Join(t.TempDir(), "pack")
	if err := os.WriteFile(file, w.sealed(), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := IndexPack(t.Context(), file, file+".idx"); err != nil {
		t.Error(err)
	}
}
