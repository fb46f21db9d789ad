package pytoken

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
)

// Limits of what nests: expressions in formatted strings, and brackets.
const (
	maxFields   = 8
	maxBrackets = 64
)

// Pos is a place in a text, both numbers from 1, the column in bytes.
type Pos struct{ Line, Column int }

// Error says why a text was not read, and where. If Unread is set, the text may be Python all the same.
type Error struct {
	Pos
	Message string
	Unread  bool
}

func (e *Error) Error() string { return fmt.Sprintf("%d:%d: %s", e.Line, e.Column, e.Message) }

// source is a text and its code: the same bytes, in which strings are masked by the bytes below, and comments, tabs and
// ends of lines that end no statement by blanks. The fields of formatted strings stay.
type source struct {
	text   string
	code   []byte
	lines  []line
	starts []int // starts of the physical lines
}

const (
	inFormatted = 1 + iota
	inString
	stringStart // the first byte of both
)

// line is a logical line: the column that it begins in, and its place in the code, without blanks around it.
type line struct{ column, from, to int }

// frame is what is open: a bracket, a string, a field of a formatted string, or the format of a field. The second and
// the last have the quote that ends the string, and the byte that masks their text.
type frame struct {
	at            int
	bracket       byte
	quote         string
	masked        byte
	field, format bool
	raw           bool
}

type scanner struct {
	source
	at     int
	open   []frame // the first is the module
	fields int
	deep   *Error // what is nested too deeply first
}

var coding = plain.Pattern(`\A(?:[ \t\f]*(?:#.*)?\n)??[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)`)

// decode returns a text as UTF-8, with line feeds only and one at its end.
func decode(data []byte) (string, error) {
	data, marked := bytes.CutPrefix(data, []byte("\ufeff"))
	data = bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))
	encoding := "utf-8"
	if m := coding().FindSubmatch(data); m != nil && !marked {
		encoding = strings.ReplaceAll(strings.ToLower(string(m[1])), "_", "-")
	}
	switch encoding {
	case "latin-1", "latin1", "iso-8859-1", "iso8859-1":
		runes := make([]rune, len(data))
		for i, b := range data {
			runes[i] = rune(b)
		}
		data = []byte(string(runes))
	case "utf-8", "utf8", "utf-8-sig", "ascii", "us-ascii":
	default:
		message := fmt.Sprintf("the encoding %.40q is not supported; expected UTF-8 or Latin-1", encoding)
		return "", &Error{Pos{1, 1}, message, true}
	}
	text := string(data) + "\n"
	for i, r := range text {
		if r == 0 || r == utf8.RuneError && !strings.HasPrefix(text[i:], "\ufffd") {
			at := Pos{strings.Count(text[:i], "\n") + 1, i - strings.LastIndexByte(text[:i], '\n')}
			return "", &Error{at, fmt.Sprintf("the byte 0x%02x is not text", text[i]), false}
		}
	}
	return text, nil
}

// scan finds the code of a text and its lines. The error is an *Error.
func scan(data []byte) (*source, error) {
	text, err := decode(data)
	s := &scanner{source: source{text: text, code: []byte(text), starts: []int{0}}, open: make([]frame, 1)}
	for i := range len(text) {
		if text[i] == '\n' {
			s.starts = append(s.starts, i+1)
		}
	}
	for err == nil && s.at < len(text) {
		if s.top().quote != "" {
			err = s.string(s.top())
		} else {
			err = s.next(s.top())
		}
	}
	switch {
	case err != nil:
		return nil, err
	case len(s.open) > 1:
		return nil, s.unended(s.top().at)
	case s.deep != nil:
		return nil, s.deep
	}
	start := 0
	for code := range bytes.SplitSeq(s.code, []byte("\n")) {
		if first, end := s.trim(start, start+len(code)); first < end {
			// A form feed begins the column again. Tabs may count as one: Python refuses a text where it matters.
			blanks := strings.TrimLeft(text[start:first], "\\\n")
			s.lines = append(s.lines, line{len(blanks) - 1 - strings.LastIndexByte(blanks, '\f'), first, end})
		}
		start += len(code) + 1
	}
	return &s.source, nil
}

func (s *scanner) top() frame { return s.open[len(s.open)-1] }

func (s *scanner) pop() { s.open = s.open[:len(s.open)-1] }

// mask replaces the next n bytes with one byte.
func (s *scanner) mask(n int, by byte) {
	for end := min(s.at+n, len(s.code)); s.at < end; s.at++ {
		s.code[s.at] = by
	}
}

func (s *scanner) unended(at int) error {
	return &Error{s.pos(at), "a string or bracket does not end", false}
}

// begin opens the bracket that is next.
func (s *scanner) begin(f frame) {
	f.at, f.bracket = s.at, s.text[s.at]
	s.open = append(s.open, f)
	if s.deep == nil && (s.fields > maxFields || len(s.open) > 1+maxBrackets) {
		s.deep = &Error{s.pos(s.at), fmt.Sprintf("more than %d brackets or %d expressions in formatted strings nest",
			maxBrackets, maxFields), true}
	}
	s.at++
}

func isNamePart(c byte) bool {
	return c == '_' || '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z' || c >= utf8.RuneSelf
}

// next reads what is next in the code.
func (s *scanner) next(top frame) error {
	start, rest := s.at, s.text[s.at:]
	switch c := rest[0]; {
	case c == '#':
		s.mask(strings.IndexByte(rest, '\n'), ' ')
	case strings.HasPrefix(rest, "\\\n"):
		s.mask(2, ' ')
	case c == '\t', c == '\f', c == '\n' && len(s.open) > 1:
		s.mask(1, ' ')
	case c == '"', c == '\'':
		s.begins(start)
	case c == '(', c == '[', c == '{':
		s.begin(frame{})
	case c == ')', c == ']', c == '}':
		if opens[c] != top.bracket {
			return s.unended(start)
		}
		if top.field {
			s.fields--
		}
		s.at++
		s.pop()
	case c == ':' && top.field:
		of := s.open[len(s.open)-2]
		s.open = append(s.open, frame{at: start, quote: of.quote, masked: inFormatted, raw: of.raw, format: true})
		s.mask(1, inFormatted)
	case isNamePart(c):
		for isNamePart(s.text[s.at]) {
			s.at++
		}
		if n := s.at - start; n <= 2 && (rest[n] == '"' || rest[n] == '\'') &&
			strings.Trim(rest[:n], "rRbBuUfFtT") == "" {
			s.begins(start)
		}
	case c < ' ' && c != '\n': // it could pass for a mask
		return &Error{s.pos(start), fmt.Sprintf("the byte 0x%02x is not Python", c), false}
	default:
		s.at++
	}
	return nil
}

var opens = map[byte]byte{')': '(', ']': '[', '}': '{'}

// begins opens a string that begins at start and whose quote is next.
func (s *scanner) begins(start int) {
	f := frame{at: start, quote: quoteAt(s.text[s.at:]), masked: inString}
	prefix := strings.ToLower(s.text[start:s.at])
	if strings.ContainsAny(prefix, "ft") {
		f.masked = inFormatted
	}
	f.raw = strings.Contains(prefix, "r")
	s.at = start
	s.mask(1, stringStart)
	s.mask(len(prefix)+len(f.quote)-1, f.masked)
	s.open = append(s.open, f)
}

// quoteAt returns the quote that a text begins with.
func quoteAt(text string) string {
	if len(text) > 2 && text[1] == text[0] && text[2] == text[0] {
		return text[:3]
	}
	return text[:1]
}

// string reads what is next in a string, or in the format of a field.
func (s *scanner) string(f frame) error {
	rest := s.text[s.at:]
	fields := f.masked == inFormatted
	n := 1
	switch {
	case strings.HasPrefix(rest, f.quote) && !f.format:
		n = len(f.quote)
		s.pop()
	case strings.HasPrefix(rest, f.quote), rest[0] == '\n' && len(f.quote) == 1:
		return s.unended(f.at)
	case rest[0] == '}' && f.format:
		s.pop() // what is next ends the field
		n = 0
	case rest[0] == '{' && fields && (f.format || !strings.HasPrefix(rest, "{{")):
		s.fields++
		s.begin(frame{field: true})
		n = 0
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
func (s *source) pos(offset int) Pos {
	i, _ := slices.BinarySearch(s.starts, offset+1)
	return Pos{i, offset - s.starts[i-1] + 1}
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
	for i < j && s.code[i] == ' ' {
		i++
	}
	for i < j && s.code[j-1] == ' ' {
		j--
	}
	return i, j
}

var (
	masked = plain.Pattern(`\x03[\x01\x02]*`)
	escape = plain.Pattern(`\\(?:[0-7]{1,3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|(?s:.))`)
)

// literal returns the value of a piece of the code, if that is texts, one after another or joined by +.
func (s *source) literal(i, j int) (value string, ok bool) {
	if len(bytes.Trim(s.code[i:j], "\x01\x02\x03 +()")) > 0 {
		return "", false
	}
	var all strings.Builder
	for _, m := range masked().FindAllIndex(s.code[i:j], -1) {
		text := s.text[i+m[0] : i+m[1]]
		n := strings.IndexAny(text, `"'`)
		prefix, size := strings.ToLower(text[:n]), len(quoteAt(text[n:]))
		text = text[n+size : len(text)-size]
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
	if n := len(sequence); n < 4 && '0' <= sequence[1] && sequence[1] <= '7' {
		sequence = `\` + strings.Repeat("0", 4-n) + sequence[1:]
	}
	r, _, _, err := strconv.UnquoteChar(sequence, sequence[1])
	switch {
	case sequence == "\\\n":
		return ""
	case err != nil:
		return sequence
	}
	return string(r)
}
