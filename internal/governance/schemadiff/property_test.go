package schemadiff

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	jsonschema "github.com/openagentprotocol-OAP/oap-gate/internal/strict/schema"
)

// pairsVariable names how many random pairs the property test judges.
const pairsVariable = "OAP_GATE_PAIRS"

// names are few, so that random documents meet random schemas.
var names = []string{"a", "b", "c", "ab"}

func pick[T any](r *rand.Rand, from ...T) T { return from[r.IntN(len(from))] }

func number(r *rand.Rand) json.Number {
	return json.Number(pick(r, "0", "1", "2", "3", "4", "6", "1.0", "-1", "2.5", "1e1"))
}

func count(r *rand.Rand) json.Number { return json.Number(pick(r, "0", "1", "2", "3")) }

// randomValue is a document of at most depth levels.
func randomValue(r *rand.Rand, depth int) any {
	switch n := r.IntN(10); {
	case n < 4 && depth > 0:
		v := map[string]any{}
		for range r.IntN(4) {
			v[pick(r, names...)] = randomValue(r, depth-1)
		}
		return v
	case n < 6 && depth > 0:
		v := []any{}
		for range r.IntN(4) {
			v = append(v, randomValue(r, depth-1))
		}
		return v
	case n < 8:
		return number(r)
	case n == 8:
		return pick[any](r, true, false, nil)
	}
	return pick(r, "", "a", "ab", "abc", "x-1", "2026-05-04", "a@b.co")
}

// instance is a document of the kind that the schema speaks of, mostly.
func instance(r *rand.Rand, schema map[string]any) any {
	for range 4 {
		v := randomValue(r, 3)
		_, isArray := v.([]any)
		_, isObject := v.(map[string]any)
		switch {
		case schema["items"] != nil || schema["contains"] != nil || schema["prefixItems"] != nil:
			if isArray {
				return v
			}
		case schema["properties"] == nil && schema["required"] == nil && schema["patternProperties"] == nil || isObject:
			return v
		}
	}
	return randomValue(r, 3)
}

// keywordsOf makes the value of each keyword that the rules know; subschemas have at most depth levels.
var keywordsOf map[string]func(r *rand.Rand, depth int) any

// It refers to itself by way of randomSchema, which no initializer may.
func init() {
	keywordsOf = map[string]func(r *rand.Rand, depth int) any{
		"type": func(r *rand.Rand, _ int) any {
			one := []string{"string", "number", "integer", "object", "array", "boolean", "null"}
			if r.IntN(2) == 0 {
				return pick(r, "object", "object", "array", "string", "number", "integer")
			}
			set := map[string]bool{pick(r, one...): true, pick(r, one...): true, pick(r, "object", "array"): true}
			var list []any
			for _, name := range sortedNames(set) {
				list = append(list, name)
			}
			return list
		},
		"enum": func(r *rand.Rand, _ int) any {
			list := []any{randomValue(r, 1)}
			for range r.IntN(4) {
				v := randomValue(r, 1)
				if !slices.ContainsFunc(list, func(o any) bool { return canonical(o) == canonical(v) }) {
					list = append(list, v)
				}
			}
			return list
		},
		"const":            func(r *rand.Rand, _ int) any { return randomValue(r, 1) },
		"maximum":          func(r *rand.Rand, _ int) any { return number(r) },
		"exclusiveMaximum": func(r *rand.Rand, _ int) any { return number(r) },
		"minimum":          func(r *rand.Rand, _ int) any { return number(r) },
		"exclusiveMinimum": func(r *rand.Rand, _ int) any { return number(r) },
		"multipleOf": func(r *rand.Rand, _ int) any {
			return json.Number(pick(r, "1", "2", "3", "6", "0.5", "1e1"))
		},
		"maxLength":     func(r *rand.Rand, _ int) any { return count(r) },
		"minLength":     func(r *rand.Rand, _ int) any { return count(r) },
		"maxItems":      func(r *rand.Rand, _ int) any { return count(r) },
		"minItems":      func(r *rand.Rand, _ int) any { return count(r) },
		"maxProperties": func(r *rand.Rand, _ int) any { return count(r) },
		"minProperties": func(r *rand.Rand, _ int) any { return count(r) },
		"maxContains":   func(r *rand.Rand, _ int) any { return count(r) },
		"minContains":   func(r *rand.Rand, _ int) any { return count(r) },
		"pattern":       func(r *rand.Rand, _ int) any { return pick(r, "^a", "b$", "^[a-c]{1,2}$", "") },
		"format":        func(r *rand.Rand, _ int) any { return pick(r, "date", "email", "unheard-of") },
		"uniqueItems":   func(r *rand.Rand, _ int) any { return r.IntN(2) == 0 },
		"required":      func(r *rand.Rand, _ int) any { return someNames(r) },
		"dependentRequired": func(r *rand.Rand, _ int) any {
			return map[string]any{pick(r, names...): someNames(r), pick(r, names...): someNames(r)}
		},
		"properties":       members,
		"dependentSchemas": members,
		"patternProperties": func(r *rand.Rand, d int) any {
			return map[string]any{pick(r, "^a", "b", "^c$"): randomSchema(r, d)}
		},
		"additionalProperties":  orFalse,
		"unevaluatedProperties": orFalse,
		"items":                 randomSchema,
		"unevaluatedItems":      orFalse,
		"propertyNames":         randomSchema,
		"contains":              randomSchema,
		"not":                   randomSchema,
		"if":                    randomSchema,
		"then":                  randomSchema,
		"else":                  randomSchema,
		"prefixItems":           branches,
		"allOf":                 branches,
		"anyOf":                 branches,
		"oneOf":                 branches,
		"$ref": func(r *rand.Rand, _ int) any {
			return pick(r, "#/$defs/d", "#/$defs/e", "#/$defs/f", "#/definitions/d", "#g", "#/properties/a",
				"#/$defs/d/properties/a", "https://x.example/h", "https://y.example/h", "https://z.example/h")
		},
		"title":   func(r *rand.Rand, _ int) any { return pick(r, "one", "two") },
		"x-note":  func(r *rand.Rand, d int) any { return randomValue(r, 1) },
		"default": func(r *rand.Rand, _ int) any { return randomValue(r, 0) },
	}
	keywordNames = sortedNames(keywordsOf)
}

var keywordNames []string

func someNames(r *rand.Rand) []any {
	set := map[string]bool{}
	for range r.IntN(3) {
		set[pick(r, names...)] = true
	}
	list := []any{}
	for _, name := range sortedNames(set) {
		list = append(list, name)
	}
	return list
}

func orFalse(r *rand.Rand, depth int) any {
	if r.IntN(3) == 0 {
		return false
	}
	return randomSchema(r, depth)
}

func members(r *rand.Rand, depth int) any {
	return map[string]any{pick(r, names...): randomSchema(r, depth), pick(r, names...): randomSchema(r, depth)}
}

func branches(r *rand.Rand, depth int) any {
	list := []any{randomSchema(r, depth)}
	for range r.IntN(3) {
		list = append(list, randomSchema(r, depth))
	}
	return list
}

// groups are keywords that have a meaning only together.
var groups = [][]string{{"contains", "maxContains"}, {"contains", "minContains"}, {"if", "then"},
	{"if", "then", "else"},
	{"properties", "additionalProperties"}, {"properties", "unevaluatedProperties"}, {"properties", "required"},
	{"additionalProperties"}, {"patternProperties", "required"}, {"unevaluatedProperties", "$ref"},
	{"additionalProperties", "required"}, {"oneOf", "not"}, {"contains", "unevaluatedItems"}, {"items", "contains"},
	{"prefixItems", "items"}, {"prefixItems", "unevaluatedItems"}, {"allOf", "unevaluatedProperties"},
	{"anyOf", "unevaluatedItems"}, {"enum", "const"}, {"not"}, {"oneOf"}, {"$ref"}}

func randomSchema(r *rand.Rand, depth int) any {
	if depth <= 0 || r.IntN(12) == 0 {
		return pick[any](r, true, false, map[string]any{}, map[string]any{"type": "object"},
			map[string]any{"type": "string"},
			map[string]any{"minimum": json.Number("2")}, map[string]any{"required": []any{"a"}},
			map[string]any{"$ref": "#/$defs/d"},
			map[string]any{"properties": map[string]any{"a": true}}, map[string]any{"const": json.Number("1")})
	}
	s := map[string]any{}
	for range 1 + r.IntN(3) {
		chosen := []string{pick(r, keywordNames...)}
		if r.IntN(3) == 0 {
			chosen = pick(r, groups...)
		}
		for _, keyword := range chosen {
			s[keyword] = keywordsOf[keyword](r, depth-1)
		}
	}
	return s
}

// randomRoot is a schema with the definitions that references lead to. One in two says little, so that what it says and
// what a mutation changes meets the documents.
func randomRoot(r *rand.Rand) map[string]any {
	s := map[string]any{}
	if r.IntN(2) == 0 {
		for _, keyword := range pick(r, groups...) {
			s[keyword] = keywordsOf[keyword](r, 1)
		}
		if strings.Contains(spell(s), "#/$defs/d") {
			s["$defs"] = map[string]any{"d": randomSchema(r, 1)}
		}
		return s
	}
	for ok := false; !ok; {
		s, ok = randomSchema(r, 3).(map[string]any)
	}
	s["$defs"] = map[string]any{"d": randomSchema(r, 2), "e": randomSchema(r, 2), "f": randomSchema(r, 1),
		"g": map[string]any{"$anchor": "g", "allOf": []any{randomSchema(r, 1)}}}
	s["$defs"].(map[string]any)["h"] = map[string]any{"$id": "https://x.example/h", "allOf": []any{randomSchema(r, 1)}}
	s["definitions"] = map[string]any{"d": randomSchema(r, 1)}
	return s
}

func clone(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for name, member := range v {
			out[name] = clone(member)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = clone(item)
		}
		return out
	}
	return v
}

// mutate changes a schema at one place.
func mutate(r *rand.Rand, v any, depth int) any {
	s, ok := v.(map[string]any)
	if !ok || r.IntN(25) == 0 {
		return randomSchema(r, 1)
	}
	switch one, _ := s["allOf"].([]any); {
	case r.IntN(20) == 0:
		return map[string]any{"title": "one", "allOf": []any{s}}
	case len(one) == 1 && len(s) == 1 && r.IntN(2) == 0:
		return one[0]
	case s["if"] != nil && r.IntN(4) == 0:
		s[pick(r, "then", "else")] = true
		return s
	}
	if r.IntN(8) == 0 { // a new field
		fields, _ := s["properties"].(map[string]any)
		fields = maps.Clone(fields)
		if fields == nil {
			fields = map[string]any{}
		}
		name := pick(r, "c", "d", "ab")
		fields[name], s["properties"] = randomSchema(r, 1), fields
		if required, _ := s["required"].([]any); r.IntN(4) == 0 && !slices.Contains(required, any(name)) {
			s["required"] = append(slices.Clone(required), name)
		}
		return s
	}
	keywords := slices.DeleteFunc(sortedNames(s), func(k string) bool { return forms[k] == none && k != "definitions" })
	if len(keywords) > 0 && r.IntN(4) > 0 { // below
		keyword := pick(r, keywords...)
		switch in := s[keyword].(type) {
		case map[string]any:
			if forms[keyword] == single {
				s[keyword] = mutate(r, in, depth-1)
				return s
			}
			have := sortedNames(in)
			if root := keyword == "$defs" || keyword == "definitions"; len(have) > 0 && (root || r.IntN(3) > 0) {
				name := pick(r, have...)
				if root || r.IntN(4) > 0 {
					in[name] = mutate(r, in[name], depth-1)
				} else {
					delete(in, name)
				}
			} else {
				in[pick(r, names...)] = randomSchema(r, 1)
			}
		case []any:
			i := r.IntN(len(in))
			switch r.IntN(6) {
			case 0:
				s[keyword] = append(in, randomSchema(r, 1))
			case 1:
				if len(in) > 1 {
					s[keyword] = slices.Delete(in, i, i+1)
				}
			case 2:
				in[0], in[i] = in[i], in[0]
			default:
				in[i] = mutate(r, in[i], depth-1)
			}
		default:
			s[keyword] = randomSchema(r, 1)
		}
		return s
	}
	keywords = slices.DeleteFunc(sortedNames(s), func(k string) bool { return k == "$defs" || k == "definitions" })
	switch n := r.IntN(4); {
	case n == 0 && len(keywords) > 0:
		delete(s, pick(r, keywords...))
	case n < 3 && len(keywords) > 0:
		keyword := pick(r, keywords...)
		if same := keywordsOf[keyword]; same != nil {
			s[keyword] = same(r, 1)
		}
	default:
		keyword := pick(r, keywordNames...)
		s[keyword] = keywordsOf[keyword](r, 1)
	}
	return s
}

// shrunk are the schemas that are one step simpler than v.
func shrunk(v any) []any {
	var all []any
	switch v := v.(type) {
	case map[string]any:
		for _, name := range sortedNames(v) {
			less := maps.Clone(v)
			delete(less, name)
			all = append(all, less)
			for _, sub := range shrunk(v[name]) {
				other := maps.Clone(v)
				other[name] = sub
				all = append(all, other)
			}
		}
	case []any:
		for i := range v {
			all = append(all, slices.Delete(slices.Clone(v), i, i+1))
			for _, sub := range shrunk(v[i]) {
				other := slices.Clone(v)
				other[i] = sub
				all = append(all, other)
			}
		}
	}
	return all
}

func spell(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// judge gives the verdict of a compiled schema; ok is false where it cannot be judged.
func judge(s *jsonschema.Schema, instance any) (valid, ok bool) {
	violations := s.Validate(instance)
	for _, v := range violations {
		if v.Keyword == "" {
			return false, false
		}
	}
	return violations == nil, true
}

// inTree is a schema in which references to other hosts refuse nothing.
func inTree(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, member := range v {
			text, _ := member.(string)
			if name != "$ref" || !strings.HasPrefix(text, "https://y.") && !strings.HasPrefix(text, "https://z.") {
				out[name] = inTree(member)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = inTree(item)
		}
		return out
	}
	return v
}

func compile(v any) *jsonschema.Schema {
	s, err := jsonschema.Compile("x.json", []byte(spell(inTree(v))))
	if err != nil {
		return nil
	}
	return s
}

// names that the additive fields have.
func fieldNames(d []Difference) map[string]bool {
	set := map[string]bool{}
	for _, d := range d {
		if d.Class == Additive {
			set[d.Pointer[strings.LastIndex(d.Pointer, "/")+1:]] = true
		}
	}
	return set
}

func holds(v any, fields map[string]bool) bool {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if fields[name] || holds(member, fields) {
				return true
			}
		}
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return holds(item, fields) })
	}
	return false
}

// claim is what the classes of a pair say about every document: "" where nothing.
func claim(d []Difference) Class {
	set := map[Class]bool{}
	for _, d := range d {
		set[d.Class] = true
		if d.Class == Additive && !strings.HasSuffix(d.Pointer[:strings.LastIndex(d.Pointer, "/")], "/properties") {
			return "" // told at a reference, so that the name is not known
		}
	}
	delete(set, Note)
	switch {
	case len(set) == 0:
		return Note
	case len(set) > 1:
		return ""
	case set[Loosened], set[Tightened], set[Additive]:
		return slices.Collect(maps.Keys(set))[0]
	}
	return ""
}

// broken reports whether the verdicts on a document are against what is claimed.
func broken(claim Class, before, after bool) bool {
	switch claim {
	case Note, Additive:
		return before != after
	case Loosened:
		return before && !after
	case Tightened:
		return !before && after
	}
	return false
}

// counterexample finds a document whose verdicts are against what the differences claim.
func counterexample(o, n *jsonschema.Schema, d []Difference, instances []any) any {
	fields := fieldNames(d)
	for _, instance := range instances {
		if claim(d) == Additive && holds(instance, fields) {
			continue
		}
		before, ok := judge(o, instance)
		after, ok2 := judge(n, instance)
		if ok && ok2 && broken(claim(d), before, after) {
			return instance
		}
	}
	return nil
}

// TestRandomPairs checks what the classes claim: random documents are judged by a schema and by a mutation of it. If
// the only differences are notes, both judge alike, and so they do for a document without the new fields if only
// optional fields are new. What was only loosened refuses nothing that the old schema accepted, and what was only
// tightened accepts nothing that it refused.
func TestRandomPairs(t *testing.T) {
	pairs := 2_000
	if text := os.Getenv(pairsVariable); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("%s: %v", pairsVariable, err)
		}
		pairs = n
	}
	claims := map[Class]int{}
	reached := map[string]int{}
	failures := 0
	for seed := uint64(1); claims[Note]+claims[Additive]+claims[Loosened]+claims[Tightened] < pairs; seed++ {
		r := rand.New(rand.NewPCG(seed, 7))
		old := randomRoot(r)
		o := compile(old)
		if o == nil {
			continue
		}
		for range 10 {
			new := clone(old)
			for range 1 + r.IntN(2) {
				new = mutate(r, new, 3)
			}
			d := differences(spell(old), spell(new))
			for _, d := range d {
				for token := range strings.SplitSeq(d.Pointer, "/") {
					reached[token]++
				}
			}
			if claim(d) == "" {
				claims[""]++
				continue
			}
			n := compile(new)
			if n == nil {
				continue
			}
			claims[claim(d)]++
			instances := make([]any, 40)
			for i := range instances {
				instances[i] = instance(r, old)
			}
			instance := counterexample(o, n, d, instances)
			if instance == nil {
				continue
			}
			simpleOld, simpleNew, instance := shrink(old, new, instance)
			t.Errorf("seed %d: %s, but %s is judged otherwise\nold %s\nnew %s", seed, claim(d), spell(instance),
				spell(simpleOld), spell(simpleNew))
			if failures++; failures == 10 {
				t.FailNow()
			}
		}
	}
	t.Logf("%d pairs: %v", pairs, claims)
	for _, keyword := range keywordNames {
		if reached[keyword] == 0 {
			t.Errorf("no pair differs at %s", keyword)
		}
	}
	for _, class := range []Class{Note, Additive, Loosened, Tightened} {
		if claims[class] < pairs/50 {
			t.Errorf("%d of %d pairs are %s alone", claims[class], pairs, class)
		}
	}
}

// shrink takes from a counterexample what it does not need.
func shrink(old, new, instance any) (any, any, any) {
	fails := func(o, n, i any) bool {
		before, after := compile(o), compile(n)
		return before != nil && after != nil &&
			counterexample(before, after, differences(spell(o), spell(n)), []any{i}) != nil
	}
next:
	for {
		for _, less := range shrunk(old) {
			if fails(less, new, instance) {
				old = less
				continue next
			}
		}
		for _, less := range shrunk(new) {
			if fails(old, less, instance) {
				new = less
				continue next
			}
		}
		for _, less := range shrunk(instance) {
			if fails(old, new, less) {
				instance = less
				continue next
			}
		}
		return old, new, instance
	}
}

// reword says the same at one place of a schema in another form. It reports whether there was such a place.
func reword(r *rand.Rand, v any) (any, bool) {
	s, ok := v.(map[string]any)
	if !ok {
		return v, false
	}
	var places []string
	for _, keyword := range sortedNames(s) {
		if forms[keyword] != none && keyword != "$defs" {
			places = append(places, keyword)
		}
	}
	if len(places) > 0 && r.IntN(3) > 0 {
		keyword := pick(r, places...)
		done := false
		switch in := s[keyword].(type) {
		case map[string]any:
			if forms[keyword] == single {
				s[keyword], done = reword(r, in)
			} else if members := sortedNames(in); len(members) > 0 {
				name := pick(r, members...)
				in[name], done = reword(r, in[name])
			}
		case []any:
			i := r.IntN(len(in))
			in[i], done = reword(r, in[i])
		}
		return s, done
	}
	_, hasThen := s["then"]
	if s["if"] != nil && !hasThen && r.IntN(2) == 0 {
		s["then"] = pick[any](r, true, map[string]any{}, map[string]any{"title": "one"})
		return s, true
	}
	return map[string]any{"x-note": 1, "allOf": []any{s}}, true
}

// TestReworded checks that a schema and the same schema with an allOf of one or a then that is true differ in notes
// only, in both directions.
func TestReworded(t *testing.T) {
	found := 0
	for seed := uint64(1); found < 2_000; seed++ {
		r := rand.New(rand.NewPCG(seed, 11))
		old := map[string]any{"properties": map[string]any{"p": randomSchema(r, 3)},
			"$defs": map[string]any{"d": randomSchema(r, 1), "e": true, "f": true, "g": map[string]any{"$anchor": "g"},
				"h": map[string]any{"$id": "https://x.example/h"}},
			"definitions": map[string]any{"d": true}}
		text := spell(old)
		if strings.Contains(text, "#/properties/a") || strings.Contains(text, "#/$defs/d/properties") {
			continue
		}
		new := clone(old).(map[string]any)
		properties := new["properties"].(map[string]any)
		ok := false
		if properties["p"], ok = reword(r, properties["p"]); !ok {
			continue
		}
		found++
		for _, pair := range [][2]string{{spell(old), spell(new)}, {spell(new), spell(old)}} {
			if d := differences(pair[0], pair[1]); Breaking(d) || slices.ContainsFunc(d, func(d Difference) bool {
				return d.Class == Additive
			}) {
				t.Fatalf("seed %d: %v\nold %s\nnew %s", seed, d, pair[0], pair[1])
			}
		}
	}
}
