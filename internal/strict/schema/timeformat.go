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

// twoDigits reads the first two bytes of s.
func twoDigits(s string) (int, bool) {
	if len(s) < 2 || !isDigit(s[0]) || !isDigit(s[1]) {
		return 0, false
	}
	return int(s[0]-'0')*10 + int(s[1]-'0'), true
}

func isTime(s string, zone bool) bool {
	if len(s) < len("15:04:05") || s[2] != ':' || s[5] != ':' {
		return false
	}
	hour, ok1 := twoDigits(s)
	minute, ok2 := twoDigits(s[3:])
	_, ok3 := twoDigits(s[6:])
	if !ok1 || !ok2 || !ok3 {
		return false
	}
	end := len("15:04:05")
	if end < len(s) && s[end] == '.' {
		n := countDigits(s[end+1:])
		if n == 0 {
			return false
		}
		end += 1 + n
	}
	second, _ := strconv.ParseFloat(s[6:end], 64)
	offsetHour, offsetMinute, ok := offset(s[end:])
	if !ok || zone && end == len(s) {
		return false
	}
	if hour <= 23 && minute <= 59 && second < 60 {
		return true
	}
	return leapSecond(hour-offsetHour, minute-offsetMinute, second)
}

var zoneOffset = plain.Pattern(`\A([+-])([01][0-9]|2[0-3])(?::?([0-5][0-9]))?\z`)

// offset reads z, ±hh, ±hhmm, ±hh:mm, or nothing; both results have the sign.
func offset(s string) (hour, minute int, ok bool) {
	if s == "" || s == "Z" || s == "z" {
		return 0, 0, true
	}
	m := zoneOffset().FindStringSubmatch(s)
	if m == nil {
		return 0, 0, false
	}
	hour, _ = strconv.Atoi(m[1] + m[2])
	minute, _ = strconv.Atoi(m[1] + m[3]) // 0 without minutes
	return hour, minute, true
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
