package fold

import (
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

func TestText(t *testing.T) {
	for _, pair := range [][2]string{
		{"Acme Ltd", "acme ltd"},
		{"Ac\u200bme", "acme"},                 // zero width space
		{"\ufeffAcme\u00ad\u2060", "acme"},     // byte order mark, soft hyphen, word joiner
		{"Ac\ufe0fme\U000e0100", "acme"},       // variation selectors
		{"Ac\U000e0041me", "acme"},             // tag
		{"Ac\u3164\uffa0\u115fme", "acme"},     // Hangul fillers, two of which only NFKC makes ignorable
		{"So\u200b\u0308hne", "s\u00f6hne"},    // between a letter and its accent
		{"So\u034f\u0308hne", "s\u00f6hne"},    // combining grapheme joiner
		{"\u03aa\u0301", "\u0390"},             // folding decomposes
		{"Stra\u1e9ee", "strasse"},             // full folding
		{"\uff21\uff43\uff4d\uff45", "acme"},   // full width
		{"\uab70\u13f8", "\u13a0\u13f0"},       // Cherokee
		{"a\u00a0b", "a b"},                    // NFKC
		{"a\u0600b", "a\u0600b"},               // a prepended mark is seen
		{"a\ufff9b\ufffab", "a\ufff9b\ufffab"}, // so is interlinear annotation
	} {
		got := Text(pair[0])
		if got != pair[1] {
			t.Errorf("Text(%+q) = %+q, want %+q", pair[0], got, pair[1])
		}
	}
}

// Every code point alone, and before an accent, has one form.
func TestTextIsItself(t *testing.T) {
	for r := rune(0); r <= unicode.MaxRune; r++ {
		for _, s := range []string{string(r), "a" + string(r) + "\u0301"} {
			if once := Text(s); Text(once) != once || !norm.NFKC.IsNormalString(once) {
				t.Fatalf("%+q: %+q, then %+q", s, once, Text(once))
			}
		}
		switch r {
		case 0xD7FF: // the surrogates follow
			r = 0xDFFF
		case 0x32FFF: // planes without assigned code points follow
			r = 0xDFFFF
		case 0xE0FFF: // private use follows
			return
		}
	}
}

func TestDefaultIgnorable(t *testing.T) {
	n := 0
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if DefaultIgnorable(r) {
			n++
		}
	}
	// DerivedCoreProperties.txt: "Total code points: 4174" in Unicode 15.0.
	if n != 4174 {
		t.Errorf("%d code points are default-ignorable, want 4174", n)
	}
}
