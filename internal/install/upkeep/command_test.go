package upkeep

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/forge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/ghtest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// A comment /rerun repeats the failed jobs of the newest run for the head, within limits.
func TestCommand(t *testing.T) {
	const head, check = "1111111111111111111111111111111111111111", ".github/workflows/check.yml"
	const byAuthor = `{"action":"created","issue":{"number":7,"user":{"id":70},"pull_request":{}},` +
		`"comment":{"body":"/rerun","user":{"id":70},"author_association":"NONE"}}`
	now := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	edited := func(old, new string) string { return strings.Replace(byAuthor, old, new, 1) }
	for _, c := range []struct {
		name, event string
		edit        func(*ghtest.Pull, *ghtest.Run)
		says        string // empty: the run is repeated
	}{
		{"the author of a fork's pull request", byAuthor, nil, ""},
		{"a member", edited(`"user":{"id":70},"author_association":"NONE"`,
			`"user":{"id":1},"author_association":"MEMBER"`), nil, ""},
		{"cancelled, at the tenth attempt", byAuthor, func(_ *ghtest.Pull, r *ghtest.Run) {
			r.Conclusion, r.Attempt = "cancelled", 10
		}, ""},
		{"a stranger", edited(`"user":{"id":70},"author`, `"user":{"id":71},"author`), nil, "neither by the author"},
		{"no ids", edited(`"user":{"id":70},"pull`, `"pull`), nil, "neither by the author"},
		{"another text", edited("/rerun", "/rerun now"), nil, "not /rerun"},
		{"an edited comment", edited("created", "edited"), nil, "not /rerun"},
		{"an issue", edited(`,"pull_request":{}`, ""), nil, "not on a pull request"},
		{"no number", edited(`"number":7`, `"number":"x"`), nil, "not on a pull request"},
		{"9 minutes", byAuthor, func(_ *ghtest.Pull, r *ghtest.Run) { r.Updated = now.Add(-9 * time.Minute) },
			"less than 10 minutes"},
		{"11 attempts", byAuthor, func(_ *ghtest.Pull, r *ghtest.Run) { r.Attempt = 11 }, "11 times"},
		{"29 days", byAuthor, func(_ *ghtest.Pull, r *ghtest.Run) { r.CreatedAt = now.Add(-29 * 24 * time.Hour) },
			"28 days"},
		{"the base moved", byAuthor, func(_ *ghtest.Pull, r *ghtest.Run) { r.CreatedAt = now.Add(-3 * time.Hour) },
			"moved after the newest run"},
		{"waits for approval", byAuthor, func(_ *ghtest.Pull, r *ghtest.Run) { r.Conclusion = "action_required" },
			"has not failed"},
		{"passed", byAuthor, func(_ *ghtest.Pull, r *ghtest.Run) { r.Conclusion = "success" }, "has not failed"},
		{"runs", byAuthor, func(_ *ghtest.Pull, r *ghtest.Run) { r.Status = "in_progress" }, "has not ended"},
		{"an older head", byAuthor, func(p *ghtest.Pull, _ *ghtest.Run) { p.Head = strings.Repeat("2", 40) },
			"no run of"},
		{"another workflow", byAuthor, func(_ *ghtest.Pull, r *ghtest.Run) { r.Path = ".github/workflows/x.yml" },
			"no run of"},
		{"another event", byAuthor, func(_ *ghtest.Pull, r *ghtest.Run) { r.Event = "push" }, "no run of"},
		{"a change of .github/", byAuthor, func(p *ghtest.Pull, _ *ghtest.Run) {
			p.Files = append(p.Files, ghtest.File{Name: check, Status: "modified"})
		}, "changes .github/"},
		{"a file out of .github/", byAuthor, func(p *ghtest.Pull, _ *ghtest.Run) {
			p.Files = append(p.Files, ghtest.File{Name: "x.yml", Status: "renamed", Previous: check})
		}, "changes .github/"},
		{"3000 files", byAuthor, func(p *ghtest.Pull, _ *ghtest.Run) { p.Files = slices.Repeat(p.Files, maxListed) },
			"3000 files or more"},
		{"closed", byAuthor, func(p *ghtest.Pull, _ *ghtest.Run) { p.State = "closed" }, "is closed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := ghtest.Start("acme", "registry")
			defer s.Close()
			s.SetTip(now.Add(-2 * time.Hour))
			s.Grant("token", ghtest.Access{Login: "github-actions[bot]", App: true, Comment: true})
			p := ghtest.Pull{Number: 7, State: "open", Head: head, HeadRepo: "contributor/registry", Base: "main",
				Files: []ghtest.File{{Name: "implementations/nova.json", Status: "added"}}}
			r := ghtest.Run{ID: 5, Path: check, Event: "pull_request", Head: head, Status: "completed",
				Conclusion: "failure", Attempt: 1, CreatedAt: now.Add(-time.Hour), Updated: now.Add(-10 * time.Minute)}
			if c.edit != nil {
				c.edit(&p, &r)
			}
			s.AddPull(p)
			s.AddRun(r)
			client := must.Get(forge.New(forge.Options{BaseURL: s.URL, Token: "token", Repository: "acme/registry"}))(t)
			event := must.Get(strict.Parse("event.json", []byte(c.event), strict.RegistryFile))(t)
			plan := must.Get(Command(t.Context(), client, RerunOptions{Now: now, Workflow: check}, event.Root))(t)
			var paths, want []string
			for _, change := range plan.Changes {
				paths = append(paths, change.Method+" "+change.Path)
			}
			if c.says == "" {
				want = []string{"POST actions/runs/5/rerun-failed-jobs"}
			}
			if !slices.Equal(paths, want) || !strings.Contains(plan.Looked, c.says) {
				t.Errorf("changes %q, %q; want %q, %q", paths, plan.Looked, want, c.says)
			}
		})
	}
}
