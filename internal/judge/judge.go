// Package judge gates a range of a registry by all checks.
//
// Each range is judged by its own base tree. A record is judged as soon as its evidence is there.
package judge

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/crash"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/memo"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// ErrNoRegistry means that the clone is not a registry. For a check, neither base nor head has the directory
// implementations/. For an audit, no first-parent commit has any of the data directories.
var ErrNoRegistry = remedy.Errorf("name the clone with --repo; a new registry begins with implementations/.gitkeep",
	"no OAP registry here")

// Config is the configuration of a run in addition to the registry and the evidence.
type Config struct {
	Tool           verdict.Tool
	Origin         string               // name of the registry, empty where none is known
	Chosen         string               // how base and head were chosen
	Uncommitted    []string             // records on disk that differ from those of head
	Selected       func(id string) bool // which checks run
	Offline        bool                 // nothing is fetched
	DenyGovernance bool                 // a change of only governance files fails
	Assumed        []string             // flags that leave a check out or replace network, clock or trust root
	Recorded       *evidence.Recorded   // what a replayed bundle says; nil in a live run
	Landing        *checks.Landing      // by which the range lands; nil: it does not
	Explain        checks.Explainer     // of signatures that do not verify; nil: they are not explained
}

// inFlight is how many records' evidence is held at once; the source bounds the requests themselves.
const inFlight = 64

// MaxMemo is how many bytes are kept of what was decoded and verified: twice what the documents of a check may have.
const MaxMemo = 128 << 20

// Reach asks the source whether the budget lasts for a subject of a commit: each range of a sequence has its own.
func Reach(src evidence.Source, commit string) func(check, subject string) bool {
	return func(check, subject string) bool { return src.Reaches(check, commit+":"+subject) }
}

// Check gates the ranges one after another, each with its own base tree as the judge, and joins what was
// found. Any error means that there is no verdict.
func Check(ctx context.Context, repo *registry.Repository, ranges []*registry.Range, src evidence.Source,
	cfg Config) (*verdict.Report, error) {
	rep := NewReport("check", src, cfg)
	rep.Base = ranges[0].Base.Commit()
	rep.Head = ranges[len(ranges)-1].Head.Commit()
	if len(ranges) == 1 && len(ranges[0].MergeBases) > 0 {
		rep.MergeBase = ranges[0].MergeBases[0]
	}
	if err := hasRegistry(ranges[0].Base, ranges[len(ranges)-1].Head); err != nil {
		return nil, err
	}
	known, joined := memo.New(MaxMemo), NewJoin(rep)
	if err := joined.SuffixList(cfg); err != nil {
		return nil, err
	}
	var asks checks.Asks
	for _, r := range ranges {
		if err := checkRange(ctx, repo, r, src, cfg, known, joined, asks); err != nil {
			return nil, err
		}
		asks = checks.OfNext
	}
	joined.Done()
	rep.Settle(checks.Rules())
	evidence.Observed(rep, src)
	NameCommits(rep, repo)
	if rep.Verdict != verdict.Passed { // else all the evidence was there before the signal came
		NoteInterrupted(ctx, rep)
	}
	joined.settled()
	return rep, rep.Results.Err()
}

// NoteInterrupted has a report say that its run was asked to end before its time.
func NoteInterrupted(ctx context.Context, rep *verdict.Report) {
	if ctx.Err() != nil && !slices.Contains(rep.Assumed, verdict.Interrupted) {
		rep.Assumed = append(rep.Assumed, verdict.Interrupted)
	}
}

// NewReport returns an empty report of a run.
func NewReport(mode string, src evidence.Source, cfg Config) *verdict.Report {
	rep := &verdict.Report{Version: 1, Tool: cfg.Tool, Mode: mode, EvaluatedAt: src.Now().UTC(), Origin: cfg.Origin,
		Chosen:  cfg.Chosen,
		Assumed: append([]string{}, cfg.Assumed...), Evidence: []verdict.Evidence{},
		PublicSuffixList: cfg.Recorded.SuffixList()}
	for _, c := range checks.All {
		if !cfg.Selected(c.ID) || cfg.Offline && c.Online() {
			rep.NotRun = append(rep.NotRun, c.ID)
		}
	}
	return rep
}

func hasRegistry(trees ...*registry.Tree) error {
	for _, t := range trees {
		_, found, err := t.Entry(registry.KindListing.Directory())
		if err != nil {
			return err
		}
		if found {
			return nil
		}
	}
	return fmt.Errorf("%w: no commit to judge has the directory implementations/", ErrNoRegistry)
}

// checkRange judges one range and joins what it found.
func checkRange(ctx context.Context, repo *registry.Repository, rng *registry.Range, src evidence.Source, cfg Config,
	known *memo.Memo, joined *Join, asks checks.Asks) error {
	run := &checks.Run{Catalogue: checks.All, Context: ctx, Repo: repo, Range: rng, Now: src.Now(), Asks: asks,
		Landing:        cfg.Landing,
		Offline:        cfg.Offline,
		DenyGovernance: cfg.DenyGovernance, Chosen: cfg.Chosen, Uncommitted: cfg.Uncommitted, Selected: cfg.Selected,
		Explain: cfg.Explain, Memo: known, Reach: Reach(src, rng.Head.Commit())}
	changes, err := touched(rng)
	if err != nil {
		return err
	}
	budget := budget{records: len(changes)}
	if err := budget.full(); err != nil {
		return err
	}
	run.Base, err = checks.NewStanding(ctx, rng.Base, func(p string) bool { return touches(changes, p) })
	if err != nil {
		return err
	}
	for _, c := range changes {
		s, err := checks.NewSubject(run, c)
		if err != nil {
			return err
		}
		if err := budget.take(s); err != nil {
			return err
		}
		joined.takes(s)
		run.Subjects = append(run.Subjects, s)
	}
	if err := joined.Registry(run); err != nil {
		return err
	}
	repaired, err := run.Repaired() // before the records are released
	if err != nil {
		return err
	}
	early := make([][]verdict.Judgement, len(run.Subjects))
	for i, s := range run.Subjects {
		if early[i], err = Early(s); err != nil {
			return err
		}
	}
	// An interrupt ends what is fetched. What was fetched is still judged, and the history is read for it.
	run.Context = context.WithoutCancel(ctx)
	if err := Judge(ctx, run, early, src, false, joined.subject); err != nil {
		return err
	}
	if err := joined.Common(); err != nil {
		return err
	}
	if err := joined.standing(run); err != nil {
		return err
	}
	rep := joined.rep
	for _, path := range slices.Concat(checks.Governance(rng), checks.TransientGovernance(rng), repaired) {
		rep.Governance = append(rep.Governance, verdict.Abridged(path))
		joined.changes("governance", false)
	}
	slices.Sort(rep.Governance)
	rep.Governance = slices.Compact(rep.Governance)
	rep.Squash = rep.Squash || checks.Squash(rng)
	return nil
}

// touched returns the changes of the data paths that a range touches as a whole, and of those that only single commits
// of it touch, in path order.
func touched(r *registry.Range) ([]registry.Change, error) {
	var out []registry.Change
	known := map[string]bool{}
	for _, c := range r.Changes {
		if registry.KindOf(c.Path) != registry.Governance {
			known[c.Path] = true
			out = append(out, c)
		}
	}
	for _, commit := range r.Commits {
		for _, c := range commit.Touched {
			if known[c.Path] || registry.KindOf(c.Path) == registry.Governance {
				continue
			}
			known[c.Path] = true
			same, err := r.Base.Leaf(c.Path) // the result has it so too: the range as a whole does not change it
			if err != nil {
				return nil, err
			}
			out = append(out, registry.Change{Path: c.Path, Base: same, Head: same})
		}
	}
	slices.SortFunc(out, byPath)
	return out, nil
}

func byPath(a, b registry.Change) int { return strings.Compare(a.Path, b.Path) }

// touches reports whether changes in path order hold one of a path.
func touches(changes []registry.Change, path string) bool {
	_, found := slices.BinarySearchFunc(changes, registry.Change{Path: path}, byPath)
	return found
}

// Early judges a subject by the checks that need no evidence. A large record of an audit is put aside.
func Early(s *checks.Subject) ([]verdict.Judgement, error) {
	if err := s.Read(); err != nil {
		return nil, err
	}
	out, err := judge(s, true)
	s.PutAside()
	return out, err
}

// judge judges a subject by the checks of its kind that need no evidence, or by the others.
func judge(s *checks.Subject, early bool) ([]verdict.Judgement, error) {
	return verdict.Run(checks.OfRecords, func(id string) bool {
		c := checks.ByID(id)
		return c.Judges(s.Kind) && c.Early() == early && (!s.Unchanged() || c.PerCommit)
	}, s, s.Path)
}

// Judge judges each subject of the run as soon as its evidence is there, and then frees the evidence: what a web of
// hostile sites serves must not add up. early is what Early returned for each subject. Judge calls each for one subject
// after another, in their order.
func Judge(ctx context.Context, run *checks.Run, early [][]verdict.Judgement, src evidence.Source, archive bool,
	each func(*checks.Subject, []verdict.Judgement) error) error {
	judged, recorded := make([]bool, len(run.Subjects)), 0
	var g errgroup.Group
	var telling sync.Mutex
	var crashed crash.Carrier
	one := func(i int) (err error) {
		s := run.Subjects[i]
		defer func() {
			if r := recover(); r != nil {
				panic(fmt.Errorf("judging %s: %v", s.Path, r))
			}
		}()
		if err := s.Read(); err != nil {
			return err
		}
		if !run.Offline {
			if err := collect(ctx, run, s, src, archive); err != nil {
				return err
			}
		}
		late, err := judge(s, false)
		if err != nil {
			return err
		}
		early[i] = append(early[i], late...)
		Blame(early[i])
		s.Release()
		telling.Lock()
		defer telling.Unlock()
		judged[i] = true
		for ; recorded < len(judged) && judged[recorded]; recorded++ {
			if err := each(run.Subjects[recorded], early[recorded]); err != nil {
				return err
			}
			early[recorded] = nil
		}
		return nil
	}
	var next atomic.Int64
	for range min(inFlight, len(run.Subjects)) {
		g.Go(func() error {
			defer crashed.Catch(nil)
			for {
				i := int(next.Add(1)) - 1
				if i >= len(run.Subjects) {
					return nil
				}
				if err := one(i); err != nil {
					return err
				}
			}
		})
	}
	err := g.Wait()
	crashed.Rethrow()
	return err
}

// Blame checks that if a check was skipped because another fails, that other one does fail, or was skipped for a third
// that fails.
func Blame(judged []verdict.Judgement) {
	fails := func(id string) bool {
		for range judged {
			at := slices.IndexFunc(judged, func(o verdict.Judgement) bool { return o.ID == id })
			switch {
			case at < 0:
				return false
			case judged[at].Has(verdict.Error):
				return true
			}
			id = judged[at].DeferredTo
		}
		return false
	}
	for i, j := range judged {
		if j.DeferredTo != "" && !fails(j.DeferredTo) {
			judged[i].Skipped, judged[i].Doubtful = "", "was not judged, and "+j.DeferredTo+" did not fail"
		}
	}
}

// collect fetches the evidence that the selected checks require for one subject. A document that could not be fetched
// is an observation; the error is that of reading the registry.
func collect(ctx context.Context, run *checks.Run, s *checks.Subject, src evidence.Source, archive bool) error {
	var record any
	switch {
	case s.Unchanged():
	case s.Listing != nil:
		record = s.Listing
	case s.Revocation != nil:
		record = s.Revocation
	case s.Anchor != nil:
		record = s.Anchor
	}
	if record == nil {
		return nil
	}
	if is, err := s.Recovers(); err != nil || is && s.Revocation == nil {
		return err // nothing more is asked of it
	}
	var kinds evidence.Set
	for _, c := range checks.All {
		if c.Judges(s.Kind) && run.Selected(c.ID) {
			kinds |= c.Wants(s)
		}
	}
	if kinds == 0 {
		return nil
	}
	w, failed := s.Wanted(kinds)
	if s.Revocation != nil {
		l, err := s.RevokedListing()
		if err != nil {
			return err
		}
		w.Revoked = l
	}
	if s.Anchor != nil {
		anchors, err := s.Declarations()
		if err != nil {
			return err
		}
		w.Declarations = anchors
	}
	w.Archive = archive
	facts := evidence.Collect(ctx, src, record, w)
	if err := failed(); err != nil {
		return err
	}
	s.Facts = facts
	return nil
}

// What one range may bring, since all its records are held at once: a Git object of a few bytes can stand under any
// number of names. A listing has some twenty values in a kilobyte; a value takes about 120 bytes of memory.
const (
	maxRecords = 10_000
	maxText    = 32 << 20 // bytes
	maxValues  = 1 << 19
)

// budget counts what the records of a range take.
type budget struct{ records, text, values int }

// take counts a record's texts; the error says that the range has too many.
func (m *budget) take(s *checks.Subject) error {
	for _, r := range []*registry.Record{s.Record, s.BaseRecord} {
		if r != nil && r.Document != nil {
			m.text += len(r.Document.Data)
			m.values += values(r.Document.Root)
		}
	}
	return m.full()
}

func (m *budget) full() error {
	problem := ""
	switch {
	case m.records > maxRecords:
		problem = fmt.Sprintf("more than %d records", maxRecords)
	case m.text > maxText:
		problem = fmt.Sprintf("records of more than %d MiB", maxText>>20)
	case m.values > maxValues:
		problem = fmt.Sprintf("records of more than %d JSON values", maxValues)
	default:
		return nil
	}
	return remedy.Errorf("split the change",
		"reading the records that the range changes: %w: %s", registry.ErrLimit, problem)
}

func values(v any) int {
	n := 1
	switch v := v.(type) {
	case map[string]any:
		for _, m := range v {
			n += values(m)
		}
	case []any:
		for _, e := range v {
			n += values(e)
		}
	}
	return n
}
