// Package choose finds the commits of a clone that a user names, or means if none is named.
package choose

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// Range resolves the base and the head of a range of a clone. An empty base is the main branch of the clone's remote,
// an empty head is HEAD.
func Range(repo *registry.Repository, base, head string) (c Chosen, err error) {
	var how string
	if c.Base, how, err = Base(repo, base); err != nil {
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

// Base resolves rev, or the branch of the registry's own remote: in a clone of a fork that is upstream, since
// the fork's main may hold the proposal. An upstream that was not fetched is an error, since origin then is the fork.
func Base(r *registry.Repository, rev string) (commit, how string, err error) {
	if rev != "" {
		commit, err = r.Resolve(rev)
		return commit, rev, err
	}
	for _, name := range []string{"upstream/HEAD", "upstream/main", "origin/HEAD", "origin/main", "main"} {
		ref := "refs/heads/" + name
		if remote, _, ok := strings.Cut(name, "/"); ok {
			ref = "refs/remotes/" + name
			if remote == "origin" && r.Store().HasRemote("upstream") {
				return "", "", remedy.Errorf("fetch it: git fetch upstream; or name the base with --base",
					"no base: the clone has the remote upstream, and neither upstream/HEAD nor upstream/main was "+
						"fetched")
			}
		}
		if r.Store().HasRef(ref) {
			commit, err = r.Resolve(ref)
			return commit, name, err
		}
	}
	if _, err := r.Resolve("HEAD"); err != nil {
		return "", "", err
	}
	fix := "name it with --base"
	switch {
	case !r.Store().HasRemote("origin"):
	case r.Store().Shallow():
		fix = "git remote set-branches origin main && git fetch --unshallow origin"
	default: // a clone of one branch
		fix = "git remote set-branches origin main && git fetch origin"
	}
	return "", "", remedy.Errorf(fix,
		"no base: the clone has neither origin/HEAD nor origin/main nor main")
}

// DefaultBranch returns the branch that HEAD of the registry's own remote names; empty if the clone does not show it.
func DefaultBranch(r *registry.Repository) string {
	remote := "origin"
	if r.Store().HasRemote("upstream") {
		remote = "upstream"
	}
	at := "refs/remotes/" + remote + "/"
	return strings.TrimPrefix(r.Store().Symbolic(at+"HEAD"), at)
}
