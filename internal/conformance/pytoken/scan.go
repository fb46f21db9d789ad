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

// maxFields is how deep the fields of formatted strings may nest.
const maxFields = 8

// Error says why a text was not read, and where. If Unread is set, the text may be Python all the same.
type Error struct {
	Pos     strict.Pos
	Message string
	Unread  bool
}

func (e *Error) Error() string { return e.Pos.String() + ": " + e.Message }

// token is a part of a logical line. The fields of a formatted string follow it, in brackets.
type token struct {
	at     int
	text   string // a name with its dots, a number, a keyword, an operator; the prefix and the quote of a string
	value  string // what a string means
	inside int    // how many tokens follow up to the end of the bracket that begins here
}

// line is a logical line. Its column is that of its first token, from 0.
type line struct {
	column int
	tokens []token
}

// source is a text and its lines, without the blank ones.
type source struct {
	path, text string
	starts     []int // where the physical lines begin
	lines      []line

	at     int
	begin  int     // where the logical line begins that is read
	tokens []token // those of that line
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

// scan finds the tokens of a text. The error is an *Error.
func scan(path string, data []byte) (*source, error) {
	text, unsupported := decode(data)
	s := &source{path: path, text: text, starts: []int{0}}
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
	return s, s.code(literal{})
}

// literal is a string that is being read, in so many fields of other strings.
type literal struct {
	at            int
	prefix, quote string
	fields        int
}

// lexeme is what separates tokens, the beginning of a string, a word, or an operator. The dots of a relative import
// belong to its keyword.
var lexeme = plain.Pattern(`^(?:[ \t\f]+|\n|\\\n?|#.*|(?i:[rbuft]{0,2})(?:"""|'''|"|')|from\b(?:` + gap + `\.+)*|` +
	`(?:\.[ \t]*)?` + name + `(?:` + gap + `\.` + gap + name + `)*|\.*[0-9][\w.]*|` +
	`(?:\*\*|//|<<|>>|[-+*/%&|^@=!<>:])=|\*\*|\.+|(?s:.))`)

const (
	name = `[A-Za-z_\x{80}-\x{10ffff}][\w\x{80}-\x{10ffff}]*`
	gap  = `(?:[ \t\f\n]|\\\n)*`
)

var gaps = strings.NewReplacer(" ", "", "\t", "", "\f", "", "\n", "", "\\", "")

// code reads the rest of the text or, in a string, the field that begins here.
func (s *source) code(in literal) error {
	if in.fields > maxFields {
		return s.fault(s.at, true, "more than %d expressions in formatted strings nest", maxFields)
	}
	var open []int // the brackets, by the indexes of their tokens
	for s.at < len(s.text) {
		next := lexeme().FindString(s.text[s.at:])
		at, last := s.at, len(open)-1
		s.at += len(next)
		switch {
		case next == "\n" && last < 0:
			s.endLine()
		case strings.Contains(" \t\f\n\\#", next[:1]):
		case strings.ContainsAny(next, `"'`):
			quote := strings.TrimLeft(next, "rbuftRBUFT")
			prefix := strings.ToLower(strings.TrimSuffix(next, quote))
			if err := s.string(literal{at, prefix, quote, in.fields}); err != nil {
				return err
			}
		case next < " ":
			return s.fault(at, false, "the byte 0x%02x is not Python", next[0])
		case next[0] == ':' && last == 0 && in.fields > 0:
			in.at, s.at = at, at+1
			if err := s.chars(in, "}"); err != nil {
				return err
			}
		case strings.Contains("([{", next):
			open = append(open, len(s.tokens))
			s.add(at, next)
		case strings.Contains(")]}", next):
			if last < 0 || !strings.Contains("()[]{}", s.tokens[open[last]].text+next) {
				return s.unended(at)
			}
			s.tokens[open[last]].inside = len(s.tokens) - open[last]
			s.add(at, next)
			if open = open[:last]; last == 0 && in.fields > 0 {
				return nil
			}
		default:
			s.add(at, norm.NFKC.String(gaps.Replace(next))) // by which Python compares names
		}
	}
	if len(open) > 0 {
		return s.unended(s.tokens[open[len(open)-1]].at)
	}
	return nil
}

func (s *source) add(at int, text string) {
	s.tokens = append(s.tokens, token{at: at, text: text})
}

// endLine ends the logical line. A form feed begins its column again. Tabs may count as one: Python refuses a text
// where it matters.
func (s *source) endLine() {
	if len(s.tokens) > 0 {
		indent := strings.TrimLeft(s.text[s.begin:s.tokens[0].at], "\\\n")
		s.lines = append(s.lines, line{len(indent) - 1 - strings.LastIndexByte(indent, '\f'), s.tokens})
	}
	s.begin, s.tokens = s.at, nil
}

// string reads a string after its opening quote.
func (s *source) string(l literal) error {
	token, begin := len(s.tokens), s.at
	s.add(l.at, l.prefix+l.quote)
	if err := s.chars(l, l.quote); err != nil {
		return err
	}
	value := s.text[begin:s.at]
	s.at += len(l.quote)
	if strings.Contains(l.prefix, "f") {
		value = strings.NewReplacer("{{", "{", "}}", "}").Replace(value)
	}
	if !strings.Contains(l.prefix, "r") {
		value = escape().ReplaceAllStringFunc(value, unescape)
	}
	s.tokens[token].value = value
	return nil
}

// chars reads what is in a string, or in the format of a field, up to its end.
func (s *source) chars(l literal, end string) error {
	formatted, format := strings.ContainsAny(l.prefix, "ft"), end != l.quote
	for s.at < len(s.text) {
		rest := s.text[s.at:]
		switch {
		case strings.HasPrefix(rest, end):
			return nil
		case strings.HasPrefix(rest, l.quote), rest[0] == '\n' && len(l.quote) == 1:
			return s.unended(l.at)
		case formatted && rest[0] == '{' && (format || rest[1] != '{'):
			if err := s.code(literal{l.at, l.prefix, l.quote, l.fields + 1}); err != nil {
				return err
			}
		case formatted && rest[0] == '{', rest[0] == '\\' && strings.IndexByte("{}", rest[1]) < 0:
			s.at += 2
		default:
			s.at++
		}
	}
	return s.unended(l.at)
}

func (s *source) unended(at int) error {
	return s.fault(at, false, "a string or bracket does not end")
}

func (s *source) fault(at int, unread bool, format string, args ...any) *Error {
	return &Error{s.pos(at), fmt.Sprintf(format, args...), unread}
}

// pos returns the place of an offset.
func (s *source) pos(at int) strict.Pos {
	i, _ := slices.BinarySearch(s.starts, at+1)
	return strict.Pos{Path: s.path, Line: i, Column: at - s.starts[i-1] + 1}
}

// value returns the text that some tokens are, if they are strings, one after another. Those of an argument may be
// formatted, and joined by +.
func value(code []token, argument bool) (value string, ok bool) {
	var out strings.Builder
	for _, t := range code {
		isString := strings.ContainsAny(t.text, `"'`)
		isText := !strings.ContainsAny(t.text, "bt") && (argument || !strings.Contains(t.text, "f"))
		switch {
		case isString && isText:
			out.WriteString(t.value)
			ok = true
		case t.text != "(" && t.text != ")" && !(argument && t.text == "+"):
			return "", false
		}
	}
	return out.String(), ok
}

var escape = plain.Pattern(`\\(?:[0-7]{1,3}|x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|(?s:.))`)

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
