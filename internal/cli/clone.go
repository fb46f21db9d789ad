package cli

import (
	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// cloneCodes are the codes of the errors and warnings about the clone that a command reads.
var cloneCodes = []checks.Code{
	{registry.NestedRepository, "the repository is a folder in the work tree of another one; if that one tracks " +
		"it, a pull request may have brought it",
		"name the outer clone itself, or a clone outside of its work tree"},
}

// openClone opens the clone that dir is in, and warns if it is in the work tree of another one that does not track it.
func openClone(sys IO, dir string) (*registry.Repository, error) {
	repo, err := registry.Open(dir)
	if err == nil && repo.Outer() != "" {
		warn(sys, "the clone %q is in the work tree of %q, which does not track it: the inner one is read [%s]", dir,
			repo.Outer(), registry.NestedRepository)
	}
	return repo, err
}
