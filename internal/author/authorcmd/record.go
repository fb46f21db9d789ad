// Package authorcmd has the commands that write, sign and list records: new, renew, revoke, witness, key, fmt and list.
package authorcmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/author/listing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/typed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/usergit"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/choose"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/checkpoint"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge/replay"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt/explain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// recordFlags are those of the commands that write a record into a clone's work tree.
type recordFlags struct {
	frame.Network
	repo, base      string
	dryRun, noCheck bool
}

func (o *recordFlags) bind(c *cobra.Command) {
	f := c.Flags()
	frame.BindRepo(c, &o.repo)
	f.StringVar(&o.base, "base", "",
		"commit `REV` to land on (default: as check --worktree chooses it)")
	o.Network.Bind(f, "5m")
	o.Network.BindLocal(f)
	f.BoolVar(&o.dryRun, "dry-run", false, "change nothing; print what would be written")
	f.BoolVar(&o.noCheck, "no-check", false, "write without running check on the file first")
}

// check refuses what no run could use.
func (o *recordFlags) check() error {
	return typed.First(o.Network.Check, func() error {
		return (&frame.Output{}).Place(&o.Network, nil, nil)
	})
}

// workspace is a clone that a record is written into, and what the world says about it.
type workspace struct {
	repo *registry.Repository
	tree *listing.Tree  // nil of a bare clone, which a dry run may have
	base string         // commit that the record would land on
	at   *registry.Tree // its tree
	how  string         // it was chosen
	date time.Time      // committer date of base
	src  evidence.Source
	stop func() // showing progress
}

// open opens the clone, which must hold a registry and, to be written into, have a work tree, and the source of
// evidence.
func (o *recordFlags) open(ctx context.Context, sys frame.IO) (_ *workspace, err error) {
	w, err := o.look(ctx, sys)
	if err != nil {
		return nil, err
	}
	if dir := w.repo.Store().Worktree(); dir != "" {
		w.tree, err = listing.OpenTree(dir)
	} else if !o.dryRun {
		err = remedy.Errorf("name a clone with a work tree with --repo",
			"the clone is bare, and a record is written into a work tree")
	}
	if err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// look opens the clone, which must hold a registry, and the source of evidence, and prints which base it reads.
func (o *recordFlags) look(ctx context.Context, sys frame.IO) (_ *workspace, err error) {
	w := &workspace{stop: func() {}}
	defer func() {
		if err != nil {
			w.close()
		}
	}()
	if w.repo, err = frame.OpenClone(sys, o.repo); err != nil {
		return nil, err
	}
	if w.base, w.how, err = choose.Base(w.repo, o.base); err != nil {
		return nil, err
	}
	if w.at, err = w.repo.Tree(ctx, w.base); err != nil {
		return nil, err
	}
	if _, found, err := w.at.Entry(registry.KindListing.Directory()); err != nil || !found {
		return nil, errors.Join(err, fmt.Errorf("%w: the base %s (%s) has no directory implementations/",
			judge.ErrNoRegistry, plain.Short(w.base), w.how))
	}
	commit, err := w.repo.Commit(ctx, w.base)
	if err != nil {
		return nil, err
	}
	w.date = commit.When
	if w.src, w.stop, err = o.Source(sys, nil); err != nil {
		return nil, err
	}
	fmt.Fprintln(sys.Stderr, foreign.Line(w.named()))
	return w, nil
}

// named returns the base in words: its commit, the branch that it was read from, and its date.
func (w *workspace) named() string {
	return fmt.Sprintf("base %s (%s, %s)", plain.Short(w.base), w.how, w.date.UTC().Format(time.DateOnly))
}

// publicRegistry is the registry that contributors fork.
const publicRegistry = "https://github.com/openagentprotocol-OAP/oap-registry"

// lacksUpstream reports whether the clone has no remote that is the registry: a fork is not.
func (w *workspace) lacksUpstream() bool {
	origin := strings.TrimSuffix(strings.TrimSuffix(w.repo.Store().RemoteURL(), "/"), ".git")
	_, path, _ := strings.Cut(publicRegistry, "github.com/")
	overSSH := strings.Contains(origin, "github.com:") && strings.HasSuffix(origin, ":"+path) ||
		strings.HasPrefix(origin, "ssh://") && strings.HasSuffix(origin, "github.com/"+path)
	return !w.repo.Store().HasRemote("upstream") && origin != publicRegistry && !overSSH
}

func (w *workspace) close() {
	w.stop()
	if w.tree != nil {
		w.tree.Close()
	}
	if w.repo != nil {
		w.repo.Close()
	}
}

// read reads a record from the work tree, or from the base if the work tree has no such file. Errors are those of
// [listing.Tree.Read].
func (w *workspace) read(ctx context.Context, path string) ([]byte, error) {
	if w.tree != nil {
		return w.tree.Read(path)
	}
	text, err := w.at.File(ctx, path, int64(strict.RegistryFile.Bytes))
	if err == nil && text == nil {
		err = fs.ErrNotExist
	}
	return text, err
}

// standing returns the state of the base tree.
func (w *workspace) standing(ctx context.Context) (*checks.Standing, error) {
	return checks.NewStanding(ctx, w.at, func(string) bool { return true })
}

// listed returns the base tree's listing of a slug.
func (w *workspace) listed(st *checks.Standing, slug string) (*checks.Listed, error) {
	if l := st.BySlug(slug); l != nil {
		return l, nil
	}
	return nil, remedy.Errorf(w.unlistedFix(slug), "%s has no listing %q", w.named(), slug)
}

// unlistedFix returns the fix for a slug that the base does not list. The base of a fork may be old.
func (w *workspace) unlistedFix(slug string) string {
	switch {
	case w.lacksUpstream():
		_, inClone, _ := w.fromHere("")
		return fmt.Sprintf("git%s remote add upstream %s && git%[1]s fetch upstream", inClone, publicRegistry)
	case w.repo.Store().HasRemote("upstream") && !strings.HasPrefix(w.how, "upstream/"):
		return "leave --base out: the base is then the main branch of upstream"
	}
	return "oap-gate list shows the slugs; to list a new one: oap-gate new " + slug + " TARGET"
}

// lostFix returns the fix for a record that the base has and the work tree lacks. A branch that began before the record
// was merged has to take in the base: the record alone would be one that the branch adds.
func (w *workspace) lostFix(ctx context.Context, path string) string {
	_, inClone, _ := w.fromHere("")
	if head, err := w.repo.Resolve("HEAD"); err == nil {
		if has, err := w.repo.IsAncestor(ctx, w.base, head); err == nil && !has {
			return "git" + inClone + " merge " + plain.ShellWord(w.how)
		}
	}
	return "git" + inClone + " checkout " + plain.Short(w.base) + " -- " + path
}

// fromHere returns a record's path as named from the current directory, and the flags by which git and oap-gate find
// the clone from there. In the clone itself the flags are empty.
func (w *workspace) fromHere(path string) (named, inClone, ofClone string) {
	root := w.repo.Store().Worktree()
	if usergit.SameFile(".", root) {
		return path, "", ""
	}
	return root + "/" + path, " -C " + plain.ShellWord(root), " --repo " + plain.ShellWord(root)
}

// proposal is a record that was written, and how it becomes a pull request.
type proposal struct {
	path    string // path in the registry
	branch  string // to propose it on
	message string // of its commit
}

// refusable are the checks whose errors refuse a record also if --no-check is given: without what they require it can
// never pass, whatever else its owner does about it.
var refusable = []string{"did-resolution", "receipt-fetch", "receipt-signature", "receipt-validity", "reissue",
	"revocations"}

// refuses reports whether an error of a check refuses a record also if --no-check is given: that of a refusable check,
// or that the Receipt is another DID's.
func refuses(check string, f verdict.Finding) bool {
	return slices.Contains(refusable, check) || check == "receipt-claims" && f.Pointer == "/tool_did"
}

// allow reports what check says about a record that is about to be written, and refuses one that fails: what names the
// consequence. With --no-check it reports nothing, and refuses only what is refusable.
func (o *recordFlags) allow(sys frame.IO, w *workspace, rep *verdict.Report, path, what string) error {
	if !o.noCheck {
		w.stop()
		fmt.Fprintln(sys.Stderr)
		shown := *rep
		shown.Chosen = "" // the first line of the output names the base
		if err := report.Write(sys.Stderr, "text", &shown, report.Options{Rules: mirror.Catalogue()}); err != nil {
			return err
		}
	} else {
		reportTrial(sys, o.Local())
	}
	for r := range rep.Results.All() {
		for _, f := range r.Findings {
			if f.Severity == verdict.Error && (!o.noCheck || r.Subject == path && refuses(r.Check, f)) {
				fix := f.Fix
				if !f.RetryAt.IsZero() {
					fix += "; it may pass from " + f.RetryAt.Format(time.RFC3339) + " on"
				}
				return refusef(fix, "%s: %s: %s [%s]", what, r.Check, f.Message, f.Code)
			}
		}
	}
	return nil
}

// shown prints what a run without --dry-run would write. The error is the exit status of the check that judged it.
func (o *recordFlags) shown(sys frame.IO, w *workspace, text string, judged *verdict.Report) error {
	if _, err := io.WriteString(sys.Stdout, text); err != nil {
		return err
	}
	if err := o.save(w); err != nil || o.noCheck {
		return err
	}
	return frame.Judged(nil, judged.Verdict)
}

// written prints the path of a record that was written, and the commands that follow. The error is the exit status of
// the check that judged the record.
func (o *recordFlags) written(sys frame.IO, w *workspace, p proposal, judged *verdict.Report) error {
	path, inClone, ofClone := w.fromHere(p.path)
	fmt.Fprintln(sys.Stdout, foreign.Line(path))
	if err := o.save(w); err != nil {
		return err
	}
	found := verdict.Passed
	if !o.noCheck {
		found = judged.Verdict
	}
	git := "git" + inClone + " "
	var commands []string
	base := w.how
	if found != verdict.Passed {
		commands = append(commands, "oap-gate check --worktree"+ofClone+"   # until it passes")
	}
	if w.lacksUpstream() {
		commands = append(commands, git+"remote add upstream "+publicRegistry, git+"fetch upstream")
		base = "upstream/main"
	}
	if w.repo.Store().Symbolic("HEAD") != "refs/heads/"+p.branch {
		commands = append(commands, git+"switch -c "+p.branch+" "+plain.ShellWord(base))
	}
	add := "add -f " // whether Git ignores the file, only git could say
	if _, err := os.Stat(filepath.Join(w.repo.Store().GitDir(), "info", "sparse-checkout")); err == nil {
		add += "--sparse "
	}
	commands = append(commands, git+add+p.path, git+"commit -s -m "+plain.ShellWord(p.message))
	if local := report.LocalFlags(o.Local()); local != "" { // the documents may not be public yet
		commands = append(commands, "oap-gate check"+ofClone+local)
	}
	printNext(sys, append(commands, git+"push -u origin "+p.branch)...)
	return frame.Judged(nil, found)
}

// printNext prints the commands that follow.
func printNext(sys frame.IO, commands ...string) {
	fmt.Fprintf(sys.Stderr, "\nnext:\n")
	for _, command := range commands {
		fmt.Fprintf(sys.Stderr, "  %s\n", foreign.Line(command))
	}
}

// judgeText judges a text as if it were committed so on top of the base, before it is written. The error is that of the
// context if the run was asked to end: what was not reached then says nothing of the record.
func (o *recordFlags) judgeText(ctx context.Context, w *workspace, path string, text []byte) (*verdict.Report, error) {
	repo, err := registry.Open(o.repo) // a work tree is read once from a repository that is open
	if err != nil {
		return nil, err
	}
	defer repo.Close()
	rng, err := repo.TextRange(ctx, w.base, path, text)
	if err != nil {
		return nil, err
	}
	rep, err := judge.Check(ctx, repo, []*registry.Range{rng}, w.src, o.config(w))
	return rep, cmp.Or(ctx.Err(), err)
}

func (o *recordFlags) config(w *workspace) judge.Config {
	return judge.Config{Tool: frame.Version(), Origin: checkpoint.PublicOrigin(w.repo.Store().RemoteURL()),
		Offline: o.AsksNobody(), Selected: func(string) bool { return true }, Assumed: o.Network.Assumed(),
		Explain: explain.Signature,
		Chosen:  fmt.Sprintf("base %s (%s), head the file on disk", plain.Short(w.base), w.how)}
}

// save writes the bundle of --record: what check --worktree needs to judge the same documents.
func (o *recordFlags) save(w *workspace) error {
	if o.Record == "" {
		return nil
	}
	how := fmt.Sprintf("base %s (%s), head the files on disk", plain.Short(w.base), w.how)
	b := replay.NewBundle("check", choose.Chosen{Base: w.base, How: how}, o.config(w), w.src)
	b.MergeBase, b.Flags.Governance = w.base, "review"
	return report.Keep(o.Record, b)
}

// reportTrial prints which hosts were read from directories, for a run that prints no report.
func reportTrial(sys frame.IO, local []string) {
	if len(local) > 0 {
		fmt.Fprintln(sys.Stderr, report.Trial(local))
	}
}

// refusef says why nothing is written, and what would be: what was asked for can never pass.
func refusef(fix, format string, args ...any) error {
	return frame.Judged(remedy.Errorf(fix, format, args...), verdict.Failed)
}

// inconclusivef says why nothing was decided: another try may.
func inconclusivef(fix, format string, args ...any) error {
	return frame.Judged(remedy.Errorf(fix, format, args...), verdict.Inconclusive)
}
