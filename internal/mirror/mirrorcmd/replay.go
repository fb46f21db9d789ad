package mirrorcmd

import (
	"context"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/choose"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge/replay"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// auditBundle returns what an audit saw and its flags, so that a replay gives the same report.
func (o *auditOptions) auditBundle(cfg mirror.AuditConfig, head string, src evidence.Source,
	file *verdict.CheckpointFile) *bundle.Bundle {
	b := replay.NewBundle("audit", choose.Chosen{Head: head, How: cfg.Chosen}, cfg.Config, src)
	b.Flags.Selection = o.Selection
	b.Flags.Strict, b.Flags.RequireSigned, b.Flags.Archive = cfg.Strict, cfg.RequireSigned, cfg.Archive
	b.Flags.Shard, b.Flags.Keyring, b.Flags.AllowedSigners = o.shard, o.keys.keyring, o.keys.signers
	b.Flags.Accepted, b.Flags.SignedSince, b.Flags.Unwalked = o.past, o.signedSince, cfg.Unwalked
	b.Compared = &bundle.Compared{File: file, Verified: cfg.Verified, Size: cfg.VerifiedSize,
		Checkpoint: cfg.Checkpoint, Findings: cfg.Consistency, Peers: cfg.Peers}
	return b
}

// Replay audits the commit that a bundle names by what it holds.
func Replay(ctx context.Context, sys frame.IO, out *frame.Output, b *bundle.Bundle, dir string) error {
	out.Judges(mirror.Catalogue(), func(string, string) *verdict.Report {
		return mirror.NewReport(sources.Offline((&frame.Network{}).Now(), 0),
			judge.Config{Tool: frame.Version(), Selected: b.Flags.Selected})
	}, nil)
	return out.Tell(func() (*verdict.Report, error) {
		cfg, err := replay.Recall(b, verdict.IDs(mirror.Catalogue()))
		if err != nil {
			return nil, err
		}
		repo, err := frame.OpenClone(sys, dir)
		if err != nil {
			return nil, err
		}
		defer repo.Close()
		rep, err := mirror.Again(ctx, repo, b, cfg, spool(""))
		return rep, remedy.With(err, bundle.RecordAgain)
	})
}
