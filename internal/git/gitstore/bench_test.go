package gitstore

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// BenchmarkFlat reads 100,000 listings, and the trees of the 1,000 commits that brought them to one flat directory,
// beside what git takes to print the same objects unverified. Making the registry takes half a minute.
func BenchmarkFlat(b *testing.B) {
	c := newClone(b)
	h := c.flatHistory(1000, 100)
	newest := slices.Clone(h.trees)
	slices.Reverse(newest)
	bench := func(name string, read func(s *Store) error) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				s, err := Open(c.Dir)
				if err == nil {
					err = read(s)
				}
				if err != nil {
					b.Fatal(err)
				}
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	half := len(h.blobs) / 2
	bench("listings/two goroutines", func(s *Store) error {
		var errs [2]error
		var both sync.WaitGroup
		for i, part := range [][]ID{h.blobs[:half], h.blobs[half:]} {
			both.Go(func() { errs[i] = readAll(s, part) })
		}
		both.Wait()
		return firstError(errs[:]...)
	})
	bench("trees/newest first/Each", func(s *Store) error {
		return s.Each(context.Background(), newest, maxBase, func(int, Object) error { return nil })
	})
	bench("trees/newest first/Read", func(s *Store) error { return readAll(s, newest) })
	bench("trees/oldest first/Each", func(s *Store) error {
		return s.Each(context.Background(), h.trees, maxBase, func(int, Object) error { return nil })
	})
	for _, ids := range [][]ID{h.blobs, h.trees} {
		var list strings.Builder
		for _, id := range ids {
			fmt.Fprintln(&list, id)
		}
		b.Run(fmt.Sprintf("git cat-file of %d", len(ids)), func(b *testing.B) {
			for b.Loop() {
				cmd := c.Command("cat-file", "--batch")
				cmd.Stdin = strings.NewReader(list.String())
				if err := cmd.Run(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	_, tree, err := c.open().Read(newest[0], maxBase)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("tree/DecodeTree", func(b *testing.B) {
		b.SetBytes(int64(len(tree)))
		for b.Loop() {
			entries := DecodeTree(tree, 20)
			for entries.Next() {
			}
			if err := entries.Err(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func readAll(s *Store, ids []ID) error {
	for _, id := range ids {
		if _, _, err := s.Read(id, maxBase); err != nil {
			return err
		}
	}
	return nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// flatHistory is a registry whose commits each add as many listings to one flat directory, packed as git gc packs it:
// the newest tree whole, each older one a delta of the next, no chain longer than 50. It is written by packWriter,
// since git fast-import goes through a directory from its start for each file: ten minutes for what takes seconds here.
type flatHistory struct {
	blobs, trees []ID // trees of implementations/, oldest first
	commits      []ID
}

func (c clone) flatHistory(commits, each int) flatHistory {
	w := newPackWriter(c.T)
	type file struct {
		n     int
		entry string // of the tree
	}
	files := make([]file, commits*each)
	h := flatHistory{
		blobs: make([]ID, len(files)), trees: make([]ID, commits), commits: make([]ID, commits),
	}
	for n := range files {
		name := fmt.Sprintf("%08x-tool.json", uint32(n)*2654435761) // in no order, as slugs are
		files[n] = file{n, "100644 " + name + "\x00"}
	}
	slices.SortFunc(files, func(a, b file) int { return strings.Compare(a.entry, b.entry) })
	base := int64(0)
	for n := range h.blobs {
		text := []byte(listing(n))
		if n%20 == 0 {
			h.blobs[n], base = w.object(Blob, text)
			continue
		}
		// As git does for texts so much alike: the template once, the rest its differences.
		h.blobs[n] = hashOf(Blob, text)
		w.add(h.blobs[n], offsetDelta, w.offsetTo(base), textDelta([]byte(listing(n-n%20)), text), 0)
	}
	entry := len(files[0].entry) + 20
	newer := files
	for i := commits - 1; i >= 0; i-- {
		files = slices.DeleteFunc(slices.Clone(newer), func(f file) bool { return f.n >= (i+1)*each })
		tree := make([]byte, 0, len(files)*entry)
		for _, f := range files {
			tree = append(append(tree, f.entry...), h.blobs[f.n].sum[:20]...)
		}
		h.trees[i] = hashOf(Tree, tree)
		if (commits-1-i)%50 == 0 {
			base = w.add(h.trees[i], Tree, nil, tree, 0)
			newer = files
			continue
		}
		d := newDelta(int64(len(newer)*entry), int64(len(tree)))
		for from := 0; from < len(newer); {
			to := from
			for to < len(newer) && newer[to].n < (i+1)*each {
				to++
			}
			d.copy(from*entry, (to-from)*entry)
			from = to + 1
		}
		base = w.add(h.trees[i], offsetDelta, w.offsetTo(base), d.Bytes(), 0)
		newer = files
	}
	parent := ""
	for i := range h.commits {
		root, _ := w.object(Tree, append([]byte("40000 implementations\x00"), h.trees[i].Bytes()...))
		h.commits[i], _ = w.object(Commit, fmt.Appendf(nil,
			"tree %s\n%sauthor A <a@example.org> %[3]d +0000\ncommitter A <a@example.org> %[3]d +0000\n\nx\n", root,
			parent, 1700000000+i))
		parent = fmt.Sprintf("parent %s\n", h.commits[i])
	}
	w.write(c)
	c.Git("update-ref", "refs/heads/main", h.commits[commits-1].String())
	return h
}

// textDelta makes a delta line by line.
func textDelta(base, text []byte) []byte {
	d := newDelta(int64(len(base)), int64(len(text)))
	at := map[string]int{}
	offset := 0
	for line := range bytes.Lines(base) {
		at[string(line)] = offset
		offset += len(line)
	}
	for line := range bytes.Lines(text) {
		if from, ok := at[string(line)]; ok {
			d.copy(from, len(line))
		} else {
			d.insert(line)
		}
	}
	return d.Bytes()
}
