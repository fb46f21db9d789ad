package install

import (
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/docs"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge/repoconfig"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// page has the settings of a registry as its maintainers wrote them down for people.
const page = `# Settings of this registry

Nobody changes them without asking.

## Branch protection: main

* Force push: disabled
* Direct push: disabled (by pull request only)
* Required status checks (each must pass):
  - ` + "`validate / schema`" + `
  - ` + "`validate / receipts`" + `
* Require pull request reviews before merging: 1 Maintainer
* Dismiss stale approvals when commits are pushed: yes
* Require review from Code Owners: not used
* **Require signed commits**: yes (recommended)
* Require linear history: yes
* Allow deletions: no
* Lock branch: no

## Visibility

* Public.
* Require signed commits: perhaps
`

func TestOtherwise(t *testing.T) {
	text := must.Get(docs.Files.ReadFile("repo-config.example.yml"))(t)
	file := must.Get(repoconfig.Parse(text))(t)
	want := []string{"Require review from Code Owners: not used → code_owner_review: true",
		"**Require signed commits**: yes (recommended) → signed_commits: false",
		"Require linear history: yes → linear_history: false",
		"Required status checks: validate / schema, validate / receipts → required_checks: oap-gate"}
	if got := Otherwise([]byte(page), file.Protection); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	windows := strings.ReplaceAll(page, "\n", "\r\n")
	if got := Otherwise([]byte(windows), file.Protection); !slices.Equal(got, want) {
		t.Errorf("with line ends of Windows: %q", got)
	}
	same := file.Protection
	same.CodeOwnerReview, same.SignedCommits, same.LinearHistory = false, true, true
	same.RequiredChecks = []repoconfig.RequiredCheck{{Context: "validate / schema"}, {Context: "validate / receipts"}}
	if got := Otherwise([]byte(page), same); len(got) != 0 {
		t.Errorf("nothing differs: %q", got)
	}
	same.Approvals, same.BlockForcePush, same.BlockDeletion = 2, false, false
	if got := Otherwise([]byte(page), same); !slices.Equal(got, []string{
		"Force push: disabled → block_force_push: false",
		"Require pull request reviews before merging: 1 Maintainer → approvals: 2",
		"Allow deletions: no → block_deletion: false"}) {
		t.Errorf("three differ: %q", got)
	}
}
