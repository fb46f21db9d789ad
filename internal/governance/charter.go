package governance

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

const (
	maintainersPath = "governance/MAINTAINERS.md"
	charterLabel    = "charter-affecting"
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
	why, err := p.touchesRights(&out)
	if err != nil {
		return out, err
	}
	if len(why.all) == 0 {
		out.Verified = "no user right is touched"
		return out.OrPass(), nil
	}
	j.Charter = true
	employed := "nobody yet"
	defer func() {
		j.attest(charterReview, "the Maintainers who approved are of the organizations that the roster names: %s",
			employed)
	}()
	at := why.all[0].at
	text, err := readOptional(p.Base, maintainersPath)
	if err != nil {
		return out, err
	}
	r := readRoster(string(text))
	switch roster := (verdict.At{Path: maintainersPath, Line: r.line}); {
	case len(r.members) == 0:
		out.Errorf(roster, "", "roster-empty", "the table under Current Maintainers names 0 Maintainers by @handle "+
			"(members of the team count only if listed); the gate needs %d of %d organisations, one a "+
			"User Advocate; %s", quorum, quorum, why).
			WithFix("1. in a pull request of its own, give each Maintainer a row `| @handle | organisation | term | "+
				"yes or empty |` and the column User Advocate; %s", afterRoster)
		return out, nil
	case !slices.ContainsFunc(r.members, func(m maintainer) bool { return m.advocate }):
		out.Errorf(roster, "", "no-user-advocate", "the table under Current Maintainers has %s with a @handle, "+
			"none marked as User Advocate; the gate needs %d Maintainers of %d organizations, one marked; it has %s; "+
			"%s", plain.Count(len(r.members), "row"), quorum, quorum, r.numbers(), why).
			WithFix("1. in a pull request of its own, %s; %s", r.marking(), afterRoster)
		return out, nil
	}
	if p.Forge == nil || p.Forge.Reviews == nil {
		out.Doubtf(at, "", "reviews-unknown", "the reviews are not known; %s", why).
			WithFix("give the forge's list with --reviews FILE, or ask with --forge and a token")
		return out, nil
	}
	reviews, err := p.Forge.Reviews()
	if err != nil {
		out.Doubtf(at, "", "reviews-unknown", "the forge did not send the reviews: %v; %s", err, why).
			WithFix("try again")
		return out, nil
	}
	authors, err := p.authors(&out, at)
	if err != nil {
		return out, err
	}
	t := tally(&out, at, r.members, latest(reviews), p, authors)
	if len(t.counted) > 0 {
		employed = listUpTo(t.employed, 20)
	}
	if len(t.counted) < quorum || len(t.organisations) < quorum {
		out.Errorf(at, "", "quorum", "%s%s; %s", t.numbers(), t.missing(r.members), why).WithFix("%s", r.remedy())
	}
	if t.advocates == 0 {
		out.Errorf(at, "", "user-advocate-missing", "no User Advocate is among the approvals that count; %s",
			t.numbers()).WithFix("ask a User Advocate of %s for a review with the words Charter Review Gate cleared",
			maintainersPath)
	}
	if !out.Has(verdict.Doubt) {
		out.Verified = t.numbers()
	}
	return out.OrPass(), nil
}

// afterRoster are the steps after the one that changes the roster.
const afterRoster = "2. merge it; 3. update this branch; 4. four of them approve with the phrase \"Charter Review " +
	"Gate cleared\""

// marking says what a roster without a User Advocate lacks.
func (r *roster) marking() string {
	mark := "mark a Maintainer with yes in the column User Advocate, which the table may lack"
	if len(r.members) < quorum || r.organisations() < quorum {
		return fmt.Sprintf("add rows until the table names %d Maintainers of %d organizations, and %s", quorum, quorum,
			mark)
	}
	return mark
}

// organisations returns how many organisations a roster names.
func (r *roster) organisations() int {
	names := map[string]bool{}
	for _, m := range r.members {
		names[m.organisation] = true
	}
	delete(names, "")
	return len(names)
}

// numbers says what of the three numbers that the gate needs a roster has.
func (r *roster) numbers() string {
	advocates := 0
	for _, m := range r.members {
		if m.advocate {
			advocates++
		}
	}
	return ofQuorum("Maintainer", len(r.members), r.organisations(), advocates)
}

// ofQuorum says how much of each of the three numbers that the gate needs is there.
func ofQuorum(what string, n, organisations, advocates int) string {
	return fmt.Sprintf("%d of %d %ss, %d of %d organisations, %d of 1 User Advocate", n, quorum, what, organisations,
		quorum, advocates)
}

// remedy says how the quorum is reached, beginning with the roster if it names too few.
func (r *roster) remedy() string {
	const ask = "ask for reviews of the head that have the words Charter Review Gate cleared"
	if len(r.members) >= quorum && r.organisations() >= quorum {
		return ask
	}
	return fmt.Sprintf("add Maintainers to %s in a pull request of its own, since it names %s; then %s",
		maintainersPath, r.numbers(), ask)
}

// rosterChanges warns of rows of the roster that a proposal changes.
func (p *Proposal) rosterChanges(out *verdict.Outcome, j *Judgement) error {
	for _, v := range p.Views {
		if !slices.ContainsFunc(v.Changes, func(c registry.Change) bool { return c.Path == maintainersPath }) {
			continue
		}
		old, err := readOptional(v.Base, maintainersPath)
		if err != nil {
			return err
		}
		new, err := readOptional(v.Head, maintainersPath)
		if err != nil {
			return err
		}
		was, is := readRoster(string(old)), readRoster(string(new))
		gone, come := without(was.rows, is.rows), without(is.rows, was.rows)
		if len(gone)+len(come) == 0 {
			continue
		}
		out.Warnf(verdict.At{Path: maintainersPath, Line: is.line}, "", "roster-changed",
			"the roster changes: new rows %s; old rows %s; it counts once it is merged", orNone(come), orNone(gone)).
			WithFix("let the Maintainers confirm the rows")
		j.attest(charterReview, "the Maintainers agreed to the change of the roster; new rows %s; old rows %s",
			orNone(come), orNone(gone))
	}
	return nil
}

func orNone(rows []row) string {
	if len(rows) == 0 {
		return "none"
	}
	var out []string
	for _, r := range rows {
		out = append(out, string(r))
	}
	return quoted(out)
}

// without returns the elements that others lack, or have less often.
func without[T interface{ key() string }](of, others []T) []T {
	count := map[string]int{}
	for _, one := range others {
		count[one.key()]++
	}
	return slices.DeleteFunc(slices.Clone(of), func(one T) bool {
		count[one.key()]--
		return count[one.key()] >= 0
	})
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
			charterLabel, err).WithFix("try again")
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

// noReply is an e-mail address by which a forge keeps that of an account to itself.
var noReply = plain.Pattern(`(?i)^(?:[0-9]+\+)?([a-z0-9][a-z0-9_-]*)@users\.noreply\.`)

// authors returns the logins whose approval is their own: the opener, and authors and committers of the range as far as
// they are known.
func (p *Proposal) authors(out *verdict.Outcome, at verdict.At) ([]string, error) {
	all := []string{p.Opener}
	if p.people != nil {
		addresses, err := p.people()
		if err != nil {
			return nil, err
		}
		for _, address := range addresses {
			if m := noReply().FindStringSubmatch(address); m != nil {
				all = append(all, m[1])
			}
		}
	}
	if p.Forge.Authors == nil {
		out.Noticef(at, "", "authors-from-git", "only the opener and the e-mail addresses of the range are known as "+
			"its authors: the forge was not asked")
		return all, nil
	}
	known, err := p.Forge.Authors()
	if err != nil {
		out.Doubtf(at, "", "authors-unknown", "the authors of the range are not known: %v", err).
			WithFix("try again, or split a pull request of more commits than the forge lists")
	}
	return append(all, known...), nil
}

// count is what the approvals of a roster come to.
type count struct {
	counted       []string // logins, folded
	organisations map[string]bool
	advocates     int
	employed      []string // members that count, with their organization
}

func (t count) numbers() string {
	return ofQuorum("approval", len(t.counted), len(t.organisations), t.advocates)
}

// tally counts the approvals, and says about each Maintainer's that does not count why.
func tally(out *verdict.Outcome, at verdict.At, roster []maintainer, reviews []Review, p *Proposal,
	authors []string) count {
	t := count{organisations: map[string]bool{}}
	members := map[string]maintainer{}
	for _, m := range roster {
		members[m.key()] = m
	}
	own := map[string]bool{}
	for _, login := range authors {
		own[strings.ToLower(login)] = true
	}
	for _, r := range reviews {
		m, found := members[strings.ToLower(r.User.Login)]
		if !found {
			continue
		}
		switch {
		case r.state() == "CHANGES_REQUESTED":
			out.Errorf(at, "", "objection", "@%s, a Maintainer, asks for changes", m.handle).
				WithFix("settle it with @%s", m.handle)
		case r.state() != "APPROVED":
		case !slices.Contains([]string{"OWNER", "MEMBER", "COLLABORATOR"}, strings.ToUpper(r.Association)):
			out.Warnf(at, "", "login-without-role", "the approval of @%s does not count: the login is on the roster "+
				"and has no role in the repository (%q); one that was freed can be taken by another", m.handle,
				shorten(r.Association)).
				WithFix("make @%s a member or a collaborator", m.handle)
		case own[m.key()]:
			out.Warnf(at, "", "own-approval", "the approval of @%s does not count: the change is the Maintainer's own",
				m.handle).
				WithFix("ask another Maintainer")
		case r.bot():
			out.Noticef(at, "", "bot-approval", "the approval of @%s does not count: it is a bot's", m.handle)
		case p.Head == "" || !strings.EqualFold(r.Commit, p.Head):
			out.Warnf(at, "", "stale-approval", "the approval of @%s does not count: it is of commit %.12q, and the "+
				"head is %.12q",
				m.handle, r.Commit, p.Head).WithFix("ask @%s for a review of the head", m.handle)
		case NewWords("", r.Body).says(clearedWord) == "":
			out.Warnf(at, "", "phrase-missing", "the approval of @%s does not count: it does not hold the words "+
				"Charter Review Gate cleared", m.handle).WithFix("ask @%s for a review with the words", m.handle)
		default:
			t.counted = append(t.counted, m.key())
			t.employed = append(t.employed, fmt.Sprintf("@%s (%s)", m.handle, shorten(m.organisation)))
			if m.advocate {
				t.advocates++
			}
			if m.organisation != "" {
				t.organisations[m.organisation] = true
			}
		}
	}
	return t
}

// missing names Maintainers whose approval does not count yet, those of other organisations first.
func (t count) missing(roster []maintainer) string {
	var fresh, same []string
	for _, m := range roster {
		switch {
		case slices.Contains(t.counted, m.key()):
		case m.organisation != "" && !t.organisations[m.organisation]:
			fresh = append(fresh, "@"+m.handle)
		default:
			same = append(same, "@"+m.handle)
		}
	}
	if all := append(fresh, same...); len(all) > 0 {
		return "; missing are " + listUpTo(all, 10)
	}
	return "; the roster has no others"
}

// closing are the issues that the words close, as forges read them.
var closing = plain.Pattern(`(?i)(?:^|[^\pL\pN_])(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+` +
	`(?:https://[\w.-]+/([\w.-]+/[\w.-]+)/issues/|([\w.-]+/[\w.-]+)?#)(\d{1,9})`)
