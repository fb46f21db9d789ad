// Package ci tests the CI itself: the jobs of its workflow, the rule for commits, and the comments in go.mod.
package ci

import (
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/needs"
)

// workflow is the part of a workflow that the tests read.
type workflow struct {
	Jobs map[string]struct {
		Needs    []string
		If       string
		Strategy struct {
			Matrix struct{ Stage []string }
		}
		Steps []struct {
			Run string
			Env map[string]string
		}
	}
}

// TestJobs checks that each stage that .ci/run runs on everything is a job, and that the job ci needs all others and
// runs even if one of them was skipped.
func TestJobs(t *testing.T) {
	run := must.Read(t, "../../.ci/run")
	_, tier, _ := strings.Cut(string(run), "\ntier() {")
	var stages []string
	for _, line := range regexp.MustCompile(`(?m)^ *lane ([a-z_ ]+)( &)?$`).FindAllStringSubmatch(tier, -1) {
		if !strings.Contains(line[1], "short") { // of the tier fast
			stages = append(stages, strings.Fields(line[1])...)
		}
	}
	text := must.Read(t, "../../.github/workflows/ci.yml")
	var w workflow
	must.OK(t, yaml.Unmarshal(text, &w))
	jobs := slices.Sorted(slices.Values(w.Jobs["stage"].Strategy.Matrix.Stage))
	if slices.Sort(stages); len(stages) < 10 || !slices.Equal(jobs, stages) {
		t.Errorf("the jobs are %q, the stages %q", jobs, stages)
	}
	last := w.Jobs["ci"]
	if last.If != "always()" || len(last.Needs) != len(w.Jobs)-1 {
		t.Errorf("the job ci runs if %q and needs %q", last.If, last.Needs)
	}
	needs.Program(t, "bash")
	for _, results := range []string{"success", "failure", "cancelled", "skipped", "success skipped", ""} {
		cmd := exec.CommandContext(t.Context(), "bash", "-e", "-c", last.Steps[0].Run)
		cmd.Env = []string{"RESULTS=" + results}
		if err := cmd.Run(); (err == nil) != (results == "success") {
			t.Errorf("the results %q: %v", results, err)
		}
	}
}

// TestNightly checks that a workflow runs the tier nightly by a schedule.
func TestNightly(t *testing.T) {
	text := must.Read(t, "../../.github/workflows/nightly.yml")
	var w struct {
		On struct {
			Schedule []struct{ Cron string }
		}
		Jobs map[string]struct{ Steps []struct{ Run string } }
	}
	must.OK(t, yaml.Unmarshal(text, &w))
	if len(w.On.Schedule) != 1 || w.On.Schedule[0].Cron == "" {
		t.Errorf("the schedule is %v", w.On.Schedule)
	}
	if steps := w.Jobs["nightly"].Steps; len(steps) == 0 || steps[len(steps)-1].Run != "bash .ci/run nightly" {
		t.Errorf("the steps are %v", steps)
	}
}
