package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"go.yaml.in/yaml/v4"

	"github.com/openagentprotocol-OAP/oap-gate/docs"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/install"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/strictyaml"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// compared are the roles whose jobs init writes.
var compared = []role{checkRole, governsRole, auditRole, commentRole, protectRole, remindRole, rerunRole,
	mergeRole}

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
		all = append(all, v.newWorkflow(field{path: name, value: root}).jobs...)
	}
	return all, nil
}

// judgeOwn compares the jobs that use the gate, or upload its report, with what init writes for them.
func (v *inspection) judgeOwn() error {
	written, err := v.templates()
	if err != nil {
		return err
	}
	for _, w := range v.workflows {
		of := map[string]bool{} // the keys of the file are compared once with each template
		for _, j := range w.jobs {
			r := j.role()
			if r == noRole && !(w.uses() && j.uploads()) {
				continue
			}
			want := cmp.Or(templateOf(written, j), &job{w: &workflow{}}) // init writes none of that role
			c := comparison{inspection: v, job: j, want: want, first: !of[want.w.path]}
			of[want.w.path] = true
			c.compare()
		}
	}
	v.judgePlan()
	v.judgeReleases(written)
	return nil
}

// templateOf returns the job that init writes for a role: the one with the same id, if there are several; nil if it
// writes none.
func templateOf(written []*job, j *job) (found *job) {
	for _, t := range written {
		if t.role() != j.role() || j.role() == noRole && !t.uploads() || j.role() != noRole &&
			!slices.Contains(compared, j.role()) {
			continue
		}
		if t.id == j.id {
			return t
		}
		found = cmp.Or(found, t)
	}
	return found
}

// A comparison is that of one job, and of the keys of its file, with the template of the same role.
type comparison struct {
	*inspection
	job, want *job
	first     bool  // the keys of the file are compared too
	at        *step // whose keys are judged
}

// compare judges each key of the job by the table. If the job calls the gate by a command line, only its steps are
// judged: nobody knows which of init's jobs it is.
func (c *comparison) compare() {
	if c.job.role() == callRole {
		c.steps()
		return
	}
	w, want := c.job.w, c.want
	if c.first {
		names := slices.AppendSeq(slices.Collect(maps.Keys(w.events)), maps.Keys(want.w.events))
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			have, wanted := w.events[name], want.w.events[name]
			c.judge("on/"+name, have, wanted, w.member("on"))
			if have.there() {
				c.keys("on/"+name+"/", have, wanted)
			}
		}
		for _, one := range w.events["schedule"].names() {
			if cron := one.member("cron"); cron.there() && len(strings.Fields(cron.text())) != 5 {
				c.differs(verdict.Warning, cron, `set cron to five fields, as "17 4 * * 1"`)
			}
		}
		if want.w.there() {
			c.keys("", w.field, want.w.field)
		}
		c.keys("env/", w.member("env"), field{})
	}
	c.judge("permissions", c.job.permissions(), want.permissions(), c.job.field)
	c.keys("permissions/", c.job.permissions(), want.permissions())
	if want.there() {
		c.keys("job/", c.job.field, want.field)
	} else {
		c.judge("job/container", c.job.member("container"), field{}, c.job.field)
	}
	c.keys("job/env/", c.job.member("env"), field{})
	c.steps()
}

// steps compares the steps with those of the same action that init writes, and finds those that may replace the gate.
func (c *comparison) steps() {
	all, known := c.job.steps, map[*step]bool{}
	first, last, acts := len(all), -1, -1 // which use the gate, judge by it, write by it
	for i, s := range all {
		if c.at = s; s.role != noRole {
			first = min(first, i)
		}
		if slices.Contains([]role{commentRole, protectRole, remindRole, rerunRole, mergeRole}, s.role) {
			acts = i
		}
		if s.gates() {
			last = i
		}
		c.judge("step/uses", s.member("uses"), field{}, s.field)
	}
	for _, t := range c.want.steps {
		name, found := "other", false
		switch {
		case t.role != noRole:
			name = "gate"
		case isCheckout(t):
			name = "checkout"
		}
		for i, s := range all {
			fits := s.role == t.role && (t.role != noRole || actionOf(s) == actionOf(t)) && !known[s]
			if !fits || name != "gate" && found || name == "checkout" && i > first {
				continue
			}
			c.at, found, known[s] = s, true, true
			c.keys("step/"+name+"/", s.field, t.field)
			c.keys("step/"+name+"/with/", s.member("with"), t.member("with"))
			c.keys("step/"+name+"/env/", s.member("env"), field{})
		}
		switch {
		case found:
		case name == "other":
			c.differs(verdict.Warning, c.job.field, "add the step "+actionOf(t))
		default:
			c.at = all[min(first, len(all)-1)]
			c.judge("step/"+name, field{}, t.field, c.at.field)
		}
	}
	target := c.job.w.runsOn("pull_request_target") && last >= 0
	for i, s := range all {
		switch {
		case s.role == callRole:
			c.add(verdict.Doubt, "step-not-judged", s.ran().pos(),
				"use the Action, as the files that oap-gate init writes do",
				"the step was not judged: it calls the gate by a command line")
		case known[s] || s.gates() || !s.ran().there():
		case c.job.role() == commentRole && isCheckout(s) && (s.input("ref").there() || s.input("repository").there()):
			c.add(verdict.Error, "privileged-checkout", s.pos(), "", "job %q can write comments and checks out %q",
				c.job.id, s.input("ref").text())
		case i < last || target || i < acts && !isCheckout(s):
			c.add(verdict.Doubt, "step-not-judged", s.ran().pos(), "",
				"the step was not judged: it runs next to the gate, and may replace it, its settings or the clone")
		}
	}
}

// permissions returns what the job says of its token, or else its file.
func (j *job) permissions() field {
	if p := j.member("permissions"); p.there() {
		return p
	}
	return j.w.member("permissions")
}

// keys judges each key of a mapping, and each that init has in it. The permissions of the file are judged with the job.
func (c *comparison) keys(prefix string, have, want field) {
	for _, one := range have.members() {
		name := one.key.Value
		if strings.HasSuffix(prefix, "/with/") {
			name = strings.ToLower(name)
		}
		if prefix+name != "permissions" {
			c.judge(prefix+name, one, want.named(name), have)
		}
	}
	for _, one := range want.members() {
		if name := one.key.Value; prefix+name != "permissions" && !have.named(name).there() {
			c.judge(prefix+name, field{}, one, have)
		}
	}
}

// A key is one that is judged, as it is and as init writes it. Either may not be there.
type key struct {
	name       string
	have, want field
	in         field // the mapping that has the key
}

// judge judges one key by the rows about it.
func (c *comparison) judge(at string, have, want, in field) {
	k := key{path.Base(at), have, want, in}
	where := have
	switch {
	case have.there():
	case c.at != nil:
		where = c.at.field
	case in.there():
		where = in
	default:
		where = c.job.field
	}
	found := false
	for _, rows := range [][]row{table, otherwise} {
		for _, r := range rows {
			if found && &rows[0] == &otherwise[0] || !r.about(at) ||
				r.roles != nil && !slices.Contains(r.roles, c.job.role()) {
				continue
			}
			switch found = true; {
			case r.fine == nil || r.fine(c, k):
				continue
			case r.code == differs:
				c.differs(r.severity, where, k.set())
			default:
				code := codes[r.code]
				name := strings.ReplaceAll(strings.TrimPrefix(at, "job/"), "/", ".")
				c.add(r.severity, r.code, where.pos(), strings.ReplaceAll(code.Fix, "BRANCH", c.branch),
					"%s of job %q %s: %s", plain.Cut(name, 80), c.job.id, k.observed(), code.Meaning)
			}
			return
		}
	}
	switch {
	case found || same(have.value, want.value):
	case want.there():
		c.differs(verdict.Warning, where, k.set())
	default:
		c.add(verdict.Doubt, "unknown-key", have.pos(), "",
			"the key %q was not judged", plain.Cut(k.name, 80))
	}
}

// about reports whether the row is about a key.
func (r *row) about(key string) bool {
	return slices.ContainsFunc(strings.Fields(r.path), func(p string) bool {
		is, err := path.Match(p, key)
		return is && err == nil
	})
}

// set returns the fix that sets the key as init does.
func (k key) set() string {
	switch text := strings.Join(k.want.list(), ", "); {
	case !k.want.there():
		return "drop " + plain.Cut(k.name, 80)
	case text != "":
		return fmt.Sprintf("set %s to %q", k.name, text)
	}
	return "set " + k.name + " as oap-gate init writes it"
}

// observed returns what the key is, for a message.
func (k key) observed() string {
	switch text := strings.Join(k.have.list(), ", "); {
	case !k.have.there():
		return "is missing"
	case text != "":
		return fmt.Sprintf("is %q", plain.Cut(text, 80))
	}
	return "is set"
}

// same reports whether two nodes are the same data: the runner reads each scalar as text.
func same(a, b *yaml.Node) bool {
	if a == nil || b == nil || a.Kind != b.Kind || len(a.Content) != len(b.Content) {
		return a == b
	}
	for i, one := range a.Content {
		other := b.Content[i]
		if a.Kind == yaml.MappingNode {
			if i%2 == 1 {
				continue
			}
			one = a.Content[i+1]
			_, other = strictyaml.Member(b, a.Content[i].Value)
		}
		if !same(one, other) {
			return false
		}
	}
	return a.Value == b.Value
}

// differs reports a place at which a file is not what init writes. A finding that is there already says more.
func (v *inspection) differs(s verdict.Severity, at field, fix string) {
	pos := at.pos()
	for _, found := range v.findings {
		if slices.ContainsFunc(found, func(f verdict.Finding) bool {
			return f.Path == pos.Path && f.Line == pos.Line
		}) {
			return
		}
	}
	v.add(s, differs, pos, fix, "the file differs from what oap-gate init writes")
}

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
			does, byComment := strings.CutSuffix(strings.TrimSuffix(name, ".yml"), "-command")
			missing = !slices.ContainsFunc(v.jobs(role(does)), func(j *job) bool {
				weekly := slices.ContainsFunc(j.w.jobs, func(j *job) bool { return j.role() == auditRole })
				return byComment == j.w.runsOn("issue_comment") &&
					(role(does) == auditRole || !weekly) // whose own reminder is about the audit
			})
		} else if name == "dependabot.yml" {
			_, err := fs.Stat(v.tree, f.Path)
			_, other := fs.Stat(v.tree, strings.TrimSuffix(f.Path, "yml")+"yaml")
			missing = err != nil && other != nil
		}
		if missing {
			v.add(verdict.Warning, differs, strict.Pos{Path: f.Path}, v.initFix(), "the file is missing")
		}
	}
}

// maxDiff is the size of the largest diff that is shown, in characters.
const maxDiff = 16 << 10

// compareTexts shows, for each workflow of the installation in which something was found, how it differs from the one
// that init writes with the same pin. A gate of several jobs is another installation.
func (v *inspection) compareTexts() {
	r := install.Release{Branch: v.branch, Specification: v.specification, Trial: v.trial(), AutoMerge: true}
	r.Commit, r.Version, _ = strings.Cut(v.pin, " # ")
	if errors.Is(r.Check(), install.ErrName) {
		r.Version = ""
	}
	if r.Check() != nil || len(v.gates()) > 1 {
		return
	}
	for _, f := range install.Files(r) {
		found := slices.ContainsFunc(slices.Concat(slices.Collect(maps.Values(v.findings))...),
			func(one verdict.Finding) bool {
				return one.Path == f.Path && one.Line > 0 && one.Severity != verdict.Notice
			})
		have, err := v.read(f.Path, maxWorkflow)
		if found && err == nil && path.Dir(f.Path) == workflowDirectory {
			shown := diff.Diff(f.Path, have, f.Path+" (oap-gate init)", f.Text)
			v.diffs = append(v.diffs, plain.Cut(string(shown), maxDiff))
		}
	}
}

// judgeReleases finds actions that runners drop, and more than one release of the gate.
func (v *inspection) judgeReleases(written []*job) {
	gate, others := "", map[string][]field{}
	for _, j := range v.jobs(compared...) {
		for _, s := range j.steps {
			uses := s.member("uses")
			name, at, _ := strings.Cut(uses.text(), "@")
			if s.role != noRole && pinned().MatchString(uses.text()) && !placeholder().MatchString(uses.text()) {
				if j.role() == checkRole || gate == "" {
					gate, v.pin = at, strings.TrimSpace(at+" "+uses.value.LineComment)
				}
				others[at] = append(others[at], uses)
			}
			if first := install.FirstNode24[strings.ToLower(name)]; first > 0 && majorOf(uses.value) > 0 &&
				majorOf(uses.value) < first {
				v.add(verdict.Warning, "action-outdated", uses.pos(), "pin "+newest(written, name),
					"by its comment, %s runs on a Node that runners drop; expected v%d or newer", plain.Cut(name, 80),
					first)
			}
		}
	}
	for at, all := range others {
		for _, uses := range all {
			if at != gate {
				v.add(verdict.Warning, "release-skew", uses.pos(), "pin the gate as check.yml does: @"+gate, "")
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
func newest(written []*job, action string) string {
	for _, j := range written {
		for _, s := range j.steps {
			if uses := s.member("uses"); actionOf(s) == strings.ToLower(action) {
				return uses.text() + " " + uses.value.LineComment
			}
		}
	}
	return action
}
