package opengap

import (
	"strings"
	"unicode"
)

// mentions are the words that are looked for in texts, with the file where each was found first; empty where it was not.
type mentions map[string]string

func isWordRune(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// find looks for the words in the text of a file. A word is of letters, digits and _; one that is looked for may have
// hyphens too.
func (m mentions) find(file, text string) {
	m.split(file, text, func(r rune) bool { return !isWordRune(r) })
	m.split(file, text, func(r rune) bool { return !isWordRune(r) && r != '-' })
}

func (m mentions) split(file, text string, apart func(rune) bool) {
	for word := range strings.FieldsFuncSeq(text, apart) {
		if found, wanted := m[word]; wanted && found == "" {
			m[word] = file
		}
	}
}
