package cli_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/openagentprotocol-OAP/oap-gate/internal/cli"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/programs"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// whole is what stands on stderr where the program could not run: pairs of an error and its fix.
var whole = regexp.MustCompile(`^(error: .+\nfix: .+\n)*$`)

// TestExplain checks that explain says six things at least of each check that its list names.
func TestExplain(t *testing.T) {
	told := func(args ...string) string {
		code, out := clitest.Program(t, args...)
		if code != 0 {
			t.Fatalf("%q: exit status %d and\n%s", args, code, out)
		}
		return out
	}
	listed := regexp.MustCompile(`(?m)^([A-Za-z][A-Za-z0-9.-]*) `)
	var checks [][2]string // program and id
	for _, p := range programs.All {
		list, more, _ := strings.Cut(told(p.Name, "explain"), "\nMore rules: "+p.Name+" explain SUBJECT\n\n")
		for _, s := range listed.FindAllStringSubmatch(list, -1) {
			checks = append(checks, [2]string{p.Name, s[1]})
		}
		var names, want []string
		for _, s := range listed.FindAllStringSubmatch(more, -1) {
			names = append(names, s[1])
			rules := listed.FindAllStringSubmatch(told(p.Name, "explain", s[1]), -1)
			if !strings.Contains("\n"+more, fmt.Sprintf("\n%-22s %d rules: ", s[1], len(rules))) {
				t.Errorf("explain %s lists %d rules, which is not the number of explain:\n%s", s[1], len(rules), more)
			}
			for _, s := range rules {
				checks = append(checks, [2]string{p.Name, s[1]})
			}
		}
		for _, s := range p.Subjects {
			if s.Name != "" {
				want = append(want, s.Name)
			}
		}
		if !slices.Equal(names, want) {
			t.Errorf("%s: the subjects are %q, want %q", p.Name, names, want)
		}
	}
	if len(checks) < 100 {
		t.Errorf("%d checks are listed; expected all", len(checks))
	}
	said := regexp.MustCompile(`(?m)^(requires|cites|judges|network|why|fix):`)
	for _, c := range checks {
		if n := len(said.FindAllString(told(c[0], "explain", c[1]), -1)); n < 6 || n > 19 {
			t.Errorf("explain %s says %d things, want six at least", c[1], n)
		}
	}
}

// TestUsageErrorsHaveAFix walks all commands and their flags, uses each wrongly, and holds that whatever is told as an
// error is followed by what would do.
func TestUsageErrorsHaveAFix(t *testing.T) {
	w := clitest.Build(t, "base: [{listing: eve}]\npr: [{listing: nova}]\n")
	empty := filepath.Join(t.TempDir(), "empty")
	must.OK(t, os.WriteFile(empty, nil, 0o644))
	t.Chdir(w.Repo.Dir)
	run := func(env map[string]string, args ...string) (int, string) {
		var told bytes.Buffer
		code := clitest.Main(args, frame.IO{Stdout: &bytes.Buffer{}, Stderr: &told,
			Getenv: func(n string) string { return env[n] }})
		if n := strings.Count(told.String(), "error: "); !whole.MatchString(told.String()) || code == 2 && n != 1 {
			t.Errorf("%q, %q: exit status %d and\n%s", env, args, code, told.String())
		}
		return code, told.String()
	}
	wrong := func(args ...string) {
		if code, told := run(nil, args...); code != 2 || told == "" {
			t.Errorf("%q: exit status %d and %q, want 2 and an error", args, code, told)
		}
	}
	// What makes a command ask nobody, and fail or end early.
	still := map[string][]string{
		"check": {"--offline"}, "audit": {"--offline"}, "replay": {empty}, "merge": {empty}, "comment": {empty},
		"doctor":  {"--forge", "--repository", "acme/registry", "--api-url", "http://127.0.0.1:1"},
		"protect": {"--dry-run", "--api-url", "http://127.0.0.1:1"},
	}
	var walk func(c *cobra.Command, path []string)
	walk = func(c *cobra.Command, path []string) {
		wrong(append(slices.Clone(path), "--no-such-flag")...)
		if c.Name() != "merge" && c.HasParent() && !c.HasSubCommands() {
			wrong(append(slices.Clone(path), "one", "two", "three")...)
		}
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if f.Name == "help" {
				return
			}
			flag := "--" + f.Name
			switch f.Value.Type() {
			case "string", "stringSlice", "stringArray":
				wrong(append(slices.Clone(path), flag)...)
				for _, value := range []string{"\x00no:such=value", "", empty} {
					code, told := run(nil, slices.Concat(path, still[c.Name()], []string{flag, value})...)
					if value == "" && f.Value.Type() != "stringArray" &&
						(code != 2 || !strings.HasPrefix(told, "error: "+flag+" is empty\n")) {
						t.Errorf("%s: exit status %d and %q, want 2: it is empty", append(path, flag), code, told)
					}
				}
			case "bool":
				wrong(append(slices.Clone(path), flag+"=perhaps")...)
			default:
				wrong(append(slices.Clone(path), flag)...)
				wrong(append(slices.Clone(path), flag, "-1x")...)
			}
		})
		for _, sub := range c.Commands() {
			if sub.Name() != "completion" && sub.Name() != "help" { // the library's own
				walk(sub, append(slices.Clone(path), sub.Name()))
			}
		}
	}
	for _, p := range programs.All {
		walk(cli.Command(p, frame.IO{}), []string{p.Name})
		wrong(p.Name, "no-such-command")
	}
	for _, args := range [][]string{
		{"audit", "merge"}, {"audit", "merge", empty}, {"audit", "merge", "none"}, {"replay"},
		{"replay", "none"}, {"replay", empty},
		{"forge", "comment"}, {"forge", "comment", empty}, {"forge", "comment", "none"}, {"forge", "none"},
		{"explain", "none"}, {"schema", "none"}, {"forge", "protect"}, {"forge", "protect", "--dry-run"},
		{"check", "--repo", t.TempDir()}, {"audit", "--repo", t.TempDir()}, {"doctor", "--repo", t.TempDir()},
		{"check", "--base", "none"}, {"check", "--head", "none"}, {"audit", "--rev", "none"},
		{"audit", "--keyring", empty}, {"audit", "--allowed-signers", empty},
		{"audit", "--origin", "x", "--checkpoint", "c", "--sign-key", empty},
		{"audit", "--origin", "x", "--checkpoint", "c", "--verify-key", "x"},
		{"check", "--offline", "--report", "json=/no/such/folder/x"}, {"check", "--cache", empty},
		{"check", "--worktree", "--head", "HEAD"},
	} {
		wrong(args...)
	}
	action := map[string]string{"GITHUB_ACTIONS": "true", "GITHUB_ACTION": "gate", "GITHUB_EVENT_NAME": "pull_request"}
	for _, input := range []string{"PATH", "CHECKS", "SKIP", "BASE", "OFFLINE", "GOVERNANCE", "TIMEOUT", "BUDGET",
		"MAX-ANNOTATIONS", "REPORT"} {
		env := map[string]string{"INPUT_" + input: "no:such"}
		for k, v := range action {
			env[k] = v
		}
		var told bytes.Buffer
		code := clitest.Main(nil, frame.IO{Stdout: &told, Stderr: &told,
			Getenv: func(n string) string { return env[n] }})
		if code != 2 || !strings.Contains(told.String(), "\n    fix: ") {
			t.Errorf("input %s: exit status %d and\n%s", input, code, told.String())
		}
	}
}

// TestAdvice checks that the fix of a likely mistake is one that helps.
func TestAdvice(t *testing.T) {
	w := clitest.Build(t, "base: [{listing: eve}]\npr: [{listing: nova}]\n")
	t.Chdir(w.Repo.Dir)
	empty := filepath.Join(t.TempDir(), "empty")
	must.OK(t, os.WriteFile(empty, nil, 0o644))
	unborn := must.Get(fixture.NewRepo(t.TempDir()))(t)
	const noCommit = "not found: HEAD names refs/heads/main, which has no commit"
	for _, c := range []struct {
		args       []string
		error, fix string
	}{
		{[]string{"check", "--repo", empty}, "not a git repository: it is not a directory",
			"name the directory of a clone"},
		{[]string{"check", "--repo", unborn.Dir}, noCommit, "or fetch it"},
		{[]string{"audit", "--repo", unborn.Dir}, noCommit, "or fetch it"},
		{[]string{"check", "--only", "schema", "--skip", "schema"}, "leave no check to run", "leave fewer of them out"},
		{[]string{"check", "--skip", "history"}, `the check "history" cannot be selected`, "run oap-gate audit for it"},
		{[]string{"check", "--skip", "log"}, `the check "log" cannot be selected`, "only audit --log DIR and mirror"},
		{[]string{"audit", "--only", "log"}, `the check "log" cannot be selected`, "only audit --log DIR and mirror"},
		{[]string{"check", "--ca-cert", empty}, "no PEM certificate", "a PEM file with --ca-cert"},
		{[]string{"audit", "merge", empty}, "it is empty", "name the JSON reports of oap-gate audit --shard"},
		{[]string{"oap-spec", "governance", "--base", "main"}, "no OAP specification here",
			"name a clone of the specification"},
		{[]string{"oap-conform", "oasis", "provider", "--response", empty, "--profile", empty},
			empty + ": not a directory", "name the profile's directory"},
		{[]string{"oap-conform", "oasis", "provider", "--response", empty, "--profile", "schemas"},
			"schemas/provider-conformance-requirements.yaml: ", "name the profile's directory"},
		{[]string{"mirror", "https://git.example/registry", "."}, "is a clone", "name another directory"},
		{[]string{"mirror", "https://git.example/registry", ".git"}, "is a clone", "oap-gate audit --repo DIR"},
		{[]string{"audit", "registry"}, "takes no argument", "a clone is named with --repo DIR"},
		{[]string{"verify", "./receipt.json"}, "not a target", "--receipt FILE"},
		{[]string{"new", "ab", "cd"}, "not a target", "did:web:host[:path]\n"},
	} {
		code, told := clitest.Program(t, c.args...)
		failed, fix, _ := strings.Cut(told, "\nfix: ")
		if code != 2 || !strings.Contains(failed, c.error) || !strings.Contains(fix, c.fix) {
			t.Errorf("%q: exit status %d, want 2, %q and %q\n%s", c.args, code, c.error, c.fix, told)
		}
	}
}
