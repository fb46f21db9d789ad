package ci

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/needs"
)

// TestSkips runs the stage "tests" on a module in which one test is skipped, and another skips a subtest.
func TestSkips(t *testing.T) {
	needs.Program(t, "bash", "jq", "sed", "awk")
	dir := t.TempDir()
	must.OK(t, os.MkdirAll(filepath.Join(dir, ".ci"), 0o777))
	write := func(name, text string) {
		t.Helper()
		must.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666))
	}
	write(".ci/run", string(must.Read(t, "../../.ci/run")))
	write("go.mod", "module m.example/m\n\ngo 1.24\n")
	write("x_test.go", `package m

import ("os"; "testing")

func TestWhole(t *testing.T) { t.Skip("no") }
func TestPart(t *testing.T) { t.Run("a", func(t *testing.T) { t.Skip("no") }) }
func TestLast(t *testing.T) {
	if t.Log("quiet"); os.Getenv("BREAK") == "panic" { panic("it broke") }
	if os.Getenv("BREAK") == "exit" { println("it broke"); os.Exit(3) }
}
`)
	for _, c := range []struct {
		name, skips string
		env         []string
		want        []string // parts of the output; none: the stage passes
	}{
		{"all are named", "# why\nm.example/m TestWhole\nm.example/m TestPart\n", []string{"CI=true"}, nil},
		{"by the name of the part", "m.example/m TestWhole\nm.example/m TestPart/a\n", []string{"CI=true"}, nil},
		{"one is not named", "m.example/m TestPart\nm.example/m TestWho\n", []string{"CI=true"},
			[]string{"skipped, and not in .ci/skips: m.example/m TestWhole\n"}},
		{"none is named", "", []string{"CI=true"}, []string{"m.example/m TestWhole\n", "m.example/m TestPart/a\n"}},
		{"elsewhere than in CI", "", []string{"CI="}, nil},
		{"a test fails", "m.example/m TestWhole\nm.example/m TestPart\n", []string{"CI=true", "BREAK=panic"},
			[]string{"panic: it broke", "--- FAIL: TestLast"}},
		{"a test ends the process", "m.example/m TestWhole\nm.example/m TestPart\n", []string{"CI=true", "BREAK=exit"},
			[]string{"it broke\n", "FAIL\tm.example/m"}},
	} {
		write(".ci/skips", c.skips)
		cmd := exec.CommandContext(t.Context(), "bash", ".ci/run", "tests")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), append(c.env, "CI_KEPT=")...)
		out, err := cmd.CombinedOutput()
		if (err == nil) != (c.want == nil) || c.want == nil && strings.Contains(string(out), "quiet") {
			t.Errorf("%s: %v, %s", c.name, err, out)
		}
		for _, want := range c.want {
			if !strings.Contains(string(out), want) {
				t.Errorf("%s: %q is not in %s", c.name, want, out)
			}
		}
	}
}
