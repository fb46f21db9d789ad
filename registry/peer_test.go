package registry

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
)

// spellPeer writes a state, commits by their names.
func spellPeer(s *PeerState, names map[string]string) string {
	name := func(id string) string {
		if n, ok := names[id]; ok {
			return n
		}
		return id
	}
	text := fmt.Sprintf("%s at %s, common %s, own %d, peer %d", s.Relation, name(s.Tip), name(s.Common), s.OwnOnly,
		s.PeerOnly)
	if len(s.Differ) > 0 {
		text += "\n" + spellChanges(s.Differ)
	}
	return text
}

func TestComparePeer(t *testing.T) {
	// root - a - b - c (main), a - x - y (other), and a merge of y into b whose first parent is b.
	c := newClone(t)
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
		{"split", "main", "other", "split at y, common a, own 2, peer 2\nM " + pathB + "\nD " + pathC +
			"\nA revocations/x.json"},
		{"ancestor by a merge alone", "merged", "other~1", "split at x, common a, own 2, peer 1\nM " + pathB},
		{"descendant by a merge alone", "other", "merged", "split at m, common a, own 2, peer 2\nM " + pathB +
			"\nD revocations/x.json"},
		{"unrelated", "main~2", "strange", "split at s, common nothing, own 2, peer 1\nA " + pathB +
			"\nA implementations/s.json"},
		{"other history, same records", "main", "rewritten", "split at w, common nothing, own 4, peer 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "peer")
			if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			p := c.at(dir)
			p.Write("refs/heads/peer", c.Git("rev-parse", tt.peer)+"\n")
			p.Write("HEAD", "ref: refs/heads/peer\n")
			s, err := c.open().ComparePeer(ctx, "p", dir, tt.own)
			if err != nil {
				t.Fatal(err)
			}
			if got := spellPeer(s, names); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			if s.Name != "p" || s.When.IsZero() || (s.Common == "") != s.CommonWhen.IsZero() {
				t.Errorf("state %+v", s)
			}
		})
	}
}

// TestMeetKeepsLittle requires that a peer's history, which may have millions of commits, takes no more memory than the
// clone's own.
func TestMeetKeepsLittle(t *testing.T) {
	c := newClone(t)
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
		r, peer := c.open(), c.open()
		own, err := r.resolve("main")
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := peer.resolve(branch)
		if err != nil {
			t.Fatal(err)
		}
		a := &chain{repo: r, next: own, seen: map[gitobject.ID]int{}}
		b := &chain{repo: peer, next: theirs, seen: map[gitobject.ID]int{}}
		common, err := meet(ctx, a, b)
		if err != nil || (common == nil) != (want == "") || common != nil && common.id.String() != want {
			t.Errorf("%s: the common commit is %v, %v; expected %q", branch, common, err, want)
		}
		if b.count < 10 || len(b.seen) > 3 {
			t.Errorf("%s: of %d commits, %d were seen", branch, b.count, len(b.seen))
		}
	}
	peer := c.open() // its HEAD is the last branch
	s, err := c.open().comparePeer(ctx, "p", peer, "main")
	if err != nil || s.Relation != PeerSplit || s.PeerOnly != 10 || len(peer.commits) > 0 {
		t.Errorf("%+v, %v; %d commits are kept", s, err, len(peer.commits))
	}
}

// TestComparePeerLimit checks that a split of many records names the first ones.
func TestComparePeerLimit(t *testing.T) {
	c := newClone(t)
	c.Commit("README.md", "r")
	dir := filepath.Join(t.TempDir(), "peer")
	c.Git("clone", "-q", c.Dir, dir)
	p := c.at(dir)
	var files []string
	for i := range 30 {
		files = append(files, fmt.Sprintf("implementations/%02d.json", i), "x")
	}
	p.Commit(append(files, "revocations/r.json", "r")...)
	c.Commit("workflow-anchors/a.json", "a", "implementations/05.json", "mine")
	s, err := c.open().ComparePeer(ctx, "p", dir, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Differ) != maxPeerDiffer || s.Differ[0].Path != "implementations/00.json" || s.Differ[5].Base == nil {
		t.Errorf("differ\n%s", spellChanges(s.Differ))
	}
}

func TestComparePeerErrors(t *testing.T) {
	c := newClone(t)
	c.Commit("README.md", "r")
	c.Commit("README.md", "s")
	c.Commit("README.md", "t")
	shallow := filepath.Join(t.TempDir(), "shallow")
	c.Git("clone", "-q", "--depth=1", "file://"+c.Dir, shallow)
	c.Commit("README.md", "u")
	empty := newClone(t)
	sha256 := newClone(t, "--object-format=sha256")
	sha256.Commit("README.md", "r")
	r := c.open()
	if _, err := r.ComparePeer(ctx, "p", shallow, "HEAD~1"); err != nil {
		t.Errorf("a shallow copy of the same tip: %v", err)
	}
	wantError(t, second(r.ComparePeer(ctx, "p", shallow, "HEAD~2")), gitstore.ErrShallow)
	wantError(t, second(r.ComparePeer(ctx, "p", sha256.Dir, "HEAD")), errOtherHash)
	wantError(t, second(r.ComparePeer(ctx, "p", t.TempDir(), "HEAD")), gitstore.ErrNotRepository)
	if _, err := r.ComparePeer(ctx, "p", empty.Dir, "HEAD"); err == nil || !strings.Contains(err.Error(), `"p"`) {
		t.Errorf("an empty copy: %v", err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := r.ComparePeer(cancelled, "p", shallow, "HEAD"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

func TestDataTrees(t *testing.T) {
	c := newClone(t)
	c.Commit(pathA, "a", "revocations/x.json", "x")
	tree, err := c.open().Tree(ctx, "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	got, err := tree.DataTrees()
	want := [4]string{c.Git("rev-parse", "HEAD:implementations"), "-", c.Git("rev-parse", "HEAD:revocations"), "-"}
	if err != nil || got != want {
		t.Errorf("trees %q, %v, want %q", got, err, want)
	}
}
