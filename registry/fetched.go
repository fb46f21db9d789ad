package registry

import (
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitstore"
)

// Fetched says how a clone follows the branch of a remote.
type Fetched struct {
	When time.Time // at which the clone last saw the commit as the branch's tip; zero: it does not show one
	Args []string  // arguments of the git fetch that updates the branch; nil: the clone has no such remote
}

// Fetched reports when the clone last saw a commit as the tip of the branch of which ref is the copy: a
// remote-tracking ref, or a branch of the clone itself, as a bare clone keeps them. A time after latest is ignored.
func (r *Repository) Fetched(ref, commit string, latest time.Time) (Fetched, error) {
	tip, err := gitstore.ParseID(commit)
	if err != nil {
		return Fetched{}, err
	}
	remote, branch, tracking := "origin", "", false
	if rest, found := strings.CutPrefix(ref, "refs/remotes/"); found {
		remote, branch, tracking = strings.Cut(rest, "/")
		if branch == "HEAD" {
			_, branch, _ = strings.Cut(strings.TrimPrefix(r.store.Symbolic(ref), "refs/remotes/"), "/")
		}
	} else {
		branch = strings.TrimPrefix(ref, "refs/heads/")
		if r.HasRemote("upstream") {
			remote = "upstream"
		}
	}
	if branch == "" {
		branch = "HEAD" // its name is not known: git fetch asks the remote
	}
	var out Fetched
	switch {
	case !r.HasRemote(remote):
	case tracking || r.Worktree() != "":
		out.Args = []string{remote, branch}
	default: // a bare clone's own branch moves only if it is named
		out.Args = []string{remote, branch + ":" + branch}
	}
	out.When, err = r.store.Fetched(remote, branch, tip, latest)
	return out, err
}
