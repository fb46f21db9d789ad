package registry

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
)

// TestMain keeps the configuration and the ignore patterns of whoever runs the tests out of them.
func TestMain(m *testing.M) {
	for name, value := range map[string]string{"HOME": "/nonexistent", "XDG_CONFIG_HOME": "",
		"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.DevNull} {
		if err := os.Setenv(name, value); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// untracked lists what would be added, as `git ls-files -o` has it.
func (c *clone) untracked() []string {
	c.T.Helper()
	r := c.open()
	h, err := r.resolve("HEAD")
	if err != nil {
		c.T.Fatal(err)
	}
	d, indexed, err := r.openDisk(h)
	if err != nil {
		c.T.Fatal(err)
	}
	found := candidates{seen: map[string]*indexEntry{}}
	if err := found.indexed(r, indexed); err != nil {
		c.T.Fatal(err)
	}
	known := len(found.list)
	if err := r.addUntracked(ctx, d, &found); err != nil {
		c.T.Fatal(err)
	}
	var paths []string
	for _, one := range found.list[known:] {
		paths = append(paths, one.path)
	}
	slices.Sort(paths)
	return paths
}

// lsFiles lists the same by git.
func (c *clone) lsFiles() []string {
	c.T.Helper()
	paths := strings.FieldsFunc(c.Git("ls-files", "-o", "-z", "--exclude-standard"),
		func(r rune) bool { return r == 0 })
	for i := range paths {
		paths[i] = strings.TrimSuffix(paths[i], "/") // a clone inside
	}
	slices.Sort(paths)
	return paths
}

// TestUntrackedAsGitDoes compares which untracked files count with git, one file of patterns at a time.
func TestUntrackedAsGitDoes(t *testing.T) {
	tests := []struct {
		name     string
		patterns map[string]string // by file
		paths    string
		want     string // where git's answer would not show that the case is what it says
	}{
		{"nothing", nil, "a b/c", "a b/c"},
		{"name", map[string]string{".gitignore": "a"}, "a b/a c/a/d ab", "ab"},
		{"not", map[string]string{".gitignore": "*\n![a-c]x\n"}, "ax dx", "ax"},
		{"[!a]", map[string]string{".gitignore": "[!a]x\n"}, "ax bx x", "ax x"},
		{"[^a]", map[string]string{".gitignore": "[^a]x\n"}, "ax bx", "ax"},
		{"classes", map[string]string{".gitignore": "x[[:digit:]]\ny[[:upper:]_]\nz[[:nope:]]\nv[![:alpha:]]\n"},
			"x1 xa yA ya y_ za vz v1", ""},
		{"odd brackets",
			map[string]string{".gitignore": "a[]]\nb[]-]\nc[\nd[a\ne[[:a]\nf[\\]]\n" +
				"g[b-a]\nh[a\\-c]\ni[!]\nj[]a]k\nl[a-]\n"},
			"a] b- b] c c[ d[a e: ea e[ f] ga h- hb ha i! i[!] j]k jak l- la", ""},
		{"bracket with a slash", map[string]string{".gitignore": "*\n!a[b/c]d\n"}, "abd acd", "abd acd"},
		{"two asterisks in a name", map[string]string{".gitignore": "d/a**b\n"}, "d/ab d/axb d/ax/b e/ab", ""},
		{"two asterisks after text", map[string]string{".gitignore": "d/a**/x\ne/a**\n/f**/g\n"},
			"d/ax d/ab/x d/ab/c/x d/a/x d/b/x e/a e/ab/c f/g fg fh/g", ""},
		{"two asterisks after a wildcard", map[string]string{".gitignore": "?/a**/x\n"},
			"d/ax d/ab/x d/ab/c/x d/a/x", ""},
		{"directories at the end", map[string]string{".gitignore": "x/**\n"}, "x/a x/b/c y/x/a", "y/x/a"},
		{"directories at the end, but one", map[string]string{".gitignore": "x/**\n!x/keep\n"}, "x/a x/keep", "x/keep"},
		{"directories below", map[string]string{".gitignore": "x/**/\n"}, "x/a x/b/c x/b/d/e", "x/a"},
		{"directories at the start", map[string]string{".gitignore": "**/x\n**/y/z\n"}, "x a/x a/b/x y/z b/y/z b/y/c/z",
			"b/y/c/z"},
		{"directories between", map[string]string{".gitignore": "a/**/b\n"}, "a/b a/x/b a/x/y/b a/x/c", "a/x/c"},
		{"directories twice", map[string]string{".gitignore": "a/**/b/**/c\n**/**/q\n"},
			"a/b/c a/x/b/y/c a/b/x/b/c a/c q w/q", "a/c"},
		{"three asterisks", map[string]string{".gitignore": "a/***/b\n***\n!*/\n!k*\n"}, "a/b a/x/b kx x", ""},
		{"many directories", map[string]string{".gitignore": "**/a/**/a/**/b\n"}, "a/a/b a/x/a/y/b a/b x/a/a/a/b",
			"a/b"},
		{"escaped slash", map[string]string{".gitignore": "a\\/b\nc/**\\/d\n"}, "a/b c/d c/x/d c/x/y/d", ""},
		{"escapes", map[string]string{".gitignore": "\\#a\n\\!b\nc\\*\nd\\\\e\nf\\g\nh\\\n"},
			"#a !b c* cx d\\e fg h", "cx h"},
		{"comment", map[string]string{".gitignore": "#a\n !b\n"}, "#a", "#a"},
		{"blanks", map[string]string{".gitignore": "a  \nb\\ \nc \\ \nd\t\ne \n  \n"}, "a|b |b|c  |c|d|d\t|e|  ", ""},
		{"CR LF", map[string]string{".gitignore": "a\r\nb/\r\n\r\nc \r\nd\r"}, "a b/x c d", ""},
		{"byte order mark", map[string]string{".gitignore": "\ufeffa\nb\n"}, "a b", ""},
		{"NUL", map[string]string{".gitignore": "a\x00b\nc\n"}, "a ab c", "ab"},
		{"bytes, not characters", map[string]string{".gitignore": "?\nx[é]\ny??\n"}, "é a xé x\xc3 yé", "xé é"},
		{"bytes that are no UTF-8", map[string]string{".gitignore": "a\xff\nb[\x80-\xff]\n"}, "a\xff b\xfe bz", "bz"},
		{"directory alone", map[string]string{".gitignore": "x/\n"}, "a/x x/b", "a/x"},
		{"below a directory that is ignored", map[string]string{".gitignore": "x/\n!x/a\n"}, "x/a", ""},
		{"directory brought back", map[string]string{".gitignore": "*\n!x/\n!x/a\n"}, "x/a x/b y", "x/a"},
		{"directory brought back, its files not", map[string]string{".gitignore": "x*\n!x/\n"}, "x/xa x/b", "x/b"},
		{"anchored", map[string]string{".gitignore": "/a\nb/c\n"}, "a x/a b/c x/b/c", "x/a x/b/c"},
		{"a part of the path", map[string]string{".gitignore": "*\n!/a\n!/a/b\n"}, "a/b/c", ""},
		{"nested", map[string]string{".gitignore": "*.o\n", "a/.gitignore": "!x.o\n/y\n"},
			"x.o a/x.o a/y a/b/y a/b/x.o", ""},
		{"nested, two deep", map[string]string{"a/.gitignore": "*.o\n", "a/b/.gitignore": "!*.o\n"}, "a/x.o a/b/x.o",
			""},
		{"nested below what is ignored", map[string]string{".gitignore": "a/\n", "a/.gitignore": "!*\n"}, "a/x", ""},
		{"it ignores itself", map[string]string{".gitignore": "*"}, "x", ""},
		{"exclude", map[string]string{".git/info/exclude": "*.o\n!k.o\n", ".gitignore": "!x.o\nk.o\n"},
			"x.o y.o k.o", ".gitignore x.o"},
		{"slashes", map[string]string{".gitignore": "a//b\n//c\n/\n!\n!/\n./d\n../e\n"}, "a/b c d e", ""},
		{"names that are wildcards", map[string]string{".gitignore": "[*]\n"}, "* a [*]", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newClone(t)
			c.Commit("README.md", "r")
			separator := " "
			if strings.Contains(tt.paths, "|") {
				separator = "|"
			}
			for _, path := range strings.Split(tt.paths, separator) {
				c.Write(path, "x")
			}
			for file, text := range tt.patterns {
				c.Write(file, text)
			}
			for _, fold := range []string{"false", "true"} {
				c.Config("core.ignoreCase", fold)
				got, want := c.untracked(), c.lsFiles()
				if !slices.Equal(got, want) {
					t.Errorf("ignoreCase %s: %q count, git says %q", fold, got, want)
				}
				if own := slices.DeleteFunc(got, func(p string) bool {
					return strings.HasSuffix(p, ".gitignore") && !strings.Contains(tt.want, ".gitignore")
				}); tt.want != "" && strings.Join(own, separator) != tt.want {
					t.Errorf("ignoreCase %s: %q count, want %q", fold, own, tt.want)
				}
			}
		})
	}
}

// TestUntrackedFiles compares with git what on disk is not a plain file, and where patterns come from.
func TestUntrackedFiles(t *testing.T) {
	tests := []struct {
		name string
		edit func(c *clone)
		want string
	}{
		{"tracked files are not ignored", func(c *clone) {
			c.Commit("x/a", "a")
			c.Write(".gitignore", "*\n")
			c.Write("x/a", "b")
			c.Write("x/b", "b")
		}, ""},
		{"a link to a directory is a file", func(c *clone) {
			c.Write(".git/info/exclude", "x/\ny\n")
			c.symlink("..", "x")
			c.symlink("..", "y")
		}, "x"},
		{"patterns behind a link", func(c *clone) {
			c.Write(".git/patterns", "a\n")
			c.symlink(".git/patterns", ".gitignore")
			c.Write("a", "a")
		}, ".gitignore a"},
		{"patterns are a directory", func(c *clone) {
			c.Write(".gitignore/a", "a")
			c.Write("a", "a")
		}, ".gitignore/a a"},
		{"exclude behind a link", func(c *clone) {
			c.Write("elsewhere", "a\nelsewhere\n")
			c.symlink("../../elsewhere", ".git/info/exclude")
			c.Write("a", "a")
		}, ""},
		{"core.excludesFile", func(c *clone) {
			c.Write(".git/mine", "*.o\n!k.o\n")
			c.Config("core.excludesFile", filepath.Join(c.Dir, ".git/mine"))
			c.Write(".git/info/exclude", "k.o\n!y.o\n")
			c.Write("x.o", "x")
			c.Write("y.o", "y")
			c.Write("k.o", "k")
		}, "y.o"},
		{"core.excludesFile, relative", func(c *clone) {
			c.Write(".git/mine", "*.o\n")
			c.Config("core.excludesFile", ".git/mine")
			c.Write("x.o", "x")
		}, ""},
		{"a clone inside", func(c *clone) {
			sub := filepath.Join(c.Dir, "sub")
			c.Git("init", "-q", sub)
			c.at(sub).Commit("x", "x")
		}, "sub"},
		{"a clone inside that is ignored", func(c *clone) {
			sub := filepath.Join(c.Dir, "sub")
			c.Git("init", "-q", sub)
			c.at(sub).Commit("x", "x")
			c.Write(".git/info/exclude", "sub/\n")
		}, ""},
		{"a submodule that is not checked out", func(c *clone) {
			c.Git("update-index", "--add", "--cacheinfo", "160000,"+c.Git("rev-parse", "HEAD")+",sub")
			c.Write("sub/x", "x")
		}, ""},
		{"patterns that a sparse checkout leaves out", func(c *clone) {
			c.Commit("docs/.gitignore", "*.o\n", "docs/x", "x")
			c.Git("sparse-checkout", "set", "--no-cone", "/README.md")
			c.Write("docs/y.o", "y")
		}, ""},
		{"a linked work tree", func(c *clone) {
			c.Write(".git/info/exclude", "*.o\n")
			dir := filepath.Join(c.T.TempDir(), "linked")
			c.Git("worktree", "add", "-q", "--detach", dir)
			c.Dir = dir
			c.Write("x.o", "x")
			c.Write("y", "y")
		}, "y"},
		{"a directory that becomes a file", func(c *clone) {
			c.Commit("x/a", "a")
			c.remove("x")
			c.Write("x", "x")
		}, "x"},
		{"a file that becomes a directory", func(c *clone) { c.remove("README.md"); c.Write("README.md/x", "x") },
			"README.md/x"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newClone(t)
			c.Commit("README.md", "r")
			tt.edit(c)
			got, want := c.untracked(), c.lsFiles()
			if !slices.Equal(got, want) || strings.Join(got, " ") != tt.want {
				t.Errorf("%q count, git says %q, want %q", got, want, tt.want)
			}
		})
	}
}

// TestUntrackedAtRandom compares the same for patterns and paths that nobody thought of.
func TestUntrackedAtRandom(t *testing.T) {
	c := newClone(t)
	c.Commit("README.md", "r")
	random := rand.New(rand.NewPCG(9, 3))
	pick := func(from ...string) string { return from[random.IntN(len(from))] }
	several := func(most int, from ...string) string {
		var b strings.Builder
		for range 1 + random.IntN(most) {
			b.WriteString(pick(from...))
		}
		return b.String()
	}
	for range 60 {
		file := filepath.Join(c.Dir, several(4, "a/", "b/", "ab/", "A/", "é/", "x-/"), several(3, "a", "b", "A", "]",
			"-", "é", "*"))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err == nil { // else a file stands there
			_ = os.WriteFile(file, nil, 0o666)
		}
	}
	for i := range 150 {
		for _, file := range []string{".gitignore", "a/.gitignore", "a/b/.gitignore", ".git/info/exclude"} {
			var text strings.Builder
			for range random.IntN(5) {
				text.WriteString(pick("", "", "!", "\\") + several(6, "a", "b", "A", "/", "/", "*", "**", "**/",
					"/**", "?", "é", "\xc3",
					"[ab]", "[!a]", "[^b-]", "[]-a]", "[a-", "]", "[[:alpha:]]", "[/a]", "\\", "\\*", "\\a", "-", " ") +
					pick("", "", "/", " ", "/**", "\r") + "\n")
			}
			c.Write(file, text.String())
		}
		fold := fmt.Sprint(i%4 == 0)
		c.Config("core.ignoreCase", fold)
		if got, want := c.untracked(), c.lsFiles(); !slices.Equal(got, want) {
			var all []string
			for _, file := range []string{".gitignore", "a/.gitignore", "a/b/.gitignore", ".git/info/exclude"} {
				text, _ := os.ReadFile(filepath.Join(c.Dir, file))
				all = append(all, fmt.Sprintf("%s: %q", file, text))
			}
			t.Fatalf("ignoreCase %s\n%s\n%q count\n%q git", fold, strings.Join(all, "\n"), minus(got, want),
				minus(want, got))
		}
	}
}

func minus(a, b []string) []string {
	return slices.DeleteFunc(slices.Clone(a), func(s string) bool { return slices.Contains(b, s) })
}

// TestUntrackedCaps checks that a clone cannot make the search go on for ever, nor lead it out.
func TestUntrackedCaps(t *testing.T) {
	tests := []struct {
		name string
		edit func(c *clone)
		want string // the error
	}{
		{"a .gitignore over its cap", func(c *clone) {
			c.Write(".gitignore", strings.Repeat("aaaaaaaaaaaaaaa\n", 1<<16+1))
		},
			"more than 1048576 bytes in all .gitignore files"},
		{"all of them over it", func(c *clone) {
			for i := range 3 {
				c.Write(fmt.Sprintf("d%d/.gitignore", i), strings.Repeat("aaaaaaaaaaaaaaa\n", 1<<15))
			}
		}, "more than 1048576 bytes in all .gitignore files"},
		{"info/exclude over its cap", func(c *clone) {
			c.Write(".git/info/exclude", strings.Repeat("a\n", 1<<19+1))
		}, "is larger than 1048576 bytes"},
		{"many patterns, many files", func(c *clone) {
			c.Write(".gitignore", strings.Repeat(strings.Repeat("b", 255)+"\n", 1<<12))
			for i := range 50 {
				c.Write(strings.Repeat("f", 200)+fmt.Sprint(i), "")
			}
		}, "too many untracked files for so many ignore patterns"},
		{"directories in one another", func(c *clone) { c.Write(strings.Repeat("d/", maxDepth+2)+"x", "x") },
			"directories in one another"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newClone(t)
			c.Commit("README.md", "r")
			tt.edit(c)
			_, err := c.open().WorktreeRange(ctx, "HEAD")
			e, ok := errors.AsType[remedy.Fixer](err)
			if !ok || !strings.Contains(err.Error(), tt.want) || e.Fix() == "" {
				t.Errorf("error %v, want %q and a remedy", err, tt.want)
			}
		})
	}
}

// byUser is the output of git with the test's own environment, in one line.
func (c *clone) byUser(args ...string) string {
	c.T.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = c.Dir
	out, err := cmd.Output()
	if err != nil {
		c.T.Fatal(err)
	}
	return strings.Join(strings.Fields(string(out)), " ")
}

// TestUserIgnores compares with git which of the user's own files are read.
func TestUserIgnores(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string // below the home
		env   map[string]string // $HOME is the home
		want  string
	}{
		{"none", nil, nil, "a b"},
		{"the default", map[string]string{".config/git/ignore": "a\n"}, nil, "b"},
		{"XDG_CONFIG_HOME", map[string]string{".config/git/ignore": "a\n", "xdg/git/ignore": "b\n"},
			map[string]string{"XDG_CONFIG_HOME": "$HOME/xdg"}, "a"},
		{"~", map[string]string{".gitconfig": "[core]\nexcludesFile = ~/mine\n", "mine": "a\n",
			".config/git/ignore": "b\n"}, nil, "b"},
		{"the last one", map[string]string{".gitconfig": "[core]\nexcludesFile = ~/mine\nexcludesFile = ~/other\n",
			"mine":  "a\n",
			"other": "b\n"}, nil, "a"},
		{"of XDG, then of the home", map[string]string{".config/git/config": "[core]\nexcludesFile = ~/mine\n",
			".gitconfig": "[core]\nexcludesFile = ~/other\n", "mine": "a\n", "other": "b\n"}, nil, "a"},
		{"set to nothing", map[string]string{".gitconfig": "[core]\nexcludesFile =\n", ".config/git/ignore": "b\n"},
			nil, "a b"},
		{"included", map[string]string{".gitconfig": "[include]\npath = more\n",
			"more": "[core]\nexcludesFile = ~/mine\n", "mine": "a\n"}, nil, "b"},
		{"included, then set",
			map[string]string{".gitconfig": "[include]\npath = ~/more\n[core]\nexcludesFile = ~/other\n",
				"more": "[core]\nexcludesFile = ~/mine\n", "mine": "a\n", "other": "b\n"}, nil, "a"},
		{"on a condition, not met", map[string]string{".gitconfig": "[includeIf \"gitdir:/nowhere/\"]\npath = more\n",
			"more": "[core]\nexcludesFile = ~/mine\n", "mine": "a\n"}, nil, "a b"},
		{"GIT_CONFIG_GLOBAL", map[string]string{".gitconfig": "[core]\nexcludesFile = ~/mine\n", "mine": "a\n",
			"global": "[core]\nexcludesFile = ~/other\n",
			"other":  "b\n"}, map[string]string{"GIT_CONFIG_GLOBAL": "$HOME/global"}, "a"},
		{"GIT_CONFIG_SYSTEM", map[string]string{"system": "[core]\nexcludesFile = ~/mine\n", "mine": "a\n"},
			map[string]string{"GIT_CONFIG_SYSTEM": "$HOME/system", "GIT_CONFIG_NOSYSTEM": ""}, "b"},
		{"no system", map[string]string{"system": "[core]\nexcludesFile = ~/mine\n", "mine": "a\n"},
			map[string]string{"GIT_CONFIG_SYSTEM": "$HOME/system", "GIT_CONFIG_NOSYSTEM": "1"}, "a b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			home := t.TempDir()
			t.Setenv("HOME", home)
			t.Setenv("GIT_CONFIG_GLOBAL", "")
			os.Unsetenv("GIT_CONFIG_GLOBAL")
			for name, value := range tt.env {
				t.Setenv(name, strings.ReplaceAll(value, "$HOME", home))
			}
			c := newClone(t)
			c.Commit("README.md", "r")
			at := c.at(home)
			for name, text := range tt.files {
				at.Write(name, text)
			}
			c.Write("a", "a")
			c.Write("b", "b")
			if got, want := strings.Join(c.untracked(), " "), c.byUser("ls-files", "-o",
				"--exclude-standard"); got != want || got != tt.want {
				t.Errorf("%q count, git says %q, want %q", got, want, tt.want)
			}
		})
	}
}

// TestUserIgnoresOnCondition checks the conditions of includeIf, and keys of the environment, against git.
func TestUserIgnoresOnCondition(t *testing.T) {
	const counts, hidden = "a", ""
	for _, tt := range []struct{ condition, want string }{
		{"gitdir:/", hidden}, {"gitdir:/nowhere/", counts}, {"gitdir:nowhere", counts}, {"gitdir:REPO/", hidden},
		{"gitdir:REPO/.git", hidden}, {"gitdir:REPO", counts}, {"gitdir:.git", hidden}, {"gitdir:~/", counts},
		{"gitdir:./", counts}, {"gitdir:/tmp/**/.GIT", counts}, {"gitdir/i:**/.GIT", hidden},
		{"onbranch:main", hidden}, {"onbranch:m*", hidden}, {"onbranch:other", counts}, {"onbranch:main/", counts},
		{"hasconfig:remote.*.url:https://registry.example/**", hidden},
		{"hasconfig:remote.*.url:https://other.example/**", counts}, {"unknown:x", counts}, {"", counts},
	} {
		t.Run(tt.condition, func(t *testing.T) {
			home := t.TempDir()
			t.Setenv("HOME", home)
			t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(home, "global"))
			c := newClone(t)
			c.Commit("README.md", "r")
			c.Git("remote", "add", "origin", "https://registry.example/r")
			at := c.at(home)
			at.Write("more", "[core]\nexcludesFile = ~/mine\n")
			at.Write("mine", "a\n")
			at.Write("global", "[includeIf \""+strings.ReplaceAll(tt.condition, "REPO", c.Dir)+"\"]\npath = more\n")
			c.Write("a", "a")
			got, git := strings.Join(c.untracked(), " "), c.byUser("ls-files", "-o", "--exclude-standard")
			if got != git || got != tt.want {
				t.Errorf("%q count, git says %q, want %q", got, git, tt.want)
			}
		})
	}
	t.Run("GIT_CONFIG_COUNT", func(t *testing.T) {
		home := t.TempDir()
		c := newClone(t)
		c.Commit("README.md", "r")
		c.at(home).Write("mine", "a\n")
		c.Write("a", "a")
		t.Setenv("GIT_CONFIG_COUNT", "1")
		t.Setenv("GIT_CONFIG_KEY_0", "Core.excludesFile")
		t.Setenv("GIT_CONFIG_VALUE_0", filepath.Join(home, "mine"))
		if got, git := strings.Join(c.untracked(), " "), c.byUser("ls-files", "-o", "--exclude-standard"); got != "" ||
			git != "" {
			t.Errorf("%q count, git says %q, want none", got, git)
		}
		t.Setenv("GIT_CONFIG_COUNT", "2")
		if _, err := c.open().WorktreeRange(ctx, "HEAD"); err == nil {
			t.Error("a key that is not there is no error")
		}
	})
	t.Run("configurations that include one another", func(t *testing.T) {
		home := t.TempDir()
		t.Setenv("HOME", home)
		t.Setenv("GIT_CONFIG_GLOBAL", filepath.Join(home, "global"))
		c := newClone(t)
		c.Commit("README.md", "r")
		c.at(home).Write("global", "[include]\npath = global\n")
		_, err := c.open().WorktreeRange(ctx, "HEAD")
		if err == nil || !strings.Contains(err.Error(), "more than 10 deep") {
			t.Errorf("error %v", err)
		}
	})
}
