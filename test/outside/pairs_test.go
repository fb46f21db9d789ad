package outside

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/governance/schemadiff"
)

func one[T any](rnd *rand.Rand, from ...T) T { return from[rnd.IntN(len(from))] }

// randomInstance returns a JSON value of at most depth levels. Its members have few names, so that it meets schemas.
func randomInstance(rnd *rand.Rand, depth int) any {
	switch n := rnd.IntN(10); {
	case n < 5 && depth > 0:
		object := map[string]any{}
		for range rnd.IntN(4) {
			object[one(rnd, "a", "b", "c")] = randomInstance(rnd, depth-1)
		}
		return object
	case n < 7 && depth > 0:
		array := []any{}
		for range rnd.IntN(4) {
			array = append(array, randomInstance(rnd, depth-1))
		}
		return array
	}
	return one[any](rnd, 0, 1, 2, 3, -1, 1.5, true, false, nil, "", "a", "ab", "abc", "b")
}

// schemaKeywords returns a random value of each keyword.
func schemaKeywords(rnd *rand.Rand, depth int) map[string]func() any {
	sub := func() any { return randomSchema(rnd, depth-1) }
	some := func() any { return []any{sub(), sub()} }
	number := func() any { return rnd.IntN(4) }
	name := func() string { return one(rnd, "a", "b", "c") }
	return map[string]func() any{
		"type": func() any {
			return one[any](rnd, "object", "array", "string", "number", "integer", []any{"string", "null"},
				[]any{"boolean", "number"}, []any{"object", "array"})
		},
		"enum":    func() any { return one(rnd, []any{1, 2, "a"}, []any{1, 2}, []any{"a", "ab", nil}, []any{true, 0}) },
		"const":   func() any { return one[any](rnd, 1, "a", nil, false) },
		"minimum": number, "maximum": number, "exclusiveMinimum": number, "exclusiveMaximum": number,
		"multipleOf": func() any { return one(rnd, 1, 2, 3) },
		"minLength":  number, "maxLength": number, "minItems": number, "maxItems": number, "minProperties": number,
		"maxProperties": number, "minContains": number, "maxContains": number,
		"pattern":              func() any { return one(rnd, "^a", "b$", "^[a-c]{1,2}$") },
		"uniqueItems":          func() any { return one(rnd, true, false) },
		"required":             func() any { return one(rnd, []any{"a"}, []any{"b"}, []any{"a", "b"}, []any{}) },
		"dependentRequired":    func() any { return map[string]any{name(): []any{name()}} },
		"properties":           func() any { return map[string]any{name(): sub(), name(): sub()} },
		"patternProperties":    func() any { return map[string]any{one(rnd, "^a", "b|c"): sub()} },
		"additionalProperties": func() any { return one(rnd, any(false), sub()) },
		"propertyNames":        func() any { return map[string]any{"enum": []any{"a", name()}} },
		"items":                sub, "contains": sub, "not": sub, "if": sub, "then": sub, "else": sub,
		"unevaluatedProperties": func() any { return one(rnd, any(false), sub()) },
		"unevaluatedItems":      func() any { return one(rnd, any(false), sub()) },
		"prefixItems":           some, "allOf": some, "anyOf": some, "oneOf": some,
		"$ref":  func() any { return "#/$defs/d" },
		"title": func() any { return one(rnd, "one", "two") },
	}
}

func randomSchema(rnd *rand.Rand, depth int) any {
	if depth <= 0 {
		return one[any](rnd, true, false, map[string]any{"type": "string"}, map[string]any{"type": "object"},
			map[string]any{"minimum": 2}, map[string]any{"const": 1}, map[string]any{"required": []any{"a"}})
	}
	keywords := schemaKeywords(rnd, depth)
	names, schema := slices.Sorted(maps.Keys(keywords)), map[string]any{}
	for range 1 + rnd.IntN(3) {
		keyword := one(rnd, names...)
		schema[keyword] = keywords[keyword]()
	}
	return schema
}

// changed returns a copy of a schema that differs at one place, mostly.
func changed(rnd *rand.Rand, schema map[string]any) map[string]any {
	now, keywords := maps.Clone(schema), schemaKeywords(rnd, 1)
	if rnd.IntN(2) == 0 { // below
		name := one(rnd, slices.Sorted(maps.Keys(now))...)
		now[name] = changedBelow(rnd, name, now[name])
		return now
	}
	name := one(rnd, slices.Sorted(maps.Keys(now))...)
	switch n := rnd.IntN(3); {
	case n == 0 && name != "$defs":
		delete(now, name)
	case n == 1 && name != "$defs":
		now[name] = keywords[name]()
	default:
		name = one(rnd, slices.Sorted(maps.Keys(keywords))...)
		now[name] = keywords[name]()
	}
	return now
}

func changedBelow(rnd *rand.Rand, keyword string, value any) any {
	switch v := value.(type) {
	case map[string]any:
		switch keyword {
		case "properties", "$defs", "patternProperties":
			v = maps.Clone(v)
			name := one(rnd, slices.Sorted(maps.Keys(v))...)
			if keyword == "properties" && rnd.IntN(2) == 0 {
				name = one(rnd, "new", "c")
			}
			if sub, ok := v[name].(map[string]any); ok && len(sub) > 0 {
				v[name] = changed(rnd, sub)
			} else {
				v[name] = randomSchema(rnd, 1)
			}
			return v
		case "dependentRequired", "propertyNames":
			return v
		}
		if len(v) > 0 {
			return changed(rnd, v)
		}
	case []any:
		if keyword == "required" || keyword == "enum" {
			return v[:max(len(v)-1, min(len(v), 1))]
		}
		list := slices.Clone(v)
		if sub, ok := list[0].(map[string]any); ok && len(sub) > 0 {
			list[0] = changed(rnd, sub)
		}
		return list
	}
	return value
}

// refers reports whether a schema has a reference.
func refers(v any) bool { return strings.Contains(fmt.Sprint(v), "$ref") }

// claim returns what differences say about the instances that a schema accepts, and the members that are new.
func claim(differences []schemadiff.Difference) (says string, added map[string]bool) {
	found := map[schemadiff.Class]bool{}
	added = map[string]bool{}
	for _, d := range differences {
		found[d.Class] = true
		if d.Class == schemadiff.Additive {
			added[d.Pointer[strings.LastIndexByte(d.Pointer, '/')+1:]] = true
		}
	}
	delete(found, schemadiff.Note)
	only := func(classes ...schemadiff.Class) bool {
		return !slices.ContainsFunc(slices.Collect(maps.Keys(found)),
			func(c schemadiff.Class) bool { return !slices.Contains(classes, c) })
	}
	switch {
	case len(found) == 0:
		return "it accepts the same", added
	case only(schemadiff.Additive, schemadiff.Loosened):
		return "it accepts all of before", added
	case only(schemadiff.Tightened):
		return "it accepts nothing new", added
	}
	return "", added
}

func hasMember(instance any, names map[string]bool) bool {
	switch v := instance.(type) {
	case map[string]any:
		for name, member := range v {
			if names[name] || hasMember(member, names) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return hasMember(item, names) })
	}
	return false
}

// A pair is out of scope if a difference has a class that claims nothing about instances. A new optional member claims
// nothing about an instance that has it.
var schemaPairs = &judge{name: "generated: pairs of schemas, Ajv on 1,000 instances each",
	of: func() string { return npmVersion("ajv") }, random: true, cases: 600, sound: true,
	needs: []string{"node", "npm"}, run: func(r *run) {
		rnd := random()
		var instances []any
		for range 1000 {
			instances = append(instances, randomInstance(rnd, 3))
		}
		var pairs [][2]map[string]any
		for len(pairs) < 600 {
			schema, ok := randomSchema(rnd, 3).(map[string]any)
			if !ok {
				continue
			}
			schema["$defs"] = map[string]any{"d": randomSchema(rnd, 1)}
			now := changed(rnd, schema)
			if !refers(schema["$defs"]) && !refers(now["$defs"]) { // or a reference could lead to itself
				pairs = append(pairs, [2]map[string]any{schema, now})
			}
		}
		var verdicts [][2]string // a 0 or 1 for each instance
		node(r, `import Ajv from 'ajv/dist/2020.js'
const ajv = new Ajv({ strict: false, logger: false, validateSchema: false })
print(input.pairs.map(pair => pair.map(schema => {
  const validate = ajv.compile(schema)
  return input.instances.map(i => { try { return validate(i) ? '1' : '0' } catch { return '?' } }).join('')
})))`, map[string]any{"pairs": pairs, "instances": instances}, &verdicts)
		claims := map[string]int{}
		for i, pair := range pairs {
			texts := [2][]byte{}
			for side := range pair {
				text, err := json.Marshal(pair[side])
				if err != nil {
					r.Fatal(err)
				}
				texts[side] = text
			}
			id := fmt.Sprintf("%d %s %s", i, texts[0], texts[1])
			var says string
			var added map[string]bool
			guardOnly(r, id, func() {
				trees := [2]*schemadiff.Tree{}
				for side, text := range texts {
					trees[side] = schemadiff.NewTree(map[string][]byte{"s.json": text}, nil, nil)
				}
				says, added = claim(schemadiff.Compare(trees[0], "s.json", trees[1], "s.json"))
			})
			if claims[says]++; says == "" {
				r.skip(id)
				continue
			}
			found := says
			for n, instance := range instances {
				before, now := verdicts[i][0][n], verdicts[i][1][n]
				if before == '?' || now == '?' { // Ajv's own code can fail
					continue
				}
				wrong := map[string]bool{"it accepts the same": before != now, "it accepts all of before": before > now,
					"it accepts nothing new": before < now}
				if wrong[says] && !hasMember(instance, added) {
					text, _ := json.Marshal(instance)
					found = fmt.Sprintf("%s: %c, and %c before", text, now, before)
					break
				}
			}
			r.compare(id, answer{value: found}, func() (string, error) { return says, nil })
		}
		for _, says := range []string{"it accepts the same", "it accepts all of before", "it accepts nothing new"} {
			if claims[says] < 20 {
				r.Errorf("%q is said of %d pairs; expected at least 20", says, claims[says])
			}
		}
	}}
