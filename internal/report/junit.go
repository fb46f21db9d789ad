package report

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// JUnit's XML: a suite for each subject, a case for each check. Every text goes through Line first, which
// leaves no character that XML cannot hold.
type (
	junitRun struct {
		XMLName xml.Name `xml:"testsuites"`
		Name    string   `xml:"name,attr"`
		junitCounts
		Suites []junitSuite `xml:"testsuite"`
	}
	junitCounts struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Skipped  int `xml:"skipped,attr"`
	}
	junitSuite struct {
		Name string `xml:"name,attr"`
		junitCounts
		Cases []junitCase `xml:"testcase"`
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

// writeJUnit tells what fails as a failure and what is inconclusive, or kept the gate from running, as an
// error.
func writeJUnit(b *bytes.Buffer, r *verdict.Report, _ Options) error {
	run := junitRun{Name: "oap-gate"}
	if r.Verdict == verdict.Errored {
		run.add(junitSuite{Name: "oap-gate", Cases: []junitCase{{
			Name: "run", Class: "oap-gate",
			Error: &junitOutcome{Message: line(r.Error), Type: "could-not-run", Text: line(withFix(r.Error, r.Remedy))},
		}}})
	}
	for _, results := range bySubject(r) {
		suite := junitSuite{Name: line(results[0].Subject)}
		for _, result := range results {
			suite.Cases = append(suite.Cases, junitResult(result))
		}
		run.add(suite)
	}
	b.WriteString(xml.Header)
	e := xml.NewEncoder(b)
	e.Indent("", "  ")
	if err := e.Encode(run); err != nil {
		return fmt.Errorf("encoding report: %w", err)
	}
	b.WriteByte('\n')
	return nil
}

func (run *junitRun) add(s junitSuite) {
	for _, c := range s.Cases {
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
	run.Tests += s.Tests
	run.Failures += s.Failures
	run.Errors += s.Errors
	run.Skipped += s.Skipped
	run.Suites = append(run.Suites, s)
}

func junitResult(result verdict.Result) junitCase {
	c := junitCase{Name: line(result.Check), Class: line(result.Subject)}
	told := junitText(result)
	switch result.Verdict {
	case verdict.Passed, verdict.Warned:
		c.Out = told
	case verdict.Skipped:
		c.Skipped = &junitOutcome{Message: line(result.Reason)}
	case verdict.Manual:
		c.Skipped = &junitOutcome{Message: "for people to attest: " + line(result.Reason)}
	case verdict.Inconclusive:
		c.Error = junitBlock(result, told)
	default:
		c.Failure = junitBlock(result, told)
	}
	return c
}

func junitBlock(result verdict.Result, told string) *junitOutcome {
	o := &junitOutcome{Message: line(result.Reason), Type: line(string(result.Verdict)), Text: told}
	if len(result.Findings) > 0 {
		o.Message, o.Type = line(result.Findings[0].Message), line(result.Findings[0].Code)
	}
	return o
}

// junitText is the findings as lines, as in the text format.
func junitText(result verdict.Result) string {
	var b bytes.Buffer
	writeFindings(&b, &verdict.Report{Results: verdict.NewResults(result)}, newInk(false))
	if b.Len() == 0 {
		return line(result.Reason)
	}
	return strings.TrimRight(b.String(), "\n")
}
