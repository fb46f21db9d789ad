package spec

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

const (
	maintainersPath = "governance/MAINTAINERS.md"
	charterLabel    = "charter-affecting"
	// quorum is how many approvals RFC 0019 section 5 asks for, and of how many organisations.
	quorum = 4
	// maxIssues is how many issues that a body closes are asked for their labels.
	maxIssues = 20
)

// right is a word of a user's right, by RFC 0019 section 5.
var right = plain.Pattern(`(?i)\b(?:identit(?:y|ies)|memor(?:y|ies)|reputations?|projections?|personas?|` +
	`cooling[ -]off|cool[ -]off|escalat\w*|delet\w*|replaceab\w*|pluralism|plurality)\b`)

func isCharterPath(path string) bool {
	for _, begin := range []string{"rfcs/RFC-0016-", "rfcs/RFC-0017-", "rfcs/RFC-0018-", "test-suite/charter/"} {
		if strings.HasPrefix(path, begin) {
			return true
		}
	}
	return false
}

// charterReview holds a change that touches a user's right to the stricter quorum: RFC 0019 section 5.
func (p *Proposal) charterReview(j *Judgement) (verdict.Outcome, error) {
	var out verdict.Outcome
	at, why, err := p.touchesRights(&out)
	if err != nil {
		return out, err
	}
	if why == "" {
		out.Verified = "no user right is touched"
		return out.OrPass(), nil
	}
	j.Charter = true
	text, err := readOptional(p.Base, maintainersPath)
	if err != nil {
		return out, err
	}
	roster := readRoster(string(text)).members
	if !slices.ContainsFunc(roster, func(m maintainer) bool { return m.advocate }) {
		out.Errorf(file(maintainersPath), "", "no-user-advocate", "the base's roster of %s names no User Advocate, so "+
			"that no "+
			"approval can clear the gate; the change touches user rights: %s", plain.Count(len(roster), "Maintainer"),
			why).
			WithFix("add the column User Advocate with a mark to the table under Current Maintainers, in a pull " +
				"request of its own")
		return out, nil
	}
	reviews, authors, unknown := p.reviews()
	if unknown != "" {
		out.Doubtf(at, "", "reviews-unknown", "%s; the change touches user rights: %s", unknown, why).
			WithFix("give the forge's list with --reviews FILE, or ask with --forge and a token")
		return out, nil
	}
	t := tally(&out, at, roster, latest(reviews), p, authors)
	if len(t.counted) < quorum || len(t.organisations) < quorum {
		out.Errorf(at, "", "quorum", "%s of %s count, at least %d of %d organisations are needed%s; the change "+
			"touches user rights: %s", plain.Count(len(t.counted), "approval"),
			plain.Count(len(t.organisations), "organisation"),
			quorum, quorum,
			t.missing(roster), why).WithFix("ask for reviews of the head that hold the words Charter Review Gate " +
			"cleared")
	}
	if !t.advocate {
		out.Errorf(at, "", "user-advocate-missing", "no User Advocate is among the approvals that count").
			WithFix("ask a User Advocate of %s for a review with the words Charter Review Gate cleared",
				maintainersPath)
	}
	if !out.Has(verdict.Error) {
		out.Verified = fmt.Sprintf("%s of %s, a User Advocate among them", plain.Count(len(t.counted), "approval"),
			plain.Count(len(t.organisations), "organisation"))
	}
	return out.OrPass(), nil
}

// touchesRights says why a proposal touches user rights, and where; why is empty where it does not.
func (p *Proposal) touchesRights(out *verdict.Outcome) (at file, why string, err error) {
	var paths, sentences, reasons []string
	for _, v := range p.Views {
		for _, c := range v.Changes {
			if isCharterPath(c.Path) && !slices.Contains(paths, c.Path) {
				paths = append(paths, c.Path)
			}
		}
		d, err := v.difference()
		if err != nil {
			return "", "", err
		}
		for _, s := range d.blocks() {
			if right().MatchString(s) && !slices.Contains(sentences, s) {
				sentences = append(sentences, s)
			}
		}
		if n := v.normative(); at == "" && len(n) > 0 {
			at = file(n[0].Path)
		}
	}
	if len(paths) > 0 {
		at = file(paths[0])
		reasons = append(reasons, "the paths "+quoted(paths))
	}
	if len(sentences) > 0 {
		reasons = append(reasons, "the sentences "+quoted(sentences))
	}
	if label := p.charterLabel(out, at, len(reasons) > 0); label != "" {
		reasons = append(reasons, label)
	}
	return at, strings.Join(reasons, "; "), nil
}

// charterLabel says where the label stands. Issues are asked for only where nothing else tells.
func (p *Proposal) charterLabel(out *verdict.Outcome, at file, known bool) string {
	has := func(labels []string) bool {
		return slices.ContainsFunc(labels, func(l string) bool { return strings.EqualFold(l, charterLabel) })
	}
	if has(p.Labels) {
		return "the label " + charterLabel
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
		return "the label " + charterLabel + " of an issue that the body closes"
	}
	return ""
}

// closes are the issues of a repository that the words of a proposal to it close, the first few.
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

// reviews are those of the pull request and the authors of its commits, or why they are not known.
func (p *Proposal) reviews() (reviews []Review, authors []string, unknown string) {
	if p.Forge == nil || p.Forge.Reviews == nil {
		return nil, nil, "the reviews are not known"
	}
	reviews, err := p.Forge.Reviews()
	if err == nil && p.Forge.Authors != nil {
		authors, err = p.Forge.Authors()
	}
	if err != nil {
		return nil, nil, fmt.Sprintf("the forge did not tell the reviews: %v", err)
	}
	return reviews, authors, ""
}

// count is what the approvals of a roster come to.
type count struct {
	counted       []string // logins, folded
	organisations map[string]bool
	advocate      bool
}

// tally counts the approvals, and says of each Maintainer's that does not count why.
func tally(out *verdict.Outcome, at file, roster []maintainer, reviews []Review, p *Proposal, authors []string) count {
	t := count{organisations: map[string]bool{}}
	members := map[string]maintainer{}
	for _, m := range roster {
		members[m.key()] = m
	}
	own := map[string]bool{}
	for _, login := range append(authors, p.Opener) {
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
			t.advocate = t.advocate || m.advocate
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
