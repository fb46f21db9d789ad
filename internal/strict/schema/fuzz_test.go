package schema

import (
	"reflect"
	"regexp"
	"slices"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/docs/schemas"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// FuzzValidate checks that no document makes Validate panic, that the fast verdict is the library's, and that two
// judgements of one document are equal.
func FuzzValidate(f *testing.F) {
	for i, name := range Names[:4] {
		f.Add(uint8(i), []byte(seeds[name]))
	}
	for _, c := range parityCases(f) {
		f.Add(uint8(0), []byte(c.Listing))
	}
	f.Add(uint8(4),
		[]byte(`{"version":1,"reference_server":{"tool_did":"did:web:example.org"},"maintainers":["did:web:example.net",1e-9999999]}`))
	f.Fuzz(func(t *testing.T, which uint8, text []byte) {
		doc, err := strict.Parse("x.json", text, strict.RegistryFile)
		if err != nil {
			return
		}
		s := Builtin(Names[int(which)%len(Names)])
		agree(t, s, doc.Root)
		first := s.Validate(doc.Root)
		if !reflect.DeepEqual(first, s.Validate(doc.Root)) {
			t.Error("two judgements differ")
		}
		if len(first) > maxViolations || !slices.IsSortedFunc(first[:max(0, len(first)-1)], func(a, b Violation) int {
			return slices.Compare([]string{a.Pointer, a.Keyword}, []string{b.Pointer, b.Keyword})
		}) {
			t.Errorf("violations are too many or not sorted: %v", first)
		}
	})
}

// FuzzCompile checks that no schema makes Compile or Validate panic or hang.
func FuzzCompile(f *testing.F) {
	for _, name := range Names {
		f.Add(schemas.Text(name), []byte(seeds[name]))
	}
	f.Add([]byte(doubling(5)), []byte(`1`))
	f.Add([]byte(chain(9)), []byte(`1`))
	f.Add([]byte(`{"additionalProperties":{"$ref":"#"},"patternProperties":{"^a":{"$ref":"#"}}}`),
		[]byte(`{"a":{"a":{"a":1}}}`))
	f.Add([]byte(
		`{"$id":"x","$ref":"#a%","$anchor":"a","dependencies":{"a":["b"],"b":{}},"if":true,"then":{"contains":{"const":1}}}`), []byte(`{"a":1}`))
	f.Add([]byte(
		`{"unevaluatedItems":false,"prefixItems":[true],"uniqueItems":true,"multipleOf":0.1,"propertyNames":{"enum":[1,[2]]}}`), []byte(`[1,{"a":2},1]`))
	f.Fuzz(func(t *testing.T, text, document []byte) {
		s, err := Compile("x.json", text)
		if err != nil {
			return
		}
		doc, err := strict.Parse("x.json", document, strict.RegistryFile)
		if err != nil {
			return
		}
		agree(t, s, doc.Root)
		if !reflect.DeepEqual(s.Validate(doc.Root), s.Validate(doc.Root)) {
			t.Error("two judgements differ")
		}
	})
}

// FuzzPattern compares the matching by sequences with package regexp.
func FuzzPattern(f *testing.F) {
	for _, p := range []string{"^[a-z0-9][a-z0-9-]{1,63}$", "^did:(web|key):[a-zA-Z0-9._:-]+$",
		"^L[0-5](-NC|-FINANCE|-ORG)?$", "^[A-Z]{2}$",
		"^(a|bc|)x?[0-9]*yy$", "^did:", "^a{2,}", "^$", "^[]$", "\\u{1F600}[^\\s]", "a|^b$"} {
		for _, text := range []string{"", "did:web:x", "L1-NC", "DE", "ayy", "bcx99yy", "a\n", "é"} {
			f.Add(p, text)
		}
	}
	f.Fuzz(func(t *testing.T, source, text string) {
		p, err := compilePattern(source)
		if err != nil || p.simple == nil {
			return
		}
		e := must.Get(parsePattern(source))(t)
		re, err := regexp.Compile(e.re2())
		if err != nil {
			t.Fatalf("%q as %q: %v", source, e.re2(), err)
		}
		if p.MatchString(text) != re.MatchString(text) {
			t.Errorf("%q on %q: by sequences %v, by regexp %v", source, text, p.MatchString(text), re.MatchString(text))
		}
	})
}
