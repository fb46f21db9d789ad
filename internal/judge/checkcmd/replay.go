package checkcmd

import (
	"context"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge/replay"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// Replay judges the range that a bundle names by what it holds.
func Replay(ctx context.Context, sys frame.IO, out *frame.Output, b *bundle.Bundle, dir string) error {
	out.Judges(mirror.Catalogue(), func(string, string) *verdict.Report {
		return judge.NewReport("check", sources.Offline((&frame.Network{}).Now(), 0),
			judge.Config{Tool: frame.Version(), Selected: b.Flags.Selected})
	}, nil)
	return out.Tell(func() (*verdict.Report, error) {
		cfg, err := replay.Recall(b, verdict.IDs(checks.Rules()))
		if err != nil {
			return nil, err
		}
		repo, err := frame.OpenClone(sys, dir)
		if err != nil {
			return nil, err
		}
		defer repo.Close()
		c := b.Chosen()
		remove, err := frame.NextCommit(ctx, repo, &c)
		defer remove()
		if err != nil {
			return nil, err
		}
		return replay.Again(ctx, repo, b, c, cfg)
	})
}
