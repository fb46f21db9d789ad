// Package chosen judges the commits that a user or an event chose.
package chosen

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/choose"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// Check gates the ranges of the commits that were chosen.
func Check(ctx context.Context, repo *registry.Repository, c choose.Chosen, src evidence.Source,
	cfg judge.Config) (*verdict.Report, error) {
	var err error
	if cfg.Landing, err = landing(c.Landing); err != nil {
		return nil, err
	}
	cfg.Chosen = c.How
	if c.Rewritten {
		return rewritten(c.Base, c.Head, src, cfg)
	}
	ranges, err := rangesOf(ctx, repo, c)
	if errors.Is(err, registry.ErrNotAncestor) {
		return rewritten(c.Base, c.Head, src, cfg)
	}
	if err != nil {
		return nil, err
	}
	rep, err := judge.Check(ctx, repo, ranges, src, cfg)
	if err == nil {
		err = c.Filled(ranges...)
	}
	if err != nil {
		return nil, err
	}
	return rep, nil
}

// rangesOf returns the one range, or those of a sequence.
func rangesOf(ctx context.Context, repo *registry.Repository, c choose.Chosen) ([]*registry.Range, error) {
	if !c.Sequence {
		r, err := c.Range(ctx, repo)
		return []*registry.Range{r}, err
	}
	chain, err := repo.FirstParents(ctx, c.Base, c.Head)
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
	return ranges, nil
}

// landing reads the event by which commits land.
func landing(f *choose.LandingFlags) (*checks.Landing, error) {
	if f == nil {
		return nil, nil
	}
	l := &checks.Landing{Landed: f.Landed}
	if f.At == "" {
		return l, nil
	}
	var err error
	if l.At, err = time.Parse(time.RFC3339, f.At); err != nil {
		return nil, remedy.Errorf(bundle.RecordAgain,
			"the bundle's time of the event is %.80q; expected a time such as "+
				"2026-06-01T12:00:00Z", f.At)
	}
	return l, nil
}

// rewritten returns the report of a range whose base is no longer on the first-parent chain of its head: the branch was
// force-pushed.
func rewritten(base, head string, src evidence.Source, cfg judge.Config) (*verdict.Report, error) {
	rep := judge.NewReport("check", src, cfg)
	rep.Base, rep.Head = base, head
	out := verdict.Outcome{Findings: []verdict.Finding{{Severity: verdict.Error, Code: checks.CodeHistoryRewritten,
		Commit: head,
		Message: fmt.Sprintf("%s is no longer on the first-parent history of %s: the branch's history was rewritten",
			base, head),
		Fix: "restore the branch: git push --force-with-lease origin " + base + ":BRANCH, and disallow force pushes"}}}
	r, err := out.Result(checks.ByID("append-only").Rule(), checks.RegistrySubject)
	if err != nil {
		return nil, err
	}
	rep.Results.Add(r)
	rep.Settle(checks.Rules())
	evidence.Observed(rep, src)
	return rep, rep.Results.Err()
}
