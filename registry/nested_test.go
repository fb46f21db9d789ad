package registry

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/gittest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/needs"
)

// submodule are the programs that git submodule, a shell script, calls.
var submodule = []string{"basename", "sed", "uname"}

// plant puts a bare clone of another repository below the work tree, as a pull request can bring it: without the empty
// directories that git does not keep.
func (c *clone) plant(dir string) {
	c.T.Helper()
	planting.Lock()
	defer planting.Unlock()
	if bare == nil {
		other := newClone(c.T)
		other.Commit(pathA, "planted")
		to := filepath.Join(c.T.TempDir(), "bare")
		other.Git("clone", "-q", "--bare", other.Dir, to)
		bare = gittest.Files(c.T, to)
	}
	must.OK(c.T, os.CopyFS(filepath.Join(c.Dir, dir), bare))
	c.Write(filepath.Join(dir, "refs", "keep"), "")
}

var (
	planting sync.Mutex
	bare     fs.FS // what plant writes; nil: not yet made
)

func (c *clone) rename(from, to string) {
	c.T.Helper()
	to = filepath.Join(c.Dir, to)
	must.OK(c.T, os.MkdirAll(filepath.Dir(to), 0o777))
	must.OK(c.T, os.Rename(filepath.Join(c.Dir, from), to))
}

// TestTrackedRepository checks that a repository which the one around it tracks is never read, and neither is the one
// around it.
func TestTrackedRepository(t *testing.T) {
	tests := []struct {
		name string
		make func(c *clone) (dir string)
	}{
		{"committed", func(c *clone) string { c.plant("x"); c.Commit(); return "x" }},
		{"committed, deeper", func(c *clone) string { c.plant("a/b/x"); c.Commit(); return "a/b/x" }},
		{"named registry.git", func(c *clone) string {
			c.plant("m/registry.git")
			c.Commit()
			return "m/registry.git"
		}},
		{"in a mirror's directory", func(c *clone) string { c.plant("m/registry.git"); c.Commit(); return "m" }},
		{"a directory below it", func(c *clone) string { c.plant("x"); c.Commit(); return "x/refs" }},
		{"staged", func(c *clone) string { c.plant("x"); c.Git("add", "x"); return "x" }},
		{"one file of it staged", func(c *clone) string { c.plant("x"); c.Git("add", "x/HEAD"); return "x" }},
		{"to be added", func(c *clone) string { c.plant("x"); c.Git("add", "-N", "x/HEAD"); return "x" }},
		{"in HEAD alone", func(c *clone) string {
			c.plant("x")
			c.Commit()
			c.Git("rm", "-q", "-r", "--cached", "x")
			return "x"
		}},
		{"in HEAD alone, without an index", func(c *clone) string {
			c.plant("x")
			c.Commit()
			c.remove(".git/index")
			return "x"
		}},
		{"HEAD beside commondir", func(c *clone) string {
			c.Commit("x/HEAD", "ref: refs/heads/main\n", "x/commondir", "../.git\n")
			return "x"
		}},
		{"a repository in a repository", func(c *clone) string {
			c.plant("x")
			c.plant("x/y")
			c.Commit()
			return "x/y"
		}},
		{"a tracked link to a repository elsewhere", func(c *clone) string {
			other := newClone(c.T)
			other.Commit()
			other.Git("clone", "-q", "--bare", other.Dir, filepath.Join(other.Dir, "bare"))
			c.symlink(filepath.Join(other.Dir, "bare"), "x")
			c.Commit()
			return "x"
		}},
		{"a tracked link to a mirror's directory", func(c *clone) string {
			other := newClone(c.T)
			other.Commit()
			other.Git("clone", "-q", "--bare", other.Dir, filepath.Join(other.Dir, "m", "registry.git"))
			c.symlink(filepath.Join(other.Dir, "m"), "x")
			c.Commit()
			return "x"
		}},
		{"a link from outside", func(c *clone) string {
			c.plant("x")
			c.Commit()
			link := filepath.Join(c.T.TempDir(), "link")
			must.OK(c.T, os.Symlink(filepath.Join(c.Dir, "x"), link))
			return link
		}},
		{"a split index", func(c *clone) string {
			c.Commit("f", "")
			c.Git("update-index", "--split-index")
			c.plant("x")
			return "x"
		}},
		{"a damaged index", func(c *clone) string {
			c.Commit("f", "")
			c.Write(".git/index", "DIRC")
			c.plant("x")
			return "x"
		}},
		{"a damaged HEAD", func(c *clone) string {
			c.Commit("f", "")
			c.Write(".git/HEAD", "what is this\n")
			c.plant("x")
			return "x"
		}},
		{"a .git that is none", func(c *clone) string {
			c.plant("sub/x")
			c.Commit()
			c.remove("sub/.git")
			must.OK(c.T, os.Mkdir(filepath.Join(c.Dir, "sub", ".git"), 0o777))
			return "sub/x"
		}},
		{"a sparse index", func(c *clone) string {
			c.plant("a/x")
			c.plant("y")
			c.Commit("keep/f", "")
			c.rename("a/x", ".git/kept")
			c.Git("checkout", "-q", "--", ".")
			c.Git("sparse-checkout", "set", "--cone", "--sparse-index", "keep")
			c.remove("a")
			c.rename(".git/kept", "a/x")
			c.Git("update-ref", "--no-deref", "HEAD", c.Git("commit-tree", "-m", "empty", c.Git("mktree")))
			return "a/x"
		}},
		{"a linked work tree around it", func(c *clone) string {
			c.plant("x")
			c.Commit()
			linked := filepath.Join(c.T.TempDir(), "linked")
			c.Git("worktree", "add", "-q", "--detach", linked)
			return filepath.Join(linked, "x")
		}},
		{"a submodule around it", func(c *clone) string {
			other := newClone(c.T)
			other.plant("x")
			other.Commit()
			needs.Program(c.T, submodule...)
			c.Git("submodule", "--quiet", "add", other.Dir, "sub")
			c.Commit()
			return "sub/x"
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newClone(t)
			dir := tt.make(c)
			if !filepath.IsAbs(dir) {
				dir = filepath.Join(c.Dir, dir)
			}
			r, err := Open(dir)
			if err == nil {
				t.Fatalf("%s is read, Git directory %s", dir, r.store.GitDir())
			}
			e, ok := errors.AsType[remedy.Fixer](err)
			if remedy.CodeOf(err) != NestedRepository || !ok || e.Fix() == "" {
				t.Errorf("error %v, want the code %s and a fix", err, NestedRepository)
			}
		})
	}
}

// TestUntrackedRepository checks which repository is read where no other one tracks it, and whether it is in another
// work tree.
func TestUntrackedRepository(t *testing.T) {
	const planted, own = "planted", "own"
	tests := []struct {
		name    string
		make    func(c *clone) (dir string)
		want    string // the listing that is read
		isInner bool
	}{
		{"the work tree", func(c *clone) string { return "." }, own, false},
		{"a directory of the work tree", func(c *clone) string { return "implementations" }, own, false},
		{"the Git directory", func(c *clone) string { return ".git" }, own, false},
		{"the shape of a repository at the root", func(c *clone) string {
			c.Commit("HEAD", "ref: refs/heads/other\n", "objects/x", "", "refs/x", "")
			return "."
		}, own, false},
		{"a registry.git at the root", func(c *clone) string {
			c.plant("registry.git")
			c.Commit()
			return "."
		}, own, false},
		{"objects and refs without HEAD", func(c *clone) string {
			c.Commit("x/objects/a", "", "x/refs/a", "")
			return "x"
		}, own, false},
		{"untracked", func(c *clone) string { c.plant("x"); return "x" }, planted, true},
		{"untracked, in a tracked directory", func(c *clone) string {
			c.plant("implementations/x")
			return "implementations/x"
		}, planted, true},
		{"untracked, beside a longer name", func(c *clone) string {
			c.Commit("xx/HEAD", "", "x.d/HEAD", "")
			c.plant("x")
			return "x"
		}, planted, true},
		{"ignored", func(c *clone) string { c.Commit(".gitignore", "x\n"); c.plant("x"); return "x" }, planted, true},
		{"a mirror's directory", func(c *clone) string { c.plant("m/registry.git"); return "m" }, planted, true},
		{"before the first commit", func(c *clone) string {
			c.Git("init", "-q", filepath.Join(c.Dir, "new"))
			c.plant("new/x")
			return "new/x"
		}, planted, true},
		{"a clone in the work tree", func(c *clone) string {
			c.plant(".git/other")
			c.Git("clone", "-q", filepath.Join(c.Dir, ".git/other"), filepath.Join(c.Dir, "registry"))
			return "registry"
		}, planted, false},
		{"a clone in the work tree, named registry.git", func(c *clone) string {
			c.plant(".git/other")
			c.Git("clone", "-q", filepath.Join(c.Dir, ".git/other"), filepath.Join(c.Dir, "registry.git"))
			return "registry.git"
		}, planted, false},
		{"a submodule", func(c *clone) string {
			c.plant(".git/other")
			needs.Program(c.T, submodule...)
			c.Git("submodule", "--quiet", "add", filepath.Join(c.Dir, ".git/other"), "sub")
			c.Commit()
			return "sub"
		}, planted, false},
		{"a submodule's Git directory", func(c *clone) string {
			c.plant(".git/other")
			needs.Program(c.T, submodule...)
			c.Git("submodule", "--quiet", "add", filepath.Join(c.Dir, ".git/other"), "sub")
			c.Commit()
			return ".git/modules/sub"
		}, planted, false},
		{"a linked work tree in the work tree", func(c *clone) string {
			c.Git("worktree", "add", "-q", "--detach", "linked")
			return "linked"
		}, own, false},
		{"a linked work tree's Git directory", func(c *clone) string {
			c.Git("worktree", "add", "-q", "--detach", "linked")
			return ".git/worktrees/linked"
		}, own, false},
		{"a bare clone elsewhere", func(c *clone) string {
			dir := filepath.Join(c.T.TempDir(), "bare")
			c.Git("clone", "-q", "--bare", c.Dir, dir)
			return dir
		}, own, false},
		{"an untracked link to a bare clone elsewhere", func(c *clone) string {
			dir := filepath.Join(c.T.TempDir(), "bare")
			c.Git("clone", "-q", "--bare", c.Dir, dir)
			c.symlink(dir, "x")
			return "x"
		}, own, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newClone(t)
			c.Commit(pathA, own)
			dir := tt.make(c)
			if !filepath.IsAbs(dir) {
				dir = filepath.Join(c.Dir, dir)
			}
			r := open(t, dir)
			tree := must.Get(r.Tree(ctx, "HEAD"))(t)
			got, err := tree.File(ctx, pathA, 100)
			if err != nil || string(got) != tt.want {
				t.Errorf("read %q, %v, want %q", got, err, tt.want)
			}
			if (r.Outer() != "") != tt.isInner {
				t.Errorf("it is in the work tree of %q, want one: %v", r.Outer(), tt.isInner)
			}
		})
	}
}

// TestRefusedMirror checks that nothing is read for a registry.git that is not a repository.
func TestRefusedMirror(t *testing.T) {
	for name, make := range map[string]func(c *clone){
		"a directory":         func(c *clone) { c.Write("m/registry.git/x", "") },
		"a file":              func(c *clone) { c.Write("m/registry.git", "") },
		"a dangling link":     func(c *clone) { c.symlink("nowhere", "m/registry.git") },
		"a bare without HEAD": func(c *clone) { c.plant("m/registry.git"); c.remove("m/registry.git/HEAD") },
	} {
		t.Run(name, func(t *testing.T) {
			c := newClone(t)
			c.Commit(pathA, "own")
			make(c)
			for _, dir := range []string{"m", "m/registry.git"} {
				if r, err := Open(filepath.Join(c.Dir, dir)); err == nil {
					t.Errorf("%s: %s is read", dir, r.store.GitDir())
				} else if !strings.Contains(err.Error(), gitstore.ErrNotRepository.Error()) {
					t.Errorf("%s: error %v", dir, err)
				}
			}
		})
	}
}

// TestOuterOfNothing checks a directory that a mirror is about to make.
func TestOuterOfNothing(t *testing.T) {
	c := newClone(t)
	c.plant("m/registry.git")
	c.Commit()
	c.remove("m")
	if _, err := Outer(filepath.Join(c.Dir, "m", "registry.git")); remedy.CodeOf(err) != NestedRepository {
		t.Errorf("tracked, and gone from disk: error %v", err)
	}
	if outer, err := Outer(filepath.Join(c.Dir, "n", "registry.git")); err != nil || outer == "" {
		t.Errorf("outer %q, error %v, want the work tree", outer, err)
	}
	if outer, err := Outer(filepath.Join(t.TempDir(), "n", "registry.git")); err != nil || outer != "" {
		t.Errorf("outer %q, error %v, want none", outer, err)
	}
}
