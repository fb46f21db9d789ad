package receipt

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/signature"
)

// Each mistake that signers make is named, and none of them verifies.
func TestExplain(t *testing.T) {
	o := valid()
	o["note"] = "Zürich"
	canonical := func(o object, without ...string) []byte {
		text, err := signature.CanonicalWithout(parse(t, o).root(), without...)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	right := canonical(o)
	raw := func(message []byte) []byte { return ed25519.Sign(key("k"), message) }
	b64 := base64.RawURLEncoding.EncodeToString
	short, long := sha256.Sum256(right), sha512.Sum512(right)
	ph, err := key("k").Sign(nil, long[:], &ed25519.Options{Hash: crypto.SHA512})
	if err != nil {
		t.Fatal(err)
	}
	var indented, spaced bytes.Buffer
	if err := json.Indent(&indented, right, "", "  "); err != nil {
		t.Fatal(err)
	}
	spaced.Write(bytes.ReplaceAll(bytes.ReplaceAll(right, []byte(`,"`), []byte(`, "`)), []byte(`":`), []byte(`": `)))
	with := func(name string, value any) object {
		o := maps.Clone(o)
		o[name] = value
		return o
	}
	for name, c := range map[string]struct {
		value string
		want  string
	}{
		"honest but for hex": {hex.EncodeToString(raw(right)), "in hex"},
		"broken over lines":  {b64(raw(right))[:40] + "\n" + b64(raw(right))[40:], "white space"},
		"SHA-256":            {b64(raw(short[:])), "the SHA-256 of the canonical JSON:"},
		"SHA-256 in hex":     {b64(raw([]byte(hex.EncodeToString(short[:])))), "in hex: sign the text"},
		"SHA-512":            {b64(raw(long[:])), "the SHA-512"},
		"Ed25519ph":          {b64(ph), "Ed25519ph"},
		"a line break":       {b64(raw(append(bytes.Clone(right), '\n'))), "a line break"},
		"an empty signatures": {b64(raw(canonical(with("signatures", []any{})))),
			"an empty signatures: leave the member out"},
		"entries, no value": {b64(raw(canonical(with("signatures", []any{object{"by": tool + "#k", "alg": "EdDSA"}})))),
			"except their value"},
		"indented": {b64(raw(indented.Bytes())), "sorted, indented by two blanks"},
		"ASCII": {b64(raw(bytes.ReplaceAll(right, []byte("ü"), []byte(`\u00fc`)))),
			"escapes for letters"},
		"blanks":           {b64(raw(spaced.Bytes())), "blanks after commas and colons"},
		"a member added":   {b64(raw(canonical(o, "note"))), `without "note"`},
		"a member changed": {b64(raw(canonical(with("profile", "commercial")))), `whose profile is "commercial"`},
		"another key":      {b64(ed25519.Sign(key("stranger"), right)), ""},
		"no signature":     {"nothing", ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := maps.Clone(o)
			o["signatures"] = []any{object{"by": tool + "#k", "alg": "EdDSA", "value": c.value}}
			r, d := parse(t, o), document(t, tool, `"verificationMethod":[`+method(tool+"#k", "k")+`]`)
			if VerifyImplementation(r, d, tool).Verified() {
				t.Error("it verifies")
			}
			got := Explain(r, d, tool+"#k", []Known{{[]string{"profile"}, "commercial"}, {[]string{"no", "such"}, "x"},
				{[]string{"type", "below"}, "x"}})
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q in it", got, c.want)
			}
		})
	}
}

// What a stranger serves is not tried for long.
func TestExplainBounds(t *testing.T) {
	o := valid()
	var methods []string
	for i := range 100 {
		id := strings.Repeat("k", i+1)
		methods = append(methods, method(tool+"#"+id, id))
	}
	d := document(t, tool, `"verificationMethod":[`+strings.Join(methods, ",")+`]`)
	o["signatures"] = []any{object{"by": tool + "#x", "alg": "EdDSA", "value": sign(t, o, "stranger")}}
	e := &explainer{keys: d.Keys, root: parse(t, o).root(), raw: make([]byte, 64)}
	if e.explain(parse(t, o).text, "", nil); e.tried != maxTries {
		t.Errorf("%d tries, want the most that are made, %d", e.tried, maxTries)
	}
	o["big"] = strings.Repeat("x", maxExplained)
	if got := Explain(parse(t, o), d, tool+"#x", nil); got != "" {
		t.Errorf("a large Receipt is explained: %s", got)
	}
}
