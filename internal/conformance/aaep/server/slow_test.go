package server

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/aaeptest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// An honest subscriber of a slow machine does not fail.
func TestHostSlow(t *testing.T) {
	for _, most := range aaeptest.Slowness {
		for i, o := range honestSubscribers {
			synctest.Test(t, func(t *testing.T) {
				pipe := aaeptest.NewPipe()
				pipe.Delay = aaeptest.Slowly(uint64(i), most)
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
