package judge

import (
	"bytes"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/form"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// compiled returns the schemas of messages, by name.
func compiled(t *testing.T) map[string]*jsonschema.Schema {
	all := map[string]*jsonschema.Schema{}
	for _, name := range aaep.Schemas {
		document := must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(aaep.Schema(name, "https://x.example/"+name))))(t)
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
	document, err := strict.Parse("x", data, aaep.Limits)
	if err != nil {
		return
	}
	members, isObject := document.Root.(map[string]any)
	if !isObject {
		return
	}
	m := aaep.NewMessage(aaep.Place{}, members)
	name, faults := "aaep-event", 0
	say := func(*aaep.Rule, verdict.Severity, string, string, string, ...any) *verdict.Finding {
		faults++
		return new(verdict.Finding)
	}
	switch {
	case m.IsReply(), m.IsSubscription():
		name = "aaep-subscription"
		if m.IsReply() {
			name = "aaep-reply"
		}
		if aaep.Shapes()[m.Name] == nil || m.Name != m.Text("type") {
			return
		}
		aaep.JudgeMembers(aaep.Handshake, m.Name, m.Name, members, say)
	case m.Name == aaep.ProducerManifest:
		name = "aaep-manifest"
		aaep.JudgeMembers(aaep.Handshake, m.Name, m.Name, members, say)
	default:
		aaep.JudgeEnvelope(m, say)
		if m.Core != "" {
			judgeSchema(m, say)
		}
	}
	value := must.Get(jsonschema.UnmarshalJSON(bytes.NewReader(data)))(t)
	if err := schemas[name].Validate(value); (err == nil) != (faults == 0) {
		t.Errorf("%s finds %v, the checks %d faults: %.300s", name, err, faults, data)
	}
}

// TestSchemasOfStreams compares the schemas with the checks on each message of the shared streams and of the cases.
func TestSchemasOfStreams(t *testing.T) {
	schemas := compiled(t)
	files, _ := filepath.Glob(filepath.Join("..", "..", "..", "..", "..", "shared", "data", "aaep", "*", "*.json*"))
	texts := [][]byte{aaep.Example(3)}
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
		aaep.ContextURL, []any{aaep.ContextURL, "x"}, []any{aaep.ContextURL, 1}, []any{"x", aaep.ContextURL},
		"aaep:agent.state.changed", "agent.state.changed", "aaep:x", "x:y", longNamespace + "x",
		longNamespace + "agent.state.changed", "aaep:aaep:agent.state.changed", "https://aaep-protocolXorg/types/y"}
	good := map[string]any{"@context": aaep.ContextURL, "event_id": "evt_1", "session_id": "sess_1",
		"timestamp": "2026-06-01T10:00:00Z", "producer": map[string]any{"agent_id": "x"}}
	try := func(message map[string]any) {
		data := must.Get(json.Marshal(message))(t)
		agrees(t, schemas, data)
	}
	tried := 0
	for kind, all := range aaep.Shapes() {
		if kind == aaep.EveryCore || kind == "capabilities" {
			continue
		}
		base := map[string]any{}
		members := map[string]*form.Shape{}
		take := func(of *form.Shape) {
			for _, name := range of.Names() {
				members[name] = of.Member(name)
			}
		}
		take(all)
		switch {
		case strings.HasPrefix(kind, "agent."):
			base = maps.Clone(good)
			base["type"] = aaep.ShortNamespace + kind
			take(aaep.Shapes()[aaep.EveryCore])
			for _, row := range aaep.MemberRows(aaep.Envelope.ID) {
				members[row.Member] = nil
			}
		case kind == aaep.ProducerManifest:
			base["type"] = aaep.ShortNamespace + kind
		default:
			base["type"] = kind
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
	data := must.Get(json.Marshal(v))(t)
	document := must.Get(strict.Parse("", data, aaep.Limits))(t)
	return document.Root
}

// TestExample checks that each example passes at its level, without a finding, and at no higher one.
func TestExample(t *testing.T) {
	for level := 1; level <= 3; level++ {
		for at := 1; at <= 3; at++ {
			v, got := judged(t, string(aaep.Example(level)), Options{Level: at})
			if (v == verdict.Passed) != (at <= level) || at <= level && len(got) > 0 {
				t.Errorf("the example of level %d at level %d: %s %s", level, at, v, got)
			}
		}
	}
}
