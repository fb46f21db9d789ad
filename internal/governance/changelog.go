package governance

import (
	"slices"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// changelog warns of a normative change that the change log does not tell. It is policy of the specification's
// repository, and no gate of the RFC.
func (p *Proposal) changelog(j *Judgement) (verdict.Outcome, error) {
	var out verdict.Outcome
	out.Verified = "no normative artifact is touched"
	for _, v := range p.Views {
		at, err := v.firstNormative()
		if err != nil {
			return out, err
		}
		if at.Path == "" {
			continue
		}
		if slices.ContainsFunc(v.Changes, func(c registry.Change) bool { return c.Path == "CHANGELOG.md" }) {
			out.Verified = "CHANGELOG.md is changed"
			continue
		}
		if j.excepted == nil {
			var other Judgement
			if _, err := p.implementability(&other); err != nil {
				return out, err
			}
			j.excepted = other.excepted
		}
		if *j.excepted {
			out.Verified = "an exception carries the change"
			continue
		}
		out.Warnf(at, "", "no-changelog", "a normative artifact changes, and CHANGELOG.md does not")
	}
	return out.OrPass(), nil
}
