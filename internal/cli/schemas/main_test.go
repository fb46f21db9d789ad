package main

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/docs/schemas"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	builtin "github.com/openagentprotocol-OAP/oap-gate/internal/strict/schema"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestCurrent checks that each schema is written by hand or equals what the program's types give, that no other file
// is there, and that the program prints the file.
func TestCurrent(t *testing.T) {
	made := must.Get(generate())(t)
	var files []string
	for _, name := range slices.Concat(schemas.Names, aaep.Schemas) {
		files = append(files, schemas.File(name))
		text := must.Read(t, "../../../docs/schemas/"+schemas.File(name))
		if want := made[name]; want == nil != slices.Contains(builtin.Names, name) {
			t.Errorf("%s: generated is %v", name, want != nil)
		} else if want != nil && !bytes.Equal(text, want) {
			t.Errorf("docs/schemas/%s is not current; run: go generate ./docs/schemas", schemas.File(name))
		}
		var members struct {
			ID string `json:"$id"`
		}
		if err := json.Unmarshal(text, &members); err != nil || members.ID != schemas.ID(name) {
			t.Errorf("%s: $id is %q, %v; expected %q", name, members.ID, err, schemas.ID(name))
		}
		if own := schemas.Text(name); own != nil && !bytes.Equal(own, text) {
			t.Errorf("%s: the program has another text than docs/schemas/%s", name, schemas.File(name))
		}
	}
	entries := must.Get(os.ReadDir("../../../docs/schemas"))(t)
	for _, e := range entries {
		if e.Name() != "schemas.go" && !slices.Contains(files, e.Name()) {
			t.Errorf("docs/schemas/%s is not a schema of the program", e.Name())
		}
	}
}
