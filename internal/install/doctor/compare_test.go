package doctor

import (
	"strings"
	"testing"
)

// TestOwnFiles changes one key of a file that init writes. What no other rule judges differs from init.
func TestOwnFiles(t *testing.T) {
	const check, audit, comment, remind = "check.yml", "audit.yml", "comment.yml", "remind.yml"
	const job = "    runs-on: ubuntu-latest\n"
	for _, c := range []struct{ name, file, from, to, want string }{
		{"another hour", audit, `"17 4 * * 1"`, `"41 2 * * 3"`, ""},
		{"a cron of six fields", audit, `"17 4 * * 1"`, `"17 4 * * * 1"`, "warning differs-from-init <cron:"},
		{"another runner of the forge", check, job, "    runs-on: ubuntu-24.04-arm\n", ""},
		{"a runner of one's own", check, job, "    runs-on: [self-hosted, linux]\n",
			"warning differs-from-init <runs-on: [self-hosted"},
		{"another system", check, job, "    runs-on: windows-latest\n",
			"error differs-from-init <runs-on: windows-latest"},
		{"more time", check, "timeout-minutes: 15", "timeout-minutes: 60", ""},
		{"hardly any time", check, "timeout-minutes: 15", "timeout-minutes: 9",
			"warning differs-from-init <timeout-minutes: 9"},
		{"more reports", check, "report: json=oap-gate-report.json", "report: sarif=x.sarif,json=oap-gate-report.json",
			""},
		{"another report", check, "report: json=oap-gate-report.json", "report: json=other.json",
			"warning differs-from-init <report: json=other.json"},
		{"a group that all share", check, "github.event.pull_request.number || github.run_id }}", "'x' }}",
			"error differs-from-init <concurrency:"},
		{"the upload only of successes", check, "if: always()", "if: success()",
			"warning differs-from-init <if: success()"},
		{"no push", check, "  push:\n    branches: [main]\n", "", "warning differs-from-init <on:"},
		{"no changes made", remind, `apply: "true"`, `apply: "false"`, "warning differs-from-init <apply: \"false\""},
		{"the head of another run", comment, "head: ${{ github.event.workflow_run.head_sha }}",
			"head: ${{ github.sha }}", "warning differs-from-init <head: ${{ github.sha }}"},
		{"a variable of the runner", check, job, job + "    env: {GITHUB_EVENT_PATH: x.json}\n",
			"error incomplete <GITHUB_EVENT_PATH: x.json}"},
		{"a variable of one's own", check, job, job + "    env: {LANG: C}\n", ""},
		{"a key that nobody judges", check, job, job + "    snapshot: x\n", "inconclusive unknown-key <snapshot: x"},
		{"the key that init writes", "protect.yml", "environment: repo-config", "environment: other", ""},
		{"an action of Node 20", check, "actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1",
			"actions/checkout@11bd71901bbe5b1630ceea73d27597364c9af683 # v4.2.2",
			"warning action-outdated <uses: actions/checkout"},
		{"another release", remind, "oap-gate@" + strings.Repeat("ab12", 10), "oap-gate@" + strings.Repeat("cd34", 10),
			"warning release-skew <uses: openagentprotocol-OAP/oap-gate@cd34"},
		{"defaults of the job", check, job, job + "    defaults: {run: {shell: sh}}\n",
			"error differs-from-init <defaults: {run"},
		{"defaults of the file", check, "permissions:\n", "defaults: {run: {shell: sh}}\npermissions:\n",
			"error differs-from-init <defaults: {run"},
		{"a strategy without a matrix", check, job, job + "    strategy: {fail-fast: false}\n",
			"error matrix <strategy: {fail-fast"},
		{"submodules", check, "          fetch-depth: 0\n", "          fetch-depth: 0\n          submodules: true\n",
			"warning differs-from-init <submodules: true"},
		{"the head's ref", check, "          fetch-depth: 0\n",
			"          fetch-depth: 0\n          ref: ${{ github.event.pull_request.head.sha }}\n",
			"warning differs-from-init <ref: ${{"},
		{"no issues to write", remind, "      issues: write # the reminders\n", "",
			"warning differs-from-init <permissions:"},
		{"issues only to read", remind, "issues: write # the reminders", "issues: read # the reminders",
			"warning differs-from-init <issues: read"},
		{"another system of one's own", check, job, "    runs-on: {group: x, labels: [windows-latest]}\n",
			"error differs-from-init <runs-on: {group"},
		{"a shell of the gate", check, "        with:\n          report:",
			"        shell: sh\n        with:\n          report:", "error differs-from-init <shell: sh"},
		{"an audit of another repository", audit, "          fetch-depth: 0\n",
			"          fetch-depth: 0\n          repository: acme/x\n", "error no-checkout <repository: acme/x"},
		{"an audit without the web", audit, "          report: json", "          offline: true\n          report: json",
			"error incomplete <offline: true"},
		{"an audit of some checks", audit, "          report: json", "          checks: schema\n          report: json",
			"error incomplete <checks: schema"},
		{"an audit that may fail", audit, job, job + "    continue-on-error: true\n",
			"error continue-on-error <continue-on-error: true"},
		{"reruns at once", "rerun-command.yml", "    concurrency: oap-rerun-${{ github.event.issue.number }}\n",
			"", "warning differs-from-init <rerun-command:"},
		{"one comment at a time", comment, job, job + "    concurrency: comment\n", ""},
		{"paths of a push", check, "  push:\n    branches: [main]\n",
			"  push:\n    branches: [main]\n    paths: [implementations/**]\n", ""},
		{"starts by hand too", check, "  merge_group:\n", "  merge_group:\n  workflow_dispatch:\n", ""},
		{"no condition of the comment", comment, "    if: >-\n      " +
			"github.event.workflow_run.event == 'pull_request' &&" +
			"\n      (github.event.workflow_run.conclusion == 'success' || github.event.workflow_run.conclusion == " +
			"'failure')\n", "", "warning differs-from-init <comment:"},
		{"labels and mentions", comment, "          mode: comment\n",
			"          mode: comment\n          labels: \"true\"\n          mention: \"true\"\n", ""},
		{"no upload", check, "actions/upload-artifact", "actions/other-upload",
			"warning differs-from-init <oap-gate:"},
		{"a second gate that may fail", check, "      # For comment.yml", "      - uses: openagentprotocol-OAP/" +
			"oap-gate@" + strings.Repeat("ab12", 10) + "\n        continue-on-error: true\n        with: {report: " +
			"json=oap-gate-report.json}\n      # For comment.yml", "error continue-on-error <continue-on-error: true"},
		{"the owner in other letters", remind, "openagentprotocol-OAP/oap-gate", "OpenAgentProtocol-oap/oap-gate", ""},
		{"another owner", remind, "openagentprotocol-OAP/oap-gate", "openagentprotocol-0AP/oap-gate",
			"error other-owner <uses: openagentprotocol-0AP"},
	} {
		f := documented(t)
		path := ".github/workflows/" + c.file
		f.edit(t, path, c.from, c.to)
		r := look(t, f, nil)
		if diffs := r.Installation.Diffs; len(diffs) > 1 || (len(diffs) == 1) != (c.want != "") ||
			c.want != "" && !strings.Contains(diffs[0], "\n--- "+path+" (here)\n") {
			t.Errorf("%s: the diffs are %q", c.name, diffs)
		}
		got := strings.ReplaceAll(short(f, r), c.file+" ", "")
		if c.want == "" && got != "" || !strings.HasPrefix(got, c.want) || strings.Contains(got, "\n") {
			t.Errorf("%s: the findings are %q, want %q", c.name, got, c.want)
		}
	}
	for _, name := range []string{"comment", "audit", "protect", "remind", "rerun", "rerun-command"} {
		f := documented(t)
		delete(f, ".github/workflows/"+name+".yml")
		want := "warning differs-from-init .github/workflows/" + name + ".yml"
		if got := short(f, look(t, f, nil)); got != want {
			t.Errorf("without %s: the findings are %q, want %q", name, got, want)
		}
	}
}

// TestAutoMerge checks that auto-merge.yml is judged as the other files are, if it is there.
func TestAutoMerge(t *testing.T) {
	const path = ".github/workflows/auto-merge.yml"
	const head, condition = "github.event.workflow_run.head_sha }}\n          apply",
		"    if: github.event.workflow_run.event == 'pull_request'\n"
	for from, want := range map[string]string{
		"":                "",
		head:              "warning differs-from-init auto-merge.yml <head: ${{ x",
		"contents: write": "error write-permissions auto-merge.yml <issues: write",
		condition:         "warning differs-from-init auto-merge.yml <auto-merge:",
	} {
		f := documented(t)
		f[path] = filled.Replace(text(t, docsDir+"workflows/auto-merge.yml"))
		to := map[string]string{"contents: write": "contents: write\n      issues: write",
			head: "x }}\n          apply"}[from]
		f.edit(t, path, from, to)
		if got := short(f, look(t, f, nil)); !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%q: the findings are %q, want %q", from, got, want)
		}
	}
}
