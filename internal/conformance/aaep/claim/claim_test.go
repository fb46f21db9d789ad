package claim

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/aaeptest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// claimed are the findings of a claim, as "line code severity", and its verdict.
func claimed(t *testing.T, text, report string) (verdict.Verdict, []string) {
	t.Helper()
	return claimedAt(t, text, report, time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC))
}

// TestSilentRule requires an error that names a rule that says nothing.
func TestSilentRule(t *testing.T) {
	defer func(was []verdict.Entry[verdict.Outcome]) { aaep.Catalogue = was }(aaep.Catalogue)
	aaep.Catalogue = append([]verdict.Entry[verdict.Outcome]{{Rule: verdict.Rule{ID: aaep.ClaimText.ID},
		Judge: func(verdict.Outcome) (verdict.Outcome, error) { return verdict.Outcome{}, nil }}}, aaep.Catalogue...)
	_, _, err := (&Claim{Path: "x"}).Judge()
	want := "check " + aaep.ClaimText.ID + " said nothing of x"
	if !errors.Is(err, verdict.ErrUnsaid) || err.Error() != want {
		t.Errorf("%v, want %q", err, want)
	}
}

func claimedAt(t *testing.T, text, report string, now time.Time) (verdict.Verdict, []string) {
	t.Helper()
	c := &Claim{Path: "x", Text: []byte(text), Now: now, MaxAge: 365 * 24 * time.Hour}
	if report != "" {
		c.ReportPath, c.Report = "r", []byte(report)
	}
	results, _, err := c.Judge()
	must.OK(t, err)
	return aaeptest.Settled(results, func(_ string, f verdict.Finding) string {
		if f.Fix == "" {
			t.Errorf("%s has no fix", f.Code)
		}
		return aaeptest.AtLine(f) + f.Code + " " + f.Severity.String()
	})
}

func TestClaim(t *testing.T) {
	const by = ", verified by AAEP Conformance Suite version 0.1.0 on 2026-08-15."
	const it = "Acme is AAEP Level 2 conformant"
	none := []string{"no-claim inconclusive"}
	certified, vague := []string{"1 claim-certified error"}, []string{"1 claim-level error"}
	for _, c := range []struct {
		text string
		want []string
	}{
		{it + by, nil},
		{"# Us\n\nWe say: Narrator 11.4 is AAEP Level 2\nconformant, verified by AAEP Conformance Suite\n" +
			"version 0.1.0 on 2026-08-15.\n\nMore.", nil},
		{"Acme\u00a0is AAEP\u2028Level\u202f2\u00a0conformant, verified by AAEP Conformance Suite version 0.1.0 on\t" +
			"2026-08-15.", nil},
		{"**Acme** is [AAEP][a] _Level 2_ conformant, verified by [AAEP Conformance Suite](z) version `0.1.0` " +
			"on 2026-08-15.", nil},
		{"1. __Acme__ is AAEP Level 1 Subscriber conformant" + by + " Beta is AAEP Level 3 Producer conformant" + by,
			nil},
		{it + " with the Medical AAEP Profile v1 (https://x.example/medical)" + by, nil},
		{it + " with the Medical AAEP Profile v1" + by, []string{"1 claim-profile warning"}},
		{it + " with the Medical AAEP Profile v1 (draft)" + by, []string{"1 claim-profile error"}},
		{it + " with the Medical AAEP Profile (https://x.example/medical)" + by, []string{"1 claim-profile error"}},
		{"Acme is AAEP Level 3 conformant with the help of many. Beta is AAEP Level 2 conformant" + by,
			[]string{"1 level-elsewhere warning"}},
		{"Acme is AAEP Level 0 conformant" + by, vague},
		{"Acme is AAEP Level 99999999999999999999 conformant" + by, vague},
		{it + ", verified by AAEP Conformance Suite version 0.1.0 on 2026-09-02.", nil}, // it has begun at UTC+14
		{it + ", verified by AAEP Conformance Suite version 0.1.0 on 2026-09-03.", []string{"1 claim-date error"}},
		{it + ", verified by AAEP Conformance Suite version 0.1.0 on 2026-02-30.", []string{"1 claim-date error"}},
		{it + ", verified by AAEP Conformance Suite version 0.1.0 on 2025-08-15.", []string{"1 claim-date warning"}},
		// A denial in the form is a claim, and harmless.
		{"It is false that Acme is AAEP Level 2 conformant" + by, nil},

		{"", none}, {"We plan to be AAEP Level 3 conformant.", none}, {it + ".", none},
		{"acme is aaep level 2 conformant" + by, none}, {"Acme is AAEP Level two conformant" + by, none},
		{it + " and quick" + by, none}, {"- Acme is\n- AAEP Level 2 conformant" + by, none},
		{"# Acme is AAEP\nLevel 2 conformant" + by, none}, {"Acme is AAEP\n\nLevel 2 conformant" + by, none},
		{"is AAEP Level 2 conformant" + by + " " + it + ".", none}, {"-- is AAEP Level 2 conformant" + by, none},
		{"```\n" + it + by + "\n```\n", none}, {"> ~~~ x\n> " + it + by + "\n> ~~~", none},
		{"`" + it + by + "`", none}, {"<!-- " + it + by + " -->", none}, {"```a\n<!--\n```\n" + it + by, nil},
		{"<!-- ``` -->\n" + it + by + "\n```", nil}, {"`<!--` " + it + by + " `-->`", nil},

		{it + by + "\n\nBeta is AAEP\n**certified**.", []string{"3 claim-certified error"}},
		{it + by + " aaep level 3 CERTIFIED", certified}, {it + by + " AAEP-\u00adcompliant", vague},
		{it + by + " AAEP&nbsp;certified", certified}, {it + by + " [AAEP](x) _certified_", certified},
		{it + by + " ![x](https://img.example/AAEP_Level%203-certified-green)", certified},
		{it + by + ` "<img src="https://img.example/AAEP--compliant">"`, vague},
		{it + by + ` We are "AAEP certified`, certified}, {it + by + ` We are "AAEP" certified.`, certified},
		{it + by + " <!-- AAEP certified", certified}, {it + by + "\n\n```\nAAEP certified",
			[]string{"4 claim-certified error"}},
		{it + by + "\n\n> ```\nAAEP certified\n```", []string{"4 claim-certified error"}},
		{it + by + " \\`AAEP certified\\`", certified}, {it + by + " `AAEP`certified", nil},
		{it + by + ` Nobody is "AAEP certified" or “AAEP compliant”.`, nil}, {it + by + " `AAEP certified`", nil},
		{it + by + " <!-- AAEP certified -->", nil}, {it + by + " We speak AAEP. Certified agents do.", nil},
	} {
		_, got := claimed(t, c.text, "")
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%q: %s", c.text, diff)
		}
	}
}

// A profile requires a level; people compare it if nobody names it.
func TestClaimProfileLevel(t *testing.T) {
	text := []byte("Acme is AAEP Level 2 conformant with the X v1 (urn:x), verified by AAEP Conformance Suite " +
		"version 1 on 2026-08-15.")
	for level, want := range map[int]int{0: 0, 2: 0, 3: 1} {
		c := &Claim{Path: "x", Text: text, Now: time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC), MaxAge: time.Hour * 1000,
			ProfileLevel: level}
		results, _, err := c.Judge()
		if err != nil || len(results[0].Findings) != want {
			t.Errorf("profile level %d: %v, %v; want %d findings", level, results[0].Findings, err, want)
		}
		asked := slices.ContainsFunc(ClaimRows(level), func(r verdict.Rule) bool { return r.ID == aaep.ProfileRow })
		if asked != (level == 0) {
			t.Errorf("profile level %d: people are asked: %t", level, asked)
		}
	}
}

func TestSharedClaims(t *testing.T) {
	for _, name := range []string{"claim-forms.json", "claim-reports.json"} {
		data, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "..", "shared", "data", "aaep", name))
		if err != nil {
			t.Skip("the claims are not next to this clone")
		}
		var cases []struct {
			Name, Text, Verdict string
			Report              json.RawMessage
			At                  time.Time
			Codes               []string
		}
		must.OK(t, json.Unmarshal(data, &cases))
		for _, c := range cases {
			v, got := claimedAt(t, c.Text, string(c.Report), c.At)
			for i := range got {
				got[i] = strings.Fields(strings.TrimLeft(got[i], "0123456789 "))[0]
			}
			slices.Sort(got)
			if diff := cmp.Diff(c.Codes, got, cmpopts.EquateEmpty()); diff != "" || string(v) != c.Verdict {
				t.Errorf("%s: %s, want %s %s", c.Name, v, c.Verdict, diff)
			}
		}
	}
}

func TestClaimReport(t *testing.T) {
	claim := func(level int) string {
		return fmt.Sprintf("Acme is AAEP Level %d Producer conformant, verified by AAEP Conformance Suite version "+
			"0.1.0 on 2026-08-15.",
			level)
	}
	var rows []string
	for _, rule := range aaep.StreamRules {
		rows = append(rows, fmt.Sprintf(`{"check":%q,"test_id":%q,"verdict":"pass","passed":true}`, rule.ID, rule.ID))
	}
	mechanical := strings.Join(rows, ",")
	ours := func(level int, verdict, results string) string {
		return fmt.Sprintf(`{"version":1,"tool":{"version":"1"},"mode":"conformance","protocol":"aaep",`+
			`"level":%d,"verdict":%q,"evaluated_at":"2026-08-14T10:00:00Z","results":[%s]}`, level,
			verdict, strings.TrimPrefix(results+","+mechanical, ","))
	}
	const liveRan = `{"check":"aaep-live-forged","verdict":"pass"},{"check":"aaep-live-twice","verdict":"pass"},` +
		`{"check":"aaep-live-late","verdict":"pass"},{"check":"aaep-live-timeout","verdict":"warn"},` +
		`{"check":"aaep-live-clarification","verdict":"pass"}`
	suite := func(level int, verdict, tests, failures string) string {
		return fmt.Sprintf(`{"conformance_level":%d,"suite_version":"0.1.0","completed_at":"2026-08-16T23:59:59Z",`+
			`"verdict":%q,"metadata":{},"test_results":[%s],"failures":[%s]}`,
			level,
			verdict, tests, failures)
	}
	live := []string{"claim-live-not-run error", "claim-live-not-run error", "claim-live-not-run error",
		"claim-live-not-run error", "claim-live-not-run error"}
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
		{"ours, of single messages", 1, strings.Replace(ours(1, "pass", ""), `"aaep-lifecycle"`, `"aaep-urgency"`, 1),
			[]string{"report-form error"}},
		{"the suite's", 2, suite(2, "PASS", "", `{"test_id":"a","passed":false,"severity":"warning"}`), nil},
		{"the suite's, without a test", 2, suite(2, "PASS", "", ""), []string{"report-form error"}},
		{"the suite's, below the claim", 3, suite(2, "PASS", `{"test_id":"a","passed":true}`, ""),
			[]string{"claim-above-report error"}},
		{"the suite's, failed", 2, suite(2, "FAIL", "", `{"test_id":"a","passed":false,"severity":"error"}`),
			[]string{"claim-not-passed error", "claim-with-failures error"}},
		{"the suite's, passed with a failure", 2,
			suite(2, "PASS", "", `{"test_id":"a","passed":false,"severity":"error"}`),
			[]string{"claim-with-failures error"}},
		{"the suite's, failure among the tests alone", 2, suite(2, "PASS",
			`{"test_id":"a","passed":false,"severity":"error"}`, ""), []string{"claim-with-failures error"}},
		{"ours by the suite's keys", 2, strings.Replace(suite(2, "PASS",
			`{"test_id":"aaep-live-late","passed":false,"severity":"info"},`+mechanical, ""), `{}`,
			`{"tool":"oap-gate"}`, 1), live},
		{"the suite's, of another version and day", 2, strings.NewReplacer("0.1.0", "0.1.1", "08-16", "08-17").Replace(
			suite(2, "PASS", `{"test_id":"a","passed":true}`, "")),
			[]string{"1 claim-differs error", "1 claim-differs error"}},
		{"the suite's, without a time", 2, strings.Replace(suite(2, "PASS", `{"test_id":"a","passed":true}`, ""),
			"completed_at", "x", 1), []string{"report-form error"}},
		{"ours, of a subscriber", 1, strings.Replace(ours(1, "pass", ""), mechanical,
			`{"check":"aaep-sub-transport","verdict":"pass"},{"check":"aaep-sub-unknown","verdict":"pass"},`+
				`{"check":"aaep-sub-envelope","verdict":"pass"}`, 1), []string{"1 claim-differs error"}},
		{"no JSON", 2, "x", []string{"1 json-syntax error"}},
		{"another JSON", 2, "[]", []string{"report-form error"}},
		{"a duplicate verdict", 2, `{"conformance_level":2,"verdict":"FAIL","verdict":"PASS"}`,
			[]string{"1 duplicate-member error"}},
	} {
		v, got := claimed(t, claim(c.level), c.report)
		oap := strings.Contains(c.report, `"protocol":"aaep"`) || strings.Contains(c.report, `"tool":"oap-gate"`)
		if n := len(got); oap {
			got = slices.DeleteFunc(got, func(s string) bool { return s == "claim-suite warning" })
			if len(got) == n {
				t.Errorf("%s: the report of oap-gate is taken for the suite's", c.name)
			}
		}
		if diff := cmp.Diff(c.want, got, cmpopts.EquateEmpty()); diff != "" || (v == "pass") != (len(c.want) == 0) {
			t.Errorf("%s: %s %s", c.name, v, diff)
		}
	}
}

// A hostile text ends soon, whatever it repeats.
func FuzzClaim(f *testing.F) {
	f.Add("x is AAEP Level 2 conformant on 2026-08-15.", `{"conformance_level":2}`)
	f.Add(strings.Repeat("AAEP ", 1000)+strings.Repeat("AAEP compliant. ", 1000), "{}")
	f.Add(strings.Repeat("```a\n", 20000)+strings.Repeat("<!--", 20000)+strings.Repeat("`` ` ", 9999), "{}")
	f.Fuzz(func(t *testing.T, text, report string) {
		claimed(t, text, report)
	})
}
