package cli_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
)

// A bug ends the program in good order: one line with the version, the report, exit status 2.
func TestCrash(t *testing.T) {
	w := clitest.Build(t, "base: [{listing: eve}]\n")
	file := filepath.Join(t.TempDir(), "report.json")
	var told bytes.Buffer
	args := []string{"check", "--repo", w.Repo.Dir, "--format", "text", "--report", "json=" + file}
	code := clitest.Main(args, frame.IO{Stdout: io.Discard, Stderr: &told, Getenv: func(name string) string {
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
