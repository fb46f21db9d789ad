package checks_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

// Attacks on the seams between checks: each must come out as an honest eye would judge it.
func TestAttackSeams(t *testing.T) {
	checktest.Run(t, []checktest.Case{
		// one re-issue is the owner's; beside it a record that copies the owner's DID under a name of its own
		{Name: "reissue and copy",
			World: `base: [{listing: ada}]
pr: [{reissue: ada}, {listing: eve, did: "did:web:ada.example", key: ada, host: ada.example}]
`,
			Want: `
implementations/ada.json:4:3: warning: layout: duplicate-did
implementations/ada.json:8:3: error: receipt-fetch: receipt-hash-mismatch
implementations/eve.json:4:3: error: layout: duplicate-did`},
		// two new listings of one DID, neither of which stands
		{Name: "twins",
			World: `base: [{listing: ada}]
pr: [{listing: eve}, {listing: eva, did: "did:web:eve.example", key: eve, host: eve.example}]
`,
			Want: `
implementations/eva.json:4:3: error: layout: duplicate-did
implementations/eve.json:4:3: error: layout: duplicate-did
implementations/eve.json:8:3: error: receipt-fetch: receipt-hash-mismatch`},
		// a revocation does not free the DID for somebody's new listing in the same pull request
		{Name: "revoke and relist",
			World: `base: [{listing: ada}]
pr: [{revoke: ada}, {listing: eve, did: "did:web:ada.example", key: ada, host: ada.example}]
`,
			Want: `implementations/eve.json:4:3: error: layout: duplicate-did`},
		// the owner revokes and brings the same Receipt under its slug again: the hash stays revoked
		{Name: "revoke and keep",
			World: `base: [{listing: ada}]
pr: [{revoke: ada}, {edit: implementations/ada.json, set: {/provisional: false}}]
`,
			Want: `
implementations/ada.json:8:3: error: reissue: receipt-unchanged
implementations/ada.json:8:3: error: revocations: receipt-revoked`},
		// a revocation that the pull request takes back in a later commit is none: the witness counts
		{Name: "revoked in passing",
			World: `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
pr:
  - {revoke: ada, key: mallory}
  - {commit: Revoke}
  - {remove: revocations}
  - {listing: nova, level: L4, witness: [ada]}
`,
			Want: `
registry: warning: append-only: squash
revocations/ada-94e5adb886f685db75aa29398706d2015e257628b2bb02a14368fcbd746948dd.json: error: append-only: transient-revocation`},
		// a witness that this pull request revokes does not count, though the revocation itself is refused
		{Name: "witness revoked here",
			World: `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
pr:
  - {revoke: ada, key: mallory}
  - {listing: nova, level: L4, witness: [ada]}
`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-revoked
revocations/ada-94e5adb886f685db75aa29398706d2015e257628b2bb02a14368fcbd746948dd.json:7:3: error: revocations: not-authorised`},
		// a re-issue that makes a witness L4 does not count in the pull request that brings it
		{Name: "witness rising",
			World: `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: cat, level: L1}
  - {listing: dan, level: L1}
pr:
  - {reissue: cat, level: L4, witness: [ada]}
  - {reissue: dan, level: L4, witness: [cat]}
`,
			Want: `
implementations/cat.json:6:3: warning: reissue: unsigned-change
implementations/dan.json:6:3: warning: reissue: unsigned-change
implementations/dan.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/dan.json:7:3: warning: peer-witnesses: witness-not-listed
implementations/dan.json:1:1: error: append-only: several-reissues`},
		// a witness that the pull request takes away: still the deletion fails, not the witness
		{Name: "witness deleted",
			World: `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
pr:
  - {listing: nova, level: L4, witness: [ada]}
  - {remove: implementations/ada.json}
`,
			Want: `implementations/ada.json: error: append-only: deleted`},
		// .gitkeep goes with records; as a link it does not
		{Name: "keep link",
			World: `bare: true
base: [{listing: ada}]
pr:
  - {listing: nova}
  - {write: workflow-anchors/.gitkeep, text: ../implementations/ada.json, mode: "120000"}
`,
			Want: `workflow-anchors/.gitkeep: error: layout: file-mode`},
		// a data directory that was not there, as a link to another
		{Name: "directory link",
			World: `bare: true
base: [{listing: ada}]
pr: [{listing: nova}, {write: revocations, text: implementations, mode: "120000"}]
`,
			Want: `revocations: error: layout: folder-mode`},
		// the policy that would exempt the candidate, in a commit that is undone before the candidate comes
		{Name: "policy in passing",
			World: `base: [{listing: ada}]
pr:
  - {write: .github/gate-policy.yml, text: "version: 1\nreference_server: {tool_did: \"did:web:nova.example\"}\nmaintainers: [\"did:web:mallory.example\"]\n"}
  - {commit: Policy}
  - {remove: .github/gate-policy.yml}
  - {publish: mallory}
  - {listing: nova, level: L4, co_signers: [mallory]}
`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
.github/gate-policy.yml: warning: append-only: governance-in-passing`},
		// no level at all, or one that nobody knows, is not below L4
		{Name: "no such level",
			World: `base: [{listing: ada}]
pr: [{listing: nova, level: L6}]
`,
			Want: `implementations/nova.json:6:3: error: schema: schema-pattern`},
		// the candidate on a platform's own name is not independent of a customer of that platform
		{Name: "platform",
			World: `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: cat, level: L4, witness: [ada], host: cat.github.io}
pr: [{listing: nova, level: L5, host: github.io, provisional: true, witness: [ada, bob, cat]}]
`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-not-independent
implementations/nova.json:6:3: notice: external-audit: audit-declared
implementations/nova.json:12:3: warning: domain-age: provisional-not-needed`,
			Says: []string{`both are under github.io`}},
		// a stranger moves a Manifest that the owner still serves, by a re-issue of the owner's own Receipt
		{Name: "reissue elsewhere",
			World: `base: [{listing: ada}]
pr: [{reissue: ada, set: {/manifest_uri: "https://mallory.example/.well-known/oap-tool.json"}}]
web:
  - {edit: "https://ada.example/.well-known/oap-tool.json", to: "https://mallory.example/.well-known/oap-tool.json"}
`,
			Want: `
implementations/ada.json:5:3: warning: reissue: unsigned-change
implementations/ada.json:5:3: error: manifest-did: manifest-host`},
	})
}
