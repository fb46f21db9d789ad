package checks_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

// A key that stands in keyAgreement alone signs nothing, and shows as well as any other that two are one.
func TestSharedEncryptionKey(t *testing.T) {
	const (
		base = `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: cyd, level: L4, witness: [ada]}
`
		dan = `  - {listing: dan, level: L4, witness: [ada], did_document: {set: {/keyAgreement: [{id: "#enc", type: JsonWebKey, controller: "did:web:dan.example", publicKeyJwk: {kty: OKP, crv: Ed25519, x: "$jwk(old)"}}]}}}
`
		l5 = `pr: [{listing: nova, level: L5, witness: [ada, dan, eve]}]
`
	)
	checktest.Run(t, []checktest.Case{
		// two witnesses of L5 have one
		{Name: "dan, eve same, l5",
			World: base + dan + `  - {listing: eve, level: L4, witness: [ada], did_document: {set: {/keyAgreement: [{id: "#enc", type: JsonWebKey, controller: "did:web:eve.example", publicKeyJwk: {kty: OKP, crv: Ed25519, x: "$jwk(old)"}}]}}}
` + l5,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`did:web:dan.example and did:web:eve.example are not independent: they share a key`}},
		// ... as Multikey and not in an array
		{Name: "dan, eve single, l5",
			World: base + dan + `  - {listing: eve, level: L4, witness: [ada], did_document: {set: {/keyAgreement: {id: "#enc", type: Multikey, controller: "did:web:eve.example", publicKeyMultibase: z6MkkM2xGepNui4SkTkRxjjgJkw4G3H6QsaX3PZwc5Z2MC3Z}}}}
` + l5,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		{Name: "dan, eve other, l5",
			World: base + dan + `  - {listing: eve, level: L4, witness: [ada], did_document: {set: {/keyAgreement: [{id: "#enc", type: JsonWebKey, controller: "did:web:eve.example", publicKeyJwk: {kty: OKP, crv: Ed25519, x: "$jwk(other)"}}]}}}
` + l5,
			Want: `implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		// ... as a key of X25519, by the text of its type and as JWK
		{Name: "dan, eve X25519, l5",
			World: base + `  - {listing: dan, level: L4, witness: [ada], did_document: {set: {/keyAgreement: [{id: "#enc", type: X25519KeyAgreementKey2019, controller: "did:web:dan.example", publicKeyBase58: 4wBqpZM9xaSheZzJSMawUKKwhdpChKbZ5eu5ky4Vigw}]}}}
  - {listing: eve, level: L4, witness: [ada], did_document: {set: {/keyAgreement: [{id: "#enc", type: JsonWebKey, controller: "did:web:eve.example", publicKeyJwk: {kty: OKP, crv: X25519, x: AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA}}]}}}
` + l5,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		// a reference to a method names its key no second time
		{Name: "dan, eve reference, l5",
			World: base + dan + `  - {listing: eve, level: L4, witness: [ada], did_document: {set: {/keyAgreement: ["#key-1", "did:web:dan.example#enc"]}}}
` + l5,
			Want: `implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		// the auditor is one of the candidate's
		{Name: "auditor",
			World: base + `pr:
  - listing: nova
    level: L5
    witness: [ada, bob, cyd]
    auditor: "did:key:z6MkkM2xGepNui4SkTkRxjjgJkw4G3H6QsaX3PZwc5Z2MC3Z"
    did_document: {set: {/keyAgreement: [{id: "#enc", type: JsonWebKey, controller: "did:web:nova.example", publicKeyJwk: {kty: OKP, crv: Ed25519, x: "$jwk(old)"}}]}}
`,
			Want: `implementations/nova.json:6:3: error: external-audit: audit-own-key`},
		// it signs nothing
		{Name: "signs",
			World: base + `pr:
  - listing: nova
    signing_key: old
    did_document: {set: {/keyAgreement: [{id: "#enc", type: JsonWebKey, controller: "did:web:nova.example", publicKeyJwk: {kty: OKP, crv: Ed25519, x: "$jwk(old)"}}]}}
`,
			Want: `implementations/nova.json:7:3: error: receipt-signature: signature-not-verified`},
	})
}
