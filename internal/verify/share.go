package verify

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
)

// Shares lets several subjects of one run ask one source, each within a budget of its own, and each with observations
// of its own. What no subject asks for any more is released, so that a run may have many subjects.
type Shares struct {
	src  evidence.Source
	keep bool

	mu     sync.Mutex
	users  map[evidence.Request]int
	missed map[string][]string
}

// NewShares shares out a source. A run that is recorded keeps all observations.
func NewShares(src evidence.Source, keep bool) *Shares {
	return &Shares{src: src, keep: keep, users: map[evidence.Request]int{}, missed: map[string][]string{}}
}

// NotReached returns what the subjects' budgets did not reach, in the form of Source.
func (s *Shares) NotReached() map[string][]string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.missed
}

// Share is the source of one subject. It must be closed.
type Share struct {
	*sources.Budget
	subject string
	shares  *Shares

	mu    sync.Mutex
	known map[evidence.Request]evidence.Observation
	used  map[evidence.Request]bool
}

// Share starts the budget of one subject, which Reaches calls by that name; 0: only the source's own budget counts.
func (s *Shares) Share(subject string, b time.Duration) *Share {
	return &Share{Budget: sources.NewBudget(b), subject: subject, shares: s,
		known: map[evidence.Request]evidence.Observation{}, used: map[evidence.Request]bool{}}
}

// Now returns the time at which dates are evaluated.
func (s *Share) Now() time.Time { return s.shares.src.Now() }

// Observe returns the source's observation of a request, or the end of the subject's budget. The latter is not an
// observation of the source, which other subjects would share: NotReached lists it with the checks.
func (s *Share) Observe(ctx context.Context, r evidence.Request) evidence.Observation {
	r = sources.Canonical(r)
	s.mu.Lock()
	o, known := s.known[r]
	used := s.used[r]
	s.used[r] = true
	s.mu.Unlock()
	if known {
		return o
	}
	if !used {
		s.shares.mu.Lock()
		s.shares.users[r]++
		s.shares.mu.Unlock()
	}
	o = sources.Refuse(evidence.Unavailable, evidence.CodeBudget, "%v", sources.ErrBudget).Observation(r)
	if s.reaches(r) {
		asked := s.within(ctx, r)
		if asked.Code != evidence.CodeBudget || s.reaches(r) {
			o = asked
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known[r] = o
	return o
}

// Observations returns all observations of the subject so far, sorted by request.
func (s *Share) Observations() []evidence.Observation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return sources.Sorted(slices.Collect(maps.Values(s.known)))
}

// within asks the source until the budget ends.
func (s *Share) within(ctx context.Context, r evidence.Request) evidence.Observation {
	ctx, cancel := s.Within(ctx)
	defer cancel()
	return s.shares.src.Observe(ctx, r)
}

// reaches reports whether there is time left for a request.
func (s *Share) reaches(r evidence.Request) bool {
	return s.Reaches(fmt.Sprintf("%s, at most %d bytes", r, r.MaxBytes), s.subject)
}

// Reaches reports whether both the source's budget and the subject's own last.
func (s *Share) Reaches(check, subject string) bool {
	return s.shares.src.Reaches(check, subject) && s.Budget.Reaches(check, subject)
}

// Close releases what no other share has asked for.
func (s *Share) Close() {
	s.shares.mu.Lock()
	defer s.shares.mu.Unlock()
	maps.Copy(s.shares.missed, s.Budget.NotReached())
	forgetful, _ := s.shares.src.(interface{ Forget(evidence.Request) })
	for r := range s.used {
		if s.shares.users[r]--; s.shares.users[r] > 0 {
			continue
		}
		delete(s.shares.users, r)
		if forgetful != nil && !s.shares.keep {
			forgetful.Forget(r)
		}
	}
}
