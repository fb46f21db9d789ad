package ignore

import (
	"strings"
	"testing"
)

// FuzzPatterns checks that no text makes the package panic, and that the case of a path does not count with fold. What
// patterns mean is compared with git in TestAsGitDoes.
func FuzzPatterns(f *testing.F) {
	for _, text := range []string{"[!a]x\n", "x[[:digit:]]", "d/a**b",
		"x/**/", "\ufeffa", "a\\ ", "\\", "[", "[[:", "a/**/b/**/c", "**\\/x", "!*/"} {
		f.Add([]byte(text), "d/a/b", true)
	}
	f.Fuzz(func(t *testing.T, text []byte, path string, dir bool) {
		got := Parse(text, true).Match(path, dir, true)
		if upper := Parse(text, true).Match(strings.ToUpper(path), dir, true); isASCII(path) && upper != got {
			t.Errorf("%q: %q is %d, in capitals %d", text, path, got, upper)
		}
		Parse(text, false).Match(path, dir, false)
	})
}

// TestIgnores checks that the last scope that decides counts, and that patterns hold below their directory.
func TestIgnores(t *testing.T) {
	scopes := []Scope{{Patterns: Parse([]byte("*.a\n/d/*.b\n"), false)},
		{Directory: "d/", Patterns: Parse([]byte("!x.a\n/y.c\nsub/\n"), false)}}
	for at, want := range map[string]bool{"d/x.a": false, "d/y.a": true, "d/x.b": true, "d/y.c": true,
		"d/e/y.c": false, "d/sub": false, "d/z": false} {
		if got := Ignores(scopes, at, false, false); got != want {
			t.Errorf("%s is ignored: %v", at, got)
		}
	}
	if !Ignores(scopes, "d/sub", true, false) || !Ignores(scopes, "d/X.B", false, true) {
		t.Error("a directory, or a name in another letter case, is not ignored")
	}
}

func isASCII(s string) bool { return strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) < 0 }
