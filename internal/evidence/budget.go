package evidence

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// The causes that end the context of a request.
var (
	errTimeout = errors.New("the time of one request is over")
	errBudget  = errors.New("the run's budget is spent")
)

// budget is the time that a whole run has, and what it did not reach in it.
type budget struct {
	deadline time.Time // zero: none

	mu     sync.Mutex
	missed map[string][]string // by subject
}

func newBudget(d time.Duration) budget {
	if d <= 0 {
		return budget{}
	}
	return budget{deadline: time.Now().Add(d)}
}

// budgeted is the layer that ends a request with the run's budget.
type budgeted struct {
	*budget
	below layer
}

func (b budgeted) Observe(ctx context.Context, r Request) Observation {
	if !b.deadline.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, b.deadline, errBudget)
		defer cancel()
	}
	return b.below.Observe(ctx, r)
}

// Reaches reports whether there is time left to judge a subject by a check, and keeps in mind where there is not.
func (b *budget) Reaches(check, subject string) bool {
	if b.deadline.IsZero() || time.Now().Before(b.deadline) {
		return true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.missed == nil {
		b.missed = map[string][]string{}
	}
	b.missed[subject] = append(b.missed[subject], check)
	return false
}

func (b *budget) NotReached() map[string][]string {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make(map[string][]string, len(b.missed))
	for subject, ids := range b.missed {
		out[subject] = slices.Compact(slices.Sorted(slices.Values(ids)))
	}
	return out
}
