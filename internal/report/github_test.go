package report

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/ghtest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// faulty has n findings of each severity, notices first.
func faulty(n int) *verdict.Report {
	r := frame()
	r.Verdict = verdict.Failed
	for _, severity := range []verdict.Severity{verdict.Notice, verdict.Warning, verdict.Doubt, verdict.Error} {
		result := verdict.Result{Check: "schema", Subject: "implementations/acme.json", Verdict: verdict.Failed}
		for i := range n {
			result.Findings = append(result.Findings, verdict.Finding{
				Severity: severity, Message: fmt.Sprintf("%s %d", severity, i),
				Pos: strict.Pos{Path: "implementations/acme.json", Line: i + 1, Column: 3},
			})
		}
		r.Results.Add(result)
	}
	return r
}

func annotationTexts(log string) map[string][]string {
	texts := map[string][]string{}
	for _, c := range ghtest.Commands(log) {
		texts[c.Name] = append(texts[c.Name], c.Text)
	}
	return texts
}

func TestAnnotationsAreCapped(t *testing.T) {
	log := written(t, "github", faulty(12), Options{MaxAnnotations: 9})
	texts := annotationTexts(log)
	for name, last := range map[string]string{
		"error":   "15 more errors not shown here: the log and the summary name all",
		"warning": "3 more warnings not shown here: the log and the summary name all",
		"notice":  "3 more notices not shown here: the log and the summary name all",
	} {
		got := texts[name]
		if len(got) != 10 || got[9] != last || got[0] != name+" 0" {
			t.Errorf("annotations of severity %s are %q", name, got)
		}
	}
	for _, severity := range []string{"error", "inconclusive", "warning", "notice"} {
		for i := range 12 {
			if want := fmt.Sprintf("%s %d\n", severity, i); !strings.Contains(log, want) {
				t.Errorf("no plain line with %q", want)
			}
		}
	}
}

// Annotations go round over the files: one of each of as many files as there are, and all of one file if there is no
// other.
func TestAnnotationsGoRound(t *testing.T) {
	for _, c := range []struct {
		files, each int
		want        string // file.finding
	}{
		{30, 2, "0.0 1.0 2.0 3.0 4.0 5.0 6.0 7.0 8.0"},
		{1, 9, "0.0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8"},
		{1, 30, "0.0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8"},
		{4, 9, "0.0 1.0 2.0 3.0 0.1 1.1 2.1 3.1 0.2"},
	} {
		r := frame()
		r.Verdict = verdict.Failed
		for file := range c.files {
			name := fmt.Sprintf("implementations/tool%d.json", file)
			result := verdict.Result{Check: "schema", Subject: name, Verdict: verdict.Failed}
			for i := range c.each {
				result.Findings = append(result.Findings, verdict.Finding{Severity: verdict.Error,
					Message: fmt.Sprintf("%d.%d", file, i), Pos: strict.Pos{Path: name, Line: 1, Column: 1}})
			}
			r.Results.Add(result)
		}
		got := annotationTexts(written(t, "github", r, Options{MaxAnnotations: 9}))["error"]
		if shown := strings.Join(got[:9], " "); shown != c.want {
			t.Errorf("%d files of %d findings: %s, want %s", c.files, c.each, shown, c.want)
		}
	}
}

func TestAnnotationsUpToTheLimitAreNotCounted(t *testing.T) {
	texts := annotationTexts(written(t, "github", faulty(4), Options{MaxAnnotations: 8}))
	if len(texts["error"]) != 8 || texts["error"][4] != "inconclusive 0" {
		t.Errorf("errors are %q", texts["error"])
	}
}

func TestNoAnnotations(t *testing.T) {
	for _, r := range []*verdict.Report{faulty(3), failed()} {
		texts := annotationTexts(written(t, "github", r, Options{}))
		if len(texts["error"])+len(texts["warning"])+len(texts["notice"]) > 0 {
			t.Errorf("annotations %q", texts)
		}
	}
	if err := Write(io.Discard, "github", faulty(1), Options{MaxAnnotations: 10}); err == nil {
		t.Error("10 annotations are allowed: GitHub would drop the one that counts the rest")
	}
}

func TestAnnotationIsCut(t *testing.T) {
	r := faulty(1)
	edit(r, func(_ int, result *verdict.Result) { result.Findings[0].Message = strings.Repeat("ä", 5000) })
	texts := annotationTexts(written(t, "github", r, Options{MaxAnnotations: 9}))
	if got := texts["error"][0]; len([]rune(got)) != 4000 || !strings.HasSuffix(got, "ä…") {
		t.Errorf("a text of %d characters", len([]rune(got)))
	}
}

func TestAnnotationPlace(t *testing.T) {
	r := faulty(1)
	edit(r, func(_ int, result *verdict.Result) { result.Findings[0].Path = "implementations/a,b:c.json" })
	log := written(t, "github", r, Options{MaxAnnotations: 9})
	want := "::error col=3,file=implementations/a%2Cb%3Ac.json,line=1,title=schema::error 0\n"
	if !strings.Contains(log, want) {
		t.Errorf("no %q in\n%s", want, log)
	}
}
