package aaep

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/form"
)

// Schemas are the names of the schemas of [Schema].
var Schemas = []string{"aaep-event", "aaep-reply", "aaep-subscription", "aaep-manifest"}

// Schema returns the JSON Schema of that name, with that identifier, or nil if the name is unknown. It follows the
// tables of members, and requires of one message what the checks aaep-envelope and aaep-schema require.
func Schema(name, id string) []byte {
	var of Object
	title := ""
	switch name {
	case "aaep-event":
		of, title = envelopeSchema(), "An event of AAEP"
		of["allOf"] = append(byType(coreTable, namespaces...), Object{
			"if": ofType(names(coreTable, namespaces...)), "then": Shapes()[EveryCore].Schema()})
	case "aaep-reply":
		of, title = oneOfTypes(replyTable), "A reply of a subscriber of AAEP"
	case "aaep-subscription":
		of, title = oneOfTypes(subscriptionTable), "A message of a subscription of AAEP"
	case "aaep-manifest":
		of, title = Shapes()[ProducerManifest].Schema(), "The manifest of a producer of AAEP"
		of["properties"].(Object)["type"] = typeOf(names(manifestTable, namespaces...))
	default:
		return nil
	}
	of["$schema"], of["$id"], of["title"] = "https://json-schema.org/draft/2020-12/schema", id, title
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(of); err != nil {
		panic(err) // texts and numbers of the program's own
	}
	return b.Bytes()
}

// envelopeSchema returns the schema of what every event has.
func envelopeSchema() Object {
	properties, required := Object{}, []string{}
	for _, row := range envelopeTable() {
		of := maps.Clone(row.schema)
		of["description"] = row.words
		if properties[row.name] = of; row.required {
			required = append(required, row.name)
		}
	}
	return Object{"type": "object", "properties": properties, "required": required}
}

// oneOfTypes returns the schema of an object of one of some types.
func oneOfTypes(types []messageType) Object {
	return Object{"type": "object", "required": []string{"type"},
		"properties": Object{"type": typeOf(names(types, ""))}, "allOf": byType(types, "")}
}

// typeOf returns the schema of the member type of a message of these types.
func typeOf(names []string) Object {
	return Object{"enum": names, "description": "type of the message"}
}

// ofType returns the condition that an object has one of some types.
func ofType(names []string) Object {
	return Object{"properties": Object{"type": Object{"enum": names}},
		"required": []string{"type"}}
}

// byType returns a condition for each type that has members.
func byType(types []messageType, namespaces ...string) []any {
	var all []any
	for _, m := range types {
		all = append(all, Object{"if": ofType(names([]messageType{m}, namespaces...)),
			"then": Shapes()[m.name].Schema()})
	}
	return all
}

// MemberRow is a row of the table of members, for people.
type MemberRow struct {
	Message string // its type, or every event
	Member  string // with the members that it is in, joined by full stops
	Need    string // required or optional
	Form    string
}

// MemberRows returns the members that a check judges, all of them if the check is "".
func MemberRows(check string) []MemberRow {
	var rows []MemberRow
	add := func(message, member string, required bool, words string) {
		need := "optional"
		if required {
			need = "required"
		}
		rows = append(rows, MemberRow{message, member, need, words})
	}
	if check == "" || check == Envelope.ID {
		for _, row := range envelopeTable() {
			add("every event", row.name, row.required, row.words)
		}
	}
	for _, t := range []struct {
		of    *Rule
		types []messageType
	}{
		{MemberSchema, append(slices.Clone(coreTable), summaryTable)}, {Handshake, subscriptionTable},
		{Handshake, replyTable}, {Handshake, []messageType{{name: CapabilitiesName}}}, {LiveManifest, manifestTable},
	} {
		for _, m := range t.types {
			if check != "" && check != t.of.ID {
				continue
			}
			Shapes()[m.name].Each(func(path string, of *form.Shape) bool {
				add(m.name, path, of.Required(), of.String())
				return strings.HasSuffix(path, CapabilitiesName) // which are rows of their own
			})
		}
	}
	return rows
}

// Explain returns the members that a check judges, a line for each; empty: it judges none.
func Explain(check string) string {
	var b strings.Builder
	for _, r := range MemberRows(check) {
		fmt.Fprintf(&b, "%-28s %-36s %-9s %s\n", r.Message, r.Member, r.Need, r.Form)
	}
	return b.String()
}
