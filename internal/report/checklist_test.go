package report

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

func TestChecklistNamesTheReport(t *testing.T) {
	o := Options{Rules: companion}
	checklist, sum := written(t, "checklist", declared(), o), sha256.Sum256([]byte(written(t, "json", declared(), o)))
	if !strings.HasSuffix(checklist, fmt.Sprintf("`%x`\n", sum)) {
		t.Errorf("the foot is not the SHA-256 of the JSON report, %x:\n%s", sum, checklist)
	}
}

// What was decided has no box, whoever made the report; a live row that ran was decided.
func TestChecklistHasABoxForWhatIsOpen(t *testing.T) {
	r := declared()
	edit(r, func(i int, result *verdict.Result) {
		if i == 1 {
			result.Verdict = verdict.Passed
		}
	})
	for _, rules := range [][]verdict.Rule{companion, nil} {
		if got := strings.Count(written(t, "checklist", r, Options{Rules: rules}), "- [ ] "); got != 2 {
			t.Errorf("%d boxes, want 2: one for each manual row", got)
		}
	}
}
