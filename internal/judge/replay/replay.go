// Package replay records what a run of the gate saw, and judges the same commits by it again.
package replay

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/typed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/choose"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge/chosen"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt/explain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// NewBundle returns what a run of all checks saw and was asked to do. The caller adds further flags, so that a replay
// gives the same report.
func NewBundle(mode string, c choose.Chosen, cfg judge.Config, src evidence.Source) *bundle.Bundle {
	return &bundle.Bundle{Tool: cfg.Tool, Mode: mode, Base: c.Base, Head: c.Head, Now: src.Now(),
		Flags: bundle.Flags{Sequence: c.Sequence, Rewritten: c.Rewritten, Staged: c.Staged, Chosen: c.How,
			Origin: cfg.Origin, Uncommitted: cfg.Uncommitted, Assumed: cfg.Assumed, Landing: c.Landing},
		Observations: src.Observations(), NotReached: src.NotReached(), SuffixList: cfg.Recorded.SuffixList()}
}

// Recall returns the configuration that a bundle recorded; known are the ids of the checks that its mode has. A bundle
// that leaves checks out and does not say so was modified: its report would look like the full verdict.
func Recall(b *bundle.Bundle, known []string) (judge.Config, error) {
	// The report must be the recorded run's, byte for byte: it says what that run assumed, and which build ran it.
	cfg := judge.Config{Tool: b.Tool, Origin: b.Flags.Origin, Chosen: b.Flags.Chosen, Selected: b.Flags.Selected,
		DenyGovernance: b.Flags.Governance == "deny", Uncommitted: b.Flags.Uncommitted, Assumed: b.Flags.Assumed,
		Recorded: &evidence.Recorded{List: b.SuffixList}, Explain: explain.Signature}
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

// Again judges the range that a bundle of a check names by what the bundle holds. c is what the bundle has chosen, with
// the tree of a head that is not a commit, and cfg is that of Recall.
func Again(ctx context.Context, repo *registry.Repository, b *bundle.Bundle, c choose.Chosen,
	cfg judge.Config) (*verdict.Report, error) {
	if err := typed.OneOf("--governance", b.Flags.Governance, "review", "deny"); err != nil {
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
	return chosen.Check(ctx, repo, c, b.Source(), cfg)
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
		err = remedy.Errorf(bundle.RecordAgain, "reading bundle: it names commit %s as %q", c.ID, id)
	}
	return err
}
