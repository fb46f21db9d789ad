package schema

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxGroups caps the nesting of groups in a pattern.
const maxGroups = 100

// patternParser reads the grammar Pattern[+UnicodeMode] of ECMA-262, section 22.2.1.
type patternParser struct {
	rest  string
	depth int
}

func parsePattern(text string) (*expr, error) {
	p := &patternParser{rest: text}
	e, err := p.alternatives()
	if err == nil && p.rest != "" {
		err = errors.New("a ) closes no group")
	}
	return e, err
}

// cut takes prefix from the text that is left.
func (p *patternParser) cut(prefix string) bool {
	rest, ok := strings.CutPrefix(p.rest, prefix)
	p.rest = rest
	return ok
}

// next takes one character.
func (p *patternParser) next() rune {
	r, n := utf8.DecodeRuneInString(p.rest)
	p.rest = p.rest[n:]
	return r
}

func (p *patternParser) alternatives() (*expr, error) {
	if p.depth++; p.depth > maxGroups {
		return nil, fmt.Errorf("groups are nested deeper than %d", maxGroups)
	}
	defer func() { p.depth-- }()
	either := &expr{op: opAlternate}
	for {
		all := &expr{op: opConcat}
		for p.rest != "" && p.rest[0] != '|' && p.rest[0] != ')' {
			e, err := p.term()
			if err != nil {
				return nil, err
			}
			all.sub = append(all.sub, e)
		}
		either.sub = append(either.sub, all)
		if !p.cut("|") {
			break
		}
	}
	if len(either.sub) == 1 {
		return either.sub[0], nil
	}
	return either, nil
}

func (p *patternParser) term() (*expr, error) {
	switch {
	case p.cut("^"):
		return &expr{op: opBegin}, nil
	case p.cut("$"):
		return &expr{op: opEnd}, nil
	case p.cut(`\b`):
		return &expr{op: opWordBoundary}, nil
	case p.cut(`\B`):
		return &expr{op: opNoWordBoundary}, nil
	}
	atom, err := p.atom()
	if err != nil {
		return nil, err
	}
	return p.quantified(atom)
}

func (p *patternParser) atom() (*expr, error) {
	if p.cut("(") {
		return p.group()
	}
	if p.cut("[") {
		s, err := p.class()
		return &expr{set: s}, err
	}
	if p.cut(".") {
		return &expr{set: set{negated: true, spans: terminator}}, nil
	}
	if p.cut(`\`) {
		s, err := p.escape(false)
		return &expr{set: s}, err
	}
	r := p.next()
	if strings.ContainsRune(`*+?{}]`, r) {
		return nil, fmt.Errorf("%q is alone; for the character itself write %q", r, `\`+string(r))
	}
	return &expr{set: set{spans: []span{{r, r}}}}, nil
}

func (p *patternParser) group() (*expr, error) {
	if strings.HasPrefix(p.rest, "?") && !p.cut("?:") {
		return nil, fmt.Errorf("(%.3s...) is not supported: (?: is the only supported group that begins with (?",
			p.rest)
	}
	e, err := p.alternatives()
	if err == nil && !p.cut(")") {
		err = errors.New("a group is not closed")
	}
	return e, err
}

func (p *patternParser) quantified(atom *expr) (*expr, error) {
	e := &expr{op: opRepeat, sub: []*expr{atom}, max: -1}
	switch {
	case p.cut("*"):
	case p.cut("+"):
		e.min = 1
	case p.cut("?"):
		e.max = 1
	case p.cut("{"):
		if err := p.count(e); err != nil {
			return nil, err
		}
	default:
		return atom, nil
	}
	p.cut("?") // a lazy match is a match
	return e, nil
}

// count reads the counts of {n}, {n,} and {n,m}.
func (p *patternParser) count(e *expr) error {
	text, rest, ok := strings.Cut(p.rest, "}")
	p.rest = rest
	least, most, ranged := strings.Cut(text, ",")
	if !ok || !isDigits(least) || most != "" && !isDigits(most) {
		return fmt.Errorf("{%.20s is not a count; for the character itself write \\{", text)
	}
	e.min = atoi(least)
	switch {
	case !ranged:
		e.max = e.min
	case most != "":
		e.max = atoi(most)
	}
	if e.max >= 0 && e.max < e.min {
		return fmt.Errorf("{%.20s} counts down", text)
	}
	if max(e.min, e.max) > 1000 {
		return fmt.Errorf("{%.20s} counts above 1000, which is not supported; use minLength and maxLength", text)
	}
	return nil
}

// atoi reads digits, and takes what is beyond an int for a very large count.
func atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 1 << 30
	}
	return n
}

// class reads a character class after its opening bracket.
func (p *patternParser) class() (set, error) {
	s := set{negated: p.cut("^")}
	for !p.cut("]") {
		from, err := p.classAtom()
		if err != nil {
			return s, err
		}
		if !strings.HasPrefix(p.rest, "-") || strings.HasPrefix(p.rest, "-]") {
			s.spans = append(s.spans, from.spans...)
			s.properties = append(s.properties, from.properties...)
			continue
		}
		p.cut("-")
		to, err := p.classAtom()
		if err != nil {
			return s, err
		}
		lo, ok1 := from.single()
		hi, ok2 := to.single()
		if !ok1 || !ok2 || lo > hi {
			return s, errors.New("a range in a class does not go from one character up to another")
		}
		s.spans = append(s.spans, span{lo, hi})
	}
	return s, nil
}

func (s *set) single() (rune, bool) {
	if len(s.spans) != 1 || len(s.properties) > 0 || s.spans[0].lo != s.spans[0].hi {
		return 0, false
	}
	return s.spans[0].lo, true
}

func (p *patternParser) classAtom() (set, error) {
	switch {
	case p.rest == "":
		return set{}, errors.New("a class is not closed")
	case p.cut(`\`):
		return p.escape(true)
	}
	r := p.next()
	return set{spans: []span{{r, r}}}, nil
}

// escape reads what follows a backslash.
func (p *patternParser) escape(inClass bool) (set, error) {
	if p.rest == "" {
		return set{}, errors.New(`\ ends the pattern`)
	}
	r := p.next()
	switch r {
	case 'd':
		return set{spans: digits}, nil
	case 'D':
		return set{spans: complement(digits)}, nil
	case 'w':
		return set{spans: word}, nil
	case 'W':
		return set{spans: complement(word)}, nil
	case 's':
		return set{spans: white}, nil
	case 'S':
		return set{spans: complement(white)}, nil
	case 'p', 'P':
		return p.category(r)
	}
	r, err := p.character(r, inClass)
	return set{spans: []span{{r, r}}}, err
}

var controls = map[rune]rune{'t': '\t', 'n': '\n', 'v': '\v', 'f': '\f', 'r': '\r'}

// character reads the escape of one character, whose first is r.
func (p *patternParser) character(r rune, inClass bool) (rune, error) {
	if c, ok := controls[r]; ok {
		return c, nil
	}
	switch {
	case strings.ContainsRune(`^$\.*+?()[]{}|/`, r), inClass && r == '-':
		return r, nil
	case inClass && r == 'b':
		return '\b', nil
	case r == '0' && (p.rest == "" || p.rest[0] < '0' || p.rest[0] > '9'):
		return 0, nil
	case r == 'x':
		return p.hex(2)
	case r == 'u':
		return p.codePoint()
	case r == 'c' && p.rest != "" && isLetter(p.rest[0]):
		return p.next() & 31, nil
	case r == 'k' || '1' <= r && r <= '9':
		return 0, fmt.Errorf(`\%c is a back reference, which is not supported`, r)
	}
	return 0, fmt.Errorf("%q is not an escape of ECMA-262 with the u flag", `\`+string(r))
}

func (p *patternParser) hex(length int) (rune, error) {
	n, err := strconv.ParseUint(p.rest[:min(length, len(p.rest))], 16, 32)
	if err != nil || len(p.rest) < length {
		return 0, errors.New("a hexadecimal escape is not complete")
	}
	p.rest = p.rest[length:]
	return rune(n), nil
}

// codePoint reads \uhhhh, \uhhhh\uhhhh and \u{h}.
func (p *patternParser) codePoint() (rune, error) {
	if p.cut("{") {
		text, rest, ok := strings.Cut(p.rest, "}")
		n, err := strconv.ParseUint(text, 16, 32)
		if !ok || err != nil || n > maxRune {
			return 0, errors.New(`\u{...} holds no code point`)
		}
		p.rest = rest
		return rune(n), nil
	}
	high, err := p.hex(4)
	if err != nil || high>>10 != 0xD800>>10 || !strings.HasPrefix(p.rest, `\u`) {
		return high, err
	}
	after := patternParser{rest: p.rest[2:]}
	low, err := after.hex(4)
	if err != nil || low>>10 != 0xDC00>>10 {
		return high, nil
	}
	p.rest = after.rest
	return (high-0xD800)<<10 + (low - 0xDC00) + 0x10000, nil
}

// category reads the general category after \p or \P.
func (p *patternParser) category(r rune) (set, error) {
	name, rest, ok := strings.Cut(p.rest, "}")
	name, opened := strings.CutPrefix(name, "{")
	if _, known := unicode.Categories[name]; !ok || !opened || !known || len(name) > 2 {
		return set{}, fmt.Errorf(`\%c is supported with a general category of one or two letters alone, such as \p{Lu}`,
			r)
	}
	p.rest = rest
	return set{properties: []string{fmt.Sprintf(`\%c{%s}`, r, name)}}, nil
}
