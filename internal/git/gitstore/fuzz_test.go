package gitstore

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/packtest"
)

// FuzzDelta: a delta makes the size that it says, of pieces of its base and itself, or is refused; in one as in pieces.
func FuzzDelta(f *testing.F) {
	f.Add([]byte("base base base"), packtest.NewDelta(14, 9).Copy(5, 4).Insert([]byte("other")).Bytes())
	f.Add([]byte("base"), []byte{4, 0x80, 0x80, 4, 0x90, 4, 0x90, 4})
	f.Add([]byte("base"), []byte{4, 4, 0xff, 0, 0, 0, 0, 4, 0, 0})
	f.Fuzz(func(t *testing.T, base, delta []byte) {
		if _, size, _, err := gitobject.DeltaSizes(delta); err != nil || size > 1<<20 {
			return
		}
		out, err := gitobject.ApplyDelta(base, delta)
		if len(base) > 0 {
			one, _ := rope(nil).add(base, 0, len(base))
			p, otherErr := one.apply(delta)
			if otherErr != errManyPieces && ((err == nil) != (otherErr == nil) || err == nil &&
				!bytes.Equal(out, bytes.Join(p.bytes(), nil))) {
				t.Errorf("made %q, %v; in pieces %q, %v", out, err, p.bytes(), otherErr)
			}
		}
		if err != nil {
			if !errors.Is(err, gitobject.ErrCorrupt) {
				t.Errorf("error %v is of no kind", err)
			}
			return
		}
		if _, size, _, _ := gitobject.DeltaSizes(delta); int64(len(out)) != size {
			t.Errorf("%d bytes, the delta says %d", len(out), size)
		}
	})
}

// FuzzIndex: what an index finds it also lists, and its offsets can be asked for.
func FuzzIndex(f *testing.F) {
	pack := make([]byte, 20)
	good := packtest.IndexBytes([]packtest.Entry{
		{ID: packtest.HashOf(gitobject.Blob, nil), Offset: 12}, {ID: packtest.HashOf(gitobject.Tree, nil),
			Offset: 1 << 40},
		{ID: packtest.HashOf(gitobject.Blob, []byte("x")), Offset: 1 << 31}}, pack)
	f.Add(uint16(4), uint32(2), []byte{})
	f.Add(uint16(8+4*255), uint32(2), []byte("more"))
	f.Add(uint16(8+4*17), uint32(1<<31), make([]byte, 28))
	f.Fuzz(func(t *testing.T, at uint16, n uint32, more []byte) {
		data := append(bytes.Clone(good[:len(good)-40]), more...)
		if int(at)+4 <= len(data) {
			binary.BigEndian.PutUint32(data[at:], n)
		}
		data = append(data, pack...)
		sum := sha1.Sum(data)
		data = append(data, sum[:]...)
		for _, idSize := range []int{20, 32} {
			x, err := parseIndex(data, idSize)
			if err != nil {
				if !errors.Is(err, gitobject.ErrCorrupt) && !errors.Is(err, gitobject.ErrUnsupported) {
					t.Errorf("error %v is of no kind", err)
				}
				continue
			}
			for i := range x.count() {
				id := gitobject.BytesID(x.name(i))
				x.offset(i)
				x.find(id)
				if err := x.begins(id.String()[:7], func(gitobject.ID) error { return nil }); err != nil {
					t.Error(err)
				}
			}
		}
	})
}

// FuzzLoose: a loose object is read as compress/zlib inflates it, or refused.
func FuzzLoose(f *testing.F) {
	c := newClone(f)
	id := mustID(f, c.GitInput("loose\n", "hash-object", "-w", "--stdin"))
	seed := must.Read(f, loosePath(filepath.Join(c.Dir, ".git/objects"), id))
	f.Add(seed)
	f.Fuzz(func(t *testing.T, data []byte) {
		r := gitobject.Inflate(bytes.NewReader(data), 0, int64(len(data)))
		defer r.Release()
		if r.Zlib() != nil {
			return
		}
		kind, got, err := looseObject(r, 1<<16)
		if err != nil {
			return
		}
		z := must.Get(zlib.NewReader(bytes.NewReader(data)))(t)
		want, err := io.ReadAll(z) // its error may be the checksum's, which the object's hash makes needless
		if string(want) != fmt.Sprintf("%s %d\x00%s", kind, len(got), got) {
			t.Errorf("read a %s of %d bytes; zlib gives %d bytes, %v", kind, len(got), len(want), err)
		}
	})
}

// FuzzConfig: the reader ends, and keys are of its three forms.
func FuzzConfig(f *testing.F) {
	for _, text := range configTests {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := parseConfig(text)
		if err == nil {
			for key := range c {
				if strings.Count(key, ".") == 0 {
					t.Errorf("key %q", key)
				}
			}
		}
	})
}

// FuzzTree: a tree that is accepted has one spelling, names in order, and none that a file system takes for .git.
func FuzzTree(f *testing.F) {
	for _, test := range treeTests {
		f.Add(test.data, true)
	}
	f.Add([]byte("100644 a\x00"+strings.Repeat("x", 32)), false)
	f.Fuzz(func(t *testing.T, data []byte, short bool) {
		idSize := 32
		if short {
			idSize = 20
		}
		entries, err := decodeAll(data, idSize)
		if err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Errorf("error %v is of no kind", err)
			}
			return
		}
		if !bytes.Equal(encodeTree(entries), data) {
			t.Errorf("%v is written in another way", entries)
		}
		seen := map[string]bool{}
		for i, e := range entries {
			if seen[string(e.Name)] {
				t.Errorf("name %q twice", e.Name)
			}
			seen[string(e.Name)] = true
			if i > 0 && orderKey(entries[i-1]) >= orderKey(e) {
				t.Errorf("name %q after %q", e.Name, entries[i-1].Name)
			}
			if strings.EqualFold(strings.TrimRight(string(e.Name), ". "), ".git") ||
				bytes.ContainsAny(e.Name, "/\x00\n") {
				t.Errorf("name %q", e.Name)
			}
		}
	})
}

func orderKey(e TreeEntry) string {
	if e.Mode == ModeTree {
		return string(e.Name) + "/"
	}
	return string(e.Name)
}

// FuzzRevision: names never lead out of the Git directory, and what resolves is the commit of the clone.
func FuzzRevision(f *testing.F) {
	c := newClone(f)
	head := c.commit("one")
	c.Write(".git/outside", head)
	s := c.open()
	for _, rev := range []string{"HEAD", "main", "main^0", "HEAD~0", head[:8], "refs/heads/../../outside", "../outside",
		"outside", "@", "a..b", "x@{1}"} {
		f.Add(rev)
	}
	f.Fuzz(func(t *testing.T, rev string) {
		id, err := s.Resolve(rev)
		if err != nil {
			if e := (*Error)(nil); !errors.As(err, &e) {
				t.Errorf("%q: %v is no *Error", rev, err)
			}
			return
		}
		name := strings.TrimRight(strings.Split(strings.Split(rev, "^")[0], "~")[0], "0")
		if id.String() != head || strings.Contains(name, "outside") || strings.Contains(name, "..") {
			t.Errorf("%q gives %s", rev, id)
		}
	})
}

// FuzzPackedRefs: the file is read to its end or refused.
func FuzzPackedRefs(f *testing.F) {
	f.Add([]byte("# pack-refs with: peeled fully-peeled sorted \n" + emptyTree + " refs/heads/main\n^" + emptyTree +
		"\n" + emptyTree + " refs/tags/v1\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		id, err := findPacked(data, "refs/tags/v1", 20)
		if err == nil && !bytes.Contains(data, []byte(id.String()+" refs/tags/v1")) {
			t.Errorf("%q gives %s", data, id)
		}
	})
}
