// Package aaep has the requirements of AAEP's chapter 9, and its messages. AAEP is the protocol by which an agent
// informs
// assistive technology of what it does.
//
// Package judge judges the messages of a capture, client holds sessions with a running producer, server plays a
// producer
// for a running subscriber, and claim judges what a text says of either.
package aaep

import (
	"slices"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// ProfileRow is the row by which people attest that the level of a claim is that of its profile.
const ProfileRow = "AAEP-F1b"

// PlainTool is the row by which people attest that a call says what it does.
const PlainTool = "AAEP-P2.2b"

// NotExercised is what an input comes to that shows nothing of a required behaviour.
const NotExercised = "not-exercised"

// The roles of the catalogue.
const (
	Producer   = "producer"
	Subscriber = "subscriber"
	Claimant   = "claimant"
)

// Rules are the requirements of chapter 9, in the order of a report: those of a stream, those of a running producer,
// those of a running subscriber, those of a claim, and what is not decided here.
var Rules = slices.Concat(of(Producer, verdict.Mechanical, StreamRules...), of(Producer, verdict.Live, liveRules...),
	of(Subscriber, verdict.Live, SubscriberRules...), of(Claimant, verdict.Mechanical, ClaimText, ClaimReport),
	otherRules)

// The rules that a stream decides on its sessions and on its subscriptions, those that a running producer decides, and
// those that a running subscriber does.
var (
	sessionRules = []*Rule{Envelope, MemberSchema, Lifecycle, StateRule, Tools, Output, Summary, Urgency,
		DefaultDecision,
		Confirmation, Blocking, Resolution}
	TermRules   = []*Rule{Handshake, Honored, Rate, Filters, Coalescing, Language, Closing} // of level 3
	StreamRules = slices.Concat(sessionRules, TermRules)
	liveRules   = []*Rule{LiveStream, LiveForged, LiveTwice, LiveLate, LiveTimeout, LiveClarify, LiveHandshake,
		LiveCritical, LiveRenegotiate, LiveClose, LiveManifest, LiveSigned}
	SubscriberRules = []*Rule{SubTransport, SubUnknown, SubEnvelope, SubReply, SubClarify, SubConsent, SubCancel,
		SubHandshake, SubOrder, SubManifest, SubClose}
)

// Catalogue are the rules as the runner takes them.
var Catalogue = conformance.Catalogue(Rules)

type Rule = verdict.Rule

// of sets the role and the method of rules, and returns their values.
func of(role string, method verdict.Method, rules ...*Rule) (values []Rule) {
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
	noScenario = strict.Code{NotExercised, "no scenario brought about what the check needs; nothing was decided",
		"write a scenario that makes the producer ask for a confirmation with a short timeout"}
	badRejection = strict.Code{"member-value", "a subscription.rejected lacks a member, or has a value that it does " +
		"not know", "use one of the eight reason codes of section 5.5.3, and a reason_message"}
	otherReason = strict.Code{"reason-code", "the reason_code is not the one of that rejection",
		"use the reason_code that the message names"}
	notSubscribed = strict.Code{NotExercised, "the producer rejected the subscription, or its session asks nothing; " +
		"nothing was decided",
		"accept an ordinary subscription, and begin the scenarios with one of reply accept that asks"}
	otherAgent = strict.Code{"manifest-agent", "the manifest is of another agent_id than subscription.accepted",
		"use the same agent_id in both"}
	noneAnswered = strict.Code{NotExercised, "no question of the run was answered, so that silence shows nothing",
		"play accept or reject, too"}
	noReply = strict.Code{"no-reply", "the question has no reply",
		"answer as its action says, or give a longer --timeout"}
	lateReply = strict.Code{"late-reply", "a reply came after the timeout of its question",
		"answer within timeout_seconds, or give a longer --timeout"}
	notPlayed = strict.Code{NotExercised, "not each play of the check was played",
		"leave --scenario out, or name the plays that the message names"}
)

// otherRules are the requirements that people attest, and those that checks of other rows decide.
var otherRules = []Rule{
	manual("AAEP-P1.3b", "9.3.1 (3)", "every substantive transition is reported"),
	manual("AAEP-P1.4b", "9.3.1 (4)", "the tool's side effect comes after agent.tool.invoked"),
	manual("AAEP-P1.9b", "9.3.1 (9)", "summaries say what happens"),
	manual(PlainTool, "9.4.1 (2), 4.3.1", "irreversible and risk_level say what the action is"),
	manual("AAEP-P2.5b", "9.4.1 (5), 6.3.4 (5)", "the client that replies is authenticated"),
	manual("AAEP-P2.7", "9.4.1 (7)", "clarification is asked for where it is genuinely needed, and its kinds are true"),
	decided("AAEP-P2.8", "9.4.1 (8)", "a clarification reply of a wrong type is rejected", LiveClarify.ID),
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
	decided("AAEP-S1.1", "9.3.2 (1)", "events are received over a conforming transport", SubTransport.ID),
	decided("AAEP-S1.2", "9.3.2 (2)", "the envelope of incoming events is validated", SubEnvelope.ID),
	decided("AAEP-S1.5", "9.3.2 (5)", "an unknown type is handled gracefully", SubUnknown.ID),
	decided("AAEP-S1.6", "9.3.2 (6)", "unknown extensions are handled gracefully", SubUnknown.ID),
	decided("AAEP-S2.2", "9.4.2 (2)", "supports_confirmation_reply is declared", SubReply.ID),
	decided("AAEP-S2.3", "9.4.2 (3)", "the user's decision is sent as confirmation.reply", SubReply.ID),
	decided("AAEP-S2.4", "9.4.2 (4)", "the reply_token is echoed exactly", SubReply.ID),
	decided("AAEP-S2.7", "9.4.2 (7)", "clarifications are answered as confirmations are", SubClarify.ID),
	manual("AAEP-S2.8", "9.4.2 (8)", "replies are forwarded correctly, where they are"),
	manual("AAEP-P3.2", "9.5.1 (2), 5.9", "no subscription degrades another"),
	decided("AAEP-P3.3", "9.5.1 (3)", "each request is answered by subscription.accepted or subscription.rejected",
		"aaep-handshake and "+LiveHandshake.ID),
	decided("AAEP-P3.4", "9.5.1 (4), 5.4.4",
		"honored capabilities are no more permissive than those requested", "aaep-honored"),
	manual("AAEP-P3.5", "9.5.1 (5), 5.3.1.3", "summaries are in the language that they name"),
	decided("AAEP-P3.6", "9.5.1 (6)", "subscription.renegotiate is accepted and applied",
		"aaep-handshake, "+LiveRenegotiate.ID+" and the checks of the terms"),
	manual("AAEP-P3.7", "9.5.1 (7)", "a closed subscription's resources are released"),
	decided("AAEP-P3.8", "9.5.1 (8), 5.10", "a manifest is published where it can be discovered", LiveManifest.ID),
	manual("AAEP-P3.9", "9.5.1 (9), 10.4.3", "the keys of signed manifests are distributed safely"),
	manual("AAEP-P3.10", "9.5.1 (10)", "an event that was held is not stamped late"),
	decided("AAEP-S3.2", "9.5.2 (2)", "each subscription begins with a request that has capabilities", SubHandshake.ID),
	decided("AAEP-S3.3", "9.5.2 (3)", "the producer's honored capabilities are honored", SubHandshake.ID),
	manual("AAEP-S3.4", "9.5.2 (4)", "needs that change are renegotiated"),
	decided("AAEP-S3.5", "9.5.2 (5)", "events out of order are detected", SubOrder.ID),
	decided("AAEP-S3.6", "9.5.2 (6)", "duplicate events are dropped", SubOrder.ID),
	decided("AAEP-S3.7", "9.5.2 (7)", "the subscription is closed on shutdown", SubClose.ID),
	decided("AAEP-S3.8", "9.5.2 (8)", "signed manifests are verified, where they are required", SubManifest.ID),
	decided("AAEP-S3.9", "9.5.2 (9)", "critical events are honored under backpressure", SubHandshake.ID),

	decided("AAEP-F1", "9.6 (1)", "a profile's core tests pass at the profile's level",
		"a run of producer or subscriber at that level"),
	manual(ProfileRow, "9.6 (1)", "the claimed level is at least the one that the profile requires"),
	manual("AAEP-F2", "9.6 (2)", "the fixtures that the profile publishes pass"),
	decided("AAEP-F3", "9.6 (3)", "the claim names the profile's URI and version", ClaimText.ID),
}

// row returns a requirement. Its id names the role and, of a producer and a subscriber, the level: AAEP-P1.3b is one of
// a producer at level 1.
func row(id, clause, title string) Rule {
	r := Rule{ID: id, Cite: "AAEP " + clause, Title: title, Role: Claimant}
	of := strings.TrimPrefix(id, "AAEP-")
	if i := strings.IndexByte("PS", of[0]); i >= 0 {
		r.Role, r.Level = []string{Producer, Subscriber}[i], int(of[1]-'0')
	}
	return r
}

// manual returns a requirement that nobody can see from outside.
func manual(id, clause, title string) Rule {
	r := row(id, clause, title)
	r.Method = verdict.Attested
	r.Why, r.Fix = "nobody can see it from outside", "have people who know the implementation attest it"
	return r
}

// SeeRow is between the title of a requirement and the rows that decide it.
const SeeRow = ": see "

// decided returns a requirement that checks of other rows decide.
func decided(id, clause, title, by string) Rule {
	r := row(id, clause, title+SeeRow+by)
	r.Why, r.Fix = "one check may decide several requirements: see "+by, "fix the findings of "+by
	if strings.HasPrefix(by, "aaep-sub-") || strings.HasPrefix(by, "aaep-live-") {
		r.Method = verdict.Live
	}
	return r
}

// ByOther reports whether other rows decide a requirement.
func ByOther(rule Rule) bool { return strings.Contains(rule.Title, SeeRow) }

// SubscriberRows returns the requirements on a running subscriber at a level: those that its plays show, and those for
// people.
func SubscriberRows(level int) []Rule {
	return RowsOf(Subscriber, level)
}

// RowsOf returns the requirements of a role at a level, without those that checks of other rows decide.
func RowsOf(role string, level int) []Rule {
	return slices.DeleteFunc(slices.Clone(Rules), func(r Rule) bool {
		return r.Role != role || r.Level > level || ByOther(r)
	})
}
