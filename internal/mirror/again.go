package mirror

import (
	"context"
	"errors"
	"fmt"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/commitsig"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge/replay"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/bulk"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// ParseShard reads I/N; an empty text is all of the records.
func ParseShard(shard string) (part [2]int, err error) {
	if shard == "" {
		return part, nil
	}
	n, err := fmt.Sscanf(shard, "%d/%d", &part[0], &part[1])
	if n != 2 || err != nil || part[0] < 1 || part[0] > part[1] || shard != fmt.Sprintf("%d/%d", part[0], part[1]) {
		return part, remedy.Errorf("write I/N, such as 1/4", "--shard %q is not a part of a whole", shard)
	}
	return part, nil
}

// Again audits the commit that a bundle names, with the evidence of the bundle. recorded is the configuration of the
// recorded run.
func Again(ctx context.Context, repo *registry.Repository, b *bundle.Bundle, recorded judge.Config,
	results bulk.Spool) (*verdict.Report, error) {
	if b.Compared == nil {
		return nil, errors.New("reading bundle: what was compared: nothing is there, and an audit compares")
	}
	part, err := ParseShard(b.Flags.Shard)
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
		return nil, errors.New("reading bundle: signatures were required, and it has no keys")
	}
	if err := replay.HoldsCommit(ctx, repo, b.Head); err != nil {
		return nil, err
	}
	if err := holdsVerified(ctx, repo, b.Compared); err != nil {
		return nil, err
	}
	var taken *verdict.Accepted
	if b.Flags.Accepted != nil {
		if taken, err = ParseAccepted(b.Flags.Accepted); err != nil {
			return nil, err
		}
	}
	rep, err := Audit(ctx, repo, b.Head, b.Source(), AuditConfig{Config: recorded,
		Strict: b.Flags.Strict, Archive: b.Flags.Archive, Shard: part[0], Of: part[1],
		RequireSigned: b.Flags.RequireSigned, Keys: keys,
		Verified: b.Compared.Verified, VerifiedSize: b.Compared.Size, Checkpoint: b.Compared.Checkpoint,
		Consistency: b.Compared.Findings, Peers: b.Compared.Peers,
		Accepted: taken, SignedSince: b.Flags.SignedSince, Unwalked: b.Flags.Unwalked, Spool: results})
	if err == nil {
		rep.History.CheckpointFile = b.Compared.File
	}
	return rep, err
}

// holdsVerified checks that the commit from which a bundle says that history was judged is the checkpoint that its
// report shows, with as many commits before it as it says. Otherwise no report would name the commits that were left
// out.
func holdsVerified(ctx context.Context, repo *registry.Repository, c *bundle.Compared) error {
	size := 0
	if c.Verified != "" {
		if err := replay.HoldsCommit(ctx, repo, c.Verified); err != nil {
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
