package report

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// maxFacts is how many lines of facts a row for people shows. The checklist has all.
const maxFacts = 10

// factsOf returns the question of a row for people, and the lines of its facts, at most so many, with how many more
// there are. A negative number means all.
func factsOf(a verdict.Attestation, most int) (question string, facts []string) {
	question, rest, more := strings.Cut(a.Text, "\n")
	if !more {
		return question, nil
	}
	facts = strings.Split(rest, "\n")
	if n := len(facts); most >= 0 && n > most {
		facts = append(slices.Clip(facts[:most]), fmt.Sprintf("and %d more", n-most))
	}
	return question, facts
}

// writePeople writes the rows for people that are about a subject; about all if it is empty. A line of facts begins
// with a bar: a runner takes no such line for a command.
func writePeople(b io.Writer, r *verdict.Report, subject string) {
	for _, a := range r.Attest {
		if subject != "" && a.Subject != subject {
			continue
		}
		question, facts := factsOf(a, maxFacts)
		fmt.Fprintf(b, "for people: %s: %s\n", line(a.Check), line(question))
		for _, fact := range facts {
			fmt.Fprintf(b, "    | %s\n", line(fact))
		}
	}
}

// people writes the rows for people. text makes a question safe: Markdown or prose.
func (p *page) people(r *verdict.Report, text func(string) string) {
	titles := eachTitles(r)
	p.table("\n### For people\n\n| check | question |\n|---|---|\n", len(r.Attest),
		rows(slices.Values(r.Attest), func(a verdict.Attestation) string {
			question, facts := factsOf(a, maxFacts)
			row := fmt.Sprintf("| %s | %s", text(a.Check), text(question))
			if title := titles[a.Subject]; title != "" {
				row += "<br>commit " + Markdown(cmp.Or(title, a.Subject))
			}
			for _, fact := range facts {
				if fact = markdown(fact, commentField); fact != "" {
					row += "<br>" + fact
				}
			}
			return row + " |\n"
		}), "\n")
}
