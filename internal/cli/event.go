package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/capped"
	"github.com/openagentprotocol-OAP/oap-gate/internal/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// chosen is what a run judges: commits, and how they came to be chosen.
type chosen struct {
	base, head string // commits; an empty head is the files on disk
	// sequence: each first-parent commit from base to head is judged as a pull request of its own.
	sequence bool
	// rewritten: base is no longer in the history of head.
	rewritten bool
	// workTree: head is HEAD, so that whoever runs it may take it for the files on disk.
	workTree bool
	how      string
	// landing is the event by which the sequence lands; nil: it does not.
	landing *checks.Landing
	// changedFiles is how many files the event counts; 0 where it does not say.
	changedFiles int
}

// span is what was chosen, where it is one range.
func (c chosen) span(ctx context.Context, repo *registry.Repository) (*registry.Range, error) {
	if c.head == "" {
		return repo.WorktreeRange(ctx, c.base)
	}
	return repo.Range(ctx, c.base, c.head)
}

// maxEvent is the size of an event file in bytes.
const maxEvent = 32 << 20

// knownEvents are the workflow events that name commits to judge.
const knownEvents = "pull_request, merge_group, push, and pull_request_target where it is acknowledged; schedule and " +
	"workflow_dispatch audit"

// choose finds base and head: from the flags, else from the workflow's event, else from the clone.
func (o *spanFlags) choose(ctx context.Context, repo *registry.Repository, getenv func(string) string) (chosen, error) {
	if o.base == "" && o.head == "" && !o.worktree && getenv("GITHUB_ACTIONS") == "true" {
		return o.fromEvent(ctx, repo, getenv("GITHUB_EVENT_NAME"), getenv("GITHUB_EVENT_PATH"))
	}
	base, how, err := o.baseOf(repo)
	if err != nil {
		return chosen{}, err
	}
	c := chosen{base: base}
	if o.worktree {
		c.how = fmt.Sprintf("base %s (%s), head the files on disk", base[:12], how)
		return c, nil
	}
	rev := cmp.Or(o.head, "HEAD")
	c.workTree = rev == "HEAD"
	if c.head, err = repo.Resolve(rev); err != nil {
		return c, err
	}
	c.how = fmt.Sprintf("base %s (%s), head %s (%s)", base[:12], how, c.head[:12], rev)
	return c, nil
}

// baseOf resolves --base, or the branch of the registry's own remote: in a clone of a fork that is upstream, since
// the fork's main may hold the proposal. An upstream that was not fetched is an error, since origin then is the fork.
func (o *spanFlags) baseOf(repo *registry.Repository) (commit, how string, err error) {
	if o.base != "" {
		commit, err = repo.Resolve(o.base)
		return commit, o.base, err
	}
	for _, name := range []string{"upstream/HEAD", "upstream/main", "origin/HEAD", "origin/main", "main"} {
		ref := "refs/heads/" + name
		if remote, _, ok := strings.Cut(name, "/"); ok {
			ref = "refs/remotes/" + name
			if remote == "origin" && repo.HasRemote("upstream") {
				return "", "", usagef("fetch it: git fetch upstream; or name the base with --base",
					"no base: the clone has the remote upstream, and neither upstream/HEAD nor upstream/main was "+
						"fetched")
			}
		}
		if repo.HasRef(ref) {
			commit, err = repo.Resolve(ref)
			return commit, name, err
		}
	}
	if _, err := repo.Resolve("HEAD"); err != nil {
		return "", "", err
	}
	return "", "", usagef("name it with --base", "no base: the clone has neither origin/HEAD nor origin/main nor main")
}

func (o *spanFlags) fromEvent(ctx context.Context, repo *registry.Repository, name, path string) (chosen, error) {
	if err := o.admit(name); err != nil {
		return chosen{}, err
	}
	event, err := readEvent(path)
	if err != nil {
		return chosen{}, withFix(fmt.Errorf("GITHUB_EVENT_PATH: %w", err),
			"run it in a workflow, or give --base and --head")
	}
	switch name {
	case "merge_group":
		return fromMergeGroup(ctx, repo, event)
	case "push":
		return fromPush(ctx, repo, event)
	}
	return fromPullRequest(ctx, repo, event, o.specification)
}

// readEvent reads the payload of a workflow's event.
func readEvent(path string) (any, error) {
	data, err := readCapped(path, maxEvent)
	if err != nil {
		return nil, fmt.Errorf("reading the event file: %w", err)
	}
	doc, err := strict.Parse(path, data, strict.Limits{Bytes: maxEvent, Depth: 200, Number: 400})
	if err != nil {
		return nil, fmt.Errorf("reading the event file: %w", err)
	}
	return doc.Root, nil
}

// admit refuses an event that names no range, or whose rights nobody answered for.
func (o *spanFlags) admit(event string) error {
	switch {
	case event == "pull_request_review" && o.specification:
		return nil
	case event == "pull_request", event == "merge_group", event == "push", event == "pull_request_target" &&
		o.allowTarget:
		return nil
	case event == "pull_request_target":
		return usagef("use the event pull_request, or set allow-pull-request-target after making sure that nothing of "+
			"the pull request is run",
			"the event pull_request_target runs with the base repository's rights")
	case slices.Contains(audits, event):
		return usagef("run oap-gate audit in this workflow", "the event %s names no range to check", event)
	}
	return usagef("the events are "+knownEvents, "the event %q names no range to check", event)
}

// readCapped reads a file of at most so many bytes, whatever it is. See capped.ReadFile.
func readCapped(path string, most int64) ([]byte, error) {
	data, err := capped.ReadFile(path, most)
	if errors.Is(err, capped.ErrTooLarge) {
		err = fmt.Errorf("it has more than %d bytes, which is the most that is read", most)
	}
	return data, err
}

// fromPullRequest takes the merge commit that GitHub made of the pull request where that is checked out,
// else the pull request's head against the base branch as the clone has it. The event's own base.sha is
// stale and is not used.
func fromPullRequest(ctx context.Context, repo *registry.Repository, event any, anyBranch bool) (chosen, error) {
	sha, ref := strict.String(event, "pull_request", "head", "sha"), strict.String(event, "pull_request", "base", "ref")
	if sha == "" || ref == "" {
		return chosen{},
			usagef("run it in a workflow", "the event has pull_request.head.sha %q and pull_request.base.ref %q", sha,
				ref)
	}
	// A check stands at the head's commit: one that passes against an old branch would count where the same commit is
	// proposed to the default branch.
	if main := strict.String(event, "repository", "default_branch"); main != "" && main != ref && !anyBranch {
		return chosen{},
			usagef(fmt.Sprintf("propose it to %q; a workflow with branches: [%s] on pull_request does not start for "+
				"other branches", main, main),
				"the pull request goes to the branch %q, and the registry is the default branch %q", ref, main)
	}
	c := chosen{changedFiles: count(strict.Member(event, "pull_request", "changed_files"))}
	head, err := repo.Resolve("HEAD")
	if err != nil {
		return c, err
	}
	commit, err := repo.Commit(ctx, head)
	if err != nil {
		return c, err
	}
	c.head = head
	remote := "refs/remotes/origin/" + ref
	if len(commit.Parents) == 2 && commit.Parents[1] == sha {
		c.base = commit.Parents[0]
		if err := onBranch(ctx, repo, c.base, ref, remote); err != nil {
			return c, err
		}
		c.how = fmt.Sprintf("base %s (first parent of the merge commit), head %s (the pull request merged)",
			c.base[:12], head[:12])
		return c, nil
	}
	if head == sha && repo.HasRef(remote) {
		c.base, err = repo.Resolve(remote)
		c.how = fmt.Sprintf("base %s (origin/%s), head %s (the pull request's head)", short(c.base), ref, head[:12])
		return c, err
	}
	if head == sha {
		return c, usagef("set fetch-depth: 0 on actions/checkout",
			"the pull request's head %s is checked out, but the base branch %q is not in the clone", sha, remote)
	}
	return c, usagef("check out the pull request as actions/checkout does by default, with fetch-depth: 0",
		"HEAD is %s, which is neither the merge of the pull request's head %s nor that head itself", head, sha)
}

// onBranch holds that the merge commit is the forge's, where the clone has the base branch: anybody can push a
// merge of his own, whose first parent would be a judge of his choice.
func onBranch(ctx context.Context, repo *registry.Repository, base, ref, remote string) error {
	if !repo.HasRef(remote) {
		return nil
	}
	on, err := repo.IsAncestor(ctx, base, remote)
	if err != nil || on {
		return err
	}
	return usagef("check out the pull request as actions/checkout does by default, with fetch-depth: 0",
		"the merge commit's first parent %s is not on origin/%s, so the forge did not make it, or origin/%s is stale",
		base, ref, ref)
}

func fromMergeGroup(ctx context.Context, repo *registry.Repository, event any) (chosen, error) {
	base, head := strict.String(event, "merge_group", "base_sha"), strict.String(event, "merge_group", "head_sha")
	if base == "" || head == "" {
		return chosen{},
			usagef("run it in a workflow", "the event has merge_group.base_sha %q and merge_group.head_sha %q", base,
				head)
	}
	c, err := sequence(repo, base, head, "merge_group")
	c.landing = &checks.Landing{At: pushedAt(event)}
	if err == nil {
		_, err = repo.FirstParents(ctx, c.base, c.head) // a queue's branch is never rewritten
	}
	return c, err
}

func fromPush(ctx context.Context, repo *registry.Repository, event any) (chosen, error) {
	before, after := strict.String(event, "before"), strict.String(event, "after")
	if before == "" || after == "" {
		return chosen{}, usagef("run it in a workflow", "the event has before %q and after %q", before, after)
	}
	first := strings.Trim(before, "0") == ""
	if _, err := repo.Resolve(before); !first && !errors.Is(err, gitstore.ErrNotFound) {
		c, err := sequence(repo, before, after, "push")
		c.landing = &checks.Landing{At: pushedAt(event), Landed: true}
		return c, err
	}
	chain, err := repo.FirstParents(ctx, "", after)
	if err != nil {
		return chosen{}, err
	}
	if !first {
		// The clone has the whole history of what was pushed, and the commit before is not there.
		return chosen{base: before, head: after, rewritten: true,
			how: fmt.Sprintf("base %s (not in the clone), head %s (push)", short(before), short(after))}, nil
	}
	return chosen{base: chain[0], head: after, sequence: true,
		how: fmt.Sprintf("base %s (first commit of a branch pushed for the first time), head %s (push)",
			short(chain[0]), short(after))}, nil
}

// pushedAt is the time of the event, repository.pushed_at: a number of seconds in a push, a text in other events; zero
// where there is none. The event of a workflow that is run again is that of its first run.
func pushedAt(event any) time.Time {
	switch v := strict.Member(event, "repository", "pushed_at").(type) {
	case nil:
	case string:
		if t, err := time.Parse(time.RFC3339, v); err == nil {
			return t.UTC()
		}
	default:
		if n, err := strconv.ParseInt(fmt.Sprint(v), 10, 64); err == nil && n > 0 {
			return time.Unix(n, 0).UTC()
		}
	}
	return time.Time{}
}

func sequence(repo *registry.Repository, base, head, event string) (chosen, error) {
	c := chosen{sequence: true}
	var err error
	if c.base, err = repo.Resolve(base); err != nil {
		return c, err
	}
	if c.head, err = repo.Resolve(head); err != nil {
		return c, err
	}
	c.how = fmt.Sprintf("base %s, head %s (%s), each first-parent commit judged by itself", short(c.base),
		short(c.head), event)
	return c, nil
}

func count(v any) int {
	n := 0
	_, _ = fmt.Sscan(fmt.Sprint(v), &n)
	return n
}

func short(commit string) string { return commit[:min(len(commit), 12)] }
