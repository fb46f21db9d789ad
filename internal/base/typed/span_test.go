package typed

import (
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
)

func TestParseSpan(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "10s": 10 * time.Second, "5m": 5 * time.Minute, "36h": 36 * time.Hour, "30d": 30 * plain.Day, "0d": 0,
		"1d12h": 36 * time.Hour, "1d0.5h": plain.Day + 30*time.Minute, "1.5h": 90 * time.Minute,
		"1ms":              time.Millisecond,
		"106751d":          106751 * plain.Day,
		"106751d23h47m16s": 106751*plain.Day + 23*time.Hour + 47*time.Minute + 16*time.Second,
	} {
		if got, err := ParseSpan(text); err != nil || got != want {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "d", "5", "x", "1.5d", "-1d", "-5m", "1d-12h", "1d+12h", "1d12", "1d1d", "12h1d",
		"106752d",
		"106751d24h", "99999999999999999999d", "0x1d", "1_0d", "１d", "1 d", " 1d", "1D"} {
		if got, err := ParseSpan(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}
