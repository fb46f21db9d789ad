package upkeep

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/forge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/ghtest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

const (
	thisRun = "https://forge.example/acme/registry/actions/runs/42"
	nextRun = "https://forge.example/acme/registry/actions/runs/43"
)

// audited is the report of an audit in which a check fails on each of the subjects.
func audited(failed ...string) *verdict.Report {
	r := &verdict.Report{Version: 1, Mode: "audit", EvaluatedAt: now, Origin: "127.0.0.1/acme/registry",
		Verdict: verdict.Passed}
	r.Results.Add(verdict.Result{Check: "history", Subject: "registry", Verdict: verdict.Passed})
	for _, subject := range failed {
		r.Verdict = verdict.Failed
		r.Results.Add(verdict.Result{Check: "receipt-fetch", Subject: subject, Verdict: verdict.Failed,
			Reason: "text of a listing", Findings: []verdict.Finding{
				{Severity: verdict.Error, Message: "text of a listing @maintainer", Fix: "text of a listing"},
				{Severity: verdict.Warning, Message: "text of a listing"}}})
	}
	return r
}

// settleAudit plans and applies, and gives what was done.
func settleAudit(t *testing.T, c *forge.Client, r *verdict.Report, run string) []string {
	t.Helper()
	plan, err := Audit(t.Context(), c, r, run, forge.ActionsApp)
	must.OK(t, err)
	done := []string{}
	err = Apply(t.Context(), c, plan.Changes, 0, func(made Change, _ error) { done = append(done, made.Text) })
	must.OK(t, err)
	return done
}

func TestAudit(t *testing.T) {
	s, c := start(t)
	const mark = "<!-- oap-gate:audit -->\n"
	s.AddIssue(ghtest.Issue{State: "open", Title: "by hand", Body: mark, Login: "mallory"})
	s.AddIssue(ghtest.Issue{State: "open", Title: "another app", Body: mark, Login: "x[bot]", App: 7})
	s.AddIssue(ghtest.Issue{State: "open", Title: "quoted", Body: "> " + mark, Login: "github-actions[bot]",
		App: ghtest.ActionsApp})
	s.AddIssue(ghtest.Issue{State: "open", Title: "a reminder", Body: "<!-- oap-gate:remind:audit -->\n",
		Login: "github-actions[bot]", App: ghtest.ActionsApp})
	foreign := s.Issues()

	inconclusive := audited()
	inconclusive.Verdict = verdict.Inconclusive
	two := audited("implementations/nova.json", "implementations/ada.json", "implementations/`</details>@all.json",
		"implementations/x.txt")
	for _, step := range []struct {
		name   string
		report *verdict.Report
		run    string
		want   []string
	}{
		{"a pass without an issue", audited(), thisRun, nil},
		{"the first failure", audited("implementations/nova.json"), thisRun,
			[]string{"create issue: Audit failed: 1 error in 1 check"}},
		{"the same report again", audited("implementations/nova.json"), thisRun, nil},
		{"the same numbers in the next run", audited("implementations/nova.json"), nextRun, nil},
		{"an inconclusive audit", inconclusive, nextRun, nil},
		{"other numbers", two, nextRun, []string{"edit issue 104: Audit failed: 4 errors in 1 check"}},
		{"the same again", two, nextRun, nil},
		{"a pass", audited(), nextRun, []string{"close issue 104 of the audit: the audit of 2026-06-01 passed"}},
		{"a second pass", audited(), nextRun, nil},
		{"the same failure after a pass", two, nextRun, []string{"create issue: Audit failed: 4 errors in 1 check"}},
	} {
		got := settleAudit(t, c, step.report, step.run)
		if !slices.Equal(got, step.want) && len(got)+len(step.want) > 0 {
			t.Errorf("%s: %q, want %q", step.name, got, step.want)
		}
	}
	if !reflect.DeepEqual(s.Issues()[:len(foreign)], foreign) {
		t.Errorf("issues of others were touched: %+v", s.Issues()[:len(foreign)])
	}
	last := s.Issues()[len(s.Issues())-1]
	if want := mark + "The audit of this registry fails: 4 errors in 1 check.\n\n- `receipt-fetch`: 4 errors: `ada`, " +
		"`nova`\n\nThis issue is edited when the numbers change, and closed when an audit passes.\n\nThe report is " +
		"an artifact of " + nextRun + "\n"; last.Body != want {
		t.Errorf("the issue is\n%s\nwant\n%s", last.Body, want)
	}
	// A reminder of a listing with the slug audit, and the issue about the audit, leave each other alone.
	if got := settle(t, c, listed(now)); !slices.Equal(got,
		[]string{"close issue 103 of audit: it is no longer listed"}) {
		t.Errorf("remind: %q", got)
	}
}

// Of many listings the issue names some, and counts the others; two issues become one.
func TestAuditOfMany(t *testing.T) {
	s, c := start(t)
	var many []string
	for i := range 25 {
		many = append(many, "implementations/tool-"+string(rune('a'+i))+".json")
	}
	for range 2 {
		s.AddIssue(ghtest.Issue{State: "open", Title: "old", Body: "<!-- oap-gate:audit -->\n",
			Login: "github-actions[bot]", App: ghtest.ActionsApp})
	}
	want := []string{"edit issue 100: Audit failed: 25 errors in 1 check",
		"close issue 101 of the audit: another issue is about it"}
	if got := settleAudit(t, c, audited(many...), "file:///tmp"); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if body := s.Issues()[0].Body; !strings.Contains(body, "`tool-t` and 5 more\n") || strings.Contains(body, "file:") {
		t.Errorf("the issue is\n%s", body)
	}
}

func TestAuditRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		edit func(*verdict.Report)
		want string
	}{
		"a check": {func(r *verdict.Report) { r.Mode = "check" }, `its mode is "check"; expected audit`},
		"no verdict": {func(r *verdict.Report) { r.Verdict, r.Error = verdict.Errored, "shallow" },
			"it has no verdict: the audit could not run: shallow"},
		"a flag":    {func(r *verdict.Report) { r.Assumed = []string{"--offline"} }, "is not complete"},
		"not run":   {func(r *verdict.Report) { r.NotRun = []string{"domain-age"} }, "is not complete"},
		"a shard":   {func(r *verdict.Report) { r.Shard = "1/2" }, "is not complete"},
		"another":   {func(r *verdict.Report) { r.Origin = "127.0.0.1/mallory/registry" }, "it is of the registry"},
		"elsewhere": {func(r *verdict.Report) { r.Origin = "evil.example/acme/registry" }, "it is of the registry"},
		"no name":   {func(r *verdict.Report) { r.Origin = "" }, "it is of the registry \"\""},
		"no check id": {func(r *verdict.Report) {
			r.Results.Add(verdict.Result{Check: "@all", Subject: "registry", Verdict: verdict.Failed})
		}, `"@all" is not the id of a check`},
	} {
		t.Run(name, func(t *testing.T) {
			s, client := start(t)
			r := audited("implementations/nova.json")
			c.edit(r)
			_, err := Audit(t.Context(), client, r, thisRun, forge.ActionsApp)
			if !errors.Is(err, ErrReport) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
			if len(s.Requests()) > 0 {
				t.Errorf("asked the forge: %q", s.Requests())
			}
		})
	}
	_, client := start(t)
	for _, origin := range []string{"127.0.0.1/acme/registry", "127.0.0.1:8443/Acme/Registry"} {
		r := audited()
		r.Origin = origin
		if _, err := Audit(t.Context(), client, r, thisRun, forge.ActionsApp); err != nil {
			t.Errorf("origin %s: %v", origin, err)
		}
	}
}
