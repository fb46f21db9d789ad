package spec

import (
	"cmp"
	"slices"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// Subject is the subject of the results of a range.
const Subject = "proposal"

// Judge runs the selected gates on a proposal. An error means that an object could not be read, or a limit was passed.
func Judge(p *Proposal, selected func(id string) bool) ([]verdict.Result, error) {
	return p.results(selected, func(c Check) (verdict.Outcome, error) { return c.judge(p) })
}

// Root are the results of a root commit, which has nothing to be compared with.
func Root(commit string, selected func(id string) bool) ([]verdict.Result, error) {
	return (&Proposal{Commit: commit}).results(selected, func(Check) (verdict.Outcome, error) {
		return verdict.Skip("a root commit has no base"), nil
	})
}

func (p *Proposal) results(selected func(string) bool, judge func(Check) (verdict.Outcome, error)) ([]verdict.Result, error) {
	var out []verdict.Result
	for _, c := range All {
		if !selected(c.ID) {
			continue
		}
		outcome, err := judge(c)
		if err != nil {
			return nil, err
		}
		outcome.Findings = distinct(outcome.Findings)
		for i := range outcome.Findings {
			outcome.Findings[i].Commit = p.Commit
		}
		r, err := outcome.Result(c.Rule, cmp.Or(p.Commit, Subject))
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
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
