package registry

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/ignore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
)

// Location is where a file is with regard to Git.
type Location struct {
	Root    string // root of the work tree that contains it; may be empty
	Path    string // from Root, with slashes
	InGit   bool   // it is in the Git directory of the work tree
	InData  bool   // it is in one of the four data directories
	Ignored bool   // Git does not track it, and would not add it
}

// Locate finds the work tree of a file, which need not exist; its directory must. The nearest .git decides. With an
// error Root and Path are right, and Ignored is false: the ignore patterns or the index cannot be read.
func Locate(file string) (Location, error) {
	name := filepath.Base(file)
	dir, err := filepath.Abs(filepath.Dir(file))
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return Location{}, err
	}
	var l Location
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			l.Root = at
			break
		}
		if at == filepath.Dir(at) {
			return l, nil
		}
	}
	rest, err := filepath.Rel(l.Root, filepath.Join(dir, name))
	if err != nil {
		return l, err
	}
	l.Path = filepath.ToSlash(rest)
	first, _, below := strings.Cut(l.Path, "/")
	l.InGit = strings.EqualFold(first, ".git")
	l.InData = below &&
		slices.ContainsFunc(DataKinds, func(k Kind) bool { return strings.EqualFold(first, k.Directory()) })
	if l.InGit {
		return l, nil
	}
	repo, err := Open(l.Root)
	if err != nil {
		return l, err
	}
	defer repo.Close()
	l.Ignored, err = repo.ignores(l.Root, l.Path)
	return l, err
}

// ignores reports whether Git does not track a path of the work tree and would not add it.
func (r *Repository) ignores(root, path string) (bool, error) {
	tracked, err := r.tracks(path)
	if err != nil || tracked {
		return false, err
	}
	settings, err := r.store.Settings()
	if err != nil {
		return false, err
	}
	fold := settings.IgnoreCase
	var scopes []ignore.Scope
	for _, text := range settings.Excludes {
		scopes = append(scopes, ignore.Scope{Patterns: ignore.Parse(text, fold)})
	}
	for at, directory := 0, ""; at >= 0; {
		text, err := ignoreText(filepath.Join(root, filepath.FromSlash(directory), ".gitignore"))
		if err != nil {
			return false, err
		}
		scopes = append(scopes, ignore.Scope{Directory: directory, Patterns: ignore.Parse(text, fold)})
		end := len(path) // end of the next directory on the way, or of path
		if at = strings.IndexByte(path[len(directory):], '/'); at >= 0 {
			end = len(directory) + at
		}
		if ignore.Ignores(scopes, path[:end], end < len(path), fold) {
			return true, nil
		}
		directory = path[:min(end+1, len(path))]
	}
	return false, nil
}

// ignoreText reads a file of ignore patterns: nil if there is no regular file, as Git does.
func ignoreText(name string) ([]byte, error) {
	info, err := os.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.Mode().IsRegular() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return capped.ReadFile(name, maxIgnoreBytes)
}

// tracks reports whether the index lists a path.
func (r *Repository) tracks(path string) (bool, error) {
	_, entries, err := readIndex(r.store.GitDir(), r.store.IDSize())
	return slices.ContainsFunc(entries, func(e indexEntry) bool { // a sparse index has directories
		return e.path == path || strings.HasSuffix(e.path, "/") && strings.HasPrefix(path, e.path)
	}), err
}
