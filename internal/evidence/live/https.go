package live

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
)

const (
	maxRedirects   = 5
	maxHeaderBytes = 64 << 10
	maxDials       = 20 // connections for one request: net/http sets no limit if an HTTP/2 server ends each of them

	acceptJSON = "application/json, */*;q=0.5"
	acceptRDAP = "application/rdap+json, application/json;q=0.9"
)

// routes are the ways that requests take out of the machine.
type routes struct {
	guarded *way     // to public addresses and those of ConnectTo
	proxied *way     // nil without a proxy
	named   *way     // to the server of RDAPURL
	private *way     // to the server of ServerURL
	rdap    *url.URL // nil: none
	server  *url.URL // nil: none
	dialer  *dialer
}

// way is a transport whose answers end with the request's context.
type way struct{ *http.Transport }

// RoundTrip sends one request, by at most maxDials connections. The body of 101 Switching Protocols would be the
// connection itself, which no context ends: it is closed, and the answer has none.
func (w *way) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := w.Transport.RoundTrip(r.WithContext(context.WithValue(r.Context(), dials{}, new(atomic.Int32))))
	if err == nil && resp.StatusCode == http.StatusSwitchingProtocols {
		_ = resp.Body.Close()
		resp.Body = http.NoBody
	}
	return resp, err
}

// dials is the key of the number of connections that a request has made; see [way.RoundTrip].
type dials struct{}

// errDials means that a server ended each connection before it answered.
var errDials = fmt.Errorf("the server ended %d connections without an answer", maxDials)

// errProxy means that the proxy would not connect: nothing is known about the host behind it.
var errProxy = errors.New("the proxy did not connect")

type dial = func(ctx context.Context, network, address string) (net.Conn, error)

func newRoutes(o Options, rdap, server *url.URL) (*routes, error) {
	d, err := newDialer(o)
	if err != nil {
		return nil, err
	}
	if err := addRoots(x509.NewCertPool(), o.CACert); err != nil {
		return nil, err
	}
	var configs []*tls.Config
	// About 150 certificates take longer to parse than all else that a run without a connection does.
	trust := sync.OnceValue(func() error {
		pool, err := Roots(o.CACert)
		for _, c := range configs {
			c.RootCAs = pool
		}
		return err
	})
	// A transport dials before it takes its TLS configuration.
	trusting := func(dial dial) dial {
		return func(ctx context.Context, network, address string) (net.Conn, error) {
			if made, ok := ctx.Value(dials{}).(*atomic.Int32); ok && made.Add(1) > maxDials {
				return nil, errDials
			}
			if err := trust(); err != nil {
				return nil, err
			}
			return dial(ctx, network, address)
		}
	}
	transport := func(dial dial) *way {
		configs = append(configs, &tls.Config{MinVersion: tls.VersionTLS12})
		return &way{&http.Transport{
			DialContext:            trusting(dial),
			TLSClientConfig:        configs[len(configs)-1],
			TLSHandshakeTimeout:    o.Timeout,
			ForceAttemptHTTP2:      true,
			DisableCompression:     true,
			MaxResponseHeaderBytes: maxHeaderBytes,
			IdleConnTimeout:        o.Timeout,
			MaxIdleConns:           o.Jobs,
			MaxIdleConnsPerHost:    o.PerHost,
			// A server could otherwise have 4 MiB of each answer buffered before its cap is looked at.
			HTTP2: &http.HTTP2Config{MaxReceiveBufferPerConnection: 1 << 20, MaxReceiveBufferPerStream: 256 << 10},
		}}
	}
	r := &routes{guarded: transport(d.transport(webGuard.Safe, ".")), named: transport(d.transport(nil, "")),
		private: transport(d.transport(onlyPrivate, "")), rdap: rdap, server: server, dialer: d}
	if o.Proxy == "" {
		return r, nil
	}
	proxy, err := operatorURL(o.Proxy, "http", "https", "socks5", "socks5h")
	if err != nil {
		return nil, fmt.Errorf("reading proxy URL: %w", err)
	}
	r.proxied = transport(d.transport(nil, ""))
	r.proxied.Proxy = http.ProxyURL(proxy)
	r.proxied.OnProxyConnectResponse = func(_ context.Context, _ *url.URL, _ *http.Request, resp *http.Response) error {
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("%w: it answered %s", errProxy, resp.Status)
		}
		return nil
	}
	return r, nil
}

// operatorURL reads a URL that the operator named; it is nil where the text is empty.
func operatorURL(text string, schemes ...string) (*url.URL, error) {
	if text == "" {
		return nil, nil
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, err
	}
	if u.Host == "" || !slices.Contains(schemes, u.Scheme) {
		return nil, fmt.Errorf("%q: expected scheme://host with a scheme of %v", u.Redacted(), schemes)
	}
	return u, nil
}

func (r *routes) close() {
	for _, way := range []*way{r.guarded, r.named, r.private, r.proxied} {
		if way != nil {
			way.CloseIdleConnections()
		}
	}
}

// isNamed reports whether a URL is on a server that the operator named.
func (r *routes) isNamed(u *url.URL) bool {
	return sameServer(r.rdap, u) || sameServer(r.server, u)
}

// sameServer returns false if the first URL is nil.
func sameServer(a, b *url.URL) bool { return a != nil && a.Scheme == b.Scheme && a.Host == b.Host }

// to picks the way to a URL.
func (r *routes) to(u *url.URL, named bool) (http.RoundTripper, *sources.Refusal) {
	switch {
	case named && sameServer(r.server, u):
		return r.private, nil
	case named:
		return r.named, nil
	}
	if _, ok := r.dialer.connectTo(u.Hostname()); ok || r.proxied == nil {
		return r.guarded, nil
	}
	if !isPublicName(u.Hostname()) {
		return nil, sources.Refuse(evidence.Invalid, evidence.CodeForbidden, "host %q is not of the public DNS",
			u.Hostname())
	}
	return r.proxied, nil
}

// web gets documents.
type web struct {
	*limits
	*backoff
	preflight bool // see Options
	ownRoots  bool // Options.CACert is given
	agent     string
	local     []Local // hosts that no redirect leads to
	routes    *routes
	cache     *cache // nil: none
}

// https is the protocol of documents.
type https struct{ *web }

func (h https) Observe(ctx context.Context, r evidence.Request) evidence.Observation {
	u, refused := sources.DocumentURL(r.Target)
	if refused != nil {
		return refused.Observation(r)
	}
	return h.get(query{url: u, accept: acceptJSON, revalidate: true}).Observe(ctx, r)
}

// named is the protocol of the server that the operator named.
type named struct{ *web }

func (n named) Observe(ctx context.Context, r evidence.Request) evidence.Observation {
	u, err := url.Parse(r.Target)
	if err != nil || !sameServer(n.routes.server, u) {
		return sources.Refuse(evidence.Invalid, evidence.CodeURL, "%q is not on the server that was named",
			r.Target).Observation(r)
	}
	return n.get(query{url: u, accept: acceptJSON, named: true}).Observe(ctx, r)
}

// get returns the layer that fetches what a query names.
func (w *web) get(q query) retry {
	return retry{w.backoff, func(ctx context.Context, r evidence.Request) attempt { return w.document(ctx, r, q) }}
}

// query is one document to GET.
type query struct {
	url    *url.URL
	accept string
	named  bool // url is on a server that the operator named
	// revalidate has the disk cache looked at, once there is a place: what it holds may be large.
	revalidate bool
	cached     *cached // what the disk cache has; nil: nothing
}

// document fetches a document, following redirects itself: each hop takes its slots again, and no header of an earlier
// hop is sent to a later one. Time in queues does not count against the timeout.
func (w *web) document(ctx context.Context, r evidence.Request, q query) attempt {
	left := w.timeout
	var a attempt
	if r.MaxBytes > largeDocument {
		if err := place(ctx, w.large); err != nil {
			return a.failed(classify(ctx, err))
		}
		defer func() { <-w.large }()
	}
	for hop := 0; ; hop++ {
		a.observation.FinalURL = q.url.String()
		if a.observation.FinalURL == r.Target {
			a.observation.FinalURL = ""
		}
		leave, err := w.slots.enter(ctx, q.url.Hostname())
		if err != nil {
			return a.failed(classify(ctx, err))
		}
		if hop == 0 && q.revalidate {
			q.cached = w.cache.document(r)
		}
		start := time.Now()
		within, cancel := context.WithTimeoutCause(ctx, left, errTimeout)
		var next *url.URL
		a, next = w.hop(within, a, r, q)
		cancel()
		took := time.Since(start)
		leave()
		left -= took
		a.observation.Milliseconds += took.Milliseconds()
		if next == nil {
			return a
		}
		if hop == maxRedirects {
			return a.failed(sources.Refuse(evidence.Invalid, evidence.CodeRedirects,
				"redirected more than %d times, to %q", maxRedirects, next), false)
		}
		q.url, q.named = next, q.named && w.routes.isNamed(next)
	}
}

// hop sends one request. It gives the URL of a redirect, which is checked, or a finished attempt.
func (w *web) hop(ctx context.Context, a attempt, r evidence.Request, q query) (attempt, *url.URL) {
	route, refused := w.routes.to(q.url, q.named)
	if refused != nil {
		return a.failed(refused, false), nil
	}
	traced := httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(i httptrace.GotConnInfo) {
		a.observation.Address = i.Conn.RemoteAddr().String()
	}})
	req, err := http.NewRequestWithContext(traced, http.MethodGet, q.url.String(), nil)
	if err != nil {
		return a.failed(sources.Refuse(evidence.Invalid, evidence.CodeURL, "%q cannot be requested", q.url), false),
			nil
	}
	req.Header.Set("User-Agent", w.agent)
	req.Header.Set("Accept", q.accept)
	req.Header.Set("Accept-Encoding", "identity")
	conditional := q.cached != nil && q.cached.ETag != "" && q.cached.URL == q.url.String()
	if conditional {
		req.Header.Set("If-None-Match", q.cached.ETag)
	}
	resp, err := route.RoundTrip(req)
	if err != nil {
		refused, again := classify(ctx, err)
		if refused.Code == evidence.CodeTLS && refused.Fix == "" && w.ownRoots { // --ca-cert does not help then
			refused.WithFix("install a certificate of a public authority")
		}
		return a.failed(refused, again || w.preflight && refused.Code == evidence.CodeTimeout), nil
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode < 100 || resp.StatusCode > 999 { // HTTP/2 takes any integer; RFC 9110 section 15: three digits
		return a.failed(sources.Refuse(evidence.Absent, evidence.CodeHTTPStatus,
			"answered with the status %d, expected 200", resp.StatusCode), false), nil
	}
	a.observation.Status, a.observation.Date = resp.StatusCode, date(resp)
	for _, c := range challenges {
		if v := strings.ToLower(strings.TrimSpace(resp.Header.Get(c.header))); v != "" && slices.Contains(c.values, v) {
			return a.failed(sources.Refuse(evidence.Unavailable, evidence.CodeChallenge,
				"%s answers programs with a challenge for browsers (%s)", q.url.Hostname(), c.who), false), nil
		}
	}
	if location := resp.Header.Get("Location"); redirects(resp.StatusCode) && location != "" {
		if w.preflight {
			return a.failed(sources.Refuse(evidence.Absent, evidence.CodeHTTPStatus,
				"answered %d with the Location %.200q, expected 200", resp.StatusCode, location), false), nil
		}
		next, refused := w.redirect(q, location)
		if refused != nil {
			return a.failed(refused, false), nil
		}
		return a, next
	}
	if conditional && resp.StatusCode == http.StatusNotModified {
		return w.confirmed(a, r, q), nil
	}
	if resp.StatusCode != http.StatusOK {
		refused, again := status(resp)
		if resp.StatusCode == http.StatusNotFound && resp.Header.Get("Server") == "GitHub.com" &&
			strings.HasPrefix(q.url.Path, "/.well-known/") {
			refused.WithFix("serve %s with status 200 (it answers 404), with an empty file .nojekyll at the site's "+
				"root: Jekyll leaves out directories that begin with a dot", q.url.Path)
		}
		return a.failed(refused, again || w.preflight && resp.StatusCode/100 == 5).withRetryAfter(resp, w.now), nil
	}
	body, refused := w.body(ctx, resp, r.MaxBytes)
	if refused != nil {
		return a.failed(refused, refused.Code == evidence.CodeConnect || w.preflight &&
			refused.Code == evidence.CodeTimeout), nil
	}
	a.observation.State, a.observation.Body = evidence.Obtained, body
	w.cache.keep(r, q.url, resp.Header.Get("ETag"), &a.observation)
	return a, nil
}

// challenges are the headers by which a firewall says that it challenges a browser. A page's text says nothing: it is
// the owner's to choose.
var challenges = []struct {
	header string
	values []string
	who    string
}{
	{"cf-mitigated", []string{"challenge"}, "Cloudflare"},
	{"x-vercel-mitigated", []string{"challenge", "deny"}, "Vercel"},
	{"x-amzn-waf-action", []string{"challenge", "captcha"}, "AWS WAF"},
	{"sg-captcha", []string{"challenge"}, "SiteGround"},
}

// date returns the time of a response's Date header, or the zero time if the header is missing or is not a date.
func date(resp *http.Response) time.Time {
	t, _ := http.ParseTime(resp.Header.Get("Date"))
	return t.UTC()
}

func redirects(status int) bool {
	switch status {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

func (w *web) redirect(q query, location string) (*url.URL, *sources.Refusal) {
	next, err := q.url.Parse(location)
	if err != nil {
		return nil, sources.Refuse(evidence.Invalid, evidence.CodeURL, "redirected to %q, which is not a URL",
			location)
	}
	if q.named && w.routes.isNamed(next) {
		return next, nil
	}
	next, refused := sources.Usable(next)
	if refused != nil {
		return nil, sources.Refuse(refused.State, refused.Code, "redirected to %s", refused.Message)
	}
	if slices.ContainsFunc(w.local, func(l Local) bool { return l.Host == next.Hostname() }) {
		return nil, sources.Refuse(evidence.Unavailable, evidence.CodeLocal,
			"redirected to %q, which is local: the network is not asked for it", next)
	}
	return next, nil
}

// status judges a status other than 200: what another try may change is Unavailable, all else means that
// the document is not there.
func status(resp *http.Response) (*sources.Refusal, bool) {
	text := strings.TrimSpace(strconv.Itoa(resp.StatusCode) + " " + http.StatusText(resp.StatusCode))
	state, again := evidence.Absent, false
	switch code := resp.StatusCode; code {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		state, again = evidence.Unavailable, true
	default:
		if code == http.StatusRequestTimeout || code == http.StatusTooEarly || code/100 == 5 {
			state = evidence.Unavailable
		}
	}
	return sources.Refuse(state, evidence.CodeHTTPStatus, "answered %s, expected 200", text), again
}
