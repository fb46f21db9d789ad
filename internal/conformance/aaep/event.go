package aaep

import (
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

const contextURL = "https://aaep-protocol.org/context/v1"

// judgeEnvelope checks what every event has.
func judgeEnvelope(m *message, say sayer) {
	for _, row := range envelopeTable() {
		v, there := m.members[row.name]
		switch {
		case !there && row.required:
			say(envelope, verdict.Error, "", "missing-member", "%s is missing; expected %s", row.name,
				row.words).WithFix("add %s: %s", row.name, row.words)
		case row.name == "type" && m.core != "" && v == m.core:
			say(envelope, verdict.Error, "/type", row.code, "type is %s; expected %q", show(v),
				shortNamespace+m.core).WithFix("set type to %q", shortNamespace+m.core)
		case there && !row.holds(v):
			say(envelope, verdict.Error, "/"+row.name, row.code, "%s is %s; expected %s", row.name, show(v),
				row.words).WithFix("set %s to %s", row.name, row.words)
		}
	}
}

// judgeSchema checks a core event's members by its type.
func judgeSchema(m *message, say sayer) {
	judgeMembers(schema, m.core, m.core, m.members, say)
	judgeMembers(schema, everyCore, m.core, m.members, say)
}

// judgeOther checks the members of a reply, or of a message of the subscription.
func judgeOther(m *message, say sayer) {
	if shapes()[m.name] == nil {
		say(schema, verdict.Error, "/type", "member-value",
			"type is %s; expected a message of the subscription: request, "+
				"accepted, rejected, renegotiate or close", show(m.members["type"]))
		return
	}
	judgeMembers(schema, m.name, m.name, m.members, say)
}

// judgeSummary wants words for what is likely to be announced.
func judgeSummary(m *message, say sayer) {
	severity := verdict.Error
	switch {
	case m.core == sessionStarted, m.core == toolInvoked, m.terminal():
	case m.asks(), m.core == handoffRequested:
		severity = verdict.Warning
	default:
		return
	}
	if _, there := m.members["summary_normal"]; !there {
		say(summary, severity, "", "no-summary", "%s has no summary_normal, which is what is announced", m.core)
	}
}

// judgeUrgency wants errors, questions and handoffs critical.
func judgeUrgency(m *message, say sayer) {
	if m.core != sessionErrored && !m.asks() && m.core != handoffRequested {
		return
	}
	switch v, there := m.members["urgency"]; {
	case !there:
		say(urgency, verdict.Error, "", "not-critical", "%s has no urgency, which means normal; expected critical",
			m.core)
	case v != "critical":
		say(urgency, verdict.Error, "/urgency", "not-critical", "urgency of %s is %s; expected critical", m.core,
			show(v))
	}
}

// judgeDefault wants no default of accept for what cannot be taken back (section 6.4.1).
func judgeDefault(m *message, say sayer) {
	if m.core != awaitingConfirmation || m.members["default_decision"] != "accept" {
		return
	}
	risk := m.text("risk_level")
	forever := m.isTrue("irreversible") || m.members["reversibility"] == "irreversible"
	const at, code = "/default_decision", "default-accept"
	switch {
	case forever && (risk == "high" || risk == "medium"):
		say(defaultDecision, verdict.Error, at, code,
			"default_decision is accept for an irreversible action of %s risk; expected reject", risk)
	case forever:
		say(defaultDecision, verdict.Warning, at, code,
			"default_decision is accept for an irreversible action, reject is better")
	case risk == "high":
		say(defaultDecision, verdict.Warning, at, code,
			"default_decision is accept for an action of high risk, reject is better")
	}
}
