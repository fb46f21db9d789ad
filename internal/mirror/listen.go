package mirror

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
)

// The bounds of serving.
const (
	headerTimeout = 10 * time.Second
	writeTimeout  = time.Minute
	slowest       = 128 << 10 // bytes a second: a client that reads a large file more slowly is cut off
	grace         = time.Second
	maxClients    = 1024
)

// Site serves the files that the last run of a mirror left, read-only, and nothing else of its directory. Memory does
// not grow with the files: they are sent from disk.
type Site struct {
	dir   *Dir
	every time.Duration
	git   bool
	now   func() time.Time
	most  int // clients that may be connected

	mu    sync.Mutex
	pages map[string]*page
	ended time.Time     // when the last run ended
	since time.Time     // when a pass over the stored objects began; zero: none is under way
	spent time.Duration // on such passes since the last run ended
	fault string        // why it could not run; empty: it ran
}

// NewSite serves the files that earlier runs left, and the verified branch by git's dumb protocol if git is set. A run
// is due each time after every.
func NewSite(d *Dir, every time.Duration, git bool) *Site {
	s := &Site{dir: d, every: every, git: git, now: time.Now, most: clients(), fault: notYet}
	s.read()
	return s
}

const notYet = "no run has ended yet"

// Ended serves the files of a run that has ended now; fault says why it could not run, and is empty if it did. Absolute
// paths of this machine are removed from fault.
func (s *Site) Ended(fault string) {
	s.mu.Lock()
	s.ended, s.fault, s.spent = s.now(), s.public(fault), 0
	s.mu.Unlock()
	s.read()
}

// Verifying has the site know that a pass over the stored objects begins, or that it ends.
func (s *Site) Verifying(begins bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if begins {
		s.since = s.now()
	} else if !s.since.IsZero() {
		s.spent, s.since = s.spent+s.now().Sub(s.since), time.Time{}
	}
}

// absolute matches an absolute path of Unix or Windows that a message names, and no path of a URL.
var absolute = plain.Pattern(`(^|[\s"'=(])(?:/|[A-Za-z]:[\\/]|\\\\)[^\s"')]*`)

// public returns a message without absolute paths.
func (s *Site) public(message string) string {
	return withoutPaths(strings.ReplaceAll(message, s.dir.Path, "DIR"))
}

// ownAddress matches the address of this machine in the error of a connection: read tcp OWN->OTHER: reason.
var ownAddress = plain.Pattern(`(?:[0-9.]+|\[[0-9A-Za-z:.%_-]+\]):[0-9]+->`)

// withoutPaths returns a message in which PATH replaces each absolute path, and without addresses of this machine.
func withoutPaths(message string) string {
	return ownAddress().ReplaceAllString(absolute().ReplaceAllString(message, "${1}PATH"), "")
}

// page is a file as it was when it was opened. Its readers share it, and the last of them closes it.
type page struct {
	kind string
	etag string
	body io.ReaderAt
	size int64
	file *os.File // nil: body is in memory
	used int      // readers, and one for the site while it serves the page; guarded by Site.mu
}

// served are the files of the last run by their paths, with their types.
var served = map[string]struct{ file, kind string }{
	"/":            {"report.html", "text/html; charset=utf-8"},
	"/report.json": {"report.json", "application/json"},
	"/state.json":  {"state.json", "application/json"},
	"/checkpoint":  {"checkpoint", "text/plain; charset=utf-8"},
	"/metrics":     {"metrics.prom", "text/plain; version=0.0.4; charset=utf-8"},
}

// read opens the files as they are now, so that the bytes that are sent have the tag that was computed from them, also
// if a run replaces the file meanwhile.
func (s *Site) read() {
	fresh := map[string]*page{}
	for path, of := range served {
		if p, err := openPage(s.dir.File(of.file)); err == nil { // the answer for a missing file says so
			p.kind = of.kind
			fresh[path] = p
		}
	}
	s.mu.Lock()
	old := s.pages
	s.pages = fresh
	s.mu.Unlock()
	for _, p := range old {
		s.release(p)
	}
}

// openPage opens a file and computes its tag.
func openPage(name string) (*page, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	p := &page{used: 1, file: f, body: f}
	sum := sha256.New()
	if runtime.GOOS == "windows" { // an open file cannot be replaced there
		text, err := io.ReadAll(f)
		if err = errors.Join(err, f.Close()); err != nil {
			return nil, err
		}
		p.file, p.body, p.size = nil, bytes.NewReader(text), int64(len(text))
		sum.Write(text)
	} else if p.size, err = io.Copy(sum, f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	p.etag = fmt.Sprintf("%q", hex.EncodeToString(sum.Sum(nil)))
	return p, nil
}

// page returns the page of a path for one more reader, or nil.
func (s *Site) page(path string) *page {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pages[path]
	if p != nil {
		p.used++
	}
	return p
}

func (s *Site) release(p *page) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.used--; p.used == 0 && p.file != nil {
		_ = p.file.Close() // it was only read
	}
}

// pagePolicy is the policy of the page: its style is inline, and it requests nothing.
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
	inGit, ofGit := strings.CutPrefix(r.URL.Path, "/registry.git/")
	inLog, ofLog := strings.CutPrefix(r.URL.Path, "/log/")
	_, ofRun := served[r.URL.Path]
	serve := s.file
	switch path := r.URL.Path; {
	case path == "/livez":
		serve = yes
	case path == "/readyz":
		serve = s.ready
	case path == "/healthz":
		serve = s.health
	case ofGit && s.git && isGitPath(inGit):
		serve = func(w http.ResponseWriter, r *http.Request) { s.repository(w, r, inGit) }
	case ofLog && (inLog == "checkpoint" || tileFile().MatchString(inLog)):
		serve = func(w http.ResponseWriter, r *http.Request) { s.logFile(w, r, inLog) }
	case !ofRun:
		http.Error(w, "not found", http.StatusNotFound)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "read-only", http.StatusMethodNotAllowed)
		return
	}
	serve(w, r)
}

// file sends a file of the last run.
func (s *Site) file(w http.ResponseWriter, r *http.Request) {
	p := s.page(r.URL.Path)
	if p == nil {
		http.Error(w, notYet, http.StatusServiceUnavailable)
		return
	}
	defer s.release(p)
	w.Header().Set("Content-Type", p.kind)
	w.Header().Set("ETag", p.etag)
	send(w, r, io.NewSectionReader(p.body, 0, p.size))
}

// tileFile matches the paths of C2SP tlog-tiles. What the log signed last is never served before witnesses saw it.
var tileFile = plain.Pattern(`^tile/(?:entries|[0-9]{1,2})/(?:x[0-9]{3}/)*[0-9]{3}(?:\.p/[0-9]{1,3})?$`)

// logFile sends a file of the published log.
func (s *Site) logFile(w http.ResponseWriter, r *http.Request, path string) {
	data, err := capped.ReadFile(filepath.Join(s.dir.File("log"), filepath.FromSlash(path)), maxLogFile)
	if err != nil {
		http.Error(w, "not found", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if path != "checkpoint" {
		w.Header().Set("Content-Type", "application/octet-stream")
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	send(w, r, io.NewSectionReader(bytes.NewReader(data), 0, int64(len(data))))
}

// maxLogFile is the size of the largest file of a log: a tile of 256 entries.
const maxLogFile = 128 << 10

// send sends a file, for which a slow client has the more time the larger it is.
func send(w http.ResponseWriter, r *http.Request, body *io.SectionReader) {
	most := writeTimeout + time.Duration(body.Size()/slowest)*time.Second
	_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(most)) // else that of the server holds
	http.ServeContent(w, r, "", time.Time{}, body)
}

// ready answers whether there is a verified head to read, which an origin that is down does not change.
func (s *Site) ready(w http.ResponseWriter, r *http.Request) {
	if id, err := s.dir.Verified(); err != nil || id == "" {
		http.Error(w, "no head has been verified yet", http.StatusServiceUnavailable)
		return
	}
	yes(w, r)
}

// health answers whether the last run ended in time, and came to a verdict.
func (s *Site) health(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	fault, late := s.fault, s.now().Sub(s.ended)-s.spent // a pass over the stored objects does not count
	if !s.since.IsZero() {
		late -= s.now().Sub(s.since)
	}
	s.mu.Unlock()
	if fault == "" && late > 2*s.every {
		fault = fmt.Sprintf("the last run ended %s ago", late.Round(time.Second))
	}
	if fault != "" {
		http.Error(w, fault, http.StatusServiceUnavailable)
		return
	}
	yes(w, r)
}

// yes is also the answer of a process that serves at all.
func yes(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	fmt.Fprintln(w, "ok")
}

// Serve serves on a listener until the context ends, then lets requests end.
func (s *Site) Serve(ctx context.Context, l net.Listener) error {
	server := &http.Server{Handler: s, ReadHeaderTimeout: headerTimeout, ReadTimeout: headerTimeout,
		WriteTimeout: writeTimeout, IdleTimeout: writeTimeout, MaxHeaderBytes: 16 << 10,
		ConnState: (&crowd{most: s.most}).changed}
	ended := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(ended)
		within, cancel := context.WithTimeout(context.Background(), grace)
		defer cancel()
		if server.Shutdown(within) != nil {
			_ = server.Close() // cuts off the clients that are slow now
		}
	})
	err := server.Serve(l)
	if !stop() {
		<-ended
	}
	if !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
