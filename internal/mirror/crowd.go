package mirror

import (
	"net"
	"net/http"
	"slices"
	"sync"
)

// A crowd is the connections of clients, which have a limit. A further connection ends another one, so that clients
// which are slow or send nothing keep nobody from being served.
type crowd struct {
	most    int
	mu      sync.Mutex
	members []member // oldest first
}

type member struct {
	net.Conn
	idle bool // no request of it is under way
}

// changed takes note of a connection's state, as http.Server.ConnState does. If there are too many connections, it
// closes the oldest of those without a request, or else the oldest of all.
func (c *crowd) changed(conn net.Conn, state http.ConnState) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := slices.IndexFunc(c.members, func(m member) bool { return m.Conn == conn })
	switch {
	case state == http.StateNew:
		if len(c.members) >= c.most {
			out := max(0, slices.IndexFunc(c.members, func(m member) bool { return m.idle }))
			_ = c.members[out].Close() // its client sees that it ended
			c.members = slices.Delete(c.members, out, out+1)
		}
		c.members = append(c.members, member{conn, true})
	case at < 0: // it was closed here
	case state == http.StateClosed || state == http.StateHijacked:
		c.members = slices.Delete(c.members, at, at+1)
	default:
		c.members[at].idle = state == http.StateIdle
	}
}
