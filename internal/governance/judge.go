package governance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
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

	proposal *Proposal
	subject  string
	excepted *bool // whether an exception carries the change; nil: not judged
}

// Judge runs the selected gates on a proposal. An error means that an object could not be read, or a limit was passed.
func Judge(p *Proposal, selected func(id string) bool) (j Judgement, err error) {
	j.proposal, j.subject = p, cmp.Or(p.Commit, Subject)
	j.Results, err = verdict.Judge(gates, selected, &j, j.subject)
	return j, err
}

// gate returns the entry of a gate.
func gate(rule verdict.Rule, judge func(*Proposal, *Judgement) (verdict.Outcome, error)) verdict.Entry[*Judgement] {
	return verdict.Entry[*Judgement]{Rule: rule, Judge: func(j *Judgement) (verdict.Outcome, error) {
		if j.proposal.Base == nil {
			return verdict.Skip("a root commit has no base"), nil
		}
		out, err := judge(j.proposal, j)
		if err != nil {
			return out, fmt.Errorf("judging %s of %s: %w", rule.ID, j.subject, err)
		}
		out.Findings = distinct(out.Findings, rule, j.proposal.Commit)
		return out, nil
	}}
}

// maxFacts is how many lines a row for people has at most.
const maxFacts = 1000

// attest leaves something to people, with the lines that show the facts.
func (j *Judgement) attest(rule verdict.Rule, facts []string, format string, args ...any) {
	if more := len(facts) - maxFacts; more > 0 {
		facts = append(slices.Clip(facts[:maxFacts]), fmt.Sprintf("and %d more lines", more))
	}
	text := strings.Join(append([]string{fmt.Sprintf(format, args...)}, facts...), "\n")
	one := verdict.Attestation{Check: rule.ID, Subject: j.subject, Text: text}
	if !slices.Contains(j.Attest, one) {
		j.Attest = append(j.Attest, one)
	}
}

// distinct drops what several views say alike. All findings are then of the commit, and those that ask for something
// have at least the fix of their code.
func distinct(findings []verdict.Finding, rule verdict.Rule, commit string) []verdict.Finding {
	var out []verdict.Finding
	seen := map[verdict.Finding]bool{}
	for _, f := range findings {
		if f.Severity != verdict.Notice {
			f.Fix = cmp.Or(f.Fix, rule.FixOf(f.Code))
		}
		if f.Commit = commit; !seen[f] {
			seen[f] = true
			out = append(out, f)
		}
	}
	return slices.Clip(out)
}

// changelog warns of a normative change that the change log does not tell. It is policy of the specification's
// repository, and no gate of the RFC.
func (p *Proposal) changelog(j *Judgement) (verdict.Outcome, error) {
	var out verdict.Outcome
	out.Verified = "no normative artifact is touched"
	for _, v := range p.Views {
		at, err := v.firstNormative()
		if err == nil && j.excepted == nil {
			other := Judgement{}
			_, err = p.implementability(&other)
			j.excepted = other.excepted
		}
		switch {
		case err != nil:
			return out, err
		case at.Path == "":
		case slices.ContainsFunc(v.Changes, func(c registry.Change) bool { return c.Path == "CHANGELOG.md" }):
			out.Verified = "CHANGELOG.md is changed"
		case *j.excepted:
			out.Verified = "an exception carries the change"
		default:
			out.Warnf(at, "", "no-changelog", "a normative artifact changes, and CHANGELOG.md does not")
		}
	}
	return out.OrPass(), nil
}
