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
	out.Verified = "no normative artifact is touched"
	j.excepted = new(bool)
	var bare []*View // without evidence
	var lacking []evidence
	for _, v := range p.Views {
		v.notFiles(&out)
		if err := v.outsidePaths(&out); err != nil {
			return out, err
		}
		at, err := v.firstNormative()
		if err != nil {
			return out, err
		}
		if at.Path == "" {
			continue
		}
		e, err := v.evidence(p.Base)
		if err != nil {
			return out, err
		}
		if e.at = at; len(e.files) == 0 {
			bare, lacking = append(bare, v), append(lacking, e)
			continue
		}
		out.Verified = e.String()
		j.attest(implementability, e.lines, "this code exercises the change; %s", &e)
	}
	if len(bare) == 0 {
		return out, nil
	}
	out.Verified = ""
	said := p.Words.says(exceptionForm)
	var why []string // the change is more than editorial
	var err error
	if said.Said || p.Words == nil {
		if why, err = normativeOf(bare); err != nil {
			return out, err
		}
	}
	row := "somebody has shown in code that the change can be built; the change has no evidence"
	switch {
	case said.Said:
		if *j.excepted, err = p.exception(&out, j, lacking[0].at, bare, said, why); *j.excepted {
			out.Verified = "an exception carries the change"
			return out, nil
		}
	case p.Words == nil && len(why) == 0:
		row = "each changed block is editorial, if the pull request claims an exception"
		out.Doubtf(lacking[0].at, "", "exception-unknown", "the change has no evidence, and whether an exception is "+
			"claimed is not known without the pull request's body")
	default:
		for _, e := range lacking {
			e.report(&out, instead(said))
		}
	}
	j.attest(implementability, nil, "%s", row)
	return out, err
}

// report reports that none of the evidence counts. instead says where else the words of an exception are.
func (e *evidence) report(out *verdict.Outcome, instead string) {
	fix := lackingFix
	if e.noCode {
		fix += "; these extensions count: " + codeExtensions()
	}
	if len(e.rejected) == 0 {
		out.Errorf(e.at, "", "no-evidence", "a normative artifact changes, and nothing under test-suite/ or "+
			"reference/ does%s", instead).WithFix("%s", fix)
		return
	}
	out.Errorf(e.at, "", "evidence-does-not-count", "a normative artifact changes, and what changes under "+
		"test-suite/ or reference/ does not count: %s%s", listUpTo(e.rejected, 10), instead).WithFix("%s", fix)
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

// outsidePaths gives notice of texts with key words that differ where no gate looks: a requirement there looks as if it
// were of the specification, and binds nobody.
func (v *View) outsidePaths(out *verdict.Outcome) error {
	var names []string
	budget := textBudget()
	for _, c := range v.Changes {
		directory, _, below := strings.Cut(strings.ToLower(c.Path), "/")
		if isNormative(c.Path) || !below || !slices.Contains([]string{"rfcs", "schemas", "spec"}, directory) {
			continue
		}
		f, err := v.versions(c, budget)
		if err != nil {
			return err
		}
		if !slices.Equal(f.old.keyWords(), f.new.keyWords()) {
			names = append(names, c.Path)
		}
	}
	if len(names) > 0 {
		out.Noticef(file(names[0]), "", "outside-the-paths", "the key words of %s differ; no gate looks there, so it "+
			"binds nobody", quoted(names)).WithFix("move a requirement to rfcs/RFC-… or spec/v1.0/")
	}
	return nil
}

// notFiles reports links and submodules that are added or changed at a normative path: their text could change where
// no gate looks.
func (v *View) notFiles(out *verdict.Outcome) {
	for _, c := range v.normative() {
		modeChanged := isSchema(c.Path) && c.Base != nil && c.Head != nil && c.Base.Mode != c.Head.Mode
		if c.Head == nil || isFile(c.Head) || modeChanged {
			continue
		}
		out.Errorf(file(c.Path), "", "not-a-file", "%q is a %s; expected a plain file, since no gate looks at what "+
			"another path contains", c.Path, c.Head.Mode)
	}
}
