package cli

import (
	"context"
	"errors"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"

	"github.com/openagentprotocol-OAP/oap-gate/gate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/commitsig"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// auditBundle is what an audit saw, and what it was told, so that replay gives the same report.
func (o *auditOptions) auditBundle(cfg gate.AuditConfig, head string, src evidence.Source) *evidence.Bundle {
	b := o.bundle(chosen{head: head, how: cfg.Chosen}, cfg.Config, src, "")
	b.Mode, b.Flags.Governance = "audit", ""
	b.Flags.Strict, b.Flags.RequireSigned, b.Flags.Archive = cfg.Strict, cfg.RequireSigned, cfg.Archive
	b.Flags.Shard, b.Flags.Keyring, b.Flags.AllowedSigners = o.shard, o.keys.keyring, o.keys.signers
	b.Compared = &evidence.Compared{Verified: cfg.Verified, Size: cfg.VerifiedSize, Checkpoint: cfg.Checkpoint,
		Findings: cfg.Consistency, Peers: cfg.Peers}
	return b
}

// auditAgain audits the commit that a bundle names by what it holds.
func auditAgain(ctx context.Context, told options, b *evidence.Bundle) (*verdict.Report, error) {
	o := auditOptions{options: told, shard: b.Flags.Shard, strict: b.Flags.Strict, requireSigned: b.Flags.RequireSigned}
	base, err := o.recall(b)
	if err != nil {
		return nil, err
	}
	if b.Compared == nil {
		return nil, errors.New("reading bundle: what was compared: nothing is there, and an audit compares")
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	var keys *commitsig.Verifier
	if b.Flags.Keyring != nil || b.Flags.AllowedSigners != nil {
		if keys, err = commitsig.New(b.Flags.Keyring, b.Flags.AllowedSigners); err != nil {
			return nil, err
		}
	}
	repo, err := registry.Open(o.repo)
	if err != nil {
		return nil, err
	}
	defer repo.Close()
	if _, err := repo.Commit(ctx, b.Head); err != nil {
		return nil, err
	}
	cfg := o.config(repo, keys, b.Now)
	cfg.Config, cfg.Archive = base, b.Flags.Archive
	cfg.Verified, cfg.VerifiedSize, cfg.Checkpoint = b.Compared.Verified, b.Compared.Size, b.Compared.Checkpoint
	cfg.Consistency, cfg.Peers = b.Compared.Findings, b.Compared.Peers
	return gate.Audit(ctx, repo, b.Head, evidence.NewRecorded(b), cfg)
}
