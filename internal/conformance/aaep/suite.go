package aaep

import (
	"bufio"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// The report of the AAEP ecosystem, by the keys that its own suite writes. Nothing that was not decided reads as passed
// there: inconclusive is a failure, and a warning is one of severity warning, which leaves the verdict alone.
type (
	suiteRun struct {
		SpecVersion     string      `json:"aaep_spec_version"`
		SuiteVersion    string      `json:"suite_version"`
		Level           int         `json:"conformance_level"`
		Endpoint        string      `json:"endpoint"`
		StartedAt       string      `json:"started_at"`
		CompletedAt     string      `json:"completed_at"`
		DurationSeconds float64     `json:"duration_seconds"`
		Verdict         string      `json:"verdict"`
		Run             int         `json:"tests_run"`
		Passed          int         `json:"tests_passed"`
		Failed          int         `json:"tests_failed"`
		Skipped         int         `json:"tests_skipped"`
		PassRate        float64     `json:"pass_rate"`
		Metadata        Object      `json:"metadata"`
		Results         []suiteTest `json:"test_results"`
		Failures        []suiteTest `json:"failures"`
	}
	suiteTest struct {
		ID          string  `json:"test_id"`
		Description string  `json:"description"`
		Passed      bool    `json:"passed"`
		Severity    string  `json:"severity"`
		Message     string  `json:"message"`
		Expected    *string `json:"expected"`
		Actual      *string `json:"actual"`
		Duration    float64 `json:"duration_ms"`
		Reference   *string `json:"spec_reference"`
	}
)

// Format is the report that tools of the AAEP ecosystem read.
var Format = report.Format{Name: "aaep", About: "the report of AAEP's own suite", Of: "events producer subscriber",
	Write: writeSuite, Former: report.HasMembers("aaep_spec_version")}

// writeSuite writes that report. Times are the one by which the run was judged.
func writeSuite(w *bufio.Writer, r *report.Counted, o report.Options) error {
	at := r.EvaluatedAt.UTC().Format("2006-01-02T15:04:05.000Z")
	all := suiteRun{SpecVersion: Version, SuiteVersion: r.Tool.Version, Level: r.Level, Endpoint: endpoint(r.Report),
		StartedAt: at, CompletedAt: at, Verdict: "PASS", Results: []suiteTest{}, Failures: []suiteTest{},
		Metadata: Object{"aaep_spec_version": Version, "suite_version": r.Tool.Version, "tool": "oap-gate",
			"tool_commit": r.Tool.Commit, "tool_verdict": string(r.Verdict),
			"assumed": append([]string{}, r.Assumed...)}}
	rules := map[string]verdict.Rule{}
	for _, rule := range o.Rules {
		rules[rule.ID] = rule
	}
	for result := range r.Results.All() {
		test := suiteResult(result, rules[result.Check])
		all.Results = append(all.Results, test)
		switch {
		case test.Passed:
			all.Passed++
			continue
		case test.Severity == "info":
			all.Skipped++
		default:
			all.Failed++
		}
		all.Failures = append(all.Failures, test)
	}
	all.Run = len(all.Results)
	if decided := all.Run - all.Skipped; decided > 0 {
		all.PassRate = math.Round(float64(all.Passed)/float64(decided)*1e4) / 1e4
	}
	switch {
	case r.Verdict == verdict.Errored:
		all.Verdict, all.Metadata["error"] = "FAIL", r.Error
	case r.Verdict != verdict.Passed:
		all.Verdict = "FAIL"
	case all.Run == all.Skipped:
		all.Verdict = "SKIPPED"
	}
	text, err := report.JSON(all, "  ")
	if err == nil {
		_, err = w.Write(text)
	}
	return err
}

// mostEndpoints is how many subjects the report names as its endpoint.
const mostEndpoints = 3

// endpoint returns what was judged: the subjects without their sessions.
func endpoint(r *verdict.Report) string {
	var all []string
	for result := range r.Results.All() {
		name, _, _ := strings.Cut(result.Subject, "#")
		if !slices.Contains(all, name) && len(all) < mostEndpoints {
			all = append(all, name)
		}
	}
	return strings.Join(all, ", ")
}

func suiteResult(result verdict.Result, rule verdict.Rule) suiteTest {
	test := suiteTest{ID: result.Check, Description: rule.Title + ": " + result.Subject, Severity: "info",
		Message: result.Reason}
	if rule.Cite != "" {
		test.Reference = &rule.Cite
	}
	switch result.Verdict {
	case verdict.Passed:
		test.Passed = true
	case verdict.Skipped:
		test.Message = "skipped: " + result.Reason
	case verdict.Manual:
		test.Message = "for people to attest: " + result.Reason
	case verdict.Warned:
		test.Severity = "warning"
	case verdict.Inconclusive:
		test.Severity = "error"
		if len(result.Findings) == 0 {
			test.Message = "inconclusive: " + result.Reason
		}
	default:
		test.Severity = "error"
	}
	if len(result.Findings) == 0 {
		return test
	}
	const most = 20
	var messages []string
	for _, f := range result.Findings[:min(len(result.Findings), most)] {
		printed := fmt.Sprintf("%s: %s", f.Severity, f.Message)
		if f.Line > 0 {
			printed = fmt.Sprintf("line %d: %s", f.Line, printed)
		}
		messages = append(messages, printed)
	}
	if more := len(result.Findings) - most; more > 0 {
		messages = append(messages, fmt.Sprintf("and %d more", more))
	}
	test.Message += strings.Join(messages, "; ")
	test.Actual, test.Expected = &result.Findings[0].Message, &result.Findings[0].Fix
	return test
}
