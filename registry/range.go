package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
)

// Range reads what head would do to base; both are commit ids or revisions. An empty base is the empty tree before a
// root commit, which head then is.
//
// A head that base already holds gives a range without changes or commits. Without a common ancestor the
// error is ErrUnrelated; a walk that meets the boundary of a shallow clone is gitstore.ErrShallow.
func (r *Repository) Range(ctx context.Context, base, head string) (*Range, error) {
	h, err := r.resolve(head)
	if err != nil {
		return nil, fmt.Errorf("reading head %q: %w", head, err)
	}
	if base == "" {
		return r.root(ctx, h)
	}
	b, err := r.resolve(base)
	if err != nil {
		return nil, fmt.Errorf("reading base %q: %w", base, err)
	}
	return r.between(ctx, b, h, r.treeOf(h))
}

// root returns the range of a root commit, which adds every file.
func (r *Repository) root(ctx context.Context, h *commit) (*Range, error) {
	if len(h.parents) > 0 {
		return nil, fmt.Errorf("reading commit %s: it has a parent; expected a root commit", h.id)
	}
	tree := r.treeOf(h)
	g := &Range{Base: r.EmptyTree(), Head: tree, Result: tree, repo: r, refusals: refusals{repo: r}}
	changes, err := r.changesOf(ctx, h, nil)
	if err != nil {
		return nil, err
	}
	g.Changes, g.Views = changes, []View{{To: tree.commit, Changes: changes}}
	return g, g.touched(ctx, &commit{}, []*commit{h})
}

// between returns the range from b to the proposed tree, which is head's own or that of the files on disk on top of it.
func (r *Repository) between(ctx context.Context, b, h *commit, proposed *Tree) (*Range, error) {
	walk, err := r.walkAncestry(ctx, h, b)
	if errors.Is(err, gitstore.ErrShallow) {
		return nil, err // which says first what is wrong with the clone
	}
	if err != nil {
		return nil, fmt.Errorf("finding the merge base of %s and %s: %w", b.id, h.id, err)
	}
	bases, err := walk.mergeBases(ctx)
	if err != nil {
		return nil, err
	}
	if len(bases) == 0 {
		return nil, remedy.Errorf("start the branch again from the base branch",
			"finding the merge base of %s and %s: %w", b.id, h.id, ErrUnrelated)
	}
	g := &Range{Base: r.treeOf(b), Head: proposed, repo: r, refusals: refusals{repo: r}}
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
	commits, err := walk.ahead(ctx, h)
	if err != nil {
		return nil, err
	}
	if proposed.commit == "" && proposed.root != h.tree {
		commits = append(commits, &commit{tree: proposed.root, parents: []gitobject.ID{h.id}})
	}
	if err := g.touched(ctx, b, commits); err != nil {
		return nil, err
	}
	return g, g.splitRefused(ctx, b)
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

// mergeViews adds the views of a head that merges into the base branch, as a forge's merge ref does: the result of the
// merge, and what the authors of each merged side wrote. A branch that merged the base into itself has its own commit
// as first parent, and no such views.
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
				continue // the base branch contains that side already
			}
			if err := g.view(ctx, from, g.repo.treeOf(side)); err != nil {
				return err
			}
		}
	}
	return nil
}

// land computes the tree that the base branch would have, and lists the paths of the range.
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

// Leaf returns the entry at path as a Change has it: nil if nothing is there, or a directory of entries.
func (t *Tree) Leaf(path string) (*Entry, error) {
	e, ok, err := t.Entry(path)
	if err != nil || !ok || e.Mode == ModeTree && !isEmptyTree(e.ID) {
		return nil, err
	}
	return &e, nil
}

// sortChanges sorts changes by path and joins those of one path: the entry before any of them, and the entry after all.
func sortChanges(changes []Change) []Change {
	slices.SortStableFunc(changes, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
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

// Change is a path whose entry differs between two trees; nil means that it is not there.
type Change struct {
	Path       string
	Base, Head *Entry
}

// Commit is one commit of a range.
type Commit struct {
	ID      string
	Parents []string
	When    time.Time // committer date, UTC
	// Touched lists the paths at which the commit counts as a change of its own, in path order; Base is the first
	// parent's entry. These are the paths whose entry differs from that in every parent; for a root commit every path.
	//
	// A path whose entry after the commit equals that of the base tree does not count, because nothing would change
	// there. It does count if a parent comes from a base commit that has the same entry: then the commit fixes what a
	// commit before it broke.
	//
	// If the first parents lead from the commit to the base commit, a path that base holds counts, too, if its entry
	// differs from the first parent's and from the result's: fast-forwarded, the merge would be such a step of main.
	Touched []Change
}

// View is one comparison that a range must pass.
type View struct {
	From    string // commit; empty: the tree before a root commit
	To      string // commit; empty: the files on disk
	Changes []Change
}

// Range is what a pull request would do to a registry: base..head.
type Range struct {
	Base   *Tree // the judge: the tree of the commit that the range would land on; empty for a root commit
	Head   *Tree // as proposed
	Result *Tree // what would land: the base tree with the range's changes
	// MergeBases are the best common ancestors of base and head, sorted. Only criss-cross histories have several.
	MergeBases []string
	// Views are the comparisons that must all pass: each merge base with head; and if head is a merge whose first
	// parent is base or its ancestor, as a forge's merge ref is, also that parent with head (what the merge changes)
	// and each other parent with its own merge bases with base (what was written). Each view occurs once.
	Views []View
	// Changes are the paths that differ between Base and Result and those of all views together, in path order. Base is
	// the base tree's entry and Head the result's. The two are equal if the base branch already has what the range
	// adds, and both nil if it already removed what the range removes.
	Changes []Change
	// Commits are those that head reaches and base does not, ancestors first; order is deterministic. Where
	// the head is the files on disk, the last one has no ID and holds what they change in HEAD, if anything.
	Commits []Commit
	// Displaces reports whether the head reaches the base commit, but not along first parents: fast-forwarded, the
	// head's first-parent history would take the place of the base branch's.
	Displaces bool
	// Refused is what git refuses to receive of the range's commits if transfer.fsckObjects is set, in the order of
	// Commits, and is not in the history of base.
	Refused []Refused

	repo          *Repository
	refusals      refusals
	refusedBefore []Refused
}

// Version is what one path held from a first-parent commit on.
type Version struct {
	Commit string
	When   time.Time // first-parent time, UTC
	Entry  *Entry    // nil: the commit took the path away
}
