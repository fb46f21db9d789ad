package client

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/aaeptest"
)

// coreEvent is what a subscriber takes for an event of the protocol.
const coreEvent = `{"type":"aaep:agent.session.started"}`

func TestSSE(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
		misnamed   string
	}{
		{"no name", "data: a\n\ndata:b\n\n", []string{"a", "b"}, ""},
		{"the protocol's names", "event: aaep.event\ndata: a\n\nevent:message\ndata: b\n\n", []string{"a", "b"}, ""},
		{"an empty name", "event:\ndata: a\n\nevent\ndata: b\n\n", []string{"a", "b"}, ""},
		{"a name counts for one event", "event: ping\ndata: a\n\ndata: b\n\n", []string{"b"}, ""},
		{"the last name counts", "event: ping\nevent: message\ndata: a\n\nevent: message\nevent: ping\ndata: b\n\n",
			[]string{"a"}, ""},
		{"a name without data", "event: ping\n\ndata: b\n\n", []string{"b"}, ""},
		{"heartbeats", "event: ping\ndata: {\"at\":1}\n\ndata:\n\ndata\n\ndata:  \n\n: x\n\ndata: a\n\n",
			[]string{"a"}, ""},
		{"a heartbeat with an extension", "event: ping\ndata: {\"type\":\"x:y\"}\n\n", nil, ""},
		{"a core event as a heartbeat", "event: ping\ndata: " + coreEvent + "\n\ndata: a\n\n", []string{"a"}, "ping"},
		{"a name in capitals", "event: AAEP.event\ndata: " + coreEvent + "\n\n", nil, "AAEP.event"},
		{"one byte order mark", "\ufeffdata: a\n\n", []string{"a"}, ""},
		{"two byte order marks", "\ufeff\ufeffdata: a\n\ndata: b\n\n", []string{"b"}, ""},
		{"a byte order mark later", "data: a\n\n\ufeffdata: b\n\n", []string{"a"}, ""},
		{"a byte order mark in the data", "data: \ufeffa\n\n", []string{"\ufeffa"}, ""},
		{"all ends of lines", "data: a\r\rdata: b\r\n\r\ndata: c\r\ndata: d\n\r", []string{"a", "b", "c\nd"}, ""},
		{"an event without an end", "data: a\n\ndata: b\n", []string{"a"}, ""},
	} {
		for _, from := range []io.Reader{strings.NewReader(c.text), iotest.OneByteReader(strings.NewReader(c.text))} {
			s := newSSE(from)
			misnamed := ""
			s.misnamed = func(name string) { misnamed = name }
			var got []string
			for {
				data, err := s.next()
				if err != nil {
					break
				}
				got = append(got, string(data))
			}
			if diff := cmp.Diff(c.want, got); diff != "" || misnamed != c.misnamed {
				t.Errorf("%s: misnamed %q, want %q %s", c.name, misnamed, c.misnamed, diff)
			}
		}
	}
}

// The end of a stream, and what is larger than is read.
func TestSSEEnds(t *testing.T) {
	for text, want := range map[string]string{
		": x\nid: 1\nretry: 5\ndata: a\ndata:  b\n\n\n": "a\n b EOF",
		"data: a\n": "unexpected EOF",
		"data: a":   "unexpected EOF",
		"":          "EOF",
		"data: " + strings.Repeat("x", aaep.MaxMessage+1):    "a message has more than 1 MiB",
		strings.Repeat("data: x\n", aaep.MaxMessage/2+1):     "a message has more than 1 MiB",
		":" + strings.Repeat("x", aaep.MaxMessage+10) + "\n": "a message has more than 1 MiB",
	} {
		s := newSSE(strings.NewReader(text))
		var all []string
		for {
			data, err := s.next()
			if err != nil {
				all = append(all, err.Error())
				break
			}
			all = append(all, string(data))
		}
		if got := strings.Join(all, " "); got != want {
			t.Errorf("%q: %q, want %q", plain.Cut(text, 60), got, want)
		}
	}
}

// What a stream says does not depend on the pieces in which it comes.
func FuzzSSE(f *testing.F) {
	f.Add("data: a\r\ndata:b\r\r\n: c\n\ndata\n\n")
	f.Add("data: a\n\ndata: b")
	f.Fuzz(func(t *testing.T, text string) {
		whole, pieces := newSSE(strings.NewReader(text)), newSSE(iotest.OneByteReader(strings.NewReader(text)))
		for {
			a, errA := whole.next()
			b, errB := pieces.next()
			if !bytes.Equal(a, b) || errA != errB {
				t.Fatalf("%q %v, in pieces %q %v", a, errA, b, errB)
			}
			if errA != nil {
				return
			}
		}
	})
}

// Heartbeats and a byte order mark change no verdict of a running producer; a core event under another name is a
// warning.
func TestLiveHeartbeats(t *testing.T) {
	for _, c := range []struct {
		name, greeting string
		want           []string
	}{
		{"a byte order mark", "\ufeff: hello\n\n", nil},
		{"heartbeats", "event: ping\ndata: 1\n\ndata:\n\n", nil},
		{"a core event as a heartbeat", "event: agent\ndata: " + coreEvent + "\n\n",
			[]string{"aaep-live-stream event-name warning"}},
	} {
		v, got, _ := visited(t, aaeptest.Options{Greeting: c.greeting}, every, nil)
		if diff := cmp.Diff(c.want, got); diff != "" || v != "pass" {
			t.Errorf("%s: %s %s", c.name, v, diff)
		}
	}
}

func TestExtensions(t *testing.T) {
	_, _, got := visited(t, aaeptest.Options{}, every, func(l *Live) {
		l.Extensions = []string{"urn:x:a", "https://x.example/\"b"}
	})
	const want = `"supported_extensions":["urn:x:a","https://x.example/\"b"],"supports_clarification_reply":true,` +
		`"supports_confirmation_reply":true},"subscriber_id":"oap-gate"`
	if !strings.Contains(string(got.Messages), want) {
		t.Errorf("%s lacks %s", got.Messages, want)
	}
}
