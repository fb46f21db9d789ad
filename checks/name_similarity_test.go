package checks

import (
	"strings"
	"testing"
	"unicode"
)

// The characters that change the direction of text are among those that no name may have.
func TestDirectionIsInvisible(t *testing.T) {
	for r := range unicode.MaxRune + 1 {
		if unicode.Is(unicode.Bidi_Control, r) && !unicode.Is(unicode.C, r) {
			t.Errorf("U+%04X changes the direction of text, and is no control character", r)
		}
	}
}

func TestResembles(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"nova", "nova", true},
		{"nov", "nov", false}, // too short to say
		{"nov", "nova", false},
		{"nova", "novo", true},
		{"nova", "nxyva", false},
		{"meridian", "meradean", true}, // two edits from eight letters on
		{"meridia", "meradea", false},
		{"agent-1", "agent-2", false}, // versions
		{"agent-1", "agent-l", true},  // a letter that looks like the number
		{"agent 7", "agent", false},
		{"o-pen.sky", "open sky", true},
		{"modem", "rnodern", true},
		{"vvow", "wovv", true},
		{"ΝΟΒΑ", "noba", true}, // Greek capitals
		{"нова", "hoba", true}, // Cyrillic
		{"ﬁnance", "finance", true},
		{"straße", "STRASSE", true},
		{"ｎｏｖａ", "novo", true},
		{"東京東京", "京東京東", false},
		{"a" + strings.Repeat("n", 255), "b" + strings.Repeat("n", 255), true},
		{"a" + strings.Repeat("n", 256), "b" + strings.Repeat("n", 256), false}, // longer than any name may be
		{"a" + strings.Repeat("n", 60_000), "a" + strings.Repeat("N", 60_000), true},
	} {
		for _, way := range [][2]string{{c.a, c.b}, {c.b, c.a}} {
			if got := resembles(foldText(way[0]), foldText(way[1])); got != c.want {
				t.Errorf("resembles(%q, %q) = %v, want %v", way[0], way[1], got, c.want)
			}
		}
	}
}
