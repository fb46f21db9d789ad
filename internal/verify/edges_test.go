package verify

import (
	"cmp"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// What is said of a target at the edges of what a step allows.
func TestEdges(t *testing.T) {
	t.Parallel()
	runTargets(t, []target{
		{name: "a Receipt that will be valid is no longer at its beginning",
			world: publish(`issued: "+1h", not_after: "+1h"`), want: `
			fail
			validity: fail; error not-yet-valid receipt#/validity/not_before`},
		{name: "a Receipt that was valid for no time", world: publish(`issued: "-1h", not_after: "-1h"`), want: `
			fail
			validity: fail; error expired receipt#/validity/not_after`},
		{name: "co-signed as the reference server", clone: "main", world: `
policy: {reference_server: nova, maintainers: [mia, moe]}
base: [{publish: mia}, {publish: moe}, {listing: nova, level: L4, co_signers: [mia, moe]}]`, want: `
			pass L4
			peer-witnesses: pass`},
		{name: "co-signed as the reference server by one of two", clone: "main", world: `
policy: {reference_server: nova, maintainers: [mia, moe]}
base: [{publish: mia}, {publish: moe}, {listing: nova, level: L4, co_signers: [mia]}]`, want: `
			fail
			peer-witnesses: fail; error cosignature-missing receipt#/peer_witnesses`},
		{name: "no place for revocations", world: publish(`manifest: {delete: [/governance/revocation_status_url]}`), want: `
			pass L1
			manifest: warn; warning revocation-endpoint-missing manifest#/governance/revocation_status_url`},
		{name: "a stranger is the publisher", world: publish(`publisher_did: "did:web:other.example"`), want: `
			pass L1
			manifest: warn; warning publisher-differs manifest#/tool/publisher/did`},
		{name: "the company is the publisher", world: publish(`host: agent.nova.example, publisher_did: "did:web:nova.example"`),
			text: "https://agent.nova.example", want: "pass L1"},
		{name: "no publisher", world: publish(`manifest: {delete: [/tool/publisher]}`), want: "pass L1"},
		{name: "no witness at L4", world: publish("level: L4"), want: `
			fail
			peer-witnesses: fail; error too-few-witnesses receipt#/peer_witnesses
			registry-anchor: inconclusive; inconclusive no-registry`, says: []string{`no peer witness; L4 requires one`,
			`"fix":"name a clone with --registry DIR"`}},
		{name: "no witness at L5", world: publish("level: L5"), want: `
			fail
			peer-witnesses: fail; error too-few-witnesses receipt#/peer_witnesses
			external-audit: pass; notice audit-declared receipt#/external_audit
			registry-anchor: inconclusive; inconclusive no-registry`, says: []string{`no peer witness; L5 requires three`}},
		{name: "a DID that is too long", world: withReceipt(`set: {/implementation/did: "did:web:nova.example:` +
			strings.Repeat("a", 2048) + `"}`), want: `
			fail
			identity: fail; error receipt-did-differs receipt#/implementation/did
			signature: fail; error did-syntax did-document#`, says: []string{`"did":"did:web:nova.example:a{100,199}…"`}},
		{name: "levels twice", world: withReceipt("set: {/claimed_levels: [L1, L1, L2]}"), want: "pass L1 L2"},
		{name: "two levels that are not listed", clone: "main",
			world: "base: [{listing: ada}, {publish: nova, receipt: {set: {/claimed_levels: [L1, L2]}}}]", want: `
			pass L1 L2
			registry-anchor: warn; warning not-anchored receipt#`,
			says: []string{`"claimed_levels":\["L1","L2"\]`}},
		{name: "two levels of a provisional listing", clone: "main",
			world: `base: [{commit: One}, {listing: nova, level: L2, provisional: true,
                receipt: {set: {/claimed_levels: [L1, L2]}}}]`, want: `
			pass L1 L2
			registry-anchor: warn; warning provisional receipt#;
			notice anchored receipt#`},
		{name: "two levels that need witnesses", clone: "main", world: circle + `
  - {publish: nova, level: L5, receipt: {set: {/claimed_levels: [L4, L5]}}}`, want: `
			fail
			peer-witnesses: fail; 2 times error too-few-witnesses receipt#/peer_witnesses
			external-audit: pass; notice audit-declared receipt#/external_audit
			registry-anchor: fail; error not-anchored receipt#`},
		{name: "a level of no witnesses and one of witnesses", clone: "main", world: circle + `
  - {publish: nova, level: L4, receipt: {set: {/claimed_levels: [L3, L4]}}}`, want: `
			fail L3
			peer-witnesses: fail; error too-few-witnesses receipt#/peer_witnesses
			registry-anchor: fail; error not-anchored receipt#;
			warning not-anchored receipt#`},
		{name: "no level, and not listed", clone: "main",
			world: "base: [{listing: ada}, {publish: nova, receipt: {set: {/claimed_levels: []}}}]", want: `
			fail
			schema: fail; error receipt-schema receipt#/claimed_levels
			claims: skip, see schema
			registry-anchor: skip`},
		{name: "no level, and listed", clone: "main",
			world: "base: [{listing: nova, receipt: {set: {/claimed_levels: []}}}]", want: `
			fail
			schema: fail; error receipt-schema receipt#/claimed_levels
			claims: skip, see schema
			registry-anchor: skip`},
		{name: "a policy that cannot be read, and a host of the domain", clone: "main",
			text: "https://www.nova.example/.well-known/oap-tool.json",
			world: `policy: "["` + "\n" + listed + web("edit: "+manifestURL,
				`to: "https://www.nova.example/.well-known/oap-tool.json"`), want: `
			inconclusive
			identity: inconclusive; inconclusive policy-unreadable manifest#`},
		{name: "a policy that cannot be read, and the host itself", clone: "main", world: `policy: "["` + "\n" + listed,
			want: "pass L1"},
		{name: "a host of the domain", text: "https://www.nova.example/.well-known/oap-tool.json",
			world: nova + web("edit: "+manifestURL, `to: "https://www.nova.example/.well-known/oap-tool.json"`),
			want:  "pass L1"},
		{name: "a host of another domain", text: "https://nova.test/.well-known/oap-tool.json",
			world: nova + web("edit: "+manifestURL, `to: "https://nova.test/.well-known/oap-tool.json"`), want: `
			fail
			identity: fail; error manifest-host manifest#`},
		{name: "a file below the root, as at the root", text: "https://nova.example/static/oap.json",
			world: withReceipt(`set: {/target/uri: "https://nova.example"}`) +
				web("edit: "+manifestURL, `to: "https://nova.example/static/oap.json"`), want: `
			pass L1
			identity: warn; warning target-folder manifest#`,
			says: []string{`fix":"verify https://nova.example"`}},
		{name: "a file below the root, and the Manifest names another DID",
			text: "https://nova.example/static/oap.json",
			world: publish(`receipt: {set: {/target/uri: "https://nova.example"}},
                manifest: {set: {/tool/did: "did:web:other.example"}}`) +
				web("edit: "+manifestURL, `to: "https://nova.example/static/oap.json"`), want: `
			fail
			manifest: warn; warning publisher-differs manifest#/tool/publisher/did
			identity: fail; error receipt-did-differs receipt#/implementation/did;
			error manifest-host manifest#`},
		{name: "a revocation that cannot be read", clone: "main",
			world: `base: [{listing: nova}, {commit: List}, {write: revocations, text: a}]` + "\nbare: true", want: `
			inconclusive
			revocation: inconclusive; inconclusive clone-unreadable`,
			says: []string{`"code":"clone-unreadable"[^}]*"commit":"[0-9a-f]{40}"`}},
		{name: "listed since its renewal", clone: "main",
			world: `base: [{listing: nova}, {commit: List}, {reissue: nova}, {commit: Renew}, {commit: More}]`, want: "pass L1",
			says: []string{`"code":"anchored"[^}]*"commit":"[0-9a-f]{40}"`, `pins these bytes since 2026-05-22T12:01:00Z`,
				`"reason":"implementations/nova.json, brought by commit [0-9a-f]{40}"`}},
		{name: "a revocation under another name", clone: "main",
			world: `base: [{listing: nova}, {commit: List}, {reissue: nova}, {commit: Renew},
                {revoke: nova, number: 1, path: revocations/a.json}]`, want: `
			pass L1
			revocation: warn; warning misplaced-revocation`,
			says: []string{`"code":"misplaced-revocation"[^}]*"commit":"[0-9a-f]{40}"`}},
		{name: "no clone", world: publish("level: L4"), with: func(f *bundle.VerifyFlags) { f.Without = false }, want: `
			fail
			revocation: inconclusive; inconclusive no-registry
			peer-witnesses: fail; error too-few-witnesses receipt#/peer_witnesses
			registry-anchor: inconclusive; inconclusive no-registry`,
			says: []string{`"fix":"name a clone with --registry DIR"`}},
		{name: "the audit of another", world: `base: [{publish: nova, level: L5, auditor: "did:web:nova.example"}]`,
			want: `
			fail
			peer-witnesses: fail; error too-few-witnesses receipt#/peer_witnesses
			external-audit: fail; error audit-by-itself receipt#/external_audit
			registry-anchor: inconclusive; inconclusive no-registry`},
	})
}

// A clone shows how old it is, by what it was fetched or by its head, and how to bring it up to date.
func TestAgedFinding(t *testing.T) {
	now := fixture.Clock
	src := (&bundle.Bundle{Now: now}).SourceOr(nil)
	const day = 24 * time.Hour
	for _, c := range []struct {
		name  string
		clone Clone
		most  time.Duration
		old   bool
		says  string
		fix   string
	}{
		{"fetched", Clone{Fetched: now.Add(-2 * day), Changed: now.Add(-3 * day)}, day, true,
			"the clone was last fetched at 2026-05-30T12:00:00Z, 2 days ago; expected at most 1 day; the registry " +
				"has not changed since 2026-05-29T12:00:00Z in it",
			"name a clone that follows the registry, and fetch it"},
		{"fetched a day ago", Clone{Fetched: now.Add(-day), Changed: now.Add(-3 * day)}, day, false, "", ""},
		{"its head", Clone{Changed: now.Add(-2 * day), Fetch: []string{"origin", "a b"}}, day, true,
			"the clone does not show a later fetch than its head of 2026-05-30T12:00:00Z, 2 days ago",
			"update the clone: git fetch origin 'a b'"},
		{"its head is newer", Clone{Fetched: now.Add(-3 * day), Changed: now.Add(-2 * day)}, day, true,
			"a later fetch than its head of 2026-05-30T12:00:00Z", ""},
		{"its head is as far ahead as a clock may be", Clone{Changed: now.Add(checks.Skew)}, day, false, "", ""},
		{"its head is ahead", Clone{Changed: now.Add(checks.Skew + 1)}, day, true,
			"the clone shows no time that counts: its head is of 2026-06-01T12:05:00Z, ahead of now", ""},
		{"a mirror", Clone{Mirror: true, Fetched: now.Add(-2 * day), Changed: now}, day, true,
			"the clone was last fetched at 2026-05-30T12:00:00Z", "run oap-gate mirror for this directory"},
		{"a mirror that never verified", Clone{Mirror: true, Changed: now}, day, true,
			"the mirror has not verified its tip as the origin's", "run oap-gate mirror"},
		{"a mirror of tomorrow", Clone{Mirror: true, Fetched: now.Add(day), Changed: now}, day, true,
			"the mirror shows no time that counts: its last run of 2026-06-02T12:00:00Z is ahead of now", ""},
		{"any age", Clone{Changed: now.Add(-1000 * day)}, 0, false, "", ""},
	} {
		c.clone.Commit = "c0ffee"
		w := &work{src: src, cfg: &Config{Clone: &c.clone, MaxAge: c.most}}
		out, old := w.old()
		if old != c.old {
			t.Errorf("%s: old %t", c.name, old)
		}
		if !old {
			continue
		}
		if f := out.Findings[0]; len(out.Findings) != 1 || f.Severity != verdict.Doubt || f.Code != "clone-old" ||
			f.Commit != "c0ffee" || !strings.Contains(f.Message, c.says) || !strings.Contains(f.Fix, c.fix) {
			t.Errorf("%s: %+v", c.name, out.Findings)
		}
	}
}

// The member registry_anchor is compared with the clone: its commit, then the path of the listing.
func TestAnchorClaim(t *testing.T) {
	t.Parallel()
	w := built(t, `base: [{listing: nova}, {listing: upper, did: "did:web:nova.example:a"}]`)
	head := must.Get(w.repo.Resolve("main"))(t)
	clone := &Clone{Repo: w.repo, Commit: head}
	st, err := clone.Stand(t.Context())
	must.OK(t, err)
	const path = "implementations/nova.json"
	for _, c := range []struct {
		name string
		did  string
		r    receipt.Receipt
		want string
	}{
		{"no claim", "", receipt.Receipt{AnchorPath: "x"}, ""},
		{"right", "", receipt.Receipt{RegistryAnchor: true, AnchorCommit: head, AnchorPath: path}, ""},
		{"another path", "", receipt.Receipt{RegistryAnchor: true, AnchorCommit: head, AnchorPath: "a.json"},
			`/registry_anchor/file_path names "a.json", the clone lists the DID in ` + path},
		{"another path of a DID that is not listed", "did:web:eve.example",
			receipt.Receipt{RegistryAnchor: true, AnchorCommit: head, AnchorPath: "a.json"}, ""},
		{"a DID in another letter case", "did:web:nova.example:A",
			receipt.Receipt{RegistryAnchor: true, AnchorCommit: head, AnchorPath: "a.json"}, ""},
		{"no commit", "", receipt.Receipt{RegistryAnchor: true, AnchorPath: path},
			`/registry_anchor/commit_sha names the commit "", which the clone does not hold`},
		{"a branch", "", receipt.Receipt{RegistryAnchor: true, AnchorCommit: "main", AnchorPath: path},
			`/registry_anchor/commit_sha names the commit "main", which the clone does not hold`},
		{"an unknown commit", "", receipt.Receipt{RegistryAnchor: true, AnchorCommit: strings.Repeat("1", 40),
			AnchorPath: path}, `/registry_anchor/commit_sha names the commit "1111`},
	} {
		facts := &evidence.Facts{Receipt: evidence.Result[*receipt.Receipt]{State: evidence.Obtained, Value: &c.r}}
		at := &work{ctx: t.Context(), cfg: &Config{Clone: clone, Standing: st}, facts: facts,
			did: cmp.Or(c.did, "did:web:nova.example")}
		var out verdict.Outcome
		at.claimedAnchor(&out)
		got := ""
		for _, f := range out.Findings {
			got += f.Pointer + strings.TrimPrefix(f.Message, "registry_anchor")
			if f.Code != "anchor-claim" || f.Severity != verdict.Warning {
				t.Errorf("%s: %s %s", c.name, f.Severity, f.Code)
			}
		}
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q; expected %q", c.name, got, c.want)
		}
	}
	// The path is that of the listing that pins the Receipt, else that of the first.
	w = built(t, `base: [{listing: nova}, {listing: other, host: nova.example, key: nova},
  {listing: none, set: {/tool_did: ""}}]`)
	if head, err = w.repo.Resolve("main"); err != nil {
		t.Fatal(err)
	}
	if st, err = (&Clone{Repo: w.repo, Commit: head}).Stand(t.Context()); err != nil {
		t.Fatal(err)
	}
	for _, slug := range []string{"nova", "other", ""} {
		facts := &evidence.Facts{}
		if slug != "" {
			if facts.ReceiptText.Value.SHA256, err = w.Pin(slug, 0); err != nil {
				t.Fatal(err)
			}
		}
		at := &work{cfg: &Config{Standing: st}, facts: facts, did: "did:web:nova.example"}
		if got, want := at.path(), "implementations/"+cmp.Or(slug, "nova")+".json"; got != want {
			t.Errorf("of the Receipt of %q: %s; expected %s", slug, got, want)
		}
	}
	nobody := &work{cfg: &Config{Clone: clone, Standing: st}}
	if l := nobody.listed(); l != nil {
		t.Errorf("without a DID: %v", l)
	}
}
