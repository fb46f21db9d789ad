package opengap

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// mentions are the words that are looked for in texts, with the file where each was found first.
type mentions struct {
	files   map[string]string // empty where the word was not found
	hyphens bool              // one of the words has a hyphen
}

func newMentions() *mentions { return &mentions{files: map[string]string{}} }

// want looks for a word from now on.
func (m *mentions) want(word string) {
	m.files[word] = ""
	m.hyphens = m.hyphens || strings.Contains(word, "-")
}

// find looks for the words in the text of a file. A word is of letters, digits and _; one that is looked for may have
// hyphens too, and is then a word of those.
func (m *mentions) find(file, text string) {
	m.split(file, text, false)
	if m.hyphens {
		m.split(file, text, true)
	}
}

func (m *mentions) split(file, text string, hyphens bool) {
	start := -1 // of the word that goes on
	for i := 0; ; {
		n, part := 1, false
		switch {
		case i == len(text):
		case text[i] < utf8.RuneSelf:
			part = asciiWord[text[i]] || hyphens && text[i] == '-'
		default:
			var r rune
			r, n = utf8.DecodeRuneInString(text[i:])
			part = unicode.IsLetter(r) || unicode.IsDigit(r)
		}
		switch {
		case part && start < 0:
			start = i
		case !part && start >= 0:
			if found, wanted := m.files[text[start:i]]; wanted && found == "" {
				m.files[text[start:i]] = file
			}
			start = -1
		}
		if i == len(text) {
			return
		}
		i += n
	}
}

// asciiWord are the characters of words in ASCII.
var asciiWord = func() (is [utf8.RuneSelf]bool) {
	for c := range is {
		is[c] = c == '_' || unicode.IsLetter(rune(c)) || unicode.IsDigit(rune(c))
	}
	return is
}()
