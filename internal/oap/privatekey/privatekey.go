// Package privatekey finds private keys in files that are about to be published. It keeps no byte of a key: what it
// finds is a kind, and the SHA-256 of the secret by which published keys are known.
package privatekey

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/mr-tron/base58"
	"golang.org/x/crypto/cryptobyte"
	tag "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
)

// window is how much of a file is searched at its start and at its end, in bytes. A key that begins in a window may
// end after it by at most overhang.
const (
	window   = 1 << 20
	overhang = 64 << 10
)

// Find returns the kind of the first private key in the first or last MiB of a file, such as "a PEM block". It ignores
// keys that everyone has. If it finds no key, it returns "".
func Find(text []byte) string {
	text = utf8Of(text)
	parts := [][]byte{text}
	if len(text) > 2*(window+overhang) {
		parts = [][]byte{text[:window+overhang], text[len(text)-window-overhang:]}
	}
	for _, part := range parts {
		if inPEM(part) {
			return "a PEM block"
		}
	}
	if kind := inJSON(text); kind != "" {
		return kind
	}
	if secret := bytes.TrimSpace(parts[0]); len(parts) == 1 && len(secret) <= maxMultikey &&
		unpublished(multikey(string(secret))) {
		return "a Multikey"
	}
	return ""
}

// utf8Of returns a text without its byte order mark, and one of UTF-16, as PowerShell writes files, in UTF-8.
func utf8Of(text []byte) []byte {
	order := binary.ByteOrder(binary.LittleEndian)
	switch {
	case bytes.HasPrefix(text, []byte("\xfe\xff")):
		order = binary.BigEndian
	case !bytes.HasPrefix(text, []byte("\xff\xfe")):
		return bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	}
	out := make([]byte, 0, len(text)/2)
	for text = text[2:]; len(text) > 1; text = text[2:] {
		out = utf8.AppendRune(out, rune(order.Uint16(text))) // keys are ASCII
	}
	return out
}

// unpublished reports whether a secret is one, and not one that everyone has.
func unpublished(secret []byte) bool {
	sum := sha256.Sum256(secret)
	of := hex.EncodeToString(sum[:])
	return len(secret) > 0 && published[of] == "" && (len(secret) != ed25519.SeedSize || !ofExamples()[of])
}

var (
	begin = plain.Pattern(`-----BEGIN ((?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?)-----`)
	// escapes are how a text with several lines is written in JSON and in programs.
	escapes = strings.NewReplacer(`\r`, "\n", `\n`, "\n", `\u000a`, "\n", `\u000d`, "\n")
	// headers are those of RFC 1421 and of OpenPGP.
	headers = plain.Pattern(`(?m)^[\t "'+#>*/-]*[A-Z][A-Za-z-]{2,30}: [^\n]*\n`)
	// joints are between the parts of a text that a program joins.
	joints = plain.Pattern(`["'\x60][\t ]*[+.]?[\t ]*\n[\t ]*[+.]?[\t ]*["'\x60]`)
	check  = plain.Pattern(`(?m)^=[A-Za-z0-9+/]{4}[\t ]*$`)
)

// maxPEM is the length of a PEM block that is read, in bytes.
const maxPEM = 64 << 10

// inPEM reports whether a text has a PEM block that decodes as a private key: indented, quoted, or with escaped line
// ends too.
func inPEM(text []byte) bool {
	for {
		at := begin().FindSubmatchIndex(text)
		if at == nil {
			return false
		}
		kind := string(text[at[2]:at[3]])
		text = text[at[1]:]
		body := text[:min(len(text), maxPEM)]
		end := bytes.Index(body, []byte("-----")) // none is within a body, so that no byte is read twice
		if end < 0 || !bytes.HasPrefix(text[end:], []byte("-----END "+kind+"-----")) {
			continue
		}
		if pemBody(kind, escapes.Replace(string(body[:end]))) {
			return true
		}
	}
}

func pemBody(kind, body string) bool {
	encrypted := strings.Contains(body, "DEK-Info: ")
	body = joints().ReplaceAllString(body, "\n")
	body = check().ReplaceAllString(headers().ReplaceAllString(body, ""), "")
	der, err := base64.StdEncoding.DecodeString(alphabet(body))
	switch {
	case err != nil || len(der) < 16:
		return false
	case encrypted:
		return true
	case kind == "OPENSSH PRIVATE KEY":
		return bytes.HasPrefix(der, []byte("openssh-key-v1\x00"))
	case kind == "PGP PRIVATE KEY BLOCK":
		return der[0]&^3 == 0x94 || der[0] == 0xC5 // a secret key packet
	}
	return unpublished(secretOf(der))
}

// alphabet returns the characters of base64 in a text, padded.
func alphabet(text string) string {
	text = strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' || 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '+' || r == '/' {
			return r
		}
		return -1
	}, text)
	return text + strings.Repeat("=", -len(text)&3)
}

// secretOf returns the secret of a private key in DER: PKCS #8, encrypted or not, PKCS #1, SEC 1, or that of DSA. It
// returns "" for any other text.
func secretOf(der []byte) []byte {
	var inner, algorithm, secret cryptobyte.String
	input := cryptobyte.String(der)
	if !input.ReadASN1(&inner, tag.SEQUENCE) {
		return nil
	}
	if inner.PeekASN1Tag(tag.SEQUENCE) { // EncryptedPrivateKeyInfo
		if !inner.ReadASN1(&algorithm, tag.SEQUENCE) || !algorithm.SkipASN1(tag.OBJECT_IDENTIFIER) ||
			!inner.ReadASN1(&secret, tag.OCTET_STRING) {
			return nil
		}
		return secret
	}
	if !inner.SkipASN1(tag.INTEGER) {
		return nil
	}
	switch {
	case inner.PeekASN1Tag(tag.OCTET_STRING): // ECPrivateKey
		if !inner.ReadASN1(&secret, tag.OCTET_STRING) {
			return nil
		}
		return secret
	case inner.PeekASN1Tag(tag.INTEGER): // RSAPrivateKey: n, e, d; DSA: p, q, g, y, x
		var numbers []cryptobyte.String
		for inner.PeekASN1Tag(tag.INTEGER) {
			var n cryptobyte.String
			if !inner.ReadASN1(&n, tag.INTEGER) {
				return nil
			}
			numbers = append(numbers, n)
		}
		if len(numbers) < 5 {
			return nil
		}
		if len(numbers) == 5 {
			return numbers[4]
		}
		return bytes.TrimLeft(numbers[2], "\x00")
	}
	if !inner.ReadASN1(&algorithm, tag.SEQUENCE) || !algorithm.SkipASN1(tag.OBJECT_IDENTIFIER) ||
		!inner.ReadASN1(&secret, tag.OCTET_STRING) {
		return nil
	}
	whole, key := secret, cryptobyte.String(nil)
	if seed := whole; seed.ReadASN1(&key, tag.OCTET_STRING) && seed.Empty() { // RFC 8410
		return key
	}
	if key := secretOf(whole); key != nil {
		return key
	}
	return whole
}

// maxMultikey is the length of the text of a Multikey.
const maxMultikey = 200

// codecs are the multicodecs of private keys, as they begin a Multikey, with the length of the secret.
var codecs = map[string]int{"\x80\x26": 32, "\x81\x26": 32, "\x82\x26": 32, "\x86\x26": 32, "\x87\x26": 48,
	"\x88\x26": 66, "\x8a\x26": 32}

// multikey returns the secret in the text of a Multikey; empty if it is not one. The public half may follow it.
func multikey(text string) []byte {
	raw := multibase(text)
	if len(raw) < 2 {
		return nil
	}
	n := codecs[string(raw[:2])]
	if n == 0 || len(raw) != 2+n && len(raw) != 2+2*n {
		return nil
	}
	return raw[2 : 2+n]
}

func multibase(text string) []byte {
	if len(text) > maxMultikey || len(text) < 2 {
		return nil
	}
	var raw []byte
	var err error
	switch text[0] {
	case 'z':
		raw, err = base58.Decode(text[1:])
	case 'u':
		raw, err = base64.RawURLEncoding.DecodeString(strings.TrimRight(text[1:], "="))
	}
	if err != nil {
		return nil
	}
	return raw
}

// object is what is known about a JSON object on the way.
type object struct{ kty, crv, d, name string }

// inJSON returns the kind of a private key in the members of JSON objects, of one value or of several.
func inJSON(text []byte) string {
	if start := bytes.TrimLeft(text, " \t\r\n"); len(start) == 0 || start[0] != '{' && start[0] != '[' {
		return ""
	}
	d := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	var stack []object
	for {
		t, err := d.ReadToken()
		if err != nil {
			return ""
		}
		kind, length := d.StackIndex(d.StackDepth())
		switch t.Kind() {
		case '{', '[':
			stack = append(stack, object{})
		case '}', ']':
			stack = stack[:len(stack)-1]
		case '"':
			value := t.String()
			if inPEM([]byte(value)) {
				return "a PEM block"
			}
			if kind != '{' {
				continue
			}
			top := &stack[len(stack)-1]
			if length%2 == 1 {
				top.name = value
				continue
			}
			switch top.name {
			case "kty":
				top.kty = value
			case "crv":
				top.crv = value
			case "d":
				top.d = value
			case "secretKeyMultibase", "privateKeyMultibase":
				if unpublished(memberSecret(value)) {
					return "a " + top.name
				}
			}
			if top.isPrivate() { // whatever a second member of that name says
				return "a JWK"
			}
		}
	}
}

// memberSecret is multikey, of a member that older suites wrote without a multicodec too.
func memberSecret(text string) []byte {
	if secret := multikey(text); secret != nil {
		return secret
	}
	if raw := multibase(text); len(raw) == 32 || len(raw) == 64 {
		return raw[:32]
	}
	return nil
}

// sizes are the lengths of d in bytes by kty and crv.
var sizes = map[string]int{"OKP Ed25519": 32, "OKP X25519": 32, "OKP Ed448": 57, "OKP X448": 56, "EC P-256": 32,
	"EC secp256k1": 32, "EC P-384": 48, "EC P-521": 66}

// isPrivate reports whether a JWK has a d that is a key of its kind.
func (o object) isPrivate() bool {
	if o.kty == "" || o.d == "" {
		return false
	}
	text := strings.TrimRight(strings.NewReplacer("+", "-", "/", "_").Replace(o.d), "=")
	secret, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return false
	}
	if o.kty == "RSA" {
		return len(secret) >= 64 && unpublished(secret)
	}
	n, known := sizes[o.kty+" "+o.crv]
	return known && len(secret) == n && unpublished(secret)
}
