package aaep

import (
	"bytes"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/form"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// compiled returns the schemas of messages, by name.
func compiled(t *testing.T) map[string]*jsonschema.Schema {
	all := map[string]*jsonschema.Schema{}
	for _, name := range Schemas {
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema(name, "https://x.example/"+name)))
		must.OK(t, err)
		c := jsonschema.NewCompiler()
		c.AssertFormat()
		must.OK(t, c.AddResource("mem:"+name, document))
		all[name] = c.MustCompile("mem:" + name)
	}
	return all
}

// agrees compares the schema with the checks on one message.
func agrees(t *testing.T, schemas map[string]*jsonschema.Schema, data []byte) {
	t.Helper()
	document, err := strict.Parse("x", data, limits)
	if err != nil {
		return
	}
	members, isObject := document.Root.(map[string]any)
	if !isObject {
		return
	}
	m := newMessage(place{}, members)
	name, faults := "aaep-event", 0
	say := func(*rule, verdict.Severity, string, string, string, ...any) *verdict.Finding {
		faults++
		return new(verdict.Finding)
	}
	switch {
	case m.isReply(), m.isSubscription():
		name = "aaep-subscription"
		if m.isReply() {
			name = "aaep-reply"
		}
		if shapes()[m.name] == nil || m.name != m.text("type") {
			return
		}
		judgeMembers(handshake, m.name, m.name, members, say)
	case m.name == producerManifest:
		name = "aaep-manifest"
		judgeMembers(handshake, m.name, m.name, members, say)
	default:
		judgeEnvelope(m, say)
		if m.core != "" {
			judgeSchema(m, say)
		}
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	must.OK(t, err)
	if err := schemas[name].Validate(value); (err == nil) != (faults == 0) {
		t.Errorf("%s finds %v, the checks %d faults: %.300s", name, err, faults, data)
	}
}

// TestSchemasOfStreams compares the schemas with the checks on each message of the shared streams and of the cases.
func TestSchemasOfStreams(t *testing.T) {
	schemas := compiled(t)
	files, _ := filepath.Glob(filepath.Join("..", "..", "..", "..", "shared", "data", "aaep", "*", "*.json*"))
	texts := [][]byte{Example(3)}
	for _, name := range files {
		text := must.Read(t, name)
		texts = append(texts, text)
	}
	for _, c := range cases {
		texts = append(texts, []byte(edited(c.edits...)))
	}
	for _, text := range texts {
		var list []json.RawMessage
		if json.Unmarshal(text, &list) != nil {
			for line := range bytes.Lines(text) {
				list = append(list, line)
			}
		}
		for _, data := range list {
			var frame struct{ Message json.RawMessage }
			if json.Unmarshal(data, &frame) == nil && frame.Message != nil {
				data = frame.Message
			}
			agrees(t, schemas, data)
		}
	}
}

// TestSchemasOfMembers compares the schemas with the checks where one member of a message is missing or another.
func TestSchemasOfMembers(t *testing.T) {
	schemas := compiled(t)
	values := []any{nil, true, 0, -1, 1, 3, 4, 1.0, 1.5, 50, 86401, 1 << 53, 1<<53 + 2, 1e300, "", "x", "evt_1",
		"sess_1", "rpl_1", "sub_1", "call_1", "out_1", "evt_", "evt_é", "evt_" + strings.Repeat("1", 65), "accept",
		"low", "critical", "word", "Word", "paragraph\n", "en-US", "en_US", "2026-06-01T10:00:00Z",
		"2026-06-01T10:00:00.123Z", "2026-06-01T10:00:00.12Z", "2026-02-30T10:00:00Z", "2026-06-01T10:00:00",
		"2026-06-01T23:59:60Z", "2026-06-01 10:00:00Z", "2026-06-01T10:00:00z", "2026-06-01T10:00:00.123+24:00",
		"2026-06-01T10:00:00.123+05:30", strings.Repeat("é", 4096), strings.Repeat("é", 1<<14),
		strings.Repeat("é", 1<<14+1), []any{}, []any{"word"}, []any{1}, []any{4}, []any{"word", 1}, []any{"en"},
		map[string]any{}, map[string]any{"agent_id": ""}, map[string]any{"agent_id": "x"},
		map[string]any{"agent_id": 1}, map[string]any{"include": 1}, map[string]any{"languages": []any{}},
		contextURL, []any{contextURL, "x"}, []any{contextURL, 1}, []any{"x", contextURL},
		"aaep:agent.state.changed", "agent.state.changed", "aaep:x", "x:y", longNamespace + "x",
		longNamespace + "agent.state.changed", "aaep:aaep:agent.state.changed", "https://aaep-protocolXorg/types/y"}
	good := map[string]any{"@context": contextURL, "event_id": "evt_1", "session_id": "sess_1",
		"timestamp": "2026-06-01T10:00:00Z", "producer": map[string]any{"agent_id": "x"}}
	try := func(message map[string]any) {
		data, err := json.Marshal(message)
		must.OK(t, err)
		agrees(t, schemas, data)
	}
	tried := 0
	for _, of := range slices.Concat(coreTable, replyTable, subscriptionTable, manifestTable) {
		base, all := map[string]any{}, shapes()[of.name]
		members := map[string]*form.Shape{}
		take := func(of *form.Shape) {
			for _, name := range of.Names() {
				members[name] = of.Member(name)
			}
		}
		take(all)
		switch {
		case coreTypes[of.name] != "":
			base = maps.Clone(good)
			base["type"] = shortNamespace + of.name
			take(shapes()[everyCore])
			for _, row := range envelopeTable() {
				members[row.name] = form.Table("", "x text").Member("x")
			}
		case of.name == producerManifest:
			base["type"] = shortNamespace + of.name
		default:
			base["type"] = of.name
		}
		for _, name := range all.Names() {
			m := all.Member(name)
			if i := slices.IndexFunc(values, func(v any) bool { return m.Holds(parsed(t, v)) }); m.Required() {
				base[name] = m.Schema()["enum"]
				if words, ok := base[name].([]string); ok {
					base[name] = words[0]
				} else if i >= 0 {
					base[name] = values[i]
				}
			}
		}
		try(base)
		for name := range members {
			message := maps.Clone(base)
			delete(message, name)
			try(message)
			for _, v := range values {
				message[name] = v
				try(message)
				tried++
			}
		}
	}
	if tried < 5000 {
		t.Errorf("%d values were tried", tried)
	}
}

// parsed is a value as a message has it.
func parsed(t *testing.T, v any) any {
	data, err := json.Marshal(v)
	must.OK(t, err)
	document, err := strict.Parse("", data, limits)
	must.OK(t, err)
	return document.Root
}

// TestExample checks that each example passes at its level, without a finding, and at no higher one.
func TestExample(t *testing.T) {
	for level := 1; level <= 3; level++ {
		for at := 1; at <= 3; at++ {
			v, got := judged(t, string(Example(level)), Options{Level: at})
			if (v == verdict.Passed) != (at <= level) || at <= level && len(got) > 0 {
				t.Errorf("the example of level %d at level %d: %s %s", level, at, v, got)
			}
		}
	}
}
