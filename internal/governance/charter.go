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
func (p *Proposal) charterReview(j *Judgement) (verdict.Outcome, error) {
	var out verdict.Outcome
	if err := p.rosterChanges(&out, j); err != nil {
		return out, err
	}
	why, err := p.touchesRights(&out, j)
	if err != nil {
		return out, err
	}
	if len(why.all) == 0 {
		out.Verified = "no user right is touched"
		err := p.defaultQuorum(&out, j)
		return out.OrPass(), err
	}
	j.Charter = true
	employed := []string{"nobody yet"}
	defer func() {
		j.attest(charterReview, nil, "the Maintainers who approved are of the organizations that the roster names: %s",
			listUpTo(employed, 20))
	}()
	at := why.all[0].at
	r, err := rosterOf(p.Base)
	if err != nil {
		return out, err
	}
	switch roster := (verdict.At{Path: maintainersPath, Line: r.line}); {
	case len(r.members) == 0:
		r.count(&out)
		out.Errorf(roster, "", "roster-empty", "the table under Current Maintainers names 0 Maintainers by @handle "+
			"(members of the team count only if listed); the gate needs %d of %d organisations, one a "+
			"User Advocate; %s", quorum, quorum, why).
			WithFix("1. in a pull request of its own, give each Maintainer a row `| @handle | organisation | term | "+
				"yes or empty |` and the column User Advocate; %s", afterRoster)
		return out, nil
	case advocates(r.members) == 0:
		r.count(&out)
		out.Errorf(roster, "", "no-user-advocate", "the table under Current Maintainers has %s with a @handle, "+
			"none marked as User Advocate; the gate needs %d Maintainers of %d organizations, one marked; it has %s; "+
			"%s", plain.Count(len(r.members), "row"), quorum, quorum, r.numbers(), why).
			WithFix("1. in a pull request of its own, %s; %s", r.marking(), afterRoster)
		return out, nil
	}
	a, unknown, err := p.approvals(&out, at, &r)
	if err != nil {
		return out, err
	}
	if unknown != "" {
		out.Doubtf(at, "", "reviews-unknown", "%s; %s", unknown, why)
		return out, nil
	}
	for _, m := range a.objectors {
		out.Errorf(at, "", "objection", "@%s, a Maintainer, asks for changes", m.handle)
	}
	a.counted = slices.DeleteFunc(a.counted, func(one approval) bool {
		said, where := phrased(one.review)
		if !said {
			out.Warnf(at, "", "phrase-missing", "the approval of @%s does not count: it does not say Charter Review "+
				"Gate cleared%s", one.handle, where)
		}
		return !said
	})
	numbers := ofQuorum("approval", a.members())
	if len(a.counted) > 0 {
		employed = nil
		for _, m := range a.counted {
			employed = append(employed, fmt.Sprintf("@%s (%s)", m.handle, shorten(m.organisation)))
		}
	}
	if len(a.counted) < quorum || len(organisationsOf(a.members())) < quorum {
		out.Errorf(at, "", "quorum", "%s%s; %s", numbers, a.missing(r.members), why).WithFix("%s", r.remedy())
	}
	if advocates(a.members()) == 0 {
		out.Errorf(at, "", "user-advocate-missing", "no User Advocate is among the approvals that count; %s", numbers)
	}
	if !out.Has(verdict.Doubt) {
		out.Verified = numbers
	}
	return out.OrPass(), nil
}

// afterRoster are the steps after the one that changes the roster.
const afterRoster = "2. merge it; 3. update this branch; 4. four of them approve with the phrase \"Charter Review " +
	"Gate cleared\""

// marking says what a roster without a User Advocate lacks.
func (r *roster) marking() string {
	mark := "mark a Maintainer with yes in the column User Advocate, which the table may lack"
	if len(r.members) < quorum || len(organisationsOf(r.members)) < quorum {
		return fmt.Sprintf("add rows until the table names %d Maintainers of %d organizations, and %s", quorum, quorum,
			mark)
	}
	return mark
}

// numbers says what of the three numbers that the gate needs a roster has.
func (r *roster) numbers() string { return ofQuorum("Maintainer", r.members) }

// ofQuorum says how much of each of the three numbers that the gate needs is there.
func ofQuorum(what string, members []maintainer) string {
	return fmt.Sprintf("%d of %d %ss, %d of %d organisations, %d of 1 User Advocate", len(members), quorum, what,
		len(organisationsOf(members)), quorum, advocates(members))
}

// remedy says how the quorum is reached, beginning with the roster if it names too few.
func (r *roster) remedy() string {
	const ask = "ask for reviews of the head that have the words Charter Review Gate cleared"
	if len(r.members) >= quorum && len(organisationsOf(r.members)) >= quorum {
		return ask
	}
	return fmt.Sprintf("add Maintainers to %s in a pull request of its own, since it names %s; then %s",
		maintainersPath, r.numbers(), ask)
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
