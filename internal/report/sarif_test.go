package report

import (
	"encoding/json"
	"maps"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// A viewer of SARIF makes links of "[text](target)" in plain messages and fills in "{0}".
var sarifTakesEffect = regexp.MustCompile(`\]\(|\{[0-9]`)

func TestSARIFTextsAreNeutral(t *testing.T) {
	for _, s := range hostile {
		for _, r := range poisoned(s) {
			var log sarifLog
			if err := json.Unmarshal(
				[]byte(written(t, "sarif", r,
					Options{Rules: []verdict.Rule{{ID: s, Title: s, Cite: s, Why: s, Fix: s}}})), &log); err != nil {
				t.Fatal(err)
			}
			checkTexts(t, log)
		}
	}
}

func checkTexts(t *testing.T, log sarifLog) {
	t.Helper()
	run := log.Runs[0]
	texts := []string{run.Tool.Driver.Version}
	for _, rule := range run.Tool.Driver.Rules {
		texts = append(texts, rule.ID)
		for _, text := range []*sarifText{rule.Short, rule.Full, rule.Help} {
			if text != nil {
				texts = append(texts, text.Text)
			}
		}
	}
	for _, notification := range run.Invocations[0].Notifications {
		texts = append(texts, notification.Message.Text)
	}
	for _, result := range run.Results {
		if got := run.Tool.Driver.Rules[result.RuleIndex].ID; got != result.RuleID {
			t.Errorf("rule %q has the index of %q", result.RuleID, got)
		}
		p := result.Properties
		texts = append(texts, result.RuleID, result.Message.Text, p.Severity.String(), p.Code, p.Pointer, p.Commit)
		uri := result.Locations[0].Physical.Artifact.URI
		if u, err := url.Parse(uri); err != nil || u.IsAbs() || u.Host != "" || uri == "" ||
			strings.HasPrefix(uri, "/") {
			t.Errorf("%q is no relative path: %v", uri, err)
		}
	}
	for _, text := range texts {
		if foreign.Line(text) != text || sarifTakesEffect.MatchString(text) {
			t.Errorf("%q takes effect", text)
		}
	}
}

func TestFingerprints(t *testing.T) {
	of := func(r *verdict.Report) []string {
		var log sarifLog
		must.OK(t, json.Unmarshal([]byte(written(t, "sarif", r, Options{})), &log))
		var all []string
		for _, result := range log.Runs[0].Results {
			all = append(all, result.Fingerprints["oapGateFinding/v1"])
		}
		return all
	}
	before, r := of(faulty(2)), faulty(2)
	edit(r, func(_ int, result *verdict.Result) {
		for j := range result.Findings {
			result.Findings[j].Line += 5
			result.Findings[j].Message += " now"
		}
	})
	after := of(r)
	seen := map[string]bool{}
	for i := range before {
		if before[i] != after[i] {
			t.Errorf("fingerprint %d changes from %s to %s with the line and the message", i, before[i], after[i])
		}
		if seen[before[i]] {
			t.Errorf("two findings have the fingerprint %s", before[i])
		}
		seen[before[i]] = true
	}
}

// The forge refuses a file with more results than it takes: the least severe are left out, and counted.
func TestSARIFIsCapped(t *testing.T) {
	var log sarifLog
	must.OK(t, json.Unmarshal([]byte(written(t, "sarif", faulty(6_300), Options{})), &log))
	run := log.Runs[0]
	levels := map[string]int{}
	for _, result := range run.Results {
		levels[result.Level]++
	}
	if want := map[string]int{"error": 12_600, "warning": 6_300, "note": 6_100}; !maps.Equal(levels, want) {
		t.Errorf("%v, want %v", levels, want)
	}
	const want = "200 findings left out, the least severe: the forge takes 25000 of a run. The JSON report has all."
	if got := run.Invocations[0].Notifications; len(got) != 1 || got[0].Message.Text != want {
		t.Errorf("the notes are %+v", got)
	}
}
