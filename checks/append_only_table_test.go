package checks_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/checktest"
)

// Each way in which a merged record may not change, and the honest one next to it.
func TestAppendOnly(t *testing.T) {
	const ada = "implementations/ada.json"
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
	only := func(all []checktest.Case) []checktest.Case {
		for i := range all {
			all[i].Only = "append-only"
		}
		return all
	}
	checktest.Run(t, only([]checktest.Case{
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
			Want: `
implementations/ada.json:1:1: error: append-only: commit-tampers
registry: warning: append-only: squash`,
			Says: []string{`takes the listing away`}},
		{Name: "unreadable in between",
			World: `{base: [{listing: ada}], pr: [{write: implementations/ada.json, text: "{"}, {commit: Break}, {reissue: ada}]}`,
			Want: `
implementations/ada.json:1:1: error: append-only: commit-tampers
registry: warning: append-only: squash`,
			Says: []string{`makes the listing unreadable`}},
		{Name: "another DID in between",
			World: `{base: [{listing: ada}], pr: [{edit: implementations/ada.json, set: {/tool_did: "did:web:eve.example"}}, {commit: Edit}, {reissue: ada}]}`,
			Want: `
implementations/ada.json:1:1: error: append-only: commit-tampers
registry: warning: append-only: squash`,
			Says: []string{`changes the listing's slug or tool_did`}},
		{Name: "edited in between",
			World: `{base: [{listing: ada}], pr: [{edit: implementations/ada.json, set: {/contact: "a@ada.example"}}, {commit: Edit}, {reissue: ada}]}`,
			Want:  "registry: warning: append-only: squash"},
		{Name: "100 versions", World: versions(100), Want: "registry: warning: append-only: squash"},
		{Name: "101 versions", World: versions(101), Want: `
implementations/ada.json:1:1: error: append-only: too-many-versions
registry: warning: append-only: squash`},
	}))
}
