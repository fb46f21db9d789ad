package frame

import (
	"cmp"
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/typed"
)

// FlagError says what is wrong with a flag, by the name of the Action's input where that set it.
func (sys IO) FlagError(c *cobra.Command, err error) error {
	if value, ok := errors.AsType[*pflag.InvalidValueError](err); ok {
		flag := value.GetFlag()
		e, fixed := errors.AsType[*remedy.Error](err)
		input := sys.inputs[flag.Name]
		kind := "a whole number"
		if flag.Value.Type() == "bool" {
			kind = "true or false"
		}
		switch {
		case fixed && input == "":
			return remedy.Errorf(e.Fix(), "--%s %v", flag.Name, e)
		case fixed:
			return remedy.Errorf(e.Fix(), "input %s: %v", input, e)
		case input != "":
			return remedy.Errorf("use "+kind, "input %s is %q", input, value.GetValue())
		}
		return remedy.Errorf("give "+kind, "--%s %q is not %s", flag.Name, value.GetValue(), kind)
	}
	if _, fixed := errors.AsType[*remedy.Error](err); fixed {
		return err
	}
	fix := c.CommandPath() + " --help shows the usage"
	if unknown, ok := errors.AsType[*pflag.NotExistError](err); ok {
		var names []string
		c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
		// A long flag with one dash is taken for several short ones.
		if name := cmp.Or(unknown.GetSpecifiedShortnames(), unknown.GetSpecifiedName()); len(name) > 1 {
			fix = typed.DidYouMean("--"+name, names, fix)
			if other := map[string]string{"repo": "registry",
				"registry": "repo"}[name]; c.Flags().Lookup(other) != nil {
				fix = "name the clone with --" + other + " DIR"
			}
		}
	}
	return remedy.Errorf(fix, "%v", err)
}

// Wants refuses another number of arguments; usage is the command with them, what what it wants.
func Wants(n int, usage, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) != n {
			return remedy.Errorf(usage, "%s; %s given", what, plain.Count(len(args), "argument"))
		}
		return nil
	}
}

// NoArgs refuses arguments in the program's own words.
func NoArgs(c *cobra.Command, args []string) error {
	if len(args) > 0 {
		fix := c.CommandPath() + " --help shows the usage"
		if c.Flags().Lookup("repo") != nil {
			fix = "leave it out; a clone is named with --repo DIR"
		}
		return remedy.Errorf(fix, "%s takes no argument, %q was given", c.CommandPath(), args[0])
	}
	return nil
}

// KnownCommand refuses a first word that names no command below c, and says which may have been meant.
func KnownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	fix := c.CommandPath() + " --help lists the commands"
	if like := c.SuggestionsFor(args[0]); len(like) > 0 {
		fix = "did you mean: " + c.CommandPath() + " " + strings.Join(like, ", "+c.CommandPath()+" ")
	}
	return remedy.Errorf(fix, "no command is called %q", args[0])
}
