package cli_test

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/openagentprotocol-OAP/oap-gate/internal/cli"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/programs"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/clitest"
)

// everyCommand returns the command and those below it, without hidden ones.
func everyCommand(c *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{c}
	for _, sub := range c.Commands() {
		if !sub.Hidden {
			all = append(all, everyCommand(sub)...)
		}
	}
	return all
}

// helpOf returns what the program prints for these arguments on a terminal of that width; 0: on a pipe.
func helpOf(t *testing.T, width int, env map[string]string, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	code := clitest.Main(args, frame.IO{Stdout: &out, Stderr: io.Discard, OutWidth: width,
		Getenv: func(name string) string { return env[name] }})
	if code != 0 {
		t.Fatalf("%q: exit status %d", args, code)
	}
	return out.String()
}

// TestHelpFits requires that no line of help, of explain and of a catalogue has over 80 columns, and that help on a
// pipe is the same whatever the environment says about a terminal.
func TestHelpFits(t *testing.T) {
	pages := 0
	page := func(args ...string) {
		pages++
		text := helpOf(t, 0, nil, args...)
		for line := range strings.Lines(text) {
			if strings.HasPrefix(line, "show: ") || strings.HasPrefix(line, "\t") { // a command, to be copied
				continue
			}
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > 80 {
				t.Errorf("%q: the line has %d columns: %s", args, n, line)
			}
		}
		if again := helpOf(t, 0, map[string]string{"COLUMNS": "200"}, args...); again != text {
			t.Errorf("%q: COLUMNS changes the text", args)
		}
		if !strings.HasSuffix(text, "\n") || strings.HasSuffix(text, "\n\n") {
			t.Errorf("%q: the text does not end with one line break: %q", args, text[max(len(text)-20, 0):])
		}
	}
	for _, p := range programs.All {
		for _, c := range everyCommand(cli.Command(p, frame.IO{})) {
			path := strings.Fields(c.CommandPath())
			page(append(slices.Clone(path), "--help")...)
			page(append([]string{p.Name, "help"}, path[1:]...)...)
		}
		_, topics, _ := strings.Cut(helpOf(t, 0, nil, p.Name), "\nHelp topics:\n")
		topics, _, _ = strings.Cut(topics, "\n\n")
		for topic := range strings.Lines(topics) {
			page(p.Name, "help", strings.Fields(topic)[0])
		}
		page(p.Name, "explain")
		for _, s := range p.Subjects {
			if s.Name != "" {
				page(p.Name, "explain", s.Name)
			}
		}
	}
	for _, p := range []string{"oasis", "opengap", "aaep"} {
		page("oap-conform", p, "--list")
	}
	for _, r := range mirror.Catalogue() {
		page("explain", r.ID)
	}
	page("explain", "http-status")
	if pages < 70 {
		t.Errorf("only %d pages were read", pages)
	}
	wide := helpOf(t, 132, nil, "check", "--help")
	narrow := helpOf(t, 40, nil, "check", "--help")
	if strings.Count(wide, "\n") >= strings.Count(narrow, "\n") {
		t.Error("a wide terminal changes nothing")
	}
}

// TestHelpGroups requires that help shows each command of the program in one group, in the order of the table, and the
// flags of the network after the others.
func TestHelpGroups(t *testing.T) {
	for _, p := range programs.All {
		text := helpOf(t, 0, nil, p.Name, "help")
		if bare := helpOf(t, 0, nil, p.Name); text != bare || text != helpOf(t, 0, nil, p.Name, "--help") {
			t.Errorf("%s: help, --help and no arguments differ", p.Name)
		}
		at, shown := 0, map[string]bool{}
		find := func(want string) {
			i := strings.Index(text[at:], want)
			if i < 0 {
				t.Fatalf("%s: no %q after\n%s", p.Name, want, text[:at])
			}
			at += i
		}
		for i, g := range p.Groups {
			find(g.Title + ":\n")
			var names []string
			for _, command := range g.Commands {
				names = append(names, command(frame.IO{}).Name())
			}
			if i == len(p.Groups)-1 {
				names = append(names, "explain", "schema", "help", "completion", "version")
			}
			for _, name := range names {
				if shown[name] {
					t.Errorf("%s is in two groups", name)
				}
				shown[name] = true
				find("\n  " + name + " ")
			}
		}
		if got := len(cli.Command(p, frame.IO{}).Commands()); got != len(shown) {
			t.Errorf("%s has %d commands, and the groups have %d", p.Name, got, len(shown))
		}
	}
	_, flags, _ := strings.Cut(helpOf(t, 0, nil, "check", "--help"), "\nFlags:\n")
	flags, network, found := strings.Cut(flags, "\nNetwork and replay flags:\n")
	var n frame.Network
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	n.Bind(set, "1m")
	set.VisitAll(func(f *pflag.Flag) {
		if f.Name != "at" && !strings.Contains(network, "--"+f.Name+" ") {
			t.Errorf("--%s is not a flag of the network", f.Name)
		}
	})
	for _, name := range []string{"--timeout", "--ca-cert", "--replay", "--connect-to", "--offline", "--cache"} {
		if !found || strings.Contains(flags, name+" ") || !strings.Contains(network, name+" ") {
			t.Errorf("%s is not among the flags of the network", name)
		}
	}
	if strings.Contains(network, "--base") || strings.Contains(helpOf(t, 0, nil, "init", "--help"), "Network") {
		t.Error("a flag that has nothing to do with the network is among its flags")
	}
}

// TestHelpWords requires of each command a short help of at most 60 characters, and of each flag that takes a value a
// name for it in capitals that its text explains.
func TestHelpWords(t *testing.T) {
	metavariable := regexp.MustCompile(`^@?[A-Z0-9]+([:=/|][A-Z0-9]+)*$`)
	var commands []*cobra.Command
	for _, p := range programs.All {
		commands = append(commands, everyCommand(cli.Command(p, frame.IO{}))...)
	}
	for _, c := range commands {
		if n := len([]rune(c.Short)); n == 0 || n > 60 {
			t.Errorf("%s: the short help has %d characters: %q", c.CommandPath(), n, c.Short)
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			name, text := pflag.UnquoteUsage(f)
			if f.Value.Type() == "bool" {
				if name != "" {
					t.Errorf("%s --%s: the name %q belongs to a flag with a value", c.CommandPath(), f.Name, name)
				}
				return
			}
			if !metavariable.MatchString(name) {
				t.Errorf("%s --%s: its value is called %q", c.CommandPath(), f.Name, name)
			}
			if strings.Count(text, ", "+name+",") > 0 || strings.Contains(text, "; repeatable") {
				t.Errorf("%s --%s: write the value's name into the sentence: %s", c.CommandPath(), f.Name, text)
			}
		})
	}
}

// TestTopics requires that the topics name all that they are about.
func TestTopics(t *testing.T) {
	names := environmentNames(t)
	text := ""
	for _, p := range programs.All { // one of them reads PATH
		text += helpOf(t, 0, nil, p.Name, "help", "environment")
	}
	for _, name := range names {
		name = strings.TrimPrefix(name, "environment ")
		if strings.HasPrefix(name, "INPUT_") {
			name = "INPUT_*"
		}
		if !regexp.MustCompile(`\b` + regexp.QuoteMeta(name)).MatchString(text) {
			t.Errorf("help environment does not name %s", name)
		}
	}
	for _, p := range programs.All {
		text = helpOf(t, 0, nil, p.Name, "help", "formats")
		for _, name := range report.Names(p.Formats) {
			if !strings.Contains(text, "\n  "+name+" ") {
				t.Errorf("%s help formats does not explain %s", p.Name, name)
			}
		}
	}
	if got := helpOf(t, 0, nil, "help", "list"); got != helpOf(t, 0, nil, "list", "--help") {
		t.Error("help list and list --help differ")
	}
	for _, args := range [][]string{
		{"help", "exit_status"}, {"help", "chek"}, {"oap-spec", "help", "schema", "dif"}, {"help", "key", "x"},
	} {
		if code, text := clitest.Program(t, args...); code != 2 ||
			!strings.Contains(text, "is not a command or a help topic\nfix: ") {
			t.Errorf("%q: exit status %d\n%s", args, code, text)
		}
	}
}
