package checks_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

func TestReceiptClaims(t *testing.T) {
	checktest.Run(t, []checktest.Case{
		{Name: "surrogate", PR: `{listing: nova, tamper: {replace: {'"1.0.0"': '"\ud800"'}}}`,
			Want: `implementations/nova.json:7:3: error: receipt-claims: lone-surrogate`},
		{Name: "infinite", PR: `{listing: nova, tamper: {replace: {'"total": 42': '"total": 1e400'}}}`,
			Want: `implementations/nova.json:7:3: error: receipt-claims: number-out-of-range`},
		{Name: "twice",
			World: `pr:
  - {listing: nova, tamper: {replace: {'"claimed_levels"': '"claimed_levels": ["L5"], "claimed_levels"'}}}
`,
			Want: `implementations/nova.json:7:3: error: receipt-claims: duplicate-member`},
		{Name: "escaped",
			World: `pr:
  - {listing: nova, tamper: {replace: {'"claimed_levels"': '"claimed\u005flevels": ["L5"], "claimed_levels"'}}}
`,
			Want: `implementations/nova.json:7:3: error: receipt-claims: duplicate-member`},
		{Name: "array", PR: `{listing: nova, tamper: {body: "[]"}}`,
			Want: `implementations/nova.json:7:3: error: receipt-claims: receipt-no-object`},
		// a number that a double rounds is read as JavaScript reads it
		{Name: "rounded", PR: "{listing: nova, receipt: {set: {/run: 9007199254740993}}}",
			Want: `implementations/nova.json:7:3: warning: receipt-claims: rounded-number`},
		// the receipt schema: a member missing, another type of receipt, a negative count
		{Name: "missing", PR: "{listing: nova, receipt: {delete: [/fixtures_hash]}}",
			Want: `implementations/nova.json:7:3: error: receipt-claims: receipt-schema`,
			Says: []string{`the Receipt violates its schema at the root: `}},
		{Name: "type", PR: "{listing: nova, receipt: {set: {/type: revocation}}}",
			Want: `implementations/nova.json:7:3: error: receipt-claims: receipt-schema`},
		{Name: "negative", PR: "{listing: nova, receipt: {set: {/results_summary/failed: -1}}}",
			Want: `implementations/nova.json:7:3: error: receipt-claims: receipt-schema`,
			Says: []string{`the Receipt violates its schema at "/results_summary/failed": `}},
		{Name: "fixtures", PR: `{listing: nova, receipt: {set: {/fixtures_hash: "sha256:0"}}}`,
			Want: `implementations/nova.json:7:3: error: receipt-claims: receipt-schema`},
		// somebody else's Receipt, honestly signed by this implementation
		{Name: "did", PR: `{listing: nova, receipt: {set: {/implementation/did: "did:web:other.example"}}}`,
			Want: `implementations/nova.json:4:3: error: receipt-claims: receipt-did-differs`,
			Says: []string{`implementations/nova.json:4:3: error: receipt-claims: the Receipt.s implementation.did is "did:web:other.example"`}},
		// the name of a new listing is the signed one, in these very characters
		{Name: "name", PR: `{listing: nova, name: "Nova \u00dcber"}`, Want: `pass`},
		{Name: "other name", PR: "{listing: nova, set: {/name: Bank of Nova}}",
			Want: `implementations/nova.json:3:3: error: receipt-claims: name-not-signed`,
			Says: []string{`name is "Bank of Nova"; expected the Receipt's implementation.name "Nova"`,
				`fix: set name to "Nova", or sign a Receipt with the name "Bank of Nova"`}},
		{Name: "name in other letter case", PR: "{listing: nova, set: {/name: NOVA}}",
			Want: `implementations/nova.json:3:3: error: receipt-claims: name-not-signed`},
		{Name: "name with a blank", PR: `{listing: nova, set: {/name: "Nova "}}`,
			Want: `implementations/nova.json:3:3: error: receipt-claims: name-not-signed`},
		// no listing may have the signed name
		{Name: "name of one letter", PR: "{listing: nova, receipt: {set: {/implementation/name: N}}}",
			Want: `implementations/nova.json:3:3: error: receipt-claims: name-not-signed`,
			Says: []string{`fix: sign a Receipt whose implementation.name has 2 to 80 characters`}},
		{Name: "empty name", PR: `{listing: nova, receipt: {set: {/implementation/name: ""}}}`,
			Want: `implementations/nova.json:3:3: error: receipt-claims: name-not-signed`,
			Says: []string{`fix: sign a Receipt whose implementation.name has 2 to 80 characters`}},
		{Name: "no name", PR: "{listing: nova, receipt: {delete: [/implementation/name]}}",
			Want: `implementations/nova.json:7:3: error: receipt-claims: receipt-schema`},
		// a name that the schema refuses is not refused twice
		{Name: "schema's name", PR: "{listing: nova, set: {/name: N}}",
			Want: `implementations/nova.json:3:3: error: schema: schema-minLength`},
		{Name: "schema left out", Skip: "schema", PR: "{listing: nova, set: {/name: N}}",
			Want: `implementations/nova.json:3:3: error: receipt-claims: name-not-signed`},
		// a merged name that differs stays, with a warning; reissue reports one that changes, where it runs
		{Name: "merged name", Base: "{listing: nova, set: {/name: Supernova}}",
			PR:   "{reissue: nova, set: {/name: Supernova}}",
			Want: `implementations/nova.json:3:3: warning: receipt-claims: name-not-signed`},
		{Name: "changed name", Skip: "reissue", Base: "{listing: nova}", PR: "{reissue: nova, set: {/name: Supernova}}",
			Want: `implementations/nova.json:3:3: error: receipt-claims: name-not-signed`},
		// another suite, and a version that nobody trusts, as verify says it
		{Name: "suite 2", PR: `{listing: nova, receipt: {set: {/suite/version: "2.0.0"}}}`,
			Want: `implementations/nova.json:7:3: warning: receipt-claims: suite-not-trusted`,
			Says: []string{`suite.version is "2.0.0", trusted are 1.x`}},
		{Name: "own suite", PR: "{listing: nova, receipt: {set: {/suite/name: my-suite}}}", Want: `
implementations/nova.json:7:3: error: receipt-claims: receipt-schema
implementations/nova.json:7:3: warning: receipt-claims: suite-not-trusted`,
			Says: []string{`suite.name is "my-suite"; expected "oap-conformance-test-suite"`}},
		{Name: "suite 1.3", PR: `{listing: nova, receipt: {set: {/suite/version: "1.3.0"}}}`, Want: `pass`},
		// a suite that ran elsewhere: on the tester's machine, in another domain; on another host of the domain it is
		// the owner's
		{Name: "localhost", PR: `{listing: nova, receipt: {set: {/target/uri: "http://localhost:3000"}}}`,
			Want: `implementations/nova.json:7:3: warning: receipt-claims: target-differs`,
			Says: []string{`the suite ran against "http://localhost:3000", which is outside the domain of did:web:nova.example`}},
		{Name: "elsewhere", PR: `{listing: nova, receipt: {set: {/target/uri: "https://nova.example.evil.example/"}}}`,
			Want: `implementations/nova.json:7:3: warning: receipt-claims: target-differs`},
		{Name: "staging", PR: `{listing: nova, receipt: {set: {/target/uri: "https://staging.nova.example:8443/v1"}}}`,
			Want: `pass`},
		{Name: "on the Manifest's host",
			World: `pr:
  - {listing: nova, set: {/manifest_uri: "https://api.other.example/m.json"}, receipt: {set: {/target/uri: "https://api.other.example/v1"}}}
web: [{edit: "https://nova.example/.well-known/oap-tool.json", to: "https://api.other.example/m.json"}]
`,
			Want: `pass`},
		// a level that the Receipt does not claim; spelled otherwise; below the one claimed
		{Name: "level", PR: "{listing: nova, set: {/conformance_level: L2}}",
			Want: `implementations/nova.json:6:3: error: receipt-claims: level-not-claimed`,
			Says: []string{`implementations/nova.json:6:3: error: receipt-claims: conformance_level is "L2", the Receipt claims L1`}},
		{Name: "below", PR: "{listing: nova, level: L2, set: {/conformance_level: L1}}",
			Want: `implementations/nova.json:6:3: error: receipt-claims: level-not-claimed`},
		// of two levels claimed the lower is listed: a warning
		{Name: "lower", PR: "{listing: nova, receipt: {set: {/claimed_levels: [L1, L2]}}}",
			Want: `implementations/nova.json:6:3: warning: receipt-claims: level-not-highest`},
		// tiers of L5 stand on a claim of L5, with a warning
		{Name: "tiers",
			World: `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: cyd, level: L4, witness: [ada]}
pr:
  - {listing: nova1, level: L5-FINANCE, witness: [ada, bob, cyd]}
  - {listing: nova2, level: L5-ORG, witness: [ada, bob, cyd]}
`,
			Want: `
implementations/nova1.json:6:3: warning: receipt-claims: tier-not-claimed
implementations/nova1.json:6:3: notice: external-audit: audit-declared
implementations/nova2.json:6:3: warning: receipt-claims: tier-not-claimed
implementations/nova2.json:6:3: notice: external-audit: audit-declared`},
		// but not on one of L4, and tiers of other levels do not exist
		{Name: "tier low",
			World: `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: cyd, level: L4, witness: [ada]}
pr:
  - {listing: nova, level: L5-FINANCE, witness: [ada, bob, cyd], receipt: {set: {/claimed_levels: [L4]}}}
`,
			Want: `
implementations/nova.json:6:3: error: receipt-claims: level-not-claimed
implementations/nova.json:6:3: notice: external-audit: audit-declared`},
		// levels that do not exist, though both schemas know them
		{Name: "l2 nc", PR: "{listing: nova, level: L2-NC}",
			Want: `implementations/nova.json:6:3: error: receipt-claims: no-such-level`},
		{Name: "l1 org", PR: "{listing: nova, level: L1-ORG}",
			Want: `implementations/nova.json:6:3: error: receipt-claims: no-such-level`},
		{Name: "l4 nc", PR: "{listing: nova, level: L4-NC}",
			Want: `implementations/nova.json:6:3: error: receipt-claims: no-such-level`},
		// non-commercial without the profile, with another profile, without a source of revenue
		{Name: "no profile", PR: "{listing: nova, level: L1-NC, receipt: {delete: [/profile]}}",
			Want: `implementations/nova.json:6:3: error: receipt-claims: profile`},
		{Name: "profile", PR: "{listing: nova, level: L1-NC, receipt: {set: {/profile: standard}}}",
			Want: `implementations/nova.json:6:3: error: receipt-claims: profile`},
		{Name: "revenue", PR: "{listing: nova, level: L3-NC, receipt: {delete: [/revenue]}}",
			Want: `implementations/nova.json:6:3: error: receipt-claims: revenue-source`},
		{Name: "revenue other", PR: "{listing: nova, level: L3-NC, receipt: {set: {/revenue/source: advertising}}}",
			Want: `implementations/nova.json:7:3: error: receipt-claims: receipt-schema`},
		// a listing that does not say that it is non-commercial, and one that says it is not: a warning
		{Name: "nc unsaid", PR: "{listing: nova, level: L1-NC, delete: [/non_commercial]}",
			Want: `implementations/nova.json:1:1: warning: receipt-claims: non-commercial`},
		{Name: "nc denied", PR: "{listing: nova, level: L1-NC, set: {/non_commercial: false}}",
			Want: `implementations/nova.json:12:3: warning: receipt-claims: non-commercial`},
		// tests that failed, and no test that passed
		{Name: "failed",
			PR:   "{listing: nova, receipt: {set: {/results_summary/failed: 1, /results_summary/passed: 41}}}",
			Want: `implementations/nova.json:7:3: error: receipt-claims: tests-failed`},
		{Name: "none passed",
			PR:   "{listing: nova, receipt: {set: {/results_summary/passed: 0, /results_summary/total: 0}}}",
			Want: `implementations/nova.json:7:3: error: receipt-claims: no-tests-passed`},
		// numbers that do not add up, with skipped and without; each fault is named
		{Name: "more than total", PR: "{listing: nova, receipt: {set: {/results_summary/total: 41}}}",
			Want: `implementations/nova.json:7:3: error: receipt-claims: results-incoherent`,
			Says: []string{`results_summary has total 41, passed 42, failed 0 and skipped 0; expected passed \+ failed \+ skipped to be total`,
				`fix: attest again with the results_summary that the suite wrote`}},
		{Name: "less than total", PR: "{listing: nova, receipt: {set: {/results_summary/passed: 12}}}",
			Want: `implementations/nova.json:7:3: error: receipt-claims: results-incoherent`},
		{Name: "too many skipped", PR: "{listing: nova, receipt: {set: {/results_summary/skipped: 1}}}",
			Want: `implementations/nova.json:7:3: error: receipt-claims: results-incoherent`},
		{Name: "more than total, skipped unsaid",
			PR:   "{listing: nova, receipt: {set: {/results_summary/total: 41}, delete: [/results_summary/skipped]}}",
			Want: `implementations/nova.json:7:3: error: receipt-claims: results-incoherent`,
			Says: []string{`results_summary has total 41, passed 42 and failed 0; expected passed \+ failed to be at most total`}},
		{Name: "failed, and incoherent", PR: "{listing: nova, receipt: {set: {/results_summary/failed: 1}}}", Want: `
implementations/nova.json:7:3: error: receipt-claims: tests-failed
implementations/nova.json:7:3: error: receipt-claims: results-incoherent`},
		// what the suite writes has no skipped; so does a number that JavaScript writes as a float
		{Name: "suite's summary", PR: "{listing: nova, receipt: {delete: [/results_summary/skipped]}}", Want: `pass`,
			Says: []string{`receipt-claims +pass +claims L1 for this DID, 42 of 42 tests passed$`}},
		{Name: "float", PR: "{listing: nova, receipt: {set: {/results_summary/total: 42.0}}}", Want: `pass`},
		// tests that were skipped, said or left over
		{Name: "skipped",
			PR:   "{listing: nova, receipt: {set: {/results_summary: {total: 15, passed: 12, failed: 0, skipped: 3}}}}",
			Want: `implementations/nova.json:7:3: warning: receipt-claims: tests-skipped`,
			Says: []string{`12 of 15 tests passed, 3 skipped`}},
		{Name: "left over",
			PR:   "{listing: nova, receipt: {set: {/results_summary: {total: 15, passed: 12, failed: 0}}}}",
			Want: `implementations/nova.json:7:3: warning: receipt-claims: tests-skipped`,
			Says: []string{`12 of 15 tests passed, 3 skipped`}},
		{Name: "no summary", PR: "{listing: nova, receipt: {delete: [/results_summary]}}",
			Want: `implementations/nova.json:7:3: error: receipt-claims: receipt-schema`},
		// placeholders in place of signatures: of another signer, of a witness, in any letter case and with blanks
		// around
		{Name: "placeholder",
			World: `pr:
  - {listing: nova, signed: {set: {/signatures/-: {by: "did:web:other.example#1", alg: EdDSA, value: PLACEHOLDER_NOT_FOR_PRODUCTION}}}}
`,
			Want: `implementations/nova.json:7:3: error: receipt-claims: placeholder`},
		{Name: "placeholder case",
			World: `pr:
  - {listing: nova, signed: {set: {/signatures/-: {by: "did:web:other.example#1", alg: EdDSA, value: "\t Placeholder: later "}}}}
`,
			Want: `implementations/nova.json:7:3: error: receipt-claims: placeholder`,
			Says: []string{`implementations/nova.json:7:3: error: receipt-claims: the Receipt.s signatures\[\].value is the placeholder "Placeholder: later"`}},
		{Name: "placeholder witness",
			World: `pr:
  - {listing: nova, tamper: {set: {/peer_witnesses: [{witness_did: "did:web:other.example", witness_receipt_uri: "https://other.example/r.json", alg: EdDSA, signature: Unsigned-Reference, witnessed_at: "2026-06-01T11:00:00Z"}]}}}
`,
			Want: `implementations/nova.json:7:3: error: receipt-claims: placeholder`},
		// no Conformance Level is claimed at all
		{Name: "worker", World: `pr: [{listing: nova, receipt: {set: {/claimed_levels: [W1]}}}]`,
			Want: `implementations/nova.json:6:3: error: receipt-claims: level-not-claimed`},
	})
}
