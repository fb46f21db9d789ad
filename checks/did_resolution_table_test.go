package checks_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

func TestDidResolution(t *testing.T) {
	checktest.Run(t, []checktest.Case{
		// so does one with a path, and the age of its domain is the host's
		{Name: "path", PR: `{listing: nova, did: "did:web:nova.example:agents:n1"}`, Want: `
implementations/nova.json:5:3: warning: manifest-did: target-folder
implementations/nova.json:4:3: warning: domain-age: age-of-host`},
		// a document below the path's .well-known is found, with a warning
		{Name: "fallback",
			World: `pr: [{listing: nova, did: "did:web:nova.example:agents:n1"}]
web:
  - {edit: "https://nova.example/agents/n1/did.json", to: "https://nova.example/agents/n1/.well-known/did.json"}
  - {url: "https://nova.example/agents/n1/did.json", status: 404}
`,
			Want: `
implementations/nova.json:4:3: warning: did-resolution: did-fallback
implementations/nova.json:5:3: warning: manifest-did: target-folder
implementations/nova.json:4:3: warning: domain-age: age-of-host`,
			Says: []string{
				`implementations/nova.json:4:3: warning: did-resolution: .*https://nova.example/agents/n1/.well-known/did.json`,
				`fix: serve it where the did:web method says: https://nova.example/agents/n1/did.json`,
			}},
		// whether the second place has the document cannot be told
		{Name: "fallback unsure",
			World: `pr: [{listing: nova, did: "did:web:nova.example:agents:n1"}]
web:
  - {url: "https://nova.example/agents/n1/did.json", status: 404}
  - {url: "https://nova.example/agents/n1/.well-known/did.json", status: 500}
`,
			Want: `
implementations/nova.json:4:3: inconclusive: did-resolution: http-status
implementations/nova.json:5:3: warning: manifest-did: target-folder
implementations/nova.json: inconclusive: receipt-signature
implementations/nova.json:4:3: warning: domain-age: age-of-host`,
			Says: []string{`inconclusive: did-resolution: .*https://nova.example/agents/n1/.well-known/did.json: answered 500`}},
		// a did:key resolves without a document
		{Name: "key", PR: "{listing: nova, did: key}",
			Want: `implementations/nova.json:4:3: warning: domain-age: age-of-host`},
		// each way to write an Ed25519 key down
		{Name: "types",
			World: `pr:
  - {listing: nova1, key_type: JsonWebKey}
  - {listing: nova2, key_type: JsonWebKey2020}
  - {listing: nova3, key_type: Multikey}
  - {listing: nova4, key_type: Ed25519VerificationKey2020}
  - {listing: nova5, key_type: Ed25519VerificationKey2018}
`,
			Want: `pass`},
		// keys of other kinds may stand beside it
		{Name: "others",
			World: `pr:
  - listing: nova
    did_document:
      set:
        /verificationMethod/-: {id: "did:web:nova.example#p", type: JsonWebKey2020, controller: "did:web:nova.example",
          publicKeyJwk: {kty: EC, crv: P-256, x: "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU", y: "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}}
        /keyAgreement: ["#x"]
`,
			Want: `pass`},
		// nothing there
		{Name: "absent", World: `web: [{url: "https://nova.example/.well-known/did.json", status: 404}]`,
			PR: "{listing: nova}", Want: `implementations/nova.json:4:3: error: did-resolution: http-status`,
			Says: []string{`implementations/nova.json:4:3: error: did-resolution: did:web:nova.example: https://nova.example/.well-known/did.json: answered 404`,
				`fix: serve /.well-known/did.json with status 200 \(it answers 404\)$`}},
		// the document of another DID
		{Name: "id", PR: `{listing: nova, did_document: {set: {/id: "did:web:other.example"}}}`,
			Want: `implementations/nova.json:4:3: error: did-resolution: did-id-differs`,
			Says: []string{`https://nova.example/.well-known/did.json:[0-9]+:[0-9]+: id is "did:web:other.example", it must be "did:web:nova.example"`}},
		// the same DID in another letter case is another text
		// layout reports a second spelling of the listing, which the document does not have
		{Name: "id of the one spelling",
			PR:   `{listing: nova, did: "did:web:NOVA.example", did_document: {set: {/id: "did:web:nova.example"}}}`,
			Want: `implementations/nova.json:4:3: error: layout: did-spelling`,
			Says: []string{`did-resolution +skip +layout failed`}},
		{Name: "id of the listing's spelling", PR: `{listing: nova, did: "did:web:NOVA.example"}`,
			Want: `implementations/nova.json:4:3: error: layout: did-spelling`,
			Says: []string{`did-resolution +pass +1 Ed25519 key`}},
		// the DID that Manifest and Receipt name is the one to list
		{Name: "another than they name",
			World: `web: [{url: "https://other.example/.well-known/did.json", status: 404}]`,
			PR:    `{listing: nova, set: {/tool_did: "did:web:other.example"}}`, Only: "did-resolution",
			Want: `implementations/nova.json:4:3: error: did-resolution: http-status`,
			Says: []string{`fix: set tool_did to "did:web:nova.example", as Manifest and Receipt say`}},
		{Name: "id case", PR: `{listing: nova, did_document: {set: {/id: "did:web:Nova.example"}}}`,
			Want: `implementations/nova.json:4:3: error: did-resolution: did-id-differs`},
		// no key at all; a key that is too short; one of X25519 alone
		{Name: "no key", PR: "{listing: nova, did_document: {set: {/verificationMethod: []}}}",
			Want: `implementations/nova.json:4:3: error: did-resolution: did-no-key`},
		{Name: "short key", PR: `{listing: nova, did_document: {set: {/verificationMethod/0/publicKeyJwk/x: "AAAA"}}}`,
			Want: `implementations/nova.json:4:3: error: did-resolution: did-no-key`},
		{Name: "x25519", PR: "{listing: nova, did_document: {set: {/verificationMethod/0/publicKeyJwk/crv: X25519}}}",
			Want: `implementations/nova.json:4:3: error: did-resolution: did-no-key`},
		// a private key in the document: whoever reads it can sign
		{Name: "private d",
			World: `pr:
  - {listing: nova, did_document: {set: {/verificationMethod/0/publicKeyJwk/d: "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"}}}
`,
			Want: `implementations/nova.json:4:3: error: did-resolution: did-private-key`},
		{Name: "private multibase",
			World: `pr:
  - {listing: nova, key_type: Multikey, did_document: {set: {/verificationMethod/0/privateKeyMultibase: "z1"}}}
`,
			Want: `implementations/nova.json:4:3: error: did-resolution: did-private-key`},
		{Name: "private elsewhere",
			World: `pr:
  - {listing: nova, did_document: {set: {/service: [{id: "#s", type: Keys, serviceEndpoint: {secretKeyJwk: {}}}]}}}
`,
			Want: `implementations/nova.json:4:3: error: did-resolution: did-private-key`},
		{Name: "private jwks",
			World: `pr:
  - {listing: nova, did_document: {set: {/jwks: {keys: [{kty: OKP, crv: Ed25519, x: "$jwk(nova)", d: "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"}]}}}}
`,
			Want: `implementations/nova.json:4:3: error: did-resolution: did-private-key`},
		// a key whose private half everyone has, in whatever form and for whatever use; and any other
		{Name: "published",
			World: `pr:
  - listing: nova
    did_document:
      set:
        /verificationMethod/-: {id: "#2", type: JsonWebKey2020, publicKeyJwk: {kty: OKP, crv: Ed25519, x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}}
`,
			Want: `implementations/nova.json:4:3: error: did-resolution: did-published-key`,
			Says: []string{`key "did:web:nova.example#2" is published: its private half is in RFC 8032 section 7.1 and RFC 8037`,
				`fix: make a new key with oap-gate key new FILE`}},
		{Name: "published, revoked",
			World: `pr:
  - listing: nova
    did_document:
      set:
        /verificationMethod/-: {id: "#2", type: Multikey, publicKeyMultibase: "z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw", revoked: "2020-01-01T00:00:00Z"}
`,
			Want: `implementations/nova.json:4:3: error: did-resolution: did-published-key`},
		{Name: "published, for agreement",
			World: `pr:
  - listing: nova
    did_document:
      set: {/keyAgreement: {id: "#2", type: Multikey, publicKeyMultibase: "z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw"}}
`,
			Want: `implementations/nova.json:4:3: error: did-resolution: did-published-key`},
		{Name: "published, a did:key",
			PR:   `{listing: nova, set: {/tool_did: "did:key:z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw"}}`,
			Only: "did-resolution", Want: `implementations/nova.json:4:3: error: did-resolution: did-published-key`},
		{Name: "published, and only the signature is judged",
			World: `pr: [{listing: nova, did_document: {set: {/verificationMethod/0/publicKeyJwk/x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}}}]`,
			Only:  "receipt-signature", Want: `implementations/nova.json:1:1: error: receipt-signature: did-published-key`},
		{Name: "a key of the owner's next to its own",
			World: `pr: [{listing: nova, did_document: {set: {/verificationMethod/-: {id: "#2", type: JsonWebKey2020, publicKeyJwk: {kty: OKP, crv: Ed25519, x: $jwk(spare)}}}}}]`,
			Want:  `pass`},
		// a key in whose name anyone can sign, and a second encoding of a point
		{Name: "small order",
			World: `pr:
  - listing: nova
    did_document:
      set:
        /verificationMethod/-: {id: "did:web:nova.example#key-2", type: JsonWebKey2020, controller: "did:web:nova.example",
          publicKeyJwk: {kty: OKP, crv: Ed25519, x: "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}}
`,
			Want: `implementations/nova.json:4:3: error: did-resolution: did-weak-key`},
		{Name: "non canonical",
			World: `pr:
  - listing: nova
    did_document:
      set:
        /verificationMethod/-: {id: "did:web:nova.example#key-2", type: JsonWebKey2020, controller: "did:web:nova.example",
          publicKeyJwk: {kty: OKP, crv: Ed25519, x: "7v_______________________________________38"}}
`,
			Want: `implementations/nova.json:4:3: error: did-resolution: did-weak-key`},
		// the key of RFC 8032 TEST 1 plus a point of order 2, in each form: readers disagree on its signatures
		{Name: "mixed order jwk",
			World: `pr:
  - {listing: nova, did_document: {set: {/verificationMethod/0/publicKeyJwk/x: "FqVn_n1O9UgqtAEsNpv4xfEejQwlWdzaUP3llwj4ruU"}}}
`,
			Want: `implementations/nova.json:4:3: error: did-resolution: did-weak-key`,
			Says: []string{`the point has a part of small order`, `fix: make a new key with oap-gate key new FILE`}},
		{Name: "mixed order multikey", PR: `{listing: nova, key_type: Multikey, did_document: {set: {
  /verificationMethod/0/publicKeyMultibase: "z6MkfyfJQbrRtayPTRNDjBD6hqDRRbkdS6KSpjs8u8f62Z2t"}}}`,
			Want: `implementations/nova.json:4:3: error: did-resolution: did-weak-key`},
		{Name: "mixed order 2020", PR: `{listing: nova, key_type: Ed25519VerificationKey2020, did_document: {set: {
  /verificationMethod/0/publicKeyMultibase: "z6MkfyfJQbrRtayPTRNDjBD6hqDRRbkdS6KSpjs8u8f62Z2t"}}}`,
			Want: `implementations/nova.json:4:3: error: did-resolution: did-weak-key`},
		{Name: "mixed order 2018", PR: `{listing: nova, key_type: Ed25519VerificationKey2018, did_document: {set: {
  /verificationMethod/0/publicKeyBase58: "2XQFpMbzZ3UvLvXX3cFFrjfRc2Un2D568ixD4rh57LFW"}}}`,
			Want: `implementations/nova.json:4:3: error: did-resolution: did-weak-key`},
		{Name: "mixed order did:key",
			PR: `{listing: nova, did: "did:key:z6MkfyfJQbrRtayPTRNDjBD6hqDRRbkdS6KSpjs8u8f62Z2t"}`, Want: `
implementations/nova.json:4:3: error: did-resolution: did-syntax
implementations/nova.json:4:3: warning: domain-age: age-of-host`,
			Says: []string{`the point has a part of small order`}},
		// a JWK that says it is for something else; one that says it is for signatures
		{Name: "use enc", PR: "{listing: nova, did_document: {set: {/verificationMethod/0/publicKeyJwk/use: enc}}}",
			Want: `implementations/nova.json:4:3: error: did-resolution: did-no-key`, Says: []string{
				`key "did:web:nova.example#key-1": use of the JWK is "enc"; expected "sig", or no use`,
				`fix: correct the keys that the message names`,
			}},
		{Name: "key_ops sign",
			PR:   "{listing: nova, did_document: {set: {/verificationMethod/0/publicKeyJwk/key_ops: [sign]}}}",
			Want: `implementations/nova.json:4:3: error: did-resolution: did-no-key`},
		{Name: "alg of another curve",
			PR:   "{listing: nova, did_document: {set: {/verificationMethod/0/publicKeyJwk/alg: ES256}}}",
			Want: `implementations/nova.json:4:3: error: did-resolution: did-no-key`},
		{Name: "key_ops verify",
			PR:   "{listing: nova, did_document: {set: {/verificationMethod/0/publicKeyJwk/key_ops: [verify]}}}",
			Want: `pass`},
		{Name: "suited",
			World: `pr:
  - listing: nova
    did_document:
      set:
        /verificationMethod/0/publicKeyJwk/use: sig
        /verificationMethod/0/publicKeyJwk/key_ops: [sign, verify]
        /verificationMethod/0/publicKeyJwk/alg: EdDSA
`,
			Want: `pass`},
		// a key of 2018 in the form of a JWK
		{Name: "2018 jwk",
			PR:   "{listing: nova, did_document: {set: {/verificationMethod/0/type: Ed25519VerificationKey2018}}}",
			Want: `pass`},
		// a key without its prefix: alone, and next to one that is usable
		{Name: "prefix missing",
			World: `pr:
  - listing: nova
    key_type: Multikey
    did_document: {set: {/verificationMethod/0/publicKeyMultibase: "zFVen3X669xLzsi6N2V91DoiyzHzg1uAgqiT8jZ9nS96Z"}}
`,
			Want: `implementations/nova.json:4:3: error: did-resolution: multikey-prefix-missing`,
			Says: []string{
				`a key of 32 bytes without the prefix 0xed01; expected "z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw"`,
				`fix: set publicKeyMultibase in the DID Document to the value that the message names`,
			}},
		{Name: "prefix mended",
			World: `pr:
  - listing: nova
    key_type: Multikey
    did_document:
      set:
        /verificationMethod/-: {id: "did:web:nova.example#key-2", type: Multikey, controller: "did:web:nova.example",
          publicKeyMultibase: "z6MknqQzWtovxH6aMMo2AKKsCPPwA4E6zzWHXidUtKLSUJgD"}
`,
			Want: `pass`},
		{Name: "prefix missing next to a key",
			World: `pr:
  - listing: nova
    did_document:
      set:
        /verificationMethod/-: {id: "did:web:nova.example#key-2", type: Multikey, controller: "did:web:nova.example",
          publicKeyMultibase: "zFVen3X669xLzsi6N2V91DoiyzHzg1uAgqiT8jZ9nS96Z"}
`,
			Want: `implementations/nova.json:4:3: warning: did-resolution: multikey-prefix-missing`,
			Says: []string{`expected "z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw"`}},
		// one id for two keys
		{Name: "ambiguous",
			World: `pr:
  - listing: nova
    did_document:
      set:
        /verificationMethod/-: {id: "did:web:nova.example#key-1", type: JsonWebKey2020, controller: "did:web:nova.example",
          publicKeyJwk: {kty: OKP, crv: Ed25519, x: $jwk(spare)}}
`,
			Want: `implementations/nova.json:4:3: error: did-resolution: did-key-ambiguous`},
		// no JSON, a member twice, no object, too large
		{Name: "no json", PR: `{listing: nova, did_document: {body: "<!doctype html>"}}`,
			Want: `implementations/nova.json:4:3: error: did-resolution: json-syntax`},
		{Name: "twice",
			World: `pr:
  - {listing: nova, did_document: {replace: {'"id": "did:web:nova.example",': '"id": "did:web:nova.example", "\u0069d": "did:web:nova.example",'}}}
`,
			Want: `implementations/nova.json:4:3: error: did-resolution: duplicate-member`},
		{Name: "array", PR: `{listing: nova, did_document: {body: "[]"}}`,
			Want: `implementations/nova.json:4:3: error: did-resolution: did-document-shape`},
		// an IP address, in the forms that are read as one, is no did:web; nor is a name without a dot
		{Name: "ip", PR: `{listing: nova, did: "did:web:169.254.169.254"}`,
			Want: `implementations/nova.json:4:3: error: did-resolution: did-syntax`,
			Says: []string{`fix: use a did:web with a DNS name, such as did:web:agent.example, or the did:key of an Ed25519 key`}},
		{Name: "ip short", PR: `{listing: nova, did: "did:web:127.1"}`,
			Want: `implementations/nova.json:4:3: error: did-resolution: did-syntax`},
		{Name: "localhost", PR: `{listing: nova, did: "did:web:localhost"}`,
			Want: `implementations/nova.json:4:3: error: did-resolution: did-syntax`},
		{Name: "dots", PR: `{listing: nova, did: "did:web:nova.example:..:x"}`,
			Want: `implementations/nova.json:4:3: error: did-resolution: did-syntax`},
		// a did:key of another kind of key, and one of small order
		{Name: "key x25519", PR: `{listing: nova, did: "did:key:z6LSbysY2xFMRpGMhb7tFTLMpeuPRaqaWM1yECx2AtzE3KCc"}`,
			Want: `
implementations/nova.json:4:3: error: did-resolution: did-syntax
implementations/nova.json:4:3: warning: domain-age: age-of-host`},
		{Name: "key weak", PR: `{listing: nova, did: "did:key:z6MkeXATEjyXENzBXBxgC5EHk2JE5aqd7qMGGtDpLUH1e2Sj"}`,
			Want: `
implementations/nova.json:4:3: error: did-resolution: did-syntax
implementations/nova.json:4:3: warning: domain-age: age-of-host`,
			Says: []string{`anyone can sign in its name`}},
		// the server cannot answer for now
		{Name: "unsure", World: `web: [{url: "https://nova.example/.well-known/did.json", status: 500}]`,
			PR: "{listing: nova}", Want: `
implementations/nova.json:4:3: inconclusive: did-resolution: http-status
implementations/nova.json: inconclusive: receipt-signature`},
		// a key for encryption signs nothing
		{Name: "agreement",
			World: `pr:
  - listing: nova
    did_document:
      delete: [/verificationMethod, /authentication, /assertionMethod]
      set:
        /keyAgreement: [{id: "did:web:nova.example#key-1", type: Multikey, controller: "did:web:nova.example", publicKeyMultibase: "z6MkggtJhW3AZNqxk6j9mao4eo4HdAJ4LMFne6X7KpaqTxRm"}]
`,
			Want: `implementations/nova.json:4:3: error: did-resolution: did-no-key`},
	})
}

// A key whose verification method says that it is revoked or expired by the time of judging signs nothing, and a
// deactivated document is none.
func TestKeysOver(t *testing.T) {
	const (
		base = `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {commit: Begin}
`
		l4 = `pr: [{listing: nova, level: L4, witness: [ada]}]
`
		bootstrap = `policy: {reference_server: nova, maintainers: [mia]}
base: [{publish: mia}]
pr: [{listing: nova, level: L4, co_signers: [mia]}]
`
		revoke = `pr: [{revoke: bob}]
`
	)
	checktest.Run(t, []checktest.Case{
		// over now; over later, and what means nothing
		{Name: "revoked",
			PR:   `{listing: nova, did_document: {set: {/verificationMethod/0/revoked: "2026-06-01T12:00:00Z"}}}`,
			Want: `implementations/nova.json:4:3: error: did-resolution: did-keys-over`,
			Says: []string{`did-resolution: did:web:nova.example: .*key "did:web:nova.example#key-1" is no longer valid \(revoked is 2026-06-01T12:00:00Z\); sign a new Receipt, and revoke, before retiring the key or the DID`}},
		{Name: "expires",
			PR:   `{listing: nova, did_document: {set: {/verificationMethod/0/expires: "2026-05-31T00:00:00Z"}}}`,
			Want: `implementations/nova.json:4:3: error: did-resolution: did-keys-over`,
			Says: []string{`fix: put a key into the DID Document that is neither revoked nor expired, sign a new Receipt by ` +
				`it, and pin that in a re-issue`}},
		{Name: "later",
			World: `pr: [{listing: nova, did_document: {set: {/verificationMethod/0/revoked: "2026-06-01T12:00:01Z", /verificationMethod/0/expires: "2027-01-01T00:00:00Z"}}}]`,
			Want:  `pass`},
		{Name: "absent",
			World: `pr: [{listing: nova, did_document: {set: {/verificationMethod/0/revoked: null, /verificationMethod/0/expires: false}}}]`,
			Want:  `pass`},
		// no time
		{Name: "no time", PR: "{listing: nova, did_document: {set: {/verificationMethod/0/revoked: soon}}}",
			Want: `implementations/nova.json:4:3: error: did-resolution: did-keys-over`,
			Says: []string{`revoked is "soon", which is not an RFC 3339 time`}},
		// the document is deactivated; it says that it is not
		{Name: "deactivated", PR: "{listing: nova, did_document: {set: {/deactivated: true}}}",
			Want: `implementations/nova.json:4:3: error: did-resolution: did-deactivated`},
		{Name: "deactivated text", PR: `{listing: nova, did_document: {set: {/deactivated: "false"}}}`,
			Want: `implementations/nova.json:4:3: error: did-resolution: did-deactivated`},
		{Name: "active", PR: "{listing: nova, did_document: {set: {/deactivated: false}}}", Want: `pass`},
		// another key of the document is in force: the Receipt must be signed by it
		{Name: "rotated",
			World: `pr:
  - listing: nova
    did_document:
      set:
        /verificationMethod/0/revoked: "2026-05-01T00:00:00Z"
        /verificationMethod/-: {id: "did:web:nova.example#key-2", type: JsonWebKey2020, controller: "did:web:nova.example", publicKeyJwk: {kty: OKP, crv: Ed25519, x: "$jwk(nova-2)"}}
        /assertionMethod: ["#key-1", "#key-2"]
`,
			Want: `implementations/nova.json:7:3: error: receipt-signature: signature-not-verified`,
			Says: []string{`key "did:web:nova.example#key-1" signed it, and is no longer valid \(revoked is 2026-05-01T00:00:00Z\)`}},
		{Name: "rotated signed",
			World: `pr:
  - listing: nova
    signing_key: nova-2
    by: "did:web:nova.example#key-2"
    did_document:
      set:
        /verificationMethod/0/revoked: "2026-05-01T00:00:00Z"
        /verificationMethod/-: {id: "did:web:nova.example#key-2", type: JsonWebKey2020, controller: "did:web:nova.example", publicKeyJwk: {kty: OKP, crv: Ed25519, x: "$jwk(nova-2)"}}
        /assertionMethod: ["#key-1", "#key-2"]
`,
			Want: `pass`},
		// a witness's key, by which it signs and by which its own Receipt verifies
		{Name: "l4", World: base + l4,
			Want: `pass`},
		{Name: "l4, ada revoked",
			World: base + l4 + `web:
  - {edit: "https://ada.example/.well-known/did.json", set: {/verificationMethod/0/revoked: "2026-05-31T00:00:00Z"}}
`,
			Want: peers("nova", "error too-few-witnesses", "warning witness-evidence")},
		{Name: "l4, ada rotated",
			World: base + l4 + `web:
  - edit: "https://ada.example/.well-known/did.json"
    set:
      /verificationMethod/0/expires: "2026-05-31T00:00:00Z"
      /verificationMethod/-: {id: "did:web:ada.example#key-2", type: JsonWebKey2020, controller: "did:web:ada.example", publicKeyJwk: {kty: OKP, crv: Ed25519, x: "$jwk(ada-2)"}}
`,
			Want: peers("nova", "error too-few-witnesses", "warning witness-receipt")},
		{Name: "l4, ada deactivated",
			World: base + l4 + `web: [{edit: "https://ada.example/.well-known/did.json", set: {/deactivated: true}}]`,
			Want:  peers("nova", "error too-few-witnesses", "warning witness-evidence")},
		// a key that is over is still a key in common
		{Name: "shared",
			World: base + `pr:
  - listing: nova
    level: L4
    witness: [ada]
    did_document:
      set: {/verificationMethod/-: {id: "#old", type: JsonWebKey2020, controller: "did:web:nova.example", revoked: "2026-01-01T00:00:00Z", publicKeyJwk: {kty: OKP, crv: Ed25519, x: "$jwk(ada)"}}}
`,
			Want: peers("nova", "error too-few-witnesses", "warning witness-key-shared")},
		// a co-signer of the bootstrap rule
		{Name: "bootstrap", World: bootstrap,
			Want: `pass`},
		{Name: "bootstrap, mia revoked",
			World: bootstrap + `web:
  - {edit: "https://mia.example/.well-known/did.json", set: {/verificationMethod/0/revoked: "2026-05-31T00:00:00Z"}}
`,
			Want: `implementations/nova.json:6:3: error: peer-witnesses: cosigner-document`},
		// a revocation by its owner, by a key that is over, and by another one
		{Name: "revoke", World: base + revoke,
			Want: `pass`},
		{Name: "revoke, bob revoked",
			World: base + revoke + `web:
  - {edit: "https://bob.example/.well-known/did.json", set: {/verificationMethod/0/revoked: "2026-01-01T00:00:00Z"}}
`,
			Want: `revocations/bob-9d4ea007f3a56d6f2cec14396ca1d354ba580a7c2b4d6130ce7de9aae5a3b2ef.json:7:3: error: revocations: not-authorised`},
		{Name: "revoke rotated, bob rotated",
			World: base + `pr: [{revoke: bob, key: bob-2}]
web:
  - edit: "https://bob.example/.well-known/did.json"
    set:
      /verificationMethod/0/revoked: "2026-05-31T00:00:00Z"
      /verificationMethod/-: {id: "did:web:bob.example#key-2", type: JsonWebKey2020, controller: "did:web:bob.example", publicKeyJwk: {kty: OKP, crv: Ed25519, x: "$jwk(bob-2)"}}
`,
			Want: `pass`},
	})
}
