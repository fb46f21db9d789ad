package checks_test

import (
	"fmt"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

// Nobody anchors in another's name: a failover coordinator is one that the coordinator declared (RFC 0035 section 4.4),
// a did:key speaks where its listing says, and the pinned bytes are of this workflow and coordinator.
func TestAnchorInAName(t *testing.T) {
	const (
		base = `base:
  - {listing: ada}
  - {listing: bob}
`
		stranger = `pr: [{anchor: flow, coordinator: ada, failover: bob, uri: "https://bob.example/flow.json"}]
`
		declared = `  - {anchor: first, coordinator: ada, failover: bob}
`
		kay = `  - {listing: kay, did: key}
`
		key = `pr: [{anchor: flow, coordinator: kay}]
`
	)
	eight := ""
	for i := range 8 {
		eight += fmt.Sprintf("  - {anchor: the%d, coordinator: ada}\n", i)
	}
	checktest.Run(t, []checktest.Case{
		// --- the failover coordinator --- a stranger calls himself the failover of ada, who never named him: in his
		// anchor, and in the bytes that he serves
		{Name: "stranger", World: base + stranger,
			Want: `workflow-anchors/flow.json:7:3: error: workflow-anchors: failover-not-declared`,
			Says: []string{`workflow-anchors/flow.json:7:3: error: workflow-anchors: no Cross Match Receipt that the base tree pins in the domain of "did:web:ada.example" names "did:web:bob.example" as its failover_coordinator_did`}},
		// ... after ada anchored one that names nobody, one whose anchor alone names him, and one that names another
		{Name: "ada alone, stranger",
			World: base + `  - {anchor: first, coordinator: ada}
` + stranger,
			Want: `workflow-anchors/flow.json:7:3: error: workflow-anchors: failover-not-declared`},
		{Name: "anchor alone, stranger",
			World: base + `  - {anchor: first, coordinator: ada, set: {/failover_coordinator_did: "did:web:bob.example"}}
` + stranger,
			Want: `workflow-anchors/flow.json:7:3: error: workflow-anchors: failover-not-declared`},
		{Name: "eve declared, stranger",
			World: base + `  - {publish: eve}
  - {anchor: first, coordinator: ada, failover: eve}
` + stranger,
			Want: `workflow-anchors/flow.json:7:3: error: workflow-anchors: failover-not-declared`},
		// ... or names him deeper than where it is declared, or in an anchor of another coordinator on ada's domain
		{Name: "deep, stranger",
			World: base + `  - {anchor: first, coordinator: ada, receipt: {set: {/segments: [{failover_coordinator_did: "did:web:bob.example"}]}}}
` + stranger,
			Want: `workflow-anchors/flow.json:7:3: error: workflow-anchors: failover-not-declared`},
		{Name: "of eve, stranger",
			World: base + `  - {publish: eve}
  - {anchor: first, coordinator: eve, failover: bob, uri: "https://ada.example/first.json"}
` + stranger,
			Want: `workflow-anchors/flow.json:7:3: error: workflow-anchors: failover-not-declared`},
		// ... or declares him in the very pull request
		{Name: "same range",
			World: base + `pr:
  - {anchor: first, coordinator: ada, failover: bob}
  - {anchor: flow, coordinator: ada, failover: bob, uri: "https://bob.example/flow.json"}
`,
			Want: `workflow-anchors/flow.json:7:3: error: workflow-anchors: failover-not-declared`},
		// ada declared bob in bytes that the base tree pins: his domain will do, whatever her anchor says, how often
		// she anchored
		{Name: "declared, stranger", World: base + declared + stranger,
			Want: `pass`},
		{Name: "bytes alone, stranger",
			World: base + `  - {anchor: first, coordinator: ada, receipt: {set: {/failover_coordinator_did: "did:web:bob.example"}}}
` + stranger,
			Want: `pass`},
		{Name: "many, stranger",
			World: base + eight + `  - {anchor: the9, coordinator: ada}
  - {anchor: first, coordinator: ada, failover: bob}
` + stranger,
			Want: `pass`},
		// ... but of all that name nobody in their anchors only some are read
		{Name: "many silent, stranger",
			World: base + eight + `  - {anchor: the9, coordinator: ada, receipt: {set: {/failover_coordinator_did: "did:web:bob.example"}}}
` + stranger,
			Want: `workflow-anchors/flow.json:7:3: inconclusive: workflow-anchors: too-many-anchors`},
		// what she declared cannot be had, or other bytes are served: nothing is decided
		{Name: "declared, stranger, gone",
			World: base + declared + stranger + `web: [{url: "https://ada.example/cross-match/first.json", status: 404}]`,
			Want:  `workflow-anchors/flow.json:7:3: inconclusive: workflow-anchors: http-status`},
		{Name: "declared, stranger, other bytes",
			World: base + declared + stranger + `web: [{url: "https://ada.example/cross-match/first.json", body: "{}"}]`,
			Want:  `workflow-anchors/flow.json:7:3: inconclusive: workflow-anchors: hash-mismatch`},
		// --- a did:key as coordinator ---
		// on the host of its listing's Manifest
		{Name: "kay, key", World: base + kay + key,
			Want: `pass`},
		// not listed, on another host, expired, revoked, revoked here
		{Name: "publish kay, key",
			World: base + `  - {publish: kay, did: key}
` + key,
			Want: `workflow-anchors/flow.json:7:3: error: workflow-anchors: anchor-host`,
			Says: []string{`no current listing of "did:key:z6Mk[0-9A-Za-z]+" in the base tree says whose that is`}},
		{Name: "kay, key elsewhere", World: base + kay,
			PR:   `{anchor: flow, coordinator: kay, uri: "https://mallory.example/flow.json"}`,
			Want: `workflow-anchors/flow.json:7:3: error: workflow-anchors: anchor-host`,
			Says: []string{`on host "mallory.example", the coordinator.s listing has its Manifest on "kay.example"`}},
		{Name: "kay, key sub domain", World: base + kay,
			PR:   `{anchor: flow, coordinator: kay, uri: "https://flows.kay.example/flow.json"}`,
			Want: `workflow-anchors/flow.json:7:3: error: workflow-anchors: anchor-host`},
		{Name: "kay expired, key",
			World: base + `  - {at: -100d}
  - {listing: kay, did: key}
  - {at: -10d}
` + key,
			Want: `
registry: notice: revocations: not-in-force
workflow-anchors/flow.json:7:3: error: workflow-anchors: anchor-host`},
		{Name: "kay, kay revoked, key",
			World: base + kay + `  - {revoke: kay}
` + key,
			Want: `
registry: notice: revocations: not-in-force
workflow-anchors/flow.json:7:3: error: workflow-anchors: anchor-host`},
		{Name: "kay, key revoked", World: base + kay, PR: "{revoke: kay}, {anchor: flow, coordinator: kay}",
			Want: `workflow-anchors/flow.json:7:3: error: workflow-anchors: anchor-host`},
		// a DID that nobody can resolve: nothing shows who it is
		{Name: "other method",
			World: base + `pr:
  - {anchor: flow, coordinator: ada, set: {/coordinator_did: "did:plc:ewvi7nxzyoun6zhxrhs64oiz"}, receipt: {set: {/coordinator_did: "did:plc:ewvi7nxzyoun6zhxrhs64oiz"}}}
`,
			Want: `workflow-anchors/flow.json:6:3: error: workflow-anchors: did-method`},
		{Name: "other failover",
			World: base + `pr:
  - {anchor: flow, coordinator: ada, set: {/failover_coordinator_did: "did:plc:ewvi7nxzyoun6zhxrhs64oiz"}}
`,
			Want: `workflow-anchors/flow.json:11:3: error: workflow-anchors: did-method`},
		// --- what is pinned ---
		// any JSON file of ada's domain takes no workflow id
		{Name: "any file", World: base,
			PR:   `{anchor: flow, coordinator: ada, receipt: {body: "{\"name\": \"did:web:ada.example\"}"}}`,
			Want: `workflow-anchors/flow.json:8:3: error: workflow-anchors: workflow-id-differs`},
		{Name: "did document",
			World: base + `pr:
  - {anchor: flow, coordinator: ada, receipt: {body: "{\"id\": \"did:web:ada.example\", \"workflow_id\": 1}"}}
`,
			Want: `workflow-anchors/flow.json:8:3: error: workflow-anchors: workflow-id-differs`,
			Says: []string{`workflow-anchors/flow.json:8:3: error: workflow-anchors: the pinned bytes. workflow_id is "", the anchor.s is "wf_[0-9A-Z]{26}"`}},
		{Name: "array", World: base,
			PR:   `{anchor: flow, coordinator: ada, receipt: {body: "[\"did:web:ada.example\"]"}}`,
			Want: `workflow-anchors/flow.json:8:3: error: workflow-anchors: no-cross-match-receipt`},
		{Name: "other workflow", World: base,
			PR:   "{anchor: flow, coordinator: ada, receipt: {set: {/workflow_id: wf_01ARZ3NDEKTSV4RRFFQ69G5FAV}}}",
			Want: `workflow-anchors/flow.json:8:3: error: workflow-anchors: workflow-id-differs`},
		// of this workflow, and of another coordinator of the domain; ada in a longer text, or as a member's name
		{Name: "of another", World: base,
			PR:   `{anchor: flow, coordinator: ada, receipt: {set: {/coordinator_did: "did:web:ada.example:team"}}}`,
			Want: `workflow-anchors/flow.json:8:3: error: workflow-anchors: coordinator-not-named`},
		{Name: "in a text",
			World: base + `pr:
  - {anchor: flow, coordinator: ada, receipt: {set: {/coordinator_did: "not did:web:ada.example", /key: "did:web:ada.example#key-1"}}}
`,
			Want: `workflow-anchors/flow.json:8:3: error: workflow-anchors: coordinator-not-named`},
		{Name: "as a name",
			World: base + `pr:
  - {anchor: flow, coordinator: ada, receipt: {delete: [/coordinator_did], set: {/by: {"did:web:ada.example": true}}}}
`,
			Want: `workflow-anchors/flow.json:8:3: error: workflow-anchors: coordinator-not-named`},
		// ... at any depth, in any spelling of the DID
		{Name: "nested",
			World: base + `pr:
  - {anchor: flow, coordinator: ada, receipt: {delete: [/coordinator_did], set: {/parties: [{roles: [{did: "did:web:ada.example"}]}]}}}
`,
			Want: `pass`},
		{Name: "spelt",
			World: base + `pr: [{anchor: flow, coordinator: ada, receipt: {set: {/coordinator_did: "did:web:ADA.example."}}}]`,
			Want:  `pass`},
	})
}
