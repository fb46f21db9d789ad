package report

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// writeJSON writes version 1 of the JSON report. What was never set is an empty array, and times are UTC.
//
// The arrays that grow with the registry are written one element after another, at the places where the rest, encoded
// as a whole, has one element of each.
func writeJSON(b *bufio.Writer, r *Counted, o Options) error {
	rest := *r.Report
	rest.EvaluatedAt = r.EvaluatedAt.UTC()
	rest.Assumed = append([]string{}, r.Assumed...)
	printed := r.Results.Len()
	if o.SummaryOnly {
		printed -= r.count(verdict.Passed) + r.count(verdict.Skipped)
		rest.Omitted = []string{string(verdict.Passed), string(verdict.Skipped)}
	}
	rest.Results = verdict.NewResults(make([]verdict.Result, min(printed, 1))...)
	rest.Listings = make([]verdict.Listing, min(len(r.Listings), 1))
	rest.Evidence = make([]verdict.Evidence, min(len(r.Evidence), 1))
	var text bytes.Buffer
	if err := encodeIndented(&text, rest, "", "  "); err != nil {
		return err
	}
	left := text.Bytes()
	if r.Own != nil {
		own, err := JSON(map[string]any{r.Own.Name: r.Own.Value}, "  ")
		if err != nil {
			return err
		}
		// {, the member in lines of its own, and }.
		member := bytes.TrimSuffix(bytes.TrimPrefix(own, []byte("{\n")), []byte("\n}\n"))
		before, after, _ := bytes.Cut(left, []byte("\n  \"protocol\": "))
		line, after, _ := bytes.Cut(after, []byte("\n"))
		left = slices.Concat(before, []byte("\n  \"protocol\": "), line, []byte("\n"), member, []byte(",\n"), after)
	}
	a := arrays{b: b, texts: map[like][2][]byte{}}
	for _, array := range []struct {
		name  string
		write func() error
	}{
		{"listings", func() error { return a.listings(r.Listings) }},
		{"results", func() error { return a.results(&r.Results, o.SummaryOnly) }},
		{"evidence", func() error { return a.evidence(r.Evidence) }},
	} {
		// Inside of a text there is no line break, and further in more blanks begin the line.
		before, after, found := bytes.Cut(left, []byte("\n  \""+array.name+"\": [\n"))
		if !found {
			continue
		}
		_, left, _ = bytes.Cut(after, []byte("\n  ]"))
		b.Write(before)
		fmt.Fprintf(b, "\n  %q: [", array.name)
		a.begun = false
		if err := array.write(); err != nil {
			return err
		}
		b.WriteString("\n  ]")
	}
	_, err := b.Write(left)
	return err
}

// arrays writes the elements of arrays that are members of the report.
type arrays struct {
	b     *bufio.Writer
	begun bool // the array has an element
	one   bytes.Buffer
	texts map[like][2][]byte // before and behind the subject
}

// like are results that differ only in their subject: they have no findings.
type like struct {
	check   string
	verdict verdict.Verdict
	reason  string
}

// maxTexts is how many texts of results are kept to be written again.
const maxTexts = 1 << 12

func (a *arrays) next(parts ...[]byte) {
	element := a.b.AvailableBuffer()
	if a.begun {
		element = append(element, ',')
	}
	a.begun = true
	element = append(element, "\n    "...)
	for _, part := range parts {
		element = append(element, part...)
	}
	a.b.Write(element)
}

// text is v as an element; it lasts until the next is asked for.
func (a *arrays) text(v any) ([]byte, error) { return a.indented(v, "    ") }

// indented is v where the lines behind its first begin with prefix.
func (a *arrays) indented(v any, prefix string) ([]byte, error) {
	a.one.Reset()
	err := encodeIndented(&a.one, v, prefix, "  ")
	return bytes.TrimSuffix(a.one.Bytes(), []byte("\n")), err
}

func (a *arrays) evidence(all []verdict.Evidence) error {
	for i := range all {
		text, err := a.text(&all[i])
		if err != nil {
			return err
		}
		a.next(text)
	}
	return nil
}

// listings writes the text of each listing, without looking up its members each time.
func (a *arrays) listings(all []verdict.Listing) error {
	m := members{arrays: a}
	for i := range all {
		l := &all[i]
		m.element = append(m.element[:0], '{')
		m.text("slug", l.Slug)
		m.text("name", l.Name)
		m.text("tool_did", l.ToolDID)
		m.text("level", l.Level)
		m.text("status", l.Status)
		m.time("issued_at", l.IssuedAt)
		m.time("expires_at", l.ExpiresAt)
		if l.RefusedBy != "" {
			m.text("refused_by", l.RefusedBy)
		}
		if l.RevokedBy != "" {
			m.text("revoked_by", l.RevokedBy)
		}
		if len(l.Witnesses) > 0 {
			m.value("witnesses", l.Witnesses)
		}
		if l.Archived {
			m.value("archived", l.Archived)
		}
		if m.err != nil {
			return m.err
		}
		a.next(m.element, []byte("\n    }"))
	}
	return nil
}

// members writes the members of an element.
type members struct {
	*arrays
	element []byte // without the last brace
	err     error  // the first
}

func (m *members) name(name string) {
	if len(m.element) > 1 {
		m.element = append(m.element, ',')
	}
	m.element = append(append(append(m.element, "\n      \""...), name...), "\": "...)
}

func (m *members) text(name, value string) {
	if !spelledAsIs(value) {
		m.value(name, value)
		return
	}
	m.name(name)
	m.element = append(append(append(m.element, '"'), value...), '"')
}

// spelledAsIs reports whether a text between quotes is its own spelling as a JSON string of the report.
func spelledAsIs(text string) bool {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' || c == '[' {
			return false
		}
	}
	return true
}

// time leaves nil out.
func (m *members) time(name string, value *time.Time) {
	if value == nil {
		return
	}
	text, err := value.MarshalText()
	if err != nil {
		m.value(name, value)
		return
	}
	m.text(name, string(text))
}

func (m *members) value(name string, value any) {
	m.name(name)
	text, err := m.indented(value, "      ")
	m.element, m.err = append(m.element, text...), cmp.Or(m.err, err)
}

func (a *arrays) results(all *verdict.Results, summary bool) error {
	subject, name := "", []byte(`""`)
	for result := range all.All() {
		if summary && (result.Verdict == verdict.Passed || result.Verdict == verdict.Skipped) {
			continue
		}
		if len(result.Findings) > 0 {
			text, err := a.text(result)
			if err != nil {
				return err
			}
			a.next(text)
			continue
		}
		around, err := a.around(like{result.Check, result.Verdict, result.Reason})
		if err != nil {
			return err
		}
		if result.Subject != subject {
			subject = result.Subject
			name = append(append(append(name[:0], '"'), subject...), '"')
			if !spelledAsIs(subject) {
				text, err := a.text(subject)
				if err != nil {
					return err
				}
				name = append(name[:0], text...)
			}
		}
		a.next(around[0], name, around[1])
	}
	return nil
}

// around returns the text of a result before and after its subject.
func (a *arrays) around(of like) ([2][]byte, error) {
	around, ok := a.texts[of]
	if ok {
		return around, nil
	}
	text, err := a.text(verdict.Result{Check: of.check, Verdict: of.verdict, Reason: of.reason,
		Findings: []verdict.Finding{}})
	if err != nil {
		return around, err
	}
	member := []byte("\n      \"subject\": ")
	before, after, _ := bytes.Cut(bytes.Clone(text), append(member, `""`...))
	around = [2][]byte{slices.Concat(before, member), after}
	if len(a.texts) == maxTexts {
		clear(a.texts)
	}
	a.texts[of] = around
	return around, nil
}

// JSON gives v as JSON that is as harmless in a log as the JSON report, with a final line break; an empty indent puts
// all on one line.
func JSON(v any, indent string) ([]byte, error) {
	var b bytes.Buffer
	err := encodeIndented(&b, v, "", indent)
	return b.Bytes(), err
}

// encodeIndented writes v as JSON in which foreign text is as harmless in a log as after Line, and yet decodes to the
// same text: what Line would spell out is a JSON escape. An error of b shows when it is flushed.
func encodeIndented(b io.Writer, v any, prefix, indent string) error {
	var encoded bytes.Buffer
	e := json.NewEncoder(&encoded)
	e.SetEscapeHTML(false)
	e.SetIndent(prefix, indent)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("encoding report: %w", err)
	}
	writeEscaped(b, encoded.Bytes())
	return nil
}

// Escaped returns a JSON text of the same value that is as harmless in a log as the JSON report. Its strings have no
// control character, as in strict JSON.
func Escaped(text []byte) []byte {
	var b bytes.Buffer
	writeEscaped(&b, text)
	return b.Bytes()
}

func writeEscaped(b io.Writer, text []byte) {
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
}

// isInert leaves '[' to be checked with the characters before it. A line break belongs to the indentation, because
// strings have none.
func isInert(r rune) bool {
	if r < utf8.RuneSelf {
		return r != '[' && r != 0x7f
	}
	return foreign.Visible(r)
}

// escape writes r as a JSON string spells it. All characters outside of ASCII are in a string, and so is "##[".
func escape(b io.Writer, r rune) {
	if r <= 0xffff {
		fmt.Fprintf(b, `\u%04x`, r)
		return
	}
	high, low := utf16.EncodeRune(r)
	fmt.Fprintf(b, `\u%04x\u%04x`, high, low)
}
