package frame

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/choose"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// knownEvents are the workflow events that name commits to judge.
const knownEvents = "pull_request, merge_group, push, and pull_request_target where it is acknowledged; schedule and " +
	"workflow_dispatch audit"

// Choose finds base and head: from the flags, else from the workflow's event, else from the clone.
func (o *Span) Choose(ctx context.Context, repo *registry.Repository) (choose.Chosen, error) {
	// Each object is compared with its id, so these directories do not change what is judged.
	if err := repo.AddObjects(objectDirectories(o.sys)...); err != nil {
		return choose.Chosen{}, err
	}
	event := o.base == "" && o.head == "" && !o.Worktree && !o.staged && o.sys.Getenv("GITHUB_ACTIONS") == "true"
	if !o.Each {
		return o.chooseRange(ctx, repo, event)
	}
	if isZeros(o.head) {
		return choose.Chosen{}, remedy.Errorf("leave the deletion of a branch out of the hook",
			"--head is all zeros: the branch is deleted, and there is no commit to judge")
	}
	if (o.base == "" || isZeros(o.base)) && !event {
		rev := cmp.Or(o.head, "HEAD")
		head, err := repo.Resolve(rev)
		return choose.Chosen{Head: head, Sequence: true,
			How: fmt.Sprintf("head %s (%s), each first-parent commit from the root on judged by itself",
				plain.Short(head), rev)}, err
	}
	c, err := o.chooseRange(ctx, repo, event)
	if err == nil && !c.Rewritten && !c.Sequence {
		c.Sequence = true
		c.How += ", each first-parent commit judged by itself"
		if !o.specification {
			c.Landing = &choose.LandingFlags{}
		}
	}
	return c, err
}

// objectDirectories returns the object directories that the environment names. In a hook of a server they have the
// pushed objects, which have not landed.
func objectDirectories(sys IO) (dirs []string) {
	if own := sys.Getenv("GIT_OBJECT_DIRECTORY"); own != "" {
		dirs = append(dirs, own)
	}
	for rest := sys.Getenv("GIT_ALTERNATE_OBJECT_DIRECTORIES"); rest != ""; {
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil || rest[0] != '"' {
			quoted, _, _ = strings.Cut(rest, string(filepath.ListSeparator))
		}
		rest = strings.TrimPrefix(rest[len(quoted):], string(filepath.ListSeparator))
		if dir, err := strconv.Unquote(quoted); err == nil {
			quoted = dir
		}
		if quoted != "" {
			dirs = append(dirs, quoted)
		}
	}
	return dirs
}

// chooseRange finds base and head without regard to --each, of the event where that is asked for.
func (o *Span) chooseRange(ctx context.Context, repo *registry.Repository, event bool) (choose.Chosen, error) {
	if event {
		return o.fromEvent(ctx, repo, o.sys.Getenv("GITHUB_EVENT_NAME"), o.sys.Getenv("GITHUB_EVENT_PATH"))
	}
	if !o.Worktree && !o.staged {
		return choose.Range(repo, o.base, o.head)
	}
	base, how, err := choose.Base(repo, o.base)
	if err != nil {
		return choose.Chosen{}, err
	}
	head := "the files on disk"
	if o.staged {
		head = "the index"
	}
	how = fmt.Sprintf("base %s (%s), head %s", plain.Short(base), how, head)
	return choose.Chosen{Base: base, Staged: o.staged, How: how}, nil
}

func (o *Span) fromEvent(ctx context.Context, repo *registry.Repository, name, path string) (choose.Chosen, error) {
	if err := o.admit(name); err != nil {
		return choose.Chosen{}, err
	}
	event, err := forge.ReadEvent(path)
	if err != nil {
		return choose.Chosen{}, remedy.With(fmt.Errorf("GITHUB_EVENT_PATH: %w", err),
			"give --base and --head")
	}
	switch name {
	case "merge_group":
		return fromMergeGroup(ctx, repo, event, o.specification)
	case "push":
		return fromPush(ctx, repo, event, o.specification)
	}
	return fromPullRequest(ctx, repo, event, o.specification)
}

// admit refuses an event that names no range, or whose rights nobody answered for.
func (o *Span) admit(event string) error {
	switch {
	case event == "pull_request_review" && o.specification:
		return nil
	case event == "pull_request", event == "merge_group", event == "push", event == "pull_request_target" &&
		o.allowTarget:
		return nil
	case event == "pull_request_target":
		return remedy.Errorf(
			"use the event pull_request, or set allow-pull-request-target after making sure that nothing of "+
				"the pull request is run", "the event pull_request_target runs with the base repository's rights")
	case slices.Contains(forge.AuditEvents, event):
		return remedy.Errorf("run oap-gate audit in this workflow", "the event %s names no range to check", event)
	}
	return remedy.Errorf("the events are "+knownEvents, "the event %q names no range to check", event)
}

// fromPullRequest takes the merge commit that GitHub made of the pull request where that is checked out,
// else the pull request's head against the base branch as the clone has it. The event's own base.sha is
// stale and is not used.
func fromPullRequest(ctx context.Context, repo *registry.Repository, event any, anyBranch bool) (choose.Chosen,
	error) {
	sha, ref := strict.String(event, "pull_request", "head", "sha"), strict.String(event, "pull_request", "base", "ref")
	if sha == "" || ref == "" {
		return choose.Chosen{}, remedy.Errorf("give --base and --head",
			"the event has pull_request.head.sha %q and pull_request.base.ref %q", sha, ref)
	}
	err := onDefault(event, anyBranch, ref, func(main string) error {
		return remedy.Errorf(fmt.Sprintf(
			"propose it to %q; a workflow with branches: [%s] on pull_request does not start for other branches", main,
			main), "the pull request goes to the branch %q, and the registry is the default branch %q", ref, main)
	})
	if err != nil {
		return choose.Chosen{}, err
	}
	c := choose.Chosen{ChangedFiles: strict.Int(event, "pull_request", "changed_files")}
	head, err := repo.Resolve("HEAD")
	if err != nil {
		return c, err
	}
	commit, err := repo.Commit(ctx, head)
	if err != nil {
		return c, err
	}
	c.Head = head
	remote := "refs/remotes/origin/" + ref
	if len(commit.Parents) == 2 && commit.Parents[1] == sha {
		c.Base = commit.Parents[0]
		if err := onBranch(ctx, repo, c.Base, ref, remote); err != nil {
			return c, err
		}
		c.How = fmt.Sprintf("base %s (first parent of the merge commit), head %s (the pull request merged)",
			c.Base[:12], head[:12])
		return c, nil
	}
	if head == sha && repo.Store().HasRef(remote) {
		c.Base, err = repo.Resolve(remote)
		c.How = fmt.Sprintf("base %s (origin/%s), head %s (the pull request's head)", plain.Short(c.Base), ref,
			head[:12])
		return c, err
	}
	if head == sha {
		return c, remedy.Errorf("set fetch-depth: 0 on actions/checkout",
			"the pull request's head %s is checked out, but the base branch %q is not in the clone", sha, remote)
	}
	return c, remedy.Errorf("check out the pull request as actions/checkout does by default, with fetch-depth: 0",
		"HEAD is %s, which is neither the merge of the pull request's head %s nor that head itself", head, sha)
}

// onBranch checks that the merge commit is the forge's, if the clone has the base branch: anybody can push a merge
// whose first parent would be a judge of their choice.
func onBranch(ctx context.Context, repo *registry.Repository, base, ref, remote string) error {
	if !repo.Store().HasRef(remote) {
		return nil
	}
	on, err := repo.IsAncestor(ctx, base, remote)
	if err != nil || on {
		return err
	}
	return remedy.Errorf("check out the pull request as actions/checkout does by default, with fetch-depth: 0",
		"the merge commit's first parent %s is not on origin/%s, so the forge did not make it, or origin/%s is stale",
		base, ref, ref)
}

// onDefault refuses, with the error of other, an event of another branch than the default branch. A check belongs to a
// commit: one that passes against another branch would count when the same commit is proposed to the default branch. A
// specification has any branch judged.
func onDefault(event any, anyBranch bool, branch string, other func(main string) error) error {
	if anyBranch {
		return nil
	}
	main := strict.String(event, "repository", "default_branch")
	if main == "" {
		return remedy.Errorf("give --base and --head",
			"the event has no repository.default_branch, and the registry is the default branch")
	}
	if branch != main {
		return other(main)
	}
	return nil
}

// fromMergeGroup takes the entry of a merge queue. If the entry was made on top of one that has not landed, base_sha is
// that one, and may have failed: the queue would land it with the entry. So the base is a commit that has landed.
func fromMergeGroup(ctx context.Context, repo *registry.Repository, event any, anyBranch bool) (choose.Chosen,
	error) {
	group := func(member string) string { return strict.String(event, "merge_group", member) }
	base, head, ref := group("base_sha"), group("head_sha"), group("base_ref")
	branch, isBranch := strings.CutPrefix(ref, "refs/heads/")
	if base == "" || head == "" || !isBranch {
		return choose.Chosen{}, remedy.Errorf("give --base and --head", "merge_group has base_sha %q, head_sha %q and "+
			"base_ref %q in the event; expected two commits and refs/heads/BRANCH", base, head, ref)
	}
	err := onDefault(event, anyBranch, branch, func(main string) error {
		return remedy.Errorf(fmt.Sprintf("queue it for %q", main),
			"the merge queue merges into the branch %q, and the registry is the default branch %q", ref, main)
	})
	if err != nil {
		return choose.Chosen{}, err
	}
	remote := "refs/remotes/origin/" + branch
	if !repo.Store().HasRef(remote) {
		return choose.Chosen{}, remedy.Errorf(
			fmt.Sprintf("git fetch origin %s, or set fetch-depth: 0 on actions/checkout",
				plain.ShellWord("+"+ref+":"+remote)),
			"the base branch %q of the merge queue is not in the clone", remote)
	}
	from := base
	_, err = repo.FirstParents(ctx, base, remote)
	switch {
	case errors.Is(err, registry.ErrNotAncestor), errors.Is(err, gitstore.ErrNotFound):
		from = remote
	case err != nil:
		return choose.Chosen{}, err
	}
	c, err := sequence(repo, from, head, "merge_group")
	c.Landing = &choose.LandingFlags{At: pushedAt(event)}
	if err == nil {
		_, err = repo.FirstParents(ctx, c.Base, c.Head) // a queue's branch is never rewritten
	}
	return c, err
}

func fromPush(ctx context.Context, repo *registry.Repository, event any, anyBranch bool) (choose.Chosen, error) {
	before, after := strict.String(event, "before"), strict.String(event, "after")
	if before == "" || after == "" {
		return choose.Chosen{}, remedy.Errorf("give --base and --head", "the event has before %q and after %q", before,
			after)
	}
	ref := strict.String(event, "ref")
	branch, isBranch := strings.CutPrefix(ref, "refs/heads/")
	if !isBranch {
		branch = "" // of no branch's name
	}
	fix := func(branches string) string { return fmt.Sprintf("branches: [%s] below on: push", branches) }
	err := onDefault(event, anyBranch, branch, func(main string) error {
		return remedy.Errorf(fix(main), "the push goes to %q, and the registry is the default branch %q", ref, main)
	})
	if anyBranch {
		branch = "'**'"
	}
	switch {
	case err != nil:
		return choose.Chosen{}, err
	case !isBranch:
		return choose.Chosen{}, remedy.Errorf(fix(branch), "the push goes to %q, which is not a branch", ref)
	case isZeros(after):
		return choose.Chosen{}, remedy.Errorf(fix(branch), "the push deletes %q, so there is no commit to judge", ref)
	}
	first := isZeros(before)
	if _, err := repo.Resolve(before); !first && !errors.Is(err, gitstore.ErrNotFound) {
		c, err := sequence(repo, before, after, "push")
		c.Landing = &choose.LandingFlags{At: pushedAt(event), Landed: true}
		return c, err
	}
	chain, err := repo.FirstParents(ctx, "", after)
	if err != nil {
		return choose.Chosen{}, err
	}
	if !first {
		// The clone has the whole history of what was pushed, and the commit before is not there.
		return choose.Chosen{Base: before, Head: after, Rewritten: true, How: fmt.Sprintf(
			"base %s (not in the clone), head %s (push)", plain.Short(before), plain.Short(after))}, nil
	}
	return choose.Chosen{Head: after, Sequence: true,
		How: fmt.Sprintf("base %s (first commit of a branch pushed for the first time), head %s (push)",
			plain.Short(chain[0]), plain.Short(after))}, nil
}

// isZeros reports whether an id is the one by which Git says that there is no commit.
func isZeros(id string) bool { return len(id) >= 40 && strings.Trim(id, "0") == "" }

// pushedAt returns the time of the event, repository.pushed_at: a number of seconds in a push, a text in other events,
// or "". If a workflow is run again, its event is that of the first run.
func pushedAt(event any) string {
	switch v := strict.Member(event, "repository", "pushed_at").(type) {
	case string:
		if t, err := time.Parse(time.RFC3339, v); err == nil && !t.IsZero() {
			return t.UTC().Format(time.RFC3339)
		}
	default:
		if n, err := strconv.ParseInt(fmt.Sprint(v), 10, 64); err == nil && n > 0 {
			return time.Unix(n, 0).UTC().Format(time.RFC3339)
		}
	}
	return ""
}

func sequence(repo *registry.Repository, base, head, event string) (c choose.Chosen, err error) {
	c.Sequence = true
	if c.Base, err = repo.Resolve(base); err != nil {
		return c, err
	}
	if c.Head, err = repo.Resolve(head); err != nil {
		return c, err
	}
	c.How = fmt.Sprintf("base %s, head %s (%s), each first-parent commit judged by itself", plain.Short(c.Base),
		plain.Short(c.Head), event)
	return c, nil
}
