package report

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// TestSummaryOnly checks that a report without what passed and what was skipped says so, counts it, is read again, and
// is shown as what it is.
func TestSummaryOnly(t *testing.T) {
	for _, sample := range samples {
		text := written(t, "json", sample.report, Options{SummaryOnly: true})
		var raw map[string]json.RawMessage
		must.OK(t, json.Unmarshal([]byte(text), &raw))
		var omitted bytes.Buffer
		if err := json.Compact(&omitted, raw["omitted"]); err != nil || omitted.String() != `["pass","skip"]` {
			t.Errorf("%s: omitted is %s, %v", sample.name, raw["omitted"], err)
		}
		r, err := Read(sample.name, []byte(text))
		if err != nil {
			t.Errorf("%s: %v", sample.name, err)
			continue
		}
		want := slices.DeleteFunc(slices.Collect(sample.report.Results.All()), func(r verdict.Result) bool {
			return r.Verdict == verdict.Passed || r.Verdict == verdict.Skipped
		})
		if r.Counts != sample.report.Counts || r.Results.Len() != len(want) {
			t.Errorf("%s: %+v and %d results, want %+v and %d", sample.name, r.Counts, r.Results.Len(),
				sample.report.Counts, len(want))
		}
		shown := written(t, "markdown", r, Options{})
		if sample.name == "honest" && (strings.Contains(shown, "nothing was judged") ||
			!strings.Contains(shown, "Checked 1 record, 3 documents fetched.")) ||
			sample.name == "mixed" && !strings.Contains(shown, "<summary>6 results, without those that passed or were "+
				"skipped</summary>") {
			t.Errorf("%s is shown as\n%s", sample.name, shown)
		}
	}
}
