package aaep

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/form"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// Object is a JSON object.
type Object = map[string]any

func IsObject(v any) bool { _, ok := v.(Object); return ok }

// messageType is a type of message, without its namespace, and the table of its members: the checks, the JSON Schemas,
// explain and the documentation follow it.
type messageType struct{ name, table string }

// Hints are the values of coalesce_hint. Boundaries are compared without regard to case (5.4.4).
var Hints = []string{"none", "word", "sentence", "paragraph", "completion"}

// isContext reports whether v is the protocol's context, or a list of texts that begins with it.
func isContext(v any) bool {
	list, ok := v.([]any)
	if !ok {
		return v == ContextURL
	}
	return len(list) > 0 && list[0] == ContextURL && !slices.ContainsFunc(list, func(v any) bool {
		_, isText := v.(string)
		return !isText
	})
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

// envelopeRow is a member of every event, with the code of a wrong value. What it must be is said for the checks, for
// people, and as JSON Schema.
type envelopeRow struct {
	name, code string
	required   bool
	words      string
	holds      func(any) bool
	schema     Object
}

// envelopeTable are the members of every event.
var envelopeTable = sync.OnceValue(func() []envelopeRow {
	of := form.Table("", `
event_id text evt_ and 1 to 64 letters or digits required
session_id text sess_ and 1 to 64 letters or digits required
timestamp text format time required
producer.agent_id text that is not empty required
urgency text one of background normal critical
sequence_number integer from 0 to 9007199254740992`)
	row := func(name, code string) envelopeRow {
		m := of.Member(name)
		return envelopeRow{name, code, m.Required(), m.String(), m.Holds, m.Schema()}
	}
	timestamp := of.Member("timestamp").Schema()
	pattern, _ := timestamp["pattern"].(string)
	timestamp["pattern"] = strings.Replace(pattern, `(\.[0-9]+)?`, `(\.[0-9]{3}|\.[0-9]{6})?`, 1)
	return []envelopeRow{
		{"@context", "context", true, `"` + ContextURL + `", or a list of texts that begins with it`, isContext,
			Object{"anyOf": []any{Object{"const": ContextURL}, Object{"type": "array", "minItems": 1,
				"prefixItems": []any{Object{"const": ContextURL}}, "items": Object{"type": "string"}}}}},
		{"type", "type-unknown", true, "aaep: and a core type, or a type in a namespace of your own", isType,
			Object{"anyOf": []any{Object{"enum": names(coreTable, namespaces...)}, Object{"type": "string",
				"pattern": ":",
				"not":     Object{"pattern": "^(" + ShortNamespace + "|" + regexp.QuoteMeta(longNamespace) + ")"}}}}},
		row("event_id", "event-id"), row("session_id", "session-id"),
		{"timestamp", "timestamp", true, "an RFC 3339 time with an offset and no, three or six fraction digits",
			isTimestamp, timestamp},
		{"producer", "producer", true, "an object with agent_id, a text that is not empty",
			func(v any) bool { return strict.String(v, "agent_id") != "" }, of.Member("producer").Schema()},
		row("urgency", "urgency-value"), row("sequence_number", "sequence"),
	}
})

// namespaces are the spellings of that of core types.
var namespaces = []string{ShortNamespace, longNamespace}

// names returns the spellings of types in some namespaces.
func names(types []messageType, namespaces ...string) (all []string) {
	for _, m := range types {
		for _, n := range namespaces {
			all = append(all, n+m.name)
		}
	}
	return all
}

// coreTable are the core types, in the order of chapter 4. summary_normal is judged by a check of its own.
var coreTable = []messageType{
	{SessionStarted, "tools_available[] text"},
	{SessionCompleted, "tools_available[] text"},
	{SessionErrored, "error_category text one of transient permanent requires_user unknown required"},
	{SessionCancelled, "cancelled_by text one of user producer timeout system required"},
	{StateChanged, `
from_state text of 1 to 64 characters required
to_state text of 1 to 64 characters required`},
	{ProgressUpdated, "progress map required"},
	{ToolInvoked, `
tool text form ^[A-Za-z_][A-Za-z0-9_.-]{0,255}$, which is a letter or underscore and up to 255 letters, digits, _, . or - required
irreversible boolean
risk_level text one of low medium high
tool_call_id text call_ and 1 to 64 letters or digits`},
	{ToolCompleted, `
tool text of 1 to 16384 characters required
status text one of success error timeout required`},
	{OutputStreaming, `
chunk text of 0 to 16384 characters required
position integer from 0 to 9007199254740992 required
complete boolean required
coalesce_hint text one of none word sentence paragraph completion
output_id text out_ and 1 to 64 letters or digits`},
	{AwaitingConfirmation, `
action text of 1 to 16384 characters required
consequence text of 1 to 16384 characters required
reply_token text rpl_ and 1 to 64 letters or digits required
timeout_seconds integer from 1 to 86400 required
default_decision text one of accept reject required
risk_level text one of low medium high
irreversible boolean`},
	{AwaitingClarification, `
question text of 1 to 16384 characters required
reply_token text rpl_ and 1 to 64 letters or digits required
timeout_seconds integer from 1 to 86400 required
accepted_response_kinds list that is not empty
accepted_response_kinds[] text one of freetext multiple_choice yes_no numeric`},
	{HandoffRequested, `
reason text of 1 to 16384 characters required
target_kind text one of human specialist_agent escalation_queue required`},
}

// EveryCore names the table of the members that every core event may have.
const EveryCore = "every core event"

var summaryTable = messageType{EveryCore, `
summary_terse text of 1 to 4096 characters
summary_normal text of 1 to 16384 characters
summary_detailed text of 1 to 16384 characters`}

// replyMembers are those of both replies.
const replyMembers = `
reply_token text rpl_ and 1 to 64 letters or digits required
subscription_id text sub_ and 1 to 64 letters or digits required
timestamp text format time required`

// replyTable are the answers of a subscriber.
var replyTable = []messageType{
	{ConfirmationReply, replyMembers + "\ndecision text one of accept reject required"},
	{ClarificationReply, replyMembers + `
response text or boolean or number that is not empty, which is a text that is not empty, true, false or a number required`},
}

// The messages of a subscription, and the manifest that a producer publishes.
const (
	SubscriptionRequested    = "subscription.request"
	SubscriptionAccepted     = "subscription.accepted"
	SubscriptionRejected     = "subscription.rejected"
	SubscriptionRenegotiated = "subscription.renegotiate"
	SubscriptionClosed       = "subscription.close"
	ProducerManifest         = "producer.manifest"
)

// capabilities are those of a request, of what is honored, and of a renegotiation (5.3.1).
const capabilities = `
max_events_per_second integer from 1 to 9007199254740992
preferred_verbosity text one of terse normal detailed
languages list that is not empty
languages[] text form ^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$, which is a language tag
supports_confirmation_reply boolean
supports_clarification_reply boolean
coalesce_boundaries list that is not empty
coalesce_boundaries[] text one of in any case none word sentence paragraph completion
event_filters.include[] text
event_filters.exclude[] text
supported_conformance_levels list that is not empty
supported_conformance_levels[] integer from 1 to 3
supported_extensions[] text
cognitive_load text one of low medium high
pace_wpm integer from 50 to 1000
accept_signed_manifests_only boolean`

// CapabilitiesName is what both objects of capabilities end in, and what names their table.
const CapabilitiesName = "capabilities"

// withCapabilities returns the rows of a required member that has capabilities.
func withCapabilities(name string) string {
	return "\n" + name + " map required" + strings.ReplaceAll(capabilities, "\n", "\n"+name+".")
}

// subscriptionTable are the messages of a negotiation. What a renegotiation leaves out of capabilities keeps its value.
var subscriptionTable = []messageType{
	{SubscriptionRequested, `
aaep_version text that is not empty required
subscriber_id text that is not empty required` + withCapabilities(CapabilitiesName)},
	{SubscriptionAccepted, `
subscription_id text sub_ and 1 to 64 letters or digits required
aaep_version text that is not empty required
producer map required
producer.agent_id text that is not empty required` + withCapabilities("honored_capabilities") + `
manifest_uri text of 1 to 16384 characters
signed_manifest text that is not empty`},
	{SubscriptionRejected, `
reason_code text one of version_unsupported manifest_signature_required capabilities_incompatible rate_limit ` +
		`authentication_required authorization_denied transport_unavailable unknown required
reason_message text of 1 to 16384 characters required`},
	{SubscriptionRenegotiated, `
subscription_id text sub_ and 1 to 64 letters or digits required` + withCapabilities(CapabilitiesName)},
	{SubscriptionClosed, `
subscription_id text sub_ and 1 to 64 letters or digits required
reason_code text of 1 to 16384 characters required
reason_message text of 0 to 16384 characters`},
}

// manifestTable is what a producer publishes of itself (5.10.1).
var manifestTable = []messageType{{ProducerManifest, `
agent_id text that is not empty required
agent_name text that is not empty
agent_version text that is not empty
aaep_versions_supported list that is not empty required
aaep_versions_supported[] text that is not empty
conformance_levels_supported list that is not empty required
conformance_levels_supported[] integer from 1 to 3
transports_supported[] text
languages_supported list that is not empty
languages_supported[] text form ^[A-Za-z]{1,8}(-[A-Za-z0-9]{1,8})*$, which is a language tag
event_types_emitted[] text
extensions_supported[] text
default_verbosity text one of terse normal detailed
max_concurrent_subscriptions integer from 1 to 9007199254740992
contact text that is not empty`}}

// Shapes are the shapes of the tables, by their names.
var Shapes = sync.OnceValue(func() map[string]*form.Shape {
	all := map[string]*form.Shape{CapabilitiesName: form.Table("", capabilities)}
	for _, m := range slices.Concat(coreTable, replyTable, subscriptionTable, manifestTable,
		[]messageType{summaryTable}) {
		all[m.name] = form.Table("", m.table)
	}
	return all
})

// JudgeMembers checks the members of a message of a type, which of names in messages. Findings of members that are
// missing are at the object.
func JudgeMembers(check *Rule, kind, of string, in Object, say func(check *Rule, severity verdict.Severity, pointer,
	code, format string, args ...any) *verdict.Finding) {
	Shapes()[kind].Judge(in, of, func(pointer, code, message, fix string) {
		if code == "missing-member" { // it is at the object
			pointer = pointer[:strings.LastIndexByte(pointer, '/')]
		}
		say(check, verdict.Error, pointer, code, "%s", message).Fix = fix
	})
}

// JudgeEnvelope checks what every event has.
func JudgeEnvelope(m *Message, say func(check *Rule, severity verdict.Severity, pointer, code, format string,
	args ...any) *verdict.Finding) {
	for _, row := range envelopeTable() {
		v, there := m.Members[row.name]
		switch {
		case !there && row.required:
			say(Envelope, verdict.Error, "", "missing-member", "%s is missing; expected %s", row.name,
				row.words).WithFix("add %s: %s", row.name, row.words)
		case row.name == "type" && m.Core != "" && v == m.Core:
			say(Envelope, verdict.Error, "/type", row.code, "type is %s; expected %q", form.Show(v),
				ShortNamespace+m.Core).WithFix("set type to %q", ShortNamespace+m.Core)
		case there && !row.holds(v):
			say(Envelope, verdict.Error, "/"+row.name, row.code, "%s is %s; expected %s", row.name, form.Show(v),
				row.words).WithFix("set %s to %s", row.name, row.words)
		}
	}
}
