package live

import (
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/dnstest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// The transport reaches a private server where the operator's URL names one, and a public name by public addresses
// alone.
func TestServerTransport(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		_, _ = rw.Write([]byte("here"))
	}))
	t.Cleanup(server.Close)
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	resolver := dnstest.Resolver(t, map[string][]string{"inward.example": {"127.0.0.1"}})
	for base, want := range map[string]error{server.URL: nil, "http://inward.example:" + port: ErrForbidden} {
		transport := must.Get(ServerTransport(Options{ServerURL: base, Resolver: resolver}))(t)
		request, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, base, nil)
		resp, err := transport.RoundTrip(request)
		if !errors.Is(err, want) || (err == nil) != (want == nil) {
			t.Errorf("%s: %v, want %v", base, err, want)
		}
		if resp != nil {
			_ = resp.Body.Close()
		}
	}
	for base, want := range map[string]string{"": "no server is named", "ftp://x.example": "expected scheme",
		"http://%": "invalid URL"} {
		if _, err := ServerTransport(Options{ServerURL: base}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", base, err, want)
		}
	}
}
