package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/gate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/capped"
	"github.com/openagentprotocol-OAP/oap-gate/internal/doctor"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/repoconfig"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/sticky"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// forgeOptions say which repository at which forge.
type forgeOptions struct {
	repo, repository, api string
	networkFlags          // of which the route alone is bound
}

// bindWithClone defines the flags, and that of the clone.
func (o *forgeOptions) bindWithClone(c *cobra.Command) {
	c.Flags().StringVar(&o.repo, "repo", ".", "the clone")
	o.bind(c)
}

// bind defines the flags.
func (o *forgeOptions) bind(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&o.repository, "repository", "", "`OWNER/NAME` at the forge (default: GITHUB_REPOSITORY, else the "+
		"remote origin)")
	f.StringVar(&o.api, "api-url", "", "the forge's API (default: GITHUB_API_URL, else https://api.github.com)")
	o.routeFlags.bind(f)
}

// bindApp defines the flag that tells what an app's token wrote from what others wrote.
func bindApp(c *cobra.Command, to *int64) {
	c.Flags().Int64Var(to, "app-id", forge.ActionsApp,
		"`ID` of the app whose token is used, where it is an app's; the default is that of workflows")
}

// client talks to the forge with the token of GITHUB_TOKEN or GH_TOKEN.
func (o *forgeOptions) client(sys IO) (*forge.Client, error) {
	opts := forge.Options{BaseURL: cmp.Or(o.api, sys.Getenv("GITHUB_API_URL")),
		Repository: cmp.Or(o.repository, sys.Getenv("GITHUB_REPOSITORY")),
		Token:      cmp.Or(sys.Getenv("GITHUB_TOKEN"), sys.Getenv("GH_TOKEN")),
		UserAgent:  "oap-gate/" + version().Version,
		RetryWait:  time.Second / 4}
	if opts.Repository == "" {
		repo, err := registry.Open(o.repo)
		if err != nil {
			return nil, err
		}
		host, path := forge.ParseRemote(repo.RemoteURL())
		repo.Close()
		if path == "" {
			return nil, remedy.Errorf("name it with --repository OWNER/NAME",
				"no repository: the clone has no remote origin at a forge")
		}
		if !forge.Serves(opts.BaseURL, host) {
			return nil, remedy.Errorf("name the repository with --repository OWNER/NAME, or the API of "+host+
				" with --api-url URL",
				"the remote origin is %q at %q, and %q is the API of another forge", path, host,
				cmp.Or(opts.BaseURL, forge.DefaultBaseURL))
		}
		opts.Repository = path
	}
	var err error
	if opts.Proxy, err = o.proxyURL(); err != nil {
		return nil, err
	}
	pem, err := o.authorities()
	if err != nil {
		return nil, err
	}
	if opts.Roots, err = evidence.Roots(pem); err != nil {
		return nil, remedy.With(err, "name a PEM file with --ca-cert")
	}
	client, err := forge.New(opts)
	return client,
		remedy.With(err, "give --repository OWNER/NAME, --api-url https://HOST/PATH, and the token as it was made")
}

func newComment(sys IO) *cobra.Command {
	var o forgeOptions
	var head string
	var pull int
	var app int64
	c := &cobra.Command{
		Use:   "comment REPORT",
		Short: "write or edit the one sticky comment of a pull request from a report",
		Long: `comment takes the report of a full check (JSON), which it treats as data: one that does not
validate, contradicts itself, is about another commit, or left something out is refused. A token
that may not comment is no failure.`,
		Example: "  oap-gate comment --head $HEAD_SHA report.json",
		Args:    wants(1, "oap-gate comment [--head SHA] REPORT", "comment wants one report"),
		RunE: func(cmd *cobra.Command, args []string) error {
			data, err := capped.ReadFile(args[0], sticky.MaxReport)
			if err != nil {
				return remedy.Errorf("name the JSON report of oap-gate check", "reading report: %v", err)
			}
			client, err := o.client(sys)
			if err != nil {
				return err
			}
			out, err := sticky.Comment(cmd.Context(), client, data, sticky.Options{Head: head, Pull: pull, App: app,
				Validate: func(data []byte) error { return readable(args[0], data) }, Render: commentBody})
			if err != nil {
				return forgeFailure(
					remedy.With(err, "give the JSON report of a full oap-gate check of the pull request's head"))
			}
			fmt.Fprintf(sys.Stdout, "comment %s %s %s\n", plain.Line(string(out.Action)), plain.Line(out.URL),
				plain.Line(out.Notice))
			return nil
		},
	}
	o.bindWithClone(c)
	c.Flags().StringVar(&head, "head", "", "SHA of the pull request's head (default: the report's)")
	bindApp(c, &app)
	c.Flags().IntVar(&pull, "pull", 0, "number of the pull request (default: the oldest open one with that head)")
	return c
}

// readable refuses a report that its schema refuses, and one that contradicts itself.
func readable(name string, data []byte) error {
	r, err := report.Read(name, data)
	if err != nil || r.Verdict == verdict.Errored { // a report without a verdict is refused as such
		return err
	}
	return r.Contradiction()
}

func commentBody(r *verdict.Report) string {
	var b strings.Builder
	if err := report.Write(&b, "markdown", r, report.Options{Rules: catalogue(), MaxBytes: 64 << 10}); err != nil {
		return "The report cannot be shown: " + report.Markdown(err.Error())
	}
	return b.String()
}

// forgeFailure keeps what another try may change apart from what it will not.
func forgeFailure(err error) error {
	if forge.Temporary(err) {
		return &judgement{err, verdict.Inconclusive}
	}
	return err
}

// installation is what doctor and protect are told: which forge, and what becomes of the report.
type installation struct {
	forgeOptions
	outputFlags
	mode string
}

func (o *installation) bind(mode string, c *cobra.Command, sys IO) {
	o.mode = mode
	o.bindWithClone(c)
	o.outputFlags.bind(c, sys, doctor.Rules, func(string, string) *verdict.Report { return o.empty() })
}

// empty is a report without results.
func (o *installation) empty() *verdict.Report {
	return gate.NewReport(o.mode, evidence.Offline(o.now(), 0),
		gate.Config{Tool: version(), Selected: func(string) bool { return true }, Assumed: byName(o.assumed())})
}

// run tells the report that look makes, or why there is none.
func (o *installation) run(look func() (*verdict.Report, error)) error {
	return o.tell(func() (*verdict.Report, error) {
		if err := o.checkAt(); err != nil {
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

// section6 are the rows of the table in RFC 0026 section 6, with the checks that hold each.
func section6() []repoconfig.Row {
	var rows []repoconfig.Row
	for _, name := range checks.Section6 {
		rows = append(rows, repoconfig.Row{Name: name, Checks: checks.InRow(name)})
	}
	return rows
}

func newDoctor(sys IO) *cobra.Command {
	var o installation
	var ask bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "look at the installation (workflows, protections) and say what is wrong",
		Long: `doctor reads the clone's workflows and, with --forge and a token in GITHUB_TOKEN, the protections
of the default branch, and says what is wrong and how to mend it.`,
		Example: "  oap-gate doctor\n  GITHUB_TOKEN=… oap-gate doctor --forge --report sarif=doctor.sarif",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(func() (*verdict.Report, error) {
				dir, err := workTree(o.repo)
				if err != nil {
					return nil, err
				}
				opts := doctor.Options{Dir: dir, Section6: section6(), Now: o.now()}
				if ask {
					if opts.Forge, err = o.client(sys); err != nil {
						return nil, err
					}
				}
				rep, err := doctor.Doctor(cmd.Context(), opts)
				return rep, remedy.With(err, "name a clone whose files can be read with --repo")
			})
		},
	}
	o.bind("doctor", c, sys)
	c.Flags().BoolVar(&ask, "forge", false, "ask the forge too")
	c.Flags().StringVar(&o.at, "at", "", "evaluate as of this RFC 3339 time (default: now)")
	return c
}

func newProtect(sys IO) *cobra.Command {
	var o installation
	var dry, apply, prune bool
	c := &cobra.Command{
		Use:   "protect",
		Short: "show (--dry-run) or apply (--apply) the protections of .github/repo-config.yml",
		Long: `protect holds the protections of the default branch against .github/repo-config.yml (RFC 0026
section 7). It only ever adds protection: what stands and is stricter stays, and is shown. A required check that no
job of a workflow here reports is shown too; --prune takes it away.`,
		Example: "  GITHUB_TOKEN=… oap-gate protect --dry-run\n  GITHUB_TOKEN=… oap-gate protect --apply",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return o.run(func() (*verdict.Report, error) {
				if dry == apply {
					return nil, remedy.Errorf("give one of them", "protect wants either --dry-run or --apply")
				}
				dir, err := workTree(o.repo)
				if err != nil {
					return nil, err
				}
				data, err := capped.ReadFile(filepath.Join(dir, filepath.FromSlash(repoconfig.Path)),
					repoconfig.MaxBytes)
				if err != nil {
					return nil, remedy.Errorf("see: oap-gate schema repo-config", "reading %s: %v", repoconfig.Path,
						err)
				}
				file, err := repoconfig.Parse(data)
				if errors.Is(err, repoconfig.ErrProse) {
					return nil, remedy.Errorf(repoconfig.ProseFix, "%s: %v", repoconfig.Path, err)
				}
				if err != nil {
					return nil, remedy.With(err, "see: oap-gate schema repo-config")
				}
				client, err := o.client(sys)
				if err != nil {
					return nil, err
				}
				return doctor.Protect(cmd.Context(), client, file, os.DirFS(dir),
					doctor.Changes{Apply: apply, Prune: prune})
			})
		},
	}
	o.bind("protect", c, sys)
	c.Flags().BoolVar(&dry, "dry-run", false, "show the difference")
	c.Flags().BoolVar(&apply, "apply", false, "apply it")
	c.Flags().
		BoolVar(&prune, "prune", false, "with --apply: take away required checks that no job of a workflow reports")
	return c
}

// ended is the error that ends the program with this exit status.
func ended(code int) error {
	if code == 0 {
		return nil
	}
	return status(code)
}
