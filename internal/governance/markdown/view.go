package markdown

import "strings"

// Source returns the lines of a block as one text, of a row the cells that are shown.
func (b *Block) Source() string {
	text := strings.Join(b.Lines, "\n")
	if b.Kind == Row {
		if cells := Cells(text); len(cells) > b.shown {
			return "|" + strings.Join(cells[:b.shown], "|") + "|"
		}
	}
	return text
}

// Quoted reports whether the block is in a quote.
func (b *Block) Quoted() bool { return b.quotes > 0 }

// Items returns how many list items are around a block that is not quoted, and how many of these it begins.
func (b *Block) Items() (around, begun int) { return b.items, b.opens }

// Plain returns a text in the form in which its words are compared, and the first word that mixes scripts, or is in
// capitals of one that is not Latin. It may look like another word. It is empty if the text has none.
func Plain(text string) (plain, disguised string) {
	plain = normalized(text)
	if isASCII(plain) {
		return plain, ""
	}
	for word := range strings.FieldsSeq(plain) {
		if mixed(word) {
			return plain, word
		}
	}
	return plain, ""
}
