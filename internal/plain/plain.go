// Package plain says a thing in the form that the one who reads it takes as it is: one function each.
package plain

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
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
