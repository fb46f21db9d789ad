package conformancecmd

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/typed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/opengap"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// OpenGAP is the format of an agent's directory.
var OpenGAP = &Protocol{name: "opengap", short: "check an agent's directory, or a runtime", rules: opengap.Rules,
	commands: []func(frame.IO, *Protocol) *cobra.Command{newOpenGAPAgent, newOpenGAPRuntime}}

// openGAPAgent has the flags and the argument of opengap agent.
type openGAPAgent struct {
	conformanceFlags
	dir, dialect, recommended, python string
}

func newOpenGAPAgent(sys frame.IO, p *Protocol) *cobra.Command {
	o := openGAPAgent{dir: "."}
	c := &cobra.Command{
		Use:   "agent [DIR]",
		Short: "check an agent's directory against its dialect",
		Long: strings.TrimSpace(`
agent reads the directory of an agent, this one by default, and runs nothing of it. Two formats bear the name OpenGAP:
0.4 has opengap: "0.4" in agent.yaml and skills in Python, 0.1 has spec_version and a SOUL.md. The report says which was read. What
a runtime does with the agent is for people to attest.`),
		Example: "  oap-conform opengap agent agents/helper\n" +
			"  oap-conform opengap agent --dialect 0.4 --recommended warn",
		Args: arguments(0, 1, "oap-conform opengap agent [DIR]", "agent requires one directory"),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 1 {
				o.dir = args[0]
			}
			return o.run(o.judge)
		},
	}
	o.bind(c, sys, p, false)
	f := c.Flags()
	f.StringVar(&o.dialect, "dialect", opengap.Auto, "`DIALECT` of the agent's directory: auto, 0.4 or 0.1")
	f.StringVar(&o.recommended, "recommended", "error",
		"`SEVERITY` of the checks that 0.4 is said to only recommend: error or warn")
	f.StringVar(&o.python, "python", "", "Python `FILE` that compiles the skills (default: python3 of PATH)")
	return c
}

func (o *openGAPAgent) judge() (*conformance, error) {
	if err := typed.OneOf("--dialect", o.dialect, opengap.Auto, opengap.Dialect04, opengap.Dialect01); err != nil {
		return nil, err
	}
	if err := typed.OneOf("--recommended", o.recommended, "error", "warn"); err != nil {
		return nil, err
	}
	options := opengap.Options{Dir: o.dir, Dialect: o.dialect, Recommended: verdict.Error,
		Python: func() (opengap.Python, error) { return startPython(o.python, o.dir) }}
	if o.recommended == "warn" {
		options.Recommended = verdict.Warning
	}
	j, err := opengap.Judge(options)
	switch {
	case errors.Is(err, opengap.ErrTooLarge):
		return nil, remedy.With(err, "name the directory of one agent, or add what is generated to its .gitignore")
	case err != nil:
		return nil, remedy.With(err, "name the agent's directory")
	}
	found := &conformance{subject: o.dir, rows: j.Rules, results: j.Results,
		chosen: "dialect " + j.Dialect + ": " + j.Because}
	if o.recommended == "warn" && j.Dialect == opengap.Dialect04 {
		found.assumed = []string{"--recommended warn"}
	}
	return found, nil
}
