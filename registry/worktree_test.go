package registry

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
)

// worktreeTree is the tree that git would commit, made in a copy of the index by the user's git.
func (c *clone) worktreeTree() string {
	c.T.Helper()
	index := filepath.Join(c.Dir, ".git", "index")
	own := filepath.Join(c.T.TempDir(), "index")
	if text, err := os.ReadFile(index); err == nil {
		if err := os.WriteFile(own, text, 0o644); err != nil {
			c.T.Fatal(err)
		}
		info, err := os.Stat(index)
		if err != nil {
			c.T.Fatal(err)
		}
		if err := os.Chtimes(own, info.ModTime(), info.ModTime()); err != nil { // by which git knows what is racy
			c.T.Fatal(err)
		}
	}
	git := func(args ...string) (string, error) {
		cmd := exec.Command("git", args...)
		cmd.Dir = c.Dir
		cmd.Env = append(os.Environ(), "GIT_INDEX_FILE="+own)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			err = fmt.Errorf("git %q: %w\n%s", args, err, &stderr)
		}
		return strings.TrimSpace(string(out)), err
	}
	// With files outside of a sparse checkout the status is 1, and the rest is added.
	_, err := git("-c", "advice.addEmbeddedRepo=false", "add", "-A")
	if e, ok := errors.AsType[*exec.ExitError](err); err != nil && (!ok || e.ExitCode() != 1) {
		c.T.Fatal(err)
	}
	tree, err := git("write-tree")
	if err != nil {
		c.T.Fatal(err)
	}
	return tree
}

func (c *clone) remove(path string) {
	c.T.Helper()
	if err := os.RemoveAll(filepath.Join(c.Dir, path)); err != nil {
		c.T.Fatal(err)
	}
}

func (c *clone) symlink(target, path string) {
	c.T.Helper()
	c.remove(path)
	if err := os.MkdirAll(filepath.Dir(filepath.Join(c.Dir, path)), 0o777); err != nil {
		c.T.Fatal(err)
	}
	if err := os.Symlink(target, filepath.Join(c.Dir, path)); err != nil {
		c.T.Fatal(err)
	}
}

// old makes every file older than the index, so that Git sees by its time whether it is as it was.
func (c *clone) old() {
	c.T.Helper()
	past := time.Unix(1_600_000_000, 0)
	err := filepath.WalkDir(c.Dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Type() != 0 || strings.Contains(path, "/.git") {
			return err
		}
		return os.Chtimes(path, past, past)
	})
	if err != nil {
		c.T.Fatal(err)
	}
	c.Git("update-index", "-q", "--refresh")
}

// TestWorktreeAsGitDoes compares the tree of the files on disk with the one that git would commit.
func TestWorktreeAsGitDoes(t *testing.T) {
	tests := []struct {
		name string
		edit func(c *clone)
		want string // the changes that are not committed
	}{
		{"nothing", func(*clone) {}, ""},
		{"a new listing", func(c *clone) { c.Write(pathB, "b") }, "A " + pathB},
		{"an untracked file elsewhere", func(c *clone) { c.Write("notes.txt", "n"); c.Write("docs/new", "n") },
			"A docs/new\nA notes.txt"},
		{"an ignored file elsewhere", func(c *clone) {
			c.Write(".git/info/exclude", "notes.txt\nnew\n")
			c.Write("notes.txt", "n")
			c.Write("docs/new", "n")
		}, ""},
		{"a tracked file elsewhere", func(c *clone) { c.Write("docs/x", "changed") }, "M docs/x"},
		{"a file that was added", func(c *clone) { c.Write("docs/new", "n"); c.Git("add", "docs/new") }, "A docs/new"},
		{"a file that is to be added", func(c *clone) { c.Write("docs/new", "n"); c.Git("add", "-N", "docs/new") },
			"A docs/new"},
		{"an ignored file in a data directory", func(c *clone) {
			c.Write(".git/info/exclude", "*.json\n")
			c.Write(pathB, "b")
			c.Write(pathA, "a")
		}, "M " + pathA},
		{"deletions", func(c *clone) { c.remove(pathA); c.remove("docs") }, "D docs/x\nD " + pathA},
		{"staged, then deleted", func(c *clone) { c.Git("rm", "-q", "--cached", "docs/x") }, ""},
		{"staged, then changed", func(c *clone) { c.Write(pathA, "1"); c.Git("add", "-A"); c.Write(pathA, "2") }, "M " +
			pathA},
		{"executable", func(c *clone) {
			if err := os.Chmod(filepath.Join(c.Dir, pathA), 0o755); err != nil {
				c.T.Fatal(err)
			}
		}, "M " + pathA},
		{"symbolic link", func(c *clone) { c.symlink("/etc/passwd", pathA) }, "T " + pathA},
		{"dangling link", func(c *clone) { c.symlink("nowhere", pathB) }, "A " + pathB},
		{"data directory is a link", func(c *clone) {
			c.Write("elsewhere/b.json", "b")
			c.symlink("elsewhere", "implementations")
		}, "A elsewhere/b.json\nA implementations\nD " + pathA},
		{"directory of governance files is a link", func(c *clone) {
			c.Write("elsewhere/x", "x")
			c.symlink("elsewhere", "docs")
		}, "A docs\nD docs/x\nA elsewhere/x"},
		{"data directory is a file", func(c *clone) { c.remove("implementations"); c.Write("implementations", "f") },
			"A implementations\nD " + pathA},
		{"file becomes directory", func(c *clone) { c.remove(pathA); c.Write(pathA+"/deep/x", "x") }, "D " + pathA +
			"\nA " + pathA + "/deep/x"},
		{"empty directories", func(c *clone) {
			if err := os.MkdirAll(filepath.Join(c.Dir, "revocations/empty/folder"), 0o777); err != nil {
				c.T.Fatal(err)
			}
		}, ""},
		{"a clone inside", func(c *clone) {
			sub := filepath.Join(c.Dir, "implementations", "sub")
			c.Git("init", "-q", sub)
			c.at(sub).Commit("x", "x")
		}, "A implementations/sub"},
		{"a .git that is no repository", func(c *clone) {
			c.Write("one/.git/x", "x")
			c.Write("one/a", "a")
			c.Write("two/.git", "gitdir: nowhere\n")
			c.Write("two/a", "a")
			c.Write("implementations/.git", "x")
			c.Write(pathB, "b")
		}, "A " + pathB + "\nA one/a\nA two/a"},
		{"a clone over tracked files", func(c *clone) {
			sub := filepath.Join(c.Dir, "implementations")
			c.Git("init", "-q", sub)
			c.at(sub).Commit("b.json", "b")
			c.Write(pathA, "a")
		}, "M " + pathA + "\nA " + pathB},
		{"index version 4", func(c *clone) {
			c.Git("update-index", "--index-version", "4")
			c.Write(pathB, "b")
		}, "A " + pathB},
		{"index of many files", func(c *clone) {
			for i := range 300 {
				c.Write(fmt.Sprintf("docs/%s/%d", strings.Repeat("long", i%7), i*i*i), "x")
			}
			c.Git("add", "-A")
			c.Git("commit", "-q", "-m", "m")
			c.Git("update-index", "--index-version", "4")
			c.Write("docs/long/1", "y")
		}, "M docs/long/1"},
		{"assume-unchanged", func(c *clone) {
			c.Git("update-index", "--assume-unchanged", "docs/x")
			c.Write("docs/x", "changed")
		}, ""},
		{"sparse checkout", func(c *clone) {
			c.Git("sparse-checkout", "set", "--no-sparse-index", "schemas")
			c.Write(pathB, "b")
			c.Write(pathA, "a")
			c.Write("schemas/s.json", "changed")
			c.Write("schemas/new.json", "new")
			c.Write("new", "at the root")
		}, "A new\nA schemas/new.json\nM schemas/s.json"},
		{"sparse checkout with patterns", func(c *clone) {
			c.Git("sparse-checkout", "set", "--no-cone", "/schemas/", "/implementations/")
			c.remove("schemas/s.json")
			c.Write(pathB, "b")
		}, "A " + pathB + "\nD schemas/s.json"},
		{"sparse index", func(c *clone) {
			c.Git("sparse-checkout", "set", "--cone", "--sparse-index", "schemas")
			c.Write("schemas/s.json", "changed")
		}, "M schemas/s.json"},
		{"line ends as checked out", func(c *clone) {
			c.Config("core.autocrlf", "true")
			c.remove(pathA)
			c.remove("docs/x")
			c.Git("checkout", "-q", "--", ".")
			c.old()
			c.Write(pathB, "b")
		}, "A " + pathB},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newClone(t)
			c.Commit(pathA, "{\n}\n", "docs/x", "x\ny\n", "schemas/s.json", "{}", "README.md", "r")
			tt.edit(c)
			want := c.worktreeTree()
			repo := c.open()
			g, err := repo.WorktreeRange(ctx, "HEAD")
			if err != nil {
				t.Fatal(err)
			}
			c.readable(repo, g)
			if got := g.Head.root.String(); got != want {
				t.Errorf("tree %s, want %s, in which git sees\n%s\nchanges:\n%s", got, want,
					c.Git("diff-tree", "-r", "--no-renames", "--name-status", "HEAD", want), spellChanges(g.Changes))
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

// TestWorktreeRange compares files on disk, on top of a branch, with a base that moved on.
func TestWorktreeRange(t *testing.T) {
	c := newClone(t)
	fork := c.Commit(pathA, `{"slug": "a"}`)
	c.Commit(pathB, `{"slug": "b"}`)
	c.Git("checkout", "-q", "-b", "pr", fork)
	own := c.Commit(pathC, `{"slug": "c"}`)
	c.Write(pathC, `{"slug": "cc"}`)
	c.Write("revocations/x.json", `{"slug": "x"}`)
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
	slugs, err := collect(Scan(ctx, g.Result, KindListing, func(r *Record) string { return ParseListing(r).Slug }))
	if err != nil || strings.Join(slugs, " ") != "a b cc" {
		t.Errorf("slugs %q, %v", slugs, err)
	}
	c.Write(pathC, `{"slug": "late"}`)
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
			dir := filepath.Join(c.T.TempDir(), "bare")
			c.Git("clone", "-q", "--bare", c.Dir, dir)
			return dir
		}, "the clone is bare"},
		{"merge", func(c *clone) string {
			c.Git("checkout", "-q", "-b", "side", "HEAD~1")
			c.Commit("g", "g")
			c.Git("merge", "-q", "--no-commit", "--no-ff", "main")
			return c.Dir
		}, "a merge is not concluded"},
		{"conflict", func(c *clone) string {
			c.Git("checkout", "-q", "-b", "side", "HEAD~1")
			c.Commit(pathA, "side")
			if _, err := c.Try("", "cherry-pick", "main"); err == nil {
				c.T.Fatal("no conflict")
			}
			return c.Dir
		}, "it has a merge conflict"},
		{"split index", func(c *clone) string {
			c.Git("update-index", "--split-index")
			return c.Dir
		}, "it is split"},
		{"split index with changes", func(c *clone) string { // which stand in it without their paths
			c.Commit(pathB, "1")
			c.Git("update-index", "--split-index")
			c.Write(pathA, "3")
			c.Write(pathB, "3")
			c.Git("add", "-A")
			return c.Dir
		}, "it is split"},
		{"attributes without end", func(c *clone) string {
			c.Write(".gitattributes", strings.Repeat("* text\n", 1<<18))
			return c.Dir
		}, "more than 1048576 bytes in all .gitattributes files"},
		{"a setting that is neither true nor false", func(c *clone) string {
			c.Config("core.autocrlf", "perhaps")
			return c.Dir
		}, `core.autocrlf is "perhaps"`},
		{"control character in a name", func(c *clone) string {
			c.Write("implementations/a\x1b.json", "x")
			return c.Dir
		}, "malformed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newClone(t)
			c.Commit(pathA, "1")
			c.Commit(pathA, "2")
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
	c.Commit(pathA, "1", pathB, "2", "docs/x", "3")
	for _, version := range []string{"2", "4"} {
		c.Git("update-index", "--index-version", version)
		data, err := os.ReadFile(filepath.Join(c.Dir, ".git/index"))
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
