package doctor

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/install"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// A row says what one key of a file that init writes may be. Its code says what it means if it is something else.
type row struct {
	roles    []role // roles of the job; nil: any
	path     string // paths of the keys: words, as path.Match reads them
	fine     fine
	severity verdict.Severity
	code     string
}

// fine reports whether a key is as it may be.
type fine func(c *comparison, k key) bool

// differs is the code of what no other code is about.
const differs = "differs-from-init"

var (
	written = append(slices.Clone(ours), noRole)
	gates   = []role{checkRole, governsRole}
	clones  = []role{checkRole, governsRole, auditRole}
	onCheck = []role{checkRole}
	governs = []role{governsRole}
	comment = []role{commentRole}

	unwanted     = fits(``)
	there        = fits(`.+`)
	noExpression = unlike(`\$\{\{`)
)

// table has a row for each key whose difference has a meaning of its own. The rows of a key are read in their order,
// and the first that is not fine is the finding.
var table = []row{
	{gates, "on/pull_request*/paths* on/merge_group/paths*", unwanted, verdict.Error, "path-filter"},
	{onCheck, "on/pull_request/types", includes("opened", "synchronize", "reopened"), verdict.Error, "event-types"},
	{onCheck, "on/merge_group/types", includes("checks_requested"), verdict.Error, "event-types"},
	{nil, "on/schedule/cron", fits(`\s*\S+(?:\s+\S+){4}\s*`), verdict.Warning, differs},
	{nil, "on/*/branches on/*/branches-ignore", (*comparison).ownBranch, verdict.Error, "branch-filter"},
	{onCheck, "on/pull_request/branches on/push/branches", (*comparison).onlyOwnBranch, verdict.Warning,
		"other-branches"},
	{onCheck, "on/merge_group", (*comparison).unqueued, verdict.Error, "no-merge-group"},
	{onCheck, "on/merge_group", there, verdict.Warning, "no-merge-group"},
	{onCheck, "on/schedule", unwanted, verdict.Error, "schedule"},
	{onCheck, "on/workflow_call", unwanted, verdict.Doubt, "reusable-workflow"},
	{[]role{checkRole, governsRole, conformsRole}, "on/pull_request_target", unwanted, verdict.Error,
		"pull-request-target"},
	{[]role{protectRole}, "on/pull_request* on/issue* on/discussion* on/check_* on/status on/workflow_run on/fork " +
		"on/watch", unwanted, verdict.Error, "admin-token"},
	{comment, "on/workflow_run", there, verdict.Warning, "comment-event"},
	{comment, "on/workflow_run/workflows", (*comparison).namesWorkflow, verdict.Warning, "workflow-run"},
	{governs, "on/pull_request on/pull_request_review on/pull_request/types", there, verdict.Error, "governance-types"},
	{governs, "on/*/types", includes(), verdict.Error, "governance-types"},

	{gates, "job/if step/gate/if step/checkout/if",
		fits(`|\s*(?:\$\{\{)?\s*(?:always\(\)|success\(\)|!\s*cancelled\(\))\s*(?:\}\})?\s*`), verdict.Error,
		"condition"},
	{ours, "job/continue-on-error step/gate/continue-on-error step/checkout/continue-on-error", off, verdict.Error,
		"continue-on-error"},
	{gates, "job/needs", unwanted, verdict.Error, "needs"},
	{ours, "job/strategy", unwanted, verdict.Error, "matrix"},
	{gates, "job/name", noExpression, verdict.Error, "name-expression"},
	{nil, "job/container", pinnedImage, verdict.Error, "unpinned"},
	{ours, "job/container job/defaults defaults step/gate/shell", unwanted, verdict.Error, differs},
	{gates, "concurrency job/concurrency", ofOneRun, verdict.Error, differs},
	{written, "job/runs-on", unlike(`(?i)(?:^|, )(?:windows|macos)`), verdict.Error, differs},
	{written, "job/runs-on", fits(`ubuntu-(?:latest|\d\d\.\d\d)(?:-arm)?`), verdict.Warning, differs},
	{written, "job/timeout-minutes", asInitOr(fits(`|[1-9]\d+`)), verdict.Warning, differs},
	{nil, "env/* job/env/* step/*/env/*", usual, verdict.Error, "incomplete"},

	{nil, "job/permissions", there, verdict.Warning, "permissions"},
	{nil, "job/permissions", unlike(`^write-all$`), verdict.Error, "write-permissions"},
	{nil, "job/permissions/*", asInitOr(unlike(`^write$`)), verdict.Error, "write-permissions"},
	{nil, "job/permissions/*", granted, verdict.Warning, differs},

	{nil, "step/*/uses", unlike(`@(?:sha256:)?0{40}(?:0{24})?$`), verdict.Error, "placeholder"},
	{nil, "step/*/uses", ofOwner, verdict.Error, "other-owner"},
	{gates, "step/gate/uses", unlike(`^\./`), verdict.Warning, "local-action"},
	{nil, "step/*/uses", fits(`|\./.*|.*@[0-9a-f]{40}|.*@sha256:[0-9a-f]{64}`), verdict.Error, "unpinned"},
	{written, "step/*/uses", running, verdict.Warning, "action-outdated"},
	{nil, "step/gate/uses", ofCheck, verdict.Warning, "release-skew"},
	{clones, "step/checkout", there, verdict.Error, "no-checkout"},
	{clones, "step/checkout/with/repository step/checkout/with/path", unwanted, verdict.Error, "no-checkout"},
	{clones, "step/checkout/with/fetch-depth", asInit, verdict.Error, "shallow-checkout"},
	{clones, "step/checkout/with/filter step/checkout/with/sparse-checkout", off, verdict.Error, "partial-checkout"},
	{clones, "step/checkout/with/persist-credentials", asInit, verdict.Warning, "credentials"},
	{clones, "step/checkout/with/submodules", off, verdict.Warning, differs},
	{clones, "step/checkout/with/ref", fits(`|\$\{\{\s*github\.(?:sha|ref|event\.workflow_run\.head_sha)\s*\}\}`),
		verdict.Warning, differs},
	{clones, "step/gate/with/offline step/gate/with/skip step/gate/with/base step/gate/with/path " +
		"step/gate/with/entrypoint step/gate/with/allow-pull-request-target", off, verdict.Error, "incomplete"},
	{gates, "step/gate/with/checks", noExpression, verdict.Error, "incomplete"},
	{onCheck, "step/gate/with/checks", knownChecks, verdict.Error, "unknown-check"},
	{clones[1:], "step/gate/with/checks", off, verdict.Error, "incomplete"},
	{nil, "step/*/with/report", there, verdict.Warning, differs},
	{nil, "step/*/with/report", includes(), verdict.Warning, differs},
}

// Keys that table has no row for. One that is loose is not judged: that there is a gate, for one, is judged as a whole.
// One that is added may be there if init does not write it. Any other that is not as init writes it is a warning; it is
// not judged if init does not write it and it is not known.
const (
	loose = "on/pull_request name run-name on jobs env defaults permissions job/name job/env job/steps " +
		"job/environment job/defaults job/outputs job/strategy job/continue-on-error step/*/name step/*/id step/*/uses step/*/with step/*/env step/*/timeout-minutes step/*/with/retention-days"
	added = "on/*/* step/*/with/* concurrency job/concurrency"
	known = "job/if job/needs step/*/if"
)

// fits reports whether the whole value matches.
func fits(pattern string) fine {
	p := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?s:` + pattern + `)$`) })
	return func(_ *comparison, k key) bool { return p().MatchString(value(k.have)) }
}

// unlike reports whether nothing of the value matches.
func unlike(pattern string) fine {
	p := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
	return func(_ *comparison, k key) bool { return !p().MatchString(value(k.have)) }
}

// off reports whether an input or a switch is not set.
func off(_ *comparison, k key) bool {
	return strings.EqualFold(k.have.text, "false") || k.have.text == "" && k.have.kids == nil
}

func asInit(_ *comparison, k key) bool { return same(k.have, k.want) }

func asInitOr(other fine) fine {
	return func(c *comparison, k key) bool { return asInit(c, k) || other(c, k) }
}

// includes reports whether a list that is there has all of the values, or without any, those of init.
func includes(all ...string) fine {
	return func(_ *comparison, k key) bool {
		need := all
		if all == nil {
			need = words(k.want)
		}
		return !k.have.there() || !slices.ContainsFunc(need, func(one string) bool {
			return !slices.Contains(words(k.have), one)
		})
	}
}

// words returns the words of a list, or of a text that separates them.
func words(n *node) []string {
	return strings.FieldsFunc(strings.Join(n.list(), ","), func(r rune) bool {
		return strings.ContainsRune(", \n\"'", r)
	})
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
func (c *comparison) unqueued(k key) bool {
	queues := func(l forge.Layer) bool { return l.Protection.MergeQueue }
	return k.have.there() || !c.wanted().MergeQueue && (c.standing == nil ||
		!slices.ContainsFunc(c.standing.Layers, queues))
}

// namesWorkflow reports whether each name is that of a workflow here.
func (c *comparison) namesWorkflow(k key) bool {
	return c.unreadable || !slices.ContainsFunc(k.have.list(), func(name string) bool {
		return !slices.ContainsFunc(c.workflows, func(w *workflow) bool {
			return cmp.Or(w.get("name").text, w.Path) == name
		})
	})
}

var (
	ofARun = plain.Pattern(`\$\{\{[^}]*\bgithub\.(?:event\.pull_request\.number|event\.number|run_id|ref|sha)\b`)
	digest = plain.Pattern(`@sha256:[0-9a-f]{64}$`)
	major  = plain.Pattern(`^# v(\d{1,9})(?:\.|$)`)
	// reserved are the variables that the runner sets, and those by which another program runs than the one that is
	// named.
	reserved = plain.Pattern(`^(?:(?i:GITHUB|INPUT|RUNNER|ACTIONS)_.*|(?i:PATH)|BASH_ENV|ENV|LD_[A-Z_]+|NODE_OPTIONS)$`)
)

// ofOneRun reports whether no two pull requests share a concurrency group.
func ofOneRun(_ *comparison, k key) bool {
	return !k.have.there() || ofARun().MatchString(k.have.text+k.have.get("group").text)
}

func usual(_ *comparison, k key) bool {
	return !reserved().MatchString(k.name) || k.name == "GITHUB_TOKEN"
}

// granted reports whether a permission to write that init gives is there.
func granted(c *comparison, k key) bool { return k.want.text != "write" || asInit(c, k) }

func ofOwner(_ *comparison, k key) bool {
	owner, _, _ := strings.Cut(k.have.text, "/")
	return !gateAction().MatchString(k.have.text) || strings.EqualFold(owner, gateOwner)
}

// ofCheck reports whether the gate has the pin of the job that checks.
func ofCheck(c *comparison, k key) bool {
	_, at, _ := strings.Cut(k.have.text, "@")
	return c.pin == "" || !pinned().MatchString(k.have.text) || at == c.pin
}

// running reports whether runners still run the action, by the version behind its pin.
func running(_ *comparison, k key) bool {
	name, _, _ := strings.Cut(strings.ToLower(k.have.text), "@")
	m := major().FindStringSubmatch(k.have.remark)
	if m == nil {
		return true
	}
	version, err := strconv.Atoi(m[1])
	return err == nil && version >= install.FirstNode24[name]
}

func pinnedImage(_ *comparison, k key) bool {
	image := k.have.text + k.have.get("image").text
	return image == "" || digest().MatchString(image)
}

// knownChecks reports whether an input names only checks of the gate.
func knownChecks(_ *comparison, k key) bool {
	return !slices.ContainsFunc(only(k.have), func(id string) bool {
		return !slices.ContainsFunc(checks.All, func(one *checks.Check) bool { return one.ID == id })
	})
}
