package report

import (
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

func TestContradictionOfARoutine(t *testing.T) {
	for want, edit := range map[string]func(*verdict.Report){
		"":                        func(*verdict.Report) {},
		"it is routine":           func(r *verdict.Report) { r.Assumed = []string{"--offline"} },
		"it is routine, and":      func(r *verdict.Report) { r.NotRun = []string{"domain-age"} },
		"it is routine, and does": func(r *verdict.Report) { r.Governance = []string{".github/workflows/check.yml"} },
		"it is routine, and does not": func(r *verdict.Report) {
			r.Counts = verdict.Counts{Warn: 1}
			r.Results = verdict.NewResults(verdict.Result{Check: "layout", Verdict: verdict.Warned})
		},
	} {
		yes := true
		r := &verdict.Report{Verdict: verdict.Passed, Kind: "renewal", Routine: &yes, Counts: verdict.Counts{Pass: 1},
			Results: verdict.NewResults(verdict.Result{Check: "layout", Verdict: verdict.Passed})}
		edit(r)
		err := Contradiction(r)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}
