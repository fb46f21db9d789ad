package checks_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

// Where a DID lets somebody act, it does so in each of its spellings; a path keeps its letter case, and a text that is
// no DID lets nobody.
func TestOneSpellingOwner(t *testing.T) {
	const base = `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
`
	checktest.Run(t, []checktest.Case{
		// an owner's: in the Receipt, in the Manifest, in the signature, in a revocation
		{Name: "receipt",
			World: `pr: [{listing: nova, receipt: {set: {/implementation/did: "did:web:NOVA.example."}}}]`,
			Want:  `pass`},
		{Name: "signature", World: `pr: [{listing: nova, by: "did:web:Nova.example#key-1"}]`,
			Want: `implementations/nova.json:7:3: warning: receipt-signature: key-id-mismatch`},
		{Name: "revocation",
			World: base + `pr: [{revoke: ada, revocation: {set: {/revoked_by_did: "did:web:Ada.example:.well-known"}}}]`,
			Want:  `pass`},
		// ... but not of another path, or with a query
		{Name: "path",
			World: `pr: [{listing: nova, did: "did:web:nova.example:tools:x", receipt: {set: {/implementation/did: "did:web:nova.example:tools:X"}}}]`,
			Want: `
implementations/nova.json:5:3: warning: manifest-did: target-folder
implementations/nova.json:4:3: error: receipt-claims: receipt-did-differs
implementations/nova.json:4:3: warning: domain-age: age-of-host`},
		{Name: "path manifest",
			World: `pr: [{listing: nova, did: "did:web:nova.example:tools:x", manifest: {set: {/tool/did: "did:web:nova.example:tools:X"}}}]`,
			Want: `
implementations/nova.json:4:3: error: manifest-did: manifest-did-differs
implementations/nova.json:5:3: warning: manifest-did: target-folder
implementations/nova.json:4:3: warning: domain-age: age-of-host`},
		{Name: "query",
			World: `pr: [{listing: nova, receipt: {set: {/implementation/did: "did:web:nova.example?"}}}]`,
			Want:  `implementations/nova.json:4:3: error: receipt-claims: receipt-did-differs`},
		{Name: "signature query", World: `pr: [{listing: nova, by: "did:web:nova.example?x#key-1"}]`,
			Want: `implementations/nova.json:7:3: error: receipt-signature: not-signed`},
		{Name: "revocation slash",
			World: base + `pr: [{revoke: ada, revocation: {set: {/revoked_by_did: "did:web:ada.example:x"}}}]`,
			Want:  `revocations/ada-94e5adb886f685db75aa29398706d2015e257628b2bb02a14368fcbd746948dd.json:7:3: error: revocations: not-authorised`},
		// an entry in another spelling that does not verify is the owner's all the same
		{Name: "signature beside",
			World: `pr: [{listing: nova, signed: {set: {/signatures/-: {by: "did:web:%6Eova.example#key-1", alg: EdDSA, value: "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}}}}]`,
			Want:  `implementations/nova.json:7:3: error: receipt-signature: signature-not-verified`},
		// a witness's, which is one witness in however many spellings
		{Name: "witness",
			World: base + `pr: [{listing: nova, level: L4, witness: [{slug: ada, did: "did:web:%61da.example"}]}]`,
			Want:  `pass`},
		{Name: "witness thrice",
			World: base + `pr: [{listing: nova, level: L5, witness: [ada, {slug: ada, did: "did:web:ADA.example"}, {slug: ada, did: "did:web:ada.example:.well-known"}]}]`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`they are one DID`}},
		{Name: "witness query",
			World: base + `pr: [{listing: nova, level: L4, witness: [{slug: ada, did: "did:web:ada.example?x"}]}]`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-not-web`},
		// a maintainer's, in the signature
		{Name: "maintainer",
			World: `policy: {reference_server: nova, maintainers: [mia]}
base: [{publish: mia}]
pr:
  - {listing: nova, level: L4, co_signers: [mia], tamper: {replace: {"did:web:mia.example#": "did:web:%6Dia.example#"}}}
`,
			Want: `pass`},
		{Name: "maintainer query",
			World: `policy: {reference_server: nova, maintainers: [mia]}
base: [{publish: mia}]
pr:
  - {listing: nova, level: L4, co_signers: [mia], tamper: {replace: {"did:web:mia.example#": "did:web:mia.example?#"}}}
`,
			Want: `implementations/nova.json:6:3: error: peer-witnesses: cosignature-missing`},
		// ... who is no second one in another letter case
		{Name: "maintainer twice",
			World: `policy: |
  version: 1
  reference_server: {tool_did: "did:web:nova.example"}
  maintainers: ["did:web:mia.example:x", "did:web:mia.example:X"]
base: [{publish: mia}]
pr: [{listing: nova, level: L4, co_signers: [mia]}]
`,
			Want: `
implementations/nova.json:1:1: inconclusive: manifest-did: policy-unreadable
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:1:1: inconclusive: domain-age: policy-unreadable
.github/gate-policy.yml: warning: peer-witnesses: policy-broken`},
	})
}
