// Package sticky keeps the one comment of a pull request that shows the gate's report.
package sticky

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// Marker is the first line of the one comment that Comment keeps in a pull request. It does not prove who wrote the
// comment.
const Marker = "<!-- oap-gate report -->"

// MaxReport caps the report in bytes.
const MaxReport = 16 << 20

// maxComment is the size of a comment in bytes. GitHub allows 65,536 characters; people read less.
const maxComment = 20_000

// ErrReport means that a report is not one that may be shown as a comment.
var ErrReport = errors.New("report refused")

// Options are what Comment needs in addition to the report.
type Options struct {
	// Read reads a report. It refuses JSON with more than one meaning (duplicate members).
	Read func([]byte) (*verdict.Report, error)
	// Render returns the comment's Markdown, of at most max bytes. It must neutralize every text of the report: a fork
	// writes the report of its own workflow.
	Render func(r *verdict.Report, max int) string
	// Head is the SHA of the pull request's head for which a comment is wanted, as the event names it; empty: the
	// report's.
	Head string
	// Pull is the number of the pull request; 0: the oldest open one with that head.
	Pull int
	// App is the app of the token, where that is an app's.
	App int64
	// Labels says that the pull request gets the labels of what it changes, Mention that the comment names the people
	// who last changed the listings.
	Labels, Mention bool
}

// Action is what happened to a comment.
type Action string

// The actions. Forbidden and NoPull are not errors: a fork's token may not comment, and a push may have come between.
const (
	Created   Action = "created"
	Edited    Action = "edited"
	Unchanged Action = "unchanged"
	Forbidden Action = "forbidden"
	NoPull    Action = "no-pull-request"
)

// Outcome is what Comment did.
type Outcome struct {
	Action Action
	URL    string // URL of the comment
	Notice string // one line for people
}

// Comment writes report into the one comment of its pull request, or edits that comment in place. An error wraps
// ErrReport where the report is refused, else it is a *forge.Error.
func Comment(ctx context.Context, c *forge.Client, report []byte, o Options) (Outcome, error) {
	r, err := Read(report, o.Head, o.Read)
	if err != nil {
		return Outcome{}, err
	}
	out, err := post(ctx, c, r, o)
	if errors.Is(err, forge.ErrForbidden) {
		return Outcome{Action: Forbidden,
			Notice: fmt.Sprintf("no comment: %v; a workflow of a fork has a token that can only read, see "+
				"docs/workflows/comment.yml", err)}, nil
	}
	return out, err
}

func post(ctx context.Context, c *forge.Client, r *verdict.Report, o Options) (Outcome, error) {
	head, err := PullHead(ctx, c, r.Head, o.Head)
	if err != nil {
		return Outcome{}, err
	}
	pull, err := findPull(ctx, c, head, o.Pull)
	if err != nil {
		return Outcome{}, err
	}
	if pull.Number == 0 {
		return Outcome{Action: NoPull,
			Notice: fmt.Sprintf("no open pull request of %s has the head %s: it was closed, or pushed to since",
				c.Repository, head)}, nil
	}
	var files []forge.ChangedFile
	if o.Labels || o.Mention {
		if files, err = c.Files(ctx, pull.Number); err != nil {
			return Outcome{}, err
		}
	}
	people := ""
	if o.Mention {
		if people, err = mentions(ctx, c, pull, files); err != nil {
			return Outcome{}, err
		}
	}
	out, err := write(ctx, c, pull.Number, o.App, func(before string) string {
		first := Marker + "\n"
		if retry, waits := again(r, head, before); waits {
			first += retry.line() + "\n" + retry.sentence() + "\n"
		}
		first += people
		return first + o.Render(r, maxComment-len(first))
	})
	if err == nil && o.Labels {
		err = label(ctx, c, pull, files)
	}
	return out, err
}

func refused(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrReport, fmt.Sprintf(format, args...))
}

// Read reads the report of a check of a pull request. It refuses bytes that read refuses, and a report that is not a
// full verdict about a commit; head is the pull request's, or empty.
func Read(data []byte, head string, read func([]byte) (*verdict.Report, error)) (*verdict.Report, error) {
	if len(data) > MaxReport {
		return nil, refused("it has %d bytes, at most %d are read", len(data), MaxReport)
	}
	r, err := read(data)
	if err != nil {
		return nil, refused("it is not a report: %v", err)
	}
	switch {
	case r.Mode != "check":
		return nil, refused("its mode is %q; expected \"check\"", r.Mode)
	case r.Verdict == verdict.Errored:
		return nil, refused("it holds no verdict: the gate could not run: %s", r.Error)
	case len(r.Assumed) > 0:
		return nil, refused("it was given under assumptions (%q): a comment must not look like the gate's full verdict",
			r.Assumed)
	case !isSHA(r.Head):
		return nil, refused("its head is %q; expected a commit: the files on disk belong to no pull request", r.Head)
	case head != "" && !isSHA(head):
		return nil, refused("the requested head is %q; expected 40 hex digits", head)
	}
	return r, nil
}

func isSHA(s string) bool { return len(s) == 40 && plain.IsHex(s) }

// PullHead returns the head of the pull request to which a report about the commit reported belongs. A workflow that
// runs on pull_request judges the forge's merge commit, whose second parent is the pull request's head.
func PullHead(ctx context.Context, c *forge.Client, reported, wanted string) (string, error) {
	if reported == wanted {
		return wanted, nil
	}
	var commit struct {
		Parents []struct {
			SHA string `json:"sha"`
		} `json:"parents"`
	}
	_, err := c.Call(ctx, "reading commit "+reported, http.MethodGet, "git/commits/"+reported, nil, &commit)
	merge := err == nil && len(commit.Parents) == 2 && isSHA(commit.Parents[1].SHA)
	switch {
	case err != nil && !errors.Is(err, forge.ErrNotFound) && !errors.Is(err, forge.ErrRefused):
		return "", err
	case wanted == "" && !merge:
		return reported, nil
	case wanted == "":
		// A pull request may itself end in a merge commit: it is asked for by its own SHA first.
		if pull, err := findPull(ctx, c, reported, 0); err != nil || pull.Number != 0 {
			return reported, err
		}
		return commit.Parents[1].SHA, nil
	case merge && commit.Parents[1].SHA == wanted:
		return wanted, nil
	}
	return "", refused("it is about commit %s, and the pull request's head is %s", reported, wanted)
}

// findPull returns the open pull request with that head, or one without a number. If several have it, it returns the
// oldest: a later one with a stranger's commits cannot draw the comment to itself. It lists all open ones, because the
// forge's "pull requests of a commit" omits a fork's commits.
func findPull(ctx context.Context, c *forge.Client, head string, number int) (forge.PullRequest, error) {
	if number > 0 {
		p, open, err := c.Pull(ctx, number)
		if err != nil || !open || p.Head.SHA != head {
			return forge.PullRequest{}, err
		}
		return p, nil
	}
	for p, err := range c.OpenPulls(ctx) {
		if err != nil || p.Head.SHA == head {
			return p, err
		}
	}
	return forge.PullRequest{}, nil
}

// Posted is a comment in a pull request.
type Posted struct {
	forge.Author
	ID   int64  `json:"id"`
	Body string `json:"body"`
	URL  string `json:"html_url"`
}

// Newest returns the newest comment with the Marker that the writer made in a pull request, or nil. The error is a
// *forge.Error.
func Newest(ctx context.Context, c *forge.Client, writer forge.Writer, pull int) (*Posted, error) {
	var own *Posted
	for one, err := range forge.List[Posted](ctx, c, "listing the comments", commentsOf(pull)) {
		if err != nil {
			return nil, err
		}
		if writer.Wrote(one.Author) && strings.HasPrefix(one.Body, Marker) {
			own = &one
		}
	}
	return own, nil
}

func commentsOf(pull int) string { return "issues/" + strconv.Itoa(pull) + "/comments" }

func write(ctx context.Context, c *forge.Client, number int, app int64, made func(before string) string) (Outcome,
	error) {
	writer, err := c.Writer(ctx, app)
	if err != nil {
		return Outcome{}, err
	}
	old, err := Newest(ctx, c, writer, number)
	if err != nil {
		return Outcome{}, err
	}
	var now Posted
	if old == nil {
		if _, err = c.Call(ctx, "writing the comment", http.MethodPost, commentsOf(number),
			map[string]string{"body": made("")}, &now); err == nil {
			err = writer.Knows(now.Author)
		}
		return Outcome{Action: Created, URL: now.URL}, err
	}
	text := made(old.Body)
	if strings.TrimSpace(old.Body) == strings.TrimSpace(text) {
		return Outcome{Action: Unchanged, URL: old.URL}, nil
	}
	_, err = c.Call(ctx, "editing the comment", http.MethodPatch, "issues/comments/"+strconv.FormatInt(old.ID, 10),
		map[string]string{"body": text}, &now)
	return Outcome{Action: Edited, URL: now.URL}, err
}

// Retry is when the gate may come to another verdict on the same commit, as a comment says. The comment proves nothing:
// a fork may have written the report from which it was made.
type Retry struct {
	At   time.Time
	Runs int    // how many verdicts on Head the comment has reported, this one included
	Head string // SHA of the pull request's head
}

// MaxAway is how far away a time may be; a later one is ignored.
const MaxAway = 30 * 24 * time.Hour

// maxRuns is the largest count that a comment holds.
const maxRuns = 999_999

// maxDoubts is after how many verdicts on one head an inconclusive one without a time of its own waits for people.
const maxDoubts = 3

var retryMark = plain.Pattern(`^<!-- oap-gate:retry (\S{1,40}) (\d{1,6}) ([0-9a-f]{40}) -->`)

// ParseRetry reads the retry of a comment's body, which is on the line after the Marker; false if it has no retry.
func ParseRetry(body string) (Retry, bool) {
	if len(body) <= len(Marker) || body[:len(Marker)] != Marker {
		return Retry{}, false
	}
	m := retryMark().FindStringSubmatch(trimLine(body[len(Marker):]))
	if m == nil {
		return Retry{}, false
	}
	at, err := time.Parse(time.RFC3339, m[1])
	if err != nil {
		return Retry{}, false
	}
	runs, err := strconv.Atoi(m[2])
	return Retry{At: at.UTC(), Runs: runs, Head: m[3]}, err == nil
}

// trimLine returns a text without its leading line end, as the forge may have written it.
func trimLine(text string) string { return strings.TrimLeft(text, "\r\n") }

// again returns the retry of a report on a head, after what the comment said before; false if there is nothing to wait
// for.
func again(r *verdict.Report, head, before string) (Retry, bool) {
	next := Retry{At: r.RetryAt, Runs: 1, Head: head}
	if old, ok := ParseRetry(before); ok && old.Head == head {
		next.Runs = min(old.Runs+1, maxRuns)
	}
	if next.At.IsZero() && r.Verdict == verdict.Inconclusive && next.Runs <= maxDoubts {
		next.At = r.EvaluatedAt.Add(time.Hour)
	}
	waits := !next.At.IsZero() && next.At.Sub(r.EvaluatedAt) <= MaxAway
	return next, waits && r.Verdict != verdict.Passed
}

// line returns the retry as the second line of a comment.
func (r Retry) line() string {
	return fmt.Sprintf("<!-- oap-gate:retry %s %d %s -->\n", r.At.UTC().Format(time.RFC3339), r.Runs, r.Head)
}

// Outdated returns a comment's body with the retry replaced by the statement that the branch must be updated: run again
// as it is, the gate would judge by an old base. It returns a body without a retry unchanged.
func Outdated(body string) string {
	retry, ok := ParseRetry(body)
	if !ok {
		return body
	}
	rest := trimLine(body[len(Marker):])
	rest = strings.Replace(trimLine(rest[len(retryMark().FindString(rest)):]), retry.sentence(), "", 1)
	return Marker + "\n*Update the branch: it may pass since " + retry.At.UTC().Format(time.DateOnly) +
		", and the base has moved on or the run is too old to be run again.*\n\n" + trimLine(rest)
}

// sentence says what people wait for.
func (r Retry) sentence() string {
	return fmt.Sprintf("*May pass from %s on; it is run again by itself.*\n", r.At.UTC().Format(time.DateOnly))
}
