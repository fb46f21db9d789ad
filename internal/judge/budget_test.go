package judge

import (
	"errors"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

func TestRoom(t *testing.T) {
	subject := func(text string) *checks.Subject {
		doc := must.Get(strict.Parse("implementations/ada.json", []byte(text), strict.RegistryFile))(t)
		return &checks.Subject{Record: &registry.Record{Document: doc}}
	}
	dense := "[" + strings.Repeat("0,", 32_000) + "0]"
	wide := `"` + strings.Repeat("x", 65_000) + `"`
	for _, tt := range []struct {
		name    string
		records int
		text    string
		fit     int // how many such records there is room for
	}{
		{"a listing's size", 1000, `{"slug":"ada","issued_at":"2026-06-01T12:00:00Z"}`, 1000},
		{"values", 1000, dense, maxValues / 32_002},
		{"text", 1000, wide, maxText / len(wide)},
		{"too many", maxRecords + 1, `{}`, 0},
	} {
		r := budget{records: tt.records}
		fit := 0
		for s := subject(tt.text); fit < tt.records; fit++ {
			if err := r.take(s); err != nil {
				if !errors.Is(err, registry.ErrLimit) {
					t.Errorf("%s: %v", tt.name, err)
				}
				break
			}
		}
		if fit != tt.fit {
			t.Errorf("%s: room for %d records, want %d", tt.name, fit, tt.fit)
		}
	}
}
