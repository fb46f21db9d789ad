package mirror

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/ahead"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/memo"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/commitsig"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/bulk"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/publish"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// AuditConfig is the configuration of an audit in addition to that of every run.
type AuditConfig struct {
	judge.Config
	Archive       bool                // a pinned document whose origin is gone is looked up by its hash
	OwnArchive    bool                // the archive is a mirror's own: the report assumes it only if it was used
	Strict        bool                // expired and revoked listings are failures
	Verified      string              // tip that an earlier audit verified; empty: the history is judged from its root
	VerifiedSize  int                 // how many first-parent commits there are up to Verified, itself included
	Shard, Of     int                 // only the Shard-th of Of parts of the records, counted from 1; Of 0: all
	Spool         bulk.Spool          // for the results; the zero value keeps all in memory
	Keys          *commitsig.Verifier // judges the commits' signatures; nil: they are counted only
	RequireSigned bool
	Consistency   []verdict.Finding // what comparing with a checkpoint and with peers gave
	Peers         []verdict.Peer
	Checkpoint    string // last verified tip, for the report
	Accepted      *verdict.Accepted
	SignedSince   string       // from this first-parent commit on RequireSigned holds; empty: from the root
	Unwalked      int          // commits to which the run that is replayed did not come before it was asked to end
	Log           *publish.Log // continued by what the audit reads; nil: no log is published
}

// Audit revalidates a clone at a commit: its first-parent history, the signatures of its commits, and every
// record at the head.
func Audit(ctx context.Context, repo *registry.Repository, head string, src evidence.Source,
	cfg AuditConfig) (*verdict.Report, error) {
	tree, err := repo.Tree(ctx, head)
	if err != nil {
		return nil, err
	}
	if cfg.Checkpoint == "" { // what was verified before was a registry, and consistency says what happened to it
		if err := wasRegistry(ctx, repo, tree); err != nil {
			return nil, err
		}
	}
	rep := NewReport(src, cfg.Config)
	rep.Head, rep.Strict, rep.RequireSigned, rep.Accepted = head, cfg.Strict, cfg.RequireSigned, cfg.Accepted
	if cfg.Of > 0 {
		rep.Shard = fmt.Sprintf("%d/%d", cfg.Shard, cfg.Of)
	}
	a := &audit{ctx: ctx, git: context.WithoutCancel(ctx), repo: repo, head: head, tree: tree, src: src, cfg: cfg,
		rep: rep, now: src.Now(),
		join: judge.NewJoin(rep), used: map[int]bool{}, history: ofHistory{bySubject: map[string]*verdict.Outcome{}}}
	if err := a.join.SuffixList(cfg.Config); err != nil {
		return nil, err
	}
	cfg.Spool.For(&rep.Results, Catalogue())
	defer repo.KeepTexts(maxTexts)()
	if err := a.walk(); err != nil {
		return nil, err
	}
	if err := a.records(); err != nil {
		return nil, err
	}
	a.join.Done()
	rep.Settle(Catalogue())
	if err := rep.Results.Err(); err != nil {
		return nil, err
	}
	evidence.Observed(rep, src)
	if cfg.OwnArchive && slices.ContainsFunc(rep.Evidence, isArchived) {
		rep.Assumed = slices.Insert(rep.Assumed, 0, "--archive") // before the others, which are sorted
	}
	judge.NameCommits(rep, repo)
	judge.NoteInterrupted(ctx, rep)
	if rep.Verdict == verdict.Passed && slices.Contains(rep.Assumed, verdict.Interrupted) { // also of a replay
		rep.Verdict = verdict.Inconclusive
	}
	return rep, nil
}

// isArchived reports whether a document came from the archive.
func isArchived(e verdict.Evidence) bool {
	return strings.HasPrefix(e.URL, string(evidence.Archive)+":") && e.State == evidence.Obtained.String()
}

// maxTexts is how many bytes of records are kept between the history and the head: about 100,000 listings.
const maxTexts = 80 << 20

// NewReport returns an empty report of an audit.
func NewReport(src evidence.Source, cfg judge.Config) *verdict.Report {
	rep := judge.NewReport("audit", src, cfg)
	rep.NotRun = slices.Concat(slices.DeleteFunc(verdict.IDs(verdict.Rules(own)), cfg.Selected), rep.NotRun)
	return rep
}

// wasRegistry is nil where a tree, or that of a first-parent commit before it, has one of the data directories: to take
// the last record away makes no other repository of a registry.
func wasRegistry(ctx context.Context, repo *registry.Repository, head *registry.Tree) error {
	has := func(t *registry.Tree) (bool, error) {
		for _, k := range registry.DataKinds {
			if _, found, err := t.Entry(k.Directory()); err != nil || found {
				return found, err
			}
		}
		return false, nil
	}
	if found, err := has(head); err != nil || found {
		return err
	}
	chain, err := repo.FirstParents(ctx, "", head.Commit())
	if err != nil {
		return err
	}
	for _, commit := range slices.Backward(chain) {
		t, err := repo.Tree(ctx, commit)
		if err != nil {
			return err
		}
		if found, err := has(t); err != nil || found {
			return err
		}
	}
	return fmt.Errorf("%w: none of the %d first-parent commits up to %s has one of the directories implementations/, "+
		"revocations/, peer-witnesses/, workflow-anchors/", judge.ErrNoRegistry, len(chain), head.Commit())
}

type audit struct {
	git    context.Context // of reading the clone: an audit that is asked to end still reports
	ctx    context.Context
	repo   *registry.Repository
	head   string
	tree   *registry.Tree
	src    evidence.Source
	cfg    AuditConfig
	rep    *verdict.Report
	join   *judge.Join
	now    time.Time
	ledger *checks.Ledger
	marker *checks.Marker // asks the ledger, for the log
	whole  bool           // the ledger followed the history to its end
	cut    bool           // the run's budget ended the walk through the history
	ended  bool           // a signal did
	since  int            // steps that there are to walk
	unsure int            // those before RequireSigned holds
	used   map[int]bool   // lines of what is accepted, by their number

	history    ofHistory
	signatures ofSignatures
}

// ErrSignedSince: --signed-since names a commit that is not on the chain.
var ErrSignedSince = errors.New("not on the first-parent chain of the head")

// signedSince returns how many of the walked steps come before the commit since which signatures are required.
func (a *audit) signedSince() (int, error) {
	if a.cfg.SignedSince == "" {
		return 0, nil
	}
	if _, err := a.repo.Commit(a.git, a.cfg.SignedSince); err != nil { // no fault of the clone: it was named by hand
		return 0, remedy.Errorf("give the full id of a first-parent commit of the head",
			"--signed-since %s: %w: %w", a.cfg.SignedSince, ErrSignedSince, err)
	}
	after, err := a.repo.FirstParents(a.git, a.cfg.SignedSince, a.head)
	if err != nil {
		return 0, fmt.Errorf("--signed-since %s: %w: %w", a.cfg.SignedSince, ErrSignedSince, err)
	}
	return max(0, a.since-len(after)-1), nil
}

// accept makes less of a finding that was accepted, and reports whether it was.
func (a *audit) accept(check string, f *verdict.Finding) bool {
	if a.cfg.Accepted == nil {
		return false
	}
	for i, l := range a.cfg.Accepted.Lines {
		if l.Check == check && l.Code == f.Code && l.Commit == f.Commit {
			lessen(l, f)
			a.used[i] = true
			return true
		}
	}
	return false
}

// unused returns the warnings about lines of a check that match no finding, in this run or before the commit from which
// it walks.
func (a *audit) unused(check string) ([]verdict.Finding, error) {
	if a.cfg.Accepted == nil || !a.whole {
		return nil, nil
	}
	var out []verdict.Finding
	for i, l := range a.cfg.Accepted.Lines {
		if l.Check != check || a.used[i] {
			continue
		}
		past, err := reached(a.git, a.repo, l.Commit, a.cfg.Verified)
		if err != nil {
			return nil, err
		}
		if !past {
			out = append(out, unusedLine(l))
		}
	}
	return out, nil
}

// walk judges the history by the checks that only an audit has.
func (a *audit) walk() error {
	if a.ledger = checks.NewLedger(a.repo, a.now); a.cfg.Verified != "" {
		a.ledger = checks.LedgerAt(a.repo, a.cfg.Verified, a.now)
	}
	h := &verdict.History{Checkpoint: a.cfg.Checkpoint, Peers: a.cfg.Peers}
	a.rep.History = h
	since, err := a.repo.FirstParents(a.git, a.cfg.Verified, a.head)
	if err != nil {
		return err
	}
	a.since = len(since)
	h.Commits = a.cfg.VerifiedSize + a.since
	if a.unsure, err = a.signedSince(); err != nil {
		return err
	}
	tip, err := a.repo.Commit(a.git, a.head)
	if err != nil {
		return err
	}
	h.HeadTime = tip.When
	if a.cfg.Verified != "" {
		c, err := a.repo.Commit(a.git, a.cfg.Verified)
		if err != nil {
			return err
		}
		a.history.before = c.When
	}
	if a.cfg.Log != nil {
		a.cfg.Log.Begin(a.git, a.repo, a.cfg.Verified)
		a.marker = a.ledger.Marker()
	}
	err = a.repo.Steps(a.git, a.cfg.Verified, a.head, a.step)
	a.whole = err == nil
	switch {
	case a.ended:
		o := verdict.Outcome{Doubtful: fmt.Sprintf("interrupted after %d commits", h.Walked)}
		if err := a.join.Add(history, checks.RegistrySubject, o); err != nil {
			return err
		}
	case err != nil && !a.cut:
		return err
	}
	results, err := verdict.Judge(own, nil, a, checks.RegistrySubject)
	a.join.Merge(results...)
	return err
}

func (a *audit) step(s *registry.Step) error {
	if !a.src.Reaches(history.ID, s.Commit.ID) {
		a.cut = true
		return errCut
	}
	if a.ctx.Err() != nil || a.cfg.Unwalked > 0 && a.rep.History.Walked == a.since-a.cfg.Unwalked {
		a.ended = true
		return errCut
	}
	a.rep.History.Walked++
	if a.cfg.Log != nil {
		a.ledger.Seen = func(c registry.Change, text []byte) { a.cfg.Log.See(s, c, text) }
	}
	faults, err := a.ledger.Step(a.git, s)
	if err != nil {
		return fmt.Errorf("judging commit %s: %w", s.Commit.ID, err)
	}
	if a.cfg.Log != nil {
		a.cfg.Log.Step(a.git, s, a.marker)
	}
	if a.cfg.Selected(history.ID) {
		stepHistory(a, s, faults)
	}
	if a.cfg.Selected(commitSignatures.ID) {
		return stepSignatures(a, s)
	}
	return nil
}

// errCut ends the walk through the history.
var errCut = errors.New("the run has to end")

// ofRecords reports whether any check was selected that judges the records at the head.
func (a *audit) ofRecords() bool {
	return slices.ContainsFunc(checks.All, func(c *checks.Check) bool { return !c.PerCommit && a.cfg.Selected(c.ID) })
}

// window is how many records are held at once, where none of them waits for evidence. Tests make it smaller.
var window = 1024

// records judges every record at the head.
func (a *audit) records() error {
	if !a.ofRecords() {
		return nil // to read them all and say nothing of them takes longer than the history
	}
	if !a.whole {
		return a.unreached()
	}
	rng := &registry.Range{Base: a.tree, Head: a.tree, Result: a.tree}
	run := &checks.Run{Catalogue: checks.All, Context: a.git, Repo: a.repo, Range: rng, Now: a.now,
		Offline: a.cfg.Offline, Asks: checks.OfHead, Selected: a.cfg.Selected, Explain: a.cfg.Explain,
		Memo: memo.New(judge.MaxMemo), Reach: judge.Reach(a.src, a.head)}
	var err error
	if run.Base, err = a.ledger.Standing(a.git, a.tree); err != nil {
		return err
	}
	// A slice that grows by itself is there twice while it does.
	a.rep.Listings = make([]verdict.Listing, 0, run.Base.Len()/max(a.cfg.Of, 1))
	var waiting []*checks.Subject // all are judged by what Git shows before evidence is sought for any
	var early [][]verdict.Judgement
	for subjects, err := range ahead.Of(a.subjects(run)) {
		if err != nil {
			return err
		}
		if a.rep.Counts.Records == 0 {
			run.Subjects = subjects
			if err := a.join.Registry(run); err != nil {
				return err
			}
		}
		a.rep.Counts.Records += len(subjects)
		for _, s := range subjects {
			judged, err := judge.Early(s)
			if err != nil {
				return err
			}
			waiting, early = append(waiting, s), append(early, judged)
			if !a.cfg.Offline {
				s.Forget()
			}
		}
		if a.cfg.Offline {
			if err := a.judge(run, waiting, early); err != nil {
				return err
			}
			waiting, early = waiting[:0], early[:0]
		}
	}
	if err := a.judge(run, waiting, early); err != nil {
		return err
	}
	if a.rep.Counts.Records == 0 {
		if err := a.join.Registry(run); err != nil {
			return err
		}
	}
	return a.join.Common()
}

// judge judges records, which are in path order and come after those judged before, and reports of them.
func (a *audit) judge(run *checks.Run, subjects []*checks.Subject, early [][]verdict.Judgement) error {
	run.Subjects = subjects
	return judge.Judge(a.ctx, run, early, a.src, a.cfg.Archive,
		func(s *checks.Subject, judged []verdict.Judgement) error {
			is := checks.Unreadable()
			if s.Listing != nil {
				var err error
				if is, err = run.StateOf(s); err != nil {
					return err
				}
			}
			inForce := s.Kind != registry.KindListing || is.InForce() || is.Status == verdict.StatusRefused &&
				(s.Listing == nil || s.Listing.Expires.IsZero() || run.Now.Before(s.Listing.Expires))
			for i := range judged {
				a.soften(s, inForce, &judged[i])
			}
			judge.Blame(judged)
			a.join.Note(s.Path, judged)
			for _, one := range judged {
				r, err := one.Result(*one.Rule, s.Path)
				if err != nil {
					return err
				}
				a.rep.Results.Add(r)
			}
			if s.Kind == registry.KindListing {
				a.rep.Listings = append(a.rep.Listings, listed(s, is, judged))
			}
			s.Forget()
			return nil
		})
}

// unreached reports for each check of records that the budget, or a signal, left no time for any record. The commit
// that added a record, and its time, are unknown until the whole history was walked.
func (a *audit) unreached() error {
	said := verdict.Outcome{Doubtful: "interrupted before any record was judged"}
	if a.cut {
		said = judge.BudgetSpent("no record was judged")
	}
	for _, c := range checks.All {
		if a.cfg.Selected(c.ID) && !c.PerCommit && !(a.cfg.Offline && c.Online()) {
			if err := a.join.Add(c.Rule(), checks.RegistrySubject, said); err != nil {
				return err
			}
		}
	}
	return nil
}

// ShardOf returns the part, from 1 to of, that a record belongs to, by the slug in its name: a slug's listing,
// revocations and anchors go together.
func ShardOf(path string, of int) int {
	slug := strings.TrimSuffix(path[strings.LastIndexByte(path, '/')+1:], ".json")
	if registry.KindOf(path) == registry.KindRevocation && len(slug) > 65 {
		slug = slug[:len(slug)-65]
	}
	h := fnv.New32a()
	h.Write([]byte(slug))
	return int(uint64(h.Sum32())%uint64(of)) + 1
}

// subjects returns the records at the head that belong to this shard, in path order, a window at a time.
func (a *audit) subjects(run *checks.Run) iter.Seq2[[]*checks.Subject, error] {
	return func(yield func([]*checks.Subject, error) bool) {
		var some []registry.NamedEntry
		read := func() bool {
			subjects, err := a.read(run, some)
			some = nil
			return yield(subjects, err) && err == nil
		}
		for _, k := range slices.SortedFunc(slices.Values(registry.DataKinds),
			func(x, y registry.Kind) int { return strings.Compare(x.Directory(), y.Directory()) }) {
			for e, err := range a.tree.Entries(k) {
				if err != nil {
					yield(nil, err)
					return
				}
				if registry.KindOf(e.Path) != k || a.cfg.Of > 0 && ShardOf(e.Path, a.cfg.Of) != a.cfg.Shard {
					continue
				}
				if some = append(some, e); len(some) == window && !read() {
					return
				}
			}
			if len(some) > 0 && !read() {
				return
			}
		}
	}
}

// read gives records of the head, each with the tree and time by which it was judged when it was merged.
func (a *audit) read(run *checks.Run, entries []registry.NamedEntry) ([]*checks.Subject, error) {
	changes := make([]registry.Change, len(entries))
	for i, e := range entries {
		changes[i] = registry.Change{Path: e.Path, Head: &entries[i].Entry}
	}
	subjects, err := checks.NewSubjects(run, changes)
	if err != nil {
		return nil, err
	}
	for _, s := range subjects {
		if err := a.date(s); err != nil {
			return nil, err
		}
	}
	return subjects, nil
}

// date sets the tree and time by which a record was judged when it was merged, where anything is judged by them.
func (a *audit) date(s *checks.Subject) error {
	high := s.Listing != nil && s.Listing.Level.Base() >= 4
	merged := s.Revocation != nil || s.Anchor != nil
	if s.Listing == nil && !merged {
		return nil
	}
	if a.cfg.Offline && !high && !merged && !s.Listing.Provisional {
		return nil // neither its age nor its witnesses will be judged
	}
	if !high && !merged {
		origin, err := a.ledger.Origin(a.git, s.Path)
		s.Stood = origin.First
		return err
	}
	var err error
	s.Merged, s.Stood, err = a.ledger.Merged(a.git, s.Path)
	s.Witnessed = s.Merged
	return err
}
