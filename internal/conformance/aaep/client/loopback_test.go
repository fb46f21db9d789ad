//go:build !race

package client

import (
	"net/http"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/aaeptest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// A stream of more than 64 MiB ends, whether it begins before the first session or with it.
func TestLiveEndless(t *testing.T) {
	aaeptest.OnLoopback(t)
	for _, before := range []bool{true, false} {
		p := must.Get(aaeptest.Start(aaeptest.Options{Fault: "endless", SelfStart: before}))(t)
		defer p.Close()
		v, got, _ := visitedAt(t, p.URL, false, http.DefaultTransport, every, nil)
		if want := "aaep-live-stream stream-too-large error"; v != "fail" || strings.Join(got, "|") != want {
			t.Errorf("before: %t: %s %s, want %s", before, v, got, want)
		}
	}
}
