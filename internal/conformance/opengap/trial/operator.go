package trial

import (
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/form"
)

// MaxOperator is the size of an operator's file, in bytes.
const MaxOperator = 64 << 10

// Operator says how a runtime is used.
type Operator struct {
	Run, Validate, Versions []string // arguments after the command
	Import, Provider        string
	Models                  []string // three; nil: new names
	Env                     map[string]string
	AgentYAML               map[string]any `yaml:"-"` // members of each agent.yaml, as JSON has them
	Hook, Flow              string         // text of probe.py; empty: the runtime's form is not known
}

// DefaultOperator returns what an operator's file replaces.
func DefaultOperator() *Operator {
	return &Operator{Run: []string{"run", "--prompt", "{prompt}"}, Validate: []string{"validate"},
		Versions: []string{"--version"}, Import: "gitagent", Provider: "openai"}
}

// table is the table of an operator's file.
var table = sync.OnceValue(func() *form.Shape {
	return form.Table("an operator's file", `
run list that is not empty
run[] text that is not empty
validate list that is not empty
validate[] text that is not empty
versions list that is not empty
versions[] text that is not empty
import text that is not empty
provider text that is not empty
models list items at least 3 items at most 3 without repeats, which is a list of three different texts
models[] text that is not empty
env.* text that is not empty
agent_yaml map
hook text that is not empty
flow text that is not empty`)
})

var placeholder = plain.Pattern(`\{[a-z_]+\}`)

// words are those in braces that a member must have, and those that are replaced in it; empty: none is looked for.
var words = []struct{ member, needs, takes string }{
	{"run", "{prompt}", "{prompt}, {dir}, {session}"}, {"validate", "", "{dir}, {session}"},
	{"versions", "", "{dir}, {session}"}, {"env", "", "{openai_url}, {anthropic_url}"}, {"agent_yaml", "", "{model}"},
	{"hook", "{trace}", ""}, {"flow", "{trace}", ""},
}

// ReadOperator reads an operator's file. The error wraps a *strictyaml.Error where the place of the fault is known.
func ReadOperator(path string, data []byte) (*Operator, error) {
	f, err := form.ReadMapping(path, data, MaxOperator, 0)
	if err != nil {
		return nil, err
	}
	if err := f.Check(table()); err != nil {
		return nil, err
	}
	for _, of := range words {
		v := f.Value("/" + of.member)
		if v == nil {
			continue
		}
		text := v.Value
		form.Walk(v, func(n, key *yaml.Node, _ string) { text += key.Value + "\n" + n.Value + "\n" })
		for _, word := range placeholder().FindAllString(text, -1) {
			if of.takes != "" && !strings.Contains(of.takes, word) {
				return nil, f.Fault(v, "%s has %s; expected %s", of.member, word, of.takes)
			}
		}
		if !strings.Contains(text, of.needs) {
			return nil, f.Fault(v, "%s has no %s", of.member, of.needs)
		}
	}
	o := DefaultOperator()
	if v := f.Value("/agent_yaml"); v != nil {
		o.AgentYAML = form.Plain(v).(map[string]any)
	}
	if err := f.Root.Decode(o); err != nil {
		return nil, f.Fault(f.Root, "it cannot be read: %v", err)
	}
	return o, nil
}
