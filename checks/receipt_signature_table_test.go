package checks_test

import (
	"fmt"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

func TestReceiptSignature(t *testing.T) {
	checktest.Run(t, []checktest.Case{
		// a foreign signature beside the own one is ignored, whatever it is worth, and so does one of another
		// algorithm
		{Name: "beside",
			World: `pr:
  - listing: nova
    signed: {set: {/signatures/-: {by: "did:web:other.example#1", alg: EdDSA, value: nothing}}}
    tamper: {set: {/signatures/-: {by: "did:web:nova.example#key-1", alg: ES256, value: nothing}}}
`,
			Want: `pass`},
		// registry_anchor may be added after signing, and may be signed too
		{Name: "anchor",
			World: `pr:
  - {listing: nova, tamper: {set: {/registry_anchor: {repo_url: "https://registry.example/r", commit_sha: "0123456789012345678901234567890123456789", file_path: implementations/nova.json}}}}
`,
			Want: `implementations/nova.json:7:3: notice: receipt-signature: signed-without-anchor`,
			Says: []string{`over the canonical JSON without signatures, peer_witnesses and registry_anchor`}},
		{Name: "anchor signed",
			World: `pr:
  - {listing: nova, receipt: {set: {/registry_anchor: {repo_url: "https://registry.example/r", commit_sha: "0123456789012345678901234567890123456789", file_path: implementations/nova.json}}}}
`,
			Want: `pass`},
		// signed by another's key
		{Name: "stranger", PR: "{listing: nova, signing_key: stranger}",
			Want: `implementations/nova.json:7:3: error: receipt-signature: signature-not-verified`,
			Says: []string{`implementations/nova.json:7:3: error: receipt-signature: the Receipt.s signature by "did:web:nova.example#key-1" verifies under no Ed25519 key of the DID Document: neither the key that it names nor another of the document signed it \[signature-not-verified\]$`,
				`fix: oap-gate sign FILE --key KEY, then publish it, then oap-gate check --worktree --fix$`}},
		// changed after signing, though only in a member that no check reads
		{Name: "changed", PR: `{listing: nova, tamper: {set: {/suite/version: "1.0.1"}}}`,
			Want: `implementations/nova.json:7:3: error: receipt-signature: signature-not-verified`},
		// changed where white space alone does: the signature covers the canonical JSON
		{Name: "spaces", PR: `{listing: nova, tamper: {replace: {"\n": " "}}}`, Want: `pass`},
		// no entry of the implementation: by another DID, by one that only begins alike, by the DID's URL path, of
		// another algorithm
		{Name: "other", PR: `{listing: nova, by: "did:web:other.example#key-1"}`,
			Want: `implementations/nova.json:7:3: error: receipt-signature: not-signed`},
		{Name: "alike", PR: `{listing: nova, by: "did:web:nova.example.evil.example#key-1"}`,
			Want: `implementations/nova.json:7:3: error: receipt-signature: not-signed`},
		{Name: "path", PR: `{listing: nova, by: "did:web:nova.example/x#key-1"}`,
			Want: `implementations/nova.json:7:3: error: receipt-signature: not-signed`},
		{Name: "algorithm", PR: "{listing: nova, tamper: {set: {/signatures/0/alg: ES256}}}",
			Want: `implementations/nova.json:7:3: error: receipt-signature: not-signed`},
		// a second entry of its own that does not verify
		{Name: "second",
			World: `pr:
  - {listing: nova, tamper: {set: {/signatures/-: {by: "did:web:nova.example#key-1", alg: EdDSA, value: "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}}}}
`,
			Want: `implementations/nova.json:7:3: error: receipt-signature: signature-not-verified`},
		// of two that do not verify, the first is explained
		{Name: "two",
			World: `pr:
  - listing: nova
    tamper: {set: {/note: added, /signatures/-: {by: "did:web:nova.example#key-1", alg: EdDSA, value: short}}}
`,
			Want: `
implementations/nova.json:7:3: error: receipt-signature: signature-not-verified
implementations/nova.json:7:3: error: receipt-signature: signature-not-verified`,
			Says: []string{`over the Receipt without "note": that member was added after it was signed`,
				`verifies under no Ed25519 key of the DID Document: text has 5 characters, .* or 88 with padding \[signature-not-verified\]$`}},
		// one whose R is the neutral element, the point of order 2, and a second encoding: readers disagree on it
		{Name: "low order R",
			World: `pr:
  - {listing: nova, tamper: {set: {/signatures/-: {by: "did:web:nova.example#key-1", alg: EdDSA, value: "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}}}}
`,
			Want: `implementations/nova.json:7:3: error: receipt-signature: signature-not-verified`,
			Says: []string{`the signature's R is unsound: the point has small order`}},
		{Name: "R of order 2",
			World: `pr:
  - {listing: nova, tamper: {set: {/signatures/-: {by: "did:web:nova.example#key-1", alg: EdDSA, value: "7P_______________________________________38AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}}}}
`,
			Want: `implementations/nova.json:7:3: error: receipt-signature: signature-not-verified`,
			Says: []string{`the signature's R is unsound: the point has small order`}},
		{Name: "non canonical R",
			World: `pr:
  - {listing: nova, tamper: {set: {/signatures/-: {by: "did:web:nova.example#key-1", alg: EdDSA, value: "7v_______________________________________38AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}}}}
`,
			Want: `implementations/nova.json:7:3: error: receipt-signature: signature-not-verified`,
			Says: []string{`the signature's R is unsound: the bytes are not the point's one encoding`}},
		// a text that is no signature: half the padding, too short, empty, bits left over
		{Name: "padding", PR: `{listing: nova, tamper: {replace: {"\"\n    }\n  ]\n}": "=\"\n    }\n  ]\n}"}}}`,
			Want: `implementations/nova.json:7:3: error: receipt-signature: signature-not-verified`},
		{Name: "short", PR: "{listing: nova, tamper: {set: {/signatures/0/value: AAAA}}}",
			Want: `implementations/nova.json:7:3: error: receipt-signature: signature-not-verified`},
		{Name: "empty", PR: `{listing: nova, tamper: {set: {/signatures/0/value: ""}}}`,
			Want: `implementations/nova.json:7:3: error: receipt-signature: signature-not-verified`},
		// by names no key of the document, or no key: the key that signed is found all the same
		{Name: "unnamed", PR: `{listing: nova, by: "did:web:nova.example#nope"}`,
			Want: `implementations/nova.json:7:3: warning: receipt-signature: key-id-mismatch`,
			Says: []string{`by names "did:web:nova.example#nope", the signature verifies under "did:web:nova.example#key-1"`}},
		{Name: "bare", PR: `{listing: nova, by: "did:web:nova.example"}`,
			Want: `implementations/nova.json:7:3: warning: receipt-signature: key-id-mismatch`},
		// the key is not one for assertions, where the document says which are
		{Name: "not assertion",
			PR:   `{listing: nova, did_document: {set: {/assertionMethod: ["did:web:nova.example#key-9"]}}}`,
			Want: `implementations/nova.json:7:3: warning: receipt-signature: key-not-for-assertion`},
		{Name: "no assertions", PR: "{listing: nova, did_document: {delete: [/assertionMethod]}}", Want: `pass`},
		// a key of the document's other entries, such as an embedded one, may sign
		{Name: "embedded",
			World: `pr:
  - listing: nova
    did_document:
      delete: [/verificationMethod]
      set:
        /assertionMethod: [{id: "did:web:nova.example#key-1", type: Multikey, controller: "did:web:nova.example", publicKeyMultibase: "z6MkggtJhW3AZNqxk6j9mao4eo4HdAJ4LMFne6X7KpaqTxRm"}]
`,
			Want: `pass`},
	})
}

// Exactly one check reports that a document is missing; those that needed it say who does. Where a flag leaves that one
// out, they fail or are inconclusive themselves: nothing passes on evidence that is not there.
func TestMissingEvidence(t *testing.T) {
	checktest.Run(t, []checktest.Case{
		// the Receipt is not what is pinned
		{Name: "receipt",
			PR:   `{listing: nova, pin: "0000000000000000000000000000000000000000000000000000000000000000"}`,
			Want: `implementations/nova.json:8:3: error: receipt-fetch: receipt-hash-mismatch`,
			Says: []string{`receipt-signature +skip +receipt-fetch failed`,
				`fix: pin the served bytes: [0-9a-f]{64}; or publish the Receipt that was pinned`}},
		{Name: "receipt, without receipt-fetch", Skip: "receipt-fetch",
			PR: `{listing: nova, pin: "0000000000000000000000000000000000000000000000000000000000000000"}`, Want: `
implementations/nova.json:1:1: error: receipt-claims: hash-mismatch
implementations/nova.json:1:1: error: receipt-signature: hash-mismatch
implementations/nova.json:1:1: error: receipt-validity: hash-mismatch`,
			Says: []string{`fix: run receipt-fetch too; it says what would pass`}},
		{Name: "receipt, only receipt-signature", Only: "receipt-signature",
			PR:   `{listing: nova, pin: "0000000000000000000000000000000000000000000000000000000000000000"}`,
			Want: `implementations/nova.json:1:1: error: receipt-signature: hash-mismatch`},
		{Name: "receipt, only receipt-validity", Only: "receipt-validity",
			PR:   `{listing: nova, pin: "0000000000000000000000000000000000000000000000000000000000000000"}`,
			Want: `implementations/nova.json:1:1: error: receipt-validity: hash-mismatch`},
		{Name: "receipt, only receipt-claims", Only: "receipt-claims",
			PR:   `{listing: nova, pin: "0000000000000000000000000000000000000000000000000000000000000000"}`,
			Want: `implementations/nova.json:1:1: error: receipt-claims: hash-mismatch`},
		// the Receipt is no JSON
		{Name: "receipt text, without receipt-claims", Skip: "receipt-claims",
			PR: `{listing: nova, tamper: {body: "{"}}`, Want: `
implementations/nova.json:1:1: error: receipt-signature: json-syntax
implementations/nova.json:1:1: error: receipt-validity: json-syntax`},
		{Name: "receipt text, only receipt-fetch", Only: "receipt-fetch", PR: `{listing: nova, tamper: {body: "{"}}`,
			Want: `pass`},
		// the Receipt is not obtained
		{Name: "receipt unsure, without receipt-fetch", Skip: "receipt-fetch",
			World: `web: [{url: "https://nova.example/oap-conformance-receipt.json", status: 500}]`,
			PR:    "{listing: nova}", Want: `
implementations/nova.json:1:1: inconclusive: receipt-claims: http-status
implementations/nova.json:1:1: inconclusive: receipt-signature: http-status
implementations/nova.json:1:1: inconclusive: receipt-validity: http-status`},
		{Name: "receipt unsure, only receipt-signature", Only: "receipt-signature",
			World: `web: [{url: "https://nova.example/oap-conformance-receipt.json", status: 500}]`,
			PR:    "{listing: nova}", Want: `implementations/nova.json:1:1: inconclusive: receipt-signature: http-status`},
		// the DID Document
		{Name: "document", PR: "{listing: nova, did_document: {set: {/verificationMethod: []}}}",
			Want: `implementations/nova.json:4:3: error: did-resolution: did-no-key`},
		{Name: "document, without did-resolution", Skip: "did-resolution",
			PR:   "{listing: nova, did_document: {set: {/verificationMethod: []}}}",
			Want: `implementations/nova.json:1:1: error: receipt-signature: did-no-key`},
		{Name: "document, only receipt-signature", Only: "receipt-signature",
			PR:   "{listing: nova, did_document: {set: {/verificationMethod: []}}}",
			Want: `implementations/nova.json:1:1: error: receipt-signature: did-no-key`},
		{Name: "document unsure, only receipt-signature", Only: "receipt-signature",
			World: `web: [{url: "https://nova.example/.well-known/did.json", status: 500}]`, PR: "{listing: nova}",
			Want: `implementations/nova.json:1:1: inconclusive: receipt-signature: http-status`},
		// a DID that is none
		{Name: "did, without did-resolution", Skip: "did-resolution", PR: `{listing: nova, did: "did:web:127.0.0.1"}`,
			Want: `
implementations/nova.json:1:1: error: receipt-signature: did-syntax
implementations/nova.json:4:3: error: domain-age: did-syntax`},
		// the Manifest
		{Name: "manifest", World: `web: [{url: "https://nova.example/.well-known/oap-tool.json", status: 404}]`,
			PR: "{listing: nova}", Want: `implementations/nova.json:5:3: error: manifest-reachability: http-status`},
		{Name: "manifest, without manifest-reachability", Skip: "manifest-reachability",
			World: `web: [{url: "https://nova.example/.well-known/oap-tool.json", status: 404}]`, PR: "{listing: nova}",
			Want: `
implementations/nova.json:1:1: error: manifest-did: http-status
implementations/nova.json:1:1: error: fallback-policy: http-status`},
		{Name: "manifest, only fallback-policy", Only: "fallback-policy",
			World: `web: [{url: "https://nova.example/.well-known/oap-tool.json", status: 404}]`, PR: "{listing: nova}",
			Want: `implementations/nova.json:1:1: error: fallback-policy: http-status`},
		{Name: "manifest unsure, only manifest-did", Only: "manifest-did",
			World: `web: [{url: "https://nova.example/.well-known/oap-tool.json", status: 500}]`, PR: "{listing: nova}",
			Want: `implementations/nova.json:1:1: inconclusive: manifest-did: http-status`},
		// a Manifest on another host needs the Receipt to tell whose it is
		{Name: "host",
			World: `pr: [{listing: nova, set: {/manifest_uri: "https://other.example/m.json"}}]
web:
  - {edit: "https://nova.example/.well-known/oap-tool.json", to: "https://other.example/m.json"}
  - {url: "https://nova.example/oap-conformance-receipt.json", status: 404}
`,
			Want: `implementations/nova.json:7:3: error: receipt-fetch: http-status`},
		{Name: "host, only manifest-did", Only: "manifest-did",
			World: `pr: [{listing: nova, set: {/manifest_uri: "https://other.example/m.json"}}]
web:
  - {edit: "https://nova.example/.well-known/oap-tool.json", to: "https://other.example/m.json"}
  - {url: "https://nova.example/oap-conformance-receipt.json", status: 404}
`,
			Want: `implementations/nova.json:1:1: error: manifest-did: http-status`},
		// what is wrong already is not hidden by it
		{Name: "host, of another DID", Only: "manifest-did",
			World: `pr:
  - {listing: nova, set: {/manifest_uri: "https://other.example/m.json"}, manifest: {set: {/tool/did: "did:web:other.example"}}}
web:
  - {edit: "https://nova.example/.well-known/oap-tool.json", to: "https://other.example/m.json"}
  - {url: "https://nova.example/oap-conformance-receipt.json", status: 404}
`,
			Want: `implementations/nova.json:4:3: error: manifest-did: manifest-did-differs`},
		{Name: "host, naming another Receipt", Only: "manifest-did",
			World: `pr:
  - listing: nova
    set: {/manifest_uri: "https://other.example/m.json"}
    manifest: {set: {/conformance/receipt_uri: "https://nova.example/other.json"}}
web:
  - {edit: "https://nova.example/.well-known/oap-tool.json", to: "https://other.example/m.json"}
  - {url: "https://nova.example/oap-conformance-receipt.json", status: 404}
`,
			Want: `
implementations/nova.json:1:1: error: manifest-did: http-status
implementations/nova.json:7:3: warning: manifest-did: manifest-receipt-differs`},
		// without the Receipt, nothing contradicts the Manifest
		{Name: "levels",
			World: `pr: [{listing: nova, manifest: {set: {/conformance/claimed_levels: [L5], /conformance/suite_version: "2"}}}]
web: [{url: "https://nova.example/oap-conformance-receipt.json", status: 404}]
`,
			Want: `implementations/nova.json:7:3: error: receipt-fetch: http-status`},
		// a member that the schema refuses is for no other check to judge, unless schema is left out
		{Name: "member", PR: `{listing: nova, set: {/issued_at: "2026-06-01"}}`,
			Want: `implementations/nova.json:9:3: error: schema: schema-format`,
			Says: []string{`receipt-validity +skip +schema failed`}},
		{Name: "member, only receipt-validity", Only: "receipt-validity",
			World: `pr: [{listing: nova, set: {/issued_at: "2026-06-01"}}]`,
			Want:  `implementations/nova.json:9:3: error: receipt-validity: unreadable-time`},
	})
}

// A check that found something says nothing that could be read as a pass.
func TestNoReasonBesideFindings(t *testing.T) {
	const served = `pr: [{listing: nova}]
web: [{url: "https://nova.example/%s", status: 404}]
`
	for _, c := range []struct{ check, world string }{
		{"manifest-reachability", fmt.Sprintf(served, ".well-known/oap-tool.json")},
		{"receipt-fetch", fmt.Sprintf(served, "oap-conformance-receipt.json")},
		{"receipt-validity", `pr: [{listing: nova, issued: "+301s"}]`},
		{"receipt-claims", `pr: [{listing: nova, receipt: {set: {/results_summary/passed: 0}}}]`},
		{"receipt-signature", `pr:
  - {listing: nova, tamper: {set: {/signatures/-: {by: "did:web:nova.example#key-1", alg: EdDSA, value: short}}}}
`},
		{"did-resolution", fmt.Sprintf(served, ".well-known/did.json")},
		{"did-resolution", `pr: [{listing: nova, did: "did:web:nova.example:a"}]
web:
  - {edit: "https://nova.example/a/did.json", to: "https://nova.example/a/.well-known/did.json"}
  - {url: "https://nova.example/a/did.json", status: 404}
`},
	} {
		rep := checktest.Judge(t, c.world, func(string) bool { return true })
		for r := range rep.Results.All() {
			if r.Check == c.check && r.Subject != checks.RegistrySubject &&
				(r.Verdict == verdict.Passed || r.Reason != "") {
				t.Errorf("%s: %s, %q", c.check, r.Verdict, r.Reason)
			}
		}
	}
}

// A check that passes says what it verified.
func TestReasonOfAPass(t *testing.T) {
	checktest.Run(t, []checktest.Case{{Name: "listing", World: `pr: [{listing: nova}]`, Want: `pass`, Says: []string{
		`^  did-resolution +pass +1 Ed25519 key$`,
		`^  manifest-reachability +pass +served with status 200$`,
		`^  manifest-did +pass +tool.did is the listing's, hosted by its owner$`,
		`^  receipt-fetch +pass +sha256 matches$`,
		`^  receipt-claims +pass +claims L1 for this DID, 42 of 42 tests passed$`,
		`^  receipt-signature +pass +signed by did:web:nova.example#key-1, over the canonical JSON`,
		`^  receipt-validity +pass +89 days 23 hours left$`,
		`^  domain-age +pass +nova.example was registered on 2015-03-01T00:00:00Z \(rdap\)$`,
		`^  fallback-policy +skip +the Manifest does not use convention discovery v2$`,
		`^  external-audit +skip +only L5 needs an external audit$`,
	}}})
}
