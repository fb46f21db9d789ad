package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/install"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/strictyaml"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/ghtest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/needs"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

const docsDir = "../../../docs/"

// filled stands for a release's SHA in place of the zeros.
var filled = strings.NewReplacer(strings.Repeat("0", 64), strings.Repeat("ab12", 16), strings.Repeat("0", 40),
	strings.Repeat("ab12", 10), "@example/", "@acme/")

// tree is an installation as the documentation says it: file name to text.
type tree map[string]string

func documented(t *testing.T) tree {
	t.Helper()
	all := tree{"action.yml": "name: oap-gate", "schemas/implementation.schema.json": "{}",
		"implementations/.gitkeep": ""}
	for to, from := range map[string]string{
		".github/repo-config.yml":       "repo-config.example.yml",
		".github/CODEOWNERS":            "workflows/CODEOWNERS",
		".github/workflows/check.yml":   "workflows/check.yml",
		".github/workflows/comment.yml": "workflows/comment.yml",
		".github/workflows/audit.yml":   "workflows/audit.yml",
		".github/workflows/protect.yml": "workflows/protect.yml",
		".github/workflows/remind.yml":  "workflows/remind.yml",
		".github/workflows/rerun.yml":   "workflows/rerun.yml",

		".github/workflows/rerun-command.yml": "workflows/rerun-command.yml",
		".github/dependabot.yml":              "dependabot.example.yml",
	} {
		all[to] = filled.Replace(text(t, docsDir+from))
	}
	return all
}

func text(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// edit replaces the first such text of a file, which is there.
func (f tree) edit(t *testing.T, file, from, to string) {
	t.Helper()
	if !strings.Contains(f[file], from) {
		t.Fatalf("%s does not hold %q", file, from)
	}
	f[file] = strings.Replace(f[file], from, to, 1)
}

func (f tree) write(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range f {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// modes are those of protocols.
var modes = []string{"oasis", "opengap", "aaep"}

func look(t *testing.T, f tree, c *forge.Client) *verdict.Report {
	t.Helper()
	r, err := Doctor(t.Context(), Options{Dir: f.write(t), Forge: c, Modes: modes})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// found are the findings of all rules, by their places.
func found(r *verdict.Report) []verdict.Finding {
	var all []verdict.Finding
	for result := range r.Results.All() {
		all = append(all, result.Findings...)
	}
	slices.SortStableFunc(all, func(a, b verdict.Finding) int {
		return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			strings.Compare(a.Code, b.Code), strings.Compare(a.Message, b.Message))
	})
	return all
}

// short gives each finding with the text to which it points.
func short(f tree, r *verdict.Report) string {
	var out []string
	for _, one := range found(r) {
		at := one.Path
		if one.Line > 0 {
			line := strings.Split(f[one.Path], "\n")[one.Line-1]
			at = filepath.Base(one.Path) + " <" + string([]rune(line)[one.Column-1:]) + ">"
		}
		out = append(out, fmt.Sprintf("%s %s %s", one.Severity, one.Code, at))
	}
	return strings.Join(out, "\n")
}

func TestDocumentedInstallationIsSound(t *testing.T) {
	f := documented(t)
	r := look(t, f, nil)
	if got := short(f, r); got != "" || r.Verdict.ExitStatus() != 0 {
		t.Errorf("verdict %s\n%s\n%+v", r.Verdict, got, found(r))
	}
	if want := ".github/CODEOWNERS .github/repo-config.yml .github/workflows/audit.yml .github/workflows/check.yml " +
		".github/workflows/comment.yml .github/workflows/protect.yml .github/workflows/remind.yml " +
		".github/workflows/rerun-command.yml " +
		".github/workflows/rerun.yml"; strings.Join(r.Installation.Files, " ") != want {
		t.Errorf("examined %q", r.Installation.Files)
	}
}

func tenJobs(t *testing.T) tree {
	f := documented(t)
	f[".github/workflows/check.yml"] = filled.Replace(text(t, docsDir+"workflows/check-ten-jobs.yml"))
	var contexts strings.Builder
	for _, row := range Section6 {
		fmt.Fprintf(&contexts, "    - context: %s\n      app_id: 15368\n", row)
	}
	config := f[".github/repo-config.yml"]
	from, to := strings.Index(config, "    - context"), strings.Index(config, "  up_to_date")
	f[".github/repo-config.yml"] = config[:from] + contexts.String() + config[to:]
	return f
}

func TestTenJobsAreSound(t *testing.T) {
	for _, c := range checks.All {
		if !slices.Contains(Section6, c.Row) {
			t.Errorf("%s stands in the row %q, which section 6 does not have", c.ID, c.Row)
		}
	}
	f := tenJobs(t)
	if r := look(t, f, nil); short(f, r) != "" {
		t.Errorf("%s\n%+v", short(f, r), found(r))
	}
	for _, row := range Section6 {
		check, ids := f[".github/workflows/check.yml"], strings.Join(InRow(row), ",")
		if !strings.Contains(check, "    name: "+row+"\n") || !strings.Contains(check, "          checks: "+ids+"\n") {
			t.Errorf("no job %q of %q", row, ids)
		}
	}
	f.edit(t, ".github/workflows/check.yml", "append-only,reissue", "append-only")
	if r := look(t, f, nil); short(f, r) != "error section-6 repo-config.yml <required_checks:            # section "+
		"7: every check in section 6>" ||
		!strings.Contains(found(r)[0].Message, `"No tampering": no required check runs ["reissue"]`) {
		t.Errorf("%s\n%+v", short(f, r), found(r))
	}
}

// TestEachInstallation checks what init writes with each of its flags: doctor finds nothing to do, and neither do
// actionlint and shellcheck, nor in the other workflows of the documentation.
func TestEachInstallation(t *testing.T) {
	lint := func(name, pattern string) {
		if !needs.Has(t, name, "actionlint") {
			return
		}
		needs.Has(t, "scripts of "+name, "shellcheck") // which actionlint runs by itself
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		out, err := exec.CommandContext(t.Context(), "actionlint", append([]string{"-no-color"}, files...)...).
			CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
	lint("docs", docsDir+"workflows/*.yml")
	for name, r := range map[string]install.Release{"": {}, "--auto-merge renewals": {AutoMerge: true},
		"--trial": {Trial: true}, "--specification": {Specification: true},
		"of another branch": {Branch: "release/1"}} {
		r.Commit, r.Version, r.Owner = strings.Repeat("ab12", 10), "v1.2.3", "@acme/maintainers"
		f := tree{"README.md": ""}
		for _, file := range install.Files(r) {
			f[file.Path] = string(file.Text)
		}
		dir, want := f.write(t), ""
		report, err := Doctor(t.Context(), Options{Dir: dir, Branch: r.Branch, Modes: modes,
			Specification: r.Specification})
		if err != nil {
			t.Fatal(err)
		}
		if r.Trial {
			want = "notice trial check.yml <oap-gate-trial:>"
		}
		if got := short(f, report); got != want {
			t.Errorf("init %s: the findings are %q, want %q", name, got, want)
		}
		lint("init "+name, filepath.Join(dir, workflowDirectory, "*.yml"))
	}
}

// What a fork's pull request starts has a token that neither alerts nor opens issues; no run of the gate cancels that
// of a queue or a push.
func TestDocumentedJobs(t *testing.T) {
	files, err := filepath.Glob(docsDir + "workflows/*.yml")
	if err != nil || len(files) < 5 {
		t.Fatal(files, err)
	}
	privileged := map[string]string{}
	for _, file := range files {
		w, err := (&inspection{modes: modes}).newWorkflow(file, []byte(text(t, file)))
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range w.jobs {
			for _, p := range append(w.get("permissions").kids, j.get("permissions").kids...) {
				if p.text != "write" {
					continue
				}
				if name := p.key; name == "security-events" || name == "issues" {
					privileged[filepath.Base(file)+" "+j.key] = name
					for _, event := range w.on.kids {
						if event.key != "schedule" && event.key != "workflow_dispatch" {
							t.Errorf("%s: the event %s starts job %s, which may write %s", file, event.key, j.key, name)
						}
					}
				}
			}
		}
		if !w.runsOn("merge_group") {
			continue
		}
		group := w.get("concurrency")
		// A run's id is of that run alone; the number of a pull request is none of a queue or a push.
		if group.get("group").text != "oap-gate-${{ github.event.pull_request.number || github.run_id }}" ||
			group.get("cancel-in-progress").text != "${{ github.event_name == 'pull_request' }}" {
			t.Errorf("%s: the runs of a queue or a push share a group", file)
		}
	}
	want := map[string]string{"audit.yml code-scanning": "security-events", "audit.yml issue": "issues",
		"remind.yml remind": "issues"}
	if !maps.Equal(privileged, want) {
		t.Errorf("%v may write alerts or issues, want %v", privileged, want)
	}
}

func TestFaults(t *testing.T) {
	const check, comment, audit, protect, config, owners = ".github/workflows/check.yml",
		".github/workflows/comment.yml", ".github/workflows/audit.yml", ".github/workflows/protect.yml",
		".github/repo-config.yml", ".github/CODEOWNERS"
	aSHA := strings.Repeat("ab12", 10)
	const job, gate, checkout = "  oap-gate:\n", "      - uses: openagentprotocol-OAP", "      - uses: actions/checkout"
	const pin = "@ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12 # replace by the SHA of a release>"
	const required = "repo-config.yml <required_checks:            # section 7: every check in section 6>"
	whole, other := documented(t)[check], documented(t)[comment]
	action := whole[strings.Index(whole, gate):strings.Index(whole, "      # For comment.yml")]
	image := "      - uses: docker://ghcr.io/x/oap-gate@sha256:" + strings.Repeat("ab12", 16) + "\n"
	_, steps, _ := strings.Cut(whole, job)
	const second = "inconclusive step-not-judged check.yml <uses: " +
		"actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1>"
	const with = "          report: json=oap-gate-report.json\n"
	clone := strings.Replace(whole[strings.Index(whole, checkout):strings.Index(whole, gate)], "fetch-depth: 0",
		"fetch-depth: 0\n          repository: acme/other\n          path: other", 1)
	for _, c := range []struct {
		name     string
		file     string
		from, to string // an empty from: the file is not there
		want     string
	}{
		{"shallow by default", check, "          fetch-depth: 0\n", "",
			"error shallow-checkout check.yml <uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # " +
				"v7.0.1>"},
		{"shallow", check, "          fetch-depth: 0", "          fetch-depth: 2",
			"error shallow-checkout check.yml <fetch-depth: 2>"},
		{"partial", check, "          fetch-depth: 0", "          fetch-depth: 0\n          filter: blob:none",
			"error partial-checkout check.yml <filter: blob:none>"},
		{"credentials", check, "          persist-credentials: false\n", "",
			"warning credentials check.yml <uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1>"},
		{"no checkout", check, checkout, "      - uses: example/other",
			"inconclusive step-not-judged check.yml <uses: example/other@3d3c42e5aac5ba805825da76410c181273ba90b1 # " +
				"v7.0.1>\nerror no-checkout check.yml <uses: openagentprotocol-OAP/oap-gate" + pin},
		{"checkout after the gate", check, checkout, "      - uses: ./\n" + checkout,
			"warning local-action check.yml <uses: ./>\nerror no-checkout check.yml <uses: ./>\ninconclusive " +
				"step-not-judged check.yml <uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1>"},
		{"an issue and more", audit, "      issues: write # the one issue\n",
			"      issues: write\n      contents: write\n", "error write-permissions audit.yml <contents: write>"},
		{"alerts and more", audit, "      security-events: write #",
			"      issues: write\n      security-events: write #",
			"error write-permissions audit.yml <issues: write>"},
		{"alerts by all permissions", audit, "    permissions:\n      security-events: write #",
			"    permissions: write-all\n      #", "error write-permissions audit.yml <permissions: write-all>"},
		{"alerts by a tag", audit, "upload-sarif@2892aa5e19bbd11bc0cff5427e3b750a04d9e3c2 #", "upload-sarif@v3 #",
			"error unpinned audit.yml <uses: github/codeql-action/upload-sarif@v3 # v4.38.2>"},
		{"no checkout before the audit", audit, checkout, "      - uses: example/other",
			"inconclusive step-not-judged audit.yml <uses: example/other@3d3c42e5aac5ba805825da76410c181273ba90b1 # " +
				"v7.0.1>\nerror no-checkout audit.yml <uses: openagentprotocol-OAP/oap-gate" + pin},
		{"checkout elsewhere", check, "          fetch-depth: 0", "          fetch-depth: 0\n          path: registry",
			"error no-checkout check.yml <path: registry>"},
		{"gate of a directory above", check, with, with + "          path: ../registry\n",
			"error incomplete check.yml <path: ../registry>"},
		{"gate next to another clone", check, gate, clone + gate, second},
		{"a clone of another repository", check, "          fetch-depth: 0",
			"          fetch-depth: 0\n          repository: acme/other",
			"error no-checkout check.yml <repository: acme/other>"},
		{"path filter", check, "  pull_request:\n", "  pull_request:\n    paths: [implementations/**]\n",
			"error path-filter check.yml <paths: [implementations/**]>"},
		{"other branches", check, "  pull_request:\n    branches: [main]\n",
			"  pull_request:\n    branches: [release/*, 'm']\n",
			"error branch-filter check.yml <branches: [release/*, 'm']>"},
		{"main taken out again", check, "  pull_request:\n    branches: [main]\n",
			"  pull_request:\n    branches: ['**', '!main']\n",
			"error branch-filter check.yml <branches: ['**', '!main']>"},
		{"main is ignored", check, "  pull_request:\n    branches: [main]\n",
			"  pull_request:\n    branches-ignore: 'm*n'\n", "error branch-filter check.yml <branches-ignore: 'm*n'>"},
		{"others too", check, "  pull_request:\n    branches: [main]\n",
			"  pull_request:\n    branches: ['!main', 'mai*', '[', '[z']\n",
			"warning other-branches check.yml <branches: ['!main', 'mai*', '[', '[z']>"},
		{"pushes to all branches", check, "  push:\n    branches: [main]\n", "  push:\n",
			"warning other-branches check.yml <push:>"},
		{"pushed tags", check, "  push:\n    branches: [main]\n", "  push:\n    tags: [v*]\n", ""},
		{"types", check, "  pull_request:\n", "  pull_request:\n    types: [opened, reopened]\n",
			"error event-types check.yml <types: [opened, reopened]>"},
		{"merge queue is filtered", check, "  merge_group:\n", "  merge_group:\n    branches: [x]\n",
			"error branch-filter check.yml <branches: [x]>"},
		{"no merge_group", check, "  merge_group:\n", "", "warning no-merge-group check.yml <on:>"},
		{"triggers as a list", check, "on:\n  pull_request:\n    branches: [main]\n  merge_group:\n  push:\n    " +
			"branches: [main]\n", "on: [pull_request, merge_group]\n",
			"warning other-branches check.yml <pull_request, merge_group]>"},
		{"one trigger", check, "on:\n  pull_request:\n    branches: [main]\n  merge_group:\n  push:\n    branches: " +
			"[main]\n", "on: pull_request\n", "warning no-merge-group check.yml <on: pull_request>\nwarning " +
			"other-branches check.yml <on: pull_request>"},
		{"schedule beside", check, "  merge_group:\n", "  merge_group:\n  schedule:\n    - cron: '1 1 * * *'\n",
			"error schedule check.yml <schedule:>"},
		{"pull_request_target", check, "  pull_request:\n    branches: [main]\n", "  pull_request_target:\n",
			"error no-gate .github/workflows\nerror pull-request-target check.yml <pull_request_target:>"},
		{"pull_request_target, acknowledged", check, "  merge_group:\n", "  merge_group:\n@allow",
			"error pull-request-target check.yml <pull_request_target:>\nerror incomplete check.yml " +
				"<allow-pull-request-target: true>"},
		{"called from elsewhere", check, "  merge_group:\n", "  merge_group:\n  workflow_call:\n",
			"inconclusive reusable-workflow check.yml <workflow_call:>"},
		{"calls another file", audit, "jobs:\n",
			"jobs:\n  gate:\n    uses: example/x/.github/workflows/oap-gate.yml@main\n",
			"inconclusive reusable-workflow audit.yml <uses: example/x/.github/workflows/oap-gate.yml@main>"},
		{"matrix", check, job, job + "    strategy:\n      matrix:\n        a: [1, 2]\n",
			"error matrix check.yml <strategy:>"},
		{"computed name", check, job, job + "    name: oap-gate ${{ github.ref }}\n", "error section-6 " + required +
			"\nwarning unknown-context " + required + "\nerror name-expression check.yml <name: oap-gate ${{ " +
			"github.ref }}>"},
		{"other name", check, job, "  gate:\n", "error section-6 " + required + "\nwarning unknown-context " +
			required},
		{"condition", check, job, job + "    if: github.actor != 'x'\n",
			"error condition check.yml <if: github.actor != 'x'>"},
		{"conditions that change nothing", check, job, job + "    if: ${{ always() }}\n", ""},
		{"a condition of nothing", check, job, job + "    if: ${{ }}\n", "error condition check.yml <if: ${{ }}>"},
		{"an empty condition", check, job, job + "    if: ''\n", "error condition check.yml <if: ''>"},
		{"inputs that are empty", check, with, with + "          skip: ''\n          path:\n", ""},
		{"a directory with the name of nothing", check, with, with + "          path: '~'\n",
			"error incomplete check.yml <path: '~'>"},
		{"condition on the step", check, gate, "      - if: failure()\n        uses: openagentprotocol-OAP",
			"error condition check.yml <if: failure()>"},
		{"success is no condition", check, gate, "      - if: success()\n        uses: openagentprotocol-OAP", ""},
		{"condition on the checkout", check, checkout, "      - if: github.ref\n        uses: actions/checkout",
			"error condition check.yml <if: github.ref>"},
		{"continue-on-error", check, job, job + "    continue-on-error: true\n",
			"error continue-on-error check.yml <continue-on-error: true>"},
		{"step goes on", check, gate, "      - continue-on-error: ${{ true }}\n        uses: openagentprotocol-OAP",
			"error continue-on-error check.yml <continue-on-error: ${{ true }}>"},
		{"needs", check, job, "  a:\n    runs-on: ubuntu-latest\n    steps: []\n" + job + "    needs: [a]\n",
			"error needs check.yml <needs: [a]>"},
		{"no permissions", check, "permissions:\n  contents: read\n", "", "warning permissions check.yml <oap-gate:>"},
		{"write-all", check, "permissions:\n  contents: read\n", "permissions: write-all\n",
			"error write-permissions check.yml <permissions: write-all>"},
		{"may write", check, "permissions:\n  contents: read\n", "permissions:\n  contents: write\n",
			"error write-permissions check.yml <contents: write>"},
		{"secret", check, gate, "      - env: {KEY: '${{ secrets.KEY }}'}\n        uses: openagentprotocol-OAP",
			"error secrets check.yml <KEY: '${{ secrets.KEY }}'}>"},
		{"secret for all", check, "permissions:\n", "env:\n  KEY: ${{ secrets['KEY'] }}\npermissions:\n",
			"error secrets check.yml <KEY: ${{ secrets['KEY'] }}>"},
		{"its own token", check, gate, "      - env: {T: '${{ secrets.GITHUB_TOKEN }}'}\n        uses: " +
			"openagentprotocol-OAP", "warning token check.yml <T: '${{ secrets.GITHUB_TOKEN }}'}>"},
		{"its own token, otherwise", check, gate,
			"      - env: {T: '${{ github.token }}'}\n        uses: openagentprotocol-OAP",
			"warning token check.yml <T: '${{ github.token }}'}>"},
		{"tag", check, "actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1", "actions/checkout@v4",
			"error unpinned check.yml <uses: actions/checkout@v4 # v7.0.1>"},
		{"short SHA", check, "actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1", "actions/checkout@3d3c42e",
			"error unpinned check.yml <uses: actions/checkout@3d3c42e # v7.0.1>"},
		{"image by tag", comment, "openagentprotocol-OAP/oap-gate@ab12ab12ab12ab12ab12ab12ab12ab12ab12ab12 # " +
			"replace by the SHA of a release", "docker://ghcr.io/x/oap-gate:v1",
			"warning differs-from-init .github/workflows/comment.yml\ninconclusive step-not-judged comment.yml " +
				"<uses: docker://ghcr.io/x/oap-gate:v1>\nerror unpinned comment.yml <uses: " +
				"docker://ghcr.io/x/oap-gate:v1>"},
		{"offline", check, "        with:\n          report:",
			"        with:\n          offline: true\n          report:", "error incomplete check.yml <offline: true>"},
		{"skip", check, "        with:\n          report:",
			"        with:\n          skip: domain-age\n          report:",
			"error incomplete check.yml <skip: domain-age>"},
		{"base", check, "        with:\n          report:", "        with:\n          base: HEAD\n          report:",
			"error incomplete check.yml <base: HEAD>"},
		{"computed checks", check, "        with:\n          report:",
			"        with:\n          checks: ${{ vars.X }}\n          report:",
			"error incomplete check.yml <checks: ${{ vars.X }}>"},
		{"unknown check", check, "        with:\n          report:",
			"        with:\n          checks: scheme\n          report:", "error section-6 " + required +
				"\nerror unknown-check check.yml <checks: scheme>"},
		{"script", check, action, action + "      - run: echo ${{ github.event.pull_request.title }}\n",
			"error script-injection check.yml <run: echo ${{ github.event.pull_request.title }}>"},
		{"number in a script", check, action, action + "      - run: echo ${{ github.event.pull_request.number }}\n",
			""},
		{"name taken by hand", audit, "  audit:\n", "  oap-gate:\n", "error ambiguous-name audit.yml <oap-gate:>"},
		{"name taken on push", protect, "  protect:\n", "  oap-gate:\n",
			"error ambiguous-name protect.yml <oap-gate:>"},
		{"status thrown away", check, action, "      - run: oap-gate check || true\n",
			"inconclusive step-not-judged check.yml <run: oap-gate check || true>"},
		{"many calls", check, action, "      - run: |\n" + strings.Repeat("          oap-gate check\n", 4000),
			"inconclusive step-not-judged check.yml <run: |>"},
		{"commented out", check, action, "      - run: |\n          # oap-gate check\n          true\n",
			"error no-gate .github/workflows"},
		{"another command of the action", check, "          report:", "          args: version\n          report:",
			"inconclusive step-not-judged check.yml <uses: openagentprotocol-OAP/oap-gate" + pin},
		{"another entry point", check, "          report:", "          entrypoint: /bin/true\n          report:",
			"error incomplete check.yml <entrypoint: /bin/true>"},
		{"arguments of the image", check, action, image + "        with:\n          args: check --skip domain-age\n",
			"inconclusive step-not-judged check.yml <uses: docker://ghcr.io/x/oap-gate@sha256:" +
				strings.Repeat("ab12", 16) + ">"},
		{"input by the environment", check, gate,
			"      - env: {INPUT_SKIP: domain-age}\n        uses: openagentprotocol-OAP",
			"error incomplete check.yml <INPUT_SKIP: domain-age}>"},
		{"input by the job's environment", check, job, job + "    env:\n      Input_Offline: true\n",
			"error incomplete check.yml <Input_Offline: true>"},
		{"input in capitals", check, "          report:", "          OFFLINE: true\n          report:",
			"error incomplete check.yml <OFFLINE: true>"},
		{"off is off", check, "          report:", "          offline: False\n          report:", ""},
		{"the doctor comes first", check, gate, "      - run: oap-gate doctor\n" + gate,
			"inconclusive step-not-judged check.yml <run: oap-gate doctor>"},
		{"the gate is elsewhere", check, steps, "    uses: acme/oap-gate-flows/.github/workflows/gate.yml@main\n",
			"inconclusive reusable-workflow check.yml <uses: acme/oap-gate-flows/.github/workflows/gate.yml@main>"},
		{"another app", config, "app_id: 15368 ", "app_id: 12345 ",
			"inconclusive check-from-other-app repo-config.yml <context: oap-gate       # the name of the job>"},
		{"script in capitals", check, action, action + "      - run: echo ${{ GITHUB.HEAD_REF }}\n",
			"error script-injection check.yml <run: echo ${{ GITHUB.HEAD_REF }}>"},
		{"script of an action", check, action, action + "      - uses: actions/github-script@" + aSHA +
			"\n        with: {script: 'f(${{ github.event.pull_request.title }})'}\n",
			"error script-injection check.yml <uses: actions/github-script@" + aSHA + ">"},
		{"secret in capitals", check, gate,
			"      - env: {KEY: '${{ SECRETS.KEY }}'}\n        uses: openagentprotocol-OAP",
			"error secrets check.yml <KEY: '${{ SECRETS.KEY }}'}>"},
		{"name taken on a review", comment, other, strings.NewReplacer("on:\n", "on:\n  pull_request_review:\n",
			"  comment:\n", "  oap-gate:\n").Replace(other), "error ambiguous-name comment.yml <oap-gate:>"},
		{"sparse", check, "          fetch-depth: 0", "          fetch-depth: 0\n          sparse-checkout: schemas",
			"error partial-checkout check.yml <sparse-checkout: schemas>"},
		{"partial in capitals", check, "          fetch-depth: 0",
			"          FETCH-DEPTH: 0\n          Filter: blob:none",
			"error partial-checkout check.yml <Filter: blob:none>"},
		{"secret in words alone", check, gate, "      - env: {K: \"${{ format('secrets.K {0}', 1) }}\"}\n" +
			"        uses: openagentprotocol-OAP", ""},
		{"script in a call", check, action, action +
			"      - run: echo ${{ format('{0}', github.event.issue.title) }}\n",
			"error script-injection check.yml <run: echo ${{ format('{0}', github.event.issue.title) }}>"},
		{"script by an index", check, action, action +
			"      - run: echo ${{ github.event['issue']['title'] }}\n",
			"error script-injection check.yml <run: echo ${{ github.event['issue']['title'] }}>"},
		{"script with a fork's default branch", check, action, action +
			"      - run: echo ${{ github.event.pull_request.head.repo.default_branch }}\n",
			"error script-injection check.yml <run: echo ${{ github.event.pull_request.head.repo.default_branch }}>"},
		{"script with the registry's default branch", check, action, action +
			"      - run: echo ${{ github.event.repository.default_branch }}\n", ""},
		{"script with a part of the event", check, action, action +
			"      - run: echo '${{ toJSON(github.event.pull_request.head) }}'\n",
			"error script-injection check.yml <run: echo '${{ toJSON(github.event.pull_request.head) }}'>"},
		{"script with a variable in an expression", check, action, action +
			"      - env: {TITLE: '${{ github.event.pull_request.title }}', N: 1}\n" +
			"        run: echo ${{ env.N }} ${{ env.TITLE }}\n",
			"error script-injection check.yml <run: echo ${{ env.N }} ${{ env.TITLE }}>"},
		{"script with a variable that a stranger's variable words", check, steps,
			"    env: {A: '${{ github.head_ref }}'}\n" + strings.Replace(steps, action, action+
				"      - env: {B: \"x ${{ format('}', env.A) }}\"}\n        run: echo ${{ env.C || env.B || 1 }}\n", 1),
			"error script-injection check.yml <run: echo ${{ env.C || env.B || 1 }}>"},
		{"script with the job's variable in an expression", check, job, job +
			"    env: {TITLE: '${{ github.event.pull_request.title }}'}\n", ""},
		{"script with a variable", check, action, action +
			"      - env: {TITLE: '${{ github.event.pull_request.title }}', N: 1}\n" +
			"        run: echo ${{ env.N }} \"$TITLE\"\n", ""},
		{"a script before the gate", check, gate, "      - run: make tools\n" + gate,
			"inconclusive step-not-judged check.yml <run: make tools>"},
		{"a script before the checkout", check, checkout, "      - run: echo A=b >> $GITHUB_ENV\n" + checkout,
			"inconclusive step-not-judged check.yml <run: echo A=b >> $GITHUB_ENV>"},
		{"an image before the gate", check, gate, "      - uses: docker://ghcr.io/x/y@sha256:" +
			strings.Repeat("ab12", 16) + "\n" + gate, "inconclusive step-not-judged check.yml <uses: " +
			"docker://ghcr.io/x/y@sha256:" + strings.Repeat("ab12", 16) + ">"},
		{"behind the gate", check, action, action + "      - run: make tools\n      - uses: ./tools\n", ""},
		{"behind the gate, with the base's rights", check, action, action + "      - run: make tools\n@allow",
			"error pull-request-target check.yml <pull_request_target:>\nerror incomplete check.yml " +
				"<allow-pull-request-target: true>\ninconclusive step-not-judged check.yml <run: make tools>"},
		{"what a shell reads first", check, job, job + "    env: {BASH_ENV: tools/env}\n",
			"error incomplete check.yml <BASH_ENV: tools/env}>"},
		{"container by tag", check, job, job + "    container: ghcr.io/x/y:latest\n",
			"error unpinned check.yml <container: ghcr.io/x/y:latest>"},
		{"container of that image", check, job, job + "    container: {image: '${{ vars.IMAGE }}'}\n",
			"error unpinned check.yml <container: {image: '${{ vars.IMAGE }}'}>"},
		{"container by digest", check, job, job + "    container: x@sha256:" + aSHA + strings.Repeat("1", 24) + "\n",
			"error differs-from-init check.yml <container: x@sha256:" + aSHA + strings.Repeat("1", 24) + ">"},
		{"comment checks out by capitals", comment, "    steps:\n",
			"    steps:\n      - uses: actions/checkout@" + aSHA + "\n        with: {Ref: '${{ github.head_ref }}'}\n",
			"error privileged-checkout comment.yml <uses: actions/checkout@" + aSHA + ">"},
		{"a branch before the comment", comment, "    steps:\n",
			"    steps:\n      - uses: actions/checkout@" + aSHA + "\n        with: {ref: x}\n",
			"inconclusive step-not-judged comment.yml <uses: actions/checkout@" + aSHA + ">"},
		{"an anchor that nothing names", check, "permissions:\n", "permissions: &p\n", ""},
		{"duplicate key", check, "permissions:\n", "permissions: {}\npermissions:\n",
			"inconclusive workflow-not-read check.yml <permissions:>"},
		{"no gate", check, "", "", "error no-gate .github/workflows\n" +
			"warning workflow-run comment.yml <workflows: [OAP gate]>"},
		{"comment on pull_request", comment, "  workflow_run:\n    workflows: [OAP gate]\n    types: [completed]\n",
			"  pull_request:\n", "warning comment-event comment.yml <on:>"},
		{"comment after a workflow that is not there", comment, "[OAP gate]", "[OAP]",
			"warning workflow-run comment.yml <workflows: [OAP]>"},
		{"comment may write contents", comment, "contents: read", "contents: write",
			"error write-permissions comment.yml <contents: write # the parents of the merge commit that was judged>"},
		{"protect on pull_request", protect, "  workflow_dispatch:\n", "  pull_request:\n",
			"warning differs-from-init protect.yml <on:>\nerror admin-token protect.yml <pull_request:>"},
		{"no config", config, "", "", "error no-repo-config .github/repo-config.yml"},
		{"config is not strict", config, "approvals: 1", "approvals: one",
			"error repo-config repo-config.yml <one                # section 7: one Maintainer review>"},
		{"no approvals", config, "approvals: 1 ", "approvals: 0 ",
			"error config-below-rfc repo-config.yml <approvals: 0                # section 7: one Maintainer review>"},
		{"force push is not spoken of", config, "  block_force_push: true", "  #",
			"error config-below-rfc repo-config.yml <protection:>"},
		{"a merge queue", config, "merge_queue: false", "merge_queue: true", ""},
		{"rebasing", config, "block_rebase_merging: true", "block_rebase_merging: false",
			"warning rebase-merging repo-config.yml <block_rebase_merging: false  # a rebase would put the steps " +
				"between on the branch>"},
		{"any app", config, "      app_id: 15368 ", "      # ",
			"warning check-from-any-app repo-config.yml <context: oap-gate       # the name of the job>"},
		{"no code owners' review", config, "code_owner_review: true ", "code_owner_review: false ",
			"error fork-can-edit-gate repo-config.yml <code_owner_review: false     # with CODEOWNERS on " +
				".github/ and schemas/: a fork cannot weaken its own gate>"},
		{"no CODEOWNERS", owners, "", "", "error fork-can-edit-gate .github/CODEOWNERS"},
		{"a CODEOWNERS that GitHub ignores", owners, "/schemas/", strings.Repeat("#", maxOwners) + "\n/schemas/",
			"error fork-can-edit-gate .github/CODEOWNERS"},
		{"schemas have no owner", owners, "/schemas/ @acme/registry-maintainers\n", "",
			"error fork-can-edit-gate .github/CODEOWNERS"},
		{"taken away below", owners, "/MAINTAINERS.md", "/.github/workflows/\n/MAINTAINERS.md",
			"error fork-can-edit-gate CODEOWNERS </.github/workflows/>"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := documented(t)
			to, allow := strings.CutSuffix(c.to, "@allow")
			if c.from == "" {
				delete(f, c.file)
			} else {
				f.edit(t, c.file, c.from, to)
			}
			if allow {
				f[c.file] = strings.NewReplacer("          report:",
					"          allow-pull-request-target: true\n          report:", "  merge_group:\n",
					"  merge_group:\n  pull_request_target:\n").Replace(f[c.file])
			}
			if got := short(f, look(t, f, nil)); got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
		})
	}
}

// Anyone who can change CODEOWNERS at the root decides by it who owns the gate.
func TestOwnersOfCodeowners(t *testing.T) {
	for _, name := range []string{"CODEOWNERS", "docs/CODEOWNERS"} {
		f := documented(t)
		f[name] = f[".github/CODEOWNERS"]
		delete(f, ".github/CODEOWNERS")
		all := found(look(t, f, nil))
		if len(all) != 1 || all[0].Code != "fork-can-edit-gate" || !strings.Contains(all[0].Message, `["`+name+`"]`) ||
			!strings.Contains(all[0].Fix, " /"+name+" ") {
			t.Errorf("%s without an owner: %+v", name, all)
		}
		f[name] += "/" + name + " @acme/registry-maintainers\n"
		if all := found(look(t, f, nil)); len(all) > 0 {
			t.Errorf("%s with an owner: %+v", name, all)
		}
	}
}

func TestMergeQueueNeedsItsTrigger(t *testing.T) {
	f := documented(t)
	f.edit(t, ".github/repo-config.yml", "merge_queue: false", "merge_queue: true")
	f.edit(t, ".github/workflows/check.yml", "  merge_group:\n", "")
	if got := short(f, look(t, f, nil)); got != "error no-merge-group check.yml <on:>" {
		t.Error(got)
	}
}

func TestEmptyClone(t *testing.T) {
	f := tree{"README.md": ""}
	r := look(t, f, nil)
	const want = "error fork-can-edit-gate .github/CODEOWNERS\nerror no-repo-config .github/repo-config.yml\nerror " +
		"no-gate .github/workflows"
	if got := short(f, r); got != want || r.Verdict.ExitStatus() != 1 {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if _, err := Doctor(t.Context(), Options{Dir: filepath.Join(t.TempDir(), "none")}); err == nil {
		t.Error("no clone, no error")
	}
}

func TestFilesThatAreNotPlain(t *testing.T) {
	f := documented(t)
	f[".github/workflows/large.yml"] = strings.Repeat("#", maxWorkflow+1)
	f["elsewhere.yml"] = f[".github/workflows/check.yml"]
	delete(f, ".github/workflows/check.yml")
	dir := f.write(t)
	if err := os.Symlink("../../elsewhere.yml", filepath.Join(dir, ".github/workflows/check.yml")); err != nil {
		t.Skip(err)
	}
	for name, target := range map[string]string{".github/repo-config.yml": "/etc/passwd",
		".github/CODEOWNERS": "../../../../etc/passwd"} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	r, err := Doctor(t.Context(), Options{Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	const want = "inconclusive codeowners .github/CODEOWNERS\nerror repo-config " +
		".github/repo-config.yml\ninconclusive workflow-not-read .github/workflows/check.yml\ninconclusive " +
		"workflow-not-read .github/workflows/large.yml"
	if got := short(f, r); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestForge(t *testing.T) {
	const full = `{"name":"main","target":"branch","enforcement":"active","bypass_actors":[],
	"conditions":{"ref_name":{"include":["~DEFAULT_BRANCH"],"exclude":[]}},
	"rules":[{"type":"deletion"},{"type":"non_fast_forward"},
	{"type":"pull_request","parameters":{"required_approving_review_count":1,"dismiss_stale_reviews_on_push":true,"require_code_owner_review":true,"require_last_push_approval":true,"required_review_thread_resolution":false,"allowed_merge_methods":["merge"]}},
	{"type":"required_status_checks","parameters":{"strict_required_status_checks_policy":true,"required_status_checks":[{"context":"oap-gate","integration_id":15368}]}}]}`
	organisation := func(workflow string) string {
		return fmt.Sprintf(`{"name":"org","source_type":"Organization","target":"branch","enforcement":"active",
	"bypass_actors":[],"conditions":{"ref_name":{"include":["~ALL"]}},"rules":[{"type":"workflows","parameters":
	{"workflows":[{"path":%q,"ref":"main","repository_id":1}]}}]}`, workflow)
	}
	for _, c := range []struct {
		name   string
		token  string
		edit   func(*ghtest.Server, tree)
		want   string
		status int
	}{
		{"all stands", "admin", func(s *ghtest.Server, f tree) { s.AddRuleset(full) }, "", 0},
		{"fewer approvals", "admin", func(s *ghtest.Server, f tree) {
			s.AddRuleset(strings.Replace(full, `count":1`, `count":0`, 1))
		}, "error protection-missing repo-config.yml <approvals: 1                # section 7: one Maintainer review>",
			1},
		{"a bypass", "admin", func(s *ghtest.Server, f tree) {
			s.AddRuleset(strings.Replace(full, `"bypass_actors":[]`,
				`"bypass_actors":[{"actor_type":"OrganizationAdmin","bypass_mode":"always"}]`, 1))
			s.AddRuleset(strings.Replace(full, `{"type":"deletion"},`, ``, 1))
		}, "error protection-missing repo-config.yml <block_deletion: true        # section 7: history rewriting " +
			"disabled; a branch created again has another history>", 1},
		{"stricter", "admin", func(s *ghtest.Server, f tree) {
			s.AddRuleset(strings.Replace(full, `{"type":"deletion"},`,
				`{"type":"deletion"},{"type":"required_linear_history"},{"type":"of_tomorrow"},`, 1))
		}, "notice rule-not-checked \nnotice protection-stricter repo-config.yml <linear_history: false>", 0},
		{"token cannot see it all", "reader", func(s *ghtest.Server, f tree) {
			s.AddRuleset(strings.Replace(full, `{"type":"required_status_checks"`,
				`{"type":"x"},{"type":"required_status_checks"`, 1))
		}, "many", 3},
		{"no repository", "", func(s *ghtest.Server, f tree) { s.Name = "other" }, "inconclusive forge-not-read ", 3},
		{"rate limit", "admin", func(s *ghtest.Server, f tree) { s.Fail(ghtest.Failure{Status: 429}) },
			"inconclusive forge-not-read ", 3},
		{"other default branch", "admin", func(s *ghtest.Server, f tree) {
			s.DefaultBranch = "trunk"
			s.AddRuleset(full)
		}, "error branch-filter check.yml <branches: [main]>\nerror branch-filter check.yml <branches: [main]>\n" +
			"error branch-filter protect.yml <branches: [main]>", 1},
		{"the organisation requires the workflow", "admin", func(s *ghtest.Server, f tree) {
			s.AddRuleset(full)
			s.AddRuleset(organisation(".github/workflows/check.yml"))
			delete(f, ".github/CODEOWNERS")
		}, "", 0},
		{"the organisation requires a workflow of another repository", "admin", func(s *ghtest.Server, f tree) {
			s.AddRuleset(full)
			s.AddRuleset(strings.Replace(organisation(".github/workflows/check.yml"), `repository_id":1`,
				`repository_id":2`, 1))
			delete(f, ".github/CODEOWNERS")
		}, "error fork-can-edit-gate .github/CODEOWNERS", 1},
		{"the organisation requires another workflow", "admin", func(s *ghtest.Server, f tree) {
			s.AddRuleset(full)
			s.AddRuleset(organisation(".github/workflows/codeql.yml"))
			delete(f, ".github/CODEOWNERS")
		}, "error fork-can-edit-gate .github/CODEOWNERS", 1},
		{"the organisation requires one of two gates", "admin", func(s *ghtest.Server, f tree) {
			const config, check = ".github/repo-config.yml", ".github/workflows/check.yml"
			s.AddRuleset(strings.Replace(full, `"required_status_checks":[`,
				`"required_status_checks":[{"context":"also","integration_id":15368},`, 1))
			s.AddRuleset(organisation(check))
			f[".github/workflows/also.yml"] = strings.Replace(f[check], "  oap-gate:\n", "  also:\n", 1)
			f[config] = strings.Replace(f[config], "    - context: oap-gate ",
				"    - context: also\n      app_id: 15368\n    - context: oap-gate ", 1)
			delete(f, ".github/CODEOWNERS")
		}, "error fork-can-edit-gate .github/CODEOWNERS", 1},
		{"the forge has a queue", "admin", func(s *ghtest.Server, f tree) {
			s.AddRuleset(strings.Replace(full, `{"type":"deletion"},`,
				`{"type":"deletion"},{"type":"merge_queue","parameters":{"merge_method":"MERGE"}},`, 1))
			f.edit(t, ".github/workflows/check.yml", "  merge_group:\n", "")
		}, "notice protection-stricter repo-config.yml <merge_queue: false          # organizations only>\nerror " +
			"no-merge-group check.yml <on:>", 1},
		{"no config: what the RFC demands, and the gate's own job", "admin", func(s *ghtest.Server, f tree) {
			delete(f, ".github/repo-config.yml")
		}, "error no-repo-config .github/repo-config.yml" +
			strings.Repeat("\nerror protection-missing .github/repo-config.yml", 6), 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := ghtest.Start("acme", "registry")
			defer s.Close()
			s.Grant("admin", ghtest.Access{Login: "administrator", Admin: true})
			s.Grant("reader", ghtest.Access{Login: "github-actions[bot]", App: true})
			f := documented(t)
			c.edit(s, f)
			client, err := forge.New(forge.Options{BaseURL: s.URL, Token: c.token, Repository: "acme/registry"})
			if err != nil {
				t.Fatal(err)
			}
			r := look(t, f, client)
			got := short(f, r)
			if c.want == "many" {
				if strings.Count(got, "inconclusive ") != 1 || strings.Contains(got, "error") {
					t.Error(got)
				}
			} else if got != c.want {
				t.Errorf("got\n%s\nwant\n%s", got, c.want)
			}
			if r.Verdict.ExitStatus() != c.status || r.Installation.Repository != "acme/registry" {
				t.Errorf("exit status %d, want %d; forge %q", r.Verdict.ExitStatus(), c.status,
					r.Installation.Repository)
			}
			if len(s.Writes()) > 0 {
				t.Errorf("the doctor wrote: %q", s.Writes())
			}
		})
	}
}

// A workflow that the organisation requires keeps a fork from editing the gate only if nobody may bypass it.
func TestWorkflowThatMayBeBypassed(t *testing.T) {
	const set = `{"name":"org","source_type":"Organization","target":"branch","enforcement":"active",
	"bypass_actors":[%s],"conditions":{"ref_name":{"include":["~ALL"]}},"rules":[{"type":"workflows","parameters":
	{"workflows":[{"path":".github/workflows/check.yml","repository_id":1}]}}]}`
	for _, c := range []struct{ token, actors, severity, says string }{
		{"admin", "", "", ""},
		{"admin", `{"actor_type":"OrganizationAdmin","bypass_mode":"always"}`, "error",
			`ruleset "org" requires the workflow, but can be bypassed by "OrganizationAdmin" (always)`},
		{"reader", "", "inconclusive", `ruleset "org" requires the workflow, and only administrators see who may bypass it`},
	} {
		s := ghtest.Start("acme", "registry")
		defer s.Close()
		s.Grant("admin", ghtest.Access{Login: "administrator", Admin: true})
		s.Grant("reader", ghtest.Access{Login: "github-actions[bot]", App: true})
		s.AddRuleset(fmt.Sprintf(set, c.actors))
		client, err := forge.New(forge.Options{BaseURL: s.URL, Token: c.token, Repository: "acme/registry"})
		if err != nil {
			t.Fatal(err)
		}
		f := documented(t)
		delete(f, ".github/CODEOWNERS")
		severity, says := "", ""
		for _, f := range found(look(t, f, client)) {
			if f.Code == "fork-can-edit-gate" {
				severity, says = f.Severity.String(), f.Message
			}
		}
		if severity != c.severity || !strings.Contains(says, c.says) {
			t.Errorf("%s, %q: %s: %s", c.token, c.actors, severity, says)
		}
	}
}

// Each code is of one rule, and what nothing was seen of is skipped, not passed. A rule that says nothing is an error.
func TestRules(t *testing.T) {
	of := map[string]string{}
	for _, rule := range Rules {
		if rule.ID == "" || rule.Title == "" || rule.Why == "" || rule.Fix == "" || len(rule.Codes) == 0 {
			t.Errorf("rule %q does not say all", rule.ID)
		}
		for _, c := range rule.Codes {
			if of[c.ID] != "" {
				t.Errorf("code %q is of %s and of %s", c.ID, of[c.ID], rule.ID)
			}
			of[c.ID] = rule.ID
		}
	}
	for name, c := range map[string]struct {
		files tree
		want  string
	}{
		"sound": {documented(t), "pass pass pass pass pass pass pass pass pass pass pass pass skip"},
		"empty": {tree{}, "fail skip skip skip skip skip pass skip skip fail fail pass skip"},
		"another workflow alone": {tree{".github/workflows/x.yml": "on: push\njobs: {a: {steps: [{run: x}]}}"},
			"fail skip skip skip skip skip pass skip skip fail fail pass skip"},
		"unreadable": {tree{".github/workflows/x.yml": "&a [*a]"},
			"inconclusive skip skip skip skip skip skip skip skip fail fail pass skip"},
	} {
		var got []string
		for result := range look(t, c.files, nil).Results.All() {
			got = append(got, string(result.Verdict))
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	v := &inspection{tree: fstest.MapFS{}}
	v.add(verdict.Error, "of-no-rule", strict.Pos{}, "", "x")
	if r, err := v.report("doctor"); err == nil {
		t.Errorf("a finding was lost: %+v", r)
	}
	defer func(was []verdict.Entry[*inspection]) { catalogue = was }(catalogue)
	catalogue = append(slices.Clip(catalogue), verdict.Entry[*inspection]{Rule: verdict.Rule{ID: "silent"},
		Judge: func(*inspection) (verdict.Outcome, error) { return verdict.Outcome{}, nil }})
	_, err := (&inspection{}).report("doctor")
	if want := "check silent said nothing of registry"; !errors.Is(err, verdict.ErrUnsaid) || err.Error() != want {
		t.Errorf("of a silent rule: %v, want %q", err, want)
	}
}

// The list is old from 60 days on, by the clock that was given.
func TestSuffixListAge(t *testing.T) {
	made := time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC)
	for after, old := range map[time.Duration]bool{0: false, maxListAge - time.Second: false, maxListAge: true,
		1000 * 24 * time.Hour: true} {
		v := &inspection{}
		v.judgeSuffixList("2026-03-02", made.Add(after))
		found := v.findings["suffix-list"]
		if (len(found) == 1 && found[0].Code == "suffix-list-old") != old {
			t.Errorf("after %s: %+v", after, v.findings)
		}
	}
	v := &inspection{}
	if v.judgeSuffixList("yesterday", made); len(v.findings) != 1 {
		t.Error("a list of no date is not old")
	}
}

func TestBranchPatterns(t *testing.T) {
	for _, c := range []struct {
		patterns []string
		branch   string
		want     bool
	}{
		{[]string{"main"}, "main", true}, {[]string{"*"}, "main", true}, {[]string{"*"}, "release/1", false},
		{[]string{"**"}, "release/1", true},
		{[]string{"release/**"}, "release/a", true}, {[]string{"mai?"}, "main", false},
		{[]string{"main", "!mai[n]"}, "main", false}, {[]string{"m.in"}, "main", false}, {nil, "main", false},
		{[]string{"main", "!ma*"}, "main", false}, {[]string{"(main"}, "main", false},
	} {
		if got := matchesBranch(c.patterns, c.branch); got != c.want {
			t.Errorf("%q, %q: %v", c.patterns, c.branch, got)
		}
	}
}

func TestOwnerPatterns(t *testing.T) {
	const file = ".github/workflows/check.yml"
	for pattern, want := range map[string]bool{
		"*": true, "**": true, "/**": true, "/": false, "/*": false, "*.yml": true, "*.json": false, ".github/": true,
		"/.github/": true, "/.github": true, ".github/**": true,
		"/.github/*": false, ".github/workflows/*": true, "workflows/": true, "/workflows/": false,
		"/.github/**/check.yml": true, "**/check.yml": true,
		"/.github/workflows/check.y?l": true, "check": false, ".git": false, "/.github/workflows/check.yml/": false,
		".GITHUB/": false, "/.github/(": false,
	} {
		if got, err := ownerPattern(pattern); err != nil || got.MatchString(file) != want {
			t.Errorf("%q: %v, %v", pattern, got, err)
		}
	}
	// A pattern in another encoding is skipped, and does not keep the others from being judged.
	if rules := parseOwners("* @b\n/caf\xe9/ @a\n"); len(rules) != 1 || !rules[0].owned() {
		t.Errorf("%+v", rules)
	}
	rules := parseOwners("# all\n* @a\n!x @b\n[ab] @c\n\n/schemas/ # nobody\n/docs/ someone@example.org # a " +
		"comment\n/x/ nobody\n")
	if len(rules) != 4 || !rules[0].owned() || rules[1].owned() || !rules[2].owned() || rules[3].owned() ||
		rules[1].line != 6 {
		t.Errorf("%+v", rules)
	}
}

func judgeAll(t testing.TB, v *inspection) {
	for _, w := range v.workflows {
		v.judge(w)
	}
	v.judgeCoverage()
	if err := v.judgeOwn(); err != nil {
		t.Fatal(err)
	}
}

func FuzzWorkflow(f *testing.F) {
	for _, name := range []string{"check.yml", "comment.yml", "audit.yml", "protect.yml", "remind.yml", "rerun.yml",
		"check-ten-jobs.yml"} {
		data, err := os.ReadFile(docsDir + "workflows/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("on: [[pull_request], {a: b}]\njobs: [oap-gate, {steps: [uses, {uses: [x/oap-gate@1]}]}]"))
	f.Add([]byte("on: {pull_request: [], schedule: ~}\njobs: {a: ~, b: {steps: {uses: 1}}, c: {steps: [{uses: " +
		"a/oap-gate@x, with: [], if: {}}], needs: {}, permissions: [write], env: secrets}}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		v := &inspection{tree: fstest.MapFS{}, branch: "main", local: true}
		w, err := v.newWorkflow("w.yml", data)
		if err != nil {
			return
		}
		v.workflows = []*workflow{w}
		judgeAll(t, v)
		first, err := v.report("doctor")
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range found(first) {
			if one.Path == "w.yml" && one.Line == 0 {
				t.Errorf("no place: %+v", one)
			}
		}
	})
}

// TestTrial checks that a trial gets a notice, and that nothing else is asked of it; with a repo-config, or with
// another gate, it is no trial.
func TestTrial(t *testing.T) {
	const path = ".github/workflows/check.yml"
	trial := strings.Replace(documented(t)[path], "\n  oap-gate:\n", "\n  oap-gate-trial:\n", 1)
	missing := ""
	for _, name := range []string{"comment", "audit", "protect", "remind", "rerun", "rerun-command", "dependabot"} {
		dir := ".github/workflows/"
		if name == "dependabot" {
			dir = ".github/"
		}
		missing += "\nwarning differs-from-init " + dir + name + ".yml"
	}
	const notice = "notice trial check.yml <oap-gate-trial:>"
	for name, c := range map[string]struct {
		edit func(tree)
		want string
	}{
		"a trial": {func(tree) {}, notice},
		"with its comment": {func(f tree) {
			f[".github/workflows/comment.yml"] = documented(t)[".github/workflows/comment.yml"]
		}, notice},
		"a condition": {func(f tree) {
			f[path] = strings.Replace(trial, "oap-gate-trial:\n", "oap-gate-trial:\n    if: failure()\n", 1)
		}, notice + "\nerror condition check.yml <if: failure()>"},
		"two gates": {func(f tree) {
			f[".github/workflows/other.yml"] = strings.Replace(trial, "oap-gate-trial:", "other:", 1)
		}, "error no-repo-config .github/repo-config.yml\nerror fork-can-edit-gate .github/CODEOWNERS" + missing},
		"a gate that is required": {func(f tree) { f[path] = documented(t)[path] },
			"error no-repo-config .github/repo-config.yml\nerror fork-can-edit-gate .github/CODEOWNERS" + missing},
	} {
		f := tree{path: trial}
		c.edit(f)
		got := strings.Split(short(f, look(t, f, nil)), "\n")
		want := strings.Split(c.want, "\n")
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: the findings are %q, want %q", name, got, want)
		}
	}
}

// BenchmarkDoctor judges 200 workflows of 10 KiB. The ratio is that of its time to the time of parsing them, which the
// design bounds by 2.
func BenchmarkDoctor(b *testing.B) {
	const step = "      - uses: actions/checkout@v7\n        with: {fetch-depth: 0, path: x}\n      - run: |\n" +
		"          git fetch origin x && make all\n          gh pr comment 7 --body 'hello # x'\n" +
		"        env: {A: '${{ github.event.issue.number }}'}\n"
	text := "on: [push, issue_comment]\npermissions: {contents: write}\njobs:\n"
	for i := 0; len(text) < 10<<10; i++ {
		text += fmt.Sprintf("  j%d:\n    runs-on: ubuntu-latest\n    steps:\n", i) + strings.Repeat(step, 3)
	}
	files := fstest.MapFS{}
	for i := range 200 {
		files[fmt.Sprintf(".github/workflows/w%d.yml", i)] = &fstest.MapFile{Data: []byte(text)}
	}
	var parsing time.Duration
	for b.Loop() {
		b.StopTimer()
		began := time.Now()
		for range files {
			if _, err := strictyaml.ParseResolved("w.yml", []byte(text), maxWorkflow, maxNodes); err != nil {
				b.Fatal(err)
			}
		}
		parsing += time.Since(began)
		b.StartTimer()
		v := &inspection{tree: files, branch: "main"}
		if err := v.readWorkflows(); err != nil {
			b.Fatal(err)
		}
		judgeAll(b, v)
	}
	b.ReportMetric(float64(b.Elapsed())/float64(parsing), "ratio")
}
