package checks_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

// files is a list of files that a world writes.
func files(paths ...string) string {
	var w strings.Builder
	for _, p := range paths {
		fmt.Fprintf(&w, "  - {write: %q, text: x}\n", p)
	}
	return w.String()
}

// TestRepositoryInTree checks which directories a pull request may not bring, since git or this program would read them
// as a repository.
func TestRepositoryInTree(t *testing.T) {
	const code = ": error: layout: repository-in-tree"
	var cases []checktest.Case
	for _, c := range []struct {
		name, want, says string
		paths            []string
	}{
		{"root", "HEAD" + code,
			`directory "\." is a Git repository to its readers: it has HEAD next to objects and refs`,
			[]string{"HEAD", "objects/x", "refs/x"}},
		{"directory", "a/b/HEAD" + code, `fix: rename "a/b/HEAD" to "a/b/HEAD.txt"`,
			[]string{"a/b/HEAD", "a/b/objects/x", "a/b/refs"}},
		{"linked", "a/HEAD" + code, `it has HEAD next to commondir`, []string{"a/HEAD", "a/commondir"}},
		{"letter case", "a/Head" + code, `directory "a" is a Git`, []string{"a/Head", "a/OBJECTS/x", "a/refs/x"}},
		{"lower case", "a/head" + code, "", []string{"a/head", "a/objects/x", "a/refs/x"}},
		{"dots and blanks", "a/HEAD." + code, "", []string{"a/HEAD.", "a/commondir "}},
		{"full width", "a/ＨＥＡＤ" + code, "", []string{"a/ＨＥＡＤ", "a/commondir"}},
		{"ignorable", `a/HE\u200dAD` + code, "", []string{"a/HE\u200dAD", "a/commondir"}},
		{"directories that are one", "B: error: layout: case-twin\nB/HEAD" + code, "",
			[]string{"B/HEAD", "b/objects/x", "b/refs/x"}},
		{"in a data directory", `implementations/HEAD:1:1: error: layout: misplaced-file
implementations/commondir:1:1: error: layout: misplaced-file
implementations/HEAD` + code, "",
			[]string{"implementations/HEAD", "implementations/commondir"}},
		{"mirror", "a/registry.git" + code, `"a/registry.git" has the name of the clone in a mirror.s directory`,
			[]string{"a/registry.git/x"}},
		{"mirror at the root", "registry.git" + code, `fix: rename "registry.git" to "registry-git"`,
			[]string{"registry.git/x", "registry.git/y/z"}},
		{"mirror as a file", "registry.git" + code, "", []string{"registry.git"}},
		{"mirror, letter case", "Registry.GIT" + code, "", []string{"Registry.GIT/x"}},
		{"mirror with a dot", "registry.git." + code, "", []string{"registry.git./x"}},
		{"two", "a/HEAD" + code + "\nb/registry.git" + code, "", []string{"a/HEAD", "a/commondir", "b/registry.git"}},

		{"HEAD.md", "pass", "", []string{"docs/HEAD.md", "docs/objects/x", "docs/refs/x"}},
		{"without HEAD", "pass", "", []string{"docs/objects/x", "docs/refs/x", "objects/x", "refs/x"}},
		{"without refs", "pass", "", []string{"docs/HEAD", "docs/objects/x"}},
		{"without objects", "pass", "", []string{"docs/HEAD", "docs/refs/x"}},
		{"in three directories", "pass", "", []string{"a/HEAD", "a/b/objects/x", "refs/x"}},
		{"commondir without HEAD", "pass", "", []string{"a/commondir", "a/objects/x", "a/refs/x"}},
		{"longer names", "pass", "", []string{"a/registry.git.md", "a/my-registry.git", "a/HEADS", "a/commondir"}},
	} {
		one := checktest.Case{Name: c.name, World: "pr:\n" + files(c.paths...), Only: "layout", Want: c.want}
		if c.says != "" {
			one.Says = []string{c.says}
		}
		cases = append(cases, one)
	}
	cases = append(cases,
		// the last of the three names comes alone
		checktest.Case{Name: "completed", Only: "layout", Want: "x/HEAD" + code,
			World: "base:\n" + files("x/HEAD", "x/refs/y") + "pr:\n" + files("x/objects/y")},
		// what is there already blocks nobody
		checktest.Case{Name: "standing", Only: "layout",
			Want:  "x/HEAD: warning: layout: repository-in-tree\ny/registry.git: warning: layout: repository-in-tree",
			World: "base:\n" + files("x/HEAD", "x/commondir", "y/registry.git/z") + "pr:\n" + files("README.md")},
		// one that goes
		checktest.Case{Name: "removed", Only: "layout", Want: "pass",
			World: "base:\n" + files("x/HEAD", "x/commondir") + "pr: [{remove: x/HEAD}]"})
	var many []string
	for i := range 101 {
		many = append(many, fmt.Sprintf("d%03d/registry.git", i))
	}
	want := ""
	for _, p := range many[:100] {
		want += p + code + "\n"
	}
	cases = append(cases, checktest.Case{Name: "many", Only: "layout", World: "pr:\n" + files(many...),
		Want: "registry" + code + "\n" + want, Says: []string{"1 more path makes a repository"}})
	checktest.Run(t, cases)
}

// TestPathTooLong checks that a new path is at most as long as each system can hold.
func TestPathTooLong(t *testing.T) {
	part := func(n int) string { return strings.Repeat("p", n) }
	path := func(n int) string { // of parts of at most 255 bytes
		return strings.Repeat(part(200)+"/", n/201) + part(n%201)
	}
	const code = ": error: layout: path-too-long"
	checktest.Run(t, []checktest.Case{
		{Name: "a part of 255 bytes", Only: "layout", World: "pr:\n" + files("d/"+part(255)+"/x"), Want: "pass"},
		{Name: "a part of 256 bytes", Only: "layout", World: "pr:\n" + files("d/"+part(256)+"/x"),
			Want: "d/" + part(256) + "/x" + code,
			Says: []string{`the part "p{60}"… of the path is 256 bytes long; expected at most 255`}},
		{Name: "two parts of 256 bytes", Only: "layout", World: "pr:\n" + files(part(256)+"/"+strings.Repeat("q", 256)),
			Want: part(256) + "/" + strings.Repeat("q", 256) + code,
			Says: []string{`the part "p{60}"… of the path is 256 bytes long`}},
		{Name: "characters of two bytes", Only: "layout", World: "pr:\n" + files(strings.Repeat("é", 128)),
			Want: strings.Repeat("é", 128) + code},
		{Name: "a path of 1,024 bytes", Only: "layout", World: "pr:\n" + files(path(1024)), Want: "pass"},
		{Name: "a path of 1,025 bytes", Only: "layout", World: "pr:\n" + files(path(1025)), Want: path(1025) + code,
			Says: []string{`the path is 1025 bytes long; expected at most 1024`}},
		{Name: "standing", Only: "layout", World: "base:\n" + files(part(256)) + "pr:\n" + files(part(256), "x"),
			Want: "pass"},
		{Name: "in a data directory", Only: "layout", World: "pr:\n" + files("implementations/"+part(252)+".json"),
			Want: "implementations/" + part(252) + ".json:1:1: error: layout: misplaced-file\n" +
				"implementations/" + part(252) + ".json" + code},
	})
}
