package checks

import (
	"strings"
	"testing"
)

// TestIndexOthers holds that others tells what looking through all does.
func TestIndexOthers(t *testing.T) {
	x := newIndex(strings.ToLower, 0)
	for n := range 4 {
		for _, text := range []string{"nova", "Nova"} {
			for _, l := range x.all(text) {
				first, count := "", 0
				for _, o := range x.all(text) {
					if o != l {
						if count++; first == "" {
							first = o.Path
						}
					}
				}
				if f, c := x.others(text, l.Path); f != first || c != count {
					t.Errorf("of %d: others of %s are %d, the first %q; want %d, %q", n, l.Path, c, f, count, first)
				}
			}
		}
		x.add("NOVA", &Listed{Path: string(rune('a' + n))})
	}
	if first, count := x.others("vega", "a"); first != "" || count != 0 {
		t.Errorf("others of a text without listings are %d, the first %q", count, first)
	}
}
