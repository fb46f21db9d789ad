package sticky

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// Retry is what a comment says of when the gate may come to another verdict on the same commit. It stands in the
// comment and proves nothing: a fork may have written the report from which it was made.
type Retry struct {
	At   time.Time
	Runs int    // how many verdicts on Head the comment has told, this one included
	Head string // SHA of the pull request's head
}

// MaxAway is how far a time may be away: one that is farther is none.
const MaxAway = 30 * 24 * time.Hour

// maxRuns is the largest count that a comment holds.
const maxRuns = 999_999

// maxDoubts is after how many verdicts on one head an inconclusive one without a time of its own waits for people.
const maxDoubts = 3

var retryMark = plain.Pattern(`^<!-- oap-gate:retry (\S{1,40}) (\d{1,6}) ([0-9a-f]{40}) -->`)

// ParseRetry reads the retry of a comment's body, which is on the line after the Marker; false where there is none.
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

// trimLine is a text without the line end that it begins with, as the forge may have written it.
func trimLine(text string) string {
	for len(text) > 0 && (text[0] == '\r' || text[0] == '\n') {
		text = text[1:]
	}
	return text
}

// again is the retry of a report on a head, after what the comment said before; false where nothing is to be waited
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

// line is the retry as the second line of a comment.
func (r Retry) line() string {
	return fmt.Sprintf("<!-- oap-gate:retry %s %d %s -->\n", r.At.UTC().Format(time.RFC3339), r.Runs, r.Head)
}

// Outdated is a comment's body with the retry taken out and, in its place, that the branch has to be updated: run again
// as it is, the gate would judge by an old base. A body without a retry stays as it is.
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

// sentence tells people what they wait for.
func (r Retry) sentence() string {
	return fmt.Sprintf("*May pass from %s on; it is run again by itself.*\n", r.At.UTC().Format(time.DateOnly))
}
