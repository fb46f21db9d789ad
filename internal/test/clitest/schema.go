package clitest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/openagentprotocol-OAP/oap-gate/docs/schemas"
	"github.com/openagentprotocol-OAP/oap-gate/internal/cli/programs"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// Schemas returns the texts of the schemas of all programs, by name.
func Schemas() map[string][]byte {
	all := map[string][]byte{}
	for _, p := range programs.All {
		for _, name := range p.Schemas {
			all[name] = p.Schema(name)
		}
	}
	return all
}

// Printed returns the schemas that the programs print, by name.
var Printed = sync.OnceValue(func() map[string]*jsonschema.Schema {
	all := map[string]*jsonschema.Schema{}
	for name, text := range Schemas() {
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			panic(err)
		}
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		if err := c.AddResource(schemas.ID(name), document); err != nil {
			panic(err)
		}
		all[name] = c.MustCompile(schemas.ID(name))
	}
	return all
})

// Matches checks a text against a schema that a program prints.
func Matches(t *testing.T, name string, text []byte) {
	t.Helper()
	value := must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(text)))(t)
	if err := Printed()[name].Validate(value); err != nil {
		t.Errorf("%s: %v\n%s", name, err, text)
	}
}

// recognized are members by which a test knows which schema a JSON object is of; the first schema with all of them.
var recognized = []struct {
	schema  string
	members []string
}{
	{"verification-report", []string{"mode", "steps"}},
	{"report", []string{"mode", "results"}},
	{"proof-report", []string{"slug", "cosigned"}},
	{"listings", []string{"commit", "listings"}},
}

// Invalid returns what is wrong with the JSON objects of a text, one after another, by the schemas that the programs
// print; nil if nothing is, or if the text does not begin as an object.
func Invalid(text string) error {
	if !strings.HasPrefix(text, "{") {
		return nil
	}
	for d := json.NewDecoder(strings.NewReader(text)); ; {
		var one json.RawMessage
		if err := d.Decode(&one); err != nil {
			return nil // the end, or text that follows
		}
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader(one))
		if err != nil {
			return err
		}
		object, _ := value.(map[string]any)
		for _, r := range recognized {
			if slices.ContainsFunc(r.members, func(name string) bool { _, has := object[name]; return !has }) {
				continue
			}
			if err := Printed()[r.schema].Validate(value); err != nil {
				return fmt.Errorf("schema %s: %w", r.schema, err)
			}
			break
		}
	}
}
