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
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// Limits of a claim.
const (
	MaxText   = 1 << 20  // bytes of the text
	MaxReport = 16 << 20 // bytes of the report
)

// Claim is a text that claims conformance, and the report that is to support it.
type Claim struct {
	Path   string // path of the text, for findings
	Text   []byte // UTF-8
	Now    time.Time
	MaxAge time.Duration // maximum age of the verification

	ProfileLevel int    // the level that the claimed profile requires; 0: it is not known
	ReportPath   string // empty: no report is given
	Report       []byte
}

// Judge gives the results of a claim, and the highest level that it names.
func (c *Claim) Judge() ([]verdict.Result, int, error) {
	said := readClaim(c.Path, c.Text)
	level := 0
	for _, s := range said.sentences {
		if s.level <= 3 {
			level = max(level, s.level)
		}
	}
	report, supports := verdict.Skip("no report is given"), reported{}
	if c.ReportPath != "" {
		report, supports = c.judgeReport(said.sentences, level)
	}
	var o verdict.Outcome
	if len(said.sentences) == 0 {
		of := "N"
		if supports.level > 0 {
			of = strconv.FormatInt(int64(supports.level), 10)
		}
		o.Doubtf(verdict.At{Path: c.Path}, "", "no-claim", "the text has no claim of AAEP conformance in the form of "+
			"section 9.8").WithFix("write %q", "NAME is AAEP Level "+of+
			" conformant, verified by AAEP Conformance Suite version V on YYYY-MM-DD.")
	}
	for _, s := range said.sentences {
		c.judge(s, &o)
	}
	for _, p := range said.phrases {
		if p.certified {
			o.Errorf(p, "", "claim-certified", "the text says %s; AAEP verifies, and nobody certifies", quoted(p.text))
		} else {
			o.Errorf(p, "", "claim-level", "the text says %s without a level; expected AAEP Level 1, 2 or 3",
				quoted(p.text)).WithFix("name the level: AAEP Level 1, 2 or 3 conformant; or quote the phrase")
		}
	}
	if said.above != nil && len(said.sentences) > 0 {
		o.Warnf(said.above, "", "level-elsewhere", "the text says %s; its claims are of level %d at most",
			quoted(said.above.text), level)
	}
	all := conformance.Tally{Catalogue: catalogue}
	all.Add(claimText.ID, c.Path, o.OrPass())
	all.Add(claimReport.ID, cmp.Or(c.ReportPath, c.Path), report.OrPass())
	return all.Results, level, all.Err
}

func (c *Claim) judge(s sentence, o *verdict.Outcome) {
	switch {
	case s.level < 1 || s.level > 3:
		o.Errorf(s, "", "claim-level", "the claim names no level from 1 to 3: %s", quoted(s.text))
	case s.profile != "" && s.level < c.ProfileLevel:
		o.Errorf(s, "", "claim-level", "the claim is of level %d; its profile requires level %d", s.level,
			c.ProfileLevel)
	}
	switch m := profileForm().FindStringSubmatch(s.profile); {
	case s.profile == "":
	case m == nil:
		o.Errorf(s, "", "claim-profile", "the claim names the profile %s; expected a version like v1 after it, and "+
			"then its URI in parentheses", quoted(s.profile))
	case m[1] == "":
		o.Warnf(s, "", "claim-profile", "the claim names the profile %s without its URI", quoted(s.profile))
	}
	switch {
	case s.day.IsZero():
		o.Errorf(s, "", "claim-date", "the claim names %s, which is not a day of the calendar", s.date)
	case s.day.Add(-24 * time.Hour).After(c.Now): // the day begins earlier in the east
		o.Errorf(s, "", "claim-date", "the claim was verified on %s, which is in the future", s.date)
	case c.Now.Sub(s.day) > c.MaxAge:
		o.Warnf(s, "", "claim-date", "the claim was verified on %s, %d days ago; expected at most %d", s.date,
			int(c.Now.Sub(s.day).Hours()/24), int(c.MaxAge.Hours()/24))
	}
}

func quoted(text string) string { return strconv.Quote(plain.Cut(text, 160)) }

// reported is what a report says, in either of the forms that are known.
type reported struct {
	level    int
	passed   bool
	verdict  string
	failures int             // of severity error
	role     string          // Producer or Subscriber, if this tool wrote it
	suite    string          // version of the AAEP suite; empty: this tool wrote it
	day      time.Time       // when the run ended
	notRun   map[string]bool // checks of this tool; nil: the report is another tool's
	results  map[string]bool // checks and tests that have a result, of any verdict
}

// judgeReport compares the claims with the report, which answers for each of them.
func (c *Claim) judgeReport(claims []sentence, level int) (o verdict.Outcome, r reported) {
	at := verdict.At{Path: c.ReportPath}
	document, err := strict.Parse(c.ReportPath, c.Report, strict.Limits{Bytes: MaxReport, Depth: 64, Number: 64,
		Values: 1 << 19})
	if err != nil {
		fault := err.(*strict.Error)
		o.Errorf(verdict.At(fault.Pos), fault.Pointer, fault.Code, "%s", fault.Message)
		return o, r
	}
	r, what := readReport(document.Root)
	if what != "" {
		o.Errorf(at, "", "report-form", "%s", what)
		return o, r
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
	for _, rule := range Rules {
		if r.notRun != nil && r.notRun[rule.ID] && rule.Level <= level {
			o.Errorf(at, "", "claim-live-not-run", "%s was not run: %s", rule.ID, rule.Title)
		}
	}
	for _, check := range streamRules {
		if r.role == "Producer" && check.Level <= level && !r.results[check.ID] {
			missing = append(missing, check.ID)
		}
	}
	switch {
	case len(missing) > 0:
		o.Errorf(at, "", "report-form", "the report has no result of %s: it is of a run with --single or "+
			"--summary-only", strings.Join(missing, ", "))
	case len(r.results) == 0:
		o.Errorf(at, "", "report-form", "the report lists no test")
	}
	for _, s := range claims {
		r.compare(s, &o)
	}
	if r.notRun != nil && level > 0 {
		o.Warnf(at, "", "claim-suite", "the report is of oap-gate; the claim says AAEP Conformance Suite version %s",
			quoted(claims[0].suite))
	}
	if level == 0 && len(o.Findings) == 0 {
		return verdict.Skip("no claim names a level"), r
	}
	return o, r
}

// compare compares the parts of a claim that are the report's.
func (r *reported) compare(s sentence, o *verdict.Outcome) {
	differs := func(what, claim, report string) {
		o.Errorf(s, "", "claim-differs", "the claim names the %s %s; the report is of %s", what, quoted(claim),
			quoted(report))
	}
	if r.notRun == nil && s.suite != r.suite {
		differs("suite version", s.suite, r.suite)
	}
	if s.role != "" && r.role != "" && s.role != r.role {
		differs("role", s.role, r.role)
	}
	if d := r.day.Sub(s.day); !s.day.IsZero() && (d < -24*time.Hour || d >= 48*time.Hour) {
		differs("day", s.date, r.day.Format(time.DateOnly))
	}
}

// readReport reads the report of this tool, or of the AAEP suite. If it cannot, wrong says why.
func readReport(root any) (r reported, wrong string) {
	_, tool := strict.Member(root, "tool").(object)
	level, numbered := strict.Member(root, "conformance_level").(json.Number)
	ended := ""
	switch {
	case tool && strict.Member(root, "version") == json.Number("1"):
		if mode, protocol := strict.String(root, "mode"), strict.String(root, "protocol"); mode != "conformance" ||
			protocol != "aaep" {
			return r, fmt.Sprintf("the report is of mode %q and protocol %q; expected conformance and aaep",
				plain.Cut(mode, 40), plain.Cut(protocol, 40))
		}
		of, _ := integer(strict.Member(root, "level"))
		r = reported{level: int(of), verdict: strict.String(root, "verdict")}
		r.passed, ended = r.verdict == string(verdict.Passed), strict.String(root, "evaluated_at")
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
		r = reported{level: int(of), verdict: strict.String(root, "verdict"),
			suite: strict.String(root, "suite_version")}
		r.passed, ended = r.verdict == "PASS", strict.String(root, "completed_at")
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
	var err error
	if r.day, err = time.Parse(time.RFC3339, ended); err != nil {
		return r, fmt.Sprintf("the report ended at %q; expected a time like 2026-08-15T10:00:00Z in evaluated_at or "+
			"completed_at", plain.Cut(ended, 40))
	}
	r.day = r.day.UTC()
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
	if !ours {
		return
	}
	r.role, r.notRun = "Producer", liveRows(producer)
	if of[subscriber] && !of[producer] {
		r.role, r.notRun = "Subscriber", liveRows(subscriber)
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

// ClaimRows returns the requirements for a claim. People compare its level with that of its profile, unless the level
// of the profile is known.
func ClaimRows(profileLevel int) []verdict.Rule {
	return slices.DeleteFunc(rowsOf(claimant, 0), func(r verdict.Rule) bool {
		return r.ID == profileRow && profileLevel > 0
	})
}
