package registry

import (
	"path/filepath"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/gitstore"
)

// TestClones reads one range in every shape that a clone comes in.
func TestClones(t *testing.T) {
	origin := newClone(t)
	base := origin.commit(pathA, `{"slug": "a"}`, "schemas/x.json", "{}", "docs/x", "x")
	origin.git("tag", "-a", "-m", "t", "v1")
	origin.commit(pathB, `{"slug": "b"}`)
	head := origin.commit(pathC, `{"slug": "c"}`)
	tests := []struct {
		name string
		make func(c *clone, dir string) (head string)
	}{
		{"work tree", func(c *clone, dir string) string {
			c.git("clone", "-q", "--no-local", c.dir, dir)
			return "HEAD"
		}},
		{"folder of a work tree", func(c *clone, dir string) string {
			c.git("clone", "-q", c.dir, dir)
			return "HEAD"
		}},
		{"bare", func(c *clone, dir string) string {
			c.git("clone", "-q", "--bare", c.dir, dir)
			return "main"
		}},
		{"linked work tree", func(c *clone, dir string) string {
			c.git("worktree", "add", "-q", "--detach", dir, head)
			return "HEAD"
		}},
		{"detached HEAD", func(c *clone, dir string) string {
			c.git("clone", "-q", c.dir, dir)
			c.at(dir).git("checkout", "-q", "--detach", head)
			return "HEAD"
		}},
		{"packed refs and objects", func(c *clone, dir string) string {
			c.git("clone", "-q", c.dir, dir)
			c.at(dir).git("pack-refs", "--all")
			c.at(dir).git("repack", "-q", "-a", "-d", "-f")
			return "refs/remotes/origin/main"
		}},
		{"alternates", func(c *clone, dir string) string {
			c.git("clone", "-q", "--shared", c.dir, dir)
			return "HEAD"
		}},
		{"sparse, with a configuration of its own", func(c *clone, dir string) string {
			c.git("clone", "-q", "--sparse", c.dir, dir)
			c.at(dir).git("config", "extensions.worktreeConfig", "true")
			c.at(dir).git("sparse-checkout", "set", "schemas")
			return "HEAD"
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "clone")
			rev := tt.make(origin, dir)
			if tt.name == "folder of a work tree" {
				dir = filepath.Join(dir, "schemas")
			}
			g, err := open(t, dir).Range(ctx, "v1", rev)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := spellChanges(g.Changes), "A "+pathB+"\nA "+pathC; got != want || g.MergeBases[0] != base {
				t.Errorf("changes %q, want %q", got, want)
			}
			slugs, err := collect(Scan(ctx, g.Result, KindListing, func(r *Record) string { return ParseListing(r).Slug }))
			if err != nil || len(slugs) != 3 || slugs[2] != "c" {
				t.Errorf("slugs %q, %v", slugs, err)
			}
		})
	}
}

func TestSHA256(t *testing.T) {
	c := newClone(t, "--object-format=sha256")
	fork := c.commit(pathA, `{"slug": "a"}`)
	base := c.commit(pathB, `{"slug": "b"}`)
	c.git("checkout", "-q", fork)
	head := c.commit(pathC, `{"slug": "c"}`)
	g := c.rangeOf(base, head)
	if got, want := spellChanges(g.Changes), "A "+pathC; got != want || len(g.MergeBases[0]) != 64 {
		t.Errorf("changes %q, want %q", got, want)
	}
	checkResult(t, g)
	c.write(pathC, `{"slug": "cc"}`)
	g, err := c.open().WorktreeRange(ctx, base)
	if err != nil {
		t.Fatal(err)
	}
	if rec, err := g.Result.Record(ctx, pathC); err != nil || ParseListing(rec).Slug != "cc" {
		t.Errorf("record %v, %v", rec, err)
	}
}

// TestShallow holds that history which is not there is an error, and never shorter.
func TestShallow(t *testing.T) {
	origin := newClone(t)
	origin.commit(pathA, "{}")
	origin.commit("f", "0")
	fork := origin.commit("f", "1")
	base := origin.commit("f", "2")
	origin.git("checkout", "-q", "-b", "pr", fork)
	origin.commit(pathB, "{}")
	head := origin.commit(pathC, "{}")
	for depth, want := range map[string]error{"1": gitstore.ErrShallow, "2": gitstore.ErrShallow, "3": nil} {
		dir := filepath.Join(t.TempDir(), "clone")
		origin.git("clone", "-q", "--no-single-branch", "--depth", depth, "file://"+origin.dir, dir)
		r := open(t, dir)
		if _, err := r.Range(ctx, base, head); want == nil && err != nil {
			t.Errorf("depth %s: %v", depth, err)
		} else if want != nil {
			wantError(t, err, want)
		}
		_, err := r.FirstParents(ctx, "", head)
		wantError(t, err, gitstore.ErrShallow)
		_, err = r.FileHistory(ctx, head, pathA)
		wantError(t, err, gitstore.ErrShallow)
	}
}

// TestPartial holds that a file which was not fetched is an error.
func TestPartial(t *testing.T) {
	origin := newClone(t)
	base := origin.commit(pathA, "{}")
	head := origin.commit(pathB, `{"slug": "b"}`)
	origin.git("config", "uploadpack.allowFilter", "true")
	dir := filepath.Join(t.TempDir(), "clone")
	origin.git("clone", "-q", "--bare", "--filter=blob:none", "file://"+origin.dir, dir)
	r := open(t, dir)
	g, err := r.Range(ctx, base, head)
	if err != nil {
		t.Fatal(err)
	}
	_, err = collect(Scan(ctx, g.Result, KindListing, func(*Record) int { return 0 }))
	wantError(t, err, gitstore.ErrPartial)
}
