// Package live asks the web for evidence.
//
// It fetches documents over HTTPS, and registration dates over RDAP and WHOIS. It holds the guard against private
// addresses, the caps, the deadlines, the retries, the cache and the archive.
package live

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
)

// Options says how a live source asks the world. Only Now is required.
type Options struct {
	Now     time.Time     // by which dates are judged; TLS and time limits go by the real clock
	Timeout time.Duration // one request with redirects and body, queues excluded; 0: 10 s (RFC 0026 section 6)
	Budget  time.Duration // for the whole run, judging included, from New on; 0: none
	Jobs    int           // requests in flight; 0: 32
	PerHost int           // to one host; 0: 4
	// MaxTotal bounds the bytes of all documents together: they are kept in memory, since the bundle of a run
	// holds them, and a document that would exceed it is Unavailable with CodeTotal. 0: 64 MiB.
	MaxTotal int64

	// Local hosts are read from directories. Their registration dates are not asked for.
	Local []Local
	// LocalOnly leaves everything else Unsought.
	LocalOnly bool
	ConnectTo []ConnectTo
	CACert    []byte // PEM, trusted in addition to the system's roots; SSL_CERT_FILE and SSL_CERT_DIR are ignored
	// Proxy is the URL of an HTTP, HTTPS or SOCKS5 proxy, only for https; environment variables are ignored. The proxy
	// resolves names, so it must itself keep from private addresses. Hosts of ConnectTo and RDAPURL are reached without
	// it.
	Proxy string
	// RDAPURL is the base of RDAP queries and replaces IANA's bootstrap; WHOISServer is a host:port and replaces IANA's
	// referral. Both may be plain and private, since the operator named them; their redirects may not.
	RDAPURL     string
	WHOISServer string
	// ServerURL is a URL on the server that Named requests go to. It may be plain, and its addresses must be loopback
	// or private, unless ConnectTo gives another; its redirects to other servers must be https and public, as all else.
	ServerURL string

	CacheDir   string // directory of the disk cache; empty: none
	ArchiveDir string // where each document is kept by its SHA-256 and looked up once its origin is gone; empty: none
	Room       *Room  // of both; nil: without bound
	UserAgent  string

	// Progress is called for each change, by one goroutine at a time.
	Progress func(Progress)
	Resolver *net.Resolver // nil: the system's
	// RetryWait is the wait before a second attempt; the one before the third is three times as long.
	RetryWait time.Duration // 0: 1 s
	Tries     int           // attempts at one request, at most 3; 0: 3
	// Preflight is for an endpoint that must answer itself: a redirect is an answer, and is not followed; each 5xx and
	// each timeout is tried again.
	Preflight bool
	// Wait waits before another attempt; nil: by the real clock.
	Wait func(context.Context, time.Duration) error
}

// A Source is the source that asks the world: documents over HTTPS, registration dates over RDAP and WHOIS.
// Each connection goes to a public address or to one that the operator named; each answer ends within its
// time and its cap. It starts no goroutine that outlives a request by more than Timeout.
//
// A request is observed once in a run, through layers: budget, archive, local hosts, cache, and the protocol, which
// retries.
//
// net/http prints with package log what a server sends unasked; a program whose output is read by machines
// must give that package another output.
type Source struct {
	now time.Time
	*sources.Budget
	layers   layer
	web      *web // one of them
	locals   *locals
	progress *tracker

	mu      sync.Mutex
	entries map[evidence.Request]*entry
}

// layer makes the observation of a canonical request, most by asking the layer below.
type layer interface {
	Observe(context.Context, evidence.Request) evidence.Observation
}

// byProtocol is the lowest layer above the protocols.
type byProtocol map[evidence.Protocol]layer

func (p byProtocol) Observe(ctx context.Context, r evidence.Request) evidence.Observation {
	below, ok := p[r.Protocol]
	if !ok {
		return sources.Refuse(evidence.Invalid, evidence.CodeURL, "protocol %q is not known",
			r.Protocol).Observation(r)
	}
	return below.Observe(ctx, r)
}

// entry is one request of the run; done is closed when its observation is made.
type entry struct {
	done        chan struct{}
	observation evidence.Observation
	cut         bool // by the context of who asked, which says nothing to others
}

// ended reports whether the observation is there.
func (e *entry) ended() bool {
	select {
	case <-e.done:
		return true
	default:
		return false
	}
}

// New makes a live source, whose budget runs from now on. It makes CacheDir; the system's roots are
// read before the first connection, and nothing is sent before the first request.
func New(o Options) (*Source, error) {
	o.Timeout, o.Jobs, o.PerHost = cmp.Or(o.Timeout, 10*time.Second), cmp.Or(o.Jobs, 32), cmp.Or(o.PerHost, 4)
	rdapURL, err := operatorURL(o.RDAPURL, "http", "https")
	if err != nil {
		return nil, fmt.Errorf("reading RDAP URL: %w", err)
	}
	server, err := operatorWHOIS(o.WHOISServer)
	if err != nil {
		return nil, fmt.Errorf("reading WHOIS server: %w", err)
	}
	serverURL, err := operatorURL(o.ServerURL, "http", "https")
	if err != nil {
		return nil, fmt.Errorf("reading server URL: %w", err)
	}
	routes, err := newRoutes(o, rdapURL, serverURL)
	if err != nil {
		return nil, err
	}
	store, err := openCache(o)
	if err != nil {
		return nil, err
	}
	limits, retries := newLimits(o), newBackoff(o)
	retries.progress = &tracker{show: o.Progress, tries: len(retries.waits) + 1}
	l := &Source{now: o.Now.UTC(), Budget: sources.NewBudget(o.Budget), progress: retries.progress,
		entries: make(map[evidence.Request]*entry)}
	l.web = &web{limits: limits, backoff: retries, preflight: o.Preflight, agent: cmp.Or(o.UserAgent, "oap-gate"),
		routes: routes, cache: store, local: o.Local, ownRoots: len(o.CACert) > 0}
	var below layer = byProtocol{
		evidence.HTTPS: https{l.web},
		evidence.Named: named{l.web},
		evidence.DNS:   lookup{retries, routes.dialer},
		evidence.RDAP:  &rdap{web: l.web, run: l, named: rdapURL},
		evidence.WHOIS: &whois{limits: limits, backoff: retries, run: l, dialer: routes.dialer, named: server},
	}
	if store != nil {
		below = &cacheFirst{store, &limits.quota, below}
	}
	if o.LocalOnly {
		below = onlyLocal{}
	}
	if l.locals, err = openLocals(o.Local, &limits.quota, below); err != nil {
		return nil, err
	}
	below = l.locals
	if below, err = openArchive(o.ArchiveDir, o.Room, below); err != nil {
		return nil, err
	}
	l.layers = budgeted{l.Budget, below}
	return l, nil
}

// Close ends the connections that are kept for further requests, and closes the directories of local hosts.
func (l *Source) Close() {
	l.web.routes.close()
	l.locals.close()
}

// Now returns the time at which dates are evaluated.
func (l *Source) Now() time.Time { return l.now }

// Observe returns the observation of a request, made once in a run. A context that ends makes it Unavailable only for
// its own caller: a caller with another context repeats the request.
func (l *Source) Observe(ctx context.Context, r evidence.Request) evidence.Observation {
	r = sources.Canonical(r)
	for {
		l.mu.Lock()
		e, known := l.entries[r]
		if !known || e.ended() && e.cut && ctx.Err() == nil {
			e, known = &entry{done: make(chan struct{})}, false
			l.entries[r] = e
		}
		l.mu.Unlock()
		if !known {
			l.progress.begin(r)
			e.observation = l.layers.Observe(ctx, r)
			e.cut = ctx.Err() != nil && e.observation.Code == evidence.CodeBudget
			close(e.done)
			l.progress.end(r)
			return e.observation
		}
		select {
		case <-e.done:
		case <-ctx.Done():
			if !e.ended() { // else both hold: what was observed counts
				refused, _ := classify(ctx, ctx.Err())
				return refused.Observation(r)
			}
		}
		if !e.cut || ctx.Err() != nil {
			return e.observation
		}
	}
}

// Observations returns all observations made so far, sorted by request.
func (l *Source) Observations() []evidence.Observation {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []evidence.Observation
	for _, e := range l.entries {
		if e.ended() {
			all = append(all, e.observation)
		}
	}
	return sources.Sorted(all)
}

// Forget drops the observation of a request. The request is repeated if its observation is needed again.
func (l *Source) Forget(r evidence.Request) {
	r = sources.Canonical(r)
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.entries[r]; e != nil && e.ended() {
		delete(l.entries, r)
		l.web.quota.left.Add(int64(len(e.observation.Body)))
	}
}
