// Package installcmd has the commands that install the gate and look after it at the forge: init, doctor, protect,
// comment, remind and rerun.
package installcmd

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/typed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/choose"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge/repoconfig"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/install"
	"github.com/openagentprotocol-OAP/oap-gate/internal/install/doctor"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// initOptions are those of init.
type initOptions struct {
	repo string
	dry  bool
	auto string
	install.Release
}

func NewInit(sys frame.IO) *cobra.Command {
	var o initOptions
	c := &cobra.Command{
		Use:   "init",
		Short: "install the gate in a registry or a specification",
		Long: `init prints a plan, then writes the files that docs/install.md names, with the
gate pinned by the commit of a release. It never overwrites a file: it keeps
one that differs, and prints the difference. It moves a prose repo-config.yml
to docs/repo-settings.md. In a repository with rfcs/ and schemas/, but without
implementations/, it installs the gates of the specification.
Exit status 1: a file that differs was kept.`,
		Example: "  oap-gate init --commit SHA --owner @acme/registry-maintainers --dry-run",
		Args:    frame.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return o.run(sys) },
	}
	f := c.Flags()
	f.StringVar(&o.repo, "repo", ".", "directory `DIR` of the clone")
	f.StringVar(&o.Commit, "commit", "", "`SHA` of the commit of a release, by which workflows name the gate")
	f.StringVar(&o.Version, "release", released(), "`VERSION` of that release, for the comment after the SHA")
	f.String("image", "", "`DIGEST` of the release's image; taken for older calls, and without an effect")
	f.StringVar(&o.Owner, "owner", "", "owner in CODEOWNERS who must approve changes of the gate: `@USER` or "+
		"@ORGANISATION/TEAM")
	f.BoolVar(&o.Specification, "specification", false, "install the gates of the specification (RFC 0019)")
	f.BoolVar(&o.Trial, "trial", false, "write only a check that is not required, and its comment")
	f.StringVar(&o.auto, "auto-merge", "", "let the forge merge what is routine: `KIND` renewals")
	f.BoolVar(&o.dry, "dry-run", false, "change nothing; print the plan")
	return c
}

// released returns the version of a released binary, or "".
func released() string {
	v := frame.Version().Version
	if v == "devel" || strings.Contains(v, "-") {
		return ""
	}
	return v
}

// initFix are the values that a Release is made of.
const initFix = "the notes of each release have the whole line: oap-gate init --release VERSION --commit SHA"

func (o *initOptions) run(sys frame.IO) error {
	clone, err := OpenClone(o.repo)
	switch {
	case err != nil:
		return err
	case o.Commit == "":
		return remedy.Errorf(initFix, "init requires --commit SHA: no program knows the commit that releases it")
	case o.auto != "" && o.auto != "renewals":
		return typed.OneOf("--auto-merge", o.auto, "renewals")
	case o.auto != "" && (o.Trial || o.Specification):
		return remedy.Errorf("leave --auto-merge out", "--auto-merge is only for a registry whose check is required")
	case o.Trial && o.Specification:
		return remedy.Errorf("leave one of them out", "--trial and --specification exclude one another")
	}
	root, err := os.OpenRoot(clone.Dir)
	if err != nil {
		return remedy.With(err, "name a clone with --repo")
	}
	defer root.Close()
	o.Branch, o.AutoMerge = clone.Branch, o.auto != ""
	if err := o.which(root.FS()); err != nil {
		return err
	}
	if err := o.Check(); errors.Is(err, install.ErrBranch) {
		return remedy.Errorf("give the default branch another name", "the default branch %v", err)
	} else if err != nil {
		return remedy.Errorf(initFix, "%v", err)
	}
	plan, err := install.Look(root, o.Release)
	if err != nil {
		return remedy.With(err, notPlainFix)
	}
	others, err := doctor.Others(root.FS())
	if err != nil {
		return remedy.With(err, "run oap-gate doctor, which names the file")
	}
	o.show(sys.Stdout, plan, others)
	blocked := plan.Move != nil && plan.Move.Blocked
	if !o.dry && !blocked {
		if err := plan.Write(root, func(path string) { fmt.Fprintf(sys.Stdout, "wrote     %s\n", path) }); err != nil {
			return remedy.With(err, notPlainFix)
		}
		o.next(sys.Stdout, plan, others, clone.Commit == "")
	}
	kept := 0
	for _, s := range plan.Steps {
		switch {
		case s.State != install.Differs:
		case blocked && s.Path == repoconfig.Path:
			kept++
			fmt.Fprintf(sys.Stdout, "not moved %s: %s exists; move one of them, and run oap-gate init again\n", s.Path,
				repoconfig.ProsePath)
		default:
			kept++
			fmt.Fprintf(sys.Stdout, "kept      %s: it differs; edit it by the difference above, or move it away and "+
				"run oap-gate init again\n", s.Path)
		}
	}
	if kept > 0 {
		return frame.Judged(nil, verdict.Failed)
	}
	return nil
}

const notPlainFix = "make it a plain file in a directory that can be written"

// which decides between a registry and the specification.
func (o *initOptions) which(tree fs.FS) error {
	found, err := repoconfig.IsSpecification(tree)
	switch {
	case err != nil:
		return remedy.With(err, "name a clone with --repo")
	case found:
		o.Specification = true
	case o.Specification:
		return remedy.Errorf("run oap-gate init without --specification in a registry",
			"--specification: the clone is not a specification: it has no rfcs/ next to schemas/ or spec/, or it has "+
				"implementations/")
	}
	return nil
}

// show prints the plan.
func (o *initOptions) show(out io.Writer, plan *install.Plan, others map[string][]string) {
	kind := "a registry"
	if o.Specification {
		kind = "the specification"
	}
	fmt.Fprintf(out, "plan for %s, default branch %s:\n", kind, cmp.Or(o.Branch, "main"))
	if m := plan.Move; m != nil {
		fmt.Fprintf(out, "move      %s to %s: it is prose\n", repoconfig.Path, repoconfig.ProsePath)
		for _, s := range m.Otherwise {
			fmt.Fprintf(out, "    the new file sets otherwise: %s\n", foreign.Line(s))
		}
	}
	for _, s := range plan.Steps {
		word := string(s.State)
		if o.dry && (s.State == install.Missing || s.State == install.Replace) {
			word = "would " + word
		}
		fmt.Fprintf(out, "%-8s  %s\n", word, s.Path)
		for line := range strings.Lines(string(s.Difference)) {
			fmt.Fprintf(out, "    %s\n", foreign.Line(strings.TrimRight(line, "\r\n")))
		}
	}
	if len(others) > 0 {
		fmt.Fprintln(out, "\nother workflows on pull requests:")
	}
	for _, path := range slices.Sorted(maps.Keys(others)) {
		fmt.Fprintf(out, "  %s reports %s\n", foreign.Line(path), foreign.Line(strings.Join(others[path], ", ")))
	}
	fmt.Fprintln(out)
}

// next prints the steps from the written files to a required check, in their order.
func (o *initOptions) next(out io.Writer, plan *install.Plan, others map[string][]string, unborn bool) {
	var paths []string
	written := false
	for _, s := range plan.Steps {
		if s.State != install.Differs {
			paths = append(paths, s.Path)
		}
		written = written || s.State == install.Missing || s.State == install.Replace
	}
	if !written {
		return
	}
	if plan.Move != nil {
		paths = append(paths, repoconfig.ProsePath)
	}
	branch, job := foreign.Line(cmp.Or(o.Branch, "main")), "oap-gate"
	if o.Specification {
		job = "governance-gates"
	}
	fmt.Fprintln(out, "\nnext:")
	if unborn {
		fmt.Fprintf(out, "  0. push one commit to %s, because a pull request needs a base:\n     git commit -s "+
			"--allow-empty -m 'Begin the registry' && git push origin %s\n", branch, branch)
	}
	if o.Trial {
		fmt.Fprintf(out, "  1. add the files on a branch, and merge them:\n     git switch -c oap-gate\n     git "+
			"add %s\n     git commit -s -m 'Try the gate'\n  2. each pull request gets the check %s, which is not "+
			"required, and a comment\n  3. oap-gate init without --trial installs the required check\n",
			strings.Join(paths, " "),
			install.TrialJob)
		return
	}
	fmt.Fprintln(out, "  1. on a branch, add the files, and remove each workflow above that the gate replaces:")
	if o.Owner == "" {
		fmt.Fprintln(out, "     in .github/CODEOWNERS replace @example/registry-maintainers with your team")
	}
	fmt.Fprintln(out, "     git switch -c oap-gate")
	for _, path := range slices.Sorted(maps.Keys(others)) {
		fmt.Fprintf(out, "     git rm %s\n", foreign.Line(plain.ShellWord(path)))
	}
	fmt.Fprintf(out, "     git add %s\n     oap-gate doctor\n     git commit -s -m 'Install the gate'\n",
		strings.Join(paths, " "))
	fmt.Fprintf(out, "  2. open the pull request, and wait until the check %s is green there\n", job)
	if o.Specification {
		fmt.Fprintf(out, "  3. in the settings of branch %s require the check %s from GitHub Actions (app 15368) and "+
			"the review of code owners, then merge\n", branch, job)
		return
	}
	fmt.Fprintln(out, "  3. from that branch: oap-gate forge protect --dry-run, which shows as stale-context each "+
		"required check that no job reports any more\n"+
		"  4. an administrator: oap-gate forge protect --apply --prune; the other open pull requests wait until they "+
		"are rebased\n"+
		"  5. a second maintainer approves; merge; oap-gate doctor --forge has no error")
}

// Clone is the work tree of a clone.
type Clone struct {
	Dir    string // its root
	Branch string // the default branch; empty if the clone does not show it
	Commit string // the head; may be empty
}

// OpenClone finds the work tree of the clone in dir.
func OpenClone(dir string) (Clone, error) {
	repo, err := registry.Open(dir)
	if err != nil {
		return Clone{}, err
	}
	defer repo.Close()
	if repo.Store().Worktree() == "" {
		return Clone{}, remedy.Errorf("name a clone with a work tree",
			"the clone %s is bare, and the installation is read from the files on disk", dir)
	}
	head, err := repo.Resolve("HEAD")
	if err != nil {
		head = "" // nothing is committed yet
	}
	return Clone{repo.Store().Worktree(), choose.DefaultBranch(repo), head}, nil
}
