package doctor

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// A row says what one key of a file that init writes may be, and what it means if it is something else.
type row struct {
	roles     []role                          // roles of the job; nil: any
	path      string                          // paths of the keys: words, as path.Match reads them
	fine      func(c *comparison, k key) bool // nil: any value, or none, is fine
	severity  verdict.Severity
	code, fix string
	why       string // what the value means; not for the code differs, whose fix says the value
}

// differs is the code of what no other code is about.
const differs = "differs-from-init"

var (
	gates   = []role{checkRole, governsRole}
	clones  = []role{checkRole, governsRole, auditRole}
	onCheck = []role{checkRole}
)

// Reasons of several rows.
const (
	hangs   = "the gate does not run, and its required check hangs, or never judges what it must"
	skipped = "a gate that is skipped counts as passed"
	notAll  = "the gate's check is then not the whole gate"
	partial = "the gate reads every object and the history itself"
)

// table has a row for each key whose difference has a meaning of its own. The rows of a key are read in their order,
// and the first that is not fine is the finding. A key without a row, here and in otherwise, is a warning if it is not
// as init writes it, and is not judged if init does not write it.
var table = []row{
	{gates, "on/pull_request*/paths* on/merge_group/paths*", unwanted, verdict.Error, "path-filter",
		"drop the filter: the gate is quick where there is nothing to judge", hangs},
	{onCheck, "on/pull_request/types", includes("opened", "synchronize", "reopened"), verdict.Error, "event-types",
		"drop types", hangs},
	{onCheck, "on/merge_group/types", includes("checks_requested"), verdict.Error, "event-types", "drop types", hangs},
	{nil, "on/*/branches on/*/branches-ignore", (*comparison).ownBranch, verdict.Error, "branch-filter",
		"set branches: [BRANCH]", "the filter leaves out the default branch"},
	{onCheck, "on/pull_request/branches on/push/branches", (*comparison).onlyOwnBranch, verdict.Warning,
		"other-branches", "set branches: [BRANCH]",
		"the gate starts for other branches too, and its check counts if the same commit is proposed here"},
	{onCheck, "on/merge_group", (*comparison).unqueued, verdict.Error, "no-merge-group",
		"add merge_group to the triggers", "the merge queue waits for the gate's check permanently"},
	{onCheck, "on/merge_group", there, verdict.Warning, "no-merge-group", "add merge_group to the triggers",
		"a merge queue would wait for the gate's check permanently"},
	{onCheck, "on/schedule", unwanted, verdict.Error, "schedule", "move the schedule into a file of its own",
		"the forge switches a file with a schedule off after 60 idle days, with the gate in it"},
	{onCheck, "on/workflow_call", unwanted, verdict.Doubt, "reusable-workflow",
		"put the job into the workflow that calls this one", "its callers' triggers and job names are not followed"},
	{[]role{checkRole, governsRole, conformsRole}, "on/pull_request_target", unwanted, verdict.Error,
		"pull-request-target", "use pull_request",
		"the job has the base branch's secrets and a token that can write, next to a stranger's files"},
	{[]role{protectRole}, "on/*", ownersStart, verdict.Error, "admin-token",
		"run it only on schedule, workflow_dispatch and push to the default branch",
		"strangers can start a job with a token to administer with"},
	{[]role{protectRole}, "on/*", there, verdict.Warning, differs, "", ""},
	{[]role{commentRole}, "on/workflow_run", there, verdict.Warning, "comment-event",
		"start it on workflow_run, as the comment.yml that oap-gate init writes",
		"on a pull request from a fork the token can only read"},
	{[]role{commentRole}, "on/workflow_run/workflows", (*comparison).namesWorkflow, verdict.Warning, "workflow-run",
		"name the workflow as its file does", "no workflow here has this name, so that the comment is never written"},
	{[]role{governsRole}, "on/pull_request/types", includes("opened", "synchronize", "reopened", "edited", "labeled",
		"unlabeled"), verdict.Error, "governance-types",
		"set types: [opened, synchronize, reopened, edited, labeled, unlabeled]",
		"the verdict of the gates would be about the state before"},
	{[]role{governsRole}, "on/pull_request on/pull_request_review", there, verdict.Error, "governance-types",
		"add it to the triggers", "the gates do not run when the proposal or a review changes"},
	{[]role{governsRole}, "on/pull_request_review/types", missingOr(includes("submitted", "edited", "dismissed")),
		verdict.Error, "governance-types", "drop types", "the verdict of the gates would be about the state before"},

	{gates, "job/if step/gate/if step/checkout/if", matches(harmless), verdict.Error, "condition", "drop the condition",
		skipped},
	{gates, "job/continue-on-error step/gate/continue-on-error step/checkout/continue-on-error", matches(off),
		verdict.Error, "continue-on-error", "drop continue-on-error", "a gate that failed counts as passed"},
	{gates, "job/needs", unwanted, verdict.Error, "needs", "drop needs", skipped},
	{gates, "job/strategy", unwanted, verdict.Error, "matrix", "use one job without a strategy",
		"the checks of a matrix have other names than the one that is required"},
	{gates, "job/name", lacks(expression), verdict.Error, "name-expression", "give it a name without expressions",
		"the required check needs one name"},
	{nil, "job/container", pinnedImage, verdict.Error, "unpinned", "pin the image by digest: IMAGE@sha256:…",
		"a tag can be moved"},
	{gates, "job/container job/defaults defaults", unwanted, verdict.Error, differs, "drop it", ""},
	{gates, "concurrency job/concurrency", ofOneRun, verdict.Error, differs,
		"set the group as oap-gate init writes it", ""},
	{nil, "job/runs-on", ofLinux, verdict.Error, differs, "", ""},
	{nil, "job/runs-on", matches(linuxRunner), verdict.Warning, differs, "", ""},
	{nil, "job/timeout-minutes", longEnough, verdict.Warning, differs, "", ""},
	{nil, "env/* job/env/* step/*/env/*", usual, verdict.Error, "incomplete", "set an input below with, or drop it",
		"the variable is the runner's to set, or decides which program a step runs"},

	{nil, "permissions", there, verdict.Warning, "permissions", "add permissions: {contents: read}",
		"the token gets the repository's default, which may be to write"},
	{nil, "permissions", lacks(writeAll), verdict.Error, "write-permissions", "set permissions: {contents: read}",
		"the token may write everything"},
	{nil, "permissions/*", reads, verdict.Error, "write-permissions", "set it to read, or drop it",
		"the token of the job may write"},
	{nil, "permissions/*", granted, verdict.Warning, differs, "", ""},

	{nil, "step/uses", lacks(placeholder), verdict.Error, "placeholder",
		"replace the zeros by the commit SHA, or the image digest, of a release", "no release was filled in"},
	{nil, "step/uses", ofOwner, verdict.Error, "other-owner", "use " + gateOwner + "/oap-gate",
		"it is the gate of another owner"},
	{nil, "step/uses", (*comparison).ofRelease, verdict.Warning, "local-action", "pin a release of the gate",
		"the gate runs as the pull request has it"},
	{nil, "step/uses", pinnedUse, verdict.Error, "unpinned",
		"pin the action by its full commit SHA, with the version in a comment, or the image by its digest",
		"a tag or a branch can be moved"},
	{clones, "step/checkout", there, verdict.Error, "no-checkout",
		"add a step before it: uses: actions/checkout, with fetch-depth: 0 and persist-credentials: false",
		"no step checks the registry out before the gate runs"},
	{gates, "step/checkout/with/repository step/checkout/with/path", unwanted, verdict.Error, "no-checkout", "drop it",
		"the gate then reads another clone or directory than the one of this repository"},
	{clones, "step/checkout/with/fetch-depth", asInit, verdict.Error, "shallow-checkout", "set fetch-depth: 0",
		partial},
	{clones, "step/checkout/with/filter step/checkout/with/sparse-checkout", matches(off), verdict.Error,
		"partial-checkout", "drop it", partial},
	{clones, "step/checkout/with/persist-credentials", asInit, verdict.Warning, "credentials",
		"set persist-credentials: false", "the checkout leaves the workflow's token in .git/config"},
	{clones, "step/checkout/with/submodules", matches(off), verdict.Warning, differs, "drop submodules", ""},
	{clones, "step/checkout/with/ref", matches(atBase), verdict.Warning, differs, "drop ref", ""},
	{gates, "step/gate/with/offline step/gate/with/skip step/gate/with/base step/gate/with/path " +
		"step/gate/with/entrypoint step/gate/with/allow-pull-request-target", matches(off), verdict.Error, "incomplete",
		"drop it", notAll},
	{gates, "step/gate/with/checks", lacks(expression), verdict.Error, "incomplete", "name the checks, or drop checks",
		"nobody can see which checks run"},
	{onCheck, "step/gate/with/checks", (*comparison).knownChecks, verdict.Error, "unknown-check",
		"name checks that oap-gate explain lists", "it is not a list of checks of the gate"},
	{[]role{governsRole}, "step/gate/with/checks", matches(off), verdict.Error, "incomplete", "let it run all", notAll},
	{nil, "step/*/with/report", allReports, verdict.Warning, differs, "", ""},
}

// otherwise has the rows of keys that table has no row for.
var otherwise = []row{
	{path: "on/pull_request"}, // without it there is no gate, which is judged as a whole
	{nil, "on/*", there, verdict.Warning, differs, "", ""},
	{nil, "on/*/*", unasked, verdict.Warning, differs, "", ""},
	{nil, "job/if", asInit, verdict.Warning, differs, "", ""},
	{nil, "job/needs", asInit, verdict.Warning, differs, "", ""},
	{path: "step/*/with/retention-days"},
	{nil, "step/*/with/*", unasked, verdict.Warning, differs, "", ""},
	{nil, "step/*/if", asInit, verdict.Warning, differs, "", ""},
	{path: "name run-name on jobs env concurrency defaults"},
	{path: "job/name job/env job/permissions job/steps job/environment job/concurrency job/defaults job/outputs " +
		"job/strategy job/continue-on-error"},
	{path: "step/*/name step/*/id step/*/uses step/*/with step/*/env step/*/timeout-minutes"},
}

func unwanted(_ *comparison, k key) bool { return !k.have.there() }
func there(_ *comparison, k key) bool    { return k.have.there() }
func unasked(_ *comparison, k key) bool  { return !k.want.there() || same(k.have.value, k.want.value) }
func asInit(_ *comparison, k key) bool   { return same(k.have.value, k.want.value) }

// matches reports whether the value matches.
func matches(pattern func() *regexp.Regexp) func(*comparison, key) bool {
	return func(_ *comparison, k key) bool { return pattern().MatchString(k.have.text()) }
}

// lacks reports whether the value does not match.
func lacks(pattern func() *regexp.Regexp) func(*comparison, key) bool {
	return func(_ *comparison, k key) bool { return !pattern().MatchString(k.have.text()) }
}

// includes reports whether a list has all of the values.
func includes(all ...string) func(*comparison, key) bool {
	return func(_ *comparison, k key) bool {
		return !slices.ContainsFunc(all, func(one string) bool { return !slices.Contains(k.have.list(), one) })
	}
}

func missingOr(fine func(*comparison, key) bool) func(*comparison, key) bool {
	return func(c *comparison, k key) bool { return !k.have.there() || fine(c, k) }
}

// ownBranch reports whether a filter lets the default branch through.
func (c *comparison) ownBranch(k key) bool {
	return !k.have.there() || matchesBranch(k.have.list(), c.branch) == (k.name == "branches")
}

// onlyOwnBranch reports whether an event starts the gate for no other branch, or for tags alone.
func (c *comparison) onlyOwnBranch(k key) bool {
	if k.have.there() {
		return slices.Equal(k.have.list(), []string{c.branch})
	}
	ignored := k.in.member("branches-ignore")
	return k.in.member("tags").there() || ignored.there() && matchesBranch(ignored.list(), c.branch)
}

// unqueued reports whether the gate runs in a merge queue, or pull requests land without one.
func (c *comparison) unqueued(k key) bool { return k.have.there() || !c.queued() }

// namesWorkflow reports whether each name is that of a workflow here.
func (c *comparison) namesWorkflow(k key) bool {
	return c.unreadable || !k.have.there() || !slices.ContainsFunc(k.have.list(), func(name string) bool {
		return !slices.ContainsFunc(c.workflows, func(w *workflow) bool { return w.name == name })
	})
}

// ownersStart reports whether nobody but those who may write causes the event.
func ownersStart(_ *comparison, k key) bool {
	return !slices.Contains(append([]string{"pull_request", "fork", "watch"}, strangersEvents...), k.name) ||
		k.name == "workflow_call" || k.name == "repository_dispatch" || !k.have.there()
}

var (
	linuxRunner = plain.Pattern(`^ubuntu-(?:latest|\d\d\.\d\d)(?:-arm)?$`)
	off         = plain.Pattern(`^(?i:false)?$`)
	writeAll    = plain.Pattern(`^write-all$`)
	otherSystem = plain.Pattern(`(?i)^(?:windows|macos)`)
	ofARun      = plain.Pattern(`\$\{\{[^}]*\bgithub\.(?:event\.pull_request\.number|event\.number|run_id|ref|sha)\b`)
	atBase      = plain.Pattern(`^(?:\$\{\{\s*github\.(?:sha|ref|event\.workflow_run\.head_sha)\s*\}\})?$`)
	// reserved are the variables that the runner sets, and those by which another program runs than the one that is
	// named.
	reserved = plain.Pattern(`^(?:(?i:GITHUB|INPUT|RUNNER|ACTIONS)_.*|(?i:PATH)|BASH_ENV|ENV|LD_[A-Z_]+|NODE_OPTIONS)$`)
)

func ofLinux(_ *comparison, k key) bool {
	return !slices.ContainsFunc(k.have.list(), otherSystem().MatchString)
}

// ofOneRun reports whether no two pull requests share a concurrency group.
func ofOneRun(_ *comparison, k key) bool {
	return !k.have.there() || ofARun().MatchString(k.have.text()+k.have.member("group").text())
}

func longEnough(_ *comparison, k key) bool {
	least, _ := strconv.Atoi(k.want.text())
	n, err := strconv.Atoi(k.have.text())
	return !k.have.there() || err == nil && n >= min(least, 10)
}

func usual(_ *comparison, k key) bool {
	return !reserved().MatchString(k.name) || k.name == "GITHUB_TOKEN"
}

// reads reports whether a permission does not write, or is as init writes it.
func reads(_ *comparison, k key) bool { return k.have.text() != "write" || k.want.text() == "write" }

// granted reports whether a permission to write that init gives is there.
func granted(_ *comparison, k key) bool { return k.have.there() || k.want.text() != "write" }

func ofOwner(_ *comparison, k key) bool {
	owner, _, _ := strings.Cut(k.have.text(), "/")
	return !gateAction().MatchString(k.have.text()) || strings.EqualFold(owner, gateOwner)
}

// ofRelease reports whether the gate is not the pull request's own.
func (c *comparison) ofRelease(k key) bool {
	return !strings.HasPrefix(k.have.text(), "./") || !c.at.gates() || !c.job.w.runsOn("pull_request")
}

func pinnedUse(_ *comparison, k key) bool {
	text := k.have.text()
	return text == "" || strings.HasPrefix(text, "./") || pinned().MatchString(text) ||
		strings.HasPrefix(text, "docker://") && digest().MatchString(text)
}

func pinnedImage(_ *comparison, k key) bool {
	image := k.have.text() + k.have.member("image").text()
	return image == "" || digest().MatchString(image)
}

// knownChecks reports whether an input names only checks of the gate.
func (c *comparison) knownChecks(k key) bool {
	known := c.known()
	for id := range c.at.only() {
		if !known[id] {
			return false
		}
	}
	return true
}

// allReports reports whether the reports that init asks for are among those of the file.
func allReports(_ *comparison, k key) bool {
	have := strings.FieldsFunc(k.have.text(), func(r rune) bool { return strings.ContainsRune(", \n", r) })
	return !slices.ContainsFunc(strings.Split(k.want.text(), ","), func(r string) bool {
		return !slices.Contains(have, r)
	})
}
