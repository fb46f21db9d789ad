package aaep

import (
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// session is what is known of one session_id so far.
type session struct {
	id     string
	said   *said
	events int

	firstAt, lastAt strict.Pos // of its events

	started  bool
	terminal string       // the core type that ended it; empty: it has not ended
	early    []strict.Pos // of events before session.started, or until there is one

	numbers numbers
	state   chain
	calls   *calls
	output  map[string]*chunks
	// unfollowed is where the reply stands that no event has followed; nil: none.
	unfollowed *strict.Pos
	answered   int // replies that resolved a question
	questions  []*question
	asked      map[string]*question // by action, the newest of each
	confirmed  bool                 // a confirmation was asked for
	acted      int                  // irreversible invocations
	doubts     []doubt
}

// whole reports whether the capture holds the session's start and its end.
func (o *session) whole() bool { return o.started && o.terminal != "" }

// numbers are the sequence numbers of a session.
type numbers struct {
	known      bool  // one was seen
	base, last int64 // base is what the session's first event would have
	since      int64 // events without a number since last
	first      int64 // the number of the session's first event, where firstAt is set
	firstAt    *strict.Pos
	missing    *strict.Pos // the first event without one
}

// count holds the sequence number to 0 at the session's start, and one more for each event. After a wrong one either count
// goes on: the one that was right so far, or the one that the wrong number began.
func (o *session) count(m *message, say sayer) {
	n, index := &o.numbers, int64(o.events-1)
	v, there := m.members["sequence_number"]
	if !there {
		if n.since++; n.missing == nil {
			n.missing = &m.at
		}
		return
	}
	number, ok := integer(v)
	if !ok || number < 0 {
		say(envelope, verdict.Error, "/sequence_number", "sequence", "sequence_number is %s, a whole number from 0 is needed", show(v))
		n.since++
		return
	}
	switch {
	case m.core == sessionStarted && !o.started && index > 0 && number == 0:
		// The start is out of its place, which is reported as that.
		n.firstAt, number = nil, index
		n.known, n.base = true, 0
	case !n.known && index > 0 && (o.started || m.core == sessionStarted) && n.firstAt == nil && number > index:
		say(envelope, verdict.Error, "/sequence_number", "sequence", "sequence_number is %d at event %d of the session, which starts at 0",
			number, index+1)
	case !n.known && index == 0 && m.core == sessionStarted && number != 0:
		say(envelope, verdict.Error, "/sequence_number", "sequence", "sequence_number is %d at the session's start, 0 is needed", number)
	case n.known && number != n.base+index && (number <= n.last || number > n.last+1+n.since):
		say(envelope, verdict.Error, "/sequence_number", "sequence", "sequence_number is %d after %d, %d is needed", number, n.last,
			n.last+1+n.since)
	}
	if !n.known {
		n.known, n.base = true, number-index
		if index == 0 {
			n.first, n.firstAt = number, &m.at
		}
		if o.started || m.core == sessionStarted {
			n.base = 0
		}
	}
	n.last, n.since = number, 0
}

// bracket holds the session to one start, first, and one end, last.
func (o *session) bracket(m *message, say sayer) {
	if o.events == 1 {
		o.firstAt = m.at
	}
	switch {
	case m.core == sessionStarted && o.started:
		say(lifecycle, verdict.Error, "", "started-twice", "the session starts a second time, one session.started is needed")
	case m.core == sessionStarted:
		o.started = true
		for _, at := range o.early {
			o.said.add(lifecycle, verdict.Finding{Severity: verdict.Error, Code: "before-start", Pos: at,
				Message: "the event comes before the session's session.started, which must be first",
				Fix:     fixOf(lifecycle, "before-start")})
		}
		if n := &o.numbers; n.firstAt != nil && o.events > 1 && n.first != 0 {
			o.said.add(envelope, verdict.Finding{Severity: verdict.Error, Code: "sequence", Pos: *n.firstAt,
				Pointer: "/sequence_number", Message: "the session's first event has another sequence_number than 0",
				Fix: fixOf(envelope, "sequence")})
		}
		o.early = nil
	case o.terminal != "" && m.terminal():
		say(lifecycle, verdict.Error, "", "terminal-twice", "the session ends a second time, it ended by %s", o.terminal)
	case o.terminal != "" && !m.foreign:
		say(lifecycle, verdict.Error, "", "after-terminal", "the event comes after %s, which must be last", o.terminal)
	case m.terminal():
		o.terminal = m.core
	}
	if !o.started && !m.foreign && len(o.early) < maxListed {
		o.early = append(o.early, m.at)
	}
}

// chain is what a session tells of its states.
type chain struct {
	told                 bool
	n                    int // changes
	last                 string
	implied              []string // states that the events since imply
	entered, left        bool     // thinking
	calling, writing     bool     // told as a state
	toolCalls, streaming bool     // seen as events
}

// impliedBy are the states that an event implies.
var impliedBy = map[string][]string{
	toolInvoked: {"calling_tool", "thinking", "deciding"}, toolCompleted: {"calling_tool", "thinking", "deciding"},
	awaitingConfirmation: {"awaiting_input"}, awaitingClarification: {"awaiting_input"},
	outputStreaming: {"writing_output"}, handoffRequested: {"handing_off"},
}

// enter holds each state.changed to the state that the session was in.
func (o *session) enter(m *message, say sayer) {
	c := &o.state
	for _, state := range impliedBy[m.core] {
		if !slices.Contains(c.implied, state) {
			c.implied = append(c.implied, state)
		}
	}
	switch m.core {
	case toolInvoked:
		c.toolCalls = true
	case outputStreaming:
		c.streaming = true
	}
	if m.core != stateChanged {
		return
	}
	from, to := strings.Clone(m.text("from_state")), strings.Clone(m.text("to_state"))
	switch {
	case from == "": // judged by its schema
	case !c.told && o.started && from != "idle":
		say(state, verdict.Error, "/from_state", "first-state", "the session's first state.changed is from %s, idle is needed", show(from))
	case c.told && c.last != "" && from != c.last && !slices.Contains(c.implied, from):
		say(state, verdict.Error, "/from_state", "state-chain", "from_state is %s, the session was in %s", show(from), show(c.last))
	}
	c.n++
	c.told, c.last, c.implied = true, to, c.implied[:0]
	c.entered = c.entered || to == "thinking"
	c.left = c.left || from == "thinking"
	c.calling = c.calling || to == "calling_tool"
	c.writing = c.writing || to == "writing_output"
}

// calls are the tool calls of a session.
type calls struct {
	all    []*call
	byID   map[string]*call   // the newest of each tool_call_id
	byTool map[string][]*call // in order; those that are done are dropped from the front
	anon   map[string][]*call // the same, of those without an id
}

func (o *session) callsMade() []*call {
	if o.calls == nil {
		return nil
	}
	return o.calls.all
}

type call struct {
	id, tool string
	at       strict.Pos
	done     bool
}

// first is the first call in the queue that is not done.
func first(queues map[string][]*call, tool string) *call {
	queue := queues[tool]
	for len(queue) > 0 && queue[0].done {
		queue = queue[1:]
	}
	if queues[tool] = queue; len(queue) == 0 {
		delete(queues, tool)
		return nil
	}
	return queue[0]
}

// call pairs tool.completed with tool.invoked.
func (o *session) call(m *message, say sayer) {
	if m.core != toolInvoked && m.core != toolCompleted {
		return
	}
	if o.calls == nil {
		o.calls = &calls{byID: map[string]*call{}, byTool: map[string][]*call{}, anon: map[string][]*call{}}
	}
	c, id, tool := o.calls, m.text("tool_call_id"), m.text("tool")
	if m.core == toolInvoked {
		one := &call{id: strings.Clone(id), tool: strings.Clone(tool), at: m.at}
		c.all = append(c.all, one)
		c.byTool[one.tool] = append(c.byTool[one.tool], one)
		if id == "" {
			c.anon[one.tool] = append(c.anon[one.tool], one)
			return
		}
		if c.byID[id] != nil {
			say(tools, verdict.Error, "/tool_call_id", "call-id-twice", "tool_call_id %s was used before in this session", show(id))
		}
		c.byID[one.id] = one
		return
	}
	one := c.byID[id]
	switch {
	case id == "":
		one = first(c.byTool, tool)
	case one == nil:
		one = first(c.anon, tool)
	}
	switch {
	case (one == nil || one.done) && !o.started:
		// What came before the capture, or before the session's start, is reported as that.
	case one == nil || one.done:
		what := "tool " + show(tool)
		if id != "" {
			what = "tool_call_id " + show(id)
		}
		say(tools, verdict.Error, "", "not-invoked", "no open tool.invoked of %s comes before the tool.completed", what)
	case one.tool != tool:
		say(tools, verdict.Error, "/tool", "other-tool", "tool is %s, the tool.invoked of %s names %s", show(tool), show(id),
			show(one.tool))
	}
	if one != nil {
		one.done = true
	}
}

// chunks are the chunks of one output so far.
type chunks struct {
	n        int
	lastAt   strict.Pos
	complete bool
	position int64
	known    bool // position is that of a chunk
	// length is what came before by each of the units that a position may count: from the output's start, and from the
	// last position that was none of these.
	length, rebased [3]int64
	unhinted        *strict.Pos // the first chunk without coalesce_hint
}

// stream holds the chunks of an output to their order.
func (o *session) stream(m *message, say sayer) {
	if m.core != outputStreaming {
		return
	}
	if o.output == nil {
		o.output = map[string]*chunks{}
	}
	id := m.text("output_id")
	c := o.output[id]
	if c == nil {
		c = new(chunks)
		o.output[strings.Clone(id)] = c
	}
	c.n++
	c.lastAt = m.at
	if _, there := m.members["coalesce_hint"]; !there && c.unhinted == nil {
		c.unhinted = &m.at
	}
	if c.complete {
		say(output, verdict.Error, "", "after-complete", "the chunk follows the complete one of its output")
	}
	c.complete = c.complete || m.isTrue("complete")
	text := m.text("chunk")
	size := [3]int64{int64(utf8.RuneCountInString(text)), int64(utf16Length(text)), int64(len(text))}
	position, ok := integer(m.members["position"])
	if ok && position >= 0 {
		if c.n == 1 && !o.started { // what came before the capture is not known
			c.length = [3]int64{position, position, position}
			c.rebased = c.length
		}
		switch {
		case c.known && position < c.position:
			say(output, verdict.Error, "/position", "position-back", "position is %d after %d, it must not fall", position, c.position)
			c.rebased = [3]int64{position, position, position}
		case !slices.Contains(c.length[:], position) && !slices.Contains(c.rebased[:], position):
			say(output, verdict.Warning, "/position", "position-offset", "position is %d, %d characters came before", position, c.length[0])
			c.rebased = [3]int64{position, position, position}
		}
		c.position, c.known = position, true
	}
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

// end says what only the whole input shows.
func (o *session) end(say func(at strict.Pos, check int, severity verdict.Severity, code, format string, args ...any)) {
	if n := &o.numbers; n.known && n.missing != nil {
		say(*n.missing, envelope, verdict.Warning, "sequence-gaps", "the event has no sequence_number, others of its session have one")
	}
	if !o.started {
		say(o.firstAt, lifecycle, verdict.Doubt, "capture-starts-late", "the session's session.started is not in the input")
	}
	if o.terminal == "" {
		say(o.lastAt, lifecycle, verdict.Doubt, "capture-ends", "the session's end is not in the input")
	}
	if o.terminal != "" {
		for _, c := range o.callsMade() {
			if !c.done {
				say(c.at, tools, verdict.Error, "not-completed", "tool %s is invoked, and the session ends without its tool.completed",
					show(c.tool))
			}
		}
	}
	for _, id := range sortedKeys(o.output) {
		c := o.output[id]
		if o.terminal != "" && !c.complete {
			say(c.lastAt, output, verdict.Error, "not-complete", "the session ends, and this last chunk of its output is not complete")
		}
		if c.n > 1 && c.unhinted != nil {
			say(*c.unhinted, output, verdict.Warning, "no-coalesce-hint", "the chunk has no coalesce_hint, its output has %d chunks", c.n)
		}
	}
	if o.whole() {
		o.endStates(say)
	}
}

func (o *session) endStates(say func(at strict.Pos, check int, severity verdict.Severity, code, format string, args ...any)) {
	c := &o.state
	// A session that was broken off owes no state that it did not reach.
	broken := o.terminal != sessionCompleted
	switch {
	case !c.told && broken && !c.toolCalls && !c.streaming:
		return
	case !c.told:
		say(o.firstAt, state, verdict.Error, "no-state", "the session has no state.changed")
		return
	case !c.entered, !c.left && !broken:
		say(o.firstAt, state, verdict.Error, "thinking", "the session does not tell that it enters and leaves thinking")
	}
	if c.toolCalls && !c.calling {
		say(o.firstAt, state, verdict.Warning, "calling-tool", "the session calls a tool and never tells the state calling_tool")
	}
	if c.streaming && !c.writing {
		say(o.firstAt, state, verdict.Warning, "writing-output", "the session streams output and never tells the state writing_output")
	}
}
