package live

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/typed"
)

// NewTransport returns the connection to one server that the operator named, which may have a private address, and to
// public servers that it redirects to. It uses https, and http only for a named server on loopback. It reads the
// options Timeout, ConnectTo, CACert, Proxy and Resolver; Timeout limits a connection and the wait for the head of a
// reply.
func NewTransport(o Options, named *url.URL) (http.RoundTripper, error) {
	o.Timeout, o.PerHost = cmp.Or(o.Timeout, 10*time.Second), cmp.Or(o.PerHost, 4)
	routes, err := newRoutes(o, nil, nil)
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
	if r.URL.Scheme != "https" && (r.URL.Scheme != "http" || !named || !typed.IsLoopback(r.URL.Hostname())) {
		return nil, fmt.Errorf("requesting %q: %w", r.URL.Host, errPlain)
	}
	switch _, connected := t.routes.dialer.connectTo(r.URL.Hostname()); {
	case t.routes.proxied != nil && !connected && !typed.IsLoopback(r.URL.Hostname()):
		if !named && !isPublicName(r.URL.Hostname()) { // the proxy resolves names, so that no guard sees the address
			return nil, fmt.Errorf("requesting %q, which is not of the public DNS: %w", r.URL.Host, ErrForbidden)
		}
		return t.routes.proxied.RoundTrip(r)
	case named:
		return t.routes.named.RoundTrip(r)
	}
	return t.routes.guarded.RoundTrip(r)
}

var errNoServer = errors.New("no server is named")

// ServerTransport connects to the server of ServerURL as a live source does: with the same guard, roots, proxy and
// connection timeout. It serves a protocol whose answers are more than documents; the caller caps what it sends and
// reads. The server may be private if its URL or ConnectTo says so, since the operator named it.
func ServerTransport(o Options) (http.RoundTripper, error) {
	o.Timeout, o.Jobs, o.PerHost = cmp.Or(o.Timeout, 10*time.Second), cmp.Or(o.Jobs, 4), cmp.Or(o.PerHost, 4)
	server, err := operatorURL(o.ServerURL, "http", "https")
	if err != nil || server == nil {
		return nil, fmt.Errorf("reading server URL %q: %w", o.ServerURL, cmp.Or(err, errNoServer))
	}
	routes, err := newRoutes(o, nil, server)
	if err != nil {
		return nil, err
	}
	route, refused := routes.to(server, IsPrivate(server.Hostname()))
	if refused != nil {
		return nil, fmt.Errorf("reaching %q: %s", server.Host, refused.Message)
	}
	return route, nil
}
