package strict

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// Parse reads data as one strict JSON text. The path is that of a file or a URL, and is only used for positions. The
// error is always an *Error, of the first fault in reading order. Two faults are reported out of that order: the size,
// which is checked first, and a duplicate member, which is found at the end of its object.
func Parse(path string, data []byte, lim Limits) (*Document, error) {
	r := readers.Get().(*reader)
	defer r.release()
	r.path, r.data, r.lim = path, data, lim
	root, err := r.document()
	if err != nil {
		return nil, err
	}
	return &Document{Path: path, Data: data, Root: root}, nil
}

var readers = sync.Pool{New: func() any { return new(reader) }}

// reader is the state of one Parse. Its stacks keep their memory from text to text, and each object and
// array is built once, in its final size.
type reader struct {
	path   string
	data   []byte
	text   string // data, of which unescaped strings and numbers are substrings
	lim    Limits
	source bytes.Buffer
	tokens jsontext.Decoder
	names  []name
	values []any
	read   int // values so far
}

type name struct {
	text   string
	offset int
}

// maxKept is the length of a stack that is kept for the next text.
const maxKept = 1 << 8

func (r *reader) release() {
	r.source = bytes.Buffer{}
	r.tokens.Reset(&r.source)
	names, values := r.names[:cap(r.names)], r.values[:cap(r.values)]
	if len(names) > maxKept || len(values) > maxKept {
		names, values = nil, nil
	}
	clear(names)
	clear(values)
	r.path, r.data, r.text, r.read = "", nil, "", 0
	r.names, r.values = names[:0], values[:0]
	readers.Put(r)
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// The decoder's own search for duplicates is off: it builds a second index of the names that the object's
// map gives anyway.
var decoding = jsontext.AllowDuplicateNames(true)

func (r *reader) document() (any, error) {
	if len(r.data) > r.lim.Bytes {
		return nil, &Error{Pos: Pos{Path: r.path}, Code: CodeTooLarge,
			Message: fmt.Sprintf("text has %d bytes; expected at most %d", len(r.data), r.lim.Bytes)}
	}
	if bytes.HasPrefix(r.data, byteOrderMark) {
		return nil, r.fault(0, CodeBOM, ByteOrderMark)
	}
	r.text = string(r.data)
	r.source = *bytes.NewBuffer(r.data)
	r.tokens.Reset(&r.source, decoding)
	first, err := r.next()
	if err != nil {
		return nil, err
	}
	root, err := r.value(first, 0)
	if err != nil {
		return nil, err
	}
	rest := strings.TrimLeft(r.text[r.tokens.InputOffset():], " \t\r\n")
	if rest != "" {
		message := "text follows the JSON value; expected the end"
		if strings.HasPrefix(rest, "//") || strings.HasPrefix(rest, "/*") || strings.HasPrefix(rest, "#") {
			message = "comment after the JSON value, JSON has none"
		}
		return nil, r.fault(len(r.text)-len(rest), CodeTrailingText, message)
	}
	return root, nil
}

// token is one token and the bytes of the text that it spans.
type token struct {
	kind       jsontext.Kind
	start, end int
}

// next reads a token. The tokeniser does not tell where a token begins; it is where the blanks and the one
// separator end that stand between two tokens, which the tokeniser has checked.
func (r *reader) next() (token, error) {
	start := int(r.tokens.InputOffset())
	t, err := r.tokens.ReadToken()
	if err != nil {
		return token{}, r.syntax(err)
	}
	for separates(r.text[start]) {
		start++
	}
	return token{t.Kind(), start, int(r.tokens.InputOffset())}, nil
}

func separates(c byte) bool {
	return c == ' ' || c == ',' || c == ':' || c == '\n' || c == '\r' || c == '\t'
}

// value reads the value that begins with t inside depth objects and arrays.
func (r *reader) value(t token, depth int) (any, error) {
	if r.read++; r.read > r.lim.Values && r.lim.Values > 0 {
		return nil, r.fault(t.start, CodeTooMany, fmt.Sprintf("text holds more than %d values", r.lim.Values))
	}
	switch t.kind {
	case '{', '[':
		if depth++; depth > r.lim.Depth {
			return nil, r.fault(t.start, CodeTooDeep,
				fmt.Sprintf("value is nested %d deep; expected at most %d", depth, r.lim.Depth))
		}
		if t.kind == '{' {
			return r.object(depth)
		}
		return r.array(depth)
	case '"':
		return r.str(t), nil
	case '0':
		return r.number(t)
	case 'n':
		return nil, nil
	}
	return t.kind == 't', nil
}

func (r *reader) object(depth int) (any, error) {
	firstName, firstValue := len(r.names), len(r.values)
	for {
		t, err := r.next()
		if err != nil {
			return nil, err
		}
		if t.kind == '}' {
			break
		}
		r.names = append(r.names, name{r.str(t), t.start})
		if t, err = r.next(); err != nil {
			return nil, err
		}
		v, err := r.value(t, depth)
		if err != nil {
			return nil, err
		}
		r.values = append(r.values, v)
	}
	names, values := r.names[firstName:], r.values[firstValue:]
	object := make(map[string]any, len(names))
	for i, n := range names {
		object[n.text] = values[i]
	}
	if len(object) < len(names) {
		return nil, r.duplicate(names)
	}
	r.names, r.values = r.names[:firstName], r.values[:firstValue]
	return object, nil
}

func (r *reader) array(depth int) (any, error) {
	first := len(r.values)
	for {
		t, err := r.next()
		if err != nil {
			return nil, err
		}
		if t.kind == ']' {
			break
		}
		v, err := r.value(t, depth)
		if err != nil {
			return nil, err
		}
		r.values = append(r.values, v)
	}
	array := append(make([]any, 0, len(r.values)-first), r.values[first:]...)
	r.values = r.values[:first]
	return array, nil
}

// str returns the content of a string token, which the tokenizer has checked.
func (r *reader) str(t token) string {
	content := r.text[t.start+1 : t.end-1]
	if strings.IndexByte(content, '\\') < 0 {
		return content
	}
	s, _ := jsontext.AppendUnquote(nil, r.data[t.start:t.end])
	return string(s)
}

func (r *reader) number(t token) (any, error) {
	digits := r.text[t.start:t.end]
	if len(digits) > r.lim.Number {
		return nil, r.fault(t.start, CodeLongNumber,
			fmt.Sprintf("number has %d bytes; expected at most %d", len(digits), r.lim.Number))
	}
	if _, err := strconv.ParseFloat(digits, 64); err != nil {
		return nil, r.fault(t.start, CodeNumberRange,
			fmt.Sprintf("number %s is outside the range of an IEEE 754 double, whose greatest is "+
				"1.7976931348623157e308", digits))
	}
	return json.Number(digits), nil
}

// duplicate finds the first member of an object whose name an earlier one has.
func (r *reader) duplicate(names []name) error {
	seen := make(map[string]int, len(names))
	for _, n := range names {
		if first, ok := seen[n.text]; ok {
			e := r.fault(n.offset, CodeDuplicateMember,
				fmt.Sprintf("member %q appears again; it is in line %d already, and a name may occur once", n.text,
					r.pos(first).Line))
			e.Pointer = string(jsontext.Pointer(e.Pointer).AppendToken(n.text))
			return e
		}
		seen[n.text] = n.offset
	}
	return nil
}

// syntax turns the tokeniser's error into an Error.
func (r *reader) syntax(err error) *Error {
	cause := new(jsontext.SyntacticError)
	if !errors.As(err, &cause) { // io.EOF: no value at all
		return r.fault(len(r.data), CodeSyntax, "text holds no JSON value, exactly one must be there")
	}
	offset := min(int(cause.ByteOffset), len(r.data))
	code, message := explain(r.data, offset, cause.Err)
	if code == CodeSyntax && cause.Err == io.ErrUnexpectedEOF {
		offset = len(r.data)
	}
	e := r.fault(offset, code, message)
	e.Pointer = string(cause.JSONPointer)
	return e
}

// explain says what is wrong at the offset.
func explain(data []byte, offset int, err error) (code, message string) {
	rest := data[offset:]
	if c, size := utf8.DecodeRune(rest); c == utf8.RuneError && size == 1 {
		if isUTF16(data) {
			return CodeInvalidUTF8, UTF16
		}
		return CodeInvalidUTF8, fmt.Sprintf("byte 0x%02x is not valid UTF-8; JSON is UTF-8 throughout", rest[0])
	}
	switch {
	case surrogate(rest):
		return CodeLoneSurrogate, fmt.Sprintf("escape %s is half of a surrogate pair; expected both halves together",
			rest[:6])
	case err == io.ErrUnexpectedEOF:
		return CodeSyntax, "text ends before its value is complete"
	}
	return CodeSyntax, cmp.Or(mistake(data, offset, err.Error()), err.Error())
}

// surrogate reports whether text begins with the escape of a UTF-16 surrogate.
func surrogate(text []byte) bool {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return false
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return err == nil && utf16.IsSurrogate(rune(n))
}

func (r *reader) fault(offset int, code, message string) *Error {
	return &Error{Pos: r.pos(offset), Code: code, Message: message, Pointer: string(r.tokens.StackPointer())}
}

func (r *reader) pos(offset int) Pos { return posAt(r.path, r.data, offset) }

func posAt(path string, data []byte, offset int) Pos {
	before := data[:offset]
	return Pos{
		Path:   path,
		Line:   1 + bytes.Count(before, []byte("\n")),
		Column: offset - bytes.LastIndexByte(before, '\n'),
	}
}
