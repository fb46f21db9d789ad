package ignore

import (
	"strings"
	"testing"
)

// FuzzPatterns holds that no text makes the package panic, and that the case of a path does not count with fold. What
// patterns mean is compared with git in package registry, where the walk is.
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

func isASCII(s string) bool { return strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) < 0 }
