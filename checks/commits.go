package checks

import (
	"fmt"
	"slices"

	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// transient reports a commit that leaves a path, which the base tree does not hold, otherwise than it lands:
// rebase-merged, what nobody judged would count permanently. A listing that its author corrects is only warned of, as
// squash.
func transient(o *verdict.Outcome, s *Subject) (bool, error) {
	code := "transient-record"
	if s.Kind == registry.KindRevocation {
		code = "transient-revocation"
	}
	versions := 0
	for _, c := range s.Run.Range.Commits {
		t := changeOf(c.Touched, s.Path)
		if t == nil || registry.SameEntry(t.Head, s.Change.Head) {
			continue
		}
		if versions++; versions > maxVersions {
			tooManyVersions(o, s)
			return true, nil
		}
		if corrected, err := s.corrects(t.Head); err != nil || corrected {
			if err != nil {
				return false, err
			}
			continue
		}
		f := o.Errorf(s, "", code, "a single commit leaves this file otherwise than the range does; rebase-merged, it "+
			"would be in the history permanently")
		f.Commit = c.ID
		f.WithFix("%s", s.Run.oneCommit())
		return true, nil
	}
	return false, nil
}

// corrects reports whether the range may correct an entry that a single commit has at the path of a listing. It may if
// the entry is missing or not a listing, or if the range lands a listing of the same DID.
func (s *Subject) corrects(e *registry.Entry) (bool, error) {
	if s.Kind != registry.KindListing {
		return false, nil
	}
	l, err := s.Run.listingIn(s.Path, e)
	if err != nil || l == nil {
		return err == nil, err
	}
	return slices.ContainsFunc(s.Run.Subjects, func(t *Subject) bool {
		return t.Listing != nil && !t.Unchanged() && did.Same(t.Listing.ToolDID, l.ToolDID)
	}), nil
}

// oneCommit returns the fix of a range whose single commits may not land.
func (r *Run) oneCommit() string {
	return fmt.Sprintf("make one commit of the same files: %sgit reset --soft %s && git commit -s && "+
		"git push --force-with-lease", r.switching(), short(r.forked()))
}

// passing returns the trees of the commits that leave a governance file otherwise than the range does: rebase-merged,
// each would judge the next one. A file that the range adds and removes again is only warned of.
func (r *Run) passing(path string) (trees []*registry.Tree, err error) {
	for _, c := range r.Range.Commits {
		t := changeOf(c.Touched, path)
		if t == nil || len(trees) > maxVersions {
			continue
		}
		stood, err := r.Range.Base.Leaf(path)
		if err != nil {
			return nil, err
		}
		lands, err := r.Range.Result.Leaf(path)
		if err != nil {
			return nil, err
		}
		if registry.SameEntry(t.Head, lands) || stood == nil && lands == nil {
			continue
		}
		tree, err := r.Repo.Tree(r.Context, c.ID)
		if err != nil {
			return nil, err
		}
		trees = append(trees, tree)
	}
	return trees, nil
}

// inPassing says of findings that they are about what a single commit has.
func (r *Run) inPassing(found []verdict.Finding, t *registry.Tree) {
	for i := range found {
		found[i].Commit = t.Commit()
		found[i].WithFix("%s", r.oneCommit())
	}
}

// forked returns the commit from which a range starts.
func (r *Run) forked() string {
	if len(r.Range.MergeBases) > 0 {
		return r.Range.MergeBases[0]
	}
	return r.Range.Base.Commit()
}

// switching returns the command that comes before those that change the branch of the head. It is empty if this branch
// is checked out.
func (r *Run) switching() string {
	head, store := r.Range.Head.Commit(), r.Repo.Store()
	if id, err := store.Resolve("HEAD"); head == "" || // the files on disk
		err == nil && id.String() == head && store.Symbolic("HEAD") != "" {
		return ""
	}
	return "git switch BRANCH && "
}

// isRoot reports whether the range is a root commit: the tree before it is empty.
func (r *Run) isRoot() bool { return r.Range.Base.Commit() == "" }

// onto returns what git rebase -i takes to edit the commits of the range.
func (r *Run) onto() string {
	if r.isRoot() {
		return "--root"
	}
	return short(r.Range.Base.Commit())
}

// maxVersions is how many versions of one file are read from a range's commits.
const maxVersions = 100

// commits holds each commit of the range to the rule of the range as a whole. Tampering fails even if a later commit
// undoes it: a rebase merge would bring it to the main branch.
func commits(o *verdict.Outcome, s *Subject, reissued bool) error {
	if s.Change.Base == nil {
		return nil
	}
	versions := 0
	for _, c := range s.Run.Range.Commits {
		touched := changeOf(c.Touched, s.Path)
		if touched == nil || reissued && registry.SameEntry(touched.Head, s.Change.Head) {
			continue // what the range as a whole makes of it is judged as such
		}
		head := touched.Head
		p, err := s.prospect(head)
		if err != nil {
			return err
		}
		if is, err := s.repairedIn(c.ID, head, p); err != nil || is {
			if err != nil {
				return err
			}
			continue
		}
		if versions++; versions > maxVersions {
			tooManyVersions(o, s)
			return nil
		}
		problem := ""
		switch {
		case p.lands:
			problem = "leaves a misplaced revocation, or what replaces it, otherwise than the range does"
		case !reissued:
			problem = "changes a merged file that the range as a whole does not re-issue"
		case head == nil:
			problem = "takes the listing away"
		case head.Mode != s.Change.Base.Mode:
			problem = "changes the listing's mode or type"
		default:
			l, err := s.Run.listingIn(s.Path, head)
			switch {
			case err != nil:
				return err
			case l == nil:
				problem = "makes the listing unreadable"
			case s.baseListing == nil || l.Slug != s.baseListing.Slug || l.ToolDID != s.baseListing.ToolDID:
				problem = "changes the listing's slug or tool_did"
			}
		}
		if problem != "" {
			f := o.Errorf(s, "", "commit-tampers", "a single commit %s", problem)
			f.Commit = c.ID
			f.WithFix("squash the branch into one commit, or take the commit out of it: git rebase -i %s",
				short(s.Run.Range.Base.Commit()))
			return nil
		}
	}
	return nil
}

// repairedIn reports whether a commit that leaves the file as that entry repairs it. What replaces a revocation must be
// in the commit or in the base tree, and the commit leave the file as the range does: any other content would revoke
// permanently, once rebase-merged.
func (s *Subject) repairedIn(commit string, head *registry.Entry, p *outlook) (bool, error) {
	if is := p.of(head); is != replacement {
		return is != noRepair, nil
	}
	if !registry.SameEntry(head, s.Change.Head) {
		return false, nil
	}
	tree := s.Run.Range.Head
	if commit != tree.Commit() { // else it may be the files on disk
		var err error
		if tree, err = s.Run.Repo.Tree(s.Run.Context, commit); err != nil {
			return false, err
		}
	}
	for _, path := range p.needs {
		lands, err := s.Run.Range.Result.Leaf(path)
		if err != nil {
			return false, err
		}
		here, err := tree.Leaf(path)
		if err != nil {
			return false, err
		}
		stood, err := s.Run.Range.Base.Leaf(path)
		if err != nil || !registry.SameEntry(here, lands) && !registry.SameEntry(stood, lands) {
			return false, err
		}
	}
	return true, nil
}

func tooManyVersions(o *verdict.Outcome, at verdict.Place) {
	o.Errorf(at, "", "too-many-versions", "more than %d commits change this file", maxVersions).
		WithFix("squash the branch into one commit")
}

// Squash reports whether a range's commits, rebase-merged, would make other steps of the main branch than the range as
// a whole: more than one touches a data path, or what the one does is not what lands.
func Squash(r *registry.Range) bool { return dataCommits(r) > 1 || dropped(r) != "" }

// dropped returns the first data path that a commit changes in a way that the range as a whole does not, or "".
func dropped(r *registry.Range) string {
	for _, c := range r.Commits {
		for _, t := range c.Touched {
			if c := changeOf(r.Changes, t.Path); isRecord(t) && (c == nil || !registry.SameEntry(c.Head, t.Head)) {
				return t.Path
			}
		}
	}
	return ""
}

func dataCommits(r *registry.Range) int {
	n := 0
	for _, c := range r.Commits {
		if slices.ContainsFunc(c.Touched, isRecord) {
			n++
		}
	}
	return n
}
