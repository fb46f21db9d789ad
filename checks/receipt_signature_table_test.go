package checks_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
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
		{Name: "stranger", World: `pr: [{listing: nova, signing_key: stranger}]`,
			Want: `implementations/nova.json:7:3: error: receipt-signature: signature-not-verified`,
			Says: []string{`implementations/nova.json:7:3: error: receipt-signature: the Receipt.s signature by "did:web:nova.example#key-1" verifies under no Ed25519 key of the DID Document: neither the key that it names nor another of the document signed it \[signature-not-verified\]$`,
				`fix: oap-gate sign FILE --key KEY, then publish it, then oap-gate check --worktree --fix$`}},
		// changed after signing, though only in a member that no check reads
		{Name: "changed", World: `pr: [{listing: nova, tamper: {set: {/suite/version: "1.0.1"}}}]`,
			Want: `implementations/nova.json:7:3: error: receipt-signature: signature-not-verified`},
		// changed where white space alone does: the signature covers the canonical JSON
		{Name: "spaces", World: `pr: [{listing: nova, tamper: {replace: {"\n": " "}}}]`,
			Want: `pass`},
		// no entry of the implementation: by another DID, by one that only begins alike, by the DID's URL path, of
		// another algorithm
		{Name: "other", World: `pr: [{listing: nova, by: "did:web:other.example#key-1"}]`,
			Want: `implementations/nova.json:7:3: error: receipt-signature: not-signed`},
		{Name: "alike", World: `pr: [{listing: nova, by: "did:web:nova.example.evil.example#key-1"}]`,
			Want: `implementations/nova.json:7:3: error: receipt-signature: not-signed`},
		{Name: "path", World: `pr: [{listing: nova, by: "did:web:nova.example/x#key-1"}]`,
			Want: `implementations/nova.json:7:3: error: receipt-signature: not-signed`},
		{Name: "algorithm", World: `pr: [{listing: nova, tamper: {set: {/signatures/0/alg: ES256}}}]`,
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
		{Name: "padding",
			World: `pr: [{listing: nova, tamper: {replace: {"\"\n    }\n  ]\n}": "=\"\n    }\n  ]\n}"}}}]`,
			Want:  `implementations/nova.json:7:3: error: receipt-signature: signature-not-verified`},
		{Name: "short", World: `pr: [{listing: nova, tamper: {set: {/signatures/0/value: AAAA}}}]`,
			Want: `implementations/nova.json:7:3: error: receipt-signature: signature-not-verified`},
		{Name: "empty", World: `pr: [{listing: nova, tamper: {set: {/signatures/0/value: ""}}}]`,
			Want: `implementations/nova.json:7:3: error: receipt-signature: signature-not-verified`},
		// by names no key of the document, or no key: the key that signed is found all the same
		{Name: "unnamed", World: `pr: [{listing: nova, by: "did:web:nova.example#nope"}]`,
			Want: `implementations/nova.json:7:3: warning: receipt-signature: key-id-mismatch`,
			Says: []string{`by names "did:web:nova.example#nope", the signature verifies under "did:web:nova.example#key-1"`}},
		{Name: "bare", World: `pr: [{listing: nova, by: "did:web:nova.example"}]`,
			Want: `implementations/nova.json:7:3: warning: receipt-signature: key-id-mismatch`},
		// the key is not one for assertions, where the document says which are
		{Name: "not assertion",
			World: `pr: [{listing: nova, did_document: {set: {/assertionMethod: ["did:web:nova.example#key-9"]}}}]`,
			Want:  `implementations/nova.json:7:3: warning: receipt-signature: key-not-for-assertion`},
		{Name: "no assertions", World: `pr: [{listing: nova, did_document: {delete: [/assertionMethod]}}]`,
			Want: `pass`},
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
