package docs_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/cli"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
)

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// run runs the program and gives what it printed.
func run(t *testing.T, status int, args ...string) []byte {
	t.Helper()
	var out, complaint bytes.Buffer
	none := func(string) string { return "" }
	if got := cli.Main(args, frame.IO{Stdout: &out, Stderr: &complaint, Getenv: none}); got != status {
		t.Fatalf("oap-gate %q: exit status %d, want %d\n%s%s", args, got, status, &out, &complaint)
	}
	return out.Bytes()
}

// TestPolicies asks the questions of verify.md of real reports.
func TestPolicies(t *testing.T) {
	policies := map[string]string{}
	for _, m := range regexp.MustCompile("(?s)<!-- policy: (\\S+) -->\n```jq\n(.*?)```").FindAllStringSubmatch(page(t,
		"verify.md"), -1) {
		policies[m[1]] = m[2]
	}
	if len(policies) != 3 {
		t.Fatalf("%d policies, want 3", len(policies))
	}
	jq, err := exec.LookPath("jq")
	if err != nil {
		t.Skip("jq is not installed: THE POLICIES OF docs/verify.md WERE NOT RUN")
	}
	w, err := fixture.Build(t.TempDir(),
		[]byte("base: [{listing: nova, level: L2}, {listing: low, not_after: '+3d'}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	verify := func(status int, args ...string) []byte {
		return run(t, status, slices.Concat([]string{"verify", "--format", "json", "--at",
			fixture.Clock.Format("2006-01-02T15:04:05Z")}, args, w.WebArgs())...)
	}
	clone := []string{"--registry", w.Repo.Dir, "--rev", "main"}
	listed := verify(0, slices.Concat([]string{"https://nova.example"}, clone)...)
	low := verify(0, slices.Concat([]string{"https://low.example"}, clone)...)
	alone := verify(0, "https://nova.example", "--without-registry")
	gone := verify(1, "https://gone.example")
	both := verify(0, slices.Concat([]string{"https://nova.example", "https://low.example"}, clone)...)
	mixed := verify(1, slices.Concat([]string{"https://nova.example", "https://gone.example"}, clone)...)
	// What a test must assume, a live run does not.
	full := regexp.MustCompile(`"assumed": \[[^\]]*\]`).ReplaceAll(listed, []byte(`"assumed": []`))
	for _, c := range []struct {
		policy string
		report []byte
		status int // of jq -e
		want   string
	}{
		{"engage", listed, 0, "true"}, {"engage", both, 0, "true"}, {"engage", alone, 1, "false"},
		{"engage", gone, 1, "false"}, {"engage", mixed, 1, "false"}, {"engage", nil, 1, "false"},
		{"payments", full, 0, "true"}, {"payments", listed, 1, "false"}, {"payments", low, 1, "false"},
		{"payments", gone, 1, "false"}, {"payments", slices.Concat(full, listed), 1, "false"},
		{"payments", nil, 1, "false"},
		{"listing", listed, 0,
			`{"target":"https://nova.example","levels":["L2"],"until":"2026-08-20T12:00:00Z","missing":[],"why":[],"later":[]}`},
		{"listing", nil, 5, "jq: error (at <stdin>:0): no report"},
	} {
		ask := exec.CommandContext(t.Context(), jq, "-e", "-s", "-c", policies[c.policy])
		ask.Stdin = bytes.NewReader(c.report)
		out, err := ask.CombinedOutput()
		status := ask.ProcessState.ExitCode()
		if got := strings.TrimSpace(string(out)); status != c.status || got != c.want {
			t.Errorf("%s: %v %s, want %s and the exit status %d, of\n%.1500s", c.policy, err, got, c.want, c.status,
				c.report)
		}
	}
}

// TestForeignTargets holds that the page's examples put -- before a target that someone else wrote.
func TestForeignTargets(t *testing.T) {
	text := page(t, "verify.md")
	for _, call := range []string{`--format json -- "$TARGET" | jq -e -s`, `"--format", "json", "--", target)`} {
		if !strings.Contains(text, call) {
			t.Errorf("the page does not show %s", call)
		}
	}
	if calls := strings.Count(text, "jq -e"); calls == 0 || calls != strings.Count(text, "jq -e -s") {
		t.Error("the page shows jq -e without -s")
	}
	for _, target := range []string{"--offline", "--level=L0", "-h"} {
		if out := run(t, 2, "verify", "--format", "json", "--", target); bytes.Contains(out,
			[]byte(`"accepted": true`)) {
			t.Errorf("%s was read as a flag:\n%s", target, out)
		}
	}
}

// TestProgram compiles the program of verify.md, which calls this one.
func TestProgram(t *testing.T) {
	m := regexp.MustCompile("(?s)<!-- program -->\n```go\n(.*?)```").FindStringSubmatch(page(t, "verify.md"))
	if m == nil {
		t.Fatal("the page shows no program")
	}
	dir := t.TempDir()
	source := filepath.Join(dir, "main.go")
	if err := os.WriteFile(source, []byte(m[1]), 0o644); err != nil {
		t.Fatal(err)
	}
	caller := filepath.Join(dir, "caller")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", caller, source).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(dir, "oap-gate")); err != nil { // see TestMain
		t.Fatal(err)
	}
	w, err := fixture.Build(t.TempDir(), []byte("base: [{listing: nova}]\n"))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	// A target that is not there: nothing of the test's web reaches the program.
	call := exec.CommandContext(t.Context(), caller, "https://127.0.0.1", w.Repo.Dir)
	call.Env = append(os.Environ(), "PATH="+dir+string(os.PathListSeparator)+os.Getenv("PATH"), "GITHUB_ACTIONS=",
		"OAP_GATE_OF_THE_DOCS=1")
	out, err := call.CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "fail [] [manifest: ") || !strings.HasSuffix(string(out),
		"<nil>\n") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestMembersOfTheReport holds the table of verify.md to the report's schema.
func TestMembersOfTheReport(t *testing.T) {
	var schema struct {
		Properties map[string]any `json:"properties"`
	}
	if err := json.Unmarshal(run(t, 0, "schema", "verification-report"), &schema); err != nil {
		t.Fatal(err)
	}
	text := page(t, "verify.md")
	for _, m := range regexp.MustCompile("(?m)^\\| ((?:`[a-z_.\\[\\]0-9]+`(?:, )?)+) \\|").FindAllStringSubmatch(text,
		-1) {
		for name := range strings.SplitSeq(strings.ReplaceAll(m[1], "`", ""), ", ") {
			name, _, below := strings.Cut(strings.ReplaceAll(name, "[]", ""), ".")
			if _, known := schema.Properties[name]; !known && !below && name != "findings" {
				t.Errorf("the page tells of %q, which no report has", name)
			}
		}
	}
	for name := range schema.Properties {
		if !strings.Contains(text, "`"+name+"`") && !strings.Contains(text, "`"+name+"[]`") &&
			!slices.Contains([]string{"version", "tool", "mode", "error", "remedy", "level", "counts", "canonical"},
				name) {
			t.Errorf("the page does not tell of %q", name)
		}
	}
}
