package verify

import (
	"fmt"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
)

// Each step alone keeps a Receipt from being accepted, and its honest twin does not.
func TestSteps(t *testing.T) {
	t.Parallel()
	runTargets(t, []target{
		{name: "honest", want: "pass L1"},
		{name: "the Manifest is gone", world: nova + gone(manifestURL), want: `
			fail
			manifest: fail; error http-status manifest#
			receipt-discovery..claims: skip, see manifest
			peer-witnesses..external-audit: skip, see manifest`},
		{name: "the Manifest cannot be fetched now", world: nova + down(manifestURL), want: `
			inconclusive
			manifest: inconclusive; inconclusive http-status manifest#
			receipt-discovery..claims: skip, see manifest
			peer-witnesses..external-audit: skip, see manifest`},
		{name: "the Manifest is a list", world: nova + web("edit: "+manifestURL, `body: "[]"`), want: `
			fail
			manifest: fail; error manifest-no-object manifest#
			receipt-discovery..claims: skip, see manifest
			peer-witnesses..external-audit: skip, see manifest`},
		{name: "the Manifest names no DID", world: withManifest("set: {/tool/did: nova}"), want: `
			fail
			manifest: fail; error did-syntax manifest#/tool/did
			identity: skip, see manifest`},
		{name: "the Manifest has no tool", world: withManifest("delete: [/tool]"), want: `
			fail
			manifest: fail; error did-syntax manifest#/tool/did
			identity: skip, see manifest`},
		{name: "the Manifest names another DID than the target",
			world: withManifest(`set: {/tool/did: "did:web:other.example"}`), text: "did:web:nova.example", want: `
			fail
			manifest: fail; error manifest-did-differs manifest#/tool/did
			identity: fail; error receipt-did-differs receipt#/implementation/did`},
		{name: "the Manifest names the DID of the target in capitals",
			world: withManifest(`set: {/tool/did: "did:web:NOVA.example"}`), text: "did:web:nova.example",
			want: "pass L1"},
		{name: "unattested", world: withManifest("delete: [/conformance]"), want: `
			fail
			receipt-discovery: fail; error unattested manifest#/conformance
			receipt-fetch..claims: skip, see receipt-discovery
			peer-witnesses..external-audit: skip, see receipt-discovery`},
		{name: "no URL of a Receipt", world: withManifest("delete: [/conformance/receipt_uri]"), want: `
			fail
			receipt-discovery: fail; error no-receipt-uri manifest#/conformance/receipt_uri
			receipt-fetch..claims: skip, see receipt-discovery
			peer-witnesses..external-audit: skip, see receipt-discovery`},
		{name: "an http URL of a Receipt",
			world: withManifest(`set: {/conformance/receipt_uri: "http://nova.example/oap-conformance-receipt.json"}`),
			want: `
			fail
			receipt-discovery: fail; error no-receipt-uri manifest#/conformance/receipt_uri
			receipt-fetch..claims: skip, see receipt-discovery
			peer-witnesses..external-audit: skip, see receipt-discovery`},
		{name: "the URL of the Receipt is a member of the root",
			world: withManifest(`delete: [/conformance],
                set: {/conformance_receipt_uri: "https://nova.example/oap-conformance-receipt.json"}`),
			want: "pass L1"},
		{name: "two URLs of the Receipt",
			world: withManifest(`set: {/conformance_receipt_uri: "https://nova.example/older.json"}`), want: `
			fail
			receipt-discovery: fail; error receipt-uri-differs manifest#/conformance_receipt_uri`},
		{name: "the Manifest claims more than the Receipt",
			world: withManifest("set: {/conformance/claimed_levels: [L1, L4]}"), want: `
			pass L1
			receipt-discovery: warn; warning manifest-contradicts manifest#/conformance/claimed_levels`},
		{name: "the Manifest names another version of the suite",
			world: withManifest(`set: {/conformance/suite_version: "1.3.0"}`), want: `
			pass L1
			receipt-discovery: warn; warning manifest-contradicts manifest#/conformance/suite_version`},
		{name: "the Receipt is gone", world: nova + gone(receiptURL), want: `
			fail
			receipt-fetch: fail; error http-status receipt#
			schema..claims: skip, see receipt-fetch
			peer-witnesses..external-audit: skip, see receipt-fetch`},
		{name: "the Receipt cannot be fetched now", world: nova + down(receiptURL), want: `
			inconclusive
			receipt-fetch: inconclusive; inconclusive http-status receipt#
			schema..claims: skip, see receipt-fetch
			peer-witnesses..external-audit: skip, see receipt-fetch`},
		{name: "the Receipt lacks a member", world: withReceipt("delete: [/fixtures_hash]"), want: `
			fail
			schema: fail; error receipt-schema receipt#`},
		{name: "the Receipt is not JSON", world: nova + web("edit: "+receiptURL, `body: "<html>"`), want: `
			fail
			schema: fail; error json-syntax receipt#
			suite-trust..claims: skip, see schema
			peer-witnesses..external-audit: skip, see schema`},
		{name: "the Receipt is a list", world: nova + web("edit: "+receiptURL, `body: "[]"`), want: `
			fail
			schema: fail; error receipt-no-object receipt#
			suite-trust..claims: skip, see schema
			peer-witnesses..external-audit: skip, see schema`},
		{name: "the Receipt has a member twice",
			world: nova + web("edit: "+receiptURL, `replace: {"\"type\"": "\"type\": \"none\", \"type\""}`), want: `
			fail
			schema: fail; error duplicate-member receipt#
			suite-trust..claims: skip, see schema
			peer-witnesses..external-audit: skip, see schema`},
		{name: "the Receipt has a number that readers round",
			world: withReceipt("set: {/odd: 123456789012345678901}"), want: `
			pass L1
			schema: warn; warning rounded-number receipt#/odd`},
		{name: "a suite that nobody trusts", world: withReceipt(`set: {/suite/version: "2.0.0"}`), want: `
			fail
			suite-trust: fail; error suite-not-trusted receipt#/suite/version`},
		{name: "a suite that the caller trusts", world: withReceipt(`set: {/suite/version: "2.0.0"}`),
			with: func(f *bundle.VerifyFlags) { f.Suites = "1.x,2.x" }, want: "pass L1"},
		{name: "a suite that the caller does not trust", with: func(f *bundle.VerifyFlags) { f.Suites = "2.x" },
			want: `
			fail
			suite-trust: fail; error suite-not-trusted receipt#/suite/version`},
		{name: "expired", world: publish(`issued: "-40d", not_after: "-1d"`), want: `
			fail
			validity: fail; error expired receipt#/validity/not_after`},
		{name: "expires now", world: publish(`issued: "-40d", not_after: "+0s"`), want: `
			fail
			validity: fail; error expired receipt#/validity/not_after`},
		{name: "expires in a second", world: publish(`issued: "-40d", not_after: "+1s"`), want: "pass L1"},
		{name: "not yet valid", world: publish(`issued: "+301s", not_after: "+30d"`), want: `
			fail
			validity: fail; error not-yet-valid receipt#/validity/not_before`},
		{name: "valid in five minutes", world: publish(`issued: "+300s", not_after: "+30d"`), want: "pass L1"},
		{name: "an empty window", world: publish(`issued: "+4m", not_after: "+4m"`), want: `
			fail
			validity: fail; error window-empty receipt#/validity/not_after`},
		{name: "a window that ends before it begins", world: publish(`issued: "+4m", not_after: "+3m"`), want: `
			fail
			validity: fail; error window-empty receipt#/validity/not_after`},
		{name: "a window of a second", world: publish(`issued: "+3m", not_after: "+181s"`), want: "pass L1"},
		{name: "no dates", world: withReceipt("delete: [/validity]"), want: `
			fail
			validity: fail; error validity-missing receipt#/validity/not_before;
			error validity-missing receipt#/validity/not_after`},
		{name: "no first date", world: withReceipt("delete: [/validity/not_before]"), want: `
			fail
			validity: fail; error validity-missing receipt#/validity/not_before`},
		{name: "no last date", world: withReceipt("delete: [/validity/not_after]"), want: `
			fail
			validity: fail; error validity-missing receipt#/validity/not_after`},
		{name: "a last date beyond the year 9999, which no report can hold",
			world: withReceipt(`set: {/validity/not_after: "9999-12-31T23:59:59-00:01"}`), want: `
			fail
			validity: fail; error validity-missing receipt#/validity/not_after`},
		{name: "a window of ninety days", world: publish(`issued: "-10d", not_after: "+80d"`), want: "pass L1"},
		{name: "a longer window", world: publish(`issued: "-10d", not_after: "+1920h1s"`), want: `
			pass L1
			validity: warn; warning window-too-long receipt#/validity/not_after`},
		{name: "a window of ninety days and less than a millisecond",
			world: publish(`issued: "-10d", receipt: {set: {/validity/not_after: "2026-08-20T12:00:00.000999Z"}}`),
			want:  "pass L1"},
		{name: "another DID", world: withManifest(`set: {/tool/did: "did:web:other.example"}`), want: `
			fail
			manifest: warn; warning publisher-differs manifest#/tool/publisher/did
			identity: fail; error receipt-did-differs receipt#/implementation/did`},
		{name: "a thief shows another's Receipt",
			world: nova + web("edit: "+manifestURL, `to: "https://thief.example/.well-known/oap-tool.json"`),
			text:  "https://thief.example", want: `
			fail
			identity: fail; error manifest-host manifest#`},
		{name: "the target is in the domain of the DID",
			world: nova + web("edit: "+manifestURL, `to: "https://api.nova.example/.well-known/oap-tool.json"`),
			text:  "https://api.nova.example", want: "pass L1"},
		{name: "a target that was tested elsewhere",
			world: withReceipt(`set: {/target/uri: "https://staging.elsewhere.example"}`), want: `
			pass L1
			identity: warn; warning target-differs receipt#/target/uri`},
		{name: "a did:key", world: publish("did: key"), want: `
			pass L1
			manifest: warn; warning publisher-differs manifest#/tool/publisher/did`},
		{name: "a did:key that was tested elsewhere",
			world: publish(`did: key, receipt: {set: {/target/uri: "https://elsewhere.example"}}`), want: `
			fail
			manifest: warn; warning publisher-differs manifest#/tool/publisher/did
			identity: fail; error manifest-host manifest#`},
		{name: "signed by another key", world: publish("signing_key: other"), want: `
			fail
			signature: fail; error signature-not-verified receipt#/signatures`},
		{name: "a placeholder",
			world: publish(`signed: {set: {/signatures/-: {by: "did:web:else.example#k", alg: EdDSA,
                value: " placeholder:x"}}}`),
			want: `
			fail
			signature: fail; error placeholder receipt#/signatures`},
		{name: "no DID Document", world: nova + gone(documentURL), want: `
			fail
			signature: fail; error http-status did-document#`},
		{name: "the DID Document cannot be fetched now", world: nova + down(documentURL), want: `
			inconclusive
			signature: inconclusive; inconclusive http-status did-document#`},
		{name: "the DID Document of another", world: publish(`did_document: {set: {/id: "did:web:other.example"}}`),
			want: `
			fail
			signature: fail; error did-id-differs did-document#`},
		{name: "changed after it was signed", world: publish("tamper: {set: {/odd: 1}}"), want: `
			fail
			signature: fail; error signature-not-verified receipt#/signatures`},
		{name: "the DID was changed after it was signed, and the Manifest names it",
			world: publish(`tamper: {set: {/implementation/did: "did:web:NOVA.example"}}`), want: `
			fail
			signature: fail; error signature-not-verified receipt#/signatures`,
			says: []string{"implementation.did.*did:web:nova.example"}},
		{name: "the DID Document and the Receipt are bad", world: publish("signing_key: other") + gone(documentURL),
			want: `
			fail
			signature: fail; error http-status did-document#`},
		{name: "the Receipt names no DID, as the Manifest",
			world: publish("receipt: {delete: [/implementation/did]}, manifest: {delete: [/tool/did]}"), want: `
			fail
			manifest: fail; error did-syntax manifest#/tool/did
			schema: fail; error receipt-schema receipt#/implementation
			identity: skip, see manifest
			signature: skip, see schema`},
		{name: "the Receipt names no DID", world: withReceipt("delete: [/implementation/did]"), want: `
			fail
			schema: fail; error receipt-schema receipt#/implementation
			identity: fail; error receipt-did-differs receipt#/implementation/did`},
		{name: "a level that does not exist", world: withReceipt(`set: {/claimed_levels: ["L1", "L2-NC"]}`), want: `
			fail
			claims: fail; error no-such-level receipt#/claimed_levels`},
		{name: "twenty levels that do not exist", world: withReceipt("set: {/claimed_levels: [" + levels(20) + "]}"),
			want: `
			fail
			schema: fail; ` + violations("0 1 10 11 12 13 14 15 16 17 18 19 2 3 4 5 6 7 8") + `
			error receipt-schema receipt#/claimed_levels/9
			claims: fail; 20 times error no-such-level receipt#/claimed_levels`},
		{name: "more levels that do not exist than are named",
			world: withReceipt("set: {/claimed_levels: [" + levels(21) + "]}"), want: `
			fail
			schema: fail; ` + violations("0 1 10 11 12 13 14 15 16 17 18 19 2 20 3 4 5 6 7 8") + `
			error receipt-schema receipt#
			claims: fail; 20 times error no-such-level receipt#/claimed_levels`},
		{name: "no level", world: withReceipt("set: {/claimed_levels: []}"), want: `
			fail
			schema: fail; error receipt-schema receipt#/claimed_levels
			claims: skip, see schema`},
		{name: "no member with levels", world: withReceipt("delete: [/claimed_levels]"), want: `
			fail
			schema: fail; error receipt-schema receipt#
			claims: skip, see schema`},
		{name: "no level, and a failed test",
			world: withReceipt("set: {/claimed_levels: [], /results_summary/failed: 1}"), want: `
			fail
			schema: fail; error receipt-schema receipt#/claimed_levels
			claims: fail; error tests-failed receipt#/results_summary/failed;
			error results-incoherent receipt#/results_summary/total`},
		{name: "non-commercial", world: publish("level: L1-NC"), want: "pass L1-NC"},
		{name: "non-commercial without its profile",
			world: publish("level: L1-NC, receipt: {set: {/profile: standard}, delete: [/revenue]}"), want: `
			fail
			claims: fail; error profile receipt#/profile;
			error revenue-source receipt#/revenue/source`},
		{name: "a test failed", world: withReceipt("set: {/results_summary/failed: 1}"), want: `
			fail
			claims: fail; error tests-failed receipt#/results_summary/failed;
			error results-incoherent receipt#/results_summary/total`},
		{name: "no test passed", world: withReceipt("set: {/results_summary/passed: 0}"), want: `
			fail
			claims: fail; error no-tests-passed receipt#/results_summary/passed;
			error results-incoherent receipt#/results_summary/total`},
		{name: "results that do not add up", world: withReceipt("set: {/results_summary/total: 41}"), want: `
			fail
			claims: fail; error results-incoherent receipt#/results_summary/total`},
		{name: "skipped tests", world: withReceipt("set: {/results_summary: {total: 15, passed: 12, failed: 0}}"),
			want: `
			pass L1
			claims: warn; warning tests-skipped receipt#/results_summary`},
		{name: "results that are not numbers", world: withReceipt(`set: {/results_summary/total: many}`), want: `
			fail
			schema: fail; error receipt-schema receipt#/results_summary/total`,
			says: []string{`"reason":"claims L1"`}},
		{name: "several levels", world: withReceipt("set: {/claimed_levels: [L1, W2, C3]}"), want: "pass L1 W2 C3"},
		{name: "one level is asked for", world: withReceipt("set: {/claimed_levels: [L1, W2, C3]}"),
			with: func(f *bundle.VerifyFlags) { f.Level = "W2" }, want: "pass L1 W2 C3"},
		{name: "a level is asked for that is not claimed", world: withReceipt("set: {/claimed_levels: [L1, W2, C3]}"),
			with: func(f *bundle.VerifyFlags) { f.Level = "L2" }, want: "fail L1 W2 C3"},
		{name: "a level is asked for and the Receipt cannot be fetched now", world: nova + down(receiptURL),
			with: func(f *bundle.VerifyFlags) { f.Level = "L1" }, want: `
			inconclusive
			receipt-fetch: inconclusive; inconclusive http-status receipt#
			schema..claims: skip, see receipt-fetch
			peer-witnesses..external-audit: skip, see receipt-fetch`},
		{name: "a level is asked for and the DID Document cannot be fetched now", world: nova + down(documentURL),
			with: func(f *bundle.VerifyFlags) { f.Level = "L1" }, want: `
			inconclusive
			signature: inconclusive; inconclusive http-status did-document#`},
		{name: "neither a clone nor --without-registry", with: func(f *bundle.VerifyFlags) { f.Without = false },
			want: `
			inconclusive
			revocation: inconclusive; inconclusive no-registry
			registry-anchor: inconclusive; inconclusive no-registry`},
		{name: "L4 without a clone", world: publish("level: L4, receipt: {set: {/claimed_levels: [L1, L4]}}"),
			want: `
			fail L1
			peer-witnesses: fail; error too-few-witnesses receipt#/peer_witnesses
			registry-anchor: inconclusive; inconclusive no-registry`},
		{name: "L4 with a witness without a clone",
			world: `base: [{listing: ada, level: L4, witness: [bob]}, {listing: bob, level: L4, witness: [ada]},
                {publish: nova, level: L4, receipt: {set: {/claimed_levels: [L1, L4]}}, witness: [ada]}]`,
			want: `
			inconclusive L1
			peer-witnesses: inconclusive; inconclusive no-registry
			registry-anchor: inconclusive; inconclusive no-registry`},
		{name: "L4 with a witness without a clone, and L1 is asked for",
			world: `base: [{listing: ada, level: L4, witness: [bob]}, {listing: bob, level: L4, witness: [ada]},
                {publish: nova, level: L4, receipt: {set: {/claimed_levels: [L1, L4]}}, witness: [ada]}]`,
			with: func(f *bundle.VerifyFlags) { f.Level = "L1" }, want: `
			pass L1
			peer-witnesses: inconclusive; inconclusive no-registry
			registry-anchor: inconclusive; inconclusive no-registry`},
		{name: "L4 with a witness without a clone, and L4 is asked for",
			world: `base: [{listing: ada, level: L4, witness: [bob]}, {listing: bob, level: L4, witness: [ada]},
                {publish: nova, level: L4, receipt: {set: {/claimed_levels: [L1, L4]}}, witness: [ada]}]`,
			with: func(f *bundle.VerifyFlags) { f.Level = "L4" }, want: `
			inconclusive L1
			peer-witnesses: inconclusive; inconclusive no-registry
			registry-anchor: inconclusive; inconclusive no-registry`},
		{name: "L5 without a clone", world: publish("level: L5"), want: `
			fail
			peer-witnesses: fail; error too-few-witnesses receipt#/peer_witnesses
			external-audit: pass; notice audit-declared receipt#/external_audit
			registry-anchor: inconclusive; inconclusive no-registry`},
		{name: "L5 without an audit and a clone", world: publish("level: L5, receipt: {delete: [/external_audit]}"),
			want: `
			fail
			peer-witnesses: fail; error too-few-witnesses receipt#/peer_witnesses
			external-audit: fail; error audit-missing receipt#/external_audit
			registry-anchor: inconclusive; inconclusive no-registry`},
		{name: "L4 and L5 without an audit and a clone",
			world: publish("level: L5, receipt: {set: {/claimed_levels: [L4, L5]}, delete: [/external_audit]}"),
			want: `
			fail
			peer-witnesses: fail; 2 times error too-few-witnesses receipt#/peer_witnesses
			external-audit: fail; error audit-missing receipt#/external_audit
			registry-anchor: inconclusive; inconclusive no-registry`},
		{name: "the DID is in capitals",
			world: publish(`manifest: {set: {/tool/did: "did:web:NOVA.example"}},
                receipt: {set: {/implementation/did: "did:web:NOVA.example"}}`),
			want: "pass L1"},
		{name: "the DID is in capitals and its DID Document is deactivated",
			world: publish(`manifest: {set: {/tool/did: "did:web:NOVA.example"}},
                receipt: {set: {/implementation/did: "did:web:NOVA.example"}},
                did_document: {set: {/deactivated: true}}`),
			want: `
			fail
			signature: fail; error did-deactivated did-document#`},
		{name: "the DID is in capitals, its DID Document is not one, and nobody signed",
			world: publish(`signing_key: other, manifest: {set: {/tool/did: "did:web:NOVA.example"}},
                receipt: {set: {/implementation/did: "did:web:NOVA.example"}}`) +
				web("edit: "+documentURL, `body: "[]"`),
			want: `
			fail
			signature: fail; error did-document-shape did-document#`},
		{name: "the DID in the Receipt is in capitals and the DID Document is not one",
			world: withReceipt(`set: {/implementation/did: "did:web:NOVA.example"}`) + web("edit: "+documentURL, `body: "[]"`),
			want: `
			fail
			signature: fail; error did-document-shape did-document#`},
		{name: "the DID has an underscore and its DID Document is not one",
			world: publish(`manifest: {set: {/tool/did: "did:web:no_va.example"}},
                receipt: {set: {/implementation/did: "did:web:no_va.example",
                /target/uri: "https://nova.example"}}`) +
				web("edit: "+documentURL, `to: "https://no_va.example/.well-known/did.json", body: "[]"`),
			want: `
			fail
			manifest: warn; warning publisher-differs manifest#/tool/publisher/did
			signature: fail; error did-document-shape did-document#`},
	})
}

// levels returns n levels that do not exist.
func levels(n int) string {
	var all []string
	for i := range n {
		all = append(all, fmt.Sprintf("X%d", i))
	}
	return strings.Join(all, ", ")
}

// violations returns the findings about some of the levels.
func violations(of string) string {
	const one = "error receipt-schema receipt#/claimed_levels/"
	return one + strings.Join(strings.Fields(of), ";\n"+one) + ";"
}
