package checks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// andSquash completes the command that restores a file: a further commit is not enough if a commit of the range touches
// the file, since commit-tampers reports that one.
const andSquash = " (and squash the branch if a commit changes it)"

// restoreFile is the fix of a merged file that a range changes.
const restoreFile = "restore it: git checkout BASE -- FILE" + andSquash

var appendOnly = &Check{
	ID:    "append-only",
	Title: "merged records are not changed, moved or deleted",
	Cite:  "RFC 0026 sections 6 and 7",
	Row:   "No tampering",
	Why:   "the log's history is the proof; a record that can be edited later proves nothing",
	Fix:   "leave merged files as they are; add new ones, or renew your own listing with a newly signed Receipt",
	Kinds: registry.DataKinds,
	applies: func(s *Subject) string {
		if s.Run.Asks.AsIs {
			return "judged in the history"
		}
		return ""
	},
	PerCommit:   true,
	inHistory:   true,
	Run:         runAppendOnly,
	RunRegistry: runAppendOnlyRegistry,
	Blocks: func(s *Subject, _ []string) (pointer, code, message string) {
		if recovers, err := s.Recovers(); err == nil && recovers {
			return "", "", ""
		}
		if s.modified() && s.Change.Base.Mode != s.Change.Head.Mode {
			return "", "mode-changed", "the file's mode or type changes"
		}
		return "", "", ""
	},
	Codes: []Code{
		{"base-moved-on", "the base branch changed the file after this range began",
			"merge the base branch into yours, or rebase onto it"},
		{"deleted", "a merged file is deleted or moved away", restoreFile},
		{"mode-changed", "the mode or type of a merged file changes", restoreFile},
		{"edited", "a merged record other than a listing is edited", restoreFile},
		{"too-many-versions", "more commits change one file than are read", "squash the branch into one commit"},
		{"transient-revocation", "a single commit changes a revocation in another way than it lands; rebase-merged, " +
			"it would be in force permanently",
			"make one commit of the same files: git reset --soft BASE && git commit -s && git push --force-with-lease"},
		{"transient-record", "a single commit changes a record in another way than it lands; rebase-merged, it would " +
			"be in the history permanently",
			"make one commit of the same files: git reset --soft BASE && git commit -s && git push --force-with-lease"},
		{"commit-tampers", "a single commit changes a merged file, though the range as a whole may not",
			"squash the branch into one commit, or take the commit out of it"},
		{"mixed", "records and governance files change together",
			"split it: records in one pull request, governance files in another"},
		{"governance", "governance files change, and no record does",
			"none needed: a maintainer reviews a pull request of this kind"},
		{"governance-in-passing", "single commits change governance files, and later ones undo it",
			"squash the branch into one commit"},
		{"several-reissues", "the range changes more than one merged listing",
			"propose each re-issue in a pull request of its own"},
		{"squash", "several commits touch records; a rebase merge would put each of them on the main branch",
			"squash the branch into one commit, or merge it by a merge commit"},
		{"not-fast-forward", "a fast-forward would replace the base's first-parent history with the branch's",
			"merge it by a merge commit or squashed, or rebase onto the base"},
		{"nothing-judged", "the base already contains the head, so there was nothing to check",
			"commit what you propose, or name the registry's own branch with --base"},
		CommitBackdated,
		{fsckCommit, "git refuses to receive a commit, so that a clone with transfer.fsckObjects fails; or the " +
			"commit repeats a header, and readers differ about it (duplicate-header)",
			"remove the commit from the branch: git rebase -i BASE"},
		{fsckFile, "git refuses to receive a file that it reads itself: a clone with transfer.fsckObjects fails",
			"remove the file from every commit of the branch: git rebase -i BASE"},
		{"uncommitted", "the work tree holds records that are not committed, and these were not judged",
			"oap-gate check --worktree"},
		HistoryRewritten,
	},
}

func runAppendOnly(s *Subject) (verdict.Outcome, error) {
	var out verdict.Outcome
	repaired, err := s.repair()
	if err != nil {
		return out, err
	}
	switch repaired {
	case removal:
		out.Verified = "removes a file that never was a record"
	case replacement:
		out.Verified = "corrects the place or form of a revocation, which lands at its own path"
	case recovery:
		out.Verified = "gives the file back what it had as a record"
	}
	for _, v := range s.Run.Range.Views {
		c := changeOf(v.Changes, s.Path)
		switch {
		case c == nil:
			continue
		case movedOn(&out, s, v, c, s.Change.Base):
			if s.Listing != nil && c.Base == nil && s.Change.Base != nil { // both branches added it
				out.Findings[len(out.Findings)-1].WithFix("oap-gate new OTHER-SLUG https://%s, then git rm %s, "+
					"and squash both into the commit that added it",
					webHost(s.Listing.ToolDID), s.Path)
			}
			return out, nil
		case !registry.SameEntry(c.Base, s.Change.Base), // base has it so already: nothing would change
			repaired != noRepair && registry.SameEntry(c.Head, s.Change.Head):
			continue
		}
		if err := change(&out, s, c); err != nil || len(out.Findings) > 0 {
			return out, err
		}
	}
	if s.Change.Base == nil {
		if is, err := transient(&out, s); err != nil || is {
			return out, err
		}
	}
	// What is left is a re-issue, which another check judges.
	reissued := s.Kind == registry.KindListing && s.modified() && !s.Unchanged() && repaired == noRepair
	err = commits(&out, s, reissued)
	return out.OrPass(), err
}

// movedOn reports a change of a file that the base branch, where it is now, has changed too, unless the change leads to
// what is there.
func movedOn(o *verdict.Outcome, at verdict.Place, v registry.View, c *registry.Change, now *registry.Entry) bool {
	if registry.SameEntry(c.Base, now) || registry.SameEntry(c.Head, now) {
		return false
	}
	o.Errorf(at, "", "base-moved-on", "the base branch changed this file since commit %s, from which this range starts",
		short(v.From)).
		WithFix("merge the base branch into yours, or rebase onto it")
	return true
}

// change reports a change of a merged file that is not a re-issue.
func change(o *verdict.Outcome, s *Subject, c *registry.Change) error {
	if c.Base == nil {
		return nil
	}
	p, err := s.prospect(c.Head)
	if err != nil {
		return err
	}
	switch {
	case p.broken && (c.Head == nil || s.Kind != registry.KindListing): // else reissue judges the change
		unrepaired(o, s, p, c.Head)
	case c.Head == nil:
		o.Errorf(s, "", "deleted", "this merged file is deleted or moved away").
			WithFix("%s", notYours(s, "leave it where it is: a revocation ends a listing, and nothing moves one"))
	case c.Base.Mode != c.Head.Mode:
		o.Errorf(s, "", "mode-changed", "mode or type changes from %o to %o", uint32(c.Base.Mode), uint32(c.Head.Mode)).
			WithFix("restore it: %s", restore(s))
	case s.Kind != registry.KindListing:
		o.Errorf(s, "", "edited", "this merged %s is edited; only a listing may change, by a re-issue", s.Kind).
			WithFix("restore it: %s", restore(s))
	}
	return nil
}

// unrepaired reports a change of a file that is not a record in the base tree, and that the change does not repair.
func unrepaired(o *verdict.Outcome, s *Subject, p *outlook, head *registry.Entry) {
	code, what := "edited", "edited"
	if head == nil {
		code, what = "deleted", "removed"
	}
	switch {
	case p.last != nil:
		o.Errorf(s, "", code,
			"this file is %s; expected the content that it had when it last was a record, in commit %s", what,
			short(p.commit)).
			WithFix("restore it: %s", checkout(s, p.commit))
	case head == nil:
		o.Errorf(s, "", code, "this file is removed and %s; expected a file whose removal cannot hide a revocation",
			p.kept).
			WithFix("leave it where it is: %s", restore(s))
	default:
		f := o.Errorf(s, "", code, "this file is edited and never was a record; expected its removal")
		if p.kept != "" {
			f.Message = "this file is edited, never was a record, and " + p.kept + "; expected it as it is"
			f.WithFix("leave it as it is: %s", restore(s))
		} else {
			f.WithFix("remove it: git rm -f %s", plain.ShellWord(s.Path))
		}
	}
}

// notYours returns the fix of a change that strangers may make. The way to revert it comes first.
func notYours(s *Subject, way string) string {
	return "not yours? " + restore(s) + "; yours: " + way
}

// restore returns the command that restores the file's content from the base tree.
func restore(s *Subject) string {
	return checkout(s, short(s.Run.Range.Base.Commit()))
}

// checkout returns the command that restores the file's content from a commit.
func checkout(s *Subject, commit string) string {
	return fmt.Sprintf("git checkout %s -- %s", commit, plain.ShellWord(s.Path)) + andSquash
}

// kindsMixed returns the governance files that may not change with records: all but .gitkeep and, where layout reports
// them, those with private keys, which no pull request may bring.
func (r *Run) kindsMixed(governance []string) ([]string, error) {
	mixed := slices.DeleteFunc(slices.Clone(governance), isGitkeep)
	if len(mixed) == 0 || !r.Selected(layoutID) {
		return mixed, nil
	}
	leaks, err := r.leaks()
	reported := map[string]bool{}
	for _, l := range leaks {
		reported[l.path] = l.kind != ""
	}
	return slices.DeleteFunc(mixed, func(path string) bool { return reported[path] }), err
}

func runAppendOnlyRegistry(r *Run) (verdict.Outcome, error) {
	var out verdict.Outcome
	governance := Governance(r.Range)
	var data, mended, replaced []string
	var reissues []*Subject
	for _, s := range r.Subjects {
		if s.Unchanged() {
			continue
		}
		if !r.Asks.onMain { // there it would only matter for the rule of one re-issue
			if is, err := s.repair(); err != nil {
				return out, err
			} else if is == replacement {
				mended = append(mended, s.Path)
				replaced = append(replaced, s.outlook.needs...)
				continue
			} else if is != noRepair {
				governance = append(governance, s.Path)
				continue
			}
		}
		data = append(data, s.Path)
		if s.Kind == registry.KindListing && s.modified() {
			reissues = append(reissues, s)
		}
	}
	// A misplaced revocation may go with the one that replaces it.
	data = slices.DeleteFunc(data, func(path string) bool { return slices.Contains(replaced, path) })
	governance = append(governance, mended...)
	slices.Sort(governance)
	mixed, err := r.kindsMixed(governance)
	if err != nil {
		return out, err
	}
	switch {
	case r.isRoot() && !r.Asks.onMain: // nothing was there to judge by
	case len(data) > 0 && len(mixed) > 0:
		out.Add(verdict.At{Path: mixed[0]}, errorIf(!r.Asks.onMain), "", "mixed",
			"the range changes records and governance files together: %s", list(mixed)).
			WithFix("split it: records in one pull request, governance files in another")
	case len(data) == 0 && len(governance) > 0 && !r.Asks.onMain:
		out.Add(verdict.At{Path: governance[0]}, errorIf(r.DenyGovernance), "", "governance",
			"the range changes governance files: %s", list(governance)).
			WithFix("have a maintainer review it; no record changes")
	}
	if passing := TransientGovernance(r.Range); len(passing) > 0 {
		out.Warnf(verdict.At{Path: passing[0]}, "", "governance-in-passing",
			"single commits change governance files, and later ones undo it: %s", list(passing)).
			WithFix("squash the branch into one commit")
	}
	for _, path := range []string{schemaFiles[0].path, schemaFiles[1].path, schemaFiles[2].path, policyFile} {
		if passing, err := r.passing(path); err != nil {
			return out, err
		} else if len(passing) > maxVersions {
			tooManyVersions(&out, verdict.At{Path: path})
		}
	}
	if r.Asks.onMain && len(reissues) > 1 {
		var kept []*Subject
		for _, s := range reissues {
			if is, err := s.repair(); err != nil {
				return out, err
			} else if is == noRepair {
				kept = append(kept, s)
			}
		}
		reissues = kept
	}
	for _, s := range reissues[min(1, len(reissues)):] {
		out.Errorf(s, "", "several-reissues",
			"the range re-issues %d listings, at most one may change: %s is the first", len(reissues),
			reissues[0].Path).
			WithFix("propose each re-issue in a pull request of its own")
	}
	for _, v := range r.Range.Views {
		for _, c := range v.Changes {
			if isRecord(c) {
				continue
			}
			now, err := r.Range.Base.Leaf(c.Path)
			if err != nil {
				return out, err
			}
			movedOn(&out, verdict.At{Path: c.Path}, v, &c, now)
		}
	}
	const squash = "squash the branch into one commit, or merge it by a merge commit"
	path := dropped(r.Range)
	if n := dataCommits(r.Range); n > 1 {
		f := out.Warnf(verdict.At{}, "", "squash",
			"%d commits touch records; rebase-merged, each would be on the main branch", n).WithFix(squash)
		if path != "" {
			f.Message += ", where an audit refuses the steps of a record that a later commit corrects, as of " +
				plain.Cut(path, 300)
		}
	} else if path != "" {
		out.Warnf(verdict.At{Path: path}, "", "squash",
			"a single commit makes of this file what a merge after it drops; rebase-merged, it would stand on the "+
				"main branch").WithFix(squash)
	}
	if r.Range.Displaces {
		out.Warnf(verdict.At{}, "", "not-fast-forward", "base %s is in the head's history, but not on its "+
			"first-parent chain; fast-forwarded, the branch's own commits would take the place of the main branch's",
			short(r.Range.Base.Commit())).
			WithFix("land it by a merge commit or squashed, or rebase it: git rebase %s", short(r.Range.Base.Commit()))
	}
	if len(out.Findings) == 0 && !slices.ContainsFunc(r.Range.Changes, differs) {
		out.Verified = "the range changes nothing"
	}
	// A step of the ledger has no merge base.
	empty := len(r.Range.MergeBases) > 0 && len(r.Range.Commits) == 0
	if empty && len(r.Uncommitted) == 0 {
		out.Warnf(verdict.At{}, "", "nothing-judged",
			"%s: the base holds the head already, so that the range changes nothing; nothing was judged",
			cmp.Or(r.Chosen, "base "+short(r.Range.Base.Commit()))).
			WithFix("commit what you propose, or fetch the registry's own branch and name it with --base")
		if r.Repo != nil && !r.Repo.Store().HasRemote("upstream") { // in a clone of a fork main is the fork's own
			out.Findings[len(out.Findings)-1].WithFix("commit what you propose; in a clone of a fork: git remote add " +
				"upstream URL && git fetch upstream, with the URL of the registry")
		}
	}
	for _, report := range []func(*verdict.Outcome, *Run) error{acceptedByGit, backdated} {
		if err := report(&out, r); err != nil {
			return out, err
		}
	}
	if len(r.Uncommitted) > 0 {
		severity := verdict.Notice
		if empty { // a pass would be taken for theirs
			severity = verdict.Doubt
		}
		out.Add(verdict.At{}, severity, "", "uncommitted",
			"the work tree holds records that are not committed, and these were not judged: %s", list(r.Uncommitted)).
			WithFix("oap-gate check --worktree")
	}
	return out.OrPass(), nil
}

// Governance returns the governance files that a range changes, in path order.
func Governance(r *registry.Range) []string {
	var out []string
	for _, c := range r.Changes {
		if !isRecord(c) && differs(c) {
			out = append(out, c.Path)
		}
	}
	return out
}

// TransientGovernance returns the governance files that single commits of a range change and the range as a whole does
// not, in path order: a rebase merge would put them on the main branch for a while.
func TransientGovernance(r *registry.Range) []string {
	known := map[string]bool{}
	for _, p := range Governance(r) {
		known[p] = true
	}
	var out []string
	for _, c := range r.Commits {
		for _, t := range c.Touched {
			if !isRecord(t) && !known[t.Path] {
				known[t.Path] = true
				out = append(out, t.Path)
			}
		}
	}
	slices.Sort(out)
	return out
}

// isGitkeep reports whether a path is a .gitkeep of a data directory, which may go with either kind of change.
func isGitkeep(path string) bool {
	directory, found := strings.CutSuffix(path, "/.gitkeep")
	return found && isDataDirectory(directory)
}

// isRecord reports whether a change is one of a record, not of a governance file.
func isRecord(c registry.Change) bool { return registry.KindOf(c.Path) != registry.Governance }

// differs reports whether a change leaves another entry than it found.
func differs(c registry.Change) bool { return !registry.SameEntry(c.Base, c.Head) }

// changeOf returns the change of a path among changes in path order, or nil.
func changeOf(changes []registry.Change, path string) *registry.Change {
	i, found := slices.BinarySearchFunc(changes, path,
		func(c registry.Change, p string) int { return strings.Compare(c.Path, p) })
	if !found {
		return nil
	}
	return &changes[i]
}

// short returns a commit id as a message shows it. An empty id means the files on disk.
func short(commit string) string {
	if commit == "" {
		return "the files on disk"
	}
	return commit[:min(len(commit), 12)]
}

// list names at most ten paths and counts the rest.
func list(paths []string) string {
	const most = 10
	if len(paths) <= most {
		return strings.Join(paths, ", ")
	}
	return strings.Join(paths[:most], ", ") + ", and " + plain.Count(len(paths)-most, "more file")
}
