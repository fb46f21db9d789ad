package registry

import (
	"context"
	"fmt"
	"sort"

	"github.com/openagentprotocol-OAP/oap-gate/internal/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/remedy"
)

// Range reads what head would do to base; both are commit ids or revisions.
//
// A head that base already holds gives a range without changes or commits. Without a common ancestor the
// error is ErrUnrelated; a walk that meets the boundary of a shallow clone is gitstore.ErrShallow.
func (r *Repository) Range(ctx context.Context, base, head string) (*Range, error) {
	b, err := r.resolve(base)
	if err != nil {
		return nil, fmt.Errorf("reading base %q: %w", base, err)
	}
	h, err := r.resolve(head)
	if err != nil {
		return nil, fmt.Errorf("reading head %q: %w", head, err)
	}
	return r.between(ctx, b, h, r.treeOf(h))
}

// between is the range from b to the tree proposed, which is head's own or the files on disk on top of it.
func (r *Repository) between(ctx context.Context, b, h *commit, proposed *Tree) (*Range, error) {
	walk, err := r.walkAncestry(ctx, h, b)
	if err != nil {
		return nil, fmt.Errorf("finding the merge base of %s and %s: %w", b.id, h.id, err)
	}
	bases, err := walk.mergeBases(ctx)
	if err != nil {
		return nil, err
	}
	if len(bases) == 0 {
		return nil, remedy.Errorf("start the branch anew from the base branch",
			"finding the merge base of %s and %s: %w", b.id, h.id, ErrUnrelated)
	}
	g := &Range{Base: r.treeOf(b), Head: proposed, repo: r}
	for _, c := range bases {
		g.MergeBases = append(g.MergeBases, c.id.String())
		if err := g.view(ctx, c, proposed); err != nil {
			return nil, err
		}
	}
	if bases[0].id != h.id { // else the base branch holds the head, and whatever that merged has landed
		if err := g.mergeViews(ctx, b, h); err != nil {
			return nil, err
		}
	}
	if err := g.land(ctx, b, bases); err != nil {
		return nil, err
	}
	if err := walk.settle(ctx); err != nil {
		return nil, err
	}
	commits, err := walk.ahead(h)
	if err != nil {
		return nil, err
	}
	if proposed.commit == "" && proposed.root != h.tree {
		commits = append(commits, &commit{tree: proposed.root, parents: []gitstore.ID{h.id}})
	}
	return g, g.touched(ctx, b, commits)
}

// view adds the comparison of a commit with a tree, once.
func (g *Range) view(ctx context.Context, from *commit, to *Tree) error {
	for _, v := range g.Views {
		if v.From == from.id.String() && v.To == to.commit {
			return nil
		}
	}
	changes, err := g.repo.compare(ctx, from.tree, to.root)
	if err != nil {
		return err
	}
	g.Views = append(g.Views, View{From: from.id.String(), To: to.commit, Changes: changes})
	return nil
}

// mergeViews adds the views of a head that merges into the base branch, as a forge's merge ref does: what
// would land, and what the authors of each merged side wrote. A branch that merged the base into itself has
// its own commit as first parent, and no such views.
func (g *Range) mergeViews(ctx context.Context, b, h *commit) error {
	if len(h.parents) < 2 {
		return nil
	}
	parents, err := g.repo.parents(h)
	if err != nil {
		return err
	}
	lands, err := g.repo.isAncestor(ctx, parents[0], b)
	if err != nil || !lands {
		return err
	}
	if err := g.view(ctx, parents[0], g.Head); err != nil {
		return err
	}
	for _, side := range parents[1:] {
		walk, err := g.repo.walkAncestry(ctx, side, b)
		if err != nil {
			return err
		}
		bases, err := walk.mergeBases(ctx)
		if err != nil {
			return err
		}
		for _, from := range bases {
			if from.id == side.id {
				continue // the base branch holds that side already
			}
			if err := g.view(ctx, from, g.repo.treeOf(side)); err != nil {
				return err
			}
		}
	}
	return nil
}

// land works out the tree that would stand on the base branch, and lists the paths of the range.
func (g *Range) land(ctx context.Context, b *commit, bases []*commit) error {
	g.Result = g.Head
	if len(bases) != 1 || bases[0].id != b.id {
		var all []Change
		for _, v := range g.Views {
			if v.To == g.Head.commit {
				all = append(all, v.Changes...)
			}
		}
		root, err := g.repo.compose(b.tree, sortChanges(all))
		if err != nil {
			return err
		}
		g.Result = &Tree{repo: g.repo, root: root}
	}
	landing, err := g.repo.compare(ctx, b.tree, g.Result.root)
	if err != nil {
		return err
	}
	g.Changes, err = g.union(landing)
	return err
}

// union lists the paths that land and those of the views, each with the entries of base and result.
func (g *Range) union(landing []Change) ([]Change, error) {
	paths := map[string]bool{}
	for _, c := range landing {
		paths[c.Path] = true
	}
	changes := landing
	for _, v := range g.Views {
		for _, c := range v.Changes {
			if paths[c.Path] {
				continue
			}
			paths[c.Path] = true
			// The two trees agree here: base already holds what the range brings.
			same, err := g.Result.Leaf(c.Path)
			if err != nil {
				return nil, err
			}
			changes = append(changes, Change{Path: c.Path, Base: same, Head: same})
		}
	}
	if len(changes) > maxPaths {
		return nil, errPaths(changes[maxPaths].Path)
	}
	return sortChanges(changes), nil
}

// Leaf is the entry at path as a Change has it: nil where nothing stands there, or a folder of entries.
func (t *Tree) Leaf(path string) (*Entry, error) {
	e, ok, err := t.Entry(path)
	if err != nil {
		return nil, err
	}
	return leafOf(e, ok), nil
}

func leafOf(e Entry, ok bool) *Entry {
	if !ok || (e.Mode == ModeTree && !isEmptyTree(e.ID)) {
		return nil
	}
	return &e
}

// sortChanges puts changes in path order, those of one path together: what stood there before any of them,
// and what stands there after.
func sortChanges(changes []Change) []Change {
	sort.SliceStable(changes, func(i, j int) bool { return changes[i].Path < changes[j].Path })
	kept := changes[:0]
	for _, c := range changes {
		if n := len(kept); n > 0 && kept[n-1].Path == c.Path {
			last := &kept[n-1]
			if last.Base == nil {
				last.Base = c.Base
			}
			if last.Head == nil {
				last.Head = c.Head
			}
			continue
		}
		kept = append(kept, c)
	}
	return kept
}
