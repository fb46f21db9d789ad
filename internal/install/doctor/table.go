package doctor

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// A row says what one key of a file that init writes may be. Its code says what it means if it is something else.
type row struct {
	roles    []role                          // roles of the job; nil: any
	path     string                          // paths of the keys: words, as path.Match reads them
	fine     func(c *comparison, k key) bool // nil: any value, or none, is fine
	severity verdict.Severity
	code     string
}

// differs is the code of what no other code is about.
const differs = "differs-from-init"

var (
	written = append(slices.Clone(ours), noRole)
	gates   = []role{checkRole, governsRole}
	clones  = []role{checkRole, governsRole, auditRole}
	onCheck = []role{checkRole}
)

// table has a row for each key whose difference has a meaning of its own. The rows of a key are read in their order,
// and the first that is not fine is the finding. A key without a row, here and in otherwise, is a warning if it is not
// as init writes it, and is not judged if init does not write it.
var table = []row{
	{gates, "on/pull_request*/paths* on/merge_group/paths*", unwanted, verdict.Error, "path-filter"},
	{onCheck, "on/pull_request/types", includes("opened", "synchronize", "reopened"), verdict.Error, "event-types"},
	{onCheck, "on/merge_group/types", includes("checks_requested"), verdict.Error, "event-types"},
	{nil, "on/*/branches on/*/branches-ignore", (*comparison).ownBranch, verdict.Error, "branch-filter"},
	{onCheck, "on/pull_request/branches on/push/branches", (*comparison).onlyOwnBranch, verdict.Warning,
		"other-branches"},
	{onCheck, "on/merge_group", (*comparison).unqueued, verdict.Error, "no-merge-group"},
	{onCheck, "on/merge_group", there, verdict.Warning, "no-merge-group"},
	{onCheck, "on/schedule", unwanted, verdict.Error, "schedule"},
	{onCheck, "on/workflow_call", unwanted, verdict.Doubt, "reusable-workflow"},
	{[]role{checkRole, governsRole, conformsRole}, "on/pull_request_target", unwanted, verdict.Error,
		"pull-request-target"},
	{[]role{protectRole}, "on/*", ownersStart, verdict.Error, "admin-token"},
	{[]role{protectRole}, "on/*", there, verdict.Warning, differs},
	{[]role{commentRole}, "on/workflow_run", there, verdict.Warning, "comment-event"},
	{[]role{commentRole}, "on/workflow_run/workflows", (*comparison).namesWorkflow, verdict.Warning, "workflow-run"},
	{[]role{governsRole}, "on/pull_request/types", includes("opened", "synchronize", "reopened", "edited", "labeled",
		"unlabeled"), verdict.Error, "governance-types"},
	{[]role{governsRole}, "on/pull_request on/pull_request_review", there, verdict.Error, "governance-types"},
	{[]role{governsRole}, "on/pull_request_review/types", missingOr(includes("submitted", "edited", "dismissed")),
		verdict.Error, "governance-types"},

	{gates, "job/if step/gate/if step/checkout/if", matches(harmless), verdict.Error, "condition"},
	{gates, "job/continue-on-error step/gate/continue-on-error step/checkout/continue-on-error", matches(off),
		verdict.Error, "continue-on-error"},
	{gates, "job/needs", unwanted, verdict.Error, "needs"},
	{gates, "job/strategy", unwanted, verdict.Error, "matrix"},
	{gates, "job/name", lacks(expression), verdict.Error, "name-expression"},
	{nil, "job/container", pinnedImage, verdict.Error, "unpinned"},
	{gates, "job/container job/defaults defaults", unwanted, verdict.Error, differs},
	{gates, "concurrency job/concurrency", ofOneRun, verdict.Error, differs},
	{written, "job/runs-on", ofLinux, verdict.Error, differs},
	{written, "job/runs-on", matches(linuxRunner), verdict.Warning, differs},
	{written, "job/timeout-minutes", longEnough, verdict.Warning, differs},
	{nil, "env/* job/env/* step/*/env/*", usual, verdict.Error, "incomplete"},

	{nil, "permissions", there, verdict.Warning, "permissions"},
	{nil, "permissions", lacks(writeAll), verdict.Error, "write-permissions"},
	{nil, "permissions/*", reads, verdict.Error, "write-permissions"},
	{nil, "permissions/*", granted, verdict.Warning, differs},

	{nil, "step/*/uses", lacks(placeholder), verdict.Error, "placeholder"},
	{nil, "step/*/uses", ofOwner, verdict.Error, "other-owner"},
	{gates, "step/gate/uses", (*comparison).ofRelease, verdict.Warning, "local-action"},
	{nil, "step/*/uses", pinnedUse, verdict.Error, "unpinned"},
	{clones, "step/checkout", there, verdict.Error, "no-checkout"},
	{gates, "step/checkout/with/repository step/checkout/with/path", unwanted, verdict.Error, "no-checkout"},
	{clones, "step/checkout/with/fetch-depth", asInit, verdict.Error, "shallow-checkout"},
	{clones, "step/checkout/with/filter step/checkout/with/sparse-checkout", matches(off), verdict.Error,
		"partial-checkout"},
	{clones, "step/checkout/with/persist-credentials", asInit, verdict.Warning, "credentials"},
	{clones, "step/checkout/with/submodules", matches(off), verdict.Warning, differs},
	{clones, "step/checkout/with/ref", matches(atBase), verdict.Warning, differs},
	{gates, "step/gate/with/offline step/gate/with/skip step/gate/with/base step/gate/with/path " +
		"step/gate/with/entrypoint step/gate/with/allow-pull-request-target", matches(off), verdict.Error,
		"incomplete"},
	{gates, "step/gate/with/checks", lacks(expression), verdict.Error, "incomplete"},
	{onCheck, "step/gate/with/checks", (*comparison).knownChecks, verdict.Error, "unknown-check"},
	{[]role{governsRole}, "step/gate/with/checks", matches(off), verdict.Error, "incomplete"},
	{nil, "step/*/with/report", allReports, verdict.Warning, differs},
}

// otherwise has the rows of keys that table has no row for.
var otherwise = []row{
	{path: "on/pull_request"}, // without it there is no gate, which is judged as a whole
	{nil, "on/*", there, verdict.Warning, differs},
	{nil, "on/*/*", unasked, verdict.Warning, differs},
	{nil, "job/if", asInit, verdict.Warning, differs},
	{nil, "job/needs", asInit, verdict.Warning, differs},
	{path: "step/*/with/retention-days"},
	{nil, "step/*/with/*", unasked, verdict.Warning, differs},
	{nil, "step/*/if", asInit, verdict.Warning, differs},
	{path: "name run-name on jobs env concurrency defaults"},
	{path: "job/name job/env job/permissions job/steps job/environment job/concurrency job/defaults job/outputs " +
		"job/strategy job/continue-on-error"},
	{path: "step/*/name step/*/id step/*/with step/*/env step/*/timeout-minutes"},
}

func unwanted(_ *comparison, k key) bool { return !k.have.there() }
func there(_ *comparison, k key) bool    { return k.have.there() }
func unasked(_ *comparison, k key) bool  { return !k.want.there() || same(k.have, k.want) }
func asInit(_ *comparison, k key) bool   { return same(k.have, k.want) }

// matches reports whether the value matches.
func matches(pattern func() *regexp.Regexp) func(*comparison, key) bool {
	return func(_ *comparison, k key) bool { return pattern().MatchString(k.have.text) }
}

// lacks reports whether the value does not match.
func lacks(pattern func() *regexp.Regexp) func(*comparison, key) bool {
	return func(_ *comparison, k key) bool { return !pattern().MatchString(k.have.text) }
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
	ignored := k.in.get("branches-ignore")
	return k.in.get("tags").there() || ignored.there() && matchesBranch(ignored.list(), c.branch)
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
	return !k.have.there() || ofARun().MatchString(k.have.text+k.have.get("group").text)
}

func longEnough(_ *comparison, k key) bool {
	least, _ := strconv.Atoi(k.want.text)
	n, err := strconv.Atoi(k.have.text)
	return !k.have.there() || err == nil && n >= min(least, 10)
}

func usual(_ *comparison, k key) bool {
	return !reserved().MatchString(k.name) || k.name == "GITHUB_TOKEN"
}

// reads reports whether a permission does not write, or is as init writes it.
func reads(_ *comparison, k key) bool { return k.have.text != "write" || k.want.text == "write" }

// granted reports whether a permission to write that init gives is there.
func granted(_ *comparison, k key) bool { return k.have.there() || k.want.text != "write" }

func ofOwner(_ *comparison, k key) bool {
	owner, _, _ := strings.Cut(k.have.text, "/")
	return !gateAction().MatchString(k.have.text) || strings.EqualFold(owner, gateOwner)
}

// ofRelease reports whether the gate is not the pull request's own.
func (c *comparison) ofRelease(k key) bool {
	return !strings.HasPrefix(k.have.text, "./") || !c.job.w.runsOn("pull_request")
}

func pinnedUse(_ *comparison, k key) bool {
	text := k.have.text
	return text == "" || strings.HasPrefix(text, "./") || pinned().MatchString(text) || digest().MatchString(text)
}

func pinnedImage(_ *comparison, k key) bool {
	image := k.have.text + k.have.get("image").text
	return image == "" || digest().MatchString(image)
}

// knownChecks reports whether an input names only checks of the gate.
func (c *comparison) knownChecks(k key) bool {
	return !slices.ContainsFunc(only(k.have), func(id string) bool {
		return !slices.ContainsFunc(checks.All, func(one *checks.Check) bool { return one.ID == id })
	})
}

// allReports reports whether the reports that init asks for are among those of the file.
func allReports(_ *comparison, k key) bool {
	have := strings.FieldsFunc(k.have.text, func(r rune) bool { return strings.ContainsRune(", \n", r) })
	return !slices.ContainsFunc(strings.Split(k.want.text, ","), func(r string) bool {
		return !slices.Contains(have, r)
	})
}
