package aaep

import (
	"bytes"
	"cmp"
	"context"
	"crypto"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// The layouts of a producer's endpoints: that of appendix B, and that of the public example producers.
const (
	LayoutSpec      = "spec"
	LayoutReference = "reference"
)

// Live talks to a running producer.
type Live struct {
	Transport http.RoundTripper
	URL       *url.URL
	Layout    string
	Level     int
	Scenarios []Scenario
	Path      string        // names the capture in findings
	Timeout   time.Duration // without an answer or an event
	UserAgent string
	// Extensions are the URIs that each subscription.request declares as supported_extensions.
	Extensions []string
	// Capture takes the messages as frames, one a line; nil: nothing does. What it returns is ignored.
	Capture io.Writer

	// Of level 3.
	Rate        int64             // events a second that its sessions ask for, and renegotiate to half of; 0: 2
	Public      http.RoundTripper // to public https addresses, for a manifest that is elsewhere; nil: none is fetched
	ManifestKey crypto.PublicKey  // that signs the manifest; nil: not known

	most int64 // bytes that are read of all streams; 0: MaxBytes
}

// pause is how long the producer is listened to before a reply, and after a session's end, for what must not come.
const pause = 200 * time.Millisecond

// errStop ends the run: what is wrong is a finding. errRejected ends a scenario whose subscription was rejected.
var (
	errStop     = errors.New("stop")
	errRejected = errors.New("rejected")
)

// visit is a run under way.
type visit struct {
	*Live
	steady
	client http.Client
	base   *url.URL
	stream *Stream
	line   int
	left   atomic.Int64 // bytes that may still be read of streams

	arrived
	misnamed atomic.Pointer[string] // first event name of a core event that is not an AAEP message

	transport verdict.Outcome
	silent    bool              // the run ended because nothing came any more
	probes    map[string]*probe // by reply, and by the id of a row of level 3
	watches   []watch
	ran       []string
	asked     map[string]bool // the scenarios that asked for a confirmation
	lag       *time.Duration  // the least time between an event's timestamp and its arrival; nil: not known
}

// watch is a call that a probe watches: the whole run decides what it is.
type watch struct {
	line            int
	reply, scenario string // the reply is liveClose for a call after subscription.close
	tool            string // that is called; empty except for liveClose
	flagged         bool   // the call says irreversible: true; only for liveClose
}

// probe is what the scenarios of one kind showed.
type probe struct {
	verdict.Outcome
	scenarios, shown int
	skipped          string // why the last could not be run; empty: it could
	verified         string // what the run showed, for the report
}

// replyProbes are the rows that the scenarios of a reply decide. They must not cause an irreversible call, which is a
// finding of the code.
var replyProbes = []struct {
	row                *rule
	reply, code, cause string
}{
	{liveForged, replyForged, "forged-accepted", "a reply with a token that was never issued"},
	{liveTwice, replyTwice, "second-reply-honored", "a reject, which an accept followed"},
	{liveLate, replyLate, "late-accepted", "an accept that came past the timeout"},
	{liveTimeout, replyNone, "", ""},  // this one may
	{liveClarify, replyWrong, "", ""}, // its calls are not watched
}

// Run holds each scenario with the producer, and gives the results of all that passed and of the live checks. The
// error is the context's where that was canceled; whatever the producer does is in the results.
func (l *Live) Run(ctx context.Context) ([]verdict.Result, error) {
	v := &visit{Live: l, steady: steady{time.Now()}, stream: NewStream(l.Path, Options{Level: l.Level}),
		client: http.Client{Transport: l.Transport, CheckRedirect: noRedirect}, asked: map[string]bool{},
		probes: map[string]*probe{}, arrived: newArrived()}
	for _, p := range replyProbes {
		v.probes[p.reply] = &probe{}
	}
	for _, d := range dialogues {
		v.probes[d.row.ID] = &probe{}
	}
	v.stream.watched = map[int32]int{}
	v.left.Store(cmp.Or(l.most, MaxBytes))
	// Late replies come last: they show nothing of a producer that does not apply its timeouts.
	late := func(s Scenario) bool { return s.Reply == replyLate }
	scenarios := slices.DeleteFunc(slices.Clone(l.Scenarios), late)
	for _, s := range l.Scenarios {
		if late(s) {
			scenarios = append(scenarios, s)
		}
	}
	for _, s := range scenarios {
		if p := v.probes[s.Reply]; p != nil {
			p.scenarios++
		}
		if s.Reply == replyLate && v.probes[replyNone].Has(verdict.Error) {
			v.probes[replyLate].skipped = "the default is not applied in time, as " + liveTimeout.ID + " says"
			continue
		}
		err := v.hold(ctx, s)
		if err := context.Cause(ctx); errors.Is(err, context.Canceled) {
			return nil, err
		}
		if err != nil && err != errRejected {
			v.stream.broken = true
			break
		}
		if err == nil {
			v.ran = append(v.ran, s.Name)
		}
	}
	if l.Level >= 3 && !v.stream.broken {
		v.stream.broken = v.negotiate(ctx) != nil
		if err := context.Cause(ctx); errors.Is(err, context.Canceled) {
			return nil, err
		}
	}
	return v.results()
}

// noRedirect has a redirect be the answer that it is: another server is not the one that was named.
func noRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// here returns the last message of the capture.
func (v *visit) here() verdict.At {
	return verdict.At{Path: v.Path, Line: v.line, Column: min(v.line, 1)}
}

// broken adds a finding that ends the run.
func (v *visit) broken(severity verdict.Severity, code, format string, args ...any) error {
	v.transport.Add(v.here(), severity, "", code, format, args...)
	return errStop
}

// record takes a message into the capture and judges it.
func (v *visit) record(mark, from string, at time.Time, data []byte) error {
	m, err := v.take(mark, from, at, data)
	if err != nil || m == nil {
		return err
	}
	return v.judge(m)
}

// steady is a clock that no correction of the machine's clock moves.
type steady struct{ began time.Time }

func (s steady) now() time.Time { return s.began.Add(time.Since(s.began)) }

// take adds a message to the capture, as a frame unless it is not a JSON object; that is a finding, and take returns
// nil. mark names the row of level 3 to whose session the message belongs; it is empty for a scenario.
func (v *visit) take(mark, from string, at time.Time, data []byte) (*message, error) {
	line := asFrame(mark, from, at, data)
	v.line++
	if v.Capture != nil {
		_, _ = v.Capture.Write(slices.Concat(line, []byte("\n")))
	}
	m, err := v.stream.parse(v.line, 1, line)
	if err != nil {
		return nil, v.broken(verdict.Error, "stream-too-large", "%v", err)
	}
	return m, nil
}

// IsCapture reports whether a file that begins with head is a capture: its first line is a frame.
func IsCapture(head []byte) bool { return bytes.HasPrefix(head, []byte(`{"at":"`)) }

// asFrame returns a message as a frame, on one line, unless it is not a JSON object.
func asFrame(mark, from string, at time.Time, data []byte) []byte {
	if bytes.ContainsAny(data, "\r\n") { // where JSON has a line's end a blank does as well
		data = bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("\n"), []byte(" ")), []byte("\r"), []byte(" "))
	}
	if !bytes.HasPrefix(bytes.TrimLeft(data, " \t"), []byte("{")) || !json.Valid(data) {
		return data
	}
	if mark != "" {
		mark = fmt.Sprintf(`"probe":%q,`, mark)
	}
	return fmt.Appendf(nil, `{"at":%q,"from":%q,%s"message":%s}`, at.UTC().Format("2006-01-02T15:04:05.000000Z"),
		from, mark, data)
}

func (v *visit) judge(m *message) error {
	v.stream.judge(m)
	if len(v.stream.sessions) > MaxSessions {
		return v.broken(verdict.Error, "stream-too-large", "%v", ErrSessions)
	}
	return nil
}

// errHung means that a request was not answered within the time of --timeout.
var errHung = errors.New("not answered in time")

// exchange is try whose errors are findings that end the run.
func (v *visit) exchange(ctx context.Context, method string, u *url.URL, body []byte) (*http.Response, []byte, error) {
	resp, answer, err := v.try(ctx, method, u, body)
	if err != nil {
		err = v.failed(ctx, method, u, err)
	}
	return resp, answer, err
}

// request returns a request with a JSON body, or one for events.
func (l *Live) request(ctx context.Context, method string, u *url.URL, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, u.String(), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", l.UserAgent)
	req.Header.Set("Accept-Encoding", "identity")
	if method == http.MethodGet {
		req.Header.Set("Accept", "text/event-stream")
		req.Header.Set("Cache-Control", "no-cache")
	} else {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// try sends a JSON body, and reads up to 64 KiB of the answer. The errors are errHung and those of the connection.
func (v *visit) try(ctx context.Context, method string, u *url.URL, body []byte) (*http.Response, []byte, error) {
	send, cancel := context.WithCancel(ctx)
	timer := time.AfterFunc(v.Timeout, cancel)
	stop := func() { timer.Stop(); cancel() }
	failed := func(err error) (*http.Response, []byte, error) {
		if ctx.Err() == nil && send.Err() != nil {
			err = errHung
		}
		stop()
		return nil, nil, err
	}
	req, err := v.request(send, method, u, body)
	if err != nil {
		return failed(err)
	}
	resp, err := v.client.Do(req)
	if err != nil {
		return failed(err)
	}
	defer resp.Body.Close()
	answer, err := capped.ReadAll(resp.Body, 64<<10)
	if err != nil && !errors.Is(err, capped.ErrTooLarge) {
		return failed(err)
	}
	stop()
	return resp, answer, nil
}

// failed ends the run after an error of try.
func (v *visit) failed(ctx context.Context, method string, u *url.URL, err error) error {
	switch {
	case ctx.Err() != nil:
		return v.overBudget()
	case err == errHung:
		return v.hangs("%s %s was not answered in %v", method, u.Path, v.Timeout)
	}
	return v.broken(verdict.Doubt, "no-connection", "%s %s: %v", method, u.Path, cause(err))
}

// cause returns an error of an exchange without the method and URL that net/http puts before it.
func cause(err error) error {
	if detail, ok := errors.AsType[*url.Error](err); ok {
		return detail.Err
	}
	return err
}

func (v *visit) overBudget() error {
	return v.hangs("the time of --budget has passed, and the session has not ended")
}

// hangs ends the run because nothing comes any more.
func (v *visit) hangs(format string, args ...any) error {
	v.silent = true
	return v.broken(verdict.Doubt, "session-hangs", format, args...)
}

// below returns a path below the base.
func (v *visit) below(path string) *url.URL { return v.base.JoinPath(path) }

// answered is what a producer answers to a subscription.request.
type answered struct {
	events  *url.URL // nil: no subscription began
	id      string
	message *message // nil: neither subscription.accepted nor subscription.rejected
}

// subscribe finds the base, sends a request and reads its answer.
func (v *visit) subscribe(ctx context.Context, mark string, request []byte) (a answered, err error) {
	if v.Layout == LayoutReference {
		v.base = v.URL
		return answered{events: v.below("events"), id: "sub_oapgate"}, nil
	}
	bases := []*url.URL{v.base}
	if v.base == nil {
		bases = []*url.URL{v.URL, v.URL.JoinPath("aaep/v1")}
	}
	for i, base := range bases {
		v.base = base
		asked := v.now()
		resp, answer, err := v.try(ctx, http.MethodPost, v.below("subscriptions"), request)
		got := v.now()
		if err == errHung && v.Level >= 3 {
			v.unanswered("subscription.request was not answered in %v", v.Timeout)
		}
		switch {
		case err == errHung && mark != "":
			return a, v.record(mark, subscriber, asked, request)
		case err != nil:
			return a, v.failed(ctx, http.MethodPost, v.below("subscriptions"), err)
		}
		if m := readMessage(answer); m != nil {
			if a.id = m.text("subscription_id"); m.isSubscription() {
				a.message = m
			}
		}
		// With subscription.accepted the status does not count, nor at level 3 with subscription.rejected.
		judged := a.message == nil || v.Level < 3 && a.message.name != subscriptionAccepted
		if judged && i+1 < len(bases) &&
			(resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusMethodNotAllowed) {
			continue
		}
		if judged && v.Level >= 3 {
			v.unanswered("POST subscriptions was answered with the status %d and neither subscription.accepted nor "+
				"subscription.rejected", resp.StatusCode)
		}
		if judged && resp.StatusCode != http.StatusCreated && mark == "" {
			return a, v.status(resp, http.MethodPost, "subscriptions", "201")
		}
		if err := v.record(mark, subscriber, asked, request); err != nil {
			return a, err
		}
		if a.message != nil {
			if err := v.record(mark, producer, got, answer); err != nil {
				return a, err
			}
		}
		if v.Level >= 3 && (a.message != nil && a.message.name == subscriptionRejected ||
			a.message == nil && resp.StatusCode != http.StatusCreated) {
			return a, nil
		}
		location := resp.Header.Get("Location")
		events, err := resp.Request.URL.Parse(location)
		if location == "" || err != nil || events.Scheme != v.URL.Scheme || events.Host != v.URL.Host {
			return a, v.broken(verdict.Error, "no-subscription", "Location is %s; expected a URL on %s", show(location),
				v.URL.Host)
		}
		a.events, a.id = events, cmp.Or(a.id, events.Query().Get("subscription_id"), "sub_oapgate")
		return a, nil
	}
	return a, errStop // not reached: the last base returns
}

// unanswered notes a request that has no answer.
func (v *visit) unanswered(format string, args ...any) {
	v.probes[liveHandshake.ID].Errorf(v.here(), "", "no-answer", format, args...)
}

func (v *visit) status(resp *http.Response, method, path, want string) error {
	severity := verdict.Error
	if resp.StatusCode >= 500 || resp.StatusCode == http.StatusTooManyRequests {
		severity = verdict.Doubt // another try may change it
	}
	return v.broken(severity, "http-status", "%s %s was answered with the status %d; expected %s", method, path,
		resp.StatusCode, want)
}

// talk is one scenario under way.
type talk struct {
	*visit
	Scenario
	mark         string // see take
	subscription string
	accepted     *message // what the producer accepted; nil: nothing that can be read
	listener
	// seen is called with each message of the producer after it was judged; it may be nil.
	seen func(context.Context, *message) error

	session string // id of the first session.started; empty: none yet
	ended   bool

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

// hold runs one scenario. The errors are errStop and errRejected.
func (v *visit) hold(ctx context.Context, s Scenario) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	all := object{"max_events_per_second": 1000, "coalesce_boundaries": hints}
	t, err := v.dialogue(ctx, "", s, all)
	if err != nil {
		return err
	}
	if v.Level >= 3 {
		return t.whole(ctx)
	}
	return t.run(ctx)
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
	resp, _, err := t.exchange(ctx, http.MethodPost, t.below("sessions"), t.Start)
	if err != nil {
		return err
	}
	// Appendix B names no way to start a session: a producer of that layout may start by itself.
	begins := t.Layout == LayoutSpec && (resp.StatusCode == http.StatusNotFound ||
		resp.StatusCode == http.StatusMethodNotAllowed)
	if resp.StatusCode/100 != 2 && !begins {
		return t.status(resp, http.MethodPost, "sessions", "2xx")
	}
	for _, h := range before {
		if !begins && !t.started {
			t.isEarlier(h.data)
		}
		if err := t.event(ctx, h); err != nil {
			return err
		}
	}
	t.started = true
	return nil
}

// converse takes the events of a session until it has ended.
func (t *talk) converse(ctx context.Context) error {
	for {
		until := t.Timeout
		if t.then != nil {
			until = max(time.Until(t.due), 0)
		}
		timer := time.NewTimer(until)
		var err error
		select {
		case h := <-t.all:
			timer.Stop()
			if h.err != nil {
				return t.over(ctx, h.err)
			}
			err = t.event(ctx, h)
		case <-timer.C:
			err = t.timeUp(ctx)
		case <-ctx.Done():
			timer.Stop()
			return t.overBudget()
		}
		switch {
		case err == errDone:
			return nil
		case err != nil:
			return err
		}
	}
}

// timeUp does what is due after the events that were heard before: a select takes either, and a busy machine is late
// with both.
func (t *talk) timeUp(ctx context.Context) error {
	due := t.due
	select {
	case h := <-t.all:
		if h.err != nil {
			return cmp.Or(t.over(ctx, h.err), errDone)
		}
		if err := t.event(ctx, h); err != nil || t.then == nil || !t.due.Equal(due) || h.at.Before(due) {
			return err
		}
	default:
	}
	then := t.then
	if t.then = nil; then == nil {
		if !t.opened {
			t.silent = true
			return t.broken(verdict.Doubt, "no-stream",
				"GET events had neither headers nor an event within %v after the "+
					"start of scenario %s", t.Timeout, show(t.Name))
		}
		return t.hangs("nothing came for %v in scenario %s, whose session has not ended", t.Timeout, show(t.Name))
	}
	return then(ctx)
}

// errDone ends a scenario as it should.
var errDone = errors.New("done")

// later schedules then after a time. It replaces what was scheduled before.
func (t *talk) later(wait time.Duration, then func(context.Context) error) {
	t.due, t.then = time.Now().Add(wait), then
}

// end ends the scenario after a pause.
func (t *talk) end() { t.later(pause, func(context.Context) error { return errDone }) }

// over says what the end of the stream means.
func (t *talk) over(ctx context.Context, err error) error {
	if refused, ok := errors.AsType[*refusedStream](err); ok {
		return refused.report(ctx, t.visit)
	}
	switch {
	case errors.Is(err, ErrTooLarge), errors.Is(err, ErrLongMessage):
		return t.broken(verdict.Error, "stream-too-large", "%v", err)
	case ctx.Err() != nil:
		return t.overBudget()
	case t.ended:
		return nil
	case err == io.EOF:
		return t.broken(verdict.Error, "no-terminal",
			"the producer ended the stream before the session of scenario %s had a terminal event", show(t.Name))
	}
	return t.broken(verdict.Doubt, "stream-dropped", "the connection broke in scenario %s: %v", show(t.Name), err)
}

// event takes one event of the producer.
func (t *talk) event(ctx context.Context, h heard) error {
	if t.opened = true; h.data == nil || t.passesOver(h.data) {
		return nil
	}
	t.heard = h.at
	m, err := t.take(t.mark, producer, h.at, h.data)
	if err != nil || m == nil {
		return err
	}
	if lag := h.at.Sub(m.time); !m.time.IsZero() && (t.lag == nil || lag < *t.lag) {
		t.lag = &lag
	}
	ours := t.session != "" && m.text("session_id") == t.session
	if t.guarded && ours && m.core == toolInvoked {
		t.watches = append(t.watches, watch{line: t.line, reply: t.Reply, scenario: t.Name})
		t.stream.watched[m.at.line] = harmless
	}
	if err := t.judge(m); err != nil {
		return err
	}
	if m.core == sessionStarted && t.session == "" {
		t.session = strings.Clone(m.text("session_id"))
	}
	if m.core == awaitingConfirmation && t.mark == "" && m.text("session_id") == t.session {
		t.visit.asked[t.Name] = true
	}
	if t.seen != nil {
		if err := t.seen(ctx, m); err != nil || t.ended {
			return err
		}
	}
	asksAgain := m.core == awaitingClarification && m.text("question") == t.unsure
	if ours && t.unsure != "" && m.core != progressUpdated && !asksAgain {
		t.unsure, t.then = "", nil
		t.probes[replyWrong].shown++
		t.probes[replyWrong].Errorf(t.here(), "", "wrong-kind-accepted",
			"the session of scenario %s continued after a clarification reply whose response is an object",
			show(t.Name))
	}
	switch {
	case !ours:
		return nil
	case m.core == awaitingConfirmation && t.asked.IsZero() && m.members["irreversible"] == false && t.acts():
		// It covers no irreversible call, so a reply to it would show nothing.
		return t.reply(ctx, m.text("reply_token"), "accept", true)
	case m.core == awaitingConfirmation && t.asked.IsZero():
		t.question(m)
	case m.core == awaitingConfirmation:
		return t.reply(ctx, m.text("reply_token"), "reject", true)
	case m.core == awaitingClarification && t.Reply == replyWrong && !t.mistaken:
		return t.mistake(ctx, m)
	case asksAgain && t.unsure != "":
		t.then = func(ctx context.Context) error { return t.correct(ctx, m) }
		return nil
	case m.core == awaitingClarification:
		return t.clarify(ctx, m)
	case m.core != progressUpdated && t.defaults && t.follows(m):
		t.applied()
	}
	if m.terminal() {
		t.ended = true
		if !t.defaults || t.Reply != replyLate {
			t.end()
		}
	}
	return nil
}

// acts reports whether the scenario shows by irreversible calls what its reply does.
func (t *talk) acts() bool { return t.Reply != replyReject && t.Reply != replyNone }

// allowed returns how long a producer may take to apply a default: 2 s and 10 % more than the timeout.
func (t *talk) allowed() time.Duration { return t.wait + 2*time.Second + t.wait/10 }

// follows reports whether an event came at the end of the question's time. By the producer's clock it may, where the
// question was late on its way.
func (t *talk) follows(m *message) bool {
	took := t.heard.Sub(t.asked)
	return took >= t.wait*9/10 || took >= t.wait/2 && !t.clock.IsZero() && m.time.Sub(t.clock) >= t.wait*9/10
}

// question has the first question answered as the scenario says.
func (t *talk) question(m *message) {
	t.asked, t.clock = t.heard, m.time
	if t.lag != nil && !m.time.IsZero() {
		t.delayed = t.heard.Sub(m.time) - *t.lag
	}
	t.token, t.fallback = strings.Clone(m.text("reply_token")), strings.Clone(m.text("default_decision"))
	seconds, _ := integer(m.members["timeout_seconds"])
	t.wait = time.Duration(min(max(seconds, 0), 86400)) * time.Second
	if t.Reply == replyNone || t.Reply == replyLate {
		t.later(pause, func(ctx context.Context) error { return t.leave(ctx, seconds) })
		return
	}
	t.later(pause, t.answer)
}

// answer replies at once.
func (t *talk) answer(ctx context.Context) error {
	if t.Reply == replyWrong {
		return t.reply(ctx, t.token, "reject", true)
	}
	if t.Reply != replyForged && t.Reply != replyTwice {
		return t.reply(ctx, t.token, t.Reply, true)
	}
	t.guarded = true
	t.probes[t.Reply].shown++
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
	p := t.probes[t.Reply]
	deadline, limited := ctx.Deadline()
	switch {
	case limited && time.Until(deadline) < 2*t.allowed():
		p.skipped = fmt.Sprintf("scenario %s asks with timeout_seconds %d, which exceeds --budget", show(t.Name),
			seconds)
		return t.reply(ctx, t.token, "reject", true)
	case t.Reply == replyLate && t.fallback == "accept":
		p.skipped = fmt.Sprintf("scenario %s asks with a default of accept, which a late accept does not change",
			show(t.Name))
		return t.reply(ctx, t.token, "reject", true)
	}
	t.defaults = true
	if t.Reply == replyLate {
		t.later(time.Until(t.asked.Add(t.allowed())), t.late)
	} else {
		t.later(time.Until(t.asked.Add(2*t.allowed())), t.ignored)
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
	p := t.probes[replyNone]
	p.shown++
	if took := t.heard.Sub(t.asked); took > t.allowed() {
		p.Warnf(t.here(), "", "timeout-late", "the default was applied %v after the question, whose timeout is %v",
			took.Round(time.Millisecond), t.wait)
	}
}

// ignored says that nothing followed the timeout, and replies, so that the session ends.
func (t *talk) ignored(ctx context.Context) error {
	t.defaults = false
	p := t.probes[replyNone]
	p.shown++
	p.Errorf(t.here(), "", "timeout-ignored", "nothing followed the question in %v, its timeout is %v",
		(2 * t.allowed()).Round(time.Millisecond), t.wait)
	return t.reply(ctx, t.token, "reject", false)
}

// late sends the reply that comes too late.
func (t *talk) late(ctx context.Context) error {
	t.defaults, t.guarded = false, true
	t.probes[replyLate].shown++
	if t.ended {
		t.end()
	}
	return t.reply(ctx, t.token, "accept", false)
}

// watched reports the calls that a probe must not cause, and those whose kind the run does not show.
func (v *visit) watched() {
	for _, w := range v.watches {
		p, at := v.probes[w.reply], verdict.At{Path: v.Path, Line: w.line, Column: 1}
		switch v.kindOf(w) {
		case irreversibleCall:
			code, cause := "close-default-not-applied", "subscription.close, whose question has a default of reject"
			for _, p := range replyProbes {
				if p.reply == w.reply {
					code, cause = p.code, p.cause
				}
			}
			p.Errorf(at, "", code, "an irreversible tool is invoked after %s, in scenario %s", cause, show(w.scenario))
		case unclearCall:
			p.Doubtf(at, "", "call-unclear", "a tool is invoked in scenario %s, and nothing in the run says whether "+
				"it is irreversible", show(w.scenario))
		}
	}
}

// kindOf returns what a watched call is by the whole run.
func (v *visit) kindOf(w watch) int {
	if w.reply != liveClose.ID {
		return v.stream.watched[int32(w.line)]
	}
	switch t := v.stream.tools[w.tool]; {
	case w.flagged || t != nil && t.irreversible():
		return irreversibleCall
	case t == nil || !t.plain():
		return unclearCall
	}
	return harmless
}

// reply answers a confirmation.
func (t *talk) reply(ctx context.Context, token, decision string, valid bool) error {
	return t.send(ctx, object{"type": confirmationReply, "reply_token": token, "decision": decision}, valid)
}

// clarify answers a clarification.
func (t *talk) clarify(ctx context.Context, m *message) error {
	return t.send(ctx, object{"type": clarificationReply, "reply_token": m.text("reply_token"),
		"response": responseTo(m)}, true)
}

// mistake answers a clarification by an object, which is not a kind, and 2 s later by a kind that it takes.
func (t *talk) mistake(ctx context.Context, m *message) error {
	t.mistaken, t.unsure = true, strings.Clone(m.text("question"))
	seconds, _ := integer(m.members["timeout_seconds"])
	t.later(min(2*time.Second, time.Duration(min(max(seconds, 0), 86400))*time.Second/2),
		func(ctx context.Context) error {
			return t.correct(ctx, m)
		})
	return t.send(ctx, object{"type": clarificationReply, "reply_token": m.text("reply_token"),
		"response": object{}}, false)
}

// correct answers the clarification that is still open.
func (t *talk) correct(ctx context.Context, m *message) error {
	t.probes[replyWrong].shown++
	t.unsure = ""
	return t.clarify(ctx, m)
}

// responseTo returns a response to a clarification, of the first kind that it takes.
func responseTo(m *message) any {
	kinds, _ := m.members["accepted_response_kinds"].([]any)
	if len(kinds) == 0 {
		return "yes"
	}
	switch kinds[0] {
	case "yes_no":
		return true
	case "numeric":
		return 1
	case "multiple_choice":
		if choices, _ := m.members["choices"].([]any); len(choices) > 0 {
			text, _ := choices[0].(string)
			return cmp.Or(text, strict.String(choices[0], "value"), "yes")
		}
	}
	return "yes"
}

// send sends a reply. One that is valid must be taken.
func (t *talk) send(ctx context.Context, reply object, valid bool) error {
	now := time.Now()
	if !t.clock.IsZero() { // by the producer's clock, so that it does not matter whose is right
		now = t.clock.Add(time.Since(t.asked))
	}
	reply["subscription_id"], reply["timestamp"] = t.subscription, now.UTC().Format("2006-01-02T15:04:05.000Z")
	body, err := json.Marshal(reply)
	if err != nil {
		return err
	}
	if err := t.record(t.mark, subscriber, t.now(), body); err != nil {
		return err
	}
	path := "replies"
	if t.Layout == LayoutReference {
		path = "messages"
	}
	resp, _, err := t.exchange(ctx, http.MethodPost, t.below(path), body)
	if err != nil {
		return err
	}
	// The producer counts from when it asked, and the question and the reply take time on their way.
	expired := t.wait > 0 && time.Since(t.asked)+t.delayed >= t.wait/2
	if valid && !expired && resp.StatusCode/100 != 2 {
		return t.status(resp, http.MethodPost, path, "2xx")
	}
	return nil
}

// results returns the results of the stream and of the live checks.
func (v *visit) results() ([]verdict.Result, error) {
	results, err := v.stream.Results()
	all := conformance.Tally{Catalogue: catalogue, Results: results, Err: err}
	v.watched()
	if name := v.misnamed.Load(); name != nil {
		v.transport.Warnf(verdict.At{Path: v.Path}, "", "event-name",
			"a core event is named %s; expected aaep.event, message or no name", show(*name))
	}
	if len(v.transport.Findings) == 0 {
		v.transport = verdict.Pass("%s of %s ended", plain.Count(len(v.ran), "session"),
			plain.Count(len(v.Scenarios), "scenario"))
	}
	v.arrived.report(verdict.At{Path: v.Path}, &v.transport)
	all.Add(liveStream.ID, v.URL.Redacted(), v.transport)
	if v.Level >= 2 {
		for _, live := range replyProbes {
			all.Add(live.row.ID, v.URL.Redacted(), v.ofReply(live.reply))
		}
	}
	if v.Level >= 3 {
		for _, d := range dialogues {
			all.Add(d.row.ID, v.URL.Redacted(), v.ofDialogue(d.row))
		}
	}
	return all.Results, all.Err
}

// ofReply returns what the scenarios of a reply come to.
func (v *visit) ofReply(reply string) verdict.Outcome {
	p := v.probes[reply]
	if p.shown > 0 && len(p.Findings) == 0 {
		p.verified = plain.Count(p.shown, "scenario")
	}
	if p.scenarios == 0 {
		return v.outcome(p, verdict.Skip("not run: no scenario has reply %s", reply))
	}
	what := "irreversible question"
	switch reply {
	case replyNone:
		what = "question"
	case replyWrong:
		what = "clarification"
	}
	return v.outcome(p, v.doubt("no %s was asked in a scenario of reply %s", what, reply))
}

// doubt returns the outcome of a row that the run does not exercise.
func (v *visit) doubt(format string, args ...any) (o verdict.Outcome) {
	o.Doubtf(verdict.At{Path: v.Path}, "", notExercised, format, args...)
	return o
}

// outcome returns what a row comes to: unshown if the run showed nothing of it, and nothing says why.
func (v *visit) outcome(p *probe, unshown verdict.Outcome) verdict.Outcome {
	o := p.Outcome
	switch {
	case p.shown > 0:
		o.Verified = p.verified
		return o.OrPass()
	case len(o.Findings) > 0:
		return o
	case p.skipped != "":
		return verdict.Skip("%s", p.skipped)
	case v.stream.broken:
		return verdict.Skip("not run, as %s says", liveStream.ID)
	}
	return unshown
}
