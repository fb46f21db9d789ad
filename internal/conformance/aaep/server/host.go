// Package server plays an AAEP producer for a running subscriber, and judges what the subscriber does.
package server

import (
	"cmp"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	crand "crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// Host plays a producer for one subscriber that connects to it, and judges what the subscriber does on the wire.
type Host struct {
	Level int
	Plays []Play // in this order; nil: all of the level, in the order that Seed makes
	Seed  uint64
	// Timeout is that of each question, in whole seconds, and the longest wait for a connection.
	Timeout    time.Duration
	Path       string        // names the capture in findings
	Capture    io.Writer     // takes the messages as frames, one a line; nil: nothing does
	Extensions []string      // the URIs that the manifest declares
	Key        crypto.Signer // signs the manifest; nil: a new key, which the manifest carries
	Tester     Tester        // nil: a person tests
	// Say receives what a person has to know or do; nil: nobody does.
	Say func(text string)

	pause time.Duration // after a play, for a subscriber that leaves because of it; 0: 1 s
	quiet time.Duration // in which no reply may come; 0: 5 s
}

// Tester is a command that connects to a Host.
type Tester interface {
	// Start starts the command with the URL of the host, and returns a channel that is closed when the command has
	// exited. It ends a command that still runs first.
	Start(endpoint string) (exited <-chan struct{}, err error)
	// Terminate asks the command to end, and does not wait.
	Terminate()
	// End ends the command with its children.
	End()
}

// The limits of a run.
const (
	maxReceived = 8 << 20 // bytes
	maxMessages = 10_000
	maxRequests = 100  // subscriptions
	maxWaiting  = 4096 // messages that wait for the subscriber to read them
	maxRate     = 200  // events a second of the play lower-rate, whatever the honored rate
	maxStarts   = 10   // starts of the command
)

var (
	errGone   = errors.New("the subscriber has gone")
	errNobody = errors.New("no subscriber connects")
	errLate   = errors.New("the time is up")
)

// hosting is a run under way.
type hosting struct {
	*Host
	aaep.Steady
	run      string        // begins the ids of the run: a subscriber may remember those of another
	changed  chan struct{} // receives when something below has changed
	endpoint string
	plays    []Play
	random   *rand.Rand
	key      crypto.Signer
	starts   int                 // starts of the command so far
	last     *scene              // the last play; nil: none yet, or it is noted that the subscriber left
	sent     int                 // events
	aborted  map[*aaep.Rule]bool // the checks of plays that the subscriber left

	mu        sync.Mutex
	rows      map[*aaep.Rule]*verdict.Outcome // by check
	played    map[*aaep.Rule][]string         // the plays that were played to their end, by check
	asked     map[string]*posed               // by reply_token
	granted   map[string]*grant               // by the id of the subscription
	link      *connection                     // the subscriber's connection; may be nil
	sign      time.Time                       // when the last connection or message came
	exited    bool                            // the command has
	refusal   string                          // why the last connection was refused
	transport string                          // that the subscriber uses
	forgeries []string                        // the faults of manifests that were not shown yet
	requires  bool                            // the subscriber requires signed manifests
	proven    bool                            // it took the good one
	distrusts bool                            // it refused the good one
	line      int                             // line of the capture
	received  int                             // bytes
	messages  int                             // received
	full      bool                            // a limit of what is received was reached
	over      bool                            // the run has ended
}

// grant is a subscription that was accepted.
type grant struct {
	id      string
	request *aaep.Message
	line    int         // line of the request in the capture
	asked   aaep.Object // the capabilities that the subscriber asks for, with those of its renegotiations
	honored aaep.Terms
	bucket  aaep.Bucket
	forged  string // the fault of its manifest; empty: it has none
	signed  bool   // its manifest is signed, and good
	used    bool   // it was the subscriber's, which its connection shows
	closed  bool
}

// Run serves a subscriber on a listener, plays, and returns the results. The error is the context's if that was
// canceled, or the command's if it does not start; what the subscriber does is in the results.
func (h *Host) Run(ctx context.Context, l net.Listener) ([]verdict.Result, error) {
	own := *h
	own.pause, own.quiet = cmp.Or(h.pause, time.Second), cmp.Or(h.quiet, 5*time.Second)
	r := &hosting{Host: &own, Steady: aaep.Steady{Began: time.Now()}, run: strings.ToLower(crand.Text()[:12]),
		changed: make(chan struct{}, 1), endpoint: "http://" + l.Addr().String(), plays: h.Plays,
		random: rand.New(rand.NewPCG(h.Seed, 0)), aborted: map[*aaep.Rule]bool{},
		rows:   map[*aaep.Rule]*verdict.Outcome{},
		played: map[*aaep.Rule][]string{}, asked: map[string]*posed{}, granted: map[string]*grant{}}
	if r.key = h.Key; r.key == nil {
		key, err := ecdsa.GenerateKey(elliptic.P256(), crand.Reader)
		if err != nil {
			return nil, err
		}
		r.key = key
	}
	for _, check := range aaep.SubscriberRules {
		if check.Level <= h.Level {
			r.rows[check] = &verdict.Outcome{}
		}
	}
	if r.plays == nil {
		r.plays = AllPlays(h.Level)
		r.random.Shuffle(len(r.plays), func(i, j int) { r.plays[i], r.plays[j] = r.plays[j], r.plays[i] })
	}
	if r.has(playManifest) {
		all := slices.Clone(forgeries)
		r.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		r.forgeries = all
	}
	if h.Tester != nil {
		defer h.Tester.End()
	}
	stop := r.serve(ctx, l)
	defer stop() // before the command is ended
	if h.Tester != nil {
		if err := r.start(); err != nil {
			return nil, err
		}
	} else {
		r.say("connect the subscriber to %s: server-sent events below /aaep/v1, a WebSocket at /aaep/v1/ws", r.endpoint)
	}
	err := r.playAll(ctx)
	if err := context.Cause(ctx); errors.Is(err, context.Canceled) {
		return nil, err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		r.found(aaep.SubTransport, verdict.Doubt, "out-of-time",
			"the time of --budget ended before all plays were played")
	}
	r.finish(ctx)
	return r.results()
}

// Chosen returns how the host played, for a report.
func (h *Host) Chosen() string {
	if h.Plays != nil {
		return plain.Count(len(h.Plays), "play") + " of --scenario"
	}
	return fmt.Sprintf("all plays of level %d, --seed %d", h.Level, h.Seed)
}

func (r *hosting) has(play string) bool {
	return slices.ContainsFunc(r.plays, func(p Play) bool { return p.Play == play })
}

func (r *hosting) say(format string, args ...any) {
	if r.Say != nil {
		r.Say(fmt.Sprintf(format, args...))
	}
}

// locked does something with the lock held.
func (r *hosting) locked(do func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	do()
}

// signal has the run look again at what it waits for.
func (r *hosting) signal() {
	select {
	case r.changed <- struct{}{}:
	default:
	}
}

// wait waits until done reports true. It calls done with the lock held. The errors are errLate and the context's.
func (r *hosting) wait(ctx context.Context, until time.Time, done func() bool) error {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	for {
		ok := false
		r.locked(func() { ok = done() })
		if ok {
			return nil
		}
		select {
		case <-r.changed:
		case <-timer.C:
			return errLate
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// found adds a finding at the last line of the capture, if the level has the check. Its caller holds no lock.
func (r *hosting) found(check *aaep.Rule, severity verdict.Severity, code, format string, args ...any) {
	r.locked(func() { r.noteAt(r.line, check, severity, "", code, format, args...) })
}

// noteAt adds a finding at a line of the capture, if the level has the check. Its caller holds the lock.
func (r *hosting) noteAt(line int, check *aaep.Rule, severity verdict.Severity, pointer, code, format string,
	args ...any) *verdict.Finding {
	o := r.rows[check]
	if o == nil || len(o.Findings) >= aaep.MaxListed {
		return new(verdict.Finding)
	}
	if pointer != "" {
		pointer = "/message" + pointer
	}
	at := verdict.At{Path: r.Path, Line: line, Column: min(line, 1)}
	return o.Add(at, severity, pointer, code, format, args...)
}

// record writes a message to the capture. Its caller holds the lock.
func (r *hosting) record(from string, data []byte) {
	r.line++
	if r.Capture != nil {
		_, _ = r.Capture.Write(append(aaep.AsFrame("", from, r.Now(), data), '\n'))
	}
}

// start starts the command.
func (r *hosting) start() error {
	r.starts++
	exited, err := r.Tester.Start(r.endpoint)
	if err != nil {
		return err
	}
	r.locked(func() { r.exited, r.sign = false, r.Now() })
	this := r.starts
	go func() {
		<-exited
		r.locked(func() { r.exited = r.starts == this })
		r.signal()
	}()
	return nil
}

// connect returns the connection of a subscriber that is ready for events. It waits until nothing came for the time of
// --timeout, and starts a command again that has left. The errors are errNobody, the command's and the context's.
func (r *hosting) connect(ctx context.Context) (*connection, error) {
	r.locked(func() { r.sign = r.Now() })
	for again := false; ; {
		var since, sign time.Time
		var l *connection
		exited, over := false, false // over: no more events can be sent
		r.locked(func() { since = r.sign })
		err := r.wait(ctx, since.Add(r.Timeout), func() bool {
			l, sign, exited, over = r.link, r.sign, r.exited, r.distrusts || len(r.granted) >= maxRequests
			return l != nil || exited || over
		})
		switch {
		case err != nil && err != errLate:
			return nil, err
		case over:
			return nil, errNobody
		case l != nil:
			if err := r.settle(ctx, l); err != errGone {
				return l, err
			}
		case err == errLate && sign.After(since):
		case r.Tester == nil || r.starts >= maxStarts || again && !exited:
			return nil, errNobody
		default:
			again = true
			if err := r.start(); err != nil {
				return nil, err
			}
		}
	}
}

// withstood returns how many manifests with a fault the subscriber did not take. Its caller holds the lock.
func (r *hosting) withstood() (n int) {
	for _, g := range r.granted {
		if g.forged != "" {
			n++
		}
	}
	return n
}

// settle waits for the subscription that a connection may make, and for what the subscriber makes of its manifest. The
// errors are errGone, if the subscriber left or asks again, and the context's.
func (r *hosting) settle(ctx context.Context, l *connection) error {
	var g *grant
	closed := false
	wait := r.Timeout
	if r.Level < 3 {
		wait = r.pause // a request is not required
	}
	err := r.wait(ctx, r.Now().Add(wait), func() bool {
		g = l.grant
		closed = g != nil && g.closed // by another goroutine
		return g != nil || l.left || l.ws == nil
	})
	switch {
	case err != nil && err != errLate:
		return err
	case g == nil && r.Level >= 3:
		r.mu.Lock()
		if !l.unasked {
			r.noteAt(r.line, aaep.SubHandshake, verdict.Error, "", "no-request",
				"the connection takes events, and no subscription.request came")
		}
		l.unasked = true
		r.mu.Unlock()
	case g == nil:
	case closed:
		if err := r.wait(ctx, r.Now().Add(r.Timeout), func() bool { return l.grant != g || l.left }); err == errLate {
			return errNobody
		}
		return errGone
	case g.forged != "" || g.signed && !r.proven:
		patience := r.quiet
		if g.forged != "" {
			patience = r.Timeout // to verify a signature may take a slow subscriber seconds
		}
		err := r.wait(ctx, r.Now().Add(patience), func() bool { return l.grant != g || g.closed || l.left })
		if err != nil && err != errLate {
			return err
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		switch {
		case err == nil && g.signed:
			r.refuses()
			return errGone
		case err == nil:
			return errGone
		case g.signed:
			r.proven = true
		default:
			r.taken(g)
		}
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if l.left {
		return errGone
	}
	return nil
}

// taken notes that the subscriber takes events under a manifest with a fault. Its caller holds the lock.
func (r *hosting) taken(g *grant) {
	r.noteAt(r.line, aaep.SubManifest, verdict.Error, "", "bad-manifest-taken",
		"the subscriber requires a signed manifest, and takes events under %s", g.forged)
	g.forged = ""
}

// refuses notes that the subscriber refuses the manifest that is signed well. Its caller holds the lock.
func (r *hosting) refuses() {
	if !r.distrusts {
		r.noteAt(r.line, aaep.SubManifest, verdict.Doubt, "", "manifest-refused",
			"the subscriber takes no events under a manifest that is signed well")
	}
	r.distrusts = true
}

// playAll plays in order. The errors are those of connect.
func (r *hosting) playAll(ctx context.Context) error {
	gone := false
	for _, one := range r.plays {
		p := playNamed(one.Play)
		if p.act == nil {
			continue // the whole run plays it
		}
		gone = r.left() || gone
		l, err := r.connect(ctx)
		if err == errNobody {
			r.mu.Lock()
			why, known := r.refusal, gone || r.distrusts || r.withstood() > 0
			r.mu.Unlock()
			if known {
				return err
			}
			if why != "" {
				why = "; the last one was refused: " + why
			}
			r.found(aaep.SubTransport, verdict.Doubt, "no-connection", "no subscriber connected within %v%s", r.Timeout,
				why)
		}
		if err != nil {
			return err
		}
		s := &scene{hosting: r, ctx: ctx, link: l, play: p, name: one.Name,
			session: fmt.Sprintf("sess_%sx%d", r.run, r.sent), state: "idle"}
		r.last = s
		p.act(s)
		s.idle(r.pause)
		if s.err == nil {
			r.played[p.check] = append(r.played[p.check], p.name)
		} else if s.err != errGone {
			return s.err
		}
	}
	return nil
}

// left reports whether the subscriber left during the last play, or after it, and notes it once.
func (r *hosting) left() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.last
	if s == nil || !s.isGone() {
		return false
	}
	if r.last = nil; r.full {
		return true // which is reported
	}
	check := s.play.check
	if check != aaep.SubUnknown && check != aaep.SubEnvelope && s.play.name != "lower-rate" {
		check = aaep.SubTransport
	}
	r.aborted[s.play.check] = true
	r.noteAt(r.line, check, verdict.Error, "", "subscriber-gone", "the subscriber left during the play %s: %s",
		s.title(), s.link.reason())
	for _, q := range r.asked {
		if q.scene == s {
			q.expected = false
		}
	}
	return true
}

// finish ends the run: it sees whether the subscriber still reads, and how it ends.
func (r *hosting) finish(ctx context.Context) {
	if r.left() || r.last == nil || ctx.Err() != nil {
		return
	}
	l := r.last.link
	if !r.reads(l) {
		if !r.left() {
			r.found(aaep.SubTransport, verdict.Error, "subscriber-gone",
				"the subscriber has not read its events within %v",
				r.Timeout)
		}
		return
	}
	if r.endless(ctx, l) {
		r.found(aaep.SubTransport, verdict.Error, "stream-too-large",
			"the subscriber does not stop sending, or does not end a message")
		return
	}
	if r.Level < 3 || !r.has(playShutdown) {
		return
	}
	wait := r.Timeout
	if r.Tester != nil {
		wait = killAfter
		r.Tester.Terminate()
	} else {
		r.say("stop the subscriber now")
	}
	closed := func() bool { return l.grant != nil && l.grant.closed }
	err := r.wait(ctx, r.Now().Add(wait), func() bool { return l.left || closed() })
	if err == nil && l.ws == nil { // the message comes over a connection of its own
		_ = r.wait(ctx, r.Now().Add(r.Timeout), closed)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case closed():
	case r.Tester == nil && !l.left:
		r.noteAt(r.line, aaep.SubClose, verdict.Doubt, "", "not-stopped",
			"the subscriber was still connected after %v", wait)
	default:
		r.noteAt(r.line, aaep.SubClose, verdict.Error, "", "no-close",
			"the connection ended, or the command had to be "+
				"killed, without subscription.close of the subscription")
	}
	r.played[aaep.SubClose] = append(r.played[aaep.SubClose], playShutdown)
}

// endless reports whether messages come, or one is under way, for all of --timeout.
func (r *hosting) endless(ctx context.Context, l *connection) bool {
	for until := r.Now().Add(r.Timeout); r.Now().Before(until); {
		before, idle := 0, false
		r.locked(func() { before = r.messages })
		_ = r.wait(ctx, r.Now().Add(r.pause), func() bool { return false })
		if r.locked(func() { idle = r.messages == before && !l.within }); idle || ctx.Err() != nil {
			return false
		}
	}
	return true
}

// killAfter is how long a command has to end after it was asked to.
const killAfter = 10 * time.Second

// results returns the results of the rows that need a running subscriber.
func (r *hosting) results() ([]verdict.Result, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.over = true
	answered, missing := false, false
	for _, token := range slices.SortedFunc(maps.Keys(r.asked), func(a, b string) int {
		return r.asked[a].line - r.asked[b].line
	}) {
		q := r.asked[token]
		answered = answered || q.replies > 0
		if q.expected && q.replies == 0 {
			missing = true
			r.noteAt(q.line, q.scene.play.check, q.missing, "", "no-reply",
				"no reply came to the question of the play %s", q.scene.title())
		}
	}
	if r.transport != "" && r.has(playHandshake) {
		r.played[aaep.SubHandshake] = append(r.played[aaep.SubHandshake], playHandshake)
	}
	all := conformance.Tally{Catalogue: aaep.Catalogue}
	for _, check := range aaep.SubscriberRules {
		if check.Level > r.Level {
			continue
		}
		o, names := *r.rows[check], r.played[check]
		silent := check == aaep.SubConsent || check == aaep.SubCancel || check == aaep.SubOrder ||
			check == aaep.SubEnvelope && r.Level >= 2
		lacks := r.lacks(check)
		switch {
		case len(o.Findings) > 0:
			if lacks != "" && !o.Has(verdict.Error) && !o.Has(verdict.Doubt) {
				o.Doubtf(verdict.At{Path: r.Path}, "", aaep.NotExercised, "%s", lacks)
			}
		case check == aaep.SubManifest && r.has(playManifest):
			o = r.ofManifest()
		case len(names) == 0 || r.aborted[check]:
			o = verdict.Skip("not run: %s", r.unplayed(check))
		case silent && !answered && missing:
			o = verdict.Skip("the subscriber answered no question, so that its silence shows nothing")
		case silent && !answered:
			o.Doubtf(verdict.At{Path: r.Path}, "", aaep.NotExercised,
				"no question of the run was answered, so that silence shows nothing")
		case lacks != "":
			o = verdict.Skip("not run in full: %s", lacks)
		case check == aaep.SubTransport && r.Level == 1:
			o = verdict.Pass("kept the connection; what was announced is for people to attest")
		default:
			o = verdict.Pass("%s over %s", strings.Join(names, ", "), r.transport)
		}
		all.Add(check.ID, aaep.Subscriber, o)
	}
	return all.Results, all.Err
}

// lacks names the plays of a check that were not played to their end; empty: all were. Its caller holds the lock.
func (r *hosting) lacks(check *aaep.Rule) string {
	var missing []string
	for _, p := range plays() {
		if p.check == check && p.level <= r.Level && !slices.Contains(r.played[check], p.name) {
			missing = append(missing, p.name)
		}
	}
	if len(missing) == 0 || check == aaep.SubManifest {
		return ""
	}
	return plain.Count(len(missing), "play") + " not played: " + strings.Join(missing, ", ")
}
