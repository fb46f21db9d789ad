package aaep

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Schemas are the names of the schemas of [Schema].
var Schemas = []string{"aaep-event", "aaep-reply", "aaep-subscription", "aaep-manifest"}

// Schema returns the JSON Schema of that name, with that identifier, or nil if the name is unknown. It follows the
// tables of members, and requires of one message what the checks aaep-envelope and aaep-schema require.
func Schema(name, id string) []byte {
	var form object
	title := ""
	switch name {
	case "aaep-event":
		form, title = shape(envelopeMembers()), "An event of AAEP"
		form["allOf"] = append(byType(coreTable, coreNames), object{
			"if": ofType(coreNames(coreTable...)), "then": shape(summaryMembers)})
	case "aaep-reply":
		form, title = oneOfTypes(replyTable), "A reply of a subscriber of AAEP"
	case "aaep-subscription":
		form, title = oneOfTypes(subscriptionTable), "A message of a subscription of AAEP"
	case "aaep-manifest":
		form, title = shape(manifestTable[0].members), "The manifest of a producer of AAEP"
		form["properties"].(object)["type"] = typeOf(coreNames(manifestTable...))
	default:
		return nil
	}
	form["$schema"], form["$id"], form["title"] = "https://json-schema.org/draft/2020-12/schema", id, title
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(form); err != nil {
		panic(err) // texts and numbers of the program's own
	}
	return b.Bytes()
}

func envelopeMembers() []member {
	var all []member
	for _, row := range envelopeTable {
		all = append(all, row.of)
	}
	return all
}

// bareNames returns the spellings of types that are in no namespace.
func bareNames(types ...messageType) []string {
	var names []string
	for _, m := range types {
		names = append(names, m.name)
	}
	return names
}

// oneOfTypes returns the schema of an object of one of some types.
func oneOfTypes(types []messageType) object {
	return object{"type": "object", "required": []string{"type"},
		"properties": object{"type": typeOf(bareNames(types...))}, "allOf": byType(types, bareNames)}
}

// typeOf returns the schema of the member type of a message of these types.
func typeOf(names []string) object {
	return object{"enum": names, "description": "type of the message"}
}

// ofType returns the condition that an object has one of some types.
func ofType(names []string) object {
	return object{"properties": object{"type": object{"enum": names}},
		"required": []string{"type"}}
}

// byType returns a condition for each type that has members.
func byType(types []messageType, spelled func(...messageType) []string) []any {
	var all []any
	for _, m := range types {
		all = append(all, object{"if": ofType(spelled(m)), "then": shape(m.members)})
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

// capabilitiesName is what both objects of capabilities end in.
const capabilitiesName = "capabilities"

// MemberRows returns the members that a check judges, all of them if the check is "".
func MemberRows(check string) []MemberRow {
	var rows []MemberRow
	add := func(of *rule, message string, members []member) {
		if check == "" || check == of.ID {
			rows = appendMembers(rows, message, "", members)
		}
	}
	add(envelope, "every event", envelopeMembers())
	for _, m := range coreTable {
		add(schema, m.name, m.members)
	}
	add(schema, "every core event", summaryMembers)
	for _, m := range slices.Concat(subscriptionTable, replyTable) {
		add(handshake, m.name, m.members)
	}
	add(handshake, capabilitiesName, capabilities)
	add(liveManifest, producerManifest, manifestTable[0].members)
	return rows
}

func appendMembers(rows []MemberRow, message, within string, members []member) []MemberRow {
	for _, m := range members {
		need := "optional"
		if m.required {
			need = "required"
		}
		rows = append(rows, MemberRow{message, within + m.name, need, m.value.words})
		if !strings.HasSuffix(m.name, capabilitiesName) { // which are rows of their own
			rows = appendMembers(rows, message, within+m.name+".", m.value.members)
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
