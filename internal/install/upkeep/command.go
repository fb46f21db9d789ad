package upkeep

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/forge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// Limits of a rerun that a comment asks for.
const (
	maxAttempts = 10
	afterEnd    = 10 * time.Minute
	maxListed   = 3000 // files of a pull request that the forge lists
)

// Command plans to run the gate again for the pull request on which somebody commented /rerun. event is the payload of
// issue_comment. If it runs nothing, the plan says why. The error is a *forge.Error.
func Command(ctx context.Context, c *forge.Client, o RerunOptions, event any) (Plan, error) {
	text := func(path ...string) string { return fmt.Sprint(strict.Member(event, path...)) }
	no := func(format string, args ...any) (Plan, error) { return Plan{Looked: fmt.Sprintf(format, args...)}, nil }
	author, by := text("issue", "user", "id"), text("comment", "user", "id")
	number, err := strconv.Atoi(text("issue", "number"))
	switch {
	case err != nil || number <= 0 || strict.Member(event, "issue", "pull_request") == nil:
		return no("the comment is not on a pull request")
	case text("action") != "created" || text("comment", "body") != "/rerun":
		return no("the comment is not /rerun")
	case (strict.Member(event, "issue", "user", "id") == nil || author != by) && !slices.Contains(
		[]string{"OWNER", "MEMBER", "COLLABORATOR"}, text("comment", "author_association")):
		return no("the comment is neither by the author of the pull request nor by a member")
	}
	p, open, err := c.Pull(ctx, number)
	if err != nil {
		return Plan{}, err
	}
	files, err := c.Files(ctx, number)
	if err != nil {
		return Plan{}, err
	}
	if !open || len(files) >= maxListed || slices.ContainsFunc(files, func(f forge.ChangedFile) bool {
		return strings.HasPrefix(f.Name, ".github/") || strings.HasPrefix(f.Previous, ".github/")
	}) {
		return no("pull request %d is closed, or changes .github/ or %d files or more", number, maxListed)
	}
	runs, err := c.Runs(ctx, o.Workflow, p.Head.SHA, "pull_request")
	if err != nil {
		return Plan{}, err
	}
	moved, err := lastMoved(ctx, c, p.Base.Ref)
	if err != nil {
		return Plan{}, err
	}
	switch last := forge.NewestRun(runs); {
	case last == nil:
		return no("no run of %s has the head of pull request %d", o.Workflow, number)
	case last.Status != "completed" || !slices.Contains([]string{"failure", "cancelled", "timed_out"}, last.Conclusion):
		return no("the newest run has not ended, or has not failed")
	case o.Now.Sub(last.Updated) < afterEnd:
		return no("the newest run ended less than 10 minutes ago")
	case last.Attempt > maxAttempts:
		return no("the newest run was tried %d times, at most %d are repeated", last.Attempt, maxAttempts)
	case o.Now.Sub(last.Created) > maxRunAge:
		return no("the newest run is more than 28 days old: update the branch")
	case moved.After(last.Created):
		return no("the branch %s moved after the newest run, which would judge by its former tip: update the pull "+
			"request's branch", p.Base.Ref)
	default:
		return Plan{Changes: []Change{{Text: fmt.Sprintf("run the gate again for pull request %d", number),
			Method: http.MethodPost, Path: fmt.Sprintf("actions/runs/%d/rerun-failed-jobs", last.ID)}}}, nil
	}
}
