package signature

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// vectors are what the reference JavaScript makes of JSON texts, with the key of RFC 8032 section 7.1 TEST 1.
type vectors struct {
	Key struct {
		Seed   string `json:"seed_hex"`
		Public string `json:"public_hex"`
	}
	Canonical []struct {
		Name, Input, SHA256, Signature string
		Canonical                      string `json:"canonical_hex"`
		Refused                        bool
	}
	Bytes      []struct{ Name, Body string }
	Signatures struct {
		Message string
		Cases   []struct {
			Name, Value string
			Node        bool
		}
	}
	SmallOrder []struct {
		Name      string
		Public    string `json:"public_hex"`
		Signature string `json:"signature_hex"`
		Node      int    // for how many of 64 messages it accepts the signature
	} `json:"small_order"`
}

func load(t testing.TB) *vectors {
	t.Helper()
	text := must.Read(t, "testdata/vectors.json")
	v := new(vectors)
	must.OK(t, json.Unmarshal(text, v))
	return v
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	raw := must.Get(hex.DecodeString(s))(t)
	return raw
}

var limits = strict.Limits{Bytes: 1 << 20, Depth: 64, Number: 64}

func TestCanonicalVectors(t *testing.T) {
	v := load(t)
	if len(v.Canonical) != 73 {
		t.Fatalf("%d vectors, want 73", len(v.Canonical))
	}
	key := must.Get(PublicKey(unhex(t, v.Key.Public)))(t)
	refused := 0
	for _, c := range v.Canonical {
		t.Run(c.Name, func(t *testing.T) {
			d, err := strict.Parse("x", []byte(c.Input), limits)
			if c.Refused {
				refused++
				if err == nil {
					t.Fatal("accepted")
				}
				return
			}
			must.OK(t, err)
			got := must.Get(Canonical(d.Root))(t)
			if want := unhex(t, c.Canonical); !bytes.Equal(got, want) {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			sum := sha256.Sum256(got)
			if hex.EncodeToString(sum[:]) != c.SHA256 {
				t.Errorf("sha256 %x, want %s", sum, c.SHA256)
			}
			sig := must.Get(Text(c.Signature))(t)
			if !Verify(key, got, sig) {
				t.Error("signature does not verify")
			}
			if Verify(key, append(got, ' '), sig) {
				t.Error("signature verifies for another message")
			}
			if ours := ed25519.Sign(ed25519.NewKeyFromSeed(unhex(t, v.Key.Seed)), got); !bytes.Equal(ours, sig) {
				t.Error("signing gives another signature")
			}
		})
	}
	if refused != 11 {
		t.Errorf("%d refused, want 11", refused)
	}
}

// The reference replaces bytes that are no UTF-8 and drops a byte order mark; the gate refuses such texts.
func TestByteVectors(t *testing.T) {
	want := map[string]string{
		"bytes/bom":              strict.CodeBOM,
		"bytes/invalid-utf8":     strict.CodeInvalidUTF8,
		"bytes/overlong-slash":   strict.CodeInvalidUTF8,
		"bytes/surrogate-utf8":   strict.CodeInvalidUTF8,
		"bytes/replacement-char": "",
	}
	for _, c := range load(t).Bytes {
		body := must.Get(base64.StdEncoding.DecodeString(c.Body))(t)
		got := ""
		if _, err := strict.Parse("x", body, limits); err != nil {
			got = err.(*strict.Error).Code
		}
		code, ok := want[c.Name]
		if !ok || got != code {
			t.Errorf("%s: %q, want %q", c.Name, got, code)
		}
		delete(want, c.Name)
	}
	if len(want) > 0 {
		t.Errorf("no vector for %v", want)
	}
}

func TestSignatureEncodings(t *testing.T) {
	v := load(t)
	key := must.Get(PublicKey(unhex(t, v.Key.Public)))(t)
	var message []byte
	for _, c := range v.Canonical {
		if c.Name == v.Signatures.Message {
			message = unhex(t, c.Canonical)
		}
	}
	// Node skips whatever is no base64 and stray bits: one signature then has many texts. The gate takes the
	// text that an encoder writes, nothing else.
	laxer := map[string]bool{"inner-newline": true, "inner-spaces": true, "garbage-chars": true, "trailing-bits": true,
		"text-after-padding": true}
	for _, c := range v.Signatures.Cases {
		sig, err := Text(c.Value)
		got := err == nil && Verify(key, message, sig)
		want := c.Node
		if laxer[c.Name] {
			if !c.Node {
				t.Errorf("%s: node is no laxer here", c.Name)
			}
			want = false
		}
		if got != want {
			t.Errorf("%s: %v, want %v (%v)", c.Name, got, want, err)
		}
		if strings.Contains(c.Name, "malleated") && err != nil {
			t.Errorf("%s: the text is right, the signature is not: %v", c.Name, err)
		}
	}
}

func TestSmallOrderKeys(t *testing.T) {
	message := []byte("any message")
	for _, c := range load(t).SmallOrder {
		raw := unhex(t, c.Public)
		_, err := PublicKey(raw)
		want := ErrSmallOrder
		if strings.HasPrefix(c.Name, "noncanonical") {
			want = ErrNonCanonical
		}
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", c.Name, err, want)
		}
		if c.Node == 64 && !ed25519.Verify(raw, message, unhex(t, c.Signature)) {
			t.Errorf("%s: crypto/ed25519 refuses it by itself now", c.Name)
		}
	}
}

func TestPublicKeyRefuses(t *testing.T) {
	outside := make([]byte, 32)
	outside[0] = 2 // y = 2 has no x
	negativeZero := make([]byte, 32)
	negativeZero[0], negativeZero[31] = 1, 0x80 // the identity with the sign of x set
	for name, c := range map[string]struct {
		raw  []byte
		want error
	}{
		"nil":           {nil, ErrKeySize},
		"31 bytes":      {make([]byte, 31), ErrKeySize},
		"64 bytes":      {make([]byte, 64), ErrKeySize},
		"not on curve":  {outside, ErrNotOnCurve},
		"negative zero": {negativeZero, ErrNonCanonical},
	} {
		if _, err := PublicKey(c.raw); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if _, err := PublicKey(append([]byte{1}, make([]byte, 31)...)); err == nil ||
		!strings.Contains(err.Error(), "anyone can sign in its name") {
		t.Errorf("the identity: %v", err)
	}
	if Verify(nil, nil, make([]byte, 64)) || Verify(make([]byte, 5), nil, nil) {
		t.Error("verified without a key")
	}
}

func TestText(t *testing.T) {
	raw := bytes.Repeat([]byte{0xfb, 0xff}, 32)
	for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding,
		base64.RawURLEncoding} {
		text := e.EncodeToString(raw)
		if got, err := Text(text); err != nil || !bytes.Equal(got, raw) {
			t.Errorf("Text(%s) = %x, %v", text, got, err)
		}
	}
	plain := base64.RawStdEncoding.EncodeToString(raw)
	for name, text := range map[string]string{
		"nothing":         "",
		"both alphabets":  "-" + strings.Repeat("+", 85),
		"one pad":         plain + "=",
		"three pads":      plain + "===",
		"pad in front":    "==" + plain,
		"two line ends":   plain[:84] + "\r\n",
		"line ends added": plain + "\n\n",
		"blank":           " " + plain,
		"pads inside":     plain[:84] + "==",
		"not ASCII":       plain[:84] + "é",
		"hex":             hex.EncodeToString(raw),
		"multibase":       "u" + plain,
		"long":            strings.Repeat("A", 1<<20),
	} {
		if _, err := Text(text); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

func TestCanonicalWithout(t *testing.T) {
	d := must.Get(strict.Parse("x", []byte(`{"b":1,"signatures":[2],"a":{"signatures":3}}`), limits))(t)
	got, err := CanonicalWithout(d.Root, "signatures", "absent")
	if err != nil || string(got) != `{"a":{"signatures":3},"b":1}` {
		t.Errorf("%s, %v", got, err)
	}
	if len(d.Root.(map[string]any)) != 3 {
		t.Error("the document was changed")
	}
	for _, root := range []any{nil, []any{}, "s", json.Number("1")} {
		if got, err := CanonicalWithout(root); err == nil {
			t.Errorf("%v: %s", root, got)
		}
	}
	for _, root := range []any{json.Number("1e400"), json.Number("NaN"), func() {}, []any{make(chan int)}} {
		if got, err := Canonical(root); err == nil {
			t.Errorf("%v: %s", root, got)
		}
	}
}

func TestRounded(t *testing.T) {
	text := `{
		"exact": [0, -0, 0.0, 0e999999999999999999999, 1, 1.0, 1E2, 100e-2, 0.1, 1e21, 1e-7, 4.350, 9007199254740992,
			9007199254740994, 9007199254740991, 1.7976931348623157e308, 5e-324, -2.5, 123456789.125, 1e23],
		"rounded": [9007199254740993, 18446744073709551616, 0.1000000000000000055, 1e-400, -1e-999999999999999999999,
			2e-324, 1.00000000000000000001, 12345678901234567890],
		"a~/b": {"c": -9007199254740993}
	}`
	d := must.Get(strict.Parse("x", []byte(text), limits))(t)
	if got := Rounded(d.Root); got != "/a~0~1b/c" {
		t.Errorf("%q", got)
	}
	for text, want := range map[string]string{
		`{"a": 1, "b": [0.5]}`:                          "",
		`[]`:                                            "",
		`{"b": [1, 1e-400], "c": 1e-400}`:               "/b/1",
		`{"a!": 1e-400, "a": [1e-400]}`:                 "/a!",
		`{"a!": 1e-400, "a": 1e-400}`:                   "/a",
		`{"a0": [1e-400], "a": {"": 1e-400}}`:           "/a/",
		`[0, 0, 1e-400, 0, 0, 0, 0, 0, 0, 0, [1e-400]]`: "/10/0",
	} {
		d := must.Get(strict.Parse("x", []byte(text), limits))(t)
		if got := Rounded(d.Root); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// TestRoundedAlone checks numbers one by one, on both sides of what is exact.
func TestRoundedAlone(t *testing.T) {
	for token, want := range map[string]bool{
		"0": false, "-0": false, "0e5": false, "-0.0e5": false, "0e999999999999999999999": false, "1e400": true,
		"-1e400": true, "999999999999999": false, "1.00000000000001": false, "9007199254740992": false,
		"9007199254740993": true, "1e-400": true, "5e-324": false, "2e-324": true, "1E2": false, "100e-2": false,
	} {
		if got := Rounded(map[string]any{"a": json.Number(token)}) != ""; got != want {
			t.Errorf("%s: %v; expected %v", token, got, want)
		}
	}
}

// TestShortIsExact checks what rounded takes for granted of a number of up to 15 characters.
func TestShortIsExact(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		token := fmt.Sprint(random.Int64N(1e15))
		if at := random.IntN(len(token)); at > 0 && len(token) < 15 {
			token = token[:at] + "." + token[at:]
		}
		f, err := strconv.ParseFloat(token, 64)
		if err != nil || decimalOf(strconv.FormatFloat(f, 'e', -1, 64)) != decimalOf(token) {
			t.Fatalf("%s becomes %v, %v", token, f, err)
		}
	}
}

// The canonical form of what strict.Parse accepts is strict JSON, of the same value, and its own canonical
// form.
func FuzzCanonical(f *testing.F) {
	for _, c := range load(f).Canonical {
		f.Add([]byte(c.Input))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := strict.Parse("x", data, limits)
		if err != nil {
			return
		}
		first := must.Get(Canonical(d.Root))(t)
		again, err := strict.Parse("y", first, limits)
		if err != nil {
			t.Fatalf("%s: %v", first, err)
		}
		second, err := Canonical(again.Root)
		if err != nil || !bytes.Equal(first, second) {
			t.Fatalf("%s, then %s (%v)", first, second, err)
		}
		if rounded := Rounded(again.Root); rounded != "" {
			t.Fatalf("canonical form %s is rounded at %q", first, rounded)
		}
		var before, after any
		if json.Unmarshal(data, &before) != nil || json.Unmarshal(first, &after) != nil {
			t.Fatal("encoding/json refuses the text")
		}
		if !reflect.DeepEqual(before, after) {
			t.Fatalf("%s is not %s", first, data)
		}
	})
}

// An accepted text decodes to 64 bytes and is one of their four encodings.
func FuzzText(f *testing.F) {
	for _, c := range load(f).Signatures.Cases {
		f.Add(c.Value)
	}
	f.Fuzz(func(t *testing.T, s string) {
		raw, err := Text(s)
		if err != nil {
			return
		}
		if len(raw) != 64 {
			t.Fatalf("%d bytes", len(raw))
		}
		for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding,
			base64.RawURLEncoding} {
			if e.EncodeToString(raw) == s {
				return
			}
		}
		t.Fatalf("%q is none of the encodings of %x", s, raw)
	})
}
