package cli

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/openagentprotocol-OAP/oap-gate/gate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror"
	"github.com/openagentprotocol-OAP/oap-gate/internal/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// assumed names the flags in effect that leave a check out or replace network, clock or trust root, by their names.
func assumed(s *selectionFlags, n *networkFlags) []string {
	all := slices.Concat(n.assumed(), s.assumed())
	slices.SortStableFunc(all, func(a, b string) int {
		a, _, _ = strings.Cut(a, " ")
		b, _, _ = strings.Cut(b, " ")
		return strings.Compare(a, b)
	})
	return all
}

// unmade is the report of a run that could not be made, without the reason.
func unmade(mode string, s *selectionFlags, n *networkFlags) *verdict.Report {
	src := evidence.Offline(n.now(), 0)
	cfg := gate.Config{Tool: version(), Selected: s.selected, Assumed: assumed(s, n)}
	if mode == "audit" {
		return mirror.NewReport(src, cfg)
	}
	return gate.NewReport(mode, src, cfg)
}

// inOrder gives the first error, and asks no further.
func inOrder(checks ...func() error) error {
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// writable mends a file that could not be written.
const writable = "name a file in a folder that can be written"

func oneOf(name, value string, known ...string) error {
	if slices.Contains(known, value) {
		return nil
	}
	return usagef("use one of "+strings.TrimPrefix(strings.Join(known, ", "), ", "), "%s %q is not known", name, value)
}

// givenFlag is a text that, where its flag is given, says something. A script whose variable is not set gives an empty
// one: taken for left out, it would leave a condition out that the caller set.
type givenFlag struct{ pflag.Value }

func (g givenFlag) Set(text string) error {
	if text == "" {
		return usagef("give it a value, or leave it out", "is empty")
	}
	return g.Value.Set(text)
}

// refuseEmpty makes givenFlags of the texts among the flags of c and of the commands below it.
func refuseEmpty(c *cobra.Command) {
	for _, sub := range c.Commands() {
		refuseEmpty(sub)
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Value.Type() == "string" {
			f.Value = givenFlag{f.Value}
		}
	})
}

// durationFlag is a flag's duration, shown as it was given.
type durationFlag struct {
	to   *time.Duration
	text string
}

// durationVar defines a flag that [plain.ParseSpan] reads.
func durationVar(f *pflag.FlagSet, to *time.Duration, name, value, usage string) {
	d := &durationFlag{to: to}
	if err := d.Set(value); err != nil {
		panic(err)
	}
	f.Var(d, name, usage)
}

func (d *durationFlag) String() string { return d.text }
func (d *durationFlag) Type() string   { return "duration" }

func (d *durationFlag) Set(text string) (err error) {
	d.text = text
	if *d.to, err = plain.ParseSpan(text); err != nil {
		return usagef("give a duration such as 10s, 5m, 36h or 30d", "%v", err)
	}
	return nil
}
