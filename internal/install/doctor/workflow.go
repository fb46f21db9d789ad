package doctor

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/strictyaml"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// role is what a step does with the gate.
type role string

const (
	noRole      role = ""
	checkRole   role = "check"
	auditRole   role = "audit"
	commentRole role = "comment"
	protectRole role = "protect"
	governsRole role = "governance" // the specification's gates
	// conformsRole verifies implementations, or checks a provider, an agent or a producer against its protocol.
	conformsRole role = "conformance"
	remindRole   role = "remind"
	rerunRole    role = "rerun"
	mergeRole    role = "auto-merge"
	callRole     role = "call"  // a command line calls the gate; it is not read
	otherRole    role = "other" // a mode that the Action lacks
)

// roles are all but noRole, the weightiest first. init writes jobs of ours, and of noRole one that uploads the audit's
// report.
var (
	roles = []role{checkRole, governsRole, auditRole, commentRole, protectRole, remindRole, rerunRole, mergeRole,
		conformsRole, callRole, otherRole}
	ours = roles[:8]
)

// node is a value of a workflow: a scalar, or a mapping or a sequence with its members. It is at the place of its key,
// or at its own if it has none.
type node struct {
	strict.Pos
	kind   yaml.Kind // 0: it is not there
	key    string    // an input of a step in lower case: the runner matches it in any
	text   string    // value of a scalar; null has none
	remark string    // the comment behind it
	kids   []*node
}

// absent is the node that is not there.
var absent = &node{}

// newNode returns the node of a value, whose place is at.
func newNode(path, key string, at, n *yaml.Node) *node {
	out := &node{Pos: strict.Pos{Path: path, Line: at.Line, Column: at.Column}, kind: n.Kind, key: key,
		remark: n.LineComment}
	if n.Kind == yaml.ScalarNode && n.Tag != "!!null" {
		out.text = n.Value
	}
	for i := 0; i < len(n.Content); i++ {
		at, name := n.Content[i], ""
		if n.Kind == yaml.MappingNode {
			if name = at.Value; key == "with" {
				name = strings.ToLower(name)
			}
			i++
		}
		out.kids = append(out.kids, newNode(path, name, at, n.Content[i]))
	}
	return out
}

func (n *node) there() bool { return n.kind != 0 }

// get returns the member of a mapping with that name, or absent.
func (n *node) get(name string) *node {
	for _, one := range n.kids {
		if one.key == name && n.kind == yaml.MappingNode {
			return one
		}
	}
	return absent
}

// item returns the first member of a sequence, or absent.
func (n *node) item() *node {
	if n.kind != yaml.SequenceNode || len(n.kids) == 0 {
		return absent
	}
	return n.kids[0]
}

// list returns the scalars in the node.
func (n *node) list() (all []string) {
	n.scalars(func(one *node) { all = append(all, one.text) })
	return all
}

// scalars calls do with each scalar in the node.
func (n *node) scalars(do func(*node)) {
	if n.kids == nil {
		do(n)
	}
	for _, one := range n.kids {
		one.scalars(do)
	}
}

// workflow is one file of .github/workflows.
type workflow struct {
	*node
	on   *node // a member for each event
	jobs []*job
}

// job is a job of a workflow. Its key is its id, and its role the weightiest of its steps.
type job struct {
	*node
	w     *workflow
	role  role
	steps []*step
}

type step struct {
	*node
	role   role
	kind   string // in the paths of its keys: gate, checkout or other
	script string // the shell's, or the one that an action is given, without comments
}

// context returns the name under which the forge shows the job's check.
func (j *job) context() string { return cmp.Or(j.get("name").text, j.key) }

// uploads reports whether the job hands a SARIF report to the forge, as the one of audit.yml does.
func (j *job) uploads() bool {
	return slices.ContainsFunc(j.steps, func(s *step) bool { return s.action() == "github/codeql-action/upload-sarif" })
}

// input returns an input of the step's action.
func (s *step) input(name string) *node { return s.get("with").get(name) }

// action returns the name of the action that the step uses.
func (s *step) action() string {
	name, _, _ := strings.Cut(strings.ToLower(s.get("uses").text), "@")
	return name
}

// gates reports whether the step judges proposals.
func (s *step) gates() bool { return s.role == checkRole || s.role == governsRole }

// ran returns the script of the step, or its action.
func (s *step) ran() *node {
	if run := s.get("run"); run.there() {
		return run
	}
	return s.get("uses")
}

// uses reports whether any job uses the gate.
func (w *workflow) uses() bool {
	return slices.ContainsFunc(w.jobs, func(j *job) bool { return j.role != noRole })
}

// runsOn reports whether any of the events starts the workflow.
func (w *workflow) runsOn(events ...string) bool {
	return slices.ContainsFunc(events, func(e string) bool { return w.on.get(e).there() })
}

// jobs returns the jobs of one of the roles.
func (v *inspection) jobs(roles ...role) (all []*job) {
	for _, w := range v.workflows {
		for _, j := range w.jobs {
			if slices.Contains(roles, j.role) {
				all = append(all, j)
			}
		}
	}
	return all
}

func (v *inspection) has(roles ...role) bool { return len(v.jobs(roles...)) > 0 }

// gates returns the jobs that check pull requests.
func (v *inspection) gates() []*job {
	return slices.DeleteFunc(v.jobs(checkRole), func(j *job) bool { return !j.w.runsOn("pull_request") })
}

// conforms reports whether a workflow verifies implementations or checks something against a companion protocol, in a
// repository that is not a registry.
func (v *inspection) conforms() bool {
	_, err := fs.Stat(v.tree, "implementations")
	return errors.Is(err, fs.ErrNotExist) && v.has(conformsRole)
}

func (v *inspection) readWorkflows() error {
	entries, err := fs.ReadDir(v.tree, workflowDirectory)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading %s: %w", workflowDirectory, err)
	}
	if len(entries) > maxWorkflows {
		return fmt.Errorf("reading %s: %d files, at most %d are read", workflowDirectory, len(entries), maxWorkflows)
	}
	for _, name := range []string{"action.yml", "action.yaml"} {
		data, err := v.read(name, maxWorkflow)
		v.local = v.local || err == nil && strings.Contains(string(data), "oap-gate")
	}
	for _, entry := range entries {
		name := path.Join(workflowDirectory, entry.Name())
		if ext := path.Ext(name); ext != ".yml" && ext != ".yaml" {
			continue
		}
		v.examined = append(v.examined, name)
		var w *workflow
		data, err := v.read(name, maxWorkflow)
		if err == nil {
			w, err = v.newWorkflow(name, data)
		}
		if err != nil {
			v.unreadable = true
			v.fault(verdict.Doubt, "workflow-not-read", name, err, fmt.Sprintf("make it a plain file of at most %d "+
				"KiB, in YAML with one meaning: no merge keys, tags or duplicate keys, at most %d nodes",
				maxWorkflow>>10, maxNodes))
			continue
		}
		v.workflows = append(v.workflows, w)
	}
	return nil
}

// newWorkflow reads a workflow. Its events may be one name, a list of names, or a mapping. A job that says nothing of
// permissions has those of its file.
func (v *inspection) newWorkflow(name string, data []byte) (*workflow, error) {
	parsed, err := strictyaml.ParseResolved(name, data, maxWorkflow, maxNodes)
	if err != nil {
		return nil, err
	}
	w := &workflow{node: newNode(name, "", parsed, parsed)}
	if w.on = w.get("on"); w.on.kind != yaml.MappingNode {
		named := &node{Pos: w.on.Pos, kind: yaml.MappingNode}
		w.on.scalars(func(e *node) {
			if e.text != "" {
				named.kids = append(named.kids, &node{Pos: e.Pos, kind: e.kind, key: e.text})
			}
		})
		w.on = named
	}
	for _, one := range w.get("jobs").kids {
		if one.key == "" {
			continue
		}
		if p := w.get("permissions"); p.there() && !one.get("permissions").there() {
			one.kids = append(one.kids, p)
		}
		j := &job{node: one, w: w}
		for _, s := range one.get("steps").kids {
			if s.key == "" {
				j.steps = append(j.steps, v.newStep(w, s))
			}
		}
		heaviest := slices.IndexFunc(roles, func(r role) bool {
			return slices.ContainsFunc(j.steps, func(s *step) bool { return s.role == r })
		})
		if heaviest >= 0 {
			j.role = roles[heaviest]
		}
		w.jobs = append(w.jobs, j)
	}
	return w, nil
}

var (
	gateAction = plain.Pattern(`(?i)^[^/\s]+/oap-gate(?:/[^@]*)?@`)
	gateImage  = plain.Pattern(`(?i)^docker://\S*oap-gate`)
	gateRun    = plain.Pattern(`\boap-gate(?:[@:]\S*)?\s+(?:check|governance|audit|forge)\b`)
	conformRun = plain.Pattern(`\boap-conform(?:[@:]\S*)?\s+[a-z]`)
)

// newStep reads a step. The Action does what its mode says, else it audits on a schedule or by hand and checks on any
// other event.
func (v *inspection) newStep(w *workflow, n *node) *step {
	s := &step{node: n, kind: "gate"}
	s.script = commands(s.get("run").text + "\n" + s.input("script").text)
	uses, mode := s.get("uses").text, s.input("mode").text
	action := gateAction().MatchString(uses) || v.local && (uses == "./" || uses == ".")
	switch {
	case action && s.input("args").text != "", gateImage().MatchString(uses),
		strings.Contains(s.script, "oap-gate") && gateRun().MatchString(s.script):
		s.role = callRole
	case strings.Contains(s.script, "oap-conform") && conformRun().MatchString(s.script),
		action && (mode == "verify" || slices.Contains(v.modes, mode)):
		s.role = conformsRole
	case action && mode == "" && slices.ContainsFunc(w.on.kids, func(e *node) bool {
		return e.key != "schedule" && e.key != "workflow_dispatch"
	}):
		s.role = checkRole
	case action && mode == "":
		s.role = auditRole
	case action && slices.Contains(ours, role(mode)):
		s.role = role(mode)
	case action:
		s.role = otherRole
	case s.action() == "actions/checkout":
		s.kind = "checkout"
	default:
		s.kind = "other"
	}
	return s
}

var (
	continued = plain.Pattern(`\\\r?\n`)
	computed  = plain.Pattern(`\\\$\\\{\\\{[^}]*\\\}\\\}`) // an expression, as QuoteMeta spells it
	remark    = plain.Pattern(`(?m)"[^"\n]*"|'[^'\n]*'|(?:^|\s)#.*$`)
)

// commands returns a script with one command a line, and without comments. A quoted # begins no comment.
func commands(script string) string {
	return remark().ReplaceAllStringFunc(continued().ReplaceAllString(script, " "), func(found string) string {
		if found[0] == '"' || found[0] == '\'' {
			return found
		}
		return ""
	})
}
