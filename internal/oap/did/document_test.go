package did

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mr-tron/base58"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

func public(name string) ed25519.PublicKey {
	seed := sha256.Sum256([]byte(name))
	return ed25519.NewKeyFromSeed(seed[:]).Public().(ed25519.PublicKey)
}

func multibase(raw []byte) string {
	return "z" + base58.Encode(append([]byte{0xed, 0x01}, raw...))
}

func jwk(raw []byte) string {
	return fmt.Sprintf(`{"kty":"OKP","crv":"Ed25519","x":%q}`, base64.RawURLEncoding.EncodeToString(raw))
}

// suited is a JWK with more members.
func suited(raw []byte, members string) string {
	return jwk(raw)[:len(jwk(raw))-1] + "," + members + "}"
}

func method(id, kind, member, value string) string {
	return fmt.Sprintf(`{"id":%q,"type":%q,"controller":"did:web:example.org",%q:%s}`, id, kind, member, value)
}

func document(members string) string {
	return `{"@context":["https://www.w3.org/ns/did/v1",{"privateKeyJwk":{"@id":"x"}}],"id":"did:web:example.org",` +
		members + `}`
}

// now is when the documents are read.
var now = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

var want = must(Parse("did:web:example.org"))

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// mixed is the key of RFC 8032 section 7.1 TEST 1 plus the point of order 2.
var mixed = must(hex.DecodeString("16a567fe7d4ef5482ab4012c369bf8c5f11e8d0c2559dcda50fde59708f8aee5"))

var identity = append([]byte{1}, make([]byte, 31)...)

func TestParseDocument(t *testing.T) {
	a, b := public("a"), public("b")
	tests := []struct {
		name, members, keys string
	}{
		{"JsonWebKey2020", `"verificationMethod":[` + method("did:web:example.org#1", "JsonWebKey2020", "publicKeyJwk",
			jwk(a)) + `]`, "did:web:example.org#1=a"},
		{"JsonWebKey", `"verificationMethod":[` + method("did:web:example.org#1", "JsonWebKey", "publicKeyJwk",
			jwk(a)) + `]`, "did:web:example.org#1=a"},
		{"Multikey", `"verificationMethod":[` + method("did:web:example.org#1", "Multikey", "publicKeyMultibase",
			`"`+multibase(a)+`"`) + `]`, "did:web:example.org#1=a"},
		{"2020", `"verificationMethod":[` + method("did:web:example.org#1", "Ed25519VerificationKey2020",
			"publicKeyMultibase", `"`+multibase(a)+`"`) + `]`, "did:web:example.org#1=a"},
		{"2018", `"verificationMethod":[` + method("did:web:example.org#1", "Ed25519VerificationKey2018",
			"publicKeyBase58", `"`+base58.Encode(a)+`"`) + `]`, "did:web:example.org#1=a"},
		{"2018 with a JWK", `"verificationMethod":[` + method("#1", "Ed25519VerificationKey2018", "publicKeyJwk",
			jwk(a)) + `]`, "did:web:example.org#1=a"},
		{"2018 with one key in both forms", `"verificationMethod":[` + strings.Replace(method("#1",
			"Ed25519VerificationKey2018", "publicKeyJwk", jwk(a)), "{",
			`{"publicKeyBase58":"`+base58.Encode(a)+`",`, 1) + `]`, "did:web:example.org#1=a"},
		{"JWK for signatures", `"verificationMethod":[` + method("#1", "JsonWebKey", "publicKeyJwk",
			suited(a, `"use":"sig","key_ops":["sign","verify"],"alg":"EdDSA"`)) + `]`, "did:web:example.org#1=a"},
		{"JWK for Ed25519", `"verificationMethod":[` + method("#1", "JsonWebKey", "publicKeyJwk",
			suited(a, `"key_ops":["verify"],"alg":"Ed25519"`)) + `]`, "did:web:example.org#1=a"},
		{"2018 with a JWK for signatures", `"verificationMethod":[` + method("#1", "Ed25519VerificationKey2018",
			"publicKeyJwk", suited(a, `"key_ops":["verify"]`)) + `]`, "did:web:example.org#1=a"},
		{"unsuited ones next to it", `"verificationMethod":[` +
			method("#2", "JsonWebKey", "publicKeyJwk", suited(b, `"use":"enc"`)) + `,` +
			method("#3", "Multikey", "publicKeyMultibase", `"z`+base58.Encode(b)+`"`) + `,` +
			method("#1", "JsonWebKey", "publicKeyJwk", jwk(a)) + `]`, "did:web:example.org#1=a"},
		{"relative id", `"verificationMethod":[` + method("#1", "JsonWebKey", "publicKeyJwk", jwk(a)) +
			`],"assertionMethod":["#1"]`, "did:web:example.org#1=a! has"},
		{"reference by either form", `"verificationMethod":[` + method("#1", "JsonWebKey", "publicKeyJwk", jwk(a)) +
			`],"assertionMethod":["did:web:example.org#1"]`, "did:web:example.org#1=a! has"},
		{"outside assertionMethod", `"verificationMethod":[` + method("#1", "JsonWebKey", "publicKeyJwk", jwk(a)) +
			`,` + method("#2", "JsonWebKey", "publicKeyJwk", jwk(b)) + `],"assertionMethod":["#2"]`,
			"did:web:example.org#1=a did:web:example.org#2=b! has"},
		{"empty assertionMethod", `"verificationMethod":[` + method("#1", "JsonWebKey", "publicKeyJwk", jwk(a)) +
			`],"assertionMethod":[]`, "did:web:example.org#1=a has"},
		{"lone reference", `"verificationMethod":[` + method("#1", "JsonWebKey", "publicKeyJwk", jwk(a)) +
			`],"assertionMethod":"#1"`, "did:web:example.org#1=a! has"},
		{"embedded", `"assertionMethod":[` + method("#1", "JsonWebKey", "publicKeyJwk", jwk(a)) +
			`],"authentication":[` + method("#2", "JsonWebKey", "publicKeyJwk", jwk(b)) + `]`,
			"did:web:example.org#1=a! did:web:example.org#2=b has"},
		{"embedded for encryption", `"assertionMethod":[` + method("#1", "JsonWebKey", "publicKeyJwk", jwk(a)) +
			`],"keyAgreement":[` + method("#2", "JsonWebKey", "publicKeyJwk", jwk(b)) + `]`,
			"did:web:example.org#1=a! has"},
		{"the same key twice", `"verificationMethod":[` + method("#1", "JsonWebKey", "publicKeyJwk", jwk(a)) +
			`],"assertionMethod":[` + method("#1", "JsonWebKey", "publicKeyJwk", jwk(a)) + `]`,
			"did:web:example.org#1=a! has"},
		{"other controller and id",
			`"verificationMethod":[{"id":"did:web:example.net#k","type":"JsonWebKey","controller":"did:web:example.net","publicKeyJwk":` + jwk(a) + `}]`, "did:web:example.net#k=a"},
		{"other key types beside", `"verificationMethod":[` +
			method("#rsa", "JsonWebKey2020", "publicKeyJwk", `{"kty":"RSA","n":"AQAB","e":"AQAB"}`) + `,` +
			method("#p256", "Multikey", "publicKeyMultibase", `"zDnaerDaTF5BXEavCrfRZEk316dpbLsfPDZ3WJ5hRTPFU2169"`) +
			`,` +
			method("#x", "X25519KeyAgreementKey2020", "publicKeyMultibase",
				`"z6LSbysY2xFMRpGMhb7tFTLMpeuPRaqaWM1yECx2AtzE3KCc"`) + `,` +
			method("#u", "Multikey", "publicKeyMultibase", `"u7QEx"`) + `,` +
			method("#1", "JsonWebKey", "publicKeyJwk", jwk(a)) + `]`, "did:web:example.org#1=a"},
		{"unreadable ones beside", `"verificationMethod":[` +
			method("#short", "JsonWebKey", "publicKeyJwk", jwk(a[:31])) + `,` +
			method("#none", "JsonWebKey", "publicKeyPem", `"x"`) + `,` +
			method("#mixed", "Ed25519VerificationKey2020", "publicKeyJwk", jwk(b)) + `,` +
			method("", "JsonWebKey", "publicKeyJwk", jwk(b)) + `,` +
			method("#1", "JsonWebKey", "publicKeyJwk", jwk(a)) + `]`, "did:web:example.org#1=a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := document(tt.members)
			d, err := ParseDocument("u", []byte(text), want, now)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, k := range d.Keys {
				s := k.ID + "="
				for _, n := range []string{"a", "b"} {
					if k.Public.Equal(public(n)) {
						s += n
					}
				}
				if k.Assertion {
					s += "!"
				}
				got = append(got, s)
			}
			if d.HasAssertion {
				got = append(got, "has")
			}
			if s := strings.Join(got, " "); s != tt.keys {
				t.Errorf("got %s, want %s", s, tt.keys)
			}
			if d.DID != want.Text {
				t.Errorf("%+v", d)
			}
		})
	}
}

// A method that says it is over is not usable, whichever member says so and wherever it stands.
func TestParseDocumentOver(t *testing.T) {
	a, b := public("a"), public("b")
	one := func(members string) string {
		return strings.Replace(method("#1", "JsonWebKey", "publicKeyJwk", jwk(a)), "{", "{"+members+",", 1)
	}
	two := method("#2", "Multikey", "publicKeyMultibase", `"`+multibase(b)+`"`)
	for _, tt := range []struct{ name, members, keys, over string }{
		{"revoked", `"verificationMethod":[` + one(`"revoked":"2026-06-01T12:00:00Z"`) + `,` + two + `]`,
			"did:web:example.org#2", "revoked is 2026-06-01T12:00:00Z"},
		{"expired", `"verificationMethod":[` + one(`"expires":"2026-06-01T13:59:59+02:00"`) + `,` + two + `]`,
			"did:web:example.org#2", "expires is 2026-06-01T13:59:59+02:00"},
		{"later", `"verificationMethod":[` +
			one(`"revoked":"2026-06-01T12:00:00.001Z","expires":"2027-01-01T00:00:00Z"`) + `]`, "did:web:example.org#1",
			""},
		{"absent", `"verificationMethod":[` + one(`"revoked":null,"expires":false`) + `],"deactivated":false`,
			"did:web:example.org#1", ""},
		{"null", `"verificationMethod":[` + one(`"revoked":false,"expires":null`) + `],"deactivated":null`,
			"did:web:example.org#1", ""},
		{"no time", `"verificationMethod":[` + one(`"revoked":"2099-01-01"`) + `,` + two + `]`, "did:web:example.org#2",
			`revoked is "2099-01-01", which is not an RFC 3339 time`},
		{"no text", `"verificationMethod":[` + one(`"revoked":true`) + `,` + two + `]`, "did:web:example.org#2",
			"revoked is no text, which is not an RFC 3339 time"},
		{"again elsewhere", `"verificationMethod":[` + two + `,` + method("#1", "JsonWebKey", "publicKeyJwk", jwk(a)) +
			`],"authentication":[` + one(`"revoked":"2026-01-01T00:00:00Z"`) + `]`,
			"did:web:example.org#2", "revoked is 2026-01-01T00:00:00Z"},
	} {
		d, err := ParseDocument("u", []byte(document(tt.members)), want, now)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		var keys, over []string
		for _, k := range d.Keys {
			keys = append(keys, k.ID)
		}
		for _, k := range d.Over {
			over = append(over, k.Why)
		}
		if strings.Join(keys, " ") != tt.keys || strings.Join(over, " ") != tt.over {
			t.Errorf("%s: usable %q, over %q", tt.name, keys, over)
		}
	}
}

// A key is the same material in whatever form it stands.
func TestMaterial(t *testing.T) {
	a := public("a")
	encoded := func(jwk string) string { return "did:jwk:" + base64.RawURLEncoding.EncodeToString([]byte(jwk)) }
	const p256 = `"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"`
	point, err := base64.RawURLEncoding.DecodeString("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU")
	if err != nil {
		t.Fatal(err)
	}
	d, err := ParseDocument("u",
		[]byte(document(`"verificationMethod":[`+method("#1", "JsonWebKey", "publicKeyJwk", jwk(a))+`,`+
			method("#2", "JsonWebKey", "publicKeyJwk", `{`+p256+`}`)+`]`)), want, now)
	if err != nil {
		t.Fatal(err)
	}
	for text, holds := range map[string]bool{
		"did:key:" + multibase(a):                true,
		"did:key:1.1:" + multibase(a):            true,
		"did:key:" + multibase(public("b")):      false,
		encoded(jwk(a)):                          true,
		encoded(` { "use":"sig", ` + jwk(a)[1:]): true,
		encoded(jwk(public("b"))):                false,
		encoded(`{` + p256 + `}`):                true,
		"did:key:z" + base58.Encode(append([]byte{0x80, 0x24, 3}, point...)): true,
		"did:web:example.org": false,
		"did:ion:x":           false,
	} {
		m, err := Material(must(Parse(text)))
		if err != nil || slices.Contains(d.Material, m) != holds {
			t.Errorf("%s: %q, %v, want %v among %q", text, m, err, holds, d.Material)
		}
	}
	for _, text := range []string{"did:key:z", "did:key:x", "did:key:z0OIl",
		"did:key:u" + base64.RawURLEncoding.EncodeToString(append([]byte{0xed, 1}, a...)), "did:jwk:e30", "did:jwk:x",
		"did:jwk:" + base64.RawURLEncoding.EncodeToString([]byte(`{"kty":"OKP","kty":"OKP"}`))} {
		if m, err := Material(must(Parse(text))); err == nil {
			t.Errorf("%s: %q", text, m)
		}
	}
}

func TestParseDocumentRefuses(t *testing.T) {
	a, b := public("a"), public("b")
	good := method("#1", "JsonWebKey", "publicKeyJwk", jwk(a))
	weak := map[string]string{
		"small order":   jwk(identity),
		"non-canonical": jwk(append([]byte{0xee}, append([]byte(strings.Repeat("\xff", 30)), 0x7f)...)),
	}
	tests := []struct {
		name, text, code, pos string
	}{
		{"no JSON", `<html>`, strict.CodeSyntax, "u:1:1"},
		{"duplicate id", `{"id":"did:web:example.org",` + "\n" + `"id":"did:web:example.org"}`,
			strict.CodeDuplicateMember, "u:2:1"},
		{"array", `[]`, CodeShape, "u:1:1"},
		{"no id", `{"verificationMethod":[` + good + `]}`, CodeID, "u:1:1"},
		{"other id", "{\n" + `"id":"did:web:example.net","verificationMethod":[` + good + `]}`, CodeID, "u:2:1"},
		{"id in another case", `{"id":"did:web:Example.org","verificationMethod":[` + good + `]}`, CodeID, "u:1:2"},
		{"id with a fragment", `{"id":"did:web:example.org#","verificationMethod":[` + good + `]}`, CodeID, "u:1:2"},
		{"id no text", `{"id":["did:web:example.org"],"verificationMethod":[` + good + `]}`, CodeID, "u:1:2"},
		{"methods no array", document(`"verificationMethod":` + good), CodeShape, ""},
		{"method no object", document(`"verificationMethod":["#1"]`), CodeShape, ""},
		{"no keys", document(`"verificationMethod":[]`), CodeNoKey, ""},
		{"no methods", document(`"x":1`), CodeNoKey, ""},
		{"references alone", document(`"assertionMethod":["#1"]`), CodeNoKey, ""},
		{"short key alone",
			document(`"verificationMethod":[` + method("#1", "JsonWebKey", "publicKeyJwk", jwk(a[:31])) + `]`),
			CodeNoKey, ""},
		{"padded x",
			document(`"verificationMethod":[` + method("#1", "JsonWebKey", "publicKeyJwk",
				`{"kty":"OKP","crv":"Ed25519","x":"`+base64.URLEncoding.EncodeToString(a)+`"}`) + `]`), CodeNoKey, ""},
		{"line end in x",
			document(`"verificationMethod":[` + method("#1", "JsonWebKey", "publicKeyJwk",
				`{"kty":"OKP","crv":"Ed25519","x":"\n`+base64.RawURLEncoding.EncodeToString(a)+`"}`) + `]`), CodeNoKey,
			""},
		{"X25519",
			document(`"verificationMethod":[` + method("#1", "JsonWebKey", "publicKeyJwk",
				strings.Replace(jwk(a), "Ed25519", "X25519", 1)) + `]`), CodeNoKey, ""},
		{"long multibase", document(`"verificationMethod":[` + method("#1", "Multikey", "publicKeyMultibase", `"z`+
			strings.Repeat("6", 100000)+`"`) + `]`), CodeNoKey, ""},
		{"private JWK member",
			document(`"verificationMethod":[` + method("#1", "JsonWebKey", "publicKeyJwk",
				strings.Replace(jwk(a), "{", `{"d":"AA",`, 1)) + `]`), CodePrivateKey, ""},
		{"private JWK of another type", document(`"verificationMethod":[` + good + `,` +
			method("#2", "JsonWebKey", "publicKeyJwk", `{"kty":"EC","crv":"P-256","x":"A","y":"A","d":"A"}`) + `]`),
			CodePrivateKey, ""},
		{"private RSA", document(`"verificationMethod":[` + good + `,` + method("#2", "JsonWebKey", "publicKeyJwk",
			`{"kty":"RSA","n":"A","e":"A","p":"A"}`) + `]`), CodePrivateKey, ""},
		{"privateKeyJwk", document(`"verificationMethod":[` + strings.Replace(good, "{", `{"privateKeyJwk":{},`, 1) +
			`]`), CodePrivateKey, ""},
		{"privateKeyMultibase",
			document(`"verificationMethod":[` + strings.Replace(good, "{", `{"privateKeyMultibase":"z",`, 1) + `]`),
			CodePrivateKey, ""},
		{"privateKeyBase58", document(`"verificationMethod":[` + strings.Replace(good, "{", `{"privateKeyBase58":"z",`,
			1) + `]`), CodePrivateKey, ""},
		{"privateKeyHex", document(`"verificationMethod":[` + strings.Replace(good, "{", `{"privateKeyHex":"z",`, 1) +
			`]`), CodePrivateKey, ""},
		{"secretKeyMultibase in an embedded method",
			document(`"verificationMethod":[` + good + `],"keyAgreement":[{"secretKeyMultibase":"z"}]`), CodePrivateKey,
			""},
		{"private key outside methods",
			document(`"verificationMethod":[` + good + `],"service":[{"a":[{"PrivateKeyPem":""}]}]`), CodePrivateKey,
			""},
		{"weak 2018 key",
			document(`"verificationMethod":[` + method("#1", "Ed25519VerificationKey2018", "publicKeyBase58",
				`"`+base58.Encode(identity)+`"`) + `]`), CodeWeakKey, ""},
		{"2018 with two keys", document(`"verificationMethod":[` + strings.Replace(method("#1",
			"Ed25519VerificationKey2018", "publicKeyJwk", jwk(a)), "{",
			`{"publicKeyBase58":"`+base58.Encode(b)+`",`, 1) + `]`), CodeKeyID, ""},
		{"2018 with a key and a broken one", document(`"verificationMethod":[` + strings.Replace(method("#1",
			"Ed25519VerificationKey2018", "publicKeyJwk", jwk(a)), "{", `{"publicKeyBase58":"0",`, 1) + `]`), CodeNoKey, ""},
		{"weak JWK for encryption", document(`"verificationMethod":[` + good + `,` +
			method("#2", "JsonWebKey", "publicKeyJwk", suited(mixed, `"use":"enc"`)) + `]`), CodeWeakKey, ""},
		{"Multikey without a prefix", document(`"verificationMethod":[` +
			method("#1", "Multikey", "publicKeyMultibase", `"z`+base58.Encode(a)+`"`) + `]`), CodePrefix, ""},
		{"2020 key without a prefix", document(`"verificationMethod":[` +
			method("#1", "Ed25519VerificationKey2020", "publicKeyMultibase", `"z`+base58.Encode(a)+`"`) + `]`),
			CodePrefix, ""},
		{"weak key without a prefix", document(`"verificationMethod":[` +
			method("#1", "Multikey", "publicKeyMultibase", `"z`+base58.Encode(mixed)+`"`) + `]`), CodeNoKey, ""},
		{"200 keys that cannot be used", document(`"verificationMethod":[` + strings.Repeat(method("#"+
			strings.Repeat("é", 90), "JsonWebKey", "publicKeyJwk", suited(a, `"use":"enc"`))+`,`, MaxKeys-1) +
			method("#2", "JsonWebKey", "publicKeyJwk", suited(b, `"use":"enc"`)) + `]`), CodeNoKey, ""},
		{"mixed JWK", document(`"verificationMethod":[` + good + `,` +
			method("#2", "JsonWebKey", "publicKeyJwk", jwk(mixed)) + `]`), CodeWeakKey, ""},
		{"mixed Multikey", document(`"verificationMethod":[` + good + `,` +
			method("#2", "Multikey", "publicKeyMultibase", `"`+multibase(mixed)+`"`) + `]`), CodeWeakKey, ""},
		{"mixed 2020 key", document(`"verificationMethod":[` + good + `,` +
			method("#2", "Ed25519VerificationKey2020", "publicKeyMultibase", `"`+multibase(mixed)+`"`) + `]`),
			CodeWeakKey, ""},
		{"mixed 2018 key", document(`"verificationMethod":[` + good + `,` +
			method("#2", "Ed25519VerificationKey2018", "publicKeyBase58", `"`+base58.Encode(mixed)+`"`) + `]`),
			CodeWeakKey, ""},
		{"weak embedded key", document(`"verificationMethod":[` + good + `],"authentication":[` +
			method("#2", "Multikey", "publicKeyMultibase", `"`+multibase(identity)+`"`) + `]`), CodeWeakKey, ""},
		{"one id, two keys", document(`"verificationMethod":[` + good + `,` +
			method("did:web:example.org#1", "JsonWebKey", "publicKeyJwk", jwk(b)) + `]`), CodeKeyID, ""},
		{"all keys over",
			document(`"verificationMethod":[` + strings.Replace(good, "{", `{"revoked":"2026-01-01T00:00:00Z",`, 1) +
				`]`), CodeKeysOver, ""},
		{"one id, two keys, one over", document(`"verificationMethod":[` + good + `,` +
			strings.Replace(method("#1", "JsonWebKey", "publicKeyJwk", jwk(b)), "{",
				`{"revoked":"2026-01-01T00:00:00Z",`, 1) + `]`), CodeKeyID, ""},
		{"deactivated", document(`"deactivated":true,"verificationMethod":[` + good + `]`), CodeDeactivated, ""},
		{"deactivated in another way", document(`"deactivated":{},"verificationMethod":[` + good + `]`),
			CodeDeactivated, ""},
		{"published, for agreement", document(`"verificationMethod":[` + good + `],"keyAgreement":[` +
			method("#3", "Multikey", "publicKeyMultibase", `"z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw"`) + `]`), CodePublished, ""},
		{"201 methods and entries", document(`"verificationMethod":[` + good + `],"assertionMethod":[` +
			strings.Repeat(`"#1",`, 99) + `"#1"],"authentication":[` + strings.Repeat(`"#1",`, 49) +
			`"#1"],"keyAgreement":[` + strings.Repeat(`"#1",`, 49) + `{}]`), CodeManyKeys, ""},
		{"201 methods", document(`"verificationMethod":[` + strings.Repeat(`{},`, MaxKeys) + good + `]`), CodeManyKeys,
			""},
		{"large", `"` + strings.Repeat("a", MaxBytes) + `"`, strict.CodeTooLarge, "u"},
		{"deep", strings.Repeat("[", 100000), strict.CodeTooDeep, "u:1:65"},
	}
	for name, key := range weak {
		text := document(`"verificationMethod":[` + good + `,` + method("#2", "JsonWebKey2020", "publicKeyJwk", key) +
			`]`)
		tests = append(tests, struct{ name, text, code, pos string }{name, text, CodeWeakKey, ""})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			d, err := ParseDocument("u", []byte(tt.text), want, now)
			if err == nil {
				t.Fatalf("accepted: %+v", d)
			}
			e := err.(*DocumentError)
			if e.Code != tt.code || tt.pos != "" && e.Pos.String() != tt.pos {
				t.Errorf("%s at %s (%v), want %s at %s", e.Code, e.Pos, e, tt.code, tt.pos)
			}
			if len(e.Message) > 1000 {
				t.Errorf("message of %d bytes", len(e.Message))
			}
		})
	}
}

// A JWK for something else does not verify signatures, and the error says why, for each key that is there.
func TestUnsuited(t *testing.T) {
	a := public("a")
	for members, why := range map[string]string{
		`"use":"enc"`:                          `use of the JWK is "enc"; expected "sig"`,
		`"use":""`:                             `use of the JWK is ""; expected "sig"`,
		`"use":"SIG"`:                          `use of the JWK is "SIG"; expected "sig"`,
		`"use":null`:                           `use of the JWK is null; expected "sig"`,
		`"key_ops":[]`:                         `key_ops of the JWK lacks "verify"`,
		`"key_ops":["sign"]`:                   `key_ops of the JWK lacks "verify"`,
		`"key_ops":"verify"`:                   `key_ops of the JWK lacks "verify"`,
		`"key_ops":null`:                       `key_ops of the JWK lacks "verify"`,
		`"key_ops":["Verify",["verify"]]`:      `key_ops of the JWK lacks "verify"`,
		`"alg":"ES256"`:                        `alg of the JWK is "ES256"; expected "EdDSA" or "Ed25519"`,
		`"alg":"eddsa"`:                        `alg of the JWK is "eddsa"; expected "EdDSA" or "Ed25519"`,
		`"alg":"Ed448"`:                        `alg of the JWK is "Ed448"; expected "EdDSA" or "Ed25519"`,
		`"alg":{}`:                             `alg of the JWK is no text; expected "EdDSA" or "Ed25519"`,
		`"use":"sig","key_ops":["deriveBits"]`: `key_ops of the JWK lacks "verify"`,
	} {
		for _, kind := range []string{"JsonWebKey2020", "JsonWebKey", "Ed25519VerificationKey2018"} {
			_, err := ParseDocument("u", []byte(document(`"verificationMethod":[`+
				method("#1", kind, "publicKeyJwk", suited(a, members))+`,`+
				method("#2", "Multikey", "publicKeyMultibase", `"z6LSbysY2xFMRpGMhb7tFTLMpeuPRaqaWM1yECx2AtzE3KCc"`)+
				`],"keyAgreement":[`+method("#3", "JsonWebKey", "publicKeyJwk", jwk(a))+`]`)), want, now)
			if e, ok := err.(*DocumentError); !ok || e.Code != CodeNoKey ||
				!strings.Contains(e.Message, `key "did:web:example.org#1": `+why) ||
				!strings.Contains(e.Message, `key "did:web:example.org#2": multicodec is not ed25519-pub`) ||
				!strings.Contains(e.Message, `key "did:web:example.org#3": it is for key agreement only`) {
				t.Errorf("%s, %s: %v", kind, members, err)
			}
		}
	}
}

// The value that the error prints makes the document right.
func TestPrefixMissing(t *testing.T) {
	text := document(`"verificationMethod":[` + method("#1", "Multikey", "publicKeyMultibase",
		`"z`+base58.Encode(public("a"))+`"`) + `]`)
	_, err := ParseDocument("u", []byte(text), want, now)
	right := multibase(public("a"))
	if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("expected %q", right)) {
		t.Fatal(err)
	}
	text = strings.Replace(text, "z"+base58.Encode(public("a")), right, 1)
	if d, err := ParseDocument("u", []byte(text), want, now); err != nil || d.Unprefixed != nil {
		t.Errorf("%+v, %v", d, err)
	}
	// Next to a usable key it condemns nothing, and is still named.
	text = document(`"verificationMethod":[` + method("#1", "JsonWebKey", "publicKeyJwk", jwk(public("b"))) + `,` +
		method("#2", "Multikey", "publicKeyMultibase", `"z`+base58.Encode(public("a"))+`"`) + `]`)
	d, err := ParseDocument("u", []byte(text), want, now)
	if err != nil || len(d.Keys) != 1 || len(d.Unprefixed) != 1 || !strings.Contains(d.Unprefixed[0], right) {
		t.Errorf("%+v, %v", d, err)
	}
}

// A method that holds more than one key hides none of them from who asks whether two documents share one.
func TestMaterialOfAll(t *testing.T) {
	a, b := public("a"), public("b")
	decoy := strings.Replace(method("#1", "Multikey", "publicKeyMultibase", `"`+multibase(a)+`"`), "{",
		`{"publicKeyJwk":`+jwk(b)+`,`, 1)
	d, err := ParseDocument("u", []byte(document(`"verificationMethod":[`+decoy+`]`)), want, now)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range [][]byte{a, b} {
		m, err := Material(must(Parse("did:key:" + multibase(key))))
		if err != nil || !slices.Contains(d.Material, m) {
			t.Errorf("%q is not among %q (%v)", m, d.Material, err)
		}
	}
	if !d.Keys[0].Public.Equal(a) {
		t.Errorf("%x is the key, want that of publicKeyMultibase", d.Keys[0].Public)
	}
}

func TestDocumentKey(t *testing.T) {
	d, err := ParseDocument("u",
		[]byte(document(`"verificationMethod":[`+method("#1", "JsonWebKey", "publicKeyJwk", jwk(public("a")))+`]`)),
		want, now)
	if err != nil {
		t.Fatal(err)
	}
	for id, found := range map[string]bool{"#1": true, "did:web:example.org#1": true, "": false, "#": false, "1": false,
		"#2": false, "did:web:example.net#1": false} {
		if _, ok := d.Key(id); ok != found {
			t.Errorf("Key(%q): %v", id, ok)
		}
	}
}

func TestLocal(t *testing.T) {
	text := "did:key:" + multibase(public("a"))
	doc, err := Local(must(Parse(text)))
	if err != nil {
		t.Fatal(err)
	}
	k, ok := doc.Key("#" + multibase(public("a")))
	if !ok || !k.Public.Equal(public("a")) ||
		!k.Assertion || !doc.HasAssertion || doc.DID != text {
		t.Errorf("%+v", doc)
	}
	for _, text := range []string{
		"did:web:example.org", "did:key:6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw", "did:key:z6Mk", "did:key:z",
		"did:key:z0OIl", "did:key:zDnaerDaTF5BXEavCrfRZEk316dpbLsfPDZ3WJ5hRTPFU2169", "did:key:" + multibase(identity),
		"did:key:" + multibase(mixed),
		"did:key:" + multibase(public("a")[:31]), "did:key:" + multibase(append(public("a"), 0)),
		"did:key:z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw", // published: RFC 8032 section 7.1 TEST 1
		"did:key:1.1:z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw",
		"did:key:z" + strings.Repeat("1", 2000),
	} {
		if doc, err := Local(must(Parse(text))); err == nil {
			t.Errorf("%s: accepted as %+v", text, doc)
		}
	}
}

// Whatever is accepted is of the DID, holds sound keys under ids of their own, and nothing private.
func FuzzParseDocument(f *testing.F) {
	f.Add([]byte(document(`"verificationMethod":[` + method("#1", "JsonWebKey", "publicKeyJwk", jwk(public("a"))) +
		`],"assertionMethod":["#1"]`)))
	f.Add([]byte(document(`"assertionMethod":[` + method("#1", "Multikey", "publicKeyMultibase",
		`"`+multibase(public("a"))+`"`) + `]`)))
	f.Add([]byte(document(`"assertionMethod":` + method("#1", "Ed25519VerificationKey2018", "publicKeyBase58",
		`"`+base58.Encode(public("a"))+`"`))))
	f.Add([]byte(document(`"verificationMethod":[` + method("#1", "JsonWebKey", "publicKeyJwk", jwk(identity)) + `]`)))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := ParseDocument("u", data, want, now)
		if err != nil {
			if _, ok := err.(*DocumentError); !ok || d != nil {
				t.Fatalf("%T, %v", err, d)
			}
			return
		}
		var root map[string]any
		if err := json.Unmarshal(data, &root); err != nil || root["id"] != d.DID {
			t.Fatalf("id is %v (%v)", root["id"], err)
		}
		if len(d.Keys) == 0 || len(d.Keys) > MaxKeys {
			t.Fatalf("%d keys", len(d.Keys))
		}
		seen := map[string]bool{}
		for _, k := range d.Keys {
			if len(k.Public) != ed25519.PublicKeySize || k.ID == "" || seen[k.ID] || k.Assertion && !d.HasAssertion {
				t.Fatalf("%+v", k)
			}
			seen[k.ID] = true
		}
	})
}

// TestForms checks that a document of another form is told from one that only resembles it, and where a method is that
// agrees on keys.
func TestForms(t *testing.T) {
	const published = `{"id":"#3","type":"Multikey","controller":"did:web:example.org",` +
		`"publicKeyMultibase":"z6MktwupdmLXVVqTzCw4i46r4uGyosGXRnR3XjN4Zq7oMMsw"}`
	for _, c := range []struct{ name, text, says, pos, fix string }{
		{"a resolution result", `{"didDocument":{"id":"did:web:example.org"}}`, "is a resolution result", "u:1:2",
			"serve the value of didDocument"},
		{"a document with a member of that name", `{"id":"did:web:example.org","didDocument":{}}`, "has no Ed25519 key",
			"", ""},
		{"a text of that name", `{"didDocument":"x"}`, "", "", ""},
		{"no id", `{"x":{}}`, "", "", ""},
		{"the name of before 2020", document(`"publicKey":[{}]`), "name of before 2020", "",
			"rename publicKey to verificationMethod"},
		{"both names", document(`"publicKey":[{}],"verificationMethod":[]`), "has no Ed25519 key", "", ""},
		{"neither name", document(`"x":1`), "has no Ed25519 key", "", ""},
		{"the second to agree on keys", document("\"keyAgreement\":[\n{},\n" + published + "]"), "is published",
			"u:3:1", ""},
		{"the one to agree on keys", document("\"keyAgreement\":\n" + published), "is published", "u:1:103", ""},
	} {
		_, err := ParseDocument("u", []byte(c.text), want, now)
		e, ok := err.(*DocumentError)
		if !ok || !strings.Contains(e.Message, c.says) || c.fix != "" && e.Fix != c.fix {
			t.Errorf("%s: the error is %v with the fix %q, want %q and %q", c.name, err, e.Fix, c.says, c.fix)
		} else if c.fix == "" && strings.Contains(e.Message, "before 2020") ||
			c.says != "is a resolution result" && strings.Contains(e.Message, "resolution result") {
			t.Errorf("%s: the error is %v", c.name, err)
		} else if c.pos != "" && e.Pos.String() != c.pos {
			t.Errorf("%s: the error is at %s, want %s", c.name, e.Pos, c.pos)
		}
	}
	const test1 = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a" // RFC 8032 section 7.1
	if Published("Ed25519 "+test1) == "" || Published(test1) != "" {
		t.Error("the material of a key of another kind is taken for an Ed25519 key")
	}
}
