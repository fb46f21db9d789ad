package client

import (
	"context"
	"crypto/sha256"
	"net/http"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// heard is what a stream of events brings: its headers, the data of one event, or why there are no more.
type heard struct {
	of   *talk
	at   time.Time
	resp *http.Response
	data []byte
	err  error
}

// listen opens the stream of a session, and gives what it sends until the context ends. A server may send its headers
// with the first event, so nothing waits for them, and it may send the events of earlier streams again.
func (t *talk) listen(ctx context.Context) {
	t.since, t.again = len(t.first), map[string]bool{}
	go func(all chan<- heard) {
		give := func(h heard) bool {
			h.of, h.at = t, t.Now()
			select {
			case all <- h:
				return h.err == nil
			case <-ctx.Done():
				return false
			}
		}
		var resp *http.Response
		req, err := t.request(ctx, http.MethodGet, t.events, nil, "text/event-stream")
		if err == nil {
			resp, err = t.client.Do(req) // however long the headers take
		}
		if err != nil {
			give(heard{err: err})
			return
		}
		defer resp.Body.Close()
		from := newSSE(&aaep.UpTo{From: resp.Body, Left: &t.left})
		from.misnamed = func(name string) { t.misnamed.CompareAndSwap(nil, &name) }
		for more := give(heard{resp: resp}) && isStream(resp); more; {
			data, err := from.next()
			more = give(heard{data: data, err: err})
		}
	}(t.all)
}

// next returns what is heard before a time; ok is false if nothing is. The error ends the run.
func (v *visit) next(ctx context.Context, until time.Time) (h heard, ok bool, err error) {
	if v.ahead == nil {
		timer := time.NewTimer(time.Until(until))
		defer timer.Stop()
		select {
		case h = <-v.all:
			v.ahead = &h
		case <-ctx.Done():
			return h, false, v.overBudget()
		case <-timer.C:
			select {
			case h = <-v.all:
				v.ahead = &h
			default:
			}
		}
	}
	if v.ahead == nil || !v.ahead.at.Before(until) {
		return h, false, nil
	}
	h, v.ahead = *v.ahead, nil
	return h, true, nil
}

// before returns the events that come before the stream is quiet for 0.3 s, or open for 1 s. The error ends the run.
func (t *talk) before(ctx context.Context) (events []heard, err error) {
	const quiet, most = 300 * time.Millisecond, time.Second
	for last := t.Now().Add(most); ; {
		until := t.Now().Add(quiet)
		if until.After(last) {
			until = last
		}
		h, ok, err := t.next(ctx, until)
		switch {
		case err != nil || !ok:
			return events, err
		case h.data != nil:
			h.of.opened = true
			if events = append(events, h); len(events) > aaep.MaxMessages {
				return nil, t.over(ctx, aaep.ErrTooLarge)
			}
		case h.err == nil:
			err = h.of.event(ctx, h)
		case h.of == t:
			err = t.over(ctx, h.err)
		}
		if err != nil {
			return nil, err
		}
	}
}

// arrived is what came on the streams of a run.
type arrived struct {
	started     bool              // a session was started
	first       map[string]origin // by event_id
	earlier     map[string]bool   // ids of the sessions that were under way before the first start
	redelivered int               // events that came again
	passed      int               // events of earlier sessions
}

// origin is the first arrival of an event.
type origin struct {
	sum [sha256.Size]byte // of its data
	n   int               // events that came before it
}

func newArrived() arrived { return arrived{first: map[string]origin{}, earlier: map[string]bool{}} }

// isEarlier notes the session of an event that came before the first start.
func (a *arrived) isEarlier(data []byte) {
	if m := aaep.ReadMessage(data); m != nil && m.Text("session_id") != "" {
		a.earlier[strings.Clone(m.Text("session_id"))] = true
	}
}

// passesOver reports whether an event is not judged: it came before the stream was opened, with the same bytes, and
// comes for the first time on this stream, or it is of an earlier session.
func (t *talk) passesOver(data []byte) bool {
	m := aaep.ReadMessage(data)
	if m == nil {
		return false
	}
	id, sum := m.Text("event_id"), sha256.Sum256(data)
	switch first, known := t.first[id]; {
	case id == "":
	case !known:
		if len(t.first) < aaep.MaxMessages {
			t.first[strings.Clone(id)] = origin{sum, len(t.first)}
		}
	case first.n < t.since && first.sum == sum && !t.again[id]:
		t.again[strings.Clone(id)] = true
		t.redelivered++
		return true
	}
	if !t.earlier[m.Text("session_id")] {
		return false
	}
	t.passed++
	return true
}

// report notes what was skipped.
func (a *arrived) report(at verdict.At, o *verdict.Outcome) {
	if a.redelivered > 0 {
		o.Noticef(at, "", "redelivered", "%s of earlier streams came again, and each counts once",
			plain.Count(a.redelivered, "event"))
	}
	if a.passed > 0 {
		o.Noticef(at, "", "earlier-sessions", "%s are of sessions that began before the run, and were not judged",
			plain.Count(a.passed, "event"))
	}
}
