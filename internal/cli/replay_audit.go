package cli

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"

	"github.com/openagentprotocol-OAP/oap-gate/gate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/commitsig"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// compared is what an audit learned from the checkpoint and from other copies: they are no part of a bundle's
// commits, so that a replay believes what it says of them.
type compared struct {
	Verified   string            `json:"verified"`
	Size       int               `json:"size"`
	Checkpoint string            `json:"checkpoint"`
	Findings   []verdict.Finding `json:"findings"`
	Peers      []verdict.Peer    `json:"peers"`
}

// auditBundle is what an audit saw, and what it was told, so that replay gives the same report.
func (o *auditOptions) auditBundle(cfg gate.AuditConfig, head string, src evidence.Source) (*evidence.Bundle, error) {
	b := o.bundle(chosen{head: head, how: cfg.Chosen}, cfg.Config, src, "")
	b.Mode = "audit"
	for _, name := range []string{"governance", "sequence", "rewritten"} {
		delete(b.Flags, name)
	}
	text, err := json.Marshal(compared{cfg.Verified, cfg.VerifiedSize, cfg.Checkpoint, cfg.Consistency, cfg.Peers})
	if err != nil {
		return nil, err
	}
	b.Flags["compared"], b.Flags["shard"] = string(text), o.shard
	for name, set := range map[string]bool{"archive": cfg.Archive, "strict": cfg.Strict, "require-signed": cfg.RequireSigned} {
		b.Flags[name] = strconv.FormatBool(set)
	}
	for name, data := range map[string][]byte{"keyring": o.keys.keyring, "allowed-signers": o.keys.signers} {
		if data != nil {
			b.Flags[name] = base64.StdEncoding.EncodeToString(data)
		}
	}
	return b, nil
}

// auditAgain audits the commit that a bundle names by what it holds.
func auditAgain(ctx context.Context, told options, b *evidence.Bundle) (*verdict.Report, error) {
	o := auditOptions{options: told, shard: b.Flags["shard"], strict: b.Flags["strict"] == "true", requireSigned: b.Flags["require-signed"] == "true"}
	_, base, err := o.recall(b)
	if err != nil {
		return nil, err
	}
	var was compared
	decode := json.NewDecoder(bytes.NewReader([]byte(b.Flags["compared"])))
	decode.DisallowUnknownFields()
	if err := decode.Decode(&was); err != nil {
		return nil, fmt.Errorf("reading bundle: what was compared: %w", err)
	}
	for _, f := range was.Findings {
		if f.Severity > verdict.Notice {
			return nil, fmt.Errorf("reading bundle: what was compared: a finding of the severity %d", f.Severity)
		}
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	for name, data := range map[string]*[]byte{"keyring": &o.keys.keyring, "allowed-signers": &o.keys.signers} {
		text, there := b.Flags[name]
		if !there {
			continue
		}
		var err error
		if *data, err = base64.StdEncoding.Strict().DecodeString(text); err != nil {
			return nil, fmt.Errorf("reading bundle: %s: %w", name, err)
		}
	}
	var keys *commitsig.Verifier
	if o.keys.keyring != nil || o.keys.signers != nil {
		var err error
		if keys, err = commitsig.New(o.keys.keyring, o.keys.signers); err != nil {
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
	cfg.Config, cfg.Archive = base, b.Flags["archive"] == "true"
	cfg.Verified, cfg.VerifiedSize, cfg.Checkpoint, cfg.Consistency, cfg.Peers = was.Verified, was.Size, was.Checkpoint, was.Findings, was.Peers
	return gate.Audit(ctx, repo, b.Head, evidence.NewRecorded(b), cfg)
}
