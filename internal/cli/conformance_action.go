package cli

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// protocolStep is a command of a protocol as the Action runs it.
type protocolStep struct {
	command func(IO, *protocol) *cobra.Command
	asked   string   // the input that chooses it; empty: it is chosen where no other is
	flags   []string // each set by the input of its name
	args    string   // the input whose words are its arguments; empty: it takes none
}

// always are the inputs that have a default, so that a step has them whatever its mode.
var always = []string{"path", "offline", "governance", "exception", "timeout"}

// modes are those of the Action: actionModes, and one for each protocol.
func modes() []actionMode {
	all := slices.Clone(actionModes)
	for i := range protocols {
		all = append(all, actionMode{protocols[i].name, protocols[i].act})
	}
	return all
}

// act runs the command of a protocol that the inputs choose, with the flags that they set. The inputs are this
// process's environment: no runner has quoted the arguments that are made of them.
func (p *protocol) act(ctx context.Context, sys IO, event string) error {
	var o conformanceFlags
	o.bind(&cobra.Command{}, sys, p, true)
	err := o.readInputs(sys.Getenv)
	if err == nil && event == "pull_request_target" {
		err = usagef("use pull_request", "the event pull_request_target runs with the base repository's rights, on a "+
			"stranger's files")
	}
	argv, wrong := p.arguments(sys)
	if err == nil {
		err = wrong
	}
	if err != nil {
		return o.failed(sys, err)
	}
	told := []string{"--max-annotations=" + strconv.Itoa(o.maxAnnotations), "--summary=" +
		strconv.FormatBool(o.summary)}
	for _, r := range o.reports {
		told = append(told, "--report="+r)
	}
	argv = slices.Insert(argv, 3, told...)
	sys.args, sys.inAction = argv, true
	root := Command(sys)
	root.SetArgs(argv)
	return root.ExecuteContext(ctx)
}

// arguments are those of the command line that the inputs stand for.
func (p *protocol) arguments(sys IO) ([]string, error) {
	input := func(name string) string { return strings.TrimSpace(sys.Getenv("INPUT_" + strings.ToUpper(name))) }
	s := p.steps[slices.IndexFunc(p.steps, func(s protocolStep) bool { return s.asked == "" || input(s.asked) != "" })]
	c := s.command(sys, p)
	argv := []string{"conformance", p.name, c.Name()}
	for _, name := range slices.Concat(s.flags, []string{"offline", "timeout", "budget"}) {
		if v := input(name); v != "" && c.Flags().Lookup(name) != nil {
			argv = append(argv, "--"+name+"="+v)
		}
	}
	taken := slices.Concat(s.flags, always, []string{s.args, "budget"})
	for _, name := range slices.Concat([]string{"checks", "skip", "base"}, protocolInputs()) {
		if input(name) != "" && !slices.Contains(taken, name) {
			return nil, usagef("leave it empty, or choose another mode",
				"mode %s does not take the input %s here, it is %q",
				p.name, name, input(name))
		}
	}
	if s.args != "" {
		argv = append(argv, "--")
		var rest []string
		_ = words(&rest)(input(s.args)) // which refuses nothing
		argv = append(argv, rest...)
	}
	return argv, nil
}

// protocolInputs are the inputs that one protocol or another takes, those with a default apart.
func protocolInputs() []string {
	var all []string
	for _, p := range protocols {
		for _, s := range p.steps {
			all = append(all, s.flags...)
			if !slices.Contains(always, s.args) && s.args != "" {
				all = append(all, s.args)
			}
		}
	}
	return all
}
