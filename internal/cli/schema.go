package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/typed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/table"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
)

func newSchema(t *table.Program, sys frame.IO) *cobra.Command {
	first := t.Name + " schema " + t.Schemas[0]
	c := &cobra.Command{
		Use:       "schema NAME",
		Short:     "print a JSON Schema",
		Long:      "schema prints a JSON Schema: " + strings.Join(t.Schemas, ", ") + ".",
		Example:   "  " + first + "\n  " + t.Name + " schema report > report.schema.json",
		ValidArgs: t.Schemas,
		Args: func(c *cobra.Command, args []string) error {
			word := strings.Join(args, " ")
			if slices.Contains(t.Schemas, word) {
				return nil
			}
			fix := "the schemas are " + strings.Join(t.Schemas, ", ")
			if others := t.SchemaOf(word); len(others) > 0 {
				fix = others[0] + " schema " + word
			}
			return remedy.Errorf(typed.DidYouMean(word, t.Schemas, fix),
				"schema requires the NAME of one schema; %q is not one of %s", word, t.Name)
		},
		RunE: func(_ *cobra.Command, args []string) error {
			_, err := sys.Stdout.Write(t.Schema(args[0]))
			return err
		},
	}
	for _, sub := range t.SchemaCommands {
		c.AddCommand(sub(sys))
	}
	if t.SchemaCommands != nil {
		c.Short += ", or compare two"
	}
	return c
}
