package upkeep

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge/sticky"
)

// What one head may cost. The time in a comment may be a fork's: it is a hint, and no more than these come of it.
const (
	maxReruns   = 5
	betweenRuns = 12 * time.Hour
	maxRunAge   = 28 * 24 * time.Hour // the forge runs again what is at most 30 days old
)

// RerunOptions are what Rerun needs in addition to the forge.
type RerunOptions struct {
	Now      time.Time
	Workflow string // path of the gate's workflow on the default branch
	Branch   string // default branch; empty: as the forge has it
	App      int64  // id of the app whose token it is, if any
}

// Rerun plans to run the gate again for each open pull request whose comment says that it may pass by now, and to say
// in the comment where that would judge by an old base. The error is a *forge.Error.
func Rerun(ctx context.Context, c *forge.Client, o RerunOptions) (Plan, error) {
	writer, err := c.Writer(ctx, o.App)
	if err != nil {
		return Plan{}, err
	}
	if o.Branch == "" {
		if o.Branch, err = c.DefaultBranch(ctx); err != nil {
			return Plan{}, err
		}
	}
	moved, err := lastMoved(ctx, c, o.Branch)
	if err != nil {
		return Plan{}, err
	}
	var plan []Change
	looked := 0
	for p, err := range c.OpenPulls(ctx) {
		if err != nil {
			return Plan{}, err
		}
		if p.Base.Ref != o.Branch {
			continue
		}
		looked++
		change, err := rerunOf(ctx, c, o, writer, moved, p)
		switch {
		case errors.Is(err, forge.ErrNotFound), errors.Is(err, forge.ErrRefused), errors.Is(err, forge.ErrEndless):
			continue // what is wrong with one pull request keeps no other from being run again
		case err != nil:
			return Plan{}, err
		}
		if change != nil && !slices.ContainsFunc(plan, func(c Change) bool { return c.Path == change.Path }) {
			plan = append(plan, *change)
		}
	}
	return Plan{plan, fmt.Sprintf("%s to %s", plain.Count(looked, "open pull request"), o.Branch)}, nil
}

// lastMoved returns the date of the branch's tip.
func lastMoved(ctx context.Context, c *forge.Client, branch string) (time.Time, error) {
	var tip struct {
		Commit struct {
			Commit struct {
				Committer struct {
					Date time.Time `json:"date"`
				} `json:"committer"`
			} `json:"commit"`
		} `json:"commit"`
	}
	op := "reading the branch " + branch
	_, err := c.Call(ctx, op, http.MethodGet, "branches/"+url.PathEscape(branch), nil, &tip)
	if err == nil && tip.Commit.Commit.Committer.Date.IsZero() { // no run would be older
		err = &forge.Error{Op: op, Kind: forge.ErrUnavailable, Err: errors.New("the answer names no date")}
	}
	return tip.Commit.Commit.Committer.Date, err
}

// rerunOf returns what to do for one pull request, or nil.
func rerunOf(ctx context.Context, c *forge.Client, o RerunOptions, writer forge.Writer, moved time.Time,
	p forge.PullRequest) (*Change, error) {
	own, err := sticky.Newest(ctx, c, writer, p.Number)
	if err != nil || own == nil {
		return nil, err
	}
	retry, ok := sticky.ParseRetry(own.Body)
	if !ok || retry.Head != p.Head.SHA || retry.At.After(o.Now) || o.Now.Sub(retry.At) > sticky.MaxAway {
		return nil, nil
	}
	all, err := c.Runs(ctx, o.Workflow, p.Head.SHA, "pull_request")
	last := forge.NewestRun(all)
	if err != nil || last == nil {
		return nil, err
	}
	if last.Status != "completed" || last.Conclusion != "failure" {
		return nil, nil // it passed, or still runs, or waits for somebody's approval
	}
	if moved.After(last.Created) || o.Now.Sub(last.Created) > maxRunAge {
		return outdated(p, own), nil
	}
	again := 0
	for _, r := range all {
		if again += max(r.Attempt-1, 0); r.Attempt > 1 && o.Now.Sub(r.Started) < betweenRuns {
			return nil, nil
		}
	}
	if again >= maxReruns {
		return nil, nil
	}
	return &Change{Text: fmt.Sprintf("run the gate again for pull request %d: it may pass since %s", p.Number,
		date(retry.At)),
		Method: http.MethodPost, Path: fmt.Sprintf("actions/runs/%d/rerun-failed-jobs", last.ID)}, nil
}

// outdated says in the comment that somebody has to update the branch; nil where it says so already. It takes the retry
// away, so that nothing waits for it any more.
func outdated(p forge.PullRequest, own *sticky.Posted) *Change {
	text := sticky.Outdated(own.Body)
	if text == own.Body {
		return nil
	}
	return &Change{Text: fmt.Sprintf("say in pull request %d that its branch has to be updated", p.Number),
		Method: http.MethodPatch, Path: fmt.Sprintf("issues/comments/%d", own.ID), Body: map[string]any{"body": text}}
}
