// Package aaep judges a producer of AAEP, the protocol by which an agent tells assistive technology what it does, by
// chapter 9 of its specification: the events of a capture, a running producer, and what is claimed of one.
package aaep

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// Limits of a stream.
const (
	MaxBytes    = 64 << 20 // of the whole
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
	Level int // 1 or 2; 2 includes 1
	// Single judges each message by itself: envelope, schema, summary, urgency and default decision, at any level.
	Single bool
}

// Stream is one input, judged message by message. Its memory grows with its sessions and ids, not with what they say.
type Stream struct {
	Options
	path string

	messages, events, replies int
	own                       *said // what is said of the input as a whole
	eventIDs                  map[string]bool
	byID                      map[string]*session
	sessions                  []*session
	last                      *session             // of the last event, while it is open
	questions                 map[string]*question // by reply_token, the newest of each
	calls                     map[part]*call
	queues                    map[part]*queue
	chunks                    map[part]*chunks
	toolCalls, outputs        int
	irreversible              int

	// Of a running producer: the lines whose irreversible invocation a live check reports, and that the stream was cut
	// short by what a live check reports.
	excused map[int32]bool
	broken  bool
}

// part is what a session names: one map of all sessions' parts is smaller than a map for each session.
type part struct {
	of   *session
	kind byte
	name string
}

// The kinds of a part.
const (
	callByID = iota
	callOfTool
	callWithoutID
	outputByID
)

// NewStream makes the stream that path names in findings and subjects.
func NewStream(path string, o Options) *Stream {
	return &Stream{Options: o, path: path, own: &said{subject: path}, eventIDs: map[string]bool{},
		byID: map[string]*session{}, questions: map[string]*question{}, calls: map[part]*call{},
		queues: map[part]*queue{},
		chunks: map[part]*chunks{}}
}

// sayer adds a finding at a place that it knows. Its code is of that check.
type sayer func(check int, severity verdict.Severity, pointer, code, format string, args ...any)

// note adds a finding at a place.
func (s *Stream) note(to *said, at place, check int, severity verdict.Severity, pointer, code, format string,
	args ...any) {
	if to.counted(check, code) {
		to.found[check] = append(to.found[check], verdict.Finding{Severity: severity, Code: code,
			Pos: strict.Pos{Path: s.path, Line: int(at.line), Column: int(at.column)}, Pointer: pointer,
			Message: fmt.Sprintf(format, args...), Fix: fixOf(Rules[check], code)})
	}
}

func fixOf(rule verdict.Rule, code string) string {
	for _, c := range rule.Codes {
		if c.ID == code {
			return c.Fix
		}
	}
	return rule.Fix
}

// resultOf is the result of the rule of that id on what was found, each finding with the fix of its code.
func resultOf(id, subject string, o verdict.Outcome) (verdict.Result, error) {
	rule := Rules[slices.IndexFunc(Rules, func(r verdict.Rule) bool { return r.ID == id })]
	for i, f := range o.Findings {
		o.Findings[i].Fix = fixOf(rule, f.Code)
	}
	return o.Result(rule, subject)
}

// Add judges one more message, which begins at a place of the input. What is no message is a finding. The error is
// ErrTooMany, ErrSessions or ErrLongMessage.
func (s *Stream) Add(line, column int, data []byte) error {
	m, err := s.parse(line, column, data)
	if err != nil || m == nil {
		return err
	}
	s.judge(m)
	if len(s.sessions) > MaxSessions {
		return ErrSessions
	}
	return nil
}

// parse reads one more message; nil: it is none, which is a finding.
func (s *Stream) parse(line, column int, data []byte) (*message, error) {
	if s.messages++; s.messages > MaxMessages {
		return nil, ErrTooMany
	}
	if len(data) > MaxMessage {
		return nil, fmt.Errorf("line %d: %w", line, ErrLongMessage)
	}
	at := place{int32(line), int32(column)}
	document, err := strict.Parse(s.path, data, limits)
	if err != nil {
		fault := err.(*strict.Error)
		if fault.Pos.Line == 1 {
			fault.Pos.Column += column - 1
		}
		fault.Pos.Line += line - 1
		s.note(s.own, place{int32(fault.Pos.Line), int32(fault.Pos.Column)}, envelope, verdict.Error, fault.Pointer,
			fault.Code, "%s", fault.Message)
		return nil, nil
	}
	members, ok := document.Root.(map[string]any)
	if !ok {
		s.note(s.own, at, envelope, verdict.Error, "", "not-an-object", "the message is %s, an object is needed",
			show(document.Root))
		return nil, nil
	}
	return newMessage(at, members), nil
}

func (s *Stream) judge(m *message) {
	switch {
	case m.isReply():
		if s.replies++; !s.Single {
			s.reply(m)
		}
		return
	case !m.foreign && strings.HasPrefix(m.name, subscription):
		return
	}
	s.events++
	if s.Single {
		s.judgeAlone(m, s.own)
		return
	}
	of := s.sessionOf(m)
	to := s.own
	if of != nil {
		to = of.said
	}
	s.judgeAlone(m, to)
	if text := m.text("event_id"); isID(text, "evt_") {
		if s.eventIDs[text] {
			s.note(to, m.at, envelope, verdict.Error, "/event_id", "event-id-twice", "event_id %s was used before",
				show(text))
		}
		s.eventIDs[strings.Clone(text)] = true
	}
	if of != nil {
		s.follow(of, m)
	}
}

// judgeAlone judges what an event says by itself.
func (s *Stream) judgeAlone(m *message, to *said) {
	say := func(check int, severity verdict.Severity, pointer, code, format string, args ...any) {
		s.note(to, m.at, check, severity, pointer, code, format, args...)
	}
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

// sessionOf is the session that an event belongs to. An event whose session_id cannot be read belongs to the session
// that spoke last, so that one fault is one finding; nil: there is none.
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
		of = new(session)
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
	say := func(check int, severity verdict.Severity, pointer, code, format string, args ...any) {
		s.note(of.said, m.at, check, severity, pointer, code, format, args...)
	}
	of.unfollowed = place{}
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
	s.call(of, m, say)
	s.stream(of, m, say)
	switch m.core {
	case toolInvoked:
		s.toolCalls++
	case outputStreaming:
		s.outputs++
	}
	if s.Level >= 2 {
		s.ask(of, m, say)
	}
}
