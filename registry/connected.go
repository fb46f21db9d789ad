package registry

import (
	"context"
	"fmt"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
)

// Connected reports whether the clone has every object that a commit reaches: its history by all parents, their trees,
// and what these name. Commits and trees are read, other objects are only looked for. The error is of the first that is
// missing or cannot be read.
func (r *Repository) Connected(ctx context.Context, tip string) error {
	main := map[string]bool{}
	err := r.Steps(ctx, "", tip, func(s *Step) error {
		main[s.Commit.ID] = true
		return r.has(s.Commit.ID, s.Changes)
	})
	if err != nil {
		return err
	}
	c, err := r.resolve(tip)
	if err != nil {
		return err
	}
	return r.ancestors(ctx, c, unseen(map[gitobject.ID]bool{}), func(c *commit, parents []*commit) error {
		if main[c.id.String()] { // else a commit of a merged side branch
			return nil
		}
		changes, err := r.changesOf(ctx, c, parents)
		if err != nil {
			return err
		}
		return r.has(c.id.String(), changes)
	})
}

// has looks for what the changes of a commit bring.
func (r *Repository) has(commit string, changes []Change) error {
	for _, c := range changes {
		if c.Head == nil || c.Head.Mode == ModeSubmodule {
			continue
		}
		if id := c.Head.id(); !r.store.Has(id) {
			return fmt.Errorf("%s of commit %s: object %s: %w", c.Path, commit, id, gitstore.ErrNotFound)
		}
	}
	return nil
}

// Store returns the store of the clone's objects.
func (r *Repository) Store() *gitstore.Store { return r.store }
