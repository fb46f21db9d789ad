package aaep

import (
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// These rules are decided by sessions with a running producer.
var (
	LiveStream = &Rule{ID: "aaep-live-stream", Title: "a running producer serves its events, and ends its sessions",
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
	LiveForged = &Rule{ID: "aaep-live-forged", Title: "a reply with a token that was never issued is ignored",
		Cite: "AAEP 9.4.1 (5), 6.3.4 (2)", Level: 2,
		Why: "a client that does not know the token must not be able to accept anything",
		Fix: "act on a reply only where its token is of an open question",
		Codes: []strict.Code{
			{"forged-accepted", "an irreversible tool was invoked after a reply with a token that was never issued",
				"look the token up among the open questions, and ignore what is not there"},
			unclearProbe, noScenario,
		}}
	LiveTwice = &Rule{ID: "aaep-live-twice", Title: "the first reply to a question counts, and no other",
		Cite: "AAEP 9.4.1 (6), 6.3.5", Level: 2,
		Why: "nobody may overrule the no of a user",
		Fix: "close the question at its first valid reply",
		Codes: []strict.Code{
			{"second-reply-honored", "an irreversible tool was invoked after a reject, since an accept followed it",
				"close the question at its first valid reply"},
			unclearProbe, noScenario,
		}}
	LiveLate = &Rule{ID: "aaep-live-late", Title: "a reply after the timeout is ignored",
		Cite: "AAEP 9.4.1 (5), 6.3.4 (4)", Level: 2,
		Why: "after the timeout the default was applied, and the user has heard so",
		Fix: "close the question at its timeout",
		Codes: []strict.Code{
			{"late-accepted", "an irreversible tool was invoked after an accept that came past the timeout",
				"close the question at its timeout"},
			unclearProbe, noScenario,
		}}
	LiveTimeout = &Rule{ID: "aaep-live-timeout", Title: "the default is applied when the timeout has passed",
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
	LiveClarify = &Rule{ID: "aaep-live-clarification", Title: "a clarification reply of a wrong type is rejected",
		Cite:  "AAEP 9.4.1 (8), 6.5.5",
		Level: 2, Why: "an answer that the producer cannot use must not move the session on",
		Fix: "check the type of response before the question is closed, and keep waiting for another reply",
		Codes: []strict.Code{
			{"wrong-kind-accepted", "the session continued after a clarification reply whose response is of no kind",
				"reject a response that accepted_response_kinds does not list, and keep the question open"},
			noScenario,
		}}
	LiveHandshake = &Rule{ID: "aaep-live-handshake",
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
	LiveCritical = &Rule{ID: "aaep-live-critical", Title: "a filter removes tool events, and never a question",
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
	LiveRenegotiate = &Rule{ID: "aaep-live-renegotiate", Title: "a lower rate can be renegotiated",
		Cite: "AAEP 9.5.1 (6), 5.7", Level: 3,
		Why: "a user whose device falls behind needs fewer events now, not in the next session",
		Fix: "answer subscription.renegotiate with subscription.accepted, and apply it to the events that follow",
		Codes: []strict.Code{
			{"no-answer", "a renegotiation has no answer, neither in its response nor in the stream",
				"answer with subscription.accepted or subscription.rejected"},
			{"renegotiate-rejected", "a renegotiation that only lowers the rate is rejected", "accept a lower rate"},
			notSubscribed,
		}}
	LiveClose = &Rule{ID: "aaep-live-close",
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
			{NotExercised, notSubscribed.Meaning + ", or no question has a timeout of 10 s or more",
				"add a scenario named held, whose question has timeout_seconds of 10 or more"},
		}}
	LiveManifest = &Rule{ID: "aaep-live-manifest", Title: "the producer publishes a manifest of itself",
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
	LiveSigned = &Rule{ID: "aaep-live-signed",
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
	SubTransport = &Rule{ID: "aaep-sub-transport",
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
	SubUnknown = &Rule{ID: "aaep-sub-unknown", Title: "unknown types and extensions do not disturb the subscriber",
		Cite: "AAEP 9.3.2 (5, 6)", Level: 1,
		Why: "the protocol grows; a subscriber that stops at what it does not know leaves its user alone",
		Fix: "announce events of unknown types generically, and ignore unknown extensions",
		Codes: []strict.Code{
			{"subscriber-gone", "the subscriber left after an event of an unknown type or with an unknown extension",
				"announce such events generically, and keep the connection"},
			{"no-reply", "the question after such an event has no reply", "answer the questions that follow"},
		}}
	SubEnvelope = &Rule{ID: "aaep-sub-envelope", Title: "events with an invalid envelope are dropped",
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
	SubReply = &Rule{ID: "aaep-sub-reply", Title: "the user's decision is sent as a valid reply to its question",
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
	SubClarify = &Rule{ID: "aaep-sub-clarify", Title: "a clarification is answered in a kind that it accepts",
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
	SubConsent = &Rule{ID: "aaep-sub-consent", Title: "nothing is answered if the user does not answer",
		Cite: "AAEP 9.4.2 (6)", Level: 2,
		Why: "silence must not become consent",
		Fix: "send a reply only if the user answered",
		Codes: []strict.Code{
			{"answered-unasked", "a question has a reply that the tester was asked not to answer",
				"send a reply only if the user answered"},
			noneAnswered,
		}}
	SubCancel = &Rule{ID: "aaep-sub-cancel", Title: "a question that was withdrawn is not answered any more",
		Cite: "AAEP 9.4.2 (9), 6.8", Level: 2,
		Why: "a user who answers a withdrawn question believes that the answer counts",
		Fix: "drop a pending question when its session leaves awaiting_input",
		Codes: []strict.Code{
			{"answered-withdrawn", "a reply came to a question whose session had gone on",
				"drop a pending question when its session leaves awaiting_input"},
			noneAnswered,
		}}
	SubHandshake = &Rule{ID: "aaep-sub-handshake",
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
	SubOrder = &Rule{ID: "aaep-sub-order", Title: "duplicate events and events out of order are detected",
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
	SubManifest = &Rule{ID: "aaep-sub-manifest", Title: "a signed manifest is verified where it is required",
		Cite: "AAEP 9.5.2 (8)", Level: 3,
		Why: "anyone can pretend to be a producer whose signature nobody verifies",
		Fix: "verify signature, algorithm and agent_id before you take events",
		Codes: []strict.Code{
			{"bad-manifest-taken", "the subscriber takes events under a manifest that it must refuse",
				"verify the signature, its algorithm and the agent_id, and close the subscription if one is wrong"},
			{"manifest-refused", "the subscriber takes no events under a manifest that is signed well",
				"give the key that the subscriber trusts: --manifest-key FILE"},
			{NotExercised, "the subscriber did not ask again after each manifest with a fault",
				"ask again after a manifest was refused, or give the subscriber's command after --"},
		}}
	SubClose = &Rule{ID: "aaep-sub-close", Title: "the subscription is closed when the subscriber stops",
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
