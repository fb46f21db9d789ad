// Package plain formats counts, hashes, durations and shell words for output.
package plain

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Cut returns the first most characters of text, and "…" if there are more.
func Cut(text string, most int) string {
	if len(text) <= most { // most texts of a report
		return text
	}
	n := 0
	for i := range text {
		if n == most {
			return text[:i] + "…"
		}
		n++
	}
	return text
}

// Count formats a number with its noun: "1 check", "2 checks", "0 witnesses".
func Count(n int, noun string) string {
	many := noun + "s"
	if strings.HasSuffix(noun, "ss") {
		many = noun + "es"
	}
	return strconv.Itoa(n) + " " + Plural(n, noun, many)
}

// Plural returns one if n is 1, else many.
func Plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// SHA256 returns the SHA-256 of data in lower-case hexadecimal digits.
func SHA256(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// IsHex reports whether a text has only lower-case hexadecimal digits, and at least one.
func IsHex(text string) bool { return strings.Trim(text, "0123456789abcdef") == "" && text != "" }

// IsSHA256 reports whether a text is a SHA-256 as [SHA256] writes one.
func IsSHA256(text string) bool { return len(text) == 2*sha256.Size && IsHex(text) }

// Pattern compiles an expression when it is first asked for: most runs of a program need few of those that it holds.
func Pattern(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

var shellWord = Pattern(`^[A-Za-z0-9._/+][A-Za-z0-9._/:+-]*$`)

// ShellWord quotes text as one word of a shell command. The result may contain control characters.
func ShellWord(text string) string {
	if shellWord().MatchString(text) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

var unescape = strings.NewReplacer("~1", "/", "~0", "~")

// Unescape returns the member name that a reference token of a JSON Pointer spells (RFC 6901 section 4). It reverses
// strict.Escape.
func Unescape(token string) string { return unescape.Replace(token) }

// Value returns the value that a JSON Pointer (RFC 6901) refers to in a decoded JSON text, and whether it exists.
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

// Short returns the first 12 digits of a commit id, as reports show it.
func Short(commit string) string { return commit[:min(len(commit), 12)] }
