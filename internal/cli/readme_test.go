package cli

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
)

var update = flag.Bool("update", false, "write what the tests would compare")

// TestReadmeTable holds the README's table of checks to the catalogue.
func TestReadmeTable(t *testing.T) {
	path := filepath.Join("..", "..", "README.md")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), "-update -->\n")
	_, after, end := strings.Cut(rest, "<!-- end of checks -->")
	if !found || !end {
		t.Fatal("the README has lost the marks around the table of checks")
	}
	var b strings.Builder
	b.WriteString("| check | holds that | source |\n|---|---|---|\n")
	for _, c := range slices.Concat(checks.All, checks.Audit) {
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", c.ID, c.Title, c.Cite)
	}
	want := before + "-update -->\n" + b.String() + "<!-- end of checks -->" + after
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if want != string(text) {
		t.Error("the README's table of checks is not the catalogue's; run: go test ./internal/cli -run Readme -update")
	}
}
