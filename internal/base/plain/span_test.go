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
