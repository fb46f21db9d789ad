package frame

import (
	"slices"
	"strings"
	"testing"
)

// TestAssumedHoldsNoPassword checks that a report, which anybody may read, names a proxy without its password.
func TestAssumedHoldsNoPassword(t *testing.T) {
	o := Network{routeFlags: routeFlags{proxy: "http://user:secret@proxy.example:3128"},
		rdapURL: "https://user:secret@rdap.example/"}
	want := []string{"--proxy http://user:xxxxx@proxy.example:3128", "--rdap-url https://user:xxxxx@rdap.example/"}
	if got := o.Assumed(); !slices.Equal(got, want) {
		t.Errorf("assumed: %q, want %q", got, want)
	}
	o = Network{routeFlags: routeFlags{proxy: "http://user:secret@proxy.example:port"}}
	if got := o.Assumed(); strings.Contains(strings.Join(got, " "), "secret") {
		t.Errorf("assumed: %q", got)
	}
}
