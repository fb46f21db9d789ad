package evidence

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"time"
)

// LiveOptions says how a live source asks the world. Only Now is required.
type LiveOptions struct {
	Now     time.Time     // by which dates are judged; TLS and time limits go by the real clock
	Timeout time.Duration // of one request with its redirects and body, time in queues apart; 0: 10 s (RFC 0026 section 6)
	Budget  time.Duration // of the whole run, judging included, from NewLive on; 0: none
	Jobs    int           // requests in flight; 0: 32
	PerHost int           // of them to one host; 0: 4
	// MaxTotal bounds the bytes of all documents together: they are kept in memory, since the bundle of a run
	// holds them, and a document that would exceed it is Unavailable with CodeTotal. 0: 64 MiB.
	MaxTotal int64

	ConnectTo []ConnectTo
	CACert    []byte // PEM, trusted beside the system's roots; SSL_CERT_FILE and SSL_CERT_DIR count for nothing
	// Proxy is the URL of an HTTP, HTTPS or SOCKS5 proxy, for https alone; environment variables count for
	// nothing. The proxy resolves names, so it must itself keep from private addresses. Hosts of ConnectTo and
	// RDAPURL are reached without it.
	Proxy string
	// RDAPURL is the base of RDAP queries in place of IANA's bootstrap, WHOISServer the host:port in place of
	// IANA's referral. Both may be plain and private, since the operator named them; their redirects may not.
	RDAPURL     string
	WHOISServer string

	CacheDir   string // of the disk cache; empty: none
	ArchiveDir string // where each document is kept by its SHA-256 and looked up once its origin is gone; empty: none
	UserAgent  string

	// Progress is told of requests done and begun, by one goroutine at a time.
	Progress func(done, total int)
	Resolver *net.Resolver // nil: the system's
	// RetryWait is the wait before a second attempt; the one before the third is three times as long.
	RetryWait time.Duration // 0: 1 s
	// Wait waits before another attempt; nil: by the real clock.
	Wait func(context.Context, time.Duration) error
}

// The causes that end the context of a request.
var (
	errTimeout = errors.New("the time of one request is over")
	errBudget  = errors.New("the run's budget is spent")
)

// Live is the source that asks the world: documents over HTTPS, registration dates over RDAP and WHOIS.
// Each connection goes to a public address or to one that the operator named; each answer ends within its
// time and its cap. It starts no goroutine that outlives a request by more than Timeout.
//
// net/http prints with package log what a server sends unasked; a program whose output is read by machines
// must give that package another output.
type Live struct {
	now     time.Time
	timeout time.Duration
	budget
	agent string
	wait  func(context.Context, time.Duration) error
	waits []time.Duration // before the second and the third attempt, without jitter, so that runs are alike

	dialer      *dialer
	routes      *routes
	slots       *slots
	large       chan struct{} // documents over largeDocument in flight
	quota       quota
	cache       *cache   // nil: none
	archive     *archive // nil: none
	rdapURL     *url.URL
	whoisServer *whoisServer
	bootstrap   bootstrapFile

	mu      sync.Mutex
	entries map[Request]*entry

	progress    func(done, total int)
	progressing sync.Mutex
	done, total int
}

// entry is one request of the run; done is closed when its observation is made.
type entry struct {
	done        chan struct{}
	observation Observation
}

// NewLive makes a live source, whose budget runs from now on. It reads the system's roots and makes CacheDir;
// nothing is sent before the first request.
func NewLive(o LiveOptions) (*Live, error) {
	o.Timeout, o.Jobs, o.PerHost = cmp.Or(o.Timeout, 10*time.Second), cmp.Or(o.Jobs, 32), cmp.Or(o.PerHost, 4)
	d, err := newDialer(o)
	if err != nil {
		return nil, err
	}
	l := &Live{
		now: o.Now.UTC(), timeout: o.Timeout, budget: newBudget(o.Budget), agent: cmp.Or(o.UserAgent, "oap-gate"), wait: o.Wait,
		dialer: d, slots: newSlots(o.Jobs, o.PerHost), large: make(chan struct{}, 2),
		entries: make(map[Request]*entry), progress: o.Progress,
	}
	retry := cmp.Or(o.RetryWait, time.Second)
	l.waits = []time.Duration{retry, 3 * retry}
	l.quota.left.Store(cmp.Or(o.MaxTotal, 64<<20))
	if l.wait == nil {
		l.wait = sleep
	}
	if l.rdapURL, err = operatorURL(o.RDAPURL, "http", "https"); err != nil {
		return nil, fmt.Errorf("reading RDAP URL: %w", err)
	}
	if l.whoisServer, err = operatorWHOIS(o.WHOISServer); err != nil {
		return nil, fmt.Errorf("reading WHOIS server: %w", err)
	}
	if l.routes, err = newRoutes(o, d, l.rdapURL); err != nil {
		return nil, err
	}
	if l.cache, err = openCache(o); err != nil {
		return nil, err
	}
	if l.archive, err = openArchive(o.ArchiveDir); err != nil {
		return nil, err
	}
	return l, nil
}

// Close ends the connections that are kept for further requests.
func (l *Live) Close() { l.routes.close() }

// Now is the time by which dates are judged.
func (l *Live) Now() time.Time { return l.now }

// Observe gives the observation of a request, made once in a run. A context that ends makes it Unavailable.
func (l *Live) Observe(ctx context.Context, r Request) Observation {
	r = r.canonical()
	l.mu.Lock()
	e, known := l.entries[r]
	if !known {
		e = &entry{done: make(chan struct{})}
		l.entries[r] = e
	}
	l.mu.Unlock()
	if !known {
		l.count(0, 1)
		e.observation = l.observe(ctx, r)
		close(e.done)
		l.count(1, 0)
		return e.observation
	}
	select {
	case <-e.done:
		return e.observation
	case <-ctx.Done():
		refused, _ := classify(ctx, ctx.Err())
		return refused.observation(r)
	}
}

func (l *Live) count(done, total int) {
	if l.progress == nil {
		return
	}
	l.progressing.Lock()
	defer l.progressing.Unlock()
	l.done, l.total = l.done+done, l.total+total
	l.progress(l.done, l.total)
}

// Observations are all that were made so far, sorted by request.
func (l *Live) Observations() []Observation {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all []Observation
	for _, e := range l.entries {
		select {
		case <-e.done:
			all = append(all, e.observation)
		default:
		}
	}
	return sorted(all)
}

func (l *Live) observe(ctx context.Context, r Request) Observation {
	if !l.deadline.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, l.deadline, errBudget)
		defer cancel()
	}
	var o Observation
	switch r.Protocol {
	case HTTPS:
		o = l.https(ctx, r)
	case RDAP:
		o = l.rdap(ctx, r)
	case WHOIS:
		o = l.whois(ctx, r)
	case Archive:
		o = l.archive.find(r)
	default:
		o = refuse(Invalid, CodeURL, "protocol %q is not known", r.Protocol).observation(r)
	}
	if o.State == Obtained {
		sum := sha256.Sum256(o.Body)
		o.SHA256 = hex.EncodeToString(sum[:])
		l.archive.keep(o)
	}
	return o
}

func (l *Live) https(ctx context.Context, r Request) Observation {
	u, refused := documentURL(r.Target)
	if refused != nil {
		return refused.observation(r)
	}
	if r.Target == bootstrapURL {
		if cached := l.cache.document(r); cached.fresh() {
			return l.recall(r, cached)
		}
	}
	q := query{url: u, accept: acceptJSON, revalidate: true}
	return l.persist(ctx, r, func() attempt { return l.document(ctx, r, q) })
}

// attempt is one try to answer a request.
type attempt struct {
	observation Observation
	again       bool          // another try may help
	after       time.Duration // as the server asked for; 0 where it did not
}

func (a attempt) failed(r *refusal, again bool) attempt {
	a.observation.State, a.observation.Code, a.observation.Message = r.state, r.code, r.message
	a.again = again
	return a
}

// maxRetryAfter caps what a server may ask for by Retry-After.
const maxRetryAfter = 30 * time.Second

// persist tries until there is an answer that another try cannot change, at most three times, and not
// where the wait would outlast the budget.
func (l *Live) persist(ctx context.Context, r Request, try func() attempt) Observation {
	var spent int64
	for n := 1; ; n++ {
		a := try()
		spent += a.observation.Milliseconds
		o := a.observation
		o.Request, o.Attempts, o.Milliseconds = r, n, spent
		if !a.again || n > len(l.waits) {
			return o
		}
		wait := max(l.waits[n-1], min(a.after, maxRetryAfter))
		if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) < wait {
			return o
		}
		if l.wait(ctx, wait) != nil {
			return o
		}
	}
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// slots bound the requests in flight, to each host and in all. A place at the host is taken first: who
// waits for a slow host holds no place that another could use. Nobody who holds a place in all waits for a
// host, so that they cannot wait for each other.
type slots struct {
	perHost int
	all     chan struct{}

	mu    sync.Mutex
	hosts map[string]chan struct{}
}

func newSlots(all, perHost int) *slots {
	return &slots{perHost: perHost, all: make(chan struct{}, all), hosts: make(map[string]chan struct{})}
}

// enter waits for both places; leave gives them back.
func (s *slots) enter(ctx context.Context, host string) (leave func(), err error) {
	s.mu.Lock()
	one, ok := s.hosts[host]
	if !ok {
		one = make(chan struct{}, s.perHost)
		s.hosts[host] = one
	}
	s.mu.Unlock()
	if err := place(ctx, one); err != nil {
		return nil, err
	}
	if err := place(ctx, s.all); err != nil {
		<-one
		return nil, err
	}
	return func() { <-s.all; <-one }, nil
}

func place(ctx context.Context, places chan struct{}) error {
	if ctx.Err() != nil { // of two ready cases select takes any
		return ctx.Err()
	}
	select {
	case places <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// largeDocument is the cap from which on few documents are in flight at once: so many of them that hosts fill
// to the cap must not fill the memory.
const largeDocument = 4 << 20

// quota is what is left of MaxTotal.
type quota struct{ left atomic.Int64 }

func (q *quota) take(n int64) bool {
	if q.left.Add(-n) >= 0 {
		return true
	}
	q.left.Add(n)
	return false
}
