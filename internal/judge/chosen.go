package judge

import (
	"context"
	"errors"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// CheckChosen makes the ranges of the commits that were chosen, and gates them.
func CheckChosen(ctx context.Context, repo *registry.Repository, c evidence.Chosen, src evidence.Source,
	cfg Config) (*verdict.Report, error) {
	var err error
	if cfg.Landing, err = landing(c.Landing); err != nil {
		return nil, err
	}
	cfg.Chosen, cfg.ChangedFiles = c.How, c.ChangedFiles
	if c.Rewritten {
		return Rewritten(c.Base, c.Head, src, cfg)
	}
	if !c.Sequence {
		r, err := c.Range(ctx, repo)
		if err != nil {
			return nil, err
		}
		return Check(ctx, repo, []*registry.Range{r}, src, cfg)
	}
	chain, err := repo.FirstParents(ctx, c.Base, c.Head)
	if errors.Is(err, registry.ErrNotAncestor) {
		return Rewritten(c.Base, c.Head, src, cfg)
	}
	if err != nil {
		return nil, err
	}
	if len(chain) == 0 {
		chain = []string{c.Head}
	}
	parent := c.Base
	var ranges []*registry.Range
	for _, commit := range chain {
		r, err := repo.Range(ctx, parent, commit)
		if err != nil {
			return nil, err
		}
		ranges = append(ranges, r)
		parent = commit
	}
	return Check(ctx, repo, ranges, src, cfg)
}

// landing reads the event by which commits land.
func landing(f *evidence.LandingFlags) (*checks.Landing, error) {
	if f == nil {
		return nil, nil
	}
	l := &checks.Landing{Landed: f.Landed}
	if f.At == "" {
		return l, nil
	}
	var err error
	if l.At, err = time.Parse(time.RFC3339, f.At); err != nil {
		return nil, remedy.Errorf(evidence.RecordAgain,
			"the bundle's time of the event is %.80q; expected a time such as "+
				"2026-06-01T12:00:00Z", f.At)
	}
	return l, nil
}
