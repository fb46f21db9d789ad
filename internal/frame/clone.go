package frame

import "github.com/openagentprotocol-OAP/oap-gate/registry"

// OpenClone opens the clone that dir is in, and warns if it is in the work tree of another one that does not track it.
func OpenClone(sys IO, dir string) (*registry.Repository, error) {
	repo, err := registry.Open(dir)
	if err == nil && repo.Outer() != "" {
		Warn(sys, "the clone %q is in the work tree of %q, which does not track it: the inner one is read [%s]", dir,
			repo.Outer(), registry.NestedRepository)
	}
	return repo, err
}
