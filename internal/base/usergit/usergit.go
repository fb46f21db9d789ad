// Package usergit asks the user's own git what a commit of the files on disk, or of the index, would contain.
//
// It is the one package of the products that starts git, and the kernel does not import it: the kernel gets the id of a
// tree, and the directory of its objects. Git runs with the user's configuration and environment, so it converts files
// as `git add` does. It runs no hook and no file system monitor, fetches nothing, asks nothing, and does not change the
// clone: the index is a copy, and new objects go to a temporary directory.
package usergit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
)

// A Clone is a clone with a work tree, as the caller found it. Git must find the same.
type Clone struct {
	Root      string // the work tree's
	GitDir    string // of this work tree, if it is linked
	CommonDir string // the one that all work trees have
}

// A Tree is a tree that git wrote. The caller must call Remove.
type Tree struct {
	ID      string
	Objects string // object directory with what the clone lacks of it
	temp    string
}

// Remove removes the objects of the tree.
func (t *Tree) Remove() error {
	if t == nil {
		return nil
	}
	return os.RemoveAll(t.temp)
}

// Worktree returns the tree that `git add -A` and `git write-tree` make of the files on disk.
func (c Clone) Worktree(ctx context.Context) (*Tree, error) { return c.tree(ctx, "--worktree") }

// Index returns the tree that `git write-tree` makes of the index, or of that which GIT_INDEX_FILE names.
func (c Clone) Index(ctx context.Context) (*Tree, error) { return c.tree(ctx, "--staged") }

func (c Clone) tree(ctx context.Context, flag string) (_ *Tree, err error) {
	if _, err := os.Lstat(filepath.Join(c.GitDir, "MERGE_HEAD")); err == nil {
		return nil, remedy.Errorf("conclude the merge (git commit --no-verify), then run oap-gate check",
			"a merge is not concluded: the commit will have another parent, which %s does not see", flag)
	}
	if strings.ContainsAny(c.Root+c.GitDir+c.CommonDir, "\r\n") { // git prints, and reads, paths as lines
		return nil, remedy.Errorf("rename the directory", "the path of the clone %q contains a line end", c.Root)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, maxTree, errors.New("it took more than 10 minutes"))
	defer cancel()
	git, err := find(c.Root)
	if err != nil {
		return nil, remedy.With(err, fmt.Sprintf("commit first and leave %s out, or run oap-gate where git is", flag))
	}
	index, objects, err := c.same(ctx, git)
	if err != nil {
		return nil, err
	}
	t := &Tree{}
	if t.temp, err = c.temporary(); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = t.Remove() // the error that matters is the first
		}
	}()
	t.Objects = filepath.Join(t.temp, "objects")
	env := []string{"GIT_INDEX_FILE=" + filepath.Join(t.temp, "index"), "GIT_OBJECT_DIRECTORY=" + t.Objects}
	if err := copyIndex(index, filepath.Join(t.temp, "index")); err != nil {
		return nil, err
	}
	if err := writeAlternates(t.Objects, objects, filepath.Join(c.CommonDir, "objects")); err != nil {
		return nil, err
	}
	if err := noConflict(ctx, git, env); err != nil {
		return nil, err
	}
	if flag == "--worktree" {
		if _, err := git.run(ctx, env, "add", "-A"); err != nil {
			return nil, err
		}
	}
	out, err := git.run(ctx, env, "write-tree")
	if err != nil {
		return nil, err
	}
	t.ID = strings.TrimSuffix(string(out), "\n")
	if strings.Trim(t.ID, "0123456789abcdef") != "" || len(t.ID) != 40 && len(t.ID) != 64 {
		return nil, git.notGit("write-tree", out)
	}
	return t, nil
}

// same checks that git reads this clone, and returns the files of the index and the directory of the objects.
func (c Clone) same(ctx context.Context, git program) (index, objects string, err error) {
	out, err := git.run(ctx, nil, "rev-parse", "--absolute-git-dir", "--show-toplevel", "--git-common-dir",
		"--git-path", "index", "--git-path", "objects")
	if err != nil {
		return "", "", err
	}
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if len(lines) != 5 || !filepath.IsAbs(lines[0]) {
		return "", "", git.notGit("rev-parse", out)
	}
	for i, path := range lines {
		if !filepath.IsAbs(path) {
			lines[i] = filepath.Join(c.Root, path)
		}
	}
	for i, own := range []string{c.GitDir, c.Root, c.CommonDir} {
		if !SameFile(own, lines[i]) {
			setting := []string{"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR"}[i]
			fix := "env -u " + setting + " oap-gate …"
			if os.Getenv(setting) == "" {
				setting, fix = "core.worktree", "git config --unset core.worktree"
			}
			return "", "", remedy.Errorf(fix, "git reads %q, and the clone has %q: %s is set", lines[i], own, setting)
		}
	}
	return lines[3], lines[4], nil
}

// SameFile reports whether two paths name one file that exists.
func SameFile(a, b string) bool {
	one, err := os.Stat(a)
	other, missing := os.Stat(b)
	return err == nil && missing == nil && os.SameFile(one, other)
}

// temporary makes a directory outside of the work tree: `git add -A` would add what is in it.
func (c Clone) temporary() (string, error) {
	base, err := filepath.Abs(os.TempDir()) // git runs in the root
	if err == nil {
		base, err = filepath.EvalSymlinks(base)
	}
	if err != nil {
		return "", remedy.With(fmt.Errorf("finding the temporary directory: %w", err), "set TMPDIR to a directory")
	}
	for at := base; ; at = filepath.Dir(at) {
		if SameFile(at, c.Root) {
			return "", remedy.Errorf("set TMPDIR to a directory outside of it",
				"the temporary directory %q is in the work tree %q", base, c.Root)
		}
		if filepath.Dir(at) == at {
			break
		}
	}
	temp, err := os.MkdirTemp(base, "oap-gate-")
	return temp, remedy.With(err, "set TMPDIR to a directory that can be written")
}

// copyIndex copies the index with its time: git takes a file for unchanged if it is older than the index. A clone may
// have none.
func copyIndex(from, to string) error {
	in, err := os.OpenFile(from, os.O_RDONLY|syscall.O_NONBLOCK, 0) // which does not wait for a FIFO's writer
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the index: %w", err)
	}
	defer in.Close()
	info, err := in.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	if err != nil {
		return fmt.Errorf("reading the index %q: %w", from, err)
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if err := errors.Join(err, out.Close(), os.Chtimes(to, info.ModTime(), info.ModTime())); err != nil {
		return fmt.Errorf("copying the index: %w", err)
	}
	return nil
}

// writeAlternates makes an object directory that has the objects of the others too. Git reads a quarantine's further
// directories by itself. A path in this file needs no quoting, unlike one in GIT_ALTERNATE_OBJECT_DIRECTORIES.
func writeAlternates(objects string, others ...string) error {
	if err := os.MkdirAll(filepath.Join(objects, "info"), 0o700); err != nil {
		return err
	}
	var text strings.Builder
	for _, dir := range others {
		if _, err := os.Stat(dir); err == nil {
			text.WriteString(filepath.ToSlash(dir) + "\n")
		}
	}
	return os.WriteFile(filepath.Join(objects, "info", "alternates"), []byte(text.String()), 0o600)
}

// maxConflicts is how many files an error names.
const maxConflicts = 10

// noConflict checks that the index has no conflict: `git add -A` would store its markers.
func noConflict(ctx context.Context, git program, env []string) error {
	out, err := git.run(ctx, env, "ls-files", "-u", "-z")
	if err != nil {
		return err
	}
	var files []string
	for entry := range strings.SplitSeq(string(out), "\x00") {
		if _, path, found := strings.Cut(entry, "\t"); found {
			files = append(files, fmt.Sprintf("%q", path))
		}
	}
	files = slices.Compact(files) // three stages of one file
	if len(files) == 0 {
		return nil
	}
	more := ""
	if n := len(files) - maxConflicts; n > 0 {
		files, more = files[:maxConflicts], fmt.Sprintf(" and %d more", n)
	}
	return remedy.Errorf("resolve the conflict, then git add the files", "the index has a conflict in %s%s",
		strings.Join(files, ", "), more)
}

// A program is git, where it runs, and what it reads.
type program struct {
	path, dir string
	environ   []string
	input     io.Reader // nil: nothing
}

// find finds git on PATH. An entry of PATH that is relative, or the current directory, finds none: the clone may
// contain a program of that name.
func find(dir string) (program, error) {
	path, err := exec.LookPath("git")
	if err == nil && !filepath.IsAbs(path) {
		err = exec.ErrDot
	}
	if err != nil {
		return program{}, fmt.Errorf("finding git: %w", err)
	}
	return program{path: path, dir: dir, environ: os.Environ()}, nil
}

func (p program) notGit(command string, out []byte) error {
	line, _, _ := bytes.Cut(out, []byte("\n"))
	return remedy.Errorf("put git on PATH", "%s is not git, or a damaged one: %s printed %.200q", p.path, command, line)
}

const (
	maxTree     = 10 * time.Minute // for a tree, of a command without a budget too
	maxOutput   = 64 << 20         // bytes of a command's output that are kept
	maxMessages = 2 << 10          // bytes of the end of a command's messages that are kept
	waitDelay   = 5 * time.Second
)

// settings keep git from running hooks and monitors, and from writing a split index into the clone.
var settings = []string{"-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-c", "core.splitIndex=false",
	"-c", "advice.addEmbeddedRepo=false"}

// run runs a command of git, and returns the beginning of its output. It ends with the context, and so does all that
// git started.
func (p program) run(ctx context.Context, env []string, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, p.path, append(slices.Clone(settings), args...)...)
	c.Dir = p.dir
	c.Env = slices.Concat(p.environ, []string{"GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0", "GIT_PAGER=cat",
		"GIT_NO_LAZY_FETCH=1", "GIT_ALLOW_PROTOCOL=none"}, env)
	out, messages := head{}, tail{}
	c.Stdin, c.Stdout, c.Stderr = p.input, &out, &messages
	c.SysProcAttr = ofItsOwn()
	c.Cancel = func() error { return end(c.Process) }
	c.WaitDelay = waitDelay
	err := c.Run()
	switch {
	case err == nil:
		return out, nil
	case errors.Is(err, exec.ErrWaitDelay): // git ended well, and a filter that it left behind did not
		_ = end(c.Process)
		return out, nil
	case ctx.Err() != nil:
		return out, remedy.Errorf("remove the filter that git waits for, or raise --budget", "running git %s: %w",
			args[0], context.Cause(ctx))
	}
	fix, said := "`git add -A` must succeed in this clone", messages.line()
	if said == "" { // git says why it fails, and check-ignore only that it found nothing
		return out, fmt.Errorf("%w: %w", p.notGit(args[0], out), err)
	}
	if _, files, found := strings.Cut(said, "updated in the index:; "); found { // they are outside of a sparse checkout
		files, _, _ = strings.Cut(files, "; hint:")
		fix = "git add --sparse"
		for file := range strings.SplitSeq(files, "; ") {
			fix += " " + plain.ShellWord(file)
		}
	}
	return out, remedy.Errorf(fix, "git %s: %w: %s", args[0], err, said)
}

// head keeps the beginning of what is written to it.
type head []byte

func (h *head) Write(p []byte) (int, error) {
	*h = append(*h, p[:min(len(p), maxOutput-len(*h))]...)
	return len(p), nil
}

// tail keeps the end of what is written to it.
type tail []byte

func (t *tail) Write(p []byte) (int, error) {
	*t = append(*t, p[max(len(p)-maxMessages, 0):]...)
	*t = (*t)[max(len(*t)-maxMessages, 0):]
	return len(p), nil
}

// line returns the lines as one.
func (t tail) line() string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(string(t), "\uFFFD"), func(r rune) bool {
		return r == '\n' || r == '\r'
	}), "; ")
}
