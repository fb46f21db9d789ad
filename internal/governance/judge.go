package governance

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// Subject is the subject of the results of a range.
const Subject = "proposal"

// Judgement is what the gates make of a proposal.
type Judgement struct {
	Results   []verdict.Result
	Exception bool // two thirds of the Maintainers granted one, and it carries the change
	Charter   bool // the change touches user rights
	// Attest is what no gate can decide, for people.
	Attest []verdict.Attestation

	subject  string
	excepted *bool // whether an exception carries the change; nil: not judged
}

// Judge runs the selected gates on a proposal. An error means that an object could not be read, or a limit was passed.
func Judge(p *Proposal, selected func(id string) bool) (Judgement, error) {
	var j Judgement
	err := j.add(p.Commit, selected, func(c Check) (verdict.Outcome, error) { return c.judge(p, &j) })
	return j, err
}

// Root returns the judgment of a root commit, which has nothing to be compared with.
func Root(commit string, selected func(id string) bool) (Judgement, error) {
	var j Judgement
	err := j.add(commit, selected, func(Check) (verdict.Outcome, error) {
		return verdict.Skip("a root commit has no base"), nil
	})
	return j, err
}

func (j *Judgement) add(commit string, selected func(string) bool, judge func(Check) (verdict.Outcome, error)) error {
	subject := cmp.Or(commit, Subject)
	j.subject = subject
	for _, c := range All {
		if !selected(c.ID) {
			continue
		}
		outcome, err := judge(c)
		if err != nil {
			return fmt.Errorf("judging %s of %s: %w", c.ID, subject, err)
		}
		outcome.Findings = distinct(outcome.Findings)
		for i := range outcome.Findings {
			outcome.Findings[i].Commit = commit
		}
		r, err := outcome.Result(c.Rule, subject)
		if err != nil {
			return err
		}
		j.Results = append(j.Results, r)
	}
	return nil
}

// attest leaves something to people.
func (j *Judgement) attest(rule verdict.Rule, format string, args ...any) {
	one := verdict.Attestation{Check: rule.ID, Subject: j.subject, Text: fmt.Sprintf(format, args...)}
	if !slices.Contains(j.Attest, one) {
		j.Attest = append(j.Attest, one)
	}
}

// distinct drops what several views say alike.
func distinct(findings []verdict.Finding) []verdict.Finding {
	var out []verdict.Finding
	seen := map[verdict.Finding]bool{}
	for _, f := range findings {
		if !seen[f] {
			seen[f] = true
			out = append(out, f)
		}
	}
	return slices.Clip(out)
}
