package report

import (
	"bufio"
	"bytes"
	"fmt"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

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
	left, err := JSON(rest, "  ")
	if err != nil {
		return err
	}
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
		{"listings", func() error { return writeAll(&a, r.Listings) }},
		{"results", func() error { return a.results(&r.Results, o.SummaryOnly) }},
		{"evidence", func() error { return writeAll(&a, r.Evidence) }},
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
	_, err = b.Write(left)
	return err
}

// arrays writes the elements of arrays that are members of the report.
type arrays struct {
	b     *bufio.Writer
	begun bool               // the array has an element
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

// writeAll writes each element.
func writeAll[T any](a *arrays, all []T) error {
	for i := range all {
		text, err := encode(&all[i], inArray)
		if err != nil {
			return err
		}
		a.next(text)
	}
	return nil
}

func (a *arrays) results(all *verdict.Results, summary bool) error {
	subject, name := "", []byte(`""`)
	for result := range all.All() {
		if summary && (result.Verdict == verdict.Passed || result.Verdict == verdict.Skipped) {
			continue
		}
		if len(result.Findings) > 0 {
			text, err := encode(result, inArray)
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
			if name, err = encode(result.Subject, inArray); err != nil {
				return err
			}
			subject = result.Subject
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
	text, err := encode(verdict.Result{Check: of.check, Verdict: of.verdict, Reason: of.reason,
		Findings: []verdict.Finding{}}, inArray)
	if err != nil {
		return around, err
	}
	member := []byte("\n      \"subject\": ")
	before, after, _ := bytes.Cut(text, append(member, `""`...))
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
	form := oneLine
	if indent != "" {
		form = json.JoinOptions(oneLine, jsontext.WithIndent(indent))
	}
	text, err := encode(v, form)
	return append(text, '\n'), err
}

// The forms of JSON: on one line, and as an element of an array of the report. Both are spelled as by encoding/json.
var (
	oneLine = json.JoinOptions(jsonv1.DefaultOptionsV1(), jsontext.EscapeForHTML(false))
	inArray = json.JoinOptions(oneLine, jsontext.WithIndentPrefix("    "), jsontext.WithIndent("  "))
)

// encode returns v as JSON in which foreign text is as harmless in a log as after Line, and yet decodes to the same
// text: what Line would spell out is a JSON escape.
func encode(v any, form json.Options) ([]byte, error) {
	text, err := json.Marshal(v, form)
	if err != nil {
		return nil, fmt.Errorf("encoding report: %w", err)
	}
	return foreign.JSON(text), nil
}
