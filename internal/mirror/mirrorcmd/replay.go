package mirrorcmd

import (
	"context"
	"errors"
	"fmt"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/commitsig"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// auditBundle is what an audit saw, and what it was told, so that replay gives the same report.
func (o *auditOptions) auditBundle(cfg mirror.AuditConfig, head string, src evidence.Source,
	file *verdict.CheckpointFile) *evidence.Bundle {
	b := judge.NewBundle("audit", evidence.Chosen{Head: head, How: cfg.Chosen}, o.Selection, cfg.Config, src)
	b.Flags.Strict, b.Flags.RequireSigned, b.Flags.Archive = cfg.Strict, cfg.RequireSigned, cfg.Archive
	b.Flags.Shard, b.Flags.Keyring, b.Flags.AllowedSigners = o.shard, o.keys.keyring, o.keys.signers
	b.Flags.Accepted, b.Flags.SignedSince, b.Flags.Unwalked = o.past, o.signedSince, cfg.Unwalked
	b.Compared = &evidence.Compared{File: file, Verified: cfg.Verified, Size: cfg.VerifiedSize,
		Checkpoint: cfg.Checkpoint,
		Findings:   cfg.Consistency, Peers: cfg.Peers}
	return b
}

// Replay audits the commit that a bundle names by what it holds.
func Replay(ctx context.Context, sys frame.IO, out *frame.Output, b *evidence.Bundle, dir string) error {
	out.Judges(mirror.Catalogue(), func(string, string) *verdict.Report {
		return mirror.NewReport(evidence.Offline((&frame.Network{}).Now(), 0),
			judge.Config{Tool: frame.Version(), Selected: b.Flags.Selected})
	}, nil)
	return out.Tell(func() (*verdict.Report, error) {
		cfg, err := judge.Recall(b, verdict.IDs(mirror.Catalogue()))
		if err != nil {
			return nil, err
		}
		repo, err := frame.OpenClone(sys, dir)
		if err != nil {
			return nil, err
		}
		defer repo.Close()
		rep, err := auditAgain(ctx, repo, b, cfg)
		return rep, remedy.With(err, evidence.RecordAgain)
	})
}

// auditAgain audits the commit that a bundle names by what it holds.
func auditAgain(ctx context.Context, repo *registry.Repository, b *evidence.Bundle,
	told judge.Config) (*verdict.Report, error) {
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
	if err := judge.HoldsCommit(ctx, repo, b.Head); err != nil {
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
		if err := judge.HoldsCommit(ctx, repo, c.Verified); err != nil {
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
