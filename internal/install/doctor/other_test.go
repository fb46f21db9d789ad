package doctor

import (
	"strings"
	"testing"
)

// TestOtherWorkflows judges second workflows of one job, in a registry that is installed as documented.
func TestOtherWorkflows(t *testing.T) {
	const head = "name: other\non: EVENT\npermissions: {contents: write}\njobs:\n  other:\n    runs-on: ubuntu-latest\n"
	job := func(event, steps string) string {
		return strings.Replace(head, "EVENT", event, 1) + "    steps:\n" + steps
	}
	run := func(event, script string) string { return job(event, "      - run: "+script+"\n") }
	checkout := func(event, ref string) string {
		return job(event, "      - uses: actions/checkout@v7\n        with: {ref: \""+ref+"\"}\n")
	}
	guard := func(text, condition string) string {
		return strings.Replace(text, "    steps:", "    if: "+condition+"\n    steps:", 1)
	}
	const merge, target = `gh pr merge --auto "$PR"`, "pull_request_target"
	const privileged = "warning privileged-workflow other.yml <other:>"
	for _, c := range []struct{ name, text, want string }{
		{"a head by its commit", checkout(target, "${{ github.event.pull_request.head.sha }}"),
			"error runs-head other.yml <uses: actions/checkout@v7>"},
		{"a head by an index", checkout(target, "${{ github['head_ref'] }}"),
			"error runs-head other.yml <uses: actions/checkout@v7>"},
		{"a head by its ref", checkout(target, "refs/pull/${{ github.event.number }}/merge"),
			"error runs-head other.yml <uses: actions/checkout@v7>"},
		{"a head by an output", checkout("issue_comment", "${{ steps.head.outputs.sha }}"),
			"error runs-head other.yml <uses: actions/checkout@v7>"},
		{"the fork's default branch", checkout(target, "${{ github.event.pull_request.head.repo.default_branch }}"),
			"error runs-head other.yml <uses: actions/checkout@v7>"},
		{"a base and a head", checkout(target, "${{ github.sha || github.head_ref }}"),
			"error runs-head other.yml <uses: actions/checkout@v7>"},
		{"the base", checkout(target, "${{ github.event.pull_request.base.sha }}"), privileged},
		{"the default branch", checkout("workflow_run", "${{ github.event.repository.default_branch }}"), privileged},
		{"a tag", checkout("issue_comment", "v1"), privileged},
		{"a head on pull_request", checkout("pull_request", "${{ github.head_ref }}"), ""},
		{"a head that git fetches", run(target, "git fetch origin pull/7/head && make"),
			"error runs-head other.yml <run: git fetch origin pull/7/head && make>"},
		{"a head for a token that reads", strings.Replace(checkout(target, "${{ github.head_ref }}"), "write", "read",
			1), "warning runs-head other.yml <uses: actions/checkout@v7>"},
		{"an approval by a short flag", run(target, "gh pr review -a 7"),
			"error approves other.yml <run: gh pr review -a 7>"},
		{"an approval by the API", run("schedule", "gh api repos/a/b/pulls/7/reviews -f event=APPROVE"),
			"error approves other.yml <run: gh api repos/a/b/pulls/7/reviews -f event=APPROVE>"},
		{"an approval of a bot's bump", guard(run("pull_request", "gh pr review --approve 7"),
			"github.event.pull_request.user.login == 'dependabot[bot]'"),
			"error approves other.yml <run: gh pr review --approve 7>"},
		{"an approval behind a quoted word", run("schedule", "|\n          gh pr review 7 -b 'a; # b' \"--approve\""),
			"error approves other.yml <run: |>"},
		{"an approval behind a flag", run("schedule", "gh pr --repo a/b review --approve 7"),
			"error approves other.yml <run: gh pr --repo a/b review --approve 7>"},
		{"a flag of another command", run("schedule", "gh pr review --comment 7; ls -a"), ""},
		{"a review that asks", run("schedule", "gh pr review --comment -b approve 7"), ""},
		{"a merge on a schedule", run("schedule", merge), "warning merges other.yml <run: " + merge + ">"},
		{"a merge by an administrator", run("schedule", "gh pr merge --squash --admin 7"),
			"error merges other.yml <run: gh pr merge --squash --admin 7>"},
		{"a merge behind a comment", run(target, "\"# gh pr merge\""), privileged},
		{"a merge by GraphQL", run("pull_request", "gh api graphql -f query=enablePullRequestAutoMerge"),
			"error merges other.yml <run: gh api graphql -f query=enablePullRequestAutoMerge>"},
		{"a bot's bumps",
			guard(run("pull_request", merge), "github.event.pull_request.user.login == 'dependabot[bot]'"),
			"warning merges other.yml <run: " + merge + ">"},
		{"whoever pushed last", guard(run("pull_request", merge), "github.actor == 'dependabot[bot]'"),
			"error merges other.yml <run: " + merge + ">"},
		{"a bot, or a label", guard(run("pull_request", merge),
			"github.event.label || github.event.pull_request.user.login == 'dependabot[bot]'"),
			"error merges other.yml <run: " + merge + ">"},
		{"a text that is always true", guard(run("pull_request", merge),
			"${{ github.event.pull_request.user.login == 'dependabot[bot]' }} x"),
			"error merges other.yml <run: " + merge + ">"},
		{"anyone who commented", guard(run("issue_comment", merge),
			"contains(fromJSON('[\"OWNER\", \"NONE\"]'), github.event.comment.author_association)"),
			"error merges other.yml <run: " + merge + ">"},
		{"a check of the gate's name", strings.Replace(run(target, `gh api repos/a/b/check-runs -f name="oap-gate"`),
			"contents", "checks", 1),
			`error reports-as-gate other.yml <run: gh api repos/a/b/check-runs -f name="oap-gate">`},
		{"a check of a name in a file", strings.Replace(run(target, "gh api repos/a/b/check-runs --input x.json"),
			"contents", "checks", 1), "error reports-as-gate other.yml <run: gh api repos/a/b/check-runs --input " +
			"x.json>"},
		{"a check of another name", strings.Replace(run(target, "gh api repos/a/b/check-runs -f name=docs"),
			"contents", "checks", 1), privileged},
		{"a check of a name with a variable", strings.Replace(run(target, `gh api x/check-runs -f name="a $NAME"`),
			"contents", "checks", 1), `error reports-as-gate other.yml <run: gh api x/check-runs -f name="a $NAME">`},
		{"a check by a token that may not", run("schedule", "gh api repos/a/b/check-runs -f name=oap-gate"), ""},
		{"a payload of a dispatch", run("repository_dispatch", `echo "${{ github.event.client_payload.text }}"`),
			`error stranger-text other.yml <run: echo "${{ github.event.client_payload.text }}">`},
		{"a message of a commit on a push", run("push", `echo "${{ github.event.head_commit.message }}"`),
			`error stranger-text other.yml <run: echo "${{ github.event.head_commit.message }}">`},
		{"a push by a secret", job("schedule", "      - uses: actions/checkout@v7\n        with: {ssh-key: "+
			"\"${{ secrets.KEY }}\"}\n      - run: git push\n"), "error pushes-past-gate other.yml <run: git push>"},
		{"a push of tags by a secret", job("schedule", "      - uses: actions/checkout@v7\n        with: {token: "+
			"\"${{ secrets.KEY }}\"}\n      - run: git push origin --tags\n"), ""},
		{"a push of a branch by a secret", job("schedule", "      - uses: actions/checkout@v7\n        with: {token: "+
			"\"${{ secrets.KEY }}\"}\n      - run: git push origin HEAD:refs/heads/update\n"), ""},
		{"a push to another repository", job("schedule", "      - uses: actions/checkout@v7\n        with: {token: "+
			"\"${{ secrets.KEY }}\", repository: acme/tap}\n      - run: git push origin main\n"), ""},
		{"a push by the job's token", run("schedule", "git push origin main"), ""},
		{"a release on a tag", job("\n  push: {tags: [v*]}", "      - run: git push origin main\n        env: {T: "+
			"\"${{ secrets.KEY }}\"}\n"), ""},
		{"a push behind the gate", strings.Replace(run("schedule", `git -C x push origin "+HEAD:main"`),
			"    steps:", "    env: {T: \"${{ secrets.KEY }}\"}\n    steps:", 1),
			`error pushes-past-gate other.yml <run: git -C x push origin "+HEAD:main">`},
		{"steps behind an alias", strings.Replace(run("schedule", "gh pr review --approve 7"), "    steps:\n",
			"    steps: &steps\n", 1) + "  again:\n    runs-on: ubuntu-latest\n    steps: *steps\n",
			"error approves other.yml <run: gh pr review --approve 7>\nerror approves other.yml <run: gh pr review " +
				"--approve 7>"},
		{"a mode that another owner's gate has", job("push", "      - uses: evil/oap-gate@"+strings.Repeat("ab12", 10)+
			"\n        with: {mode: x}\n"), "error write-permissions other.yml <contents: write}>\nerror other-owner " +
			"other.yml <uses: evil/oap-gate@" + strings.Repeat("ab12", 10) + ">"},
		{"what jobs: is not", "on: pull_request_target\njobs: []\n", ""},
		{"what steps: is not", "on: true\npermissions: 7\njobs: {a: {steps: x}, b: 1}\n", ""},
	} {
		f := documented(t)
		f[".github/workflows/other.yml"] = c.text
		if got := short(f, look(t, f, nil)); got != c.want {
			t.Errorf("%s: the findings are\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}
