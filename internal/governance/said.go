package governance

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/openagentprotocol-OAP/oap-gate/internal/governance/markdown"
)

// Words are what the proposal says about itself, or what a review says.
type Words struct {
	Source string // such as "the pull request's body"
	text   string // as it was written
	blocks []statement
}

// NewWords reads a body in Markdown.
func NewWords(source, text string) *Words {
	w := &Words{Source: source, text: text}
	var s speech
	var off []bool // by depth: whether an item has a box that is not ticked, or is in such a one and has none
	section := 0
	blocks, err := markdown.Split("\n" + text) // it has no front matter
	if err != nil {
		return w // what is too long to be read says nothing
	}
	for _, block := range blocks {
		text, ok := s.behindComment(block.Source(), block.HTML)
		if block.Kind == markdown.Heading && ok && !block.Quoted() {
			section++
		}
		depth, begun := block.Items()
		off = off[:min(len(off), max(depth-begun, 0))]
		out := len(off) > 0 && off[len(off)-1]
		if ok && block.Kind != markdown.Code && block.Kind != markdown.Comment {
			for i, part := range strings.Split(s.shown(text, block.HTML), division) {
				b := newStatement(part)
				b.kind, b.section, b.table = block.Kind, section, block.Table
				if isTicked, has := b.box(); has && i == 0 && begun > 0 && !block.Quoted() {
					out = !isTicked
				}
				if !out && !block.Quoted() && len(b.sentences) > 0 { // what a quote opens continues
					w.blocks = append(w.blocks, b)
				}
			}
		}
		for len(off) < depth {
			off = append(off, out)
		}
	}
	return w
}

// phrase is what has to be said.
type phrase struct {
	words []string
	fold  bool // any letter case counts
}

var (
	additiveOnly  = phrase{[]string{"additive", "only"}, true}
	exceptionWord = phrase{[]string{"Implementability", "Gate", "exception"}, false}
	clearedWord   = phrase{[]string{"Charter", "Review", "Gate", "cleared"}, false}
)

// statement is a block as it is shown, cut into sentences.
type statement struct {
	kind      markdown.Kind
	section   int // the number of the heading above, or its own
	table     int // the number of the table that a row is of
	sentences []sentence
}

type sentence struct {
	text        string
	clauses     []clause
	asked       bool // it ends in a question mark
	conditional bool // it begins with if, once, when, until or unless
}

type clause struct {
	words   []word
	negated bool
	cell    int  // cell of a row, from 0
	colon   bool // a colon ends it
}

// word is a word, or a box.
type word struct {
	text   string // with an apostrophe within
	joined bool   // only blanks or a hyphen are between it and the word before
	hyphen bool   // it is a hyphen
	asked  bool   // a question mark follows at once
}

const (
	unticked = "☐"
	ticked   = "☑"
)

func (w word) isBox() bool { return w.text == unticked || w.text == ticked }

// says returns the first sentence that says a phrase, empty if none does.
func (w *Words) says(p phrase) string {
	said := ""
	w.find(p, func(m match) bool {
		said = w.blocks[m.block].sentences[m.sentence].text
		return false
	})
	return said
}

// match is the place of a phrase.
type match struct{ block, sentence, clause, word int }

// maxMatches is how many times one sentence is heard to say a phrase.
const maxMatches = 16

// find yields the places at which a phrase is said, until yield returns false.
func (w *Words) find(p phrase, yield func(match) bool) {
	for b := range w.blocks {
		var box *word // the last one before
		for s := range w.blocks[b].sentences {
			sentence := &w.blocks[b].sentences[s]
			tried := 0
			for c := range sentence.clauses {
				clause := &sentence.clauses[c]
				for i := range clause.words {
					if clause.words[i].isBox() {
						box = &clause.words[i]
					}
					if !p.at(clause.words[i:]) || clause.negated || sentence.conditional || sentence.asked ||
						clause.words[i+len(p.words)-1].asked || box != nil && box.text == unticked ||
						tried == maxMatches {
						continue
					}
					tried++
					if m := (match{b, s, c, i}); !w.answered(m, p, box == nil) && !yield(m) {
						return
					}
				}
			}
		}
	}
}

// at reports whether words begin with the phrase, which is not a part of a longer word with hyphens.
func (p phrase) at(words []word) bool {
	n := len(p.words)
	if len(words) < n || words[0].hyphen || n < len(words) && words[n].hyphen {
		return false
	}
	for i, want := range p.words {
		w := words[i]
		if i > 0 && !w.joined || w.text != want && !(p.fold && strings.EqualFold(w.text, want)) {
			return false
		}
	}
	return true
}

// count returns how many words of a clause have a letter or a digit, those of the phrase aside.
func (p phrase) count(words []word) int {
	n := 0
	for i := 0; i < len(words); i++ {
		switch {
		case p.at(words[i:]):
			i += len(p.words) - 1
		case strings.ContainsFunc(words[i].text, isAlphanumeric):
			n++
		}
	}
	return n
}

func isAlphanumeric(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

// answered reports whether what follows a phrase takes it back: no, in the next clause or in the next cell of the row
// or the column. A box that is not ticked does so if no box is before the phrase.
func (w *Words) answered(m match, p phrase, boxes bool) bool {
	no := func(words []word) bool {
		return isNo(words) || boxes && len(words) > 0 && words[0].text == unticked
	}
	b := &w.blocks[m.block]
	rest := b.sentences[m.sentence].clauses[m.clause].words[m.word+len(p.words):]
	for i, next := range rest {
		if next.isBox() {
			return boxes && next.text == unticked || isNo(rest[:i])
		}
	}
	if isNo(rest) {
		return true
	}
	if next := w.after(m); next != nil && no(next.words) {
		return true
	}
	if b.kind != markdown.Row || m.block+1 == len(w.blocks) || w.blocks[m.block+1].table != b.table {
		return false
	}
	// The cell below may be the answer.
	cell := b.sentences[m.sentence].clauses[m.clause].cell
	for _, s := range w.blocks[m.block+1].sentences {
		for _, c := range s.clauses {
			if c.cell == cell && no(c.words) {
				return true
			}
		}
	}
	return false
}

// after returns the clause after that of a match, in the same block or, after a heading or a colon, in the next one.
func (w *Words) after(m match) *clause {
	b := &w.blocks[m.block]
	c := b.sentences[m.sentence].clauses
	switch {
	case m.clause+1 < len(c):
		return &c[m.clause+1]
	case m.sentence+1 < len(b.sentences):
		return &b.sentences[m.sentence+1].clauses[0]
	case b.kind != markdown.Heading && !c[m.clause].colon || m.block+1 == len(w.blocks):
		return nil
	}
	if next := w.blocks[m.block+1]; len(next.sentences) > 0 {
		return &next.sentences[0].clauses[0]
	}
	return nil
}

// isNo reports whether a clause is an answer that denies.
func isNo(words []word) bool {
	text := func(i int) string { return strings.ToLower(words[i].text) }
	switch {
	case len(words) == 1:
		return slices.Contains(negations, text(0)) || text(0) == "n/a" || text(0) == "false"
	case len(words) > 1:
		return text(0) == "not" && slices.Contains([]string{"yet", "really", "applicable"}, text(1))
	}
	return false
}

// claim is what the words say about an exception to the Implementability Gate.
type claim uint8

const (
	noClaim claim = iota
	unjustified
	justified
)

// minReason is how many words the sentence that gives the reason of an exception has at least.
const minReason = 5

// exception looks for the phrase, and for a sentence that gives a reason: after the phrase, or in another paragraph or
// item of its section.
func (w *Words) exception() (c claim, reason string) {
	reasons := make([]int, len(w.blocks)) // the last sentence of each block that gives one, -1 if none does
	sections := map[int][]int{}           // two blocks of each section that give one, since one may have the phrase
	for i := range w.blocks {
		b := &w.blocks[i]
		reasons[i] = b.reason()
		if reasons[i] >= 0 && b.kind != markdown.Heading && b.kind != markdown.Row && len(sections[b.section]) < 2 {
			sections[b.section] = append(sections[b.section], i)
		}
	}
	w.find(exceptionWord, func(m match) bool {
		c = unjustified
		b := &w.blocks[m.block]
		n := exceptionWord.count(b.sentences[m.sentence].clauses[m.clause].words[m.word:])
		for _, c := range b.sentences[m.sentence].clauses[m.clause+1:] {
			n += exceptionWord.count(c.words)
		}
		switch {
		case n >= minReason:
			reason = b.sentences[m.sentence].text
		case reasons[m.block] > m.sentence:
			reason = b.sentences[reasons[m.block]].text
		}
		for _, other := range sections[b.section] {
			if reason == "" && other != m.block {
				reason = w.blocks[other].sentences[reasons[other]].text
			}
		}
		if reason != "" {
			c = justified
		}
		return reason == ""
	})
	return c, reason
}

// reason returns the index of the last sentence that has enough words, -1 if none has.
func (b *statement) reason() int {
	for i, s := range slices.Backward(b.sentences) {
		n := 0
		for _, c := range s.clauses {
			n += exceptionWord.count(c.words)
		}
		if n >= minReason {
			return i
		}
	}
	return -1
}

// box returns whether the box that a block begins with is ticked.
func (b *statement) box() (isTicked, has bool) {
	if len(b.sentences) == 0 || !b.sentences[0].clauses[0].words[0].isBox() {
		return false, false
	}
	return b.sentences[0].clauses[0].words[0].text == ticked, true
}

// negations are the words that deny a phrase in their clause, or put it off.
var negations = strings.Fields(`
	not never no none neither nor without non cannot hardly barely whether if unless todo tbd pending once when until
	after please will would should withdrew`)

// negates reports whether a clause denies what it says.
func negates(words []word) bool {
	for i, w := range words {
		text := strings.ToLower(w.text)
		next := ""
		if i+1 < len(words) {
			next = strings.ToLower(words[i+1].text)
		}
		switch {
		case text == "non" && next == "breaking":
		case slices.Contains(negations, text), strings.HasSuffix(text, "n't"),
			strings.HasPrefix(text, "withdraw"), strings.HasPrefix(text, "refus"),
			text == "far" && next == "from", text == "instead" && next == "of", text == "rather" && next == "than":
			return true
		}
	}
	return false
}

// newStatement cuts a shown text into sentences, clauses and words.
func newStatement(text string) statement {
	var b statement
	var s sentence
	var c clause
	began, end, cell := 0, 0, 0 // start of the sentence; end of the last word; cell of the row
	endClause := func() {
		if len(c.words) > 0 {
			c.negated = negates(c.words)
			c.cell = cell
			s.clauses = append(s.clauses, c)
		}
		c = clause{}
	}
	endSentence := func(at int, asked bool) {
		endClause()
		if s.asked = asked; len(s.clauses) > 0 {
			s.text = strings.TrimSpace(text[began:at])
			first := strings.ToLower(s.clauses[0].words[0].text)
			s.conditional = slices.Contains([]string{"if", "once", "when", "until", "unless"}, first)
			b.sentences = append(b.sentences, s)
		}
		s, began = sentence{}, at
	}
	add := func(w string, at, next int) {
		gap := text[end:at]
		c.words = append(c.words, word{text: w, hyphen: len(c.words) > 0 && gap == "-",
			joined: len(c.words) > 0 && (gap == "-" || strings.TrimSpace(gap) == ""),
			asked:  strings.HasPrefix(strings.TrimLeft(text[next:min(next+8, len(text))], closers), "?")})
		end = next
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case isInWord(r):
			n := wordLength(text[i:])
			if w := strings.Trim(text[i:i+n], "_"); w != "" {
				add(w, i, i+n)
			}
			i += n
			continue
		case r == '☐' || r == '☑':
			add(string(r), i, i+size)
		case r == '[':
			if n, state := boxAt(text[i:]); n > 0 {
				add(state, i, i+n)
				i += n
				continue
			}
		case strings.ContainsRune(",;:()|–—―", r), r == '-' && isDash(text, i):
			c.colon = r == ':'
			if r == ':' && len(c.words) == 0 && len(s.clauses) > 0 {
				s.clauses[len(s.clauses)-1].colon = true
			}
			endClause()
			if r == '|' {
				cell++
			}
		case r == '.', r == '!', r == '?':
			run := text[i : len(text)-len(strings.TrimLeft(text[i:], ".!?"))]
			after := strings.TrimLeft(text[i+len(run):], closers)
			next := len(text) - len(after)
			if after == "" || unicode.IsSpace(rune(after[0])) {
				endSentence(next, strings.Contains(run, "?"))
				end = next
				i = next
				continue
			}
			size = len(run)
		}
		i += size
	}
	endSentence(len(text), false)
	return b
}

// closers are the signs that may follow the last sign of a sentence.
const closers = `)]}"'*_~`

// isDash reports whether the hyphen at an index is a dash: it is between blanks, or next to another.
func isDash(text string, i int) bool {
	before, after := byte(' '), byte(' ')
	if i > 0 {
		before = text[i-1]
	}
	if i+1 < len(text) {
		after = text[i+1]
	}
	return before == '-' || after == '-' || before == ' ' && after == ' '
}

func isInWord(r rune) bool { return markdown.IsWord(r) || r == '_' || r == removed }

// wordLength returns the length of the word that a text begins with. An apostrophe and a stroke are parts of it if a
// letter follows.
func wordLength(text string) int {
	n := 0
	for n < len(text) {
		r, size := utf8.DecodeRuneInString(text[n:])
		if !isInWord(r) {
			next, _ := utf8.DecodeRuneInString(text[n+size:])
			if n == 0 || r != '\'' && r != '/' || !unicode.IsLetter(next) {
				break
			}
		}
		n += size
	}
	return n
}

// boxAt returns the length of the box that a text begins with, and its state.
func boxAt(text string) (length int, state string) {
	inside, _, found := strings.Cut(text[1:min(len(text), 16)], "]")
	switch strings.TrimSpace(inside) {
	case "":
		state = unticked
	case "x", "X":
		state = ticked
	default:
		return 0, ""
	}
	if !found {
		return 0, ""
	}
	return len(inside) + 2, state
}
