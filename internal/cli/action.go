package cli

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/internal/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verify"
)

// audits are the workflow events that ask for an audit: they name no range.
var audits = []string{"schedule", "workflow_dispatch"}

// newAction is the program started as a step's action: it reads INPUT_* and nothing else.
func newAction(sys IO) *cobra.Command {
	c := Command(sys)
	c.Args = noArgs
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		name := strings.TrimSpace(sys.Getenv("INPUT_MODE"))
		all := modes()
		i := slices.IndexFunc(all, func(m actionMode) bool { return m.name == name })
		if i < 0 {
			var known []string
			for _, m := range all[1:] {
				known = append(known, m.name)
			}
			var o checkOptions
			o.bind(&cobra.Command{})
			_ = o.readInputs(sys.Getenv) // for the reports
			return o.failed(sys, usagef("leave it empty, or use one of "+strings.Join(known, ", "),
				"input mode %q is not known", name))
		}
		return all[i].run(cmd.Context(), sys, sys.Getenv("GITHUB_EVENT_NAME"))
	}
	return c
}

// actionMode is what the Action does where its input mode has that name.
type actionMode struct {
	name string
	run  func(ctx context.Context, sys IO, event string) error
}

// actionModes are those beside the protocols'; the empty one is the gate of a registry.
var actionModes = []actionMode{
	{"", registryAction},
	{"governance", governanceAction},
	{"verify", verifyAction},
}

func registryAction(ctx context.Context, sys IO, event string) error {
	if slices.Contains(audits, event) {
		return auditAction(ctx, sys, event)
	}
	var o checkOptions
	o.bind(&cobra.Command{}) // for the defaults
	return o.run(ctx, sys, func() error {
		return inOrder(func() error {
			return o.readInputs(sys.Getenv, o.spanFlags.inputs(), o.selectionFlags.inputs(), o.networkFlags.inputs(),
				governanceInput(&o.governance))
		}, o.check,
			func() error { return o.admit(event) }) // the input base must not get around it
	})
}

// governanceAction asks the forge, unless offline says not to: what it knows is needed where user rights are touched.
func governanceAction(ctx context.Context, sys IO, event string) error {
	var o governanceOptions
	o.bind(&cobra.Command{})
	return o.run(ctx, sys, func() error {
		err := o.readInputs(sys.Getenv, o.spanFlags.inputs(), o.selectionFlags.inputs(), o.inputs())
		o.ask = slices.Contains(pullEvents, event) && !o.offline
		return inOrder(func() error { return err }, o.check, func() error { return o.admit(event) })
	})
}

// verifyAction runs verify with the flags that the inputs set. Without the input path no clone is named.
func verifyAction(ctx context.Context, sys IO, event string) error {
	var o verifyOptions
	c := &cobra.Command{}
	o.bind(c)
	var told []string
	flag := func(name string) func(string) error {
		return func(value string) error {
			told = append(told, "--"+name+"="+value)
			return nil
		}
	}
	var targets []string
	foreign := func(name string) input {
		return input{name, func(value string) error {
			return usagef("leave it empty, or choose another mode", "mode verify does not take the input %s, it is %q",
				name, value)
		}}
	}
	taken := []input{{"path", flag("registry")}, {"level", flag("level")}, {"max-age", flag("max-age")},
		{"timeout", flag("timeout")}, {"budget", flag("budget")}, {"offline", flag("offline")},
		{"targets", func(value string) error {
			list, err := verify.ParseTargets([]byte(value))
			for _, line := range list {
				targets = append(targets, line.Text)
			}
			return err
		}}}
	for _, name := range slices.Concat([]string{"checks", "skip", "base"}, protocolInputs()) {
		if !slices.ContainsFunc(taken, func(in input) bool { return in.name == name }) {
			taken = append(taken, foreign(name))
		}
	}
	err := o.readInputs(sys.Getenv, taken)
	if err == nil && event == "pull_request_target" {
		err = usagef("use pull_request", "the event pull_request_target runs with the base repository's rights, on a "+
			"stranger's files")
	}
	if err != nil {
		v := &verification{sys: sys, out: &o.outputFlags, now: o.now()}
		v.cfg.Tool = version()
		o.outputs = true
		return v.failed(err)
	}
	argv := append([]string{"verify", "--max-annotations=" + strconv.Itoa(o.maxAnnotations),
		"--summary=" + strconv.FormatBool(o.summary)}, told...)
	for _, r := range o.reports {
		argv = append(argv, "--report="+r)
	}
	if _, err := verify.ParseTarget(strings.Join(targets, "\n"), true); len(targets) == 1 && err != nil {
		argv = append(argv, "--targets="+targets[0]) // which is no target, so that it names a file of them
	} else {
		argv = append(append(argv, "--"), targets...)
	}
	sys.args, sys.inAction = argv, true
	root := Command(sys)
	root.SetArgs(argv)
	return root.ExecuteContext(ctx)
}

func auditAction(ctx context.Context, sys IO, event string) error {
	var o auditOptions
	o.bind(&cobra.Command{})
	return o.audit(ctx, sys, func() error {
		s, governance := spanFlags{repo: o.repo}, ""
		err := o.readInputs(sys.Getenv, s.inputs(), o.selectionFlags.inputs(), o.networkFlags.inputs(),
			governanceInput(&governance))
		if err == nil && s.base != "" {
			err = usagef("leave the input base empty for this event",
				"the event %s audits the whole history, and the input base is %q", event, s.base)
		}
		o.repo = s.repo
		return inOrder(func() error { return err }, o.check)
	})
}

// input is an input of the Action.
type input struct {
	name string
	set  func(string) error
}

func governanceInput(to *string) []input {
	return []input{{"governance", choice("governance", to, "review", "deny")}}
}

// readInputs reads the Action's inputs, those of the output too; an empty one is unset. They are never read from
// arguments, which the runner quotes wrongly.
func (o *outputFlags) readInputs(getenv func(string) string, groups ...[]input) error {
	o.summary, o.outputs = true, true
	var wrong error // the first; the others are read all the same, so that the reports are written
	for _, in := range slices.Concat(append(groups, o.inputs())...) {
		value := strings.TrimSpace(getenv("INPUT_" + strings.ToUpper(in.name)))
		if value == "" {
			continue
		}
		if err := in.set(value); err != nil && wrong == nil {
			wrong = err
		}
	}
	if link := o.reportsInPlace(getenv); wrong == nil { // what else is wrong is not told to a link either
		wrong = link
	}
	return wrong
}

// reportsInPlace refuses a report whose file, or a folder on the way there, is a symbolic link in the
// workspace: the pull request may have put it there, to /dev/stdout for one, where the runner reads commands.
func (o *outputFlags) reportsInPlace(getenv func(string) string) error {
	workspace, err := filepath.Abs(getenv("GITHUB_WORKSPACE"))
	if err != nil {
		return err
	}
	for _, r := range o.reports {
		_, file, _ := target(r)
		if file == toStdout {
			o.reports = nil
			return usagef("name a file", "input report names stdout, where the runner reads commands")
		}
		path, err := filepath.Abs(file)
		if err != nil {
			return err
		}
		inside, err := filepath.Rel(workspace, path)
		if err != nil || !filepath.IsLocal(inside) {
			continue
		}
		at := workspace
		for _, step := range strings.Split(inside, string(filepath.Separator)) {
			at = filepath.Join(at, step)
			if info, err := os.Lstat(at); err == nil && info.Mode()&os.ModeSymlink != 0 {
				o.reports = nil // the refusal is not written there either
				return usagef("give the report another name", "input report names %q, and %q is a symbolic link", file,
					at)
			}
		}
	}
	return nil
}

func text(to *string) func(string) error {
	return func(v string) error { *to = v; return nil }
}

func choice(name string, to *string, known ...string) func(string) error {
	return func(v string) error { *to = v; return oneOf("input "+name, v, known...) }
}

// words splits at commas and line breaks.
func words(to *[]string) func(string) error {
	return func(v string) error {
		for _, w := range strings.FieldsFunc(v, func(r rune) bool { return r == ',' || r == '\n' || r == '\r' }) {
			if w = strings.TrimSpace(w); w != "" {
				*to = append(*to, w)
			}
		}
		return nil
	}
}

func boolean(name string, to *bool) func(string) error {
	return func(v string) (err error) {
		if *to, err = strconv.ParseBool(v); err != nil {
			return usagef("use true or false", "input %s is %q", name, v)
		}
		return nil
	}
}

func duration(name string, to *time.Duration) func(string) error {
	return func(v string) (err error) {
		if *to, err = plain.ParseSpan(v); err != nil {
			return usagef("use a duration such as 10s, 5m, 36h or 30d", "input %s: %v", name, err)
		}
		return nil
	}
}

func number(name string, to *int) func(string) error {
	return func(v string) (err error) {
		if *to, err = strconv.Atoi(v); err != nil {
			return usagef("use a number", "input %s is %q", name, v)
		}
		return nil
	}
}
