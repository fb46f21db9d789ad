package gitstore

import (
	"bytes"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/packtest"
)

// Packs that git would not write. Each read ends in an error, soon and without much memory.
func TestHostilePacks(t *testing.T) {
	text := []byte(strings.Repeat("text ", 100))
	size := int64(len(text))
	target := packtest.HashOf(gitobject.Blob, []byte("target"))
	other := packtest.HashOf(gitobject.Blob, []byte("other"))
	same := packtest.NewDelta(size, size).Copy(0, len(text)).Bytes()
	deltas := func(op ...byte) func(w *packtest.Writer) {
		return func(w *packtest.Writer) {
			_, base := w.Object(gitobject.Blob, text)
			w.Add(target, gitobject.OffsetDelta, w.OffsetTo(base), append(packtest.NewDelta(size, size).Bytes(), op...),
				0)
		}
	}
	for _, test := range []struct {
		name string
		make func(w *packtest.Writer)
		want error
	}{
		{"another object", func(w *packtest.Writer) { w.Add(target, gitobject.Blob, nil, text, 0) },
			gitobject.ErrCorrupt},
		{"another type", func(w *packtest.Writer) { w.Add(target, gitobject.Commit, nil, []byte("target"), 0) },
			gitobject.ErrCorrupt},
		{"type 0", func(w *packtest.Writer) { w.Add(target, 0, nil, text, 0) }, gitobject.ErrCorrupt},
		{"type 5", func(w *packtest.Writer) { w.Add(target, 5, nil, text, 0) }, gitobject.ErrCorrupt},
		{"more than the size", func(w *packtest.Writer) { w.Add(target, gitobject.Blob, nil, text, -1) },
			gitobject.ErrCorrupt},
		{"less than the size", func(w *packtest.Writer) { w.Add(target, gitobject.Blob, nil, text, 1) },
			gitobject.ErrCorrupt},
		{"a size that is over the limit", func(w *packtest.Writer) { w.Add(target, gitobject.Blob, nil, text, 1<<40) },
			gitobject.ErrTooLarge},
		{"a size of 2^60", func(w *packtest.Writer) { w.Add(target, gitobject.Blob, nil, text, 1<<60-size-1) },
			gitobject.ErrTooLarge},
		{"a size that does not end", func(w *packtest.Writer) {
			w.Note(target, int64(w.Pack.Len()))
			w.Pack.Write(bytes.Repeat([]byte{0xff}, 100))
		}, gitobject.ErrCorrupt},
		{"no zlib stream", func(w *packtest.Writer) {
			w.Note(target, int64(w.Pack.Len()))
			w.Pack.WriteString("\x36target-not-deflated")
		}, gitobject.ErrCorrupt},
		{"a preset dictionary", func(w *packtest.Writer) {
			w.Note(target, int64(w.Pack.Len()))
			w.Pack.WriteString("\x36\x78\xbbtarget")
		}, gitobject.ErrCorrupt},
		{"the end of the pack inside an entry", func(w *packtest.Writer) {
			w.Add(target, gitobject.Blob, nil, text, 0)
			w.Pack.Truncate(w.Pack.Len() - 9)
		}, gitobject.ErrCorrupt},
		{"an offset before the first entry", func(w *packtest.Writer) { w.Note(target, 4) },
			gitobject.ErrCorrupt},
		{"an offset at the end",
			func(w *packtest.Writer) { w.Note(target, int64(w.Pack.Len())) }, gitobject.ErrCorrupt},
		{"an offset beyond the end", func(w *packtest.Writer) { w.Note(target, 1<<30) },
			gitobject.ErrCorrupt},
		{"a 64-bit offset beyond the end",
			func(w *packtest.Writer) { w.Note(target, 1<<40) }, gitobject.ErrCorrupt},
		{"a negative 64-bit offset", func(w *packtest.Writer) { w.Note(target, -1) },
			gitobject.ErrCorrupt},
		{"a delta of itself", func(w *packtest.Writer) { w.Add(target, gitobject.RefDelta, target.Bytes(), same, 0) },
			gitobject.ErrTooLarge},
		{"two deltas of each other", func(w *packtest.Writer) {
			w.Add(target, gitobject.RefDelta, other.Bytes(), same, 0)
			w.Add(other, gitobject.RefDelta, target.Bytes(), same, 0)
		}, gitobject.ErrTooLarge},
		{"a delta of an object that is elsewhere", func(w *packtest.Writer) {
			w.Add(target, gitobject.RefDelta, packtest.HashOf(gitobject.Blob, []byte("loose\n")).Bytes(), same, 0)
		}, gitobject.ErrCorrupt},
		{"an offset delta of itself", func(w *packtest.Writer) {
			w.Add(target, gitobject.OffsetDelta, []byte{0}, same,
				0)
		},
			gitobject.ErrCorrupt},
		{"an offset delta of what is before the pack", func(w *packtest.Writer) {
			w.Add(target, gitobject.OffsetDelta, packtest.OffsetBytes(1<<20), same, 0)
		}, gitobject.ErrCorrupt},
		{"an offset delta that does not end", func(w *packtest.Writer) {
			w.Add(target, gitobject.OffsetDelta, bytes.Repeat([]byte{0xff}, 30), same, 0)
		}, gitobject.ErrCorrupt},
		{"an offset delta of what is no entry", func(w *packtest.Writer) {
			_, base := w.Object(gitobject.Blob, text)
			w.Add(target, gitobject.OffsetDelta, w.OffsetTo(base+3), same, 0)
		}, gitobject.ErrCorrupt},
		{"a delta for another size of base", func(w *packtest.Writer) {
			_, base := w.Object(gitobject.Blob, text[1:])
			w.Add(target, gitobject.OffsetDelta, w.OffsetTo(base), same, 0)
		}, gitobject.ErrCorrupt},
		{"a delta that makes too little", deltas(), gitobject.ErrCorrupt},
		{"a delta with the reserved instruction", deltas(0), gitobject.ErrCorrupt},
		{"a delta that inserts more than it has", deltas(100, 'x'), gitobject.ErrCorrupt},
		{"a delta that copies from beyond its base", deltas(0x81|0x10, 0xff, 0xff), gitobject.ErrCorrupt},
		{"a delta that copies from 4 GiB on", deltas(0x8f|0x10, 0xff, 0xff, 0xff, 0xff, 1), gitobject.ErrCorrupt},
		{"a delta that copies 16 MiB", deltas(0xf0, 0xff, 0xff, 0xff), gitobject.ErrCorrupt},
		{"a delta that ends inside an instruction", deltas(0xff, 1, 1), gitobject.ErrCorrupt},
		{"a delta that makes too much", func(w *packtest.Writer) {
			_, base := w.Object(gitobject.Blob, text)
			w.Add(target, gitobject.OffsetDelta, w.OffsetTo(base), packtest.NewDelta(size, 5).Copy(0,
				len(text)).Bytes(), 0)
		}, gitobject.ErrCorrupt},
		{"a delta without sizes", func(w *packtest.Writer) {
			_, base := w.Object(gitobject.Blob, text)
			w.Add(target, gitobject.OffsetDelta, w.OffsetTo(base), bytes.Repeat([]byte{0x80}, 40), 0)
		}, gitobject.ErrCorrupt},
		{"an empty delta", func(w *packtest.Writer) {
			_, base := w.Object(gitobject.Blob, text)
			w.Add(target, gitobject.OffsetDelta, w.OffsetTo(base), nil, 0)
		}, gitobject.ErrCorrupt},
		{"a delta that says it makes 1 TiB", func(w *packtest.Writer) {
			_, base := w.Object(gitobject.Blob, text)
			w.Add(target, gitobject.OffsetDelta, w.OffsetTo(base), packtest.NewDelta(size, 1<<40).Copy(0,
				len(text)).Bytes(), 0)
		}, gitobject.ErrTooLarge},
		{"a small delta of a large base", func(w *packtest.Writer) {
			_, base := w.Object(gitobject.Blob, make([]byte, maxBase+1))
			w.Add(target, gitobject.OffsetDelta, w.OffsetTo(base), packtest.NewDelta(maxBase+1,
				6).Insert([]byte("target")).Bytes(), 0)
		}, gitobject.ErrTooLarge},
		{"a small delta of a delta that makes much", func(w *packtest.Writer) {
			_, base := w.Object(gitobject.Blob, text)
			base = w.Add(other, gitobject.OffsetDelta, w.OffsetTo(base), packtest.NewDelta(size, 1<<30).Bytes(), 0)
			w.Add(target, gitobject.OffsetDelta, w.OffsetTo(base), packtest.NewDelta(1<<30,
				6).Insert([]byte("target")).Bytes(), 0)
		}, gitobject.ErrTooLarge},
		{"a large delta", func(w *packtest.Writer) {
			_, base := w.Object(gitobject.Blob, text)
			d := append(packtest.NewDelta(size, 6).Insert([]byte("target")).Bytes(), make([]byte, maxBase)...)
			w.Add(target, gitobject.OffsetDelta, w.OffsetTo(base), d, 0)
		}, gitobject.ErrTooLarge},
		{"a chain of 5000 deltas", func(w *packtest.Writer) {
			_, base := w.Object(gitobject.Blob, text)
			for i := range 5000 {
				base = w.Add(packtest.HashOf(gitobject.Blob, fmt.Append(nil, i)), gitobject.OffsetDelta,
					w.OffsetTo(base), same, 0)
			}
			w.Add(target, gitobject.OffsetDelta, w.OffsetTo(base), same, 0)
		}, gitobject.ErrTooLarge},
		{"a chain that makes gigabytes", func(w *packtest.Writer) {
			id, base := w.Object(gitobject.Blob, make([]byte, maxBase))
			_ = id
			d := packtest.NewDelta(maxBase, maxBase).Copy(0, maxBase).Bytes()
			for i := range maxWork/maxBase + 1 {
				base = w.Add(packtest.HashOf(gitobject.Blob, fmt.Append(nil, i)), gitobject.OffsetDelta,
					w.OffsetTo(base), d, 0)
			}
			w.Add(target, gitobject.OffsetDelta, w.OffsetTo(base), packtest.NewDelta(maxBase,
				6).Insert([]byte("target")).Bytes(), 0)
		}, gitobject.ErrTooLarge},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newClone(t)
			c.GitInput("loose\n", "hash-object", "-w", "--stdin")
			w := packtest.NewWriter()
			test.make(w)
			c.addPack(w)
			s := c.open()
			_, data, err := s.Read(target, 1<<20)
			wantError(t, err, test.want, "")
			if data != nil {
				t.Errorf("an error and also %d bytes", len(data))
			}
		})
	}
}

// Read refuses a blob bomb without inflating it.
func TestLimitBeforeInflating(t *testing.T) {
	c := newClone(t)
	const size = 40 << 20
	bomb := make([]byte, size)
	w := packtest.NewWriter()
	packedBomb, _ := w.Object(gitobject.Blob, bomb)
	c.addPack(w)
	bomb[0] = 1
	c.Write("bomb", string(bomb))
	loose := mustID(t, c.Git("hash-object", "-w", "bomb"))
	s := c.open()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, id := range []gitobject.ID{packedBomb, loose} {
		wantError(t, third(s.Read(id, size-1)), gitobject.ErrTooLarge, "")
		wantError(t, third(s.Read(id, -1)), gitobject.ErrTooLarge, "")
	}
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 1<<20 {
		t.Errorf("%d bytes were allocated to refuse the bombs", used)
	}
	if _, data, err := s.Read(packedBomb, size); err != nil || len(data) != size {
		t.Errorf("read %d bytes, %v, want the bomb that was asked for", len(data), err)
	}
}

// Every byte of a pack, an index and a loose object may be wrong: what is read is right, or an error.
func TestFlippedBytes(t *testing.T) {
	c := newClone(t)
	c.history(3)
	c.Git("repack", "-q", "-a", "-d", "-f")
	var ids []gitobject.ID
	for line := range strings.Lines(c.Git("cat-file", "--batch-all-objects", "--batch-check=%(objectname)")) {
		ids = append(ids, mustID(t, strings.TrimSpace(line)))
	}
	random := rand.New(rand.NewPCG(1, 2))
	files, err := filepath.Glob(filepath.Join(c.Dir, ".git/objects/pack/pack-*"))
	if err != nil || len(files) < 2 {
		t.Fatalf("packs %q, %v", files, err)
	}
	for _, name := range files {
		if ext := filepath.Ext(name); ext != ".pack" && ext != ".idx" {
			continue
		}
		good := must.Read(t, name)
		must.OK(t, os.Chmod(name, 0o666))
		for range 300 {
			bad := bytes.Clone(good)
			switch at := random.IntN(len(bad)); random.IntN(4) {
			case 0:
				bad = bad[:at]
			case 1:
				bad[at] = byte(random.Uint32())
			default:
				bad[at] ^= 1 << random.IntN(8)
			}
			if filepath.Ext(name) == ".idx" && len(bad) > 20 {
				sum := sha1.Sum(bad[:len(bad)-20])
				copy(bad[len(bad)-20:], sum[:]) // else the checksum tells already
			}
			must.OK(t, os.WriteFile(name, bad, 0o666))
			readDamaged(t, c, ids)
		}
		must.OK(t, os.WriteFile(name, good, 0o666))
	}
}

// readDamaged reads every object of a clone that may be damaged.
func readDamaged(t *testing.T, c clone, ids []gitobject.ID) {
	t.Helper()
	s, err := Open(c.Dir)
	if err != nil {
		if e := (*Error)(nil); !errors.As(err, &e) || !errors.Is(err, gitobject.ErrCorrupt) && !errors.Is(err,
			gitobject.ErrUnsupported) {
			t.Fatalf("open: %v", err)
		}
		return
	}
	defer s.Close()
	for _, id := range ids {
		kind, data, err := s.Read(id, 1<<20)
		if err != nil {
			wantDamage(t, err)
		} else if packtest.HashOf(kind, data) != id {
			t.Fatalf("read %s: bytes of another object", id)
		}
	}
}

func wantDamage(t *testing.T, err error) {
	t.Helper()
	if e := (*Error)(nil); errors.As(err, &e) {
		for _, want := range []error{gitobject.ErrCorrupt, ErrNotFound, gitobject.ErrTooLarge,
			gitobject.ErrUnsupported} {
			if errors.Is(err, want) {
				return
			}
		}
	}
	t.Fatalf("error %v is of no kind that damage has", err)
}

func TestDamagedLoose(t *testing.T) {
	c := newClone(t)
	id := mustID(t, c.GitInput("loose object\n", "hash-object", "-w", "--stdin"))
	name := loosePath(filepath.Join(c.Dir, ".git/objects"), id)
	good := must.Read(t, name)
	must.OK(t, os.Chmod(name, 0o666))
	for at := range good {
		for bit := range 8 {
			bad := bytes.Clone(good)
			bad[at] ^= 1 << bit
			must.OK(t, os.WriteFile(name, bad, 0o666))
			readDamaged(t, c, []gitobject.ID{id})
		}
		must.OK(t, os.WriteFile(name, good[:at], 0o666))
		readDamaged(t, c, []gitobject.ID{id})
	}
}

// A copy that is damaged is no reason to refuse one that is good.
func TestGoodCopyBesideDamaged(t *testing.T) {
	c := newClone(t)
	text := []byte("in a pack, damaged, and loose\n")
	id := mustID(t, c.GitInput(string(text), "hash-object", "-w", "--stdin"))
	w := packtest.NewWriter()
	w.Add(id, gitobject.Blob, nil, []byte("damaged"), 0)
	c.addPack(w)
	s := c.open()
	for range 2 {
		if _, data, err := s.Read(id, 1<<10); err != nil || !bytes.Equal(data, text) {
			t.Errorf("read %q, %v", data, err)
		}
	}
}

func TestHostileIndex(t *testing.T) {
	pack := make([]byte, 20)
	one := packtest.IndexBytes([]packtest.Entry{{ID: packtest.HashOf(gitobject.Blob, nil), Offset: 12}}, pack)
	seal := func(b []byte) []byte {
		sum := sha1.Sum(b[:len(b)-20])
		copy(b[len(b)-20:], sum[:])
		return b
	}
	set := func(at int, n uint32) []byte {
		b := bytes.Clone(one)
		binary.BigEndian.PutUint32(b[at:], n)
		return seal(b)
	}
	for name, data := range map[string][]byte{
		"empty":                     nil,
		"short":                     one[:100],
		"truncated":                 one[:len(one)-1],
		"no magic":                  set(0, 1<<31),
		"fan-out that falls":        set(8+4*255, 0),
		"fan-out that rises early":  set(8, 2),
		"more objects than bytes":   seal(append(bytes.Clone(one[:8]), bytes.Repeat([]byte{0xff}, len(one)-8)...)),
		"wrong checksum":            append(bytes.Clone(one[:len(one)-1]), one[len(one)-1]^1),
		"more large offsets":        seal(append(bytes.Clone(one), make([]byte, 16)...)),
		"bytes that are of no part": seal(append(bytes.Clone(one), 0)),
	} {
		if x, err := parseIndex(data, 20); err == nil || !errors.Is(err, gitobject.ErrCorrupt) {
			t.Errorf("%s: got %v, %v, want ErrCorrupt", name, x, err)
		}
	}
	if _, err := parseIndex(set(4, 3), 20); !errors.Is(err, gitobject.ErrUnsupported) {
		t.Errorf("version 3: got %v, want ErrUnsupported", err)
	}
	x := must.Get(parseIndex(one, 20))(t)
	if at, ok := x.find(packtest.HashOf(gitobject.Blob, nil)); !ok || at != 12 {
		t.Errorf("the object is at %d, %v, want 12", at, ok)
	}
	if empty, err := parseIndex(packtest.IndexBytes(nil, pack), 20); err != nil || empty.count() != 0 {
		t.Errorf("an index of nothing: %v", err)
	} else if _, ok := empty.find(packtest.HashOf(gitobject.Blob, nil)); ok {
		t.Error("an index of nothing has an object")
	}
}

func TestHostileLoose(t *testing.T) {
	for head, ok := range map[string]bool{
		"blob 0\x00": true, "commit 12\x00": true, "tree 1\x00": true, "tag 9\x00": true,
		"": false, "blob": false, "blob ": false, "blob 1": false, "blob \x00": false, "blob 01\x00": false,
		"blob +1\x00": false,
		"blob -1\x00": false, "blob 1 \x00": false, " blob 1\x00": false, "Blob 1\x00": false, "blobs 1\x00": false,
		"blob\x001\x00":                 false,
		"blob 99999999999999999999\x00": false, "blob 1\n\x00": false,
	} {
		if _, _, _, err := parseLooseHead([]byte(head)); (err == nil) != ok {
			t.Errorf("%q: %v", head, err)
		}
	}
}

// A chain whose deltas are too large to be held until they are applied.
func TestLargeDeltas(t *testing.T) {
	c := newClone(t)
	w := packtest.NewWriter()
	noise := rand.NewChaCha8([32]byte{1})
	text := make([]byte, 100)
	_, base := w.Object(gitobject.Blob, text)
	var ids []gitobject.ID
	for range 5 {
		more := make([]byte, maxKept/2+1)
		if _, err := noise.Read(more); err != nil {
			t.Fatal(err)
		}
		next := append(bytes.Clone(text), more...)
		d := packtest.NewDelta(int64(len(text)), int64(len(next))).Copy(0, len(text)).Insert(more).Bytes()
		ids = append(ids, packtest.HashOf(gitobject.Blob, next))
		base = w.Add(ids[len(ids)-1], gitobject.OffsetDelta, w.OffsetTo(base), d, 0)
		text = next
	}
	c.addPack(w)
	s := c.open()
	_, data, err := s.Read(ids[len(ids)-1], maxBase)
	if err != nil || !bytes.Equal(data, text) {
		t.Errorf("read %d bytes, %v, want %d", len(data), err, len(text))
	}
	for _, id := range ids {
		if _, _, err := s.Read(id, maxBase); err != nil {
			t.Error(err)
		}
	}
}

// A pack that is not that of its index, or none.
func TestHostilePackEnds(t *testing.T) {
	id := packtest.HashOf(gitobject.Blob, []byte("text"))
	for name, test := range map[string]struct {
		edit func(pack []byte) []byte
		want error
	}{
		"as it was":    {func(p []byte) []byte { return p }, nil},
		"version 3":    {func(p []byte) []byte { p[7] = 3; return p }, nil},
		"version 4":    {func(p []byte) []byte { p[7] = 4; return p }, gitobject.ErrUnsupported},
		"no pack":      {func(p []byte) []byte { p[0] = 'K'; return p }, gitobject.ErrCorrupt},
		"other count":  {func(p []byte) []byte { p[11]++; return p }, gitobject.ErrCorrupt},
		"other pack":   {func(p []byte) []byte { p[len(p)-1]++; return p }, gitobject.ErrCorrupt},
		"empty":        {func([]byte) []byte { return nil }, gitobject.ErrCorrupt},
		"head alone":   {func(p []byte) []byte { return p[:12] }, gitobject.ErrCorrupt},
		"no checksum":  {func(p []byte) []byte { return p[:len(p)-20] }, gitobject.ErrCorrupt},
		"bytes behind": {func(p []byte) []byte { return append(p, 0) }, gitobject.ErrCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClone(t)
			w := packtest.NewWriter()
			w.Object(gitobject.Blob, []byte("text"))
			pack, idx := w.Bytes()
			c.Write(".git/objects/pack/pack-1.pack", string(test.edit(pack)))
			c.Write(".git/objects/pack/pack-1.idx", string(idx))
			_, _, err := c.open().Read(id, 100)
			if test.want == nil && err != nil {
				t.Error(err)
			}
			if test.want != nil {
				wantError(t, err, test.want, "")
			}
		})
	}
}
