package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
)

// skipKills skips a test that kills many processes where the race detector is in them: none of them lives to tell of a
// race, each takes several times as long to begin, and what runs in them runs to its end in other tests.
func skipKills(t *testing.T) {
	t.Helper()
	if info, ok := debug.ReadBuildInfo(); ok &&
		slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Skip("NOT TESTED with the race detector: a killed process tells of no race")
	}
}

// A bug ends the program in good order: one line with the version, the report, exit status 2.
func TestCrash(t *testing.T) {
	w := build(t, "base: [{listing: eve}]\n")
	file := filepath.Join(t.TempDir(), "report.json")
	var told bytes.Buffer
	args := []string{"check", "--repo", w.Repo.Dir, "--format", "text", "--report", "json=" + file}
	code := Main(args, frame.IO{Stdout: io.Discard, Stderr: &told, Getenv: func(name string) string {
		if name == "GITHUB_ACTIONS" { // asked for where base and head are chosen
			panic("a bug\n::error::")
		}
		return ""
	}})
	if text := told.String(); code != 2 || !strings.HasPrefix(text, "error: oap-gate "+frame.Version().Version+
		" crashed, which is a bug: a bug") || strings.Count(text, "\n") != 1 {
		t.Errorf("exit status %d\n%s", code, text)
	}
	report, err := os.ReadFile(file)
	if err != nil || !strings.Contains(string(report), `"verdict": "error"`) ||
		!strings.Contains(string(report), "which is a bug") {
		t.Errorf("%v\n%s", err, report)
	}
}
