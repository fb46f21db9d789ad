package manifest

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

func TestParse(t *testing.T) {
	m := must.Get(Parse("u", []byte(`{
		"tool": {"did": "did:web:tool.example", "publisher": {"did": "did:web:corp.example", "legal_name": "Corp Ltd",
			"registry": {"type": "HRB", "id": "123", "country": "DE"}, "verified": false}},
		"conformance": {"receipt_uri": "https://tool.example/receipt.json"},
		"ad_hoc_teamwork": {"convention_discovery_v2": true, "unilateral_timeout_ms": 500,
			"aht_fallback_policy": {"policy_class": "POAM", "assumptions": ["a", "b"]}}
	}`)))(t)
	want := &Manifest{
		ToolDID:               "did:web:tool.example",
		Publisher:             Publisher{"did:web:corp.example", "Corp Ltd", Registry{"HRB", "123", "DE"}},
		Attested:              true,
		ReceiptURI:            "https://tool.example/receipt.json",
		ConventionDiscoveryV2: true,
		FallbackPolicy:        FallbackPolicy{"POAM", 2, true},
	}
	if !reflect.DeepEqual(want, m) {
		t.Errorf("got  %+v\nwant %+v", m, want)
	}
}

// Members of a wrong type, or in a wrong place, are as good as missing.
func TestParseOddTypes(t *testing.T) {
	for _, text := range []string{
		`{}`,
		`{"tool":"did:web:tool.example","conformance":[],"ad_hoc_teamwork":true}`,
		`{"tool":{"did":1,"publisher":["did:web:corp.example"]},"conformance":{"receipt_uri":null},
			"ad_hoc_teamwork":{"convention_discovery_v2":"true","unilateral_timeout_ms":"500","aht_fallback_policy":[]}}`,
		`{"publisher":{"did":"x"},"receipt_uri":"x","convention_discovery_v2":true,"aht_fallback_policy":{"policy_class":"POAM"}}`,
	} {
		m := must.Get(Parse("u", []byte(text)))(t)
		if m.Attested = false; !reflect.DeepEqual(m, &Manifest{}) {
			t.Errorf("%s: %+v", text, m)
		}
	}
}

// A Receipt is named in the conformance block, at the root, or in both.
func TestReceiptURI(t *testing.T) {
	for _, c := range []struct{ text, uri, other, member string }{
		{`{}`, "", "", "conformance.receipt_uri"},
		{`{"conformance":{"receipt_uri":"a"}}`, "a", "", "conformance.receipt_uri"},
		{`{"conformance_receipt_uri":"b"}`, "b", "", "conformance_receipt_uri"},
		{`{"conformance":{},"conformance_receipt_uri":"b"}`, "b", "", "conformance_receipt_uri"},
		{`{"conformance":{"receipt_uri":1},"conformance_receipt_uri":"b"}`, "b", "", "conformance_receipt_uri"},
		{`{"conformance":{"receipt_uri":"a"},"conformance_receipt_uri":"a"}`, "a", "", "conformance.receipt_uri"},
		{`{"conformance":{"receipt_uri":"a"},"conformance_receipt_uri":"b"}`, "a", "b", "conformance.receipt_uri"},
		{`{"conformance":{"receipt_uri":"a"},"conformance_receipt_uri":null}`, "a", "", "conformance.receipt_uri"},
	} {
		m := must.Get(Parse("u", []byte(c.text)))(t)
		if _, member := m.ReceiptMember(); m.ReceiptURI != c.uri || m.OtherURI != c.other || member != c.member {
			t.Errorf("%s: %q, %q, %s", c.text, m.ReceiptURI, m.OtherURI, member)
		}
	}
}

func TestClaimedLevels(t *testing.T) {
	many := strings.Repeat(`"L1",`, 1000)
	for i := range 1000 {
		many += fmt.Sprintf(`"L%d",`, i)
	}
	m := must.Get(Parse("u", []byte(`{"conformance":{"claimed_levels":[`+many+`1,null],"suite_version":"1.0.0"}}`)))(t)
	if len(m.ClaimedLevels) != maxLevels || m.ClaimedLevels[0] != "L1" || m.ClaimedLevels[1] != "L0" ||
		m.SuiteVersion != "1.0.0" {
		t.Errorf("%d levels, %v, suite %q", len(m.ClaimedLevels), m.ClaimedLevels[:2], m.SuiteVersion)
	}
}

func TestAttested(t *testing.T) {
	for text, want := range map[string]bool{
		`{"conformance_receipt_uri":"x"}`: true, `{"conformance_receipt_uri":1}`: true,
		`{"conformance_receipt_uri":null}`: false, `{"conformance":[],"conformance_receipt_uri":"x"}`: true,
		`{"conformance":{}}`: true, `{"conformance":{"receipt_uri":1}}`: true,
		`{}`: false, `{"conformance":null}`: false, `{"conformance":[]}`: false, `{"conformance":"x"}`: false,
	} {
		if m, err := Parse("u", []byte(text)); err != nil || m.Attested != want {
			t.Errorf("%s: %+v, %v", text, m, err)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for text, code := range map[string]string{
		"":                        strict.CodeSyntax,
		"[]":                      CodeShape,
		"null":                    CodeShape,
		`{"tool":{},"tool":{}}`:   strict.CodeDuplicateMember,
		strings.Repeat("[", 9999): strict.CodeTooDeep,
		`{"a":"` + strings.Repeat("x", MaxBytes) + `"}`: strict.CodeTooLarge,
	} {
		m, err := Parse("u", []byte(text))
		if err == nil {
			t.Errorf("%.40s: accepted as %+v", text, m)
		} else if e := err.(*strict.Error); e.Code != code {
			t.Errorf("%.40s: %v, want %s", text, err, code)
		}
	}
}

func TestSamePublisher(t *testing.T) {
	corp := Publisher{"did:web:corp.example", "Straße & Söhne Ltd", Registry{"HRB", "123 B", "DE"}}
	tests := []struct {
		name string
		edit func(*Publisher)
		want string // how the reason begins; empty: not the same
	}{
		{"equal", func(*Publisher) {}, "the publisher did"},
		{"DID in another spelling", func(p *Publisher) { p.DID = "did:web:CORP.example." }, "the publisher did"},
		{"DID with escapes", func(p *Publisher) { p.DID = "did:web:%63orp.example%3a443:.well-known" },
			"the publisher did"},
		{"name", func(p *Publisher) { p.DID = "did:web:other.example" }, "the legal_name"},
		{"name in another case", func(p *Publisher) { p.DID, p.LegalName = "x", "STRASSE & SÖHNE LTD" },
			"the legal_name"},
		{"name with blanks", func(p *Publisher) { p.DID, p.LegalName = "x", "\u00a0Straße  &\tSöhne Ltd " },
			"the legal_name"},
		{"name without punctuation", func(p *Publisher) { p.DID, p.LegalName = "x", "Strasse-Söhne, Ltd." },
			"the legal_name"},
		{"name written out", func(p *Publisher) {
			p.DID, p.LegalName, p.Registry.ID = "x", "Straße & Söhne Limited", "1"
		}, ""},
		{"punctuation given", func(p *Publisher) { *p = Publisher{"-", "...", Registry{ID: "/"}} }, ""},
		{"name decomposed", func(p *Publisher) { p.DID, p.LegalName = "x", "Straße & So\u0308hne Ltd" },
			"the legal_name"},
		{"name in full width", func(p *Publisher) { p.DID, p.LegalName = "x", "Straße & Söhne Ｌｔｄ" }, "the legal_name"},
		{"name with what is not seen", func(p *Publisher) {
			p.DID, p.LegalName = "x",
				"Stra\u200bße & So\u034f\u0308hne Ltd\ufeff"
		}, "the legal_name"},
		{"register with what is not seen", func(p *Publisher) {
			p.DID, p.LegalName, p.Registry.ID = "x", "y",
				"1\u200d23 B"
		}, "the registry entry"},
		{"register", func(p *Publisher) { p.DID, p.LegalName = "x", "y" }, "the registry entry"},
		{"register in another case", func(p *Publisher) {
			p.DID, p.LegalName, p.Registry = "x", "y",
				Registry{"hrb", "123 b", "de"}
		}, "the registry entry"},
		{"register by its id alone", func(p *Publisher) {
			p.DID, p.LegalName, p.Registry = "x", "y",
				Registry{ID: "123 B"}
		}, "the registry entry"},
		{"register of another country", func(p *Publisher) { p.DID, p.LegalName, p.Registry.Country = "x", "y", "AT" },
			""},
		{"another register", func(p *Publisher) { p.DID, p.LegalName, p.Registry.Type = "x", "y", "HRA" }, ""},
		{"another number", func(p *Publisher) { p.DID, p.LegalName, p.Registry.ID = "x", "y", "124" }, ""},
		{"no number", func(p *Publisher) { p.DID, p.LegalName, p.Registry.ID = "x", "y", "" }, ""},
		{"nothing given", func(p *Publisher) { *p = Publisher{} }, ""},
		{"blanks given", func(p *Publisher) { *p = Publisher{" ", "\t", Registry{ID: " "}} }, ""},
	}
	for _, tt := range tests {
		other := corp
		tt.edit(&other)
		a, b := &Manifest{Publisher: corp}, &Manifest{Publisher: other}
		for _, pair := range [][2]*Manifest{{a, b}, {b, a}} {
			is, why := pair[0].SamePublisher(pair[1])
			if is != (tt.want != "") || !strings.HasPrefix(why, tt.want) {
				t.Errorf("%s: %v, %q, want %q", tt.name, is, why, tt.want)
			}
		}
	}
	nobody := &Manifest{}
	if is, why := nobody.SamePublisher(nobody); is {
		t.Errorf("nothing makes two publishers equal: %q", why)
	}
}

// A number in a register counts by its value, as text does not.
func TestRegistryNumber(t *testing.T) {
	for id, want := range map[string]string{"123": "123", "123.0": "123", "1.23e2": "123", `"123"`: "123", `"123.0"`: "123.0",
		"12.5": "12.5", "-0": "0", "1e29": "1" + strings.Repeat("0", 29), "1e30": "1e30", "1e-400": "1e-400",
		"123456789012345678901.0": "123456789012345678901", "null": "", "[1]": ""} {
		m, err := Parse("m", []byte(`{"tool": {"publisher": {"registry": {"id": `+id+`}}}}`))
		if err != nil || m.Publisher.Registry.ID != want {
			t.Errorf("%s: %q, %v; expected %q", id, m.Publisher.Registry.ID, err, want)
		}
	}
}
