package doctor

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// staleAfter are the events after which a verdict of the specification's gates may be another, with the activities that
// must be among their types; a trigger without types has those of its default.
var staleAfter = []struct {
	event          string
	types, implied []string
}{
	{"pull_request", []string{"opened", "synchronize", "reopened", "edited", "labeled", "unlabeled"},
		[]string{"opened", "synchronize", "reopened"}},
	{"pull_request_review", []string{"submitted", "edited", "dismissed"}, []string{"submitted", "edited", "dismissed"}},
}

// judgeGovernanceEvents looks at the triggers of a workflow that runs the specification's gates.
func (v *inspection) judgeGovernanceEvents(w *workflow) {
	if !slices.ContainsFunc(w.jobs, func(j *job) bool { return j.first(governsRole) != nil }) {
		return
	}
	v.judgeTarget(w, governsRole)
	for _, e := range staleAfter {
		fix := fmt.Sprintf("set types: [%s] on %s", strings.Join(e.types, ", "), e.event)
		trigger, ok := w.events[e.event]
		if !ok {
			v.add(verdict.Error, "governance-types", w.member("on").pos(), fix, "the gates do not run on %s", e.event)
			continue
		}
		v.judgeFilters(e.event, trigger)
		have, at := e.implied, trigger
		if types := trigger.member("types"); types.there() {
			have, at = types.list(), types
		}
		missing := slices.DeleteFunc(slices.Clone(e.types), func(t string) bool { return slices.Contains(have, t) })
		if len(missing) > 0 {
			v.add(verdict.Error, "governance-types", at.pos(), fix,
				"%s does not start the gates when a pull request is %s: their verdict would be about the state "+
					"before", e.event, strings.Join(missing, ", "))
		}
	}
}

// governs reports whether a workflow runs the specification's gates.
func (v *inspection) governs() bool { return v.has(governsRole) }

// conforms reports whether a workflow verifies implementations or checks something against a companion protocol, in a
// repository that is not a registry.
func (v *inspection) conforms() bool {
	_, err := fs.Stat(v.tree, "implementations")
	return errors.Is(err, fs.ErrNotExist) && v.has(conformsRole)
}

func (v *inspection) has(roles ...role) bool { return len(v.jobs(roles...)) > 0 }

// jobs returns the jobs of one of the roles.
func (v *inspection) jobs(roles ...role) []*job {
	var all []*job
	for _, w := range v.workflows {
		for _, j := range w.jobs {
			if slices.Contains(roles, j.role()) {
				all = append(all, j)
			}
		}
	}
	return all
}

// gates reports whether the step judges proposals.
func (s *step) gates() bool { return s.role == checkRole || s.role == governsRole }
