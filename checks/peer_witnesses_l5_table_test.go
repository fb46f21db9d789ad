package checks_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

// The witnesses of a world, which witness one another.
const (
	twoWitnesses = `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
`
	threeWitnesses = twoWitnesses + `  - {listing: cyd, level: L4, witness: [ada]}
`
)

// l5 returns the rest of such a world: further witnesses at L4, each by the members of its listing, and a pull request
// that lists nova at L5 with these members.
func l5(nova string, more ...string) (steps string) {
	for _, members := range more {
		steps += "  - {listing: " + members + ", level: L4, witness: [ada]}\n"
	}
	return steps + "pr: [{listing: nova, level: L5, " + nova + "}]\n"
}

// What is found in nova at L5.
const (
	enough = `implementations/nova.json:6:3: notice: external-audit: audit-declared`
	tooFew = `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
` + enough
	notIndependent = `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-not-independent
` + enough
)

// L5: three listed witnesses, pairwise independent and independent of the candidate.
func TestPeerWitnessesL5(t *testing.T) {
	const (
		base = `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: cyd, level: L4, witness: [ada]}
`
		three = `pr: [{listing: nova, level: L5, witness: [ada, bob, cyd]}]
`
		noSuchLevel = `pr: [{listing: nova, level: L5-NC}]
`
		two = `pr: [{listing: nova, level: L5, witness: [ada, bob]}]
`
		manifest503 = `web: [{url: "https://ada.example/.well-known/oap-tool.json", status: 503, header: {retry-after: "3600"}}]
`
		receipt503 = `web: [{url: "https://ada.example/oap-conformance-receipt.json", status: 503}]
`
	)
	checktest.Run(t, []checktest.Case{
		// tiers of L5 have the same duties
		{Name: "tiers",
			World: base + `pr:
  - {listing: nova, level: L5-FINANCE, witness: [ada, bob, cyd]}
  - {listing: mate, level: L5-ORG, witness: [ada, bob, cyd]}
`,
			Want: `
implementations/mate.json:6:3: warning: receipt-claims: tier-not-claimed
implementations/mate.json:6:3: notice: external-audit: audit-declared
implementations/nova.json:6:3: warning: receipt-claims: tier-not-claimed
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		// a level that does not exist is receipt-claims' to report, and no way around the duties of L5 without it
		{Name: "no such level", World: base + noSuchLevel,
			Want: `implementations/nova.json:6:3: error: receipt-claims: no-such-level`},
		{Name: "no such level, without receipt-claims", Skip: "receipt-claims", World: base + noSuchLevel,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: no-such-level
implementations/nova.json:6:3: error: external-audit: no-such-level`},
		// two, or one of them twice
		{Name: "two", World: threeWitnesses + l5("witness: [ada, bob]"), Want: tooFew, Says: []string{
			`error: peer-witnesses: 2 independent witnesses count; L5 requires 3( \[|$)`,
			`fix: have three listed L4 or L5 implementations of different publishers, keys and registered `,
		}},
		{Name: "one twice", World: threeWitnesses + l5("witness: [ada, ada, bob]"), Want: tooFew,
			Says: []string{`did:web:ada.example and did:web:ada.example are not independent: they are one DID`}},
		// a third whose signature does not verify, beside three that count
		{Name: "four one broken",
			World: threeWitnesses + l5("witness: [ada, bob, cyd, {slug: dan, key: other}]", "dan"), Want: `
implementations/nova.json:7:3: error: peer-witnesses: witness-signature
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		// ... and beside two: without its entry it is one of three that are needed
		{Name: "three one broken", World: threeWitnesses + l5("witness: [ada, bob, {slug: cyd, key: other}]"), Want: `
implementations/nova.json:7:3: error: peer-witnesses: witness-signature
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		// --- independent of one another ---
		// two of one registrable domain
		{Name: "same domain",
			World: threeWitnesses + l5("witness: [one, two, ada]", "one, host: one.corp.example",
				"two, host: two.corp.example"),
			Want: tooFew, Says: []string{`are not independent: both are under corp.example`}},
		// ... and of one platform, where names are free of charge
		{Name: "same platform",
			World: threeWitnesses + l5("witness: [one, two, ada]", "one, host: one.github.io",
				"two, host: two.github.io"),
			Want: tooFew, Says: []string{`are not independent: both are under github.io`}},
		// two that share a key, also one that neither signed with
		{Name: "same key", World: threeWitnesses + l5("witness: [ada, bob, dan]", "dan, key: bob"), Want: tooFew,
			Says: []string{`are not independent: they share a key`}},
		{Name: "spare key", World: base + `  - listing: dan
    level: L4
    witness: [ada]
    did_document:
      set: {/verificationMethod/-: {id: "#2", type: JsonWebKey2020, controller: "did:web:dan.example", publicKeyJwk: {kty: OKP, crv: Ed25519, x: $jwk(ada)}}}
pr: [{listing: nova, level: L5, witness: [ada, bob, dan]}]
`,
			Want: tooFew, Says: []string{`are not independent: they share a key`}},
		// two of one publisher: by its DID, by its legal name in another spelling, by its number in a register
		{Name: "same publisher",
			World: threeWitnesses + l5("witness: [ada, dan, eve]", `dan, publisher_did: "did:web:holding.example"`,
				`eve, publisher_did: "did:web:HOLDING.example."`),
			Want: tooFew, Says: []string{`they share a publisher: the publisher did "did:web:holding.example"`}},
		{Name: "same name",
			World: threeWitnesses + l5("witness: [ada, dan, eve]", `dan, legal_name: "Groß & Söhne"`,
				`eve, legal_name: "  GROSS  & So\u0308hne "`),
			Want: tooFew, Says: []string{`they share a publisher: the legal_name `}},
		{Name: "same number",
			World: threeWitnesses + l5("witness: [ada, dan, eve]",
				"dan, manifest: {set: {/tool/publisher/registry: {type: HRB, id: HRB 1, country: DE}}}",
				"eve, manifest: {set: {/tool/publisher/registry: {type: hrb, id: hrb 1, country: de}}}"),
			Want: tooFew, Says: []string{`they share a publisher: the registry entry "HRB 1"`}},
		// a number alone names the same company where the other does not say which register
		{Name: "number alone",
			World: threeWitnesses + l5("witness: [ada, dan, eve]",
				"dan, manifest: {set: {/tool/publisher/registry: {type: HRB, id: HRB 1, country: DE}}}",
				"eve, manifest: {set: {/tool/publisher/registry: {id: HRB 1}}}"),
			Want: tooFew, Says: []string{`they share a publisher: the registry entry "HRB 1"`}},
		// one number in two countries' registers is two companies
		{Name: "two countries",
			World: threeWitnesses + l5("witness: [ada, dan, eve]",
				"dan, manifest: {set: {/tool/publisher/registry: {type: HRB, id: HRB 1, country: DE}}}",
				"eve, manifest: {set: {/tool/publisher/registry: {type: HRB, id: HRB 1, country: AT}}}"),
			Want: enough},
		// a did:web with a path may share its host
		{Name: "path",
			World: threeWitnesses + l5("witness: [ada, bob, dan]", `dan, did: "did:web:dan.example:agents:dan"`),
			Want:  notIndependent,
			Says:  []string{`peer witness "did:web:dan.example:agents:dan" does not count towards L5: its did:web has a path`}},
		// a platform itself stands under the domain that it pays for, as its customers do
		{Name: "platforms",
			World: threeWitnesses + l5("witness: [ada, dan, eve]", "dan, host: vercel.app", "eve, host: netlify.app"),
			Want:  enough},
		{Name: "platform and customer",
			World: threeWitnesses + l5("witness: [ada, dan, eve]", "dan, host: vercel.app",
				"eve, host: eve.vercel.app"),
			Want: tooFew, Says: []string{`are not independent: both are under vercel.app`}},
		// the best three of four are found, whatever their order
		{Name: "four", World: threeWitnesses + l5("witness: [fox, ada, bob, cyd]", "fox, legal_name: Ada Ltd"),
			Want: enough},
		{Name: "four reversed",
			World: threeWitnesses + l5("witness: [cyd, bob, ada, fox]", "fox, legal_name: Ada Ltd"), Want: enough},
		{Name: "pairs",
			World: threeWitnesses + l5("witness: [fox, ada, bob, gus]", "fox, legal_name: Ada Ltd",
				"gus, legal_name: Bob Ltd"),
			Want: tooFew},
		// --- independent of the candidate ---
		{Name: "candidate domain",
			World: threeWitnesses + l5("witness: [ada, bob, dan]", "dan, host: dan.nova.example"),
			Want:  notIndependent,
			Says:  []string{`it is not independent of the candidate: both are under nova.example`}},
		{Name: "candidate publisher",
			World: threeWitnesses + l5(`witness: [ada, bob, cyd], publisher_did: "did:web:ada.example"`),
			Want:  notIndependent,
			Says:  []string{`it is not independent of the candidate: they share a publisher: the publisher did "did:web:ada.example"`}},
		{Name: "candidate name", World: threeWitnesses + l5("witness: [ada, bob, cyd], legal_name: Ada Ltd"),
			Want: notIndependent,
			Says: []string{`it is not independent of the candidate: they share a publisher: the legal_name "Ada Ltd"`}},
		{Name: "candidate key", World: threeWitnesses + l5("witness: [ada, bob, cyd], key: ada"), Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-key-shared
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		// a did:key is held to the host of its Manifest
		{Name: "did key", World: threeWitnesses + l5("did: key, witness: [ada, bob, cyd]"), Want: `
implementations/nova.json:6:3: notice: external-audit: audit-declared
implementations/nova.json:4:3: warning: domain-age: age-of-host`},
		{Name: "did key domain",
			World: threeWitnesses + l5("did: key, host: nova.corp.example, witness: [ada, bob, dan]",
				"dan, host: dan.corp.example"),
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-not-independent
implementations/nova.json:6:3: notice: external-audit: audit-declared
implementations/nova.json:4:3: warning: domain-age: age-of-host`,
			Says: []string{`it is not independent of the candidate: both are under corp.example`}},
		// --- the Manifests ---
		// a witness whose Manifest names no publisher, is gone, or is another's
		{Name: "three, no publisher did",
			World: threeWitnesses + l5("witness: [ada, bob, cyd]") + `web: [{edit: "https://ada.example/.well-known/oap-tool.json", delete: [/tool/publisher/did]}]`,
			Want:  notIndependent, Says: []string{`its Manifest names no publisher did or legal_name`}},
		{Name: "three, no legal name",
			World: threeWitnesses + l5("witness: [ada, bob, cyd]") + `web: [{edit: "https://ada.example/.well-known/oap-tool.json", set: {/tool/publisher/legal_name: "  "}}]`,
			Want:  notIndependent, Says: []string{`its Manifest names no publisher did or legal_name`}},
		{Name: "three, manifest gone",
			World: threeWitnesses + l5("witness: [ada, bob, cyd]") + `web: [{url: "https://ada.example/.well-known/oap-tool.json", status: 404}]`,
			Want:  notIndependent,
			Says:  []string{`its Manifest: https://ada.example/.well-known/oap-tool.json: answered 404 Not Found`}},
		{Name: "three, manifest html",
			World: threeWitnesses + l5("witness: [ada, bob, cyd]") + `web: [{url: "https://ada.example/.well-known/oap-tool.json", body: "<html>"}]`,
			Want:  notIndependent},
		{Name: "three, manifest other",
			World: threeWitnesses + l5("witness: [ada, bob, cyd]") + `web: [{edit: "https://ada.example/.well-known/oap-tool.json", set: {/tool/did: "did:web:else.example"}}]`,
			Want:  notIndependent, Says: []string{`its Manifest.s tool.did is "did:web:else.example"`}},
		// one that could not be had leaves it open, unless three others count
		{Name: "three, manifest 503", World: threeWitnesses + l5("witness: [ada, bob, cyd]") + manifest503, Want: `
implementations/nova.json:6:3: inconclusive: peer-witnesses: witness-open
implementations/nova.json:7:3: warning: peer-witnesses: witness-open
implementations/nova.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`"did:web:ada.example" may not count towards L5: its Manifest could not be fetched`,
				`(?s)fix: try again after 2026-06-01T13:00:00Z.*fix: try again after 2026-06-01T13:00:00Z`}},
		{Name: "four others, manifest 503",
			World: threeWitnesses + l5("witness: [ada, bob, cyd, dan]", "dan") + manifest503, Want: `
implementations/nova.json:7:3: warning: peer-witnesses: witness-open
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		{Name: "three, receipt 503", World: threeWitnesses + l5("witness: [ada, bob, cyd]") + receipt503, Want: `
implementations/nova.json:6:3: inconclusive: peer-witnesses: witness-open
implementations/nova.json:7:3: warning: peer-witnesses: witness-evidence
implementations/nova.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`"did:web:ada.example" could not be judged: its own Receipt: `}},
		// ... and decides nothing where three could not come together anyway
		{Name: "two, manifest 503", World: threeWitnesses + l5("witness: [ada, bob]") + manifest503, Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-open
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		{Name: "one twice, receipt 503", World: threeWitnesses + l5("witness: [ada, ada, bob]") + receipt503, Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-evidence
implementations/nova.json:7:3: warning: peer-witnesses: witness-evidence
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		{Name: "same domain, twins 503",
			World: threeWitnesses + l5("witness: [one, two, ada]", "one, host: one.corp.example",
				"two, host: two.corp.example") + `web:
  - {url: "https://one.corp.example/oap-conformance-receipt.json", status: 503}
  - {url: "https://two.corp.example/oap-conformance-receipt.json", status: 503}
`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-evidence
implementations/nova.json:7:3: warning: peer-witnesses: witness-evidence
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		// the candidate's own Manifest must name its publisher
		{Name: "candidate nameless",
			World: threeWitnesses + l5("witness: [ada, bob, cyd], manifest: {delete: [/tool/publisher/legal_name]}"),
			Want: `
implementations/nova.json:5:3: error: peer-witnesses: publisher-missing
implementations/nova.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`implementations/nova.json:5:3: error: peer-witnesses: the Manifest names no publisher did or legal_name`}},
		// ... and be its own: manifest-did says so, and where that is left out this check does
		{Name: "candidate manifest other",
			World: threeWitnesses + l5(`witness: [ada, bob, cyd], manifest: {set: {/tool/did: "did:web:else.example"}}`),
			Want: `
implementations/nova.json:4:3: error: manifest-did: manifest-did-differs
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		{Name: "candidate manifest other, only peer-witnesses", Only: "peer-witnesses",
			World: threeWitnesses + l5(`witness: [ada, bob, cyd], manifest: {set: {/tool/did: "did:web:else.example"}}`),
			Want:  `implementations/nova.json:4:3: error: peer-witnesses: manifest-did-differs`},
		// ... and be there: manifest-reachability says so
		{Name: "three, candidate manifest gone",
			World: threeWitnesses + l5("witness: [ada, bob, cyd]") + `web: [{url: "https://nova.example/.well-known/oap-tool.json", status: 404}]`,
			Want: `
implementations/nova.json:5:3: error: manifest-reachability: http-status
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		{Name: "three, candidate manifest 503",
			World: threeWitnesses + l5("witness: [ada, bob, cyd]") + `web: [{url: "https://nova.example/.well-known/oap-tool.json", status: 503}]`,
			Want: `
implementations/nova.json:5:3: inconclusive: manifest-reachability: http-status
implementations/nova.json: inconclusive: manifest-did
implementations/nova.json: inconclusive: peer-witnesses
implementations/nova.json:6:3: notice: external-audit: audit-declared
implementations/nova.json: inconclusive: fallback-policy`},
		// a publisher is not another party, nor in the domain of one or of its publisher
		{Name: "published by another witness",
			World: twoWitnesses + l5("witness: [ada, dan, eve]", `eve, publisher_did: "did:web:pub-eve.example"`,
				`dan, publisher_did: "did:web:EVE.example"`),
			Want: tooFew, Says: []string{`did:web:dan.example is published by did:web:eve.example`}},
		{Name: "published in the domain of another witness",
			World: twoWitnesses + l5("witness: [ada, bob, dan]", `dan, publisher_did: "did:web:tools.bob.example:x"`),
			Want:  tooFew, Says: []string{`is in bob.example, the domain of`}},
		{Name: "two publishers in one domain",
			World: twoWitnesses + l5("witness: [ada, eve, dan]", `eve, publisher_did: "did:web:eu.acme.example"`,
				`dan, publisher_did: "did:web:us.acme.example"`),
			Want: tooFew, Says: []string{`is in acme.example`}},
		{Name: "the candidate publishes a witness",
			World: twoWitnesses + l5("witness: [ada, bob, dan]", `dan, publisher_did: "did:web:nova.example"`),
			Want:  notIndependent},
		{Name: "a witness publishes the candidate",
			World: twoWitnesses + l5(`witness: [ada, bob, dan], publisher_did: "did:web:dan.example"`, "dan"),
			Want:  notIndependent},
		{Name: "a publisher by did:key",
			World: twoWitnesses + l5("witness: [ada, bob, dan]", `dan, publisher_did: "did:ion:x"`), Want: enough},
		// L5 has no exemption: not for the reference server that all maintainers sign for
		{Name: "exempt, exempt pr", World: `policy: {reference_server: nova, maintainers: [mia]}
` + base + `  - {publish: mia}
pr: [{listing: nova, level: L5, co_signers: [mia]}]
`,
			Want: tooFew},
	})
}
