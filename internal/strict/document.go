package strict

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Member returns the value at the path of names through objects. It returns nil if a member is absent or its parent is
// not an object. A member that is null is nil, too.
func Member(v any, names ...string) any {
	for _, name := range names {
		object, _ := v.(map[string]any)
		v = object[name]
	}
	return v
}

// String returns Member if that is a string, else an empty one.
func String(v any, names ...string) string {
	s, _ := Member(v, names...).(string)
	return s
}

// Copy returns a copy of String, so that a part of a document does not keep all of it in memory.
func Copy(v any, names ...string) string { return strings.Clone(String(v, names...)) }

// Int returns Member if that is a whole number, else 0.
func Int(v any, names ...string) int {
	n, _ := strconv.Atoi(fmt.Sprint(Member(v, names...)))
	return n
}

// Time returns an RFC 3339 time in its strict spelling: upper-case T, Z or ±hh:mm, a point before a fraction,
// no leap second. Digits beyond nanoseconds are dropped. The result is in UTC, in the years 0 to 9999: an offset may
// lead out of them, and such a time could not be written as RFC 3339 again.
func Time(s string) (time.Time, bool) {
	if !timeShape(s) {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	if t = t.UTC(); err != nil || t.Year() < 0 || t.Year() > 9999 {
		return time.Time{}, false
	}
	return t, true
}

// timeShape holds a text to the shape of a time. time.Parse by itself takes a comma before a fraction, hours
// of one digit, and offsets beyond a day.
func timeShape(s string) bool {
	rest, ok := cutShape(s, "0000-00-00T00:00:00")
	if !ok {
		return false
	}
	if fraction, found := strings.CutPrefix(rest, "."); found {
		rest = strings.TrimLeft(fraction, "0123456789")
		if rest == fraction {
			return false
		}
	}
	if rest == "Z" {
		return true
	}
	if !strings.HasPrefix(rest, "+") && !strings.HasPrefix(rest, "-") {
		return false
	}
	end, ok := cutShape(rest[1:], "00:00")
	return ok && end == "" && rest[1:3] <= "23" && rest[4:] <= "59"
}

// cutShape cuts what looks like shape, where 0 is any digit, from the front of s.
func cutShape(s, shape string) (string, bool) {
	if len(s) < len(shape) {
		return s, false
	}
	for i := range len(shape) {
		digit := '0' <= s[i] && s[i] <= '9'
		if s[i] != shape[i] && !(shape[i] == '0' && digit) {
			return s, false
		}
	}
	return s[len(shape):], true
}
