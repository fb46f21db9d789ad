package registry

import (
	"context"
	"fmt"

	"github.com/openagentprotocol-OAP/oap-gate/internal/gitstore"
)

// FirstParents lists the commits after from up to to, along first parents, oldest first. Empty, from stands
// for the beginning: the list starts with the root commit. The error is ErrNotAncestor where from is not on
// that chain, as after a rewrite of history.
func (r *Repository) FirstParents(ctx context.Context, from, to string) ([]string, error) {
	tip, err := r.resolve(to)
	if err != nil {
		return nil, err
	}
	var stop gitstore.ID
	if from != "" {
		c, err := r.resolve(from)
		if err != nil {
			return nil, err
		}
		stop = c.id
	}
	var ids []string
	for c := tip; c != nil && c.id != stop; {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		ids = append(ids, c.id.String())
		if c, err = r.firstParent(c); err != nil {
			return nil, err
		}
		if c == nil && from != "" {
			return nil, &gitstore.Error{Op: "walking first parents from", Object: tip.id.String() + " to " + stop.String(),
				Remedy: "history was rewritten, or the older commit came in by a merge: name one that the branch itself stood at",
				Err:    ErrNotAncestor}
		}
	}
	for i, j := 0, len(ids)-1; i < j; i, j = i+1, j-1 {
		ids[i], ids[j] = ids[j], ids[i]
	}
	return ids, nil
}

// firstParent is the first parent of c, nil for a root commit.
func (r *Repository) firstParent(c *commit) (*commit, error) {
	if len(c.parents) == 0 {
		return nil, nil
	}
	if r.store.IsShallow(c.id) {
		return nil, errShallow(c)
	}
	p, err := r.commit(c.parents[0])
	if err != nil {
		return nil, fmt.Errorf("first parent of %s: %w", c.id, err)
	}
	return p, nil
}

// FileHistory lists what stood at path, along the first parents of tip, newest first: one Version for each
// commit that changed the entry. A path that never was gives an empty list.
func (r *Repository) FileHistory(ctx context.Context, tip, path string) ([]Version, error) {
	c, err := r.resolve(tip)
	if err != nil {
		return nil, err
	}
	entry, err := r.treeOf(c).leaf(path)
	if err != nil {
		return nil, err
	}
	var versions []Version
	for c != nil {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		parent, err := r.firstParent(c)
		if err != nil {
			return nil, err
		}
		var before *Entry
		if parent != nil {
			if before, err = r.before(c, parent, path, entry); err != nil {
				return nil, fmt.Errorf("reading commit %s: %w", parent.id, err)
			}
		}
		if !sameEntry(entry, before) {
			versions = append(versions, Version{Commit: c.id.String(), When: c.when, Entry: entry})
		}
		c, entry = parent, before
	}
	return versions, nil
}

// before is what stood at path in the parent of c, given what stands there in c.
func (r *Repository) before(c, parent *commit, path string, now *Entry) (*Entry, error) {
	if c.tree == parent.tree {
		return now, nil
	}
	return r.treeOf(parent).leaf(path)
}

func sameEntry(a, b *Entry) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}
