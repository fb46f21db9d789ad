package server

import (
	"bytes"
	"context"
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

	"github.com/coder/websocket"
	"golang.org/x/net/netutil"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
)

const (
	specBase    = "/aaep/v1" // by appendix B; the same is served at the root, for the reference layout
	subprotocol = "aaep.v1"  // for WebSocket
	goodbye     = 4000       // the code by which the host closes it
)

// connection is the connection over which a subscriber takes events.
type connection struct {
	out     chan packet
	ws      *websocket.Conn // nil: server-sent events
	done    chan struct{}   // closed when the subscriber left
	grant   *grant          // nil: there is no subscription
	left    bool
	why     string // of that
	unasked bool   // it is reported that there is no subscription
	within  bool   // a message of the subscriber has begun, and not ended
}

// packet is an event or a message of the subscription. With read it is a question instead, whether the subscriber
// still reads: read is closed when it does. The last packet has end.
type packet struct {
	id   string // id of an event
	data []byte
	asks *posed // the question that the event asks; nil: it asks none
	read chan struct{}
	end  bool
}

// reason returns why the subscriber left.
func (l *connection) reason() string {
	if !l.left {
		return "it sent subscription.close"
	}
	return l.why
}

// push sends a packet. A subscriber that does not read has left. Its caller holds the lock.
func (r *hosting) push(l *connection, p packet) {
	select {
	case l.out <- p:
	default:
		r.leave(l, fmt.Sprintf("it has not read %d messages", maxWaiting))
	}
}

// leave notes that a subscriber left. Its caller holds the lock.
func (r *hosting) leave(l *connection, why string) {
	if l.left {
		return
	}
	l.left, l.why = true, why
	close(l.done)
	if r.link == l {
		r.link = nil
	}
	r.signal()
}

// gone is leave for a caller that does not hold the lock.
func (r *hosting) gone(l *connection, why string) { r.locked(func() { r.leave(l, why) }) }

// attach makes a connection that of the subscriber, and reports whether it is: another one may be. A subscriber that
// connects again may be quicker than the end of its last connection.
func (r *hosting) attach(ctx context.Context, l *connection, g *grant) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if old := r.link; old != nil && !r.over {
		r.mu.Unlock()
		select {
		case <-old.done:
		case <-time.After(r.pause):
		case <-ctx.Done():
		}
		r.mu.Lock()
	}
	if r.link != nil || r.over {
		r.refusal = oneAtATime
		return false
	}
	r.link, r.sign, r.transport = l, r.Now(), "server-sent events"
	if l.ws != nil {
		r.transport = "WebSocket"
	}
	if g != nil {
		r.use(l, g)
	}
	r.signal()
	return true
}

// use makes a subscription that of the subscriber, and judges its request. Its caller holds the lock.
func (r *hosting) use(l *connection, g *grant) {
	l.grant = g
	if g.used {
		return
	}
	g.used = true
	r.judge(aaep.SubHandshake, g.request, g.line)
	r.declares(g.request, g.line, false)
	if l.ws == nil && g.forged != "" {
		r.taken(g) // it asks for the events
	}
}

// serve serves subscribers until the function that it returns is called.
func (r *hosting) serve(ctx context.Context, l net.Listener) (stop func()) {
	// A deadline ends the plays, and not the connections: a subscriber that stays until then must not seem to leave.
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	mux := http.NewServeMux()
	var sockets sync.WaitGroup
	for _, base := range []string{"", specBase} {
		mux.HandleFunc("GET "+base+"/events", r.serveEvents)
		for path, status := range map[string]int{"/subscriptions": http.StatusCreated,
			"/replies": http.StatusNoContent, "/messages": http.StatusOK} {
			mux.HandleFunc("POST "+base+path, func(w http.ResponseWriter, q *http.Request) {
				r.serveMessage(w, q, status, base)
			})
		}
		mux.HandleFunc("POST "+base+"/sessions", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusAccepted) // sessions begin by themselves
		})
		mux.HandleFunc("GET "+base+"/ws", func(w http.ResponseWriter, q *http.Request) {
			over := false
			r.locked(func() {
				if over = r.over; !over { // none is added while the end waits for them
					sockets.Add(1)
				}
			})
			if over {
				http.Error(w, "the run has ended", http.StatusServiceUnavailable)
				return
			}
			defer sockets.Done()
			r.serveSocket(ctx, w, q)
		})
	}
	mux.HandleFunc("GET /.well-known/aaep-manifest.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(r.manifest(agentID))
	})
	server := &http.Server{Handler: http.NewCrossOriginProtection().Handler(mux), ReadHeaderTimeout: r.Timeout,
		IdleTimeout: idleTimeouts * r.Timeout, MaxHeaderBytes: 16 << 10, ErrorLog: log.New(io.Discard, "", 0),
		BaseContext: func(net.Listener) context.Context { return ctx }}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = server.Serve(netutil.LimitListener(narrow{l}, maxConnections))
	}()
	return func() {
		r.mu.Lock()
		r.over = true
		link := r.link
		if link != nil {
			r.push(link, packet{end: true})
		}
		r.mu.Unlock()
		if link != nil {
			select {
			case <-link.done:
			case <-time.After(r.pause):
			}
		}
		cancel()
		// Close alone would cut the stream of a request that is about to return.
		ending, stop := context.WithTimeout(context.Background(), r.pause)
		_ = server.Shutdown(ending)
		stop()
		_ = server.Close()
		sockets.Wait()
		<-ended
	}
}

// serveMessage takes a message that comes by a request of its own. The status is that of an answer without a message.
func (r *hosting) serveMessage(w http.ResponseWriter, q *http.Request, status int, base string) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(r.Timeout))
	data, err := capped.ReadAll(q.Body, aaep.MaxMessage)
	if err != nil {
		r.refused("a message has more than 1 MiB, or does not end")
		http.Error(w, "the message has more than 1 MiB, or does not end", http.StatusRequestEntityTooLarge)
		return
	}
	asks := status == http.StatusCreated
	answer, taken := r.receive(nil, data, asks)
	w.Header().Set("Content-Type", "application/json")
	switch {
	case asks && answer.grant != nil:
		w.Header().Set("Location", base+"/events?subscription_id="+answer.grant.id)
		w.WriteHeader(http.StatusCreated)
	case asks && answer.data != nil:
		w.WriteHeader(http.StatusConflict)
	case !taken:
		http.Error(w, "the message is not taken", http.StatusBadRequest)
		return
	case answer.data == nil && status == http.StatusOK:
		answer.data = []byte(`{"status":"received"}`)
	case answer.data == nil:
		w.WriteHeader(http.StatusNoContent)
		return
	}
	_, _ = w.Write(answer.data)
}

// refuse refuses a connection.
func (r *hosting) refuse(w http.ResponseWriter, status int, why string) {
	r.refused(why)
	http.Error(w, why, status)
}

// refused notes why a connection was refused.
func (r *hosting) refused(why string) { r.locked(func() { r.refusal = why }) }

const (
	oneAtATime     = "another subscriber is connected"
	padding        = 1 << 20 // bytes that no buffers on the way hold
	maxConnections = 32
	// A play may take twice the time of --timeout: a connection for replies must not be closed just as one comes.
	idleTimeouts = 10
)

// serveEvents serves server-sent events.
func (r *hosting) serveEvents(w http.ResponseWriter, q *http.Request) {
	id := q.URL.Query().Get("subscription_id")
	r.mu.Lock()
	g := r.granted[id]
	closed := g != nil && g.closed
	r.mu.Unlock()
	switch {
	case id != "" && g == nil:
		r.refuse(w, http.StatusNotFound, "the subscription is not known")
		return
	case closed:
		r.refuse(w, http.StatusGone, "the subscription is closed")
		return
	}
	l := &connection{out: make(chan packet, maxWaiting), done: make(chan struct{})}
	if !r.attach(q.Context(), l, g) {
		http.Error(w, oneAtATime, http.StatusConflict)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	send := http.NewResponseController(w)
	write := func(text []byte) error {
		_ = send.SetWriteDeadline(time.Now().Add(r.Timeout))
		_, err := w.Write(text)
		return errors.Join(err, send.Flush())
	}
	if err := write([]byte(": connected\n\n")); err != nil {
		r.gone(l, "it did not read its events: "+err.Error())
		return
	}
	r.pump(q.Context(), l, func(p packet) (err error) {
		switch {
		case p.end:
		case p.read != nil:
			comments := bytes.Repeat([]byte(": "+strings.Repeat(".", 1021)+"\n"), 64)
			for n := 0; err == nil && n < padding; n += len(comments) {
				err = write(comments)
			}
		case p.id == "":
			return write(fmt.Appendf(nil, "event: aaep.event\ndata: %s\n\n", p.data))
		default:
			return write(fmt.Appendf(nil, "event: aaep.event\nid: %s\ndata: %s\n\n", p.id, p.data))
		}
		return err
	})
}

// pump sends packets until the subscriber leaves or the run ends. send sends one; for a question whether the
// subscriber reads, it returns when all that was sent has left this machine's buffers.
func (r *hosting) pump(ctx context.Context, l *connection, send func(packet) error) {
	for {
		select {
		case p := <-l.out:
			err := send(p)
			switch {
			case err != nil:
				r.gone(l, "it did not read its events: "+err.Error())
				return
			case p.end:
				r.gone(l, "")
				return
			case p.read != nil:
				close(p.read)
			}
		case <-l.done:
			return
		case <-ctx.Done():
			r.gone(l, "it closed the connection")
			return
		}
	}
}

// serveSocket serves a WebSocket.
func (r *hosting) serveSocket(ctx context.Context, w http.ResponseWriter, q *http.Request) {
	offered := strings.Split(strings.Join(q.Header.Values("Sec-WebSocket-Protocol"), ","), ",")
	if !slices.ContainsFunc(offered, func(name string) bool {
		return strings.EqualFold(strings.TrimSpace(name), subprotocol)
	}) {
		r.refuse(w, http.StatusBadRequest, "the WebSocket does not offer the subprotocol "+subprotocol)
		return
	}
	c, err := websocket.Accept(w, q, &websocket.AcceptOptions{Subprotocols: []string{subprotocol},
		CompressionMode: websocket.CompressionDisabled})
	if err != nil {
		r.refused(err.Error())
		return
	}
	defer c.CloseNow()
	c.SetReadLimit(aaep.MaxMessage)
	l := &connection{out: make(chan packet, maxWaiting), done: make(chan struct{}), ws: c}
	if !r.attach(ctx, l, nil) {
		_ = c.Close(websocket.StatusTryAgainLater, oneAtATime)
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	var writer sync.WaitGroup
	writer.Go(func() {
		r.pump(ctx, l, func(p packet) error { return r.sendFrame(ctx, c, p) })
		_ = c.CloseNow()
	})
	defer writer.Wait()
	defer cancel()
	for {
		kind, from, err := c.Reader(ctx)
		var data []byte
		if err == nil {
			r.locked(func() { l.within = true })
			data, err = io.ReadAll(from)
			r.locked(func() { l.within = false })
		}
		switch {
		case err != nil && (websocket.CloseStatus(err) >= 0 || errors.Is(err, io.EOF)):
			r.gone(l, "it closed the connection")
			return
		case err != nil:
			r.gone(l, "its connection broke: "+err.Error())
			return
		case kind != websocket.MessageText:
			r.gone(l, "it sent a binary message; expected text")
			return
		}
		r.receive(l, data, true)
		select {
		case <-l.done:
			return
		default:
		}
	}
}

// sendFrame sends a packet over a WebSocket.
func (r *hosting) sendFrame(ctx context.Context, c *websocket.Conn, p packet) error {
	ctx, cancel := context.WithTimeout(ctx, r.Timeout)
	defer cancel()
	switch {
	case p.end:
		_ = c.Close(goodbye, "the run has ended")
		return nil
	case p.read != nil:
		return c.Ping(ctx)
	}
	return c.Write(ctx, websocket.MessageText, p.data)
}

// reads reports whether the subscriber reads all that was sent, within a time.
func (r *hosting) reads(l *connection) bool {
	read := make(chan struct{})
	r.locked(func() { r.push(l, packet{read: read}) })
	select {
	case <-read:
		return true
	case <-l.done:
	case <-time.After(r.Timeout):
	}
	return false
}

// narrow is a listener whose connections keep little of what is not read, so that it shows soon.
type narrow struct{ net.Listener }

func (n narrow) Accept() (net.Conn, error) {
	c, err := n.Listener.Accept()
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(64 << 10)
	}
	return c, err
}
