package doctor

import (
	"errors"
	"io/fs"
	"slices"
)

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
