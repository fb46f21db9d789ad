package doctor

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/openagentprotocol-OAP/oap-gate/docs"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/install"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/strictyaml"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// compared are the roles whose jobs init writes.
var compared = []role{checkRole, governsRole, auditRole, commentRole, protectRole, remindRole, rerunRole}

// templates returns the jobs that init writes.
func (v *inspection) templates() (all []*job, err error) {
	files, err := fs.Glob(docs.Files, "workflows/*.yml")
	if err != nil {
		return nil, err
	}
	slices.SortFunc(files, func(a, b string) int { // check.yml before check-ten-jobs.yml
		return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	for _, name := range files {
		text, err := docs.Files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		root, err := strictyaml.Parse(name, text, maxWorkflow)
		if err != nil {
			return nil, err
		}
		all = append(all, v.newWorkflow(field{path: name, value: root}, false).jobs...)
	}
	return all, nil
}

// keysOf are the keys of a mapping that a rule judges, or that decide nothing, by the name of the mapping.
var keysOf = map[string][]string{
	"workflow": {"name", "run-name", "on", "permissions", "env", "defaults", "concurrency", "jobs"},
	"job": {"name", "if", "needs", "strategy", "continue-on-error", "container", "defaults", "env", "permissions",
		"concurrency", "runs-on", "steps", "timeout-minutes", "uses", "with", "secrets"},
	"step": {"name", "id", "if", "uses", "with", "env", "continue-on-error", "timeout-minutes", "run", "shell",
		"working-directory"},
}

// judgeOwn compares the jobs that use the gate with what init writes for them, and reports what no other rule judges.
func (v *inspection) judgeOwn() error {
	written, err := v.templates()
	if err != nil {
		return err
	}
	judged := map[*workflow]bool{}
	for _, j := range v.jobs(compared...) {
		same := func(t *job) bool { return t.role() == j.role() && t.id == j.id }
		i := slices.IndexFunc(written, same)
		if i < 0 {
			i = slices.IndexFunc(written, func(t *job) bool { return t.role() == j.role() })
		}
		want := written[i]
		if !judged[j.w] {
			judged[j.w] = true
			v.unknownKeys("workflow", j.w.field, want.w.field)
			for _, e := range want.w.member("on").names() {
				if name := e.key.Value; name != "pull_request" && name != "merge_group" && !j.w.runsOn(name) {
					v.differs(verdict.Warning, j.w.member("on"), "add %s to the triggers", name)
				}
			}
			for _, c := range j.w.events["schedule"].names() {
				if cron := c.member("cron"); cron.there() && len(strings.Fields(cron.text())) != 5 {
					v.differs(verdict.Warning, cron, "set cron to five fields, as %q", "17 4 * * 1")
				}
			}
			v.judgeGroup(j, want)
		}
		v.unknownKeys("job", j.field, want.field)
		v.judgeRunner(j, want)
		v.judgeSteps(j, want)
	}
	v.judgePlan()
	v.judgeReleases()
	return nil
}

// differs reports a place at which a file is not what init writes. A finding that is there already says more.
func (v *inspection) differs(s verdict.Severity, at field, fix string, args ...any) {
	pos := at.pos()
	for _, found := range v.findings {
		if slices.ContainsFunc(found, func(f verdict.Finding) bool {
			return f.Path == pos.Path && f.Line == pos.Line
		}) {
			return
		}
	}
	v.add(s, "differs-from-init", pos, fmt.Sprintf(fix, args...), "the file differs from what oap-gate init writes")
}

// unknownKeys reports each key of a mapping that no rule judges and that init does not write.
func (v *inspection) unknownKeys(of string, f, want field) {
	for _, one := range f.names() {
		if one.key != nil && !slices.Contains(keysOf[of], one.key.Value) && !want.member(one.key.Value).there() {
			v.add(verdict.Doubt, "unknown-key", one.pos(), "drop it, or move it into a job of its own",
				"the key %q of the %s was not judged", plain.Cut(one.key.Value, 80), of)
		}
	}
}

// judgeGroup finds a group that several pull requests share: of two runs in it, only one reports.
func (v *inspection) judgeGroup(j, want *job) {
	if r := j.role(); r != checkRole && r != governsRole {
		return
	}
	for _, of := range []field{j.w.field, j.field} {
		group := of.member("concurrency")
		if in := group.member("group"); in.there() {
			group = in
		}
		if group.there() && !expression().MatchString(group.text()) {
			v.differs(verdict.Error, group, "set group to %q", want.w.member("concurrency").member("group").text())
		}
	}
}

var (
	linuxRunner = plain.Pattern(`^ubuntu-(?:latest|\d\d\.\d\d)(?:-arm)?$`)
	otherSystem = plain.Pattern(`(?i)^(?:windows|macos)`)
)

// judgeRunner compares where a job runs, and for how long.
func (v *inspection) judgeRunner(j, want *job) {
	if on := j.member("runs-on"); !linuxRunner().MatchString(on.text()) {
		severity := verdict.Warning
		if slices.ContainsFunc(on.list(), otherSystem().MatchString) {
			severity = verdict.Error
		}
		if !on.there() {
			on = j.field
		}
		v.differs(severity, on, "set runs-on to ubuntu-latest")
	}
	least, _ := strconv.Atoi(want.member("timeout-minutes").text())
	if limit := j.member("timeout-minutes"); limit.there() {
		if n, err := strconv.Atoi(limit.text()); err != nil || n < min(least, 10) {
			v.differs(verdict.Warning, limit, "set timeout-minutes to %d", least)
		}
	}
}

// judgeSteps compares the steps that init writes with those of the same action.
func (v *inspection) judgeSteps(j, want *job) {
	for _, t := range want.steps {
		i := slices.IndexFunc(j.steps, func(s *step) bool {
			return t.role != noRole && s.role == t.role || t.role == noRole && actionOf(s) == actionOf(t)
		})
		if i < 0 {
			if !isCheckout(t) { // judgeCheckout reports it
				v.differs(verdict.Warning, j.field, "add the step %q", actionOf(t))
			}
			continue
		}
		s := j.steps[i]
		v.unknownKeys("step", s.field, t.field)
		if condition := t.member("if"); condition.text() != s.member("if").text() && t.role == noRole &&
			!isCheckout(s) {
			at := s.member("if")
			if !at.there() {
				at = s.field
			}
			v.differs(verdict.Warning, at, "set if to %s", condition.text())
		}
		if s.called {
			continue
		}
		for _, in := range t.member("with").names() {
			name, have := in.key.Value, s.input(in.key.Value)
			switch {
			case name == "report":
				for _, r := range strings.Split(in.text(), ",") {
					if !slices.Contains(strings.FieldsFunc(have.text(), isBetween), r) {
						v.differs(verdict.Warning, cmp.Or(have, s.field), "add %s to report", r)
					}
				}
			case name == "retention-days", name == "checks": // the latter is for judgeCoverage
			case have.text() != in.text() && !isCheckout(s):
				v.differs(verdict.Warning, cmp.Or(have, s.field), "set %s to %q", name, in.text())
			}
		}
		if moved := s.input("path"); t.role == checkRole && moved.there() && v.findings["gate-checkout"] == nil {
			v.differsAs("incomplete", moved, "the gate runs with path %q, so it judges another directory", moved.text())
		}
	}
	for _, f := range append([]field{j.w.field, j.field}, gateSteps(j)...) {
		for _, one := range f.member("env").names() {
			if one.key != nil && ofTheRunner().MatchString(one.key.Value) && one.key.Value != "GITHUB_TOKEN" {
				v.differsAs("incomplete", one, "%q is the runner's to set", plain.Cut(one.key.Value, 80))
			}
		}
	}
}

func gateSteps(j *job) (all []field) {
	for _, s := range j.steps {
		if s.role != noRole {
			all = append(all, s.field)
		}
	}
	return all
}

var ofTheRunner = plain.Pattern(`(?i)^(?:GITHUB|INPUT|RUNNER|ACTIONS)_`)

// differsAs reports an error of another code, unless its line has a finding.
func (v *inspection) differsAs(code string, at field, format string, args ...any) {
	pos := at.pos()
	if !slices.ContainsFunc(v.findings[ruleOf[code]], func(f verdict.Finding) bool {
		return f.Path == pos.Path && f.Line == pos.Line
	}) {
		v.add(verdict.Error, code, pos, "drop it", format, args...)
	}
}

func isBetween(r rune) bool { return strings.ContainsRune(", \n", r) }

// actionOf returns the name of the action that a step uses.
func actionOf(s *step) string {
	name, _, _ := strings.Cut(strings.ToLower(s.member("uses").text()), "@")
	return name
}

// judgePlan finds the files of the installation that are missing.
func (v *inspection) judgePlan() {
	if v.specification || v.unreadable || len(v.gates()) == 0 || v.trial() {
		return
	}
	for _, f := range install.Files(install.Release{}) {
		name := path.Base(f.Path)
		missing := false
		if path.Dir(f.Path) == workflowDirectory {
			does := role(strings.TrimSuffix(name, ".yml"))
			missing = !slices.ContainsFunc(v.jobs(does), func(j *job) bool {
				weekly := slices.ContainsFunc(j.w.jobs, func(j *job) bool { return j.role() == auditRole })
				return does == auditRole || !weekly // whose own reminder is about the audit
			})
		} else if name == "dependabot.yml" {
			_, err := fs.Stat(v.tree, f.Path)
			_, other := fs.Stat(v.tree, strings.TrimSuffix(f.Path, "yml")+"yaml")
			missing = err != nil && other != nil
		}
		if missing {
			v.add(verdict.Warning, "differs-from-init", strict.Pos{Path: f.Path}, v.initFix(), "the file is missing")
		}
	}
}

// judgeReleases finds actions that runners drop, and more than one release of the gate.
func (v *inspection) judgeReleases() {
	gate, others := "", map[string][]field{}
	for _, j := range v.jobs(compared...) {
		for _, s := range j.steps {
			uses := s.member("uses")
			name, at, _ := strings.Cut(uses.text(), "@")
			if s.role != noRole && pinned().MatchString(uses.text()) && !placeholder().MatchString(uses.text()) {
				if j.role() == checkRole || gate == "" {
					gate = at
				}
				others[at] = append(others[at], uses)
			}
			if first := install.FirstNode24[strings.ToLower(name)]; first > 0 && majorOf(uses.value) > 0 &&
				majorOf(uses.value) < first {
				v.add(verdict.Warning, "action-outdated", uses.pos(), "pin "+v.newest(name),
					"by its comment, %s runs on a Node that runners drop; expected v%d or newer", plain.Cut(name, 80),
					first)
			}
		}
	}
	for at, all := range others {
		for _, uses := range all {
			if at != gate {
				v.add(verdict.Warning, "release-skew", uses.pos(), "pin the gate as check.yml does: @"+gate,
					"the repository uses two releases of the gate")
			}
		}
	}
}

// majorOf returns the major version in the comment behind a pin, 0 if the pin has no version.
func majorOf(n *yaml.Node) int {
	_, version, found := strings.Cut(n.LineComment, "# v")
	major, _, _ := strings.Cut(version, ".")
	number, err := strconv.Atoi(major)
	if !found || err != nil {
		return 0
	}
	return number
}

// newest returns the pin of an action that init writes.
func (v *inspection) newest(action string) string {
	all, err := v.templates()
	if err != nil {
		return action
	}
	for _, j := range all {
		for _, s := range j.steps {
			if uses := s.member("uses"); actionOf(s) == strings.ToLower(action) {
				return uses.text() + " " + uses.value.LineComment
			}
		}
	}
	return action
}
