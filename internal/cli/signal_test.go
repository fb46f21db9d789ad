package cli

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestInterrupted holds that an audit or a check which is asked to end still tells what it knows, and says that it
// did not see all.
func TestInterrupted(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no SIGTERM here")
	}
	for name, c := range map[string]struct {
		description string
		args        []string
		sent        os.Signal
	}{
		"audit": {"base:\n  - {listing: eve, level: L1}\n", []string{"audit", "--rev", "main"}, syscall.SIGTERM},
		"check": {"pr:\n  - {listing: eve, level: L1}\n", []string{"check", "--base", "main", "--head", "pr"},
			os.Interrupt},
	} {
		t.Run(name, func(t *testing.T) { interrupt(t, c.description, c.args, c.sent) })
	}
}

func interrupt(t *testing.T, description string, command []string, sent os.Signal) {
	w := build(t, description+`
web:
  - {url: "https://eve.example/oap-conformance-receipt.json", delay: 1h}
`)
	report, bundle := filepath.Join(t.TempDir(), "report.json"), filepath.Join(t.TempDir(), "bundle.json")
	args := slices.Concat(command, []string{"--timeout", "1h", "--report", "json=" + report, "--record", bundle},
		w.Args())
	cmd := exec.Command("oap-gate", args...) // which testscript.Main puts on the PATH
	var out strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	// The program is at work once the web was asked.
	for deadline := time.Now().Add(time.Minute); len(w.Web.Requests()) == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			_ = cmd.Process.Kill()
			t.Fatalf("the program asked for nothing: %s", out.String())
		}
	}
	if err := cmd.Process.Signal(sent); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if code := cmd.ProcessState.ExitCode(); code != 3 {
		t.Errorf("exit status %d, want 3: %s", code, out.String())
	}
	if !strings.Contains(out.String(), "inconclusive: interrupted before all was judged; ") {
		t.Errorf("the verdict line does not say that the run was interrupted: %s", out.String())
	}
	text, err := os.ReadFile(report)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"verdict": "inconclusive"`, `"interrupted"`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("the report lacks %s", want)
		}
	}
	// Its bundle gives the same report.
	quiet := IO{Stdout: io.Discard, Stderr: io.Discard, Getenv: func(string) string { return "" }}
	if code := Main([]string{"replay", bundle, "--repo", w.Repo.Dir, "--report", "json=" + report}, quiet); code != 3 {
		t.Errorf("replay: exit status %d, want 3", code)
	}
	if again, err := os.ReadFile(report); err != nil || string(again) != string(text) {
		t.Errorf("replay gives another report, error %v:\n%s", err, again)
	}
}
