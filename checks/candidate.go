package checks

import (
	"cmp"
	"slices"
	"sync"

	"github.com/openagentprotocol-OAP/oap-gate/checks/internal/listed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// NewCandidate returns the subject of a record that is in no tree, such as the draft of a listing, as an addition to
// the base of r.
func NewCandidate(r *Run, rec *registry.Record) *Subject {
	return newSubject(r, registry.Change{Path: rec.Path, Head: &rec.Entry}, registry.Sides{Head: rec})
}

// EmptyStanding returns the state of an empty registry: there are no listings, and the built-in schemas judge.
func EmptyStanding() *Standing {
	st := emptyStanding(nil)
	st.Schemas = builtinSchemas()
	return st
}

// Refuse removes the records at these paths: the keeper of the clone does not accept them as records.
func (st *Standing) Refuse(paths []string) {
	for _, path := range paths {
		if l := st.BySlug(listed.SlugOf(path)); l != nil && l.Path == path {
			st.refused = append(st.refused, l)
		}
		st.listings.Remove(path)
	}
}

// RefusedBy returns the listings of a DID that Refuse removed.
func (st *Standing) RefusedBy(id string) []*Listed {
	return slices.DeleteFunc(slices.Clone(st.refused), func(l *Listed) bool { return !did.Same(l.ToolDID, id) })
}

// Wanted returns what to fetch about a record, with the registry's data that decides it. After fetching, failed returns
// the error, if any, of reading the registry on the way.
func (s *Subject) Wanted(kinds evidence.Set) (w evidence.Wanted, failed func() error) {
	var mu sync.Mutex
	var first error
	note := func(err error) {
		mu.Lock()
		defer mu.Unlock()
		first = cmp.Or(first, err)
	}
	suffixes := s.Run.Base.Policy.Suffixes
	if !s.Stood.IsZero() {
		suffixes = suffixes.Until(s.Stood)
	}
	w = evidence.Wanted{Kinds: kinds, Memo: s.Run.Memo, Suffixes: suffixes,
		Clock: s.Run.Now, Judged: s.judge().When,
		Listed: func(id string) *registry.Listing {
			l, err := s.witnessListing(id)
			note(err)
			return l
		},
		ReferenceServer: func(id string) bool {
			was, err := s.wasReferenceServer(id)
			note(err)
			return was
		}}
	if s.Listing != nil {
		w.Maintainers = s.bootstrapMaintainers()
	}
	return w, func() error {
		mu.Lock()
		defer mu.Unlock()
		return first
	}
}
