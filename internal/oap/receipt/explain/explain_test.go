package explain

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/signature"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

const tool = "did:web:tool.example"

// object is a Receipt under construction.
type object = map[string]any

func valid() object {
	return object{
		"type":            "conformance",
		"implementation":  object{"did": tool, "name": "Tool"},
		"profile":         "non-commercial",
		"results_summary": object{"total": 42, "passed": 41, "failed": 1},
		"note":            "Zürich 😀",
	}
}

func key(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte("explain " + name))
	return ed25519.NewKeyFromSeed(seed[:])
}

func encode(t *testing.T, o object) []byte {
	t.Helper()
	text := must.Get(json.MarshalIndent(o, "", "  "))(t)
	return text
}

func canonical(t *testing.T, o object, without ...string) []byte {
	t.Helper()
	text := must.Get(signature.CanonicalWithout(o, without...))(t)
	return text
}

// document returns a DID Document with the keys of those names.
func document(t *testing.T, names ...string) *did.Document {
	t.Helper()
	var methods []string
	for _, name := range names {
		methods = append(methods, fmt.Sprintf(`{"id":"%s#%s","type":"JsonWebKey2020","controller":%[1]q,"publicKeyJwk":`+
			`{"kty":"OKP","crv":"Ed25519","x":%[3]q}}`, tool, name,
			base64.RawURLEncoding.EncodeToString(key(name).Public().(ed25519.PublicKey))))
	}
	id := must.Get(did.Parse(tool))(t)
	doc := must.Get(did.ParseDocument("d", fmt.Appendf(nil, `{"id":%q,"verificationMethod":[%s]}`, tool,
		strings.Join(methods, ",")), id, time.Time{}))(t)
	return doc
}

func explained(t *testing.T, text []byte, d *did.Document, by string, known ...receipt.Known) string {
	t.Helper()
	r := must.Get(receipt.Parse("u", text))(t)
	if receipt.VerifyImplementation(r, d, tool).Verified() {
		t.Error("it verifies")
	}
	return Signature(r, d, by, known)
}

// entry returns an entry of signatures, by the key #k.
func entry(value string) object { return object{"by": tool + "#k", "alg": "EdDSA", "value": value} }

// TestSignature checks that each mistake that signers make is named, and none of them verifies.
func TestSignature(t *testing.T) {
	o := valid()
	right := canonical(t, o)
	raw := func(message []byte) []byte { return ed25519.Sign(key("k"), message) }
	b64 := base64.RawURLEncoding.EncodeToString
	short, long := sha256.Sum256(right), sha512.Sum512(right)
	var indented bytes.Buffer
	must.OK(t, json.Indent(&indented, right, "", "  "))
	spaced := bytes.ReplaceAll(bytes.ReplaceAll(right, []byte(`,"`), []byte(`, "`)), []byte(`":`), []byte(`": `))
	escaped := []byte(strings.NewReplacer("ü", `\u00fc`, "😀", `\ud83d\ude00`).Replace(string(right)))
	with := func(name string, value any) object {
		o := maps.Clone(o)
		o[name] = value
		return o
	}
	bare := with("signatures", []any{object{"by": tool + "#k", "alg": "EdDSA"}})
	witnessed := func(o object) []byte {
		o = maps.Clone(o)
		o["peer_witnesses"] = []any{}
		return canonical(t, o)
	}
	known := []receipt.Known{{Path: []string{"no", "such"}, Value: "x"}, {Path: []string{"type", "below"}, Value: "x"},
		{Path: []string{"profile"}, Value: "commercial"}, {Path: []string{"implementation", "name"}, Value: "Drill"}}
	for name, c := range map[string]struct {
		value string
		want  string
	}{
		"honest but for hex":   {hex.EncodeToString(raw(right)), "in hex"},
		"broken over lines":    {b64(raw(right))[:40] + "\n" + b64(raw(right))[40:], "white space"},
		"SHA-256":              {b64(raw(short[:])), "the SHA-256 of the canonical JSON:"},
		"SHA-256 in hex":       {b64(raw([]byte(hex.EncodeToString(short[:])))), "in hex: sign the text"},
		"SHA-512":              {b64(raw(long[:])), "the SHA-512"},
		"a line break":         {b64(raw(append(bytes.Clone(right), '\n'))), "a line break"},
		"witnesses":            {b64(raw(witnessed(o))), "with peer_witnesses: leave them out too"},
		"an empty signatures":  {b64(raw(canonical(t, with("signatures", []any{})))), "leave the member out"},
		"empty, and witnesses": {b64(raw(witnessed(with("signatures", []any{})))), "out, and peer_witnesses too"},
		"entries, no value":    {b64(raw(canonical(t, bare))), "except their value: leave"},
		"no value, witnesses":  {b64(raw(witnessed(bare))), "except their value, and peer_witnesses"},
		"indented":             {b64(raw(indented.Bytes())), "sorted, indented by two blanks"},
		"ASCII":                {b64(raw(escaped)), "escapes for letters"},
		"blanks":               {b64(raw(spaced)), "blanks after commas and colons"},
		"a member added":       {b64(raw(canonical(t, o, "note"))), `without "note"`},
		"a member changed":     {b64(raw(canonical(t, with("profile", "commercial")))), `whose profile is "commercial"`},
		"one below changed": {b64(raw(canonical(t, with("implementation", object{"did": tool, "name": "Drill"})))),
			`whose implementation.name is "Drill"`},
		"another key":  {b64(ed25519.Sign(key("stranger"), right)), ""},
		"hex and more": {hex.EncodeToString(raw(right)) + "zz", ""},
		"short hex":    {hex.EncodeToString(raw(right)[1:]), ""},
		"no signature": {"nothing", ""},
	} {
		t.Run(name, func(t *testing.T) {
			o := with("signatures", []any{entry(c.value)})
			o["peer_witnesses"] = []any{}
			got := explained(t, encode(t, o), document(t, "k"), tool+"#k", known...)
			if c.want == "" && got != "" || !strings.Contains(got, c.want) {
				t.Errorf("got %q, want %q in it", got, c.want)
			}
		})
	}
}

// TestOrder checks that a text is tried in the order of the document, too.
func TestOrder(t *testing.T) {
	members := `"type":"conformance","note":"é","implementation":{"name":"b","did":"a"}`
	value := base64.RawURLEncoding.EncodeToString(ed25519.Sign(key("k"), []byte("{"+members+"}")))
	first, rest, _ := strings.Cut(members, ",")
	text := fmt.Appendf(nil, `{"peer_witnesses": [4],%s, "signatures":[%s],%s}`, first, encode(t, entry(value)), rest)
	if got := explained(t, text, document(t, "k"), tool+"#k"); !strings.Contains(got,
		"in the order of the document, minified, not canonical") {
		t.Errorf("%q", got)
	}
}

// TestTried checks which keys and entries are tried, and for how large a Receipt.
func TestTried(t *testing.T) {
	d := document(t, "1", "2", "3", "4", "5", "6")
	value := func(o object, name string) string {
		return hex.EncodeToString(ed25519.Sign(key(name), canonical(t, o, "signatures")))
	}
	try := func(by string, entries ...any) bool {
		o := valid()
		o["signatures"] = entries
		return explained(t, encode(t, o), d, tool+by) != ""
	}
	by := func(id, alg, name string) object {
		return object{"by": tool + id, "alg": alg, "value": value(valid(), name)}
	}
	for _, c := range []struct {
		by, name string
		want     bool
	}{
		{"#6", "6", true}, {"#6", "1", true}, {"#6", "3", true}, {"#6", "4", false}, {"#6", "stranger", false},
		{"#1", "4", true}, {"#1", "5", false}, {"#x", "4", true}, {"#x", "5", false},
	} {
		if try(c.by, by(c.by, "EdDSA", c.name)) != c.want {
			t.Errorf("signed by key %s, where %s is named: %v", c.name, c.by, !c.want)
		}
	}
	if try("#6", by("#6", "ES256", "6")) || try("#6", by("#5", "EdDSA", "6")) {
		t.Error("an entry of another algorithm or key is explained")
	}
	if !try("#6", by("#6", "EdDSA", "stranger"), by("#6", "EdDSA", "6")) {
		t.Error("the second entry is not explained")
	}
	for more, want := range map[int]bool{0: true, 1: false} {
		o, last := valid(), by("#6", "EdDSA", "6")
		o["pad"], o["signatures"] = "", []any{last}
		o["pad"] = strings.Repeat("x", maxReceipt-len(encode(t, o))+more)
		last["value"] = value(o, "6")
		if got := explained(t, encode(t, o), d, tool+"#6"); (got != "") != want {
			t.Errorf("%d bytes: %q", maxReceipt+more, got)
		}
	}
	for n, want := range map[int]bool{100: true, 101: false} { // a longer name is not shown
		o, name := valid(), strings.Repeat("n", n)
		signed := base64.RawURLEncoding.EncodeToString(ed25519.Sign(key("6"), canonical(t, o)))
		o[name], o["signatures"] = 1, []any{object{"by": tool + "#6", "alg": "EdDSA", "value": signed}}
		if got := explained(t, encode(t, o), d, tool+"#6"); strings.Contains(got, "without \"n") != want {
			t.Errorf("a name of %d bytes: %q", n, got)
		}
	}
}

// TestBounds checks that what a stranger serves is not tried for long.
func TestBounds(t *testing.T) {
	e := &explainer{keys: make([]did.Key, maxKeys), text: []byte(`{"a":1}`), root: object{"a": 1}, left: maxTries}
	for range maxTries {
		e.explain(base64.RawURLEncoding.EncodeToString(make([]byte, ed25519.SignatureSize)), nil)
	}
	if e.left != 0 || e.why != "" {
		t.Errorf("%d tries are left, and %q is found", e.left, e.why)
	}
}
