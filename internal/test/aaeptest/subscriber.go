package aaeptest

import (
	"bufio"
	"bytes"
	"context"
	"crypto"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep/jws"
)

// SubscriberFaults are the names of what a subscriber may do wrong.
var SubscriberFaults = []string{
	"leaves-errored",     // leaves when a session ends in an error
	"leaves-unknown",     // leaves at a type that it does not know
	"leaves-extension",   // leaves at an extension that it does not know
	"stuck-unknown",      // answers nothing after a type that it does not know
	"leaves-invalid",     // leaves at an event with an invalid envelope
	"answers-invalid",    // validates no envelope
	"no-capability",      // does not say that it can reply
	"no-timestamp",       // replies without a timestamp
	"odd-decision",       // replies with a decision that does not exist
	"other-token",        // changes the token that it echoes
	"other-subscription", // names another subscription in its replies
	"always-accepts",     // accepts whatever the user says
	"always-rejects",     // rejects whatever the user says
	"never-answers",      // sends no reply
	"answers-late",       // replies after the timeout
	"answers-twice",      // sends each reply twice
	"wrong-kind",         // answers clarifications by the wrong kind
	"unlisted-choice",    // chooses what is not listed
	"answers-unasked",    // accepts what the user does not answer
	"answers-withdrawn",  // does not see that a question was withdrawn
	"no-request",         // takes events without a request, at level 3
	"no-subscriber-id",   // requests without an id of its own
	"odd-rate",           // requests a rate of 0
	"leaves-lower-rate",  // leaves where less was honored than it asked for
	"stuck-lower-rate",   // answers nothing where less was honored than it asked for
	"answers-duplicates", // drops no duplicate
	"answers-stale",      // takes events in the order in which they come
	"takes-forged",       // verifies no signature
	"takes-other-agent",  // verifies the signature, and not the signer
	"takes-none",         // takes alg none
	"refuses-signed",     // refuses each manifest
	"gives-up",           // refuses a manifest, and does not ask again
	"no-close",           // ends without subscription.close
	"never-stops",        // does not stop
	"not-json",           // sends what is not JSON
	"endless",            // sends messages without end
	"reads-nothing",      // stops reading
	"binary",             // sends a binary message
	"no-subprotocol",     // offers no subprotocol
}

// SubscriberOptions are what a subscriber is started with.
type SubscriberOptions struct {
	URL       string
	Level     int
	WebSocket bool
	Reference bool // the layout of the public example producers
	Fault     string
	Rate      int              // that it asks for; 0: none
	Signed    bool             // it requires a signed manifest
	Key       crypto.PublicKey // key of the manifest; nil: that of its header
	Include   []string         // of its filters
	Patience  time.Duration    // how long it waits for an event that is missing; 0: 300 ms
	Sees      func([]byte)     // receives each message of the producer; nil: nobody does
	// Dial connects to the producer; nil: over the network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Subscribe runs a subscriber until the producer ends the connection, or the context ends. Its tester does what the
// questions say.
func Subscribe(ctx context.Context, o SubscriberOptions) error {
	if o.Fault != "" && !slices.Contains(SubscriberFaults, o.Fault) {
		return fmt.Errorf("%q is not a fault: known are %s", o.Fault, strings.Join(SubscriberFaults, ", "))
	}
	transport := &http.Transport{DialContext: o.Dial, DisableCompression: true}
	defer transport.CloseIdleConnections()
	for {
		err := (&listener{o: o, client: http.Client{Transport: transport}, seen: map[string]bool{},
			next: map[string]int{}, kept: map[string][]event{}, pending: map[string]*time.Timer{}}).run(ctx)
		if err != errAskAgain {
			return err
		}
	}
}

var (
	errAskAgain = errors.New("the manifest was refused")
	errLeave    = errors.New("leaves")
)

// listener is a subscription under way.
type listener struct {
	o      SubscriberOptions
	client http.Client
	ws     *websocket.Conn
	base   string

	mu      sync.Mutex
	id      string // id of the subscription
	rate    float64
	seen    map[string]bool
	next    map[string]int         // the sequence_number that comes next, by session
	kept    map[string][]event     // events that came too early, by session
	pending map[string]*time.Timer // replies that wait, by session
	stuck   bool
	replies sync.WaitGroup
	left    chan struct{}
}

// run connects and takes events.
func (l *listener) run(ctx context.Context) error {
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	l.left = make(chan struct{})
	l.base = l.o.URL + "/aaep/v1"
	if l.o.Reference {
		l.base = l.o.URL
	}
	var next func() ([]byte, error)
	var err error
	if l.o.WebSocket {
		next, err = l.dial(own)
	} else {
		next, err = l.listen(own)
	}
	if err != nil {
		return err
	}
	defer l.settle()
	if l.o.Fault == "reads-nothing" {
		<-ctx.Done()
		return nil
	}
	events := make(chan []byte)
	failed := make(chan error, 1)
	go func() {
		for {
			data, err := next()
			if err != nil {
				failed <- err
				return
			}
			select {
			case events <- data:
			case <-own.Done():
				return
			}
		}
	}()
	patience := time.NewTicker(max(l.o.Patience, 300*time.Millisecond))
	defer patience.Stop()
	stop := ctx.Done()
	for {
		select {
		case data := <-events:
			if err := l.take(own, data); err == errLeave {
				return nil
			} else if err != nil {
				return err
			}
		case <-patience.C:
			l.release(own)
		case err := <-failed:
			if errors.Is(err, io.EOF) || websocket.CloseStatus(err) == 4000 {
				return nil
			}
			return err
		case <-stop:
			if l.o.Fault == "never-stops" {
				stop = nil
				continue
			}
			if l.o.Fault != "no-close" {
				l.unsubscribe(own)
			}
			return nil
		}
	}
}

// settle ends what waits.
func (l *listener) settle() {
	l.mu.Lock()
	for _, timer := range l.pending {
		timer.Stop()
	}
	l.mu.Unlock()
	close(l.left)
	l.replies.Wait()
	if l.ws != nil {
		_ = l.ws.CloseNow()
	}
}

// request returns the subscription.request.
func (l *listener) request() []byte {
	capabilities := event{"supports_confirmation_reply": true, "supports_clarification_reply": true,
		"languages": []string{"en-US"}}
	if l.o.Rate > 0 {
		capabilities["max_events_per_second"] = l.o.Rate
	}
	if l.o.Signed {
		capabilities["accept_signed_manifests_only"] = true
	}
	if l.o.Include != nil {
		capabilities["event_filters"] = event{"include": l.o.Include, "exclude": []string{}}
	}
	m := event{"type": "subscription.request", "aaep_version": "1.0.0", "subscriber_id": "aaeptest",
		"capabilities": capabilities}
	switch l.o.Fault {
	case "no-capability":
		delete(capabilities, "supports_confirmation_reply")
	case "no-subscriber-id":
		delete(m, "subscriber_id")
	case "odd-rate":
		capabilities["max_events_per_second"] = 0
	}
	return marshal(m)
}

// accepted takes the answer to the request.
func (l *listener) accepted(ctx context.Context, data []byte) error {
	var m struct {
		Type     string
		ID       string `json:"subscription_id"`
		Producer struct {
			Agent string `json:"agent_id"`
		}
		Honored struct {
			Rate float64 `json:"max_events_per_second"`
		} `json:"honored_capabilities"`
		Manifest string `json:"signed_manifest"`
	}
	if err := json.Unmarshal(data, &m); err != nil {
		return err
	}
	if m.Type != "subscription.accepted" {
		return fmt.Errorf("the request is answered by %s", data)
	}
	l.mu.Lock()
	l.id, l.rate = m.ID, m.Honored.Rate
	l.mu.Unlock()
	if l.o.Fault == "leaves-lower-rate" && l.rate < float64(l.o.Rate) {
		return nil // see take
	}
	if !l.o.Signed || l.trusts(m.Manifest, m.Producer.Agent) {
		return nil
	}
	l.unsubscribe(ctx)
	if l.ws != nil {
		_ = l.ws.CloseNow()
	}
	if l.o.Fault == "gives-up" {
		return errLeave
	}
	return errAskAgain
}

// trusts reports whether a manifest is signed, by the known key, and of the agent.
func (l *listener) trusts(text, agent string) bool {
	if l.o.Fault == "refuses-signed" {
		return false
	}
	j, wrong := jws.Parse(text)
	var manifest struct {
		Agent string `json:"agent_id"`
	}
	if wrong != "" || json.Unmarshal(j.Payload, &manifest) != nil {
		return false
	}
	if j.Alg == "none" {
		return l.o.Fault == "takes-none"
	}
	key := l.o.Key
	if key == nil {
		key = j.OwnKey()
	}
	good := j.By(key)
	return (good || l.o.Fault == "takes-forged") && (manifest.Agent == agent || l.o.Fault == "takes-other-agent" ||
		l.o.Fault == "takes-forged" && !good)
}

// subscribes reports whether the subscriber begins with a request.
func (l *listener) subscribes() bool {
	return l.o.Level >= 3 && l.o.Fault != "no-request" || l.o.Fault == "no-capability" ||
		l.o.Fault == "other-subscription"
}

// dial connects by a WebSocket.
func (l *listener) dial(ctx context.Context) (next func() ([]byte, error), err error) {
	options := &websocket.DialOptions{Subprotocols: []string{"aaep.v1"}, HTTPClient: &l.client}
	if l.o.Fault == "no-subprotocol" {
		options.Subprotocols = nil
	}
	l.ws, _, err = websocket.Dial(ctx, "ws"+strings.TrimPrefix(l.base, "http")+"/ws", options)
	if err != nil {
		return nil, err
	}
	l.ws.SetReadLimit(1 << 20)
	read := func() ([]byte, error) {
		_, data, err := l.ws.Read(ctx)
		return data, err
	}
	if !l.subscribes() {
		return read, nil
	}
	if err := l.ws.Write(ctx, websocket.MessageText, l.request()); err != nil {
		return nil, err
	}
	var early [][]byte // events that were sent before the request arrived
	for {
		data, err := read()
		if err != nil {
			return nil, err
		}
		if len(early) < 100 && bytes.Contains(data, []byte(`"type":"aaep:`)) {
			early = append(early, data)
			continue
		}
		if err := l.accepted(ctx, data); err != nil {
			return nil, err
		}
		return func() (data []byte, err error) {
			if len(early) == 0 {
				return read()
			}
			data, early = early[0], early[1:]
			return data, nil
		}, nil
	}
}

// listen connects by server-sent events.
func (l *listener) listen(ctx context.Context) (next func() ([]byte, error), err error) {
	at, err := url.Parse(l.base + "/events")
	if err != nil {
		return nil, err
	}
	if l.subscribes() {
		resp, err := l.client.Post(l.base+"/subscriptions", "application/json", bytes.NewReader(l.request()))
		if err != nil {
			return nil, err
		}
		data, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			return nil, err
		}
		if at, err = at.Parse(resp.Header.Get("Location")); err != nil {
			return nil, err
		}
		if err := l.accepted(ctx, data); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "text/event-stream")
	resp, err := l.client.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return nil, fmt.Errorf("GET %s: %s", at, resp.Status)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, 1<<20)
	lines.Split(scanLines)
	return func() ([]byte, error) {
		var data []byte
		for lines.Scan() {
			more, is := strings.CutPrefix(lines.Text(), "data:")
			switch {
			case is:
				data = append(append(data, strings.TrimPrefix(more, " ")...), '\n')
			case lines.Text() == "" && len(data) > 0:
				return data, nil
			}
		}
		resp.Body.Close()
		if lines.Err() == nil {
			return nil, io.EOF
		}
		return nil, lines.Err()
	}, nil
}

// scanLines splits at CR, LF or both. A CR that is the last byte so far ends no line yet.
func scanLines(data []byte, atEOF bool) (advance int, token []byte, err error) {
	i := bytes.IndexAny(data, "\r\n")
	switch {
	case i < 0 && atEOF && len(data) > 0:
		return len(data), data, nil
	case i < 0 || data[i] == '\r' && i+1 == len(data) && !atEOF:
		return 0, nil, nil
	case data[i] == '\r' && i+1 < len(data) && data[i+1] == '\n':
		return i + 2, data[:i], nil
	}
	return i + 1, data[:i], nil
}

// post sends a message to the producer.
func (l *listener) post(ctx context.Context, data []byte) {
	if l.ws != nil {
		_ = l.ws.Write(ctx, websocket.MessageText, data)
		return
	}
	path := "/replies"
	if l.o.Reference {
		path = "/messages"
	}
	resp, err := l.client.Post(l.base+path, "application/json", bytes.NewReader(data))
	if err == nil {
		resp.Body.Close()
	}
}

func (l *listener) unsubscribe(ctx context.Context) {
	l.mu.Lock()
	id := l.id
	l.mu.Unlock()
	if id == "" {
		return
	}
	l.post(ctx, marshal(event{"type": "subscription.close", "subscription_id": id,
		"reason_code": "subscriber_shutdown"}))
}

// take takes a message of the producer.
func (l *listener) take(ctx context.Context, data []byte) error {
	if l.o.Sees != nil {
		l.o.Sees(data)
	}
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return err
	}
	kind, _ := e["type"].(string)
	if strings.HasPrefix(kind, "subscription.") {
		return nil
	}
	session, _ := e["session_id"].(string)
	id, _ := e["event_id"].(string)
	if e["@context"] == nil || session == "" || id == "" {
		switch l.o.Fault {
		case "leaves-invalid":
			return errLeave
		case "answers-invalid":
			return l.act(ctx, kind, session, e)
		}
		return nil
	}
	if l.seen[id] && l.o.Fault != "answers-duplicates" {
		return nil
	}
	l.seen[id] = true
	number, numbered := e["sequence_number"].(float64)
	if !numbered || l.o.Fault == "answers-stale" || l.o.Level < 3 {
		return l.act(ctx, kind, session, e)
	}
	if int(number) > l.next[session] {
		l.kept[session] = append(l.kept[session], e)
		return nil
	}
	if int(number) < l.next[session] && strings.HasPrefix(kind, "aaep:agent.awaiting.") &&
		l.o.Fault != "answers-duplicates" {
		return nil // the session has gone on without it
	}
	l.next[session] = max(l.next[session], int(number)+1)
	if err := l.act(ctx, kind, session, e); err != nil {
		return err
	}
	return l.caughtUp(ctx, session)
}

// caughtUp acts on the events that waited for one that came.
func (l *listener) caughtUp(ctx context.Context, session string) error {
	for {
		i := slices.IndexFunc(l.kept[session], func(e event) bool {
			return int(e["sequence_number"].(float64)) == l.next[session]
		})
		if i < 0 {
			return nil
		}
		e := l.kept[session][i]
		l.kept[session] = slices.Delete(l.kept[session], i, i+1)
		l.next[session]++
		kind, _ := e["type"].(string)
		if err := l.act(ctx, kind, session, e); err != nil {
			return err
		}
	}
}

// release waits no longer for events that are missing.
func (l *listener) release(ctx context.Context) {
	for session, kept := range maps.Clone(l.kept) {
		if len(kept) > 0 {
			least := slices.MinFunc(kept, func(a, b event) int {
				return int(a["sequence_number"].(float64) - b["sequence_number"].(float64))
			})
			l.next[session] = int(least["sequence_number"].(float64))
			_ = l.caughtUp(ctx, session)
		}
	}
}

// act does what an event asks for.
func (l *listener) act(ctx context.Context, kind, session string, e event) error {
	name := strings.TrimPrefix(kind, "aaep:agent.")
	known := strings.HasPrefix(kind, "aaep:agent.") && name != "mood.changed"
	switch {
	case !known && l.o.Fault == "leaves-unknown", e["extensions"] != nil && l.o.Fault == "leaves-extension",
		name == "session.errored" && l.o.Fault == "leaves-errored":
		return errLeave
	case !known && l.o.Fault == "stuck-unknown":
		l.stuck = true
	case name == "session.completed":
		l.stuck = false
	case name == "progress.updated" && e["extensions"] == nil && e["event_id"] != nil && l.rate < float64(l.o.Rate):
		switch l.o.Fault {
		case "leaves-lower-rate":
			return errLeave
		case "stuck-lower-rate":
			l.stuck = true
		}
	case name == "session.started":
		switch l.o.Fault {
		case "not-json":
			l.post(ctx, []byte("hello"))
		case "binary":
			_ = l.ws.Write(ctx, websocket.MessageBinary, []byte{1, 2, 3})
		case "endless":
			l.replies.Go(func() {
				for l.o.Fault == "endless" {
					select {
					case <-l.left:
						return
					default:
						l.post(ctx, marshal(event{"type": "acme:noise", "text": strings.Repeat("x", 2000)}))
					}
				}
			})
		}
	case name == "state.changed" && l.o.Fault != "answers-withdrawn":
		l.mu.Lock()
		if timer := l.pending[session]; timer != nil && e["from_state"] == "awaiting_input" {
			timer.Stop()
		}
		l.mu.Unlock()
	case name == "awaiting.confirmation", name == "awaiting.clarification":
		l.answer(ctx, name, session, e)
	}
	return nil
}

// answer has the tester answer a question.
func (l *listener) answer(ctx context.Context, name, session string, e event) {
	text, _ := e["question"].(string)
	reply := event{"type": "clarification.reply"}
	wait := time.Duration(0)
	if name == "awaiting.confirmation" {
		text, _ = e["action"].(string)
		reply["type"] = "confirmation.reply"
	}
	does, _ := strings.CutPrefix(text, "Test: ")
	is := func(what string) bool { return strings.HasPrefix(does, what) }
	seconds, _ := e["timeout_seconds"].(float64)
	switch {
	case is("accept"):
		reply["decision"] = "accept"
	case is("reject"):
		reply["decision"] = "reject"
	case is("wait 3 seconds"):
		reply["decision"], wait = "accept", 3*time.Second
	case is(`answer "blue"`):
		reply["response"] = "blue"
	case is("answer yes"):
		reply["response"] = true
	case is(`choose "b"`):
		reply["response"] = "b"
	case is("answer 7"):
		reply["response"] = 7
	case is("do not answer") && l.o.Fault == "answers-unasked":
		reply["decision"] = "accept"
	default:
		return
	}
	l.mu.Lock()
	reply["reply_token"], reply["subscription_id"] = e["reply_token"], l.id
	l.mu.Unlock()
	if reply["subscription_id"] == "" {
		reply["subscription_id"] = "sub_none"
	}
	reply["timestamp"] = time.Now().UTC().Format("2006-01-02T15:04:05Z")
	_, decides := reply["decision"]
	switch l.o.Fault {
	case "no-timestamp":
		delete(reply, "timestamp")
	case "odd-decision":
		if decides {
			reply["decision"] = "maybe"
		}
	case "other-token":
		reply["reply_token"] = "rpl_another"
	case "other-subscription":
		reply["subscription_id"] = "sub_another"
	case "always-accepts":
		if decides {
			reply["decision"] = "accept"
		}
	case "always-rejects":
		if decides {
			reply["decision"] = "reject"
		}
	case "never-answers":
		return
	case "answers-late":
		if wait == 0 {
			wait = time.Duration(seconds*1000+300) * time.Millisecond
		}
	case "wrong-kind":
		switch reply["response"].(type) {
		case string:
			reply["response"] = 1
		case bool:
			reply["response"] = "yes"
		case int:
			reply["response"] = "seven"
		}
	case "unlisted-choice":
		if reply["response"] == "b" {
			reply["response"] = "c"
		}
	}
	if l.stuck {
		return
	}
	data := marshal(reply)
	send := func() {
		l.post(ctx, data)
		if l.o.Fault == "answers-twice" {
			l.post(ctx, data)
		}
	}
	if wait == 0 {
		send()
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	timer := time.AfterFunc(wait, send)
	if l.o.Fault != "answers-late" {
		l.pending[session] = timer
	}
}
