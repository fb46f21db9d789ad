package report

import (
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// TestEachCommit reports a history of which each commit was judged by itself: annotations and SARIF name the commit of
// each finding, and no finding is placed in a file with the name of a commit.
func TestEachCommit(t *testing.T) {
	one, two := strings.Repeat("1", 40), strings.Repeat("2", 40)
	r := &verdict.Report{Version: 1, Mode: "governance", EvaluatedAt: time.Unix(0, 0).UTC(), Assumed: []string{},
		Commits: []verdict.Commit{{ID: one, Time: time.Unix(0, 0), Subject: "First::error::x"},
			{ID: two, Time: time.Unix(86400, 0), Subject: "Second"}}}
	for _, id := range []string{one, two} {
		r.Results.Add(verdict.Result{Check: "schema", Subject: id, Verdict: verdict.Failed,
			Findings: []verdict.Finding{{Severity: verdict.Error, Code: "a", Message: "of the commit"},
				{Severity: verdict.Error, Code: "b", Pos: verdict.At{Path: "rfcs/a.md"}.Pos(""),
					Message: "of a file"}}})
	}
	r.Settle(nil)
	log := written(t, "github", r, Options{MaxAnnotations: 9})
	for _, want := range []string{
		"::error title=schema%2C commit 111111111111 1970-01-01 First%3A%3Aerror%3A%3Ax::of the commit\n",
		"file=rfcs/a.md,title=schema%2C commit 222222222222 1970-01-02 Second::of a file\n",
		"::group::verdict of each commit\n111111111111 1970-01-01 First"} {
		if !strings.Contains(log, want) {
			t.Errorf("no %q in\n%s", want, log)
		}
	}
	if strings.Contains(log, "file="+one) {
		t.Errorf("a commit is not a file\n%s", log)
	}
	sarif := written(t, "sarif", r, Options{})
	for _, want := range []string{"commit 111111111111 1970-01-01 First::error::x: of the commit",
		"commit 222222222222 1970-01-02 Second: of a file"} {
		if !strings.Contains(sarif, want) {
			t.Errorf("no %q in\n%s", want, sarif)
		}
	}
	// Of other runs the same findings name no commit.
	r.Mode = "check"
	if log := written(t, "github", r, Options{MaxAnnotations: 9}); strings.Contains(log, ", commit ") ||
		strings.Contains(log, "%2C commit ") {
		t.Errorf("a commit that was not judged by itself\n%s", log)
	}
}
