package checks_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

// L4: one listed witness's signature over the Receipt.
func TestPeerWitnessesL4Who(t *testing.T) {
	const (
		base = `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: cyd, level: L4, witness: [ada]}
`
		one = `pr: [{listing: nova, level: L4, witness: [ada]}]
`
	)
	checktest.Run(t, []checktest.Case{
		{Name: "one", World: base + one,
			Want: `pass`,
			Says: []string{`the signature of 1 witness verified`}},
		// L3 needs none
		{Name: "l3", World: base, PR: "{listing: nova, level: L3}", Want: `pass`},
		// no witness at all
		{Name: "none", World: base, PR: "{listing: nova, level: L4}",
			Want: `implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses`, Says: []string{
				`implementations/nova.json:6:3: error: peer-witnesses: no peer witness counts; L4 requires one`,
				`RFC 0026 section 10`,
			}},
		// a witness at L5, or at a tier of L5, counts too
		{Name: "l5 witness", World: base + `  - {listing: big, level: L5, witness: [ada, bob, cyd]}
  - {listing: org, level: L5-ORG, witness: [ada, bob, cyd]}`,
			PR: "{listing: nova, level: L4, witness: [org]}, {listing: mate, level: L4, witness: [big]}", Want: `pass`},
		// a did:key may be witnessed
		{Name: "key candidate", World: base, PR: "{listing: nova, did: key, level: L4, witness: [ada]}",
			Want: `implementations/nova.json:4:3: warning: domain-age: age-of-host`},
		// a renewal needs its witness again
		{Name: "renewal", World: base, PR: "{reissue: cyd, witness: [bob]}", Want: `pass`},
		{Name: "renewal none", World: base, PR: "{reissue: cyd, witness: []}",
			Want: `implementations/cyd.json:6:3: error: peer-witnesses: too-few-witnesses`},
		// --- what counts ---
		// a witness at L3, published and not listed, or listed by this pull request alone
		// at L5 by a Receipt that claims L1 only; at a variant of L5 by one that claims L5; by one without an end
		{Name: "L5 by a Receipt of L1",
			World: base + "  - {listing: odd, level: L5, witness: [ada], receipt: {set: {/claimed_levels: [L1]}}}",
			PR:    "{listing: nova, level: L4, witness: [odd]}",
			Want:  peers("nova", "error too-few-witnesses", "warning witness-level"),
			Says:  []string{`its own Receipt does not claim L5`}},
		{Name: "L4 by a Receipt of L5",
			World: base + "  - {listing: odd, level: L4, witness: [ada], receipt: {set: {/claimed_levels: [L5]}}}",
			PR:    "{listing: nova, level: L4, witness: [odd]}",
			Want:  peers("nova", "error too-few-witnesses", "warning witness-level")},
		{Name: "L5 with a suffix by a Receipt of L5",
			World: base + "  - {listing: odd, level: L5-ORG, witness: [ada], receipt: {set: {/claimed_levels: [L5]}}}",
			PR:    "{listing: nova, level: L4, witness: [odd]}", Want: `pass`},
		{Name: "by a Receipt without an end",
			World: base + "  - {listing: odd, level: L4, witness: [ada], receipt: {delete: [/validity/not_after]}}",
			PR:    "{listing: nova, level: L4, witness: [odd]}", Want: `pass`},
		{Name: "by l3", World: base + "  - {listing: low, level: L3}", PR: "{listing: nova, level: L4, witness: [low]}",
			Want: peers("nova", "error too-few-witnesses", "warning witness-not-listed")},
		{Name: "by stranger", World: base,
			PR:   "{publish: stranger, level: L4, witness: [ada]}, {listing: nova, level: L4, witness: [stranger]}",
			Want: peers("nova", "error too-few-witnesses", "warning witness-not-listed")},
		{Name: "by newcomer", World: base,
			PR:   "{listing: mate, level: L4, witness: [ada]}, {listing: nova, level: L4, witness: [mate]}",
			Want: peers("nova", "error too-few-witnesses", "warning witness-not-listed")},
		// an entry in peer-witnesses/ makes nobody a witness: there is none for whom there is no listing
		{Name: "by directory",
			World: base + `pr:
  - {listing: mate, level: L4, witness: [ada]}
  - {move: [implementations/mate.json, peer-witnesses/mate.json]}
  - {listing: nova, level: L4, witness: [mate]}
`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-not-listed
peer-witnesses/mate.json:1:1: error: layout: witness-not-listed`},
		// a listing that another one's DID stands beside is not known for sure
		{Name: "twice, one",
			World: `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: ada-2, level: L4, witness: [bob], set: {/tool_did: "did:web:ada.example"}}
` + one,
			Want: `
implementations/ada.json: warning: layout: duplicate-did
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-receipt`},
		// an expired one, a provisional one
		{Name: "by expired", World: base + `  - {commit: Begin}
  - {at: -91d}
  - {listing: old, level: L4, witness: [ada]}`,
			PR: "{listing: nova, level: L4, witness: [old]}", Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-expired
registry: notice: revocations: not-in-force`},
		{Name: "by provisional",
			World: base + "  - {listing: pro, level: L4, witness: [ada], provisional: true, registered: -5d}",
			PR:    "{listing: nova, level: L4, witness: [pro]}",
			Want:  peers("nova", "error too-few-witnesses", "warning witness-provisional")},
		// a revoked one, revoked in base or by this pull request
		{Name: "revoked, one",
			World: base + `  - {revoke: ada}
` + one,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-revoked
registry: notice: revocations: not-in-force`},
		{Name: "revoked here", World: base, PR: "{revoke: ada}, {listing: nova, level: L4, witness: [ada]}",
			Want: peers("nova", "error too-few-witnesses", "warning witness-revoked")},
		// a revocation of an earlier Receipt takes nothing from the witness
		{Name: "revoked before, one",
			World: base + `  - {commit: List}
  - {at: -5d}
  - {reissue: ada}
  - {revoke: ada, number: 1}
` + one,
			Want: `pass`},
		// a slug in the text that is not the file's name is no way around a revocation
		{Name: "revoked odd", World: base + `  - {listing: odd, level: L4, witness: [ada], set: {/slug: even}}
  - {revoke: odd}`,
			PR: "{listing: nova, level: L4, witness: [odd]}", Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:7:3: warning: peer-witnesses: witness-revoked
implementations/odd.json:2:3: warning: layout: slug-mismatch
registry: notice: revocations: not-in-force`},
		// the candidate itself, on its renewal, also in another spelling of its DID
		{Name: "by itself", World: base, PR: "{reissue: ada, witness: [ada]}",
			Want: peers("ada", "error too-few-witnesses", "warning witness-is-candidate")},
		{Name: "by itself spelt", World: base,
			PR:   `{reissue: ada, witness: [{slug: ada, did: "did:web:ada.example."}]}`,
			Want: peers("ada", "error too-few-witnesses", "warning witness-is-candidate")},
		// one that has the candidate's key, or one of its keys beside its own
		{Name: "by twin", World: base + "  - {listing: twin, level: L4, witness: [ada], key: nova}",
			PR:   "{listing: nova, level: L4, witness: [twin]}",
			Want: peers("nova", "error too-few-witnesses", "warning witness-key-shared")},
		// the same key, behind another that its type does not use
		{Name: "by twin with a decoy",
			World: base + `  - listing: twin
    level: L4
    witness: [ada]
    key: nova
    key_type: Multikey
    did_document:
      set: {/verificationMethod/0/publicKeyJwk: {kty: OKP, crv: Ed25519, x: $jwk(decoy)}}
pr: [{listing: nova, level: L4, witness: [twin]}]
`,
			Want: peers("nova", "error too-few-witnesses", "warning witness-key-shared")},
		// a witness whose key is published may be anybody
		{Name: "by one with a published key",
			World: base + `pr: [{listing: nova, level: L4, witness: [ada, bob]}]
web:
  - edit: https://bob.example/.well-known/did.json
    set: {/keyAgreement: [{type: JsonWebKey, publicKeyJwk: {kty: OKP, crv: Ed25519, x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}}]}
`,
			Want: `implementations/nova.json:7:3: error: peer-witnesses: did-published-key`,
			Says: []string{`peer witness "did:web:bob.example" is listed, but in its DID Document, .*RFC 8037 appendix A`,
				`fix: remove that entry from peer_witnesses`}},
		{Name: "by sharer",
			World: base + `  - {listing: twin, level: L4, witness: [ada], key: shared}
pr:
  - listing: nova
    level: L4
    witness: [twin]
    did_document:
      set: {/verificationMethod/-: {id: "#2", type: JsonWebKey2020, controller: "did:web:nova.example", publicKeyJwk: {kty: OKP, crv: Ed25519, x: $jwk(shared)}}}
`,
			Want: peers("nova", "error too-few-witnesses", "warning witness-key-shared")},
		// a did:key cannot witness, nor what is no DID
		{Name: "by key", World: base + "  - {listing: kay, did: key, level: L4, witness: [ada]}",
			PR:   "{listing: nova, level: L4, witness: [kay]}",
			Want: peers("nova", "error too-few-witnesses", "warning witness-not-web")},
		{Name: "by nobody", World: base, PR: "{listing: nova, level: L4, witness: [{slug: ada, did: somebody}]}",
			Want: peers("nova", "error too-few-witnesses", "warning witness-not-web")},
		// a signature of another algorithm
		{Name: "other algorithm",
			World: base + `pr: [{listing: nova, level: L4, witness: [{slug: ada, alg: ES256}]}]`,
			Want:  peers("nova", "error too-few-witnesses", "warning witness-algorithm")},
	})
}

// Attacks on witnesses: who may vouch, for whom, and by what.
func TestAttackWitness(t *testing.T) {
	checktest.Run(t, []checktest.Case{
		// a witness that vouches under the DID with a fragment, or as a did:key; in capitals it is the same DID
		{Name: "fragment", Base: "{listing: ada, level: L4, witness: [bob]}, {listing: bob, level: L4, witness: [ada]}",
			PR:   `{listing: nova, level: L4, witness: [{slug: ada, did: "did:web:ada.example#key-1"}]}`,
			Want: peers("nova", "error too-few-witnesses", "warning witness-not-web")},
		{Name: "case", Base: "{listing: ada, level: L4, witness: [bob]}, {listing: bob, level: L4, witness: [ada]}",
			PR: `{listing: nova, level: L4, witness: [{slug: ada, did: "did:web:ADA.example"}]}`, Want: `pass`},
		{Name: "key",
			Base: "{listing: ada, level: L4, witness: [bob], did: key}, {listing: bob, level: L4, witness: [ada]}",
			PR:   "{listing: nova, level: L4, witness: [ada]}",
			Want: peers("nova", "error too-few-witnesses", "warning witness-not-web")},
		// a signature made for another candidate's Receipt is copied
		{Name: "copied", Base: "{listing: ada, level: L4, witness: [bob]}, {listing: bob, level: L4, witness: [ada]}",
			PR:   "{listing: nova, level: L4, witness: [{slug: ada, key: mallory}]}",
			Want: `implementations/nova.json:7:3: error: peer-witnesses: witness-signature`},
		// a witness whose DID Document now holds the candidate's key too
		{Name: "shared later",
			World: `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
pr: [{listing: nova, level: L4, witness: [ada]}]
web:
  - {edit: "https://ada.example/.well-known/did.json", set: {/verificationMethod/-: {id: "did:web:ada.example#key-2", type: JsonWebKey2020, controller: "did:web:ada.example", publicKeyJwk: {kty: OKP, crv: Ed25519, x: "$jwk(nova)"}}}}
`,
			Want: peers("nova", "error too-few-witnesses", "warning witness-key-shared")},
		// a level beside the highest: L3 in the listing, L5 in the Receipt, so that no witness is asked for
		{Name: "below", Base: "{listing: ada}",
			PR:   "{listing: nova, level: L3, receipt: {set: {/claimed_levels: [L3, L5]}}}",
			Want: `implementations/nova.json:6:3: warning: receipt-claims: level-not-highest`},
		{Name: "below reissue", Base: "{listing: ada, level: L3}",
			PR:   "{reissue: ada, receipt: {set: {/claimed_levels: [L3, L5]}}}",
			Want: `implementations/ada.json:6:3: error: reissue: level-not-highest`},
		// an auditor that is the candidate under its other spelling, or one of the witnesses
		{Name: "auditor self",
			World: `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: cat, level: L4, witness: [ada]}
pr: [{listing: nova, level: L5, witness: [ada, bob, cat], auditor: "did:web:NOVA.example"}]
`,
			Want: `implementations/nova.json:6:3: error: external-audit: audit-by-itself`},
		{Name: "auditor witness",
			World: `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: cat, level: L4, witness: [ada]}
pr: [{listing: nova, level: L5, witness: [ada, bob, cat], auditor: "did:web:Cat.example"}]
`,
			Want: `implementations/nova.json:6:3: error: external-audit: audit-by-witness`},
		// forced: the revoked implementation signs as one of the three; two witnesses and one of them twice
		{Name: "forced self",
			World: `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: cat, level: L4, witness: [ada]}
pr: [{revoke: cat, by: ada, witness: [ada, bob, cat]}]
`,
			Want: `
revocations/cat-cc24e4c247ae93110e9fcefde47807286b709d2451cfe405fa86d962c394c78f.json:7:3: error: revocations: not-authorised
revocations/cat-cc24e4c247ae93110e9fcefde47807286b709d2451cfe405fa86d962c394c78f.json:25:5: warning: revocations: witness-not-counted`},
		{Name: "forced twice",
			World: `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: cat, level: L1}
pr: [{revoke: cat, by: ada, witness: [ada, bob, ada]}]
`,
			Want: `revocations/cat-c8b24ec1c5aa7b83525577de2511a9c5bdbc7d3a93d8b741accab9e5d0d0d958.json:7:3: error: revocations: not-authorised`},
		// ... the owner's site being down does not stop three
		{Name: "forced",
			World: `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: dan, level: L4, witness: [ada]}
  - {listing: cat, level: L1}
pr: [{revoke: cat, by: cat, key: mallory, witness: [ada, bob, dan]}]
web: [{url: "https://cat.example/.well-known/did.json", status: 503}]
`,
			Want: `pass`},
	})
}

// peers returns what peer-witnesses finds of a listing at its level and at its Receipt, each a severity and a code.
func peers(slug, level, receipt string) string {
	found := ""
	for i, f := range []string{level, receipt} {
		severity, code, _ := strings.Cut(f, " ")
		found += fmt.Sprintf("implementations/%s.json:%d:3: %s: peer-witnesses: %s\n", slug, 6+i, severity, code)
	}
	return strings.TrimSpace(found)
}
