package registry

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/remedy"
)

// worktreeTree is the tree that git would commit: all of the data folders, and what it does not ignore.
func (c *clone) worktreeTree() string {
	c.t.Helper()
	index := c.git("rev-parse", "--git-path", "index")
	if !filepath.IsAbs(index) {
		index = filepath.Join(c.dir, index)
	}
	before, err := os.ReadFile(index)
	if err != nil {
		c.t.Fatal(err)
	}
	c.git("add", "-A", "--sparse")
	for _, k := range DataKinds {
		if _, err := os.Lstat(filepath.Join(c.dir, k.Folder())); err == nil {
			c.git("-c", "advice.addEmbeddedRepo=false", "add", "-f", "--sparse", "--", k.Folder())
		}
	}
	tree := c.git("write-tree")
	if err := os.WriteFile(index, before, 0o644); err != nil {
		c.t.Fatal(err)
	}
	return tree
}

func (c *clone) remove(path string) {
	c.t.Helper()
	if err := os.RemoveAll(filepath.Join(c.dir, path)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *clone) symlink(target, path string) {
	c.t.Helper()
	c.remove(path)
	if err := os.MkdirAll(filepath.Dir(filepath.Join(c.dir, path)), 0o777); err != nil {
		c.t.Fatal(err)
	}
	if err := os.Symlink(target, filepath.Join(c.dir, path)); err != nil {
		c.t.Fatal(err)
	}
}

// old makes every file older than the index, so that Git sees by its time whether it is as it was.
func (c *clone) old() {
	c.t.Helper()
	past := time.Unix(1_600_000_000, 0)
	err := filepath.WalkDir(c.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Type() != 0 || strings.Contains(path, "/.git") {
			return err
		}
		return os.Chtimes(path, past, past)
	})
	if err != nil {
		c.t.Fatal(err)
	}
	c.git("update-index", "-q", "--refresh")
}

// TestWorktreeAsGitDoes holds the tree of the files on disk against the one that git would commit.
func TestWorktreeAsGitDoes(t *testing.T) {
	tests := []struct {
		name string
		edit func(c *clone)
		want string // the changes that are not committed
	}{
		{"nothing", func(*clone) {}, ""},
		{"a new listing", func(c *clone) { c.write(pathB, "b") }, "A " + pathB},
		{"an untracked file elsewhere", func(c *clone) { c.write("notes.txt", "n"); c.write("docs/new", "n") },
			"A docs/new\nA notes.txt"},
		{"an ignored file elsewhere", func(c *clone) {
			c.write(".git/info/exclude", "notes.txt\nnew\n")
			c.write("notes.txt", "n")
			c.write("docs/new", "n")
		}, ""},
		{"a tracked file elsewhere", func(c *clone) { c.write("docs/x", "changed") }, "M docs/x"},
		{"a file that was added", func(c *clone) { c.write("docs/new", "n"); c.git("add", "docs/new") }, "A docs/new"},
		{"a file that is to be added", func(c *clone) { c.write("docs/new", "n"); c.git("add", "-N", "docs/new") },
			"A docs/new"},
		{"an ignored file in a data folder", func(c *clone) {
			c.write(".git/info/exclude", "*.json\n")
			c.write(pathB, "b")
		}, "A " + pathB},
		{"deletions", func(c *clone) { c.remove(pathA); c.remove("docs") }, "D docs/x\nD " + pathA},
		{"staged, then deleted", func(c *clone) { c.git("rm", "-q", "--cached", "docs/x") }, ""},
		{"staged, then changed", func(c *clone) { c.write(pathA, "1"); c.git("add", "-A"); c.write(pathA, "2") }, "M " +
			pathA},
		{"executable", func(c *clone) {
			if err := os.Chmod(filepath.Join(c.dir, pathA), 0o755); err != nil {
				c.t.Fatal(err)
			}
		}, "M " + pathA},
		{"symbolic link", func(c *clone) { c.symlink("/etc/passwd", pathA) }, "T " + pathA},
		{"dangling link", func(c *clone) { c.symlink("nowhere", pathB) }, "A " + pathB},
		{"data folder is a link", func(c *clone) {
			c.write("elsewhere/b.json", "b")
			c.symlink("elsewhere", "implementations")
		}, "A elsewhere/b.json\nA implementations\nD " + pathA},
		{"folder of governance files is a link", func(c *clone) {
			c.write("elsewhere/x", "x")
			c.symlink("elsewhere", "docs")
		}, "A docs\nD docs/x\nA elsewhere/x"},
		{"data folder is a file", func(c *clone) { c.remove("implementations"); c.write("implementations", "f") },
			"A implementations\nD " + pathA},
		{"file becomes folder", func(c *clone) { c.remove(pathA); c.write(pathA+"/deep/x", "x") }, "D " + pathA +
			"\nA " + pathA + "/deep/x"},
		{"empty folders", func(c *clone) {
			if err := os.MkdirAll(filepath.Join(c.dir, "revocations/empty/folder"), 0o777); err != nil {
				c.t.Fatal(err)
			}
		}, ""},
		{"a clone inside", func(c *clone) {
			sub := filepath.Join(c.dir, "implementations", "sub")
			c.git("init", "-q", sub)
			c.at(sub).commit("x", "x")
		}, "A implementations/sub"},
		{"index version 4", func(c *clone) {
			c.git("update-index", "--index-version", "4")
			c.write(pathB, "b")
		}, "A " + pathB},
		{"index of many files", func(c *clone) {
			for i := range 300 {
				c.write(fmt.Sprintf("docs/%s/%d", strings.Repeat("long", i%7), i*i*i), "x")
			}
			c.git("add", "-A")
			c.git("commit", "-q", "-m", "m")
			c.git("update-index", "--index-version", "4")
			c.write("docs/long/1", "y")
		}, "M docs/long/1"},
		{"assume-unchanged", func(c *clone) {
			c.git("update-index", "--assume-unchanged", "docs/x")
			c.write("docs/x", "changed")
		}, ""},
		{"sparse checkout", func(c *clone) {
			c.git("sparse-checkout", "set", "--no-sparse-index", "schemas")
			c.write(pathB, "b")
			c.write("schemas/s.json", "changed")
		}, "A " + pathB + "\nM schemas/s.json"},
		{"sparse checkout with patterns", func(c *clone) {
			c.git("sparse-checkout", "set", "--no-cone", "/schemas/", "/implementations/")
			c.remove("schemas/s.json")
			c.write(pathB, "b")
		}, "A " + pathB + "\nD schemas/s.json"},
		{"sparse index", func(c *clone) {
			c.git("sparse-checkout", "set", "--cone", "--sparse-index", "schemas")
			c.write("schemas/s.json", "changed")
		}, "M schemas/s.json"},
		{"line ends as checked out", func(c *clone) {
			c.git("config", "core.autocrlf", "true")
			c.remove(pathA)
			c.remove("docs/x")
			c.git("checkout", "-q", "--", ".")
			c.old()
			c.write(pathB, "b")
		}, "A " + pathB},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newClone(t)
			c.commit(pathA, "{\n}\n", "docs/x", "x\ny\n", "schemas/s.json", "{}", "README.md", "r")
			tt.edit(c)
			want := c.worktreeTree()
			g, err := c.open().WorktreeRange(ctx, "HEAD")
			if err != nil {
				t.Fatal(err)
			}
			if got := g.Head.root.String(); got != want {
				t.Errorf("tree %s, want %s, in which git sees\n%s\nchanges:\n%s", got, want,
					c.git("diff-tree", "-r", "--no-renames", "--name-status", "HEAD", want), spellChanges(g.Changes))
			}
			if got := spellChanges(g.Changes); got != tt.want {
				t.Errorf("changes:\n%s\nwant\n%s", got, tt.want)
			}
			if len(g.Commits) != min(len(g.Changes), 1) {
				t.Errorf("commits %v", g.Commits)
			}
			if g.Head.Commit() != "" || g.Views[0].To != "" {
				t.Errorf("head is %q, view to %q", g.Head.Commit(), g.Views[0].To)
			}
		})
	}
}

// TestWorktreeRange holds files on disk, on top of a branch, against a base that moved on.
func TestWorktreeRange(t *testing.T) {
	c := newClone(t)
	fork := c.commit(pathA, `{"slug": "a"}`)
	c.commit(pathB, `{"slug": "b"}`)
	c.git("checkout", "-q", "-b", "pr", fork)
	own := c.commit(pathC, `{"slug": "c"}`)
	c.write(pathC, `{"slug": "cc"}`)
	c.write("revocations/x.json", `{"slug": "x"}`)
	r := c.open()
	g, err := r.WorktreeRange(ctx, "main")
	if err != nil {
		t.Fatal(err)
	}
	got := spellRange(g, map[string]string{fork: "fork", own: "own", "": "disk"})
	if want := `merge bases: fork
view fork..disk: [A implementations/c.json] [A revocations/x.json]
lands: [A implementations/c.json] [A revocations/x.json]
commit own: [A implementations/c.json]
commit disk: [M implementations/c.json] [A revocations/x.json]
`; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	checkResult(t, g)
	slugs, err := Scan(ctx, g.Result, KindListing, func(r *Record) string { return ParseListing(r).Slug })
	if err != nil || strings.Join(slugs, " ") != "a b cc" {
		t.Errorf("slugs %q, %v", slugs, err)
	}
	c.write(pathC, `{"slug": "late"}`)
	if _, err := g.Result.Record(ctx, pathC); err == nil {
		t.Error("a file that changed since is read")
	} else {
		wantError(t, err, errChanged)
	}
}

func TestWorktreeErrors(t *testing.T) {
	tests := []struct {
		name string
		make func(c *clone) string
		want string
	}{
		{"bare", func(c *clone) string {
			dir := filepath.Join(c.t.TempDir(), "bare")
			c.git("clone", "-q", "--bare", c.dir, dir)
			return dir
		}, "the clone is bare"},
		{"merge", func(c *clone) string {
			c.git("checkout", "-q", "-b", "side", "HEAD~1")
			c.commit("g", "g")
			c.git("merge", "-q", "--no-commit", "--no-ff", "main")
			return c.dir
		}, "a merge is not concluded"},
		{"conflict", func(c *clone) string {
			c.git("checkout", "-q", "-b", "side", "HEAD~1")
			c.commit(pathA, "side")
			if _, err := c.try("", "cherry-pick", "main"); err == nil {
				c.t.Fatal("no conflict")
			}
			return c.dir
		}, "a merge conflict stands there"},
		{"split index", func(c *clone) string {
			c.git("update-index", "--split-index")
			return c.dir
		}, "it is split"},
		{"control character in a name", func(c *clone) string {
			c.write("implementations/a\x1b.json", "x")
			return c.dir
		}, "malformed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newClone(t)
			c.commit(pathA, "1")
			c.commit(pathA, "2")
			_, err := open(t, tt.make(c)).WorktreeRange(ctx, "HEAD")
			e, ok := errors.AsType[remedy.Fixer](err)
			if !ok || !strings.Contains(err.Error(), tt.want) || e.Fix() == "" {
				t.Errorf("error %v, want %q and a remedy", err, tt.want)
			}
		})
	}
}

func FuzzIndex(f *testing.F) {
	c := newClone(f)
	c.commit(pathA, "1", pathB, "2", "docs/x", "3")
	for _, version := range []string{"2", "4"} {
		c.git("update-index", "--index-version", version)
		data, err := os.ReadFile(filepath.Join(c.dir, ".git/index"))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(zeroSum(data))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := parseIndex(zeroSum(data), 20)
		if err != nil {
			return
		}
		for i := 1; i < len(entries); i++ {
			if entries[i-1].path > entries[i].path {
				t.Errorf("%q before %q", entries[i-1].path, entries[i].path)
			}
		}
	})
}

// zeroSum is an index without checksum, as index.skipHash makes it.
func zeroSum(data []byte) []byte {
	if len(data) < 20 {
		return data
	}
	return append(data[:len(data)-20:len(data)-20], make([]byte, 20)...)
}
