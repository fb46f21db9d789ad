package judge

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// an edit changes the lines of a stream.
type edit func([]string) []string

// set replaces a text of a line, which must be there, by another.
func set(line int, old, text string) edit {
	return func(lines []string) []string {
		if !strings.Contains(lines[line-1], old) {
			panic(fmt.Sprintf("line %d has no %s", line, old))
		}
		lines[line-1] = strings.Replace(lines[line-1], old, text, 1)
		return lines
	}
}

// all replaces a text wherever it is.
func all(old, text string) edit {
	return func(lines []string) []string {
		for i := range lines {
			lines[i] = strings.ReplaceAll(lines[i], old, text)
		}
		return lines
	}
}

func drop(from, to int) edit {
	return func(lines []string) []string { return slices.Delete(lines, from-1, to) }
}

func insert(after int, line string) edit {
	return func(lines []string) []string { return slices.Insert(lines, after, line) }
}

// move puts a line behind another.
func move(from, after int) edit {
	return func(lines []string) []string {
		at := from - 1
		lines = slices.Insert(lines, after, lines[at])
		if at >= after {
			at++
		}
		return slices.Delete(lines, at, at+1)
	}
}

var sequenceNumber = regexp.MustCompile(`"sequence_number":\d+`)

// renumber counts the events anew, where they have numbers.
func renumber(lines []string) []string {
	n := 0
	for i, line := range lines {
		if strings.Contains(line, `"@context"`) {
			lines[i] = sequenceNumber.ReplaceAllString(line, fmt.Sprintf(`"sequence_number":%d`, n))
			n++
		}
	}
	return lines
}

func edited(edits ...edit) string {
	lines := strings.Split(strings.TrimSpace(conforming), "\n")
	for _, e := range edits {
		lines = e(lines)
	}
	return strings.Join(lines, "\n") + "\n"
}

// event is a line with an envelope at a second of the session's minute.
func event(id string, second int, kind, members string) string {
	if members != "" {
		members = "," + members
	}
	return fmt.Sprintf(`{"@context":"https://aaep-protocol.org/context/v1","type":"aaep:%s","event_id":"evt_%s",`+
		`"session_id":"sess_1",`+
		`"sequence_number":0,"timestamp":"2026-06-01T10:%02d:%02dZ","producer":{"agent_id":"bank"}%s}`, kind, id,
		second/60,
		second%60, members)
}

const (
	pay = `"urgency":"critical","action":"Pay","consequence":"c","timeout_seconds":30,` +
		`"default_decision":"reject","risk_level":"high","irreversible":true,"summary_normal":"s"`
	which = `"urgency":"critical","question":"Which?","timeout_seconds":30,"summary_normal":"s"`
)

func reply(token, decision string, second int) string {
	return fmt.Sprintf(`{"type":"confirmation.reply","reply_token":%q,"decision":%q,`+
		`"timestamp":"2026-06-01T10:%02d:%02dZ"}`, token, decision,
		second/60, second%60)
}

var cases = []struct {
	name  string
	level int
	edits []edit
	want  []string // "line check code severity", sorted; none: pass
}{
	{"honest", 2, nil, nil},
	{"honest at level 1", 1, nil, nil},

	// Envelope.
	{"list of contexts", 2, []edit{set(1, `"https://aaep-protocol.org/context/v1"`,
		`["https://aaep-protocol.org/context/v1","https://x.example/y"]`)}, nil},
	{"context of another version", 1, []edit{set(3, "context/v1", "context/v2")}, []string{"3 envelope context error"}},
	{"context holds a number", 1, []edit{set(3, `"https://aaep-protocol.org/context/v1"`,
		`["https://aaep-protocol.org/context/v1",1]`)}, []string{"3 envelope context error"}},
	{"context is an empty list", 1, []edit{set(3, `"https://aaep-protocol.org/context/v1"`, `[]`)},
		[]string{"3 envelope context error"}},
	{"no context", 1, []edit{set(3, `"@context":"https://aaep-protocol.org/context/v1",`, "")},
		[]string{"3 envelope missing-member error"}},
	{"no event_id", 1, []edit{set(3, `"event_id":"evt_2",`, "")}, []string{"3 envelope missing-member error"}},
	{"no timestamp", 1, []edit{set(3, `"timestamp":"2026-06-01T10:00:02.000Z",`, "")},
		[]string{"3 envelope missing-member error"}},
	{"no producer", 1, []edit{set(3, `"producer":{"agent_id":"bank"},`, "")},
		[]string{"3 envelope missing-member error"}},
	{"no session_id in the middle", 2, []edit{set(4, `"session_id":"sess_1",`, "")},
		[]string{"4 envelope missing-member error"}},
	{"session_id of another form in the middle", 2, []edit{set(4, `sess_1`, "session-1")},
		[]string{"4 envelope session-id error"}},
	{"session_id of another form throughout", 1, []edit{drop(8, 8), all(`sess_1`, "s-1")}, func() (want []string) {
		for i := range 15 {
			want = append(want, fmt.Sprintf("%d envelope session-id error", i+1))
		}
		return
	}()},
	{"type is a number", 1, []edit{set(3, `"aaep:agent.state.changed"`, "5")}, []string{
		"3 envelope type-unknown error"}},
	{"type without a namespace", 1, []edit{set(3, "aaep:agent.state", "agent.state")},
		[]string{"3 envelope type-unknown error"}},
	{"unknown name in the long namespace", 1, []edit{insert(3, strings.Replace(event("x", 2, "agent.mood", ""), "aaep:",
		longNamespace, 1)), renumber}, []string{"4 envelope type-unknown error"}},
	{"extension", 2, []edit{insert(3, strings.Replace(event("x", 2, "seen", ""), "aaep:", "medai:", 1)), renumber},
		nil},
	{"extension with a broken envelope", 2, []edit{insert(3, strings.Replace(event("x-", 2, "seen", ""), "aaep:",
		"medai:", 1)), renumber}, []string{"4 envelope event-id error"}},
	{"extension after the end", 2, []edit{insert(16, strings.Replace(event("x", 16, "seen", ""), "aaep:", "medai:", 1)),
		renumber}, nil},
	{"event_id without its prefix", 1, []edit{set(3, "evt_2", "2")}, []string{"3 envelope event-id error"}},
	{"event_id of 65", 1, []edit{set(3, "evt_2", "evt_"+strings.Repeat("x", 65))},
		[]string{"3 envelope event-id error"}},
	{"event_id of 64", 1, []edit{set(3, "evt_2", "evt_"+strings.Repeat("x", 64))}, nil},
	{"event_id twice", 1, []edit{set(5, "evt_4", "evt_3")}, []string{"5 envelope event-id-twice error"}},
	{"timestamp with two digits", 1, []edit{set(3, "02.000Z", "02.00Z")}, []string{"3 envelope timestamp error"}},
	{"timestamp with six digits and an offset", 1, []edit{set(3, "02.000Z", "02.000001+00:00")}, nil},
	{"timestamp without a fraction", 1, []edit{set(3, "02.000Z", "02Z")}, nil},
	{"timestamp of no day", 1, []edit{set(3, "06-01T", "06-31T")}, []string{"3 envelope timestamp error"}},
	{"producer without agent_id", 1, []edit{set(3, `{"agent_id":"bank"}`, `{}`)},
		[]string{"3 envelope producer error"}},
	{"producer with an empty agent_id", 1, []edit{set(3, `"bank"`, `""`)}, []string{"3 envelope producer error"}},
	{"producer is a text", 1, []edit{set(3, `{"agent_id":"bank"}`, `"bank"`)}, []string{"3 envelope producer error"}},
	{"urgency", 1, []edit{set(3, `"from_state"`, `"urgency":"high","from_state"`)},
		[]string{"3 envelope urgency-value error"}},
	{"urgency in the background", 1, []edit{set(3, `"from_state"`, `"urgency":"background","from_state"`)}, nil},
	{"sequence starts at 1", 1, []edit{func(lines []string) []string {
		for i := 14; i >= 0; i-- {
			lines = all(fmt.Sprintf(`"sequence_number":%d,`, i), fmt.Sprintf(`"sequence_number":%d,`, i+1))(lines)
		}
		return lines
	}}, []string{"1 envelope sequence error"}},
	{"sequence leaves one out", 1, []edit{insert(4, event("x", 3, aaep.ProgressUpdated, `"progress":{}`)), renumber,
		drop(5,
			5)},
		[]string{"5 envelope sequence error"}},
	{"sequence with one wrong number", 1, []edit{set(5, `r":4`, `r":40`)}, []string{"5 envelope sequence error"}},
	{"sequence with one number twice", 1, []edit{set(5, `r":4`, `r":3`)}, []string{"5 envelope sequence error"}},
	{"sequence that is no number", 1, []edit{set(5, `r":4`, `r":"4"`)}, []string{"5 envelope sequence error"}},
	{"sequence with a fraction of nothing", 1, []edit{set(5, `r":4`, `r":4.0`)}, nil},
	{"sequence on some events only", 1, []edit{set(5, `"sequence_number":4,`, "")},
		[]string{"5 envelope sequence-gaps warning"}},
	{"sequence on some events, which count themselves", 1, []edit{renumber, set(5, `"sequence_number":4,`, ""),
		func(lines []string) []string {
			for i := 5; i < 15; i++ {
				lines = all(fmt.Sprintf(`"sequence_number":%d,`, i), fmt.Sprintf(`"sequence_number":%d,`, i-1))(lines)
			}
			return lines
		}}, []string{"5 envelope sequence-gaps warning"}},
	{"sequence on none", 1, []edit{func(lines []string) []string {
		for i := range lines {
			lines[i] = regexp.MustCompile(`"sequence_number":\d+,`).ReplaceAllString(lines[i], "")
		}
		return lines
	}}, nil},

	// Schema.
	{"no tool", 1, []edit{set(5, `"tool":"read",`, "")}, []string{"5 schema missing-member error"}},
	{"no tool on the invocation", 1, []edit{set(4, `"tool":"read",`, "")}, []string{"4 schema missing-member error"}},
	{"no chunk", 1, []edit{set(13, `"chunk":"Dóne. ",`, "")}, []string{"13 schema missing-member error"}},
	{"no position", 1, []edit{set(14, `"position":6,`, "")}, []string{"14 schema missing-member error"}},
	{"no complete on the last chunk", 1, []edit{set(15, `"complete":true,`, "")},
		[]string{"15 schema missing-member error"}},
	{"tool's name with a blank", 1, []edit{all(`"read"`, `"re ad"`)}, []string{"4 schema member-value error"}},
	{"tool's name begins with a digit", 1, []edit{all(`"read"`, `"1read"`)}, []string{"4 schema member-value error"}},
	{"tool's name of 257", 1, []edit{all(`"read"`, `"`+strings.Repeat("a", 257)+`"`)},
		[]string{"4 schema member-value error"}},
	{"tool's name of 256", 1, []edit{all(`"read"`, `"_`+strings.Repeat(".", 255)+`"`)}, nil},
	{"irreversible is a text", 1, []edit{set(4, `"tool":`, `"irreversible":"no","tool":`)},
		[]string{"4 schema member-value error"}},
	{"risk_level", 1, []edit{set(4, `"tool":`, `"risk_level":"none","tool":`)},
		[]string{"4 schema member-value error"}},
	{"tool_call_id's form", 1, []edit{all(`"call_1"`, `"1"`)}, []string{"4 schema member-value error"}},
	{"status timeout", 1, []edit{set(5, `"success"`, `"timeout"`)}, nil},
	{"no status", 1, []edit{set(5, `,"status":"success"`, ``)}, []string{"5 schema missing-member error"}},
	{"from_state is empty", 1, []edit{set(3, `"from_state":"thinking"`, `"from_state":""`)},
		[]string{"3 schema member-value error"}},
	{"to_state of 65", 1, []edit{insert(12, event("x", 11, aaep.StateChanged,
		`"from_state":"writing_output","to_state":"`+strings.Repeat("é", 65)+`"`)), renumber},
		[]string{"13 schema member-value error"}},
	{"no to_state", 1, []edit{insert(12, event("x", 11, aaep.StateChanged, `"from_state":"writing_output"`)), renumber},
		[]string{"13 schema missing-member error"}},
	{"progress", 1, []edit{insert(4, event("x", 3, aaep.ProgressUpdated, `"progress":{"percent":5}`)), renumber}, nil},
	{"progress is a number", 1, []edit{insert(4, event("x", 3, aaep.ProgressUpdated, `"progress":5`)), renumber},
		[]string{"5 schema member-value error"}},
	{"no progress", 1, []edit{insert(4, event("x", 3, aaep.ProgressUpdated, ``)), renumber},
		[]string{"5 schema missing-member error"}},
	{"tools_available holds a number", 1, []edit{set(1, `"summary`, `"tools_available":["a",1],"summary`)},
		[]string{"1 schema member-value error"}},
	{"chunk of 16,385", 1, []edit{set(15, `"chunk":""`, `"chunk":"`+strings.Repeat("é", 16385)+`"`)},
		[]string{"15 schema member-value error"}},
	{"chunk of 16,384", 1, []edit{set(15, `"chunk":""`, `"chunk":"`+strings.Repeat("é", 16384)+`"`)}, nil},
	{"position below 0", 1, []edit{set(13, `"position":0`, `"position":-1`)}, []string{"13 schema member-value error"}},
	{"complete is a text", 1, []edit{set(13, `"complete":false`, `"complete":"false"`)},
		[]string{"13 schema member-value error"}},
	{"coalesce_hint", 1, []edit{set(13, `"sentence"`, `"line"`)}, []string{"13 schema member-value error"}},
	{"output_id's form", 1, []edit{drop(13, 14), set(13, `"out_1"`, `"1"`), set(13, `:11`, `:0`), renumber},
		[]string{"13 schema member-value error"}},
	{"no consequence", 2, []edit{set(7, `"consequence":"It is paid.",`, "")},
		[]string{"7 schema missing-member error"}},
	{"no reply_token", 2, []edit{set(7, `"reply_token":"rpl_1",`, "")}, []string{"7 schema missing-member error"}},
	{"no default_decision, and no reply", 2, []edit{drop(8, 8), set(7, ":30,", ":2,"),
		set(7, `"default_decision":"reject",`, "")},
		[]string{"7 schema missing-member error"}},
	{"timeout of 0", 2, []edit{set(7, `:30,`, ":0,")}, []string{"7 schema member-value error"}},
	{"timeout of 86,401", 2, []edit{set(7, `:30,`, ":86401,")}, []string{"7 schema member-value error"}},
	{"timeout of 1.5", 2, []edit{set(7, `:30,`, ":1.5,")}, []string{"7 schema member-value error"}},
	{"default_decision", 2, []edit{set(7, `"default_decision":"reject"`, `"default_decision":"ask"`)},
		[]string{"7 schema member-value error"}},
	{"reply_token's form", 2, []edit{all("rpl_1", "token-1")}, []string{"7 schema member-value error"}},
	{"clarification", 2, []edit{insert(4, event("x", 3, aaep.AwaitingClarification,
		`"reply_token":"rpl_q","accepted_response_kinds":["numeric"],`+which)), renumber}, nil},
	{"clarification of an unknown kind", 2, []edit{insert(4, event("x", 3, aaep.AwaitingClarification,
		`"reply_token":"rpl_q","accepted_response_kinds":["date"],`+which)), renumber},
		[]string{"5 schema member-value error"}},
	{"handoff", 1, []edit{insert(15, event("x", 14, aaep.HandoffRequested,
		`"reason":"r","target_kind":"human","urgency":"critical","summary_normal":"s"`)), renumber}, nil},
	{"handoff to nobody", 1, []edit{insert(15, event("x", 14, aaep.HandoffRequested,
		`"reason":"r","target_kind":"dog","urgency":"critical","summary_normal":"s"`)), renumber},
		[]string{"16 schema member-value error"}},
	{"handoff without reason", 1, []edit{insert(15, event("x", 14, aaep.HandoffRequested,
		`"target_kind":"human","urgency":"critical","summary_normal":"s"`)), renumber},
		[]string{"16 schema missing-member error"}},
	{"error_category", 1, []edit{set(16, "completed", "errored"), set(16, `"summary`,
		`"urgency":"critical","error_category":"odd","summary`)}, []string{"16 schema member-value error"}},
	{"cancelled by nobody", 1, []edit{set(16, "completed", "cancelled")}, []string{"16 schema missing-member error"}},
	{"cancelled by the user", 1, []edit{set(16, "completed", "cancelled"), set(16, `"summary`,
		`"cancelled_by":"user","summary`)}, nil},
	{"empty summary", 1, []edit{set(1, `"Working."`, `""`)}, []string{"1 schema member-value error"}},
	{"summary_terse of 4,097", 1,
		[]edit{set(1, `"summary`, `"summary_terse":"`+strings.Repeat("x", 4097)+`","summary`)},
		[]string{"1 schema member-value error"}},
	{"summary_normal of 16,385", 1, []edit{set(1, `Working.`, strings.Repeat("x", 16385))},
		[]string{"1 schema member-value error"}},

	// Lifecycle.
	{"an event before the start", 1, []edit{move(2, 0), renumber}, []string{"1 lifecycle before-start error"}},
	{"an event before the start, numbered", 1, []edit{move(2, 0)}, []string{"1 lifecycle before-start error"}},
	{"started twice", 1, []edit{insert(3, event("x", 3, aaep.SessionStarted, `"summary_normal":"s"`)), renumber},
		[]string{"4 lifecycle started-twice error"}},
	{"ended twice", 1,
		[]edit{insert(16, event("x", 15, aaep.SessionCancelled, `"cancelled_by":"user","summary_normal":"s"`)),
			renumber}, []string{"17 lifecycle terminal-twice error"}},
	{"an event after the end", 1, []edit{insert(16, event("x", 15, aaep.ProgressUpdated, `"progress":{}`)), renumber},
		[]string{"17 lifecycle after-terminal error"}},
	{"no end", 1, []edit{drop(16, 16)}, []string{"15 lifecycle capture-ends inconclusive"}},
	{"no end, and a call under way", 1, []edit{drop(11, 16)}, []string{"10 lifecycle capture-ends inconclusive",
		"output not-exercised inconclusive"}},
	{"starts in a call", 1, []edit{drop(1, 4)}, []string{"1 lifecycle capture-starts-late inconclusive"}},
	{"starts in an output", 1, []edit{drop(1, 13)}, []string{"1 lifecycle capture-starts-late inconclusive",
		"tools not-exercised inconclusive"}},

	// State.
	{"no state", 1, []edit{drop(12, 12), drop(9, 9), drop(6, 6), drop(2, 3), renumber},
		[]string{"1 state no-state error"}},
	{"no state in a session that is cancelled at once", 1, []edit{insert(16, strings.ReplaceAll(event("x", 16,
		aaep.SessionStarted, `"summary_normal":"s"`), "sess_1", "sess_2")),
		insert(17, strings.ReplaceAll(event("y", 16, aaep.SessionCancelled,
			`"cancelled_by":"user","summary_normal":"s"`),
			`sess_1","sequence_number":0`, `sess_2","sequence_number":1`))}, nil},
	{"first state not from idle", 1, []edit{set(2, `"idle"`, `"ready"`)}, []string{"2 state first-state error"}},
	{"chain broken", 1, []edit{set(3, `"from_state":"thinking"`, `"from_state":"idle"`)},
		[]string{"3 state state-chain error"}},
	{"from a state that events imply", 1, []edit{set(6, `"from_state":"calling_tool"`, `"from_state":"deciding"`)},
		nil},
	{"from a state that no event implies", 1, []edit{set(6, `"from_state":"calling_tool"`,
		`"from_state":"writing_output"`)}, []string{"6 state state-chain error"}},
	{"never thinking", 1, []edit{all(`"thinking"`, `"pondering"`), set(12, "pondering", "calling_tool")},
		[]string{"1 state thinking error"}},
	{"never leaves thinking", 1, []edit{drop(3, 3), set(5, "calling_tool", "deciding"),
		set(11, `"from_state":"thinking"`, `"from_state":"calling_tool"`), renumber},
		[]string{"1 state thinking error"}},
	{"cancelled while thinking", 1, []edit{set(16, "completed", "cancelled"), set(16, `"summary`,
		`"cancelled_by":"user","summary`),
		drop(3, 3), set(5, "calling_tool", "deciding"),
		set(11, `"from_state":"thinking"`, `"from_state":"calling_tool"`),
		renumber}, nil},
	{"never says calling_tool", 1, []edit{drop(3, 3), set(8, `"to_state":"calling_tool"`, `"to_state":"deciding"`),
		renumber}, []string{"3 state calling-tool error"}},
	{"never says writing_output", 1, []edit{drop(12, 12), renumber}, []string{"12 state writing-output error"}},

	// Tools.
	{"completed without invoked", 1, []edit{drop(4, 4), renumber}, []string{"4 tools not-invoked error"}},
	{"completed twice", 1, []edit{insert(5, event("x", 4, aaep.ToolCompleted,
		`"tool":"read","tool_call_id":"call_1","status":"success"`)), renumber}, []string{"6 tools not-invoked error"}},
	{"another tool completed", 1, []edit{set(5, `"read"`, `"write"`)}, []string{"5 tools other-tool error"}},
	{"call id twice", 1, []edit{all("call_2", "call_1")}, []string{"10 tools call-id-twice error"}},
	{"never completed", 1, []edit{drop(5, 5), renumber}, []string{"4 tools not-completed error"}},
	{"no ids", 1, []edit{all(`"tool_call_id":"call_1",`, ""), all(`"tool_call_id":"call_2",`, "")}, nil},
	{"no id on the completion alone", 1, []edit{set(5, `"tool_call_id":"call_1",`, "")}, nil},
	{"no id on the invocation alone", 1, []edit{set(4, `"tool_call_id":"call_1",`, "")}, nil},
	{"no ids, another tool completed", 1, []edit{all(`"tool_call_id":"call_1",`, ""), set(5, `"read"`, `"write"`)},
		[]string{"4 tools not-completed error", "5 tools not-invoked error"}},
	{"no ids, two of one tool", 1, []edit{all(`"tool_call_id":"call_1",`, ""), insert(4, event("x", 3, aaep.ToolInvoked,
		`"tool":"read","summary_normal":"s"`)),
		insert(5, event("y", 3, aaep.ToolCompleted, `"tool":"read","status":"success"`)), renumber}, nil},
	{"two at a time", 1, []edit{insert(4, event("x", 3, aaep.ToolInvoked,
		`"tool":"find","tool_call_id":"call_x","summary_normal":"s"`)),
		insert(6, event("y", 4, aaep.ToolCompleted, `"tool":"find","tool_call_id":"call_x","status":"error"`)),
		renumber},
		nil},
	{"no tool at all", 1, []edit{drop(3, 11), renumber}, []string{"tools not-exercised inconclusive"}},

	// Output.
	{"never complete", 1, []edit{set(15, "true", "false")}, []string{"15 output not-complete error"}},
	{"complete too early", 1, []edit{set(13, `"complete":false`, `"complete":true`)},
		[]string{"14 output after-complete error", "15 output after-complete error"}},
	{"position falls", 1, []edit{set(15, `:11`, `:5`)}, []string{"15 output position-back error"}},
	{"position in bytes", 1, []edit{set(14, `:6`, `:7`), set(15, `:11`, `:12`)}, nil},
	{"position in UTF-16 units", 1, []edit{set(13, `Dóne. `, `D😀e. `)}, nil},
	{"position off by one once", 1, []edit{set(14, `:6`, `:8`)}, []string{"14 output position-offset warning"}},
	{"position off by one from there on", 1, []edit{set(14, `:6`, `:8`), set(15, `:11`, `:13`)},
		[]string{"14 output position-offset warning"}},
	{"position does not start at 0", 1, []edit{set(13, `:0,"complete`, `:3,"complete`), set(14, `:6`, `:9`), set(15,
		`:11`, `:14`)}, []string{"13 output position-offset warning"}},
	{"a chunk without hint", 1, []edit{set(14, `"coalesce_hint":"sentence",`, ``)},
		[]string{"14 output no-coalesce-hint warning"}},
	{"one chunk without hint", 1, []edit{drop(13, 14), set(13, `"coalesce_hint":"completion",`, ``),
		set(13, `:11`, `:0`),
		renumber}, nil},
	{"no output_id", 1, []edit{all(`,"output_id":"out_1"`, "")}, nil},
	{"two outputs", 1, []edit{insert(15, event("x", 14, aaep.OutputStreaming,
		`"chunk":"a","position":0,"complete":true,"output_id":"out_2"`)), renumber}, nil},
	{"two outputs without output_id", 1, []edit{all(`,"output_id":"out_1"`, ""), insert(15, event("x", 14,
		aaep.OutputStreaming, `"chunk":"a","position":11,"complete":true,"coalesce_hint":"word"`)), renumber},
		[]string{"16 output after-complete error"}},
	{"no output at all", 1, []edit{drop(12, 15), renumber}, []string{"output not-exercised inconclusive"}},

	// Summary and urgency.
	{"no summary on start", 1, []edit{set(1, `,"summary_normal":"Working."`, "")},
		[]string{"1 summary no-summary error"}},
	{"no summary on the end", 1, []edit{set(16, `,"summary_normal":"Done."`, "")},
		[]string{"16 summary no-summary error"}},
	{"no summary on a question", 2, []edit{set(7, `,"summary_normal":"Pay?"`, "")},
		[]string{"7 summary no-summary warning"}},
	{"no summary on a handoff", 1, []edit{insert(15, event("x", 14, aaep.HandoffRequested,
		`"reason":"r","target_kind":"human","urgency":"critical"`)), renumber},
		[]string{"16 summary no-summary warning"}},
	{"error without urgency", 1, []edit{set(16, "completed", "errored"), set(16, `"summary`,
		`"error_category":"transient","summary`)}, []string{"16 urgency not-critical error"}},
	{"handoff in the background", 1, []edit{insert(15, event("x", 14, aaep.HandoffRequested,
		`"reason":"r","target_kind":"human","urgency":"background","summary_normal":"s"`)), renumber},
		[]string{"16 urgency not-critical error"}},
	{"clarification without urgency", 1, []edit{insert(4, event("x", 3, aaep.AwaitingClarification,
		`"reply_token":"rpl_q","question":"q","timeout_seconds":5,"summary_normal":"s"`)), renumber},
		[]string{"5 urgency not-critical error"}},

	// Level 2.
	{"default of accept at high risk", 2, []edit{set(7, `"default_decision":"reject"`, `"default_decision":"accept"`)},
		[]string{"7 default-decision default-accept error"}},
	{"default of accept at high risk, at level 1", 1, []edit{set(7, `"default_decision":"reject"`,
		`"default_decision":"accept"`)}, nil},
	{"default of accept without risk_level", 2, []edit{set(7, `"default_decision":"reject","risk_level":"high"`,
		`"default_decision":"accept"`)}, []string{"7 default-decision default-accept warning"}},
	{"default of accept, reversible at high risk", 2, []edit{set(7, `"default_decision":"reject"`,
		`"default_decision":"accept"`), set(7, `"irreversible":true`, `"irreversible":false`)},
		[]string{"7 default-decision default-accept warning", "10 confirmation not-confirmed error"}},
	{"default of accept, reversible at medium risk", 2, []edit{set(7, `"default_decision":"reject","risk_level":"high"`,
		`"default_decision":"accept","risk_level":"medium"`), set(7, `"irreversible":true`, `"irreversible":false`)},
		[]string{"10 confirmation not-confirmed error"}},
	{"not confirmed", 2, []edit{drop(7, 8), renumber}, []string{"8 confirmation not-confirmed error"}},
	{"confirmed afterwards", 2, []edit{move(7, 11), move(7, 11), renumber},
		[]string{"8 confirmation not-confirmed error"}},
	{"one confirmation for two", 2, []edit{insert(11, event("x", 10, aaep.ToolInvoked,
		`"tool":"pay","tool_call_id":"call_3","summary_normal":"s","irreversible":true`)),
		insert(12, event("y", 10, aaep.ToolCompleted, `"tool":"pay","tool_call_id":"call_3","status":"success"`)),
		renumber},
		[]string{"12 confirmation not-confirmed error"}},
	{"a confirmation in another session", 2, []edit{set(7, "sess_1", "sess_2"),
		func(l []string) []string { return renumber(l) }}, []string{
		"7 lifecycle capture-ends inconclusive", "7 lifecycle capture-starts-late inconclusive",
		"8 resolution no-follow-up error", "9 envelope sequence error",
		"10 confirmation not-confirmed error"}},
	{"token twice", 2, []edit{insert(11, event("x", 10, aaep.AwaitingConfirmation, strings.Replace(pay, "Pay", "Refund",
		1)+`,"reply_token":"rpl_1"`)), renumber}, []string{"12 confirmation token-twice error"}},
	{"token of a clarification twice", 2, []edit{insert(4, event("x", 3, aaep.AwaitingClarification,
		`"reply_token":"rpl_1",`+which)), renumber}, []string{"8 confirmation token-twice error"}},
	{"asked twice", 2, []edit{insert(7, event("x", 6, aaep.AwaitingConfirmation, pay+`,"reply_token":"rpl_x"`)),
		renumber},
		[]string{"8 confirmation asked-twice error"}},
	{"asked again after the reply", 2, []edit{insert(8, event("x", 7, aaep.AwaitingConfirmation,
		pay+`,"reply_token":"rpl_x"`)), renumber}, nil},
	{"asked again after the timeout", 2,
		[]edit{insert(6, event("x", 5, aaep.AwaitingConfirmation, strings.Replace(pay, ":30",
			":1", 1)+`,"reply_token":"rpl_x"`)), renumber}, nil},
	{"asked for another action", 2, []edit{insert(7, event("x", 6, aaep.AwaitingConfirmation, strings.Replace(pay,
		"Pay",
		"Refund", 1)+`,"reply_token":"rpl_x"`)), renumber}, nil},
	{"rejected, then asked and accepted", 2, []edit{insert(6, event("x", 5, aaep.AwaitingConfirmation,
		pay+`,"reply_token":"rpl_x"`)), insert(7, reply("rpl_x", "reject", 5)), renumber}, nil},
	{"accepted, then another rejected", 2, []edit{insert(8, event("x", 7, aaep.AwaitingConfirmation,
		strings.Replace(pay,
			"Pay", "Refund", 1)+`,"reply_token":"rpl_x"`)), insert(9, reply("rpl_x", "reject", 7)), renumber},
		[]string{"12 blocking after-reject error"}},
	{"rejected", 2, []edit{set(8, `"accept"`, `"reject"`)}, []string{"10 blocking after-reject error"}},
	{"before the reply", 2, []edit{move(8, 10)}, []string{"9 blocking before-reply error"}},
	{"no replies captured", 2, []edit{drop(8, 8)}, []string{"9 blocking replies-not-captured inconclusive"}},
	{"a reply to something else", 2, []edit{set(8, "rpl_1", "rpl_2")}, []string{"10 blocking before-reply error"}},
	{"a reply of the other kind", 2, []edit{set(8, "confirmation.reply", "clarification.reply")},
		[]string{"10 blocking before-reply error"}},
	{"a decision that is none", 2, []edit{set(8, `"accept"`, `"yes"`)}, []string{"10 blocking before-reply error"}},
	{"first reject, then accept", 2, []edit{insert(7, reply("rpl_1", "reject", 6))},
		[]string{"11 blocking after-reject error"}},
	{"first accept, then reject", 2, []edit{insert(8, reply("rpl_1", "reject", 7))}, nil},
	{"a reply before the question", 2, []edit{move(8, 5)}, []string{"10 blocking before-reply error"}},
	{"accepted by default", 2, []edit{drop(8, 8), set(7, `"default_decision":"reject","risk_level":"high"`,
		`"default_decision":"accept","risk_level":"low"`), set(7, ":30,", ":2,"), set(9, `"high"`, `"low"`)},
		[]string{"7 default-decision default-accept warning"}},
	{"accepted by default, a call of high risk", 2, []edit{drop(8, 8), set(7,
		`"default_decision":"reject","risk_level":"high"`, `"default_decision":"accept","risk_level":"low"`),
		set(7, ":30,", ":2,")}, []string{"7 default-decision default-accept warning",
		"9 default-decision default-accept error"}},
	{"rejected by default", 2, []edit{drop(8, 8), set(7, ":30,", ":2,")}, []string{"9 blocking after-reject error"}},
	{"accepted too late", 2, []edit{set(7, ":30,", ":1,"), move(8, 9)}, []string{"10 blocking after-reject error"}},
	{"accepted too late by the clock of the subscriber alone", 2, []edit{set(7, ":30,", ":1,"),
		set(8, ":07.000", ":07.500")}, nil},
	{"no event after the reply", 2, []edit{drop(9, 16)}, []string{"7 lifecycle capture-ends inconclusive",
		"8 resolution no-follow-up error", "confirmation not-exercised inconclusive",
		"output not-exercised inconclusive"}},
	{"the user cancels, and then replies", 2, []edit{insert(16, reply("rpl_x", "accept", 16)), insert(15, event("x", 14,
		aaep.AwaitingConfirmation, strings.Replace(pay, "Pay", "Refund", 1)+`,"reply_token":"rpl_x"`)),
		set(17, "completed", "cancelled"), set(17, `"summary`, `"cancelled_by":"user","summary`), renumber}, nil},
	{"an irreversible call in a capture that starts late", 2, []edit{drop(1, 8)},
		[]string{"1 lifecycle capture-starts-late inconclusive", "2 confirmation not-confirmed inconclusive"}},
	{"the flag left out after the accept", 2, []edit{set(10, `,"irreversible":true`, "")},
		[]string{"10 confirmation irreversible-differs warning"}},
	{"nothing irreversible", 2, []edit{set(7, `"irreversible":true`, `"irreversible":false`),
		set(10, `,"irreversible":true`, "")}, []string{"confirmation not-exercised inconclusive"}},
	{"two questions at once", 2, []edit{insert(7, event("x", 6, aaep.AwaitingConfirmation, strings.Replace(pay, "Pay",
		"Refund", 1)+`,"reply_token":"rpl_x"`)), insert(8, reply("rpl_x", "reject", 6)), renumber},
		[]string{"12 blocking which-question warning"}},
	{"an unknown tool after a refusal", 2, []edit{set(8, `"accept"`, `"reject"`), set(10, `,"irreversible":true`, "")},
		[]string{"10 blocking call-unclear inconclusive", "confirmation not-exercised inconclusive"}},
	{"a tool of before the question after it", 2, []edit{insert(11, event("x", 10, aaep.ToolInvoked,
		`"tool":"read","tool_call_id":"call_3","summary_normal":"s"`)), insert(12, event("y", 10, aaep.ToolCompleted,
		`"tool":"read","tool_call_id":"call_3","status":"success"`)), renumber},
		[]string{"12 blocking taken-as-plain notice"}},
	{"a frame without its time", 2, []edit{func(l []string) []string {
		l[2] = `{"from":"producer","message":` + l[2] + `}`
		return l
	}}, []string{"3 envelope frame error"}},
	{"subscription messages pass over", 2, []edit{insert(0, `{"type":"subscription.request"}`), insert(1,
		`{"type":"subscription.accepted","event_id":5}`)}, nil},
	{"empty", 2, []edit{func([]string) []string { return nil }}, []string{"lifecycle no-events inconclusive"}},
	{"replies alone", 2, []edit{func([]string) []string { return []string{reply("rpl_1", "accept", 1)} }},
		[]string{"lifecycle no-events inconclusive"}},
}

func TestStream(t *testing.T) {
	covered := map[string]bool{}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			want := slices.Sorted(slices.Values(c.want))
			verdictWanted := verdictOf(want, covered)
			v, got := judged(t, edited(c.edits...), Options{Level: c.level})
			if diff := cmp.Diff(want, got); diff != "" || string(v) != verdictWanted {
				t.Errorf("%s, want %s: %s", v, verdictWanted, diff)
			}
		})
	}
	for _, rule := range aaep.StreamRules {
		if rule.Level > 2 {
			continue
		} // those of level 3 are in TestTerms
		for _, code := range rule.Codes {
			key := strings.TrimPrefix(rule.ID, "aaep-") + " " + code.ID
			if !covered[key] && !slices.Contains(elsewhere, code.ID) && key != "envelope no-events" {
				t.Errorf("no case has %s", key)
			}
		}
	}
}

// elsewhere are the codes of what is no message, which TestRead has.
var elsewhere = []string{"not-an-object", "json-syntax", "file-too-large", "invalid-utf8", "lone-surrogate",
	"byte-order-mark", "duplicate-member",
	"trailing-text", "nesting-too-deep", "number-too-long", "too-many-values", "number-out-of-range"}

// The same stream is judged alike as JSON Lines and as an array, whatever is wrong with it.
func TestStreamAsArray(t *testing.T) {
	for _, c := range cases {
		text := strings.TrimSpace(edited(c.edits...))
		if text == "" {
			continue
		}
		array := "[" + strings.ReplaceAll(text, "\n", ",\n") + "]"
		v, want := judged(t, text, Options{Level: c.level})
		w, got := judged(t, array, Options{Level: c.level})
		if diff := cmp.Diff(want, got); diff != "" || v != w {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}

// Each member of each type that the tables know is missed, or has another value, by no other check than the schema's.
func TestMembersOfTypes(t *testing.T) {
	for kind, of := range aaep.Shapes() {
		if !strings.HasPrefix(kind, "agent.") {
			continue
		}
		for _, name := range of.Names() {
			for _, v := range []any{nil, 1.5, map[string]any{"x": 1}, []any{1}, "\u0000?"} {
				if of.Member(name).Holds(v) {
					continue
				}
				text := must.Get(json.Marshal(map[string]any{name: v}))(t)
				_, got := judged(t, event("1", 1, kind, string(text[1:len(text)-1])), Options{Single: true})
				if !slices.Contains(got, "1 schema member-value error") {
					t.Errorf("%s with %s: %s", kind, text, got)
				}
			}
		}
	}
}

func TestSingle(t *testing.T) {
	lines := strings.Split(strings.TrimSpace(conforming), "\n")
	for i, line := range lines {
		if v, got := judged(t, line, Options{Level: 1, Single: true}); v != "pass" || len(got) > 0 {
			t.Errorf("line %d: %s %s", i+1, v, got)
		}
	}
	for text, want := range map[string]string{
		"": "inconclusive [envelope no-events inconclusive]",
		`{"type":"subscription.request"}`: "fail [1 schema missing-member error 1 schema missing-member error 1 " +
			"schema missing-member error]",
		`{"type":"subscription.hold"}`: "fail [1 schema member-value error]",
		"x":                            "fail [1 envelope json-syntax error]",
		strings.Replace(lines[6], `n":"reject"`, `n":"accept"`, 1): "fail [1 default-decision default-accept error]",
		lines[0] + "\n" + lines[0]:                                 "pass []",
		strings.Replace(lines[2], `_number":2`, `_number":9`, 1):   "pass []",
		strings.Replace(lines[2], `_number":2`, `_number":-1`, 1):  "fail [1 envelope sequence error]",
		strings.Replace(lines[2], `_number":2`, `_number":"2"`, 1): "fail [1 envelope sequence error]",
		`{"type":"x"}`: "fail",
	} {
		v, got := judged(t, text, Options{Level: 1, Single: true})
		if announced := fmt.Sprint(v, " ", got); !strings.HasPrefix(announced, want) {
			t.Errorf("%s: %s, want %s", text, announced, want)
		}
	}
}

const longNamespace = "https://aaep-protocol.org/types/"

// verdictOf returns the verdict of these findings, and notes the check and code of each.
func verdictOf(findings []string, covered map[string]bool) string {
	is := "pass"
	for _, f := range findings {
		words := strings.Fields(f)
		covered[words[len(words)-3]+" "+words[len(words)-2]] = true
		switch severity := words[len(words)-1]; {
		case severity == "error":
			is = "fail"
		case severity == "inconclusive" && is == "pass":
			is = "inconclusive"
		}
	}
	return is
}
