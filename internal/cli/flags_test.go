package cli_test

import (
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/openagentprotocol-OAP/oap-gate/internal/cli"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/programs"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
)

// TestFlagHasOneKindOfValue requires that a flag name takes one kind of value, by its type and its metavariable,
// in all commands of a program.
func TestFlagHasOneKindOfValue(t *testing.T) {
	for _, p := range programs.All {
		kinds, at, read := map[string]string{}, map[string]string{}, 0
		var walk func(c *cobra.Command)
		walk = func(c *cobra.Command) {
			c.LocalFlags().VisitAll(func(f *pflag.Flag) {
				read++
				metavariable, _ := pflag.UnquoteUsage(f)
				kind := f.Value.Type() + " " + metavariable
				if was, known := kinds[f.Name]; known && was != kind {
					t.Errorf("--%s is %q in %s, and %q in %s", f.Name, was, at[f.Name], kind, c.CommandPath())
				}
				kinds[f.Name], at[f.Name] = kind, c.CommandPath()
			})
			for _, sub := range c.Commands() {
				walk(sub)
			}
		}
		walk(cli.Command(p, frame.IO{}))
		if read < 10 {
			t.Errorf("%s: %d flags were read: the test shows nothing", p.Name, read)
		}
	}
}
