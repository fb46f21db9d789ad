package report

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// writeText writes for people: which commits and why, the findings as lines that an editor can jump to, a
// table of the verdicts, what is for people to decide, the verdict.
func writeText(b *bufio.Writer, r *Counted, o Options) error {
	writeChosen(b, r)
	writeJudged(b, r, o, func(_ string, write func()) {
		write()
		b.WriteByte('\n')
	})
	return nil
}

// writeJudged writes all that was found, in groups with titles, and the verdict.
func writeJudged(b *bufio.Writer, r *Counted, o Options, group func(title string, write func())) {
	ink := newInk(o.Color)
	if isEach(r.Report) {
		group("verdict of each commit", func() { writeEach(b, r, o, ink) })
	} else {
		writeFindings(b, r, ink)
		if r.Results.Len() > 0 {
			group("verdict of each check", func() { writeTable(b, r, o, ink) })
		}
		if writePeople(b, r.Report, ""); len(r.Attest) > 0 {
			b.WriteByte('\n')
		}
	}
	if text := checkpointFile(r.Report); text != "" {
		fmt.Fprintf(b, "%s\n", text)
	}
	fmt.Fprintln(b, ink.verdict(r.Verdict, verdictLine(r)))
	if r.Verdict == verdict.Errored && r.Remedy != "" {
		fmt.Fprintf(b, "    fix: %s\n", line(r.Remedy))
	}
}

// isEach reports whether each commit of a history was judged by itself. Such a report has a block for each commit.
func isEach(r *verdict.Report) bool { return r.Mode == "governance" && len(r.Commits) > 0 }

// commitTitles returns the short id, the date and the subject of each commit that a report names, by id.
func commitTitles(r *verdict.Report) map[string]string {
	titles := map[string]string{}
	for _, c := range r.Commits {
		titles[c.ID] = fmt.Sprintf("%.12s %s %s", line(c.ID), c.Time.UTC().Format("2006-01-02"), line(c.Subject))
	}
	return titles
}

// eachTitles returns the titles of the commits if each was judged by itself, and else nil.
func eachTitles(r *verdict.Report) map[string]string {
	if isEach(r) {
		return commitTitles(r)
	}
	return nil
}

// writeEach writes a block for each commit: its title, a line for each check, and its findings, the most severe first.
// Findings of two commits are never one.
func writeEach(b *bufio.Writer, r *Counted, o Options, ink ink) {
	titles := commitTitles(r.Report)
	width := longest(r.decidedColumns(o.Rules))
	between := ""
	for results := range bySubject(r.Report) {
		b.WriteString(between)
		between = "\n"
		title := cmp.Or(titles[results[0].Subject], line(results[0].Subject))
		writeList(b, title, results, width, o.columns(), ink)
		for severity := range r.severities {
			for _, result := range results {
				for f := range findingsOf(result) {
					if int(f.Severity) == severity {
						writeFinding(b, f, nil, ink)
					}
				}
			}
		}
		writePeople(b, r.Report, results[0].Subject)
	}
}

func writeChosen(b *bufio.Writer, r *Counted) {
	if ask := unanswered(r.Report); ask != "" {
		fmt.Fprintf(b, "%s\n\n", ask)
	}
	if r.Chosen != "" {
		fmt.Fprintf(b, "%s%s\n\n", line(r.Chosen), headAge(r.Report))
	}
	if rows := installation(r.Report); len(rows) > 0 {
		for _, row := range rows {
			fmt.Fprintln(b, Hang(fmt.Sprintf("%-8s  ", row[0]), line(row[1]), 10, Columns))
		}
		b.WriteByte('\n')
	}
	if r.Installation != nil {
		for _, diff := range r.Installation.Diffs {
			for text := range strings.Lines(diff) {
				fmt.Fprintf(b, "    %s\n", line(strings.TrimRight(text, "\r\n")))
			}
			b.WriteByte('\n')
		}
	}
}

// installation returns what was done at the forge and what it did not show, each with a word for it.
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
func writeFindings(b io.Writer, r *Counted, ink ink) {
	same := map[[16]byte]*repeated{}
	for f := range r.findings() {
		key := sayingOf(f)
		if n, ok := same[key]; ok {
			if n == nil {
				n = &repeated{}
				same[key] = n
			}
			n.add(f)
		} else {
			same[key] = nil
		}
	}
	written := 0
	for severity, n := range r.severities {
		if n == 0 {
			continue
		}
		for f := range r.findings() {
			if int(f.Severity) != severity {
				continue
			}
			key := sayingOf(f)
			if more, ok := same[key]; ok {
				delete(same, key)
				writeFinding(b, f, more, ink)
				written++
			}
		}
	}
	if written > 0 {
		fmt.Fprintln(b)
	}
}

func writeFinding(b io.Writer, f placed, more *repeated, ink ink) {
	fmt.Fprintf(b, "%s: %s: %s: %s%s", ink.bold(place(f)), ink.severity(f.Severity), line(f.check), line(f.Message),
		ofCommit(f))
	if f.Code != "" { // a report may come from a file
		fmt.Fprintf(b, " [%s]", line(f.Code))
	}
	fmt.Fprintln(b)
	if f.Fix != "" {
		fmt.Fprintf(b, "    fix: %s\n", line(f.Fix))
	}
	if more != nil {
		fmt.Fprintf(b, "    %d times: %s\n", more.count+1, more.places())
	}
}

// sayingOf returns a hash of a finding without its place and commit. A registry may have more findings than memory
// should hold.
func sayingOf(f placed) (key [16]byte) {
	h := sha256.New()
	for _, s := range []string{f.Severity.String(), f.check, f.Code, f.Message, f.Fix} {
		fmt.Fprintf(h, "%d:%s", len(s), s)
	}
	copy(key[:], h.Sum(nil))
	return key
}

// maxPlaces is how many places of a folded finding are named in addition to its first.
const maxPlaces = 3

// repeated are the findings that say the same as an earlier one.
type repeated struct {
	count int
	at    []string // the first of them
}

func (n *repeated) add(f placed) {
	if n.count++; n.count <= maxPlaces {
		n.at = append(n.at, place(f)+ofCommit(f))
	}
}

// ofCommit names the commit at fault, where one is.
func ofCommit(f placed) string {
	if f.Commit == "" {
		return ""
	}
	return fmt.Sprintf(" (commit %.12s)", line(f.Commit))
}

func (n *repeated) places() string {
	text := "also at " + strings.Join(n.at, ", ")
	if rest := n.count - len(n.at); rest > 0 {
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

// checkpointFile says what happened to the checkpoint of an audit.
func checkpointFile(r *verdict.Report) string {
	if r.History == nil || r.History.CheckpointFile == nil {
		return ""
	}
	if r.History.CheckpointFile.Written {
		return "checkpoint written"
	}
	return line("checkpoint not written, because " + r.History.CheckpointFile.Reason)
}

// headAge says how old the head of an audit is: a copy that is frozen looks well.
func headAge(r *verdict.Report) string {
	if r.History == nil || r.History.HeadTime.IsZero() {
		return ""
	}
	return ", of " + r.History.HeadTime.UTC().Format("2006-01-02T15:04:05Z") + ", " + sinceHead(r)
}

func sinceHead(r *verdict.Report) string {
	age := r.EvaluatedAt.Sub(r.History.HeadTime)
	if age < 0 {
		return duration(-age) + " ahead of this run"
	}
	return duration(age) + " before this run"
}
