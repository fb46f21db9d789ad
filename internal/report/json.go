package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/openagentprotocol-OAP/oap-gate/internal/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// writeJSON writes version 1 of the JSON report. What was never set is an empty array, and times are UTC.
func writeJSON(b *bytes.Buffer, r *verdict.Report, _ Options) error {
	full := *r
	full.EvaluatedAt = r.EvaluatedAt.UTC()
	full.Assumed = append([]string{}, r.Assumed...)
	full.Results = verdict.Results{}
	for result := range r.Results.All() {
		result.Findings = append([]verdict.Finding{}, result.Findings...)
		full.Results.Add(result)
	}
	full.Evidence = append([]verdict.Evidence{}, r.Evidence...)
	return encode(b, full)
}

// JSON gives v as JSON that is as harmless in a log as the JSON report, with a final line break; an empty indent puts
// all on one line.
func JSON(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	err := encodeIndented(&b, v, indent)
	return b.Bytes(), err
}

// encode writes v as indented JSON in which foreign text is as harmless in a log as after Line, and yet the
// same text to whoever decodes it: what Line would spell out is a JSON escape.
func encode(b *bytes.Buffer, v any) error { return encodeIndented(b, v, "  ") }

func encodeIndented(b *bytes.Buffer, v any, indent string) error {
	var encoded bytes.Buffer
	e := json.NewEncoder(&encoded)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("encoding report: %w", err)
	}
	lay(b, bytes.TrimSuffix(encoded.Bytes(), []byte("\n")), indent)
	b.WriteByte('\n')
	return nil
}

// lay writes JSON that has no white space between its tokens as json.Indent does, which takes several times as long,
// and what Line would spell out as escapes.
func lay(b *bytes.Buffer, text []byte, indent string) {
	b.Grow(2 * len(text))
	depth, quoted, done := 0, false, 0
	next := func(i int) { // a line of its own for what stands at i
		b.Write(text[done:i])
		done = i
		if indent == "" {
			return
		}
		b.WriteByte('\n')
		for range depth {
			b.WriteString(indent)
		}
	}
	for i, size := 0, 1; i < len(text); i += size {
		size = 1
		switch c := text[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\':
			size = 2
		case quoted && c < utf8.RuneSelf && c != '[' && c != 0x7f:
		case quoted:
			var r rune
			r, size = utf8.DecodeRune(text[i:])
			if plain.Visible(r) && (r != '[' || !bytes.HasSuffix(text[:i], []byte("##"))) {
				continue
			}
			b.Write(text[done:i])
			escape(b, r)
			done = i + size
		case c == ':' && indent != "":
			b.Write(text[done : i+1])
			b.WriteByte(' ')
			done = i + 1
		case c == ',':
			next(i + 1)
		case c == '{' || c == '[':
			if closing := text[i+1]; closing == '}' || closing == ']' {
				size = 2
				continue
			}
			depth++
			next(i + 1)
		case c == '}' || c == ']':
			depth--
			next(i)
		}
	}
	b.Write(text[done:])
}

// escape writes r as a JSON string spells it.
func escape(b *bytes.Buffer, r rune) {
	if r <= 0xffff {
		fmt.Fprintf(b, `\u%04x`, r)
		return
	}
	high, low := utf16.EncodeRune(r)
	fmt.Fprintf(b, `\u%04x\u%04x`, high, low)
}
