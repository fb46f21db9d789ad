package action_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/ghtest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// TestForge runs the modes that act at the forge as the workflows that init writes do: on their events, without a
// clone.
func TestForge(t *testing.T) {
	const head, base, merge = "1111111111111111111111111111111111111111", "2222222222222222222222222222222222222222",
		"3333333333333333333333333333333333333333"
	const gate, listing = ".github/workflows/check.yml", "implementations/nova.json"
	const comment = `{"action":"created","issue":{"number":7,"user":{"id":70},"pull_request":{}},` +
		`"comment":{"body":"/rerun","user":{"id":70},"author_association":"NONE"}}`
	const repeats, enables = "POST /repos/example/registry/actions/runs/5/rerun-failed-jobs", "7 true"
	rerun := map[string]string{"mode": "rerun", "apply": "true"}
	autoMerge := map[string]string{"mode": "auto-merge", "file": "report.json", "head": head, "apply": "true"}
	for name, c := range map[string]struct {
		event, payload string
		inputs         map[string]string
		conclusion     string // of the newest run of the gate
		routine        bool
		status         int
		writes, says   string
	}{
		"the author's /rerun": {"issue_comment", comment, rerun, "failure", true, 0, repeats, "1 of 1 changes made"},
		"a stranger's /rerun": {"issue_comment", strings.Replace(comment, `"user":{"id":70},"author_`,
			`"user":{"id":71},"author_`, 1), rerun, "failure", true, 0, "", "neither by the author"},
		"a plan": {"issue_comment", comment, map[string]string{"mode": "rerun"}, "failure", true, 0, "", "none made"},
		"an input of another mode": {"issue_comment", comment, map[string]string{"mode": "rerun", "head": head},
			"failure", true, 2, "", "head"},
		"routine": {"workflow_run", `{"workflow_run":{"id":5}}`, autoMerge, "success", true, 0, enables,
			"auto-merge was enabled"},
		"not routine": {"workflow_run", `{"workflow_run":{"id":5}}`, autoMerge, "success", false, 0, "",
			"does not say that it is routine"},
		"a comment": {"workflow_run", `{"workflow_run":{"id":5}}`, map[string]string{"mode": "comment",
			"file": "report.json", "head": head}, "success", true, 0,
			"POST /repos/example/registry/issues/7/comments", ""},
		"the report of another run": {"workflow_run", `{"workflow_run":{"id":4}}`, autoMerge, "success", true, 0, "",
			"a newer run"},
	} {
		t.Run(name, func(t *testing.T) {
			s := ghtest.Start("example", "registry")
			defer s.Close()
			s.Grant("token", ghtest.Access{Login: "github-actions[bot]", App: true, Comment: true})
			s.AddPull(ghtest.Pull{Number: 7, State: "open", Head: head, HeadRepo: "contributor/registry", Base: "main",
				Author: ghtest.Author{ID: 70, Login: "contributor"},
				Files:  []ghtest.File{{Name: listing, Status: "modified"}}})
			hour := time.Now().Add(-time.Hour)
			s.AddRun(ghtest.Run{ID: 5, Path: gate, Event: "pull_request", Head: head, Status: "completed",
				Conclusion: c.conclusion, Attempt: 1, CreatedAt: hour, Updated: hour})
			s.AddCommit(merge, base, head)
			s.AddCommit(base)
			s.AddRuleset(`{"name":"r","target":"branch","enforcement":"active",
"conditions":{"ref_name":{"include":["~ALL"]}},
"rules":[{"type":"pull_request","parameters":{"required_approving_review_count":1,"dismiss_stale_reviews_on_push":true,
"require_code_owner_review":true,"require_last_push_approval":false,"required_review_thread_resolution":false}}]}`)
			report, err := json.Marshal(verdict.Report{Version: 1, Mode: "check", Base: base, Head: merge,
				Tool: verdict.Tool{Version: "v1.0.0", Commit: base}, Assumed: []string{},
				Evidence: []verdict.Evidence{}, EvaluatedAt: hour.UTC(),
				Verdict: verdict.Passed, Kind: "renewal", Routine: &c.routine,
				Counts: verdict.Counts{Records: 1, Pass: 1},
				Results: verdict.NewResults(verdict.Result{Check: "layout", Subject: listing, Verdict: verdict.Passed,
					Findings: []verdict.Finding{}})})
			check(t, err)
			workspace := t.TempDir()
			check(t, os.WriteFile(filepath.Join(workspace, "report.json"), report, 0o644))
			o := step{workspace: workspace, event: c.event, payload: c.payload, inputs: c.inputs,
				env:   map[string]string{"GITHUB_API_URL": s.URL, "GITHUB_TOKEN": "token"},
				flags: []string{"--network", "host"}}.run(t)
			// GraphQL also reads by POST.
			writes := slices.DeleteFunc(s.Writes(), func(w string) bool { return w == "POST /graphql" })
			if got := strings.Join(append(writes, s.AutoMerges()...), ", "); o.status != c.status || got != c.writes ||
				!strings.Contains(o.stdout+o.stderr, c.says) {
				t.Errorf("status %d, wrote %q; want %d, %q and the words %q\n%s%s", o.status, got, c.status, c.writes,
					c.says, o.stdout, o.stderr)
			}
		})
	}
}

// TestUpkeep runs the modes that keep a registry at the forge as their workflows do: by hand, in a clone of it.
func TestUpkeep(t *testing.T) {
	const api = "/repos/example/registry"
	w := build(t) // three listings that end in three months
	git(t, w, "update-ref", "refs/remotes/origin/main", "main")
	check(t, os.MkdirAll(filepath.Join(w.Repo.Dir, ".github"), 0o755))
	check(t, os.WriteFile(filepath.Join(w.Repo.Dir, ".github/repo-config.yml"),
		[]byte(read(t, "../../docs/repo-config.example.yml")), 0o644))
	s := ghtest.Start("example", "registry")
	defer s.Close()
	s.Grant("token", ghtest.Access{Login: "github-actions[bot]", App: true, Comment: true})
	s.Grant("admin", ghtest.Access{Login: "administrator", Admin: true})
	for _, c := range []struct {
		name, token string
		inputs      map[string]string
		status      int
		writes      string
		says        string
	}{
		{"nothing is due", "token", map[string]string{"mode": "remind", "apply": "true"}, 0, "",
			"3 listings: none ends within"},
		{"a plan", "token", map[string]string{"mode": "remind", "within": "200d"}, 0, "",
			"3 of 3 changes shown, none made"},
		{"reminders", "token", map[string]string{"mode": "remind", "within": "200d", "apply": "true"}, 0,
			strings.Repeat("POST "+api+"/issues ", 3), "3 of 3 changes made"},
		{"again", "token", map[string]string{"mode": "remind", "within": "200d", "apply": "true"}, 0, "",
			"nothing to change"},
		{"a head", "token", map[string]string{"mode": "remind", "head": "main"}, 2, "", "head"},
		{"the job's own token", "token", map[string]string{"mode": "protect", "apply": "true"}, 3, "", "not-readable"},
		{"what protections lack", "admin", map[string]string{"mode": "protect"}, 1, "", "protection-missing"},
		{"protections", "admin", map[string]string{"mode": "protect", "apply": "true"}, 0,
			"PATCH " + api + " POST " + api + "/rulesets ", "0 missing"},
		{"protections that stand", "admin", map[string]string{"mode": "protect", "apply": "true"}, 0, "", "0 missing"},
		{"a time", "admin", map[string]string{"mode": "protect", "within": "30d"}, 2, "", "within"},
	} {
		before := len(s.Writes())
		o := step{workspace: w.Repo.Dir, event: "workflow_dispatch", payload: `{}`, inputs: c.inputs,
			env:   map[string]string{"GITHUB_API_URL": s.URL, "GITHUB_TOKEN": c.token},
			flags: []string{"--network", "host"}}.run(t)
		writes := ""
		for _, one := range s.Writes()[before:] {
			writes += one + " "
		}
		if o.status != c.status || writes != c.writes || !strings.Contains(o.stdout+o.stderr, c.says) {
			t.Errorf("%s: status %d, wrote %q; want %d, %q and the words %q\n%s%s", c.name, o.status, writes, c.status,
				c.writes, c.says, o.stdout, o.stderr)
		}
	}
}
