package registry

import (
	"context"
	"strings"
	"time"
)

// PathVersion is what a path held from a first-parent commit on.
type PathVersion struct {
	Path string
	Version
}

// FolderHistory returns what the paths below a folder of the root held, along the first parents of tip, oldest first:
// one PathVersion for each commit and path of which it changed the entry, for the paths that keep accepts. Times are as
// in FileHistory. The history is read once, as Steps reads it.
func (r *Repository) FolderHistory(ctx context.Context, tip, path string, now time.Time,
	keep func(path string) bool) ([]PathVersion, error) {
	var out []PathVersion
	err := r.Steps(ctx, "", tip, func(step *Step) error {
		for _, c := range step.Changes {
			if !strings.HasPrefix(c.Path, path+"/") || !keep(c.Path) {
				continue
			}
			landed, err := r.FirstParentTime(ctx, step.Commit.ID, now)
			if err != nil {
				return err
			}
			out = append(out, PathVersion{c.Path, Version{Commit: step.Commit.ID, When: landed, Entry: c.Head}})
		}
		return nil
	})
	return out, err
}
