package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
)

// attempt is one try to answer a request.
type attempt struct {
	observation evidence.Observation
	again       bool          // another try may help
	after       time.Duration // as the server asked for; 0 where it did not
}

func (a attempt) failed(r *sources.Refusal, again bool) attempt {
	a.observation.State, a.observation.Code, a.observation.Message = r.State, r.Code, r.Message
	a.observation.Fix = r.Fix
	a.again = again
	return a
}

// withRetryAfter notes for how long a server wants to be left alone. A date counts from now.
func (a attempt) withRetryAfter(resp *http.Response, now time.Time) attempt {
	text := resp.Header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil || errors.Is(err, strconv.ErrRange) {
		a.after = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(text); err == nil {
		a.after = at.Sub(now)
	}
	return a
}

// maxRetryAfter is the longest wait that a server may ask for by Retry-After. Nobody waits longer: there is no further
// attempt.
const maxRetryAfter = 30 * time.Second

// backoff is the waits before the second and the third attempt, as far as there may be one, without jitter, so that
// runs are alike.
type backoff struct {
	waits    []time.Duration
	wait     func(context.Context, time.Duration) error
	limit    time.Duration // for one request
	now      time.Time     // by which dates are judged
	progress *tracker
}

func newBackoff(o Options) *backoff {
	first := cmp.Or(o.RetryWait, time.Second)
	waits := []time.Duration{first, 3 * first}
	b := &backoff{waits: waits[:min(cmp.Or(o.Tries, 3), 3)-1], wait: o.Wait, limit: o.Timeout, now: o.Now}
	if b.wait == nil {
		b.wait = sleep
	}
	return b
}

// retry is the layer that tries until there is an answer that another try cannot change, at most three times, and not
// where the wait would outlast the budget.
type retry struct {
	*backoff
	try func(context.Context, evidence.Request) attempt
}

func (t retry) Observe(ctx context.Context, r evidence.Request) evidence.Observation {
	var spent int64
	for n := 1; ; n++ {
		if n > 1 {
			t.progress.try(r, n)
		}
		a := t.try(ctx, r)
		spent += a.observation.Milliseconds
		o := a.observation
		o.Request, o.Attempts, o.Milliseconds = r, n, spent
		if o.Code == evidence.CodeTimeout {
			o.Message = fmt.Sprintf("no full answer from %s within %s, %s", host(cmp.Or(o.FinalURL, r.Target)), t.limit,
				plain.Count(n, "attempt"))
		}
		if !a.again || n > len(t.waits) {
			return o
		}
		wait := max(t.waits[n-1], a.after)
		deadline, ends := ctx.Deadline()
		if late := ends && time.Until(deadline) < wait; late || wait > maxRetryAfter {
			if a.after >= time.Second && (late || a.after > maxRetryAfter) {
				o.RetryAfter = int64(a.after / time.Second)
				o.Message = fmt.Sprintf("%s asks to wait %s", host(cmp.Or(o.FinalURL, r.Target)), inUnits(a.after))
			}
			return o
		}
		if t.wait(ctx, wait) != nil {
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

// inUnits returns a duration in one unit if it can: 1h, not 1h0m0s.
func inUnits(d time.Duration) string {
	for _, u := range []struct {
		of   time.Duration
		name string
	}{{time.Hour, "h"}, {time.Minute, "m"}} {
		if d%u.of == 0 {
			return strconv.Itoa(int(d/u.of)) + u.name
		}
	}
	return d.Truncate(time.Second).String()
}
