package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/gate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// bundle is what a run saw, and what it was told of the checks to run, so that replay gives the same report.
func (s *selectionFlags) bundle(mode string, c chosen, cfg gate.Config, src evidence.Source) *evidence.Bundle {
	return &evidence.Bundle{Tool: cfg.Tool, Mode: mode, Base: c.base, Head: c.head, Now: src.Now(),
		Flags: evidence.Flags{Only: s.only, Skip: s.skip, Sequence: c.sequence, Rewritten: c.rewritten, Chosen: c.how,
			Origin: cfg.Origin, Uncommitted: cfg.Uncommitted, Assumed: cfg.Assumed},
		Observations: src.Observations(), NotReached: src.NotReached()}
}

// recall sets the checks to run, and gives what a bundle says that its run was told. A bundle that leaves checks out
// and does not own up to it was doctored: its report would look like the full verdict.
func (s *selectionFlags) recall(b *evidence.Bundle) (gate.Config, error) {
	s.only, s.skip = b.Flags.Only, b.Flags.Skip
	// The report must be the recorded run's, byte for byte: it says what that run assumed, and which build ran it.
	cfg := gate.Config{Tool: b.Tool, Origin: b.Flags.Origin, Chosen: b.Flags.Chosen, Selected: s.selected,
		DenyGovernance: b.Flags.Governance == "deny", Uncommitted: b.Flags.Uncommitted, Assumed: b.Flags.Assumed}
	for _, left := range s.assumed() {
		if !slices.Contains(cfg.Assumed, left) {
			return cfg, usagef("record it again with oap-gate check --record",
				"the bundle was recorded with %s, which is not among what it says that its run assumed", left)
		}
	}
	return cfg, nil
}

// recordAgain mends a bundle that cannot be read.
const recordAgain = "record it with oap-gate check --record, audit --record or verify --record"

// replayOptions are the flags of replay, and the checks that the bundle names.
type replayOptions struct {
	repo string
	mode string // of the bundle
	selectionFlags
	outputFlags
}

func newReplay(sys IO) *cobra.Command {
	o := replayOptions{mode: "check", selectionFlags: selectionFlags{known: ids(checks.Rules())}}
	o.unmade = func() *verdict.Report { return unmade(o.mode, &o.selectionFlags, &networkFlags{}) }
	c := &cobra.Command{
		Use:   "replay BUNDLE",
		Short: "run a recorded evidence bundle again",
		Long:  "replay judges the commits that a bundle names by the evidence, the time and the check selection in it.",
		Example: "  oap-gate check --record bundle.json\n  oap-gate audit --record bundle.json\n" +
			"  oap-gate replay bundle.json --repo registry",
		Args: wants(1, "oap-gate replay BUNDLE [--repo DIR]", "replay wants one bundle"),
	}
	c.Flags().StringVar(&o.repo, "repo", ".", "the clone that holds the bundle's commits")
	o.outputFlags.bind(c.Flags())
	c.RunE = func(cmd *cobra.Command, args []string) (err error) {
		defer o.crash(sys, &err)
		b, err := evidence.ReadBundle(args[0])
		if err != nil {
			return o.failed(sys, withFix(err, recordAgain))
		}
		if b.Mode == "verify" {
			return verifyAgain(cmd.Context(), sys, &o.outputFlags, b, o.repo)
		}
		rep, err := o.judgeAgain(cmd.Context(), b, args[0])
		if err != nil {
			return o.failed(sys, err)
		}
		return o.verdict(sys, rep)
	}
	o.tellUsage(c, sys)
	return c
}

// judgeAgain judges what a bundle names by what it holds.
func (o *replayOptions) judgeAgain(ctx context.Context, b *evidence.Bundle, bundle string) (*verdict.Report, error) {
	switch b.Mode {
	case "audit":
		o.mode, o.known = b.Mode, ids(catalogue())
	case "check":
	case "conformance":
		return nil, usagef("run the command of oap-gate conformance that recorded it, with --replay "+bundle,
			"bundle %s is of oap-gate conformance, whose input is not in it", bundle)
	default:
		return nil, usagef(recordAgain, "bundle %s is of the mode %q", bundle, b.Mode)
	}
	cfg, err := o.recall(b)
	if err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	repo, err := registry.Open(o.repo)
	if err != nil {
		return nil, err
	}
	defer repo.Close()
	if b.Mode == "audit" {
		rep, err := auditAgain(ctx, repo, b, cfg)
		return rep, withFix(err, recordAgain)
	}
	return checkAgain(ctx, repo, b, cfg)
}

func (o *replayOptions) check() error {
	return inOrder(
		func() error { return o.selectionFlags.check(false) },
		o.outputFlags.check,
		func() error { return o.place(nil, nil) },
	)
}

// checkAgain judges the range that a bundle names by what it holds.
func checkAgain(ctx context.Context, repo *registry.Repository, b *evidence.Bundle,
	cfg gate.Config) (*verdict.Report, error) {
	if err := oneOf("--governance", b.Flags.Governance, "review", "deny"); err != nil {
		return nil, err
	}
	need := []string{b.Base, b.Head}
	if b.Flags.Rewritten {
		need = need[1:] // the base is gone, which is what its report says
	}
	for _, commit := range slices.DeleteFunc(need, func(s string) bool { return s == "" }) {
		if err := holdsCommit(ctx, repo, commit); err != nil {
			return nil, err
		}
	}
	c := chosen{base: b.Base, head: b.Head, sequence: b.Flags.Sequence, rewritten: b.Flags.Rewritten}
	return judgeChosen(ctx, repo, c, evidence.NewRecorded(b), cfg)
}

// holdsCommit is nil where a clone has the commit that a bundle names, by its full id: a ref's name may be of another
// one tomorrow, and stand in the report.
func holdsCommit(ctx context.Context, repo *registry.Repository, id string) error {
	c, err := repo.Commit(ctx, id)
	if err == nil && c.ID != id {
		err = usagef(recordAgain, "reading bundle: it names commit %s as %q", c.ID, id)
	}
	return err
}
