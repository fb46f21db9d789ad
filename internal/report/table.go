package report

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// maxLists is up to how many subjects the table is a list of the checks with reasons, one for each; more
// are a matrix with one line for each.
const maxLists = 3

func writeTable(b *bufio.Writer, r *Counted, o Options, ink ink) {
	checks := r.decidedColumns(o.Rules)
	if r.subjects.count > maxLists {
		writeMatrix(b, r, o.Rules, ink)
		return
	}
	first := true
	for results := range bySubject(r.Report) {
		if !first {
			b.WriteByte('\n')
		}
		first = false
		writeList(b, line(results[0].Subject), results, longest(checks), o.columns(), ink)
	}
}

// writeList writes the verdict and the reason of each check on one subject, and how many rows are for people to attest:
// the checklist names them.
func writeList(b *bufio.Writer, title string, results []verdict.Result, width, columns int, ink ink) {
	fmt.Fprintln(b, ink.bold(title))
	manual := 0
	for _, result := range results {
		if isManual(result) {
			manual++
			continue
		}
		check := fmt.Sprintf("  %-*s  ", width, line(result.Check))
		verdict := fmt.Sprintf("%-12s", line(string(result.Verdict)))
		row := strings.TrimRight(check+ink.verdict(result.Verdict, verdict), " ")
		if result.Reason != "" {
			lead := check + verdict + "  "
			reason := Hang(lead, line(result.Reason), len([]rune(lead)), columns)
			row = check + ink.verdict(result.Verdict, verdict) + strings.TrimPrefix(reason, check+verdict)
		}
		fmt.Fprintln(b, row)
	}
	if manual > 0 {
		fmt.Fprintf(b, "  %-*s  %s  --report checklist=FILE writes them down\n", width,
			plain.Count(manual, "requirement"), ink.verdict(verdict.Manual, fmt.Sprintf("%-12s", verdict.Manual)))
	}
}

// writeMatrix writes a stair of the check ids and under it a row of marks for each subject. What takes a running peer,
// and was tried on no subject, is only counted: the checklist names it.
func writeMatrix(b *bufio.Writer, r *Counted, rules []verdict.Rule, ink ink) {
	untried := map[string]bool{}
	for _, rule := range rules {
		n := r.verdicts[rule.ID]
		untried[rule.ID] = rule.Method == verdict.Live && len(n) == 1 && n[verdict.Skipped] > 0
	}
	checks := slices.DeleteFunc(r.decidedColumns(rules), func(check string) bool { return untried[check] })
	at := map[string]int{}
	for i, check := range checks {
		at[check] = i
		fmt.Fprintf(b, "  %s┌─%s %s\n", strings.Repeat("│ ", i), strings.Repeat("──", len(checks)-1-i), line(check))
	}
	manual, live := 0, 0
	row := make([]string, len(checks))
	for results := range bySubject(r.Report) {
		for i := range row {
			row[i] = " "
		}
		decided := false
		for _, result := range results {
			if isManual(result) {
				manual++
				continue
			}
			if untried[result.Check] {
				live++
				continue
			}
			decided = true
			row[at[result.Check]] = ink.verdict(result.Verdict, mark(result.Verdict))
		}
		if decided {
			b.WriteByte(' ')
			for _, mark := range row {
				b.WriteByte(' ')
				b.WriteString(mark)
			}
			fmt.Fprintf(b, "  %s\n", line(results[0].Subject))
		}
	}
	fmt.Fprintf(b, "  %s\n", ink.faint("✓ pass  ✗ fail  ? inconclusive  ! warn  - skip"))
	if manual > 0 {
		fmt.Fprintf(b, "  %s: --report checklist=FILE writes them down\n", attested(manual))
	}
	if live > 0 {
		fmt.Fprintf(b, "  %s to try with a running peer: --report checklist=FILE writes them down\n",
			plain.Count(live, "requirement"))
	}
}

func isManual(r verdict.Result) bool { return r.Verdict == verdict.Manual }

var marks = map[verdict.Verdict]string{verdict.Passed: "✓", verdict.Failed: "✗", verdict.Inconclusive: "?",
	verdict.Warned: "!", verdict.Skipped: "-"}

func mark(v verdict.Verdict) string { return cmp.Or(marks[v], "~") } // a report may have foreign verdicts

func longest(names []string) int {
	n := 0
	for _, name := range names {
		n = max(n, len([]rune(line(name))))
	}
	return n
}
