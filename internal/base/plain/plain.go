// Package plain says a thing in the form that the one who reads it takes as it is: one function each.
package plain

import (
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Cut is the first most characters of a text, and "…" in place of what is left out.
func Cut(text string, most int) string {
	n := 0
	for i := range text {
		if n == most {
			return text[:i] + "…"
		}
		n++
	}
	return text
}

// Count is a number with what is counted: "1 check", "2 checks", "0 witnesses".
func Count(n int, noun string) string {
	many := noun + "s"
	if strings.HasSuffix(noun, "ss") {
		many = noun + "es"
	}
	return strconv.Itoa(n) + " " + Plural(n, noun, many)
}

// Plural is the word that stands with a number: one or many.
func Plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// SHA256 is the SHA-256 of some bytes in lower-case hexadecimal digits.
func SHA256(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// IsHex reports whether a text is of lower-case hexadecimal digits alone, one at least.
func IsHex(text string) bool { return strings.Trim(text, "0123456789abcdef") == "" && text != "" }

// IsSHA256 reports whether a text is a SHA-256 as [SHA256] writes one.
func IsSHA256(text string) bool { return len(text) == 2*sha256.Size && IsHex(text) }

// Redacted is a URL without its password, for a report, which is public.
func Redacted(text string) string {
	u, err := url.Parse(text)
	if err != nil {
		return "(no URL)"
	}
	if _, secret := u.User.Password(); !secret {
		return text
	}
	return u.Redacted()
}

// IsLoopback reports whether a host is this machine by its name or its literal address.
func IsLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Pattern compiles an expression when it is first asked for: most runs of a program need few of those that it holds.
func Pattern(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

var shellWord = Pattern(`^[A-Za-z0-9._/][A-Za-z0-9._/:-]*$`)

// ShellWord is a text as one word of a shell's command. The result may hold control characters.
func ShellWord(text string) string {
	if shellWord().MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// Unescape is the name of the member that a reference token of a JSON Pointer spells (RFC 6901 section 4), as
// strict.Escape spells it.
func Unescape(token string) string { return unescape.Replace(token) }

// Value is what a JSON Pointer (RFC 6901) leads to in a decoded JSON text, and whether there is such a value.
func Value(root any, pointer string) (value any, found bool) {
	value = root
	for rest, more := strings.CutPrefix(pointer, "/"); more; {
		var token string
		token, rest, more = strings.Cut(rest, "/")
		switch in := value.(type) {
		case map[string]any:
			if value, found = in[Unescape(token)]; !found {
				return nil, false
			}
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i < 0 || i >= len(in) || strconv.Itoa(i) != token {
				return nil, false
			}
			value = in[i]
		default:
			return nil, false
		}
	}
	return value, true
}

// Short is the beginning of a commit's id, as people are shown it.
func Short(commit string) string { return commit[:min(len(commit), 12)] }
