package upkeep

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/author/listing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/domainage"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

const (
	// label is set where the repository has it.
	label = "expiring"
	// over is for how long after its end a listing is reminded of.
	over = 30 * 24 * time.Hour
	// maxOfDomain is how many issues one run creates for one registrable domain: an owner of a thousand listings gets
	// at most that many at once.
	maxOfDomain = 5
)

// issue is one of the forge's.
type issue struct {
	forge.Author
	Number int    `json:"number"`
	State  string `json:"state"`
	Title  string `json:"title"`
	Body   string `json:"body"`
	Pull   any    `json:"pull_request"` // an issue has none
}

var remindMark = plain.Pattern(`^<!-- oap-gate:remind:([a-z0-9][a-z0-9-]{1,63}) -->\r?\n`)

// Remind plans one issue for each listing that ends within a time, or ended less than 30 days ago, and to close those
// that are settled. What has to be made or closed comes before what has to be edited, each in the order of the ends.
// The error is a *forge.Error.
func Remind(ctx context.Context, c *forge.Client, rows *listing.Rows, within time.Duration, app int64) (Plan, error) {
	writer, err := c.Writer(ctx, app)
	if err != nil {
		return Plan{}, err
	}
	since := rows.At.Add(-within - 2*over).UTC().Format(time.RFC3339)
	all, err := ownIssues(ctx, c, writer, remindMark(), "open", "closed&since="+since)
	if err != nil {
		return Plan{}, err
	}
	due, listed := map[string]listing.Row{}, map[string]listing.Row{}
	var order []listing.Row
	for _, row := range rows.Listings {
		listed[row.Slug] = row
		if reminded(row, rows.At, within) {
			due[row.Slug] = row
			order = append(order, row)
		}
	}
	slices.SortFunc(order, func(a, b listing.Row) int {
		return cmp.Or(a.Until.Compare(*b.Until), strings.Compare(a.Slug, b.Slug))
	})
	labels, err := existingLabels(ctx, c)
	if err != nil {
		return Plan{}, err
	}
	var first, edits []Change
	open, closed := map[string]bool{}, map[string]bool{}
	for _, one := range all {
		slug := remindMark().FindStringSubmatch(one.Body)[1]
		row, isDue := due[slug]
		switch {
		case one.State != "open":
			closed[one.Title] = true // somebody closed it: it is not made again for the same end
		case !isDue:
			first = append(first, closing(one, slug, settled(listed, slug, rows.At)))
		case open[slug]:
			first = append(first, closing(one, slug, "another issue reminds of it"))
		default:
			open[slug] = true
			if one.Title != title(row) || !same(one.Body, body(row)) {
				edits = append(edits, editing(one, title(row), body(row)))
			}
		}
	}
	ofDomain := map[string]int{}
	for _, row := range order {
		if open[row.Slug] || closed[title(row)] {
			continue
		}
		domain := registrable(row.ToolDID)
		if ofDomain[domain]++; ofDomain[domain] > maxOfDomain {
			continue
		}
		first = append(first, creating(writer, title(row), body(row), labels...))
	}
	return Plan{append(first, edits...), looked(len(rows.Listings), len(order), within)}, nil
}

// looked says how many listings there are and how many are due.
func looked(listings, due int, within time.Duration) string {
	what := "none ends"
	if due > 0 {
		what = fmt.Sprint(due, plain.Plural(due, " ends", " end"))
	}
	return fmt.Sprintf("%s: %s within %s or ended less than %s ago",
		plain.Count(listings, "listing"), what, plain.Span(within), plain.Span(over))
}

// ownIssues returns the issues with a mark that the writer created, those of each state in turn, the oldest first. A
// state may be followed by further parameters of the query.
func ownIssues(ctx context.Context, c *forge.Client, writer forge.Writer, mark *regexp.Regexp,
	states ...string) ([]issue, error) {
	var all []issue
	for _, state := range states {
		for one, err := range forge.List[issue](ctx, c, "listing the issues",
			"issues?sort=created&direction=asc&state="+state) {
			if err != nil {
				return nil, err
			}
			if one.Pull == nil && writer.Wrote(one.Author) && mark.MatchString(one.Body) {
				all = append(all, one)
			}
		}
	}
	return all, nil
}

// existingLabels returns the label, or nothing if the repository does not have it: it is not made.
func existingLabels(ctx context.Context, c *forge.Client) ([]string, error) {
	_, err := c.Call(ctx, "looking for the label "+label, http.MethodGet, "labels/"+label, nil, nil)
	if errors.Is(err, forge.ErrNotFound) {
		return nil, nil
	}
	return []string{label}, err
}

// reminded reports whether a listing that is not revoked ends within a time, or ended not long ago.
func reminded(row listing.Row, at time.Time, within time.Duration) bool {
	if _, err := listing.Path(row.Slug); err != nil { // a stranger's file name stays out of issues
		return false
	}
	switch row.Status {
	case verdict.StatusValid, verdict.StatusExpiring, verdict.StatusProvisional, verdict.StatusExpired:
	default:
		return false
	}
	return row.Until.Sub(at) <= within && at.Sub(*row.Until) < over
}

// settled says why a listing needs no issue any more.
func settled(listed map[string]listing.Row, slug string, at time.Time) string {
	row, found := listed[slug]
	switch {
	case !found:
		return "it is no longer listed"
	case row.Status == verdict.StatusRevoked:
		return "it was revoked"
	case row.Until != nil && row.Until.After(at):
		return "it was renewed, until " + date(*row.Until)
	}
	return "it expired, and was not renewed"
}

// same reports whether a forge shows a text that was sent to it: it may change line ends.
func same(shown, sent string) bool {
	return strings.TrimSpace(strings.ReplaceAll(shown, "\r\n", "\n")) == strings.TrimSpace(sent)
}

func editing(one issue, title, body string) Change {
	return Change{Text: fmt.Sprintf("edit issue %d: %s", one.Number, title), Method: http.MethodPatch,
		Path: issuePath(one.Number), Body: map[string]any{"title": title, "body": body}}
}

// creating also sets the labels.
func creating(writer forge.Writer, title, body string, labels ...string) Change {
	sent := map[string]any{"title": title, "body": body}
	if labels != nil {
		sent["labels"] = labels
	}
	return Change{Text: "create issue: " + title, Method: http.MethodPost, Path: "issues", Body: sent,
		holds: writer.Knows}
}

// closing says why in the body, which the forge changes together with the state: a comment of its own could be lost, or
// be written twice.
func closing(one issue, slug, why string) Change {
	return Change{Text: fmt.Sprintf("close issue %d of %s: %s", one.Number, slug, why), Method: http.MethodPatch,
		Path: issuePath(one.Number), Body: map[string]any{"state": "closed",
			"body": strings.TrimRight(one.Body, "\r\n") + "\n\nClosed: " + why + ".\n"}}
}

func title(row listing.Row) string {
	return fmt.Sprintf("implementations/%s.json expires on %s", row.Slug, date(*row.Until))
}

// body names no person, and has no text but the slug and the date.
func body(row listing.Row) string {
	return fmt.Sprintf(`<!-- oap-gate:remind:%[1]s -->
The listing `+"`implementations/%[1]s.json`"+` expires on %[2]s. After that, nobody may rely on it.

Its owner signs a new Receipt, serves it, and in a clone of this registry runs

    oap-gate renew %[1]s

This issue is closed by itself when the listing was renewed or revoked, or 30 days after its end.
`, row.Slug, row.Until.UTC().Format(time.RFC3339))
}

// registrable returns the domain by which issues are counted. All DIDs that name no domain count together.
func registrable(text string) string {
	d, err := did.Parse(text)
	if err != nil || d.Method != "web" {
		return ""
	}
	domain, _ := domainage.Registrable(d.Host())
	return cmp.Or(domain.Registrable, domain.Host)
}
