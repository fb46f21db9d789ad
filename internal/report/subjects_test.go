package report

import (
	"slices"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// TestTogether checks that a report of a stranger has the results of a subject together, wherever they stood, and that
// a loop over them writes nothing over.
func TestTogether(t *testing.T) {
	all := []verdict.Result{{Check: "1", Subject: "b"}, {Check: "2", Subject: "b"}, {Check: "3", Subject: "a"},
		{Check: "4", Subject: "b"}, {Check: "5", Subject: "a"}, {Check: "6", Subject: "c"}}
	r := &verdict.Report{Results: verdict.NewResults(together(slices.Clone(all))...)}
	for range 2 {
		got := ""
		for group := range bySubject(r) {
			got += group[0].Subject
			for _, result := range group {
				got += result.Check
			}
		}
		if got != "b124a35c6" {
			t.Errorf("got %s", got)
		}
	}
	for range bySubject(r) {
		break
	}
	for range bySubject(&verdict.Report{}) {
		t.Error("no result has a subject")
	}
}
