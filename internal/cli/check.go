package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/gate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/checkpoint"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror"
	"github.com/openagentprotocol-OAP/oap-gate/internal/remedy"
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

func (o *checkOptions) bind(c *cobra.Command, sys IO) {
	f := c.Flags()
	o.spanFlags.bind(c, sys, false)
	o.selectionFlags.bind(c, ids(checks.Rules()), ids(mirror.Rules()),
		func(id string) bool { return checks.ByID(id).Online() })
	o.networkFlags.bind(f, "5m")
	o.outputFlags.bind(c, sys, catalogue(), func(string, string) *verdict.Report {
		return gate.NewReport("check", evidence.Offline(o.now(), 0),
			gate.Config{Tool: version(), Selected: o.Selected, Assumed: o.assumed()})
	})
	o.bindWorkflow(f)
	f.StringVar(&o.governance, "governance", "review",
		"what governance files alone get: review (a warning) or deny (a failure)")
	f.BoolVar(&o.fixing, "fix", false,
		"with --worktree: write the values that documents say into the records that the work tree changes, and "+
			"judge again")
}

// assumed names the flags in effect that leave a check out or replace network, clock or trust root, by their names.
func (o *checkOptions) assumed() []string {
	return byName(o.networkFlags.assumed(), o.selectionFlags.Assumed())
}

// check refuses what no run could use.
func (o *checkOptions) check() error {
	return inOrder(
		func() error { return o.selectionFlags.check(o.offline) },
		o.networkFlags.check,
		func() error { return remedy.OneOf("--governance", o.governance, "review", "deny") },
		o.spanFlags.check,
		func() error { return o.place(&o.networkFlags, nil, nil) },
		func() error {
			if o.fixing && !o.worktree {
				return remedy.Errorf("add --worktree",
					"--fix writes into the files on disk, and a commit was to be judged")
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
			return o.tell(func() (*verdict.Report, error) { return o.judge(cmd.Context(), sys) })
		},
	}
	o.bind(c, sys)
	return c
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

// judge runs the gate, and mends what it found if that was asked for.
func (o *checkOptions) judge(ctx context.Context, sys IO) (*verdict.Report, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	src, stop, err := o.source(sys)
	if err != nil {
		return nil, err
	}
	defer stop()
	rep, err := o.judgeBy(ctx, sys, src)
	if err != nil || !o.fixing {
		return rep, err
	}
	return o.fixAll(ctx, sys, src, rep)
}

// judgeBy judges by what a source gives.
func (o *checkOptions) judgeBy(ctx context.Context, sys IO, src evidence.Source) (*verdict.Report, error) {
	repo, err := openClone(sys, o.repo)
	if err != nil {
		return nil, err
	}
	defer repo.Close()
	c, err := o.choose(ctx, repo)
	if err != nil {
		return nil, err
	}
	cfg := gate.Config{Tool: version(), Origin: originOf(repo), Selected: o.Selected, Offline: o.offline,
		DenyGovernance: o.governance == "deny", Assumed: o.assumed()}
	if c.WorkTree {
		cfg.Uncommitted = repo.Uncommitted(ctx)
	}
	rep, err := gate.CheckChosen(ctx, repo, c, src, cfg)
	if err != nil {
		return nil, err
	}
	if o.record != "" {
		cfg.Assumed = rep.Assumed // that the run was interrupted, too
		b := gate.NewBundle("check", c, o.Selection, cfg, src)
		b.MergeBase, b.Flags.Governance = rep.MergeBase, o.governance
		if err := b.WriteFile(o.record); err != nil {
			return nil, remedy.With(err, writable)
		}
	}
	return rep, nil
}
