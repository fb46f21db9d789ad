package aaep

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// member is one row of the tables of members: the checks, the JSON Schemas, explain and the documentation follow it.
type member struct {
	name     string
	required bool
	value    domain
}

// domain is what a value may be: for the checks, for people, and as JSON Schema. The three say the same.
type domain struct {
	holds  func(any) bool
	words  string
	schema object
	// members are those of an object whose members are judged each at its own place.
	members []member
}

// messageType is a type of message, without its namespace, and its members.
type messageType struct {
	name    string
	members []member
}

var (
	anyText   = text(1, 1<<14)
	someText  = text(1, 0)
	decisions = oneOf("accept", "reject")
	risks     = oneOf("low", "medium", "high")
	verbosity = oneOf("terse", "normal", "detailed")
	// boundaries are compared without regard to case (5.4.4).
	boundaries = list(oneOf(hints...).words, 1, anyCase(hints...))
	hints      = []string{"none", "word", "sentence", "paragraph", "completion"}
	boolean    = domain{holds: func(v any) bool { _, ok := v.(bool); return ok }, words: "true or false",
		schema: object{"type": "boolean"}}
	anyObject = domain{holds: isObject, words: "an object", schema: object{"type": "object"}}
	texts     = list("texts", 0, domain{holds: func(v any) bool { _, ok := v.(string); return ok },
		schema: object{"type": "string"}})
	filled    = list("texts that are not empty", 1, someText)
	languages = list("language tags", 1, pattern(languageForm, languageTag, "a language tag"))
	levels    = list("levels of 1 to 3", 1, number(1, 3))
)

// The forms of a language tag (RFC 5646), whatever its subtags mean, and of a tool's name.
const (
	languageForm = `^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$`
	toolForm     = `^[A-Za-z_][A-Za-z0-9_.-]{0,255}$`
)

var (
	languageTag = plain.Pattern(languageForm)
	toolName    = plain.Pattern(toolForm)
)

// object is a JSON object.
type object = map[string]any

func isObject(v any) bool { _, ok := v.(object); return ok }

// text accepts a text of at least least characters; most is 0 if it has no limit.
func text(least, most int) domain {
	words := fmt.Sprintf("a text of %d to %d characters", least, most)
	form := object{"type": "string", "minLength": least}
	if most == 0 {
		words, most = "a text that is not empty", MaxMessage
	} else {
		form["maxLength"] = most
	}
	return domain{words: words, schema: form, holds: func(v any) bool {
		s, ok := v.(string)
		n := utf8.RuneCountInString(s)
		return ok && n >= least && n <= most
	}}
}

func oneOf(words ...string) domain {
	last := len(words) - 1
	return domain{holds: func(v any) bool { s, ok := v.(string); return ok && slices.Contains(words, s) },
		words: strings.Join(words[:last], ", ") + " or " + words[last], schema: object{"enum": words}}
}

// list accepts a list of at least least elements, which words names.
func list(words string, least int, of domain) domain {
	form := object{"type": "array", "items": of.schema}
	if least > 0 {
		form["minItems"] = least
	}
	return domain{words: "a list of " + words, schema: form, holds: func(v any) bool {
		elements, ok := v.([]any)
		return ok && len(elements) >= least && !slices.ContainsFunc(elements, func(v any) bool { return !of.holds(v) })
	}}
}

func manyOf(words ...string) domain {
	one := oneOf(words...)
	return list(one.words, 1, one)
}

// anyCase accepts one of some words, in upper or lower case letters.
func anyCase(words ...string) domain {
	one := oneOf(words...)
	var form strings.Builder
	for _, r := range strings.Join(words, "|") {
		if unicode.IsLetter(r) {
			fmt.Fprintf(&form, "[%c%c]", r, unicode.ToUpper(r))
		} else {
			form.WriteRune(r)
		}
	}
	return domain{words: one.words, schema: object{"type": "string", "pattern": "^(" + form.String() + ")$"},
		holds: func(v any) bool { s, ok := v.(string); return ok && one.holds(strings.ToLower(s)) }}
}

// exact is the largest whole number up to which a reader that uses floating point has each one.
const exact = 1 << 53

func number(least, most int64) domain {
	words := fmt.Sprintf("a whole number of %d or more", least)
	if most < exact {
		words = fmt.Sprintf("a whole number of %d to %d", least, most)
	}
	return domain{words: words, schema: object{"type": "integer", "minimum": least, "maximum": most},
		holds: func(v any) bool { n, ok := integer(v); return ok && n >= least && n <= most }}
}

func id(prefix string) domain {
	return domain{holds: func(v any) bool { s, _ := v.(string); return isID(s, prefix) },
		words:  prefix + " and 1 to 64 letters or digits",
		schema: object{"type": "string", "pattern": "^" + prefix + "[A-Za-z0-9]{1,64}$"}}
}

// pattern accepts a text that matches an expression, which compiled compiles.
func pattern(expression string, compiled func() *regexp.Regexp, words string) domain {
	return domain{words: words, schema: object{"type": "string", "pattern": expression},
		holds: func(v any) bool { s, ok := v.(string); return ok && compiled().MatchString(s) }}
}

// record accepts an object whose members are each judged at their own place.
func record(members ...member) domain {
	return domain{holds: isObject, words: "an object", schema: shape(members), members: members}
}

// shape returns the JSON Schema of an object with members.
func shape(members []member) object {
	properties, required := object{}, []string{}
	for _, m := range members {
		form := maps.Clone(m.value.schema)
		if form["description"] = m.value.words; m.value.members != nil {
			form["description"] = "an object"
		}
		properties[m.name] = form
		if m.required {
			required = append(required, m.name)
		}
	}
	form := object{"type": "object", "properties": properties}
	if len(required) > 0 {
		form["required"] = required
	}
	return form
}

// isContext reports whether v is the protocol's context, or a list of texts that begins with it.
func isContext(v any) bool {
	list, ok := v.([]any)
	if !ok {
		return v == contextURL
	}
	return len(list) > 0 && list[0] == contextURL && texts.holds(v)
}

// isType reports whether v is a core type with its namespace, or a type in another namespace.
func isType(v any) bool {
	s, _ := v.(string)
	if name, ours := local(s); ours {
		return coreTypes[name] != ""
	}
	return strings.Contains(s, ":")
}

func isTimestamp(v any) bool {
	s, _ := v.(string)
	_, fraction, found := strings.Cut(s, ".")
	digits := len(fraction) - len(strings.TrimLeft(fraction, "0123456789"))
	_, ok := strict.Time(s)
	return ok && (!found || digits == 3 || digits == 6)
}

func isTime(v any) bool {
	s, _ := v.(string)
	_, ok := strict.Time(s)
	return ok
}

// The form of a time, which format narrows to those of the calendar.
const (
	timeBegins = `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-5][0-9]`
	timeEnds   = `(Z|[+-][0-9]{2}:[0-9]{2})$`
)

func timeForm(fraction string) object {
	return object{"type": "string", "format": "date-time", "pattern": timeBegins + fraction + timeEnds}
}

// identity is what a producer says about itself.
var identity = record(member{"agent_id", true, someText})

// envelopeTable are the members of every event, each with the code of a wrong value.
var envelopeTable = []struct {
	of   member
	code string
}{
	{member{"@context", true, domain{holds: isContext,
		words: `"` + contextURL + `", or a list of texts that begins with it`,
		schema: object{"anyOf": []any{object{"const": contextURL},
			object{"type": "array", "minItems": 1, "prefixItems": []any{object{"const": contextURL}},
				"items": object{"type": "string"}}}}}}, "context"},
	{member{"type", true, domain{holds: isType, words: "aaep: and a core type, or a type in a namespace of your own",
		schema: object{"anyOf": []any{
			object{"enum": coreNames(coreTable...)},
			object{"type": "string", "pattern": ":", "not": object{
				"pattern": "^(" + shortNamespace + "|" + regexp.QuoteMeta(longNamespace) + ")"}}}}}},
		"type-unknown"},
	{member{"event_id", true, id("evt_")}, "event-id"},
	{member{"session_id", true, id("sess_")}, "session-id"},
	{member{"timestamp", true, domain{holds: isTimestamp, schema: timeForm(`(\.[0-9]{3}|\.[0-9]{6})?`),
		words: "an RFC 3339 time with an offset and no, three or six fraction digits"}}, "timestamp"},
	{member{"producer", true, domain{words: "an object with agent_id, a text that is not empty",
		schema: identity.schema,
		holds:  func(v any) bool { return strict.String(v, "agent_id") != "" }}}, "producer"},
	{member{"urgency", false, oneOf("background", "normal", "critical")}, "urgency-value"},
	{member{"sequence_number", false, number(0, exact)}, "sequence"},
}

// coreNames returns the spellings of core types.
func coreNames(types ...messageType) []string {
	var names []string
	for _, m := range types {
		names = append(names, shortNamespace+m.name, longNamespace+m.name)
	}
	return names
}

// coreTable are the core types, in the order of chapter 4. summary_normal is judged by a check of its own.
var coreTable = []messageType{
	{sessionStarted, []member{{"tools_available", false, texts}}},
	{sessionCompleted, []member{{"tools_available", false, texts}}},
	{sessionErrored, []member{{"error_category", true, oneOf("transient", "permanent", "requires_user", "unknown")}}},
	{sessionCancelled, []member{{"cancelled_by", true, oneOf("user", "producer", "timeout", "system")}}},
	{stateChanged, []member{{"from_state", true, text(1, 64)}, {"to_state", true, text(1, 64)}}},
	{progressUpdated, []member{{"progress", true, anyObject}}},
	{toolInvoked, []member{
		{"tool", true, pattern(toolForm, toolName, "a letter or underscore and up to 255 letters, digits, _, . or -")},
		{"irreversible", false, boolean}, {"risk_level", false, risks}, {"tool_call_id", false, id("call_")}}},
	{toolCompleted, []member{{"tool", true, anyText}, {"status", true, oneOf("success", "error", "timeout")}}},
	{outputStreaming, []member{{"chunk", true, text(0, 1<<14)}, {"position", true, number(0, exact)},
		{"complete", true, boolean}, {"coalesce_hint", false, oneOf(hints...)}, {"output_id", false, id("out_")}}},
	{awaitingConfirmation, []member{{"action", true, anyText}, {"consequence", true, anyText},
		{"reply_token", true, id("rpl_")}, {"timeout_seconds", true, number(1, 86400)},
		{"default_decision", true, decisions}, {"risk_level", false, risks}, {"irreversible", false, boolean}}},
	{awaitingClarification, []member{{"question", true, anyText}, {"reply_token", true, id("rpl_")},
		{"timeout_seconds", true, number(1, 86400)},
		{"accepted_response_kinds", false, manyOf("freetext", "multiple_choice", "yes_no", "numeric")}}},
	{handoffRequested, []member{{"reason", true, anyText},
		{"target_kind", true, oneOf("human", "specialist_agent", "escalation_queue")}}},
}

// summaryMembers are those that every core event may have.
var summaryMembers = []member{{"summary_terse", false, text(1, 4096)}, {"summary_normal", false, anyText},
	{"summary_detailed", false, anyText}}

// replyMembers are those of both replies.
var replyMembers = []member{{"reply_token", true, id("rpl_")}, {"subscription_id", true, id("sub_")},
	{"timestamp", true, domain{holds: isTime, words: "an RFC 3339 time with an offset",
		schema: timeForm(`(\.[0-9]+)?`)}}}

// replyTable are the answers of a subscriber.
var replyTable = []messageType{
	{confirmationReply, append(slices.Clone(replyMembers), member{"decision", true, decisions})},
	{clarificationReply, append(slices.Clone(replyMembers), member{"response", true, domain{
		words:  "a text that is not empty, true, false or a number",
		schema: object{"anyOf": []any{someText.schema, boolean.schema, object{"type": "number"}}},
		holds: func(v any) bool {
			_, isNumber := v.(json.Number)
			return isNumber || boolean.holds(v) || someText.holds(v)
		}}})},
}

// The messages of a subscription, and the manifest that a producer publishes.
const (
	subscriptionRequested    = "subscription.request"
	subscriptionAccepted     = "subscription.accepted"
	subscriptionRejected     = "subscription.rejected"
	subscriptionRenegotiated = "subscription.renegotiate"
	subscriptionClosed       = "subscription.close"
	producerManifest         = "producer.manifest"
)

// capabilities are those of a request, of what is honored, and of a renegotiation (5.3.1).
var capabilities = []member{
	{"max_events_per_second", false, number(1, exact)},
	{"preferred_verbosity", false, verbosity},
	{"languages", false, languages},
	{"supports_confirmation_reply", false, boolean},
	{"supports_clarification_reply", false, boolean},
	{"coalesce_boundaries", false, boundaries},
	{"event_filters", false, record(member{"include", false, texts}, member{"exclude", false, texts})},
	{"supported_conformance_levels", false, levels},
	{"supported_extensions", false, texts},
	{"cognitive_load", false, oneOf("low", "medium", "high")},
	{"pace_wpm", false, number(50, 1000)},
	{"accept_signed_manifests_only", false, boolean},
}

// subscriptionTable are the messages of a negotiation. What a renegotiation leaves out of capabilities keeps its value.
var subscriptionTable = []messageType{
	{subscriptionRequested, []member{{"aaep_version", true, someText}, {"subscriber_id", true, someText},
		{"capabilities", true, record(capabilities...)}}},
	{subscriptionAccepted, []member{{"subscription_id", true, id("sub_")}, {"aaep_version", true, someText},
		{"producer", true, identity}, {"honored_capabilities", true, record(capabilities...)},
		{"manifest_uri", false, anyText}, {"signed_manifest", false, someText}}},
	{subscriptionRejected, []member{{"reason_code", true, oneOf("version_unsupported",
		"manifest_signature_required", "capabilities_incompatible", "rate_limit", "authentication_required",
		"authorization_denied", "transport_unavailable", "unknown")}, {"reason_message", true, anyText}}},
	{subscriptionRenegotiated, []member{{"subscription_id", true, id("sub_")},
		{"capabilities", true, record(capabilities...)}}},
	{subscriptionClosed, []member{{"subscription_id", true, id("sub_")}, {"reason_code", true, anyText},
		{"reason_message", false, text(0, 1<<14)}}},
}

// manifestTable is what a producer publishes of itself (5.10.1).
var manifestTable = []messageType{{producerManifest, []member{
	{"agent_id", true, someText}, {"agent_name", false, someText}, {"agent_version", false, someText},
	{"aaep_versions_supported", true, filled}, {"conformance_levels_supported", true, levels},
	{"transports_supported", false, texts}, {"languages_supported", false, languages},
	{"event_types_emitted", false, texts}, {"extensions_supported", false, texts},
	{"default_verbosity", false, verbosity}, {"max_concurrent_subscriptions", false, number(1, exact)},
	{"contact", false, someText}}}}

// membersOf are the members of each type of message, by its name without the namespace.
var membersOf = func() map[string][]member {
	all := map[string][]member{}
	for _, m := range slices.Concat(coreTable, replyTable, subscriptionTable, manifestTable) {
		all[m.name] = m.members
	}
	return all
}()

// judgeMembers checks the members of a message of a type, or of an object within it, which pointer names. Findings of
// members that are missing are at the object.
func judgeMembers(check *rule, of string, members []member, in object, pointer string, say sayer) {
	for i := range members {
		m := &members[i]
		v, there := in[m.name]
		holds := there && m.value.holds(v)
		if holds && m.value.members == nil || !there && !m.required {
			continue
		}
		at := pointer + "/" + m.name
		name := strings.ReplaceAll(at[1:], "/", ".")
		switch {
		case holds:
			judgeMembers(check, of, m.value.members, v.(object), at, say)
		case there:
			say(check, verdict.Error, at, "member-value", "%s is %s; expected %s", name, show(v),
				m.value.words).WithFix("set %s to %s", name, m.value.words)
		default:
			say(check, verdict.Error, pointer, "missing-member", "%s is missing from %s; expected %s", name, of,
				m.value.words).WithFix("add %s: %s", name, m.value.words)
		}
	}
}
