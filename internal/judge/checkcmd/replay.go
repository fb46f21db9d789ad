package checkcmd

import (
	"context"
	"slices"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// Replay judges the range that a bundle names by what it holds.
func Replay(ctx context.Context, sys frame.IO, out *frame.Output, b *evidence.Bundle, dir string) error {
	out.Judges(mirror.Catalogue(), func(string, string) *verdict.Report {
		return judge.NewReport("check", evidence.Offline((&frame.Network{}).Now(), 0),
			judge.Config{Tool: frame.Version(), Selected: b.Flags.Selected})
	}, nil)
	return out.Tell(func() (*verdict.Report, error) {
		cfg, err := judge.Recall(b, verdict.IDs(checks.Rules()))
		if err != nil {
			return nil, err
		}
		repo, err := frame.OpenClone(sys, dir)
		if err != nil {
			return nil, err
		}
		defer repo.Close()
		return checkAgain(ctx, repo, b, cfg)
	})
}

// checkAgain judges the range that a bundle names by what it holds.
func checkAgain(ctx context.Context, repo *registry.Repository, b *evidence.Bundle,
	cfg judge.Config) (*verdict.Report, error) {
	if err := remedy.OneOf("--governance", b.Flags.Governance, "review", "deny"); err != nil {
		return nil, err
	}
	need := []string{b.Base, b.Head}
	if b.Flags.Rewritten {
		need = need[1:] // the base is gone, which is what its report says
	}
	for _, commit := range slices.DeleteFunc(need, func(s string) bool { return s == "" }) {
		if err := judge.HoldsCommit(ctx, repo, commit); err != nil {
			return nil, err
		}
	}
	return judge.CheckChosen(ctx, repo, b.Chosen(), evidence.NewRecorded(b), cfg)
}
