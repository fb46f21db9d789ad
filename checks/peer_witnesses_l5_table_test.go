package checks_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
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
		oneTwice = `pr: [{listing: nova, level: L5, witness: [ada, ada, bob]}]
`
		sameDomain = `  - {listing: one, host: one.corp.example, level: L4, witness: [ada]}
  - {listing: two, host: two.corp.example, level: L4, witness: [ada]}
pr: [{listing: nova, level: L5, witness: [one, two, ada]}]
`
		manifest503 = `web: [{url: "https://ada.example/.well-known/oap-tool.json", status: 503}]
`
		receipt503 = `web: [{url: "https://ada.example/oap-conformance-receipt.json", status: 503}]
`
		candidateManifestOther = `pr:
  - {listing: nova, level: L5, witness: [ada, bob, cyd], manifest: {set: {/tool/did: "did:web:else.example"}}}
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
		{Name: "two", World: base + two,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{
				`error: peer-witnesses: 2 independent witnesses count; L5 requires 3( \[|$)`,
				`fix: have three listed L4 or L5 implementations of different publishers, keys and registered `,
			}},
		{Name: "one twice", World: base + oneTwice,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`did:web:ada.example and did:web:ada.example are not independent: they are one DID`}},
		// a third whose signature does not verify, beside three that count
		{Name: "four one broken",
			World: base + `  - {listing: dan, level: L4, witness: [ada]}
pr: [{listing: nova, level: L5, witness: [ada, bob, cyd, {slug: dan, key: other}]}]
`,
			Want: `
implementations/nova.json:7:3: error: peer-witnesses: witness-signature
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		// ... and beside two: without its entry it is one of three that are needed
		{Name: "three one broken",
			World: base + `pr: [{listing: nova, level: L5, witness: [ada, bob, {slug: cyd, key: other}]}]
`,
			Want: `
implementations/nova.json:7:3: error: peer-witnesses: witness-signature
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		// --- independent of one another ---
		// two of one registrable domain
		{Name: "same domain", World: base + sameDomain,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`are not independent: both are under corp.example`}},
		// ... and of one platform, where names are free of charge
		{Name: "same platform",
			World: base + `  - {listing: one, host: one.github.io, level: L4, witness: [ada]}
  - {listing: two, host: two.github.io, level: L4, witness: [ada]}
pr: [{listing: nova, level: L5, witness: [one, two, ada]}]
`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`are not independent: both are under github.io`}},
		// two that share a key, also one that neither signed with
		{Name: "same key",
			World: base + `  - {listing: dan, level: L4, witness: [ada], key: bob}
pr: [{listing: nova, level: L5, witness: [ada, bob, dan]}]
`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`are not independent: they share a key`}},
		{Name: "spare key",
			World: base + `  - listing: dan
    level: L4
    witness: [ada]
    did_document:
      set: {/verificationMethod/-: {id: "#2", type: JsonWebKey2020, controller: "did:web:dan.example", publicKeyJwk: {kty: OKP, crv: Ed25519, x: $jwk(ada)}}}
pr: [{listing: nova, level: L5, witness: [ada, bob, dan]}]
`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`are not independent: they share a key`}},
		// two of one publisher: by its DID, by its legal name in another spelling, by its number in a register
		{Name: "same publisher",
			World: base + `  - {listing: dan, level: L4, witness: [ada], publisher_did: "did:web:holding.example"}
  - {listing: eve, level: L4, witness: [ada], publisher_did: "did:web:HOLDING.example."}
pr: [{listing: nova, level: L5, witness: [ada, dan, eve]}]
`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`they share a publisher: the publisher did "did:web:holding.example"`}},
		{Name: "same name",
			World: base + `  - {listing: dan, level: L4, witness: [ada], legal_name: "Groß & Söhne"}
  - {listing: eve, level: L4, witness: [ada], legal_name: "  GROSS  & So\u0308hne "}
pr: [{listing: nova, level: L5, witness: [ada, dan, eve]}]
`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`they share a publisher: the legal_name `}},
		{Name: "same number",
			World: base + `  - {listing: dan, level: L4, witness: [ada], manifest: {set: {/tool/publisher/registry: {type: HRB, id: HRB 1, country: DE}}}}
  - {listing: eve, level: L4, witness: [ada], manifest: {set: {/tool/publisher/registry: {type: hrb, id: hrb 1, country: de}}}}
pr: [{listing: nova, level: L5, witness: [ada, dan, eve]}]
`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`they share a publisher: the registry entry "HRB 1"`}},
		// a number alone names the same company where the other does not say which register
		{Name: "number alone",
			World: base + `  - {listing: dan, level: L4, witness: [ada], manifest: {set: {/tool/publisher/registry: {type: HRB, id: HRB 1, country: DE}}}}
  - {listing: eve, level: L4, witness: [ada], manifest: {set: {/tool/publisher/registry: {id: HRB 1}}}}
pr: [{listing: nova, level: L5, witness: [ada, dan, eve]}]
`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`they share a publisher: the registry entry "HRB 1"`}},
		// one number in two countries' registers is two companies
		{Name: "two countries",
			World: base + `  - {listing: dan, level: L4, witness: [ada], manifest: {set: {/tool/publisher/registry: {type: HRB, id: HRB 1, country: DE}}}}
  - {listing: eve, level: L4, witness: [ada], manifest: {set: {/tool/publisher/registry: {type: HRB, id: HRB 1, country: AT}}}}
pr: [{listing: nova, level: L5, witness: [ada, dan, eve]}]
`,
			Want: `implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		// a did:web with a path may share its host
		{Name: "path",
			World: base + `  - {listing: dan, level: L4, witness: [ada], did: "did:web:dan.example:agents:dan"}
pr: [{listing: nova, level: L5, witness: [ada, bob, dan]}]
`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-not-independent
implementations/nova.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`peer witness "did:web:dan.example:agents:dan" does not count towards L5: its did:web has a path`}},
		// a platform itself stands under the domain that it pays for, as its customers do
		{Name: "platforms",
			World: base + `  - {listing: dan, host: vercel.app, level: L4, witness: [ada]}
  - {listing: eve, host: netlify.app, level: L4, witness: [ada]}
pr: [{listing: nova, level: L5, witness: [ada, dan, eve]}]
`,
			Want: `implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		{Name: "platform and customer",
			World: base + `  - {listing: dan, host: vercel.app, level: L4, witness: [ada]}
  - {listing: eve, host: eve.vercel.app, level: L4, witness: [ada]}
pr: [{listing: nova, level: L5, witness: [ada, dan, eve]}]
`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`are not independent: both are under vercel.app`}},
		// the best three of four are found, whatever their order
		{Name: "four",
			World: base + `  - {listing: fox, level: L4, witness: [ada], legal_name: Ada Ltd}
pr: [{listing: nova, level: L5, witness: [fox, ada, bob, cyd]}]
`,
			Want: `implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		{Name: "four reversed",
			World: base + `  - {listing: fox, level: L4, witness: [ada], legal_name: Ada Ltd}
pr: [{listing: nova, level: L5, witness: [cyd, bob, ada, fox]}]
`,
			Want: `implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		{Name: "pairs",
			World: base + `  - {listing: fox, level: L4, witness: [ada], legal_name: Ada Ltd}
  - {listing: gus, level: L4, witness: [ada], legal_name: Bob Ltd}
pr: [{listing: nova, level: L5, witness: [fox, ada, bob, gus]}]
`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		// --- independent of the candidate ---
		{Name: "candidate domain",
			World: base + `  - {listing: dan, host: dan.nova.example, level: L4, witness: [ada]}
pr: [{listing: nova, level: L5, witness: [ada, bob, dan]}]
`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-not-independent
implementations/nova.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`it is not independent of the candidate: both are under nova.example`}},
		{Name: "candidate publisher",
			World: base + `pr: [{listing: nova, level: L5, witness: [ada, bob, cyd], publisher_did: "did:web:ada.example"}]`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-not-independent
implementations/nova.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`it is not independent of the candidate: they share a publisher: the publisher did "did:web:ada.example"`}},
		{Name: "candidate name",
			World: base + `pr: [{listing: nova, level: L5, witness: [ada, bob, cyd], legal_name: Ada Ltd}]`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-not-independent
implementations/nova.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`it is not independent of the candidate: they share a publisher: the legal_name "Ada Ltd"`}},
		{Name: "candidate key",
			World: base + `pr: [{listing: nova, level: L5, witness: [ada, bob, cyd], key: ada}]`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-key-shared
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		// a did:key is held to the host of its Manifest
		{Name: "did key", World: base + `pr: [{listing: nova, did: key, level: L5, witness: [ada, bob, cyd]}]`,
			Want: `
implementations/nova.json:6:3: notice: external-audit: audit-declared
implementations/nova.json:4:3: warning: domain-age: age-of-host`},
		{Name: "did key domain",
			World: base + `  - {listing: dan, host: dan.corp.example, level: L4, witness: [ada]}
pr: [{listing: nova, did: key, host: nova.corp.example, level: L5, witness: [ada, bob, dan]}]
`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-not-independent
implementations/nova.json:6:3: notice: external-audit: audit-declared
implementations/nova.json:4:3: warning: domain-age: age-of-host`,
			Says: []string{`it is not independent of the candidate: both are under corp.example`}},
		// --- the Manifests ---
		// a witness whose Manifest names no publisher, is gone, or is another's
		{Name: "three, no publisher did",
			World: base + three + `web: [{edit: "https://ada.example/.well-known/oap-tool.json", delete: [/tool/publisher/did]}]`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-not-independent
implementations/nova.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`its Manifest names no publisher did or legal_name`}},
		{Name: "three, no legal name",
			World: base + three + `web: [{edit: "https://ada.example/.well-known/oap-tool.json", set: {/tool/publisher/legal_name: "  "}}]`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-not-independent
implementations/nova.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`its Manifest names no publisher did or legal_name`}},
		{Name: "three, manifest gone",
			World: base + three + `web: [{url: "https://ada.example/.well-known/oap-tool.json", status: 404}]`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-not-independent
implementations/nova.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`its Manifest: https://ada.example/.well-known/oap-tool.json: answered 404 Not Found`}},
		{Name: "three, manifest html",
			World: base + three + `web: [{url: "https://ada.example/.well-known/oap-tool.json", body: "<html>"}]`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-not-independent
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		{Name: "three, manifest other",
			World: base + three + `web: [{edit: "https://ada.example/.well-known/oap-tool.json", set: {/tool/did: "did:web:else.example"}}]`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-not-independent
implementations/nova.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`its Manifest.s tool.did is "did:web:else.example"`}},
		// one that could not be had leaves it open, unless three others count
		{Name: "three, manifest 503", World: base + three + manifest503,
			Want: `
implementations/nova.json:6:3: inconclusive: peer-witnesses: witness-open
implementations/nova.json:7:3: warning: peer-witnesses: witness-open
implementations/nova.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`"did:web:ada.example" may not count towards L5: its Manifest could not be fetched`}},
		{Name: "four others, manifest 503",
			World: base + `  - {listing: dan, level: L4, witness: [ada]}
pr: [{listing: nova, level: L5, witness: [ada, bob, cyd, dan]}]
` + manifest503,
			Want: `
implementations/nova.json:7:3: warning: peer-witnesses: witness-open
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		{Name: "three, receipt 503", World: base + three + receipt503,
			Want: `
implementations/nova.json:6:3: inconclusive: peer-witnesses: witness-open
implementations/nova.json:7:3: warning: peer-witnesses: witness-evidence
implementations/nova.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`"did:web:ada.example" could not be judged: its own Receipt: `}},
		// ... and decides nothing where three could not come together anyway
		{Name: "two, manifest 503", World: base + two + manifest503,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-open
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		{Name: "one twice, receipt 503", World: base + oneTwice + receipt503,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-evidence
implementations/nova.json:7:3: warning: peer-witnesses: witness-evidence
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		{Name: "same domain, twins 503",
			World: base + sameDomain + `web:
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
			World: base + `pr:
  - {listing: nova, level: L5, witness: [ada, bob, cyd], manifest: {delete: [/tool/publisher/legal_name]}}
`,
			Want: `
implementations/nova.json:5:3: error: peer-witnesses: publisher-missing
implementations/nova.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`implementations/nova.json:5:3: error: peer-witnesses: the Manifest names no publisher did or legal_name`}},
		// ... and be its own: manifest-did says so, and where that is left out this check does
		{Name: "candidate manifest other", World: base + candidateManifestOther,
			Want: `
implementations/nova.json:4:3: error: manifest-did: manifest-did-differs
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		{Name: "candidate manifest other, only peer-witnesses", Only: "peer-witnesses",
			World: base + candidateManifestOther,
			Want:  `implementations/nova.json:4:3: error: peer-witnesses: manifest-did-differs`},
		// ... and be there: manifest-reachability says so
		{Name: "three, candidate manifest gone",
			World: base + three + `web: [{url: "https://nova.example/.well-known/oap-tool.json", status: 404}]`,
			Want: `
implementations/nova.json:5:3: error: manifest-reachability: http-status
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		{Name: "three, candidate manifest 503",
			World: base + three + `web: [{url: "https://nova.example/.well-known/oap-tool.json", status: 503}]`,
			Want: `
implementations/nova.json:5:3: inconclusive: manifest-reachability: http-status
implementations/nova.json: inconclusive: manifest-did
implementations/nova.json: inconclusive: peer-witnesses
implementations/nova.json:6:3: notice: external-audit: audit-declared
implementations/nova.json: inconclusive: fallback-policy`},
		// a publisher is not another party, nor in the domain of one or of its publisher
		{Name: "published by another witness",
			World: `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: eve, level: L4, witness: [ada], publisher_did: "did:web:pub-eve.example"}
  - {listing: dan, level: L4, witness: [ada], publisher_did: "did:web:EVE.example"}
pr: [{listing: nova, level: L5, witness: [ada, dan, eve]}]
`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`did:web:dan.example is published by did:web:eve.example`}},
		{Name: "published in the domain of another witness",
			World: `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: dan, level: L4, witness: [ada], publisher_did: "did:web:tools.bob.example:x"}
pr: [{listing: nova, level: L5, witness: [ada, bob, dan]}]
`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`is in bob.example, the domain of`}},
		{Name: "two publishers in one domain",
			World: `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: eve, level: L4, witness: [ada], publisher_did: "did:web:eu.acme.example"}
  - {listing: dan, level: L4, witness: [ada], publisher_did: "did:web:us.acme.example"}
pr: [{listing: nova, level: L5, witness: [ada, eve, dan]}]
`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`is in acme.example`}},
		{Name: "the candidate publishes a witness",
			World: `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: dan, level: L4, witness: [ada], publisher_did: "did:web:nova.example"}
pr: [{listing: nova, level: L5, witness: [ada, bob, dan]}]
`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-not-independent
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		{Name: "a witness publishes the candidate",
			World: `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: dan, level: L4, witness: [ada]}
pr: [{listing: nova, level: L5, witness: [ada, bob, dan], publisher_did: "did:web:dan.example"}]
`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-not-independent
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		{Name: "a publisher by did:key",
			World: `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: dan, level: L4, witness: [ada], publisher_did: "did:ion:x"}
pr: [{listing: nova, level: L5, witness: [ada, bob, dan]}]
`,
			Want: `implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		// L5 has no exemption: not for the reference server that all maintainers sign for
		{Name: "exempt, exempt pr",
			World: `policy: {reference_server: nova, maintainers: [mia]}
` + base + `  - {publish: mia}
pr: [{listing: nova, level: L5, co_signers: [mia]}]
`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
	})
}
