package mirror

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/gittest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

const (
	pathA = "implementations/a.json"
	pathB = "implementations/b.json"
	pathC = "implementations/c.json"
)

// openAt opens a clone until the test ends.
func openAt(t *testing.T, dir string) *registry.Repository {
	t.Helper()
	r := must.Get(registry.Open(dir))(t)
	t.Cleanup(func() { r.Close() })
	return r
}

// spellPeer writes a state, commits by their names.
func spellPeer(s *peerState, names map[string]string) string {
	name := func(id string) string {
		if n, ok := names[id]; ok {
			return n
		}
		return id
	}
	text := fmt.Sprintf("%s at %s, common %s, own %d, peer %d", s.relation, name(s.tip), name(s.common), s.ownOnly,
		s.peerOnly)
	if len(s.differ) > 0 {
		text += "\n" + strings.Join(s.differ, "\n")
	}
	return text
}

func TestComparePeer(t *testing.T) {
	// root - a - b - c (main), a - x - y (other), and a merge of y into b whose first parent is b.
	c := gittest.New(t)
	names := map[string]string{"": "nothing"}
	at := func(name, id string) string { names[id] = name; return id }
	at("root", c.Commit("README.md", "r"))
	a := at("a", c.Commit(pathA, "a"))
	b := at("b", c.Commit(pathB, "b"))
	at("c", c.Commit(pathC, "c"))
	c.Git("checkout", "-q", "-b", "other", a)
	at("x", c.Commit(pathB, "another b"))
	at("y", c.Commit("revocations/x.json", "x"))
	c.Git("checkout", "-q", "-b", "merged", b)
	c.Git("merge", "-q", "-s", "ours", "--no-ff", "-m", "merge", "other")
	at("m", c.Head())
	c.Git("checkout", "-q", "--orphan", "strange")
	at("s", c.Commit("implementations/s.json", "s"))
	c.Git("checkout", "-q", "--orphan", "rewritten", "main")
	at("w", c.Commit())
	whole := filepath.Join(t.TempDir(), "whole")
	c.Git("clone", "-q", "--bare", "--no-local", c.Dir, whole)
	tests := []struct{ name, own, peer, want string }{
		{"same", "main", "main", "same at c, common c, own 0, peer 0"},
		{"behind", "main", "main~2", "behind at a, common a, own 2, peer 0"},
		{"behind at the root", "main", "main~3", "behind at root, common root, own 3, peer 0"},
		{"ahead", "main~1", "main", "ahead at c, common b, own 0, peer 1"},
		{"ahead by a merge", "main~1", "merged", "ahead at m, common b, own 0, peer 1"},
		{"split", "main", "other", "split at y, common a, own 2, peer 2\n" + pathB + "\n" + pathC +
			"\nrevocations/x.json"},
		{"ancestor by a merge alone", "merged", "other~1", "split at x, common a, own 2, peer 1\n" + pathB},
		{"descendant by a merge alone", "other", "merged", "split at m, common a, own 2, peer 2\n" + pathB +
			"\nrevocations/x.json"},
		{"unrelated", "main~2", "strange", "split at s, common nothing, own 2, peer 1\n" + pathB +
			"\nimplementations/s.json"},
		{"other history, same records", "main", "rewritten", "split at w, common nothing, own 4, peer 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "peer")
			must.OK(t, os.CopyFS(dir, os.DirFS(whole)))
			p := gittest.At(t, dir)
			p.Write("refs/heads/peer", c.Git("rev-parse", tt.peer)+"\n")
			p.Write("HEAD", "ref: refs/heads/peer\n")
			s := must.Get(comparePeer(t.Context(), openAt(t, c.Dir), "p", dir, tt.own))(t)
			if got := spellPeer(s, names); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			if s.name != "p" || s.when.IsZero() || (s.common == "") != s.commonWhen.IsZero() {
				t.Errorf("state %+v", s)
			}
		})
	}
}

// TestMeetKeepsLittle requires that a peer's history, which may have millions of commits, takes no more memory than the
// clone's own.
func TestMeetKeepsLittle(t *testing.T) {
	c := gittest.New(t)
	root := c.Commit("README.md", "r")
	c.Commit("README.md", "s")
	c.Git("checkout", "-q", "--orphan", "long")
	for range 10 {
		c.Commit("README.md", "l")
	}
	c.Git("checkout", "-q", "-b", "longer", root)
	for range 10 {
		c.Commit("README.md", "l")
	}
	for branch, want := range map[string]string{"long": "", "longer": root} {
		r, peer := openAt(t, c.Dir), openAt(t, c.Dir)
		a := &chain{repo: r, next: c.Git("rev-parse", "main"), seen: map[string]int{}}
		b := &chain{repo: peer, next: c.Git("rev-parse", branch), seen: map[string]int{}}
		common, err := meet(t.Context(), a, b)
		if err != nil || common != want {
			t.Errorf("%s: the common commit is %v, %v; expected %q", branch, common, err, want)
		}
		if b.count < 10 || len(b.seen) > 3 {
			t.Errorf("%s: of %d commits, %d were seen", branch, b.count, len(b.seen))
		}
	}
	s, err := comparePeer(t.Context(), openAt(t, c.Dir), "p", c.Dir, "main") // whose HEAD is the last branch
	if err != nil || s.relation != peerSplit || s.peerOnly != 10 {
		t.Errorf("%+v, %v", s, err)
	}
}

// TestComparePeerLimit checks that a split of many records names the first ones.
func TestComparePeerLimit(t *testing.T) {
	c := gittest.New(t)
	c.Commit("README.md", "r")
	dir := filepath.Join(t.TempDir(), "peer")
	c.Git("clone", "-q", c.Dir, dir)
	p := gittest.At(t, dir)
	var files []string
	for i := range 30 {
		files = append(files, fmt.Sprintf("implementations/%02d.json", i), "x")
	}
	p.Commit(append(files, "revocations/r.json", "r")...)
	c.Commit("workflow-anchors/a.json", "a", "implementations/05.json", "mine")
	s := must.Get(comparePeer(t.Context(), openAt(t, c.Dir), "p", dir, "HEAD"))(t)
	if len(s.differ) != maxPeerDiffer || s.differ[0] != "implementations/00.json" ||
		s.differ[5] != "implementations/05.json" {
		t.Errorf("differ\n%s", strings.Join(s.differ, "\n"))
	}
}

func TestComparePeerErrors(t *testing.T) {
	c := gittest.New(t)
	c.Commit("README.md", "r")
	c.Commit("README.md", "s")
	c.Commit("README.md", "t")
	shallow := filepath.Join(t.TempDir(), "shallow")
	c.Git("clone", "-q", "--depth=1", "file://"+c.Dir, shallow)
	c.Commit("README.md", "u")
	empty := gittest.New(t)
	sha256 := gittest.New(t, "--object-format=sha256")
	sha256.Commit("README.md", "r")
	r := openAt(t, c.Dir)
	if _, err := comparePeer(t.Context(), r, "p", shallow, "HEAD~1"); err != nil {
		t.Errorf("a shallow copy of the same tip: %v", err)
	}
	if s, err := comparePeer(t.Context(), r, "p", shallow, "HEAD~2"); err != nil || s.relation != peerAhead {
		t.Errorf("a shallow copy of the next commit: %+v, %v", s, err)
	}
	if _, err := comparePeer(t.Context(), r, "p", shallow, "HEAD~3"); !errors.Is(err, gitstore.ErrShallow) {
		t.Errorf("error %v, want %v", err, gitstore.ErrShallow)
	}
	if _, err := comparePeer(t.Context(), r, "p", sha256.Dir, "HEAD"); !errors.Is(err, errOtherHash) {
		t.Errorf("error %v, want %v", err, errOtherHash)
	}
	if _, err := comparePeer(t.Context(), r, "p", t.TempDir(), "HEAD"); !errors.Is(err, gitstore.ErrNotRepository) {
		t.Errorf("error %v, want %v", err, gitstore.ErrNotRepository)
	}
	if _, err := comparePeer(t.Context(), r, "p", empty.Dir, "HEAD"); err == nil || !strings.Contains(err.Error(), `"p"`) {
		t.Errorf("an empty copy: %v", err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := comparePeer(cancelled, r, "p", shallow, "HEAD"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestDataTrees(t *testing.T) {
	c := gittest.New(t)
	c.Commit(pathA, "a", "revocations/x.json", "x")
	got, err := treesOf(t.Context(), openAt(t, c.Dir), "HEAD")
	want := [4]string{c.Git("rev-parse", "HEAD:implementations"), "-", c.Git("rev-parse", "HEAD:revocations"), "-"}
	if err != nil || got != want {
		t.Errorf("trees %q, %v, want %q", got, err, want)
	}
}

// TestIsEmpty checks that a repository without a branch is empty, and one whose HEAD names none of its branches is not.
func TestIsEmpty(t *testing.T) {
	for name, tt := range map[string]struct {
		make func(c *gittest.Clone)
		want bool
	}{
		"new": {func(*gittest.Clone) {}, true},
		"a remote's only": {func(c *gittest.Clone) {
			c.Commit("f", "x")
			c.Git("update-ref", "refs/remotes/o/m", "HEAD")
			c.Git("update-ref", "-d", "refs/heads/main")
		}, true},
		"a branch": {func(c *gittest.Clone) { c.Commit("f", "x") }, false},
		"another branch": {func(c *gittest.Clone) {
			c.Commit("f", "x")
			c.Git("symbolic-ref", "HEAD", "refs/heads/none")
		}, false},
		"a packed branch": {func(c *gittest.Clone) {
			c.Commit("f", "x")
			c.Git("pack-refs", "--all")
			c.Git("symbolic-ref", "HEAD", "refs/heads/none")
		}, false},
		"a detached HEAD": {func(c *gittest.Clone) {
			c.Commit("f", "x")
			c.Git("checkout", "-q", "--detach")
			c.Git("branch", "-q", "-D", "main")
		}, false},
	} {
		c := gittest.New(t)
		tt.make(c)
		s := must.Get(gitstore.Open(c.Dir))(t)
		defer s.Close()
		if got := isEmpty(s); got != tt.want {
			t.Errorf("%s: empty is %t, want %t", name, got, tt.want)
		}
	}
}

// addPack puts a pack into the clone.
