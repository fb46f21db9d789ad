package checks

import (
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
	return r.past().tenure(r.Context, l.Path, l.ToolDID, r.Base.as)
}
