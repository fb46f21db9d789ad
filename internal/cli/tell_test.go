package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// gone is an output whose reader has gone; first is called before that is noticed.
type gone struct{ first func() }

func (g gone) Write([]byte) (int, error) {
	g.first()
	return 0, errors.New("the reader has gone")
}

// TestTell holds that reports and summary are written before stdout is, which may end the program.
func TestTell(t *testing.T) {
	w := build(t, "base: [{listing: eve}]\npr: [{listing: ada}]\n")
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
	code := Main(args, IO{Stdout: out, Stderr: io.Discard, Getenv: func(n string) string { return env[n] }})
	if code != 2 || !told {
		t.Errorf("exit status %d, want 2; stdout written: %t", code, told)
	}
}

// TestAssumedHoldsNoPassword holds that a report, which anybody may read, names a proxy without its password.
func TestAssumedHoldsNoPassword(t *testing.T) {
	o := networkFlags{routeFlags: routeFlags{proxy: "http://user:secret@proxy.example:3128"},
		rdapURL: "https://user:secret@rdap.example/"}
	want := []string{"--proxy http://user:xxxxx@proxy.example:3128", "--rdap-url https://user:xxxxx@rdap.example/"}
	if got := o.assumed(); !slices.Equal(got, want) {
		t.Errorf("assumed: %q, want %q", got, want)
	}
	o = networkFlags{routeFlags: routeFlags{proxy: "http://user:secret@proxy.example:port"}}
	if got := o.assumed(); strings.Contains(strings.Join(got, " "), "secret") {
		t.Errorf("assumed: %q", got)
	}
}
