package mirror

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

var history = verdict.Rule{
	ID:    "history", // under which accepted lines have the codes of every check
	Title: "every first-parent commit obeys the rules of a pull request, as far as Git shows",
	Cite:  "RFC 0026 sections 7 and 8",
	Why:   "a mirror trusts neither the forge nor the maintainers",
	Fix:   "tell the maintainers which commit is at fault, and keep the copy that you verified before it",
	Codes: []checks.Code{
		{ID: "dated-before-parent", Meaning: "a commit is dated before its first parent",
			Fix: "ask the maintainers who made the commit"},
		acceptedUnused,
	},
}

// ofHistory is what history has found so far.
type ofHistory struct {
	bySubject map[string]*verdict.Outcome
	first     string         // the first commit at fault, for the reason; empty: none
	governing int            // commits that change only governance files
	governed  *registry.Step // the last of them
	before    time.Time      // date of the first parent
}

// of returns the outcome of a subject.
func (h *ofHistory) of(path string) *verdict.Outcome {
	if h.bySubject[path] == nil {
		h.bySubject[path] = &verdict.Outcome{}
	}
	return h.bySubject[path]
}

func (h *ofHistory) add(s *registry.Step, path string, f verdict.Finding) {
	out := h.of(path)
	out.Findings = append(out.Findings, f)
	if h.first == "" && f.Severity == verdict.Error {
		h.first = fmt.Sprintf("; the first at fault is %s of %s: %s", s.Commit.ID, stamp(s.Commit.When), path)
	}
}

// stepHistory judges one first-parent commit, after the ledger did, by whose faults.
func stepHistory(a *audit, s *registry.Step, faults []checks.Fault) {
	h := &a.history
	found := func(path string, f verdict.Finding) {
		f.Fix = acceptFix(history.ID, f)
		a.accept(history.ID, &f)
		h.add(s, path, f)
	}
	for _, f := range faults {
		f.Message = f.Check + ": " + f.Message
		found(f.Path, f.Finding)
	}
	if governs(s.Changes) {
		h.governing, h.governed = h.governing+1, s
	}
	if s.Commit.When.Before(h.before.Add(-checks.Skew)) {
		found(checks.RegistrySubject, backdated(s, h.before))
	}
	h.before = s.Commit.When
}

// governs reports whether the changes of a commit are all of governance files, and there are some.
func governs(changes []registry.Change) bool {
	return len(changes) > 0 && !slices.ContainsFunc(changes, func(c registry.Change) bool {
		return registry.KindOf(c.Path) != registry.Governance
	})
}

// judgeHistory returns the outcome on the registry as a whole. It adds those on paths, and that of a spent budget.
func judgeHistory(a *audit) (verdict.Outcome, error) {
	if a.cut {
		if err := a.join.Add(history, checks.RegistrySubject, judge.BudgetSpent(fmt.Sprintf(
			"%d of %d first-parent commits were not judged", a.since-a.rep.History.Walked,
			a.rep.History.Commits))); err != nil {
			return verdict.Outcome{}, err
		}
	}
	h := &a.history
	if h.governing > 0 {
		h.add(h.governed, checks.RegistrySubject, ofGovernance(h.governing, h.governed))
	}
	unused, err := a.unused(history.ID)
	if err != nil {
		return verdict.Outcome{}, err
	}
	whole := h.of(checks.RegistrySubject)
	whole.Findings = append(whole.Findings, unused...)
	whole.Verified = fmt.Sprintf("%d of %d first-parent commits judged", a.rep.History.Walked,
		a.rep.History.Commits) + h.first
	for _, path := range slices.Sorted(maps.Keys(h.bySubject)) {
		if path == checks.RegistrySubject {
			continue
		}
		if err := a.join.Add(history, path, *h.bySubject[path]); err != nil {
			return verdict.Outcome{}, err
		}
	}
	return *whole, nil
}

// backdated returns the warning of a commit that is dated before its first parent.
func backdated(s *registry.Step, before time.Time) verdict.Finding {
	return verdict.Finding{Severity: verdict.Warning, Code: "dated-before-parent", Commit: s.Commit.ID,
		Message: fmt.Sprintf("the committer date is %s; expected at least %s, that of the first parent: what the "+
			"commit brought is judged by the later date", stamp(s.Commit.When), stamp(before))}
}

// ofGovernance returns the notice about commits that only change governance files. It is one notice for all of them:
// they were reviewed when they were merged, and none is at fault.
func ofGovernance(n int, last *registry.Step) verdict.Finding {
	return verdict.Finding{Severity: verdict.Notice, Code: "governance",
		Message: fmt.Sprintf("append-only: %s %s governance files and no record, the last is %.12s of %s",
			plain.Count(n, "commit"), plain.Plural(n, "changes", "change"), last.Commit.ID, stamp(last.Commit.When))}
}
