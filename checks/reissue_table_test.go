package checks_test

import (
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

func TestReissue(t *testing.T) {
	checktest.Run(t, []checktest.Case{
		{Name: "expired", Base: "{listing: ada, issued: -200d}", PR: "{reissue: ada}",
			Want: `registry: notice: revocations: not-in-force`},
		// the level goes up, and down
		{Name: "up", Base: "{listing: ada, level: L1}", PR: "{reissue: ada, level: L3}",
			Want: `implementations/ada.json:6:3: warning: reissue: unsigned-change`},
		{Name: "down", Base: "{listing: ada, level: L3}", PR: "{reissue: ada, level: L0}",
			Want: `implementations/ada.json:6:3: warning: reissue: unsigned-change`},
		// the owner's Receipt in other bytes, which the owner serves: no new one
		{Name: "minified", Base: "{listing: ada}", PR: `{reissue: ada, issued: -10d, tamper: {replace: {"\n": ""}}}`,
			Want: `implementations/ada.json:9:3: error: reissue: receipt-not-newer`},
		{Name: "same second", Base: "{listing: ada, issued: -10d}",
			PR:   `{reissue: ada, issued: "2026-05-22T12:00:01Z"}`,
			Want: `implementations/ada.json:9:3: error: reissue: receipt-not-newer`},
		{Name: "next second", Base: "{listing: ada, issued: -10d}",
			PR: `{reissue: ada, issued: "2026-05-22T12:00:01.001Z"}`, Want: `pass`},
		// a revoked Receipt does not come back by its bytes in another form
		{Name: "revoked minified", Base: "{listing: ada, issued: -10d}, {commit: List}, {revoke: ada}",
			PR: `{reissue: ada, issued: -10d, tamper: {replace: {"\n": ""}}}`, Want: `
implementations/ada.json:9:3: error: reissue: receipt-not-newer
implementations/ada.json:8:3: error: revocations: receipt-revoked
registry: notice: revocations: not-in-force`},
		// ... nor while the merged one is dated ahead of the clock, as far as it may be
		{Name: "ahead minified", Base: `{at: "-1m"}, {listing: ada, issued: "+4m"}`,
			PR:   `{reissue: ada, issued: "+4m", tamper: {replace: {"\n": ""}}}`,
			Want: `implementations/ada.json:9:3: error: reissue: receipt-not-newer`},
		{Name: "ahead revoked", Base: `{at: "-2m"}, {listing: ada, issued: "+2m"}, {commit: List}, {revoke: ada}`,
			PR: `{reissue: ada, issued: "+2m", tamper: {replace: {"\n": ""}}}`, Want: `
implementations/ada.json:9:3: error: reissue: receipt-not-newer
registry: notice: revocations: not-in-force`},
		// a Receipt that signs no time is not newer
		{Name: "no time", Base: "{listing: ada}", PR: "{reissue: ada, receipt: {delete: [/validity/not_before]}}",
			Want: `implementations/ada.json:7:3: error: receipt-validity: validity-missing`},
		{Name: "no time, without receipt-validity", Skip: "receipt-validity", Base: "{listing: ada}",
			PR:   "{reissue: ada, receipt: {delete: [/validity/not_before]}}",
			Want: `implementations/ada.json:8:3: error: reissue: validity-missing`},
		// a Receipt by another key: one error, where the signature is judged
		{Name: "stranger", Base: "{listing: ada}", PR: "{reissue: ada, signing_key: mallory}",
			Want: `implementations/ada.json:7:3: error: receipt-signature: signature-not-verified`,
			Says: []string{`reissue +skip +receipt-signature failed`}},
		{Name: "stranger, without receipt-signature", Skip: "receipt-signature", Base: "{listing: ada}",
			PR:   "{reissue: ada, signing_key: mallory}",
			Want: `implementations/ada.json:8:3: error: reissue: receipt-not-signed`},
		{Name: "stranger and slug", Base: "{listing: ada}",
			PR: "{reissue: ada, signing_key: mallory, set: {/slug: lovelace}}", Want: `
implementations/ada.json:2:3: error: reissue: slug-changed
implementations/ada.json:7:3: error: receipt-signature: signature-not-verified`},
		{Name: "no Receipt and slug",
			World: `web: [{url: "https://ada.example/oap-conformance-receipt.json", status: 404}]`,
			Base:  "{listing: ada}", PR: "{reissue: ada, set: {/slug: lovelace}}", Want: `
implementations/ada.json:2:3: error: reissue: slug-changed
implementations/ada.json:7:3: error: receipt-fetch: http-status`},
		// nothing is compared with words that nobody signed
		{Name: "stranger name", Base: "{listing: ada}",
			PR:   "{reissue: ada, signing_key: mallory, set: {/name: Ada Pro}}",
			Want: `implementations/ada.json:7:3: error: receipt-signature: signature-not-verified`},
		// an implementation of the attacker's takes the slug over, honest in all else
		{Name: "takeover", Base: "{listing: ada}", PR: "{reissue: ada, host: mallory.example, key: mallory}", Want: `
implementations/ada.json:4:3: error: reissue: did-changed
implementations/ada.json:5:3: warning: reissue: unsigned-change
implementations/ada.json:7:3: warning: reissue: unsigned-change
implementations/ada.json:12:3: warning: reissue: unsigned-change`,
			Says: []string{`implementations/ada.json:4:3: error: reissue: tool_did changes from "did:web:ada.example" to "did:web:mallory.example"`}},
		// another slug in the file
		{Name: "slug", Base: "{listing: ada}", PR: "{reissue: ada, set: {/slug: lovelace}}",
			Want: `implementations/ada.json:2:3: error: reissue: slug-changed`},
		// ... even one that mends a standing fault: the slug is what revocations name
		{Name: "slug mended", Base: "{listing: ada, set: {/slug: lovelace}}", PR: "{reissue: ada}",
			Want: `implementations/ada.json:2:3: error: reissue: slug-changed`},
		// --- what changes besides ---
		// a name that the Receipt signs; one that it does not
		{Name: "name", Base: "{listing: ada}", PR: "{reissue: ada, name: Countess}", Want: `pass`},
		{Name: "other name", Base: "{listing: ada}", PR: "{reissue: ada, set: {/name: Ada Pro}}",
			Want: `implementations/ada.json:3:3: error: reissue: name-not-signed`,
			Says: []string{`implementations/ada.json:3:3: error: reissue: name changes from "Ada" to "Ada Pro", the Receipt signs "Ada"`}},
		// less than the highest level claimed
		{Name: "low", Base: "{listing: ada}", PR: "{reissue: ada, receipt: {set: {/claimed_levels: [L1, L2]}}}",
			Want: `implementations/ada.json:6:3: error: reissue: level-not-highest`,
			Says: []string{`implementations/ada.json:6:3: error: reissue: conformance_level is "L1", the highest that the Receipt claims is "L2"`}},
		// none that a listing can have
		{Name: "worker", Skip: "receipt-claims", Base: "{listing: ada}",
			PR:   "{reissue: ada, receipt: {set: {/claimed_levels: [W1]}}}",
			Want: `implementations/ada.json:6:3: error: reissue: level-not-highest`,
			Says: []string{`the Receipt claims W1, which is not a level of a listing`, `fix: attest at one of L0 to L5`}},
		// provisional on a domain that is old enough; on one whose age nobody knows; kept; dropped
		{Name: "provisional", Base: "{listing: ada}", PR: "{reissue: ada, provisional: true}", Want: `
implementations/ada.json:12:3: error: reissue: provisional-set
implementations/ada.json:12:3: warning: domain-age: provisional-not-needed`},
		{Name: "provisional needed", Base: "{listing: ada, registered: none}", PR: "{reissue: ada, provisional: true}",
			Want: `implementations/ada.json:12:3: notice: domain-age: provisional`},
		{Name: "provisional, and a policy that cannot be read", Only: "reissue", World: `policy: "["`,
			Base: "{listing: ada}", PR: "{reissue: ada, provisional: true}",
			Want: `implementations/ada.json:12:3: inconclusive: reissue: provisional-set`},
		{Name: "provisional kept", Base: "{listing: ada, provisional: true}", PR: "{reissue: ada}",
			Want: `implementations/ada.json:12:3: warning: domain-age: provisional-not-needed`},
		{Name: "provisional dropped", Base: "{listing: ada, provisional: true}",
			PR: "{reissue: ada, provisional: false}", Want: `pass`},
		// provisional is set and the age cannot be had: nothing is decided
		{Name: "provisional unsure", World: "web: [{domain: ada.example, registered: none, rdap: {status: 503}}]",
			Base: "{listing: ada}", PR: "{reissue: ada, provisional: true}", Want: `
implementations/ada.json:12:3: inconclusive: reissue: provisional-set
implementations/ada.json:12:3: notice: domain-age: provisional`},
		// no signature speaks of other members: a warning with old and new
		{Name: "contact", Base: "{listing: ada}",
			PR: "{reissue: ada, set: {/contact: new@ada.example}, delete: [/license]}", Want: `
implementations/ada.json:1:1: warning: reissue: unsigned-change
implementations/ada.json:11:3: warning: reissue: unsigned-change`,
			Says: []string{
				`contact changes from "contact@ada.example" to "new@ada.example"`,
				`license changes from "Apache-2.0" to nothing`,
			}},
		{Name: "honest", Base: "{listing: ada}", PR: "{reissue: ada}", Want: `pass`},
		// --- a merged issued_at that says nothing ---
		// in the future, or unreadable: the commit that brought it counts
		{Name: "future", Base: `{listing: ada, set: {/issued_at: "2036-01-01T00:00:00Z"}}`, PR: "{reissue: ada}",
			Want: `pass`},
		{Name: "future older", Base: `{listing: ada, set: {/issued_at: "2036-01-01T00:00:00Z"}}`,
			PR:   "{reissue: ada, issued: -11d}",
			Want: `implementations/ada.json:9:3: error: reissue: receipt-not-newer`},
		{Name: "unreadable", Base: `{listing: ada, set: {/issued_at: "soon"}}`, PR: "{reissue: ada}", Want: `pass`},
		{Name: "unreadable older", Base: `{commit: Begin}, {listing: ada, set: {/issued_at: "soon"}}`,
			PR: "{reissue: ada, issued: -11d}", Want: `implementations/ada.json:9:3: error: reissue: receipt-not-newer`,
			Says: []string{`the merged listing was issued at 2026-05-22T12:01:00Z`}},
		// --- a merged listing with faults that no re-issue can mend is renewed ---
		{Name: "two of one", Base: `{listing: ada}, {listing: bob, did: "did:web:ada.example", key: ada}`,
			PR: "{reissue: ada}", Want: `
implementations/ada.json:4:3: warning: layout: duplicate-did
implementations/bob.json: warning: layout: duplicate-did`},
		{Name: "spelling", Base: `{listing: ada, did: "did:web:Ada.example"}`, PR: "{reissue: ada}",
			Want: `implementations/ada.json:4:3: warning: layout: did-spelling`},
		// a listing that cannot be read belongs to nobody
		{Name: "unreadable base",
			World: `base: [{listing: ada, body: "{"}]
pr: [{reissue: ada}]
`,
			Want: `implementations/ada.json:1:1: error: reissue: base-unreadable`},
	})
}

// A merged listing that cannot be read is restored, removed or left, by what its history held.
func TestReissueOfUnreadable(t *testing.T) {
	checktest.Run(t, only("reissue", []checktest.Case{
		{Name: "it was a record", Base: `{listing: ada}, {commit: List}, {write: implementations/ada.json, text: "{"}`,
			PR:   "{listing: bob}, {move: [implementations/bob.json, implementations/ada.json]}",
			Want: `implementations/ada.json:1:1: error: reissue: base-unreadable`,
			Says: []string{`fix: restore it first, in a pull request of its own: git checkout [0-9a-f]{40} -- implementations/ada.json`}},
		{Name: "it was no record", Base: `{write: implementations/ada.json, text: "{"}, {listing: cyd}`,
			PR: "{listing: ada}", Want: `implementations/ada.json:1:1: error: reissue: base-unreadable`,
			Says: []string{`fix: remove the file in a pull request of its own, then list the implementation again: git rm implementations/ada.json`}},
		{Name: "it has a pinned hash", World: `
base: [{listing: cyd}, {commit: List}, {write: implementations/ada.json, text: "{ $pin(cyd)"}]
pr: [{listing: ada}]
`,
			Want: `implementations/ada.json:1:1: error: reissue: base-unreadable`,
			Says: []string{`fix: list the implementation under a new slug`}},
	}))
}

// Only what the Receipt signs, and what a re-issue may change, is judged of a renewal.
func TestReissueSigned(t *testing.T) {
	checktest.Run(t, only("reissue", []checktest.Case{
		{Name: "not signed by the owner", Base: "{listing: ada}", PR: "{reissue: ada, signing_key: eve}",
			Want: `implementations/ada.json:8:3: error: reissue: receipt-not-signed`},
		{Name: "no dates", Base: "{listing: ada}", PR: "{reissue: ada, receipt: {delete: [/validity]}}",
			Want: `implementations/ada.json:8:3: error: reissue: validity-missing`},
		{Name: "no Receipt", World: `web: [{url: "https://ada.example/oap-conformance-receipt.json", status: 404}]`,
			Base: "{listing: ada}", PR: "{reissue: ada}",
			Want: `implementations/ada.json:1:1: error: reissue: http-status`},
		{Name: "no Receipt, and another slug",
			World: `web: [{url: "https://ada.example/oap-conformance-receipt.json", status: 404}]`,
			Base:  "{listing: ada}", PR: "{reissue: ada, set: {/slug: bob}}", Want: `
implementations/ada.json:1:1: error: reissue: http-status
implementations/ada.json:2:3: error: reissue: slug-changed`},
		{Name: "a Receipt that does not answer, and another slug",
			World: `web: [{url: "https://ada.example/oap-conformance-receipt.json", status: 503}]`,
			Base:  "{listing: ada}", PR: "{reissue: ada, set: {/slug: bob}}", Want: `
implementations/ada.json:1:1: inconclusive: reissue: http-status
implementations/ada.json:2:3: error: reissue: slug-changed`},
		{Name: "a member comes, one goes, one is long", World: `
base: [{listing: ada}]
pr: [{reissue: ada, set: {/provisional: false, /x~1y: 1, /license: "` + strings.Repeat("a", 300) + `"}, delete: [/contact]}]
`, Want: `
implementations/ada.json:1:1: warning: reissue: unsigned-change
implementations/ada.json:11:3: warning: reissue: unsigned-change
implementations/ada.json:13:3: warning: reissue: unsigned-change`,
			Says: []string{`contact changes from "contact@ada.example" to nothing`, `x/y changes from nothing to 1`, `license changes from "Apache-2.0" to "a{199}…`}},
		{Name: "provisional again on an old domain", Base: "{listing: ada}", PR: "{reissue: ada, provisional: true}",
			Want: `implementations/ada.json:12:3: error: reissue: provisional-set`},
		{Name: "provisional again on a domain of unknown age", Base: "{listing: ada, registered: none}",
			PR: "{reissue: ada, provisional: true}", Want: `pass`},
		{Name: "issued in the future of then",
			Base: `{at: "-10d"}, {listing: ada, set: {/issued_at: "2027-01-01T00:00:00Z"}}`, PR: "{reissue: ada}",
			Want: `pass`},
		{Name: "no date then", Base: `{listing: ada, set: {/issued_at: "some day"}}`, PR: "{reissue: ada}",
			Want: `pass`},
		{Name: "only the lowest level", Base: "{listing: ada}",
			PR:   "{reissue: ada, receipt: {set: {/claimed_levels: [L0]}}}",
			Want: `implementations/ada.json:6:3: error: reissue: level-not-highest`,
			Says: []string{`the highest that the Receipt claims is "L0"`, `fix: set conformance_level to "L0"`}},
		{Name: "levels that are none", World: `
base: [{listing: ada}]
pr: [{reissue: ada, receipt: {set: {/claimed_levels: [L9]}}}]
`, Want: `implementations/ada.json:6:3: error: reissue: level-not-highest`},
	}))
}

// Attacks on the seams between checks: each must come out as an honest eye would judge it.
func TestAttackSeams(t *testing.T) {
	checktest.Run(t, []checktest.Case{
		// one re-issue is the owner's; beside it a record that copies the owner's DID under a name of its own
		{Name: "reissue and copy", Base: "{listing: ada}",
			PR: `{reissue: ada}, {listing: eve, did: "did:web:ada.example", key: ada, host: ada.example}`, Want: `
implementations/ada.json:4:3: warning: layout: duplicate-did
implementations/ada.json:8:3: error: receipt-fetch: receipt-hash-mismatch
implementations/eve.json:4:3: error: layout: duplicate-did`},
		// two new listings of one DID; the base tree has neither
		{Name: "twins", Base: "{listing: ada}",
			PR: `{listing: eve}, {listing: eva, did: "did:web:eve.example", key: eve, host: eve.example}`, Want: `
implementations/eva.json:4:3: error: layout: duplicate-did
implementations/eve.json:4:3: error: layout: duplicate-did
implementations/eve.json:8:3: error: receipt-fetch: receipt-hash-mismatch`},
		// a revocation does not free the DID for somebody's new listing in the same pull request
		{Name: "revoke and relist", Base: "{listing: ada}",
			PR:   `{revoke: ada}, {listing: eve, did: "did:web:ada.example", key: ada, host: ada.example}`,
			Want: `implementations/eve.json:4:3: error: layout: duplicate-did`},
		// the owner revokes and brings the same Receipt under its slug again: the hash stays revoked
		{Name: "revoke and keep", Base: "{listing: ada}",
			PR: "{revoke: ada}, {edit: implementations/ada.json, set: {/provisional: false}}", Want: `
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
			Base: "{listing: ada, level: L4, witness: [bob]}, {listing: bob, level: L4, witness: [ada]}",
			PR:   "{revoke: ada, key: mallory}, {listing: nova, level: L4, witness: [ada]}", Want: `
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
			Base: "{listing: ada, level: L4, witness: [bob]}, {listing: bob, level: L4, witness: [ada]}",
			PR:   "{listing: nova, level: L4, witness: [ada]}, {remove: implementations/ada.json}",
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
		{Name: "directory link", World: "bare: true", Base: "{listing: ada}",
			PR:   `{listing: nova}, {write: revocations, text: implementations, mode: "120000"}`,
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
		{Name: "no such level", Base: "{listing: ada}", PR: "{listing: nova, level: L6}",
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

// Every listing of the registry is expired, revoked or unreachable, and more stands that should not. Whoever's own
// sites answer can list, renew and revoke.
func TestDeadlock(t *testing.T) {
	checktest.Run(t, []checktest.Case{
		// a new honest listing, up to L3, with provisional where the domain is young
		{Name: "new l0", World: `web: [{url: "https://ada.example/.well-known/did.json", reset: true}]`,
			Base: "{listing: ada, issued: -200d}, {listing: bob}, {revoke: bob}", PR: "{listing: nova, level: L0}",
			Want: `registry: notice: revocations: not-in-force`},
		{Name: "new l1nc", Base: "{listing: ada, issued: -200d}, {listing: bob}, {revoke: bob}",
			PR: "{listing: nova, level: L1-NC}", Want: `registry: notice: revocations: not-in-force`},
		{Name: "new l3", Base: "{listing: ada, issued: -200d}, {listing: bob}, {revoke: bob}",
			PR: "{listing: nova, level: L3}", Want: `registry: notice: revocations: not-in-force`},
		{Name: "new young", Base: "{listing: ada, issued: -200d}",
			PR: "{listing: nova, registered: -3d, provisional: true}", Want: `
implementations/nova.json:12:3: notice: domain-age: provisional
registry: notice: revocations: not-in-force`},
		// a renewal of an expired listing, of a revoked one, of one with faults that no re-issue can mend
		{Name: "renew expired", Base: "{at: -200d}, {listing: ada}, {listing: bob}, {revoke: bob}",
			PR: "{reissue: ada}", Want: `registry: notice: revocations: not-in-force`},
		{Name: "renew revoked", Base: "{listing: ada}, {revoke: ada}", PR: "{reissue: ada}",
			Want: `registry: notice: revocations: not-in-force`},
		{Name: "renew faulty",
			World: `base:
  - {at: -200d}
  - {listing: ada, did: "did:web:Ada.example", set: {/trusted: true}}
  - {listing: bob, did: "did:web:Ada.example", key: ada}
  - {write: implementations/Readme.txt, text: "?"}
  - {write: revocations/x/y.json, text: "{"}
pr: [{reissue: ada}]
`,
			Want: `
implementations/Readme.txt:1:1: warning: layout: misplaced-file
implementations/ada.json:4:3: warning: layout: did-spelling
implementations/ada.json:4:3: warning: layout: duplicate-did
implementations/ada.json:1:1: warning: reissue: unsigned-change
implementations/bob.json: warning: layout: duplicate-did
implementations/bob.json:4:3: warning: layout: did-spelling
registry: notice: revocations: not-in-force
revocations/x/y.json:1:1: warning: layout: misplaced-file`},
		// a listing that stood at L4 comes back at L3
		{Name: "renew l4",
			Base: "{at: -200d}, {listing: ada, level: L4, witness: [bob]}, {listing: bob, level: L4, witness: [ada]}",
			PR:   "{reissue: ada, level: L3, witness: []}", Want: `
implementations/ada.json:6:3: warning: reissue: unsigned-change
registry: notice: revocations: not-in-force`},
		// a self-revocation by the owner of an expired listing, of a Receipt pinned before, of one at L5
		{Name: "revoke expired", Base: "{listing: ada, issued: -200d}", PR: "{revoke: ada}",
			Want: `registry: notice: revocations: not-in-force`},
		{Name: "revoke older", Base: "{at: -200d}, {listing: ada}, {commit: One}, {at: -150d}, {reissue: ada}",
			PR: "{revoke: ada, number: 1}", Want: `registry: notice: revocations: not-in-force`},
		{Name: "revoke l5",
			World: `base:
  - {at: -200d}
  - {listing: ada, level: L5, witness: [bob, cora, dora]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: cora, level: L4, witness: [ada]}
  - {listing: dora, level: L4, witness: [ada]}
pr: [{revoke: ada}]
`,
			Want: `registry: notice: revocations: not-in-force`},
		// the same with a gate policy that cannot be read
		{Name: "policy",
			World: `policy: "version: 7\n"
base: [{listing: ada, issued: -200d}]
pr: [{reissue: ada}, {listing: nova, level: L3}]
`,
			Want: `
implementations/ada.json:1:1: inconclusive: manifest-did: policy-unreadable
implementations/ada.json:1:1: inconclusive: domain-age: policy-unreadable
implementations/nova.json:1:1: inconclusive: manifest-did: policy-unreadable
implementations/nova.json:1:1: inconclusive: domain-age: policy-unreadable
.github/gate-policy.yml: warning: peer-witnesses: policy-broken
registry: notice: revocations: not-in-force`},
	})
}
