package plain

import (
	"fmt"
	"math"
	"strconv"
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

// ParseSpan reads 10s, 5m, 36h, 30d or 1d12h: what [time.ParseDuration] takes, with whole days before it. It refuses
// what is less than 0.
func ParseSpan(text string) (time.Duration, error) {
	days, rest, has := strings.Cut(text, "d")
	if !has {
		days, rest = "0", text
	} else if rest == "" {
		rest = "0"
	} else if strings.ContainsAny(rest[:1], "+-") {
		return 0, fmt.Errorf("%q has a sign after its days", text)
	}
	n, err := strconv.ParseInt(days, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration", text)
	}
	d, err := time.ParseDuration(rest)
	if err != nil {
		return 0, fmt.Errorf("%q is not a duration", text)
	}
	if n < 0 || d < 0 {
		return 0, fmt.Errorf("%q is negative", text)
	}
	if n > int64((math.MaxInt64-d)/Day) {
		return 0, fmt.Errorf("%q is more than %s", text, Span(math.MaxInt64))
	}
	return time.Duration(n)*Day + d, nil
}
