// Package judge judges the messages of an AAEP producer by the requirements of package aaep.
package judge

import (
	"fmt"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/form"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// Options say what a stream is held to.
type Options struct {
	Level int // 1 to 3; each includes those below
	// Single judges each message by itself: envelope, schema, summary, urgency and default decision, at any level.
	Single bool
}

// Stream is one input, judged message by message. Its memory grows with its sessions and ids, not with what they say.
type Stream struct {
	Options
	path string
	most int64 // bytes that are read

	messages, events, replies int
	frames                    int   // number of messages that are frames
	own                       *said // what is said about the input as a whole
	eventIDs                  map[string]bool
	byID                      map[string]*session
	sessions                  []*session
	last                      *session             // session of the last event, while it is open
	questions                 map[string]*question // by reply_token, the newest of each
	Tools                     map[string]*tool     // of level 2, by name
	toolCalls, outputs        int
	irreversible              int
	subscription              subscribed // of level 3
	probes                    map[string]*Stream
	probeNames                []string // in the order of the input

	// For a running producer: the lines of the calls that a live check judges, and that a live check reports why the
	// stream was cut short.
	Watched map[int32]bool
	Broken  bool
}

// NewStream makes the stream that path names in findings and subjects.
func NewStream(path string, o Options) *Stream {
	return &Stream{Options: o, path: path, most: aaep.MaxBytes, own: &said{subject: path}, eventIDs: map[string]bool{},
		byID: map[string]*session{}, questions: map[string]*question{}, Tools: map[string]*tool{},
		subscription: subscribed{honored: aaep.Unknown()}}
}

// sayer adds a finding at a place that it knows. Its code is of that check.
type sayer func(check *aaep.Rule, severity verdict.Severity, pointer, code, format string, args ...any) *verdict.Finding

// note adds a finding at a place, and returns it for a fix to be set. One that is only counted is in no list.
func (s *Stream) note(to *said, at aaep.Place, check *aaep.Rule, severity verdict.Severity, pointer, code,
	format string,
	args ...any) *verdict.Finding {
	if !to.lists(check, code) {
		return new(verdict.Finding)
	}
	if at.Framed && pointer != "" {
		pointer = "/message" + pointer
	}
	to.found[check] = append(to.found[check], verdict.Finding{Severity: severity, Code: code,
		Pos: strict.Pos{Path: s.path, Line: int(at.Line), Column: int(at.Column)}, Pointer: pointer,
		Message: fmt.Sprintf(format, args...), Fix: check.FixOf(code)})
	return &to.found[check][len(to.found[check])-1]
}

// sayer returns what adds findings at a place.
func (s *Stream) sayer(to *said, at aaep.Place) sayer {
	return func(check *aaep.Rule, severity verdict.Severity, pointer, code, format string,
		args ...any) *verdict.Finding {
		return s.note(to, at, check, severity, pointer, code, format, args...)
	}
}

// Add judges one more message, which begins at a place of the input. A value that is not a message is a finding. The
// error is ErrTooMany, ErrSessions or ErrLongMessage.
func (s *Stream) Add(line, column int, data []byte) error {
	_, err := s.Take(line, column, data)
	return err
}

// Take judges a message as Add does, and returns it; nil: it is not one.
func (s *Stream) Take(line, column int, data []byte) (*aaep.Message, error) {
	m, err := s.parse(line, column, data)
	if err != nil || m == nil {
		return nil, err
	}
	s.judge(m)
	if len(s.sessions) > aaep.MaxSessions {
		return nil, aaep.ErrSessions
	}
	return m, nil
}

// parse reads one more message. If it is not a message, that is a finding, and parse returns nil.
func (s *Stream) parse(line, column int, data []byte) (*aaep.Message, error) {
	if s.messages++; s.messages > aaep.MaxMessages {
		return nil, aaep.ErrTooMany
	}
	if len(data) > aaep.MaxMessage {
		return nil, fmt.Errorf("line %d: %w", line, aaep.ErrLongMessage)
	}
	at := aaep.Place{Line: int32(line), Column: int32(column)}
	document, err := strict.Parse(s.path, data, aaep.Limits)
	if err != nil {
		fault := err.(*strict.Error)
		if fault.Pos.Line == 1 {
			fault.Pos.Column += column - 1
		}
		fault.Pos.Line += line - 1
		s.note(s.own, aaep.Place{Line: int32(fault.Pos.Line), Column: int32(fault.Pos.Column)}, aaep.Envelope,
			verdict.Error,
			fault.Pointer, fault.Code, "%s", fault.Message)
		return nil, nil
	}
	members, ok := document.Root.(aaep.Object)
	if !ok {
		s.note(s.own, at, aaep.Envelope, verdict.Error, "", "not-an-object", "the message is %s; expected an object",
			form.Show(document.Root))
		return nil, nil
	}
	m := aaep.NewMessage(at, members)
	if inner, ok := members["message"].(aaep.Object); ok && members["type"] == nil {
		m = s.unwrap(at, members, inner)
	}
	return m, nil
}

// unwrap reads a frame: a message, when it passed, and which way.
func (s *Stream) unwrap(at aaep.Place, frame, inner aaep.Object) *aaep.Message {
	s.frames++
	m := aaep.NewMessage(aaep.Place{Line: at.Line, Column: at.Column, Framed: true}, inner)
	refuse := func(name, want string) {
		s.note(s.own, at, aaep.Envelope, verdict.Error, "/"+name, "frame", "%s of the frame is %s; expected %s", name,
			form.Show(frame[name]), want)
	}
	var ok bool
	if m.Passed, ok = strict.Time(strict.String(frame, "at")); !ok {
		refuse("at", "an RFC 3339 time with an offset")
	}
	if v, there := frame["probe"]; there {
		if m.Probe, ok = v.(string); !ok || m.Probe == "" || len(m.Probe) > maxProbe {
			refuse("probe", fmt.Sprintf("a text of 1 to %d bytes", maxProbe))
			m.Misplaced = true
		}
	}
	switch from := frame["from"]; {
	case from != aaep.Producer && from != aaep.Subscriber:
		refuse("from", "producer or subscriber")
	case s.Level >= 3 && (m.Name == aaep.SubscriptionRequested || m.Name == aaep.SubscriptionRenegotiated) &&
		from != aaep.Subscriber:
		refuse("from", "subscriber, which requests and renegotiates")
		m.Misplaced = true
	case s.Level >= 3 && (m.Name == aaep.SubscriptionAccepted || m.Name == aaep.SubscriptionRejected) &&
		from != aaep.Producer:
		refuse("from", "producer, which accepts and rejects")
		m.Misplaced = true
	case m.IsSubscription():
	case m.IsReply() && from == aaep.Producer:
		refuse("from", "subscriber, which sends replies")
		m.Misplaced = true
	case !m.IsReply() && from == aaep.Subscriber:
		refuse("from", "producer, which sends events")
	}
	return m
}

func (s *Stream) judge(m *aaep.Message) {
	if m.Misplaced {
		return
	}
	if m.Probe != "" {
		s.probed(m)
		return
	}
	if s.Level >= 3 && !s.Single {
		s.negotiate(m)
	}
	if s.Single {
		s.events++
		if m.IsReply() || m.IsSubscription() {
			judgeOther(m, s.sayer(s.own, m.At))
		} else {
			s.judgeAlone(m, s.own)
		}
		return
	}
	switch {
	case m.IsReply():
		s.replies++
		s.reply(m)
		return
	case m.IsSubscription():
		return
	}
	s.events++
	of := s.sessionOf(m)
	to := s.own
	if of != nil {
		to = of.said
	}
	s.judgeAlone(m, to)
	if text := m.Text("event_id"); aaep.IsID(text, "evt_") {
		if s.eventIDs[text] {
			s.note(to, m.At, aaep.Envelope, verdict.Error, "/event_id", "event-id-twice",
				"event_id %s was used before", form.Show(text))
		}
		s.eventIDs[strings.Clone(text)] = true
	}
	if of != nil {
		s.follow(of, m)
	}
}

// Limits of the sessions of level 3 in one input.
const (
	maxProbe  = 64 // bytes of a name
	maxProbes = 32
)

// probed takes a message of a session of level 3, which is judged only by its terms: such a session ends early, or
// lacks events that were filtered.
func (s *Stream) probed(m *aaep.Message) {
	if s.Level < 3 || s.Single {
		return
	}
	of := s.probes[m.Probe]
	if of == nil {
		if len(s.probes) == maxProbes {
			s.note(s.own, m.At, aaep.Envelope, verdict.Error, "/probe", "frame",
				"probe of the frame is the name of one more session; expected at most %d", maxProbes)
			return
		}
		name := strings.Clone(m.Probe)
		of = NewStream(s.path, Options{Level: s.Level})
		of.own.subject = s.path + "#" + name
		if s.probes == nil {
			s.probes = map[string]*Stream{}
		}
		s.probes[name] = of
		s.probeNames = append(s.probeNames, name)
	}
	of.messages++
	of.frames++
	of.negotiate(m)
}

// judgeAlone judges what an event says by itself.
func (s *Stream) judgeAlone(m *aaep.Message, to *said) {
	say := s.sayer(to, m.At)
	aaep.JudgeEnvelope(m, say)
	if m.Core == "" {
		return
	}
	judgeSchema(m, say)
	judgeSummary(m, say)
	judgeUrgency(m, say)
	if s.Level >= 2 || s.Single {
		judgeDefault(m, say)
	}
}

// sessionOf returns the session that an event belongs to, or nil. An event whose session_id cannot be read belongs to
// the session of the last event, so that one fault is one finding.
func (s *Stream) sessionOf(m *aaep.Message) *session {
	text := m.Text("session_id")
	of := s.byID[text]
	if of == nil && !aaep.IsID(text, "sess_") && m.Core != aaep.SessionStarted && s.last != nil {
		of = s.last
	}
	if of == nil && text == "" {
		return nil
	}
	if of == nil {
		text = strings.Clone(text)
		of = &session{byID: map[string]*call{}, open: map[string][]*call{}, bare: map[string][]*call{},
			byOutput: map[string]*chunks{}}
		if s.byID[text] = of; len(s.sessions) < aaep.MaxSubjects {
			of.said = &said{subject: s.path + "#" + plain.Cut(text, 80)}
		} else {
			of.said = s.own
		}
		s.sessions = append(s.sessions, of)
	}
	return of
}

// follow takes an event into the rules of its session.
func (s *Stream) follow(of *session, m *aaep.Message) {
	of.shorten(&s.subscription)
	all := s.sayer(of.said, m.At)
	say := func(check *aaep.Rule, severity verdict.Severity, pointer, code, format string,
		args ...any) *verdict.Finding {
		if of.hides(check) {
			return new(verdict.Finding)
		}
		return all(check, severity, pointer, code, format, args...)
	}
	of.events++
	of.count(m, say)
	s.bracket(of, m, say)
	if s.last = of; of.terminal != "" {
		s.last = nil
	}
	of.lastAt = m.At
	if m.Core == "" {
		return
	}
	of.core = true
	of.enter(m, say)
	one := of.call(m, say)
	of.stream(m, say)
	switch m.Core {
	case aaep.ToolInvoked:
		s.toolCalls++
	case aaep.OutputStreaming:
		s.outputs++
	}
	if s.Level >= 2 {
		s.ask(of, m, one, say)
	}
}
