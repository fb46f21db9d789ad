package aaep

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/openagentprotocol-OAP/oap-gate/internal/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// Limits of a claim.
const (
	MaxText   = 1 << 20  // bytes of the text
	MaxReport = 16 << 20 // bytes of the report
)

// Claim is what is said of an implementation, and the report that is to bear it out.
type Claim struct {
	Path   string // of the text, for findings
	Text   []byte
	Now    time.Time
	MaxAge time.Duration // of the verification

	ReportPath string // empty: no report is given
	Report     []byte
}

// statement is one sentence that claims conformance.
type statement struct {
	verdict.At
	text      string
	level     int // 0: none is named
	certified bool
}

var (
	// claims are the words by which conformance is claimed, on either side of the protocol's name; nouns with a level
	// alone, since titles have them too.
	claims = plain.Pattern(`(?is)\bAAEP\b(?:[^.!?]|\.\d){0,80}?\b(?:conformant|conforming|compliant|certified)\b` +
		`|\bAAEP[\s-]+(?:Level[\s-]*|L)\d+\s+(?:conformance|compliance|certification)\b` +
		`|\b(?:conforms?\s+(?:to|with)|conformant\s+(?:to|with)|compl(?:ies|y)\s+with|compliant\s+(?:to|with)|` +
		`certified\s+(?:by|for|against))\s+(?:the\s+)?AAEP\b`)
	denials = plain.Pattern(`(?is)\b(not|no|never|isn't|aren't|neither|nor|without)(\s+\S+){0,2}\s*$`)

	levelAfter  = plain.Pattern(`(?is)\bAAEP[\s-]+(?:Level[\s-]*|L)(\d+(?:\.\d+)*)\b`)
	levelBefore = plain.Pattern(`(?is)\b(?:Level[\s-]*|L)(\d+(?:\.\d+)*)\s+AAEP\b`)
	levelAny    = plain.Pattern(`(?is)\blevel[\s-]*(\d+(?:\.\d+)*)\b`)
	suiteNamed  = plain.Pattern(`(?is)\b(?:suite|oap-gate)\s+(?:version\s+)?v?(\d+\.\d+\S*)`)
	dayNamed    = plain.Pattern(`\b(\d{4})-(\d{2})-(\d{2})\b`)
	sentenceEnd = plain.Pattern(`(?s)[.!?]["')\]*_]*(?:\s|$)|\n[ \t\r]*\n`)
)

// statements finds the sentences of a text that claim conformance.
func statements(path string, text []byte) []*statement {
	text = blanked(text)
	var all []*statement
	begin, line, counted, newline := 0, 1, 0, -1
	for _, end := range sentenceEnd().FindAllIndex(append(text[:len(text):len(text)], '\n', '\n'), -1) {
		sentence, from := text[begin:min(end[0]+1, len(text))], begin
		begin = min(end[1], len(text))
		var s *statement
		for _, found := range claims().FindAllIndex(sentence, -1) {
			if denials().Match(sentence[max(0, found[0]-64):found[0]]) {
				continue
			}
			if s == nil {
				start := from + found[0]
				if last := bytes.LastIndexByte(text[counted:start], '\n'); last >= 0 {
					line, newline = line+bytes.Count(text[counted:start], []byte("\n")), counted+last
				}
				counted = start
				s = &statement{At: verdict.At{Path: path, Line: line, Column: start - newline}, text: string(sentence)}
			}
			words := string(sentence[found[0]:found[1]])
			s.certified = s.certified || strings.Contains(strings.ToLower(words), "certif")
			for _, named := range []*regexp.Regexp{levelAfter(), levelAny()} {
				for _, m := range named.FindAllStringSubmatch(words, -1) {
					s.level = max(s.level, levelOf(m[1]))
				}
			}
		}
		if s == nil {
			continue
		}
		for _, named := range []*regexp.Regexp{levelAfter(), levelBefore(), levelAny()} {
			if m := named.FindStringSubmatch(s.text); s.level == 0 && m != nil {
				s.level = levelOf(m[1])
				break
			}
		}
		all = append(all, s)
	}
	return all
}

// levelOf is the level that digits name; 0: none.
func levelOf(digits string) int {
	n, _ := strconv.Atoi(digits) // 2.5 is 0, and what overflows is the largest
	return n
}

// blanked is a text with all blanks, such as one that does not break, as those of ASCII, each byte in its place.
func blanked(text []byte) []byte {
	text = bytes.Clone(text)
	for i, r := range string(text) {
		if r >= utf8.RuneSelf && unicode.IsSpace(r) {
			copy(text[i:i+utf8.RuneLen(r)], "   ")
		}
	}
	return text
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
	var results []verdict.Result
	for _, found := range []struct {
		id, subject string
		verdict.Outcome
	}{{claimText, c.Path, o}, {claimReport, cmp.Or(c.ReportPath, c.Path), report}} {
		r, err := resultOf(found.id, found.subject, found.OrPass())
		if err != nil {
			return nil, 0, err
		}
		results = append(results, r)
	}
	return results, level, nil
}

func (c *Claim) judge(s *statement, o *verdict.Outcome) {
	switch {
	case s.level == 0:
		o.Errorf(s, "", "claim-level", "the claim names no level, one of 1 to 3 is needed: %s", quoted(s.text))
	case s.level > 3:
		o.Errorf(s, "", "claim-level", "the claim names level %d, there are 1 to 3: %s", s.level, quoted(s.text))
	}
	if s.certified {
		o.Errorf(s, "", "claim-certified", "the claim says certified, and nobody certifies: AAEP verifies, by "+
			"anyone: %s",
			quoted(s.text))
	}
	if !suiteNamed().MatchString(s.text) {
		o.Warnf(s, "", "claim-suite", "the claim names no version of the suite by which it was verified: %s",
			quoted(s.text))
	}
	day := dayNamed().FindString(s.text)
	if day == "" {
		o.Warnf(s, "", "claim-date", "the claim names no day of verification: %s", quoted(s.text))
		return
	}
	at, err := time.Parse(time.DateOnly, day)
	switch {
	case err != nil:
		o.Errorf(s, "", "claim-date", "the claim names %s, which is no day", day)
	case at.Add(-14 * time.Hour).After(c.Now): // a day begins first at UTC+14
		o.Errorf(s, "", "claim-date", "the claim was verified on %s, which is yet to come", day)
	case c.Now.Sub(at) > c.MaxAge:
		o.Warnf(s, "", "claim-date", "the claim was verified on %s, %d days ago; at most %d are good", day,
			int(c.Now.Sub(at).Hours()/24),
			int(c.MaxAge.Hours()/24))
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
	notRun   map[string]bool // checks of this tool; nil: the report is another tool's
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
		o.Errorf(at, "", "claim-not-passed", "the verdict of the report is %s, a pass is needed",
			strconv.Quote(plain.Cut(r.verdict, 40)))
	}
	if r.failures > 0 {
		o.Errorf(at, "", "claim-with-failures", "the report lists %s of severity error",
			plain.Count(r.failures, "failure"))
	}
	for _, rule := range Rules {
		if r.notRun != nil && r.notRun[rule.ID] && rule.Level > 1 && rule.Level <= level {
			o.Errorf(at, "", "claim-live-not-run", "%s was not run: %s", rule.ID, rule.Title)
		}
	}
	if level == 0 && len(o.Findings) == 0 {
		return verdict.Skip("no claim names a level")
	}
	return o
}

// readReport reads the report of this tool, or of the AAEP suite. What is wrong with it is told instead.
func readReport(root any) (r reported, wrong string) {
	_, tool := strict.Member(root, "tool").(map[string]any)
	level, numbered := strict.Member(root, "conformance_level").(json.Number)
	switch {
	case tool && strict.Member(root, "version") == json.Number("1"):
		if mode, protocol := strict.String(root, "mode"), strict.String(root, "protocol"); mode != "conformance" ||
			protocol != "aaep" {
			return r, fmt.Sprintf("the report is of mode %q and protocol %q, conformance and aaep are needed",
				plain.Cut(mode, 40),
				plain.Cut(protocol, 40))
		}
		number, _ := strict.Member(root, "level").(json.Number)
		of, _ := integer(number)
		r = reported{level: int(of), verdict: strict.String(root, "verdict"), notRun: liveRows()}
		r.passed = r.verdict == string(verdict.Passed)
		results, _ := strict.Member(root, "results").([]any)
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
		if strict.String(root, "metadata", "tool") == "oap-gate" {
			r.notRun = liveRows()
		}
		tests, _ := strict.Member(root, "test_results").([]any)
		failures, _ := strict.Member(root, "failures").([]any)
		seen := map[string]bool{}
		for _, one := range slices.Concat(tests, failures) {
			name := strict.String(one, "test_id") + "\n" + strict.String(one, "description")
			switch passed, _ := strict.Member(one, "passed").(bool); {
			case passed:
				delete(r.notRun, strict.String(one, "test_id"))
			case strict.String(one, "severity") == "error" && !seen[name]:
				seen[name] = true
				r.failures++
			case strict.String(one, "severity") == "warning":
				delete(r.notRun, strict.String(one, "test_id"))
			}
		}
	default:
		return r, "the file is neither a report of oap-gate nor one of the AAEP suite: it has no conformance_level"
	}
	return r, ""
}

// liveRows are the checks that ask a running producer.
func liveRows() map[string]bool {
	rows := map[string]bool{}
	for _, rule := range Rules {
		if rule.Method == verdict.Live && rule.Role == producer {
			rows[rule.ID] = true
		}
	}
	return rows
}

// ClaimRows are the requirements that bear on a claim.
func ClaimRows() []verdict.Rule {
	return slices.DeleteFunc(slices.Clone(Rules), func(r verdict.Rule) bool { return r.Role != claimant })
}
