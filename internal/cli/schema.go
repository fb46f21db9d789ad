package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/docs/schemas"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/table"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
)

func newSchema(t *table.Program, sys frame.IO) *cobra.Command {
	c := &cobra.Command{
		Use:   "schema NAME",
		Short: "print a JSON Schema, or compare two",
		Long:  "schema prints a JSON Schema: " + strings.Join(t.Schemas, ", ") + ".",
		Example: "  oap-gate schema listing\n  oap-gate schema report > report.schema.json\n" +
			"  oap-gate schema diff old.schema.json new.schema.json",
		ValidArgs: t.Schemas,
		Args: func(c *cobra.Command, args []string) error {
			if word := strings.Join(args, " "); !slices.Contains(t.Schemas, word) {
				fix := "the schemas are " + strings.Join(t.Schemas, ", ")
				return remedy.Errorf(remedy.DidYouMean(word, t.Schemas, fix),
					"schema requires the NAME of one schema; %q is not one", word)
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			_, err := sys.Stdout.Write(schemas.Text(args[0]))
			return err
		},
	}
	for _, sub := range t.SchemaCommands {
		c.AddCommand(sub(sys))
	}
	return c
}
