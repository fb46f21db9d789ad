package receipt

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/memo"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/signature"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
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
	message := must.Get(signature.Canonical(parse(t, o).root()))(t)
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
