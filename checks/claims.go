package checks

import (
	"fmt"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/checks/internal/listed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// unique checks that no other listing would have the slug or DID of this one. If several do, the message names the
// first: in a range of many listings, naming all in each message would fill the memory.
func unique(o *verdict.Outcome, s *Subject) {
	for _, m := range []struct {
		claim               claim
		code, format, value string
	}{
		{slugClaim(s.Listing.Slug), "duplicate-slug", "slug %q is that of %s too", s.Listing.Slug},
		{didClaim(s.Listing.ToolDID), "duplicate-did", "tool_did %q is listed by %s too", s.Listing.ToolDID},
	} {
		if m.value == "" {
			continue
		}
		first, count := s.Run.others(s.Path, m.claim)
		if count == 0 {
			continue
		}
		f := o.Errorf(s, m.claim.pointer, m.code, m.format, m.value, first)
		if count > 1 {
			f.Message += fmt.Sprintf(", and of %s", plain.Count(count-1, "more listing"))
		}
		f.WithFix("choose another one, or update %s: one implementation has one listing", first)
	}
}

// A claim is a text that no two records may have at a pointer, folded as texts are compared there.
type claim struct{ pointer, text string }

const slugPointer = "/slug"

func slugClaim(slug string) claim { return claim{slugPointer, strings.ToLower(slug)} }

func didClaim(tool string) claim { return claim{"/tool_did", did.Fold(tool)} }

func workflowClaim(id string) claim { return claim{"/workflow_id", id} }

// claimants returns the listings of a set with that slug or DID, in path order.
func (c claim) claimants(ls *listed.Set) []*Listed {
	if c.pointer == slugPointer {
		return ls.BySlug(c.text)
	}
	return ls.ByDID(c.text)
}

// sharing are listings that share a claim: how many, and the paths of the first two.
type sharing struct {
	count int
	paths [2]string
}

func (s *sharing) note(path string) {
	if s.count < 2 {
		s.paths[s.count] = path
	}
	s.count++
}

// others returns how many other listings would share a claim with the listing at a path, and the path of the first.
// Listings that share one are looked through once.
func (r *Run) others(path string, c claim) (string, int) {
	l := r.landed()
	look := func(but string) (found sharing) {
		for _, landing := range l.claims[c] {
			found.note(landing)
		}
		for _, t := range c.claimants(&r.Base.listings) {
			if t.Path != but && !l.replaced[t.Path] {
				found.note(t.Path)
			}
		}
		return found
	}
	if !r.Asks.AsIs && !l.replaced[path] { // neither lands nor has to stand
		found := look(path)
		return found.paths[0], found.count
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	found, known := r.shared[c]
	if !known {
		if found = look(""); found.count < 2 {
			return "", 0
		}
		if r.shared == nil {
			r.shared = map[claim]sharing{}
		}
		r.shared[c] = found
	}
	if found.paths[0] == path {
		return found.paths[1], found.count - 1
	}
	return found.paths[0], found.count - 1
}

// landings are what the range brings that other records depend on.
type landings struct {
	claims   map[claim][]string // paths of the listings and anchors that it adds or changes, in order
	replaced map[string]bool    // paths of the listings that it adds, changes or removes
}

// landed looks through the subjects once: a pull request may bring many.
func (r *Run) landed() *landings {
	l, _ := r.landings.get(func() (*landings, error) {
		l := &landings{map[claim][]string{}, map[string]bool{}}
		if r.Asks.AsIs { // the base tree has all of them
			return l, nil
		}
		for _, t := range r.Subjects {
			var claims []claim
			switch {
			case t.Listing != nil && !t.Unchanged():
				claims = []claim{slugClaim(t.Listing.Slug), didClaim(t.Listing.ToolDID)}
			case t.Anchor != nil && !t.Unchanged():
				claims = []claim{workflowClaim(t.Anchor.WorkflowID)}
			}
			for _, c := range claims {
				l.claims[c] = append(l.claims[c], t.Path)
			}
			l.replaced[t.Path] = claims != nil || t.Change.Head == nil
		}
		return l, nil
	})
	return l
}
