package repoconfig_test

import (
	"os"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/repoconfig"
)

func TestSection6HoldsEachCheckOfTheCatalogueOnce(t *testing.T) {
	if len(repoconfig.Section6) != 10 {
		t.Errorf("%d rows, RFC 0026 section 6 has 10", len(repoconfig.Section6))
	}
	count := map[string]int{}
	for _, row := range repoconfig.Section6 {
		for _, id := range row.Checks {
			count[id]++
		}
	}
	for _, c := range checks.All {
		if count[c.ID] != 1 {
			t.Errorf("%s stands in %d rows", c.ID, count[c.ID])
		}
		delete(count, c.ID)
	}
	if len(count) > 0 {
		t.Errorf("ids that the catalogue does not know: %v", count)
	}
}

func TestMissing(t *testing.T) {
	covered := map[string]bool{}
	for _, row := range repoconfig.Section6 {
		for _, id := range row.Checks {
			covered[id] = true
		}
	}
	if rows := repoconfig.Missing(covered); rows != nil {
		t.Errorf("missing with all ids covered: %v", rows)
	}
	delete(covered, "reissue")
	if rows := repoconfig.Missing(covered); len(rows) != 1 || rows[0].Name != "No tampering" || len(rows[0].Checks) != 1 {
		t.Errorf("without reissue: %v", rows)
	}
}

func TestTableIsInTheDocumentation(t *testing.T) {
	data, err := os.ReadFile("../../docs/install.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(data), "<!-- section 6 -->\n"+repoconfig.Table()+"<!-- end -->\n") {
		t.Errorf("docs/install.md does not hold\n%s", repoconfig.Table())
	}
}
