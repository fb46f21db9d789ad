package evidence

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"time"
)

var errNoServer = errors.New("there is none")

// ServerTransport makes the connections to the server of ServerURL as a live source makes its own: the same guard,
// roots, proxy and time for a connection. It is for a protocol whose answers are no documents; what it sends and reads
// is the caller's to cap. The server may be private where its URL says so, or ConnectTo does, since the operator named
// it.
func ServerTransport(o LiveOptions) (http.RoundTripper, error) {
	o.Timeout, o.Jobs, o.PerHost = cmp.Or(o.Timeout, 10*time.Second), cmp.Or(o.Jobs, 4), cmp.Or(o.PerHost, 4)
	server, err := operatorURL(o.ServerURL, "http", "https")
	if err != nil || server == nil {
		return nil, fmt.Errorf("reading server URL %q: %w", o.ServerURL, cmp.Or(err, errNoServer))
	}
	dialer, err := newDialer(o)
	if err != nil {
		return nil, err
	}
	routes, err := newRoutes(o, dialer, nil, server)
	if err != nil {
		return nil, err
	}
	route, refused := routes.to(server, IsPrivate(server.Hostname()))
	if refused != nil {
		return nil, fmt.Errorf("reaching %q: %s", server.Host, refused.message)
	}
	return route, nil
}
