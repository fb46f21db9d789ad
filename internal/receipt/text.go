package receipt

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/openagentprotocol-OAP/oap-gate/internal/plain"
)

// Placeholder reports whether s is a signature reserved for development (RFC 0019 section 7.3), in any letter
// case and whatever blanks stand around it.
func Placeholder(s string) bool {
	s = strings.TrimFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' })
	s = strings.ToLower(
		strings.ToUpper(s)) // upper case first: it joins letters, such as ſ and s, that lower case leaves apart
	for _, reserved := range []string{"placeholder_not_for_production", "unsigned-reference", "placeholder:"} {
		if strings.HasPrefix(s, reserved) {
			return true
		}
	}
	return false
}

// Minified are the SHA-256, in hex, of a JSON text without its white space: with strings and numbers as written, and as
// JavaScript writes them; none where the text is no JSON. Pinning one of these in place of the served bytes is the
// usual mistake.
func Minified(text []byte) []string {
	var compact bytes.Buffer
	if json.Compact(&compact, text) != nil {
		return nil
	}
	sums := []string{plain.SHA256(compact.Bytes())}
	rewritten := jsontext.Value(bytes.Clone(text))
	if rewritten.Format(jsontext.CanonicalizeRawInts(true), jsontext.CanonicalizeRawFloats(true)) == nil {
		sums = append(sums, plain.SHA256(rewritten))
	}
	return sums
}
