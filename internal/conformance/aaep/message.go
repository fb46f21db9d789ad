package aaep

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

func Marshaled(v any) []byte {
	data, _ := json.Marshal(v) // maps, texts and numbers, which have no errors
	return data
}

// Version is that of the specification whose clauses the catalogue cites.
const Version = "1.0.0"

const ContextURL = "https://aaep-protocol.org/context/v1"

// Steady is a clock that no correction of the machine's clock moves.
type Steady struct{ Began time.Time }

func (s Steady) Now() time.Time { return s.Began.Add(time.Since(s.Began)) }

// IsCapture reports whether a file that begins with head is a capture: its first line is a frame.
func IsCapture(head []byte) bool { return bytes.HasPrefix(head, []byte(`{"at":"`)) }

// AsFrame returns a message as a frame, on one line, unless it is not a JSON object.
func AsFrame(mark, from string, at time.Time, data []byte) []byte {
	if bytes.ContainsAny(data, "\r\n") { // where JSON has a line's end a blank does as well
		data = bytes.ReplaceAll(bytes.ReplaceAll(data, []byte("\n"), []byte(" ")), []byte("\r"), []byte(" "))
	}
	if !bytes.HasPrefix(bytes.TrimLeft(data, " \t"), []byte("{")) || !json.Valid(data) {
		return data
	}
	if mark != "" {
		mark = fmt.Sprintf(`"probe":%q,`, mark)
	}
	return fmt.Appendf(nil, `{"at":%q,"from":%q,%s"message":%s}`, at.UTC().Format("2006-01-02T15:04:05.000000Z"),
		from, mark, data)
}

// The namespaces of core types.
const (
	ShortNamespace = "aaep:"
	longNamespace  = "https://aaep-protocol.org/types/"
)

// The core types, without their namespace.
const (
	SessionStarted        = "agent.session.started"
	SessionCompleted      = "agent.session.completed"
	SessionErrored        = "agent.session.errored"
	SessionCancelled      = "agent.session.cancelled"
	StateChanged          = "agent.state.changed"
	ProgressUpdated       = "agent.progress.updated"
	ToolInvoked           = "agent.tool.invoked"
	ToolCompleted         = "agent.tool.completed"
	OutputStreaming       = "agent.output.streaming"
	AwaitingConfirmation  = "agent.awaiting.confirmation"
	AwaitingClarification = "agent.awaiting.clarification"
	HandoffRequested      = "agent.handoff.requested"
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
	ConfirmationReply  = "confirmation.reply"
	ClarificationReply = "clarification.reply"
	negotiation        = "subscription."
)

// Message is one JSON object of a stream, whichever way it passed.
type Message struct {
	At      Place
	Members Object
	Name    string // the type without the protocol's namespace; empty if it is not a text
	// Core is the core type, or "" if it is not a core type; foreign means that the type is in another namespace.
	Core    string
	Foreign bool
	Time    time.Time // zero if no time can be read
	Passed  time.Time // when it passed, by its frame; zero: not known
	// Misplaced means that the party which its frame names does not send messages of its type: it is ignored.
	Misplaced bool
	Probe     string // the row of level 3 whose session it is of, by its frame; empty: none
}

// Place is where a message begins, and whether it is in a frame. A finding's pointer says where it is within.
type Place struct {
	Line, Column int32
	Framed       bool
}

func NewMessage(at Place, members Object) *Message {
	m := &Message{At: at, Members: members}
	name, ours := local(m.Text("type"))
	m.Name = name
	if m.Foreign = !ours && strings.Contains(name, ":"); !m.Foreign {
		m.Core = coreTypes[name]
	}
	m.Time, _ = strict.Time(m.Text("timestamp"))
	return m
}

// local returns a type without the protocol's namespace, and whether it had that, in either spelling.
func local(full string) (name string, ours bool) {
	if name, ours = strings.CutPrefix(full, ShortNamespace); !ours {
		name, ours = strings.CutPrefix(full, longNamespace)
	}
	return name, ours
}

// ReadMessage returns the message that is the JSON object of a text, or nil.
func ReadMessage(text []byte) *Message {
	members := ReadObject(text)
	if members == nil {
		return nil
	}
	return NewMessage(Place{}, members)
}

// ReadObject returns the members of the JSON object of a text, or nil.
func ReadObject(text []byte) Object {
	document, err := strict.Parse("", text, Limits)
	if err != nil {
		return nil
	}
	members, _ := document.Root.(Object)
	return members
}

// Text returns a member that is a text, else "".
func (m *Message) Text(name string) string { return strict.String(m.Members, name) }

// Critical reports whether the event is exempt from filters and rates.
func (m *Message) Critical() bool { return m.Members["urgency"] == "critical" }

// IsTrue reports whether a member is true.
func (m *Message) IsTrue(name string) bool { return m.Members[name] == true }

// Terminal reports whether the event ends its session.
func (m *Message) Terminal() bool {
	return m.Core == SessionCompleted || m.Core == SessionErrored || m.Core == SessionCancelled
}

// Asks reports whether the event asks the user.
func (m *Message) Asks() bool {
	return m.Core == AwaitingConfirmation || m.Core == AwaitingClarification
}

// IsReply reports whether the message answers a question.
func (m *Message) IsReply() bool {
	return !m.Foreign && (m.Name == ConfirmationReply || m.Name == ClarificationReply)
}

// IsSubscription reports whether the message negotiates a subscription.
func (m *Message) IsSubscription() bool { return !m.Foreign && strings.HasPrefix(m.Name, negotiation) }

// IsID reports whether s is the prefix and 1 to 64 ASCII letters or digits.
func IsID(s, prefix string) bool {
	rest, ok := strings.CutPrefix(s, prefix)
	return ok && len(rest) >= 1 && len(rest) <= 64 && strings.IndexFunc(rest, func(r rune) bool {
		return !(r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z')
	}) < 0
}

// UpTo reads up to left bytes, which others may share, and fails where there are more.
type UpTo struct {
	From io.Reader
	Left *atomic.Int64
}

func (w *UpTo) Read(p []byte) (int, error) {
	n, err := w.From.Read(p)
	if w.Left.Add(-int64(n)) < 0 {
		return 0, ErrTooLarge
	}
	return n, err
}

// Limits of a report. What exceeds them counts as well, and is reported as a sum.
const (
	MaxSubjects = 500 // sessions with results of their own
	MaxListed   = 500 // findings of one subject and code
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

// Limits of one message.
var Limits = strict.Limits{Bytes: MaxMessage, Depth: 64, Number: 64, Values: 1 << 16}

// Kind returns the type by the short name of the protocol's namespace.
func (m *Message) Kind() string {
	if m.Foreign {
		return m.Name
	}
	return ShortNamespace + m.Name
}
