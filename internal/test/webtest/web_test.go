package webtest

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

func start(t *testing.T) *Web {
	t.Helper()
	w := must.Get(Start(Options{}))(t)
	t.Cleanup(func() { w.Close() })
	return w
}

// client verifies by the web's authority and dials the web whatever the host.
func client(t *testing.T, w *Web) *http.Client {
	t.Helper()
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(w.CAPEM()) {
		t.Fatal("CAPEM holds no certificate")
	}
	tr := &http.Transport{
		TLSClientConfig:    &tls.Config{RootCAs: roots},
		DisableCompression: true,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			host, _, _ := net.SplitHostPort(addr)
			if host != "127.0.0.1" {
				addr = w.Addr()
			}
			return new(net.Dialer).DialContext(ctx, network, addr)
		},
	}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr}
}

func get(c *http.Client, url string, max int64) (*http.Response, []byte, error) {
	r, err := c.Get(url)
	if err != nil {
		return nil, nil, err
	}
	defer r.Body.Close()
	body, err := io.ReadAll(io.LimitReader(r.Body, max))
	return r, body, err
}

// TestCompressed checks what a client that decompresses cannot see: that a page is compressed at all, a bomb well.
func TestCompressed(t *testing.T) {
	w := start(t)
	c := client(t, w)
	for name, b := range map[string]Behaviour{"gzip": {Body: []byte("packed"), Gzip: true}, "bomb": {Bomb: 4 << 20}} {
		w.Set("https://a.example/"+name, b)
		_, body, err := get(c, "https://a.example/"+name, 1<<20)
		must.OK(t, err)
		z := must.Get(gzip.NewReader(bytes.NewReader(body)))(t)
		text := must.Get(io.ReadAll(z))(t)
		if name == "gzip" && string(text) != "packed" || name == "bomb" && (len(text) <= 4<<20 || len(body) >= 1<<16) {
			t.Errorf("%s: %d bytes in %d", name, len(text), len(body))
		}
	}
}

func TestSequenceETagAndLog(t *testing.T) {
	w := start(t)
	c := client(t, w)
	w.Set("https://a.example/s", Behaviour{Sequence: []Behaviour{{Status: 503}, {Body: []byte("ok"), ETag: `"1"`}}})
	var statuses []int
	for range 3 {
		r, _, err := get(c, "https://A.example/s", 10)
		must.OK(t, err)
		statuses = append(statuses, r.StatusCode)
	}
	if statuses[0] != 503 || statuses[1] != 200 || statuses[2] != 200 {
		t.Errorf("statuses %v", statuses)
	}
	q, _ := http.NewRequest("GET", "https://a.example/s", nil)
	q.Header.Set("If-None-Match", `"1"`)
	r, err := c.Do(q)
	if err != nil || r.StatusCode != 304 {
		t.Errorf("conditional request: %v, %v", r, err)
	}
	r.Body.Close()
	if n := w.Hits("https://a.example/s"); n != 4 || len(w.Requests()) != 4 {
		t.Errorf("%d hits, log %q", n, w.Requests())
	}
	if w.Peak("a.example") != 1 {
		t.Errorf("peak %d", w.Peak("a.example"))
	}
	w.Forget()
	if w.Hits("https://a.example/s") != 0 || len(w.Requests()) != 0 {
		t.Error("the log was not forgotten")
	}
}

func TestTLSModes(t *testing.T) {
	w := start(t)
	c := client(t, w)
	for mode, ok := range map[TLSMode]func(error) bool{
		TLSWrongName: func(err error) bool { var e x509.HostnameError; return errors.As(err, &e) },
		TLSExpired: func(err error) bool {
			var e x509.CertificateInvalidError
			return errors.As(err, &e) && e.Reason == x509.Expired
		},
		TLSUntrusted: func(err error) bool { var e x509.UnknownAuthorityError; return errors.As(err, &e) },
		TLSAlone:     func(err error) bool { var e x509.UnknownAuthorityError; return errors.As(err, &e) },
		TLSChain:     func(err error) bool { return err == nil },
		TLSReset:     func(err error) bool { return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, io.EOF) },
	} {
		host := string(mode) + ".example"
		w.SetTLS(host, mode)
		if _, _, err := get(c, "https://"+host+"/", 10); !ok(err) {
			t.Errorf("%s: error %v", mode, err)
		}
	}
}

func TestApply(t *testing.T) {
	w := start(t)
	for _, e := range []Entry{
		{URL: "https://a.example/", Behaviour: Behaviour{Body: []byte("page")}},
		{DomainName: "a.example", Domain: Domain{Registered: "2020-01-01T00:00:00Z"}},
		{Host: "b.example", TLS: TLSExpired},
	} {
		if err := w.Apply(e); err != nil {
			t.Errorf("%+v: %v", e, err)
		}
	}
	c := client(t, w)
	if _, body, err := get(c, "https://a.example/", 100); err != nil || string(body) != "page" {
		t.Errorf("page: %q %v", body, err)
	}
	if _, _, err := get(c, "https://b.example/", 100); err == nil {
		t.Error("the handshake for b.example ended well")
	}
	for _, bad := range []Entry{{}, {URL: "https://a.example/", Host: "b.example"}, {Host: "b.example", TLS: "odd"}} {
		if w.Apply(bad) == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
}

// Close ends replies that would take an hour.
func TestCloseEndsReplies(t *testing.T) {
	w := start(t)
	c := client(t, w)
	for name, b := range map[string]Behaviour{
		"late": {Delay: Duration(time.Hour)}, "drip": {Body: []byte("xx"), Drip: 1, Interval: Duration(time.Hour)},
		"endless": {Endless: true},
	} {
		w.Set("https://a.example/"+name, b)
	}
	w.SetTLS("silent.example", TLSSilent)
	ends := make(chan error)
	urls := []string{"https://a.example/late", "https://a.example/drip", "https://a.example/endless",
		"https://silent.example/"}
	for _, url := range urls {
		go func() {
			_, _, err := get(c, url, 1<<40)
			ends <- err
		}()
	}
	for len(w.Requests()) < 3 {
		runtime.Gosched()
	}
	w.Close()
	for range urls {
		if err := <-ends; err == nil {
			t.Error("a reply ended well")
		}
	}
	if err := w.Close(); err != nil {
		t.Error(err)
	}
}
