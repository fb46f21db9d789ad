package cli

import (
	"cmp"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/table"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
)

// everyMode are inputs that every mode takes. A command that lacks the flag of one ignores it.
var everyMode = []string{"offline", "timeout", "budget", "max-annotations", "summary"}

// defaults are those of inputs that only some modes read: a step has them whatever its mode. A test compares them with
// action.yml.
var defaults = map[string]string{"governance": "review", "allow-pull-request-target": "false"}

// actionArguments makes a command line of the Action's inputs, which are read nowhere else. What is wrong with them is
// left to the command to refuse, so that its reports say it. The inputs are this process's environment: no runner has
// quoted the arguments that are made of them.
func actionArguments(t *table.Program, sys frame.IO) (args []string, inputs map[string]string, refused error) {
	input := func(name string) string { return strings.TrimSpace(sys.Getenv("INPUT_" + strings.ToUpper(name))) }
	event, name := sys.Getenv("GITHUB_EVENT_NAME"), strings.TrimSpace(sys.Getenv("INPUT_MODE"))
	inputs = map[string]string{}
	refuse := func(fix, format string, args ...any) {
		if refused == nil {
			refused = remedy.Errorf(fix, format, args...)
		}
	}
	all := t.Modes
	i := slices.IndexFunc(all, func(m table.Mode) bool { return m.Name == name })
	if i < 0 {
		var known []string
		for _, m := range all[1:] {
			known = append(known, m.Name)
		}
		refuse("leave it empty, or use one of "+strings.Join(known, ", "), "input mode %q is not known", name)
		i = 0
	}
	mode := all[i]
	step := mode.Steps[slices.IndexFunc(mode.Steps, func(s table.Step) bool {
		return slices.Contains(s.Events, event) || s.Asked != "" && input(s.Asked) != "" || s.Events == nil &&
			s.Asked == ""
	})]
	taken := slices.Concat(everyMode, []string{step.Args})
	args = strings.Fields(step.Command)
	command, _, err := Command(t, sys).Find(args)
	if err != nil {
		panic(err) // a mode names a command that is not there
	}
	if command.Flags().Lookup("summary") != nil {
		args = append(args, "--summary")
	}
	for _, r := range words(input("report")) {
		if command.Flags().Lookup("report") == nil {
			refuse("leave the input report empty", "mode %s does not take the input report here, it is %q", mode.Name, r)
			break
		}
		args = append(args, "--report="+r)
	}
	for _, in := range slices.Concat(step.Inputs, everyMode) {
		name, flag, renamed := strings.Cut(in, "=")
		if !renamed {
			flag = name
		}
		taken = append(taken, name)
		if command.Flags().Lookup(flag) == nil {
			continue
		}
		inputs[flag] = name
		if value := input(name); name == "apply" && (value == "" || value == "false") {
			args = append(args, "--dry-run")
			continue
		}
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
	if slices.Contains(step.Asks, event) {
		args = append(args, "--forge")
	}
	if event == "pull_request_target" && !slices.Contains(taken, "allow-pull-request-target") {
		refuse("use pull_request", "the event pull_request_target runs with the base repository's rights, on a "+
			"stranger's files")
	}
	if step.Events != nil { // the same workflow gates pull requests with the mode's other inputs
		if base := input("base"); base != "" {
			refuse("leave the input base empty for this event",
				"the event %s audits the whole history, and the input base is %q", event, base)
		}
		if value := input("governance"); value != "" && refused == nil {
			refused = remedy.OneOf("input governance", value, "review", "deny")
		}
		taken = append(taken, actionInputs(mode)...)
	}
	for _, name := range actionInputs(all...) {
		if value := input(name); value != "" && value != defaults[name] && !slices.Contains(taken, name) {
			refuse(otherMode(all, name), "mode %s does not take the input %s here, it is %q",
				cmp.Or(mode.Name, "\"\" (the gate)"), name, value)
		}
	}
	if step.Args == "" || input(step.Args) == "" {
		return args, inputs, refused
	}
	if step.Rest != nil {
		return append(args, step.Rest(input(step.Args))...), inputs, refused
	}
	return append(append(args, "--"), words(input(step.Args))...), inputs, refused
}

// actionInputs returns the inputs that modes name: not everyMode, nor path, with which a mode may do nothing.
func actionInputs(modes ...table.Mode) []string {
	var all []string
	for _, m := range modes {
		for _, s := range m.Steps {
			for _, in := range append(slices.Clone(s.Inputs), s.Args) {
				name, _, _ := strings.Cut(in, "=")
				if name != "" && name != "path" && !slices.Contains(all, name) {
					all = append(all, name)
				}
			}
		}
	}
	return all
}

// otherMode returns the fix of an input that the mode does not take. It names the modes that do.
func otherMode(all []table.Mode, name string) string {
	var takes []string
	for _, m := range all {
		if slices.Contains(actionInputs(m), name) {
			takes = append(takes, cmp.Or(m.Name, `""`))
		}
	}
	return "leave the input " + name + " empty; mode " + strings.Join(takes, ", ") + " " +
		plain.Plural(len(takes), "takes", "take") + " it"
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
