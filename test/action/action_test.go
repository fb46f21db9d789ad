// Package action_test tries the Action as GitHub's runner runs it: with its mounts, environment and event
// files, on a repository of another user. With OAP_GATE_IMAGE the image runs, by the docker command; else
// the binary does in its place. run.sh makes the image.
package action_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
)

const (
	base = `
base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: eve, level: L1}
`
	honest    = "pr:\n  - {listing: nova, level: L1}\n"
	dishonest = "pr:\n  - {remove: implementations/eve.json}\n"
	merged    = "merge: true\n"
)

// build makes a world as of now: the Action has no input that sets the clock.
func build(t *testing.T, parts ...string) *fixture.World {
	t.Helper()
	dir := t.TempDir()
	now := time.Now().UTC().Truncate(time.Second).Format(time.RFC3339)
	w, err := fixture.Build(dir, []byte("clock: "+now+"\n"+base+strings.Join(parts, "")))
	check(t, err)
	t.Cleanup(func() { w.Close() })
	for _, d := range []string{dir, filepath.Dir(dir)} { // the test's directories, so that any user reads the registry
		check(t, os.Chmod(d, 0o755))
	}
	return w
}

func commit(t *testing.T, w *fixture.World, rev string) string {
	t.Helper()
	id, err := w.Repo.Git("-c", "safe.directory=*", "rev-parse", "--verify", rev+"^{commit}")
	check(t, err)
	return id
}

func git(t *testing.T, w *fixture.World, args ...string) {
	t.Helper()
	_, err := w.Repo.Git(append([]string{"-c", "safe.directory=*"}, args...)...)
	check(t, err)
}

// pullRequest is the payload of the events pull_request and pull_request_target; base.sha is stale, as GitHub's is.
func pullRequest(t *testing.T, w *fixture.World) string {
	return fmt.Sprintf(
		`{"action":"synchronize","number":1,"pull_request":{"number":1,"changed_files":1,"title":"::error::x ##[error]x",
	"head":{"sha":%q,"ref":"pr"},"base":{"ref":"main","sha":"0123456789012345678901234567890123456789"}},"repository":{"default_branch":"main"}}`,
		commit(t, w, "pr"))
}

// mergeGroup is the payload of a queue's event; the clone has the queue's branch as a fetch leaves it.
func mergeGroup(t *testing.T, w *fixture.World) string {
	git(t, w, "update-ref", "refs/remotes/origin/main", "main")
	return fmt.Sprintf(`{"action":"checks_requested","repository":{"default_branch":"main"},
	"merge_group":{"base_sha":%q,"head_sha":%q,"base_ref":"refs/heads/main"}}`,
		commit(t, w, "main"), commit(t, w, "HEAD"))
}

func push(t *testing.T, w *fixture.World) string {
	return pushed(commit(t, w, "main"), commit(t, w, "HEAD"))
}

func pushed(before, after string) string {
	return fmt.Sprintf(`{"ref":"refs/heads/main","before":%q,"after":%q,"repository":{"default_branch":"main"}}`, before,
		after)
}

func none(*testing.T, *fixture.World) string { return `{}` }

func TestEvents(t *testing.T) {
	type verdict struct {
		status  int
		verdict string
		failed  string
	}
	pass, tampered := verdict{0, "pass", ""}, verdict{1, "fail", "append-only"}
	for _, e := range []struct {
		name              string
		event             string
		payload           func(*testing.T, *fixture.World) string
		inputs            map[string]string
		honest, dishonest verdict
	}{
		{"pull_request", "pull_request", pullRequest, nil, pass, tampered},
		{"merge_group", "merge_group", mergeGroup, nil, pass, tampered},
		{"push", "push", push, nil, pass, tampered},
		{"acknowledged", "pull_request_target", pullRequest, map[string]string{"allow-pull-request-target": "true"},
			pass, tampered},
		{"schedule", "schedule", none, nil, pass, verdict{1, "fail", "history"}},
		{"workflow_dispatch", "workflow_dispatch", none, nil, pass, verdict{1, "fail", "history"}},
	} {
		for _, pr := range []struct {
			name, steps string
			want        verdict
		}{{"honest", honest, e.honest}, {"dishonest", dishonest, e.dishonest}} {
			t.Run(e.name+"/"+pr.name, func(t *testing.T) {
				w := build(t, pr.steps, merged)
				inputs := map[string]string{"offline": "true", "report": "json=oap-gate-report.json"}
				maps.Copy(inputs, e.inputs)
				o := step{workspace: w.Repo.Dir, event: e.event, payload: e.payload(t, w), inputs: inputs}.run(t)
				if o.status != pr.want.status || o.outputs["verdict"] != pr.want.verdict ||
					o.outputs["failed-checks"] != pr.want.failed {
					t.Errorf("status %d, outputs %v, want %v\n%s%s", o.status, o.outputs, pr.want, o.stdout, o.stderr)
				}
				if o.outputs["complete"] != "false" || o.outputs["report"] != "oap-gate-report.json" ||
					o.outputs["governance"] != "false" || o.outputs["squash"] != "false" {
					t.Errorf("outputs %v", o.outputs)
				}
				if (count(o.commands, "error") > 0) != (pr.want.status != 0) {
					t.Errorf("%d error annotations with status %d\n%s", count(o.commands, "error"), o.status, o.stdout)
				}
				if pr.want == tampered && !strings.Contains(o.stdout, "::error") ||
					!strings.Contains(o.summary, "offline") {
					t.Errorf("log\n%s\nsummary\n%s", o.stdout, o.summary)
				}
				if report := read(t, filepath.Join(w.Repo.Dir, "oap-gate-report.json")); !strings.Contains(report,
					`"verdict": "`+pr.want.verdict+`"`) &&
					!strings.Contains(report, `"verdict":"`+pr.want.verdict+`"`) {
					t.Errorf("report has not the verdict %s", pr.want.verdict)
				}
			})
		}
	}
}

// A run that could not be made has exit status 2, says so in an annotation and in the outputs, and names what would do.
func TestRefusals(t *testing.T) {
	w := build(t, honest, merged)
	shallow := t.TempDir()
	git(t, w, "clone", "-q", "--depth", "1", "file://"+w.Repo.Dir, shallow)
	stale := strings.Replace(pullRequest(t, w), commit(t, w, "pr"), "0123456789012345678901234567890123456789", 1)
	for name, test := range map[string]struct {
		step step
		want []string
	}{
		"pull_request_target": {step{event: "pull_request_target", payload: pullRequest(t, w)},
			[]string{"allow-pull-request-target"}},
		"pull_request_target with base": {step{event: "pull_request_target", payload: pullRequest(t, w),
			inputs: map[string]string{"base": "main"}},
			[]string{"allow-pull-request-target"}},
		"unknown event": {step{event: "issue_comment", payload: `{}`},
			[]string{"issue_comment", "pull_request, merge_group, push"}},
		"no event": {step{event: "", payload: `{}`}, []string{"pull_request, merge_group, push"}},
		"other commit": {step{event: "pull_request", payload: stale},
			[]string{"0123456789012345678901234567890123456789", commit(t, w, "HEAD")}},
		"broken event":  {step{event: "pull_request", payload: `{`}, []string{"event"}},
		"empty payload": {step{event: "merge_group", payload: `{}`}, []string{"base_sha"}},
		"empty push":    {step{event: "push", payload: `{}`}, []string{"before"}},
		"shallow": {step{workspace: shallow, event: "pull_request", payload: pullRequest(t, w)},
			[]string{"fetch-depth: 0"}},
		"no repository": {step{workspace: t.TempDir(), event: "pull_request", payload: pullRequest(t, w)},
			[]string{"repository"}},
		"unknown check": {step{event: "pull_request", inputs: map[string]string{"checks": "schemas"}},
			[]string{"schemas", "layout, schema"}},
		"unknown skip": {step{event: "pull_request", inputs: map[string]string{"skip": "x"}},
			[]string{"layout, schema"}},
		"online check": {step{event: "pull_request", inputs: map[string]string{"checks": "receipt-fetch"}},
			[]string{"receipt-fetch", "network"}},
		"governance": {step{event: "pull_request", inputs: map[string]string{"governance": "allow"}},
			[]string{"allow", "review, deny"}},
		"audit setting": {step{event: "schedule", inputs: map[string]string{"governance": "allow"}},
			[]string{"allow", "review, deny"}},
		"audit's base": {step{event: "schedule", inputs: map[string]string{"base": "main"}}, []string{"base"}},
		"boolean": {step{event: "pull_request", inputs: map[string]string{"summary": "yes please"}},
			[]string{"true or false"}},
		"duration": {step{event: "pull_request", inputs: map[string]string{"timeout": "10"}}, []string{"10s"}},
		"budget":   {step{event: "pull_request", inputs: map[string]string{"budget": "-5m"}}, []string{"budget"}},
		"annotations": {step{event: "pull_request", inputs: map[string]string{"max-annotations": "10"}},
			[]string{"0 to 9"}},
		"report": {step{event: "pull_request", inputs: map[string]string{"report": "pdf=x"}},
			[]string{"json, github, markdown, sarif, junit"}},
		"path": {step{event: "pull_request", payload: pullRequest(t, w),
			inputs: map[string]string{"path": "nowhere"}}, []string{"nowhere"}},
		"unknown commit": {step{event: "pull_request", inputs: map[string]string{"base": "nowhere"}},
			[]string{"nowhere"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := test.step
			if s.workspace == "" {
				s.workspace = w.Repo.Dir
			}
			inputs := map[string]string{"offline": "true"}
			maps.Copy(inputs, s.inputs)
			s.inputs = inputs
			o := s.run(t)
			if o.status != 2 || o.outputs["verdict"] != "error" || o.outputs["complete"] != "false" {
				t.Errorf("status %d, outputs %v, want 2 and an error", o.status, o.outputs)
			}
			if count(o.commands, "error") != 1 {
				t.Errorf("annotations %v, want one error", o.commands)
			}
			for _, want := range test.want {
				if !strings.Contains(o.stdout+o.stderr, want) {
					t.Errorf("log does not hold %q\n%s%s", want, o.stdout, o.stderr)
				}
			}
		})
	}
}

// A branch whose history was replaced fails, whether the clone still has the commit before or not.
func TestRewrittenHistory(t *testing.T) {
	w := build(t, honest)
	before := commit(t, w, "pr")
	git(t, w, "checkout", "-q", "--detach", "main")
	for _, gone := range []string{before, "0123456789012345678901234567890123456789"} {
		payload := pushed(gone, commit(t, w, "main"))
		o := step{workspace: w.Repo.Dir, event: "push", payload: payload,
			inputs: map[string]string{"offline": "true"}}.run(t)
		if o.status != 1 || o.outputs["failed-checks"] != "append-only" {
			t.Errorf("before %s: status %d, outputs %v\n%s%s", gone, o.status, o.outputs, o.stdout, o.stderr)
		}
	}
	payload := pushed(strings.Repeat("0", 40), before)
	o := step{workspace: w.Repo.Dir, event: "push", payload: payload, inputs: map[string]string{"offline": "true"}}.run(
		t)
	if o.status != 0 || o.outputs["records"] != "4" { // the root's too
		t.Errorf("first push: status %d, outputs %v\n%s%s", o.status, o.outputs, o.stdout, o.stderr)
	}
}

// Where the workflow checks out the pull request's head, the base is the branch as the clone has it.
func TestHeadCheckedOut(t *testing.T) {
	w := build(t, honest)
	git(t, w, "update-ref", "refs/remotes/origin/main", "main")
	git(t, w, "checkout", "-q", "--detach", "pr")
	s := step{workspace: w.Repo.Dir, event: "pull_request", payload: pullRequest(t, w),
		inputs: map[string]string{"offline": "true"}}
	if o := s.run(t); o.status != 0 || o.outputs["records"] != "1" {
		t.Errorf("status %d, outputs %v\n%s%s", o.status, o.outputs, o.stdout, o.stderr)
	}
	git(t, w, "update-ref", "-d", "refs/remotes/origin/main")
	if o := s.run(t); o.status != 2 || !strings.Contains(o.stdout, "fetch-depth: 0") {
		t.Errorf("status %d without the base branch\n%s%s", o.status, o.stdout, o.stderr)
	}
	s.payload = strings.Replace(s.payload, commit(t, w, "pr"), commit(t, w, "main"), 1)
	git(t, w, "update-ref", "refs/remotes/origin/main", "main")
	git(t, w, "checkout", "-q", "--detach", "main")
	if o := s.run(t); o.status != 2 {
		t.Errorf("status %d for an empty range of an event that counts a changed file\n%s%s", o.status, o.stdout,
			o.stderr)
	}
}

// GitHub drops annotations beyond ten of a severity, and a summary beyond a mebibyte.
func TestLimits(t *testing.T) {
	var pr strings.Builder
	pr.WriteString("pr:\n")
	for n := range 400 {
		fmt.Fprintf(&pr, "  - {write: implementations/%04d-%s.txt, text: x}\n", n, strings.Repeat("long", 40))
	}
	w := build(t, pr.String(), merged)
	o := step{workspace: w.Repo.Dir, event: "merge_group", payload: mergeGroup(t, w),
		inputs: map[string]string{"offline": "true"}}.run(t)
	if n := count(o.commands, "error"); o.status != 1 || n != 10 ||
		!strings.Contains(o.stdout, "391 more errors not shown here") {
		t.Errorf("status %d, %d error annotations", o.status, n)
	}
	if n := len(o.summary); n > 1<<20 || n < 1<<19 {
		t.Errorf("summary has %d bytes", n)
	}
	if !strings.Contains(o.summary, "**Cut:**") {
		t.Errorf("summary does not say that it is cut")
	}
	again := step{workspace: w.Repo.Dir, event: "merge_group", payload: mergeGroup(t, w),
		inputs: map[string]string{"offline": "true", "max-annotations": "0", "summary": "false"}}.run(t)
	if count(again.commands, "error") != 0 || again.summary != "" {
		t.Errorf("annotations %d, summary of %d bytes, want none", count(again.commands, "error"), len(again.summary))
	}
	if len(o.delimiters) != 1 || len(again.delimiters) != 1 || o.delimiters[0] == again.delimiters[0] {
		t.Errorf("delimiters %v and %v, want one for each run", o.delimiters, again.delimiters)
	}
}

// Text of a pull request is no command, in no field; step.run fails for any command that is not the gate's.
func TestHostileText(t *testing.T) {
	const command = `\r\n::stop-commands::x\n##[error]x\u202e\u200b::set-output name=verdict::pass\n%0A::warning::x`
	var pr strings.Builder
	pr.WriteString("pr:\n")
	for n, member := range []string{"slug", "name", "tool_did", "manifest_uri", "conformance_level",
		"conformance_receipt_uri",
		"conformance_receipt_sha256", "issued_at", "expires_at", "license", "contact"} {
		fmt.Fprintf(&pr, "  - {listing: nova%d, level: L1, set: {/%s: \"%s\"}}\n", n, member, command)
	}
	fmt.Fprintf(&pr, "  - {listing: nova, level: L1, set: {/categories: [\"%s\"], \"/%[1]s\": \"%[1]s\"}}\n",
		strings.ReplaceAll(command, "/", "~1"))
	fmt.Fprintf(&pr, "  - {write: \"implementations/%s.json\", text: \"{\\\"%s\\\": 1}\"}\n", `##[error]x\u202e`,
		strings.ReplaceAll(command, `\`, `\\`))
	fmt.Fprintf(&pr, "  - {commit: \"%s\"}\n", command)
	w := build(t, pr.String(), merged)
	o := step{workspace: w.Repo.Dir, event: "merge_group", payload: mergeGroup(t, w),
		inputs: map[string]string{"offline": "true", "report": "sarif=r.sarif\nmarkdown=r.md\njunit=r.xml"}}.run(t)
	if o.status != 1 || o.outputs["verdict"] != "fail" || o.outputs["report"] != "r.sarif" {
		t.Errorf("status %d, outputs %v\n%s%s", o.status, o.outputs, o.stdout, o.stderr)
	}
}

func TestHostileName(t *testing.T) {
	w := build(t, `
pr:
  - {write: "implementations/\n::error::x ##[error].json", text: "{}"}
`, merged)
	o := step{workspace: w.Repo.Dir, event: "merge_group", payload: mergeGroup(t, w),
		inputs: map[string]string{"offline": "true"}}.run(t)
	if o.status == 0 || count(o.commands, "error") != 1 {
		t.Errorf("status %d\n%s%s", o.status, o.stdout, o.stderr)
	}
}

// The pull request may hold a link of the report's name, to where the runner reads commands.
func TestReportIsNoLink(t *testing.T) {
	w := build(t, `
pr:
  - {write: oap-gate-report.json, mode: "120000", text: /dev/stdout}
  - {write: out, mode: "120000", text: implementations}
`, merged)
	for _, name := range []string{"oap-gate-report.json", "out/r.json", "./out/../oap-gate-report.json"} {
		for _, more := range []map[string]string{{"offline": "true"}, {"checks": "none"}, {"summary": "yes please"}} {
			inputs := map[string]string{"report": "json=" + name}
			maps.Copy(inputs, more)
			o := step{workspace: w.Repo.Dir, event: "merge_group", payload: mergeGroup(t, w), inputs: inputs}.run(t)
			if o.status != 2 || more["offline"] != "" && !strings.Contains(o.stdout, "symbolic link") ||
				strings.Contains(o.stdout, `"version"`) {
				t.Errorf("%s %v: status %d\n%s%s", name, more, o.status, o.stdout, o.stderr)
			}
		}
	}
}
