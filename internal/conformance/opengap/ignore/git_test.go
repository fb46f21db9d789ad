package ignore

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/gittest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestAsGitDoes compares which untracked files count with git, one file of patterns at a time.
func TestAsGitDoes(t *testing.T) {
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
			c := gittest.New(t)
			separator := " "
			if strings.Contains(tt.paths, "|") {
				separator = "|"
			}
			for _, path := range strings.Split(tt.paths, separator) {
				c.Write(path, "x")
			}
			for path, text := range tt.patterns {
				c.Write(path, text)
			}
			exclude := Scope{Patterns: Parse([]byte(tt.patterns[".git/info/exclude"]))}
			got := untracked(t, c.Dir, "", []Scope{exclude})
			want := strings.FieldsFunc(c.Git("ls-files", "-o", "-z", "--exclude-standard"),
				func(r rune) bool { return r == 0 })
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("untracked: %q\ngit:       %q", got, want)
			}
			own := slices.DeleteFunc(got, func(p string) bool {
				return strings.HasSuffix(p, ".gitignore") && !strings.Contains(tt.want, ".gitignore")
			})
			if tt.want != "" && strings.Join(own, separator) != tt.want {
				t.Errorf("untracked: %q, want %q", own, tt.want)
			}
		})
	}
}

// untracked lists the files below a directory that no pattern ignores.
func untracked(t *testing.T, root, dir string, scopes []Scope) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, dir, ".gitignore"))
	if err == nil {
		scopes = append(slices.Clone(scopes), Scope{Directory: dir, Patterns: Parse(text)})
	}
	entries := must.Get(os.ReadDir(filepath.Join(root, dir)))(t)
	var files []string
	for _, e := range entries {
		path := dir + e.Name()
		switch {
		case path == ".git" || Ignores(scopes, path, e.IsDir()):
		case e.IsDir():
			files = append(files, untracked(t, root, path+"/", scopes)...)
		default:
			files = append(files, path)
		}
	}
	return files
}
