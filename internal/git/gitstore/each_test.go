package gitstore

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/packtest"
)

// chained makes a clone of trees that are deltas of one another, oldest first, and the ids of all it holds.
func chained(t *testing.T) (*Store, []gitobject.ID) {
	c := newClone(t)
	var stream strings.Builder
	for i := range 120 {
		fmt.Fprintf(&stream, "commit refs/heads/main\ncommitter A <a@example.org> %d +0000\ndata 2\nx\n\n",
			1700000000+i)
		for n := 5 * i; n < 5*i+5; n++ {
			fmt.Fprintf(&stream, "M 100644 inline implementations/%08x-tool.json\ndata %d\n%s\n", uint32(n)*2654435761,
				len(listing(n)), listing(n))
		}
	}
	c.GitInput(stream.String(), "fast-import", "--quiet")
	c.Git("repack", "-q", "-a", "-d", "-f", "--depth=50")
	commits := c.Git("rev-list", "--reverse", "main")
	trees := c.GitInput(strings.ReplaceAll(commits+"\n", "\n", ":implementations\n"), "cat-file",
		"--batch-check=%(objectname)")
	blobs := c.Git("ls-tree", "--format=%(objectname)", "main:implementations")
	var ids []gitobject.ID
	for _, id := range strings.Fields(trees + "\n" + blobs + "\n" + commits) {
		ids = append(ids, mustID(t, id))
	}
	return c.open(), ids
}

func TestEach(t *testing.T) {
	s, ids := chained(t)
	newest := slices.Clone(ids)
	slices.Reverse(newest)
	for _, order := range [][]gitobject.ID{ids, newest, nil} {
		next := 0
		err := s.Each(context.Background(), order, 1<<20, func(i int, o Object) error {
			if i != next || packtest.HashOf(o.Type, new(PatchBuffer).Put(o)) != order[i] {
				t.Errorf("object %d of %d: not the one asked for", i, next)
			}
			next++
			return nil
		})
		if err != nil || next != len(order) {
			t.Errorf("%d of %d objects, %v", next, len(order), err)
		}
	}
}

func TestEachEnds(t *testing.T) {
	s, ids := chained(t)
	stop := errors.New("stop")
	count := 0
	err := s.Each(context.Background(), ids, 1<<20, func(i int, _ Object) error {
		if count++; i == 7 {
			return stop
		}
		return nil
	})
	if err != stop || count != 8 {
		t.Errorf("%d calls, %v, want 8 and the error of f", count, err)
	}

	absent := packtest.HashOf(gitobject.Blob, []byte("absent"))
	count = 0
	err = s.Each(context.Background(), []gitobject.ID{ids[0], ids[1], absent, ids[2]}, 1<<20,
		func(int, Object) error { count++; return nil })
	wantError(t, err, ErrNotFound, "git fsck")
	if count != 2 {
		t.Errorf("%d calls before the object that is not there, want 2", count)
	}
	wantError(t, s.Each(context.Background(), ids, 1, func(int, Object) error { return nil }), gitobject.ErrTooLarge,
		"")

	ctx, cancel := context.WithCancel(context.Background())
	err = s.Each(ctx, ids, 1<<20, func(i int, _ Object) error {
		if i == 3 {
			cancel()
		}
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want that of the context", err)
	}
}

// An object that is damaged in the pack is read from where it is whole, in Each too.
func TestEachOfDamaged(t *testing.T) {
	c := newClone(t)
	id := mustID(t, c.GitInput("whole\n", "hash-object", "-w", "--stdin"))
	bad := packtest.HashOf(gitobject.Blob, []byte("nowhere whole"))
	w := packtest.NewWriter()
	w.Add(id, gitobject.Blob, nil, []byte("damaged"), 0)
	w.Add(bad, gitobject.Blob, nil, []byte("damaged"), 0)
	c.addPack(w)
	s := c.open()
	read := 0
	err := s.Each(context.Background(), []gitobject.ID{id, id, bad}, 1<<20, func(_ int, o Object) error {
		read++
		if string(new(PatchBuffer).Put(o)) != "whole\n" {
			t.Errorf("read %q", new(PatchBuffer).Put(o))
		}
		return nil
	})
	wantError(t, err, gitobject.ErrCorrupt, "git fsck")
	if read != 2 {
		t.Errorf("%d objects read, want 2", read)
	}
}

func TestOrder(t *testing.T) {
	s, ids := chained(t)
	absent := packtest.HashOf(gitobject.Blob, []byte("absent"))
	slices.Reverse(ids)
	ids = append([]gitobject.ID{absent}, ids...)
	order := s.Order(ids)
	if len(order) != len(ids) || slices.ContainsFunc(ids, func(id gitobject.ID) bool {
		return !slices.Contains(order,
			id)
	}) {
		t.Fatalf("%v is no permutation", order)
	}
	if order[len(order)-1] != absent {
		t.Error("an id that no pack has is not last")
	}
	last := int64(0)
	for _, id := range order[:len(order)-1] {
		at, ok := (*s.packs.Load())[0].index.find(id)
		if !ok || at <= last {
			t.Fatalf("%s is at %d, after %d", id, at, last)
		}
		last = at
	}
}

func TestReadConcurrently(t *testing.T) {
	s, ids := chained(t)
	var want [][]byte
	for _, id := range ids {
		_, data, err := s.Read(id, 1<<20)
		must.OK(t, err)
		want = append(want, data)
	}
	s.cache = cache{}
	var readers sync.WaitGroup
	for g := range 4 {
		readers.Go(func() {
			for i := range ids {
				i = (i*(2*g+1) + g) % len(ids)
				if _, data, err := s.Read(ids[i], 1<<20); err != nil || !bytes.Equal(data, want[i]) {
					t.Errorf("%s: %d bytes, %v", ids[i], len(data), err)
					return
				}
			}
		})
	}
	readers.Go(func() {
		for range 20 {
			if _, err := s.Resolve("main~3"); err != nil {
				t.Error(err)
			}
			if err := s.rescan(s.packs.Load()); err != nil {
				t.Error(err)
			}
		}
	})
	readers.Wait()
}

func TestCacheStaysBelowItsCap(t *testing.T) {
	var c cache
	p := &pack{}
	const size = maxCache / 5
	for i := range int64(50) {
		c.put(cached{place: place{p, i}, data: make([]byte, size)})
		c.put(cached{place: place{p, i}, data: make([]byte, size), id: packtest.HashOf(gitobject.Blob, nil)})
		if c.size > maxCache || len(c.entries) != c.recent.Len() {
			t.Fatalf("after %d: %d bytes, %d and %d entries", i, c.size, len(c.entries), c.recent.Len())
		}
		c.get(place{p, 0})
	}
	if got, ok := c.get(place{p, 0}); !ok || got.id.IsZero() {
		t.Error("what is used most is not kept")
	}
	c.put(cached{place: place{p, 99}, data: make([]byte, maxCache)})
	if _, ok := c.get(place{p, 99}); ok {
		t.Error("one object takes the whole cache")
	}
}

// A bug in a goroutine of Each comes out where Each was called.
func TestEachCrash(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	var none *Store
	_ = none.Each(t.Context(), make([]gitobject.ID, 10), 1, func(int, Object) error { return nil })
}
