package verify

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/choose"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror/mirrorstate"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// Choose chooses the commit of a clone that is read, or of the one in a mirror's directory: as check chooses its base,
// of a mirror what was verified last. An empty dir is a clone's. Next to a mirror's state the clone is the mirror's,
// whatever dir is: nobody verified its copy of the origin's main. At a commit other than the verified one the mirror's
// refusals count only for records that both commits have.
func Choose(ctx context.Context, repo *registry.Repository, dir, rev string) (mirror *mirrorstate.View, commit,
	how string, err error) {
	if dir == "" || !registry.IsMirror(dir) {
		dir = repo.MirrorFolder()
		if _, err := os.Lstat(filepath.Join(dir, mirrorstate.File)); errors.Is(err, fs.ErrNotExist) {
			dir = "" // a clone that has only the name of a mirror's
		}
	}
	if dir != "" {
		tip, view, err := mirrorstate.Open(dir, func() (string, error) { return repo.Resolve("HEAD") })
		if view != nil {
			repo.Sight(view.Seen)
		}
		if err != nil || rev == "" {
			return view, tip, "the mirror's last verified commit", err
		}
		mirror = view
	}
	commit, how, err = choose.Base(repo, rev)
	if err != nil && rev == "" {
		err = remedy.Errorf("fetch the registry's main, or name a commit of the clone with --rev", "%v", err)
	}
	if err == nil && mirror != nil && commit != mirror.Tip && len(mirror.Refused) > 0 {
		mirror.Refused, err = inBoth(ctx, repo, mirror.Tip, commit, mirror.Refused)
	}
	return mirror, commit, how, err
}

// inBoth returns the paths that have the same entry in the trees of two commits.
func inBoth(ctx context.Context, repo *registry.Repository, one, other string, paths []string) ([]string, error) {
	var trees [2]*registry.Tree
	for i, commit := range []string{one, other} {
		var err error
		if trees[i], err = repo.Tree(ctx, commit); err != nil {
			return nil, err
		}
	}
	var same []string
	for _, path := range paths {
		a, err := trees[0].Leaf(path)
		if err != nil {
			return nil, err
		}
		b, err := trees[1].Leaf(path)
		if err != nil {
			return nil, err
		}
		if a != nil && registry.SameEntry(a, b) {
			same = append(same, path)
		}
	}
	return same, nil
}

// HasRecords checks that a clone is one of a registry.
func HasRecords(ctx context.Context, repo *registry.Repository, commit string) error {
	tree, err := repo.Tree(ctx, commit)
	if err != nil {
		return err
	}
	_, found, err := tree.Entry(registry.KindListing.Directory())
	if err == nil && !found {
		err = remedy.Errorf("name the clone of a registry with --registry",
			"no OAP registry here: commit %.12s has no directory %s/", commit, registry.KindListing.Directory())
	}
	return err
}
