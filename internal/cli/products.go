package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/internal/author/authorcmd"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/demo"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/conformancecmd"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/oasis"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/opengap"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/governance"
	"github.com/openagentprotocol-OAP/oap-gate/internal/governance/governancecmd"
	"github.com/openagentprotocol-OAP/oap-gate/internal/install/doctor"
	"github.com/openagentprotocol-OAP/oap-gate/internal/install/installcmd"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge/checkcmd"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/mirrorcmd"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verify"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verify/verifycmd"
)

// groups are the commands, in the groups and the order of the help.
var groups = []struct {
	title    string
	commands []func(frame.IO) *cobra.Command
}{
	{"Get listed and stay listed", []func(frame.IO) *cobra.Command{authorcmd.NewNew, authorcmd.NewRenew, checkcmd.New,
		authorcmd.NewRevoke, authorcmd.NewWitness, authorcmd.NewSign, authorcmd.NewKey, authorcmd.NewFmt}},
	{"Verify and look up", []func(frame.IO) *cobra.Command{verifycmd.New, authorcmd.NewList, verifycmd.NewProve,
		verifycmd.NewChanges}},
	{"Run a registry", []func(frame.IO) *cobra.Command{installcmd.NewInit, installcmd.NewDoctor, installcmd.NewProtect,
		installcmd.NewComment, installcmd.NewRemind, installcmd.NewRerun}},
	{"Mirror and audit", []func(frame.IO) *cobra.Command{mirrorcmd.NewMirror, mirrorcmd.NewAudit, mirrorcmd.NewMerge,
		newReplay}},
	{"Specification and protocols", []func(frame.IO) *cobra.Command{governancecmd.New, newConformance, newSchema}},
	{"Learn", []func(frame.IO) *cobra.Command{demo.New, newExplain, newHelp, newCompletion, newVersion}},
}

// product is what the program does for one of those who use it.
type product struct {
	protocol *conformancecmd.Protocol // it has commands below conformance; nil: it has none
	modes    []actionMode             // modes of the Action
	subjects []subject                // what it judges other than a registry
	replays  map[string]replay        // by the mode of a bundle
}

// replay judges again what a bundle of the product names; dir is the clone.
type replay func(ctx context.Context, sys frame.IO, out *frame.Output, b *bundle.Bundle, dir string) error

// products are all of them. Explain, replay, conformance, the Action and the tests read nothing else.
var products = []product{
	{
		modes: []actionMode{{"", []actionStep{
			{command: "audit", events: forge.AuditEvents, inputs: []string{"path=repo", "checks=only", "skip"}},
			{command: "check", inputs: []string{"path=repo", "base", "checks=only", "skip", "governance",
				"allow-pull-request-target"}}}}},
		replays: map[string]replay{"check": checkcmd.Replay},
	},
	{
		replays: map[string]replay{"audit": mirrorcmd.Replay},
	},
	{
		subjects: []subject{{name: "doctor", judges: "the installation, in doctor and protect", reportedBy: "doctor",
			rules: doctor.Rules, online: "needed for protections"}},
	},
	{
		modes: []actionMode{{"verify", []actionStep{{command: "verify",
			inputs: []string{"path=registry", "level", "max-age"}, args: "targets", rest: verifyTargets}}}},
		subjects: []subject{{name: "verify", judges: "one implementation, in verify", reportedBy: "verify",
			rules: verify.Rules()}},
		replays: map[string]replay{"verify": verifycmd.Replay},
	},
	{
		modes: []actionMode{{"governance", []actionStep{{command: "governance", inputs: []string{"path=repo", "base",
			"checks=only", "skip", "exception", "allow-pull-request-target"}, asks: forge.PullEvents}}}},
		subjects: []subject{{name: "governance", judges: "a change of the specification, in governance",
			rules: governance.Rules(), online: "needed for reviews and labels"}},
	},
	{
		protocol: conformancecmd.OASIS,
		modes: []actionMode{{"oasis", []actionStep{{command: "conformance oasis provider",
			inputs: []string{"url", "response", "profile", "requirements", "schema", "tier"}}}}},
		subjects: []subject{{name: "oasis", judges: "an evaluation provider, in conformance oasis",
			rules: oasis.Rules}},
	},
	{
		protocol: conformancecmd.OpenGAP,
		modes: []actionMode{{"opengap", []actionStep{{command: "conformance opengap agent",
			inputs: []string{"dialect", "recommended"}, args: "path"}}}},
		subjects: []subject{{name: "opengap", judges: "an agent's directory, in conformance opengap",
			rules: opengap.Rules}},
	},
	{
		protocol: conformancecmd.AAEP,
		modes: []actionMode{{"aaep", []actionStep{
			{command: "conformance aaep producer", asked: "url",
				inputs: []string{"url", "level", "layout", "scenario"}},
			{command: "conformance aaep subscriber", asked: "listen",
				inputs: []string{"listen", "level", "scenario"}, args: "command"},
			{command: "conformance aaep events", inputs: []string{"level"}, args: "events"}}}},
		subjects: []subject{{name: "aaep", judges: "a producer or a subscriber of AAEP, in conformance aaep",
			rules:   aaep.Rules,
			members: aaep.Explain}},
	},
}

// newConformance returns the command conformance, with those of each protocol below it.
func newConformance(sys frame.IO) *cobra.Command {
	var protocols []*conformancecmd.Protocol
	for _, p := range products {
		if p.protocol != nil {
			protocols = append(protocols, p.protocol)
		}
	}
	return conformancecmd.New(sys, protocols)
}

// modes returns the modes of the Action. The first is the gate of a registry, and has no name.
func modes() (all []actionMode) {
	for _, p := range products {
		all = append(all, p.modes...)
	}
	return all
}

// subjects returns what is judged other than a registry.
func subjects() (all []subject) {
	for _, p := range products {
		all = append(all, p.subjects...)
	}
	return all
}

// replayOf returns how a bundle of that mode is judged again; nil: no product does it.
func replayOf(mode string) replay {
	for _, p := range products {
		if again := p.replays[mode]; again != nil {
			return again
		}
	}
	return nil
}

// verifyTargets returns each line as a target. A single line that is not a target names a file of targets.
func verifyTargets(value string) []string {
	lines := verify.ParseTargets([]byte(value))
	if len(lines) == 1 {
		if _, err := verify.ParseTarget(lines[0].Text, true); err != nil {
			return []string{"--targets=" + lines[0].Text}
		}
	}
	out := []string{"--"}
	for _, line := range lines {
		out = append(out, line.Text)
	}
	return out
}
