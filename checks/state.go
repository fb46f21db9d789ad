package checks

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/checks/internal/listed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/revocation"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// The rules by which a listing is refused.
const (
	byUnreadable = "unreadable"
	byLayout     = "layout"
	bySchema     = "schema"
	byWindow     = "window"
)

// A State is what Git alone says about a listing at a commit and a time. All commands ask for it: there is no other
// answer to who is listed and who is revoked.
type State struct {
	Status    string    // see verdict.Listing
	RefusedBy string    // the rule, if Status is refused
	RevokedBy string    // path of the revocation, if Status is revoked
	Reason    string    // what the revocation gives as its reason
	Until     time.Time // when a listing whose file says provisional ends to count as that; else zero
	Why       string    // about a listing that is refused, for people: "is …"
}

// InForce reports whether readers may rely on the listing.
func (s *State) InForce() bool {
	switch s.Status {
	case verdict.StatusValid, verdict.StatusExpiring, verdict.StatusProvisional:
		return true
	}
	return false
}

// fault is what the text of a listing shows by itself.
type fault uint8

const (
	unjudged    fault = iota // nobody looked
	sound                    // it is a listing
	badLayout                // its name, slug or DID is not as the format requires
	badSchema                // the schema of the tree refuses it
	badDocument              // it cannot be read
)

// faultOf returns what is wrong with the file of a listing that can be read, whose place was found to be wrong or not.
func (s *Schemas) faultOf(sub *Subject, misplaced bool) fault {
	if _, err := did.Parse(sub.Listing.ToolDID); err != nil || misplaced {
		return badLayout
	}
	violations := sub.violations
	if !sub.validated && s.Of(sub.Kind) != nil {
		violations = s.violations(sub)
	}
	if len(violations) > 0 {
		return badSchema
	}
	return sound
}

// fault returns what is wrong with a listing of the tree. A Ledger keeps no faults: they are looked for when somebody
// asks.
func (st *Standing) fault(ctx context.Context, l *Listed, t *registry.Tree) (fault, error) {
	if _, p := st.listings.At(l.Path); p != "" && t == st.Tree {
		if is := fault(p.Note()); is != unjudged {
			return is, nil
		}
	}
	rec, err := t.Record(ctx, l.Path)
	if err != nil || rec == nil || rec.Document == nil {
		return badDocument, err
	}
	schemas, err := st.schemasOf(ctx, t)
	if err != nil {
		return unjudged, err
	}
	s := subjectOf(rec)
	return schemas.faultOf(s, len(place(s, "")) > 0), nil
}

// schemasOf returns the schemas of a tree. It compiles those of the same files once.
func (st *Standing) schemasOf(ctx context.Context, t *registry.Tree) (*Schemas, error) {
	key := ""
	for _, f := range schemaFiles {
		e, found, err := t.Entry(f.path)
		if err != nil {
			return nil, err
		}
		if found {
			key += e.Mode.Octal() + e.ID.String()
		}
		key += "/"
	}
	st.compiledMu.Lock()
	defer st.compiledMu.Unlock()
	if known := st.compiled[key]; known != nil {
		return known, nil
	}
	if st.compiled == nil {
		st.compiled = map[string]*Schemas{}
	}
	s, err := readSchemas(ctx, t)
	st.compiled[key] = s // nil after an error
	return s, err
}

// past returns what the first-parent history says up to the base tree.
func (r *Run) past() *past {
	st := r.Base
	st.pastMu.Lock()
	defer st.pastMu.Unlock()
	if st.past == nil {
		tip := ""
		if st.Tree != nil {
			tip = st.Tree.Commit()
		}
		st.past = newPast(r.Repo, tip, r.Now)
	}
	return st.past
}

// landing returns what the history would say if the range landed.
func (r *Run) landing() (*past, error) {
	base := r.past()
	if r.Asks.AsIs || len(r.Subjects) == 0 {
		return base, nil
	}
	return r.overlay.get(func() (*past, error) {
		base.mu.Lock()
		defer base.mu.Unlock()
		over := base.over()
		brought := map[string]version{}
		for _, s := range r.Subjects {
			switch {
			case s.Unchanged() || s.Change.Head == nil:
			case revocation.Counts(s.Path):
				f, err := readRevoked(r.Repo, s.Path, *s.Change.Head)
				if err != nil {
					return nil, err
				}
				over.revoke(f)
			case s.Listing != nil:
				brought[s.Path] = versionOf(s.Listing, r.Now, r.Now, "", 0)
			}
		}
		if err := base.ready(r.Context); err != nil {
			return nil, err
		}
		for path, v := range brought {
			over.pin(path, v)
		}
		for named := range over.naming {
			over.registerAll(named)
		}
		return over, nil
	})
}

// State returns the state of a listing of the base tree.
func (r *Run) State(l *Listed) (*State, error) { return r.state(l, unjudged, r.past(), nil) }

// StateOf returns the state of a listing of an audit, whose file the run has read.
func (r *Run) StateOf(s *Subject) (*State, error) {
	return r.state(listed.New(s.Path, s.Listing), s.fault, r.past(), nil)
}

// landingState returns the state that a listing of the base tree would have if the range revoked what it revokes.
func (r *Run) landingState(l *Listed) (*State, error) {
	p, err := r.landing()
	if err != nil {
		return nil, err
	}
	return r.state(l, unjudged, p, nil)
}

// state returns the state of a listing by what the history says; is is what its text shows, if somebody looked. With
// then it is the state that a listing of that tree had when another record was merged.
func (r *Run) state(l *Listed, is fault, p *past, then *Moment) (*State, error) {
	as, now := r.Base.as, r.Now
	if then != nil {
		as, now = asOf{before: then.number}, then.When
	}
	by, err := p.revokedBy(r.Context, l.ToolDID, strings.ToLower(l.ReceiptSHA256), l.Issued, as)
	if err != nil {
		return nil, err
	}
	if by != nil {
		return &State{Status: verdict.StatusRevoked, RevokedBy: by.path, Reason: by.Reason}, nil
	}
	rule, why, err := r.refused(l, is, then)
	if err != nil || rule != "" {
		return &State{Status: verdict.StatusRefused, RefusedBy: rule, Why: why}, err
	}
	s := &State{Status: verdict.StatusValid}
	if l.Provisional {
		since, err := r.since(l, then)
		if err != nil {
			return nil, err
		}
		if since.number > 0 {
			s.Until = since.landed.Add(registry.ProvisionalFor)
		}
	}
	switch {
	case !now.Before(l.Expires):
		s.Status = verdict.StatusExpired
	case l.Provisional && (s.Until.IsZero() || now.Before(s.Until)):
		s.Status = verdict.StatusProvisional
	case l.Expires.Sub(now) < verdict.Soon:
		s.Status = verdict.StatusExpiring
	}
	return s, nil
}

// Unreadable returns the state of a file of implementations/ that is not a listing.
func Unreadable() *State {
	return &State{Status: verdict.StatusRefused, RefusedBy: byUnreadable, Why: "cannot be read"}
}

// refused returns the rule that refuses a listing of the base tree, or of then, and why; empty if none does.
func (r *Run) refused(l *Listed, is fault, then *Moment) (rule, why string, err error) {
	tree, now := r.Base.Tree, r.Now
	if then != nil {
		tree, now = then.Tree, then.When
	}
	if is == unjudged {
		is, err = r.Base.fault(r.Context, l, tree)
	}
	switch {
	case err != nil:
		return "", "", err
	case is == badDocument:
		return byUnreadable, "cannot be read", nil
	case l.Slug != listed.SlugOf(l.Path):
		return byLayout, fmt.Sprintf("has the slug %q, which is not that of its path", plain.Cut(l.Slug, 100)), nil
	case is == badLayout:
		return byLayout, "has a name, slug or tool_did that the format refuses", nil
	}
	if first, err := r.hadFirst(l, then); err != nil || first != "" {
		return byLayout, "has the tool_did that " + plain.Cut(first, 300) + " had first", err
	}
	switch {
	case is == badSchema:
		return bySchema, "is not valid under the schema of its tree", nil
	case outside(l, now) != "":
		return byWindow, outside(l, now), nil
	}
	return "", "", nil
}

// outside says why the dates of a listing are not a window that may be; empty if they are.
func outside(l *Listed, now time.Time) string {
	switch d := l.Expires.Sub(l.Issued).Truncate(time.Millisecond); {
	case l.Issued.IsZero() || l.Expires.IsZero():
		return "has no dates that can be read"
	case d > Window:
		return "is issued for " + plain.Span(d) + ", more than " + plain.Span(Window)
	case now.Add(Skew).Before(l.Issued):
		return "is valid from " + stamp(l.Issued) + " on"
	}
	return ""
}

// hadFirst returns the path of another listing that had the DID of a listing first, and is not refused itself; empty if
// no other one had it first.
func (r *Run) hadFirst(l *Listed, then *Moment) (string, error) {
	first, err := r.firstOf(l.ToolDID, then)
	if err != nil || first.path == "" || first.path == l.Path {
		return "", err
	}
	since, err := r.since(l, then) // the schema or the window may refuse it, which the other one need not know
	if (tenant{since.number, l.Path}).before(first) {
		return "", err
	}
	return first.path, nil // an error comes with number 0
}

// firstOf returns the listing of the base tree that has had a DID first, of those that are not refused by themselves.
// It returns none if not more than one listing has the DID. Each DID is looked for once. With then the listing is that
// of another tree; one whose path is gone since is not looked for.
func (r *Run) firstOf(id string, then *Moment) (first tenant, err error) {
	folded, tree, now := did.Fold(id), r.Base.Tree, r.Now
	key := folded
	if then != nil {
		tree, now = then.Tree, then.When
		key += "@" + tree.Commit()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, found := r.first[key]; found {
		return known, nil
	}
	all := r.Base.listings.ByDID(folded)
	if len(all) < 2 {
		return first, nil
	}
	for _, o := range all {
		if then != nil {
			was, err := tree.Listing(r.Context, o.Path)
			if err != nil {
				return first, err
			}
			if was == nil || did.Fold(was.ToolDID) != folded {
				continue
			}
			o = listed.New(o.Path, was)
		}
		is, err := r.Base.fault(r.Context, o, tree)
		if err != nil {
			return first, err
		}
		if is != sound || outside(o, now) != "" {
			continue
		}
		since, err := r.since(o, then)
		if err != nil {
			return first, err
		}
		if t := (tenant{since.number, o.Path}); t.before(first) {
			first = t
		}
	}
	if r.first == nil {
		r.first = map[string]tenant{}
	}
	r.first[key] = first
	return first, nil
}
