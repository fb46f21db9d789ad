package doctor

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge/repoconfig"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// judge looks at one workflow that uses the gate.
func (v *inspection) judge(w *workflow) {
	for _, j := range w.jobs {
		v.judgeOther(j)
	}
	if !w.uses() {
		if w.runsOn("pull_request") {
			for _, j := range w.jobs {
				v.judgeReusable(j)
			}
		}
		return
	}
	v.judgeDefaultBranch(w)
	v.judgeEvents(w)
	v.judgeGovernanceEvents(w)
	for _, j := range w.jobs {
		r := j.role()
		switch r {
		case checkRole, governsRole:
			v.judgeCheckJob(j)
			v.judgeCheckout(j, r)
		case auditRole:
			v.judgeCheckout(j, r)
		case commentRole:
			v.judgeCommentJob(j)
		case protectRole:
			v.judgeProtectJob(j)
		case conformsRole:
			v.judgeTarget(w, r)
		case noRole:
			if j.uploads() {
				v.judgePermissions(j, []string{"security-events"})
				v.judgePins(j)
			}
			v.judgeReusable(j)
			continue
		}
		for _, s := range j.steps {
			if s.called && slices.Contains(compared, s.role) {
				v.add(verdict.Doubt, "step-not-judged", s.ran().pos(),
					"use the Action, as the files that oap-gate init writes do",
					"the step was not judged: it calls the gate by a command line")
			}
		}
		v.judgePermissions(j, writable[r])
		v.judgePins(j)
		v.judgeScripts(j)
	}
}

// writable is what a job of a role has its token for.
var writable = map[role][]string{
	commentRole: {"pull-requests", "issues"},
	remindRole:  {"issues"},
	rerunRole:   {"actions", "pull-requests"},
}

// judgeEvents looks at the triggers of a workflow that checks.
func (v *inspection) judgeEvents(w *workflow) {
	if !slices.ContainsFunc(w.jobs, func(j *job) bool { return j.role() == checkRole }) {
		return
	}
	v.judgeTarget(w, checkRole)
	if called, ok := w.events["workflow_call"]; ok {
		v.add(verdict.Doubt, "reusable-workflow", called.pos(), "put the job into the workflow that calls this one",
			"the gate is in a reusable workflow: its callers' triggers and job names are not followed")
	}
	pull, ok := w.events["pull_request"]
	if !ok {
		return
	}
	v.judgeFilters("pull_request", pull, "opened", "synchronize", "reopened")
	v.judgeBranches("pull_request", pull)
	if push, ok := w.events["push"]; ok && !push.member("tags").there() {
		v.judgeBranches("push", push)
	}
	if queue, ok := w.events["merge_group"]; ok {
		v.judgeFilters("merge_group", queue, "checks_requested")
	} else {
		severity := verdict.Warning
		if v.queued() {
			severity = verdict.Error
		}
		v.add(severity, "no-merge-group", w.member("on").pos(), "add merge_group to the triggers",
			"the gate does not run on merge_group: a merge queue would wait for its check permanently")
	}
	if s, ok := w.events["schedule"]; ok {
		v.add(verdict.Error, "schedule", s.pos(), "move the schedule into a file of its own",
			"the gate shares its file with a schedule: the forge switches such a file off after 60 idle days, with "+
				"the gate in it")
	}
}

// judgeTarget finds a gate that runs with the base repository's rights.
func (v *inspection) judgeTarget(w *workflow, r role) {
	target, ok := w.events["pull_request_target"]
	if !ok {
		return
	}
	severity, acknowledged := verdict.Error, regexp.MustCompile(`^true$`)
	for _, j := range w.jobs {
		if s := j.first(r); s != nil && s.input("allow-pull-request-target").holds(acknowledged) {
			severity = verdict.Warning
		}
	}
	v.add(severity, "pull-request-target", target.pos(), "use pull_request",
		"the gate runs on pull_request_target: with the base branch's secrets and a token that can write, on a "+
			"stranger's files")
}

// queued reports whether pull requests land by a merge queue.
func (v *inspection) queued() bool {
	return v.config != nil && v.config.Protection.MergeQueue || v.standing != nil &&
		slices.ContainsFunc(v.standing.Layers, func(l forge.Layer) bool { return l.Protection.MergeQueue })
}

// judgeBranches finds a gate that also starts for other branches, where it refuses a pull request: a check belongs to
// the commit, which may be proposed to the default branch as well.
func (v *inspection) judgeBranches(name string, event field) {
	at := event
	if f := event.member("branches"); f.there() {
		only := f.list()
		if at = f; len(only) == 1 && only[0] == v.branch || !matchesBranch(only, v.branch) {
			return // the latter is for judgeDefaultBranch
		}
	}
	if f := event.member("branches-ignore"); f.there() && matchesBranch(f.list(), v.branch) {
		return // the same
	}
	v.add(verdict.Warning, "other-branches", at.pos(), fmt.Sprintf("set branches: [%s] on %s", v.branch, name),
		"%s starts the gate for other branches too: a check on a commit also counts if the same commit is "+
			"proposed to %q", name, v.branch)
}

// judgeDefaultBranch finds triggers whose branches leave out the default branch: the workflow was copied from a
// repository with another one, and never runs.
func (v *inspection) judgeDefaultBranch(w *workflow) {
	for _, name := range []string{"pull_request", "pull_request_target", "pull_request_review", "merge_group", "push",
		"workflow_run"} {
		event := w.events[name]
		if f := event.member("branches"); f.there() && !matchesBranch(f.list(), v.branch) {
			v.add(verdict.Error, "branch-filter", f.pos(), fmt.Sprintf("set branches: [%s]", v.branch),
				"branches of %s (%q) leaves out the default branch %q", name, f.list(), v.branch)
		}
		if f := event.member("branches-ignore"); f.there() && matchesBranch(f.list(), v.branch) {
			v.add(verdict.Error, "branch-filter", f.pos(), fmt.Sprintf("set branches: [%s] instead", v.branch),
				"branches-ignore of %s (%q) leaves out the default branch %q", name, f.list(), v.branch)
		}
	}
}

// judgeFilters finds filters that keep a trigger from firing: a required check that does not report hangs.
func (v *inspection) judgeFilters(name string, event field, types ...string) {
	for _, filter := range []string{"paths", "paths-ignore"} {
		if f := event.member(filter); f.there() {
			v.add(verdict.Error, "path-filter", f.pos(), "drop "+filter+
				": the gate is quick where there is nothing to judge",
				"%s of %s keeps the gate from running: its required check would hang, or never judge what it must",
				filter, name)
		}
	}
	if f := event.member("types"); f.there() {
		for _, t := range types {
			if !slices.Contains(f.list(), t) {
				v.add(verdict.Error, "event-types", f.pos(), "drop types", "types of %s (%q) leaves out %q", name,
					f.list(), t)
			}
		}
	}
}

// matchesBranch applies a workflow's branch filter: the last matching pattern counts.
func matchesBranch(patterns []string, branch string) bool {
	matched := false
	for _, p := range patterns {
		pattern, negated := strings.CutPrefix(p, "!")
		if re, err := regexp.Compile(branchPattern(pattern)); err == nil && re.MatchString(branch) {
			matched = !negated
		}
	}
	return matched
}

var branchTokens = plain.Pattern(`\*\*|\*|\[[^\]]*\]|[?+]|.`)

// branchPattern spells a filter pattern as a regular expression; ?, + and [] mean the same in both.
func branchPattern(p string) string {
	return "^" + branchTokens().ReplaceAllStringFunc(p, func(t string) string {
		switch {
		case t == "**":
			return ".*"
		case t == "*":
			return "[^/]*"
		case t == "?", t == "+", strings.HasPrefix(t, "[") && len(t) > 2:
			return t
		}
		return regexp.QuoteMeta(t)
	}) + "$"
}

// within is an expression as far as a name in it: a text there may hold braces, and hides what looks like a name.
const within = `\$\{\{(?:[^}']|'[^']*')*`

var (
	formula  = plain.Pattern(within)
	variable = plain.Pattern(`(?i)\benv\.([\w-]+)`)
	index    = plain.Pattern(`\[\s*'([\w-]+)'\s*\]`)
)

// dotted spells the members that an expression names by an index as those that it names by a dot.
func dotted(text string) string { return index().ReplaceAllString(text, ".$1") }

var (
	expression = plain.Pattern(`\$\{\{`)
	harmless   = plain.Pattern(`^\s*(?:\$\{\{)?\s*(?:always\(\)|success\(\)|!\s*cancelled\(\))\s*(?:\}\})?\s*$`)
	whatever   = plain.Pattern(`^\s*(?:\$\{\{)?\s*(?:always\(\)|!\s*cancelled\(\))\s*(?:\}\})?\s*$`)
	secret     = plain.Pattern(`(?i)` + within + `\b(?:secrets|github\.token)\b`)
	jobToken   = plain.Pattern(`(?i)\bsecrets\.GITHUB_TOKEN\b`)
)

// judgeCheckJob looks at a job that checks pull requests: it must always run, under one name, and its failure must
// count.
func (v *inspection) judgeCheckJob(j *job) {
	if m := j.member("strategy").member("matrix"); m.there() {
		v.add(verdict.Error, "matrix", m.pos(), "one job without a matrix",
			"job %q has a matrix: its checks have other names than the one that is required", j.id)
	}
	if n := j.member("name"); n.holds(expression()) {
		v.add(verdict.Error, "name-expression", n.pos(), "a name without expressions",
			"the name of job %q is computed (%q): the required check needs one name", j.id, n.text())
	}
	steps := []field{j.field}
	for _, s := range j.steps {
		if s.gates() || isCheckout(s) {
			steps = append(steps, s.field)
		}
	}
	for i, f := range steps {
		if c := f.member("if"); c.there() && !harmless().MatchString(c.text()) {
			v.add(verdict.Error, "condition", c.pos(), "drop the condition",
				"%s runs only if %q: a gate that is skipped counts as passed", unit(j, i), c.text())
		}
		if c := f.member("continue-on-error"); c.there() && c.text() != "false" {
			v.add(verdict.Error, "continue-on-error", c.pos(), "drop continue-on-error",
				"%s continues after an error (%q): a gate that failed counts as passed", unit(j, i), c.text())
		}
	}
	if n := j.member("needs"); n.there() && !whatever().MatchString(j.member("if").text()) {
		v.add(verdict.Error, "needs", n.pos(), "drop needs",
			"job %q needs %q: where that fails or is skipped, the gate is skipped, which counts as passed", j.id,
			n.list())
	}
	v.judgeSecrets(j)
	for _, s := range j.steps {
		if s.gates() && !s.called {
			v.judgeSelection(s)
		}
	}
	v.judgeEarlier(j)
	for _, f := range append(steps, j.w.field) {
		for _, one := range f.member("env").names() {
			switch {
			case one.key == nil:
			case strings.HasPrefix(strings.ToUpper(one.key.Value), "INPUT_"):
				v.add(verdict.Error, "incomplete", one.pos(), "set it below with, or drop it",
					"%q sets an input of the gate where it is not looked for", one.key.Value)
			case replaces().MatchString(one.key.Value):
				v.add(verdict.Error, "incomplete", one.pos(), "drop it",
					"%q decides which program a step runs, or what it loads", one.key.Value)
			}
		}
	}
}

// replaces are the variables by which another program runs than the one that is named.
var replaces = plain.Pattern(`^(?:(?i:PATH)|BASH_ENV|ENV|LD_[A-Z_]+|NODE_OPTIONS)$`)

// judgeEarlier finds steps that may replace the gate, its settings or the clone before it runs. What they do is not
// read. With a token that can write, the scripts after the gate count too.
func (v *inspection) judgeEarlier(j *job) {
	last := len(j.steps) - 1
	for last >= 0 && !j.steps[last].gates() {
		last--
	}
	for i, s := range j.steps {
		at := s.ran()
		runs := i < last || j.w.runsOn("pull_request_target") &&
			(s.member("run").there() || s.input("script").there() || foreign().MatchString(at.text()))
		if runs && !s.gates() && !isCheckout(s) && at.there() {
			v.add(verdict.Doubt, "step-not-judged", at.pos(), "move it behind the gate, or into a job of its own",
				"the step was not judged: it runs next to the gate, and may replace it, its settings or the clone")
		}
	}
}

// foreign is an image, or an action of the clone itself.
var foreign = plain.Pattern(`^(?:docker://|\.)`)

func unit(j *job, i int) string {
	if i == 0 {
		return fmt.Sprintf("job %q", j.id)
	}
	return fmt.Sprintf("a step of job %q", j.id)
}

func (v *inspection) judgeSecrets(j *job) {
	for _, f := range []field{j.field, j.w.member("env")} {
		f.each(func(leaf field) {
			text := dotted(leaf.text())
			if !secret().MatchString(text) {
				return
			}
			if len(jobToken().FindAllString(text, -1)) == strings.Count(strings.ToLower(text), "secrets") {
				if j.role() == governsRole {
					return // reads the reviews by it
				}
				v.add(verdict.Warning, "token", leaf.pos(), "drop it",
					"job %q is given the workflow's token, which the gate does not need", j.id)
				return
			}
			v.add(verdict.Error, "secrets", leaf.pos(), "drop it",
				"job %q is given a secret: the gate needs none, and it reads a stranger's files", j.id)
		})
	}
}

// each calls f with every scalar in it, at the scalar's own place.
func (f field) each(do func(field)) {
	if f.value == nil {
		return
	}
	if len(f.value.Content) == 0 {
		do(field{path: f.path, value: f.value})
		return
	}
	for _, n := range f.value.Content {
		field{path: f.path, value: n}.each(do)
	}
}

// judgeSelection finds what leaves checks out of a gate, or replaces the world or the commits that it sees.
func (v *inspection) judgeSelection(s *step) {
	for _, name := range []string{"offline", "skip", "base", "entrypoint"} {
		if in := s.input(name); in.there() && in.text() != "" && !strings.EqualFold(in.text(), "false") {
			v.add(verdict.Error, "incomplete", in.pos(), "drop "+name,
				"the gate runs with %s: %q, so its check is not the whole gate", name, in.text())
		}
	}
	if in := s.input("checks"); in.holds(expression()) {
		v.add(verdict.Error, "incomplete", in.pos(), "name the checks, or drop checks",
			"the checks are computed (%q): nobody can see which ones run", in.text())
	}
	known := v.known()
	for id := range s.only() {
		if !known[id] && s.role == checkRole {
			v.add(verdict.Error, "unknown-check", s.input("checks").pos(), "name checks that oap-gate explain lists",
				"%q is not a check of the gate", id)
		}
	}
	if s.role == governsRole && s.only() != nil { // no other job is held to the rest
		v.add(verdict.Error, "incomplete", s.input("checks").pos(), "let it run all",
			"the gate runs only %q, so its check is not the whole gate", slices.Sorted(maps.Keys(s.only())))
	}
}

// known returns the ids of the gate's checks.
func (v *inspection) known() map[string]bool {
	ids := map[string]bool{}
	for _, row := range v.section6 {
		for _, id := range row.Checks {
			ids[id] = true
		}
	}
	return ids
}

// only returns the checks to which a step limits the gate; nil: all.
func (s *step) only() map[string]bool {
	text := s.input("checks").text()
	if expression().MatchString(text) {
		return nil // reported by judgeSelection
	}
	ids := map[string]bool{}
	for _, id := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(",\n \"'", r) }) {
		ids[id] = true
	}
	if len(ids) == 0 {
		return nil
	}
	return ids
}

func isCheckout(s *step) bool {
	return strings.HasPrefix(strings.ToLower(s.member("uses").text()), "actions/checkout@")
}

var workspace = plain.Pattern(`^\s*(?:\$\{\{\s*github\.workspace\s*\}\}|\$\{?GITHUB_WORKSPACE\}?)`)

// cleaned returns a directory relative to the workspace. It leaves another absolute directory as it is.
func cleaned(dir string) string {
	if relative := workspace().ReplaceAllString(dir, ""); relative != dir || !path.IsAbs(dir) {
		dir = "./" + relative
	}
	return path.Clean(dir)
}

// inside reports whether a directory is another one or below it.
func inside(dir, of string) bool {
	return dir == of || strings.HasPrefix(dir, of+"/") ||
		of == "." && !path.IsAbs(dir) && !strings.HasPrefix(dir, "..") && !expression().MatchString(dir)
}

// judgeCheckout judges the clone that the gate reads. If checkouts are nested, that is the innermost one around the
// directory that the gate reads.
func (v *inspection) judgeCheckout(j *job, r role) {
	gate := j.first(r)
	if gate.called {
		return // judgeCheckJob reports it
	}
	at := cleaned(gate.input("path").text())
	var checkout *step
	for _, s := range j.steps {
		if s == gate {
			break
		}
		if !isCheckout(s) {
			continue
		}
		if in := cleaned(s.input("path").text()); inside(at, in) &&
			(checkout == nil || inside(in, cleaned(checkout.input("path").text()))) {
			checkout = s
		}
	}
	const fix = "add a step before it: uses: actions/checkout, with fetch-depth: 0 and persist-credentials: false"
	switch {
	case checkout == nil && at == ".":
		v.add(verdict.Error, "no-checkout", gate.pos(), fix, "no step checks the registry out before the gate runs")
		return
	case checkout == nil:
		severity := verdict.Error
		if expression().MatchString(at) {
			severity = verdict.Doubt
		}
		v.add(severity, "no-checkout", gate.pos(), fix+", and path: "+plain.Cut(at, 80),
			"no step checks out %q, the directory that the gate reads, before the gate runs", plain.Cut(at, 80))
		return
	case checkout.input("repository").there() && r != auditRole:
		v.add(verdict.Error, "no-checkout", checkout.input("repository").pos(),
			"drop repository, or name the directory of this repository's checkout",
			"the gate reads %q, a clone of %q, and not the one of this repository", plain.Cut(at, 80),
			checkout.input("repository").text())
		return
	}
	pos := func(f field) field {
		if f.there() {
			return f
		}
		return checkout.field
	}
	if depth := checkout.input("fetch-depth"); depth.text() != "0" {
		v.add(verdict.Error, "shallow-checkout", pos(depth).pos(), "set fetch-depth: 0",
			"the clone is shallow (fetch-depth %q): the gate needs the branch and its history", depth.text())
	}
	for _, name := range []string{"filter", "sparse-checkout"} {
		if in := checkout.input(name); in.text() != "" {
			v.add(verdict.Error, "partial-checkout", in.pos(), "drop "+name,
				"the clone is partial (%s %q): the gate reads every object itself", name, in.text())
			break
		}
	}
	if keep := checkout.input("persist-credentials"); keep.text() != "false" {
		v.add(verdict.Warning, "credentials", pos(keep).pos(), "set persist-credentials: false",
			"the checkout leaves the workflow's token in .git/config")
	}
}

// judgePermissions checks what the job's token may write, except what it is for.
func (v *inspection) judgePermissions(j *job, writable []string) {
	p := j.member("permissions")
	if !p.there() {
		p = j.w.member("permissions")
	}
	if !p.there() {
		v.add(verdict.Warning, "permissions", j.pos(), "add permissions: {contents: read}",
			"job %q says nothing of permissions: its token gets the repository's default, which may be to write", j.id)
		return
	}
	if p.text() == "write-all" {
		v.add(verdict.Error, "write-permissions", p.pos(), "set permissions: {contents: read}",
			"the token of job %q may write everything", j.id)
	}
	for _, one := range p.names() {
		if one.key != nil && one.text() == "write" && !slices.Contains(writable, one.key.Value) {
			v.add(verdict.Error, "write-permissions", one.pos(), "set it to read, or drop it",
				"the token of job %q may write %q", j.id, one.key.Value)
		}
	}
}

// judgeCommentJob looks at a job that has a token to comment with: it must run nothing of the pull request's.
func (v *inspection) judgeCommentJob(j *job) {
	if _, ok := j.w.events["workflow_run"]; !ok {
		v.add(verdict.Warning, "comment-event", field{path: j.path, key: cmp.Or(j.w.member("on").key, j.key)}.pos(),
			"start it on workflow_run, as the comment.yml that oap-gate init writes",
			"comments are written without workflow_run: on a pull request from a fork the token can only read")
	}
	for _, s := range j.steps {
		if isCheckout(s) && (s.input("ref").there() || s.input("repository").there()) {
			v.add(verdict.Error, "privileged-checkout", s.pos(),
				"drop the checkout: the job needs only the report, which is data",
				"job %q can write comments and checks out %q", j.id, s.input("ref").text())
		}
	}
	if v.unreadable {
		return
	}
	watched := j.w.events["workflow_run"].member("workflows")
	for _, name := range watched.names() {
		if !slices.ContainsFunc(v.workflows, func(w *workflow) bool { return w.name == name.text() }) {
			v.add(verdict.Warning, "workflow-run", name.pos(), "name it as its file does",
				"no workflow here has the name %q: the comment would never be written", name.text())
		}
	}
}

// judgeProtectJob looks at a job that has a token to administer with.
func (v *inspection) judgeProtectJob(j *job) {
	for _, e := range []string{"pull_request", "pull_request_target", "pull_request_review",
		"pull_request_review_comment", "workflow_run", "issues", "issue_comment", "discussion", "discussion_comment",
		"fork", "watch"} {
		if f, ok := j.w.events[e]; ok {
			v.add(verdict.Error, "admin-token", f.pos(),
				"run it only on schedule, workflow_dispatch and push to the default branch",
				"job %q has a token to administer with, and %s lets strangers start it", j.id, e)
		}
	}
}

// judgeReusable looks at jobs without steps, which call another file.
func (v *inspection) judgeReusable(j *job) {
	uses := j.member("uses")
	if strings.Contains(uses.text(), "oap-gate") {
		v.called = v.called || j.w.runsOn("pull_request")
		v.add(verdict.Doubt, "reusable-workflow", uses.pos(), "use the action in a step",
			"job %q calls %q, which is not followed", j.id, uses.text())
	}
}

var (
	pinned      = plain.Pattern(`@[0-9a-f]{40}$`)
	digest      = plain.Pattern(`@sha256:[0-9a-f]{64}$`)
	placeholder = plain.Pattern(`@(?:sha256:)?0{40}(?:0{24})?$`)
)

// judgePins looks at whether each action of the job, and the container of its scripts, is the one that somebody once
// read.
func (v *inspection) judgePins(j *job) {
	container := j.member("container")
	if image := container.member("image"); image.there() {
		container = image
	}
	if image := container.text(); image != "" && !digest().MatchString(image) {
		v.add(verdict.Error, "unpinned", container.pos(), "pin the image by digest: IMAGE@sha256:…",
			"%q is not pinned: a tag can be moved", image)
	}
	for _, s := range j.steps {
		uses := s.member("uses")
		text := uses.text()
		image := strings.HasPrefix(text, "docker://")
		if owner, _, _ := strings.Cut(text, "/"); gateAction().MatchString(text) &&
			!strings.EqualFold(owner, gateOwner) {
			v.add(verdict.Error, "other-owner", uses.pos(), "use "+gateOwner+"/oap-gate",
				"%q is the gate of another owner", plain.Cut(text, 80))
		}
		switch {
		case text == "":
		case placeholder().MatchString(text):
			v.add(verdict.Error, "placeholder", uses.pos(),
				"replace the zeros by the commit SHA, or the image digest, of a release",
				"%q is a placeholder for a release that was not filled in", text)
		case strings.HasPrefix(text, "./"):
			if _, ok := j.w.events["pull_request"]; ok && s.gates() {
				v.add(verdict.Warning, "local-action", uses.pos(), "pin a release of the gate",
					"%q runs the gate as the pull request has it", text)
			}
		case image && !digest().MatchString(text):
			v.add(verdict.Error, "unpinned", uses.pos(), "pin the image by digest: docker://IMAGE@sha256:…",
				"%q is not pinned: a tag can be moved", text)
		case !image && !pinned().MatchString(text):
			v.add(verdict.Error, "unpinned", uses.pos(), "pin the action by its full commit SHA, with the version in "+
				"a comment", "%q is not pinned: a tag or branch can be moved", text)
		}
	}
}

// gateOwner is the owner of the gate's repository.
const gateOwner = "openagentprotocol-OAP"

// hostile are the parts of an event that a stranger words.
var hostile = plain.Pattern(`(?i)` + within + `(?:github\.head_ref|github\.event\.\S*(?:title|body|head_branch|head\.ref|` +
	`head\.label|head\.repo\.(?:default_branch|description|homepage)|message|name|email|label)\b|` +
	`tojson\(\s*github(?:\.event(?:\.\w+|\.\S*\.head(?:\.repo)?)?)?\s*\))`)

func (v *inspection) judgeScripts(j *job) {
	for _, s := range j.steps {
		if at, found := s.worded(j); at.there() {
			v.add(verdict.Error, "script-injection", at.pos(), "pass it by env and use it as \"$NAME\"",
				"a script of job %q holds %q, which a stranger words", j.id, strings.TrimSpace(found)+" }}")
		}
	}
}

// worded returns the script of a step that holds an expression with a stranger's text, and the expression.
func (s *step) worded(j *job) (field, string) {
	worded := map[string]bool{} // whether a variable holds what a stranger words; the innermost one counts
	find := func(f field) string {
		for _, one := range formula().FindAllString(dotted(f.text()), -1) {
			if hostile().MatchString(one) || slices.ContainsFunc(variable().FindAllStringSubmatch(one, -1),
				func(m []string) bool { return worded[m[1]] }) {
				return one
			}
		}
		return ""
	}
	for _, f := range []field{j.w.field, j.field, s.field} {
		for _, one := range f.member("env").names() {
			if one.key != nil {
				worded[one.key.Value] = find(one) != ""
			}
		}
	}
	for _, run := range []field{s.member("run"), s.input("script"), s.input("args")} {
		if found := find(run); found != "" {
			return run, found
		}
	}
	return field{}, ""
}

// judgeCoverage holds the jobs that the branch requires to every check of RFC 0026 section 6.
func (v *inspection) judgeCoverage() {
	gates := v.gates()
	if v.unreadable {
		return // the gate may be in the file that could not be read
	}
	if v.specification {
		if !v.governs() {
			v.add(verdict.Error, "no-gate", field{path: workflowDirectory}.pos(), v.initFix(),
				"no workflow runs the gates of the specification on pull_request")
		}
		v.judgeContexts(v.jobs(governsRole))
		return
	}
	if len(gates) == 0 && (v.called || v.governs() || v.conforms()) {
		return // the gate is in a file that is not followed, or this is the repository of the specification, or of
		// what is compared with a companion protocol
	}
	if len(gates) == 0 {
		v.add(verdict.Error, "no-gate", field{path: workflowDirectory}.pos(), v.initFix(),
			"no workflow runs the gate on pull_request")
		return
	}
	v.judgeContexts(gates)
	covered := map[string]bool{}
	var unused []string
	for _, j := range gates {
		if !v.required(j.context()) {
			unused = append(unused, j.context())
			continue
		}
		for _, s := range j.steps {
			if s.role != checkRole {
				continue
			}
			ids := s.only()
			for id := range v.known() {
				if ids == nil || ids[id] {
					covered[id] = true
				}
			}
		}
	}
	fix := "run them in a job that is required"
	if unused != nil {
		fix = fmt.Sprintf("add to required_checks what of %q runs them", unused)
	}
	if len(covered) == 0 {
		v.add(verdict.Error, "section-6", v.place("protection.required_checks"), fix,
			"RFC 0026 section 7 requires every check of section 6: no required check runs the gate")
		return
	}
	for _, row := range repoconfig.Missing(v.section6, covered) {
		v.add(verdict.Error, "section-6", v.place("protection.required_checks"), fix,
			"RFC 0026 section 6, %q: no required check runs %q", row.Name, row.Checks)
	}
}

// required reports whether the branch requires a check of that name; where there is no repo-config, every gate counts.
func (v *inspection) required(context string) bool {
	return v.config == nil || slices.ContainsFunc(v.config.Protection.RequiredChecks,
		func(c repoconfig.RequiredCheck) bool { return c.Context == context })
}

// judgeContexts looks at the names under which jobs report.
func (v *inspection) judgeContexts(gates []*job) {
	reporters := map[string][]*job{}
	for _, w := range v.workflows {
		if !w.runsOn("pull_request", "pull_request_target", "pull_request_review", "pull_request_review_comment",
			"merge_group", "push") {
			continue // its checks never stand at a pull request's head
		}
		for _, j := range w.jobs {
			reporters[j.context()] = append(reporters[j.context()], j)
		}
	}
	for _, j := range gates {
		for _, other := range reporters[j.context()] {
			if other != j && (!slices.Contains(gates, other) || j.w.path+j.id < other.w.path+other.id) {
				v.add(verdict.Error, "ambiguous-name", other.pos(), "give it another name",
					"job %q reports as %q, as the gate in %s does: one can be mistaken for the other", other.id,
					j.context(), j.w.path)
			}
		}
	}
	if v.config == nil {
		return
	}
	for i, c := range v.config.Protection.RequiredChecks {
		if c.AppID != 0 && c.AppID != forge.ActionsApp &&
			slices.ContainsFunc(gates, func(j *job) bool { return j.context() == c.Context }) {
			v.add(verdict.Doubt, "check-from-other-app",
				v.config.Pos(fmt.Sprintf("protection.required_checks[%d].context", i)),
				"set app_id: 15368 (GitHub Actions)",
				"required check %q counts only from app %d, and GitHub Actions, which runs the gate, is app %d",
				c.Context, c.AppID, forge.ActionsApp)
		}
		if len(reporters[c.Context]) == 0 {
			v.add(verdict.Warning, "unknown-context", v.place("protection.required_checks"),
				"name it as its job is named", "required check %q: no workflow here has a job of that name", c.Context)
		}
	}
}
