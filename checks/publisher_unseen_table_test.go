package checks_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

// What is not seen in a publisher's name makes no second publisher, nor does a number in a register that is written as
// a number.
func TestPublisherUnseen(t *testing.T) {
	const (
		base = `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
`
		l5 = `pr: [{listing: nova, level: L5, witness: [ada, dan, eve]}]
`
	)
	checktest.Run(t, []checktest.Case{
		{Name: "control, l5",
			World: base + `  - {listing: dan, level: L4, witness: [ada], legal_name: "Holding Ltd"}
  - {listing: eve, level: L4, witness: [ada], legal_name: "Hol\u0001ding\t\u007fLtd\u0099"}
` + l5,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`they share a publisher: the legal_name`}},
		{Name: "annotation, l5",
			World: base + `  - {listing: dan, level: L4, witness: [ada], legal_name: "Holding Ltd"}
  - {listing: eve, level: L4, witness: [ada], legal_name: "Holding \ufff9Ltd"}
` + l5,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		{Name: "nothing, l5",
			World: base + `  - {listing: dan, level: L4, witness: [ada]}
  - {listing: eve, level: L4, witness: [ada], legal_name: "\u0001"}
` + l5,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-not-independent
implementations/nova.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`its Manifest names no publisher did or legal_name`}},
		{Name: "number, l5",
			World: base + `  - {listing: dan, level: L4, witness: [ada], manifest: {set: {/tool/publisher/registry: {type: HRB, id: 1234, country: DE}}}}
  - {listing: eve, level: L4, witness: [ada], manifest: {set: {/tool/publisher/registry: {type: HRB, id: 1234, country: DE}}}}
` + l5,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`they share a publisher: the registry entry "1234"`}},
		{Name: "number text, l5",
			World: base + `  - {listing: dan, level: L4, witness: [ada], manifest: {set: {/tool/publisher/registry: {type: HRB, id: 1234, country: DE}}}}
  - {listing: eve, level: L4, witness: [ada], manifest: {set: {/tool/publisher/registry: {type: HRB, id: "1234"}}}}
` + l5,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		// other names, other numbers
		{Name: "apart, l5",
			World: base + `  - {listing: dan, level: L4, witness: [ada], legal_name: "Holding One\u0001", manifest: {set: {/tool/publisher/registry: {type: HRB, id: 1234, country: DE}}}}
  - {listing: eve, level: L4, witness: [ada], legal_name: "Holding Two\u0001", manifest: {set: {/tool/publisher/registry: {type: HRB, id: 1234, country: FR}}}}
` + l5,
			Want: `implementations/nova.json:6:3: notice: external-audit: audit-declared`},
	})
}
