package aaep

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

const contextURL = "https://aaep-protocol.org/context/v1"

// required are the members of every event.
var required = []string{"@context", "type", "event_id", "session_id", "timestamp", "producer"}

// judgeEnvelope looks at what one event says of itself.
func judgeEnvelope(m *message, say sayer) {
	for _, name := range required {
		if _, there := m.members[name]; !there {
			say(envelope, verdict.Error, "", "missing-member", "%s is missing, every event has it", name)
		}
	}
	wrong := func(name, code, want string) {
		say(envelope, verdict.Error, "/"+name, code, "%s is %s, %s is needed", name, show(m.members[name]), want)
	}
	for _, name := range required {
		v, there := m.members[name]
		if !there {
			continue
		}
		text, _ := v.(string)
		switch name {
		case "@context":
			if !isContext(v) {
				wrong(name, "context", fmt.Sprintf("%q, or a list of texts that begins with it,", contextURL))
			}
		case "type":
			if m.core == "" && !m.foreign {
				wrong(name, "type-unknown", "a core type, or one in a namespace of your own,")
			} else if text == m.core {
				wrong(name, "type-unknown", fmt.Sprintf("%q", shortNamespace+m.core))
			}
		case "event_id":
			if !isID(text, "evt_") {
				wrong(name, "event-id", "evt_ and 1 to 64 letters or digits")
			}
		case "session_id":
			if !isID(text, "sess_") {
				wrong(name, "session-id", "sess_ and 1 to 64 letters or digits")
			}
		case "timestamp":
			if !isTimestamp(text) {
				wrong(name, "timestamp", "an RFC 3339 time with an offset and no, three or six fraction digits")
			}
		case "producer":
			if strict.String(v, "agent_id") == "" {
				say(envelope, verdict.Error, "/producer", "producer",
					"producer has no agent_id, a text that is not empty is needed")
			}
		}
	}
	if v, there := m.members["urgency"]; there && !slices.Contains([]any{"background", "normal", "critical"}, v) {
		wrong("urgency", "urgency-value", "background, normal or critical")
	}
	if v, there := m.members["sequence_number"]; there {
		if n, ok := integer(v); !ok || n < 0 {
			wrong("sequence_number", "sequence", "a whole number from 0")
		}
	}
}

func isContext(v any) bool {
	list, ok := v.([]any)
	if !ok {
		return v == contextURL
	}
	return len(list) > 0 && list[0] == contextURL &&
		!slices.ContainsFunc(list, func(v any) bool { _, text := v.(string); return !text })
}

func isTimestamp(s string) bool {
	_, fraction, found := strings.Cut(s, ".")
	digits := len(fraction) - len(strings.TrimLeft(fraction, "0123456789"))
	_, ok := strict.Time(s)
	return ok && (!found || digits == 3 || digits == 6)
}

// member is what a core type says of one of its members.
type member struct {
	name     string
	required bool
	value    domain
}

// domain is what a value may be.
type domain struct {
	holds func(any) bool
	words string // what it may be, for people
}

var (
	anyText   = text(1, 1<<14)
	decisions = oneOf("accept", "reject")
	risks     = oneOf("low", "medium", "high")
	boolean   = domain{func(v any) bool { _, ok := v.(bool); return ok }, "true or false"}
	object    = domain{func(v any) bool { _, ok := v.(map[string]any); return ok }, "an object"}
	texts     = domain{func(v any) bool {
		list, ok := v.([]any)
		return ok && !slices.ContainsFunc(list, func(v any) bool { _, text := v.(string); return !text })
	}, "a list of texts"}
)

func text(least, most int) domain {
	words := fmt.Sprintf("a text of %d to %d characters", least, most)
	return domain{func(v any) bool {
		s, ok := v.(string)
		n := utf8.RuneCountInString(s)
		return ok && n >= least && n <= most
	}, words}
}

func oneOf(words ...string) domain {
	last := len(words) - 1
	return domain{func(v any) bool { s, ok := v.(string); return ok && slices.Contains(words, s) },
		strings.Join(words[:last], ", ") + " or " + words[last]}
}

func manyOf(words ...string) domain {
	one := oneOf(words...)
	return domain{func(v any) bool {
		list, ok := v.([]any)
		return ok && len(list) > 0 && !slices.ContainsFunc(list, func(v any) bool { return !one.holds(v) })
	}, "a list of " + one.words}
}

func number(least, most int64) domain {
	words := fmt.Sprintf("a whole number of %d or more", least)
	if most < 1<<53 {
		words = fmt.Sprintf("a whole number of %d to %d", least, most)
	}
	return domain{func(v any) bool { n, ok := integer(v); return ok && n >= least && n <= most }, words}
}

func id(prefix string) domain {
	return domain{func(v any) bool { s, _ := v.(string); return isID(s, prefix) },
		prefix + " and 1 to 64 letters or digits"}
}

// isTool reports whether v is a tool's name: an ASCII letter or underscore and up to 255 letters, digits and _.-
func isTool(v any) bool {
	s, _ := v.(string)
	for i := range len(s) {
		c := s[i]
		letter := c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '_'
		if !letter && (i == 0 || !(c >= '0' && c <= '9' || c == '.' || c == '-')) {
			return false
		}
	}
	return len(s) >= 1 && len(s) <= 256
}

// membersOf are the core types with what each says of its members; summary_normal is judged elsewhere.
var membersOf = map[string][]member{
	sessionStarted:   {{"tools_available", false, texts}},
	sessionCompleted: {{"tools_available", false, texts}},
	sessionErrored:   {{"error_category", true, oneOf("transient", "permanent", "requires_user", "unknown")}},
	sessionCancelled: {{"cancelled_by", true, oneOf("user", "producer", "timeout", "system")}},
	stateChanged:     {{"from_state", true, text(1, 64)}, {"to_state", true, text(1, 64)}},
	progressUpdated:  {{"progress", true, object}},
	toolInvoked: {
		{"tool", true, domain{isTool, "a letter or underscore and up to 255 letters, digits, _, . or -"}},
		{"irreversible", false, boolean}, {"risk_level", false, risks}, {"tool_call_id", false, id("call_")}},
	toolCompleted: {{"tool", true, anyText}, {"status", true, oneOf("success", "error", "timeout")}},
	outputStreaming: {{"chunk", true, text(0, 1<<14)}, {"position", true, number(0, 1<<53)},
		{"complete", true, boolean},
		{"coalesce_hint", false, oneOf("none", "word", "sentence", "paragraph", "completion")},
		{"output_id", false, id("out_")}},
	awaitingConfirmation: {{"action", true, anyText}, {"consequence", true, anyText}, {"reply_token", true, id("rpl_")},
		{"timeout_seconds", true, number(1, 86400)}, {"default_decision", true, decisions},
		{"risk_level", false, risks}, {"irreversible", false, boolean}},
	awaitingClarification: {{"question", true, anyText}, {"reply_token", true, id("rpl_")},
		{"timeout_seconds", true, number(1, 86400)},
		{"accepted_response_kinds", false, manyOf("freetext", "multiple_choice", "yes_no", "numeric")}},
	handoffRequested: {{"reason", true, anyText},
		{"target_kind", true, oneOf("human", "specialist_agent", "escalation_queue")}},
}

var summaries = []member{{"summary_terse", false, text(1, 4096)}, {"summary_normal", false, text(1, 1<<14)},
	{"summary_detailed", false, text(1, 1<<14)}}

// judgeSchema holds a core event to the members of its type.
func judgeSchema(m *message, say sayer) {
	for _, members := range [][]member{membersOf[m.core], summaries} {
		for _, of := range members {
			v, there := m.members[of.name]
			switch {
			case !there && of.required:
				say(schema, verdict.Error, "", "missing-member", "%s is missing, %s has it", of.name, m.core)
			case there && !of.value.holds(v):
				say(schema, verdict.Error, "/"+of.name, "member-value", "%s is %s, %s is needed", of.name, show(v),
					of.value.words)
			}
		}
	}
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
		say(urgency, verdict.Error, "", "not-critical", "%s has no urgency, which means normal; critical is needed",
			m.core)
	case v != "critical":
		say(urgency, verdict.Error, "/urgency", "not-critical", "urgency of %s is %s, critical is needed", m.core,
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
			"default_decision is accept for an irreversible action of %s risk, reject is needed", risk)
	case forever:
		say(defaultDecision, verdict.Warning, at, code,
			"default_decision is accept for an irreversible action, reject is better")
	case risk == "high":
		say(defaultDecision, verdict.Warning, at, code,
			"default_decision is accept for an action of high risk, reject is better")
	}
}
