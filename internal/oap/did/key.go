package did

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/mr-tron/base58"

	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/privatekey"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/signature"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// Local resolves a did:key of an Ed25519 key, which needs no document but itself
// (https://w3c-ccg.github.io/did-key-spec/). Its key is the one for assertions. The error is a *DocumentError if the
// key is published.
func Local(d DID) (*Document, error) {
	public, err := LocalKey(d)
	if err != nil {
		return nil, err
	}
	if where := Published(keyText("Ed25519", public)); where != "" {
		return nil, &DocumentError{Code: CodePublished, Message: fmt.Sprintf("%.200q is published: its private half "+
			"is in %s, so anyone can sign in its owner's name", d.Text, where)}
	}
	key := Key{ID: d.Text + "#" + d.ID, Public: public, Assertion: true}
	return &Document{DID: d.Text, Keys: []Key{key}, Material: []string{multikey(d.ID)}, HasAssertion: true}, nil
}

// LocalKey returns the Ed25519 key of a did:key, published or not.
func LocalKey(d DID) (ed25519.PublicKey, error) {
	if d.Method != "key" {
		return nil, fmt.Errorf("resolving %q: only a did:key resolves without a document", d.Text)
	}
	var public ed25519.PublicKey
	raw, err := fromMultibase(d.ID)
	if err == nil {
		public, err = signature.PublicKey(raw)
	}
	if err != nil {
		return nil, fmt.Errorf("resolving %q: %w", d.Text, err)
	}
	return public, nil
}

// errOtherKey means that a key looks sound and is not an Ed25519 key.
var errOtherKey = errors.New("it is not an Ed25519 key")

// ed25519Codec is the multicodec ed25519-pub, 0xed, as a varint.
var ed25519Codec = []byte{0xed, 0x01}

// errTwoKeys means that one verification method holds two different keys.
var errTwoKeys = errors.New("publicKeyBase58 and publicKeyJwk are different keys")

// A prefixError means that a multibase text is an Ed25519 key without the multicodec before it.
type prefixError struct{ want string }

func (e *prefixError) Error() string {
	return fmt.Sprintf("publicKeyMultibase is a key of 32 bytes without the prefix 0xed01; expected %q", e.want)
}

// fromMultibase reads a Multikey in base58btc, which begins with z6Mk. The error is a prefixError where a sound key
// lacks its prefix.
func fromMultibase(text string) ([]byte, error) {
	encoded, ok := strings.CutPrefix(text, "z")
	if !ok {
		return nil, fmt.Errorf("multibase text does not begin with z (base58btc): %w", errOtherKey)
	}
	raw, err := fromBase58(encoded)
	if err != nil {
		return nil, err
	}
	key, ok := bytes.CutPrefix(raw, ed25519Codec)
	if _, err := signature.PublicKey(raw); !ok && err == nil {
		return nil, &prefixError{"z" + base58.Encode(slices.Concat(ed25519Codec, raw))}
	}
	if !ok {
		return nil, fmt.Errorf("multicodec is not ed25519-pub: %w", errOtherKey)
	}
	return key, nil
}

// maxBase58 holds the text of a key; decoding takes quadratic time.
const maxBase58 = 128

func fromBase58(text string) ([]byte, error) {
	if len(text) > maxBase58 {
		return nil, fmt.Errorf("base58 text has %d characters, an Ed25519 key has fewer: %w", len(text), errOtherKey)
	}
	raw, err := base58.Decode(text)
	if err != nil {
		return nil, fmt.Errorf("decoding base58: %w", err)
	}
	return raw, nil
}

// fromJWK reads a JSON Web Key of type OKP (RFC 8037).
func fromJWK(jwk map[string]any) ([]byte, error) {
	if jwk["kty"] != "OKP" || jwk["crv"] != "Ed25519" {
		return nil, fmt.Errorf("kty and crv are not OKP and Ed25519: %w", errOtherKey)
	}
	x, ok := jwk["x"].(string)
	if !ok {
		return nil, errors.New("the JWK has no text x")
	}
	raw, err := base64.RawURLEncoding.DecodeString(x)
	if err != nil {
		return nil, fmt.Errorf("decoding x: %w", err)
	}
	if base64.RawURLEncoding.EncodeToString(raw) != x {
		return nil, errors.New("x is not as a base64url encoder writes it")
	}
	return raw, nil
}

// unsuited returns why a JSON Web Key may not verify signatures: its use, key_ops or alg is for something else
// (RFC 7517 section 4). An absent member excludes nothing.
func unsuited(jwk map[string]any) error {
	if use, there := jwk["use"]; there && use != "sig" {
		return fmt.Errorf("use of the JWK is %s; expected \"sig\", or no use", given(use))
	}
	if ops, there := jwk["key_ops"]; there {
		if list, _ := ops.([]any); !slices.Contains(list, any("verify")) {
			return errors.New("key_ops of the JWK lacks \"verify\"; expected [\"verify\"], or no key_ops")
		}
	}
	if alg, there := jwk["alg"]; there && alg != "EdDSA" && alg != "Ed25519" {
		return fmt.Errorf("alg of the JWK is %s; expected \"EdDSA\" or \"Ed25519\", or no alg", given(alg))
	}
	return nil
}

// given is shown of a member that is there.
func given(v any) string {
	if v == nil {
		return "null"
	}
	return shown(v)
}

// publicKey reads the key of a verification method, in the forms that its type has. A weak key is an error also where
// its JWK is unsuited.
func publicKey(method map[string]any) (ed25519.PublicKey, error) {
	raw, jwk, err := keyBytes(method)
	if err != nil {
		return nil, err
	}
	key, err := signature.PublicKey(raw)
	if err != nil {
		return nil, err
	}
	return key, unsuited(jwk)
}

// keyBytes returns the key of a verification method, and the JWK that holds it; nil where none does.
func keyBytes(method map[string]any) (raw []byte, jwk map[string]any, err error) {
	jwk, isJWK := method["publicKeyJwk"].(map[string]any)
	switch method["type"] {
	case "JsonWebKey2020", "JsonWebKey":
		if !isJWK {
			return nil, nil, errors.New("there is no object publicKeyJwk")
		}
		raw, err = fromJWK(jwk)
		return raw, jwk, err
	case "Ed25519VerificationKey2018":
		if !isJWK {
			raw, err = textKey(method)
			return raw, nil, err
		}
		raw, err = fromJWK(jwk)
		if err == nil && method["publicKeyBase58"] != nil {
			var other []byte
			if other, err = textKey(method); err == nil && !bytes.Equal(raw, other) {
				err = errTwoKeys
			}
		}
		return raw, jwk, err
	}
	raw, err = textKey(method)
	return raw, nil, err
}

// textKey returns the key of a verification method whose type holds it as one text.
func textKey(method map[string]any) ([]byte, error) {
	member, read := "publicKeyMultibase", fromMultibase
	switch method["type"] {
	case "Ed25519VerificationKey2020", "Multikey":
	case "Ed25519VerificationKey2018":
		member, read = "publicKeyBase58", fromBase58
	default:
		return nil, errOtherKey
	}
	text, ok := method[member].(string)
	if !ok {
		return nil, fmt.Errorf("there is no text %s", member)
	}
	return read(text)
}

// Material returns what a did:key or did:jwk encodes, in the form of Document.Material: texts are equal if the keys
// are. It returns "" for a DID of another method, and an error for one that encodes no key.
func Material(d DID) (string, error) {
	m := ""
	switch d.Method {
	case "key":
		if key := d.ID[strings.LastIndexByte(d.ID, ':')+1:]; strings.HasPrefix(key, "z") { // a version may precede it
			m = multikey(key)
		}
	case "jwk":
		raw, err := base64.RawURLEncoding.DecodeString(d.ID)
		if err != nil {
			return "", fmt.Errorf("%.200q is not base64url behind did:jwk: %w", d.Text, err)
		}
		doc, err := strict.Parse("did:jwk", raw, strict.Remote(MaxLength))
		if err != nil {
			return "", fmt.Errorf("%.200q encodes no JSON Web Key: %w", d.Text, err)
		}
		key, _ := doc.Root.(map[string]any)
		m = jwkMaterial(key)
	default:
		return "", nil
	}
	if m == "" {
		return "", fmt.Errorf("%.200q encodes no key that can be read", d.Text)
	}
	return m, nil
}

// Published returns where everyone finds the private half of a key in the form of Document.Material, or "" if the key
// is not known to be published.
func Published(material string) string {
	public, found := strings.CutPrefix(material, "Ed25519 ")
	if !found {
		return ""
	}
	return privatekey.Published(public)
}

// material returns the keys of a verification method of any type, as far as they can be read. A method may hold more
// than its type allows: none of them hides another.
func material(method map[string]any) []string {
	var all []string
	if jwk, ok := method["publicKeyJwk"].(map[string]any); ok {
		all = append(all, jwkMaterial(jwk))
	}
	if text, ok := method["publicKeyMultibase"].(string); ok {
		all = append(all, multikey(text))
	}
	kind, _ := method["type"].(string)
	if text, ok := method["publicKeyBase58"].(string); ok && base58Types[kind] != "" {
		if raw, err := fromBase58(text); err == nil {
			all = append(all, keyText(base58Types[kind], raw))
		}
	}
	return slices.DeleteFunc(all, func(m string) bool { return m == "" })
}

// base58Types are the curves of the verification methods that hold a key without a codec, by their types.
var base58Types = map[string]string{"Ed25519VerificationKey2018": "Ed25519", "X25519KeyAgreementKey2019": "X25519"}

// keyText spells a key. X25519 ignores the highest bit of its keys (RFC 7748 section 5).
func keyText(kind string, raw []byte) string {
	if kind == "X25519" && len(raw) == 32 {
		raw = append(slices.Clone(raw[:31]), raw[31]&0x7f)
	}
	return fmt.Sprintf("%s %x", kind, raw)
}

// codecs are the multicodecs of the curves that JSON Web Keys name. A point of the first curves is represented by its x
// coordinate after one byte. The other coordinate does not matter: the private key of one point is also that of the
// other.
var codecs = []struct {
	prefix string
	curve  string
	sign   int // bytes before x
}{
	{"\xed\x01", "Ed25519", 0},
	{"\xec\x01", "X25519", 0},
	{"\xe7\x01", "secp256k1", 1},
	{"\x80\x24", "P-256", 1},
	{"\x81\x24", "P-384", 1},
	{"\x82\x24", "P-521", 1},
}

// multikey returns the key in a Multikey, in base58btc or base64url, or "" if the text is not a Multikey. For another
// codec it returns all bytes of the key.
func multikey(text string) string {
	if text == "" || len(text) > 1+MaxLength {
		return ""
	}
	var raw []byte
	var err error
	switch encoded := text[1:]; text[0] {
	case 'z':
		raw, err = base58.Decode(encoded)
	case 'u':
		raw, err = base64.RawURLEncoding.DecodeString(encoded)
	}
	if err != nil || len(raw) < 32 { // no public key is shorter
		return ""
	}
	for _, c := range codecs {
		if key, ok := bytes.CutPrefix(raw, []byte(c.prefix)); ok && len(key) > c.sign {
			return keyText(c.curve, key[c.sign:])
		}
	}
	return keyText("multicodec", raw)
}

// jwkMaterial returns the key in a JSON Web Key: the x coordinate of a point, the modulus of RSA; "" if there is no
// key.
func jwkMaterial(jwk map[string]any) string {
	kind, _ := jwk["crv"].(string)
	value, _ := jwk["x"].(string)
	if jwk["kty"] == "RSA" {
		kind = "RSA"
		value, _ = jwk["n"].(string)
	}
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(value, "="))
	if err != nil || len(raw) == 0 || kind == "" {
		return ""
	}
	return keyText(kind, raw)
}
