package aaep

import (
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// The checks of a stream, by their place in Rules.
const (
	envelope = iota
	schema
	lifecycle
	state
	tools
	output
	summary
	urgency
	defaultDecision
	confirmation
	blocking
	resolution

	streamChecks // how many they are
)

// notExercised is what an input comes to that shows nothing of a required behaviour.
const notExercised = "not-exercised"

const (
	producer   = "producer"
	subscriber = "subscriber"
	claimant   = "claimant"
)

// Rules are the requirements of chapter 9, in the order of a report: those of a stream, those of a running producer, those
// of a claim, and what is not decided here.
var Rules = []verdict.Rule{
	{ID: "aaep-envelope", Title: "each event has a whole and well-formed envelope", Cite: "AAEP 9.3.1 (7), 3.2",
		Role: producer, Level: 1,
		Why: "a subscriber that cannot tell who speaks, when and in which session cannot announce anything",
		Fix: "send the six required members on each event, in their form",
		Codes: append([]strict.Code{
			{"not-an-object", "a message is JSON, and no object", "send each message as a JSON object"},
			{"missing-member", "a required member is not there", "send the member that the message names"},
			{"context", "@context is neither the core context nor a list of texts that begins with it",
				`set "@context" to "https://aaep-protocol.org/context/v1", or a list with that first`},
			{"type-unknown", "the type is in the protocol's own namespace, or in none, and no core type",
				"use one of the twelve core types, or a namespace of your own"},
			{"event-id", "the event_id is not evt_ and 1 to 64 letters or digits", "make it evt_ and letters or digits"},
			{"event-id-twice", "two events have the same event_id", "give each event an id of its own"},
			{"session-id", "the session_id is not sess_ and 1 to 64 letters or digits", "make it sess_ and letters or digits"},
			{"timestamp", "the timestamp is no RFC 3339 time with an offset and no, three or six fraction digits",
				"write it like 2026-05-04T12:00:00.000Z"},
			{"producer", "the producer has no agent_id", "send producer.agent_id, a text that is not empty"},
			{"urgency-value", "the urgency is none of the three", "use background, normal or critical, or leave it out"},
			{"sequence", "the sequence_number does not count the session's events from 0, one by one",
				"start at 0 and add one for each event of the session, or leave the number out"},
			{"sequence-gaps", "some events of a session have a sequence_number and others have none",
				"number all events of a session, or none"},
			{"no-events", "the input holds no event", "capture a session and give its events"},
		}, strict.Codes...)},
	{ID: "aaep-schema", Title: "each core event has the members of its type", Cite: "AAEP 9.3.1 (8)",
		Role: producer, Level: 1,
		Why: "a subscriber announces what the members say, and has nothing else to announce",
		Fix: "send the members that chapter 4 asks for, with values that it knows",
		Codes: []strict.Code{
			{"missing-member", "a member that the type requires is not there", "send the member that the message names"},
			{"member-value", "a member has a value that its type does not know", "use a value that the message names"},
		}},
	{ID: "aaep-lifecycle", Title: "a session starts once, first, and ends once, last", Cite: "AAEP 9.3.1 (1, 2), 4.5.1",
		Role: producer, Level: 1,
		Why: "a user must know when an agent begins to act and when it has ended",
		Fix: "emit session.started before anything else, and one terminal event after all else",
		Codes: []strict.Code{
			{"before-start", "an event comes before its session's session.started", "emit session.started first"},
			{"started-twice", "a session starts a second time", "emit session.started once, and use a new session_id"},
			{"terminal-twice", "a session ends a second time", "emit one of completed, errored and cancelled, once"},
			{"after-terminal", "an event comes after its session's end", "emit the terminal event last"},
			{"capture-starts-late", "the input does not hold the session's start; nothing is known of what came before",
				"capture from before the session starts, or emit session.started"},
			{"capture-ends", "the input does not hold the session's end; nothing is known of what came after",
				"capture until the session has ended, or emit its terminal event"},
			{"no-events", "the input holds no event", "capture a session and give its events"},
		}},
	{ID: "aaep-state", Title: "the states of a session are told, and make a chain", Cite: "AAEP 9.3.1 (3), 4.2.1",
		Role: producer, Level: 1,
		Why: "who cannot see the screen knows by these events alone what the agent is at",
		Fix: "emit state.changed at each transition, from the state that was told last",
		Codes: []strict.Code{
			{"no-state", "a whole session tells no state", "emit state.changed, at least to and from thinking"},
			{"first-state", "the first state.changed is not from idle", "set from_state to idle"},
			{"state-chain", "a state.changed is from a state that the session was not in",
				"set from_state to the to_state of the last one"},
			{"thinking", "a whole session does not tell that it enters and leaves thinking",
				"emit state.changed to thinking and from it"},
			{"calling-tool", "a session calls tools and never tells the state calling_tool",
				"emit state.changed to calling_tool before the first tool.invoked"},
			{"writing-output", "a session streams output and never tells the state writing_output",
				"emit state.changed to writing_output before the first chunk"},
		}},
	{ID: "aaep-tools", Title: "each tool call is told before and after", Cite: "AAEP 9.3.1 (4, 5), 4.5.2",
		Role: producer, Level: 1,
		Why: "what an agent does on a user's behalf must be heard, and how it ended",
		Fix: "emit one tool.completed for each tool.invoked, with the same tool_call_id and tool",
		Codes: []strict.Code{
			{"not-invoked", "a tool.completed follows no open tool.invoked of its id, or of its tool",
				"emit tool.invoked before the tool is called"},
			{"other-tool", "a tool.completed names another tool than the tool.invoked of its id", "name the tool that was invoked"},
			{"call-id-twice", "two calls of a session have the same tool_call_id", "give each call an id of its own"},
			{"not-completed", "a tool call has no tool.completed when its session ends",
				"emit tool.completed, with status timeout or error if need be"},
			{notExercised, "the input holds no tool call; nothing was decided", "capture a session in which a tool is called"},
		}},
	{ID: "aaep-output", Title: "streamed output is whole and in order", Cite: "AAEP 9.3.1 (6), 4.3.3",
		Role: producer, Level: 1,
		Why: "a screen reader reads the chunks as they come, and stops at the complete one",
		Fix: "count position from 0 for each output_id, and set complete on the last chunk alone",
		Codes: []strict.Code{
			{"not-complete", "an output has no complete chunk when its session ends", "set complete to true on the last chunk"},
			{"after-complete", "a chunk follows the complete one of its output", "set complete on the last chunk alone"},
			{"position-back", "a chunk's position is before that of the chunk before it", "let position grow with the output"},
			{"position-offset", "a chunk's position is not the length of what came before it", "set position to that length"},
			{"no-coalesce-hint", "an output comes in several chunks, one of them without coalesce_hint",
				"set coalesce_hint on each chunk"},
			{notExercised, "the input holds no output; nothing was decided", "capture a session that streams output"},
		}},
	{ID: "aaep-summary", Title: "what is likely to be announced has a summary", Cite: "AAEP 9.3.1 (9)",
		Role: producer, Level: 1,
		Why: "the summary is what is said aloud",
		Fix: "send summary_normal",
		Codes: []strict.Code{
			{"no-summary", "an event that is likely to be announced has no summary_normal", "send summary_normal"}}},
	{ID: "aaep-urgency", Title: "what must not be missed is critical", Cite: "AAEP 4.1.3, 4.4", Role: producer, Level: 1,
		Why: "critical events alone are exempt from filters and rate limits",
		Fix: "set urgency to critical",
		Codes: []strict.Code{
			{"not-critical", "an error, a question or a handoff is not critical", "set urgency to critical"}}},
	{ID: "aaep-default-decision", Title: "silence is no consent to what cannot be taken back", Cite: "AAEP 9.4.1 (4), 6.4.1",
		Role: producer, Level: 2,
		Why: "a user who did not hear the question must not have agreed to it",
		Fix: "set default_decision to reject",
		Codes: []strict.Code{{"default-accept", "a confirmation of an irreversible or risky action defaults to accept",
			"set default_decision to reject"}}},
	{ID: "aaep-confirmation", Title: "each irreversible action is asked for first", Cite: "AAEP 9.4.1 (2), 4.3.1",
		Role: producer, Level: 2,
		Why: "an action that cannot be taken back needs the user's word before it, and for itself",
		Fix: "emit awaiting.confirmation before the tool.invoked, one for each irreversible call",
		Codes: []strict.Code{
			{"not-confirmed", "an irreversible tool.invoked has no confirmation of its own before it",
				"emit awaiting.confirmation first, one for each irreversible call"},
			{"token-twice", "a reply_token is used a second time", "make a new token for each question"},
			{"asked-twice", "the same action is asked for again while the first question is open",
				"wait for the reply or the timeout before asking again"},
			{notExercised, "the input holds no irreversible tool call; nothing was decided",
				"capture a session in which an irreversible tool is called"},
		}},
	{ID: "aaep-blocking", Title: "an irreversible action waits for its acceptance", Cite: "AAEP 9.4.1 (3), 6.1",
		Role: producer, Level: 2,
		Why: "a question whose answer is not awaited is no question",
		Fix: "call the tool only after an accepting reply, or after a default of accept at the timeout",
		Codes: []strict.Code{
			{"before-reply", "an irreversible tool is invoked while its confirmation is open", "wait for the reply or the timeout"},
			{"after-reject", "an irreversible tool is invoked although its confirmation was rejected, by a reply or by default",
				"drop the action, and emit state.changed instead"},
			{"replies-not-captured", "the input holds no reply at all, so that nobody can tell whether one had come",
				"capture the replies too, in the order in which they pass"},
		}},
	{ID: "aaep-resolution", Title: "a question that was answered is followed up", Cite: "AAEP 9.4.1 (9)",
		Role: producer, Level: 2,
		Why: "a user who answered must hear that the answer counted",
		Fix: "emit state.changed after each reply",
		Codes: []strict.Code{
			{"no-follow-up", "no event of the session follows the reply", "emit state.changed after the reply"}}},
}
