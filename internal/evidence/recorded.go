package evidence

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/signature"
)

// NewRecorded returns a source that answers from a bundle and knows nothing else: a request that is not in it is
// Unavailable, with CodeNotRecorded. Its observations are all those of the bundle, requested or not, so that the run
// and its replay report the same.
func NewRecorded(b *Bundle) Source {
	r := &recorded{now: b.Now, notReached: b.NotReached}
	r.known = make(map[Request]Observation, len(b.Observations))
	for _, o := range b.Observations {
		r.known[o.Request] = o
	}
	return r
}

type recorded struct {
	answers
	now        time.Time
	notReached map[string][]string
}

func (r *recorded) Now() time.Time { return r.now }

func (r *recorded) Observe(_ context.Context, q Request) Observation {
	return r.once(q, func(q Request) Observation {
		return Refuse(Unavailable, CodeNotRecorded, "the bundle holds no answer to %s", q).Observation(q)
	})
}

func (r *recorded) Reaches(check, subject string) bool {
	return !slices.Contains(r.notReached[subject], check)
}

func (r *recorded) NotReached() map[string][]string { return r.notReached }

// answers are the observations of a source, one for each request.
type answers struct {
	mu    sync.Mutex
	known map[Request]Observation
}

// once returns the observation of a request. It calls answer if there is no observation yet.
func (a *answers) once(r Request, answer func(Request) Observation) Observation {
	r = r.Canonical()
	a.mu.Lock()
	defer a.mu.Unlock()
	o, known := a.known[r]
	if !known {
		o = answer(r)
		a.known[r] = o
	}
	return o
}

// Observations returns all observations so far, sorted by request.
func (a *answers) Observations() []Observation {
	a.mu.Lock()
	defer a.mu.Unlock()
	return Sorted(slices.Collect(maps.Values(a.known)))
}

// Offline returns a source that asks nobody: each observation is Unsought, with CodeOffline, and none is kept. The
// budget is as in live.Options.
func Offline(now time.Time, budget time.Duration) Source {
	return &offline{now.UTC(), NewBudget(budget)}
}

type offline struct {
	now time.Time
	*Budget
}

func (o *offline) Now() time.Time { return o.now }

func (o *offline) Observe(_ context.Context, r Request) Observation {
	return Refuse(Unsought, CodeOffline, "nothing was asked").Observation(r.Canonical())
}

func (o *offline) Observations() []Observation { return nil }

// Row is what Digest covers of one observation.
type Row struct {
	URL    string // as Request.String has it
	State  string
	Status int
	SHA256 string // empty where nothing was obtained
}

// Digest returns DigestRows of the observations.
func Digest(all []Observation) string {
	rows := make([]Row, 0, len(all))
	for _, o := range all {
		rows = append(rows, Row{o.String(), o.State.String(), o.Status, o.SHA256})
	}
	return DigestRows(rows)
}

// DigestRows returns the SHA-256, in hex, of the RFC 8785 form of the array of [url, state, status, sha256] of each
// row, sorted.
func DigestRows(all []Row) string {
	all = slices.SortedFunc(slices.Values(all), func(a, b Row) int {
		return cmp.Or(cmp.Compare(a.URL, b.URL), cmp.Compare(a.State, b.State), cmp.Compare(a.Status, b.Status),
			cmp.Compare(a.SHA256, b.SHA256))
	})
	rows := make([]any, 0, len(all))
	for _, r := range all {
		rows = append(rows, []any{r.URL, r.State, r.Status, r.SHA256})
	}
	text, err := signature.Canonical(rows)
	if err != nil {
		panic(fmt.Sprintf("canonicalizing strings and integers: %v", err))
	}
	return plain.SHA256(text)
}
