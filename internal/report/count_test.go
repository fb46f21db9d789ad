package report

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// What Count says about results is what looking at each of them says, however many of them are alike.
func TestCount(t *testing.T) {
	verdicts := []verdict.Verdict{verdict.Passed, verdict.Failed, verdict.Skipped, verdict.Inconclusive}
	var all []verdict.Result
	want := map[string]map[verdict.Verdict]int{}
	var checks []string
	for i := range 60 {
		for j := range 1 + i/5%3 {
			r := verdict.Result{Check: fmt.Sprint("check-", i/20+j), Subject: fmt.Sprintf("subject-%02d", i),
				Verdict: verdicts[i/7%len(verdicts)]}
			all = append(all, r)
			if want[r.Check] == nil {
				want[r.Check] = map[verdict.Verdict]int{}
				checks = append(checks, r.Check)
			}
			want[r.Check][r.Verdict]++
		}
	}
	got := Count(&verdict.Report{Results: verdict.NewResults(all...)})
	if diff := cmp.Diff(want, got.verdicts); diff != "" {
		t.Error(diff)
	}
	if !slices.Equal(got.checks, checks) {
		t.Errorf("checks %q, want %q", got.checks, checks)
	}
}

// The findings are in the order of the results, be they kept or read again.
func TestFindings(t *testing.T) {
	for _, n := range []int{0, 1, maxFew, maxFew + 1} {
		var all []verdict.Result
		for i := range n { // the subjects are not in order
			all = append(all, verdict.Result{Check: "schema", Subject: fmt.Sprint(i % 3), Verdict: verdict.Warned,
				Findings: []verdict.Finding{{Severity: verdict.Warning, Message: fmt.Sprint(i)}}})
		}
		r := Count(&verdict.Report{Results: verdict.NewResults(all...)})
		for range 2 {
			next := 0
			for f := range r.findings() {
				if f.Message != fmt.Sprint(next) {
					t.Fatalf("of %d: finding %s, want %d", n, f.Message, next)
				}
				next++
			}
			if next != n {
				t.Errorf("%d findings, want %d", next, n)
			}
		}
	}
}
