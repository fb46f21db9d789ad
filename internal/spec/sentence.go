package spec

import (
	"github.com/openagentprotocol-OAP/oap-gate/internal/plain"

	"strings"
	"unicode"
	"unicode/utf8"
)

// kind is what a line of Markdown begins.
type kind uint8

const (
	paragraph kind = iota // or goes on with what the line before began
	blank
	heading
	fence
	item
	row
	quote
	rule // of a heading above it, or between paragraphs
)

var (
	headingLine = plain.Pattern(`^ {0,3}#{1,6}(?:\s|$)`)
	ruleLine    = plain.Pattern(`^ {0,3}(?:=+|-{3,}|_{3,}|\*{3,})\s*$`)
)

func kindOf(line string) kind {
	line, _, _ = strings.Cut(line, "\n")
	rest := strings.TrimLeft(line, " \t")
	switch {
	case strings.TrimSpace(rest) == "":
		return blank
	case rest[0] == '>':
		return quote
	case rest[0] == '|':
		return row
	case strings.HasPrefix(rest, "```"), strings.HasPrefix(rest, "~~~"):
		return fence
	case ruleLine().MatchString(line):
		return rule
	case marker(rest) > 0:
		return item
	case headingLine().MatchString(line):
		return heading
	}
	return paragraph
}

// block is a paragraph, a heading, a list item, a row of a table or a quote, its lines joined by blanks.
type block struct {
	kind   kind
	text   string // white space folded, without the list marker
	hidden bool   // it begins within a comment
}

// blocksOf cuts a text into its blocks.
func blocksOf(text string) []block {
	var out []block
	var lines []string // of the block that is open
	open, comment := false, false
	end := func() {
		if open {
			out[len(out)-1].text = strings.TrimSpace(strings.Join(lines, " "))
		}
		open = false
	}
	for line := range strings.SplitSeq(text, "\n") {
		hidden := comment
		if begin, end := strings.LastIndex(line, "<!--"), strings.LastIndex(line, "-->"); begin != end {
			comment = begin > end
		}
		k := kindOf(line)
		folded := strings.Join(strings.Fields(line), " ")
		switch k {
		case blank, fence, rule:
			end()
			continue
		case item:
			folded = strings.TrimSpace(folded[marker(folded):])
		case quote:
			if open && out[len(out)-1].kind == quote {
				lines = append(lines, strings.TrimLeft(folded, "> "))
				continue
			}
		case paragraph:
			if open {
				lines = append(lines, folded)
				continue
			}
		}
		end()
		out = append(out, block{k, folded, hidden})
		if open = k != heading && k != row; open {
			lines = append(lines[:0], folded)
		}
	}
	end()
	return out
}

// cut splits the text of a block after each full stop, exclamation and question mark before a blank.
func cut(text string) []string {
	var out []string
	start := 0
	for i := 0; i+1 < len(text); i++ {
		if (text[i] == '.' || text[i] == '!' || text[i] == '?') && text[i+1] == ' ' {
			out = append(out, text[start:i+1])
			start = i + 2
		}
	}
	return append(out, text[start:])
}

// keyWords are those of RFC 2119; MUST NOT and the like begin with one of them.
var keyWords = []string{"MUST", "REQUIRED", "SHALL", "SHOULD", "RECOMMENDED", "MAY", "OPTIONAL"}

// hasKeyWord reports whether a key word stands in a sentence as a word of its own, in capitals.
func hasKeyWord(sentence string) bool {
	for _, word := range keyWords {
		for rest := sentence; ; {
			i := strings.Index(rest, word)
			if i < 0 {
				break
			}
			// An underscore next to it is emphasis, unless more of a name follows.
			before, _ := utf8.DecodeLastRuneInString(strings.TrimRight(rest[:i], "_"))
			after, _ := utf8.DecodeRuneInString(strings.TrimLeft(rest[i+len(word):], "_"))
			if !isWord(before) && !isWord(after) {
				return true
			}
			rest = rest[i+1:]
		}
	}
	return false
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// normative are the sentences of a text that hold a key word. A paragraph that ends in a colon is put before the items
// and rows that follow it: it governs them. The bytes that this takes are taken from the budget; false is that it does
// not last. A sentence within a comment is another than the same one that is shown.
func normative(text string, budget *int) ([]string, bool) {
	var out []string
	lead := ""
	for _, b := range blocksOf(text) {
		text := b.text
		switch b.kind {
		case paragraph, heading:
			lead = ""
			if b.kind == paragraph && strings.HasSuffix(text, ":") {
				lead = text + " "
			}
		case item, row:
			if *budget -= len(lead); *budget < 0 {
				return nil, false
			}
			text = lead + text
		}
		for _, sentence := range cut(text) {
			switch {
			case !hasKeyWord(sentence):
			case b.hidden:
				out = append(out, "<!-- "+sentence)
			default:
				out = append(out, sentence)
			}
		}
	}
	return out, true
}

// multiset counts sentences, and remembers their order.
type multiset struct {
	count map[string]int
	order []string
}

func (m *multiset) add(sentences []string) {
	if m.count == nil {
		m.count = map[string]int{}
	}
	for _, s := range sentences {
		if m.count[s]++; m.count[s] == 1 {
			m.order = append(m.order, s)
		}
	}
}

// without are the sentences that m has more often than o.
func (m *multiset) without(o *multiset) []string {
	var out []string
	for _, s := range m.order {
		if m.count[s] > o.count[s] {
			out = append(out, s)
		}
	}
	return out
}
