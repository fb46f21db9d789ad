package registry

import (
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
)

// BaseOf resolves rev, or the branch of the registry's own remote: in a clone of a fork that is upstream, since
// the fork's main may hold the proposal. An upstream that was not fetched is an error, since origin then is the fork.
func (r *Repository) BaseOf(rev string) (commit, how string, err error) {
	if rev != "" {
		commit, err = r.Resolve(rev)
		return commit, rev, err
	}
	for _, name := range []string{"upstream/HEAD", "upstream/main", "origin/HEAD", "origin/main", "main"} {
		ref := "refs/heads/" + name
		if remote, _, ok := strings.Cut(name, "/"); ok {
			ref = "refs/remotes/" + name
			if remote == "origin" && r.HasRemote("upstream") {
				return "", "", remedy.Errorf("fetch it: git fetch upstream; or name the base with --base",
					"no base: the clone has the remote upstream, and neither upstream/HEAD nor upstream/main was "+
						"fetched")
			}
		}
		if r.HasRef(ref) {
			commit, err = r.Resolve(ref)
			return commit, name, err
		}
	}
	if _, err := r.Resolve("HEAD"); err != nil {
		return "", "", err
	}
	fix := "name it with --base"
	switch {
	case !r.HasRemote("origin"):
	case r.store.Shallow():
		fix = "git remote set-branches origin main && git fetch --unshallow origin"
	default: // a clone of one branch
		fix = "git remote set-branches origin main && git fetch origin"
	}
	return "", "", remedy.Errorf(fix,
		"no base: the clone has neither origin/HEAD nor origin/main nor main")
}

// Branch returns the branch that the work tree has; empty if HEAD is detached.
func (r *Repository) Branch() string {
	branch, found := strings.CutPrefix(r.store.Symbolic("HEAD"), "refs/heads/")
	if !found {
		return ""
	}
	return branch
}

// DefaultBranch returns the branch that HEAD of the registry's own remote names; empty if the clone does not show it.
func (r *Repository) DefaultBranch() string {
	remote := "origin"
	if r.HasRemote("upstream") {
		remote = "upstream"
	}
	at := "refs/remotes/" + remote + "/"
	return strings.TrimPrefix(r.store.Symbolic(at+"HEAD"), at)
}
