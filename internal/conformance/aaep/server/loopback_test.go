//go:build !race

package server

import (
	"net"
	"sync"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/aaeptest"
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
	aaeptest.OnLoopback(t)
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
