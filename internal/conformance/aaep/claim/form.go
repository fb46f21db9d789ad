package claim

import (
	"bytes"
	"slices"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/fold"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// These expressions match in a folded paragraph. A claim is a sentence of the form (AAEP 9.8), and nothing else is one.
var (
	claimStart = plain.Pattern(` is AAEP Level [0-9]`)
	claimForm  = plain.Pattern(`^ is AAEP Level ([0-9]+)(?: (Producer|Subscriber))? conformant` +
		`(?: with the (.+?))?, verified by AAEP Conformance Suite version (\S+) on ([0-9]{4}-[0-9]{2}-[0-9]{2})\.`)
	profileForm = plain.Pattern(`\S v[0-9][0-9A-Za-z.+-]*( \([A-Za-z][A-Za-z0-9+.-]*:[^\s()]+\))?$`)
	levelForm   = plain.Pattern(`AAEP Level ([0-9]+)`)
	// The phrases that 9.8 forbids. In an address other characters are between the words.
	phraseForm = plain.Pattern(`(?i)(?:^|[^0-9A-Z])(AAEP` + blanks + `(?:Level` + blanks + `[0-9]+` + blanks +
		`certified|certified|(compliant)))`)
	quotation = plain.Pattern(`"[^"]*"|“[^”]*”`)
	named     = plain.Pattern(`[\pL\pN]`)
)

const blanks = `(?:[\s"“”_-]|%20)+`

// These expressions match what a reader of Markdown does not see as text.
var (
	opener     = plain.Pattern("(?m)\\\\.|<!--|^[ \t>]*(`{3,}|~{3,})[^`\n]*$|`+")
	lineMarks  = plain.Pattern(`^[ \t]*(?:(?:>|#{1,6}[ \t]|[-+*][ \t]|[0-9]{1,9}[.)][ \t])[ \t]*)*`)
	blockMarks = plain.Pattern(`[-+*.)#]`)
	targetForm = plain.Pattern(`\]\([^()\n]*\)|\]\[[^\]\n]*\]|</?[A-Za-z][A-Za-z0-9-]*(?:\s[^<>]*)?/?>`)
	linkForm   = plain.Pattern(`!?\[[^\[\]\x00]*\x00`)
	space      = plain.Pattern(`(?i)&(?:nbsp|#160|#xa0);`)
)

// A sentence is what is in each place of the form.
type sentence struct {
	verdict.At
	text                       string
	level                      int
	role, profile, suite, date string // role: Producer, Subscriber or empty
	day                        time.Time
}

// A phrase is one that 9.8 forbids.
type phrase struct {
	verdict.At
	text      string
	certified bool
}

// claims is what a text says of AAEP conformance.
type claims struct {
	sentences []sentence
	phrases   []phrase
	above     *phrase // the first "AAEP Level N" with a level above each claim; may be nil
}

// readClaim finds the claims in a text, and the phrases that must not be in it.
func readClaim(path string, file []byte) (c claims) {
	text := bytes.ReplaceAll(file, []byte{0}, []byte(" "))
	hideCode(text)
	at := func(offset int) verdict.At {
		line := bytes.Count(file[:offset], []byte("\n"))
		return verdict.At(strict.Pos{Path: path, Line: line + 1,
			Column: offset - bytes.LastIndexByte(file[:offset], '\n')})
	}
	add := func(text []byte, m []int, offset int) {
		c.phrases = append(c.phrases, phrase{At: at(offset), text: string(text[m[2]:m[3]]), certified: m[4] < 0})
	}
	for _, m := range targetForm().FindAllIndex(text, -1) {
		for _, found := range phraseForm().FindAllSubmatchIndex(text[m[0]:m[1]],
			aaep.MaxListed-min(len(c.phrases), aaep.MaxListed)) {
			add(text[m[0]:m[1]], found, m[0]+found[2])
		}
		fill := byte(0)
		if text[m[0]] == '<' {
			fill = ' '
		}
		copy(text[m[0]:m[1]], bytes.Repeat([]byte{fill}, m[1]-m[0]))
	}
	for _, m := range linkForm().FindAllIndex(text, -1) {
		text[m[0]] = 0
		if text[m[0]+1] == '[' {
			text[m[0]+1] = 0
		}
	}
	top := 0
	all := paragraphs(text)
	for _, p := range all {
		quoted := quotation().FindAllIndex(p.text, -1)
		for _, m := range phraseForm().FindAllSubmatchIndex(p.text,
			aaep.MaxListed-min(len(c.phrases), aaep.MaxListed)) {
			if !slices.ContainsFunc(quoted, func(q []int) bool { return q[0] < m[2] && m[3] < q[1] }) {
				add(p.text, m, p.at[m[2]])
			}
		}
		after := 0
		starts := claimStart().FindAllIndex(p.text, -1)
		for i, start := range starts {
			end := len(p.text)
			if i+1 < len(starts) {
				end = starts[i+1][0]
			}
			m := claimForm().FindSubmatch(p.text[start[0]:end])
			if m == nil || !named().Match(p.text[after:start[0]]) || len(c.sentences) == aaep.MaxListed {
				continue
			}
			s := sentence{At: at(p.at[start[0]+1]), text: string(bytes.TrimSpace(p.text[after:start[0]])) +
				string(m[0]), role: string(m[2]), profile: string(m[3]), suite: string(m[4]), date: string(m[5])}
			s.level, _ = strconv.Atoi(string(m[1]))
			s.day, _ = time.Parse(time.DateOnly, s.date)
			c.sentences, top, after = append(c.sentences, s), max(top, s.level), start[0]+len(m[0])
		}
	}
	for _, p := range all {
		for _, m := range levelForm().FindAllSubmatchIndex(p.text, -1) {
			if n, err := strconv.Atoi(string(p.text[m[2]:m[3]])); c.above == nil && err == nil && n > top {
				c.above = &phrase{At: at(p.at[m[0]]), text: string(p.text[m[0]:m[1]])}
			}
		}
	}
	return c
}

// A paragraph is a text without marks and with single blanks, with the place in the file of each byte.
type paragraph struct {
	text []byte
	at   []int
}

func (p *paragraph) add(line []byte, offset int) {
	for i, size := 0, 0; i < len(line); i += size {
		var r rune
		r, size = utf8.DecodeRune(line[i:])
		last := len(p.text) - 1
		switch {
		case r == 0 || r == '*' || r == '`' || fold.DefaultIgnorable(r):
			continue
		case unicode.IsSpace(r):
			if last < 0 || p.text[last] != ' ' {
				p.text, p.at = append(p.text, ' '), append(p.at, offset+i)
			}
			continue
		case r == '_' && (last < 0 || !isWord(p.text[last]) || i+1 == len(line) || !isWord(line[i+1])):
			continue
		}
		p.text = append(p.text, line[i:i+size]...)
		for range size {
			p.at = append(p.at, offset+i)
		}
	}
}

func isWord(c byte) bool {
	return c >= 0x80 || '0' <= c && c <= '9' || 'A' <= c && c <= 'Z' || 'a' <= c && c <= 'z'
}

// paragraphs folds a text. An empty line, an item of a list and a heading end a paragraph.
func paragraphs(text []byte) (all []paragraph) {
	text = space().ReplaceAllFunc(text, func(m []byte) []byte { return bytes.Repeat([]byte(" "), len(m)) })
	var p paragraph
	end := func() {
		if len(p.text) > 0 {
			all = append(all, p)
		}
		p = paragraph{}
	}
	offset := 0
	for line := range bytes.Lines(text) {
		marks := line[:len(lineMarks().Find(line))]
		rest := line[len(marks):]
		if len(bytes.TrimSpace(rest)) == 0 || blockMarks().Match(marks) {
			end()
		}
		p.add(rest, offset+len(marks))
		if bytes.IndexByte(marks, '#') >= 0 {
			end()
		}
		offset += len(line)
	}
	end()
	return all
}

// hideCode replaces HTML comments, fenced code and code spans that hold a blank by blanks. What is not closed is text:
// a reader sees it. Neither do later comments, or fences of that kind, close then.
func hideCode(text []byte) {
	end, unclosed := 0, map[byte]bool{}
	for _, m := range opener().FindAllSubmatchIndex(text, -1) {
		if m[0] < end {
			continue // within what the one before begins
		}
		hidden := false
		switch c := text[m[0]]; {
		case m[2] >= 0: // a fence
			if kind := text[m[2]]; !unclosed[kind] {
				n := fenced(text[m[0]:], text[m[2]:m[3]])
				hidden, end, unclosed[kind] = n > 0, m[0]+n, n == 0
			}
		case c == '<' && !unclosed[c]:
			n := bytes.Index(text[m[1]:], []byte("-->"))
			hidden, end, unclosed[c] = n >= 0, m[1]+n+len("-->"), n < 0
		case c == '`':
			end, hidden = codeSpan(text, m[0])
		}
		for i := m[0]; hidden && i < end; i++ {
			if text[i] != '\n' {
				text[i] = ' '
			}
		}
	}
}

// fenced returns the length of the code that a fence begins; 0: the code is not closed. Code in a quotation ends with
// the quotation.
func fenced(text, fence []byte) (n int) {
	quoted := bytes.IndexByte(text[:bytes.Index(text, fence)], '>') >= 0
	for line := range bytes.Lines(text) {
		rest := bytes.TrimLeft(line, " \t>")
		switch {
		case n == 0:
		case quoted && bytes.IndexByte(line[:len(line)-len(rest)], '>') < 0:
			return n
		case bytes.HasPrefix(rest, fence) && len(bytes.Trim(rest, string(fence[:1])+" \t\r\n")) == 0:
			return n + len(line)
		}
		n += len(line)
	}
	if quoted {
		return n
	}
	return 0
}

// codeSpan returns where the code span ends that begins with the back quotes at i, and whether it holds a blank. A run
// of another length does not end it, and neither does an empty line within.
func codeSpan(text []byte, i int) (end int, blank bool) {
	run := func(i int) int { return len(text[i:]) - len(bytes.TrimLeft(text[i:], "`")) }
	n := run(i)
	for j := i + n; j < len(text); {
		next := bytes.IndexByte(text[j:], '`')
		if next < 0 || paragraphEnd().Match(text[j:j+next]) {
			break
		}
		j += next
		if m := run(j); m != n {
			j += m
			continue
		}
		return j + n, bytes.ContainsFunc(bytes.TrimSpace(text[i+n:j]), unicode.IsSpace)
	}
	return i + n, false
}

var paragraphEnd = plain.Pattern(`\n[ \t\r]*\n`)
