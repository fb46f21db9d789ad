package report

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"strconv"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// JUnit's XML: a suite for each subject, a case for each check. Every text goes through Line first, which
// leaves no character that XML cannot hold.
type (
	junitCounts struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Skipped  int `xml:"skipped,attr"`
	}
	junitSuite struct {
		XMLName xml.Name `xml:"testsuite"`
		Name    string   `xml:"name,attr"`
		junitCounts
		Cases []junitCase `xml:"testcase"`
		Out   string      `xml:"system-out,omitempty"`
	}
	junitCase struct {
		Name    string        `xml:"name,attr"`
		Class   string        `xml:"classname,attr"`
		Skipped *junitOutcome `xml:"skipped"`
		Error   *junitOutcome `xml:"error"`
		Failure *junitOutcome `xml:"failure"`
		Out     string        `xml:"system-out,omitempty"`
	}
	junitOutcome struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// writeJUnit reports a failed result as a failure. It reports an inconclusive result, or what kept the gate from
// running, as an error.
func writeJUnit(b *bufio.Writer, r *Counted, _ Options) error {
	n := junitCounts{Tests: r.Results.Len(), Errors: r.count(verdict.Inconclusive),
		Skipped: r.count(verdict.Skipped) + r.count(verdict.Manual)}
	n.Failures = n.Tests - n.Errors - n.Skipped - r.count(verdict.Passed) - r.count(verdict.Warned)
	unmade := junitSuite{Name: "oap-gate"}
	if r.Verdict == verdict.Errored {
		unmade.add(junitCase{Name: "run", Class: "oap-gate",
			Error: &junitOutcome{Message: line(r.Error), Type: "could-not-run",
				Text: line(withFix(r.Error, r.Remedy))}})
		n.Tests, n.Errors = n.Tests+1, n.Errors+1
	}
	b.WriteString(xml.Header)
	e := xml.NewEncoder(b)
	e.Indent("", "  ")
	all := xml.StartElement{Name: xml.Name{Local: "testsuites"}}
	for _, a := range []struct{ name, value string }{{"name", "oap-gate"}, {"tests", strconv.Itoa(n.Tests)},
		{"failures", strconv.Itoa(n.Failures)}, {"errors", strconv.Itoa(n.Errors)},
		{"skipped", strconv.Itoa(n.Skipped)}} {
		all.Attr = append(all.Attr, xml.Attr{Name: xml.Name{Local: a.name}, Value: a.value})
	}
	err := e.EncodeToken(all)
	if len(unmade.Cases) > 0 {
		err = cmp.Or(err, e.Encode(unmade))
	}
	titles, ending := eachTitles(r.Report), r.Ending
	for results := range bySubject(r.Report) {
		suite := junitSuite{Name: cmp.Or(titles[results[0].Subject], line(results[0].Subject))}
		for _, result := range results {
			suite.add(junitResult(result))
		}
		suite.Out, ending = line(ending), ""
		err = cmp.Or(err, e.Encode(suite))
	}
	if err = cmp.Or(err, e.EncodeToken(all.End()), e.Close()); err != nil {
		return fmt.Errorf("encoding report: %w", err)
	}
	return b.WriteByte('\n')
}

func (s *junitSuite) add(c junitCase) {
	s.Cases = append(s.Cases, c)
	s.Tests++
	switch {
	case c.Failure != nil:
		s.Failures++
	case c.Error != nil:
		s.Errors++
	case c.Skipped != nil:
		s.Skipped++
	}
}

func junitResult(result verdict.Result) junitCase {
	c := junitCase{Name: line(result.Check), Class: line(result.Subject)}
	printed := junitText(result)
	switch result.Verdict {
	case verdict.Passed, verdict.Warned:
		c.Out = printed
	case verdict.Skipped:
		c.Skipped = &junitOutcome{Message: line(result.Reason)}
	case verdict.Manual:
		c.Skipped = &junitOutcome{Message: "for people to attest: " + line(result.Reason)}
	case verdict.Inconclusive:
		c.Error = junitBlock(result, printed)
	default:
		c.Failure = junitBlock(result, printed)
	}
	return c
}

func junitBlock(result verdict.Result, printed string) *junitOutcome {
	o := &junitOutcome{Message: line(result.Reason), Type: line(string(result.Verdict)), Text: printed}
	if len(result.Findings) > 0 {
		o.Message, o.Type = line(result.Findings[0].Message), line(result.Findings[0].Code)
	}
	return o
}

// junitText returns the findings as lines, as in the text format.
func junitText(result verdict.Result) string {
	if isSilent(result) {
		return line(result.Reason)
	}
	var b bytes.Buffer
	writeFindings(&b, Count(&verdict.Report{Results: verdict.NewResults(result)}), newInk(false))
	return strings.TrimRight(b.String(), "\n")
}
