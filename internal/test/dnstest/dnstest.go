// Package dnstest serves names on loopback.
package dnstest

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/dns/dnsmessage"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// Use has the process ask such a server as [Resolver] has, until the test ends.
func Use(t testing.TB, answers map[string][]string) {
	t.Helper()
	usual := net.DefaultResolver
	t.Cleanup(func() { net.DefaultResolver = usual })
	net.DefaultResolver = Resolver(t, answers)
}

// server answers each name with the addresses that answers has for its n-th question.
type server struct {
	mu      sync.Mutex
	answers map[string][]string
	asked   map[string]int
}

// Resolver returns a resolver whose server on loopback ends with the test. It answers the n-th question for a name with
// the n-th of its texts, or the last one: addresses with blanks between them. A name without texts does not exist, and
// the server fails for a name whose first text is "fail".
func Resolver(t testing.TB, answers map[string][]string) *net.Resolver {
	t.Helper()
	conn := must.Get(net.ListenPacket("udp", "127.0.0.1:0"))(t)
	t.Cleanup(func() { _ = conn.Close() })
	s := &server{answers: answers, asked: map[string]int{}}
	go func() {
		buffer := make([]byte, 1500)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			if reply := s.answer(buffer[:n]); reply != nil {
				_, _ = conn.WriteTo(reply, from)
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", conn.LocalAddr().String())
	}}
}

func (s *server) answer(query []byte) []byte {
	var m dnsmessage.Message
	if err := m.Unpack(query); err != nil || len(m.Questions) != 1 {
		return nil
	}
	q := m.Questions[0]
	name := strings.ToLower(strings.TrimSuffix(q.Name.String(), "."))
	s.mu.Lock()
	defer s.mu.Unlock()
	m.Response, m.Authoritative, m.Additionals = true, true, nil
	all, known := s.answers[name]
	switch {
	case !known:
		m.RCode = dnsmessage.RCodeNameError
	case all[0] == "fail":
		m.RCode = dnsmessage.RCodeServerFailure
	default:
		n := s.asked[fmt.Sprint(name, q.Type)]
		s.asked[fmt.Sprint(name, q.Type)]++
		for text := range strings.FieldsSeq(all[min(n, len(all)-1)]) {
			header := dnsmessage.ResourceHeader{Name: q.Name, Type: q.Type, Class: q.Class}
			ip := netip.MustParseAddr(text)
			if ip.Is4() && q.Type == dnsmessage.TypeA {
				m.Answers = append(m.Answers,
					dnsmessage.Resource{Header: header, Body: &dnsmessage.AResource{A: ip.As4()}})
			} else if ip.Is6() && q.Type == dnsmessage.TypeAAAA {
				m.Answers = append(m.Answers,
					dnsmessage.Resource{Header: header, Body: &dnsmessage.AAAAResource{AAAA: ip.As16()}})
			}
		}
	}
	reply, err := m.Pack()
	if err != nil {
		return nil
	}
	return reply
}
