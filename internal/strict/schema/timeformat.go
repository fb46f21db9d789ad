package schema

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
)

// isDateTime accepts what ajv-formats accepts: also a lower-case t or z, white space instead of the T, an offset
// without minutes or colon, and leap seconds.
func isDateTime(s string, zone bool) bool {
	const day = len(time.DateOnly)
	if len(s) <= day || !isDate(s[:day]) {
		return false
	}
	r, n := utf8.DecodeRuneInString(s[day:])
	return (r == 'T' || r == 't' || isWhite(r)) && isTime(s[day+n:], zone)
}

// isWhite reports whether r matches \s in ECMA-262.
func isWhite(r rune) bool {
	return slices.ContainsFunc(white, func(s span) bool { return s.lo <= r && r <= s.hi })
}

func isDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

var clock = plain.Pattern(`\A([0-9]{2}):([0-9]{2}):([0-9]{2}(?:\.[0-9]+)?)` +
	`([Zz]|([+-])([01][0-9]|2[0-3])(?::?([0-5][0-9]))?)?\z`)

func isTime(s string, zone bool) bool {
	m := clock().FindStringSubmatch(s)
	if m == nil || zone && m[4] == "" {
		return false
	}
	hour, _ := strconv.Atoi(m[1])
	minute, _ := strconv.Atoi(m[2])
	second, _ := strconv.ParseFloat(m[3], 64)
	if hour <= 23 && minute <= 59 && second < 60 {
		return true
	}
	offsetHour, _ := strconv.Atoi(m[5] + m[6]) // what the offset does not have is 0
	offsetMinute, _ := strconv.Atoi(m[5] + m[7])
	return leapSecond(hour-offsetHour, minute-offsetMinute, second)
}

// leapSecond judges 23:59:60 UTC as ajv-formats reckons it: hour and minute less the offset, unreduced.
func leapSecond(hour, minute int, second float64) bool {
	if minute < 0 {
		hour--
	}
	return (hour == 23 || hour == -1) && (minute == 59 || minute == -1) && second < 61
}

var duration = plain.Pattern(`\AP(?:[0-9]+W|(?:[0-9]+Y)?(?:[0-9]+M)?(?:[0-9]+D)?` +
	`(?:T(?:[0-9]+H)?(?:[0-9]+M)?(?:[0-9]+S)?)?)\z`)

// isDuration accepts P, then years, months, days and a time, or weeks.
func isDuration(s string) bool {
	return duration().MatchString(s) && s != "P" && !strings.HasSuffix(s, "T")
}
