package checks_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

// A key whose verification method says that it is revoked or expired by the time of judging signs nothing, and a
// deactivated document is none.
func TestKeysOver(t *testing.T) {
	const (
		base = `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {commit: Begin}
`
		l4 = `pr: [{listing: nova, level: L4, witness: [ada]}]
`
		bootstrap = `policy: {reference_server: nova, maintainers: [mia]}
base: [{publish: mia}]
pr: [{listing: nova, level: L4, co_signers: [mia]}]
`
		revoke = `pr: [{revoke: bob}]
`
	)
	checktest.Run(t, []checktest.Case{
		// over now; over later, and what means nothing
		{Name: "revoked",
			World: `pr: [{listing: nova, did_document: {set: {/verificationMethod/0/revoked: "2026-06-01T12:00:00Z"}}}]`,
			Want:  `implementations/nova.json:4:3: error: did-resolution: did-keys-over`,
			Says:  []string{`did-resolution: did:web:nova.example: .*key "did:web:nova.example#key-1" is no longer valid \(revoked is 2026-06-01T12:00:00Z\); sign a new Receipt, and revoke, before retiring the key or the DID`}},
		{Name: "expires",
			World: `pr: [{listing: nova, did_document: {set: {/verificationMethod/0/expires: "2026-05-31T00:00:00Z"}}}]`,
			Want:  `implementations/nova.json:4:3: error: did-resolution: did-keys-over`,
			Says: []string{`fix: put a key into the DID Document that is neither revoked nor expired, sign a new Receipt by ` +
				`it, and pin that in a re-issue`}},
		{Name: "later",
			World: `pr: [{listing: nova, did_document: {set: {/verificationMethod/0/revoked: "2026-06-01T12:00:01Z", /verificationMethod/0/expires: "2027-01-01T00:00:00Z"}}}]`,
			Want:  `pass`},
		{Name: "absent",
			World: `pr: [{listing: nova, did_document: {set: {/verificationMethod/0/revoked: null, /verificationMethod/0/expires: false}}}]`,
			Want:  `pass`},
		// no time
		{Name: "no time",
			World: `pr: [{listing: nova, did_document: {set: {/verificationMethod/0/revoked: soon}}}]`,
			Want:  `implementations/nova.json:4:3: error: did-resolution: did-keys-over`,
			Says:  []string{`revoked is "soon", which is not an RFC 3339 time`}},
		// the document is deactivated; it says that it is not
		{Name: "deactivated", World: `pr: [{listing: nova, did_document: {set: {/deactivated: true}}}]`,
			Want: `implementations/nova.json:4:3: error: did-resolution: did-deactivated`},
		{Name: "deactivated text", World: `pr: [{listing: nova, did_document: {set: {/deactivated: "false"}}}]`,
			Want: `implementations/nova.json:4:3: error: did-resolution: did-deactivated`},
		{Name: "active", World: `pr: [{listing: nova, did_document: {set: {/deactivated: false}}}]`,
			Want: `pass`},
		// another key of the document is in force: the Receipt must be signed by it
		{Name: "rotated",
			World: `pr:
  - listing: nova
    did_document:
      set:
        /verificationMethod/0/revoked: "2026-05-01T00:00:00Z"
        /verificationMethod/-: {id: "did:web:nova.example#key-2", type: JsonWebKey2020, controller: "did:web:nova.example", publicKeyJwk: {kty: OKP, crv: Ed25519, x: "$jwk(nova-2)"}}
        /assertionMethod: ["#key-1", "#key-2"]
`,
			Want: `implementations/nova.json:7:3: error: receipt-signature: signature-not-verified`,
			Says: []string{`key "did:web:nova.example#key-1" signed it, and is no longer valid \(revoked is 2026-05-01T00:00:00Z\)`}},
		{Name: "rotated signed",
			World: `pr:
  - listing: nova
    signing_key: nova-2
    by: "did:web:nova.example#key-2"
    did_document:
      set:
        /verificationMethod/0/revoked: "2026-05-01T00:00:00Z"
        /verificationMethod/-: {id: "did:web:nova.example#key-2", type: JsonWebKey2020, controller: "did:web:nova.example", publicKeyJwk: {kty: OKP, crv: Ed25519, x: "$jwk(nova-2)"}}
        /assertionMethod: ["#key-1", "#key-2"]
`,
			Want: `pass`},
		// a witness's key, by which it signs and by which its own Receipt verifies
		{Name: "l4", World: base + l4,
			Want: `pass`},
		{Name: "l4, ada revoked",
			World: base + l4 + `web:
  - {edit: "https://ada.example/.well-known/did.json", set: {/verificationMethod/0/revoked: "2026-05-31T00:00:00Z"}}
`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-evidence`},
		{Name: "l4, ada rotated",
			World: base + l4 + `web:
  - edit: "https://ada.example/.well-known/did.json"
    set:
      /verificationMethod/0/expires: "2026-05-31T00:00:00Z"
      /verificationMethod/-: {id: "did:web:ada.example#key-2", type: JsonWebKey2020, controller: "did:web:ada.example", publicKeyJwk: {kty: OKP, crv: Ed25519, x: "$jwk(ada-2)"}}
`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-receipt`},
		{Name: "l4, ada deactivated",
			World: base + l4 + `web: [{edit: "https://ada.example/.well-known/did.json", set: {/deactivated: true}}]`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-evidence`},
		// a key that is over is still a key in common
		{Name: "shared",
			World: base + `pr:
  - listing: nova
    level: L4
    witness: [ada]
    did_document:
      set: {/verificationMethod/-: {id: "#old", type: JsonWebKey2020, controller: "did:web:nova.example", revoked: "2026-01-01T00:00:00Z", publicKeyJwk: {kty: OKP, crv: Ed25519, x: "$jwk(ada)"}}}
`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-key-shared`},
		// a co-signer of the bootstrap rule
		{Name: "bootstrap", World: bootstrap,
			Want: `pass`},
		{Name: "bootstrap, mia revoked",
			World: bootstrap + `web:
  - {edit: "https://mia.example/.well-known/did.json", set: {/verificationMethod/0/revoked: "2026-05-31T00:00:00Z"}}
`,
			Want: `implementations/nova.json:6:3: error: peer-witnesses: cosigner-document`},
		// a revocation by its owner, by a key that is over, and by another one
		{Name: "revoke", World: base + revoke,
			Want: `pass`},
		{Name: "revoke, bob revoked",
			World: base + revoke + `web:
  - {edit: "https://bob.example/.well-known/did.json", set: {/verificationMethod/0/revoked: "2026-01-01T00:00:00Z"}}
`,
			Want: `revocations/bob-9d4ea007f3a56d6f2cec14396ca1d354ba580a7c2b4d6130ce7de9aae5a3b2ef.json:7:3: error: revocations: not-authorised`},
		{Name: "revoke rotated, bob rotated",
			World: base + `pr: [{revoke: bob, key: bob-2}]
web:
  - edit: "https://bob.example/.well-known/did.json"
    set:
      /verificationMethod/0/revoked: "2026-05-31T00:00:00Z"
      /verificationMethod/-: {id: "did:web:bob.example#key-2", type: JsonWebKey2020, controller: "did:web:bob.example", publicKeyJwk: {kty: OKP, crv: Ed25519, x: "$jwk(bob-2)"}}
`,
			Want: `pass`},
	})
}
