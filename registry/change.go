package registry

import (
	"time"
)

// Change is a path whose entry differs between two trees; nil means that it is not there.
type Change struct {
	Path       string
	Base, Head *Entry
}

// Commit is one commit of a range.
type Commit struct {
	ID      string
	Parents []string
	When    time.Time // committer date, UTC
	// Touched holds the paths at which the commit counts as a change of its own, in path order; Base is the first
	// parent's entry. These are the paths whose entry differs from that in every parent; for a root commit every path.
	//
	// A path that the commit leaves as the base tree has it is none of them: nothing would change there. But it is one
	// where a parent comes from a base commit that has it so too: then the commit mends what a commit before it broke.
	//
	// Where the first parents lead from the commit to the base commit, a path that base holds is one too if its entry
	// differs from the first parent's and from what lands: fast-forwarded, the merge would be such a step of main.
	Touched []Change
}

// View is one comparison that a range must pass.
type View struct {
	From    string // commit
	To      string // commit; empty: the files on disk
	Changes []Change
}

// Range is what a pull request would do to a registry: base..head.
type Range struct {
	Base   *Tree // the judge: the tree of the commit that the range would land on
	Head   *Tree // as proposed
	Result *Tree // what would land: the base tree with the range's changes
	// MergeBases are the best common ancestors of base and head, sorted; one but for criss-cross histories.
	MergeBases []string
	// Views are the comparisons that must all hold: each merge base with head; and where head is a merge whose
	// first parent is base or its ancestor, as a forge's merge ref is, also that parent with head (what lands)
	// and each other parent with its own merge bases with base (what was written). None stands twice.
	Views []View
	// Changes are the paths that differ between Base and Result and those of all views together, Base being
	// the base tree's entry and Head the result's, in path order. The two are equal where the base branch
	// already holds what the range brings, and both nil where it already took away what the range does.
	Changes []Change
	// Commits are those that head reaches and base does not, ancestors first; order is deterministic. Where
	// the head is the files on disk, the last one has no ID and holds what they change in HEAD, if anything.
	Commits []Commit
	// Displaces reports whether the head reaches the base commit, but not along first parents: fast-forwarded, the
	// head's first-parent history would take the place of the base branch's.
	Displaces bool

	repo *Repository
}

// Version is what one path held from a first-parent commit on.
type Version struct {
	Commit string
	When   time.Time // committer date, UTC
	Entry  *Entry    // nil: the commit took the path away
}
