package aaep

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/form"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// session is what is known about one session_id so far. There may be 200,000 of them.
type session struct {
	said            *said
	events          int32
	started         bool
	core            bool    // it has an event of a core type
	firstAt, lastAt place   // of its events
	terminal        string  // the core type that ended it; empty: it has not ended
	early           []place // of events before session.started, or until there is one

	numbers numbers
	state   chain
	calls   *call   // the newest
	outputs *chunks // the newest
	// Indexes of both. Those by tool may hold calls that have ended; bare are the calls without an id.
	byID       map[string]*call
	open, bare map[string][]*call
	byOutput   map[string]*chunks
	// unfollowed is where the reply is that no event has followed; zero: none.
	unfollowed     place
	answered       int32   // replies that resolved a question
	acted          int32   // calls of irreversible tools
	confirmedCalls int32   // those of them that a confirmation came before
	confirmed      bool    // a confirmation was asked for
	jumps          bool    // filters take events away, so that its sequence numbers may jump
	hidden         []*rule // the checks that lack such events
	clock          clock
	steps          []step      // of level 2, in their order
	questions      []*question // the confirmations up to the step that is judged
}

// whole reports whether the capture holds the session's start and its end.
func (o *session) whole() bool { return o.started && o.terminal != "" }

// numbers are the sequence numbers of a session.
type numbers struct {
	known      bool  // one was seen
	since      int32 // events without a number since last
	base, last int64 // base is what the session's first event has, or should
	missing    place // the first event without one; zero: none
}

// count checks that the sequence number is 0 at the session's start, and one more for each event. After a wrong number
// either count may continue: the one that was right so far, or the one that the wrong number began.
func (o *session) count(m *message, say sayer) {
	n, index := &o.numbers, int64(o.events-1)
	starts := o.started || m.core == sessionStarted
	v, there := m.members["sequence_number"]
	if !there {
		n.since++
		n.missing = cmp.Or(n.missing, m.at)
		return
	}
	number, ok := form.Integer(v)
	if !ok || number < 0 { // judged by its envelope
		n.since++
		return
	}
	wrong := func(format string, args ...any) {
		say(envelope, verdict.Error, "/sequence_number", "sequence", format, args...)
	}
	switch {
	case m.core == sessionStarted && !o.started && index > 0 && number == 0:
		// The start is out of its place, which is reported as that.
		n.known, n.base, number = true, 0, index
	case !n.known && index > 0 && starts && number > index && !o.jumps:
		wrong("sequence_number is %d at event %d of the session, which starts at 0", number, index+1)
	case !n.known && index == 0 && m.core == sessionStarted && number != 0:
		wrong("sequence_number is %d at the session's start; expected 0", number)
	case n.known && number != n.base+index && (number <= n.last || number > n.last+1+int64(n.since) && !o.jumps):
		wrong("sequence_number is %d after %d; expected %d", number, n.last, n.last+1+int64(n.since))
	}
	if !n.known {
		n.known, n.base = true, number-index
		if starts {
			n.base = 0
		}
	}
	n.last, n.since = number, 0
}

// bracket holds the session to one start, first, and one end, last.
func (s *Stream) bracket(o *session, m *message, say sayer) {
	o.firstAt = cmp.Or(o.firstAt, m.at)
	switch {
	case m.core == sessionStarted && o.started:
		say(lifecycle, verdict.Error, "", "started-twice",
			"the session starts a second time; expected one session.started")
	case m.core == sessionStarted:
		o.started = true
		for _, at := range o.early {
			s.note(o.said, at, lifecycle, verdict.Error, "", "before-start",
				"the event comes before the session's session.started, which must be first")
		}
		o.early = nil
	case o.terminal != "" && m.terminal():
		say(lifecycle, verdict.Error, "", "terminal-twice", "the session ends a second time, it ended by %s",
			o.terminal)
	case o.terminal != "" && !m.foreign:
		say(lifecycle, verdict.Error, "", "after-terminal", "the event comes after %s, which must be last", o.terminal)
	case m.terminal():
		o.terminal = m.core
	}
	if !o.started && !m.foreign && len(o.early) < maxListed {
		o.early = append(o.early, m.at)
	}
}

// chain is what a session reports about its states.
type chain struct {
	n                   int32 // changes
	last                string
	implied             uint8 // by the events since, as bits of impliable
	entered, left       bool  // thinking
	calling, writing    bool  // reported as a state
	firstCall, firstOut place // positions of the events; zero: none
}

// impliable are the states that an event implies, and impliedBy says which event which of them.
var (
	impliable = []string{"calling_tool", "thinking", "deciding", "awaiting_input", "writing_output", "handing_off"}
	impliedBy = map[string]uint8{toolInvoked: 0b111, toolCompleted: 0b111, awaitingConfirmation: 1 << 3,
		awaitingClarification: 1 << 3, outputStreaming: 1 << 4, handoffRequested: 1 << 5}
)

// implies reports whether the session may be in a state because of what it did since its last reported state.
func (c *chain) implies(state string) bool {
	i := slices.Index(impliable, state)
	return i >= 0 && c.implied&(1<<i) != 0
}

// enter holds each state.changed to the state that the session was in.
func (o *session) enter(m *message, say sayer) {
	c := &o.state
	c.implied |= impliedBy[m.core]
	switch m.core {
	case toolInvoked:
		c.firstCall = cmp.Or(c.firstCall, m.at)
	case outputStreaming:
		c.firstOut = cmp.Or(c.firstOut, m.at)
	}
	if m.core != stateChanged {
		return
	}
	from, to := m.text("from_state"), strings.Clone(m.text("to_state"))
	switch {
	case from == "": // judged by its schema
	case c.n == 0 && o.started && from != "idle":
		say(state, verdict.Error, "/from_state", "first-state",
			"the session's first state.changed is from %s; expected idle", show(from))
	case c.n > 0 && c.last != "" && from != c.last && !c.implies(from):
		say(state, verdict.Error, "/from_state", "state-chain", "from_state is %s, the session was in %s", show(from),
			show(c.last))
	}
	c.n++
	c.last, c.implied = to, 0
	c.entered = c.entered || to == "thinking"
	c.left = c.left || from == "thinking"
	c.calling = c.calling || to == "calling_tool"
	c.writing = c.writing || to == "writing_output"
}

// call is one tool call.
type call struct {
	id, tool string
	at       place
	done     bool
	before   *call // previous in the session

	of   *tool     // at level 2
	says uint8     // of irreversible
	risk string    // medium or high; empty: neither
	used *question // whose accept it spends
}

// What a call says about irreversible, other than nothing.
const (
	saysTrue = iota + 1
	saysFalse
)

// firstOpen returns the first unfinished call of a tool, or nil. It drops those before it.
func firstOpen(of map[string][]*call, tool string) *call {
	all := of[tool]
	for len(all) > 0 && all[0].done {
		all = all[1:]
	}
	if len(all) == 0 {
		delete(of, tool)
		return nil
	}
	of[all[0].tool] = all // the name of a message would keep it in memory
	return all[0]
}

// call pairs tool.completed with tool.invoked, and returns the call of both, or nil.
func (o *session) call(m *message, say sayer) *call {
	id, tool := m.text("tool_call_id"), m.text("tool")
	switch m.core {
	case toolInvoked:
		one := &call{id: strings.Clone(id), tool: strings.Clone(tool), at: m.at, before: o.calls}
		o.calls = one
		o.open[one.tool] = append(o.open[one.tool], one)
		if id == "" {
			o.bare[one.tool] = append(o.bare[one.tool], one)
			return one
		}
		if o.byID[id] != nil {
			say(tools, verdict.Error, "/tool_call_id", "call-id-twice",
				"tool_call_id %s was used before in this session", show(id))
		}
		o.byID[one.id] = one
		return one
	case toolCompleted:
		one := o.byID[id]
		switch {
		case id == "":
			one = firstOpen(o.open, tool)
		case one == nil:
			one = firstOpen(o.bare, tool)
		}
		if one == nil || one.done {
			what := "tool " + show(tool)
			if id != "" {
				what = "tool_call_id " + show(id)
			}
			if o.started { // else what came before the capture, or before the session's start, is reported as that
				say(tools, verdict.Error, "", "not-invoked",
					"no open tool.invoked of %s comes before the tool.completed", what)
			}
			return nil
		}
		if one.tool != tool && one.tool != "" && tool != "" { // a name that is missing is reported as that
			say(tools, verdict.Error, "/tool", "other-tool", "tool is %s, the tool.invoked of %s names %s", show(tool),
				show(id), show(one.tool))
		}
		one.done = true
		return one
	}
	return nil
}

// chunks are the chunks of one output so far.
type chunks struct {
	before   *chunks // previous in the session
	n        int
	lastAt   place
	complete bool
	untold   bool // the last chunk does not say whether it is complete, which is reported as that
	unread   bool // the chunk before has no text, which is reported as that
	position int64
	known    bool // position is that of a chunk
	// length is what came before in each of the units that a position may count: from the output's start, and from the
	// last position that matched no unit.
	length, rebased [3]int64
	unhinted        place // the first chunk without coalesce_hint; zero: none
}

// stream holds the chunks of an output to their order.
func (o *session) stream(m *message, say sayer) {
	if m.core != outputStreaming {
		return
	}
	id := m.text("output_id")
	c := o.byOutput[id]
	if c == nil {
		c = &chunks{before: o.outputs}
		o.byOutput[strings.Clone(id)] = c
		o.outputs = c
	}
	c.n++
	c.lastAt = m.at
	if _, there := m.members["coalesce_hint"]; !there {
		c.unhinted = cmp.Or(c.unhinted, m.at)
	}
	if c.complete {
		say(output, verdict.Error, "", "after-complete", "the chunk follows the complete one of its output")
	}
	_, announced := m.members["complete"].(bool)
	c.complete, c.untold = c.complete || m.isTrue("complete"), !announced
	text, readable := m.members["chunk"].(string)
	size := [3]int64{int64(utf8.RuneCountInString(text)), int64(utf16Length(text)), int64(len(text))}
	position, ok := form.Integer(m.members["position"])
	if ok && position >= 0 {
		here := [3]int64{position, position, position}
		if c.n == 1 && !o.started || c.unread { // what came before is not known
			c.length, c.rebased = here, here
		}
		switch {
		case c.known && position < c.position:
			say(output, verdict.Error, "/position", "position-back", "position is %d after %d, it must not fall",
				position, c.position)
			c.rebased = here
		case !slices.Contains(c.length[:], position) && !slices.Contains(c.rebased[:], position):
			say(output, verdict.Warning, "/position", "position-offset", "position is %d, %d characters came before",
				position, c.length[0])
			c.rebased = here
		}
		c.position, c.known = position, true
	}
	c.unread = !readable
	for i, n := range size {
		c.length[i] += n
		c.rebased[i] += n
	}
}

func utf16Length(s string) (n int) {
	for _, r := range s {
		n += utf16.RuneLen(r)
	}
	return n
}

// placer adds a finding at a place of its session.
type placer func(at place, check *rule, severity verdict.Severity, code, format string, args ...any)

// end says what only the whole input shows.
func (o *session) end(say placer, broken bool) {
	if n := &o.numbers; n.known && n.missing != (place{}) {
		say(n.missing, envelope, verdict.Warning, "sequence-gaps",
			"the event has no sequence_number, others of its session have one")
	}
	if !o.core {
		return // only extensions: no other rule applies to them
	}
	if !o.started && !broken {
		say(o.firstAt, lifecycle, verdict.Doubt, "capture-starts-late",
			"the session's session.started is not in the input")
	}
	if o.terminal == "" && !broken {
		say(o.lastAt, lifecycle, verdict.Doubt, "capture-ends", "the session's end is not in the input")
	}
	if o.terminal != "" {
		for c := o.calls; c != nil; c = c.before {
			if !c.done {
				say(c.at, tools, verdict.Error, "not-completed",
					"tool %s is invoked, and the session ends without its tool.completed", show(c.tool))
			}
		}
	}
	for c := o.outputs; c != nil; c = c.before {
		if o.terminal != "" && !c.complete && !c.untold {
			say(c.lastAt, output, verdict.Error, "not-complete",
				"the session ends, and this last chunk of its output is not complete")
		}
		if c.n > 1 && c.unhinted != (place{}) {
			say(c.unhinted, output, verdict.Warning, "no-coalesce-hint",
				"the chunk has no coalesce_hint, its output has %d chunks", c.n)
		}
	}
	if o.whole() {
		o.endStates(say)
	}
}

func (o *session) endStates(say placer) {
	c := &o.state
	called, streamed := c.firstCall != (place{}), c.firstOut != (place{})
	// A session that was broken off owes no state that it did not reach.
	broken := o.terminal != sessionCompleted
	switch {
	case c.n == 0 && broken && !called && !streamed:
		return
	case c.n == 0:
		say(o.firstAt, state, verdict.Error, "no-state", "the session has no state.changed")
		return
	case !c.entered, !c.left && !broken:
		say(o.firstAt, state, verdict.Error, "thinking",
			"the session does not report that it enters and leaves thinking")
	}
	if called && !c.calling {
		say(c.firstCall, state, verdict.Error, "calling-tool",
			"the session calls a tool and never reports the state calling_tool")
	}
	if streamed && !c.writing {
		say(c.firstOut, state, verdict.Error, "writing-output",
			"the session streams output and never reports the state writing_output")
	}
}
