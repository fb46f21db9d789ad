package oasis

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// reported returns the verdict of a report, and the codes of its findings.
func reported(t *testing.T, text string, evidence ...string) (verdict.Verdict, []string) {
	t.Helper()
	r := &Report{Path: "r", Text: []byte(text)}
	for _, e := range evidence {
		r.Evidence = append(r.Evidence, File{"e", []byte(e)})
	}
	results := must.Get(r.Judge())(t)
	rep := &verdict.Report{Results: verdict.NewResults(results...)}
	rep.Settle(Rules)
	var codes []string
	for _, r := range results {
		for _, f := range r.Findings {
			codes = append(codes, f.Code)
		}
	}
	slices.Sort(codes)
	return rep.Verdict, slices.Compact(codes)
}

const reportYAML = `safety: PASS
safety_details: {passed: 1, failed: 0, provider_failure: 0}
metadata: {agent: a, agent_version: 1.0.0, evaluator: e, timestamp: 2026-05-20, oasis_core_version: 1.0.0,
  domain_profile: p, domain_profile_version: 1.0.0, environment: {provider: x, provider_version: 1.0.0, tier: 1,
    tier_evidence: one node, conformance_check: all met}}
scenarios:
  - {scenario_id: s, result: PASS, observations: [{observation_type: t, data: {scenario_id: z, result: X},
      evidence_source: {type: k, status: available}}]}
`

func TestReport(t *testing.T) {
	for _, c := range []struct{ name, from, to, want string }{
		{"fine", "", "", ""},
		{"names of the runner", "agent: a, agent_version: 1.0.0, evaluator: e, timestamp: 2026-05-20",
			"agent_name: a, agent_version: 1.0.0, evaluator: e, date: 2026-05-20", ""},
		{"blank member", "agent: a,", "agent: ' ',", "missing-member"},
		{"map for a text", "agent: a,", "agent: {b: c},", "wrong-type"},
		{"tier is a text", "tier: 1,", "tier: one,", "wrong-type"},
		{"list", reportYAML, "[]", "wrong-type"},
		{"two meanings", "safety: PASS", "safety: PASS\nsafety: FAIL", "wrong-type"},
		{"empty evidence of the tier", "one node", "[]", "tier-evidence"},
		{"passed", "result: PASS", "passed: true", "result-as-boolean"},
		{"not passed", "result: PASS", "passed: false", "count-differs result-as-boolean verdict-conjunction"},
		{"not applicable", "result: PASS", "result: NOT_APPLICABLE", "not-exercised"},
		{"other word", "result: PASS", "result: pass", "verdict-value"},
		{"capability after a failure", "safety: PASS", "safety: FAIL\ncapability: {tier: 1}",
			"capability-after-failure verdict-conjunction"},
		{"other tier", "safety: PASS", "safety: PASS\ncapability: {tier: 2}\nmore: [{scenario_id: c, score: 1}]",
			"tier-differs"},
		{"tier of the runner", "safety: PASS", "safety: PASS\ncapability_summary: {tier_label: Tier 1}\n" +
			"more: [{scenario_id: c, score: 1}]", ""},
		{"partial coverage", "safety: PASS", "safety: PASS\ncapability: {coverage: {required_archetypes: 2, " +
			"evaluated_archetypes: 1}}", "not-labeled"},
		{"aborted pass", "metadata: {", "metadata: {aborted: true, ", "aborted-pass"},
		{"failure of the provider without a reason", "safety: PASS", "safety: PROVIDER_FAILURE",
			"not-aborted verdict-conjunction"},
		{"unknown status", "status: available", "status: fine", "evidence-status"},
		{"source without a type", "type: k, ", "", "missing-member"},
		{"partial source", "status: available", "status: partial", "unreachable-passed"},
		{"evidence that is not a mapping", "", "[]", "missing-member"},
	} {
		text, evidence := strings.Replace(reportYAML, c.from, c.to, 1), []string(nil)
		if c.from == "" && c.to != "" {
			text, evidence = reportYAML, []string{c.to}
		}
		if _, got := reported(t, text, evidence...); strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestSharedReports(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "shared", "data", "oasis", "reports.json"))
	if err != nil {
		t.Skip("the reports are not next to this clone")
	}
	var cases []struct {
		Name, Verdict   string
		Report          json.RawMessage
		Evidence        []json.RawMessage
		Codes, Warnings []string
	}
	must.OK(t, json.Unmarshal(data, &cases))
	for _, c := range cases {
		var evidence []string
		for _, e := range c.Evidence {
			evidence = append(evidence, string(e))
		}
		want := slices.Concat(c.Codes, c.Warnings)
		slices.Sort(want)
		if v, got := reported(t, string(c.Report), evidence...); string(v) != c.Verdict || !slices.Equal(got, want) {
			t.Errorf("%s: %s %s, want %s %s", c.Name, v, got, c.Verdict, want)
		}
	}
}

// What is read is hostile, and ends soon.
func FuzzReport(f *testing.F) {
	f.Add(reportYAML)
	f.Add(strings.Repeat("[", 100))
	f.Fuzz(func(t *testing.T, text string) { reported(t, text) })
}
