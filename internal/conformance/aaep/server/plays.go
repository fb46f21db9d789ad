package server

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/form"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// DecidedBy names the check, the plays or the people that decide a row.
func DecidedBy(rule aaep.Rule) string {
	if _, by, found := strings.Cut(rule.Title, aaep.SeeRow); found {
		return by
	}
	names := playsOf(rule.ID)
	switch {
	case rule.Method == verdict.Attested:
		return "people"
	case len(names) == 1:
		return "the play " + names[0]
	case len(names) > 1:
		return "the plays " + strings.Join(names, ", ")
	case rule.Method == verdict.Live:
		return rule.ID + ", in producer"
	}
	return rule.ID
}

// Play is one play of a run.
type Play struct {
	Name string // for the report; empty: that of the play
	Play string
}

// The plays that the whole run plays, rather than a session.
const (
	playHandshake = "handshake"
	playManifest  = "manifest"
	playShutdown  = "shutdown"
)

// playRow is what a host does, and the check that judges what the subscriber makes of it.
type playRow struct {
	name  string
	level int
	check *aaep.Rule
	act   func(*scene) // nil: the whole run plays it
}

// plays returns all plays in the order of the catalogue.
func plays() []playRow {
	return []playRow{
		{"session", 1, aaep.SubTransport, func(s *scene) {
			s.begin("accounts.read")
			s.end()
		}},
		{"errored", 1, aaep.SubTransport, func(s *scene) {
			s.begin("accounts.read")
			s.enter("thinking")
			s.emit(aaep.SessionErrored, aaep.Object{"urgency": "critical", "error_category": "transient",
				"summary_normal": "The test ended by an error."})
		}},
		{"cancelled", 1, aaep.SubTransport, func(s *scene) {
			s.begin("accounts.read")
			s.enter("thinking")
			s.emit(aaep.SessionCancelled, aaep.Object{"cancelled_by": "user",
				"summary_normal": "The test was cancelled."})
		}},
		{"unknown-type", 1, aaep.SubUnknown, (*scene).unknownType},
		{"unknown-extension", 1, aaep.SubUnknown, (*scene).unknownExtension},
		{"bad-envelope", 1, aaep.SubEnvelope, (*scene).badEnvelope},
		{"accept", 2, aaep.SubReply, func(s *scene) { s.decide("accept") }},
		{"reject", 2, aaep.SubReply, func(s *scene) { s.decide("reject") }},
		{"unanswered", 2, aaep.SubConsent, func(s *scene) {
			s.begin()
			s.confirm(&posed{code: "answered-unasked"}, testSilent)
			s.end()
		}},
		{"freetext", 2, aaep.SubClarify, func(s *scene) { s.clarify("freetext", `Test: answer "blue"`) }},
		{"yes-no", 2, aaep.SubClarify, func(s *scene) { s.clarify("yes_no", "Test: answer yes") }},
		{"multiple-choice", 2, aaep.SubClarify, func(s *scene) { s.clarify("multiple_choice", `Test: choose "b"`) }},
		{"numeric", 2, aaep.SubClarify, func(s *scene) { s.clarify("numeric", "Test: answer 7") }},
		{"withdrawn", 2, aaep.SubCancel, (*scene).withdrawn},
		{"duplicate", 3, aaep.SubOrder, (*scene).duplicate},
		{"out-of-order", 3, aaep.SubOrder, (*scene).outOfOrder},
		{"lower-rate", 3, aaep.SubHandshake, (*scene).lowerRate},
		{playHandshake, 3, aaep.SubHandshake, nil},
		{playManifest, 3, aaep.SubManifest, nil},
		{playShutdown, 3, aaep.SubClose, nil},
	}
}

// AllPlays returns the plays of a level.
func AllPlays(level int) (all []Play) {
	for _, p := range plays() {
		if p.level <= level {
			all = append(all, Play{Play: p.name})
		}
	}
	return all
}

// playNamed returns the play of a name. If no play has it, the result has an empty name.
func playNamed(name string) (found playRow) {
	for _, p := range plays() {
		if p.name == name {
			found = p
		}
	}
	return found
}

// playsOf names the plays that a check judges.
func playsOf(check string) (names []string) {
	for _, p := range plays() {
		if p.check.ID == check {
			names = append(names, p.name)
		}
	}
	return names
}

// scene is a play under way: one session.
type scene struct {
	*hosting
	ctx      context.Context
	link     *connection
	play     playRow
	name     string
	session  string
	state    string
	sequence int
	calls    int
	err      error // what ended the play early: errGone, or the context's; nothing is sent from then on
}

// title names the play in a message.
func (s *scene) title() string {
	if s.name == "" || s.name == s.play.name {
		return s.play.name
	}
	return fmt.Sprintf("%s (%s)", s.play.name, form.Show(s.name))
}

// posed is a question that the host asked.
type posed struct {
	scene    *scene
	token    string
	line     int // line of the capture
	due      time.Time
	confirms bool
	kind     string           // kind of a clarification
	decision string           // that the tester was asked for; empty: any
	code     string           // code of the finding that any reply is; empty: a reply may come
	expected bool             // a reply must come
	missing  verdict.Severity // severity of a missing reply
	repeated bool             // it is sent twice, with one event_id
	replies  int
	got      string // the decision of the first reply
}

// The confirmations that the host asks for, by what the tester does.
const (
	testWait   = "Test: wait 3 seconds, then accept"
	testSilent = "Test: do not answer"
)

// whatever is what a test transfers.
const whatever = "Transfer 1 EUR to savings."

// isGone reports whether the subscriber left. Its caller holds the lock.
func (s *scene) isGone() bool {
	return s.link.left || s.link.grant != nil && s.link.grant.closed
}

// until waits until done reports true, or to a time.
func (s *scene) until(at time.Time, done func() bool) {
	if s.err != nil {
		return
	}
	gone := false
	err := s.wait(s.ctx, at, func() bool {
		gone = s.isGone()
		return gone || done()
	})
	switch {
	case gone:
		s.err = errGone
	case err != errLate:
		s.err = err
	}
}

// idle waits for a time.
func (s *scene) idle(wait time.Duration) { s.until(s.Now().Add(wait), func() bool { return false }) }

// event makes an event of the session. A member that is nil is left out.
func (s *scene) event(kind string, members aaep.Object) packet {
	s.sent++
	if !strings.Contains(kind, ":") {
		kind = aaep.ShortNamespace + kind
	}
	e := aaep.Object{"@context": aaep.ContextURL, "type": kind, "event_id": fmt.Sprintf("evt_%sx%d", s.run, s.sent),
		"session_id": s.session, "sequence_number": s.sequence, "producer": aaep.Object{"agent_id": agentID},
		"timestamp": s.Now().UTC().Format("2006-01-02T15:04:05.000Z")}
	maps.Copy(e, members)
	if e["sequence_number"] != nil {
		s.sequence++
	}
	maps.DeleteFunc(e, func(_ string, v any) bool { return v == nil })
	id, _ := e["event_id"].(string)
	return packet{id: id, data: aaep.Marshaled(e)}
}

// send sends an event at once.
func (s *scene) send(p packet) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil && s.isGone() {
		s.err = errGone
	}
	if s.err != nil {
		return
	}
	s.record(aaep.Producer, p.data)
	if q := p.asks; q != nil && s.asked[q.token] == nil {
		q.line, q.due = s.line, s.Now().Add(s.Timeout)
		s.asked[q.token] = q
	}
	s.push(s.link, p)
}

// emit sends an event that the filters of the subscription let through, when its rate does.
func (s *scene) emit(kind string, members aaep.Object) {
	g := s.terms()
	if g != nil && members["urgency"] != "critical" {
		if g.hides(kind) {
			return
		}
		for wait := time.Nanosecond; wait > 0 && s.err == nil; {
			s.locked(func() { wait = g.bucket.Take(s.Now()) })
			s.idle(wait)
		}
	}
	s.send(s.event(kind, members))
}

// terms returns the subscription of the play, or nil.
func (s *scene) terms() *grant {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.link.grant
}

// hides reports whether the filters remove events of a type, which has a namespace only if it is an extension's.
func (g *grant) hides(kind string) bool {
	if strings.Contains(kind, ":") {
		return g.honored.Hides(kind, true)
	}
	return g.honored.Hides(aaep.ShortNamespace+kind, false)
}

// surely sends an event that a filter must not keep from a play: it is critical if the filters would remove it.
func (s *scene) surely(kind string, members aaep.Object) {
	if g := s.terms(); g != nil && g.hides(kind) {
		members["urgency"] = "critical"
	}
	s.emit(kind, members)
}

// withdraw takes a question back: the session leaves its state.
func (s *scene) withdraw() {
	s.state = "thinking"
	s.surely(aaep.StateChanged, aaep.Object{"from_state": "awaiting_input", "to_state": "thinking"})
}

// begin begins the session, and calls tools that take no irreversible action.
func (s *scene) begin(tools ...string) {
	s.emit(aaep.SessionStarted, aaep.Object{"summary_normal": "A test of oap-gate begins."})
	s.enter("thinking")
	for _, tool := range tools {
		s.call(tool, "low")
	}
}

// enter enters a state.
func (s *scene) enter(state string) {
	from := s.state
	s.state = state
	s.emit(aaep.StateChanged, aaep.Object{"from_state": from, "to_state": state})
}

// call calls a tool; one of high risk takes an irreversible action.
func (s *scene) call(tool, risk string) {
	s.calls++
	id := fmt.Sprintf("call_%d", s.calls)
	s.enter("calling_tool")
	s.emit(aaep.ToolInvoked, aaep.Object{"tool": tool, "tool_call_id": id, "irreversible": risk == "high",
		"risk_level":     risk,
		"summary_normal": "Calling " + tool + "."})
	s.emit(aaep.ToolCompleted, aaep.Object{"tool": tool, "tool_call_id": id, "status": "success"})
}

// end says a sentence and ends the session.
func (s *scene) end() {
	s.enter("writing_output")
	s.emit(aaep.OutputStreaming, aaep.Object{"output_id": "out_1", "chunk": "That is all.", "position": 0,
		"complete":      true,
		"coalesce_hint": "completion"})
	s.enter("thinking")
	s.emit(aaep.SessionCompleted, aaep.Object{"summary_normal": "The test has ended."})
}

// pose makes the event of a question, and expects what q says. A member that is nil is left out.
func (s *scene) pose(q *posed, text string, members aaep.Object) packet {
	token := "rpl_" + strings.ToLower(rand.Text())
	event := aaep.Object{"urgency": "critical", "reply_token": token,
		"timeout_seconds": int(max(s.Timeout/time.Second, 1)), "summary_normal": text}
	kind := aaep.AwaitingClarification
	if q.confirms {
		kind = aaep.AwaitingConfirmation
		maps.Copy(event, aaep.Object{"action": text + ": " + whatever,
			"consequence":      "The bank transfers it at once.",
			"default_decision": "reject", "risk_level": "high", "irreversible": true})
	} else {
		maps.Copy(event, aaep.Object{"question": text, "accepted_response_kinds": []string{q.kind}})
		if q.kind == "multiple_choice" {
			event["choices"] = []aaep.Object{{"value": "a", "label": "A"}, {"value": "b", "label": "B"}}
		}
	}
	maps.Copy(event, members)
	p := s.event(kind, event)
	q.scene, q.token, p.asks = s, token, q
	return p
}

// ask asks a question.
func (s *scene) ask(q *posed, text string) {
	s.enter("awaiting_input")
	s.send(s.pose(q, text, nil))
}

// await waits for a reply to a question until its timeout.
func (s *scene) await(q *posed) { s.until(q.due, func() bool { return q.replies > 0 }) }

// resume follows a confirmation up as a producer does: it acts on an accept.
func (s *scene) resume(q *posed) {
	accepted := false
	s.locked(func() { accepted = q.got == "accept" })
	if accepted {
		s.call("transfer.send", "high")
	} else {
		s.enter("thinking")
	}
}

// confirm asks for a confirmation and follows it up.
func (s *scene) confirm(q *posed, text string) {
	q.confirms = true
	s.ask(q, text)
	s.await(q)
	s.resume(q)
}

func (s *scene) decide(decision string) {
	s.begin()
	s.confirm(&posed{decision: decision, expected: true, missing: verdict.Doubt}, "Test: "+decision)
	s.end()
}

// still sees from level 2 on whether the subscriber answers a question after what the play sent, and ends the session.
func (s *scene) still() {
	if s.Level >= 2 {
		s.confirm(&posed{expected: true, missing: verdict.Error}, "Test: accept")
	}
	s.end()
}

func (s *scene) unknownType() {
	s.begin()
	s.surely("acme:mood.changed", aaep.Object{"mood": "curious",
		"@context": []string{aaep.ContextURL, "https://example.org/acme/context/v1"}})
	s.surely("agent.mood.changed", aaep.Object{"mood": "curious"})
	s.still()
}

func (s *scene) unknownExtension() {
	s.begin()
	s.surely(aaep.ProgressUpdated, aaep.Object{"progress": aaep.Object{"percent": 50}, "extensions": aaep.Object{
		"https://example.org/acme/context/v1": aaep.Object{"mood": []any{"curious", 7, nil}}}})
	s.still()
}

// badEnvelope sends events that lack a member of the envelope, at level 2 a question among them.
func (s *scene) badEnvelope() {
	lacks := []string{"event_id", "session_id", "@context"}
	s.begin()
	for _, name := range lacks {
		s.surely(aaep.ProgressUpdated, aaep.Object{"progress": aaep.Object{"percent": 50}, name: nil,
			"sequence_number": nil}) // a subscriber that drops the event must not miss its number
	}
	if s.Level >= 2 {
		lack := lacks[s.random.IntN(len(lacks))]
		s.send(s.pose(&posed{confirms: true, code: "answered-invalid"}, "Test: accept",
			aaep.Object{lack: nil, "sequence_number": nil}))
		s.idle(s.quiet)
	}
	s.end()
}

func (s *scene) clarify(kind, text string) {
	q := &posed{kind: kind, expected: true, missing: verdict.Doubt}
	s.begin()
	s.ask(q, text)
	s.await(q)
	s.enter("thinking")
	s.end()
}

// withdrawn withdraws a question as soon as it was asked.
func (s *scene) withdrawn() {
	s.begin()
	s.ask(&posed{confirms: true, code: "answered-withdrawn"}, testWait)
	s.withdraw()
	s.idle(s.quiet)
	s.end()
}

func (s *scene) duplicate() {
	q := &posed{confirms: true, decision: "accept", expected: true, missing: verdict.Doubt, repeated: true}
	s.begin()
	s.enter("awaiting_input")
	question := s.pose(q, "Test: accept", nil)
	s.send(question)
	s.send(question)
	s.await(q)
	s.idle(s.pause)
	s.resume(q)
	s.end()
}

// outOfOrder sends the end of a question before the question.
func (s *scene) outOfOrder() {
	s.begin()
	s.enter("awaiting_input")
	question := s.pose(&posed{confirms: true, code: "answered-stale"}, testWait, nil)
	s.withdraw()
	s.send(question)
	s.idle(s.quiet)
	s.end()
}

// lowerRate sends events at the honored rate for 3 s, and asks then.
func (s *scene) lowerRate() {
	s.begin()
	for until := s.Now().Add(3 * time.Second); s.err == nil && s.Now().Before(until); {
		s.emit(aaep.ProgressUpdated, aaep.Object{"progress": aaep.Object{"percent": 50}})
		s.idle(time.Second / maxRate)
	}
	s.still()
}

// unplayed says why the plays of a check were not played.
func (r *hosting) unplayed(check *aaep.Rule) string {
	if !slices.ContainsFunc(r.Host.Plays, func(p Play) bool { return playNamed(p.Play).check == check }) &&
		r.Host.Plays != nil {
		return "no play of --scenario is of it"
	}
	return "the run ended before its " + plain.Plural(len(playsOf(check.ID)), "play", "plays")
}

// ReadPlays reads a YAML list of {name, play}: play is that of a level. The error wraps a *strictyaml.Error where the
// place of the fault is known.
func ReadPlays(path string, data []byte, level int) (all []Play, err error) {
	var known []string
	for _, one := range AllPlays(level) {
		known = append(known, one.Play)
	}
	f, err := aaep.ReadList(path, data, fmt.Sprintf("[].play text one of %s, which is one of level %d: %s required",
		strings.Join(known, " "), level, strings.Join(known, ", ")))
	if err != nil {
		return nil, err
	}
	for _, n := range f.Root.Content {
		all = append(all, Play{Name: aaep.TextOf(n, "name"), Play: aaep.TextOf(n, "play")})
	}
	return all, nil
}
