package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/docs"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/install"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// release returns what the workflows here name of the gate: the pin of the job that checks, or else of another.
func (v *inspection) release() install.Release {
	r := install.Release{Branch: v.branch, Specification: v.specification, Trial: v.trial(), AutoMerge: true}
	for _, j := range v.jobs(ours...) {
		for _, s := range j.steps {
			_, at, _ := strings.Cut(s.get("uses").text, "@")
			named := install.Release{Commit: at, Version: strings.TrimPrefix(s.get("uses").remark, "# ")}
			if errors.Is(named.Check(), install.ErrName) {
				named.Version = ""
			}
			if s.role != noRole && named.Check() == nil && (j.role == checkRole || r.Commit == "") {
				r.Commit, r.Version = named.Commit, named.Version
			}
		}
	}
	return r
}

// judgeOwn compares the jobs that use the gate, or upload its report, with what init writes for them.
func (v *inspection) judgeOwn() error {
	files, err := fs.Glob(docs.Files, "workflows/*.yml")
	if err != nil {
		return err
	}
	r := v.release()
	r.Branch = "" // a filter of branches is judged by what it lets through
	var templates []*job
	for _, name := range files {
		w, err := v.newWorkflow(name, r.Text(name))
		if err != nil {
			return err
		}
		templates = append(templates, w.jobs...)
	}
	for _, w := range v.workflows {
		done := map[*workflow]bool{} // the files of init with which the keys of this one were compared
		for _, j := range w.jobs {
			if j.role != noRole || w.uses() && j.uploads() {
				c := &comparison{v, j, templateOf(templates, j)}
				c.compare(!done[c.want.w])
				done[c.want.w] = true
			}
		}
	}
	v.judgePlan()
	return nil
}

// templateOf returns the job that init writes for the role of a job: the one with the same id, or else the last, which
// is that of the file with the shortest name. It is absent if init writes none.
func templateOf(templates []*job, j *job) *job {
	found := noJob
	for _, t := range templates {
		if t.role == j.role && slices.Contains(written, t.role) && (t.role != noRole || t.uploads()) {
			if found = t; t.key == j.key {
				break
			}
		}
	}
	return found
}

// noJob is what init writes for a role for which it writes nothing.
var noJob = &job{node: absent, w: &workflow{node: absent, on: absent}}

// A comparison is that of one job, and of the keys of its file, with the template of the same role.
type comparison struct {
	*inspection
	job, want *job
}

// compare judges each key of the job by the table and, with file, each of its file. If the job calls the gate by a
// command line, only its steps are judged: nobody knows which of init's jobs it is.
func (c *comparison) compare(file bool) {
	w, want := c.job.w, c.want
	if c.job.role != callRole {
		c.key("permissions", c.job.permissions(), want.permissions(), c.job.node)
		c.members("job/", c.job.node, want.node, c.job.node)
	}
	if file && c.job.role != callRole {
		c.members("on/", w.on, want.w.on, w.on)
		c.members("", w.node, want.w.node, w.node)
		for _, one := range w.get("on").get("schedule").kids {
			if cron := one.get("cron"); cron.there() && len(strings.Fields(cron.text)) != 5 {
				c.differs(verdict.Warning, cron, `set cron to five fields, as "17 4 * * 1"`)
			}
		}
	}
	c.steps()
}

// steps compares the steps with those of the same action that init writes. It finds those that may replace the gate,
// its settings or the clone: what init does not write, before the last step that uses the gate.
func (c *comparison) steps() {
	all, met := c.job.steps, map[*step]bool{}
	first, last := len(all)-1, -1 // which use the gate as init does
	for i, s := range all {
		if s.role != noRole {
			first = min(first, i)
		}
		if slices.Contains(ours, s.role) {
			last = i
		}
	}
	target := c.job.w.runsOn("pull_request_target") && slices.ContainsFunc(all, (*step).gates)
	for i, s := range all {
		at := slices.IndexFunc(c.want.steps, func(t *step) bool {
			return t.role == s.role && (t.role != noRole ||
				t.action() == s.action() && !met[t] && (s.kind != "checkout" || i <= first))
		})
		if at >= 0 {
			met[c.want.steps[at]] = true
			c.members("step/"+s.kind+"/", s.node, c.want.steps[at].node, s.node)
			continue
		}
		c.judge("step/"+s.kind+"/uses", s.get("uses"), absent, s.node)
		switch {
		case s.role == callRole:
			c.add(verdict.Doubt, "step-not-judged", s.ran().Pos,
				"use the Action, as the files that oap-gate init writes do",
				"the step was not judged: it calls the gate by a command line")
		case !s.ran().there():
		case c.job.role == commentRole && s.kind == "checkout" &&
			(s.input("ref").there() || s.input("repository").there()):
			c.add(verdict.Error, "privileged-checkout", s.Pos, "", "job %q can write comments and checks out %q",
				c.job.key, s.input("ref").text)
		case i < last || target:
			c.add(verdict.Doubt, "step-not-judged", s.ran().Pos, "",
				"the step was not judged: it runs next to the gate, and may replace it, its settings or the clone")
		}
	}
	for _, t := range c.want.steps {
		switch {
		case met[t]:
		case t.kind == "checkout":
			c.judge("step/checkout", absent, t.node, all[first].node)
		default:
			c.differs(verdict.Warning, c.job.node, "add the step "+t.action())
		}
	}
}

// permissions returns what the job says of its token, or else its file.
func (j *job) permissions() *node {
	if p := j.get("permissions"); p.there() {
		return p
	}
	return j.w.get("permissions")
}

// opened are the mappings in which each key is judged.
var opened = plain.Pattern(`^(?:on/[^/]*|permissions|(?:.*/)?env|step/.*/with)$`)

// key judges a key, and those in it.
func (c *comparison) key(at string, have, want, in *node) {
	c.judge(at, have, want, in)
	if have.there() && opened().MatchString(at) {
		if !strings.HasPrefix(at, "step/") {
			in = have
		}
		c.members(at+"/", have, want, in)
	}
}

// members judges each key of a mapping, and each that init has in it. The place of one that is missing is that of in.
// The permissions are judged once, for the job.
func (c *comparison) members(of string, have, want, in *node) {
	for _, one := range have.kids {
		if one.key != "" && one.key != "permissions" {
			c.key(of+one.key, one, want.get(one.key), in)
		}
	}
	for _, one := range want.kids {
		if one.key != "" && one.key != "permissions" && !have.get(one.key).there() {
			c.key(of+one.key, absent, one, in)
		}
	}
}

// A key is one that is judged, as it is and as init writes it. Either may be absent.
type key struct {
	name           string
	have, want, in *node
}

// judge judges one key by the rows about it.
func (c *comparison) judge(at string, have, want, in *node) {
	k, where, found := key{path.Base(at), have, want, in}, in, false
	if have.there() {
		where = have
	}
	for _, r := range table {
		if (r.roles == nil || slices.Contains(r.roles, c.job.role)) && about(r.path, at) {
			if found = true; !r.fine(c, k) {
				c.found(r, at, k, where)
				return
			}
		}
	}
	switch {
	case found, !c.want.there(), about(loose, at), same(have, want), about(added, at) && !want.there(),
		about("on/*", at) && have.there():
	case want.there(), about(known, at):
		c.differs(verdict.Warning, where, k.set())
	default:
		c.add(verdict.Doubt, "unknown-key", where.Pos, "", "the key %q was not judged", plain.Cut(k.name, 80))
	}
}

// about reports whether a key has one of the paths.
func about(paths, key string) bool {
	for p := range strings.FieldsSeq(paths) {
		if is, err := path.Match(p, key); is && err == nil {
			return true
		}
	}
	return false
}

// found adds the finding of a row. A key of the file is of each of its jobs, whose findings are one.
func (c *comparison) found(r row, at string, k key, where *node) {
	if r.code == differs {
		c.differs(r.severity, where, k.set())
		return
	}
	code, of, is := codes[r.code], fmt.Sprintf(" of job %q", c.job.key), "is missing"
	fix := strings.ReplaceAll(code.Fix, "BRANCH", c.branch)
	if pinned().MatchString(k.want.text) {
		fix = "pin " + k.want.text + " " + k.want.remark
	}
	if strings.HasPrefix(at, "on/") || strings.HasPrefix(at, "env/") {
		of = ""
	}
	if k.have.there() {
		is = fmt.Sprintf("is %q", plain.Cut(value(k.have), 80))
	}
	name := strings.ReplaceAll(strings.TrimPrefix(at, "job/"), "/", ".")
	c.add(r.severity, r.code, where.Pos, fix, "%s%s %s: %s", plain.Cut(name, 80), of, is, code.Meaning)
}

// set returns the fix that sets the key as init does.
func (k key) set() string {
	switch text := value(k.want); text {
	case "":
		return "drop " + plain.Cut(k.name, 80)
	case nothing:
		return "set " + k.name + " as oap-gate init writes it"
	default:
		return fmt.Sprintf("set %s to %q", k.name, text)
	}
}

// nothing is the value of a key that is there and has no text.
const nothing = "~"

// value returns the value of a key as one text: "" if the key is absent.
func value(n *node) string {
	if !n.there() {
		return ""
	}
	return cmp.Or(strings.Join(n.list(), ", "), nothing)
}

// same reports whether two nodes are the same data: the runner reads each scalar as text.
func same(a, b *node) bool {
	if a.kind != b.kind || a.text != b.text || len(a.kids) != len(b.kids) {
		return false
	}
	for i, one := range a.kids {
		other := b.kids[i]
		if one.key != "" {
			other = b.get(one.key)
		}
		if !same(one, other) {
			return false
		}
	}
	return true
}

// differs reports a place at which a file is not what init writes. A finding that is there already says more.
func (v *inspection) differs(s verdict.Severity, at *node, fix string) {
	if !v.faulty[strict.Pos{Path: at.Path, Line: at.Line}] {
		v.add(s, differs, at.Pos, fix, "the file differs from what oap-gate init writes")
	}
}

// judgePlan finds the files of the installation that are missing, or do not use the gate any more. Whether there is a
// gate at all is judged as a whole.
func (v *inspection) judgePlan() {
	if v.specification || v.unreadable || len(v.gates()) == 0 || v.trial() {
		return
	}
	for _, f := range install.Files(install.Release{}) {
		_, err := fs.Stat(v.tree, f.Path)
		_, other := fs.Stat(v.tree, strings.TrimSuffix(f.Path, ".yml")+".yaml")
		missing := err != nil && other != nil && path.Base(f.Path) == "dependabot.yml"
		if path.Dir(f.Path) == workflowDirectory && path.Base(f.Path) != "check.yml" {
			missing = !slices.ContainsFunc(v.jobs(ours...), func(j *job) bool {
				return strings.TrimSuffix(j.w.Path, path.Ext(j.w.Path)) == strings.TrimSuffix(f.Path, ".yml")
			})
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
	r := v.release()
	if r.Check() != nil || len(v.gates()) > 1 {
		return
	}
	for _, f := range install.Files(r) {
		if v.faulty[strict.Pos{Path: f.Path}] && path.Dir(f.Path) == workflowDirectory {
			if _, shown, err := install.Compare(v.tree, f); err == nil {
				v.diffs = append(v.diffs, plain.Cut(string(shown), maxDiff))
			}
		}
	}
}
