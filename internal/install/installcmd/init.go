// Package installcmd has the commands that install the gate and look after it at the forge: init, doctor, protect,
// comment, remind and rerun.
package installcmd

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/install"
	"github.com/openagentprotocol-OAP/oap-gate/internal/install/doctor"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// initOptions are those of init.
type initOptions struct {
	repo string
	dry  bool
	install.Release
}

func NewInit(sys frame.IO) *cobra.Command {
	var o initOptions
	c := &cobra.Command{
		Use:   "init",
		Short: "write the gate's workflows and configuration into a clone",
		Long: `init writes what docs/install.md names, with the gate pinned by the commit of a release. It never
overwrites: a file that is there and differs is shown with the difference, and kept.`,
		Example: "  oap-gate init --commit SHA --image sha256:DIGEST --owner @acme/registry-maintainers --dry-run",
		Args:    frame.NoArgs,
		RunE:    func(*cobra.Command, []string) error { return o.run(sys) },
	}
	f := c.Flags()
	f.StringVar(&o.repo, "repo", ".", "directory `DIR` of the clone")
	f.StringVar(&o.Commit, "commit", "", "`SHA` of the commit of a release, by which workflows name the gate")
	f.StringVar(&o.Version, "release", released(), "`VERSION` of that release, for the comment after the SHA")
	f.StringVar(&o.Image, "image", "", "`DIGEST` of the release's image; without it the workflows that run the image "+
		"are left out")
	f.StringVar(&o.Owner, "owner", "", "owner in CODEOWNERS who must approve changes of the gate: `@USER` or "+
		"@ORGANISATION/TEAM")
	f.BoolVar(&o.dry, "dry-run", false, "write nothing")
	return c
}

// released is the version of a released binary, empty for another.
func released() string {
	v := frame.Version().Version
	if v == "devel" || strings.Contains(v, "-") {
		return ""
	}
	return v
}

// initFix are the values that a Release is made of.
const initFix = "the notes of each release have the whole line: oap-gate init --release VERSION --commit SHA --image " +
	"sha256:DIGEST"

func (o *initOptions) run(sys frame.IO) error {
	if o.Commit == "" {
		return remedy.Errorf(initFix, "init needs --commit SHA: no program knows the commit that releases it")
	}
	if err := o.Check(); err != nil {
		return remedy.Errorf(initFix, "%v", err)
	}
	dir, err := WorkTree(o.repo)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return remedy.With(err, "name a clone with --repo")
	}
	defer root.Close()
	var out strings.Builder
	var paths, differ []string // to commit, to mend
	written := false
	for _, f := range install.Files(o.Release) {
		if f.Left != "" {
			fmt.Fprintf(&out, "left out  %s: %s (--image)\n", f.Path, f.Left)
			continue
		}
		state, difference, err := install.Write(root, f, o.dry)
		if err != nil {
			return errors.Join(o.told(sys, &out), remedy.With(err,
				"make it a plain file in a folder that can be written"))
		}
		fmt.Fprintf(&out, "%-8s  %s\n", o.word(state), f.Path)
		for line := range strings.Lines(string(difference)) {
			fmt.Fprintf(&out, "    %s\n", plain.Line(strings.TrimRight(line, "\r\n")))
		}
		written = written || state == install.Written
		if state == install.Differs {
			differ = append(differ, f.Path)
		} else {
			paths = append(paths, f.Path)
		}
	}
	others, err := doctor.Others(root.FS())
	if err != nil {
		return errors.Join(o.told(sys, &out), remedy.With(err, "run oap-gate doctor, which names the file"))
	}
	if len(others) > 0 {
		out.WriteString("\nbeside them, on pull requests:\n")
	}
	for _, other := range others {
		fmt.Fprintf(&out, "  %s reports %s\n", plain.Line(other.Path), plain.Line(strings.Join(other.Contexts, ", ")))
	}
	if written && !o.dry {
		next(&out, paths, differ, len(others) > 0, o.Owner == "")
	}
	return o.told(sys, &out)
}

func (o *initOptions) told(sys frame.IO, text *strings.Builder) error {
	_, err := fmt.Fprint(sys.Stdout, text)
	return err
}

// word is what is said of a file that was written, or would be.
func (o *initOptions) word(s install.State) string {
	if o.dry && s == install.Written {
		return "would write"
	}
	return string(s)
}

// next are the steps from the files to a required check, in their order.
func next(out *strings.Builder, paths, differ []string, others, owners bool) {
	out.WriteString("\nnext:\n")
	n := 0
	step := func(text string) {
		n++
		fmt.Fprintf(out, "  %d. %s\n", n, text)
	}
	if len(differ) > 0 {
		step("mend what differs, or move it away and run oap-gate init again: " + strings.Join(differ, " "))
	}
	if owners {
		step("in .github/CODEOWNERS replace @example/registry-maintainers by your team")
	}
	step("git switch -c oap-gate && git add " + strings.Join(paths, " ") + " && git commit -s -m 'Install the gate'")
	step("oap-gate doctor, then open the pull request, see the check oap-gate green once, and merge it")
	step("oap-gate protect --dry-run, then oap-gate protect --apply, with a token that may administer")
	if others {
		step("remove the workflows above whose checks the gate's replace, then take their names from what the branch " +
			"requires: oap-gate protect --apply --prune")
	}
}

// WorkTree is the root of a clone's work tree.
func WorkTree(dir string) (string, error) {
	repo, err := registry.Open(dir)
	if err != nil {
		return "", err
	}
	defer repo.Close()
	if repo.Worktree() == "" {
		return "", remedy.Errorf("name a clone with a work tree",
			"the clone %s is bare, and the installation is read from the files on disk", dir)
	}
	return repo.Worktree(), nil
}
