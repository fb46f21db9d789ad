package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
)

func newExplain(sys IO) *cobra.Command {
	return &cobra.Command{
		Use:     "explain [ID]",
		Short:   "what a check requires, cites, and how to fix it; no ID: the list",
		Example: "  oap-gate explain\n  oap-gate explain domain-age",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usagef("oap-gate explain ID", "explain wants one id, %d were given", len(args))
			}
			return nil
		},
		ValidArgs: ids(catalogue()),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				for _, c := range catalogue() {
					fmt.Fprintf(sys.Stdout, "%-22s %s\n", c.ID, c.Title)
				}
				return nil
			}
			c := checks.ByID(args[0])
			if c == nil {
				return usagef("the checks are "+strings.Join(ids(catalogue()), ", "), "no check is called %q", args[0])
			}
			var kinds []string
			for _, k := range c.Kinds {
				kinds = append(kinds, k.String())
			}
			if len(kinds) == 0 {
				kinds = []string{"the registry as a whole, in an audit"}
			}
			fmt.Fprintf(sys.Stdout, "%s\n\nrequires: %s\ncites:    %s\njudges:   %s\nnetwork:  %s\nwhy:      %s\nfix:      %s\n",
				c.ID, c.Title, c.Cite, strings.Join(kinds, ", "), network(c), c.Why, c.Fix)
			return nil
		},
	}
}

func network(c *checks.Check) string {
	switch {
	case c.Online():
		return "needed"
	case c.Owns != 0 || len(c.Uses) > 0:
		return "needed for a part; the rest is judged offline too"
	}
	return "not needed"
}

// catalogue is every check, in the order of a report.
func catalogue() []*checks.Check { return slices.Concat(checks.Audit, checks.All) }

func ids(of []*checks.Check) []string {
	var out []string
	for _, c := range of {
		out = append(out, c.ID)
	}
	return out
}

// rules is the catalogue as the report writers want it.
func rules() []report.Rule {
	var out []report.Rule
	for _, c := range catalogue() {
		out = append(out, report.Rule{ID: c.ID, Title: c.Title, Cite: c.Cite, Why: c.Why, Fix: c.Fix})
	}
	return out
}
