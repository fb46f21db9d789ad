package proof

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/mod/sumdb/note"
)

// Checkpoint is a log checkpoint: the three lines of a C2SP tlog-checkpoint. It has no extension lines, because
// witnesses do not vouch for them.
type Checkpoint struct {
	Origin string // name of the log, which is the name of its key
	Size   int64
	Root   Hash
}

// Text returns the lines that are signed.
func (c Checkpoint) Text() string { return fmt.Sprintf("%s\n%d\n%s\n", c.Origin, c.Size, c.Root) }

// Signed is a log checkpoint with signature lines, of which nothing is verified yet.
type Signed struct {
	Checkpoint
	data []byte
}

// ParseSigned reads a signed log checkpoint. It accepts only the one spelling of each number, hash and signature.
func ParseSigned(data []byte) (*Signed, error) {
	end := bytes.LastIndex(data, []byte("\n\n")) // the signed text may have empty lines
	_, err := note.Open(data, nil)
	if _, ok := errors.AsType[*note.UnverifiedNoteError](err); !ok {
		return nil, errors.New("the log checkpoint is not a signed note")
	}
	for line := range strings.Lines(string(data[end+2:])) {
		_, signature, _ := strings.Cut(strings.TrimPrefix(line, "— "), " ")
		if _, err := fromBase64(strings.TrimSuffix(signature, "\n")); err != nil {
			return nil, fmt.Errorf("signature of the log checkpoint: %w", err)
		}
	}
	lines := strings.Split(string(data[:end]), "\n")
	if len(lines) != 3 || lines[0] == "" {
		return nil, fmt.Errorf("the log checkpoint has %d lines; expected origin, size and root", len(lines))
	}
	c := Checkpoint{Origin: lines[0]}
	if c.Size, err = decimal(lines[1]); err != nil {
		return nil, fmt.Errorf("size of the log checkpoint: %w", err)
	}
	if c.Root, err = parseHash(lines[2]); err != nil {
		return nil, fmt.Errorf("root of the log checkpoint: %w", err)
	}
	return &Signed{c, data}, nil
}

// Types of a verifier key (https://c2sp.org/signed-note#verifier-keys).
const (
	typeNote        = 1 // Ed25519 over the text
	typeCosignature = 4 // Ed25519 over a time and the text
	typeMLDSA       = 6 // ML-DSA-44 cosignature
	mldsaSize       = 1312
)

// Key is a verifier key of a log or a witness. It is a note.Verifier.
type Key struct {
	text   string
	name   string
	hash   uint32
	kind   byte
	public []byte
}

// ParseKey reads a verifier key, NAME+HASH+KEY, in its one spelling.
func ParseKey(text string) (*Key, error) {
	name, rest, _ := strings.Cut(text, "+")
	hash, encoded, _ := strings.Cut(rest, "+")
	data, err := fromBase64(encoded)
	if err != nil || len(data) == 0 || name == "" || !utf8.ValidString(name) ||
		strings.ContainsFunc(name, unicode.IsSpace) {
		return nil, fmt.Errorf("the key of %.200q is not a verifier key NAME+HASH+KEY", name)
	}
	sum := sha256.Sum256(append([]byte(name+"\n"), data...))
	k := &Key{text, name, binary.BigEndian.Uint32(sum[:]), data[0], data[1:]}
	if fmt.Sprintf("%08x", k.hash) != hash {
		return nil, fmt.Errorf("the hash in the verifier key of %.200q is not that of its name and key", name)
	}
	size := ed25519.PublicKeySize
	if k.kind == typeMLDSA {
		size = mldsaSize
	}
	if k.kind != typeNote && k.kind != typeCosignature && k.kind != typeMLDSA || len(k.public) != size {
		return nil, fmt.Errorf("the type or length of the verifier key of %.200q is not known", name)
	}
	return k, nil
}

// String returns the verifier key as it was read.
func (k *Key) String() string { return k.text }

// Name returns the name of the key.
func (k *Key) Name() string { return k.name }

// KeyHash returns the hash by which signature lines name the key.
func (k *Key) KeyHash() uint32 { return k.hash }

// Verify reports whether a signature is one of the key over a text, whatever the time of a cosignature.
func (k *Key) Verify(text, signature []byte) bool {
	if k.kind == typeNote {
		return ed25519.Verify(k.public, text, signature)
	}
	if k.kind != typeCosignature || len(signature) != 8+ed25519.SignatureSize {
		return false
	}
	when := binary.BigEndian.Uint64(signature)
	return when <= math.MaxInt64 &&
		ed25519.Verify(k.public, fmt.Appendf(nil, "cosignature/v1\ntime %d\n%s", when, text), signature[8:])
}

// Cosigns reports whether the key is that of a witness whose cosignatures are verified.
func (k *Key) Cosigns() bool { return k.kind == typeCosignature }

// Signature returns the key's signature in a log checkpoint, nil if it has none. The first line of the key counts, and
// a wrong one is an error; later lines are ignored.
func (k *Key) Signature(s *Signed) ([]byte, error) {
	n, err := note.Open(s.data, note.VerifierList(k))
	if _, ok := errors.AsType[*note.UnverifiedNoteError](err); ok {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	data, err := base64.StdEncoding.DecodeString(n.Sigs[0].Base64)
	return data[4:], err
}

// Cosigned returns the time of a witness's cosignature of a log checkpoint, and whether it has one, as Signature
// does.
func (k *Key) Cosigned(s *Signed) (time.Time, bool, error) {
	if k.kind != typeCosignature {
		return time.Time{}, false, nil
	}
	signature, err := k.Signature(s)
	if signature == nil || err != nil {
		return time.Time{}, false, err
	}
	when := int64(binary.BigEndian.Uint64(signature))
	const latest = 253402300799 // end of the year 9999; later ones overflow a time.Time
	return time.Unix(min(when, latest), 0).UTC(), true, nil
}
