package report

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
	markdownhtml "github.com/yuin/goldmark/renderer/html"
	"golang.org/x/net/html"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

const (
	commentBytes = 20_000
	run          = "https://forge.example/acme/registry/actions/runs/42"
)

// failing has n listings with a number of errors each.
func failing(n, errors int) *verdict.Report {
	r := frame()
	r.Verdict = verdict.Failed
	for i := range n {
		name := fmt.Sprintf("implementations/tool%d.json", i)
		result := verdict.Result{Check: "receipt-fetch", Subject: name, Verdict: verdict.Failed}
		for e := range errors {
			result.Findings = append(result.Findings, verdict.Finding{Severity: verdict.Error,
				Code: "receipt-hash-mismatch", Pos: strict.Pos{Path: name, Line: 9, Column: 3},
				Message: fmt.Sprintf(`the served Receipt has SHA-256 %064x; the listing pins "%064x"`, e, e+1),
				Fix:     fmt.Sprintf(`set conformance_receipt_sha256 to "%064x"`, e), Cite: "RFC 0026 section 6"})
		}
		r.Results.Add(result)
	}
	return counted(r)
}

var folded = regexp.MustCompile(`(?s)<details>.*?</details>\n`)

// asPage renders Markdown with the extensions that the forge has, raw HTML included, and counts its elements.
func asPage(t *testing.T, text string) (page string, elements map[string]int) {
	t.Helper()
	var b bytes.Buffer
	must.OK(t, goldmark.New(goldmark.WithExtensions(extension.GFM),
		goldmark.WithRendererOptions(markdownhtml.WithUnsafe())).Convert([]byte(text), &b))
	elements = map[string]int{}
	for z := html.NewTokenizer(bytes.NewReader(b.Bytes())); ; {
		switch z.Next() {
		case html.ErrorToken:
			return b.String(), elements
		case html.StartTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			elements[string(name)]++
		}
	}
}

func TestCommentIsShort(t *testing.T) {
	for _, c := range []struct {
		name                       string
		report                     *verdict.Report
		subjects, findings, tables int
		want                       []string
	}{
		{"30 failing listings", failing(30, 1), 10, 10, 3, []string{"- 20 more subjects below\n",
			"<summary>20 more findings</summary>"}},
		{"one listing with 9 errors", failing(1, 9), 1, 3, 3, []string{
			"- `implementations/tool0.json`, 3 of 9 findings\n", "<summary>6 more findings</summary>"}},
		{"300 listings with 30 errors", failing(300, 30), 10, 30, 2, []string{"- 290 more subjects below\n",
			"**Cut:** ", " rows left out. [The run](<" + run + ">) has all.\n"}},
		{"many inconclusive", many(3000), 10, 12, 2, []string{"**Cut:** "}},
		{"nothing blocks", honest(), 0, 0, 3, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := Comment(c.report, run, commentBytes)
			if len(text) > commentBytes {
				t.Errorf("the comment has %d bytes", len(text))
			}
			seen := folded.ReplaceAllString(text, "")
			if n := strings.Count(seen, "\n"); n > 55 { // sticky adds up to 5 lines
				t.Errorf("%d lines are not folded:\n%s", n, seen)
			}
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			subjects, findings := strings.Count(seen, "\n- `"), strings.Count(seen, "\n  - **")
			if subjects != c.subjects || findings != c.findings {
				t.Errorf("%d subjects and %d findings are not folded, want %d and %d:\n%s", subjects, findings,
					c.subjects, c.findings, seen)
			}
			page, elements := asPage(t, text)
			if elements["details"] != c.tables || elements["summary"] != c.tables || elements["table"] != c.tables ||
				strings.Count(page, "</details>") != c.tables || strings.Contains(page, "|") {
				t.Errorf("%v in\n%s", elements, page)
			}
		})
	}
}

// What was cut is counted: rows and those left out are together as many as the report has.
func TestCommentCountsWhatItLeavesOut(t *testing.T) {
	r := failing(300, 30)
	text := Comment(r, "", commentBytes)
	var left int
	_, after, _ := strings.Cut(text, "**Cut:** ")
	if _, err := fmt.Sscanf(after, "%d rows left out. The JSON report has all.", &left); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	_, elements := asPage(t, text)
	facts := strings.Count(text[strings.LastIndex(text, "<details>"):], "\n| ") - 1
	rows := elements["tr"] - elements["table"] - facts
	if want := 300*30 - 30 + r.Results.Len(); rows+left != want {
		t.Errorf("%d rows and %d left out, want %d together", rows, left, want)
	}
}

// No text of a report takes effect in a comment, folded or not, and none makes it longer than it may be.
func TestCommentIsInert(t *testing.T) {
	for _, s := range append(hostile, "</details>\n\n<details><summary>x</summary>", "</summary></details><img src=x>",
		"</td></tr></table></details>", "- x\n\n</details>\n", "`</details>`", "a\n</details>", "@maintainer",
		"see #1, GH-1, :smile: and www.evil.example", "**all is well**", "[x](https://evil.example)",
		"Fixes deadbeef1", strings.Repeat("検</details> ", 5000)) {
		for _, r := range poisoned(s) {
			if r.Verdict == verdict.Errored {
				continue // refused before it is shown
			}
			r.Mode = "check"
			text := Comment(r, s, commentBytes)
			if len(text) > commentBytes {
				t.Errorf("%q: the comment has %d bytes", s, len(text))
			}
			page, elements := asPage(t, text)
			if n := strings.Count(text, "\n<details><summary>"); elements["details"] != n || elements["summary"] != n ||
				strings.Count(page, "</details>") != n || n > 4 {
				t.Errorf("%q: %v in\n%s", s, elements, page)
			}
			for name := range elements {
				if !strings.Contains(" h2 h3 p strong ul li code br details summary table thead tbody tr th td ",
					" "+name+" ") {
					t.Errorf("%q makes an element %s in\n%s", s, name, text)
				}
			}
		}
	}
}

func TestProse(t *testing.T) {
	for text, want := range map[string]string{
		`the served Receipt has SHA-256 aa11; the listing pins "bb 22"`: "the served Receipt has `SHA-256 aa11`; the " +
			"listing pins `\"bb 22\"`",
		`set tool_did to "did:web:nova.example", as Manifest and Receipt say`: "set `tool_did` to " +
			"`\"did:web:nova.example\"`, as Manifest and Receipt say",
		"RFC 0026 section 6":                "RFC 0026 section 6",
		"it doesn't answer (status 404).":   "it doesn't answer (status 404).",
		"thank @maintainer for #1 and GH-1": "thank `@maintainer` for `#1` and `GH-1`",
		":smile: at evil.example":           "`\\x3asmile`: at `evil.example`",
		"a `b | c` d":                       "a `\\x60b \\x7c c\\x60` d",
		"deadbeef01 deadbeef":               "`deadbeef01` deadbeef",
		"1234567 and 123456":                "`1234567` and 123456",
		"":                                  "",
		`"open </details> <summary>`:        "`\"open </details> <summary>`",
		`he said "x" "y \" z" and "end`:     "he said `\"x\" \"y \\\" z\"` and `\"end`",
	} {
		if got := prose(text); got != want {
			t.Errorf("prose(%q)\n got %s\nwant %s", text, got, want)
		}
	}
}
