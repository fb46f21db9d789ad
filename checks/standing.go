package checks

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/openagentprotocol-OAP/oap-gate/checks/internal/listed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// Listed is what is kept of one listing.
type Listed = listed.Listing

// Standing is what one tree holds, as far as the judgement of other records depends on it. It keeps no
// documents: a registry of 100,000 listings takes some twenty megabytes.
type Standing struct {
	Tree    *registry.Tree
	Schemas *Schemas
	Policy  Policy
	// Faults are the findings of layout and schema on files that stand already, in path order.
	Faults []Fault

	listings listed.Set
	anchors  map[string]string // workflow id -> path, the last where there are several
	twins    map[string]string // workflow id of several anchors -> path of the first
	unread   []string          // paths of the listings that cannot be read
	// past is what the history up to the tree says, once somebody asked.
	pastMu sync.Mutex
	past   *past
	as     asOf // what counts for a question about a listing
	// compiled are the schemas of the trees that a Ledger had, by the entries of their files.
	compiledMu sync.Mutex
	compiled   map[string]*Schemas
	// followed is the ledger that followed the history up to this tree, else nil.
	followed *Ledger
	refused  []*Listed // that Refuse removed
}

// Fault is a finding on a file of the base tree.
type Fault struct {
	Check string
	Path  string
	verdict.Finding
}

// Len returns the number of listings.
func (st *Standing) Len() int { return st.listings.Len() }

// Listings returns all listings, in path order; while a Ledger follows the history, in the order in which they were
// added.
func (st *Standing) Listings() iter.Seq[*Listed] { return st.listings.All() }

// Unreadable returns the paths of implementations/ whose files cannot be read, in path order; the directory's own where
// something else has its name.
func (st *Standing) Unreadable() []string { return st.unread }

// BySlug returns the listing in the file of that slug, or nil.
func (st *Standing) BySlug(slug string) *Listed { return st.listings.ByPath(listed.Path(slug)) }

// ByDID returns the listings of a DID in any spelling and letter case, in path order.
func (st *Standing) ByDID(text string) []*Listed { return st.listings.ByDID(did.Fold(text)) }

// Listing reads a standing listing again, whole.
func (st *Standing) Listing(ctx context.Context, l *Listed) (*registry.Listing, error) {
	listing, err := st.Tree.Listing(ctx, l.Path)
	if err == nil && listing == nil {
		err = fmt.Errorf("reading %s again: it is gone", l.Path)
	}
	return listing, err
}

// scanned is what one file of a data directory gives.
type scanned struct {
	listed listed.Packed // empty: none
	anchor string
	path   string
	unread bool // a listing that cannot be read
	faults []Fault
}

// NewStanding reads a tree whole, by its own schemas. Files that touched names are not searched for
// faults: they are judged as subjects.
func NewStanding(ctx context.Context, t *registry.Tree, touched func(path string) bool) (*Standing, error) {
	st := emptyStanding(t)
	if err := st.readRules(ctx); err != nil {
		return nil, err
	}
	err := st.scanAll(ctx, t, registry.DataKinds, touched, st.add)
	st.duplicates(touched)
	slices.SortStableFunc(st.Faults, func(a, b Fault) int { return strings.Compare(a.Path, b.Path) })
	return st, err
}

// scanAll passes what each file of some kinds in a tree gives to add, in path order.
func (st *Standing) scanAll(ctx context.Context, t *registry.Tree, kinds []registry.Kind, touched func(string) bool,
	add func(scanned)) error {
	for _, k := range kinds {
		scan := func(rec *registry.Record) scanned { return st.scan(subjectOf(rec), touched(rec.Path)) }
		for f, err := range registry.Scan(ctx, t, k, scan) {
			if err != nil {
				return err
			}
			add(f)
		}
	}
	return nil
}

// anyPath is true for each path: no file is searched for faults.
func anyPath(string) bool { return true }

// readRules reads what the tree itself says about how it is judged.
func (st *Standing) readRules(ctx context.Context) (err error) {
	if st.Schemas, err = st.schemasOf(ctx, st.Tree); err != nil {
		return err
	}
	st.Policy, err = ReadPolicy(ctx, st.Tree)
	return err
}

func emptyStanding(t *registry.Tree) *Standing {
	return &Standing{Tree: t, listings: listed.NewSet(), anchors: map[string]string{}, twins: map[string]string{}}
}

// subjectOf returns a subject for a present record by itself.
func subjectOf(rec *registry.Record) *Subject {
	return newSubject(nil, registry.Change{Path: rec.Path}, registry.Sides{Head: rec})
}

// scan judges and condenses one file; it runs on several goroutines at once.
func (st *Standing) scan(s *Subject, touched bool) scanned {
	out := scanned{path: s.Path}
	var placed []verdict.Finding
	if !touched || s.Listing != nil {
		placed = place(s, "")
	}
	if !touched {
		for _, f := range placed {
			out.faults = append(out.faults, Fault{layout.ID, s.Path, f})
		}
		if s.Record.Document != nil && st.Schemas.Of(s.Kind) != nil {
			s.violations, s.validated = st.Schemas.violations(s), true
			for _, f := range s.violations {
				out.faults = append(out.faults, Fault{schema.ID, s.Path, f})
			}
		}
	}
	if s.Listing != nil {
		is := unjudged
		if st.Schemas != nil { // a Ledger has none
			is = st.Schemas.faultOf(s, len(placed) > 0)
		}
		out.listed = listed.Pack(listed.New(s.Path, s.Listing), uint8(is))
		out.path = out.listed.Path()
	}
	out.unread = s.Kind == registry.KindListing && s.Record.Document == nil
	if s.Anchor != nil {
		out.anchor = strings.Clone(s.Anchor.WorkflowID)
	}
	return out
}

// add makes what one file gives count.
func (st *Standing) add(f scanned) {
	st.Faults = append(st.Faults, f.faults...)
	if f.anchor != "" {
		if first := st.anchors[f.anchor]; first != "" && st.twins[f.anchor] == "" {
			st.twins[f.anchor] = first
		}
		st.anchors[f.anchor] = f.path
	}
	if f.listed != "" {
		st.listings.Add(f.listed)
	}
	if f.unread {
		st.unread = append(st.unread, f.path)
	}
}

// duplicates finds DIDs that more than one untouched listing claims.
func (st *Standing) duplicates(touched func(string) bool) {
	for shared := range st.listings.Shared() {
		first := map[string]string{} // path, by what folding makes of a DID
		for _, l := range shared {
			key := did.Fold(l.ToolDID)
			if first[key] == "" {
				first[key] = l.Path
				continue
			}
			if l.ToolDID == "" || touched(l.Path) {
				continue
			}
			st.Faults = append(st.Faults,
				Fault{layout.ID, l.Path, verdict.Finding{Severity: verdict.Error, Code: "duplicate-did",
					Pos: registry.Pos{Path: l.Path}, Pointer: "/tool_did",
					Message: fmt.Sprintf("tool_did %q is listed by %s too", l.ToolDID, first[key])}})
		}
	}
}
