package gitattr

import (
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/gittest"
)

// spell is a value as git check-attr prints it.
func spell(v Value) string {
	switch {
	case !v.Set:
		return "unspecified"
	case v.False:
		return "unset"
	case v.True():
		return "set"
	case v.Text == Empty:
		return ""
	}
	return v.Text
}

// TestOfAsGitDoes compares the attributes of paths with those that git finds.
func TestOfAsGitDoes(t *testing.T) {
	names := []string{"text", "diff", "merge", "binary", "a", "b", "filter"}
	paths := []string{"x", "d/x", "d/e/x", "d/y.json", "a b", "#c", "z"}
	for _, tt := range []struct{ name, root, directory, info, path, want string }{
		{"none", "", "", "", "x", ""},
		{"one", "x text\n", "", "", "d/x", "text=set"},
		{"states", "x text -diff !merge a=1 b= filter=x=y\n", "", "", "x", "text=set diff=unset a=1 b= filter=x=y"},
		{"the last line counts", "x text\nx -text\n", "", "", "x", "text=unset"},
		{"the last word counts", "x text -text\n", "", "", "x", "text=unset"},
		{"binary", "x binary\n", "", "", "x", "text=unset diff=unset merge=unset binary=set"},
		{"binary, but", "x binary\nx text\n", "", "", "x", "text=set diff=unset merge=unset binary=set"},
		{"binary, unset", "x binary\nx !binary\n", "", "", "x", ""},
		{"macros", "[attr]m a=1 n\n[attr]n b\nx m\n", "", "", "x", "a=1 b=set"},
		{"macros in a row", "[attr]m n\n[attr]n m a\nx m\n", "", "", "x", "a=set"},
		{"a macro of the directory is none", "", "[attr]m a\nx m a=2\n", "", "d/x", "a=2"},
		{"a macro that is set to a text", "[attr]m a\nx m=1\n", "", "", "x", ""},
		{"the directory", "x a\n", "x -a\n", "", "d/x", "a=unset"},
		{"the directory, elsewhere", "x a\n", "x -a\n", "", "x", "a=set"},
		{"info", "x a\n", "x -a\n", "d/x a=3\n", "d/x", "a=3"},
		{"a pattern with a slash", "d/x a\n", "", "", "d/x", "a=set"},
		{"a pattern with a slash, deeper", "e/x a\n", "", "", "d/e/x", ""},
		{"a directory matches no file below", "d a\nd/ a\n/d/ a\n", "", "", "d/x", ""},
		{"two asterisks", "d/** a\n**/x b\n", "", "", "d/e/x", "a=set b=set"},
		{"negated", "!x a\n", "", "", "x", ""},
		{"comments", "#c a\n  # x\n  x b\n", "", "", "x", "b=set"},
		{"quoted", "\"#c\" a\n\"a b\" a\n", "", "", "#c", "a=set"},
		{"quoted blank", "\"a b\" a\n", "", "", "a b", "a=set"},
		{"octal", "\"\\170\" a\n", "", "", "x", "a=set"},
		{"a quote that does not end", "\"x a\nx b\n", "", "", "x", "b=set"},
		{"a quote with a bad escape", "\"\\q\" a\n", "", "", "x", ""},
		{"a name that is none", "x a bad/name\nx b\n", "", "", "x", "b=set"},
		{"a hyphen alone", "x a -\n", "", "", "x", ""},
		{"two hyphens", "x --a\n", "", "", "x", ""},
		{"a long line", "x " + strings.Repeat("b ", 1024) + "a\nx a=1\n", "", "", "x", "a=1"},
		{"byte order mark", "\ufeffx a\n", "", "", "x", "a=set"},
		{"CR LF", "x a=1\r\n", "", "", "x", "a=1"},
		{"tabs", "x\ta\t-b\n", "", "", "x", "a=set b=unset"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := gittest.New(t)
			c.Write(".gitattributes", tt.root)
			c.Write("d/.gitattributes", tt.directory)
			c.Write(".git/info/attributes", tt.info)
			files := []*File{Parse("", []byte(tt.root), true, false), Parse("d/", []byte(tt.directory), false, false),
				Parse("", []byte(tt.info), true, false)}
			for _, path := range paths {
				git := map[string]string{}
				out := c.Git(append(append([]string{"check-attr", "-z"}, names...), "--", path)...)
				fields := strings.Split(out, "\x00")
				for i := 0; i+2 < len(fields); i += 3 {
					git[fields[i+1]] = fields[i+2]
				}
				got := Of(files, path, false)
				var all []string
				for _, name := range names {
					if spell(got[name]) != git[name] {
						t.Errorf("%s: %s is %q, to git %q", path, name, spell(got[name]), git[name])
					}
					if got[name].Set {
						all = append(all, name+"="+spell(got[name]))
					}
				}
				if path == tt.path && strings.Join(all, " ") != tt.want {
					t.Errorf("%s: %q, want %q", path, all, tt.want)
				}
			}
		})
	}
}

// FuzzParse checks that no text makes the package panic, or take an attribute that git has no name for.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"x text\n", "[attr]m a -b !c d=e\nx m", "\"\\170\\n\" a", "\"", "\ufeff* -", "[attr]",
		"!x a"} {
		f.Add([]byte(text), "x")
	}
	f.Fuzz(func(t *testing.T, text []byte, path string) {
		for name := range Of([]*File{Parse("", text, true, true)}, path, true) {
			if !isName(name) {
				t.Errorf("an attribute %q", name)
			}
		}
	})
}
