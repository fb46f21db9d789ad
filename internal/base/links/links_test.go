package links

import (
	"fmt"
	"strings"
	"testing"
)

func TestResolve(t *testing.T) {
	links := map[string]string{"d": "a/b", "a/b/up": "..", "a/b/out": "../../..", "abs": "/etc", "x": "y", "y": "x",
		"self": ".", "z0": "a", strings.Repeat("a/", 64) + "l": "/", strings.Repeat("a/", 65) + "l": "/"}
	for i := range 41 {
		links[fmt.Sprintf("z%d", i+1)] = fmt.Sprintf("z%d", i)
	}
	const outside = "outside"
	long := strings.Repeat("a/", 2048)
	for name, want := range map[string]string{
		"a/c": "a/c", "": ".", ".": ".", "a//./c/": "a/c", "a/..": ".", "none/../a": "a", "d": "a/b", "d/c": "a/b/c",
		"d/..": "a", "d/up/b/up": "a", "self/self/d": "a/b", "..": outside, "a/../..": outside, "d/out": outside,
		"abs": outside, "abs/x": outside, "/a": "a", "x": outside, "y/a": outside, "z39": "a", "z40": outside,
		strings.Repeat("a/", 64) + "l": outside, strings.Repeat("a/", 65) + "l": strings.Repeat("a/", 65) + "l",
		long: strings.TrimSuffix(long, "/"), long + "/..": long + "/..",
	} {
		got, leaves := Resolve(name, func(at string) string { return links[at] })
		if leaves {
			got = outside
		}
		if got != want {
			t.Errorf("%q leads to %q, want %q", name, got, want)
		}
	}
}
