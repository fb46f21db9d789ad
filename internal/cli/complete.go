package cli

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/table"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
)

// complete offers the words that the flags and arguments of a command, and of those below it, take.
func complete(t *table.Program, c *cobra.Command) {
	for _, sub := range c.Commands() {
		complete(t, sub)
	}
	offer := func(flag string, words ...string) {
		if c.Flags().Lookup(flag) != nil {
			_ = c.RegisterFlagCompletionFunc(flag, frame.OneOrMore(words))
		}
	}
	for key, words := range t.Words {
		if name, flag, ofOne := strings.Cut(key, " "); !ofOne {
			offer(name, words...)
		} else if name == c.Name() {
			offer(flag, words...)
		}
	}
	offer("color", "auto", "always", "never")
	if c.Flags().Lookup("report") == nil {
		offer("format", "text", "json")
	} else {
		offer("format", "text", "json", "github")
		_ = c.RegisterFlagCompletionFunc("report", completeReport(t))
	}
	if arguments := t.Arguments[c.Name()]; arguments != nil {
		c.ValidArgsFunction = arguments
	}
}

func completeReport(t *table.Program) cobra.CompletionFunc {
	return func(c *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		if strings.Contains(begun, "=") {
			return nil, cobra.ShellCompDirectiveDefault
		}
		var all []string
		for _, format := range report.NamesOf(c.Name(), t.Formats) {
			all = append(all, format+"=")
		}
		if c.Flags().Lookup("verifier") != nil {
			all = append(all, report.StatementFormat+"=")
		}
		return all, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
	}
}
