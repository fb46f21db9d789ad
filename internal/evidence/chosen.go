package evidence

import (
	"cmp"
	"fmt"

	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// Choose resolves the base and the head of a range of a clone. An empty base is the main branch of the clone's remote,
// an empty head is HEAD.
func Choose(repo *registry.Repository, base, head string) (c Chosen, err error) {
	var how string
	if c.Base, how, err = repo.BaseOf(base); err != nil {
		return Chosen{}, err
	}
	rev := cmp.Or(head, "HEAD")
	c.WorkTree = rev == "HEAD"
	if c.Head, err = repo.Resolve(rev); err != nil {
		return c, err
	}
	c.How = fmt.Sprintf("base %s (%s), head %s (%s)", c.Base[:12], how, c.Head[:12], rev)
	return c, nil
}
