package governance

import (
	"bytes"
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/governance/page"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// exception judges the exception that a body claims for views without evidence. why says what of the change is more
// than editorial. It reports whether the exception carries the pass: the Maintainers granted it, or only formatting
// differs.
func (p *Proposal) exception(out *verdict.Outcome, j *Judgement, at verdict.At, bare []*View, said page.Statement,
	why []string) (passed bool, err error) {
	if len(why) > 0 {
		out.Errorf(at, "", "exception-not-editorial", "%s claims an exception, and the change is normative: %s",
			p.Words.Source, listUpTo(why, maxSentences))
	}
	if n := page.Words(said.Reason); n < minReason {
		out.Errorf(at, "", "exception-unjustified", "%s claims an exception with a reason of %s; expected at least %d",
			p.Words.Source, plain.Count(n, "word"), minReason)
	}
	if len(why) > 0 || page.Words(said.Reason) < minReason {
		return false, nil
	}
	formatting, blocks, err := changedBlocks(bare)
	if err != nil {
		return false, err
	}
	passed, by := true, "no vote is needed"
	if formatting {
		out.Noticef(at, "", "formatting-only", "the change differs in formatting only, which needs no vote")
	} else if passed, by, err = p.vote(out, at); err != nil {
		return false, err
	}
	j.Exception = j.Exception || passed && !formatting && !out.Has(verdict.Error)
	j.attest(implementability, blocks, "each changed block is editorial; %q, reason %q; %s", shorten(said.Line),
		plain.Cut(page.Plain(said.Reason), 2*maxQuote), by)
	return passed, nil
}

// vote reports whether two thirds of the roster's Maintainers approve the head, and describes who does.
func (p *Proposal) vote(out *verdict.Outcome, at verdict.At) (passed bool, by string, err error) {
	r, err := rosterOf(p.Base)
	if err != nil {
		return false, "", err
	}
	n := len(r.members)
	if n == 0 {
		out.Errorf(verdict.At{Path: maintainersPath, Line: r.line}, "", "roster-empty",
			"the exception needs two thirds of 0 Maintainers: the table under Current Maintainers names nobody by "+
				"@handle").
			WithFix("%s; or bring a test or code", implementability.FixOf("roster-empty"))
		return false, "the roster names nobody who could vote", nil
	}
	a, err := p.approvals(out, at, r, nil)
	if err != nil {
		return false, "", err
	}
	if a.unknown != "" {
		out.Doubtf(at, "", "reviews-unknown", "%s; the exception needs the approval of two thirds of the Maintainers",
			a.unknown)
		return false, a.unknown, nil
	}
	needed := (2*n + 2) / 3
	numbers := fmt.Sprintf("%d of %d Maintainers approve the head; %d are needed", len(a.counted), n, needed)
	by = strings.Join(append([]string{numbers}, a.times...), "; ") +
		"; the approvals are of the commits, and this line can be newer"
	switch {
	case len(a.counted) < needed:
		f := out.Errorf(at, "", "two-thirds", "%s%s", numbers, a.missing(r))
		opens := slices.ContainsFunc(r.members, func(m maintainer) bool { return m.is(p.Opener) })
		if opens && n-1 < needed {
			f.Message += fmt.Sprintf("; @%s opened the change and cannot approve it, so that only %d can", p.Opener,
				n-1)
			f.Fix = "bring a test or code; or let somebody who is not on the roster open the pull request"
		}
	case !out.Has(verdict.Doubt): // else an author may be among those who approve
		out.Noticef(at, "", "exception-granted", "%s", numbers)
		passed = true
	}
	return passed, by, nil
}

// normativeOf lists what of some views is more than editorial: files with other key words, and places in schemas.
func normativeOf(views []*View) ([]string, error) {
	var out []string
	for _, v := range views {
		files, err := v.normativeFiles()
		if err != nil {
			return nil, err
		}
		for _, f := range files {
			if old, new := f.old.keyWords(), f.new.keyWords(); !slices.Equal(old, new) {
				out = append(out, fmt.Sprintf("the key words of %q were %s, are %s", f.path(), shown(old, new),
					shown(new, old)))
			}
		}
		schemas, err := v.meaningfulSchemas()
		if err != nil {
			return nil, err
		}
		out = append(out, schemas...)
	}
	return out, nil
}

// shown lists the key words of a text from the first to the last that another text has not at that place.
func shown(words, others []string) string {
	for len(words) > 0 && len(others) > 0 && words[0] == others[0] {
		words, others = words[1:], others[1:]
	}
	for len(words) > 0 && len(others) > 0 && words[len(words)-1] == others[len(others)-1] {
		words, others = words[:len(words)-1], others[:len(others)-1]
	}
	if len(words) == 0 {
		return "none"
	}
	return listUpTo(slices.Clone(words), 5)
}

// changedBlocks returns the changed blocks of some views as their source, and whether only formatting differs.
func changedBlocks(views []*View) (formatting bool, blocks []string, err error) {
	formatting = true
	seen := map[string]bool{} // another view may say the same
	for _, v := range views {
		files, err := v.normativeFiles()
		if err != nil {
			return false, nil, err
		}
		for _, f := range files {
			formatting = formatting && f.isFormatting()
			if changed := f.blocks(); !seen[strings.Join(changed, "\n")] {
				seen[strings.Join(changed, "\n")] = true
				blocks = append(blocks, changed...)
			}
		}
	}
	return formatting, blocks, nil
}

// isFormatting reports whether a file has one name, and differs in formatting only.
func (f normativeFile) isFormatting() bool {
	switch {
	case f.old.path != f.new.path || f.old.data == nil || f.new.data == nil:
		return false
	case bytes.Equal(f.old.data, f.new.data):
		return true
	case f.old.text != nil && f.new.text != nil:
		return f.new.text.IsMarkdown() && formatted(f.old.text.HTML()) == formatted(f.new.text.HTML())
	}
	return f.old.json != nil && f.new.json != nil && reflect.DeepEqual(f.old.json.Root, f.new.json.Root)
}

// layout matches preformatted text, emphasis and white space.
var layout = plain.Pattern(`(?s)<(?i:pre)\b.*?(?:</(?i:pre)>|$)|(?:[ \t\r\n]|</?(?:em|strong)>)+`)

// formatted returns a page without emphasis, with one blank for white space outside of preformatted text.
func formatted(html string) string {
	return layout().ReplaceAllStringFunc(html, func(part string) string {
		switch {
		case strings.HasPrefix(strings.ToLower(part), "<pre"):
			return part
		case strings.ContainsAny(part, " \t\r\n"):
			return " "
		}
		return ""
	})
}

// parts returns the blocks of a text, or the lines of another file.
func (s version) parts() []*page.Block {
	if s.text != nil {
		return s.text.Blocks()
	}
	var out []*page.Block
	for i, line := range strings.Split(string(s.data), "\n") {
		out = append(out, &page.Block{Line: i + 1, Source: line})
	}
	return out
}

// blocks returns the facts of a changed file: its new name, and each changed block, old and new.
func (f normativeFile) blocks() []string {
	var out []string
	if f.old.path != f.new.path {
		out = append(out, fmt.Sprintf("%s → %s", cmp.Or(f.old.path, "nothing"), cmp.Or(f.new.path, "nothing")))
	}
	source := func(b *page.Block) string { return b.Source }
	old, new := f.old.parts(), f.new.parts()
	gone, come := without(old, new, source), without(new, old, source)
	for _, side := range []struct {
		path, sign string
		blocks     []*page.Block
	}{{f.old.path, "- ", gone}, {f.new.path, "+ ", come}} {
		for _, b := range side.blocks {
			out = append(out, fmt.Sprintf("%s:%d:", side.path, b.Line))
			for line := range strings.SplitSeq(b.Source, "\n") {
				if line = strings.TrimRight(line, "\r"); line != "" {
					out = append(out, side.sign+plain.Cut(line, 2*maxQuote))
				}
			}
		}
	}
	if len(gone)+len(come) == 0 && f.old.path == f.new.path {
		out = append(out, f.path()+": the blocks have another order, or white space between them differs")
	}
	return out
}
