package checks_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

// A workflow anchor pins a Cross Match Receipt in its coordinator's domain (RFC 0035 section 4.6).
func TestWorkflowAnchors(t *testing.T) {
	const (
		base = `base:
  - {listing: ada}
  - {listing: bob}
`
		honest = `pr: [{anchor: flow, coordinator: ada}]
`
		failover = `pr: [{anchor: flow, coordinator: ada, failover: bob}]
`
		standing = `  - {anchor: flow, coordinator: ada, workflow: wf_01ARZ3NDEKTSV4RRFFQ69G5FAV}
`
	)
	checktest.Run(t, []checktest.Case{
		// the coordinator need not be listed; a sub-domain of its domain does
		{Name: "unlisted", World: base, PR: "{publish: else}, {anchor: flow, coordinator: else}", Want: `pass`},
		{Name: "sub domain", World: base,
			PR: `{anchor: flow, coordinator: ada, uri: "https://flows.eu.ada.example:8443/flow.json"}`, Want: `pass`},
		// a text of 15 MiB is read; it is no JSON
		{Name: "large",
			World: base + `pr:
  - {anchor: flow, coordinator: ada, set: {/cross_match_receipt_sha256: "2f119eb69feb102e23e11a20760bc29bb0c7514e02715dc3a6ce68cc02ad82c4"}}
web: [{url: "https://ada.example/cross-match/flow.json", body: "0123456789abcde\n", repeat: 983040}]
`,
			Want: `workflow-anchors/flow.json:7:3: error: workflow-anchors: trailing-text`},
		{Name: "honest, other bytes",
			World: base + honest + `web: [{url: "https://ada.example/cross-match/flow.json", body: "{}"}]`,
			Want:  `workflow-anchors/flow.json:7:3: error: workflow-anchors: hash-mismatch`},
		{Name: "no json", World: base, PR: `{anchor: flow, coordinator: ada, receipt: {body: "no JSON"}}`,
			Want: `workflow-anchors/flow.json:7:3: error: workflow-anchors: json-syntax`},
		{Name: "honest, busy",
			World: base + honest + `web: [{url: "https://ada.example/cross-match/flow.json", status: 500}]`,
			Want:  `workflow-anchors/flow.json:7:3: inconclusive: workflow-anchors: http-status`},
		// on a stranger's host: that of nobody, of another listing, of a neighbour under the platform
		{Name: "strange host", World: base,
			PR:   `{anchor: flow, coordinator: ada, uri: "https://bob.example/flow.json"}`,
			Want: `workflow-anchors/flow.json:7:3: error: workflow-anchors: anchor-host`,
			Says: []string{`workflow-anchors/flow.json:7:3: error: workflow-anchors: cross_match_receipt_uri is on host "bob.example"`}},
		{Name: "neighbour",
			World: base + `pr:
  - {publish: one, host: one.github.io}
  - {anchor: flow, coordinator: one, uri: "https://two.github.io/flow.json"}
`,
			Want: `workflow-anchors/flow.json:7:3: error: workflow-anchors: anchor-host`},
		{Name: "look alike host", World: base,
			PR:   `{anchor: flow, coordinator: ada, uri: "https://ada.example.bob.example/flow.json"}`,
			Want: `workflow-anchors/flow.json:7:3: error: workflow-anchors: anchor-host`},
		// a did:key has no domain; beside a did:web it lends it none
		{Name: "key failover",
			World: base + `pr:
  - {publish: kay, did: key}
  - {anchor: flow, coordinator: ada, failover: kay, uri: "https://kay.example/flow.json"}
`,
			Want: `workflow-anchors/flow.json:8:3: error: workflow-anchors: anchor-host`},
		// --- the coordinators ---
		{Name: "honest, did gone",
			World: base + honest + `web: [{url: "https://ada.example/.well-known/did.json", status: 404}]`,
			Want:  `workflow-anchors/flow.json:6:3: error: workflow-anchors: http-status`,
			Says:  []string{`workflow-anchors/flow.json:6:3: error: workflow-anchors: did:web:ada.example: `}},
		{Name: "honest, did other",
			World: base + honest + `web: [{edit: "https://ada.example/.well-known/did.json", set: {/id: "did:web:bob.example"}}]`,
			Want:  `workflow-anchors/flow.json:6:3: error: workflow-anchors: did-id-differs`},
		{Name: "honest, did 503",
			World: base + honest + `web: [{url: "https://ada.example/.well-known/did.json", status: 503}]`,
			Want:  `workflow-anchors/flow.json:6:3: inconclusive: workflow-anchors: http-status`},
		{Name: "failover", World: base + failover,
			Want: `pass`},
		{Name: "failover, failover gone",
			World: base + failover + `web: [{url: "https://bob.example/.well-known/did.json", status: 404}]`,
			Want:  `workflow-anchors/flow.json:7:3: error: workflow-anchors: http-status`,
			Says:  []string{`workflow-anchors/flow.json:7:3: error: workflow-anchors: did:web:bob.example: `}},
		{Name: "failover, failover 503",
			World: base + failover + `web: [{url: "https://bob.example/.well-known/did.json", status: 503}]`,
			Want:  `workflow-anchors/flow.json:7:3: inconclusive: workflow-anchors: http-status`},
		{Name: "bad did", World: base,
			PR:   `{anchor: flow, coordinator: ada, set: {/failover_coordinator_did: "did:web:127.0.0.1"}}`,
			Want: `workflow-anchors/flow.json:11:3: error: workflow-anchors: did-syntax`},
		{Name: "bad key", World: base,
			PR:   `{anchor: flow, coordinator: ada, set: {/failover_coordinator_did: "did:key:z6Mk"}}`,
			Want: `workflow-anchors/flow.json:11:3: error: workflow-anchors: did-syntax`},
		// --- one anchor for one workflow ---
		{Name: "standing, again", World: base + standing,
			PR:   "{anchor: again, coordinator: ada, workflow: wf_01ARZ3NDEKTSV4RRFFQ69G5FAV}",
			Want: `workflow-anchors/again.json:3:3: error: workflow-anchors: workflow-anchored-twice`,
			Says: []string{`workflow-anchors/again.json:3:3: error: workflow-anchors: workflow_id "wf_[0-9A-Z]{26}" has the anchor workflow-anchors/flow.json already`}},
		{Name: "both",
			World: base + `pr:
  - {anchor: one, coordinator: ada, workflow: wf_01ARZ3NDEKTSV4RRFFQ69G5FAV}
  - {anchor: two, coordinator: ada, workflow: wf_01ARZ3NDEKTSV4RRFFQ69G5FAV}
`,
			Want: `
workflow-anchors/one.json:3:3: error: workflow-anchors: workflow-anchored-twice
workflow-anchors/two.json:3:3: error: workflow-anchors: workflow-anchored-twice`},
		{Name: "standing, other", World: base + standing, PR: "{anchor: next, coordinator: ada}", Want: `pass`},
		// --- the time ---
		{Name: "ahead 5m", World: base, PR: "{at: +0s}, {anchor: flow, coordinator: ada, at: +5m}", Want: `pass`},
		{Name: "ahead", World: base, PR: "{anchor: flow, coordinator: ada, at: +5m1s}",
			Want: `workflow-anchors/flow.json:9:3: error: workflow-anchors: anchored-in-future`,
			Says: []string{`workflow-anchors/flow.json:9:3: error: workflow-anchors: anchored_at is 2026-06-01T12:05:01Z, later than the evaluation time 2026-06-01T12:00:00Z`,
				`fix: set anchored_at to now$`}},
		// --- what stands ---
		// a standing anchor is never fetched again, and never changes
		{Name: "standing, else, gone",
			World: base + standing + `pr: [{listing: else}]
web: [{url: "https://ada.example/cross-match/flow.json", status: 404}]
`,
			Want: `pass`},
		{Name: "standing, edited", World: base + standing,
			PR:   "{edit: workflow-anchors/flow.json, set: {/workflow_type: other}}",
			Want: `workflow-anchors/flow.json:1:1: error: append-only: edited`},
		{Name: "standing, removed", World: base + standing, PR: "{remove: workflow-anchors/flow.json}",
			Want: `workflow-anchors/flow.json: error: append-only: deleted`},
		// a member that the schema refuses is the schema's alone to report
		{Name: "no workflow", World: base, PR: "{anchor: flow, coordinator: ada, workflow: wf_lower}",
			Want: `workflow-anchors/flow.json:3:3: error: schema: schema-pattern`},
		{Name: "no time", World: base + `pr: [{anchor: flow, coordinator: ada, set: {/anchored_at: yesterday}}]`,
			Want: `workflow-anchors/flow.json:9:3: error: schema: schema-format`},
	})
}

// A listing binds a coordinator's key to a host while it is current, and one DID has one spelling.
func TestAnchorOfKey(t *testing.T) {
	checktest.Run(t, only("workflow-anchors", []checktest.Case{
		{Name: "listed", Base: "{listing: key, did: key}", PR: "{anchor: flow, coordinator: key}", Want: `pass`},
		{Name: "on another host", Base: "{listing: key, did: key}",
			PR:   `{anchor: flow, coordinator: key, uri: "https://bob.example/flow.json"}`,
			Want: `workflow-anchors/flow.json:7:3: error: workflow-anchors: anchor-host`,
			Says: []string{`is on host "bob.example", the coordinator's listing has its Manifest on "key.example"`, `fix: serve it on key.example`}},
		{Name: "expired", Base: `{listing: key, did: key, not_after: "2026-06-01T12:00:00Z"}`,
			PR:   "{anchor: flow, coordinator: key}",
			Want: `workflow-anchors/flow.json:7:3: error: workflow-anchors: anchor-host`},
		{Name: "expires in a second", Base: `{listing: key, did: key, not_after: "2026-06-01T12:00:01Z"}`,
			PR: "{anchor: flow, coordinator: key}", Want: `pass`},
		{Name: "revoked here", Base: "{listing: key, did: key}", PR: "{anchor: flow, coordinator: key}, {revoke: key}",
			Want: `workflow-anchors/flow.json:7:3: error: workflow-anchors: anchor-host`},
		{Name: "no DID", Base: "{listing: ada}",
			PR: `{anchor: flow, coordinator: ada, set: {/coordinator_did: "did:web:"}}`, Want: `
workflow-anchors/flow.json:6:3: error: workflow-anchors: did-syntax
workflow-anchors/flow.json:8:3: error: workflow-anchors: coordinator-not-named`},
		{Name: "a merged anchor", Base: "{listing: ada}, {anchor: flow, coordinator: ada}",
			PR:   `{edit: workflow-anchors/flow.json, set: {/cross_match_receipt_uri: "https://eve.example/flow.json"}}`,
			Want: `pass`},
		{Name: "no workflow", Base: `{listing: ada}, {write: schemas/workflow-anchor.schema.json, text: "{}"}`,
			PR: "{anchor: flow, coordinator: ada, delete: [/workflow_id, /anchored_at]}", Want: `
workflow-anchors/flow.json:1:1: error: workflow-anchors: workflow-id-differs
workflow-anchors/flow.json:1:1: error: workflow-anchors: unreadable-time`},
		{Name: "another method", World: `
base: [{listing: ada}]
pr: [{anchor: flow, coordinator: ada, set: {/coordinator_did: "did:oap:ada"}}]
`, Want: `
workflow-anchors/flow.json:6:3: error: workflow-anchors: did-method
workflow-anchors/flow.json:8:3: error: workflow-anchors: coordinator-not-named`},
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

// A record whose time is ahead of the commit that lands is refused as an audit refuses it; a pull request may still
// land by another commit.
func TestAheadOfTheCommit(t *testing.T) {
	const revoked = `{base: [{listing: ada}], pr: [{at: "-2h"}, {revoke: ada, at: "-1h"}]}`
	const anchored = `{base: [{listing: ada}], pr: [{at: "-2h"}, {anchor: one, coordinator: ada, at: "-1h"}]}`
	const revocation = "revocations/" +
		`ada-0ee9e6ecb821a8e4eb7478a361b11af2dd4e4e1399aa4f0cc041538c028db54f.json:5:3: `
	lands := judge.Config{Landing: &checks.Landing{}}
	checktest.Run(t, only("revocations workflow-anchors", []checktest.Case{
		{Name: "revocation", World: revoked, Want: revocation + `warning: revocations: revoked-in-future`,
			Says: []string{`an audit refuses the record if that commit lands as it is`}},
		{Name: "revocation lands", World: revoked, Config: lands,
			Want: revocation + `error: revocations: revoked-in-future`},
		{Name: "revocation lands in the commit of its hour", Config: lands,
			World: `{base: [{listing: ada}], pr: [{at: "-2h"}, {revoke: ada, at: "-2h"}]}`, Want: `pass`},
		{Name: "anchor", World: anchored,
			Want: `workflow-anchors/one.json:9:3: warning: workflow-anchors: anchored-in-future`},
		{Name: "anchor lands", World: anchored, Config: lands,
			Want: `workflow-anchors/one.json:9:3: error: workflow-anchors: anchored-in-future`},
	}))
}
