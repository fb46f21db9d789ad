package checks_test

import (
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

func TestReissue(t *testing.T) {
	checktest.Run(t, []checktest.Case{
		{Name: "expired",
			World: `base: [{listing: ada, issued: -200d}]
pr: [{reissue: ada}]
`,
			Want: `registry: notice: revocations: not-in-force`},
		// the level goes up, and down
		{Name: "up",
			World: `base: [{listing: ada, level: L1}]
pr: [{reissue: ada, level: L3}]
`,
			Want: `implementations/ada.json:6:3: warning: reissue: unsigned-change`},
		{Name: "down",
			World: `base: [{listing: ada, level: L3}]
pr: [{reissue: ada, level: L0}]
`,
			Want: `implementations/ada.json:6:3: warning: reissue: unsigned-change`},
		// the owner's Receipt in other bytes, which the owner serves: no new one
		{Name: "minified",
			World: `base: [{listing: ada}]
pr: [{reissue: ada, issued: -10d, tamper: {replace: {"\n": ""}}}]
`,
			Want: `implementations/ada.json:9:3: error: reissue: receipt-not-newer`},
		{Name: "same second",
			World: `base: [{listing: ada, issued: -10d}]
pr: [{reissue: ada, issued: "2026-05-22T12:00:01Z"}]
`,
			Want: `implementations/ada.json:9:3: error: reissue: receipt-not-newer`},
		{Name: "next second",
			World: `base: [{listing: ada, issued: -10d}]
pr: [{reissue: ada, issued: "2026-05-22T12:00:01.001Z"}]
`,
			Want: `pass`},
		// a revoked Receipt does not come back by its bytes in another form
		{Name: "revoked minified",
			World: `base: [{listing: ada, issued: -10d}, {commit: List}, {revoke: ada}]
pr: [{reissue: ada, issued: -10d, tamper: {replace: {"\n": ""}}}]
`,
			Want: `
implementations/ada.json:9:3: error: reissue: receipt-not-newer
implementations/ada.json:8:3: error: revocations: receipt-revoked
registry: notice: revocations: not-in-force`},
		// ... nor while the merged one is dated ahead of the clock, as far as it may be
		{Name: "ahead minified",
			World: `base: [{at: "-1m"}, {listing: ada, issued: "+4m"}]
pr: [{reissue: ada, issued: "+4m", tamper: {replace: {"\n": ""}}}]
`,
			Want: `implementations/ada.json:9:3: error: reissue: receipt-not-newer`},
		{Name: "ahead revoked",
			World: `base: [{at: "-2m"}, {listing: ada, issued: "+2m"}, {commit: List}, {revoke: ada}]
pr: [{reissue: ada, issued: "+2m", tamper: {replace: {"\n": ""}}}]
`,
			Want: `
implementations/ada.json:9:3: error: reissue: receipt-not-newer
registry: notice: revocations: not-in-force`},
		// a Receipt that signs no time is not newer
		{Name: "no time",
			World: `base: [{listing: ada}]
pr: [{reissue: ada, receipt: {delete: [/validity/not_before]}}]
`,
			Want: `implementations/ada.json:7:3: error: receipt-validity: validity-missing`},
		{Name: "no time, without receipt-validity", Skip: "receipt-validity",
			World: `base: [{listing: ada}]
pr: [{reissue: ada, receipt: {delete: [/validity/not_before]}}]
`,
			Want: `implementations/ada.json:8:3: error: reissue: validity-missing`},
		// a Receipt by another key: one error, where the signature is judged
		{Name: "stranger",
			World: `base: [{listing: ada}]
pr: [{reissue: ada, signing_key: mallory}]
`,
			Want: `implementations/ada.json:7:3: error: receipt-signature: signature-not-verified`,
			Says: []string{`reissue +skip +receipt-signature failed`}},
		{Name: "stranger, without receipt-signature", Skip: "receipt-signature",
			World: `base: [{listing: ada}]
pr: [{reissue: ada, signing_key: mallory}]
`,
			Want: `implementations/ada.json:8:3: error: reissue: receipt-not-signed`},
		{Name: "stranger and slug",
			World: `base: [{listing: ada}]
pr: [{reissue: ada, signing_key: mallory, set: {/slug: lovelace}}]
`,
			Want: `
implementations/ada.json:2:3: error: reissue: slug-changed
implementations/ada.json:7:3: error: receipt-signature: signature-not-verified`},
		{Name: "no Receipt and slug",
			World: `base: [{listing: ada}]
pr: [{reissue: ada, set: {/slug: lovelace}}]
web: [{url: "https://ada.example/oap-conformance-receipt.json", status: 404}]
`,
			Want: `
implementations/ada.json:2:3: error: reissue: slug-changed
implementations/ada.json:7:3: error: receipt-fetch: http-status`},
		// nothing is compared with words that nobody signed
		{Name: "stranger name",
			World: `base: [{listing: ada}]
pr: [{reissue: ada, signing_key: mallory, set: {/name: Ada Pro}}]
`,
			Want: `implementations/ada.json:7:3: error: receipt-signature: signature-not-verified`},
		// an implementation of the attacker's takes the slug over, honest in all else
		{Name: "takeover",
			World: `base: [{listing: ada}]
pr: [{reissue: ada, host: mallory.example, key: mallory}]
`,
			Want: `
implementations/ada.json:4:3: error: reissue: did-changed
implementations/ada.json:5:3: warning: reissue: unsigned-change
implementations/ada.json:7:3: warning: reissue: unsigned-change
implementations/ada.json:12:3: warning: reissue: unsigned-change`,
			Says: []string{`implementations/ada.json:4:3: error: reissue: tool_did changes from "did:web:ada.example" to "did:web:mallory.example"`}},
		// another slug in the file
		{Name: "slug",
			World: `base: [{listing: ada}]
pr: [{reissue: ada, set: {/slug: lovelace}}]
`,
			Want: `implementations/ada.json:2:3: error: reissue: slug-changed`},
		// ... even one that mends a standing fault: the slug is what revocations name
		{Name: "slug mended",
			World: `base: [{listing: ada, set: {/slug: lovelace}}]
pr: [{reissue: ada}]
`,
			Want: `implementations/ada.json:2:3: error: reissue: slug-changed`},
		// --- what changes besides ---
		// a name that the Receipt signs; one that it does not
		{Name: "name",
			World: `base: [{listing: ada}]
pr: [{reissue: ada, name: Countess}]
`,
			Want: `pass`},
		{Name: "other name",
			World: `base: [{listing: ada}]
pr: [{reissue: ada, set: {/name: Ada Pro}}]
`,
			Want: `implementations/ada.json:3:3: error: reissue: name-not-signed`,
			Says: []string{`implementations/ada.json:3:3: error: reissue: name changes from "Ada" to "Ada Pro", the Receipt signs "Ada"`}},
		// less than the highest level claimed
		{Name: "low",
			World: `base: [{listing: ada}]
pr: [{reissue: ada, receipt: {set: {/claimed_levels: [L1, L2]}}}]
`,
			Want: `implementations/ada.json:6:3: error: reissue: level-not-highest`,
			Says: []string{`implementations/ada.json:6:3: error: reissue: conformance_level is "L1", the highest that the Receipt claims is "L2"`}},
		// none that a listing can have
		{Name: "worker", Skip: "receipt-claims",
			World: `base: [{listing: ada}]
pr: [{reissue: ada, receipt: {set: {/claimed_levels: [W1]}}}]
`,
			Want: `implementations/ada.json:6:3: error: reissue: level-not-highest`,
			Says: []string{`the Receipt claims W1, which is not a level of a listing`, `fix: attest at one of L0 to L5`}},
		// provisional on a domain that is old enough; on one whose age nobody knows; kept; dropped
		{Name: "provisional",
			World: `base: [{listing: ada}]
pr: [{reissue: ada, provisional: true}]
`,
			Want: `
implementations/ada.json:12:3: error: reissue: provisional-set
implementations/ada.json:12:3: warning: domain-age: provisional-not-needed`},
		{Name: "provisional needed",
			World: `base: [{listing: ada, registered: none}]
pr: [{reissue: ada, provisional: true}]
`,
			Want: `implementations/ada.json:12:3: notice: domain-age: provisional`},
		{Name: "provisional, and a policy that cannot be read", Only: "reissue",
			World: `policy: "["
base: [{listing: ada}]
pr: [{reissue: ada, provisional: true}]
`,
			Want: `implementations/ada.json:12:3: inconclusive: reissue: provisional-set`},
		{Name: "provisional kept",
			World: `base: [{listing: ada, provisional: true}]
pr: [{reissue: ada}]
`,
			Want: `implementations/ada.json:12:3: warning: domain-age: provisional-not-needed`},
		{Name: "provisional dropped",
			World: `base: [{listing: ada, provisional: true}]
pr: [{reissue: ada, provisional: false}]
`,
			Want: `pass`},
		// provisional is set and the age cannot be had: nothing is decided
		{Name: "provisional unsure",
			World: `base: [{listing: ada}]
pr: [{reissue: ada, provisional: true}]
web: [{domain: ada.example, registered: none, rdap: {status: 503}}]
`,
			Want: `
implementations/ada.json:12:3: inconclusive: reissue: provisional-set
implementations/ada.json:12:3: notice: domain-age: provisional`},
		// no signature speaks of other members: a warning with old and new
		{Name: "contact",
			World: `base: [{listing: ada}]
pr: [{reissue: ada, set: {/contact: new@ada.example}, delete: [/license]}]
`,
			Want: `
implementations/ada.json:1:1: warning: reissue: unsigned-change
implementations/ada.json:11:3: warning: reissue: unsigned-change`,
			Says: []string{
				`contact changes from "contact@ada.example" to "new@ada.example"`,
				`license changes from "Apache-2.0" to nothing`,
			}},
		{Name: "honest",
			World: `base: [{listing: ada}]
pr: [{reissue: ada}]
`,
			Want: `pass`},
		// --- a merged issued_at that says nothing ---
		// in the future, or unreadable: the commit that brought it counts
		{Name: "future",
			World: `base: [{listing: ada, set: {/issued_at: "2036-01-01T00:00:00Z"}}]
pr: [{reissue: ada}]
`,
			Want: `pass`},
		{Name: "future older",
			World: `base: [{listing: ada, set: {/issued_at: "2036-01-01T00:00:00Z"}}]
pr: [{reissue: ada, issued: -11d}]
`,
			Want: `implementations/ada.json:9:3: error: reissue: receipt-not-newer`},
		{Name: "unreadable",
			World: `base: [{listing: ada, set: {/issued_at: "soon"}}]
pr: [{reissue: ada}]
`,
			Want: `pass`},
		{Name: "unreadable older",
			World: `base: [{commit: Begin}, {listing: ada, set: {/issued_at: "soon"}}]
pr: [{reissue: ada, issued: -11d}]
`,
			Want: `implementations/ada.json:9:3: error: reissue: receipt-not-newer`,
			Says: []string{`the merged listing was issued at 2026-05-22T12:01:00Z`}},
		// --- a merged listing with faults that no re-issue can mend is renewed ---
		{Name: "two of one",
			World: `base:
  - {listing: ada}
  - {listing: bob, did: "did:web:ada.example", key: ada}
pr: [{reissue: ada}]
`,
			Want: `
implementations/ada.json:4:3: warning: layout: duplicate-did
implementations/bob.json: warning: layout: duplicate-did`},
		{Name: "spelling",
			World: `base: [{listing: ada, did: "did:web:Ada.example"}]
pr: [{reissue: ada}]
`,
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
		{Name: "it was a record", World: `
base:
  - {listing: ada}
  - {commit: List}
  - {write: implementations/ada.json, text: "{"}
pr: [{listing: bob}, {move: [implementations/bob.json, implementations/ada.json]}]
`,
			Want: `implementations/ada.json:1:1: error: reissue: base-unreadable`,
			Says: []string{`fix: restore it first, in a pull request of its own: git checkout [0-9a-f]{40} -- implementations/ada.json`}},
		{Name: "it was no record", World: `
base: [{write: implementations/ada.json, text: "{"}, {listing: cyd}]
pr: [{listing: ada}]
`,
			Want: `implementations/ada.json:1:1: error: reissue: base-unreadable`,
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
		{Name: "not signed by the owner", World: `
base: [{listing: ada}]
pr: [{reissue: ada, signing_key: eve}]
`, Want: `implementations/ada.json:8:3: error: reissue: receipt-not-signed`},
		{Name: "no dates", World: `
base: [{listing: ada}]
pr: [{reissue: ada, receipt: {delete: [/validity]}}]
`, Want: `implementations/ada.json:8:3: error: reissue: validity-missing`},
		{Name: "no Receipt", World: `
base: [{listing: ada}]
pr: [{reissue: ada}]
web: [{url: "https://ada.example/oap-conformance-receipt.json", status: 404}]
`, Want: `implementations/ada.json:1:1: error: reissue: http-status`},
		{Name: "no Receipt, and another slug", World: `
base: [{listing: ada}]
pr: [{reissue: ada, set: {/slug: bob}}]
web: [{url: "https://ada.example/oap-conformance-receipt.json", status: 404}]
`, Want: `
implementations/ada.json:1:1: error: reissue: http-status
implementations/ada.json:2:3: error: reissue: slug-changed`},
		{Name: "a Receipt that does not answer, and another slug", World: `
base: [{listing: ada}]
pr: [{reissue: ada, set: {/slug: bob}}]
web: [{url: "https://ada.example/oap-conformance-receipt.json", status: 503}]
`, Want: `
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
		{Name: "provisional again on an old domain", World: `
base: [{listing: ada}]
pr: [{reissue: ada, provisional: true}]
`, Want: `implementations/ada.json:12:3: error: reissue: provisional-set`},
		{Name: "provisional again on a domain of unknown age", World: `
base: [{listing: ada, registered: none}]
pr: [{reissue: ada, provisional: true}]
`, Want: `pass`},
		{Name: "issued in the future of then", World: `
base: [{at: "-10d"}, {listing: ada, set: {/issued_at: "2027-01-01T00:00:00Z"}}]
pr: [{reissue: ada}]
`, Want: `pass`},
		{Name: "no date then", World: `
base: [{listing: ada, set: {/issued_at: "some day"}}]
pr: [{reissue: ada}]
`, Want: `pass`},
		{Name: "only the lowest level", World: `
base: [{listing: ada}]
pr: [{reissue: ada, receipt: {set: {/claimed_levels: [L0]}}}]
`,
			Want: `implementations/ada.json:6:3: error: reissue: level-not-highest`,
			Says: []string{`the highest that the Receipt claims is "L0"`, `fix: set conformance_level to "L0"`}},
		{Name: "levels that are none", World: `
base: [{listing: ada}]
pr: [{reissue: ada, receipt: {set: {/claimed_levels: [L9]}}}]
`, Want: `implementations/ada.json:6:3: error: reissue: level-not-highest`},
	}))
}
