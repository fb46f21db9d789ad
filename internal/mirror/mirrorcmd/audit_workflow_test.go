package mirrorcmd_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/ghtest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestAuditWorkflow runs the jobs of docs/workflows/audit.yml, one after another, with the inputs that the file has. It
// leaves out what is GitHub's: the job that uploads finds its SARIF file, and the job of the issue finds no clone.
func TestAuditWorkflow(t *testing.T) {
	text := must.Read(t, filepath.Join("..", "..", "..", "docs", "workflows", "audit.yml"))
	type job struct {
		Steps []struct {
			Uses string
			With map[string]string
		}
	}
	var workflow struct{ Jobs map[string]job }
	must.OK(t, yaml.Unmarshal(text, &workflow))
	with := func(name, uses string) map[string]string {
		for _, s := range workflow.Jobs[name].Steps {
			if strings.HasPrefix(s.Uses, uses) {
				return s.With
			}
		}
		t.Fatalf("the job %s has no step that uses %s", name, uses)
		return nil
	}
	upload := with("audit", "actions/upload-artifact@")
	forge := ghtest.Start("acme", "registry")
	defer forge.Close()
	forge.Grant("robot", ghtest.Access{Login: "github-actions[bot]", App: true, Comment: true})
	for _, c := range []struct {
		name, world string
		status      int
		want        string // what remind prints
	}{
		{"a removed listing", "base: [{listing: eve}]\npr: [{remove: implementations/eve.json}]\nmerge: true\n", 1,
			"create issue: Audit failed: 1 error in 1 check\n1 of 1 changes made\n"},
		{"an honest registry", "schemas: [listing]\n", 0, "1 of 1 changes made\n"},
		{"an honest registry, again", "schemas: [listing]\n", 0, "nothing to change\n"},
	} {
		w := clitest.Build(t, c.world)
		if _, err := w.Repo.Git("remote", "add", "origin", forge.URL+"/acme/registry"); err != nil {
			t.Fatal(err)
		}
		t.Chdir(w.Repo.Dir)
		code, log, _, _ := clitest.StepOf(t, "schedule", with("audit", "openagentprotocol-OAP/oap-gate@"))
		if code != c.status {
			t.Fatalf("%s: exit status %d, want %d\n%s", c.name, code, c.status, log)
		}
		artifact := t.TempDir()
		for name := range strings.FieldsSeq(upload["path"]) {
			must.OK(t, os.Rename(name, filepath.Join(artifact, name)))
		}
		t.Chdir(artifact)
		for _, name := range []string{"code-scanning", "issue"} {
			if got := with(name, "actions/download-artifact@")["name"]; got != upload["name"] {
				t.Errorf("the job %s downloads the artifact %q, want %q", name, got, upload["name"])
			}
		}
		var sarif struct{ Version string }
		file := must.Read(t, with("code-scanning", "github/codeql-action/upload-sarif@")["sarif_file"])
		if err := json.Unmarshal(file, &sarif); err != nil || sarif.Version != "2.1.0" {
			t.Errorf("%s: the SARIF file has version %q: %v", c.name, sarif.Version, err)
		}
		env := map[string]string{"GITHUB_TOKEN": "robot", "GITHUB_API_URL": forge.URL,
			"GITHUB_REPOSITORY": "acme/registry", "GITHUB_ACTIONS": "true", "GITHUB_ACTION": "__run",
			"GITHUB_EVENT_NAME": "schedule", "GITHUB_WORKSPACE": artifact}
		for name, value := range with("issue", "openagentprotocol-OAP/oap-gate@") {
			env["INPUT_"+strings.ToUpper(name)] = value
		}
		var out bytes.Buffer
		code = clitest.Main(nil, frame.IO{Stdout: &out, Stderr: &out,
			Getenv: func(name string) string { return env[name] }})
		if code != 0 || !strings.HasSuffix(out.String(), c.want) {
			t.Errorf("%s: remind ends with %d and prints\n%s\nwant %s", c.name, code, out.String(), c.want)
		}
	}
	if all := forge.Issues(); len(all) != 1 || all[0].State != "closed" {
		t.Errorf("the issues are %+v", all)
	}
}
