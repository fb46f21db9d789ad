package checks_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

// Attacks on witnesses: who may vouch, for whom, and by what.
func TestAttackWitness(t *testing.T) {
	checktest.Run(t, []checktest.Case{
		// a witness that vouches under the DID with a fragment, or as a did:key; in capitals it is the same DID
		{Name: "fragment",
			World: `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
pr: [{listing: nova, level: L4, witness: [{slug: ada, did: "did:web:ada.example#key-1"}]}]
`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-not-web`},
		{Name: "case",
			World: `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
pr: [{listing: nova, level: L4, witness: [{slug: ada, did: "did:web:ADA.example"}]}]
`,
			Want: `pass`},
		{Name: "key",
			World: `base:
  - {listing: ada, level: L4, witness: [bob], did: key}
  - {listing: bob, level: L4, witness: [ada]}
pr: [{listing: nova, level: L4, witness: [ada]}]
`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-not-web`},
		// a signature made for another candidate's Receipt is copied
		{Name: "copied",
			World: `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
pr: [{listing: nova, level: L4, witness: [{slug: ada, key: mallory}]}]
`,
			Want: `implementations/nova.json:7:3: error: peer-witnesses: witness-signature`},
		// a witness whose DID Document now holds the candidate's key too
		{Name: "shared later",
			World: `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
pr: [{listing: nova, level: L4, witness: [ada]}]
web:
  - {edit: "https://ada.example/.well-known/did.json", set: {/verificationMethod/-: {id: "did:web:ada.example#key-2", type: JsonWebKey2020, controller: "did:web:ada.example", publicKeyJwk: {kty: OKP, crv: Ed25519, x: "$jwk(nova)"}}}}
`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-key-shared`},
		// a level beside the highest: L3 in the listing, L5 in the Receipt, so that no witness is asked for
		{Name: "below",
			World: `base: [{listing: ada}]
pr: [{listing: nova, level: L3, receipt: {set: {/claimed_levels: [L3, L5]}}}]
`,
			Want: `implementations/nova.json:6:3: warning: receipt-claims: level-not-highest`},
		{Name: "below reissue",
			World: `base: [{listing: ada, level: L3}]
pr: [{reissue: ada, receipt: {set: {/claimed_levels: [L3, L5]}}}]
`,
			Want: `implementations/ada.json:6:3: error: reissue: level-not-highest`},
		// an auditor that is the candidate under its other spelling, or one of the witnesses
		{Name: "auditor self",
			World: `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: cat, level: L4, witness: [ada]}
pr: [{listing: nova, level: L5, witness: [ada, bob, cat], auditor: "did:web:NOVA.example"}]
`,
			Want: `implementations/nova.json:6:3: error: external-audit: audit-by-itself`},
		{Name: "auditor witness",
			World: `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: cat, level: L4, witness: [ada]}
pr: [{listing: nova, level: L5, witness: [ada, bob, cat], auditor: "did:web:Cat.example"}]
`,
			Want: `implementations/nova.json:6:3: error: external-audit: audit-by-witness`},
		// forced: the revoked implementation signs as one of the three; two witnesses and one of them twice
		{Name: "forced self",
			World: `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: cat, level: L4, witness: [ada]}
pr: [{revoke: cat, by: ada, witness: [ada, bob, cat]}]
`,
			Want: `
revocations/cat-cc24e4c247ae93110e9fcefde47807286b709d2451cfe405fa86d962c394c78f.json:7:3: error: revocations: not-authorised
revocations/cat-cc24e4c247ae93110e9fcefde47807286b709d2451cfe405fa86d962c394c78f.json:25:5: warning: revocations: witness-not-counted`},
		{Name: "forced twice",
			World: `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: cat, level: L1}
pr: [{revoke: cat, by: ada, witness: [ada, bob, ada]}]
`,
			Want: `revocations/cat-c8b24ec1c5aa7b83525577de2511a9c5bdbc7d3a93d8b741accab9e5d0d0d958.json:7:3: error: revocations: not-authorised`},
		// ... the owner's site being down does not stop three
		{Name: "forced",
			World: `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: dan, level: L4, witness: [ada]}
  - {listing: cat, level: L1}
pr: [{revoke: cat, by: cat, key: mallory, witness: [ada, bob, dan]}]
web: [{url: "https://cat.example/.well-known/did.json", status: 503}]
`,
			Want: `pass`},
	})
}
