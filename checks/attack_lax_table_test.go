package checks_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

// A base tree whose schemas allow anything: the checks themselves refuse what they cannot read.
func TestAttackLax(t *testing.T) {
	checktest.Run(t, []checktest.Case{
		{Name: "anchor",
			World: `base: [{write: schemas/workflow-anchor.schema.json, text: "true"}, {listing: ada}]
pr: [{anchor: flow, coordinator: ada, delete: [/anchored_at]}]
`,
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
		{Name: "revocation",
			World: `base: [{write: schemas/revocation.schema.json, text: "true"}, {listing: ada}]
pr: [{revoke: ada, revocation: {delete: [/reason, /revoked_at]}}]
`,
			Want: `
revocations/ada-0ee9e6ecb821a8e4eb7478a361b11af2dd4e4e1399aa4f0cc041538c028db54f.json:1:1: error: revocations: no-such-reason
revocations/ada-0ee9e6ecb821a8e4eb7478a361b11af2dd4e4e1399aa4f0cc041538c028db54f.json:1:1: error: revocations: unreadable-time`},
		// what a witness signed for a candidate is no revocation, whatever members the candidate wrote into it
		{Name: "receipt",
			World: `base: [{write: schemas/revocation.schema.json, text: "true"}, {listing: ada}]
pr: [{revoke: ada, revocation: {set: {/implementation: {did: "did:web:nova.example"}, /claimed_levels: [L4], /signatures: []}}}]
`,
			Want: `revocations/ada-0ee9e6ecb821a8e4eb7478a361b11af2dd4e4e1399aa4f0cc041538c028db54f.json:10:3: error: revocations: revocation-is-receipt`},
		// no pin is none that whatever is served matches
		{Name: "listing without pin",
			World: `base: [{write: schemas/implementation.schema.json, text: "true"}, {listing: ada}]
pr: [{listing: nova, delete: [/conformance_receipt_sha256]}]
`,
			Want: `implementations/nova.json:1:1: error: receipt-fetch: receipt-hash-mismatch`,
			Says: []string{`the listing pins none `}},
		{Name: "re-issue without pin",
			World: `base: [{write: schemas/implementation.schema.json, text: "true"}, {listing: ada}]
pr: [{reissue: ada, set: {/conformance_receipt_sha256: []}}]
`,
			Want: `implementations/ada.json:8:3: error: receipt-fetch: receipt-hash-mismatch`},
		{Name: "anchor without pin",
			World: `base: [{write: schemas/workflow-anchor.schema.json, text: "true"}, {listing: ada}]
pr: [{anchor: flow, coordinator: ada, delete: [/cross_match_receipt_sha256]}]
`,
			Want: `workflow-anchors/flow.json:7:3: error: workflow-anchors: hash-mismatch`},
		{Name: "witness without pin",
			World: `base:
  - {write: schemas/implementation.schema.json, text: "true"}
  - {listing: ada, level: L4, delete: [/conformance_receipt_sha256]}
pr: [{listing: nova, level: L4, witness: [ada]}]
`,
			Want: `
implementations/nova.json:6:3: inconclusive: peer-witnesses: witness-open
implementations/nova.json:7:3: warning: peer-witnesses: witness-evidence`},
		{Name: "level",
			World: `base: [{write: schemas/implementation.schema.json, text: "true"}, {listing: ada}]
pr: [{listing: nova, level: L4, set: {/conformance_level: [L4]}}]
`,
			Want: `implementations/nova.json:6:3: error: receipt-claims: no-such-level`},
		{Name: "provisional",
			World: `base: [{write: schemas/implementation.schema.json, text: "true"}, {listing: ada}]
pr: [{listing: nova, registered: -5d, set: {/provisional: "true"}}]
`,
			Want: `implementations/nova.json:4:3: error: domain-age: domain-too-young`},
	})
}
