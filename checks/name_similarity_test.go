package checks

import "testing"

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b       string
		most, want int
	}{
		{"", "", 2, 0},
		{"", "ab", 2, 2},
		{"nova", "nova", 2, 0},
		{"nova", "novo", 2, 1},
		{"nova", "ova", 2, 1},
		{"nova", "novae", 2, 1},
		{"nova", "onva", 2, 1},  // neighbours swapped
		{"nova", "onav", 2, 2},  // twice
		{"nova", "avno", 2, 3},  // more than asked for
		{"ca", "abc", 3, 3},     // no edit between swapped letters: optimal string alignment
		{"meridian", "m", 1, 2}, // far is one more than asked for
	} {
		for _, way := range [][2]string{{c.a, c.b}, {c.b, c.a}} {
			if got := min(Distance([]rune(way[0]), []rune(way[1]), c.most), c.most+1); got != c.want {
				t.Errorf("Distance(%q, %q, %d) = %d, want %d", way[0], way[1], c.most, got, c.want)
			}
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
	} {
		for _, way := range [][2]string{{c.a, c.b}, {c.b, c.a}} {
			if got := resembles(foldText(way[0]), foldText(way[1])); got != c.want {
				t.Errorf("resembles(%q, %q) = %v, want %v", way[0], way[1], got, c.want)
			}
		}
	}
}
