// Package fold brings texts that people and file systems take for one to one form.
package fold

import (
	"strings"
	"unicode"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// rounds is how often the steps of Text are gone through at most; two are enough for every single code point.
const rounds = 8

// Text returns s after NFKC, full case folding and NFKC again, without default-ignorable code points. It repeats the
// steps until nothing changes: a code point that is left out may be between a letter and its accent, which only then
// compose, and NFKC makes default-ignorable code points of others, such as U+3164.
func Text(s string) string {
	for range rounds {
		next := strings.Map(plain, norm.NFKC.String(cases.Fold().String(norm.NFKC.String(s))))
		if next == s {
			break
		}
		s = next
	}
	return s
}

// plain drops what is not seen. Cherokee folds to its capitals, where the library swaps them with the small letters.
func plain(r rune) rune {
	switch {
	case DefaultIgnorable(r):
		return -1
	case 0xAB70 <= r && r <= 0xABBF:
		return r - 0xAB70 + 0x13A0
	case 0x13F8 <= r && r <= 0x13FD:
		return r - 8
	}
	return r
}

// DefaultIgnorable reports whether r has the Unicode property Default_Ignorable_Code_Point: it is drawn as nothing
// where it is not supported. It is derived as in DerivedCoreProperties.txt of the Unicode Character Database.
func DefaultIgnorable(r rune) bool {
	if r < 0xAD { // the soft hyphen is the first
		return false
	}
	switch {
	case unicode.In(r, unicode.White_Space, unicode.Prepended_Concatenation_Mark),
		0xFFF9 <= r && r <= 0xFFFB,   // interlinear annotation
		0x13430 <= r && r <= 0x13440: // Egyptian hieroglyph format controls
		return false
	}
	return unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Cf, unicode.Variation_Selector)
}
