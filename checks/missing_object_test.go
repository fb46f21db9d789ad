package checks_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// An object that cannot be read is an error of the run: no rule passes because it could not read what it judges by.
func TestMissingObject(t *testing.T) {
	for _, c := range []struct{ name, world string }{
		{"renewal, and revocation of a former Receipt", `
policy: "public_suffixes: [tenants.example]\n"
base:
  - {at: "-40d"}
  - {listing: ada, registered: none}
  - {commit: List}
  - {at: "-9d"}
  - {reissue: ada}
pr:
  - {revoke: ada, number: 1}
  - {commit: Revoke}
  - {reissue: ada}
`},
		{"revocation by witnesses", `
base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada], provisional: true, registered: -11d}
  - {listing: cyd, level: L4, witness: [ada]}
  - {listing: evil, level: L4, witness: [ada]}
pr: [{revoke: evil, witness: [ada, bob, cyd]}]
`},
		{"bootstrap", `
policy: {reference_server: nova, maintainers: [mia, moe]}
base:
  - {publish: mia}
  - {publish: moe, did: key}
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: nova, level: L4, co_signers: [mia, moe], witness: [{slug: ada, key: mallory}]}
pr: [{listing: young, level: L5, witness: [nova, ada, bob]}, {peer-witness: ada}]
`},
		{"repair", `
base:
  - {listing: ada}
  - {listing: bob}
  - {commit: List}
  - {edit: implementations/ada.json, set: {/contact: 7}}
  - {write: revocations/odd.json, text: '{ $pin(bob)'}
  - {write: revocations/odder.json, text: '{ 1111111111111111111111111111111111111111111111111111111111111111'}
pr:
  - {remove: revocations/odd.json}
  - {remove: revocations/odder.json}
  - {edit: implementations/ada.json, set: {/contact: contact@ada.example}}
`},
		{"workflow anchors", `
base:
  - {listing: ada}
  - {listing: bob}
  - {anchor: flow, coordinator: ada, workflow: wf_01ARZ3NDEKTSV4RRFFQ69G5FAV}
  - {listing: kay, did: key}
  - {listing: kev, did: key}
  - {revoke: kev}
pr:
  - {anchor: other, coordinator: ada, failover: bob}
  - {anchor: keyed, coordinator: kay}
  - {anchor: away, coordinator: kay, uri: "https://bob.example/away.json"}
  - {anchor: late, coordinator: kev}
  - {anchor: failed, coordinator: ada, failover: bob, uri: "https://bob.example/failed.json"}
  - {commit: Anchor}
  - {remove: workflow-anchors/flow.json}
`},
		{"governance", `
base:
  - {listing: ada}
  - {write: schemas/revocation.schema.json, text: '{"type": "object"}'}
  - {write: revocations/.gitkeep, text: x}
  - {write: docs/Guide.md, text: a}
  - {write: docs/Parts/A.md, text: a}
pr:
  - {remove: docs/Parts}
  - {write: docs/guide.md, text: b}
  - {write: a.md, text: b}
  - {write: schemas/revocation.schema.json, text: '{"type": "array"}'}
  - {move: [implementations/ada.json, implementation/ada.json]}
`},
		{"a policy that changes", `
policy: {reference_server: nova, maintainers: [mia]}
base: [{listing: ada}, {publish: nova}, {publish: mia}]
pr: [{edit: .github/gate-policy.yml, replace: {nova: ada, version: revision}}]
`},
		{"re-issues that look back", `
base:
  - {at: "-40d"}
  - {listing: ada, set: {/issued_at: "2036-01-01T00:00:00Z"}}
  - {listing: bob, registered: none}
  - {listing: cyd}
  - {commit: List}
  - {at: "-9d"}
  - {write: implementations/cyd.json, text: "{"}
  - {listing: dan, registered: none}
pr:
  - {reissue: ada, issued: "-41d"}
  - {reissue: bob, provisional: true}
  - {reissue: cyd}
  - {reissue: dan, provisional: true}
`},
		{"witnesses that are so no more", `
base:
  - {at: "-60d"}
  - {commit: Begin}
  - {listing: ada, level: L4, witness: [dan]}
  - {listing: dan, level: L4, witness: [ada]}
  - {listing: bob, level: L4, witness: [ada], provisional: true, registered: -70d}
  - {commit: List}
  - {at: "-29d"}
  - {listing: nova, level: L4, witness: [bob]}
  - {listing: eva, level: L4, witness: [{slug: dan, key: mallory}]}
  - {commit: Witness}
  - {move: [implementations/bob.json, bob.json]}
  - {commit: Remove}
  - {move: [bob.json, implementations/bob.json]}
  - {commit: Return}
  - {revoke: bob}
pr: [{listing: young, level: L4, witness: [dan, bob]}]
`},
		{"a revocation that was removed", `
base:
  - {listing: ada}
  - {revoke: ada}
  - {commit: Revoke}
  - {remove: "revocations/ada-$pin(ada).json"}
  - {write: revocations/odd.json, text: "{"}
pr: [{reissue: ada}]
`},
		{"no directory of revocations", `
bare: true
base:
  - {listing: ada}
  - {commit: List}
  - {write: revocations, text: '{"slug": "ada", "revoked_receipt_sha256": "$pin(ada)"}'}
pr: [{reissue: ada}]
`},
		{"two listings of one DID", `
base:
  - {listing: ada}
  - {listing: bob, host: ada.example, key: ada}
  - {revoke: ada}
pr: [{reissue: ada}, {listing: adaa}]
`},
		{"what the pull request leaves as it is", `
base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {peer-witness: ada}
  - {commit: List}
  - {listing: nova, level: L4, witness: [bob]}
  - {write: docs/a/Guide.md, text: a}
  - {write: docs/HEAD, text: a}
  - {write: docs/commondir, text: a}
pr: [{anchor: flow, coordinator: ada}, {commit: Anchor}, {edit: workflow-anchors/flow.json, set: {/slug: flow}}]
`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			checktest.Missing(t, c.world)
		})
	}
}

// The history is read only where a question needs it: the check of one new listing reads no former version of another
// one, unless a revocation names it.
func TestReadsLittle(t *testing.T) {
	for base, reads := range map[string]int{"": 0, ", {revoke: ada, number: 1}": 1} {
		w, repo := checktest.Build(t, "base: [{listing: ada}, {commit: List}, {reissue: ada}, {listing: bob}"+base+
			"]\npr: [{listing: nova}]")
		chain := must.Get(repo.FirstParents(t.Context(), "", "main"))(t)
		tree := must.Get(repo.Tree(t.Context(), chain[len(chain)-2]))(t)
		former := must.Get(tree.Leaf("implementations/ada.json"))(t)
		lacks, fails := 0, 0
		checktest.Without(t, w, func(t *testing.T, w *fixture.World, repo *registry.Repository) (string, error) {
			found, err := checktest.Checked(t, w, repo)
			if _, lost := repo.Bytes(*former, 1<<20); lost != nil {
				if lacks++; err != nil {
					fails++
				}
			}
			return found, err
		})
		if lacks != 1 || fails != reads {
			t.Errorf("base with%q: %d of %d runs without the former version fail; expected %d of 1", base, fails, lacks,
				reads)
		}
	}
}
