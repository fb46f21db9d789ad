package usergit

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/gittest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// world gives the test a git of its own configuration, and a temporary directory for the trees.
func world(t *testing.T) (temp string) {
	t.Helper()
	temp = t.TempDir()
	for name, value := range map[string]string{"HOME": t.TempDir(), "XDG_CONFIG_HOME": "", "GIT_CONFIG_NOSYSTEM": "1",
		"GIT_CONFIG_GLOBAL": os.DevNull, "TMPDIR": temp} {
		t.Setenv(name, value)
	}
	return temp
}

func cloneOf(dir string) Clone {
	git := filepath.Join(dir, ".git")
	return Clone{Root: dir, GitDir: git, CommonDir: git}
}

// asGit returns the tree that git itself makes of a clone, in a copy of it.
func asGit(t *testing.T, c *gittest.Clone) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "copy")
	must.OK(t, os.CopyFS(dir, os.DirFS(c.Dir)))
	other := gittest.At(t, dir)
	other.Git("add", "-A")
	return other.Git("write-tree")
}

func TestWorktree(t *testing.T) {
	for name, edit := range map[string]func(c *gittest.Clone){
		"unchanged": func(*gittest.Clone) {},
		"files": func(c *gittest.Clone) {
			c.Write("a", "2")
			c.Write("new/b", "3")
			c.Write(".gitignore", "c\n")
			c.Write("c", "4")
		},
		"line ends": func(c *gittest.Clone) { c.Config("core.autocrlf", "true"); c.Write("b", "x\r\ny\r\n") },
		"a filter": func(c *gittest.Clone) {
			c.Write(".gitattributes", "b filter=up\n")
			c.Config("filter.up.clean", "tr a-z A-Z")
			c.Write("b", "text\n")
		},
		"a split index": func(c *gittest.Clone) { c.Git("update-index", "--split-index"); c.Write("a", "2") },
		"a setting for split indexes": func(c *gittest.Clone) {
			c.Config("core.splitIndex", "true")
			c.Write("a", "2")
		},
		"a hook and a monitor": func(c *gittest.Clone) {
			for _, name := range []string{"post-index-change", "monitor"} {
				c.Write(".git/hooks/"+name, "#!/bin/sh\n: >'"+c.Dir+"/.git/ran'\nexit 1\n")
				must.OK(c.T, os.Chmod(filepath.Join(c.Dir, ".git/hooks", name), 0o755))
			}
			c.Config("core.fsmonitor", c.Dir+"/.git/hooks/monitor")
			c.Write("a", "2")
		},
		"no index": func(c *gittest.Clone) {
			must.OK(c.T, os.Remove(filepath.Join(c.Dir, ".git", "index")))
		},
		"of the same size in the same moment": func(c *gittest.Clone) {
			c.Write("a", "2")
			c.Git("add", "-A")
			c.Write("a", "3")
		},
	} {
		t.Run(name, func(t *testing.T) {
			temp := world(t)
			c := gittest.New(t)
			c.Commit("a", "1")
			edit(c)
			before := content(t, c.Dir)
			tree := must.Get(cloneOf(c.Dir).Worktree(t.Context()))(t)
			staged, err := cloneOf(c.Dir).Index(t.Context())
			if content(t, c.Dir) != before {
				t.Error("the clone is not as it was")
			}
			if want := asGit(t, c); tree.ID != want {
				t.Errorf("tree %s, git makes %s", tree.ID, want)
			}
			if want := c.Git("write-tree"); err != nil || staged.ID != want {
				t.Errorf("tree of the index %v, %v; git makes %s", staged, err, want)
			}
			if err := errors.Join(tree.Remove(), staged.Remove()); err != nil {
				t.Error(err)
			}
			empty(t, temp)
		})
	}
}

// content returns the names and the bytes of the files in a directory.
func content(t *testing.T, dir string) string {
	t.Helper()
	var text strings.Builder
	must.OK(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			fmt.Fprintf(&text, "%s\n%q\n", path, must.Read(t, path))
		}
		return err
	}))
	return text.String()
}

func empty(t *testing.T, dir string) {
	t.Helper()
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// script puts a git of one's own into a directory, which is the first of PATH.
func script(t *testing.T, dir, text string) {
	t.Helper()
	must.OK(t, os.WriteFile(filepath.Join(dir, "git"), []byte("#!/bin/sh\n"+text), 0o755))
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
}

func TestRefusals(t *testing.T) {
	tests := []struct {
		name string
		edit func(t *testing.T, c *gittest.Clone)
		want string
	}{
		{"no git", func(t *testing.T, _ *gittest.Clone) { t.Setenv("PATH", t.TempDir()) }, "finding git"},
		{"a git in the clone, by a relative entry", func(t *testing.T, c *gittest.Clone) {
			t.Chdir(c.Dir)
			script(t, ".", "touch "+filepath.Join(c.Dir, "ran")+"\n")
		}, "finding git"},
		{"a git that is not git", func(t *testing.T, _ *gittest.Clone) {
			script(t, t.TempDir(), "echo hello\necho again\n")
		}, `printed "hello"`},
		{"a git that fails without a word", func(t *testing.T, _ *gittest.Clone) {
			script(t, t.TempDir(), "echo hello\nexit 3\n")
		}, `printed "hello": exit status 3`},
		{"a missing filter", func(t *testing.T, c *gittest.Clone) {
			c.Write(".gitattributes", "* filter=lfs\n")
			c.Config("filter.lfs.clean", "no-such-program")
			c.Config("filter.lfs.required", "true")
			c.Write("b", "b")
		}, "git add: exit status 128: "},
		{"a conflict", func(t *testing.T, c *gittest.Clone) {
			for i := range 12 {
				c.Write(fmt.Sprintf("f%02d", i), "main")
			}
			c.Commit()
			c.Git("checkout", "-q", "-b", "side", "HEAD~1")
			for i := range 12 {
				c.Write(fmt.Sprintf("f%02d", i), "side")
			}
			c.Commit()
			if _, err := c.Try("", "cherry-pick", "main"); err == nil {
				t.Fatal("no conflict")
			}
		}, `"f09" and 2 more`},
		{"a merge", func(t *testing.T, c *gittest.Clone) { c.Write(".git/MERGE_HEAD", c.Head()+"\n") },
			"a merge is not concluded"},
		{"another clone by GIT_DIR", func(t *testing.T, c *gittest.Clone) {
			other := gittest.New(t)
			t.Setenv("GIT_DIR", filepath.Join(other.Dir, ".git"))
		}, "GIT_DIR is set"},
		{"the settings of another clone by GIT_COMMON_DIR", func(t *testing.T, c *gittest.Clone) {
			other := gittest.New(t)
			t.Setenv("GIT_COMMON_DIR", filepath.Join(other.Dir, ".git"))
		}, "GIT_COMMON_DIR is set"},
		{"another work tree by GIT_WORK_TREE", func(t *testing.T, c *gittest.Clone) {
			t.Setenv("GIT_WORK_TREE", t.TempDir())
		}, "GIT_WORK_TREE is set"},
		{"another work tree by core.worktree", func(t *testing.T, c *gittest.Clone) {
			c.Config("core.worktree", t.TempDir())
		}, "core.worktree is set"},
		{"another work tree by core.worktree, in a hook", func(t *testing.T, c *gittest.Clone) {
			t.Setenv("GIT_DIR", filepath.Join(c.Dir, ".git"))
			c.Config("core.worktree", t.TempDir())
		}, "core.worktree is set"},
		{"a temporary directory in the work tree", func(t *testing.T, c *gittest.Clone) {
			c.Write("deep/x", "")
			t.Setenv("TMPDIR", filepath.Join(c.Dir, "deep"))
		}, "is in the work tree"},
		{"a temporary directory in the work tree, by a relative path", func(t *testing.T, c *gittest.Clone) {
			c.Write("deep/x", "")
			t.Chdir(filepath.Join(c.Dir, "deep"))
			t.Setenv("TMPDIR", ".")
		}, "is in the work tree"},
		{"a nested repository without a commit", func(t *testing.T, c *gittest.Clone) {
			c.Git("init", "-q", "inner")
		}, "inner"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			temp := world(t)
			c := gittest.New(t)
			c.Commit("a", "1")
			tt.edit(t, c)
			_, err := cloneOf(c.Dir).Worktree(t.Context())
			e, ok := errors.AsType[remedy.Fixer](err)
			if !ok || !strings.Contains(err.Error(), tt.want) || e.Fix() == "" {
				t.Errorf("error %v, want %q and a fix", err, tt.want)
			}
			if _, err := os.Stat(filepath.Join(c.Dir, "ran")); err == nil {
				t.Error("the clone's own git ran")
			}
			empty(t, temp)
		})
	}
}

func TestLineEndInPath(t *testing.T) {
	world(t)
	dir := filepath.Join(t.TempDir(), "a\nb")
	must.OK(t, os.Mkdir(dir, 0o755))
	c := gittest.At(t, dir)
	c.Git("init", "-q")
	if _, err := cloneOf(dir).Index(t.Context()); err == nil || !strings.Contains(err.Error(), "contains a line end") {
		t.Errorf("error %v", err)
	}
}

// TestEnds checks that a filter ends with the run, and that nothing of it is left.
func TestEnds(t *testing.T) {
	temp := world(t)
	c := gittest.New(t)
	c.Commit("a", "1")
	mark := filepath.Join(t.TempDir(), "pid")
	c.Write(".gitattributes", "b filter=slow\n")
	c.Config("filter.slow.clean", "echo $$ >"+mark+"; sleep 60; cat")
	c.Write("b", "b")
	ctx, cancel := context.WithCancelCause(t.Context())
	spent := errors.New("the budget is spent")
	go func() {
		for {
			if text, err := os.ReadFile(mark); err == nil && len(text) > 0 {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		cancel(spent)
	}()
	_, err := cloneOf(c.Dir).Worktree(ctx)
	if !errors.Is(err, spent) {
		t.Errorf("error %v, want %v", err, spent)
	}
	empty(t, temp)
	text, _ := os.ReadFile(mark)
	pid := strings.TrimSpace(string(text))
	for range 400 {
		stat, err := os.ReadFile("/proc/" + pid + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") { // ended, if nobody asked for its status yet
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("the filter %s runs", pid)
}

func TestIgnored(t *testing.T) {
	world(t)
	c := gittest.New(t)
	c.Commit(".gitignore", "# keys\n*.pem\n!ours.pem\n", "tracked.pem", "")
	c.Write("d/.gitignore", ":x\n")
	c.Write("d/:x", "")
	for file, want := range map[string]string{"a.pem": ".gitignore:2 *.pem", "ours.pem": "", "tracked.pem": "*.pem",
		"b":    "",
		"d/:x": "d/.gitignore:1 :x"} {
		if file == "tracked.pem" {
			c.Git("add", "-f", file)
			want = ""
		}
		got := must.Get(Ignored(t.Context(), c.Dir, file))(t)
		text := ""
		for _, p := range got {
			text = fmt.Sprintf("%s:%d %s", p.File, p.Line, p.Text)
			if p.Path != file {
				t.Errorf("path %q, want %q", p.Path, file)
			}
		}
		l, err := Locate(filepath.Join(c.Dir, file))
		if text != want || err != nil || l.Ignored != (want != "") || l.Path != file {
			t.Errorf("%s: %q, %+v, %v; want %q", file, text, l, err, want)
		}
	}
	c.Write("d/new", "")
	c.Git("init", "-q", "d/inner.pem") // a repository: git add -f would not add its files
	c.Write("d/was.pem", "")
	c.Git("add", "-f", "d/was.pem")
	c.Commit()
	c.Git("rm", "-q", "--cached", "d/was.pem") // HEAD has it, and the next commit has not
	got, err := IgnoredBelow(t.Context(), c.Dir, "d", "none")
	if want := []Pattern{{"d/:x", "d/.gitignore", 1, ":x"}, {"d/was.pem", ".gitignore", 2, "*.pem"}}; err != nil ||
		!slices.Equal(got, want) {
		t.Errorf("below d: %v, %v; want %v", got, err, want)
	}
	other := gittest.New(t)
	other.Write(".git/info/exclude", "b\n")
	for _, name := range []string{"GIT_DIR", "GIT_COMMON_DIR", "GIT_WORK_TREE"} {
		t.Setenv(name, filepath.Join(other.Dir, ".git"))
		if l, err := Locate(filepath.Join(c.Dir, "b")); err != nil || l.Ignored {
			t.Errorf("with %s of another clone: %+v, %v", name, l, err)
		}
		must.OK(t, os.Unsetenv(name))
	}
	t.Setenv("PATH", "")
	if l, err := Locate(filepath.Join(c.Dir, "a.pem")); err == nil || l.Ignored || l.Root == "" {
		t.Errorf("without git: %+v, %v", l, err)
	}
	if l, err := Locate(filepath.Join(c.Dir, ".git", "k")); err != nil || !l.InGit {
		t.Errorf("in the Git directory: %+v, %v", l, err)
	}
}
