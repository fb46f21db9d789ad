// Package aaeptest has a producer and a subscriber of AAEP on loopback for tests, honest or with one fault that has a
// name. The producer speaks the layout of appendix B, at level 3 too, and that of the public example producers. The
// subscriber speaks server-sent events and WebSocket.
package aaeptest

import (
	"cmp"
	"crypto"
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
	"ask-reversible", // asks only a reversible question
	"ask-nothing",    // calls no irreversible tool and asks nothing
	"accept-forged",  // takes any token for that of the open question
	"honor-second",   // lets a second reply overrule the first
	"accept-late",    // applies its default in time, and lets a later reply overrule it
	"ignore-timeout", // waits for a reply without end
	"late-default",   // applies its default too late
	"no-terminal",    // ends the stream without the session's end
	"silent",         // stops in the middle of a session, and keeps the connection
	"hang",           // does not answer the request for events
	"drop",           // breaks the connection in the middle of a session
	"not-sse",        // serves the events with another Content-Type
	"endless",        // sends events without end
	"endless-line",   // sends a line without an end
	"drip",           // sends a byte now and then, and no event
	"elsewhere",      // names another server for the events
	"unavailable",    // answers 503
	"switches",       // answers 101, and keeps the connection

	// Of level 3.
	"any-version",       // accepts each version as the one that was asked for
	"other-version",     // accepts each version as its own
	"odd-reason",        // rejects with the reason unknown
	"no-reason",         // rejects with a reason_code that does not exist
	"deaf",              // does not answer a request for a subscription
	"deaf-version",      // does not answer a request of an unknown version
	"deaf-renegotiate",  // does not answer the request that renegotiates
	"rejects",           // rejects each subscription
	"mute",              // answers a request by 201 and no body
	"late-accepted",     // the same, and accepts in the stream, after the first event
	"nameless",          // accepts without saying who it is
	"unasked",           // accepts a second time, other terms
	"grants-more",       // honors a higher rate than was requested
	"no-rate",           // keeps no rate
	"ignores-terms",     // accepts a renegotiation, and keeps to the rate of before
	"mute-renegotiate",  // does not answer a renegotiation
	"rejects-lower",     // rejects a renegotiation, and ends the stream
	"goes-on",           // rejects a renegotiation, and continues
	"renames",           // accepts a renegotiation for another subscription
	"holds-critical",    // sends critical events 3 s late
	"no-filter",         // applies no filter
	"filters-critical",  // applies filters to critical events
	"no-coalesce",       // sends each word by itself
	"splits-words",      // sends half a word as a sentence
	"other-language",    // speaks French
	"ignores-close",     // continues after the subscription was closed
	"keeps-question",    // leaves the question of a closed subscription open
	"acts-on-close",     // takes the close of a subscription for an accept
	"no-manifest",       // serves no manifest
	"manifest-short",    // serves a manifest without its levels
	"manifest-odd",      // serves a manifest whose levels are a text
	"manifest-agent",    // serves the manifest of another agent
	"manifest-level",    // serves a manifest of level 2
	"unsigned-accepted", // accepts a subscriber that requires a signed manifest without one
	"jws-form",          // signs with two parts
	"jws-alg",           // signs with alg none
	"jws-signature",     // signs another manifest
	"jws-agent",         // signs the manifest of another agent
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
	Prefix     string       // prefix of the paths
	Status     int          // status of an answer that accepts a subscription; 0: 201
	Greeting   string       // what the stream of events begins with; empty: a comment
	Listener   net.Listener // where to serve; nil: a free port of 127.0.0.1
	InStream   bool         // answers a renegotiation in the stream, rather than in the response
	Seconds    int          // timeout of its questions; 0: 1
	// Sign is the algorithm by which the manifest is signed: ES256, RS256, PS256 or EdDSA; empty: it is not.
	// OwnKey puts the key into the header.
	Sign   string
	OwnKey bool
}

// Peer is a running producer.
type Peer struct {
	URL         string
	ManifestKey crypto.PublicKey // of Options.Sign

	o      Options
	key    crypto.Signer
	server *http.Server
	done   chan struct{}

	mu          sync.Mutex
	subscribers map[string]*subscriber // by the id of the subscription
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

// subscriber is one subscription, and the stream that serves it.
type subscriber struct {
	id       string
	out      chan []byte
	attached bool
	replies  bool // it can answer questions
	numbers  map[string]int

	rate             float64 // events a second; 0: no limit
	bucket           float64
	filled           time.Time
	include, exclude []string
	boundaries       []string // nil: each chunk is sent
	honored          map[string]any

	text     string // output that waits for a boundary
	position int
	unasked  []byte // a message that follows the first event
}

// Start serves until Close.
func Start(o Options) (*Peer, error) {
	if o.Fault != "" && !slices.Contains(Faults, o.Fault) && edits[o.Fault] == nil {
		return nil, fmt.Errorf("%q is not a fault: known are %s", o.Fault, strings.Join(Faults, ", "))
	}
	if o.Listener == nil {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		o.Listener = l
	}
	p := &Peer{URL: "http://" + o.Listener.Addr().String(), o: o, done: make(chan struct{}),
		subscribers: map[string]*subscriber{}, open: map[string]*question{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+o.Prefix+"/events", p.serve)
	if !o.SelfStart {
		mux.HandleFunc("POST "+o.Prefix+"/sessions", func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(io.LimitReader(r.Body, 1<<16))
			go p.session(strings.Contains(string(body), "held"))
			w.WriteHeader(http.StatusAccepted)
		})
	}
	if o.Reference {
		mux.HandleFunc("POST "+o.Prefix+"/messages", p.reply)
	} else {
		mux.HandleFunc("POST "+o.Prefix+"/replies", p.reply)
		mux.HandleFunc("GET /.well-known/aaep-manifest.json", p.manifest)
		mux.HandleFunc("POST "+o.Prefix+"/subscriptions", p.subscribe)
	}
	if err := p.makeKey(); err != nil {
		return nil, err
	}
	p.server = &http.Server{Handler: mux, ErrorLog: log.New(io.Discard, "", 0)}
	go p.server.Serve(o.Listener)
	return p, nil
}

// Close ends the peer and every session under way.
func (p *Peer) Close() error {
	close(p.done)
	_ = p.o.Listener.Close() // the server may not know it yet
	if err := p.server.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

// serve streams the events.
func (p *Peer) serve(w http.ResponseWriter, r *http.Request) {
	if p.o.Fault == "hang" {
		p.hang(r)
		return
	}
	kind := "text/event-stream; charset=utf-8"
	if p.o.Fault == "not-sse" {
		kind = "application/json"
	}
	w.Header().Set("Content-Type", kind)
	of := p.attach(r.URL.Query().Get("subscription_id"))
	defer p.detach(of)
	fmt.Fprint(w, cmp.Or(p.o.Greeting, ": connected\n\n"))
	http.NewResponseController(w).Flush()
	if p.o.SelfStart {
		go p.session(false)
	}
	if p.o.SelfStart || p.o.Fault != "endless" {
		p.endless(w, r)
	}
	for {
		select {
		case data := <-of.out:
			p.endless(w, r)
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
		text, wait = ":", 50*time.Millisecond
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

// reply takes a confirmation.reply, or a message of the subscription.
func (p *Peer) reply(w http.ResponseWriter, r *http.Request) {
	var reply struct {
		Type         string
		Token        string `json:"reply_token"`
		Subscription string `json:"subscription_id"`
		Decision     string
		Capabilities map[string]any
	}
	if err := json.NewDecoder(io.LimitReader(r.Body, 1<<16)).Decode(&reply); err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	switch reply.Type {
	case "subscription.renegotiate":
		p.renegotiate(w, r, reply.Subscription, reply.Capabilities)
		return
	case "subscription.close":
		p.close(reply.Subscription)
		w.WriteHeader(http.StatusNoContent)
		return
	case "confirmation.reply":
	default:
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

// ask opens a question and gives its token.
func (p *Peer) ask(timeout time.Duration) (string, *question) {
	p.mu.Lock()
	defer p.mu.Unlock()
	token := fmt.Sprintf("rpl_%d", len(p.open)+1)
	if p.o.Fault == "confirmation/token-twice" {
		token = "rpl_1"
	}
	p.last = &question{replies: make(chan string, 2), expires: time.Now().Add(timeout)}
	p.open[token] = p.last
	return token, p.last
}

// token returns the token of a question.
func (p *Peer) token(of *question) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for token, q := range p.open {
		if q == of {
			return token
		}
	}
	return ""
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

// session plays one session: a harmless tool, an irreversible one, and an answer. The question of a held session has a
// timeout of 30 s.
func (p *Peer) session(kept bool) {
	p.mu.Lock()
	p.sessions++
	id, flags := fmt.Sprintf("sess_%d", p.sessions), p.o.FlagOnly == 0 || p.o.FlagOnly == p.sessions
	p.mu.Unlock()
	state := "idle"
	emit := func(kind string, members map[string]any) {
		p.emit(id, kind, func(*subscriber) map[string]any { return members })
	}
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
		p.pay(enter, emit, invoke, complete, map[bool]int{false: cmp.Or(p.o.Seconds, 1), true: 30}[kept])
	}
	enter("writing_output")
	p.say(id, "That ", "none", false)
	p.say(id, "is all. ", "sentence", false)
	p.say(id, "Bye.", "completion", true)
	if p.o.Fault == "no-terminal" {
		p.cut()
		return
	}
	emit("session.completed", map[string]any{"summary_normal": "Done."})
}

// pay asks for the action that cannot be taken back, and takes it where it is accepted.
func (p *Peer) pay(enter func(string), emit func(string, map[string]any), invoke func(string, bool),
	complete func(string, string), timeout int) {
	if p.o.Fault == "confirm-late" {
		invoke("pay", true)
	}
	enter("awaiting_input")
	if p.o.Fault == "holds-critical" {
		timeout += 4
	}
	wait := time.Duration(timeout) * time.Second
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
	question := func() *question {
		token, q := p.ask(wait)
		emit("awaiting.confirmation", map[string]any{"urgency": "critical", "action": "Pay",
			"consequence": "It is paid.", "reply_token": token, "timeout_seconds": timeout,
			"default_decision": "reject", "risk_level": "high", "irreversible": true, "summary_normal": "Pay?"})
		return q
	}
	q := question()
	if p.o.Fault == "confirmation/asked-twice" {
		question()
	}
	if p.o.Fault == "answers-itself" {
		emit("", map[string]any{"type": "confirmation.reply", "reply_token": p.token(q), "decision": "accept"})
	}
	if p.o.Fault == "no-wait" || p.o.Fault == "answers-itself" {
		invoke("pay", true)
	}
	decision := p.decide(q, wait)
	if decision == "closed" && p.o.Fault == "ignores-close" {
		select { // the events after the close come late enough to count
		case <-time.After(1500 * time.Millisecond):
		case <-p.done:
		}
	}
	if p.o.Fault == "accept-late" && decision == "reject" {
		enter("thinking")
		select {
		case decision = <-q.replies:
		case <-time.After(5 * time.Second):
		case <-p.done:
		}
	}
	if decision == "closed" && p.o.Fault == "acts-on-close" {
		decision = "accept"
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
