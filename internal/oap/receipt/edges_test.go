package receipt

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/memo"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/signature"
)

// TestEntries checks how many entries are kept, on both sides of each bound.
func TestEntries(t *testing.T) {
	levels := func(unknown int, more ...any) object {
		return object{"claimed_levels": append(slices.Repeat([]any{"X"}, unknown), more...)}
	}
	witnesses := func(n int, w object) object {
		return object{"peer_witnesses": slices.Repeat([]any{w}, n)}
	}
	for _, tt := range []struct {
		name              string
		o                 object
		levels, witnesses int
	}{
		{"twice the same", levels(0, "L4", "L4"), 2, 0},
		{"64 levels", levels(maxLevels), 64, 0},
		{"65 levels", levels(maxLevels + 1), 64, 0},
		{"beyond 64 those that exist, once", levels(maxLevels, "L4", "Y", "L4", 4, "L3"), 66, 0},
		{"32 empty witnesses", witnesses(MaxWitnesses, object{}), 0, 32},
		{"33 empty witnesses", witnesses(MaxWitnesses+1, object{}), 0, 0},
		{"33 witnesses", witnesses(MaxWitnesses+1, object{"alg": "EdDSA"}), 0, 33},
	} {
		r := parse(t, tt.o)
		if len(r.ClaimedLevels) != tt.levels || len(r.PeerWitnesses) != tt.witnesses {
			t.Errorf("%s: %d levels and %d witnesses; expected %d and %d", tt.name, len(r.ClaimedLevels),
				len(r.PeerWitnesses), tt.levels, tt.witnesses)
		}
	}
	many := `{"results":[` + strings.Repeat("1,", 1<<17) + `1]}`
	if _, err := Parse("u", []byte(many)); err != nil {
		t.Errorf("a Receipt of many tests: %v", err)
	}
	if n, ok := whole(json.Number("9007199254740993")); !ok || n != 9007199254740993 {
		t.Errorf("%d, %v", n, ok)
	}
	if got := Minified([]byte(`{"a":1,"a":2}`)); len(got) != 1 {
		t.Errorf("what two readers resolve differently: %q", got)
	}
}

// TestFirstSignature checks which key a Receipt with several valid signatures names, and that a result that is
// remembered is the caller's own.
func TestFirstSignature(t *testing.T) {
	two := document(t, tool, `"verificationMethod":[`+method("#1", "one")+`,`+method("#2", "two")+`,`+
		method("#3", "one")+`]`)
	o := valid()
	entry := func(by, name string) object {
		return object{"by": by, "alg": "EdDSA", "value": sign(t, valid(), name)}
	}
	o["signatures"] = []any{entry("#2", "two"), entry("#3", "one")}
	r := parse(t, o)
	r.RememberIn(memo.New(1 << 20))
	for range 2 {
		v := VerifyImplementation(r, two, tool)
		if v.Key != tool+"#2" || v.By != "#2" || v.Mismatch || len(v.Keys) != 2 || v.Keys[0].ID != tool+"#2" ||
			v.Keys[1].ID != tool+"#3" { // not #1, which is the same key
			t.Errorf("%+v", v)
		}
		clear(v.Keys)
	}
}

// TestBudget checks a budget that is just enough, and one that is not.
func TestBudget(t *testing.T) {
	o := valid()
	right := did.Key{ID: tool + "#1", Public: key("one").Public().(ed25519.PublicKey)}
	text := sign(t, o, "one")
	message, err := signature.Canonical(parse(t, o).root())
	if err != nil {
		t.Fatal(err)
	}
	try := tryCost + len(message)
	forms := [][]byte{message}
	by := Signature{By: "#x", Alg: eddsa, Value: text}
	over := did.Over{Key: right, Why: "revoked"}
	const none, other = "no key of the document has that id", "neither the key that it names nor another"
	for _, tt := range []struct {
		name   string
		s      Signature
		d      did.Document
		budget int
		want   string // "": it verifies
	}{
		{"one try", by, did.Document{Keys: []did.Key{right}}, try, ""},
		{"less than one try", by, did.Document{Keys: []did.Key{right}}, try - 1, errHashed},
		{"the second key", by, did.Document{Keys: []did.Key{{}, right}}, 2 * try, ""},
		{"not the second key", by, did.Document{Keys: []did.Key{{}, right}}, 2*try - 1, errHashed},
		{"a retired key", by, did.Document{Over: []did.Over{over}}, try, "is no longer valid (revoked)"},
		{"no try for a retired key", by, did.Document{Over: []did.Over{over}}, try - 1, none},
		{"another retired key", by, did.Document{Over: []did.Over{{}}}, try, none},
		{"no key", by, did.Document{}, try, none},
		{"its key did not sign", Signature{tool + "#1", eddsa, sign(t, o, "two")}, did.Document{DID: tool,
			Keys: []did.Key{right}}, 3 * try, other},
		{"no signature", Signature{"#x", eddsa, "x"}, did.Document{}, try, "text has 1 characters"},
	} {
		left := tt.budget
		f, why := find(tt.s, &tt.d, forms, &left)
		if tt.want == "" && (why != "" || f.key.ID != right.ID) || !strings.Contains(why, tt.want) {
			t.Errorf("%s: %+v, %q; expected %q", tt.name, f, why, tt.want)
		}
	}

	// Each try of a key that is none costs tryCost, and the right one is last.
	empty := base64.RawURLEncoding.EncodeToString(ed25519.Sign(key("one"), nil))
	for tries, want := range map[int]bool{maxHashed / tryCost: true, maxHashed/tryCost + 1: false} {
		if VerifyBy(append(make([]did.Key, tries-1), right), nil, empty) != want {
			t.Errorf("%d tries: %v", tries, !want)
		}
	}
}

// TestExplained checks which keys and entries are tried for an explanation, and for how large a Receipt.
func TestExplained(t *testing.T) {
	var methods []string
	for i := range 6 {
		methods = append(methods, method(fmt.Sprintf("#%d", i+1), fmt.Sprint(i+1)))
	}
	d := document(t, tool, `"verificationMethod":[`+strings.Join(methods, ",")+`]`)
	value := func(o object, name string) string {
		message, err := signature.CanonicalWithout(parse(t, o).root(), "signatures", "peer_witnesses")
		if err != nil {
			t.Fatal(err)
		}
		return hex.EncodeToString(ed25519.Sign(key(name), message))
	}
	explained := func(o object, entries ...any) bool {
		o = maps.Clone(o)
		o["signatures"] = entries
		return Explain(parse(t, o), d, tool+"#6", nil) != ""
	}
	o := valid()
	for name, want := range map[string]bool{"6": true, "1": true, "3": true, "4": false, "stranger": false} {
		if explained(o, object{"by": tool + "#6", "alg": eddsa, "value": value(o, name)}) != want {
			t.Errorf("by key %s, where #6 is named: %v", name, !want)
		}
	}
	for by, keys := range map[string]map[string]bool{"#1": {"4": true, "5": false}, "#x": {"4": true, "5": false}} {
		for name, want := range keys {
			o := maps.Clone(o)
			o["signatures"] = []any{object{"by": tool + by, "alg": eddsa, "value": value(valid(), name)}}
			if (Explain(parse(t, o), d, tool+by, nil) != "") != want {
				t.Errorf("by key %s, where %s is named: %v", name, by, !want)
			}
		}
	}
	good := object{"by": tool + "#6", "alg": eddsa, "value": value(o, "6")}
	if explained(o, object{"by": tool + "#6", "alg": "ES256", "value": value(o, "6")}) ||
		explained(o, object{"by": tool + "#5", "alg": eddsa, "value": value(o, "6")}) {
		t.Error("an entry of another key or algorithm is explained")
	}
	if !explained(o, object{"by": tool + "#6", "alg": eddsa, "value": value(o, "stranger")}, good) {
		t.Error("the second entry is not explained")
	}
	for more, want := range map[int]bool{0: true, 1: false} {
		o, entry := valid(), maps.Clone(good)
		o["pad"], o["signatures"] = "", []any{entry}
		o["pad"] = strings.Repeat("x", maxExplained-len(encode(t, o))+more)
		entry["value"] = value(o, "6")
		if r := parse(t, o); len(r.text) != maxExplained+more || (Explain(r, d, tool+"#6", nil) != "") != want {
			t.Errorf("%d bytes: %v", len(r.text), !want)
		}
	}
}

// TestExplainParts checks the texts that an explanation tries.
func TestExplainParts(t *testing.T) {
	for text, want := range map[string]string{
		`{"b":1,"signatures":[2],"a":{"x":3},"peer_witnesses":[4],"c":"é"}`: `{"b":1,"a":{"x":3},"c":"é"}`,
		`{}`: `{}`, ``: "", `{"a":`: "", `{"a`: "", `{"a":1,"a":2}`: "",
	} {
		if got := string(served([]byte(text))); got != want {
			t.Errorf("served(%s) is %s; expected %s", text, got, want)
		}
	}
	want := "a\x7f" + `\u0080\u00e9\uffff\ud83d\ude00`
	if got := string(ascii([]byte("a\x7f\u0080é\uffff😀"))); got != want {
		t.Errorf("%s; expected %s", got, want)
	}
	root := object{"a": object{"b": 1}, "c": 2}
	for path, want := range map[string]string{"a.b": `{"a":{"b":3},"c":2}`, "a": `{"a":3,"c":2}`, "a.x": "null",
		"c.x": "null", "x": "null"} {
		if got, err := json.Marshal(with(root, strings.Split(path, "."), 3)); err != nil || string(got) != want {
			t.Errorf("%s: %s, %v; expected %s", path, got, err, want)
		}
	}
	raw := ed25519.Sign(key("one"), nil)
	plain := base64.RawURLEncoding.EncodeToString(raw)
	for text, want := range map[string]string{plain: "", hex.EncodeToString(raw): "in hex",
		plain[:9] + " " + plain[9:]:    "white space",
		hex.EncodeToString(raw) + "zz": "none", hex.EncodeToString(raw[1:]): "none", "a b": "none"} {
		got, how := looseText(text)
		if want == "none" && (got != nil || how != "") || want != "none" && (string(got) != string(raw) ||
			!strings.Contains(how, want) || want == "" && how != "") {
			t.Errorf("%s: %x, %q; expected %q", text, got, how, want)
		}
	}
	// What is tried does not change the Receipt, and each try counts.
	e := &explainer{keys: []did.Key{{Public: key("two").Public().(ed25519.PublicKey)}}, raw: raw,
		root: object{"signatures": []any{object{"value": "x"}}}}
	e.withoutValues()
	if got, err := json.Marshal(e.root); err != nil || string(got) != `{"signatures":[{"value":"x"}]}` {
		t.Errorf("%s, %v", got, err)
	}
	none := func([]byte, string) string { return "" }
	if e.digests(nil, none); e.tried != 1 {
		t.Errorf("%d tries", e.tried)
	}
	var tried []string
	e.root = object{strings.Repeat("n", 100): 1, strings.Repeat("n", 101): 1}
	e.changed([]Known{{[]string{"no", "such"}, "x"}}, func(_ []byte, what string) string {
		tried = append(tried, what)
		return ""
	})
	if len(tried) != 1 || !strings.Contains(tried[0], `without "`+strings.Repeat("n", 100)+`"`) {
		t.Errorf("%q", tried)
	}
}
