package strict

import (
	"encoding/json"
	"testing"
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
		if err := json.Unmarshal(data, &v); err != nil {
			b.Fatal(err)
		}
	}
}
