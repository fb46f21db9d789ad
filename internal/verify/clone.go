package verify

import (
	"context"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// Clone is a clone of the registry at one commit.
type Clone struct {
	Repo   *registry.Repository
	Commit string
	Chosen string // how the commit was chosen
	// Changed is the commit's date. Fetched is when the clone last saw the commit as the registry's head, or zero if it
	// does not show that. For a mirror it is the last run at which the mirror verified the commit and the origin served
	// it.
	Changed, Fetched time.Time
	Mirror           bool     // the clone is a mirror's, whose age is only Fetched
	Fetch            []string // arguments of the git fetch that brings the clone up to date; nil: none is known
	Refused          []string // paths of records that a mirror refused
	Frozen           string   // why the mirror shows nothing newer than Fetched; empty: it does not
}

// When returns the time of what the clone shows, zero if no time counts: one that is ahead of now does not.
func (c *Clone) When(now time.Time) time.Time {
	var newest time.Time
	times := []time.Time{c.Fetched, c.Changed}
	if c.Mirror {
		times = times[:1]
	}
	for _, t := range times {
		if t.After(newest) && !t.After(now.Add(checks.Skew)) {
			newest = t
		}
	}
	return newest
}

// update says how the clone is brought up to date.
func (c *Clone) update() string {
	switch {
	case c.Mirror:
		return "run oap-gate mirror for this directory, and read its last line"
	case len(c.Fetch) == 0:
		return "name a clone that follows the registry, and fetch it"
	}
	words := []string{"git", "fetch"}
	for _, arg := range c.Fetch {
		words = append(words, plain.ShellWord(arg))
	}
	return "update the clone: " + strings.Join(words, " ")
}

// Stand reads what the clone holds.
func (c *Clone) Stand(ctx context.Context) (*checks.Standing, error) {
	tree, err := c.Repo.Tree(ctx, c.Commit)
	if err != nil {
		return nil, err
	}
	st, err := checks.NewStanding(ctx, tree, func(string) bool { return true })
	if err != nil {
		return nil, err
	}
	st.Refuse(c.Refused)
	return st, nil
}
