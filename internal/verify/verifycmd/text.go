package verifycmd

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/foreign"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/level"
	"github.com/openagentprotocol-OAP/oap-gate/internal/report"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verify"
)

// words name a step's verdict in the text.
var words = map[verdict.Verdict]string{verdict.Passed: "ok", verdict.Failed: "FAIL", verdict.Inconclusive: "????",
	verdict.Warned: "warn", verdict.Skipped: "skip"}

// textOf returns a report as text, in colors if they are asked for. terminal is the width of the terminal that it is
// for, 0 without one. It shows the canonical bytes as they are, or made harmless for a terminal. The first word of the
// last line follows the exit status. If there are several targets the line is indented, since the exit status is that
// of all.
func textOf(r *verify.Report, terminal int, color, several bool) []byte {
	var b bytes.Buffer
	last := ""
	if several {
		last = "  "
	}
	fmt.Fprintf(&b, "%s, as of %s\n", heading(r), stamp(r.Timestamp))
	if r.Registry != nil && r.Registry.Chosen != "" {
		fmt.Fprintf(&b, "registry: %s", foreign.Line(r.Registry.Chosen))
		if r.Registry.AsOf != nil {
			fmt.Fprintf(&b, ", as of %s", stamp(*r.Registry.AsOf))
		}
		b.WriteByte('\n')
	}
	b.WriteByte('\n')
	if r.Verdict == verdict.Errored {
		fmt.Fprintf(&b, "    fix: %s\n", foreign.Line(r.Remedy))
		fmt.Fprintf(&b, "%s%s\n", last, report.Shade(color, r.Verdict, "error: could not run: "+foreign.Line(r.Error)))
		return b.Bytes()
	}
	for _, s := range r.Steps {
		fmt.Fprintf(&b, "%s  %-18s", report.Shade(color, s.Verdict, fmt.Sprintf("%-4s", words[s.Verdict])), s.Step)
		findings := s.Findings
		if len(findings) == 0 || findings[0].Severity == verdict.Notice || s.Verdict == verdict.Skipped {
			const lead = 25 // the width of the line so far, without colors, and a blank
			text := report.Hang(strings.Repeat(" ", lead), foreign.Line(s.Reason), lead, max(report.Columns, terminal))
			fmt.Fprintln(&b, text[lead-1:])
		} else {
			writeFinding(&b, findings[0], "")
			findings = findings[1:]
		}
		for _, f := range findings {
			b.WriteString(strings.Repeat(" ", 24))
			writeFinding(&b, f, f.Severity.String()+": ")
		}
	}
	b.WriteByte('\n')
	if c := r.Canonical; c != nil {
		writeCanonical(&b, c, terminal > 0)
	}
	if len(r.Assumed) > 0 {
		fmt.Fprintf(&b, "assumed: %s\n", foreign.Line(strings.Join(r.Assumed, ", ")))
	}
	end := ending(r)
	if trial := report.Trial(r.Local); trial != "" {
		end += "; " + trial
	}
	fmt.Fprintf(&b, "%s%s\n", last, report.Shade(color, r.Verdict, end))
	return b.Bytes()
}

// heading returns the target as the first line names it. A target that is not an address is quoted: only the last line
// may begin with the word of a verdict.
func heading(r *verify.Report) string {
	lower := strings.ToLower(r.Target)
	switch {
	case r.Target == "":
		return "the documents at hand"
	case strings.HasPrefix(lower, "https://"), strings.HasPrefix(lower, "did:"):
		return foreign.Line(r.Target)
	}
	return strconv.Quote(foreign.Line(r.Target))
}

func writeFinding(b *bytes.Buffer, f verify.Finding, severity string) {
	fmt.Fprintf(b, " %s%s", severity, foreign.Line(f.Message))
	if f.Commit != "" {
		fmt.Fprintf(b, " (commit %.12s)", foreign.Line(f.Commit))
	}
	fmt.Fprintf(b, " [%s]\n", foreign.Line(f.Code))
	if f.Fix != "" {
		fmt.Fprintf(b, "%sfix: %s\n", strings.Repeat(" ", 29), foreign.Line(f.Fix))
	}
}

func writeCanonical(b *bytes.Buffer, c *verify.Canonical, terminal bool) {
	if c.Error != "" {
		fmt.Fprintf(b, "to sign: nothing: %s\n\n", foreign.Line(c.Error))
		return
	}
	fmt.Fprintf(b, "to sign: %d bytes, sha256 %s\n", len(c.Text), c.SHA256)
	if terminal {
		fmt.Fprintf(b, "%s\n\n", foreign.Line(c.Text))
	} else {
		fmt.Fprintf(b, "%s\n\n", c.Text)
	}
}

// endings are the first words of the last line, by verdict.
var endings = map[verdict.Verdict]string{verdict.Passed: "accepted", verdict.Failed: "refused",
	verdict.Inconclusive: "undecided", verdict.Errored: "error"}

// ending returns the last line of a report whose documents come from the web.
func ending(r *verify.Report) string {
	var of []string
	if r.DID != "" {
		of = append(of, foreign.Line(r.DID))
	}
	if r.Verdict == verdict.Passed {
		if len(r.ReceiptSHA256) >= 12 {
			of = append(of, "receipt "+r.ReceiptSHA256[:12]+"…")
		}
		if r.NotAfter != nil {
			of = append(of, "until "+r.NotAfter.UTC().Format("2006-01-02"))
		}
		s := "accepted: " + foreign.Line(verify.LevelList(r.AcceptedLevels)) + " of " +
			foreign.Line(verify.LevelList(r.ClaimedLevels))
		if r.Level != "" {
			s += fmt.Sprintf(", asked for: %s", r.Level)
		}
		s += parenthesis(of, ", ")
		switch {
		case r.Proof != nil && r.Proof.AsOf != nil:
			s += "; by proof as of " + stamp(*r.Proof.AsOf)
		case r.Proof != nil:
			s += "; by proof as of an unknown time"
		case r.Registry == nil:
			s += "; revocations not looked at"
		}
		return s
	}
	what, why := r.Obstacles()
	if what == "" {
		what = foreign.Line(verify.LevelList(missing(r)))
		of = slices.Insert(of, 0, "accepted: "+foreign.Line(verify.LevelList(r.AcceptedLevels)))
	}
	s := endings[r.Verdict] + ": " + what + parenthesis(of, "; ")
	if r.Verdict == verdict.Inconclusive && why != "" {
		s += ": " + foreign.Line(why)
	}
	return s
}

func parenthesis(parts []string, between string) string {
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, between) + ")"
}

// missing returns the level that was asked for, else the claimed levels that are not accepted.
func missing(r *verify.Report) []level.Level {
	if r.Level != "" {
		return []level.Level{r.Level}
	}
	return slices.DeleteFunc(slices.Clone(r.ClaimedLevels),
		func(l level.Level) bool { return slices.Contains(r.AcceptedLevels, l) })
}

// counted has the number of targets of a run by verdict.
type counted map[verdict.Verdict]int

// line returns the last line of a run of several targets; its first word follows the verdict of the run.
func (c counted) line(worst verdict.Verdict, color bool, local []string) string {
	total := 0
	for _, n := range c {
		total += n
	}
	line := fmt.Sprintf("%s: %d targets: %d accepted, %d refused, %d undecided, %s", endings[worst], total,
		c[verdict.Passed], c[verdict.Failed], c[verdict.Inconclusive], plain.Count(c[verdict.Errored], "error"))
	if trial := report.Trial(local); trial != "" {
		line += "; " + trial
	}
	return report.Shade(color, worst, line) + "\n"
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.999Z07:00") }
