package gitstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
)

// location is where the parts of a clone are.
type location struct {
	gitDir    string // HEAD
	commonDir string // config, objects, refs; other than gitDir in a linked work tree
	worktree  string // root of the work tree, "" for a bare clone
	directory string // the directory that is itself the repository; "" where a .git led to it
}

// find looks for a clone at dir, and if asked above it: the first directory that has a .git, or is itself a repository,
// decides. GIT_DIR and the like are not read: no environment variable may choose what is judged.
func find(dir string, above bool) (location, error) {
	abs, err := directoryOf(dir)
	if err != nil {
		return location{}, err
	}
	for at := abs; ; at = filepath.Dir(at) {
		loc, err := findAt(at)
		if err != nil || loc.gitDir != "" {
			return loc, err
		}
		if !above || filepath.Dir(at) == at {
			return location{}, ErrNotRepository
		}
	}
}

// directoryOf returns the absolute path of a directory that exists.
func directoryOf(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(abs)
	if err == nil && !info.IsDir() {
		err = errors.New("it is not a directory")
	}
	if err != nil {
		return "", fmt.Errorf("%w: %w", ErrNotRepository, err)
	}
	return abs, nil
}

// findAt looks for a clone at one directory: at its .git, then at the directory itself. It returns no location where
// there is neither.
func findAt(at string) (loc location, err error) {
	switch _, err := os.Lstat(filepath.Join(at, ".git")); {
	case err == nil:
		if loc, err = workTree(at); err != nil {
			return location{}, err
		}
	case !errors.Is(err, fs.ErrNotExist):
		return location{}, err
	case !isGitDir(at):
		return location{}, nil
	case filepath.Base(at) == ".git":
		loc = location{gitDir: at, worktree: filepath.Dir(at)}
	default:
		loc = location{gitDir: at, directory: at}
	}
	loc.commonDir, err = commonDir(loc.gitDir)
	return loc, err
}

// workTree looks at the .git of one directory, itself the Git directory or a file that names it.
func workTree(dir string) (location, error) {
	dotGit := filepath.Join(dir, ".git")
	info, err := os.Stat(dotGit)
	if err != nil {
		return location{}, err
	}
	git := dotGit
	if !info.IsDir() {
		if git, err = readLink(dotGit, "gitdir: "); err != nil {
			return location{}, err
		}
	}
	if _, err := os.Lstat(filepath.Join(git, "HEAD")); errors.Is(err, fs.ErrPermission) {
		return location{}, err
	}
	switch {
	case isGitDir(git):
		return location{gitDir: git, worktree: dir}, nil
	case info.IsDir():
		return location{}, fmt.Errorf("%w: %s is not a Git directory", ErrNotRepository, dotGit)
	}
	return location{}, fmt.Errorf("%w: %s names %s, which is not one", ErrNotRepository, dotGit, git)
}

func isGitDir(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
		return false
	}
	if _, err := os.Stat(filepath.Join(dir, "commondir")); err == nil {
		return true
	}
	return !slices.ContainsFunc([]string{"objects", "refs"}, func(name string) bool {
		info, err := os.Stat(filepath.Join(dir, name))
		return err != nil || !info.IsDir()
	})
}

// commonDir returns the directory with the rest of a linked work tree's repository, or git itself if it is not linked.
func commonDir(git string) (string, error) {
	common, err := readLink(filepath.Join(git, "commondir"), "")
	if errors.Is(err, fs.ErrNotExist) {
		return git, nil
	}
	return common, err
}

// readLink returns the directory that the only line of a file names, relative to the file's directory.
func readLink(file, prefix string) (string, error) {
	text, err := readCapped(file, 64<<10)
	if err != nil {
		return "", err
	}
	name, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), prefix)
	if !ok || name == "" || strings.ContainsAny(name, "\x00\n") {
		return "", fmt.Errorf("%w: %s holds %q; expected %q and a directory", ErrNotRepository, file, text, prefix)
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(file), name)
	}
	return filepath.Clean(name), nil
}

// readCapped reads a regular file of at most max bytes.
func readCapped(name string, max int64) ([]byte, error) {
	f, err := capped.Open(name)
	if err != nil {
		return nil, err
	}
	data, err := capped.ReadOpened(f, max)
	return data, unread(name, max, err)
}

// unread says which file package capped refused to read.
func unread(name string, max int64, err error) error {
	switch {
	case errors.Is(err, capped.ErrNotPlain):
		return fmt.Errorf("%w: %s is not a regular file", gitobject.ErrCorrupt, filepath.Base(name))
	case errors.Is(err, capped.ErrTooLarge):
		return fmt.Errorf("%w: %s is larger than %d bytes", gitobject.ErrTooLarge, filepath.Base(name), max)
	}
	return err
}
