// Package gittest runs the git command in clones that tests make. It uses neither the user's nor the system's
// configuration, and names and dates of its own, so that a test's commits have the same ids in each run.
package gittest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// Clone is a directory in which git runs.
type Clone struct {
	T    testing.TB
	Dir  string
	Date int // seconds since 1970 of what is committed next, a second after it was authored
}

// New returns a new repository with the branch main; args are further ones of `git init`. Without git the test is
// skipped.
func New(t testing.TB, args ...string) *Clone {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("NOT TESTED: the git command is missing")
	}
	c := At(t, t.TempDir())
	if len(args) > 0 {
		c.Git(append([]string{"init", "-q", "-b", "main"}, args...)...)
		return c
	}
	must.OK(t, os.CopyFS(c.Dir, empty(t)))
	return c
}

// empty returns the files of a new repository. git makes them once in a process: to start it takes longer than many a
// test.
func empty(t testing.TB) fs.FS {
	t.Helper()
	making.Lock()
	defer making.Unlock()
	if made == nil {
		c := At(t, t.TempDir())
		c.Git("init", "-q", "-b", "main", "--template=")
		made = Files(t, c.Dir)
	}
	return made
}

// Files reads the directories and regular files below a directory into memory, from where os.CopyFS writes them again.
func Files(t testing.TB, dir string) fs.FS {
	t.Helper()
	files := fstest.MapFS{}
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || file == dir {
			return err
		}
		name, err := filepath.Rel(dir, file)
		entry := &fstest.MapFile{Mode: 0o777 | d.Type()}
		if err == nil && !d.IsDir() {
			entry.Mode = 0o666
			entry.Data, err = os.ReadFile(file)
		}
		files[filepath.ToSlash(name)] = entry
		return err
	})
	must.OK(t, err)
	return files
}

var (
	making sync.Mutex
	made   fs.FS // nil: not yet
)

// At returns the clone in an existing directory.
func At(t testing.TB, dir string) *Clone { return &Clone{T: t, Dir: dir, Date: 1_700_000_001} }

// Command returns a git command with these arguments that has not started.
func (c *Clone) Command(args ...string) *exec.Cmd {
	cmd := exec.Command("git", args...)
	cmd.Dir = c.Dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_NO_REPLACE_OBJECTS=1",
		"GIT_DEFAULT_HASH=sha1", "GIT_DEFAULT_REF_FORMAT=files", "GIT_ALLOW_PROTOCOL=file",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.org", fmt.Sprintf("GIT_AUTHOR_DATE=%d +0100", c.Date-1),
		"GIT_COMMITTER_NAME=C", "GIT_COMMITTER_EMAIL=c@example.org", fmt.Sprintf("GIT_COMMITTER_DATE=%d -0200", c.Date),
		"GIT_CONFIG_COUNT=3", "GIT_CONFIG_KEY_0=protocol.file.allow", "GIT_CONFIG_VALUE_0=always",
		"GIT_CONFIG_KEY_1=gc.auto", "GIT_CONFIG_VALUE_1=0",
		"GIT_CONFIG_KEY_2=maintenance.auto", "GIT_CONFIG_VALUE_2=false",
	}
	return cmd
}

// Try runs git on an input and gives its output without the last line end.
func (c *Clone) Try(input string, args ...string) (string, error) {
	cmd := c.Command(args...)
	cmd.Stdin = strings.NewReader(input)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return strings.TrimSuffix(string(out), "\n"), err
}

// Git calls Try without an input; an error ends the test.
func (c *Clone) Git(args ...string) string {
	c.T.Helper()
	return c.GitInput("", args...)
}

// GitInput calls Try; an error ends the test.
func (c *Clone) GitInput(input string, args ...string) string {
	c.T.Helper()
	out, err := c.Try(input, args...)
	must.OK(c.T, err)
	return out
}

// Write puts a file below the directory.
func (c *Clone) Write(name, text string) {
	c.T.Helper()
	file := filepath.Join(c.Dir, filepath.FromSlash(name))
	must.OK(c.T, os.MkdirAll(filepath.Dir(file), 0o777))
	must.OK(c.T, os.WriteFile(file, []byte(text), 0o666))
}

// Commit commits the whole work tree, a second after the commit before, and gives the commit's id. Files are pairs of
// name and text, which are written first.
func (c *Clone) Commit(files ...string) string {
	c.T.Helper()
	for i := 0; i < len(files); i += 2 {
		c.Write(files[i], files[i+1])
	}
	c.Date++
	c.Git("add", "-A")
	c.Git("commit", "-q", "--allow-empty", "-m", "m")
	return c.Head()
}

// Head returns the id of the commit of HEAD: from its files, or else from git, which takes longer.
func (c *Clone) Head() string {
	c.T.Helper()
	name := "HEAD"
	for {
		text, err := os.ReadFile(filepath.Join(c.Dir, ".git", filepath.FromSlash(name)))
		ref, symbolic := strings.CutPrefix(strings.TrimSuffix(string(text), "\n"), "ref: ")
		switch {
		case err != nil:
			return c.Git("rev-parse", "HEAD")
		case !symbolic:
			return ref
		}
		name = ref
	}
}

// Config appends a setting to the configuration of the clone, as git config adds one, without a process.
func (c *Clone) Config(name, value string) {
	c.T.Helper()
	file, err := os.OpenFile(filepath.Join(c.Dir, ".git", "config"), os.O_APPEND|os.O_WRONLY, 0)
	must.OK(c.T, err)
	section, key := name[:strings.LastIndexByte(name, '.')], name[strings.LastIndexByte(name, '.')+1:]
	if of, sub, is := strings.Cut(section, "."); is {
		section = fmt.Sprintf("%s %q", of, sub)
	}
	_, err = fmt.Fprintf(file, "[%s]\n\t%s = %q\n", section, key, value)
	must.OK(c.T, errors.Join(err, file.Close()))
}
