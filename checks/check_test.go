package checks

import (
	"errors"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// A check that seeks no evidence runs early, and one that says nothing without evidence is left out offline.
func TestWhatNeedsTheNetwork(t *testing.T) {
	for id, want := range map[string][2]bool{"layout": {true, false}, "schema": {true, false},
		"append-only": {true, false}, "name-similarity": {true, false}, "reissue": {}, "receipt-validity": {},
		"revocations": {}, "did-resolution": {false, true}, "manifest-reachability": {false, true},
		"manifest-did": {false, true}, "receipt-fetch": {false, true}, "receipt-claims": {false, true},
		"receipt-signature": {false, true}, "peer-witnesses": {false, true}, "external-audit": {false, true},
		"domain-age": {false, true}, "fallback-policy": {false, true}, "workflow-anchors": {false, true}} {
		if c := ByID(id); c.Early() != want[0] || c.Online() != want[1] {
			t.Errorf("%s: early %t, online %t; expected %v", id, c.Early(), c.Online(), want)
		}
	}
	if rules := Rules(); len(rules) != len(All) || rules[0].ID != All[0].ID {
		t.Errorf("%d rules, from %v", len(rules), rules)
	}
}

// What a check owns, needs and uses is sought, unless it has nothing to judge.
func TestWants(t *testing.T) {
	blocks := &Check{ID: "owner", Blocks: func(*Subject, []string) (pointer, code, message string) {
		return "", "", "it is broken"
	}}
	passes := &Check{Blocks: func(*Subject, []string) (pointer, code, message string) { return "", "", "" }}
	applies := func(why string) func(*Subject) string { return func(*Subject) string { return why } }
	var none evidence.Set
	some := none.With(evidence.Receipt).With(evidence.Manifest).With(evidence.DomainAge)
	for name, c := range map[string]struct {
		check Check
		want  evidence.Set
	}{
		"nothing": {Check{}, none},
		"all": {Check{Owns: evidence.Receipt, Needs: needs(evidence.Manifest),
			Uses: []evidence.Kind{evidence.DomainAge}, applies: applies(""), After: []*Check{passes}}, some},
		"what it owns":  {Check{Owns: evidence.Receipt}, none.With(evidence.Receipt)},
		"what it needs": {Check{Needs: needs(evidence.Receipt)}, none.With(evidence.Receipt)},
		"does not apply": {Check{Owns: evidence.Receipt, Needs: needs(evidence.Manifest),
			Uses: []evidence.Kind{evidence.DomainAge}, applies: applies("L1 needs none")}, none},
		"blocked": {Check{Owns: evidence.Receipt, Uses: []evidence.Kind{evidence.DomainAge},
			After: []*Check{passes, blocks}}, none},
	} {
		if got := c.check.Wants(&Subject{Record: &registry.Record{}}); got != c.want {
			t.Errorf("%s: %v; expected %v", name, got, c.want)
		}
	}
}

// A check runs if it is selected, applies, is reached in time and has what it needs. Else it says why not.
func TestJudge(t *testing.T) {
	const ran = "ran"
	blocks := &Check{ID: "owner", Blocks: func(*Subject, []string) (pointer, code, message string) {
		return "", "", "it is broken"
	}}
	broken := errors.New("no YAML")
	for _, c := range []struct {
		name string
		edit func(c *Check, s *Subject)
		want string
	}{
		{"all is there", func(*Check, *Subject) {}, ran},
		{"left out", func(_ *Check, s *Subject) { s.Run.Selected = func(string) bool { return false } }, LeftOut},
		{"offline", func(_ *Check, s *Subject) { s.Run.Offline = true }, Offline},
		{"offline, in part", func(c *Check, s *Subject) { s.Run.Offline, c.partial = true, true }, ran},
		{"removed", func(_ *Check, s *Subject) { s.Record = nil }, "the file is deleted"},
		{"removed, which it judges", func(c *Check, s *Subject) { s.Record, c.PerCommit = nil, true }, ran},
		{"blocked", func(c *Check, _ *Subject) { c.After = []*Check{blocks} }, "owner failed"},
		{"blocks nothing that was removed", func(c *Check, s *Subject) {
			s.Record, c.PerCommit, c.After = nil, true, []*Check{blocks}
		}, ran},
		{"applies", func(c *Check, _ *Subject) { c.applies = func(*Subject) string { return "" } }, ran},
		{"does not apply", func(c *Check, _ *Subject) { c.applies = func(*Subject) string { return "L5" } }, "L5"},
		{"reached", func(_ *Check, s *Subject) { s.Run.Reach = func(string, string) bool { return true } }, ran},
		{"not reached", func(_ *Check, s *Subject) {
			s.Run.Reach = func(check, subject string) bool { return check != "a" || subject != "b" }
		}, NotReached},
		{"a broken policy", func(_ *Check, s *Subject) { s.Run.Base.Policy.Broken = broken }, ran},
		{"a broken policy, and domains", func(c *Check, s *Subject) {
			s.Run.Base.Policy.Broken, c.Domains = broken, true
		}, codePolicyUnreadable},
		{"domains", func(c *Check, _ *Subject) { c.Domains = true }, ran},
		{"no Receipt", func(_ *Check, s *Subject) { s.Facts.Receipt.State = evidence.Absent }, "owner failed"},
		{"no Receipt for now", func(_ *Check, s *Subject) { s.Facts.Receipt.State = evidence.Unavailable },
			"needs the decoded Receipt, which could not be fetched: see owner"},
		{"needs nothing", func(c *Check, s *Subject) { s.Facts.Receipt.State, c.Needs = evidence.Absent, nil }, ran},
	} {
		s := &Subject{Path: "b", Record: &registry.Record{}, Facts: &evidence.Facts{}, Run: &Run{
			Base: emptyStanding(nil), Asks: OfHead, Selected: func(string) bool { return true },
			Catalogue: []*Check{{ID: "other", Owns: evidence.Manifest}, {ID: "owner", Owns: evidence.Receipt}}}}
		s.Facts.Receipt.State = evidence.Obtained
		check := &Check{ID: "a", Needs: needs(evidence.Receipt), Run: func(*Subject) (verdict.Outcome, error) {
			return verdict.Pass(ran), nil
		}}
		c.edit(check, s)
		out, err := check.Judge(s)
		got := out.Skipped + out.Doubtful + out.Verified
		if len(out.Findings) > 0 {
			got += out.Findings[0].Code
		}
		if err != nil || got != c.want {
			t.Errorf("%s: %q, %v; expected %q", c.name, got, err, c.want)
		}
	}
}

// A subject that is released or forgotten keeps nothing that is large. What it has is not read again.
func TestRelease(t *testing.T) {
	whole := func() *Subject {
		return &Subject{Path: "b", Record: &registry.Record{}, BaseRecord: &registry.Record{},
			Listing: &registry.Listing{}, Facts: &evidence.Facts{DIDFallback: "https://a.example/"},
			violations: make([]verdict.Finding, 1)}
	}
	s := whole()
	if err := s.Read(); err != nil {
		t.Error(err)
	}
	s.Release()
	if s.Record != nil || s.BaseRecord != nil || s.Facts.DIDFallback != "" || s.Listing == nil {
		t.Errorf("released: %+v", s)
	}
	s = whole()
	s.Forget()
	if s.Record != nil || s.BaseRecord != nil || s.Facts != unsought || s.Listing != nil || len(s.violations) != 1 ||
		s.Path != "b" || !s.forgotten {
		t.Errorf("forgotten: %+v", s)
	}
}
