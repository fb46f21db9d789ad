package governancecmd_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/ghtest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

const rosterText = "## Current Maintainers\n\n| handle | organisation | User Advocate |\n|---|---|---|\n| @ann | A " +
	"| yes |\n" +
	"| @bob | B | |\n| @cyd | C | |\n| @dee | D | |\n"

// small is a specification as a tree.
var small = map[string]string{
	"rfcs/RFC-0001-a.md": "# A\n\nA Tool MUST answer.\n", "rfcs/RFC-0016-c.md": "Memory MUST be kept.\n",
	"spec/v1.0/core.md":         "x\n",
	"schemas/v1.0/a.json":       `{"$id": "https://x.example/schemas/v1.0/a.json", "type": "object"}`,
	"governance/MAINTAINERS.md": rosterText, "CHANGELOG.md": "x\n",
}

// proposed is a clone with a pull request checked out as actions/checkout does it: the merge with a base that moved on.
func proposed(t *testing.T, change map[string]string) (dir, head string) {
	t.Helper()
	repo, err := fixture.NewRepo(t.TempDir())
	must.OK(t, err)
	write := func(files map[string]string) {
		for path, text := range files {
			repo.Write(path, []byte(text))
		}
	}
	at := time.Date(2026, 6, 1, 10, 0, 0, 0, time.UTC)
	write(small)
	repo.Commit("base", at)
	repo.Branch("topic")
	write(change)
	repo.Commit("change", at)
	must.OK(t, repo.Checkout("main"))
	write(map[string]string{"test-suite/late.js": "x"})
	repo.Commit("moved on", at)
	repo.SetRef("refs/remotes/origin/release")
	repo.Branch("merge")
	must.OK(t, repo.Merge("topic"))
	repo.Commit("merge", at)
	must.OK(t, repo.Sync())
	if head, err = repo.RevParse("topic"); err != nil {
		t.Fatal(err)
	}
	return repo.Dir, head
}

// actionRun is one run of the Action in mode governance.
type actionRun struct {
	event, body, opener string
	labels              []string
	commits             int
	inputs              map[string]string
	token               string
}

// run gives the exit status, the log, the outputs, and the codes of the report by severity.
func (a actionRun) run(t *testing.T, dir, head string,
	forge *ghtest.Server) (code int, log string, outputs map[string]string, codes []string) {
	t.Helper()
	out := t.TempDir()
	var labels []map[string]string
	for _, l := range a.labels {
		labels = append(labels, map[string]string{"name": l})
	}
	payload := must.Get(json.Marshal(map[string]any{"pull_request": map[string]any{"number": 7, "body": a.body,
		"labels": labels, "commits": a.commits,
		"user": map[string]string{"login": a.opener}, "head": map[string]string{"sha": head},
		"base": map[string]string{"ref": "release", "sha": "ba5e"}},
		"repository": map[string]string{"default_branch": "main"}}))(t)
	must.OK(t, os.WriteFile(filepath.Join(out, "event.json"), payload, 0o644))
	env := map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_ACTION": "gate", "GITHUB_EVENT_NAME": a.event,
		"GITHUB_EVENT_PATH": filepath.Join(out, "event.json"), "GITHUB_WORKSPACE": dir,
		"GITHUB_REPOSITORY": "acme/spec",
		"GITHUB_API_URL":    forge.URL, "GITHUB_TOKEN": a.token, "GITHUB_OUTPUT": filepath.Join(out, "output"),
		"GITHUB_STEP_SUMMARY": filepath.Join(out, "summary"), "INPUT_MODE": "governance", "INPUT_PATH": dir,
		"INPUT_REPORT": "json=" + filepath.Join(out, "report.json")}
	for name, value := range a.inputs {
		env["INPUT_"+strings.ToUpper(name)] = value
	}
	var text bytes.Buffer
	code = clitest.Main([]string{clitest.ProgramOf(env["INPUT_MODE"])}, frame.IO{Stdout: &text, Stderr: &text,
		Getenv: func(name string) string { return env[name] }})
	written, err := os.ReadFile(env["GITHUB_OUTPUT"])
	if err != nil {
		t.Fatalf("%v after\n%s", err, text.String())
	}
	var rep verdict.Report
	must.OK(t, json.Unmarshal(must.Read(t, filepath.Join(out, "report.json")), &rep))
	for r := range rep.Results.All() {
		for _, f := range r.Findings {
			codes = append(codes, f.Severity.String()+" "+f.Code)
		}
	}
	slices.Sort(codes)
	outputs, err = ghtest.Outputs(string(written))
	must.OK(t, err)
	return code, text.String(), outputs, codes
}

func approval(login, commit string) string {
	return fmt.Sprintf(
		`{"user": {"login": %q, "type": "User"}, "state": "APPROVED", "body": "Charter Review Gate cleared",
		"commit_id": %q, "submitted_at": "2026-06-01T10:00:00Z", "author_association": "MEMBER"}`, login, commit)
}

// TestGovernanceAction runs the Action on a pull request, with a forge that has its reviews on several pages.
func TestGovernanceAction(t *testing.T) {
	charter := map[string]string{"rfcs/RFC-0016-c.md": "Memory MUST be shown.\n", "reference/c.js": "c",
		"CHANGELOG.md": "y"}
	editorial := map[string]string{"rfcs/RFC-0001-a.md": "# The A\n\nA Tool MUST answer.\n"}
	field := map[string]string{"schemas/v1.0/a.json": strings.Replace(small["schemas/v1.0/a.json"], "}", `,
		"properties": {"n": true}}`, 1),
		"test-suite/n.js": "n", "CHANGELOG.md": "y"}
	const claimed = "Implementability Gate exception: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15"
	for _, c := range []struct {
		name    string
		change  map[string]string
		run     actionRun
		forge   func(s *ghtest.Server, head string)
		code    int
		outputs map[string]string
		codes   []string
	}{
		{"cleared", charter, actionRun{event: "pull_request_review"}, nil, 0,
			map[string]string{"verdict": "pass", "charter": "true", "exception": "false", "complete": "true"}, nil},
		{"an author", charter, actionRun{event: "pull_request"},
			func(s *ghtest.Server, _ string) { s.AddPullCommit(7, "", "DEE") }, 1,
			map[string]string{"verdict": "fail", "failed-checks": "charter-review"},
			[]string{"error quorum", "warning own-approval"}},
		{"the opener", charter, actionRun{event: "pull_request", opener: "Bob"}, nil, 1,
			map[string]string{"charter": "true"},
			[]string{"error quorum", "warning own-approval"}},
		{"an objection on the last page", charter, actionRun{event: "pull_request"},
			func(s *ghtest.Server, head string) {
				s.AddReview(7, strings.Replace(strings.Replace(approval("ann", head), "APPROVED", "CHANGES_REQUESTED",
					1), "T10", "T11", 1))
			}, 1, nil, []string{"error objection", "error quorum", "error user-advocate-missing"}},
		{"a rate limit", charter, actionRun{event: "pull_request"}, func(s *ghtest.Server, _ string) {
			s.Fail(ghtest.Failure{Path: "/repos/acme/spec/pulls/7/reviews", Status: 403,
				Message: "API rate limit exceeded",
				Header:  map[string]string{"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "4102444800"}})
		}, 3, map[string]string{"verdict": "inconclusive", "charter": "true"},
			[]string{"inconclusive reviews-unknown"}},
		{"a page that fails", charter, actionRun{event: "pull_request"}, func(s *ghtest.Server, _ string) {
			s.Fail(ghtest.Failure{Path: "/repos/acme/spec/pulls/7/commits", Status: 502, Message: "bad gateway"})
		}, 3, map[string]string{"verdict": "inconclusive"}, []string{"inconclusive authors-unknown"}},
		{"an author that the forge does not list", charter, actionRun{event: "pull_request", commits: 251},
			func(s *ghtest.Server, _ string) {
				s.PageCap = 0
				for range 249 {
					s.AddPullCommit(7, "mia", "web-flow")
				}
				s.AddPullCommit(7, "dee", "web-flow")
			}, 1, map[string]string{"verdict": "fail"}, []string{"error quorum", "warning own-approval"}},
		{"as many commits as the forge lists", charter, actionRun{event: "pull_request"},
			func(s *ghtest.Server, _ string) {
				s.PageCap = 0
				for range 250 {
					s.AddPullCommit(7, "mia", "dee")
				}
			}, 1, map[string]string{"verdict": "fail"}, []string{"error quorum", "warning own-approval"}},
		{"fewer commits than the event counts", charter, actionRun{event: "pull_request", commits: 2}, nil, 3,
			map[string]string{"verdict": "inconclusive"}, []string{"inconclusive authors-unknown"}},
		{"a token that is not known", charter, actionRun{event: "pull_request", token: "other"}, nil, 3,
			map[string]string{"verdict": "inconclusive"}, []string{"inconclusive reviews-unknown"}},
		{"offline", charter, actionRun{event: "pull_request", inputs: map[string]string{"offline": "true"}}, nil, 3,
			map[string]string{"charter": "true", "complete": "false"}, []string{"inconclusive reviews-unknown"}},
		{"the forge is not asked for nothing", map[string]string{"papers/x.md": "x"}, actionRun{event: "pull_request",
			token: "other"}, nil, 0, map[string]string{"verdict": "pass", "charter": "false"}, nil},
		{"an unknown token and no right", field, actionRun{event: "pull_request",
			body: "additive only", token: "other"}, nil, 0,
			map[string]string{"verdict": "pass", "charter": "false"}, []string{"notice additive"}},
		{"undeclared", field, actionRun{event: "pull_request"}, nil, 1, nil,
			[]string{"error additive-undeclared", "notice additive"}},
		{"a label", field, actionRun{event: "pull_request", body: "additive only",
			labels: []string{"charter-affecting"}}, nil, 0,
			map[string]string{"charter": "true"}, []string{"notice additive"}},
		{"a label of an issue", field, actionRun{event: "pull_request", body: "additive only; closes #3, fixes #4"},
			func(s *ghtest.Server, _ string) { s.SetLabels(4, "charter-affecting") }, 0,
			map[string]string{"charter": "true"},
			[]string{"notice additive"}},
		{"an exception", editorial, actionRun{event: "pull_request", body: claimed}, nil, 0,
			map[string]string{"verdict": "pass",
				"exception": "true", "charter": "false"}, []string{"notice exception-granted"}},
		{"an exception that two grant", editorial, actionRun{event: "pull_request", body: claimed},
			func(s *ghtest.Server, head string) {
				for _, login := range []string{"ann", "bob"} {
					s.AddReview(7, strings.Replace(strings.Replace(approval(login, head), "APPROVED", "DISMISSED", 1),
						"T10", "T11", 1))
				}
			}, 1, map[string]string{"exception": "false"},
			[]string{"error two-thirds", "warning default-quorum", "warning no-changelog"}},
		{"evidence that the base brought", map[string]string{"rfcs/RFC-0001-a.md": "A Tool MUST wait.\n",
			"CHANGELOG.md": "y"},
			actionRun{event: "pull_request"}, nil, 1, map[string]string{"failed-checks": "implementability"},
			[]string{"error no-evidence"}},
		{"one gate", charter, actionRun{event: "pull_request", inputs: map[string]string{"checks": "changelog"}}, nil,
			0,
			map[string]string{"complete": "false"}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir, head := proposed(t, c.change)
			s := ghtest.Start("acme", "spec")
			defer s.Close()
			s.PageCap = 1
			s.Grant("job", ghtest.Access{Login: "job", App: true})
			s.AddPull(ghtest.Pull{Number: 7, State: "open", Head: head})
			for _, login := range []string{"ann", "bob", "cyd", "dee"} {
				s.AddReview(7, approval(login, head))
			}
			s.AddPullCommit(7, "mia", "web-flow")
			if c.forge != nil {
				c.forge(s, head)
			}
			if c.run.token == "" {
				c.run.token = "job"
			}
			if c.run.opener == "" {
				c.run.opener = "mia"
			}
			code, log, outputs, codes := c.run.run(t, dir, head, s)
			if code != c.code || !slices.Equal(codes, c.codes) {
				t.Errorf("exit status %d, codes %q; want %d, %q\n%s", code, codes, c.code, c.codes, log)
			}
			for name, value := range c.outputs {
				if outputs[name] != value {
					t.Errorf("output %s is %q, want %q", name, outputs[name], value)
				}
			}
			if strings.Contains(c.name, "asked for nothing") && s.Requests() != nil {
				t.Errorf("asked %q", s.Requests())
			}
		})
	}
}

// TestGovernanceEvents checks which events the Action takes, and that an unknown mode is none.
func TestGovernanceEvents(t *testing.T) {
	dir, head := proposed(t, map[string]string{"papers/x.md": "x"})
	s := ghtest.Start("acme", "spec")
	defer s.Close()
	for _, c := range []struct {
		event  string
		inputs map[string]string
		code   int
		want   string
	}{
		{"pull_request", nil, 0, "first parent of the merge commit"},
		{"pull_request_review", nil, 0, "first parent of the merge commit"},
		{"pull_request_target", nil, 2, "runs with the base repository's rights"},
		{"pull_request_target", map[string]string{"allow-pull-request-target": "true"}, 0,
			"first parent of the merge commit"},
		{"schedule", nil, 2, "names no range"},
		{"issue_comment", nil, 2, "names no range"},
		{"pull_request", map[string]string{"mode": "governence"}, 2, `input mode "governence" is not known`},
		{"pull_request", map[string]string{"checks": "layout"}, 2, "layout"},
		{"pull_request_review", map[string]string{"mode": ""}, 2, "names no range"},
	} {
		code, log, _, _ := actionRun{event: c.event, inputs: c.inputs, token: ""}.run(t, dir, head, s)
		if code != c.code || !strings.Contains(log, c.want) {
			t.Errorf("%s %v: exit status %d, want %d and %q\n%s", c.event, c.inputs, code, c.code, c.want, log)
		}
	}
}

// TestGovernanceUsage checks what is refused, and that the message says how to mend it.
func TestGovernanceUsage(t *testing.T) {
	dir, head := proposed(t, map[string]string{"papers/x.md": "x"})
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "file")
		must.OK(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	empty := must.Get(fixture.NewRepo(t.TempDir()))(t)
	empty.Write("x", []byte("x"))
	empty.Commit("x", time.Unix(0, 0))
	must.OK(t, empty.Sync())
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--base", "main", "--head", "topic"}, 0, "base "},
		{[]string{"--base", "main", "--worktree"}, 0, "head the files on disk"},
		{[]string{"--base", "main", "--head", "topic", "--worktree"}, 2, "exclude one another"},
		{[]string{"--each", "--body", "x"}, 2, "--body is about one pull request"},
		{[]string{"--each", "--forge"}, 2, "--forge is about one pull request"},
		{[]string{"--only", "layout"}, 2, "layout"},
		{[]string{"--only", "charter-reviews"}, 2, "did you mean charter-review"},
		{[]string{"--exception", "deny"}, 2, "two thirds of the Maintainers grant"},
		{[]string{"--at", "yesterday"}, 2, "--at"},
		{[]string{"--base", "main", "--head", "topic", "--body", "/nowhere"}, 2, "reading --body"},
		{[]string{"--base", "main", "--head", "topic", "--body", file(strings.Repeat("x", 1<<20+1))}, 2,
			"it exceeds 1 MiB"},
		{[]string{"--base", "main", "--head", "topic", "--pr", file("{}")}, 2, "has no pull request"},
		{[]string{"--base", "main", "--head", "topic", "--pr", file(`{"pull_request": 1, "pull_request": 2}`)}, 2,
			"pull_request"},
		{[]string{"--base", "main", "--head", "topic", "--pr",
			file(`{"pull_request": {"head": {"sha": "` + strings.Repeat("1", 40) + `"}}}`)}, 2,
			"which is neither that nor its merge"},
		{[]string{"--base", "main", "--head", "topic", "--pr", file(`{"pull_request": {"head": {"sha": "` + head +
			`"}}}`)}, 0, "base "},
		{[]string{"--base", "main", "--head", "topic", "--reviews", file("{}")}, 2, "an array of reviews"},
		{[]string{"--base", "main", "--head", "topic", "--forge"}, 2, "the pull request's number is not known"},
		{[]string{"--base", "main", "--head", "main"}, 0, "pass: nothing was judged"},
		{[]string{"--repo", empty.Dir, "--base", "HEAD", "--head", "HEAD"}, 2, "no OAP specification here"},
		{[]string{"--repo", empty.Dir, "--each"}, 2, "no OAP specification here"},
	} {
		var out bytes.Buffer
		args := c.args
		if !slices.Contains(args, "--repo") {
			args = append([]string{"--repo", dir}, args...)
		}
		code := clitest.Main(append([]string{"oap-spec", "governance"}, args...), frame.IO{Stdout: &out, Stderr: &out,
			Getenv: clitest.NoEnvironment})
		if code != c.code || !strings.Contains(out.String(), c.want) || code == 2 &&
			!strings.Contains(out.String(), "fix: ") {
			t.Errorf("%q: exit status %d, want %d and %q\n%s", c.args, code, c.code, c.want, out.String())
		}
	}
}
