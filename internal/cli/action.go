package cli

import (
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
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
	asks    []string // the workflow events at which --forge is set
	args    string   // the input that provides the arguments after the flags; may be empty
	// rest makes those arguments; nil: they are the input's words.
	rest func(value string) []string
}

// everyMode are inputs that every mode takes. A command that lacks the flag of one ignores it.
var everyMode = []string{"offline", "timeout", "budget", "max-annotations", "summary"}

// defaulted are inputs with a default, so that a step has them whatever its mode.
var defaulted = []string{"path", "governance", "exception", "allow-pull-request-target"}

// actionArguments makes a command line of the Action's inputs, which are read nowhere else. What is wrong with them is
// left to the command to refuse, so that its reports say it. The inputs are this process's environment: no runner has
// quoted the arguments that are made of them.
func actionArguments(sys frame.IO) (args []string, inputs map[string]string, refused error) {
	input := func(name string) string { return strings.TrimSpace(sys.Getenv("INPUT_" + strings.ToUpper(name))) }
	event, name := sys.Getenv("GITHUB_EVENT_NAME"), strings.TrimSpace(sys.Getenv("INPUT_MODE"))
	inputs = map[string]string{}
	refuse := func(fix, format string, args ...any) {
		if refused == nil {
			refused = remedy.Errorf(fix, format, args...)
		}
	}
	all := modes()
	i := slices.IndexFunc(all, func(m actionMode) bool { return m.name == name })
	if i < 0 {
		var known []string
		for _, m := range all[1:] {
			known = append(known, m.name)
		}
		refuse("leave it empty, or use one of "+strings.Join(known, ", "), "input mode %q is not known", name)
		i = 0
	}
	mode := all[i]
	step := mode.steps[slices.IndexFunc(mode.steps, func(s actionStep) bool {
		return slices.Contains(s.events, event) || s.asked != "" && input(s.asked) != "" || s.events == nil &&
			s.asked == ""
	})]
	taken := slices.Concat(everyMode, []string{step.args})
	args = strings.Fields(step.command)
	command, _, err := Command(sys).Find(args)
	if err != nil {
		panic(err) // a mode names a command that is not there
	}
	args = append(args, "--summary")
	for _, r := range words(input("report")) {
		args = append(args, "--report="+r)
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
		inputs[flag] = name
		values := []string{input(name)}
		if flag == "only" || flag == "skip" {
			values = words(values[0])
		}
		for _, value := range values {
			if value != "" {
				args = append(args, "--"+flag+"="+value)
			}
		}
	}
	if slices.Contains(step.asks, event) {
		args = append(args, "--forge")
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
		case step.events != nil && name == "governance":
			if err := remedy.OneOf("input governance", input(name), "review", "deny"); err != nil && refused == nil {
				refused = err // the same workflow checks pull requests with it
			}
		case mode.name != "" && !slices.Contains(defaulted, name):
			refuse("leave it empty, or choose another mode", "mode %s does not take the input %s here, it is %q",
				mode.name, name, input(name))
		}
	}
	if step.args == "" || input(step.args) == "" {
		return args, inputs, refused
	}
	if step.rest != nil {
		return append(args, step.rest(input(step.args))...), inputs, refused
	}
	return append(append(args, "--"), words(input(step.args))...), inputs, refused
}

// actionInputs returns the inputs of the steps, without those that every mode takes.
func actionInputs() []string {
	var all []string
	for _, m := range modes() {
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
