package checks_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

// Whoever proposes a re-issue does not choose the level's suffix among those that the owner signed (RFC 0026 section
// 4).
func TestReissueLevel(t *testing.T) {
	const (
		witnesses = `base:
  - {listing: bob, level: L4, witness: [cyd]}
  - {listing: cyd, level: L4, witness: [bob]}
  - {listing: dan, level: L4, witness: [bob]}
`
		l4 = `  - {listing: ada, level: L4, witness: [bob]}
`
		l5 = `  - {listing: ada, level: L5, witness: [bob, cyd, dan]}
`
		finance = `  - {listing: ada, level: L5-FINANCE, witness: [bob, cyd, dan]}
`
		renew = `pr: [{reissue: ada}]
`
		toFinance = `pr: [{reissue: ada, level: L5, witness: [bob, cyd, dan], set: {/conformance_level: L5-FINANCE}}]
`
		nc = `base: [{listing: ada, level: L3-NC}]
`
		nc1 = `base: [{listing: ada, level: L1-NC}]
`
		plain = `base: [{listing: ada, level: L3}]
`
	)
	checktest.Run(t, []checktest.Case{
		// --- L5 and its tiers: the Receipt claims L5, which stands for each ---
		// the merged listing's stays, whichever it is
		{Name: "witnesses, l5, renew", World: witnesses + l5 + renew,
			Want: `implementations/ada.json:6:3: notice: external-audit: audit-declared`},
		{Name: "witnesses, finance, renew", World: witnesses + finance + renew,
			Want: `
implementations/ada.json:6:3: warning: receipt-claims: tier-not-claimed
implementations/ada.json:6:3: notice: external-audit: audit-declared`},
		// a stranger gives it one, changes it, takes it away
		{Name: "witnesses, l5, to finance", World: witnesses + l5 + toFinance,
			Want: `
implementations/ada.json:6:3: warning: reissue: unsigned-change
implementations/ada.json:6:3: error: reissue: suffix-not-kept
implementations/ada.json:6:3: warning: receipt-claims: tier-not-claimed
implementations/ada.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{
				`implementations/ada.json:6:3: error: reissue: conformance_level is "L5-FINANCE", the merged listing.s is "L5" and the Receipt claims L5;`,
				`fix: set conformance_level to "L5"`,
			}},
		{Name: "witnesses, finance, to org", World: witnesses + finance,
			PR: "{reissue: ada, set: {/conformance_level: L5-ORG}}", Want: `
implementations/ada.json:6:3: warning: reissue: unsigned-change
implementations/ada.json:6:3: error: reissue: suffix-not-kept
implementations/ada.json:6:3: warning: receipt-claims: tier-not-claimed
implementations/ada.json:6:3: notice: external-audit: audit-declared`},
		{Name: "witnesses, finance, to l5", World: witnesses + finance,
			PR: "{reissue: ada, set: {/conformance_level: L5}}", Want: `
implementations/ada.json:6:3: warning: reissue: unsigned-change
implementations/ada.json:6:3: error: reissue: suffix-not-kept
implementations/ada.json:6:3: notice: external-audit: audit-declared`},
		// from another level the listing comes without one
		{Name: "witnesses, l4, up", World: witnesses + l4, PR: "{reissue: ada, level: L5, witness: [bob, cyd, dan]}",
			Want: `
implementations/ada.json:6:3: warning: reissue: unsigned-change
implementations/ada.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`conformance_level changes from "L4" to "L5"; the signature shows that the Receipt is the owner.s, not who proposes this`}},
		{Name: "witnesses, l4, to finance", World: witnesses + l4 + toFinance,
			Want: `
implementations/ada.json:6:3: warning: reissue: unsigned-change
implementations/ada.json:6:3: error: reissue: suffix-not-kept
implementations/ada.json:6:3: warning: receipt-claims: tier-not-claimed
implementations/ada.json:6:3: notice: external-audit: audit-declared`},
		// --- a Receipt that claims a level with and without -NC ---
		{Name: "nc, nc kept", World: nc, PR: "{reissue: ada, receipt: {set: {/claimed_levels: [L3, L3-NC]}}}",
			Want: `pass`},
		{Name: "nc, nc dropped", World: nc,
			PR: "{reissue: ada, set: {/conformance_level: L3}, receipt: {set: {/claimed_levels: [L3, L3-NC]}}}", Want: `
implementations/ada.json:6:3: warning: reissue: unsigned-change
implementations/ada.json:6:3: error: reissue: suffix-not-kept`,
			Says: []string{`conformance_level is "L3", the merged listing.s is "L3-NC" and the Receipt claims L3, L3-NC;`}},
		{Name: "plain, plain kept", World: plain, PR: "{reissue: ada, receipt: {set: {/claimed_levels: [L3-NC, L3]}}}",
			Want: `pass`},
		{Name: "plain, nc added", World: plain,
			PR: "{reissue: ada, level: L3-NC, receipt: {set: {/claimed_levels: [L3, L3-NC]}}}", Want: `
implementations/ada.json:6:3: warning: reissue: unsigned-change
implementations/ada.json:6:3: error: reissue: suffix-not-kept
implementations/ada.json:12:3: warning: reissue: unsigned-change`},
		// it goes with the level: up, and back to one that has none
		{Name: "nc1, nc up", World: nc1,
			PR:   "{reissue: ada, level: L3-NC, receipt: {set: {/claimed_levels: [L3, L3-NC]}}}",
			Want: `implementations/ada.json:6:3: warning: reissue: unsigned-change`},
		{Name: "nc1, nc left", World: nc1,
			PR: "{reissue: ada, level: L3, receipt: {set: {/claimed_levels: [L3, L3-NC]}}}", Want: `
implementations/ada.json:1:1: warning: reissue: unsigned-change
implementations/ada.json:6:3: warning: reissue: unsigned-change
implementations/ada.json:6:3: error: reissue: suffix-not-kept`},
		{Name: "nc, nc to l2", World: nc, PR: "{reissue: ada, level: L2}", Want: `
implementations/ada.json:1:1: warning: reissue: unsigned-change
implementations/ada.json:6:3: warning: reissue: unsigned-change`},
		// only one of the two is claimed: that one
		{Name: "nc, plain alone", World: nc, PR: "{reissue: ada, level: L3}", Want: `
implementations/ada.json:1:1: warning: reissue: unsigned-change
implementations/ada.json:6:3: warning: reissue: unsigned-change`},
		{Name: "plain, nc alone", World: plain, PR: "{reissue: ada, level: L3-NC}", Want: `
implementations/ada.json:6:3: warning: reissue: unsigned-change
implementations/ada.json:12:3: warning: reissue: unsigned-change`},
		// a level that is not claimed is for receipt-claims to report
		{Name: "nc, not claimed", World: nc, PR: "{reissue: ada, level: L3, set: {/conformance_level: L3-NC}}", Want: `
implementations/ada.json:1:1: warning: reissue: unsigned-change
implementations/ada.json:6:3: error: receipt-claims: level-not-claimed`},
		{Name: "nc, not claimed, without receipt-claims", Skip: "receipt-claims", World: nc,
			PR: "{reissue: ada, level: L3, set: {/conformance_level: L3-NC}}", Want: `
implementations/ada.json:1:1: warning: reissue: unsigned-change
implementations/ada.json:6:3: error: reissue: suffix-not-kept`},
		// the fix of a level that is too low is the one that passes
		{Name: "witnesses, finance, to l4",
			World: witnesses + finance + `pr: [{reissue: ada, set: {/conformance_level: L4}, receipt: {set: {/claimed_levels: [L4, L5]}}}]`,
			Want: `
implementations/ada.json:6:3: warning: reissue: unsigned-change
implementations/ada.json:6:3: error: reissue: level-not-highest`,
			Says: []string{`fix: set conformance_level to "L5-FINANCE"`}},
	})
}
