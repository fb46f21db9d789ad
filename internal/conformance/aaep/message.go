package aaep

import (
	"strings"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/form"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// The namespaces of core types.
const (
	shortNamespace = "aaep:"
	longNamespace  = "https://aaep-protocol.org/types/"
)

// The core types, without their namespace.
const (
	sessionStarted        = "agent.session.started"
	sessionCompleted      = "agent.session.completed"
	sessionErrored        = "agent.session.errored"
	sessionCancelled      = "agent.session.cancelled"
	stateChanged          = "agent.state.changed"
	progressUpdated       = "agent.progress.updated"
	toolInvoked           = "agent.tool.invoked"
	toolCompleted         = "agent.tool.completed"
	outputStreaming       = "agent.output.streaming"
	awaitingConfirmation  = "agent.awaiting.confirmation"
	awaitingClarification = "agent.awaiting.clarification"
	handoffRequested      = "agent.handoff.requested"
)

// coreTypes are the core types by themselves: a part of a message would keep all of its text in memory.
var coreTypes = func() map[string]string {
	types := map[string]string{}
	for _, m := range coreTable {
		types[m.name] = m.name
	}
	return types
}()

// What passes from the subscriber to the producer.
const (
	confirmationReply  = "confirmation.reply"
	clarificationReply = "clarification.reply"
	negotiation        = "subscription."
)

// message is one JSON object of a stream, whichever way it passed.
type message struct {
	at      place
	members object
	name    string // the type without the protocol's namespace; empty if it is not a text
	// core is the core type, or "" if it is not a core type; foreign means that the type is in another namespace.
	core    string
	foreign bool
	time    time.Time // zero if no time can be read
	passed  time.Time // when it passed, by its frame; zero: not known
	// misplaced means that the party which its frame names does not send messages of its type: it is ignored.
	misplaced bool
	probe     string // the row of level 3 whose session it is of, by its frame; empty: none
}

// place is where a message begins, and whether it is in a frame. A finding's pointer says where it is within.
type place struct {
	line, column int32
	framed       bool
}

func newMessage(at place, members object) *message {
	m := &message{at: at, members: members}
	name, ours := local(m.text("type"))
	m.name = name
	if m.foreign = !ours && strings.Contains(name, ":"); !m.foreign {
		m.core = coreTypes[name]
	}
	m.time, _ = strict.Time(m.text("timestamp"))
	return m
}

// local returns a type without the protocol's namespace, and whether it had that, in either spelling.
func local(full string) (name string, ours bool) {
	if name, ours = strings.CutPrefix(full, shortNamespace); !ours {
		name, ours = strings.CutPrefix(full, longNamespace)
	}
	return name, ours
}

// readMessage returns the message that is the JSON object of a text, or nil.
func readMessage(text []byte) *message {
	members := readObject(text)
	if members == nil {
		return nil
	}
	return newMessage(place{}, members)
}

// readObject returns the members of the JSON object of a text, or nil.
func readObject(text []byte) object {
	document, err := strict.Parse("", text, limits)
	if err != nil {
		return nil
	}
	members, _ := document.Root.(object)
	return members
}

// text returns a member that is a text, else "".
func (m *message) text(name string) string { return strict.String(m.members, name) }

// critical reports whether the event is exempt from filters and rates.
func (m *message) critical() bool { return m.members["urgency"] == "critical" }

// isTrue reports whether a member is true.
func (m *message) isTrue(name string) bool { return m.members[name] == true }

// terminal reports whether the event ends its session.
func (m *message) terminal() bool {
	return m.core == sessionCompleted || m.core == sessionErrored || m.core == sessionCancelled
}

// asks reports whether the event asks the user.
func (m *message) asks() bool {
	return m.core == awaitingConfirmation || m.core == awaitingClarification
}

// isReply reports whether the message answers a question.
func (m *message) isReply() bool {
	return !m.foreign && (m.name == confirmationReply || m.name == clarificationReply)
}

// isSubscription reports whether the message negotiates a subscription.
func (m *message) isSubscription() bool { return !m.foreign && strings.HasPrefix(m.name, negotiation) }

// isID reports whether s is the prefix and 1 to 64 ASCII letters or digits.
func isID(s, prefix string) bool {
	rest, ok := strings.CutPrefix(s, prefix)
	return ok && len(rest) >= 1 && len(rest) <= 64 && strings.IndexFunc(rest, func(r rune) bool {
		return !(r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z')
	}) < 0
}

// show formats a value for a message, cut.
func show(v any) string { return form.Show(v) }
