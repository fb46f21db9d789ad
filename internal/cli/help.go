package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/typed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/table"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
)

// networkFlags are the flags that say how the network is asked, or what replaces it. Help shows them in a group.
var networkFlags = []string{"budget", "ca-cert", "cache", "connect-to", "jobs", "local", "offline", "proxy", "rdap-url",
	"record", "replay", "retry-wait", "timeout", "whois-server"}

// A group has the commands of the help under one title.
type group struct {
	title    string
	commands []*cobra.Command
}

// helper sets how root and the commands below it print help.
func helper(t *table.Program, root *cobra.Command, groups []group, sys frame.IO) {
	columns := max(report.Columns, sys.OutWidth)
	root.SetUsageFunc(func(c *cobra.Command) error {
		_, err := io.WriteString(c.OutOrStdout(), usage(t, c, groups, columns))
		return err
	})
	root.SetHelpFunc(func(c *cobra.Command, _ []string) {
		text := strings.TrimSpace(cmp.Or(c.Long, c.Short))
		fmt.Fprintf(c.OutOrStdout(), "%s\n\n%s", wrap(text, columns), usage(t, c, groups, columns))
	})
	help, _, _ := root.Find([]string{"help"})
	root.SetHelpCommand(help)
}

// newCompletion returns cobra's command completion, whose texts are of another style.
func newCompletion(t *table.Program, sys frame.IO) *cobra.Command {
	root := &cobra.Command{Use: t.Name}
	root.CompletionOptions.DisableNoDescFlag = true
	root.SetOut(sys.Stdout)
	root.AddCommand(&cobra.Command{Use: "any"}) // without a command, there is nothing to complete
	root.InitDefaultCompletionCmd()
	c, _, _ := root.Find([]string{"completion"})
	root.RemoveCommand(c)
	c.Short = "print the completion script of a shell"
	c.Long = "completion prints the script by which a shell completes commands, flags and values.\n" +
		"The help of each shell says how to load it."
	c.Args, c.RunE = frame.KnownCommand, func(*cobra.Command, []string) error { return c.Help() }
	for _, shell := range c.Commands() {
		shell.Short = "print the completion script for " + shell.Name()
	}
	return c
}

// newHelp returns the command help, which explains a topic, or a command as its --help does.
func newHelp(t *table.Program, sys frame.IO) *cobra.Command {
	words := func(root *cobra.Command) (all []string) {
		for _, c := range root.Commands() {
			if c.IsAvailableCommand() {
				all = append(all, c.Name())
			}
		}
		for _, topic := range topics(t) {
			all = append(all, topic.Name)
		}
		return all
	}
	return &cobra.Command{
		Use:     "help [COMMAND | TOPIC]",
		Short:   "print the help of a command or a topic",
		Example: "  " + t.Name + " help explain\n  " + t.Name + " help exit-status",
		ValidArgsFunction: func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return words(c.Root()), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 1 {
				for _, topic := range topics(t) {
					if topic.Name == args[0] {
						_, err := fmt.Fprintln(sys.Stdout, topic.Text)
						return err
					}
				}
			}
			of, rest, err := c.Root().Find(args)
			if err != nil || len(rest) > 0 && of.HasAvailableSubCommands() {
				name := strings.Join(args, " ")
				fix := t.Name + " --help lists the commands and the topics"
				return remedy.Errorf(typed.DidYouMean(name, words(c.Root()), fix),
					"%q is not a command or a help topic", name)
			}
			of.InitDefaultHelpFlag() // a command that does not run lacks these flags
			of.InitDefaultVersionFlag()
			return of.Help()
		},
	}
}

// usage returns how a command is called: its commands in groups, its own flags, and those of the network.
func usage(t *table.Program, c *cobra.Command, groups []group, columns int) string {
	var b strings.Builder
	b.WriteString("Usage:\n")
	if c.Runnable() && c.HasParent() {
		fmt.Fprintln(&b, report.Hang("  ", c.UseLine(), 6, columns))
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s COMMAND [flags]\n", c.CommandPath())
	}
	if c.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", c.Example)
	}
	if c.HasParent() {
		commandList(&b, "Commands", c.Commands(), columns)
	} else {
		for _, g := range groups {
			commandList(&b, g.title, g.commands, columns)
		}
		b.WriteString("\nHelp topics:\n")
		for _, topic := range topics(t) {
			fmt.Fprintf(&b, "  %-12s %s\n", topic.Name, topic.Short)
		}
	}
	own, network := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if slices.Contains(networkFlags, f.Name) {
			network.AddFlag(f)
		} else {
			own.AddFlag(f)
		}
	})
	for _, set := range []struct {
		title string
		flags *pflag.FlagSet
	}{{"Flags", own}, {"Network and replay flags", network}} {
		if set.flags.HasAvailableFlags() {
			fmt.Fprintf(&b, "\n%s:\n%s", set.title, set.flags.FlagUsagesWrapped(columns))
		}
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\nMore about a command: %s COMMAND --help\n", c.CommandPath())
	}
	return b.String()
}

// commandList writes a line for each command that is not hidden.
func commandList(b *strings.Builder, title string, commands []*cobra.Command, columns int) {
	commands = slices.DeleteFunc(slices.Clone(commands), func(c *cobra.Command) bool {
		return !c.IsAvailableCommand() && c.Name() != "help"
	})
	if len(commands) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s:\n", title)
	for _, c := range commands {
		fmt.Fprintln(b, report.Hang(fmt.Sprintf("  %-12s ", c.Name()), c.Short, 15, columns))
	}
}

// wrap breaks the paragraphs of a text at a width. It keeps indented lines.
func wrap(text string, columns int) string {
	var out []string
	for _, paragraph := range strings.Split(text, "\n\n") {
		var kept, open []string
		flush := func() {
			if len(open) > 0 {
				kept, open = append(kept, report.Hang("", strings.Join(open, " "), 0, columns)), nil
			}
		}
		for line := range strings.SplitSeq(paragraph, "\n") {
			if strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") {
				flush()
				kept = append(kept, line)
			} else {
				open = append(open, line)
			}
		}
		flush()
		out = append(out, strings.Join(kept, "\n"))
	}
	return strings.Join(out, "\n\n")
}

// topics returns the help topics, in the order of the help.
func topics(t *table.Program) []table.Topic {
	return append([]table.Topic{
		{"environment", "the environment variables that the program reads",
			fmt.Sprintf(environmentTopic, t.Environment)},
		{"exit-status", "what the exit status of each command means", fmt.Sprintf(exitTopic, t.Exits)},
		{"formats", "the formats of stdout and of --report", "The formats of --format and --report FORMAT=FILE:\n\n  " +
			report.Hang("", strings.Join(report.Names(t.Formats), ", "), 2, report.Columns) + "\n\n" +
			report.About(t.Formats) + t.FormatRows + fmt.Sprintf(formatsTopic, t.FormatNote)},
	}, t.Topics...)
}

const environmentTopic = `The program reads these environment variables. None of them weakens a check.

  NO_COLOR              if it is set, text has no color (--color always wins)
  TERM                  if it is "dumb", text has no color
  GITHUB_TOKEN          token for the commands that ask the forge
  GH_TOKEN              the same, if GITHUB_TOKEN is not set
  GITHUB_REPOSITORY     default of --repository
  GITHUB_API_URL        default of --api-url

In a workflow, GITHUB_ACTIONS is true. Then the program also reads:

  GITHUB_ACTION         if it is set and there are no arguments: run as Action
  GITHUB_EVENT_NAME     the event that starts the run
  GITHUB_EVENT_PATH     the file that describes the event: base and head
  GITHUB_OUTPUT         the file for the outputs of the Action
  GITHUB_RUN_ID         the run that a comment or an issue links to
  GITHUB_SERVER_URL     the forge's web site, for that link
  GITHUB_STEP_SUMMARY   the file for the job summary, with --summary
  GITHUB_WORKSPACE      the directory in which no report may be a symbolic link
  INPUT_*               the inputs of the Action, and only of the Action

--worktree, --staged and key new run git, which reads its own variables. check
and governance read GIT_OBJECT_DIRECTORY and GIT_ALTERNATE_OBJECT_DIRECTORIES:
in a server's hook they name the pushed objects. To find the URL of a remote as
git does, verify reads XDG_CONFIG_HOME, GIT_CONFIG_GLOBAL, GIT_CONFIG_SYSTEM
and GIT_CONFIG_COUNT.%s

HTTP_PROXY, HTTPS_PROXY, NO_PROXY, SSL_CERT_FILE and SSL_CERT_DIR are ignored:
use --proxy and --ca-cert.`

const exitTopic = `The exit status of a command that judges:

  0   pass: every check passed; of verify: accepted
  1   fail: at least one check failed; of verify: refused
  2   error: the command could not run: wrong usage, not a repository, a
      shallow clone, an unknown revision, an unreadable bundle
  3   inconclusive: nothing failed, some evidence is missing; of verify:
      undecided

The last line on stdout begins with the same word. Several targets of verify:
2 before 1 before 3, and 0 only if each target is accepted.

Other commands:

%s

A panic is a bug: it prints one line with the version and exits 2.`

const formatsTopic = `
--format takes text, json and github; in a workflow the default is github.
%s
--report names each FILE once; - is stdout, for one format.
A FILE is replaced only if it is empty or a former output of this format; text,
github, markdown and checklist files begin with a line that names oap-gate.
Scripts read codes and JSON members, which never change. Messages may.`
