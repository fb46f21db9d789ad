// Package markdown cuts Markdown into blocks and finds the requirements in them. It reads what an author wrote, not
// what a renderer shows: nothing is left out.
package markdown

import (
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/plain"
)

// Kind is what a line of Markdown begins.
type Kind uint8

const (
	// Paragraph is a line that begins a paragraph or continues the block before it.
	Paragraph Kind = iota
	// Blank is a line without text.
	Blank
	// Heading is a line with number signs before its text.
	Heading
	// Fence opens or closes a code block.
	Fence
	// Item is a list item.
	Item
	// Row is a row of a table.
	Row
	// Quote is a quoted line.
	Quote
	// Rule underlines a heading or separates paragraphs.
	Rule
	// Later is a later paragraph of a list item.
	Later
	// Code is fenced or indented code.
	Code
	// Comment is the content of a comment.
	Comment
)

// String returns the name of the kind.
func (k Kind) String() string {
	return [...]string{"paragraph", "blank line", "heading", "fence", "list item", "table row", "quote", "rule",
		"later paragraph of a list item", "code block", "comment"}[k]
}

var (
	headingLine = plain.Pattern(`^ {0,3}#{1,6}(?:\s|$)`)
	ruleLine    = plain.Pattern(`^ {0,3}(?:=+|-{3,}|_{3,}|\*{3,})\s*$`)
)

// KindOf returns what a line begins.
func KindOf(line string) Kind {
	line, _, _ = strings.Cut(line, "\n")
	rest := strings.TrimLeft(line, " \t")
	switch {
	case strings.TrimSpace(rest) == "":
		return Blank
	case rest[0] == '>':
		return Quote
	case rest[0] == '|':
		return Row
	case strings.HasPrefix(rest, "```"), strings.HasPrefix(rest, "~~~"):
		return Fence
	case ruleLine().MatchString(line):
		return Rule
	case Marker(rest) > 0:
		return Item
	case headingLine().MatchString(line):
		return Heading
	}
	return Paragraph
}

// Piece is a paragraph, a heading, a list item, a row of a table or a quote, its lines joined by blanks.
type Piece struct {
	Kind   Kind
	Text   string // white space folded, without the list marker
	Hidden bool   // it begins within a comment
}

// Blocks cuts a text into its blocks.
func Blocks(text string) []Piece {
	var out []Piece
	var lines []string // of the block that is open
	open, comment := false, false
	end := func() {
		if open {
			out[len(out)-1].Text = strings.TrimSpace(strings.Join(lines, " "))
		}
		open = false
	}
	for line := range strings.SplitSeq(text, "\n") {
		hidden := comment
		if begin, end := strings.LastIndex(line, "<!--"), strings.LastIndex(line, "-->"); begin != end {
			comment = begin > end
		}
		k := KindOf(line)
		folded := strings.Join(strings.Fields(line), " ")
		switch k {
		case Blank, Fence, Rule:
			end()
			continue
		case Item:
			folded = strings.TrimSpace(folded[Marker(folded):])
		case Quote:
			if open && out[len(out)-1].Kind == Quote {
				lines = append(lines, strings.TrimLeft(folded, "> "))
				continue
			}
		case Paragraph:
			if open {
				lines = append(lines, folded)
				continue
			}
		}
		end()
		out = append(out, Piece{k, folded, hidden})
		if open = k != Heading && k != Row; open {
			lines = append(lines[:0], folded)
		}
	}
	end()
	return out
}

// Cut splits the text of a block after each full stop, exclamation and question mark before a blank.
func Cut(text string) []string {
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

// Marker returns the length of the list marker that a line begins with, 0 where there is none.
func Marker(line string) int {
	n := 0
	for n < len(line) && n < 9 && '0' <= line[n] && line[n] <= '9' {
		n++
	}
	switch {
	case n > 0 && n < len(line) && (line[n] == '.' || line[n] == ')'):
		n++
	case n == 0 && line != "" && strings.IndexByte("-*+", line[0]) >= 0:
		n = 1
	default:
		return 0
	}
	if n < len(line) && line[n] != ' ' && line[n] != '\t' {
		return 0
	}
	return n
}
