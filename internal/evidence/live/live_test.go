package live

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/bundle"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/webtest"
)

var testNow = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func startWeb(t testing.TB) *webtest.Web {
	t.Helper()
	w := must.Get(webtest.Start(webtest.Options{}))(t)
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// onWeb makes a live source for which the whole web is w; it does not wait between attempts.
func onWeb(t testing.TB, w *webtest.Web, edit func(*Options)) *Source {
	t.Helper()
	o := Options{
		Now: testNow, CACert: w.CAPEM(), RDAPURL: w.RDAPURL(), WHOISServer: w.WHOISAddr(),
		ConnectTo: []ConnectTo{{"*", netip.MustParseAddrPort(w.Addr())}},
		Wait:      func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}
	if edit != nil {
		edit(&o)
	}
	l := must.Get(New(o))(t)
	t.Cleanup(l.Close)
	return l
}

func short(o *Options) { o.Timeout = 300 * time.Millisecond }

func get(url string, most int64) evidence.Request {
	return evidence.Request{Protocol: evidence.HTTPS, Target: url,
		MaxBytes: most}
}

// outcome is what a test expects of an observation.
func outcome(o evidence.Observation) string {
	if o.State == evidence.Obtained {
		return fmt.Sprintf("obtained %d %q", o.Status, o.Body)
	}
	if len(o.Body) > 0 || o.SHA256 != "" || o.Message == "" {
		return fmt.Sprintf("%s with a body or without a message: %+v", o.State, o)
	}
	return fmt.Sprintf("%s %s %d", o.State, o.Code, o.Status)
}

func TestDocument(t *testing.T) {
	w := startWeb(t)
	tests := []struct {
		name string
		page webtest.Behaviour
		want string
	}{
		{"a document", webtest.Behaviour{Body: []byte("{}")}, `obtained 200 "{}"`},
		{"empty", webtest.Behaviour{}, `obtained 200 ""`},
		{"as long as the cap", webtest.Behaviour{Body: []byte("a"), Repeat: 100}, `obtained 200 "` +
			strings.Repeat("a", 100) + `"`},
		{"compressed all the same", webtest.Behaviour{Body: []byte("text"), Gzip: true}, `obtained 200 "text"`},
		{"slow but in time", webtest.Behaviour{Body: []byte("drip"), Drip: 1, Interval: 1}, `obtained 200 "drip"`},

		{"no content", webtest.Behaviour{Status: 204}, "absent http-status 204"},
		{"not found", webtest.Behaviour{Status: 404}, "absent http-status 404"},
		{"gone", webtest.Behaviour{Status: 410}, "absent http-status 410"},
		{"forbidden", webtest.Behaviour{Status: 403}, "absent http-status 403"},
		{"a redirect without location", webtest.Behaviour{Status: 302}, "absent http-status 302"},
		{"not modified, unasked", webtest.Behaviour{Status: 304}, "absent http-status 304"},
		{"unknown status", webtest.Behaviour{Status: 799}, "absent http-status 799"},
		{"request timeout", webtest.Behaviour{Status: 408}, "unavailable http-status 408"},
		{"too early", webtest.Behaviour{Status: 425}, "unavailable http-status 425"},
		{"too many requests", webtest.Behaviour{Status: 429}, "unavailable http-status 429"},
		{"server error", webtest.Behaviour{Status: 500}, "unavailable http-status 500"},
		{"unavailable", webtest.Behaviour{Status: 503}, "unavailable http-status 503"},
		{"reset", webtest.Behaviour{Reset: true}, "unavailable connect-failed 0"},
		{"closed without a word", webtest.Behaviour{Raw: []byte{}}, "unavailable connect-failed 0"},
		{"body cut short", webtest.Behaviour{Body: []byte("{}"), CloseEarly: true}, "unavailable connect-failed 200"},
		{"cut short behind the last chunk",
			webtest.Behaviour{Raw: []byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n")},
			"unavailable connect-failed 200"},

		{"over the cap", webtest.Behaviour{Body: []byte("a"), Repeat: 101}, "invalid body-too-large 200"},
		{"endless", webtest.Behaviour{Endless: true}, "invalid body-too-large 200"},
		{"a bomb", webtest.Behaviour{Bomb: 1 << 26}, "invalid body-too-large 200"},
		{"10 MB of headers", webtest.Behaviour{HugeHeaders: 10 << 20}, "invalid protocol-error 0"},
		{"not HTTP", webtest.Behaviour{Raw: []byte("SSH-2.0-OpenSSH\r\n\r\n")}, "invalid protocol-error 0"},
		{"broken header", webtest.Behaviour{Raw: []byte("HTTP/1.1 200 OK\r\nno colon\r\n\r\n")},
			"invalid protocol-error 0"},
		{"broken chunks", webtest.Behaviour{Raw: []byte("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n")},
			"invalid protocol-error 200"},
		{"an empty gzip body", webtest.Behaviour{Header: map[string]string{"Content-Encoding": "gzip"}},
			"invalid content-encoding 200"},
		{"deflate by zlib", webtest.Behaviour{Body: []byte("\x78\x9c\xab\xae\x05\x00\x01\x75\x00\xf9"),
			Header: map[string]string{"Content-Encoding": "deflate"}}, `obtained 200 "{}"`},
		{"deflate by itself", webtest.Behaviour{Body: []byte("\xab\xae\x05\x00"),
			Header: map[string]string{"Content-Encoding": "deflate"}}, `obtained 200 "{}"`},
		{"zlib cut short", webtest.Behaviour{Body: []byte("\x78\x9c\xab\xae\x05"),
			Header: map[string]string{"Content-Encoding": "deflate"}}, "invalid content-encoding 200"},
		{"zlib with a wrong sum", webtest.Behaviour{Body: []byte("\x78\x9c\xab\xae\x05\x00\x01\x75\x00\xf8"),
			Header: map[string]string{"Content-Encoding": "deflate"}}, "invalid content-encoding 200"},
		{"gzip on a wire cut short", webtest.Behaviour{Body: []byte("\x1f\x8b\x08\x00\x00\x00\x00\x00"),
			CloseEarly: true, Header: map[string]string{"Content-Encoding": "gzip"}}, "unavailable connect-failed 200"},
		{"brotli", webtest.Behaviour{Header: map[string]string{"Content-Encoding": "br"}},
			"invalid content-encoding 200"},
		{"twice compressed", webtest.Behaviour{Header: map[string]string{"Content-Encoding": "gzip, gzip"}},
			"invalid content-encoding 200"},
		{"not what it says",
			webtest.Behaviour{Body: []byte("{}"), Header: map[string]string{"Content-Encoding": "gzip"}},
			"invalid content-encoding 200"},
	}
	l := onWeb(t, w, nil)
	for i, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			url := fmt.Sprintf("https://example.com/%d", i)
			w.Set(url, test.page)
			if got := outcome(l.Observe(t.Context(), get(url, 100))); got != test.want {
				t.Errorf("gives %s, want %s", got, test.want)
			}
		})
	}
}

func TestDocumentInTime(t *testing.T) {
	w := startWeb(t)
	l := onWeb(t, w, short)
	hour := webtest.Duration(time.Hour)
	pages := map[string]webtest.Behaviour{
		"https://slow.example/": {Delay: hour},
		"https://drip.example/": {Endless: true, Drip: 1,
			Interval: webtest.Duration(10 * time.Millisecond)},
		"https://redirect.example/":        {Redirect: "https://slow.example/"},
		"https://drips-in-a-bomb.example/": {Bomb: 1 << 20, Delay: hour},
		"https://endless-zero-blocks.example/": {Endless: true, Drip: 5, Interval: 1,
			Body: []byte("\x00\x00\x00\xff\xff"), Header: map[string]string{"Content-Encoding": "deflate"}},
		"https://handshake-that-hangs.example/": {},
	}
	w.SetTLS("handshake-that-hangs.example", webtest.TLSSilent)
	var wait sync.WaitGroup
	for url, page := range pages {
		w.Set(url, page)
		wait.Go(func() {
			o := l.Observe(t.Context(), get(url, evidence.MaxReceipt))
			if o.State != evidence.Unavailable || o.Code != evidence.CodeTimeout || o.Attempts != 1 {
				t.Errorf("%s gives %s after %d attempts, want a timeout at once", url, outcome(o), o.Attempts)
			}
		})
	}
	wait.Wait()
}

func TestBombInMemory(t *testing.T) {
	w := startWeb(t)
	w.Set("https://example.com/", webtest.Behaviour{Bomb: 1 << 30})
	l := onWeb(t, w, nil)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	o := l.Observe(t.Context(), get("https://example.com/", evidence.MaxReceipt))
	runtime.ReadMemStats(&after)
	if got := outcome(o); got != "invalid body-too-large 200" {
		t.Errorf("gives %s", got)
	}
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 32<<20 {
		t.Errorf("allocates %d bytes", allocated)
	}
}

func TestObservation(t *testing.T) {
	w := startWeb(t)
	w.Page("https://example.com/a?b", []byte("{}"))
	w.Set("https://www.example.com/", webtest.Behaviour{Redirect: "//example.com/a?b#c"})
	l := onWeb(t, w, nil)
	r := get("https://WWW.Example.COM.:443/#top", 100)
	got := l.Observe(t.Context(), r)
	if got.Milliseconds < 0 || got.Milliseconds > 1e5 {
		t.Errorf("took %d ms", got.Milliseconds)
	}
	got.Milliseconds = 0
	want := evidence.Observation{Request: get("https://www.example.com/", 100), State: evidence.Obtained, Status: 200,
		Body:     []byte("{}"),
		FinalURL: "https://example.com/a?b", Address: w.Addr(), Attempts: 1,
		SHA256: "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	l.Observe(t.Context(), get("https://a.example/", 100))
	all := l.Observations()
	if len(all) != 2 || all[0].Target != "https://a.example/" || all[1].Target != "https://www.example.com/" {
		t.Errorf("observations are %+v", all)
	}
	if !l.Now().Equal(testNow) {
		t.Errorf("now is %v", l.Now())
	}
}

func TestURL(t *testing.T) {
	w := startWeb(t)
	l := onWeb(t, w, nil)
	for url, want := range map[string]string{
		"http://example.com/":              "invalid scheme-not-https 0",
		"ftp://example.com/":               "invalid scheme-not-https 0",
		"//example.com/":                   "invalid scheme-not-https 0",
		"example.com":                      "invalid scheme-not-https 0",
		"":                                 "invalid scheme-not-https 0",
		"https:example.com":                "invalid url-not-usable 0",
		"https:///path":                    "invalid url-not-usable 0",
		"https://user@example.com/":        "invalid url-not-usable 0",
		"https://user:secret@example.com/": "invalid url-not-usable 0",
		"https://127.0.0.1/":               "invalid url-not-usable 0",
		"https://2130706433/":              "invalid url-not-usable 0",
		"https://0x7f.1/":                  "invalid url-not-usable 0",
		"https://[::1]/":                   "invalid url-not-usable 0",
		"https://[::ffff:10.0.0.1]/":       "invalid url-not-usable 0",
		"https://a~b.example/":             "invalid url-not-usable 0",
		"https://example.com:0/":           "invalid url-not-usable 0",
		"https://example.com:65536/":       "invalid url-not-usable 0",
		"https://example.com:x/":           "invalid url-not-usable 0",
		"https://exa mple.com/":            "invalid url-not-usable 0",
		"https://example.com/\x00":         "invalid url-not-usable 0",
		"https://example.com:8443/%2e":     "absent http-status 404",
		"https://bücher.example/":          "absent http-status 404",
		"https://example.com/?a=\xff b":    "absent http-status 404",

		"https://example.com/" + strings.Repeat("a", 8<<10): "invalid url-not-usable 0",
	} {
		o := l.Observe(t.Context(), get(url, 100))
		if got := outcome(o); got != want {
			t.Errorf("%q gives %s, want %s", url, got, want)
		}
		if strings.Contains(o.Message, "secret") || len(o.Message) > 1000+len("…") {
			t.Errorf("%q: the message tells the password: %s", url, o.Message)
		}
	}
	for _, r := range []evidence.Request{{Protocol: evidence.RDAP, Target: "a\r\nb.example", MaxBytes: 1},
		{Protocol: evidence.WHOIS, Target: "a\r\nb.example", MaxBytes: 1}, {Protocol: evidence.RDAP, Target: "../x",
			MaxBytes: 1},
		{Protocol: "gopher", Target: "a", MaxBytes: 1}} {
		if o := l.Observe(t.Context(), r); o.State != evidence.Invalid || o.Code != evidence.CodeURL {
			t.Errorf("%v gives %s", r, outcome(o))
		}
	}
}

func TestRedirects(t *testing.T) {
	w := startWeb(t)
	w.Page("https://example.com/end", []byte("end"))
	for i := range 100 {
		w.Set(fmt.Sprintf("https://example.com/%d", i), webtest.Behaviour{Redirect: fmt.Sprintf("%d", i+1)})
	}
	w.Set("https://example.com/5", webtest.Behaviour{Redirect: "/end"})
	tests := map[string]string{
		"/end":                          `obtained 200 "end"`,
		"https://example.com/end#x":     `obtained 200 "end"`,
		"https://other.example/end":     "absent http-status 404",
		"/2":                            `obtained 200 "end"`, // five redirects with this one
		"/1":                            "invalid too-many-redirects 302",
		"/10":                           "invalid too-many-redirects 302",
		"":                              "absent http-status 302",
		"http://example.com/end":        "invalid scheme-not-https 302",
		"ftp://example.com/end":         "invalid scheme-not-https 302",
		"https://127.0.0.1/":            "invalid url-not-usable 302",
		"https://[::1]/":                "invalid url-not-usable 302",
		"https://user@example.com/end":  "invalid url-not-usable 302",
		"https://169.254.169.254/":      "invalid url-not-usable 302",
		"https://example.com/end%zz":    "invalid url-not-usable 302",
		"https://example.com:99999/end": "invalid url-not-usable 302",
	}
	w.Set("https://loop.example/", webtest.Behaviour{Redirect: "https://loop.example/"})
	l := onWeb(t, w, nil)
	n := 0
	for location, want := range tests {
		n++
		from := fmt.Sprintf("https://from%d.example/x/y", n)
		if strings.HasPrefix(location, "/") {
			from = fmt.Sprintf("https://example.com/x/%d", n)
		}
		w.Set(from, webtest.Behaviour{Status: 302, Redirect: location})
		if got := outcome(l.Observe(t.Context(), get(from, 100))); got != want {
			t.Errorf("to %q gives %s, want %s", location, got, want)
		}
	}
	if got := outcome(l.Observe(t.Context(),
		get("https://loop.example/", 100))); got != "invalid too-many-redirects 302" {
		t.Errorf("a loop gives %s", got)
	}
	if n := w.Hits("https://loop.example/"); n != 6 {
		t.Errorf("a loop is asked %d times", n)
	}
}

func TestTLS(t *testing.T) {
	w := startWeb(t)
	for host, mode := range map[string]webtest.TLSMode{
		"name.example": webtest.TLSWrongName, "expired.example": webtest.TLSExpired,
		"untrusted.example": webtest.TLSUntrusted, "reset.example": webtest.TLSReset,
	} {
		w.SetTLS(host, mode)
		want := "invalid tls-not-verified 0"
		if mode == webtest.TLSReset {
			want = "unavailable connect-failed 0"
		}
		if got := outcome(onWeb(t, w, nil).Observe(t.Context(), get("https://"+host+"/", 100))); got != want {
			t.Errorf("%s gives %s, want %s", mode, got, want)
		}
	}
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	l := onWeb(t, w, func(o *Options) {
		o.ConnectTo = []ConnectTo{{"plain.example", netip.MustParseAddrPort(plain.Listener.Addr().String())}}
	})
	if got := outcome(l.Observe(t.Context(), get("https://plain.example/", 100))); got != "invalid protocol-error 0" {
		t.Errorf("a server without TLS gives %s", got)
	}
}

// onServer starts a server of one certificate, and asks it for every host. edit may be nil.
func onServer(t *testing.T, s *httptest.Server, edit func(*Options)) *Source {
	t.Helper()
	s.StartTLS()
	t.Cleanup(s.Close)
	o := Options{Now: testNow,
		CACert:    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}),
		ConnectTo: []ConnectTo{{"*", netip.MustParseAddrPort(s.Listener.Addr().String())}},
		Wait:      func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	}
	if edit != nil {
		edit(&o)
	}
	l := must.Get(New(o))(t)
	t.Cleanup(l.Close)
	return l
}

func TestHTTP2(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			fmt.Fprintf(rw, "%d %s", r.ProtoMajor, r.Header.Get("Accept-Encoding"))
		case "/reset":
			panic(http.ErrAbortHandler)
		case "/headers":
			for i := range 200 {
				rw.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("a", 1000))
			}
		case "/endless":
			for {
				if _, err := rw.Write(make([]byte, 32<<10)); err != nil {
					return
				}
			}
		}
	}))
	s.EnableHTTP2 = true
	l := onServer(t, s, nil)
	for path, want := range map[string]string{
		"/": `obtained 200 "2 identity"`, "/reset": "unavailable connect-failed 0",
		"/headers": "invalid protocol-error 0", "/endless": "invalid body-too-large 200",
	} {
		if got := outcome(l.Observe(t.Context(), get("https://example.com"+path, 1000))); got != want {
			t.Errorf("%s gives %s, want %s", path, got, want)
		}
	}
}

// onFrames starts an HTTP/2 server that answers each request by frames. edit may be nil.
func onFrames(t *testing.T, edit func(*Options), answer func(f *http2.Framer, stream uint32, path string)) *Source {
	t.Helper()
	s := httptest.NewUnstartedServer(nil)
	s.TLS = &tls.Config{NextProtos: []string{"h2"}}
	s.Config.TLSNextProto = map[string]func(*http.Server, *tls.Conn, http.Handler){"h2": func(_ *http.Server,
		c *tls.Conn, _ http.Handler) {
		if _, err := io.CopyN(io.Discard, c, int64(len(http2.ClientPreface))); err != nil {
			return
		}
		f := http2.NewFramer(c, c)
		f.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
		_ = f.WriteSettings()
		for {
			frame, err := f.ReadFrame()
			if err != nil {
				return
			}
			if request, ok := frame.(*http2.MetaHeadersFrame); ok {
				answer(f, request.StreamID, request.PseudoValue("path"))
			}
		}
	}}
	return onServer(t, s, edit)
}

// writeStatus ends a stream with a status and no body.
func writeStatus(f *http2.Framer, stream uint32, status string) {
	_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block(":status", status),
		EndStream: true, EndHeaders: true})
}

// TestConnections requires a request to give up on a server that ends each connection before it answers, and to obtain
// the document from one that ends a few.
func TestConnections(t *testing.T) {
	var asked, ends atomic.Int64
	l := onFrames(t, nil, func(f *http2.Framer, stream uint32, _ string) {
		if asked.Add(1) > ends.Load() {
			writeStatus(f, stream, "200")
		} else {
			_ = f.WriteGoAway(0, http2.ErrCodeNo, nil)
		}
	})
	for i, test := range []struct {
		ends  int64
		want  string
		asked int64
	}{
		{0, `obtained 200 ""`, 1},
		{maxDials - 1, `obtained 200 ""`, maxDials},
		{maxDials, `obtained 200 ""`, maxDials + 1}, // by the second attempt
		{3 * maxDials, "unavailable connect-failed 0", 3 * maxDials},
	} {
		asked.Store(0)
		ends.Store(test.ends)
		l.web.routes.close() // so that the first request dials too
		o := l.Observe(t.Context(), get(fmt.Sprintf("https://example.com/%d", i), 1000))
		few := test.asked - test.asked/10 // a connection may end before its request is written
		if got := outcome(o); got != test.want || asked.Load() > test.asked || asked.Load() < few {
			t.Errorf("a server that ends %d connections gives %s after %d requests, want %s after %d to %d: %s",
				test.ends, got, asked.Load(), test.want, few, test.asked, o.Message)
		}
	}
}

// block returns header fields, of names and values.
func block(fields ...string) []byte {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	for pair := range slices.Chunk(fields, 2) {
		_ = e.WriteField(hpack.HeaderField{Name: pair[0], Value: pair[1]})
	}
	return b.Bytes()
}

// TestFloods requires frames without end to end a request in its time at the latest, in little memory.
func TestFloods(t *testing.T) {
	begin := func(f *http2.Framer, stream uint32, status string, end bool) error {
		return f.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block(":status", status),
			EndHeaders: end})
	}
	long := block("x", strings.Repeat("a", 9000))
	for name, test := range map[string]struct {
		first, again func(f *http2.Framer, stream uint32) error
		want         string
	}{
		"pings": {nil, func(f *http2.Framer, _ uint32) error { return f.WritePing(false, [8]byte{}) },
			"unavailable timeout 0"},
		"settings": {nil, func(f *http2.Framer, _ uint32) error {
			return f.WriteSettings(http2.Setting{ID: http2.SettingInitialWindowSize, Val: 1 << 16})
		}, "unavailable timeout 0"},
		"windows": {nil, func(f *http2.Framer, _ uint32) error { return f.WriteWindowUpdate(0, 1) },
			"unavailable timeout 0"},
		"resets": {nil, func(f *http2.Framer, s uint32) error { return f.WriteRSTStream(s+2, http2.ErrCodeCancel) },
			"unavailable timeout 0"},
		"empty headers": {func(f *http2.Framer, s uint32) error { return begin(f, s, "200", false) },
			func(f *http2.Framer, s uint32) error { return f.WriteContinuation(s, false, nil) },
			"unavailable timeout 0"},
		"headers": {func(f *http2.Framer, s uint32) error { return begin(f, s, "200", false) },
			func(f *http2.Framer, s uint32) error { return f.WriteContinuation(s, false, long) },
			"invalid protocol-error 0"},
		"early hints": {nil, func(f *http2.Framer, s uint32) error { return begin(f, s, "103", true) },
			"invalid protocol-error 0"},
		"empty data": {func(f *http2.Framer, s uint32) error { return begin(f, s, "200", true) },
			func(f *http2.Framer, s uint32) error { return f.WriteData(s, false, nil) }, "unavailable timeout 200"},
		"padding": {func(f *http2.Framer, s uint32) error { return begin(f, s, "200", true) },
			func(f *http2.Framer, s uint32) error { return f.WriteDataPadded(s, false, nil, make([]byte, 255)) },
			"unavailable timeout 200"},
		"trailers": {func(f *http2.Framer, s uint32) error {
			return errors.Join(begin(f, s, "200", true), f.WriteHeaders(http2.HeadersFrameParam{StreamID: s,
				BlockFragment: long, EndStream: true}))
		}, func(f *http2.Framer, s uint32) error { return f.WriteContinuation(s, false, long) },
			"invalid protocol-error 200"},
	} {
		t.Run(name, func(t *testing.T) {
			l := onFrames(t, short, func(f *http2.Framer, stream uint32, _ string) {
				var reading sync.WaitGroup
				defer reading.Wait()
				reading.Go(func() { // what comes back must be read, or the client cannot write
					for {
						if _, err := f.ReadFrame(); err != nil {
							return
						}
					}
				})
				if test.first != nil && test.first(f, stream) != nil {
					return
				}
				for test.again(f, stream) == nil {
				}
			})
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			o := l.Observe(t.Context(), get("https://example.com/", 1000))
			runtime.ReadMemStats(&after)
			if got := outcome(o); got != test.want || o.Attempts != 1 {
				t.Errorf("gives %s after %d attempts, want %s: %s", got, o.Attempts, test.want, o.Message)
			}
			if grown := int64(after.HeapSys) - int64(before.HeapSys); grown > 32<<20 {
				t.Errorf("the heap grew by %d MiB", grown>>20)
			}
		})
	}
}

// HTTP/2 lets a server answer with any integer for a status; what is recorded of it can be replayed.
func TestStatusOfMoreThanThreeDigits(t *testing.T) {
	l := onFrames(t, nil, func(f *http2.Framer, stream uint32, path string) {
		writeStatus(f, stream, strings.TrimPrefix(path, "/"))
	})
	for sent, want := range map[string]string{
		"200": `obtained 200 ""`, "999": "absent http-status 999", "1000": "absent http-status 0",
		"-5": "absent http-status 0", "9223372036854775807": "absent http-status 0", "0": "absent http-status 0",
	} {
		if got := outcome(l.Observe(t.Context(), get("https://example.com/"+sent, 1000))); got != want {
			t.Errorf("%s gives %s, want %s", sent, got, want)
		}
	}
	b := bundle.Bundle{Mode: "check", Now: testNow, Observations: l.Observations()}
	if again, err := bundle.Decode("b", b.Encode()); err != nil || len(again.Observations) != 6 {
		t.Error(err)
	}
}

func TestRetries(t *testing.T) {
	w := startWeb(t)
	ok, busy := webtest.Behaviour{Body: []byte("ok")}, webtest.Behaviour{Status: 503}
	asks := func(seconds string) webtest.Behaviour {
		return webtest.Behaviour{Status: 429, Header: map[string]string{"Retry-After": seconds}}
	}
	tests := []struct {
		name     string
		sequence []webtest.Behaviour
		want     string
		waits    []time.Duration
	}{
		{"not needed", []webtest.Behaviour{ok}, `obtained 200 "ok"`, nil},
		{"reset once", []webtest.Behaviour{{Reset: true}, ok}, `obtained 200 "ok"`, []time.Duration{time.Second}},
		{"cut short once", []webtest.Behaviour{{Body: []byte("half"), CloseEarly: true}, ok}, `obtained 200 "ok"`,
			[]time.Duration{time.Second}},
		{"busy twice", []webtest.Behaviour{busy, {Status: 502}, ok}, `obtained 200 "ok"`,
			[]time.Duration{time.Second, 3 * time.Second}},
		{"busy for ever", []webtest.Behaviour{{Status: 504}, busy}, "unavailable http-status 503",
			[]time.Duration{time.Second, 3 * time.Second}},
		{"asked to wait", []webtest.Behaviour{asks("7"), asks("2"), ok}, `obtained 200 "ok"`,
			[]time.Duration{7 * time.Second, 3 * time.Second}},
		{"asked to wait for long", []webtest.Behaviour{asks("3600"), ok}, "unavailable http-status 429", nil},
		{"asked to wait for ever", []webtest.Behaviour{asks("99999999999"), ok}, "unavailable http-status 429", nil},
		{"asked to wait for as long as anyone waits", []webtest.Behaviour{asks("30"), ok}, `obtained 200 "ok"`,
			[]time.Duration{30 * time.Second}},
		{"asked not to wait", []webtest.Behaviour{asks("0"), asks("0"), ok}, `obtained 200 "ok"`,
			[]time.Duration{time.Second, 3 * time.Second}},
		{"asked nonsense", []webtest.Behaviour{asks("-1"), asks("soon"), ok}, `obtained 200 "ok"`,
			[]time.Duration{time.Second, 3 * time.Second}},
		{"asked to wait until then", []webtest.Behaviour{asks("Mon, 02 Jan 2006 15:04:05 GMT"), ok},
			`obtained 200 "ok"`, []time.Duration{time.Second}},
		{"asked to wait until an hour later", []webtest.Behaviour{
			asks(testNow.Add(time.Hour).Format(http.TimeFormat)), ok}, "unavailable http-status 429", nil},
		{"definite", []webtest.Behaviour{{Status: 404}, ok}, "absent http-status 404", nil},
		{"server error", []webtest.Behaviour{{Status: 500}, ok}, "unavailable http-status 500", nil},
		{"busy, then definite", []webtest.Behaviour{busy, {Status: 410}, ok}, "absent http-status 410",
			[]time.Duration{time.Second}},
	}
	for i, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			url := fmt.Sprintf("https://example.com/%d", i)
			w.Set(url, webtest.Behaviour{Sequence: test.sequence})
			var waits []time.Duration
			l := onWeb(t, w, func(o *Options) {
				o.Wait = func(_ context.Context, d time.Duration) error { waits = append(waits, d); return nil }
			})
			o := l.Observe(t.Context(), get(url, 100))
			if got := outcome(o); got != test.want || o.Attempts != len(test.waits)+1 {
				t.Errorf("gives %s after %d attempts, want %s after %d", got, o.Attempts, test.want, len(test.waits)+1)
			}
			if diff := cmp.Diff(test.waits, waits); diff != "" {
				t.Errorf("waits (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRefusedConnectionIsTriedAgain(t *testing.T) {
	gone := httptest.NewServer(nil)
	addr := netip.MustParseAddrPort(gone.Listener.Addr().String())
	gone.Close()
	l := onWeb(t, startWeb(t), func(o *Options) { o.ConnectTo = []ConnectTo{{"gone.example", addr}} })
	o := l.Observe(t.Context(), get("https://gone.example/", 100))
	if got := outcome(o); got != "unavailable connect-failed 0" || o.Attempts != 3 ||
		o.Message != "nothing answers at "+addr.String()+" (--connect-to)" || o.Fix == "" {
		t.Errorf("gives %s after %d attempts: %s", got, o.Attempts, o.Message)
	}
}

func TestBudget(t *testing.T) {
	w := startWeb(t)
	w.Set("https://busy.example/", webtest.Behaviour{Status: 503})
	w.Set("https://slow.example/", webtest.Behaviour{Delay: webtest.Duration(time.Hour)})
	waited := false
	l := onWeb(t, w, func(o *Options) {
		o.Budget = 500 * time.Millisecond
		o.Wait = func(context.Context, time.Duration) error { waited = true; return nil }
	})
	if o := l.Observe(t.Context(), get("https://busy.example/", 100)); o.State != evidence.Unavailable ||
		o.Attempts != 1 ||
		waited {
		t.Errorf("a wait that outlasts the budget: %s after %d attempts, waited: %t", outcome(o), o.Attempts, waited)
	}
	for range 2 { // the second is sought after the end
		o := l.Observe(t.Context(), get("https://slow.example/", 100))
		if o.State != evidence.Unavailable || o.Code != evidence.CodeBudget {
			t.Errorf("gives %s", outcome(o))
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, r := range []evidence.Request{get("https://example.com/", 1), {Protocol: evidence.RDAP,
		Target: "example.com", MaxBytes: evidence.MaxRDAP},
		{Protocol: evidence.WHOIS, Target: "example.com", MaxBytes: evidence.MaxWHOIS}} {
		if o := onWeb(t, w, nil).Observe(ctx, r); o.State != evidence.Unavailable || o.Code != evidence.CodeBudget {
			t.Errorf("%s with a context that ended gives %s", r, outcome(o))
		}
	}
}

func TestEachRequestOnce(t *testing.T) {
	w := startWeb(t)
	w.Page("https://example.com/", []byte("{}"))
	w.SetDomain("example.com", webtest.Domain{Registered: "2020-01-01T00:00:00Z"})
	var done, total int
	l := onWeb(t, w, func(o *Options) { o.Progress = func(p Progress) { done, total = p.Done, p.Total } })
	var wait sync.WaitGroup
	for range 50 {
		for _, r := range []evidence.Request{
			get("https://example.com/", 100), get("https://EXAMPLE.com:443/#a", 100), get("https://example.com./", 100),
			{Protocol: evidence.RDAP, Target: "example.com", MaxBytes: evidence.MaxRDAP}, {Protocol: evidence.RDAP,
				Target: "Example.com.", MaxBytes: evidence.MaxRDAP}, {Protocol: evidence.WHOIS, Target: "example.com",
				MaxBytes: evidence.MaxWHOIS},
		} {
			wait.Go(func() {
				if o := l.Observe(t.Context(), r); o.State != evidence.Obtained {
					t.Errorf("%s gives %s", r, outcome(o))
				}
			})
		}
	}
	wait.Wait()
	for _, request := range []string{"https://example.com/", "rdap example.com", "whois example.com"} {
		if n := w.Hits(request); n != 1 {
			t.Errorf("%s is asked %d times", request, n)
		}
	}
	if done != 3 || total != 3 || len(l.Observations()) != 3 {
		t.Errorf("progress is %d of %d, with %d observations, want 3", done, total, len(l.Observations()))
	}
}

func TestPlaces(t *testing.T) {
	w := startWeb(t)
	w.Set("https://busy.example/*", webtest.Behaviour{Body: []byte("{}")})
	l := onWeb(t, w, func(o *Options) { o.Jobs, o.PerHost = 8, 4 })
	var wait sync.WaitGroup
	for i := range 500 {
		wait.Go(func() {
			if o := l.Observe(t.Context(), get(fmt.Sprintf("https://busy.example/%d", i),
				100)); o.State != evidence.Obtained {
				t.Errorf("gives %s", outcome(o))
			}
		})
	}
	wait.Wait()
	if peak := w.Peak("busy.example"); peak > 4 {
		t.Errorf("%d requests in flight to one host, want at most 4", peak)
	}
}

// TestSlowHostStarvesNobody holds one host's places for as long as the test lasts.
func TestSlowHostStarvesNobody(t *testing.T) {
	w := startWeb(t)
	w.Set("https://slow.example/*", webtest.Behaviour{Delay: webtest.Duration(time.Hour)})
	// Redirects wait for the slow host too, and must not hold a place meanwhile.
	w.Set("https://to-slow.example/*", webtest.Behaviour{Redirect: "https://slow.example/x"})
	w.Page("https://fast.example/", []byte("{}"))
	l := onWeb(t, w, func(o *Options) { o.Jobs, o.PerHost, o.Timeout = 3, 2, time.Hour })
	ctx, cancel := context.WithCancel(t.Context())
	var wait sync.WaitGroup
	for i := range 20 {
		wait.Go(func() { l.Observe(ctx, get(fmt.Sprintf("https://slow.example/%d", i), 100)) })
		wait.Go(func() { l.Observe(ctx, get(fmt.Sprintf("https://to-slow.example/%d", i), 100)) })
	}
	if o := l.Observe(t.Context(), get("https://fast.example/", 100)); o.State != evidence.Obtained {
		t.Errorf("gives %s", outcome(o))
	}
	cancel()
	wait.Wait()
}

func TestSlotsOfOneHost(t *testing.T) {
	s := newSlots(32, 4)
	var wait sync.WaitGroup
	for range 10_000 {
		wait.Go(func() {
			leave, err := s.enter(t.Context(), "one.example")
			if err != nil {
				t.Error(err)
				return
			}
			leave()
		})
	}
	wait.Wait()
}

func TestTotal(t *testing.T) {
	w := startWeb(t)
	w.Set("https://example.com/*", webtest.Behaviour{Body: bytes.Repeat([]byte("a"), 1000)})
	l := onWeb(t, w, func(o *Options) { o.MaxTotal = 2500 })
	for i, want := range []evidence.State{evidence.Obtained, evidence.Obtained, evidence.Unavailable} {
		o := l.Observe(t.Context(), get(fmt.Sprintf("https://example.com/%d", i), 1000))
		if o.State != want || want == evidence.Unavailable && o.Code != evidence.CodeTotal {
			t.Errorf("document %d gives %s", i, outcome(o))
		}
	}
	w.Set("https://small.example/", webtest.Behaviour{Body: bytes.Repeat([]byte("a"), 400), Gzip: true})
	if o := l.Observe(t.Context(), get("https://small.example/", 1000)); o.State != evidence.Obtained {
		t.Errorf("after a document that was let go one that fits gives %s", outcome(o))
	}
}

// TestObservedBeforeTheEnd checks that what was observed counts where the context has ended too, whichever is seen
// first.
func TestObservedBeforeTheEnd(t *testing.T) {
	r := sources.Canonical(evidence.Request{Protocol: evidence.HTTPS, Target: "https://tool.example/", MaxBytes: 100})
	done := &entry{done: make(chan struct{}), observation: evidence.Observation{Request: r, State: evidence.Obtained}}
	close(done.done)
	l := &Source{entries: map[evidence.Request]*entry{r: done}}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 {
		if got := l.Observe(ctx, r); got.State != evidence.Obtained {
			t.Fatalf("the observation is %v", got.State)
		}
	}
}
