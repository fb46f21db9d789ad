package doctor

import (
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// specification is the installation of the specification's repository as init writes it.
func specification(t *testing.T) tree {
	t.Helper()
	return tree{
		".github/workflows/governance.yml": filled.Replace(text(t, docsDir+"workflows/governance.yml")),
		".github/CODEOWNERS":               filled.Replace(text(t, docsDir+"workflows/CODEOWNERS.specification")),
	}
}

func lookAtSpecification(t *testing.T, f tree) *verdict.Report {
	t.Helper()
	r := must.Get(Doctor(t.Context(), Options{Dir: f.write(t), Specification: true}))(t)
	return r
}

// In a specification repository only the governance workflow is judged, and who owns it and the roster.
func TestSpecification(t *testing.T) {
	const (
		workflow = ".github/workflows/governance.yml"
		owners   = ".github/CODEOWNERS"
	)
	for _, c := range []struct {
		name string
		edit func(tree)
		want string
	}{
		{"as init writes it", func(tree) {}, ""},
		{"with prose for a repo-config", func(f tree) {
			f[".github/repo-config.yml"] = "# Settings\n\nNobody pushes.\n"
		}, ""},
		{"no workflow", func(f tree) { delete(f, workflow) }, "error no-gate .github/workflows"},
		{"a registry's workflow instead", func(f tree) {
			f[".github/workflows/check.yml"] = filled.Replace(text(t, docsDir+"workflows/check.yml"))
			delete(f, workflow)
		}, "error no-gate .github/workflows"},
		{"the roster has no owner", func(f tree) { f[owners] = "/.github/ @acme/editors\n" },
			"error fork-can-edit-gate .github/CODEOWNERS"},
		{"the roster has one of its own", func(f tree) {
			f[owners] = "/.github/ @acme/editors\n/governance/ @acme/editors\n"
		}, ""},
		{"another job by its name", func(f tree) {
			f[".github/workflows/other.yml"] = "name: Other\non: {pull_request: {branches: [main]}}\njobs:\n" +
				"  governance-gates:\n    runs-on: ubuntu-latest\n    steps:\n      - run: \"true\"\n"
		}, "error ambiguous-name other.yml <governance-gates:>"},
		{"a job of another name", func(f tree) {
			f[".github/workflows/other.yml"] = "name: Other\non: {pull_request: {branches: [main]}}\njobs:\n" +
				"  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: \"true\"\n"
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := specification(t)
			c.edit(f)
			if got := short(f, lookAtSpecification(t, f)); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

func TestGovernanceInstallation(t *testing.T) {
	const name = ".github/workflows/governance.yml"
	for _, c := range []struct{ name, old, new, want string }{
		{"as a command", "      - uses: openagentprotocol-OAP/oap-gate@" + strings.Repeat("ab12",
			10) + " # replace by the SHA of a release\n",
			"      - run: oap-gate governance --forge\n",
			"inconclusive step-not-judged governance.yml <run: oap-gate governance --forge>"},
		{"default types", "    types: [opened, synchronize, reopened, edited, labeled, unlabeled]\n",
			"    branches: [main]\n",
			"error governance-types governance.yml <pull_request:>"},
		{"no edited", "reopened, edited,", "reopened,", "error governance-types governance.yml <types: [opened, " +
			"synchronize, " +
			"reopened, labeled, unlabeled]>"},
		{"no review", "  pull_request_review:\n    types: [submitted, edited, dismissed]\n", "",
			"error governance-types governance.yml <on:>"},
		{"all reviews", "    types: [submitted, edited, dismissed]\n", "", ""},
		{"no dismissal", "submitted, edited, dismissed", "submitted, edited",
			"error governance-types governance.yml <types: [submitted, edited]>"},
		{"target", "  pull_request_review:", "  pull_request_target:\n  pull_request_review:",
			"error pull-request-target governance.yml <pull_request_target:>"},
		{"a filter", "unlabeled]\n", "unlabeled]\n    paths: [rfcs/**]\n", "error path-filter governance.yml <paths: " +
			"[rfcs/**]>"},
		{"interpolated body", "          mode: governance\n", "          mode: governance\n      - run: |\n          " +
			"echo \"${{ github.event.pull_request.body }}\"\n", "error script-injection governance.yml <run: |>"},
		{"interpolated event", "          mode: governance\n", "          mode: governance\n      - run: |\n   " +
			"       echo '${{ toJSON(github.event) }}'\n", "error script-injection governance.yml <run: |>"},
		{"interpolated label as argument", "          mode: governance\n",
			"          args: governance --label ${{ github.event.label.name }}\n",
			"error script-injection governance.yml <uses: openagentprotocol-OAP/oap-gate@" +
				strings.Repeat("ab12", 10) + " # replace by the SHA of a release>"},
		{"some of the gates", "          mode: governance\n",
			"          mode: governance\n          checks: implementability\n",
			"error incomplete governance.yml <checks: implementability>"},
		{"as arguments", "          mode: governance\n",
			"          args: governance --forge --report json=pr.json\n",
			"inconclusive step-not-judged governance.yml <uses: openagentprotocol-OAP/oap-gate@" +
				strings.Repeat("ab12", 10) + " # replace by the SHA of a release>"},
		{"a gate left out", "          mode: governance\n",
			"          mode: governance\n          skip: charter-review\n",
			"error incomplete governance.yml <skip: charter-review>"},
		{"offline", "          mode: governance\n", "          mode: governance\n          offline: \"true\"\n",
			"error incomplete governance.yml <offline: \"true\">"},
		{"swallowed", "    timeout-minutes: 10\n", "    timeout-minutes: 10\n    continue-on-error: true\n",
			"error continue-on-error governance.yml <continue-on-error: true>"},
		{"shallow", "          fetch-depth: 0\n", "          fetch-depth: 2\n",
			"error shallow-checkout governance.yml <fetch-depth: 2>"},
		{"a token that can write", "pull-requests: read #", "pull-requests: write #",
			"error write-permissions governance.yml <pull-requests: write # the reviews, and who wrote the commits>"},
		{"a secret", "${{ github.token }}", "${{ secrets.ADMIN }}",
			"error secrets governance.yml <GITHUB_TOKEN: ${{ secrets.ADMIN }}>"},
		{"another mode", "mode: governance", "mode: governence",
			"error no-gate .github/workflows"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := specification(t)
			f.edit(t, name, c.old, c.new)
			if got := short(f, lookAtSpecification(t, f)); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}
