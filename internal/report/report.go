// Package report writes a report in each format.
//
// Every string of a Report is held to be hostile, check ids and verdicts included: a report may be read from a file
// that a stranger made. Each writer is a function only of the report and its options.
package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// Options are the settings of writers. Each writer ignores those that it does not use.
type Options struct {
	// Color makes text use ANSI colours. Nothing else decides that: neither the environment nor the
	// kind of output.
	Color bool
	// Columns is the width of the terminal that text goes to. Less than 80, as for a file or a pipe, counts as 80.
	Columns int
	// MaxAnnotations is how many annotations of each severity the github format makes, 0 to 9, before one
	// that counts the rest; 0 makes none at all.
	MaxAnnotations int
	// MaxBytes caps the markdown format; 0 means MaxSummary. Less than 16 KiB counts as 16 KiB.
	MaxBytes int
	// SummaryOnly leaves results that passed and that were skipped out of the json format, which says so; they are
	// counted there.
	SummaryOnly bool
	// Formats are those of the program; nil: those of this package.
	Formats []Format
	// Rules describes the checks in catalogue order.
	Rules []verdict.Rule
	// Attempt is what the prometheus format says about a mirror's run, besides the report; nil: the run is not a
	// mirror's.
	Attempt *Attempt
}

// A Format is a form in which a report is written.
type Format = struct {
	Name   string
	About  string // what help formats says about it
	Of     string // names of the only commands that write it; empty: all
	Write  func(*bufio.Writer, *Counted, Options) error
	Former Former
	Mark   string // first line of a file, if what Write writes does not name its writer
}

// Formats lists the formats of this package. Each program offers those of its products. Help, action.yml and
// docs/action.md follow from them.
var Formats = []Format{
	{"text", "for people: findings, a table, the verdict in the last line", "", writeText,
		begins(textMark), textMark},
	{"json", "all members: oap-gate schema report; of verify:\noap-gate schema verification-report", "", writeJSON,
		HasMembers("tool", "mode", "verdict"), ""},
	{"github", "the same as text, with annotations of a GitHub workflow", "", writeGitHub,
		begins(githubMark), githubMark},
	{"markdown", "for a pull request or a job summary", "", writeMarkdown, begins(markdownMark), markdownMark},
	{"sarif", "for code scanning", "", writeSARIF, contains("{", `"driver": {
          "name": "oap-gate"`), ""},
	{"junit", "for a test dashboard", "", writeJUnit, contains("<?xml", `<testsuites name="oap-gate"`), ""},
	{"html", "one page without scripts and without foreign resources", "", writeHTML,
		contains("<!DOCTYPE html>", `<meta name="generator" content="oap-gate">`), ""},
	{"prometheus", "metrics, of check, audit and mirror", "check audit merge mirror replay", writePrometheus,
		begins("# HELP oap_gate_"), ""},
	{"checklist", "what people must attest, of conformance and governance", "", writeChecklist,
		begins(checklistMark), checklistMark},
}

// The first lines of files whose format has no other place for the name of their writer.
const (
	textMark      = "oap-gate report, text\n"
	githubMark    = "oap-gate report, github\n"
	markdownMark  = "<!-- oap-gate report -->\n"
	checklistMark = "<!-- oap-gate checklist -->\n"
)

// About returns a line for each format, with what it is for.
func About(formats []Format) string {
	var b strings.Builder
	for _, f := range formats {
		fmt.Fprintf(&b, "  %-12s %s\n", f.Name, strings.ReplaceAll(f.About, "\n", "\n"+strings.Repeat(" ", 15)))
	}
	return b.String()
}

// Without returns Formats without the one of that name.
func Without(name string) []Format {
	return slices.DeleteFunc(slices.Clone(Formats), func(f Format) bool { return f.Name == name })
}

// Names returns the names of formats.
func Names(formats []Format) (names []string) { return NamesOf("", formats) }

// NamesOf returns the names of the formats that a command writes.
func NamesOf(command string, formats []Format) (names []string) {
	for _, f := range formats {
		if command == "" || f.Of == "" || slices.Contains(strings.Fields(f.Of), command) {
			names = append(names, f.Name)
		}
	}
	return names
}

// Write calls Count(r).Write.
func Write(w io.Writer, format string, r *verdict.Report, o Options) error {
	return Count(r).Write(w, format, o)
}

// Write writes the report to w in one of the formats of the options, as it goes. What it writes ends with a line break,
// unless there is an error. Several may write at once.
func (r *Counted) Write(w io.Writer, format string, o Options) error {
	known := o.format(format)
	if known == nil {
		return fmt.Errorf("%q is not a report format: known are %s", format, strings.Join(Names(o.formats()), ", "))
	}
	b := bufio.NewWriterSize(w, 1<<16)
	if err := cmp.Or(known.Write(b, r, o), r.Results.Err()); err != nil {
		return err
	}
	return b.Flush()
}

// format returns the format of that name, or nil.
func (o Options) format(name string) *Format {
	formats := o.formats()
	for i := range formats {
		if formats[i].Name == name {
			return &formats[i]
		}
	}
	return nil
}

func (o Options) formats() []Format {
	if o.Formats == nil {
		return Formats
	}
	return o.Formats
}

// byID are rules by their ids.
func byID(rules []verdict.Rule) map[string]verdict.Rule {
	all := map[string]verdict.Rule{}
	for _, rule := range rules {
		all[rule.ID] = rule
	}
	return all
}

// Counted is a report, and what there is to say about all its results before the first of them is written.
type Counted struct {
	*verdict.Report
	checks     []string // that have a result, in the order of their first
	verdicts   map[string]map[verdict.Verdict]int
	severities [4]int          // how many findings there are of each
	few        func() []placed // the findings, where they are no more than maxFew
	subjects   subjects
	decided    subjects         // those with a result that isDecided
	whole      []verdict.Result // of ofHistory on the registry as a whole
}

// maxFew is up to how many findings are kept once they were read.
const maxFew = 1 << 10

// subjects are how many there are, the first of them, and how many are of each of the kinds.
type subjects struct {
	count int
	first string
	kinds [len(kinds)]int
}

// kinds are the records of a registry by their directories.
var kinds = [...]struct{ directory, name string }{
	{"implementations/", "listing"},
	{"revocations/", "revocation"},
	{"peer-witnesses/", "peer witness"},
	{"workflow-anchors/", "workflow anchor"},
}

func (s *subjects) add(subject string) {
	if s.count++; s.count == 1 {
		s.first = subject
	}
	for i, kind := range kinds {
		if strings.HasPrefix(subject, kind.directory) {
			s.kinds[i]++
		}
	}
}

// Count reads through the results of a report.
func Count(r *verdict.Report) *Counted {
	all := &Counted{Report: r, verdicts: map[string]map[verdict.Verdict]int{}}
	all.few = sync.OnceValue(func() []placed { return slices.Collect(all.read) })
	for results := range bySubject(r) {
		all.subjects.add(results[0].Subject)
		if slices.ContainsFunc(results, isDecided) {
			all.decided.add(results[0].Subject)
		}
		for _, result := range results {
			n := all.verdicts[result.Check]
			if n == nil {
				n = map[verdict.Verdict]int{}
				all.verdicts[result.Check] = n
				all.checks = append(all.checks, result.Check)
			}
			n[result.Verdict]++
			if result.Subject == wholeRegistry && slices.Contains(ofHistory, result.Check) {
				all.whole = append(all.whole, result)
			}
			if isSilent(result) {
				continue
			}
			for f := range findingsOf(result) {
				all.severities[f.Severity]++
			}
		}
	}
	return all
}

// columns returns the checks that have a result: those of the catalogue first, in its order.
func (r *Counted) columns(rules []verdict.Rule) []string {
	var known []string
	for _, rule := range rules {
		if r.verdicts[rule.ID] != nil {
			known = append(known, rule.ID)
		}
	}
	for _, id := range r.checks {
		if !slices.Contains(known, id) {
			known = append(known, id)
		}
	}
	return known
}

// decidedColumns returns the columns without the requirements that people attest, which have nothing to show.
func (r *Counted) decidedColumns(rules []verdict.Rule) []string {
	return slices.DeleteFunc(r.columns(rules), func(check string) bool {
		n := r.verdicts[check]
		return len(n) == 1 && n[verdict.Manual] > 0
	})
}

// count returns how many results have a verdict.
func (r *Counted) count(v verdict.Verdict) int {
	sum := 0
	for _, n := range r.verdicts {
		sum += n[v]
	}
	return sum
}

// wholeRegistry is the subject of findings about the registry as a whole; every other subject is a path.
const wholeRegistry = "registry"

// placed is a finding with the check that made it and the place it is shown at.
type placed struct {
	verdict.Finding
	check   string
	path    string // the finding's file, else the subject
	subject string
}

const codeNoFinding = "no-finding"

// Codes explains the code of a result that blocks and has no finding.
var Codes = []strict.Code{{codeNoFinding, "the check decided nothing, since evidence that it needs is not available",
	"fix what the check that the message names reports; once it passes, this one is judged"}}

// OutputCodes explains the code of a file that no run replaces.
var OutputCodes = []strict.Code{{codeRefused, "a file that the run would replace holds something else than a former " +
	"output of the same format", "choose another file, or remove the file"}}

// findings returns the findings of the report in its order.
func (r *Counted) findings() iter.Seq[placed] {
	if sum(r.severities[:]) <= maxFew {
		return slices.Values(r.few())
	}
	return r.read
}

// read yields the findings of the report. Behind the last of them no more results are read.
func (r *Counted) read(yield func(placed) bool) {
	left := sum(r.severities[:])
	if left == 0 {
		return
	}
	for result := range r.Results.All() {
		if isSilent(result) {
			continue
		}
		for f := range findingsOf(result) {
			if left--; !yield(f) || left == 0 {
				return
			}
		}
	}
}

// isSilent reports whether findingsOf is empty, as for most results of an audit.
func isSilent(result verdict.Result) bool {
	_, blocks := blocking(result.Verdict)
	return !blocks && len(result.Findings) == 0
}

// findingsOf returns the findings of a result. A result that blocks without a finding, because its evidence was not
// available, is a finding itself, with its reason.
func findingsOf(result verdict.Result) iter.Seq[placed] {
	return func(yield func(placed) bool) {
		for _, f := range result.Findings {
			if !yield(placed{f, result.Check, cmp.Or(f.Path, result.Subject), result.Subject}) {
				return
			}
		}
		if severity, blocks := blocking(result.Verdict); blocks && len(result.Findings) == 0 {
			yield(placed{verdict.Finding{Severity: severity, Code: codeNoFinding,
				Message: cmp.Or(result.Reason, "no reason given")}, result.Check, result.Subject, result.Subject})
		}
	}
}

func blocking(v verdict.Verdict) (verdict.Severity, bool) {
	switch v {
	case verdict.Failed:
		return verdict.Error, true
	case verdict.Inconclusive:
		return verdict.Doubt, true
	}
	return 0, false
}
