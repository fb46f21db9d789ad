package privatekey

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"

	"github.com/mr-tron/base58"
	"golang.org/x/crypto/ssh"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// seed is a secret that nobody published.
var seed = bytes.Repeat([]byte{0x5a, 0x17, 0xc3, 0x99}, 8)

func block(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func pkcs8(t *testing.T, key any) []byte {
	der := must.Get(x509.MarshalPKCS8PrivateKey(key))(t)
	return der
}

func multi(codec string, key []byte) string {
	return "z" + base58.Encode(append([]byte(codec), key...))
}

// utf16LE is a text as PowerShell writes it.
func utf16LE(text string) string {
	out := []byte("\xff\xfe")
	for _, c := range text {
		out = append(out, byte(c), 0)
	}
	return string(out)
}

func TestFind(t *testing.T) {
	ed := ed25519.NewKeyFromSeed(seed)
	whole := block("PRIVATE KEY", pkcs8(t, ed))
	ec := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	sec1 := must.Get(x509.MarshalECPrivateKey(ec))(t)
	rs := must.Get(rsa.GenerateKey(rand.Reader, 2048))(t)
	openssh, err := ssh.MarshalPrivateKey(ed, "me")
	must.OK(t, err)
	sshPlain := string(pem.EncodeToMemory(openssh))
	if openssh, err = ssh.MarshalPrivateKeyWithPassphrase(ed, "me", []byte("secret")); err != nil {
		t.Fatal(err)
	}
	public := must.Get(x509.MarshalPKIXPublicKey(ed.Public()))(t)
	// what PBES2 makes of a key: an algorithm and its parameters, then the ciphertext
	encrypted := append([]byte{0x30, 0x35, 0x30, 0x0f, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x05, 0x0d,
		0x30, 0x02, 0x05, 0x00, 0x04, 0x22}, bytes.Repeat([]byte{7}, 34)...)
	legacy := "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n" +
		"DEK-Info: AES-128-CBC,00112233445566778899AABBCCDDEEFF" +
		"\n\n" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{9}, 48)) + "\n-----END RSA PRIVATE KEY-----\n"
	d := base64.RawURLEncoding.EncodeToString(seed)
	jwk := `{"kty":"OKP","crv":"Ed25519","x":"` + d + `","d":"` + d + `"}`
	filler := strings.Repeat("0123456789abcde\n", 3<<16) // 3 MiB

	for name, text := range map[string]string{
		"PKCS #8":                 whole,
		"with CR LF":              strings.ReplaceAll(whole, "\n", "\r\n"),
		"indented":                "key: |\n  " + strings.ReplaceAll(whole, "\n", "\n  "),
		"in a JSON text":          fmt.Sprintf("{%q: %q}", "key", whole),
		"in a program":            `"` + strings.ReplaceAll(whole, "\n", "\\n\" +\n\"") + `"`,
		"with prose around":       "Here it is:\n" + whole + "bye",
		"after another's head":    "-----BEGIN PRIVATE KEY-----\n(cut)\n" + whole,
		"at the end of 3 MiB":     filler + whole,
		"at the start of 3 MiB":   whole + filler,
		"across the end of a MiB": filler[:window-20] + whole + filler + filler,
		"RSA, PKCS #8":            block("PRIVATE KEY", pkcs8(t, rs)),
		"RSA, PKCS #1":            block("RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(rs)),
		"EC, SEC 1":               block("EC PRIVATE KEY", sec1),
		"EC, PKCS #8":             block("PRIVATE KEY", pkcs8(t, ec)),
		"OpenSSH":                 sshPlain,
		"OpenSSH, encrypted":      string(pem.EncodeToMemory(openssh)),
		"PKCS #8, encrypted":      block("ENCRYPTED PRIVATE KEY", encrypted),
		"PKCS #1, encrypted":      legacy,
		"OpenPGP": "-----BEGIN PGP PRIVATE KEY BLOCK-----\nVersion: 1\n\n" +
			"lQVYBGV4YW1wbGVleGFtcGxlZXhhbXBsZQ==\n=abcd\n-----END PGP PRIVATE KEY BLOCK-----",
		"JWK":                       jwk,
		"in UTF-16":                 utf16LE(whole),
		"JWK, two members d":        strings.TrimSuffix(jwk, "}") + `,"d":"x"}`,
		"JWK, two members kty":      strings.TrimSuffix(jwk, "}") + `,"kty":"x"}`,
		"JWK, then broken":          `{"a":` + strings.TrimSuffix(jwk, "}") + `,"x":[{`,
		"Multikey after a mark":     "\ufeff" + multi("\x80\x26", seed),
		"JWK, pretty":               strings.ReplaceAll(jwk, ",", ",\n  "),
		"JWK, d first":              `{"d":"` + d + `","kty":"OKP","crv":"Ed25519"}`,
		"JWK set":                   `{"keys":[{"kty":"oct"},` + jwk + `]}`,
		"JWK in a document":         `{"verificationMethod":[{"publicKeyJwk":` + jwk + `}]}`,
		"JWK, escaped name":         `{"kty":"OKP","crv":"Ed25519","\u0064":"` + d + `"}`,
		"JWK, second line":          "{}\n" + jwk,
		"JWK at the end of 3 MiB":   `{"filler":"` + strings.Repeat("a", 3<<20) + `","key":` + jwk + `}`,
		"JWK, cut":                  strings.TrimSuffix(jwk, "}"),
		"JWK, EC":                   `{"kty":"EC","crv":"P-256","d":"` + d + `"}`,
		"JWK, RSA":                  `{"kty":"RSA","n":"x","d":"` + base64.RawURLEncoding.EncodeToString(rs.D.Bytes()) + `"}`,
		"secretKeyMultibase":        `{"secretKeyMultibase":"` + multi("\x80\x26", seed) + `"}`,
		"privateKeyMultibase":       `{"a":[{"privateKeyMultibase":"` + multi("\x80\x26", ed) + `"}]}`,
		"privateKeyMultibase, bare": `{"privateKeyMultibase":"` + multi("", ed) + `"}`,
		"secretKeyMultibase, P-256": `{"secretKeyMultibase":"` + multi("\x86\x26", seed) + `"}`,
		"Multikey":                  multi("\x80\x26", seed) + "\n",
	} {
		if Find([]byte(text)) == "" {
			t.Errorf("%s: not found", name)
		}
	}
	for name, text := range map[string]string{
		"nothing":            "",
		"a public key":       block("PUBLIC KEY", public),
		"a public SSH key":   "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ2U1q0H8mUAAAAA me",
		"a certificate":      block("CERTIFICATE", encrypted),
		"a head in prose":    "It begins with -----BEGIN PRIVATE KEY----- and ends with -----END PRIVATE KEY-----.",
		"a head without end": "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIFoXw5laF8OZ",
		"dots for a body":    "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----\n",
		"words for a body": "-----BEGIN PRIVATE KEY-----\nput your key in here, and nothing else\n" +
			"-----END PRIVATE KEY-----\n",
		"a public key so named":   block("PRIVATE KEY", public),
		"a day":                   `{"kty":"x","d":"Monday"}`,
		"a day without kty":       `{"y":2026,"m":5,"d":"4"}`,
		"a d that is a number":    `{"kty":"OKP","crv":"Ed25519","d":4}`,
		"a d without kty":         `{"crv":"Ed25519","d":"` + d + `"}`,
		"a d elsewhere":           `{"kty":"OKP","crv":"Ed25519","meta":{"d":"` + d + `"}}`,
		"a short d":               `{"kty":"OKP","crv":"Ed25519","d":"` + d[:40] + `"}`,
		"a public JWK":            `{"kty":"OKP","crv":"Ed25519","x":"` + d + `"}`,
		"a public Multikey":       `{"publicKeyMultibase":"` + multi("\xed\x01", seed) + `"}`,
		"a public one, misplaced": `{"secretKeyMultibase":"` + multi("\xed\x01", seed) + `"}`,
		"a placeholder":           `{"secretKeyMultibase":"z…"}`,
		"a public Multikey alone": multi("\xed\x01", seed),
		"a DID":                   "did:key:" + multi("\xed\x01", seed),
		"a Multikey in prose":     "the key " + multi("\x80\x26", seed) + " is no text of its own",
		"in the middle":           filler + whole + filler,
		"broken JSON":             `{"d":`,
		"JSON of no object":       `["d", "` + d + `"]`,
	} {
		if kind := Find([]byte(text)); kind != "" {
			t.Errorf("%s: %s", name, kind)
		}
	}
}

// Each byte of a file of heads is read a bounded number of times: what a head begins ends at the next one.
func TestFindHeads(t *testing.T) {
	heads := strings.Repeat("-----BEGIN PRIVATE KEY-----\n", window/28) + "-----END PRIVATE KEY-----\n"
	whole := block("PRIVATE KEY", pkcs8(t, ed25519.NewKeyFromSeed(seed)))
	if kind := Find([]byte(heads + heads)); kind != "" {
		t.Error(kind)
	}
	if Find([]byte(heads[:maxPEM]+whole)) == "" {
		t.Error("a key after many heads was not found")
	}
}

// What RFCs print passes, in each form.
func TestFindPublished(t *testing.T) {
	const head = "\x30\x2e\x02\x01\x00\x30\x05\x06\x03\x2b\x65\x70\x04\x22\x04\x20"
	for _, k := range secrets {
		secret := must.Get(hex.DecodeString(k.secret))(t)
		d := base64.RawURLEncoding.EncodeToString(secret)
		texts := map[string][]string{
			"ed25519": {block("PRIVATE KEY", append([]byte(head), secret...)), `{"kty":"OKP","crv":"Ed25519","d":"` + d + `"}`, multi("\x80\x26", secret),
				`{"secretKeyMultibase":"` + multi("\x80\x26", secret) + `"}`},
			"x25519": {`{"kty":"OKP","crv":"X25519","d":"` + d + `"}`},
			"p256":   {`{"kty":"EC","crv":"P-256","d":"` + d + `"}`},
			"p521":   {`{"kty":"EC","crv":"P-521","d":"` + d + `"}`},
			"rsa":    {`{"kty":"RSA","d":"` + d + `"}`},
		}[k.kind]
		for _, text := range texts {
			if kind := Find([]byte(text)); kind != "" {
				t.Errorf("%s: %s in %s", k.source, kind, text)
			}
		}
	}
	// RFC 8410 section 10.3, as printed
	if kind := Find([]byte("-----BEGIN PRIVATE KEY-----\n" +
		"MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n" +
		"-----END PRIVATE KEY-----\n")); kind != "" {
		t.Error(kind)
	}
}

func FuzzFind(f *testing.F) {
	f.Add([]byte("-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIFoXw5laF8OZ\n-----END PRIVATE KEY-----"))
	f.Add([]byte(`{"kty":"OKP","crv":"Ed25519","d":"aa"}`))
	f.Add([]byte("z3u2"))
	f.Fuzz(func(t *testing.T, text []byte) {
		kind := Find(text)
		if again := Find(bytes.Clone(text)); again != kind {
			t.Errorf("%q: %s, then %s", text, kind, again)
		}
	})
}
