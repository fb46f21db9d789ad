package checks

import (
	"context"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/level"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// Standing is what one tree holds, as far as the judgement of other records depends on it. It keeps no
// documents: a registry of 100,000 listings takes some tens of megabytes.
type Standing struct {
	Tree     *registry.Tree
	Listings []*Listed // in path order
	Schemas  *Schemas
	Policy   Policy
	// Faults are the findings of layout and schema on files that stand already, in path order.
	Faults []Fault

	byPath  map[string]*Listed
	slugs   index // by the slug in the text
	byDID   index
	revoked map[pin]string    // path of the revocation
	anchors map[string]string // workflow id -> path, the last where there are several
	twins   map[string]string // workflow id of several anchors -> path of the first
	// followed is the ledger that followed the history up to this tree, else nil.
	followed *Ledger
}

// Listed is what is kept of one listing.
type Listed struct {
	Path, Slug, Name, ToolDID, ReceiptSHA256 string
	Level                                    level.Level
	Expires                                  time.Time
	Provisional                              bool
}

// Fault is a finding on a file that stands in the base tree.
type Fault struct {
	Check string
	Path  string
	verdict.Finding
}

// pin is a Receipt's hash under a slug, which is that of the files' names.
type pin struct{ slug, sha256 string }

// BySlug is the listing in the file of that slug, nil where there is none.
func (st *Standing) BySlug(slug string) *Listed { return st.byPath["implementations/"+slug+".json"] }

// BySlugText are the listings whose text has this slug, in any letter case.
func (st *Standing) BySlugText(slug string) []*Listed { return st.slugs.all(slug) }

// ByDID are the listings of a DID in any spelling and letter case.
func (st *Standing) ByDID(text string) []*Listed { return st.byDID.all(text) }

// Witness is the one listing of this DID at L4 or L5; nil where there is none or more than one.
func (st *Standing) Witness(text string) *Listed {
	same := st.ByDID(text)
	if len(same) != 1 || !did.Same(same[0].ToolDID, text) || same[0].Level.Base() < 4 {
		return nil
	}
	return same[0]
}

// Listing reads a standing listing again, whole.
func (st *Standing) Listing(ctx context.Context, l *Listed) (*registry.Listing, error) {
	rec, err := st.Tree.Record(ctx, l.Path)
	if err != nil {
		return nil, err
	}
	if rec == nil || rec.Document == nil {
		return nil, fmt.Errorf("reading %s again: it is gone", l.Path)
	}
	return registry.ParseListing(rec), nil
}

// scanned is what one file of a data folder gives.
type scanned struct {
	listed  *Listed
	revoked *pin
	anchor  string
	path    string
	faults  []Fault
}

// NewStanding reads a tree whole, by its own schemas. Files that touched names are not searched for
// faults: they are judged as subjects.
func NewStanding(ctx context.Context, t *registry.Tree, touched func(path string) bool) (*Standing, error) {
	st := emptyStanding(t)
	if err := st.readRules(ctx); err != nil {
		return nil, err
	}
	for _, k := range registry.DataKinds {
		scan := func(rec *registry.Record) scanned { return st.scan(rec, touched(rec.Path)) }
		for f, err := range registry.Scan(ctx, t, k, scan) {
			if err != nil {
				return nil, err
			}
			st.add(f)
			if f.listed != nil {
				st.Listings = append(st.Listings, f.listed)
			}
		}
	}
	st.duplicates(touched)
	sort.SliceStable(st.Faults, func(i, j int) bool { return st.Faults[i].Path < st.Faults[j].Path })
	return st, nil
}

// readRules reads what the tree itself says of how it is judged.
func (st *Standing) readRules(ctx context.Context) (err error) {
	if st.Schemas, err = ReadSchemas(ctx, st.Tree); err != nil {
		return err
	}
	st.Policy, err = ReadPolicy(ctx, st.Tree)
	return err
}

func emptyStanding(t *registry.Tree) *Standing {
	st := &Standing{Tree: t, revoked: map[pin]string{}, anchors: map[string]string{},
		twins: map[string]string{}}
	st.reserve(0)
	return st
}

// reserve makes room for n listings.
func (st *Standing) reserve(n int) {
	st.Listings = make([]*Listed, 0, n)
	st.byPath = make(map[string]*Listed, n)
	st.slugs, st.byDID = newIndex(strings.ToLower, n), newIndex(did.Fold, n)
}

// scan judges and condenses one file; it runs on several goroutines at once.
func (st *Standing) scan(rec *registry.Record, touched bool) scanned {
	out := scanned{path: rec.Path}
	if !touched {
		s := &Subject{Path: rec.Path, Kind: rec.Kind, Record: rec}
		for _, f := range place(s, "") {
			out.faults = append(out.faults, Fault{layout.ID, rec.Path, f})
		}
		if rec.Document != nil && st.Schemas.Of(rec.Kind) != nil {
			for _, f := range st.Schemas.violations(s) {
				out.faults = append(out.faults, Fault{schema.ID, rec.Path, f})
			}
		}
	}
	// A revocation is in force by its name alone, whatever became of its text.
	if rec.Kind == registry.KindRevocation {
		if named := revocationName(rec.Path); named != (pin{}) {
			out.revoked = &named
		}
	}
	if rec.Document == nil {
		return out
	}
	switch rec.Kind {
	case registry.KindListing:
		out.listed = condense(rec.Path, registry.ParseListing(rec))
		out.path = out.listed.Path
	case registry.KindWorkflowAnchor:
		out.anchor = strings.Clone(registry.ParseAnchor(rec).WorkflowID)
	}
	return out
}

// condense copies what it keeps into one text: the strings of a listing are parts of its file, which would stay with
// them. The slug is that of the path where the two are the same.
func condense(path string, l *registry.Listing) *Listed {
	slug := l.Slug
	if slug == slugOf(path) {
		slug = ""
	}
	all := path + slug + l.Name + l.ToolDID + l.ReceiptSHA256 + string(l.Level)
	cut := func(s string) string {
		part := all[:len(s)]
		all = all[len(s):]
		return part
	}
	out := &Listed{Path: cut(path), Slug: cut(slug), Name: cut(l.Name), ToolDID: cut(l.ToolDID),
		ReceiptSHA256: cut(l.ReceiptSHA256),
		Level:         level.Level(cut(string(l.Level))), Expires: l.Expires, Provisional: l.Provisional}
	if slug == "" && l.Slug != "" {
		out.Slug = slugOf(out.Path)
	}
	return out
}

// add makes what one file gives count.
func (st *Standing) add(f scanned) {
	st.Faults = append(st.Faults, f.faults...)
	if f.revoked != nil {
		st.revoked[*f.revoked] = f.path
	}
	if f.anchor != "" {
		if first := st.anchors[f.anchor]; first != "" && first != f.path && st.twins[f.anchor] == "" {
			st.twins[f.anchor] = first
		}
		st.anchors[f.anchor] = f.path
	}
	if l := f.listed; l != nil {
		st.byPath[l.Path] = l
		st.slugs.add(l.Slug, l)
		st.byDID.add(l.ToolDID, l)
	}
}

// duplicates finds DIDs that more than one untouched listing claims.
func (st *Standing) duplicates(touched func(string) bool) {
	if len(st.byDID.more) == 0 {
		return
	}
	for _, l := range st.Listings {
		same := st.ByDID(l.ToolDID)
		if same[0] == l || l.ToolDID == "" || touched(l.Path) {
			continue
		}
		st.Faults = append(st.Faults,
			Fault{layout.ID, l.Path, verdict.Finding{Severity: verdict.Error, Code: "duplicate-did",
				Pos: registry.Pos{Path: l.Path}, Pointer: "/tool_did",
				Message: fmt.Sprintf("tool_did %q is listed by %s too", l.ToolDID, same[0].Path)}})
	}
}
