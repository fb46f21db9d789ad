package strict

import (
	"bytes"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Pos is where the value stands that an RFC 6901 JSON Pointer names: the member's name in an object, the
// value itself in an array and at the root. A pointer that leads nowhere gives the nearest parent that is
// there. Each call reads the text anew.
func (d *Document) Pos(pointer string) Pos {
	return posAt(d.Path, d.Data, locate(d.Data, pointer))
}

var lax = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// locate gives the offset of the name or value that pointer leads to.
func locate(data []byte, pointer string) int {
	tokens := jsontext.NewDecoder(bytes.NewBuffer(data), lax...)
	kind := tokens.PeekKind()
	at := len(data) - len(bytes.TrimLeft(data, " \t\r\n"))
	for rest, more := strings.CutPrefix(pointer, "/"); more; {
		var reference string
		reference, rest, more = strings.Cut(rest, "/")
		next, ok := 0, false
		switch kind {
		case '{':
			next, ok = findMember(tokens, unescape.Replace(reference))
		case '[':
			next, ok = findElement(tokens, data, reference)
		}
		if !ok {
			return at
		}
		at, kind = next, tokens.PeekKind()
	}
	return at
}

var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// findMember reads up to the value of the member called name and tells where that name stands.
func findMember(tokens *jsontext.Decoder, name string) (int, bool) {
	if _, err := tokens.ReadToken(); err != nil {
		return 0, false
	}
	for tokens.PeekKind() == '"' {
		raw, err := tokens.ReadValue()
		if err != nil {
			return 0, false
		}
		start := int(tokens.InputOffset()) - len(raw)
		if s, err := jsontext.AppendUnquote(nil, raw); err == nil && string(s) == name {
			return start, true
		}
		if tokens.SkipValue() != nil {
			return 0, false
		}
	}
	return 0, false
}

// findElement reads up to the array element that reference counts and tells where it begins.
func findElement(tokens *jsontext.Decoder, data []byte, reference string) (int, bool) {
	n, err := strconv.Atoi(reference)
	if err != nil || n < 0 || strconv.Itoa(n) != reference {
		return 0, false
	}
	if _, err := tokens.ReadToken(); err != nil {
		return 0, false
	}
	for ; n > 0 && tokens.PeekKind() != ']'; n-- {
		if tokens.SkipValue() != nil {
			return 0, false
		}
	}
	if kind := tokens.PeekKind(); kind == ']' || kind == 0 {
		return 0, false
	}
	rest := data[tokens.InputOffset():]
	return len(data) - len(bytes.TrimLeft(rest, ", \t\r\n")), true
}

// Member is the value that names lead to through objects, or nil where one of them is absent or what
// holds it is no object. A member that is null is nil too.
func Member(v any, names ...string) any {
	for _, name := range names {
		object, _ := v.(map[string]any)
		v = object[name]
	}
	return v
}

// String is Member where that is a string, else empty.
func String(v any, names ...string) string {
	s, _ := Member(v, names...).(string)
	return s
}

// Time reads an RFC 3339 time in its strict spelling: upper-case T, Z or ±hh:mm, a point before a fraction,
// no leap second. Digits beyond nanoseconds are dropped. The result is in UTC.
func Time(s string) (time.Time, bool) {
	if !timeShape(s) {
		return time.Time{}, false
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	return t.UTC(), err == nil
}

// timeShape holds a text to the shape of a time. time.Parse alone takes a comma before a fraction, hours
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
