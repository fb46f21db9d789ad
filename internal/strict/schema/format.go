package schema

import (
	"math"
	"regexp"
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
)

// format is what a `format` asserts: of strings by text, of numbers by number. The verdicts are those of
// ajv-formats 3.0.1 in its full mode, which RFC 0026 section 6 names, where they differ from the standards too.
type format struct {
	text   func(string) bool
	number func(float64) bool
	wants  string // completes "a text in this format is ..."
}

// formats holds every format that ajv-formats asserts but `regex`, which is asserted as the keyword pattern
// is read (with the u flag, and without what RE2 lacks). A format that is not here is ignored, as Ajv ignores it.
var formats = map[string]format{
	"date": {text: isDate, wants: "a day such as 2026-05-04"},
	"time": {text: func(s string) bool { return isTime(s, true) },
		wants: "a time with offset such as 12:00:00Z"},
	"date-time": {text: func(s string) bool { return isDateTime(s, true) },
		wants: "an RFC 3339 time such as 2026-05-04T12:00:00Z"},
	"iso-time": {text: func(s string) bool { return isTime(s, false) },
		wants: "a time such as 12:00:00"},
	"iso-date-time": {text: func(s string) bool { return isDateTime(s, false) },
		wants: "a time such as 2026-05-04T12:00:00"},
	"duration": {text: isDuration, wants: "an ISO 8601 duration such as P30D"},
	"uri": {text: func(s string) bool { return isURI(s, false) },
		wants: "an absolute URI of RFC 3986, in ASCII"},
	"uri-reference": {text: func(s string) bool { return isURI(s, true) },
		wants: "a URI reference of RFC 3986, in ASCII"},
	"uri-template":              {text: matches(uriTemplate), wants: "a URI template of RFC 6570"},
	"url":                       {text: isURL, wants: "a public http, https or ftp URL"},
	"email":                     {text: matches(email), wants: "an address such as name@example.org"},
	"hostname":                  {text: isHostname, wants: "a host name of RFC 1123"},
	"ipv4":                      {text: isIPv4, wants: "an IPv4 address"},
	"ipv6":                      {text: isIPv6, wants: "an IPv6 address"},
	"uuid":                      {text: matches(uuid), wants: "a UUID"},
	"regex":                     {text: isPattern, wants: "a regular expression of ECMA-262"},
	"json-pointer":              {text: matches(jsonPointer), wants: "a JSON Pointer of RFC 6901"},
	"json-pointer-uri-fragment": {text: matches(pointerFragment), wants: "a JSON Pointer as URI fragment"},
	"relative-json-pointer":     {text: matches(relativePointer), wants: "a relative JSON Pointer"},
	"byte":                      {text: matches(base64Line), wants: "padded base64"},
	"int32":                     {number: isInt32, wants: "an integer of 32 bits"},
	"int64":                     {number: isInteger, wants: "an integer"},
}

func matches(pattern func() *regexp.Regexp) func(string) bool {
	return func(s string) bool { return pattern().MatchString(s) }
}

func isPattern(s string) bool {
	_, err := compilePattern(s)
	return err == nil
}

func isInteger(f float64) bool { return f == math.Trunc(f) && !math.IsInf(f, 0) }

func isInt32(f float64) bool { return isInteger(f) && math.MinInt32 <= f && f <= math.MaxInt32 }

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isHex(c byte) bool { return isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f' }

func allHex(s string) bool {
	for i := range len(s) {
		if !isHex(s[i]) {
			return false
		}
	}
	return true
}

// isDigits reports whether s is one digit or more.
func isDigits(s string) bool { return s != "" && countDigits(s) == len(s) }

func countDigits(s string) int {
	n := 0
	for n < len(s) && isDigit(s[n]) {
		n++
	}
	return n
}

func isHostname(s string) bool {
	s = strings.TrimSuffix(s, ".")
	return len(s) <= 253 && hostname().MatchString(s)
}

// No (?i), which takes U+017F for an s and U+212A for a k.
var (
	hostname = plain.Pattern(`\A(?:` + shortLabel + `\.)*` + shortLabel + `\z`)
	email    = plain.Pattern(`\A` + atom + `(?:\.` + atom + `)*@` + label + `(?:\.` + label + `)+\z`)
	uuid     = plain.Pattern(`\A(?:[Uu][Rr][Nn]:[Uu][Uu][Ii][Dd]:)?` +
		`[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\z`)
	jsonPointer     = plain.Pattern(`\A` + pointerTokens + `\z`)
	relativePointer = plain.Pattern(`\A(?:0|[1-9][0-9]*)(?:#|` + pointerTokens + `)\z`)
	pointerFragment = plain.Pattern(`\A#(?:/(?:[A-Za-z0-9_\-.!$&'()*+,;:=@]|%[0-9A-Fa-f]{2}|~[01])*)*\z`)
	uriTemplate     = plain.Pattern("\\A(?:[^\\x00-\\x20\"'<>%\\\\^`{|}]|%[0-9A-Fa-f]{2}|" +
		`\{[+#./;?&=,!@|]?` + templateVariable + `(?:,` + templateVariable + `)*\})*\z`)
	// ajv-formats matches with the m flag: one line of padded base64 is enough.
	base64Line = plain.Pattern(`(?:\A|[\n\r\x{2028}\x{2029}])(?:[A-Za-z0-9+/]{4})*` +
		`(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?(?:[\n\r\x{2028}\x{2029}]|\z)`)
)

const (
	label         = `[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?`
	shortLabel    = `[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?`
	atom          = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
	pointerTokens = `(?:/(?:[^~]|~[01])*)?`
)

const templateVariable = `(?:[A-Za-z0-9_]|%[0-9A-Fa-f]{2})+(?::[1-9][0-9]{0,3}|\*)?`
