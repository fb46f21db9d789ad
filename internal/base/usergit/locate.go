package usergit

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Location is where a file is with regard to Git.
type Location struct {
	Root    string // root of the work tree that contains it; may be empty
	Path    string // from Root, with slashes
	InGit   bool   // it is in the Git directory of the work tree
	Ignored bool   // Git does not track it, and would not add it
}

// maxLocate is the time that git has to say what it ignores.
const maxLocate = time.Minute

// Locate finds the work tree of a file, which need not exist; its directory must. The nearest .git decides. With an
// error Root and Path are right, and Ignored is false: git does not say what it ignores.
func Locate(file string) (l Location, err error) {
	dir, err := filepath.Abs(filepath.Dir(file))
	if err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return l, err
	}
	for at := dir; l.Root == ""; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			l.Root = at
		} else if at == filepath.Dir(at) {
			return l, nil
		}
	}
	rest, err := filepath.Rel(l.Root, filepath.Join(dir, filepath.Base(file)))
	l.Path = filepath.ToSlash(rest)
	first, _, _ := strings.Cut(l.Path, "/")
	if l.InGit = strings.EqualFold(first, ".git"); l.InGit || err != nil {
		return l, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), maxLocate)
	defer cancel()
	by, err := Ignored(ctx, l.Root, l.Path)
	l.Ignored = len(by) > 0
	return l, err
}

// A Pattern is the line of a file by which Git ignores a path.
type Pattern struct {
	Path, File string
	Line       int
	Text       string
}

// IgnoredBelow returns the patterns by which git ignores files on disk in directories of a work tree.
func IgnoredBelow(ctx context.Context, root string, directories ...string) ([]Pattern, error) {
	git, err := find(root)
	if err != nil {
		return nil, err
	}
	out, err := git.run(ctx, nil, append([]string{"ls-files", "-o", "-i", "--exclude-standard", "-z", "--"},
		directories...)...)
	if err != nil || len(out) == 0 {
		return nil, err
	}
	files := slices.DeleteFunc(strings.Split(string(out), "\x00"), func(path string) bool {
		return path == "" || strings.HasSuffix(path, "/") // a repository has no record
	})
	return Ignored(ctx, root, files...)
}

// Ignored returns the patterns by which git ignores paths of a work tree. A path that it tracks is not ignored.
func Ignored(ctx context.Context, root string, paths ...string) ([]Pattern, error) {
	git, err := find(root)
	if err != nil {
		return nil, err
	}
	var input strings.Builder
	for _, path := range paths {
		input.WriteString("./" + path + "\x00") // a colon begins a pathspec
	}
	git.input = strings.NewReader(input.String())
	git.environ = slices.DeleteFunc(git.environ, func(v string) bool { // the clone is the one around root
		name, _, _ := strings.Cut(v, "=")
		return name == "GIT_DIR" || name == "GIT_COMMON_DIR" || name == "GIT_WORK_TREE"
	})
	out, err := git.run(ctx, nil, "check-ignore", "-v", "-z", "--stdin")
	if e, ok := errors.AsType[interface {
		error
		ExitCode() int
	}](err); ok && e.ExitCode() == 1 { // none is ignored
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var found []Pattern
	for fields := strings.Split(string(out), "\x00"); len(fields) >= 4; fields = fields[4:] {
		line, err := strconv.Atoi(fields[1])
		if err != nil {
			return nil, git.notGit("check-ignore", out)
		}
		if !strings.HasPrefix(fields[2], "!") { // the pattern takes the path out again
			found = append(found, Pattern{Path: strings.TrimPrefix(fields[3], "./"), File: fields[0], Line: line,
				Text: fields[2]})
		}
	}
	return found, nil
}
