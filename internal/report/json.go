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
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("encoding report: %w", err)
	}
	text := encoded.Bytes()
	b.Grow(len(text))
	done := 0
	for i, size := 0, 1; i < len(text); i += size {
		size = 1
		r := rune(text[i])
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRune(text[i:])
		}
		if isInert(r) || r == '[' && !bytes.HasSuffix(text[:i], []byte("##")) {
			continue
		}
		b.Write(text[done:i])
		escape(b, r)
		done = i + size
	}
	b.Write(text[done:])
	return nil
}

// isInert leaves '[' to be looked at with what stands before it. A line break is one of the indentation:
// strings hold none.
func isInert(r rune) bool {
	if r < utf8.RuneSelf {
		return r != '[' && r != 0x7f
	}
	return plain.Visible(r)
}

// escape writes r as a JSON string spells it. All that is not ASCII stands in a string, and so does "##[".
func escape(b *bytes.Buffer, r rune) {
	if r <= 0xffff {
		fmt.Fprintf(b, `\u%04x`, r)
		return
	}
	high, low := utf16.EncodeRune(r)
	fmt.Fprintf(b, `\u%04x\u%04x`, high, low)
}
