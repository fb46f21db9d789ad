// Package schemas contains the JSON Schemas of the files that the program reads and writes.
//
// Those of the registry's and the specification's documents, and that of the gate policy, are written by hand. The
// others follow from the program's types: go generate ./docs/schemas writes them.
package schemas

import (
	"embed"
	"slices"
)

//go:generate go run ../../internal/cli/schemas .

//go:embed [^a]*.json
var files embed.FS

// base is the URL of this directory on the main branch.
const base = "https://raw.githubusercontent.com/openagentprotocol-OAP/oap-gate/main/docs/schemas/"

// Names lists the schemas that are texts of this package. A protocol makes its own, and their files are here too.
var Names = []string{"listing", "revocation", "workflow-anchor", "receipt", "report", "bundle", "gate-policy",
	"repo-config", "verification-report", "listings", "mirror-state", "proof-report"}

// File returns the file name of a schema. A schema that refuses a document that its version accepts gets the next
// version, in a file of its own.
func File(name string) string {
	if name == "bundle" {
		return name + "-v2.json"
	}
	return name + "-v1.json"
}

// ID returns the URL of a schema, which serves it.
func ID(name string) string { return base + File(name) }

// Text returns a schema as indented JSON, or nil if no schema has that name.
func Text(name string) []byte {
	if !slices.Contains(Names, name) {
		return nil
	}
	text, err := files.ReadFile(File(name))
	if err != nil {
		panic(err) // a file of this package is missing
	}
	return text
}
