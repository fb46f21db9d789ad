package schema

import (
	"fmt"
	"regexp"
	"strings"
)

// maxProgram caps the instructions of one pattern, and maxPrograms those of all patterns of a schema, as
// an RE2 program: what a match costs at most is instructions times bytes.
const (
	maxProgram  = 4_000
	maxPrograms = 40_000
)

// pattern is an ECMA-262 regular expression with the u flag, as the keyword `pattern` means it.
type pattern struct {
	text   string
	simple []sequence // matches where it is not nil
	re     *regexp.Regexp
	size   int // instructions, at least
}

// compilePattern reads text as ECMA-262 with the u flag does. What RE2 lacks (lookaround, back references,
// counts above 1000) and named groups are errors: no pattern is read in another sense than its author's.
func compilePattern(text string) (*pattern, error) {
	e, err := parsePattern(text)
	if err != nil {
		return nil, err
	}
	p := &pattern{text: text, size: e.size()}
	if p.size > maxProgram {
		return nil, fmt.Errorf("needs more than %d steps for each character", maxProgram)
	}
	if p.simple = sequences(e); p.simple != nil {
		p.size = len(p.simple)
		return p, nil
	}
	if p.re, err = regexp.Compile(e.re2()); err != nil {
		return nil, err
	}
	return p, nil
}

// Pattern gives the test of a text by an ECMA-262 regular expression with the u flag, as the keyword `pattern` has it:
// whether it matches anywhere. What Compile refuses in a schema is an error.
func Pattern(text string) (matches func(string) bool, err error) {
	p, err := compilePattern(text)
	if err != nil {
		return nil, err
	}
	return p.MatchString, nil
}

// String returns the text of the pattern.
func (p *pattern) String() string { return p.text }

// MatchString reports whether the pattern matches anywhere in s.
func (p *pattern) MatchString(s string) bool {
	if p.simple == nil {
		return p.re.MatchString(s)
	}
	for i := range p.simple {
		if p.simple[i].match(s) {
			return true
		}
	}
	return false
}

// expr is a node of a parsed pattern.
type expr struct {
	op       op
	set      set
	sub      []*expr
	min, max int // of opRepeat; max < 0: no bound
}

type op uint8

const (
	opSet op = iota
	opConcat
	opAlternate
	opRepeat
	opBegin
	opEnd
	opWordBoundary
	opNoWordBoundary
)

// size is about how many instructions the expression has as an RE2 program.
func (e *expr) size() int {
	n := 1
	for _, s := range e.sub {
		n = min(n+s.size(), maxProgram+1)
	}
	if e.op == opRepeat {
		n = min(n*max(1, e.min, e.max), maxProgram+1)
	}
	return n
}

// re2 spells the expression for package regexp.
func (e *expr) re2() string {
	switch e.op {
	case opSet:
		return e.set.re2()
	case opBegin:
		return `\A`
	case opEnd:
		return `\z`
	case opWordBoundary:
		return `\b`
	case opNoWordBoundary:
		return `\B`
	case opRepeat:
		if e.max < 0 {
			return fmt.Sprintf("(?:%s){%d,}", e.sub[0].re2(), e.min)
		}
		return fmt.Sprintf("(?:%s){%d,%d}", e.sub[0].re2(), e.min, e.max)
	}
	between := ""
	if e.op == opAlternate {
		between = "|"
	}
	parts := make([]string, len(e.sub))
	for i, s := range e.sub {
		parts[i] = s.re2()
	}
	return "(?:" + strings.Join(parts, between) + ")"
}

// span is an inclusive range of code points.
type span struct{ lo, hi rune }

// set is a set of code points.
type set struct {
	negated    bool
	spans      []span
	properties []string // Unicode general categories as RE2 spells them, such as \p{Lu}
}

const maxRune = '\U0010FFFF'

var (
	anyRune    = []span{{0, maxRune}}
	digits     = []span{{'0', '9'}}
	word       = []span{{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}
	terminator = []span{{'\n', '\n'}, {'\r', '\r'}, {'\u2028', '\u2029'}}
	// white is WhiteSpace and LineTerminator of ECMA-262; RE2's \s is less.
	white = []span{{'\t', '\r'}, {' ', ' '}, {'\u00a0', '\u00a0'}, {'\u1680', '\u1680'}, {'\u2000', '\u200a'},
		{'\u2028', '\u2029'}, {'\u202f', '\u202f'}, {'\u205f', '\u205f'}, {'\u3000', '\u3000'}, {'\ufeff', '\ufeff'}}
)

// complement returns the code points that are in no span. The spans are sorted.
func complement(spans []span) []span {
	var out []span
	next := rune(0)
	for _, s := range spans {
		if s.lo > next {
			out = append(out, span{next, s.lo - 1})
		}
		next = s.hi + 1
	}
	if next <= maxRune {
		out = append(out, span{next, maxRune})
	}
	return out
}

func (s *set) re2() string {
	spans, negated := s.spans, s.negated
	if len(spans) == 0 && len(s.properties) == 0 { // [] matches nothing and [^] anything; RE2 knows neither
		spans, negated = anyRune, !negated
	}
	var b strings.Builder
	b.WriteByte('[')
	if negated {
		b.WriteByte('^')
	}
	for _, r := range spans {
		fmt.Fprintf(&b, `\x{%x}-\x{%x}`, r.lo, r.hi)
	}
	for _, p := range s.properties {
		b.WriteString(p)
	}
	b.WriteByte(']')
	return b.String()
}
