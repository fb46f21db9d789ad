package checks_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
)

// Each way in which a merged record may not change, and the honest one next to it.
func TestAppendOnly(t *testing.T) {
	const ada = "implementations/ada.json"
	const tampered = ada + ":1:1: error: append-only: commit-tampers\nregistry: warning: append-only: squash"
	// versions is a branch of so many commits that change one listing, and a re-issue at the end.
	versions := func(n int) string {
		var out strings.Builder
		out.WriteString("base: [{listing: ada}]\npr:\n")
		for i := range n {
			fmt.Fprintf(&out, "  - {edit: %s, set: {/contact: \"c%d@ada.example\"}}\n  - {commit: Edit}\n", ada, i)
		}
		out.WriteString("  - {reissue: ada}\n")
		return out.String()
	}
	policies := strings.NewReplacer("edit: "+ada+", set: {/contact: ", "write: .github/gate-policy.yml, text: ",
		"}}", "}", `"c`, `"# c`, "reissue: ada", `write: .github/gate-policy.yml, text: "# last"`)
	checktest.Run(t, only("append-only", []checktest.Case{
		{Name: "reissued", World: `{base: [{listing: ada}], pr: [{reissue: ada}]}`, Want: "pass"},
		{Name: "deleted", World: `{base: [{listing: ada}], pr: [{remove: implementations/ada.json}]}`,
			Want: ada + ": error: append-only: deleted"},
		{Name: "mode",
			World: `{base: [{listing: ada}], pr: [{write: implementations/ada.json, text: "{}", mode: "100755"}]}`,
			Want:  ada + ":1:1: error: append-only: mode-changed"},
		{Name: "base moved on", World: `{base: [{listing: ada}], main: [{at: -3h}, {reissue: ada}], pr: [{reissue: ada}]}`,
			Want: ada + ":1:1: error: append-only: base-moved-on"},
		{Name: "base moved on elsewhere", World: `{base: [{listing: ada}], main: [{listing: bob}], pr: [{reissue: ada}]}`,
			Want: "pass"},
		{Name: "both change a governance file",
			World: `{base: [{listing: ada}], main: [{write: a.md, text: a}], pr: [{write: a.md, text: b}]}`,
			Want: `
a.md: warning: append-only: governance
a.md: error: append-only: base-moved-on`},
		{Name: "both make the same governance file",
			World: `{base: [{listing: ada}], main: [{write: a.md, text: a}], pr: [{write: a.md, text: a}, {listing: nova}]}`,
			Want:  "pass"},
		{Name: "two", World: `{base: [{listing: ada}, {listing: bob}], pr: [{reissue: ada}, {reissue: bob}]}`,
			Want: "implementations/bob.json:1:1: error: append-only: several-reissues"},
		{Name: "taken away in between",
			World: `{base: [{listing: ada}], pr: [{remove: implementations/ada.json}, {commit: Remove}, {reissue: ada}]}`,
			Want:  tampered,
			Says:  []string{`takes the listing away`}},
		{Name: "unreadable in between",
			World: `{base: [{listing: ada}], pr: [{write: implementations/ada.json, text: "{"}, {commit: Break}, {reissue: ada}]}`,
			Want:  tampered,
			Says:  []string{`makes the listing unreadable`}},
		{Name: "another DID in between",
			World: `{base: [{listing: ada}], pr: [{edit: implementations/ada.json, set: {/tool_did: "did:web:eve.example"}}, {commit: Edit}, {reissue: ada}]}`,
			Want:  tampered,
			Says:  []string{`changes the listing's slug or tool_did`}},
		{Name: "edited in between",
			World: `{base: [{listing: ada}], pr: [{edit: implementations/ada.json, set: {/contact: "a@ada.example"}}, {commit: Edit}, {reissue: ada}]}`,
			Want:  "registry: warning: append-only: squash"},
		{Name: "executable in between", World: `
base: [{listing: ada}]
pr: [{write: implementations/ada.json, text: '{"slug": "ada"}', mode: "100755"}, {commit: Break}, {reissue: ada}]`,
			Want: tampered,
			Says: []string{`a single commit changes the listing.s mode or type`}},
		{Name: "another slug in between", Base: "{listing: ada}",
			PR: "{edit: implementations/ada.json, set: {/slug: eve}}, {commit: Edit}, {reissue: ada}", Want: tampered,
			Says: []string{`a single commit changes the listing.s slug or tool_did`}},
		{Name: "edited and undone", World: `
base: [{listing: ada}]
pr:
  - {edit: implementations/ada.json, set: {/contact: eve@eve.example}}
  - {commit: Edit}
  - {edit: implementations/ada.json, set: {/contact: contact@ada.example}}`,
			Want: tampered,
			Says: []string{`changes a merged file that the range as a whole does not re-issue \(commit [0-9a-f]{12}\)`,
				`fix: squash the branch into one commit, or take the commit out of it: git rebase -i [0-9a-f]{12}`}},
		{Name: "a revocation edited", Base: "{listing: ada}, {revoke: ada}",
			PR:   `{edit: "revocations/ada-$pin(ada).json", set: {/reason: key_compromise}}`,
			Want: `revocations/ada-0ee9e6ecb821a8e4eb7478a361b11af2dd4e4e1399aa4f0cc041538c028db54f.json:1:1: error: append-only: edited`,
			Says: []string{`this merged revocation is edited; only a listing may change, by a re-issue`,
				`fix: restore it: git checkout [0-9a-f]{12} -- revocations/ada-[0-9a-f]{64}.json \(and squash the branch`}},
		{Name: "moved and moved back", World: `
base: [{listing: ada}]
pr:
  - {listing: nova}
  - {move: [implementations/ada.json, docs.json]}
  - {commit: Add}
  - {move: [docs.json, implementations/ada.json]}`,
			Want: `
implementations/ada.json:1:1: error: append-only: commit-tampers
registry: warning: append-only: squash
docs.json: warning: append-only: governance-in-passing`},
		{Name: "a revocation's reason edited and undone", World: `
base: [{listing: ada}, {revoke: ada}]
pr:
  - {edit: "revocations/ada-$pin(ada).json", set: {/reason: key_compromise}}
  - {commit: Accuse}
  - {edit: "revocations/ada-$pin(ada).json", set: {/reason: superseded}}`,
			Want: `
registry: warning: append-only: squash
revocations/ada-0ee9e6ecb821a8e4eb7478a361b11af2dd4e4e1399aa4f0cc041538c028db54f.json:1:1: error: append-only: commit-tampers`},
		{Name: "a revocation edited and undone", World: `
base: [{listing: ada}, {revoke: ada}]
pr:
  - {move: ["revocations/ada-$pin(ada).json", a.md]}
  - {commit: Move}
  - {move: [a.md, "revocations/ada-$pin(ada).json"]}`,
			Want: `
registry: warning: append-only: squash
a.md: warning: append-only: governance-in-passing
revocations/ada-0ee9e6ecb821a8e4eb7478a361b11af2dd4e4e1399aa4f0cc041538c028db54f.json:1:1: error: append-only: commit-tampers`},
		{Name: "an anchor removed", Base: "{listing: ada}, {anchor: trade, coordinator: ada}",
			PR:   "{remove: workflow-anchors/trade.json}",
			Want: `workflow-anchors/trade.json: error: append-only: deleted`,
			Says: []string{`fix: not yours\? git checkout [0-9a-f]{12} -- workflow-anchors/trade.json \(and squash the branch if a commit changes it\); yours: leave it`}},
		{Name: "a new listing edited in between", Base: "{listing: ada}",
			PR:   "{listing: nova}, {commit: List}, {edit: implementations/nova.json, set: {/contact: a@nova.example}}",
			Want: `registry: warning: append-only: squash`},
		{Name: "three re-issues", Base: "{listing: ada}, {listing: bob}, {listing: cyd}",
			PR: "{reissue: ada}, {reissue: bob}, {reissue: cyd}", Want: `
implementations/bob.json:1:1: error: append-only: several-reissues
implementations/cyd.json:1:1: error: append-only: several-reissues`,
			Says: []string{`the range re-issues 3 listings, at most one may change: implementations/ada.json is the first`}},
		{Name: "governance files and a re-issue", Base: "{listing: ada}",
			PR:   "{reissue: ada}, {write: b.md, text: b}, {write: a.md, text: a}",
			Want: `a.md: error: append-only: mixed`,
			Says: []string{`the range changes records and governance files together: a.md, b.md`}},
		{Name: "a .gitkeep and a re-issue", World: "bare: true", Base: "{listing: ada}",
			PR: `{reissue: ada}, {write: revocations/.gitkeep, text: ""}`, Want: `pass`},
		{Name: "only governance files", Base: "{listing: ada}", PR: "{write: b.md, text: b}, {write: a.md, text: a}",
			Want: `a.md: warning: append-only: governance`,
			Says: []string{`the range changes governance files: a.md, b.md`}},
		{Name: "governance files in passing", World: `
base: [{listing: ada}]
pr:
  - {write: b.md, text: b}
  - {commit: b}
  - {write: a.md, text: a}
  - {commit: a}
  - {remove: a.md}
  - {remove: b.md}
  - {listing: nova}`,
			Want: `a.md: warning: append-only: governance-in-passing`,
			Says: []string{`single commits change governance files, and later ones undo it: a.md, b.md \[`}},
		{Name: "a governance file that main removed too", World: "main: [{remove: a.md}]",
			Base: "{listing: ada}, {write: a.md, text: a}", PR: "{remove: a.md}, {listing: nova}", Want: `pass`},
		{Name: "a governance file that main removed", World: "main: [{remove: a.md}]",
			Base: "{listing: ada}, {write: a.md, text: a}", PR: "{write: a.md, text: b}", Want: `
a.md: warning: append-only: governance
a.md: error: append-only: base-moved-on`},
		{Name: "edited and undone, with a governance file", World: `
base: [{listing: ada}]
pr:
  - {edit: implementations/ada.json, set: {/contact: eve@eve.example}}
  - {commit: Edit}
  - {edit: implementations/ada.json, set: {/contact: contact@ada.example}}
  - {write: a.md, text: a}`,
			Want: `
implementations/ada.json:1:1: error: append-only: commit-tampers
registry: warning: append-only: squash
a.md: warning: append-only: governance`},
		{Name: "a re-issue and an edited revocation", Base: "{listing: ada}, {listing: bob}, {revoke: bob}",
			PR:   `{reissue: ada}, {edit: "revocations/bob-$pin(bob).json", set: {/reason: key_compromise}}`,
			Want: `revocations/bob-43c4fbf59d48e2cc6cc817bf00c25889f74e3298bd11a9014ca47b23e7c26977.json:1:1: error: append-only: edited`},
		{Name: "what git refuses, in the base", Base: `{listing: ada}, {write: .gitmodules, mode: "120000", text: x}`,
			PR: "{listing: nova}", Want: `registry: warning: append-only: fsck-file`,
			Says: []string{`the base already has an object that git refuses with transfer.fsckObjects: ".gitmodules" of [^,]*$`}},
		{Name: "two objects that git refuses, in the base", World: `
base: [{listing: ada}, {write: .gitmodules, mode: "120000", text: x}, {write: a/.gitmodules, mode: "120000", text: y}]
pr: [{listing: nova}]`,
			Want: `registry: warning: append-only: fsck-file`,
			Says: []string{`, and 1 more object \[`, `fix: none needed here: the registry's maintainers name it`}},
		{Name: "moved, with another slug", World: `
base: [{listing: ada}]
pr:
  - {edit: implementations/ada.json, set: {/slug: lovelace}}
  - {move: [implementations/ada.json, implementations/lovelace.json]}`,
			Want: `implementations/ada.json: error: append-only: deleted`},
		{Name: "moved to another folder",
			Base: "{listing: ada, level: L4, witness: [bob]}, {listing: bob, level: L4, witness: [ada]}",
			PR:   "{move: [implementations/ada.json, peer-witnesses/ada.json]}",
			Want: `implementations/ada.json: error: append-only: deleted`},
		{Name: "a link", Base: "{listing: ada}, {listing: bob}",
			PR:   `{write: implementations/ada.json, text: bob.json, mode: "120000"}`,
			Want: `implementations/ada.json: error: append-only: mode-changed`},
		{Name: "a folder", Base: "{listing: ada}",
			PR:   "{move: [implementations/ada.json, implementations/ada.json/ada.json]}",
			Want: `implementations/ada.json: error: append-only: deleted`},
		{Name: "all are a file", Base: "{listing: ada}, {listing: bob}",
			PR: `{remove: implementations}, {write: implementations, text: "none"}`, Want: `
implementations/ada.json: error: append-only: deleted
implementations/bob.json: error: append-only: deleted`},
		{Name: "all are a submodule", World: `
base: [{listing: ada}]
pr: [{remove: implementations}, {write: implementations, text: "1111111111111111111111111111111111111111", mode: "160000"}]`,
			Want: `implementations/ada.json: error: append-only: deleted`},
		{Name: "an anchor edited", Base: "{listing: ada}, {anchor: trade, coordinator: ada}",
			PR:   "{edit: workflow-anchors/trade.json, set: {/workflow_type: barter}}",
			Want: `workflow-anchors/trade.json:1:1: error: append-only: edited`},
		{Name: "an entry edited", World: `
base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {peer-witness: ada}
pr:
  - {edit: peer-witnesses/ada.json, set: {/contact: mallory@mallory.example}}`,
			Want: `peer-witnesses/ada.json:1:1: error: append-only: edited`},
		{Name: "an entry removed", World: `
base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
  - {peer-witness: ada}
pr:
  - {remove: peer-witnesses/ada.json}`,
			Want: `peer-witnesses/ada.json: error: append-only: deleted`},
		{Name: "white space of a revocation", Base: "{listing: ada}, {revoke: ada}",
			PR:   `{edit: "revocations/ada-$pin(ada).json", replace: {"\n}\n": "\n} \n"}}`,
			Want: `revocations/ada-0ee9e6ecb821a8e4eb7478a361b11af2dd4e4e1399aa4f0cc041538c028db54f.json:1:1: error: append-only: edited`},
		{Name: "one re-issue, a new listing and a revocation", Base: "{listing: ada}, {listing: bob}",
			PR: "{reissue: ada}, {listing: nova}, {revoke: bob}", Want: `pass`},
		{Name: "both bring a listing", World: "main: [{listing: nova}]", Base: "{listing: ada}", PR: "{reissue: nova}",
			Want: `implementations/nova.json:1:1: error: append-only: base-moved-on`},
		{Name: "a branch from before a revocation", World: "main: [{revoke: ada}]", Base: "{listing: ada}",
			PR: "{listing: nova}", Want: `pass`},
		{Name: "a branch from before a revocation, with the old pin",
			World: "main: [{reissue: ada, level: L2}, {revoke: ada, number: 1}]", Base: "{listing: ada}",
			PR:   "{edit: implementations/ada.json, set: {/contact: ada@ada.example}}",
			Want: `implementations/ada.json:1:1: error: append-only: base-moved-on`},
		{Name: "a merge that is followed by a removal", World: "main: [{listing: bob}]", Base: "{listing: ada}",
			PR: "{listing: nova}, {commit: Add}, {merge: main}, {remove: implementations/bob.json}", Want: `
implementations/bob.json: error: append-only: deleted
registry: warning: append-only: not-fast-forward`},
		{Name: "a merge that moves, and a commit that moves back", World: `
base: [{listing: ada}]
main: [{listing: bob}]
pr:
  - {listing: nova}
  - {commit: Add}
  - {merge: main}
  - {move: [implementations/bob.json, docs/bob.json]}
  - {commit: Merge}
  - {move: [docs/bob.json, implementations/bob.json]}`,
			Want: `
implementations/bob.json:1:1: error: append-only: commit-tampers
registry: warning: append-only: squash
registry: warning: append-only: not-fast-forward
docs/bob.json: warning: append-only: governance-in-passing`},
		{Name: "two new listings in two commits", Base: "{listing: ada}",
			PR: "{listing: nova}, {commit: One}, {listing: orion}", Want: `registry: warning: append-only: squash`},
		{Name: "a new file in many forms", World: `
base: [{listing: ada}]
pr:
  - {write: implementations/orion.json, text: "{"}
  - {write: implementations/vega.json, text: "{"}
  - {commit: Begin}
  - {remove: implementations/orion.json}
  - {move: [implementations/vega.json, implementations/nova.json]}
  - {commit: Go on}
  - {listing: nova}`,
			Want: `registry: warning: append-only: squash`},
		{Name: "a policy and a listing", World: "policy: {reference_server: ada, maintainers: [ada]}",
			Base: "{listing: ada}", PR: `{listing: nova}, {write: .github/gate-policy.yml, text: "version: 1\n"}`,
			Want: `.github/gate-policy.yml: error: append-only: mixed`},
		{Name: "a .gitkeep for another", Base: "{listing: ada}",
			PR:   `{listing: nova}, {remove: implementations/.gitkeep}, {write: revocations/.gitkeep, text: ""}`,
			Want: `pass`},
		{Name: "a .gitkeep and a governance file", Base: "{listing: ada}",
			PR:   `{write: README.md, text: "# Ours\n"}, {remove: implementations/.gitkeep}`,
			Want: `README.md: warning: append-only: governance`},
		{Name: "README.md of a data directory", Base: "{listing: ada}",
			PR:   `{listing: nova}, {write: implementations/README.md, text: "# Ours\n"}`,
			Want: `implementations/README.md: error: append-only: mixed`},
		{Name: "a folder becomes a file", Base: `{listing: ada}, {write: docs/guide.md, text: "Begin.\n"}`,
			PR: `{remove: docs/guide.md}, {write: docs, text: "none"}`, Want: `docs: warning: append-only: governance`},
		{Name: "a file becomes a folder", World: "main: [{listing: bob}]",
			Base: `{listing: ada}, {write: docs, text: "none"}`,
			PR:   `{remove: docs}, {write: docs/guide.md, text: "Begin.\n"}`,
			Want: `docs: warning: append-only: governance`},
		{Name: "100 versions", World: versions(100), Want: "registry: warning: append-only: squash"},
		{Name: "101 versions", World: versions(101), Want: `
implementations/ada.json:1:1: error: append-only: too-many-versions
registry: warning: append-only: squash`},
		{Name: "100 versions of the policy", World: policies.Replace(versions(100)),
			Want: ".github/gate-policy.yml: warning: append-only: governance"},
		{Name: "101 versions of the policy", World: policies.Replace(versions(101)), Want: `
.github/gate-policy.yml: warning: append-only: governance
.github/gate-policy.yml: error: append-only: too-many-versions`},
	}))
}

// Another check asks append-only whether the mode of a file changes; a file that gets its old content back may get its
// old mode with it.
func TestModeChanges(t *testing.T) {
	const broken = `
base:
  - {listing: ada}
  - {commit: List}
  - {move: [implementations/ada.json, a.md]}
  - {write: implementations/ada.json, text: '{', mode: "100755"}
pr: [{move: [a.md, implementations/ada.json]}]`
	const changed = `
base: [{listing: ada}]
pr: [{write: implementations/ada.json, text: '{"slug": "ada"}', mode: "100755"}]`
	checktest.Run(t, []checktest.Case{
		{Name: "changed", World: changed,
			Want: "implementations/ada.json:1:1: error: append-only: mode-changed"},
		{Name: "changed, by itself", World: changed, Only: "reissue",
			Want: "implementations/ada.json:1:1: error: reissue: mode-changed"},
		{Name: "restored", World: broken, Want: "a.md: warning: append-only: governance"},
		{Name: "restored, by itself", World: broken, Only: "reissue", Want: "pass"},
	})
}

// What a branch's commits do beside what the range as a whole does is said before they land.
func TestRangeAndCommits(t *testing.T) {
	checktest.Run(t, only("append-only", []checktest.Case{
		{Name: "a merge that drops a listing", World: "main: [{listing: bob}]", Base: "{listing: ada}",
			PR: "{listing: nova}, {commit: List}, {merge: main}, {remove: implementations/nova.json}", Want: `
implementations/nova.json: error: append-only: transient-record
registry: warning: append-only: not-fast-forward
implementations/nova.json: warning: append-only: squash`},
		{Name: "a merge that keeps it", World: "main: [{listing: bob}]", Base: "{listing: ada}",
			PR:   "{listing: nova}, {commit: List}, {merge: main}",
			Want: `registry: warning: append-only: not-fast-forward`},
		{Name: "a merge that brings a re-issue of main", World: "main: [{listing: bob}, {reissue: ada}]",
			Base: "{listing: ada}", PR: "{listing: nova}, {commit: Add}, {merge: main}",
			Want: `registry: warning: append-only: not-fast-forward`},
		{Name: "a merge, and a re-issue before it", World: "main: [{listing: bob}]", Base: "{listing: ada}",
			PR:   "{reissue: ada}, {commit: Renew}, {merge: main}",
			Want: `registry: warning: append-only: not-fast-forward`},
		{Name: "a merge, and a re-issue of what main re-issued", World: `
base: [{listing: ada}]
main: [{at: -3h}, {reissue: ada}]
pr: [{merge: main}, {commit: Merge}, {reissue: ada}]
`, Want: `registry: warning: append-only: not-fast-forward`},
	}))
}

// A commit of the history that re-issues two listings is at fault as the pull request is.
func TestSeveralReissues(t *testing.T) {
	checktest.Run(t, []checktest.Case{{Name: "two",
		World: `{base: [{listing: ada}, {listing: bob}], pr: [{reissue: ada}, {reissue: bob}]}`,
		Want:  "implementations/bob.json:1:1: error: append-only: several-reissues"}})
}

// only returns the cases with only these checks.
func only(ids string, all []checktest.Case) []checktest.Case {
	for i := range all {
		all[i].Only = ids
	}
	return all
}

// What a gate under attack must not refuse: clumsy and unlucky contributors.
func TestAttackHonest(t *testing.T) {
	checktest.Run(t, []checktest.Case{
		// the first listing takes the place of .gitkeep
		{Name: "keep removed", Base: "{commit: Begin}", PR: "{listing: ada}, {remove: implementations/.gitkeep}",
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
		{Name: "lived on", World: "main: [{write: docs/x.md, text: x}]", Base: "{listing: ada, issued: -80d}",
			PR:   "{merge: main}, {commit: Sync}, {reissue: ada}",
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
		{Name: "platform lapsed", Base: "{at: -200d}, {listing: ada, host: ada.github.io, provisional: true}",
			PR: "{reissue: ada, provisional: true}", Want: `
implementations/ada.json:12:3: notice: domain-age: provisional
registry: notice: revocations: not-in-force`},
		{Name: "platform lapsed plain", Base: "{at: -200d}, {listing: ada, host: ada.github.io, provisional: true}",
			PR: "{reissue: ada, provisional: false}", Want: `
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

// A private key that is pushed is everyone's: no commit of a range may bring one.
func TestPrivateKey(t *testing.T) {
	const (
		key = `-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIFoXw5laF8OZWhfDmVoXw5laF8OZWhfDmVoXw5laF8OZ\n-----END PRIVATE KEY-----\n`
		rfc = `-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n-----END PRIVATE KEY-----\n`
		sum = `3c2f74e9c2e751560310b2bf4dd1ee944b752937c5adf4e459c02cca62f8ab0d` // of key

		base = `base: [{listing: ada}]
`
	)
	checktest.Run(t, []checktest.Case{
		// beside a listing it is no mixed change that could be split; alone; in a data directory
		{Name: "with a listing", World: base + `pr: [{listing: nova}, {write: key.pem, text: "` + key + `"}]`,
			Want: `key.pem: error: layout: private-key`,
			Says: []string{
				`"key.pem" has a private key \(a PEM block\); the SHA-256 of the file is [0-9a-f]{64}; expected no private key`,
				`fix: make a new key, and remove the file from every commit of the branch; if the key signs only examples, ` +
					`list SHA-256 under example_keys in a governance pull request first`}},
		{Name: "with a page", World: base + `pr: [{listing: nova}, {write: key.pem, text: "` + key +
			`"}, {write: page.md, text: "# A page\n"}]`,
			Want: `
key.pem: error: layout: private-key
page.md: error: append-only: mixed`},
		{Name: "layout left out", Skip: "layout", World: base + `pr: [{listing: nova}, {write: key.pem, text: "` + key + `"}]`,
			Want: `key.pem: error: append-only: mixed`},
		{Name: "alone", World: base + `pr: [{write: docs/key.pem, text: "` + key + `"}]`,
			Want: `
docs/key.pem: error: layout: private-key
docs/key.pem: warning: append-only: governance`},
		{Name: "JWK", World: base + `pr: [{write: key.json, text: '{"kty":"OKP","crv":"Ed25519","d":"WhfDmVoXw5laF8OZWhfDmVoXw5laF8OZWhfDmVoXw5k"}'}]`,
			Want: `
key.json: error: layout: private-key
key.json: warning: append-only: governance`},
		// the target of a link is a text too
		{Name: "link", World: base + `pr: [{write: docs/link, text: "` + key + `", mode: "120000"}]`,
			Want: `
docs/link: error: layout: private-key
docs/link: warning: append-only: governance`},
		// a commit brings it, and a later one takes it away
		{Name: "in passing", World: base + `pr:
  - {write: key.pem, text: "` + key + `"}
  - {commit: take it away}
  - {remove: key.pem}
  - {listing: nova}
`,
			Want: `
key.pem: error: layout: private-key
key.pem: warning: append-only: governance-in-passing`},
		{Name: "in two commits", World: base + `pr:
  - {write: key.pem, text: "` + key + `"}
  - {commit: bring it}
  - {write: key.pem, text: "a` + key + `"}
  - {commit: bring another}
  - {listing: nova}
`,
			Want: `key.pem: error: layout: private-key`},
		// what passes: what an RFC prints, what base has and moves, what the policy lists
		{Name: "published", World: base + `pr: [{write: docs/example.pem, text: "` + rfc + `"}]`,
			Want: `docs/example.pem: warning: append-only: governance`},
		{Name: "moved", World: `base: [{listing: ada}, {write: test/key.pem, text: "` + key + `"}]
pr: [{move: [test/key.pem, testdata/key.pem]}]
`,
			Want: `test/key.pem: warning: append-only: governance`},
		{Name: "day", World: base + `pr: [{write: docs/day.json, text: '{"kty":"holiday","y":2026,"d":"WhfDmVoXw5laF8OZWhfDmVoXw5laF8OZWhfDmVoXw5k"}'}]`,
			Want: `docs/day.json: warning: append-only: governance`},
		{Name: "listed", World: `policy: "example_keys: ['` + sum + `']\n"
` + base + `pr: [{write: docs/key.pem, text: "` + key + `"}]`,
			Want: `docs/key.pem: warning: append-only: governance`},
		{Name: "another listed", World: `policy: "example_keys: ['` + sum + `']\n"
` + base + `pr: [{write: docs/key.pem, text: "` + key + `\n"}]`,
			Want: `
docs/key.pem: error: layout: private-key
docs/key.pem: warning: append-only: governance`},
		// the base tree is the judge
		{Name: "proposed", World: base + `pr:
  - {write: .github/gate-policy.yml, text: "example_keys: ['` + sum + `']\n"}
  - {write: docs/key.pem, text: "` + key + `"}
`,
			Want: `
docs/key.pem: error: layout: private-key
.github/gate-policy.yml: warning: append-only: governance`},
	})
}

// The flags of a check change what its findings weigh.
func TestFlags(t *testing.T) {
	const governance = `pr: [{write: a.md, text: a}]`
	landing := func(at time.Time, landed bool) judge.Config {
		return judge.Config{Landing: &checks.Landing{At: at, Landed: landed}}
	}
	proposed := fixture.Clock.Add(-time.Hour)
	const late = `registry: error: append-only: commit-backdated`
	checktest.Run(t, only("append-only", []checktest.Case{
		{Name: "governance", World: governance, Want: `a.md: warning: append-only: governance`},
		{Name: "governance denied", World: governance, Config: judge.Config{DenyGovernance: true},
			Want: `a.md: error: append-only: governance`},
		{Name: "not landing", PR: `{at: "-3d"}, {listing: ada}`, Want: `pass`},
		{Name: "lands at once", PR: "{listing: ada}", Config: landing(proposed, false), Want: `pass`},
		{Name: "lands a day later", PR: "{listing: ada}", Config: landing(proposed.Add(checks.MaxBackdated), false),
			Want: `pass`},
		{Name: "lands later", PR: "{listing: ada}",
			Config: landing(proposed.Add(checks.MaxBackdated+time.Second), false), Want: late,
			Says: []string{`24 hours 1 second|1 day, 1 second|1 day 1 second|24h0m1s`}},
		{Name: "landed later", World: `pr: [{listing: ada}]`,
			Config: landing(proposed.Add(checks.MaxBackdated+time.Second), true),
			Want:   `registry: warning: append-only: commit-backdated`, Says: []string{`the next push is judged by itself`}},
		{Name: "lands now, two days later", PR: `{at: "-2d"}, {listing: ada}`, Config: landing(time.Time{}, false),
			Want: late},
		{Name: "nothing lands", World: `{base: [{at: "-3d"}, {listing: ada}], pr: []}`,
			Config: landing(time.Time{}, false), Want: `registry: warning: append-only: nothing-judged`},
		{Name: "records on disk", World: `pr: [{listing: ada}]`,
			Config: judge.Config{Uncommitted: []string{"implementations/nova.json"}},
			Want:   `registry: notice: append-only: uncommitted`, Says: []string{`implementations/nova.json`}},
	}))
}
