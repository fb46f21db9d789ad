package checks_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

// What is found of a reference server whose policy is broken, and in the candidate of one that is not a witness.
const (
	exemptsNobody = `
implementations/nova.json:1:1: inconclusive: manifest-did: policy-unreadable
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:1:1: inconclusive: domain-age: policy-unreadable
.github/gate-policy.yml`
	notAWitness = `
implementations/young.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/young.json:7:3: warning: peer-witnesses: witness-not-independent
implementations/young.json:6:3: notice: external-audit: audit-declared`
)

// brokenAt returns what is found of a policy that is broken at a position, such as ":5:1".
func brokenAt(position string) string {
	return exemptsNobody + position + ": warning: peer-witnesses: policy-broken"
}

// maintainers returns the policy of a world that names nova and these maintainers.
func maintainers(list string) string {
	return `policy: |
  version: 1
  reference_server: {tool_did: "did:web:nova.example"}
  maintainers: ` + list + "\n"
}

// The bootstrap rule of RFC 0026 section 10: until 2027-05-04 the reference server needs no witness at L4 where
// all maintainers sign its Receipt.
func TestPeerWitnessesBootstrap(t *testing.T) {
	const (
		policy = `policy: {reference_server: nova, maintainers: [mia, moe]}
`
		base = `base:
  - {publish: mia}
  - {publish: moe, did: key}
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
`
		signed = `pr: [{listing: nova, level: L4, co_signers: [mia, moe]}]
`
		witness503 = `web: [{url: "https://ada.example/oap-conformance-receipt.json", status: 503}]
`
		notYaml = `policy: "{"
`
		proposed = `pr: [{write: .github/gate-policy.yml, text: "maintainers: everybody\n"}]
`
		listed = `  - {listing: cyd, level: L4, witness: [ada]}
  - {listing: nova, level: L4, co_signers: [mia, moe]}
`
		forL5 = `pr: [{listing: young, level: L5, witness: [nova, ada, bob]}]
`
	)
	checktest.Run(t, []checktest.Case{
		// a policy with only comments says nothing, and breaks nothing
		{Name: "comments", World: `policy: "# none yet\n"`, PR: "{listing: nova}", Want: `pass`},
		// its renewal too
		{Name: "policy, renewal", World: policy + base + "  - {listing: nova, level: L4, co_signers: [mia, moe]}",
			PR: "{reissue: nova}", Want: `pass`},
		// one that has a witness needs no signature of theirs, nor is any document of theirs asked for
		{Name: "policy, witnessed",
			World: policy + base + `pr: [{listing: nova, level: L4, witness: [ada]}]
web:
  - {url: "https://mia.example/*", status: 503}
  - {url: "https://mia.example/.well-known/did.json", status: 503}
`,
			Want: `pass`},
		{Name: "policy, signed, other key",
			World: policy + base + signed + `web:
  - {edit: "https://mia.example/.well-known/did.json", set: {/verificationMethod/0/publicKeyJwk/x: $jwk(other)}}
`,
			Want: `implementations/nova.json:6:3: error: peer-witnesses: cosignature-missing`},
		{Name: "policy, other bytes",
			World: policy + base + `pr:
  - {listing: nova, level: L4, co_signers: [mia, moe], signed: {set: {/signatures/1/value: "q83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJCrze8SNFZ4kKvN7xI0VniQq83vEjRWeJCrze8SNFZ4kA"}}}
`,
			Want: `implementations/nova.json:6:3: error: peer-witnesses: cosignature-missing`},
		// a maintainer's signature of another algorithm is ignored
		{Name: "policy, other algorithm", World: policy + base,
			PR:   "{listing: nova, level: L4, co_signers: [mia, moe], signed: {set: {/signatures/1/alg: ES256}}}",
			Want: `implementations/nova.json:6:3: error: peer-witnesses: cosignature-missing`},
		// somebody else than the reference server
		{Name: "policy, somebody else", World: policy + base,
			PR:   "{listing: else, level: L4, co_signers: [mia, moe]}, {publish: nova}",
			Want: `implementations/else.json:6:3: error: peer-witnesses: too-few-witnesses`},
		// a maintainer's DID Document is gone, or could not be had
		{Name: "policy, signed, maintainer gone",
			World: policy + base + signed + `web: [{url: "https://mia.example/.well-known/did.json", status: 404}]`,
			Want:  `implementations/nova.json:6:3: error: peer-witnesses: cosigner-document`},
		{Name: "policy, signed, maintainer 503",
			World: policy + base + signed + `web: [{url: "https://mia.example/.well-known/did.json", status: 503, header: {retry-after: "3600"}}]`,
			Want:  `implementations/nova.json:6:3: inconclusive: peer-witnesses: cosigner-open`,
			Says:  []string{`fix: try again after 2026-06-01T13:00:00Z`}},
		// a witness that cannot be judged takes nothing from the exemption
		{Name: "policy, signed and witnessed, witness 503",
			World: policy + base + `pr: [{listing: nova, level: L4, co_signers: [mia, moe], witness: [ada]}]
` + witness503,
			Want: `implementations/nova.json:7:3: warning: peer-witnesses: witness-evidence`},
		// ... and may save it where a maintainer's signature is missing
		{Name: "policy, missing and witnessed, witness 503",
			World: policy + base + `pr: [{listing: nova, level: L4, co_signers: [mia], witness: [ada]}]
` + witness503,
			Want: peers("nova", "inconclusive witness-open", "warning witness-evidence")},
		// the clock ends it
		{Name: "last second, policy, signed",
			World: `clock: "2027-05-03T23:59:59Z"
` + policy + base + signed,
			Want: `implementations/nova.json:4:3: notice: domain-age: suffix-list-old`},
		{Name: "over, policy, signed",
			World: `clock: "2027-05-04T00:00:00Z"
` + policy + base + signed,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:4:3: notice: domain-age: suffix-list-old`,
			Says: []string{`before 2027-05-04T00:00:00Z`}},
		// --- the policy ---
		// none
		{Name: "signed", World: base + signed,
			Want: `implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses`,
			Says: []string{`RFC 0026 section 10 exempts only the reference server that .github/gate-policy.yml names`}},
		// one that the pull request brings with it exempts nobody: the base tree is the judge
		{Name: "brought",
			World: base + `pr:
  - {listing: nova, level: L4, co_signers: [mia, moe]}
  - {write: .github/gate-policy.yml, text: "version: 1\nreference_server: {tool_did: 'did:web:nova.example'}\nmaintainers: ['did:web:mia.example']\n"}
`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
.github/gate-policy.yml: error: append-only: mixed`},
		// the candidate among its own maintainers
		{Name: "self, self signed",
			World: `policy: {reference_server: nova, maintainers: [mia, nova]}
` + base + `pr: [{listing: nova, level: L4, co_signers: [mia]}]`,
			Want: `implementations/nova.json:6:3: error: peer-witnesses: cosigner-is-candidate`},
		// what is not strict, complete and unambiguous exempts nobody, and is a warning
		{Name: "duplicate key, signed",
			World: `policy: |
  version: 1
  reference_server: {tool_did: "did:web:nova.example"}
  maintainers:
    - "did:web:mia.example"
  maintainers: ["did:web:mia.example"]
` + base + signed,
			Want: brokenAt(":5:1"),
			Says: []string{`.github/gate-policy.yml:5:1: warning: peer-witnesses: the base tree.s policy exempts nobody: key "maintainers" again`}},
		{Name: "unknown key, signed",
			World: `policy: |
  version: 1
  reference_server: {tool_did: "did:web:nova.example"}
  maintainers: ["did:web:mia.example"]
  until: never
` + base + signed,
			Want: brokenAt("")},
		{Name: "unknown inner key, signed",
			World: `policy: |
  version: 1
  reference_server: {tool_did: "did:web:nova.example", until: never}
  maintainers: ["did:web:mia.example"]
` + base + signed,
			Want: brokenAt("")},
		{Name: "anchors, signed",
			World: `policy: |
  version: 1
  reference_server: {tool_did: &a "did:web:nova.example"}
  maintainers: ["did:web:mia.example"]
` + base + signed,
			Want: brokenAt(":2:30")},
		{Name: "version, signed",
			World: `policy: |
  version: 2
  reference_server: {tool_did: "did:web:nova.example"}
  maintainers: ["did:web:mia.example"]
` + base + signed,
			Want: brokenAt("")},
		{Name: "no maintainers, signed", World: maintainers("[]") + base + signed, Want: brokenAt("")},
		{Name: "maintainer twice, signed",
			World: maintainers(`["did:web:mia.example", "did:web:mia.example"]`) + base + signed, Want: brokenAt("")},
		{Name: "maintainer spelt twice, signed",
			World: maintainers(`["did:web:mia.example", "did:web:mia.example."]`) + base + signed, Want: brokenAt("")},
		{Name: "maintainer no did, signed", World: maintainers(`["mia"]`) + base + signed, Want: brokenAt("")},
		{Name: "not yaml, signed", World: notYaml + base + signed,
			Want: brokenAt(":2:1")},
		{Name: "empty, signed",
			World: `policy: "\n"
` + base + signed,
			Want: brokenAt("")},
		{Name: "large, signed",
			World: base + `  - {write: .github/gate-policy.yml, text: "# 64 KiB and more of this comment, which would be read to its end\n", repeat: 1100}
` + signed,
			Want: brokenAt("")},
		{Name: "link, signed",
			World: base + `  - {write: .github/gate-policy.yml, mode: "120000", text: policy.yml}
` + signed,
			Want: brokenAt("")},
		// a broken one blocks nobody else, and whoever proposes one is told
		{Name: "not yaml, else", World: notYaml + base, PR: "{listing: else, level: L4, witness: [ada]}", Want: `
implementations/else.json:1:1: inconclusive: manifest-did: policy-unreadable
implementations/else.json:1:1: inconclusive: domain-age: policy-unreadable
.github/gate-policy.yml:2:1: warning: peer-witnesses: policy-broken`},
		{Name: "proposed", World: base + proposed,
			Want: `
.github/gate-policy.yml: warning: append-only: governance
.github/gate-policy.yml: error: peer-witnesses: policy-unreadable`},
		// also one that the next commit corrects
		{Name: "proposed, corrected by a second commit", World: base + `pr:
  - {write: .github/gate-policy.yml, text: "maintainers: everybody\n"}
  - {commit: broken}
  - {write: .github/gate-policy.yml, text: "version: 1\npublic_suffixes: [x.example]\n"}
`,
			Want: `
.github/gate-policy.yml: warning: append-only: governance
.github/gate-policy.yml: error: peer-witnesses: policy-unreadable`,
			Says: []string{`make one commit of the same files: git reset --soft [0-9a-f]{12} `}},
		// with a record append-only refuses it
		{Name: "proposed with a record", World: base,
			PR: `{write: .github/gate-policy.yml, text: "maintainers: everybody\n"}, {listing: else}`, Want: `
.github/gate-policy.yml: error: append-only: mixed
.github/gate-policy.yml: warning: peer-witnesses: policy-broken`,
			Says: []string{`fix: fix the file in a pull request of its own; its schema: oap-gate schema gate-policy`}},
		// ... but not with a repair
		{Name: "proposed with a repair", World: base + `  - {write: revocations/odd.json, text: "{"}
pr:
  - {remove: revocations/odd.json}
  - {write: .github/gate-policy.yml, text: "maintainers: everybody\n"}
`,
			Want: `
.github/gate-policy.yml: warning: append-only: governance
.github/gate-policy.yml: error: peer-witnesses: policy-unreadable`},
		{Name: "policy, published, proposed",
			World: policy + base + `  - {publish: nova}
` + proposed,
			Want: `
.github/gate-policy.yml: warning: append-only: governance
.github/gate-policy.yml: error: peer-witnesses: policy-unreadable`,
			Says: []string{`the proposed .github/gate-policy.yml exempts nobody`}},
		{Name: "not yaml, mended",
			World: notYaml + base + `pr:
  - {write: .github/gate-policy.yml, text: "version: 1\nreference_server: {tool_did: 'did:web:nova.example'}\nmaintainers: ['did:web:mia.example']\n"}
`,
			Want: `.github/gate-policy.yml: warning: append-only: governance`},
		// --- the reference server as a witness ---
		// let in by this rule it counts for L4
		{Name: "policy, listed, for l4", World: policy + base + listed,
			PR: "{listing: young, level: L4, witness: [nova]}", Want: `pass`},
		// ... and not for L5
		{Name: "policy, listed, for l5", World: policy + base + listed + forL5,
			Want: notAWitness,
			Says: []string{`peer witness "did:web:nova.example" does not count towards L5: its own Receipt carries no witness that verifies`}},
		// ... also when the policy that let it in is gone
		{Name: "listed, for l5", World: base + listed + forL5,
			Want: notAWitness},
		// ... until its own Receipt carries a witness that verifies
		{Name: "policy, listed witnessed, for l5",
			World: policy + base + `  - {listing: cyd, level: L4, witness: [ada]}
  - {listing: nova, level: L4, witness: [cyd]}
` + forL5,
			Want: `implementations/young.json:6:3: notice: external-audit: audit-declared`},
		{Name: "policy, listed broken, for l5",
			World: policy + base + `  - {listing: cyd, level: L4, witness: [ada]}
  - {listing: nova, level: L4, witness: [{slug: cyd, key: other}]}
` + forL5,
			Want: notAWitness},
		{Name: "policy, listed by another algorithm, for l5",
			World: policy + base + `  - {listing: cyd, level: L4, witness: [ada]}
  - {listing: nova, level: L4, witness: [{slug: cyd, alg: ES256}]}
` + forL5,
			Want: notAWitness},
		{Name: "policy, listed witnessed, for l5, its witness gone",
			World: policy + base + `  - {listing: cyd, level: L4, witness: [ada]}
  - {listing: nova, level: L4, witness: [cyd]}
` + forL5 + `web: [{url: "https://cyd.example/oap-conformance-receipt.json", status: 404}]`,
			Want: notAWitness},
		{Name: "policy, listed by stranger, for l5",
			World: policy + base + `  - {publish: cyd, level: L4, witness: [ada]}
  - {listing: nova, level: L4, witness: [cyd]}
` + forL5,
			Want: notAWitness},
		{Name: "policy, listed by itself, for l5",
			World: policy + base + `  - {listing: nova, level: L4, witness: [nova]}
` + forL5,
			Want: notAWitness},
		// ... which is open where that witness cannot be had
		{Name: "policy, listed witnessed dan, for l5, dan 503",
			World: policy + base + `  - {listing: cyd, level: L4, witness: [ada]}
  - {listing: dan, level: L4, witness: [ada]}
  - {listing: nova, level: L4, witness: [dan]}
` + forL5 + `web: [{url: "https://dan.example/oap-conformance-receipt.json", status: 503}]`,
			Want: `
implementations/young.json:6:3: inconclusive: peer-witnesses: witness-open
implementations/young.json:7:3: warning: peer-witnesses: witness-open
implementations/young.json:6:3: notice: external-audit: audit-declared`},
	})
}

// A reference server that the bootstrap rule let in counts for L4 only until its Receipt carries a witness that
// verifies, also when the policy that named it is gone or names another one (RFC 0026 section 10).
func TestFormerReferenceServer(t *testing.T) {
	const (
		begin = `policy: {reference_server: nova, maintainers: [mia]}
base:
  - {publish: mia}
  - {publish: stranger}
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: low}
  - {commit: Begin}
`
		junk = `  - {listing: nova, level: L4, co_signers: [mia], witness: [stranger]}
  - {commit: List}
`
		gone = `  - {remove: .github/gate-policy.yml}
pr: [{listing: young, level: L5, witness: [nova, ada, bob]}]
`
	)
	checktest.Run(t, []checktest.Case{
		// an entry of nobody, of somebody who is not at L4, of a listed witness by another key
		{Name: "begin, junk, gone", World: begin + junk + gone,
			Want: notAWitness,
			Says: []string{`peer witness "did:web:nova.example" does not count towards L5: its own Receipt carries no witness that verifies`}},
		{Name: "begin, junk, other",
			World: begin + junk + "  - {edit: .github/gate-policy.yml, replace: {nova.example: low.example}}",
			PR:    "{listing: young, level: L5, witness: [nova, ada, bob]}", Want: notAWitness},
		{Name: "begin, junk listed, gone",
			World: begin + `  - {listing: nova, level: L4, co_signers: [mia], witness: [{slug: bob, key: mallory}, low]}
  - {commit: List}
` + gone,
			Want: notAWitness},
		{Name: "begin, junk, gone forced", World: begin + junk + "  - {remove: .github/gate-policy.yml}",
			PR: "{revoke: low, by: ada, witness: [nova, ada, bob]}", Want: `
revocations/low-e5144065e61dd7d08d4a44ac22cfc3a5f2ba2dccad942140cdb2b19a51ef37c1.json:7:3: error: revocations: not-authorised
revocations/low-e5144065e61dd7d08d4a44ac22cfc3a5f2ba2dccad942140cdb2b19a51ef37c1.json:13:5: warning: revocations: witness-not-counted`},
		// it counts for L4
		{Name: "begin, junk, gone l4", World: begin + junk + "  - {remove: .github/gate-policy.yml}",
			PR: "{listing: young, level: L4, witness: [nova]}", Want: `pass`},
		// with a witness it counts for L5, and so does who never was a reference server
		{Name: "begin, witnessed, gone",
			World: begin + `  - {listing: nova, level: L4, co_signers: [mia], witness: [stranger, ada]}
  - {commit: List}
` + gone,
			Want: `implementations/young.json:6:3: notice: external-audit: audit-declared`},
		{Name: "begin other, never, gone",
			World: `policy: {reference_server: low, maintainers: [mia]}
base:
  - {publish: mia}
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: low}
  - {commit: Begin}
  - {listing: nova, level: L4, witness: [{slug: bob, key: mallory}]}
  - {commit: List}
` + gone,
			Want: `implementations/young.json:6:3: notice: external-audit: audit-declared`},
	})
}
