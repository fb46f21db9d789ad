package checks_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

func TestUnderscoreHost(t *testing.T) {
	const old = `base: [{listing: old, host: my_agent.corp.example, set: {/contact: contact@corp.example}}]
`
	checktest.Run(t, []checktest.Case{
		// A host name has no underscore, but one stands in a merged listing: its owner can renew it. What layout says
		// about the spelling stays a warning, and domain age, DID Document, Manifest and Receipt are all had.
		{Name: "old, renewal", World: old + `pr: [{reissue: old, set: {/contact: contact@corp.example}}]`,
			Want: `
implementations/old.json:4:3: warning: layout: did-spelling
implementations/old.json:4:3: notice: domain-age: age-of-parent`},
		// its owner can revoke it
		{Name: "old, revocation", World: old + `pr: [{revoke: old}]`,
			Want: `implementations/old.json:4:3: warning: layout: did-spelling`},
		// a new listing cannot have one
		{Name: "new",
			World: `pr: [{listing: old, host: my_agent.corp.example, set: {/contact: contact@corp.example}}]`,
			Want: `
implementations/old.json:4:3: error: layout: did-spelling
implementations/old.json:4:3: notice: domain-age: age-of-parent`,
			Says: []string{`implementations/old.json:4:3: error: layout: tool_did is "did:web:my_agent.corp.example" with an underscore`}},
	})
}
