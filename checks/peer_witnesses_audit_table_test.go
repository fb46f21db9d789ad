package checks_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

// An audit judges a record by what was so when it was merged, as far as Git shows that, and by the web of today.
func TestAuditOfWitnesses(t *testing.T) {
	const three = `
base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: cyd, level: L4, witness: [ada]}
  - {commit: List}
`
	const low = `
base:
  - {listing: ada, level: L4, witness: [dan]}
  - {listing: dan, level: L4, witness: [ada]}
  - {listing: bob, level: L3}
  - {commit: List}
`
	const provisional = `
base:
  - {at: "-60d"}
  - {listing: ada, level: L4, witness: [dan]}
  - {listing: dan, level: L4, witness: [ada]}
  - {listing: bob, level: L4, witness: [ada], provisional: true, registered: -70d}
  - {commit: List}
`
	expired := func(began string) string {
		return `
base:
  - {at: "` + began + `"}
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {commit: List}
  - {at: "-40d"}
  - {listing: nova, level: L4, witness: [bob]}
`
	}
	const policy = `
policy: {reference_server: nova, maintainers: [mia, moe]}
base:
  - {publish: mia}
  - {publish: moe}
  - {commit: Begin}
`
	checktest.Run(t, audits("peer-witnesses", []checktest.Case{
		{Name: "honest", World: three + "  - {listing: nova, level: L4, witness: [bob]}\n", Want: `pass`},
		{Name: "L5", World: three + "  - {listing: nova, level: L5, witness: [ada, bob, cyd]}\n", Want: `pass`},
		{Name: "renewed with another key", World: three + `
  - {listing: nova, level: L4, witness: [bob]}
  - {commit: Witness}
  - {reissue: bob, witness: [ada], key: bob-2}
`, Want: peers("ada", "notice witness-open", "notice witness-key-gone") + "\n" +
			peers("nova", "notice witness-open", "notice witness-key-gone")},
		{Name: "another key without a renewal", World: three + `
  - {listing: nova, level: L4, witness: [{slug: bob, key: eve}]}
`, Want: peers("nova", "error too-few-witnesses", "notice witness-signature")},
		{Name: "another key without a renewal, and one of its keys is gone", World: three + `
  - listing: dan
    level: L4
    witness: [ada]
    signed: {set: {/signatures/-: {by: "did:web:dan.example#old", alg: EdDSA, value: x}}}
  - {commit: List}
  - {listing: nova, level: L4, witness: [{slug: dan, key: eve}]}
`, Want: peers("nova", "notice witness-open", "notice witness-key-gone")},
		{Name: "an unreadable signature", World: three + `
  - {listing: nova, level: L4, witness: [bob], tamper: {set: {/peer_witnesses/0/signature: "short"}}}
`, Want: `implementations/nova.json:7:3: error: peer-witnesses: witness-signature`},
		{Name: "not a witness yet", World: low + `
  - {listing: nova, level: L4, witness: [bob]}
  - {commit: Witness}
  - {reissue: bob, level: L4, witness: [ada]}
`, Want: `pass`},
		{Name: "no witness any more", World: three + `
  - {listing: nova, level: L4, witness: [bob]}
  - {commit: Witness}
  - {reissue: bob, level: L3, witness: []}
`, Want: peers("ada", "error too-few-witnesses", "notice witness-not-listed") + "\n" +
			peers("nova", "notice witness-open", "notice witness-evidence")},
		{Name: "never a witness", World: low + `
  - {listing: nova, level: L4, witness: [bob]}
`, Want: peers("nova", "error too-few-witnesses", "notice witness-not-listed")},
		{Name: "listed in the same commit, and revoked", World: three + `
  - {listing: bea, level: L4, witness: [ada]}
  - {listing: nova, level: L4, witness: [bea]}
  - {commit: Witness}
  - {revoke: bea}
`, Want: peers("nova", "error too-few-witnesses", "notice witness-revoked")},
		{Name: "revoked after", World: three + `
  - {listing: nova, level: L4, witness: [bob]}
  - {commit: Witness}
  - {revoke: bob}
`, Want: peers("ada", "error too-few-witnesses", "notice witness-revoked")},
		{Name: "revoked before", World: three + `
  - {revoke: bob}
  - {commit: Revoke}
  - {listing: nova, level: L4, witness: [bob]}
`, Want: peers("ada", "error too-few-witnesses", "notice witness-revoked") + "\n" +
			peers("nova", "error too-few-witnesses", "notice witness-revoked")},
		{Name: "expired after", World: expired("-91d"),
			Want: peers("ada", "notice too-few-witnesses", "notice witness-expired") + "\n" +
				peers("bob", "notice too-few-witnesses", "notice witness-expired")},
		{Name: "expired before", World: expired("-191d"),
			Want: peers("ada", "notice too-few-witnesses", "notice witness-expired") + "\n" +
				peers("bob", "notice too-few-witnesses", "notice witness-expired") + "\n" +
				peers("nova", "error too-few-witnesses", "notice witness-expired")},
		{Name: "provisional then, and revoked now", World: provisional + `
  - {at: "-31d"}
  - {listing: nova, level: L4, witness: [bob]}
  - {commit: Witness}
  - {revoke: bob}
`, Want: peers("nova", "error too-few-witnesses", "notice witness-revoked")},
		{Name: "provisional for 30 days then, and revoked now", World: provisional + `
  - {at: "-29d"}
  - {listing: nova, level: L4, witness: [bob]}
  - {commit: Witness}
  - {revoke: bob}
`, Want: `pass`},
		{Name: "provisional for 30 days then, away in between, and revoked now", World: provisional + `
  - {at: "-29d"}
  - {listing: nova, level: L4, witness: [bob]}
  - {commit: Witness}
  - {move: [implementations/bob.json, bob.json]}
  - {commit: Remove}
  - {move: [bob.json, implementations/bob.json]}
  - {commit: Return}
  - {revoke: bob}
`, Want: `pass`},
		{Name: "at L3 then, and revoked now", World: low + `
  - {listing: nova, level: L4, witness: [bob]}
  - {commit: Witness}
  - {reissue: bob, level: L4, witness: [ada]}
  - {commit: Renew}
  - {revoke: bob}
`, Want: peers("nova", "error too-few-witnesses", "notice witness-revoked")},
		{Name: "expired then, and revoked now", World: `
base:
  - {at: "-80d"}
  - {listing: ada, level: L4, witness: [dan]}
  - {listing: dan, level: L4, witness: [ada]}
  - {listing: bob, level: L4, witness: [ada], not_after: -60d}
  - {commit: List}
  - {at: "-59d"}
  - {listing: nova, level: L4, witness: [bob]}
  - {commit: Witness}
  - {revoke: bob}
`, Want: peers("nova", "error too-few-witnesses", "notice witness-revoked")},
		{Name: "revoked then, and renewed and revoked now", World: `
base:
  - {listing: ada, level: L4, witness: [dan]}
  - {listing: dan, level: L4, witness: [ada]}
  - {listing: bob, level: L4, witness: [ada]}
  - {commit: List}
  - {revoke: bob}
  - {commit: Revoke}
  - {listing: nova, level: L4, witness: [bob]}
  - {commit: Witness}
  - {reissue: bob, witness: [ada]}
  - {commit: Renew}
  - {revoke: bob}
`, Want: peers("nova", "error too-few-witnesses", "notice witness-revoked")},
		{Name: "a DID that its path holds only since, at L3", World: `
base:
  - {listing: ada, level: L4, witness: [dan]}
  - {listing: dan, level: L4, witness: [ada]}
  - {listing: bob, level: L4, witness: [ada], host: old.example}
  - {commit: List}
  - {listing: nova, level: L4, witness: [{slug: bob, did: "did:web:bob.example"}]}
  - {commit: Witness}
  - {reissue: bob, host: bob.example, level: L3, witness: []}
`, Want: peers("nova", "error too-few-witnesses", "notice witness-not-listed")},
		{Name: "another DID at its path then", World: `
base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada], host: old.example}
  - {commit: List}
  - {listing: nova, level: L4, witness: [bob]}
  - {commit: Witness}
  - {reissue: bob, host: bob.example, witness: [ada]}
`, Want: peers("ada", "error too-few-witnesses", "notice witness-not-listed") + "\n" +
			peers("nova", "error too-few-witnesses", "notice witness-not-listed")},
		{Name: "another listing had its DID first", World: `
base:
  - {listing: ada, level: L4, witness: [dan]}
  - {listing: dan, level: L4, witness: [ada]}
  - {listing: aaa, host: bob.example}
  - {commit: List}
  - {listing: bob, level: L4, witness: [ada]}
  - {commit: Repeat}
  - {listing: nova, level: L4, witness: [bob]}
`, Want: peers("nova", "error too-few-witnesses", "notice witness-not-listed")},
		{Name: "its web is gone", World: three + `
  - {listing: nova, level: L4, witness: [bob]}
web:
  - {url: "https://bob.example/*", status: 404}
`, Want: `
implementations/ada.json:6:3: notice: peer-witnesses: witness-open
implementations/ada.json:7:3: notice: peer-witnesses: witness-evidence
implementations/bob.json:1:1: error: peer-witnesses: http-status
implementations/nova.json:6:3: notice: peer-witnesses: witness-open
implementations/nova.json:7:3: notice: peer-witnesses: witness-evidence`},
		{Name: "a path in its DID", World: three + `
  - {listing: dan, level: L4, witness: [ada], did: "did:web:dan.example:a"}
  - {commit: List}
  - {listing: nova, level: L5, witness: [dan, bob, cyd]}
`, Want: peers("nova", "error too-few-witnesses", "notice witness-not-independent")},
		{Name: "a publisher that another witness has too", World: three + `
  - {listing: dan, level: L4, witness: [ada], publisher_did: "did:web:ada.example"}
  - {commit: List}
  - {listing: nova, level: L5, witness: [ada, bob, dan]}
`, Want: `implementations/nova.json:6:3: notice: peer-witnesses: witness-open`,
			Says: []string{`did:web:ada.example and did:web:dan.example are not independent: they share a publisher`}},
		{Name: "a registered domain that the candidate has too", World: three + `
  - {listing: dan, level: L4, witness: [ada], host: dan.nova.example}
  - {commit: List}
  - {listing: nova, level: L5, witness: [ada, bob, dan]}
`, Want: peers("nova", "error too-few-witnesses", "notice witness-not-independent")},
		{Name: "a publisher that the candidate has too", World: three + `
  - {commit: List}
  - {listing: nova, level: L5, witness: [ada, bob, cyd], publisher_did: "did:web:ada.example"}
`, Want: peers("nova", "notice witness-open", "notice witness-open")},
		{Name: "a key that another witness has too", World: three + `
  - {listing: nova, level: L5, witness: [ada, bob, cyd]}
web:
  - edit: https://bob.example/.well-known/did.json
    set: {/verificationMethod/-: {id: "did:web:bob.example#2", type: JsonWebKey2020,
      controller: "did:web:bob.example", publicKeyJwk: {kty: OKP, crv: Ed25519, x: "$jwk(ada)"}}}
`, Want: `
implementations/ada.json:6:3: notice: peer-witnesses: witness-open
implementations/ada.json:7:3: notice: peer-witnesses: witness-key-shared
implementations/bob.json:6:3: notice: peer-witnesses: witness-open
implementations/bob.json:7:3: notice: peer-witnesses: witness-key-shared
implementations/nova.json:6:3: notice: peer-witnesses: witness-open`,
			Says: []string{`they share a key`}},
		{Name: "a registered domain that another witness has too", World: three + `
  - {listing: dan, level: L4, witness: [bob], host: dan.ada.example}
  - {commit: List}
  - {listing: nova, level: L5, witness: [ada, bob, dan]}
`, Want: `implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses`},
		{Name: "a Manifest without a publisher", World: three + `
  - {listing: dan, level: L4, witness: [ada], manifest: {delete: [/tool/publisher]}}
  - {commit: List}
  - {listing: nova, level: L5, witness: [ada, bob, dan]}
`, Want: peers("nova", "notice witness-open", "notice witness-open")},
		{Name: "a Manifest that does not answer", World: three + `
  - {listing: nova, level: L5, witness: [ada, bob, cyd]}
web:
  - {url: "https://ada.example/.well-known/oap-tool.json", status: 503}
`, Want: peers("nova", "notice witness-open", "notice witness-open")},
		{Name: "a stale co-signature", World: policy + `
  - {listing: nova, level: L4, co_signers: [mia, moe]}
  - {commit: List}
  - {publish: other}
web:
  - {edit: "https://mia.example/.well-known/did.json", set: {/verificationMethod/0/publicKeyJwk/x: "$jwk(eve)"}}
`, Want: `implementations/nova.json:6:3: notice: peer-witnesses: cosignature-stale`},
		{Name: "a co-signature of another algorithm", World: policy + `
  - {listing: nova, level: L4, co_signers: [mia, moe], signed: {set: {/signatures/1/alg: ES256}}}
`, Want: `implementations/nova.json:6:3: error: peer-witnesses: cosignature-missing`},
		{Name: "no co-signature", World: policy + `
  - {listing: nova, level: L4, co_signers: [moe]}
`, Want: `implementations/nova.json:6:3: error: peer-witnesses: cosignature-missing`},
	}))
}

// audits returns the cases as audits with only these checks.
func audits(ids string, all []checktest.Case) []checktest.Case {
	for i := range all {
		all[i].Audit = true
	}
	return only(ids, all)
}
