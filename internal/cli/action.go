package cli

import (
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// isAction tells whether the program was started as a step's action: it then reads INPUT_* and nothing else.
func isAction(sys IO) bool {
	return sys.Getenv("GITHUB_ACTIONS") == "true" && sys.Getenv("GITHUB_ACTION") != ""
}

func newAction(sys IO) *cobra.Command {
	o := options{mode: "check", summary: true, outputs: true}
	c := newRoot(sys)
	c.Args = noArgs
	flags := &cobra.Command{}
	o.bind(flags) // for the defaults
	c.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := o.inputs(sys.Getenv); err != nil {
			return o.failed(sys, err)
		}
		if err := o.check(); err != nil {
			return o.failed(sys, err)
		}
		return runCheck(cmd.Context(), sys, &o)
	}
	return c
}

// inputs reads the Action's inputs; an empty one is unset. They are never read from arguments, which the
// runner quotes wrongly.
func (o *options) inputs(getenv func(string) string) error {
	for _, in := range []struct {
		name string
		set  func(string) error
	}{
		{"path", text(&o.repo)},
		{"checks", words(&o.only)},
		{"skip", words(&o.skip)},
		{"base", text(&o.base)},
		{"offline", boolean("offline", &o.offline)},
		{"governance", text(&o.governance)},
		{"timeout", duration("timeout", &o.timeout)},
		{"budget", duration("budget", &o.budget)},
		{"max-annotations", number("max-annotations", &o.maxAnnotations)},
		{"report", words(&o.reports)},
		{"summary", boolean("summary", &o.summary)},
		{"allow-pull-request-target", boolean("allow-pull-request-target", &o.allowTarget)},
	} {
		value := strings.TrimSpace(getenv("INPUT_" + strings.ToUpper(in.name)))
		if value == "" {
			continue
		}
		if err := in.set(value); err != nil {
			return err
		}
	}
	return nil
}

func text(to *string) func(string) error {
	return func(v string) error { *to = v; return nil }
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
	return func(v string) (err error) { *to, err = parseBool(name, v); return err }
}

func duration(name string, to *time.Duration) func(string) error {
	return func(v string) (err error) {
		if *to, err = time.ParseDuration(v); err != nil {
			return usagef("use a duration such as 10s or 5m", "input %s is %q", name, v)
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
