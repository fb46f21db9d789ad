package cli

import (
	"context"
	"errors"

	"github.com/openagentprotocol-OAP/oap-gate/gate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/commitsig"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

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
	if _, err := repo.Commit(ctx, b.Head); err != nil {
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
