package cli

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/openagentprotocol-OAP/oap-gate/docs/schemas"
	"github.com/openagentprotocol-OAP/oap-gate/internal/frame"
)

// matches checks a text against a schema that the program prints.
func matches(t *testing.T, name string, text []byte) {
	t.Helper()
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(schemas.Text(name)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("mem:schema", schema); err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.MustCompile("mem:schema").Validate(value); err != nil {
		t.Errorf("%s: %v\n%s", name, err, text)
	}
}

// What is written validates against the schema that is printed for it.
func TestPrintedSchemas(t *testing.T) {
	w := build(t, "base: [{listing: eve}]\npr: [{listing: ada}, {listing: bob, registered: none}]\n")
	none := func(string) string { return "" }
	file := func(name string) string { return filepath.Join(w.Repo.Dir, "..", name) }
	for _, args := range [][]string{
		slices.Concat([]string{"check", "--record", file("check.bundle"), "--report", "json=" + file("check.report")},
			w.Args(), w.RangeArgs()),
		slices.Concat([]string{"audit", "--record", file("audit.bundle"), "--report", "json=" + file("audit.report")},
			w.Args()),
		{"check", "--report", "json=" + file("error.report"), "--repo", file("nowhere")},
		slices.Concat([]string{"verify", "eve", "--registry", w.Repo.Dir, "--canonical", "--level", "L1", "--record",
			file("verify.bundle"),
			"--report", "json=" + file("verify.report")}, w.WebArgs()),
		{"verify", "http://eve.example", "--report", "json=" + file("refused.report")},
	} {
		Main(args, frame.IO{Stdout: io.Discard, Stderr: io.Discard, Getenv: none})
	}
	var listed bytes.Buffer
	Main(slices.Concat([]string{"list", "--format", "json"}, w.Args()[:4]), frame.IO{Stdout: &listed,
		Stderr: io.Discard,
		Getenv: none})
	if err := os.WriteFile(file("listings"), listed.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	written := map[string][]string{"bundle": {"check.bundle", "audit.bundle", "verify.bundle"},
		"report": {"check.report", "audit.report", "error.report"}, "listings": {"listings"},
		"verification-report": {"verify.report", "refused.report"}}
	for _, name := range schemas.Names {
		var out bytes.Buffer
		if code := Main([]string{"schema", name}, frame.IO{Stdout: &out, Stderr: io.Discard, Getenv: none}); code != 0 {
			t.Fatalf("schema %s: exit status %d", name, code)
		}
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		document, err := jsonschema.UnmarshalJSON(&out)
		if err == nil {
			err = c.AddResource("mem:schema", document)
		}
		if err != nil {
			t.Fatalf("schema %s: %v", name, err)
		}
		schema, err := c.Compile("mem:schema")
		if err != nil {
			t.Fatalf("schema %s: %v", name, err)
		}
		if schema.Validate(json.Number("1")) == nil {
			t.Errorf("schema %s takes a number", name)
		}
		for _, name := range written[name] {
			text, err := os.ReadFile(file(name))
			if err != nil {
				t.Fatal(err)
			}
			value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
			if err == nil {
				err = schema.Validate(value)
			}
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// TestVerificationReportIsDescribed checks that each member of the Verification Report has a description.
func TestVerificationReportIsDescribed(t *testing.T) {
	var root map[string]any
	if err := json.Unmarshal(schemas.Text("verification-report"), &root); err != nil {
		t.Fatal(err)
	}
	members := 0
	var walk func(path string, v any)
	walk = func(path string, v any) {
		object, _ := v.(map[string]any)
		properties, _ := object["properties"].(map[string]any)
		for name, member := range properties {
			members++
			m, _ := member.(map[string]any)
			if text, _ := m["description"].(string); text == "" {
				t.Errorf("%s/%s has no description", path, name)
			}
			walk(path+"/"+name, member)
		}
		items, _ := object["items"].(map[string]any)
		if items != nil {
			walk(path+"[]", items)
		}
	}
	walk("", root)
	if members < 50 {
		t.Errorf("%d members, want all", members)
	}
}
