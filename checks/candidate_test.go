package checks

import (
	"context"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/checks/internal/listed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// A record that is in no tree is judged by the built-in schemas, as a new one that nothing in the history can be, and
// only while the run's budget lasts.
func TestCandidate(t *testing.T) {
	const path = "implementations/nova.json"
	doc, err := strict.Parse(path, []byte(`{"slug": "nova", "expires_at": "2020-01-01T00:00:00Z"}`), strict.RegistryFile)
	must.OK(t, err)
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

	run.Base.listings.Add(listed.Pack(listed.New(path, s.Listing), uint8(sound)))
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

// A draft is compared with the names that the base lists, though no range brings it.
func TestNameOfCandidate(t *testing.T) {
	const path = "implementations/nova.json"
	doc := must.Get(strict.Parse(path, []byte(`{"slug": "meridiam"}`), strict.RegistryFile))(t)
	run := &Run{Context: t.Context(), Base: EmptyStanding(), Now: fixture.Clock}
	run.Base.listings.Add(listed.Pack(&Listed{Path: listed.Path("meridian"), Slug: "meridian"}, uint8(sound)))
	s := NewCandidate(run, &registry.Record{Path: path, Kind: registry.KindListing, Document: doc})
	out, err := runNameSimilarity(s)
	if got := spelled(out); err != nil || got != "warning look-alike /slug" {
		t.Errorf("%q, %v; expected a look-alike", got, err)
	}
}

// What could not be read of the registry while evidence was sought is an error afterwards.
func TestWanted(t *testing.T) {
	_, repo := built(t, "base: [{listing: eve}]")
	tree := must.Get(repo.Tree(t.Context(), "main"))(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	st := emptyStanding(tree)
	st.listings.Add(listed.Pack(&Listed{Path: listed.Path("bob"), Slug: "bob", ToolDID: "did:web:bob.example",
		Level:   "L4",
		Expires: fixture.Clock.Add(1), Provisional: true}, uint8(sound)))
	for name, ask := range map[string]func(evidence.Wanted){
		"nothing": func(evidence.Wanted) {},
		"Listed": func(w evidence.Wanted) {
			w.Listed("did:web:bob.example")
			w.Listed("did:web:none.example")
		},
		"ReferenceServer": func(w evidence.Wanted) { w.ReferenceServer("did:web:bob.example") },
	} {
		s := &Subject{Run: &Run{Context: ended, Repo: repo, Base: st, Range: &registry.Range{Base: tree},
			Now: fixture.Clock}}
		wanted, failed := s.Wanted(0)
		ask(wanted)
		if err := failed(); (err != nil) != (name != "nothing") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
