package action_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v4"
)

// TestAct runs a job with the Action in it, made composite, by OAP_GATE_ACT, a binary of github.com/nektos/act.
func TestAct(t *testing.T) {
	act := os.Getenv("OAP_GATE_ACT")
	if act == "" {
		t.Skip("OAP_GATE_ACT names no binary of act: run test/action/run.sh")
	}
	for name, test := range map[string]struct {
		steps, event string
		want         []string
		status       int
	}{
		"honest": {honest, "pull_request", []string{"outputs: pass|false||1|false|false|report.json|",
			"outcome: success"}, 0},
		"dishonest": {dishonest, "pull_request", []string{"outputs: fail|false|append-only|1|false|false|report.json|",
			"outcome: failure"}, 1},
		"queue": {dishonest, "merge_group", []string{"outputs: fail|false|append-only|1|false|false|report.json|",
			"outcome: failure"}, 1},
		"refused": {honest, "pull_request_target", []string{"outputs: error|false||0|false|false|report.json|",
			"outcome: failure"}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := build(t, test.steps, merged)
			payload := pullRequest(t, w)
			if test.event == "merge_group" {
				payload = mergeGroup(t, w)
			}
			temp := t.TempDir()
			event := filepath.Join(temp, "event.json")
			check(t, os.WriteFile(event, []byte(payload), 0o644))
			check(t, os.CopyFS(filepath.Join(w.Repo.Dir, ".composite"), os.DirFS("composite")))
			command := exec.Command(act, test.event, "--platform", "ubuntu-latest=-self-hosted", "--no-cache-server",
				"--workflows", filepath.Join(w.Repo.Dir, ".composite", "workflow.yml"), "--eventpath", event, "--env",
				"OAP_GATE="+binary)
			command.Dir = w.Repo.Dir
			command.Env = append(os.Environ(), "HOME="+temp, "XDG_CONFIG_HOME="+temp, "XDG_CACHE_HOME="+temp,
				"DOCKER_HOST=")
			status, out, errs := finish(t, command)
			if status != test.status {
				t.Errorf("exit status %d, want %d", status, test.status)
			}
			for _, want := range test.want {
				if !strings.Contains(out, want) {
					t.Errorf("log does not hold %q", want)
				}
			}
			if t.Failed() {
				t.Logf("%s%s", out, errs)
			}
		})
	}
}

// The composite Action takes what the Action takes.
func TestComposite(t *testing.T) {
	m := readMetadata(t)
	text, err := os.ReadFile("composite/action.yml")
	check(t, err)
	var c struct {
		Inputs  map[string]struct{ Description, Default string }
		Outputs map[string]struct{ Value string }
		Runs    struct {
			Steps []struct{ Env map[string]string }
		}
	}
	check(t, yaml.Unmarshal(text, &c))
	defaults := map[string]string{}
	for name, input := range m.Inputs {
		defaults[name] = input.Default
	}
	have, env := map[string]string{}, map[string]string{}
	for name, input := range c.Inputs {
		have[name] = input.Default
		env["INPUT_"+strings.ToUpper(name)] = fmt.Sprintf("${{ inputs.%s }}", name)
	}
	if diff := cmp.Diff(defaults, have); diff != "" {
		t.Errorf("inputs and defaults differ:\n%s", diff)
	}
	if diff := cmp.Diff(env, c.Runs.Steps[0].Env); diff != "" {
		t.Errorf("environment differs:\n%s", diff)
	}
	for name := range m.Outputs {
		if want := fmt.Sprintf("${{ steps.gate.outputs.%s }}", name); c.Outputs[name].Value != want {
			t.Errorf("output %s is %q, want %q", name, c.Outputs[name].Value, want)
		}
	}
	if len(c.Outputs) != len(m.Outputs) {
		t.Errorf("%d outputs, the Action has %d", len(c.Outputs), len(m.Outputs))
	}
	for name, described := range m.Inputs {
		if described.Description == "" {
			t.Errorf("input %s has no description", name)
		}
	}
}
