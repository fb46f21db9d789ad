package server

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/aaeptest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// handshakeOf is that of a WebSocket.
const handshakeOf = "GET /aaep/v1/ws HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" +
	"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n" +
	"Sec-WebSocket-Protocol: aaep.v1\r\n%s\r\n"

// attack connects, sends what is given, and then the same for ever. It ends with the connection or the context.
func attack(ctx context.Context, address string, first, again []byte, reads bool) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return
	}
	defer c.Close()
	defer context.AfterFunc(ctx, func() { c.Close() })()
	head := []byte(fmt.Sprintf(handshakeOf, address, ""))
	if bytes.HasPrefix(first, []byte("GET ")) || bytes.HasPrefix(first, []byte("POST ")) {
		head = nil
	}
	if _, err := c.Write(head); err != nil {
		return
	}
	from := bufio.NewReader(c)
	if head != nil {
		if resp, err := http.ReadResponse(from, nil); err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
			return
		}
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if reads {
			_, _ = io.Copy(io.Discard, from)
		} else {
			<-ctx.Done()
		}
	}()
	if _, err := c.Write(first); err != nil {
		return
	}
	for len(again) > 0 {
		if _, err := c.Write(again); err != nil {
			return
		}
	}
	<-ended
}

// running limits how many runs wait at a time, since each must be served in time. busy limits those among them whose
// peer sends without a pause: they take the processor from the others.
var (
	running = make(chan struct{}, 32)
	busy    = make(chan struct{}, 4)
)

// A peer that breaks the rules of its transport ends in a finding or is refused, and never in a pass.
func TestHostHostile(t *testing.T) {
	aaeptest.OnLoopback(t)
	text := func(s string) []byte { // a masked text frame, whose mask is zero
		return append([]byte{0x81, 0x80 | byte(len(s)), 0, 0, 0, 0}, s...)
	}
	request := func(method, path, rest string) []byte {
		return []byte(method + " /aaep/v1/" + path + " HTTP/1.1\r\nHost: x\r\n" + rest)
	}
	long := func(first byte, length ...byte) []byte {
		return append(append([]byte{first, 0xff}, length...), 0, 0, 0, 0)
	}
	fragment := append([]byte{0x00, 0xfe, 0x10, 0x00, 0, 0, 0, 0}, bytes.Repeat([]byte("x"), 4096)...)
	var all sync.WaitGroup
	for name, c := range map[string]struct {
		first, again []byte
		reads        bool
	}{
		"half a request":         {[]byte("GET /aaep/v1/ws HTTP/1.1\r\nHost:"), nil, true},
		"half a handshake":       {request("GET", "ws", "Connection: Upgrade\r\n\r\n"), nil, true},
		"a header without end":   {request("GET", "events", "X: "), []byte("xxxxxxxxxxxxxxxx"), true},
		"a body without end":     {request("POST", "replies", "Content-Length: 99999999\r\n\r\n"), []byte("{ "), true},
		"half a body":            {request("POST", "subscriptions", "Content-Length: 99\r\n\r\n{"), nil, true},
		"a frame without a mask": {[]byte{0x81, 0x02, '{', '}'}, nil, true},
		"2^63 bytes":             {long(0x81, 0x80, 0, 0, 0, 0, 0, 0, 0), nil, true},
		"2^63-1 bytes":           {long(0x81, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), nil, true},
		"2^63-1 bytes, sent": {long(0x81, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
			bytes.Repeat([]byte("x"), 4096), true},
		"a compressed frame":     {append([]byte{0xc1}, text("{}")[1:]...), nil, true},
		"reserved bits":          {append([]byte{0xb1}, text("{}")[1:]...), nil, true},
		"a reserved opcode":      {append([]byte{0x83}, text("{}")[1:]...), nil, true},
		"a long ping":            {[]byte{0x89, 0xfe, 0x01, 0x00, 0, 0, 0, 0}, bytes.Repeat([]byte("x"), 256), true},
		"fragments without end":  {append([]byte{0x01}, fragment[1:]...), fragment, true},
		"half a message":         {append([]byte{0x01}, text("{")[1:]...), nil, true},
		"half a frame":           {[]byte{0x81}, nil, true},
		"a frame within another": {append(append([]byte{0x01}, text("{")[1:]...), text("{}")...), nil, true},
		"messages for ever":      {text("{}"), bytes.Repeat(text(`{"type":"x:y"}`), 50), true},
		"nonsense for ever":      {text("x"), bytes.Repeat(text("x"), 50), true},
		"pings for ever":         {text("{}"), bytes.Repeat([]byte{0x89, 0x80, 0, 0, 0, 0}, 50), false},
		"reading nothing":        {[]byte{}, nil, false},
		"events unread":          {request("GET", "events", "\r\n"), nil, false},
		"a closed half":          {append([]byte{0x88}, text("xx")[1:]...), nil, true},
	} {
		for _, level := range []int{1, 2} {
			all.Go(func() {
				l, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					t.Error(err)
					return
				}
				address := l.Addr().String()
				ctx, stop := context.WithCancel(t.Context())
				defer stop()
				var attacks sync.WaitGroup
				if len(c.again) > 0 {
					busy <- struct{}{}
					defer func() { <-busy }()
				}
				running <- struct{}{}
				defer func() { <-running }()
				h := &Host{Level: level, Timeout: 2 * time.Second, Path: "x", pause: 500 * time.Millisecond,
					quiet: 500 * time.Millisecond, Plays: []Play{{Play: "session"}, {Play: "bad-envelope"}},
					Say: func(text string) {
						attacks.Go(func() { attack(ctx, address, c.first, c.again, c.reads) })
					}}
				began := time.Now()
				results, err := h.Run(t.Context(), l)
				took := time.Since(began)
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				l.Close()
				stop()
				attacks.Wait()
				if v, _ := aaeptest.Once(results); v != verdict.Failed && v != verdict.Inconclusive ||
					took > 60*time.Second {
					t.Errorf("%s at level %d: %s in %v: %+v", name, level, v, took, results)
				}
			})
		}
	}
	all.Wait()
}

// Other connections change nothing of what the subscriber's comes to.
func TestHostSecond(t *testing.T) {
	for _, socket := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			pipe := aaeptest.NewPipe()
			own, stop := context.WithCancel(t.Context())
			var there func()
			var others sync.WaitGroup
			tester := &inProcess{t: t, o: aaeptest.SubscriberOptions{Level: 2, WebSocket: socket, Dial: pipe.Dial,
				Sees: func([]byte) { there() }}}
			h := &Host{Level: 2, Timeout: 8 * time.Second, Path: "x", pause: 500 * time.Millisecond, quiet: time.Second,
				Plays: []Play{{Play: "accept"}, {Play: "unanswered"}, {Play: "reject"}}, Tester: tester}
			there = sync.OnceFunc(func() {
				for _, fault := range []string{"answers-unasked", "always-accepts", "not-json", "leaves-errored"} {
					for _, also := range []bool{true, false} {
						others.Go(func() {
							for own.Err() == nil {
								_ = aaeptest.Subscribe(own, aaeptest.SubscriberOptions{Level: 3, WebSocket: also,
									Fault: fault, URL: "http://" + pipe.Addr().String(), Dial: pipe.Dial})
								select {
								case <-own.Done():
								case <-time.After(200 * time.Millisecond):
								}
							}
						})
					}
				}
			})
			results, err := h.Run(t.Context(), pipe)
			stop()
			others.Wait()
			tester.all.Wait()
			must.OK(t, err)
			for _, r := range results {
				if len(r.Findings) > 0 || slices.Contains([]string{aaep.SubReply.ID, aaep.SubConsent.ID}, r.Check) &&
					r.Verdict != verdict.Passed {
					t.Errorf("WebSocket %t: %s %s %s %v", socket, r.Check, r.Verdict, r.Reason, r.Findings)
				}
			}
		})
	}
}

// TestHostAnswers requires the answers to a subscriber that repeats its large capabilities in short messages to end.
func TestHostAnswers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		extension string
		full      bool
	}{{"x", false}, {strings.Repeat("x", 900_000), true}, {strings.Repeat("<", 900_000), true}} {
		var captured counter
		r := &hosting{Host: &Host{Level: 3, Timeout: time.Second, Capture: &captured},
			Steady:  aaep.Steady{Began: time.Now()},
			changed: make(chan struct{}, 1), granted: map[string]*grant{},
			rows: map[*aaep.Rule]*verdict.Outcome{aaep.SubTransport: {}, aaep.SubHandshake: {}, aaep.SubReply: {}}}
		r.link = &connection{out: make(chan packet, maxWaiting), done: make(chan struct{})}
		l := r.link
		r.receive(l, []byte(`{"type":"subscription.request","aaep_version":"1.0.0","subscriber_id":"x","capabilities":`+
			`{"max_events_per_second":5,"supports_confirmation_reply":true,"supported_extensions":["`+c.extension+
			`"]}}`), true)
		if l.grant == nil || l.grant.honored.Rate != 2 {
			t.Fatalf("%.10q: %+v", c.extension, l.grant)
		}
		again := `{"type":"subscription.renegotiate","subscription_id":"` + l.grant.id + `","capabilities":{}}`
		for range 100 {
			r.receive(l, []byte(again), true)
		}
		if l.left != c.full || r.full != c.full || r.rows[aaep.SubTransport].Has(verdict.Error) != c.full {
			t.Errorf("%.10q: left %v, %+v", c.extension, l.left, r.rows[aaep.SubTransport])
		}
		if captured > 2*maxReceived || len(r.rows[aaep.SubHandshake].Findings) > 0 {
			t.Errorf("%.10q: %d bytes, %+v", c.extension, captured, r.rows[aaep.SubHandshake].Findings)
		}
	}
}

// counter counts the bytes that are written.
type counter int

func (b *counter) Write(data []byte) (int, error) {
	*b += counter(len(data))
	return len(data), nil
}
