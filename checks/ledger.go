package checks

import (
	"context"
	"fmt"
	"hash/maphash"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/ahead"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// Ledger follows the first-parent history from its beginning, so that each commit can be judged by the state before it
// without reading the whole tree again. It judges by the same checks as a pull request.
type Ledger struct {
	// Seen is called in path order with each change that Step reads as a strict document, and its text; nil: nobody
	// asks. A change may come again.
	Seen func(c registry.Change, text []byte)

	repo  *registry.Repository
	now   time.Time // the run's clock
	time  time.Time // first-parent time of the commit that is judged
	state *Standing
	files map[string]file     // by path, of the data directories: what cannot be read as a listing
	odd   map[string][]string // paths and directories that folding changes, by their folded form

	refused *registry.RefusalWalk

	commits []judgedCommit // those that origins tell of
	origins []origin       // origins of the listings, by their numbers
	pins    pinned         // pins of judged listings that are gone; Standing reduces them to those that are revoked

	mu       sync.Mutex               // guards what Origin and pinned recall, which several goroutines ask for
	part     int                      // size of a part of one commit: changes in memory together, unrelated ones
	verified string                   // the commit after which this ledger was begun; empty: with the root
	unread   bool                     // the path was not read yet
	before   map[string]earlierOrigin // what brought the paths up to then; made on first use
	revoked  map[pin]string           // what Standing gave; nil: not called yet
}

// judgedCommit is what an Origin says about a commit: its first parent and its first-parent time.
type judgedCommit struct {
	parent string
	when   time.Time
}

// origin is an Origin by the commits' places in the ledger: that which brought the content, and that from which on
// First counts. Either is beforeLedger where the ledger does not reach back to it.
type origin struct{ commit, first uint32 }

const beforeLedger = math.MaxUint32

type file struct {
	scanned
	origin
}

// earlierOrigin is what the history up to a verified commit says about a path.
type earlierOrigin struct {
	Origin
	tenure registry.Tenure // only for a listing that could be read
}

// Origin says about the commit that gave a path its present content what it was judged by.
type Origin struct {
	Parent string    // empty for a root commit
	When   time.Time // the commit's first-parent time
	First  time.Time // since when the path has held this tool_did without a break; for listings
}

// NewLedger returns the ledger of an empty registry. The clock of the run, now, bounds the dates of commits.
func NewLedger(repo *registry.Repository, now time.Time) *Ledger {
	l := &Ledger{repo: repo, now: now, state: emptyStanding(nil), files: map[string]file{}, odd: map[string][]string{},
		pins: pinned{}, part: defaultPart, refused: repo.NewRefusalWalk("")}
	l.state.followed = l
	return l
}

// LedgerAt returns the ledger after a commit whose history was judged before; now is as for NewLedger.
func LedgerAt(repo *registry.Repository, commit string, now time.Time) *Ledger {
	l := NewLedger(repo, now)
	l.verified, l.unread = commit, true
	l.refused = repo.NewRefusalWalk(commit)
	return l
}

// read reads the state at the verified commit. The first use calls it.
func (l *Ledger) read(ctx context.Context) error {
	if !l.unread {
		return nil
	}
	l.unread = false
	t, err := l.repo.Tree(ctx, l.verified)
	if err != nil {
		return err
	}
	for _, k := range registry.DataKinds {
		scan := func(rec *registry.Record) scanned { return l.state.scan(subjectOf(rec), true) }
		for f, err := range registry.Scan(ctx, t, k, scan) {
			if err != nil {
				return err
			}
			l.enter(f, origin{beforeLedger, beforeLedger})
		}
	}
	l.odd, err = oddPaths(t)
	return err
}

// Standing returns the state after the commit judged last, whose tree is t, without the faults of files. It frees what
// judging further commits needs: afterwards the ledger only answers questions about the past, and Step must not be
// called.
func (l *Ledger) Standing(ctx context.Context, t *registry.Tree) (*Standing, error) {
	if err := l.read(ctx); err != nil {
		return nil, err
	}
	l.odd = nil
	st := emptyStanding(t)
	st.followed = l
	if err := st.readRules(ctx); err != nil {
		return nil, err
	}
	for _, path := range slices.Sorted(maps.Keys(l.files)) {
		st.add(l.files[path].scanned)
	}
	st.listings = l.state.listings
	st.listings.sort()
	l.state, l.revoked = st, st.revoked
	l.pins.keep(l.revoked)
	return st, nil
}

// origin returns the commit that wrote the content of a path, if it was judged.
func (l *Ledger) origin(path string) (origin, bool) {
	at := l.files[path].origin
	n, found := l.state.listings.number(path)
	if found {
		at = l.origins[n]
	} else {
		_, found = l.files[path]
	}
	return at, found && at.commit != beforeLedger
}

// Origin gives what brought a path of the data directories its present content, as of the commit judged last.
func (l *Ledger) Origin(ctx context.Context, path string) (Origin, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at, found := l.origin(path)
	var o Origin
	if found {
		o.Parent, o.When = l.commits[at.commit].parent, l.commits[at.commit].when
		if at.first != beforeLedger {
			o.First = l.commits[at.first].when
		}
	}
	if l.verified != "" && o.First.IsZero() {
		if err := l.recall(ctx); err != nil {
			return Origin{}, err
		}
		if old, known := l.before[path]; found {
			o.First = old.First
		} else {
			o, found = old.Origin, known
		}
	}
	if !found {
		return Origin{}, fmt.Errorf("finding the commit that brought %s: it is not in the first-parent history", path)
	}
	return o, nil
}

// recall reads what brought each path up to the verified commit. One walk for all paths: the history of each
// would be as long.
func (l *Ledger) recall(ctx context.Context) error {
	if l.before != nil {
		return nil
	}
	l.before = map[string]earlierOrigin{}
	pins := pinned{}
	defer func() {
		if l.revoked != nil {
			pins.keep(l.revoked)
		}
		maps.Copy(l.pins, pins)
	}()
	return l.repo.Steps(ctx, "", l.verified, func(step *registry.Step) error {
		landed, err := l.repo.FirstParentTime(ctx, step.Commit.ID, l.now)
		if err != nil {
			return err
		}
		for _, c := range step.Changes {
			if !isRecord(c) {
				continue
			}
			old := l.before[c.Path]
			delete(l.before, c.Path)
			if c.Head == nil {
				continue
			}
			now := earlierOrigin{Origin: Origin{step.Base.Commit(), landed, landed}}
			if registry.KindOf(c.Path) == registry.KindListing {
				rec, err := l.repo.Record(ctx, c.Path, *c.Head)
				if err != nil {
					return err
				}
				if rec.Document != nil {
					listing := registry.ParseListing(rec)
					now.tenure = old.tenure.Next(strings.Clone(listing.ToolDID), landed)
					now.First = now.tenure.Since
					pins.add(c.Path, strings.Clone(listing.ReceiptSHA256), listing.Issued)
				}
			}
			l.before[c.Path] = now
		}
		return nil
	})
}

// historical reports whether each commit of the history is judged by the check of that id.
func historical(id string) bool {
	c := ByID(id)
	return c != nil && c.inHistory
}

// Step judges a commit by the state before it, then applies its changes. An error means that an object could not be
// read.
func (l *Ledger) Step(ctx context.Context, step *registry.Step) ([]Fault, error) {
	if err := l.read(ctx); err != nil {
		return nil, err
	}
	var err error
	if l.time, err = l.repo.FirstParentTime(ctx, step.Commit.ID, l.now); err != nil {
		return nil, err
	}
	l.state.Tree = step.Base
	run := l.run(ctx, step)
	j, err := l.judge(ctx, step)
	if err != nil {
		return nil, err
	}
	for _, c := range step.Changes {
		// Of new records it only counts whether there are any, and the first commit may bring a million.
		if isRecord(c) && (c.Base != nil || len(run.Subjects) == 0) {
			run.Subjects = append(run.Subjects,
				&Subject{Run: run, Path: c.Path, Kind: registry.KindOf(c.Path), Change: c})
		}
	}
	out, err := runAppendOnlyRegistry(run)
	if err != nil {
		return nil, err
	}
	refused, err := l.refused.Step(ctx, step)
	if err != nil {
		return nil, err
	}
	reportRefused(&out, refused,
		"judge it, and name the commit in the file of --accepted: merged history cannot be corrected")
	j.add(appendOnly, RegistrySubject, out)
	twins, err := l.newTwins(step)
	if err != nil {
		return nil, err
	}
	j.add(layout, RegistrySubject, twinFindings(twins))
	if slices.ContainsFunc(step.Changes, func(c registry.Change) bool {
		return !isRecord(c) || isDataDirectory(c.Path)
	}) {
		// Looking in each commit would read the data directories as they were.
		directories, err := directoryFindings(run)
		if err != nil {
			return nil, err
		}
		j.add(layout, RegistrySubject, directories)
	}
	l.commits = append(l.commits, judgedCommit{step.Base.Commit(), l.time})
	for _, p := range j.listings {
		l.enter(scanned{listed: p}, l.here())
	}
	for _, r := range j.results {
		l.apply(r)
	}
	return j.faults, nil
}

// here returns the origin of what the commit judged last wrote.
func (l *Ledger) here() origin { return origin{uint32(len(l.commits) - 1), uint32(len(l.commits) - 1)} }

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
		Offline: true, merged: true, Selected: historical}
}

// judged is what the subjects of one commit gave.
type judged struct {
	commit   string
	faults   []Fault
	results  []result
	listings []packed // new ones, instead of their results
}

func (j *judged) add(c *Check, path string, o verdict.Outcome) {
	for _, f := range o.Findings {
		f.Commit = j.commit
		j.faults = append(j.faults, Fault{c.ID, path, f})
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

// claimedTwice returns the slugs and DIDs that more than one of these new listings claim, with the present listings
// that have them.
func (l *Ledger) claimedTwice(listings []packed) map[claim]sharing {
	seed := maphash.MakeSeed()
	claims := func(p packed) (claims [2]claim, hashes [2]uint64) {
		claims = [2]claim{slugClaim(p.slug()), didClaim(p.toolDID())}
		for i, c := range claims {
			hashes[i] = maphash.Comparable(seed, c)
		}
		return claims, hashes
	}
	all := make([]uint64, 0, 2*len(listings)) // two that are equal are hardly ever of different texts
	for _, p := range listings {
		_, hashes := claims(p)
		all = append(all, hashes[:]...)
	}
	slices.Sort(all)
	twice := map[uint64]bool{}
	for i, h := range all[min(1, len(all)):] {
		if all[i] == h {
			twice[h] = true
		}
	}
	if len(twice) == 0 {
		return nil
	}
	shared := map[claim]sharing{}
	for _, p := range listings {
		all, hashes := claims(p)
		for i, c := range all {
			if twice[hashes[i]] {
				found := shared[c]
				found.note(p.path())
				shared[c] = found
			}
		}
	}
	for c, found := range shared {
		for _, t := range l.state.claimants(c) {
			found.note(t.Path)
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
		for _, c := range All {
			if c.inHistory && c.Judges(s.Kind) {
				out, err := c.Judge(s)
				if err != nil {
					return err
				}
				j.add(c, s.Path, out)
			}
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

// apply makes a change of the commit judged last stand.
func (l *Ledger) apply(r result) {
	at := l.here()
	before, judged := l.origin(r.path)
	if r.sameAs {
		at.first = beforeLedger
		if judged {
			at.first = before.first
		}
	}
	if was := l.state.listings.remove(r.path); was != nil && judged {
		l.pins.add(was.Path, was.ReceiptSHA256, was.Issued)
	}
	// No commit is judged by what else a file that is not a listing adds.
	if revoked := l.files[r.path].revoked; revoked != nil && l.state.revoked[*revoked] == r.path {
		delete(l.state.revoked, *revoked)
	}
	delete(l.files, r.path)
	if r.now != nil {
		l.enter(*r.now, at)
	}
}

// enter makes a file stand.
func (l *Ledger) enter(f scanned, at origin) {
	l.state.add(f)
	if f.listed == "" {
		l.files[f.path] = file{f, at}
	} else {
		l.origins = append(l.origins, at)
	}
}

// pinned are Receipts that listings pinned, and the time of issue of the first that did.
type pinned map[pin]time.Time

func (p pinned) add(path, sha256 string, issued time.Time) {
	at := pin{slugOf(path), sha256}
	if _, found := p[at]; !found {
		p[at] = issued
	}
}

// keep drops the Receipts that no revocation names.
func (p pinned) keep(revoked map[pin]string) {
	maps.DeleteFunc(p, func(at pin, _ time.Time) bool { return revoked[at] == "" })
}

// pinned finds a listing, of a commit up to the one judged last, by a Receipt that it pinned and pins no more; of it
// only the time of issue.
func (l *Ledger) pinned(ctx context.Context, path, sha256 string) (*registry.Listing, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := pin{slugOf(path), sha256}
	issued, found := l.pins[at]
	if !found && l.verified != "" {
		if err := l.recall(ctx); err != nil {
			return nil, err
		}
		issued, found = l.pins[at]
	}
	if !found {
		return nil, nil
	}
	return &registry.Listing{Issued: issued}, nil
}

// prefixes returns a path and its parent directories.
func prefixes(path string) []string {
	var out []string
	for i := range len(path) {
		if path[i] == '/' {
			out = append(out, path[:i])
		}
	}
	return append(out, path)
}

// newTwins returns the paths of this commit that have the same folded form as another path, and remembers the commit's
// paths for later commits.
func (l *Ledger) newTwins(step *registry.Step) (out []twin, err error) {
	brought, err := l.paths(step)
	if err != nil {
		return nil, err
	}
	groups := map[string][]string{} // by folded form: odd paths, and plain ones with an earlier odd twin
	for _, p := range brought {
		if !isPlain(p) || len(l.odd[p]) > 0 {
			folded := foldPath(p)
			groups[folded] = append(groups[folded], p)
		}
	}
	for _, folded := range slices.Sorted(maps.Keys(groups)) {
		fresh, stood := groups[folded], slices.Clone(l.odd[folded])
		for _, p := range fresh {
			if !isPlain(p) {
				l.odd[folded] = append(l.odd[folded], p)
			}
		}
		_, new := slices.BinarySearch(brought, folded)
		_, found, err := step.Result.Entry(folded)
		switch {
		case err != nil:
			return nil, err
		case isDataDirectory(folded), found && folded != "" && !new:
			stood = append(stood, folded)
		case new && !slices.Contains(fresh, folded):
			fresh = append(fresh, folded)
		}
		out = appendTwins(out, fresh, original(folded, stood, fresh), false)
	}
	return out, nil
}

// paths returns the paths and directories that a commit adds, in order, and forgets those that it removes. It looks up
// files only in the changes: reading a directory of many versions for each of them takes longer than all else.
func (l *Ledger) paths(step *registry.Step) ([]string, error) {
	lost := map[string]bool{} // something, or itself
	for _, c := range step.Changes {
		if c.Head != nil {
			continue
		}
		for _, p := range prefixes(c.Path) {
			lost[p] = true
		}
	}
	if err := l.forget(step, lost); err != nil {
		return nil, err
	}
	var brought []string
	directories := map[string]bool{}
	for _, c := range step.Changes {
		if c.Base != nil {
			continue // a directory of a file that existed existed, too
		}
		for _, p := range prefixes(c.Path) {
			before := lost[p]
			if p != c.Path {
				if directories[p] {
					continue
				}
				directories[p] = true
				if !before {
					var err error
					if _, before, err = step.Base.Entry(p); err != nil {
						return nil, err
					}
				}
			}
			if !before {
				brought = append(brought, p)
			}
		}
	}
	slices.Sort(brought)
	return brought, nil
}

// forget drops from the odd paths those that lost something in a commit and are gone.
func (l *Ledger) forget(step *registry.Step, lost map[string]bool) error {
	gone := map[string]bool{}
	in := map[string]bool{} // their folded forms
	for p := range lost {
		if isPlain(p) {
			continue
		}
		_, found, err := step.Result.Entry(p)
		if err != nil {
			return err
		}
		if !found {
			gone[p], in[foldPath(p)] = true, true
		}
	}
	for folded := range in {
		l.odd[folded] = slices.DeleteFunc(l.odd[folded], func(o string) bool { return gone[o] })
	}
	return nil
}
