package aaep

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/aaeptest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// slowly returns delays of up to a time for the writes of both sides.
func slowly(seed uint64, most time.Duration) func() time.Duration {
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(seed, 0))
	return func() time.Duration {
		mu.Lock()
		defer mu.Unlock()
		return time.Duration(random.Int64N(int64(most)))
	}
}

// slowness are the most that a write takes. Those of a session wait for one another, so that its last event is late by
// up to the 2 s that a rule allows.
var slowness = []time.Duration{30 * time.Millisecond, 250 * time.Millisecond}

const slowScenarios = every + `
- {name: held, start: held, reply: reject}
`

// An honest producer of a slow machine, or behind a slow network, does not fail.
func TestLiveSlow(t *testing.T) {
	for _, most := range slowness {
		for seed := range uint64(3) {
			t.Run(fmt.Sprint(most, seed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					pipe := aaeptest.NewPipe()
					pipe.Delay = slowly(seed, most)
					p, err := aaeptest.Start(aaeptest.Options{Listener: pipe})
					must.OK(t, err)
					defer time.Sleep(time.Minute) // what is on its way arrives
					defer p.Close()
					v, got, captured := visitedOver(t, pipe, false, slowScenarios, func(l *Live) {
						l.Level, l.Rate, l.Timeout = 3, 50, 30*time.Second
					})
					if v == verdict.Failed {
						t.Errorf("%s\n%s", got, plain.Cut(string(captured.Messages), 20000))
					}
				})
			})
		}
	}
}

// An honest subscriber of a slow machine does not fail.
func TestHostSlow(t *testing.T) {
	for _, most := range slowness {
		for i, o := range honestSubscribers {
			synctest.Test(t, func(t *testing.T) {
				pipe := aaeptest.NewPipe()
				pipe.Delay = slowly(uint64(i), most)
				defer time.Sleep(time.Minute) // what is on its way arrives
				o.Dial = pipe.Dial
				v, got, captured := hostedAt(t, pipe, o, func(h *Host) {
					h.Timeout, h.quiet, h.pause = 15*time.Second, 5*time.Second, time.Second
				})
				if v == verdict.Failed {
					t.Errorf("%+v, %v: %s\n%s", o, most, got, plain.Cut(string(captured.Messages), 20000))
				}
			})
		}
	}
}
