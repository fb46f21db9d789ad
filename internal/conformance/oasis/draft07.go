package oasis

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/schema"
)

// The drafts of JSON Schema that a contract may name.
const (
	draft07   = "http://json-schema.org/draft-07/schema"
	draft2020 = "https://json-schema.org/draft/2020-12/schema"
)

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
	switch strings.TrimSuffix(draft, "#") {
	case draft2020:
	case draft07:
		if pointer, why := foreign(root, ""); why != "" {
			refuse(pointer, "%s", why)
			return
		}
	default:
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

// Where the keywords of draft-07 hold subschemas: one, a list, a map of them.
var (
	ofSchema  = []string{"additionalProperties", "items", "contains", "propertyNames", "not", "if", "then", "else"}
	ofSchemas = []string{"allOf", "anyOf", "oneOf"}
	ofMap     = []string{"properties", "patternProperties"}
)

// otherwise are the keywords that one of the two drafts does not know, or reads otherwise.
var otherwise = []string{"additionalItems", "definitions", "dependencies", "$defs", "$anchor", "$dynamicAnchor",
	"$dynamicRef",
	"$recursiveAnchor", "$recursiveRef", "$vocabulary", "dependentRequired", "dependentSchemas", "prefixItems",
	"maxContains",
	"minContains", "unevaluatedItems", "unevaluatedProperties"}

// foreign finds what a schema of draft-07 says that draft 2020-12 reads otherwise, and why; why is empty where there is
// nothing of the kind. Unknown keywords mean nothing in both.
func foreign(v any, at string) (pointer, why string) {
	s, ok := v.(map[string]any)
	if !ok {
		return "", "" // true or false; anything else does not compile
	}
	for _, keyword := range otherwise {
		if _, there := s[keyword]; there {
			return at + "/" + keyword, keyword + " is not read alike by draft-07 and draft 2020-12"
		}
	}
	if _, there := s["$ref"]; there && len(s) > 1 && (at != "" || len(s) > 2) {
		return at + "/$ref", "draft-07 ignores the members next to $ref, and draft 2020-12 does not"
	}
	if _, isList := s["items"].([]any); isList {
		return at + "/items", "a list in items is not read alike by draft-07 and draft 2020-12"
	}
	below := func(v any, at string) bool {
		pointer, why = foreign(v, at)
		return why != ""
	}
	for _, keyword := range slices.Sorted(maps.Keys(s)) {
		at := at + "/" + keyword
		list, _ := s[keyword].([]any)
		for i, one := range list {
			if slices.Contains(ofSchemas, keyword) && below(one, at+"/"+strconv.Itoa(i)) {
				return pointer, why
			}
		}
		object, _ := s[keyword].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(object)) {
			if slices.Contains(ofMap, keyword) && below(object[name], at+"/"+strict.Escape(name)) {
				return pointer, why
			}
		}
		if slices.Contains(ofSchema, keyword) && below(object, at) {
			return pointer, why
		}
	}
	return "", ""
}
