package checks_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

// L5 needs a declared external audit (RFC 0026 section 10).
func TestExternalAudit(t *testing.T) {
	const base = `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: cyd, level: L4, witness: [ada]}
`
	checktest.Run(t, []checktest.Case{
		// every framework that the RFC names
		{Name: "iso 27001",
			World: base + `pr:
  - {listing: nova, level: L5, witness: [ada, bob, cyd], receipt: {set: {/external_audit/framework: ISO-27001}}}
`,
			Want: `implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		{Name: "iso 42001",
			World: base + `pr:
  - {listing: nova, level: L5, witness: [ada, bob, cyd], receipt: {set: {/external_audit/framework: ISO-42001}}}
`,
			Want: `implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		{Name: "equivalent",
			World: base + `pr:
  - {listing: nova, level: L5, witness: [ada, bob, cyd], receipt: {set: {/external_audit/framework: equivalent}}}
`,
			Want: `implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		// L4 needs none
		{Name: "l4", World: base, PR: "{listing: nova, level: L4, witness: [ada]}", Want: `pass`},
		// none, or something else in its place
		{Name: "none", World: base,
			PR:   "{listing: nova, level: L5, witness: [ada, bob, cyd], receipt: {delete: [/external_audit]}}",
			Want: `implementations/nova.json:6:3: error: external-audit: audit-missing`,
			Says: []string{`implementations/nova.json:6:3: error: external-audit: the Receipt has no external_audit`}},
		{Name: "text", World: base,
			PR:   `{listing: nova, level: L5, witness: [ada, bob, cyd], receipt: {set: {/external_audit: "SOC2-Type-II"}}}`,
			Want: `implementations/nova.json:6:3: error: external-audit: audit-missing`},
		// another framework, and one in other letters
		{Name: "own framework",
			World: base + `pr:
  - {listing: nova, level: L5, witness: [ada, bob, cyd], receipt: {set: {/external_audit/framework: our own}}}
`,
			Want: `implementations/nova.json:6:3: error: external-audit: audit-framework`},
		{Name: "lower case",
			World: base + `pr:
  - {listing: nova, level: L5, witness: [ada, bob, cyd], receipt: {set: {/external_audit/framework: soc2-type-ii}}}
`,
			Want: `implementations/nova.json:6:3: error: external-audit: audit-framework`},
		// no DID
		{Name: "no did", World: base,
			PR:   `{listing: nova, level: L5, witness: [ada, bob, cyd], auditor: "https://auditor.example/"}`,
			Want: `implementations/nova.json:6:3: error: external-audit: audit-auditor`},
		{Name: "did url", World: base,
			PR:   `{listing: nova, level: L5, witness: [ada, bob, cyd], auditor: "did:web:auditor.example#key-1"}`,
			Want: `implementations/nova.json:6:3: error: external-audit: audit-auditor`},
		{Name: "no auditor",
			World: base + `pr:
  - {listing: nova, level: L5, witness: [ada, bob, cyd], receipt: {delete: [/external_audit/auditor_did]}}
`,
			Want: `implementations/nova.json:6:3: error: external-audit: audit-auditor`},
		// the implementation itself, also in another spelling
		{Name: "itself", World: base,
			PR:   `{listing: nova, level: L5, witness: [ada, bob, cyd], auditor: "did:web:nova.example"}`,
			Want: `implementations/nova.json:6:3: error: external-audit: audit-by-itself`},
		{Name: "itself, and another in the Receipt",
			World: base + `pr:
  - listing: nova
    level: L5
    witness: [ada, bob, cyd]
    auditor: "did:web:nova.example"
    receipt: {set: {/implementation/did: "did:web:other.example"}}
`,
			Want: `
implementations/nova.json:4:3: error: receipt-claims: receipt-did-differs
implementations/nova.json:6:3: error: external-audit: audit-by-itself`,
			Says: []string{`external_audit.auditor_did "did:web:nova.example" is the implementation itself`}},
		{Name: "itself spelt", World: base,
			PR:   `{listing: nova, level: L5, witness: [ada, bob, cyd], auditor: "did:web:NOVA.example."}`,
			Want: `implementations/nova.json:6:3: error: external-audit: audit-by-itself`},
		{Name: "itself port", World: base,
			PR:   `{listing: nova, level: L5, witness: [ada, bob, cyd], auditor: "did:web:nova.example%3A443"}`,
			Want: `implementations/nova.json:6:3: error: external-audit: audit-by-itself`},
		// one of its witnesses, whether it counts or not
		{Name: "witness", World: base,
			PR:   `{listing: nova, level: L5, witness: [ada, bob, cyd], auditor: "did:web:bob.example"}`,
			Want: `implementations/nova.json:6:3: error: external-audit: audit-by-witness`,
			Says: []string{`auditor_did "did:web:bob.example" is a peer witness of this Receipt too`}},
		{Name: "witness spelt", World: base,
			PR:   `{listing: nova, level: L5, witness: [ada, bob, cyd], auditor: "did:web:bob.example."}`,
			Want: `implementations/nova.json:6:3: error: external-audit: audit-by-witness`},
		{Name: "idle witness",
			World: base + `pr:
  - {publish: idle}
  - {listing: nova, level: L5, witness: [ada, bob, cyd, idle], auditor: "did:web:idle.example"}
`,
			Want: `
implementations/nova.json:7:3: warning: peer-witnesses: witness-not-listed
implementations/nova.json:6:3: error: external-audit: audit-by-witness`},
		// another implementation of the registry may audit
		{Name: "other listed", World: base + "  - {listing: dan, level: L4, witness: [ada]}",
			PR:   `{listing: nova, level: L5, witness: [ada, bob, cyd], auditor: "did:web:dan.example"}`,
			Want: `implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		// the end: a time
		{Name: "until now",
			World: base + `pr:
  - {listing: nova, level: L5, witness: [ada, bob, cyd], receipt: {set: {/external_audit/valid_until: "2026-06-01T12:00:00Z"}}}
`,
			Want: `implementations/nova.json:6:3: error: external-audit: audit-expired`,
			Says: []string{`external_audit.valid_until is "2026-06-01T12:00:00Z", which ended at 2026-06-01T12:00:00Z; it is 2026-06-01T12:00:00Z`}},
		{Name: "until soon",
			World: base + `pr:
  - {listing: nova, level: L5, witness: [ada, bob, cyd], receipt: {set: {/external_audit/valid_until: "2026-06-01T14:00:01+02:00"}}}
`,
			Want: `implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		// ... or a date, which is over at the end of its day in UTC
		{Name: "until today",
			World: base + `pr:
  - {listing: nova, level: L5, witness: [ada, bob, cyd], receipt: {set: {/external_audit/valid_until: "2026-06-01"}}}
`,
			Want: `implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		{Name: "until yesterday",
			World: base + `pr:
  - {listing: nova, level: L5, witness: [ada, bob, cyd], receipt: {set: {/external_audit/valid_until: "2026-05-31"}}}
`,
			Want: `implementations/nova.json:6:3: error: external-audit: audit-expired`},
		// ... and nothing else
		{Name: "until month",
			World: base + `pr:
  - {listing: nova, level: L5, witness: [ada, bob, cyd], receipt: {set: {/external_audit/valid_until: 2027-01}}}
`,
			Want: `implementations/nova.json:6:3: error: external-audit: audit-date`},
		{Name: "until leap",
			World: base + `pr:
  - {listing: nova, level: L5, witness: [ada, bob, cyd], receipt: {set: {/external_audit/valid_until: "2026-12-31T23:59:60Z"}}}
`,
			Want: `implementations/nova.json:6:3: error: external-audit: audit-date`},
		{Name: "until number",
			World: base + `pr:
  - {listing: nova, level: L5, witness: [ada, bob, cyd], receipt: {set: {/external_audit/valid_until: 20270101}}}
`,
			Want: `implementations/nova.json:6:3: error: external-audit: audit-date`},
		{Name: "until nothing",
			World: base + `pr:
  - {listing: nova, level: L5, witness: [ada, bob, cyd], receipt: {delete: [/external_audit/valid_until]}}
`,
			Want: `implementations/nova.json:6:3: error: external-audit: audit-date`},
		// where the Receipt is not there its owner reports it
		{Name: "gone",
			World: base + `pr: [{listing: nova, level: L5, witness: [ada, bob, cyd]}]
web: [{url: "https://nova.example/oap-conformance-receipt.json", status: 404}]
`,
			Want: `implementations/nova.json:7:3: error: receipt-fetch: http-status`},
	})
}

// A key that only keyAgreement lists signs nothing, but two implementations that share it are not independent.
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

// A label of an auditor's host may begin with xn-- and decode to no text. The host has the domain of its other labels
// all the same: DNS decodes no label, and nothing of a declared auditor is fetched.
func TestExternalAuditUnsoundLabel(t *testing.T) {
	const base = `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: cyd, level: L4, witness: [ada]}
`
	checktest.Run(t, []checktest.Case{
		{Name: "own", World: base,
			PR:   `{listing: nova, level: L5, witness: [ada, bob, cyd], auditor: "did:web:xn--0.nova.example"}`,
			Want: `implementations/nova.json:6:3: error: external-audit: audit-by-itself`,
			Says: []string{`is under nova.example, the implementation.s own domain`}},
		{Name: "witness", World: base,
			PR:   `{listing: nova, level: L5, witness: [ada, bob, cyd], auditor: "did:web:XN--a.bob.example%3A8443:x"}`,
			Want: `implementations/nova.json:6:3: error: external-audit: audit-by-witness`},
		// ... and under nobody's here
		{Name: "other",
			World: base + `pr: [{listing: nova, level: L5, witness: [ada, bob, cyd], auditor: "did:web:xn--0.auditor.example"}]`,
			Want:  `implementations/nova.json:6:3: notice: external-audit: audit-declared`},
	})
}
