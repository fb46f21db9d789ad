package checks_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

// One publisher counts once, however its DID and its name are spelt: for L5, and for a forced revocation.
func TestOneSpellingPublisher(t *testing.T) {
	const (
		base = `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
`
		l5 = `pr: [{listing: nova, level: L5, witness: [ada, dan, eve]}]
`
		forced = `pr: [{revoke: bob, by: ada, witness: [ada, dan, eve]}]
`
		apart = `  - {listing: dan, level: L4, witness: [ada], publisher_did: "did:web:holding.github.io:x"}
  - {listing: eve, level: L4, witness: [ada], publisher_did: "did:web:other.github.io:x"}
`
		escape = `  - {listing: dan, level: L4, witness: [ada], publisher_did: "did:web:holding.example:x"}
  - {listing: eve, level: L4, witness: [ada], publisher_did: "did:web:holding.example:%78"}
`
		fragment = `  - {listing: dan, level: L4, witness: [ada], publisher_did: "did:web:holding.example"}
  - {listing: eve, level: L4, witness: [ada], publisher_did: "did:web:holding.example#x"}
`
		name = `  - {listing: dan, level: L4, witness: [ada], legal_name: "Holding Ltd"}
  - {listing: eve, level: L4, witness: [ada], legal_name: "Hold\u200bing \u2060LTD"}
`
	)
	checktest.Run(t, []checktest.Case{
		// two publishers, on two hosts of one platform
		{Name: "apart, l5", World: base + apart + l5,
			Want: `implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		// one, by an escape that nothing needs, by an escape in other letters, and in another letter case
		{Name: "escape, l5", World: base + escape + l5,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`did:web:dan.example and did:web:eve.example are not independent: they share a publisher: the publisher did "did:web:holding.example:x"`}},
		{Name: "escape letters, l5",
			World: base + `  - {listing: dan, level: L4, witness: [ada], publisher_did: "did:ion:a%c3%a9"}
  - {listing: eve, level: L4, witness: [ada], publisher_did: "did:ion:%61%C3%A9"}
` + l5,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		{Name: "letters, l5",
			World: base + `  - {listing: dan, level: L4, witness: [ada], publisher_did: "did:web:holding.example:x"}
  - {listing: eve, level: L4, witness: [ada], publisher_did: "did:web:holding.example:%58"}
` + l5,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		// ... by the name of the method, the port that needs none, the path that every host has
		{Name: "method, l5",
			World: base + `  - {listing: dan, level: L4, witness: [ada], publisher_did: "did:web:holding.example"}
  - {listing: eve, level: L4, witness: [ada], publisher_did: "did:Web:%68olding%2Eexample"}
` + l5,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		{Name: "port, l5",
			World: base + `  - {listing: dan, level: L4, witness: [ada], publisher_did: "did:web:holding.example"}
  - {listing: eve, level: L4, witness: [ada], publisher_did: "did:web:holding.example.%3a%34%34%33"}
` + l5,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		{Name: "well known, l5",
			World: base + `  - {listing: dan, level: L4, witness: [ada], publisher_did: "did:web:holding.example"}
  - {listing: eve, level: L4, witness: [ada], publisher_did: "did:web:holding.example:.Well-known"}
` + l5,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		// path, query and fragment are no part of a DID, nor is what is not seen; who names none is not counted
		{Name: "fragment, l5", World: base + fragment + l5,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-not-independent
implementations/nova.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`peer witness "did:web:eve.example" does not count towards L5: its Manifest names the publisher did "did:web:holding.example#x", which is not a DID`}},
		{Name: "query, l5",
			World: base + `  - {listing: dan, level: L4, witness: [ada], publisher_did: "did:web:holding.example"}
  - {listing: eve, level: L4, witness: [ada], publisher_did: "did:web:holding.example?x"}
` + l5,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-not-independent
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		{Name: "slash, l5",
			World: base + `  - {listing: dan, level: L4, witness: [ada], publisher_did: "did:web:holding.example"}
  - {listing: eve, level: L4, witness: [ada], publisher_did: "did:web:holding.example/"}
` + l5,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-not-independent
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		{Name: "unseen, l5",
			World: base + `  - {listing: dan, level: L4, witness: [ada], publisher_did: "did:web:holding.example"}
  - {listing: eve, level: L4, witness: [ada], publisher_did: "did:web:holding.example\u200b"}
` + l5,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-not-independent
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		{Name: "blank, l5",
			World: base + `  - {listing: dan, level: L4, witness: [ada], publisher_did: "did:web:holding.example"}
  - {listing: eve, level: L4, witness: [ada], publisher_did: "did:web:holding.example x"}
` + l5,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-not-independent
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		{Name: "dots, l5",
			World: base + `  - {listing: dan, level: L4, witness: [ada], publisher_did: "did:web:holding.example"}
  - {listing: eve, level: L4, witness: [ada], publisher_did: "did:web:holding.example:a:%2e%2E"}
` + l5,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-not-independent
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		{Name: "no did, l5",
			World: base + `  - {listing: dan, level: L4, witness: [ada], publisher_did: "did:web:holding.example"}
  - {listing: eve, level: L4, witness: [ada], publisher_did: "Holding"}
` + l5,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-not-independent
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		// ... nor is the candidate's own word one
		{Name: "three, candidate",
			World: base + `  - {listing: dan, level: L4, witness: [ada]}
pr: [{listing: nova, level: L5, witness: [ada, bob, dan], publisher_did: Nova Ltd}]
`,
			Want: `
implementations/nova.json:5:3: error: peer-witnesses: publisher-missing
implementations/nova.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`the Manifest names the publisher did "Nova Ltd", which is not a DID`}},
		// a name with what is not seen in it, also between a letter and its accent, is the same name
		{Name: "name, l5", World: base + name + l5,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`they share a publisher: the legal_name`}},
		{Name: "accent, l5",
			World: base + `  - {listing: dan, level: L4, witness: [ada], legal_name: "S\u00f6hne"}
  - {listing: eve, level: L4, witness: [ada], legal_name: "So\u200b\u0308hne"}
` + l5,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		{Name: "nothing, l5",
			World: base + `  - {listing: dan, level: L4, witness: [ada]}
  - {listing: eve, level: L4, witness: [ada], legal_name: "\u200b \u3164"}
` + l5,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-not-independent
implementations/nova.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`its Manifest names no publisher did or legal_name`}},
		// ... so is a number in a register
		{Name: "number, l5",
			World: base + `  - {listing: dan, level: L4, witness: [ada], manifest: {set: {/tool/publisher/registry: {type: HRB, id: "HRB 1", country: DE}}}}
  - {listing: eve, level: L4, witness: [ada], manifest: {set: {/tool/publisher/registry: {type: HRB, id: "HRB\u200b 1", country: DE}}}}
` + l5,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		// the quorum of a forced revocation
		{Name: "apart, forced", World: base + apart + forced,
			Want: `pass`},
		{Name: "escape, forced", World: base + escape + forced,
			Want: `revocations/bob-9d4ea007f3a56d6f2cec14396ca1d354ba580a7c2b4d6130ce7de9aae5a3b2ef.json:7:3: error: revocations: not-authorised`,
			Says: []string{`they share a publisher`}},
		{Name: "fragment, forced", World: base + fragment + forced,
			Want: `
revocations/bob-9d4ea007f3a56d6f2cec14396ca1d354ba580a7c2b4d6130ce7de9aae5a3b2ef.json:7:3: error: revocations: not-authorised
revocations/bob-9d4ea007f3a56d6f2cec14396ca1d354ba580a7c2b4d6130ce7de9aae5a3b2ef.json:25:5: warning: revocations: witness-not-counted`},
		{Name: "name, forced", World: base + name + forced,
			Want: `revocations/bob-9d4ea007f3a56d6f2cec14396ca1d354ba580a7c2b4d6130ce7de9aae5a3b2ef.json:7:3: error: revocations: not-authorised`},
		// one implementation is listed once, also under the path that every host has
		{Name: "twice",
			World: base + `pr: [{listing: nova, did: "did:web:ada.example:.well-known", host: ada.example, key: ada}]`,
			Want: `
implementations/nova.json:4:3: error: layout: did-spelling
implementations/nova.json:4:3: error: layout: duplicate-did`},
		{Name: "once", World: base + `pr: [{listing: nova, did: "did:web:nova.example:.well-known"}]`,
			Want: `implementations/nova.json:4:3: error: layout: did-spelling`},
	})
}

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
