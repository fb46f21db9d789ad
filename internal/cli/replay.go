package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/gate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/commitsig"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror"
	"github.com/openagentprotocol-OAP/oap-gate/internal/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// replayOptions are the flags of replay, and the checks that the bundle names.
type replayOptions struct {
	repo     string
	registry string // of a bundle of verify; empty: repo
	mode     string // of the bundle
	selectionFlags
	outputFlags
}

func newReplay(sys IO) *cobra.Command {
	o := replayOptions{mode: "check"}
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
	o.outputFlags.bind(c, sys, catalogue(), func(string, string) *verdict.Report {
		src, cfg := evidence.Offline((&networkFlags{}).now(), 0), gate.Config{Tool: version(), Selected: o.Selected}
		if o.mode == "audit" {
			return mirror.NewReport(src, cfg)
		}
		return gate.NewReport(o.mode, src, cfg)
	})
	c.RunE = func(cmd *cobra.Command, args []string) (err error) {
		b, err := evidence.ReadBundle(args[0])
		if err == nil && b.Mode == "verify" {
			return verifyAgain(cmd.Context(), sys, &o.outputFlags, b, cmp.Or(o.registry, o.repo))
		}
		return o.tell(func() (*verdict.Report, error) {
			switch {
			case err != nil:
				return nil, remedy.With(err, evidence.RecordAgain)
			case o.registry != "":
				return nil, remedy.Errorf("name the clone with --repo DIR", "--registry is for a bundle of verify; "+
					"this one is of the mode %q", b.Mode)
			}
			return o.judgeAgain(cmd.Context(), sys, b, args[0])
		})
	}
	return c
}

// judgeAgain judges what a bundle names by what it holds.
func (o *replayOptions) judgeAgain(ctx context.Context, sys IO, b *evidence.Bundle,
	bundle string) (*verdict.Report, error) {
	o.known = ids(checks.Rules())
	switch b.Mode {
	case "audit":
		o.mode, o.known = b.Mode, ids(catalogue())
	case "check":
	case "conformance":
		return nil, remedy.Errorf("run the command of oap-gate conformance that recorded it, with --replay "+bundle,
			"bundle %s is of oap-gate conformance, whose input is not in it", bundle)
	default:
		return nil, remedy.Errorf(evidence.RecordAgain, "bundle %s is of the mode %q", bundle, b.Mode)
	}
	cfg, err := gate.Recall(b)
	if err != nil {
		return nil, err
	}
	o.Selection = b.Flags.Selection
	if err := o.selectionFlags.check(false); err != nil {
		return nil, err
	}
	repo, err := openClone(sys, o.repo)
	if err != nil {
		return nil, err
	}
	defer repo.Close()
	if b.Mode == "audit" {
		rep, err := auditAgain(ctx, repo, b, cfg)
		return rep, remedy.With(err, evidence.RecordAgain)
	}
	return checkAgain(ctx, repo, b, cfg)
}

// checkAgain judges the range that a bundle names by what it holds.
func checkAgain(ctx context.Context, repo *registry.Repository, b *evidence.Bundle,
	cfg gate.Config) (*verdict.Report, error) {
	if err := remedy.OneOf("--governance", b.Flags.Governance, "review", "deny"); err != nil {
		return nil, err
	}
	need := []string{b.Base, b.Head}
	if b.Flags.Rewritten {
		need = need[1:] // the base is gone, which is what its report says
	}
	for _, commit := range slices.DeleteFunc(need, func(s string) bool { return s == "" }) {
		if err := gate.HoldsCommit(ctx, repo, commit); err != nil {
			return nil, err
		}
	}
	return gate.CheckChosen(ctx, repo, b.Chosen(), evidence.NewRecorded(b), cfg)
}

// auditBundle is what an audit saw, and what it was told, so that replay gives the same report.
func (o *auditOptions) auditBundle(cfg mirror.AuditConfig, head string, src evidence.Source,
	file *verdict.CheckpointFile) *evidence.Bundle {
	b := gate.NewBundle("audit", evidence.Chosen{Head: head, How: cfg.Chosen}, o.Selection, cfg.Config, src)
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
	if err := gate.HoldsCommit(ctx, repo, b.Head); err != nil {
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
		if err := gate.HoldsCommit(ctx, repo, c.Verified); err != nil {
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
