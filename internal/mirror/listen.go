package mirror

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"sync"
	"time"

	"golang.org/x/net/netutil"
)

// The bounds of serving.
const (
	headerTimeout = 10 * time.Second
	writeTimeout  = time.Minute
	maxClients    = 1024
)

// Site serves the reports of a mirror, read-only, and nothing else of its folder.
type Site struct {
	dir   *Dir
	every time.Duration

	mu    sync.RWMutex
	pages map[string]page
	ended time.Time // of the last run
	fault string    // why it came to no verdict; empty: it did
}

type page struct {
	kind string
	body []byte
	etag string
}

// NewSite serves the reports that earlier runs left. A run is due each time after every.
func NewSite(d *Dir, every time.Duration) *Site {
	s := &Site{dir: d, every: every, fault: "no run has ended yet"}
	s.read()
	return s
}

// Ended has the site show the reports of a run that has ended now; fault says why it came to no verdict, if so.
func (s *Site) Ended(now time.Time, fault string) {
	s.mu.Lock()
	s.ended, s.fault = now, fault
	s.mu.Unlock()
	s.read()
}

// read takes the reports as they stand into memory, so that what is sent has the tag that goes with it.
func (s *Site) read() {
	pages := map[string]page{}
	for path, of := range map[string][2]string{
		"/":            {"report.html", "text/html; charset=utf-8"},
		"/report.json": {"report.json", "application/json"},
		"/metrics":     {"metrics.prom", "text/plain; version=0.0.4; charset=utf-8"},
	} {
		if body, err := os.ReadFile(s.dir.File(of[0])); err == nil { // one that is not there is answered so
			pages[path] = page{of[1], body, fmt.Sprintf("%q", fmt.Sprintf("%x", sha256.Sum256(body)))}
		}
	}
	s.mu.Lock()
	s.pages = pages
	s.mu.Unlock()
}

// policy of the page: its style stands in it, and it asks for nothing.
const pagePolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; " +
	"form-action 'none'; frame-ancestors 'none'"

func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", pagePolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-cache")
	known := r.URL.Path == "/" || r.URL.Path == "/report.json" || r.URL.Path == "/metrics" || r.URL.Path == "/healthz"
	switch {
	case !known:
		http.Error(w, "not found", http.StatusNotFound)
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "read-only", http.StatusMethodNotAllowed)
	case r.URL.Path == "/healthz":
		s.health(w)
	default:
		s.mu.RLock()
		p, ok := s.pages[r.URL.Path]
		s.mu.RUnlock()
		if !ok {
			http.Error(w, "no run has ended yet", http.StatusServiceUnavailable)
			return
		}
		h.Set("Content-Type", p.kind)
		h.Set("ETag", p.etag)
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(p.body))
	}
}

func (s *Site) health(w http.ResponseWriter) {
	s.mu.RLock()
	ended, fault := s.ended, s.fault
	s.mu.RUnlock()
	if late := time.Since(ended); fault == "" && late > 2*s.every {
		fault = fmt.Sprintf("the last run ended %s ago", late.Round(time.Second))
	}
	if fault != "" {
		http.Error(w, fault, http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprintln(w, "ok")
}

// Serve serves on a listener until the context ends, then lets requests end.
func (s *Site) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{Handler: s, ReadHeaderTimeout: headerTimeout, ReadTimeout: headerTimeout,
		WriteTimeout: writeTimeout, IdleTimeout: writeTimeout, MaxHeaderBytes: 16 << 10}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		within, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		if server.Shutdown(within) != nil {
			_ = server.Close() // who is slow now is cut off
		}
	})
	err := server.Serve(netutil.LimitListener(l, maxClients))
	if !stop() {
		<-ended
	}
	if !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
