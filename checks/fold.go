package checks

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/openagentprotocol-OAP/oap-gate/internal/fold"
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

// foldPath is a path as the most forgetful systems compare it: folded, and without the dots and blanks at each part's
// end. Systems that forget less see fewer twins, and no clone is for one system alone.
func foldPath(path string) string {
	folded := path
	if utf8.ValidString(path) {
		folded = fold.Text(path)
	} else { // bytes that are no UTF-8 stay apart
		folded = norm.NFKC.String(cases.Fold().String(norm.NFKC.String(path)))
	}
	parts := strings.Split(folded, "/")
	for i, p := range parts {
		parts[i] = strings.TrimRightFunc(p, isDropped)
	}
	return strings.Join(parts, "/")
}

// isDropped reports whether a rune is one that some systems drop at the end of a name.
func isDropped(r rune) bool { return r == '.' || unicode.IsSpace(r) }
