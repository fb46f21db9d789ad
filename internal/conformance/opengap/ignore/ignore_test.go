package ignore

import "testing"

// FuzzPatterns checks that no text makes the package panic or keeps the last pattern from deciding. What patterns mean
// is compared with git in TestAsGitDoes.
func FuzzPatterns(f *testing.F) {
	for _, text := range []string{"[!a]x\n", "x[[:digit:]]", "d/a**b",
		"x/**/", "\ufeffa", "a\\ ", "\\", "[", "[[:", "a/**/b/**/c", "**\\/x", "!*/"} {
		f.Add([]byte(text), "d/a/b", true)
	}
	f.Fuzz(func(t *testing.T, text []byte, path string, dir bool) {
		Parse(text).Match(path, dir)
		if got := Parse([]byte(string(text)+"\n*")).Match(path, dir); got != Ignored {
			t.Errorf("%q, then *: %q is %d", text, path, got)
		}
	})
}

// TestIgnores checks that the last scope that decides counts, and that patterns hold below their directory.
func TestIgnores(t *testing.T) {
	scopes := []Scope{{Patterns: Parse([]byte("*.a\n/d/*.b\n"))},
		{Directory: "d/", Patterns: Parse([]byte("!x.a\n/y.c\nsub/\n"))}}
	for at, want := range map[string]bool{"d/x.a": false, "d/y.a": true, "d/x.b": true, "d/y.c": true,
		"d/e/y.c": false, "d/sub": false, "d/z": false} {
		if got := Ignores(scopes, at, false); got != want {
			t.Errorf("%s is ignored: %v", at, got)
		}
	}
	if !Ignores(scopes, "d/sub", true) || Ignores(scopes, "d/X.B", false) {
		t.Error("a directory is not ignored, or a name in another letter case is")
	}
}
