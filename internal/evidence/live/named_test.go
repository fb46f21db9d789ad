package live

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// Named requests go to the one server that the operator named, plain and on loopback as it may be, and to no other.
func TestNamed(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if asked++; r.URL.Path == "/busy" {
			rw.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		_, _ = rw.Write([]byte("here"))
	}))
	t.Cleanup(server.Close)
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter,
		*http.Request) {
		t.Error("another server was asked")
	}))
	t.Cleanup(other.Close)
	l := onWeb(t, startWeb(t), func(o *Options) { o.ServerURL, o.Tries = server.URL+"/base", 2 })
	for target, want := range map[string]string{
		server.URL + "/x": `obtained 200 "here"`,
		other.URL + "/x":  "invalid url-not-usable 0",
		"::":              "invalid url-not-usable 0",
	} {
		if got := outcome(l.Observe(t.Context(), evidence.Request{Protocol: evidence.Named, Target: target,
			MaxBytes: 100})); got != want {
			t.Errorf("%s: %s, want %s", target, got, want)
		}
	}
	// A name that this machine resolves to no private address is not asked.
	public := onWeb(t, startWeb(t), func(o *Options) { o.ServerURL, o.ConnectTo = "http://192.0.2.1", nil })
	if got := outcome(public.Observe(t.Context(), evidence.Request{Protocol: evidence.Named,
		Target: "http://192.0.2.1/x", MaxBytes: 100})); got != "invalid forbidden-address 0" {
		t.Errorf("a public address: %s", got)
	}
	asked = 0
	if o := l.Observe(t.Context(), evidence.Request{Protocol: evidence.Named, Target: server.URL + "/busy",
		MaxBytes: 100}); asked != 2 || o.Attempts != 2 || o.State != evidence.Unavailable {
		t.Errorf("asked %d times, %d attempts, %s; want 2 of each", asked, o.Attempts, o.State)
	}
	none := onWeb(t, startWeb(t), nil)
	if got := outcome(none.Observe(t.Context(), evidence.Request{Protocol: evidence.Named, Target: server.URL + "/x",
		MaxBytes: 100})); got != "invalid url-not-usable 0" {
		t.Errorf("without a server: %s", got)
	}
}

// An answer that switches protocols has no body: a context would not end it, since it is the connection.
func TestSwitchingProtocols(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		c, _, err := http.NewResponseController(rw).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		_, _ = io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\nmore")
		_, _ = io.Copy(io.Discard, c) // until the client closes it
	}))
	t.Cleanup(server.Close)
	u := must.Get(url.Parse(server.URL))(t)
	transport := must.Get(NewTransport(Options{}, u))(t)
	resp := must.Get((&http.Client{Transport: transport}).Get(server.URL))(t)
	defer resp.Body.Close()
	if n, err := resp.Body.Read(make([]byte, 1)); n != 0 || err != io.EOF || resp.StatusCode != 101 {
		t.Errorf("status %d, %d bytes, %v; want 101 and no body", resp.StatusCode, n, err)
	}
	l := onWeb(t, startWeb(t), func(o *Options) { o.ServerURL = server.URL })
	if got := outcome(l.Observe(t.Context(), evidence.Request{Protocol: evidence.Named, Target: server.URL + "/x",
		MaxBytes: 100})); got != "absent http-status 101" {
		t.Errorf("evidence: %s", got)
	}
}

func TestIsPrivate(t *testing.T) {
	for host, want := range map[string]bool{"127.0.0.1": true, "127.8.8.8": true, "10.0.0.1": true, "172.16.0.1": true,
		"192.168.1.1": true,
		"::1":         true, "fd00::1": true, "::ffff:10.0.0.1": true, "localhost": true, "LOCALHOST": true,
		"provider": true, "provider.internal": true, "printer.local": true, "p.svc.cluster.local": true,
		"x.localhost": true,
		"":            false, "0.0.0.0": false, "::": false, "8.8.8.8": false, "169.254.169.254": false,
		"fe80::1":           false,
		"172.32.0.1":        false,
		"localhost.example": false, "10.0.0.1.example": false, "provider.example": false, "a b": false} {
		if IsPrivate(host) != want {
			t.Errorf("IsPrivate(%q) is %v", host, !want)
		}
	}
}
