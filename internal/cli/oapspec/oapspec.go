// Package oapspec lists what the program oap-spec has.
package oapspec

import (
	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/table"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/governance"
	"github.com/openagentprotocol-OAP/oap-gate/internal/governance/governancecmd"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
)

type commands = []func(frame.IO) *cobra.Command

// Program is the table of oap-spec, which checks a change of the specification.
var Program = table.Program{
	Name:  "oap-spec",
	Short: "check a change of the specification by RFC 0019",
	Long: `
oap-spec reads a clone of the specification and a pull request's changes, and runs the gates of RFC 0019: evidence,
compatibility, review. It reports per gate, with file, line and what would pass.

exit status: 0 pass, 1 a gate failed, 2 could not run, 3 inconclusive`,
	Example: `  oap-spec governance --worktree
  oap-spec explain implementability`,
	Groups: []table.Group{
		{"Check a change", commands{governancecmd.New}},
		{"Learn", nil},
	},
	Exits:      "  schema diff     1: something breaks; 2: the schemas cannot be compared",
	FormatNote: "schema diff takes only text and json.",
	Formats:    report.Without("prometheus"),
	Modes: []table.Mode{
		{"governance", []table.Step{{Command: "governance", Inputs: []string{"path=repo", "base", "checks=only",
			"skip", "allow-pull-request-target"}, Asks: forge.PullEvents}}},
	},
	Subjects: []table.Subject{
		{Name: "governance", Judges: "a change of the specification, in governance",
			Rules: governance.Rules(), Online: "needed for reviews and labels"},
	},
	Codes:          []table.Codes{{"every command that reads a clone", table.CloneCodes}},
	Schemas:        []string{"report", "bundle"},
	SchemaCommands: commands{governancecmd.NewSchemaDiff},
	Words:          map[string][]string{"exception": {"review", "deny"}},
	Arguments:      map[string]cobra.CompletionFunc{"diff": table.JSONFiles},
}
