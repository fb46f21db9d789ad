package checks_test

import (
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

// What may become of a file of a data directory that is not a record in the base tree.
func TestRepair(t *testing.T) {
	const listed = "base:\n  - {listing: ada, issued: -10d}\n  - {commit: List}\n"
	const misplaced = "base:\n  - {listing: ada, issued: -10d}\n  - {listing: eve, issued: -10d}\n" +
		"  - {revoke: ada, path: revocations/odd.json}\npr:\n"
	const broken = listed + "  - {write: revocations/odd.json, text: '{'}\npr:\n"
	// A direct push breaks a listing; setting the contact again gives it the bytes that it had.
	const broke = listed + "  - {edit: implementations/ada.json, set: {/contact: 7}}\n  - {commit: Break}\npr:\n"
	const restore = "  - {edit: implementations/ada.json, set: {/contact: contact@ada.example}}\n"
	// revocations/odd.json holds a hash that is pinned
	const hash = listed + "  - {write: revocations/odd.json, text: '{ $pin(ada)'}\npr:\n"
	// A direct push moves a listing away, and leaves text in its place that cannot be read.
	const unread = listed + "  - {move: [implementations/ada.json, ada.txt]}\n" +
		"  - {write: implementations/ada.json, text: '{'}\n  - {commit: Break}\n"
	const gone = "base:\n  - {listing: ada, issued: -100d}\n  - {commit: List}\n  - {revoke: ada}\n" +
		"  - {commit: Revoke}\n  - {move: [implementations/ada.json, ada.txt]}\n  - {commit: Remove}\n"
	const anchored = "base:\n  - {listing: ada}\n" +
		"  - {anchor: one, coordinator: ada, workflow: wf_01ARZ3NDEKTSV4RRFFQ69G5FAV}\n  - {commit: List}\n"
	checktest.Run(t, []checktest.Case{
		{Name: "removed", World: broken + `  - {remove: revocations/odd.json}`,
			Want: `revocations/odd.json: warning: append-only: governance`,
			Says: []string{`append-only +pass +removes a file that never was a record`}},
		{Name: "removed, with a record", World: broken + `
  - {remove: revocations/odd.json}
  - {listing: nova}`, Want: `revocations/odd.json: error: append-only: mixed`},
		{Name: "removed, with a re-issue", World: broken + `
  - {remove: revocations/odd.json}
  - {reissue: ada}`, Want: `revocations/odd.json: error: append-only: mixed`},
		{Name: "edited", World: broken + `  - {write: revocations/odd.json, text: '['}`, Want: `
revocations/odd.json:1:1: error: layout: misplaced-file
revocations/odd.json:1:2: error: append-only: edited`,
			Says: []string{`this file is edited and never was a record; expected its removal`,
				`fix: remove it: git rm -f revocations/odd.json`}},
		{Name: "edited in between, removed", World: broken + `
  - {write: revocations/odd.json, text: '{}'}
  - {commit: Edit}
  - {remove: revocations/odd.json}`, Want: `
registry: warning: append-only: squash
revocations/odd.json: warning: append-only: governance
revocations/odd.json: error: append-only: commit-tampers`},
		{Name: "removed, written again", World: broken + `
  - {remove: revocations/odd.json}
  - {commit: Remove}
  - {write: revocations/odd.json, text: '{'}`, Want: `
registry: warning: append-only: squash
revocations/odd.json:1:2: error: append-only: commit-tampers`},
		{Name: "removed, moved on", World: listed + `
  - {write: revocations/odd.json, text: '{'}
main: [{write: revocations/odd.json, text: '['}]
pr: [{remove: revocations/odd.json}]`, Want: `
revocations/odd.json: warning: append-only: governance
revocations/odd.json: error: append-only: base-moved-on`},
		{Name: "removed, gone on main", World: listed + `
  - {write: revocations/odd.json, text: '{'}
main: [{remove: revocations/odd.json}]
pr: [{remove: revocations/odd.json}]`, Want: `pass`},
		{Name: "hash, removed", World: hash + `  - {remove: revocations/odd.json}`,
			Want: `revocations/odd.json: error: append-only: deleted`,
			Says: []string{
				`this file is removed and holds the hash [0-9a-f]{64}, which implementations/ada.json pins or pinned; expected`,
				`fix: leave it where it is: git checkout [0-9a-f]{12} -- revocations/odd.json`}},
		{Name: "hash, edited", World: hash + `  - {write: revocations/odd.json, text: '['}`, Want: `
revocations/odd.json:1:1: error: layout: misplaced-file
revocations/odd.json:1:2: error: append-only: edited`,
			Says: []string{`this file is edited, never was a record, and holds the hash [0-9a-f]{64}, which implementations/ada.json`,
				`fix: leave it as it is: git checkout [0-9a-f]{12} -- revocations/odd.json`}},
		{Name: "hash among digits, removed", World: listed + `
  - {write: revocations/odd.json, text: '00$pin(ada)ff'}
pr: [{remove: revocations/odd.json}]`, Want: `revocations/odd.json: error: append-only: deleted`},
		{Name: "hash but its last digit, removed", World: listed + `
  - {write: revocations/odd.json, text: '0ee9e6ecb821a8e4eb7478a361b11af2dd4e4e1399aa4f0cc041538c028db54'}
pr: [{remove: revocations/odd.json}]`, Want: `revocations/odd.json: warning: append-only: governance`},
		{Name: "hash in capitals, removed", World: listed + `
  - {write: revocations/odd.json, text: '0EE9E6ECB821A8E4EB7478A361B11AF2DD4E4E1399AA4F0CC041538C028DB54F'}
pr: [{remove: revocations/odd.json}]`, Want: `revocations/odd.json: error: append-only: deleted`},
		{Name: "hash in an earlier text, removed", World: listed + `
  - {write: revocations/odd.json, text: '$pin(ada)'}
  - {commit: Break}
  - {write: revocations/odd.json, text: '{'}
pr: [{remove: revocations/odd.json}]`, Want: `revocations/odd.json: warning: append-only: governance`},
		{Name: "hash of a former Receipt, removed", World: listed + `
  - {reissue: ada}
  - {commit: Renew}
  - {write: revocations/odd.json, text: '$pin(ada,1)'}
pr: [{remove: revocations/odd.json}]`, Want: `revocations/odd.json: error: append-only: deleted`},
		{Name: "hash in the last text but not in an earlier one, removed", World: listed + `
  - {write: revocations/odd.json, text: '{'}
  - {commit: Break}
  - {write: revocations/odd.json, text: '$pin(ada)'}
pr: [{remove: revocations/odd.json}]`, Want: `revocations/odd.json: error: append-only: deleted`},
		{Name: "hash spelled with an escape, removed", World: listed + `
  - write: revocations/odd.json
    text: '{"slug": "ada", "revoked_receipt_sha256": "0\u0065e9e6ecb821a8e4eb7478a361b11af2dd4e4e1399aa4f0cc041538c028db54f"}'
pr: [{remove: revocations/odd.json}]`, Want: `
registry: notice: revocations: not-in-force
revocations/odd.json: error: append-only: deleted`,
			Says: []string{`holds the hash 0ee9e6ec`}},
		{Name: "hash of a listing that was removed, removed", World: listed + `
  - {remove: implementations/ada.json}
  - {commit: Remove}
  - {write: revocations/odd.json, text: '$pin(ada)'}
pr: [{remove: revocations/odd.json}]`, Want: `revocations/odd.json: error: append-only: deleted`},
		{Name: "revocation by another name, removed", World: listed + `
  - {revoke: ada}
  - {move: ["revocations/ada-$pin(ada).json", revocations/odd.json]}
pr: [{remove: revocations/odd.json}]`, Want: `
registry: notice: revocations: not-in-force
revocations/odd.json: error: append-only: deleted`,
			Says: []string{`holds the hash 0ee9e6ec`}},
		{Name: "misplaced revocation, another in between", World: misplaced + `
  - {revoke: eve, path: revocations/odd.json}
  - {commit: Edit}
  - {remove: revocations/odd.json}
  - {revoke: ada}`, Want: `
registry: warning: append-only: squash
revocations/odd.json: warning: append-only: governance
registry: notice: revocations: not-in-force
revocations/odd.json: error: append-only: commit-tampers`,
			Says: []string{`leaves a misplaced revocation, or what replaces it, otherwise than the range does`}},
		{Name: "misplaced revocation removed, then replaced", World: misplaced + `
  - {remove: revocations/odd.json}
  - {commit: Remove}
  - {revoke: ada}`, Want: `
registry: warning: append-only: squash
revocations/odd.json: warning: append-only: governance
registry: notice: revocations: not-in-force
revocations/odd.json: error: append-only: commit-tampers`},
		{Name: "misplaced revocation replaced, then removed", World: misplaced + `
  - {revoke: ada}
  - {commit: Replace}
  - {remove: revocations/odd.json}`, Want: `
registry: warning: append-only: squash
revocations/odd.json: warning: append-only: governance
registry: notice: revocations: not-in-force`},
		{Name: "edited to what looks renewed", World: listed + `
  - write: revocations/odd.json
    text: '{"slug": "x", "tool_did": "x", "conformance_receipt_sha256": "x", "issued_at": "2026-01-01T00:00:00Z"}'
pr:
  - write: revocations/odd.json
    text: '{"slug": "x", "tool_did": "x", "conformance_receipt_sha256": "y", "issued_at": "2026-01-02T00:00:00Z"}'`,
			Only: "append-only", Want: `revocations/odd.json:1:1: error: append-only: edited`,
			Says: []string{`this file is edited and never was a record`}},
		{Name: "hash that only a broken listing pins, removed", World: `
base:
  - {listing: ada}
  - {listing: bob, set: {/contact: 7}}
  - {write: revocations/odd.json, text: '$pin(bob)'}
pr: [{remove: revocations/odd.json}]`, Want: `
implementations/bob.json:12:3: warning: schema: schema-type
revocations/odd.json: error: append-only: deleted`},
		{Name: "revocation restored", World: listed + `
  - {revoke: ada}
  - {commit: Revoke}
  - {move: ["revocations/ada-$pin(ada).json", a.md]}
  - {commit: Remove}
pr: [{move: [a.md, "revocations/ada-$pin(ada).json"]}]`, Want: `
a.md: warning: append-only: governance
registry: notice: revocations: not-in-force`,
			Says: []string{`append-only +pass +gives the file back what it had as a record`}},
		{Name: "revocation restored, executable", World: listed + `
  - {revoke: ada}
  - {commit: Revoke}
  - {write: "revocations/ada-$pin(ada).json", text: x}
  - {commit: Break}
pr: [{write: "revocations/ada-$pin(ada).json", text: y}]`, Want: `
registry: notice: revocations: not-in-force
revocations/ada-0ee9e6ecb821a8e4eb7478a361b11af2dd4e4e1399aa4f0cc041538c028db54f.json:1:1: error: layout: json-syntax
revocations/ada-0ee9e6ecb821a8e4eb7478a361b11af2dd4e4e1399aa4f0cc041538c028db54f.json:1:1: error: append-only: edited`},
		{Name: "name, removed", World: listed + `
  - {write: "revocations/x-$pin(ada).json.bak", text: x}
pr: [{remove: "revocations/x-$pin(ada).json.bak"}]`,
			Want: `revocations/x-0ee9e6ecb821a8e4eb7478a361b11af2dd4e4e1399aa4f0cc041538c028db54f.json.bak: error: append-only: deleted`},
		{Name: "schema, removed", World: listed + `
  - {write: implementations/eve.json, text: '{"slug": "eve"}'}
pr: [{remove: implementations/eve.json}]`, Want: `
implementations/eve.json: warning: append-only: governance
registry: notice: revocations: not-in-force`},
		{Name: "link, removed", World: listed + `
  - {write: implementations/eve.json, mode: "120000", text: ada.json}
pr: [{remove: implementations/eve.json}]`,
			Want: `implementations/eve.json: warning: append-only: governance`},
		{Name: "listing restored", World: broke + restore,
			Want: `implementations/ada.json: warning: append-only: governance`},
		{Name: "listing restored with a listing", World: broke + restore + `  - {listing: nova}
`, Want: `implementations/ada.json: error: append-only: mixed`},
		{Name: "listing restored with a re-issue",
			World: strings.Replace(broke, "base:", "base:\n  - {listing: bob}", 1) + restore +
				`  - {reissue: bob}`,
			Want: `implementations/ada.json: error: append-only: mixed`},
		{Name: "listing restored to another", World: broke + `
  - {edit: implementations/ada.json, set: {/contact: o@ada.example}}`, Want: `
implementations/ada.json:8:3: error: reissue: receipt-unchanged
implementations/ada.json:12:3: warning: reissue: unsigned-change`},
		{Name: "listing restored elsewhere", World: broke + restore + `
  - {move: [implementations/ada.json, implementations/eve.json]}`, Want: `
implementations/ada.json: error: append-only: deleted
implementations/eve.json:2:3: error: layout: slug-mismatch`},
		{Name: "listing restored, broken in between", World: broke + `
  - {edit: implementations/ada.json, set: {/contact: 8}}
  - {commit: Break}
` + restore, Want: `
implementations/ada.json:1:1: error: append-only: commit-tampers
registry: warning: append-only: squash
implementations/ada.json: warning: append-only: governance`},
		{Name: "listing restored in between", World: broke + restore + `
  - {commit: Restore}
  - {reissue: ada}`, Want: `
implementations/ada.json:12:3: warning: reissue: unsigned-change
registry: warning: append-only: squash`},
		{Name: "listing removed", World: broke + `  - {remove: implementations/ada.json}`,
			Want: `implementations/ada.json: error: append-only: deleted`,
			Says: []string{
				`this file is removed; expected the content that it had when it last was a record, in commit [0-9a-f]{12}`,
				`fix: restore it: git checkout [0-9a-f]{40} -- implementations/ada.json`}},
		{Name: "new listing removed and added again",
			Base: "{listing: ada}, {commit: List}, {move: [implementations/ada.json, a.md]}",
			PR:   "{move: [a.md, implementations/ada.json]}", Want: `a.md: error: append-only: mixed`},
		{Name: "listing made unreadable", World: listed, PR: "{write: implementations/ada.json, text: '{'}",
			Want: `implementations/ada.json:1:2: error: layout: json-syntax`},
		{Name: "listing unreadable, written, renewed", World: listed + `
  - {write: implementations/ada.json, text: '{'}
pr: [{write: implementations/ada.json, text: '{"slug": "ada"}'}, {commit: Write}, {reissue: ada}]`, Want: `
implementations/ada.json:1:1: error: append-only: commit-tampers
implementations/ada.json:1:1: error: reissue: base-unreadable
registry: warning: append-only: squash`},
		{Name: "listing with an earlier time restored", World: listed + `
  - {edit: implementations/ada.json, set: {/contact: 7, /issued_at: "2020-01-01T00:00:00Z"}}
pr: [{edit: implementations/ada.json, set: {/contact: contact@ada.example, /issued_at: "2026-05-22T12:00:00Z"}}]`,
			Want: `implementations/ada.json: warning: append-only: governance`},
		{Name: "listing with a later time and another Receipt restored", World: listed + `
  - edit: implementations/ada.json
    set: {/contact: 7, /issued_at: "2026-05-30T12:00:00Z", /conformance_receipt_sha256: "0000000000000000000000000000000000000000000000000000000000000000"}
pr:
  - edit: implementations/ada.json
    set: {/contact: contact@ada.example, /issued_at: "2026-05-22T12:00:00Z", /conformance_receipt_sha256: $pin(ada)}`,
			Want: `implementations/ada.json: warning: append-only: governance`},
		{Name: "listing with an earlier time and another Receipt restored, which is a re-issue", World: listed + `
  - edit: implementations/ada.json
    set: {/contact: 7, /issued_at: "2020-01-01T00:00:00Z", /conformance_receipt_sha256: "0000000000000000000000000000000000000000000000000000000000000000"}
pr:
  - edit: implementations/ada.json
    set: {/contact: contact@ada.example, /issued_at: "2026-05-22T12:00:00Z", /conformance_receipt_sha256: $pin(ada)}`,
			Only: "append-only reissue", Want: `implementations/ada.json:12:3: warning: reissue: unsigned-change`},
		{Name: "a record of a schema that cannot be used", World: listed + `
  - {write: schemas/revocation.schema.json, text: "{"}
  - {write: "revocations/eve-$pin(ada).json", text: '{"slug": "eve", "revoked_receipt_sha256": "$pin(ada)"}'}
pr: [{write: "revocations/eve-$pin(ada).json", text: '{"slug": "eve"}'}]`,
			Only: "append-only",
			Want: `revocations/eve-0ee9e6ecb821a8e4eb7478a361b11af2dd4e4e1399aa4f0cc041538c028db54f.json:1:1: error: append-only: edited`,
			Says: []string{`this merged revocation is edited`}},
		{Name: "expired listing returns",
			Base: "{listing: ada, issued: -100d}, {commit: List}, {move: [implementations/ada.json, ada.txt]}",
			PR:   "{move: [ada.txt, implementations/ada.json]}", Want: `ada.txt: warning: append-only: governance`},
		{Name: "listing with another slug and Receipt restored", World: listed + `
  - {move: [implementations/ada.json, a.md]}
  - write: implementations/ada.json
    text: '{"slug": "eve", "tool_did": "did:web:ada.example", "conformance_receipt_sha256": "x", "issued_at": "2020-01-01T00:00:00Z"}'
pr: [{move: [a.md, implementations/ada.json]}]`, Want: `
a.md: warning: append-only: governance
registry: notice: revocations: not-in-force`},
		{Name: "listing with another DID and Receipt restored", World: listed + `
  - {move: [implementations/ada.json, a.md]}
  - write: implementations/ada.json
    text: '{"slug": "ada", "tool_did": "did:web:eve.example", "conformance_receipt_sha256": "x", "issued_at": "2020-01-01T00:00:00Z"}'
pr: [{move: [a.md, implementations/ada.json]}]`, Want: `
a.md: warning: append-only: governance
registry: notice: revocations: not-in-force`},
		{Name: "listing broken, renewed", World: broke + `  - {reissue: ada}`,
			Want: `implementations/ada.json:12:3: warning: reissue: unsigned-change`},
		{Name: "two listings restored", World: `base:
  - {listing: ada, issued: -10d}
  - {listing: bob, issued: -10d}
  - {commit: List}
  - {edit: implementations/ada.json, set: {/contact: 7}}
  - {edit: implementations/bob.json, set: {/contact: 7}}
  - {commit: Break}
pr:
  - {edit: implementations/bob.json, set: {/contact: contact@bob.example}}
` + restore, Want: `implementations/ada.json: warning: append-only: governance`},
		// What returns is compared with what the base tree lists by now.
		{Name: "listing restored, its DID taken meanwhile", World: unread + `
  - {listing: eve, host: ada.example, key: ada}
pr:
  - {remove: implementations/ada.json}
  - {move: [ada.txt, implementations/ada.json]}
`, Want: `
implementations/ada.json:4:3: error: layout: duplicate-did
ada.txt: warning: append-only: governance`,
			Says: []string{`fix: leave the file as the base tree has it: the other listing counts`}},
		{Name: "unreadable listing restored", World: unread,
			PR:   "{remove: implementations/ada.json}, {move: [ada.txt, implementations/ada.json]}",
			Want: `ada.txt: warning: append-only: governance`},
		{Name: "listing restored, its DID listed twice before", World: strings.TrimSuffix(broke, "pr:\n") + `
  - {listing: eve, host: ada.example, key: ada}
pr:
` + restore, Want: `
implementations/eve.json: warning: layout: duplicate-did
implementations/ada.json: warning: append-only: governance`},
		{Name: "expired listing returns, its DID taken meanwhile", World: gone + `
  - {listing: eve, host: ada.example, key: ada}
pr: [{move: [ada.txt, implementations/ada.json]}]
`, Want: `
implementations/ada.json:4:3: error: layout: duplicate-did
ada.txt: warning: append-only: governance`},
		{Name: "expired listing returns, its Receipt revoked", World: gone,
			PR: "{move: [ada.txt, implementations/ada.json]}", Want: `ada.txt: warning: append-only: governance`},
		{Name: "anchor returns", World: anchored + `
  - {move: [workflow-anchors/one.json, one.txt]}
pr: [{move: [one.txt, workflow-anchors/one.json]}]
`, Want: `one.txt: warning: append-only: governance`},
		{Name: "anchor returns, its workflow taken meanwhile", World: anchored + `
  - {move: [workflow-anchors/one.json, one.txt]}
  - {commit: Remove}
  - {anchor: two, coordinator: ada, workflow: wf_01ARZ3NDEKTSV4RRFFQ69G5FAV}
pr: [{move: [one.txt, workflow-anchors/one.json]}]
`, Want: `
one.txt: warning: append-only: governance
workflow-anchors/one.json:3:3: error: workflow-anchors: workflow-anchored-twice`},
		{Name: "anchor restored, its workflow taken while it could not be read", World: anchored + `
  - {write: workflow-anchors/one.json, text: "{"}
  - {commit: Break}
  - {anchor: two, coordinator: ada, workflow: wf_01ARZ3NDEKTSV4RRFFQ69G5FAV}
pr: [{anchor: one, coordinator: ada, workflow: wf_01ARZ3NDEKTSV4RRFFQ69G5FAV, at: -10d}]
`, Want: `
workflow-anchors/one.json: warning: append-only: governance
workflow-anchors/one.json:3:3: error: workflow-anchors: workflow-anchored-twice`},
		{Name: "anchor restored that names no workflow, with another", World: `
base:
  - {listing: ada}
  - {write: schemas/workflow-anchor.schema.json, text: '{"properties": {"workflow_id": false}}'}
  - {anchor: one, coordinator: ada, delete: [/workflow_id]}
  - {commit: List}
  - {edit: workflow-anchors/one.json, set: {/workflow_id: wf_01ARZ3NDEKTSV4RRFFQ69G5FAV}}
pr:
  - {anchor: one, coordinator: ada, delete: [/workflow_id], at: -10d}
  - {anchor: two, coordinator: ada, delete: [/workflow_id]}
`, Want: `
workflow-anchors/one.json: error: append-only: mixed
workflow-anchors/two.json:1:1: error: workflow-anchors: workflow-id-differs`},
		{Name: "anchor restored, its workflow taken while it had another", World: anchored + `
  - {edit: workflow-anchors/one.json, set: {/x: 7, /workflow_id: wf_11ARZ3NDEKTSV4RRFFQ69G5FAV}}
  - {anchor: two, coordinator: ada, workflow: wf_01ARZ3NDEKTSV4RRFFQ69G5FAV}
pr: [{anchor: one, coordinator: ada, workflow: wf_01ARZ3NDEKTSV4RRFFQ69G5FAV, at: -10d}]
`, Want: `
workflow-anchors/one.json: warning: append-only: governance
workflow-anchors/one.json:3:3: error: workflow-anchors: workflow-anchored-twice`},
		{Name: "anchor restored, its workflow anchored twice before", World: anchored + `
  - {edit: workflow-anchors/one.json, set: {/x: 7}}
  - {anchor: two, coordinator: ada, workflow: wf_01ARZ3NDEKTSV4RRFFQ69G5FAV}
pr: [{edit: workflow-anchors/one.json, delete: [/x]}]
`, Want: `workflow-anchors/one.json: warning: append-only: governance`},
	})
}
