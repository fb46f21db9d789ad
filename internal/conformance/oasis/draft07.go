package oasis

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/schema"
)

// draft07 is the older of the two drafts of JSON Schema that a contract may name.
const draft07 = "http://json-schema.org/draft-07/schema"

// readSchema reads the schema of a contract, which begins after so many lines of the file at path.
//
// Package schema implements draft 2020-12. It reads a schema of draft-07 if each of its keywords means the same in both
// drafts.
func (c *Contract) readSchema(path string, text []byte, lines int) {
	doc, err := strict.Parse(path, text, strict.Remote(maxContract))
	below := func(p strict.Pos) strict.Pos {
		if p.Line > 0 {
			p.Line += lines
		}
		return p
	}
	if err != nil {
		fault := err.(*strict.Error)
		c.unreadable(below(fault.Pos), fault.Pointer, "the schema is not strict JSON: %s", fault.Message)
		return
	}
	refuse := func(pointer, format string, args ...any) {
		c.unreadable(below(doc.Pos(pointer)), pointer, "the schema: %s", fmt.Sprintf(format, args...))
	}
	root, ok := doc.Root.(map[string]any)
	if !ok {
		refuse("", "it is not an object")
		return
	}
	draft, _ := root["$schema"].(string)
	draft = strings.TrimSuffix(draft, "#")
	if draft != draft07 && draft != schema.LatestDraft {
		refuse("/$schema", "$schema is %s; expected draft-07 or 2020-12", show(root["$schema"]))
		return
	}
	bare := maps.Clone(root)
	delete(bare, "$schema")
	plain, err := json.Marshal(bare)
	if err != nil {
		refuse("", "%v", err)
		return
	}
	compiled, err := schema.Compile(path, plain)
	if err != nil {
		pointer, message := "", err.Error()
		if fault, ok := errors.AsType[*schema.Error](err); ok {
			pointer, message = fault.Pointer, fault.Message
		}
		refuse(pointer, "%s", message)
		return
	}
	all := compiled.Subschemas()
	for _, pointer := range slices.Sorted(maps.Keys(all)) {
		if keyword, why := foreign(all[pointer], pointer == ""); draft == draft07 && why != "" {
			refuse(pointer+"/"+keyword, "%s", why)
			return
		}
	}
	c.schema, c.enums = compiled, map[string][]any{}
	names, _ := root["required"].([]any)
	for _, n := range names {
		if text, ok := n.(string); ok {
			c.required = append(c.required, text)
		}
	}
	properties, _ := root["properties"].(map[string]any)
	for key, p := range properties {
		if values, ok := strict.Member(p, "enum").([]any); ok {
			c.enums[key] = values
		}
	}
}

// otherwise are the keywords that one of the two drafts does not know, or reads otherwise.
var otherwise = []string{"additionalItems", "definitions", "dependencies", "$defs", "$anchor", "$dynamicAnchor",
	"$dynamicRef", "$recursiveAnchor", "$recursiveRef", "$vocabulary", "dependentRequired", "dependentSchemas",
	"prefixItems", "maxContains", "minContains", "unevaluatedItems", "unevaluatedProperties"}

// foreign finds a keyword that draft-07 and draft 2020-12 read otherwise, and why; why is empty where nothing differs.
// Unknown keywords mean nothing in both.
func foreign(v any, root bool) (keyword, why string) {
	s, _ := v.(map[string]any) // else it is true or false
	for _, keyword := range otherwise {
		if _, there := s[keyword]; there {
			return keyword, keyword + " is not read alike by draft-07 and draft 2020-12"
		}
	}
	if _, there := s["$ref"]; there && len(s) > 1 && (!root || len(s) > 2) {
		return "$ref", "draft-07 ignores the members next to $ref, and draft 2020-12 does not"
	}
	return "", ""
}
