package installcmd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/internal/author/listing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/choose"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/install/upkeep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// upkeepOptions are those of remind and rerun.
type upkeepOptions struct {
	cloneFlags
	app        int64
	dry, apply bool
}

func (o *upkeepOptions) bindPlan(c *cobra.Command) {
	o.bindClone(c)
	f := c.Flags()
	o.BindAt(c.Flags())
	bindApp(c, &o.app)
	f.BoolVar(&o.dry, "dry-run", false, "change nothing; show what would change (the default)")
	f.BoolVar(&o.apply, "apply", false, "make the changes")
}

// betweenChanges is how long a run waits after a change: the forge limits how fast content is made.
const betweenChanges = time.Second

// carryOut prints a plan, or makes its changes and prints each that was made.
func (o *upkeepOptions) carryOut(ctx context.Context, sys frame.IO,
	look func(*forge.Client) (upkeep.Plan, error)) error {
	if o.dry && o.apply {
		return remedy.Errorf("give --dry-run or --apply", "--dry-run and --apply exclude one another")
	}
	if err := o.Network.Check(); err != nil {
		return err
	}
	client, err := o.Client(sys, o.repo)
	if err != nil {
		return err
	}
	plan, err := look(client)
	if err != nil {
		return forgeFailure(err)
	}
	changes := plan.Changes
	if len(changes) == 0 {
		fmt.Fprintf(sys.Stdout, "%s; nothing to change\n", foreign.Line(plan.Looked))
		return nil
	}
	if !o.apply {
		shown := changes[:min(len(changes), upkeep.MaxChanges)]
		for _, c := range shown {
			fmt.Fprintln(sys.Stdout, foreign.Line(c.Text))
		}
		fmt.Fprintf(sys.Stdout, "%d of %d changes shown, none made: --apply makes them\n", len(shown), len(changes))
		return nil
	}
	made := 0
	err = upkeep.Apply(ctx, client, changes, betweenChanges, func(c upkeep.Change, refusal error) {
		if refusal != nil {
			fmt.Fprintf(sys.Stdout, "not made: %s\n", foreign.Line(refusal.Error()))
			return
		}
		made++
		fmt.Fprintln(sys.Stdout, foreign.Line(c.Text))
	})
	fmt.Fprintf(sys.Stdout, "%d of %d changes made\n", made, len(changes))
	return forgeFailure(err)
}

func newRemind(sys frame.IO) *cobra.Command {
	var o upkeepOptions
	var within time.Duration
	var audit string
	c := &cobra.Command{
		Use:   "remind",
		Short: "keep issues about expiring listings and a failing audit",
		Long: `remind reads the listings of the clone, as list does. It plans one issue per
listing that expires within a time or expired less than 30 days ago, and closes
the issue of a listing that was renewed or revoked. With --audit it plans one
issue while the audit fails instead, and closes it when an audit passes. It
refuses the report of anything but a complete audit of the repository (exit
status 2). It never changes an issue that it did not create, and makes at most
50 changes in one run.`,
		Example: "  GITHUB_TOKEN=… oap-gate forge remind\n" +
			"  GITHUB_TOKEN=… oap-gate forge remind --within 30d --apply\n" +
			"  GITHUB_TOKEN=… oap-gate forge remind --audit audit.json --apply",
		Args: frame.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if audit != "" {
				if cmd.Flags().Changed("within") {
					return remedy.Errorf("give --audit or --within", "--audit and --within exclude one another")
				}
				return o.remindOfAudit(cmd.Context(), sys, audit)
			}
			return o.carryOut(cmd.Context(), sys, func(client *forge.Client) (upkeep.Plan, error) {
				rows, err := o.rows(cmd.Context())
				if err != nil {
					return upkeep.Plan{}, err
				}
				return upkeep.Remind(cmd.Context(), client, rows, within, o.app)
			})
		},
	}
	o.bindPlan(c)
	frame.DurationVar(c.Flags(), &within, "within", "14d", "time until expiry; a listing with less is due")
	c.Flags().StringVar(&audit, "audit", "", "JSON `REPORT` of an audit: keep the issue about it instead")
	return c
}

// remindOfAudit keeps the issue about the audit that a report is of.
func (o *upkeepOptions) remindOfAudit(ctx context.Context, sys frame.IO, name string) error {
	const fix = "give the JSON report of a complete oap-gate audit of this repository"
	data, err := capped.ReadFile(name, report.MaxRead)
	if err != nil {
		return remedy.Errorf(fix, "reading report: %v", err)
	}
	r, err := readable(name, data)
	if err != nil {
		return remedy.With(err, fix)
	}
	return o.carryOut(ctx, sys, func(client *forge.Client) (upkeep.Plan, error) {
		plan, err := upkeep.Audit(ctx, client, r, thisRun(sys), o.app)
		if errors.Is(err, upkeep.ErrReport) {
			err = remedy.With(err, fix)
		}
		return plan, err
	})
}

// rows returns the listings of the registry's main branch, as the clone has it.
func (o *upkeepOptions) rows(ctx context.Context) (*listing.Rows, error) {
	repo, err := registry.Open(o.repo)
	if err != nil {
		return nil, err
	}
	defer repo.Close()
	commit, _, err := choose.Base(repo, "")
	if err != nil {
		return nil, err
	}
	return listing.Read(ctx, repo, commit, o.Now(), nil)
}

func newRerun(sys frame.IO) *cobra.Command {
	var o upkeepOptions
	var workflow, branch string
	c := &cobra.Command{
		Use:   "rerun",
		Short: "run the gate again for pull requests that waited for a date",
		Long: `rerun looks at the gate's comment in each open pull request. If it says that the verdict may change with
time, and the time has come, it plans to run the failed jobs again: at most five times for one head, once in 12
hours. If the base has moved since, or the run is older than 28 days, the comment asks to update the branch.`,
		Example: "  GITHUB_TOKEN=… oap-gate forge rerun\n  GITHUB_TOKEN=… oap-gate forge rerun --apply",
		Args:    frame.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.carryOut(cmd.Context(), sys, func(client *forge.Client) (upkeep.Plan, error) {
				opts := upkeep.RerunOptions{Now: o.Now(), Workflow: workflow, Branch: branch, App: o.app}
				if sys.Getenv("GITHUB_EVENT_NAME") != "issue_comment" {
					return upkeep.Rerun(cmd.Context(), client, opts)
				}
				event, err := forge.ReadEvent(sys.Getenv("GITHUB_EVENT_PATH"))
				if err != nil {
					return upkeep.Plan{}, remedy.With(err, "run it in a workflow on issue_comment")
				}
				return upkeep.Command(cmd.Context(), client, opts, event)
			})
		},
	}
	o.bindPlan(c)
	c.Flags().StringVar(&workflow, "workflow", ".github/workflows/check.yml", "path `FILE` of the gate's workflow")
	c.Flags().StringVar(&branch, "branch", "", "name `BRANCH` of the registry's branch (default: the forge's)")
	return c
}
