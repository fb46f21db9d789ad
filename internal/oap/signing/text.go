package signing

import (
	"strings"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
)

// secrets match a text that begins like a Multikey's secret (of the seed, or of the seed and the public key), or like
// PKCS #8 in base64 without its frame.
var secrets = plain.Pattern(`z(?:3u2[1-9A-HJ-NP-Za-km-z]{30}|r[uv][1-9A-HJ-NP-Za-km-z]{80})|MC4CAQAwBQYDK2VwBCIEI|MFECAQEwBQYDK2VwBCIEI`)

// A key without its frame is base64 or base64url, which for so many random bytes has digits and letters of both cases,
// or hexadecimal digits.
var (
	bare   = plain.Pattern(`^[A-Za-z0-9+/_=-]{40,}$`)
	digits = plain.Pattern(`^[0-9A-Fa-f]{64,}$`)
)

// HoldsKey reports whether a text holds a private key in a form that Read takes, or the beginning of one.
func HoldsKey(text string) bool {
	return strings.Contains(text, "-----BEGIN") || secrets().MatchString(text) ||
		strings.Contains(text, "PRIVATE+KEY+") ||
		strings.Contains(text, `"d"`) && strings.Contains(text, `"kty"`)
}

// IsKey reports whether a text that was given as the name of a file is a key: it begins like one, or holds a line
// break.
func IsKey(name string) bool {
	begin := strings.TrimSpace(name)
	return strings.ContainsAny(name, "\r\n") || strings.HasPrefix(begin, "{") || strings.HasPrefix(begin, "z3u2") ||
		HoldsKey(name)
}

// ErrIsKey returns the error for a key that was given as the name of a file. It does not repeat the key.
func ErrIsKey() error {
	return remedy.Errorf("pipe it in with --key -, and make a new key if others can read what was typed here",
		"this is a key, not a file: pipe it in with --key -")
}

// unrepeated reports whether a name may be a key without its frame, so that no message repeats it.
func unrepeated(name string) bool {
	name = strings.TrimSpace(name)
	return digits().MatchString(name) || bare().MatchString(name) && strings.ContainsAny(name, "0123456789") &&
		strings.ToLower(name) != name && strings.ToUpper(name) != name
}
