package signing

import (
	"crypto/rand"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/mod/sumdb/note"

	"github.com/openagentprotocol-OAP/oap-gate/internal/remedy"
)

// logKeyLine is the first line of the file of a log key. A witness cosigns the first text that it sees under an origin:
// one checkpoint of an audit that a log key signed would block the log at that witness.
const logKeyLine = "oap-gate log key v1"

// maxOrigin is the length in bytes of the longest name of a log that every type of cosignature can have.
const maxOrigin = 255

// WriteLogKey makes the key of a log and writes it to a new file as WriteFile does. The origin is the name of the log
// and of its key. WriteLogKey returns the verifier key.
func WriteLogKey(path, origin string) (verifier string, err error) {
	if origin == "" || len(origin) > maxOrigin || !utf8.ValidString(origin) || strings.Contains(origin, "+") ||
		strings.ContainsFunc(origin, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }) {
		return "", remedy.Errorf("name the log like a URL without its scheme, such as registry.example.org/oap/log",
			"the name of the log %.300q has spaces, control characters or +, or exceeds %d bytes", origin, maxOrigin)
	}
	private, verifier, err := note.GenerateKey(rand.Reader, origin)
	if err != nil {
		return "", fmt.Errorf("drawing a key: %w", err)
	}
	return verifier, writeFile(path, []byte(logKeyLine+"\n"+private+"\n"))
}
