package doctor

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge/repoconfig"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// judge looks at what the jobs of a workflow do, in addition to what they differ in from init.
func (v *inspection) judge(w *workflow) {
	proposed := w.runsOn("pull_request")
	for _, j := range w.jobs {
		uses := j.get("uses")
		calls := strings.Contains(uses.text, "oap-gate") // another file, which is not followed
		v.called = v.called || proposed && (calls || j.role == callRole)
		if calls && (proposed || w.uses()) {
			v.add(verdict.Doubt, "reusable-workflow", uses.Pos, "", "job %q calls %q, which is not followed", j.key,
				uses.text)
		}
		v.judgeOther(j)
		if slices.ContainsFunc(j.steps, (*step).gates) {
			secrets, tokens := j.secrets()
			for _, n := range secrets {
				v.add(verdict.Error, "secrets", n.Pos, "", "")
			}
			for _, n := range tokens {
				if j.role != governsRole { // which reads the reviews by it
					v.add(verdict.Warning, "token", n.Pos, "", "")
				}
			}
		}
	}
}

// matchesBranch applies a workflow's branch filter: the last matching pattern counts. A pattern with more than stars
// lets no branch through.
func matchesBranch(patterns []string, branch string) bool {
	matched := false
	for _, p := range patterns {
		pattern, negated := strings.CutPrefix(p, "!")
		is, _ := path.Match(pattern, branch)
		if more := strings.ContainsAny(pattern, `?+[\`); more && negated || !more && (is || pattern == "**") {
			matched = !negated
		}
	}
	return matched
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
	secret     = plain.Pattern(`(?i)` + within + `\bsecrets\b`)
	jobToken   = plain.Pattern(`(?i)\bsecrets\.GITHUB_TOKEN\b`)
	token      = plain.Pattern(`(?i)` + within + `\bgithub\.token\b`)
)

// secrets returns the values of a job, and of the variables of its file, that name a secret, and those that name only
// the job's token.
func (j *job) secrets() (secrets, tokens []*node) {
	find := func(n *node) {
		if !strings.Contains(n.text, "${{") {
			return // which is most of them, and a pattern takes long
		}
		text := jobToken().ReplaceAllString(dotted(n.text), "github.token")
		switch {
		case secret().MatchString(text):
			secrets = append(secrets, n)
		case token().MatchString(text):
			tokens = append(tokens, n)
		}
	}
	j.scalars(find)
	j.w.get("env").scalars(find)
	return secrets, tokens
}

// only returns the checks to which an input limits the gate; none: it runs all.
func only(input *node) []string {
	if expression().MatchString(input.text) {
		return nil // which is reported as incomplete
	}
	return words(input)
}

var pinned = plain.Pattern(`@[0-9a-f]{40}$`)

// gateOwner is the owner of the gate's repository.
const gateOwner = "openagentprotocol-OAP"

// hostile are the parts of an event that a stranger words.
var hostile = plain.Pattern(`(?i)` + within + `(?:github\.head_ref|github\.event\.\S*(?:title|body|head_branch|head\.ref|` +
	`head\.label|head\.repo\.(?:default_branch|description|homepage)|message|name|email|label)\b|` +
	`github\.event\.client_payload\b|` +
	`tojson\(\s*github(?:\.event(?:\.\w+|\.\S*\.head(?:\.repo)?)?)?\s*\))`)

// worded returns an expression with a stranger's text in the script of a step, or "".
func (s *step) worded(j *job) string {
	worded := map[string]bool{} // whether a variable holds what a stranger words; the innermost one counts
	find := func(n *node) string {
		for _, one := range formula().FindAllString(dotted(n.text), -1) {
			if hostile().MatchString(one) || slices.ContainsFunc(variable().FindAllStringSubmatch(one, -1),
				func(m []string) bool { return worded[m[1]] }) {
				return strings.TrimSpace(one) + " }}"
			}
		}
		return ""
	}
	for _, run := range []*node{s.get("run"), s.input("script"), s.input("args")} {
		if !strings.Contains(run.text, "${{") {
			continue // which is most of them, and a pattern takes long
		}
		for _, n := range []*node{j.w.node, j.node, s.node} {
			for _, one := range n.get("env").kids {
				worded[one.key] = find(one) != ""
			}
		}
		if found := find(run); found != "" {
			return found
		}
	}
	return ""
}

// judgeCoverage holds the jobs that the branch requires to every check of RFC 0026 section 6.
func (v *inspection) judgeCoverage() {
	gates, what := v.gates(), ""
	if v.specification {
		gates, what = v.jobs(governsRole), "no workflow runs the gates of the specification on pull_request"
	}
	// The gate may be in a file or a script that is not read. What is compared with a protocol has none.
	elsewhere := v.unreadable || v.called || !v.specification && (v.has(governsRole) || v.conforms())
	if len(gates) == 0 && !elsewhere {
		v.add(verdict.Error, "no-gate", strict.Pos{Path: workflowDirectory}, v.initFix(), "%s", what)
	}
	if len(gates) == 0 || v.unreadable {
		return
	}
	v.judgeContexts(gates)
	if v.specification {
		return
	}
	var run, unused []string // checks that required jobs run, and the names of other jobs
	for _, j := range gates {
		if !requires(v.wanted(), j.context()) {
			unused = append(unused, j.context())
			continue
		}
		for _, s := range j.steps {
			ids := only(s.input("checks"))
			for _, c := range checks.All {
				if s.role == checkRole && (len(ids) == 0 || slices.Contains(ids, c.ID)) {
					run = append(run, c.ID)
				}
			}
		}
	}
	fix, at := "run them in a job that is required", v.config.Pos("protection.required_checks")
	if unused != nil {
		fix = fmt.Sprintf("add to required_checks what of %q runs them", unused)
	}
	if run == nil {
		v.add(verdict.Error, "section-6", at, fix,
			"RFC 0026 section 7 requires every check of section 6: no required check runs the gate")
		return
	}
	for _, row := range Section6 {
		missing := slices.DeleteFunc(InRow(row), func(id string) bool { return slices.Contains(run, id) })
		if len(missing) > 0 {
			v.add(verdict.Error, "section-6", at, fix, "RFC 0026 section 6, %q: no required check runs %q", row,
				missing)
		}
	}
}

// requires reports whether a branch requires a check of that name.
func requires(p repoconfig.Protection, context string) bool {
	return slices.ContainsFunc(p.RequiredChecks, func(c repoconfig.RequiredCheck) bool { return c.Context == context })
}

// judgeContexts looks at the names under which jobs report.
func (v *inspection) judgeContexts(gates []*job) {
	of, reported := map[string]*job{}, map[string]bool{}
	for _, j := range slices.Backward(gates) {
		of[j.context()] = j
	}
	for _, w := range v.workflows {
		// The checks of other events never appear at a pull request's head by themselves.
		proposed := w.runsOn("pull_request", "pull_request_target", "pull_request_review",
			"pull_request_review_comment", "merge_group", "push")
		for _, j := range w.jobs {
			name := j.context()
			reported[name] = reported[name] || proposed
			if gate := of[name]; gate != nil && gate != j {
				v.add(verdict.Error, "ambiguous-name", j.Pos, "",
					"job %q reports as %q, as the gate in %s does: one can be mistaken for the other", j.key, name,
					gate.w.Path)
			}
		}
	}
	if v.config == nil {
		return
	}
	for i, c := range v.config.Protection.RequiredChecks {
		if c.AppID != 0 && c.AppID != forge.ActionsApp && of[c.Context] != nil {
			v.add(verdict.Doubt, "check-from-other-app",
				v.config.Pos(fmt.Sprintf("protection.required_checks[%d].context", i)), "",
				"required check %q counts only from app %d, and GitHub Actions, which runs the gate, is app %d",
				c.Context, c.AppID, forge.ActionsApp)
		}
		if !reported[c.Context] {
			v.add(verdict.Warning, "unknown-context", v.config.Pos("protection.required_checks"), "",
				"required check %q: no workflow here has a job of that name", c.Context)
		}
	}
}
