package judge

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/form"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// session is what is known about one session_id so far. There may be 200,000 of them.
type session struct {
	said            *said
	events          int32
	started         bool
	core            bool         // it has an event of a core type
	firstAt, lastAt aaep.Place   // of its events
	terminal        string       // the core type that ended it; empty: it has not ended
	early           []aaep.Place // of events before session.started, or until there is one

	numbers numbers
	state   chain
	calls   *call   // the newest
	outputs *chunks // the newest
	// Indexes of both. Those by tool may hold calls that have ended; bare are the calls without an id.
	byID       map[string]*call
	open, bare map[string][]*call
	byOutput   map[string]*chunks
	// unfollowed is where the reply is that no event has followed; zero: none.
	unfollowed     aaep.Place
	answered       int32        // replies that resolved a question
	acted          int32        // calls of irreversible tools
	confirmedCalls int32        // those of them that a confirmation came before
	confirmed      bool         // a confirmation was asked for
	jumps          bool         // filters take events away, so that its sequence numbers may jump
	hidden         []*aaep.Rule // the checks that lack such events
	clock          clock
	steps          []step      // of level 2, in their order
	questions      []*question // the confirmations up to the step that is judged
}

// whole reports whether the capture holds the session's start and its end.
func (o *session) whole() bool { return o.started && o.terminal != "" }

// numbers are the sequence numbers of a session.
type numbers struct {
	known      bool       // one was seen
	since      int32      // events without a number since last
	base, last int64      // base is what the session's first event has, or should
	missing    aaep.Place // the first event without one; zero: none
}

// count checks that the sequence number is 0 at the session's start, and one more for each event. After a wrong number
// either count may continue: the one that was right so far, or the one that the wrong number began.
func (o *session) count(m *aaep.Message, say sayer) {
	n, index := &o.numbers, int64(o.events-1)
	starts := o.started || m.Core == aaep.SessionStarted
	v, there := m.Members["sequence_number"]
	if !there {
		n.since++
		n.missing = cmp.Or(n.missing, m.At)
		return
	}
	number, ok := form.Integer(v)
	if !ok || number < 0 { // judged by its envelope
		n.since++
		return
	}
	wrong := func(format string, args ...any) {
		say(aaep.Envelope, verdict.Error, "/sequence_number", "sequence", format, args...)
	}
	switch {
	case m.Core == aaep.SessionStarted && !o.started && index > 0 && number == 0:
		// The start is out of its place, which is reported as that.
		n.known, n.base, number = true, 0, index
	case !n.known && index > 0 && starts && number > index && !o.jumps:
		wrong("sequence_number is %d at event %d of the session, which starts at 0", number, index+1)
	case !n.known && index == 0 && m.Core == aaep.SessionStarted && number != 0:
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
func (s *Stream) bracket(o *session, m *aaep.Message, say sayer) {
	o.firstAt = cmp.Or(o.firstAt, m.At)
	switch {
	case m.Core == aaep.SessionStarted && o.started:
		say(aaep.Lifecycle, verdict.Error, "", "started-twice",
			"the session starts a second time; expected one session.started")
	case m.Core == aaep.SessionStarted:
		o.started = true
		for _, at := range o.early {
			s.note(o.said, at, aaep.Lifecycle, verdict.Error, "", "before-start",
				"the event comes before the session's session.started, which must be first")
		}
		o.early = nil
	case o.terminal != "" && m.Terminal():
		say(aaep.Lifecycle, verdict.Error, "", "terminal-twice", "the session ends a second time, it ended by %s",
			o.terminal)
	case o.terminal != "" && !m.Foreign:
		say(aaep.Lifecycle, verdict.Error, "", "after-terminal", "the event comes after %s, which must be last",
			o.terminal)
	case m.Terminal():
		o.terminal = m.Core
	}
	if !o.started && !m.Foreign && len(o.early) < aaep.MaxListed {
		o.early = append(o.early, m.At)
	}
}

// chain is what a session reports about its states.
type chain struct {
	n                   int32 // changes
	last                string
	implied             uint8      // by the events since, as bits of impliable
	entered, left       bool       // thinking
	calling, writing    bool       // reported as a state
	firstCall, firstOut aaep.Place // positions of the events; zero: none
}

// impliable are the states that an event implies, and impliedBy says which event which of them.
var (
	impliable = []string{"calling_tool", "thinking", "deciding", "awaiting_input", "writing_output", "handing_off"}
	impliedBy = map[string]uint8{aaep.ToolInvoked: 0b111, aaep.ToolCompleted: 0b111, aaep.AwaitingConfirmation: 1 << 3,
		aaep.AwaitingClarification: 1 << 3, aaep.OutputStreaming: 1 << 4, aaep.HandoffRequested: 1 << 5}
)

// implies reports whether the session may be in a state because of what it did since its last reported state.
func (c *chain) implies(state string) bool {
	i := slices.Index(impliable, state)
	return i >= 0 && c.implied&(1<<i) != 0
}

// enter holds each state.changed to the state that the session was in.
func (o *session) enter(m *aaep.Message, say sayer) {
	c := &o.state
	c.implied |= impliedBy[m.Core]
	switch m.Core {
	case aaep.ToolInvoked:
		c.firstCall = cmp.Or(c.firstCall, m.At)
	case aaep.OutputStreaming:
		c.firstOut = cmp.Or(c.firstOut, m.At)
	}
	if m.Core != aaep.StateChanged {
		return
	}
	from, to := m.Text("from_state"), strings.Clone(m.Text("to_state"))
	switch {
	case from == "": // judged by its schema
	case c.n == 0 && o.started && from != "idle":
		say(aaep.StateRule, verdict.Error, "/from_state", "first-state",
			"the session's first state.changed is from %s; expected idle", form.Show(from))
	case c.n > 0 && c.last != "" && from != c.last && !c.implies(from):
		say(aaep.StateRule, verdict.Error, "/from_state", "state-chain", "from_state is %s, the session was in %s",
			form.Show(from),
			form.Show(c.last))
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
	at       aaep.Place
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
func (o *session) call(m *aaep.Message, say sayer) *call {
	id, tool := m.Text("tool_call_id"), m.Text("tool")
	switch m.Core {
	case aaep.ToolInvoked:
		one := &call{id: strings.Clone(id), tool: strings.Clone(tool), at: m.At, before: o.calls}
		o.calls = one
		o.open[one.tool] = append(o.open[one.tool], one)
		if id == "" {
			o.bare[one.tool] = append(o.bare[one.tool], one)
			return one
		}
		if o.byID[id] != nil {
			say(aaep.Tools, verdict.Error, "/tool_call_id", "call-id-twice",
				"tool_call_id %s was used before in this session", form.Show(id))
		}
		o.byID[one.id] = one
		return one
	case aaep.ToolCompleted:
		one := o.byID[id]
		switch {
		case id == "":
			one = firstOpen(o.open, tool)
		case one == nil:
			one = firstOpen(o.bare, tool)
		}
		if one == nil || one.done {
			what := "tool " + form.Show(tool)
			if id != "" {
				what = "tool_call_id " + form.Show(id)
			}
			if o.started { // else what came before the capture, or before the session's start, is reported as that
				say(aaep.Tools, verdict.Error, "", "not-invoked",
					"no open tool.invoked of %s comes before the tool.completed", what)
			}
			return nil
		}
		if one.tool != tool && one.tool != "" && tool != "" { // a name that is missing is reported as that
			say(aaep.Tools, verdict.Error, "/tool", "other-tool", "tool is %s, the tool.invoked of %s names %s",
				form.Show(tool),
				form.Show(id), form.Show(one.tool))
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
	lastAt   aaep.Place
	complete bool
	untold   bool // the last chunk does not say whether it is complete, which is reported as that
	unread   bool // the chunk before has no text, which is reported as that
	position int64
	known    bool // position is that of a chunk
	// length is what came before in each of the units that a position may count: from the output's start, and from the
	// last position that matched no unit.
	length, rebased [3]int64
	unhinted        aaep.Place // the first chunk without coalesce_hint; zero: none
}

// stream holds the chunks of an output to their order.
func (o *session) stream(m *aaep.Message, say sayer) {
	if m.Core != aaep.OutputStreaming {
		return
	}
	id := m.Text("output_id")
	c := o.byOutput[id]
	if c == nil {
		c = &chunks{before: o.outputs}
		o.byOutput[strings.Clone(id)] = c
		o.outputs = c
	}
	c.n++
	c.lastAt = m.At
	if _, there := m.Members["coalesce_hint"]; !there {
		c.unhinted = cmp.Or(c.unhinted, m.At)
	}
	if c.complete {
		say(aaep.Output, verdict.Error, "", "after-complete", "the chunk follows the complete one of its output")
	}
	_, announced := m.Members["complete"].(bool)
	c.complete, c.untold = c.complete || m.IsTrue("complete"), !announced
	text, readable := m.Members["chunk"].(string)
	size := [3]int64{int64(utf8.RuneCountInString(text)), int64(utf16Length(text)), int64(len(text))}
	position, ok := form.Integer(m.Members["position"])
	if ok && position >= 0 {
		here := [3]int64{position, position, position}
		if c.n == 1 && !o.started || c.unread { // what came before is not known
			c.length, c.rebased = here, here
		}
		switch {
		case c.known && position < c.position:
			say(aaep.Output, verdict.Error, "/position", "position-back", "position is %d after %d, it must not fall",
				position, c.position)
			c.rebased = here
		case !slices.Contains(c.length[:], position) && !slices.Contains(c.rebased[:], position):
			say(aaep.Output, verdict.Warning, "/position", "position-offset",
				"position is %d, %d characters came before",
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
type placer func(at aaep.Place, check *aaep.Rule, severity verdict.Severity, code, format string, args ...any)

// end says what only the whole input shows.
func (o *session) end(say placer, broken bool) {
	if n := &o.numbers; n.known && n.missing != (aaep.Place{}) {
		say(n.missing, aaep.Envelope, verdict.Warning, "sequence-gaps",
			"the event has no sequence_number, others of its session have one")
	}
	if !o.core {
		return // only extensions: no other rule applies to them
	}
	if !o.started && !broken {
		say(o.firstAt, aaep.Lifecycle, verdict.Doubt, "capture-starts-late",
			"the session's session.started is not in the input")
	}
	if o.terminal == "" && !broken {
		say(o.lastAt, aaep.Lifecycle, verdict.Doubt, "capture-ends", "the session's end is not in the input")
	}
	if o.terminal != "" {
		for c := o.calls; c != nil; c = c.before {
			if !c.done {
				say(c.at, aaep.Tools, verdict.Error, "not-completed",
					"tool %s is invoked, and the session ends without its tool.completed", form.Show(c.tool))
			}
		}
	}
	for c := o.outputs; c != nil; c = c.before {
		if o.terminal != "" && !c.complete && !c.untold {
			say(c.lastAt, aaep.Output, verdict.Error, "not-complete",
				"the session ends, and this last chunk of its output is not complete")
		}
		if c.n > 1 && c.unhinted != (aaep.Place{}) {
			say(c.unhinted, aaep.Output, verdict.Warning, "no-coalesce-hint",
				"the chunk has no coalesce_hint, its output has %d chunks", c.n)
		}
	}
	if o.whole() {
		o.endStates(say)
	}
}

func (o *session) endStates(say placer) {
	c := &o.state
	called, streamed := c.firstCall != (aaep.Place{}), c.firstOut != (aaep.Place{})
	// A session that was broken off owes no state that it did not reach.
	broken := o.terminal != aaep.SessionCompleted
	switch {
	case c.n == 0 && broken && !called && !streamed:
		return
	case c.n == 0:
		say(o.firstAt, aaep.StateRule, verdict.Error, "no-state", "the session has no state.changed")
		return
	case !c.entered, !c.left && !broken:
		say(o.firstAt, aaep.StateRule, verdict.Error, "thinking",
			"the session does not report that it enters and leaves thinking")
	}
	if called && !c.calling {
		say(c.firstCall, aaep.StateRule, verdict.Error, "calling-tool",
			"the session calls a tool and never reports the state calling_tool")
	}
	if streamed && !c.writing {
		say(c.firstOut, aaep.StateRule, verdict.Error, "writing-output",
			"the session streams output and never reports the state writing_output")
	}
}
