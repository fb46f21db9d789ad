package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/gate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/checkpoint"
	"github.com/openagentprotocol-OAP/oap-gate/internal/doctor"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

func newCheck(sys IO) *cobra.Command {
	o := options{mode: "check"}
	c := &cobra.Command{
		Use:   "check",
		Short: "gate a pull request: base..head of a registry clone",
		Long: strings.TrimSpace(`
check judges what base..head would do to the registry. The base tree is the judge: schemas,
witnesses and policy are read from it, never from what is proposed.`),
		Example: `  oap-gate check                          HEAD against the registry's main branch
  oap-gate check --worktree               the files on disk, before the commit
  oap-gate check --base main --head topic
  oap-gate check --offline --report json=report.json`,
		Args: noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := o.check(); err != nil {
				return o.failed(sys, err)
			}
			return runCheck(cmd.Context(), sys, &o)
		},
	}
	o.bind(c)
	o.tellUsage(c, sys)
	return c
}

// runCheck runs the gate and tells the verdict everywhere it was asked to. A run that could not be made
// still writes its reports.
func runCheck(ctx context.Context, sys IO, o *options) (err error) {
	defer o.crash(sys, &err)
	rep, err := judge(ctx, sys, o)
	if err != nil {
		return o.failed(sys, err)
	}
	return o.verdict(sys, rep)
}

// crash is deferred; it tells a panic, which is a bug, as a run that could not be made.
func (o *options) crash(sys IO, err *error) {
	if r := recover(); r != nil {
		*err = o.failed(sys, crashed(r))
	}
}

// verdict tells a report and gives its exit status.
func (o *options) verdict(sys IO, rep *verdict.Report) error {
	if err := o.tell(sys, rep); err != nil {
		return err
	}
	return ended(rep.Verdict.ExitStatus())
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

func judge(ctx context.Context, sys IO, o *options) (*verdict.Report, error) {
	repo, err := registry.Open(o.repo)
	if err != nil {
		return nil, err
	}
	defer repo.Close()
	c, err := o.choose(ctx, repo, sys.Getenv)
	if err != nil {
		return nil, err
	}
	progress := newProgress(sys)
	defer progress.stop()
	src, err := o.source(progress.set)
	if err != nil {
		return nil, err
	}
	cfg := gate.Config{Tool: version(), Origin: originOf(repo), Chosen: c.how, Selected: o.selected, Offline: o.offline,
		DenyGovernance: o.governance == "deny", Assumed: o.assumed(), ChangedFiles: c.changedFiles}
	if c.workTree {
		cfg.Uncommitted = repo.Uncommitted(ctx)
	}
	rep, err := judgeChosen(ctx, repo, c, src, cfg)
	if err != nil {
		return nil, err
	}
	if o.record != "" {
		cfg.Assumed = rep.Assumed // that the run was interrupted, too
		if err := o.bundle(c, cfg, src, rep.MergeBase).WriteFile(o.record); err != nil {
			return nil, withFix(err, writable)
		}
	}
	return rep, nil
}

// judgeChosen makes the ranges and gates them.
func judgeChosen(ctx context.Context, repo *registry.Repository, c chosen, src evidence.Source, cfg gate.Config) (*verdict.Report, error) {
	if c.rewritten {
		return gate.Rewritten(c.base, c.head, src, cfg), nil
	}
	if !c.sequence {
		var r *registry.Range
		var err error
		if c.head == "" {
			r, err = repo.WorktreeRange(ctx, c.base)
		} else {
			r, err = repo.Range(ctx, c.base, c.head)
		}
		if err != nil {
			return nil, err
		}
		return gate.Check(ctx, repo, []*registry.Range{r}, src, cfg)
	}
	chain, err := repo.FirstParents(ctx, c.base, c.head)
	if errors.Is(err, registry.ErrNotAncestor) {
		return gate.Rewritten(c.base, c.head, src, cfg), nil
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

func (o *options) source(progress func(done, total int)) (evidence.Source, error) {
	switch {
	case o.offline:
		return evidence.Offline(o.now(), o.budget), nil
	case o.replay != "":
		b, err := evidence.ReadBundle(o.replay)
		if err != nil {
			return nil, withFix(err, recordAgain)
		}
		if o.at != "" {
			b.Now = o.now()
		}
		return evidence.NewRecorded(b), nil
	}
	return o.live(progress)
}

// tellUsage lets the reports tell that the command line itself is wrong.
func (o *options) tellUsage(c *cobra.Command, sys IO) {
	valid := c.Args
	c.Args = func(c *cobra.Command, args []string) error {
		if err := valid(c, args); err != nil {
			return o.failed(sys, err)
		}
		return nil
	}
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		o.reports = nil // the parser stopped where it failed, perhaps before a report was named
		for i, arg := range sys.args {
			if r, ok := strings.CutPrefix(arg, "--report="); ok {
				o.reports = append(o.reports, r)
			} else if arg == "--report" && i+1 < len(sys.args) {
				o.reports = append(o.reports, sys.args[i+1])
			}
		}
		return o.failed(sys, flagError(c, err))
	})
}

// failed tells that there is no verdict, in the reports too.
func (o *options) failed(sys IO, cause error) error {
	_ = o.placeReports() // where the command line itself is wrong, nothing has looked at them yet
	message, fix := describe(cause)
	rep := gate.NewReport(o.mode, evidence.Offline(o.now(), 0), gate.Config{Tool: version(), Selected: o.selected, Assumed: o.assumed()})
	rep.Verdict, rep.Error, rep.Remedy = verdict.Errored, message, fix
	if err := o.write(sys, rep); err != nil {
		complain(sys, err)
	}
	if format := o.stdoutFormat(sys); format == "text" || !slices.Contains(report.Formats, format) {
		return cause
	}
	if err := report.Write(sys.Stdout, o.stdoutFormat(sys), rep, o.reportOptions(sys)); err != nil {
		return err
	}
	if o.stdoutFormat(sys) == "github" { // both streams are one log
		return status(verdict.Errored.ExitStatus())
	}
	return cause
}

// tell writes the report to every file that was named, and to stdout last: whoever reads that may have gone, which
// ends the program.
func (o *options) tell(sys IO, rep *verdict.Report) error {
	written := o.write(sys, rep)
	return errors.Join(report.Write(sys.Stdout, o.stdoutFormat(sys), rep, o.reportOptions(sys)), written)
}

// write writes each report, the summary and the outputs, whichever of them fails.
func (o *options) write(sys IO, rep *verdict.Report) error {
	opts := o.reportOptions(sys)
	opts.Color = false
	first := ""
	var errs []error
	note := func(doing string, err error) {
		if err != nil {
			errs = append(errs, withFix(fmt.Errorf("%s: %w", doing, err), writable))
		}
	}
	for _, r := range o.reports {
		format, file, ok := strings.Cut(r, "=")
		if !ok || !slices.Contains(report.Formats, format) || file == toStdout {
			continue // the arguments are refused, which says so, or stdout gets it last
		}
		if first == "" {
			first = file
		}
		note("writing report "+file, report.WriteFile(file, format, rep, opts))
	}
	if path := sys.Getenv("GITHUB_STEP_SUMMARY"); o.summary && path != "" {
		note("writing the job summary", report.AppendFile(path, "markdown", rep, opts))
	}
	if path := sys.Getenv("GITHUB_OUTPUT"); o.outputs && path != "" {
		note("writing the step's outputs", report.AppendOutputs(path, report.Outputs(rep, first)))
	}
	return errors.Join(errs...)
}

func (o *options) stdoutFormat(sys IO) string {
	for _, r := range o.reports {
		if format, file, _ := strings.Cut(r, "="); file == toStdout && slices.Contains(report.Formats, format) {
			return format
		}
	}
	switch {
	case o.format != "":
		return o.format
	case sys.Getenv("GITHUB_ACTIONS") == "true":
		return "github"
	}
	return "text"
}

func (o *options) reportOptions(sys IO) report.Options {
	color := o.color == "always" || o.color == "auto" && sys.OutTerminal && sys.Getenv("NO_COLOR") == "" && sys.Getenv("TERM") != "dumb"
	return report.Options{Color: color, MaxAnnotations: min(max(o.maxAnnotations, 0), report.AnnotationLimit), Rules: o.rules()}
}

// rules are the catalogue that the command judges by.
func (o *options) rules() []verdict.Rule {
	if o.mode == "doctor" || o.mode == "protect" {
		return doctor.Rules
	}
	return checks.Rules()
}
