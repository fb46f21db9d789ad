package registry

import (
	"context"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
)

// PathVersion is what a path held from a first-parent commit on.
type PathVersion struct {
	Path string
	Version
	Number int       // position of the commit in the first-parent history, the root commit being 1
	Dated  time.Time // the latest committer date of the commit and those before it
}

// FolderHistory returns what the paths below the directory of a kind held, along the first parents of tip, oldest
// first: one PathVersion for each commit and path of which it changed the entry, for the paths that keep accepts. Times
// are as in FileHistory. It reads nothing outside that directory.
func (r *Repository) FolderHistory(ctx context.Context, tip string, k Kind, now time.Time,
	keep func(path string) bool) ([]PathVersion, error) {
	chain, err := r.historyOf(ctx, tip)
	if err != nil {
		return nil, err
	}
	var out []PathVersion
	number := 0
	var dated time.Time
	r.compareChain(ctx, k, gitobject.ID{}, chain, batches, func(b batch) bool {
		for i, changes := range b.changes {
			commit := b.commits[i]
			number++
			if commit.when.After(dated) {
				dated = commit.when
			}
			var landed time.Time
			if landed, err = r.firstParentTime(ctx, commit, now); err != nil {
				return false
			}
			for _, c := range changes {
				if c.Path != k.Directory() && keep(c.Path) {
					out = append(out, PathVersion{c.Path, Version{commit.id.String(), landed, c.Head}, number, dated})
				}
			}
		}
		err = b.err
		return err == nil
	})
	return out, err
}

// Dated returns the latest committer date of the first-parent commits up to tip.
func (r *Repository) Dated(ctx context.Context, tip string) (latest time.Time, err error) {
	chain, err := r.firstParents(ctx, "", tip)
	for _, c := range chain {
		if c.when.After(latest) {
			latest = c.when
		}
	}
	return latest, err
}
