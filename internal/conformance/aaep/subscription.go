package aaep

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/form"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// terms are the capabilities of a subscription. What could not be read is not judged; unread names it.
type terms struct {
	rate                int64    // events a second; 0: no limit
	languages           []string // in lower case; nil: not judged
	boundaries          []string // the same
	include, exclude    []string // patterns of event types
	named               bool     // the filters are those of a message, not the default
	confirms, clarifies bool     // supports_*_reply
	unread              map[string]bool
}

// defaults returns the terms of section 5.3.1. A request that omits a reply capability does not refuse it.
func defaults() terms {
	return terms{languages: []string{"en-us"}, boundaries: []string{"sentence", "completion"},
		include: []string{shortNamespace + "agent.*"}, confirms: true, clarifies: true, unread: map[string]bool{}}
}

// unknown are the terms of a subscription whose request and answer are not in the input.
func unknown() terms {
	t := terms{unread: map[string]bool{}}
	for _, name := range shapes()[capabilitiesName].Names() {
		t.unread[name] = true
	}
	return t
}

// with returns the terms with those members replaced that are there.
func (t terms) with(members object) terms {
	t.unread = maps.Clone(t.unread)
	of := shapes()[capabilitiesName]
	for _, name := range of.Names() {
		v, there := members[name]
		if !there {
			continue
		}
		if t.unread[name] = !of.Member(name).Holds(v); t.unread[name] {
			v = nil
		}
		switch name {
		case "max_events_per_second":
			t.rate, _ = form.Integer(v)
		case "languages":
			t.languages = mapped(v, strings.ToLower)
		case "coalesce_boundaries":
			t.boundaries = mapped(v, strings.ToLower)
		case "supports_confirmation_reply":
			t.confirms = v == true
		case "supports_clarification_reply":
			t.clarifies = v == true
		case "event_filters":
			filters, _ := v.(object)
			t.named = filters != nil
			t.include, t.exclude = defaults().include, mapped(filters["exclude"], inShort)
			if include, there := filters["include"]; there {
				t.include = mapped(include, inShort)
			}
		}
	}
	return t
}

// mapped returns what a function makes of each text of a list.
func mapped(v any, of func(string) string) (all []string) {
	list, _ := v.([]any)
	for _, v := range list {
		s, _ := v.(string)
		all = append(all, of(s))
	}
	return all
}

// inShort returns a copy of a pattern, by the short name of the protocol's namespace.
func inShort(pattern string) string {
	if rest, long := strings.CutPrefix(pattern, longNamespace); long {
		return shortNamespace + rest
	}
	return strings.Clone(pattern)
}

// under reports whether what a pattern, or a type, names is all named by one of the patterns. A final * is the one
// wildcard.
func under(name string, all []string) bool {
	return slices.ContainsFunc(all, func(pattern string) bool {
		prefix, wild := strings.CutSuffix(pattern, "*")
		return name == pattern || wild && strings.HasPrefix(strings.TrimSuffix(name, "*"), prefix)
	})
}

// hides reports whether the filters remove events of a type. Types of extensions are only filtered by patterns that a
// message names: the default of section 5.3.1.7 names none of them, and no section says that they must not come.
func (t *terms) hides(kind string, foreign bool) bool {
	return under(kind, t.exclude) || (t.named || !foreign) && !under(kind, t.include)
}

// exceeds lists the members of honored terms that grant more than was requested, each with what it grants.
func (t *terms) exceeds(requested *terms) (all [][2]string) {
	add := func(wrong bool, name, format string, args ...any) {
		if wrong && !t.unread[name] && !requested.unread[name] {
			all = append(all, [2]string{name, fmt.Sprintf(format, args...)})
		}
	}
	rate := fmt.Sprint(t.rate)
	if t.rate == 0 {
		rate = "unlimited"
	}
	outside := func(of, in []string) string {
		i := slices.IndexFunc(of, func(s string) bool { return !slices.Contains(in, s) })
		if i < 0 {
			return ""
		}
		return of[i]
	}
	add(requested.rate != 0 && (t.rate == 0 || t.rate > requested.rate), "max_events_per_second",
		"the honored rate is %s; expected at most %d", rate, requested.rate)
	language, boundary := outside(t.languages, requested.languages), outside(t.boundaries, requested.boundaries)
	add(language != "", "languages", "the honored language %s was not requested", show(language))
	add(boundary != "", "coalesce_boundaries", "the honored boundary %s was not requested", show(boundary))
	add(t.confirms && !requested.confirms, "supports_confirmation_reply",
		"supports_confirmation_reply is true; the request says false")
	add(t.clarifies && !requested.clarifies, "supports_clarification_reply",
		"supports_clarification_reply is true; the request says false")
	for _, pattern := range t.include {
		add(!under(pattern, requested.include), "event_filters",
			"the honored include pattern %s lies under no requested one", show(pattern))
	}
	for _, pattern := range requested.exclude {
		add(!under(pattern, t.exclude), "event_filters", "the requested exclude pattern %s lies under no honored one",
			show(pattern))
	}
	return all
}

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
	asked     []asked // what has no answer yet
	accepted  object  // the last subscription.accepted
	honored   terms
	wanted    terms     // what was requested when they were honored
	announced bool      // the first event out of its place is reported
	closed    time.Time // zero: not known
	answers   int
	closes    int

	events    int  // under honored terms
	untimed   bool // one of them has no time of passing
	bucket    bucket
	over      bool                // an event of the subscription came over its rate
	overs     []overRate          // one for each such subscription
	least     time.Duration       // the smallest time from a timestamp to the passing of its event
	measured  bool                // least is that of an event
	critical  []delay             // by critical event
	chunks    map[[2]string]place // by session and output, the last chunk if its text ends within a word
	streamed  int                 // chunks
	languages int                 // events that name their language
}

// asked is a request or renegotiation.
type asked struct {
	at           place
	renegotiates bool
	capabilities object
}

// overRate is the first event that came over a rate.
type overRate struct {
	at   place
	rate int64
}

// delay is the time from a critical event's timestamp to its passing.
type delay struct {
	at  place
	lag time.Duration
}

// negotiate takes a message into the rules of level 3.
func (s *Stream) negotiate(m *message) {
	n, say := &s.subscription, s.sayer(s.own, m.at)
	if !m.isReply() && !m.isSubscription() {
		s.underTerms(m, say)
		return
	}
	if shapes()[m.name] == nil {
		return
	}
	if m.name == subscriptionAccepted && len(n.asked) == 0 && reflect.DeepEqual(m.members, n.accepted) {
		return // the answer comes in the response and in the stream
	}
	judgeMembers(handshake, m.name, m.name, m.members, say)
	switch m.name {
	case subscriptionRequested:
		n.begin(s, m)
	case subscriptionAccepted, subscriptionRejected:
		n.answer(m, say)
	case subscriptionRenegotiated:
		n.same(m, say)
		n.ask(m)
	case subscriptionClosed:
		if n.same(m, say) {
			n.state, n.announced, n.closed, n.id = closed, false, m.passed, ""
			n.closes++
		}
	default: // a reply
		n.same(m, say)
	}
}

// same reports whether a message is of the subscription that was accepted, and says if it names another.
func (n *subscribed) same(m *message, say sayer) bool {
	id := m.text("subscription_id")
	if n.id == "" || !isID(id, "sub_") || id == n.id {
		return true
	}
	say(handshake, verdict.Error, "/subscription_id", "other-subscription",
		"subscription_id is %s, that of the subscription is %s", show(id), show(n.id))
	return false
}

func (n *subscribed) ask(m *message) {
	inner, _ := m.members["capabilities"].(object)
	n.asked = append(n.asked, asked{m.at, m.name == subscriptionRenegotiated, inner})
}

// begin begins another subscription. What the one before was asked and did not answer stays unanswered.
func (n *subscribed) begin(s *Stream, m *message) {
	s.unanswered()
	n.began, n.state, n.announced, n.id, n.over = true, requested, false, "", false
	n.ask(m)
}

// unanswered reports the requests that have no answer.
func (s *Stream) unanswered() {
	n := &s.subscription
	for _, one := range n.asked {
		what := map[bool]string{false: subscriptionRequested, true: subscriptionRenegotiated}[one.renegotiates]
		s.note(s.own, one.at, handshake, verdict.Error, "", "no-answer",
			"neither subscription.accepted nor subscription.rejected follows the %s", what)
	}
	n.asked = nil
}

// answer takes a subscription.accepted or subscription.rejected.
func (n *subscribed) answer(m *message, say sayer) {
	if len(n.asked) == 0 {
		say(handshake, verdict.Error, "", "not-asked", "no request or renegotiation without an answer precedes %s",
			m.name)
		return
	}
	of := n.asked[0]
	n.asked = n.asked[1:]
	n.answers++
	if m.name == subscriptionRejected {
		n.state, n.announced, n.id = rejected, false, ""
		return
	}
	if n.accepted = m.members; n.state == closed {
		return // the answer to a renegotiation came too late to matter
	}
	wanted := defaults()
	if of.renegotiates {
		n.same(m, say)
		wanted = n.honored
		wanted.confirms, wanted.clarifies = n.wanted.confirms, n.wanted.clarifies
	} else {
		n.id = strings.Clone(m.text("subscription_id"))
	}
	n.wanted = wanted.with(of.capabilities)
	n.honored = defaults()
	n.honored.confirms, n.honored.clarifies = false, false
	inner, _ := m.members["honored_capabilities"].(object)
	n.honored = n.honored.with(inner)
	for _, more := range n.honored.exceeds(&n.wanted) {
		say(honored, verdict.Error, "/honored_capabilities/"+more[0], "more-permissive", "%s", more[1])
	}
	n.state, n.announced = active, false
	n.bucket = newBucket(n.honored.rate, capacity(n.honored.rate), m.passed)
}

// capacity returns the capacity of a rate's bucket: the burst of section 5.6.2 and a quarter for jitter.
func capacity(rate int64) float64 { return 1.25 * float64(rate) }

// bucket is a token bucket. With a rate of 0 it has no limit.
type bucket struct {
	rate       int64 // events a second
	most, left float64
	at         time.Time // when that was left
}

func newBucket(rate int64, most float64, at time.Time) bucket { return bucket{rate, most, most, at} }

// take takes a token, or returns how long it takes until there is one.
func (b *bucket) take(now time.Time) time.Duration {
	if b.rate == 0 {
		return 0
	}
	if !b.at.IsZero() {
		b.left = min(b.most, b.left+float64(b.rate)*max(now.Sub(b.at), 0).Seconds())
	}
	if now.After(b.at) {
		b.at = now
	}
	const rounding = 1e-6
	if short := 1 - b.left; short > rounding {
		return time.Duration(short/float64(b.rate)*float64(time.Second)) + time.Millisecond
	}
	b.left--
	return 0
}

// Allowances of section 2.1.
const (
	delayAllowed = 2 * time.Second // for a critical event, beyond the smallest of the input
	closeAllowed = time.Second     // for events on their way when the subscription was closed
)

// underTerms holds an event to the terms of its subscription.
func (s *Stream) underTerms(m *message, say sayer) {
	n := &s.subscription
	first := func(check *rule, severity verdict.Severity, code, format string, args ...any) {
		if !n.announced {
			say(check, severity, "", code, format, args...)
		}
		n.announced = true
	}
	switch n.state {
	case requested:
		first(handshake, verdict.Error, "event-before-accepted",
			"the event comes between subscription.request and its answer")
	case rejected:
		first(handshake, verdict.Error, "event-after-rejected", "the event comes after subscription.rejected")
	case closed:
		switch after := m.passed.Sub(n.closed); {
		case m.passed.IsZero() || n.closed.IsZero():
			first(closing, verdict.Warning, "event-after-close",
				"the event comes after subscription.close; the input does not say how long after")
		case after > closeAllowed:
			first(closing, verdict.Error, "event-after-close",
				"the event passed %v after subscription.close; expected none after %v", after, closeAllowed)
		}
	case active:
		n.events++
		n.time(m)
		kind := m.kind()
		if !m.critical() && !n.honored.unread["event_filters"] && n.honored.hides(kind, m.foreign) {
			say(filters, verdict.Error, "/type", "filtered-out",
				"%s is not critical, and the honored filters exclude it", show(kind))
		}
		n.coalesce(s, m, say)
		n.language(m, say)
	}
}

// kind returns the type by the short name of the protocol's namespace.
func (m *message) kind() string {
	if m.foreign {
		return m.name
	}
	return shortNamespace + m.name
}

// time holds an event to the rate, or keeps its delay where it is critical.
func (n *subscribed) time(m *message) {
	if m.passed.IsZero() {
		n.untimed = true
		return
	}
	if !m.time.IsZero() {
		lag := m.passed.Sub(m.time)
		if !n.measured || lag < n.least {
			n.least, n.measured = lag, true
		}
		if m.critical() {
			n.critical = append(n.critical, delay{m.at, lag})
		}
	}
	if !m.critical() && n.bucket.take(m.passed) > 0 && !n.over {
		n.over = true
		n.overs = append(n.overs, overRate{m.at, n.honored.rate})
	}
}

// coalesce holds a chunk to the honored boundaries.
func (n *subscribed) coalesce(s *Stream, m *message, say sayer) {
	if m.core != outputStreaming {
		return
	}
	n.streamed++
	hint := "none"
	if v, there := m.members["coalesce_hint"]; there {
		hint, _ = v.(string)
	}
	if !m.isTrue("complete") && !n.honored.unread["coalesce_boundaries"] &&
		!slices.Contains(n.honored.boundaries, strings.ToLower(hint)) {
		pointer := map[bool]string{true: "/coalesce_hint"}[m.members["coalesce_hint"] != nil]
		say(coalescing, verdict.Error, pointer, "boundary", "the chunk's coalesce_hint is %s; the honored boundaries "+
			"are %s", show(hint), strings.Join(n.honored.boundaries, " and "))
	}
	key := [2]string{m.text("session_id"), m.text("output_id")}
	chunk := m.text("chunk")
	if at, there := n.chunks[key]; there && chunk != "" {
		if r, _ := utf8.DecodeRuneInString(chunk); isLatin(r) {
			s.note(s.own, at, coalescing, verdict.Warning, "/chunk", "boundary-text",
				"the chunk ends within a word, and its coalesce_hint says that it does not")
		}
		delete(n.chunks, key)
	}
	if r, _ := utf8.DecodeLastRuneInString(chunk); isLatin(r) && slices.Contains(hints[1:], hint) {
		if n.chunks == nil {
			n.chunks = map[[2]string]place{}
		}
		n.chunks[[2]string{strings.Clone(key[0]), strings.Clone(key[1])}] = m.at
	}
}

func isLatin(r rune) bool { return unicode.Is(unicode.Latin, r) && unicode.IsLetter(r) }

// language holds an event's language to the honored ones.
func (n *subscribed) language(m *message, say sayer) {
	hints, _ := m.members["localization_hints"].(object)
	v, there := hints["primary_language"]
	if !there || n.honored.unread["languages"] {
		return
	}
	n.languages++
	tag, _ := v.(string)
	if !slices.Contains(n.honored.languages, strings.ToLower(tag)) {
		say(language, verdict.Error, "/localization_hints/primary_language", "language",
			"primary_language is %s; the honored languages are %s", show(v), strings.Join(n.honored.languages, ", "))
	}
}

// settle says what only the whole input shows of its subscriptions.
func (s *Stream) settle() {
	n := &s.subscription
	if !s.broken {
		s.unanswered()
	}
	if n.untimed || n.events > 0 && s.frames < s.messages {
		s.note(s.own, place{}, rate, verdict.Doubt, "", "no-times",
			"the input does not say when each message passed, so that nothing is known of rates and delays")
		return
	}
	for _, one := range n.overs {
		s.note(s.own, one.at, rate, verdict.Error, "", "over-rate",
			"the event came over the honored rate of %s a second, with a burst of %g",
			plain.Count(int(min(one.rate, 1<<31)), "event"), capacity(one.rate))
	}
	for _, one := range n.critical {
		if one.lag-n.least > delayAllowed {
			s.note(s.own, one.at, rate, verdict.Error, "", "critical-delayed",
				"the critical event passed %v later after its timestamp than another event of the input did; expected "+
					"at most %v", (one.lag - n.least).Round(time.Millisecond), delayAllowed)
		}
	}
}

// ofTerms adds the results of level 3, on the input as a whole.
func (s *Stream) ofTerms(all *conformance.Tally) {
	n := &s.subscription
	for _, check := range termRules {
		o := s.own.outcome(check)
		what := plain.Count(n.events, "event") + " under honored terms"
		switch {
		case check == handshake:
			what = plain.Count(n.answers, "answer")
		case check == honored:
		case check == closing && n.closes == 0:
			o.Skipped = "the input closes no subscription"
		case check == closing:
			what = "no event after subscription.close"
		case n.events == 0:
			o.Skipped = "no event comes under honored terms"
		case check == coalescing:
			what = plain.Count(n.streamed, "chunk")
		case check == language:
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
	o.jumps = o.jumps || n.wanted.named || n.honored.named
	hides := func(kind string) bool { return n.wanted.hides(shortNamespace+kind, false) }
	calls, chunks := hides(toolInvoked) || hides(toolCompleted), hides(outputStreaming)
	for check, missing := range map[*rule]bool{tools: calls, output: chunks,
		state: calls || chunks || hides(stateChanged)} {
		if missing && !o.hides(check) {
			o.hidden = append(o.hidden, check)
		}
	}
}

// hides reports whether filters remove what a check needs.
func (o *session) hides(check *rule) bool { return slices.Contains(o.hidden, check) }
