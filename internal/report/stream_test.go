package report

import (
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// streamed is a report read record by record.
func streamed(text string) (*verdict.Report, error) {
	var results []verdict.Result
	var listings []verdict.Listing
	var evidence []verdict.Evidence
	r, err := Stream("x.json", strings.NewReader(text), verdict.Records{
		Result:   func(r verdict.Result) error { results = append(results, r); return nil },
		Listing:  func(l verdict.Listing) error { listings = append(listings, l); return nil },
		Evidence: func(e verdict.Evidence) error { evidence = append(evidence, e); return nil },
	})
	if err == nil {
		r.Results, r.Listings, r.Evidence = verdict.NewResults(results...), listings, evidence
	}
	return r, err
}

// TestStream checks that a report read record by record is the report, as it is written and on one line.
func TestStream(t *testing.T) {
	for _, sample := range samples {
		text := written(t, "json", sample.report, Options{})
		for _, text := range []string{text, strings.ReplaceAll(text, "\n", "")} {
			r, err := streamed(text)
			if err != nil {
				t.Errorf("%s: %v", sample.name, err)
				continue
			}
			want := written(t, "json", sample.report, Options{})
			if diff := cmp.Diff(want, written(t, "json", r, Options{})); diff != "" {
				t.Errorf("%s: %s", sample.name, diff)
			}
		}
	}
}

// TestStreamIsStrict checks that what Read refuses is refused record by record too, wherever in the report it stands.
func TestStreamIsStrict(t *testing.T) {
	honest := written(t, "json", audited(), Options{})
	first := func(old, new string) string { return strings.Replace(honest, old, new, 1) }
	for name, text := range map[string]string{
		"nothing":                     "",
		"cut":                         honest[:len(honest)/2],
		"an array":                    "[]",
		"an empty object":             "{}",
		"more text":                   honest + "{}",
		"a byte order mark":           "\ufeff" + honest,
		"a second member":             first(`"version": 1,`, `"version": 1, "version": 1,`),
		"a second member, escaped":    first(`"version": 1,`, `"version": 1, "versio\u006e": 1,`),
		"results twice":               first(`"results": [`, `"results": [], "results": [`),
		"results twice, escaped":      first(`"results": [`, `"result\u0073": [], "results": [`),
		"results twice, one no array": first(`"results": [`, `"results": 1, "results": [`),
		"null for results":            first(`"results": [`, `"results": null, "x": [`),
		"an object for results":       first(`"results": [`, `"results": {}, "x": [`),
		"a second member of a result": first(`"check": "layout",`, `"check": "layout", "check": "layout",`),
		"a result without a check":    first(`"check": "layout",`, ``),
		"a result that is a number":   first(`"results": [`, `"results": [1,`),
		"a comma before the first":    first(`"results": [`, `"results": [,`),
		"two commas":                  first(`    },`, `    },,`),
		"an unknown verdict":          first(`"verdict": "pass",`, `"verdict": "green",`),
		"a status that is none":       first(`"status": "valid"`, `"status": "good"`),
		"a state that is a number":    first(`"state": "obtained"`, `"state": 1`),
		"half a surrogate pair":       first(`"slug": "acme"`, `"slug": "\ud800"`),
		"no UTF-8":                    first(`"slug": "acme"`, "\"slug\": \"\xff\""),
		"too deep": first(`"slug": "acme"`, `"slug": "acme", "x": `+strings.Repeat("[", 40)+
			strings.Repeat("]", 40)),
		"a long number":   first(`"slug": "acme"`, `"slug": "acme", "x": `+strings.Repeat("1", 100)),
		"too many values": first(`"slug": "acme"`, `"slug": "acme", "x": [`+strings.Repeat("1,", 5000)+`1]`),
	} {
		if text == honest {
			t.Errorf("%s: nothing to refuse", name)
		}
		_, stream := streamed(text)
		if _, err := Read("x.json", []byte(text)); err == nil && name != "too many values" || stream == nil {
			t.Errorf("%s: read: %v; record by record: %v", name, err, stream)
		}
	}
	// A record, and all that is no record, have a size of their own.
	for name, text := range map[string]string{
		"a record": first(`"slug": "acme"`, `"slug": "`+strings.Repeat("x", 2*maxValue)+`"`),
		"many values": first(`"version": 1,`, `"version": 1, "y": "`+strings.Repeat("x", maxValue/2)+`", "x": "`+
			strings.Repeat("x", maxValue/2)+`",`),
		"a member's name":  first(`"version": 1,`, `"version": 1, "`+strings.Repeat("x", maxValue)+`": 1,`),
		"nothing but gaps": first(`"version": 1,`, `"version": 1,`+strings.Repeat(" ", maxValue+1<<20)),
	} {
		if _, err := streamed(text); err == nil || !strings.Contains(err.Error(), "bytes") {
			t.Errorf("%s of more than %d bytes: error %v", name, maxValue, err)
		}
	}
	stop := 0
	if _, err := Stream("x.json", strings.NewReader(honest), verdict.Records{Result: func(verdict.Result) error {
		stop++
		return io.ErrClosedPipe
	}}); err == nil || stop != 1 {
		t.Errorf("error %v after %d results", err, stop)
	}
}

// TestOtherLetterCase checks that a member in another letter case than the schema has it in, which the schema does not
// judge, is not taken for it.
func TestOtherLetterCase(t *testing.T) {
	honest := written(t, "json", audited(), Options{})
	text := strings.ReplaceAll(honest, `"verdict": "fail",`, `"verdict": "fail", "Verdict": "pass",`)
	if text == honest {
		t.Fatal("no verdict to write again")
	}
	for name, read := range map[string]func(string) (*verdict.Report, error){
		"whole":            func(text string) (*verdict.Report, error) { return Read("x.json", []byte(text)) },
		"record by record": streamed,
	} {
		r, err := read(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(honest, written(t, "json", r, Options{})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
