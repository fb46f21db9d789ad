package gitstore

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// clone is a repository made by the git command.
type clone struct {
	t   testing.TB
	dir string
}

func (c clone) git(args ...string) string {
	c.t.Helper()
	return c.gitInput("", args...)
}

func (c clone) gitInput(input string, args ...string) string {
	c.t.Helper()
	out, err := c.try(input, args...)
	if err != nil {
		c.t.Fatal(err)
	}
	return out
}

func (c clone) try(input string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = c.dir
	cmd.Stdin = strings.NewReader(input)
	cmd.Env = gitEnv()
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("git %s: %w\n%s", strings.Join(args, " "), err, stderr.Bytes())
	}
	return strings.TrimSuffix(string(out), "\n"), err
}

func gitEnv() []string {
	return []string{
		"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=" + os.DevNull, "GIT_NO_REPLACE_OBJECTS=1",
		"GIT_DEFAULT_HASH=sha1", "GIT_DEFAULT_REF_FORMAT=files",
		"GIT_AUTHOR_NAME=A", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_AUTHOR_DATE=1700000000 +0100",
		"GIT_COMMITTER_NAME=C", "GIT_COMMITTER_EMAIL=c@example.org", "GIT_COMMITTER_DATE=1700000001 -0200",
	}
}

// newClone makes an empty repository.
func newClone(t testing.TB, args ...string) clone {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("NOT TESTED: the git command is missing")
	}
	c := clone{t, t.TempDir()}
	c.git(append([]string{"init", "-q", "-b", "main"}, args...)...)
	for _, kv := range []string{"gc.auto=0", "maintenance.auto=false", "commit.gpgSign=false"} {
		key, value, _ := strings.Cut(kv, "=")
		c.git("config", key, value)
	}
	return c
}

func (c clone) write(name, text string) {
	c.t.Helper()
	file := filepath.Join(c.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		c.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		c.t.Fatal(err)
	}
}

func (c clone) commit(message string) string {
	c.t.Helper()
	c.git("add", "-A")
	c.git("commit", "-q", "--allow-empty", "-m", message)
	return c.git("rev-parse", "HEAD")
}

// history makes commits that change files alike, so that packing them makes deltas.
func (c clone) history(commits int) {
	c.t.Helper()
	for i := range commits {
		for j := range 5 {
			c.write(fmt.Sprintf("implementations/tool-%d-%d.json", i, j), listing(i*5+j))
		}
		c.write("README.md", strings.Repeat(fmt.Sprintf("line of commit %d\n", i), 50+i))
		c.commit(fmt.Sprintf("commit %d", i))
	}
}

// listing is text of about 700 bytes, much alike for each n.
func listing(n int) string {
	return fmt.Sprintf(`{
  "slug": "tool-%[1]d",
  "name": "Tool %[1]d",
  "tool_did": "did:web:tool-%[1]d.example.org",
  "manifest_uri": "https://tool-%[1]d.example.org/.well-known/oap-manifest.json",
  "conformance_level": "L%[2]d",
  "conformance_receipt_uri": "https://tool-%[1]d.example.org/.well-known/receipt.json",
  "conformance_receipt_sha256": "%064[3]x",
  "issued_at": "2026-05-04T12:00:00Z",
  "expires_at": "2026-08-02T12:00:00Z",
  "maintainer": {
    "name": "Maintainers of tool %[1]d",
    "contact": "https://tool-%[1]d.example.org/contact"
  },
  "description": "Listing number %[1]d, as long as listings are."
}
`, n, n%4, uint64(n)*0x9e3779b97f4a7c15)
}

func (c clone) open() *Store {
	c.t.Helper()
	s, err := Open(c.dir)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		if err := s.Close(); err != nil {
			c.t.Error(err)
		}
	})
	return s
}

func mustID(t testing.TB, text string) ID {
	t.Helper()
	id, err := ParseID(text)
	if err != nil {
		t.Fatal(err)
	}
	return id
}
