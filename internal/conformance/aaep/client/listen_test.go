package client

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/conformance/aaep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/aaeptest"
)

// replayer is a producer that sends its headers with the first event, and all earlier events to each new stream.
type replayer struct {
	fault   string
	mu      sync.Mutex
	past    []string
	streams []chan string
}

func (p *replayer) publish(session, kind string, n int, more string) {
	data := fmt.Sprintf(`{"@context":"https://aaep-protocol.org/context/v1","type":"aaep:agent.%s","event_id":"evt_%s%d",`+
		`"session_id":"sess_%s","sequence_number":%d,"timestamp":"%s","producer":{"agent_id":"a"},"summary_normal":"x"%s}`,
		kind, session, n, session, n, time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), more)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.past = append(p.past, data)
	for _, s := range p.streams {
		if s <- data; p.fault == "double" {
			s <- data
		}
	}
}

// session publishes a session, from one of its events to another.
func (p *replayer) session(name string, from, to int) {
	for n, e := range [][2]string{{"session.started"}, {"state.changed", `,"from_state":"idle","to_state":"thinking"`},
		{"state.changed", `,"from_state":"thinking","to_state":"deciding"`}, {"session.completed"}} {
		if from <= n && n < to {
			p.publish(name, e[0], n, e[1])
		}
	}
}

func (p *replayer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Method == http.MethodGet && p.fault == "no answer":
		<-r.Context().Done()
	case r.Method == http.MethodGet:
		w.Header().Set("Content-Type", "text/event-stream")
		p.mu.Lock()
		for _, data := range p.past {
			if p.fault == "changed" {
				data = strings.Replace(data, `"a"`, `"b"`, 1)
			}
			fmt.Fprintf(w, "data: %s\n\n", data)
		}
		if len(p.past) > 0 {
			http.NewResponseController(w).Flush()
		}
		out := make(chan string, 100)
		p.streams = append(p.streams, out)
		p.mu.Unlock()
		for {
			select {
			case data := <-out:
				fmt.Fprintf(w, "data: %s\n\n", data)
				http.NewResponseController(w).Flush()
			case <-r.Context().Done():
				return
			}
		}
	case p.fault == "silent before":
	case strings.HasSuffix(r.URL.Path, "/messages"):
		var reply struct{ Response any }
		_ = json.NewDecoder(r.Body).Decode(&reply)
		if _, ok := reply.Response.(string); !ok && p.fault != "loose" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		p.session("colour", 2, 4)
	case p.fault == "asks", p.fault == "loose":
		p.session("colour", 0, 2)
		p.publish("colour", "awaiting.clarification", 9,
			`,"question":"Which?","reply_token":"rpl_1","timeout_seconds":9`)
	default:
		var body map[string]string
		_ = json.NewDecoder(r.Body).Decode(&body)
		if p.fault == "under way" {
			p.session("old", 1, 4)
		}
		p.session(body["user_message"], 0, 4)
	}
}

// visited returns the findings of a run with the producer.
func (p *replayer) visited(t *testing.T, scenarios string, change func(*Live)) []string {
	pipe, server := aaeptest.NewPipe(), &http.Server{Handler: p}
	go func() { _ = server.Serve(pipe) }()
	defer server.Close()
	_, got, _ := visitedOver(t, pipe, true, scenarios, change)
	return got
}

func TestStreams(t *testing.T) {
	for _, c := range []struct {
		name, fault string
		before      int // events of a session before the run
		want        string
	}{
		{"headers with the first event, and a replay", "", 0, "redelivered notice"},
		{"one byte of the replay differs", "changed", 0, "aaep-envelope event-id-twice error"},
		{"twice on one stream", "double", 0, "aaep-envelope event-id-twice error"},
		{"a session before the run", "", 4, "earlier-sessions notice"},
		{"a session under way", "under way", 1, "earlier-sessions notice"},
		{"all before the start", "silent before", 4, "aaep-live-stream session-hangs inconclusive"},
		{"neither headers nor events", "no answer", 0, "aaep-live-stream no-stream inconclusive"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := &replayer{fault: c.fault}
				p.session("old", 0, c.before)
				got := p.visited(t, `
- {name: one, start: one, reply: accept}
- {name: two, start: two, reply: accept}`,
					func(l *Live) { l.Level = 1 })
				has := slices.ContainsFunc(got, func(f string) bool { return strings.HasSuffix(f, c.want) })
				bad := slices.ContainsFunc(got, func(f string) bool {
					return strings.HasSuffix(f, " error") && !strings.Contains(c.want, " error")
				})
				if !has || bad {
					t.Errorf("%s, want %s", got, c.want)
				}
			})
		})
	}
}

// A response of no kind is no answer: the session waits for a right one.
func TestWrongKind(t *testing.T) {
	for fault, want := range map[string]string{
		"asks":  "",
		"loose": "aaep-live-clarification wrong-kind-accepted error",
		"":      "aaep-live-clarification not-exercised inconclusive",
	} {
		synctest.Test(t, func(t *testing.T) {
			got := (&replayer{fault: fault}).visited(t, "- {name: one, start: colour, reply: wrong-kind}", nil)
			got = slices.DeleteFunc(got, func(f string) bool { return !strings.HasPrefix(f, aaep.LiveClarify.ID) })
			if strings.Join(got, ",") != want {
				t.Errorf("%q: %s, want %s", fault, got, want)
			}
		})
	}
}
