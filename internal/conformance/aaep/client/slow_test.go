package client

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/aaeptest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

const slowScenarios = every + `
- {name: held, start: held, reply: reject}
`

// An honest producer of a slow machine, or behind a slow network, does not fail.
func TestLiveSlow(t *testing.T) {
	for _, most := range aaeptest.Slowness {
		for seed := range uint64(3) {
			t.Run(fmt.Sprint(most, seed), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					pipe := aaeptest.NewPipe()
					pipe.Delay = aaeptest.Slowly(seed, most)
					p := must.Get(aaeptest.Start(aaeptest.Options{Listener: pipe}))(t)
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
