package registry

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/gitstore"
)

// WorktreeRange reads what the files on disk would do to base if they were committed on top of HEAD: by
//
//	git add -f implementations revocations peer-witnesses workflow-anchors
//	git commit -a
//
// That is every file of the data folders, tracked or not and ignored or not, and elsewhere the files that
// Git tracks. Files that a sparse checkout leaves out stay as they are. Git's conversions (line ends, filters
// such as LFS) are not run: a file counts as unchanged where its bytes are those stored, or where Git itself
// sees by size and time that it is as it was checked out; else its bytes count as they stand on disk. The
// executable bit counts where the file system keeps it.
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

// candidate is a path to look at: on disk, in the index, or both.
type candidate struct {
	path    string
	tracked *indexEntry // nil: untracked
}

// diskTree is the id of the tree that would be committed on top of h.
func (r *Repository) diskTree(ctx context.Context, h *commit) (gitstore.ID, error) {
	d, indexed, err := r.openDisk(h)
	if err != nil {
		return gitstore.ID{}, err
	}
	candidates, err := r.candidates(d, indexed)
	if err != nil {
		return gitstore.ID{}, err
	}
	entries := make([]*Entry, len(candidates))
	err = inParallel(ctx, len(candidates), neighbours, func(from, to int) (err error) {
		for i := from; i < to && err == nil; i++ {
			entries[i], err = d.committed(candidates[i])
		}
		return err
	})
	if err != nil {
		return gitstore.ID{}, err
	}
	files := make(map[string]*Entry, len(entries))
	for i, c := range candidates {
		files[c.path] = entries[i]
	}
	changes, err := r.changesTo(h, files)
	if err != nil {
		return gitstore.ID{}, err
	}
	r.composed.addFiles(changes)
	return r.compose(h.tree, changes)
}

// candidates lists the paths of the index and those that stand in the data folders, each once.
func (r *Repository) candidates(d *disk, indexed []indexEntry) ([]candidate, error) {
	var list []candidate
	seen := map[string]bool{}
	add := func(path string, tracked *indexEntry) error {
		if len(list) >= maxPaths {
			return errPaths(path)
		}
		if !seen[path] {
			seen[path] = true
			list = append(list, candidate{path, tracked})
		}
		return nil
	}
	for i := range indexed {
		e := &indexed[i]
		if e.stage != 0 {
			return nil, &gitstore.Error{Op: "reading the index at", Object: fmt.Sprintf("%q", e.path),
				Err: errors.New("a merge conflict stands there"), Remedy: "resolve the conflict and `git add` the path"}
		}
		path, isFolder := e.folder()
		if !isFolder {
			if err := add(path, e); err != nil {
				return nil, err
			}
			continue
		}
		w := walk{repo: r, visit: func(path string, entry Entry) error {
			return add(path, &indexEntry{path: path, entry: entry, sparse: true})
		}}
		if err := w.folder(path, e.entry.ID, 1); err != nil {
			return nil, err
		}
	}
	for _, k := range DataKinds {
		if err := d.list(k.Folder(), 1, func(path string) error { return add(path, nil) }); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// changesTo lists what the files change in the tree of h, in path order.
func (r *Repository) changesTo(h *commit, files map[string]*Entry) ([]Change, error) {
	var changes []Change
	err := r.treeOf(h).Walk(func(path string, e Entry) error {
		now := files[path]
		if !sameEntry(now, &e) {
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

// openDisk opens the work tree and reads the index, which is empty where there is none.
func (r *Repository) openDisk(h *commit) (*disk, []indexEntry, error) {
	dir := r.store.Worktree()
	if dir == "" {
		return nil, nil, &gitstore.Error{Op: "looking for a work tree", Err: errors.New("the clone is bare"),
			Remedy: "name a commit with --head, or use a clone with a work tree"}
	}
	gitDir, err := gitDirOf(dir)
	if err != nil {
		return nil, nil, err
	}
	if _, err := os.Lstat(filepath.Join(gitDir, "MERGE_HEAD")); err == nil {
		return nil, nil, &gitstore.Error{Op: "looking at the work tree", Err: errors.New("a merge is not concluded"),
			Remedy: "commit the merge, or run `git merge --abort`"}
	}
	d, err := r.composed.openDisk(dir, h.id)
	if err != nil {
		return nil, nil, err
	}
	name := filepath.Join(gitDir, "index")
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxIndex {
		return nil, nil, fmt.Errorf("reading %s: a regular file of at most %d bytes is expected", name, maxIndex)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, nil, err
	}
	d.index = info
	entries, err := parseIndex(data, h.id.Size())
	if err != nil {
		return nil, nil, fmt.Errorf("reading %s: %w", name, err)
	}
	return d, entries, nil
}

// maxIndex is room for a million entries.
const maxIndex = 256 << 20

// gitDirOf is the Git directory of a work tree: .git, or what a file of that name says.
func gitDirOf(dir string) (string, error) {
	path := filepath.Join(dir, ".git")
	info, err := os.Stat(path)
	if err != nil || info.IsDir() {
		return path, err
	}
	if !info.Mode().IsRegular() || info.Size() > 4096 {
		return "", fmt.Errorf("reading %s: not a link to a Git directory", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	target, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), "gitdir: ")
	if !ok {
		return "", fmt.Errorf("reading %s: not a link to a Git directory", path)
	}
	if !filepath.IsAbs(target) {
		target = filepath.Join(dir, target)
	}
	return target, nil
}
