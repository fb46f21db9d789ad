package governance

import (
	"fmt"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// approvals is what the reviews of the members of a roster come to.
type approvals struct {
	counted   []approval   // in the order in which they were submitted
	objectors []maintainer // those whose review asks for changes
	refused   []verdict.Finding
}

// approval is one that counts.
type approval struct {
	maintainer
	review Review
}

// countApprovals applies the rule for an approval that counts: its user is on the roster and has a role in the
// repository, is neither a bot nor among own, the opener and authors of the change, and approves the head.
func countApprovals(members []maintainer, reviews []Review, head string, own []string) approvals {
	var a approvals
	refuse := func(severity verdict.Severity, code, fix, format string, args ...any) {
		a.refused = append(a.refused, verdict.Finding{Severity: severity, Code: code, Fix: fix,
			Message: fmt.Sprintf(format, args...)})
	}
	for _, r := range latest(reviews) {
		i := slices.IndexFunc(members, func(m maintainer) bool { return m.is(r.User.Login) })
		if i < 0 {
			continue
		}
		m := members[i]
		switch {
		case r.state() == "CHANGES_REQUESTED":
			a.objectors = append(a.objectors, m)
		case r.state() != "APPROVED":
		case !slices.Contains([]string{"OWNER", "MEMBER", "COLLABORATOR"}, strings.ToUpper(r.Association)):
			refuse(verdict.Warning, "login-without-role", fmt.Sprintf("make @%s a member or a collaborator", m.handle),
				"the approval of @%s does not count: the login is on the roster and has no role in the repository "+
					"(%q); a freed login can be taken by another", m.handle, shorten(r.Association))
		case slices.ContainsFunc(own, m.is):
			refuse(verdict.Warning, "own-approval", "ask another Maintainer",
				"the approval of @%s does not count: the change is the Maintainer's own", m.handle)
		case r.bot():
			refuse(verdict.Notice, "bot-approval", "", "the approval of @%s does not count: it is a bot's", m.handle)
		case head == "" || !strings.EqualFold(r.Commit, head):
			refuse(verdict.Warning, "stale-approval", fmt.Sprintf("ask @%s for a review of the head", m.handle),
				"the approval of @%s does not count: it is of commit %.12q, and the head is %.12q", m.handle, r.Commit,
				head)
		default:
			a.counted = append(a.counted, approval{m, r})
		}
	}
	return a
}

// members returns who approve.
func (a *approvals) members() []maintainer {
	var out []maintainer
	for _, one := range a.counted {
		out = append(out, one.maintainer)
	}
	return out
}

// missing names the members of a roster whose approval does not count yet, those of other organisations first.
func (a *approvals) missing(members []maintainer) string {
	counted := a.members()
	organisations := organisationsOf(counted)
	var fresh, same []string
	for _, m := range members {
		switch {
		case slices.ContainsFunc(counted, func(c maintainer) bool { return c.is(m.handle) }):
		case m.organisation != "" && !organisations[m.organisation]:
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

// approvals counts the approvals of a roster's members, and reports why others do not count. It returns nil if the
// reviews are not known; why is then for a message.
func (p *Proposal) approvals(out *verdict.Outcome, at verdict.At, r *roster) (a *approvals, why string, err error) {
	if p.Forge == nil || p.Forge.Reviews == nil {
		return nil, "the reviews are not known", nil
	}
	reviews, err := p.Forge.Reviews()
	if err != nil {
		return nil, fmt.Sprintf("the forge did not send the reviews: %v", err), nil
	}
	own, err := p.authors(out, at)
	if err != nil {
		return nil, "", err
	}
	counted := countApprovals(r.members, reviews, p.Head, own)
	for _, f := range counted.refused {
		out.Add(at, f.Severity, "", f.Code, "%s", f.Message).Fix = f.Fix
	}
	r.count(out)
	return &counted, "", nil
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
		out.Doubtf(at, "", "authors-unknown", "the authors of the range are not known: %v", err)
	}
	return append(all, known...), nil
}

// defaultQuorum warns of a normative change that fewer than three Maintainers of three organisations approve, as
// governance/RFC-PROCESS.md asks of a change that touches no right.
func (p *Proposal) defaultQuorum(out *verdict.Outcome, j *Judgement) error {
	const needed = 3
	i := slices.IndexFunc(p.Views, func(v *View) bool { return len(v.normative()) > 0 })
	if i < 0 {
		return nil
	}
	at, err := p.Views[i].firstNormative()
	if err != nil {
		return err
	}
	r, err := rosterOf(p.Base)
	if err != nil {
		return err
	}
	a, unknown, err := p.approvals(out, at, &r)
	if err != nil {
		return err
	}
	if unknown != "" {
		j.attest(charterReview, nil, "the default quorum of governance/RFC-PROCESS.md was met: %d approvals by "+
			"Maintainers of %d organisations; %s", needed, needed, unknown)
		return nil
	}
	if organisations := len(organisationsOf(a.members())); len(a.counted) < needed || organisations < needed {
		out.Warnf(at, "", "default-quorum", "%d of %d approvals by Maintainers, of %d of %d organisations, count%s",
			len(a.counted), needed, organisations, needed, a.missing(r.members))
	}
	return nil
}
