// Package oapconform lists what the program oap-conform has.
package oapconform

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/docs/schemas"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/table"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep/client"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/conformancecmd"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/oasis"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/opengap"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
)

// Program is the table of oap-conform, which checks an implementation of a companion protocol.
var Program = table.Program{
	Name:  "oap-conform",
	Short: "check an implementation against its companion protocol",
	Long: `
oap-conform judges what the companion protocols require. Each requirement is decided from the input, decided by
talking to a running peer, or for people to attest: nobody can see it from outside, and no report reads as if it
had passed.

exit status: 0 pass, 1 a check failed, 2 could not run, 3 inconclusive`,
	Example: `  oap-conform oasis --list
  oap-conform opengap agent agents/helper
  oap-conform aaep events capture.jsonl --level 2`,
	Groups: []table.Group{
		{"Check an implementation", []func(frame.IO) *cobra.Command{protocol(conformancecmd.OASIS),
			protocol(conformancecmd.OpenGAP), protocol(conformancecmd.AAEP)}},
		{"Learn", nil},
	},
	Environment: " It searches PATH for the program that\n\"aaep subscriber\" starts.",
	FormatNote:  "--list takes only text and json.",
	Formats:     append(report.Without("prometheus"), aaep.Format),
	Modes: []table.Mode{
		{"oasis", []table.Step{{Command: "oasis provider",
			Inputs: []string{"url", "response", "profile", "requirements", "schema", "tier"}}}},
		{"opengap", []table.Step{{Command: "opengap agent", Inputs: []string{"dialect", "recommended"}, Args: "path"}}},
		{"aaep", []table.Step{
			{Command: "aaep producer", Asked: "url", Inputs: []string{"url", "level", "layout", "scenario"}},
			{Command: "aaep subscriber", Asked: "listen", Inputs: []string{"listen", "level", "scenario"},
				Args: "command"},
			{Command: "aaep events", Inputs: []string{"level"}, Args: "events"}}},
	},
	Subjects: []table.Subject{
		{Name: "oasis", Judges: "an evaluation provider, in oasis", Rules: oasis.Rules},
		{Name: "opengap", Judges: "an agent's directory, in opengap", Rules: opengap.Rules},
		{Name: "aaep", Judges: "a producer or a subscriber of AAEP, in aaep", Rules: aaep.Rules,
			Members: aaep.Explain},
	},
	Schemas:   slices.Concat(aaep.Schemas, []string{"report", "bundle"}),
	OwnSchema: func(name string) []byte { return aaep.Schema(name, schemas.ID(name)) },
	Words: map[string][]string{
		"layout":      {client.LayoutSpec, client.LayoutReference},
		"dialect":     {opengap.Auto, opengap.Dialect04, opengap.Dialect01},
		"recommended": {"error", "warn"},
	},
}

// protocol returns what makes the command of a protocol.
func protocol(p *conformancecmd.Protocol) func(frame.IO) *cobra.Command {
	return func(sys frame.IO) *cobra.Command { return conformancecmd.New(sys, p) }
}
