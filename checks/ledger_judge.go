package checks

import (
	"context"
	"iter"
	"slices"

	"github.com/openagentprotocol-OAP/oap-gate/checks/internal/listed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/ahead"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// historical reports whether each commit of the history is judged by the check of that id.
func historical(id string) bool {
	c := ByID(id)
	return c != nil && c.inHistory
}

// subjects returns a run of some of a commit's changes, and reads their records.
func (l *Ledger) subjects(ctx context.Context, step *registry.Step, changes []registry.Change) (run *Run, err error) {
	run = l.run(ctx, step)
	run.Subjects, err = NewSubjects(run,
		slices.DeleteFunc(slices.Clone(changes), func(c registry.Change) bool { return !isRecord(c) }))
	return run, err
}

func (l *Ledger) run(ctx context.Context, step *registry.Step) *Run {
	rng := &registry.Range{Base: step.Base, Head: step.Result, Result: step.Result, Changes: step.Changes,
		Views: []registry.View{{From: step.Base.Commit(), To: step.Commit.ID, Changes: step.Changes}}}
	return &Run{Context: ctx, Catalogue: All, Repo: l.repo, Range: rng, Base: l.state, Now: l.time,
		Offline: true, Asks: ofCommit, Selected: historical}
}

// judged is what the subjects of one commit gave.
type judged struct {
	commit   string
	faults   []Fault
	results  []result
	listings []listed.Packed // new ones, instead of their results
}

func (j *judged) add(id, path string, o verdict.Outcome) {
	for _, f := range o.Findings {
		f.Commit = j.commit
		j.faults = append(j.faults, Fault{id, path, f})
	}
}

// result is what a commit made of a path, without the text of the record.
type result struct {
	path   string
	now    *scanned // nil where it took the path away
	sameAs bool     // the listing before had the same tool_did
}

const defaultPart = 2048

// judge judges the changes of one commit. A commit that brings a whole registry would take gigabytes: new listings
// are judged in parts.
func (l *Ledger) judge(ctx context.Context, step *registry.Step) (*judged, error) {
	if len(step.Changes) > l.part && !slices.ContainsFunc(step.Changes, func(c registry.Change) bool {
		return isRecord(c) && (c.Base != nil || registry.KindOf(c.Path) != registry.KindListing)
	}) {
		return l.judgeApart(ctx, step)
	}
	j := &judged{commit: step.Commit.ID}
	run, err := l.subjects(ctx, step, step.Changes)
	if err != nil {
		return nil, err
	}
	return j, l.judgePart(run, j)
}

// judgeApart judges a commit of new listings in parts. If two of them claim the same slug or DID, which is the only
// effect of one new listing on another, it judges again and passes them those claims.
func (l *Ledger) judgeApart(ctx context.Context, step *registry.Step) (*judged, error) {
	j, err := l.judgeParts(ctx, step, nil)
	if err != nil {
		return nil, err
	}
	shared := l.claimedTwice(j.listings)
	if len(shared) == 0 {
		return j, nil
	}
	return l.judgeParts(ctx, step, shared)
}

func (l *Ledger) judgeParts(ctx context.Context, step *registry.Step,
	shared map[claim]sharing) (*judged, error) {
	j := &judged{commit: step.Commit.ID}
	for run, err := range ahead.Of(l.parts(ctx, step)) {
		if err != nil {
			return nil, err
		}
		run.shared = shared
		one := &judged{commit: j.commit}
		if err := l.judgePart(run, one); err != nil {
			return nil, err
		}
		j.faults = append(j.faults, one.faults...)
		for _, r := range one.results {
			if r.now.listed == "" {
				j.results = append(j.results, r)
				continue
			}
			j.listings = append(j.listings, r.now.listed)
		}
	}
	return j, nil
}

// claimedTwice returns the slugs and DIDs that more than one of these new listings may claim, with the listings that
// have them, present ones included.
func (l *Ledger) claimedTwice(brought []listed.Packed) map[claim]sharing {
	all := listed.NewSet()
	for _, p := range brought {
		all.Add(p)
	}
	asked := map[claim]bool{}
	for some := range all.Shared() {
		for _, o := range some {
			asked[didClaim(o.ToolDID)] = true
		}
	}
	for _, p := range brought { // a file of its slug shares it with one that is not
		if !p.Named() {
			asked[slugClaim(p.Slug())] = true
		}
	}
	shared := map[claim]sharing{}
	for c := range asked {
		found := sharing{}
		for _, o := range slices.Concat(c.claimants(&all), c.claimants(&l.state.listings)) {
			found.note(o.Path)
		}
		shared[c] = found
	}
	return shared
}

// parts returns the changes of a commit, a part at a time, as runs.
func (l *Ledger) parts(ctx context.Context, step *registry.Step) iter.Seq2[*Run, error] {
	return func(yield func(*Run, error) bool) {
		for part := range slices.Chunk(step.Changes, l.part) {
			if run, err := l.subjects(ctx, step, part); !yield(run, err) || err != nil {
				return
			}
		}
	}
}

func (l *Ledger) judgePart(run *Run, j *judged) error {
	for _, s := range run.Subjects {
		if err := s.Read(); err != nil {
			return err
		}
		if l.Seen != nil && s.Record != nil && s.Record.Document != nil {
			l.Seen(s.Change, s.Record.Document.Data)
		}
		said, err := verdict.Run(OfRecords, func(id string) bool {
			return historical(id) && ByID(id).Judges(s.Kind)
		}, s, s.Path)
		if err != nil {
			return err
		}
		for _, one := range said {
			j.add(one.ID, s.Path, one.Outcome)
		}
		r := result{path: s.Path, sameAs: s.baseListing != nil && s.Listing != nil &&
			s.baseListing.ToolDID == s.Listing.ToolDID}
		if s.Record != nil {
			now := l.state.scan(s, true)
			r.now = &now
		}
		j.results = append(j.results, r)
		s.putAside(0) // others are judged by what it says, not by its text
	}
	return nil
}
