package markdown

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
)

var (
	sectionNumber = plain.Pattern(
		`^[*_]*(?:RFC[- ]?[0-9]+ *[:\x{2013}\x{2014}-]|(?:[0-9]+|[A-Z])(?:(?:\.[0-9a-z]{1,5})+[.)]?|[.)]))[*_]* +`)
	headingAttributes = plain.Pattern(` *\{ *[#.:][^{}]*\} *$`)
)

// finish reads the words of the blocks, and finds the requirements. It reports whether the words are few enough.
func (d *Document) finish() bool {
	d.define()
	d.referred, d.known = map[string]bool{}, make(map[string]word, min(512, 4*len(d.Blocks)))
	for _, b := range d.Blocks {
		d.read(b)
		if d.size > maxWords {
			return false
		}
	}
	d.Blocks = slices.DeleteFunc(d.Blocks, func(b *Block) bool { return b.Kind != Heading && b.empty })
	d.place()
	d.hideFootnotes()
	d.structure()
	d.govern()
	if d.lost > 0 { // any mark may change what is shown
		rest := plain.SHA256([]byte(strings.Join(d.lines[d.lost-1:], "\n")))
		d.Blocks = append(d.Blocks, &Block{Kind: Code, Line: d.lost, Governed: true, Lines: []string{
			"what follows an element, a tag or a comment of HTML that does not end, of SHA-256 " + rest}})
	}
	slices.SortStableFunc(d.comments, func(a, b *Block) int { return a.Line - b.Line })
	for _, b := range d.comments {
		d.read(b)
		if b.Governed = b.Required; !b.empty {
			d.Blocks = append(d.Blocks, b)
		}
	}
	d.comments = nil
	for _, b := range d.Blocks {
		if b.words == nil && b.Governed {
			d.words(b)
		} else if !b.Governed && b.Kind != Heading {
			b.words = nil // they take more memory than the text
		}
	}
	d.known, d.lines = nil, nil
	return d.size <= maxWords
}

// maxTarget is the length of a link target that is kept for each link. A longer one is kept as its hash.
const maxTarget = 80

// define enters for each label of a link definition all that may be its target, and whether it is within text, where it
// defines nothing. A heading may begin with one.
func (d *Document) define() {
	all := map[string][]string{}
	for _, b := range d.Blocks {
		if b.Kind == Code {
			continue
		}
		text := strings.Join(b.Lines, "\n")
		inText := len(text) - Definitions(text)
		for label, line, rest := "", "", text; rest != ""; {
			if n := DefinitionLength(rest); n > 0 {
				label = folded(rest[1 : n-2])
				if len(rest) <= inText && label != "" {
					all[label] = append(all[label], "no-link")
				}
				rest = rest[n:]
			}
			line, rest, _ = strings.Cut(rest, "\n")
			if label != "" {
				for field := range strings.FieldsSeq(line) {
					all[label] = append(all[label], target(withEntities(strings.Trim(field, "<>"))))
				}
			}
		}
	}
	d.targets = map[string]string{}
	for label, targets := range all {
		text := strings.Join(targets, " ")
		if len(text) > maxTarget {
			text = plain.SHA256([]byte(text))
		}
		d.targets[label] = text
	}
}

// hideFootnotes marks the footnotes by their labels, and those that are not shown: nothing refers to them, or an
// earlier one has their label.
func (d *Document) hideFootnotes() {
	defined := map[string]*container{}
	for _, b := range d.Blocks {
		for c := b.in; c != nil; c = c.in {
			if c.note == "" {
				continue
			}
			if defined[c.note] == nil {
				defined[c.note] = c
			}
			b.hidden += " footnote " + c.note
			if !d.referred[c.note] || defined[c.note] != c {
				b.hidden += " unseen"
			}
		}
	}
}

// footnote returns the folded label of the footnote that a line begins, empty if it begins none, and its length.
func footnote(line string) (label string, length int) {
	if length = DefinitionLength(line); length > 0 && line[1] == '^' {
		if label = line[2 : length-2]; label != "" && !strings.ContainsAny(label, " \t") {
			return folded(label), length
		}
	}
	return "", 0
}

// read finds out whether a block has words and a requirement word, and what may hide it. It keeps the words if it
// needs them for that.
func (d *Document) read(b *Block) {
	d.hiding.begin(b.in)
	if b.Kind != Comment {
		b.hidden += d.hiding.String()
	}
	if b.Kind == Heading || b.Kind == Row || b.HTML || !d.simple(b, "") || slices.ContainsFunc(b.Lines, mayRequire) {
		d.words(b)
		b.empty = !slices.ContainsFunc(b.words, func(w word) bool { return w.kind != mark })
	}
	if len(d.hiding.fresh) > 0 && b.Kind != Comment {
		b.hidden += " " + strings.Join(d.hiding.fresh, " ")
	}
	b.listed = d.hiding.lists
	if d.hiding.lost && d.lost == 0 {
		d.lost = b.Line
	}
	if b.Kind != Row && b.Kind != Code && b.Kind != Comment {
		for i := range b.Lines {
			d.status(b, i)
		}
	}
}

// simple reports whether a block has words, and no sign that may show its text as another than that of its lines,
// asterisks and backticks aside. It has no other of some signs either.
func (d *Document) simple(b *Block, others string) bool {
	signs := "&<[\\" + others
	if b.Kind == Code || b.Kind == Comment {
		signs = others
	}
	found := false
	for _, line := range b.Lines {
		if strings.ContainsAny(line, signs) || !isASCII(line) || strings.ContainsFunc(line, unicode.IsControl) {
			return false
		}
		found = found || strings.ContainsFunc(line, IsWord)
	}
	return found
}

var unmarked = strings.NewReplacer("*", "", "`", "")

// mayRequire reports whether a line has a requirement word without its asterisks and backticks.
func mayRequire(line string) bool { return hasKeyWord(unmarked.Replace(line)) }

// words reads the words of a block.
func (d *Document) words(b *Block) {
	b.words = []word{}
	texts := []string{strings.Join(b.Lines, "\n")}
	switch b.Kind {
	case Heading:
		texts[0] = headingAttributes().ReplaceAllString(sectionNumber().ReplaceAllString(texts[0], ""), "")
	case Row:
		texts = Cells(texts[0])
		if strings.Join(texts[min(b.shown, len(texts)):], "") != "" {
			b.hidden += " cells"
		}
	case Code, Comment:
		for text := range strings.FieldsSeq(texts[0]) {
			b.Required = b.Required || requires(normalized(text))
			w, ok := word{text, text, plainWord}, true
			if b.Kind == Comment {
				w, ok = newWord(normalized(text))
			}
			if ok {
				b.words = append(b.words, w)
			}
		}
		d.size += len(b.words)
		return
	}
	for i, text := range texts {
		s := &scanner{doc: d, raw: b.HTML, text: text}
		s.scan()
		if i > 0 {
			b.words = append(b.words, cell)
			d.size += 2
		}
		d.size += len(s.spans)
		out := string(s.out)
		b.words = slices.Grow(b.words, len(s.spans))
		for _, of := range s.spans {
			if d.size > maxWords {
				return
			}
			var required bool
			b.words, required = d.word(b.words, out[of.from:of.to], of.kind)
			b.Required = b.Required || required
		}
		if s.level > 0 {
			b.Kind, b.Level = Heading, s.level
		}
		for _, c := range s.comments {
			c.Line += b.Line
			d.comments = append(d.comments, c)
		}
	}
	for len(b.words) > 0 && b.words[len(b.words)-1] == cell {
		b.words = b.words[:len(b.words)-1] // an empty cell at the end
	}
}

// maxStatus is how much of a line with a Status is compared by words. The rest is compared as it is written.
const maxStatus = 1000

// status enters a line that begins with "Status:", with the next one if nothing else follows.
func (d *Document) status(b *Block, i int) {
	line := strings.TrimLeft(b.Lines[i], " *_")
	if line == "" || strings.IndexByte("sS&<\\", line[0]) < 0 && line[0] < utf8.RuneSelf {
		return
	}
	line, rest := line[:min(len(line), maxStatus)], line[min(len(line), maxStatus):]
	if strings.ContainsAny(line, "&<\\") || !isASCII(line) {
		line = shown(line, b.HTML)
	}
	name, value, _ := strings.Cut(line, ":")
	value = strings.TrimLeft(value, " *_")
	if !strings.EqualFold(strings.Trim(name, " *_"), "status") {
		return
	}
	if strings.Trim(value+rest, " *_") == "" && i+1 < len(b.Lines) {
		next := b.Lines[i+1]
		value, rest = next[:min(len(next), maxStatus)], next[min(len(next), maxStatus):]
	}
	var words []string
	for text := range strings.FieldsSeq(shown(value, b.HTML)) {
		if w, ok := newWord(text); ok {
			words = append(words, w.key)
		}
	}
	if b.hidden != "" {
		words = append(words, "in <"+b.hidden+">")
	}
	d.Status = append(d.Status, Status{b.Line + i, strings.Join(words, " ") + rest})
}

// shown returns the words of a line without their marks.
func shown(line string, raw bool) string {
	s := &scanner{doc: &Document{referred: map[string]bool{}}, raw: raw, text: line}
	s.scan()
	var out []string
	for _, of := range s.spans {
		out = append(out, normalized(string(s.out[of.from:of.to])))
	}
	return strings.Join(out, " ")
}

// structure finds the headings above each block, and takes section numbers and articles out of headings.
func (d *Document) structure() {
	var open []*Block
	var numbers [8]int
	for _, b := range d.Blocks {
		if b.Kind != Heading {
			if len(open) > 0 {
				b.Above = open[len(open)-1]
			}
			continue
		}
		for len(open) > 0 && open[len(open)-1].Level >= b.Level {
			open = open[:len(open)-1]
		}
		if len(open) > 0 {
			b.Above = open[len(open)-1]
		}
		open = append(open, b)
		clear(numbers[b.Level+1:])
		if len(b.words) > 1 {
			if next := numbers[b.Level] + 1; strings.TrimLeft(b.words[0].key, "0") == strconv.Itoa(next) {
				numbers[b.Level] = next
				b.words = b.words[1:]
			}
		}
		b.words = slices.DeleteFunc(b.words, func(w word) bool {
			return w.key == "a" || w.key == "an" || w.key == "the"
		})
	}
}

// govern finds the blocks that a requirement word governs.
func (d *Document) govern() {
	tables := map[int]bool{}
	for _, b := range d.Blocks {
		if b.Required {
			tables[b.Table] = b.Table > 0
			for c := b.in; c != nil; c = c.in {
				c.governed = c.governed || c.quote
			}
		}
	}
	led := false // by a paragraph
	for _, b := range d.Blocks {
		b.Governed = b.Required || tables[b.Table] ||
			led && b.note == "" && (b.Kind != Paragraph && b.Kind != Heading || b.listed)
		for above := b.Above; above != nil && !b.Governed; above = above.Above {
			b.Governed = above.Required
		}
		for c := b.in; c != nil && !b.Governed; c = c.in {
			b.Governed = c.governed || c.led && (b.Kind != Later || c != b.in)
		}
		switch b.Kind {
		case Heading:
			led = false
		case Paragraph:
			led = b.Governed
		case Later:
			b.in.led = b.Governed
		}
		for c, opens := b.in, b.opens; opens > 0; c, opens = c.in, opens-1 {
			c.governed = c.governed || b.Governed
		}
	}
}
