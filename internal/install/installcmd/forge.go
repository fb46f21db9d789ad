package installcmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge/automerge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge/repoconfig"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge/sticky"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/install/doctor"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// NewForge returns the command forge. Its subcommands change something at the forge.
func NewForge(sys frame.IO) *cobra.Command {
	c := &cobra.Command{
		Use:   "forge",
		Short: "write comments, issues and protections at the forge",
		Args:  frame.KnownCommand,
		RunE:  func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(newProtect(sys), newComment(sys), newRemind(sys), newRerun(sys), newAutoMerge(sys))
	return c
}

func newComment(sys frame.IO) *cobra.Command {
	var o cloneFlags
	var opts sticky.Options
	c := &cobra.Command{
		Use:   "comment REPORT",
		Short: "write or edit a pull request's one comment from a report",
		Long: `comment takes the JSON report of a full check as data. It refuses a report that is not valid,
contradicts itself, is about another commit, or leaves checks out. If the token may not comment, it
prints a notice and exits 0.`,
		Example: "  oap-gate forge comment --head $HEAD_SHA report.json",
		Args:    frame.Wants(1, "oap-gate forge comment [--head REV] REPORT", "comment requires one REPORT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			data, err := capped.ReadFile(args[0], sticky.MaxReport)
			if err != nil {
				return remedy.Errorf("name the JSON report of oap-gate check", "reading report: %v", err)
			}
			client, err := o.Client(sys, o.repo)
			if err != nil {
				return err
			}
			opts.Read = func(data []byte) (*verdict.Report, error) { return readable(args[0], data) }
			opts.Render = func(r *verdict.Report, max int) string { return report.Comment(r, runOf(sys), max) }
			out, err := sticky.Comment(cmd.Context(), client, data, opts)
			if err != nil {
				return forgeFailure(
					remedy.With(err, "give the JSON report of a full oap-gate check of the pull request's head"))
			}
			fmt.Fprintf(sys.Stdout, "comment %s %s %s\n", foreign.Line(string(out.Action)), foreign.Line(out.URL),
				foreign.Line(out.Notice))
			return nil
		},
	}
	o.bindClone(c)
	c.Flags().StringVar(&opts.Head, "head", "",
		"commit `REV` that is proposed; the pull request's head, in 40 hex digits (default: the report's)")
	bindApp(c, &opts.App)
	c.Flags().IntVar(&opts.Pull, "pull", 0,
		"number `N` of the pull request (default: the oldest open one with that head)")
	c.Flags().BoolVar(&opts.Labels, "labels", false, "set the labels of what the pull request changes")
	c.Flags().BoolVar(&opts.Mention, "mention", false, "mention who last changed its listings")
	return c
}

func newAutoMerge(sys frame.IO) *cobra.Command {
	var o cloneFlags
	var dry bool
	opts := automerge.Options{}
	c := &cobra.Command{
		Use:   "auto-merge FILE",
		Short: "let the forge merge a pull request that is routine",
		Long: `auto-merge takes the JSON report of a full check as data. If the report and
the forge say that the pull request only renews listings, or revokes by the
owner, it asks the forge to merge it once its rules are fulfilled. Otherwise it
takes back what it asked before, and prints why. It never approves or merges.`,
		Example: "  oap-gate forge auto-merge --head $HEAD_SHA report.json --apply",
		Args: frame.Wants(1, "oap-gate forge auto-merge --head REV FILE [--apply]",
			"auto-merge requires one FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case dry && opts.Apply:
				return remedy.Errorf("give --dry-run or --apply", "--dry-run and --apply exclude one another")
			case len(opts.Head) != 40 || !plain.IsHex(opts.Head):
				return remedy.Errorf("give the 40 hex digits of the pull request's head",
					"--head %q is not a commit", opts.Head)
			}
			data, err := capped.ReadFile(args[0], sticky.MaxReport)
			if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, capped.ErrTooLarge) {
				return remedy.Errorf("name the JSON report of oap-gate check", "reading report: %v", err)
			}
			client, err := o.Client(sys, o.repo)
			if err != nil {
				return err
			}
			opts.Run = startedBy(sys)
			opts.Read = func(data []byte) (*verdict.Report, error) { return readable(args[0], data) }
			said, err := automerge.Settle(cmd.Context(), client, data, opts)
			if err != nil {
				return forgeFailure(err)
			}
			fmt.Fprintln(sys.Stdout, foreign.Line(said))
			return nil
		},
	}
	o.bindClone(c)
	f := c.Flags()
	f.StringVar(&opts.Head, "head", "", "commit `REV` that is proposed; the pull request's head, in 40 hex digits")
	f.StringVar(&opts.Workflow, "workflow", ".github/workflows/check.yml", "path `FILE` of the gate's workflow")
	f.BoolVar(&dry, "dry-run", false, "change nothing; show what would change (the default)")
	f.BoolVar(&opts.Apply, "apply", false, "make the changes")
	return c
}

// startedBy returns the id of the run whose end started this one, 0 if none did.
func startedBy(sys frame.IO) int64 {
	if sys.Getenv("GITHUB_EVENT_NAME") != "workflow_run" {
		return 0
	}
	event, err := forge.ReadEvent(sys.Getenv("GITHUB_EVENT_PATH"))
	if err != nil {
		return -1 // which no run has
	}
	id, err := strconv.ParseInt(fmt.Sprint(strict.Member(event, "workflow_run", "id")), 10, 64)
	if err != nil {
		return -1
	}
	return id
}

// readable reads a report, and refuses one that its schema refuses or that contradicts itself.
func readable(name string, data []byte) (*verdict.Report, error) {
	r, err := report.Read(name, data)
	if err != nil || r.Verdict == verdict.Errored { // a report without a verdict is refused as such
		return r, err
	}
	return r, report.Contradiction(r)
}

// runOf returns the URL of the workflow run that made the report, as the environment names it: the run whose end
// started this one, else this one; "" outside of a workflow.
func runOf(sys frame.IO) string {
	if sys.Getenv("GITHUB_EVENT_NAME") == "workflow_run" {
		event, err := forge.ReadEvent(sys.Getenv("GITHUB_EVENT_PATH"))
		if err != nil {
			return ""
		}
		url, _ := strict.Member(event, "workflow_run", "html_url").(string)
		return url
	}
	return thisRun(sys)
}

// thisRun returns the URL of the workflow run that runs the program, or "".
func thisRun(sys frame.IO) string {
	server, name, id := sys.Getenv("GITHUB_SERVER_URL"), sys.Getenv("GITHUB_REPOSITORY"), sys.Getenv("GITHUB_RUN_ID")
	if server == "" || name == "" || id == "" {
		return ""
	}
	return server + "/" + name + "/actions/runs/" + id
}

// cloneFlags say which clone, and which repository at which forge.
type cloneFlags struct {
	repo string
	frame.Forge
}

func (o *cloneFlags) bindClone(c *cobra.Command) {
	c.Flags().StringVar(&o.repo, "repo", ".", "directory `DIR` of the clone")
	o.Forge.Bind(c)
}

// bindApp defines the flag that distinguishes what an app's token wrote from what others wrote.
func bindApp(c *cobra.Command, to *int64) {
	c.Flags().Int64Var(to, "app-id", forge.ActionsApp,
		"`ID` of the app that the token belongs to; the default is the app of workflows")
}

// forgeFailure keeps what another try may change apart from what it will not.
func forgeFailure(err error) error {
	if forge.Temporary(err) {
		return frame.Judged(err, verdict.Inconclusive)
	}
	return err
}

// installation has the flags of doctor and protect: which forge, and where the report goes.
type installation struct {
	cloneFlags
	frame.Output
	mode string
}

func (o *installation) bind(mode string, c *cobra.Command, sys frame.IO) {
	o.mode = mode
	o.bindClone(c)
	o.Output.Judges(doctor.Rules, func(string, string) *verdict.Report { return o.empty() }, nil)
	o.Output.Bind(c, sys, false)
}

// empty returns a report without results.
func (o *installation) empty() *verdict.Report {
	return judge.NewReport(o.mode, sources.Offline(o.Now(), 0),
		judge.Config{Tool: frame.Version(), Selected: func(string) bool { return true }, Assumed: o.Assumed()})
}

// run writes the report of look, or why look failed.
func (o *installation) run(look func() (*verdict.Report, error)) error {
	return o.Tell(func() (*verdict.Report, error) {
		if err := o.Network.Check(); err != nil {
			return nil, err
		}
		rep, err := look()
		if err != nil {
			return nil, err
		}
		run := o.empty()
		rep.Tool, rep.EvaluatedAt, rep.Assumed = run.Tool, run.EvaluatedAt, run.Assumed
		return rep, nil
	})
}

// NewDoctor returns the command doctor. It knows modes as those by which another program checks an implementation.
func NewDoctor(sys frame.IO, modes []string) *cobra.Command {
	var o installation
	var ask bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "inspect the installation and report faults",
		Long: `doctor reads the clone's workflows and, with --forge and a token in GITHUB_TOKEN, the protections
of the default branch, and prints what is wrong and how to fix it.`,
		Example: "  oap-gate doctor\n  GITHUB_TOKEN=… oap-gate doctor --forge --report sarif=doctor.sarif",
		Args:    frame.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(func() (*verdict.Report, error) {
				clone, err := OpenClone(o.repo)
				if err != nil {
					return nil, err
				}
				opts := doctor.Options{Dir: clone.Dir, Branch: clone.Branch, Commit: clone.Commit,
					Now: o.Now(), Modes: modes}
				if opts.Specification, err = repoconfig.IsSpecification(os.DirFS(clone.Dir)); err != nil {
					return nil, err
				}
				if ask {
					if opts.Forge, err = o.Client(sys, o.repo); err != nil {
						return nil, err
					}
				}
				rep, err := doctor.Doctor(cmd.Context(), opts)
				return rep, remedy.With(err, "name a clone whose files can be read with --repo")
			})
		},
	}
	o.bind("doctor", c, sys)
	c.Flags().BoolVar(&ask, "forge", false, "ask the forge")
	o.BindAt(c.Flags())
	return c
}

func newProtect(sys frame.IO) *cobra.Command {
	var o installation
	var dry, apply, prune, allow bool
	c := &cobra.Command{
		Use:   "protect",
		Short: "show or apply the protections of .github/repo-config.yml",
		Long: `protect compares the protections of the default branch with
.github/repo-config.yml (RFC 0026 section 7). It only adds protection: it shows
a stricter setting, and keeps it. It also shows required checks that no job of
a workflow here reports; --prune removes them. It changes nothing, and exits 1,
if nobody but the author could give a required review, or if the forge ignores
a line of CODEOWNERS; it exits 3 if the token cannot read the accounts that
may write.`,
		Example: "  GITHUB_TOKEN=… oap-gate forge protect --dry-run\n  GITHUB_TOKEN=… oap-gate forge protect --apply",
		Args:    frame.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(func() (*verdict.Report, error) {
				if dry == apply {
					return nil, remedy.Errorf("give --dry-run or --apply",
						"protect requires one of --dry-run and --apply")
				}
				clone, err := OpenClone(o.repo)
				if err != nil {
					return nil, err
				}
				data, err := capped.ReadFile(filepath.Join(clone.Dir, filepath.FromSlash(repoconfig.Path)),
					repoconfig.MaxBytes)
				if err != nil {
					return nil, remedy.Errorf("run oap-gate init, which writes the file", "reading %s: %v",
						repoconfig.Path, err)
				}
				file, err := repoconfig.Parse(data)
				if errors.Is(err, repoconfig.ErrProse) {
					return nil, remedy.Errorf(repoconfig.ProseFix, "%s: %v", repoconfig.Path, err)
				}
				if err != nil {
					return nil, remedy.With(err, doctor.RepoConfigFix)
				}
				client, err := o.Client(sys, o.repo)
				if err != nil {
					return nil, err
				}
				return doctor.Protect(cmd.Context(), client, file, os.DirFS(clone.Dir),
					doctor.Changes{Apply: apply, Prune: prune, AllowLockOut: allow, Commit: clone.Commit})
			})
		},
	}
	o.bind("protect", c, sys)
	c.Flags().BoolVar(&dry, "dry-run", false, "change nothing; show the difference")
	c.Flags().BoolVar(&apply, "apply", false, "make the changes")
	c.Flags().BoolVar(&prune, "prune", false, "remove required checks that no job of a workflow reports; with --apply")
	c.Flags().BoolVar(&allow, "allow-lock-out", false, "apply also if nobody but the author could review")
	return c
}
