package ci

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/gittest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/needs"
)

// TestMessages runs the rule for commit messages in a clone.
func TestMessages(t *testing.T) {
	needs.Program(t, "bash")
	run := must.Read(t, "../../.ci/run")
	clone := gittest.New(t)
	clone.Write(".ci/run", string(run))
	clone.Git("add", ".")
	clone.Git("commit", "-q", "-m", strings.Repeat("old ", 30)) // which is never judged
	base := clone.Git("rev-parse", "HEAD")
	check := func(base string) (string, error) {
		cmd := exec.CommandContext(t.Context(), "bash", ".ci/run", "messages")
		cmd.Dir = clone.Dir
		cmd.Env = append(os.Environ(), "CI_BASE="+base)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	long := strings.Repeat("é", 72)
	for _, c := range []struct {
		name     string
		messages []string
		want     []string // parts of the output; none: the commits pass
	}{
		{"honest", []string{"gate: do it\n\nBecause it helps.", long + "\n\nBecause it helps.", "Release v1.2.3",
			"gate: $(touch broken) `touch broken`\n\nBecause."}, nil},
		{"dishonest", []string{long + "e\n\nBecause.", "gate: do it", "gate: do so\n\n \n\t\n", "Release the gate"},
			[]string{"longer than 72 characters: " + long + "e", "no body that says why: gate: do it",
				"no body that says why: gate: do so", "no body that says why: Release the gate"}},
	} {
		clone.Git("switch", "-q", "--detach", base)
		for _, message := range c.messages {
			clone.Git("commit", "-q", "--allow-empty", "--cleanup=verbatim", "-m", message)
		}
		head := clone.Git("rev-parse", "HEAD")
		merge := clone.Git("commit-tree", "-m", "Merge "+long, "-p", base, "-p", head, "HEAD^{tree}")
		clone.Git("reset", "-q", "--hard", merge)
		out, err := check(base)
		if (err == nil) != (c.want == nil) || strings.Count(out, "commit ") != len(c.want) {
			t.Errorf("%s: %v, %q", c.name, err, out)
		}
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("%s: %q is not in %q", c.name, want, out)
			}
		}
	}
	if out, err := check(strings.Repeat("0", 40)); err != nil || !strings.Contains(out, "NOT CHECKED") {
		t.Errorf("without a base: %v, %q", err, out)
	}
	if _, err := os.Stat(filepath.Join(clone.Dir, "broken")); err == nil {
		t.Error("a subject was run")
	}
}
