package aaep

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// claimed are the findings of a claim, as "line code severity", and its verdict.
func claimed(t *testing.T, text, report string) (verdict.Verdict, []string) {
	t.Helper()
	return claimedAt(t, text, report, time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC))
}

func claimedAt(t *testing.T, text, report string, now time.Time) (verdict.Verdict, []string) {
	t.Helper()
	c := &Claim{Path: "x", Text: []byte(text), Now: now, MaxAge: 365 * 24 * time.Hour}
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
		{"Agent v2.3 is AAEP Level 3 conformant with the Medical AAEP Profile v1" + by,
			[]string{"1 claim-profile warning"}},
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

func TestSharedClaims(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "data", "aaep", "claims.json"))
	if err != nil {
		t.Skip("the claims are not next to this clone")
	}
	var cases []struct {
		Name, Text, Verdict string
		At                  time.Time
		Codes               []string
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		v, got := claimedAt(t, c.Text, "", c.At)
		for i := range got {
			got[i] = strings.Fields(strings.TrimLeft(got[i], "0123456789 "))[0]
		}
		slices.Sort(got)
		if diff := cmp.Diff(c.Codes, got, cmpopts.EquateEmpty()); diff != "" || string(v) != c.Verdict {
			t.Errorf("%s: %s, want %s %s", c.Name, v, c.Verdict, diff)
		}
	}
}

func TestClaimReport(t *testing.T) {
	claim := func(level int) string {
		return fmt.Sprintf("It is AAEP Level %d conformant, verified by AAEP Conformance Suite version 0.1.0 on "+
			"2026-08-15.",
			level)
	}
	var rows []string
	for _, rule := range Rules[:streamChecks] {
		rows = append(rows, fmt.Sprintf(`{"check":%q,"test_id":%q,"verdict":"pass","passed":true}`, rule.ID, rule.ID))
	}
	mechanical := strings.Join(rows, ",")
	ours := func(level int, verdict, results string) string {
		return fmt.Sprintf(`{"version":1,"tool":{"version":"1"},"mode":"conformance","protocol":"aaep",`+
			`"level":%d,"verdict":%q,"results":[%s]}`, level,
			verdict, strings.TrimPrefix(results+","+mechanical, ","))
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

// What is no claim by its form, and what is one whatever stands around it.
func TestClaimForms(t *testing.T) {
	for _, text := range []string{
		// Negations.
		"Acme is not yet AAEP Level 2 conformant.",
		"Acme isn't AAEP certified.", "Acme isn’t AAEP certified.",
		"Acme has no AAEP certification.",
		"Acme does not have AAEP certification.",
		"Acme is neither AAEP Level 2 conformant nor AAEP certified.",
		"Nobody here is AAEP certified.", "Acme is not slow, nor is it AAEP certified.",
		"Acme was built without AAEP certification.",
		"Acme lacks AAEP compliance.", "Acme failed to reach AAEP Level 2.",
		"Acme is AAEP non-compliant.", "A non-AAEP-compliant agent.", "Acme is AAEP noncompliant.",
		"AAEP Level 2 is not met.",
		"We deny that Acme is AAEP certified.",
		"Acme is (not yet) AAEP certified.",
		"Acme is no longer AAEP certified.",
		"Acme, which is not AAEP certified, speaks AAEP.",
		"Not all our agents are AAEP certified.",
		"Acme is ~~AAEP certified~~.",
		// Disclaimers.
		"We do not claim that Acme, in any version, is AAEP certified.",
		"This page does not mean that, say, Acme is AAEP Level 3 conformant.",
		"Nothing here should imply AAEP certification.",
		"We make no claim of AAEP conformance.",
		"We never claimed AAEP Level 3 conformance.",
		"The badge does not say that Acme is fast, or that it is AAEP compliant.",
		// Plans.
		"We plan to be AAEP Level 3 conformant.", "We intend to pass AAEP Level 2 next year.",
		"Acme will be AAEP Level 2 conformant by 2027.", "Acme would be AAEP compliant.",
		"We hope to get AAEP certification.", "Our goal is AAEP Level 3 conformance.",
		"AAEP Level 3 conformance is on our roadmap.", "AAEP compliance is planned.",
		"We are working towards AAEP compliance.", "You need AAEP compliance here.",
		"We'll be AAEP certified soon.", "Agents shall be AAEP Level 1 conformant.",
		// Questions and instructions.
		"Is Acme AAEP certified?", "Is Acme AAEP certified? No.", "Who wants an AAEP Level 3 conformant agent?!",
		"To become AAEP compliant, run the suite.", "In order to meet AAEP Level 2, ask first.",
		"How to be AAEP compliant", "First, to be AAEP Level 2 conformant, an agent asks.",
		// What is not there.
		"AAEP certification does not exist.", "Conformance with AAEP Level 3 is not claimed.",
		"AAEP certification isn't offered.", "AAEP compliance: none", "AAEP conformance: planned",
		"| AAEP compliance | no |", "Not included: AAEP certification? No.",
		// Mentions.
		"Any AAEP-compliant subscriber can receive it.", "This page describes AAEP conformance.",
		"Conformance in AAEP is graded.", "AAEP conformance means that an agent asks.", "- [AAEP conformance](#aaep)",
		"We test AAEP compliance.", "Read about AAEP compliance.",
		"AAEP supports both self-certification and verification.",
		"An agent claiming AAEP conformance names its level.",
		"Events of AAEP come over a conforming transport.", "See aaep-chapter-9-conformance.txt.",
		"The AAEP Level 2 meeting is on Monday.",
		// Names.
		"# AAEP conformance", "## About AAEP compliance\nSee below.", "AAEP certification\n==================\n",
		"Run the AAEP conformance tests.", "Read the AAEP Conformance Suite's documentation.",
		"Run `oap-gate conformance aaep events capture.jsonl`.", "pip install aaep-conformance",
		"Our [roof][AAEP certified].\n\n[aaep certified]: https://acme.example \"x\"\r\n",
		"See https://aaep-protocol.org/spec/09-conformance.html for more.",
		"Acme is WCAG 2.2 compliant and speaks AAEP.", "We speak AAEP. We are ISO 27001 certified.",
		"Acme supports AAEP, and it is certified by nobody.",
	} {
		v, got := claimed(t, text, "")
		if v != "inconclusive" || !slices.Equal(got, []string{"no-claim inconclusive"}) {
			t.Errorf("%q is taken for a claim: %s %s", text, v, got)
		}
	}
	for _, text := range []string{
		"Acme is AAEP certified.", "Certified AAEP agent.", "An agent certified for AAEP.", "AAEP-certified",
		"Acme has AAEP certification.", "Acme holds the AAEP certificate.",
		"Acme is **AAEP** *certified*.", "Acme is AAEP <b>certified</b>.", "Acme is AA\u200bEP certified.",
		"Acme is ＡＡＥＰ certified.", "Acme is AАEP certified.",
		"Acme is AAEP&nbsp;certi&shy;fied.", "Acme is AAEP certi[fied](https://acme.example).",
		"Acme is AAEP certified[1].", "Acme is AAEP[2] certified.", "Acme is AAEP certified[^1].",
		"[AAEP certified]: see below.", "[AAEP certified]: ./a is not what it says",
		"Acme is [AAEP][] certified.", "Acme is [AAEP\ncertified][a].", "Our [badge][AAEP certified].",
		"Acme is [AAEP][a] certified.\n\n[A]: https://acme.example", "Acme is [AAEP][a] certified.",
		"Acme is [AAEP certified][a].", "Acme is AAEP™ certified.",
		"Acme is AAEP certified¹.", "Acme is AAEP&trade; certified.", "Acme is AAEP certified<sup>1</sup>.",
		"Acme is <!-- not --> AAEP certified.", "Acme is ~~not~~ AAEP certified.",
		"Acme is <del>not</del> AAEP certified.",
		"Acme is certified for the Agent Accessibility Event Protocol.",
		"| Acme | AAEP certified |", "- Acme is not slow\n- AAEP certified\n", "* not slow\n* AAEP certified",
		"1. no bugs\n2. AAEP certified", "# Not slow\nAcme is AAEP certified.", "<li>not slow<li>AAEP certified",
		"![x](https://img.shields.io/badge/AAEP-certified-green)",
		"[AAEP certified](https://acme.example)",
		"# Acme is AAEP certified", "No bugs\n=======\nAAEP certified",
		"AAEP LEVEL 3 CERTIFIED", "AAEP VERSION 1.0 CERTIFIED", "Acme is AAEP SPECIFICATION 1 certified.",
		"AGENT ACCESSIBILITY EVENT PROTOCOL 1.0 CERTIFIED", "An AAEP SUITE 1.0 certified agent.",
		"AAEP: certified.", "Certification: AAEP Level 3.", "Never fear: Acme is AAEP certified.",
		"The ISO 27001 certified AAEP agent.", "ISO 27001 and AAEP certified.",
		"https://img.shields.io/badge/AAEP%20agent-certifi%65d-green",
		"<img src=\"https://img.shields.io/badge/AAEP_Level_3-certified-green\">",
		"Acme is certified and AAEP Level 2 conformant.", "Acme is AAEP Level 2 conformant and certified.",
		"Acme is AAEP Level 2 conformant, officially certified.", "Acme is AAEP Level 2 conformant (certified).",
		"Acme (officially certified) is AAEP Level 2 conformant.", "Certified and AAEP Level 2 conformant.",
		// What seems to deny it.
		"Acme is not only AAEP certified.", "There is no doubt that Acme is AAEP certified.",
		"We do not deny that Acme is AAEP certified.", "We do not doubt that Acme is AAEP certified.",
		"Nobody doubts that Acme is AAEP certified.", "Without a doubt Acme is AAEP certified.",
		"Acme never fails to be AAEP certified.", "Acme (not Beta) is AAEP certified.",
		"Acme – no joke – is AAEP certified.", "Believe it or not, Acme is AAEP certified.",
		"The no-code agent Acme is AAEP certified.", "The non-profit Acme is AAEP certified.",
		"The fail-safe Acme is AAEP certified.", "Acme never sleeps; it is AAEP certified.",
		"Acme does not sleep, but it is AAEP certified.", "Acme is nothing but AAEP certified.",
		"We do not claim to be perfect, but Acme is AAEP certified.", "We do not claim much; Acme is AAEP certified.",
		"We do not say this lightly: Acme is AAEP certified.", "We make no claims. acme is AAEP certified.",
		"Our No. 1 agent is AAEP certified.", "Acme Inc. is AAEP certified.",
		// What seems to plan or ask it.
		"You will love that Acme is AAEP certified.", "Acme is AAEP certified, as planned.",
		"As expected Acme is AAEP certified.", "As you would expect Acme is AAEP certified.",
		"We plan a new office, and Acme is AAEP certified.", "Acme is known to be AAEP certified.",
		"To our delight Acme is AAEP certified.", "To be clear Acme is AAEP certified.",
		"Did you know that Acme is AAEP certified?", "Acme is AAEP certified, isn't it?",
		"Is Acme AAEP certified? Yes!", "Is Acme AAEP certified?\n\nYes, it is.",
		"Looking for an agent? Acme is AAEP certified.",
	} {
		if v, got := claimed(t, text, ""); v != "fail" || !strings.Contains(strings.Join(got, ","), "claim-certified") {
			t.Errorf("%q is not taken for a claim: %s %s", text, v, got)
		}
	}
}

// What a claim says about its level, its suite, its day and its profile.
func TestClaimDetails(t *testing.T) {
	const vague = "1 claim-date warning,1 claim-level error,1 claim-suite warning"
	const by = ", verified by AAEP Conformance Suite version 0.1.0 on 2026-08-15."
	const it = "It is AAEP Level 2 conformant"
	const on = it + ", verified by AAEP Conformance Suite 0.1.0 on "
	for text, want := range map[string]string{
		"Our ISO 27001 certified agent is AAEP Level 2 conformant" + by:   "",
		"Our WCAG 2.2 AA certified agent is AAEP Level 2 conformant" + by: "",
		"AAEP conformance: Level 2" + by:                                  "",
		"Acme has AAEP compliance.":                                       vague,
		"Full AAEP compliance!":                                           vague,
		"Acme offers AAEP conformance.":                                   vague,
		"AAEP compliance is guaranteed.":                                  vague,
		"- full AAEP compliance":                                          vague,
		"AAEP compliance is our promise.":                                 vague,
		"AAEP compliance: yes":                                            vague,
		"Acme conforms to the AAEP standard.":                             vague, "An AAEP conforming agent.": vague,
		"Acme is in AAEP compliance.":         vague,
		"Every Acme agent is AAEP compliant.": vague, "All agents of Acme are AAEP-compliant.": vague,
		"Acme is AAEP Level two conformant" + by:                                "",
		"Acme is AAEP Level [2][a] conformant[1]" + by:                          "",
		"Acme is AAEP Level III conformant" + by:                                "",
		"Acme is AAEP Levels 1 and 2 conformant" + by:                           "",
		"Acme is AAEP Levels 1, 2 and 4 conformant" + by:                        "1 claim-level error",
		"Acme is AAEP conformant at Level 2" + by:                               "",
		"Acme is AAEP conformant (Level 2)" + by:                                "",
		"Acme is AAEP conformant, not at Level 2" + by:                          "1 claim-level error",
		"Acme is AAEP compliant, and will be Level 3" + by:                      "1 claim-level error",
		"Acme is AAEP compliant, and we plan Level 3" + by:                      "1 claim-level error",
		"Acme is AAEP compliant. Level 2 is easy.":                              vague,
		"Is Acme AAEP compliant? Yes, at Level 2" + by:                          "",
		"AAEP Level 2 has been met by Acme" + by:                                "",
		"Acme met AAEP Level 2" + by:                                            "",
		"Acme reaches L3 of AAEP" + by:                                          "",
		"Acme passes all tests of AAEP Level 9" + by:                            "1 claim-level error",
		it + ", verified by AAEP Conformance Suite (v0.1.0) on 15 August 2026.": "",
		on + "Aug 15, 2026.":                                                    "",
		on + "Aug. 15, 2026.":                                                   "",
		on + "August 15th, 2026.":                                               "",
		on + "the 15th of August 2026.":                                         "",
		on + "15. August 2026.":                                                 "",
		on + "08/15/2026.":                                                      "1 claim-date warning",
		"Acme is AAEP compliant and WCAG Level 2 conformant" + by:               "1 claim-level error",
		"Acme is an AAEP compliant agent of SAE Level 3" + by:                   "1 claim-level error",
		"Acme is AAEP Level 2 conformant and even Level 4 conformant" + by:      "1 claim-level error",
		"Acme is AAEP Level 2 conformant and Level 9 quick" + by:                "",
		it + " and ISO 27001 certified" + by:                                    "", it + " and FDA certified" + by: "",
		it + " (not certified)" + by: "", it + " (ISO 27001 certified)" + by: "", it + " (self-certified)" + by: "",
		it + ", not certified" + by:               "",
		"ACME IS AAEP CONFORMANT AT LEVEL 2" + by: "",
		"ACME IS AAEP LEVEL 2 CONFORMANT" + by:    "", "Acme is AAEP LEVEL 4 conformant" + by: "1 claim-level error",
		"ACME HAS AAEP PROFILE 1 COMPLIANCE" + by: "1 claim-level error,1 claim-profile warning",
		on + "2026-08-15T10:00:00Z.":              "",
		on + "31 June 2026.":                      "1 claim-date error",
		on + "Oct 15, 2026.":                      "1 claim-date error",
		on + "15 August 2024.":                    "1 claim-date warning",
		"Since 1 May 2027 " + on + "2026-08-15.":  "",
		it + " with the Medical AAEP Profile v1 (https://x.example/medical)" + by:  "",
		it + " with the Medical AAEP Profile (https://x.example/medical/v1)" + by:  "",
		it + " with the [Medical AAEP Profile v1](https://x.example/medical)" + by: "",
		it + " with version 1.2 of the AAEP Medical Profile (urn:x:medical)" + by:  "",
		it + " with the Medical AAEP Profile" + by:                                 "1 claim-profile error",
		it + " with the Medical AAEP Profile (https://x.example/medical)" + by:     "1 claim-profile error",
		it + " with Profile https://x.example/medical v1" + by:                     "",
		it + " and conforms to the Medical Profile v1" + by:                        "1 claim-profile warning",
		it + " and follows the AAEP Medical Profile" + by:                          "1 claim-profile error",
		it + ", not with the AAEP Medical Profile" + by:                            "",
		"Acme, the profile editor, is AAEP Level 2 conformant" + by:                "",
	} {
		_, got := claimed(t, text, "")
		if got := strings.Join(got, ","); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestClaimBesides checks that what an honest text says next to its claim changes nothing.
func TestClaimBesides(t *testing.T) {
	const claim = "Acme is AAEP Level 2 conformant, verified by AAEP Conformance Suite version 0.1.0 on 2026-08-15."
	for _, text := range []string{
		"\n\nWe do not claim Level 3.", " It is not AAEP certified.", " We plan to reach AAEP Level 3 by 2028.",
		" Want AAEP Level 3? Ask us.", "\n\n## AAEP conformance\n\nMore.",
		"\n\nRun `oap-gate conformance aaep claim --text README.md` to check this.",
		"\n\nSee the [AAEP conformance suite](https://aaep-protocol.org/conformance).",
		"\n\nOur AAEP conformance report is public.", "\n\nThe AAEP project does not certify; it verifies.",
		"\n\nAcme was never certified for AAEP.", "\n\n> Beta is AAEP Level 1\n> conformant, verified by AAEP\n" +
			"> Conformance Suite version 0.1.0 on 2026-08-15.",
	} {
		if v, got := claimed(t, claim+text, ""); v != "pass" || len(got) > 0 {
			t.Errorf("%q after a claim: %s %s", text, v, got)
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
