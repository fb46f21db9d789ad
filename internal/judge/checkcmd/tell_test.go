package checkcmd_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/typed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// gone is an output whose reader has gone; first is called before that is noticed.
type gone struct{ first func() }

func (g gone) Write([]byte) (int, error) {
	g.first()
	return 0, errors.New("the reader has gone")
}

// TestTell checks that reports and summary are written before stdout is, which may end the program.
func TestTell(t *testing.T) {
	w := clitest.Build(t, "base: [{listing: eve}]\npr: [{listing: ada}]\n")
	dir := t.TempDir()
	report, summary := filepath.Join(dir, "report.json"), filepath.Join(dir, "summary.md")
	env := map[string]string{"GITHUB_STEP_SUMMARY": summary}
	told := false
	out := gone{func() {
		told = true
		for _, file := range []string{report, summary} {
			if text, err := os.ReadFile(file); err != nil || !strings.Contains(string(text), "pass") {
				t.Errorf("%s holds %q, error %v", file, text, err)
			}
		}
	}}
	args := slices.Concat([]string{"check", "--summary", "--report", "json=" + report}, w.Args(), w.RangeArgs())
	code := clitest.Main(args, frame.IO{Stdout: out, Stderr: io.Discard,
		Getenv: func(n string) string { return env[n] }})
	if code != 2 || !told {
		t.Errorf("exit status %d, want 2; stdout written: %t", code, told)
	}
}

// verdicts are the commands that judge a world, each with its flags.
func verdicts(w *fixture.World) map[string][]string {
	at := []string{"--at", fixture.Clock.Format(time.RFC3339)}
	return map[string][]string{
		"check":  slices.Concat([]string{"check"}, w.Args(), w.RangeArgs()),
		"audit":  slices.Concat([]string{"audit"}, w.Args()),
		"verify": slices.Concat([]string{"verify", "https://eve.example", "--without-registry"}, at, w.WebArgs()),
	}
}

// TestReportTargets checks that a report that has no file is refused before anything is fetched, with what to write
// instead, and that one that fails when it is written ends the run with exit status 2.
func TestReportTargets(t *testing.T) {
	w := clitest.Build(t, "base: [{listing: eve}]\npr: [{listing: ada}]\n")
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must.OK(t, os.WriteFile(file, nil, 0o600))
	for command, args := range verdicts(w) {
		for _, c := range []struct{ report, want, fix string }{
			{"json", `--report "json" is not FORMAT=FILE`, "name the file too: --report json=FILE"},
			{"vsa", `--report "vsa" is not FORMAT=FILE`, "name the file too: --report vsa=FILE"},
			{"json=", `--report "json=" is not FORMAT=FILE`, "name the file too: --report json=FILE"},
			{"yaml=x", `--report "yaml=x" is not FORMAT=FILE`, "write FORMAT=FILE; the formats are text, json,"},
			{"json=" + dir, "cannot be written: it is a directory", typed.Writable},
			{"json=" + filepath.Join(dir, "none", "x"), "cannot be written: open ", typed.Writable},
			{"json=" + filepath.Join(file, "x"), "cannot be written: ", typed.Writable},
			{"json=/dev/full", "no space left on device", "free space, or choose another file"},
		} {
			late := c.report == "json=/dev/full"
			if _, err := os.Stat("/dev/full"); late && err != nil {
				t.Log("NOT TESTED: ", err)
				continue
			}
			w.Web.Forget()
			var said bytes.Buffer
			code := clitest.Main(append(args, "--report", c.report), frame.IO{Stdout: io.Discard, Stderr: &said,
				Getenv: clitest.NoEnvironment})
			if text := said.String(); code != 2 || !strings.HasPrefix(text, "error: ") ||
				!strings.Contains(text, c.want) || !strings.Contains(text, "\nfix: "+c.fix) {
				t.Errorf("%s --report %s: exit status %d\n%s", command, c.report, code, text)
			}
			if asked := w.Web.Requests(); (len(asked) > 0) != late {
				t.Errorf("%s --report %s: %q were asked for", command, c.report, asked)
			}
		}
	}
}

// TestColour checks that the text is colored if --color asks for it, or on a terminal unless --color, NO_COLOR or TERM
// forbids it.
func TestColour(t *testing.T) {
	w := clitest.Build(t, "base: [{listing: eve}]\npr: [{listing: ada}]\n")
	for command, args := range verdicts(w) {
		for _, c := range []struct {
			color, name, value string
			width              int
			want               bool
		}{
			{"auto", "TERM", "xterm", 80, true},
			{"auto", "NO_COLOR", "", 80, true},
			{"auto", "NO_COLOR", "1", 80, false},
			{"auto", "TERM", "dumb", 80, false},
			{"auto", "TERM", "xterm", 0, false},
			{"never", "TERM", "xterm", 80, false},
			{"always", "NO_COLOR", "1", 0, true},
		} {
			var out bytes.Buffer
			code := clitest.Main(append(args, "--color", c.color), frame.IO{Stdout: &out, Stderr: io.Discard,
				OutWidth: c.width,
				Getenv:   func(name string) string { return map[string]string{c.name: c.value}[name] }})
			if got := strings.Contains(out.String(), "\x1b["); code != 0 || got != c.want {
				t.Errorf("%s %+v: exit status %d, colored: %t\n%s", command, c, code, got, out.String())
			}
		}
	}
}
