package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

func compileText(t testing.TB, text string) *Schema {
	t.Helper()
	s := must.Get(Compile("x.json", []byte(text)))(t)
	return s
}

func TestViolations(t *testing.T) {
	long := strings.Repeat("é", 81)
	tests := []struct {
		name, schema, document string
		want                   []Violation
	}{
		{"type", `{"type":"string"}`, `1`, []Violation{{"", "type", "is a number; expected a string"}}},
		{"types", `{"type":["array","null"]}`, `{}`,
			[]Violation{{"", "type", "is an object; expected null or an array"}}},
		{"integer", `{"type":"integer"}`, `1.5`, []Violation{{"", "type", "is a number; expected an integer"}}},
		{"required", `{"properties":{"a":{"required":["y","x"]}}}`, `{"a":{}}`, []Violation{
			{"/a", "required", `has no "x", which is required`}, {"/a", "required", `has no "y", which is required`}}},
		{"additional members", `{"additionalProperties":false}`, `{"b/~":1,"a":2}`, []Violation{
			{"/a", "additionalProperties", `"a" is not a member that is allowed here`},
			{"/b~1~0", "additionalProperties", `"b/~" is not a member that is allowed here`}}},
		{"lengths", `{"properties":{"a":{"maxLength":80},"b":{"minLength":1},"c":{"minLength":2}}}`, `{"a":"` + long +
			`","b":"","c":"x"}`, []Violation{
			{"/a", "maxLength", "is 81 characters long; expected at most 80"},
			{"/b", "minLength", "is 0 characters long; expected at least 1"},
			{"/c", "minLength", "is 1 character long; expected at least 2"}}},
		{"every keyword of a string", `{"format":"date","pattern":"^x","maxLength":1}`, `"ab"`, []Violation{
			{"", "format", `"ab" is not of the format date; expected a day such as 2026-05-04`},
			{"", "maxLength", "is 2 characters long; expected at most 1"},
			{"", "pattern", `"ab" does not match ^x`}}},
		{"hostile text", `{"pattern":"^$"}`, `"\u001b[31m\u202e::error::` + long + `"`, []Violation{
			{"", "pattern", `"\x1b[31m\u202e::error::` + strings.Repeat("é", 65) + `…" does not match ^$`}}},
		{"enum", `{"enum":["a",1,null,[2]]}`, `true`,
			[]Violation{{"", "enum", `true is not one of "a", 1, null, an array`}}},
		{"const", `{"const":"a"}`, `{}`, []Violation{{"", "const", `an object is not "a"`}}},
		{"not", `{"items":{"not":{"pattern":"^p:"}}}`, `["p:x"]`,
			[]Violation{{"/0", "not", `"p:x" is not allowed here: it matches ^p:`}}},
		{"not of another kind", `{"not":{"type":"null"}}`, `null`,
			[]Violation{{"", "not", "null is not allowed here"}}},
		{"items", `{"minItems":2,"items":{"type":"null"}}`, `[1]`, []Violation{
			{"", "minItems", "has 1 item; expected at least 2"}, {"/0", "type", "is a number; expected null"}}},
		{"too many items", `{"maxItems":1,"uniqueItems":true}`, `[1,1.0]`, []Violation{
			{"", "maxItems", "has 2 items; expected at most 1"},
			{"", "uniqueItems", "items 0 and 1 are equal; expected items that differ"}}},
		{"numbers", `{"minimum":2,"exclusiveMaximum":1,"multipleOf":2}`, `1e0`, []Violation{
			{"", "exclusiveMaximum", "is 1; expected less than 1"}, {"", "minimum", "is 1; expected at least 2"},
			{"", "multipleOf", "is 1; expected a multiple of 2"}}},
		{"references and allOf", `{"$ref":"#/$defs/a","allOf":[{"type":"null"}],"$defs":{"a":{"type":"string"}}}`, `1`,
			[]Violation{
				{"", "type", "is a number; expected a string"}, {"", "type", "is a number; expected null"}}},
		{"anyOf", `{"anyOf":[{"type":"null"},{"type":"string"}]}`, `1`,
			[]Violation{{"", "anyOf", "matches none of the allowed forms"}}},
		{"oneOf", `{"oneOf":[true,true]}`, `1`,
			[]Violation{{"", "oneOf", "matches forms 0 and 1; expected exactly one"}}},
		{"if", `{"if":{"required":["a"]},"then":{"required":["b"]}}`, `{"a":1}`,
			[]Violation{{"", "required", `has no "b", which is required`}}},
		{"dependentRequired", `{"dependentRequired":{"a":["b"]}}`, `{"a":1}`,
			[]Violation{{"", "dependentRequired", `has "a" and no "b", which is then required`}}},
		{"propertyNames", `{"properties":{"in":{"propertyNames":{"maxLength":1}}}}`, `{"in":{"ab":1}}`, []Violation{
			{"/in/ab", "propertyNames", `"ab" is not a name that a member may have here`}}},
		{"unevaluatedProperties", `{"unevaluatedProperties":false}`, `{"a":1}`,
			[]Violation{{"/a", "unevaluatedProperties", "is not allowed here"}}},
		{"false", `{"properties":{"a":false}}`, `{"a":1}`, []Violation{{"/a", "false", "is not allowed here"}}},
		{"contains", `{"contains":{"type":"null"},"minContains":1,"maxContains":1}`, `[null,null]`, []Violation{
			{"", "maxContains", "has 2 items of one kind; expected at most 1"}}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := compileText(t, test.schema).Validate(decode(t, test.document))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestUnknownKeywordsAndFormatsAreIgnored(t *testing.T) {
	s := compileText(t,
		`{"keyword":1,"format":"iri","properties":{"a":{"format":"unheard-of"},"b":{"format":"password"}}}`)
	for _, text := range []string{`"not an iri"`, `{"a":"x","b":1}`} {
		if v := s.Validate(decode(t, text)); v != nil {
			t.Errorf("%s: %v", text, v)
		}
	}
}

func TestFormatsOfNumbers(t *testing.T) {
	tests := []struct {
		format, number string
		want           bool
	}{
		{"int32", "2147483647", true}, {"int32", "2147483648", false}, {"int32", "-2147483648", true},
		{"int32", "1.0", true}, {"int32", "1.5", false},
		{"int64", "1e300", true}, {"int64", "0.5", false}, {"float", "0.5", true}, {"double", "0.5", true},
		{"date", "1", true},
	}
	for _, test := range tests {
		s := compileText(t, fmt.Sprintf(`{"format":%q}`, test.format))
		if got := s.Validate(json.Number(test.number)) == nil; got != test.want {
			t.Errorf("%s %s: %v", test.format, test.number, got)
		}
	}
}

func TestCompileRefuses(t *testing.T) {
	tests := []struct{ name, schema, pointer, message string }{
		{"no JSON", `{`, "", ""},
		{"duplicate member", `{"type":"string","type":"null"}`, "/type", ""},
		{"no schema", `1`, "", "is a number"},
		{"no type", `{"properties":{"a":{"type":"text"}}}`, "/properties/a/type", "matches none"},
		{"negative length", `{"minLength":-1}`, "/minLength", "is -1; expected at least 0"},
		{"old dialect", `{"$schema":"http://json-schema.org/draft-07/schema#"}`, "/$schema", "another dialect"},
		{"dialect below", `{"items":{"$schema":"http://json-schema.org/draft-07/schema#"}}`, "/items/$schema",
			"another dialect"},
		{"remote reference", `{"$ref":"https://example.org/s.json"}`, "/$ref",
			`"https://example.org/s.json" leads out of the schema`},
		{"file reference", `{"$ref":"file:///etc/passwd"}`, "/$ref", "leads out of the schema"},
		{"relative reference", `{"$id":"https://example.org/a.json","items":{"$ref":"b.json"}}`, "/items/$ref",
			"leads out of the schema"},
		{"metaschema reference", `{"$ref":"https://json-schema.org/draft/2020-12/schema"}`, "/$ref",
			"leads out of the schema"},
		{"reference to nothing", `{"$ref":"#/$defs/a"}`, "/$ref", `"#/$defs/a" is not a subschema`},
		{"reference to no subschema", `{"$ref":"#/x/a","x":{"a":{}}}`, "/$ref", `"#/x/a" is not a subschema`},
		{"anchor of nothing", `{"$ref":"#a"}`, "/$ref", `"#a" is not a subschema`},
		{"nested id", `{"items":{"$id":"https://example.org/a.json"}}`, "/items/$id", "$id below the root"},
		{"dynamic reference", `{"$dynamicRef":"#a"}`, "/$dynamicRef", "not followed"},
		{"keyword of ajv-formats", `{"properties":{"a":{"formatMinimum":"2026-01-01"}}}`, "/properties/a/formatMinimum",
			"Ajv's own"},
		{"nullable", `{"type":"string","nullable":true}`, "/nullable", "Ajv's own"},
		{"lookahead", `{"pattern":"^(?=a)"}`, "/pattern", `"^(?=a)": (?=a...) is not supported`},
		{"bad pattern name", `{"patternProperties":{"a/(":true}}`, "/patternProperties/a~1(", "a group is not closed"},
		{"long count", `{"pattern":"a{2000}"}`, "/pattern", "counts above 1000"},
		{"costly pattern", `{"pattern":"(a{900}){900}"}`, "/pattern", "more than 4000 steps"},
		{"count beyond an int", `{"minLength":1e30}`, "/minLength", "counts to more than 2147483647"},
		{"reference to itself", `{"$ref":"#"}`, "", "back to itself"},
		{"circle",
			`{"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/b"}]},"b":{"not":{"$ref":"#/$defs/a"}}}}`, "", "back to itself"},
		{"doubling", doubling(20), "", "more than 1000 subschemas"},
		{"chain", chain(200), "", "one inside the other"},
		{"too many values", `{"enum":[` + strings.Repeat(`"x",`, 5_000) + `"y"]}`, "", "more than 5000 values"},
		{"too long", `{"title":"` + strings.Repeat("x", 256<<10) + `"}`, "", ""},
		{"too deep", strings.Repeat(`{"not":`, 70) + `{}` + strings.Repeat(`}`, 70), "", ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := Compile("x.json", []byte(test.schema))
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("error %v", err)
			}
			if e.Message == "" || !strings.Contains(e.Message, test.message) || test.pointer != "" &&
				e.Pointer != test.pointer || e.Pos.Path != "x.json" {
				t.Errorf("pointer %q, message %q, at %v", e.Pointer, e.Message, e.Pos)
			}
		})
	}
}

// doubling applies 2^n subschemas to one value.
func doubling(n int) string {
	var defs []string
	for i := range n {
		defs = append(defs, fmt.Sprintf(`"d%d":{"allOf":[{"$ref":"#/$defs/d%d"},{"$ref":"#/$defs/d%d"}]}`, i, i+1, i+1))
	}
	return fmt.Sprintf(`{"$ref":"#/$defs/d0","$defs":{%s,"d%d":{}}}`, strings.Join(defs, ","), n)
}

// chain applies n subschemas to one value, each by reference from the one before.
func chain(n int) string {
	var defs []string
	for i := range n {
		defs = append(defs, fmt.Sprintf(`"d%d":{"$ref":"#/$defs/d%d"}`, i, i+1))
	}
	return fmt.Sprintf(`{"$ref":"#/$defs/d0","$defs":{%s,"d%d":{}}}`, strings.Join(defs, ","), n)
}

func TestReferencesWithin(t *testing.T) {
	for _, text := range []string{
		`{"$ref":"#/$defs/a%25b~1c","$defs":{"a%b/c":{"type":"string"}}}`,
		`{"$ref":"#name","$defs":{"a":{"$anchor":"name","type":"string"}}}`,
		`{"$id":"https://example.org/s.json","$ref":"https://example.org/s.json#/$defs/a","$defs":{"a":{"type":"string"}}}`,
		`{"$schema":"https://json-schema.org/draft/2020-12/schema#","$ref":"#/definitions/a","definitions":{"a":{"type":"string"}}}`,
	} {
		s := compileText(t, text)
		if s.Validate("x") != nil || s.Validate(true) == nil {
			t.Errorf("%s: %v, %v", text, s.Validate("x"), s.Validate(true))
		}
	}
}

// A schema that refers to itself below each member twice takes 2^n steps for a document n deep.
func TestCostIsBounded(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 60) + `1` + strings.Repeat(`}`, 60)
	twice := compileText(t,
		`{"additionalProperties":{"$ref":"#"},"patternProperties":{"^a":{"$ref":"#"}},"propertyNames":{"maxLength":1}}`)
	want := []Violation{{Message: "takes more than 3580 steps to judge by this schema, the most for a document of " +
		"its size"}}
	if diff := cmp.Diff(want, twice.Validate(decode(t, deep))); diff != "" {
		t.Error(diff)
	}
	if v := twice.Validate(decode(t, `{"a":{"b":{}}}`)); v != nil {
		t.Error(v)
	}
	slow := compileText(t, `{"properties":{"a":{"pattern":"(x+x+){200}y"}}}`)
	if slow.fast != nil {
		t.Error("a costly pattern is judged fast")
	}
	v := slow.Validate(map[string]any{"a": strings.Repeat("x", 60_000)})
	if len(v) != 1 || !strings.Contains(v[0].Message, "takes more than") {
		t.Error(v)
	}
	wide := Builtin("receipt").Validate(map[string]any{"claimed_levels": make([]any, 300_000)})
	if len(wide) != 1 || !strings.Contains(wide[0].Message, "takes more than 200000 steps") {
		t.Error(wide)
	}
}

func TestManyViolations(t *testing.T) {
	twice := compileText(t, `{"allOf":[{"items":{"type":"string"}},{"items":{"type":"string"}}]}`)
	for _, c := range []struct {
		s    *Schema
		root any
		want int
		last string
	}{
		{Builtin("listing"), map[string]any{"categories": make([]any, 1000)}, 100, "has 910 more violations"},
		{twice, make([]any, 100), 100, "is null; expected a string"},
		{twice, make([]any, 101), 100, "has 103 more violations"},
	} {
		for range 3 {
			v := c.s.Validate(c.root)
			if len(v) != c.want || v[len(v)-1].Message != c.last {
				t.Errorf("%d violations, the last %v; want %d and %q", len(v), v[len(v)-1], c.want, c.last)
			}
		}
	}
}

// The library takes numbers as rationals: it fails on the first of these, and would take the second for no integer.
func TestNumbersAreDoubles(t *testing.T) {
	s := compileText(t, `{"anyOf":[{"type":"integer","minimum":0}]}`)
	for _, text := range []string{"1e-9999999", "1.0000000000000000000001", "1e300", "-0"} {
		if v := s.Validate(json.Number(text)); v != nil {
			t.Errorf("%s: %v", text, v)
		}
	}
	if s.Validate(json.Number("-1e-300")) == nil {
		t.Error("-1e-300 is no integer")
	}
}

func TestValidateIsStableAndConcurrent(t *testing.T) {
	s := Builtin("receipt")
	root := decode(t,
		`{"x":1,"signatures":[{"value":"placeholder:"},{"alg":"X"}],"suite":{},"target":1,"profile":"","results_summary":{"total":-1}}`)
	want := s.Validate(root)
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				if diff := cmp.Diff(want, s.Validate(root)); diff != "" {
					t.Error(diff)
				}
			}
		})
	}
	group.Wait()
}

func TestValuesOfOtherTypes(t *testing.T) {
	s := Builtin("gate-policy")
	policy := map[string]any{"version": 1, "reference_server": map[string]any{"tool_did": "did:web:example.org"},
		"maintainers": []any{"did:web:example.net"}}
	if v := s.Validate(policy); v != nil {
		t.Error(v)
	}
	policy["version"] = struct{}{}
	want := []Violation{{"/version", "", "is not a value that JSON can hold"}}
	if diff := cmp.Diff(want, s.Validate(policy)); diff != "" {
		t.Error(diff)
	}
}
