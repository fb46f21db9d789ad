package aaep

import (
	"fmt"

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

// ReadList reads a YAML list of mappings. Each has a name of its own, and what the rows of a table say.
func ReadList(path string, data []byte, rows string) (*form.File, error) {
	f, err := form.Read(path, data, MaxScenarioFile, 0)
	if err != nil {
		return nil, err
	}
	table := fmt.Sprintf(". list items at least 1 items at most %d, which is a list of 1 to %[1]d scenarios\n"+
		"[].name text that is not empty required\n%s", maxScenarios, rows)
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
