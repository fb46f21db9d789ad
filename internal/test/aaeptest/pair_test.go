package aaeptest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// The honest producer and the honest subscriber understand each other without the gate: the subscriber's replies decide
// what the producer does, and a rate that was honored is kept.
func TestPair(t *testing.T) {
	for _, o := range []SubscriberOptions{{Level: 1, Reference: true}, {Level: 2}, {Level: 3, Rate: 50}} {
		p, err := Start(Options{Reference: o.Reference, Prefix: map[bool]string{false: "/aaep/v1"}[o.Reference]})
		must.OK(t, err)
		var seen sightings
		o.URL, o.Sees = p.URL, seen.add
		ctx, stop := context.WithCancel(t.Context())
		var subscribing sync.WaitGroup
		subscribing.Go(func() {
			if err := Subscribe(ctx, o); err != nil {
				t.Errorf("%+v: %v", o, err)
			}
		})
		base := p.URL + p.o.Prefix
		if !seen.within(5*time.Second, func() bool {
			p.mu.Lock()
			defer p.mu.Unlock()
			for _, s := range p.subscribers {
				if s.attached {
					return true
				}
			}
			return false
		}) {
			t.Fatalf("%+v: no subscriber connects", o)
		}
		resp, err := http.Post(base+"/sessions", "application/json", strings.NewReader(`{"user_message":"pay"}`))
		must.OK(t, err)
		_, _ = io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
		if !seen.within(10*time.Second, func() bool { return seen.has("session.completed") }) {
			t.Errorf("%+v: the session does not end: %s", o, seen.types())
		}
		stop()
		subscribing.Wait()
		if !seen.has("awaiting.confirmation") || !strings.Contains(seen.types(), "tool.invoked") {
			t.Errorf("%+v: %s", o, seen.types())
		}
		p.mu.Lock()
		attached := 0
		for _, s := range p.subscribers {
			if s.attached {
				attached++
			}
		}
		p.mu.Unlock()
		if o.Level >= 3 && attached > 0 { // by subscription.close
			t.Errorf("%+v: the producer has a subscriber that closed its subscription", o)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

// sightings are what a subscriber saw.
type sightings struct {
	mu  sync.Mutex
	all [][]byte
}

func (l *sightings) add(data []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, bytes.Clone(data))
}

// types are the types of the events, in their order.
func (l *sightings) types() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var names []string
	for _, data := range l.all {
		var m struct{ Type string }
		_ = json.Unmarshal(data, &m)
		names = append(names, strings.TrimPrefix(m.Type, "aaep:agent."))
	}
	return strings.Join(names, " ")
}

func (l *sightings) has(name string) bool {
	return strings.Contains(" "+l.types()+" ", " "+name+" ")
}

// within reports whether something comes about in time.
func (l *sightings) within(most time.Duration, done func() bool) bool {
	for end := time.Now().Add(most); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if done() {
			return true
		}
	}
	return false
}
