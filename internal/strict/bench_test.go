package strict

import (
	"encoding/json"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

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
		must.OK(b, json.Unmarshal(data, &v))
	}
}
