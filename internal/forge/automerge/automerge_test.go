package automerge

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/ghtest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

const (
	head   = "1111111111111111111111111111111111111111"
	base   = "2222222222222222222222222222222222222222"
	merged = "3333333333333333333333333333333333333333"
	check  = ".github/workflows/check.yml"
	nova   = "implementations/nova.json"
	rules  = `{"name":"r","target":"branch","enforcement":"active","conditions":{"ref_name":{"include":["~ALL"]}},
"rules":[{"type":"pull_request","parameters":{"required_approving_review_count":1,"dismiss_stale_reviews_on_push":true,
"require_code_owner_review":true,"require_last_push_approval":false,"required_review_thread_resolution":false}}]}`
	robot   = "github-actions[bot]"
	enabled = "7 true"
	taken   = "7 false"
)

var queue = strings.Replace(rules, `"rules":[`,
	`"rules":[{"type":"merge_queue","parameters":{"merge_method":"MERGE"}},`, 1)

// world is what one case may change.
type world struct {
	s      *ghtest.Server
	pull   ghtest.Pull
	run    ghtest.Run
	rules  string
	report verdict.Report
	text   []byte // replaces the report
	login  string
	o      Options
}

func honest(t *testing.T) *world {
	t.Helper()
	yes := true
	at := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	return &world{s: ghtest.Start("acme", "registry"), rules: rules, login: robot,
		pull: ghtest.Pull{Number: 7, State: "open", Head: head, HeadRepo: "contributor/registry", Base: "main",
			Author: ghtest.Author{ID: 70, Login: "contributor"},
			Files:  []ghtest.File{{Name: nova, Status: "modified"}}},
		run: ghtest.Run{ID: 5, Path: check, Event: "pull_request", Head: head, Status: "completed",
			Conclusion: "success", Attempt: 1, CreatedAt: at},
		report: verdict.Report{Version: 1, Mode: "check", Base: base, Head: merged, Verdict: verdict.Passed,
			Assumed: []string{},
			Kind:    "renewal", Routine: &yes, Counts: verdict.Counts{Records: 1, Pass: 2},
			Results: verdict.NewResults(verdict.Result{Check: "layout", Subject: nova, Verdict: verdict.Passed},
				verdict.Result{Check: "layout", Subject: "registry", Verdict: verdict.Passed})},
		o: Options{Head: head, Run: 5, Workflow: check, Apply: true, Read: func(b []byte) (*verdict.Report, error) {
			var r verdict.Report
			if err := json.Unmarshal(b, &r); err != nil {
				return nil, err
			}
			return &r, report.Contradiction(&r)
		}}}
}

func TestSettle(t *testing.T) {
	ours := func(w *world) { w.pull.Merging = "github-actions" }
	for _, c := range []struct {
		name    string
		edit    func(*world)
		changes string // of auto-merge
		says    string // or the code of the error
	}{
		{"routine", func(*world) {}, enabled, "auto-merge was enabled"},
		{"a revocation", func(w *world) {
			w.pull.Files = append(w.pull.Files, ghtest.File{Name: "revocations/x.json", Status: "added"})
			w.report.Results.Add(verdict.Result{Check: "layout", Subject: "revocations/x.json",
				Verdict: verdict.Passed})
			w.report.Counts.Pass++
		}, enabled, "enabled"},
		{"a second run", ours, "", "enabled already"},
		{"only shown", func(w *world) { w.o.Apply = false }, "", "would be enabled"},
		{"clean status", func(w *world) { w.pull.Clean = true }, "", "all requirements are met; merge it"},
		{"a person's", func(w *world) { w.pull.Merging = "maintainer" }, "", "another account"},
		{"a person's that is not routine", func(w *world) {
			w.pull.Merging = "maintainer"
			w.run.Conclusion = "failure"
		}, "", "another account"},
		{"no longer routine", func(w *world) {
			ours(w)
			w.report.Routine = nil
		}, taken, "taken back: its report does not say that it is routine"},
		{"no longer routine, only shown", func(w *world) {
			ours(w)
			w.report.Routine, w.o.Apply = nil, false
		}, "", "would be taken back"},
		{"without a report", func(w *world) {
			ours(w)
			w.text = []byte{}
		}, taken, "taken back"},
		{"the newest run has not ended", func(w *world) {
			ours(w)
			w.run.Status = "in_progress"
		}, "", "has not ended"},
		{"a bot's of other files", func(w *world) {
			ours(w)
			w.pull.Author.Login, w.pull.Files = "dependabot[bot]", []ghtest.File{{Name: check, Status: "modified"}}
		}, "", "a bot's"},
		{"a bot's of a listing and more", func(w *world) {
			ours(w)
			w.pull.Author.Login = "dependabot[bot]"
			w.pull.Files = append(w.pull.Files, ghtest.File{Name: check, Status: "modified"})
		}, taken, "more than listings"},

		{"a forged report in a change of the workflow", func(w *world) {
			w.pull.Files = append(w.pull.Files, ghtest.File{Name: check, Status: "modified"})
		}, "", "more than listings"},
		{"a report that contradicts itself", func(w *world) { w.report.Counts.Warn = 1 }, "", "counts"},
		{"a report of another head", func(w *world) { w.report.Head = base }, "", "the pull request's head is"},
		{"a report of other files", func(w *world) { w.pull.Files[0].Name = "implementations/eve.json" }, "",
			"other files"},
		{"a report of fewer results", func(w *world) { w.report.Omitted = []string{"pass"} }, "", "leaves results out"},
		{"the report of an older run", func(w *world) {
			newer := w.run
			newer.ID, newer.CreatedAt = 6, w.run.CreatedAt.Add(time.Hour)
			w.s.AddRun(newer)
		}, "", "a newer run"},
		{"a run of another file", func(w *world) { w.run.Path = ".github/workflows/other.yml" }, "", "no run of"},
		{"a run of another event", func(w *world) { w.run.Event = "push" }, "", "not started by pull_request"},
		{"a run that failed", func(w *world) { w.run.Conclusion = "failure" }, "", "did not succeed"},
		{"a head that moved", func(w *world) { w.pull.Head = base }, "", "no open pull request"},
		{"two pull requests", func(w *world) {
			w.s.AddPull(ghtest.Pull{Number: 8, State: "open", Head: head, Base: "main", Files: w.pull.Files})
		}, "", "2 open pull requests"},
		{"another base branch", func(w *world) { w.pull.Base = "next" }, "", "default branch"},
		{"a renamed file", func(w *world) {
			w.pull.Files[0] = ghtest.File{Name: nova, Status: "renamed", Previous: "implementations/eve.json"}
		}, "", "more than listings"},
		{"a new listing", func(w *world) { w.pull.Files[0].Status = "added" }, "", "more than listings"},
		{"a file in a folder below", func(w *world) { w.pull.Files[0].Name = "implementations/x/nova.json" }, "",
			"more than listings"},
		{"judged on another branch", func(w *world) { w.report.Base = strings.Repeat("9", 40) }, "",
			"judged it on another branch"},
		{"without a base", func(w *world) { w.report.Base = "" }, "", "does not name the commit of its base"},
		{"a branch for a base", func(w *world) { w.report.Base = "main" }, "", "does not name the commit of its base"},
		{"301 files", func(w *world) { w.pull.Files = slices.Repeat(w.pull.Files, 301) }, "", "301 files"},
		{"no approval", func(w *world) { w.rules = strings.Replace(rules, "count\":1", "count\":0", 1) }, "",
			"review-not-required"},
		{"stale reviews stay", func(w *world) {
			w.rules = strings.Replace(rules, "on_push\":true", "on_push\":false", 1)
		}, "", "review-not-required"},
		{"no approval any more", func(w *world) {
			ours(w)
			w.rules = strings.Replace(rules, "count\":1", "count\":0", 1)
		}, taken, "review-not-required"},
		{"a queue with the job's token", func(w *world) { w.rules = queue }, "", "token-cannot-queue"},
		{"a queue with an app's token", func(w *world) { w.rules, w.login = queue, "merger[bot]" }, enabled, "enabled"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := honest(t)
			t.Cleanup(w.s.Close)
			w.s.Organization = true
			c.edit(w)
			w.s.Grant("token", ghtest.Access{Login: w.login, App: true, Comment: true})
			w.s.AddPull(w.pull)
			w.s.AddRun(w.run)
			w.s.AddCommit(merged, base, head)
			w.s.AddCommit(base)
			w.s.AddRuleset(w.rules)
			client, err := forge.New(forge.Options{BaseURL: w.s.URL, Token: "token", Repository: "acme/registry"})
			must.OK(t, err)
			text := w.text
			if text == nil {
				if text, err = json.Marshal(w.report); err != nil {
					t.Fatal(err)
				}
			}
			said, err := Settle(t.Context(), client, text, w.o)
			if code := remedy.CodeOf(err); err != nil && code == "" {
				t.Fatal(err)
			} else if code != "" {
				said = code
			}
			if !strings.Contains(said, c.says) {
				t.Errorf("said %q, want %q", said, c.says)
			}
			if got := strings.Join(w.s.AutoMerges(), ", "); got != c.changes {
				t.Errorf("changed %q, want %q", got, c.changes)
			}
			for _, request := range w.s.Writes() {
				if request != "POST /graphql" {
					t.Errorf("wrote %s", request)
				}
			}
		})
	}
}

// The head moves after it was read: the forge refuses, and nothing is enabled.
func TestHeadMoves(t *testing.T) {
	w := honest(t)
	defer w.s.Close()
	w.s.Grant("token", ghtest.Access{Login: robot, App: true, Comment: true})
	w.s.AddPull(w.pull)
	client, err := forge.New(forge.Options{BaseURL: w.s.URL, Token: "token", Repository: "acme/registry"})
	must.OK(t, err)
	_, err = enable(t.Context(), client, state{id: "PR_7", method: "SQUASH"}, base)
	if !errors.Is(err, forge.ErrRefused) || len(w.s.AutoMerges()) > 0 {
		t.Errorf("%v, changed %q", err, w.s.AutoMerges())
	}
}
