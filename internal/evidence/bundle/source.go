package bundle

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
)

// Source returns a source that answers from the bundle and knows nothing else: a request that is not in it is
// Unavailable, with CodeNotRecorded. Its observations are all those of the bundle, requested or not, so that the run
// and its replay report the same.
func (b *Bundle) Source() evidence.Source {
	return b.SourceOr(func(r evidence.Request) evidence.Observation {
		return sources.Refuse(evidence.Unavailable, evidence.CodeNotRecorded, "the bundle holds no answer to %s", r).
			Observation(r)
	})
}

// SourceOr returns a source as Source does. It calls missing, once for each request, for an answer that is not in the
// bundle.
func (b *Bundle) SourceOr(missing func(evidence.Request) evidence.Observation) evidence.Source {
	s := &source{now: b.Now, notReached: b.NotReached, missing: missing,
		known: make(map[evidence.Request]evidence.Observation, len(b.Observations))}
	for _, o := range b.Observations {
		s.known[o.Request] = o
	}
	return s
}

type source struct {
	now        time.Time
	notReached map[string][]string
	missing    func(evidence.Request) evidence.Observation
	mu         sync.Mutex
	known      map[evidence.Request]evidence.Observation
}

func (s *source) Now() time.Time { return s.now }

func (s *source) Observe(_ context.Context, r evidence.Request) evidence.Observation {
	r = sources.Canonical(r)
	s.mu.Lock()
	defer s.mu.Unlock()
	o, known := s.known[r]
	if !known {
		o = s.missing(r)
		s.known[r] = o
	}
	return o
}

func (s *source) Observations() []evidence.Observation {
	s.mu.Lock()
	defer s.mu.Unlock()
	return sources.Sorted(slices.Collect(maps.Values(s.known)))
}

func (s *source) Reaches(check, subject string) bool {
	return !slices.Contains(s.notReached[subject], check)
}

func (s *source) NotReached() map[string][]string { return s.notReached }
