package gitstore

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/openagentprotocol-OAP/oap-gate/internal/capped"
)

// location is where the parts of a clone are.
type location struct {
	gitDir    string // HEAD
	commonDir string // config, objects, refs; other than gitDir in a linked work tree
	worktree  string // root of the work tree, "" for a bare clone
}

// find looks for a clone at dir, then for a work tree around it, as git does. A bare clone must be dir itself: what
// looks like one around dir may have been checked out from a tree. GIT_DIR and the like are not read: no environment
// variable may choose what is judged.
func find(dir string) (location, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return location{}, err
	}
	info, err := os.Stat(abs)
	if err == nil && !info.IsDir() {
		err = errors.New("it is no directory")
	}
	if err != nil {
		return location{}, fmt.Errorf("%w: %w", ErrNotRepository, err)
	}
	if _, err := os.Lstat(filepath.Join(abs, ".git", "HEAD")); errors.Is(err, fs.ErrPermission) {
		return location{}, err
	}
	for at := abs; ; at = filepath.Dir(at) {
		loc, err := workTree(at)
		if err == nil && loc.gitDir == "" && at == abs && isGitDir(at) {
			loc.gitDir = at
			if filepath.Base(at) == ".git" {
				loc.worktree = filepath.Dir(at)
			}
		}
		if err == nil && loc.gitDir != "" {
			loc.commonDir, err = commonDir(loc.gitDir)
		}
		if err != nil || loc.gitDir != "" {
			return loc, err
		}
		if filepath.Dir(at) == at {
			return location{}, ErrNotRepository
		}
	}
}

// workTree looks at the .git of one directory, itself the Git directory or a file that names it.
func workTree(dir string) (location, error) {
	dotGit := filepath.Join(dir, ".git")
	info, err := os.Stat(dotGit)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission), err == nil && info.IsDir() &&
		!isGitDir(dotGit):
		return location{}, nil
	case err != nil:
		return location{}, err
	case info.IsDir():
		return location{gitDir: dotGit, worktree: dir}, nil
	}
	git, err := readLink(dotGit, "gitdir: ")
	if err == nil && !isGitDir(git) {
		err = fmt.Errorf("%w: %s names %s, which is none", ErrNotRepository, dotGit, git)
	}
	return location{gitDir: git, worktree: dir}, err
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

// commonDir is where a linked work tree's Git directory says that the rest is, else the Git directory.
func commonDir(git string) (string, error) {
	common, err := readLink(filepath.Join(git, "commondir"), "")
	if errors.Is(err, fs.ErrNotExist) {
		return git, nil
	}
	return common, err
}

// readLink is the directory that the one line of a file names, relative to the file's own.
func readLink(file, prefix string) (string, error) {
	text, err := readCapped(file, 64<<10)
	if err != nil {
		return "", err
	}
	name, ok := strings.CutPrefix(strings.TrimRight(string(text), "\r\n"), prefix)
	if !ok || name == "" || strings.ContainsAny(name, "\x00\n") {
		return "", fmt.Errorf("%w: %s holds %q, want %q and a directory", ErrNotRepository, file, text, prefix)
	}
	if !filepath.IsAbs(name) {
		name = filepath.Join(filepath.Dir(file), name)
	}
	return filepath.Clean(name), nil
}

// open opens a file to read. Another copy's folder may hold anything: a FIFO must not wait for a writer for ever.
func open(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
}

// readCapped reads a regular file of at most max bytes.
func readCapped(name string, max int64) ([]byte, error) {
	f, err := open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readAllCapped(f, max)
}

func readAllCapped(f fs.File, max int64) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s is not a regular file", ErrCorrupt, info.Name())
	}
	data, err := capped.ReadAll(f, max)
	if errors.Is(err, capped.ErrTooLarge) {
		return nil, fmt.Errorf("%w: %s is over %d bytes", ErrTooLarge, info.Name(), max)
	}
	return data, err
}
