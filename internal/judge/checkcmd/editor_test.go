package checkcmd_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/needs"
)

// TestProblemMatcher checks that docs/problem-matcher.json matches what a run prints as text.
func TestProblemMatcher(t *testing.T) {
	text := must.Read(t, filepath.Join("..", "..", "..", "docs", "problem-matcher.json"))
	var file struct {
		ProblemMatcher []struct{ Pattern []struct{ Regexp string } }
	}
	must.OK(t, json.Unmarshal(text, &file))
	pattern := regexp.MustCompile(file.ProblemMatcher[0].Pattern[0].Regexp)
	w := clitest.Build(t, failing)
	var told bytes.Buffer
	clitest.Main(slices.Concat([]string{"check"}, w.Args(), w.RangeArgs(), []string{"--offline"}),
		frame.IO{Stdout: &told, Stderr: io.Discard, Getenv: clitest.NoEnvironment})
	out := told.String()
	var got []string
	for line := range strings.Lines(out) {
		if m := pattern.FindStringSubmatch(strings.TrimRight(line, "\n")); m != nil {
			got = append(got, m[1]+" "+m[4]+" "+m[6])
		}
	}
	if want := []string{"implementations/nova.json error window-too-long"}; !slices.Equal(got, want) {
		t.Errorf("the matcher finds %q in\n%s", got, out)
	}
}

// TestPreCommitHook runs the hook of .pre-commit-hooks.yaml on a commit that only deletes, with this program in place
// of one that is built from a release.
func TestPreCommitHook(t *testing.T) {
	needs.Program(t, "pre-commit")
	hooks := must.Read(t, filepath.Join("..", "..", "..", ".pre-commit-hooks.yaml"))
	w := clitest.Build(t, failing)
	bin, err := exec.LookPath("oap-gate") // which testscript.Main puts there
	must.OK(t, err)
	hook := strings.NewReplacer("language: golang", "language: system", "entry: oap-gate", "entry: "+bin,
		"\n", "\n      ").Replace(string(hooks[strings.Index(string(hooks), "- id"):]))
	config := filepath.Join(t.TempDir(), "pre-commit.yaml")
	must.OK(t, os.WriteFile(config, []byte("repos:\n  - repo: local\n    hooks:\n      "+hook+"\n"), 0o600))
	dir := w.Repo.Dir
	git := func(args ...string) {
		t.Helper()
		if out, err := exec.Command("git", append([]string{"-C", dir}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	git("checkout", "-q", "main")
	git("rm", "-q", "implementations/ada.json")
	run := exec.Command("pre-commit", "run", "--config", config)
	run.Dir, run.Env = dir, append(os.Environ(), "PRE_COMMIT_HOME="+t.TempDir())
	out, err := run.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "[deleted]") {
		t.Errorf("%v\n%s", err, out)
	}
}

// failing is a pull request whose listing is in force for too long.
const failing = "base: [{listing: ada}]\npr: [{listing: nova, set: {/expires_at: \"2027-06-01T00:00:00Z\"}}]\n"
