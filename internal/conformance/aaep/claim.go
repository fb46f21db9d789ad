package aaep

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// Limits of a claim.
const (
	MaxText   = 1 << 20  // bytes of the text
	MaxReport = 16 << 20 // bytes of the report
)

// Claim is a statement about an implementation, and the report that is to support it.
type Claim struct {
	Path   string // path of the text, for findings
	Text   []byte
	Now    time.Time
	MaxAge time.Duration // maximum age of the verification

	ReportPath string // empty: no report is given
	Report     []byte
}

// Judge gives the results of a claim, and the highest level that it names.
func (c *Claim) Judge() ([]verdict.Result, int, error) {
	var o verdict.Outcome
	level := 0
	said := statements(c.Path, c.Text)
	if len(said) == 0 {
		o.Doubtf(verdict.At{Path: c.Path}, "", "no-claim", "the text holds no claim of AAEP conformance")
	}
	for _, s := range said {
		c.judge(s, &o)
		if s.level <= 3 {
			level = max(level, s.level)
		}
		if len(o.Findings) >= maxListed && o.Has(verdict.Error) {
			break
		}
		o.Findings = o.Findings[:min(len(o.Findings), maxListed)]
	}
	report := verdict.Skip("no report is given")
	if c.ReportPath != "" {
		report = c.judgeReport(level)
	}
	var all tally
	all.addFixed(claimText, c.Path, o.OrPass())
	all.addFixed(claimReport, cmp.Or(c.ReportPath, c.Path), report.OrPass())
	return all.results, level, all.err
}

func (c *Claim) judge(s *statement, o *verdict.Outcome) {
	said := quoted(s.text)
	switch {
	case s.level == 0:
		o.Errorf(s, "", "claim-level", "the claim names no level; expected 1, 2 or 3: %s", said)
	case s.level > 3:
		o.Errorf(s, "", "claim-level", "the claim names level %d; expected 1, 2 or 3: %s", s.level, said)
	}
	if s.certified {
		o.Errorf(s, "", "claim-certified", "the claim says certified; AAEP verifies, and nobody certifies: %s", said)
	}
	switch {
	case s.profile && !s.version:
		o.Errorf(s, "", "claim-profile", "the claim names a profile without its version: %s", said)
	case s.profile && !s.uri:
		o.Warnf(s, "", "claim-profile", "the claim names a profile without its URI: %s", said)
	}
	if !s.suite {
		o.Warnf(s, "", "claim-suite", "the claim names no version of the suite that verified it: %s", said)
	}
	switch {
	case s.date == "":
		o.Warnf(s, "", "claim-date", "the claim names no day of verification: %s", said)
	case s.day.IsZero():
		o.Errorf(s, "", "claim-date", "the claim names %s, which is not a day of the calendar", s.date)
	case s.day.Add(-24 * time.Hour).After(c.Now): // the day begins earlier in the east
		o.Errorf(s, "", "claim-date", "the claim was verified on %s, which is in the future", s.date)
	case c.Now.Sub(s.day) > c.MaxAge:
		o.Warnf(s, "", "claim-date", "the claim was verified on %s, %d days ago; expected at most %d", s.date,
			int(c.Now.Sub(s.day).Hours()/24), int(c.MaxAge.Hours()/24))
	}
}

func quoted(text string) string {
	return strconv.Quote(plain.Cut(strings.Join(strings.Fields(text), " "), 160))
}

// reported is what a report says, in either of the forms that are known.
type reported struct {
	level    int
	passed   bool
	verdict  string
	failures int             // of severity error
	producer bool            // this tool wrote it about a producer
	notRun   map[string]bool // checks of this tool; nil: the report is another tool's
	results  map[string]bool // checks and tests that have a result, of any verdict
}

func (c *Claim) judgeReport(level int) verdict.Outcome {
	var o verdict.Outcome
	at := verdict.At{Path: c.ReportPath}
	document, err := strict.Parse(c.ReportPath, c.Report, strict.Limits{Bytes: MaxReport, Depth: 64, Number: 64,
		Values: 1 << 19})
	if err != nil {
		fault := err.(*strict.Error)
		o.Errorf(verdict.At(fault.Pos), fault.Pointer, fault.Code, "%s", fault.Message)
		return o
	}
	r, what := readReport(document.Root)
	if what != "" {
		o.Errorf(at, "", "report-form", "%s", what)
		return o
	}
	if r.level < level {
		o.Errorf(at, "", "claim-above-report", "the claim is of level %d, the report of level %d", level, r.level)
	}
	if !r.passed {
		o.Errorf(at, "", "claim-not-passed", "the verdict of the report is %s; expected a pass",
			strconv.Quote(plain.Cut(r.verdict, 40)))
	}
	if r.failures > 0 {
		o.Errorf(at, "", "claim-with-failures", "the report lists %s of severity error",
			plain.Count(r.failures, "failure"))
	}
	var missing []string
	for i, rule := range Rules {
		if r.notRun != nil && r.notRun[rule.ID] && rule.Level <= level {
			o.Errorf(at, "", "claim-live-not-run", "%s was not run: %s", rule.ID, rule.Title)
		}
		owed := r.producer && i < streamChecks && rule.Level <= level
		if owed && !r.results[rule.ID] {
			missing = append(missing, rule.ID)
		}
	}
	switch {
	case len(missing) > 0:
		o.Errorf(at, "", "report-form", "the report has no result of %s: it is of a run with --single or "+
			"--summary-only", strings.Join(missing, ", "))
	case len(r.results) == 0:
		o.Errorf(at, "", "report-form", "the report lists no test")
	}
	if level == 0 && len(o.Findings) == 0 {
		return verdict.Skip("no claim names a level")
	}
	return o
}

// readReport reads the report of this tool, or of the AAEP suite. If it cannot, wrong says why.
func readReport(root any) (r reported, wrong string) {
	_, tool := strict.Member(root, "tool").(map[string]any)
	level, numbered := strict.Member(root, "conformance_level").(json.Number)
	switch {
	case tool && strict.Member(root, "version") == json.Number("1"):
		if mode, protocol := strict.String(root, "mode"), strict.String(root, "protocol"); mode != "conformance" ||
			protocol != "aaep" {
			return r, fmt.Sprintf("the report is of mode %q and protocol %q; expected conformance and aaep",
				plain.Cut(mode, 40), plain.Cut(protocol, 40))
		}
		of, _ := integer(strict.Member(root, "level"))
		r = reported{level: int(of), verdict: strict.String(root, "verdict")}
		r.passed = r.verdict == string(verdict.Passed)
		results, _ := strict.Member(root, "results").([]any)
		r.owes(results, "check", true)
		for _, one := range results {
			if v := strict.String(one, "verdict"); v == string(verdict.Passed) || v == string(verdict.Warned) {
				delete(r.notRun, strict.String(one, "check"))
			}
			findings, _ := strict.Member(one, "findings").([]any)
			for _, f := range findings {
				if strict.String(f, "severity") == "error" {
					r.failures++
				}
			}
		}
	case numbered:
		of, _ := integer(level)
		r = reported{level: int(of), verdict: strict.String(root, "verdict")}
		r.passed = r.verdict == "PASS"
		tests, _ := strict.Member(root, "test_results").([]any)
		failures, _ := strict.Member(root, "failures").([]any)
		all := slices.Concat(tests, failures)
		r.owes(all, "test_id", strict.String(root, "metadata", "tool") == "oap-gate")
		seen := map[string]bool{}
		for _, one := range all {
			id, severity := strict.String(one, "test_id"), strict.String(one, "severity")
			name := id + "\n" + strict.String(one, "description")
			switch passed := strict.Member(one, "passed") == true; {
			case passed || severity == "warning":
				delete(r.notRun, id)
			case severity == "error" && !seen[name]:
				seen[name] = true
				r.failures++
			}
		}
	default:
		return r, "the file is neither a report of oap-gate nor one of the AAEP suite: it has no conformance_level"
	}
	return r, ""
}

// owes takes the results of a report, by the member that is their id, and finds what a report of this tool owes. That
// of a subscriber has a row of a subscriber, and none of a producer.
func (r *reported) owes(results []any, id string, ours bool) {
	r.results = map[string]bool{}
	for _, one := range results {
		if name := strict.String(one, id); name != "" {
			r.results[name] = true
		}
	}
	of := map[string]bool{}
	for _, rule := range Rules {
		of[rule.Role] = of[rule.Role] || r.results[rule.ID]
	}
	role := producer
	if of[subscriber] && !of[producer] {
		role = subscriber
	}
	if ours {
		r.notRun, r.producer = liveRows(role), role == producer
	}
}

// liveRows returns the checks that ask a running producer, or a running subscriber. From level 2 on a claim of a
// producer requires them; all checks of a subscriber are live.
func liveRows(role string) map[string]bool {
	rows := map[string]bool{}
	for _, rule := range Rules {
		owed := rule.Role == role && (rule.Level > 1 || role == subscriber)
		if owed && rule.Method == verdict.Live && !byOther(rule) {
			rows[rule.ID] = true
		}
	}
	return rows
}

// ClaimRows returns the requirements for a claim.
func ClaimRows() []verdict.Rule { return rowsOf(claimant, 0) }
