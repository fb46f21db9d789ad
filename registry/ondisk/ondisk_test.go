package ondisk

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/gittest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

func uncommitted(t *testing.T, dir string) []string {
	t.Helper()
	r := must.Get(registry.Open(dir))(t)
	defer r.Close()
	return Uncommitted(t.Context(), r)
}

func remove(t *testing.T, dir, path string) {
	t.Helper()
	must.OK(t, os.Remove(filepath.Join(dir, path)))
}

func TestUncommitted(t *testing.T) {
	c := gittest.New(t)
	c.Commit("implementations/a.json", "a\nb\n", "implementations/b.json", "b\r\n", "implementations/d.json", "d",
		"implementations/e/f.json", "f",
		"implementations/README.md", "r", ".gitignore", "ignored*\n")
	check := func(name string, want ...string) {
		t.Helper()
		if got := uncommitted(t, c.Dir); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	check("as it was checked out")
	c.Write("implementations/a.json", "a\r\nb\r\n")
	c.Write("implementations/b.json", "b\n")
	c.Write("implementations/README.md", "other")
	c.Write("docs/new", "x")
	remove(t, c.Dir, "implementations/d.json")
	check("line ends, a text, a file elsewhere, a file that is gone")
	c.Write("implementations/a.json", "a\nc\n")
	c.Write("revocations/ignored.json", "{}")
	c.Write("implementations/e/g.json", "{}")
	remove(t, c.Dir, "implementations/b.json")
	must.OK(t, os.Symlink("a.json", filepath.Join(c.Dir, "implementations/b.json")))
	check("changes", "implementations/a.json", "implementations/b.json", "implementations/e/g.json",
		"revocations/ignored.json")
	for i := range maxCompared {
		name := filepath.Join(c.Dir, "implementations", fmt.Sprintf("n%d.json", i))
		must.OK(t, os.WriteFile(name, nil, 0o666))
	}
	if got := uncommitted(t, c.Dir); len(got) != maxUncommitted || slices.Contains(got, "implementations/a.json") {
		t.Errorf("of many: %d, with a changed one: %v", len(got), slices.Contains(got, "implementations/a.json"))
	}
}
