package listing

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/rogpeppe/go-internal/diff"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/level"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// ErrNoObject: the edited text is not a JSON object, or the member is not an array.
var ErrNoObject = errors.New("no JSON object")

// Set gives a member of a JSON object another value, itself a JSON text, and leaves every other byte as it is. A member
// that is not there becomes the last one, set as the one before it is.
func Set(text []byte, name string, value []byte) ([]byte, error) {
	all, err := spans(text, '{')
	if err != nil {
		return nil, err
	}
	if i := find(all, name); i >= 0 {
		return splice(text, all[i].value, all[i].end, reset(value, blanks(text, all, i))), nil
	}
	quoted := append(Quote(name), ": "...)
	if len(all) == 0 {
		open := bytes.IndexByte(text, '{') + 1
		return splice(text, open, open, append(quoted, value...)), nil
	}
	last := len(all) - 1
	before := blanks(text, all, last)
	added := append([]byte(","), before...)
	added = append(append(added, quoted...), reset(value, before)...)
	return splice(text, all[last].end, all[last].end, added), nil
}

// Drop takes a member out of a JSON object, with its comma and the blanks before it, and leaves every other byte as it
// is.
func Drop(text []byte, name string) ([]byte, error) {
	all, err := spans(text, '{')
	if err != nil {
		return nil, err
	}
	switch i := find(all, name); {
	case i < 0:
		return text, nil
	case i > 0:
		return splice(text, all[i-1].end, all[i].end, nil), nil
	case len(all) > 1:
		return splice(text, all[0].name, all[1].name, nil), nil
	default:
		return splice(text, all[0].name, all[0].end, nil), nil
	}
}

// Append adds an element, itself a JSON text, to the array that a member of a JSON object holds, and leaves every other
// byte as it is. A member that is not there becomes the last one.
func Append(text []byte, name string, element []byte) ([]byte, error) {
	return ReplaceElement(text, name, func([]byte) bool { return false }, element)
}

// ReplaceElement replaces the first element for which is reports true in the array that a member of a JSON object
// holds, and leaves every other byte as it is. Without such an element it is Append.
func ReplaceElement(text []byte, name string, is func(element []byte) bool, element []byte) ([]byte, error) {
	all, err := spans(text, '{')
	if err != nil {
		return nil, err
	}
	i := find(all, name)
	if i < 0 {
		return Set(text, name, fmt.Appendf(nil, "[\n  %s\n]", bytes.ReplaceAll(element, []byte("\n"), []byte("\n  "))))
	}
	from := all[i].value
	array := text[from:all[i].end]
	elements, err := spans(array, '[')
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for n, e := range elements {
		if is(array[e.value:e.end]) {
			return splice(text, from+e.value, from+e.end, reset(element, blanks(array, elements, n))), nil
		}
	}
	if len(elements) == 0 {
		return splice(text, from+1, from+1, reset(element, "")), nil
	}
	last := len(elements) - 1
	before := blanks(array, elements, last)
	added := append(append([]byte(","), before...), reset(element, before)...)
	return splice(text, from+elements[last].end, from+elements[last].end, added), nil
}

// Quote returns a text, which must be UTF-8, as a JSON string, as Text writes it.
func Quote(text string) []byte {
	quoted, _ := jsontext.AppendQuote(nil, text) // an error is one of UTF-8
	return foreign.JSON(quoted)
}

// span is the position of a member or an element in a text: offsets in bytes. For an element, name equals value.
type span struct {
	text             string // the name
	name, value, end int
}

// spans returns the members of an object or the elements of an array.
func spans(text []byte, open jsontext.Kind) ([]span, error) {
	dec := jsontext.NewDecoder(bytes.NewReader(text))
	first, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	if first.Kind() != open {
		return nil, ErrNoObject
	}
	var all []span
	for dec.PeekKind() != '}' && dec.PeekKind() != ']' {
		var s span
		if open == '{' {
			name, err := dec.ReadValue()
			if err != nil {
				return nil, err
			}
			s.name = int(dec.InputOffset()) - len(name)
			unquoted, err := jsontext.AppendUnquote(nil, name)
			if err != nil {
				return nil, err
			}
			s.text = string(unquoted)
		}
		value, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		s.end = int(dec.InputOffset())
		s.value = s.end - len(value)
		if open == '[' {
			s.name = s.value
		}
		all = append(all, s)
	}
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	if _, err := dec.ReadToken(); err != io.EOF {
		return nil, errors.Join(ErrNoObject, err)
	}
	return all, nil
}

func find(all []span, name string) int {
	return slices.IndexFunc(all, func(s span) bool { return s.text == name })
}

// blanks returns the blanks before a member or element.
func blanks(text []byte, all []span, i int) string {
	from := 0
	if i > 0 {
		from = all[i-1].end
	}
	before := string(text[from:all[i].name])
	return before[strings.LastIndexAny(before, ",{[")+1:]
}

// reset formats a value as the layout after these blanks requires: indented as far, or in one line.
func reset(value []byte, before string) []byte {
	at := strings.LastIndexByte(before, '\n')
	if at < 0 {
		one := jsontext.Value(bytes.Clone(value))
		if bytes.IndexByte(value, '\n') < 0 || one.Compact(jsontext.PreserveRawStrings(true)) != nil {
			return value
		}
		return one
	}
	return bytes.ReplaceAll(value, []byte("\n"), []byte("\n"+before[at+1:]))
}

// splice replaces text[from:to] by in.
func splice(text []byte, from, to int, in []byte) []byte {
	return slices.Concat(text[:from], in, text[to:])
}

// Renewal is what a new Receipt says about a listing.
type Renewal struct {
	Receipt *receipt.Receipt
	SHA256  string      // SHA-256 of the served bytes
	URI     string      // where they are; empty: where the listing says
	Level   level.Level // empty: the listing's stays
}

// Renew gives a listing's text the values that a new Receipt signs. Only the bytes of values that change do: a value
// that means the same in another spelling stays.
func Renew(text []byte, n Renewal) ([]byte, error) {
	doc, err := strict.Parse("", text, strict.RegistryFile)
	if err != nil {
		return nil, err
	}
	for _, m := range []struct{ name, value string }{
		{"name", n.Receipt.ImplementationName},
		{"conformance_level", string(n.Level)},
		{"conformance_receipt_uri", n.URI},
		{"conformance_receipt_sha256", n.SHA256},
		{"issued_at", n.Receipt.NotBefore.Text},
		{"expires_at", Expires(n.Receipt)},
	} {
		if m.value == "" || strict.String(doc.Root, m.name) == m.value {
			continue
		}
		if text, err = Set(text, m.name, Quote(m.value)); err != nil {
			return nil, err
		}
	}
	return text, nil
}

// Diff returns the difference of two texts of a file in unified form, or "".
func Diff(path string, was, now []byte) string {
	text := diff.Diff("a/"+path, was, "b/"+path, now)
	_, text, _ = bytes.Cut(text, []byte("\n")) // the command line that diff(1) would have
	return string(text)
}

// Format returns the text of a record in its one layout; see Text. Its value does not change, so every signature of it
// remains valid. The error is a *strict.Error if the text, or its new form, is not a strict JSON object.
func Format(path string, text []byte) ([]byte, error) {
	doc, err := strict.Parse(path, text, strict.RegistryFile)
	if err != nil {
		return nil, err
	}
	root, ok := doc.Root.(map[string]any)
	if !ok {
		return nil, &strict.Error{Pos: doc.Pos(""), Code: strict.CodeSyntax,
			Message: "the text is not a JSON object; a record is one"}
	}
	out := Text(registry.KindOf(path), root)
	if len(out) > strict.RegistryFile.Bytes {
		return nil, &strict.Error{Pos: registry.Pos{Path: path}, Code: strict.CodeTooLarge,
			Message: fmt.Sprintf("laid out it has %d bytes, a record has at most %d", len(out),
				strict.RegistryFile.Bytes)}
	}
	return out, nil
}
