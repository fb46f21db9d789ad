package installcmd_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/ghtest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestForgeCommands runs comment, doctor and protect through the real main against a forge on loopback.
func TestForgeCommands(t *testing.T) {
	forge := ghtest.Start("acme", "registry")
	defer forge.Close()
	head := strings.Repeat("1", 40)
	forge.Grant("robot", ghtest.Access{Login: "github-actions[bot]", App: true, Comment: true})
	forge.Grant("fork", ghtest.Access{Login: "github-actions[bot]", App: true})
	forge.Grant("admin", ghtest.Access{Login: "administrator", Admin: true})
	forge.AddPull(ghtest.Pull{Number: 7, State: "open", Head: head, HeadRepo: "fork/registry", Base: "main"})
	repo := must.Get(fixture.NewRepo(t.TempDir()))(t)
	dir := repo.Dir
	example := must.Read(t, filepath.Join("..", "..", "..", "docs", "repo-config.example.yml"))
	must.OK(t, os.MkdirAll(filepath.Join(dir, ".github"), 0o755))
	must.OK(t, os.WriteFile(filepath.Join(dir, ".github", "repo-config.yml"), example, 0o644))
	if _, err := repo.Git("init", "-q", "--bare", "--template=", filepath.Join(dir, ".git", "bare")); err != nil {
		t.Fatal(err)
	}
	result := func(check, verdict string, findings ...any) map[string]any {
		return map[string]any{"check": check, "subject": "registry", "verdict": verdict,
			"findings": append([]any{}, findings...)}
	}
	report := func(change func(map[string]any)) string {
		r := map[string]any{"version": 1, "tool": map[string]any{"version": "v1", "commit": "x"}, "mode": "check",
			"evaluated_at": "2026-05-04T12:00:00Z",
			"head":         head, "verdict": "pass", "counts": map[string]any{"records": 0, "pass": 1, "fail": 0,
				"inconclusive": 0, "warn": 0, "skip": 1},
			"assumed": []any{}, "evidence_sha256": strings.Repeat("0", 64), "evidence": []any{},
			"results": []any{result("layout", "pass"), result("schema", "skip")}}
		change(r)
		text := must.Get(json.Marshal(r))(t)
		name := filepath.Join(t.TempDir(), "r.json")
		must.OK(t, os.WriteFile(name, text, 0o644))
		return name
	}
	audit := func(verdict, assumed string) string {
		return report(func(r map[string]any) {
			r["mode"], r["verdict"], r["origin"] = "audit", verdict, "127.0.0.1/acme/registry"
			r["results"] = []any{result("history", verdict), result("schema", "skip")}
			if verdict == "fail" {
				counts := r["counts"].(map[string]any)
				counts["pass"], counts["fail"] = 0, 1
			}
			if assumed != "" {
				r["assumed"] = []any{assumed}
			}
		})
	}
	w := clitest.Build(t, "base: [{listing: nova}]\n")
	good := report(func(map[string]any) {})
	valid := 0
	for _, c := range []struct {
		token  string
		args   []string
		status int
		want   string
	}{
		{"fork", []string{"comment", good}, 0, "comment forbidden"},
		{"robot", []string{"comment", good}, 0, "comment created"},
		{"robot", []string{"comment", good}, 0, "comment unchanged"},
		{"robot", []string{"comment", "--head", strings.Repeat("2", 40), good}, 2, "refused"},
		{"robot", []string{"comment", report(func(r map[string]any) { r["verdict"] = "great" })}, 2,
			"does not validate"},
		{"robot", []string{"comment", report(func(r map[string]any) { r["assumed"] = []any{"--offline"} })}, 2,
			"refused"},
		{"robot", []string{"comment", report(func(r map[string]any) { r["mode"] = "audit" })}, 2, "refused"},
		{"robot", []string{"comment", report(func(r map[string]any) { r["verdict"] = "fail" })}, 2,
			"its verdict is fail; its results give pass"},
		{"robot", []string{"comment", report(func(r map[string]any) { r["counts"].(map[string]any)["pass"] = 40 })}, 2,
			"its counts are {Records:0 Pass:40"},
		{"robot", []string{"comment", report(func(r map[string]any) { r["counts"].(map[string]any)["records"] = -1 })},
			2, "it counts -1 records"},
		{"robot", []string{"comment", report(func(r map[string]any) {
			r["results"] = []any{result("layout", "pass", map[string]any{"severity": "error", "code": "x",
				"message": "m"}), result("schema", "skip")}
		})}, 2, "the result of layout on \"registry\" is pass; its findings make it fail"},
		{"robot", []string{"comment", report(func(r map[string]any) {
			r["results"] = []any{result("layout", "fail"), result("schema", "skip")}
		})}, 2, "its counts are"},
		{"robot", []string{"comment", report(func(r map[string]any) {
			r["results"] = []any{result("layout", "pass"), result("layout", "skip")}
		})}, 2, "there are two results of layout on"},
		{"robot", []string{"comment", report(func(r map[string]any) {
			r["results"], r["counts"] = []any{}, map[string]any{"records": 0, "pass": 0, "fail": 0, "inconclusive": 0,
				"warn": 0, "skip": 0}
		})}, 2, "its verdict is pass; it has no results"},
		{"robot", []string{"comment", report(func(r map[string]any) {
			r["results"], r["omitted"] = []any{result("layout", "fail")}, []any{"pass", "skip"}
		})}, 2, "its counts are"},
		// What --summary-only leaves out is counted, and no contradiction.
		{"robot", []string{"comment", report(func(r map[string]any) {
			r["results"], r["omitted"] = []any{}, []any{"pass", "skip"}
		})}, 0, "comment edited"},
		{"robot", []string{"comment", good}, 0, "comment edited"},
		{"", []string{"comment", good}, 2, "401"},
		{"", []string{"comment", good}, 2, "fix: name the repository with --repository OWNER/NAME, and give a token " +
			"in GITHUB_TOKEN: none was given"},
		{"robot", []string{"comment", "--proxy", "ftp://proxy.example", good}, 2, "fix: give an http or https URL"},
		{"admin", []string{"protect", "--repo", dir}, 2, "--dry-run or --apply"},
		{"fork", []string{"protect", "--repo", dir, "--dry-run"}, 3, "10 unknown"},
		{"fork", []string{"protect", "--repo", dir, "--dry-run"}, 3, "the token cannot read 10 protections of branch"},
		{"admin", []string{"protect", "--repo", dir, "--dry-run"}, 1, "10 missing"},
		{"fork", []string{"protect", "--repo", dir, "--apply"}, 3, "the accounts that may write, so that nothing was"},
		{"admin", []string{"protect", "--repo", dir, "--apply", "--allow-lock-out"}, 0, "created"},
		{"admin", []string{"protect", "--repo", dir, "--dry-run"}, 0, "0 missing"},
		{"admin", []string{"doctor", "--repo", dir, "--forge"}, 1, "asked the forge; "},
		{"", []string{"doctor", "--repo", dir, "--format", "json"}, 1, `"fork-can-edit-gate"`},
		{"admin", []string{"protect", "--repo", filepath.Join(dir, ".github"), "--dry-run"}, 0, "0 missing"},
		{"", []string{"doctor", "--repo", filepath.Join(dir, ".github"), "--format", "json"}, 1,
			`".github/repo-config.yml"`},
		{"admin", []string{"protect", "--repo", dir, "--dry-run", "--report", "json=-"}, 0, `"mode": "protect"`},
		{"robot", []string{"rerun", "--repo", dir}, 0, "1 open pull request to main; nothing to change"},
		{"robot", []string{"rerun", "--repo", dir, "--apply", "--dry-run"}, 2, "exclude one another"},
		{"robot", []string{"rerun", "--repo", dir, "--at", "tomorrow"}, 2, "not an RFC 3339 time"},
		{"wrong", []string{"remind", "--repo", w.Repo.Dir}, 2, "the forge does not know the token"},
		{"robot", []string{"remind", "--repo", w.Repo.Dir, "--at", "2026-05-20T00:00:00Z", "--within", "36h"}, 0,
			"1 listing: none ends within 1 day 12 hours or ended less than 30 days ago; nothing to change"},
		{"robot", []string{"remind", "--repo", w.Repo.Dir, "--at", "2026-08-20T00:00:00Z"}, 0,
			"create issue: implementations/nova.json expires on 20"},
		{"fork", []string{"remind", "--repo", w.Repo.Dir, "--at", "2026-08-20T00:00:00Z", "--apply"}, 2,
			"0 of 1 changes made"},
		{"fork", []string{"remind", "--repo", w.Repo.Dir, "--at", "2026-08-20T00:00:00Z", "--apply"}, 2,
			"give a token in GITHUB_TOKEN that may do this (writing takes: comment pull-requests, remind issues,"},
		{"robot", []string{"remind", "--repo", w.Repo.Dir, "--at", "2026-08-20T00:00:00Z", "--apply"}, 0,
			"1 of 1 changes made"},
		{"robot", []string{"remind", "--repo", w.Repo.Dir, "--at", "2026-08-20T00:00:00Z", "--apply"}, 0,
			"1 listing: 1 ends within 14 days or ended less than 30 days ago; nothing to change"},
		{"robot", []string{"remind", "--audit", good, "--apply"}, 2, `its mode is "check"; expected audit`},
		{"robot", []string{"remind", "--audit", audit("fail", ""), "--within", "30d"}, 2, "exclude one another"},
		{"robot", []string{"remind", "--audit", "none.json"}, 2, "reading report"},
		{"robot", []string{"remind", "--audit", audit("fail", "--offline")}, 2, "the audit is not complete"},
		{"robot", []string{"remind", "--repository", "acme/other", "--audit", audit("fail", "")}, 2,
			"expected that of acme/other"},
		{"robot", []string{"remind", "--audit", audit("fail", "")}, 0,
			"create issue: Audit failed: 1 error in 1 check"},
		{"robot", []string{"remind", "--audit", audit("fail", ""), "--apply"}, 0, "1 of 1 changes made"},
		{"robot", []string{"remind", "--audit", audit("fail", ""), "--apply"}, 0,
			"audit of 2026-05-04: fail; nothing to change"},
		{"robot", []string{"remind", "--audit", audit("pass", ""), "--apply"}, 0, "close issue 101 of the audit"},
		{"robot", []string{"remind", "--audit", audit("pass", ""), "--apply"}, 0, "nothing to change"},
		{"", []string{"doctor", "--repo", t.TempDir()}, 2, "not a git repository"},
		{"", []string{"doctor", "--repo", filepath.Join(dir, ".git", "bare")}, 2, "is bare"},
	} {
		var out bytes.Buffer
		env := map[string]string{"GITHUB_TOKEN": c.token, "GITHUB_API_URL": forge.URL,
			"GITHUB_REPOSITORY": "acme/registry"}
		if c.args[0] != "doctor" {
			c.args = append([]string{"forge"}, c.args...)
		}
		code := clitest.Main(c.args, frame.IO{Stdout: &out, Stderr: &out,
			Getenv: func(n string) string { return env[n] }})
		if code != c.status || !strings.Contains(out.String(), c.want) {
			t.Errorf("token %q, %q: exit status %d, want %d and %q in\n%s", c.token, c.args, code, c.status, c.want,
				out.String())
		}
		if at := strings.Index(out.String(), "{\n"); at >= 0 {
			valid++
			if err := clitest.Invalid(out.String()[at:]); err != nil {
				t.Errorf("%q: %v", c.args, err)
			}
		}
	}
	// The Action runs the same commands; a space parts the inputs.
	for _, c := range []struct {
		token, inputs string
		status        int
		want          string
	}{
		{"robot", "mode=comment file=" + good, 0, "comment unchanged"},
		{"robot", "mode=comment file=" + good + " head=" + strings.Repeat("2", 40), 2, "refused"},
		{"robot", "mode=comment", 2, "comment requires one REPORT"},
		{"robot", "mode=remind path=" + w.Repo.Dir, 0, "1 of 1 changes shown, none made: --apply makes them"},
		{"robot", "mode=remind path=" + w.Repo.Dir + " within=400d", 0, "1 of 1 changes shown, none made"},
		{"robot", "mode=remind file=" + audit("pass", "") + " path=" + dir, 0, "nothing to change"},
		{"robot", "mode=rerun path=" + dir + " apply=maybe", 2, "maybe"},
		{"robot", "mode=rerun path=" + dir, 0, "nothing to change"},
		{"admin", "mode=protect path=" + dir, 0, "0 missing"},
		{"admin", "mode=protect path=" + dir + " apply=false", 0, "0 missing"},
		{"admin", "mode=protect path=" + dir + " apply=true", 0, "0 missing"},
	} {
		var out bytes.Buffer
		env := map[string]string{"GITHUB_TOKEN": c.token, "GITHUB_API_URL": forge.URL, "GITHUB_ACTIONS": "true",
			"GITHUB_ACTION": "gate", "GITHUB_REPOSITORY": "acme/registry", "GITHUB_EVENT_NAME": "schedule"}
		for _, in := range strings.Fields(c.inputs) {
			name, value, _ := strings.Cut(in, "=")
			env["INPUT_"+strings.ToUpper(name)] = value
		}
		code := clitest.Main(nil, frame.IO{Stdout: &out, Stderr: &out, Getenv: func(n string) string { return env[n] }})
		if code != c.status || !strings.Contains(out.String(), c.want) {
			t.Errorf("token %q, %s: exit status %d, want %d and %q in\n%s", c.token, c.inputs, code, c.status, c.want,
				out.String())
		}
	}
	if valid != 3 {
		t.Errorf("%d JSON reports were printed; expected two of doctor and one of protect", valid)
	}
}
