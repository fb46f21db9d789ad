package registry

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
)

// sameTree checks the tree of the work tree against the one that git makes.
func (c *clone) sameTree() *Range {
	c.T.Helper()
	want := c.worktreeTree()
	repo := c.open()
	g, err := repo.WorktreeRange(ctx, "HEAD")
	if err != nil {
		c.T.Fatal(err)
	}
	if got := g.Head.root.String(); got != want {
		c.T.Errorf("tree %s, want %s, in which git sees\n%s\nchanges:\n%s", got, want,
			c.Git("diff-tree", "-r", "--no-renames", "HEAD", want), spellChanges(g.Changes))
	}
	c.readable(repo, g)
	return g
}

// readable checks that the content of each file that changes can be read: of regular files and of links.
func (c *clone) readable(repo *Repository, g *Range) {
	c.T.Helper()
	for _, change := range g.Changes {
		if change.Head == nil || change.Head.Mode == ModeSubmodule {
			continue
		}
		text, err := repo.Blob(*change.Head, 1<<20)
		if err != nil || hashObject(gitstore.Blob, text, change.Head.ID) != change.Head.ID {
			c.T.Errorf("%s has the content %q: %v", change.Path, text, err)
		}
	}
}

// chmod sets the executable bit of a file.
func (c *clone) chmod(path string, mode os.FileMode) {
	c.T.Helper()
	if err := os.Chmod(filepath.Join(c.Dir, path), mode); err != nil {
		c.T.Fatal(err)
	}
}

// TestWorktreeConverts checks what happens to modes, links, line ends and $Id$ against git.
func TestWorktreeConverts(t *testing.T) {
	const crlf = "{\r\n}\r\n"
	tests := []struct {
		name string
		edit func(c *clone)
		want string // the changes that are not committed
	}{
		{"autocrlf, a new file", func(c *clone) {
			c.Config("core.autocrlf", "true")
			c.Write(pathB, crlf)
		}, "A " + pathB},
		{"autocrlf=input, a file that differs in CR alone", func(c *clone) {
			c.Config("core.autocrlf", "input")
			c.Write(pathA, crlf)
		}, ""},
		{"no autocrlf, a file that differs in CR alone", func(c *clone) { c.Write(pathA, crlf) }, "M " + pathA},
		{"autocrlf, CR LF in the index", func(c *clone) {
			c.Config("core.autocrlf", "true")
			c.Write("docs/crlf", "x\r\nz\r\n")
		}, "M docs/crlf"},
		{"text, CR LF in the index", func(c *clone) {
			c.Write(".gitattributes", "* text\n")
			c.Write("docs/crlf", "x\r\nz\r\n")
		}, "A .gitattributes\nM docs/crlf"},
		{"text, CR LF in the index, as it was checked out", func(c *clone) {
			c.old()
			c.Write(".gitattributes", "* text\n")
		}, "A .gitattributes"},
		{"eol=crlf", func(c *clone) {
			c.Write(".gitattributes", "*.json eol=crlf\n")
			c.Write(pathA, crlf)
		}, "A .gitattributes"},
		{"-text over autocrlf", func(c *clone) {
			c.Config("core.autocrlf", "true")
			c.Write(".gitattributes", "*.json -text eol=lf\n")
			c.Write(pathA, crlf)
		}, "A .gitattributes\nM " + pathA},
		{"binary", func(c *clone) {
			c.Write(".gitattributes", "* text=auto\n*.json binary\n")
			c.Write(pathA, crlf)
			c.Write("docs/x", "x\r\ny\r\n")
		}, "A .gitattributes\nM " + pathA},
		{"a macro", func(c *clone) {
			c.Write(".gitattributes", "[attr]lined text=auto\n*.json lined\n")
			c.Write(pathA, crlf)
		}, "A .gitattributes"},
		{"a macro in a directory", func(c *clone) {
			c.Write("implementations/.gitattributes", "[attr]lined text=auto\n*.json lined\n")
			c.Write(pathA, crlf)
		}, "A implementations/.gitattributes\nM " + pathA},
		{"the nearest file counts", func(c *clone) {
			c.Write(".gitattributes", "* text\n")
			c.Write("implementations/.gitattributes", "* !text\n")
			c.Write(pathA, crlf)
			c.Write("docs/x", "x\r\ny\r\n")
			c.Write("docs/crlf", "x\r\ny\r\n") // else it depends on the time whether git reads it
		}, "A .gitattributes\nM docs/crlf\nA implementations/.gitattributes\nM " + pathA},
		{"info/attributes", func(c *clone) {
			c.Write(".git/info/attributes", "a.json text\n")
			c.Write("implementations/.gitattributes", "* -text\n")
			c.Write(pathA, crlf)
		}, "A implementations/.gitattributes"},
		{"attributes of the index", func(c *clone) {
			c.Write(".gitattributes", "*.json text\n")
			c.Git("add", ".gitattributes")
			c.Git("update-index", "--skip-worktree", ".gitattributes")
			c.remove(".gitattributes")
			c.Write(pathA, crlf)
		}, "A .gitattributes"},
		{"attributes of the index, gone from disk", func(c *clone) {
			c.Write(".gitattributes", "*.json text\n")
			c.Git("add", ".gitattributes")
			c.remove(".gitattributes")
			c.Write(pathA, crlf)
		}, "M " + pathA},
		{"attributes by a link", func(c *clone) {
			c.Write("attributes", "* text\n")
			c.symlink("attributes", ".gitattributes")
			c.Write(pathA, crlf)
		}, "A .gitattributes\nA attributes\nM " + pathA},
		{"quoted patterns", func(c *clone) {
			c.Write(".gitattributes", "\"docs/a b\\164\" text\n\"#c\" text\n")
			c.Write("docs/a bt", crlf)
			c.Write("#c", crlf)
		}, "A #c\nA .gitattributes\nA docs/a bt"},
		{"odd lines", func(c *clone) {
			c.Write(".gitattributes", "# a\n\n!docs/x text\n*.json text=auto -bad- =x\ndocs/ text\n"+
				"implementations/**/*.json text\r\n"+strings.Repeat("a", 2040)+" text -text\n")
			c.Write(pathA, crlf)
			c.Write("docs/x", "x\r\ny\r\n")
		}, "A .gitattributes\nM docs/x"},
		{"text=auto on what is binary", func(c *clone) {
			c.Write(".gitattributes", "* text=auto\n")
			c.Write("docs/nul", "a\x00b\r\n")
			c.Write("docs/lone", "a\rb\r\n")
			c.Write("docs/odd", "\x01\x02ab\r\n")
			c.Write("docs/eof", strings.Repeat("a", 200)+"\r\n\x1a")
		}, "A .gitattributes\nA docs/eof\nA docs/lone\nA docs/nul\nA docs/odd"},
		{"ident", func(c *clone) {
			c.Write(".gitattributes", "* ident\n")
			c.Write("docs/id", "$Id$ $Id: 1$ $Id: a\n$ $Id: b$Id: c$ $Id:$ $Id:")
			c.Write("docs/x", "x\ny\n")
		}, "A .gitattributes\nA docs/id"},
		{"ident and text", func(c *clone) {
			c.Write(".gitattributes", "* ident text\n")
			c.Write(pathB, "{\"$Id: 1$\": 1}\r\n")
			c.Write("docs/crlf", "x\r\ny\r\n") // else it depends on the time whether git reads it
		}, "A .gitattributes\nM docs/crlf\nA " + pathB},
		{"fileMode=false", func(c *clone) {
			c.Config("core.fileMode", "false")
			c.chmod(pathA, 0o755)
			c.chmod("docs/run", 0o644)
			c.Write("docs/run", "changed")
			c.Write("docs/new", "new")
			c.chmod("docs/new", 0o755)
		}, "A docs/new\nM docs/run"},
		{"fileMode=true", func(c *clone) {
			c.chmod("docs/run", 0o644)
			c.chmod("docs/x", 0o755)
		}, "M docs/run\nM docs/x"},
		{"symlinks=false", func(c *clone) {
			c.Config("core.symlinks", "false")
			c.remove("docs/link")
			c.Write("docs/link", "elsewhere")
		}, "M docs/link"},
		{"symlinks=true", func(c *clone) {
			c.remove("docs/link")
			c.Write("docs/link", "x")
		}, "T docs/link"},
		{"skip-worktree, changed", func(c *clone) {
			c.Git("update-index", "--skip-worktree", pathA, "docs/x")
			c.Write(pathA, "changed")
			c.remove("docs/x")
		}, ""},
		{"skip-worktree and assume-unchanged of what is only to be added", func(c *clone) {
			c.Write(pathB, "b")
			c.Write(pathC, "c")
			c.Git("add", "-N", pathB, pathC)
			c.Git("update-index", "--skip-worktree", pathB)
			c.Git("update-index", "--assume-unchanged", pathC)
		}, ""},
		{"intent-to-add", func(c *clone) {
			c.Write(pathB, "b")
			c.Write(pathC, "c")
			c.Git("add", "-N", pathB, pathC)
			c.remove(pathC)
		}, "A " + pathB},
		{"intent-to-add with CR LF", func(c *clone) {
			c.Config("core.autocrlf", "true")
			c.Write(pathB, crlf)
			c.Git("add", "-N", pathB)
		}, "A " + pathB},
		{"files outside of a sparse checkout", func(c *clone) {
			c.Git("sparse-checkout", "set", "--no-sparse-index", "docs")
			c.Write(pathA, "changed")
			c.Write(pathB, "new")
			c.Write("docs/x", "changed")
			c.Write("other/new", "new")
		}, "M docs/x"},
		{"a sparse checkout that expects files outside", func(c *clone) {
			c.Git("sparse-checkout", "set", "--no-cone", "/docs/", "!/docs/x")
			c.Config("sparse.expectFilesOutsideOfPatterns", "true")
			c.Write(pathA, "changed")
			c.Write("docs/x", "changed")
			c.Write("docs/y", "new")
		}, "A docs/y"},
		{"skip-worktree within a sparse checkout", func(c *clone) {
			c.Git("sparse-checkout", "set", "--no-cone", "/*", "!/docs/x")
			c.Git("update-index", "--skip-worktree", pathA)
			c.Write(pathA, "changed")
		}, "M " + pathA},
		{"another spelling of a tracked name under ignoreCase", func(c *clone) {
			c.Config("core.ignoreCase", "true")
			c.Write("DOCS/X", "x")
			c.Write("docs/Y", "y")
		}, "A docs/Y"},
		{"a filter that is not configured", func(c *clone) {
			c.Write(".gitattributes", "* filter=lfs\n")
			c.Write(pathA, "changed")
		}, "A .gitattributes\nM " + pathA},
		{"a filter with smudge alone", func(c *clone) {
			c.Config("filter.f.smudge", "false")
			c.Write(".gitattributes", "* filter=f\n")
			c.Write(pathA, "changed")
		}, "A .gitattributes\nM " + pathA},
		{"a filter whose process is empty", func(c *clone) {
			c.Config("filter.f.clean", "false")
			c.Config("filter.f.process", "")
			c.Write(".gitattributes", "* filter=f\n")
			c.Write(pathA, "changed")
		}, "A .gitattributes\nM " + pathA},
		{"a filter on what is not changed, is ignored or is left out", func(c *clone) {
			c.old()
			c.Config("filter.f.clean", "touch ran; cat")
			c.Write(".git/info/attributes", "docs/** filter=f\n*.bak filter=f\n")
			c.Write(".git/info/exclude", "*.bak\n")
			c.Write("x.bak", "x")
			c.Git("update-index", "--skip-worktree", "docs/x")
			c.Write("docs/x", "changed")
			c.Write(pathA, "changed")
		}, "M " + pathA},
		{"an encoding that is none", func(c *clone) {
			c.Write(".gitattributes", "* working-tree-encoding=utf-8\n*.json working-tree-encoding=\n")
			c.Write(pathA, "changed")
		}, "A .gitattributes\nM " + pathA},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newClone(t)
			c.symlink("x", "docs/link")
			c.Write("docs/run", "#!\n")
			c.chmod("docs/run", 0o755)
			c.Commit(pathA, "{\n}\n", "docs/x", "x\ny\n", "docs/crlf", "x\r\ny\r\n")
			tt.edit(c)
			g := c.sameTree()
			if got := spellChanges(g.Changes); got != tt.want {
				t.Errorf("changes:\n%s\nwant\n%s", got, tt.want)
			}
			for _, change := range g.Changes { // each can be read as it would be stored
				if change.Head == nil || change.Head.Mode == ModeSymlink {
					continue
				}
				if _, err := g.Head.File(ctx, change.Path, 1<<20); err != nil {
					t.Errorf("%s: %v", change.Path, err)
				}
			}
			if _, err := os.Lstat(filepath.Join(c.Dir, "ran")); err == nil {
				t.Error("a filter was run")
			}
		})
	}
}

// TestWorktreeOfUser checks the attributes and the configuration of the system and the user, against git.
func TestWorktreeOfUser(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files map[string]string
		env   map[string]string
		want  string
	}{
		{"none", nil, nil, "M " + pathA},
		{"autocrlf", map[string]string{".gitconfig": "[core]\nautocrlf = input\n"}, nil, ""},
		{"autocrlf without a value", map[string]string{".gitconfig": "[core]\nautocrlf\n"}, nil, ""},
		{"autocrlf as a number", map[string]string{".gitconfig": "[core]\nautocrlf = 2\n"}, nil, ""},
		{"autocrlf of the system", map[string]string{"system": "[core]\nautocrlf = true\n"},
			map[string]string{"GIT_CONFIG_SYSTEM": "$HOME/system", "GIT_CONFIG_NOSYSTEM": ""}, ""},
		{"autocrlf that is included", map[string]string{".gitconfig": "[include]\npath = more\n",
			"more": "[core]\nautocrlf = true\n"}, nil, ""},
		{"autocrlf on a condition", map[string]string{".gitconfig": "[includeIf \"onbranch:main\"]\npath = more\n",
			"more": "[core]\nautocrlf = true\n"}, nil, ""},
		{"the default attributes", map[string]string{".config/git/attributes": "*.json text\n"}, nil, ""},
		{"attributes of XDG_CONFIG_HOME", map[string]string{"xdg/git/attributes": "[attr]t text\n*.json t\n"},
			map[string]string{"XDG_CONFIG_HOME": "$HOME/xdg"}, ""},
		{"core.attributesFile", map[string]string{".gitconfig": "[core]\nattributesFile = ~/mine\n",
			"mine": "*.json text\n", ".config/git/attributes": "*.json -text\n"}, nil, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			home := t.TempDir()
			t.Setenv("HOME", home)
			t.Setenv("GIT_CONFIG_GLOBAL", "")
			os.Unsetenv("GIT_CONFIG_GLOBAL")
			for name, value := range tt.env {
				t.Setenv(name, strings.ReplaceAll(value, "$HOME", home))
			}
			c := newClone(t)
			c.Commit(pathA, "{\n}\n")
			for name, text := range tt.files {
				c.at(home).Write(name, text)
			}
			c.Write(pathA, "{\r\n}\r\n")
			if got := spellChanges(c.sameTree().Changes); got != tt.want {
				t.Errorf("changes %q, want %q", got, tt.want)
			}
		})
	}
}

// TestFileOutsideOfSparse checks that the one file that is judged counts as it is on disk, whatever git would add.
func TestFileOutsideOfSparse(t *testing.T) {
	for name, edit := range map[string]func(c *clone){
		"sparse":           func(c *clone) { c.Git("sparse-checkout", "set", "docs") },
		"skip-worktree":    func(c *clone) { c.Git("update-index", "--skip-worktree", pathA) },
		"assume-unchanged": func(c *clone) { c.Git("update-index", "--assume-unchanged", pathA) },
		"ignored":          func(c *clone) { c.Write(".git/info/exclude", "*\n") },
	} {
		t.Run(name, func(t *testing.T) {
			c := newClone(t)
			c.Commit(pathA, "1", "docs/x", "x")
			edit(c)
			c.Write(pathA, "2")
			c.Write(pathB, "new")
			for path, want := range map[string]string{pathA: "M " + pathA, pathB: "A " + pathB} {
				g, err := c.open().FileRange(ctx, "HEAD", path)
				if err != nil {
					t.Fatal(err)
				}
				if got := spellChanges(g.Changes); got != want {
					t.Errorf("changes %q, want %q", got, want)
				}
			}
		})
	}
}

// TestWorktreeFilters checks that a file that git would hand to a program, or convert from another encoding, is named
// instead.
func TestWorktreeFilters(t *testing.T) {
	for _, tt := range []struct{ name, config, attributes, want string }{
		{"clean", "filter.f.clean", "* filter=f", "its attribute filter=f has git convert it"},
		{"process", "filter.f.process", "implementations/*.json filter=f", "filter=f"},
		{"a name with a dot", "filter.a.b.clean", "*.json filter=a.b", "filter=a.b"},
		{"required", "filter.f.required", "* filter=f", "filter=f"},
		{"encoding", "x.y", "*.json working-tree-encoding=UTF-16", "working-tree-encoding=UTF-16"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newClone(t)
			c.Commit(pathA, "1")
			c.Config(tt.config, "true")
			c.Write(".git/info/attributes", tt.attributes+"\n")
			if strings.HasPrefix(tt.attributes, "*.json") || strings.HasPrefix(tt.attributes, "impl") {
				c.Write("docs/x", "not matched")
			}
			c.Write(pathA, "2")
			for _, read := range []func(r *Repository) error{
				func(r *Repository) error { _, err := r.WorktreeRange(ctx, "HEAD"); return err },
				func(r *Repository) error { _, err := r.FileRange(ctx, "HEAD", pathA); return err },
			} {
				err := read(c.open())
				e, ok := errors.AsType[remedy.Fixer](err)
				if !ok || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), `"`+pathA+`"`) ||
					e.Fix() == "" {
					t.Errorf("error %v, want %q and the file, and a fix", err, tt.want)
				}
			}
		})
	}
}

// TestWorktreeAfterClone checks that a fresh clone under a filter is read: what git has just checked out is no change.
func TestWorktreeAfterClone(t *testing.T) {
	origin := newClone(t)
	origin.Commit(pathA, "{\n}\n", "big.bin", "pointer\n", ".gitattributes", "*.bin filter=f\n")
	dir := filepath.Join(t.TempDir(), "clone")
	origin.Git("clone", "-q", "-c", "filter.f.smudge=tr a-z A-Z", "-c", "filter.f.clean=tr A-Z a-z", origin.Dir, dir)
	c := origin.at(dir)
	if text, err := os.ReadFile(filepath.Join(dir, "big.bin")); err != nil || string(text) != "POINTER\n" {
		t.Fatalf("%q, %v: the case is not made", text, err)
	}
	c.Write(pathB, "b")
	if got, want := spellChanges(c.sameTree().Changes), "A "+pathB; got != want {
		t.Errorf("changes %q, want %q", got, want)
	}
	c.Write("big.bin", "CHANGED\n")
	if _, err := c.open().WorktreeRange(ctx, "HEAD"); !errors.Is(err, errFilter) {
		t.Errorf("error %v, want %v", err, errFilter)
	}
}

// TestWorktreeWithoutLineEnds checks the systems for which git has a configuration that is not read.
func TestWorktreeWithoutLineEnds(t *testing.T) {
	unsettled = true
	defer func() { unsettled = false }()
	for _, tt := range []struct{ name, attributes, autocrlf, want string }{
		{"nothing says it", "", "", "M docs/x\nA " + pathC},
		{"an attribute says it", "*.json -text\n", "", "A .gitattributes\nM docs/x\nM " + pathA + "\nA " + pathC},
		{"the configuration says it", "", "false", "M docs/x\nM " + pathA + "\nA " + pathC},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newClone(t)
			c.Commit(pathA, "{\n}\n", pathB, "{\n\r\n", "docs/x", "x\n")
			if tt.attributes != "" {
				c.Write(".gitattributes", tt.attributes)
			}
			if tt.autocrlf != "" {
				c.Config("core.autocrlf", tt.autocrlf)
			}
			c.Write(pathA, "{\r\n}\r\n")
			c.Write(pathC, "{\r\n}\r\n")
			c.Write("docs/x", "y\r\n")
			g, err := c.open().WorktreeRange(ctx, "HEAD")
			if err != nil {
				t.Fatal(err)
			}
			if got := spellChanges(g.Changes); got != tt.want {
				t.Errorf("changes:\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// TestPrecompose checks that names are composed as git stores them where that is set, which is on macOS alone.
func TestPrecompose(t *testing.T) {
	c := newClone(t)
	c.Commit("docs/x", "x")
	c.Write("docs/e\u0301", "e")
	for precompose, want := range map[bool]string{false: "e\u0301", true: "\u00e9"} {
		r := c.open()
		h, err := r.resolve("HEAD")
		if err != nil {
			t.Fatal(err)
		}
		d, _, err := r.openDisk(h)
		if err != nil {
			t.Fatal(err)
		}
		d.conv.settings.Precompose = precompose
		names, err := d.names("docs")
		if err != nil || !strings.Contains(strings.Join(names, " "), want) {
			t.Errorf("names %q, %v, want %q", names, err, want)
		}
	}
}

// TestWorktreeRandom checks random files under random attributes and settings against git.
func TestWorktreeRandom(t *testing.T) {
	rounds := 40
	if testing.Short() {
		rounds = 5
	}
	for i := range rounds {
		rnd := rand.New(rand.NewPCG(14, uint64(i)))
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			c := newClone(t)
			pick := func(of ...string) string { return of[rnd.IntN(len(of))] }
			text := func() string {
				var b strings.Builder
				for range rnd.IntN(8) {
					b.WriteString(pick("a", "{}", "\n", "\r\n", "\r\n", "\r", "$Id$", "$Id: x$", "$Id:", "$", "\x00",
						"\x01", "\t", strings.Repeat("z", 200), "\x1a", "é"))
				}
				return b.String()
			}
			paths := []string{pathA, pathB, "docs/x", "docs/deep/y.txt", "z", "a.json"}
			attributes := func() string {
				var b strings.Builder
				for range 1 + rnd.IntN(4) {
					b.WriteString(pick("*", "*.json", "docs/", "docs/*", "docs/**", "/z", "[a-d]*", "deep", "x",
						"\"z\"", "[attr]m", "implementations/a.json", "!x", "*.TXT", "**/y.txt"))
					for range 1 + rnd.IntN(3) {
						b.WriteString(" " + pick("text", "-text", "!text", "text=auto", "text=input", "text=x",
							"eol=lf", "eol=crlf", "eol", "crlf", "-crlf", "crlf=input", "ident", "-ident", "binary",
							"m", "-m", "diff", "filter=none", "bad/name", "-"))
					}
					b.WriteString(pick("\n", "\r\n", " \n"))
				}
				return b.String()
			}
			for _, p := range paths {
				if rnd.IntN(3) > 0 {
					c.Write(p, text())
				}
			}
			c.Config("core.safecrlf", "false")
			c.Commit()
			if rnd.IntN(2) == 0 {
				c.old()
			}
			if set := pick("", "true", "input", "false"); set != "" {
				c.Config("core.autocrlf", set)
			}
			if set := pick("", "true", "false"); set != "" {
				c.Config("core.ignoreCase", set)
				c.Config("core.fileMode", pick("true", "false"))
			}
			for _, p := range []string{".gitattributes", "docs/.gitattributes", ".git/info/attributes"} {
				if rnd.IntN(2) == 0 {
					c.Write(p, attributes())
				}
			}
			for _, p := range paths {
				switch rnd.IntN(8) {
				case 0:
					c.remove(p)
				case 1:
					c.Write(p, text())
					c.chmod(p, 0o755)
				case 2:
					c.symlink("target", p)
				case 3:
					c.Write(p, text())
					c.Git("add", "-f", "-N", p)
				case 4, 5:
					c.Write(p, text())
				}
			}
			c.sameTree()
		})
	}
}
