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

// roles are all but noRole, the weightiest first.
var roles = []role{checkRole, governsRole, auditRole, commentRole, protectRole, conformsRole, remindRole, rerunRole,
	mergeRole, callRole, otherRole}

// field is one member of a mapping with its place. The zero field is not there.
type field struct {
	path  string
	key   *yaml.Node // nil for the elements of a sequence
	value *yaml.Node
}

func (f field) member(name string) field {
	key, value := strictyaml.Member(f.value, name)
	return field{f.path, key, value}
}

func (f field) there() bool { return f.value != nil }

// text returns the value of a scalar, or "" for anything else.
func (f field) text() string {
	if f.value == nil || f.value.Kind != yaml.ScalarNode || f.value.Tag == "!!null" {
		return ""
	}
	return f.value.Value
}

// list returns the scalars of a sequence, or the one scalar.
func (f field) list() []string {
	if f.value == nil {
		return nil
	}
	if f.value.Kind != yaml.SequenceNode {
		if t := f.text(); t != "" {
			return []string{t}
		}
		return nil
	}
	var all []string
	for _, n := range f.value.Content {
		all = append(all, n.Value)
	}
	return all
}

// names returns the members of a mapping, the elements of a sequence, or the one scalar, each at its place.
func (f field) names() []field {
	if f.value == nil {
		return nil
	}
	var all []field
	switch f.value.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(f.value.Content); i += 2 {
			all = append(all, field{f.path, f.value.Content[i], f.value.Content[i+1]})
		}
	case yaml.SequenceNode:
		for _, n := range f.value.Content {
			all = append(all, field{path: f.path, value: n})
		}
	default:
		all = append(all, f)
	}
	return all
}

func (f field) pos() strict.Pos {
	n := cmp.Or(f.key, f.value)
	if n == nil {
		return strict.Pos{Path: f.path}
	}
	return strict.Pos{Path: f.path, Line: n.Line, Column: n.Column}
}

// workflow is one file of .github/workflows.
type workflow struct {
	field
	name   string
	events map[string]field // trigger by event
	jobs   []*job
}

type job struct {
	field
	w     *workflow
	id    string
	steps []*step
}

type step struct {
	field
	role role
}

// context returns the name under which the forge shows the job's check.
func (j *job) context() string { return cmp.Or(j.member("name").text(), j.id) }

// first returns the first step of one of the roles, or nil.
func (j *job) first(roles ...role) *step {
	for _, s := range j.steps {
		if slices.Contains(roles, s.role) {
			return s
		}
	}
	return nil
}

// uses reports whether any job uses the gate.
func (w *workflow) uses() bool {
	return slices.ContainsFunc(w.jobs, func(j *job) bool { return j.role() != noRole })
}

// runsOn reports whether any of the events starts the workflow.
func (w *workflow) runsOn(events ...string) bool {
	return slices.ContainsFunc(events, func(e string) bool { _, ok := w.events[e]; return ok })
}

// role returns the weightiest role of the job's steps.
func (j *job) role() role {
	for _, r := range roles {
		if j.first(r) != nil {
			return r
		}
	}
	return noRole
}

// uploads reports whether the job hands a SARIF report to the forge, as the one of audit.yml does.
func (j *job) uploads() bool {
	return slices.ContainsFunc(j.steps, func(s *step) bool {
		return actionOf(s) == "github/codeql-action/upload-sarif"
	})
}

func (v *inspection) readWorkflows() error {
	entries, err := fs.ReadDir(v.tree, workflowDirectory)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("reading %s: %w", workflowDirectory, err)
	}
	if len(entries) > maxWorkflows {
		return fmt.Errorf("reading %s: %d files, at most %d are read", workflowDirectory, len(entries), maxWorkflows)
	}
	v.local = v.ownAction()
	for _, entry := range entries {
		name := path.Join(workflowDirectory, entry.Name())
		if ext := path.Ext(name); ext != ".yml" && ext != ".yaml" {
			continue
		}
		v.examined = append(v.examined, name)
		if !entry.Type().IsRegular() {
			v.unreadable = true
			v.add(verdict.Doubt, "workflow-not-read", strict.Pos{Path: name}, "",
				"it is not a regular file (%s)", entry.Type())
			continue
		}
		data, err := v.read(name, maxWorkflow)
		if err != nil {
			v.unreadable = true
			v.add(verdict.Doubt, "workflow-not-read", strict.Pos{Path: name}, "make it smaller", "%v", err)
			continue
		}
		root, err := strictyaml.ParseResolved(name, data, maxWorkflow, maxNodes)
		if err != nil {
			v.unreadable = true
			v.fault(verdict.Doubt, "workflow-not-read", err,
				fmt.Sprintf("write it in YAML with one meaning: no merge keys, tags or duplicate keys, at most %d "+
					"nodes", maxNodes))
			continue
		}
		v.workflows = append(v.workflows, v.newWorkflow(field{path: name, value: root}))
	}
	return nil
}

// ownAction reports whether the clone's own root action is the gate: then "uses: ./" is it.
func (v *inspection) ownAction() bool {
	return slices.ContainsFunc([]string{"action.yml", "action.yaml"}, func(name string) bool {
		data, err := v.read(name, maxWorkflow)
		return err == nil && strings.Contains(string(data), "oap-gate")
	})
}

func (v *inspection) newWorkflow(root field) *workflow {
	w := &workflow{field: root, name: cmp.Or(root.member("name").text(), root.path), events: map[string]field{}}
	for _, e := range root.member("on").names() {
		name := e.text()
		if e.key != nil && e.key.Value != "on" {
			name = e.key.Value
		}
		w.events[name] = e
	}
	for _, f := range root.member("jobs").names() {
		if f.key == nil {
			continue
		}
		j := &job{field: f, w: w, id: f.key.Value}
		for _, s := range f.member("steps").names() {
			if s.key == nil {
				j.steps = append(j.steps, &step{s, v.roleOf(w, s)})
			}
		}
		w.jobs = append(w.jobs, j)
	}
	return w
}

var (
	gateAction = plain.Pattern(`(?i)^[^/\s]+/oap-gate(?:/[^@]*)?@`)
	gateImage  = plain.Pattern(`(?i)^docker://\S*oap-gate`)
	gateRun    = plain.Pattern(`\boap-gate(?:[@:]\S*)?\s+(?:check|governance|audit|forge)\b`)
	conformRun = plain.Pattern(`\boap-conform(?:[@:]\S*)?\s+[a-z]`)
)

// roleOf returns what a step does with the gate.
func (v *inspection) roleOf(w *workflow, s field) role {
	uses, script := s.member("uses").text(), commands(s.member("run").text())
	action := gateAction().MatchString(uses) || v.local && (uses == "./" || uses == ".")
	switch {
	case action && s.input("args").text() == "":
		return v.actionRole(w, s.input("mode").text())
	case action || gateImage().MatchString(uses) || gateRun().MatchString(script):
		return callRole
	case conformRun().MatchString(script):
		return conformsRole
	}
	return noRole
}

// input returns the step's input of that name, which the runner matches in any letter case.
func (f field) input(name string) field { return f.member("with").named(name) }

// named returns the member of a mapping with that name, in any letter case.
func (f field) named(name string) field {
	for _, one := range f.members() {
		if strings.EqualFold(one.key.Value, name) {
			return one
		}
	}
	return field{}
}

// members returns the members of a mapping.
func (f field) members() []field {
	if f.value == nil || f.value.Kind != yaml.MappingNode {
		return nil
	}
	return f.names()
}

var (
	continued = plain.Pattern(`\\\r?\n`)
	computed  = plain.Pattern(`\$\{\{[^}]*\}\}`)
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

// actionRole returns what the action does by itself: what its mode says, else it audits on a schedule or by hand and
// checks on any other event.
func (v *inspection) actionRole(w *workflow, mode string) role {
	switch {
	case mode == "verify" || slices.Contains(v.modes, mode):
		return conformsRole
	case mode != "" && slices.Contains(compared, role(mode)):
		return role(mode)
	case mode != "":
		return otherRole
	}
	for e := range w.events {
		if e != "schedule" && e != "workflow_dispatch" {
			return checkRole
		}
	}
	return auditRole
}

// gates returns the jobs that check pull requests.
func (v *inspection) gates() []*job {
	return slices.DeleteFunc(v.jobs(checkRole), func(j *job) bool { return !j.w.runsOn("pull_request") })
}
