package report

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// writeChecklist writes Markdown for people to fill in and sign. It has the decided results, then a box for each
// requirement that people attest and for each that needs a running peer and was not run. The last line is the SHA-256
// of the JSON report, so that the signature belongs to one run.
func writeChecklist(b *bufio.Writer, r *Counted, o Options) error {
	fmt.Fprintf(b, "# Checklist: %s\n\n", heading(r.Report, Markdown))
	if r.Verdict == verdict.Errored {
		fmt.Fprintf(b, "The run could not be made: %s\n", markdown(r.Error, headField))
		return nil
	}
	fmt.Fprintf(b, "Verdict: **%s**", word(string(r.Verdict)))
	if r.Declared && r.Verdict == verdict.Passed {
		fmt.Fprintf(b, ", %s", onlyDeclared)
	}
	fmt.Fprintf(b, ". %s, as of %s.\n", sentence(examined(r, Markdown)),
		r.EvaluatedAt.UTC().Format("2006-01-02T15:04:05Z"))
	if len(r.Assumed) > 0 {
		var flags []string
		for _, flag := range r.Assumed {
			flags = append(flags, Markdown(flag))
		}
		fmt.Fprintf(b, "Assumed: %s.\n", strings.Join(flags, ", "))
	}
	rules := byID(o.Rules)
	writeDecided(b, r, rules)
	b.WriteString("\n## For people to attest\n\n")
	open, titles := 0, commitTitles(r.Report)
	for result := range r.Results.All() {
		if !isOpen(result, rules) {
			continue
		}
		open++
		fmt.Fprintf(b, "- [ ] %s — who, how, date:\n", requirement(result, rules))
	}
	for _, a := range r.Attest {
		open++
		requirement := Markdown(a.Check)
		if rule, known := rules[a.Check]; known {
			requirement = line(rule.ID) + " (" + line(rule.Cite) + ")"
		}
		question, facts := factsOf(a, -1)
		fmt.Fprintf(b, "- [ ] %s, %s: %s — who, how, date:\n", requirement,
			Markdown(cmp.Or(titles[a.Subject], a.Subject)), Markdown(question))
		for _, fact := range facts {
			if fact = Markdown(fact); fact != "" {
				fmt.Fprintf(b, "  - %s\n", fact)
			}
		}
	}
	if open == 0 {
		b.WriteString("Nothing.\n")
	}
	sum := sha256.New()
	json := bufio.NewWriter(sum)
	if err := cmp.Or(writeJSON(json, r, o), json.Flush()); err != nil {
		return err
	}
	fmt.Fprintf(b, "\nSHA-256 of the JSON report: `%x`\n", sum.Sum(nil))
	return nil
}

// isOpen reports whether a result is left to people: nobody can see it from outside, or no running peer was asked.
func isOpen(r verdict.Result, rules map[string]verdict.Rule) bool {
	return r.Verdict == verdict.Manual || r.Verdict == verdict.Skipped && rules[r.Check].Method == verdict.Live
}

func writeDecided(b *bufio.Writer, r *Counted, rules map[string]verdict.Rule) {
	head := "\n## Decided\n\n| verdict | subject | requirement | |\n|---|---|---|---|\n"
	for result := range r.Results.All() {
		if isOpen(result, rules) {
			continue
		}
		b.WriteString(head)
		head = ""
		printed := Markdown(result.Reason)
		for _, f := range result.Findings {
			if printed != "" {
				printed += "<br>"
			}
			printed += fmt.Sprintf("%s: %s", f.Severity, Markdown(f.Message))
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", word(string(result.Verdict)), Markdown(result.Subject),
			requirement(result, rules), printed)
	}
}

// requirement returns what a catalogue says about a check: its id, its sentence, its clause, and then what of the input
// people attest. For a check that is in none it returns the id and what the report says, which are foreign.
func requirement(result verdict.Result, rules map[string]verdict.Rule) string {
	rule, known := rules[result.Check]
	if !known {
		text := Markdown(result.Check)
		if result.Verdict == verdict.Manual {
			text += " " + Markdown(result.Reason)
		}
		return text
	}
	text := line(rule.ID) + " " + line(sentence(rule.Title))
	if rule.Cite != "" {
		text += " (" + line(rule.Cite) + ")"
	}
	if result.Verdict == verdict.Manual && result.Reason != rule.Title { // what of the input people attest
		text += ": " + Markdown(result.Reason)
	}
	return text
}
