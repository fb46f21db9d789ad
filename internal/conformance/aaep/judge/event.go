package judge

import (
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/form"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// judgeSchema checks a core event's members by its type.
func judgeSchema(m *aaep.Message, say sayer) {
	aaep.JudgeMembers(aaep.MemberSchema, m.Core, m.Core, m.Members, say)
	aaep.JudgeMembers(aaep.MemberSchema, aaep.EveryCore, m.Core, m.Members, say)
}

// judgeOther checks the members of a reply, or of a message of the subscription.
func judgeOther(m *aaep.Message, say sayer) {
	if aaep.Shapes()[m.Name] == nil {
		say(aaep.MemberSchema, verdict.Error, "/type", "member-value",
			"type is %s; expected a message of the subscription: request, "+
				"accepted, rejected, renegotiate or close", form.Show(m.Members["type"]))
		return
	}
	aaep.JudgeMembers(aaep.MemberSchema, m.Name, m.Name, m.Members, say)
}

// judgeSummary wants words for what is likely to be announced.
func judgeSummary(m *aaep.Message, say sayer) {
	severity := verdict.Error
	switch {
	case m.Core == aaep.SessionStarted, m.Core == aaep.ToolInvoked, m.Terminal():
	case m.Asks(), m.Core == aaep.HandoffRequested:
		severity = verdict.Warning
	default:
		return
	}
	if _, there := m.Members["summary_normal"]; !there {
		say(aaep.Summary, severity, "", "no-summary", "%s has no summary_normal, which is what is announced", m.Core)
	}
}

// judgeUrgency wants errors, questions and handoffs critical.
func judgeUrgency(m *aaep.Message, say sayer) {
	if m.Core != aaep.SessionErrored && !m.Asks() && m.Core != aaep.HandoffRequested {
		return
	}
	switch v, there := m.Members["urgency"]; {
	case !there:
		say(aaep.Urgency, verdict.Error, "", "not-critical", "%s has no urgency, which means normal; expected critical",
			m.Core)
	case v != "critical":
		say(aaep.Urgency, verdict.Error, "/urgency", "not-critical", "urgency of %s is %s; expected critical", m.Core,
			form.Show(v))
	}
}

// judgeDefault wants no default of accept for what cannot be taken back (section 6.4.1).
func judgeDefault(m *aaep.Message, say sayer) {
	if m.Core != aaep.AwaitingConfirmation || m.Members["default_decision"] != "accept" {
		return
	}
	risk := m.Text("risk_level")
	forever := m.IsTrue("irreversible") || m.Members["reversibility"] == "irreversible"
	const at, code = "/default_decision", "default-accept"
	switch {
	case forever && (risk == "high" || risk == "medium"):
		say(aaep.DefaultDecision, verdict.Error, at, code,
			"default_decision is accept for an irreversible action of %s risk; expected reject", risk)
	case forever:
		say(aaep.DefaultDecision, verdict.Warning, at, code,
			"default_decision is accept for an irreversible action, reject is better")
	case risk == "high":
		say(aaep.DefaultDecision, verdict.Warning, at, code,
			"default_decision is accept for an action of high risk, reject is better")
	}
}
