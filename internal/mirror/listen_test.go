package mirror

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestSite holds what is served, with which head, and that nothing else of the folder is.
func TestSite(t *testing.T) {
	d := &Dir{Path: t.TempDir()}
	site := NewSite(d, time.Hour)
	server := httptest.NewServer(site)
	defer server.Close()
	get := func(method, path string, head map[string]string) (int, string, http.Header) {
		t.Helper()
		r, err := http.NewRequest(method, server.URL, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.URL.Opaque = path // as it is, dots and all
		for name, value := range head {
			r.Header.Set(name, value)
		}
		resp, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"Content-Security-Policy", "X-Content-Type-Options", "X-Frame-Options",
			"Referrer-Policy",
			"Cross-Origin-Resource-Policy", "Cache-Control"} {
			if resp.Header.Get(name) == "" {
				t.Errorf("%s %s: no %s", method, path, name)
			}
		}
		return resp.StatusCode, string(body), resp.Header
	}
	for _, path := range []string{"/", "/report.json", "/metrics", "/healthz"} {
		if code, body, _ := get("GET", path, nil); code != 503 || !strings.Contains(body, "no run has ended yet") {
			t.Errorf("%s before a run: %d %q", path, code, body)
		}
	}
	for _, name := range []string{"report.html", "report.json", "metrics.prom", "checkpoint"} {
		if err := os.WriteFile(filepath.Join(d.Path, name), []byte("of "+name), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	site.Ended(time.Now(), "")
	for path, want := range map[string]string{"/": "of report.html", "/report.json": "of report.json",
		"/metrics": "of metrics.prom",
		"/healthz": "ok\n"} {
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
	for _, path := range []string{"/checkpoint", "/registry.git/HEAD", "/../checkpoint", "//report.json",
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
	if err := os.WriteFile(filepath.Join(d.Path, "report.json"), []byte("new"), 0o666); err != nil {
		t.Fatal(err)
	}
	site.Ended(time.Now(), "the origin is down")
	if code, body, _ := get("GET", "/report.json", map[string]string{"If-None-Match": tag}); code != 200 ||
		body != "new" {
		t.Errorf("with the tag of another: %d %q", code, body)
	}
	if code, body, _ := get("GET", "/healthz", nil); code != 503 || !strings.Contains(body, "the origin is down") {
		t.Errorf("health: %d %q", code, body)
	}
	site.Ended(time.Now().Add(-3*time.Hour), "")
	if code, body, _ := get("GET", "/healthz", nil); code != 503 || !strings.Contains(body, "ago") {
		t.Errorf("health: %d %q", code, body)
	}
}

// TestSiteSlow holds that clients that send nothing keep no others from being served, and that serving ends in time.
func TestSiteSlow(t *testing.T) {
	d := &Dir{Path: t.TempDir()}
	site := NewSite(d, time.Hour)
	site.Ended(time.Now(), "")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- site.Serve(t.Context(), l) }()
	for i := range 200 {
		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if i%2 == 0 {
			if _, err := io.WriteString(c, "GET / HT"); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range 100 {
		resp, err := http.Get("http://" + l.Addr().String() + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		if resp.StatusCode != 200 {
			t.Fatalf("status %d", resp.StatusCode)
		}
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err == nil {
		t.Error("a listener that is closed is no error")
	}
}
