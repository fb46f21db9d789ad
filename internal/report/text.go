package report

import (
	"bytes"
	"fmt"

	"github.com/openagentprotocol-OAP/oap-gate/gate"
)

// writeText writes for people: which commits and why, the findings as lines that an editor can jump to, a
// table of the verdicts, the verdict.
func writeText(b *bytes.Buffer, r *gate.Report, o Options) error {
	ink := newInk(o.Color)
	writeChosen(b, r)
	writeFindings(b, r, ink)
	if len(r.Results) > 0 {
		writeTable(b, r, o.Rules, ink)
		b.WriteByte('\n')
	}
	writeVerdict(b, r, ink)
	return nil
}

func writeChosen(b *bytes.Buffer, r *gate.Report) {
	if ask := unanswered(r); ask != "" {
		fmt.Fprintf(b, "%s\n\n", ask)
	}
	if r.Chosen != "" {
		fmt.Fprintf(b, "%s%s\n\n", line(r.Chosen), headAge(r))
	}
}

// writeFindings writes one line for each finding, and one for its fix: "path:line:col: check-id: message".
// What does not fail is marked by its severity before the message.
func writeFindings(b *bytes.Buffer, r *gate.Report, ink ink) {
	all := findings(r)
	for _, f := range all {
		fmt.Fprintf(b, "%s: %s: ", ink.bold(place(f)), line(f.check))
		if f.Severity != "error" {
			fmt.Fprintf(b, "%s: ", ink.severity(f.Severity))
		}
		b.WriteString(line(f.Message))
		if f.Commit != "" {
			fmt.Fprintf(b, " (commit %.12s)", line(f.Commit))
		}
		b.WriteByte('\n')
		if f.Fix != "" {
			fmt.Fprintf(b, "    fix: %s\n", line(f.Fix))
		}
	}
	if len(all) > 0 {
		b.WriteByte('\n')
	}
}

// place is path:line:column as far as it is known.
func place(f placed) string {
	path := line(f.path)
	if f.Line <= 0 {
		return path
	}
	return fmt.Sprintf("%s:%d:%d", path, f.Line, max(f.Column, 1))
}

func writeVerdict(b *bytes.Buffer, r *gate.Report, ink ink) {
	fmt.Fprintln(b, ink.verdict(r.Verdict, verdictLine(r)))
	if r.Verdict == gate.Errored && r.Remedy != "" {
		fmt.Fprintf(b, "    fix: %s\n", line(r.Remedy))
	}
}

// headAge says how old the head of an audit is: a copy that is frozen looks well.
func headAge(r *gate.Report) string {
	if r.History == nil || r.History.HeadTime.IsZero() {
		return ""
	}
	return fmt.Sprintf(", of %s, %s before this run", r.History.HeadTime.UTC().Format("2006-01-02T15:04:05Z"), duration(r.EvaluatedAt.Sub(r.History.HeadTime)))
}
