package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/gate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/checkpoint"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// checkOptions are the flags of check.
type checkOptions struct {
	spanFlags
	selectionFlags
	networkFlags
	outputFlags
	governance string
	fixing     bool
}

func (o *checkOptions) bind(c *cobra.Command) {
	f := c.Flags()
	o.spanFlags.bind(c)
	o.selectionFlags.bind(c, ids(checks.Rules()))
	o.networkFlags.bind(f, "5m")
	o.outputFlags.bind(f)
	o.bindWorkflow(f)
	f.StringVar(&o.governance, "governance", "review",
		"what governance files alone get: review (a warning) or deny (a failure)")
	f.BoolVar(&o.fixing, "fix", false,
		"with --worktree: write the values that documents say into the records that the work tree changes, and "+
			"judge again")
	o.unmade = func() *verdict.Report { return unmade("check", &o.selectionFlags, &o.networkFlags) }
}

// check refuses what no run could use.
func (o *checkOptions) check() error {
	return inOrder(
		func() error { return o.selectionFlags.check(o.offline) },
		o.networkFlags.check,
		func() error { return oneOf("--governance", o.governance, "review", "deny") },
		o.spanFlags.check,
		o.outputFlags.check,
		func() error { return o.place([]output{{"--record", o.record}}, o.folders()) },
		func() error {
			if o.fixing && !o.worktree {
				return usagef("add --worktree", "--fix writes into the files on disk, and a commit was to be judged")
			}
			return nil
		},
	)
}

func newCheck(sys IO) *cobra.Command {
	var o checkOptions
	c := &cobra.Command{
		Use:   "check",
		Short: "gate a pull request: base..head of a registry clone",
		Long: strings.TrimSpace(`
check judges what base..head would do to the registry. The base tree is the judge: schemas,
witnesses and policy are read from it, never from what is proposed.`),
		Example: `  oap-gate check                          HEAD against the registry's main branch
  oap-gate check --worktree               the files on disk, before the commit
  oap-gate check --worktree --fix         the same, with hash, dates and level set to what documents say
  oap-gate check --base main --head topic
  oap-gate check --offline --report json=report.json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(cmd.Context(), sys, o.check)
		},
	}
	o.bind(c)
	o.tellUsage(c, sys)
	return c
}

// run runs the gate where check refuses nothing, and tells the verdict.
func (o *checkOptions) run(ctx context.Context, sys IO, check func() error) error {
	return o.tellVerdict(sys, check, func() (*verdict.Report, error) { return judge(ctx, sys, o) })
}

// originOf names the registry by its remote, "" where that is a folder: a report may be published, and where somebody
// keeps a clone is nobody's business.
func originOf(repo *registry.Repository) string {
	name := checkpoint.Origin(repo.RemoteURL())
	if host, _, _ := strings.Cut(name, "/"); strings.Trim(host, ".") == "" || strings.Contains(repo.RemoteURL(), `\`) {
		return ""
	}
	return name
}

func judge(ctx context.Context, sys IO, o *checkOptions) (*verdict.Report, error) {
	progress := newProgress(sys)
	defer progress.stop()
	src, err := o.source(progress.set)
	if err != nil {
		return nil, err
	}
	rep, err := judgeBy(ctx, sys, o, src)
	if err != nil || !o.fixing {
		return rep, err
	}
	return o.fixAll(ctx, sys, src, rep)
}

// judgeBy judges by what a source gives.
func judgeBy(ctx context.Context, sys IO, o *checkOptions, src evidence.Source) (*verdict.Report, error) {
	repo, err := openClone(sys, o.repo)
	if err != nil {
		return nil, err
	}
	defer repo.Close()
	c, err := o.choose(ctx, repo, sys.Getenv)
	if err != nil {
		return nil, err
	}
	cfg := gate.Config{Tool: version(), Origin: originOf(repo), Chosen: c.how, Selected: o.selected, Offline: o.offline,
		DenyGovernance: o.governance == "deny", Assumed: assumed(&o.selectionFlags, &o.networkFlags),
		ChangedFiles: c.changedFiles, Landing: c.landing}
	if c.workTree {
		cfg.Uncommitted = repo.Uncommitted(ctx)
	}
	rep, err := judgeChosen(ctx, repo, c, src, cfg)
	if err != nil {
		return nil, err
	}
	if o.record != "" {
		cfg.Assumed = rep.Assumed // that the run was interrupted, too
		b := o.bundle("check", c, cfg, src)
		b.MergeBase, b.Flags.Governance = rep.MergeBase, o.governance
		if err := b.WriteFile(o.record); err != nil {
			return nil, withFix(err, writable)
		}
	}
	return rep, nil
}

// judgeChosen makes the ranges and gates them.
func judgeChosen(ctx context.Context, repo *registry.Repository, c chosen, src evidence.Source,
	cfg gate.Config) (*verdict.Report, error) {
	if c.rewritten {
		return gate.Rewritten(c.base, c.head, src, cfg)
	}
	if !c.sequence {
		r, err := c.span(ctx, repo)
		if err != nil {
			return nil, err
		}
		return gate.Check(ctx, repo, []*registry.Range{r}, src, cfg)
	}
	chain, err := repo.FirstParents(ctx, c.base, c.head)
	if errors.Is(err, registry.ErrNotAncestor) {
		return gate.Rewritten(c.base, c.head, src, cfg)
	}
	if err != nil {
		return nil, err
	}
	if len(chain) == 0 {
		chain = []string{c.head}
	}
	var ranges []*registry.Range
	parent := c.base
	for _, commit := range chain {
		r, err := repo.Range(ctx, parent, commit)
		if err != nil {
			return nil, err
		}
		ranges = append(ranges, r)
		parent = commit
	}
	return gate.Check(ctx, repo, ranges, src, cfg)
}
