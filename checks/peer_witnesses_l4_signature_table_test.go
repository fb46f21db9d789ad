package checks_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

// L4, continued: the witness's own Receipt, and its signature.
func TestPeerWitnessesL4Signature(t *testing.T) {
	const (
		base = `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: cyd, level: L4, witness: [ada]}
`
		one = `pr: [{listing: nova, level: L4, witness: [ada]}]
`
		receipt503 = `web:
  - {url: "https://ada.example/oap-conformance-receipt.json", status: 503}
`
	)
	checktest.Run(t, []checktest.Case{
		// --- the witness's own Receipt ---
		// it claims a lower level than its listing
		{Name: "by overclaimer",
			World: base + "  - {listing: over, level: L4, witness: [ada], receipt: {set: {/claimed_levels: [L3]}}}",
			PR:    "{listing: nova, level: L4, witness: [over]}",
			Want:  peers("nova", "error too-few-witnesses", "warning witness-level")},
		// it is another implementation's, whose key the witness has too
		{Name: "by borrower",
			World: base + `  - {listing: dan, level: L4, witness: [ada], receipt: {set: {/implementation/did: "did:web:ada.example"}}}
pr: [{listing: nova, level: L4, witness: [dan]}]
`,
			Want: peers("nova", "error too-few-witnesses", "warning witness-receipt"),
			Says: []string{`its own Receipt is that of "did:web:ada.example"`}},
		// it is signed by nobody's key, or its validity is over although the listing says otherwise
		{Name: "by unsigned", World: base + "  - {listing: fake, level: L4, witness: [ada], signing_key: other}",
			PR:   "{listing: nova, level: L4, witness: [fake]}",
			Want: peers("nova", "error too-few-witnesses", "warning witness-receipt")},
		{Name: "by outdated", World: base + `  - {commit: Begin}
  - {at: -91d}
  - {listing: old, level: L4, witness: [ada], set: {/expires_at: "2026-08-01T00:00:00Z"}}`,
			PR:   "{listing: nova, level: L4, witness: [old]}",
			Want: peers("nova", "error too-few-witnesses", "warning witness-not-listed")},
		// it is gone: 4xx; whoever holds the domain now serves another DID Document
		{Name: "one, receipt gone",
			World: base + one + `web: [{url: "https://ada.example/oap-conformance-receipt.json", status: 404}]`,
			Want:  peers("nova", "error too-few-witnesses", "warning witness-evidence"),
			Says:  []string{`peer witness "did:web:ada.example" does not count: its own Receipt: https://ada.example/oap-conformance-receipt.json: answered 404`}},
		{Name: "one, new holder",
			World: base + one + `web:
  - {edit: "https://nova.example/.well-known/did.json", to: "https://ada.example/.well-known/did.json", replace: {nova.example: ada.example}}
`,
			Want: peers("nova", "error too-few-witnesses", "warning witness-receipt")},
		// its URL serves other bytes (a renewal on the way), answers otherwise than 200, or not
		{Name: "one, receipt renewed",
			World: base + one + `web:
  - {edit: "https://ada.example/oap-conformance-receipt.json", set: {/receipt_id: "urn:oap:conformance:next"}}
`,
			Want: peers("nova", "inconclusive witness-open", "warning witness-evidence"),
			Says: []string{`did:web:ada.example: its own Receipt: the served bytes have SHA-256 `,
				`fix: have the witness fix it, or have another sign`}},
		{Name: "one, receipt 503", World: base + one + receipt503,
			Want: peers("nova", "inconclusive witness-open", "warning witness-evidence")},
		{Name: "one, did 503",
			World: base + one + `web: [{url: "https://ada.example/.well-known/did.json", status: 503, header: {retry-after: "3600"}}]`,
			Want:  peers("nova", "inconclusive witness-open", "warning witness-evidence"),
			Says:  []string{`(?s)fix: try again after 2026-06-01T13:00:00Z.*fix: try again after 2026-06-01T13:00:00Z`}},
		// if two documents cannot be fetched, the finding names the first
		{Name: "one, did and receipt 503",
			World: base + one + receipt503 + `  - {url: "https://ada.example/.well-known/did.json", status: 503}
`,
			Want: peers("nova", "inconclusive witness-open", "warning witness-evidence"),
			Says: []string{`did:web:ada.example: its own DID Document: `}},
		// a document that cannot be had decides nothing where another witness counts
		{Name: "two, receipt 503",
			World: base + `pr: [{listing: nova, level: L4, witness: [ada, bob]}]
` + receipt503,
			Want: `implementations/nova.json:7:3: warning: peer-witnesses: witness-evidence`},
		// --- the signature ---
		// a signature that does not verify is an error although another one counts; without that entry it passes
		{Name: "broken", World: base, PR: "{listing: nova, level: L4, witness: [ada, {slug: bob, key: other}]}",
			Want: `implementations/nova.json:7:3: error: peer-witnesses: witness-signature`, Says: []string{
				`implementations/nova.json:7:3: error: peer-witnesses: peer witness "did:web:bob.example" is listed, but its signature does not verify`,
				`fix: remove that entry from peer_witnesses`,
			}},
		{Name: "broken removed",
			World: base + `pr:
  - {listing: nova, level: L4, witness: [ada, {slug: bob, key: other}], tamper: {delete: [/peer_witnesses/1]}}
`,
			Want: `pass`},
		// it must be by a key that verifies the witness's own Receipt, not by another one of its document
		{Name: "spare key",
			World: base + `  - listing: dan
    level: L4
    witness: [ada]
    did_document:
      set: {/verificationMethod/-: {id: "#2", type: JsonWebKey2020, controller: "did:web:dan.example", publicKeyJwk: {kty: OKP, crv: Ed25519, x: $jwk(spare)}}}
pr: [{listing: nova, level: L4, witness: [{slug: dan, key: spare}]}]
`,
			Want: `implementations/nova.json:7:3: error: peer-witnesses: witness-signature`},
		// it covers the signatures member: nothing is added there afterwards
		{Name: "signatures added",
			World: base + `pr:
  - {listing: nova, level: L4, witness: [ada], tamper: {set: {/signatures/-: {by: "did:web:else.example#1", alg: EdDSA, value: x}}}}
`,
			Want: `implementations/nova.json:7:3: error: peer-witnesses: witness-signature`},
		// it covers this Receipt, not the one before
		{Name: "signature of before",
			World: base + `pr:
  - {listing: nova, level: L4, witness: [ada], tamper: {set: {/peer_witnesses/0/signature: "q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJCrze8SNFZ4kA"}}}
`,
			Want: `implementations/nova.json:7:3: error: peer-witnesses: witness-signature`},
		// no signature text at all
		{Name: "no signature", World: base,
			PR:   `{listing: nova, level: L4, witness: [ada], tamper: {set: {/peer_witnesses/0/signature: ""}}}`,
			Want: `implementations/nova.json:7:3: error: peer-witnesses: witness-signature`},
		// ... and the Receipt cannot be fetched: the result is inconclusive, since another try may show more
		{Name: "no signature, receipt 503",
			World: base + `pr:
  - {listing: nova, level: L4, witness: [ada], tamper: {set: {/peer_witnesses/0/signature: ""}}}
` + receipt503,
			Want: peers("nova", "inconclusive witness-open", "warning witness-evidence")},
		// who stands there twice with one good signature and one bad: the bad one is an error
		{Name: "twice one bad", World: base, PR: "{listing: nova, level: L4, witness: [ada, {slug: ada, key: other}]}",
			Want: `implementations/nova.json:7:3: error: peer-witnesses: witness-signature`},
		// --- the domain ---
		// a witness on the candidate's registrable domain is a warning; under one platform it is none
		{Name: "same domain", World: base + "  - {listing: one, host: one.corp.example, level: L4, witness: [ada]}",
			PR: "{listing: nova, host: nova.corp.example, level: L4, witness: [one]}", Want: `
implementations/nova.json:6:3: warning: peer-witnesses: witness-same-domain
implementations/nova.json:4:3: notice: domain-age: age-of-parent`,
			Says: []string{`warning: peer-witnesses: witness did:web:one.corp.example shares the domain corp.example with the candidate`}},
		{Name: "same platform", World: base + "  - {listing: one, host: one.github.io, level: L4, witness: [ada]}",
			PR:   "{listing: nova, host: nova.github.io, level: L4, witness: [one], provisional: true}",
			Want: `implementations/nova.json:12:3: notice: domain-age: provisional`},
		// for a did:key the host of its Manifest stands in
		{Name: "key same domain", World: base + "  - {listing: one, host: one.corp.example, level: L4, witness: [ada]}",
			PR: "{listing: nova, did: key, host: nova.corp.example, level: L4, witness: [one]}", Want: `
implementations/nova.json:6:3: warning: peer-witnesses: witness-same-domain
implementations/nova.json:4:3: warning: domain-age: age-of-host`},
		// --- how many ---
		// 32 entries are read, 33 are an error
		{Name: "entries 32",
			World: base + `pr:
  - {listing: nova, level: L4, witness: [ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada]}
`,
			Want: `pass`},
		{Name: "entries 33",
			World: base + `pr:
  - {listing: nova, level: L4, witness: [ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, bob]}
`,
			Want: `implementations/nova.json:6:3: error: peer-witnesses: too-many-witnesses`,
			Says: []string{`the Receipt has 33 peer_witnesses, at most 32 are read`}},
		// where another check says why the Receipt or DID Document is not there, this one is silent
		{Name: "one, own receipt gone",
			World: base + one + `web: [{url: "https://nova.example/oap-conformance-receipt.json", status: 404}]`,
			Want:  `implementations/nova.json:7:3: error: receipt-fetch: http-status`},
		// ... and needs no Manifest
		{Name: "none, own manifest gone",
			World: base + `pr: [{listing: nova, level: L4}]
web: [{url: "https://nova.example/.well-known/oap-tool.json", status: 404}]
`,
			Want: `
implementations/nova.json:5:3: error: manifest-reachability: http-status
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses`},
		{Name: "one, own did gone",
			World: base + one + `web: [{url: "https://nova.example/.well-known/did.json", status: 404}]`,
			Want:  `implementations/nova.json:4:3: error: did-resolution: http-status`},
	})
}
