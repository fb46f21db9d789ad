package checks_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

// Every listing of the registry is expired, revoked or unreachable, and more stands that should not. Whoever's own
// sites answer can list, renew and revoke.
func TestDeadlock(t *testing.T) {
	checktest.Run(t, []checktest.Case{
		// a new honest listing, up to L3, with provisional where the domain is young
		{Name: "new l0",
			World: `base: [{listing: ada, issued: -200d}, {listing: bob}, {revoke: bob}]
pr: [{listing: nova, level: L0}]
web: [{url: "https://ada.example/.well-known/did.json", reset: true}]
`,
			Want: `registry: notice: revocations: not-in-force`},
		{Name: "new l1nc",
			World: `base: [{listing: ada, issued: -200d}, {listing: bob}, {revoke: bob}]
pr: [{listing: nova, level: L1-NC}]
`,
			Want: `registry: notice: revocations: not-in-force`},
		{Name: "new l3",
			World: `base: [{listing: ada, issued: -200d}, {listing: bob}, {revoke: bob}]
pr: [{listing: nova, level: L3}]
`,
			Want: `registry: notice: revocations: not-in-force`},
		{Name: "new young",
			World: `base: [{listing: ada, issued: -200d}]
pr: [{listing: nova, registered: -3d, provisional: true}]
`,
			Want: `
implementations/nova.json:12:3: notice: domain-age: provisional
registry: notice: revocations: not-in-force`},
		// a renewal of an expired listing, of a revoked one, of one with faults that no re-issue can mend
		{Name: "renew expired",
			World: `base: [{at: -200d}, {listing: ada}, {listing: bob}, {revoke: bob}]
pr: [{reissue: ada}]
`,
			Want: `registry: notice: revocations: not-in-force`},
		{Name: "renew revoked",
			World: `base: [{listing: ada}, {revoke: ada}]
pr: [{reissue: ada}]
`,
			Want: `registry: notice: revocations: not-in-force`},
		{Name: "renew faulty",
			World: `base:
  - {at: -200d}
  - {listing: ada, did: "did:web:Ada.example", set: {/trusted: true}}
  - {listing: bob, did: "did:web:Ada.example", key: ada}
  - {write: implementations/Readme.txt, text: "?"}
  - {write: revocations/x/y.json, text: "{"}
pr: [{reissue: ada}]
`,
			Want: `
implementations/Readme.txt:1:1: warning: layout: misplaced-file
implementations/ada.json:4:3: warning: layout: did-spelling
implementations/ada.json:4:3: warning: layout: duplicate-did
implementations/ada.json:1:1: warning: reissue: unsigned-change
implementations/bob.json: warning: layout: duplicate-did
implementations/bob.json:4:3: warning: layout: did-spelling
registry: notice: revocations: not-in-force
revocations/x/y.json:1:1: warning: layout: misplaced-file`},
		// a listing that stood at L4 comes back at L3
		{Name: "renew l4",
			World: `base:
  - {at: -200d}
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
pr: [{reissue: ada, level: L3, witness: []}]
`,
			Want: `
implementations/ada.json:6:3: warning: reissue: unsigned-change
registry: notice: revocations: not-in-force`},
		// a self-revocation by the owner of an expired listing, of a Receipt pinned before, of one at L5
		{Name: "revoke expired",
			World: `base: [{listing: ada, issued: -200d}]
pr: [{revoke: ada}]
`,
			Want: `registry: notice: revocations: not-in-force`},
		{Name: "revoke older",
			World: `base: [{at: -200d}, {listing: ada}, {commit: One}, {at: -150d}, {reissue: ada}]
pr: [{revoke: ada, number: 1}]
`,
			Want: `registry: notice: revocations: not-in-force`},
		{Name: "revoke l5",
			World: `base:
  - {at: -200d}
  - {listing: ada, level: L5, witness: [bob, cora, dora]}
  - {listing: bob, level: L4, witness: [ada]}
  - {listing: cora, level: L4, witness: [ada]}
  - {listing: dora, level: L4, witness: [ada]}
pr: [{revoke: ada}]
`,
			Want: `registry: notice: revocations: not-in-force`},
		// the same with a gate policy that cannot be read
		{Name: "policy",
			World: `policy: "version: 7\n"
base: [{listing: ada, issued: -200d}]
pr: [{reissue: ada}, {listing: nova, level: L3}]
`,
			Want: `
implementations/ada.json:1:1: inconclusive: manifest-did: policy-unreadable
implementations/ada.json:1:1: inconclusive: domain-age: policy-unreadable
implementations/nova.json:1:1: inconclusive: manifest-did: policy-unreadable
implementations/nova.json:1:1: inconclusive: domain-age: policy-unreadable
.github/gate-policy.yml: warning: peer-witnesses: policy-broken
registry: notice: revocations: not-in-force`},
	})
}
