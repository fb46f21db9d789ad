package live

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
)

// limits are what all requests of a run share.
type limits struct {
	timeout time.Duration // for one request, time in queues excluded
	slots   *slots
	large   chan struct{} // documents over largeDocument in flight
	quota   quota
}

func newLimits(o Options) *limits {
	l := &limits{timeout: o.Timeout, slots: newSlots(o.Jobs, o.PerHost), large: make(chan struct{}, 2)}
	l.quota.left.Store(cmp.Or(o.MaxTotal, 64<<20))
	return l
}

// slots bound the requests in flight, to each host and in all. A request takes a slot of its host first: while it waits
// for a slow host it holds no slot that another could use. A request that holds a slot of the total never waits for a
// host, so requests cannot wait for each other.
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

// quota is how many bytes may still be kept, such as what is left of MaxTotal.
type quota struct{ left atomic.Int64 }

func (q *quota) take(n int64) bool {
	if q.left.Add(-n) >= 0 {
		return true
	}
	q.left.Add(n)
	return false
}

// errTimeout is the cause that ends the context of one request.
var errTimeout = errors.New("the time of one request has ended")

// budgeted is the layer that ends a request with the run's budget.
type budgeted struct {
	*sources.Budget
	below layer
}

func (b budgeted) Observe(ctx context.Context, r evidence.Request) evidence.Observation {
	ctx, cancel := b.Within(ctx)
	defer cancel()
	return b.below.Observe(ctx, r)
}
