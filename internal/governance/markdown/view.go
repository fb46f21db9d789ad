package markdown

import "strings"

// Source returns the lines of a block as one text.
func (b *Block) Source() string { return strings.Join(b.Lines, "\n") }

// Level returns the level of a heading, from 1; 0 for another block.
func (b *Block) Level() int { return b.level }

// Table returns the number of the table that a row belongs to, from 1; 0 for another block.
func (b *Block) Table() int { return b.table }

// Quoted reports whether the block is in a quote.
func (b *Block) Quoted() bool { return b.quotes > 0 }

// Items returns how many list items are around a block that is not quoted, and how many of these it begins.
func (b *Block) Items() (around, begun int) { return b.items, b.opens }

// HTML reports whether the characters of Markdown mean themselves in the block.
func (b *Block) HTML() bool { return b.raw }

// Disguised returns the first word of a text that mixes scripts, or is in capitals of one that is not Latin. It may
// look like another word. It is empty if the text has none.
func Disguised(text string) string {
	if isASCII(text) {
		return ""
	}
	for word := range strings.FieldsSeq(normalized(text)) {
		if mixed(word) {
			return word
		}
	}
	return ""
}

// Normalized returns a text as its words are compared: in NFKC, and without characters that are not seen.
func Normalized(text string) string { return normalized(text) }
