// Package demo runs the main job on a registry and a web that it brings along.
package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/internal/author/authorcmd"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// demoCase is one pull request of the demonstration, and how its verdict must come out.
type demoCase struct {
	title  string
	failed []string // the checks that must fail, all of them; none: the verdict must be pass
	shown  string   // the check whose reason says why a pull request passes
}

var demoCases = []demoCase{
	{"an honest newcomer at L4, with a witness", nil, "peer-witnesses"},
	{"an honest renewal: a new Receipt, signed by its owner", nil, "reissue"},
	{"an honest owner revokes its own Receipt", nil, "revocations"},
	{"somebody else's listing edited", []string{"reissue"}, ""},
	{"a Receipt tampered with after it was signed", []string{"receipt-signature"}, ""},
	{"L5 with three witnesses, two of them of one owner", []string{"peer-witnesses"}, ""},
	{"a stranger's revocation", []string{"revocations"}, ""},
	{"a victim's file renamed", []string{"append-only", "layout"}, ""},
	{"the schema loosened in the pull request that needs it loose", []string{"append-only", "schema"}, ""},
	{"a listing that pins other bytes than its Receipt URL serves", []string{"receipt-fetch"}, ""},
	{"a domain registered yesterday", []string{"domain-age"}, ""},
}

// New returns the command demo.
func New(sys frame.IO) *cobra.Command {
	verbose, dir := false, ""
	c := &cobra.Command{
		Use:   "demo",
		Short: "run the gate on a built-in registry, without network",
		Long: strings.TrimSpace(`
demo unpacks a small registry into a temporary directory, and gates honest and dishonest pull
requests on it through the same code as check, by the recorded answers of a small web. It prints
one line for each: the proposal, the verdict and why. It exits 0 only if each verdict is right. It
needs no git and no network.

--keep DIR leaves a registry and a fork of it, the directories of its sites and the keys of its
owners in DIR, which must not exist, and prints commands to try there.`),
		Example: "  oap-gate demo\n  oap-gate demo --verbose\n  oap-gate demo --keep trial",
		Args:    frame.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if _, err := os.Lstat(dir); dir != "" && err == nil {
				return remedy.Errorf("choose a directory that does not exist", "--keep %q exists", dir)
			}
			reports, draft, err := judge(c.Context())
			if err != nil {
				return err
			}
			wrong := 0
			for i, pull := range demoCases {
				if !pull.asItMust(reports[i]) {
					wrong++
				}
				if err := pull.show(sys.Stdout, i+1, reports[i], verbose); err != nil {
					return fmt.Errorf("telling of %q: %w", pull.title, err)
				}
			}
			showDemo(sys.Stdout, reports)
			if wrong > 0 {
				return fmt.Errorf("%d of %d pull requests did not come out as they must", wrong, len(demoCases))
			}
			fmt.Fprintf(sys.Stdout, "all %d pull requests came out as they must\n", len(demoCases))
			fmt.Fprintf(sys.Stdout, "\na newcomer gets a listing from one command, without typing a field:\n\n"+
				"    oap-gate new nova https://nova.example\n\n")
			for line := range strings.Lines(draft) {
				fmt.Fprintf(sys.Stdout, "    %s\n", foreign.Line(strings.TrimSuffix(line, "\n")))
			}
			if dir != "" {
				return keep(sys, dir)
			}
			fmt.Fprint(sys.Stdout, "\nnext:\n  oap-gate demo --keep trial\n  oap-gate explain receipt-fetch\n"+
				"  oap-gate help new\n")
			return nil
		},
	}
	c.Flags().StringVar(&dir, "keep", "", "new `DIR` in which to leave the registry, the sites and the keys")
	c.Flags().BoolVar(&verbose, "verbose", false, "print each report as check prints it")
	return c
}

// judge gates the pull requests, and makes the listing of a newcomer out of what it serves. The directory that it needs
// is gone when it returns: the reader of the output may go at any time, and a broken pipe ends the program.
func judge(ctx context.Context) (reports []*verdict.Report, draft string, err error) {
	dir, err := demoDirectory()
	if err != nil {
		return nil, "", err
	}
	defer os.RemoveAll(dir)
	w, err := load()
	if err != nil {
		return nil, "", err
	}
	if err := w.unpack(dir); err != nil {
		return nil, "", err
	}
	repo, err := registry.Open(filepath.Join(dir, "registry"))
	if err != nil {
		return nil, "", err
	}
	defer repo.Close()
	for i, pull := range demoCases {
		rep, err := w.gate(ctx, repo, i+1)
		if ctx.Err() != nil {
			return nil, "", remedy.Errorf("run it again", "interrupted after %d of %d pull requests", i, len(demoCases))
		}
		if err != nil {
			return nil, "", fmt.Errorf("demonstrating %q: %w", pull.title, err)
		}
		reports = append(reports, rep)
	}
	var printed strings.Builder
	c := authorcmd.NewNew(frame.IO{Stdout: &printed, Stderr: io.Discard, Getenv: func(string) string { return "" }})
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetArgs([]string{"--repo", repo.Store().GitDir(), "--at", w["now"], "--offline", "--no-check", "--dry-run",
		"--local", "nova.example=" + filepath.Join(dir, "site"), "nova", "https://nova.example"})
	if err := c.ExecuteContext(ctx); err != nil {
		return nil, "", fmt.Errorf("demonstrating new: %w", err)
	}
	return reports, printed.String(), nil
}

// demoDirectory makes a directory in the first place that can be written to. An image without files has no /tmp, and
// may be mounted read-only; it has /dev/shm.
func demoDirectory() (string, error) {
	var errs []error
	for _, parent := range []string{os.TempDir(), "/dev/shm", "."} {
		dir, err := os.MkdirTemp(parent, "oap-gate-demo-")
		if err == nil {
			return dir, nil
		}
		errs = append(errs, err)
	}
	return "", remedy.Errorf("name a directory that can be written to: TMPDIR=DIR oap-gate demo",
		"making a directory for the demonstration: %v", errors.Join(errs...))
}

func (c demoCase) asItMust(rep *verdict.Report) bool {
	want := verdict.Passed
	if len(c.failed) > 0 {
		want = verdict.Failed
	}
	return rep.Verdict == want && slices.Equal(failedChecks(rep), c.failed)
}

// show says in one line what was proposed, what came out and why.
func (c demoCase) show(out io.Writer, number int, rep *verdict.Report, verbose bool) error {
	var why []string
	for r := range rep.Results.All() {
		switch {
		case rep.Verdict == verdict.Passed && r.Check == c.shown && r.Verdict == verdict.Passed && r.Reason != "":
			why = append(why, r.Check+": "+r.Reason)
		case r.Verdict == verdict.Failed || r.Verdict == verdict.Inconclusive:
			reason := r.Reason
			if len(r.Findings) > 0 {
				reason = r.Findings[0].Message
			}
			why = append(why, r.Check+": "+reason)
		}
	}
	text := fmt.Sprintf("%2d. %s: %s, %s", number, c.title, rep.Verdict, strings.Join(why, "; "))
	if !c.asItMust(rep) {
		text += fmt.Sprintf(" (NOT as it must: %q failed; expected %q)", failedChecks(rep), c.failed)
	}
	fmt.Fprintln(out, foreign.Line(text))
	if !verbose {
		return nil
	}
	var b strings.Builder
	if err := report.Write(&b, "text", rep, report.Options{Rules: mirror.Catalogue()}); err != nil {
		return err
	}
	fmt.Fprintln(out)
	for line := range strings.Lines(b.String()) {
		if line = strings.TrimRight(line, "\n"); line != "" {
			line = "    " + line
		}
		fmt.Fprintln(out, line)
	}
	fmt.Fprintln(out)
	return nil
}

// showDemo writes the table of all pull requests.
func showDemo(out io.Writer, reports []*verdict.Report) {
	fmt.Fprintln(out)
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, " #\tproposed\tverdict\tfailed checks")
	for i, rep := range reports {
		failed := cmp.Or(strings.Join(failedChecks(rep), ", "), "-")
		fmt.Fprintf(table, "%2d\t%s\t%s\t%s\n", i+1, demoCases[i].title, rep.Verdict, failed)
	}
	table.Flush()
	fmt.Fprintln(out)
}

// failedChecks returns the ids of the checks that failed, sorted.
func failedChecks(rep *verdict.Report) []string {
	var ids []string
	for r := range rep.Results.All() {
		if r.Verdict == verdict.Failed {
			ids = append(ids, r.Check)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
