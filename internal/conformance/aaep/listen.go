package aaep

import (
	"context"
	"crypto/sha256"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// A listener hears one stream of events. A server may send its headers with the first event, so nothing waits for
// them, and it may send the events of earlier streams again.
type listener struct {
	all    chan heard
	since  int             // events of the run that came before the stream was opened
	again  map[string]bool // ids of the events that came again on this stream
	opened bool            // headers or an event came
}

// heard is the data of one event, nil for the headers, or why there are no more.
type heard struct {
	data []byte
	at   time.Time
	err  error
}

// listen opens a stream and gives what it sends until the context ends.
func (t *talk) listen(ctx context.Context, events *url.URL) {
	// The buffer is there so that a reply under way does not change when an event counts as heard.
	t.listener = listener{all: make(chan heard, 64), since: len(t.first), again: map[string]bool{}}
	go func(all chan<- heard) {
		give := func(data []byte, err error) bool {
			select {
			case all <- heard{data, t.now(), err}:
				return err == nil
			case <-ctx.Done():
				return false
			}
		}
		resp, err := t.openStream(ctx, events)
		if err != nil {
			give(nil, err)
			return
		}
		defer resp.Body.Close()
		from := newSSE(&upTo{resp.Body, &t.left})
		from.misnamed = func(name string) { t.misnamed.CompareAndSwap(nil, &name) }
		for more := give(nil, nil); more; {
			more = give(from.next())
		}
	}(t.all)
}

// openStream asks for the events, however long the headers take. The error is a *refusedStream.
func (v *visit) openStream(ctx context.Context, events *url.URL) (*http.Response, error) {
	req, err := v.request(ctx, http.MethodGet, events, nil)
	if err != nil {
		return nil, &refusedStream{events, nil, err}
	}
	resp, err := v.client.Do(req)
	if err != nil {
		return nil, &refusedStream{events, nil, err}
	}
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if resp.StatusCode != http.StatusOK || kind != "text/event-stream" {
		resp.Body.Close()
		return nil, &refusedStream{events, resp, nil}
	}
	return resp, nil
}

// refusedStream is an answer that is not a stream of events, or the error of the connection.
type refusedStream struct {
	events *url.URL
	resp   *http.Response
	err    error
}

func (e *refusedStream) Error() string { return "GET " + e.events.Path + " has no stream of events" }

// report ends the run.
func (e *refusedStream) report(ctx context.Context, v *visit) error {
	switch {
	case e.resp == nil:
		return v.failed(ctx, http.MethodGet, e.events, e.err)
	case e.resp.StatusCode != http.StatusOK:
		return v.status(e.resp, http.MethodGet, "events", "200")
	}
	return v.broken(verdict.Error, "not-sse", "Content-Type of the events is %s; expected text/event-stream",
		show(e.resp.Header.Get("Content-Type")))
}

// before returns the events that come before the stream is quiet for 0.3 s, or open for 1 s. The error ends the run.
func (t *talk) before(ctx context.Context) (events []heard, err error) {
	const quiet, most = 300 * time.Millisecond, time.Second
	last := time.NewTimer(most)
	defer last.Stop()
	for {
		next := time.NewTimer(quiet)
		select {
		case h := <-t.all:
			next.Stop()
			if t.opened = true; h.err != nil {
				return nil, t.over(ctx, h.err)
			}
			if h.data != nil {
				events = append(events, h)
			}
			if len(events) > MaxMessages {
				return nil, t.over(ctx, ErrTooLarge)
			}
		case <-next.C:
			return events, nil
		case <-last.C:
			next.Stop()
			return events, nil
		case <-ctx.Done():
			next.Stop()
			return nil, t.overBudget()
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
	if m := readMessage(data); m != nil && m.text("session_id") != "" {
		a.earlier[strings.Clone(m.text("session_id"))] = true
	}
}

// passesOver reports whether an event is not judged: it came before the stream was opened, with the same bytes, and
// comes for the first time on this stream, or it is of an earlier session.
func (t *talk) passesOver(data []byte) bool {
	m := readMessage(data)
	if m == nil {
		return false
	}
	id, sum := m.text("event_id"), sha256.Sum256(data)
	switch first, known := t.first[id]; {
	case id == "":
	case !known:
		if len(t.first) < MaxMessages {
			t.first[strings.Clone(id)] = origin{sum, len(t.first)}
		}
	case first.n < t.since && first.sum == sum && !t.again[id]:
		t.again[strings.Clone(id)] = true
		t.redelivered++
		return true
	}
	if !t.earlier[m.text("session_id")] {
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
