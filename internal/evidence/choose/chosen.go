package choose

import (
	"context"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// Chosen are the commits that a run judges, and how they came to be chosen.
type Chosen struct {
	Base, Head string // commits; an empty head is Tree on top of HEAD
	Tree       string // id of the tree that a commit of the files on disk, or of the index, would have
	Staged     bool   // Tree is that of the index
	// Sequence: each first-parent commit from Base to Head is judged as a pull request of its own. An empty base is the
	// root.
	Sequence bool
	// Rewritten: Base is no longer in the history of Head.
	Rewritten bool
	How       string
	Landing   *LandingFlags // the event by which the sequence lands; nil: it does not
	// WorkTree means that Head is HEAD, so that a user may take it for the files on disk.
	WorkTree bool
	// ChangedFiles is how many files the event counts; 0 if it does not say.
	ChangedFiles int
}

// LandingFlags describe the event by which commits land.
type LandingFlags struct {
	At     string `json:"at,omitempty" jsonschema:"description=time of the event; absent: the time of the run"`               // RFC 3339; empty: that of the run
	Landed bool   `json:"landed,omitempty" jsonschema:"description=the commits were pushed; else they wait in a merge queue"` // by a push; else they wait in a merge queue
}

// Range returns the chosen commits as one range.
func (c Chosen) Range(ctx context.Context, repo *registry.Repository) (*registry.Range, error) {
	if c.Head == "" {
		return repo.TreeRange(ctx, c.Base, c.Tree)
	}
	return repo.Range(ctx, c.Base, c.Head)
}

// Filled returns an error if the ranges change nothing although the event says that files changed.
func (c Chosen) Filled(ranges ...*registry.Range) error {
	for _, r := range ranges {
		if c.ChangedFiles == 0 || len(r.Changes) > 0 {
			return nil
		}
	}
	return remedy.Errorf("check out the pull request as actions/checkout does by default, with fetch-depth: 0",
		"the range changes nothing, but the event counts changed files: these are not the pull request's commits "+
			"(base %s, head %s, %d changed files)", ranges[0].Base.Commit(), ranges[len(ranges)-1].Head.Commit(),
		c.ChangedFiles)
}
