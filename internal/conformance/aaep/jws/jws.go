// Package jws reads and makes compact JSON Web Signatures (RFC 7515) of manifests, and reads the keys of both sides.
package jws

import (
	"bytes"
	"cmp"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// limits are those of a key, and of the header of a signature.
var limits = strict.Limits{Bytes: 1 << 20, Depth: 64, Number: 64, Values: 1 << 16}

// MaxKey is how many bytes a file with the key of a manifest may have.
const MaxKey = 64 << 10

// The sizes of RSA keys in bits. RFC 7518 section 3.3 sets the least. With a key of millions of bits, which a stranger
// can send, one signature takes minutes.
const (
	leastRSA = 2048
	mostRSA  = 16384
)

var errNoKey = errors.New("expected a public key: a JWK, or PEM of a public key or certificate")

// ParseKey returns the public key of a JWK or of PEM text.
func ParseKey(data []byte) (crypto.PublicKey, error) {
	if block, _ := pem.Decode(data); block != nil {
		switch block.Type {
		case "PUBLIC KEY":
			return usable(x509.ParsePKIXPublicKey(block.Bytes))
		case "RSA PUBLIC KEY":
			return usable(x509.ParsePKCS1PublicKey(block.Bytes))
		case "CERTIFICATE":
			return certified(block.Bytes)
		}
		return nil, errNoKey
	}
	document, err := strict.Parse("", data, limits)
	if err != nil {
		return nil, errNoKey
	}
	if strict.Member(document.Root, "d") != nil {
		return nil, errors.New("the JWK holds a private key; expected a public one")
	}
	return parseJWK(document.Root)
}

// certified returns the key of a certificate.
func certified(der []byte) (crypto.PublicKey, error) {
	c, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return usable(c.PublicKey, nil)
}

// usable returns a key of a kind that a JWS here may have, if there is no error.
func usable(key any, err error) (crypto.PublicKey, error) {
	if err != nil {
		return nil, err
	}
	switch k := key.(type) {
	case *ecdsa.PublicKey:
		if k.Curve != elliptic.P256() {
			return nil, fmt.Errorf("the curve is %s; expected P-256", k.Curve.Params().Name)
		}
	case *rsa.PublicKey:
		if n := k.N.BitLen(); n < leastRSA || n > mostRSA {
			return nil, fmt.Errorf("the RSA key has %d bits; expected %d to %d", n, leastRSA, mostRSA)
		}
	case ed25519.PublicKey:
	case nil: // what Go has for a key that it does not know
		return nil, errors.New("the key is of an unknown kind; expected P-256, RSA or Ed25519")
	default:
		return nil, fmt.Errorf("the key is a %T; expected P-256, RSA or Ed25519", key)
	}
	return key, nil
}

func parseJWK(v any) (crypto.PublicKey, error) {
	field := func(name string) []byte {
		data, err := base64.RawURLEncoding.Strict().DecodeString(strict.String(v, name))
		if err != nil {
			return nil
		}
		return data
	}
	switch strict.String(v, "kty") {
	case "EC":
		x, y := field("x"), field("y")
		if strict.String(v, "crv") != "P-256" || len(x) != 32 || len(y) != 32 {
			return nil, errors.New("the EC key is not one of P-256")
		}
		return usable(ecdsa.ParseUncompressedPublicKey(elliptic.P256(), slices.Concat([]byte{4}, x, y)))
	case "RSA":
		n, e := new(big.Int).SetBytes(field("n")), new(big.Int).SetBytes(field("e"))
		if e.BitLen() > 31 || e.BitLen() < 2 {
			return nil, errors.New("the RSA key has no exponent of a usual size")
		}
		return usable(&rsa.PublicKey{N: n, E: int(e.Int64())}, nil)
	case "OKP":
		x := field("x")
		if strict.String(v, "crv") != "Ed25519" || len(x) != ed25519.PublicKeySize {
			return nil, errors.New("the OKP key is not one of Ed25519")
		}
		return ed25519.PublicKey(x), nil
	}
	return nil, errNoKey
}

// Signed is a compact JWS (RFC 7515 section 7.1).
type Signed struct {
	Alg     string
	Payload []byte

	header             any
	signing, signature []byte
}

// Parse reads a compact JWS; wrong says what it is not.
func Parse(text string) (j *Signed, wrong string) {
	parts := strings.Split(strings.TrimSpace(text), ".")
	if len(parts) != 3 {
		return nil, fmt.Sprintf("it has %d parts; expected header, payload and signature", len(parts))
	}
	var decoded [3][]byte
	for i, part := range parts {
		var err error
		if decoded[i], err = base64.RawURLEncoding.Strict().DecodeString(part); err != nil {
			return nil, fmt.Sprintf("part %d is not base64url without padding", i+1)
		}
	}
	header, err := strict.Parse("", decoded[0], limits)
	if err != nil {
		return nil, "its header is not JSON"
	}
	switch _, isObject := header.Root.(map[string]any); {
	case !isObject:
		return nil, "its header is not an object"
	case strict.Member(header.Root, "crit") != nil:
		return nil, "its header has crit, which names extensions that nobody here knows"
	}
	return &Signed{Alg: strict.String(header.Root, "alg"), Payload: decoded[1], header: header.Root,
		signing: []byte(parts[0] + "." + parts[1]), signature: decoded[2]}, ""
}

// Known reports whether the algorithm is one of a signature that is verified here. "none" is not.
func (j *Signed) Known() bool {
	return slices.Contains([]string{"ES256", "RS256", "PS256", "EdDSA"}, j.Alg)
}

// OwnKey returns the key that the header carries; nil: it carries none that can be read.
func (j *Signed) OwnKey() crypto.PublicKey {
	if jwk := strict.Member(j.header, "jwk"); jwk != nil {
		if key, err := parseJWK(jwk); err == nil {
			return key
		}
	}
	chain, _ := strict.Member(j.header, "x5c").([]any)
	if len(chain) == 0 {
		return nil
	}
	text, _ := chain[0].(string)
	der, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return nil
	}
	key, _ := certified(der)
	return key
}

// By reports whether a key made the signature, by the algorithm that the header names.
func (j *Signed) By(key crypto.PublicKey) bool {
	sum := sha256.Sum256(j.signing)
	switch k := key.(type) {
	case *ecdsa.PublicKey:
		if j.Alg != "ES256" || len(j.signature) != 64 {
			return false
		}
		r, s := new(big.Int).SetBytes(j.signature[:32]), new(big.Int).SetBytes(j.signature[32:])
		return ecdsa.Verify(k, sum[:], r, s)
	case *rsa.PublicKey:
		switch j.Alg {
		case "RS256":
			return rsa.VerifyPKCS1v15(k, crypto.SHA256, sum[:], j.signature) == nil
		case "PS256":
			return rsa.VerifyPSS(k, crypto.SHA256, sum[:], j.signature,
				&rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash}) == nil
		}
	case ed25519.PublicKey:
		return j.Alg == "EdDSA" && ed25519.Verify(k, j.signing, j.signature)
	}
	return false
}

// ParsePrivateKey returns the private key of PEM text.
func ParsePrivateKey(data []byte) (crypto.Signer, error) {
	key, err := ssh.ParseRawPrivateKey(data)
	if of, ok := key.(*ed25519.PrivateKey); ok {
		key = *of
	}
	signer, ok := key.(crypto.Signer)
	if err == nil && !ok {
		err = fmt.Errorf("it is a %T", key)
	}
	if err != nil {
		return nil, fmt.Errorf("expected PEM of a private key of P-256, RSA or Ed25519: %w", err)
	}
	_, err = usable(signer.Public(), nil)
	return signer, err
}

// Sign returns a compact JWS of a payload. The algorithm "none" leaves it unsigned; an empty one is that of the key.
// With own, the header carries the public key.
func Sign(key crypto.Signer, alg string, own bool, payload []byte) (string, error) {
	encode := base64.RawURLEncoding.EncodeToString
	var jwk map[string]string
	var options crypto.SignerOpts = crypto.SHA256
	usual := ""
	switch k := key.Public().(type) {
	case *ecdsa.PublicKey:
		point, err := k.Bytes()
		if err != nil {
			return "", err
		}
		usual, jwk = "ES256", map[string]string{"kty": "EC", "crv": "P-256", "x": encode(point[1:33]),
			"y": encode(point[33:])}
	case *rsa.PublicKey:
		usual, jwk = "RS256", map[string]string{"kty": "RSA", "n": encode(k.N.Bytes()),
			"e": encode(big.NewInt(int64(k.E)).Bytes())}
		if alg == "PS256" {
			options = &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash, Hash: crypto.SHA256}
		}
	case ed25519.PublicKey:
		usual, jwk = "EdDSA", map[string]string{"kty": "OKP", "crv": "Ed25519", "x": encode(k)}
		options = crypto.Hash(0)
	}
	header := map[string]any{"alg": cmp.Or(alg, usual)}
	if own {
		header["jwk"] = jwk
	}
	head, err := json.Marshal(header)
	if err != nil {
		return "", err
	}
	text := encode(head) + "." + encode(payload)
	if alg == "none" {
		return text + ".", nil
	}
	signature, err := crypto.SignMessage(key, rand.Reader, []byte(text), options)
	if err == nil && usual == "ES256" {
		var of struct{ R, S *big.Int }
		if _, err = asn1.Unmarshal(signature, &of); err == nil {
			signature = slices.Concat(of.R.FillBytes(make([]byte, 32)), of.S.FillBytes(make([]byte, 32)))
		}
	}
	return text + "." + encode(signature), err
}

// Is reports whether a document looks like a compact JWS rather than JSON.
func Is(document []byte) bool {
	text := bytes.TrimSpace(document)
	return len(text) > 0 && text[0] != '{' && bytes.Count(text, []byte(".")) == 2
}
