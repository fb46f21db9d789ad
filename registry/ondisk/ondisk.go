// Package ondisk compares the records in a work tree with those that HEAD has.
package ondisk

import (
	"bytes"
	"context"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

const (
	maxUncommitted = 1000    // how many records Uncommitted names
	maxCompared    = 10_000  // how many files a directory may have whose bytes Uncommitted compares
	maxPaths       = 1 << 20 // how many files of a kind are looked at
)

// Uncommitted returns the records on disk that HEAD lacks, ignored or not, and those whose bytes differ from HEAD's, CR
// LF taken as LF; in a directory of more than 10,000 files only the former. They are in path order, at most 1,000. The
// result only serves for a notice: a directory that cannot be read has none.
func Uncommitted(ctx context.Context, r *registry.Repository) []string {
	head, err := headOf(ctx, r)
	if err != nil || r.Store().Worktree() == "" {
		return nil
	}
	root, err := os.OpenRoot(r.Store().Worktree())
	if err != nil {
		return nil
	}
	defer root.Close()
	var paths []string
	for _, k := range registry.DataKinds {
		named := len(paths)
		err := onDisk(r, root, k, head, func(path string) bool {
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

// headOf returns the tree of HEAD.
func headOf(ctx context.Context, r *registry.Repository) (*registry.Tree, error) {
	head, err := r.Resolve("HEAD")
	if err != nil {
		return nil, err
	}
	return r.Tree(ctx, head)
}

// onDisk yields the records of a kind on disk that a tree does not have so.
func onDisk(r *registry.Repository, root *os.Root, k registry.Kind, head *registry.Tree,
	yield func(path string) bool) error {
	files := map[string]bool{}
	err := fs.WalkDir(root.FS(), k.Directory(), func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return fs.SkipDir
		case len(files) == maxPaths:
			return registry.ErrLimit
		case !d.IsDir() && registry.KindOf(path) == k:
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
		if found && few && !(regular && sameText(r, root, e)) && !yield(e.Path) {
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
func sameText(r *registry.Repository, root *os.Root, e registry.NamedEntry) bool {
	disk, err := capped.ReadPlain(root, e.Path, int64(strict.RegistryFile.Bytes))
	if err != nil {
		return false
	}
	if id, err := gitobject.IDOf(gitobject.Blob, disk, e.ID.Size()); err == nil && id == e.ID {
		return true
	}
	text, err := r.Blob(e.Entry, int64(strict.RegistryFile.Bytes))
	unix := func(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) }
	return err == nil && bytes.Equal(unix(disk), unix(text))
}
