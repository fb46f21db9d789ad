package checks_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

// danAndEve returns a world that lists nova at L5. Two of its three witnesses, dan and eve, have these members.
func danAndEve(dan, eve string) string {
	return twoWitnesses + l5("witness: [ada, dan, eve]", dan, eve)
}

// One publisher counts once, however its DID and its name are spelt: for L5, and for a forced revocation.
func TestOneSpellingPublisher(t *testing.T) {
	const (
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
		{Name: "apart, l5",
			World: danAndEve(`dan, publisher_did: "did:web:holding.github.io:x"`,
				`eve, publisher_did: "did:web:other.github.io:x"`),
			Want: enough},
		// one, by an escape that nothing needs, by an escape in other letters, and in another letter case
		{Name: "escape, l5",
			World: danAndEve(`dan, publisher_did: "did:web:holding.example:x"`,
				`eve, publisher_did: "did:web:holding.example:%78"`),
			Want: tooFew,
			Says: []string{`did:web:dan.example and did:web:eve.example are not independent: they share a publisher: the publisher did "did:web:holding.example:x"`}},
		{Name: "escape letters, l5",
			World: danAndEve(`dan, publisher_did: "did:ion:a%c3%a9"`, `eve, publisher_did: "did:ion:%61%C3%A9"`),
			Want:  tooFew},
		{Name: "letters, l5",
			World: danAndEve(`dan, publisher_did: "did:web:holding.example:x"`,
				`eve, publisher_did: "did:web:holding.example:%58"`),
			Want: tooFew},
		// ... by the name of the method, the port that needs none, the path that every host has
		{Name: "method, l5",
			World: danAndEve(`dan, publisher_did: "did:web:holding.example"`,
				`eve, publisher_did: "did:Web:%68olding%2Eexample"`),
			Want: tooFew},
		{Name: "port, l5",
			World: danAndEve(`dan, publisher_did: "did:web:holding.example"`,
				`eve, publisher_did: "did:web:holding.example.%3a%34%34%33"`),
			Want: tooFew},
		{Name: "well known, l5",
			World: danAndEve(`dan, publisher_did: "did:web:holding.example"`,
				`eve, publisher_did: "did:web:holding.example:.Well-known"`),
			Want: tooFew},
		// path, query and fragment are no part of a DID, nor is what is not seen; who names none is not counted
		{Name: "fragment, l5",
			World: danAndEve(`dan, publisher_did: "did:web:holding.example"`,
				`eve, publisher_did: "did:web:holding.example#x"`),
			Want: notIndependent,
			Says: []string{`peer witness "did:web:eve.example" does not count towards L5: its Manifest names the publisher did "did:web:holding.example#x", which is not a DID`}},
		{Name: "query, l5",
			World: danAndEve(`dan, publisher_did: "did:web:holding.example"`,
				`eve, publisher_did: "did:web:holding.example?x"`),
			Want: notIndependent},
		{Name: "slash, l5",
			World: danAndEve(`dan, publisher_did: "did:web:holding.example"`,
				`eve, publisher_did: "did:web:holding.example/"`),
			Want: notIndependent},
		{Name: "unseen, l5",
			World: danAndEve(`dan, publisher_did: "did:web:holding.example"`,
				`eve, publisher_did: "did:web:holding.example\u200b"`),
			Want: notIndependent},
		{Name: "blank, l5",
			World: danAndEve(`dan, publisher_did: "did:web:holding.example"`,
				`eve, publisher_did: "did:web:holding.example x"`),
			Want: notIndependent},
		{Name: "dots, l5",
			World: danAndEve(`dan, publisher_did: "did:web:holding.example"`,
				`eve, publisher_did: "did:web:holding.example:a:%2e%2E"`),
			Want: notIndependent},
		{Name: "no did, l5",
			World: danAndEve(`dan, publisher_did: "did:web:holding.example"`, `eve, publisher_did: "Holding"`),
			Want:  notIndependent},
		// ... nor is the candidate's own word one
		{Name: "three, candidate",
			World: twoWitnesses + l5("witness: [ada, bob, dan], publisher_did: Nova Ltd", "dan"), Want: `
implementations/nova.json:5:3: error: peer-witnesses: publisher-missing
implementations/nova.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`the Manifest names the publisher did "Nova Ltd", which is not a DID`}},
		// a name with what is not seen in it, also between a letter and its accent, is the same name
		{Name: "name, l5",
			World: danAndEve(`dan, legal_name: "Holding Ltd"`, `eve, legal_name: "Hold\u200bing \u2060LTD"`),
			Want:  tooFew, Says: []string{`they share a publisher: the legal_name`}},
		{Name: "accent, l5", World: danAndEve(`dan, legal_name: "S\u00f6hne"`, `eve, legal_name: "So\u200b\u0308hne"`),
			Want: tooFew},
		{Name: "nothing, l5", World: danAndEve("dan", `eve, legal_name: "\u200b \u3164"`), Want: notIndependent,
			Says: []string{`its Manifest names no publisher did or legal_name`}},
		// ... so is a number in a register
		{Name: "number, l5",
			World: twoWitnesses + l5("witness: [ada, dan, eve]",
				`dan, manifest: {set: {/tool/publisher/registry: {type: HRB, id: "HRB 1", country: DE}}}`,
				`eve, manifest: {set: {/tool/publisher/registry: {type: HRB, id: "HRB\u200b 1", country: DE}}}`),
			Want: tooFew},
		// the quorum of a forced revocation
		{Name: "apart, forced", World: twoWitnesses + apart + forced,
			Want: `pass`},
		{Name: "escape, forced", World: twoWitnesses + escape + forced,
			Want: `revocations/bob-9d4ea007f3a56d6f2cec14396ca1d354ba580a7c2b4d6130ce7de9aae5a3b2ef.json:7:3: error: revocations: not-authorised`,
			Says: []string{`they share a publisher`}},
		{Name: "fragment, forced", World: twoWitnesses + fragment + forced,
			Want: `
revocations/bob-9d4ea007f3a56d6f2cec14396ca1d354ba580a7c2b4d6130ce7de9aae5a3b2ef.json:7:3: error: revocations: not-authorised
revocations/bob-9d4ea007f3a56d6f2cec14396ca1d354ba580a7c2b4d6130ce7de9aae5a3b2ef.json:25:5: warning: revocations: witness-not-counted`},
		{Name: "name, forced", World: twoWitnesses + name + forced,
			Want: `revocations/bob-9d4ea007f3a56d6f2cec14396ca1d354ba580a7c2b4d6130ce7de9aae5a3b2ef.json:7:3: error: revocations: not-authorised`},
		// one implementation is listed once, also under the path that every host has
		{Name: "twice", World: twoWitnesses,
			PR: `{listing: nova, did: "did:web:ada.example:.well-known", host: ada.example, key: ada}`, Want: `
implementations/nova.json:4:3: error: layout: did-spelling
implementations/nova.json:4:3: error: layout: duplicate-did`},
		{Name: "once", World: twoWitnesses + `pr: [{listing: nova, did: "did:web:nova.example:.well-known"}]`,
			Want: `implementations/nova.json:4:3: error: layout: did-spelling`},
	})
}

// What is not seen in a publisher's name makes no second publisher, nor does a number in a register that is written as
// a number.
func TestPublisherUnseen(t *testing.T) {
	checktest.Run(t, []checktest.Case{
		{Name: "control, l5",
			World: danAndEve(`dan, legal_name: "Holding Ltd"`, `eve, legal_name: "Hol\u0001ding\t\u007fLtd\u0099"`),
			Want:  tooFew, Says: []string{`they share a publisher: the legal_name`}},
		{Name: "annotation, l5",
			World: danAndEve(`dan, legal_name: "Holding Ltd"`, `eve, legal_name: "Holding \ufff9Ltd"`), Want: tooFew},
		{Name: "nothing, l5", World: danAndEve("dan", `eve, legal_name: "\u0001"`), Want: notIndependent,
			Says: []string{`its Manifest names no publisher did or legal_name`}},
		{Name: "number, l5",
			World: twoWitnesses + l5("witness: [ada, dan, eve]",
				"dan, manifest: {set: {/tool/publisher/registry: {type: HRB, id: 1234, country: DE}}}",
				"eve, manifest: {set: {/tool/publisher/registry: {type: HRB, id: 1234, country: DE}}}"),
			Want: tooFew, Says: []string{`they share a publisher: the registry entry "1234"`}},
		{Name: "number text, l5",
			World: twoWitnesses + l5("witness: [ada, dan, eve]",
				"dan, manifest: {set: {/tool/publisher/registry: {type: HRB, id: 1234, country: DE}}}",
				`eve, manifest: {set: {/tool/publisher/registry: {type: HRB, id: "1234"}}}`),
			Want: tooFew},
		// other names, other numbers
		{Name: "apart, l5",
			World: twoWitnesses + l5("witness: [ada, dan, eve]",
				`dan, legal_name: "Holding One\u0001", manifest: {set: {/tool/publisher/registry: {type: HRB, id: 1234, country: DE}}}`,
				`eve, legal_name: "Holding Two\u0001", manifest: {set: {/tool/publisher/registry: {type: HRB, id: 1234, country: FR}}}`),
			Want: enough},
	})
}
