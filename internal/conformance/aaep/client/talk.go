package client

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/form"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// talk is one session under way.
type talk struct {
	*visit
	Scenario
	mark         string // see record
	subscription string
	answer       *aaep.Message // to the request; nil: nothing that can be read
	events       *url.URL      // nil: no subscription began

	since  int             // events of the run that came before the stream was opened
	again  map[string]bool // ids of the events that came again on this stream
	opened bool            // headers or an event came
	// seen is called with each message of the producer after it was judged; it may be nil.
	seen func(context.Context, *aaep.Message) error

	session  string    // id of the first session.started; empty: none yet
	ended    bool      // nothing is answered any more
	closed   time.Time // when the producer knew that the subscription is closed; zero: it is open
	reported bool      // an event that came after that

	heard    time.Time     // when the event that is judged came
	asked    time.Time     // when the first confirmation came; zero: none did
	clock    time.Time     // what its timestamp says; zero: nothing that can be read
	delayed  time.Duration // how long it was on its way, beyond the least of the run
	token    string        // of it
	wait     time.Duration // its timeout_seconds
	fallback string
	defaults bool   // its default is awaited
	mistaken bool   // a clarification was answered by a wrong kind
	unsure   string // the clarification that was answered by a wrong kind; empty: none is open
	guarded  bool   // no irreversible invocation is allowed any more

	due  time.Time // when to continue; zero: when an event comes
	then func(context.Context) error
}

// pause is how long the producer is listened to before a reply, and after a session's end, for what must not come.
const pause = 200 * time.Millisecond

// hold runs one scenario. The errors are errStop and errRejected.
func (v *visit) hold(ctx context.Context, s Scenario) error {
	return v.within(ctx, func(ctx context.Context) error {
		t, err := v.dialogue(ctx, "", s, aaep.Object{"max_events_per_second": 1000, "coalesce_boundaries": aaep.Hints})
		if err != nil {
			return err
		}
		if v.Level >= 3 {
			return t.whole(ctx)
		}
		return t.run(ctx)
	})
}

// within holds a session, whose streams end with it.
func (v *visit) within(ctx context.Context, hold func(context.Context) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// The buffer is there so that a reply under way does not change when an event counts as heard.
	v.all, v.ahead = make(chan heard, 64), nil
	return hold(ctx)
}

// run starts the session, and takes its events until it has ended.
func (t *talk) run(ctx context.Context) error {
	if err := t.start(ctx); err != nil {
		return err
	}
	return t.converse(ctx)
}

// whole runs the session, and closes the subscription.
func (t *talk) whole(ctx context.Context) error {
	if err := t.run(ctx); err != nil {
		return err
	}
	return t.unsubscribe(ctx)
}

// start starts the session of the scenario, once the stream is quiet: a producer may send earlier events first.
func (t *talk) start(ctx context.Context) error {
	before, err := t.before(ctx)
	if err != nil {
		return err
	}
	resp, _, err := t.post(ctx, t.below("sessions"), t.Start)
	if err != nil {
		return t.failed(ctx, http.MethodPost, t.below("sessions"), err)
	}
	// Appendix B names no way to start a session: a producer of that layout may start by itself.
	begins := t.Layout == LayoutSpec && notThere(resp)
	if resp.StatusCode/100 != 2 && !begins {
		return t.status(resp, "sessions", "2xx")
	}
	for _, h := range before {
		if !begins && !t.started {
			t.isEarlier(h.data)
		}
		if err := h.of.event(ctx, h); err != nil {
			return err
		}
	}
	t.started = true
	return nil
}

// errDone ends a session as it should.
var errDone = errors.New("done")

// converse takes what is heard until the session has ended. What came before a time counts before what is due then: a
// busy machine is late with both.
func (t *talk) converse(ctx context.Context) error {
	for {
		until := t.due
		if t.then == nil {
			until = t.Now().Add(t.Timeout)
		}
		h, ok, err := t.next(ctx, until)
		switch {
		case err != nil:
		case !ok:
			err = t.timeUp(ctx)
		case h.err == nil:
			err = h.of.event(ctx, h)
		case h.of == t && t.closed.IsZero():
			return t.over(ctx, h.err)
		}
		if err == errDone {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// timeUp does what is due.
func (t *talk) timeUp(ctx context.Context) error {
	then := t.then
	t.then = nil
	switch {
	case then != nil:
		return then(ctx)
	case !t.opened:
		t.silent = true
		return t.broken(verdict.Doubt, "no-stream", "GET events had neither headers nor an event within %v after the "+
			"start of scenario %s", t.Timeout, form.Show(t.Name))
	}
	return t.hangs("nothing came for %v in scenario %s, whose session has not ended", t.Timeout, form.Show(t.Name))
}

// later schedules then after a time. It replaces what was scheduled before.
func (t *talk) later(wait time.Duration, then func(context.Context) error) {
	t.due, t.then = t.Now().Add(wait), then
}

// end ends the session after a time.
func (t *talk) end(wait time.Duration) { t.later(wait, func(context.Context) error { return errDone }) }

// over says what the end of the stream means.
func (t *talk) over(ctx context.Context, err error) error {
	switch {
	case errors.Is(err, aaep.ErrTooLarge), errors.Is(err, aaep.ErrLongMessage):
		return t.broken(verdict.Error, "stream-too-large", "%v", err)
	case !t.opened:
		return t.failed(ctx, http.MethodGet, t.events, err)
	case ctx.Err() != nil:
		return t.overBudget()
	case t.ended:
		return nil
	case err == io.EOF:
		return t.broken(verdict.Error, "no-terminal",
			"the producer ended the stream before the session of scenario %s had a terminal event", form.Show(t.Name))
	}
	return t.broken(verdict.Doubt, "stream-dropped", "the connection broke in scenario %s: %v", form.Show(t.Name), err)
}

// headers takes the headers of the stream.
func (t *talk) headers(resp *http.Response) error {
	switch {
	case isStream(resp), t.ended:
		return nil
	case resp.StatusCode != http.StatusOK:
		return t.status(resp, "events", "200")
	}
	return t.broken(verdict.Error, "not-sse", "Content-Type of the events is %s; expected text/event-stream",
		form.Show(resp.Header.Get("Content-Type")))
}

// event takes the headers, or one event of the producer.
func (t *talk) event(ctx context.Context, h heard) error {
	if t.opened = true; h.resp != nil {
		return t.headers(h.resp)
	}
	t.afterClose(h.at)
	if t.passesOver(h.data) {
		return nil
	}
	t.heard = h.at
	m, err := t.record(t.mark, aaep.Producer, h.at, h.data)
	if err != nil || m == nil {
		return err
	}
	if lag := h.at.Sub(m.Time); !m.Time.IsZero() && (t.lag == nil || lag < *t.lag) {
		t.lag = &lag
	}
	ours := t.session != "" && m.Text("session_id") == t.session
	if t.guarded && ours && m.Core == aaep.ToolInvoked {
		t.watch(rowOf(t.Reply), m)
	}
	if m.Core == aaep.SessionStarted && t.session == "" {
		t.session = strings.Clone(m.Text("session_id"))
	}
	if m.Core == aaep.AwaitingConfirmation && t.mark == "" && m.Text("session_id") == t.session {
		t.confirms[t.Name] = true
	}
	if t.seen != nil {
		if err := t.seen(ctx, m); err != nil {
			return err
		}
	}
	if !ours || t.ended {
		return nil
	}
	asksAgain := m.Core == aaep.AwaitingClarification && m.Text("question") == t.unsure
	if t.unsure != "" && m.Core != aaep.ProgressUpdated && !asksAgain {
		t.unsure, t.then = "", nil
		t.probes[aaep.LiveClarify].shown++
		t.probes[aaep.LiveClarify].Errorf(t.here(), "", "wrong-kind-accepted",
			"the session of scenario %s continued after a clarification reply whose response is an object",
			form.Show(t.Name))
	}
	switch {
	case m.Core == aaep.AwaitingConfirmation && t.asked.IsZero() && m.Members["irreversible"] == false && t.acts():
		// It covers no irreversible call, so a reply to it would show nothing.
		return t.reply(ctx, m.Text("reply_token"), "accept", true)
	case m.Core == aaep.AwaitingConfirmation && t.asked.IsZero():
		t.question(m)
	case m.Core == aaep.AwaitingConfirmation:
		return t.reply(ctx, m.Text("reply_token"), "reject", true)
	case m.Core == aaep.AwaitingClarification && t.Reply == replyWrong && !t.mistaken:
		return t.mistake(ctx, m)
	case asksAgain && t.unsure != "":
		t.then = func(ctx context.Context) error { return t.correct(ctx, m) }
	case m.Core == aaep.AwaitingClarification:
		return t.clarify(ctx, m)
	case m.Core != aaep.ProgressUpdated && t.defaults && t.follows(m):
		t.applied()
	}
	if m.Terminal() {
		t.ended = true
		if !t.defaults || t.Reply != replyLate {
			t.end(pause)
		}
	}
	return nil
}

// watch notes a call that must not be irreversible.
func (t *talk) watch(row *aaep.Rule, m *aaep.Message) {
	t.watches = append(t.watches, watch{row: row, line: t.line, scenario: t.Name, tool: strings.Clone(m.Text("tool")),
		flagged: m.IsTrue("irreversible")})
	t.stream.Watched[m.At.Line] = true
}

// acts reports whether the scenario shows by irreversible calls what its reply does.
func (t *talk) acts() bool { return t.Reply != replyReject && t.Reply != replyNone }

// allowed returns how long a producer may take to apply a default: 2 s and 10 % more than the timeout.
func (t *talk) allowed() time.Duration { return t.wait + 2*time.Second + t.wait/10 }

// follows reports whether an event came at the end of the question's time. By the producer's clock it may, where the
// question was late on its way.
func (t *talk) follows(m *aaep.Message) bool {
	took := t.heard.Sub(t.asked)
	return took >= t.wait*9/10 || took >= t.wait/2 && !t.clock.IsZero() && m.Time.Sub(t.clock) >= t.wait*9/10
}

// question has the first question answered as the scenario says.
func (t *talk) question(m *aaep.Message) {
	t.asked, t.clock = t.heard, m.Time
	if t.lag != nil && !m.Time.IsZero() {
		t.delayed = t.heard.Sub(m.Time) - *t.lag
	}
	t.token, t.fallback = strings.Clone(m.Text("reply_token")), strings.Clone(m.Text("default_decision"))
	seconds, _ := form.Integer(m.Members["timeout_seconds"])
	t.wait = time.Duration(min(max(seconds, 0), 86400)) * time.Second
	if t.Reply == replyNone || t.Reply == replyLate {
		t.later(pause, func(ctx context.Context) error { return t.leave(ctx, seconds) })
		return
	}
	t.later(pause, t.decide)
}

// decide replies at once.
func (t *talk) decide(ctx context.Context) error {
	if t.Reply == replyWrong {
		return t.reply(ctx, t.token, "reject", true)
	}
	if t.Reply != replyForged && t.Reply != replyTwice {
		return t.reply(ctx, t.token, t.Reply, true)
	}
	t.guarded = true
	t.probes[rowOf(t.Reply)].shown++
	if t.Reply == replyTwice {
		return cmp.Or(t.reply(ctx, t.token, "reject", true), t.reply(ctx, t.token, "accept", false))
	}
	t.later(min(time.Second, t.wait/4), func(ctx context.Context) error {
		t.guarded = false
		return t.reply(ctx, t.token, "reject", false)
	})
	return t.reply(ctx, "rpl_"+strings.ToLower(rand.Text()), "accept", false)
}

// leave leaves the question to its default, if there is time.
func (t *talk) leave(ctx context.Context, seconds int64) error {
	p := t.probes[rowOf(t.Reply)]
	deadline, limited := ctx.Deadline()
	switch {
	case limited && time.Until(deadline) < 2*t.allowed():
		p.skipped = fmt.Sprintf("scenario %s asks with timeout_seconds %d, which exceeds --budget", form.Show(t.Name),
			seconds)
		return t.reply(ctx, t.token, "reject", true)
	case t.Reply == replyLate && t.fallback == "accept":
		p.skipped = fmt.Sprintf("scenario %s asks with a default of accept, which a late accept does not change",
			form.Show(t.Name))
		return t.reply(ctx, t.token, "reject", true)
	}
	t.defaults = true
	if t.Reply == replyLate {
		t.due, t.then = t.asked.Add(t.allowed()), t.late
	} else {
		t.due, t.then = t.asked.Add(2*t.allowed()), t.ignored
	}
	return nil
}

// applied notes that the default was applied.
func (t *talk) applied() {
	if t.Reply == replyLate {
		// Not before the timeout, whatever the event was.
		if wait := max(pause, time.Until(t.asked.Add(t.wait+pause))); time.Until(t.due) > wait {
			t.later(wait, t.late)
		}
		return
	}
	t.defaults, t.then = false, nil
	p := t.probes[aaep.LiveTimeout]
	p.shown++
	if took := t.heard.Sub(t.asked); took > t.allowed() {
		p.Warnf(t.here(), "", "timeout-late", "the default was applied %v after the question, whose timeout is %v",
			took.Round(time.Millisecond), t.wait)
	}
}

// ignored says that nothing followed the timeout, and replies, so that the session ends.
func (t *talk) ignored(ctx context.Context) error {
	t.defaults = false
	p := t.probes[aaep.LiveTimeout]
	p.shown++
	p.Errorf(t.here(), "", "timeout-ignored", "nothing followed the question in %v, its timeout is %v",
		(2 * t.allowed()).Round(time.Millisecond), t.wait)
	return t.reply(ctx, t.token, "reject", false)
}

// late sends the reply that comes too late.
func (t *talk) late(ctx context.Context) error {
	t.defaults, t.guarded = false, true
	t.probes[aaep.LiveLate].shown++
	if t.ended {
		t.end(pause)
	}
	return t.reply(ctx, t.token, "accept", false)
}

// reply answers a confirmation.
func (t *talk) reply(ctx context.Context, token, decision string, valid bool) error {
	return t.send(ctx, aaep.Object{"type": aaep.ConfirmationReply, "reply_token": token, "decision": decision}, valid)
}

// clarify answers a clarification.
func (t *talk) clarify(ctx context.Context, m *aaep.Message) error {
	return t.send(ctx, aaep.Object{"type": aaep.ClarificationReply, "reply_token": m.Text("reply_token"),
		"response": responseTo(m)}, true)
}

// mistake answers a clarification by an object, which is not a kind, and 2 s later by a kind that it takes.
func (t *talk) mistake(ctx context.Context, m *aaep.Message) error {
	t.mistaken, t.unsure = true, strings.Clone(m.Text("question"))
	seconds, _ := form.Integer(m.Members["timeout_seconds"])
	t.later(min(2*time.Second, time.Duration(min(max(seconds, 0), 86400))*time.Second/2),
		func(ctx context.Context) error {
			return t.correct(ctx, m)
		})
	return t.send(ctx, aaep.Object{"type": aaep.ClarificationReply, "reply_token": m.Text("reply_token"),
		"response": aaep.Object{}}, false)
}

// correct answers the clarification that is still open.
func (t *talk) correct(ctx context.Context, m *aaep.Message) error {
	t.probes[aaep.LiveClarify].shown++
	t.unsure = ""
	return t.clarify(ctx, m)
}

// responseTo returns a response to a clarification, of the first kind that it takes.
func responseTo(m *aaep.Message) any {
	kinds, _ := m.Members["accepted_response_kinds"].([]any)
	if len(kinds) == 0 {
		return "yes"
	}
	switch kinds[0] {
	case "yes_no":
		return true
	case "numeric":
		return 1
	case "multiple_choice":
		if choices, _ := m.Members["choices"].([]any); len(choices) > 0 {
			text, _ := choices[0].(string)
			return cmp.Or(text, strict.String(choices[0], "value"), "yes")
		}
	}
	return "yes"
}

// send sends a reply. One that is valid must be taken.
func (t *talk) send(ctx context.Context, reply aaep.Object, valid bool) error {
	now := time.Now()
	if !t.clock.IsZero() { // by the producer's clock, so that it does not matter whose is right
		now = t.clock.Add(time.Since(t.asked))
	}
	reply["subscription_id"], reply["timestamp"] = t.subscription, now.UTC().Format("2006-01-02T15:04:05.000Z")
	body := aaep.Marshaled(reply)
	if _, err := t.record(t.mark, aaep.Subscriber, t.Now(), body); err != nil {
		return err
	}
	path := "replies"
	if t.Layout == LayoutReference {
		path = "messages"
	}
	resp, _, err := t.post(ctx, t.below(path), body)
	if err != nil {
		return t.failed(ctx, http.MethodPost, t.below(path), err)
	}
	// The producer counts from when it asked, and the question and the reply take time on their way.
	expired := t.wait > 0 && time.Since(t.asked)+t.delayed >= t.wait/2
	if valid && !expired && resp.StatusCode/100 != 2 {
		return t.status(resp, path, "2xx")
	}
	return nil
}
