package docs_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/cli"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/programs"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/needs"
)

func page(t *testing.T, name string) string {
	t.Helper()
	text := must.Read(t, name)
	return string(text)
}

// run runs the program that the first argument names, else oap-gate, and gives what it printed.
func run(t *testing.T, status int, args ...string) []byte {
	t.Helper()
	var out, complaint bytes.Buffer
	none := func(string) string { return "" }
	p, words := programs.Of(args)
	if got := cli.Run(p, words, frame.IO{Stdout: &out, Stderr: &complaint, Getenv: none}); got != status {
		t.Fatalf("%q: exit status %d, want %d\n%s%s", args, got, status, &out, &complaint)
	}
	return out.Bytes()
}

// reports are what a policy or a program may read, each with the exit status of the run; only the first is a yes. The
// bytes are of real runs.
func reports(t *testing.T) (all []runOf, clone string) {
	t.Helper()
	w := must.Get(fixture.Build(t.TempDir(),
		[]byte("base: [{listing: nova, level: L2}, {listing: low, not_after: '+3d'}]\n")))(t)
	t.Cleanup(func() { _ = w.Close() })
	verify := func(status int, args ...string) []byte {
		return run(t, status, slices.Concat([]string{"verify", "--format", "json", "--at",
			fixture.Clock.Format("2006-01-02T15:04:05Z")}, args, w.WebArgs())...)
	}
	flags := []string{"--registry", w.Repo.Dir, "--rev", "main"}
	accepted := verify(0, slices.Concat(flags, []string{"https://nova.example"})...)
	refused := verify(1, slices.Concat(flags, []string{"https://gone.example"})...)
	short := verify(0, slices.Concat(flags, []string{"https://low.example"})...)
	unlooked := verify(0, "https://nova.example", "--without-registry")
	// What a test must assume, a live run does not.
	live := regexp.MustCompile(`"assumed": \[[^\]]*\]`).ReplaceAll(accepted, []byte(`"assumed": []`))
	return []runOf{
		{"accepted", live, 0}, {"refused", refused, 1},
		{"error", verify(2, slices.Concat(flags, []string{"--", "--offline"})...), 2}, {"empty", nil, 0},
		{"two", slices.Concat(live, live), 0}, {"short", short, 0}, {"unlooked", unlooked, 0},
	}, w.Repo.Dir
}

// runOf is the output of a run of verify.
type runOf struct {
	name   string
	out    []byte
	status int
}

// examples returns the blocks of verify.md that follow a mark, by the name in it.
func examples(t *testing.T, mark string) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, m := range regexp.MustCompile("(?s)<!-- "+mark+": (\\S+) -->\n```\\S+\n(.*?)```").FindAllStringSubmatch(
		page(t, "verify.md"), -1) {
		found[m[1]] = m[2]
	}
	return found
}

// TestPolicies asks the questions of verify.md of real reports.
func TestPolicies(t *testing.T) {
	policies := examples(t, "policy")
	if len(policies) != 3 {
		t.Fatalf("%d policies, want 3", len(policies))
	}
	needs.Program(t, "jq")
	all, _ := reports(t)
	for policy, text := range policies {
		for _, r := range all {
			ask := exec.CommandContext(t.Context(), "jq", "-e", "-s", "-c", text)
			ask.Stdin = bytes.NewReader(r.out)
			out, _ := ask.CombinedOutput()
			yes := r.name == "accepted" || r.name == "short" && policy != "payments" ||
				r.name == "unlooked" && policy == "listing"
			if status := ask.ProcessState.ExitCode(); (status == 0) != yes {
				t.Errorf("%s of %s: exit status %d\n%s", policy, r.name, status, out)
			}
		}
	}
}

// TestForeignTargets checks that the page's examples put -- before a target that someone else wrote.
func TestForeignTargets(t *testing.T) {
	text := page(t, "verify.md")
	for _, call := range []string{`--format json -- "$TARGET" | jq -e -s`, `"--format", "json", "--", target).Output()`} {
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

// TestPrograms runs the programs of verify.md: only the accepted report makes one engage.
func TestPrograms(t *testing.T) {
	needs.Program(t, "sh", "cat") // the stand-in for the gate is a script
	sources := examples(t, "program")
	if len(sources) != 4 {
		t.Fatalf("%d programs, want 4", len(sources))
	}
	all, clone := reports(t)
	all = append(all, runOf{"disagrees", all[0].out, 1}, runOf{"disagrees too", all[1].out, 0})
	dir := t.TempDir()
	output, arguments := filepath.Join(dir, "output"), filepath.Join(dir, "arguments")
	self := must.Get(os.Executable())(t)
	real, recorded, none := filepath.Join(dir, "real"), filepath.Join(dir, "recorded"), filepath.Join(dir, "none")
	for _, d := range []string{real, recorded, none} {
		must.OK(t, os.Mkdir(d, 0o755))
	}
	if err := os.Symlink(self, filepath.Join(real, "oap-gate")); err != nil { // see TestMain
		t.Fatal(err)
	}
	must.OK(t, os.WriteFile(filepath.Join(recorded, "oap-gate"), []byte("#!/bin/sh\n"+
		"printf '%s\\n' \"$@\" >\"$ARGUMENTS\"\ncat \"$OUTPUT\"\nexit \"$STATUS\"\n"), 0o755))
	for name, text := range sources {
		if lines := strings.Count(text, "\n"); lines > 25 {
			t.Errorf("%s has %d lines, want at most 25", name, lines)
		}
		source := filepath.Join(dir, "main."+name)
		must.OK(t, os.WriteFile(source, []byte(text), 0o644))
		var command []string
		switch name {
		case "go":
			command = []string{filepath.Join(dir, "engage")}
			if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", command[0], source).
				CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		default:
			program := map[string]string{"py": "python3", "js": "node", "sh": "sh"}[name]
			if !needs.Has(t, "the program of docs/verify.md", program) {
				continue
			}
			command = []string{program, source}
		}
		engages := func(what, gate, target string, status int, want bool) {
			call := exec.CommandContext(t.Context(), command[0], append(command[1:], target, clone)...)
			call.Env = append(os.Environ(), "PATH="+gate+string(os.PathListSeparator)+os.Getenv("PATH"),
				"GITHUB_ACTIONS=", "OAP_GATE_OF_THE_DOCS=1", "OUTPUT="+output, "ARGUMENTS="+arguments,
				fmt.Sprintf("STATUS=%d", status))
			var out, complaint bytes.Buffer
			call.Stdout, call.Stderr = &out, &complaint
			err := call.Run()
			if yes := err == nil && out.String() == "engage "+target+"\n"; yes != want ||
				!want && (call.ProcessState.ExitCode() != 1 || out.Len() > 0) {
				t.Errorf("%s, %s: %v\n%s%s", name, what, err, &out, &complaint)
			}
		}
		for i, r := range all {
			must.OK(t, os.WriteFile(output, r.out, 0o644))
			yes := i == 0 || r.name == "short" || r.name == "unlooked"
			engages(r.name, recorded, "https://nova.example", r.status, yes)
			given, err := os.ReadFile(arguments)
			if want := "verify\n--registry\n" + clone + "\n--format\njson\n--\nhttps://nova.example\n"; err != nil ||
				string(given) != want {
				t.Errorf("%s calls oap-gate with %q, want %q", name, given, want)
			}
		}
		engages("a target that looks like a flag", real, "--without-registry", 0, false)
		engages("a command that does not exist", none, "https://nova.example", 0, false)
	}
}

// TestMembersOfTheReport compares the table of verify.md with the report's schema.
func TestMembersOfTheReport(t *testing.T) {
	var schema struct {
		Properties map[string]any `json:"properties"`
	}
	must.OK(t, json.Unmarshal(run(t, 0, "schema", "verification-report"), &schema))
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
