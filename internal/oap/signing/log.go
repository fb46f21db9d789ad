package signing

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/mod/sumdb/note"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict/capped"
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

// LogKey is the private key of a log.
type LogKey struct {
	note.Signer
	Verifier string
	public   []byte
}

// ReadLogKey reads the file of a log key. No error has a byte of the key.
func ReadLogKey(path string) (*LogKey, error) {
	text, err := capped.ReadFile(path, MaxBytes)
	if err != nil {
		return nil, fmt.Errorf("reading the log key: %w", err)
	}
	private, found := strings.CutPrefix(string(text), logKeyLine+"\n")
	private, end := strings.CutSuffix(private, "\n")
	signer, err := note.NewSigner(private)
	if !found || !end || err != nil {
		return nil, remedy.Errorf("make a key with: oap-gate key new FILE --origin NAME",
			"the file %q is not that of a log key: expected the line %q and a key", path, logKeyLine)
	}
	public := notePublic(private)
	verifier, err := note.NewEd25519VerifierKey(signer.Name(), public)
	return &LogKey{signer, verifier, public}, err
}

// Is reports whether a file with a note key, of a checkpoint, holds the same key.
func (k *LogKey) Is(path string) bool {
	text, err := capped.ReadFile(path, MaxBytes)
	return err == nil && bytes.Equal(notePublic(strings.TrimSpace(string(text))), k.public)
}

// notePublic returns the public half of a note key PRIVATE+KEY+NAME+HASH+KEY, nil if the text is not one.
func notePublic(private string) ed25519.PublicKey {
	parts := strings.SplitN(private, "+", 5)
	seed, err := base64.StdEncoding.DecodeString(parts[len(parts)-1])
	defer clear(seed)
	if err != nil || len(seed) != 1+ed25519.SeedSize {
		return nil
	}
	return ed25519.NewKeyFromSeed(seed[1:]).Public().(ed25519.PublicKey)
}
