package jws

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

func TestParseKey(t *testing.T) {
	for text, want := range map[string]string{
		"":                      "expected a public key",
		"{}":                    "expected a public key",
		`{"kty":"oct","k":"x"}`: "expected a public key",
		`{"kty":"EC","crv":"P-384","x":"AA","y":"AA"}`: "not one of P-256",
		point: "",
		`{"kty":"OKP","crv":"Ed25519","x":"AAAA"}`:                              "not one of Ed25519",
		`{"kty":"OKP","crv":"Ed25519","x":"` + zeros + `","d":"` + zeros + `"}`: "private key",
		`{"kty":"RSA","n":"AQAB","e":"AQAB"}`:                                   "17 bits; expected 2048",
		`{"kty":"RSA","n":"` + strings.Repeat("B", 4096) + `","e":"AQAB"}`:      "to 16384",
		`{"kty":"RSA","n":"` + strings.Repeat("B", 400) + `","e":"AQ"}`:         "usual size",
		"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n": "expected a " +
			"public key",
		"-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n":                           "asn1",
		"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n":                         "x509",
		"-----BEGIN PUBLIC KEY-----\n" + ed448 + "\n-----END PUBLIC KEY-----\n":                  "",
		"-----BEGIN RSA PUBLIC KEY-----\nAAAA\n-----END RSA PUBLIC KEY-----\n":                   "asn1",
		"-----BEGIN RSA PUBLIC KEY-----\nMAYCAQMCAQM=\n-----END RSA PUBLIC KEY-----\n":           "2048",
		"-----BEGIN PUBLIC KEY-----\n" + ed25519Key + "\n-----END PUBLIC KEY-----\n":             "none",
		`{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}` + "\n": "none",
	} {
		key, err := ParseKey([]byte(text))
		switch {
		case want == "none" && (err != nil || key == nil):
			t.Errorf("%q: %v", text, err)
		case want != "none" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

const (
	point      = `{"kty":"EC","crv":"P-256","x":"` + zeros + `","y":"` + zeros + `"}` // on no curve
	zeros      = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	ed25519Key = "MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="
	ed448      = "MEMwBQYDK2VxAzoAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
)

func TestParseJWS(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "1 parts",
		"a.b":                     "2 parts",
		"a.b.c.d":                 "4 parts",
		"e30=.e30.e30":            "part 1",
		"e30.e3.e30":              "part 2", // bits that no decoder needs
		"e30.e30.e 30":            "part 3",
		"W10.e30.e30":             "not an object",
		"e30K.e30.e30":            "",
		"eyJjcml0IjpbXX0.e30.":    "crit",
		"bm90IEpTT04.e30.":        "not JSON",
		"eyJhIjoxLCJhIjoyfQ.e30.": "not JSON", // a member twice
	} {
		j, wrong := Parse(text)
		if want == "" && (j == nil || wrong != "") || !strings.Contains(wrong, want) {
			t.Errorf("%q: %q, want %q", text, wrong, want)
		}
	}
	for _, alg := range []string{"", "none", "None", "HS256", "ES384", "RS256 "} {
		if (&Signed{Alg: alg}).Known() {
			t.Errorf("%q is known", alg)
		}
	}
}

// TestLargeKey requires a key of a certificate to be of a usual size: one signature of a larger one takes minutes.
func TestLargeKey(t *testing.T) {
	_, ca, err := ed25519.GenerateKey(nil)
	must.OK(t, err)
	for bits, want := range map[int]bool{leastRSA - 1: false, leastRSA: true, mostRSA: true, mostRSA + 1: false} {
		n := new(big.Int).SetBit(big.NewInt(1), bits-1, 1)
		template := &x509.Certificate{SerialNumber: big.NewInt(1)}
		der, err := x509.CreateCertificate(nil, template, template, &rsa.PublicKey{N: n, E: 65537}, ca)
		must.OK(t, err)
		j := &Signed{header: map[string]any{"x5c": []any{base64.StdEncoding.EncodeToString(der)}}}
		_, err = ParseKey(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
		if got := j.OwnKey() != nil; got != want || (err == nil) != want {
			t.Errorf("a key of %d bits is taken: %v, as a file %v", bits, got, err)
		}
	}
}

// A certificate whose key is of an unknown kind is refused: it must not count as no key.
func TestUnknownKey(t *testing.T) {
	public, ca, err := ed25519.GenerateKey(nil)
	must.OK(t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	der := must.Get(x509.CreateCertificate(nil, template, template, public, ca))(t)
	of448 := bytes.Replace(der, []byte("\x2b\x65\x70\x03\x21\x00"), []byte("\x2b\x65\x71\x03\x21\x00"), 1)
	for want, der := range map[string][]byte{"": der, "unknown kind": of448} {
		key, err := ParseKey(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
		if got := fmt.Sprint(err); (want == "") != (key != nil) || want != "" && !strings.Contains(got, want) {
			t.Errorf("%v %s, want %q", key, got, want)
		}
	}
}

// What a stranger signs is read without a panic, whatever it is.
func FuzzJWS(f *testing.F) {
	f.Add("eyJhbGciOiJFUzI1NiJ9.e30.AAAA")
	f.Add("eyJhbGciOiJFZERTQSIsImp3ayI6eyJrdHkiOiJPS1AiLCJjcnYiOiJFZDI1NTE5IiwieCI6IkFBQUEifX0.e30.AAAA")
	f.Fuzz(func(t *testing.T, text string) {
		if j, _ := Parse(text); j != nil {
			if key := j.OwnKey(); key != nil {
				j.By(key)
			}
		}
		if key, err := ParseKey([]byte(text)); (key == nil) == (err == nil) {
			t.Errorf("%v %v", key, err)
		}
	})
}

// The signatures of RFC 7515 appendix A.3 and RFC 8037 appendix A.4 verify, and no other key made them. What Sign makes
// verifies by its key, and not with a change.
func TestSignatures(t *testing.T) {
	const es256 = `{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",` +
		`"y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}`
	const ed25519Own = `{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`
	for text, own := range map[string]string{
		"eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290" +
			"Ijp0cnVlfQ.DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q": es256,
		"eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhi" +
			"jcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg": ed25519Own,
	} {
		j, wrong := Parse(text)
		for _, key := range []string{es256, ed25519Own} {
			public, err := ParseKey([]byte(key))
			if wrong != "" || err != nil || j.By(public) != (key == own) {
				t.Errorf("%s: %s %v, by %s: %t", text, wrong, err, key, key != own)
			}
		}
	}
	_, private, err := ed25519.GenerateKey(nil)
	must.OK(t, err)
	text, err := Sign(private, "", true, []byte("{}"))
	if j, wrong := Parse(text); err != nil || wrong != "" || !j.By(j.OwnKey()) {
		t.Errorf("%s: %v %s", text, err, wrong)
	}
	if j, wrong := Parse(strings.Replace(text, ".e30.", ".W10.", 1)); wrong != "" || j.By(j.OwnKey()) {
		t.Errorf("a changed payload verifies: %s", wrong)
	}
}
