package frame

import (
	"context"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/usergit"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/choose"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// NextCommit has git write the tree of what the next commit of a clone would contain, if the head that was chosen is
// not a commit, and has the clone read it. The caller must call remove, never nil, when nothing reads the clone any
// more.
func NextCommit(ctx context.Context, repo *registry.Repository, c *choose.Chosen) (remove func(), err error) {
	if c.Head != "" {
		return func() {}, nil
	}
	clone := usergit.Clone{Root: repo.Store().Worktree(), GitDir: repo.Store().GitDir(),
		CommonDir: repo.Store().CommonDir()}
	if clone.Root == "" {
		return func() {}, remedy.Errorf("name a commit with --head, or use a clone with a work tree",
			"looking for a work tree: the clone is bare")
	}
	if _, err := repo.Resolve("HEAD"); err != nil {
		return func() {}, err
	}
	write := clone.Worktree
	if c.Staged {
		write = clone.Index
	}
	tree, err := write(ctx)
	if err != nil {
		return func() {}, err
	}
	c.Tree = tree.ID
	return func() { _ = tree.Remove() }, repo.AddObjects(tree.Objects)
}
