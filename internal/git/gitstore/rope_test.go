package gitstore

import (
	"bytes"
	"context"
	"crypto/sha1"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/packtest"
)

// manyVersions are trees of about 90 KiB, each a little different from the one before, packed by git as deltas.
func manyVersions(t *testing.T, versions int) (clone, []gitobject.ID) {
	c := newClone(t)
	r := rand.New(rand.NewPCG(3, 4))
	entry := func(name int) string {
		return fmt.Sprintf("100644 blob %x\t%08x-tool.json", sha1.Sum(fmt.Append(nil, r.Uint64())),
			uint32(name)*2654435761)
	}
	var entries []string
	for n := range 2000 {
		entries = append(entries, entry(n))
	}
	var trees, list strings.Builder
	for i := range versions {
		for range 1 + r.IntN(4) {
			at := r.IntN(len(entries))
			switch r.IntN(3) {
			case 0: // an edit
				_, name, _ := strings.Cut(entries[at], "\t")
				entries[at] = fmt.Sprintf("100644 blob %x\t%s", sha1.Sum(fmt.Append(nil, r.Uint64())), name)
			case 1:
				entries = slices.Delete(entries, at, at+1)
			case 2:
				entries = append(entries, entry(2000+5*i))
			}
		}
		slices.SortFunc(entries, func(a, b string) int {
			return strings.Compare(a[strings.IndexByte(a, '\t'):], b[strings.IndexByte(b, '\t'):])
		})
		entries = slices.CompactFunc(entries,
			func(a, b string) bool { return a[strings.IndexByte(a, '\t'):] == b[strings.IndexByte(b, '\t'):] })
		fmt.Fprint(&trees, strings.Join(entries, "\n"), "\n\n")
	}
	var ids []gitobject.ID
	for _, id := range strings.Fields(c.GitInput(trees.String(), "mktree", "--batch", "--missing")) {
		ids = append(ids, mustID(t, id))
		fmt.Fprintln(&list, id, "implementations")
	}
	c.GitInput(list.String(), "pack-objects", "-q", "--window=10", "--depth=50", ".git/objects/pack/pack")
	c.Git("prune-packed")
	return c, ids
}

// Trees that are put together of pieces of one another have the bytes that their ids say, in whatever order, put over
// whatever was there, and have in common what they say.
func TestPieces(t *testing.T) {
	c, ids := manyVersions(t, 150)
	newest, shuffled := slices.Clone(ids), slices.Clone(ids)
	slices.Reverse(newest)
	rand.New(rand.NewPCG(5, 6)).
		Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
	for name, order := range map[string][]gitobject.ID{"oldest first": ids, "newest first": newest,
		"shuffled": shuffled} {
		t.Run(name, func(t *testing.T) {
			s := c.open()
			inPieces, common := 0, 0
			var rooms [2]PatchBuffer
			var last Object
			var before []byte
			err := s.Each(context.Background(), order, 1<<20, func(i int, o Object) error {
				got := rooms[i%2].Put(o)
				if packtest.HashOf(o.Type, got) != order[i] {
					t.Fatalf("object %d, over one read before: not the one asked for", i)
				}
				if !bytes.Equal(got, new(PatchBuffer).Put(o)) {
					t.Fatalf("object %d differs where it is put", i)
				}
				if len(o.pieces) > 1 {
					inPieces++
				}
				prefix, suffix := o.Alike(last)
				common += prefix + suffix
				if prefix+suffix > min(len(got), len(before)) || !bytes.Equal(got[:prefix], before[:prefix]) ||
					!bytes.Equal(got[len(got)-suffix:], before[len(before)-suffix:]) {
					t.Fatalf("object %d does not have its first %d and last %d bytes in common with the one before", i,
						prefix, suffix)
				}
				last, before = o, got
				return nil
			})
			must.OK(t, err)
			if name == "newest first" && (inPieces < 20 || common < 20*leastPieces) {
				t.Errorf("%d objects were in pieces, and %d bytes in common", inPieces, common)
			}
		})
	}
}

// A tree in pieces whose bytes are not those of its id is none, nor is one that a delta makes too large.
func TestPiecesOfDamaged(t *testing.T) {
	c := newClone(t)
	tree := bytes.Repeat([]byte("100644 a\x0000000000000000000000"), 4000)
	good := packtest.HashOf(gitobject.Tree, tree)
	other := packtest.HashOf(gitobject.Tree, tree[:len(tree)-29])
	w := packtest.NewWriter()
	base := w.Add(good, gitobject.Tree, nil, tree, 0)
	short := packtest.NewDelta(int64(len(tree)), int64(len(tree)-30)).Copy(0, len(tree)-30)
	w.Add(other, gitobject.OffsetDelta, w.OffsetTo(base), short.Bytes(), 0)
	c.addPack(w)
	s := c.open()
	read := 0
	f := func(int, Object) error { read++; return nil }
	wantError(t, s.Each(context.Background(), []gitobject.ID{good, other}, 1<<20, f), gitobject.ErrCorrupt, "git fsck")
	if read != 1 {
		t.Errorf("%d objects read, want 1", read)
	}
	wantError(t, s.Each(context.Background(), []gitobject.ID{good, other}, int64(len(tree)-40), f),
		gitobject.ErrTooLarge, "")
}

// What a tree takes from others does not keep more in memory than it spares: neither deltas of which little is left,
// nor more pieces than are worth it. Then it is in one piece, made of the one before however long the chain is.
func TestPiecesThatAddUp(t *testing.T) {
	entry := func(name string) []byte {
		sum := sha1.Sum([]byte(name))
		return slices.Concat([]byte("100644 "+name+"\x00"), sum[:])
	}
	var first []byte
	for n := range 1500 {
		first = append(first, entry(fmt.Sprintf("!%05d-implementation.json", n))...)
	}
	for name, many := range map[string]struct{ trees, stays, goes int }{"large deltas": {60, 0, 250_000},
		"many pieces": {300, 2000, 0}} {
		t.Run(name, func(t *testing.T) {
			c := newClone(t)
			w := packtest.NewWriter()
			id, at := w.Object(gitobject.Tree, first)
			ids := []gitobject.ID{id}
			kept, before := first, first
			for n := range many.trees {
				stays := entry(fmt.Sprintf("%05d%s", n, strings.Repeat("a", many.stays)))
				goes := entry(fmt.Sprintf("%05d%sb", n, strings.Repeat("a", many.stays+many.goes)))
				after := slices.Concat(kept, stays, goes)
				d := packtest.NewDelta(int64(len(before)), int64(len(after))).Copy(0,
					len(kept)).Insert(stays).Insert(goes)
				id = packtest.HashOf(gitobject.Tree, after)
				at = w.Add(id, gitobject.OffsetDelta, w.OffsetTo(at), d.Bytes(), 0)
				ids, kept, before = append(ids, id), slices.Concat(kept, stays), after
			}
			c.addPack(w)
			s := c.open()
			inPieces, inOne := 0, 0
			err := s.Each(context.Background(), ids, 1<<20, func(i int, o Object) error {
				retained := map[*byte]int{}
				for _, p := range o.pieces[:max(len(o.pieces)-1, 0)] {
					retained[&p.of[0]] = len(p.of)
				}
				sum := 0
				for _, n := range retained {
					sum += n
				}
				if sum > 2*maxKept || packtest.HashOf(o.Type, new(PatchBuffer).Put(o)) != ids[i] {
					t.Fatalf("object %d holds %d bytes, or is not the one asked for", i, sum)
				}
				if i > 0 && len(o.pieces) == 1 {
					inOne++
				}
				if len(o.pieces) > 1 {
					inPieces++
				}
				return nil
			})
			if err != nil || inPieces == 0 || inOne == 0 || inPieces+inOne != len(ids)-1 {
				t.Errorf("%d of %d trees in pieces, %d in one, %v", inPieces, len(ids), inOne, err)
			}
		})
	}
}

// A tree deep in a chain of deltas is made of the one at its bottom, and of no tree in between.
func TestPiecesDeepInAChain(t *testing.T) {
	defer func(was int64) { leastChained = was }(leastChained)
	leastChained = leastPieces
	sum := sha1.Sum(nil)
	tree := []byte{}
	w := packtest.NewWriter()
	for n := range 2000 {
		tree = append(append(tree, fmt.Sprintf("100644 %05d-implementation.json\x00", n)...), sum[:]...)
	}
	id, at := w.Object(gitobject.Tree, tree)
	for n := range 30 {
		after := slices.Clone(tree)
		after[len(after)-1-n*100] ^= 1
		from := len(after) - 1 - n*100
		d := packtest.NewDelta(int64(len(tree)), int64(len(after))).Copy(0, from).Insert(after[from:from+1]).
			Copy(from+1, len(after)-from-1)
		id = packtest.HashOf(gitobject.Tree, after)
		at, tree = w.Add(id, gitobject.OffsetDelta, w.OffsetTo(at), d.Bytes(), 0), after
	}
	c := newClone(t)
	c.addPack(w)
	err := c.open().Each(context.Background(), []gitobject.ID{id}, 1<<20, func(_ int, o Object) error {
		if len(o.pieces) < 30 || !bytes.Equal(new(PatchBuffer).Put(o), tree) {
			t.Errorf("%d pieces, want one before each of 30 changes", len(o.pieces))
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// The tree that others go back to is there as long as they are: a delta of it makes another of them, and no copy.
func TestLatestHasTheRoot(t *testing.T) {
	var l latest
	root := whole(make([]byte, maxCache/3))
	l.put(root)
	ofRoot := root
	ofRoot.pieces = rope{{root.root, 0, 9, 9}, {make([]byte, 9), 0, 9, 18}}
	for i := range int64(50) {
		ofRoot.place.offset = 1 + i
		l.put(ofRoot)
		if l.get(root.place).pieces == nil || len(l) > 1+maxLatest || l.get(ofRoot.place).pieces == nil {
			t.Fatalf("after %d others: %d trees are kept, and the root: %v", i+1, len(l),
				l.get(root.place).pieces != nil)
		}
	}
	for i := range int64(3) {
		other := whole(make([]byte, maxCache/3))
		other.place.offset = 100 + i
		l.put(other)
	}
	if l.get(root.place).pieces != nil || len(l) != 3 {
		t.Errorf("%d trees are kept, of three that are as large as the cache", len(l))
	}
}

func TestLatestStaysBelowItsCap(t *testing.T) {
	var l latest
	kept := func() (n int) {
		for i := range int64(20) {
			if l.get(place{nil, i}).pieces != nil {
				n++
			}
		}
		return n
	}
	one := whole(make([]byte, maxCache/3))
	for i := range int64(20) {
		one.place.offset = i
		l.put(one)
	}
	if kept() != maxLatest {
		t.Errorf("%d versions of one tree are kept, want %d", kept(), maxLatest)
	}
	for i := range int64(20) {
		other := whole(make([]byte, maxCache/3))
		other.place.offset = i
		l.put(other)
	}
	if kept() != 3 || l.get(place{nil, 19}).pieces == nil {
		t.Errorf("%d large trees are kept, want the last 3", kept())
	}
}
