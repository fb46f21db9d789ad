package aaep

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/form"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/strictyaml"
)

// Limits of a file of scenarios.
const (
	MaxScenarioFile = 256 << 10
	maxScenarios    = 50
)

// TextOf returns a member that is a text.
func TextOf(n *yaml.Node, name string) string {
	_, v := strictyaml.Member(n, name)
	return v.Value
}

// ReadList reads a YAML list of mappings. Each has a name of its own, a member that is one of some words, and what a
// row of a table says.
func ReadList(path string, data []byte, row, member string, words []string) (*form.File, error) {
	f, err := form.Read(path, data, MaxScenarioFile, 0)
	if err != nil {
		return nil, err
	}
	table := fmt.Sprintf(". list items at least 1 items at most %d\n[].name text that is not empty required\n"+
		"[].%s text one of %s required\n%s", maxScenarios, member, strings.Join(words, " "), row)
	if err := f.Check(form.Table("a scenario", table)); err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for i, n := range f.Root.Content {
		name := f.Value(fmt.Sprintf("/%d/name", i)).Value
		if names[name] {
			return nil, f.Fault(n, "two of the list are called %q", name)
		}
		names[name] = true
	}
	return f, nil
}
