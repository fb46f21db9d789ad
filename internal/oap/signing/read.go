package signing

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"syscall"

	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/crypto/cryptobyte"
	tag "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
)

// MaxBytes is how large the file of a key may be.
const MaxBytes = 16 << 10

// Stdin is the key file name that means the standard input.
const Stdin = "-"

// ErrEncrypted means that the key is encrypted. The caller knows the whole command that can read the decrypted key.
var ErrEncrypted = remedy.Errorf("pipe the decrypted key in: openssl pkey -in FILE | oap-gate … --key -",
	"the key is encrypted, and the gate does not ask for a passphrase")

// Fixes for a text that is not a key that can sign. No error contains a byte of the text.
const (
	makeOne = "make a key with: oap-gate key new FILE, and publish its public half in the DID Document"
	private = "name the file of the private key, in PKCS #8 PEM, as a JWK, or as a Multikey (z…)"
)

// Read reads the key in a file, or for Stdin in stdin: PKCS #8 PEM, a JSON Web Key of type OKP with its d and x, or the
// text of a Multikey's secret. The warning is not empty where others may read the file. The caller wipes the key.
// Errors are of the file system, or say what would do.
func Read(path string, stdin io.Reader) (k *Key, warning string, err error) {
	warning, err = withText(path, stdin, func(text []byte) error {
		seed := make([]byte, ed25519.SeedSize)
		defer clear(seed)
		k, err = parse(text, seed)
		return err
	})
	return k, warning, err
}

// ReadPublic reads the public half of the key in a file, or in stdin for Stdin. The file has a private key in a form
// that Read takes, or a public key in PEM (SubjectPublicKeyInfo), as a JSON Web Key, a Multikey or a did:key. The
// returned key cannot sign; private reports whether the file has the private half, and the warning is that of Read.
func ReadPublic(path string, stdin io.Reader) (k *Key, private bool, warning string, err error) {
	warning, err = withText(path, stdin, func(text []byte) error {
		if public, ok := publicOf(text); ok {
			k = &Key{public: public}
			return nil
		}
		private = true
		seed := make([]byte, ed25519.SeedSize)
		defer clear(seed)
		if k, err = parse(text, seed); err == nil {
			k.Wipe()
		}
		return err
	})
	return k, private, warning, err
}

// publicOf reads a public key.
func publicOf(text []byte) (ed25519.PublicKey, bool) {
	text = bytes.TrimSpace(text)
	if block, rest := pem.Decode(text); block != nil && block.Type == "PUBLIC KEY" && len(bytes.TrimSpace(rest)) == 0 {
		parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
		public, ok := parsed.(ed25519.PublicKey)
		return public, ok && err == nil
	}
	id := ""
	switch {
	case bytes.HasPrefix(text, []byte("did:key:z6Mk")):
		id = string(text)
	case bytes.HasPrefix(text, []byte("z6Mk")):
		id = "did:key:" + string(text)
	case bytes.HasPrefix(text, []byte("{")):
		members, ok := jwkMembers(text)
		public := make([]byte, ed25519.PublicKeySize)
		if !ok || members["d"] != nil || !jwkIs(members, "kty", "OKP") || !jwkIs(members, "crv", "Ed25519") ||
			!fromBase64(public, members["x"]) {
			return nil, false
		}
		return public, true
	}
	d, err := did.Parse(id)
	if err != nil {
		return nil, false
	}
	public, err := did.LocalKey(d)
	return public, err == nil
}

// withText gives read the text of a key's file, which is overwritten afterwards. No error repeats a key that was given
// as the name of the file.
func withText(path string, stdin io.Reader, read func(text []byte) error) (warning string, err error) {
	if path != Stdin {
		if IsKey(path) {
			return "", ErrIsKey()
		}
		// As for all files: a FIFO that nobody writes to must not hold the program up.
		f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if unrepeated(path) && err != nil {
			return "", remedy.Errorf(private, "reading the key: there is no file of the name that was given, which is "+
				"not repeated since it may be a key")
		}
		if err != nil {
			return "", fmt.Errorf("reading the key: %w", err)
		}
		defer f.Close()
		warning = exposed(f, path)
		stdin = f
	}
	text := make([]byte, MaxBytes+1) // one piece of memory, so that one is to be wiped
	defer clear(text)
	n, err := io.ReadFull(stdin, text)
	switch {
	case err == nil:
		return "", remedy.Errorf(private, "the key's file has more than %d bytes, a key has fewer", MaxBytes)
	case !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
		return "", fmt.Errorf("reading the key: %w", err)
	}
	if bytes.HasPrefix(text, []byte("\xef\xbb\xbf")) {
		if path == Stdin {
			path = "FILE"
		}
		return "", remedy.Errorf("save "+path+" without byte order mark",
			"the key's file begins with a byte order mark")
	}
	return warning, read(text[:n])
}

// exposed says who else may read a file. Windows has no such bits.
func exposed(f *os.File, path string) string {
	info, err := f.Stat()
	if err != nil || runtime.GOOS == "windows" || !info.Mode().IsRegular() || info.Mode().Perm()&0o044 == 0 {
		return ""
	}
	return fmt.Sprintf("others than its owner may read the key's file (mode %04o): chmod 600 %s", info.Mode().Perm(),
		path)
}

// parse distinguishes the forms of a key. It leaves parts of the key only in text and seed.
func parse(text, seed []byte) (*Key, error) {
	text = bytes.TrimSpace(text)
	begins := func(with string) bool { return bytes.HasPrefix(text, []byte(with)) }
	switch {
	case len(text) == 0:
		return nil, remedy.Errorf(private, "the key's file is empty")
	case bytes.Contains(text, []byte(begin)):
		return fromPEM(text, seed)
	case begins("{"):
		return fromJWK(text, seed)
	case begins("ssh-"):
		return nil, remedy.Errorf(makeOne, "the file holds a key in the format of OpenSSH, which is not read")
	case begins("did:"), begins("z6Mk"), begins("MCowBQYDK2Vw"):
		return nil, remedy.Errorf(private, "the file holds a public key, and a public key cannot sign")
	case begins("z"):
		return fromMultikey(text, seed)
	case begins("PuTTY-User-Key-File"):
		return nil, remedy.Errorf(makeOne, "the file holds a key of PuTTY, which is not read")
	case begins(logKeyLine):
		return nil, remedy.Errorf(makeOne, "the file holds the key of a log, which signs only log checkpoints")
	case begins("PRIVATE+KEY+"):
		return nil, remedy.Errorf(makeOne, "the file holds the key of a signed note, which is only for checkpoints")
	}
	return nil, remedy.Errorf(private, "the file holds neither PKCS #8 PEM nor a JWK nor a Multikey")
}

const begin = "-----BEGIN "

func fromPEM(text, seed []byte) (*Key, error) {
	block, rest := pem.Decode(text)
	if block == nil {
		return nil, remedy.Errorf(private, "the PEM text is cut off or broken")
	}
	defer clear(block.Bytes)
	switch kind := block.Type; {
	case kind == "ENCRYPTED PRIVATE KEY", strings.Contains(block.Headers["Proc-Type"], "ENCRYPTED"):
		return nil, ErrEncrypted
	case kind == "OPENSSH PRIVATE KEY":
		return nil, remedy.Errorf(makeOne, "the key is in the format of OpenSSH, which is not read")
	case strings.HasSuffix(kind, "PUBLIC KEY"), kind == "CERTIFICATE":
		return nil, remedy.Errorf(private, "the file holds a public key, and a public key cannot sign")
	case kind == "PGP PRIVATE KEY BLOCK":
		return nil, remedy.Errorf(makeOne, "the key is in the format of OpenPGP, which is not read")
	case strings.HasSuffix(kind, " PRIVATE KEY"), kind == "EC PARAMETERS", kind == "DSA PARAMETERS":
		algorithm, _, _ := strings.Cut(kind, " ")
		return nil, remedy.Errorf(makeOne, "the key is for %.20q; expected Ed25519", algorithm)
	case kind != "PRIVATE KEY":
		return nil, remedy.Errorf(private, "the PEM block is a %.40q; expected a \"PRIVATE KEY\"", kind)
	case bytes.Contains(rest, []byte(begin)):
		return nil, remedy.Errorf("put only the one key into the file", "the file holds more than one PEM block")
	}
	return fromPKCS8(block.Bytes, seed)
}

// algorithms are the names of the other keys that PKCS #8 holds, by object identifier.
var algorithms = map[string]string{
	"1.2.840.113549.1.1.1": "RSA", "1.2.840.113549.1.1.10": "RSA-PSS", "1.2.840.10045.2.1": "ECDSA",
	"1.2.840.10040.4.1": "DSA", "1.3.101.110": "X25519", "1.3.101.111": "X448", "1.3.101.113": "Ed448",
	"2.16.840.1.101.3.4.3.17": "ML-DSA-44", "2.16.840.1.101.3.4.3.18": "ML-DSA-65",
	"2.16.840.1.101.3.4.3.19": "ML-DSA-87",
}

// fromPKCS8 reads the key of RFC 8410 section 7. The parser of crypto/x509 would leave copies behind.
func fromPKCS8(der, seed []byte) (*Key, error) {
	broken := remedy.Errorf(private, "the PEM block holds no PKCS #8 key of RFC 8410")
	var (
		input                          = cryptobyte.String(der)
		key, algorithm, octets, scalar cryptobyte.String
		version                        int
		oid                            asn1.ObjectIdentifier
		public                         cryptobyte.String
		published                      bool
	)
	if !input.ReadASN1(&key, tag.SEQUENCE) || !input.Empty() || !key.ReadASN1Integer(&version) ||
		!key.ReadASN1(&algorithm, tag.SEQUENCE) || !algorithm.ReadASN1ObjectIdentifier(&oid) {
		return nil, broken
	}
	if !oid.Equal(asn1.ObjectIdentifier{1, 3, 101, 112}) {
		name, known := algorithms[oid.String()]
		if !known {
			name = "the algorithm " + oid.String()
		}
		return nil, remedy.Errorf(makeOne, "the key is for %.60s; expected Ed25519", name)
	}
	if version < 0 || version > 1 || !algorithm.Empty() || !key.ReadASN1(&octets, tag.OCTET_STRING) ||
		!octets.ReadASN1(&scalar, tag.OCTET_STRING) || !octets.Empty() || len(scalar) != ed25519.SeedSize ||
		!key.SkipOptionalASN1(tag.Tag(0).ContextSpecific().Constructed()) ||
		!key.ReadOptionalASN1(&public, &published, tag.Tag(1).ContextSpecific()) || !key.Empty() {
		return nil, broken
	}
	copy(seed, scalar)
	if published {
		if len(public) != 1+ed25519.PublicKeySize || public[0] != 0 {
			return nil, broken
		}
		return belonging(seed, public[1:], "the public key in the PEM block")
	}
	return fromSeed(seed), nil
}

// belonging returns the key of a seed. The public key next to the seed, if any, must belong to it.
func belonging(seed, public []byte, name string) (*Key, error) {
	k := fromSeed(seed)
	if !bytes.Equal(k.public, public) {
		k.Wipe()
		return nil, remedy.Errorf(makeOne, "%s is that of another private key", name)
	}
	return k, nil
}

// fromJWK reads a JSON Web Key (RFC 8037 section 2). A reader that makes strings of the members would leave copies that
// nothing can wipe.
func fromJWK(text, seed []byte) (*Key, error) {
	broken := remedy.Errorf(private, "the file begins as a JWK and is not a JSON object with distinct members")
	members, ok := jwkMembers(text)
	switch {
	case !ok:
		return nil, broken
	case members["keys"] != nil:
		return nil, remedy.Errorf("put only the one key into the file", "the file holds a set of JWKs")
	case members["secretKeyMultibase"] != nil || members["privateKeyMultibase"] != nil:
		return nil, remedy.Errorf("put the text of its secret (z…) alone into the file",
			"the file holds a verification method, not a bare key")
	case members["ciphertext"] != nil:
		return nil, remedy.Errorf("decrypt it, and pipe the key in with --key -", "the JWK is encrypted")
	case !jwkIs(members, "kty", "OKP") || !jwkIs(members, "crv", "Ed25519"):
		return nil, remedy.Errorf(makeOne, "the JWK is not of an Ed25519 key; expected the kty OKP and the crv Ed25519")
	case members["d"] == nil:
		return nil, remedy.Errorf(private, "the JWK has no member d: it is a public key, and a public key cannot sign")
	case members["x"] == nil:
		return nil, remedy.Errorf("add x, the public half (RFC 8037 section 2)", "the JWK has no member x")
	}
	public := make([]byte, ed25519.PublicKeySize)
	if !fromBase64(seed, members["d"]) || !fromBase64(public, members["x"]) {
		return nil, remedy.Errorf(private, "d or x of the JWK is not the base64url, without padding, of 32 bytes")
	}
	return belonging(seed, public, "x of the JWK")
}

// jwkMembers returns the members of a JSON object as they are written; false if the text is not an object.
func jwkMembers(text []byte) (map[string][]byte, bool) {
	members := map[string][]byte{}
	d := jsontext.NewDecoder(bytes.NewBuffer(text)) // which reads the text where it is
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return nil, false
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return nil, false
		}
		of := name.String()
		value, err := d.ReadValue()
		if err != nil {
			return nil, false
		}
		members[of] = value
	}
	_, err := d.ReadToken()
	return members, err == nil && len(bytes.TrimSpace(text[d.InputOffset():])) == 0
}

// jwkIs reports whether a member is a text, in its one spelling without escapes.
func jwkIs(members map[string][]byte, name, value string) bool {
	return string(members[name]) == `"`+value+`"`
}

// fromBase64 decodes a JSON string of base64url, in the one spelling that has no escapes, to all of dst.
func fromBase64(dst, value []byte) bool {
	text, ok := bytes.CutPrefix(value, []byte{'"'})
	text, end := bytes.CutSuffix(text, []byte{'"'})
	if !ok || !end || len(text) != base64.RawURLEncoding.EncodedLen(len(dst)) {
		return false
	}
	n, err := base64.RawURLEncoding.Strict().Decode(dst, text)
	return err == nil && n == len(dst)
}

// fromMultikey reads the secret of a Multikey: the seed, or as some suites write it the seed and the public key.
func fromMultikey(text, seed []byte) (*Key, error) {
	var raw [2 + ed25519.PrivateKeySize]byte
	defer clear(raw[:])
	for _, size := range []int{2 + ed25519.SeedSize, len(raw)} {
		secret := raw[:size]
		clear(secret)
		if !fromBase58(secret, text[1:]) || !bytes.HasPrefix(secret, privateCodec) {
			continue
		}
		copy(seed, secret[2:])
		if size == len(raw) {
			return belonging(seed, secret[2+ed25519.SeedSize:], "the public key in the Multikey")
		}
		return fromSeed(seed), nil
	}
	return nil, remedy.Errorf(private,
		"the Multikey is not the secret of an Ed25519 key (multicodec 0x1300, base58btc)")
}

const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

// fromBase58 decodes text to a number that takes exactly all of dst, which must be zero; the base58 library would leave
// copies behind.
func fromBase58(dst, text []byte) bool {
	if len(text) > 2*len(dst) {
		return false
	}
	for _, c := range text {
		carry := strings.IndexByte(alphabet, c)
		if carry < 0 {
			return false
		}
		for i := len(dst) - 1; i >= 0; i-- {
			carry += 58 * int(dst[i])
			dst[i] = byte(carry)
			carry >>= 8
		}
		if carry != 0 {
			return false
		}
	}
	return len(text) > 0 && text[0] != '1'
}
