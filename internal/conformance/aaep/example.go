package aaep

import (
	"bytes"
	"fmt"
	"time"
)

// Example returns a capture that passes at a level of 1 to 3, as JSON Lines; at level 3 they are frames.
func Example(level int) []byte {
	e := &example{level: level, at: time.Date(2026, 6, 1, 10, 0, 0, 0, time.UTC)}
	const wanted = `{"max_events_per_second":2,"languages":["en-US"],"supports_confirmation_reply":true,` +
		`"supports_clarification_reply":true,"coalesce_boundaries":["sentence","completion"]}`
	if level >= 3 {
		e.send(Subscriber, `"type":"subscription.request","aaep_version":"1.0.0","subscriber_id":"example-reader",`+
			`"capabilities":%s`, wanted)
		e.send(Producer, `"type":"subscription.accepted","subscription_id":"sub_1","aaep_version":"1.0.0",`+
			`"producer":{"agent_id":"example-bank"},"honored_capabilities":%s,`+
			`"manifest_uri":"https://bank.example/.well-known/aaep-manifest.json"`, wanted)
	}
	e.emit(SessionStarted, `"summary_normal":"The bank helper is working."`)
	e.state("idle", "thinking")
	e.state("thinking", "calling_tool")
	e.emit(ToolInvoked, `"tool":"accounts.read","tool_call_id":"call_1","irreversible":false,"risk_level":"low",`+
		`"summary_normal":"Reading your accounts."`)
	e.emit(ToolCompleted, `"tool":"accounts.read","tool_call_id":"call_1","status":"success"`)
	if level >= 2 {
		e.state("calling_tool", "awaiting_input")
		e.emit(AwaitingConfirmation, `"urgency":"critical","action":"Transfer 100 EUR to savings",`+
			`"consequence":"The bank transfers the amount at once.","reply_token":"rpl_1","timeout_seconds":60,`+
			`"default_decision":"reject","risk_level":"high","irreversible":true,`+
			`"summary_normal":"Transfer 100 EUR to savings?"`)
		e.send(Subscriber, `"type":"confirmation.reply","reply_token":"rpl_1","subscription_id":"sub_1",`+
			`"timestamp":"%s","decision":"accept"`, e.now())
		e.state("awaiting_input", "calling_tool")
		e.emit(ToolInvoked, `"tool":"transfer.send","tool_call_id":"call_2","irreversible":true,"risk_level":"high",`+
			`"summary_normal":"Transferring 100 EUR to savings."`)
		e.emit(ToolCompleted, `"tool":"transfer.send","tool_call_id":"call_2","status":"success"`)
	}
	e.state("calling_tool", "writing_output")
	e.emit(OutputStreaming, `"output_id":"out_1","chunk":"You have two accounts. ","position":0,"complete":false,`+
		`"coalesce_hint":"sentence"`)
	e.emit(OutputStreaming, `"output_id":"out_1","chunk":"All is well.","position":23,"complete":true,`+
		`"coalesce_hint":"completion"`)
	e.state("writing_output", "thinking")
	e.emit(SessionCompleted, `"summary_normal":"Done."`)
	if level >= 3 {
		e.send(Subscriber, `"type":"subscription.close","subscription_id":"sub_1","reason_code":"subscriber_shutdown"`)
	}
	return e.lines.Bytes()
}

// example is a capture under way: a message a second.
type example struct {
	level, events int
	at            time.Time
	lines         bytes.Buffer
}

func (e *example) now() string { return e.at.Format("2006-01-02T15:04:05.000Z07:00") }

// send writes a message of one side.
func (e *example) send(from, format string, args ...any) {
	message := "{" + fmt.Sprintf(format, args...) + "}"
	if e.level >= 3 {
		message = fmt.Sprintf(`{"at":"%s","from":"%s","message":%s}`, e.now(), from, message)
	}
	e.lines.WriteString(message + "\n")
	e.at = e.at.Add(time.Second)
}

// emit writes an event of the session.
func (e *example) emit(name, members string) {
	e.send(Producer, `"@context":"%s","type":"%s%s","event_id":"evt_%d","session_id":"sess_1","timestamp":"%s",`+
		`"sequence_number":%d,"producer":{"agent_id":"example-bank"},%s`, ContextURL, ShortNamespace, name, e.events,
		e.now(), e.events, members)
	e.events++
}

func (e *example) state(from, to string) {
	e.emit(StateChanged, fmt.Sprintf(`"from_state":"%s","to_state":"%s"`, from, to))
}
