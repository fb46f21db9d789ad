package report

import (
	"encoding/json"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// What was not decided never reads as passed in the report of the AAEP ecosystem.
func TestAAEPVerdicts(t *testing.T) {
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
		r := &verdict.Report{Verdict: c.of, EvaluatedAt: noon}
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
		if err := json.Unmarshal([]byte(written(t, "aaep", r, Options{Rules: companion})), &got); err != nil {
			t.Fatal(err)
		}
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
