package report

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// MaxSummary is how many bytes a job summary may have: GitHub drops one above 1 MiB whole.
const MaxSummary = 1<<20 - 1

const (
	minMarkdown = 16 << 10 // holds the head, whatever the report
	headField   = 300      // characters of one foreign text in the head
)

// page is Markdown that grows row by row and stays below its cap, with every table closed.
type page struct {
	b    *bytes.Buffer
	max  int
	left int // rows for which there was no room
}

// pageEnd is kept free for what closes the page.
const pageEnd = 512

func (p *page) fits(s string) bool { return p.b.Len()+len(s)+pageEnd <= p.max }

// table writes head, which opens the table, rows and tail, or nothing if there is no row or no room for one.
func (p *page) table(head string, count int, rows iter.Seq[string], tail string) {
	p.left += count
	opened := false
	for s := range rows {
		if !opened {
			s = head + s
		}
		if !p.fits(s + tail) {
			break
		}
		opened = true
		p.b.WriteString(s)
		p.left--
	}
	if opened {
		p.b.WriteString(tail)
	}
}

// rows returns a row for each element of all.
func rows[T any](all iter.Seq[T], row func(T) string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for one := range all {
			if !yield(row(one)) {
				return
			}
		}
	}
}

// writeMarkdown writes a summary for a job or a comment: the verdict, the findings, what each check said, the
// evidence.
func writeMarkdown(w *bufio.Writer, r *Counted, o Options) error {
	b := new(bytes.Buffer)
	p := &page{b: b, max: o.MaxBytes}
	if p.max <= 0 || p.max > MaxSummary {
		p.max = MaxSummary
	}
	p.max = max(p.max, minMarkdown)
	p.head(r)
	p.facts(r)
	p.installation(r.Report)
	if isEach(r.Report) {
		p.each(r)
	} else {
		p.findings(r)
		p.results(r)
	}
	p.people(r.Report, Markdown)
	p.evidence(r.Report)
	if p.left > 0 {
		fmt.Fprintf(b, "\n**Cut:** %s left out to keep this below %d bytes. The JSON report holds all.\n",
			plain.Count(p.left, "row"), p.max+1)
	}
	_, err := w.Write(b.Bytes())
	return err
}

func (p *page) head(r *Counted) {
	b := p.b
	title := "oap-gate"
	if r.Mode == "governance" {
		title = ofSpecification
	}
	fmt.Fprintf(b, "## %s %s: %s\n\n", cmp.Or(signs[r.Verdict], "❔"), title, word(string(r.Verdict)))
	if r.Verdict == verdict.Errored {
		fmt.Fprintf(b, "The gate could not run: %s\n\n", markdown(r.Error, headField))
		if r.Remedy != "" {
			fmt.Fprintf(b, "**Fix:** %s\n\n", markdown(r.Remedy, headField))
		}
	} else {
		fmt.Fprintf(b, "%s.\n\n",
			sentence(phrases(examined(r, Markdown), outcomes(r.Report), attested(r.Counts.Manual))))
	}
	if r.Ending != "" {
		fmt.Fprintf(b, "%s\n\n", markdown(r.Ending, headField))
	}
	if r.Declared && r.Verdict == verdict.Passed {
		fmt.Fprintf(b, "**%s.**\n\n", sentence(onlyDeclared))
	}
	if again := mayPass(r.Report); again != "" {
		fmt.Fprintf(b, "**%s**.\n\n", sentence(again))
	}
	if ask := unanswered(r.Report); ask != "" {
		fmt.Fprintf(b, "**%s**\n\n", sentence(ask))
	}
	if len(r.NotRun) > 0 {
		fmt.Fprintf(b, "**Not run:** %s: %s\n\n", plain.Count(len(r.NotRun), "check"),
			markdown(strings.Join(r.NotRun, ", "), headField))
	}
	if len(r.Assumed) > 0 {
		fmt.Fprintf(b, "**Assumed:** %s. This is not the verdict of a full live run.\n\n",
			markdown(strings.Join(r.Assumed, ", "), headField))
	}
	if len(r.Governance) > 0 {
		fmt.Fprintf(b, "**Governance:** %s changed: %s\n\n", plain.Count(len(r.Governance), "file"),
			markdown(strings.Join(r.Governance, ", "), headField))
	}
	if r.Squash {
		b.WriteString("**Squash:** rebase-merged, the commits would make other steps than the range as a " +
			"whole; merge as one commit.\n\n")
	}
}

// sentence returns a phrase of the program's own with a capital letter.
func sentence(phrase string) string {
	if phrase == "" {
		return ""
	}
	return strings.ToUpper(phrase[:1]) + phrase[1:]
}

func (p *page) facts(r *Counted) {
	p.b.WriteString("| | |\n|---|---|\n")
	for _, fact := range [][2]string{
		{"protocol", r.Protocol},
		{"level", levelOf(r.Report)},
		{"chosen", r.Chosen + headAge(r.Report)},
		{"base", r.Base},
		{"head", r.Head},
		{"merge base", r.MergeBase},
		{"evaluated at", r.EvaluatedAt.UTC().Format("2006-01-02T15:04:05.999999999Z07:00")},
		{"checkpoint", strings.TrimPrefix(checkpointFile(r.Report), "checkpoint ")},
		{"oap-gate", r.Tool.Version},
		{"build", r.Tool.Commit},
		{"evidence", r.EvidenceSHA256},
	} {
		if fact[1] != "" {
			fmt.Fprintf(p.b, "| %s | %s |\n", fact[0], markdown(fact[1], headField))
		}
	}
}

func (p *page) installation(r *verdict.Report) {
	all := installation(r)
	p.table("\n### At the forge\n\n| | |\n|---|---|\n", len(all), rows(slices.Values(all), func(f [2]string) string {
		return fmt.Sprintf("| %s | %s |\n", f[0], Markdown(f[1]))
	}), "")
}

const findingsHead = "| | where | check | finding |\n|---|---|---|---|\n"

func (p *page) findings(r *Counted) {
	p.table("\n### Findings\n\n"+findingsHead, sum(r.severities[:]), rows(r.findings(), findingLine), "")
}

// lineOf returns the row of a finding. text makes its texts safe: Markdown or prose.
func lineOf(f placed, text func(string) string) string {
	says := text(f.Message)
	if f.Commit != "" {
		says += "<br>commit " + Markdown(f.Commit)
	}
	if f.Fix != "" {
		says += "<br>**fix:** " + text(f.Fix)
	}
	if f.Cite != "" {
		says += "<br>" + text(f.Cite)
	}
	return fmt.Sprintf("| %s | %s | %s | %s |\n", f.Severity, Markdown(place(f)), text(f.check), says)
}

func findingLine(f placed) string { return lineOf(f, Markdown) }

// each writes a block for each commit: its title, a row for each check, and its findings.
func (p *page) each(r *Counted) {
	titles := commitTitles(r.Report)
	for results := range bySubject(r.Report) {
		title := Markdown(cmp.Or(titles[results[0].Subject], results[0].Subject))
		var found []placed
		for _, result := range results {
			found = slices.AppendSeq(found, findingsOf(result))
		}
		p.table("\n### "+title+"\n\n| check | verdict | reason |\n|---|---|---|\n", len(results),
			rows(slices.Values(results), func(result verdict.Result) string {
				return fmt.Sprintf("| %s | %s | %s |\n", Markdown(result.Check), word(string(result.Verdict)),
					Markdown(result.Reason))
			}), "")
		p.table("\n"+findingsHead, len(found), rows(slices.Values(found), findingLine), "")
	}
}

func (p *page) results(r *Counted) {
	leftOut := ""
	if len(r.Omitted) > 0 {
		leftOut = ", without those that passed or were skipped"
	}
	head := fmt.Sprintf("\n<details><summary>%s%s</summary>\n\n| subject | check | verdict | reason "+
		"|\n|---|---|---|---|\n", plain.Count(r.Results.Len(), "result"), leftOut)
	p.table(head, r.Results.Len(), rows(r.Results.All(), func(result verdict.Result) string {
		return fmt.Sprintf("| %s | %s | %s | %s |\n", Markdown(result.Subject), Markdown(result.Check),
			word(string(result.Verdict)), Markdown(result.Reason))
	}), "\n</details>\n")
}

func (p *page) evidence(r *verdict.Report) {
	head := fmt.Sprintf("\n<details><summary>%s sought</summary>\n\n| document | state | status | bytes | ms | tries "+
		"| from | SHA-256 |\n|---|---|---|---|---|---|---|---|\n", plain.Count(len(r.Evidence), "document"))
	p.table(head, len(r.Evidence), rows(slices.Values(r.Evidence), func(e verdict.Evidence) string {
		document, from := link(e.URL), Markdown(e.Address)
		if e.FinalURL != "" && e.FinalURL != e.URL {
			document += "<br>now at " + link(e.FinalURL)
		}
		if e.CachedAt != nil {
			from += " cached " + e.CachedAt.UTC().Format("2006-01-02T15:04:05Z")
		}
		state := Markdown(e.State)
		if e.Code != "" {
			state += " " + Markdown(e.Code)
		}
		if e.Message != "" {
			state += "<br>" + Markdown(e.Message)
		}
		return fmt.Sprintf("| %s | %s | %d | %d | %d | %d | %s | %s |\n", document, state, e.Status, e.Bytes,
			e.Milliseconds, e.Attempts, from, Markdown(e.SHA256))
	}), "\n</details>\n")
}

// word is s bare where it is one of our own words, else neutral.
func word(s string) string {
	switch s {
	case "pass", "fail", "inconclusive", "error", "warn", "skip", "manual":
		return s
	}
	return markdown(s, headField)
}

var signs = map[verdict.Verdict]string{verdict.Passed: "✅", verdict.Failed: "❌", verdict.Errored: "❌"}

// linkable is an https URL whose characters mean nothing to Markdown inside a destination in angle brackets.
// No user information: "https://known.example@evil.example" reads as another host than it is.
var linkable = plain.Pattern(
	`^https://[a-z0-9.-]+(:[0-9]{1,5})?(/[A-Za-z0-9._~/%+=,;:@-]*)?(\?[A-Za-z0-9._~/%+=,;:@-]*)?$`)

// link shows a URL, and makes it a link where it is plainly an https one.
func link(url string) string {
	if linked(url) == "" {
		return Markdown(url)
	}
	return "[" + Markdown(url) + "](<" + url + ">)"
}
