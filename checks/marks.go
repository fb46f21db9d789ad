package checks

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/checks/internal/listed"
	"github.com/openagentprotocol-OAP/oap-gate/docs/schemas"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/revocation"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// A Mark says that a listing is revoked, or that the registry's own rules refuse it. The map of the log needs it where
// no file of revocations/ names the slug and hash of the listing.
type Mark struct {
	Slug, SHA256 string         // the listing and its pin
	By           registry.Entry // the revocation, or the listing that is refused
}

// A Marker finds the marks that each commit of a history sets. Its times are committer dates: all clones of a history
// have the same marks.
type Marker struct {
	run    *Run
	ledger *Ledger // whose listings it asks; nil: it follows them itself
}

// NewMarker returns a marker of the commits up to tip. It begins with the root commit, or where Start says.
func NewMarker(repo *registry.Repository, tip string) *Marker {
	m := newMarker(repo, emptyStanding(nil))
	m.run.Base.past = newPast(repo, tip, m.run.Now)
	return m
}

// Marker returns a marker of the commits that the ledger judges.
func (l *Ledger) Marker() *Marker {
	m := newMarker(l.repo, emptyStanding(nil))
	m.ledger, m.run.Base.followed, m.run.Base.past = l, l, l.past
	return m
}

func newMarker(repo *registry.Repository, st *Standing) *Marker {
	st.as.dated = true
	// No listing is issued after this time: whether one is in date is for readers of the map to say.
	return &Marker{run: &Run{Repo: repo, Base: st, Now: time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)}}
}

// Start has the marker begin after a commit with this tree.
func (m *Marker) Start(ctx context.Context, t *registry.Tree) error {
	return m.run.Base.scanAll(ctx, t, []registry.Kind{registry.KindListing}, anyPath, m.run.Base.add)
}

// Marks returns the marks that a commit may set, in path order. Its number is its position in the history, the root
// commit being 1. A ledger has judged it before, and no later one.
func (m *Marker) Marks(ctx context.Context, number int, t *registry.Tree, changes []registry.Change) ([]Mark, error) {
	st := m.run.Base
	m.run.Context, m.run.first, st.Tree = ctx, nil, t
	if m.ledger != nil {
		st.listings = m.ledger.state.listings
	} else if err := m.follow(number, changes); err != nil {
		return nil, err
	}
	own, err := ownSchema(ctx, t)
	if err != nil {
		return nil, err
	}
	asked, err := m.asked(changes, own)
	if err != nil {
		return nil, err
	}
	var out []Mark
	for _, path := range slices.Sorted(maps.Keys(asked)) {
		mark, err := m.mark(path)
		if err != nil {
			return nil, err
		}
		if mark != nil {
			out = append(out, *mark)
		}
	}
	return out, nil
}

// follow has the listings be those after a commit.
func (m *Marker) follow(number int, changes []registry.Change) error {
	st := m.run.Base
	st.as.before = number + 1
	for _, c := range changes {
		if registry.KindOf(c.Path) != registry.KindListing {
			continue
		}
		st.listings.Remove(c.Path)
		listing, err := m.run.listingIn(c.Path, c.Head)
		if err != nil {
			return err
		}
		if listing != nil {
			st.listings.Add(listed.Pack(listed.New(c.Path, listing), uint8(unjudged)))
		}
	}
	return nil
}

// asked returns the paths of the listings that a commit may have made refused or revoked. own says that its tree has a
// schema of its own. It skips listings that cannot be, because a commit may bring a million.
func (m *Marker) asked(changes []registry.Change, own bool) (map[string]bool, error) {
	paths, st := map[string]bool{}, m.run.Base
	ofDID := func(id string) {
		for _, l := range st.ByDID(id) {
			paths[l.Path] = true
		}
	}
	for _, c := range changes {
		switch {
		case c.Path == schemaFiles[0].path && own:
			for l := range st.listings.All() {
				paths[l.Path] = true
			}
		case c.Head == nil:
		case revocation.Counts(c.Path):
			f, err := readRevoked(m.run.Repo, c.Path, *c.Head)
			if err != nil {
				return nil, err
			}
			for _, named := range f.Pins {
				owners, err := st.past.owners(m.run.Context, named, st.as)
				if err != nil {
					return nil, err
				}
				for _, v := range owners {
					ofDID(v.did)
				}
			}
		case registry.KindOf(c.Path) == registry.KindListing:
			l := st.listings.ByPath(c.Path)
			if l == nil || l.ToolDID == "" { // which a reader refuses by itself
				continue
			}
			id, folded := l.ToolDID, did.Fold(l.ToolDID)
			named, err := st.past.names(m.run.Context, id)
			if err != nil {
				return nil, err
			}
			if named || own || folded != id || st.listings.MayShare(folded) {
				ofDID(id)
			}
		}
	}
	return paths, nil
}

// mark returns the mark of a listing, or nil.
func (m *Marker) mark(path string) (*Mark, error) {
	st, ctx := m.run.Base, m.run.Context
	l := st.listings.ByPath(path)
	if l == nil || path != listed.Path(l.Slug) {
		return nil, nil
	}
	rec, err := st.Tree.Record(ctx, path)
	if err != nil || rec == nil || rec.Document == nil || len(builtinSchemas().violations(subjectOf(rec))) > 0 {
		return nil, err // a reader refuses it by itself
	}
	by, err := st.past.revokedBy(ctx, l.ToolDID, strings.ToLower(l.ReceiptSHA256), l.Issued, st.as)
	if err != nil {
		return nil, err
	}
	if by != nil {
		return &Mark{l.Slug, l.ReceiptSHA256, by.entry}, nil
	}
	rule, _, err := m.run.refused(l, unjudged, nil)
	if err != nil || rule == "" || rule == byWindow { // a reader sees the window
		return nil, err
	}
	return &Mark{l.Slug, l.ReceiptSHA256, rec.Entry}, nil
}

// ownSchema reports whether a tree has a schema of listings that is not the built-in one.
func ownSchema(ctx context.Context, t *registry.Tree) (bool, error) {
	f := schemaFiles[0]
	if _, found, err := t.Entry(f.path); err != nil || !found {
		return false, err
	}
	text, err := t.File(ctx, f.path, maxSchema)
	return err != nil || string(text) != string(schemas.Text(f.name)), nil
}
