package outside

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/schema"
)

const schemaModule = "github.com/google/jsonschema-go"

var schemaSuite = &judge{name: "JSON-Schema-Test-Suite 2020-12", version: goVersion(schemaModule), cases: 1099,
	explained: []explanation{
		{".*", stricter, "a schema that the gate refuses: `$dynamicRef`, a nested `$id`, a reference to another " +
			"document, or a pattern that needs more than RE2", isUnsupported},
	},
	run: func(r *run) {
		dir, _ := module(r, schemaModule)
		dir = filepath.Join(dir, "jsonschema", "testdata", "draft2020-12")
		files, err := os.ReadDir(dir)
		if err != nil {
			r.Fatal(err)
		}
		for _, f := range files {
			if !strings.HasSuffix(f.Name(), ".json") {
				continue
			}
			var groups []struct {
				Description string
				Schema      json.RawMessage
				Tests       []struct {
					Description string
					Data        json.RawMessage
					Valid       bool
				}
			}
			readJSON(r, &groups, dir, f.Name())
			for i, g := range groups {
				for k, c := range g.Tests {
					id := fmt.Sprintf("%s %d.%d %s: %s", f.Name(), i, k, g.Description, c.Description)
					r.compare(id, answer{value: fmt.Sprint(c.Valid)}, func() (string, error) {
						s, err := schema.Compile("s.json", g.Schema)
						if err != nil {
							return "", err
						}
						doc, err := strict.Parse("d.json", c.Data, strict.Remote(1<<20))
						if err != nil {
							return "", fmt.Errorf("reading the instance: %w", err)
						}
						return fmt.Sprint(s.Validate(doc.Root) == nil), nil
					})
				}
			}
		}
	}}

// isUnsupported reports whether the schema was refused, and not the instance.
func isUnsupported(k kase) bool { return !strings.Contains(k.detail, "reading the instance") }
