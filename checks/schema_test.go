package checks

import (
	"fmt"
	"testing"

	jsonschema "github.com/openagentprotocol-OAP/oap-gate/internal/strict/schema"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// TestFixOfManyUnknownMembers checks that what is meant for a missing member is sought among thousands without listing
// the schema's members for each: a record of 64 KiB took a quarter of a second.
func TestFixOfManyUnknownMembers(t *testing.T) {
	judge := jsonschema.Builtin("listing")
	root := map[string]any{}
	for n := range 5000 {
		root[fmt.Sprintf("%x", n)] = nil
	}
	fix, s := "", &Subject{Path: "implementations/nova.json", Kind: registry.KindListing}
	allocations := testing.AllocsPerRun(1, func() { fix = requiredFix(s, root, judge, `has no "slug", which is required`) })
	if fix != `add "slug": "nova"` || allocations > 10_000 {
		t.Errorf("%q, %.0f allocations", fix, allocations)
	}
}
