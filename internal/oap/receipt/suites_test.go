package receipt

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

func TestSuites(t *testing.T) {
	for _, c := range []struct {
		trusted, version string
		want             bool
	}{
		{"1.x", "1.0.0", true}, {"1.x", "1.3", true}, {"1.x", "1", false}, {"1.x", "10.0.0", false},
		{"1.x", "1.4.0-rc.1",
			false},
		{"1.x", "1.x", false}, {"1.x", "1.0.0 ", false}, {"1.x", "", false}, {"1.x,2.1.0", "2.1.0", true}, {"2.1.0",
			"2.1", false},
		{"1.4.0-rc.x", "1.4.0-rc.x", true}, {"1.4.0-rc.x", "1.4.0-rc.1", false},
		{"1.4.0-rc.1", "1.4.0-rc.1", true}, {"1.x, 2.1.0", "2.1.0", true},
	} {
		s := must.Get(ParseSuites(c.trusted))(t)
		if got := s.Trust(c.version); got != c.want {
			t.Errorf("%s trusts %q: %v, want %v", c.trusted, c.version, got, c.want)
		}
	}
	for _, text := range []string{"", "x", "1.x.2", "1.*", "1.x,", ">=1"} {
		if s, err := ParseSuites(text); err == nil {
			t.Errorf("%q is read as %q", text, s)
		}
	}
}
