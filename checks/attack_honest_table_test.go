package checks_test

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

// What a gate under attack must not refuse: clumsy and unlucky contributors.
func TestAttackHonest(t *testing.T) {
	checktest.Run(t, []checktest.Case{
		// the first listing takes the place of .gitkeep
		{Name: "keep removed",
			World: `base: [{commit: Begin}]
pr: [{listing: ada}, {remove: implementations/.gitkeep}]
`,
			Want: `pass`},
		// a re-issue that needed a second try, with main merged in between; squashing is advised
		{Name: "second try",
			World: `base: [{listing: ada}]
main: [{listing: bob}]
pr:
  - {reissue: ada, issued: -2h, set: {/license: 7}}
  - {commit: First try}
  - {merge: main}
  - {commit: Merge main}
  - {reissue: ada, issued: -1h}
`,
			Want: `
registry: warning: append-only: squash
registry: warning: append-only: not-fast-forward`},
		// a branch that lived on after its listing was merged from it, and now renews it
		{Name: "lived on",
			World: `base: [{listing: ada, issued: -80d}]
main: [{write: docs/x.md, text: x}]
pr:
  - {merge: main}
  - {commit: Sync}
  - {reissue: ada}
`,
			Want: `registry: warning: append-only: not-fast-forward`},
		// somebody else's expired, broken and deleted sites block nobody
		{Name: "ruins",
			World: `base:
  - {listing: ada, issued: -200d}
  - {listing: bob, body: "{"}
  - {listing: cat, issued: -10d}
  - {write: implementations/dog.json, text: x, mode: "120000"}
  - {write: implementations/sub/eel.json, text: x}
pr: [{listing: nova}]
web: [{url: "https://cat.example/oap-conformance-receipt.json", status: 404}]
`,
			Want: `
implementations/bob.json:1:2: warning: layout: json-syntax
implementations/dog.json: warning: layout: file-mode
implementations/sub/eel.json:1:1: warning: layout: misplaced-file
registry: notice: revocations: not-in-force`},
		// an owner on a platform, whose listing lapsed: renewed as provisional
		{Name: "platform lapsed",
			World: `base: [{at: -200d}, {listing: ada, host: ada.github.io, provisional: true}]
pr: [{reissue: ada, provisional: true}]
`,
			Want: `
implementations/ada.json:12:3: notice: domain-age: provisional
registry: notice: revocations: not-in-force`},
		{Name: "platform lapsed plain",
			World: `base: [{at: -200d}, {listing: ada, host: ada.github.io, provisional: true}]
pr: [{reissue: ada, provisional: false}]
`,
			Want: `
implementations/ada.json:4:3: error: domain-age: domain-age-unknown
registry: notice: revocations: not-in-force`},
		// main takes a governance change that the branch does not have
		{Name: "main moved",
			World: `base: [{listing: ada}]
main: [{write: .github/workflows/x.yml, text: x}, {listing: bob}]
pr: [{listing: nova}]
merge: true
`,
			Want: `pass`},
		// a revocation of an older Receipt, and of one that expired long ago
		{Name: "revoke older",
			World: `base:
  - {at: -200d}
  - {listing: ada}
  - {commit: List}
  - {at: -100d}
  - {reissue: ada}
pr: [{revoke: ada, number: 1}]
`,
			Want: `registry: notice: revocations: not-in-force`},
	})
}
