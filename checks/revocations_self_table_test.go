package checks_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

// A revocation by the implementation itself (RFC 0026 section 5), and what any revocation must say.
func TestRevocationsSelf(t *testing.T) {
	const (
		base = `base:
  - {listing: eve}
  - {listing: fay}
`
		lax = `base:
  - {listing: eve}
  - {write: schemas/revocation.schema.json, text: "{\"$schema\": \"https://json-schema.org/draft/2020-12/schema\", \"type\": \"object\"}"}
`
		honest = `pr: [{revoke: eve}]
`
		revoked = `  - {revoke: eve}
`
		elseWorld = `pr: [{listing: else}]
`
		textForm = `pr: [{revoke: eve, tamper: {set: {/signature: "ed25519:q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQ"}}}]
`
		moved = `  - {commit: Revoke}
  - {move: [revocations/eve-$pin(eve).json, a.md]}
pr: [{move: [a.md, revocations/eve-$pin(eve).json]}]
`
		didGone = `web: [{url: "https://eve.example/.well-known/did.json", status: 404}]
`
		noSuchReason = `pr: [{revoke: eve, reason: boredom}]
`
	)
	checktest.Run(t, []checktest.Case{
		// the listing is reported as revoked from then on, and blocks nobody
		{Name: "revoked, else", World: base + revoked + elseWorld,
			Want: `registry: notice: revocations: not-in-force`,
			Says: []string{`the base tree holds 2 listings, 0 expired and 1 revoked`,
				`revocations +pass +the pinned Receipt is not revoked`}},
		// every reason of the schema; a listing that is expired, provisional or by did:key
		{Name: "reasons",
			World: base + `  - {listing: a1}
  - {listing: a2}
  - {listing: a3}
  - {listing: a4}
  - {listing: a5}
  - {listing: a6}
  - {listing: a7}
pr:
  - {revoke: a1, reason: key_compromise}
  - {revoke: a2, reason: manifest_non_conformance}
  - {revoke: a3, reason: superseded}
  - {revoke: a4, reason: voluntary_withdrawal}
  - {revoke: a5, reason: dispute_resolved_against}
  - {revoke: a6, reason: failed_safety_eval}
  - {revoke: a7, reason: frontier_capability_misuse}
`,
			Want: `pass`},
		{Name: "expired", World: base + `  - {commit: Begin}
  - {at: -91d}
  - {listing: old}`,
			PR: "{revoke: old}", Want: `registry: notice: revocations: not-in-force`},
		{Name: "provisional", World: base + "  - {listing: pro, provisional: true, registered: -11d}",
			PR: "{revoke: pro}", Want: `pass`},
		{Name: "key", World: base + "  - {listing: kay, did: key}", PR: "{revoke: kay}", Want: `pass`},
		// an earlier Receipt, also beside its renewal in one pull request
		{Name: "earlier", World: base + `  - {commit: List}
  - {at: -5d}
  - {reissue: eve}`,
			PR: "{revoke: eve, number: 1}", Want: `pass`},
		{Name: "renewed and revoked", World: base, PR: "{reissue: eve}, {revoke: eve, number: 1}", Want: `pass`},
		// anyone can sign by a published key
		{Name: "by a published key",
			World: base + honest + `web:
  - {edit: "https://eve.example/.well-known/did.json", set: {/verificationMethod/0/publicKeyJwk/x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}}
`,
			Want: `revocations/eve-6cc6e029f37950573adefc72ee978473693918e13deb4d6c84281cab8b79f4dc.json:7:3: error: revocations: did-published-key`,
			Says: []string{`is published: its private half is in RFC 8032`, `fix: make a new key with oap-gate key new FILE`}},
		// a key that came into the DID Document later may revoke: the old one may be lost
		{Name: "recovery",
			World: base + `pr: [{revoke: eve, key: spare}]
web:
  - {edit: "https://eve.example/.well-known/did.json", set: {/verificationMethod/0/publicKeyJwk/x: $jwk(spare)}}
`,
			Want: `pass`},
		{Name: "forged", World: base, PR: "{revoke: eve, key: mallory}",
			Want: `revocations/eve-6cc6e029f37950573adefc72ee978473693918e13deb4d6c84281cab8b79f4dc.json:7:3: error: revocations: not-authorised`,
			Says: []string{`signature verifies under no Ed25519 key of did:web:eve.example`}},
		// another listing's owner
		{Name: "other owner", World: base, PR: "{revoke: eve, by: fay}",
			Want: `revocations/eve-6cc6e029f37950573adefc72ee978473693918e13deb4d6c84281cab8b79f4dc.json:7:3: error: revocations: not-authorised`,
			Says: []string{`\(revoked_by_did is "did:web:fay.example", the listing's tool_did is "did:web:eve.example"\)`,
				`fix: sign the canonical JSON `}},
		// the owner's DID in another spelling is the listing's
		{Name: "spelt", World: base, PR: `{revoke: eve, revocation: {set: {/revoked_by_did: "did:web:eve.example."}}}`,
			Want: `pass`},
		// any member changed or added after it was signed
		{Name: "changed reason", World: base, PR: "{revoke: eve, tamper: {set: {/reason: key_compromise}}}",
			Want: `revocations/eve-6cc6e029f37950573adefc72ee978473693918e13deb4d6c84281cab8b79f4dc.json:7:3: error: revocations: not-authorised`},
		{Name: "added evidence", World: base,
			PR:   `{revoke: eve, tamper: {set: {/evidence_uri: "https://eve.example/incident"}}}`,
			Want: `revocations/eve-6cc6e029f37950573adefc72ee978473693918e13deb4d6c84281cab8b79f4dc.json:7:3: error: revocations: not-authorised`},
		// the owner's signature of another revocation
		{Name: "borrowed signature",
			World: base + `pr:
  - {revoke: eve, revocation: {set: {/evidence_uri: "https://eve.example/one"}}, tamper: {set: {/evidence_uri: "https://eve.example/two"}}}
`,
			Want: `revocations/eve-6cc6e029f37950573adefc72ee978473693918e13deb4d6c84281cab8b79f4dc.json:8:3: error: revocations: not-authorised`},
		// another algorithm, where the base tree's schema lets it pass
		{Name: "lax, other algorithm", World: lax, PR: "{revoke: eve, tamper: {set: {/signature/alg: ES256}}}",
			Want: `revocations/eve-6cc6e029f37950573adefc72ee978473693918e13deb4d6c84281cab8b79f4dc.json:7:3: error: revocations: not-authorised`},
		// the older text form: the schema says how to write it, or this check where the schema lets it pass
		{Name: "text form", World: base + textForm,
			Want: `revocations/eve-6cc6e029f37950573adefc72ee978473693918e13deb4d6c84281cab8b79f4dc.json:7:3: error: schema: schema-type`,
			Says: []string{`fix: write it as an object: "signature": `}},
		{Name: "lax, text form", World: lax + textForm,
			Want: `revocations/eve-6cc6e029f37950573adefc72ee978473693918e13deb4d6c84281cab8b79f4dc.json:7:3: error: revocations: signature-form`,
			Says: []string{`fix: write it as an object: "signature": `}},
		{Name: "text form, mended by another", World: base + "  - {revoke: eve, tamper: {set: {/signature: x}}}\n" +
			"  - {commit: Revoke}\npr: [{remove: revocations/eve-$pin(eve).json}, {revoke: eve, key: mallory}]\n",
			Want: `
revocations/eve-6cc6e029f37950573adefc72ee978473693918e13deb4d6c84281cab8b79f4dc.json: warning: append-only: governance
registry: notice: revocations: not-in-force
revocations/eve-6cc6e029f37950573adefc72ee978473693918e13deb4d6c84281cab8b79f4dc.json:7:3: error: revocations: not-authorised`},
		{Name: "text form, only revocations", Only: "revocations", World: base + textForm,
			Want: `revocations/eve-6cc6e029f37950573adefc72ee978473693918e13deb4d6c84281cab8b79f4dc.json:7:3: error: revocations: signature-form`},
		// the owner's DID Document is gone, is another's, or could not be had
		{Name: "honest, did gone", World: base + honest + didGone,
			Want: `revocations/eve-6cc6e029f37950573adefc72ee978473693918e13deb4d6c84281cab8b79f4dc.json:7:3: error: revocations: not-authorised`,
			Says: []string{`not signed by the owner \(did:web:eve.example: `,
				`fix: serve the DID Document of did:web:eve.example with the key that signed, or have three independent `}},
		{Name: "honest, did other",
			World: base + honest + `web: [{edit: "https://eve.example/.well-known/did.json", set: {/id: "did:web:else.example"}}]`,
			Want:  `revocations/eve-6cc6e029f37950573adefc72ee978473693918e13deb4d6c84281cab8b79f4dc.json:7:3: error: revocations: not-authorised`},
		{Name: "honest, did 503",
			World: base + honest + `web: [{url: "https://eve.example/.well-known/did.json", status: 503, header: {retry-after: "3600"}}]`,
			Want:  `revocations/eve-6cc6e029f37950573adefc72ee978473693918e13deb4d6c84281cab8b79f4dc.json:7:3: inconclusive: revocations: owner-open`,
			Says:  []string{`fix: try again after 2026-06-01T13:00:00Z`}},
		// neither Receipt nor Manifest of the owner is asked for
		{Name: "honest, all else gone",
			World: base + honest + `web:
  - {url: "https://eve.example/.well-known/oap-tool.json", status: 404}
  - {url: "https://eve.example/oap-conformance-receipt.json", status: 404}
`,
			Want: `pass`},
		// --- what is revoked ---
		// no listing of that slug in the base tree: none at all, or one that this pull request brings
		{Name: "no listing", World: base, PR: "{publish: nova}, {revoke: nova, sha256: $pin(eve)}",
			Want: `revocations/nova-6cc6e029f37950573adefc72ee978473693918e13deb4d6c84281cab8b79f4dc.json:2:3: error: revocations: revokes-nothing`,
			Says: []string{`revocations/nova-[0-9a-f]{64}.json:2:3: error: revocations: no commit of the base listed slug "nova"`}},
		{Name: "lists and revokes", World: base, PR: "{listing: nova}, {revoke: nova}", Want: `
implementations/nova.json:8:3: error: revocations: receipt-revoked
revocations/nova-785354bed26ea50032af4ef3636a4d541ff1b80f9974809e4a27fd627bd3f92c.json:2:3: error: revocations: revokes-nothing`},
		// a hash that the listing has never pinned, that another slug pins, or that only this pull request pins
		{Name: "never pinned", World: base,
			PR:   `{revoke: eve, sha256: "0000000000000000000000000000000000000000000000000000000000000000"}`,
			Want: `revocations/eve-0000000000000000000000000000000000000000000000000000000000000000.json:3:3: error: revocations: never-pinned`,
			Says: []string{
				`revocations/eve-0+.json:3:3: error: revocations: implementations/eve.json neither pins 0+ nor has ever pinned it`,
				`fix: set revoked_receipt_sha256 to the hash that the listing pins, name the file by it, and sign again: [0-9a-f]{64}`,
			}},
		{Name: "others pin", World: base, PR: "{revoke: eve, sha256: $pin(fay)}",
			Want: `revocations/eve-8a28faf125e6f65597524cf9b329115286ec4e44ab4a3701e59af1ea9de0703b.json:3:3: error: revocations: never-pinned`},
		{Name: "pins and revokes", World: base, PR: "{reissue: eve}, {revoke: eve}", Want: `
implementations/eve.json:8:3: error: revocations: receipt-revoked
revocations/eve-5df95f42b1f059e344d16dd7907d8b9fd1d7a4e6e5b02c5ff83323ed79157e59.json:3:3: error: revocations: never-pinned`},
		// --- nothing revoked is listed ---
		// a Receipt revoked in the base tree comes back under its slug
		{Name: "comes back", World: base + `  - {listing: dan, issued: -5d}
  - {revoke: dan}
  - {commit: List and revoke}
  - {remove: implementations/dan.json}`,
			PR:   "{reissue: dan, issued: -5d}",
			Want: `implementations/dan.json:8:3: error: revocations: receipt-revoked`,
			Says: []string{`implementations/dan.json:8:3: error: revocations: the pinned Receipt is revoked by revocations/dan-`}},
		// ... as a re-issue, which reissue refuses too: it is not newer
		{Name: "comes back reissued", World: base + `  - {listing: dan, issued: -9d}
  - {revoke: dan}
  - {commit: List and revoke}
  - {reissue: dan, issued: -5d}`,
			PR: "{reissue: dan, issued: -9d}", Want: `
implementations/dan.json:9:3: error: reissue: receipt-not-newer
implementations/dan.json:8:3: error: revocations: receipt-revoked`},
		// ... nor does one that was issued before it
		{Name: "a later one is revoked",
			World: base + `  - {listing: dan, issued: -15d}
  - {commit: List}
  - {at: -4d}
  - {reissue: dan, issued: -5d}
  - {revoke: dan}
  - {commit: Renew and revoke}
pr: [{reissue: dan, issued: -7d}]
`,
			Want: `
implementations/dan.json:9:3: error: reissue: receipt-not-newer
implementations/dan.json:8:3: error: revocations: receipt-revoked
registry: notice: revocations: not-in-force`,
			Says: []string{`the pinned Receipt, or a later one of the same implementation, is revoked by revocations/dan-`}},
		// ... whatever the revocation's text is by now: it is in force by its name
		{Name: "comes back broken", World: base + `  - {listing: dan, issued: -5d}
  - {commit: List}
  - {write: revocations/dan-$pin(dan).json, text: "nothing to read"}
  - {remove: implementations/dan.json}`,
			PR: "{reissue: dan, issued: -5d}", Want: `
implementations/dan.json:8:3: error: revocations: receipt-revoked
revocations/dan-87d8611a4a5b60fa8e4a709262b9e80edc1deef6a5cb581a2bb3cee3fdf09609.json:1:2: warning: layout: json-syntax`},
		// the same hash revoked under another slug says nothing of this one
		{Name: "other slug", World: base + `  - {write: revocations/dan-$pin(eve).json, text: "{}"}`,
			PR: "{reissue: fay}", Want: `
revocations/dan-6cc6e029f37950573adefc72ee978473693918e13deb4d6c84281cab8b79f4dc.json:1:1: warning: layout: slug-mismatch
revocations/dan-6cc6e029f37950573adefc72ee978473693918e13deb4d6c84281cab8b79f4dc.json:1:1: warning: layout: revocation-name
revocations/dan-6cc6e029f37950573adefc72ee978473693918e13deb4d6c84281cab8b79f4dc.json:1:1: warning: schema: schema-required
revocations/dan-6cc6e029f37950573adefc72ee978473693918e13deb4d6c84281cab8b79f4dc.json:1:1: warning: schema: schema-required
revocations/dan-6cc6e029f37950573adefc72ee978473693918e13deb4d6c84281cab8b79f4dc.json:1:1: warning: schema: schema-required
revocations/dan-6cc6e029f37950573adefc72ee978473693918e13deb4d6c84281cab8b79f4dc.json:1:1: warning: schema: schema-required
revocations/dan-6cc6e029f37950573adefc72ee978473693918e13deb4d6c84281cab8b79f4dc.json:1:1: warning: schema: schema-required
revocations/dan-6cc6e029f37950573adefc72ee978473693918e13deb4d6c84281cab8b79f4dc.json:1:1: warning: schema: schema-required`},
		// --- reason and time ---
		{Name: "no such reason", World: base + noSuchReason,
			Want: `revocations/eve-6cc6e029f37950573adefc72ee978473693918e13deb4d6c84281cab8b79f4dc.json:4:3: error: schema: schema-enum`},
		{Name: "lax, no such reason", World: lax + noSuchReason,
			Want: `revocations/eve-6cc6e029f37950573adefc72ee978473693918e13deb4d6c84281cab8b79f4dc.json:4:3: error: revocations: no-such-reason`},
		{Name: "ahead 5m", World: base, PR: "{at: +0s}, {revoke: eve, at: +5m}", Want: `pass`},
		{Name: "ahead", World: base, PR: "{revoke: eve, at: +5m1s}",
			Want: `revocations/eve-6cc6e029f37950573adefc72ee978473693918e13deb4d6c84281cab8b79f4dc.json:5:3: error: revocations: revoked-in-future`,
			Says: []string{`revocations/eve-[0-9a-f]{64}.json:5:3: error: revocations: revoked_at is 2026-06-01T12:05:01Z, later than the evaluation time 2026-06-01T12:00:00Z`,
				`fix: set revoked_at to now, and sign again`}},
		{Name: "leap", World: base, PR: `{revoke: eve, revocation: {set: {/revoked_at: "2016-12-31T23:59:60Z"}}}`,
			Want: `revocations/eve-6cc6e029f37950573adefc72ee978473693918e13deb4d6c84281cab8b79f4dc.json:5:3: error: schema: unreadable-time`},
		{Name: "leap, only revocations", Only: "revocations", World: base,
			PR:   `{revoke: eve, revocation: {set: {/revoked_at: "2016-12-31T23:59:60Z"}}}`,
			Want: `revocations/eve-6cc6e029f37950573adefc72ee978473693918e13deb4d6c84281cab8b79f4dc.json:5:3: error: revocations: unreadable-time`},
		{Name: "at issue", World: base, PR: `{revoke: eve, at: "2026-05-22T12:00:00Z"}`, Want: `pass`},
		{Name: "before issue", World: base, PR: "{revoke: eve, at: -11d}",
			Want: `revocations/eve-6cc6e029f37950573adefc72ee978473693918e13deb4d6c84281cab8b79f4dc.json:5:3: warning: revocations: revoked-before-issue`},
		// --- what stands ---
		// a merged revocation neither changes nor goes away, nor is it judged again
		{Name: "revoked, edited", World: base + revoked,
			PR: "{edit: revocations/eve-$pin(eve).json, set: {/reason: key_compromise}}", Want: `
registry: notice: revocations: not-in-force
revocations/eve-6cc6e029f37950573adefc72ee978473693918e13deb4d6c84281cab8b79f4dc.json:1:1: error: append-only: edited`},
		{Name: "revoked, removed", World: base + revoked, PR: "{remove: revocations/eve-$pin(eve).json}", Want: `
registry: notice: revocations: not-in-force
revocations/eve-6cc6e029f37950573adefc72ee978473693918e13deb4d6c84281cab8b79f4dc.json: error: append-only: deleted`},
		// what a commit removed comes back if its signature still verifies, or a maintainer brings it
		{Name: "restored, another key now", World: base + revoked + moved + `web:
  - {edit: "https://eve.example/.well-known/did.json", set: {/verificationMethod/0/publicKeyJwk/x: $jwk(spare)}}
`,
			Want: `
a.md: warning: append-only: governance
registry: notice: revocations: not-in-force
revocations/eve-6cc6e029f37950573adefc72ee978473693918e13deb4d6c84281cab8b79f4dc.json:7:3: inconclusive: revocations: recovery-unverified`,
			Says: []string{`does not verify by a key of did:web:eve.example now`}},
		{Name: "restored from a broken one, another key now", World: base + revoked + `  - {commit: Revoke}
  - {move: [revocations/eve-$pin(eve).json, a.md]}
  - {write: revocations/eve-$pin(eve).json, text: "{"}
  - {commit: Break}
pr: [{remove: revocations/eve-$pin(eve).json}, {move: [a.md, revocations/eve-$pin(eve).json]}]
web:
  - {edit: "https://eve.example/.well-known/did.json", set: {/verificationMethod/0/publicKeyJwk/x: $jwk(spare)}}
`,
			Want: `
a.md: warning: append-only: governance
registry: notice: revocations: not-in-force
revocations/eve-6cc6e029f37950573adefc72ee978473693918e13deb4d6c84281cab8b79f4dc.json:7:3: inconclusive: revocations: recovery-unverified`},
		{Name: "restored, never the owner's", World: base + "  - {revoke: eve, by: fay}\n" + moved,
			Want: `
a.md: warning: append-only: governance
registry: notice: revocations: not-in-force
revocations/eve-6cc6e029f37950573adefc72ee978473693918e13deb4d6c84281cab8b79f4dc.json:7:3: error: revocations: not-authorised`},
		{Name: "revoked, else, did gone", World: base + revoked + elseWorld + didGone,
			Want: `registry: notice: revocations: not-in-force`},
		// a revocation under another slug's file name is layout's to report
		{Name: "misnamed", World: base + `pr: [{revoke: eve, path: revocations/else-$pin(eve).json}]`,
			Want: `revocations/else-6cc6e029f37950573adefc72ee978473693918e13deb4d6c84281cab8b79f4dc.json:2:3: error: layout: slug-mismatch`},
	})
}

// A revocation that was removed, which no pull request may do, is not in force when the next commit is judged.
func TestRevocationRemoved(t *testing.T) {
	checktest.Run(t, []checktest.Case{
		{Name: "removed", World: `
base:
  - {listing: ada}
  - {commit: List}
  - {revoke: ada}
  - {commit: Revoke}
  - {remove: "revocations/ada-$pin(ada).json"}
  - {commit: Remove}
pr: [{edit: implementations/ada.json, set: {/contact: new@ada.example}}]
`, Want: `
implementations/ada.json:8:3: error: reissue: receipt-unchanged
implementations/ada.json:12:3: warning: reissue: unsigned-change
implementations/ada.json:8:3: error: revocations: receipt-revoked
registry: notice: revocations: not-in-force`},
		{Name: "kept", World: `
base:
  - {listing: ada}
  - {commit: List}
  - {revoke: ada}
  - {commit: Revoke}
pr: [{edit: implementations/ada.json, set: {/contact: new@ada.example}}]
`, Want: `
implementations/ada.json:8:3: error: reissue: receipt-unchanged
implementations/ada.json:12:3: warning: reissue: unsigned-change
implementations/ada.json:8:3: error: revocations: receipt-revoked
registry: notice: revocations: not-in-force`},
	})
}
