package doctor

import (
	"strings"
	"testing"
)

// specification is the installation of the specification's repository as the documentation says it.
func specification(t *testing.T) tree {
	t.Helper()
	return tree{
		".github/workflows/governance.yml": filled.Replace(text(t, docs+"workflows/governance.yml")),
		".github/CODEOWNERS":               filled.Replace(text(t, docs+"workflows/CODEOWNERS")),
	}
}

func TestGovernanceInstallation(t *testing.T) {
	const name = ".github/workflows/governance.yml"
	for _, c := range []struct{ name, old, new, want string }{
		{"as documented", "", "", ""},
		{"as a command", "      - uses: openagentprotocol-OAP/oap-gate@" + strings.Repeat("ab12",
			10) + " # replace by the SHA of a release\n",
			"      - run: oap-gate governance --forge\n", ""},
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
			"error script-injection governance.yml <args: governance --label ${{ github.event.label.name }}>"},
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
			"error secrets governance.yml <${{ secrets.ADMIN }}>"},
		{"another mode", "mode: governance", "mode: governence",
			"error no-repo-config .github/repo-config.yml\nerror no-gate .github/workflows"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := specification(t)
			was := f[name]
			if f[name] = strings.Replace(was, c.old, c.new, 1); c.old != "" && f[name] == was {
				t.Fatalf("%q is not in the workflow", c.old)
			}
			if got := short(f, look(t, f, nil)); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}
