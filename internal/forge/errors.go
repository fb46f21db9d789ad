package forge

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/openagentprotocol-OAP/oap-gate/internal/forge/repoconfig"
)

// Kinds of Error, for errors.Is.
var (
	ErrUnauthorized = errors.New("the forge does not know the token")               // 401
	ErrForbidden    = errors.New("the token may not do this")                       // 403
	ErrNotFound     = errors.New("it does not exist, or this token may not see it") // 404
	ErrRefused      = errors.New("the forge refuses what was sent")                 // 409, 422 and other 4xx
	ErrLimited      = errors.New("the forge's rate limit is used up")               // 403 or 429 with its headers
	ErrUnavailable  = errors.New("the forge cannot be reached or does not " +
		"make sense") // network, 5xx, an unreadable answer
	ErrUnresolved = errors.New("the host name is not resolved") // DNS
	// ErrEndless is the cause of an ErrUnavailable whose list has more pages than are read.
	ErrEndless = fmt.Errorf("at most %d are read", maxPages)
)

// Error is what went wrong between here and the forge.
type Error struct {
	Op    string // what was to be done, as "reading the rulesets"
	Kind  error  // one of the Err values
	Until time.Time
	Err   error // the forge's own words, foreign text; may be nil

	message    string        // only the answer's message
	anonymous  bool          // no token was sent
	lost       bool          // the request was sent, and no answer came of it
	unreadable bool          // the answer has another type than was asked for
	brief      bool          // refused by a limit that ends after pause
	pause      time.Duration // at most maxWait
}

func (e *Error) Error() string {
	text := e.Op + ": " + e.Kind.Error()
	if !e.Until.IsZero() {
		text += " until " + e.Until.UTC().Format(time.RFC3339)
	}
	if e.Err != nil {
		text += fmt.Sprintf(" (%s)", e.Err)
	}
	return text
}

// Fix says what would do. A token is asked for only where the forge answered.
func (e *Error) Fix() string {
	switch e.Kind {
	case ErrUnresolved:
		return "is this machine online? if it is, fix its resolver, name the forge's API with --api-url, " +
			"or its proxy with --proxy"
	case ErrUnavailable:
		if _, ok := errors.AsType[*net.OpError](e.Err); ok {
			return "is this machine online? if it is, try again, or name the forge's API with --api-url"
		}
		return "try again, or name the forge's API with --api-url"
	case ErrLimited:
		if e.anonymous {
			return "give a token in GITHUB_TOKEN, or try again later"
		}
		return "try again later"
	case ErrRefused:
		return "change what the forge names, there or in " + repoconfig.Path
	}
	if e.anonymous {
		return "name the repository with --repository OWNER/NAME, and give a token in GITHUB_TOKEN: none was given"
	}
	return "name the repository with --repository OWNER/NAME, and give a token in GITHUB_TOKEN that may do this " +
		"(writing takes: comment pull-requests, remind issues, rerun actions and pull-requests, protect administration)"
}

// Unwrap gives the kind and the cause.
func (e *Error) Unwrap() []error { return []error{e.Kind, e.Err} }

// Temporary reports whether another try may end otherwise.
func Temporary(err error) bool {
	return errors.Is(err, ErrLimited) || errors.Is(err, ErrUnavailable) || errors.Is(err, ErrUnresolved)
}

func classify(op string, err error) *Error {
	e := &Error{Op: op, Kind: ErrUnavailable, Err: err}
	var dns *net.DNSError
	var limit *github.RateLimitError
	var abuse *github.AbuseRateLimitError
	var response *github.ErrorResponse
	switch {
	case errors.As(err, &limit):
		e.Kind, e.Until, e.Err = ErrLimited, limit.Rate.Reset.Time, nil
	case errors.As(err, &abuse):
		e.Kind, e.Err = ErrLimited, nil
		e.limited(abuse.Response)
	case errors.As(err, &dns):
		e.Kind = ErrUnresolved
	case errors.As(err, &response) && response.Response != nil:
		e.Err, e.message = errors.New(words(response)), response.Message
		e.Kind = kindOf(response)
		e.lost = e.Kind == ErrUnavailable
		if e.Kind == ErrLimited {
			e.limited(response.Response)
		}
	default:
		op, _ := errors.AsType[*net.OpError](err)
		_, sent := errors.AsType[*url.Error](err)
		e.lost = sent && (op == nil || op.Op != "dial")
	}
	return e
}

// hide takes a token out of the forge's words: they reach a log that others read.
func (e *Error) hide(token string) {
	if e.Err != nil && token != "" && strings.Contains(e.Err.Error(), token) {
		e.Err = errors.New(strings.ReplaceAll(e.Err.Error(), token, "***"))
	}
}

// limited takes from an answer how long the limit lasts.
func (e *Error) limited(r *http.Response) {
	e.Until = retryTime(r)
	if seconds, ok := retryAfter(r); ok {
		e.pause = time.Duration(seconds) * time.Second
		e.brief = e.pause <= maxWait
	}
}

// retryAfter is for how many seconds the forge asks not to be asked again; false where it does not say.
func retryAfter(r *http.Response) (int64, bool) {
	if r == nil {
		return 0, false
	}
	seconds, err := strconv.ParseInt(r.Header.Get("Retry-After"), 10, 32)
	return seconds, err == nil && seconds >= 0
}

func kindOf(r *github.ErrorResponse) error {
	h := r.Response.Header
	switch code := r.Response.StatusCode; {
	case code == http.StatusTooManyRequests,
		code == http.StatusForbidden &&
			(h.Get("Retry-After") != "" || strings.Contains(strings.ToLower(r.Message), "rate limit")):
		return ErrLimited
	case code == http.StatusUnauthorized:
		return ErrUnauthorized
	case code == http.StatusForbidden:
		return ErrForbidden
	case code == http.StatusNotFound:
		return ErrNotFound
	case code >= 400 && code < 500:
		return ErrRefused
	}
	return ErrUnavailable
}

// retryTime returns when the forge says that it may be asked again, by its own clock; zero if it does not say.
func retryTime(r *http.Response) time.Time {
	if r == nil {
		return time.Time{}
	}
	if seconds, ok := retryAfter(r); ok {
		if now, err := http.ParseTime(r.Header.Get("Date")); err == nil {
			return now.Add(time.Duration(seconds) * time.Second)
		}
	}
	if reset, err := strconv.ParseInt(r.Header.Get("X-RateLimit-Reset"), 10, 64); err == nil && reset > 0 {
		return time.Unix(reset, 0).UTC()
	}
	return time.Time{}
}

// words returns what the forge says: its message, and what it says about single fields.
func words(r *github.ErrorResponse) string {
	text := fmt.Sprintf("%d %q", r.Response.StatusCode, r.Message)
	for _, e := range r.Errors {
		text += fmt.Sprintf(", %q", cmp.Or(e.Message, strings.TrimSpace(e.Resource+" "+e.Field+" "+e.Code)))
	}
	return text
}
