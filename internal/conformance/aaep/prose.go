package aaep

import (
	"bytes"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/fold"
)

// prose is a text as people see it, with the place in the file of each byte.
type prose struct {
	text []byte
	at   []int32
}

// add appends a text that begins at a place of the file.
func (p *prose) add(text string, at int) {
	p.text = append(p.text, text...)
	for range len(text) {
		p.at = append(p.at, int32(at))
	}
}

// append adds another prose.
func (p *prose) append(more prose) {
	p.text, p.at = append(p.text, more.text...), append(p.at, more.at...)
}

// with returns a prose and another after it.
func (p prose) with(more prose) prose {
	return prose{slices.Concat(p.text, []byte(" "), more.text), slices.Concat(p.at, more.at[:1], more.at)}
}

// after returns up to 100 bytes after the last byte from a place of the file.
func (p prose) after(at int32) []byte {
	i, _ := slices.BinarySearch(p.at, at+1)
	return p.text[i:min(i+100, len(p.text))]
}

// part returns the bytes from one to another.
func (p prose) part(from, to int) prose { return prose{p.text[from:to:to], p.at[from:to:to]} }

// blank replaces what an expression matches by blanks.
func (p prose) blank(pattern *regexp.Regexp) {
	for _, m := range pattern.FindAllIndex(p.text, -1) {
		copy(p.text[m[0]:m[1]], bytes.Repeat([]byte(" "), m[1]-m[0]))
	}
}

// These expressions match what Markdown and HTML show differently: struck text is hidden, a link shows its text, a
// badge its address.
var (
	struck     = plain.Pattern(`\A(?:~~[^~\n]{1,500}~~|<(?:del|s|strike)>[^<]{0,500}</(?:del|s|strike)>)`)
	tag        = plain.Pattern(`(?i)\A</?([a-z][a-z0-9]*)(?:\s[^<>]{0,1000})?/?>`)
	entity     = plain.Pattern(`\A&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,30});`)
	link       = plain.Pattern(`\A\]\(\s*<?([^()\s<>]{0,1000})>?(?:\s+"[^"\n]{0,500}")?\s*\)`)
	attributes = plain.Pattern(`(?i)\s(?:alt="([^"]*)"|src="([^"]*)")`)
	address    = plain.Pattern(`\Ahttps?://[^\s<>"')\]]{1,1000}`)
	// labelled is the end of a link with a label. The label is not seen if labels say where it leads, nor there.
	labelled = plain.Pattern(`\A\]\[([^\[\]\n]{0,200})\]`)
	labels   = plain.Pattern(`(?m)^[ \t>]*(\[([^\[\]\n]{1,200})\]:)[ \t]*<?(?:https?:|[./#])\S*(?:[ \t]+["'(].*)?\r?$`)
	footnote = plain.Pattern(`\A\[\^?\d`)
	inBlocks = plain.Pattern(`(?i)^(?:p|br|hr|li|ul|ol|dl|dt|dd|h[1-6]|div|tr|table|thead|tbody|section|summary|` +
		`details)$`)
)

// blockEnd separates two blocks of a text, such as paragraphs and items of a list.
const blockEnd = "\n\n"

// readProse reads a text as Markdown, of which plain text is a case.
func readProse(text []byte) prose {
	var p prose
	known, unseen := map[string]bool{}, map[int]int{} // the labels, and their sizes where they are given
	for _, m := range labels().FindAllSubmatchIndex(text, -1) {
		known[strings.ToLower(string(text[m[4]:m[5]]))] = true
		unseen[m[2]] = m[3] - m[2]
	}
	lastComment := bytes.LastIndex(text, []byte("-->"))
	for i := 0; i < len(text); {
		rest := text[i:]
		size := 1
		switch c := rest[0]; {
		case i < lastComment && bytes.HasPrefix(rest, []byte("<!--")):
			size = bytes.Index(rest, []byte("-->")) + len("-->")
		case (c == '<' || c == '~') && struck().Match(rest):
			size = len(struck().Find(rest))
		case c == '<' && tag().Match(rest):
			m := tag().FindSubmatch(rest)
			switch size = len(m[0]); {
			case inBlocks().Match(m[1]):
				p.add(blockEnd, i)
			case bytes.EqualFold(m[1], []byte("sup")):
				p.add(" ", i)
			case bytes.EqualFold(m[1], []byte("img")):
				for _, value := range attributes().FindAllSubmatch(m[0], -1) {
					p.add(blockEnd+strings.Map(wordsOnly, string(value[1]))+blockEnd, i)
					p.addBadge(value[2], i)
				}
			}
		case c == 'h' && address().Match(rest):
			one := address().Find(rest)
			if size = len(one); !p.addBadge(one, i) {
				p.add(string(one), i)
			}
		case c == '&' && entity().Match(rest):
			name := entity().Find(rest)
			size = len(name)
			p.addFolded(html.UnescapeString(string(name)), i)
		case c == ']' && link().Match(rest):
			m := link().FindSubmatch(rest)
			size = len(m[0])
			p.addBadge(m[1], i)
		case c == ']' && labelled().Match(rest):
			p.add(" ", i)
			if name := labelled().FindSubmatch(rest)[1]; len(name) == 0 || known[strings.ToLower(string(name))] {
				size = len("][]") + len(name)
			}
		case unseen[i] > 0:
			size = unseen[i]
		case c == '>' && atLineStart(text, i), c == '[' && footnote().Match(rest):
			p.add(" ", i)
		case c == '*' && !atLineStart(text, i), c == '`', c == '[', c == ']',
			c == '!' && bytes.HasPrefix(rest, []byte("![")):
		case c == '\n' && (bytes.HasSuffix(text[:i], []byte("  ")) || bytes.HasSuffix(text[:i], []byte("\\"))):
			p.add(blockEnd, i) // a hard line break
		case c == '_' && (i == 0 || i+1 == len(text) || !isWord(text[i-1]) || !isWord(text[i+1])):
		case c == '\\' && len(rest) > 1 && strings.IndexByte("*_`[]<>!~|#-", rest[1]) >= 0:
		case c < utf8.RuneSelf:
			p.text, p.at = append(p.text, c), append(p.at, int32(i))
		default:
			var r rune
			r, size = utf8.DecodeRune(rest)
			p.addFolded(string(r), i)
		}
		i += size
	}
	return p
}

// addBadge appends the words of an address if it is that of a badge, and reports whether it is.
func (p *prose) addBadge(address []byte, at int) bool {
	if !bytes.Contains(address, []byte("/badge/")) {
		return false
	}
	text, err := url.PathUnescape(string(address))
	if err != nil {
		text = string(address)
	}
	p.add(blockEnd+strings.Map(wordsOnly, text)+blockEnd, at)
	return true
}

// addFolded appends a text in compatibility form, without what is not seen, and with the quotes, hyphens and blanks of
// ASCII.
func (p *prose) addFolded(text string, at int) {
	if strings.ContainsAny(text, raised) {
		p.add(" ", at)
	}
	for _, r := range norm.NFKC.String(text) {
		switch {
		case fold.DefaultIgnorable(r):
		case r == '\u2018' || r == '\u2019' || r == '\u02bc':
			p.add("'", at)
		case r == '\u2010' || r == '\u2011' || r == '\u2212':
			p.add("-", at)
		case r == '\u2028' || r == '\u2029' || r == '\u0085' || unicode.IsSpace(r):
			p.add(" ", at)
		case lookAlikes[r] != 0:
			p.add(string(lookAlikes[r]), at)
		default:
			p.add(string(r), at)
		}
	}
}

// raised are characters that end the word before them.
const raised = "™℠¹²³⁰⁴⁵⁶⁷⁸⁹"

// lookAlikes are letters of other scripts that are drawn as Latin ones are.
var lookAlikes = map[rune]rune{'А': 'A', 'В': 'B', 'Е': 'E', 'К': 'K', 'М': 'M', 'Н': 'H', 'О': 'O', 'Р': 'P', 'С': 'C',
	'Т': 'T', 'І': 'I', 'Ѕ': 'S', 'а': 'a', 'е': 'e', 'о': 'o', 'р': 'p', 'с': 'c', 'у': 'y', 'х': 'x', 'і': 'i',
	'ѕ': 's',
	'Α': 'A', 'Ε': 'E', 'Ι': 'I', 'Ν': 'N', 'Ο': 'O', 'Ρ': 'P', 'Τ': 'T', 'ι': 'i', 'ν': 'v', 'ο': 'o'}

func wordsOnly(r rune) rune {
	if r == '.' || unicode.IsLetter(r) || unicode.IsDigit(r) {
		return r
	}
	return ' '
}

func isWord(c byte) bool {
	return c >= utf8.RuneSelf || c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

// atLineStart reports whether only blanks come before a place in its line, and a blank after it: an item of a list.
func atLineStart(text []byte, i int) bool {
	line := text[bytes.LastIndexByte(text[:i], '\n')+1 : i]
	return len(bytes.TrimLeft(line, " \t>")) == 0 && i+1 < len(text) && (text[i+1] == ' ' || text[i+1] == '\t')
}

// sentence is one sentence of a prose.
type sentence struct {
	prose
	heading  bool
	question bool
}

var (
	blockStart = plain.Pattern(`^[ \t>]*(?:(#{1,6})[ \t]|[-*+•][ \t]|\d{1,3}[.)][ \t]|\|)`)
	underline  = plain.Pattern(`^[ \t]{0,3}(?:=+|-{3,})[ \t]*$`)
	stop       = plain.Pattern(`[.!?…]+["')\]]*(?:\s|$)`)
	// shortened is a word whose full stop ends no sentence if a digit or a small letter follows; shortDay is a day,
	// whose full stop ends none before its month.
	shortened = plain.Pattern(`(?i)\b(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|inc|ltd|corp|ver|vs|approx|` +
		`e\.g|i\.e|cf)$`)
	shortDay   = plain.Pattern(`\b\d{1,2}$`)
	beginMonth = plain.Pattern(`^(?:` + months + `)\b`)
)

// sentences returns the sentences of a prose.
func (p prose) sentences() []sentence {
	var all []sentence
	from, heading := 0, false
	block := func(to int, heading bool) {
		all = append(all, p.part(from, to).split(heading)...)
		from = to
	}
	for at := 0; at < len(p.text); {
		end := len(p.text)
		if i := bytes.IndexByte(p.text[at:], '\n'); i >= 0 {
			end = at + i + 1
		}
		line := bytes.TrimRight(p.text[at:end], "\r\n")
		switch start := blockStart().FindSubmatchIndex(line); {
		case len(bytes.Trim(line, " \t>")) == 0:
			block(at, heading)
			heading = false
		case underline().Match(line):
			block(at, true)
			from, heading = end, false
		case start != nil:
			block(at, heading)
			heading = start[2] >= 0
		case heading:
			block(at, true)
			heading = false
		}
		at = end
	}
	block(len(p.text), heading)
	return all
}

// split returns the sentences of a block.
func (p prose) split(heading bool) []sentence {
	var all []sentence
	from := 0
	add := func(to int) {
		if one := p.part(from, to); len(bytes.TrimSpace(one.text)) > 0 {
			marks := bytes.TrimRight(one.text, " \t\r\n\"')")
			all = append(all, sentence{one, heading, bytes.HasSuffix(bytes.TrimRight(marks, "!"), []byte("?"))})
		}
		from = to
	}
	for _, m := range stop().FindAllIndex(p.text, -1) {
		next := bytes.TrimLeft(p.text[m[1]:min(m[1]+80, len(p.text))], " \t\r\n")
		before := p.text[max(from, m[0]-8):m[0]]
		goesOn := len(next) > 0 && (next[0] >= 'a' && next[0] <= 'z' || next[0] >= '0' && next[0] <= '9')
		if p.text[m[0]] == '.' && (goesOn && shortened().Match(before) ||
			shortDay().Match(before) && beginMonth().Match(next)) {
			continue
		}
		add(m[1])
	}
	add(len(p.text))
	return all
}

var (
	separator  = plain.Pattern(`[;:](?:\s|$)|,(?:\s|$)|\s[-–—]{1,3}\s|—|\||(?i)\b(?:but|and|which)\b`)
	bareDenial = plain.Pattern(`(?i)^\s*(?:not|never)(?:\s+(?:yet|now|currently|officially|formally|fully))?\s*$`)
	aside      = plain.Pattern(`\([^()]*\)|\s(?:–|—|--)\s[^–—;]{1,120}?\s(?:–|—|--)\s`)
)

// splits reports whether a separator ends the clause that begins at from. A colon does not after a label (AAEP:
// certified), and a dash or the side of a cell does before a part that names AAEP.
func (p prose) splits(from int, m []int) bool {
	switch label := p.text[from:m[0]]; strings.TrimSpace(string(p.text[m[0]:m[1]])) {
	case ":":
		return len(bytes.Fields(label)) > 4 || !protocol().Match(label) && !nouns().Match(label)
	case ",", ";", "but", "and", "which":
	default:
		return protocol().Match(p.text[m[1]:min(m[1]+200, len(p.text))])
	}
	return true
}

// longestClause is how many bytes a clause may have. What is longer nobody reads as one.
const longestClause = 600

// clauses returns the clauses of a sentence, and separately the texts in parentheses or between dashes: the clause
// around such a text continues after it.
func (s sentence) clauses() (main, asides []prose) {
	rest := s.prose
	for range 3 { // parentheses within parentheses
		found := aside().FindAllIndex(rest.text, -1)
		var outer prose
		from := 0
		for _, m := range found {
			if inner := rest.text[m[0]+1 : m[1]-1]; bareDenial().Match(inner) { // is (not yet) so
				outer.append(rest.part(from, m[0]))
				outer.add(" ", int(rest.at[m[0]]))
				from = m[0] + 1
				rest.text[m[1]-1] = ' '
				continue
			}
			asides = append(asides, rest.part(m[0]+1, m[1]-1))
			outer.append(rest.part(from, m[0]))
			outer.add(" ", int(rest.at[m[0]]))
			from = m[1]
		}
		outer.append(rest.part(from, len(rest.text)))
		rest = outer
	}
	for i, one := range append([]prose{rest}, asides...) {
		if i == 1 {
			asides = nil
		}
		from := 0
		all := &main
		if i > 0 {
			all = &asides
		}
		for _, m := range append(separator().FindAllIndex(one.text, -1), []int{len(one.text)}) {
			if m[0] < len(one.text) && !one.splits(from, m) {
				continue
			}
			for ; m[0]-from > longestClause; from += longestClause {
				*all = append(*all, one.part(from, from+longestClause))
			}
			*all = append(*all, one.part(from, m[0]))
			from = m[0]
		}
	}
	return main, asides
}
