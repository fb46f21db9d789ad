package aaep

import (
	"slices"
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// question is an awaiting.confirmation or awaiting.clarification.
type question struct {
	of       *session
	action   string
	deadline int64 // in milliseconds of Unix time; 0: timeout and timestamp cannot be read
	fallback decision
	reply    decision // of the reply that counts
	confirms bool
	unlinked bool // it has no token that a reply could name, which is reported as that
	answered bool // by a reply that counts
	released bool // its session went on, or asked for the action again
}

type decision uint8

// The decisions. A question without one is open.
const (
	undecided decision = iota
	accept
	reject
	unreadable // what would decide is not there, or none of these, which is reported as that
)

func decisionOf(text string) decision {
	return map[string]decision{"accept": accept, "reject": reject}[text]
}

// decided is what the question has come to at a time.
func (q *question) decided(at time.Time) decision {
	switch {
	case q.answered:
		return q.reply
	case q.deadline != 0 && !at.IsZero() && at.UnixMilli() >= q.deadline:
		return q.fallback
	case q.unlinked:
		return unreadable
	}
	return undecided
}

// maxQuestions is how many confirmations of a session wait to be used; what is older is forgotten.
const maxQuestions = 256

// doubt is a finding that the rest of the input decides.
type doubt struct {
	at          place
	unconfirmed bool // no confirmation came before; else one that was open
	before      *doubt
}

// ask takes an event into the rules of level 2.
func (s *Stream) ask(of *session, m *message, say sayer) {
	switch {
	case m.asks():
		s.open(of, m, say)
	case m.core == stateChanged && m.text("to_state") != "awaiting_input":
		for _, q := range of.questions {
			q.released = true // a session that goes on has released its question (section 6.8)
		}
	case m.core == toolInvoked && m.isTrue("irreversible"):
		s.irreversible++
		if !s.excused[m.at.line] {
			s.act(of, m, say)
		}
	}
}

func (s *Stream) open(of *session, m *message, say sayer) {
	q := &question{of: of, confirms: m.core == awaitingConfirmation, fallback: decisionOf(m.text("default_decision"))}
	if seconds, ok := integer(m.members["timeout_seconds"]); ok && seconds >= 1 && seconds <= 86400 &&
		!m.time.IsZero() {
		q.deadline = m.time.UnixMilli() + seconds*1000
	}
	if q.fallback == undecided {
		q.fallback = unreadable
	}
	token := m.text("reply_token")
	if q.unlinked = token == ""; !q.unlinked {
		if s.questions[token] != nil {
			say(confirmation, verdict.Error, "/reply_token", "token-twice", "reply_token %s was used before",
				show(token))
		}
		s.questions[strings.Clone(token)] = q
	}
	if !q.confirms {
		return
	}
	of.confirmed = true
	q.action = strings.Clone(m.text("action"))
	for _, before := range of.questions {
		if q.action == "" || before.action != q.action || before.released {
			continue
		}
		if before.released = true; before.decided(m.time) == undecided {
			say(confirmation, verdict.Error, "/action", "asked-twice",
				"the action %s is asked for while the question before it is open",
				show(q.action))
		}
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
	reply := decisionOf(m.text("decision"))
	late := q.deadline != 0 && !m.time.IsZero() && m.time.UnixMilli() >= q.deadline
	if q.confirms && reply == undecided || late {
		return
	}
	q.answered, q.reply = true, reply
	if q.of.terminal == "" || q.of.terminal == sessionCompleted {
		q.of.answered++
		q.of.unfollowed = m.at
	}
}

// act holds an irreversible invocation to a confirmation of its own, which it uses up: an accepted one if there is one,
// the newest of them.
func (s *Stream) act(of *session, m *message, say sayer) {
	of.acted++
	if len(of.questions) == 0 {
		if of.started {
			say(confirmation, verdict.Error, "", "not-confirmed",
				"the irreversible tool %s is invoked, no awaiting.confirmation of its own comes before it",
				show(m.text("tool")))
		} else {
			of.doubts = &doubt{m.at, true, of.doubts}
		}
		return
	}
	used := len(of.questions) - 1
	for i := used; i >= 0; i-- {
		if of.questions[i].decided(m.time) == accept {
			used = i
			break
		}
	}
	q := of.questions[used]
	of.questions = slices.Delete(of.questions, used, used+1)
	of.held++
	switch q.decided(m.time) {
	case accept, unreadable:
	case undecided:
		of.doubts = &doubt{at: m.at, before: of.doubts}
	default:
		how := "by its default, at the timeout"
		if q.answered {
			how = "by a reply"
		}
		say(blocking, verdict.Error, "", "after-reject",
			"the irreversible tool %s is invoked, its confirmation was rejected %s",
			show(m.text("tool")), how)
	}
}
