package registry

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/remedy"
)

var ctx = context.Background()

// clone is a repository made by the git command.
type clone struct {
	t    testing.TB
	dir  string
	date int // seconds since 1970 of the next commit
}

func newClone(t testing.TB, args ...string) *clone {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("NOT TESTED: the git command is missing")
	}
	c := &clone{t: t, dir: t.TempDir(), date: 1_700_000_000}
	c.git(append([]string{"init", "-q", "-b", "main"}, args...)...)
	return c
}

// at is the same harness on another clone.
func (c *clone) at(dir string) *clone { return &clone{t: c.t, dir: dir, date: c.date} }

func (c *clone) try(input string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = c.dir
	cmd.Stdin = strings.NewReader(input)
	date := fmt.Sprintf("%d +0000", c.date)
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_NO_REPLACE_OBJECTS=1",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_AUTHOR_DATE=" + date,
		"GIT_COMMITTER_NAME=C", "GIT_COMMITTER_EMAIL=c@example.org", "GIT_COMMITTER_DATE=" + date,
		"GIT_ALLOW_PROTOCOL=file", "GIT_CONFIG_COUNT=3", "GIT_CONFIG_KEY_0=protocol.file.allow",
		"GIT_CONFIG_VALUE_0=always",
		"GIT_CONFIG_KEY_1=gc.auto", "GIT_CONFIG_VALUE_1=0", "GIT_CONFIG_KEY_2=maintenance.auto",
		"GIT_CONFIG_VALUE_2=false",
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return strings.TrimSuffix(string(out), "\n"), err
}

func (c *clone) git(args ...string) string {
	c.t.Helper()
	return c.gitInput("", args...)
}

func (c *clone) gitInput(input string, args ...string) string {
	c.t.Helper()
	out, err := c.try(input, args...)
	if err != nil {
		c.t.Fatal(err)
	}
	return out
}

func (c *clone) write(name, text string) {
	c.t.Helper()
	file := filepath.Join(c.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		c.t.Fatal(err)
	}
}

// commit commits the whole work tree and gives the commit's id. Files are pairs of name and text.
func (c *clone) commit(files ...string) string {
	c.t.Helper()
	for i := 0; i < len(files); i += 2 {
		c.write(files[i], files[i+1])
	}
	c.date++
	c.git("add", "-A")
	c.git("commit", "-q", "--allow-empty", "-m", "m")
	return c.git("rev-parse", "HEAD")
}

// object writes an object of any content, as git hash-object -w --literally does, in a clone of SHA-1 with a work tree.
func (c *clone) object(kind, data string) string {
	c.t.Helper()
	text := fmt.Appendf(nil, "%s %d\x00%s", kind, len(data), data)
	id := fmt.Sprintf("%x", sha1.Sum(text))
	var packed bytes.Buffer
	w := zlib.NewWriter(&packed)
	_, err := w.Write(text)
	if err = errors.Join(err, w.Close()); err != nil {
		c.t.Fatal(err)
	}
	c.write(filepath.Join(".git", "objects", id[:2], id[2:]), packed.String())
	return id
}

// entry spells one entry of a tree object.
func entryText(mode, name, id string) string {
	raw, err := hex.DecodeString(id)
	if err != nil {
		panic(err)
	}
	return mode + " " + name + "\x00" + string(raw)
}

// commitTree makes a commit of a tree object, which git would refuse to where it cannot read that.
func (c *clone) commitTree(tree string, parents ...string) string {
	c.t.Helper()
	c.date++
	text := "tree " + tree + "\n"
	for _, p := range parents {
		text += "parent " + p + "\n"
	}
	person := fmt.Sprintf("A <a@example.org> %d +0000\n", c.date)
	return c.object("commit", text+"author "+person+"committer "+person+"\nm\n")
}

func (c *clone) open() *Repository {
	c.t.Helper()
	return open(c.t, c.dir)
}

func open(t testing.TB, dir string) *Repository {
	t.Helper()
	r, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	return r
}

func (c *clone) rangeOf(base, head string) *Range {
	c.t.Helper()
	g, err := c.open().Range(ctx, base, head)
	if err != nil {
		c.t.Fatal(err)
	}
	return g
}

// spellChanges writes changes as git diff-tree does, without the ids.
func spellChanges(changes []Change) string {
	var lines []string
	for _, c := range changes {
		kind := "M"
		switch {
		case c.Base == nil:
			kind = "A"
		case c.Head == nil:
			kind = "D"
		case *c.Base == *c.Head:
			kind = "="
		case c.Base.Mode>>12 != c.Head.Mode>>12:
			kind = "T"
		}
		lines = append(lines, kind+" "+c.Path)
	}
	return strings.Join(lines, "\n")
}

// wantError holds an error against what it must be, and demands a remedy.
func wantError(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("error %v, want %v", err, want)
	}
	if e, ok := errors.AsType[remedy.Fixer](err); !ok || e.Fix() == "" {
		t.Errorf("error %v has no remedy", err)
	}
}
