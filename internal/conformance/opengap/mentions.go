package opengap

import (
	"strings"
	"unicode"
)

// mentions are the words that are looked for in texts, with the file where each was found first, or empty.
type mentions map[string]string

// find looks for the words in the text of a file. A word is of letters, digits and _; one that is looked for may have
// hyphens too, and is then a word of those.
func (m mentions) find(file, text string) {
	for _, hyphens := range []bool{false, true} {
		for word := range strings.FieldsFuncSeq(text, func(r rune) bool {
			return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) && (r != '-' || !hyphens)
		}) {
			if found, wanted := m[word]; wanted && found == "" {
				m[word] = file
			}
		}
	}
}
