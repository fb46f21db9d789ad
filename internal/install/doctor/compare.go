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
	r := install.Release{Branch: v.branch, Specification: v.specification, Trial: v.trial(),
		AutoMerge: v.has(mergeRole)}
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
	v.pin = r.Commit
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
// is that of the file with the shortest name. If init writes none, the job is absent.
func templateOf(templates []*job, j *job) *job {
	found := &job{node: absent, w: &workflow{node: absent, on: absent}}
	for _, t := range templates {
		if t.role == j.role && slices.Contains(written, t.role) && (t.role != noRole || t.uploads()) {
			if found = t; t.key == j.key {
				break
			}
		}
	}
	return found
}

// A comparison is that of one job, and of the keys of its file, with the template of the same role.
type comparison struct {
	*inspection
	job, want *job
}

// compare judges each key of the job by the table and, with file, each of its file. If the job calls the gate by a
// command line, only its steps are judged: nobody knows which of init's jobs it is.
func (c *comparison) compare(file bool) {
	if c.job.role != callRole {
		c.walk("job/", c.job.node, c.want.node, c.job.node)
		if file {
			c.walk("on/", c.job.w.on, c.want.w.on, c.job.w.on)
			c.walk("", c.job.w.node, c.want.w.node, c.job.w.node)
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
	if c.job.w.runsOn("pull_request_target") && slices.ContainsFunc(all, (*step).gates) {
		last = len(all)
	}
	for i, s := range all {
		at := slices.IndexFunc(c.want.steps, func(t *step) bool {
			return t.role == s.role && (t.role != noRole ||
				t.action() == s.action() && !met[t] && (s.kind != "checkout" || i <= first))
		})
		if at >= 0 {
			met[c.want.steps[at]] = true
			c.walk("step/"+s.kind+"/", s.node, c.want.steps[at].node, s.node)
			continue
		}
		if ran := s.ran(); ran.there() && (i < last || s.role == callRole) && !c.said(ran.Pos) {
			c.add(verdict.Doubt, "step-not-judged", ran.Pos, "", "")
		}
		c.judge("step/"+s.kind+"/uses", key{"uses", s.get("uses"), absent, s.node})
	}
	for _, t := range c.want.steps {
		switch {
		case met[t]:
		case t.kind == "checkout":
			c.judge("step/checkout", key{"checkout", absent, t.node, all[first].node})
		default:
			c.add(verdict.Warning, differs, c.job.Pos, "add the step "+t.action(), "")
		}
	}
}

// said reports whether the line has a finding already, which says more.
func (v *inspection) said(at strict.Pos) bool {
	return v.faulty[strict.Pos{Path: at.Path, Line: at.Line}]
}

// opened are the mappings and the lists of mappings in which each key is judged.
var opened = plain.Pattern(`^(?:on/[^/]*|job/permissions|(?:.*/)?env|step/.*/with)$`)

// A key is one that is judged, as it is and as init writes it. Either may be absent.
type key struct {
	name           string
	have, want, in *node
}

// walk judges each key of a mapping or a list of mappings, and each that init has in it. The place of one that is
// missing is that of in.
func (c *comparison) walk(of string, have, want, in *node) {
	for i, one := range slices.Concat(have.kids, want.kids) {
		k, at := key{one.key, have.get(one.key), want.get(one.key), in}, of+one.key
		switch own := i < len(have.kids); {
		case one.key == "" && own && one.kids != nil:
			c.walk(of, one, want.item(), in)
		case one.key == "", !own && k.have.there():
		default:
			c.judge(at, k)
			if k.have.there() && opened().MatchString(at) {
				if !strings.HasPrefix(at, "step/") {
					in = k.have
				}
				c.walk(at+"/", k.have, k.want, in)
				in = k.in
			}
		}
	}
}

// judge judges one key by the rows about it.
func (c *comparison) judge(at string, k key) {
	found := false
	for _, r := range table {
		if (r.roles == nil || slices.Contains(r.roles, c.job.role)) && about(r.path, at) {
			if found = true; !r.fine(c, k) {
				c.found(r.severity, r.code, at, k)
				return
			}
		}
	}
	switch {
	case found, !c.want.there(), about(loose, at), same(k.have, k.want), about(added, at) && !k.want.there(),
		about("on/*", at) && k.have.there():
	case k.want.there(), about(known, at):
		c.found(verdict.Warning, differs, at, k)
	default:
		c.found(verdict.Doubt, "unknown-key", at, k)
	}
}

// about reports whether a key has one of the paths.
func about(paths, key string) bool {
	return slices.ContainsFunc(strings.Fields(paths), func(p string) bool {
		is, err := path.Match(p, key)
		return is && err == nil
	})
}

// found adds the finding about a key. A key of the file is of each of its jobs, whose findings are one.
func (c *comparison) found(severity verdict.Severity, code, at string, k key) {
	of, is, where := fmt.Sprintf(" of job %q", c.job.key), "is missing", k.in
	fix := strings.ReplaceAll(codes[code].Fix, "BRANCH", c.branch)
	switch {
	case pinned().MatchString(k.want.text):
		fix = "pin " + k.want.text + " " + k.want.remark
	case code == differs:
		fix = k.set()
	}
	if !strings.HasPrefix(at, "job/") && !strings.HasPrefix(at, "step/") {
		of = ""
	}
	if k.have.there() {
		is, where = fmt.Sprintf("is %q", plain.Cut(value(k.have), 80)), k.have
	}
	if code != differs || !c.said(where.Pos) {
		name := strings.ReplaceAll(strings.TrimPrefix(at, "job/"), "/", ".")
		c.add(severity, code, where.Pos, fix, "%s%s %s: %s", plain.Cut(name, 80), of, is, codes[code].Meaning)
	}
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

// maxDiff is the size of the largest diff that is shown, in characters.
const maxDiff = 16 << 10

// judgePlan finds the files of the installation that are missing, or do not use the gate any more. Whether there is a
// gate at all is judged as a whole. It shows how each workflow in which something was found differs from the one that
// init writes with the same pin. A gate of several jobs is another installation.
func (v *inspection) judgePlan() {
	r, gates := v.release(), len(v.gates())
	for _, f := range install.Files(r) {
		state, shown, err := install.Compare(v.tree, f)
		missing := state == install.Missing && path.Base(f.Path) == "dependabot.yml"
		if path.Dir(f.Path) == workflowDirectory && path.Base(f.Path) != "check.yml" {
			missing = !slices.ContainsFunc(v.jobs(ours...), func(j *job) bool {
				return strings.TrimSuffix(j.w.Path, path.Ext(j.w.Path)) == strings.TrimSuffix(f.Path, ".yml")
			})
		}
		switch {
		case missing && gates > 0 && !r.Trial && !v.specification && !v.unreadable:
			v.add(verdict.Warning, differs, strict.Pos{Path: f.Path}, v.initFix(), "the file is missing")
		case err == nil && v.faulty[strict.Pos{Path: f.Path}] && path.Dir(f.Path) == workflowDirectory &&
			gates < 2 && r.Check() == nil:
			v.diffs = append(v.diffs, plain.Cut(string(shown), maxDiff))
		}
	}
}
