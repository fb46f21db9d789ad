package cli

import (
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verify"
)

// actionMode is what the Action does if its input mode has that name.
type actionMode struct {
	name  string
	steps []actionStep // the first whose event or input asks for it runs; the last is asked for by nothing
}

// actionStep is a command as the Action runs it: each input becomes an argument.
type actionStep struct {
	command string   // words of the command line
	events  []string // the workflow events that ask for it
	asked   string   // the input that asks for it
	inputs  []string // each sets the flag of its name, or as INPUT=FLAG that flag; INPUT= sets none
	args    string   // the input that makes the arguments behind the flags; empty: there are none
	// rest makes those arguments; nil: they are the input's words.
	rest func(value string) []string
}

// everyMode are inputs that every mode takes. A command that lacks the flag of one ignores it.
var everyMode = []string{"offline", "timeout", "budget", "max-annotations", "summary"}

// defaulted are inputs with a default, so that a step has them whatever its mode.
var defaulted = []string{"path", "governance", "exception", "allow-pull-request-target"}

// audits are the workflow events that ask for an audit: they name no range.
var audits = []string{"schedule", "workflow_dispatch"}

// modes are those of the Action. The empty one is the gate of a registry.
var modes = []actionMode{
	{"", []actionStep{
		{command: "audit", events: audits, inputs: []string{"path=repo", "checks=only", "skip"}},
		{command: "check", inputs: []string{"path=repo", "base", "checks=only", "skip", "governance",
			"allow-pull-request-target"}}}},
	{"governance", []actionStep{{command: "governance", inputs: []string{"path=repo", "base", "checks=only", "skip",
		"exception", "allow-pull-request-target"}}}},
	{"verify", []actionStep{{command: "verify", inputs: []string{"path=registry", "level", "max-age"}, args: "targets",
		rest: verifyTargets}}},
	{"oasis", []actionStep{{command: "conformance oasis provider",
		inputs: []string{"url", "response", "profile", "requirements", "schema", "tier"}}}},
	{"opengap", []actionStep{{command: "conformance opengap agent", inputs: []string{"dialect", "recommended"},
		args: "path"}}},
	{"aaep", []actionStep{
		{command: "conformance aaep producer", asked: "url", inputs: []string{"url", "level", "layout", "scenario"}},
		{command: "conformance aaep events", inputs: []string{"level"}, args: "events"}}},
}

// verifyTargets gives each line as a target. A single one that is no target names a file of them.
func verifyTargets(value string) []string {
	lines, err := verify.ParseTargets([]byte(value))
	if err != nil {
		return []string{"--targets=" + value}
	}
	if len(lines) == 1 {
		if _, err := verify.ParseTarget(lines[0].Text, true); err != nil {
			return []string{"--targets=" + lines[0].Text}
		}
	}
	out := []string{"--"}
	for _, line := range lines {
		out = append(out, line.Text)
	}
	return out
}

// actionArguments makes a command line of the Action's inputs, which are read nowhere else. What is wrong with them is
// left to the command to refuse, so that its reports say it. The inputs are this process's environment: no runner has
// quoted the arguments that are made of them.
func actionArguments(sys *IO) []string {
	input := func(name string) string { return strings.TrimSpace(sys.Getenv("INPUT_" + strings.ToUpper(name))) }
	event, name := sys.Getenv("GITHUB_EVENT_NAME"), strings.TrimSpace(sys.Getenv("INPUT_MODE"))
	sys.inputs = map[string]string{}
	refuse := func(fix, format string, args ...any) {
		if sys.refused == nil {
			sys.refused = remedy.Errorf(fix, format, args...)
		}
	}
	i := slices.IndexFunc(modes, func(m actionMode) bool { return m.name == name })
	if i < 0 {
		var known []string
		for _, m := range modes[1:] {
			known = append(known, m.name)
		}
		refuse("leave it empty, or use one of "+strings.Join(known, ", "), "input mode %q is not known", name)
		i = 0
	}
	mode := modes[i]
	step := mode.steps[slices.IndexFunc(mode.steps, func(s actionStep) bool {
		return slices.Contains(s.events, event) || s.asked != "" && input(s.asked) != "" || s.events == nil &&
			s.asked == ""
	})]
	taken := slices.Concat(everyMode, []string{step.args})
	argv := strings.Fields(step.command)
	command, _, err := Command(*sys).Find(argv)
	if err != nil {
		panic(err) // a mode names a command that is not there
	}
	argv = append(argv, "--summary")
	for _, r := range words(input("report")) {
		argv = append(argv, "--report="+r)
	}
	for _, in := range slices.Concat(step.inputs, everyMode) {
		name, flag, renamed := strings.Cut(in, "=")
		if !renamed {
			flag = name
		}
		taken = append(taken, name)
		if command.Flags().Lookup(flag) == nil {
			continue
		}
		sys.inputs[flag] = name
		values := []string{input(name)}
		if flag == "only" || flag == "skip" {
			values = words(values[0])
		}
		for _, value := range values {
			if value != "" {
				argv = append(argv, "--"+flag+"="+value)
			}
		}
	}
	if event == "pull_request_target" && !slices.Contains(taken, "allow-pull-request-target") {
		refuse("use pull_request", "the event pull_request_target runs with the base repository's rights, on a "+
			"stranger's files")
	}
	for _, name := range actionInputs() {
		switch {
		case input(name) == "" || slices.Contains(taken, name):
		case step.events != nil && name == "base":
			refuse("leave the input base empty for this event",
				"the event %s audits the whole history, and the input base is %q", event, input(name))
		case mode.name != "" && !slices.Contains(defaulted, name):
			refuse("leave it empty, or choose another mode", "mode %s does not take the input %s here, it is %q",
				mode.name, name, input(name))
		}
	}
	if step.args == "" || input(step.args) == "" {
		return argv
	}
	if step.rest != nil {
		return append(argv, step.rest(input(step.args))...)
	}
	return append(append(argv, "--"), words(input(step.args))...)
}

// actionInputs are the inputs that one step or another takes, beside those that every mode takes.
func actionInputs() []string {
	var all []string
	for _, m := range modes {
		for _, s := range m.steps {
			for _, in := range append(slices.Clone(s.inputs), s.args) {
				name, _, _ := strings.Cut(in, "=")
				if name != "" && !slices.Contains(all, name) {
					all = append(all, name)
				}
			}
		}
	}
	return all
}

// words splits at commas and line breaks.
func words(text string) []string {
	var out []string
	for _, w := range strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == '\n' || r == '\r' }) {
		if w = strings.TrimSpace(w); w != "" {
			out = append(out, w)
		}
	}
	return out
}
