package webtest

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

func start(t *testing.T) *Web {
	t.Helper()
	w, err := Start(Options{})
	must.OK(t, err)
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
		TLSClientConfig:        &tls.Config{RootCAs: roots},
		DisableCompression:     true,
		MaxResponseHeaderBytes: 1 << 20,
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			host, _, _ := net.SplitHostPort(addr)
			if host != "127.0.0.1" {
				addr = w.Addr()
			}
			return new(net.Dialer).DialContext(ctx, network, addr)
		},
	}
	t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, CheckRedirect: func(_ *http.Request, via []*http.Request) error {
		if len(via) > 5 {
			return errors.New("too many redirects")
		}
		return nil
	}}
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

func TestBehaviours(t *testing.T) {
	w := start(t)
	c := client(t, w)
	unzip := func(b []byte) string {
		z, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			return err.Error()
		}
		out, _ := io.ReadAll(z)
		return string(out)
	}
	for _, tt := range []struct {
		name   string
		b      Behaviour
		status int
		body   func([]byte) bool
		err    func(error) bool
	}{
		{"page", Behaviour{Body: []byte("x")}, 200, func(b []byte) bool { return string(b) == "x" }, nil},
		{"status", Behaviour{Status: 503}, 503, nil, nil},
		{"repeat", Behaviour{Body: []byte("["), Repeat: 1000}, 200, func(b []byte) bool { return len(b) == 1000 }, nil},
		{"endless", Behaviour{Endless: true}, 200, func(b []byte) bool { return len(b) == 1<<20 }, nil},
		{"drip", Behaviour{Body: []byte("slow"), Drip: 1, Interval: 1}, 200,
			func(b []byte) bool { return string(b) == "slow" }, nil},
		{"gzip", Behaviour{Body: []byte("packed"), Gzip: true}, 200,
			func(b []byte) bool { return unzip(b) == "packed" }, nil},
		{"bomb", Behaviour{Bomb: 4 << 20}, 200, func(b []byte) bool { return len(unzip(b)) > 4<<20 && len(b) < 1<<16 },
			nil},
		{"redirects", Behaviour{Redirect: "https://a.example/redirects"}, 0, nil, contains("too many redirects")},
		{"reset", Behaviour{Reset: true}, 0, nil, func(err error) bool { return errors.Is(err, syscall.ECONNRESET) }},
		{"raw", Behaviour{Raw: []byte("SSH-2.0\r\n")}, 0, nil, contains("malformed HTTP")},
		{"headers", Behaviour{HugeHeaders: 10 << 20}, 0, nil, contains("exceeded")},
		{"cut", Behaviour{Body: []byte("abcd"), CloseEarly: true}, 0, nil,
			func(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url := "https://a.example/" + tt.name
			w.Set(url, tt.b)
			r, body, err := get(c, url, 1<<20)
			if tt.err != nil {
				if err == nil || !tt.err(err) {
					t.Fatalf("error %v", err)
				}
				return
			}
			if err != nil || r.StatusCode != tt.status {
				t.Fatalf("response %v, error %v", r, err)
			}
			if tt.body != nil && !tt.body(body) {
				t.Errorf("body of %d bytes: %.40q", len(body), body)
			}
		})
	}
}

func contains(s string) func(error) bool {
	return func(err error) bool { return strings.Contains(err.Error(), s) }
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

func TestHostWildcard(t *testing.T) {
	w := start(t)
	c := client(t, w)
	w.Page("https://a.example/x", []byte("x"))
	w.Set("https://a.example/*", Behaviour{Status: 503})
	w.Page("https://a.example/y", []byte("y"))
	for path, want := range map[string]int{"x": 503, "y": 200, "z": 503} {
		if r, _, err := get(c, "https://a.example/"+path, 10); err != nil || r.StatusCode != want {
			t.Errorf("/%s: %v %v, want %d", path, r, err, want)
		}
	}
	if r, _, err := get(c, "https://b.example/x", 10); err != nil || r.StatusCode != 404 {
		t.Errorf("unset host: %v %v", r, err)
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

func TestManyHosts(t *testing.T) {
	w := start(t)
	c := client(t, w)
	var wg sync.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			if _, _, err := get(c, "https://h"+strconv.Itoa(i)+".example/", 10); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func TestRDAP(t *testing.T) {
	w := start(t)
	w.SetDomain("old.example", Domain{Registered: "2015-01-01T00:00:00Z",
		Events: []Event{{"reregistration", "2020-01-01T00:00:00Z"}}})
	w.SetDomain("other.example", Domain{Registered: "2015-01-01T00:00:00Z", LDHName: "old.example"})
	w.SetDomain("down.example", Domain{RDAP: &Behaviour{Status: 503}})
	w.SetDomain("garbage.example", Domain{RDAP: &Behaviour{Body: []byte("<html>")}})
	w.SetDomain("dateless.example", Domain{})
	for _, tt := range []struct {
		name   string
		status int
		ldh    string
		dates  int
	}{
		{"old.example", 200, "old.example", 3}, {"other.example", 200, "old.example", 2},
		{"down.example", 503, "", 0}, {"garbage.example", 200, "", 0},
		{"unknown.example", 404, "", 0}, {"dateless.example", 200, "dateless.example", 1},
	} {
		r, body, err := get(http.DefaultClient, w.RDAPURL()+"/domain/"+tt.name, 1<<20)
		if err != nil || r.StatusCode != tt.status {
			t.Errorf("%s: %v %v", tt.name, r, err)
			continue
		}
		var object struct {
			Class   string `json:"objectClassName"`
			LDHName string `json:"ldhName"`
			Events  []Event
		}
		if err := json.Unmarshal(body, &object); err == nil &&
			(object.LDHName != tt.ldh || len(object.Events) != tt.dates) {
			t.Errorf("%s: %s", tt.name, body)
		}
	}
	if w.Hits("rdap old.example") != 1 {
		t.Errorf("log %q", w.Requests())
	}
}

func TestWHOIS(t *testing.T) {
	w := start(t)
	w.SetDomain("old.example", Domain{Registered: "2015-01-01T00:00:00Z"})
	w.SetDomain("empty.example", Domain{WHOIS: &Behaviour{}})
	w.SetDomain("bare.example", Domain{WHOIS: &Behaviour{Body: []byte("no line end")}})
	w.SetDomain("endless.example", Domain{WHOIS: &Behaviour{Endless: true}})
	ask := func(query string) string {
		c, err := net.Dial("tcp", w.WHOISAddr())
		must.OK(t, err)
		defer c.Close()
		io.WriteString(c, query+"\r\n")
		b, _ := io.ReadAll(io.LimitReader(c, 64<<10))
		return string(b)
	}
	if got := ask("old.example"); !strings.Contains(got, "Creation Date: 2015-01-01T00:00:00Z\r\n") {
		t.Errorf("old: %q", got)
	}
	if got := ask("=OLD.example"); !strings.Contains(got, "Domain Name: OLD.EXAMPLE") {
		t.Errorf("with option: %q", got)
	}
	if got := ask("unknown.example"); !strings.HasPrefix(got, "No match") {
		t.Errorf("unknown: %q", got)
	}
	if ask("empty.example") != "" || ask("bare.example") != "no line end" || len(ask("endless.example")) != 64<<10 {
		t.Error("odd replies differ")
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
