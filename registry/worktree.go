package registry

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
)

// AddObjects has r read the objects of further directories too, after the clone's own: those of a tree that git wrote,
// or of a push that has not landed. Each object is compared with its id. Nothing of r may be in use.
func (r *Repository) AddObjects(dirs ...string) error { return r.store.AddObjects(dirs...) }

// TreeRange reads what a tree would do to base if it were committed on top of HEAD. The tree is named by its id.
func (r *Repository) TreeRange(ctx context.Context, base, tree string) (*Range, error) {
	b, err := r.resolve(base)
	if err != nil {
		return nil, fmt.Errorf("reading base %q: %w", base, err)
	}
	h, err := r.resolve("HEAD")
	if err != nil {
		return nil, fmt.Errorf("reading HEAD: %w", err)
	}
	root, err := gitobject.ParseID(tree)
	if err != nil {
		return nil, err
	}
	return r.between(ctx, b, h, &Tree{repo: r, root: root})
}

// TextRange reads what a new text of a file would do to base if only it were committed on top of it, wherever that
// text is.
func (r *Repository) TextRange(ctx context.Context, base, path string, text []byte) (*Range, error) {
	b, err := r.resolve(base)
	if err != nil {
		return nil, fmt.Errorf("reading base %q: %w", base, err)
	}
	was, err := r.treeOf(b).Leaf(path)
	if err != nil {
		return nil, err
	}
	now := &Entry{Mode: ModeFile, ID: r.composed.addText(text, b.id)}
	var changes []Change
	if !SameEntry(was, now) {
		changes = append(changes, Change{Path: path, Base: was, Head: now})
	}
	root, err := r.compose(b.tree, changes)
	if err != nil {
		return nil, err
	}
	return r.between(ctx, b, b, &Tree{repo: r, root: root})
}

const (
	maxUncommitted = 1000   // how many records Uncommitted names
	maxCompared    = 10_000 // how many files a directory may have whose bytes Uncommitted compares
)

// Uncommitted returns the records on disk that HEAD lacks, ignored or not, and those whose bytes differ from HEAD's, CR
// LF taken as LF; in a directory of more than 10,000 files only the former. They are in path order, at most 1,000. The
// result only serves for a notice: a directory that cannot be read has none.
func (r *Repository) Uncommitted(ctx context.Context) []string {
	h, err := r.resolve("HEAD")
	if err != nil || r.store.Worktree() == "" {
		return nil
	}
	root, err := os.OpenRoot(r.store.Worktree())
	if err != nil {
		return nil
	}
	defer root.Close()
	var paths []string
	for _, k := range DataKinds {
		named := len(paths)
		err := r.onDisk(root, k, r.treeOf(h), func(path string) bool {
			paths = append(paths, strings.ToValidUTF8(path, "\uFFFD"))
			return ctx.Err() == nil && len(paths) < maxUncommitted
		})
		if err != nil {
			paths = paths[:named]
		}
		if len(paths) == maxUncommitted {
			break
		}
	}
	slices.Sort(paths)
	return paths
}

// onDisk yields the records of a kind on disk that a tree does not have so.
func (r *Repository) onDisk(root *os.Root, k Kind, head *Tree, yield func(path string) bool) error {
	files := map[string]bool{}
	err := fs.WalkDir(root.FS(), k.Directory(), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fs.SkipDir
		case len(files) == maxPaths:
			return errPaths(path)
		case !d.IsDir() && KindOf(path) == k:
			files[path] = d.Type().IsRegular()
		}
		return nil
	})
	if err != nil {
		return err
	}
	few := len(files) <= maxCompared
	for e, err := range head.Entries(k) {
		if err != nil {
			return err
		}
		regular, found := files[e.Path]
		delete(files, e.Path)
		if found && few && !(regular && r.sameText(root, e)) && !yield(e.Path) {
			return nil
		}
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		if !yield(path) {
			return nil
		}
	}
	return nil
}

// sameText reports whether a file on disk has the text of an entry, CR LF taken as LF.
func (r *Repository) sameText(root *os.Root, e NamedEntry) bool {
	disk, err := capped.ReadPlain(root, e.Path, int64(strict.RegistryFile.Bytes))
	if err != nil {
		return false
	}
	if hashObject(gitobject.Blob, disk, e.ID) == e.ID {
		return true
	}
	text, err := r.object(e.ID, gitobject.Blob, int64(strict.RegistryFile.Bytes))
	unix := func(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) }
	return err == nil && bytes.Equal(unix(disk), unix(text))
}

// InData reports whether a path is in a data directory, in any case of letters.
func InData(path string) bool {
	first, _, below := strings.Cut(path, "/")
	return below && slices.ContainsFunc(DataKinds, func(k Kind) bool { return strings.EqualFold(first, k.Directory()) })
}
