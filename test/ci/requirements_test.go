package ci

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestRequirements checks that each direct requirement in go.mod says what it is for, and that those of tests only,
// and no others, begin with "test:".
func TestRequirements(t *testing.T) {
	text := must.Read(t, "../../go.mod")
	file := must.Get(modfile.Parse("go.mod", text, nil))(t)
	cmd := exec.CommandContext(t.Context(), "go", "list", "-deps", "-json=ImportPath,Imports", "./cmd/...",
		"./internal/cli/schemas")
	cmd.Dir = "../.."
	list := must.Get(cmd.Output())(t)
	var imports []string // of the program and its generator
	for d := json.NewDecoder(bytes.NewReader(list)); ; {
		var p struct {
			ImportPath string
			Imports    []string
		}
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(p.ImportPath, "github.com/openagentprotocol-OAP/oap-gate/") {
			imports = append(imports, p.Imports...)
		}
	}
	for _, r := range file.Require {
		if r.Indirect {
			continue
		}
		var comment string
		if suffix := r.Syntax.Suffix; len(suffix) > 0 {
			comment = strings.TrimPrefix(suffix[0].Token, "// ")
		}
		if comment == "" {
			t.Errorf("%s has no comment that says what it is for", r.Mod.Path)
		}
		used := slices.ContainsFunc(imports, func(path string) bool {
			return path == r.Mod.Path || strings.HasPrefix(path, r.Mod.Path+"/")
		})
		if tests := strings.HasPrefix(comment, "test:"); tests == used && !systems[r.Mod.Path] {
			t.Errorf("%s: the comment is %q, and the program imports it: %v", r.Mod.Path, comment, used)
		}
	}
}

// systems are the modules that only some systems import.
var systems = map[string]bool{"golang.org/x/sys": true}
