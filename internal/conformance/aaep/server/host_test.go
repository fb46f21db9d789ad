package server

import (
	"bytes"
	"context"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep/judge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/aaeptest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// inProcess is a subscriber of this process, as a command.
type inProcess struct {
	t      testing.TB // nil: what the subscriber says about its end is ignored
	o      aaeptest.SubscriberOptions
	cancel context.CancelFunc
	exited chan struct{} // closed when the last one has exited
	all    sync.WaitGroup
}

func (p *inProcess) Start(endpoint string) (<-chan struct{}, error) {
	p.Terminate()
	if p.exited != nil {
		select {
		case <-p.exited:
		case <-time.After(5 * time.Second): // one that never stops
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	exited := make(chan struct{})
	p.cancel, p.exited = cancel, exited
	o := p.o
	o.URL = endpoint
	p.all.Go(func() {
		defer close(exited)
		if err := aaeptest.Subscribe(ctx, o); err != nil && o.Fault == "" && p.t != nil {
			p.t.Errorf("the subscriber: %v", err)
		}
	})
	return exited, nil
}

func (p *inProcess) Terminate() {
	if p.cancel != nil {
		p.cancel()
	}
}

func (p *inProcess) End() { p.Terminate() }

// hosted returns the verdict of a run, its findings as "check code severity", its results and its capture. It takes no
// time: the clock is the bubble's, and so is the wire.
func hosted(t *testing.T, o aaeptest.SubscriberOptions, change func(*Host)) (v verdict.Verdict, all []string,
	got *aaeptest.Captures) {
	synctest.Test(t, func(t *testing.T) {
		pipe := aaeptest.NewPipe()
		o.Dial = pipe.Dial
		v, all, got = hostedAt(t, pipe, o, change)
	})
	return v, all, got
}

// hostedAt is hosted on a listener, by the clock that there is.
func hostedAt(t *testing.T, l net.Listener, o aaeptest.SubscriberOptions, change func(*Host)) (verdict.Verdict,
	[]string, *aaeptest.Captures) {
	t.Helper()
	tester := &inProcess{t: t, o: o}
	var lines bytes.Buffer
	h := &Host{Level: o.Level, Seed: 7, Timeout: 8 * time.Second, Path: "x", Capture: &lines, Tester: tester,
		pause: 500 * time.Millisecond, quiet: time.Second}
	if change != nil {
		change(h)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	results := must.Get(h.Run(ctx, l))(t)
	tester.all.Wait()
	v, all := aaeptest.Once(results)
	return v, all, &aaeptest.Captures{Results: results, Messages: lines.Bytes()}
}

// only limits a run to plays.
func only(names ...string) func(*Host) {
	return func(h *Host) {
		h.Plays = []Play{}
		for _, name := range names {
			h.Plays = append(h.Plays, Play{Play: name})
		}
	}
}

// honestSubscribers are of each level and transport.
var honestSubscribers = []aaeptest.SubscriberOptions{
	{Level: 1}, {Level: 1, WebSocket: true}, {Level: 1, Reference: true},
	{Level: 2}, {Level: 2, WebSocket: true}, {Level: 2, Reference: true},
	{Level: 3, Rate: 50}, {Level: 3, Rate: 50, WebSocket: true}, {Level: 3, Rate: 50, Signed: true},
	{Level: 3, Rate: 50, Signed: true, WebSocket: true},
	{Level: 3, WebSocket: true, Include: []string{"aaep:agent.session.*"}},
}

// An honest subscriber passes at each level, over each transport, and what the host sends passes as a producer's.
func TestHostHonest(t *testing.T) {
	for _, o := range honestSubscribers {
		v, got, captured := hosted(t, o, func(h *Host) { h.quiet = 3500 * time.Millisecond })
		passesHonest(t, o, v, got, captured)
	}
}

// The same over loopback connections, by the machine's clock.
func TestHostHonestOnLoopback(t *testing.T) {
	aaeptest.OnLoopback(t)
	for _, o := range honestSubscribers {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
			v, got, captured := hostedAt(t, l, o, func(h *Host) {
				h.pause, h.quiet = 100*time.Millisecond, time.Second
			})
			passesHonest(t, o, v, got, captured)
		})
	}
}

// passesHonest checks that every row of a run passed.
func passesHonest(t *testing.T, o aaeptest.SubscriberOptions, v verdict.Verdict, got []string,
	captured *aaeptest.Captures) {
	t.Helper()
	if v != verdict.Passed || len(got) > 0 {
		t.Errorf("%+v: %s %s\n%s", o, v, got, plain.Cut(string(captured.Messages), 30000))
	}
	passesAsProducer(t, o, captured.Messages)
	for _, r := range captured.Results {
		if r.Verdict != verdict.Passed {
			t.Errorf("%+v: %s %s %s", o, r.Check, r.Verdict, r.Reason)
		}
	}
}

// passesAsProducer checks what the host sent as the events of a producer. Only the plays that break a rule on purpose
// may.
func passesAsProducer(t *testing.T, o aaeptest.SubscriberOptions, capture []byte) {
	t.Helper()
	broken := []string{"envelope type-unknown", "envelope missing-member", "envelope sequence-gaps", // level 1
		"envelope sequence", "envelope event-id-twice", "confirmation token-twice", "confirmation asked-twice",
		"confirmation not-exercised"} // the last under a filter of tool events
	_, got := judged(t, string(capture), judge.Options{Level: o.Level})
	for _, finding := range got {
		words := strings.Fields(finding)
		code := strings.Join(words[len(words)-3:len(words)-1], " ")
		if i := slices.Index(broken, code); i < 0 || i > 2 && o.Level < 3 || i == 7 && o.Include == nil {
			t.Errorf("%+v: the host sent %s\n%s", o, finding, capture)
		}
	}
}

// hostFault is a subscriber with one fault, the plays that show it, and the findings that it gets.
type hostFault struct {
	level  int
	socket bool
	fault  string
	plays  string
	want   string
}

func hostFaults() []hostFault {
	const ws, sse = true, false
	return []hostFault{
		{1, ws, "leaves-errored", "errored session", "aaep-sub-transport subscriber-gone error"},
		{1, sse, "leaves-errored", "errored", "aaep-sub-transport subscriber-gone error"},
		{1, ws, "reads-nothing", "session", "aaep-sub-transport subscriber-gone error"},
		{1, sse, "reads-nothing", "session", "aaep-sub-transport subscriber-gone error"},
		{1, ws, "no-subprotocol", "session", "aaep-sub-transport no-connection inconclusive"},
		{1, ws, "binary", "session", "aaep-sub-transport subscriber-gone error"},
		{1, ws, "endless", "session", "aaep-sub-transport stream-too-large error"},
		{1, sse, "leaves-unknown", "unknown-type", "aaep-sub-unknown subscriber-gone error"},
		{2, ws, "leaves-unknown", "unknown-type accept", "aaep-sub-unknown subscriber-gone error"},
		{1, ws, "leaves-extension", "unknown-extension", "aaep-sub-unknown subscriber-gone error"},
		{2, ws, "stuck-unknown", "unknown-type accept", "aaep-sub-unknown no-reply error"},
		{1, ws, "leaves-invalid", "bad-envelope", "aaep-sub-envelope subscriber-gone error"},
		{2, ws, "answers-invalid", "bad-envelope accept", "aaep-sub-envelope answered-invalid error"},
		{2, sse, "answers-invalid", "bad-envelope accept", "aaep-sub-envelope answered-invalid error"},
		{2, ws, "no-capability", "accept", "aaep-sub-reply no-reply-capability error"},
		{2, sse, "no-capability", "accept", "aaep-sub-reply no-reply-capability error"},
		{2, ws, "not-json", "accept", "aaep-sub-reply not-an-object error"},
		{2, sse, "not-json", "accept", "aaep-sub-reply not-an-object error"},
		{2, ws, "no-timestamp", "accept", "aaep-sub-reply missing-member error"},
		{2, sse, "odd-decision", "accept", "aaep-sub-reply member-value error"},
		{2, ws, "other-token", "accept", "aaep-sub-reply no-reply inconclusive|aaep-sub-reply token-unknown error"},
		{2, ws, "other-subscription", "accept", "aaep-sub-reply other-subscription error"},
		{2, sse, "other-subscription", "accept", "aaep-sub-reply other-subscription error"},
		{2, ws, "always-accepts", "accept reject", "aaep-sub-reply other-decision error"},
		{2, ws, "always-rejects", "accept reject", "aaep-sub-reply other-decision inconclusive"},
		{2, ws, "never-answers", "accept unanswered", "aaep-sub-reply no-reply inconclusive"},
		{2, sse, "never-answers", "unanswered", "aaep-sub-consent not-exercised inconclusive"},
		{2, ws, "never-answers", "bad-envelope", "aaep-sub-envelope not-exercised inconclusive"},
		{2, ws, "never-answers", "withdrawn", "aaep-sub-cancel not-exercised inconclusive"},
		{3, ws, "never-answers", "out-of-order", "aaep-sub-order not-exercised inconclusive"},
		{3, ws, "never-answers", "duplicate", "aaep-sub-order no-reply inconclusive"},
		{2, ws, "answers-late", "accept reject unanswered", "aaep-sub-reply late-reply warning"},
		{2, ws, "answers-late", "accept",
			"aaep-sub-reply late-reply warning|aaep-sub-reply not-exercised inconclusive"},
		{2, ws, "answers-late", "freetext yes-no multiple-choice numeric unanswered",
			"aaep-sub-clarify late-reply warning"},
		{2, ws, "answers-late", "freetext",
			"aaep-sub-clarify late-reply warning|aaep-sub-clarify not-exercised inconclusive"},
		{2, ws, "answers-twice", "accept reject", "aaep-sub-reply answered-twice warning"},
		{2, ws, "never-answers", "freetext", "aaep-sub-clarify no-reply inconclusive"},
		{2, ws, "wrong-kind", "freetext", "aaep-sub-clarify response-kind error"},
		{2, ws, "wrong-kind", "yes-no", "aaep-sub-clarify response-kind error"},
		{2, ws, "wrong-kind", "multiple-choice", "aaep-sub-clarify response-kind error"},
		{2, sse, "wrong-kind", "numeric", "aaep-sub-clarify response-kind error"},
		{2, ws, "unlisted-choice", "multiple-choice", "aaep-sub-clarify response-choice error"},
		{2, ws, "answers-unasked", "unanswered", "aaep-sub-consent answered-unasked error"},
		{2, sse, "answers-unasked", "unanswered", "aaep-sub-consent answered-unasked error"},
		{2, ws, "answers-withdrawn", "withdrawn", "aaep-sub-cancel answered-withdrawn error"},
		{2, sse, "answers-withdrawn", "withdrawn", "aaep-sub-cancel answered-withdrawn error"},
		{3, ws, "no-request", "handshake accept", "aaep-sub-handshake no-request error"},
		{3, sse, "no-request", "handshake accept", "aaep-sub-handshake no-request error"},
		{3, ws, "no-subscriber-id", "handshake accept", "aaep-sub-handshake missing-member error"},
		{3, sse, "odd-rate", "handshake accept", "aaep-sub-handshake member-value error"},
		{3, ws, "leaves-lower-rate", "lower-rate", "aaep-sub-handshake subscriber-gone error"},
		{3, sse, "stuck-lower-rate", "lower-rate", "aaep-sub-handshake no-reply error"},
		{3, ws, "answers-duplicates", "duplicate", "aaep-sub-order answered-twice error"},
		{3, sse, "answers-duplicates", "duplicate", "aaep-sub-order answered-twice error"},
		{3, ws, "answers-stale", "out-of-order", "aaep-sub-order answered-stale error"},
		{3, ws, "takes-forged", "manifest accept", "aaep-sub-manifest bad-manifest-taken error"},
		{3, sse, "takes-forged", "manifest accept", "aaep-sub-manifest bad-manifest-taken error"},
		{3, ws, "takes-other-agent", "manifest accept", "aaep-sub-manifest bad-manifest-taken error"},
		{3, sse, "takes-none", "manifest accept", "aaep-sub-manifest bad-manifest-taken error"},
		{3, ws, "refuses-signed", "manifest accept", "aaep-sub-manifest manifest-refused inconclusive"},
		{3, sse, "refuses-signed", "manifest accept", "aaep-sub-manifest manifest-refused inconclusive"},
		{3, ws, "no-close", "accept shutdown", "aaep-sub-close no-close error"},
		{3, sse, "no-close", "accept shutdown", "aaep-sub-close no-close error"},
	}
}

// A subscriber with one fault gets the code of that fault, and no other.
func TestHostFaults(t *testing.T) {
	for _, c := range hostFaults() {
		if c.fault == "endless" {
			continue // the bubble's clock does not move while one sends: it is tried over sockets
		}
		o, change := c.run()
		v, got, captured := hosted(t, o, change)
		c.compare(t, v, got, captured)
	}
}

// run returns the options of the subscriber, and what to change of the host.
func (c hostFault) run() (aaeptest.SubscriberOptions, func(*Host)) {
	o := aaeptest.SubscriberOptions{Level: c.level, WebSocket: c.socket, Fault: c.fault,
		Signed: strings.Contains(c.plays, playManifest)}
	if c.level == 3 {
		o.Rate = 50
	}
	return o, func(h *Host) {
		only(strings.Fields(c.plays)...)(h)
		if strings.HasPrefix(c.fault, "answers-") {
			h.quiet = 3500 * time.Millisecond // the tester waits for 3 s
		}
	}
}

func (c hostFault) compare(t *testing.T, v verdict.Verdict, got []string, captured *aaeptest.Captures) {
	t.Helper()
	want := strings.FieldsFunc(c.want, func(r rune) bool { return r == '|' })
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" || string(v) != aaeptest.VerdictOf(want) {
		t.Errorf("%s: %s, want %s: %s\n%s", c.fault, v, aaeptest.VerdictOf(want), diff,
			plain.Cut(string(captured.Messages), 2000))
	}
	for _, r := range captured.Results {
		for _, f := range r.Findings {
			if strings.Contains(f.Message, " :") {
				t.Errorf("%s: a position without a name: %s", c.fault, f.Message)
			}
		}
	}
}

// A row passes only if all of its plays were played.
func TestHostPart(t *testing.T) {
	for plays, want := range map[string]verdict.Verdict{"accept": verdict.Skipped, "accept reject": verdict.Passed,
		"unanswered": verdict.Skipped} {
		o := aaeptest.SubscriberOptions{Level: 2, WebSocket: true}
		_, _, got := hosted(t, o, only(strings.Fields(plays)...))
		for _, r := range got.Results {
			if r.Check == aaep.SubReply.ID && r.Verdict != want {
				t.Errorf("%s: %s %s, want %s", plays, r.Verdict, r.Reason, want)
			}
		}
	}
}

// A person connects the subscriber, and stops it when the run asks for that.
func TestHostPerson(t *testing.T) {
	for _, c := range []struct{ fault, plays, want string }{
		{"", "accept manifest shutdown", ""},
		{"gives-up", "accept manifest", "aaep-sub-manifest not-exercised inconclusive"},
		{"never-stops", "accept shutdown", "aaep-sub-close not-stopped inconclusive"},
		{"no-close", "accept shutdown", "aaep-sub-close no-close error"},
	} {
		for _, socket := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				pipe := aaeptest.NewPipe()
				own, stop := context.WithCancel(t.Context())
				var subscribing sync.WaitGroup
				o := aaeptest.SubscriberOptions{Level: 3, WebSocket: socket, Fault: c.fault,
					Signed: strings.Contains(c.plays, playManifest), Rate: 50, Dial: pipe.Dial}
				v, got, captured := hostedAt(t, pipe, o, func(h *Host) {
					only(strings.Fields(c.plays)...)(h)
					h.Tester = nil
					h.Say = func(text string) {
						if words := strings.Fields(text); words[0] == "connect" {
							o.URL = strings.TrimSuffix(words[4], ":")
							subscribing.Go(func() { _ = aaeptest.Subscribe(own, o) })
						} else {
							stop()
						}
					}
				})
				stop()
				subscribing.Wait()
				want := strings.FieldsFunc(c.want, func(r rune) bool { return r == '|' })
				if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" ||
					string(v) != aaeptest.VerdictOf(want) {
					t.Errorf("%s, WebSocket %t: %s, want %s: %s\n%s", c.fault, socket, v, aaeptest.VerdictOf(want),
						diff,
						plain.Cut(string(captured.Messages), 4000))
				}
			})
		}
	}
}

// What the time of --budget cut off is inconclusive.
func TestHostBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pipe := aaeptest.NewPipe()
		tester := &inProcess{o: aaeptest.SubscriberOptions{Level: 2, WebSocket: true, Dial: pipe.Dial}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		results := must.Get((&Host{Level: 2, Timeout: time.Second, Path: "x", Tester: tester}).Run(ctx, pipe))(t)
		tester.all.Wait()
		const want = "aaep-sub-transport out-of-time inconclusive"
		if f := results[0].Findings; len(f) != 1 || results[0].Check+" "+f[0].Code+" "+f[0].Severity.String() != want {
			t.Errorf("%s: %q, want %s", results[0].Check, f, want)
		}
		for _, r := range results[1:] {
			if r.Verdict == verdict.Passed && r.Check != aaep.SubUnknown.ID && r.Check != aaep.SubReply.ID {
				t.Errorf("%s: %s %s", r.Check, r.Verdict, r.Reason)
			}
		}
	})
}

// Each code of a subscriber's row is one that a peer gets.
func TestHostCovers(t *testing.T) {
	source := must.Get(os.ReadFile("host_test.go"))(t)
	for _, rule := range aaep.SubscriberRows(3) {
		for _, code := range rule.Codes {
			if !bytes.Contains(source, []byte(rule.ID+" "+code.ID+" ")) {
				t.Errorf("no peer gets %s %s", rule.ID, code.ID)
			}
		}
	}
}

// judged returns the verdict and the findings of a capture.
func judged(t *testing.T, text string, o judge.Options) (verdict.Verdict, []string) {
	t.Helper()
	s := judge.NewStream("x", o)
	must.OK(t, s.Read(strings.NewReader(text)))
	results, err := s.Results()
	return aaeptest.Announced(t, results, err)
}
