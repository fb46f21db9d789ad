// Package aaeptest is a producer of AAEP on loopback, honest or with one fault that has a name. It speaks the layout of
// appendix B and that of the public example producers, and serves tests.
package aaeptest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// Faults are the names of what a peer may do wrong.
var Faults = []string{
	"ignore-refusal", // invokes the irreversible tool whatever its question comes to
	"confirm-late",   // invokes the irreversible tool, and asks then
	"answers-itself", // sends the reply to its own question, and invokes
	"no-wait",        // asks, and invokes without waiting
	"ask-reversible", // asks a reversible question alone
	"ask-nothing",    // calls no irreversible tool and asks nothing
	"accept-forged",  // takes any token for that of the open question
	"honor-second",   // lets a second reply overrule the first
	"accept-late",    // applies its default in time, and lets a later reply overrule it
	"ignore-timeout", // waits for a reply for ever
	"late-default",   // applies its default too late
	"no-terminal",    // ends the stream without the session's end
	"silent",         // stops in the middle of a session, and keeps the connection
	"hang",           // does not answer the request for events
	"drop",           // breaks the connection in the middle of a session
	"not-sse",        // serves the events with another Content-Type
	"endless",        // sends events for ever
	"endless-line",   // sends a line without an end
	"drip",           // sends a byte now and then, and no event
	"elsewhere",      // names another server for the events
	"unavailable",    // answers 503
}

// Options is what a peer is started with.
type Options struct {
	Reference bool   // the layout of the public example producers, rather than that of appendix B
	Fault     string // empty: none
	// SelfStart has a session start when its events are asked for: there is no endpoint for it.
	SelfStart bool
	// FlagOnly is the one session whose irreversible call says irreversible: true; 0: all of them do.
	FlagOnly   int
	Reversible bool         // asks a reversible question before the irreversible one
	Refused    string       // a tool to call after a refusal; empty: none
	Prefix     string       // of the paths
	Greeting   string       // what the stream of events begins with; empty: a comment
	Listener   net.Listener // where to serve; nil: a free port of 127.0.0.1
}

// Peer is a running producer.
type Peer struct {
	URL string

	o      Options
	server *http.Server
	done   chan struct{}

	mu          sync.Mutex
	subscribers map[chan []byte]bool
	open        map[string]*question
	last        *question
	sessions    int
	events      int
}

// question is an open confirmation.
type question struct {
	replies chan string
	expires time.Time
	taken   int
}

// Start serves until Close.
func Start(o Options) (*Peer, error) {
	if o.Fault != "" && !slices.Contains(Faults, o.Fault) {
		return nil, fmt.Errorf("%q is no fault: known are %s", o.Fault, strings.Join(Faults, ", "))
	}
	if o.Listener == nil {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		o.Listener = &once{Listener: l}
	}
	p := &Peer{URL: "http://" + o.Listener.Addr().String(), o: o, done: make(chan struct{}),
		subscribers: map[chan []byte]bool{}, open: map[string]*question{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+o.Prefix+"/events", p.serve)
	if !o.SelfStart {
		mux.HandleFunc("POST "+o.Prefix+"/sessions", func(w http.ResponseWriter, _ *http.Request) {
			go p.session()
			w.WriteHeader(http.StatusAccepted)
		})
	}
	if o.Reference {
		mux.HandleFunc("POST "+o.Prefix+"/messages", p.reply)
	} else {
		mux.HandleFunc("POST "+o.Prefix+"/replies", p.reply)
		mux.HandleFunc("POST "+o.Prefix+"/subscriptions", p.subscribe)
	}
	p.server = &http.Server{Handler: mux, ErrorLog: log.New(io.Discard, "", 0)}
	go p.server.Serve(o.Listener)
	return p, nil
}

// once is a listener that may be closed twice.
type once struct {
	net.Listener
	closed sync.Once
}

func (o *once) Close() (err error) {
	o.closed.Do(func() { err = o.Listener.Close() })
	return err
}

// Close ends the peer and every session under way.
func (p *Peer) Close() error {
	close(p.done)
	return errors.Join(p.server.Close(), p.o.Listener.Close())
}

func (p *Peer) subscribe(w http.ResponseWriter, r *http.Request) {
	if p.o.Fault == "unavailable" {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	location := p.o.Prefix + "/events?subscription_id=sub_1"
	if p.o.Fault == "elsewhere" {
		location = "http://127.0.0.2:1" + location
	}
	w.Header().Set("Location", location)
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusCreated)
	fmt.Fprint(w, `{"type":"subscription.accepted","subscription_id":"sub_1","aaep_version":"1.0.0",`+
		`"honored_capabilities":{}}`)
}

// serve streams the events.
func (p *Peer) serve(w http.ResponseWriter, r *http.Request) {
	if p.o.Fault == "hang" {
		select {
		case <-r.Context().Done():
		case <-p.done:
		}
		return
	}
	kind := "text/event-stream; charset=utf-8"
	if p.o.Fault == "not-sse" {
		kind = "application/json"
	}
	w.Header().Set("Content-Type", kind)
	all := make(chan []byte, 1000)
	p.mu.Lock()
	p.subscribers[all] = true
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.subscribers, all)
		p.mu.Unlock()
	}()
	fmt.Fprint(w, cmp.Or(p.o.Greeting, ": connected\n\n"))
	http.NewResponseController(w).Flush()
	if p.o.SelfStart {
		go p.session()
	}
	p.endless(w, r)
	for {
		select {
		case data := <-all:
			if len(data) == 0 {
				if p.o.Fault == "drop" {
					panic(http.ErrAbortHandler)
				}
				return
			}
			// The forms that a line's end may have, and data over several lines.
			half := strings.IndexByte(string(data), ',') + 1
			fmt.Fprintf(w, "event: aaep.event\rid: x\r\ndata: %s\ndata:%s\n\n", data[:half], data[half:])
			http.NewResponseController(w).Flush()
		case <-r.Context().Done():
			return
		case <-p.done:
			return
		}
	}
}

// endless sends what has no end.
func (p *Peer) endless(w http.ResponseWriter, r *http.Request) {
	var text string
	wait := time.Duration(0)
	switch p.o.Fault {
	case "endless":
		text = strings.Repeat("x", 10_000)
		for n := 0; r.Context().Err() == nil; n++ {
			fmt.Fprintf(w,
				`data: {"@context":"https://aaep-protocol.org/context/v1","type":"medai:seen","event_id":"evt_%d",`+
					`"session_id":"sess_0","timestamp":"2026-05-04T12:00:00Z","producer":{"agent_id":"aaeptest"},"x":"%s"}`+"\n\n",
				n, text)
		}
		return
	case "endless-line":
		text = strings.Repeat("x", 1<<16)
		fmt.Fprint(w, "data: ")
	case "drip":
		text, wait = ":", time.Millisecond
	default:
		return
	}
	for r.Context().Err() == nil {
		if _, err := io.WriteString(w, text); err != nil {
			return
		}
		if wait > 0 {
			http.NewResponseController(w).Flush()
			select {
			case <-time.After(wait):
			case <-r.Context().Done():
			case <-p.done:
				return
			}
		}
	}
}

// reply takes a confirmation.reply.
func (p *Peer) reply(w http.ResponseWriter, r *http.Request) {
	var reply struct {
		Type     string
		Token    string `json:"reply_token"`
		Decision string
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<16)).Decode(&reply); err != nil ||
		reply.Type != "confirmation.reply" {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	p.mu.Lock()
	q := p.open[reply.Token]
	if q == nil && p.o.Fault == "accept-forged" {
		q = p.last
	}
	late := q != nil && time.Now().After(q.expires) && p.o.Fault != "accept-late" && p.o.Fault != "ignore-timeout"
	taken := q == nil || late || q.taken > 0 && p.o.Fault != "honor-second"
	if !taken {
		q.taken++
	}
	p.mu.Unlock()
	if taken {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	q.replies <- reply.Decision
	if p.o.Reference {
		fmt.Fprint(w, `{"status":"received"}`)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

// emit sends an event to all who listen.
func (p *Peer) emit(session string, n *int, kind string, members map[string]any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.events++
	event := map[string]any{"@context": "https://aaep-protocol.org/context/v1", "type": "aaep:agent." + kind,
		"event_id": fmt.Sprintf("evt_%d", p.events), "session_id": session, "sequence_number": *n,
		"timestamp": time.Now().UTC().Format("2006-01-02T15:04:05.000Z"),
		"producer":  map[string]any{"agent_id": "aaeptest"}}
	*n++
	for name, v := range members {
		event[name] = v
	}
	data, err := json.Marshal(event)
	if err != nil {
		panic(err) // members of this file alone
	}
	for all := range p.subscribers {
		all <- data
	}
}

// cut ends the stream of all who listen.
func (p *Peer) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for all := range p.subscribers {
		all <- nil
	}
}

// ask opens a question and gives its token.
func (p *Peer) ask(timeout time.Duration) (string, *question) {
	p.mu.Lock()
	defer p.mu.Unlock()
	token := fmt.Sprintf("rpl_%d", len(p.open)+1)
	p.last = &question{replies: make(chan string, 2), expires: time.Now().Add(timeout)}
	p.open[token] = p.last
	return token, p.last
}

// decide waits for what a question comes to. Its wait is that of the fault.
func (p *Peer) decide(q *question, timeout time.Duration) string {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	switch p.o.Fault {
	case "ignore-timeout":
		timer.Stop()
	case "late-default":
		timer.Reset(timeout + timeout*2/10 + 3*time.Second)
	}
	select {
	case decision := <-q.replies:
		if p.o.Fault == "honor-second" {
			select {
			case decision = <-q.replies:
			case <-time.After(2 * time.Second):
			case <-p.done:
			}
		}
		return decision
	case <-timer.C:
		return "reject"
	case <-p.done:
		return "reject"
	}
}

// session is one session: a harmless tool, one that cannot be taken back, and an answer.
func (p *Peer) session() {
	p.mu.Lock()
	p.sessions++
	id, flags := fmt.Sprintf("sess_%d", p.sessions), p.o.FlagOnly == 0 || p.o.FlagOnly == p.sessions
	p.mu.Unlock()
	n, state := 0, "idle"
	emit := func(kind string, members map[string]any) { p.emit(id, &n, kind, members) }
	enter := func(to string) {
		emit("state.changed", map[string]any{"from_state": state, "to_state": to})
		state = to
	}
	calls := 0
	invoke := func(tool string, forever bool) {
		calls++
		members := map[string]any{"tool": tool, "tool_call_id": fmt.Sprint("call_", tool, calls),
			"risk_level":     map[bool]string{true: "high", false: "low"}[forever],
			"summary_normal": "Calling " + tool + "."}
		if flags {
			members["irreversible"] = forever
		}
		emit("tool.invoked", members)
	}
	complete := func(tool, status string) {
		emit("tool.completed", map[string]any{"tool": tool, "tool_call_id": fmt.Sprint("call_", tool, calls),
			"status": status})
	}
	emit("session.started", map[string]any{"summary_normal": "Working."})
	enter("thinking")
	enter("calling_tool")
	invoke("read", false)
	complete("read", "success")
	switch p.o.Fault {
	case "silent":
		return
	case "drop":
		p.cut()
		return
	}
	if p.o.Fault != "ask-nothing" {
		p.pay(enter, emit, invoke, complete)
	}
	enter("writing_output")
	emit("output.streaming", map[string]any{"chunk": "That ", "position": 0, "complete": false, "coalesce_hint": "none",
		"output_id": "out_1"})
	emit("output.streaming", map[string]any{"chunk": "is all.", "position": 5, "complete": true,
		"coalesce_hint": "completion", "output_id": "out_1"})
	if p.o.Fault == "no-terminal" {
		p.cut()
		return
	}
	emit("session.completed", map[string]any{"summary_normal": "Done."})
}

// pay asks for the action that cannot be taken back, and takes it where it is accepted.
func (p *Peer) pay(enter func(string), emit func(string, map[string]any), invoke func(string, bool),
	complete func(string, string)) {
	if p.o.Fault == "confirm-late" {
		invoke("pay", true)
	}
	enter("awaiting_input")
	const timeout = 1
	wait := timeout * time.Second
	if p.o.Reversible {
		token, q := p.ask(wait)
		emit("awaiting.confirmation", map[string]any{"urgency": "critical", "action": "Show",
			"consequence": "It shows.", "reply_token": token, "timeout_seconds": timeout,
			"default_decision": "reject", "risk_level": "low", "irreversible": false, "summary_normal": "Show?"})
		p.decide(q, wait)
		enter("thinking")
		if p.o.Fault == "ask-reversible" {
			return
		}
		enter("awaiting_input")
	}
	token, q := p.ask(wait)
	emit("awaiting.confirmation", map[string]any{"urgency": "critical", "action": "Pay", "consequence": "It is paid.",
		"reply_token": token, "timeout_seconds": timeout, "default_decision": "reject", "risk_level": "high",
		"irreversible":   true,
		"summary_normal": "Pay?"})
	if p.o.Fault == "answers-itself" {
		emit("", map[string]any{"type": "confirmation.reply", "reply_token": token, "decision": "accept"})
	}
	if p.o.Fault == "no-wait" || p.o.Fault == "answers-itself" {
		invoke("pay", true)
	}
	decision := p.decide(q, wait)
	if p.o.Fault == "accept-late" && decision == "reject" {
		enter("thinking")
		select {
		case decision = <-q.replies:
		case <-time.After(5 * time.Second):
		case <-p.done:
		}
	}
	early := slices.Contains([]string{"confirm-late", "no-wait", "answers-itself"}, p.o.Fault)
	switch {
	case decision == "accept" || p.o.Fault == "ignore-refusal":
		enter("calling_tool")
		if !early {
			invoke("pay", true)
		}
		complete("pay", "success")
	case early:
		complete("pay", "error")
		enter("thinking")
	case p.o.Refused != "":
		enter("calling_tool")
		invoke(p.o.Refused, false)
		complete(p.o.Refused, "success")
	default:
		enter("thinking")
	}
}
