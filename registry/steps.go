package registry

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/ahead"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
)

// Step is one commit of the first-parent history, compared with its first parent.
type Step struct {
	Commit  *Commit // Touched is not filled in
	Base    *Tree   // tree of the first parent; empty for a root commit
	Result  *Tree
	Changes []Change // in path order
	Number  int      // position of the commit, the root commit being 1; 0 if the walk did not begin there
}

// Steps calls f for each commit after from up to to, along first parents, oldest first; an empty from begins
// with the root commit. Commits are compared ahead of f, some hundred at a time. Errors are those of FirstParents,
// of objects that cannot be read, and of f.
func (r *Repository) Steps(ctx context.Context, from, to string, f func(*Step) error) error {
	chain, err := r.firstParents(ctx, from, to)
	if err != nil {
		return err
	}
	before := r.EmptyTree()
	if from != "" {
		if before, err = r.Tree(ctx, from); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	number := 0
	for b, err := range ahead.Of(r.compareChain(ctx, "", before.root, chain, batches)) {
		if err != nil {
			return err
		}
		for i, changes := range b.changes {
			c := b.commits[i]
			step := &Step{Commit: c.public(), Base: before, Result: r.treeOf(c), Changes: changes}
			if number++; from == "" {
				step.Number = number
			}
			if err := f(step); err != nil {
				cancel() // the comparison of the next commits
				return err
			}
			before = step.Result
		}
		r.directories.clear() // which f read; the next commits have others
	}
	return ctx.Err()
}

// EmptyTree returns the tree before a root commit.
func (r *Repository) EmptyTree() *Tree { return &Tree{repo: r} }

// batch is a part of a chain of first parents, and what each commit of it changes.
type batch struct {
	commits []*commit
	changes [][]Change
}

// batchLimits are how many commits are compared before what they change is given on, and how many changes those
// may be where it is more than one commit.
type batchLimits struct{ commits, changes int }

// The more commits, the more the trees of a pack are read in the order in which they are stored.
var batches = batchLimits{512, 1 << 17}

var errKept = errors.New("the batch holds too many changes")

// compareChain compares each commit with the one before, the first with the tree base. If a directory of the
// root is given, it compares only that. An error is yielded last, and without a batch. The sequence is for one loop.
func (r *Repository) compareChain(ctx context.Context, only string, base gitobject.ID, chain []*commit,
	limits batchLimits) iter.Seq2[batch, error] {
	return func(yield func(batch, error) bool) {
		for length := limits.commits; len(chain) > 0; {
			length = min(length, len(chain))
			changes, many, err := r.compareBatch(ctx, only, base, chain[:length], limits.changes)
			switch {
			case err == errKept:
				length = max(many, 1)
				continue
			case err != nil:
				yield(batch{}, err)
				return
			case !yield(batch{chain[:length], changes}, nil):
				return
			}
			base, chain = chain[length-1].tree, chain[length:]
			length = min(2*length, limits.commits)
		}
	}
}

// compareBatch gives what each commit changes; errKept where several change more than limit, and which of them it was
// that did not fit.
func (r *Repository) compareBatch(ctx context.Context, only string, base gitobject.ID, commits []*commit,
	limit int) (changes [][]Change, many int, err error) {
	trees := make([]dataTree, len(commits)+1)
	for i := range trees {
		id := base
		if i > 0 {
			id = commits[i-1].tree
		}
		if trees[i], err = r.dataTree(id, only); err != nil {
			return nil, 0, err
		}
	}
	newestFirst := r.newestFirst(trees)
	if newestFirst {
		slices.Reverse(trees)
	}
	versions, ids := versionsOf(trees)
	w := &batchWalk{ctx: ctx, repo: r, path: only, trees: trees, next: 1, newestFirst: newestFirst,
		previous: map[string]*previousDirectory{}, changes: make([][]Change, len(commits)), left: limit}
	err = r.store.Each(ctx, ids, maxTreeBytes, func(i int, o gitstore.Object) error {
		if err := w.compareBefore(versions[i].tree); err != nil {
			return err
		}
		if o.Type != gitobject.Tree {
			return errWrongType(ids[i], o.Type, gitobject.Tree)
		}
		return w.add(versions[i].path, ids[i], o)
	})
	if err == nil {
		err = w.compareBefore(len(trees))
	}
	return w.changes, w.many, err
}

// dataTree is a tree, and those of its data directories, which grow large and have many versions: zero where one is not
// there. Where only one directory is compared, the tree is that directory.
type dataTree struct {
	root        gitobject.ID
	directories [4]gitobject.ID
}

func (r *Repository) dataTree(root gitobject.ID, only string) (dataTree, error) {
	t := dataTree{root: root}
	f, err := r.directory(root, "")
	if err != nil {
		return t, err
	}
	find := func(name string) (id gitobject.ID) {
		if e, ok := f.find(name); ok && e.Mode == ModeTree {
			id = e.ID
		}
		return id
	}
	for i, k := range DataKinds {
		if only == "" || k.Directory() == only {
			t.directories[i] = find(k.Directory())
		}
	}
	if only != "" {
		t.root = find(only)
	}
	return t, nil
}

// newestFirst reports whether the packs have the newer versions of a data directory before the older ones, as git
// writes them, each the base of the next.
func (r *Repository) newestFirst(trees []dataTree) bool {
	for i := range DataKinds {
		first, last := trees[0].directories[i], trees[len(trees)-1].directories[i]
		if !first.IsZero() && !last.IsZero() && first != last {
			return r.store.Order([]gitobject.ID{first, last})[0] == last
		}
	}
	return false
}

// version says in which of the trees a data directory first is as it is.
type version struct {
	tree int
	path string
}

// versionsOf lists the versions of the data directories, and their ids.
func versionsOf(trees []dataTree) ([]version, []gitobject.ID) {
	var versions []version
	var ids []gitobject.ID
	for i, t := range trees {
		for k, id := range t.directories {
			if !id.IsZero() && (i == 0 || trees[i-1].directories[k] != id) {
				versions = append(versions, version{i, DataKinds[k].Directory()})
				ids = append(ids, id)
			}
		}
	}
	return versions, ids
}

// batchWalk compares each tree with the one before, once the data directories of both have come.
type batchWalk struct {
	ctx         context.Context
	repo        *Repository
	path        string     // path of the compared directory: empty, or a data directory
	trees       []dataTree // in the order in which they are read
	newestFirst bool
	next        int // index of the next tree that is compared with the one before it
	previous    map[string]*previousDirectory
	changes     [][]Change // by commit, oldest first
	left        int        // how many more there may be
	many        int        // the commit with more changes than are kept, after errKept
}

// previousDirectory is a data directory in the version that came last and the one before, and where they differ, if
// that is known.
type previousDirectory struct {
	ids         [2]gitobject.ID
	directories [2]*directory
	middle      middle
	known       bool
	last        gitstore.Object
	buffers     [2]gitstore.PatchBuffer // for the last version and the one before, in turn
	turn        int
}

func (w *batchWalk) add(path string, id gitobject.ID, o gitstore.Object) error {
	n := w.previous[path]
	if n == nil {
		n = &previousDirectory{}
		w.previous[path] = n
	}
	prefix, suffix := o.Alike(n.last)
	raw := n.buffers[n.turn].Put(o)
	n.last, n.turn = o, 1-n.turn
	var room []uint32
	if n.directories[0] != nil { // was compared with the one after it
		room = n.directories[0].starts
	}
	f, m := parseLike(raw, n.directories[1], prefix, suffix, room)
	n.known = f != nil
	if f == nil {
		var err error
		if f, err = parseDirectory(raw, w.repo.store.IDSize()); err != nil {
			return malformed(id, path, err)
		}
	}
	n.ids = [2]gitobject.ID{n.ids[1], id}
	n.directories = [2]*directory{n.directories[1], f}
	n.middle = m
	return nil
}

func (w *batchWalk) directory(id gitobject.ID, path string) (*directory, error) {
	if n := w.previous[path]; n != nil {
		if i := slices.Index(n.ids[:], id); i >= 0 && n.directories[i] != nil {
			return n.directories[i], nil
		}
	}
	return w.repo.directory(id, path)
}

func (w *batchWalk) middle(base, head *directory) middle {
	for _, n := range w.previous {
		switch {
		case n.known && n.directories == [2]*directory{base, head}:
			return n.middle
		case n.known && n.directories == [2]*directory{head, base}:
			return middle{n.middle.first, n.middle.headEnd, n.middle.baseEnd}
		}
	}
	return differing(base, head)
}

// compareBefore compares the trees before that subscript which are not yet compared.
func (w *batchWalk) compareBefore(end int) error {
	for ; w.next < end; w.next++ {
		i, base, head := w.next-1, w.trees[w.next-1].root, w.trees[w.next].root
		if w.newestFirst {
			i, base, head = len(w.changes)-w.next, head, base
		}
		c := comparison{ctx: w.ctx, directory: w.directory, middle: w.middle}
		var err error
		if w.changes[i], err = c.trees(w.path, base, head); err != nil {
			return fmt.Errorf("comparing tree %s with %s: %w", head, base, err)
		}
		if w.left -= len(w.changes[i]); w.left < 0 && len(w.changes) > 1 {
			w.many = i
			return errKept
		}
	}
	return nil
}
