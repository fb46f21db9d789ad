package governance

import (
	"bytes"
	"html"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/openagentprotocol-OAP/oap-gate/internal/governance/markdown"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/fold"
)

const (
	// removed replaces a word that was taken out: no phrase extends across it.
	removed = '\ufffc'
	// division ends a block within HTML.
	division = "\u2029"
)

// speech is the state that continues from one block of a text to the next.
type speech struct {
	comment bool           // it has not ended
	html    bool           // only HTML ends it
	open    map[string]int // elements whose content is not said
	silent  int            // how many these are
}

// behindComment returns what is left of a block after the comment that is open, and false if that is nothing.
func (s *speech) behindComment(text string, raw bool) (string, bool) {
	if s.comment && s.html && !raw {
		return "", false
	}
	if s.comment {
		_, after, found := strings.Cut(text, "-->")
		s.comment = !found
		return after, found
	}
	return text, true
}

// shown returns what an author says in a block, on one line: without inline code, text in quotation marks, struck text,
// images, link targets, comments and tags. Raw text is only HTML.
//
// Where Markdown and this reading differ, more is taken out: a phrase that is missed costs its author an edit, one that
// nobody saw would open a gate.
func (s *speech) shown(text string, raw bool) string {
	if !raw {
		text = withoutDefinitions(text)
	}
	l := reading{speech: s, text: text, raw: raw, quote: -1, single: -1, struck: [3]int{-1, -1, -1}}
	return l.read()
}

// plainText returns a text without markup. Inline code and quotation marks are text here.
func plainText(text string) string {
	l := reading{speech: &speech{}, text: text, keeps: true, quote: -1, single: -1, struck: [3]int{-1, -1, -1}}
	return strings.Trim(l.read(), " _"+division)
}

// read returns what is shown.
func (l *reading) read() string {
	l.last = [...]int{strings.LastIndex(l.text, "?>"), strings.LastIndex(l.text, "]]>")}
	for l.at < len(l.text) {
		if !l.markup() {
			r, size := utf8.DecodeRuneInString(l.text[l.at:])
			l.at += size
			l.letter(r)
		}
	}
	if l.quote >= 0 {
		l.cut(l.quote)
	}
	return string(bytes.ReplaceAll(l.out, []byte{0}, nil))
}

// reading is a block that is read from left to right. What a closing mark ends is cut off what was written.
type reading struct {
	*speech
	text  string
	raw   bool // it is only HTML
	keeps bool // inline code and quotation marks are text
	at    int
	out   []byte // a NUL is nothing
	code  map[int][]int
	last  [2]int // where the last ?> and the last ]]> are, or -1

	brackets []bracket // that are open
	quote    int       // where a text in quotation marks begins in out; -1 outside
	quotes   int       // how many are open within it
	single   int       // the same for single ones
	struck   [3]int    // where struck text begins in out, by the number of tildes; -1 outside
}

type bracket struct {
	at    int
	image bool
}

// write appends to what is shown.
func (l *reading) write(s string) {
	if l.silent == 0 {
		l.out = append(l.out, s...)
	}
}

// cut replaces all that was written since by one word.
func (l *reading) cut(since int) {
	l.out = utf8.AppendRune(l.out[:since], removed)
	for len(l.brackets) > 0 && l.brackets[len(l.brackets)-1].at >= since {
		l.brackets = l.brackets[:len(l.brackets)-1]
	}
	for _, at := range []*int{&l.quote, &l.single, &l.struck[1], &l.struck[2]} {
		if *at >= since {
			*at = -1
		}
	}
}

// markup reads a mark, and reports whether there is one.
func (l *reading) markup() bool {
	rest := l.text[l.at:]
	switch c := rest[0]; {
	case c == '<':
		l.tag()
	case c == '&':
		end := strings.IndexByte(rest[:min(len(rest), 40)], ';') + 1
		decoded := html.UnescapeString(rest[:end])
		if end == 0 || decoded == rest[:end] {
			return false
		}
		l.at += end
		for _, r := range decoded {
			l.letter(r)
		}
	case l.raw:
		return false
	case c == '\\' && len(rest) > 1 && rest[1] < utf8.RuneSelf && !isAlphanumeric(rune(rest[1])) && rest[1] > ' ':
		l.at += 2
		l.letter(rune(rest[1]))
	case c == '*':
		l.at++
	case c == '`':
		l.inlineCode()
	case c == '~':
		l.strike()
	case c == '[', c == '!' && strings.HasPrefix(rest, "!["):
		l.brackets = append(l.brackets, bracket{len(l.out), c == '!'})
		n := strings.IndexByte(rest, '[') + 1
		l.write(rest[:n])
		l.at += n
	case c == ']':
		l.closeBracket()
	default:
		return false
	}
	return true
}

// letter appends a character that is not a mark, in its plain form.
func (l *reading) letter(r rune) {
	switch {
	case r == 0:
		l.write("\ufffd")
	case unicode.IsSpace(r):
		l.write(" ")
	case r == '"':
		l.quotation()
	case r == '\'':
		l.apostrophe()
	case r < utf8.RuneSelf:
		l.write(string(r))
	case fold.DefaultIgnorable(r), 0xFE00 <= r && r <= 0xFE0F:
	case strings.ContainsRune("“”„‟«»″", r):
		l.quotation()
	case strings.ContainsRune("‘’‚‛‹›", r):
		l.apostrophe()
	case strings.ContainsRune("⬜□◻❌✗✘", r):
		l.write(unticked)
	default:
		if form := norm.NFKC.String(string(r)); form != string(r) {
			for _, r := range form {
				l.letter(r)
			}
			return
		}
		if r == '\u2010' {
			r = '-'
		}
		l.write(string(r))
	}
}

// around returns the characters that were written last and that follow.
func (l *reading) around() (before, after rune) {
	before, after = ' ', ' '
	if out := bytes.TrimRight(l.out, "\x00"); len(out) > 0 {
		before, _ = utf8.DecodeLastRune(out)
	}
	if l.at < len(l.text) {
		after, _ = utf8.DecodeRuneInString(l.text[l.at:])
	}
	return before, after
}

// quotation reads a quotation mark. A quotation that is not closed continues to the end of the block.
func (l *reading) quotation() {
	before, after := l.around()
	opens := !markdown.IsWord(before) && !strings.ContainsRune(`.,;:!?)"'`, before) && before != removed
	switch {
	case l.silent > 0:
	case l.keeps:
		l.write(`"`)
	case l.quote < 0 && (opens || !markdown.IsWord(before) && markdown.IsWord(after)):
		l.quote, l.quotes = len(l.out), 1
		l.write(`"`)
	case l.quote < 0:
		l.write(`"`)
	case opens && markdown.IsWord(after):
		l.quotes++
	default:
		if l.quotes--; l.quotes == 0 {
			l.cut(l.quote)
		}
	}
}

// apostrophe reads an apostrophe or a single quotation mark.
func (l *reading) apostrophe() {
	before, after := l.around()
	switch {
	case l.silent > 0:
		return
	case l.keeps:
	case l.single < 0 && !markdown.IsWord(before) && markdown.IsWord(after):
		l.single = len(l.out)
	case l.single >= 0 && before != ' ' && !markdown.IsWord(after):
		l.cut(l.single)
		return
	}
	l.write("'")
}

// inlineCode reads a run of backticks, and the code up to the next run of the same length.
func (l *reading) inlineCode() {
	n := runLength(l.text[l.at:], "`")
	end := l.codeEnd(l.at)
	switch {
	case end > l.at+n && l.keeps:
		l.write(l.text[l.at+n : end-n])
	case end > l.at+n:
		l.write(string(removed))
	}
	l.at = end
}

// codeEnd returns the end of the code that a run of backticks begins, or of the run if it begins none. It is asked for
// later runs only.
func (l *reading) codeEnd(at int) int {
	if l.code == nil {
		l.code = map[int][]int{}
		for i := at; i < len(l.text); {
			n := runLength(l.text[i:], "`")
			if n > 0 {
				l.code[n] = append(l.code[n], i)
			}
			i += max(n, 1)
		}
	}
	n := runLength(l.text[at:], "`")
	runs := l.code[n]
	for len(runs) > 0 && runs[0] < at+n {
		runs = runs[1:]
	}
	l.code[n] = runs
	if len(runs) == 0 {
		return at + n
	}
	return runs[0] + n
}

func runLength(text, sign string) int { return len(text) - len(strings.TrimLeft(text, sign)) }

// strike reads a run of tildes. One or two of them begin struck text, or end it.
func (l *reading) strike() {
	n := runLength(l.text[l.at:], "~")
	before := l.at > 0 && !isBlank(l.text[l.at-1])
	l.at += n
	after := l.at < len(l.text) && !isBlank(l.text[l.at])
	switch {
	case n > 2:
	case l.struck[n] >= 0 && (n == 2 || before):
		l.cut(l.struck[n])
		return
	case l.struck[n] < 0 && (n == 2 || after):
		l.struck[n] = len(l.out)
	}
	l.write(strings.Repeat("~", n))
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' || c == '\n' }

// closeBracket reads the end of the text of a link or of an image, and its target.
func (l *reading) closeBracket() {
	l.at++
	rest := l.text[l.at:]
	targeted := rest != "" && rest[0] == '('
	if rest != "" && rest[0] == '[' {
		box, _ := boxAt(rest)
		targeted = box == 0
	}
	if targeted {
		l.target()
	}
	last := len(l.brackets) - 1
	if last < 0 {
		l.write("]")
		return
	}
	open := l.brackets[last]
	l.brackets = l.brackets[:last]
	switch {
	case open.image:
		l.cut(open.at)
	case targeted && open.at < len(l.out):
		l.out[open.at] = 0
	default:
		l.write("]")
	}
}

// target skips the target of a link with its title, up to the bracket that closes the one it begins with. Code and tags
// bind more tightly: a bracket in them is not the target's.
func (l *reading) target() {
	open, end := l.text[l.at], byte(')')
	if open == '[' {
		end = ']'
	}
	depth, quoted := 0, byte(0)
	for l.at < len(l.text) {
		c := l.text[l.at]
		switch {
		case c == '`':
			l.at = l.codeEnd(l.at)
			continue
		case strings.HasPrefix(l.text[l.at:], "<!--"):
			l.tag()
			continue
		case c == '<':
			l.at += max(strings.IndexByte(l.text[l.at:], '>'), 0)
		case c == '\\':
			l.at++
		case quoted != 0:
			if c == quoted {
				quoted = 0
			}
		case open == '(' && (c == '"' || c == '\'') && isBlank(l.text[l.at-1]):
			quoted = c
		case c == open:
			depth++
		case c == end:
			depth--
		}
		l.at++
		if depth == 0 {
			return
		}
	}
	l.at = len(l.text)
}

// lost are the elements whose content is not said, or not as it is written.
var lost = strings.Fields(`
	blockquote code del kbd meter noscript pre progress q rp s samp script strike style template textarea title tt`)

// divisions are the elements that begin a block of their own.
var divisions = strings.Fields(`
	blockquote dd details div dl dt h1 h2 h3 h4 h5 h6 hr li ol p pre section summary table tbody thead tr ul`)

// tag skips a tag or a comment. In HTML a browser reads a tag that is invalid in Markdown. In a paragraph it is text.
func (l *reading) tag() {
	rest := l.text[l.at:]
	if strings.HasPrefix(rest, "<!--") {
		_, after, found := strings.Cut(rest[4:], "-->")
		l.comment, l.html, l.at = !found, l.raw, len(l.text)-len(after)
		return
	}
	t, valid := markdown.ParseTag(rest)
	name := t.Name
	unseen := len(rest) > 2 && rest[1] == '!' && 'a' <= rest[2]|0x20 && rest[2]|0x20 <= 'z' ||
		strings.HasPrefix(rest, "<?") && l.at < l.last[0] ||
		strings.HasPrefix(rest, "<![CDATA[") && l.at < l.last[1]
	if !valid && !unseen && (!l.raw || name == "" && (len(rest) < 2 || strings.IndexByte("!?/", rest[1]) < 0)) {
		l.at++
		l.write("<")
		return
	}
	if t, _ = markdown.LooseTag(rest); name == "" {
		t.Length = strings.IndexByte(rest, '>') + 1
	} else if t.Length == 0 {
		l.lose("<")
	}
	if t.Length == 0 { // all that follows is in the tag
		t.Length = len(rest)
	}
	l.at += t.Length
	switch {
	case t.Closing && l.open[name] > 0:
		l.open[name]--
		l.silent--
	case !t.Closing && (slices.Contains(lost, name) || l.open[name] > 0 ||
		t.Has("hidden", "popover", "style")):
		l.lose(name)
	}
	switch {
	case name == "br":
		l.write(" ")
	case name == "td", name == "th":
		l.write("|")
	case name == "img":
		l.write(string(removed))
	case name == "input" && t.Has("checked"):
		l.write(ticked)
	case name == "input":
		l.write(unticked)
	case slices.Contains(divisions, name):
		l.write(division)
	}
}

// lose enters an element whose content is not said.
func (s *speech) lose(name string) {
	if s.open == nil {
		s.open = map[string]int{}
	}
	s.open[name]++
	s.silent++
}

// withoutDefinitions drops the link definitions that a paragraph begins with. A line that begins as a definition and is
// not one goes too, with all that follows if it has a mark.
func withoutDefinitions(text string) string {
	text = text[markdown.Definitions(text):]
	var lines []string
	for line := range strings.SplitSeq(text, "\n") {
		if markdown.DefinitionLength(line) == 0 {
			lines = append(lines, line)
		} else if strings.ContainsAny(line, "<`~\"'“‘") {
			break
		}
	}
	return strings.Join(lines, "\n")
}
