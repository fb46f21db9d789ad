package checks_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

func TestSchema(t *testing.T) {
	checktest.Run(t, []checktest.Case{
		// one finding per violated keyword, each at its member
		{Name: "several",
			World: `pr:
  - {listing: nova, set: {/name: "N", /license: 7, /contact: "nobody", /jurisdictions: [de]}, delete: [/name], replace: {'"tool_did"': '"name": "NNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNNN", "tool_did"'}}
`,
			Want: `
implementations/nova.json:3:3: error: schema: schema-maxLength
implementations/nova.json:10:3: error: schema: schema-type
implementations/nova.json:11:3: error: schema: schema-format
implementations/nova.json:13:5: error: schema: schema-pattern`,
			Says: []string{
				`implementations/nova.json:3:3: error: schema: `,
				`implementations/nova.json:13:5: error: schema: `,
				`implementations/nova.json:11:3: error: schema: `,
			}},
		// a required member is missing: what reads it is skipped and names schema
		{Name: "missing", PR: "{listing: nova, delete: [/expires_at]}",
			Want: `implementations/nova.json:1:1: error: schema: schema-required`,
			Says: []string{`receipt-validity +skip +schema failed`,
				`error: schema: has no "expires_at", which is required`}},
		{Name: "missing, and not read", Only: "schema receipt-validity", PR: "{listing: nova, delete: [/name]}",
			Want: `implementations/nova.json:1:1: error: schema: schema-required`,
			Says: []string{`receipt-validity +pass`}},
		// a revocation and an anchor by their schemas
		{Name: "revocation", Base: "{listing: ada}", PR: "{revoke: ada, reason: dislike}",
			Want: `revocations/ada-0ee9e6ecb821a8e4eb7478a361b11af2dd4e4e1399aa4f0cc041538c028db54f.json:4:3: error: schema: schema-enum`},
		{Name: "old signature", Base: "{listing: ada}",
			PR:   `{revoke: ada, tamper: {set: {/signature: "ed25519:AAAA"}}}`,
			Want: `revocations/ada-0ee9e6ecb821a8e4eb7478a361b11af2dd4e4e1399aa4f0cc041538c028db54f.json:7:3: error: schema: schema-type`,
			Says: []string{`write it as an object`}},
		{Name: "anchor", Base: "{listing: ada}",
			PR:   `{anchor: trade, coordinator: ada, set: {/merkle_root: "sha256:00"}}`,
			Want: `workflow-anchors/trade.json:10:3: error: schema: schema-pattern`},
		{Name: "null",
			World: `pr:
  - {write: revocations/nova-0000000000000000000000000000000000000000000000000000000000000000.json, text: "null"}
`,
			Want: `
revocations/nova-0000000000000000000000000000000000000000000000000000000000000000.json:1:1: error: layout: slug-mismatch
revocations/nova-0000000000000000000000000000000000000000000000000000000000000000.json:1:1: error: layout: revocation-name
revocations/nova-0000000000000000000000000000000000000000000000000000000000000000.json:1:1: error: schema: schema-type`},
		// --- times that Ajv lets pass and no time check could read ---
		{Name: "leap", PR: `{listing: nova, set: {/expires_at: "2026-06-30T23:59:60Z"}}`,
			Want: `implementations/nova.json:10:3: error: schema: unreadable-time`},
		{Name: "leap, and another fault",
			PR: `{listing: nova, set: {/expires_at: "2026-06-30T23:59:60Z", /contact: 7}}`, Only: "schema", Want: `
implementations/nova.json:10:3: error: schema: unreadable-time
implementations/nova.json:12:3: error: schema: schema-type`},
		{Name: "space", PR: `{listing: nova, set: {/issued_at: "2026-06-01 11:00:00Z"}}`,
			Want: `implementations/nova.json:9:3: error: schema: unreadable-time`},
		{Name: "lower", PR: `{listing: nova, set: {/issued_at: "2026-06-01t11:00:00z"}}`,
			Want: `implementations/nova.json:9:3: error: schema: unreadable-time`},
		{Name: "year 10000", PR: `{listing: nova, set: {/expires_at: "9999-12-31T23:59:59-00:01"}}`,
			Want: `implementations/nova.json:10:3: error: schema: unreadable-time`},
		{Name: "revoked at", Base: "{listing: ada}",
			PR:   `{revoke: ada, revocation: {set: {/revoked_at: "2026-06-01 11:00:00Z"}}}`,
			Want: `revocations/ada-0ee9e6ecb821a8e4eb7478a361b11af2dd4e4e1399aa4f0cc041538c028db54f.json:5:3: error: schema: unreadable-time`},
		{Name: "anchored at", Base: "{listing: ada}",
			PR:   `{anchor: trade, coordinator: ada, set: {/anchored_at: "2026-06-01 11:00:00Z"}}`,
			Want: `workflow-anchors/trade.json:9:3: error: schema: unreadable-time`},
		// a comma before fractions is refused by both; one finding
		{Name: "comma", PR: `{listing: nova, set: {/issued_at: "2026-06-01T11:00:00,0Z"}}`,
			Want: `implementations/nova.json:9:3: error: schema: schema-format`},
		// --- the base tree's schema is the judge ---
		// stricter than the built-in one
		{Name: "stricter", World: "schemas: [listing]",
			Base: "{edit: schemas/implementation.schema.json, set: {/properties/name/maxLength: 3}}",
			PR:   "{listing: nova}", Want: `implementations/nova.json:3:3: error: schema: schema-maxLength`},
		// loosened in the same pull request: the base's schema judges, and the kinds are mixed
		{Name: "loosened",
			World: `schemas: [listing]
pr:
  - {edit: schemas/implementation.schema.json, delete: [/additionalProperties]}
  - {listing: nova, set: {/motto: "we try"}}
`,
			Want: `
implementations/nova.json:13:3: error: schema: schema-additionalProperties
schemas/implementation.schema.json: error: append-only: mixed`},
		// loosened on the branch's merge base, tightened on main since: main judges
		{Name: "moved on",
			World: `schemas: [listing]
main: [{edit: schemas/implementation.schema.json, set: {/properties/name/maxLength: 3}}]
pr: [{listing: nova}]
`,
			Want: `implementations/nova.json:3:3: error: schema: schema-maxLength`},
		// one that is removed in the pull request still judges it
		{Name: "removed with", World: "schemas: [listing]",
			Base: "{edit: schemas/implementation.schema.json, set: {/properties/name/maxLength: 3}}",
			PR:   "{remove: schemas/implementation.schema.json}, {listing: nova}", Want: `
implementations/nova.json:3:3: error: schema: schema-maxLength
schemas/implementation.schema.json: error: append-only: mixed`},
		// --- schema changes ---
		// looser, for all records that stand: pass
		{Name: "change", World: "schemas: [listing]", Base: "{listing: ada}",
			PR:   "{edit: schemas/implementation.schema.json, delete: [/additionalProperties]}",
			Want: `schemas/implementation.schema.json: warning: append-only: governance`},
		// refuses a record that is valid today
		{Name: "tighter", World: "schemas: [listing]", Base: "{listing: ada, name: Ada the First}",
			PR: "{edit: schemas/implementation.schema.json, set: {/properties/name/maxLength: 3}}", Want: `
schemas/implementation.schema.json: error: schema: schema-refuses-records
schemas/implementation.schema.json: warning: append-only: governance`,
			Says: []string{`implementations/ada.json:3:3: `}},
		// refuses a record that was invalid already: pass
		{Name: "tighter invalid", World: "schemas: [listing]",
			Base: `{listing: ada, name: Ada the First, set: {/motto: "we try"}}`,
			PR:   "{edit: schemas/implementation.schema.json, set: {/properties/name/maxLength: 3}}", Want: `
implementations/ada.json:13:3: warning: schema: schema-additionalProperties
schemas/implementation.schema.json: warning: append-only: governance`},
		// each schema that a single commit has is judged too, also one that the next commit takes back
		{Name: "broken, then right", World: `base: [{listing: ada}]
pr:
  - {write: schemas/implementation.schema.json, text: "{"}
  - {commit: broken}
  - {write: schemas/implementation.schema.json, text: '{"type": "object"}'}
`, Want: `
schemas/implementation.schema.json: error: schema: schema-broken
schemas/implementation.schema.json: warning: append-only: governance`,
			Says: []string{`make one commit of the same files: git reset --soft [0-9a-f]{12} `}},
		{Name: "tighter, then looser", World: `base: [{listing: ada}]
pr:
  - {write: schemas/implementation.schema.json, text: '{"required": ["motto"]}'}
  - {commit: tighter}
  - {write: schemas/implementation.schema.json, text: '{"type": "object"}'}
`, Want: `
schemas/implementation.schema.json: error: schema: schema-refuses-records
schemas/implementation.schema.json: warning: append-only: governance`},
		{Name: "tighter, then as before", World: `schemas: [listing]
base: [{listing: ada, name: Ada the First}]
pr:
  - {edit: schemas/implementation.schema.json, set: {/properties/name/maxLength: 3}}
  - {commit: tighter}
  - {edit: schemas/implementation.schema.json, set: {/properties/name/maxLength: 80}}
`, Want: `
schemas/implementation.schema.json: error: schema: schema-refuses-records
schemas/implementation.schema.json: warning: append-only: governance-in-passing`},
		{Name: "looser, then tighter than that", World: `schemas: [listing]
base: [{listing: ada, set: {/motto: "we try"}}]
pr:
  - {write: schemas/implementation.schema.json, text: '{"type": "object"}'}
  - {commit: looser}
  - {write: schemas/implementation.schema.json, text: '{"properties": {"motto": false}}'}
`, Want: `
implementations/ada.json:13:3: warning: schema: schema-additionalProperties
schemas/implementation.schema.json: error: schema: schema-refuses-records
schemas/implementation.schema.json: warning: append-only: governance`},
		{Name: "looser, and looser again", World: `base: [{listing: ada}]
pr:
  - {write: schemas/implementation.schema.json, text: '{"required": ["name"]}'}
  - {commit: looser}
  - {write: schemas/implementation.schema.json, text: '{"type": "object"}'}
`, Want: `schemas/implementation.schema.json: warning: append-only: governance`},
		{Name: "added broken and removed", World: `base: [{listing: ada}]
pr:
  - {write: schemas/implementation.schema.json, text: "{"}
  - {write: a.md, text: a}
  - {commit: broken}
  - {remove: schemas/implementation.schema.json}
`, Want: `
a.md: warning: append-only: governance
schemas/implementation.schema.json: warning: append-only: governance-in-passing`},
		// taken away, so that the built-in one refuses what is valid today
		{Name: "drop",
			World: `schemas: [listing]
base:
  - {edit: schemas/implementation.schema.json, delete: [/additionalProperties]}
  - {listing: ada, set: {/motto: "we try"}}
pr: [{remove: schemas/implementation.schema.json}]
`,
			Want: `
schemas/implementation.schema.json: error: schema: schema-refuses-records
schemas/implementation.schema.json: warning: append-only: governance`},
		// a new one where the built-in one judged
		{Name: "first", Base: "{listing: ada}",
			PR: `{write: schemas/implementation.schema.json, text: '{"required": ["motto"]}'}`, Want: `
schemas/implementation.schema.json: error: schema: schema-refuses-records
schemas/implementation.schema.json: warning: append-only: governance`},
		// the peer witness entries are judged too
		{Name: "tighter witness", World: "schemas: [listing]",
			Base: `{listing: ada, name: Ada the First, set: {/motto: "we try"}}, {peer-witness: ada, delete: [/motto]}`,
			PR:   "{edit: schemas/implementation.schema.json, set: {/properties/name/maxLength: 3}}", Want: `
implementations/ada.json:13:3: warning: schema: schema-additionalProperties
schemas/implementation.schema.json: error: schema: schema-refuses-records
schemas/implementation.schema.json: warning: append-only: governance`,
			Says: []string{`peer-witnesses/ada.json`}},
		// does not compile; is no JSON; has a duplicate member; refers to the network; is a link; is huge
		{Name: "no schema", World: "schemas: [listing]", Base: "{listing: ada}",
			PR: `{edit: schemas/implementation.schema.json, set: {/properties/name/maxLength: "many"}}`, Want: `
schemas/implementation.schema.json: error: schema: schema-broken
schemas/implementation.schema.json: warning: append-only: governance`,
			Says: []string{`schemas/implementation.schema.json: error: schema: `}},
		{Name: "no json", World: "schemas: [listing]", Base: "{listing: ada}",
			PR: `{write: schemas/implementation.schema.json, text: "type: object"}`, Want: `
schemas/implementation.schema.json: error: schema: schema-broken
schemas/implementation.schema.json: warning: append-only: governance`},
		{Name: "twice", Base: "{listing: ada}",
			PR: `{write: schemas/implementation.schema.json, text: '{"type": "object", "type": "array"}'}`, Want: `
schemas/implementation.schema.json: error: schema: schema-broken
schemas/implementation.schema.json: warning: append-only: governance`},
		{Name: "remote", Base: "{listing: ada}",
			PR: `{write: schemas/implementation.schema.json, text: '{"$ref": "https://ada.example/schema.json"}'}`,
			Want: `
schemas/implementation.schema.json: error: schema: schema-broken
schemas/implementation.schema.json: warning: append-only: governance`},
		{Name: "link", Base: "{listing: ada}",
			PR: `{write: schemas/implementation.schema.json, text: ../README.md, mode: "120000"}`, Want: `
schemas/implementation.schema.json: error: schema: schema-broken
schemas/implementation.schema.json: warning: append-only: governance`},
		{Name: "huge", Base: "{listing: ada}",
			PR: `{write: schemas/implementation.schema.json, text: "          ", repeat: 30000}`, Want: `
schemas/implementation.schema.json: error: schema: schema-broken
schemas/implementation.schema.json: warning: append-only: governance`},
		// a reference that never ends
		{Name: "loop",
			World: `base: [{listing: ada}]
pr:
  - {write: schemas/implementation.schema.json, text: '{"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}'}
`,
			Want: `
schemas/implementation.schema.json: error: schema: schema-broken
schemas/implementation.schema.json: warning: append-only: governance`},
		// --- a base schema that does not compile ---
		// fails each pull request with data
		{Name: "broken", Base: `{listing: ada}, {write: schemas/implementation.schema.json, text: "{"}`,
			PR: "{listing: nova}", Want: `schemas/implementation.schema.json: error: schema: schema-broken`},
		{Name: "broken huge",
			Base: `{listing: ada}, {write: schemas/revocation.schema.json, text: "          ", repeat: 30000}`,
			PR:   "{listing: nova}", Want: `schemas/revocation.schema.json: error: schema: schema-broken`},
		// but not one that mends it, nor one of other governance files
		{Name: "mend", Base: `{listing: ada}, {write: schemas/implementation.schema.json, text: "{"}`,
			PR:   `{write: schemas/implementation.schema.json, text: '{"type": "object"}'}`,
			Want: `schemas/implementation.schema.json: warning: append-only: governance`},
		{Name: "mend by removing", Base: `{listing: ada}, {write: schemas/implementation.schema.json, text: "{"}`,
			PR:   "{remove: schemas/implementation.schema.json}",
			Want: `schemas/implementation.schema.json: warning: append-only: governance`},
		{Name: "broken docs", Base: `{listing: ada}, {write: schemas/implementation.schema.json, text: "{"}`,
			PR: `{write: docs/guide.md, text: "Begin here.\n"}`, Want: `
schemas/implementation.schema.json: warning: schema: schema-broken
docs/guide.md: warning: append-only: governance`},
		// mending and data together are still two kinds
		{Name: "mend and data", Base: `{listing: ada}, {write: schemas/implementation.schema.json, text: "{"}`,
			PR:   `{write: schemas/implementation.schema.json, text: '{"type": "object"}'}, {listing: nova}`,
			Want: `schemas/implementation.schema.json: error: append-only: mixed`},
		// --- faults that stand already ---
		// block nobody else
		{Name: "standing", Base: "{listing: ada, set: {/slug: lovelace}}, {listing: bob, set: {/trusted: true}}",
			PR: "{listing: nova}", Want: `
implementations/ada.json:2:3: warning: layout: slug-mismatch
implementations/bob.json:13:3: warning: schema: schema-additionalProperties`,
			Says: []string{`implementations/bob.json:13:3: warning: schema: .*; the base tree has it already`}},
		// 100 are shown, the rest is counted
		{Name: "many",
			World: `base:
  - {listing: ada, set: {/jurisdictions: [a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a]}}
  - {listing: bob, set: {/jurisdictions: [a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a]}}
  - {listing: cora, set: {/jurisdictions: [a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a]}}
pr: [{listing: nova}]
`,
			Want: `
implementations/ada.json:14:5: warning: schema: schema-pattern
implementations/ada.json:15:5: warning: schema: schema-pattern
implementations/ada.json:16:5: warning: schema: schema-pattern
implementations/ada.json:17:5: warning: schema: schema-pattern
implementations/ada.json:18:5: warning: schema: schema-pattern
implementations/ada.json:19:5: warning: schema: schema-pattern
implementations/ada.json:20:5: warning: schema: schema-pattern
implementations/ada.json:21:5: warning: schema: schema-pattern
implementations/ada.json:22:5: warning: schema: schema-pattern
implementations/ada.json:23:5: warning: schema: schema-pattern
implementations/ada.json:24:5: warning: schema: schema-pattern
implementations/ada.json:25:5: warning: schema: schema-pattern
implementations/ada.json:26:5: warning: schema: schema-pattern
implementations/ada.json:27:5: warning: schema: schema-pattern
implementations/ada.json:28:5: warning: schema: schema-pattern
implementations/ada.json:29:5: warning: schema: schema-pattern
implementations/ada.json:30:5: warning: schema: schema-pattern
implementations/ada.json:31:5: warning: schema: schema-pattern
implementations/ada.json:32:5: warning: schema: schema-pattern
implementations/ada.json:33:5: warning: schema: schema-pattern
implementations/ada.json:34:5: warning: schema: schema-pattern
implementations/ada.json:35:5: warning: schema: schema-pattern
implementations/ada.json:36:5: warning: schema: schema-pattern
implementations/ada.json:37:5: warning: schema: schema-pattern
implementations/ada.json:38:5: warning: schema: schema-pattern
implementations/ada.json:39:5: warning: schema: schema-pattern
implementations/ada.json:40:5: warning: schema: schema-pattern
implementations/ada.json:41:5: warning: schema: schema-pattern
implementations/ada.json:42:5: warning: schema: schema-pattern
implementations/ada.json:43:5: warning: schema: schema-pattern
implementations/ada.json:44:5: warning: schema: schema-pattern
implementations/ada.json:45:5: warning: schema: schema-pattern
implementations/ada.json:46:5: warning: schema: schema-pattern
implementations/ada.json:47:5: warning: schema: schema-pattern
implementations/ada.json:48:5: warning: schema: schema-pattern
implementations/bob.json:14:5: warning: schema: schema-pattern
implementations/bob.json:15:5: warning: schema: schema-pattern
implementations/bob.json:16:5: warning: schema: schema-pattern
implementations/bob.json:17:5: warning: schema: schema-pattern
implementations/bob.json:18:5: warning: schema: schema-pattern
implementations/bob.json:19:5: warning: schema: schema-pattern
implementations/bob.json:20:5: warning: schema: schema-pattern
implementations/bob.json:21:5: warning: schema: schema-pattern
implementations/bob.json:22:5: warning: schema: schema-pattern
implementations/bob.json:23:5: warning: schema: schema-pattern
implementations/bob.json:24:5: warning: schema: schema-pattern
implementations/bob.json:25:5: warning: schema: schema-pattern
implementations/bob.json:26:5: warning: schema: schema-pattern
implementations/bob.json:27:5: warning: schema: schema-pattern
implementations/bob.json:28:5: warning: schema: schema-pattern
implementations/bob.json:29:5: warning: schema: schema-pattern
implementations/bob.json:30:5: warning: schema: schema-pattern
implementations/bob.json:31:5: warning: schema: schema-pattern
implementations/bob.json:32:5: warning: schema: schema-pattern
implementations/bob.json:33:5: warning: schema: schema-pattern
implementations/bob.json:34:5: warning: schema: schema-pattern
implementations/bob.json:35:5: warning: schema: schema-pattern
implementations/bob.json:36:5: warning: schema: schema-pattern
implementations/bob.json:37:5: warning: schema: schema-pattern
implementations/bob.json:38:5: warning: schema: schema-pattern
implementations/bob.json:39:5: warning: schema: schema-pattern
implementations/bob.json:40:5: warning: schema: schema-pattern
implementations/bob.json:41:5: warning: schema: schema-pattern
implementations/bob.json:42:5: warning: schema: schema-pattern
implementations/bob.json:43:5: warning: schema: schema-pattern
implementations/bob.json:44:5: warning: schema: schema-pattern
implementations/bob.json:45:5: warning: schema: schema-pattern
implementations/bob.json:46:5: warning: schema: schema-pattern
implementations/bob.json:47:5: warning: schema: schema-pattern
implementations/bob.json:48:5: warning: schema: schema-pattern
implementations/cora.json:14:5: warning: schema: schema-pattern
implementations/cora.json:15:5: warning: schema: schema-pattern
implementations/cora.json:16:5: warning: schema: schema-pattern
implementations/cora.json:17:5: warning: schema: schema-pattern
implementations/cora.json:18:5: warning: schema: schema-pattern
implementations/cora.json:24:5: warning: schema: schema-pattern
implementations/cora.json:25:5: warning: schema: schema-pattern
implementations/cora.json:26:5: warning: schema: schema-pattern
implementations/cora.json:27:5: warning: schema: schema-pattern
implementations/cora.json:28:5: warning: schema: schema-pattern
implementations/cora.json:29:5: warning: schema: schema-pattern
implementations/cora.json:30:5: warning: schema: schema-pattern
implementations/cora.json:31:5: warning: schema: schema-pattern
implementations/cora.json:32:5: warning: schema: schema-pattern
implementations/cora.json:33:5: warning: schema: schema-pattern
implementations/cora.json:34:5: warning: schema: schema-pattern
implementations/cora.json:35:5: warning: schema: schema-pattern
implementations/cora.json:36:5: warning: schema: schema-pattern
implementations/cora.json:37:5: warning: schema: schema-pattern
implementations/cora.json:38:5: warning: schema: schema-pattern
implementations/cora.json:39:5: warning: schema: schema-pattern
implementations/cora.json:40:5: warning: schema: schema-pattern
implementations/cora.json:41:5: warning: schema: schema-pattern
implementations/cora.json:42:5: warning: schema: schema-pattern
implementations/cora.json:43:5: warning: schema: schema-pattern
implementations/cora.json:44:5: warning: schema: schema-pattern
implementations/cora.json:45:5: warning: schema: schema-pattern
implementations/cora.json:46:5: warning: schema: schema-pattern
implementations/cora.json:47:5: warning: schema: schema-pattern
implementations/cora.json:48:5: warning: schema: schema-pattern
registry: warning: schema: standing-faults`,
			Says: []string{`the base tree has 5 more faults of this kind`}},
		// the owner of a listing with faults that no re-issue can mend renews it
		{Name: "renew", Base: "{listing: ada, set: {/slug: lovelace}}", PR: "{reissue: ada, set: {/slug: lovelace}}",
			Want: `implementations/ada.json:2:3: warning: layout: slug-mismatch`},
		// one that a re-issue can mend must be mended
		{Name: "renew lazy", Base: "{listing: ada, set: {/contact: nobody}}",
			PR:   "{reissue: ada, set: {/contact: nobody}}",
			Want: `implementations/ada.json:12:3: error: schema: schema-format`},
		{Name: "renew mended",
			World: `base: [{listing: ada, set: {/contact: nobody}}]
pr: [{reissue: ada}]
`,
			Want: `implementations/ada.json:12:3: warning: reissue: unsigned-change`},
	})
}

// A fault of a member that a re-issue cannot change is a warning if the base tree has it already.
func TestSchemaStanding(t *testing.T) {
	checktest.Run(t, only("schema", []checktest.Case{
		{Name: "it stands", Base: `{listing: ada, set: {/tool_did: "ada"}}`,
			PR:   `{reissue: ada, set: {/tool_did: "ada"}}`,
			Want: `implementations/ada.json:4:3: warning: schema: schema-pattern`,
			Says: []string{`the base tree has it already, and no re-issue can fix it`}},
		{Name: "it comes", Base: "{listing: ada}", PR: `{reissue: ada, set: {/tool_did: "ada"}}`,
			Want: `implementations/ada.json:4:3: error: schema: schema-pattern`},
		{Name: "another stands", Base: "{listing: ada, set: {/contact: 7}}", PR: "{reissue: ada, set: {/contact: 7}}",
			Want: `implementations/ada.json:12:3: error: schema: schema-type`},
		{Name: "one witness's", World: `
base: [{listing: ada, set: {/tool_did: "ada"}}]
pr: [{peer-witness: ada}]
`, Want: `
implementations/ada.json:4:3: warning: schema: schema-pattern
peer-witnesses/ada.json:4:3: error: schema: schema-pattern`},
	}))
}

// A member that the schema refuses has a fix that passes.
func TestSchemaFixes(t *testing.T) {
	// under is a world whose base has a schema of listings, and whose pull request brings one with these members.
	under := func(schema, members string) string {
		return fmt.Sprintf("base: [{write: schemas/implementation.schema.json, text: '{\"properties\": %s}'}]\n"+
			"pr: [{listing: nova, set: %s}]", schema, members)
	}
	const sum = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	checktest.Run(t, only("schema", []checktest.Case{
		{Name: "hash in capitals", World: `pr: [{listing: nova, set: {/conformance_receipt_sha256: "` + sum + `"}}]`,
			Want: `implementations/nova.json:8:3: error: schema: schema-pattern`,
			Says: []string{`fix: set conformance_receipt_sha256 to "a{64}"`}},
		{Name: "no hash", PR: `{listing: nova, set: {/conformance_receipt_sha256: "A"}}`,
			Want: `implementations/nova.json:8:3: error: schema: schema-pattern`,
			Says: []string{`fix: set conformance_receipt_sha256 to a value that oap-gate schema listing allows`}},
		{Name: "a text for an array", PR: "{listing: nova, set: {/jurisdictions: DE}}",
			Want: `implementations/nova.json:13:3: error: schema: schema-type`,
			Says: []string{`fix: set jurisdictions to \["DE"\]`}},
		{Name: "an empty text for an array", PR: `{listing: nova, set: {/jurisdictions: ""}}`,
			Want: `implementations/nova.json:13:3: error: schema: schema-type`,
			Says: []string{`fix: set jurisdictions to a value that`}},
		{Name: "a text for a boolean", PR: `{listing: nova, set: {/provisional: "false"}}`,
			Want: `implementations/nova.json:13:3: error: schema: schema-type`,
			Says: []string{`fix: set provisional to false, without quotes`}},
		{Name: "the other one", PR: `{listing: nova, set: {/provisional: "true"}}`,
			Want: `implementations/nova.json:13:3: error: schema: schema-type`,
			Says: []string{`fix: set provisional to true, without quotes`}},
		{Name: "another text for a boolean", PR: `{listing: nova, set: {/provisional: "yes"}}`,
			Want: `implementations/nova.json:13:3: error: schema: schema-type`,
			Says: []string{`fix: set provisional to a value that`}},
		{Name: "no e-mail address", PR: `{listing: nova, set: {/contact: "nova"}}`,
			Want: `implementations/nova.json:12:3: error: schema: schema-format`,
			Says: []string{`fix: set contact to an e-mail address`}},
		{Name: "no time", PR: `{listing: nova, set: {/issued_at: "2026-05-22 12:00"}}`,
			Want: `implementations/nova.json:9:3: error: schema: schema-format`,
			Says: []string{`fix: write it like "2026-05-04T08:00:00Z"`}},
		{Name: "a leap second", PR: `{listing: nova, set: {/issued_at: "2016-12-31T23:59:60Z"}}`,
			Want: `implementations/nova.json:9:3: error: schema: unreadable-time`},
		{Name: "a level that is none", PR: `{listing: nova, set: {/conformance_level: "L6"}}`,
			Want: `implementations/nova.json:6:3: error: schema: schema-pattern`,
			Says: []string{`fix: use one of "L0", "L1"`}},
		{Name: "a name nearby", PR: `{listing: nova, set: {/contakt: "a@b.example"}, delete: [/contact]}`,
			Want: `implementations/nova.json:12:3: error: schema: schema-additionalProperties`,
			Says: []string{`fix: rename "contakt" to "contact"`}},
		{Name: "a name nearby that is there", PR: `{listing: nova, set: {/contakt: "a@b.example"}}`,
			Want: `implementations/nova.json:13:3: error: schema: schema-additionalProperties`,
			Says: []string{`fix: remove "contakt"`}},
		{Name: "a name too far", PR: `{listing: nova, set: {/contxxxt: "a@b.example"}, delete: [/contact]}`,
			Want: `implementations/nova.json:12:3: error: schema: schema-additionalProperties`,
			Says: []string{`fix: remove "contxxxt"`}},
		{Name: "an item", PR: "{listing: nova, set: {/jurisdictions: [7]}}",
			Want: `implementations/nova.json:14:5: error: schema: schema-type`,
			Says: []string{`fix: set jurisdictions/0 to a value that`}},
		{Name: "no slug", PR: "{listing: nova, delete: [/slug]}",
			Want: `implementations/nova.json:1:1: error: schema: schema-required`,
			Says: []string{`fix: add "slug": "nova"`}},
		{Name: "two letters too far", PR: `{listing: nova, set: {/conXXct: "a@b.example"}, delete: [/contact]}`,
			Want: `implementations/nova.json:12:3: error: schema: schema-additionalProperties`,
			Says: []string{`fix: rename "conXXct" to "contact"`}},
		{Name: "three letters too far",
			PR: "{listing: nova, set: {/conforYYYe_level: L1}, delete: [/conformance_level]}", Want: `
implementations/nova.json:1:1: error: schema: schema-required
implementations/nova.json:12:3: error: schema: schema-additionalProperties`,
			Says: []string{`fix: remove "conforYYYe_level"`}},
		{Name: "two letters", PR: "{listing: nova, set: {/ab: 1}}",
			Want: `implementations/nova.json:13:3: error: schema: schema-additionalProperties`,
			Says: []string{`fix: remove "ab"`}},
		{Name: "a hash for an e-mail address", World: `pr: [{listing: nova, set: {/contact: "` + sum + `"}}]`,
			Want: `implementations/nova.json:12:3: error: schema: schema-format`,
			Says: []string{`fix: set contact to an e-mail address`}},
		{Name: "a signature of another record", World: under(`{"signature": {"type": "object"}}`, `{/signature: a}`),
			Want: `implementations/nova.json:13:3: error: schema: schema-type`,
			Says: []string{`fix: set signature to a value that schemas/implementation.schema.json allows`}},
		{Name: "a member that is missing below another",
			World: under(`{"slug": {}, "contact": {"required": ["slug"]}}`, `{/contact: {}}`),
			Want:  `implementations/nova.json:12:3: error: schema: schema-required`,
			Says:  []string{`fix: set contact to a value that`}},
		{Name: "a member that is unknown below another",
			World: under(`{"contact": {"additionalProperties": false}}`, `{/contact: {a: 1}}`),
			Want:  `implementations/nova.json:13:5: error: schema: schema-additionalProperties`,
			Says:  []string{`fix: set contact/a to a value that`}},
		{Name: "the name of a type", World: under(`{"contact": {"const": "array"}}`, `{/contact: a}`),
			Want: `implementations/nova.json:12:3: error: schema: schema-const`,
			Says: []string{`fix: set contact to a value that`}},
		{Name: "an empty signature", Base: "{listing: ada}", PR: "{revoke: ada, tamper: {set: {/signature: {}}}}",
			Want: `
revocations/ada-0ee9e6ecb821a8e4eb7478a361b11af2dd4e4e1399aa4f0cc041538c028db54f.json:7:3: error: schema: schema-required
revocations/ada-0ee9e6ecb821a8e4eb7478a361b11af2dd4e4e1399aa4f0cc041538c028db54f.json:7:3: error: schema: schema-required
revocations/ada-0ee9e6ecb821a8e4eb7478a361b11af2dd4e4e1399aa4f0cc041538c028db54f.json:7:3: error: schema: schema-required`,
			Says: []string{`fix: set signature to a value that`}},
		{Name: "a reason that is a number", Base: "{listing: ada}", PR: "{revoke: ada, tamper: {set: {/reason: 7}}}",
			Want: `revocations/ada-0ee9e6ecb821a8e4eb7478a361b11af2dd4e4e1399aa4f0cc041538c028db54f.json:4:3: error: schema: schema-type`,
			Says: []string{`fix: set reason to a value that`}},
		{Name: "a short name", PR: "{listing: nova, set: {/name: a}}",
			Want: `implementations/nova.json:3:3: error: schema: schema-minLength`,
			Says: []string{`fix: sign a Receipt whose implementation.name has 2 to 80 characters`}},
		{Name: "a name that is a number", PR: "{listing: nova, set: {/name: 7}}",
			Want: `implementations/nova.json:3:3: error: schema: schema-type`,
			Says: []string{`fix: set name to a value that oap-gate schema listing allows`}},
		{Name: "a long name", World: `pr: [{listing: nova, set: {/name: "` + strings.Repeat("a", 81) + `"}}]`,
			Want: `implementations/nova.json:3:3: error: schema: schema-maxLength`,
			Says: []string{`fix: sign a Receipt whose implementation.name has 2 to 80 characters`}},
		{Name: "a signature that is a text", World: `
base: [{listing: ada}]
pr: [{revoke: ada, tamper: {set: {/signature: "a"}}}]
`,
			Want: `revocations/ada-0ee9e6ecb821a8e4eb7478a361b11af2dd4e4e1399aa4f0cc041538c028db54f.json:7:3: error: schema: schema-type`,
			Says: []string{`signature: `}},
	}))
}

// The schemas of the registry are files of the base tree, and a new one refuses no record that was valid.
func TestSchemaFiles(t *testing.T) {
	checktest.Run(t, only("schema", []checktest.Case{
		{Name: "executable",
			Base: `{write: schemas/implementation.schema.json, text: '{"required": ["x"]}', mode: "100755"}`,
			PR:   "{listing: nova}", Want: `implementations/nova.json:1:1: error: schema: schema-required`},
		{Name: "a link", Base: `{listing: ada}, {write: schemas/implementation.schema.json, text: a, mode: "120000"}`,
			PR: "{listing: nova}", Want: `schemas/implementation.schema.json: error: schema: schema-broken`,
			Says: []string{`schemas/implementation.schema.json is not a regular file`}},
		{Name: "256 KiB",
			Base: `{listing: ada}, {write: schemas/implementation.schema.json, text: " ", repeat: 262144}`,
			PR:   "{listing: nova}", Want: `schemas/implementation.schema.json: error: schema: schema-broken`},
		{Name: "a byte more",
			Base: `{listing: ada}, {write: schemas/implementation.schema.json, text: " ", repeat: 262145}`,
			PR:   "{listing: nova}", Want: `schemas/implementation.schema.json: error: schema: schema-broken`,
			Says: []string{`has more than 262144 bytes`}},
		{Name: "broken, and no record changes",
			Base: `{listing: ada}, {write: schemas/implementation.schema.json, text: "{"}`,
			PR:   "{write: a.md, text: a}", Want: `schemas/implementation.schema.json: warning: schema: schema-broken`},
		{Name: "mended", Base: `{listing: ada}, {write: schemas/implementation.schema.json, text: "{"}`,
			PR: `{write: schemas/implementation.schema.json, text: "{}"}`, Want: `pass`},
		{Name: "a new one that does not compile", Base: "{listing: ada}",
			PR:   `{write: schemas/implementation.schema.json, text: '{"type": 7}'}`,
			Want: `schemas/implementation.schema.json: error: schema: schema-broken`},
		{Name: "a new one that refuses a record",
			Base: `{listing: ada}, {listing: bob, set: {/contact: 7}}, {write: implementations/cyd.json, text: "{"}`,
			PR:   `{write: schemas/implementation.schema.json, text: '{"required": ["x"]}'}`, Want: `
implementations/bob.json:12:3: warning: schema: schema-type
schemas/implementation.schema.json: error: schema: schema-refuses-records`},
		{Name: "a new one that refuses 11 records", World: `
base: [{listing: a1}, {listing: a2}, {listing: a3}, {listing: a4}, {listing: a5}, {listing: a6}, {listing: a7},
  {listing: a8}, {listing: a9}, {listing: b1}, {listing: b2}]
pr: [{write: schemas/implementation.schema.json, text: '{"required": ["x"]}'}]
`, Want: strings.Repeat("\nschemas/implementation.schema.json: error: schema: schema-refuses-records", 11),
			Says: []string{`the proposed schema refuses 1 more record`}},
		{Name: "a new one that refuses 10 records", World: `
base: [{listing: a1}, {listing: a2}, {listing: a3}, {listing: a4}, {listing: a5}, {listing: a6}, {listing: a7},
  {listing: a8}, {listing: a9}, {listing: b1}]
pr: [{write: schemas/implementation.schema.json, text: '{"required": ["x"]}'}]
`, Want: strings.Repeat("\nschemas/implementation.schema.json: error: schema: schema-refuses-records", 10)},
	}))
}

// A base tree whose schemas allow anything: the checks themselves refuse what they cannot read.
func TestAttackLax(t *testing.T) {
	checktest.Run(t, []checktest.Case{
		{Name: "anchor", Base: `{write: schemas/workflow-anchor.schema.json, text: "true"}, {listing: ada}`,
			PR:   "{anchor: flow, coordinator: ada, delete: [/anchored_at]}",
			Want: `workflow-anchors/flow.json:1:1: error: workflow-anchors: unreadable-time`},
		// what names no workflow would take none, and anybody could anchor it again
		{Name: "anchor of no workflow",
			World: `base: [{write: schemas/workflow-anchor.schema.json, text: "true"}, {listing: ada}]
pr: [{anchor: flow, coordinator: ada, delete: [/workflow_id], receipt: {body: '{"coordinator_did": "did:web:ada.example"}'}}]
`,
			Want: `workflow-anchors/flow.json:1:1: error: workflow-anchors: workflow-id-differs`},
		{Name: "anchor of a number",
			World: `base: [{write: schemas/workflow-anchor.schema.json, text: "true"}, {listing: ada}]
pr:
  - {anchor: flow, coordinator: ada, set: {/workflow_id: 7}, receipt: {body: '{"workflow_id": 7, "coordinator_did": "did:web:ada.example"}'}}
`,
			Want: `workflow-anchors/flow.json:3:3: error: workflow-anchors: workflow-id-differs`},
		{Name: "revocation", Base: `{write: schemas/revocation.schema.json, text: "true"}, {listing: ada}`,
			PR: "{revoke: ada, revocation: {delete: [/reason, /revoked_at]}}", Want: `
revocations/ada-0ee9e6ecb821a8e4eb7478a361b11af2dd4e4e1399aa4f0cc041538c028db54f.json:1:1: error: revocations: no-such-reason
revocations/ada-0ee9e6ecb821a8e4eb7478a361b11af2dd4e4e1399aa4f0cc041538c028db54f.json:1:1: error: revocations: unreadable-time`},
		// what a witness signed for a candidate is no revocation, whatever members the candidate wrote into it
		{Name: "receipt",
			World: `base: [{write: schemas/revocation.schema.json, text: "true"}, {listing: ada}]
pr: [{revoke: ada, revocation: {set: {/implementation: {did: "did:web:nova.example"}, /claimed_levels: [L4], /signatures: []}}}]
`,
			Want: `revocations/ada-0ee9e6ecb821a8e4eb7478a361b11af2dd4e4e1399aa4f0cc041538c028db54f.json:10:3: error: revocations: revocation-is-receipt`},
		// no served bytes match a listing without a pin
		{Name: "listing without pin", Base: `{write: schemas/implementation.schema.json, text: "true"}, {listing: ada}`,
			PR:   "{listing: nova, delete: [/conformance_receipt_sha256]}",
			Want: `implementations/nova.json:1:1: error: receipt-fetch: receipt-hash-mismatch`,
			Says: []string{`the listing pins none `}},
		{Name: "re-issue without pin",
			Base: `{write: schemas/implementation.schema.json, text: "true"}, {listing: ada}`,
			PR:   "{reissue: ada, set: {/conformance_receipt_sha256: []}}",
			Want: `implementations/ada.json:8:3: error: receipt-fetch: receipt-hash-mismatch`},
		{Name: "anchor without pin", Base: `{write: schemas/workflow-anchor.schema.json, text: "true"}, {listing: ada}`,
			PR:   "{anchor: flow, coordinator: ada, delete: [/cross_match_receipt_sha256]}",
			Want: `workflow-anchors/flow.json:7:3: error: workflow-anchors: hash-mismatch`},
		{Name: "witness without pin",
			World: `base:
  - {write: schemas/implementation.schema.json, text: "true"}
  - {listing: ada, level: L4, delete: [/conformance_receipt_sha256]}
pr: [{listing: nova, level: L4, witness: [ada]}]
`,
			Want: peers("nova", "inconclusive witness-open", "warning witness-evidence")},
		{Name: "level", Base: `{write: schemas/implementation.schema.json, text: "true"}, {listing: ada}`,
			PR:   "{listing: nova, level: L4, set: {/conformance_level: [L4]}}",
			Want: `implementations/nova.json:6:3: error: receipt-claims: no-such-level`},
		{Name: "provisional",
			World: `base: [{write: schemas/implementation.schema.json, text: "true"}, {listing: ada}]
pr: [{listing: nova, registered: -5d, set: {/provisional: "true"}}]
`,
			Want: `implementations/nova.json:4:3: error: domain-age: domain-too-young`},
	})
}
