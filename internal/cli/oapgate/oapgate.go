// Package oapgate lists what the program oap-gate has.
package oapgate

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/docs/schemas"
	"github.com/openagentprotocol-OAP/oap-gate/internal/author/authorcmd"
	"github.com/openagentprotocol-OAP/oap-gate/internal/author/listing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/demo"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/table"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge/automerge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/install/doctor"
	"github.com/openagentprotocol-OAP/oap-gate/internal/install/installcmd"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge/checkcmd"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/mirrorcmd"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/mirrorstate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/prove"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/proof"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verify"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verify/verifycmd"
)

type commands = []func(frame.IO) *cobra.Command

const noFile = cobra.ShellCompDirectiveNoFileComp

// Program is the table of oap-gate, the gate of a registry.
var Program = table.Program{
	Name:  "oap-gate",
	Short: "gate an OAP registry: check pull requests, audit clones",
	Long: `
oap-gate reads a registry's Git tree and a pull request's changes, fetches the evidence
(DID Document, Manifest, Receipt, domain age, peer witnesses), runs the checks of RFC 0026,
and reports per check, with file, line and what would pass.

exit status: 0 pass, 1 a check failed, 2 could not run, 3 inconclusive`,
	Example: `  oap-gate demo
  oap-gate check --worktree
  oap-gate explain receipt-fetch`,
	Groups: []table.Group{
		{"Get listed and stay listed", commands{authorcmd.NewNew, authorcmd.NewRenew, checkcmd.New,
			authorcmd.NewRevoke, authorcmd.NewWitness, authorcmd.NewSign, authorcmd.NewKey}},
		{"Verify and look up", commands{verifycmd.New, authorcmd.NewList, verifycmd.NewProve}},
		{"Run a registry", commands{installcmd.NewInit, newDoctor, installcmd.NewForge}},
		{"Mirror and audit", commands{mirrorcmd.NewMirror, mirrorcmd.NewAudit, newReplay}},
		{"Learn", commands{demo.New}},
	},
	Topics:     []table.Topic{{"targets", "what verify, new and key show take as a TARGET", targetsTopic}},
	Exits:      exits,
	Formats:    report.Without("checklist"),
	FormatRows: formats,
	FormatNote: "list also takes csv, and prove takes only text and json.",
	Moved: [][2]string{
		{"governance", "oap-spec governance"},
		{"schema diff", "oap-spec schema diff"},
		{"conformance oasis", "oap-conform oasis"},
		{"conformance opengap", "oap-conform opengap"},
		{"conformance aaep", "oap-conform aaep"},
		{"conformance", "oap-conform"},
		{"fmt", "oap-gate check --worktree --fix"},
		{"merge", "oap-gate audit merge"},
		{"changes", "oap-gate list --since SIZE"},
		{"protect", "oap-gate forge protect"},
		{"comment", "oap-gate forge comment"},
		{"remind", "oap-gate forge remind"},
		{"rerun", "oap-gate forge rerun"},
	},
	Becomes: true,
	Modes: []table.Mode{
		{"", []table.Step{
			{Command: "audit", Events: forge.AuditEvents, Inputs: []string{"path=repo", "checks=only", "skip"}},
			{Command: "check", Inputs: []string{"path=repo", "base", "checks=only", "skip", "governance",
				"allow-pull-request-target"}}}},
		{"verify", []table.Step{{Command: "verify",
			Inputs: []string{"path=registry", "level", "max-age"}, Args: "targets", Rest: verifyTargets}}},
		{"comment", []table.Step{{Command: "forge comment", Inputs: []string{"path=repo", "head", "labels",
			"mention"}, Args: "file"}}},
		{"remind", []table.Step{{Command: "forge remind", Inputs: []string{"path=repo", "file=audit", "within",
			"apply"}}}},
		{"rerun", []table.Step{{Command: "forge rerun", Inputs: []string{"path=repo", "apply"}}}},
		{"auto-merge", []table.Step{{Command: "forge auto-merge", Inputs: []string{"path=repo", "head", "apply"},
			Args: "file"}}},
		{"protect", []table.Step{{Command: "forge protect", Inputs: []string{"path=repo", "apply"}}}},
	},
	Subjects: []table.Subject{
		{Judges: "the registry", Rules: mirror.Catalogue(), Of: ofRegistry},
		{Name: "doctor", Judges: "the installation, in doctor and forge protect", ReportedBy: "doctor",
			Rules: doctor.Rules, Online: "needed for protections"},
		{Name: "verify", Judges: "one implementation, in verify", ReportedBy: "verify", Rules: verify.Rules()},
	},
	Codes: []table.Codes{
		{"the directory of a mirror", slices.Concat(mirror.Codes, mirrorstate.Codes)},
		{"every command that reads a clone", table.CloneCodes},
		{"witness, revoke and key", authorcmd.SigningCodes},
		{"forge auto-merge", automerge.Codes},
		{"prove", slices.Concat(proof.Codes, prove.Codes)},
	},
	Details: details,
	Schemas: schemas.Names,
	Rules:   func() string { return mirror.RulesText(frame.Version())() },
	Words: map[string][]string{
		"governance":  {"review", "deny"},
		"reason":      checks.Reasons,
		"status":      listing.Statuses,
		"list format": {"text", "json", "csv"},
		"list level":  {"L0+", "L1+", "L2+", "L3+", "L4+", "L5", "L1-NC", "L3-NC", "L5-FINANCE", "L5-ORG"},
	},
	Arguments: map[string]cobra.CompletionFunc{"renew": oneSlug(noFile), "revoke": oneSlug(noFile),
		"prove": oneSlug(noFile), "witness": oneSlug(cobra.ShellCompDirectiveDefault), "merge": table.JSONFiles,
		"comment": table.JSONFiles, "auto-merge": table.JSONFiles},
}

// newDoctor returns the command doctor, which knows the modes of oap-conform.
func newDoctor(sys frame.IO) *cobra.Command {
	return installcmd.NewDoctor(sys, table.ModesOf("oap-conform"))
}

// ofRegistry says which records a check of the registry judges, and what it needs the network for.
func ofRegistry(id string) (judges, network string) {
	c := checks.ByID(id)
	if c == nil {
		return "the registry as a whole, in an audit", "not needed"
	}
	var kinds []string
	for _, k := range c.Kinds {
		kinds = append(kinds, k.String())
	}
	judges, network = strings.Join(kinds, ", "), "not needed"
	switch {
	case c.Online():
		network = "needed"
	case c.Owns != 0 || len(c.Uses) > 0:
		network = "needed for a part; the rest is judged offline too"
	}
	return judges, network
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
