package checks

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// What is special about a check is said in its own file: the catalogue's words know no member of it.
func TestTheCatalogueIsAList(t *testing.T) {
	for _, c := range All {
		if c.Blocks == nil && !slices.Equal(c.After, wellFormed) {
			t.Errorf("%s reads records and does not come after those that hold them to be well formed", c.ID)
		}
		for _, o := range c.After {
			if o.Blocks == nil {
				t.Errorf("%s comes after %s, which blocks nothing", c.ID, o.ID)
			}
		}
	}
	list, words := must.Read(t, "all.go"), must.Read(t, "check.go")
	names := regexp.MustCompile(`(?m)^\t(\w+),$`).FindAllSubmatch(list, -1)
	if len(names) != len(All) {
		t.Errorf("all.go lists %d checks, All has %d", len(names), len(All))
	}
	for _, name := range names {
		if regexp.MustCompile(`\b` + string(name[1]) + `\b`).Match(words) {
			t.Errorf("check.go names %s", name[1])
		}
	}
	files := must.Get(filepath.Glob("*.go"))(t)
	for _, file := range files {
		text := string(must.Read(t, file))
		if !strings.HasSuffix(file, "_test.go") && strings.Contains(text, "func init()") {
			t.Errorf("%s has an init", file)
		}
	}
}
