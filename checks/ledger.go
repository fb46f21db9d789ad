package checks

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/revocation"
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
	dated time.Time // the latest committer date up to it
	state *Standing
	files map[string]file     // by path, of the data directories: what cannot be read as a listing
	odd   map[string][]string // paths and directories that folding changes, by their folded form

	refused *registry.RefusalWalk

	commits []judgedCommit // those that origins tell of
	origins []origin       // origins of the listings, by their numbers
	past    *past          // what the history says up to the commit judged last

	replaced map[string][]registry.PathVersion // by path: what judged commits brought and later ones replaced; once
	// a path was looked at, after what it had up to the verified commit
	looked map[string]*looked // by path

	part     int    // size of a part of one commit: changes in memory together, unrelated ones
	verified string // the commit after which this ledger was begun; empty: with the root
	unread   bool   // the path was not read yet
}

// judgedCommit is what an Origin says about a commit: its first parent and its first-parent time.
type judgedCommit struct {
	parent string
	when   time.Time
	dated  time.Time // the latest committer date up to it
}

// origin is an Origin by the commits' places in the ledger: that which brought the content, and that from which on
// First counts. Either is beforeLedger where the ledger does not reach back to it.
type origin struct{ commit, first uint32 }

const beforeLedger = math.MaxUint32

type file struct {
	scanned
	origin
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
		replaced: map[string][]registry.PathVersion{}, looked: map[string]*looked{},
		part: defaultPart, refused: repo.NewRefusalWalk("")}
	l.past = newPast(repo, "", now)
	l.past.current, l.past.all = l.current, l.versions
	l.state.followed, l.state.past = l, l.past
	return l
}

// LedgerAt returns the ledger after a commit whose history was judged before; now is as for NewLedger.
func LedgerAt(repo *registry.Repository, commit string, now time.Time) *Ledger {
	l := NewLedger(repo, now)
	l.verified, l.unread = commit, true
	l.past.tip = commit
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
	enter := func(f scanned) { l.enter(f, origin{beforeLedger, beforeLedger}) }
	if err = l.state.scanAll(ctx, t, registry.DataKinds, anyPath, enter); err != nil {
		return err
	}
	if l.odd, err = oddPaths(t); err != nil {
		return err
	}
	l.dated, err = l.repo.Dated(ctx, l.verified)
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
	st.followed, st.past = l, l.past
	if err := st.readRules(ctx); err != nil {
		return nil, err
	}
	for _, path := range slices.Sorted(maps.Keys(l.files)) {
		st.add(l.files[path].scanned)
	}
	st.listings = l.state.listings
	st.listings.Sort()
	l.state = st
	return st, nil
}

// origin returns the commit that wrote the content of a path, if it was judged.
func (l *Ledger) origin(path string) (origin, bool) {
	at := l.files[path].origin
	n, p := l.state.listings.At(path)
	found := p != ""
	if found {
		at = l.origins[n]
	} else {
		_, found = l.files[path]
	}
	return at, found && at.commit != beforeLedger
}

// Origin gives what brought a path of the data directories its present content, as of the commit judged last.
func (l *Ledger) Origin(ctx context.Context, path string) (Origin, error) {
	o, _, err := l.numbered(ctx, path)
	return o, err
}

// numbered returns the origin and the number of its commit.
func (l *Ledger) numbered(ctx context.Context, path string) (o Origin, number int, err error) {
	at, judged := l.origin(path)
	if judged {
		number = l.number(at.commit)
		o.Parent, o.When = l.commits[at.commit].parent, l.commits[at.commit].when
		if at.first != beforeLedger {
			o.First = l.commits[at.first].when
			return o, number, nil
		}
	} else {
		v, err := l.past.brought(ctx, path)
		if err == nil && v.Entry == nil {
			err = fmt.Errorf("finding the commit that brought %s: it is not in the first-parent history", path)
		}
		if err == nil {
			o.Parent, err = firstParent(ctx, l.repo, v.Commit)
		}
		if err != nil {
			return Origin{}, 0, err
		}
		o.When, o.First, number = v.When, v.When, v.Number
	}
	if listed := l.state.listings.ByPath(path); listed != nil {
		var since version
		since, err = l.past.tenure(ctx, path, listed.ToolDID, asOf{})
		o.First = since.landed
	}
	return o, number, err
}

// Merged returns what judged the record at a path when it was merged, and since when the path has held its tool_did.
func (l *Ledger) Merged(ctx context.Context, path string) (then *Moment, stood time.Time, err error) {
	o, number, err := l.numbered(ctx, path)
	if err != nil {
		return nil, o.First, err
	}
	then, err = newMoment(ctx, l.repo, o.Parent, o.When, number)
	return then, o.First, err
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
	if step.Commit.When.After(l.dated) {
		l.dated = step.Commit.When
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
	j.add(appendOnly.ID, RegistrySubject, out)
	twins, err := l.newTwins(step)
	if err != nil {
		return nil, err
	}
	j.add(layout.ID, RegistrySubject, twinFindings(twins))
	if slices.ContainsFunc(step.Changes, func(c registry.Change) bool {
		return !isRecord(c) || isDataDirectory(c.Path)
	}) {
		// Looking in each commit would read the data directories as they were.
		directories, err := directoryFindings(run)
		if err != nil {
			return nil, err
		}
		j.add(layout.ID, RegistrySubject, directories)
	}
	l.commits = append(l.commits, judgedCommit{step.Base.Commit(), l.time, l.dated})
	for _, c := range step.Changes {
		if isRecord(c) {
			l.replace(c)
		}
	}
	for _, p := range j.listings {
		l.enter(scanned{listed: p}, l.here())
	}
	for _, r := range j.results {
		l.apply(r)
	}
	return j.faults, l.revoke(step)
}

// revoke has the revocations that the commit judged last brought count.
func (l *Ledger) revoke(step *registry.Step) error {
	for _, c := range step.Changes {
		if c.Head == nil || !revocation.Counts(c.Path) {
			continue
		}
		f, err := readRevoked(l.repo, c.Path, *c.Head)
		if err != nil {
			return err
		}
		f.commit, f.landed, f.number = step.Commit.ID, l.time, l.number(l.here().commit)
		l.past.revoke(f)
	}
	return nil
}

// number returns the number of a judged commit, see registry.PathVersion. Commits up to the verified one come before
// all that are judged.
func (l *Ledger) number(commit uint32) int {
	if l.verified != "" {
		return math.MaxInt32 + int(commit)
	}
	return int(commit) + 1
}

// current returns the listing that a path has by a judged commit.
func (l *Ledger) current(path string) (version, bool) {
	n, p := l.state.listings.At(path)
	if p == "" || l.origins[n].commit == beforeLedger {
		return version{}, false
	}
	return l.version(p.Unpack(), l.origins[n]), true
}

// versions calls f with each listing that a judged commit brought.
func (l *Ledger) versions(f func(path string, v version)) {
	for n, is := range l.state.listings.Numbered() {
		if l.origins[n].commit != beforeLedger {
			f(is.Path, l.version(is, l.origins[n]))
		}
	}
}

func (l *Ledger) version(listed *Listed, at origin) version {
	c := l.commits[at.commit]
	return versionOf(&registry.Listing{ToolDID: listed.ToolDID, ReceiptSHA256: listed.ReceiptSHA256,
		Issued: listed.Issued}, c.when, c.dated, "", l.number(at.commit))
}

// heldBefore reports whether the history held something at a path that the commit before the judged one does not have.
func (l *Ledger) heldBefore(path string) bool { return len(l.replaced[path]) > 0 || l.verified != "" }

// held is Run.held of a commit of the history.
func (l *Ledger) held(ctx context.Context, s *Subject) ([]registry.PathVersion, int, *looked, error) {
	if l.looked[s.Path] == nil {
		older, err := l.past.history(ctx, s.Path)
		if err != nil {
			return nil, 0, nil, err
		}
		l.looked[s.Path], l.replaced[s.Path] = &looked{}, append(older, l.replaced[s.Path]...)
	}
	number := 0
	if at, judged := l.origin(s.Path); judged {
		number = l.number(at.commit)
	} else if all := l.replaced[s.Path]; len(all) > 0 {
		number = all[len(all)-1].Number
	}
	return l.replaced[s.Path], number, l.looked[s.Path], nil
}

// replace notes what a commit replaces or removes, if a judged commit brought it.
func (l *Ledger) replace(c registry.Change) {
	at, judged := l.origin(c.Path)
	if c.Base == nil || !judged {
		return
	}
	id := l.commits[len(l.commits)-1].parent
	if next := int(at.commit) + 1; next < len(l.commits) {
		id = l.commits[next].parent
	}
	l.replaced[c.Path] = append(l.replaced[c.Path], registry.PathVersion{Path: c.Path, Number: l.number(at.commit),
		Version: registry.Version{Commit: id, When: l.commits[at.commit].when, Entry: c.Base}})
}

// since is Run.since if a judged commit brought the listing that has held the DID from then on.
func (l *Ledger) since(path string) (version, bool) {
	n, p := l.state.listings.At(path)
	if p == "" || l.origins[n].first == beforeLedger {
		return version{}, false
	}
	first := l.origins[n].first
	return version{landed: l.commits[first].when, number: l.number(first)}, true
}

// here returns the origin of what the commit judged last wrote.
func (l *Ledger) here() origin { return origin{uint32(len(l.commits) - 1), uint32(len(l.commits) - 1)} }

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
	if was := l.state.listings.Remove(r.path); was != nil && judged {
		l.past.pin(was.Path, l.version(was, before))
	}
	// No commit is judged by what else a file that is not a listing adds.
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
		if at.commit != beforeLedger && (len(l.past.naming) > 0 || l.past.first != nil) {
			l.past.listed(f.path, l.version(f.listed.Unpack(), at))
		}
	}
}
