package aaep

import (
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// These rules are decided by a stream of events.
var (
	Envelope = &Rule{ID: "aaep-envelope", Title: "each event has a whole and well-formed envelope",
		Cite: "AAEP 9.3.1 (7), 3.2", Level: 1,
		Why: "a subscriber that cannot tell who speaks, when and in which session cannot announce anything",
		Fix: "send the six required members on each event, in their form",
		Codes: append([]strict.Code{
			{"not-an-object", "a message is JSON, and no object", "send each message as a JSON object"},
			{"missing-member", "a required member is not there", "send the member that the message names"},
			{"context", "@context is neither the core context nor a list of texts that begins with it",
				`set "@context" to "https://aaep-protocol.org/context/v1", or a list with that first`},
			{"type-unknown", "the type is in the protocol's own namespace, or in none, and no core type",
				"use one of the twelve core types, or a namespace of your own"},
			{"event-id", "the event_id is not evt_ and 1 to 64 letters or digits",
				"make it evt_ and letters or digits"},
			{"event-id-twice", "two events have the same event_id", "give each event an id of its own"},
			{"session-id", "the session_id is not sess_ and 1 to 64 letters or digits",
				"make it sess_ and letters or digits"},
			{"timestamp", "the timestamp is not an RFC 3339 time with an offset and zero, three or six fraction digits",
				"write it like 2026-05-04T12:00:00.000Z"},
			{"producer", "the producer has no agent_id", "send producer.agent_id, a text that is not empty"},
			{"urgency-value", "the urgency is not one of the three values",
				"use background, normal or critical, or leave it out"},
			{"sequence", "the sequence_number does not count the session's events from 0, one by one",
				"start at 0 and add one for each event of the session, or leave the number out"},
			{"sequence-gaps", "some events of a session have a sequence_number and others have none",
				"number all events of a session, or none"},
			{"frame", "a frame has no time of passing, or names no sender or the wrong one",
				`write it like {"at":"2026-05-04T12:00:00.000Z","from":"producer","message":{…}}`},
			noEvents,
		}, strict.Codes...)}
	MemberSchema = &Rule{ID: "aaep-schema", Title: "each core event has the members of its type",
		Cite: "AAEP 9.3.1 (8)", Level: 1,
		Why: "a subscriber announces what the members say, and has nothing else to announce",
		Fix: "send the members that chapter 4 requires, with values that it knows",
		Codes: []strict.Code{
			{"missing-member", "a member that the type requires is not there",
				"send the member that the message names"},
			{"member-value", "a member has a value that its type does not know", "use a value that the message names"},
		}}
	Lifecycle = &Rule{ID: "aaep-lifecycle", Title: "a session starts once, first, and ends once, last",
		Cite: "AAEP 9.3.1 (1, 2), 4.5.1", Level: 1,
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
			noEvents,
		}}
	StateRule = &Rule{ID: "aaep-state", Title: "a session reports its states, and they form a chain",
		Cite: "AAEP 9.3.1 (3), 4.2.1", Level: 1,
		Why: "a user who cannot see the screen learns only from these events what the agent is doing",
		Fix: "emit state.changed at each transition, from the state that was reported last",
		Codes: []strict.Code{
			{"no-state", "a whole session reports no state", "emit state.changed, at least to and from thinking"},
			{"first-state", "the first state.changed is not from idle", "set from_state to idle"},
			{"state-chain", "a state.changed is from a state that the session was not in",
				"set from_state to the to_state of the last one"},
			{"thinking", "a whole session does not report that it enters and leaves thinking",
				"emit state.changed to thinking and from it"},
			{"calling-tool", "a session calls tools and never reports the state calling_tool",
				"emit state.changed to calling_tool before the first tool.invoked"},
			{"writing-output", "a session streams output and never reports the state writing_output",
				"emit state.changed to writing_output before the first chunk"},
		}}
	Tools = &Rule{ID: "aaep-tools", Title: "each tool call is reported before and after",
		Cite: "AAEP 9.3.1 (4, 5), 4.5.2", Level: 1,
		Why: "what an agent does on a user's behalf must be heard, and how it ended",
		Fix: "emit one tool.completed for each tool.invoked, with the same tool_call_id and tool",
		Codes: []strict.Code{
			{"not-invoked", "a tool.completed follows no open tool.invoked of its id, or of its tool",
				"emit tool.invoked before the tool is called"},
			{"other-tool", "a tool.completed names another tool than the tool.invoked of its id",
				"name the tool that was invoked"},
			{"call-id-twice", "two calls of a session have the same tool_call_id", "give each call an id of its own"},
			{"not-completed", "a tool call has no tool.completed when its session ends",
				"emit tool.completed, with status timeout or error if need be"},
			{NotExercised, "the input holds no tool call; nothing was decided",
				"capture a session in which a tool is called"},
		}}
	Output = &Rule{ID: "aaep-output", Title: "streamed output is whole and in order",
		Cite: "AAEP 9.3.1 (6), 4.3.3", Level: 1,
		Why: "a screen reader reads the chunks as they come, and stops at the complete one",
		Fix: "count position from 0 for each output_id, and set complete only on the last chunk",
		Codes: []strict.Code{
			{"not-complete", "an output has no complete chunk when its session ends",
				"set complete to true on the last chunk"},
			{"after-complete", "a chunk follows the complete one of its output", "set complete only on the last chunk"},
			{"position-back", "a chunk's position is before that of the chunk before it",
				"let position grow with the output"},
			{"position-offset", "a chunk's position is not the length of what came before it",
				"set position to that length"},
			{"no-coalesce-hint", "an output comes in several chunks, one of them without coalesce_hint",
				"set coalesce_hint on each chunk"},
			{NotExercised, "the input holds no output; nothing was decided", "capture a session that streams output"},
		}}
	Summary = &Rule{ID: "aaep-summary", Title: "what is likely to be announced has a summary",
		Cite: "AAEP 9.3.1 (9)", Level: 1,
		Why: "the summary is what is said aloud",
		Fix: "send summary_normal",
		Codes: []strict.Code{{"no-summary", "an event that is likely to be announced has no summary_normal",
			"send summary_normal"}}}
	Urgency = &Rule{ID: "aaep-urgency", Title: "what must not be missed is critical", Cite: "AAEP 4.1.3, 4.4", Level: 1,
		Why: "only critical events are exempt from filters and rate limits",
		Fix: "set urgency to critical",
		Codes: []strict.Code{{"not-critical", "an error, a question or a handoff is not critical",
			"set urgency to critical"}}}
	DefaultDecision = &Rule{ID: "aaep-default-decision", Title: "silence does not consent to what cannot be undone",
		Cite: "AAEP 9.4.1 (4), 6.4.1", Level: 2,
		Why: "a user who did not hear the question must not have agreed to it",
		Fix: "set default_decision to reject",
		Codes: []strict.Code{{"default-accept", "a confirmation of an irreversible or risky action defaults to " +
			"accept, or a call of medium or high risk rests on such a default", "set default_decision to reject"}}}
	Confirmation = &Rule{ID: "aaep-confirmation", Title: "the agent asks before each irreversible action",
		Cite: "AAEP 9.4.1 (2), 4.3.1", Level: 2,
		Why: "an action that cannot be undone needs the user's consent, before it and for it alone",
		Fix: "emit awaiting.confirmation before the tool.invoked, one for each irreversible call",
		Codes: []strict.Code{
			{"not-confirmed", "an irreversible tool.invoked has no confirmation of its own before it",
				"emit awaiting.confirmation first, one for each irreversible call"},
			{"token-twice", "a reply_token is used a second time", "make a new token for each question"},
			{"asked-twice", "the same action is asked for again while the first question is open",
				"wait for the reply or the timeout before asking again"},
			{"irreversible-differs", "a confirmed call of an irreversible tool does not say irreversible: true",
				"set irreversible to true on each call of the tool"},
			{NotExercised, "no tool.invoked of the input has irreversible: true; nothing was decided",
				"capture a session in which a tool.invoked has irreversible: true"},
		}}
	Blocking = &Rule{ID: "aaep-blocking", Title: "an irreversible action waits for its acceptance",
		Cite: "AAEP 9.4.1 (3), 6.1", Level: 2,
		Why: "an agent that does not wait for the answer acts without the user",
		Fix: "call the tool only after an accepting reply, or after a default of accept at the timeout",
		Codes: []strict.Code{
			{"before-reply", "an irreversible tool is invoked while its confirmation is open",
				"wait for the reply or the timeout"},
			{"after-reject", "an irreversible tool is invoked although its confirmation was rejected, by a reply or " +
				"by default", "drop the action, and emit state.changed instead"},
			{"replies-not-captured", "the input holds no reply at all, so that nobody can tell whether one had come",
				"capture the replies too, in the order in which they pass"},
			{"which-question", "of two questions that were open at once the later was refused, and a call uses the " +
				"earlier one's accept", "ask one question at a time"},
			{"call-unclear", "the input does not say whether a call is irreversible, and no accepted question comes " +
				"before it", "call that tool before a question, in a session that asks one later"},
			{"taken-as-plain", "a tool is called after an irreversible question, and a session calls it before its " +
				"first question: people attest that it is not irreversible",
				"sign the tool's row of the checklist: --report checklist=FILE"},
		}}
	Resolution = &Rule{ID: "aaep-resolution", Title: "a question that was answered is followed up",
		Cite: "AAEP 9.4.1 (9)", Level: 2,
		Why: "a user who answered must hear that the answer counted",
		Fix: "emit state.changed after each reply",
		Codes: []strict.Code{{"no-follow-up", "no event of the session follows the reply",
			"emit state.changed after the reply"}}}
	Handshake = &Rule{ID: "aaep-handshake",
		Title: "each request is answered before events come, and messages have their members",
		Cite:  "AAEP 9.5.1 (2, 3, 6), 5.2 to 5.7", Level: 3,
		Why: "a subscriber that gets no answer does not know which events it will miss",
		Fix: "answer each request with subscription.accepted or subscription.rejected before its first event",
		Codes: []strict.Code{
			{"no-answer", "a request or renegotiation has no subscription.accepted or subscription.rejected",
				"answer each request and each renegotiation, once"},
			{"not-asked", "a subscription.accepted or subscription.rejected answers nothing",
				"send one answer for each request and each renegotiation"},
			{"event-before-accepted", "an event comes between a request and its answer",
				"send subscription.accepted before the first event"},
			{"event-after-rejected", "an event comes after the subscription was rejected",
				"send no event after subscription.rejected"},
			lacksMember, wrongMember,
			{"other-subscription", "a message names another subscription than the one that was accepted",
				"keep the subscription_id from the first subscription.accepted to the end"},
			{NotExercised, "the input has no subscription.request, or no event under an accepted one",
				"capture from before the subscription is requested until its session has ended"},
		}}
	Honored = &Rule{ID: "aaep-honored", Title: "honored capabilities grant no more than was requested",
		Cite: "AAEP 9.5.1 (4), 5.4.4", Level: 3,
		Why: "a subscriber asks for what its user can follow; more is lost on the user",
		Fix: "honor what was requested, or less; name each member, since one that is left out has its default",
		Codes: []strict.Code{{"more-permissive", "honored_capabilities grant more than the request; a member that is " +
			"left out has the default of section 5.3.1, without a limit of rate",
			"set the member that the message names to what was requested, or to less"}}}
	Rate = &Rule{ID: "aaep-rate", Title: "events keep the honored rate, and critical events wait for nothing",
		Cite: "AAEP 9.5.1 (5, 10), 5.6.1", Level: 3,
		Why: "a braille display that gets more events than it can show loses some of them",
		Fix: "keep a token bucket for each subscription, and send critical events past it",
		Codes: []strict.Code{
			{"over-rate", "non-critical events come faster than a bucket of 1.25 times the honored rate allows",
				"hold non-critical events until the bucket has a token"},
			{"critical-delayed", "a critical event passes more than 2 s later after its timestamp than others do",
				"send critical events at once, whatever the rate"},
			{"no-times", "the input does not say when its messages passed",
				`capture frames, {"at": TIME, "from": "producer", "message": {…}}, as producer --capture does`},
		}}
	Filters = &Rule{ID: "aaep-filters", Title: "no event arrives that the honored filters exclude",
		Cite: "AAEP 9.5.1 (5), 5.3.1.7", Level: 3,
		Why: "a subscriber filters what its user must not be interrupted by",
		Fix: "send to each subscription only the events that its filters let through, and all critical ones",
		Codes: []strict.Code{{"filtered-out", "a non-critical event comes that the filters exclude or do not include",
			"do not send that type on this subscription, unless it is critical"}}}
	Coalescing = &Rule{ID: "aaep-coalescing", Title: "output comes in chunks at the honored boundaries",
		Cite: "AAEP 9.5.1 (5), 5.6.3", Level: 3,
		Why: "a screen reader that gets half a word speaks half a word",
		Fix: "hold output until one of the honored boundaries, and name it in coalesce_hint",
		Codes: []strict.Code{
			{"boundary", "a chunk other than the last has a coalesce_hint that is not an honored boundary; section " +
				"9.5.1 (5) decides here, although section 5.6.1 (2) lets such chunks pass later",
				"send the chunk at a boundary that was honored, with that coalesce_hint"},
			{"boundary-text", "a chunk that claims a boundary ends within a word", "end the chunk at the boundary"},
		}}
	Language = &Rule{ID: "aaep-languages", Title: "events are in an honored language",
		Cite: "AAEP 9.5.1 (5), 5.3.1.3", Level: 3,
		Why: "a voice for one language cannot speak another",
		Fix: "write summaries in a language that was honored",
		Codes: []strict.Code{{"language", "an event names a primary_language that was not honored",
			"use an honored language, or leave localization_hints out"}}}
	Closing = &Rule{ID: "aaep-close", Title: "no event comes after the subscription was closed",
		Cite: "AAEP 9.5.1 (7), 5.8.2", Level: 3,
		Why:   "a user who has left a session must no longer hear of it",
		Fix:   "stop sending events to a subscription that was closed",
		Codes: []strict.Code{afterClose}}
)

// These rules are decided by the text of a claim and its report.
var (
	ClaimText = &Rule{ID: "aaep-claim",
		Title: "the claim names its level, and how it was verified, and does not overstate",
		Cite:  "AAEP 9.8, 9.1 (4)",
		Why:   "a claim that nobody can check does not conform",
		Fix:   `write "NAME is AAEP Level N conformant, verified by AAEP Conformance Suite version V on YYYY-MM-DD."`,
		Codes: []strict.Code{
			{"no-claim", "the text has no claim in the form of section 9.8; nothing was decided",
				"write the sentence of section 9.8, with a full stop and the day as YYYY-MM-DD"},
			{"claim-level", "the claim names no level from 1 to 3 or one below its profile's, or the text says AAEP " +
				"compliant", "name the level: AAEP Level 1, 2 or 3 conformant"},
			{"claim-certified", "the text says AAEP certified; the AAEP project certifies nothing",
				"say conformant, and by which suite it was verified; or quote the phrase"},
			{"level-elsewhere", "the text names a level above each of its claims",
				"have people read the text; claim a higher level only if a report supports it"},
			{"claim-date", "the day of verification does not exist, is in the future or is long past",
				"name the day of the last verification, YYYY-MM-DD"},
			{"claim-profile", "the claim names a profile of AAEP without its version, or without its URI",
				"name the profile's version and its URI"},
		}}
	ClaimReport = &Rule{ID: "aaep-claim-report", Title: "the report says what is claimed", Cite: "AAEP 9.8, 9.7 (4)",
		Why: "a higher level than the implementation passes is a misrepresentation",
		Fix: "claim what the report says, or give the report of a run at the claimed level",
		Codes: append([]strict.Code{
			{"report-form", "the file is not a conformance report of a known form",
				"give the JSON report of a conformance run"},
			{"claim-above-report", "the report is of a lower level than the claim", "claim the level of the report"},
			{"claim-not-passed", "the verdict of the report is not pass",
				"fix what the report names, and run it again"},
			{"claim-differs", "the claim names another suite version, role or day than the report",
				"claim what the report says: its suite version, its role, and the day on which the run ended"},
			{"claim-suite", "the report is of this tool, and the claim names a version of the AAEP suite",
				"give the report of the AAEP Conformance Suite, or do not name the suite"},
			{"claim-with-failures", "the report lists a failure of severity error",
				"fix what the report names, and run it again"},
			{"claim-live-not-run", "a requirement of the claimed level takes a running producer, and the report's " +
				"run asked none", "run oap-conform aaep producer, and give its report"},
		}, strict.Codes...)}
)
