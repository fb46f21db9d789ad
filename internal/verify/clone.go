package verify

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// Clone is a clone of the registry at one commit.
type Clone struct {
	Repo   *registry.Repository
	Commit string
	Chosen string // how the commit was chosen
	// When is the age of what the clone shows: the commit's date, or the last run at which a mirror verified the commit
	// and the origin served it.
	When    time.Time
	Refused []string // paths of records that a mirror refused
	Frozen  string   // why the mirror shows nothing newer than When; empty: it does not
}

// Stand reads what the clone holds.
func (c *Clone) Stand(ctx context.Context) (*checks.Standing, error) {
	tree, err := c.Repo.Tree(ctx, c.Commit)
	if err != nil {
		return nil, err
	}
	st, err := checks.NewStanding(ctx, tree, func(string) bool { return true })
	if err != nil {
		return nil, err
	}
	st.Refuse(c.Refused)
	return st, nil
}

// OpenMirror returns the clone in a mirror's directory, and whether dir is one. Otherwise the clone is dir itself.
func OpenMirror(dir string) (clone string, isMirror bool) {
	clone = filepath.Join(dir, "registry.git")
	if info, err := os.Stat(clone); err != nil || !info.IsDir() {
		return dir, false
	}
	return clone, true
}
