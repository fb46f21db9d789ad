package report

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// writeText writes for people: which commits and why, the findings as lines that an editor can jump to, a
// table of the verdicts, the verdict.
func writeText(b *bytes.Buffer, r *verdict.Report, o Options) error {
	ink := newInk(o.Color)
	writeChosen(b, r)
	writeFindings(b, r, ink)
	if r.Results.Len() > 0 {
		writeTable(b, r, o.Rules, ink)
		b.WriteByte('\n')
	}
	if text := checkpointFile(r); text != "" {
		fmt.Fprintf(b, "%s\n", text)
	}
	writeVerdict(b, r, ink)
	return nil
}

func writeChosen(b *bytes.Buffer, r *verdict.Report) {
	if ask := unanswered(r); ask != "" {
		fmt.Fprintf(b, "%s\n\n", ask)
	}
	if r.Chosen != "" {
		fmt.Fprintf(b, "%s%s\n\n", line(r.Chosen), headAge(r))
	}
	if rows := installation(r); len(rows) > 0 {
		for _, row := range rows {
			fmt.Fprintf(b, "%-8s  %s\n", row[0], line(row[1]))
		}
		b.WriteByte('\n')
	}
}

// installation is what was done at the forge and what it did not show, each with a word for it.
func installation(r *verdict.Report) (rows [][2]string) {
	if r.Installation == nil {
		return nil
	}
	for _, done := range r.Installation.Applied {
		rows = append(rows, [2]string{"applied", done})
	}
	for _, part := range r.Installation.Unread {
		rows = append(rows, [2]string{"not read", part})
	}
	return rows
}

// writeFindings writes a line for each finding that an editor can jump to, "path:line:col: error: check-id: message
// [code]", and one for its fix: the most severe first. Findings that say the same are written once, where the first
// of them is, with their number and the next places.
func writeFindings(b *bytes.Buffer, r *verdict.Report, ink ink) {
	all := findings(r)
	slices.SortStableFunc(all, func(a, b placed) int { return cmp.Compare(a.Severity, b.Severity) })
	for _, same := range folded(all) {
		f := same[0]
		fmt.Fprintf(b, "%s: %s: %s: %s", ink.bold(place(f)), ink.severity(f.Severity), line(f.check), line(f.Message))
		if f.Commit != "" {
			fmt.Fprintf(b, " (commit %.12s)", line(f.Commit))
		}
		if f.Code != "" { // a report may come from a file
			fmt.Fprintf(b, " [%s]", line(f.Code))
		}
		b.WriteByte('\n')
		if f.Fix != "" {
			fmt.Fprintf(b, "    fix: %s\n", line(f.Fix))
		}
		if len(same) > 1 {
			fmt.Fprintf(b, "    %d times: %s\n", len(same), alsoAt(same[1:]))
		}
	}
	if len(all) > 0 {
		b.WriteByte('\n')
	}
}

// folded groups the findings that differ in their place and commit alone, in the order of the first of each.
func folded(all []placed) [][]placed {
	type text struct {
		severity                  verdict.Severity
		check, code, message, fix string
	}
	at := map[text]int{}
	var groups [][]placed
	for _, f := range all {
		key := text{f.Severity, f.check, f.Code, f.Message, f.Fix}
		i, found := at[key]
		if !found {
			i = len(groups)
			at[key] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], f)
	}
	return groups
}

// maxPlaces is how many places of a folded finding are named beside its first.
const maxPlaces = 3

func alsoAt(more []placed) string {
	var places []string
	for _, f := range more[:min(len(more), maxPlaces)] {
		at := place(f)
		if f.Commit != "" {
			at += fmt.Sprintf(" (commit %.12s)", line(f.Commit))
		}
		places = append(places, at)
	}
	text := "also at " + strings.Join(places, ", ")
	if rest := len(more) - len(places); rest > 0 {
		text += fmt.Sprintf(" and %d more", rest)
	}
	return text
}

// place is path:line:column as far as it is known.
func place(f placed) string {
	path := line(f.path)
	if f.Line <= 0 {
		return path
	}
	return fmt.Sprintf("%s:%d:%d", path, f.Line, max(f.Column, 1))
}

func writeVerdict(b *bytes.Buffer, r *verdict.Report, ink ink) {
	fmt.Fprintln(b, ink.verdict(r.Verdict, verdictLine(r)))
	if r.Verdict == verdict.Errored && r.Remedy != "" {
		fmt.Fprintf(b, "    fix: %s\n", line(r.Remedy))
	}
}

// checkpointFile says what became of the checkpoint of an audit.
func checkpointFile(r *verdict.Report) string {
	if r.History == nil || r.History.CheckpointFile == nil {
		return ""
	}
	return line(r.History.CheckpointFile.String())
}

// headAge says how old the head of an audit is: a copy that is frozen looks well.
func headAge(r *verdict.Report) string {
	if r.History == nil || r.History.HeadTime.IsZero() {
		return ""
	}
	return fmt.Sprintf(", of %s, %s before this run", r.History.HeadTime.UTC().Format("2006-01-02T15:04:05Z"),
		duration(r.EvaluatedAt.Sub(r.History.HeadTime)))
}
