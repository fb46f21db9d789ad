package checks

import (
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// Landing is the event by which commits land on the main branch.
type Landing struct {
	At     time.Time // zero: the run's clock
	Landed bool      // they are there; else they wait in a merge queue
}

// MaxBackdated is how much earlier than the event that landed it a commit's first-parent time may be.
const MaxBackdated = 24 * time.Hour

// CodeCommitBackdated marks a commit that is dated long before it landed.
const CodeCommitBackdated = "commit-backdated"

// CommitBackdated explains that code.
var CommitBackdated = Code{CodeCommitBackdated,
	"a commit lands more than 24 hours after its date, so what it brings would look old",
	"land the commits with a merge commit or squashed"}

// backdated requires that the head of the range is not dated long before it landed: what it brings would look old.
func backdated(o *verdict.Outcome, r *Run) error {
	commit := r.Range.Head.Commit()
	if r.Landing == nil || commit == "" || commit == r.Range.Base.Commit() {
		return nil
	}
	when, err := r.Repo.FirstParentTime(r.Context, commit, r.Now)
	if err != nil {
		return err
	}
	at := r.Landing.At
	if at.IsZero() {
		at = r.Now
	}
	if at.Sub(when) <= MaxBackdated {
		return nil
	}
	f := o.Add(verdict.At{}, errorIf(!r.Landing.Landed), "", CodeCommitBackdated,
		"the first-parent time of commit %s is %s, %s before the event of %s; expected at most %s", short(commit),
		stamp(when), plain.Span(at.Sub(when)), stamp(at), plain.Span(MaxBackdated))
	f.Commit, f.Fix = commit, "land the commits with a merge commit or squashed"
	if r.Landing.Landed {
		f.Fix += "; the next push is judged by itself"
	}
	return nil
}

// notAhead checks that the time in a new record is not ahead of the clock, nor of the commit that lands it. An audit
// compares it with that commit's date. A pull request may still land by another commit, so that is only a warning.
func notAhead(o *verdict.Outcome, s *Subject, member, code string, at time.Time) error {
	now, r := s.judge().When, s.Run
	if at.After(now.Add(Skew)) {
		fix := "set %s to now"
		if s.Kind == registry.KindRevocation {
			fix += ", and sign again"
		}
		o.Errorf(s, "/"+member, code, "%s is %s, later than the evaluation time %s; expected at most %s ahead", member,
			stamp(at), stamp(now), plain.Span(Skew)).
			WithFix(fix, member).Until(at)
		return nil
	}
	commit := r.Range.Head.Commit()
	if r.Asks.onMain || commit == "" || commit == r.Range.Base.Commit() {
		return nil
	}
	dated, err := r.Repo.FirstParentTime(r.Context, commit, r.Now)
	if err != nil || !at.After(dated.Add(Skew)) {
		return err
	}
	o.Add(s, errorIf(r.Landing != nil), "/"+member, code, "%s is %s, and the first-parent time of commit %s is %s; an "+
		"audit refuses the record if that commit lands as it is", member, stamp(at), short(commit), stamp(dated)).
		WithFix("land it with a merge commit or squashed, or commit it again: git commit --amend --no-edit")
	return nil
}
