package registry

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
)

// touched lists the commits of the range and what counts as changed by each; see Commit.Touched. They come after their
// parents, the head last.
func (g *Range) touched(ctx context.Context, b *commit, commits []*commit) error {
	onto := map[gitobject.ID]bool{b.id: true} // first parents lead from there to b
	total := 0
	for _, c := range commits {
		onto[c.id] = len(c.parents) > 0 && onto[c.parents[0]]
		changes, refused, err := g.changedBy(ctx, c, onto[c.id])
		if err != nil {
			return fmt.Errorf("reading what commit %s changes: %w", c.id, err)
		}
		g.Refused = append(g.Refused, refused...)
		if total += len(changes); total > maxPaths {
			return errPaths(changes[0].Path)
		}
		entry := *c.public()
		entry.Touched = changes
		g.Commits = append(g.Commits, entry)
	}
	if n := len(commits); n > 0 {
		g.Displaces = slices.Contains(g.MergeBases, b.id.String()) && !onto[commits[n-1].id]
	}
	return g.dropSame(ctx, commits)
}

// changedBy lists the paths whose entry in a commit differs from that in every parent. What one parent holds was judged
// there; but not what a commit that can be fast-forwarded to makes of its first parent. With them comes what git
// refuses of the commit.
func (g *Range) changedBy(ctx context.Context, c *commit, onto bool) ([]Change, []Refused, error) {
	parents, err := g.repo.parents(c)
	if err != nil {
		return nil, nil, err
	}
	changes, err := g.repo.changesOf(ctx, c, parents)
	if err != nil {
		return nil, nil, err
	}
	var steps []Change
	if onto && len(parents) > 1 {
		if steps, err = g.steps(changes); err != nil {
			return nil, nil, err
		}
	}
	if changes, err = g.repo.unlikeOthers(ctx, c, parents, changes); err != nil {
		return nil, nil, err
	}
	refused, err := g.refusals.of(c, parents, changes, true)
	if err != nil || len(steps) == 0 {
		return changes, refused, err
	}
	return sortChanges(append(changes, steps...)), refused, nil
}

// changesOf lists what a commit changes in the tree of its first parent, or that a root commit adds.
func (r *Repository) changesOf(ctx context.Context, c *commit, parents []*commit) ([]Change, error) {
	var before gitobject.ID
	if len(parents) > 0 {
		before = parents[0].tree
	}
	return r.compare(ctx, before, c.tree)
}

// unlikeOthers keeps of the changes that a commit makes of its first parent those that it makes of all others too.
func (r *Repository) unlikeOthers(ctx context.Context, c *commit, parents []*commit,
	changes []Change) ([]Change, error) {
	for _, p := range parents[min(1, len(parents)):] {
		others, err := r.compare(ctx, p.tree, c.tree)
		if err != nil {
			return nil, err
		}
		changes = onlyPathsOf(changes, others)
	}
	return changes, nil
}

// steps keeps the changes of what base holds to something that does not land.
func (g *Range) steps(changes []Change) ([]Change, error) {
	var kept []Change
	for _, c := range changes {
		base, err := g.Base.Leaf(c.Path)
		if err != nil {
			return nil, err
		}
		if base == nil {
			continue
		}
		lands, err := g.Result.Leaf(c.Path)
		if err != nil {
			return nil, err
		}
		if !SameEntry(c.Head, lands) {
			kept = append(kept, c)
		}
	}
	return kept, nil
}

// dropSame takes out of Touched what a commit leaves as the base tree has it, unless a commit of the base branch that
// it comes from has it so too.
//
// Only those of base that a commit of the range has for a parent are looked at, not all that they reach: where base
// changed a path and then took that back, a branch from in between may do the same.
func (g *Range) dropSame(ctx context.Context, commits []*commit) error {
	var entries []*Entry        // entries of the base tree
	numbers := map[string]int{} // by path: the place in entries
	for _, c := range g.Commits {
		for _, t := range c.Touched {
			if _, known := numbers[t.Path]; known {
				continue
			}
			e, err := g.Base.Leaf(t.Path)
			if err != nil {
				return err
			}
			if SameEntry(t.Head, e) {
				numbers[t.Path] = len(entries)
				entries = append(entries, e)
			}
		}
	}
	if len(entries) == 0 {
		return nil
	}
	retained := map[gitobject.ID]*big.Int{} // by commit: the entries in a base commit that it descends from
	for i, c := range commits {
		before := new(big.Int)
		for n, p := range c.parents {
			if retained[p] == nil {
				var err error
				if retained[p], err = g.keptBy(ctx, p, numbers); err != nil {
					return err
				}
			}
			if n == 0 {
				before = retained[p]
			} else if before != retained[p] {
				before = new(big.Int).Or(before, retained[p])
			}
		}
		retained[c.id] = before
		g.Commits[i].Touched = slices.DeleteFunc(g.Commits[i].Touched, func(t Change) bool {
			n, known := numbers[t.Path]
			return known && SameEntry(t.Head, entries[n]) && before.Bit(n) == 0
		})
	}
	return nil
}

// keptBy returns the set of those numbered paths at which a commit has the entry of the base tree.
func (g *Range) keptBy(ctx context.Context, id gitobject.ID, numbers map[string]int) (*big.Int, error) {
	c, err := g.repo.commit(id)
	if err != nil {
		return nil, err
	}
	changes, err := g.repo.compare(ctx, c.tree, g.Base.root)
	if err != nil {
		return nil, err
	}
	retained := new(big.Int).Lsh(big.NewInt(1), uint(len(numbers)))
	retained.Sub(retained, big.NewInt(1))
	for _, c := range changes {
		if n, found := numbers[c.Path]; found {
			retained.SetBit(retained, n, 0)
		}
	}
	return retained, nil
}

// onlyPathsOf keeps the changes whose paths others names too; both are in path order.
func onlyPathsOf(changes, others []Change) []Change {
	kept := changes[:0]
	for _, c := range changes {
		for len(others) > 0 && others[0].Path < c.Path {
			others = others[1:]
		}
		if len(others) > 0 && others[0].Path == c.Path {
			kept = append(kept, c)
		}
	}
	return kept
}
