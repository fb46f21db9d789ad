package registry

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/gitstore"
)

// PathVersion is what a path held from a first-parent commit on.
type PathVersion struct {
	Path string
	Version
}

// FolderHistory returns what the paths below a folder of the root held, along the first parents of tip, oldest first:
// one PathVersion for each commit and path of which it changed the entry, for the paths that keep accepts. Times are as
// in FileHistory. Commits that leave the folder's tree as it was cost next to nothing.
func (r *Repository) FolderHistory(ctx context.Context, tip, path string, now time.Time,
	keep func(path string) bool) ([]PathVersion, error) {
	chain, err := r.firstParents(ctx, "", tip)
	if err != nil {
		return nil, err
	}
	trees := make([]gitstore.ID, len(chain)+1) // of the folder; before the root commit there was nothing
	err = inParallel(ctx, len(chain), successive, func(from, to int) error {
		v := versionReader{repo: r, latest: map[string]*folder{}}
		for i, c := range chain[from:to] {
			root, err := v.folder(c.tree, "")
			if err != nil {
				return fmt.Errorf("reading commit %s: %w", c.id, err)
			}
			if e, found := root.find(path); found && e.Mode == ModeTree {
				trees[from+i+1] = e.ID
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	changes := make([][]Change, len(chain))
	err = inParallel(ctx, len(chain), successive, func(from, to int) error {
		v := versionReader{repo: r, latest: map[string]*folder{}}
		for i := from; i < to; i++ {
			c := comparison{ctx: ctx, folder: v.folder, middle: differing}
			if err := c.folders(path, trees[i], trees[i+1], 1); err != nil {
				return fmt.Errorf("comparing commit %s with its first parent: %w", chain[i].id, err)
			}
			changes[i] = slices.DeleteFunc(sortChanges(c.changes), func(c Change) bool { return !keep(c.Path) })
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	last := landing{known: true, clock: now}
	var out []PathVersion
	for i, c := range chain {
		last = r.land(chain[i:i+1], last)
		for _, change := range changes[i] {
			out = append(out, PathVersion{change.Path,
				Version{Commit: c.id.String(), When: last.time(), Entry: change.Head}})
		}
	}
	return out, nil
}
