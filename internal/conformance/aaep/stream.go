// Package aaep judges producers and subscribers of AAEP by chapter 9 of its specification. AAEP is the protocol by
// which an agent informs assistive technology of what it does.
//
// A [Stream] judges the messages of a capture. [Live] holds sessions with a running producer, and gives a Stream what
// passes. [Host] plays a producer for a running subscriber. A [Claim] is what a text says of either. [Rules] are the
// requirements.
package aaep

import (
	"errors"
	"fmt"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// Limits of a stream.
const (
	MaxBytes    = 64 << 20 // limit of the whole input
	MaxMessages = 200_000
	MaxSessions = 50_000
	MaxMessage  = 1 << 20 // bytes of one message, or of one line
)

// Errors of a stream that is larger than is read.
var (
	ErrTooLarge    = errors.New("the stream has more than 64 MiB")
	ErrTooMany     = errors.New("the stream has more than 200,000 messages")
	ErrSessions    = errors.New("the stream has more than 50,000 sessions")
	ErrLongMessage = errors.New("a message has more than 1 MiB")
)

// limits of one message.
var limits = strict.Limits{Bytes: MaxMessage, Depth: 64, Number: 64, Values: 1 << 16}

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
	tools                     map[string]*tool     // of level 2, by name
	toolCalls, outputs        int
	irreversible              int
	subscription              subscribed // of level 3
	probes                    map[string]*Stream
	probeNames                []string // in the order of the input

	// For a running producer: the lines of the calls that a live check judges, and that a live check reports why the
	// stream was cut short.
	watched map[int32]bool
	broken  bool
}

// NewStream makes the stream that path names in findings and subjects.
func NewStream(path string, o Options) *Stream {
	return &Stream{Options: o, path: path, most: MaxBytes, own: &said{subject: path}, eventIDs: map[string]bool{},
		byID: map[string]*session{}, questions: map[string]*question{}, tools: map[string]*tool{},
		subscription: subscribed{honored: unknown()}}
}

// sayer adds a finding at a place that it knows. Its code is of that check.
type sayer func(check *rule, severity verdict.Severity, pointer, code, format string, args ...any) *verdict.Finding

// note adds a finding at a place, and returns it for a fix to be set. One that is only counted is in no list.
func (s *Stream) note(to *said, at place, check *rule, severity verdict.Severity, pointer, code, format string,
	args ...any) *verdict.Finding {
	if !to.lists(check, code) {
		return new(verdict.Finding)
	}
	if at.framed && pointer != "" {
		pointer = "/message" + pointer
	}
	to.found[check] = append(to.found[check], verdict.Finding{Severity: severity, Code: code,
		Pos: strict.Pos{Path: s.path, Line: int(at.line), Column: int(at.column)}, Pointer: pointer,
		Message: fmt.Sprintf(format, args...), Fix: check.FixOf(code)})
	return &to.found[check][len(to.found[check])-1]
}

// sayer returns what adds findings at a place.
func (s *Stream) sayer(to *said, at place) sayer {
	return func(check *rule, severity verdict.Severity, pointer, code, format string, args ...any) *verdict.Finding {
		return s.note(to, at, check, severity, pointer, code, format, args...)
	}
}

// Add judges one more message, which begins at a place of the input. A value that is not a message is a finding. The
// error is ErrTooMany, ErrSessions or ErrLongMessage.
func (s *Stream) Add(line, column int, data []byte) error {
	_, err := s.take(line, column, data)
	return err
}

// take is Add that returns the message; nil: it is not one.
func (s *Stream) take(line, column int, data []byte) (*message, error) {
	m, err := s.parse(line, column, data)
	if err != nil || m == nil {
		return nil, err
	}
	s.judge(m)
	if len(s.sessions) > MaxSessions {
		return nil, ErrSessions
	}
	return m, nil
}

// parse reads one more message. If it is not a message, that is a finding, and parse returns nil.
func (s *Stream) parse(line, column int, data []byte) (*message, error) {
	if s.messages++; s.messages > MaxMessages {
		return nil, ErrTooMany
	}
	if len(data) > MaxMessage {
		return nil, fmt.Errorf("line %d: %w", line, ErrLongMessage)
	}
	at := place{line: int32(line), column: int32(column)}
	document, err := strict.Parse(s.path, data, limits)
	if err != nil {
		fault := err.(*strict.Error)
		if fault.Pos.Line == 1 {
			fault.Pos.Column += column - 1
		}
		fault.Pos.Line += line - 1
		s.note(s.own, place{line: int32(fault.Pos.Line), column: int32(fault.Pos.Column)}, envelope, verdict.Error,
			fault.Pointer, fault.Code, "%s", fault.Message)
		return nil, nil
	}
	members, ok := document.Root.(object)
	if !ok {
		s.note(s.own, at, envelope, verdict.Error, "", "not-an-object", "the message is %s; expected an object",
			show(document.Root))
		return nil, nil
	}
	m := newMessage(at, members)
	if inner, ok := members["message"].(object); ok && members["type"] == nil {
		m = s.unwrap(at, members, inner)
	}
	return m, nil
}

// unwrap reads a frame: a message, when it passed, and which way.
func (s *Stream) unwrap(at place, frame, inner object) *message {
	s.frames++
	m := newMessage(place{at.line, at.column, true}, inner)
	refuse := func(name, want string) {
		s.note(s.own, at, envelope, verdict.Error, "/"+name, "frame", "%s of the frame is %s; expected %s", name,
			show(frame[name]), want)
	}
	var ok bool
	if m.passed, ok = strict.Time(strict.String(frame, "at")); !ok {
		refuse("at", "an RFC 3339 time with an offset")
	}
	if v, there := frame["probe"]; there {
		if m.probe, ok = v.(string); !ok || m.probe == "" || len(m.probe) > maxProbe {
			refuse("probe", fmt.Sprintf("a text of 1 to %d bytes", maxProbe))
			m.misplaced = true
		}
	}
	switch from := frame["from"]; {
	case from != producer && from != subscriber:
		refuse("from", "producer or subscriber")
	case s.Level >= 3 && (m.name == subscriptionRequested || m.name == subscriptionRenegotiated) && from != subscriber:
		refuse("from", "subscriber, which requests and renegotiates")
		m.misplaced = true
	case s.Level >= 3 && (m.name == subscriptionAccepted || m.name == subscriptionRejected) && from != producer:
		refuse("from", "producer, which accepts and rejects")
		m.misplaced = true
	case m.isSubscription():
	case m.isReply() && from == producer:
		refuse("from", "subscriber, which sends replies")
		m.misplaced = true
	case !m.isReply() && from == subscriber:
		refuse("from", "producer, which sends events")
	}
	return m
}

func (s *Stream) judge(m *message) {
	if m.misplaced {
		return
	}
	if m.probe != "" {
		s.probed(m)
		return
	}
	if s.Level >= 3 && !s.Single {
		s.negotiate(m)
	}
	if s.Single {
		s.events++
		if m.isReply() || m.isSubscription() {
			judgeOther(m, s.sayer(s.own, m.at))
		} else {
			s.judgeAlone(m, s.own)
		}
		return
	}
	switch {
	case m.isReply():
		s.replies++
		s.reply(m)
		return
	case m.isSubscription():
		return
	}
	s.events++
	of := s.sessionOf(m)
	to := s.own
	if of != nil {
		to = of.said
	}
	s.judgeAlone(m, to)
	if text := m.text("event_id"); isID(text, "evt_") {
		if s.eventIDs[text] {
			s.note(to, m.at, envelope, verdict.Error, "/event_id", "event-id-twice",
				"event_id %s was used before", show(text))
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
func (s *Stream) probed(m *message) {
	if s.Level < 3 || s.Single {
		return
	}
	of := s.probes[m.probe]
	if of == nil {
		if len(s.probes) == maxProbes {
			s.note(s.own, m.at, envelope, verdict.Error, "/probe", "frame",
				"probe of the frame is the name of one more session; expected at most %d", maxProbes)
			return
		}
		name := strings.Clone(m.probe)
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
func (s *Stream) judgeAlone(m *message, to *said) {
	say := s.sayer(to, m.at)
	judgeEnvelope(m, say)
	if m.core == "" {
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
func (s *Stream) sessionOf(m *message) *session {
	text := m.text("session_id")
	of := s.byID[text]
	if of == nil && !isID(text, "sess_") && m.core != sessionStarted && s.last != nil {
		of = s.last
	}
	if of == nil && text == "" {
		return nil
	}
	if of == nil {
		text = strings.Clone(text)
		of = &session{byID: map[string]*call{}, open: map[string][]*call{}, bare: map[string][]*call{},
			byOutput: map[string]*chunks{}}
		if s.byID[text] = of; len(s.sessions) < maxSubjects {
			of.said = &said{subject: s.path + "#" + plain.Cut(text, 80)}
		} else {
			of.said = s.own
		}
		s.sessions = append(s.sessions, of)
	}
	return of
}

// follow takes an event into the rules of its session.
func (s *Stream) follow(of *session, m *message) {
	of.shorten(&s.subscription)
	all := s.sayer(of.said, m.at)
	say := func(check *rule, severity verdict.Severity, pointer, code, format string, args ...any) *verdict.Finding {
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
	of.lastAt = m.at
	if m.core == "" {
		return
	}
	of.core = true
	of.enter(m, say)
	one := of.call(m, say)
	of.stream(m, say)
	switch m.core {
	case toolInvoked:
		s.toolCalls++
	case outputStreaming:
		s.outputs++
	}
	if s.Level >= 2 {
		s.ask(of, m, one, say)
	}
}
