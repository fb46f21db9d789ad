package gitstore

import (
	"crypto/sha1"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/gittest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/packtest"
)

// clone is a repository made by the git command.
type clone struct{ *gittest.Clone }

func newClone(t testing.TB, args ...string) clone {
	t.Helper()
	return clone{gittest.New(t, args...)}
}

func (c clone) commit(message string) string {
	c.T.Helper()
	c.Git("add", "-A")
	c.Git("commit", "-q", "--allow-empty", "-m", message)
	return c.Head()
}

// history makes commits that change files alike, so that packing them makes deltas.
func (c clone) history(commits int) {
	c.T.Helper()
	for i := range commits {
		for j := range 5 {
			c.Write(fmt.Sprintf("implementations/tool-%d-%d.json", i, j), listing(i*5+j))
		}
		c.Write("README.md", strings.Repeat(fmt.Sprintf("line of commit %d\n", i), 50+i))
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
	c.T.Helper()
	s := must.Get(Open(c.Dir))(c.T)
	c.T.Cleanup(func() {
		if err := s.Close(); err != nil {
			c.T.Error(err)
		}
	})
	return s
}

func mustID(t testing.TB, text string) gitobject.ID {
	t.Helper()
	id := must.Get(gitobject.ParseID(text))(t)
	return id
}

func (c clone) addPack(w *packtest.Writer) {
	c.T.Helper()
	pack, idx := w.Bytes()
	name := fmt.Sprintf("pack-%x", sha1.Sum(pack))
	dir := filepath.Join(c.Dir, ".git/objects/pack")
	for ext, data := range map[string][]byte{".pack": pack, ".idx": idx} {
		must.OK(c.T, os.WriteFile(filepath.Join(dir, name+ext), data, 0o666))
	}
}
