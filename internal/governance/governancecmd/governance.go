// Package governancecmd has the command governance.
package governancecmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/typed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/choose"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/governance"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// governanceOptions are the flags of governance.
type governanceOptions struct {
	frame.Span
	frame.Checks
	forge frame.Forge
	frame.Output
	ask               bool
	pr, body, reviews string
	labels            []string
}

func (o *governanceOptions) bind(c *cobra.Command, sys frame.IO) {
	f := c.Flags()
	o.Span.Bind(c, sys, true)
	o.Checks.Bind(c, verdict.IDs(governance.Rules()), nil, nil)
	o.forge.Bind(c)
	o.Output.Judges(governance.Rules(), func(string, string) *verdict.Report { return o.report("") }, nil)
	o.Output.Bind(c, sys, true)
	f.StringVar(&o.pr, "pr", "", "event `FILE` with the pull request (default: GITHUB_EVENT_PATH)")
	f.StringVar(&o.body, "body", "", "`FILE` with the pull request's body, for a draft")
	f.StringVar(&o.reviews, "reviews", "", "`FILE` with the forge's list of reviews, one JSON array")
	f.StringArrayVar(&o.labels, "label", nil, "`LABEL` of the pull request (repeatable)")
	f.BoolVar(&o.ask, "forge", false, "ask the forge; it knows reviews, authors and the labels of issues")
	f.Func("exception", "`EFFECT` of a claimed exception", func(string) error {
		return remedy.Errorf("leave out --exception", "decides nothing: two thirds of the Maintainers grant an "+
			"exception; see docs/governance.md")
	})
	_ = f.MarkHidden("exception")
	o.forge.BindAt(c.Flags())
	f.BoolVar(&o.forge.Offline, "offline", false, "no network")
	_ = f.MarkHidden("offline") // nobody is asked without --forge; the Action has the input
}

// check refuses what no run could use.
func (o *governanceOptions) check(c *cobra.Command) error {
	return typed.First(
		func() error { return o.Checks.Check(false) },
		o.Span.Check,
		func() error { return o.checkEach(c) },
		o.forge.Check,
	)
}

// checkEach refuses what says something of one pull request where each commit is one.
func (o *governanceOptions) checkEach(c *cobra.Command) error {
	for _, name := range []string{"pr", "body", "reviews", "label", "forge"} {
		if o.Each && c.Flags().Changed(name) {
			return remedy.Errorf("leave out one of them",
				"--each judges every commit by itself, and --%s is about one pull request", name)
		}
	}
	return nil
}

func New(sys frame.IO) *cobra.Command {
	var o governanceOptions
	c := &cobra.Command{
		Use:   "governance",
		Short: "check a specification change against the gates of RFC 0019",
		Long: strings.TrimSpace(`
governance judges what base..head would do to the specification's repository (RFC 0019 sections 3 to
5): a normative change comes with a test or with code, a published schema keeps its meaning, and what
touches user rights has the stricter quorum. The base tree is the judge. Nothing of either tree is run.`),
		Example: `  oap-spec governance                              HEAD against the main branch
  oap-spec governance --worktree --body draft.md   files on disk, an unsent body
  oap-spec governance --each                       every commit of the history
  GITHUB_TOKEN=… oap-spec governance --pr event.json --forge`,
		Args: frame.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.Tell(func() (*verdict.Report, error) {
				if err := o.check(cmd); err != nil {
					return nil, err
				}
				rep, err := o.judge(cmd.Context(), sys)
				return rep, remedy.With(err, "oap-spec governance --help shows the usage")
			})
		},
	}
	o.bind(c, sys)
	return c
}

// report returns a report without results.
func (o *governanceOptions) report(chosen string) *verdict.Report {
	assumed := append([]string{}, o.Selection.Assumed()...)
	for _, f := range []struct{ name, value string }{{"--body", o.body}, {"--pr", o.pr}, {"--reviews", o.reviews}} {
		if f.value != "" {
			assumed = append(assumed, f.name+" "+f.value)
		}
	}
	for _, l := range o.labels {
		assumed = append(assumed, "--label "+l)
	}
	slices.Sort(assumed)
	rep := &verdict.Report{Version: 1, Tool: frame.Version(), Mode: "governance", EvaluatedAt: o.forge.Now(),
		Chosen: chosen, Assumed: o.forge.Assumed(assumed...), Evidence: []verdict.Evidence{}}
	for _, r := range governance.Rules() {
		if !o.Selected(r.ID) {
			rep.NotRun = append(rep.NotRun, r.ID)
		}
	}
	return rep
}

func (o *governanceOptions) judge(ctx context.Context, sys frame.IO) (*verdict.Report, error) {
	repo, err := frame.OpenClone(sys, o.Repo)
	if err != nil {
		return nil, err
	}
	defer repo.Close()
	c, err := o.Choose(ctx, repo)
	if err != nil {
		return nil, err
	}
	remove, err := frame.NextCommit(ctx, repo, &c)
	defer remove()
	if err != nil {
		return nil, err
	}
	if c.Rewritten {
		return nil, remedy.Errorf("fetch it, or name another base with --base", "base %s is not in the clone", c.Base)
	}
	rep := o.report(c.How)
	rep.Base, rep.Head = c.Base, c.Head
	if c.Sequence {
		err = o.judgeEach(ctx, repo, c, rep)
	} else {
		err = o.judgeRange(ctx, sys, repo, c, rep)
	}
	if err != nil {
		return nil, err
	}
	rep.Settle(governance.Rules())
	return rep, nil
}

// judgeEach judges the first-parent commits of head that base does not reach, each with its message for a body.
func (o *governanceOptions) judgeEach(ctx context.Context, repo *registry.Repository, c choose.Chosen,
	rep *verdict.Report) error {
	head, err := repo.Tree(ctx, c.Head)
	if err != nil {
		return err
	}
	base := repo.EmptyTree()
	from := ""
	if c.Base != "" {
		if base, err = repo.Tree(ctx, c.Base); err != nil {
			return err
		}
		if from, err = fork(ctx, repo, c.Base, c.Head); err != nil {
			return err
		}
	}
	if err := governance.HasSpecification(base, head); err != nil {
		return err
	}
	texts := &governance.Texts{}
	return repo.Steps(ctx, from, c.Head, func(s *registry.Step) error {
		rep.Counts.Records++
		object, err := repo.CommitObject(s.Commit.ID)
		if err != nil {
			return err
		}
		rep.Commits = append(rep.Commits, verdict.NewCommit(s.Commit.ID, object.When, object.Message))
		p, err := governance.NewStep(s, texts)
		if err != nil {
			return fmt.Errorf("judging commit %s: %w", s.Commit.ID, err)
		}
		if p.Words, err = governance.NewWords("the commit's message", string(object.Message)); err != nil {
			return fmt.Errorf("judging commit %s: %w", s.Commit.ID, err)
		}
		return o.add(rep, p)
	})
}

// fork returns the newest first-parent commit of head that is base or an ancestor of it, or "".
func fork(ctx context.Context, repo *registry.Repository, base, head string) (string, error) {
	chain, err := repo.FirstParents(ctx, "", head)
	if err != nil {
		return "", err
	}
	ahead := sort.Search(len(chain), func(i int) bool {
		reached, e := repo.IsAncestor(ctx, chain[i], base)
		err = errors.Join(err, e)
		return !reached
	})
	if ahead == 0 || err != nil {
		return "", err
	}
	return chain[ahead-1], nil
}

func (o *governanceOptions) judgeRange(ctx context.Context, sys frame.IO, repo *registry.Repository, c choose.Chosen,
	rep *verdict.Report) error {
	r, err := c.Range(ctx, repo)
	if err != nil {
		return err
	}
	if len(r.MergeBases) > 0 {
		rep.MergeBase = r.MergeBases[0]
	}
	p, err := governance.NewRange(ctx, repo, r, &governance.Texts{})
	if err != nil {
		return err
	}
	pull, err := o.pullRequest(ctx, sys, repo, p)
	if err != nil {
		return err
	}
	if err := c.Filled(r); err != nil || len(r.Changes) == 0 {
		return err
	}
	if err := o.ofForge(ctx, sys, p, pull); err != nil {
		return err
	}
	rep.Counts.Records = 1
	return o.add(rep, p)
}

// add judges a proposal for the report.
func (o *governanceOptions) add(rep *verdict.Report, p *governance.Proposal) error {
	j, err := governance.Judge(p, o.Selected)
	rep.Results.Add(j.Results...)
	rep.Exception = rep.Exception || j.Exception
	rep.Charter = rep.Charter || j.Charter
	rep.Attest = append(rep.Attest, j.Attest...)
	return err
}

// maxBody is the size in bytes of a file with a body. GitHub's own limit is 256 KiB.
const maxBody = 1 << 20

// pullEvent is what the forge is asked about. The zero one is not known.
type pullEvent struct {
	number, commits int
	base            string // the commit to land on
}

// pullRequest takes the words, the opener, the labels and the head from the event.
func (o *governanceOptions) pullRequest(ctx context.Context, sys frame.IO, repo *registry.Repository,
	p *governance.Proposal) (of pullEvent, err error) {
	p.Labels = o.labels
	path := o.pr
	if path == "" && sys.Getenv("GITHUB_ACTIONS") == "true" && slices.Contains(forge.PullEvents,
		sys.Getenv("GITHUB_EVENT_NAME")) {
		path = sys.Getenv("GITHUB_EVENT_PATH")
	}
	if path != "" {
		const wanted = "give the event of a pull request, an object with the member pull_request"
		event, err := forge.ReadEvent(path)
		if err != nil {
			return of, remedy.With(err, wanted)
		}
		pull, ok := strict.Member(event, "pull_request").(map[string]any)
		if !ok {
			return of, remedy.Errorf(wanted, "the event %s has no pull request", path)
		}
		if p.Words, err = governance.NewWords("the pull request's body", strict.String(pull, "body")); err != nil {
			return of, err
		}
		p.Opener = strict.String(pull, "user", "login")
		of = pullEvent{strict.Int(pull, "number"), strict.Int(pull, "commits"),
			strict.String(pull, "base", "sha")}
		labels, _ := strict.Member(pull, "labels").([]any)
		for _, l := range labels {
			p.Labels = append(p.Labels, strict.String(l, "name"))
		}
		if err := proposes(ctx, repo, p, strict.String(pull, "head", "sha")); err != nil {
			return of, err
		}
	}
	if o.body != "" {
		text, err := capped.ReadFile(o.body, maxBody)
		if err != nil {
			return of, remedy.Errorf("name a file with the body", "reading --body: %v", err)
		}
		if p.Words, err = governance.NewWords("the pull request's body", string(text)); err != nil {
			return of, err
		}
	}
	return of, nil
}

// proposes sets the commit that approvals are of: the pull request's head. What is judged is that or its merge.
func proposes(ctx context.Context, repo *registry.Repository, p *governance.Proposal, head string) error {
	if head == "" || p.Head == "" || head == p.Head {
		return nil
	}
	judged, err := repo.Commit(ctx, p.Head)
	if err != nil {
		return err
	}
	if !slices.Contains(judged.Parents, head) {
		return remedy.Errorf("give the event of the pull request that is checked out",
			"the event's pull request has the head %s, and %s is judged, which is neither that nor its merge", head,
			p.Head)
	}
	p.Head = head
	return nil
}

// ofForge says who is asked for what only the forge knows.
func (o *governanceOptions) ofForge(ctx context.Context, sys frame.IO, p *governance.Proposal, pull pullEvent) error {
	p.Forge = &governance.Forge{}
	if o.ask && !o.forge.Offline {
		if pull.number == 0 {
			return remedy.Errorf("give the event with --pr FILE", "--forge: the pull request's number is not known")
		}
		client, err := o.forge.Client(sys, o.Repo)
		if err != nil {
			return err
		}
		p.Forge.Repository = client.Repository
		p.Forge.Reviews = sync.OnceValues(func() ([]governance.Review, error) {
			return forge.All[governance.Review](ctx, client, "reading the reviews",
				fmt.Sprintf("pulls/%d/reviews", pull.number))
		})
		p.Forge.Authors = sync.OnceValues(func() ([]string, error) { return authors(ctx, client, pull, p.Head) })
		p.Forge.Labels = func(issues []int) ([]string, error) { return issueLabels(ctx, client, issues) }
	}
	if o.reviews != "" {
		data, err := capped.ReadFile(o.reviews, governance.MaxReviews)
		if err != nil {
			return remedy.Errorf("name the file with the forge's list of reviews", "reading --reviews: %v", err)
		}
		reviews, err := governance.ParseReviews(o.reviews, data)
		if err != nil {
			return remedy.Errorf("give the forge's list of reviews, all pages as one array", "reading --reviews: %v",
				err)
		}
		p.Forge.Reviews = func() ([]governance.Review, error) { return reviews, nil }
	}
	return nil
}

// listedCommits is how many commits of a pull request a forge lists; it does not say that there are more.
const listedCommits = 250

// authors returns the accounts of the authors and committers of a pull request's commits. If the forge does not list
// all of them, it is asked for the comparison of base and head.
func authors(ctx context.Context, c *forge.Client, pull pullEvent, head string) (out []string, err error) {
	type commit struct {
		Author, Committer forge.Account // the zero one is not known
	}
	type comparison struct {
		Total   int `json:"total_commits"`
		Commits []commit
	}
	all, err := forge.All[commit](ctx, c, "reading the commits", fmt.Sprintf("pulls/%d/commits", pull.number))
	if n := len(all); err == nil && (n < pull.commits || n >= listedCommits) {
		if pull.base == "" || head == "" {
			return nil, fmt.Errorf("the forge lists %d commits, and the event does not name base and head to compare",
				n)
		}
		total := pull.commits
		all = nil
		for one, pageErr := range forge.Pages(ctx, c, "comparing base and head",
			fmt.Sprintf("compare/%s...%s", pull.base, head), func(page comparison) []commit {
				total = max(total, page.Total)
				return page.Commits
			}) {
			all, err = append(all, one), errors.Join(err, pageErr)
		}
		if err == nil && len(all) < total {
			err = fmt.Errorf("the forge lists %d of %d commits", len(all), total)
		}
	}
	for _, one := range all {
		out = append(out, one.Author.Login, one.Committer.Login)
	}
	return out, err
}

// issueLabels returns the labels of all these issues.
func issueLabels(ctx context.Context, c *forge.Client, issues []int) ([]string, error) {
	var out []string
	for _, n := range issues {
		var issue struct {
			Labels []forge.Label
		}
		_, err := c.Call(ctx, "reading an issue", "GET", fmt.Sprintf("issues/%d", n), nil, &issue)
		if errors.Is(err, forge.ErrNotFound) {
			continue // it closes nothing
		}
		if err != nil {
			return nil, err
		}
		for _, l := range issue.Labels {
			out = append(out, l.Name)
		}
	}
	return out, nil
}
