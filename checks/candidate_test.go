package checks

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// A record that is in no tree is judged by the built-in schemas, as a new one that nothing in the history can be, and
// only while the run's budget lasts.
func TestCandidate(t *testing.T) {
	const path = "implementations/nova.json"
	doc, err := strict.Parse(path, []byte(`{"slug": "nova", "expires_at": "2020-01-01T00:00:00Z"}`), strict.RegistryFile)
	if err != nil {
		t.Fatal(err)
	}
	lasts := true
	run := &Run{Context: t.Context(), Base: EmptyStanding(), Catalogue: All, Offline: true, Now: fixture.Clock,
		Selected: func(string) bool { return true }, Reach: func(string, string) bool { return lasts }}
	s := NewCandidate(run, &registry.Record{Path: path, Kind: registry.KindListing, Document: doc})
	out, err := schema.Judge(s)
	if err != nil || !out.Has(verdict.Error) || out.Findings[0].Code != "schema-required" {
		t.Errorf("%+v, %v; expected schema-required", out, err)
	}
	lasts = false
	if out, err := schema.Judge(s); err != nil || out.Doubtful != NotReached {
		t.Errorf("without a budget: %+v, %v; expected %q", out, err, NotReached)
	}

	run.Base.listings.add(pack(condense(path, s.Listing)))
	if run.Base.BySlug("nova") == nil {
		t.Fatal("the listing is not known")
	}
	run.Base.Refuse([]string{path})
	if l := run.Base.BySlug("nova"); l != nil {
		t.Errorf("a refused listing is %+v; expected none", l)
	}

	s.Facts = &evidence.Facts{}
	if _, err := s.Witnessing(); err == nil {
		t.Error("witnesses of a Receipt that was not obtained have a worth")
	}
}
