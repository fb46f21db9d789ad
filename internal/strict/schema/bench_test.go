package schema

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

func BenchmarkValidate(b *testing.B) {
	s := Builtin("listing")
	root := decode(b, seeds["listing"])
	b.ReportAllocs()
	for b.Loop() {
		if v := s.Validate(root); v != nil {
			b.Fatal(v)
		}
	}
}

// BenchmarkValidateByLibrary is what the fast verdict spares.
func BenchmarkValidateByLibrary(b *testing.B) {
	s := Builtin("listing")
	root := decode(b, seeds["listing"])
	b.ReportAllocs()
	for b.Loop() {
		if err := s.library.Validate(root); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParseAndValidate(b *testing.B) {
	s := Builtin("listing")
	text := []byte(seeds["listing"])
	b.ReportAllocs()
	for b.Loop() {
		doc, err := strict.Parse("x.json", text, strict.RegistryFile)
		if err != nil {
			b.Fatal(err)
		}
		if v := s.Validate(doc.Root); v != nil {
			b.Fatal(v)
		}
	}
}
