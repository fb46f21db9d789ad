package schema

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// agree compares the fast verdict with the library's.
func agree(t testing.TB, s *Schema, root any) {
	t.Helper()
	if s.fast == nil {
		return
	}
	if err := s.library.Validate(Floats(root)); s.fast.valid(root) != (err == nil) {
		text, _ := json.Marshal(root)
		t.Errorf("fast verdict on %s is %v, the library's: %v", text, s.fast.valid(root), err)
	}
}

func TestFastVerdictOnRecords(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, name := range slices.Sorted(maps.Keys(seeds)) {
		if Builtin(name).fast == nil {
			t.Fatalf("%s is not judged fast", name)
		}
		for _, text := range mutants(t, r, seeds[name], 500) {
			agree(t, Builtin(name), decode(t, text))
		}
	}
}

func TestFastVerdictOnRandomSchemas(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	fast, valid := 0, 0
	for range 1000 {
		text := must.Get(json.Marshal(randomSchema(r, 2, false)))(t)
		s, err := Compile("x", text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if s.fast == nil {
			continue
		}
		fast++
		for range 20 {
			v := randomValue(r, 3)
			agree(t, s, v)
			if s.fast.valid(v) {
				valid++
			}
			if t.Failed() {
				t.Fatalf("by %s", text)
			}
		}
	}
	if fast < 500 || valid < 1000 {
		t.Errorf("only %d schemas were judged fast, only %d documents valid", fast, valid)
	}
}
