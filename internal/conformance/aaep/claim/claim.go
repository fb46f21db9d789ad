// Package claim judges claims of AAEP conformance in a text, and the report that is to support them.
package claim

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
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/form"
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
	all := conformance.Tally{Catalogue: aaep.Catalogue}
	all.Add(aaep.ClaimText.ID, c.Path, o.OrPass())
	all.Add(aaep.ClaimReport.ID, cmp.Or(c.ReportPath, c.Path), report.OrPass())
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
	ours     bool            // this tool wrote it, in either form
	role     string          // Producer or Subscriber, if this tool wrote it
	suite    *string         // version of the AAEP suite; nil: the report has the form of this tool
	day      time.Time       // when the run ended
	passes   map[string]bool // by check or test, whether it passed, with warnings or without
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
	for _, rule := range aaep.Rules {
		_, listed := r.passes[rule.ID]
		if strings.ToLower(r.role) != rule.Role || rule.Level > level || aaep.ByOther(rule) {
			continue
		}
		switch {
		case rule.Method == verdict.Mechanical && !listed:
			missing = append(missing, rule.ID)
		// From level 2 on a claim of a producer requires a running one; all checks of a subscriber are live.
		case rule.Method == verdict.Live && (rule.Level > 1 || rule.Role == aaep.Subscriber) && !r.passes[rule.ID]:
			o.Errorf(at, "", "claim-live-not-run", "%s was not run: %s", rule.ID, rule.Title)
		}
	}
	switch {
	case len(missing) > 0:
		o.Errorf(at, "", "report-form", "the report has no result of %s: it is of a run with --single or "+
			"--summary-only", strings.Join(missing, ", "))
	case len(r.passes) == 0:
		o.Errorf(at, "", "report-form", "the report lists no test")
	}
	for _, s := range claims {
		r.compare(s, &o)
	}
	if r.ours && level > 0 {
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
	if !r.ours && s.suite != *r.suite {
		differs("suite version", s.suite, *r.suite)
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
	list := func(of any, name string) []any {
		all, _ := strict.Member(of, name).([]any)
		return all
	}
	_, tool := strict.Member(root, "tool").(aaep.Object)
	_, numbered := strict.Member(root, "conformance_level").(json.Number)
	r = reported{verdict: strict.String(root, "verdict"), passes: map[string]bool{}}
	level, ended, id, rows := "level", "evaluated_at", "check", list(root, "results")
	switch {
	case tool && strict.Member(root, "version") == json.Number("1"):
		if mode, protocol := strict.String(root, "mode"), strict.String(root, "protocol"); mode != "conformance" ||
			protocol != "aaep" {
			return r, fmt.Sprintf("the report is of mode %q and protocol %q; expected conformance and aaep",
				plain.Cut(mode, 40), plain.Cut(protocol, 40))
		}
		r.ours, r.passed = true, r.verdict == string(verdict.Passed)
	case numbered:
		level, ended, id = "conformance_level", "completed_at", "test_id"
		rows = slices.Concat(list(root, "test_results"), list(root, "failures"))
		suite := strict.String(root, "suite_version")
		r.suite, r.passed = &suite, r.verdict == "PASS"
		r.ours = strict.String(root, "metadata", "tool") == "oap-gate"
	default:
		return r, "the file is neither a report of oap-gate nor one of the AAEP suite: it has no conformance_level"
	}
	failed := map[string]bool{} // tests may be listed twice
	for _, one := range rows {
		name, passed, severity := strict.String(one, id), false, ""
		if r.suite == nil {
			v := strict.String(one, "verdict")
			passed = v == string(verdict.Passed) || v == string(verdict.Warned)
			for _, f := range list(one, "findings") {
				if strict.String(f, "severity") == "error" {
					r.failures++
				}
			}
		} else {
			severity = strict.String(one, "severity")
			passed = strict.Member(one, "passed") == true || severity == "warning"
		}
		if name != "" {
			r.passes[name] = r.passes[name] || passed
		}
		if test := name + "\n" + strict.String(one, "description"); severity == "error" && !passed && !failed[test] {
			failed[test] = true
			r.failures++
		}
	}
	if r.ours {
		r.role = r.roleOf()
	}
	of, _ := form.Integer(strict.Member(root, level))
	r.level = int(of)
	at, err := time.Parse(time.RFC3339, strict.String(root, ended))
	if err != nil {
		return r, fmt.Sprintf("the report ended at %q; expected a time like 2026-08-15T10:00:00Z in evaluated_at or "+
			"completed_at", plain.Cut(strict.String(root, ended), 40))
	}
	r.day = at.UTC()
	return r, ""
}

// roleOf returns whose report it is: that of a subscriber has a row of a subscriber, and none of a producer.
func (r *reported) roleOf() string {
	of := map[string]bool{}
	for _, rule := range aaep.Rules {
		_, listed := r.passes[rule.ID]
		of[rule.Role] = of[rule.Role] || listed
	}
	if of[aaep.Subscriber] && !of[aaep.Producer] {
		return "Subscriber"
	}
	return "Producer"
}

// ClaimRows returns the requirements for a claim. People compare its level with that of its profile, unless the level
// of the profile is known.
func ClaimRows(profileLevel int) []verdict.Rule {
	return slices.DeleteFunc(aaep.RowsOf(aaep.Claimant, 0), func(r verdict.Rule) bool {
		return r.ID == aaep.ProfileRow && profileLevel > 0
	})
}
