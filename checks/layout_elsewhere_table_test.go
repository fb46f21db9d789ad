package checks_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

// TestRecordElsewhere requires a finding on a record outside the data directories, where it anchors nothing.
func TestRecordElsewhere(t *testing.T) {
	checktest.Run(t, []checktest.Case{
		// a listing, a revocation, an anchor; the command makes records of them
		{Name: "listing", PR: "{listing: ada}, {move: [implementations/ada.json, implementation/ada.json]}", Want: `
implementation/ada.json: error: layout: record-elsewhere
implementation/ada.json: warning: append-only: governance`,
			Says: []string{
				`implementation/ada.json: error: layout: "implementation/ada.json" looks like a listing`,
				`fix: git mv implementation/ada.json implementations/ada.json, or, if it is an example, put it below examples/`,
				`^fail: checked 0 records, .*; no record was judged`,
			}},
		{Name: "removed, and on main too", World: "main: [{remove: a.md}]",
			Base: "{listing: ada}, {write: a.md, text: a}", PR: "{remove: a.md}, {listing: nova}", Want: `pass`},
		{Name: "executable, a copy of a record, and files that are no records", World: `
base:
  - {listing: ada}
  - {write: schemas/revocation.schema.json, text: "{}"}
  - {write: revocations/ada-1111111111111111111111111111111111111111111111111111111111111111.json,
     text: '{"slug": "ada", "revoked_receipt_sha256": "1111111111111111111111111111111111111111111111111111111111111111"}'}
pr:
  - {write: docs/a.json, mode: "100755",
     text: '{"slug": "eve", "revoked_by_did": "x", "revoked_receipt_sha256": "1111111111111111111111111111111111111111111111111111111111111111"}'}
  - {write: docs/b.json,
     text: '{"slug": "ada", "revoked_by_did": "x", "revoked_receipt_sha256": "1111111111111111111111111111111111111111111111111111111111111111"}'}
  - {write: docs/c.json,
     text: '{"slug": "a", "revoked_receipt_sha256": "1111111111111111111111111111111111111111111111111111111111111111"}'}
  - {write: docs/d.json, text: '{}'}
  - {write: implementations/README.md,
     text: '{"slug": "eve", "revoked_receipt_sha256": "1111111111111111111111111111111111111111111111111111111111111111"}'}
`, Only: "layout",
			Want: `
docs/a.json: warning: layout: record-elsewhere
docs/b.json: warning: layout: record-elsewhere`,
			Says: []string{`"docs/b.json" looks like a revocation`}},
		{Name: "in the root", PR: "{listing: ada}, {move: [implementations/ada.json, ada.json]}", Want: `
ada.json: error: layout: record-elsewhere
ada.json: warning: append-only: governance`,
			Says: []string{`fix: git mv ada.json implementations/ada.json`}},
		{Name: "revocation", Base: "{listing: ada}", PR: "{revoke: ada, path: revocation/ada.json}", Want: `
revocation/ada.json: error: layout: record-elsewhere
revocation/ada.json: warning: append-only: governance`,
			Says: []string{`fix: git mv revocation/ada.json revocations/ada-[0-9a-f]{64}.json`}},
		{Name: "anchor", Base: "{listing: ada}",
			PR: "{anchor: flow, coordinator: ada}, {move: [workflow-anchors/flow.json, flow]}", Want: `
flow: error: layout: record-elsewhere
flow: warning: append-only: governance`,
			Says: []string{
				`looks like a workflow anchor`,
				`fix: git mv flow workflow-anchors/flow.json`,
			}},
		// beside a record it warns too, though the mixture fails
		{Name: "mixed",
			PR: "{listing: ada}, {listing: bob}, {move: [implementations/bob.json, implementation/bob.json]}", Want: `
implementation/bob.json: warning: layout: record-elsewhere
implementation/bob.json: error: append-only: mixed`},
		// a renewal of what stands; a copy of it belongs in the directory of witnesses
		{Name: "renewal",
			World: `base: [{listing: ada}, {write: note, text: "n"}]
pr:
  - {write: new.json, text: '{"slug": "ada", "name": "Ada", "tool_did": "did:web:ada.example", "manifest_uri": "https://ada.example/.well-known/oap.json", "conformance_level": "L1", "conformance_receipt_uri": "https://ada.example/r.json", "conformance_receipt_sha256": "0000000000000000000000000000000000000000000000000000000000000000", "issued_at": "2026-05-01T00:00:00Z", "expires_at": "2026-07-01T00:00:00Z", "license": "Apache-2.0", "contact": "a@ada.example"}'}
`,
			Want: `
new.json: error: layout: record-elsewhere
new.json: warning: append-only: governance`,
			Says: []string{`fix: git mv -f new.json implementations/ada.json`}},
		{Name: "copy", Base: "{listing: ada, level: L4, witness: [bob]}, {listing: bob, level: L4, witness: [ada]}",
			PR: "{peer-witness: ada}, {move: [peer-witnesses/ada.json, peer-witness/ada.json]}", Want: `
peer-witness/ada.json: error: layout: record-elsewhere
peer-witness/ada.json: warning: append-only: governance`,
			Says: []string{
				`looks like a peer witness entry`,
				`fix: git mv peer-witness/ada.json peer-witnesses/ada.json`,
			}},
		// a name that a shell reads otherwise is quoted
		{Name: "odd name", PR: "{listing: ada}, {move: [implementations/ada.json, my listing.json]}", Want: `
my listing.json: error: layout: record-elsewhere
my listing.json: warning: append-only: governance`,
			Says: []string{`fix: git mv -- 'my listing.json' implementations/ada.json`}},
		// whatever the schemas of the base tree say
		{Name: "own schema", Base: `{write: schemas/implementation.schema.json, text: '{"required": ["other"]}'}`,
			PR: "{listing: ada}, {move: [implementations/ada.json, ada.json]}", Want: `
ada.json: error: layout: record-elsewhere
ada.json: warning: append-only: governance`},
		// examples, with mistakes too; a text about a record, one with one member of a record, a link, one too large;
		// one that stood before
		{Name: "honest",
			World: `pr:
  - {listing: ada, set: {/conformance_level: L9}}
  - {listing: bob, set: {/slug: ""}}
  - {write: docs/example.md, text: "A listing: {\"slug\": \"ada\"}"}
  - {write: docs/example.json, text: "{\"slug\": \"ada\"}"}
  - {write: docs/link.json, text: example.json, mode: "120000"}
  - {write: docs/large.json, text: " ", repeat: 70000}
  - {move: [implementations/ada.json, docs/ada.json]}
  - {move: [implementations/bob.json, docs/bob.json]}
`,
			Want: `
docs/ada.json: warning: layout: record-elsewhere
docs/bob.json: warning: layout: record-elsewhere
docs/ada.json: warning: append-only: governance`,
			Says: []string{`no record was judged`, `fix: git mv docs/bob.json implementations/bob.json, or`}},
		// with mistakes: not JSON, no slug, next to another new file, in two commits; in a directory of such a name
		{Name: "mistakes",
			World: `pr:
  - {write: listings/ada.json, text: '{"tool_did": "did:web:ada.example", "conformance_level": "L1",}'}
  - {write: ada, text: '{"tool_did": "did:web:ada.example", "conformance_level": "L1"}'}
  - {write: a/b c.json, text: '{"coordinator_did": 1, "tool_did": 2}'}
`,
			Want: `
a/b c.json: error: layout: record-elsewhere
ada: error: layout: record-elsewhere
listings/ada.json: error: layout: record-elsewhere
a/b c.json: warning: append-only: governance`,
			Says: []string{`fix: git mv listings/ada.json implementations/ada.json, or`,
				`fix: git mv ada implementations/<slug>.json, or`,
				`fix: git mv -- 'a/b c.json' workflow-anchors/<slug>.json, or`}},
		{Name: "next to another new file",
			PR: "{listing: ada}, {move: [implementations/ada.json, implementation/ada.json]}, {write: new.md, text: x}",
			Want: `
implementation/ada.json: warning: layout: record-elsewhere
implementation/ada.json: warning: append-only: governance`},
		{Name: "alone in its commit",
			World: `pr:
  - {listing: ada}
  - {move: [implementations/ada.json, implementation/ada.json]}
  - {commit: one}
  - {write: new.md, text: x}
`,
			Want: `
implementation/ada.json: error: layout: record-elsewhere
implementation/ada.json: warning: append-only: governance`},
		{Name: "like a directory",
			World: `pr:
  - {write: sdk/implementations/index.json, text: ' {"languages": ["go"]}'}
  - {write: sdk/revocation/index.yml, text: '{a: 1}'}
  - {write: sdk/revocation/list.json, text: '["a"]'}
  - {write: sdk/implements/index.json, text: '{}'}
`,
			Want: `
sdk/implementations/index.json: warning: layout: record-elsewhere
sdk/revocation/index.yml: warning: layout: record-elsewhere
sdk/implementations/index.json: warning: append-only: governance`,
			Says: []string{`in a directory whose name is like that of implementations, so`}},
		{Name: "members below the root, and one",
			World: `pr:
  - {write: schema.json, text: '{"properties": {"tool_did": {}, "conformance_level": {}}, "tool_did": 1}'}
  - {write: list.json, text: '[{"tool_did": {}, "conformance_level": {}}]'}
`,
			Want: `list.json: warning: append-only: governance`},
		{Name: "stood",
			World: `base: [{listing: ada}, {move: [implementations/ada.json, docs/ada.json]}]
pr: [{listing: bob}]
`,
			Want: `pass`},
	})
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
		{Name: "slug of a device", Base: "{listing: aux}", Want: `pass`},
		{Name: "another name", Base: "{listing: ada, set: {/slug: bob}}",
			Want: `implementations/ada.json:2:3: error: layout: slug-mismatch`,
			Says: []string{`fix: set slug to "ada", or rename the file$`}},
		{Name: "a name that no record has",
			Base: "{listing: ada}, {move: [implementations/ada.json, implementations/ada.jsn]}",
			Want: `implementations/ada.jsn:1:1: error: layout: misplaced-file`},
		{Name: "an entry that copies no listing", Base: "{listing: ada}, {peer-witness: ada, set: {/name: Eve}}",
			Want: `pass`},
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
