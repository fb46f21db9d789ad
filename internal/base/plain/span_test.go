package plain

import (
	"math"
	"testing"
	"time"
)

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                                   "0 seconds",
		time.Microsecond:                    "0 seconds",
		time.Millisecond:                    "1 millisecond",
		5 * time.Minute:                     "5 minutes",
		90 * time.Second:                    "1 minute 30 seconds",
		36 * time.Hour:                      "1 day 12 hours",
		2664 * time.Hour:                    "111 days",
		90*Day + time.Millisecond:           "90 days 1 millisecond",
		30*Day - time.Second:                "29 days 23 hours",
		Day + time.Minute + time.Second:     "1 day 1 minute",
		-(5*time.Minute + time.Millisecond): "-5 minutes 1 millisecond",
		math.MaxInt64:                       "106751 days 23 hours",
	} {
		if got := Span(d); got != want {
			t.Errorf("%d: got %q, want %q", d, got, want)
		}
	}
}

func TestParseSpan(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"0": 0, "10s": 10 * time.Second, "5m": 5 * time.Minute, "36h": 36 * time.Hour, "30d": 30 * Day, "0d": 0,
		"1d12h": 36 * time.Hour, "1d0.5h": Day + 30*time.Minute, "1.5h": 90 * time.Minute, "1ms": time.Millisecond,
		"106751d": 106751 * Day, "106751d23h47m16s": 106751*Day + 23*time.Hour + 47*time.Minute + 16*time.Second,
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
