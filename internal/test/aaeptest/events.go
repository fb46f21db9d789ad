package aaeptest

import (
	"maps"
	"slices"
)

// event is one event that a peer sends.
type event = map[string]any

// edits are the faults that change events on their way, by the check and the code of level 1 or 2 that finds them. Each
// returns what is sent instead of an event; kind is its type without the protocol's namespace.
var edits = map[string]func(kind string, e event) []event{
	"envelope/missing-member": remove("session.completed", "producer"),
	"envelope/context":        set("session.completed", "@context", "https://example.org/context"),
	"envelope/type-unknown":   before("session.completed", event{"type": "aaep:agent.mood.changed"}),
	"envelope/event-id":       set("session.completed", "event_id", "17"),
	"envelope/event-id-twice": set("session.completed", "event_id", "evt_1"),
	"envelope/session-id":     set("output.streaming", "session_id", "17"),
	"envelope/timestamp":      set("output.streaming", "timestamp", "2026-06-01T10:00:00"),
	"envelope/producer":       set("output.streaming", "producer", event{}),
	"envelope/urgency-value":  set("output.streaming", "urgency", "loud"),
	"envelope/sequence":       set("session.completed", "sequence_number", 1000),

	"schema/missing-member": remove("tool.completed", "status"),
	"schema/member-value":   set("tool.completed", "status", "maybe"),

	"lifecycle/before-start": before("session.started", progress),
	"lifecycle/started-twice": before("output.streaming", event{"type": "aaep:agent.session.started",
		"summary_normal": "Hi."}),
	"lifecycle/terminal-twice": after("session.completed", event{}),
	"lifecycle/after-terminal": after("session.completed", progress),

	"state/no-state":    drop("state.changed", "", nil),
	"state/first-state": replace("state.changed", "from_state", "idle", "asleep"),
	"state/state-chain": replace("state.changed", "to_state", "writing_output", "writing_output", "from_state",
		"asleep"),
	"state/thinking": func(_ string, e event) []event {
		for _, name := range []string{"from_state", "to_state"} {
			if e[name] == "thinking" {
				e[name] = "deciding"
			}
		}
		return []event{e}
	},

	"tools/not-invoked":   drop("tool.invoked", "tool", "read"),
	"tools/other-tool":    replace("tool.completed", "tool", "read", "write"),
	"tools/call-id-twice": func(_ string, e event) []event { return twiceCalled(e) },
	"tools/not-completed": drop("tool.completed", "tool", "read"),

	"output/not-complete":   set("output.streaming", "complete", false),
	"output/after-complete": set("output.streaming", "complete", true),
	"output/position-back":  replace("output.streaming", "position", 0, 100),

	"summary/no-summary":              remove("session.completed", "summary_normal"),
	"urgency/not-critical":            remove("awaiting.confirmation", "urgency"),
	"default-decision/default-accept": set("awaiting.confirmation", "default_decision", "accept"),
	"confirmation/token-twice":        func(_ string, e event) []event { return []event{e} }, // see ask
	"confirmation/asked-twice":        func(_ string, e event) []event { return []event{e} }, // see pay
}

// Edits returns the names of these faults.
func Edits() []string { return slices.Sorted(maps.Keys(edits)) }

var progress = event{"type": "aaep:agent.progress.updated", "progress": event{}}

func set(kind, name string, v any) func(string, event) []event {
	return func(is string, e event) []event {
		if is == kind {
			e[name] = v
		}
		return []event{e}
	}
}

func remove(kind, name string) func(string, event) []event {
	return func(is string, e event) []event {
		if is == kind {
			delete(e, name)
		}
		return []event{e}
	}
}

// drop drops the events whose member has a value, or all of a type where none is named.
func drop(kind, name string, v any) func(string, event) []event {
	return func(is string, e event) []event {
		if is == kind && (name == "" || e[name] == v) {
			return nil
		}
		return []event{e}
	}
}

// replace replaces a value of a member, and then sets others.
func replace(kind, name string, old, v any, others ...any) func(string, event) []event {
	return func(is string, e event) []event {
		if is == kind && e[name] == old {
			e[name] = v
			for i := 0; i+1 < len(others); i += 2 {
				e[others[i].(string)] = others[i+1]
			}
		}
		return []event{e}
	}
}

// before sends another event first, with the members of the one that follows.
func before(kind string, members event) func(string, event) []event {
	return func(is string, e event) []event {
		if is != kind {
			return []event{e}
		}
		return []event{another(e, members), e}
	}
}

func after(kind string, members event) func(string, event) []event {
	return func(is string, e event) []event {
		if is != kind {
			return []event{e}
		}
		return []event{e, another(e, members)}
	}
}

func another(e, members event) event {
	e = maps.Clone(e)
	maps.Copy(e, members)
	e["event_id"] = e["event_id"].(string) + "x"
	return e
}

// twiceCalled gives the calls of a session one id.
func twiceCalled(e event) []event {
	if _, there := e["tool_call_id"]; there {
		e["tool_call_id"] = "call_1"
	}
	return []event{e}
}
