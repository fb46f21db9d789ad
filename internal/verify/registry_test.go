package verify

import (
	"fmt"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
)

const (
	listed = `base: [{listing: nova}, {listing: ada}, {commit: List}]
main:
  - {commit: Begin}`
	revoked = `base: [{listing: nova}, {listing: ada}, {commit: List}, {revoke: nova}, {commit: Revoke}]
main:
  - {commit: Begin}`
	circle = `base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: cy, level: L4, witness: [ada]}
main: `
)

// A witness is revoked wherever the history has its revocation, and a listing that no revocation can name, or that is
// not valid yet, anchors nothing and makes nobody a witness.
func TestOutOfPlace(t *testing.T) {
	t.Parallel()
	const passes = `
			pass L4
			peer-witnesses: pass`
	const unwitnessed = `
			fail
			peer-witnesses: fail; error too-few-witnesses receipt#/peer_witnesses;
			warning CODE receipt#/peer_witnesses`
	const unanchored = `
			fail
			peer-witnesses: pass
			registry-anchor: fail; error not-anchored receipt#`
	const undecided = `
			inconclusive
			peer-witnesses: inconclusive; inconclusive witness-open receipt#/peer_witnesses;
			warning witness-open receipt#/peer_witnesses`
	forCause := strings.NewReplacer("too-few-witnesses", "witness-revoked", "CODE", "witness-revoked").
		Replace(unwitnessed)
	keyGone := strings.Replace(undecided, "warning witness-open", "warning witness-key-gone", 1)
	without := func(code string) string { return strings.Replace(unwitnessed, "CODE", code, 1) }
	var all []target
	for _, c := range []struct{ name, then, want string }{
		{"another is revoked, under another name", "{revoke: cy, path: revocations/a.json}", passes},
		{"the witness is revoked, and renewed",
			`{revoke: ada}, {commit: Revoke}, {reissue: ada, issued: "-1h"}`, passes},
		{"the witness is revoked under another name",
			"{revoke: ada, path: revocations/a.json, reason: key_compromise}", forCause},
		{"the witness is revoked in a directory below",
			"{revoke: ada, path: revocations/a/b.json, reason: failed_verification}", forCause},
		{"the witness's revocation was removed",
			"{revoke: ada, reason: key_compromise}, {commit: Revoke}, {remove: revocations}", forCause},
		{"the witness is superseded", "{revoke: ada}", passes},
		{"the witness withdrew", "{revoke: ada, reason: voluntary_withdrawal}", passes},
		{"a refused file pins the Receipt after the witness withdrew", "{revoke: ada, reason: voluntary_withdrawal}, " +
			`{commit: Revoke}, {write: implementations/aa.json, text: '{"slug": "x", "tool_did": ` +
			`"did:web:nova.example", "conformance_receipt_sha256": "$pin(nova)", "conformance_level": "L4"}'}`, passes},
		{"the witness is revoked for cause, and superseded",
			"{revoke: ada, reason: key_compromise, path: revocations/a.json}, {commit: Revoke}, {revoke: ada}",
			forCause},
		{"the witness renewed with another key", `{reissue: ada, key: ada-2, issued: "-1h"}`, keyGone},
		{"a file that may revoke the witness cannot be read",
			`{write: revocations/a/ada-` + strings.Repeat("1", 64) + `.json, text: "{"}`, undecided},
		{"the witness is revoked, and such a file cannot be read",
			`{revoke: ada}, {write: revocations/a/ada-` + strings.Repeat("1", 64) + `.json, text: "{"}`, undecided},
		{"a file that may revoke another witness cannot be read",
			`{write: revocations/a/bob-` + strings.Repeat("1", 64) + `.json, text: "{"}`, passes},
		{"the witness's revocation was one by its name alone, and removed",
			`{write: "revocations/ada-$pin(ada).json", text: "{}"}, {commit: Revoke}, {remove: revocations}`, forCause},
		{"the witness's listing has another name",
			"{move: [implementations/ada.json, implementations/a.json]}", without("witness-not-listed")},
		{"the witness's listing is in a directory below",
			"{move: [implementations/ada.json, implementations/a/ada.json]}", without("witness-not-listed")},
		{"the witness's slug has the directory too",
			"{move: [implementations/ada.json, implementations/a/ada.json]}, " +
				"{edit: implementations/a/ada.json, set: {/slug: a/ada}}", without("witness-not-listed")},
		{"the witness's listing is valid in five minutes",
			`{edit: implementations/ada.json, set: {/issued_at: "2026-06-01T12:05:00Z"}}`, passes},
		{"the witness's listing is valid a second later",
			`{edit: implementations/ada.json, set: {/issued_at: "2026-06-01T12:05:01Z"}}`, passes},
		{"the witness's listing has an issued_at that cannot be read",
			`{edit: implementations/ada.json, set: {/issued_at: "2026-05-01"}}`, passes},
		{"the listing moved, with its slug", "{move: [implementations/nova.json, implementations/nov.json]}, " +
			"{edit: implementations/nov.json, set: {/slug: nov}}", passes},
		{"the listing has another name", "{move: [implementations/nova.json, implementations/nov.json]}", unanchored},
		{"the listing is not a JSON file", "{move: [implementations/nova.json, implementations/nova.txt]}", unanchored},
		{"the listing's slug has a directory", "{move: [implementations/nova.json, implementations/a/nova.json]}, " +
			"{edit: implementations/a/nova.json, set: {/slug: a/nova}}", unanchored},
		{"the listing has no slug", "{edit: implementations/nova.json, delete: [/slug]}", unanchored},
		{"the listing is valid in five minutes",
			`{edit: implementations/nova.json, set: {/issued_at: "2026-06-01T12:05:00Z"}}`, passes},
		{"the listing is valid a second later",
			`{edit: implementations/nova.json, set: {/issued_at: "2026-06-01T12:05:01Z"}}`, unanchored},
		{"the listing has an issued_at that cannot be read",
			`{edit: implementations/nova.json, set: {/issued_at: "2026-05-01"}}`, unanchored},
	} {
		all = append(all, target{name: c.name, clone: "main", want: c.want, world: circle +
			"[{listing: nova, level: L4, witness: [ada]}, {commit: List}, " + c.then + ", {commit: Change}]"})
	}
	all = append(all, target{name: "the witness has another key", clone: "main", want: keyGone, world: circle +
		"[{listing: nova, level: L4, witness: [ada]}, {commit: List}]" +
		web(`edit: "https://ada.example/.well-known/did.json"`,
			`set: {/verificationMethod/0/publicKeyJwk/x: "$jwk(ada-2)"}`)})
	runTargets(t, all)
}

// unreadable returns steps of a world that add n revocations that cannot be read.
func unreadable(n int) (steps string) {
	for i := range n {
		steps += fmt.Sprintf("\n  - {write: revocations/odd%02d.json, text: '{'}", i)
	}
	return steps + "\n  - {commit: Break}"
}

// A clone shows revocations, witnesses, the listing and how old it is.
func TestRegistry(t *testing.T) {
	t.Parallel()
	runTargets(t, []target{
		{name: "listed", world: listed, clone: "main", want: "pass L1"},
		{name: "the slug is the target", world: listed, text: "nova", clone: "main", want: "pass L1"},
		{name: "the slug is the target and the bytes are others",
			world: listed + web("edit: "+receiptURL, `replace: {"{": "{ "}`), text: "nova", clone: "main", want: `
			fail
			receipt-fetch: fail; error receipt-hash-mismatch receipt#
			schema..registry-anchor: skip, see receipt-fetch`},
		{name: "the served bytes are not the pinned ones",
			world: listed + web("edit: "+receiptURL, `replace: {"{": "{ "}`), clone: "main", want: `
			pass L1
			registry-anchor: warn; warning not-anchored receipt#`},
		{name: "the Manifest names another Receipt than the listing",
			world: `base: [{listing: nova,
                manifest: {set: {/conformance/receipt_uri: "https://nova.example/older.json"}}}]`,
			text: "nova", clone: "main", want: `
			pass L1
			receipt-discovery: warn; warning manifest-receipt-differs manifest#/conformance/receipt_uri`},
		{name: "not listed", world: "base: [{publish: nova}, {listing: ada}]", clone: "main", want: `
			pass L1
			registry-anchor: warn; warning not-anchored receipt#`},
		{name: "provisional", world: "base: [{commit: One}, {listing: nova, provisional: true}]", clone: "main",
			want: `
			pass L1
			registry-anchor: warn; warning provisional receipt#;
			notice anchored receipt#`},
		{name: "provisional for thirty days",
			world: `base: [{at: "-31d"}, {commit: One}, {listing: nova, provisional: true}]`, clone: "main", want: `
			pass L1
			revocation: warn; warning clone-old`},
		{name: "a commit before the listing", world: "base: [{commit: One}, {listing: nova}]", clone: "main~1",
			want: `
			pass L1
			registry-anchor: warn; warning not-anchored receipt#`},
		{name: "revoked", world: revoked, clone: "main", want: `
			fail
			revocation: fail; error revoked receipt#`, says: []string{`"code":"revoked"[^}]*"commit":"[0-9a-f]{40}"`}},
		{name: "revoked, and in other bytes", world: revoked + web("edit: "+receiptURL, `replace: {"{": "{ "}`),
			clone: "main", want: `
			fail
			revocation: fail; error revoked receipt#
			registry-anchor: warn; warning not-anchored receipt#`},
		{name: "revoked, and signed anew since", world: revoked + `
pr: [{reissue: nova, issued: "-1h"}]`, clone: "main", want: `
			pass L1
			registry-anchor: warn; warning not-anchored receipt#`},
		{name: "a later one is revoked",
			world: `base: [{listing: nova, issued: "-12d"}, {commit: List}, {revoke: nova}]
pr: [{reissue: nova, issued: "-20d"}]`, clone: "main", want: `
			fail
			revocation: fail; error revoked receipt#
			registry-anchor: warn; warning not-anchored receipt#`},
		{name: "that of another is revoked", world: revoked, text: "https://ada.example", clone: "main",
			want: "pass L1"},
		{name: "revoked, and the listing is gone", world: revoked + `
  - {remove: implementations/nova.json}
  - {commit: Remove the listing}`, clone: "main", want: `
			fail
			revocation: fail; error revoked receipt#
			registry-anchor: warn; warning not-anchored receipt#`},
		{name: "revoked, the listing is gone, and in other bytes", world: revoked + `
  - {remove: implementations/nova.json}
  - {commit: Remove the listing}` + web("edit: "+receiptURL, `replace: {"{": "{ "}`), clone: "main", want: `
			fail
			revocation: fail; error revoked receipt#
			registry-anchor: warn; warning not-anchored receipt#`},
		{name: "revoked, the listing is gone, and signed anew since", world: revoked + `
  - {reissue: nova, issued: "-1h"}
  - {remove: implementations/nova.json}
  - {commit: Remove the listing}`, clone: "main", want: `
			pass L1
			registry-anchor: warn; warning not-anchored receipt#`,
			says: []string{"no revocation in force names it"}},
		{name: "revoked, and the listing is broken", world: revoked + `
  - {write: implementations/nova.json, text: "{"}
  - {commit: Break}`, clone: "main", want: `
			fail
			revocation: fail; error revoked receipt#
			registry-anchor: warn; warning not-anchored receipt#`},
		{name: "the listing is gone", world: listed + `
  - {remove: implementations/nova.json}
  - {commit: Remove the listing}`, clone: "main", want: `
			pass L1
			registry-anchor: warn; warning not-anchored receipt#`},
		{name: "the listing is broken", world: listed + `
  - {write: implementations/nova.json, text: "{"}
  - {commit: Break}`, clone: "main", want: `
			inconclusive
			revocation: inconclusive; inconclusive clone-unreadable
			registry-anchor: warn; warning not-anchored receipt#`},
		{name: "the listing of another is broken", world: listed + `
  - {write: implementations/nova.json, text: "{"}
  - {commit: Break}`, text: "https://ada.example", clone: "main",
			want: "pass L1"},
		{name: "a misnamed revocation", world: revoked + `
  - {move: ["revocations/nova-$pin(nova).json", revocations/x.json]}
  - {commit: Rename}`, clone: "main", want: `
			fail
			revocation: fail; error revoked receipt#;
			warning misplaced-revocation`},
		{name: "a misnamed revocation of another", world: revoked + `
  - {move: ["revocations/nova-$pin(nova).json", revocations/x.json]}
  - {commit: Rename}`, text: "https://ada.example", clone: "main",
			want: "pass L1"},
		{name: "a revocation that was removed", world: revoked + `
  - {remove: "revocations/nova-$pin(nova).json"}
  - {commit: Remove}`, clone: "main", want: `
			fail
			revocation: fail; error revoked receipt#;
			warning revocation-removed`},
		{name: "a revocation that was removed, and signed anew since", world: revoked + `
  - {remove: "revocations/nova-$pin(nova).json"}
  - {commit: Remove}
pr: [{reissue: nova, issued: "-1h"}]`, clone: "main", want: `
			pass L1
			revocation: warn; warning revocation-removed
			registry-anchor: warn; warning not-anchored receipt#`,
			says: []string{`"code":"revocation-removed"[^}]*"commit":"[0-9a-f]{40}"`}},
		{name: "a revocation that was moved and edited", world: revoked + `
  - {edit: "revocations/nova-$pin(nova).json", set: {/revoked_receipt_sha256: $pin(ada)}}
  - {move: ["revocations/nova-$pin(nova).json", revocations/y.json]}
  - {commit: Edit}`, clone: "main", want: `
			fail
			revocation: fail; error revoked receipt#;
			warning misplaced-revocation;
			warning revocation-removed`},
		{name: "a revocation that cannot be read", world: listed + `
  - {write: revocations/odd.json, text: "{"}
  - {commit: Break}`, clone: "main", want: `
			inconclusive
			revocation: inconclusive; inconclusive clone-unreadable`},
		{name: "a revocation of another that cannot be read", world: listed + `
  - {write: "revocations/ada-1111111111111111111111111111111111111111111111111111111111111111.json", text: "{"}
  - {commit: Break}`, clone: "main", want: "pass L1"},
		{name: "a revocation that cannot be read, in an old clone", world: listed + `
  - {write: revocations/odd.json, text: "{"}
  - {commit: Break}`, clone: "main", with: func(f *bundle.VerifyFlags) { f.MaxAge = 60 }, want: `
			inconclusive
			revocation: inconclusive; inconclusive clone-unreadable
			registry-anchor: inconclusive; inconclusive clone-old`},
		{name: "twenty revocations that cannot be read", world: listed + unreadable(20), clone: "main", want: `
			inconclusive
			revocation: inconclusive; 20 times inconclusive clone-unreadable`},
		{name: "more revocations that cannot be read than are named", world: listed + unreadable(21), clone: "main", want: `
			inconclusive
			revocation: inconclusive; 20 times inconclusive clone-unreadable`},
		{name: "signed after the revoked one, before its commit",
			world: `base: [{listing: nova, issued: "-12d"}, {commit: List}, {revoke: nova}, {commit: Revoke}]
pr: [{reissue: nova, issued: "-11d"}]`, clone: "main", want: `
			inconclusive
			revocation: inconclusive; inconclusive revocation-unclear receipt#/validity/not_before
			registry-anchor: warn; warning not-anchored receipt#`,
			says: []string{`"step":"revocation","ok":false,"verdict":"inconclusive","cite":"[^"]*","error"`,
				`"code":"revocation-unclear"[^}]*"commit":"[0-9a-f]{40}"`,
				`that commit [0-9a-f]{12} pinned at 2026-05-22T12:00:00Z`}},
		{name: "signed after the revoked one, and the head pins it",
			world: `base: [{listing: nova, issued: "-12d"}, {commit: List}, {revoke: nova}, {commit: Revoke}]
pr: [{reissue: nova, issued: "-11d"}]`, clone: "pr", want: "pass L1"},
		{name: "signed after the revoked one, whose revocation was removed",
			world: `base: [{listing: nova, issued: "-12d"}, {commit: List}, {revoke: nova}, {commit: Revoke}]
main:
  - {remove: "revocations/nova-$pin(nova).json"}
  - {commit: Remove}
pr: [{reissue: nova, issued: "-11d"}]`, clone: "main", want: `
			inconclusive
			revocation: inconclusive; inconclusive revocation-unclear receipt#/validity/not_before;
			warning revocation-removed
			registry-anchor: warn; warning not-anchored receipt#`},
		{name: "L4",
			world: circle + `[{listing: nova, level: L4, receipt: {set: {/claimed_levels: [L1, L4]}}, witness: [ada]}]`,
			clone: "main", want: `
			pass L1 L4
			peer-witnesses: pass`},
		{name: "L4 is asked for",
			world: circle + `[{listing: nova, level: L4, receipt: {set: {/claimed_levels: [L1, L4]}}, witness: [ada]}]`,
			clone: "main", with: func(f *bundle.VerifyFlags) { f.Level = "L4" }, want: `
			pass L1 L4
			peer-witnesses: pass`},
		{name: "L4 without a witness",
			world: circle + "[{listing: nova, level: L4, receipt: {set: {/claimed_levels: [L1, L4]}}}]", clone: "main",
			want: `
			fail L1
			peer-witnesses: fail; error too-few-witnesses receipt#/peer_witnesses`},
		{name: "L4 without a witness, and L1 is asked for",
			world: circle + "[{listing: nova, level: L4, receipt: {set: {/claimed_levels: [L1, L4]}}}]", clone: "main",
			with: func(f *bundle.VerifyFlags) { f.Level = "L1" }, want: `
			pass L1
			peer-witnesses: fail; error too-few-witnesses receipt#/peer_witnesses`},
		{name: "L4 without a witness, and L4 is asked for",
			world: circle + "[{listing: nova, level: L4, receipt: {set: {/claimed_levels: [L1, L4]}}}]", clone: "main",
			with: func(f *bundle.VerifyFlags) { f.Level = "L4" }, want: `
			fail L1
			peer-witnesses: fail; error too-few-witnesses receipt#/peer_witnesses`},
		{name: "L4 by a stranger",
			world: circle + "[{publish: eve, level: L4}, {listing: nova, level: L4, witness: [eve]}]", clone: "main",
			want: `
			fail
			peer-witnesses: fail; error too-few-witnesses receipt#/peer_witnesses;
			warning witness-not-listed receipt#/peer_witnesses`},
		{name: "L4 by itself", world: circle + "[{listing: nova, level: L4, witness: [nova]}]", clone: "main", want: `
			fail
			peer-witnesses: fail; error too-few-witnesses receipt#/peer_witnesses;
			warning witness-is-candidate receipt#/peer_witnesses`},
		{name: "L4 by a witness whose documents cannot be fetched now",
			world: circle + `[{listing: nova, level: L4, receipt: {set: {/claimed_levels: [L1, L4]}},
                witness: [ada]}]` + down(`"https://ada.example/.well-known/did.json"`),
			clone: "main", want: `
			inconclusive L1
			peer-witnesses: inconclusive; inconclusive witness-open receipt#/peer_witnesses;
			warning witness-evidence receipt#/peer_witnesses`},
		{name: "L4, and its own DID Document is gone",
			world: circle + "[{listing: nova, level: L4, witness: [ada]}]" + gone(documentURL), clone: "main", want: `
			fail
			signature: fail; error http-status did-document#
			peer-witnesses: skip, see signature`},
		{name: "L4 that is not listed",
			world: circle + `[{publish: nova, level: L4, receipt: {set: {/claimed_levels: [L1, L4]}}, witness: [ada]}]`,
			clone: "main", want: `
			fail L1
			peer-witnesses: pass
			registry-anchor: fail; error not-anchored receipt#;
			warning not-anchored receipt#`},
		{name: "L4 that is listed at L1",
			world: circle + `[{listing: nova, level: L4, receipt: {set: {/claimed_levels: [L1, L4]}}, witness: [ada],
                set: {/conformance_level: L1}}]`,
			clone: "main", want: `
			fail L1
			peer-witnesses: pass
			registry-anchor: fail; error not-anchored receipt#;
			notice anchored receipt#`},
		{name: "L4 that is listed as provisional",
			world: circle + `[{listing: nova, level: L4, receipt: {set: {/claimed_levels: [L1, L4]}}, witness: [ada],
                provisional: true}]`,
			clone: "main", want: `
			fail L1
			peer-witnesses: pass
			registry-anchor: fail; error not-anchored receipt#;
			warning provisional receipt#;
			notice anchored receipt#`},
		{name: "L4 whose listing expired",
			world: circle + `[{listing: nova, level: L4, witness: [ada], set: {/expires_at: "2026-06-01T12:00:00Z"}}]`,
			clone: "main", want: `
			fail
			peer-witnesses: pass
			registry-anchor: fail; error not-anchored receipt#`},
		{name: "L4 whose listing expires in a second",
			world: circle + `[{listing: nova, level: L4, witness: [ada], set: {/expires_at: "2026-06-01T12:00:01Z"}}]`,
			clone: "main", want: `
			pass L4
			peer-witnesses: pass`},
		{name: "L1 whose listing expired",
			world: `base: [{listing: nova, set: {/expires_at: "2026-06-01T12:00:00Z"}}]`, clone: "main", want: `
			pass L1
			registry-anchor: warn; warning not-anchored receipt#`},
		{name: "L2 and L1, listed at L1",
			world: "base: [{listing: nova, receipt: {set: {/claimed_levels: [L1, L2]}}}]", clone: "main", want: `
			pass L1 L2
			registry-anchor: warn; warning not-anchored receipt#;
			notice anchored receipt#`},
		{name: "L3 and L2, listed at L1",
			world: "base: [{listing: nova, receipt: {set: {/claimed_levels: [L3, L2]}}}]", clone: "main", want: `
			pass L3 L2
			registry-anchor: warn; 2 times warning not-anchored receipt#`},
		{name: "L4 and L5, not listed",
			world: circle + `[{publish: nova, level: L5, receipt: {set: {/claimed_levels: [L4, L5]}}, witness: [ada,
                bob, cy]}]`,
			clone: "main", want: `
			fail
			peer-witnesses: pass
			external-audit: pass; notice audit-declared receipt#/external_audit
			registry-anchor: fail; error not-anchored receipt#`},
		{name: "L4 in an old clone",
			world: circle + `[{listing: nova, level: L4, receipt: {set: {/claimed_levels: [L1, L4]}}, witness: [ada]}]`,
			clone: "main", with: func(f *bundle.VerifyFlags) { f.MaxAge = 60 }, want: `
			inconclusive
			revocation..peer-witnesses: inconclusive; inconclusive clone-old
			registry-anchor: inconclusive; inconclusive clone-old`},
		{name: "L5", world: circle + "[{listing: nova, level: L5, witness: [ada, bob, cy]}]", clone: "main", want: `
			pass L5
			peer-witnesses: pass
			external-audit: pass; notice audit-declared receipt#/external_audit`},
		{name: "L5 with two witnesses", world: circle + "[{listing: nova, level: L5, witness: [ada, bob]}]",
			clone: "main", want: `
			fail
			peer-witnesses: fail; error too-few-witnesses receipt#/peer_witnesses
			external-audit: pass; notice audit-declared receipt#/external_audit`},
		{name: "L5 without an audit",
			world: circle + `[{listing: nova, level: L5, witness: [ada, bob, cy],
                receipt: {delete: [/external_audit]}}]`,
			clone: "main", want: `
			fail
			peer-witnesses: pass
			external-audit: fail; error audit-missing receipt#/external_audit`},
		{name: "L4 and L5 without an audit",
			world: circle + `[{listing: nova, level: L5, witness: [ada, bob, cy],
                receipt: {set: {/claimed_levels: [L1, L4, L5]}, delete: [/external_audit]}}]`,
			clone: "main", want: `
			fail L1 L4
			peer-witnesses: pass
			external-audit: fail; error audit-missing receipt#/external_audit`},
		{name: "L5 and L4 with one witness",
			world: circle + `[{listing: nova, level: L5, witness: [ada], receipt: {set: {/claimed_levels: [L5, L4]}}}]`,
			clone: "main", want: `
			fail L4
			peer-witnesses: fail; error too-few-witnesses receipt#/peer_witnesses
			external-audit: pass; notice audit-declared receipt#/external_audit`},
		{name: "L4 and L5 with one witness",
			world: circle + `[{listing: nova, level: L5, witness: [ada], receipt: {set: {/claimed_levels: [L4, L5]}}}]`,
			clone: "main", want: `
			fail L4
			peer-witnesses: fail; error too-few-witnesses receipt#/peer_witnesses
			external-audit: pass; notice audit-declared receipt#/external_audit`},
		{name: "L5, and the Manifest is gone",
			world: circle + "[{listing: nova, level: L5, witness: [ada, bob, cy]}]" + gone(manifestURL), text: "nova",
			clone: "main", want: `
			fail
			manifest: fail; error http-status manifest#
			receipt-discovery: skip, see manifest
			identity: skip, see manifest
			peer-witnesses: skip, see manifest
			external-audit: pass; notice audit-declared receipt#/external_audit`},
		{name: "L5, and the Manifest cannot be fetched now",
			world: circle + "[{listing: nova, level: L5, witness: [ada, bob, cy]}]" + down(manifestURL), text: "nova",
			clone: "main", want: `
			inconclusive
			manifest: inconclusive; inconclusive http-status manifest#
			receipt-discovery: skip, see manifest
			identity: skip, see manifest
			peer-witnesses: skip, see manifest
			external-audit: pass; notice audit-declared receipt#/external_audit`},
		{name: "L4, and the Manifest is gone",
			world: circle + "[{listing: nova, level: L4, witness: [ada]}]" + gone(manifestURL), text: "nova",
			clone: "main", want: `
			fail
			manifest: fail; error http-status manifest#
			receipt-discovery: skip, see manifest
			identity: skip, see manifest
			peer-witnesses: pass`},
		{name: "L4, and the Receipt is gone",
			world: circle + "[{listing: nova, level: L4, witness: [ada]}]" + gone(receiptURL), text: "nova",
			clone: "main", want: `
			fail
			receipt-fetch: fail; error http-status receipt#
			schema..registry-anchor: skip, see receipt-fetch`},
		{name: "unattested, in a clone", world: "base: [{listing: nova, manifest: {delete: [/conformance]}}]",
			clone: "main", want: `
			fail
			receipt-discovery: fail; error unattested manifest#/conformance
			receipt-fetch..registry-anchor: skip, see receipt-discovery`},
		{name: "no level, in a clone", world: publish("receipt: {set: {/claimed_levels: []}}}, {listing: ada"),
			clone: "main", want: `
			fail
			schema: fail; error receipt-schema receipt#/claimed_levels
			claims: skip, see schema
			registry-anchor: skip`},
		{name: "an anchor that the clone does not hold",
			world: `base: [{listing: nova,
                signed: {set: {/registry_anchor: {repo_url: "https://forge.example/registry",
                commit_sha: "c0ffee0000000000000000000000000000000000", file_path: implementations/nova.json}}}}]`,
			clone: "main", want: `
			pass L1
			signature: pass; notice signed-without-anchor receipt#/signatures
			registry-anchor: warn; warning anchor-claim receipt#/registry_anchor/commit_sha;
			notice anchored receipt#`},
		{name: "no level, and an anchor that the clone does not hold",
			world: `base: [{listing: nova, receipt: {set: {/claimed_levels: []}},
                signed: {set: {/registry_anchor: {repo_url: "https://forge.example/registry",
                commit_sha: "c0ffee0000000000000000000000000000000000", file_path: implementations/nova.json}}}}]`,
			clone: "main", want: `
			fail
			schema: fail; error receipt-schema receipt#/claimed_levels
			signature: pass; notice signed-without-anchor receipt#/signatures
			claims: skip, see schema
			registry-anchor: warn; warning anchor-claim receipt#/registry_anchor/commit_sha`},
		{name: "L4, and no document names a DID", clone: "main",
			world: circle + `[{publish: nova, level: L4, witness: [ada], receipt: {delete: [/implementation/did]},
                manifest: {delete: [/tool/did]}}]`, want: `
			fail
			manifest: fail; error did-syntax manifest#/tool/did
			schema: fail; error receipt-schema receipt#/implementation
			identity: skip, see manifest
			signature: skip, see schema
			peer-witnesses: skip, see signature
			registry-anchor: fail; error not-anchored receipt#`},
		{name: "L4 and L5, co-signed as the reference server", clone: "main", world: `
policy: {reference_server: nova, maintainers: [mia, moe]}
base: [{publish: mia}, {publish: moe}, {listing: nova, level: L5, co_signers: [mia, moe],
  receipt: {set: {/claimed_levels: [L4, L5]}}}]`, want: `
			fail L4
			peer-witnesses: fail; error too-few-witnesses receipt#/peer_witnesses
			external-audit: pass; notice audit-declared receipt#/external_audit`},
		{name: "an anchor that names a branch",
			world: `base: [{listing: nova,
                signed: {set: {/registry_anchor: {repo_url: "https://forge.example/registry", commit_sha: main,
                file_path: implementations/nova.json}}}}]`,
			clone: "main", want: `
			fail
			schema: fail; error receipt-schema receipt#/registry_anchor/commit_sha
			signature: pass; notice signed-without-anchor receipt#/signatures
			registry-anchor: warn; warning anchor-claim receipt#/registry_anchor/commit_sha;
			notice anchored receipt#`},
		{name: "the clone is as old as is allowed", world: "base: [{listing: nova}]", clone: "main",
			with: func(f *bundle.VerifyFlags) { f.MaxAge = 864000 }, want: "pass L1"},
		{name: "the clone is a second older", world: "base: [{listing: nova}]", clone: "main",
			with: func(f *bundle.VerifyFlags) { f.MaxAge = 863999 }, want: `
			inconclusive
			revocation: inconclusive; inconclusive clone-old
			registry-anchor: inconclusive; inconclusive clone-old`},
		{name: "revoked, in a clone that is too old", world: revoked, clone: "main",
			with: func(f *bundle.VerifyFlags) { f.MaxAge = 60 }, want: `
			fail
			revocation: fail; error revoked receipt#
			registry-anchor: inconclusive; inconclusive clone-old`},
		{name: "the clone is fourteen days old", world: `base: [{at: "-14d"}, {listing: nova}]`, clone: "main",
			want: "pass L1"},
		{name: "the clone is a second older than fourteen days", world: `base: [{at: "-336h1s"}, {listing: nova}]`,
			clone: "main", want: `
			pass L1
			revocation: warn; warning clone-old`},
		{name: "a clone that is older than fourteen days, as is allowed",
			world: `base: [{at: "-40d"}, {listing: nova}]`, clone: "main",
			with: func(f *bundle.VerifyFlags) { f.MaxAge = 5184000 }, want: "pass L1"},
		{name: "a head of the future", world: `base: [{publish: nova}, {at: "+10d"}, {listing: ada}]`, clone: "main",
			want: `
			pass L1
			revocation: warn; warning clone-old
			registry-anchor: warn; warning not-anchored receipt#`},
		{name: "a head of the future, and an age", world: `base: [{publish: nova}, {at: "+10d"}, {listing: ada}]`,
			clone: "main", with: func(f *bundle.VerifyFlags) { f.MaxAge = 2592000 }, want: `
			inconclusive
			revocation: inconclusive; inconclusive clone-old
			registry-anchor: inconclusive; inconclusive clone-old`},
		{name: "a head five minutes ahead", world: `base: [{publish: nova}, {at: "+5m"}, {listing: ada}]`,
			clone: "main", with: func(f *bundle.VerifyFlags) { f.MaxAge = 60 }, want: `
			pass L1
			registry-anchor: warn; warning not-anchored receipt#`},
		{name: "a head more than five minutes ahead", world: `base: [{publish: nova}, {at: "+301s"}, {listing: ada}]`,
			clone: "main", with: func(f *bundle.VerifyFlags) { f.MaxAge = 60 }, want: `
			inconclusive
			revocation: inconclusive; inconclusive clone-old
			registry-anchor: inconclusive; inconclusive clone-old`},
		{name: "L5 without a publisher",
			world: circle + `[{listing: nova, level: L5, witness: [ada, bob, cy],
                manifest: {delete: [/tool/publisher]}}]`,
			clone: "main", want: `
			fail
			peer-witnesses: fail; error publisher-missing manifest#/tool/publisher
			external-audit: pass; notice audit-declared receipt#/external_audit`},
		{name: "L5, and the Manifest names another DID",
			world: circle + `[{listing: nova, level: L5, witness: [ada, bob, cy],
                manifest: {set: {/tool/did: "did:web:other.example"}}}]`,
			clone: "main", want: `
			fail
			manifest: warn; warning publisher-differs manifest#/tool/publisher/did
			identity: fail; error receipt-did-differs receipt#/implementation/did
			peer-witnesses: skip, see identity
			external-audit: pass; notice audit-declared receipt#/external_audit`},
		{name: "the Manifest names an http URL of the Receipt that is listed",
			world: `base: [{listing: nova,
                manifest: {set: {/conformance/receipt_uri: "http://nova.example/r.json"}}}]`,
			text: "nova", clone: "main", want: `
			fail
			receipt-discovery: fail; error no-receipt-uri manifest#/conformance/receipt_uri`},
	})
}
