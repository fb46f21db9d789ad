package evidence

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

// NewTransport is the way to one server that the operator named, which may have a private address, and to public ones
// that it redirects to. It goes by https, and to a named server on loopback by http, too. Of the options, Timeout,
// ConnectTo, CACert, Proxy and Resolver count; Timeout bounds a connection and the wait for the head of a reply.
func NewTransport(o LiveOptions, named *url.URL) (http.RoundTripper, error) {
	o.Timeout, o.PerHost = cmp.Or(o.Timeout, 10*time.Second), cmp.Or(o.PerHost, 4)
	d, err := newDialer(o)
	if err != nil {
		return nil, err
	}
	routes, err := newRoutes(o, d, nil, nil)
	if err != nil {
		return nil, err
	}
	return &toNamed{routes: routes, url: named}, nil
}

type toNamed struct {
	routes *routes
	url    *url.URL
}

// errPlain: a request that would go by http.
var errPlain = errors.New("http is for a server on loopback that was named; https is expected")

func (t *toNamed) RoundTrip(r *http.Request) (*http.Response, error) {
	named := r.URL.Scheme == t.url.Scheme && r.URL.Host == t.url.Host
	if r.URL.Scheme != "https" && (r.URL.Scheme != "http" || !named || !IsLoopback(r.URL.Hostname())) {
		return nil, fmt.Errorf("requesting %q: %w", r.URL.Host, errPlain)
	}
	switch _, connected := t.routes.dialer.connectTo(r.URL.Hostname()); {
	case t.routes.proxied != nil && !connected && !IsLoopback(r.URL.Hostname()):
		return t.routes.proxied.RoundTrip(r)
	case named:
		return t.routes.named.RoundTrip(r)
	}
	return t.routes.guarded.RoundTrip(r)
}

// IsLoopback reports whether a host is this machine by its name or its literal address.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
