package checks

import (
	"context"
	"sync"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/memo"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/signature"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// RegistrySubject is the subject of findings about the registry as a whole.
const RegistrySubject = "registry"

// Run is what all subjects of one range share.
type Run struct {
	Context        context.Context
	Catalogue      []*Check // among which the owner of missing evidence is found
	Repo           *registry.Repository
	Range          *registry.Range
	Base           *Standing // the judge: what the base tree holds
	Now            time.Time
	Offline        bool
	Asks           Asks
	DenyGovernance bool
	Chosen         string   // how base and head were chosen
	Uncommitted    []string // records on disk that differ from those of head, and were not judged
	// Landing is of the event that landed the range, or is about to; nil: none did.
	Landing *Landing
	// Selected reports whether a check is to run.
	Selected func(id string) bool
	// Reach reports whether the run's budget lasts for judging a subject by a check, and is asked once for each; nil:
	// it always does.
	Reach func(check, subject string) bool
	// Explain explains signatures that do not verify, and decides nothing; nil: they are not explained.
	Explain Explainer
	// Memo holds what the run has decoded and verified; nil: everything is, for each subject.
	Memo *memo.Memo
	// Subjects are the data paths that the range touches, in path order; in an audit those that are judged together.
	Subjects []*Subject

	landings   once[*landings]
	neighbours once[map[*Subject][]neighbour]     // by listing that the range brings
	anchors    once[map[string][]*standingAnchor] // by coordinator; see anchored
	servers    once[[]string]                     // see referenceServers
	leakage    once[[]leak]                       // see leaks
	unread     once[[]pathSlug]                   // see Unreadable
	overlay    once[*past]                        // see landing

	mu     sync.Mutex
	shared map[claim]sharing // see others
	first  map[string]tenant // see firstOf
}

// once is what a run works out when it is first asked for.
type once[T any] struct {
	sync.Once
	value T
	err   error
}

func (o *once[T]) get(work func() (T, error)) (T, error) {
	o.Do(func() { o.value, o.err = work() })
	return o.value, o.err
}

// Reaches reports whether the run's budget lasts for judging a subject by a check.
func (r *Run) Reaches(check, subject string) bool { return r.Reach == nil || r.Reach(check, subject) }

// Subject is one data path that a range touches, with what is known about it.
type Subject struct {
	Run    *Run
	Path   string
	Kind   registry.Kind
	Change registry.Change // base tree and result

	Record     *registry.Record // as it would land; nil if the range removes it
	Listing    *registry.Listing
	Revocation *registry.Revocation
	Anchor     *registry.Anchor

	BaseRecord  *registry.Record // as it is in the base tree; nil for a new file
	baseListing *registry.Listing

	Facts *evidence.Facts

	// Merged is what judged the record when it was merged, in an audit; else nil.
	Merged *Moment
	// Witnessed is when its witnesses were judged, which may have counted then; nil: they are judged now.
	Witnessed *Moment
	// Stood is, in an audit, since when the path has held this tool_did.
	Stood time.Time

	violations []verdict.Finding // what schema found
	validated  bool              // schema looked
	fault      fault             // what the text of a listing shows, in an audit
	outlook    *outlook          // see prospect
	forgotten  bool
}

// Added reports whether the base tree has no such file.
func (s *Subject) Added() bool { return s.Change.Base == nil && s.Change.Head != nil }

// isNew reports whether the range brings the file, so that the rules for new files apply to it.
func (s *Subject) isNew() bool { return s.Added() && !s.Run.Asks.AsIs }

// modified reports whether the range changes a file of the base tree without taking it away.
func (s *Subject) modified() bool { return s.Change.Base != nil && s.Change.Head != nil }

// A Moment is what judges a record: a tree with its policy, and a time. For a merged record these are the first parent
// and the date of the commit that gave the record its present content.
type Moment struct {
	Tree   *registry.Tree
	When   time.Time
	Policy Policy

	number int // that the merging commit has, see registry.PathVersion; 0: not known
}

// present returns what judges a proposal.
func (r *Run) present() *Moment {
	return &Moment{Tree: r.Base.Tree, When: r.Now, Policy: r.Base.Policy}
}

// newMoment returns what a commit was judged by, whose first parent is that commit, or none.
func newMoment(ctx context.Context, repo *registry.Repository, parent string, when time.Time,
	number int) (t *Moment, err error) {
	t = &Moment{When: when, Tree: repo.EmptyTree(), number: number}
	if parent != "" {
		if t.Tree, err = repo.Tree(ctx, parent); err != nil {
			return nil, err
		}
	}
	t.Policy, err = ReadPolicy(ctx, t.Tree)
	return t, err
}

// Brought returns what a path of the base tree holds, and the commit that brought it; zero if the history has no such
// path.
func (r *Run) Brought(path string) (registry.PathVersion, error) {
	return r.past().brought(r.Context, path)
}

// Anchored returns by what the listing at a path of the base tree was judged when it got its present content.
func (r *Run) Anchored(path string) (*Moment, error) {
	v, err := r.Brought(path)
	if err != nil || v.Commit == "" {
		return nil, err
	}
	parent, err := firstParent(r.Context, r.Repo, v.Commit)
	if err != nil {
		return nil, err
	}
	return newMoment(r.Context, r.Repo, parent, v.When, v.Number)
}

// firstParent returns the first parent of a commit, or "" for a root commit.
func firstParent(ctx context.Context, repo *registry.Repository, commit string) (string, error) {
	c, err := repo.Commit(ctx, commit)
	if err != nil || len(c.Parents) == 0 {
		return "", err
	}
	return c.Parents[0], nil
}

// unsought is the evidence of a subject for which none was collected. Nobody writes to it.
var unsought = &evidence.Facts{}

// maxKept is how many bytes of a record are kept while others are judged: the value of a byte may take eighty bytes of
// memory.
const maxKept = 4 << 10

// NewSubjects returns the subjects of the paths that changes touch, with their records read from the base tree and from
// the result. In an audit, Read reads the documents of large records, and of very many records, later.
func NewSubjects(r *Run, changes []registry.Change) ([]*Subject, error) {
	kept := maxKept
	if len(changes) > defaultPart {
		kept = 0
	}
	out := make([]*Subject, len(changes))
	err := r.Repo.Records(r.Context, changes, func(i int, records registry.Sides) {
		out[i] = newSubject(r, changes[i], records)
		out[i].putAside(kept)
	})
	return out, err
}

// PutAside releases the documents of a large record of an audit, until Read. What they say about a listing, a
// revocation or an anchor is kept.
func (s *Subject) PutAside() {
	if s.Run.Asks.AsIs && s.Listing != nil && s.Record != nil {
		s.fault = s.Run.Base.Schemas.faultOf(s, len(place(s, "")) > 0)
	}
	s.putAside(maxKept)
}

func (s *Subject) putAside(kept int) {
	if !s.Run.Asks.onMain {
		return // a range has no more than its budget allows
	}
	for _, r := range []*registry.Record{s.Record, s.BaseRecord} {
		if r != nil && r.Document != nil && len(r.Document.Data) > kept {
			s.Record, s.BaseRecord, s.forgotten = nil, nil, true
			return
		}
	}
}

// NewSubject returns the subject of one such path.
func NewSubject(r *Run, c registry.Change) (*Subject, error) {
	s, err := NewSubjects(r, []registry.Change{c})
	if err != nil {
		return nil, err
	}
	return s[0], nil
}

func newSubject(r *Run, c registry.Change, records registry.Sides) *Subject {
	s := &Subject{Run: r, Path: c.Path, Kind: registry.KindOf(c.Path), Change: c, Facts: unsought}
	s.take(records)
	return s
}

func (s *Subject) take(records registry.Sides) {
	s.Record, s.BaseRecord = records.Head, records.Base
	if s.Kind == registry.KindListing && s.BaseRecord != nil && s.BaseRecord.Document != nil {
		s.baseListing = registry.ParseListing(s.BaseRecord)
	}
	if s.Record != nil && s.Record.Document != nil {
		switch s.Kind {
		case registry.KindListing:
			s.Listing = registry.ParseListing(s.Record)
		case registry.KindRevocation:
			s.Revocation = registry.ParseRevocation(s.Record)
		case registry.KindWorkflowAnchor:
			s.Anchor = registry.ParseAnchor(s.Record)
		}
	}
}

// Forget releases all that was read of the record, until Read. In a range others are judged by it too.
func (s *Subject) Forget() {
	*s = Subject{Run: s.Run, Path: s.Path, Kind: s.Kind, Change: s.Change, Facts: unsought, Merged: s.Merged,
		Witnessed: s.Witnessed, Stood: s.Stood, violations: s.violations, validated: s.validated, fault: s.fault,
		forgotten: true}
}

// Read reads again the record that Forget or PutAside released.
func (s *Subject) Read() error {
	if !s.forgotten {
		return nil
	}
	err := s.Run.Repo.Records(s.Run.Context, []registry.Change{s.Change},
		func(_ int, records registry.Sides) { s.take(records) })
	if err != nil {
		return err
	}
	s.forgotten = false
	return nil
}

// Unchanged reports whether the file would land as the base tree holds it: only single commits touch it.
func (s *Subject) Unchanged() bool {
	return registry.SameEntry(s.Change.Base, s.Change.Head)
}

// Pos returns the position of a member in the file as it would land.
func (s *Subject) Pos(pointer string) registry.Pos {
	if r := s.Record; r != nil && r.Document != nil {
		return r.Document.Pos(pointer)
	} else if r != nil && r.Err != nil {
		return r.Err.Pos
	}
	return registry.Pos{Path: s.Path}
}

// judge returns what judges the record.
func (s *Subject) judge() *Moment {
	if s.Merged != nil {
		return s.Merged
	}
	return s.Run.present()
}

// readable reports whether a signature can ever have verified.
func readable(alg, value string) bool {
	_, err := signature.Text(value)
	return alg == "EdDSA" && err == nil
}

// Release releases what only judging needs, the evidence and the files' texts: an audit has as many subjects as
// records.
func (s *Subject) Release() {
	s.Facts = s.Facts.Spent()
	s.Record, s.BaseRecord = nil, nil
}

// listingIn reads the listing that an entry of its file holds. It returns nil if no listing can be read there.
func (r *Run) listingIn(path string, e *registry.Entry) (*registry.Listing, error) {
	if e == nil {
		return nil, nil
	}
	rec, err := r.Repo.Record(r.Context, path, *e)
	if err != nil || rec.Document == nil {
		return nil, err
	}
	return registry.ParseListing(rec), nil
}

// stamp writes a time as the registry's files do: RFC 3339, UTC, milliseconds where there are any.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.999Z07:00") }
