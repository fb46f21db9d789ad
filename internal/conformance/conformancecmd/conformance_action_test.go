package conformancecmd_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

func TestActionHoldsAProvider(t *testing.T) {
	contract := greenhouse(t)
	dir := filepath.Dir(contract[1])
	checklist := filepath.Join(t.TempDir(), "checklist.md")
	honest := map[string]string{"mode": "oasis", "requirements": contract[1], "schema": contract[3],
		"response": filepath.Join(dir, "answer.json"), "report": "checklist=" + checklist}
	with := func(more map[string]string) map[string]string {
		all := maps.Clone(honest)
		maps.Copy(all, more)
		return all
	}
	for _, event := range []string{"pull_request", "push", "schedule", "workflow_dispatch", "merge_group"} {
		code, log, outputs, summary := clitest.StepOf(t, event, honest)
		if code != 0 || !strings.Contains(log, "\npass: declared, not verified; ") || !strings.Contains(outputs,
			"\npass\n") ||
			!strings.Contains(summary, "25 requirements are for people to attest") {
			t.Errorf("%s: exit status %d\n%s\n%s\n%s", event, code, log, outputs, summary)
		}
	}
	if text, err := os.ReadFile(checklist); err != nil || bytes.Count(text, []byte("- [ ] ")) != 26 {
		t.Errorf("%v: %s", err, text)
	}
	for _, test := range []struct {
		name  string
		event string
		more  map[string]string
		code  int
		want  string
	}{
		{"a gap", "pull_request", map[string]string{"response": filepath.Join(dir, "r.yaml")}, 1,
			"title=oasis-endpoint"},
		{"offline", "pull_request", map[string]string{"response": "", "url": "https://p.example", "offline": "true"}, 3,
			"--offline"},
		{"no summary", "pull_request", map[string]string{"summary": "false"}, 0, "pass: "},
		{"a stranger's files with rights", "pull_request_target", nil, 2, "pull_request_target"},
		{"even acknowledged", "pull_request_target", map[string]string{"allow-pull-request-target": "true"}, 2,
			"pull_request_target"},
		{"a check left out", "push", map[string]string{"skip": "oasis-schema"}, 2, "does not take the input skip"},
		{"only one check", "push", map[string]string{"checks": "oasis-schema"}, 2, "does not take the input checks"},
		{"a base", "push", map[string]string{"base": "main"}, 2, "does not take the input base"},
		{"another protocol's input", "push", map[string]string{"dialect": "0.4"}, 2, "does not take the input dialect"},
		{"no tier", "push", map[string]string{"tier": "high"}, 2, "input tier"},
		{"no boolean", "push", map[string]string{"offline": "maybe"}, 2, "offline"},
		{"no duration", "push", map[string]string{"timeout": "soon"}, 2, "soon"},
		{"no contract", "push", map[string]string{"schema": ""}, 2, "requires the contract"},
		{"a value that looks like a flag", "push", map[string]string{"response": "--help"}, 2, "reading --response"},
		{"another mode", "push", map[string]string{"mode": "oasys"}, 2,
			"verify, comment, remind, rerun, auto-merge, protect, governance, oasis, opengap, aaep"},
		{"a report on stdout", "push", map[string]string{"report": "json=-"}, 2, "input report names stdout"},
	} {
		code, log, outputs, summary := clitest.StepOf(t, test.event, with(test.more))
		if code != test.code || !strings.Contains(log, test.want) || (summary == "") != (test.name == "no summary") {
			t.Errorf("%s: exit status %d, want %d, %q, summary of %d bytes\n%s", test.name, code, test.code, test.want,
				len(summary), log)
		}
		if code == 2 && !strings.Contains(outputs, "\nerror\n") {
			t.Errorf("%s: outputs %s", test.name, outputs)
		}
	}
}

func TestActionHoldsAnAgentAndAProducer(t *testing.T) {
	dir := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(dir, "agent.yaml"), []byte("opengap: \"0.4\"\n"), 0o666))
	code, log, _, _ := clitest.StepOf(t, "pull_request", map[string]string{"mode": "opengap", "path": dir,
		"recommended": "warn"})
	if code != 1 || !strings.Contains(log, "title=gap-fields") ||
		!strings.Contains(log, "assumed: --recommended warn") {
		t.Errorf("opengap: exit status %d\n%s", code, log)
	}
	capture := filepath.Join(dir, "a capture.jsonl")
	must.OK(t, os.WriteFile(capture, nil, 0o666))
	code, log, _, _ = clitest.StepOf(t, "push", map[string]string{"mode": "aaep", "events": capture + "\n" + capture,
		"level": "2"})
	if code != 3 || !strings.Contains(log, "no-events") {
		t.Errorf("aaep: exit status %d\n%s", code, log)
	}
	both := map[string]string{"mode": "aaep", "events": capture, "url": "https://p.example"}
	if code, log, _, _ = clitest.StepOf(t, "push", both); code != 2 ||
		!strings.Contains(log, "does not take the input events") {
		t.Errorf("aaep with a capture and a producer: exit status %d\n%s", code, log)
	}
	running := map[string]string{"mode": "aaep", "url": "http://p.example", "layout": "reference"}
	if code, log, _, _ = clitest.StepOf(t, "push", running); code != 2 || !strings.Contains(log, "plain http") {
		t.Errorf("aaep with a plain public producer: exit status %d\n%s", code, log)
	}
	for _, subscriber := range []struct {
		more map[string]string
		want string
	}{
		{map[string]string{"listen": "127.0.0.1:0", "level": "3", "command": "./none\n--level\n1"},
			"starting the command: "},
		{map[string]string{"listen": "127.0.0.1:0", "level": "4"}, "--level 4|input level"},
		{map[string]string{"listen": "8.8.8.8:80"}, "is not a loopback or private address"},
		{map[string]string{"listen": "127.0.0.1:0", "layout": "spec"}, "does not take the input layout"},
		{map[string]string{"command": "./none"}, "does not take the input command"},
	} {
		subscriber.more["mode"] = "aaep"
		code, log, _, _ := clitest.StepOf(t, "push", subscriber.more)
		if code != 2 || !slices.ContainsFunc(strings.Split(subscriber.want, "|"), func(want string) bool {
			return strings.Contains(log, want)
		}) {
			t.Errorf("aaep %v: exit status %d\n%s", subscriber.more, code, log)
		}
	}
	if code, log, _, _ = clitest.StepOf(t, "push", map[string]string{"mode": "aaep"}); code != 2 ||
		!strings.Contains(log, "requires at least one FILE") {
		t.Errorf("aaep without a capture: exit status %d\n%s", code, log)
	}
}
