package plain

import (
	"strings"
	"time"
)

// Day is 24 hours.
const Day = 24 * time.Hour

var units = []struct {
	length time.Duration
	name   string
}{{Day, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"},
	{time.Millisecond, "millisecond"}}

// Span formats d in its largest unit and the next smaller one, unless that is zero: "111 days", "29 days 23 hours". It
// cuts off the rest, except that 90 days and one millisecond are "90 days 1 millisecond", so that a value above a bound
// is printed as above it. Less than a millisecond is "0 seconds".
func Span(d time.Duration) string {
	sign := ""
	if d < 0 {
		sign, d = "-", max(-d, 0) // the least duration has no positive one
	}
	var parts []string
	for _, u := range units {
		n := d / u.length
		d %= u.length
		if n > 0 && len(parts) < 2 {
			parts = append(parts, Count(int(n), u.name))
		}
	}
	if len(parts) == 0 {
		return "0 seconds"
	}
	return sign + strings.Join(parts, " ")
}
