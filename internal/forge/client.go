// Package forge reads and changes settings and comments at the forge.
//
// It speaks with the forge that hosts a registry, by GitHub's REST API: it writes the one comment of a pull request,
// and reads and applies the protections of the default branch. Only the operator names the host.
package forge

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/google/go-github/v60/github"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/typed"
)

// DefaultBaseURL is GitHub's own API.
const DefaultBaseURL = "https://api.github.com"

// Limits of one exchange with the forge.
const (
	maxBody      = 16 << 20 // bytes of one answer, uncompressed
	maxPages     = 50
	requestTime  = 30 * time.Second
	maxRedirects = 3
	maxTries     = 3
	maxWait      = time.Minute // that the forge may ask for before it is asked again
)

// Options say where the forge is.
type Options struct {
	BaseURL    string // URL of the API, as GITHUB_API_URL; empty: DefaultBaseURL. https, or http on loopback
	Token      string // empty: anonymous
	Repository string // owner/name
	Proxy      *url.URL
	Roots      *x509.CertPool // nil: the system's
	UserAgent  string
	RetryWait  time.Duration // before what failed for now is asked once more, doubled each time; 0: it is not
}

// Client is one repository at one forge. It is safe for concurrent use.
type Client struct {
	Repository string // owner/name

	github    *github.Client
	token     string // empty: anonymous
	retryWait time.Duration
}

var repositoryName = plain.Pattern(`^([A-Za-z0-9](?:[A-Za-z0-9_-]{0,98}))/([A-Za-z0-9._-]{1,100})$`)

// New makes a client. Nothing is asked yet.
func New(o Options) (*Client, error) {
	m := repositoryName().FindStringSubmatch(o.Repository)
	if m == nil || m[2] == "." || m[2] == ".." {
		return nil, remedy.Errorf("give --repository OWNER/NAME", "repository is %q; expected owner/name", o.Repository)
	}
	o.BaseURL = cmp.Or(o.BaseURL, DefaultBaseURL)
	base, err := url.Parse(o.BaseURL)
	if err != nil || base.Host == "" || base.User != nil || base.RawQuery != "" || base.Fragment != "" {
		return nil, remedy.Errorf("give --api-url https://HOST/PATH",
			"URL of the forge is %q; expected https://HOST/PATH", o.BaseURL)
	}
	if base.Scheme != "https" && (base.Scheme != "http" || !typed.IsLoopback(base.Hostname())) {
		return nil, remedy.Errorf("give --api-url https://HOST/PATH",
			"URL of the forge is %q; expected https: the token would travel in the clear", o.BaseURL)
	}
	base.Path = strings.TrimSuffix(base.Path, "/") + "/"
	// A token never reaches a terminal or a log by an error of the header's.
	if strings.ContainsFunc(o.Token, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
		return nil, remedy.Errorf("give the token in GITHUB_TOKEN as the forge showed it",
			"the token holds spaces or control characters")
	}
	inner := &http.Transport{
		Proxy:                  http.ProxyURL(o.Proxy),
		TLSClientConfig:        &tls.Config{RootCAs: o.Roots, MinVersion: tls.VersionTLS12},
		ForceAttemptHTTP2:      true,
		DialContext:            (&net.Dialer{Timeout: 10 * time.Second}).DialContext,
		TLSHandshakeTimeout:    10 * time.Second,
		MaxResponseHeaderBytes: 256 << 10,
	}
	gh := github.NewClient(&http.Client{
		Transport:     &bound{inner: inner, base: base, token: o.Token},
		Timeout:       requestTime,
		CheckRedirect: sameHost,
	})
	gh.BaseURL = base
	gh.UserAgent = cmp.Or(o.UserAgent, "oap-gate")
	return &Client{Repository: o.Repository, github: gh, token: o.Token, retryWait: o.RetryWait}, nil
}

// sameHost follows what a renamed repository answers, and nothing else: no other host gets to see the request, and no
// write is turned into a read.
func sameHost(req *http.Request, via []*http.Request) error {
	first := via[0]
	switch {
	case len(via) > maxRedirects:
		return fmt.Errorf("more than %d redirects", maxRedirects)
	case first.Method != http.MethodGet:
		return errors.New("the forge redirects a write: the repository was renamed, name it as it is called now")
	case req.URL.Scheme != first.URL.Scheme || req.URL.Host != first.URL.Host:
		return fmt.Errorf("the forge redirects to another host, %q", req.URL.Host)
	}
	return nil
}

// bound sends the token only to the forge and caps what comes back.
type bound struct {
	inner http.RoundTripper
	base  *url.URL
	token string
}

func (b *bound) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Scheme != b.base.Scheme || r.URL.Host != b.base.Host {
		return nil, fmt.Errorf("request to %q, the forge is %q", r.URL.Host, b.base.Host)
	}
	r = r.Clone(r.Context())
	if b.token != "" {
		r.Header.Set("Authorization", "Bearer "+b.token)
	}
	resp, err := b.inner.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusSwitchingProtocols { // its body would be the connection, which no context ends
		_ = resp.Body.Close()
		return nil, errors.New("the forge answered 101 Switching Protocols")
	}
	resp.Body = &limited{ReadCloser: resp.Body, left: maxBody}
	return resp, nil
}

type limited struct {
	io.ReadCloser
	left int64
}

func (c *limited) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, fmt.Errorf("answer has more than %d bytes", maxBody)
	}
	n, err := c.ReadCloser.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}

// Call makes one request below repos/OWNER/NAME, or at the root where path starts with a slash. Its error is an *Error.
// A read whose answer was lost is made again, a write never; either is where the forge refused it by a limit that ends
// soon. An empty answer to a read, or null, is an error: what is there would be made a second time.
func (c *Client) Call(ctx context.Context, op, method, path string, body, into any) (*github.Response, error) {
	for wait, try := c.retryWait, 1; ; wait, try = 2*wait, try+1 {
		resp, err := c.call(ctx, op, method, path, body, into)
		e, failed := errors.AsType[*Error](err)
		again := failed && (e.brief || e.lost && method == http.MethodGet)
		if !again || c.retryWait == 0 || try == maxTries {
			return resp, err
		}
		select {
		case <-ctx.Done():
			return resp, err
		case <-time.After(max(wait, e.pause)):
		}
	}
}

func (c *Client) call(ctx context.Context, op, method, path string, body, into any) (*github.Response, error) {
	full := "repos/" + c.Repository
	if strings.HasPrefix(path, "/") {
		full = path[1:]
	} else if path != "" {
		full += "/" + path
	}
	req, err := c.github.NewRequest(method, full, body)
	if err != nil {
		return nil, &Error{Op: op, Kind: ErrUnavailable, Err: err}
	}
	var text json.RawMessage
	var decoded any
	if into != nil {
		decoded = &text
	}
	resp, err := c.github.Do(ctx, req, decoded)
	if err == nil && into != nil {
		switch empty := len(text) == 0 || string(text) == "null"; {
		case !empty:
			if err = json.Unmarshal(text, into); err != nil {
				e := classify(op, err)
				e.unreadable = true
				return resp, e
			}
		case method == http.MethodGet:
			err = errors.New("the answer is empty")
		}
	}
	if err != nil {
		e := classify(op, err)
		e.anonymous = c.token == ""
		e.hide(c.token)
		return resp, e
	}
	return resp, nil
}

// List yields the elements of a list, which is read page by page. An error is yielded last, with no element; it is an
// *Error.
func List[T any](ctx context.Context, c *Client, op, path string) iter.Seq2[T, error] {
	return Pages(ctx, c, op, path, func(list []T) []T { return list })
}

// Pages lists the elements of a paged answer. Each page is an object, and elements returns the elements of one.
func Pages[P, T any](ctx context.Context, c *Client, op, path string, elements func(P) []T) iter.Seq2[T, error] {
	sep := "?"
	if strings.Contains(path, "?") {
		sep = "&"
	}
	return func(yield func(T, error) bool) {
		var none T
		for n := 1; n > 0; {
			var list P
			resp, err := c.Call(ctx, op, http.MethodGet, path+sep+"per_page=100&page="+strconv.Itoa(n), nil, &list)
			if err != nil {
				yield(none, err)
				return
			}
			for _, one := range elements(list) {
				if !yield(one, nil) {
					return
				}
			}
			// A forge that never ends is an error, not a list that was cut short.
			if next := resp.NextPage; next != 0 && (next <= n || next > maxPages) {
				yield(none, &Error{Op: op, Kind: ErrUnavailable,
					Err: fmt.Errorf("page %d names page %d as the next, %w", n, next, ErrEndless)})
				return
			}
			n = resp.NextPage
		}
	}
}

// All returns all elements of a List.
func All[T any](ctx context.Context, c *Client, op, path string) (all []T, err error) {
	for one, err := range List[T](ctx, c, op, path) {
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

var remotes = plain.Pattern(
	`^(?:(?:https|http|ssh|git)://(?:[^@/]+@)?([^/:@]+)(?::\d+)?/|(?:[^@/:]+@)?([^/:@]+):)/?([^/]+/[^/]+?)(?:\.git)?/?$`)

// ParseRemote returns the host and owner/name of a remote's URL, in any form that git accepts. Both are empty if the
// URL is not a forge's.
func ParseRemote(remote string) (host, repository string) {
	m := remotes().FindStringSubmatch(remote)
	if m == nil || !repositoryName().MatchString(m[3]) {
		return "", ""
	}
	return strings.ToLower(m[1] + m[2]), m[3]
}

// Serves reports whether the API at baseURL is that of the forge whose repositories are cloned from host. GitHub's
// API has a host of its own, "api." before the forge's, and an Enterprise Server's has a path. ssh.github.com is
// GitHub's SSH on port 443.
func Serves(baseURL, host string) bool {
	base, err := url.Parse(cmp.Or(baseURL, DefaultBaseURL))
	if err != nil {
		return false
	}
	api := strings.ToLower(base.Hostname())
	return host == api || "api."+strings.TrimPrefix(host, "ssh.") == api
}

// Is reports whether the name of a registry, HOST/OWNER/NAME as a report has it, is that of the client's repository.
func (c *Client) Is(origin string) bool {
	host, path, _ := strings.Cut(origin, "/")
	host, _, _ = strings.Cut(host, ":")
	return Serves(c.github.BaseURL.String(), host) && strings.EqualFold(path, c.Repository)
}

// ActionsApp is the id of the app by whose token a workflow writes.
const ActionsApp = 15368

// Writer is the owner of the client's token. The author that the forge names distinguishes what the Writer wrote from
// what others wrote; the text never does.
type Writer struct {
	login string // for a user's token
	app   int64  // for an app's token
}

// Author is who wrote an issue or a comment, as the forge shows it.
type Author struct {
	User Account `json:"user"`
	App  *struct {
		ID int64 `json:"id"`
	} `json:"performed_via_github_app"`
}

// Writer asks whose the token is. An app's token cannot tell which app it is of: app is its id. The error is an *Error.
func (c *Client) Writer(ctx context.Context, app int64) (Writer, error) {
	var user Account
	_, err := c.Call(ctx, "asking whose the token is", http.MethodGet, "/user", nil, &user)
	if err != nil && !errors.Is(err, ErrForbidden) {
		return Writer{}, err
	}
	return Writer{login: user.Login, app: app}, nil
}

// Wrote reports whether a is w.
func (w Writer) Wrote(a Author) bool {
	if w.login != "" {
		return strings.EqualFold(a.User.Login, w.login)
	}
	return a.App != nil && a.App.ID == w.app
}

// Knows checks that a, the author of what w has just written, is w: a text that is not recognized later would be
// written again each time.
func (w Writer) Knows(a Author) error {
	if w.Wrote(a) {
		return nil
	}
	if w.login != "" || a.App == nil {
		return remedy.Errorf("give the token of a user or of an app",
			"what was written with this token has the author %q, who is not known again", a.User.Login)
	}
	return remedy.Errorf(fmt.Sprintf("give --app-id %d", a.App.ID),
		"what was written with this token has the app %d for its author, %d was looked for", a.App.ID, w.app)
}
