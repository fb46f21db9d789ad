package governance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/governance/page"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

const (
	bringEvidence = "add a test under test-suite/ or the behavior under reference/ in the same pull request, " +
		"or move the text to papers/"
	claimException = "if two thirds of the working group granted it, write \"Implementability Gate exception\" and a " +
		"sentence of at least five words that says why into the pull request's body"
)

// implementability checks that a normative change includes code that was tried: RFC 0019 section 3.
func (p *Proposal) implementability(j *Judgement) (verdict.Outcome, error) {
	var out verdict.Outcome
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
		if !e.counts() {
			if e.at, err = v.firstChange(normative[0]); err != nil {
				return out, err
			}
			bare, lacking = append(bare, v), append(lacking, e)
			continue
		}
		carried, err := v.carried()
		if err != nil {
			return out, err
		}
		weight = fmt.Sprintf("evidence: %s; %s", &e, carried)
		if e.missing > 0 {
			out.Warnf(file(levelsPath), "", "level-names-missing-test",
				"it newly names %s that are not under test-suite/",
				plain.Count(e.missing, "test")).WithFix("add the tests, or leave them out of the levels")
		}
	}
	switch {
	case len(bare) == 0 && weight == "":
		return verdict.Pass("no normative artifact is touched"), nil
	case len(bare) == 0:
		out.Verified = weight
		j.attest(implementability, "a test tests the new rule; %s", weight)
		return out.OrPass(), nil
	}
	var why []string // it is not editorial
	var repairs []string
	for _, v := range bare {
		more, err := v.meaningful()
		if err != nil {
			return out, err
		}
		why = append(why, more...)
		for _, r := range v.differing.repairs {
			repairs = append(repairs, fmt.Sprintf("%s → %s", shorten(r.Old), shorten(r.New)))
		}
	}
	if j.Exception = p.withoutEvidence(&out, lacking, why, repairs); j.Exception {
		j.attest(implementability, "two thirds of the working group voted for the exception: %q",
			shorten(p.Words.says(exceptionForm).Line))
	} else {
		j.attest(implementability, "somebody has shown in code that the change can be built; the change has no "+
			"evidence")
	}
	return out, nil
}

// withoutEvidence weighs an exception against a change that brings no evidence; why lists what of it is normative, and
// repairs the words that it spells otherwise. It reports whether an exception is claimed for a change that looks
// editorial.
func (p *Proposal) withoutEvidence(out *verdict.Outcome, lacking []evidence, why, repairs []string) (claimed bool) {
	at := lacking[0].at
	editorial := len(why) == 0
	repaired := ""
	if len(repairs) > 0 {
		repaired = "; repaired words: " + listUpTo(repairs, 10)
	}
	said := p.Words.says(exceptionForm)
	justified := said.Said && page.Words(said.Reason) >= minReason
	switch {
	case p.Words == nil && editorial:
		out.Doubtf(at, "", "exception-unknown", "the change looks editorial, and whether an exception is claimed "+
			"is not known without the pull request's body").WithFix("give the body with --pr FILE or --body FILE")
		return false
	case justified && editorial:
		severity := verdict.Warning
		if p.DenyException {
			severity = verdict.Error
		}
		out.Add(at, severity, "", "exception-claimed", "%s claims an exception (%q) and the change looks "+
			"editorial%s; that two thirds of the working group granted it is for the reviewers to see",
			p.Words.Source, shorten(said.Line), repaired).
			WithFix("look it up in the working group's records")
		return true
	case justified:
		out.Errorf(at, "", "exception-not-editorial", "%s claims an exception, and the change is normative: %s",
			p.Words.Source, list(why)).WithFix(bringEvidence)
		return false
	case said.Said:
		out.Errorf(at, "", "exception-unjustified", "%s claims an exception without a sentence of at least %d "+
			"words that says why", p.Words.Source, minReason).WithFix(claimException)
	default:
		fix, needed := bringEvidence, ""
		if editorial {
			fix = claimException
		} else {
			needed = "; the changes that need it: " + list(why)
		}
		for _, e := range lacking {
			if len(e.rejected) == 0 {
				out.Errorf(e.at, "", "no-evidence", "a normative artifact changes, and nothing under test-suite/ or "+
					"reference/ does%s%s", needed, instead(said)).WithFix("%s", fix)
				continue
			}
			out.Errorf(e.at, "", "evidence-does-not-count", "a normative artifact changes, and what changes under "+
				"test-suite/ or reference/ does not count: %s%s%s", listUpTo(e.rejected, 10), needed, instead(said)).WithFix("%s", fix)
		}
	}
	if editorial {
		out.Noticef(at, "", "looks-editorial", "the change looks editorial: no requirement and no Status "+
			"differs, and no schema except in annotations%s", repaired)
	}
	return false
}

// list shows the first few texts, which are quoted already.
func list(texts []string) string { return listUpTo(texts, maxSentences) }

func listUpTo(texts []string, most int) string {
	texts = slices.Compact(texts)
	if more := len(texts) - most; more > 0 {
		texts = append(slices.Clone(texts[:most]), fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, ", ")
}

// meaningful lists what of a view is more than editorial: requirements, Status lines, and places in schemas.
func (v *View) meaningful() ([]string, error) {
	d, err := v.difference()
	if err != nil {
		return nil, err
	}
	more, err := v.meaningfulSchemas()
	return append(slices.Clone(d.why), more...), err
}
