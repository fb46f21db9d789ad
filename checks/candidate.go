package checks

import (
	"github.com/openagentprotocol-OAP/oap-gate/registry"

	jsonschema "github.com/openagentprotocol-OAP/oap-gate/internal/schema"
)

// NewCandidate is the subject of a record that stands in no tree, such as the draft of a listing, as its addition to what
// the base of r holds.
func NewCandidate(r *Run, rec *registry.Record) *Subject {
	return newSubject(r, registry.Change{Path: rec.Path, Head: &rec.Entry}, registry.Sides{Head: rec})
}

// EmptyStanding is what no registry holds: nobody stands there, and the built-in schemas judge.
func EmptyStanding() *Standing {
	st := emptyStanding(nil)
	st.Schemas = builtinSchemas()
	return st
}

func builtinSchemas() *Schemas {
	out := &Schemas{byKind: map[registry.Kind]*jsonschema.Schema{}, source: map[registry.Kind]string{}, broken: map[string]error{}}
	for _, f := range schemaFiles {
		for _, k := range f.kinds {
			out.byKind[k], out.source[k] = jsonschema.Builtin(f.name), "oap-gate schema "+f.name
		}
	}
	return out
}
