package registry

import (
	"fmt"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

const (
	pathA = "implementations/a.json"
	pathB = "implementations/b.json"
	pathC = "implementations/c.json"
)

// spellRange writes down all that a range says, by names for commits.
func spellRange(g *Range, names map[string]string) string {
	var b strings.Builder
	name := func(id string) string {
		if n, ok := names[id]; ok {
			return n
		}
		return "?" + id
	}
	list := func(title string, changes []Change) {
		fmt.Fprintf(&b, "%s:", title)
		for _, line := range strings.Split(spellChanges(changes), "\n") {
			if line != "" {
				fmt.Fprintf(&b, " [%s]", line)
			}
		}
		b.WriteByte('\n')
	}
	b.WriteString("merge bases:")
	for _, id := range g.MergeBases {
		fmt.Fprintf(&b, " %s", name(id))
	}
	b.WriteByte('\n')
	for _, v := range g.Views {
		list("view "+name(v.From)+".."+name(v.To), v.Changes)
	}
	list("lands", g.Changes)
	for _, c := range g.Commits {
		list("commit "+name(c.ID), c.Touched)
	}
	return b.String()
}

func TestRange(t *testing.T) {
	tests := []struct {
		name string
		// make builds the history and gives names of commits; "base" and "head" are the ends.
		make func(c *clone) map[string]string
		want string
	}{
		{"plain branch", func(c *clone) map[string]string {
			base := c.Commit(pathA, "a")
			return map[string]string{"base": base, "one": c.Commit(pathB, "b"), "head": c.Commit(pathC, "c")}
		}, `
merge bases: base
view base..head: [A implementations/b.json] [A implementations/c.json]
lands: [A implementations/b.json] [A implementations/c.json]
commit one: [A implementations/b.json]
commit head: [A implementations/c.json]
`},
		{"a root commit", func(c *clone) map[string]string {
			return map[string]string{"base": "", "head": c.Commit(pathA, "a")}
		}, `
merge bases:
view base..head: [A implementations/a.json]
lands: [A implementations/a.json]
commit head: [A implementations/a.json]
`},
		{"nothing to land: head is base", func(c *clone) map[string]string {
			base := c.Commit(pathA, "a")
			return map[string]string{"base": base, "head": base}
		}, `
merge bases: base
view base..base: 
lands:
`},
		{"nothing to land: head is behind base", func(c *clone) map[string]string {
			head := c.Commit(pathA, "a")
			return map[string]string{"head": head, "base": c.Commit(pathB, "b")}
		}, `
merge bases: head
view head..head:
lands:
`},
		{"base moved on: the proposer's stale tree deletes nothing", func(c *clone) map[string]string {
			fork, base := c.fork(pathB, "b")
			return map[string]string{"fork": fork, "base": base, "head": c.Commit(pathC, "c")}
		}, `
merge bases: fork
view fork..head: [A implementations/c.json]
lands: [A implementations/c.json]
commit head: [A implementations/c.json]
`},
		{"base moved on at the same path", func(c *clone) map[string]string {
			fork, base := c.fork(pathA, "a2")
			return map[string]string{"fork": fork, "base": base, "head": c.Commit(pathA, "a3")}
		}, `
merge bases: fork
view fork..head: [M implementations/a.json]
lands: [M implementations/a.json]
commit head: [M implementations/a.json]
`},
		{"base already holds what head brings", func(c *clone) map[string]string {
			fork, base := c.fork(pathB, "b")
			return map[string]string{"fork": fork, "base": base, "head": c.Commit(pathB, "b", pathC, "c")}
		}, `
merge bases: fork
view fork..head: [A implementations/b.json] [A implementations/c.json]
lands: [= implementations/b.json] [A implementations/c.json]
commit head: [A implementations/c.json]
`},
		{"a directory replaces a file that base added since", func(c *clone) map[string]string {
			fork, base := c.fork(pathB, "b")
			return map[string]string{"fork": fork, "base": base, "head": c.Commit(pathB+"/x", "c")}
		}, `
merge bases: fork
view fork..head: [A implementations/b.json/x]
lands: [D implementations/b.json] [A implementations/b.json/x]
commit head: [A implementations/b.json/x]
`},
		{"a file replaces a directory that base added to since", func(c *clone) map[string]string {
			fork := c.Commit(pathA, "a", "docs/x", "x")
			base := c.Commit("docs/y", "y")
			c.Git("checkout", "-q", fork)
			c.Git("rm", "-q", "-r", "docs")
			return map[string]string{"fork": fork, "base": base, "head": c.Commit("docs", "file")}
		}, `
merge bases: fork
view fork..head: [A docs] [D docs/x]
lands: [A docs] [D docs/x] [D docs/y]
commit head: [A docs] [D docs/x]
`},
		{"merging the base into the branch is no tampering", func(c *clone) map[string]string {
			fork, first := c.fork(pathB, "b")
			own := c.Commit(pathC, "c")
			merge := c.merge(first)
			c.Git("checkout", "-q", "main")
			base := c.Commit("implementations/d.json", "d")
			c.Git("checkout", "-q", merge)
			return map[string]string{"fork": fork, "base": base, "own": own, "merge": merge,
				"head": c.merge(base)}
		}, `
merge bases: base
view base..head: [A implementations/c.json]
lands: [A implementations/c.json]
commit own: [A implementations/c.json]
commit merge:
commit head:
`},
		{"a merge that smuggles", func(c *clone) map[string]string {
			fork, base := c.fork(pathB, "b")
			own := c.Commit(pathC, "c")
			c.Git("merge", "-q", "--no-ff", "--no-commit", base)
			c.Write(pathA, "tampered")
			return map[string]string{"fork": fork, "base": base, "own": own, "head": c.Commit()}
		}, `
merge bases: base
view base..head: [M implementations/a.json] [A implementations/c.json]
lands: [M implementations/a.json] [A implementations/c.json]
commit own: [A implementations/c.json]
commit head: [M implementations/a.json]
`},
		{"a merge that smuggles, and a commit that restores", func(c *clone) map[string]string {
			fork, base := c.fork(pathB, "b")
			own := c.Commit(pathC, "c")
			c.Git("merge", "-q", "--no-ff", "--no-commit", base)
			c.Write(pathA, "tampered")
			merge := c.Commit()
			return map[string]string{"fork": fork, "base": base, "own": own, "merge": merge,
				"head": c.Commit(pathA, "a")}
		}, `
merge bases: base
view base..head: [A implementations/c.json]
lands: [A implementations/c.json]
commit own: [A implementations/c.json]
commit merge: [M implementations/a.json]
commit head: [M implementations/a.json]
`},
		{"the forge's merge ref", func(c *clone) map[string]string {
			fork, base := c.fork(pathB, "b")
			side := c.Commit(pathC, "c")
			c.Git("checkout", "-q", base)
			return map[string]string{"fork": fork, "base": base, "side": side, "head": c.merge(side)}
		}, `
merge bases: base
view base..head: [A implementations/c.json]
view fork..side: [A implementations/c.json]
lands: [A implementations/c.json]
commit side: [A implementations/c.json]
commit head:
`},
		{"the forge's merge ref, and base moved on since", func(c *clone) map[string]string {
			fork, old := c.fork(pathB, "b")
			side := c.Commit(pathC, "c")
			c.Git("checkout", "-q", old)
			head := c.merge(side)
			c.Git("checkout", "-q", "main")
			return map[string]string{"fork": fork, "old": old, "side": side, "head": head,
				"base": c.Commit("README.md", "r")}
		}, `
merge bases: old
view old..head: [A implementations/c.json]
view fork..side: [A implementations/c.json]
lands: [A implementations/c.json]
commit side: [A implementations/c.json]
commit head:
`},
		{"a merge ref whose merge smuggles what no author wrote", func(c *clone) map[string]string {
			base := c.Commit(pathA, "a")
			c.Git("checkout", "-q", "-b", "side")
			side := c.Commit(pathC, "c")
			c.Git("checkout", "-q", base)
			c.Git("merge", "-q", "--no-ff", "--no-commit", side)
			c.Git("rm", "-q", pathA)
			return map[string]string{"base": base, "side": side, "head": c.Commit()}
		}, `
merge bases: base
view base..head: [D implementations/a.json] [A implementations/c.json]
view base..side: [A implementations/c.json]
lands: [D implementations/a.json] [A implementations/c.json]
commit side: [A implementations/c.json]
commit head: [D implementations/a.json]
`},
		{"a side that changes a path and a merge that takes it back", func(c *clone) map[string]string {
			base := c.Commit(pathA, "a")
			c.Git("checkout", "-q", "-b", "side")
			side := c.Commit(pathA, "tampered", pathC, "c")
			c.Git("checkout", "-q", base)
			c.Git("merge", "-q", "--no-ff", "--no-commit", side)
			return map[string]string{"base": base, "side": side, "head": c.Commit(pathA, "a")}
		}, `
merge bases: base
view base..head: [A implementations/c.json]
view base..side: [M implementations/a.json] [A implementations/c.json]
lands: [= implementations/a.json] [A implementations/c.json]
commit side: [M implementations/a.json] [A implementations/c.json]
commit head:
`},
		{"an octopus that smuggles", func(c *clone) map[string]string {
			base := c.Commit(pathA, "a")
			one := c.commitTree(c.Git("rev-parse", base+"^{tree}"), base)
			two := c.commitTree(c.Git("rev-parse", base+"^{tree}"), base)
			c.Git("checkout", "-q", "--detach")
			c.Write(pathA, "tampered")
			c.Git("add", "-A")
			return map[string]string{"base": base, "one": one, "two": two, "head": c.commitTree(c.Git("write-tree"),
				one, two, base)}
		}, `
merge bases: base
view base..head: [M implementations/a.json]
lands: [M implementations/a.json]
commit one:
commit two:
commit head: [M implementations/a.json]
`},
		{"an unrelated history merged into the branch", func(c *clone) map[string]string {
			base := c.Commit(pathA, "a")
			c.Write(pathA, "tampered")
			c.Git("add", "-A")
			alien := c.commitTree(c.Git("write-tree"))
			c.Git("checkout", "-q", "-f", "--detach", base)
			c.Date++
			c.Git("merge", "-q", "--no-ff", "--allow-unrelated-histories", "-s", "ours", "-m", "m", alien)
			return map[string]string{"base": base, "alien": alien, "head": c.Git("rev-parse", "HEAD")}
		}, `
merge bases: base
view base..head:
lands:
commit alien: [A implementations/a.json]
commit head:
`},
		{"criss-cross: each merge base is compared", func(c *clone) map[string]string {
			root := c.Commit("f", "0")
			one := c.Commit(pathA, "a")
			c.Git("checkout", "-q", "--detach", root)
			two := c.Commit(pathB, "b")
			c.Git("checkout", "-q", "-f", "--detach", one)
			base := c.merge(two)
			c.Git("checkout", "-q", "--detach", two)
			merge := c.merge(one)
			return map[string]string{"one": one, "two": two, "base": base, "merge": merge, "head": c.Commit(pathC, "c")}
		}, `
merge bases: BASES
VIEWS
lands: [= implementations/a.json] [= implementations/b.json] [A implementations/c.json]
commit merge:
commit head: [A implementations/c.json]
`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := newClone(t)
			ids := tt.make(c)
			names := map[string]string{}
			for name, id := range ids {
				if names[id] != "base" {
					names[id] = name
				}
			}
			g := c.rangeOf(ids["base"], ids["head"])
			want := strings.TrimPrefix(tt.want, "\n")
			if strings.Contains(want, "BASES") {
				bases, views := "one two",
					"view one..head: [A implementations/b.json] [A implementations/c.json]\nview two..head: [A "+
						"implementations/a.json] [A implementations/c.json]"
				if ids["two"] < ids["one"] {
					lines := strings.Split(views, "\n")
					bases, views = "two one", lines[1]+"\n"+lines[0]
				}
				want = strings.Replace(strings.Replace(want, "BASES", bases, 1), "VIEWS", views, 1)
			}
			if got := spellRange(g, names); got != strings.ReplaceAll(want, ": \n", ":\n") {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			checkResult(t, g)
		})
	}
}

// fork commits a file, and then others on main, and checks out the first commit.
func (c *clone) fork(files ...string) (fork, base string) {
	fork = c.Commit(pathA, "a")
	base = c.Commit(files...)
	c.Git("checkout", "-q", fork)
	return fork, base
}

// merge merges a commit into what is checked out.
func (c *clone) merge(commit string) string {
	c.Date++
	c.Git("merge", "-q", "--no-ff", "-m", "m", commit)
	return c.Git("rev-parse", "HEAD")
}

// checkResult compares Result with Changes: the base tree with the changes is the result.
func checkResult(t *testing.T, g *Range) {
	t.Helper()
	files := map[string]Entry{}
	add := func(path string, e Entry) error { files[path] = e; return nil }
	must.OK(t, g.Base.Walk(add))
	for _, c := range g.Changes {
		delete(files, c.Path)
	}
	for _, c := range g.Changes {
		if c.Head != nil {
			files[c.Path] = *c.Head
		}
	}
	err := g.Result.Walk(func(path string, e Entry) error {
		if files[path] != e {
			t.Errorf("result holds %v at %s, changes say %v", e, path, files[path])
		}
		delete(files, path)
		return nil
	})
	if err != nil || len(files) > 0 {
		t.Errorf("result lacks %v (%v)", files, err)
	}
}

func TestRangeUnrelated(t *testing.T) {
	c := newClone(t)
	base := c.Commit(pathA, "a")
	head := c.commitTree(c.Git("rev-parse", "HEAD^{tree}"))
	_, err := c.open().Range(ctx, base, head)
	wantError(t, err, ErrUnrelated)
	child := c.Commit(pathB, "b")
	if _, err = c.open().Range(ctx, "", child); err == nil {
		t.Error("a commit with a parent is read as a root")
	}
}
