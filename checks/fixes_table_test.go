package checks_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

// What a fix says passes when it is done.
func TestFixes(t *testing.T) {
	checktest.Run(t, []checktest.Case{
		// a window of 91 days: one finding, with the date that is signed; the date passes
		{Name: "long",
			World: `pr: [{listing: nova, not_after: "+91d", set: {/expires_at: "2026-08-31T11:00:00Z"}}]`,
			Want:  `implementations/nova.json:10:3: error: receipt-validity: window-too-long`,
			Says:  []string{`fix: set expires_at to 2026-08-30T11:00:00Z, the date that the Receipt signs`}},
		{Name: "long mended",
			World: `pr: [{listing: nova, not_after: "+91d", set: {/expires_at: "2026-08-30T11:00:00Z"}}]`,
			Want:  `pass`},
		// the same where the signed window is shorter than 90 days
		{Name: "short",
			World: `pr: [{listing: nova, not_after: "2026-07-01T11:00:00Z", set: {/expires_at: "2026-08-31T11:00:00Z"}}]`,
			Want:  `implementations/nova.json:10:3: error: receipt-validity: window-too-long`,
			Says:  []string{`fix: set expires_at to 2026-07-01T11:00:00Z, the date that the Receipt signs`}},
		{Name: "short mended",
			World: `pr: [{listing: nova, not_after: "2026-07-01T11:00:00Z", set: {/expires_at: "2026-07-01T11:00:00Z"}}]`,
			Want:  `pass`},
		// somebody else's listing edited, or renamed: first how to take it back
		{Name: "edited",
			World: `base: [{listing: eve}]
pr: [{edit: implementations/eve.json, set: {/contact: "mallory@eve.example"}}]
`,
			Want: `
implementations/eve.json:8:3: error: reissue: receipt-unchanged
implementations/eve.json:12:3: warning: reissue: unsigned-change`,
			Says: []string{`fix: not yours\? git checkout [0-9a-f]{12} -- implementations/eve\.json \(and squash the branch if a commit changes it\); yours: sign a new Receipt`}},
		{Name: "renamed",
			World: `base: [{listing: eve}]
pr: [{move: [implementations/eve.json, implementations/evil.json]}]
`,
			Want: `
implementations/eve.json: error: append-only: deleted
implementations/evil.json:2:3: error: layout: slug-mismatch`,
			Says: []string{
				`fix: not yours\? git checkout [0-9a-f]{12} -- implementations/eve\.json \(and squash the branch if a commit changes it\); yours: `,
				`fix: set slug to "evil", or name the file implementations/eve\.json`,
			}},
		// a published private key is of no more use
		{Name: "private",
			World: `pr: [{listing: nova}]
web:
  - {edit: "https://nova.example/.well-known/did.json", set: {/verificationMethod/0/publicKeyJwk/d: "AAAA"}}
`,
			Want: `implementations/nova.json:4:3: error: did-resolution: did-private-key`,
			Says: []string{`fix: make a new key: this one is burned`}},
		// a schema's findings name the value, and what was meant
		{Name: "schema",
			World: `pr:
  - listing: nova
    set: {/conformance_level: "L9", /expiry_at: "2026-08-30T11:00:00Z", /name: 7}
    delete: [/expires_at]
  - {listing: other, set: {/unheard: 1}}
`,
			Want: `
implementations/nova.json:1:1: error: schema: schema-required
implementations/nova.json:3:3: error: schema: schema-type
implementations/nova.json:6:3: error: schema: schema-pattern
implementations/nova.json:12:3: error: schema: schema-additionalProperties
implementations/other.json:13:3: error: schema: schema-additionalProperties`,
			Says: []string{
				`conformance_level: "L9" does not match`,
				`fix: use one of "L0", "L1", "L1-NC", "L2", "L3", "L3-NC", "L4", "L5", "L5-FINANCE", "L5-ORG"`,
				`name: 7 is a number; expected a string`,
				`expiry_at: "expiry_at" is not a member that is allowed here`,
				`has no "expires_at", which is required`,
				`fix: rename "expiry_at" to "expires_at"`,
				`fix: remove "unheard"`,
			}},
		// what stops a text from being JSON, by name
		{Name: "json",
			World: `pr:
  - {write: implementations/comma.json, text: '{"slug": "comma",}'}
  - {write: implementations/quote.json, text: "{'slug': 'quote'}"}
  - {write: implementations/typographic.json, text: '{“slug”: “x”}'}
  - {write: implementations/bare.json, text: '{slug: "bare"}'}
  - {write: implementations/line.json, text: "{// a note\n}"}
  - {write: implementations/after.json, text: '{"slug": "x"}// a note'}
  - {write: implementations/missing.json, text: '{"slug": "x1" "name": "x"}'}
  - {write: implementations/python.json, text: '{"provisional":True}'}
`,
			Want: `
implementations/after.json:1:14: error: layout: trailing-text
implementations/bare.json:1:2: error: layout: json-syntax
implementations/comma.json:1:17: error: layout: json-syntax
implementations/line.json:1:2: error: layout: json-syntax
implementations/missing.json:1:15: error: layout: json-syntax
implementations/python.json:1:16: error: layout: json-syntax
implementations/quote.json:1:2: error: layout: json-syntax
implementations/typographic.json:1:2: error: layout: json-syntax`,
			Says: []string{
				`comma.json:1:[0-9]+: .*trailing comma before "}"`,
				`quote.json:1:2: .*quote is .*, JSON has " alone`,
				`typographic.json:1:2: .*the typographic`,
				`bare.json:1:2: .*"slug" has no quotes`,
				`line.json:1:2: .*comment, JSON has none`,
				`after.json:1:14: .*comment after the JSON value`,
				`missing.json:1:15: .*comma is missing before this`,
				`python.json:1:16: .*"True" is not JSON, which writes true`,
			}},
		// a wrong file name: the right one, which passes
		{Name: "name",
			World: `pr:
  - {listing: nova}
  - {move: [implementations/nova.json, implementations/Nova.txt]}
`,
			Want: `implementations/Nova.txt:1:1: error: layout: misplaced-file`,
			Says: []string{
				`implementations/Nova.txt:1:1: error: layout: .*`,
				`fix: oap-gate check --worktree --fix, or name it implementations/nova\.json$`,
			}},
		// a signature that does not verify: what changed since
		{Name: "changed",
			World: `pr:
  - {listing: nova, tamper: {set: {/validity/not_after: "2026-09-30T11:00:00Z"}}, set: {/expires_at: "2026-08-30T11:00:00Z"}}
`,
			Want: `implementations/nova.json:7:3: error: receipt-signature: signature-not-verified`,
			Says: []string{`over the Receipt whose validity\.not_after is "2026-08-30T11:00:00Z": that member was changed after it was signed`,
				`fix: oap-gate sign FILE --key KEY, then publish it, then oap-gate check --worktree --fix$`}},
		{Name: "added", World: `pr: [{listing: nova, tamper: {set: {/note: "added"}}}]`,
			Want: `implementations/nova.json:7:3: error: receipt-signature: signature-not-verified`,
			Says: []string{`over the Receipt without "note": that member was added after it was signed`}},
	})
}
