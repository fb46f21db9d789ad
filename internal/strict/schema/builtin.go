package schema

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"reflect"
	"sync"

	"github.com/invopop/jsonschema"
)

// Names lists the built-in schemas. Each is a file of our own words whose structure is that of the schema which the
// registry or the specification publishes; the gate policy's alone is its own.
var Names = []string{"listing", "revocation", "workflow-anchor", "receipt", "gate-policy"}

//go:embed builtin/*.json
var files embed.FS

var builtins = func() map[string]func() *Schema {
	all := map[string]func() *Schema{}
	for _, name := range Names {
		all[name] = sync.OnceValue(func() *Schema {
			s, err := Compile(name, Text(name))
			if err != nil {
				panic(err) // a file of this package is wrong
			}
			return s
		})
	}
	return all
}()

// Builtin returns the built-in schema of that name, or nil.
func Builtin(name string) *Schema {
	if compiled := builtins[name]; compiled != nil {
		return compiled()
	}
	return nil
}

// Text returns the built-in schema of that name as JSON, or nil.
func Text(name string) []byte {
	text, err := files.ReadFile("builtin/" + name + ".json")
	if err != nil {
		return nil
	}
	return text
}

// Reflect gives the JSON Schema of a Go type as indented JSON. Names come from the json tags, keywords from the
// tags of github.com/invopop/jsonschema. A field without omitempty is required, and objects are closed. The
// type must not refer to itself.
func Reflect(v any, id, title string) []byte {
	r := jsonschema.Reflector{Anonymous: true, DoNotReference: true}
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
