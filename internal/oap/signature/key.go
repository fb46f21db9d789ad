package signature

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"sync"

	"filippo.io/edwards25519"
)

// The reasons for which PublicKey and R refuse a point.
var (
	ErrKeySize      = errors.New("an Ed25519 public key has 32 bytes")
	ErrNotOnCurve   = errors.New("the bytes are not a point of the curve")
	ErrNonCanonical = errors.New("the bytes are not the point's one encoding of RFC 8032")
	ErrSmallOrder   = errors.New("the point has small order")
	ErrMixedOrder   = errors.New("the point has a part of small order, so that verifiers disagree on its signatures")
)

// PublicKey reads an Ed25519 public key (RFC 8032 section 5.1.5). Beyond what crypto/ed25519 does when it
// verifies, it refuses second encodings of a point, and each point outside the subgroup of prime order: under those of
// order 1, 2, 4 and 8 a fixed signature verifies for many messages or all, and under the sum of one of these and a
// sound key a signature verifies for some readers and not for others. Errors are ErrKeySize, ErrNotOnCurve,
// ErrNonCanonical, ErrSmallOrder and ErrMixedOrder.
func PublicKey(raw []byte) (ed25519.PublicKey, error) {
	if len(raw) != ed25519.PublicKeySize {
		return nil, fmt.Errorf("key has %d bytes: %w", len(raw), ErrKeySize)
	}
	p, err := point(raw)
	if errors.Is(err, ErrSmallOrder) {
		return nil, fmt.Errorf("%w, anyone can sign in its name", err)
	}
	if err != nil {
		return nil, err
	}
	// Eight times p is in the subgroup, and an eighth of that, taken there, is p without its part of small order.
	sound := new(edwards25519.Point).MultByCofactor(p)
	if sound.ScalarMult(eighth(), sound).Equal(p) == 0 {
		return nil, ErrMixedOrder
	}
	return ed25519.PublicKey(bytes.Clone(raw)), nil
}

// eighth is the inverse of the cofactor modulo the order of the subgroup.
var eighth = sync.OnceValue(func() *edwards25519.Scalar {
	eight, err := edwards25519.NewScalar().SetCanonicalBytes(append([]byte{8}, make([]byte, 31)...))
	if err != nil {
		panic(err) // 8 is less than the order
	}
	return eight.Invert(eight)
})

// point decodes a point that is not of small order. Errors are ErrNotOnCurve, ErrNonCanonical and ErrSmallOrder.
func point(raw []byte) (*edwards25519.Point, error) {
	p, err := new(edwards25519.Point).SetBytes(raw)
	if err != nil {
		return nil, ErrNotOnCurve
	}
	if !bytes.Equal(p.Bytes(), raw) {
		return nil, ErrNonCanonical
	}
	if new(edwards25519.Point).MultByCofactor(p).Equal(edwards25519.NewIdentityPoint()) == 1 {
		return nil, ErrSmallOrder
	}
	return p, nil
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

// R returns an error if R, the first half of a signature of 64 bytes, is a point by which readers disagree: one of
// small order or in a second encoding, which some refuse and others do not, or no point.
func R(sig []byte) error {
	if _, err := point(sig[:len(sig)/2]); err != nil {
		return fmt.Errorf("the signature's R is unsound: %w", err)
	}
	return nil
}

// Verify reports whether sig is key's Ed25519 signature of message, and its R is sound. The key must come from
// PublicKey.
func Verify(key ed25519.PublicKey, message, sig []byte) bool {
	return len(key) == ed25519.PublicKeySize && ed25519.Verify(key, message, sig) && R(sig) == nil
}
