package schema

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
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
		must.OK(b, s.library.Validate(root))
	}
}

func BenchmarkParseAndValidate(b *testing.B) {
	s := Builtin("listing")
	text := []byte(seeds["listing"])
	b.ReportAllocs()
	for b.Loop() {
		doc := must.Get(strict.Parse("x.json", text, strict.RegistryFile))(b)
		if v := s.Validate(doc.Root); v != nil {
			b.Fatal(v)
		}
	}
}
