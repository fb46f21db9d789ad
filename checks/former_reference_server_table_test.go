package checks_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

// A reference server that the bootstrap rule let in counts for L4 only until its Receipt carries a witness that
// verifies, also when the policy that named it is gone or names another one (RFC 0026 section 10).
func TestFormerReferenceServer(t *testing.T) {
	const (
		begin = `policy: {reference_server: nova, maintainers: [mia]}
base:
  - {publish: mia}
  - {publish: stranger}
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: low}
  - {commit: Begin}
`
		junk = `  - {listing: nova, level: L4, co_signers: [mia], witness: [stranger]}
  - {commit: List}
`
		gone = `  - {remove: .github/gate-policy.yml}
pr: [{listing: young, level: L5, witness: [nova, ada, bob]}]
`
	)
	checktest.Run(t, []checktest.Case{
		// an entry of nobody, of somebody who is not at L4, of a listed witness by another key
		{Name: "begin, junk, gone", World: begin + junk + gone,
			Want: `
implementations/young.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/young.json:7:3: warning: peer-witnesses: witness-not-independent
implementations/young.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`peer witness "did:web:nova.example" does not count towards L5: its own Receipt carries no witness that verifies`}},
		{Name: "begin, junk, other",
			World: begin + junk + `  - {edit: .github/gate-policy.yml, replace: {nova.example: low.example}}
pr: [{listing: young, level: L5, witness: [nova, ada, bob]}]
`,
			Want: `
implementations/young.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/young.json:7:3: warning: peer-witnesses: witness-not-independent
implementations/young.json:6:3: notice: external-audit: audit-declared`},
		{Name: "begin, junk listed, gone",
			World: begin + `  - {listing: nova, level: L4, co_signers: [mia], witness: [{slug: bob, key: mallory}, low]}
  - {commit: List}
` + gone,
			Want: `
implementations/young.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/young.json:7:3: warning: peer-witnesses: witness-not-independent
implementations/young.json:6:3: notice: external-audit: audit-declared`},
		{Name: "begin, junk, gone forced",
			World: begin + junk + `  - {remove: .github/gate-policy.yml}
pr: [{revoke: low, by: ada, witness: [nova, ada, bob]}]
`,
			Want: `
revocations/low-e5144065e61dd7d08d4a44ac22cfc3a5f2ba2dccad942140cdb2b19a51ef37c1.json:7:3: error: revocations: not-authorised
revocations/low-e5144065e61dd7d08d4a44ac22cfc3a5f2ba2dccad942140cdb2b19a51ef37c1.json:13:5: warning: revocations: witness-not-counted`},
		// it counts for L4
		{Name: "begin, junk, gone l4",
			World: begin + junk + `  - {remove: .github/gate-policy.yml}
pr: [{listing: young, level: L4, witness: [nova]}]
`,
			Want: `pass`},
		// with a witness it counts for L5, and so does who never was a reference server
		{Name: "begin, witnessed, gone",
			World: begin + `  - {listing: nova, level: L4, co_signers: [mia], witness: [stranger, ada]}
  - {commit: List}
` + gone,
			Want: `implementations/young.json:6:3: notice: external-audit: audit-declared`},
		{Name: "begin other, never, gone",
			World: `policy: {reference_server: low, maintainers: [mia]}
base:
  - {publish: mia}
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: low}
  - {commit: Begin}
  - {listing: nova, level: L4, witness: [{slug: bob, key: mallory}]}
  - {commit: List}
` + gone,
			Want: `implementations/young.json:6:3: notice: external-audit: audit-declared`},
	})
}
