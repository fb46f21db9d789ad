package registry

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
)

// WorktreeRange reads what the files on disk would do to base if they were committed on top of HEAD: the tree that
//
//	git add -A
//	git write-tree
//
// make in a copy of the clone's index. No program is run and nothing is written. Entries that git leaves as they are,
// since a sparse checkout or a flag says so, stay; modes and symbolic links are those of the index where the file
// system keeps none; line ends and $Id$ are converted as the attributes and the configuration say; package ignore lists
// where untracked files differ. A file that git would give to a filter, or convert from another encoding, is an error,
// unless it is by size and times as it was checked out.
//
// A clone without work tree, a merge that is not concluded, an index that is split or damaged, and a second
// call on the same Repository are errors.
func (r *Repository) WorktreeRange(ctx context.Context, base string) (*Range, error) {
	b, err := r.resolve(base)
	if err != nil {
		return nil, fmt.Errorf("reading base %q: %w", base, err)
	}
	h, err := r.resolve("HEAD")
	if err != nil {
		return nil, fmt.Errorf("reading HEAD: %w", err)
	}
	root, err := r.diskTree(ctx, h)
	if err != nil {
		return nil, fmt.Errorf("reading the work tree: %w", err)
	}
	return r.between(ctx, b, h, &Tree{repo: r, root: root})
}

// FileRange reads what one file on disk would do to base if only it were committed on top of it. Otherwise it is as
// WorktreeRange, and takes its place.
func (r *Repository) FileRange(ctx context.Context, base, path string) (*Range, error) {
	b, err := r.resolve(base)
	if err != nil {
		return nil, fmt.Errorf("reading base %q: %w", base, err)
	}
	d, indexed, err := r.openDisk(b)
	if err != nil {
		return nil, fmt.Errorf("reading the work tree: %w", err)
	}
	c := candidate{path: path, named: true}
	for i := range indexed {
		if indexed[i].path == path && indexed[i].stage == 0 {
			c.tracked = &indexed[i]
		}
	}
	files, err := d.entries(ctx, []candidate{c})
	if err != nil {
		return nil, fmt.Errorf("reading the work tree: %w", err)
	}
	return r.alone(ctx, b, path, files[path], r.composed.addFiles)
}

// TextRange reads what a new text of a file would do to base if only it were committed on top of it, wherever that
// text is.
func (r *Repository) TextRange(ctx context.Context, base, path string, text []byte) (*Range, error) {
	b, err := r.resolve(base)
	if err != nil {
		return nil, fmt.Errorf("reading base %q: %w", base, err)
	}
	id := r.composed.addText(text, b.id)
	return r.alone(ctx, b, path, &Entry{Mode: ModeFile, ID: id}, func([]Change) {})
}

// alone returns the range from b to its tree with one path changed; it calls place with the changes before they are
// read.
func (r *Repository) alone(ctx context.Context, b *commit, path string, now *Entry,
	place func([]Change)) (*Range, error) {
	was, err := r.treeOf(b).Leaf(path)
	if err != nil {
		return nil, err
	}
	var changes []Change
	if !SameEntry(was, now) {
		changes = append(changes, Change{Path: path, Base: was, Head: now})
	}
	place(changes)
	root, err := r.compose(b.tree, changes)
	if err != nil {
		return nil, err
	}
	return r.between(ctx, b, b, &Tree{repo: r, root: root})
}

// candidate is a path to look at: on disk, in the index, or both.
type candidate struct {
	path    string
	tracked *indexEntry // nil: untracked
	named   bool        // it is the one file that is judged, whatever the index or a sparse checkout says about it
}

// diskTree returns the id of the tree that would be committed on top of h.
func (r *Repository) diskTree(ctx context.Context, h *commit) (gitstore.ID, error) {
	d, indexed, err := r.openDisk(h)
	if err != nil {
		return gitstore.ID{}, err
	}
	c := candidates{seen: map[string]*indexEntry{}}
	if err := c.indexed(r, indexed); err != nil {
		return gitstore.ID{}, err
	}
	if err := r.addUntracked(ctx, d, &c); err != nil {
		return gitstore.ID{}, err
	}
	files, err := d.entries(ctx, c.list)
	if err != nil {
		return gitstore.ID{}, err
	}
	changes, err := r.changesTo(h, files)
	if err != nil {
		return gitstore.ID{}, err
	}
	r.composed.addFiles(changes)
	return r.compose(h.tree, changes)
}

// candidates are the paths to look at, each once.
type candidates struct {
	list []candidate
	seen map[string]*indexEntry // nil: untracked
}

func (c *candidates) add(path string, tracked *indexEntry) error {
	if len(c.list) >= maxPaths {
		return errPaths(path)
	}
	if _, ok := c.seen[path]; !ok {
		c.seen[path] = tracked
		c.list = append(c.list, candidate{path: path, tracked: tracked})
	}
	return nil
}

// indexed adds the paths of the index.
func (c *candidates) indexed(r *Repository, indexed []indexEntry) error {
	for i := range indexed {
		e := &indexed[i]
		if e.stage != 0 {
			return remedy.Errorf("resolve the conflict and `git add` the path",
				"reading the index at %q: it has a merge conflict", e.path)
		}
		path, isDirectory := e.directory()
		if !isDirectory {
			if err := c.add(path, e); err != nil {
				return err
			}
			continue
		}
		w := walk{repo: r, visit: func(path string, entry Entry) error {
			return c.add(path, &indexEntry{path: path, entry: entry, sparse: true})
		}}
		if err := w.directory(path, e.entry.ID, 1); err != nil {
			return err
		}
	}
	return nil
}

// changesTo lists what the files change in the tree of h, in path order.
func (r *Repository) changesTo(h *commit, files map[string]*Entry) ([]Change, error) {
	var changes []Change
	err := r.treeOf(h).Walk(func(path string, e Entry) error {
		now := files[path]
		if !SameEntry(now, &e) {
			changes = append(changes, Change{Path: path, Base: &e, Head: now})
		}
		delete(files, path)
		return nil
	})
	if err != nil {
		return nil, err
	}
	for path, e := range files {
		if e != nil {
			changes = append(changes, Change{Path: path, Head: e})
		}
	}
	return sortChanges(changes), nil
}

// openDisk opens the work tree and reads the index. Without an index file, the index is empty.
func (r *Repository) openDisk(h *commit) (*disk, []indexEntry, error) {
	dir := r.store.Worktree()
	if dir == "" {
		return nil, nil, remedy.Errorf("name a commit with --head, or use a clone with a work tree",
			"looking for a work tree: the clone is bare")
	}
	gitDir := r.store.GitDir()
	if _, err := os.Lstat(filepath.Join(gitDir, "MERGE_HEAD")); err == nil {
		return nil, nil, remedy.Errorf("commit the merge, or run `git merge --abort`",
			"looking at the work tree: a merge is not concluded")
	}
	d, err := r.composed.openDisk(dir, h.id)
	if err != nil {
		return nil, nil, err
	}
	settings, err := r.store.Settings()
	if err != nil {
		return nil, nil, err
	}
	var entries []indexEntry
	if d.index, entries, err = readIndex(gitDir, h.id.Size()); err != nil {
		return nil, nil, err
	}
	d.conv = newConverter(r, d, settings, entries)
	return d, entries, nil
}

// readIndex reads the index of a work tree by its Git directory; nil if there is no index.
func readIndex(gitDir string, idSize int) (fs.FileInfo, []indexEntry, error) {
	name := filepath.Join(gitDir, "index")
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxIndex {
		return nil, nil, fmt.Errorf("reading %s: expected a regular file of at most %d bytes", name, maxIndex)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, nil, err
	}
	entries, err := parseIndex(data, idSize)
	if err != nil {
		return nil, nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return info, entries, nil
}

// maxIndex is room for a million entries.
const maxIndex = 256 << 20

// maxUncommitted is how many records Uncommitted names.
const maxUncommitted = 1000

// Uncommitted returns the records on disk, staged or not, that differ from those of HEAD, and those that are missing on
// disk, in path order; at most 1,000. A file whose size and time are those of Git's checkout counts as unchanged. The
// result only serves for a notice: if the work tree cannot be read, Uncommitted returns nothing. A Repository allows
// one call of either Uncommitted or WorktreeRange.
func (r *Repository) Uncommitted(ctx context.Context) []string {
	h, err := r.resolve("HEAD")
	if err != nil || r.store.Worktree() == "" {
		return nil
	}
	d, indexed, err := r.openDisk(h)
	if err != nil {
		return nil
	}
	c := candidates{seen: map[string]*indexEntry{}}
	indexed = slices.DeleteFunc(indexed, func(e indexEntry) bool { return KindOf(e.path) == Governance })
	if err := c.indexed(r, indexed); err != nil {
		return nil
	}
	for _, k := range DataKinds {
		if err := d.list(k.Directory(), 1, func(path string) error { return c.add(path, nil) }); err != nil {
			return nil
		}
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
