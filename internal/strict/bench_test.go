package strict

import (
	"encoding/json"
	"testing"
)

const listing = `{
  "slug": "example-agent",
  "name": "Example Agent",
  "tool_did": "did:web:example-agent.example.org",
  "manifest_uri": "https://example-agent.example.org/.well-known/oap-tool.json",
  "conformance_level": "L1-NC",
  "conformance_receipt_uri": "https://example-agent.example.org/oap-conformance-receipt.json",
  "conformance_receipt_sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
  "issued_at": "2026-05-04T10:34:47.660Z",
  "expires_at": "2026-08-02T10:34:47.660Z",
  "license": "Apache-2.0",
  "non_commercial": true,
  "provisional": true,
  "contact": "oap-contact@example-agent.example.org",
  "categories": ["assistant-network", "calendar", "messaging", "crm"],
  "jurisdictions": ["DE", "EU"]
}
`

func BenchmarkParse(b *testing.B) {
	data := []byte(listing)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse("x.json", data, RegistryFile); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkEncodingJSON is the peer: no positions, no strictness.
func BenchmarkEncodingJSON(b *testing.B) {
	data := []byte(listing)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		var v any
		if err := json.Unmarshal(data, &v); err != nil {
			b.Fatal(err)
		}
	}
}
