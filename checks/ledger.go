package checks

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// Ledger follows the first-parent history from its beginning, so that each commit can be judged by what
// stood before it without reading the whole tree again. It judges by the same checks as a pull request.
type Ledger struct {
	repo  *registry.Repository
	state *Standing
	files map[string]scanned  // by path, of the data folders
	odd   map[string][]string // paths and folders that folding changes, by their folded form
	last  map[string]Origin   // by path, of the data folders
	pins  pinned              // by Standing cut down to those that are revoked

	mu       sync.Mutex               // of what Origin and pinned recall, which several ask at once
	part     int                      // of one commit: changes in memory together, unrelated ones
	verified string                   // the commit after which this ledger was begun; empty: with the root
	unread   bool                     // what stands there was not read yet
	before   map[string]earlierOrigin // what brought the paths up to then; made on first use
	revoked  map[pin]string           // what Standing gave; nil: not called yet
}

// earlierOrigin is what the history up to a verified commit says of a path.
type earlierOrigin struct {
	Origin
	did  string
	read bool // the listing could be read
}

// Origin says of the commit that gave a path its present content what it was judged by.
type Origin struct {
	Parent string // empty for a root commit
	When   time.Time
	First  time.Time // since when the path has held this tool_did without a break; for listings
}

// NewLedger is the ledger of an empty registry.
func NewLedger(repo *registry.Repository) *Ledger {
	l := &Ledger{repo: repo, state: emptyStanding(nil), files: map[string]scanned{}, odd: map[string][]string{},
		last: map[string]Origin{}, pins: pinned{}, part: defaultPart}
	l.state.followed = l
	return l
}

// LedgerAt is the ledger after a commit whose history was judged before.
func LedgerAt(repo *registry.Repository, commit string) *Ledger {
	l := NewLedger(repo)
	l.verified, l.unread = commit, true
	return l
}

// read reads what stands at the verified commit. It is left to the first use.
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
		scan := func(rec *registry.Record) scanned { return l.state.scan(rec, true) }
		for f, err := range registry.Scan(ctx, t, k, scan) {
			if err != nil {
				return err
			}
			l.files[f.path] = f
			l.state.add(f)
		}
	}
	known := map[string]bool{}
	return t.Walk(func(path string, _ registry.Entry) error {
		if !isPlain(path) {
			for _, p := range prefixes(path) {
				if !isPlain(p) && !known[p] {
					known[p] = true
					folded := foldPath(p)
					l.odd[folded] = append(l.odd[folded], p)
				}
			}
		}
		return nil
	})
}

// Standing is what stands after the commit judged last, whose tree is t, without the faults of files. The ledger lets
// go what judging further commits needs: it answers what was before, and may not Step from then on.
func (l *Ledger) Standing(ctx context.Context, t *registry.Tree) (*Standing, error) {
	if err := l.read(ctx); err != nil {
		return nil, err
	}
	files := l.files
	l.state, l.files, l.odd = nil, nil, nil
	st := emptyStanding(t)
	st.followed = l
	if err := st.readRules(ctx); err != nil {
		return nil, err
	}
	st.reserve(len(files))
	for _, path := range slices.Sorted(maps.Keys(files)) {
		f := files[path]
		st.add(f)
		if f.listed != nil {
			st.Listings = append(st.Listings, f.listed)
		}
	}
	l.revoked = st.revoked
	l.pins.keep(l.revoked)
	return st, nil
}

// Origin gives what brought a path of the data folders its present content, as of the commit judged last.
func (l *Ledger) Origin(ctx context.Context, path string) (Origin, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	b, found := l.last[path]
	if l.verified != "" && (!found || b.First.IsZero()) {
		if err := l.recall(ctx); err != nil {
			return Origin{}, err
		}
		switch old, known := l.before[path]; {
		case !found:
			b, found = old.Origin, known
		default:
			b.First = old.First
		}
	}
	if !found {
		return Origin{}, fmt.Errorf("finding the commit that brought %s: it is not in the first-parent history", path)
	}
	return b, nil
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
		for _, c := range step.Changes {
			if registry.KindOf(c.Path) == registry.Governance {
				continue
			}
			old := l.before[c.Path]
			delete(l.before, c.Path)
			if c.Head == nil {
				continue
			}
			now := earlierOrigin{Origin: Origin{step.Base.Commit(), step.Commit.When, step.Commit.When}}
			if registry.KindOf(c.Path) == registry.KindListing {
				rec, err := l.repo.Record(ctx, c.Path, *c.Head)
				if err != nil {
					return err
				}
				if rec.Document != nil {
					listing := registry.ParseListing(rec)
					now.did, now.read = listing.ToolDID, true
					pins.add(c.Path, strings.Clone(listing.ReceiptSHA256), listing.Issued)
				}
				if old.read && now.read && old.did == now.did {
					now.First = old.First
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
	return c != nil && c.InHistory
}

// Step judges a commit by what stood before it, then makes its changes stand. Errors mean that an object
// could not be read.
func (l *Ledger) Step(ctx context.Context, step *registry.Step) ([]Fault, error) {
	if err := l.read(ctx); err != nil {
		return nil, err
	}
	l.state.Tree = step.Base
	run := l.run(ctx, step)
	data := slices.DeleteFunc(slices.Clone(step.Changes),
		func(c registry.Change) bool { return registry.KindOf(c.Path) == registry.Governance })
	j, err := l.judge(ctx, step, data)
	if err != nil {
		return nil, err
	}
	for _, c := range data {
		run.Subjects = append(run.Subjects, &Subject{Run: run, Path: c.Path, Kind: registry.KindOf(c.Path), Change: c})
	}
	out, err := runAppendOnlyRegistry(run)
	if err != nil {
		return nil, err
	}
	j.add(appendOnly, RegistrySubject, out)
	twins, more, err := l.newTwins(step)
	if err != nil {
		return nil, err
	}
	j.add(layout, RegistrySubject, twinFindings(run, twins, nil, more))
	if slices.ContainsFunc(step.Changes, func(c registry.Change) bool {
		return registry.KindOf(c.Path) == registry.Governance || registry.KindOf(c.Path).Folder() == c.Path
	}) {
		// Looking in each commit would read the data folders as they were.
		folders, err := folderFindings(run)
		if err != nil {
			return nil, err
		}
		j.add(layout, RegistrySubject, folders)
	}
	for _, r := range j.results {
		l.apply(step, r)
	}
	return j.faults, nil
}

func (l *Ledger) run(ctx context.Context, step *registry.Step) *Run {
	rng := &registry.Range{Base: step.Base, Head: step.Result, Result: step.Result, Changes: step.Changes,
		Views: []registry.View{{From: step.Base.Commit(), To: step.Commit.ID, Changes: step.Changes}}}
	return &Run{Context: ctx, Catalogue: All, Repo: l.repo, Range: rng, Base: l.state, Now: step.Commit.When,
		Offline: true, Merged: true, Selected: historical}
}

// judged is what the subjects of one commit gave.
type judged struct {
	commit  string
	faults  []Fault
	results []result
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
	sameAs bool     // the listing that stood there had the same tool_did
	issued time.Time
}

const defaultPart = 4096

// judge judges the changes of one commit. A commit that brings a whole registry would take gigabytes: new listings
// are judged in parts, as long as no two of them claim the same slug or DID, which is all that one new listing
// is to another.
func (l *Ledger) judge(ctx context.Context, step *registry.Step, changes []registry.Change) (*judged, error) {
	j := &judged{commit: step.Commit.ID}
	if len(changes) > l.part && !slices.ContainsFunc(changes, func(c registry.Change) bool {
		return c.Base != nil ||
			registry.KindOf(c.Path) != registry.KindListing
	}) {
		claims := map[string]bool{}
		apart := true
		for part := range slices.Chunk(changes, l.part) {
			if err := l.judgePart(ctx, step, part, j); err != nil {
				return nil, err
			}
			for _, r := range j.results[len(j.results)-len(part):] {
				if r.now.listed == nil {
					continue
				}
				for _, claim := range []string{"slug " + strings.ToLower(r.now.listed.Slug), "did " +
					did.Fold(r.now.listed.ToolDID)} {
					apart = apart && !claims[claim]
					claims[claim] = true
				}
			}
			if !apart {
				break
			}
		}
		if apart {
			return j, nil
		}
		j = &judged{commit: step.Commit.ID}
	}
	return j, l.judgePart(ctx, step, changes, j)
}

func (l *Ledger) judgePart(ctx context.Context, step *registry.Step, changes []registry.Change, j *judged) error {
	run := l.run(ctx, step)
	var err error
	if run.Subjects, err = NewSubjects(run, changes); err != nil {
		return err
	}
	for _, s := range run.Subjects {
		for _, c := range All {
			if c.InHistory && c.Judges(s.Kind) {
				out, err := c.Judge(s)
				if err != nil {
					return err
				}
				j.add(c, s.Path, out)
			}
		}
		r := result{path: s.Path, sameAs: s.BaseListing != nil && s.Listing != nil &&
			s.BaseListing.ToolDID == s.Listing.ToolDID}
		if s.Record != nil {
			now := l.state.scan(s.Record, true)
			r.now = &now
		}
		if s.Listing != nil {
			r.issued = s.Listing.Issued
		}
		j.results = append(j.results, r)
	}
	return nil
}

// apply makes a change of a commit stand.
func (l *Ledger) apply(step *registry.Step, r result) {
	if old, found := l.files[r.path]; found {
		l.state.remove(old)
		delete(l.files, r.path)
	}
	first := l.last[r.path].First
	if !r.sameAs {
		first = step.Commit.When
	}
	delete(l.last, r.path)
	if r.now == nil {
		return
	}
	l.files[r.path] = *r.now
	l.state.add(*r.now)
	l.last[r.path] = Origin{step.Base.Commit(), step.Commit.When, first}
	if r.now.listed != nil {
		l.pins.add(r.path, r.now.listed.ReceiptSHA256, r.issued)
	}
}

// pinned are Receipts that listings pin or ever pinned. Of a listing only the time of issue is kept, as of the first
// that pinned it.
type pinned map[pin]*registry.Listing

func (p pinned) add(path, sha256 string, issued time.Time) {
	if at := (pin{slugOf(path), sha256}); p[at] == nil {
		p[at] = &registry.Listing{Issued: issued}
	}
}

// keep drops the Receipts that no revocation names.
func (p pinned) keep(revoked map[pin]string) {
	maps.DeleteFunc(p, func(at pin, _ *registry.Listing) bool { return revoked[at] == "" })
}

// pinned finds a listing, of a commit up to the one judged last, by a Receipt that it pinned.
func (l *Ledger) pinned(ctx context.Context, path, sha256 string) (*registry.Listing, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	at := pin{slugOf(path), sha256}
	if l.pins[at] == nil && l.verified != "" {
		if err := l.recall(ctx); err != nil {
			return nil, err
		}
	}
	return l.pins[at], nil
}

// remove takes back what add made count.
func (st *Standing) remove(f scanned) {
	if f.revoked != nil && st.revoked[*f.revoked] == f.path {
		delete(st.revoked, *f.revoked)
	}
	if f.anchor != "" && st.anchors[f.anchor] == f.path {
		delete(st.anchors, f.anchor)
	}
	if l := f.listed; l != nil {
		delete(st.byPath, l.Path)
		st.slugs.remove(l.Slug, l)
		st.byDID.remove(l.ToolDID, l)
	}
}

// prefixes are a path and the folders that it stands in.
func prefixes(path string) []string {
	var out []string
	for i := range len(path) {
		if path[i] == '/' {
			out = append(out, path[:i])
		}
	}
	return append(out, path)
}

// newTwins finds the pairs of paths that folding makes one and that this commit brings, and makes the
// commit's paths known. There are as many as the square of the paths: no more than are named are listed, the rest is
// counted.
func (l *Ledger) newTwins(step *registry.Step) (out []twin, more int, err error) {
	brought, err := l.paths(step)
	if err != nil {
		return nil, 0, err
	}
	add := func(t twin) {
		if len(out) >= maxTwins {
			more++
		} else if !slices.Contains(out, t) { // a pair that both comes now is met from either side
			out = append(out, t)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(brought)) {
		if isPlain(p) {
			for _, other := range l.odd[p] {
				if !brought[other] { // else it was met from there
					add(twin{other, p})
				}
			}
			continue
		}
		folded := foldPath(p)
		others := l.odd[folded]
		room := min(maxTwins-len(out), len(others))
		for _, other := range others[:room] {
			add(twin{p, other})
		}
		more += len(others) - room
		isFolder := slices.ContainsFunc(registry.DataKinds, func(k registry.Kind) bool { return k.Folder() == folded })
		_, found, err := step.Result.Entry(folded)
		if err != nil {
			return nil, 0, err
		}
		if isFolder || found && folded != "" && folded != p {
			add(twin{p, folded})
		}
		l.odd[folded] = append(l.odd[folded], p)
	}
	return out, more, nil
}

// paths finds the paths and folders that a commit brings, and forgets those that it takes away. Files are looked up
// in the changes alone: reading a folder of many versions for each of them takes longer than all else.
func (l *Ledger) paths(step *registry.Step) (map[string]bool, error) {
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
	brought := map[string]bool{}
	for _, c := range step.Changes {
		if c.Head == nil {
			continue
		}
		for _, p := range prefixes(c.Path) {
			if _, known := brought[p]; known {
				continue
			}
			before := c.Base != nil || lost[p]
			if !before && p != c.Path {
				var err error
				if _, before, err = step.Base.Entry(p); err != nil {
					return nil, err
				}
			}
			brought[p] = !before
		}
	}
	maps.DeleteFunc(brought, func(_ string, isNew bool) bool { return !isNew })
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
