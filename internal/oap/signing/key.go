// Package signing holds private Ed25519 keys, and is the only package that sees one. It reads a key from a file, signs
// with it, and writes a new one. Wipe overwrites what the package holds of a key; what crypto/ed25519 derived from it
// remains until the process ends.
package signing

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"github.com/mr-tron/base58"

	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/privatekey"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
)

// Key is a private Ed25519 key. However it is printed, its private half is not shown.
type Key struct {
	private ed25519.PrivateKey // nil once it was wiped
	public  ed25519.PublicKey
}

// New makes a key.
func New() (*Key, error) {
	seed := make([]byte, ed25519.SeedSize)
	defer clear(seed)
	if _, err := rand.Read(seed); err != nil {
		return nil, fmt.Errorf("drawing a key: %w", err)
	}
	return fromSeed(seed), nil
}

// fromSeed keeps no part of seed.
func fromSeed(seed []byte) *Key {
	k := &Key{private: ed25519.NewKeyFromSeed(seed)}
	k.public = append(k.public, k.private[ed25519.SeedSize:]...)
	return k
}

// Wipe overwrites the private half. The public one stays.
func (k *Key) Wipe() {
	clear(k.private)
	k.private = nil
}

// Public returns the public half. The caller must not change it.
func (k *Key) Public() ed25519.PublicKey { return k.public }

// Format prints what may be seen of a key, whatever the verb: it may stand in an error or a panic.
func (k *Key) Format(s fmt.State, _ rune) { _, _ = io.WriteString(s, "the Ed25519 key "+k.Multikey()) }

// Published returns where everyone finds the private half, or "" if the key is not known to be published.
func (k *Key) Published() string { return privatekey.Published(hex.EncodeToString(k.public)) }

// Sign returns the signature of message as base64url without padding, after verifying it as the checks do.
func (k *Key) Sign(message []byte) (string, error) {
	if k.private == nil {
		return "", errors.New("signing: the key was wiped")
	}
	text := base64.RawURLEncoding.EncodeToString(ed25519.Sign(k.private, message))
	if !receipt.VerifyBy([]did.Key{{Public: k.public}}, message, text) {
		return "", errors.New("signing: the new signature does not verify; nothing was written")
	}
	return text, nil
}

// The multicodecs ed25519-pub and ed25519-priv, as varints (https://www.w3.org/TR/cid-1.0/#Multikey).
var (
	publicCodec  = []byte{0xed, 0x01}
	privateCodec = []byte{0x80, 0x26}
)

// Multikey returns the public key as a Multikey in base58btc, z6Mk….
func (k *Key) Multikey() string {
	return "z" + base58.Encode(append(append([]byte{}, publicCodec...), k.public...))
}

// DID returns the public key as a did:key.
func (k *Key) DID() string { return "did:key:" + k.Multikey() }

// X returns the member x of the public key's JSON Web Key (RFC 8037).
func (k *Key) X() string { return base64.RawURLEncoding.EncodeToString(k.public) }
