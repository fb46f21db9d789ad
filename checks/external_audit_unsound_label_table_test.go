package checks_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

// An auditor whose host has an A-label that stands for no word is under the domain that its other labels name: DNS does
// not read them, and a declared auditor is never fetched.
func TestExternalAuditUnsoundLabel(t *testing.T) {
	const base = `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: cyd, level: L4, witness: [ada]}
`
	checktest.Run(t, []checktest.Case{
		{Name: "own",
			World: base + `pr: [{listing: nova, level: L5, witness: [ada, bob, cyd], auditor: "did:web:xn--0.nova.example"}]`,
			Want:  `implementations/nova.json:6:3: error: external-audit: audit-by-itself`,
			Says:  []string{`is under nova.example, the implementation.s own domain`}},
		{Name: "witness",
			World: base + `pr: [{listing: nova, level: L5, witness: [ada, bob, cyd], auditor: "did:web:XN--a.bob.example%3A8443:x"}]`,
			Want:  `implementations/nova.json:6:3: error: external-audit: audit-by-witness`},
		// ... and under nobody's here
		{Name: "other",
			World: base + `pr: [{listing: nova, level: L5, witness: [ada, bob, cyd], auditor: "did:web:xn--0.auditor.example"}]`,
			Want:  `implementations/nova.json:6:3: notice: external-audit: audit-declared`},
	})
}
