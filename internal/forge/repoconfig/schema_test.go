package repoconfig_test

import (
	"encoding/json"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/openagentprotocol-OAP/oap-gate/docs/schemas"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge/repoconfig"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/schema"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// The JSON Schema that is printed and the reader agree, but for what a schema cannot say.
func TestSchemaAgreesWithTheReader(t *testing.T) {
	s := must.Get(schema.Compile("repo-config", schemas.Text("repo-config")))(t)
	example := must.Read(t, "../../../docs/repo-config.example.yml")
	for _, c := range []struct{ name, from, to string }{
		{"example", "", ""},
		{"version", "version: 1", "version: 2"},
		{"unknown member", "approvals: 1", "reviews: 1"},
		{"approvals", "approvals: 1 ", "approvals: 11 "},
		{"text for a switch", "up_to_date: true", `up_to_date: "true"`},
		{"no context", "context: oap-gate", `context: ""`},
		{"app 0", "app_id: 15368", "app_id: 0"},
		{"a queue", "merge_queue: false", "merge_queue: true\n  queue: {build: 100, wait: 0}"},
		{"a queue that builds nothing", "merge_queue: false", "merge_queue: true\n  queue: {build: 0}"},
		{"a setting that no queue has", "merge_queue: false", "merge_queue: true\n  queue: {speed: 1}"},
		{"member left out", "  linear_history: false\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Replace(string(example), c.from, c.to, 1)
			var v any
			must.OK(t, yaml.Unmarshal([]byte(text), &v))
			b := must.Get(json.Marshal(v))(t)
			doc, err := strict.Parse("repo-config", b, strict.RegistryFile)
			must.OK(t, err)
			violations := s.Validate(doc.Root)
			_, err = repoconfig.Parse([]byte(text))
			if (err == nil) != (len(violations) == 0) {
				t.Errorf("the reader says %v, the schema %v", err, violations)
			}
		})
	}
}
