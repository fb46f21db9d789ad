package schema

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"

	"github.com/invopop/jsonschema"
)

// baseID is where the $id of a built-in schema begins; its name and .json follow.
const baseID = "https://github.com/openagentprotocol-OAP/oap-gate/schemas/"

// Names lists the built-in schemas.
var Names = []string{"listing", "revocation", "workflow-anchor", "receipt", "gate-policy"}

var builtins = map[string]func() builtin{
	"listing":         sync.OnceValue(func() builtin { return build("listing", "Listing", listing{}, false) }),
	"revocation":      sync.OnceValue(func() builtin { return build("revocation", "Revocation", revocation{}, false) }),
	"workflow-anchor": sync.OnceValue(func() builtin { return build("workflow-anchor", "Workflow anchor", workflowAnchor{}, false) }),
	"receipt":         sync.OnceValue(func() builtin { return build("receipt", "Conformance Receipt", receipt{}, true) }),
	"gate-policy":     sync.OnceValue(func() builtin { return build("gate-policy", "Gate policy", gatePolicy{}, false) }),
}

type builtin struct {
	text   []byte
	schema *Schema
}

func build(name, title string, v any, open bool) builtin {
	text := reflectType(v, baseID+name+".json", title, open)
	s, err := Compile(name, text)
	if err != nil {
		panic(err) // a struct tag of this package is wrong
	}
	return builtin{text, s}
}

// Builtin is the schema of that name, or nil where there is none.
func Builtin(name string) *Schema {
	if b := builtins[name]; b != nil {
		return b().schema
	}
	return nil
}

// Text is the built-in schema of that name as JSON, or nil where there is none.
func Text(name string) []byte {
	if b := builtins[name]; b != nil {
		return bytes.Clone(b().text)
	}
	return nil
}

// Reflect gives the JSON Schema of a Go type as indented JSON. Names come from the json tags, keywords from the
// tags of github.com/invopop/jsonschema. A field without omitempty is required, and objects are closed. The
// type must not refer to itself.
func Reflect(v any, id, title string) []byte { return reflectType(v, id, title, false) }

func reflectType(v any, id, title string, open bool) []byte {
	r := jsonschema.Reflector{Anonymous: true, DoNotReference: true, AllowAdditionalProperties: open}
	s := r.ReflectFromType(reflect.TypeOf(v))
	s.ID, s.Title = jsonschema.ID(id), title
	text, err := json.Marshal(s)
	if err != nil {
		panic(fmt.Sprintf("marshalling the schema of %T: %v", v, err)) // the type is no JSON type
	}
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		panic(fmt.Sprintf("indenting the schema of %T: %v", v, err))
	}
	out.WriteByte('\n')
	return out.Bytes()
}
