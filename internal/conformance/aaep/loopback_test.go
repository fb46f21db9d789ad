//go:build !race

package aaep

import (
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/aaeptest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// The tests of this file hold over sockets and by the machine's clock what others hold within the process, where the
// race detector sees it.

func listenLocally(t *testing.T) net.Listener {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Error(err)
	}
	return l
}

func TestHostFaultsOnLoopback(t *testing.T) {
	onLoopback(t)
	var all sync.WaitGroup
	slots := make(chan struct{}, 32) // each must be served in time
	for _, c := range hostFaults() {
		all.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			o, change := c.run()
			v, got, captured := hostedAt(t, listenLocally(t), o, change)
			c.compare(t, v, got, captured)
		})
	}
	all.Wait()
}

// A stream of more than 64 MiB ends, whether it begins before the first session or with it.
func TestLiveEndless(t *testing.T) {
	onLoopback(t)
	for _, before := range []bool{true, false} {
		p, err := aaeptest.Start(aaeptest.Options{Fault: "endless", SelfStart: before})
		must.OK(t, err)
		defer p.Close()
		v, got, _ := visitedAt(t, p.URL, false, http.DefaultTransport, every, nil)
		if want := "aaep-live-stream stream-too-large error"; v != "fail" || strings.Join(got, "|") != want {
			t.Errorf("before: %t: %s %s, want %s", before, v, got, want)
		}
	}
}
