package did

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mr-tron/base58"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
)

// TestParseEdges checks both sides of each bound, and the characters on either side of each range.
func TestParseEdges(t *testing.T) {
	label := strings.Repeat("a", 63)
	host := strings.Repeat(label+".", 3) + label[:61]
	for text, ok := range map[string]bool{
		"did:ion:" + strings.Repeat("a", MaxLength-8): true,
		"did:ion:" + strings.Repeat("a", MaxLength-7): false,
		"did:web:" + label + ".example":               true,
		"did:web:a" + label + ".example":              false,
		"did:web:" + host:                             true,
		"did:web:a" + host:                            false,
		"did:azAZ09:a":                                true,
		"did:`:a":                                     false,
		"did:{:a":                                     false,
		"did:@:a":                                     false,
		"did:[:a":                                     false,
		"did:/:a":                                     false,
		"did:ion:a:.:b":                               true, // a dot segment is a path only in a did:web
		"did:ion:a:..:b":                              true,
		"did:ion:a:":                                  false,
		"did:ion:#ab":                                 false,
		"did:web:a-z09.example":                       true,
		"did:web:example.de":                          true, // not a hexadecimal number
		"did:web:example.0xg":                         true,
		"did:web:example.0xf":                         false,
		"did:web:example.1-1":                         true,
		"did:web:example.9":                           false,
		"did:web:example.org:a%20b":                   true,
		"did:web:example.org:a%1Fb":                   false,
		"did:web:example.org%3A1":                     true,
		"did:web:example.org%3A65535":                 true,
	} {
		if _, err := Parse(text); (err == nil) != ok {
			t.Errorf("%.80q: %v; expected that it is accepted: %v", text, err, ok)
		}
	}
	for c := range 256 {
		ok := strings.ContainsRune("0123456789abcdefABCDEF", rune(c))
		for _, escape := range []string{"%" + string([]byte{byte(c)}) + "0", "%0" + string([]byte{byte(c)})} {
			if _, err := Parse("did:ion:" + escape); (err == nil) != ok {
				t.Errorf("escape %q: %v", escape, err)
			}
		}
	}
	if got := Spelling("did:web:Z.example"); got != "did:web:z.example" {
		t.Errorf("%q", got)
	}
}

// TestPrivateKeyAnywhere checks where a member is private and where it is not.
func TestPrivateKeyAnywhere(t *testing.T) {
	good := `"verificationMethod":[` + method("#1", "JsonWebKey", "publicKeyJwk", jwk(public("a"))) + `]`
	for members, pos := range map[string]string{
		`"service":[{"p":1,"q":{"d":"x"}}]`:                                 "", // no JWK
		`"service":[{"kty":1,"d":"x"}]`:                                     "",
		`"service":[{"publicKeyJwk":"d"}]`:                                  "",
		`"service":[{"kty":"OKP",` + "\n" + `"d":"x"}]`:                     "u:2:1",
		`"service":[{"publicKeyJwk":{"crv":"Ed25519",` + "\n" + `"k":""}}]`: "u:2:1",
		`"service":[{"kty":"OKP","x":"AA",` + "\n" + `"privateKeyHex":""}]`: "u:2:1",
		`"service":[{"publicKeyJwk":{},` + "\n" + `"secretKeyHex":""}]`:     "u:2:1",
	} {
		_, err := ParseDocument("u", []byte(document(good+","+members)), want, now)
		e, _ := errors.AsType[*DocumentError](err)
		switch {
		case pos == "" && err != nil:
			t.Errorf("%s: %v", members, err)
		case pos != "" && (e == nil || e.Code != CodePrivateKey || e.Pos.String() != pos):
			t.Errorf("%s: %v; expected %s at %s", members, err, CodePrivateKey, pos)
		}
	}
}

// TestRelationshipPosition checks that an error is at the method that has it.
func TestRelationshipPosition(t *testing.T) {
	weak := method("#2", "Multikey", "publicKeyMultibase", `"`+multibase(identity)+`"`)
	for members, pos := range map[string]string{
		`"authentication":["#1",` + "\n" + weak + `]`: "u:2:1",
		`"x":1,` + "\n" + `"authentication":` + weak:  "u:2:1",
	} {
		_, err := ParseDocument("u", []byte(document(members)), want, now)
		if e, ok := errors.AsType[*DocumentError](err); !ok || e.Code != CodeWeakKey || e.Pos.String() != pos {
			t.Errorf("%s: %v; expected %s", members, err, pos)
		}
	}
}

// TestKeyless checks that the error names each key that cannot be used, up to 800 bytes.
func TestKeyless(t *testing.T) {
	text, err := strict.Parse("u", []byte("{}"), strict.Remote(MaxBytes))
	if err != nil {
		t.Fatal(err)
	}
	a, b := strings.Repeat("a", 400), strings.Repeat("b", 400)
	for _, tt := range []struct {
		unusable []string
		want     string
	}{
		{nil, "document has no Ed25519 key; expected at least one"},
		{[]string{"one", "two"}, "document has no usable Ed25519 key: one; two"},
		{[]string{a, b}, "document has no usable Ed25519 key: " + a + "; " + b},
		{[]string{a, "b" + b, "c"}, "document has no usable Ed25519 key: " + a + "; and 2 more"},
		{[]string{a + b + "c", "d"}, "document has no usable Ed25519 key: " + a + b + "c; and 1 more"},
	} {
		r := &reader{text: text, doc: &Document{}, unusable: tt.unusable}
		if e, _ := errors.AsType[*DocumentError](r.keyless()); e == nil || e.Code != CodeNoKey || e.Message != tt.want {
			t.Errorf("%v; expected %s", e, tt.want)
		}
	}
	revoked := strings.Replace(method("#1", "JsonWebKey", "publicKeyJwk", jwk(public("a"))), "{",
		`{"revoked":"2026-01-01T00:00:00Z",`, 1)
	for members, want := range map[string]string{
		`"verificationMethod":[` + revoked + `]`: `key "did:web:example.org#1" is no longer valid (revoked is 2026-01-0`,
		`"keyAgreement":["#1"]`:                  "document has no Ed25519 key; expected at least one",
		`"keyAgreement":{"id":"#1"}`:             `key "did:web:example.org#1": it is for key agreement only`,
		`"verificationMethod":[{"type":"x"}]`:    `key "": it is not an Ed25519 key`,
	} {
		_, err := ParseDocument("u", []byte(document(members)), must(Parse("did:web:example.org")), now)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; expected %s", members, err, want)
		}
	}
	for n, entries := range map[int]int{1: MaxKeys - 1, 100: MaxKeys - 100, MaxKeys: 0} {
		list := strings.Repeat(`{},`, n-1) + method("#1", "JsonWebKey", "publicKeyJwk", jwk(public("a")))
		refers := strings.TrimSuffix(strings.Repeat(`"#1",`, entries), ",")
		for _, name := range []string{"assertionMethod", "authentication", "keyAgreement", "capabilityInvocation"} {
			members := fmt.Sprintf(`"verificationMethod":[%s],%q:[%s]`, list, name, refers)
			if _, err := ParseDocument("u", []byte(document(members)), want, now); err != nil {
				t.Errorf("%d methods and %d entries of %s: %v", n, entries, name, err)
			}
		}
	}
}

// TestKeyForms checks why each form of a key is refused: what looks sound is another key, the rest cannot be read.
func TestKeyForms(t *testing.T) {
	const of2018 = "Ed25519VerificationKey2018"
	a := public("a")
	x := base64.RawURLEncoding.EncodeToString(a)
	okp := func(kty, crv string, x any) any { return map[string]any{"kty": kty, "crv": crv, "x": x} }
	for _, tt := range []struct {
		kind, member string
		value        any
		want         string
	}{
		{"", "publicKeyMultibase", multibase(a), "it is not an Ed25519 key"},
		{"JsonWebKey", "", nil, "there is no object publicKeyJwk"},
		{"JsonWebKey2020", "publicKeyJwk", x, "there is no object publicKeyJwk"},
		{"JsonWebKey", "publicKeyJwk", okp("OKP", "Ed25519", x), ""},
		{"JsonWebKey", "publicKeyJwk", okp("EC", "Ed25519", x), "kty and crv are not OKP and Ed25519"},
		{"JsonWebKey", "publicKeyJwk", okp("OKP", "X25519", x), "kty and crv are not OKP and Ed25519"},
		{"JsonWebKey", "publicKeyJwk", okp("OKP", "Ed25519", nil), "the JWK has no text x"},
		{"JsonWebKey", "publicKeyJwk", okp("OKP", "Ed25519", "!"), "decoding x"},
		{"JsonWebKey", "publicKeyJwk", okp("OKP", "Ed25519", x+"\n"), "as a base64url encoder writes it"},
		{"Multikey", "", nil, "there is no text publicKeyMultibase"},
		{"Multikey", "publicKeyMultibase", multibase(a), ""},
		{"Multikey", "publicKeyMultibase", "u7QEx", "does not begin with z"},
		{"Multikey", "publicKeyMultibase", "z0", "decoding base58"},
		{"Multikey", "publicKeyMultibase", "z" + base58.Encode(append([]byte{0xec, 1}, a...)),
			"multicodec is not ed25519-pub"},
		{of2018, "", nil, "there is no text publicKeyBase58"},
		{of2018, "publicKeyBase58", base58.Encode(a), ""},
		{of2018, "publicKeyBase58", "0", "decoding base58"},
		{of2018, "publicKeyBase58", strings.Repeat("1", maxBase58), "key has 128 bytes"},
		{of2018, "publicKeyBase58", strings.Repeat("1", maxBase58+1), "base58 text has 129 characters"},
		{of2018, "publicKeyJwk", okp("OKP", "Ed25519", nil), "the JWK has no text x"},
	} {
		method := map[string]any{"type": tt.kind, tt.member: tt.value}
		if tt.kind == of2018 && tt.member == "publicKeyJwk" { // a sound key next to a broken JWK
			method["publicKeyBase58"] = base58.Encode(a)
		}
		key, err := publicKey(method)
		if tt.want == "" && (err != nil || !key.Equal(a)) || tt.want != "" && (err == nil ||
			!strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%v: %x, %v; expected %q", method, key, err, tt.want)
		}
		// What is no Ed25519 key has no bytes, and the error does not get lost on the way.
		if raw, _, err := keyBytes(method); err == nil && len(raw) != len(a) && len(raw) != maxBase58 {
			t.Errorf("%v: %x", method, raw)
		}
	}
	for text, other := range map[string]bool{
		"did:ion:" + multibase(a):                                   false,
		"did:key:zDnaerDaTF5BXEavCrfRZEk316dpbLsfPDZ3WJ5hRTPFU2169": true,
	} {
		if doc, err := Local(must(Parse(text))); err == nil || errors.Is(err, errOtherKey) != other {
			t.Errorf("%s: %v, %v", text, doc, err)
		}
	}
}

// TestMaterialForms checks which material each form of a key has, and which texts have none.
func TestMaterialForms(t *testing.T) {
	const of2018 = "Ed25519VerificationKey2018"
	a, zeros := public("a"), make([]byte, MaxLength)
	low, high := slices.Clone([]byte(a)), slices.Clone([]byte(a)) // of one X25519 key
	low[31] &= 0x7f
	high[31] |= 0x80
	multi := slices.Concat([]byte("\xec\x01"), low)
	keyOf := jwk
	type jwk = map[string]string
	for _, tt := range []struct {
		kind, member string
		value        any
		want         string
	}{
		{"", "", nil, ""},
		{of2018, "", nil, ""},
		{of2018, "publicKeyBase58", base58.Encode(a), keyText("Ed25519", a)},
		{of2018, "publicKeyBase58", "0", ""},
		{"x", "publicKeyBase58", base58.Encode(a), ""},
		{"X25519KeyAgreementKey2019", "publicKeyBase58", base58.Encode(low), keyText("X25519", low)},
		{"X25519KeyAgreementKey2020", "publicKeyMultibase", "z" + base58.Encode(multi), keyText("X25519", low)},
		{"Multikey", "publicKeyMultibase", "u" + base64.RawURLEncoding.EncodeToString(multi), keyText("X25519", low)},
		{"JsonWebKey", "publicKeyJwk",
			jwk{"kty": "OKP", "crv": "X25519", "x": base64.RawURLEncoding.EncodeToString(low)}, keyText("X25519", low)},
		{"X25519KeyAgreementKey2019", "publicKeyBase58", base58.Encode(high), keyText("X25519", low)},
		{"Ed25519VerificationKey2018", "publicKeyBase58", base58.Encode(high), fmt.Sprintf("Ed25519 %x", high)},
		{"X25519KeyAgreementKey2019", "publicKeyBase58", base58.Encode(a[:31]), fmt.Sprintf("X25519 %x", a[:31])},
		{"Multikey", "publicKeyMultibase", "", ""},
		{"Multikey", "publicKeyMultibase", "u" + base64.RawURLEncoding.EncodeToString(a[:31]), ""},
		{"Multikey", "publicKeyMultibase", "m" + base64.RawURLEncoding.EncodeToString(multi), ""},
		{"x", "publicKeyJwk", jwk{"kty": "RSA", "n": "AQAB", "x": "AA", "crv": "P-256"}, "RSA 010001"},
		{"x", "publicKeyJwk", jwk{"crv": "P-256", "x": "AA=="}, "P-256 00"},
		{"x", "publicKeyJwk", jwk{"crv": "P-256", "x": "AAAA!"}, ""},
		{"x", "publicKeyJwk", jwk{"crv": "P-256"}, ""},
		{"x", "publicKeyJwk", jwk{"x": "AA"}, ""},
		{"x", "publicKeyMultibase", "z" + base58.Encode(zeros[:31]), ""},
		{"x", "publicKeyMultibase", "z" + base58.Encode(zeros[:32]), keyText("multicodec", zeros[:32])},
		{"x", "publicKeyMultibase", base58.Encode(zeros[:32]), ""},
		{"x", "publicKeyMultibase", "z" + strings.Repeat("1", MaxLength), keyText("multicodec", zeros)},
		{"x", "publicKeyMultibase", "z" + strings.Repeat("1", MaxLength+1), ""},
	} {
		method := map[string]any{"type": tt.kind, tt.member: tt.value}
		if members, ok := tt.value.(jwk); ok {
			object := map[string]any{}
			for name, text := range members {
				object[name] = text
			}
			method[tt.member] = object
		}
		got := material(method)
		if strings.Join(got, ",") != tt.want || tt.want == "" && len(got) > 0 {
			t.Errorf("%v: %.80q; expected %.80q", method, got, tt.want)
		}
	}
	if _, err := Material(must(Parse("did:jwk:x"))); err == nil || !strings.Contains(err.Error(), "is not base64url") {
		t.Error(err)
	}
	for _, members := range []string{
		`"keyAgreement":` + method("#2", "JsonWebKey", "publicKeyJwk", keyOf(a)),
		`"keyAgreement":[` + method("#2", "JsonWebKey", "publicKeyJwk", keyOf(a)) + `]`,
	} {
		d, err := ParseDocument("u", []byte(document(`"verificationMethod":[`+method("#1", "JsonWebKey", "publicKeyJwk",
			keyOf(public("b")))+`],`+members)), want, now)
		if err != nil || len(d.Material) != 2 {
			t.Errorf("%s: %+v, %v", members, d, err)
		}
	}
}
