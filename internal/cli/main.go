// Package cli is the command line: commands, flags, environment, exit status. The command line is the
// project's public interface; no Go interface is promised.
package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/openagentprotocol-OAP/oap-gate/gate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/domainage"
	"github.com/openagentprotocol-OAP/oap-gate/internal/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/signing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// IO is what the program knows of its surroundings.
type IO struct {
	// floor is never touched, so no memory of the machine: it only tells the collector to let the first 32 MiB of
	// garbage be, which is more than the check of a small registry makes, and most of what an audit of one does.
	floor []byte

	Stdin          io.Reader // nil: empty
	Stdout, Stderr io.Writer
	Getenv         func(string) string
	OutTerminal    bool // stdout is a terminal
	ErrTerminal    bool // stderr is a terminal

	args []string // of Main
	// inputs are the Action's inputs by the flags that they set; nil: the arguments are the caller's own.
	inputs  map[string]string
	refused error // what is wrong with the inputs; the command tells it
}

// inAction reports whether the arguments were made of the Action's inputs.
func (sys IO) inAction() bool { return sys.inputs != nil }

// System gives the process to the program, with its log and its collector set for it, and is its surroundings.
func System() IO {
	// net/http logs what a server sends unasked, and foreign text does not belong on stderr.
	log.SetOutput(io.Discard)
	// Half the usual garbage: a registry of 100,000 listings and hostile replies must fit in 300 MiB.
	debug.SetGCPercent(50)
	return IO{floor: make([]byte, 64<<20), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv,
		OutTerminal: term.IsTerminal(int(os.Stdout.Fd())), ErrTerminal: term.IsTerminal(int(os.Stderr.Fd()))}
}

// What commands promise to stay below, in bytes.
const (
	mostOfShard  = 500 << 20 // and of merge
	mostOfMirror = 400 << 20 // at 100,000 listings
)

// frugal collects garbage the more often the nearer memory comes to what a command promises to stay below, unless
// GOMEMLIMIT says something else. More than that is no error.
func frugal(most int64) {
	const own = 36 << 20 // the program's own pages, less the floor
	if debug.SetMemoryLimit(-1) == math.MaxInt64 {
		debug.SetMemoryLimit(most - own)
	}
}

// status is the exit status of a run that has a verdict already told.
type status int

func (s status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// Main runs the program with these arguments and gives its exit status: 0 pass, 1 fail, 2 could not run,
// 3 inconclusive.
func Main(args []string, sys IO) (code int) {
	defer runtime.KeepAlive(sys.floor)
	defer func() {
		if r := recover(); r != nil {
			complain(sys, crashed(r))
			code = verdict.Errored.ExitStatus()
		}
	}()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	if sys.Stdin == nil {
		sys.Stdin = strings.NewReader("")
	}
	if len(args) == 0 && sys.Getenv("GITHUB_ACTIONS") == "true" && sys.Getenv("GITHUB_ACTION") != "" {
		args = actionArguments(&sys)
	}
	sys.args = args
	if slices.ContainsFunc(args, signing.HoldsKey) { // before the parser, whose errors repeat what they refuse
		complain(sys, signing.ErrIsKey())
		return verdict.Errored.ExitStatus()
	}
	root := Command(sys)
	root.SetArgs(append([]string{}, args...)) // cobra takes nil for the process's own arguments
	err := root.ExecuteContext(ctx)
	var s status
	switch {
	case err == nil:
		return 0
	case errors.As(err, &s):
		return int(s)
	}
	complain(sys, err)
	if e, ok := errors.AsType[*judgement](err); ok {
		return e.verdict.ExitStatus()
	}
	return verdict.Errored.ExitStatus()
}

// judgement is an error that is a verdict: the program ends with its exit status.
type judgement struct {
	error
	verdict verdict.Verdict
}

func (j *judgement) Unwrap() error { return j.error }

// refusef says why nothing is written, and what would be: what was asked for can never pass.
func refusef(fix, format string, args ...any) error {
	return &judgement{remedy.Errorf(fix, format, args...), verdict.Failed}
}

// inconclusivef says why nothing was decided: another try may.
func inconclusivef(fix, format string, args ...any) error {
	return &judgement{remedy.Errorf(fix, format, args...), verdict.Inconclusive}
}

// crashed is a bug, told in one line: there is nothing that would mend it here.
func crashed(value any) error {
	return remedy.Errorf("", "oap-gate %s crashed, which is a bug: %v", version().Version, value)
}

// complain tells an error on stderr.
func complain(sys IO, err error) {
	message, fix := describe(err)
	fmt.Fprintf(sys.Stderr, "error: %s\n", plain.Line(message))
	if fix != "" {
		fmt.Fprintf(sys.Stderr, "fix: %s\n", plain.Line(fix))
	}
}

// describe splits an error into what happened and what would mend it, which only a bug leaves empty.
func describe(err error) (message, fix string) {
	e, ok := errors.AsType[remedy.Fixer](err)
	switch {
	case errors.Is(err, context.Canceled): // by a signal: nothing else ends the context of a run
		return "interrupted, before there was a verdict", "run it again"
	case errors.Is(err, gate.ErrNoRegistry) && !ok:
		fix = "name the clone with --repo; a new registry begins with implementations/.gitkeep"
	case errors.Is(err, verdict.ErrFile):
		fix = "free space there, or name another folder for temporary files with TMPDIR"
	case errors.Is(err, gate.ErrEmptyRange):
		fix = "check out the pull request as actions/checkout does by default, with fetch-depth: 0"
	case ok:
		fix = e.Fix()
	default:
		fix = "see: oap-gate --help"
	}
	if code := remedy.CodeOf(err); code != "" {
		return fmt.Sprintf("%s [%s]", err, code), fix
	}
	return err.Error(), fix
}

// Command is the program as its command line, with all commands below it.
func Command(sys IO) *cobra.Command {
	root := &cobra.Command{
		Use:           "oap-gate",
		Version:       version().Version,
		Args:          knownCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
		Short:         "the gate of an OAP registry: checks pull requests, revalidates clones",
		SilenceErrors: true,
		SilenceUsage:  true,
		Long: strings.TrimSpace(`
oap-gate reads a registry's Git tree and a pull request's changes, fetches the evidence
(DID Document, Manifest, Receipt, domain age, peer witnesses), runs the checks of RFC 0026,
and reports per check, with file, line and what would pass.

exit status: 0 pass, 1 a check failed, 2 could not run, 3 inconclusive`),
		Example: `  oap-gate demo
  oap-gate check --worktree
  oap-gate explain receipt-fetch`,
	}
	root.SuggestionsMinimumDistance = 2
	root.SetVersionTemplate("oap-gate {{.Version}}\n")
	root.SetOut(sys.Stdout)
	root.SetErr(sys.Stderr)
	root.SetFlagErrorFunc(sys.flagError)
	root.AddCommand(newCheck(sys), newAudit(sys), newMirror(sys), newReplay(sys), newDemo(sys), newMerge(sys),
		newComment(sys), newDoctor(sys), newProtect(sys), newConformance(sys), newGovernance(sys), newInit(sys),
		newRemind(sys), newRerun(sys), newExplain(sys), newSchema(sys), newVersion(sys))
	root.AddCommand(newVerify(sys), newNew(sys), newRenew(sys), newRevoke(sys), newWitness(sys))
	root.AddCommand(newKey(sys), newList(sys), newFmt(sys), newProve(sys), newChanges(sys))
	complete(root)
	refuseEmpty(root)
	return root
}

// flagError says what is wrong with a flag, by the name of the Action's input where that set it.
func (sys IO) flagError(c *cobra.Command, err error) error {
	if value, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		flag := value.GetFlag()
		e, fixed := errors.AsType[*remedy.Error](err)
		input := sys.inputs[flag.Name]
		switch {
		case fixed && input == "":
			return remedy.Errorf(e.Fix(), "--%s %v", flag.Name, e)
		case fixed:
			return remedy.Errorf(e.Fix(), "input %s: %v", input, e)
		case input != "" && flag.Value.Type() == "bool":
			return remedy.Errorf("use true or false", "input %s is %q", input, value.GetValue())
		case input != "":
			return remedy.Errorf("use a number", "input %s is %q", input, value.GetValue())
		}
	}
	fix := "see: " + c.CommandPath() + " --help"
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		// A long flag with one dash is taken for several short ones.
		if name := cmp.Or(unknown.GetSpecifiedShortnames(), unknown.GetSpecifiedName()); len(name) > 1 {
			fix = remedy.DidYouMean("--"+name, names, fix)
		}
	}
	return remedy.Errorf(fix, "%v", err)
}

// knownCommand refuses a first word that names no command, and says which may have been meant.
func knownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	fix := "see: oap-gate --help"
	if like := c.SuggestionsFor(args[0]); len(like) > 0 {
		fix = "did you mean: oap-gate " + strings.Join(like, ", oap-gate ")
	}
	return remedy.Errorf(fix, "no command is called %q", args[0])
}

// wants refuses another number of arguments; usage is the command with them, what what it wants.
func wants(n int, usage, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return remedy.Errorf(usage, "%s, %d arguments were given", what, len(args))
		}
		return nil
	}
}

// noArgs refuses arguments in the program's own words.
func noArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		fix := "see: " + c.CommandPath() + " --help"
		if c.Flags().Lookup("repo") != nil {
			fix = "leave it out; a clone is named with --repo DIR"
		}
		return remedy.Errorf(fix, "%s takes no argument, %q was given", c.CommandPath(), args[0])
	}
	return nil
}

// release is the version of a released binary, set by -ldflags "-X …/internal/cli.release=v1.2.3".
var release string

// revision is the commit of a released binary, set likewise where the build has no VCS stamp.
var revision string

// version tells which build this is.
func version() verdict.Tool {
	t := verdict.Tool{Version: "devel", Commit: "unknown"}
	if release != "" {
		t.Version = release
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		if release == "" && info.Main.Version != "" && info.Main.Version != "(devel)" {
			t.Version = info.Main.Version
		}
		for _, s := range info.Settings {
			if s.Key == "vcs.revision" {
				t.Commit = s.Value
			}
		}
	}
	if revision != "" {
		t.Commit = revision
	}
	return t
}

func newVersion(sys IO) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "version, commit, Go version, public suffix list",
		Example: "  oap-gate version",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			t := version()
			fmt.Fprintf(sys.Stdout, "oap-gate %s\ncommit %s\n%s %s/%s\n"+
				"public suffix list %s, sha256 %s\n", t.Version, t.Commit, runtime.Version(), runtime.GOOS,
				runtime.GOARCH, domainage.ListDate, domainage.ListSHA256)
			return nil
		},
	}
}
