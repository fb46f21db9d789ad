package mirror

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// named is a connection that notes that it was closed.
type named struct {
	net.Conn
	name   string
	closed *[]string
}

func (n *named) Close() error {
	*n.closed = append(*n.closed, n.name)
	return nil
}

// TestCrowd requires a connection above the limit to end one without a request, or else the oldest.
func TestCrowd(t *testing.T) {
	var closed []string
	conns := map[string]*named{}
	c := &crowd{most: 3}
	for _, step := range []struct {
		name  string
		state http.ConnState
		want  []string // connections that the crowd closed so far
	}{
		{"a", http.StateNew, nil},
		{"b", http.StateNew, nil},
		{"a", http.StateActive, nil},
		{"c", http.StateNew, nil},
		{"c", http.StateActive, nil},
		{"d", http.StateNew, []string{"b"}},
		{"c", http.StateIdle, []string{"b"}},
		{"b", http.StateClosed, []string{"b"}}, // as the server says of what was closed
		{"e", http.StateNew, []string{"b", "c"}},
		{"d", http.StateIdle, []string{"b", "c"}},
		{"d", http.StateActive, []string{"b", "c"}},
		{"d", http.StateClosed, []string{"b", "c"}},
		{"f", http.StateNew, []string{"b", "c"}},
		{"e", http.StateHijacked, []string{"b", "c"}},
		{"g", http.StateNew, []string{"b", "c"}},
		{"h", http.StateNew, []string{"b", "c", "f"}},
		{"g", http.StateActive, []string{"b", "c", "f"}},
		{"h", http.StateActive, []string{"b", "c", "f"}},
		{"i", http.StateNew, []string{"b", "c", "f", "a"}},
	} {
		if conns[step.name] == nil {
			conns[step.name] = &named{name: step.name, closed: &closed}
		}
		c.changed(conns[step.name], step.state)
		if !slices.Equal(closed, step.want) {
			t.Fatalf("%s %s: the crowd closed %q, want %q", step.name, step.state, closed, step.want)
		}
	}
}

// TestSiteFull requires an answer while as many slow clients as may be connected hold their connections.
func TestSiteFull(t *testing.T) {
	site := NewSite(&Dir{Path: t.TempDir()}, time.Hour, false)
	site.most = 3
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	go func() { _ = site.Serve(t.Context(), l) }()
	t.Cleanup(func() { _ = l.Close() })
	var slow []net.Conn
	ask := func(text string) net.Conn {
		c, err := net.Dial("tcp", l.Addr().String())
		if err == nil {
			_, err = io.WriteString(c, text)
		}
		must.OK(t, err)
		t.Cleanup(func() { _ = c.Close() })
		_ = c.SetReadDeadline(time.Now().Add(5 * time.Second)) // half of what a slow client has by itself
		return c
	}
	answer := func(c net.Conn) string {
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if timeout, ok := errors.AsType[net.Error](err); ok && timeout.Timeout() {
			return "nothing in time"
		}
		if err != nil {
			return "the end of its connection"
		}
		return fmt.Sprint(resp.StatusCode)
	}
	for range 3 {
		slow = append(slow, ask("GET /livez HT"))
	}
	if got := answer(ask("GET /livez HTTP/1.1\r\nHost: a\r\n\r\n")); got != "200" {
		t.Errorf("the fourth client gets %s", got)
	}
	if _, err := io.WriteString(slow[1], "TP/1.1\r\nHost: a\r\n\r\n"); err != nil {
		t.Error(err)
	}
	if got := answer(slow[1]); got != "200" {
		t.Errorf("the second client, which is slow, gets %s", got)
	}
	if got := answer(slow[0]); got != "the end of its connection" {
		t.Errorf("the first client gets %s, want the end of its connection", got)
	}
}
