package registry

import (
	"bytes"
	"context"
	"sort"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
)

// compare lists the paths whose entries differ between two trees, in byte order. Nothing is taken for
// renamed: a file that moved is a deletion and an addition, and so is a file that became a directory.
func (r *Repository) compare(ctx context.Context, base, head gitobject.ID) ([]Change, error) {
	c := comparison{ctx: ctx, directory: r.directory, middle: differing}
	return c.trees("", base, head)
}

type comparison struct {
	ctx       context.Context
	directory func(id gitobject.ID, path string) (*directory, error)
	middle    func(base, head *directory) middle // where two directories differ
	changes   []Change
}

// trees compares two trees at path, which is empty or a directory of the root.
func (c *comparison) trees(path string, base, head gitobject.ID) ([]Change, error) {
	depth := 0
	if path != "" {
		depth = 1
	}
	if err := c.directories(path, base, head, depth); err != nil {
		return nil, err
	}
	sortChanges(c.changes)
	return c.changes, nil
}

// directories compares two tree objects; the zero id means that the directory does not exist.
func (c *comparison) directories(path string, base, head gitobject.ID, depth int) error {
	if base == head {
		return nil
	}
	if err := c.ctx.Err(); err != nil {
		return err
	}
	if depth > maxDepth {
		return errDepth(path)
	}
	b, err := c.directory(base, path)
	if err != nil {
		return err
	}
	h, err := c.directory(head, path)
	if err != nil {
		return err
	}
	if path != "" {
		if err := c.empty(path, Entry{ModeTree, base}, b, Entry{ModeTree, head}, h); err != nil {
			return err
		}
	}
	m := c.middle(b, h)
	for i, j := m.first, m.first; i < m.baseEnd || j < m.headEnd; {
		var old, new item
		inBase, inHead := i < m.baseEnd, j < m.headEnd
		if inBase {
			old = b.at(i)
		}
		if inHead {
			new = h.at(j)
		}
		if inBase && inHead {
			order := compareItems(old, new)
			inBase, inHead = order <= 0, order >= 0
		}
		either := new
		var change Change // with entries without their names, which would keep the directories' bytes in memory
		if inBase {
			base := old.entry
			either, change.Base = old, &base
			i++
		}
		if inHead {
			head := new.entry
			change.Head = &head
			j++
		}
		change.Path = join(path, string(either.name))
		if either.entry.Mode == ModeTree { // as both are, if there are two
			err = c.directories(change.Path, change.Base.id(), change.Head.id(), depth+1)
		} else {
			err = c.add(change)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// middle is the part in which two directories differ: it begins with the same entry in both, and ends before baseEnd in
// one and headEnd in the other. What is outside is equal entry by entry.
type middle struct{ first, baseEnd, headEnd int }

func differing(b, h *directory) middle {
	same := commonPrefix(b.raw, h.raw)
	// Entries that end within the common bytes are the same in both.
	first := sort.Search(min(b.len(), h.len()), func(i int) bool { return int(b.starts[i+1]) > same })
	bEnd, hEnd := b.len(), h.len()
	tail := commonSuffix(b.raw, h.raw)
	from := sort.Search(b.len(), func(i int) bool { return int(b.starts[i]) >= len(b.raw)-tail })
	// The same bytes are the same entries only from a place on where both have an entry begin.
	if n := b.len() - from; n > 0 && h.len() >= n &&
		len(h.raw)-int(h.starts[h.len()-n]) == len(b.raw)-int(b.starts[from]) {
		n = min(n, b.len()-first, h.len()-first)
		bEnd, hEnd = b.len()-n, h.len()-n
	}
	return middle{first, bEnd, hEnd}
}

// block is how many bytes are compared at a time, by the machine's fast way; towards the end fewer, down to one.
const block = 4096

func commonPrefix(a, b []byte) int {
	n, end := 0, min(len(a), len(b))
	for size := block; size > 0; size /= 8 {
		for n+size <= end && bytes.Equal(a[n:n+size], b[n:n+size]) {
			n += size
		}
	}
	return n
}

func commonSuffix(a, b []byte) int {
	n, end := 0, min(len(a), len(b))
	for size := block; size > 0; size /= 8 {
		for n+size <= end && bytes.Equal(a[len(a)-n-size:len(a)-n], b[len(b)-n-size:len(b)-n]) {
			n += size
		}
	}
	return n
}

// empty reports a directory without entries that came or went. Git never writes one, and no path below it
// would show it.
func (c *comparison) empty(path string, base Entry, b *directory, head Entry, h *directory) error {
	change := Change{Path: path}
	if !base.ID.IsZero() && b.len() == 0 {
		change.Base = &base
	}
	if !head.ID.IsZero() && h.len() == 0 {
		change.Head = &head
	}
	if change.Base == nil && change.Head == nil {
		return nil
	}
	return c.add(change)
}

func (e *Entry) id() gitobject.ID {
	if e == nil {
		return gitobject.ID{}
	}
	return e.ID
}

func (c *comparison) add(change Change) error {
	if SameEntry(change.Base, change.Head) {
		return nil
	}
	if len(c.changes) >= maxPaths {
		return errPaths(change.Path)
	}
	c.changes = append(c.changes, change)
	return nil
}
