package sticky

import (
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

func TestRetryIsCountedForOneHead(t *testing.T) {
	run := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	old := time.Date(2026, 6, 20, 0, 0, 0, 0, time.UTC)
	waits := &verdict.Report{Verdict: verdict.Failed, RetryAt: old, EvaluatedAt: run}
	doubts := &verdict.Report{Verdict: verdict.Inconclusive, EvaluatedAt: run}
	comment := func(r Retry) string { return Marker + "\r\n" + r.line() + "text" }
	for _, c := range []struct {
		name   string
		report *verdict.Report
		before string
		want   Retry
		waits  bool
	}{
		{"first", waits, "", Retry{old, 1, head}, true},
		{"again", waits, comment(Retry{run, 4, head}), Retry{old, 5, head}, true},
		{"pushed to", waits, comment(Retry{run, 4, base}), Retry{old, 1, head}, true},
		{"doubt", doubts, comment(Retry{run, 2, head}), Retry{run.Add(time.Hour), 3, head}, true},
		{"doubt, and again, and again", doubts, comment(Retry{run, 3, head}), Retry{time.Time{}, 4, head}, false},
		{"failed for good", &verdict.Report{Verdict: verdict.Failed, EvaluatedAt: run}, "", Retry{time.Time{}, 1, head},
			false},
		{"passed", &verdict.Report{Verdict: verdict.Passed, RetryAt: old}, "", Retry{old, 1, head}, false},
		{"the mark further down", waits, Marker + "\ntext\n" + Retry{run, 9, head}.line(), Retry{old, 1, head}, true},
		{"no comment of ours", waits, Retry{run, 9, head}.line(), Retry{old, 1, head}, true},
		{"the last number", waits, comment(Retry{run, maxRuns, head}), Retry{old, maxRuns, head}, true},
		{"too far away",
			&verdict.Report{Verdict: verdict.Failed, RetryAt: old.AddDate(8000, 0, 0), EvaluatedAt: run}, "",
			Retry{old.AddDate(8000, 0, 0), 1, head}, false},
		{"no time", waits, Marker + "\n<!-- oap-gate:retry soon 9 " + head + " -->", Retry{old, 1, head}, true},
		{"no number", waits, Marker + "\n<!-- oap-gate:retry 2026-06-01T12:00:00Z 9999999 " + head + " -->",
			Retry{old, 1, head}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, ok := again(c.report, head, c.before); got != c.want || ok != c.waits {
				t.Errorf("%v %v, want %v %v", got, ok, c.want, c.waits)
			}
		})
	}
	mark := Retry{old, 3, head}
	if got, ok := ParseRetry(comment(mark)); !ok || got != mark {
		t.Errorf("%v is read as %v %v", mark, got, ok)
	}
}
