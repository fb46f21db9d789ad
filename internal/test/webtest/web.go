// Package webtest serves a whole web on loopback. It has HTTPS for any host name by a certificate authority of its
// own, RDAP over plain HTTP, and WHOIS. Pages may be honest or as hostile as a web can be. It serves
// tests and benchmarks; it knows nothing of registries.
package webtest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"
)

// Options is what a web is started with.
type Options struct {
	Delay time.Duration // before each reply of each server
}

// Web is a web and what it serves. Its methods are safe for concurrent use.
type Web struct {
	ca    *authority // nil: without servers
	delay time.Duration

	open context.Context // until Close
	end  context.CancelFunc

	https, rdap, whois net.Listener
	servers            []*http.Server

	mu       sync.Mutex
	running  sync.WaitGroup
	pages    map[string]Behaviour
	domains  map[string]Domain
	tlsModes map[string]TLSMode
	log      []string
	hits     map[string]int
	inFlight map[string]int
	peak     map[string]int
}

// New returns a web without servers: Answer, RDAP and WHOIS return what they would answer. A page that was not set
// answers 404, a domain that was not set is unknown to every registry.
func New() *Web {
	open, end := context.WithCancel(context.Background())
	return &Web{
		open: open, end: end,
		pages: map[string]Behaviour{}, domains: map[string]Domain{}, tlsModes: map[string]TLSMode{},
		hits: map[string]int{}, inFlight: map[string]int{}, peak: map[string]int{},
	}
}

// Start opens the three servers of a new web on free ports of 127.0.0.1.
func Start(o Options) (*Web, error) {
	ca, err := trusted()
	if err != nil {
		return nil, fmt.Errorf("make test authority: %w", err)
	}
	w := New()
	w.ca, w.delay = ca, o.Delay
	for _, l := range []*net.Listener{&w.https, &w.rdap, &w.whois} {
		if *l, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			w.Close()
			return nil, fmt.Errorf("open loopback listener: %w", err)
		}
	}
	// Only HTTP/1.1: resets and broken headers need the connection itself.
	w.serve(tls.NewListener(w.https, &tls.Config{GetConfigForClient: w.handshake}), w.answerPage)
	w.serve(w.rdap, w.answerRDAP)
	w.goTracked(w.acceptWHOIS)
	return w, nil
}

func (w *Web) serve(l net.Listener, answer http.HandlerFunc) {
	s := &http.Server{
		ErrorLog:     log.New(io.Discard, "", 0),
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){},
		BaseContext:  func(net.Listener) context.Context { return w.open },
		Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if !w.enter() {
				panic(http.ErrAbortHandler)
			}
			defer w.running.Done()
			answer(rw, r)
		}),
	}
	w.servers = append(w.servers, s)
	go s.Serve(l)
}

// Close ends the servers, their connections and every reply under way, and waits for them.
func (w *Web) Close() error {
	w.mu.Lock()
	w.end()
	w.mu.Unlock()
	var errs []error
	for _, s := range w.servers {
		errs = append(errs, s.Close())
	}
	for _, l := range []net.Listener{w.https, w.rdap, w.whois} {
		if l != nil {
			l.Close()
		}
	}
	w.running.Wait()
	return errors.Join(errs...)
}

func (w *Web) enter() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open.Err() != nil {
		return false
	}
	w.running.Add(1)
	return true
}

func (w *Web) goTracked(f func()) {
	if w.enter() {
		go func() { defer w.running.Done(); f() }()
	}
}

// IsServed reports whether the web has servers.
func (w *Web) IsServed() bool { return w.ca != nil }

// CAPEM returns the certificate of the web's authority.
func (w *Web) CAPEM() []byte { return w.ca.pem }

// Addr returns the address of the HTTPS server, which answers for every host name.
func (w *Web) Addr() string { return w.https.Addr().String() }

// RDAPURL returns the base of the RDAP server, without a slash at its end.
func (w *Web) RDAPURL() string { return "http://" + w.rdap.Addr().String() }

// WHOISAddr returns the address of the WHOIS server.
func (w *Web) WHOISAddr() string { return w.whois.Addr().String() }

// Set puts b at an https URL and replaces what was there before. A URL that ends in "/*" covers the host: it removes
// every page set before and answers for each path that is not set after it.
func (w *Web) Set(rawURL string, b Behaviour) {
	w.mu.Lock()
	defer w.mu.Unlock()
	k := pageKey(rawURL)
	if host, ok := strings.CutSuffix(k, "*"); ok {
		for other := range w.pages {
			if strings.HasPrefix(other, host) {
				delete(w.pages, other)
			}
		}
	}
	w.pages[k] = b
}

// Page puts an honest page at an https URL.
func (w *Web) Page(rawURL string, body []byte) { w.Set(rawURL, Behaviour{Body: body}) }

// Body returns what was set at the URL, or nil.
func (w *Web) Body(rawURL string) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pages[pageKey(rawURL)].Body
}

// SetDomain makes RDAP and WHOIS answer for a domain.
func (w *Web) SetDomain(name string, d Domain) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.domains[strings.ToLower(name)] = d
}

// SetTLS changes what the handshake for a host ends in.
func (w *Web) SetTLS(host string, m TLSMode) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tlsModes[strings.ToLower(host)] = m
}

// Requests lists what was asked, in order: "https://host/path", "rdap name", "whois name".
func (w *Web) Requests() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.log...)
}

// Hits counts the requests for one URL, or for one "rdap name" or "whois name".
func (w *Web) Hits(request string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if strings.HasPrefix(request, "https:") {
		request = pageKey(request)
	}
	return w.hits[request]
}

// Peak returns the greatest number of page requests that were in flight at once for a host.
func (w *Web) Peak(host string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.peak[strings.ToLower(host)]
}

// Forget empties the log and the counts.
func (w *Web) Forget() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = nil
	clear(w.hits)
	clear(w.peak)
}

// note logs a request and says how many such requests came before it.
func (w *Web) note(request string) int {
	w.log = append(w.log, request)
	w.hits[request]++
	return w.hits[request] - 1
}

// wait returns false if ctx ended first.
func wait(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func pageKey(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return raw
	}
	return key(u.Host, u.RequestURI())
}

func key(host, uri string) string {
	return "https://" + strings.TrimSuffix(strings.ToLower(host), ":443") + uri
}

// reset closes a connection so that the other side sees a reset, not an end.
func reset(c net.Conn) {
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn()
	}
	c.(*net.TCPConn).SetLinger(0)
	c.Close()
}
