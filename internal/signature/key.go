package signature

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"filippo.io/edwards25519"
)

// The reasons for which PublicKey refuses a key.
var (
	ErrKeySize      = errors.New("an Ed25519 public key has 32 bytes")
	ErrNotOnCurve   = errors.New("the bytes are no point of the curve")
	ErrNonCanonical = errors.New("the bytes are not the point's one encoding of RFC 8032")
	ErrSmallOrder   = errors.New("the point has small order, anyone can sign in its name")
)

// PublicKey reads an Ed25519 public key (RFC 8032 section 5.1.5). Beyond what crypto/ed25519 does when it
// verifies, it refuses the points of order 1, 2, 4 and 8, under which a fixed signature verifies for many
// messages or all, and second encodings of a point. Errors are ErrKeySize, ErrNotOnCurve, ErrNonCanonical and
// ErrSmallOrder.
func PublicKey(raw []byte) (ed25519.PublicKey, error) {
	if len(raw) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("key has %d bytes: %w", len(raw), ErrKeySize)
	}
	point, err := new(edwards25519.Point).SetBytes(raw)
	if err != nil {
		return nil, ErrNotOnCurve
	}
	if !bytes.Equal(point.Bytes(), raw) {
		return nil, ErrNonCanonical
	}
	if new(edwards25519.Point).MultByCofactor(point).Equal(edwards25519.NewIdentityPoint()) == 1 {
		return nil, ErrSmallOrder
	}
	return ed25519.PublicKey(bytes.Clone(raw)), nil
}

// Text reads the text of an Ed25519 signature: base64url or base64, with its padding or without, of exactly
// 64 bytes, in the one spelling that an encoder gives.
func Text(s string) ([]byte, error) {
	text := s
	if len(s) == base64.StdEncoding.EncodedLen(ed25519.SignatureSize) {
		text = strings.TrimSuffix(s, "==")
	}
	if len(text) != base64.RawStdEncoding.EncodedLen(ed25519.SignatureSize) {
		return nil,
			fmt.Errorf("text has %d characters, base64 of the 64 bytes of an Ed25519 signature has 86, or 88 with "+
				"padding", len(s))
	}
	encoding := base64.RawURLEncoding
	if strings.ContainsAny(text, "+/") {
		encoding = base64.RawStdEncoding
	}
	raw, err := encoding.DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("text is neither base64url nor base64: %w", err)
	}
	// The decoder skips line ends and, unless strict, leftover bits: only what it would write is accepted.
	if encoding.EncodeToString(raw) != text {
		return nil, errors.New("text is not as a base64 encoder writes it: it has line ends or stray last bits")
	}
	return raw, nil
}

// Verify reports whether sig is key's Ed25519 signature of message. The key must come from PublicKey.
func Verify(key ed25519.PublicKey, message, sig []byte) bool {
	return len(key) == ed25519.PublicKeySize && ed25519.Verify(key, message, sig)
}
