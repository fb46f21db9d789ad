package registry

import (
	"context"
	"slices"
	"strings"
)

// maxUncommitted is how many records Uncommitted names.
const maxUncommitted = 1000

// Uncommitted are the records on disk, staged or not, that differ from those of HEAD, and those that are gone from
// disk, in path order; at most 1,000. A file that by size and time is as Git checked it out counts as unchanged. It is
// for a notice alone: where the work tree cannot be read, there is nothing to say of it. It takes the place of
// WorktreeRange, which works once.
func (r *Repository) Uncommitted(ctx context.Context) []string {
	h, err := r.resolve("HEAD")
	if err != nil || r.store.Worktree() == "" {
		return nil
	}
	d, indexed, err := r.openDisk(h)
	if err != nil {
		return nil
	}
	d.trusting = true
	c := candidates{seen: map[string]*indexEntry{}}
	indexed = slices.DeleteFunc(indexed, func(e indexEntry) bool { return KindOf(e.path) == Governance })
	if err := c.data(r, d, indexed); err != nil {
		return nil
	}
	files, err := d.entries(ctx, c.list)
	if err != nil {
		return nil
	}
	var paths []string
	for _, k := range DataKinds {
		for e, err := range r.treeOf(h).Entries(k) {
			if err != nil {
				return nil
			}
			if now := files[e.Path]; KindOf(e.Path) == k && !SameEntry(now, &e.Entry) {
				paths = append(paths, e.Path)
			}
			delete(files, e.Path)
		}
	}
	for path, e := range files {
		if e != nil && KindOf(path) != Governance {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	paths = paths[:min(len(paths), maxUncommitted)]
	for i := range paths {
		paths[i] = strings.ToValidUTF8(paths[i], "\uFFFD")
	}
	return paths
}
