package aaep

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

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
	check *rule
	act   func(*scene) error // nil: the whole run plays it
}

// plays returns all plays in the order of the catalogue.
func plays() []playRow {
	return []playRow{
		{"session", 1, subTransport, func(s *scene) error { return s.whole(s.end) }},
		{"errored", 1, subTransport, func(s *scene) error {
			return s.whole(s.enter("thinking"), s.step(sessionErrored, map[string]any{"urgency": "critical",
				"error_category": "transient", "summary_normal": "The test ended by an error."}))
		}},
		{"cancelled", 1, subTransport, func(s *scene) error {
			return s.whole(s.enter("thinking"), s.step(sessionCancelled, map[string]any{"cancelled_by": "user",
				"summary_normal": "The test was cancelled."}))
		}},
		{"unknown-type", 1, subUnknown, (*scene).unknownType},
		{"unknown-extension", 1, subUnknown, (*scene).unknownExtension},
		{"bad-envelope", 1, subEnvelope, (*scene).badEnvelope},
		{"accept", 2, subReply, func(s *scene) error { return s.decide("accept") }},
		{"reject", 2, subReply, func(s *scene) error { return s.decide("reject") }},
		{"unanswered", 2, subConsent, (*scene).unanswered},
		{"freetext", 2, subClarify, func(s *scene) error { return s.clarify("freetext", `Test: answer "blue"`) }},
		{"yes-no", 2, subClarify, func(s *scene) error { return s.clarify("yes_no", "Test: answer yes") }},
		{"multiple-choice", 2, subClarify, func(s *scene) error {
			return s.clarify("multiple_choice", `Test: choose "b"`)
		}},
		{"numeric", 2, subClarify, func(s *scene) error { return s.clarify("numeric", "Test: answer 7") }},
		{"withdrawn", 2, subCancel, (*scene).withdrawn},
		{"duplicate", 3, subOrder, (*scene).duplicate},
		{"out-of-order", 3, subOrder, (*scene).outOfOrder},
		{"lower-rate", 3, subHandshake, (*scene).lowerRate},
		{playHandshake, 3, subHandshake, nil},
		{playManifest, 3, subManifest, nil},
		{playShutdown, 3, subClose, nil},
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

// agentID is that of the host.
const agentID = "oap-gate"

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
}

// title names the play in a message.
func (s *scene) title() string {
	if s.name == "" || s.name == s.play.name {
		return s.play.name
	}
	return fmt.Sprintf("%s (%s)", s.play.name, show(s.name))
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

// until waits until done reports true. The errors are errLate, errGone and the context's.
func (s *scene) until(at time.Time, done func() bool) error {
	gone := false
	err := s.wait(s.ctx, at, func() bool {
		gone = s.isGone()
		return gone || done()
	})
	if gone {
		return errGone
	}
	return err
}

// idle waits to a time. The errors are errGone and the context's.
func (s *scene) idle(at time.Time) error {
	err := s.until(at, func() bool { return false })
	if err == errLate {
		return nil
	}
	return err
}

// quietly waits for as long as no reply may come.
func (s *scene) quietly() error { return s.idle(s.now().Add(s.quietTime())) }

// event makes an event of the session. A member that is nil is left out.
func (s *scene) event(kind string, members map[string]any) packet {
	s.sent++
	if !strings.Contains(kind, ":") {
		kind = shortNamespace + kind
	}
	e := map[string]any{"@context": contextURL, "type": kind, "event_id": fmt.Sprintf("evt_%sx%d", s.run, s.sent),
		"session_id": s.session, "sequence_number": s.sequence, "producer": map[string]any{"agent_id": agentID},
		"timestamp": s.now().UTC().Format("2006-01-02T15:04:05.000Z")}
	maps.Copy(e, members)
	if e["sequence_number"] != nil {
		s.sequence++
	}
	maps.DeleteFunc(e, func(_ string, v any) bool { return v == nil })
	id, _ := e["event_id"].(string)
	return packet{id: id, data: marshaled(e)}
}

// send sends an event at once.
func (s *scene) send(p packet) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.isGone() {
		return errGone
	}
	s.record(producer, p.data)
	if q := p.asks; q != nil && s.asked[q.token] == nil {
		q.line, q.due = s.line, s.now().Add(s.Timeout)
		s.asked[q.token] = q
	}
	s.push(s.link, p)
	return nil
}

// emit sends an event that the filters of the subscription let through, when its rate does.
func (s *scene) emit(kind string, members map[string]any) error {
	if g := s.terms(); members["urgency"] != "critical" {
		if g != nil && g.hides(kind) {
			return nil
		}
		for g != nil && g.honored.rate > 0 {
			now := s.now()
			s.mu.Lock()
			g.bucket = min(float64(g.honored.rate), g.bucket+float64(g.honored.rate)*now.Sub(g.filled).Seconds())
			g.filled = now
			short := 1 - g.bucket
			if short <= 0 {
				g.bucket--
			}
			s.mu.Unlock()
			if short <= 0 {
				break
			}
			wait := time.Duration(short/float64(g.honored.rate)*float64(time.Second)) + time.Millisecond
			if err := s.idle(now.Add(wait)); err != nil {
				return err
			}
		}
	}
	return s.send(s.event(kind, members))
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
		return g.honored.hides(kind, true)
	}
	return g.honored.hides(shortNamespace+kind, false)
}

// surely sends an event that a filter must not keep from a play: it is critical if the filters would remove it.
func (s *scene) surely(kind string, members map[string]any) error {
	if g := s.terms(); g != nil && g.hides(kind) {
		members["urgency"] = "critical"
	}
	return s.emit(kind, members)
}

// withdraw takes a question back: the session leaves its state.
func (s *scene) withdraw() error {
	s.state = "thinking"
	return s.surely(stateChanged, map[string]any{"from_state": "awaiting_input", "to_state": "thinking"})
}

// each runs steps until one fails.
func each(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

func (s *scene) begin() error {
	return each(s.step(sessionStarted, map[string]any{"summary_normal": "A test of oap-gate begins."}),
		s.enter("thinking"))
}

// step returns the step that emits an event.
func (s *scene) step(kind string, members map[string]any) func() error {
	return func() error { return s.emit(kind, members) }
}

// enter returns the step that enters a state.
func (s *scene) enter(state string) func() error {
	return func() error {
		from := s.state
		s.state = state
		return s.emit(stateChanged, map[string]any{"from_state": from, "to_state": state})
	}
}

// call calls a tool that takes an irreversible action or none.
func (s *scene) call(tool string, irreversible bool) error {
	s.calls++
	id, risk := fmt.Sprintf("call_%d", s.calls), "low"
	if irreversible {
		risk = "high"
	}
	return each(s.enter("calling_tool"), s.step(toolInvoked, map[string]any{"tool": tool, "tool_call_id": id,
		"irreversible": irreversible, "risk_level": risk, "summary_normal": "Calling " + tool + "."}),
		s.step(toolCompleted, map[string]any{"tool": tool, "tool_call_id": id, "status": "success"}))
}

// end says a sentence and ends the session.
func (s *scene) end() error {
	return each(s.enter("writing_output"), s.step(outputStreaming, map[string]any{"output_id": "out_1",
		"chunk": "That is all.", "position": 0, "complete": true, "coalesce_hint": "completion"}),
		s.enter("thinking"), s.step(sessionCompleted, map[string]any{"summary_normal": "The test has ended."}))
}

// whole plays a session with a call, and its last steps.
func (s *scene) whole(last ...func() error) error {
	return each(s.begin, func() error { return s.call("accounts.read", false) }, func() error { return each(last...) })
}

// pose makes the event of a question, and expects what q says. A member that is nil is left out.
func (s *scene) pose(q *posed, text string, members map[string]any) packet {
	token := "rpl_" + strings.ToLower(rand.Text())
	event := map[string]any{"urgency": "critical", "reply_token": token,
		"timeout_seconds": int(max(s.Timeout/time.Second, 1)), "summary_normal": text}
	kind := awaitingClarification
	if q.confirms {
		kind = awaitingConfirmation
		maps.Copy(event, map[string]any{"action": text + ": " + whatever,
			"consequence":      "The bank transfers it at once.",
			"default_decision": "reject", "risk_level": "high", "irreversible": true})
	} else {
		maps.Copy(event, map[string]any{"question": text, "accepted_response_kinds": []string{q.kind}})
		if q.kind == "multiple_choice" {
			event["choices"] = []map[string]any{{"value": "a", "label": "A"}, {"value": "b", "label": "B"}}
		}
	}
	maps.Copy(event, members)
	p := s.event(kind, event)
	q.scene, q.token, p.asks = s, token, q
	return p
}

// ask asks a question, and waits for a reply until its timeout.
func (s *scene) ask(q *posed, text string) error {
	err := each(s.enter("awaiting_input"), func() error { return s.send(s.pose(q, text, nil)) })
	if err != nil {
		return err
	}
	if err = s.until(q.due, func() bool { return q.replies > 0 }); err == errLate {
		return nil
	}
	return err
}

// resume follows a confirmation up as a producer does: it acts on an accept.
func (s *scene) resume(q *posed) error {
	accepted := false
	s.locked(func() { accepted = q.got == "accept" })
	if accepted {
		return s.call("transfer.send", true)
	}
	return s.enter("thinking")()
}

// confirm asks for a confirmation and follows it up.
func (s *scene) confirm(q *posed, text string) error {
	q.confirms = true
	return each(func() error { return s.ask(q, text) }, func() error { return s.resume(q) })
}

func (s *scene) decide(decision string) error {
	q := &posed{decision: decision, expected: true, missing: verdict.Doubt}
	return each(s.begin, func() error { return s.confirm(q, "Test: "+decision) }, s.end)
}

// still sees from level 2 on whether the subscriber answers a question after what the play sent.
func (s *scene) still() error {
	if s.Level < 2 {
		return nil
	}
	return s.confirm(&posed{expected: true, missing: verdict.Error}, "Test: accept")
}

func (s *scene) unknownType() error {
	return each(s.begin, func() error {
		return s.surely("acme:mood.changed", map[string]any{"mood": "curious",
			"@context": []string{contextURL, "https://example.org/acme/context/v1"}})
	}, func() error { return s.surely("agent.mood.changed", map[string]any{"mood": "curious"}) }, s.still, s.end)
}

func (s *scene) unknownExtension() error {
	extensions := map[string]any{"https://example.org/acme/context/v1": map[string]any{
		"mood": []any{"curious", 7, nil}}}
	return each(s.begin, func() error {
		return s.surely(progressUpdated, map[string]any{"progress": map[string]any{"percent": 50},
			"extensions": extensions})
	}, s.still, s.end)
}

// badEnvelope sends events that lack a member of the envelope, at level 2 a question among them.
func (s *scene) badEnvelope() error {
	lacks := []string{"event_id", "session_id", "@context"}
	steps := []func() error{s.begin}
	for _, name := range lacks {
		steps = append(steps, func() error {
			return s.surely(progressUpdated, map[string]any{"progress": map[string]any{"percent": 50}, name: nil,
				"sequence_number": nil}) // a subscriber that drops the event must not miss its number
		})
	}
	if s.Level >= 2 {
		q := &posed{confirms: true, code: "answered-invalid"}
		steps = append(steps, func() error {
			lack := lacks[s.random.IntN(len(lacks))]
			return s.send(s.pose(q, "Test: accept", map[string]any{lack: nil, "sequence_number": nil}))
		}, s.quietly)
	}
	return each(append(steps, s.end)...)
}

func (s *scene) unanswered() error {
	q := &posed{code: "answered-unasked"}
	return each(s.begin, func() error { return s.confirm(q, testSilent) }, s.end)
}

func (s *scene) clarify(kind, text string) error {
	q := &posed{kind: kind, expected: true, missing: verdict.Doubt}
	return each(s.begin, func() error { return s.ask(q, text) }, s.enter("thinking"), s.end)
}

// withdrawn withdraws a question as soon as it was asked.
func (s *scene) withdrawn() error {
	q := &posed{confirms: true, code: "answered-withdrawn"}
	return each(s.begin, s.enter("awaiting_input"), func() error { return s.send(s.pose(q, testWait, nil)) },
		s.withdraw, s.quietly, s.end)
}

func (s *scene) duplicate() error {
	q := &posed{confirms: true, decision: "accept", expected: true, missing: verdict.Doubt, repeated: true}
	var p packet
	return each(s.begin, s.enter("awaiting_input"), func() error {
		p = s.pose(q, "Test: accept", nil)
		return s.send(p)
	}, func() error { return s.send(p) }, func() error {
		if err := s.until(q.due, func() bool { return q.replies > 0 }); err != errLate && err != nil {
			return err
		}
		return s.idle(s.now().Add(s.pauseTime()))
	}, func() error { return s.resume(q) }, s.end)
}

// outOfOrder sends the end of a question before the question.
func (s *scene) outOfOrder() error {
	q := &posed{confirms: true, code: "answered-stale"}
	return each(s.begin, s.enter("awaiting_input"), func() error {
		question := s.pose(q, testWait, nil)
		return each(s.withdraw, func() error { return s.send(question) })
	}, s.quietly, s.end)
}

// lowerRate sends events at the honored rate for 3 s, and asks then.
func (s *scene) lowerRate() error {
	err := s.begin()
	for until := s.now().Add(3 * time.Second); err == nil && s.now().Before(until); {
		err = s.emit(progressUpdated, map[string]any{"progress": map[string]any{"percent": 50}})
		if err == nil {
			err = s.idle(s.now().Add(time.Second / maxRate))
		}
	}
	return each(func() error { return err }, s.still, s.end)
}

// answered judges a reply to a question, and reports whether it counts. Its caller holds the lock.
func (r *hosting) answered(q *posed, m *message) (counts bool) {
	check, line, title := q.scene.play.check, r.line, q.scene.title()
	q.replies++
	if q.replies > 1 {
		if q.repeated {
			r.noteAt(line, check, verdict.Error, "", "answered-twice",
				"the question of the play %s came twice with one event_id, and has two replies", title)
		} else {
			r.noteAt(line, subReply, verdict.Warning, "", "answered-twice",
				"the question of the play %s has two replies", title)
		}
		return false
	}
	if q.code != "" {
		what := map[string]string{"answered-invalid": "the question lacks a member of its envelope",
			"answered-unasked":   "the tester was asked not to answer",
			"answered-withdrawn": "the session had gone on, which withdraws the question",
			"answered-stale":     "the session had gone on, by the sequence_number of the events"}[q.code]
		r.noteAt(line, check, verdict.Error, "", q.code, "a reply came in the play %s; %s", title, what)
		return false
	}
	late := r.now().After(q.due)
	if late {
		where := subReply
		if check == subClarify {
			where = subClarify
		}
		r.noteAt(line, where, verdict.Warning, "", "late-reply",
			"the reply in the play %s came more than %v after the question", title, r.Timeout)
	}
	if q.confirms != (m.name == confirmationReply) {
		r.noteAt(line, subReply, verdict.Error, "/type", "member-value",
			"type is %s, which does not answer the question of the play %s", show(m.name), title)
		return false
	}
	if q.confirms {
		got := m.text("decision")
		if !late {
			q.got = got
		}
		severity := verdict.Error
		if q.decision == "accept" {
			severity = verdict.Doubt // the tester may not have wanted to
		}
		if q.decision != "" && got != q.decision && decisions.holds(got) {
			r.noteAt(line, subReply, severity, "/decision", "other-decision",
				"decision is %s in the play %s; the tester was asked to %s", show(got), title, q.decision)
		}
		return !late
	}
	r.responds(q, m.members["response"], title)
	return !late
}

// responds judges the response to a clarification. Its caller holds the lock.
func (r *hosting) responds(q *posed, v any, title string) {
	_, isNumber := v.(json.Number)
	text, isText := v.(string)
	_, isBool := v.(bool)
	if !isNumber && !isBool && text == "" {
		return // see judge
	}
	want, ok := "a text", isText
	switch q.kind {
	case "yes_no":
		want, ok = "true or false", isBool
	case "numeric":
		want, ok = "a number", isNumber
	}
	switch {
	case !ok:
		r.noteAt(r.line, subClarify, verdict.Error, "/response", "response-kind",
			"response is %s in the play %s; expected %s", show(v), title, want)
	case q.kind == "multiple_choice" && text != "a" && text != "b":
		r.noteAt(r.line, subClarify, verdict.Error, "/response", "response-choice",
			"response is %s in the play %s; expected one of the choices, a or b", show(v), title)
	}
}

// unplayed says why the plays of a check were not played.
func (r *hosting) unplayed(check *rule) string {
	if !slices.ContainsFunc(r.Host.Plays, func(p Play) bool { return playNamed(p.Play).check == check }) &&
		r.Host.Plays != nil {
		return "no play of --scenario is of it"
	}
	return "the run ended before its " + plain.Plural(len(playsOf(check.ID)), "play", "plays")
}
