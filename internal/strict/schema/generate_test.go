package schema

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
)

// names are few, so that random documents meet random schemas.
var names = []string{"a", "b", "c", "ab"}

func pick[T any](r *rand.Rand, from []T) T { return from[r.IntN(len(from))] }

// randomValue is a document of at most depth levels.
func randomValue(r *rand.Rand, depth int) any {
	switch n := r.IntN(9); {
	case n < 2 && depth > 0:
		v := map[string]any{}
		for range r.IntN(4) {
			v[pick(r, names)] = randomValue(r, depth-1)
		}
		return v
	case n < 4 && depth > 0:
		v := []any{}
		for range r.IntN(4) {
			v = append(v, randomValue(r, depth-1))
		}
		return v
	case n < 6:
		return json.Number(pick(r, []string{"0", "1", "2", "3", "1.0", "-1", "2.5", "1e2", "3000000000"}))
	case n == 6:
		return pick(r, []any{true, false, nil})
	}
	return pick(r, []string{"", "a", "ab", "abc", "x-1", "2026-05-04", "a@b.co", "https://example.org/"})
}

// randomSchema is a schema of at most depth levels, which fast judges unless all keywords may stand in it.
func randomSchema(r *rand.Rand, depth int, all bool) any {
	s := map[string]any{}
	sub := func() any {
		if depth == 0 {
			return true
		}
		return randomSchema(r, depth-1, all)
	}
	subs := func() []any { return []any{sub(), sub()} }
	members := func() map[string]any { return map[string]any{pick(r, names): sub(), pick(r, names): sub()} }
	n := func() json.Number { return json.Number(pick(r, []string{"0", "1", "2", "3"})) }
	some := []func(){
		func() {
			s["type"] = pick(r, []string{"string", "number", "integer", "object", "array", "boolean", "null"})
		},
		func() { s["type"] = []any{"object", "string", pick(r, []string{"array", "null", "integer"})} },
		func() { s["enum"] = []any{"a", "ab", true, nil} },
		func() { s["const"] = pick(r, []any{"a", "x-1", false}) },
		func() { s["minLength"] = n() },
		func() { s["maxLength"] = n() },
		func() {
			s["pattern"] = pick(r, []string{"^a", "^[a-c]{1,2}$", "b$", "^(a|x-)[0-9]?", "^\\S+$", "^a?b?c?$"})
		},
		func() {
			s["format"] = pick(r, []string{"date", "uri", "email", "int32", "int64", "hostname", "unheard-of"})
		},
		func() { s["minimum"] = n() },
		func() { s["maximum"] = n() },
		func() { s["properties"] = members() },
		func() { s["required"] = []any{pick(r, names)} },
		func() { s["additionalProperties"] = r.IntN(2) == 0 },
		func() { s["items"] = sub() },
		func() { s["minItems"] = n() },
		func() { s["maxItems"] = n() },
		func() { s["not"] = sub() },
	}
	if all {
		some = slices.Concat(some, some, []func(){
			func() { s["exclusiveMinimum"] = n() },
			func() { s["exclusiveMaximum"] = n() },
			func() { s["multipleOf"] = json.Number("2") },
			func() { s["enum"] = []any{json.Number("1"), []any{json.Number("1.0")}, map[string]any{"a": "a"}} },
			func() { s["prefixItems"] = subs() },
			func() { s["uniqueItems"] = true },
			func() { s["contains"] = sub(); s["maxContains"] = n() },
			func() { s["contains"] = sub(); s["minContains"] = n() },
			func() { s["patternProperties"] = map[string]any{"^a": sub(), "b": sub()} },
			func() { s["propertyNames"] = sub() },
			func() { s["additionalProperties"] = sub() },
			func() { s["minProperties"] = n() },
			func() { s["maxProperties"] = n() },
			func() { s["dependentRequired"] = map[string]any{pick(r, names): []any{pick(r, names)}} },
			func() { s["dependentSchemas"] = members() },
			func() { s["allOf"] = subs() },
			func() { s["anyOf"] = subs() },
			func() { s["oneOf"] = subs() },
			func() { s["if"], s["then"], s["else"] = sub(), sub(), sub() },
			func() { s["unevaluatedProperties"] = r.IntN(2) == 0 },
			func() { s["unevaluatedItems"] = sub() },
			func() { s["$ref"] = "#/$defs/d" },
		})
	}
	for range 1 + r.IntN(4) {
		pick(r, some)()
	}
	return s
}
