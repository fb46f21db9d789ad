package judge

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// notObtained are all states but Obtained, with one that does not exist.
var notObtained = []evidence.State{evidence.Unsought, evidence.Absent, evidence.Invalid, evidence.Unavailable, 99}

// TestNothingPassesWithoutItsEvidence checks that no check passes a record where a kind that it owns or needs is in any
// other state than Obtained, though the documents themselves are good.
func TestNothingPassesWithoutItsEvidence(t *testing.T) {
	w := must.Get(fixture.Build(t.TempDir(), []byte(pureWorlds["honest"])))(t)
	defer w.Close()
	repo := must.Get(registry.Open(w.Repo.Dir))(t)
	defer repo.Close()
	run := freshRun(t, repo, w, recordedOf(t, repo, w))
	seen := map[string]bool{}
	for _, s := range run.Subjects {
		whole := s.Facts
		for _, c := range checks.All {
			if !c.Judges(s.Kind) || verdictOf(t, c, s) != verdict.Passed {
				continue
			}
			kinds := []evidence.Kind{c.Owns}
			if c.Needs != nil {
				kinds = append(kinds, c.Needs(s)...)
			}
			for _, k := range kinds {
				if k == 0 || !hangs(c, k, s) {
					continue
				}
				for _, state := range notObtained {
					s.Facts = with(whole, k, state)
					if v := verdictOf(t, c, s); v == verdict.Passed || v == verdict.Warned {
						t.Errorf("%s on %s: %s while the %s is %s", c.ID, s.Path, v, k, state)
					}
					seen[fmt.Sprint(c.ID, " ", k)] = true
				}
				s.Facts = whole
			}
		}
	}
	for _, c := range checks.All {
		if c.Owns != 0 && !seen[fmt.Sprint(c.ID, " ", c.Owns)] {
			t.Errorf("no record of this world passes %s by its %s", c.ID, c.Owns)
		}
	}
}

// TestNeedingAnyKindFailsClosed checks the same of a check that would pass whatever there is, for each kind and for one
// that nobody knows.
func TestNeedingAnyKindFailsClosed(t *testing.T) {
	for k := range evidence.Kind(32) {
		c := &checks.Check{ID: "new", Kinds: registry.DataKinds,
			Needs: func(*checks.Subject) []evidence.Kind { return []evidence.Kind{k} },
			Run:   func(*checks.Subject) (verdict.Outcome, error) { return verdict.Pass(""), nil }}
		for _, state := range notObtained {
			for _, selected := range []bool{true, false} {
				run := &checks.Run{Catalogue: checks.All, Selected: func(id string) bool {
					return selected ||
						id == "new"
				}}
				s := &checks.Subject{Run: run, Record: &registry.Record{Document: &strict.Document{}},
					Facts: with(&evidence.Facts{}, k, state)}
				if v := verdictOf(t, c, s); v == verdict.Passed || v == verdict.Warned {
					t.Errorf("%s while the %s is %s", v, k, state)
				}
			}
		}
	}
}

func verdictOf(t *testing.T, c *checks.Check, s *checks.Subject) verdict.Verdict {
	t.Helper()
	v, err := outcomeOf(t, c, s).Verdict()
	if err != nil {
		t.Fatalf("%s on %s: %v", c.ID, s.Path, err)
	}
	return v
}

// hangs reports whether a record's pass hangs on a kind: a provisional listing, or one that has stood for long, needs
// no domain age, a listing that is judged passes revocations by the tree alone, and the bootstrap rule asks for no
// witness.
func hangs(c *checks.Check, k evidence.Kind, s *checks.Subject) bool {
	switch k {
	case evidence.DomainAge:
		return s.Added() && !s.Listing.Provisional
	case evidence.RevocationProof:
		return s.Kind == registry.KindRevocation
	}
	return true
}

// with is the evidence with one kind in another state, and all its documents as they were.
func with(f *evidence.Facts, k evidence.Kind, state evidence.State) *evidence.Facts {
	out := *f
	witnesses := func() {
		out.Witnesses = map[string]*evidence.Witness{}
		for id, w := range f.Witnesses {
			other := *w
			other.DIDDocument.State, other.Receipt.State, other.Manifest.State = state, state, state
			out.Witnesses[id] = &other
		}
		out.Maintainers = map[string]evidence.Result[*did.Document]{}
		for id, m := range f.Maintainers {
			m.State = state
			out.Maintainers[id] = m
		}
	}
	switch k {
	case evidence.DIDDocument:
		out.DIDDocument.State = state
	case evidence.Manifest:
		out.Manifest.State = state
	case evidence.ReceiptText:
		out.ReceiptText.State = state
	case evidence.Receipt:
		out.Receipt.State = state
	case evidence.DomainAge:
		out.DomainAge.State = state
	case evidence.Witnesses:
		witnesses()
	case evidence.RevocationProof:
		out.DIDDocument.State = state
		witnesses()
	case evidence.AnchorProof:
		out.DIDDocument.State, out.Failover.State, out.CrossMatch.State = state, state, state
	}
	return &out
}

// TestSilentCheck requires an error that names a check, of a record or of the registry, that says nothing.
func TestSilentCheck(t *testing.T) {
	all, ofRecords, whole := checks.All, checks.OfRecords, ofRegistry
	defer func() { checks.All, checks.OfRecords, ofRegistry = all, ofRecords, whole }()
	silent := &checks.Check{ID: "silent", Kinds: registry.DataKinds, PerCommit: true,
		Run: func(*checks.Subject) (verdict.Outcome, error) { return verdict.Outcome{}, nil }}
	checks.All = append(slices.Clip(all), silent)
	checks.OfRecords = append(slices.Clip(ofRecords), verdict.Entry[*checks.Subject]{Rule: silent.Rule(),
		Judge: silent.Judge})
	ofRegistry = append(slices.Clip(whole), verdict.Entry[*checks.Run]{Rule: silent.Rule(),
		Judge: func(*checks.Run) (verdict.Outcome, error) { return verdict.Outcome{}, nil }})
	run := &checks.Run{Selected: func(id string) bool { return id == silent.ID }}
	_, ofRecord := Early(&checks.Subject{Path: "x", Kind: registry.KindListing, Run: run})
	for subject, err := range map[string]error{"x": ofRecord,
		checks.RegistrySubject: NewJoin(&verdict.Report{}).Registry(run)} {
		if !errors.Is(err, verdict.ErrUnsaid) || err.Error() != "check silent said nothing of "+subject {
			t.Errorf("%v; expected one that names the check and %s", err, subject)
		}
	}
}
