package checks_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

func TestManifestDid(t *testing.T) {
	checktest.Run(t, []checktest.Case{
		// on another host of the owner's domain
		{Name: "docs",
			World: `pr:
  - {listing: nova, set: {/manifest_uri: "https://docs.nova.example:8443/m.json", /conformance_receipt_uri: "https://r.nova.example/r.json"}, manifest: {set: {/conformance/receipt_uri: "https://r.nova.example/r.json"}}}
web:
  - {edit: "https://nova.example/.well-known/oap-tool.json", to: "https://docs.nova.example:8443/m.json"}
  - {edit: "https://nova.example/oap-conformance-receipt.json", to: "https://r.nova.example/r.json"}
`,
			Want: `pass`},
		// on the host of the Receipt's signed target.uri, whatever the domain
		{Name: "target",
			World: `pr:
  - {listing: nova, set: {/manifest_uri: "https://API.other.example/m.json", /conformance_receipt_uri: "https://api.other.example/r.json"}, manifest: {delete: [/conformance]}, receipt: {set: {/target/uri: "https://api.other.example./v1"}}}
web:
  - {edit: "https://nova.example/.well-known/oap-tool.json", to: "https://api.other.example/m.json"}
  - {edit: "https://nova.example/oap-conformance-receipt.json", to: "https://api.other.example/r.json"}
`,
			Want: `pass`},
		// a did:key has no host: that of the signed target.uri it must be
		{Name: "key", PR: "{listing: nova, did: key}",
			Want: `implementations/nova.json:4:3: warning: domain-age: age-of-host`},
		// the Receipt may lie anywhere if the Manifest names it
		{Name: "named",
			World: `pr:
  - {listing: nova, set: {/conformance_receipt_uri: "https://stranger.example/r.json"}, manifest: {set: {/conformance/receipt_uri: "https://stranger.example/r.json"}}}
web:
  - {edit: "https://nova.example/oap-conformance-receipt.json", to: "https://stranger.example/r.json"}
`,
			Want: `pass`},
		// the Manifest is of another DID; it has no DID; it has it with the host in another letter case
		{Name: "other", PR: `{listing: nova, manifest: {set: {/tool/did: "did:web:other.example"}}}`,
			Want: `implementations/nova.json:4:3: error: manifest-did: manifest-did-differs`,
			Says: []string{`implementations/nova.json:4:3: error: manifest-did: the Manifest.s tool.did is "did:web:other.example", the listing.s tool_did is "did:web:nova.example"`}},
		{Name: "none", PR: "{listing: nova, manifest: {delete: [/tool/did]}}",
			Want: `implementations/nova.json:4:3: error: manifest-did: manifest-did-differs`},
		{Name: "case", PR: `{listing: nova, manifest: {set: {/tool/did: "did:web:NOVA.example"}}}`, Want: `pass`},
		// a Manifest that names another Receipt, and none: the first is a warning
		{Name: "differs",
			PR:   `{listing: nova, manifest: {set: {/conformance/receipt_uri: "https://nova.example/other.json"}}}`,
			Want: `implementations/nova.json:7:3: warning: manifest-did: manifest-receipt-differs`},
		{Name: "silent", PR: "{listing: nova, manifest: {delete: [/conformance]}}", Want: `pass`},
		// the member of RFC 0026 section 12, alone, next to the other, and another URI than the other
		{Name: "at the root",
			World: `pr:
  - {listing: nova, manifest: {delete: [/conformance], set: {/conformance_receipt_uri: "https://nova.example/oap-conformance-receipt.json"}}}
`,
			Want: `pass`},
		{Name: "at the root, elsewhere",
			World: `pr:
  - {listing: nova, manifest: {delete: [/conformance], set: {/conformance_receipt_uri: "https://nova.example/other.json"}}}
`,
			Want: `implementations/nova.json:7:3: warning: manifest-did: manifest-receipt-differs`,
			Says: []string{`fix: set conformance_receipt_uri in the Manifest to the listing's`}},
		{Name: "both equal",
			World: `pr:
  - {listing: nova, manifest: {set: {/conformance_receipt_uri: "https://nova.example/oap-conformance-receipt.json"}}}
`,
			Want: `pass`},
		{Name: "both, different",
			PR:   `{listing: nova, manifest: {set: {/conformance_receipt_uri: "https://nova.example/other.json"}}}`,
			Want: `implementations/nova.json:5:3: error: manifest-did: receipt-uri-differs`, Says: []string{
				`the Manifest's conformance.receipt_uri is "https://nova.example/oap-conformance-receipt.json" and its conformance_receipt_uri is "https://nova.example/other.json"; expected one URL`,
				`fix: set both members to the URL of the signed Receipt, or remove conformance_receipt_uri`,
			}},
		{Name: "both, the listing's at the root",
			World: `pr:
  - listing: nova
    manifest:
      set:
        /conformance/receipt_uri: "https://nova.example/other.json"
        /conformance_receipt_uri: "https://nova.example/oap-conformance-receipt.json"
`,
			Want: `implementations/nova.json:5:3: error: manifest-did: receipt-uri-differs`},
		// the Receipt may lie anywhere if the Manifest names it by this member
		{Name: "named at the root",
			World: `pr:
  - listing: nova
    set: {/conformance_receipt_uri: "https://stranger.example/r.json"}
    manifest: {delete: [/conformance], set: {/conformance_receipt_uri: "https://stranger.example/r.json"}}
web:
  - {edit: "https://nova.example/oap-conformance-receipt.json", to: "https://stranger.example/r.json"}
`,
			Want: `pass`},
		// a level that the Receipt does not claim, and another suite; the suffix does not count
		{Name: "claims more", PR: "{listing: nova, manifest: {set: {/conformance/claimed_levels: [L1, L4, L5-ORG]}}}",
			Want: `implementations/nova.json:5:3: warning: manifest-did: manifest-contradicts`, Says: []string{
				`conformance.claimed_levels of the Manifest has L4, L5-ORG; expected levels that the Receipt claims: L1`,
				`fix: remove L4, L5-ORG from conformance.claimed_levels in the Manifest`,
			}},
		{Name: "claims a prefix", PR: "{listing: nova, manifest: {set: {/conformance/claimed_levels: [L]}}}",
			Want: `implementations/nova.json:5:3: warning: manifest-did: manifest-contradicts`},
		{Name: "other suite", PR: `{listing: nova, manifest: {set: {/conformance/suite_version: "1.3.0"}}}`,
			Want: `implementations/nova.json:5:3: warning: manifest-did: manifest-contradicts`,
			Says: []string{`fix: set conformance.suite_version in the Manifest to "1.0.0"`}},
		{Name: "claims the same",
			World: `pr:
  - {listing: nova, level: L1-NC, manifest: {set: {/conformance/claimed_levels: [L1], /conformance/suite_version: "1.0.0"}}}
`,
			Want: `pass`},
		// who claims less contradicts nothing; a suite that is not trusted is reported once
		{Name: "claims less",
			PR:   "{listing: nova, level: L3, manifest: {set: {/conformance/claimed_levels: [L1, L2-NC]}}}",
			Want: `pass`},
		{Name: "claims L0", PR: "{listing: nova, level: L3, manifest: {set: {/conformance/claimed_levels: [L0]}}}",
			Want: `pass`},
		{Name: "claims to be a worker",
			PR:   "{listing: nova, level: L3, manifest: {set: {/conformance/claimed_levels: [W1]}}}",
			Want: `implementations/nova.json:5:3: warning: manifest-did: manifest-contradicts`},
		{Name: "suite that is not trusted",
			World: `pr:
  - {listing: nova, receipt: {set: {/suite/version: "2.0.0"}}, manifest: {set: {/conformance/suite_version: "1.0.0"}}}
`,
			Want: `implementations/nova.json:7:3: warning: receipt-claims: suite-not-trusted`},
		{Name: "claims with a suffix", PR: "{listing: nova, manifest: {set: {/conformance/claimed_levels: [L1-NC]}}}",
			Want: `pass`},
		// a copy of the Manifest on a stranger's host
		{Name: "copied",
			World: `pr: [{listing: nova, set: {/manifest_uri: "https://stranger.example/m.json"}}]
web: [{edit: "https://nova.example/.well-known/oap-tool.json", to: "https://stranger.example/m.json"}]
`,
			Want: `implementations/nova.json:5:3: error: manifest-did: manifest-host`,
			Says: []string{`implementations/nova.json:5:3: error: manifest-did: manifest_uri is on host "stranger.example"`}},
		// the neighbour on a platform is a stranger
		{Name: "platform",
			World: `pr:
  - {listing: nova, host: nova.vercel.app, provisional: true, set: {/manifest_uri: "https://stranger.vercel.app/m.json"}}
web:
  - {edit: "https://nova.vercel.app/.well-known/oap-tool.json", to: "https://stranger.vercel.app/m.json"}
`,
			Want: `
implementations/nova.json:5:3: error: manifest-did: manifest-host
implementations/nova.json:12:3: notice: domain-age: provisional`},
		// a name that only ends alike
		{Name: "suffix",
			World: `pr: [{listing: nova, set: {/manifest_uri: "https://evilnova.example/m.json"}}]
web: [{edit: "https://nova.example/.well-known/oap-tool.json", to: "https://evilnova.example/m.json"}]
`,
			Want: `implementations/nova.json:5:3: error: manifest-did: manifest-host`},
		// a Receipt on a stranger's host that the Manifest does not name
		{Name: "receipt",
			World: `pr: [{listing: nova, set: {/conformance_receipt_uri: "https://stranger.example/r.json"}}]
web:
  - {edit: "https://nova.example/oap-conformance-receipt.json", to: "https://stranger.example/r.json"}
`,
			Want: `
implementations/nova.json:7:3: warning: manifest-did: manifest-receipt-differs
implementations/nova.json:7:3: error: manifest-did: receipt-host`,
			Says: []string{`implementations/nova.json:7:3: error: manifest-did: conformance_receipt_uri is on host "stranger.example"`}},
		// one that was tested there; the Manifest is the owner's
		{Name: "receipt on the tested host",
			World: `pr:
  - listing: nova
    set: {/conformance_receipt_uri: "https://stranger.example/r.json"}
    receipt: {set: {/target/uri: "https://stranger.example/v1"}}
web:
  - {edit: "https://nova.example/oap-conformance-receipt.json", to: "https://stranger.example/r.json"}
`,
			Want: `
implementations/nova.json:7:3: warning: manifest-did: manifest-receipt-differs
implementations/nova.json:7:3: warning: receipt-claims: target-differs`},
		// the owner's domain needs neither the Manifest nor the tested host
		{Name: "receipt of the owner, tested elsewhere",
			World: `pr:
  - listing: nova
    manifest: {delete: [/conformance]}
    receipt: {set: {/target/uri: "https://stranger.example/v1"}}
`,
			Want: `implementations/nova.json:7:3: warning: receipt-claims: target-differs`},
		// the stranger's own Manifest cannot name the Receipt: it is not the owner's
		{Name: "both",
			World: `pr:
  - {listing: nova, set: {/manifest_uri: "https://stranger.example/m.json", /conformance_receipt_uri: "https://stranger.example/r.json"}, manifest: {set: {/conformance/receipt_uri: "https://stranger.example/r.json"}}}
web:
  - {edit: "https://nova.example/.well-known/oap-tool.json", to: "https://stranger.example/m.json"}
  - {edit: "https://nova.example/oap-conformance-receipt.json", to: "https://stranger.example/r.json"}
`,
			Want: `implementations/nova.json:5:3: error: manifest-did: manifest-host`},
		// a target.uri that only mentions the host, in its query or as a user name
		{Name: "query",
			World: `pr:
  - {listing: nova, set: {/manifest_uri: "https://stranger.example/m.json"}, receipt: {set: {/target/uri: "https://nova.example/?https://stranger.example/"}}}
web: [{edit: "https://nova.example/.well-known/oap-tool.json", to: "https://stranger.example/m.json"}]
`,
			Want: `implementations/nova.json:5:3: error: manifest-did: manifest-host`},
		{Name: "user",
			PR: `{listing: nova, did: key, receipt: {set: {/target/uri: "https://nova.example@other.example/"}}}`,
			Want: `
implementations/nova.json:5:3: error: manifest-did: manifest-host
implementations/nova.json:4:3: warning: domain-age: age-of-host`},
		// on a shared host only the directory of the DID is the owner's, or the one where the implementation ran
		{Name: "in its directory", World: shared("alice/.well-known/oap-tool.json", ""),
			Want: `implementations/nova.json:4:3: warning: domain-age: age-of-host`},
		{Name: "below its directory", World: shared("alice/x/oap.json", ""),
			Want: `implementations/nova.json:4:3: warning: domain-age: age-of-host`},
		{Name: "where it ran", World: shared("run/oap.json", `, receipt: {set: {/target/uri: "https://nova.example/run/"}}`),
			Want: `implementations/nova.json:4:3: warning: domain-age: age-of-host`},
		{Name: "of a neighbor", World: shared("bob/oap.json", ""),
			Want: `
implementations/nova.json:5:3: error: manifest-did: manifest-host
implementations/nova.json:4:3: warning: domain-age: age-of-host`,
			Says: []string{`fix: serve the Manifest at https://nova.example/alice/.well-known/oap-tool.json, and set manifest_uri`}},
		{Name: "of a neighbor with a longer name", World: shared("alice2/.well-known/oap-tool.json", ""),
			Want: `
implementations/nova.json:5:3: error: manifest-did: manifest-host
implementations/nova.json:4:3: warning: domain-age: age-of-host`},
		{Name: "of a neighbor, and no Receipt",
			World: shared("bob/oap.json", "") + `  - {url: "https://nova.example/oap-conformance-receipt.json", status: 503}`,
			Only:  "manifest-did", Want: `implementations/nova.json:1:1: inconclusive: manifest-did: http-status`},
		{Name: "a neighbor's Receipt",
			World: shared("alice/.well-known/oap-tool.json", `, manifest: {delete: [/conformance]}`),
			Want: `
implementations/nova.json:7:3: error: manifest-did: receipt-host
implementations/nova.json:4:3: warning: domain-age: age-of-host`},
	})
}

// shared is a listing of a did:web with the path alice, whose Manifest is at that path of the host.
func shared(path, more string) string {
	return `pr:
  - {listing: nova, did: "did:web:nova.example:alice", set: {/manifest_uri: "https://nova.example/` + path + `"}` + more + `}
web:
  - {edit: "https://nova.example/.well-known/oap-tool.json", to: "https://nova.example/` + path + `"}
`
}

// Where a DID lets somebody act, it does so in each of its spellings; a path keeps its letter case, and a text that is
// no DID lets nobody.
func TestOneSpellingOwner(t *testing.T) {
	const base = `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
`
	checktest.Run(t, []checktest.Case{
		// an owner's: in the Receipt, in the Manifest, in the signature, in a revocation
		{Name: "receipt", PR: `{listing: nova, receipt: {set: {/implementation/did: "did:web:NOVA.example."}}}`,
			Want: `pass`},
		{Name: "signature", PR: `{listing: nova, by: "did:web:Nova.example#key-1"}`,
			Want: `implementations/nova.json:7:3: warning: receipt-signature: key-id-mismatch`},
		{Name: "revocation", World: base,
			PR:   `{revoke: ada, revocation: {set: {/revoked_by_did: "did:web:Ada.example:.well-known"}}}`,
			Want: `pass`},
		// ... but not of another path, or with a query
		{Name: "path",
			World: `pr: [{listing: nova, did: "did:web:nova.example:tools:x", receipt: {set: {/implementation/did: "did:web:nova.example:tools:X"}}}]`,
			Want: `
implementations/nova.json:5:3: warning: manifest-did: target-folder
implementations/nova.json:4:3: error: receipt-claims: receipt-did-differs
implementations/nova.json:4:3: warning: domain-age: age-of-host`},
		{Name: "path manifest",
			World: `pr: [{listing: nova, did: "did:web:nova.example:tools:x", manifest: {set: {/tool/did: "did:web:nova.example:tools:X"}}}]`,
			Want: `
implementations/nova.json:4:3: error: manifest-did: manifest-did-differs
implementations/nova.json:5:3: warning: manifest-did: target-folder
implementations/nova.json:4:3: warning: domain-age: age-of-host`},
		{Name: "query", PR: `{listing: nova, receipt: {set: {/implementation/did: "did:web:nova.example?"}}}`,
			Want: `implementations/nova.json:4:3: error: receipt-claims: receipt-did-differs`},
		{Name: "signature query", PR: `{listing: nova, by: "did:web:nova.example?x#key-1"}`,
			Want: `implementations/nova.json:7:3: error: receipt-signature: not-signed`},
		{Name: "revocation slash", World: base,
			PR:   `{revoke: ada, revocation: {set: {/revoked_by_did: "did:web:ada.example:x"}}}`,
			Want: `revocations/ada-94e5adb886f685db75aa29398706d2015e257628b2bb02a14368fcbd746948dd.json:7:3: error: revocations: not-authorised`},
		// an entry in another spelling that does not verify is the owner's all the same
		{Name: "signature beside",
			World: `pr: [{listing: nova, signed: {set: {/signatures/-: {by: "did:web:%6Eova.example#key-1", alg: EdDSA, value: "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}}}}]`,
			Want:  `implementations/nova.json:7:3: error: receipt-signature: signature-not-verified`},
		// a witness's, which is one witness in however many spellings
		{Name: "witness", World: base,
			PR: `{listing: nova, level: L4, witness: [{slug: ada, did: "did:web:%61da.example"}]}`, Want: `pass`},
		{Name: "witness thrice",
			World: base + `pr: [{listing: nova, level: L5, witness: [ada, {slug: ada, did: "did:web:ADA.example"}, {slug: ada, did: "did:web:ada.example:.well-known"}]}]`,
			Want: `
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:6:3: notice: external-audit: audit-declared`,
			Says: []string{`they are one DID`}},
		{Name: "witness query", World: base,
			PR:   `{listing: nova, level: L4, witness: [{slug: ada, did: "did:web:ada.example?x"}]}`,
			Want: peers("nova", "error too-few-witnesses", "warning witness-not-web")},
		// a maintainer's, in the signature
		{Name: "maintainer",
			World: `policy: {reference_server: nova, maintainers: [mia]}
base: [{publish: mia}]
pr:
  - {listing: nova, level: L4, co_signers: [mia], tamper: {replace: {"did:web:mia.example#": "did:web:%6Dia.example#"}}}
`,
			Want: `pass`},
		{Name: "maintainer query",
			World: `policy: {reference_server: nova, maintainers: [mia]}
base: [{publish: mia}]
pr:
  - {listing: nova, level: L4, co_signers: [mia], tamper: {replace: {"did:web:mia.example#": "did:web:mia.example?#"}}}
`,
			Want: `implementations/nova.json:6:3: error: peer-witnesses: cosignature-missing`},
		// ... who is no second one in another letter case
		{Name: "maintainer twice",
			World: `policy: |
  version: 1
  reference_server: {tool_did: "did:web:nova.example"}
  maintainers: ["did:web:mia.example:x", "did:web:mia.example:X"]
base: [{publish: mia}]
pr: [{listing: nova, level: L4, co_signers: [mia]}]
`,
			Want: `
implementations/nova.json:1:1: inconclusive: manifest-did: policy-unreadable
implementations/nova.json:6:3: error: peer-witnesses: too-few-witnesses
implementations/nova.json:1:1: inconclusive: domain-age: policy-unreadable
.github/gate-policy.yml: warning: peer-witnesses: policy-broken`},
	})
}
