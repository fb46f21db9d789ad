package spec

import (
	"bytes"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

const (
	bringEvidence = "add a test under test-suite/ or the behaviour under reference/ in the same pull request, " +
		"or move the text to papers/"
	claimException = "if two thirds of the working group granted it, write \"Implementability Gate exception\" and a " +
		"paragraph of at least 15 words that says why into the pull request's body"
)

// implementability holds that a normative change comes with code that was tried: RFC 0019 section 3.
func (p *Proposal) implementability(j *Judgement) (verdict.Outcome, error) {
	var out verdict.Outcome
	var bare []*View // without evidence
	var lacking []evidence
	counted := ""
	for _, v := range p.Views {
		normative := v.normative()
		if len(normative) == 0 {
			continue
		}
		e, err := v.evidence()
		if err != nil {
			return out, err
		}
		if e.counts == "" {
			bare, lacking = append(bare, v), append(lacking, e)
			continue
		}
		counted = e.counts
		if e.missing > 0 {
			out.Warnf(file(levelsPath), "", "level-names-missing-test",
				"it newly names %s that are not under test-suite/",
				plain.Count(e.missing, "test")).WithFix("add the tests, or leave them out of the levels")
		}
	}
	switch {
	case len(bare) == 0 && counted == "":
		return verdict.Pass("no normative artifact is touched"), nil
	case len(bare) == 0:
		out.Verified = fmt.Sprintf("%q counts as evidence", counted)
		return out.OrPass(), nil
	}
	var why []string // it is not editorial
	for _, v := range bare {
		more, err := v.meaningful()
		if err != nil {
			return out, err
		}
		why = append(why, more...)
	}
	j.Exception = p.withoutEvidence(&out, bare, lacking, why)
	return out, nil
}

// withoutEvidence weighs an exception against a change that brings no evidence; why lists what of it is normative. It
// reports whether one is claimed for a change that looks editorial.
func (p *Proposal) withoutEvidence(out *verdict.Outcome, bare []*View, lacking []evidence,
	why []string) (claimed bool) {
	at := file(bare[0].normative()[0].Path)
	editorial := len(why) == 0
	said, paragraph := noClaim, ""
	if p.Words != nil {
		said, paragraph = p.Words.exception()
	}
	switch {
	case p.Words == nil && editorial:
		out.Doubtf(at, "", "exception-unknown", "the change looks editorial, and whether an exception is claimed "+
			"is not known without the pull request's body").WithFix("give the body with --pr FILE or --body FILE")
		return false
	case said == justified && editorial:
		severity := verdict.Warning
		if p.DenyException {
			severity = verdict.Error
		}
		out.Add(at, severity, "", "exception-claimed", "%s claims an exception (%q) and the change looks "+
			"editorial; that two "+
			"thirds of the working group granted it is for the reviewers to see", p.Words.Source, shorten(paragraph)).
			WithFix("look it up in the working group's records")
		return true
	case said == justified:
		out.Errorf(at, "", "exception-not-editorial", "%s claims an exception, and the change is normative: %s",
			p.Words.Source, list(why)).WithFix(bringEvidence)
		return false
	case said == unjustified:
		out.Errorf(at, "", "exception-unjustified", "%s claims an exception without a paragraph of at least %d "+
			"words that says why", p.Words.Source, minJustification).WithFix(claimException)
	default:
		fix := bringEvidence
		if editorial {
			fix = claimException
		}
		for i, e := range lacking {
			at := file(bare[i].normative()[0].Path)
			if len(e.rejected) == 0 {
				out.Errorf(at, "", "no-evidence", "a normative artifact changes, and nothing under test-suite/ or "+
					"reference/ does").WithFix("%s", fix)
				continue
			}
			out.Errorf(at, "", "evidence-does-not-count", "a normative artifact changes, and what changes under "+
				"test-suite/ or reference/ does not count: %s", listUpTo(e.rejected, 10)).WithFix("%s", fix)
		}
	}
	if editorial {
		out.Noticef(at, "", "looks-editorial", "the change looks editorial: no sentence with a key word differs, "+
			"and no schema "+
			"but in annotations")
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

// meaningful lists what of a view is more than editorial: sentences with a key word, and places in schemas.
func (v *View) meaningful() ([]string, error) {
	d, err := v.sentences()
	if err != nil {
		return nil, err
	}
	var out []string
	for _, s := range d.all() {
		out = append(out, fmt.Sprintf("%q", shorten(s)))
	}
	for _, p := range d.typed {
		out = append(out, fmt.Sprintf("%q is or was no regular file", p))
	}
	more, err := v.meaningfulSchemas()
	return append(out, more...), err
}

// evidence is what a view changes under test-suite/ and reference/.
type evidence struct {
	counts   string   // the first path that counts
	rejected []string // the others up to there, each with the reason
	missing  int      // tests that levels.json newly names and that are not there
}

const levelsPath = "test-suite/levels/levels.json"

// evidence looks for a file that a machine runs.
func (v *View) evidence() (evidence, error) {
	var e evidence
	budget := maxTexts
	for _, c := range v.Changes {
		if !strings.HasPrefix(c.Path, "test-suite/") && !strings.HasPrefix(c.Path, "reference/") {
			continue
		}
		if e.counts != "" && c.Path != levelsPath {
			continue // levels.json alone has more to say
		}
		why, err := v.rejection(c, &budget)
		if err == nil && why == "" && c.Path == levelsPath {
			why, e.missing, err = v.levels(&budget)
		}
		if err != nil {
			return e, err
		}
		switch {
		case why != "":
			e.rejected = append(e.rejected, fmt.Sprintf("%q (%s)", c.Path, why))
		case e.counts == "":
			e.counts = c.Path
		}
	}
	return e, nil
}

var (
	documents = []string{".md", ".markdown", ".txt", ".rst", ".adoc", ".svg", ".png", ".jpg", ".jpeg", ".gif", ".ico",
		".pdf",
		".lock", ".sum"}
	documentNames = []string{"LICENSE", "NOTICE", "README", "CHANGELOG", "AUTHORS"}
	lockFiles     = []string{"package-lock.json", "npm-shrinkwrap.json", "yarn.lock"}
)

// isDocumentation reports whether no machine runs what has such a name.
func isDocumentation(p string) bool {
	name := path.Base(p)
	return slices.Contains(documents, strings.ToLower(path.Ext(name))) || slices.Contains(lockFiles, name) ||
		strings.HasPrefix(name, ".") ||
		slices.ContainsFunc(documentNames, func(begin string) bool { return strings.HasPrefix(name, begin) })
}

// sniffed is how many bytes of a file are searched for a NUL.
const sniffed = 8000

// rejection says why a changed path is no evidence, empty where it may be.
func (v *View) rejection(c registry.Change, budget *int) (string, error) {
	switch {
	case c.Head == nil:
		return "deleted", nil
	case isDocumentation(c.Path):
		return "documentation", nil
	case !isFile(c.Head):
		return "not a file", nil
	case c.Base != nil && c.Base.ID == c.Head.ID:
		return "mode only", nil
	}
	head, err := read(v.Head, c.Path, maxText, budget)
	if err != nil {
		return "", err
	}
	if bytes.IndexByte(head[:min(len(head), sniffed)], 0) >= 0 {
		return "binary", nil
	}
	var base []byte
	if isFile(c.Base) {
		if base, err = read(v.Base, c.Path, maxText, budget); err != nil {
			return "", err
		}
	}
	if bytes.Equal(withoutSpace(base), withoutSpace(head)) {
		return "white space", nil
	}
	return "", nil
}

// withoutSpace is data without its white-space bytes.
func withoutSpace(data []byte) []byte {
	out := make([]byte, 0, len(data))
	for _, c := range data {
		if c != ' ' && (c < '\t' || c > '\r') {
			out = append(out, c)
		}
	}
	return out
}

// levels says why levels.json is no evidence, and how many tests it newly names that are not there.
func (v *View) levels(budget *int) (why string, missing int, err error) {
	old, err := named(v.Base, budget)
	if err != nil {
		return "", 0, err
	}
	new, err := named(v.Head, budget)
	if err != nil {
		return "", 0, err
	}
	known := map[[2]string]bool{}
	for _, pair := range old {
		known[pair] = true
	}
	fresh, gone := 0, map[string]bool{}
	for _, pair := range new {
		if known[pair] {
			continue
		}
		fresh++
		there := false
		if test := "test-suite/" + pair[1]; fs.ValidPath(test) && path.Clean(test) == test {
			e, err := v.Head.Leaf(test)
			if err != nil {
				return "", 0, err
			}
			there = isFile(e)
		}
		if !there {
			gone[pair[1]] = true
		}
	}
	switch {
	case fresh == 0:
		why = "names no new test"
	case len(gone) > 0:
		why = fmt.Sprintf("names %s that are not there", plain.Count(len(gone), "test"))
	}
	return why, len(gone), nil
}

// named are the pairs of level and test that levels.json of a tree names, none where it cannot be read.
func named(t *registry.Tree, budget *int) ([][2]string, error) {
	e, err := t.Leaf(levelsPath)
	if err != nil || !isFile(e) {
		return nil, err
	}
	data, err := read(t, levelsPath, maxText, budget)
	if err != nil {
		return nil, err
	}
	doc, err := strict.Parse(levelsPath, data, strict.Limits{Bytes: maxText, Depth: 64, Number: 64, Values: 1 << 18})
	if err != nil {
		return nil, nil // not what a level is read from
	}
	var out [][2]string
	levels, _ := strict.Member(doc.Root, "levels").(map[string]any)
	for level, tests := range levels {
		tests, _ := tests.([]any)
		for _, test := range tests {
			if test, ok := test.(string); ok {
				out = append(out, [2]string{level, test})
			}
		}
	}
	return out, nil
}
