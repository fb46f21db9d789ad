package checks

import (
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

var fallbackPolicy = &Check{
	ID:    "fallback-policy",
	Title: "a Manifest with convention discovery v2 says how it falls back",
	Cite:  "RFC 0027 section 3.6",
	Row:   "Manifest matches DID",
	Why:   "a partner that meets an unknown convention must know what happens then",
	Fix: "add to the Manifest's ad_hoc_teamwork: aht_fallback_policy with policy_class and assumptions, and " +
		"unilateral_timeout_ms",
	Kinds: []registry.Kind{registry.KindListing},
	Needs: needs(evidence.Manifest),
	reads: []string{"/manifest_uri"},
	After: wellFormed,
	Run:   runFallbackPolicy,
	Codes: []Code{
		{"policy-class", "aht_fallback_policy.policy_class is not one of the known classes",
			"set POAM, PLASTIC, AATEAM, ROTATE or Custom"},
		{"policy-assumptions", "aht_fallback_policy.assumptions is not an array with at least one element",
			"list the assumptions"},
		{"policy-timeout", "ad_hoc_teamwork.unilateral_timeout_ms is missing", "set it"},
	},
}

var policyClasses = map[string]bool{"POAM": true, "PLASTIC": true, "AATEAM": true, "ROTATE": true, "Custom": true}

func runFallbackPolicy(s *Subject) (verdict.Outcome, error) {
	var out verdict.Outcome
	const at = "/manifest_uri"
	m := s.Facts.Manifest.Value
	if !m.ConventionDiscoveryV2 {
		return verdict.Skip("the Manifest does not use convention discovery v2"), nil
	}
	p := m.FallbackPolicy
	if !policyClasses[p.Class] {
		out.Errorf(s, at, "policy-class", "aht_fallback_policy.policy_class is %q; expected one of POAM, "+
			"PLASTIC, AATEAM, ROTATE and Custom", plain.Cut(p.Class, 60)).
			WithFix("set it in the Manifest")
	}
	if p.Assumptions == 0 {
		out.Errorf(s, at, "policy-assumptions",
			"aht_fallback_policy.assumptions is not an array with at least one element").
			WithFix("list the assumptions in the Manifest")
	}
	if !p.HasTimeout {
		out.Errorf(s, at, "policy-timeout", "ad_hoc_teamwork.unilateral_timeout_ms is missing").
			WithFix("set it in the Manifest")
	}
	return out.OrPass(), nil
}
