package checks

import (
	"slices"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// The faults of what stands are in path order, and those of files that are judged as subjects are left out.
func TestStandingFaults(t *testing.T) {
	_, repo := built(t, `
base:
  - {listing: ada}
  - {listing: bob, host: ada.example}
  - {listing: cyd, host: ada.example}
  - {listing: dan, set: {/slug: eve}}
  - {listing: fox, delete: [/tool_did]}
  - {listing: gus, delete: [/tool_did]}
`)
	tree := must.Get(repo.Tree(t.Context(), "main"))(t)
	st, err := NewStanding(t.Context(), tree, func(path string) bool { return path == "implementations/cyd.json" })
	must.OK(t, err)
	var got []string
	for _, f := range st.Faults {
		got = append(got, f.Path+" "+f.Code)
	}
	want := []string{"implementations/bob.json duplicate-did", "implementations/dan.json slug-mismatch",
		"implementations/fox.json schema-required", "implementations/gus.json schema-required"}
	if !slices.Equal(got, want) {
		t.Errorf("%q; expected %q", got, want)
	}
	if l, err := st.Listing(t.Context(), &Listed{Path: "implementations/none.json"}); err == nil {
		t.Errorf("a listing that is gone is %v", l)
	}
}
