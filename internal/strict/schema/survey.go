package schema

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	library "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// survey walks the text of a schema before the library sees it.
type survey struct {
	id         string         // $id of the root
	subschemas map[string]any // by pointer
	anchors    map[string]bool
	references map[string]string // by the pointer of the $ref: its fragment
	patterns   map[string]*pattern
	programs   int
	fault      *Error
}

func newSurvey(root any) *survey {
	s := &survey{subschemas: map[string]any{}, anchors: map[string]bool{}, references: map[string]string{},
		patterns: map[string]*pattern{}}
	if values, _ := measure(root); values > maxValues {
		s.refuse("", "holds more than %d values, which is the most that is compiled", maxValues)
		return s
	}
	s.id = strict.String(root, "$id")
	s.subschema("", root)
	for _, at := range slices.Sorted(maps.Keys(s.references)) {
		fragment := s.references[at]
		if _, ok := s.subschemas[fragment]; !ok && !s.anchors[fragment] {
			s.refuse(at, "%s is not a subschema", quote("#"+fragment))
		}
	}
	return s
}

// refuse keeps the first fault.
func (s *survey) refuse(pointer, message string, args ...any) {
	if s.fault == nil {
		s.fault = &Error{Pointer: pointer, Message: fmt.Sprintf(message, args...)}
	}
}

// How the keywords of draft 2020-12 hold subschemas; in Ajv and in the library `definitions` and `dependencies`
// still do.
var (
	keywordsOfMaps = []string{"$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties",
		"properties"}
	keywordsOfArrays = []string{"allOf", "anyOf", "oneOf", "prefixItems"}
	keywordsOfOne    = []string{"additionalProperties", "contains", "contentSchema", "else", "if", "items", "not",
		"propertyNames", "then", "unevaluatedItems", "unevaluatedProperties"}
)

// refused are keywords that Ajv heeds and the library does not, or that have no bound.
var refused = map[string]string{
	"$async":                 "is Ajv's own",
	"$dynamicAnchor":         "is not followed; use $ref",
	"$dynamicRef":            "is not followed; use $ref",
	"$recursiveAnchor":       "is not followed; use $ref",
	"$recursiveRef":          "is not followed; use $ref",
	"formatExclusiveMaximum": "is Ajv's own",
	"formatExclusiveMinimum": "is Ajv's own",
	"formatMaximum":          "is Ajv's own",
	"formatMinimum":          "is Ajv's own",
	"nullable":               `is Ajv's own; add "null" to type`,
}

// counts are the keywords whose number the library cuts to an int.
var counts = []string{"maxContains", "maxItems", "maxLength", "maxProperties", "minContains", "minItems", "minLength",
	"minProperties"}

// LatestDraft names draft 2020-12.
const LatestDraft = "https://json-schema.org/draft/2020-12/schema"

// dialects are the values of $schema that Ajv 2020 knows.
var dialects = []string{LatestDraft, "http://json-schema.org/schema"}

func (s *survey) subschema(pointer string, v any) {
	s.subschemas[pointer] = v
	object, ok := v.(map[string]any)
	if !ok {
		return
	}
	for _, keyword := range slices.Sorted(maps.Keys(object)) {
		s.keyword(pointer, keyword, object[keyword])
	}
	for _, keyword := range keywordsOfOne {
		if sub, ok := object[keyword]; ok {
			s.subschema(pointer+"/"+keyword, sub)
		}
	}
	for _, keyword := range keywordsOfArrays {
		items, _ := object[keyword].([]any)
		for i, sub := range items {
			s.subschema(pointer+"/"+keyword+"/"+strconv.Itoa(i), sub)
		}
	}
	for _, keyword := range keywordsOfMaps {
		members, _ := object[keyword].(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(members)) {
			s.subschema(pointer+"/"+keyword+"/"+strict.Escape(name), members[name])
		}
	}
}

func (s *survey) keyword(pointer, keyword string, v any) {
	at := pointer + "/" + strict.Escape(keyword)
	if why, ok := refused[keyword]; ok {
		s.refuse(at, "%s %s", keyword, why)
	}
	if members, ok := v.(map[string]any); ok && keyword == "patternProperties" {
		for _, text := range slices.Sorted(maps.Keys(members)) {
			s.addPattern(at+"/"+strict.Escape(text), text)
		}
	}
	if n, ok := v.(json.Number); ok && slices.Contains(counts, keyword) {
		if f, _ := n.Float64(); f > math.MaxInt32 {
			s.refuse(at, "%s counts to more than %d", keyword, math.MaxInt32)
		}
	}
	text, ok := v.(string)
	if !ok {
		return
	}
	switch keyword {
	case "$schema":
		if !slices.Contains(dialects, strings.TrimSuffix(text, "#")) {
			s.refuse(at, "%s is another dialect than draft 2020-12, %s", quote(text), quote(LatestDraft))
		}
	case "$id":
		if pointer != "" {
			s.refuse(at, "$id below the root is not followed")
		}
	case "$anchor":
		s.anchors[text] = true
	case "$ref":
		s.reference(at, text)
	case "pattern":
		s.addPattern(at, text)
	}
}

// reference checks that a $ref leads to a part of the schema itself.
func (s *survey) reference(at, text string) {
	base, fragment, _ := strings.Cut(text, "#")
	if base != "" && base != strings.TrimSuffix(s.id, "#") {
		s.refuse(at, "%s leads out of the schema; only references within it are followed", quote(text))
		return
	}
	fragment, err := url.PathUnescape(fragment)
	if err != nil {
		s.refuse(at, "%s is not a reference", quote(text))
	}
	s.references[at] = fragment
}

func (s *survey) addPattern(at, text string) {
	p, err := compilePattern(text)
	if err != nil {
		s.refuse(at, "pattern %s: %s", quote(text), err)
		return
	}
	if s.programs += p.size; s.programs > maxPrograms {
		s.refuse(at, "the patterns up to here need more than %d steps for each character", maxPrograms)
	}
	s.patterns[text] = p
}

// pattern compiles a regular expression for the library.
func (s *survey) pattern(text string) (library.Regexp, error) {
	if p := s.patterns[text]; p != nil {
		return p, nil
	}
	return compilePattern(text)
}
