package registry

import (
	"context"
	"fmt"
)

// Step is one commit of the first-parent history, beside its first parent.
type Step struct {
	Commit  *Commit // Touched is not filled in
	Base    *Tree   // of the first parent; empty for a root commit
	Result  *Tree
	Changes []Change // in path order
	Number  int      // of the commit, the root commit being 1; 0 where the walk did not begin there
}

// Steps calls f for each commit after from up to to, along first parents, oldest first; an empty from begins
// with the root commit. Errors are those of FirstParents, of objects that cannot be read, and of f.
func (r *Repository) Steps(ctx context.Context, from, to string, f func(*Step) error) error {
	chain, err := r.FirstParents(ctx, from, to)
	if err != nil {
		return err
	}
	trees := make([]*Tree, len(chain)+1) // of from, then of each commit
	trees[0] = r.EmptyTree()
	if from != "" {
		if trees[0], err = r.Tree(ctx, from); err != nil {
			return err
		}
	}
	commits := make([]*commit, len(chain))
	for i, id := range chain {
		if commits[i], err = r.resolve(id); err != nil {
			return err
		}
		trees[i+1] = r.treeOf(commits[i])
	}
	// Packs hold the newest tree whole and the older ones as deltas of newer ones, so that comparing newest
	// first makes each tree by one delta; oldest first it takes several times as long.
	changes := make([][]Change, len(chain))
	for i := len(chain) - 1; i >= 0; i-- {
		if err := ctx.Err(); err != nil {
			return err
		}
		if changes[i], err = r.compare(ctx, trees[i].root, trees[i+1].root); err != nil {
			return fmt.Errorf("comparing commit %s with its first parent: %w", chain[i], err)
		}
	}
	for i, c := range commits {
		if err := ctx.Err(); err != nil {
			return err
		}
		step := &Step{Commit: c.public(), Base: trees[i], Result: trees[i+1], Changes: changes[i]}
		changes[i] = nil
		if from == "" {
			step.Number = i + 1
		}
		if err := f(step); err != nil {
			return err
		}
	}
	return nil
}

// EmptyTree is the tree before a root commit.
func (r *Repository) EmptyTree() *Tree { return &Tree{repo: r} }
