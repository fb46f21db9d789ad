package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// What is left to people is in each format that people read, above the verdict, with at most ten lines of facts. The
// checklist has all of them.
func TestPeople(t *testing.T) {
	r := failing(1, 1)
	question := "is this so?"
	for i := range 12 {
		question += fmt.Sprintf("\nline %d @m1", i)
	}
	r.Attest = []verdict.Attestation{{Check: "implementability", Subject: "proposal", Text: question},
		{Check: "charter-review", Subject: "proposal", Text: "also that"}}
	for format, want := range map[string]string{
		"text":      "for people: implementability: is this so?\n    | line 0 @m1\n",
		"github":    "for people: implementability: is this so?\n    | line 0 @m1\n",
		"markdown":  "| `implementability` | `is this so?`<br>`line 0 @m1`<br>",
		"comment":   "| implementability | is this `so?`<br>`line 0 @m1`<br>",
		"checklist": "is this so?` — who, how, date:\n  - `line 0 @m1`\n",
	} {
		text := ""
		if format == "comment" {
			text = Comment(r, "", commentBytes)
		} else {
			text = written(t, format, r, Options{})
		}
		if !strings.Contains(text, want) {
			t.Errorf("%s lacks %q:\n%s", format, want, text)
		}
		all := format == "checklist"
		if !strings.Contains(text, "line 9 ") || strings.Contains(text, "line 11 ") != all ||
			strings.Contains(text, "and 2 more") == all {
			t.Errorf("%s shows other lines:\n%s", format, text)
		}
		if !strings.Contains(text, "also") {
			t.Errorf("%s lacks the second row:\n%s", format, text)
		}
		lines := strings.Split(strings.TrimSpace(text), "\n")
		if format == "text" && !strings.HasPrefix(lines[len(lines)-1], "fail: ") {
			t.Errorf("the last line is %q", lines[len(lines)-1])
		}
	}
}
