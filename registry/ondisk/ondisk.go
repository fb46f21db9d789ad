// Package ondisk compares the records in a work tree with those that HEAD has.
package ondisk

import (
	"bytes"
	"context"
	"io/fs"
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
	head, err := r.Tree(ctx, "HEAD")
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
		for path := range onDisk(ctx, r, root, k, head) {
			paths = append(paths, strings.ToValidUTF8(path, "\uFFFD"))
		}
	}
	slices.Sort(paths)
	return paths[:min(len(paths), maxUncommitted)]
}

// onDisk returns the records of a kind on disk that a tree does not have so, nil if that cannot be read.
func onDisk(ctx context.Context, r *registry.Repository, root *os.Root, k registry.Kind,
	head *registry.Tree) map[string]bool {
	files := map[string]bool{} // whether each is a regular file
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
		return nil
	}
	few := len(files) <= maxCompared
	for e, err := range head.Entries(k) {
		if err != nil || ctx.Err() != nil {
			return nil
		}
		if regular, found := files[e.Path]; found && (!few || regular && sameText(r, root, e)) {
			delete(files, e.Path)
		}
	}
	return files
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
