package mirror

import (
	"path/filepath"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/gittest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// TestDirInWorkTree checks where a mirror may be: below the work tree of a repository, if that does not track it.
func TestDirInWorkTree(t *testing.T) {
	const url = "https://registry.example/r"
	outer := gittest.New(t)
	outer.Commit("kept/registry.git/HEAD", "ref: refs/heads/main\n")
	_, err := OpenDir(filepath.Join(outer.Dir, "kept"), url, "", "main")
	if remedy.CodeOf(err) != registry.NestedRepository {
		t.Errorf("tracked: error %v, want the code %s", err, registry.NestedRepository)
	}
	for range 2 { // the second time it is there
		d := must.Get(OpenDir(filepath.Join(outer.Dir, "free"), url, "", "main"))(t)
		repo := must.Get(registry.Open(d.Path))(t)
		if repo.Outer() == "" || repo.Store().Worktree() != "" {
			t.Errorf("work tree %q in %q, want a bare clone in the work tree", repo.Store().Worktree(), repo.Outer())
		}
		if err := repo.Close(); err != nil {
			t.Error(err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
}
