package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/ghtest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// fill sets every string in v to s, makes slices of two, and leaves the rest as fits.
func fill(v reflect.Value, s string) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(s)
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), s)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range v.Len() {
			fill(v.Index(i), s)
		}
	case reflect.Struct:
		if results, ok := v.Addr().Interface().(*verdict.Results); ok {
			var all []verdict.Result
			fill(reflect.ValueOf(&all).Elem(), s)
			results.Add(all...)
			return
		}
		if v.Type() == reflect.TypeFor[time.Time]() {
			v.Set(reflect.ValueOf(noon))
			return
		}
		for i := range v.NumField() {
			fill(v.Field(i), s)
		}
	}
}

// poisoned are reports with s in every field; with s as verdict too, and with each of our own.
func poisoned(s string) []*verdict.Report {
	var all []*verdict.Report
	for _, v := range []verdict.Verdict{verdict.Verdict(s), verdict.Passed, verdict.Failed, verdict.Inconclusive,
		verdict.Errored} {
		r := new(verdict.Report)
		fill(reflect.ValueOf(r).Elem(), s)
		if v != verdict.Verdict(s) {
			r.Verdict = v
			results := []verdict.Verdict{verdict.Failed, verdict.Inconclusive, verdict.Warned, verdict.Skipped,
				verdict.Passed}
			for i, severity := range []verdict.Severity{verdict.Error, verdict.Doubt, verdict.Warning, verdict.Notice,
				verdict.Error} {
				result := verdict.Result{Check: s, Subject: s, Verdict: results[i], Reason: s}
				f := slices.Collect(r.Results.All())[0].Findings[0]
				f.Severity = severity
				bare := f
				bare.Path = ""
				result.Findings = []verdict.Finding{f, bare}
				r.Results.Add(result)
			}
			r.Results.Add(verdict.Result{Check: s, Subject: s + "2", Verdict: verdict.Failed,
				Reason: s})
		}
		all = append(all, r)
	}
	many := *all[1]
	many.Results = verdict.NewResults(slices.Collect(many.Results.All())...)
	for _, suffix := range []string{"a", "b", "c", "d"} { // enough subjects for a matrix
		many.Results.Add(verdict.Result{Check: s + suffix, Subject: s + suffix,
			Verdict: verdict.Failed})
	}
	return append(all, &many)
}

// FuzzLog puts one text into every field of a report and reads what the writers make of it as the GitHub
// runner does.
func FuzzLog(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		rules := []verdict.Rule{{ID: s, Title: s, Cite: s, Why: s, Fix: s}}
		for i, r := range poisoned(s) {
			o := Options{Rules: rules, MaxAnnotations: 3, Color: i%2 == 0}
			for _, format := range Names(Formats) {
				log := written(t, format, r, o)
				if format == "github" {
					checkAnnotations(t, log, r, o.MaxAnnotations)
				} else if found := ghtest.Commands(log); found != nil {
					t.Errorf("%s with %q in it: the runner finds %v", format, s, found)
				}
			}
		}
	})
}

func written(t *testing.T, format string, r *verdict.Report, o Options) string {
	t.Helper()
	var b bytes.Buffer
	must.OK(t, Write(&b, format, r, o))
	return b.String()
}

// checkAnnotations fails unless the commands in log are the ones that the report should give, and no text of
// theirs is a command where the runner writes it on.
func checkAnnotations(t *testing.T, log string, r *verdict.Report, limit int) {
	t.Helper()
	want := map[string]int{}
	for f := range Count(r).findings() {
		want[annotationLevel(f.Severity)]++
	}
	for name, n := range want {
		if n > limit {
			want[name] = limit + 1
		}
	}
	if r.Verdict == verdict.Errored {
		want["error"]++
	}
	want["group"], want["endgroup"] = 1, 1
	got := map[string]int{}
	for _, c := range ghtest.Commands(log) {
		got[c.Name]++
		for key, value := range c.Props {
			if !strings.Contains(" file line col title ", " "+key+" ") || foreign.Line(value) != value {
				t.Errorf("property %s=%q", key, value)
			}
		}
		if found := ghtest.Commands(c.Text); found != nil {
			t.Errorf("the text of %v holds %v", c, found)
		}
		if len([]rune(c.Text)) > maxField {
			t.Errorf("a text of %d characters", len([]rune(c.Text)))
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("commands are %v, want %v, in\n%s", got, want, log)
	}
}

// FuzzMarkdownPage checks that foreign text never leaves its code spans: apart from these and from links that are
// plainly https, the page is the same whatever the text.
func FuzzMarkdownPage(f *testing.F) {
	for _, s := range hostile {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if s == "" {
			t.Skip("empty fields are left out")
		}
		harmless := poisoned("x")
		for i, r := range poisoned(s) {
			for i, a := range r.Attest { // else each line is one of facts
				r.Attest[i].Text = strings.ReplaceAll(a.Text, "\n", " ")
			}
			got, want := skeleton(t, written(t, "markdown", r, Options{})),
				skeleton(t, written(t, "markdown", harmless[i], Options{}))
			switch verdict.Verdict(s) { // our own words stand bare
			case verdict.Passed, verdict.Failed, verdict.Inconclusive, verdict.Errored, verdict.Warned, verdict.Skipped,
				"warning", "notice":
			default:
				if got != want {
					t.Errorf("with %q the page is\n%s\nnot\n%s", s, got, want)
				}
			}
		}
	})
}

var (
	quoted = regexp.MustCompile("`[^`|\r\n]+`")
	href   = regexp.MustCompile("\\[`x`\\]\\(<(https://[^<>`| \\\\]+)>\\)")
)

// skeleton is the page with every code span reduced to `x`, and links to their text.
func skeleton(t *testing.T, page string) string {
	page = quoted.ReplaceAllString(page, "`x`")
	return href.ReplaceAllStringFunc(page, func(s string) string {
		if url := href.FindStringSubmatch(s)[1]; !linkable().MatchString(url) {
			t.Errorf("a link to %q", url)
		}
		return "`x`"
	})
}

func TestHostileDocuments(t *testing.T) {
	for _, s := range hostile {
		for _, r := range poisoned(s) {
			documents := map[string]string{}
			for _, format := range []string{"json", "sarif", "junit", "text", "github", "markdown"} {
				documents[format] = written(t, format, r, Options{})
				for _, c := range documents[format] {
					if c != '\n' && !foreign.Visible(c) {
						t.Errorf("%s with %q in it holds %U", format, s, c)
					}
				}
			}
			var back verdict.Report
			if err := json.Unmarshal([]byte(documents["json"]), &back); err != nil {
				t.Errorf("json with %q in it: %v", s, err)
			}
			if utf8.ValidString(s) && back.Chosen != s {
				t.Errorf("json with %q in it comes back as %q", s, back.Chosen)
			}
			var sarif map[string]any
			if err := json.Unmarshal([]byte(documents["sarif"]), &sarif); err != nil {
				t.Errorf("sarif with %q in it: %v", s, err)
			}
			checkXML(t, documents["junit"])
		}
	}
}

func checkXML(t *testing.T, text string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		if e, ok := token.(xml.StartElement); ok {
			switch e.Name.Local {
			case "testsuites", "testsuite", "testcase", "failure", "error", "skipped", "system-out":
			default:
				t.Errorf("an element %q", e.Name.Local)
			}
		}
	}
}
