package checks

import (
	"slices"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// listedSince returns the first-parent time of the commit since which a listing's file has held its tool_did without a
// break, as of the tree t at a time.
func (r *Run) listedSince(l *Listed, t *registry.Tree, at time.Time) (time.Time, error) {
	if t == nil || t.Commit() == "" {
		return time.Time{}, nil
	}
	standing := t.Commit() == r.Base.Tree.Commit()
	if r.Base.followed != nil {
		o, err := r.Base.followed.Origin(r.Context, l.Path)
		if err != nil || standing || !o.First.After(at) {
			return o.First, err
		}
	}
	if standing {
		since, err := r.tenure(l)
		return since.landed, err
	}
	since, err := newPast(r.Repo, t.Commit(), r.Now).tenure(r.Context, l.Path, l.ToolDID, asOf{})
	return since.landed, err
}

// tenure returns the version since which a listing of the base tree has held its DID without a break.
func (r *Run) tenure(l *Listed) (version, error) {
	p, st := r.past(), r.Base
	r.tenures.Do(func() { // those that somebody may ask for are read together
		p.mu.Lock()
		defer p.mu.Unlock()
		for numbers := range st.listings.dids.shared() {
			for _, n := range numbers {
				p.want(st.listings.texts[n].path())
			}
		}
		for _, text := range st.listings.texts {
			if text != "" && text.flagged() {
				p.want(text.path())
			}
		}
	})
	return p.tenure(r.Context, l.Path, l.ToolDID, r.Base.as)
}

// tenureSince returns since when a path has held a DID without a break; zero if its newest version does not. The
// history is newest first.
func (r *Run) tenureSince(path, toolDID string, history []registry.Version) (time.Time, error) {
	var tenure registry.Tenure
	for _, v := range slices.Backward(history) {
		l, err := r.listingIn(path, v.Entry)
		switch {
		case err != nil:
			return time.Time{}, err
		case l == nil:
			tenure = registry.Tenure{}
		default:
			tenure = tenure.Next(l.ToolDID, v.When)
		}
	}
	if tenure.ToolDID != toolDID {
		return time.Time{}, nil
	}
	return tenure.Since, nil
}
