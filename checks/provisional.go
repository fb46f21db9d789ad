package checks

// since returns the version since which a listing's file has held its tool_did without a break, as of the base tree, or
// of the one that judged a record then.
func (r *Run) since(l *Listed, then *Moment) (version, error) {
	former := then != nil && then.Tree.Commit() != r.Base.Tree.Commit()
	if f := r.Base.followed; f != nil {
		if v, known := f.since(l.Path); known && (!former || v.number < then.number) {
			return v, nil
		}
	}
	p := r.past()
	if former {
		p = newPast(r.Repo, then.Tree.Commit(), r.Now)
	}
	return p.tenure(r.Context, l.Path, l.ToolDID, r.Base.as)
}
