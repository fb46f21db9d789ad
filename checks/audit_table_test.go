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
	checktest.Run(t, audits("peer-witnesses", []checktest.Case{
		{Name: "honest", World: three + "  - {listing: nova, level: L4, witness: [bob]}\n", Want: `pass`},
		{Name: "L5", World: three + "  - {listing: nova, level: L5, witness: [ada, bob, cyd]}\n", Want: `pass`},
		{Name: "renewed with another key", World: three + `
  - {listing: nova, level: L4, witness: [bob]}
  - {commit: Witness}
  - {reissue: bob, witness: [ada], key: bob-2}
`, Want: `
implementations/ada.json:6:3: notice: peer-witnesses: witness-open
implementations/ada.json:7:3: notice: peer-witnesses: witness-key-gone
implementations/nova.json:6:3: notice: peer-witnesses: witness-open
implementations/nova.json:7:3: notice: peer-witnesses: witness-key-gone`},
		{Name: "another key without a renewal", World: three + `
  - {listing: nova, level: L4, witness: [{slug: bob, key: eve}]}
`, Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: notice: peer-witnesses: witness-signature`},
		{Name: "another key without a renewal, and one of its keys is gone", World: three + `
  - listing: dan
    level: L4
    witness: [ada]
    signed: {set: {/signatures/-: {by: "did:web:dan.example#old", alg: EdDSA, value: x}}}
  - {commit: List}
  - {listing: nova, level: L4, witness: [{slug: dan, key: eve}]}
`, Want: `
implementations/nova.json:6:3: notice: peer-witnesses: witness-open
implementations/nova.json:7:3: notice: peer-witnesses: witness-key-gone`},
		{Name: "an unreadable signature", World: three + `
  - {listing: nova, level: L4, witness: [bob], tamper: {set: {/peer_witnesses/0/signature: "short"}}}
`, Want: `implementations/nova.json:7:3: error: peer-witnesses: witness-signature`},
		{Name: "not a witness yet", World: `
base:
  - {listing: ada, level: L4, witness: [dan]}
  - {listing: dan, level: L4, witness: [ada]}
  - {listing: bob, level: L3}
  - {commit: List}
  - {listing: nova, level: L4, witness: [bob]}
  - {commit: Witness}
  - {reissue: bob, level: L4, witness: [ada]}
`, Want: `pass`},
		{Name: "no witness any more", World: three + `
  - {listing: nova, level: L4, witness: [bob]}
  - {commit: Witness}
  - {reissue: bob, level: L3, witness: []}
`, Want: `
implementations/ada.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/ada.json:7:3: notice: peer-witnesses: witness-not-listed
implementations/nova.json:6:3: notice: peer-witnesses: witness-open
implementations/nova.json:7:3: notice: peer-witnesses: witness-evidence`},
		{Name: "never a witness", World: `
base:
  - {listing: ada, level: L4, witness: [dan]}
  - {listing: dan, level: L4, witness: [ada]}
  - {listing: bob, level: L3}
  - {commit: List}
  - {listing: nova, level: L4, witness: [bob]}
`, Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: notice: peer-witnesses: witness-not-listed`},
		{Name: "listed in the same commit, and revoked", World: three + `
  - {listing: bea, level: L4, witness: [ada]}
  - {listing: nova, level: L4, witness: [bea]}
  - {commit: Witness}
  - {revoke: bea}
`, Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: notice: peer-witnesses: witness-revoked`},
		{Name: "revoked after", World: three + `
  - {listing: nova, level: L4, witness: [bob]}
  - {commit: Witness}
  - {revoke: bob}
`, Want: `
implementations/ada.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/ada.json:7:3: notice: peer-witnesses: witness-revoked`},
		{Name: "revoked before", World: three + `
  - {revoke: bob}
  - {commit: Revoke}
  - {listing: nova, level: L4, witness: [bob]}
`, Want: `
implementations/ada.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/ada.json:7:3: notice: peer-witnesses: witness-revoked
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: notice: peer-witnesses: witness-revoked`},
		{Name: "expired after", World: `
base:
  - {at: "-91d"}
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {commit: List}
  - {at: "-40d"}
  - {listing: nova, level: L4, witness: [bob]}
`, Want: `
implementations/ada.json:6:3: notice: peer-witnesses: too-few-witnesses
implementations/ada.json:7:3: notice: peer-witnesses: witness-expired
implementations/bob.json:6:3: notice: peer-witnesses: too-few-witnesses
implementations/bob.json:7:3: notice: peer-witnesses: witness-expired`},
		{Name: "expired before", World: `
base:
  - {at: "-191d"}
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {commit: List}
  - {at: "-40d"}
  - {listing: nova, level: L4, witness: [bob]}
`, Want: `
implementations/ada.json:6:3: notice: peer-witnesses: too-few-witnesses
implementations/ada.json:7:3: notice: peer-witnesses: witness-expired
implementations/bob.json:6:3: notice: peer-witnesses: too-few-witnesses
implementations/bob.json:7:3: notice: peer-witnesses: witness-expired
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: notice: peer-witnesses: witness-expired`},
		{Name: "provisional then, and revoked now", World: `
base:
  - {at: "-60d"}
  - {listing: ada, level: L4, witness: [dan]}
  - {listing: dan, level: L4, witness: [ada]}
  - {listing: bob, level: L4, witness: [ada], provisional: true, registered: -70d}
  - {commit: List}
  - {at: "-31d"}
  - {listing: nova, level: L4, witness: [bob]}
  - {commit: Witness}
  - {revoke: bob}
`, Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: notice: peer-witnesses: witness-revoked`},
		{Name: "provisional for 30 days then, and revoked now", World: `
base:
  - {at: "-60d"}
  - {listing: ada, level: L4, witness: [dan]}
  - {listing: dan, level: L4, witness: [ada]}
  - {listing: bob, level: L4, witness: [ada], provisional: true, registered: -70d}
  - {commit: List}
  - {at: "-29d"}
  - {listing: nova, level: L4, witness: [bob]}
  - {commit: Witness}
  - {revoke: bob}
`, Want: `pass`},
		{Name: "provisional for 30 days then, away in between, and revoked now", World: `
base:
  - {at: "-60d"}
  - {listing: ada, level: L4, witness: [dan]}
  - {listing: dan, level: L4, witness: [ada]}
  - {listing: bob, level: L4, witness: [ada], provisional: true, registered: -70d}
  - {commit: List}
  - {at: "-29d"}
  - {listing: nova, level: L4, witness: [bob]}
  - {commit: Witness}
  - {move: [implementations/bob.json, bob.json]}
  - {commit: Remove}
  - {move: [bob.json, implementations/bob.json]}
  - {commit: Return}
  - {revoke: bob}
`, Want: `pass`},
		{Name: "at L3 then, and revoked now", World: `
base:
  - {listing: ada, level: L4, witness: [dan]}
  - {listing: dan, level: L4, witness: [ada]}
  - {listing: bob, level: L3}
  - {commit: List}
  - {listing: nova, level: L4, witness: [bob]}
  - {commit: Witness}
  - {reissue: bob, level: L4, witness: [ada]}
  - {commit: Renew}
  - {revoke: bob}
`, Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: notice: peer-witnesses: witness-revoked`},
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
`, Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: notice: peer-witnesses: witness-revoked`},
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
`, Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: notice: peer-witnesses: witness-revoked`},
		{Name: "a DID that its path holds only since, at L3", World: `
base:
  - {listing: ada, level: L4, witness: [dan]}
  - {listing: dan, level: L4, witness: [ada]}
  - {listing: bob, level: L4, witness: [ada], host: old.example}
  - {commit: List}
  - {listing: nova, level: L4, witness: [{slug: bob, did: "did:web:bob.example"}]}
  - {commit: Witness}
  - {reissue: bob, host: bob.example, level: L3, witness: []}
`, Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: notice: peer-witnesses: witness-not-listed`},
		{Name: "another DID at its path then", World: `
base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada], host: old.example}
  - {commit: List}
  - {listing: nova, level: L4, witness: [bob]}
  - {commit: Witness}
  - {reissue: bob, host: bob.example, witness: [ada]}
`, Want: `
implementations/ada.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/ada.json:7:3: notice: peer-witnesses: witness-not-listed
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: notice: peer-witnesses: witness-not-listed`},
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
`, Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: notice: peer-witnesses: witness-not-independent`},
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
`, Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: notice: peer-witnesses: witness-not-independent`},
		{Name: "a publisher that the candidate has too", World: three + `
  - {commit: List}
  - {listing: nova, level: L5, witness: [ada, bob, cyd], publisher_did: "did:web:ada.example"}
`, Want: `
implementations/nova.json:6:3: notice: peer-witnesses: witness-open
implementations/nova.json:7:3: notice: peer-witnesses: witness-open`},
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
`, Want: `
implementations/nova.json:6:3: notice: peer-witnesses: witness-open
implementations/nova.json:7:3: notice: peer-witnesses: witness-open`},
		{Name: "a Manifest that does not answer", World: three + `
  - {listing: nova, level: L5, witness: [ada, bob, cyd]}
web:
  - {url: "https://ada.example/.well-known/oap-tool.json", status: 503}
`, Want: `
implementations/nova.json:6:3: notice: peer-witnesses: witness-open
implementations/nova.json:7:3: notice: peer-witnesses: witness-open`},
		{Name: "a stale co-signature", World: `
policy: {reference_server: nova, maintainers: [mia, moe]}
base:
  - {publish: mia}
  - {publish: moe}
  - {commit: Begin}
  - {listing: nova, level: L4, co_signers: [mia, moe]}
  - {commit: List}
  - {publish: other}
web:
  - {edit: "https://mia.example/.well-known/did.json", set: {/verificationMethod/0/publicKeyJwk/x: "$jwk(eve)"}}
`, Want: `implementations/nova.json:6:3: notice: peer-witnesses: cosignature-stale`},
		{Name: "a co-signature of another algorithm", World: `
policy: {reference_server: nova, maintainers: [mia, moe]}
base:
  - {publish: mia}
  - {publish: moe}
  - {commit: Begin}
  - {listing: nova, level: L4, co_signers: [mia, moe], signed: {set: {/signatures/1/alg: ES256}}}
`, Want: `implementations/nova.json:6:3: error: peer-witnesses: cosignature-missing`},
		{Name: "no co-signature", World: `
policy: {reference_server: nova, maintainers: [mia, moe]}
base:
  - {publish: mia}
  - {publish: moe}
  - {commit: Begin}
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

// An audit warns of what only the pull request could have kept out, and does not judge again what cannot be changed.
func TestAuditOfFiles(t *testing.T) {
	const key = `-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIFoXw5laF8OZWhfDmVoXw5laF8OZWhfDmVoXw5laF8OZ\n-----END PRIVATE KEY-----\n`
	checktest.Run(t, audits("layout", []checktest.Case{
		{Name: "private keys", World: `
base:
  - {listing: ada}
  - {write: docs/key.pem, text: "` + key + `"}
  - {write: implementations/key.pem, text: "` + key + `"}
  - {write: docs/key.json, text: "` + key + `"}
  - {write: revocations/key.json, text: "` + key + `"}
`, Want: `
implementations/key.pem:1:1: error: layout: misplaced-file
docs/key.json: warning: layout: private-key
docs/key.pem: warning: layout: private-key
implementations/key.pem: warning: layout: private-key
revocations/key.json:1:1: error: layout: misplaced-file`},
		{Name: "an example key", World: `
policy: "example_keys: [3c2f74e9c2e751560310b2bf4dd1ee944b752937c5adf4e459c02cca62f8ab0d]"
base: [{listing: ada}, {write: docs/key.pem, text: "` + key + `"}]
`, Want: `pass`},
		{Name: "slug of a device", World: `base: [{listing: aux}]`, Want: `pass`},
		{Name: "another name", World: `base: [{listing: ada, set: {/slug: bob}}]`,
			Want: `implementations/ada.json:2:3: error: layout: slug-mismatch`,
			Says: []string{`fix: set slug to "ada", or rename the file$`}},
		{Name: "a name that no record has", World: `
base: [{listing: ada}, {move: [implementations/ada.json, implementations/ada.jsn]}]
`, Want: `implementations/ada.jsn:1:1: error: layout: misplaced-file`},
		{Name: "an entry that copies no listing", World: `
base:
  - {listing: ada}
  - {peer-witness: ada, set: {/name: Eve}}
`, Want: `pass`},
		{Name: "two of one slug and one DID", World: `
base:
  - {listing: ada}
  - {listing: bob, host: ada.example, set: {/slug: ada}}
  - {listing: cyd, host: ada.example}
`, Want: `
implementations/ada.json:2:3: error: layout: duplicate-slug
implementations/ada.json:4:3: error: layout: duplicate-did
implementations/bob.json:2:3: error: layout: slug-mismatch
implementations/bob.json:2:3: error: layout: duplicate-slug
implementations/bob.json:4:3: error: layout: duplicate-did
implementations/cyd.json:4:3: error: layout: duplicate-did`},
		{Name: "two, one of which was removed", World: `
base:
  - {listing: ada}
  - {listing: bob, host: ada.example}
  - {commit: List}
  - {remove: implementations/bob.json}
`, Want: `pass`},
		{Name: "modes", World: `
base:
  - {listing: ada}
  - {write: implementations/bob.json, text: ada.json, mode: "120000"}
  - {write: revocations/README.md, text: a, mode: "100755"}
`, Want: `
implementations/bob.json: error: layout: file-mode
revocations/README.md: warning: layout: file-mode`},
		{Name: "paths that are one", World: `
base:
  - {listing: ada}
  - {write: docs/a.md, text: a}
  - {write: docs/A.md, text: a}
  - {write: docs/A.md., text: a}
`, Want: `
docs/A.md: warning: layout: case-twin
docs/A.md.: warning: layout: case-twin`},
		{Name: "no UTF-8", World: `base: [{write: implementations/ada.json, hex: "ff"}]`, Want: `implementations/ada.json:1:1: error: layout: invalid-utf8`},
	}))
}

// The age of a domain, and until when a listing counts as provisional, follow from the history that an audit read.
func TestAuditOfAge(t *testing.T) {
	checktest.Run(t, audits("domain-age", []checktest.Case{
		{Name: "listed for 60 days", World: `
base:
  - {at: "-60d"}
  - {listing: ada, registered: none}
`, Want: `pass`},
		{Name: "listed for 30 days less a minute", World: `
base:
  - {at: "-30d"}
  - {commit: Begin}
  - {listing: ada, registered: none}
`, Want: `implementations/ada.json:4:3: error: domain-age: domain-age-unknown`},
		{Name: "renewed", World: `
base:
  - {at: "-60d"}
  - {listing: ada, registered: none}
  - {commit: List}
  - {at: "-10d"}
  - {reissue: ada}
`, Want: `pass`},
		{Name: "another DID before", World: `
base:
  - {at: "-60d"}
  - {listing: ada, registered: none, host: old.example}
  - {commit: List}
  - {at: "-10d"}
  - {reissue: ada, host: new.example}
`, Want: `implementations/ada.json:4:3: error: domain-age: domain-age-unknown`},
		{Name: "away in between", World: `
base:
  - {at: "-60d"}
  - {listing: ada, registered: none}
  - {commit: List}
  - {remove: implementations/ada.json}
  - {commit: Remove}
  - {at: "-10d"}
  - {reissue: ada}
`, Want: `implementations/ada.json:4:3: error: domain-age: domain-age-unknown`},
		{Name: "registered since", World: `
base:
  - {at: "-60d"}
  - {listing: ada, registered: -40d}
`, Want: `implementations/ada.json:4:3: warning: domain-age: domain-changed-hands`},
		{Name: "registered a day ago", World: `
base:
  - {at: "-60d"}
  - {listing: ada, registered: -1d}
`, Want: `implementations/ada.json:4:3: error: domain-age: domain-changed-hands`},
		{Name: "a policy that cannot be read", World: `
policy: "["
base: [{listing: ada}]
`, Want: `implementations/ada.json:1:1: inconclusive: domain-age: policy-unreadable`},
	}))
}

// An audit judges an anchor by the tree that it was merged into.
func TestAuditOfAnchors(t *testing.T) {
	const listed = `
base:
  - {listing: ada}
  - {listing: bob}
  - {listing: key, did: key}
  - {commit: List}
`
	checktest.Run(t, audits("workflow-anchors", []checktest.Case{
		{Name: "honest", World: listed + "  - {anchor: flow, coordinator: ada}\n", Want: `pass`},
		{Name: "two of one workflow", World: listed + `
  - {anchor: flow, coordinator: ada, workflow: wf_01ARZ3NDEKTSV4RRFFQ69G5FAV}
  - {anchor: other, coordinator: ada, workflow: wf_01ARZ3NDEKTSV4RRFFQ69G5FAV}
`, Want: `
workflow-anchors/flow.json:3:3: error: workflow-anchors: workflow-anchored-twice
workflow-anchors/other.json:3:3: error: workflow-anchors: workflow-anchored-twice`},
		{Name: "three of one workflow", World: listed + `
  - {anchor: flow, coordinator: ada, workflow: wf_01ARZ3NDEKTSV4RRFFQ69G5FAV}
  - {anchor: other, coordinator: ada, workflow: wf_01ARZ3NDEKTSV4RRFFQ69G5FAV}
  - {anchor: third, coordinator: ada, workflow: wf_01ARZ3NDEKTSV4RRFFQ69G5FAV}
`, Want: `
workflow-anchors/flow.json:3:3: error: workflow-anchors: workflow-anchored-twice
workflow-anchors/other.json:3:3: error: workflow-anchors: workflow-anchored-twice
workflow-anchors/third.json:3:3: error: workflow-anchors: workflow-anchored-twice`,
			Says: []string{`third.json:3:3: error: .* has the anchor workflow-anchors/flow.json already`,
				`flow.json:3:3: error: .* has the anchor workflow-anchors/third.json already`}},
		{Name: "two, one of which was removed", World: listed + `
  - {anchor: flow, coordinator: ada, workflow: wf_01ARZ3NDEKTSV4RRFFQ69G5FAV}
  - {anchor: other, coordinator: ada, workflow: wf_01ARZ3NDEKTSV4RRFFQ69G5FAV}
  - {commit: Anchor}
  - {remove: workflow-anchors/flow.json}
`, Want: `pass`},
		{Name: "a key that is listed", World: listed + `
  - {anchor: flow, coordinator: key}
`, Want: `pass`},
		{Name: "a key that is revoked since", World: listed + `
  - {anchor: flow, coordinator: key}
  - {commit: Anchor}
  - {revoke: key}
`, Want: `pass`},
		{Name: "a key that was revoked before", World: listed + `
  - {revoke: key}
  - {commit: Revoke}
  - {anchor: flow, coordinator: key}
`, Want: `workflow-anchors/flow.json:7:3: error: workflow-anchors: anchor-host`},
		{Name: "a key that is listed since", World: `
base:
  - {listing: ada}
  - {publish: key, did: key}
  - {anchor: flow, coordinator: key}
  - {commit: Anchor}
  - {reissue: key}
`, Want: `workflow-anchors/flow.json:7:3: error: workflow-anchors: anchor-host`},
		{Name: "a key whose listing is gone", World: listed + `
  - {anchor: flow, coordinator: key}
  - {commit: Anchor}
  - {remove: implementations/key.json}
`, Want: `workflow-anchors/flow.json:7:3: error: workflow-anchors: anchor-host`},
		{Name: "a key whose listing was another's then", World: `
base:
  - {listing: kay}
  - {commit: List}
  - {publish: key, did: key}
  - {anchor: flow, coordinator: key, uri: "https://kay.example/flow.json"}
  - {commit: Anchor}
  - {edit: implementations/kay.json, set: {/tool_did: "$did(key)"}}
`, Want: `workflow-anchors/flow.json:7:3: error: workflow-anchors: anchor-host`},
		{Name: "a failover coordinator that was declared before", World: listed + `
  - {anchor: first, coordinator: ada, failover: bob}
  - {commit: Declare}
  - {anchor: flow, coordinator: ada, failover: bob, uri: "https://bob.example/flow.json"}
`, Want: `pass`},
		{Name: "a failover coordinator that was declared since", World: listed + `
  - {anchor: flow, coordinator: ada, failover: bob, uri: "https://bob.example/flow.json"}
  - {commit: Anchor}
  - {anchor: second, coordinator: ada, failover: bob}
`, Want: `workflow-anchors/flow.json:7:3: error: workflow-anchors: failover-not-declared`},
		{Name: "anchored in the future of then", World: listed + `
  - {anchor: flow, coordinator: ada, set: {/anchored_at: "2026-05-23T12:00:00Z"}}
`, Want: `workflow-anchors/flow.json:9:3: error: workflow-anchors: anchored-in-future`},
	}))
}

// An audit judges a revocation by the history that it read.
func TestAuditOfRevocations(t *testing.T) {
	const listed = `
base:
  - {listing: ada}
  - {commit: List}
`
	const quorum = `
base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: cyd, level: L4, witness: [ada]}
  - {listing: evil, level: L4, witness: [ada]}
  - {commit: List}
`
	checktest.Run(t, audits("revocations", []checktest.Case{
		{Name: "revoked", World: listed + "  - {revoke: ada}\n", Want: `
implementations/ada.json:8:3: warning: revocations: receipt-revoked
registry: notice: revocations: not-in-force`},
		{Name: "a former Receipt", World: listed + `
  - {reissue: ada}
  - {commit: Renew}
  - {revoke: ada, number: 1}
`, Want: `pass`},
		{Name: "a Receipt that was never pinned", World: listed + `
  - {revoke: ada, sha256: "1111111111111111111111111111111111111111111111111111111111111111"}
`, Want: `revocations/ada-1111111111111111111111111111111111111111111111111111111111111111.json:3:3: error: revocations: never-pinned`},
		{Name: "the listing is gone", World: listed + `
  - {revoke: ada}
  - {commit: Revoke}
  - {remove: implementations/ada.json}
`, Want: "pass"},
		{Name: "another key since", World: listed + `
  - {revoke: ada}
  - {commit: Revoke}
  - {reissue: ada, key: ada-2}
`, Want: `revocations/ada-0ee9e6ecb821a8e4eb7478a361b11af2dd4e4e1399aa4f0cc041538c028db54f.json:7:3: notice: revocations: not-authorised`},
		{Name: "three witnesses", World: quorum + "  - {revoke: evil, witness: [ada, bob, cyd]}\n", Want: `
implementations/evil.json:8:3: warning: revocations: receipt-revoked
registry: notice: revocations: not-in-force`},
		{Name: "three witnesses, one of whom was revoked before", World: quorum + `
  - {revoke: cyd}
  - {commit: Revoke}
  - {revoke: evil, witness: [ada, bob, cyd]}
`, Want: `
implementations/cyd.json:8:3: warning: revocations: receipt-revoked
implementations/evil.json:8:3: warning: revocations: receipt-revoked
registry: notice: revocations: not-in-force
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:7:3: error: revocations: not-authorised
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:25:5: notice: revocations: witness-not-counted`},
		{Name: "three witnesses, one of whom is revoked since", World: quorum + `
  - {revoke: evil, witness: [ada, bob, cyd]}
  - {commit: Revoke}
  - {revoke: cyd}
`, Want: `
implementations/cyd.json:8:3: warning: revocations: receipt-revoked
implementations/evil.json:8:3: warning: revocations: receipt-revoked
registry: notice: revocations: not-in-force`},
		{Name: "three witnesses, two of one publisher now", World: quorum + `
  - {revoke: evil, witness: [ada, bob, cyd]}
web:
  - {edit: "https://bob.example/.well-known/oap-tool.json", set: {/tool/publisher/did: "did:web:ada.example"}}
`, Want: `
implementations/evil.json:8:3: warning: revocations: receipt-revoked
registry: notice: revocations: not-in-force
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:12:3: notice: revocations: witness-open`},
		{Name: "two witnesses", World: quorum + "  - {revoke: evil, witness: [ada, bob]}\n", Want: `
implementations/evil.json:8:3: warning: revocations: receipt-revoked
registry: notice: revocations: not-in-force
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:7:3: error: revocations: not-authorised`},
		{Name: "revoked in the future of then", World: listed + `
  - {revoke: ada, revocation: {set: {/revoked_at: "2026-05-22T13:00:00Z"}}}
`, Want: `
implementations/ada.json:8:3: warning: revocations: receipt-revoked
registry: notice: revocations: not-in-force
revocations/ada-0ee9e6ecb821a8e4eb7478a361b11af2dd4e4e1399aa4f0cc041538c028db54f.json:5:3: error: revocations: revoked-in-future`},
	}))
}

// A listing that has expired is no failure of an audit, and one that ends soon is sound.
func TestAuditOfValidity(t *testing.T) {
	checktest.Run(t, audits("receipt-validity", []checktest.Case{
		{Name: "expired", World: `base: [{at: "-91d"}, {listing: ada}]`,
			Want: `implementations/ada.json:10:3: warning: receipt-validity: expired`},
		{Name: "ends soon", World: `base: [{at: "-80d"}, {listing: ada}]`, Want: `pass`},
	}))
}
