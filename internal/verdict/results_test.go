package verdict

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestResultsAreAnArray(t *testing.T) {
	for want, rs := range map[string]Results{`{"results":[]}`: {},
		`{"results":[{"check":"a","subject":"<b>","verdict":"pass","findings":null}]}`: NewResults(Result{Check: "a",
			Subject: "<b>", Verdict: Passed})} {
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		type holder struct {
			Results Results `json:"results"`
		}
		if err := e.Encode(holder{rs}); err != nil || strings.TrimSpace(b.String()) != want {
			t.Errorf("%s, %v; want %s", b.String(), err, want)
		}
		var back holder
		if err := json.Unmarshal([]byte(want), &back); err != nil || back.Results.Len() != rs.Len() {
			t.Errorf("%s is read as %d results, %v", want, back.Results.Len(), err)
		}
	}
}

// TestAppend requires a report that gets a result afterwards to be the one that had it before.
func TestAppend(t *testing.T) {
	rules := []Rule{{ID: "a"}, {ID: "b"}}
	soon, later := time.Unix(1, 0), time.Unix(2, 0)
	all := []Result{
		{Check: "b", Subject: "x", Verdict: Passed},
		{Check: "a", Subject: "x", Verdict: Inconclusive, Findings: []Finding{{Severity: Doubt, RetryAt: later}}},
		{Check: "a", Subject: "y", Verdict: Skipped},
		{Check: "b", Subject: "a", Verdict: Failed, Findings: []Finding{{Severity: Error, RetryAt: soon}}},
	}
	for last := range all {
		want, got := &Report{}, &Report{}
		want.Results.Add(all...)
		want.Settle(rules)
		got.Results.Add(slices.Delete(slices.Clone(all), last, last+1)...)
		got.Settle(rules)
		if got.Append(rules, all[last]); !reflect.DeepEqual(got, want) {
			t.Errorf("with result %d last: %+v, want %+v", last, got, want)
		}
	}
}
