package aaep

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// What was not decided never reads as passed in the report of the AAEP ecosystem.
func TestSuiteVerdicts(t *testing.T) {
	for _, c := range []struct {
		of                      verdict.Verdict
		results                 []verdict.Verdict
		want                    string
		passed, failed, skipped int
	}{
		{verdict.Passed, []verdict.Verdict{verdict.Passed, verdict.Warned, verdict.Manual, verdict.Skipped}, "PASS", 1,
			1, 2},
		{verdict.Failed, []verdict.Verdict{verdict.Passed, verdict.Failed}, "FAIL", 1, 1, 0},
		{verdict.Inconclusive, []verdict.Verdict{verdict.Passed, verdict.Inconclusive}, "FAIL", 1, 1, 0},
		{verdict.Passed, []verdict.Verdict{verdict.Skipped, verdict.Manual}, "SKIPPED", 0, 0, 2},
		{verdict.Errored, nil, "FAIL", 0, 0, 0},
	} {
		r := &verdict.Report{Verdict: c.of, EvaluatedAt: suiteTime}
		for _, v := range c.results {
			r.Results.Add(verdict.Result{Check: "shape", Subject: "x#1", Verdict: v})
		}
		var got struct {
			Verdict  string
			Run      int `json:"tests_run"`
			Passed   int `json:"tests_passed"`
			Failed   int `json:"tests_failed"`
			Skipped  int `json:"tests_skipped"`
			Endpoint string
			Failures []struct {
				Passed   bool
				Severity string
			}
		}
		must.OK(t, json.Unmarshal([]byte(suiteOf(t, r)), &got))
		if got.Verdict != c.want || got.Passed != c.passed || got.Failed != c.failed || got.Skipped != c.skipped ||
			got.Run != len(c.results) || len(got.Failures) != c.failed+c.skipped {
			t.Errorf("%s of %v: %+v", c.of, c.results, got)
		}
		for _, f := range got.Failures {
			if f.Passed || f.Severity == "error" && c.want != "FAIL" {
				t.Errorf("%s of %v: %+v", c.of, c.results, got.Failures)
			}
		}
	}
}

var suiteTime = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

var update = flag.Bool("update", false, "write the golden file")

// suiteOf returns a report as AAEP's own suite writes it.
func suiteOf(t *testing.T, r *verdict.Report) string {
	t.Helper()
	var b strings.Builder
	o := report.Options{Rules: Rules, Formats: []report.Format{Format}}
	must.OK(t, report.Write(&b, Format.Name, r, o))
	return b.String()
}

// TestSuiteBytes compares the report of a run with a result of each verdict with a golden file.
func TestSuiteBytes(t *testing.T) {
	r := &verdict.Report{Version: 1, Tool: verdict.Tool{Version: "v1.2.3", Commit: "c0ffee"}, Mode: "conformance",
		Protocol: "aaep", Level: 2, EvaluatedAt: suiteTime, Verdict: verdict.Failed, Assumed: []string{"--at"}}
	finding := func(severity verdict.Severity) []verdict.Finding {
		return []verdict.Finding{{Severity: severity, Code: "late", Pos: strict.Pos{Line: 7, Column: 3},
			Message: "##[error]\u202eit is late; expected it earlier", Fix: "send it earlier"}}
	}
	for i, v := range []verdict.Verdict{verdict.Passed, verdict.Failed, verdict.Inconclusive, verdict.Warned,
		verdict.Skipped, verdict.Manual} {
		result := verdict.Result{Check: Rules[i].ID, Subject: "capture.jsonl#1", Verdict: v, Reason: "seen"}
		switch v {
		case verdict.Failed:
			result.Findings = finding(verdict.Error)
		case verdict.Warned:
			result.Findings = finding(verdict.Warning)
		}
		r.Results.Add(result)
	}
	got, golden := suiteOf(t, r), filepath.Join("testdata", "suite.json")
	if *update {
		must.OK(t, os.WriteFile(golden, []byte(got), 0o666))
	}
	want := must.Read(t, golden)
	if got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
