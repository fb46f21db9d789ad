// Command schemas writes the JSON Schemas that follow from the program's types into a directory.
//
// go generate ./docs/schemas runs it. Names come from the json tags, keywords and descriptions from the tags of
// github.com/invopop/jsonschema. A member without omitempty is required.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"

	"github.com/invopop/jsonschema"

	"github.com/openagentprotocol-OAP/oap-gate/docs/schemas"
	"github.com/openagentprotocol-OAP/oap-gate/internal/author/listing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/oasis"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge/repoconfig"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/mirrorstate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/prove"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verify"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: schemas DIR")
		os.Exit(2)
	}
	made, err := generate()
	for name, text := range made {
		if err == nil {
			err = os.WriteFile(filepath.Join(os.Args[1], schemas.File(name)), text, 0o666)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(2)
	}
}

// generate returns the texts of the generated schemas, by name.
func generate() (map[string][]byte, error) {
	closed := jsonschema.Reflector{Anonymous: true, DoNotReference: true}
	// A report may get members within version 1.
	open := jsonschema.Reflector{AllowAdditionalProperties: true, ExpandedStruct: true}
	made := map[string][]byte{}
	for _, of := range []struct {
		name, title string
		reflector   *jsonschema.Reflector
		value       any
	}{
		{"report", "oap-gate report, version 1", &open, verdict.Report{}},
		{"bundle", "oap-gate evidence bundle", &closed, bundle.JSON{}},
		{"repo-config", "protections of an OAP registry", &closed, repoconfig.Config{}},
		{"verification-report", "Verification Report (RFC 0019 section 6)", &closed, verify.Report{}},
		{"listings", "listings of an OAP registry", &closed, listing.Rows{}},
		{"mirror-state", "state of a mirror of an OAP registry", &closed, mirrorstate.State{}},
		{"proof-report", "check of a proof of a listing", &closed, prove.Report{}},
	} {
		s := of.reflector.Reflect(of.value)
		if of.name == "report" {
			addOwn(s)
		}
		s.ID, s.Title = jsonschema.ID(schemas.ID(of.name)), of.title
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(s); err != nil {
			return nil, fmt.Errorf("writing the schema %s: %w", of.name, err)
		}
		made[of.name] = b.Bytes()
	}
	for _, name := range aaep.Schemas {
		made[name] = aaep.Schema(name, schemas.ID(name))
	}
	return made, nil
}

// addOwn adds the members that single products give to the schema of a report.
func addOwn(s *jsonschema.Schema) {
	const after = "protocol"
	r := jsonschema.Reflector{AllowAdditionalProperties: true, ExpandedStruct: true,
		Namer: func(t reflect.Type) string {
			if t == reflect.TypeFor[oasis.Facts]() {
				return "OASIS"
			}
			return ""
		}}
	own := r.Reflect(struct {
		OASIS *oasis.Facts `json:"oasis" jsonschema:"description=oap-conform oasis provider: what it was about"`
	}{})
	for p := own.Properties.Oldest(); p != nil; p = p.Next() {
		s.Properties.Set(p.Key, p.Value)
		if err := s.Properties.MoveAfter(p.Key, after); err != nil {
			panic(err) // a report has lost its member protocol
		}
	}
	for name, definition := range own.Definitions {
		s.Definitions[name] = definition
	}
}
