package checks

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

// isPlain reports whether folding leaves a path as it is, by its bytes alone.
func isPlain(path string) bool {
	for i := range len(path) {
		c := path[i]
		last := i+1 == len(path) || path[i+1] == '/'
		if c >= utf8.RuneSelf || c >= 'A' && c <= 'Z' || last && isDropped(rune(c)) {
			return false
		}
	}
	return true
}

// foldPath is a path as the most forgetful systems compare it: without default-ignorable code points, after NFKC, full
// case folding and NFKC again, which folding can make necessary, and without the dots and blanks at each part's end.
// Systems that forget less see fewer twins, and no clone is for one system alone.
func foldPath(path string) string {
	folded := norm.NFKC.String(cases.Fold().String(norm.NFKC.String(withoutIgnorable(path))))
	parts := strings.Split(folded, "/")
	for i, p := range parts {
		parts[i] = strings.TrimRightFunc(p, isDropped)
	}
	return strings.Join(parts, "/")
}

// isDropped reports whether a rune is one that some systems drop at the end of a name.
func isDropped(r rune) bool { return r == '.' || unicode.IsSpace(r) }

// withoutIgnorable keeps the bytes of what is no UTF-8: names that differ there are no twins.
func withoutIgnorable(s string) string {
	if strings.IndexFunc(s, isIgnorable) < 0 {
		return s
	}
	var out strings.Builder
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if !isIgnorable(r) {
			out.WriteString(s[i : i+size])
		}
		i += size
	}
	return out.String()
}

// isIgnorable is the Unicode property Default_Ignorable_Code_Point, derived as DerivedCoreProperties.txt says.
func isIgnorable(r rune) bool {
	return unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Cf, unicode.Variation_Selector) &&
		!unicode.In(r, unicode.White_Space, unicode.Prepended_Concatenation_Mark) &&
		(r < 0xFFF9 || r > 0xFFFB) && (r < 0x13430 || r > 0x13440)
}
