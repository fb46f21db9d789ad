package registry

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestKeepTexts takes objects away that were read, which only texts that are kept outlast.
func TestKeepTexts(t *testing.T) {
	const size = 100
	for _, test := range []struct {
		name string
		room int
		drop bool
		kept bool
	}{
		{"both fit", 2 * (size + textOverhead), false, true},
		{"the second is too many", 2*(size+textOverhead) - 1, false, false},
		{"dropped", 2 * (size + textOverhead), true, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := newClone(t)
			c.Write("implementations/a.json", `"`+strings.Repeat("a", size-2)+`"`)
			c.Write("implementations/b.json", `"`+strings.Repeat("b", size-2)+`"`)
			tree := must.Get(c.open().Tree(ctx, c.Commit()))(t)
			drop := tree.repo.KeepTexts(test.room)
			for _, again := range []bool{false, true} {
				for _, path := range []string{"implementations/a.json", "implementations/b.json"} {
					rec, err := tree.Record(ctx, path)
					if !again && err != nil || again && (err == nil) != test.kept {
						t.Fatalf("%s, read again: %t: %v, %v", path, again, rec, err)
					}
				}
				for _, path := range []string{"a", "b"} {
					id := c.Git("rev-parse", "HEAD:implementations/"+path+".json")
					os.Remove(filepath.Join(c.Dir, ".git", "objects", id[:2], id[2:]))
				}
				if test.drop {
					drop()
				}
			}
		})
	}
}
