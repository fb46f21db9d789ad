package live

import (
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
)

// Progress is how far the requests of a run are, for people who wait for it.
type Progress struct {
	Done, Total int
	// Host is that of the oldest request that has no answer yet, or a domain; empty if each request has one.
	Host            string
	Attempt, Allows int       // the attempt that this request makes, and how many it may make
	Since           time.Time // when this request began
}

// tracker counts requests and reports each change.
type tracker struct {
	show  func(Progress) // nil: nothing is counted
	tries int

	mu          sync.Mutex
	done, total int
	open        []openRequest // oldest first
}

type openRequest struct {
	evidence.Request
	attempt int
	since   time.Time
}

// begin adds a request.
func (t *tracker) begin(r evidence.Request) {
	t.change(func() {
		t.total++
		t.open = append(t.open, openRequest{r, 1, time.Now()})
	})
}

// try notes which attempt a request makes.
func (t *tracker) try(r evidence.Request, attempt int) {
	t.change(func() {
		if i := t.find(r); i >= 0 {
			t.open[i].attempt = attempt
		}
	})
}

// end notes that a request has its answer.
func (t *tracker) end(r evidence.Request) {
	t.change(func() {
		t.done++
		if i := t.find(r); i >= 0 {
			t.open = slices.Delete(t.open, i, i+1)
		}
	})
}

func (t *tracker) find(r evidence.Request) int {
	return slices.IndexFunc(t.open, func(o openRequest) bool { return o.Request == r })
}

func (t *tracker) change(change func()) {
	if t == nil || t.show == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	change()
	p := Progress{Done: t.done, Total: t.total, Allows: t.tries}
	if len(t.open) > 0 {
		first := t.open[0]
		p.Host, p.Attempt, p.Since = host(first.Target), first.attempt, first.since
	}
	t.show(p)
}

// host returns the host of a URL, or the text if it is not a URL with one.
func host(target string) string {
	if u, err := url.Parse(target); err == nil && u.Hostname() != "" {
		return u.Hostname()
	}
	return target
}
