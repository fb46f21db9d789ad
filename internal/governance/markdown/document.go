// Package markdown cuts Markdown into blocks and finds the requirements in them. It reads what an author wrote, not
// what a renderer shows: nothing is left out.
package markdown

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Document is a text as blocks, in order. The contents of comments are blocks at the end.
type Document struct {
	Blocks []*Block
	// Status are the lines that begin with "Status:".
	Status []Status

	targets  map[string]string // of link definitions, by folded label
	referred map[string]bool   // footnotes
	hiding   hiding
	lines    []string
	lost     int // the line of the first block from which on it is not known what is shown; 0: it is known
	comments []*Block
	size     int             // the number of words that were read
	known    map[string]word // the words that were read, by their text; dropped in the end
}

// Status is a line that begins with "Status:".
type Status struct {
	Line int
	// Text is what is compared: what follows, and the elements that may hide it.
	Text string
}

// ErrLimit means that a text has too many lines or words.
var ErrLimit = errors.New("over the limit")

// Limits of one text.
const (
	maxLines = 1 << 18
	maxWords = 1 << 20
)

// Kind is the kind of a block.
type Kind uint8

const (
	// Paragraph is a paragraph outside quotes and items.
	Paragraph Kind = iota
	// Heading begins with number signs, or is underlined.
	Heading
	// Item is the first paragraph of a list item.
	Item
	// Later is a later paragraph of a list item.
	Later
	// Row is a row of a table.
	Row
	// Quote is a paragraph of a quote or of a footnote.
	Quote
	// Code is fenced or indented code.
	Code
	// Comment is the content of a comment.
	Comment
)

// String returns the name of the kind.
func (k Kind) String() string {
	return [...]string{"paragraph", "heading", "list item", "later paragraph of a list item", "table row", "quote",
		"code block", "comment"}[k]
}

// Block is a heading, a paragraph, a list item, a row, a quote or code.
type Block struct {
	Kind  Kind
	Line  int      // of its first line, from 1
	Lines []string // as they are written, without the marks of the quotes and items around them
	// Above is the heading above, or nil.
	Above *Block
	// Required reports whether the block has a requirement word.
	Required bool
	// Governed reports whether its own or another block's requirement word makes the block a requirement.
	Governed bool
	Level    int  // heading level, from 1; 0 for another block
	Table    int  // number of the table that a row belongs to, from 1; 0 for another block
	HTML     bool // the characters of Markdown mean themselves in it

	in     *container
	opens  int    // the number of containers around it of which it is the first block
	note   string // the folded label of the footnote that it is in
	quotes int    // around it, a footnote among them
	items  int    // around it
	empty  bool   // it has no words
	hidden string // the elements that may hide it
	listed bool   // an HTML element that lists or quotes is around it or begins in it
	shown  int    // the number of cells of a row that are shown
	words  []word // words of a heading, and of a governed block
}

// container is a quote, a footnote or a list item.
type container struct {
	in     *container
	quote  bool
	note   string // the folded label of a footnote, which is a quote too
	indent int    // the number of blanks that a line of an item or a footnote has at least
	filled bool   // it has a block
	bare   bool   // it begins with a blank line, and nothing follows yet

	governed bool // with all that it holds
	led      bool // a paragraph in it governs what follows there
}

// maxNesting is how many quotes and items may hold one another. The marks of deeper ones are words.
const maxNesting = 32

// leaf is the block that the next line may continue.
type leaf uint8

const (
	noLeaf leaf = iota
	paragraphLeaf
	tableLeaf
	fencedLeaf
	indentedLeaf
	htmlLeaf // up to a blank line
	rawLeaf  // HTML up to a line with a mark
)

// reader cuts a text into blocks, as CommonMark and GitHub's tables do.
type reader struct {
	doc     *Document
	open    []*container
	leaf    leaf
	block   *Block // the leaf's
	fence   string // that opened the code
	end     string // the mark that ends rawLeaf, in small letters
	tables  int
	columns int // that the open table has
}

// Read reads a text. It leaves out only marks: the rulers of tables, thematic breaks, the marks of blocks and the
// language of fenced code. A text of too many lines or words is ErrLimit.
func Read(text string) (*Document, error) {
	d, err := split(text)
	if err == nil && !d.finish() {
		err = fmt.Errorf("%w: the text has more than %d words", ErrLimit, maxWords)
	}
	if err != nil {
		return nil, err
	}
	return d, nil
}

// Split cuts a text into blocks. It does not read words: headings above and requirements are not set. A text of too
// many lines is ErrLimit.
func Split(text string) ([]*Block, error) {
	d, err := split(text)
	if err != nil {
		return nil, err
	}
	d.place()
	return d.Blocks, nil
}

func split(text string) (*Document, error) {
	text = strings.TrimPrefix(text, "\ufeff")
	if strings.Contains(text, "\r") {
		text = strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
	}
	r := &reader{doc: &Document{}}
	if n := strings.Count(text, "\n"); n > maxLines {
		return nil, fmt.Errorf("%w: the text has %d lines, at most %d are read", ErrLimit, n, maxLines)
	}
	lines := strings.Split(text, "\n")
	r.doc.lines = lines
	n := 0
	if end := slices.Index(lines[1:], "---"); end > 0 && lines[0] == "---" {
		n = end + 2
		b := r.add(Paragraph, 2)
		b.Lines, b.hidden = lines[1:end+1], "front matter"
	}
	for ; n < len(lines); n++ {
		r.line(n+1, expanded(lines[n]))
	}
	return r.doc, nil
}

// add appends a block at the place of the open containers.
func (r *reader) add(kind Kind, line int) *Block {
	b := &Block{Kind: kind, Line: line, in: r.innermost()}
	for _, c := range r.open {
		if c.quote {
			b.quotes++
		} else {
			b.items++
		}
		if c.note != "" {
			b.note = c.note
		}
	}
	r.doc.Blocks = append(r.doc.Blocks, b)
	return b
}

// place finds out which blocks begin an item.
func (d *Document) place() {
	for _, b := range d.Blocks {
		if b.Kind == Paragraph && b.in != nil {
			switch {
			case b.in.quote:
				b.Kind = Quote
			case b.in.filled:
				b.Kind = Later
			default:
				b.Kind = Item
			}
		}
		for c := b.in; c != nil && !c.filled; c = c.in {
			c.filled = true
			b.opens++
		}
	}
}

// begin opens a leaf.
func (r *reader) begin(l leaf, kind Kind, line int, text ...string) *Block {
	r.leaf, r.block = l, r.add(kind, line)
	r.block.Lines = append(r.block.Lines, text...)
	return r.block
}

// line reads one line, the tabs of which are blanks.
func (r *reader) line(n int, rest string) {
	matched := 0
	for _, c := range r.open {
		inner, ok := c.strip(rest)
		if !ok {
			break
		}
		rest = inner
		matched++
	}
	all := matched == len(r.open)
	if !all && r.leaf != paragraphLeaf {
		r.leaf = noLeaf
	}
	if r.continues(rest) {
		return
	}
	for fresh := false; ; fresh = true {
		columns := indentation(rest)
		text := rest[columns:]
		continued := r.leaf == paragraphLeaf && all && !fresh
		if columns >= 4 || text == "" {
			break
		}
		deep := matched >= maxNesting
		switch level := headingLevel(text); {
		case text[0] == '>' && !deep:
			r.close(matched)
			rest = strings.TrimPrefix(text[1:], " ")
			r.open = append(r.open, &container{in: r.innermost(), quote: true})
			matched++
			continue
		case level > 0:
			r.close(matched)
			b := r.add(Heading, n)
			b.Level, b.Lines = level, []string{headingText(text)}
			return
		case fenceOf(text) != "":
			r.close(matched)
			r.begin(fencedLeaf, Code, n)
			r.fence = fenceOf(text)
			return
		case continued && underline(text) > 0:
			r.block.Kind, r.block.Level = Heading, underline(text)
			r.leaf = noLeaf
			return
		case isBreak(text):
			r.close(matched)
			return
		}
		if l, end := htmlStart(text, r.leaf == paragraphLeaf); l != noLeaf {
			r.close(matched)
			r.end = end
			r.begin(l, Paragraph, n).HTML = true
			r.continues(rest)
			return
		}
		if label, length := footnote(text); label != "" && !deep {
			r.close(matched)
			rest = strings.TrimLeft(text[length:], " ")
			r.open = append(r.open,
				&container{in: r.innermost(), quote: true, note: label, indent: 4, bare: rest == ""})
			matched++
			continue
		}
		width := marker(text)
		if width == 0 || deep || continued && !interrupts(text, width) {
			break
		}
		r.close(matched)
		pad := indentation(text[width:])
		c := &container{in: r.innermost(), indent: columns + width + pad}
		switch {
		case width+pad == len(text):
			c.indent, c.bare = columns+width+1, true
			pad = len(text) - width
		case pad > 4:
			c.indent = columns + width + 1
			pad = 1
		}
		rest = text[width+pad:]
		r.open = append(r.open, c)
		matched++
	}
	r.text(n, rest, matched)
}

// close ends the open block, and the containers after the first few.
func (r *reader) close(matched int) {
	r.open, r.leaf = r.open[:matched], noLeaf
}

// text reads what no mark begins.
func (r *reader) text(n int, rest string, matched int) {
	columns := indentation(rest)
	lazy := matched < len(r.open)
	switch {
	case columns == len(rest): // blank
		r.open = r.open[:matched]
		if r.leaf != indentedLeaf {
			r.leaf = noLeaf
		}
	case r.leaf == paragraphLeaf:
		if lazy || columns >= 4 || !r.ruled(rest) {
			r.block.Lines = append(r.block.Lines, rest[columns:])
		}
	case r.leaf == tableLeaf && columns < 4 && len(Cells(rest)) > 0:
		r.row(n, rest)
	default:
		r.open = r.open[:matched]
		switch {
		case columns < 4:
			r.begin(paragraphLeaf, Paragraph, n, rest[columns:])
		case r.leaf == indentedLeaf:
			r.block.Lines = append(r.block.Lines, rest[4:])
		default:
			r.begin(indentedLeaf, Code, n, rest[4:])
		}
	}
}

// strip takes the container's mark from a line, and reports whether the line is in it.
func (c *container) strip(line string) (rest string, ok bool) {
	columns := indentation(line)
	switch {
	case c.quote && c.note == "":
		inner, ok := strings.CutPrefix(line[min(columns, 3):], ">")
		return strings.TrimPrefix(inner, " "), ok
	case columns == len(line):
		return "", !c.bare
	case columns < c.indent:
		return "", false
	}
	c.bare = false
	return line[c.indent:], true
}

func (r *reader) innermost() *container {
	if len(r.open) == 0 {
		return nil
	}
	return r.open[len(r.open)-1]
}

// continues adds a line to fenced code or HTML, and reports whether one of these is open.
func (r *reader) continues(line string) bool {
	switch r.leaf {
	case fencedLeaf:
		columns := indentation(line)
		if columns < 4 && closes(line[columns:], r.fence) {
			r.leaf = noLeaf
			return true
		}
	case htmlLeaf:
		if strings.TrimSpace(line) == "" {
			r.leaf = noLeaf
			return false
		}
	case rawLeaf:
		if strings.Contains(strings.ToLower(line), r.end) {
			r.leaf = noLeaf
		}
	default:
		return false
	}
	r.block.Lines = append(r.block.Lines, line)
	return true
}

// ruled makes a table of the last line of a paragraph if a ruler follows, and reports whether one does.
func (r *reader) ruled(line string) bool {
	last := len(r.block.Lines) - 1
	header := r.block.Lines[last]
	columns, ok := ruler(line)
	if !ok || columns != len(Cells(header)) {
		return false
	}
	r.leaf, r.columns = tableLeaf, columns
	r.tables++
	if last == 0 {
		r.block.Kind, r.block.Table, r.block.shown = Row, r.tables, columns
		return true
	}
	r.block.Lines = r.block.Lines[:last]
	r.row(r.block.Line+last, header)
	return true
}

func (r *reader) row(n int, line string) {
	b := r.add(Row, n)
	b.Lines, b.Table, b.shown = []string{line}, r.tables, r.columns
}
