package checks_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

// The policy of the base tree adds public suffixes: below one, each name is somebody else's.
func TestPolicySuffix(t *testing.T) {
	const (
		tenants = `policy: "version: 1\npublic_suffixes: [tenants.example]\n"
`
		none = `policy: "version: 1\npublic_suffixes: []\n"
`
		other = `policy: |
  version: 1
  reference_server: {tool_did: "did:web:ref.example"}
  maintainers: ["did:web:mia.example"]
`
		broken = `policy: "public_suffixes: [\"*.tenants.example\"]\n"
`
		// what ann signed, shown by bob
		shown = `base: [{listing: ada}]
pr:
  - {listing: ann, host: ann.tenants.example, provisional: true, receipt: {set: {/target/uri: "https://elsewhere.example/"}}, set: {/manifest_uri: "https://bob.tenants.example/.well-known/oap-tool.json"}}
web:
  - {edit: "https://ann.tenants.example/.well-known/oap-tool.json", to: "https://bob.tenants.example/.well-known/oap-tool.json"}
`
		own = `base: [{listing: ada}]
pr: [{listing: ann, host: ann.tenants.example, registered: "2015-03-01"}]
`
		witness = `base:
  - {listing: bob, level: L4, host: bob.tenants.example, witness: [cyd]}
  - {listing: cyd, level: L4, witness: [bob]}
pr: [{listing: ann, level: L4, host: ann.tenants.example, provisional: true, witness: [bob]}]
`
		audited = `base:
  - {listing: bob, level: L4, witness: [cyd]}
  - {listing: cyd, level: L4, witness: [bob]}
  - {listing: dan, level: L4, witness: [bob]}
pr: [{listing: ann, level: L5, host: ann.tenants.example, provisional: true, witness: [bob, cyd, dan], auditor: "did:web:aud.tenants.example"}]
`
	)
	checktest.Run(t, []checktest.Case{
		{Name: "shown by another tenant", World: tenants + shown,
			Want: `
implementations/ann.json:5:3: error: manifest-did: manifest-host
implementations/ann.json:7:3: warning: receipt-claims: target-differs
implementations/ann.json:12:3: notice: domain-age: provisional`},
		{Name: "shown, no suffix", World: shown, Want: `
implementations/ann.json:7:3: warning: receipt-claims: target-differs
implementations/ann.json:4:3: notice: domain-age: age-of-parent
implementations/ann.json:12:3: warning: domain-age: provisional-not-needed`},
		{Name: "shown, empty list", World: none + shown,
			Want: `
implementations/ann.json:7:3: warning: receipt-claims: target-differs
implementations/ann.json:4:3: notice: domain-age: age-of-parent
implementations/ann.json:12:3: warning: domain-age: provisional-not-needed`},
		{Name: "shown, a policy of something else", World: other + shown,
			Want: `
implementations/ann.json:7:3: warning: receipt-claims: target-differs
implementations/ann.json:4:3: notice: domain-age: age-of-parent
implementations/ann.json:12:3: warning: domain-age: provisional-not-needed`},
		{Name: "shown, policy not readable", World: broken + shown,
			Want: `
implementations/ann.json:1:1: inconclusive: manifest-did: policy-unreadable
implementations/ann.json:7:3: warning: receipt-claims: target-differs
implementations/ann.json:1:1: inconclusive: domain-age: policy-unreadable
.github/gate-policy.yml: warning: peer-witnesses: policy-broken`,
			Says: []string{`"\*.tenants.example" is not a DNS name in lower-case A-labels without a wildcard`,
				`fix: correct .github/gate-policy.yml in a pull request of its own, which needs no such check`}},
		// the age of the platform proves nothing
		{Name: "age", World: tenants + own,
			Want: `implementations/ann.json:4:3: error: domain-age: domain-age-unknown`,
			Says: []string{`ann.tenants.example is under the platform suffix tenants.example`}},
		{Name: "age, no suffix", World: own, Want: `implementations/ann.json:4:3: notice: domain-age: age-of-parent`},
		{Name: "age, proposed suffix", World: own + `main: [{write: .github/gate-policy.yml, text: "public_suffixes: [tenants.example]\n"}]
`,
			Want: `implementations/ann.json:4:3: error: domain-age: domain-age-unknown`},
		// the suffix does not take over a longer one of the list
		{Name: "vercel", World: `policy: "public_suffixes: [app]\n"
pr: [{listing: nova, host: nova.vercel.app}]`,
			Want: `implementations/nova.json:4:3: error: domain-age: domain-age-unknown`,
			Says: []string{`under the platform suffix vercel.app`}},
		// a witness that is another tenant is on another domain
		{Name: "witness", World: tenants + witness, Want: `implementations/ann.json:12:3: notice: domain-age: provisional`},
		{Name: "witness, no suffix", World: witness,
			Want: `
implementations/ann.json:6:3: warning: peer-witnesses: witness-same-domain
implementations/ann.json:4:3: notice: domain-age: age-of-parent
implementations/ann.json:12:3: warning: domain-age: provisional-not-needed`},
		// so is an auditor
		{Name: "auditor", World: tenants + audited,
			Want: `
implementations/ann.json:6:3: notice: external-audit: audit-declared
implementations/ann.json:12:3: notice: domain-age: provisional`},
		{Name: "auditor, no suffix", World: audited,
			Want: `
implementations/ann.json:6:3: error: external-audit: audit-by-itself
implementations/ann.json:4:3: notice: domain-age: age-of-parent
implementations/ann.json:12:3: warning: domain-age: provisional-not-needed`},
		{Name: "auditor, policy not readable", Only: "external-audit peer-witnesses", World: broken + audited,
			Want: `
implementations/ann.json:1:1: inconclusive: external-audit: policy-unreadable
.github/gate-policy.yml: warning: peer-witnesses: policy-broken`},
		// a change of the policy: judged by what it leaves; one of another file does not answer for it
		{Name: "mended", World: broken + `base: [{listing: ada}]
pr: [{write: .github/gate-policy.yml, text: "public_suffixes: [tenants.example]\n"}]
`,
			Want: `.github/gate-policy.yml: warning: append-only: governance`},
		{Name: "broken", World: tenants + `base: [{listing: ada}]
pr: [{write: .github/gate-policy.yml, text: "public_suffixes: [Tenants.example]\n"}]
`,
			Want: `
.github/gate-policy.yml: warning: append-only: governance
.github/gate-policy.yml: error: peer-witnesses: policy-unreadable`},
		{Name: "left broken", World: broken + `base: [{listing: ada}]
pr: [{write: docs/page.md, text: "# Page\n"}]
`,
			Want: `
docs/page.md: warning: append-only: governance
.github/gate-policy.yml: warning: peer-witnesses: policy-broken`},
		// a revocation needs no domain
		{Name: "revocation", World: broken + `base: [{listing: ada}]
pr: [{revoke: ada}]
`,
			Want: `.github/gate-policy.yml: warning: peer-witnesses: policy-broken`},
	})
}
