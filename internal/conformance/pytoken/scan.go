package pytoken

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// Limits of what nests: expressions in formatted strings, and brackets.
const (
	maxFields   = 8
	maxBrackets = 64
)

// Error says why a text was not read, and where. If Unread is set, the text may be Python all the same.
type Error struct {
	Pos     strict.Pos
	Message string
	Unread  bool
}

func (e *Error) Error() string { return e.Pos.String() + ": " + e.Message }

// source is a text and its code: the same bytes, in which strings are masked by the bytes below, comparisons by ~~, and
// comments, tabs and ends of lines that end no statement by blanks. The fields of formatted strings stay.
type source struct {
	path, text string
	code       []byte
	starts     []int // starts of the physical lines

	at     int
	open   []frame // the first is the module
	fields int
	deep   *Error // what is nested too deeply first
}

const (
	inFormatted = 1 + iota
	inString
	stringStart // the first byte of both
)

// frame is what is open: a bracket, or a string, which has the quote that ends it and the byte that masks its text. The
// bracket of a field has both from its string. The format of a field is text again.
type frame struct {
	at        int
	bracket   byte
	quote     string
	masked    byte
	raw, text bool
}

var coding = plain.Pattern(`\A(?:[ \t\f]*(?:#.*)?\n)??[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)`)

// decode returns a text as UTF-8, with line feeds only and one at its end, and the name of an encoding that is not
// supported.
func decode(data []byte) (text, unsupported string) {
	data, marked := bytes.CutPrefix(data, []byte("\ufeff"))
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(data)) + "\n"
	m := coding().FindStringSubmatch(text)
	if m == nil || marked {
		return text, ""
	}
	switch encoding := strings.NewReplacer("-unix", "", "-dos", "", "_", "-").Replace(strings.ToLower(m[1])); encoding {
	case "utf-8", "utf8", "utf-8-sig", "ascii", "us-ascii":
	case "latin-1", "latin1", "iso-8859-1", "iso8859-1", "iso-latin-1":
		runes := make([]rune, len(text))
		for i := range len(text) {
			runes[i] = rune(text[i])
		}
		text = string(runes)
	default:
		return text, encoding
	}
	return text, ""
}

// scan finds the code of a text. The error is an *Error.
func scan(path string, data []byte) (*source, error) {
	text, unsupported := decode(data)
	s := &source{path: path, text: text, code: []byte(text), starts: []int{0}, open: make([]frame, 1)}
	if unsupported != "" {
		return nil, s.fault(0, true, "the encoding %.40q is not supported; expected UTF-8 or Latin-1", unsupported)
	}
	for i, r := range text {
		if r == '\n' {
			s.starts = append(s.starts, i+1)
		}
		if r == 0 || r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd") {
			return nil, s.fault(i, false, "the byte 0x%02x is not text", text[i])
		}
	}
	for s.at < len(text) {
		read := s.next
		if s.top().text {
			read = s.string
		}
		if err := read(s.top()); err != nil {
			return nil, err
		}
	}
	if len(s.open) > 1 {
		return nil, s.unended(s.top().at)
	}
	if s.deep != nil {
		return nil, s.deep
	}
	return s, nil
}

func (s *source) top() *frame { return &s.open[len(s.open)-1] }

func (s *source) pop() { s.open = s.open[:len(s.open)-1] }

// mask replaces the next n bytes with one byte.
func (s *source) mask(n int, by byte) {
	for end := min(s.at+n, len(s.code)); s.at < end; s.at++ {
		s.code[s.at] = by
	}
}

func (s *source) unended(at int) error {
	return s.fault(at, false, "a string or bracket does not end")
}

// begin opens the bracket that is next. That of a field keeps the quote of the string that it is in.
func (s *source) begin(in frame) {
	in.at, in.bracket, in.text = s.at, s.text[s.at], false
	s.open = append(s.open, in)
	if s.deep == nil && (s.fields > maxFields || len(s.open) > 1+maxBrackets) {
		s.deep = s.fault(s.at, true, "more than %d brackets or %d expressions in formatted strings nest", maxBrackets,
			maxFields)
	}
	s.at++
}

// end closes the bracket on top, whose end is next.
func (s *source) end() {
	if s.top().quote != "" {
		s.fields--
	}
	s.at++
	s.pop()
}

func isNamePart(c rune) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= utf8.RuneSelf
}

// next reads what is next in the code.
func (s *source) next(top *frame) error {
	rest := s.text[s.at:]
	switch c := rest[0]; {
	case c == '#':
		s.mask(strings.IndexByte(rest, '\n'), ' ')
	case strings.HasPrefix(rest, "\\\n"):
		s.mask(2, ' ')
	case c == '\t', c == '\f', c == '\n' && len(s.open) > 1:
		s.mask(1, ' ')
	case strings.IndexByte("([{", c) >= 0:
		s.begin(frame{})
	case strings.IndexByte(")]}", c) >= 0:
		if top.bracket != "([{"[strings.IndexByte(")]}", c)] {
			return s.unended(s.at)
		}
		s.end()
	case c == ':' && top.quote != "":
		top.at, top.text = s.at, true
		s.mask(1, inFormatted)
	case isNamePart(rune(c)), c == '"', c == '\'':
		n := strings.IndexFunc(rest, func(r rune) bool { return !isNamePart(r) })
		if begin := opening().FindStringSubmatch(rest[:min(5, len(rest))]); begin != nil {
			s.quote(begin)
		} else {
			if name := norm.NFKC.String(rest[:n]); len(name) <= n { // by which Python compares names
				copy(s.code[s.at:], name+strings.Repeat(" ", n-len(name)))
			}
			s.at += n
		}
	case strings.HasPrefix(rest, "<<"), strings.HasPrefix(rest, ">>"):
		s.at += 2
	case strings.IndexByte("=!<>:", c) >= 0 && rest[1] == '=': // an = that remains assigns, or ends a keyword
		s.mask(2, '~')
	case c < ' ' && c != '\n': // it could pass for a mask
		return s.fault(s.at, false, "the byte 0x%02x is not Python", c)
	default:
		s.at++
	}
	return nil
}

// opening is the beginning of a string: its prefix and its quote.
var opening = plain.Pattern(`^(?i:([rbuft]{0,2}))("""|'''|"|')`)

// quote opens the string whose opening is next.
func (s *source) quote(begin []string) {
	f := frame{at: s.at, quote: begin[2], masked: inString, raw: strings.ContainsAny(begin[1], "rR"), text: true}
	if strings.ContainsAny(begin[1], "fFtT") {
		f.masked = inFormatted
	}
	s.mask(1, stringStart)
	s.mask(len(begin[0])-1, f.masked)
	s.open = append(s.open, f)
}

// string reads what is next in a string, or in the format of a field.
func (s *source) string(f *frame) error {
	rest := s.text[s.at:]
	fields, format := f.masked == inFormatted, f.bracket != 0
	n := 1
	switch {
	case format && rest[0] == '}':
		s.end()
		return nil
	case fields && rest[0] == '{' && (format || !strings.HasPrefix(rest, "{{")):
		s.fields++
		s.begin(*f)
		return nil
	case strings.HasPrefix(rest, f.quote) && !format:
		n = len(f.quote)
		s.pop()
	case strings.HasPrefix(rest, f.quote), rest[0] == '\n' && len(f.quote) == 1:
		return s.unended(f.at)
	case strings.HasPrefix(rest, `\N{`) && fields && !f.raw:
		n = strings.IndexAny(rest, "}\"'\n")
	case fields && (rest[0] == '{' || strings.HasPrefix(rest, "}}")),
		rest[0] == '\\' && !(fields && strings.IndexByte("{}", rest[1]) >= 0):
		n = 2
	}
	s.mask(n, f.masked)
	return nil
}

// pos returns the place of an offset.
func (s *source) pos(offset int) strict.Pos {
	i, _ := slices.BinarySearch(s.starts, offset+1)
	return strict.Pos{Path: s.path, Line: i, Column: offset - s.starts[i-1] + 1}
}

func (s *source) fault(at int, unread bool, format string, args ...any) *Error {
	return &Error{s.pos(at), fmt.Sprintf(format, args...), unread}
}

// column returns the column of the statement at i, from 0. A form feed begins it again. Tabs may count as one: Python
// refuses a text where it matters.
func (s *source) column(i int) int {
	blanks := strings.TrimLeft(s.text[bytes.LastIndexByte(s.code[:i], '\n')+1:i], "\\\n")
	return len(blanks) - 1 - strings.LastIndexByte(blanks, '\f')
}

// find returns the first place in [i, j) of one of some bytes, outside of brackets, or where the bracket around i ends,
// or j.
func (s *source) find(i, j int, bytes string) int {
	for depth := 0; i < j; i++ {
		switch c := s.code[i]; {
		case c == '(', c == '[', c == '{':
			depth++
		case c == ')', c == ']', c == '}':
			if depth--; depth < 0 {
				return i
			}
		case depth == 0 && strings.IndexByte(bytes, c) >= 0:
			return i
		}
	}
	return j
}

// split calls do for each part of [i, j) between some bytes, without blanks around it, unless it has nothing else.
func (s *source) split(i, j int, by string, do func(i, j int)) {
	for i < j {
		k := s.find(i, j, by)
		if from, to := s.trim(i, k); from < to {
			do(from, to)
		}
		i = k + 1
	}
}

// trim leaves out the blanks at both ends.
func (s *source) trim(i, j int) (int, int) {
	i = j - len(bytes.TrimLeft(s.code[i:j], " "))
	return i, i + len(bytes.TrimRight(s.code[i:j], " "))
}

var (
	masked = plain.Pattern(`\x03[\x01\x02]*`)
	escape = plain.Pattern(`\\(?:[0-7]{1,3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|(?s:.))`)
)

// literal returns the value of a piece of the code, if that is texts, one after another or with other bytes between.
func (s *source) literal(i, j int, between string) (value string, ok bool) {
	if len(bytes.Trim(s.code[i:j], "\x02\x03 ()"+between)) > 0 {
		return "", false
	}
	var all strings.Builder
	for _, m := range masked().FindAllIndex(s.code[i:j], -1) {
		text := s.text[i+m[0] : i+m[1]]
		begin := opening().FindStringSubmatch(text)
		prefix := strings.ToLower(begin[1])
		text = text[len(begin[0]) : len(text)-len(begin[2])]
		if strings.ContainsAny(prefix, "bt") {
			return "", false
		}
		if strings.Contains(prefix, "f") {
			text = strings.NewReplacer("{{", "{", "}}", "}").Replace(text)
		}
		if !strings.Contains(prefix, "r") {
			text = escape().ReplaceAllStringFunc(text, unescape)
		}
		all.WriteString(text)
		ok = true
	}
	return all.String(), ok
}

// unescape returns what an escape sequence means. A character that is given by its name stays as it is spelled.
func unescape(sequence string) string {
	if octal, err := strconv.ParseUint(sequence[1:], 8, 16); err == nil {
		return string(rune(octal))
	}
	if r, _, _, err := strconv.UnquoteChar(sequence, sequence[1]); err == nil {
		return string(r)
	}
	return strings.TrimPrefix(sequence, "\\\n")
}
