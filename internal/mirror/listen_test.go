package mirror

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/atomicfile"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestSite checks what is served, with which headers, and that nothing else of the directory is.
func TestSite(t *testing.T) {
	d := &Dir{Path: t.TempDir()}
	site := NewSite(d, time.Hour, false)
	now := time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)
	site.now = func() time.Time { return now }
	server := httptest.NewServer(site)
	defer server.Close()
	get := func(method, path string, head map[string]string) (int, string, http.Header) {
		t.Helper()
		r := must.Get(http.NewRequest(method, server.URL, nil))(t)
		r.URL.Opaque = path // as it is, dots and all
		for name, value := range head {
			r.Header.Set(name, value)
		}
		resp := must.Get(http.DefaultTransport.RoundTrip(r))(t)
		defer resp.Body.Close()
		body := must.Get(io.ReadAll(resp.Body))(t)
		for _, name := range []string{"Content-Security-Policy", "X-Content-Type-Options", "X-Frame-Options",
			"Referrer-Policy",
			"Cross-Origin-Resource-Policy", "Cache-Control"} {
			if resp.Header.Get(name) == "" {
				t.Errorf("%s %s: no %s", method, path, name)
			}
		}
		return resp.StatusCode, string(body), resp.Header
	}
	for _, path := range []string{"/", "/report.json", "/state.json", "/checkpoint", "/metrics", "/healthz"} {
		if code, body, _ := get("GET", path, nil); code != 503 || !strings.Contains(body, "no run has ended yet") {
			t.Errorf("%s before a run: %d %q", path, code, body)
		}
	}
	if code, _, _ := get("GET", "/livez", nil); code != 200 {
		t.Errorf("/livez before a run: %d", code)
	}
	if code, body, _ := get("GET", "/readyz", nil); code != 503 || body != "no head has been verified yet\n" {
		t.Errorf("/readyz before a run: %d %q", code, body)
	}
	must.OK(t, d.SetVerified(strings.Repeat("a", 40)))
	if code, _, _ := get("GET", "/readyz", nil); code != 200 { // the verified head of an earlier process is there
		t.Errorf("/readyz with a head, before a run: %d", code)
	}
	for _, name := range []string{"report.html", "report.json", "state.json", "metrics.prom", "checkpoint", "lock"} {
		must.OK(t, os.WriteFile(filepath.Join(d.Path, name), []byte("of "+name), 0o666))
	}
	site.Ended("")
	for path, want := range map[string]string{"/": "of report.html", "/report.json": "of report.json",
		"/state.json": "of state.json", "/checkpoint": "of checkpoint", "/metrics": "of metrics.prom",
		"/livez": "ok\n", "/readyz": "ok\n", "/healthz": "ok\n"} {
		if code, body, _ := get("GET", path, nil); code != 200 || body != want {
			t.Errorf("%s: %d %q, want %q", path, code, body, want)
		}
		if code, body, _ := get("HEAD", path, nil); code != 200 || body != "" {
			t.Errorf("HEAD %s: %d %q", path, code, body)
		}
		for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS"} {
			if code, _, _ := get(method, path, nil); code != 405 {
				t.Errorf("%s %s: %d", method, path, code)
			}
		}
	}
	for _, path := range []string{"/registry.git/HEAD", "/registry.git/info/refs", "/../checkpoint", "//report.json",
		"/report.json/", "/lock",
		"/%2e%2e/checkpoint", "/archive/", "/report.html"} {
		if code, _, _ := get("GET", path, nil); code != 404 {
			t.Errorf("%s: %d", path, code)
		}
	}
	_, _, head := get("GET", "/report.json", nil)
	tag := head.Get("ETag")
	if code, _, _ := get("GET", "/report.json", map[string]string{"If-None-Match": tag}); code != 304 {
		t.Errorf("with its tag: %d", code)
	}
	part := map[string]string{"Range": "bytes=3-5"}
	if code, body, _ := get("GET", "/report.json", part); code != 206 || body != "rep" {
		t.Errorf("a range: %d %q", code, body)
	}
	// A run replaces a file. Until it has ended, the old one is served, with its own tag.
	must.OK(t, atomicfile.Write(filepath.Join(d.Path, "report.json"), []byte("new"), 0o666))
	if _, body, h := get("GET", "/report.json", nil); body != "of report.json" || h.Get("ETag") != tag {
		t.Errorf("within a run: %q with the tag %s, want the old file with %s", body, h.Get("ETag"), tag)
	}
	site.Ended("the origin is down: open " + filepath.Join(d.Path, "report.json") + ": /var/lib/x y: " +
		"C:\\Users\\x, \"/etc/y\" of http://127.0.0.1:1/origin.git; read tcp 10.0.0.7:49152->192.0.2.1:443: x; " +
		"write tcp [fe80::1%eth0]:5->[2001:db8::1]:443: y")
	if code, body, _ := get("GET", "/report.json", map[string]string{"If-None-Match": tag}); code != 200 ||
		body != "new" {
		t.Errorf("with the tag of another: %d %q", code, body)
	}
	if code, body, _ := get("GET", "/healthz", nil); code != 503 || body !=
		"the origin is down: open DIR"+string(filepath.Separator)+
			"report.json: PATH y: PATH \"PATH\" of http://127.0.0.1:1/origin.git; read tcp 192.0.2.1:443: x; "+
			"write tcp [2001:db8::1]:443: y\n" {
		t.Errorf("health: %d %q", code, body)
	}
	for _, path := range []string{"/livez", "/readyz"} {
		if code, _, _ := get("GET", path, nil); code != 200 {
			t.Errorf("%s while the origin is down: %d", path, code)
		}
	}
	site.Ended("")
	now = now.Add(2 * time.Hour)
	if code, _, _ := get("GET", "/healthz", nil); code != 200 {
		t.Errorf("health two hours after a run that is due each hour: %d", code)
	}
	now = now.Add(time.Second)
	if code, body, _ := get("GET", "/healthz", nil); code != 503 || body != "the last run ended 2h0m1s ago\n" {
		t.Errorf("health: %d %q", code, body)
	}
	// A pass over the stored objects does not count, while it goes on and after.
	site.Ended("")
	site.Verifying(true)
	now = now.Add(9 * time.Hour)
	during, _, _ := get("GET", "/healthz", nil)
	site.Verifying(false)
	now = now.Add(2 * time.Hour)
	after, _, _ := get("GET", "/healthz", nil)
	now = now.Add(time.Second)
	if late, _, _ := get("GET", "/healthz", nil); during != 200 || after != 200 || late != 503 {
		t.Errorf("health: %d during a pass, %d after it, %d when a run is late", during, after, late)
	}
}

// TestSiteKeepsNoFile checks that a file is closed when the last of its readers and the site are done with it, and that
// a reader who began before a run ended reads the old file to its end.
func TestSiteKeepsNoFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files are read into memory there")
	}
	d := &Dir{Path: t.TempDir()}
	write := func(text string) {
		t.Helper()
		must.OK(t, atomicfile.Write(d.File("report.json"), []byte(text), 0o666))
	}
	write("old")
	site := NewSite(d, time.Hour, false)
	reader := site.page("/report.json")
	write("new")
	site.Ended("")
	if text, err := io.ReadAll(io.NewSectionReader(reader.body, 0, reader.size)); err != nil || string(text) != "old" {
		t.Errorf("a reader from before has %q, %v", text, err)
	}
	site.release(reader)
	if _, err := reader.file.Stat(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("the old file is still open: %v", err)
	}
	again := site.page("/report.json")
	site.release(again)
	if _, err := again.file.Stat(); err != nil {
		t.Errorf("the file that is served was closed: %v", err)
	}
}

// TestSiteSlow checks that clients that send nothing keep no others from being served, and that serving ends in time.
func TestSiteSlow(t *testing.T) {
	d := &Dir{Path: t.TempDir()}
	site := NewSite(d, time.Hour, false)
	site.Ended("")
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	done := make(chan error, 1)
	go func() { done <- site.Serve(t.Context(), l) }()
	for i := range 200 {
		c := must.Get(net.Dial("tcp", l.Addr().String()))(t)
		defer c.Close()
		if i%2 == 0 {
			if _, err := io.WriteString(c, "GET / HT"); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 100 {
		resp := must.Get(http.Get("http://" + l.Addr().String() + "/healthz"))(t)
		resp.Body.Close()
		if resp.StatusCode != 200 {
			t.Fatalf("status %d", resp.StatusCode)
		}
	}
	must.OK(t, l.Close())
	if err := <-done; err == nil {
		t.Error("a listener that is closed is no error")
	}
}

// TestSiteServesTheLog requires the log checkpoint and the tiles to be served, and nothing else of the log.
func TestSiteServesTheLog(t *testing.T) {
	d := must.Get(OpenDir(filepath.Join(t.TempDir(), "mirror"), "https://registry.example/r", "", "main"))(t)
	defer d.Close()
	for _, name := range []string{"checkpoint", "signed", "tile/0/000", "tile/entries/x001/234.p/255", "tile/0/x"} {
		file := filepath.Join(d.File("log"), filepath.FromSlash(name))
		must.OK(t, os.MkdirAll(filepath.Dir(file), 0o777))
		must.OK(t, os.WriteFile(file, []byte(name), 0o666))
	}
	site := NewSite(d, time.Hour, false)
	get := func(path string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("GET", "/", nil)
		r.URL.Path = "/log/" + path
		site.ServeHTTP(w, r)
		return w
	}
	for path, cache := range map[string]string{"checkpoint": "no-cache",
		"tile/0/000":                  "public, max-age=31536000, immutable",
		"tile/entries/x001/234.p/255": "public, max-age=31536000, immutable"} {
		w := get(path)
		if w.Code != 200 || w.Body.String() != path || w.Header().Get("Cache-Control") != cache {
			t.Errorf("%s: %d %q, %v", path, w.Code, w.Body.String(), w.Header())
		}
	}
	for _, path := range []string{"", "signed", "tile/0/x", "tile/0/001", "tile/0/", "tile", "tile/0/000/",
		"../state.json", "tile/0/../../signed", "tile/entries/000.p/../000", "checkpoint/"} {
		if w := get(path); w.Code != 404 {
			t.Errorf("%q: %d %q", path, w.Code, w.Body.String())
		}
	}
}
