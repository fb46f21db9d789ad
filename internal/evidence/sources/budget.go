package sources

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// ErrBudget is the cause that ends the context of a request with the run's budget.
var ErrBudget = errors.New("the run's budget is spent")

// A Budget is the time of a whole run, and what the run did not reach in it. The zero value has no end.
type Budget struct {
	deadline time.Time // zero: none

	mu     sync.Mutex
	missed map[string][]string // by subject
}

// NewBudget returns a Budget that begins now; 0 has no end.
func NewBudget(d time.Duration) *Budget {
	if d <= 0 {
		return &Budget{}
	}
	return &Budget{deadline: time.Now().Add(d)}
}

// Within returns a context that ends with the budget. The caller must call cancel.
func (b *Budget) Within(ctx context.Context) (_ context.Context, cancel context.CancelFunc) {
	if b.deadline.IsZero() {
		return ctx, func() {}
	}
	return context.WithDeadlineCause(ctx, b.deadline, ErrBudget)
}

// Reaches reports whether there is time left to judge a subject by a check, and notes the check if there is not.
func (b *Budget) Reaches(check, subject string) bool {
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

// NotReached returns the checks, sorted, for which Reaches reported false so far, by subject.
func (b *Budget) NotReached() map[string][]string {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make(map[string][]string, len(b.missed))
	for subject, ids := range b.missed {
		out[subject] = slices.Compact(slices.Sorted(slices.Values(ids)))
	}
	return out
}
