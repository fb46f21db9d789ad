// Package clitest runs the programs for the tests of a room: in this process, or as processes that a test may kill.
package clitest

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/openagentprotocol-OAP/oap-gate/internal/cli"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/programs"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/table"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/privatekey"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// Main runs a program in this process: the one that the first argument names, else oap-gate.
func Main(args []string, sys frame.IO) int {
	p, args := programs.Of(args)
	return cli.Run(p, args, sys)
}

// Programs lists the programs that a test may start as processes, next to those that Start adds.
var Programs = map[string]func(){}

// Start runs the tests of a package, which find the programs and those of Programs in PATH. TestMain calls it.
func Start(m testscript.TestingM) {
	privatekey.AcceptExamples()
	os.Setenv("GORACE", Race)
	for _, p := range programs.All {
		Programs[p.Name] = func() { os.Exit(Noted(append([]string{p.Name}, os.Args[1:]...), cli.System())) }
	}
	testscript.Main(m, Programs)
}

// Race lets a program with the race detector end when it ends, and not a second later, as hundreds are started.
const Race = "atexit_sleep_ms=0"

// Program runs a program as Noted does, without an environment. It returns the exit status, and stdout before stderr.
func Program(t *testing.T, args ...string) (int, string) {
	t.Helper()
	var out, complaints bytes.Buffer
	status := Noted(args, frame.IO{Stdout: &out, Stderr: &complaints, Getenv: NoEnvironment})
	return status, out.String() + complaints.String()
}

// Run runs a program as Program does. It requires an exit status, and a text in what the program prints.
func Run(t *testing.T, want int, text string, args ...string) string {
	t.Helper()
	status, out := Program(t, args...)
	if status != want || !strings.Contains(out, text) {
		t.Fatalf("%q: exit status %d; expected %d and %q\n%s", args, status, want, text, out)
	}
	return out
}

// NoEnvironment has no variable.
func NoEnvironment(string) string { return "" }

// Build builds the registry and the web that spec describes, until the test ends.
func Build(t testing.TB, spec string) *fixture.World {
	t.Helper()
	w := must.Get(fixture.Build(t.TempDir(), []byte(spec)))(t)
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// SkipKills skips a test that kills many processes if the race detector is in them: a killed process does not report a
// race, each takes several times as long to begin, and other tests run the same code to its end.
func SkipKills(t *testing.T) {
	t.Helper()
	if info, ok := debug.ReadBuildInfo(); ok &&
		slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Skip("NOT TESTED with the race detector: a killed process reports no race")
	}
}

// StepOf runs a program as a step's action with these inputs, and returns what the runner sees.
func StepOf(t *testing.T, event string, inputs map[string]string) (code int, log, outputs, summary string) {
	t.Helper()
	dir := t.TempDir()
	env := map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_ACTION": "__self", "GITHUB_EVENT_NAME": event,
		"GITHUB_WORKSPACE": dir,
		"GITHUB_OUTPUT":    filepath.Join(dir, "output"), "GITHUB_STEP_SUMMARY": filepath.Join(dir, "summary")}
	for name, value := range map[string]string{"OFFLINE": "false", "GOVERNANCE": "review", "EXCEPTION": "review",
		"TIMEOUT": "10s", "MAX-ANNOTATIONS": "9", "SUMMARY": "true", "ALLOW-PULL-REQUEST-TARGET": "false"} {
		env["INPUT_"+name] = value
	}
	for name, value := range inputs {
		env["INPUT_"+strings.ToUpper(name)] = value
	}
	var out bytes.Buffer
	code = Main([]string{ProgramOf(inputs["mode"])}, frame.IO{
		Stdout: &out, Stderr: &out, Getenv: func(name string) string { return env[name] }})
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return string(text)
	}
	return code, out.String(), read("output"), read("summary")
}

// ProgramOf returns the program that has a mode of the Action; oap-gate refuses an unknown one.
func ProgramOf(mode string) string {
	for _, m := range table.ActionModes {
		if m.Mode == mode {
			return m.Program
		}
	}
	return "oap-gate"
}
