// Package pytoken reads Python source far enough to say what a module imports, which functions it defines under which
// decorators, and which texts it gives to the calls in it. Nothing is run, imported or evaluated.
//
// [Scan] cuts a text into the tokens of Python 3.12 to 3.14 (The Python Language Reference, chapter 2): strings of all
// kinds, the fields of formatted strings with whatever is in them, comments, explicit and implicit joining of lines,
// and indentation. It takes linear time, and its limits are those of CPython: 200 open brackets, 150 open formatted
// strings, 100 levels of indentation. What it refuses CPython refuses too, but not the other way round: it knows no
// grammar beyond that a block follows a colon.
package pytoken

import (
	"github.com/openagentprotocol-OAP/oap-gate/internal/plain"

	"bytes"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Kind says what a token is.
type Kind uint8

// The kinds. A formatted string is FStart, then FText for what it says itself and the tokens of its fields with the
// braces around them, then FEnd. End is the last token of each text.
const (
	End Kind = iota
	Newline
	Indent
	Dedent
	Name
	Number
	String
	FStart
	FText
	FEnd
	Op
)

// Token is the text from Start up to End, in bytes; that of Newline, Indent, Dedent and End means nothing.
type Token struct {
	Kind       Kind
	Start, End int32
}

// MaxBytes is how much text Scan reads.
const MaxBytes = 1 << 20

// Limits of CPython.
const (
	maxBrackets = 200
	maxFStrings = 150
	maxIndents  = 100
)

// Error says why a text is no Python, and where: Line from 1, Column from 1 in bytes.
type Error struct {
	Line, Column int
	Message      string
}

func (e *Error) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Message) }

// Source is a text in tokens.
type Source struct {
	Text   string // in UTF-8, without a byte order mark
	Tokens []Token

	lines []int32 // where each line begins
}

// Position is the line and the column of an offset, both from 1, the column in bytes.
func (s *Source) Position(offset int32) (line, column int) {
	i, found := slices.BinarySearch(s.lines, offset)
	if !found {
		i--
	}
	return i + 1, int(offset-s.lines[i]) + 1
}

// text is the text of the token at i.
func (s *Source) text(i int) string {
	t := s.Tokens[i]
	return s.Text[t.Start:t.End]
}

// is reports whether the token at i is an operator or a name of that spelling.
func (s *Source) is(i int, spelling string) bool {
	t := s.Tokens[i]
	return (t.Kind == Op || t.Kind == Name) && s.Text[t.Start:t.End] == spelling
}

// frame is what is open: a bracket, a formatted string, a field of one, or the format specification of a field.
type frame struct {
	kind  frameKind
	open  byte // the bracket
	quote byte // of the formatted string, here and in its specifications
	size  int  // of its quote, 1 or 3
	raw   bool
	at    int32
}

type frameKind uint8

const (
	bracket frameKind = iota
	field
	fstring
	specification
)

type scanner struct {
	*Source
	at       int
	frames   []frame
	brackets int // of the frames, those that are brackets or fields
	fstrings int // of the frames, those that are formatted strings
	columns  []int
	others   []int // the columns again, a tab counting as one
	block    bool  // the logical line before ended with a colon
}

// Scan cuts a text into tokens. The error is an *Error.
func Scan(text []byte) (*Source, error) {
	s := &scanner{Source: &Source{lines: []int32{0}}, columns: []int{0}, others: []int{0}}
	if len(text) > MaxBytes {
		return nil, &Error{1, 1, fmt.Sprintf("the text has more than %d bytes", MaxBytes)}
	}
	if err := s.decode(text); err != nil {
		return nil, err
	}
	s.Tokens = make([]Token, 0, len(s.Text)/4+8)
	if err := s.scan(); err != nil {
		return nil, err
	}
	return s.Source, nil
}

var coding = plain.Pattern(`^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)`)

// decode makes UTF-8 of the text, and finds its lines. PEP 263 lets a comment in one of the first two lines name an
// encoding; but for Latin-1 those that are in use today are UTF-8 or ASCII.
func (s *scanner) decode(text []byte) error {
	var marked bool
	text, marked = bytes.CutPrefix(text, []byte("\xef\xbb\xbf"))
	latin := false
	rest := text
	for range 2 {
		line := rest
		if i := bytes.IndexAny(rest, "\r\n"); i >= 0 {
			line, rest = rest[:i], bytes.TrimPrefix(rest[i+1:], []byte("\n"))
		} else {
			rest = nil
		}
		if m := coding().FindSubmatch(line); m != nil {
			switch name := strings.ReplaceAll(strings.ToLower(string(m[1])), "_", "-"); {
			case name == "utf-8" || name == "utf8" || strings.HasPrefix(name, "utf-8-"), name == "ascii",
				name == "us-ascii":
			case !marked && slices.Contains([]string{"latin-1", "latin1", "iso-8859-1", "iso8859-1"}, name):
				latin = true
			default:
				return &Error{1, 1, fmt.Sprintf("it names the encoding %q, UTF-8 and Latin-1 are read", name)}
			}
			break
		}
		if i := bytes.IndexFunc(line, func(r rune) bool { return r != ' ' && r != '\t' && r != '\f' }); i >= 0 &&
			line[i] != '#' {
			break
		}
	}
	if latin {
		runes := make([]rune, len(text))
		for i, b := range text {
			runes[i] = rune(b)
		}
		text = []byte(string(runes))
	}
	s.Text = string(text)
	for i, c := range text {
		if c == '\n' || c == '\r' && (i+1 == len(text) || text[i+1] != '\n') {
			s.lines = append(s.lines, int32(i+1))
		}
	}
	if i := bytes.IndexByte(text, 0); i >= 0 {
		return s.fault(i, "a null byte is no text")
	}
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return s.fault(i, "the byte 0x%02x is no UTF-8", text[i])
		}
		i += n
	}
	return nil
}

func (s *scanner) fault(at int, format string, args ...any) error {
	line, column := s.Position(int32(at))
	return &Error{line, column, fmt.Sprintf(format, args...)}
}

func (s *scanner) emit(kind Kind, start int) {
	s.Tokens = append(s.Tokens, Token{kind, int32(start), int32(s.at)})
}

// top is the innermost frame, nil where nothing is open.
func (s *scanner) top() *frame {
	if len(s.frames) == 0 {
		return nil
	}
	return &s.frames[len(s.frames)-1]
}

func (s *scanner) scan() error {
	for fresh := true; ; {
		top := s.top()
		if top != nil && top.kind >= fstring {
			if err := s.formatted(top); err != nil {
				return err
			}
			continue
		}
		if fresh && top == nil {
			if ended, err := s.indentation(); err != nil || ended {
				return err
			}
			fresh = false
		}
		if err := s.blanks(); err != nil {
			return err
		}
		switch c := s.peek(0); {
		case s.at == len(s.Text):
			if top != nil {
				return s.fault(int(top.at), "%q is never closed", top.open)
			}
			if err := s.newline(s.at); err != nil {
				return err
			}
			fresh = true
		case c == '\n' || c == '\r':
			start := s.at
			s.lineBreak()
			if top == nil {
				if err := s.newline(start); err != nil {
					return err
				}
				fresh = true
			}
		default:
			if err := s.token(c); err != nil {
				return err
			}
		}
	}
}

// newline ends a logical line, which has at least one token.
func (s *scanner) newline(start int) error {
	last := s.Tokens[len(s.Tokens)-1]
	s.block = last.Kind == Op && s.Text[last.Start] == ':' && last.End == last.Start+1
	s.emit(Newline, start)
	return nil
}

// peek is the byte n after the next, 0 beyond the end: no text holds one.
func (s *scanner) peek(n int) byte {
	if s.at+n < len(s.Text) {
		return s.Text[s.at+n]
	}
	return 0
}

// lineBreak goes over one end of a line, however it is spelled.
func (s *scanner) lineBreak() {
	if s.peek(0) == '\r' && s.peek(1) == '\n' {
		s.at++
	}
	s.at++
}

// blanks goes over what parts tokens, comments and joined lines too.
func (s *scanner) blanks() error {
	for {
		switch c := s.peek(0); c {
		case ' ', '\t', '\f':
			s.at++
		case '#':
			s.comment()
		case '\\':
			if next := s.peek(1); next != '\n' && next != '\r' {
				return s.fault(s.at, `something follows the \ that joins lines`)
			}
			start := s.at
			s.at++
			s.lineBreak()
			if s.at == len(s.Text) {
				return s.fault(start, `nothing follows the \ that joins lines`)
			}
		default:
			return nil
		}
	}
}

func (s *scanner) comment() {
	if i := strings.IndexAny(s.Text[s.at:], "\r\n"); i >= 0 {
		s.at += i
		return
	}
	s.at = len(s.Text)
}

// indentation goes to the first token of the next logical line; true at the end of the text.
func (s *scanner) indentation() (ended bool, err error) {
	for {
		column, other := 0, 0
		joined := false // the line before was joined to this one: its column counts
	line:
		for {
			switch c := s.peek(0); c {
			case ' ':
				if !joined {
					column, other = column+1, other+1
				}
			case '\t':
				if !joined {
					column, other = (column/8+1)*8, other+1
				}
			case '\f':
				if !joined {
					column, other = 0, 0
				}
			case '\\':
				if next := s.peek(1); next != '\n' && next != '\r' {
					break line
				}
				start := s.at
				joined = joined || column > 0
				s.at++
				s.lineBreak()
				if s.at == len(s.Text) {
					return false, s.fault(start, `nothing follows the \ that joins lines`)
				}
				continue
			default:
				break line
			}
			s.at++
		}
		switch c := s.peek(0); {
		case s.at == len(s.Text):
			if s.block {
				return false, s.fault(s.at, "the text ends where a block is due")
			}
			for range s.columns[1:] {
				s.emit(Dedent, s.at)
			}
			s.emit(End, s.at)
			return true, nil
		case c == '#':
			s.comment()
		case c == '\n' || c == '\r':
			s.lineBreak()
		default:
			return false, s.indent(column, other)
		}
	}
}

// indent holds the column of a logical line against those of the blocks that it may be in.
func (s *scanner) indent(column, other int) error {
	last := len(s.columns) - 1
	mixed := func() error {
		return s.fault(s.at, "tabs and blanks are mixed, so that the indentation has no one meaning")
	}
	switch {
	case column == s.columns[last]:
		if other != s.others[last] {
			return mixed()
		}
		if s.block {
			return s.fault(s.at, "a block is due, and the line is not indented")
		}
	case column > s.columns[last]:
		switch {
		case other <= s.others[last]:
			return mixed()
		case !s.block:
			return s.fault(s.at, "the line is indented, and no block is due")
		case len(s.columns) == maxIndents:
			return s.fault(s.at, "blocks are nested deeper than %d", maxIndents-1)
		}
		s.columns, s.others = append(s.columns, column), append(s.others, other)
		s.emit(Indent, s.at)
	default:
		if s.block {
			return s.fault(s.at, "a block is due, and the line is not indented")
		}
		for last > 0 && column < s.columns[last] {
			last--
			s.emit(Dedent, s.at)
		}
		s.columns, s.others = s.columns[:last+1], s.others[:last+1]
		if column != s.columns[last] {
			return s.fault(s.at, "the line is indented as none of the blocks around it")
		}
		if other != s.others[last] {
			return mixed()
		}
	}
	return nil
}

// token reads the token that begins with c, outside of the text of formatted strings.
func (s *scanner) token(c byte) error {
	start := s.at
	switch {
	case isDigit(c) || c == '.' && isDigit(s.peek(1)):
		s.number()
		s.emit(Number, start)
		return nil
	case c == '"' || c == '\'':
		return s.quoted(start)
	case isNameByte(c):
		if err := s.identifier(); err != nil {
			return err
		}
		if q := s.peek(0); (q == '"' || q == '\'') && isPrefix(s.Text[start:s.at]) {
			return s.quoted(start)
		}
		s.emit(Name, start)
		return nil
	}
	return s.operator(c)
}

// number goes over a number. It tells none from what is not quite one, such as 1__0.
func (s *scanner) number() {
	digits := func(is func(byte) bool) {
		for is(s.peek(0)) || s.peek(0) == '_' {
			s.at++
		}
	}
	if c := s.peek(1) | 0x20; s.peek(0) == '0' && (c == 'x' || c == 'o' || c == 'b') {
		s.at += 2
		digits(func(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' })
		return
	}
	digits(isDigit)
	if s.peek(0) == '.' {
		s.at++
		digits(isDigit)
	}
	sign := 0
	if c := s.peek(1); c == '+' || c == '-' {
		sign = 1
	}
	if s.peek(0)|0x20 == 'e' && isDigit(s.peek(1+sign)) {
		s.at += 1 + sign
		digits(isDigit)
	}
	if s.peek(0)|0x20 == 'j' {
		s.at++
	}
}

// identifier goes over a name. Characters beyond ASCII count by what they are in the normal form NFKC, as in CPython.
func (s *scanner) identifier() error {
	start := s.at
	for s.at < len(s.Text) && isNameByte(s.Text[s.at]) || s.at > start && isDigit(s.peek(0)) {
		if s.Text[s.at] < utf8.RuneSelf {
			s.at++
			continue
		}
		r, n := utf8.DecodeRuneInString(s.Text[s.at:])
		for i, k := range norm.NFKC.String(string(r)) {
			if isStart := s.at+i == start; isStart && !isNameStart(k) || !isStart && !isNamePart(k) {
				return s.fault(s.at, "the character %U is part of no name", r)
			}
		}
		s.at += n
	}
	return nil
}

func isNameStart(r rune) bool {
	return r == '_' || unicode.In(r, unicode.L, unicode.Nl, unicode.Other_ID_Start)
}

func isNamePart(r rune) bool {
	return isNameStart(r) || unicode.In(r, unicode.Mn, unicode.Mc, unicode.Nd, unicode.Pc, unicode.Other_ID_Continue)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isNameByte(c byte) bool {
	return c == '_' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= utf8.RuneSelf
}

// operators are those of more than one character, the longer ones first.
var operators = []string{"**=", "//=", ">>=", "<<=", "...", "**", "//", ">>", "<<", "!=", "->", ":=", "+=", "-=", "*=",
	"/=", "%=", "&=", "|=", "^=", "@=", "==", "<=", ">="}

func (s *scanner) operator(c byte) error {
	start, top := s.at, s.top()
	inField := top != nil && top.kind == field
	switch c {
	case '(', '[', '{':
		s.at++
		s.emit(Op, start)
		return s.push(frame{kind: bracket, open: c, at: int32(start)})
	case ')', ']', '}':
		switch {
		case top == nil:
			return s.fault(start, "%q closes nothing", c)
		case top.open != closes[c]:
			return s.fault(start, "%q closes %q", c, top.open)
		}
		s.at++
		s.pop()
		s.emit(Op, start)
		return nil
	case ':':
		if inField {
			s.at++
			s.emit(Op, start)
			of := s.frames[len(s.frames)-2] // a field is in a formatted string or in a specification
			return s.push(frame{kind: specification, open: '{', quote: of.quote, size: of.size, raw: of.raw,
				at: int32(start)})
		}
	case '!':
		if !inField && s.peek(1) != '=' {
			return s.fault(start, "%q is no operator", c)
		}
	}
	for _, op := range operators {
		if op[0] == c && strings.HasPrefix(s.Text[s.at:], op) {
			s.at += len(op)
			s.emit(Op, start)
			return nil
		}
	}
	if !strings.ContainsRune("+-*/%@<>=&|^~.,:;!", rune(c)) {
		return s.fault(start, "the character %q stands in no Python", c)
	}
	s.at++
	s.emit(Op, start)
	return nil
}

var closes = map[byte]byte{')': '(', ']': '[', '}': '{'}

func (s *scanner) push(f frame) error {
	switch f.kind {
	case bracket, field:
		if s.brackets++; s.brackets > maxBrackets {
			return s.fault(int(f.at), "brackets are nested deeper than %d", maxBrackets)
		}
	case fstring:
		if s.fstrings++; s.fstrings > maxFStrings {
			return s.fault(int(f.at), "formatted strings are nested deeper than %d", maxFStrings)
		}
	}
	s.frames = append(s.frames, f)
	return nil
}

func (s *scanner) pop() {
	switch s.top().kind {
	case bracket, field:
		s.brackets--
	case fstring:
		s.fstrings--
	}
	s.frames = s.frames[:len(s.frames)-1]
}

func isPrefix(name string) bool {
	return slices.Contains([]string{"r", "b", "u", "f", "t", "br", "rb", "fr", "rf", "tr", "rt"}, strings.ToLower(name))
}

// quoted reads a string, or the beginning of a formatted one, whose token begins at start and whose quote is next.
func (s *scanner) quoted(start int) error {
	prefix := strings.ToLower(s.Text[start:s.at])
	quote := s.peek(0)
	size := 1
	if s.peek(1) == quote && s.peek(2) == quote {
		size = 3
	}
	s.at += size
	if strings.ContainsAny(prefix, "ft") {
		s.emit(FStart, start)
		return s.push(frame{kind: fstring, open: quote, quote: quote, size: size, raw: strings.Contains(prefix, "r"),
			at: int32(start)})
	}
	for s.at < len(s.Text) {
		switch c := s.Text[s.at]; {
		case c == '\\':
			s.escaped()
		case c == quote && s.quoteEnds(quote, size):
			s.at += size
			s.emit(String, start)
			return nil
		case size == 1 && (c == '\n' || c == '\r'):
			return s.fault(start, "the string is not ended on its line")
		default:
			s.at++
		}
	}
	return s.fault(start, "the string is never ended")
}

// escaped goes over a backslash and what it takes with it.
func (s *scanner) escaped() {
	s.at++
	if c := s.peek(0); c == '\r' || c == '\n' {
		s.lineBreak()
	} else if s.at < len(s.Text) {
		s.at++
	}
}

func (s *scanner) quoteEnds(quote byte, size int) bool {
	return size == 1 || s.peek(1) == quote && s.peek(2) == quote
}

// formatted reads a formatted string, or a specification in it, up to its end or to the next field.
func (s *scanner) formatted(f *frame) error {
	start := s.at
	middle := func() {
		if s.at > start {
			s.emit(FText, start)
		}
	}
	spec := f.kind == specification
	for s.at < len(s.Text) {
		switch c := s.Text[s.at]; {
		case c == f.quote && s.quoteEnds(f.quote, f.size):
			if spec {
				return s.fault(int(f.at), "a field of the string is never closed")
			}
			middle()
			at := s.at
			s.at += f.size
			s.emit(FEnd, at)
			s.pop()
			return nil
		case f.size == 1 && (c == '\n' || c == '\r'):
			return s.fault(int(f.at), "the string is not ended on its line")
		case c == '{' && s.peek(1) == '{' && !spec, c == '}' && s.peek(1) == '}' && !spec:
			s.at += 2
		case c == '{':
			middle()
			at := s.at
			s.at++
			s.emit(Op, at)
			return s.push(frame{kind: field, open: '{', at: int32(at)})
		case c == '}' && spec:
			middle()
			s.pop()
			return nil // and the field's own } is the next token
		case c == '}':
			return s.fault(s.at, "a single } stands in a formatted string")
		case c != '\\':
			s.at++
		case !f.raw && s.peek(1) == 'N' && s.peek(2) == '{':
			if end := strings.IndexAny(s.Text[s.at+3:], "}\"'\r\n"); end >= 0 && s.Text[s.at+3+end] == '}' {
				s.at += 3 + end + 1
				break
			}
			return s.fault(s.at, "the name of a character is never ended")
		case s.peek(1) == '{' || s.peek(1) == '}':
			s.at++ // a backslash does not take a brace with it
		default:
			s.escaped()
		}
	}
	return s.fault(int(f.at), "the string is never ended")
}
