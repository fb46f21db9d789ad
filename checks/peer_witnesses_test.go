package checks

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// A co-signer's DID Document that nobody sought decides nothing, and exempts nobody.
func TestBootstrapWithoutDocuments(t *testing.T) {
	const mia = "did:web:mia.example"
	st := emptyStanding(nil)
	st.Policy = Policy{ReferenceServer: "did:web:nova.example", Maintainers: []string{mia}}
	for _, c := range []struct {
		name  string
		facts evidence.Facts
		want  verdict.Severity
		code  string
	}{
		{"not sought", evidence.Facts{}, verdict.Doubt, "cosigner-open"},
		{"not available", evidence.Facts{Maintainers: map[string]evidence.Result[*did.Document]{
			mia: {State: evidence.Unavailable}}}, verdict.Doubt, "cosigner-open"},
		{"absent", evidence.Facts{Maintainers: map[string]evidence.Result[*did.Document]{
			mia: {State: evidence.Absent}}}, verdict.Error, "cosigner-document"},
	} {
		s := &Subject{Run: &Run{Base: st, Now: fixture.Clock}, Facts: &c.facts,
			Listing: &registry.Listing{ToolDID: "did:web:nova.example", Level: "L4"}}
		var out verdict.Outcome
		bootstrap(&out, s)
		if f := out.Findings; len(f) != 1 || f[0].Severity != c.want || f[0].Code != c.code || out.Verified != "" {
			t.Errorf("%s: %v, verified %q; expected one finding %s and nothing verified", c.name, f, out.Verified,
				c.code)
		}
	}
}

// The candidate's domain is that of its did:web, wherever its Manifest is; a did:key has that of its Manifest.
func TestOwnDomain(t *testing.T) {
	for id, want := range map[string]string{
		"did:web:nova.ada.example":  "ada.example",
		fixture.DIDKey("ada"):       "bob.example",
		"did:oap:ada":               "bob.example",
		"did:web:nova.ada.example:": "bob.example", // not a DID
	} {
		s := &Subject{Run: &Run{Base: emptyStanding(nil)},
			Listing: &registry.Listing{ToolDID: id, ManifestURI: "https://www.bob.example/manifest.json"}}
		if got := ownDomain(s).Registrable; got != want {
			t.Errorf("%s: %q; expected %q", id, got, want)
		}
	}
}

// A missing third is explained by a pair of witnesses that each count, and are not independent of one another.
func TestFirstDependence(t *testing.T) {
	a, b := web5("a", "one"), web5("b", "one")
	with := func(w witness, weight weight, dependence string) witness {
		w.weight, w.dependence = weight, dependence
		return w
	}
	for _, c := range []struct {
		name string
		all  []witness
		want string
	}{
		{"a pair", []witness{a, b}, "did:web:a.example and did:web:b.example are not independent: "},
		{"the first does not count", []witness{with(a, ignored, ""), b}, ""},
		{"the second does not count", []witness{a, with(b, ignored, "")}, ""},
		{"the first depends on the candidate", []witness{with(a, counts, "x"), b}, ""},
		{"the second depends on the candidate", []witness{a, with(b, counts, "x")}, ""},
		{"independent", []witness{a, web5("c", "two")}, ""},
	} {
		if got := firstDependence(c.all); (got == "") != (c.want == "") || len(got) < len(c.want) ||
			got[:len(c.want)] != c.want {
			t.Errorf("%s: %q; expected %q", c.name, got, c.want)
		}
	}
}
