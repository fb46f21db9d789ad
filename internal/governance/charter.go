package governance

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

const (
	charterLabel = "charter-affecting"
	// quorum is how many approvals RFC 0019 section 5 asks for, and of how many organisations.
	quorum = 4
	// maxIssues is how many issues that a body closes are asked for their labels.
	maxIssues = 20
)

// charterReview requires the stricter quorum for a change that touches a user's right: RFC 0019 section 5.
func (p *Proposal) charterReview(j *Judgement) (out verdict.Outcome, err error) {
	if err := p.rosterChanges(&out, j); err != nil {
		return out, err
	}
	why, err := p.touchesRights(&out, j)
	if err != nil {
		return out, err
	}
	r, err := rosterOf(p.Base)
	if err != nil {
		return out, err
	}
	if len(why) == 0 {
		out.Verified = "no user right is touched"
		err := p.defaultQuorum(&out, j, r)
		return out.OrPass(), err
	}
	j.Charter = true
	employed := []string{"nobody yet"}
	defer func() {
		j.attest(charterReview, nil, "the Maintainers who approved are of the organizations that the roster names: %s",
			listUpTo(employed, 20))
	}()
	at := why[0].at
	if table := (verdict.At{Path: maintainersPath, Line: r.line}); advocates(r.members) == 0 {
		r.count(&out)
		code, lacks := "no-user-advocate", fmt.Sprintf("has %s with a @handle, none marked as User Advocate",
			plain.Count(len(r.members), "row"))
		if len(r.members) == 0 {
			code, lacks = "roster-empty", "names 0 Maintainers by @handle (members of the team count only if listed)"
		}
		out.Errorf(table, "", code, "the table under Current Maintainers %s; the gate needs %d Maintainers of %d "+
			"organisations, one a User Advocate; it has %s; %s", lacks, quorum, quorum,
			ofQuorum("Maintainer", r.members), why).WithFix("%s", rosterFix)
		return out, nil
	}
	a, err := p.approvals(&out, at, r, clearedForm)
	if err != nil {
		return out, err
	}
	if a.unknown != "" {
		out.Doubtf(at, "", "reviews-unknown", "%s; %s", a.unknown, why)
		return out, nil
	}
	for _, handle := range a.objectors {
		out.Errorf(at, "", "objection", "@%s, a Maintainer, asks for changes", handle)
	}
	numbers := ofQuorum("approval", a.counted)
	for i, m := range a.counted {
		employed = append(employed[:i], fmt.Sprintf("@%s (%s)", m.handle, shorten(m.organisation)))
	}
	if len(a.counted) < quorum || organisations(a.counted) < quorum {
		f := out.Errorf(at, "", "quorum", "%s%s; %s", numbers, a.missing(r), why)
		if len(r.members) < quorum || organisations(r.members) < quorum {
			f.WithFix("%s", rosterFix)
		}
	}
	if advocates(a.counted) == 0 {
		out.Errorf(at, "", "user-advocate-missing", "no User Advocate is among the approvals that count; %s", numbers)
	}
	if !out.Has(verdict.Doubt) {
		out.Verified = numbers
	}
	return out.OrPass(), nil
}

// rosterFix is the fix of a roster that cannot reach the quorum.
const rosterFix = "1. in a pull request of its own, fill the table with rows `| @handle | organisation | term | " +
	"yes or empty |` of 4 Maintainers of 4 organisations, one with yes as User Advocate; " + afterRoster

const afterRoster = "2. merge it; 3. update this branch; 4. four of them approve with the phrase \"Charter Review " +
	"Gate cleared\""

// ofQuorum says how much of each of the three numbers that the gate needs is there.
func ofQuorum(what string, members []maintainer) string {
	return fmt.Sprintf("%d of %d %ss, %d of %d organisations, %d of 1 User Advocate", len(members), quorum, what,
		organisations(members), quorum, advocates(members))
}

// charterLabel says where the label is. It only asks for issues if nothing else shows the label.
func (p *Proposal) charterLabel(out *verdict.Outcome, at verdict.At, known bool) string {
	has := func(labels []string) bool {
		return slices.ContainsFunc(labels, func(l string) bool { return strings.EqualFold(l, charterLabel) })
	}
	if has(p.Labels) {
		return charterLabel
	}
	if known || p.Forge == nil || p.Forge.Labels == nil {
		return ""
	}
	issues := p.Words.closes(p.Forge.Repository)
	if len(issues) == 0 {
		return ""
	}
	labels, err := p.Forge.Labels(issues)
	if err != nil {
		out.Doubtf(at, "", "labels-unknown", "whether an issue that the body closes has the label %s is not known: %v",
			charterLabel, err)
		return ""
	}
	if has(labels) {
		return charterLabel + " of an issue that the body closes"
	}
	return ""
}

// closes returns the first few issues of a repository that the words of a proposal to it close.
func (w *Words) closes(repository string) []int {
	if w == nil {
		return nil
	}
	var out []int
	for _, m := range closing().FindAllStringSubmatch(w.text, -1) {
		if named := m[1] + m[2]; named != "" && !strings.EqualFold(named, repository) {
			continue
		}
		if n, err := strconv.Atoi(m[3]); err == nil && !slices.Contains(out, n) && len(out) < maxIssues {
			out = append(out, n)
		}
	}
	return out
}

// closing are the issues that the words close, as forges read them.
var closing = plain.Pattern(`(?i)(?:^|[^\pL\pN_])(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+` +
	`(?:https://[\w.-]+/([\w.-]+/[\w.-]+)/issues/|([\w.-]+/[\w.-]+)?#)(\d{1,9})`)
