package checks_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

// A forced revocation: three independent witnesses sign, and the revoked implementation cannot obstruct it.
func TestRevocationsForced(t *testing.T) {
	const (
		base = `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: cyd, level: L4, witness: [ada]}
  - {listing: evil, level: L4, witness: [ada]}
`
		three = `pr: [{revoke: evil, witness: [ada, bob, cyd]}]
`
		threeInItsName = `pr: [{revoke: evil, by: evil, key: other, witness: [ada, bob, cyd]}]
`
		evil503 = `web:
  - {url: "https://evil.example/.well-known/did.json", status: 503}
  - {url: "https://evil.example/.well-known/oap-tool.json", status: 503}
  - {url: "https://evil.example/oap-conformance-receipt.json", status: 503}
`
		two = `pr: [{revoke: evil, witness: [ada, bob]}]
`
		ada503 = `web: [{url: "https://ada.example/oap-conformance-receipt.json", status: 503}]
`
	)
	// provisional is a base with so many new provisional listings, and an old one after them.
	provisional := func(n int) string {
		var out strings.Builder
		out.WriteString(`base:
  - {at: -40d}
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: evil, level: L4, witness: [ada]}
  - {listing: pz, level: L4, witness: [ada], provisional: true}
  - {commit: List}
  - {at: -1d}
`)
		for i := range n {
			fmt.Fprintf(&out, "  - {listing: pa%d, level: L4, witness: [ada], provisional: true}\n", i)
		}
		return out.String() + two
	}
	checktest.Run(t, []checktest.Case{
		// more than three, one of them idle
		{Name: "four one broken", World: base + "  - {listing: dan, level: L4, witness: [ada]}",
			PR:   "{revoke: evil, witness: [ada, {slug: dan, key: other}, bob, cyd]}",
			Want: `revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:19:5: warning: revocations: witness-not-counted`},
		// anyone can sign by a published key
		{Name: "a published key", World: base + three + `web:
  - {edit: "https://bob.example/.well-known/did.json", set: {/verificationMethod/0/publicKeyJwk/x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}}
`,
			Want: `
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:7:3: error: revocations: not-authorised
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:19:5: error: revocations: did-published-key`},
		// an earlier Receipt; an expired listing
		{Name: "earlier", World: base + `  - {commit: List}
  - {at: -5d}
  - {reissue: evil}`,
			PR: "{revoke: evil, number: 1, witness: [ada, bob, cyd]}", Want: `pass`},
		{Name: "expired", World: base + `  - {commit: Begin}
  - {at: -91d}
  - {listing: old}`,
			PR: "{revoke: old, witness: [ada, bob, cyd]}", Want: `registry: notice: revocations: not-in-force`},
		// --- the revoked one cannot obstruct it ---
		// its site does not answer, or answers with other things
		{Name: "three, evil 503", World: base + three + evil503,
			Want: `pass`},
		{Name: "three in its name, evil 503", World: base + threeInItsName + evil503,
			Want: `pass`},
		{Name: "three in its name, evil gone",
			World: base + threeInItsName + `web: [{url: "https://evil.example/.well-known/did.json", body: "<html>"}]`,
			Want:  `pass`},
		// nobody witnesses the signature member itself, so its content is ignored
		{Name: "three junk signature",
			World: base + `pr:
  - {revoke: evil, witness: [ada, bob, cyd], tamper: {set: {/signature/value: "?", /signature/by: nobody}}}
`,
			Want: `pass`},
		{Name: "two", World: base + two,
			Want: `revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:7:3: error: revocations: not-authorised`,
			Says: []string{`2 witnesses count; a forced revocation needs 3`}},
		{Name: "one twice", World: base, PR: "{revoke: evil, witness: [ada, bob, ada]}",
			Want: `revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:7:3: error: revocations: not-authorised`,
			Says: []string{`\(with 3 peer_witness_signatures it is judged as a forced one\)`,
				`did:web:ada.example and did:web:ada.example are not independent: they are one DID`}},
		// none, on the owner's DID
		{Name: "none", World: base, PR: "{revoke: evil, key: other}",
			Want: `revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:7:3: error: revocations: not-authorised`},
		// where the base tree lists fewer than three that could sign, the finding says so
		{Name: "small, two",
			World: `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: evil, level: L4, witness: [ada]}
` + two,
			Want: `revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:7:3: error: revocations: not-authorised`,
			Says: []string{`the base tree lists 2 that could sign`}},
		// ... counting neither one at L3 nor an expired one
		{Name: "small, low and old",
			World: `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: evil, level: L4, witness: [ada]}
  - {listing: low, level: L3}
  - {commit: Begin}
  - {at: -91d}
  - {listing: old, level: L4, witness: [ada]}
` + two,
			Want: `
registry: notice: revocations: not-in-force
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:7:3: error: revocations: not-authorised`,
			Says: []string{`the base tree lists 2 that could sign`}},
		// ... and following provisional ones through the history
		{Name: "provisional ones and one that no longer is", World: provisional(9),
			Want: `revocations/evil-fda2dacab907bd56c6d78bc8d0c6ae47cd067b82abddaf98822e1ebf67631d65.json:7:3: error: revocations: not-authorised`,
			Says: []string{`a forced revocation needs 3 independent witnesses \[not-authorised\]$`}},
		// the revoked implementation among the three
		{Name: "itself", World: base, PR: "{revoke: evil, witness: [ada, bob, evil]}", Want: `
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:7:3: error: revocations: not-authorised
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:25:5: warning: revocations: witness-not-counted`},
		// at L3, not listed, expired, provisional, revoked, revoked by this pull request
		{Name: "low", World: base + "  - {listing: low, level: L3}", PR: "{revoke: evil, witness: [ada, bob, low]}",
			Want: `
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:7:3: error: revocations: not-authorised
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:25:5: warning: revocations: witness-not-counted`},
		{Name: "stranger", World: base,
			PR: "{publish: mallory, level: L4}, {revoke: evil, witness: [ada, bob, mallory]}", Want: `
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:7:3: error: revocations: not-authorised
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:25:5: warning: revocations: witness-not-counted`},
		{Name: "lapsed", World: base + `  - {commit: Begin}
  - {at: -91d}
  - {listing: old, level: L4, witness: [ada]}`,
			PR: "{revoke: evil, witness: [ada, bob, old]}", Want: `
registry: notice: revocations: not-in-force
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:7:3: error: revocations: not-authorised
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:25:5: warning: revocations: witness-not-counted`},
		{Name: "provisional",
			World: base + "  - {listing: pro, level: L4, witness: [ada], provisional: true, registered: -11d}",
			PR:    "{revoke: evil, witness: [ada, bob, pro]}", Want: `
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:7:3: error: revocations: not-authorised
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:25:5: warning: revocations: witness-not-counted`},
		{Name: "revoked", World: base + `  - {listing: dan, level: L4, witness: [ada]}
  - {revoke: dan}`,
			PR: "{revoke: evil, witness: [ada, bob, dan]}", Want: `
registry: notice: revocations: not-in-force
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:7:3: error: revocations: not-authorised
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:25:5: warning: revocations: witness-not-counted`},
		{Name: "revoked here", World: base, PR: "{revoke: cyd}, {revoke: evil, witness: [ada, bob, cyd]}", Want: `
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:7:3: error: revocations: not-authorised
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:25:5: warning: revocations: witness-not-counted`},
		// not independent: one publisher, one platform, one key, a path
		{Name: "same publisher", World: base + "  - {listing: dan, level: L4, witness: [ada], legal_name: Ada Ltd}",
			PR:   "{revoke: evil, witness: [ada, bob, dan]}",
			Want: `revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:7:3: error: revocations: not-authorised`},
		{Name: "same platform", World: base + `  - {listing: one, host: one.github.io, level: L4, witness: [ada]}
  - {listing: two, host: two.github.io, level: L4, witness: [ada]}`,
			PR:   "{revoke: evil, witness: [one, bob, two]}",
			Want: `revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:7:3: error: revocations: not-authorised`},
		{Name: "same key", World: base + "  - {listing: dan, level: L4, witness: [ada], key: bob}",
			PR:   "{revoke: evil, witness: [ada, bob, dan]}",
			Want: `revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:7:3: error: revocations: not-authorised`},
		{Name: "path", World: base + `  - {listing: dan, level: L4, witness: [ada], did: "did:web:dan.example:agent"}`,
			PR: "{revoke: evil, witness: [ada, bob, dan]}", Want: `
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:7:3: error: revocations: not-authorised
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:25:5: warning: revocations: witness-not-counted`},
		// a witness whose own Receipt is gone
		{Name: "three, ada gone",
			World: base + three + `web: [{url: "https://ada.example/oap-conformance-receipt.json", status: 404}]`,
			Want: `
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:7:3: error: revocations: not-authorised
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:13:5: warning: revocations: witness-not-counted`},
		// ... or could not be had, nor its Manifest
		{Name: "three, ada 503", World: base + three + ada503,
			Want: `
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:12:3: inconclusive: revocations: witness-open
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:13:5: warning: revocations: witness-open`},
		{Name: "three, ada manifest 503",
			World: base + three + `web: [{url: "https://ada.example/.well-known/oap-tool.json", status: 503, header: {retry-after: "3600"}}]`,
			Want: `
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:12:3: inconclusive: revocations: witness-open
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:13:5: warning: revocations: witness-open`,
			Says: []string{`(?s)fix: try again after 2026-06-01T13:00:00Z.*fix: try again after 2026-06-01T13:00:00Z`}},
		// ... which decides nothing where three others count, or no three could
		{Name: "four, ada 503",
			World: base + `  - {listing: dan, level: L4, witness: [bob]}
pr: [{revoke: evil, witness: [ada, bob, cyd, dan]}]
` + ada503,
			Want: `revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:13:5: warning: revocations: witness-open`},
		{Name: "two, ada 503", World: base + two + ada503,
			Want: `
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:7:3: error: revocations: not-authorised
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:13:5: warning: revocations: witness-open`},
		// --- what they sign ---
		// anything changed after they signed
		{Name: "changed", World: base,
			PR: "{revoke: evil, witness: [ada, bob, cyd], tamper: {set: {/reason: key_compromise}}}", Want: `
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:7:3: error: revocations: not-authorised
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:13:5: warning: revocations: witness-not-counted
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:19:5: warning: revocations: witness-not-counted
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:25:5: warning: revocations: witness-not-counted`},
		// the signature of one under another's name
		{Name: "under other name", World: base, PR: "{revoke: evil, witness: [ada, bob, {slug: cyd, key: ada}]}",
			Want: `
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:7:3: error: revocations: not-authorised
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:25:5: warning: revocations: witness-not-counted`},
		// the reference server without a witness of its own does not count here either
		{Name: "policy, reference",
			World: `policy: {reference_server: ref, maintainers: [mia]}
` + base + `  - {publish: mia}
  - {listing: ref, level: L4, co_signers: [mia]}
pr: [{revoke: evil, witness: [ada, bob, ref]}]
`,
			Want: `
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:7:3: error: revocations: not-authorised
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:25:5: warning: revocations: witness-not-counted`},
		// 33 entries
		{Name: "entries 33",
			World: base + `pr:
  - {revoke: evil, witness: [ada, bob, cyd, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada, ada]}
`,
			Want: `revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:12:3: error: revocations: too-many-witnesses`},
		// restored, and one of the three has another key now
		{Name: "restored",
			World: base + `  - {revoke: evil, witness: [ada, bob, cyd]}
  - {commit: Revoke}
  - {move: [revocations/evil-$pin(evil).json, a.md]}
pr: [{move: [a.md, revocations/evil-$pin(evil).json]}]
web: [{edit: "https://cyd.example/.well-known/did.json", set: {/verificationMethod/0/publicKeyJwk/x: $jwk(spare)}}]
`,
			Want: `
a.md: warning: append-only: governance
registry: notice: revocations: not-in-force
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:7:3: inconclusive: revocations: recovery-unverified
revocations/evil-56b689eff94bf2ac4d8226360b2f5eeea12c7e70f950518785bf9259ffa36f72.json:25:5: warning: revocations: witness-not-counted`,
			Says: []string{`does not verify by a key of three independent witnesses now`}},
		// the owner's own signature is enough, whoever else stands there
		{Name: "owner and strangers",
			World: base + `pr:
  - {publish: mallory}
  - {revoke: evil, by: evil, witness: [mallory]}
`,
			Want: `pass`},
	})
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
