package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/listing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/repoconfig"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	jsonschema "github.com/openagentprotocol-OAP/oap-gate/internal/schema"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verify"
)

var schemaNames = []string{"listing", "revocation", "workflow-anchor", "receipt", "report", "bundle", "gate-policy",
	"repo-config",
	"verification-report", "listings"}

const schemaBase = "https://github.com/openagentprotocol-OAP/oap-gate/schemas/"

func newSchema(sys IO) *cobra.Command {
	c := &cobra.Command{
		Use:   "schema NAME",
		Short: "print a JSON Schema: " + strings.Join(schemaNames, ", ") + "; or compare two",
		Example: "  oap-gate schema listing\n  oap-gate schema report > report.schema.json\n" +
			"  oap-gate schema diff old.schema.json new.schema.json",
		ValidArgs: schemaNames,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 || !slices.Contains(schemaNames, args[0]) {
				return usagef("the schemas are "+strings.Join(schemaNames, ", "), "schema wants the name of one schema")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			_, err := sys.Stdout.Write(append([]byte(strings.TrimSpace(string(schemaText(args[0])))), '\n'))
			return err
		},
	}
	c.AddCommand(newSchemaDiff(sys))
	return c
}

func schemaText(name string) []byte {
	switch name {
	case "report":
		return report.Schema()
	case "bundle":
		return evidence.BundleSchema()
	case "verification-report":
		return jsonschema.Reflect(verify.Report{}, schemaBase+"verification-report.v1.json",
			"Verification Report (RFC 0019 section 6)")
	case "repo-config":
		return jsonschema.Reflect(repoconfig.Config{}, schemaBase+"repo-config.v1.json",
			"protections of an OAP registry")
	case "listings":
		return listing.RowsSchema(schemaBase + "listings.v1.json")
	}
	return jsonschema.Text(name)
}
