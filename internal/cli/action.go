package cli

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/typed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/table"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
)

// everyMode are inputs that every mode takes. A command that lacks the flag of one ignores it.
var everyMode = []string{"offline", "timeout", "budget", "max-annotations", "summary"}

// defaults are those of inputs that only some modes read: a step has them whatever its mode. A test compares them with
// action.yml.
var defaults = map[string]string{"governance": "review", "allow-pull-request-target": "false",
	"labels": "false", "mention": "false"}

// mistaken returns what is wrong with the mode of the Action. If the mode is of another program, this one becomes that
// program if its table says so, and the function does not return.
func mistaken(t *table.Program, sys frame.IO) error {
	name := strings.TrimSpace(sys.Getenv("INPUT_MODE"))
	i := slices.IndexFunc(table.ActionModes, func(m table.ModeOf) bool { return m.Mode == name })
	if i < 0 {
		var known []string
		for _, m := range table.ActionModes[1:] {
			known = append(known, m.Mode)
		}
		return remedy.Errorf("leave it empty, or use one of "+strings.Join(known, ", "),
			"input mode %q is not known", name)
	}
	other := table.ActionModes[i].Program
	switch {
	case other == t.Name:
		return nil
	case !t.Becomes:
		return remedy.Errorf("run "+other, "mode %s is of %s", cmp.Or(name, `""`), other)
	}
	err := become(other) // it returns only if it fails
	if errors.Is(err, fs.ErrNotExist) {
		return remedy.Errorf("put "+other+" of the same release there", "mode %s is of %s, which is not next to %s",
			name, other, t.Name)
	}
	return remedy.Errorf("run "+other, "mode %s is of %s, which %s cannot become: %v", name, other, t.Name, err)
}

func inputOf(sys frame.IO, name string) string {
	return strings.TrimSpace(sys.Getenv("INPUT_" + strings.ToUpper(name)))
}

// actionArguments makes a command line of the Action's inputs, which are read nowhere else. What is wrong with them is
// left to the command to refuse, so that its reports say it; a mistaken mode is left to the first one's. The inputs
// are this process's environment: no runner has quoted the arguments that are made of them.
func actionArguments(t *table.Program, sys frame.IO, mistake error) (args []string, inputs map[string]string,
	refused error) {
	input := func(name string) string { return inputOf(sys, name) }
	event := sys.Getenv("GITHUB_EVENT_NAME")
	inputs, refused = map[string]string{}, mistake
	refuse := func(fix, format string, args ...any) {
		if refused == nil {
			refused = remedy.Errorf(fix, format, args...)
		}
	}
	i := slices.IndexFunc(t.Modes, func(m table.Mode) bool { return m.Name == input("mode") })
	mode := t.Modes[max(i, 0)]
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
			refuse("leave the input report empty", "mode %s does not take the input report here, it is %q", mode.Name,
				r)
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
			refused = typed.OneOf("input governance", value, "review", "deny")
		}
		for _, m := range table.ActionModes {
			if m.Mode == mode.Name {
				taken = append(taken, strings.Fields(m.Inputs)...)
			}
		}
	}
	for _, m := range table.ActionModes {
		for _, name := range strings.Fields(m.Inputs) {
			if value := input(name); value != "" && value != defaults[name] && !slices.Contains(taken, name) {
				refuse(otherMode(name), "mode %s does not take the input %s here, it is %q",
					cmp.Or(mode.Name, "\"\" (the gate)"), name, value)
			}
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

// otherMode returns the fix of an input that the mode does not take. It names the modes that do.
func otherMode(name string) string {
	var takes []string
	for _, m := range table.ActionModes {
		if slices.Contains(strings.Fields(m.Inputs), name) {
			takes = append(takes, cmp.Or(m.Mode, `""`))
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
