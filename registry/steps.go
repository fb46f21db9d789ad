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
	before := r.EmptyTree()
	if from != "" {
		if before, err = r.Tree(ctx, from); err != nil {
			return err
		}
	}
	for i, id := range chain {
		if err := ctx.Err(); err != nil {
			return err
		}
		c, err := r.resolve(id)
		if err != nil {
			return err
		}
		now := r.treeOf(c)
		changes, err := r.compare(ctx, before.root, now.root)
		if err != nil {
			return fmt.Errorf("comparing commit %s with its first parent: %w", id, err)
		}
		step := &Step{Commit: c.public(), Base: before, Result: now, Changes: changes}
		if from == "" {
			step.Number = i + 1
		}
		if err := f(step); err != nil {
			return err
		}
		before = now
	}
	return nil
}

// EmptyTree is the tree before a root commit.
func (r *Repository) EmptyTree() *Tree { return &Tree{repo: r} }
