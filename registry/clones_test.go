package registry

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestClones reads one range in every shape that a clone comes in.
func TestClones(t *testing.T) {
	origin := newClone(t)
	base := origin.Commit(pathA, `{"slug": "a"}`, "schemas/x.json", "{}", "docs/x", "x")
	origin.Git("tag", "-a", "-m", "t", "v1")
	origin.Commit(pathB, `{"slug": "b"}`)
	head := origin.Commit(pathC, `{"slug": "c"}`)
	tests := []struct {
		name string
		make func(c *clone, dir string) (head string)
	}{
		{"work tree", func(c *clone, dir string) string {
			c.Git("clone", "-q", "--no-local", c.Dir, dir)
			return "HEAD"
		}},
		{"directory of a work tree", func(c *clone, dir string) string {
			c.Git("clone", "-q", c.Dir, dir)
			return "HEAD"
		}},
		{"bare", func(c *clone, dir string) string {
			c.Git("clone", "-q", "--bare", c.Dir, dir)
			return "main"
		}},
		{"linked work tree", func(c *clone, dir string) string {
			c.Git("worktree", "add", "-q", "--detach", dir, head)
			return "HEAD"
		}},
		{"detached HEAD", func(c *clone, dir string) string {
			c.Git("clone", "-q", c.Dir, dir)
			c.at(dir).Git("checkout", "-q", "--detach", head)
			return "HEAD"
		}},
		{"packed refs and objects", func(c *clone, dir string) string {
			c.Git("clone", "-q", c.Dir, dir)
			c.at(dir).Git("pack-refs", "--all")
			c.at(dir).Git("repack", "-q", "-a", "-d", "-f")
			return "refs/remotes/origin/main"
		}},
		{"alternates", func(c *clone, dir string) string {
			c.Git("clone", "-q", "--shared", c.Dir, dir)
			return "HEAD"
		}},
		{"sparse, with a configuration of its own", func(c *clone, dir string) string {
			c.Git("clone", "-q", "--sparse", c.Dir, dir)
			c.at(dir).Git("config", "extensions.worktreeConfig", "true")
			c.at(dir).Git("sparse-checkout", "set", "schemas")
			return "HEAD"
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "clone")
			rev := tt.make(origin, dir)
			if tt.name == "directory of a work tree" {
				dir = filepath.Join(dir, "schemas")
			}
			g := must.Get(open(t, dir).Range(ctx, "v1", rev))(t)
			if got, want := spellChanges(g.Changes), "A "+pathB+"\nA "+pathC; got != want || g.MergeBases[0] != base {
				t.Errorf("changes %q, want %q", got, want)
			}
			slug := func(r *Record) string { return ParseListing(r).Slug }
			slugs, err := collect(Scan(ctx, g.Result, KindListing, slug))
			if err != nil || len(slugs) != 3 || slugs[2] != "c" {
				t.Errorf("slugs %q, %v", slugs, err)
			}
		})
	}
}

func TestSHA256(t *testing.T) {
	c := newClone(t, "--object-format=sha256")
	fork := c.Commit(pathA, `{"slug": "a"}`)
	base := c.Commit(pathB, `{"slug": "b"}`)
	c.Git("checkout", "-q", fork)
	head := c.Commit(pathC, `{"slug": "c"}`)
	g := c.rangeOf(base, head)
	if got, want := spellChanges(g.Changes), "A "+pathC; got != want || len(g.MergeBases[0]) != 64 {
		t.Errorf("changes %q, want %q", got, want)
	}
	checkResult(t, g)
	c.Write(pathC, `{"slug": "cc"}`)
	c.Git("add", "-A")
	g = must.Get(c.open().TreeRange(ctx, base, c.Git("write-tree")))(t)
	if rec, err := g.Result.Record(ctx, pathC); err != nil || ParseListing(rec).Slug != "cc" {
		t.Errorf("record %v, %v", rec, err)
	}
}

// TestShallow checks that history which is not there is an error, and never shorter.
func TestShallow(t *testing.T) {
	origin := newClone(t)
	origin.Commit(pathA, "{}")
	origin.Commit("f", "0")
	fork := origin.Commit("f", "1")
	base := origin.Commit("f", "2")
	origin.Git("checkout", "-q", "-b", "pr", fork)
	origin.Commit(pathB, "{}")
	head := origin.Commit(pathC, "{}")
	for depth, want := range map[string]error{"1": gitstore.ErrShallow, "2": gitstore.ErrShallow, "3": nil} {
		dir := filepath.Join(t.TempDir(), "clone")
		origin.Git("clone", "-q", "--no-single-branch", "--depth", depth, "file://"+origin.Dir, dir)
		r := open(t, dir)
		if _, err := r.Range(ctx, base, head); want == nil && err != nil {
			t.Errorf("depth %s: %v", depth, err)
		} else if want != nil {
			wantError(t, err, want)
		}
		_, err := r.FirstParents(ctx, "", head)
		wantError(t, err, gitstore.ErrShallow)
		_, err = r.FolderHistory(ctx, head, "implementations", time.Time{}, nil)
		wantError(t, err, gitstore.ErrShallow)
	}
}

// TestPartial checks that a file which was not fetched is an error.
func TestPartial(t *testing.T) {
	origin := newClone(t)
	base := origin.Commit(pathA, "{}")
	head := origin.Commit(pathB, `{"slug": "b"}`)
	origin.Config("uploadpack.allowFilter", "true")
	dir := filepath.Join(t.TempDir(), "clone")
	origin.Git("clone", "-q", "--bare", "--filter=blob:none", "file://"+origin.Dir, dir)
	r := open(t, dir)
	g, err := r.Range(ctx, base, head)
	must.OK(t, err)
	_, err = collect(Scan(ctx, g.Result, KindListing, func(*Record) int { return 0 }))
	wantError(t, err, gitstore.ErrPartial)
}
