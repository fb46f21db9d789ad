package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/gate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/commitsig"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// bundle is what a run saw, and what it was told of the checks to run, so that replay gives the same report.
func (s *selectionFlags) bundle(mode string, c chosen, cfg gate.Config, src evidence.Source) *evidence.Bundle {
	return &evidence.Bundle{Tool: cfg.Tool, Mode: mode, Base: c.base, Head: c.head, Now: src.Now(),
		Flags: evidence.Flags{Only: s.only, Skip: s.skip, Sequence: c.sequence, Rewritten: c.rewritten, Chosen: c.how,
			Origin: cfg.Origin, Uncommitted: cfg.Uncommitted, Assumed: cfg.Assumed, Landing: landingFlags(cfg.Landing)},
		Observations: src.Observations(), NotReached: src.NotReached(), SuffixList: cfg.Recorded.SuffixList()}
}

// landingFlags spells the event by which commits land for a bundle.
func landingFlags(l *checks.Landing) *evidence.LandingFlags {
	if l == nil {
		return nil
	}
	f := &evidence.LandingFlags{Landed: l.Landed}
	if !l.At.IsZero() {
		f.At = l.At.Format(time.RFC3339)
	}
	return f
}

// landingOf reads what landingFlags wrote.
func landingOf(f *evidence.LandingFlags) (*checks.Landing, error) {
	if f == nil {
		return nil, nil
	}
	l := &checks.Landing{Landed: f.Landed}
	if f.At == "" {
		return l, nil
	}
	var err error
	if l.At, err = time.Parse(time.RFC3339, f.At); err != nil {
		return nil, usagef(recordAgain, "the bundle's time of the event is %.80q; expected a time such as "+
			"2026-06-01T12:00:00Z", f.At)
	}
	return l, nil
}

// recall sets the checks to run, and gives what a bundle says that its run was told. A bundle that leaves checks out
// and does not own up to it was doctored: its report would look like the full verdict.
func (s *selectionFlags) recall(b *evidence.Bundle) (gate.Config, error) {
	s.only, s.skip = b.Flags.Only, b.Flags.Skip
	// The report must be the recorded run's, byte for byte: it says what that run assumed, and which build ran it.
	cfg := gate.Config{Tool: b.Tool, Origin: b.Flags.Origin, Chosen: b.Flags.Chosen, Selected: s.selected,
		DenyGovernance: b.Flags.Governance == "deny", Uncommitted: b.Flags.Uncommitted, Assumed: b.Flags.Assumed,
		Recorded: evidence.RecordedBy(b)}
	var err error
	if cfg.Landing, err = landingOf(b.Flags.Landing); err != nil {
		return cfg, err
	}
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
	repo     string
	registry string // of a bundle of verify; empty: repo
	mode     string // of the bundle
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
	c.Flags().StringVar(&o.registry, "registry", "", "of a bundle of verify: the clone or mirror, as verify names it")
	o.outputFlags.bind(c.Flags())
	c.RunE = func(cmd *cobra.Command, args []string) (err error) {
		defer o.crash(sys, &err)
		b, err := evidence.ReadBundle(args[0])
		if err != nil {
			return o.failed(sys, withFix(err, recordAgain))
		}
		if b.Mode == "verify" {
			return verifyAgain(cmd.Context(), sys, &o.outputFlags, b, cmp.Or(o.registry, o.repo))
		}
		if o.registry != "" {
			return o.failed(sys, usagef("name the clone with --repo DIR", "--registry is for a bundle of verify; "+
				"this one is of the mode %q", b.Mode))
		}
		rep, err := o.judgeAgain(cmd.Context(), sys, b, args[0])
		if err != nil {
			return o.failed(sys, err)
		}
		return o.verdict(sys, rep)
	}
	o.tellUsage(c, sys)
	return c
}

// judgeAgain judges what a bundle names by what it holds.
func (o *replayOptions) judgeAgain(ctx context.Context, sys IO, b *evidence.Bundle,
	bundle string) (*verdict.Report, error) {
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
	if err := inOrder(func() error { return o.selectionFlags.check(false) }, o.outputFlags.check,
		func() error { return o.place(nil, nil) }); err != nil {
		return nil, err
	}
	repo, err := openClone(sys, o.repo)
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
	if errors.Is(err, gitstore.ErrNotFound) {
		return usagef("name a clone that has it, or fetch it",
			"the clone has no commit %s, which the bundle names", id)
	}
	if err == nil && c.ID != id {
		err = usagef(recordAgain, "reading bundle: it names commit %s as %q", c.ID, id)
	}
	return err
}

// auditBundle is what an audit saw, and what it was told, so that replay gives the same report.
func (o *auditOptions) auditBundle(cfg mirror.AuditConfig, head string, src evidence.Source,
	file *verdict.CheckpointFile) *evidence.Bundle {
	b := o.bundle("audit", chosen{head: head, how: cfg.Chosen}, cfg.Config, src)
	b.Flags.Strict, b.Flags.RequireSigned, b.Flags.Archive = cfg.Strict, cfg.RequireSigned, cfg.Archive
	b.Flags.Shard, b.Flags.Keyring, b.Flags.AllowedSigners = o.shard, o.keys.keyring, o.keys.signers
	b.Flags.Accepted, b.Flags.SignedSince, b.Flags.Unwalked = o.past, o.signedSince, cfg.Unwalked
	b.Compared = &evidence.Compared{File: file, Verified: cfg.Verified, Size: cfg.VerifiedSize,
		Checkpoint: cfg.Checkpoint,
		Findings:   cfg.Consistency, Peers: cfg.Peers}
	return b
}

// auditAgain audits the commit that a bundle names by what it holds.
func auditAgain(ctx context.Context, repo *registry.Repository, b *evidence.Bundle,
	told gate.Config) (*verdict.Report, error) {
	if b.Compared == nil {
		return nil, errors.New("reading bundle: what was compared: nothing is there, and an audit compares")
	}
	part, err := parseShard(b.Flags.Shard)
	if err != nil {
		return nil, err
	}
	var keys *commitsig.Verifier
	if b.Flags.Keyring != nil || b.Flags.AllowedSigners != nil {
		if keys, err = commitsig.New(b.Flags.Keyring, b.Flags.AllowedSigners); err != nil {
			return nil, err
		}
	}
	if b.Flags.RequireSigned && keys == nil {
		return nil, errors.New("reading bundle: signatures were demanded, and it holds no keys")
	}
	if err := holdsCommit(ctx, repo, b.Head); err != nil {
		return nil, err
	}
	if err := holdsVerified(ctx, repo, b.Compared); err != nil {
		return nil, err
	}
	var taken *verdict.Accepted
	if b.Flags.Accepted != nil {
		if taken, err = mirror.ParseAccepted(b.Flags.Accepted); err != nil {
			return nil, err
		}
	}
	rep, err := mirror.Audit(ctx, repo, b.Head, evidence.NewRecorded(b), mirror.AuditConfig{Config: told,
		Strict: b.Flags.Strict, Archive: b.Flags.Archive, Shard: part[0], Of: part[1],
		RequireSigned: b.Flags.RequireSigned, Keys: keys,
		Verified: b.Compared.Verified, VerifiedSize: b.Compared.Size, Checkpoint: b.Compared.Checkpoint,
		Consistency: b.Compared.Findings, Peers: b.Compared.Peers,
		Accepted: taken, SignedSince: b.Flags.SignedSince, Unwalked: b.Flags.Unwalked, Spool: spool("")})
	if err == nil {
		rep.History.CheckpointFile = b.Compared.File
	}
	return rep, err
}

// holdsVerified is nil where the commit from which a bundle says that history was judged is the checkpoint that its
// report shows, with as many commits before it as it says: else the commits that were left out would be nowhere told.
func holdsVerified(ctx context.Context, repo *registry.Repository, c *evidence.Compared) error {
	size := 0
	if c.Verified != "" {
		if err := holdsCommit(ctx, repo, c.Verified); err != nil {
			return err
		}
		chain, err := repo.FirstParents(ctx, "", c.Verified)
		if err != nil {
			return err
		}
		size = len(chain)
	}
	if c.Verified != "" && c.Verified != c.Checkpoint || c.Size != size {
		return fmt.Errorf("reading bundle: what was compared: %d commits up to %q were verified, by the checkpoint of "+
			"%q; the clone has %d", c.Size, c.Verified, c.Checkpoint, size)
	}
	return nil
}
