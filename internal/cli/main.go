// Package cli lists the products and runs the command line.
//
// The command line is the project's public interface; no Go interface of this package is promised.
package cli

import (
	"context"
	"fmt"
	"io"
	"log"
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

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/table"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/domainage"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/signing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// floor is never touched, so it takes no memory of the machine. It only makes the collector leave the first 32 MiB of
// garbage, which is more than the check of a small registry creates, and most of what an audit of one does. It has many
// pieces, because the runtime clears, and so touches, a piece that begins in memory which was used before.
var floor [16][]byte

// System gives the process to the program, with its log and its collector set for it, and is its surroundings.
func System() frame.IO {
	// net/http logs what a server sends unasked, and foreign text does not belong on stderr.
	log.SetOutput(io.Discard)
	debug.SetGCPercent(-1) // each few pieces of the floor would begin a collection, six in all
	for i := range floor {
		floor[i] = make([]byte, 4<<20)
	}
	// Half the usual garbage: a registry of 100,000 listings and hostile replies must fit in 300 MiB.
	debug.SetGCPercent(50)
	return frame.IO{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv,
		OutWidth: terminalWidth(os.Stdout), ErrWidth: terminalWidth(os.Stderr)}
}

// terminalWidth returns the columns of a terminal, 80 if it does not say, and 0 for what is not a terminal.
func terminalWidth(f *os.File) int {
	if !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 0 {
		return width
	}
	return report.Columns
}

// Run runs the program of the table with these arguments and returns its exit status: 0 pass, 1 fail, 2 could not run,
// 3 inconclusive.
func Run(t *table.Program, args []string, sys frame.IO) int {
	if sys.Stdin == nil {
		sys.Stdin = strings.NewReader("")
	}
	defer runtime.KeepAlive(floor)
	sys = sys.As(t.Name, t.Formats, t.FormatOf)
	if now := moved(t, args); now != "" {
		fmt.Fprintln(sys.Stderr, "error:", now)
		return verdict.Errored.ExitStatus()
	}
	return frame.Run(sys, func() error {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		defer stop()
		context.AfterFunc(ctx, stop) // a second signal ends the program at once
		var inputs map[string]string
		var refused error
		if len(args) == 0 && sys.Getenv("GITHUB_ACTIONS") == "true" && sys.Getenv("GITHUB_ACTION") != "" {
			args, inputs, refused = actionArguments(t, sys, mistaken(t, sys))
		}
		if slices.ContainsFunc(args, signing.HoldsKey) { // before the parser, whose errors repeat what they refuse
			return signing.ErrIsKey()
		}
		root := Command(t, sys.Given(args, inputs, refused))
		if c, _, err := root.Find(args); refused != nil && err == nil && c.Flags().Lookup("summary") == nil {
			return refused // the command has no report that would say it
		}
		root.SetArgs(append([]string{}, args...)) // cobra takes nil for the process's own arguments
		return root.ExecuteContext(ctx)
	})
}

// moved returns which command line has the words of the arguments now, empty if this one has them. No flag is read yet.
func moved(t *table.Program, args []string) string {
	if len(args) > 0 && args[0] == "help" {
		args = args[1:]
	}
	for _, m := range t.Moved {
		if words := strings.Fields(m[0]); len(args) >= len(words) && slices.Equal(args[:len(words)], words) {
			return fmt.Sprintf("%s %s is %s", t.Name, m[0], m[1])
		}
	}
	return ""
}

// Command returns the program of the table as its command line, with all commands below it.
func Command(t *table.Program, sys frame.IO) *cobra.Command {
	sys = sys.As(t.Name, t.Formats, t.FormatOf)
	root := &cobra.Command{
		Use:           t.Name,
		Version:       frame.Version().Version,
		Args:          frame.KnownCommand,
		RunE:          func(c *cobra.Command, _ []string) error { return c.Help() },
		Short:         t.Short,
		SilenceErrors: true,
		SilenceUsage:  true,
		Long:          strings.TrimSpace(t.Long),
		Example:       t.Example,
	}
	root.SuggestionsMinimumDistance = 2
	root.SetVersionTemplate(t.Name + " {{.Version}}\n")
	root.SetOut(sys.Stdout)
	root.SetErr(sys.Stderr)
	root.SetFlagErrorFunc(sys.FlagError)
	var groups []group
	for _, g := range t.Groups {
		in := group{title: g.Title}
		for _, command := range g.Commands {
			in.commands = append(in.commands, command(sys))
		}
		groups = append(groups, in)
	}
	last := &groups[len(groups)-1]
	last.commands = append(last.commands, newExplain(t, sys), newSchema(t, sys), newHelp(t, sys), newCompletion(t, sys),
		newVersion(t, sys))
	for _, g := range groups {
		root.AddCommand(g.commands...)
	}
	complete(t, root)
	refuseEmpty(root)
	helper(t, root, groups, sys)
	return root
}

func newVersion(t *table.Program, sys frame.IO) *cobra.Command {
	var rules bool
	c := &cobra.Command{
		Use:     "version",
		Short:   "print version, commit, Go version and public suffix list",
		Example: "  " + t.Name + " version",
		Args:    frame.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if rules {
				_, err := io.WriteString(sys.Stdout, t.Rules())
				return err
			}
			v := frame.Version()
			fmt.Fprintf(sys.Stdout, "%s %s\ncommit %s\n%s %s/%s\n"+
				"public suffix list %s, sha256 %s\n", t.Name, v.Version, v.Commit, runtime.Version(), runtime.GOOS,
				runtime.GOARCH, domainage.ListDate, domainage.ListSHA256)
			return nil
		},
	}
	if t.Rules != nil {
		c.Example += "\n  " + t.Name + " version --rules | sha256sum"
		c.Flags().BoolVar(&rules, "rules", false,
			"print the version, the checks, the schemas and the public suffix list; "+
				"statements name the SHA-256 of this")
	}
	return c
}

// givenFlag is a text that, where its flag is given, says something. A script whose variable is not set gives an empty
// one: taken for left out, it would leave a condition out that the caller set.
type givenFlag struct{ pflag.Value }

func (g givenFlag) Set(text string) error {
	if text == "" {
		return remedy.Errorf("give it a value, or leave it out", "is empty")
	}
	return g.Value.Set(text)
}

// refuseEmpty makes givenFlags of the texts among the flags of c and of the commands below it.
func refuseEmpty(c *cobra.Command) {
	for _, sub := range c.Commands() {
		refuseEmpty(sub)
	}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		switch f.Value.Type() {
		case "string", "stringSlice":
			f.Value = givenFlag{f.Value}
			if f.DefValue == "[]" { // help would show it, of a type that pflag does not know
				f.DefValue = ""
			}
		}
	})
}
