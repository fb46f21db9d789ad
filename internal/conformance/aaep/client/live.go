// Package client holds sessions with a running AAEP producer, and judges what it sends.
package client

import (
	"cmp"
	"context"
	"crypto"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep/judge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/form"
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

// errStop ends the run: what is wrong is a finding. errRejected ends a session whose subscription was rejected.
var (
	errStop     = errors.New("stop")
	errRejected = errors.New("rejected")
)

// visit is a run under way.
type visit struct {
	*Live
	aaep.Steady
	client http.Client
	base   *url.URL
	stream *judge.Stream
	line   int
	left   atomic.Int64 // bytes that may still be read of streams

	arrived
	all      chan heard             // what the streams of the session under way bring
	ahead    *heard                 // the next of it; nil: it was not looked at
	misnamed atomic.Pointer[string] // first event name of a core event that is not an AAEP message

	transport verdict.Outcome
	silent    bool // the run ended because nothing came any more
	probes    map[*aaep.Rule]*probe
	watches   []watch
	finished  int             // scenarios whose sessions ended
	confirms  map[string]bool // the scenarios that asked for a confirmation
	lag       *time.Duration  // the least time between an event's timestamp and its arrival; nil: not known
}

// watch is a call that the producer must not make if it is irreversible. The whole run decides what it is.
type watch struct {
	row            *aaep.Rule
	line           int
	scenario, tool string
	flagged        bool // the call says irreversible: true
}

// probe is what the sessions of a row showed.
type probe struct {
	verdict.Outcome
	scenarios, shown int
	skipped          string // why the last could not be run; empty: it could
	verified         string // what the run showed, for the report
}

// show notes what a session verified.
func (p *probe) show(format string, args ...any) {
	p.shown++
	p.verified = fmt.Sprintf(format, args...)
}

// A probing is how a row is decided: by the scenarios of a reply, or at level 3 by a session of its own.
type probing struct {
	row         *aaep.Rule
	reply, asks string // asks: what a scenario must ask
	hold        func(*visit, context.Context, *probe, Scenario) error
	// code is that of an irreversible call, which cause must not bring about; empty: calls are not watched.
	code, cause string
}

// probings are the rows of a running producer, those of level 3 in the order of their sessions. That of liveClose is
// the last: it leaves a session under way.
func probings() []probing {
	const irreversible = "irreversible question"
	return []probing{
		{row: aaep.LiveForged, reply: replyForged, asks: irreversible, code: "forged-accepted",
			cause: "a reply with a token that was never issued"},
		{row: aaep.LiveTwice, reply: replyTwice, asks: irreversible, code: "second-reply-honored",
			cause: "a reject, which an accept followed"},
		{row: aaep.LiveLate, reply: replyLate, asks: irreversible, code: "late-accepted",
			cause: "an accept that came past the timeout"},
		{row: aaep.LiveTimeout, reply: replyNone, asks: "question"},
		{row: aaep.LiveClarify, reply: replyWrong, asks: "clarification"},
		{row: aaep.LiveHandshake, hold: (*visit).shakeHands},
		{row: aaep.LiveCritical, hold: (*visit).filterAll},
		{row: aaep.LiveRenegotiate, hold: (*visit).slowDown},
		{row: aaep.LiveManifest, hold: (*visit).readManifest},
		{row: aaep.LiveSigned, hold: (*visit).requireSignature},
		{row: aaep.LiveClose, hold: (*visit).walkOut, code: "close-default-not-applied",
			cause: "subscription.close, whose question has a default of reject"},
	}
}

// rowOf returns the row that the scenarios of a reply decide, or nil.
func rowOf(reply string) *aaep.Rule {
	for _, p := range probings() {
		if p.reply == reply {
			return p.row
		}
	}
	return nil
}

// Run holds each scenario with the producer, and gives the results of all that passed and of the live checks. The
// error is the context's where that was canceled; whatever the producer does is in the results.
func (l *Live) Run(ctx context.Context) ([]verdict.Result, error) {
	v := &visit{Live: l, Steady: aaep.Steady{Began: time.Now()}, stream: judge.NewStream(l.Path,
		judge.Options{Level: l.Level}),
		client: http.Client{Transport: l.Transport, CheckRedirect: noRedirect}, confirms: map[string]bool{},
		probes: map[*aaep.Rule]*probe{nil: {}}, arrived: newArrived()}
	for _, p := range probings() {
		v.probes[p.row] = &probe{}
	}
	v.stream.Watched = map[int32]bool{}
	v.left.Store(cmp.Or(l.most, aaep.MaxBytes))
	var last []Scenario // late replies: they show nothing of a producer that does not apply its timeouts
	first := slices.DeleteFunc(slices.Clone(l.Scenarios), func(s Scenario) bool {
		if s.Reply == replyLate {
			last = append(last, s)
		}
		return s.Reply == replyLate
	})
	for _, s := range append(first, last...) {
		p := v.probes[rowOf(s.Reply)]
		p.scenarios++
		if s.Reply == replyLate && v.probes[aaep.LiveTimeout].Has(verdict.Error) {
			p.skipped = "the default is not applied in time, as " + aaep.LiveTimeout.ID + " says"
			continue
		}
		switch v.hold(ctx, s) {
		case nil:
			v.finished++
		case errStop:
			v.stream.Broken = true
		}
		if v.stream.Broken {
			break
		}
	}
	if l.Level >= 3 && !v.stream.Broken {
		v.stream.Broken = v.negotiate(ctx) == errStop
	}
	if err := context.Cause(ctx); errors.Is(err, context.Canceled) {
		return nil, err
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

// record takes a message into the capture and judges it. It returns nil for what is not a JSON object, which is a
// finding. mark names the row of level 3 to whose session the message belongs; it is empty for a scenario.
func (v *visit) record(mark, from string, at time.Time, data []byte) (*aaep.Message, error) {
	line := aaep.AsFrame(mark, from, at, data)
	v.line++
	if v.Capture != nil {
		_, _ = v.Capture.Write(slices.Concat(line, []byte("\n")))
	}
	m, err := v.stream.Take(v.line, 1, line)
	if err != nil {
		return nil, v.broken(verdict.Error, "stream-too-large", "%v", err)
	}
	return m, nil
}

// results returns the results of the stream and of the live checks.
func (v *visit) results() ([]verdict.Result, error) {
	results, err := v.stream.Results()
	all := conformance.Tally{Catalogue: aaep.Catalogue, Results: results, Err: err}
	v.reportWatches()
	if name := v.misnamed.Load(); name != nil {
		v.transport.Warnf(verdict.At{Path: v.Path}, "", "event-name",
			"a core event is named %s; expected aaep.event, message or no name", form.Show(*name))
	}
	if len(v.transport.Findings) == 0 {
		v.transport = verdict.Pass("%s of %s ended", plain.Count(v.finished, "session"),
			plain.Count(len(v.Scenarios), "scenario"))
	}
	v.arrived.report(verdict.At{Path: v.Path}, &v.transport)
	all.Add(aaep.LiveStream.ID, v.URL.Redacted(), v.transport)
	for _, p := range probings() {
		if p.row.Level <= v.Level {
			all.Add(p.row.ID, v.URL.Redacted(), v.outcome(p))
		}
	}
	return all.Results, all.Err
}

// reportWatches reports the calls that a row must not bring about, and those whose kind the run does not show.
func (v *visit) reportWatches() {
	all := probings()
	for _, w := range v.watches {
		by := all[slices.IndexFunc(all, func(p probing) bool { return p.row == w.row })]
		at := verdict.At{Path: v.Path, Line: w.line, Column: 1}
		switch t := v.stream.Tools[w.tool]; {
		case w.flagged || t != nil && t.Irreversible():
			v.probes[w.row].Errorf(at, "", by.code, "an irreversible tool is invoked after %s, in scenario %s",
				by.cause, form.Show(w.scenario))
		case t == nil || !t.Plain():
			v.probes[w.row].Doubtf(at, "", "call-unclear", "a tool is invoked in scenario %s, and nothing in the run "+
				"says whether it is irreversible", form.Show(w.scenario))
		}
	}
}

// outcome returns what a row comes to.
func (v *visit) outcome(by probing) verdict.Outcome {
	p := v.probes[by.row]
	o := p.Outcome
	switch {
	case p.shown > 0:
		if o.Verified = p.verified; by.reply != "" && len(o.Findings) == 0 {
			o.Verified = plain.Count(p.shown, "scenario")
		}
		return o.OrPass()
	case len(o.Findings) > 0:
	case p.skipped != "":
		o.Skipped = p.skipped
	case v.stream.Broken:
		o.Skipped = "not run, as " + aaep.LiveStream.ID + " says"
	case by.reply == "":
		o.Doubtf(verdict.At{Path: v.Path}, "", aaep.NotExercised, "the producer rejected the subscription of the check")
	case p.scenarios == 0:
		o.Skipped = "not run: no scenario has reply " + by.reply
	default:
		o.Doubtf(verdict.At{Path: v.Path}, "", aaep.NotExercised, "no %s was asked in a scenario of reply %s", by.asks,
			by.reply)
	}
	return o
}
