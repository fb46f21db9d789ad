package aaep

import (
	"slices"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// question is an awaiting.confirmation or awaiting.clarification.
type question struct {
	of       *session
	confirms bool
	fallback string    // default_decision
	deadline time.Time // zero: timeout and timestamp cannot be read
	answered bool      // by a reply that counts
	decision string    // of that reply
}

// decided is what the question has come to at a time: accept, reject, or empty while it is open.
func (q *question) decided(at time.Time) string {
	switch {
	case q.answered:
		return q.decision
	case !q.deadline.IsZero() && !at.IsZero() && !at.Before(q.deadline):
		return q.fallback
	}
	return ""
}

// maxQuestions is how many confirmations of a session wait to be used; what is older is forgotten.
const maxQuestions = 256

// doubt is a finding that the rest of the input decides.
type doubt struct {
	at          strict.Pos
	unconfirmed bool // no confirmation came before; else one that was open
}

// ask takes an event into the rules of level 2.
func (s *Stream) ask(of *session, m *message, say sayer) {
	switch {
	case m.asks():
		s.open(of, m, say)
	case m.core == stateChanged && m.text("to_state") != "awaiting_input":
		clear(of.asked) // a session that goes on has released its question (section 6.8)
	case m.core == toolInvoked && m.isTrue("irreversible"):
		s.irreversible++
		of.acted++
		s.act(of, m, say)
	}
}

func (s *Stream) open(of *session, m *message, say sayer) {
	q := &question{of: of, confirms: m.core == awaitingConfirmation, fallback: strings.Clone(m.text("default_decision"))}
	if seconds, ok := integer(m.members["timeout_seconds"]); ok && seconds >= 1 && seconds <= 86400 && !m.time.IsZero() {
		q.deadline = m.time.Add(time.Duration(seconds) * time.Second)
	}
	if token := m.text("reply_token"); token != "" {
		if s.questions[token] != nil {
			say(confirmation, verdict.Error, "/reply_token", "token-twice", "reply_token %s was used before", show(token))
		}
		s.questions[strings.Clone(token)] = q
	}
	if !q.confirms {
		return
	}
	of.confirmed = true
	if action := m.text("action"); action != "" {
		if before := of.asked[action]; before != nil && before.decided(m.time) == "" {
			say(confirmation, verdict.Error, "/action", "asked-twice", "the action %s is asked for while the question before it is open",
				show(action))
		}
		if of.asked == nil {
			of.asked = map[string]*question{}
		}
		of.asked[strings.Clone(action)] = q
	}
	if of.questions = append(of.questions, q); len(of.questions) > maxQuestions {
		of.questions = of.questions[1:]
	}
}

// reply takes an answer. The first to each token counts, if it is one that the question takes and is in time
// (section 6.3.4).
func (s *Stream) reply(m *message) {
	q := s.questions[m.text("reply_token")]
	if q == nil || q.answered || q.confirms != (m.name == confirmationReply) {
		return
	}
	decision := m.text("decision")
	if q.confirms && decision != "accept" && decision != "reject" {
		return
	}
	if !q.deadline.IsZero() && m.time.After(q.deadline) {
		return
	}
	q.answered, q.decision = true, strings.Clone(decision)
	if q.of.terminal == "" || q.of.terminal == sessionCompleted {
		q.of.answered++
		at := m.at
		q.of.unfollowed = &at
	}
}

// act holds an irreversible invocation to a confirmation of its own, which it uses up: an accepted one if there is one,
// the newest of them.
func (s *Stream) act(of *session, m *message, say sayer) {
	if len(of.questions) == 0 {
		if of.started {
			say(confirmation, verdict.Error, "", "not-confirmed", "the irreversible tool %s is invoked, no awaiting.confirmation of its own comes before it",
				show(m.text("tool")))
		} else {
			of.doubts = append(of.doubts, doubt{m.at, true})
		}
		return
	}
	used := len(of.questions) - 1
	for i := used; i >= 0; i-- {
		if of.questions[i].decided(m.time) == "accept" {
			used = i
			break
		}
	}
	q := of.questions[used]
	of.questions = slices.Delete(of.questions, used, used+1)
	switch q.decided(m.time) {
	case "accept":
	case "":
		of.doubts = append(of.doubts, doubt{at: m.at})
	default:
		how := "by its default, at the timeout"
		if q.answered {
			how = "by a reply"
		}
		say(blocking, verdict.Error, "", "after-reject", "the irreversible tool %s is invoked, its confirmation was rejected %s",
			show(m.text("tool")), how)
	}
}
