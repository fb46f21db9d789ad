package aaep

import (
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// profileRow is the row by which people attest that the level of a claim is that of its profile.
const profileRow = "AAEP-F1b"

// plainTool is the row by which people attest that a call says what it does.
const plainTool = "AAEP-P2.2b"

// notExercised is what an input comes to that shows nothing of a required behaviour.
const notExercised = "not-exercised"

// The roles of the catalogue.
const (
	producer   = "producer"
	subscriber = "subscriber"
	claimant   = "claimant"
)

// Rules are the requirements of chapter 9, in the order of a report: those of a stream, those of a running producer,
// those of a running subscriber, those of a claim, and what is not decided here.
var Rules = slices.Concat(of(producer, verdict.Mechanical, streamRules...), of(producer, verdict.Live, liveRules...),
	of(subscriber, verdict.Live, subscriberRules...), of(claimant, verdict.Mechanical, claimText, claimReport),
	otherRules)

// The rules that a stream decides on its sessions and on its subscriptions, those that a running producer decides, and
// those that a running subscriber does.
var (
	sessionRules = []*rule{envelope, schema, lifecycle, state, tools, output, summary, urgency, defaultDecision,
		confirmation, blocking, resolution}
	termRules   = []*rule{handshake, honored, rate, filters, coalescing, language, closing} // of level 3
	streamRules = slices.Concat(sessionRules, termRules)
	liveRules   = []*rule{liveStream, liveForged, liveTwice, liveLate, liveTimeout, liveClarify, liveHandshake,
		liveCritical, liveRenegotiate, liveClose, liveManifest, liveSigned}
	subscriberRules = []*rule{subTransport, subUnknown, subEnvelope, subReply, subClarify, subConsent, subCancel,
		subHandshake, subOrder, subManifest, subClose}
)

// catalogue are the rules as the runner takes them.
var catalogue = conformance.Catalogue(Rules)

type rule = verdict.Rule

// of sets the role and the method of rules, and returns their values.
func of(role string, method verdict.Method, rules ...*rule) (values []rule) {
	for _, r := range rules {
		r.Role, r.Method = role, method
		values = append(values, *r)
	}
	return values
}

// These codes are of several rules.
var (
	noEvents    = strict.Code{"no-events", "the input holds no event", "capture a session and give its events"}
	lacksMember = strict.Code{"missing-member", "a message of the subscription lacks a member that it requires",
		"send the member that the message names"}
	wrongMember = strict.Code{"member-value", "a member of a message of the subscription has a value that its type " +
		"does not know", "use a value that the message names"}
	afterClose = strict.Code{"event-after-close", "an event comes more than 1 s after subscription.close",
		"stop sending events to the subscription at once"}
	unclearProbe = strict.Code{"call-unclear", "after the reply a tool was called, and nothing in the run says " +
		"whether it is irreversible", "add a scenario with reply: accept, in which the tool is called"}
	noScenario = strict.Code{notExercised, "no scenario brought about what the check needs; nothing was decided",
		"write a scenario that makes the producer ask for a confirmation with a short timeout"}
	badRejection = strict.Code{"member-value", "a subscription.rejected lacks a member, or has a value that it does " +
		"not know", "use one of the eight reason codes of section 5.5.3, and a reason_message"}
	otherReason = strict.Code{"reason-code", "the reason_code is not the one of that rejection",
		"use the reason_code that the message names"}
	notSubscribed = strict.Code{notExercised, "the producer rejected the subscription, or its session asks nothing; " +
		"nothing was decided",
		"accept an ordinary subscription, and begin the scenarios with one of reply accept that asks"}
	otherAgent = strict.Code{"manifest-agent", "the manifest is of another agent_id than subscription.accepted",
		"use the same agent_id in both"}
	noneAnswered = strict.Code{notExercised, "no question of the run was answered, so that silence shows nothing",
		"play accept or reject, too"}
	noReply = strict.Code{"no-reply", "the question has no reply",
		"answer as its action says, or give a longer --timeout"}
	lateReply = strict.Code{"late-reply", "a reply came after the timeout of its question",
		"answer within timeout_seconds, or give a longer --timeout"}
	notPlayed = strict.Code{notExercised, "not each play of the check was played",
		"leave --scenario out, or name the plays that the message names"}
)

// These rules are decided by a stream of events.
var (
	envelope = &rule{ID: "aaep-envelope", Title: "each event has a whole and well-formed envelope",
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
	schema = &rule{ID: "aaep-schema", Title: "each core event has the members of its type",
		Cite: "AAEP 9.3.1 (8)", Level: 1,
		Why: "a subscriber announces what the members say, and has nothing else to announce",
		Fix: "send the members that chapter 4 requires, with values that it knows",
		Codes: []strict.Code{
			{"missing-member", "a member that the type requires is not there",
				"send the member that the message names"},
			{"member-value", "a member has a value that its type does not know", "use a value that the message names"},
		}}
	lifecycle = &rule{ID: "aaep-lifecycle", Title: "a session starts once, first, and ends once, last",
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
	state = &rule{ID: "aaep-state", Title: "a session reports its states, and they form a chain",
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
	tools = &rule{ID: "aaep-tools", Title: "each tool call is reported before and after",
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
			{notExercised, "the input holds no tool call; nothing was decided",
				"capture a session in which a tool is called"},
		}}
	output = &rule{ID: "aaep-output", Title: "streamed output is whole and in order",
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
			{notExercised, "the input holds no output; nothing was decided", "capture a session that streams output"},
		}}
	summary = &rule{ID: "aaep-summary", Title: "what is likely to be announced has a summary",
		Cite: "AAEP 9.3.1 (9)", Level: 1,
		Why: "the summary is what is said aloud",
		Fix: "send summary_normal",
		Codes: []strict.Code{{"no-summary", "an event that is likely to be announced has no summary_normal",
			"send summary_normal"}}}
	urgency = &rule{ID: "aaep-urgency", Title: "what must not be missed is critical", Cite: "AAEP 4.1.3, 4.4", Level: 1,
		Why: "only critical events are exempt from filters and rate limits",
		Fix: "set urgency to critical",
		Codes: []strict.Code{{"not-critical", "an error, a question or a handoff is not critical",
			"set urgency to critical"}}}
	defaultDecision = &rule{ID: "aaep-default-decision", Title: "silence does not consent to what cannot be undone",
		Cite: "AAEP 9.4.1 (4), 6.4.1", Level: 2,
		Why: "a user who did not hear the question must not have agreed to it",
		Fix: "set default_decision to reject",
		Codes: []strict.Code{{"default-accept", "a confirmation of an irreversible or risky action defaults to " +
			"accept, or a call of medium or high risk rests on such a default", "set default_decision to reject"}}}
	confirmation = &rule{ID: "aaep-confirmation", Title: "the agent asks before each irreversible action",
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
			{notExercised, "no tool.invoked of the input has irreversible: true; nothing was decided",
				"capture a session in which a tool.invoked has irreversible: true"},
		}}
	blocking = &rule{ID: "aaep-blocking", Title: "an irreversible action waits for its acceptance",
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
	resolution = &rule{ID: "aaep-resolution", Title: "a question that was answered is followed up",
		Cite: "AAEP 9.4.1 (9)", Level: 2,
		Why: "a user who answered must hear that the answer counted",
		Fix: "emit state.changed after each reply",
		Codes: []strict.Code{{"no-follow-up", "no event of the session follows the reply",
			"emit state.changed after the reply"}}}
	handshake = &rule{ID: "aaep-handshake",
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
			{notExercised, "the input has no subscription.request, or no event under an accepted one",
				"capture from before the subscription is requested until its session has ended"},
		}}
	honored = &rule{ID: "aaep-honored", Title: "honored capabilities grant no more than was requested",
		Cite: "AAEP 9.5.1 (4), 5.4.4", Level: 3,
		Why: "a subscriber asks for what its user can follow; more is lost on the user",
		Fix: "honor what was requested, or less; name each member, since one that is left out has its default",
		Codes: []strict.Code{{"more-permissive", "honored_capabilities grant more than the request; a member that is " +
			"left out has the default of section 5.3.1, without a limit of rate",
			"set the member that the message names to what was requested, or to less"}}}
	rate = &rule{ID: "aaep-rate", Title: "events keep the honored rate, and critical events wait for nothing",
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
	filters = &rule{ID: "aaep-filters", Title: "no event arrives that the honored filters exclude",
		Cite: "AAEP 9.5.1 (5), 5.3.1.7", Level: 3,
		Why: "a subscriber filters what its user must not be interrupted by",
		Fix: "send to each subscription only the events that its filters let through, and all critical ones",
		Codes: []strict.Code{{"filtered-out", "a non-critical event comes that the filters exclude or do not include",
			"do not send that type on this subscription, unless it is critical"}}}
	coalescing = &rule{ID: "aaep-coalescing", Title: "output comes in chunks at the honored boundaries",
		Cite: "AAEP 9.5.1 (5), 5.6.3", Level: 3,
		Why: "a screen reader that gets half a word speaks half a word",
		Fix: "hold output until one of the honored boundaries, and name it in coalesce_hint",
		Codes: []strict.Code{
			{"boundary", "a chunk other than the last has a coalesce_hint that is not an honored boundary; section " +
				"9.5.1 (5) decides here, although section 5.6.1 (2) lets such chunks pass later",
				"send the chunk at a boundary that was honored, with that coalesce_hint"},
			{"boundary-text", "a chunk that claims a boundary ends within a word", "end the chunk at the boundary"},
		}}
	language = &rule{ID: "aaep-languages", Title: "events are in an honored language",
		Cite: "AAEP 9.5.1 (5), 5.3.1.3", Level: 3,
		Why: "a voice for one language cannot speak another",
		Fix: "write summaries in a language that was honored",
		Codes: []strict.Code{{"language", "an event names a primary_language that was not honored",
			"use an honored language, or leave localization_hints out"}}}
	closing = &rule{ID: "aaep-close", Title: "no event comes after the subscription was closed",
		Cite: "AAEP 9.5.1 (7), 5.8.2", Level: 3,
		Why:   "a user who has left a session must no longer hear of it",
		Fix:   "stop sending events to a subscription that was closed",
		Codes: []strict.Code{afterClose}}
)

// These rules are decided by sessions with a running producer.
var (
	liveStream = &rule{ID: "aaep-live-stream", Title: "a running producer serves its events, and ends its sessions",
		Cite: "AAEP 9.3.1, appendix B", Level: 1,
		Why: "what cannot be received cannot be announced",
		Fix: "serve text/event-stream, keep the connection until the session has ended, and end it",
		Codes: []strict.Code{
			{"no-connection", "no connection was made, or it broke before the answer",
				"start the producer, and name its URL"},
			{"http-status", "a request was answered with another status than the layout's",
				"serve the layout that --layout names: see docs/conformance.md"},
			{"no-stream", "the stream of events had neither headers nor an event within the time of --timeout after " +
				"the start",
				"answer GET of the events with text/event-stream, and send the events of the session"},
			{"redelivered", "events of earlier streams came again on a new one, with the same bytes; each counts once",
				"none needed"},
			{"earlier-sessions", "sessions that began before the run were under way, and were not judged",
				"none needed; for a run of its own, restart the producer"},
			{"not-sse", "the stream of events is not served as text/event-stream",
				"serve it with Content-Type: text/event-stream"},
			{"event-name", "a core event comes under another event name than aaep.event or message, so that no " +
				"subscriber takes it for one", "send it with event: aaep.event, event: message or no event field"},
			{"no-subscription", "the answer to subscription.request has no Location on the same server",
				"answer 201 with one"},
			{"session-hangs", "nothing came for the time of --timeout, or --budget was used up, and the session had " +
				"not ended",
				"end each session by a terminal event; give a longer --timeout or --budget if it takes long"},
			{"no-terminal", "the producer ended the stream, and the session had no terminal event",
				"emit completed, errored or cancelled at the end of each session"},
			{"stream-dropped", "the connection broke while a session was under way",
				"keep the stream until the session has ended"},
			{"stream-too-large", "the stream has more bytes, messages or sessions than are read, or a longer message",
				"send less: see the limits in docs/conformance.md"},
		}}
	liveForged = &rule{ID: "aaep-live-forged", Title: "a reply with a token that was never issued is ignored",
		Cite: "AAEP 9.4.1 (5), 6.3.4 (2)", Level: 2,
		Why: "a client that does not know the token must not be able to accept anything",
		Fix: "act on a reply only where its token is of an open question",
		Codes: []strict.Code{
			{"forged-accepted", "an irreversible tool was invoked after a reply with a token that was never issued",
				"look the token up among the open questions, and ignore what is not there"},
			unclearProbe, noScenario,
		}}
	liveTwice = &rule{ID: "aaep-live-twice", Title: "the first reply to a question counts, and no other",
		Cite: "AAEP 9.4.1 (6), 6.3.5", Level: 2,
		Why: "nobody may overrule the no of a user",
		Fix: "close the question at its first valid reply",
		Codes: []strict.Code{
			{"second-reply-honored", "an irreversible tool was invoked after a reject, since an accept followed it",
				"close the question at its first valid reply"},
			unclearProbe, noScenario,
		}}
	liveLate = &rule{ID: "aaep-live-late", Title: "a reply after the timeout is ignored",
		Cite: "AAEP 9.4.1 (5), 6.3.4 (4)", Level: 2,
		Why: "after the timeout the default was applied, and the user has heard so",
		Fix: "close the question at its timeout",
		Codes: []strict.Code{
			{"late-accepted", "an irreversible tool was invoked after an accept that came past the timeout",
				"close the question at its timeout"},
			unclearProbe, noScenario,
		}}
	liveTimeout = &rule{ID: "aaep-live-timeout", Title: "the default is applied when the timeout has passed",
		Cite: "AAEP 9.4.4, 6.4", Level: 2,
		Why: "a session that never stops waiting has no end that a user could hear",
		Fix: "apply default_decision at timeout_seconds, and emit state.changed",
		Codes: []strict.Code{
			{"timeout-ignored", "nothing followed the timeout of a question that nobody answered",
				"apply default_decision at the timeout"},
			{"timeout-late", "the default was applied later than 2 s and 10 % after the timeout",
				"apply it at the timeout"},
			noScenario,
		}}
	liveClarify = &rule{ID: "aaep-live-clarification", Title: "a clarification reply of a wrong type is rejected",
		Cite:  "AAEP 9.4.1 (8), 6.5.5",
		Level: 2, Why: "an answer that the producer cannot use must not move the session on",
		Fix: "check the type of response before the question is closed, and keep waiting for another reply",
		Codes: []strict.Code{
			{"wrong-kind-accepted", "the session continued after a clarification reply whose response is of no kind",
				"reject a response that accepted_response_kinds does not list, and keep the question open"},
			noScenario,
		}}
	liveHandshake = &rule{ID: "aaep-live-handshake",
		Title: "an unknown version is rejected, and each request is answered",
		Cite:  "AAEP 9.5.1 (2, 3), 5.2 to 5.5", Level: 3,
		Why: "a subscriber that speaks another version must learn it before it relies on the events",
		Fix: "answer each subscription.request with subscription.accepted or subscription.rejected in the response",
		Codes: []strict.Code{
			{"no-answer", "a request has no subscription.accepted or subscription.rejected as the body of its response",
				"answer each request in the body of its response, within --timeout"},
			{"version-accepted", "a request of version 99.0.0 is accepted",
				"reject versions that you do not know, with version_unsupported"},
			badRejection, otherReason, notSubscribed,
		}}
	liveCritical = &rule{ID: "aaep-live-critical", Title: "a filter removes tool events, and never a question",
		Cite: "AAEP 9.5.1 (5), 5.5.4", Level: 3,
		Why: "the user cannot answer a question that a filter removed",
		Fix: "apply filters only to events that are not critical",
		Codes: []strict.Code{
			{"filtered-out", "a tool event comes although the subscription excludes tool events",
				"apply the filters that were honored"},
			{"critical-filtered", "no question comes under a filter that excludes questions",
				"send critical events whatever the filters"},
			notSubscribed,
		}}
	liveRenegotiate = &rule{ID: "aaep-live-renegotiate", Title: "a lower rate can be renegotiated",
		Cite: "AAEP 9.5.1 (6), 5.7", Level: 3,
		Why: "a user whose device falls behind needs fewer events now, not in the next session",
		Fix: "answer subscription.renegotiate with subscription.accepted, and apply it to the events that follow",
		Codes: []strict.Code{
			{"no-answer", "a renegotiation has no answer, neither in its response nor in the stream",
				"answer with subscription.accepted or subscription.rejected"},
			{"renegotiate-rejected", "a renegotiation that only lowers the rate is rejected", "accept a lower rate"},
			notSubscribed,
		}}
	liveClose = &rule{ID: "aaep-live-close",
		Title: "a subscription that is closed gets no events, and its question its default",
		Cite:  "AAEP 9.5.1 (7), 5.8.2", Level: 3,
		Why: "a session that waits for a user who has left never ends",
		Fix: "at subscription.close stop the events, and apply default_decision to the subscription's open questions",
		Codes: []strict.Code{
			afterClose,
			{"close-default-not-applied", "the session does not continue within 2 s, or invokes an irreversible tool " +
				"against a default of reject; not judged: questions to the second subscription (5.3.1.4, 5.5.4 and " +
				"6.6 differ)", "apply default_decision at subscription.close, and emit state.changed"},
			unclearProbe,
			{notExercised, notSubscribed.Meaning + ", or no question has a timeout of 10 s or more",
				"add a scenario named held, whose question has timeout_seconds of 10 or more"},
		}}
	liveManifest = &rule{ID: "aaep-live-manifest", Title: "the producer publishes a manifest of itself",
		Cite: "AAEP 9.5.1 (8), 5.10", Level: 3,
		Why: "a subscriber chooses a producer by what the producer declares",
		Fix: "serve the manifest at manifest_uri or at /.well-known/aaep-manifest.json",
		Codes: []strict.Code{
			{"no-manifest", "no manifest can be read at manifest_uri, or at the well-known path without one",
				"serve the manifest with status 200 as JSON, or as a JWS"},
			{"missing-member", "the manifest lacks a member that it requires", "add the member that the message names"},
			{"member-value", "a member of the manifest has a value that it does not know",
				"use a value that the message names"},
			otherAgent,
			{"manifest-level", "the manifest does not list the level that is judged",
				"add the level to conformance_levels_supported"},
			notSubscribed,
		}}
	liveSigned = &rule{ID: "aaep-live-signed",
		Title: "a subscriber that requires a signed manifest gets one, or is rejected",
		Cite:  "AAEP 9.5.1 (9), 10.4", Level: 3,
		Why: "a subscriber that requires a signature must not be served by anyone who pretends to be the producer",
		Fix: "sign the manifest with ES256, or reject with manifest_signature_required",
		Codes: []strict.Code{
			{"unsigned-accepted", "a subscriber that requires a signed manifest is accepted without one",
				"send signed_manifest, or reject with manifest_signature_required"},
			{"jws-form", "the signed manifest is not a compact JWS of a JSON object",
				"send HEADER.PAYLOAD.SIGNATURE, each base64url without padding"},
			{"jws-alg", `the algorithm of the signature is "none", or not known here`, "sign with ES256"},
			{"jws-signature", "the signature of the manifest does not verify", "sign the manifest that you send"},
			otherAgent,
			{"jws-own-key", "the manifest is signed by the key in its own header, which anyone can make",
				"give the producer's key: --manifest-key FILE"},
			{"jws-no-key", "the manifest carries no key, and none was given",
				"give the producer's key: --manifest-key FILE"},
			badRejection, otherReason, notSubscribed,
		}}
)

// These rules are decided by plays with a running subscriber.
var (
	subTransport = &rule{ID: "aaep-sub-transport",
		Title: "the subscriber connects, and stays until the producer ends the connection",
		Cite:  "AAEP 9.3.2 (1)", Level: 1,
		Why: "a user hears nothing from an agent whose events are not received",
		Fix: "keep the connection until the producer closes it, whatever the session's end",
		Codes: []strict.Code{
			{"no-connection", "no subscriber connected in the time of --timeout",
				"start the subscriber with the URL that the run prints, or give its command after --"},
			{"subscriber-gone", "the subscriber left, or stopped reading, before the producer ended the connection",
				"keep the connection until the producer closes it, and read all that comes"},
			{"stream-too-large", "the subscriber sent more messages or bytes than are read",
				"send one reply for each question"},
			{"out-of-time", "the time of --budget ended before all plays were played", "give a longer --budget"},
		}}
	subUnknown = &rule{ID: "aaep-sub-unknown", Title: "unknown types and extensions do not disturb the subscriber",
		Cite: "AAEP 9.3.2 (5, 6)", Level: 1,
		Why: "the protocol grows; a subscriber that stops at what it does not know leaves its user alone",
		Fix: "announce events of unknown types generically, and ignore unknown extensions",
		Codes: []strict.Code{
			{"subscriber-gone", "the subscriber left after an event of an unknown type or with an unknown extension",
				"announce such events generically, and keep the connection"},
			{"no-reply", "the question after such an event has no reply", "answer the questions that follow"},
		}}
	subEnvelope = &rule{ID: "aaep-sub-envelope", Title: "events with an invalid envelope are dropped",
		Cite: "AAEP 9.3.2 (2)", Level: 1,
		Why: "nobody must answer a question whose session is unknown",
		Fix: "validate the envelope of each event, and drop what lacks a member",
		Codes: []strict.Code{
			{"subscriber-gone", "the subscriber left after an event with an invalid envelope",
				"drop the event, and keep the connection"},
			{"answered-invalid", "a question without a required member of the envelope has a reply",
				"drop questions whose envelope is invalid"},
			noneAnswered,
		}}
	subReply = &rule{ID: "aaep-sub-reply", Title: "the user's decision is sent as a valid reply to its question",
		Cite: "AAEP 9.4.2 (2, 3, 4)", Level: 2,
		Why: "an agent acts on the reply that it gets, not on the one that the user meant",
		Fix: "send confirmation.reply with the question's reply_token and the user's decision",
		Codes: []strict.Code{
			{"no-reply-capability", "the capabilities do not say supports_confirmation_reply: true",
				"set supports_confirmation_reply to true"},
			{"not-an-object", "a message of the subscriber is not a JSON object", "send each message as a JSON object"},
			{"missing-member", "a reply lacks a member that it requires", "send the member that the message names"},
			{"member-value", "a member of a reply has a value that its type does not know",
				"use a value that the message names"},
			{"token-unknown", "a reply has a reply_token that no question of the run has",
				"echo the reply_token exactly as it was received"},
			{"other-subscription", "a reply names another subscription than the one that was accepted",
				"send the subscription_id of subscription.accepted"},
			{"other-decision", "a reply has another decision than the tester was asked for",
				"send the decision that the user made"},
			noReply, lateReply,
			{"answered-twice", "a question has two replies", "send one reply for each reply_token"},
			notPlayed,
		}}
	subClarify = &rule{ID: "aaep-sub-clarify", Title: "a clarification is answered in a kind that it accepts",
		Cite: "AAEP 9.4.2 (7)", Level: 2,
		Why: "an agent that gets a text for a number asks again, or guesses",
		Fix: "send clarification.reply with a response of an accepted kind",
		Codes: []strict.Code{
			{"response-kind", "the response is not of the kind that the question accepts",
				"send true or false for yes_no, a number for numeric, else a text"},
			{"response-choice", "the response is not a listed choice", "send the value of a listed choice"},
			{"no-reply", "the question has no reply", "answer as the question says, or give a longer --timeout"},
			lateReply, notPlayed,
		}}
	subConsent = &rule{ID: "aaep-sub-consent", Title: "nothing is answered if the user does not answer",
		Cite: "AAEP 9.4.2 (6)", Level: 2,
		Why: "silence must not become consent",
		Fix: "send a reply only if the user answered",
		Codes: []strict.Code{
			{"answered-unasked", "a question has a reply that the tester was asked not to answer",
				"send a reply only if the user answered"},
			noneAnswered,
		}}
	subCancel = &rule{ID: "aaep-sub-cancel", Title: "a question that was withdrawn is not answered any more",
		Cite: "AAEP 9.4.2 (9), 6.8", Level: 2,
		Why: "a user who answers a withdrawn question believes that the answer counts",
		Fix: "drop a pending question when its session leaves awaiting_input",
		Codes: []strict.Code{
			{"answered-withdrawn", "a reply came to a question whose session had gone on",
				"drop a pending question when its session leaves awaiting_input"},
			noneAnswered,
		}}
	subHandshake = &rule{ID: "aaep-sub-handshake",
		Title: "each subscription is requested, and its honored terms are accepted",
		Cite:  "AAEP 9.5.2 (2, 3, 9)", Level: 3,
		Why: "a producer that does not know what a subscriber can show sends what it cannot",
		Fix: "begin with subscription.request, and serve the user with what was honored",
		Codes: []strict.Code{
			{"no-request", "a connection takes events without subscription.request", "send subscription.request first"},
			lacksMember, wrongMember,
			{"subscriber-gone", "the subscriber left under a lower rate than it had requested",
				"accept the rate that was honored"},
			{"no-reply", "the question after 3 s at a lower rate has no reply", "answer questions at any rate"},
		}}
	subOrder = &rule{ID: "aaep-sub-order", Title: "duplicate events and events out of order are detected",
		Cite: "AAEP 9.5.2 (5, 6)", Level: 3,
		Why: "a user who hears a question twice may answer it twice",
		Fix: "drop events by event_id, and order them by sequence_number",
		Codes: []strict.Code{
			{"answered-twice", "a question that came twice with one event_id has two replies",
				"drop an event whose event_id was seen"},
			{"answered-stale", "a reply came to a question whose session had gone on, by its sequence_number",
				"order events by sequence_number"},
			noReply, noneAnswered,
		}}
	subManifest = &rule{ID: "aaep-sub-manifest", Title: "a signed manifest is verified where it is required",
		Cite: "AAEP 9.5.2 (8)", Level: 3,
		Why: "anyone can pretend to be a producer whose signature nobody verifies",
		Fix: "verify signature, algorithm and agent_id before you take events",
		Codes: []strict.Code{
			{"bad-manifest-taken", "the subscriber takes events under a manifest that it must refuse",
				"verify the signature, its algorithm and the agent_id, and close the subscription if one is wrong"},
			{"manifest-refused", "the subscriber takes no events under a manifest that is signed well",
				"give the key that the subscriber trusts: --manifest-key FILE"},
			{notExercised, "the subscriber did not ask again after each manifest with a fault",
				"ask again after a manifest was refused, or give the subscriber's command after --"},
		}}
	subClose = &rule{ID: "aaep-sub-close", Title: "the subscription is closed when the subscriber stops",
		Cite: "AAEP 9.5.2 (7)", Level: 3,
		Why: "a producer that does not know that its user has left keeps a question open",
		Fix: "send subscription.close before the connection ends",
		Codes: []strict.Code{
			{"no-close", "the connection ended without subscription.close, or the command had to be killed",
				"send subscription.close with the subscription_id at SIGTERM, then close the connection"},
			{"not-stopped", "the subscriber was not stopped in the time of --timeout",
				"stop the subscriber when the run asks for it, or give its command after --"},
		}}
)

// These rules are decided by the text of a claim and its report.
var (
	claimText = &rule{ID: "aaep-claim",
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
	claimReport = &rule{ID: "aaep-claim-report", Title: "the report says what is claimed", Cite: "AAEP 9.8, 9.7 (4)",
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

// otherRules are the requirements that people attest, and those that checks of other rows decide.
var otherRules = []rule{
	manual("AAEP-P1.3b", "9.3.1 (3)", "every substantive transition is reported"),
	manual("AAEP-P1.4b", "9.3.1 (4)", "the tool's side effect comes after agent.tool.invoked"),
	manual("AAEP-P1.9b", "9.3.1 (9)", "summaries say what happens"),
	manual(plainTool, "9.4.1 (2), 4.3.1", "irreversible and risk_level say what the action is"),
	manual("AAEP-P2.5b", "9.4.1 (5), 6.3.4 (5)", "the client that replies is authenticated"),
	manual("AAEP-P2.7", "9.4.1 (7)", "clarification is asked for where it is genuinely needed, and its kinds are true"),
	decided("AAEP-P2.8", "9.4.1 (8)", "a clarification reply of a wrong type is rejected", liveClarify.ID),
	manual("AAEP-P2.10", "9.4.1 (10)", "a handoff is requested where the session cannot be completed"),
	manual("AAEP-C7.5", "9.7 (5)", "the report is kept where the public can read it"),
	manual("AAEP-C10", "9.10", "disputes are reproduced, answered in reasonable time and recorded"),

	manual("AAEP-S1.3", "9.3.2 (3)", "starts, ends and tool calls are announced at the user's verbosity"),
	manual("AAEP-S1.4", "9.3.2 (4)", "a user can tell completed, errored and cancelled apart"),
	manual("AAEP-S1.7", "9.3.2 (7)", "critical events are prominent and never suppressed"),
	manual("AAEP-S2.5", "9.4.2 (5)", "a user has a clear way to reply"),
	manual("AAEP-S2.6", "9.4.2 (6)", "nothing is answered on the user's behalf unless the user configured it so"),
	manual("AAEP-S2.9", "9.4.2 (9)", "the cancelling of a pending confirmation reaches the user"),

	manual("AAEP-S1.8", "9.3.2, 9.4.2, 9.5.2", "what is received reaches the user, in speech, braille and haptics"),
	decided("AAEP-S1.1", "9.3.2 (1)", "events are received over a conforming transport", subTransport.ID),
	decided("AAEP-S1.2", "9.3.2 (2)", "the envelope of incoming events is validated", subEnvelope.ID),
	decided("AAEP-S1.5", "9.3.2 (5)", "an unknown type is handled gracefully", subUnknown.ID),
	decided("AAEP-S1.6", "9.3.2 (6)", "unknown extensions are handled gracefully", subUnknown.ID),
	decided("AAEP-S2.2", "9.4.2 (2)", "supports_confirmation_reply is declared", subReply.ID),
	decided("AAEP-S2.3", "9.4.2 (3)", "the user's decision is sent as confirmation.reply", subReply.ID),
	decided("AAEP-S2.4", "9.4.2 (4)", "the reply_token is echoed exactly", subReply.ID),
	decided("AAEP-S2.7", "9.4.2 (7)", "clarifications are answered as confirmations are", subClarify.ID),
	manual("AAEP-S2.8", "9.4.2 (8)", "replies are forwarded correctly, where they are"),
	manual("AAEP-P3.2", "9.5.1 (2), 5.9", "no subscription degrades another"),
	decided("AAEP-P3.3", "9.5.1 (3)", "each request is answered by subscription.accepted or subscription.rejected",
		"aaep-handshake and "+liveHandshake.ID),
	decided("AAEP-P3.4", "9.5.1 (4), 5.4.4",
		"honored capabilities are no more permissive than those requested", "aaep-honored"),
	manual("AAEP-P3.5", "9.5.1 (5), 5.3.1.3", "summaries are in the language that they name"),
	decided("AAEP-P3.6", "9.5.1 (6)", "subscription.renegotiate is accepted and applied",
		"aaep-handshake, "+liveRenegotiate.ID+" and the checks of the terms"),
	manual("AAEP-P3.7", "9.5.1 (7)", "a closed subscription's resources are released"),
	decided("AAEP-P3.8", "9.5.1 (8), 5.10", "a manifest is published where it can be discovered", liveManifest.ID),
	manual("AAEP-P3.9", "9.5.1 (9), 10.4.3", "the keys of signed manifests are distributed safely"),
	manual("AAEP-P3.10", "9.5.1 (10)", "an event that was held is not stamped late"),
	decided("AAEP-S3.2", "9.5.2 (2)", "each subscription begins with a request that has capabilities", subHandshake.ID),
	decided("AAEP-S3.3", "9.5.2 (3)", "the producer's honored capabilities are honored", subHandshake.ID),
	manual("AAEP-S3.4", "9.5.2 (4)", "needs that change are renegotiated"),
	decided("AAEP-S3.5", "9.5.2 (5)", "events out of order are detected", subOrder.ID),
	decided("AAEP-S3.6", "9.5.2 (6)", "duplicate events are dropped", subOrder.ID),
	decided("AAEP-S3.7", "9.5.2 (7)", "the subscription is closed on shutdown", subClose.ID),
	decided("AAEP-S3.8", "9.5.2 (8)", "signed manifests are verified, where they are required", subManifest.ID),
	decided("AAEP-S3.9", "9.5.2 (9)", "critical events are honored under backpressure", subHandshake.ID),

	decided("AAEP-F1", "9.6 (1)", "a profile's core tests pass at the profile's level",
		"a run of producer or subscriber at that level"),
	manual(profileRow, "9.6 (1)", "the claimed level is at least the one that the profile requires"),
	manual("AAEP-F2", "9.6 (2)", "the fixtures that the profile publishes pass"),
	decided("AAEP-F3", "9.6 (3)", "the claim names the profile's URI and version", claimText.ID),
}

// row returns a requirement. Its id names the role and, of a producer and a subscriber, the level: AAEP-P1.3b is one of
// a producer at level 1.
func row(id, clause, title string) rule {
	r := rule{ID: id, Cite: "AAEP " + clause, Title: title, Role: claimant}
	of := strings.TrimPrefix(id, "AAEP-")
	if i := strings.IndexByte("PS", of[0]); i >= 0 {
		r.Role, r.Level = []string{producer, subscriber}[i], int(of[1]-'0')
	}
	return r
}

// manual returns a requirement that nobody can see from outside.
func manual(id, clause, title string) rule {
	r := row(id, clause, title)
	r.Method = verdict.Attested
	r.Why, r.Fix = "nobody can see it from outside", "have people who know the implementation attest it"
	return r
}

// seeRow is between the title of a requirement and the rows that decide it.
const seeRow = ": see "

// decided returns a requirement that checks of other rows decide.
func decided(id, clause, title, by string) rule {
	r := row(id, clause, title+seeRow+by)
	r.Why, r.Fix = "one check may decide several requirements: see "+by, "fix the findings of "+by
	if strings.HasPrefix(by, "aaep-sub-") || strings.HasPrefix(by, "aaep-live-") {
		r.Method = verdict.Live
	}
	return r
}

// byOther reports whether other rows decide a requirement.
func byOther(rule rule) bool { return strings.Contains(rule.Title, seeRow) }

// SubscriberRows returns the requirements on a running subscriber at a level: those that its plays show, and those for
// people.
func SubscriberRows(level int) []rule {
	return rowsOf(subscriber, level)
}

// rowsOf returns the requirements of a role at a level, without those that checks of other rows decide.
func rowsOf(role string, level int) []rule {
	return slices.DeleteFunc(slices.Clone(Rules), func(r rule) bool {
		return r.Role != role || r.Level > level || byOther(r)
	})
}

// DecidedBy names the check, the plays or the people that decide a row.
func DecidedBy(rule rule) string {
	if _, by, found := strings.Cut(rule.Title, seeRow); found {
		return by
	}
	names := playsOf(rule.ID)
	switch {
	case rule.Method == verdict.Attested:
		return "people"
	case len(names) == 1:
		return "the play " + names[0]
	case len(names) > 1:
		return "the plays " + strings.Join(names, ", ")
	case rule.Method == verdict.Live:
		return rule.ID + ", in producer"
	}
	return rule.ID
}

// Rows returns the requirements for a producer at a level: those that its stream shows, by themselves or together,
// those that a running one shows, and those for people.
func Rows(o Options) []rule {
	if !o.Single {
		return rowsOf(producer, o.Level)
	}
	var rows []rule
	for _, check := range o.checks() {
		rows = append(rows, *check)
	}
	return rows
}
