package listing

import (
	"reflect"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/level"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/schema"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

const served = `{"receipt_id":"urn:oap:conformance:r1","implementation":{"did":"did:web:tool.example","name":"To\u202eol \"1\""},
"claimed_levels":["L1","L1-NC"],"validity":{"not_before":"2026-05-04T08:00:00.000Z","not_after":"2026-08-02T08:00:00.000Z"}}`

func from(t *testing.T, text string) From {
	t.Helper()
	r := must.Get(receipt.Parse("receipt", []byte(text)))(t)
	return From{Slug: "tool", ToolDID: "did:web:tool.example",
		ManifestURI: "https://tool.example/.well-known/oap-tool.json",
		ReceiptURI:  "https://tool.example/receipt.json", Receipt: r,
		ReceiptSHA256: "5bd9000000000000000000000000000000000000000000000000000000000000"}
}

func TestDraftLayout(t *testing.T) {
	f := from(t, served)
	f.Level, f.Provisional = "L1-NC", true
	f.More = map[string]any{"license": "MIT", "jurisdictions": []any{"DE", "FR"}, "categories": []any{}}
	rec := Draft(f)
	const want = `{
  "slug": "tool",
  "name": "To\u202eol \"1\"",
  "tool_did": "did:web:tool.example",
  "manifest_uri": "https://tool.example/.well-known/oap-tool.json",
  "conformance_level": "L1-NC",
  "conformance_receipt_uri": "https://tool.example/receipt.json",
  "conformance_receipt_sha256": "5bd9000000000000000000000000000000000000000000000000000000000000",
  "issued_at": "2026-05-04T08:00:00.000Z",
  "expires_at": "2026-08-02T08:00:00.000Z",
  "license": "MIT",
  "non_commercial": true,
  "provisional": true,
  "categories": [],
  "jurisdictions": [
    "DE",
    "FR"
  ]
}
`
	if got := string(rec.Document.Data); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if rec.Path != "implementations/tool.json" {
		t.Errorf("the path is %q", rec.Path)
	}
	if doc, err := strict.Parse(rec.Path, rec.Document.Data, strict.RegistryFile); err != nil ||
		!reflect.DeepEqual(doc.Root, rec.Document.Root) {
		t.Errorf("the text reads as %v, %v", doc, err)
	}
	if v := schema.Builtin("listing").Validate(rec.Document.Root); len(v) > 0 {
		t.Errorf("the draft violates the schema: %v", v)
	}
	if l := registry.ParseListing(rec); l.Issued.IsZero() || l.Expires.IsZero() || !l.NonCommercial {
		t.Errorf("the draft reads as %+v", l)
	}
}

func TestExpires(t *testing.T) {
	for _, c := range []struct{ before, after, want string }{
		{"2026-05-04T08:00:00Z", "2026-09-01T08:00:00Z", "2026-08-02T08:00:00Z"},
		{"2026-05-04T08:00:00.1239Z", "2026-09-01T08:00:00Z", "2026-08-02T08:00:00.123Z"},
		{"2026-05-04T08:00:00+02:00", "2026-05-30T08:00:00.50+02:00", "2026-05-30T08:00:00.50+02:00"},
		{"soon", "2026-05-30T08:00:00Z", "2026-05-30T08:00:00Z"},
		{"2026-05-04T08:00:00Z", "", ""},
	} {
		f := from(t, `{"validity":{"not_before":"`+c.before+`","not_after":"`+c.after+`"}}`)
		if got := Expires(f.Receipt); got != c.want {
			t.Errorf("from %s to %s: %q, want %q", c.before, c.after, got, c.want)
		}
	}
}

func TestHighest(t *testing.T) {
	for _, c := range []struct {
		claimed []level.Level
		want    level.Level
	}{
		{nil, ""},
		{[]level.Level{"L1-NC", "L1"}, "L1"},
		{[]level.Level{"L1", "L3-NC", "L2"}, "L3-NC"},
		{[]level.Level{"W2", "C1"}, "W2"},
		{[]level.Level{"W2", "L0"}, "L0"},
		{[]level.Level{"L5-ORG", "L5"}, "L5"},
		{[]level.Level{"L9", "L2-NC"}, "L9"},
	} {
		if got := Highest(c.claimed); got != c.want {
			t.Errorf("of %q: %q, want %q", c.claimed, got, c.want)
		}
	}
}
