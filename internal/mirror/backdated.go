package mirror

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// Findings returns the moves and the warnings of the run for the report of its audit. They include new commits that
// landed later than their dates say. From then on, repo uses the time of the run that first saw such a commit as its
// first-parent time.
func (d *Dir) Findings(ctx context.Context, repo *registry.Repository, head string) ([]verdict.Finding, error) {
	all := slices.Clone(d.Warnings)
	for _, m := range d.State.Moved {
		all = append(all, verdict.Finding{Severity: verdict.Notice, Code: codeOriginMoved, Fix: "none needed",
			Message: fmt.Sprintf("at %s the mirror took %q, which continues %q", stamp(m.At), m.To, m.From)})
	}
	repo.Sight(d.State.Backdated.Times())
	tip := d.State.Of(d.State.Verified)
	if tip == nil || tip.FreshAt.IsZero() {
		return all, nil
	}
	after, err := repo.FirstParents(ctx, tip.Tip, head)
	if errors.Is(err, registry.ErrNotAncestor) { // a rewrite follows no tip
		return all, nil
	}
	if err != nil || len(after) == 0 {
		return all, err
	}
	fresh := tip.FreshAt
	if fresh.After(d.now) { // an earlier run had a wrong clock
		fresh = d.now
	}
	n, oldest, err := d.before(ctx, repo, tip.Tip, after, fresh.Add(-checks.MaxBackdated))
	if err != nil || n == 0 {
		return all, err
	}
	seen := d.State.Backdated.Add(after[0], d.now)
	repo.Sight(d.State.Backdated.Times())
	warning := verdict.Finding{Severity: verdict.Warning, Code: checks.CodeCommitBackdated, Commit: after[0],
		Message: fmt.Sprintf("the first-parent time of the new commit %s is %s, %s before %s, when the branch did not "+
			"have it; expected at most %s. Records that %s from it on %s are judged by %s, when a run first saw it",
			after[0], stamp(oldest), plain.Span(fresh.Sub(oldest)), stamp(fresh), plain.Span(checks.MaxBackdated),
			plain.Count(n, "commit"), plain.Plural(n, "brings", "bring"), stamp(seen)),
		Fix: "ask the maintainers to land commits with a merge commit or squashed"}
	return append(all, warning), nil
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// before returns how many of the commits after a tip have a first-parent time before a limit by their dates, and the
// time of the first. First-parent times never decrease, so these commits come first.
func (d *Dir) before(ctx context.Context, repo *registry.Repository, tip string, after []string,
	limit time.Time) (n int, oldest time.Time, err error) {
	when, err := repo.FirstParentTime(ctx, tip, d.now)
	for ; err == nil && n < len(after); n++ {
		c, err := repo.Commit(ctx, after[n])
		if err != nil {
			return 0, oldest, err
		}
		if c.When.After(when) && !c.When.After(d.now.Add(checks.Skew)) {
			when = c.When
		}
		if !when.Before(limit) {
			break
		}
		if n == 0 {
			oldest = when
		}
	}
	return n, oldest, err
}
