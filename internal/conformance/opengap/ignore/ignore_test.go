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
		Ignores([]Scope{{Patterns: Parse(text)}}, path, dir)
		if !Ignores([]Scope{{Patterns: Parse([]byte(string(text) + "\n*"))}}, path, dir) {
			t.Errorf("%q, then *: %q is not ignored", text, path)
		}
	})
}
