package report

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// The author of a pull request reads this between the comments of people: few findings are not folded, and each is cut.
const (
	maxShownSubjects = 10
	maxShownFindings = 3 // per subject
	maxCommentLines  = 50
	commentField     = 400 // characters of one foreign text
)

// Comment returns the Markdown of a comment about a report of check, in at most max bytes: the verdict, the findings
// that block, a few of each subject, and folded the other findings, the results, the documents and the run's data. It
// counts what it leaves out, and links to the run if that is an https URL.
func Comment(r *verdict.Report, run string, max int) string {
	c := Count(r)
	p := &page{b: new(bytes.Buffer), max: max}
	data := &page{b: new(bytes.Buffer)}
	data.facts(c)
	tail := "\n<details><summary>This run</summary>\n\n" + data.b.String() + "\n</details>\n"
	p.max -= len(tail)
	p.head(c)
	rest := p.subjects(slices.SortedStableFunc(c.findings(), func(a, b placed) int {
		return cmp.Compare(a.Severity, b.Severity)
	}))
	p.people(r, prose)
	p.table("<details><summary>"+plain.Count(len(rest), "more finding")+"</summary>\n\n"+findingsHead, len(rest),
		rows(slices.Values(rest), func(f placed) string { return lineOf(f, prose) }), "\n</details>\n")
	p.results(c)
	p.evidence(r)
	if p.left > 0 {
		all := "The JSON report has"
		if len(run) <= headField && linked(run) != "" {
			all = "[The run](<" + run + ">) has"
		}
		fmt.Fprintf(p.b, "\n**Cut:** %s left out. %s all.\n", plain.Count(p.left, "row"), all)
	}
	return p.b.String() + tail
}

// subjects writes the subjects with a finding that blocks, those with an error first, and returns the findings that it
// left out. All are in the order of their severity.
func (p *page) subjects(all []placed) (rest []placed) {
	blocks := func(f placed) bool { return f.Severity == verdict.Error || f.Severity == verdict.Doubt }
	of := map[string][]placed{}
	var order []string
	for _, f := range all {
		if !blocks(f) {
			continue
		}
		if of[f.subject] == nil {
			order = append(order, f.subject)
		}
		of[f.subject] = append(of[f.subject], f)
	}
	shown := map[string]int{}
	for _, subject := range order[:min(len(order), maxShownSubjects)] {
		item, some := subjectItem(subject, of[subject])
		if !p.fits(item) || strings.Count(p.b.String()+item, "\n") > maxCommentLines {
			break
		}
		p.b.WriteString(item)
		shown[subject] = some
	}
	if len(shown) < len(order) {
		fmt.Fprintf(p.b, "- %s below\n", plain.Count(len(order)-len(shown), "more subject"))
	}
	if len(order) > 0 {
		p.b.WriteString("\n")
	}
	for _, f := range all {
		if blocks(f) && shown[f.subject] > 0 {
			shown[f.subject]--
			continue
		}
		rest = append(rest, f)
	}
	return rest
}

// subjectItem returns a list item with the first findings of a subject, and how many these are.
func subjectItem(subject string, all []placed) (item string, shown int) {
	shown = min(len(all), maxShownFindings)
	var b strings.Builder
	fmt.Fprintf(&b, "- %s", markdown(subject, commentField))
	if shown < len(all) {
		fmt.Fprintf(&b, ", %d of %s", shown, plain.Count(len(all), "finding"))
	}
	b.WriteString("\n")
	for _, f := range all[:shown] {
		fmt.Fprintf(&b, "  - **%s** %s", f.Severity, prose(f.check))
		switch {
		case f.path != subject:
			fmt.Fprintf(&b, " %s", markdown(place(f), commentField))
		case f.Line > 0:
			fmt.Fprintf(&b, ", line %d", f.Line)
		}
		fmt.Fprintf(&b, ": %s", prose(f.Message))
		if f.Cite != "" {
			fmt.Fprintf(&b, " (%s)", prose(f.Cite))
		}
		if f.Fix != "" {
			fmt.Fprintf(&b, "<br>**fix:** %s", prose(f.Fix))
		}
		b.WriteString("\n")
	}
	return b.String(), shown
}

// inProse matches a value in quotes, else a word, with the punctuation that follows.
var inProse = plain.Pattern(`"(?:[^"\\]|\\.)*"[,.;:)]*|[^ ]+`)

// bareWord matches a word that neither Markdown nor the forge interprets anywhere in a text: letters, or a number that
// is too short for the abbreviation of a commit. A dot or a colon inside could make it a URL or the name of an emoji.
var bareWord = plain.Pattern(`^\(?(?:[A-Za-z]+(?:['-][A-Za-z]+)*|[0-9]{1,6})?$`)

// prose returns foreign text as prose of Markdown: words are bare; quoted values and all else are code spans, as
// Markdown returns them.
func prose(text string) string {
	var out, code []string
	flush := func(end string) {
		if len(code) > 0 {
			out = append(out, markdown(strings.Join(code, " "), maxField)+end)
			code = nil
		}
	}
	for _, word := range inProse().FindAllString(line(cut(text, commentField)), -1) {
		bare := strings.TrimRight(word, ",.;:)")
		end := word[len(bare):]
		if bareWord().MatchString(bare) {
			flush("")
			out = append(out, word)
			continue
		}
		code = append(code, bare)
		if end != "" {
			flush(end)
		}
	}
	flush("")
	return strings.Join(out, " ")
}
