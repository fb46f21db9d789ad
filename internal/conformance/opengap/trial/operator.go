package trial

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/strictyaml"
)

// MaxOperator is the size of an operator's file, in bytes.
const MaxOperator = 64 << 10

// Operator says how a runtime is used.
type Operator struct {
	Run, Validate, Versions []string // arguments after the command
	Import, Provider        string
	Models                  []string // three; nil: new names
	Env                     map[string]string
	AgentYAML               map[string]any // members of each agent.yaml, as JSON has them
	Hook, Flow              string         // text of probe.py; empty: the runtime's form is not known
}

// DefaultOperator returns what an operator's file replaces.
func DefaultOperator() *Operator {
	return &Operator{Run: []string{"run", "--prompt", "{prompt}"}, Validate: []string{"validate"},
		Versions: []string{"--version"}, Import: "gitagent", Provider: "openai"}
}

var placeholder = plain.Pattern(`\{[a-z_]+\}`)

// ReadOperator reads an operator's file. The error wraps a *strictyaml.Error where the place of the fault is known.
func ReadOperator(path string, data []byte) (*Operator, error) {
	root, err := strictyaml.Parse(path, data, MaxOperator)
	if err != nil {
		return nil, err
	}
	refuse := func(n *yaml.Node, format string, args ...any) error {
		return &strictyaml.Error{Pos: strict.Pos{Path: path, Line: n.Line, Column: n.Column},
			Message: fmt.Sprintf(format, args...)}
	}
	if root.Kind != yaml.MappingNode {
		return nil, refuse(root, "the file is not a mapping")
	}
	o := DefaultOperator()
	for i := 0; i+1 < len(root.Content); i += 2 {
		key, v := root.Content[i], root.Content[i+1]
		known := map[string][]string{"run": {"{prompt}", "{dir}", "{session}"}, "validate": {"{dir}", "{session}"},
			"versions": {"{dir}", "{session}"}, "env": {"{openai_url}", "{anthropic_url}"}, "agent_yaml": {"{model}"}}
		if words, limited := known[key.Value]; limited {
			if word := unknownWord(v, words); word != "" {
				return nil, refuse(v, "%s has %s; expected %s", key.Value, word, strings.Join(words, ", "))
			}
		}
		var err error
		switch key.Value {
		case "run":
			if o.Run, err = texts(v); err == nil && !slices.ContainsFunc(o.Run, func(s string) bool {
				return strings.Contains(s, "{prompt}")
			}) {
				err = fmt.Errorf("has no {prompt}")
			}
		case "validate":
			o.Validate, err = texts(v)
		case "versions":
			o.Versions, err = texts(v)
		case "models":
			o.Models, err = texts(v)
			if names := slices.Compact(slices.Sorted(slices.Values(o.Models))); err == nil && (len(o.Models) != 3 ||
				len(names) != 3) {
				err = fmt.Errorf("has %d names; expected three distinct ones", len(names))
			}
		case "import":
			o.Import, err = text(v)
		case "provider":
			o.Provider, err = text(v)
		case "hook", "flow":
			var code string
			if code, err = text(v); err == nil && !strings.Contains(code, "{trace}") {
				err = fmt.Errorf("has no {trace}")
			}
			if key.Value == "hook" {
				o.Hook = code
			} else {
				o.Flow = code
			}
		case "env":
			o.Env = map[string]string{}
			if v.Kind != yaml.MappingNode {
				return nil, refuse(v, "env is not a mapping of texts")
			}
			for j := 0; j+1 < len(v.Content) && err == nil; j += 2 {
				o.Env[v.Content[j].Value], err = text(v.Content[j+1])
			}
		case "agent_yaml":
			if o.AgentYAML, _ = conformance.Value(v).(map[string]any); o.AgentYAML == nil {
				err = fmt.Errorf("is not a mapping")
			}
		default:
			return nil, refuse(key, "%q is not a member of an operator's file", key.Value)
		}
		if err != nil {
			return nil, refuse(v, "%s %v", key.Value, err)
		}
	}
	return o, nil
}

// unknownWord returns a word in braces that is not replaced; empty: each one is.
func unknownWord(v *yaml.Node, known []string) string {
	for _, word := range placeholder().FindAllString(v.Value, -1) {
		if !slices.Contains(known, word) {
			return word
		}
	}
	for _, c := range v.Content {
		if word := unknownWord(c, known); word != "" {
			return word
		}
	}
	return ""
}

func text(v *yaml.Node) (string, error) {
	if v.Kind != yaml.ScalarNode || v.Tag != "!!str" || v.Value == "" {
		return "", fmt.Errorf("is not a text")
	}
	return v.Value, nil
}

func texts(v *yaml.Node) (all []string, err error) {
	if v.Kind != yaml.SequenceNode || len(v.Content) == 0 {
		return nil, fmt.Errorf("is not a list of texts")
	}
	for _, c := range v.Content {
		one, err := text(c)
		if err != nil {
			return nil, fmt.Errorf("is not a list of texts")
		}
		all = append(all, one)
	}
	return all, nil
}
