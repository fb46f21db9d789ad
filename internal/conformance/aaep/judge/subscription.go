package judge

import (
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/form"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// The states of a subscription.
const (
	unsubscribed = iota
	requested
	active
	rejected
	closed
)

// subscribed is the subscription that an input shows so far, and what its events came to.
type subscribed struct {
	state     int
	began     bool // the input has a request
	id        string
	asked     []asked     // what has no answer yet
	accepted  aaep.Object // the last subscription.accepted
	honored   aaep.Terms
	wanted    aaep.Terms // what was requested when they were honored
	announced bool       // the first event out of its place is reported
	closed    time.Time  // zero: not known
	answers   int
	closes    int

	events    int  // under honored terms
	untimed   bool // one of them has no time of passing
	bucket    aaep.Bucket
	over      bool                     // an event of the subscription came over its rate
	overs     []overRate               // one for each such subscription
	least     time.Duration            // the smallest time from a timestamp to the passing of its event
	measured  bool                     // least is that of an event
	critical  []delay                  // by critical event
	chunks    map[[2]string]aaep.Place // by session and output, the last chunk if its text ends within a word
	streamed  int                      // chunks
	languages int                      // events that name their language
}

// asked is a request or renegotiation.
type asked struct {
	at           aaep.Place
	renegotiates bool
	capabilities aaep.Object
}

// overRate is the first event that came over a rate.
type overRate struct {
	at   aaep.Place
	rate int64
}

// delay is the time from a critical event's timestamp to its passing.
type delay struct {
	at  aaep.Place
	lag time.Duration
}

// negotiate takes a message into the rules of level 3.
func (s *Stream) negotiate(m *aaep.Message) {
	n, say := &s.subscription, s.sayer(s.own, m.At)
	if !m.IsReply() && !m.IsSubscription() {
		s.underTerms(m, say)
		return
	}
	if aaep.Shapes()[m.Name] == nil {
		return
	}
	if m.Name == aaep.SubscriptionAccepted && len(n.asked) == 0 && reflect.DeepEqual(m.Members, n.accepted) {
		return // the answer comes in the response and in the stream
	}
	aaep.JudgeMembers(aaep.Handshake, m.Name, m.Name, m.Members, say)
	switch m.Name {
	case aaep.SubscriptionRequested:
		n.begin(s, m)
	case aaep.SubscriptionAccepted, aaep.SubscriptionRejected:
		n.answer(m, say)
	case aaep.SubscriptionRenegotiated:
		n.same(m, say)
		n.ask(m)
	case aaep.SubscriptionClosed:
		if n.same(m, say) {
			n.state, n.announced, n.closed, n.id = closed, false, m.Passed, ""
			n.closes++
		}
	default: // a reply
		n.same(m, say)
	}
}

// same reports whether a message is of the subscription that was accepted, and says if it names another.
func (n *subscribed) same(m *aaep.Message, say sayer) bool {
	id := m.Text("subscription_id")
	if n.id == "" || !aaep.IsID(id, "sub_") || id == n.id {
		return true
	}
	say(aaep.Handshake, verdict.Error, "/subscription_id", "other-subscription",
		"subscription_id is %s, that of the subscription is %s", form.Show(id), form.Show(n.id))
	return false
}

func (n *subscribed) ask(m *aaep.Message) {
	inner, _ := m.Members["capabilities"].(aaep.Object)
	n.asked = append(n.asked, asked{m.At, m.Name == aaep.SubscriptionRenegotiated, inner})
}

// begin begins another subscription. What the one before was asked and did not answer stays unanswered.
func (n *subscribed) begin(s *Stream, m *aaep.Message) {
	s.unanswered()
	n.began, n.state, n.announced, n.id, n.over = true, requested, false, "", false
	n.ask(m)
}

// unanswered reports the requests that have no answer.
func (s *Stream) unanswered() {
	n := &s.subscription
	for _, one := range n.asked {
		what := map[bool]string{false: aaep.SubscriptionRequested,
			true: aaep.SubscriptionRenegotiated}[one.renegotiates]
		s.note(s.own, one.at, aaep.Handshake, verdict.Error, "", "no-answer",
			"neither subscription.accepted nor subscription.rejected follows the %s", what)
	}
	n.asked = nil
}

// answer takes a subscription.accepted or subscription.rejected.
func (n *subscribed) answer(m *aaep.Message, say sayer) {
	if len(n.asked) == 0 {
		say(aaep.Handshake, verdict.Error, "", "not-asked", "no request or renegotiation without an answer precedes %s",
			m.Name)
		return
	}
	of := n.asked[0]
	n.asked = n.asked[1:]
	n.answers++
	if m.Name == aaep.SubscriptionRejected {
		n.state, n.announced, n.id = rejected, false, ""
		return
	}
	if n.accepted = m.Members; n.state == closed {
		return // the answer to a renegotiation came too late to matter
	}
	wanted := aaep.Defaults()
	if of.renegotiates {
		n.same(m, say)
		wanted = n.honored
		wanted.Confirms, wanted.Clarifies = n.wanted.Confirms, n.wanted.Clarifies
	} else {
		n.id = strings.Clone(m.Text("subscription_id"))
	}
	n.wanted = wanted.With(of.capabilities)
	n.honored = aaep.Defaults()
	n.honored.Confirms, n.honored.Clarifies = false, false
	inner, _ := m.Members["honored_capabilities"].(aaep.Object)
	n.honored = n.honored.With(inner)
	for _, more := range n.honored.Exceeds(&n.wanted) {
		say(aaep.Honored, verdict.Error, "/honored_capabilities/"+more[0], "more-permissive", "%s", more[1])
	}
	n.state, n.announced = active, false
	n.bucket = aaep.NewBucket(n.honored.Rate, aaep.Capacity(n.honored.Rate), m.Passed)
}

// underTerms holds an event to the terms of its subscription.
func (s *Stream) underTerms(m *aaep.Message, say sayer) {
	n := &s.subscription
	first := func(check *aaep.Rule, severity verdict.Severity, code, format string, args ...any) {
		if !n.announced {
			say(check, severity, "", code, format, args...)
		}
		n.announced = true
	}
	switch n.state {
	case requested:
		first(aaep.Handshake, verdict.Error, "event-before-accepted",
			"the event comes between subscription.request and its answer")
	case rejected:
		first(aaep.Handshake, verdict.Error, "event-after-rejected", "the event comes after subscription.rejected")
	case closed:
		switch after := m.Passed.Sub(n.closed); {
		case m.Passed.IsZero() || n.closed.IsZero():
			first(aaep.Closing, verdict.Warning, "event-after-close",
				"the event comes after subscription.close; the input does not say how long after")
		case after > aaep.CloseAllowed:
			first(aaep.Closing, verdict.Error, "event-after-close",
				"the event passed %v after subscription.close; expected none after %v", after, aaep.CloseAllowed)
		}
	case active:
		n.events++
		n.time(m)
		kind := m.Kind()
		if !m.Critical() && !n.honored.Unread["event_filters"] && n.honored.Hides(kind, m.Foreign) {
			say(aaep.Filters, verdict.Error, "/type", "filtered-out",
				"%s is not critical, and the honored filters exclude it", form.Show(kind))
		}
		n.coalesce(s, m, say)
		n.language(m, say)
	}
}

// time holds an event to the rate, or keeps its delay where it is critical.
func (n *subscribed) time(m *aaep.Message) {
	if m.Passed.IsZero() {
		n.untimed = true
		return
	}
	if !m.Time.IsZero() {
		lag := m.Passed.Sub(m.Time)
		if !n.measured || lag < n.least {
			n.least, n.measured = lag, true
		}
		if m.Critical() {
			n.critical = append(n.critical, delay{m.At, lag})
		}
	}
	if !m.Critical() && n.bucket.Take(m.Passed) > 0 && !n.over {
		n.over = true
		n.overs = append(n.overs, overRate{m.At, n.honored.Rate})
	}
}

// coalesce holds a chunk to the honored boundaries.
func (n *subscribed) coalesce(s *Stream, m *aaep.Message, say sayer) {
	if m.Core != aaep.OutputStreaming {
		return
	}
	n.streamed++
	hint := "none"
	if v, there := m.Members["coalesce_hint"]; there {
		hint, _ = v.(string)
	}
	if !m.IsTrue("complete") && !n.honored.Unread["coalesce_boundaries"] &&
		!slices.Contains(n.honored.Boundaries, strings.ToLower(hint)) {
		pointer := map[bool]string{true: "/coalesce_hint"}[m.Members["coalesce_hint"] != nil]
		say(aaep.Coalescing, verdict.Error, pointer, "boundary",
			"the chunk's coalesce_hint is %s; the honored boundaries "+
				"are %s", form.Show(hint), strings.Join(n.honored.Boundaries, " and "))
	}
	key := [2]string{m.Text("session_id"), m.Text("output_id")}
	chunk := m.Text("chunk")
	if at, there := n.chunks[key]; there && chunk != "" {
		if r, _ := utf8.DecodeRuneInString(chunk); isLatin(r) {
			s.note(s.own, at, aaep.Coalescing, verdict.Warning, "/chunk", "boundary-text",
				"the chunk ends within a word, and its coalesce_hint says that it does not")
		}
		delete(n.chunks, key)
	}
	if r, _ := utf8.DecodeLastRuneInString(chunk); isLatin(r) && slices.Contains(aaep.Hints[1:], hint) {
		if n.chunks == nil {
			n.chunks = map[[2]string]aaep.Place{}
		}
		n.chunks[[2]string{strings.Clone(key[0]), strings.Clone(key[1])}] = m.At
	}
}

func isLatin(r rune) bool { return unicode.Is(unicode.Latin, r) && unicode.IsLetter(r) }

// language holds an event's language to the honored ones.
func (n *subscribed) language(m *aaep.Message, say sayer) {
	hints, _ := m.Members["localization_hints"].(aaep.Object)
	v, there := hints["primary_language"]
	if !there || n.honored.Unread["languages"] {
		return
	}
	n.languages++
	tag, _ := v.(string)
	if !slices.Contains(n.honored.Languages, strings.ToLower(tag)) {
		say(aaep.Language, verdict.Error, "/localization_hints/primary_language", "language",
			"primary_language is %s; the honored languages are %s", form.Show(v), strings.Join(n.honored.Languages,
				", "))
	}
}

// settle says what only the whole input shows of its subscriptions.
func (s *Stream) settle() {
	n := &s.subscription
	if !s.Broken {
		s.unanswered()
	}
	if n.untimed || n.events > 0 && s.frames < s.messages {
		s.note(s.own, aaep.Place{}, aaep.Rate, verdict.Doubt, "", "no-times",
			"the input does not say when each message passed, so that nothing is known of rates and delays")
		return
	}
	for _, one := range n.overs {
		s.note(s.own, one.at, aaep.Rate, verdict.Error, "", "over-rate",
			"the event came over the honored rate of %s a second, with a burst of %g",
			plain.Count(int(min(one.rate, 1<<31)), "event"), aaep.Capacity(one.rate))
	}
	for _, one := range n.critical {
		if one.lag-n.least > aaep.DelayAllowed {
			s.note(s.own, one.at, aaep.Rate, verdict.Error, "", "critical-delayed",
				"the critical event passed %v later after its timestamp than another event of the input did; expected "+
					"at most %v", (one.lag - n.least).Round(time.Millisecond), aaep.DelayAllowed)
		}
	}
}

// ofTerms adds the results of level 3, on the input as a whole.
func (s *Stream) ofTerms(all *conformance.Tally) {
	n := &s.subscription
	for _, check := range aaep.TermRules {
		o := s.own.outcome(check)
		what := plain.Count(n.events, "event") + " under honored terms"
		switch {
		case check == aaep.Handshake:
			what = plain.Count(n.answers, "answer")
		case check == aaep.Honored:
		case check == aaep.Closing && n.closes == 0:
			o.Skipped = "the input closes no subscription"
		case check == aaep.Closing:
			what = "no event after subscription.close"
		case n.events == 0:
			o.Skipped = "no event comes under honored terms"
		case check == aaep.Coalescing:
			what = plain.Count(n.streamed, "chunk")
		case check == aaep.Language:
			what = plain.Count(n.languages, "event") + " with a language"
		}
		switch {
		case !n.began && len(o.Findings) == 0:
			o.Skipped = "the input holds no subscription.request"
		case len(o.Findings) > 0:
			o.Skipped = ""
		}
		o.Verified = what
		all.Add(check.ID, s.own.subject, o.OrPass())
	}
}

// shorten notes which checks of a session lack the events that the subscriber asked not to get. Events that only the
// producer removes are missing.
func (o *session) shorten(n *subscribed) {
	if n.state != active {
		return
	}
	o.jumps = o.jumps || n.wanted.Named || n.honored.Named
	hides := func(kind string) bool { return n.wanted.Hides(aaep.ShortNamespace+kind, false) }
	calls, chunks := hides(aaep.ToolInvoked) || hides(aaep.ToolCompleted), hides(aaep.OutputStreaming)
	for check, missing := range map[*aaep.Rule]bool{aaep.Tools: calls, aaep.Output: chunks,
		aaep.StateRule: calls || chunks || hides(aaep.StateChanged)} {
		if missing && !o.hides(check) {
			o.hidden = append(o.hidden, check)
		}
	}
}

// hides reports whether filters remove what a check needs.
func (o *session) hides(check *aaep.Rule) bool { return slices.Contains(o.hidden, check) }
