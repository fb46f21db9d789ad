package governance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

const bringEvidence = "add a test under test-suite/ or the behavior under reference/"

// lackingFix is the fix of a change without evidence.
const lackingFix = bringEvidence + "; or move the text to papers/; for an editorial change two thirds of the " +
	"Maintainers can grant an exception: write the line `Implementability Gate exception: REASON`"

// implementability checks that a normative change includes code that was tried: RFC 0019 section 3.
func (p *Proposal) implementability(j *Judgement) (verdict.Outcome, error) {
	var out verdict.Outcome
	j.excepted = new(bool)
	var bare []*View // without evidence
	var lacking []evidence
	weight := ""
	for _, v := range p.Views {
		normative := v.normative()
		if len(normative) == 0 {
			continue
		}
		e, err := v.evidence(p.Base)
		if err != nil {
			return out, err
		}
		if len(e.files) == 0 {
			if e.at, err = v.firstChange(normative[0]); err != nil {
				return out, err
			}
			bare, lacking = append(bare, v), append(lacking, e)
			continue
		}
		weight = fmt.Sprintf("evidence: %s", &e)
		facts := e.lines
		if more := len(facts) - maxFacts; more > 0 {
			facts = append(slices.Clip(facts[:maxFacts]), fmt.Sprintf("and %d more lines", more))
		}
		j.attest(implementability, "this code exercises the change; %s\n%s", weight, strings.Join(facts, "\n"))
	}
	switch {
	case len(bare) == 0 && weight == "":
		return verdict.Pass("no normative artifact is touched"), nil
	case len(bare) == 0:
		out.Verified = weight
		return out.OrPass(), nil
	}
	at := lacking[0].at
	said := p.Words.says(exceptionForm)
	if said.Said {
		passed, err := p.exception(&out, j, at, bare, said)
		if passed {
			*j.excepted = true
			out.Verified = "an exception carries the change"
			return out.OrPass(), nil
		}
		j.attest(implementability,
			"somebody has shown in code that the change can be built; the change has no evidence")
		return out, err
	}
	if p.Words == nil {
		why, err := normativeOf(bare)
		if err != nil {
			return out, err
		}
		if len(why) == 0 {
			j.attest(implementability, "each changed block is editorial, if the pull request claims an exception")
			out.Doubtf(at, "", "exception-unknown", "the change has no evidence, and whether an exception is "+
				"claimed is not known without the pull request's body").WithFix("give the body with --pr FILE or " +
				"--body FILE")
			return out, nil
		}
	}
	j.attest(implementability, "somebody has shown in code that the change can be built; the change has no evidence")
	for _, e := range lacking {
		if len(e.rejected) == 0 {
			out.Errorf(e.at, "", "no-evidence", "a normative artifact changes, and nothing under test-suite/ or "+
				"reference/ does%s", instead(said)).WithFix("%s", lackingFix)
			continue
		}
		fix := lackingFix
		if e.noCode {
			fix += "; these extensions count: " + codeExtensions()
		}
		out.Errorf(e.at, "", "evidence-does-not-count", "a normative artifact changes, and what changes under "+
			"test-suite/ or reference/ does not count: %s%s", listUpTo(e.rejected, 10), instead(said)).WithFix("%s",
			fix)
	}
	return out, nil
}

// codeExtensions lists the extensions of code.
func codeExtensions() string {
	var all, suite []string
	for _, l := range languages {
		for _, ext := range strings.Fields(l.extensions) {
			if l.suite {
				suite = append(suite, "."+ext)
			} else {
				all = append(all, "."+ext)
			}
		}
	}
	return strings.Join(all, " ") + "; under test-suite/ " + strings.Join(suite, " ")
}

// listUpTo shows the first few texts, which are quoted already.
func listUpTo(texts []string, most int) string {
	texts = slices.Compact(texts)
	if more := len(texts) - most; more > 0 {
		texts = append(slices.Clone(texts[:most]), fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, ", ")
}
