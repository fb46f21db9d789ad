package cli

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/gate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// bundle is what a run saw, and what it was told, so that replay gives the same report.
func (o *options) bundle(c chosen, cfg gate.Config, src evidence.Source) *evidence.Bundle {
	flags := map[string]string{"only": strings.Join(o.only, ","), "skip": strings.Join(o.skip, ","), "governance": o.governance,
		"sequence": strconv.FormatBool(c.sequence), "chosen": c.how, "assumed": strings.Join(cfg.Assumed, "\n"),
		"version": cfg.Tool.Version, "commit": cfg.Tool.Commit}
	return &evidence.Bundle{Mode: "check", Base: c.base, Head: c.head, Now: src.Now(), Flags: flags, Observations: src.Observations()}
}

// recall sets what a bundle says that its run was told.
func (o *options) recall(b *evidence.Bundle) (chosen, gate.Config) {
	split := func(name, at string) []string {
		return slices.DeleteFunc(strings.Split(b.Flags[name], at), func(s string) bool { return s == "" })
	}
	o.only, o.skip, o.governance = split("only", ","), split("skip", ","), b.Flags["governance"]
	// The report must be the recorded run's, byte for byte: it says what that run assumed, and which build ran it.
	cfg := gate.Config{Tool: gate.Tool{Version: b.Flags["version"], Commit: b.Flags["commit"]}, Chosen: b.Flags["chosen"], Selected: o.selected,
		DenyGovernance: o.governance == "deny", Assumed: split("assumed", "\n")}
	return chosen{base: b.Base, head: b.Head, sequence: b.Flags["sequence"] == "true"}, cfg
}

func newReplay(sys IO) *cobra.Command {
	o := options{mode: "check"}
	c := &cobra.Command{
		Use:     "replay BUNDLE",
		Short:   "run a recorded evidence bundle again",
		Long:    "replay judges the commits that a bundle names by the evidence, the time and the check selection in it.",
		Example: "  oap-gate check --record bundle.json\n  oap-gate replay bundle.json --repo registry",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usagef("oap-gate replay BUNDLE [--repo DIR]", "replay wants one bundle, %d arguments were given", len(args))
			}
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&o.repo, "repo", ".", "the clone that holds the bundle's commits")
	f.StringVar(&o.format, "format", "", "what goes to stdout: text, json or github")
	f.StringArrayVar(&o.reports, "report", nil, "also write a report, `FORMAT=FILE`; repeatable")
	f.StringVar(&o.color, "color", "auto", "auto, always or never")
	c.RunE = func(cmd *cobra.Command, args []string) error {
		b, err := evidence.ReadBundle(args[0])
		if err != nil {
			return err
		}
		if b.Mode != "check" {
			return usagef("record it with oap-gate check --record", "bundle %s is of the mode %q", args[0], b.Mode)
		}
		c, cfg := o.recall(b)
		o.timeout, o.jobs, o.maxAnnotations = 1, 1, 9
		if err := o.check(); err != nil {
			return err
		}
		repo, err := registry.Open(o.repo)
		if err != nil {
			return err
		}
		defer repo.Close()
		for _, commit := range slices.DeleteFunc([]string{b.Base, b.Head}, func(s string) bool { return s == "" }) {
			if _, err := repo.Commit(cmd.Context(), commit); err != nil {
				return err
			}
		}
		rep, err := judgeChosen(cmd.Context(), repo, c, evidence.NewRecorded(b), cfg)
		if err != nil {
			return err
		}
		return o.verdict(sys, rep)
	}
	return c
}
