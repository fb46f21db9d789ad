package indexpack

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

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/gittest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/packtest"
)

// IndexPack writes the bytes that git index-pack does.
func TestIndexPack(t *testing.T) {
	c := gittest.New(t)
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
		got, err := Index(t.Context(), pack, ours)
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
	data := must.Read(t, path)
	return data
}

// zeros is a zlib stream of some bytes and n that are zero, made without holding them.
func zeros(t testing.TB, before []byte, n int64) []byte {
	var out bytes.Buffer
	z := must.Get(zlib.NewWriterLevel(&out, zlib.BestSpeed))(t)
	if _, err := z.Write(before); err != nil {
		t.Fatal(err)
	}
	piece := make([]byte, 1<<20)
	for ; n > 0; n -= int64(len(piece)) {
		if _, err := z.Write(piece[:min(n, int64(len(piece)))]); err != nil {
			t.Fatal(err)
		}
	}
	must.OK(t, z.Close())
	return out.Bytes()
}

// A pack by which a stranger means harm is refused, in little memory and time.
func TestIndexPackHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("it allocates up to 200 MiB")
	}
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	base := bytes.Repeat([]byte("0123456789abcdef"), 1<<12)
	small := func(w *packtest.Writer) int64 { _, at := w.Object(gitobject.Blob, base); return at }
	tests := []struct {
		name string
		make func(*packtest.Writer)
		edit func([]byte) []byte
		want error
	}{
		{"a delta that makes 3 GiB", func(w *packtest.Writer) {
			at := small(w)
			d := packtest.NewDelta(int64(len(base)), 3<<30)
			for range 3 << 30 / len(base) {
				d.Copy(0, len(base))
			}
			w.Add(gitobject.ID{}, gitobject.OffsetDelta, w.OffsetTo(at), d.Bytes(), 0)
		}, nil, gitobject.ErrTooLarge},
		{"a stream of 1 GiB that says so", func(w *packtest.Writer) {
			w.Stream(gitobject.Blob, nil, 1<<30, zeros(t, nil,
				1<<20))
		},
			nil,
			gitobject.ErrTooLarge},
		{"a stream of 1 GiB that says 10 bytes", func(w *packtest.Writer) {
			w.Stream(gitobject.Blob, nil, 10, zeros(t,
				nil, 64<<20))
		},
			nil, gitobject.ErrCorrupt},
		{"a stream shorter than it says", func(w *packtest.Writer) {
			w.Stream(gitobject.Blob, nil, 10, zeros(t, nil,
				9))
		}, nil,
			gitobject.ErrCorrupt},
		{"a delta of 64 MiB that makes 64 MiB of 64 MiB", func(w *packtest.Writer) {
			at := w.Stream(gitobject.Blob, nil, 64<<20, zeros(t, nil, 64<<20))
			d := packtest.NewDelta(64<<20, 64<<20).Bytes()
			w.Stream(gitobject.OffsetDelta, w.OffsetTo(at), 64<<20, zeros(t, d, 64<<20-int64(len(d))))
		}, nil, gitobject.ErrTooLarge},
		{"deltas without end", func(w *packtest.Writer) {
			at := w.Stream(gitobject.Blob, nil, 32<<20, zeros(t, nil, 32<<20))
			for i := range 20 {
				d := packtest.NewDelta(32<<20, 32<<20)
				d.Insert([]byte(fmt.Sprintf("%04d", i)))
				d.Copy(0, 32<<20-4)
				w.Add(gitobject.ID{}, gitobject.OffsetDelta, w.OffsetTo(at), d.Bytes(), 0)
			}
		}, nil, gitobject.ErrTooLarge},
		{"a chain of 5000", func(w *packtest.Writer) {
			_, at := w.Object(gitobject.Blob, []byte("0000"))
			for i := range 5000 {
				at = w.Add(gitobject.ID{}, gitobject.OffsetDelta, w.OffsetTo(at),
					packtest.NewDelta(4, 4).Insert(fmt.Appendf(nil, "%04d", i+1)).Bytes(), 0)
			}
		}, nil, gitobject.ErrTooLarge},
		{"a base that is not there", func(w *packtest.Writer) {
			w.Add(gitobject.ID{}, gitobject.RefDelta, packtest.HashOf(gitobject.Blob, []byte("x")).Bytes(),
				packtest.NewDelta(1, 1).Copy(0, 1).Bytes(), 0)
		}, nil, gitobject.ErrCorrupt},
		{"a base inside an entry", func(w *packtest.Writer) {
			at := small(w)
			w.Add(gitobject.ID{}, gitobject.OffsetDelta, w.OffsetTo(at+1), packtest.NewDelta(1, 1).Copy(0, 1).Bytes(),
				0)
		}, nil, gitobject.ErrCorrupt},
		{"an object twice", func(w *packtest.Writer) { small(w); small(w) }, nil, gitobject.ErrCorrupt},
		{"a delta that makes its own base", func(w *packtest.Writer) {
			at := small(w)
			w.Add(gitobject.ID{}, gitobject.OffsetDelta, w.OffsetTo(at), packtest.NewDelta(int64(len(base)),
				int64(len(base))).Copy(0,
				len(base)).Bytes(), 0)
		}, nil, gitobject.ErrCorrupt},
		{"a delta for a base of another size", func(w *packtest.Writer) {
			at := small(w)
			w.Add(gitobject.ID{}, gitobject.OffsetDelta, w.OffsetTo(at), packtest.NewDelta(7, 1).Copy(0, 1).Bytes(), 0)
		}, nil, gitobject.ErrCorrupt},
		{"a type that is none", func(w *packtest.Writer) { w.Add(gitobject.ID{}, 5, nil, []byte("x"), 0) }, nil,
			gitobject.ErrCorrupt},
		{"more objects than bytes", func(w *packtest.Writer) { small(w) }, func(p []byte) []byte {
			binary.BigEndian.PutUint32(p[8:], 1_999_999)
			return resummed(p)
		}, gitobject.ErrCorrupt},
		{"four billion objects", func(w *packtest.Writer) { small(w) }, func(p []byte) []byte {
			binary.BigEndian.PutUint32(p[8:], 1<<32-1)
			return resummed(p)
		}, gitobject.ErrTooLarge},
		{"fewer objects than it says", func(w *packtest.Writer) { small(w); small(w) }, func(p []byte) []byte {
			binary.BigEndian.PutUint32(p[8:], 1)
			return resummed(p)
		}, gitobject.ErrCorrupt},
		{"more objects than there are", func(w *packtest.Writer) { small(w) }, func(p []byte) []byte {
			binary.BigEndian.PutUint32(p[8:], 2)
			return resummed(p)
		}, gitobject.ErrCorrupt},
		{"another checksum", func(w *packtest.Writer) { small(w) }, func(p []byte) []byte { p[20]++; return p },
			gitobject.ErrCorrupt},
		{"another checksum of a stream", func(w *packtest.Writer) { small(w) }, func(p []byte) []byte {
			p[len(p)-sha1.Size-1]++
			return resummed(p)
		}, gitobject.ErrCorrupt},
		{"cut off", func(w *packtest.Writer) { small(w) }, func(p []byte) []byte { return resummed(p[:len(p)-5]) },
			gitobject.ErrCorrupt},
		{"version 4", func(w *packtest.Writer) { small(w) }, func(p []byte) []byte { p[7] = 4; return resummed(p) },
			gitobject.ErrUnsupported},
		{"no pack", func(w *packtest.Writer) { small(w) }, func(p []byte) []byte { p[0] = 'K'; return resummed(p) },
			gitobject.ErrCorrupt},
		{"nothing", func(w *packtest.Writer) {}, func([]byte) []byte { return nil }, gitobject.ErrCorrupt},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := packtest.NewWriter()
			tt.make(w)
			pack := w.Sealed()
			if tt.edit != nil {
				pack = tt.edit(pack)
			}
			file := filepath.Join(t.TempDir(), "pack")
			must.OK(t, os.WriteFile(file, pack, 0o666))
			w, pack = nil, nil
			runtime.GC()
			stop, most := watchHeap()
			_, err := index(t.Context(), file, file+".idx", 512<<20)
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
	w := packtest.NewWriter()
	w.Object(gitobject.Blob, []byte("x"))
	pack, _ := w.Bytes()
	file := filepath.Join(t.TempDir(), "pack")
	must.OK(t, os.WriteFile(file, pack, 0o666))
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	if _, err := Index(ctx, file, file+".idx"); err != why {
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
	w := packtest.NewWriter()
	w.Stream(gitobject.Blob, nil, 1<<20, zeros(t, nil, 1<<20))
	file := filepath.Join(t.TempDir(), "pack")
	must.OK(t, os.WriteFile(file, w.Sealed(), 0o666))
	if _, err := index(t.Context(), file, file+".idx", 1<<20-1); !errors.Is(err, gitobject.ErrTooLarge) {
		t.Errorf("error %v, want %v", err, gitobject.ErrTooLarge)
	}
}

// A chain that takes more than may be held beside others is worked on alone.
func TestIndexPackLarge(t *testing.T) {
	const size = 10 << 20
	w := packtest.NewWriter()
	at := w.Stream(gitobject.Tree, nil, size, zeros(t, nil, size))
	for i := range 3 {
		d := packtest.NewDelta(size, size).Insert([]byte{byte(i + 1)}).Copy(1, size-1)
		at = w.Add(gitobject.ID{}, gitobject.OffsetDelta, w.OffsetTo(at), d.Bytes(), 0)
	}
	file := filepath.Join(t.TempDir(), "pack")
	must.OK(t, os.WriteFile(file, w.Sealed(), 0o666))
	if _, err := Index(t.Context(), file, file+".idx"); err != nil {
		t.Error(err)
	}
}
