// Package report writes a verdict.Report as bytes: for people, for machines, for a forge.
//
// Every string of a Report is held to be hostile, check ids and verdicts included: a report may be read
// from a file that a stranger made. Each writer is a function of the report and its options alone.
package report

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// Options is what a writer may be told. Each writer ignores what it has no use for.
type Options struct {
	// Color makes text use ANSI colours. Nothing else decides that: neither the environment nor the
	// kind of output.
	Color bool
	// MaxAnnotations is how many annotations of each severity the github format makes, 0 to 9, before one
	// that counts the rest; 0 makes none at all.
	MaxAnnotations int
	// MaxBytes caps the markdown format; 0 stands for MaxSummary. Less than 16 KiB counts as 16 KiB.
	MaxBytes int
	// Rules describes the checks in catalogue order.
	Rules []verdict.Rule
}

var writers = []struct {
	format string
	write  func(*bytes.Buffer, *verdict.Report, Options) error
}{
	{"text", writeText},
	{"json", writeJSON},
	{"github", writeGitHub},
	{"markdown", writeMarkdown},
	{"sarif", writeSARIF},
	{"junit", writeJUnit},
	{"html", writeHTML},
	{"prometheus", writePrometheus},
	{"checklist", writeChecklist},
	{"aaep", writeAAEP},
}

// Formats are the names that Write knows.
var Formats = formats()

func formats() []string {
	var names []string
	for _, w := range writers {
		names = append(names, w.format)
	}
	return names
}

// Write writes r to w in one of Formats. What it writes ends with a line break; w gets it in one call, or
// nothing where the report cannot be told.
func Write(w io.Writer, format string, r *verdict.Report, o Options) error {
	var b bytes.Buffer
	if err := render(&b, format, r, o); err != nil {
		return err
	}
	_, err := w.Write(b.Bytes())
	return err
}

func render(b *bytes.Buffer, format string, r *verdict.Report, o Options) error {
	for _, w := range writers {
		if w.format == format {
			return cmp.Or(w.write(b, r, o), r.Results.Err())
		}
	}
	return fmt.Errorf("%q is not a report format: known are %s", format, strings.Join(Formats, ", "))
}

// columns are the checks that have a result: those of the catalogue first, in its order.
func columns(r *verdict.Report, rules []verdict.Rule) []string {
	var ids, known []string
	seen := map[string]bool{}
	for result := range r.Results.All() {
		if !seen[result.Check] {
			seen[result.Check] = true
			ids = append(ids, result.Check)
		}
	}
	for _, rule := range rules {
		if seen[rule.ID] {
			known = append(known, rule.ID)
		}
	}
	for _, id := range ids {
		if !slices.Contains(known, id) {
			known = append(known, id)
		}
	}
	return known
}

// bySubject groups the results of a subject, in the order of the report.
func bySubject(r *verdict.Report) [][]verdict.Result {
	at := map[string]int{}
	var groups [][]verdict.Result
	for result := range r.Results.All() {
		i, ok := at[result.Subject]
		if !ok {
			i = len(groups)
			at[result.Subject] = i
			groups = append(groups, nil)
		}
		groups[i] = append(groups[i], result)
	}
	return groups
}

// wholeRegistry is the subject of findings about the registry as a whole; every other subject is a path.
const wholeRegistry = "registry"

// placed is a finding with the check that made it and the place it is shown at.
type placed struct {
	verdict.Finding
	check string
	path  string // the finding's file, else the subject
}

const codeNoFinding = "no-finding"

// Codes explains the code of a result that blocks and has no finding.
var Codes = []strict.Code{{codeNoFinding, "the check decided nothing, since evidence that it needs could not be had",
	"see the check that the message names; once it passes, this one is judged"}}

// findings are all findings of the report in its order. A result that blocks and has none, because the
// evidence it needed was not to be had, stands for itself by its reason.
func findings(r *verdict.Report) []placed {
	var all []placed
	for result := range r.Results.All() {
		for _, f := range result.Findings {
			path := f.Path
			if path == "" {
				path = result.Subject
			}
			all = append(all, placed{f, result.Check, path})
		}
		if severity, blocks := blocking(result.Verdict); blocks && len(result.Findings) == 0 {
			f := verdict.Finding{Severity: severity, Code: codeNoFinding, Message: result.Reason}
			if f.Message == "" {
				f.Message = "no reason given"
			}
			all = append(all, placed{f, result.Check, result.Subject})
		}
	}
	return all
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
