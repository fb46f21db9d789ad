package judge

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
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
		r, err := RangeOf(ctx, repo, c)
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
	var ranges []*registry.Range
	parent := c.Base
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

// RangeOf returns the chosen commits as one range.
func RangeOf(ctx context.Context, repo *registry.Repository, c evidence.Chosen) (*registry.Range, error) {
	if c.Head == "" {
		return repo.WorktreeRange(ctx, c.Base)
	}
	return repo.Range(ctx, c.Base, c.Head)
}

// NewBundle returns what a run saw, and which checks it was to run, so that replay gives the same report.
func NewBundle(mode string, c evidence.Chosen, selected evidence.Selection, cfg Config,
	src evidence.Source) *evidence.Bundle {
	return &evidence.Bundle{Tool: cfg.Tool, Mode: mode, Base: c.Base, Head: c.Head, Now: src.Now(),
		Flags: evidence.Flags{Selection: selected, Sequence: c.Sequence, Rewritten: c.Rewritten, Chosen: c.How,
			Origin: cfg.Origin, Uncommitted: cfg.Uncommitted, Assumed: cfg.Assumed, Landing: c.Landing},
		Observations: src.Observations(), NotReached: src.NotReached(), SuffixList: cfg.Recorded.SuffixList()}
}

// Recall returns the configuration that a bundle recorded; known are the ids of the checks that its mode has. A bundle
// that leaves checks out and does not say so was modified: its report would look like the full verdict.
func Recall(b *evidence.Bundle, known []string) (Config, error) {
	// The report must be the recorded run's, byte for byte: it says what that run assumed, and which build ran it.
	cfg := Config{Tool: b.Tool, Origin: b.Flags.Origin, Chosen: b.Flags.Chosen, Selected: b.Flags.Selected,
		DenyGovernance: b.Flags.Governance == "deny", Uncommitted: b.Flags.Uncommitted, Assumed: b.Flags.Assumed,
		Recorded: evidence.RecordedBy(b)}
	needed := b.Flags.Selection.Assumed()
	for _, o := range b.Observations {
		local := func(flag string) bool { return strings.HasPrefix(flag, "--local ") }
		if o.Code == evidence.CodeLocal && !slices.ContainsFunc(cfg.Assumed, local) {
			needed = append(needed, "--local HOST=DIR")
			break
		}
	}
	for _, left := range needed {
		if !slices.Contains(cfg.Assumed, left) {
			return cfg, remedy.Errorf("record it again with oap-gate check --record",
				"the bundle was recorded with %s, which is not among what it says that its run assumed", left)
		}
	}
	return cfg, b.Flags.Check(known, nil)
}

// Again judges the range that a bundle of a check names by what the bundle holds. cfg is that of Recall.
func Again(ctx context.Context, repo *registry.Repository, b *evidence.Bundle,
	cfg Config) (*verdict.Report, error) {
	if err := remedy.OneOf("--governance", b.Flags.Governance, "review", "deny"); err != nil {
		return nil, err
	}
	need := []string{b.Base, b.Head}
	if b.Flags.Rewritten {
		need = need[1:] // the base is gone, which is what its report says
	}
	for _, commit := range slices.DeleteFunc(need, func(s string) bool { return s == "" }) {
		if err := HoldsCommit(ctx, repo, commit); err != nil {
			return nil, err
		}
	}
	return CheckChosen(ctx, repo, b.Chosen(), evidence.NewRecorded(b), cfg)
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

// HoldsCommit checks that a clone has the commit that a bundle names by its full id. A ref's name may mean another
// commit tomorrow, and would be in the report.
func HoldsCommit(ctx context.Context, repo *registry.Repository, id string) error {
	c, err := repo.Commit(ctx, id)
	if errors.Is(err, gitstore.ErrNotFound) {
		return remedy.Errorf("name a clone that has it, or fetch it",
			"the clone has no commit %s, which the bundle names", id)
	}
	if err == nil && c.ID != id {
		err = remedy.Errorf(evidence.RecordAgain, "reading bundle: it names commit %s as %q", c.ID, id)
	}
	return err
}
