//go:build !race

package aaep

import (
	"bytes"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
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

func TestDialoguesOnLoopback(t *testing.T) {
	onLoopback(t)
	atATime(t, 8, faultsOfTerms, func(c faultOfTerms) {
		if c.o.Fault == "holds-critical" || c.o.Fault == "goes-on" { // which need the bubble's clock
			return
		}
		c.o.Seconds = 4 // a busy machine takes long to reply
		p, err := aaeptest.Start(c.o)
		if err != nil {
			t.Error(err)
			return
		}
		defer p.Close()
		v, got, captured := visitedAt(t, p.URL, false, http.DefaultTransport, negotiating, func(l *Live) {
			l.Level, l.Rate, l.Timeout = 3, 50, 10*time.Second // a rate at which it does not take long
		})
		want := strings.FieldsFunc(c.want, func(r rune) bool { return r == '|' })
		if c.o.Fault == "no-rate" || c.o.Fault == "ignores-terms" || c.o.Fault == "" {
			want = nil // a session has fewer events than a burst at that rate
			got = slices.DeleteFunc(got, func(f string) bool { return strings.HasPrefix(f, "aaep-rate over-rate") })
		}
		if c.want != "" && c.o.Fault == "" {
			want = strings.Split(c.want, "|")
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%+v: %s %s\n%s", c.o, v, diff, plain.Cut(string(bytes.TrimSpace(captured.Messages)), 4000))
		}
	})
}
