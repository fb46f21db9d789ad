package governance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/governance/page"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// approvals are the reviews of the members of a roster.
type approvals struct {
	unknown   string       // why the reviews are not known; empty where they are
	counted   []maintainer // in the order of their reviews
	times     []string     // each with its Maintainer, for a row
	objectors []string     // handles of those that ask for changes
}

// approvals counts the approvals of the members of a roster, and reports why others do not count: an approval counts
// if its user has a role in the repository, is neither a bot nor the opener or an author of the change, and approves
// the head. If a form is given, the review must say it.
func (p *Proposal) approvals(out *verdict.Outcome, at verdict.At, r *roster, form *page.Form) (a approvals, err error) {
	if p.Forge == nil || p.Forge.Reviews == nil {
		a.unknown = "the reviews are not known"
		return a, nil
	}
	reviews, err := p.Forge.Reviews()
	if err != nil {
		a.unknown = fmt.Sprintf("the forge did not send the reviews: %v", err)
		return a, nil
	}
	own, err := p.authors(out, at)
	if err != nil {
		return a, err
	}
	r.count(out)
	for _, review := range latest(reviews) {
		i := slices.IndexFunc(r.members, func(m maintainer) bool { return m.is(review.User.Login) })
		if i < 0 {
			continue
		}
		m := r.members[i]
		refuse := func(severity verdict.Severity, code, format string, args ...any) {
			out.Add(at, severity, "", code, "the approval of @%s does not count: %s", m.handle,
				fmt.Sprintf(format, args...))
		}
		said, where := true, ""
		if form != nil {
			said, where = phrased(review, form)
		}
		switch {
		case review.state() == "CHANGES_REQUESTED":
			a.objectors = append(a.objectors, m.handle)
		case review.state() != "APPROVED":
		case !slices.Contains([]string{"OWNER", "MEMBER", "COLLABORATOR"}, strings.ToUpper(review.Association)):
			refuse(verdict.Warning, "login-without-role", "the login is on the roster and has no role in the "+
				"repository (%q); a freed login can be taken by another", shorten(review.Association))
		case slices.ContainsFunc(own, m.is):
			refuse(verdict.Warning, "own-approval", "the change is the Maintainer's own")
		case review.User.Bot():
			refuse(verdict.Notice, "bot-approval", "it is a bot's")
		case p.Head == "" || !strings.EqualFold(review.Commit, p.Head):
			refuse(verdict.Warning, "stale-approval", "it is of commit %.12q, and the head is %.12q", review.Commit,
				p.Head)
		case !said:
			refuse(verdict.Warning, "phrase-missing", "it does not say Charter Review Gate cleared%s", where)
		default:
			a.counted = append(a.counted, m)
			a.times = append(a.times, fmt.Sprintf("@%s at %s", m.handle,
				review.Submitted.UTC().Format("2006-01-02 15:04 MST")))
		}
	}
	return a, nil
}

// missing names the members of a roster whose approval does not count yet.
func (a *approvals) missing(r *roster) string {
	var names []string
	for _, m := range r.members {
		if !slices.Contains(a.counted, m) {
			names = append(names, "@"+m.handle)
		}
	}
	if len(names) == 0 {
		return "; the roster has no others"
	}
	return "; missing are " + listUpTo(names, 10)
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
func (p *Proposal) defaultQuorum(out *verdict.Outcome, j *Judgement, r *roster) error {
	const needed = 3
	at, err := p.firstNormative()
	if at.Path == "" || err != nil {
		return err
	}
	a, err := p.approvals(out, at, r, nil)
	if a.unknown != "" {
		j.attest(charterReview, nil, "the default quorum of governance/RFC-PROCESS.md was met: %d approvals by "+
			"Maintainers of %d organisations; %s", needed, needed, a.unknown)
	} else if n := organisations(a.counted); len(a.counted) < needed || n < needed {
		out.Warnf(at, "", "default-quorum", "%d of %d approvals by Maintainers, of %d of %d organisations, count%s",
			len(a.counted), needed, n, needed, a.missing(r))
	}
	return err
}

// Review is a review as the forge lists it.
type Review struct {
	ID          int64         `json:"id"`
	User        forge.Account `json:"user"` // empty where the account is gone
	State       string        `json:"state"`
	Body        string        `json:"body"`
	Commit      string        `json:"commit_id"`
	Submitted   *time.Time    `json:"submitted_at"` // nil while it is pending
	Association string        `json:"author_association"`
}

func (r Review) state() string { return strings.ToUpper(r.State) }

// MaxReviews is how many bytes a list of reviews may have.
const MaxReviews = 16 << 20

// ParseReviews reads the forge's list of reviews: one JSON array.
func ParseReviews(name string, data []byte) ([]Review, error) {
	doc, err := strict.Parse(name, data, strict.Remote(MaxReviews))
	if err != nil {
		return nil, err
	}
	if _, ok := doc.Root.([]any); !ok {
		return nil, fmt.Errorf("%s: expected an array of reviews, as GET /repos/OWNER/NAME/pulls/N/reviews answers",
			name)
	}
	var out []Review
	if err := json.Unmarshal(data, &out); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return out, nil
}

// latest returns the review of each user that counts: the last one that approves, asks for changes or was dismissed.
func latest(all []Review) []Review {
	all = slices.DeleteFunc(slices.Clone(all), func(r Review) bool {
		return r.Submitted == nil || !slices.Contains([]string{"APPROVED", "CHANGES_REQUESTED", "DISMISSED"}, r.state())
	})
	slices.SortStableFunc(all, func(a, b Review) int {
		return cmp.Or(a.Submitted.Compare(*b.Submitted), cmp.Compare(a.ID, b.ID))
	})
	last := map[string]Review{}
	for _, r := range all {
		last[strings.ToLower(r.User.Login)] = r
	}
	return slices.DeleteFunc(slices.Compact(all), func(r Review) bool {
		return last[strings.ToLower(r.User.Login)] != r
	})
}
