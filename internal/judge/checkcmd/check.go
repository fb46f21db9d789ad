// Package checkcmd has the command check.
package checkcmd

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/author"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/typed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/usergit"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/checkpoint"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge/chosen"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge/replay"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt/explain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
	"github.com/openagentprotocol-OAP/oap-gate/registry/ondisk"
)

// checkOptions are the flags of check.
type checkOptions struct {
	frame.Span
	frame.Checks
	frame.Network
	frame.Output
	governance string
	fixing     bool
}

func (o *checkOptions) bind(c *cobra.Command, sys frame.IO) {
	f := c.Flags()
	o.Span.Bind(c, sys, false)
	o.Checks.Bind(c, verdict.IDs(checks.Rules()), mirror.OfAudit(),
		func(id string) bool { return checks.ByID(id).Online() })
	o.Network.Bind(f, "5m")
	o.Network.BindLocal(f)
	o.Output.Judges(mirror.Catalogue(), func(string, string) *verdict.Report {
		return judge.NewReport("check", sources.Offline(o.Now(), 0),
			judge.Config{Tool: frame.Version(), Selected: o.Selected, Assumed: o.assumed()})
	}, nil)
	o.Output.Bind(c, sys, true)
	o.Statements(c, mirror.RulesText(frame.Version()))
	f.StringVar(&o.governance, "governance", "review",
		"`EFFECT` of a pull request of only governance files: review (a warning) or deny (a failure)")
	f.BoolVar(&o.fixing, "fix", false,
		"correct the records that the work tree changes: the layout of new ones, and the values that documents "+
			"say; with --worktree, and before they are judged")
}

// assumed names the flags in effect that leave a check out or replace network, clock or trust root, by their names.
func (o *checkOptions) assumed() []string {
	return o.Network.Assumed(o.Selection.Assumed()...)
}

// check refuses what no run could use.
func (o *checkOptions) check() error {
	return typed.First(
		func() error { return o.Checks.Check(o.AsksNobody()) },
		o.Network.Check,
		func() error { return typed.OneOf("--governance", o.governance, "review", "deny") },
		o.Span.Check,
		func() error { return o.Place(&o.Network, nil, nil) },
		func() error {
			if o.fixing && !o.Worktree {
				return remedy.Errorf("add --worktree",
					"--fix writes into the files on disk, and a commit was to be judged")
			}
			return nil
		},
	)
}

func New(sys frame.IO) *cobra.Command {
	var o checkOptions
	c := &cobra.Command{
		Use:   "check",
		Short: "gate a pull request: base..head of a registry clone",
		Long: strings.TrimSpace(`
check judges what base..head would do to the registry. The base tree is the judge: schemas,
witnesses and policy are read from it, never from what is proposed.

--fix writes each record that the base does not have in the layout of new, if it is strict JSON,
whatever else is wrong with it, and with --offline too. A merged record keeps its bytes, except for
values that a document says. The verdict is about the files that --fix wrote.`),
		Example: `  oap-gate check                    HEAD against the registry's main branch
  oap-gate check --worktree         the files on disk, before the commit
  oap-gate check --worktree --fix   also sets layout, hash, dates and level
  oap-gate check --base main --head topic
  oap-gate check --offline --report json=report.json`,
		Args: frame.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.Tell(func() (*verdict.Report, error) { return o.judge(cmd.Context(), sys) })
		},
	}
	o.bind(c, sys)
	return c
}

// judge runs the gate, and fixes what it found if that was asked for.
func (o *checkOptions) judge(ctx context.Context, sys frame.IO) (*verdict.Report, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	src, stop, err := o.Source(sys, nil)
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
func (o *checkOptions) judgeBy(ctx context.Context, sys frame.IO, src evidence.Source) (*verdict.Report, error) {
	repo, err := frame.OpenClone(sys, o.Repo)
	if err != nil {
		return nil, err
	}
	defer repo.Close()
	c, err := o.Choose(ctx, repo)
	if err != nil {
		return nil, err
	}
	within, cancel := ctx, context.CancelFunc(func() {})
	if b, ok := src.(interface {
		Within(context.Context) (context.Context, context.CancelFunc)
	}); ok {
		within, cancel = b.Within(ctx)
	}
	defer cancel()
	remove, err := frame.NextCommit(within, repo, &c)
	defer remove()
	if err != nil {
		return nil, err
	}
	if o.Worktree {
		if err := warnIgnored(within, sys, repo); err != nil {
			return nil, err
		}
	}
	cfg := judge.Config{Tool: frame.Version(), Origin: checkpoint.PublicOrigin(repo.Store().RemoteURL()),
		Selected: o.Selected, Explain: explain.Signature,
		Offline: o.AsksNobody(), DenyGovernance: o.governance == "deny", Assumed: o.assumed()}
	if c.WorkTree {
		cfg.Uncommitted = ondisk.Uncommitted(ctx, repo)
	}
	rep, err := chosen.Check(ctx, repo, c, src, cfg)
	if err != nil {
		return nil, err
	}
	if o.Record != "" {
		cfg.Assumed = rep.Assumed // that the run was interrupted, too
		b := replay.NewBundle("check", c, cfg, src)
		b.MergeBase, b.Flags.Selection, b.Flags.Governance = rep.MergeBase, o.Selection, o.governance
		if err := report.Keep(o.Record, b); err != nil {
			return nil, err
		}
	}
	return rep, nil
}

// maxIgnored is how many ignored records are named.
const maxIgnored = 20

// warnIgnored warns of records on disk that Git ignores: no commit would contain them, so they are not judged.
func warnIgnored(ctx context.Context, sys frame.IO, repo *registry.Repository) error {
	var directories []string
	for _, k := range registry.DataKinds {
		directories = append(directories, k.Directory())
	}
	by, err := usergit.IgnoredBelow(ctx, repo.Store().Worktree(), directories...)
	for _, p := range by[:min(len(by), maxIgnored)] {
		warn(sys, "record-ignored", "%s is ignored by %s:%d (%q) and was not judged; fix: git add -f %s", p.Path,
			p.File, p.Line, p.Text, plain.ShellWord(p.Path))
	}
	if more := len(by) - maxIgnored; more > 0 {
		warn(sys, "record-ignored", "Git ignores %s, not judged; fix: list them with git status --ignored",
			plain.Count(more, "more record"))
	}
	return err
}

// warn warns of a finding, which explain knows by its code.
func warn(sys frame.IO, code, format string, args ...any) {
	frame.Warn(sys, "%s [%s]", fmt.Sprintf(format, args...), code)
}

// maxFixes is how often a record is fixed and judged again: one value may hide that another is wrong too.
const maxFixes = 5

// fixAll fixes what was found and judges again, as long as there is something to fix. It prints why it changed nothing
// about each error that is left.
func (o *checkOptions) fixAll(ctx context.Context, sys frame.IO, src evidence.Source,
	rep *verdict.Report) (*verdict.Report, error) {
	for range maxFixes {
		changes, reasons, err := author.Fix(ctx, o.Repo, src, rep)
		for _, c := range changes {
			fmt.Fprint(sys.Stderr, c.Diff())
		}
		for _, reason := range reasons {
			fmt.Fprintln(sys.Stderr, foreign.Line("--fix left an error: "+reason))
		}
		if err != nil || len(changes) == 0 {
			return rep, err
		}
		if rep, err = o.judgeBy(ctx, sys, src); err != nil {
			return nil, err
		}
	}
	return rep, nil
}
