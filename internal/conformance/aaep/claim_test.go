package aaep

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// claimed are the findings of a claim, as "line code severity", and its verdict.
func claimed(t *testing.T, text, report string) (verdict.Verdict, []string) {
	t.Helper()
	c := &Claim{Path: "x", Text: []byte(text), Now: time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC),
		MaxAge: 365 * 24 * time.Hour}
	if report != "" {
		c.ReportPath, c.Report = "r", []byte(report)
	}
	results, _, err := c.Judge()
	if err != nil {
		t.Fatal(err)
	}
	rep := &verdict.Report{Results: verdict.NewResults(results...)}
	rep.Settle(Rules)
	var all []string
	for _, r := range results {
		for _, f := range r.Findings {
			if f.Fix == "" {
				t.Errorf("%s has no fix", f.Code)
			}
			all = append(all, strings.TrimPrefix(fmt.Sprintf("%d ", f.Line), "0 ")+f.Code+" "+f.Severity.String())
		}
	}
	slices.Sort(all)
	return rep.Verdict, all
}

func TestClaim(t *testing.T) {
	const by = ", verified by AAEP Conformance Suite version 0.1.0 on 2026-08-15."
	for _, c := range []struct {
		text string
		want []string
	}{
		{"Narrator 11.4 is AAEP Level 2 conformant" + by, nil},
		{"# Us\n\nNarrator 11.4 is AAEP Level 2\nconformant, verified by AAEP Conformance Suite\n" +
			"version 0.1.0 on 2026-08-15.\n\nMore.", nil},
		{"Agent v2.3 is AAEP Level 3 conformant with the Medical AAEP Profile v1" + by, nil},
		{"It conforms to AAEP at level 1" + by, nil},
		{"A Level-2 AAEP compliant agent" + by, nil},
		{"AAEP L1 conformance, by suite v1.0 on 2026-08-15", nil},
		{"It is AAEP compliant" + by, []string{"1 claim-level error"}},
		{"It is AAEP-compliant.", []string{"1 claim-date warning", "1 claim-level error", "1 claim-suite warning"}},
		{"It complies with AAEP" + by, []string{"1 claim-level error"}},
		{"It is AAEP Level 4 conformant" + by, []string{"1 claim-level error"}},
		{"It is AAEP Level 0 conformant" + by, []string{"1 claim-level error"}},
		{"\n\nIt is AAEP Level 2 certified" + by, []string{"3 claim-certified error"}},
		{"It is certified by AAEP" + by, []string{"1 claim-certified error", "1 claim-level error"}},
		{"It is AAEP Level 2 conformant against AAEP v1.0.0 and v1.1.0.", []string{"1 claim-date warning",
			"1 claim-suite warning"}},
		{"It is AAEP Level 2 conformant, verified by AAEP Conformance Suite on 2026-08-15.",
			[]string{"1 claim-suite warning"}},
		{"It is AAEP Level 2 conformant, verified by AAEP Conformance Suite version 0.1.0.",
			[]string{"1 claim-date warning"}},
		{"It is AAEP Level 2 conformant, verified by AAEP Conformance Suite version 0.1.0 on 2026-09-03.",
			[]string{"1 claim-date error"}},
		{"It is AAEP Level 2 conformant, verified by AAEP Conformance Suite version 0.1.0 on 2026-09-02.", nil},
		// it has begun at UTC+14
		{"It is AAEP Level 2 conformant, verified by AAEP Conformance Suite version 0.1.0 on 2026-02-30.",
			[]string{"1 claim-date error"}},
		{"It is AAEP Level 2 conformant, verified by AAEP Conformance Suite version 0.1.0 on 2025-08-15.",
			[]string{"1 claim-date warning"}},
		{"One is AAEP Level 1 conformant" + by + " Another is AAEP compliant" + by, []string{"1 claim-level error"}},
		{"One is AAEP Level 2 conformant and AAEP certified" + by, []string{"1 claim-certified error"}},
		{"One is AAEP Level 2 conformant" + by + "\u00a0Another is AAEP Level 2 certified" + by,
			[]string{"1 claim-certified error"}},
		{"One\u00a0is AAEP\u2028Level\u202f2\u00a0conformant, verified by AAEP Conformance\u00a0Suite " +
			"version\u00a00.1.0 on 2026-08-15.", nil},
		{"One is AAEP Level 2 conformant" + by + "\n\nAnother is certified\u00a0by AAEP for Level 1" + by,
			[]string{"3 claim-certified error"}},
		{"One is AAEP v1.0.0 certified" + by, []string{"1 claim-certified error", "1 claim-level error"}},
		{"One is AAEP Level 2.5 conformant" + by, []string{"1 claim-level error"}},
		{"One is AAEP Level 1 conformant and another is AAEP Level 4 conformant" + by, []string{"1 claim-level error"}},
		{"One is not AAEP certified, yet it is AAEP Level 2 conformant" + by, nil},
		{strings.Repeat("One is AAEP Level 2 conformant"+by+" ", maxListed) + "Another is AAEP compliant" + by,
			[]string{"1 claim-level error"}},
		{"", []string{"no-claim inconclusive"}},
		{"# AAEP conformance\n\nWe run the AAEP Conformance Suite. It is not AAEP certified.",
			[]string{"no-claim inconclusive"}},
	} {
		_, got := claimed(t, c.text, "")
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q: %s", c.text, diff)
		}
	}
}

func TestClaimReport(t *testing.T) {
	claim := func(level int) string {
		return fmt.Sprintf("It is AAEP Level %d conformant, verified by AAEP Conformance Suite version 0.1.0 on "+
			"2026-08-15.",
			level)
	}
	ours := func(level int, verdict, results string) string {
		return fmt.Sprintf(`{"version":1,"tool":{"version":"1"},"mode":"conformance","protocol":"aaep",`+
			`"level":%d,"verdict":%q,"results":[%s]}`, level,
			verdict, results)
	}
	const liveRan = `{"check":"aaep-live-forged","verdict":"pass"},{"check":"aaep-live-twice","verdict":"pass"},` +
		`{"check":"aaep-live-late","verdict":"pass"},{"check":"aaep-live-timeout","verdict":"warn"}`
	suite := func(level int, verdict, tests, failures string) string {
		return fmt.Sprintf(`{"conformance_level":%d,"verdict":%q,"metadata":{},"test_results":[%s],"failures":[%s]}`,
			level,
			verdict, tests, failures)
	}
	live := []string{"claim-live-not-run error", "claim-live-not-run error", "claim-live-not-run error",
		"claim-live-not-run error"}
	for _, c := range []struct {
		name   string
		level  int
		report string
		want   []string
	}{
		{"ours", 2, ours(2, "pass", liveRan), nil},
		{"ours, of a capture", 2, ours(2, "pass", strings.ReplaceAll(strings.ReplaceAll(liveRan, "pass", "skip"),
			"warn",
			"skip")), live},
		{"ours, of a capture, at level 1", 1, ours(2, "pass", ""), nil},
		{"ours, one live row inconclusive", 2, ours(2, "pass", strings.Replace(liveRan, `"warn"`, `"inconclusive"`, 1)),
			live[:1]},
		{"ours, below the claim", 2, ours(1, "pass", liveRan), []string{"claim-above-report error"}},
		{"ours, inconclusive", 1, ours(1, "inconclusive", ""), []string{"claim-not-passed error"}},
		{"ours, failed", 1, ours(1, "fail",
			`{"check":"aaep-state","verdict":"fail","findings":[{"severity":"error"},{"severity":"warning"}]}`),
			[]string{"claim-not-passed error", "claim-with-failures error"}},
		{"ours, of another protocol", 1, strings.Replace(ours(1, "pass", ""), "aaep", "oasis", 1),
			[]string{"report-form error"}},
		{"the suite's", 2, suite(2, "PASS", "", `{"test_id":"a","passed":false,"severity":"warning"}`), nil},
		{"the suite's, below the claim", 3, suite(2, "PASS", "", ""), []string{"claim-above-report error"}},
		{"the suite's, failed", 2, suite(2, "FAIL", "", `{"test_id":"a","passed":false,"severity":"error"}`),
			[]string{"claim-not-passed error", "claim-with-failures error"}},
		{"the suite's, passed with a failure", 2,
			suite(2, "PASS", "", `{"test_id":"a","passed":false,"severity":"error"}`),
			[]string{"claim-with-failures error"}},
		{"the suite's, failure among the tests alone", 2, suite(2, "PASS",
			`{"test_id":"a","passed":false,"severity":"error"}`, ""), []string{"claim-with-failures error"}},
		{"ours by the suite's keys", 2, strings.Replace(suite(2, "PASS",
			`{"test_id":"aaep-live-late","passed":false,"severity":"info"}`, ""), `{}`, `{"tool":"oap-gate"}`, 1),
			live},
		{"no JSON", 2, "x", []string{"1 json-syntax error"}},
		{"another JSON", 2, "[]", []string{"report-form error"}},
		{"a duplicate verdict", 2, `{"conformance_level":2,"verdict":"FAIL","verdict":"PASS"}`,
			[]string{"1 duplicate-member error"}},
	} {
		v, got := claimed(t, claim(c.level), c.report)
		if diff := cmp.Diff(c.want, got); diff != "" || (v == "pass") != (len(c.want) == 0) {
			t.Errorf("%s: %s %s", c.name, v, diff)
		}
	}
}

// A hostile text ends soon, whatever it repeats.
func FuzzClaim(f *testing.F) {
	f.Add("x is AAEP Level 2 conformant on 2026-08-15.", `{"conformance_level":2}`)
	f.Add(strings.Repeat("AAEP ", 1000)+strings.Repeat("AAEP compliant. ", 1000), "{}")
	f.Fuzz(func(t *testing.T, text, report string) {
		claimed(t, text, report)
	})
}
