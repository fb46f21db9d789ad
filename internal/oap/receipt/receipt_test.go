package receipt

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"filippo.io/edwards25519"
	"github.com/google/go-cmp/cmp"

	"github.com/openagentprotocol-OAP/oap-gate/internal/base/memo"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/plain"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/level"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/signature"
	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

const tool = "did:web:tool.example"

// object is a Receipt under construction.
type object = map[string]any

func valid() object {
	return object{
		"type":            "conformance",
		"implementation":  object{"did": tool, "name": "Tool", "version": "1.0.0"},
		"target":          object{"uri": "https://tool.example/"},
		"claimed_levels":  []any{"L4", "L3-NC", "W1"},
		"profile":         "non-commercial",
		"revenue":         object{"source": "byok"},
		"results_summary": object{"total": 42, "passed": 41, "failed": 1},
		"validity":        object{"not_before": "2026-05-04T10:34:47.660Z", "not_after": "2026-08-02T12:34:47+02:00"},
	}
}

func key(name string) ed25519.PrivateKey {
	seed := sha256.Sum256([]byte("receipt " + name))
	return ed25519.NewKeyFromSeed(seed[:])
}

func encode(t testing.TB, o object) []byte {
	t.Helper()
	text := must.Get(json.MarshalIndent(o, "", "  "))(t)
	return text
}

func parse(t testing.TB, o object) *Receipt {
	t.Helper()
	r := must.Get(Parse("u", encode(t, o)))(t)
	return r
}

// sign is the signature text of a name's key over the Receipt without the given members.
func sign(t testing.TB, o object, name string, without ...string) string {
	t.Helper()
	message := must.Get(signature.CanonicalWithout(parse(t, o).root(), without...))(t)
	return base64.RawURLEncoding.EncodeToString(ed25519.Sign(key(name), message))
}

func document(t testing.TB, id string, members string) *did.Document {
	t.Helper()
	d := must.Get(did.Parse(id))(t)
	doc := must.Get(did.ParseDocument("d", []byte(fmt.Sprintf(`{"id":%q,%s}`, id, members)), d, time.Time{}))(t)
	return doc
}

func method(id, name string) string {
	x := base64.RawURLEncoding.EncodeToString(key(name).Public().(ed25519.PublicKey))
	return fmt.Sprintf(
		`{"id":%q,"type":"JsonWebKey2020","controller":%q,"publicKeyJwk":{"kty":"OKP","crv":"Ed25519","x":%q}}`, id,
		tool, x)
}

func TestParse(t *testing.T) {
	o := valid()
	o["signatures"] = []any{object{"by": "a", "alg": "EdDSA", "value": "v"}, "odd"}
	o["peer_witnesses"] = []any{object{"witness_did": "did:web:w.example", "alg": "EdDSA", "signature": "s",
		"controller_org": "x"}, 1}
	o["external_audit"] = object{"framework": "ISO-27001", "auditor_did": "did:web:auditor.example",
		"valid_until": "2027-01-31"}
	o["registry_anchor"] = nil
	o["extra"] = json.Number("9007199254740993")
	r := parse(t, o)
	want := &Receipt{
		url: "u", text: encode(t, o),
		ImplementationDID: tool, ImplementationName: "Tool", TargetURI: "https://tool.example/",
		ClaimedLevels: []level.Level{"L4", "L3-NC", "W1"}, Profile: "non-commercial", RevenueSource: "byok",
		Results:    Results{42, 41, 1, NoCount},
		NotBefore:  Time{time.Date(2026, 5, 4, 10, 34, 47, 660e6, time.UTC), "2026-05-04T10:34:47.660Z"},
		NotAfter:   Time{time.Date(2026, 8, 2, 10, 34, 47, 0, time.UTC), "2026-08-02T12:34:47+02:00"},
		Signatures: []Signature{{"a", "EdDSA", "v"}}, PeerWitnesses: []PeerWitness{{"did:web:w.example", "EdDSA", "s"}},
		PeerWitnessCount: 2,
		ExternalAudit: ExternalAudit{true, "ISO-27001", "did:web:auditor.example", "2027-01-31",
			time.Date(2027, 2, 1, 0, 0, 0, 0, time.UTC)},
		RegistryAnchor: true, Rounded: "/extra",
	}
	if !reflect.DeepEqual(want, r) {
		t.Errorf("got  %+v\nwant %+v", r, want)
	}
}

// Members of a wrong type are as good as missing.
func TestParseOddTypes(t *testing.T) {
	for _, text := range []string{
		`{}`,
		`{"implementation":"did:web:tool.example","target":[],"claimed_levels":"L4","profile":1,"revenue":null,"results_summary":[1],"validity":"x",
			"signatures":{"by":"a"},"peer_witnesses":{"witness_did":"a"},"external_audit":"SOC2-Type-II"}`,
		`{"implementation":{"did":["did:web:tool.example"]},"claimed_levels":[4],"results_summary":{"passed":"41","failed":null},
			"validity":{"not_before":1,"not_after":true},"signatures":[],"peer_witnesses":[]}`,
	} {
		r := must.Get(Parse("u", []byte(text)))(t)
		r.url, r.text = "", nil
		if !reflect.DeepEqual(r, &Receipt{Results: Results{NoCount, NoCount, NoCount, NoCount}}) {
			t.Errorf("%s: %+v", text, r)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for text, code := range map[string]string{
		"":               strict.CodeSyntax,
		"[]":             CodeShape,
		`"x"`:            CodeShape,
		`{"a":"\ud800"}`: strict.CodeLoneSurrogate,
		`{"a":1e400}`:    strict.CodeNumberRange,
		`{"validity":{"not_after":"2020-01-01T00:00:00Z","not_after":"2999-01-01T00:00:00Z"}}`: strict.CodeDuplicateMember,
		`{"a":"` + strings.Repeat("x", MaxBytes) + `"}`:                                        strict.CodeTooLarge,
	} {
		r, err := Parse("u", []byte(text))
		if err == nil {
			t.Errorf("%.40s: accepted as %+v", text, r)
		} else if e := err.(*strict.Error); e.Code != code || e.Pos.Path != "u" {
			t.Errorf("%.40s: %v, want %s", text, err, code)
		}
	}
}

func TestWhole(t *testing.T) {
	for token, want := range map[string]int64{
		"0": 0, "-0": 0, "42": 42, "42.0": 42, "4.2e1": 42, "-1": -1, "1e300": math.MaxInt64, "-1e300": math.MinInt64,
		"9223372036854775807": math.MaxInt64, "9223372036854775808": math.MaxInt64,
	} {
		if got, ok := whole(json.Number(token)); got != want || !ok {
			t.Errorf("%s: %d, %v, want %d", token, got, ok, want)
		}
	}
	for _, v := range []any{nil, "1", true, json.Number("0.5"), json.Number("1e-400x"), json.Number("1e400")} {
		if got, ok := whole(v); ok || got != 0 {
			t.Errorf("%v: %d", v, got)
		}
	}
}

func TestResultsLeft(t *testing.T) {
	const most = math.MaxInt64
	for _, c := range []struct {
		counts  Results
		counted bool
		skipped int64
		ok      bool
	}{
		{Results{42, 42, 0, NoCount}, true, 0, true},
		{Results{42, 42, 0, 0}, true, 0, true},
		{Results{15, 12, 0, 3}, true, 3, true},
		{Results{15, 12, 0, NoCount}, true, 3, true},
		{Results{15, 11, 1, 3}, true, 3, true},
		{Results{0, 0, 0, NoCount}, true, 0, true},
		{Results{41, 42, 0, NoCount}, true, 0, false},
		{Results{42, 42, 1, NoCount}, true, 0, false},
		{Results{42, 42, 0, 1}, true, 0, false},
		{Results{42, 12, 0, 0}, true, 0, false},
		{Results{42, 40, 0, 3}, true, 0, false},
		{Results{0, most, most, 2}, true, 0, false},
		{Results{most, most, 0, 0}, true, 0, false}, // as the text of more than these
		{Results{most - 1, most, most, most}, true, 0, false},
		{Results{42, 42, 0, -1}, false, 0, false},
		{Results{42, 43, -1, 0}, false, 0, false},
		{Results{NoCount, 42, 0, 0}, false, 0, false},
		{Results{42, NoCount, 0, 0}, false, 0, false},
		{Results{42, 42, NoCount, 0}, false, 0, false},
	} {
		if counted := c.counts.Counted(); counted != c.counted {
			t.Errorf("%+v: counted %v", c.counts, counted)
		} else if !counted {
			continue
		}
		if skipped, ok := c.counts.Left(); skipped != c.skipped || ok != c.ok {
			t.Errorf("%+v: %d, %v", c.counts, skipped, ok)
		}
	}
}

func TestExternalAuditUntil(t *testing.T) {
	for text, want := range map[string]string{
		"2027-01-31":           "2027-02-01T00:00:00Z",
		"2026-12-31":           "2027-01-01T00:00:00Z",
		"2027-01-31T12:00:00Z": "2027-01-31T12:00:00Z",
		"2027-1-31":            "", "2027-02-30": "", "2027-01-31 ": "", "31.01.2027": "", "2027-01-31T12:00:00": "",
		"": "", "20270131": "", "2027-01-31Z": "",
	} {
		got := ""
		if until := auditOf(object{"valid_until": text}).Until; !until.IsZero() {
			got = until.Format(time.RFC3339)
		}
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

func TestBytes(t *testing.T) {
	r := must.Get(Parse("u",
		[]byte(`{"signatures":[1],"b":{"signatures":2},"peer_witnesses":[3],"registry_anchor":{},"a":1.0}`)))(t)
	for want, f := range map[string]func() ([]byte, error){
		`{"a":1,"b":{"signatures":2},"registry_anchor":{}}`:                  r.SignedBytes,
		`{"a":1,"b":{"signatures":2}}`:                                       r.SignedBytesWithoutAnchor,
		`{"a":1,"b":{"signatures":2},"registry_anchor":{},"signatures":[1]}`: r.WitnessedBytes,
	} {
		if got, err := f(); err != nil || string(got) != want {
			t.Errorf("%s, %v, want %s", got, err, want)
		}
	}
}

func TestVerifyImplementation(t *testing.T) {
	const k1, k2 = tool + "#1", tool + "#2"
	two := `"verificationMethod":[` + method("#1", "one") + `,` + method("#2", "two") + `]`
	stripped := []string{"signatures", "peer_witnesses"}
	entry := func(by, alg, value string) object { return object{"by": by, "alg": alg, "value": value} }
	anchored := func(o object) object {
		o["registry_anchor"] = object{"repo_url": "https://git.example/", "commit_sha": "x"}
		return o
	}
	tests := []struct {
		name    string
		receipt object
		members string // of the DID Document
		entries func(o object) []any
		want    Verification // of Keys the ids alone are compared, of Unverified the By
	}{
		{"by its key", valid(), two, func(o object) []any { return []any{entry(k1, "EdDSA", sign(t, o, "one"))} },
			Verification{By: k1, Key: k1, Assertion: true}},
		{"fragment alone", valid(), two, func(o object) []any { return []any{entry("#2", "EdDSA", sign(t, o, "two"))} },
			Verification{By: "#2", Key: k2, Assertion: true}},
		{"by the other key", valid(), two, func(o object) []any { return []any{entry(k1, "EdDSA", sign(t, o, "two"))} },
			Verification{By: k1, Key: k2, Mismatch: true, Assertion: true}},
		{"by a key that is not there", valid(), two,
			func(o object) []any { return []any{entry(tool+"#old", "EdDSA", sign(t, o, "two"))} },
			Verification{By: tool + "#old", Key: k2, Mismatch: true, Assertion: true}},
		{"by the DID alone", valid(), two,
			func(o object) []any { return []any{entry(tool, "EdDSA", sign(t, o, "one"))} },
			Verification{By: tool, Key: k1, Mismatch: true, Assertion: true}},
		{"key outside assertionMethod", valid(), two + `,"assertionMethod":["#1"]`,
			func(o object) []any { return []any{entry(k2, "EdDSA", sign(t, o, "two"))} },
			Verification{By: k2, Key: k2}},
		{"key in assertionMethod", valid(), two + `,"assertionMethod":["#2"]`,
			func(o object) []any { return []any{entry(k2, "EdDSA", sign(t, o, "two"))} },
			Verification{By: k2, Key: k2, Assertion: true}},
		{"anchor signed too", anchored(valid()), two,
			func(o object) []any { return []any{entry(k1, "EdDSA", sign(t, o, "one"))} },
			Verification{By: k1, Key: k1, Assertion: true}},
		{"anchor added later", anchored(valid()), two,
			func(o object) []any { return []any{entry(k1, "EdDSA", sign(t, o, "one", "registry_anchor"))} },
			Verification{By: k1, Key: k1, Assertion: true, WithoutAnchor: true}},
		{"others and other algorithms", valid(), two, func(o object) []any {
			return []any{entry("did:web:other.example#1", "EdDSA", "x"), entry(k1, "ES256", "x"),
				entry(k1, "eddsa", "x"), "odd", entry(k1, "EdDSA", sign(t, o, "one"))}
		}, Verification{By: k1, Key: k1, Assertion: true}},

		{"no signatures", valid(), two, func(object) []any { return nil }, Verification{}},
		{"someone else's alone", valid(), two,
			func(o object) []any { return []any{entry("did:web:other.example#1", "EdDSA", sign(t, o, "one"))} },
			Verification{}},
		{"a longer DID's", valid(), two, func(o object) []any {
			return []any{entry(tool+":a#1", "EdDSA", sign(t, o, "one")),
				entry(tool+".org#1", "EdDSA", sign(t, o, "one"))}
		}, Verification{}},
		{"the DID in another spelling", valid(), two,
			func(o object) []any { return []any{entry("did:web:Tool.example.#1", "EdDSA", sign(t, o, "one"))} },
			Verification{By: "did:web:Tool.example.#1", Key: k1, Mismatch: true, Assertion: true}},
		{"no by", valid(), two, func(o object) []any { return []any{entry("", "EdDSA", sign(t, o, "one"))} },
			Verification{}},
		{"other algorithm alone", valid(), two,
			func(o object) []any { return []any{entry(k1, "ES256", sign(t, o, "one"))} }, Verification{}},
		{"a stranger's key", valid(), two,
			func(o object) []any { return []any{entry(k1, "EdDSA", sign(t, o, "stranger"))} },
			Verification{Unverified: []Unverified{{By: k1}}}},
		{"one good, one bad", valid(), two, func(o object) []any {
			return []any{entry(k2, "EdDSA", sign(t, o, "stranger")), entry(k1, "EdDSA", sign(t, o, "one"))}
		}, Verification{By: k1, Key: k1, Assertion: true, Unverified: []Unverified{{By: k2}}}},
		{"placeholder", valid(), two,
			func(object) []any { return []any{entry(k1, "EdDSA", "PLACEHOLDER_NOT_FOR_PRODUCTION")} },
			Verification{Unverified: []Unverified{{By: k1}}}},
		{"line end in the text", valid(), two,
			func(o object) []any { return []any{entry(k1, "EdDSA", sign(t, o, "one")+"\n")} },
			Verification{Unverified: []Unverified{{By: k1}}}},
		{"another member left out", valid(), two,
			func(o object) []any { return []any{entry(k1, "EdDSA", sign(t, o, "one", "validity"))} },
			Verification{Unverified: []Unverified{{By: k1}}}},
		{"anchor that was never left out", valid(), two,
			func(o object) []any { return []any{entry(k1, "EdDSA", sign(t, anchored(valid()), "one"))} },
			Verification{Unverified: []Unverified{{By: k1}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.receipt["signatures"] = nil
			entries := tt.entries(without(tt.receipt, stripped...))
			tt.receipt["signatures"] = entries
			tt.receipt["peer_witnesses"] = []any{"added later"}
			got := VerifyImplementation(parse(t, tt.receipt), document(t, tool, tt.members), tool)
			if got.Verified() != (tt.want.Key != "") || got.Verified() && got.Keys[0].ID != tt.want.Key {
				t.Errorf("keys %v, want %s", got.Keys, tt.want.Key)
			}
			got.Keys = nil
			for i := range got.Unverified {
				if got.Unverified[i].Why == "" {
					t.Error("no reason")
				}
				got.Unverified[i].Why = ""
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
			if got.Form() == "" || strings.Contains(got.Form(), "registry_anchor") != tt.want.WithoutAnchor {
				t.Errorf("form is %q", got.Form())
			}
		})
	}
}

func without(o object, members ...string) object {
	rest := object{}
	for name, v := range o {
		rest[name] = v
	}
	for _, m := range members {
		delete(rest, m)
	}
	return rest
}

// Each signed member counts: changing any of them breaks the signature, as does adding one.
func TestTampering(t *testing.T) {
	doc := document(t, tool, `"verificationMethod":[`+method("#1", "one")+`]`)
	o := valid()
	signatures := []any{object{"by": tool + "#1", "alg": "EdDSA", "value": sign(t, o, "one")}}
	for name := range valid() {
		for _, edit := range []func(object){
			func(o object) { delete(o, name) },
			func(o object) { o[name] = "other" },
			func(o object) { o[name+" "] = o[name] },
		} {
			tampered := valid()
			edit(tampered)
			tampered["signatures"] = signatures
			if v := VerifyImplementation(parse(t, tampered), doc, tool); v.Verified() || len(v.Unverified) != 1 {
				t.Errorf("%s: tampered with, still verified", name)
			}
		}
	}
}

func TestManySignatures(t *testing.T) {
	doc := document(t, tool, `"verificationMethod":[`+method("#1", "one")+`]`)
	o := valid()
	good := object{"by": tool + "#1", "alg": "EdDSA", "value": sign(t, o, "one")}
	var all []any
	for range MaxSignatures {
		all = append(all, good)
	}
	o["signatures"] = all
	if v := VerifyImplementation(parse(t, o), doc, tool); len(v.Keys) != MaxSignatures || v.Unverified != nil {
		t.Errorf("%d keys, %v", len(v.Keys), v.Unverified)
	}
	o["signatures"] = append(all, good, good, good)
	if v := VerifyImplementation(parse(t, o), doc, tool); len(v.Keys) != MaxSignatures || len(v.Unverified) != 1 {
		t.Errorf("%d keys, %v", len(v.Keys), v.Unverified)
	}
}

// All keys of a document are tried, on a large Receipt too; many signatures by none of them are not.
func TestManyKeys(t *testing.T) {
	const keys = 200
	var methods []string
	for i := range keys {
		methods = append(methods, method(fmt.Sprintf("#%d", i), fmt.Sprint(i)))
	}
	doc := document(t, tool, `"verificationMethod":[`+strings.Join(methods, ",")+`]`)
	signed := func(by string, size int) Verification {
		o := valid()
		o["padding"] = strings.Repeat("a", size)
		o["signatures"] = []any{object{"by": by, "alg": "EdDSA", "value": sign(t, o, fmt.Sprint(keys-1))}}
		return VerifyImplementation(parse(t, o), doc, tool)
	}
	last := fmt.Sprintf("%s#%d", tool, keys-1)
	for name, v := range map[string]Verification{"small, by the DID": signed(tool, 1<<10),
		"large, by the key": signed(last, 900<<10)} {
		if !v.Verified() || v.Key != last {
			t.Errorf("%s: %+v", name, v)
		}
	}
	if v := signed(tool, 900<<10); v.Key != last || !v.Mismatch {
		t.Errorf("large, by the DID: %+v", v)
	}
	o := valid()
	o["padding"] = strings.Repeat("a", 900<<10)
	junk := object{"by": tool, "alg": "EdDSA",
		"value": base64.RawURLEncoding.EncodeToString(ed25519.Sign(key("stranger"), nil))}
	o["signatures"] = []any{junk, junk, junk}
	if v := VerifyImplementation(parse(t, o), doc, tool); len(v.Unverified) != 3 || v.Unverified[2].Why != errHashed {
		t.Errorf("many signatures by no key: %+v", v.Unverified)
	}
}

// What is remembered of a Receipt holds for its text and the very keys that were tried.
func TestRemembers(t *testing.T) {
	one, two := document(t, tool, `"verificationMethod":[`+method("#1", "one")+`]`),
		document(t, tool, `"verificationMethod":[`+method("#1", "two")+`]`)
	o := valid()
	o["claimed_levels"] = []any{"L17"}
	o["signatures"] = []any{object{"by": tool + "#1", "alg": "EdDSA", "value": sign(t, o, "one")}}
	text := encode(t, o)
	m := memo.New(1 << 20)
	read := func(text []byte) *Receipt {
		r := must.Get(Parse("u", text))(t)
		r.RememberIn(m)
		return r
	}
	fewer := *one
	fewer.Keys = fewer.Keys[:0]
	for range 2 {
		r := read(text)
		for name, verified := range map[string]bool{
			"its keys":        VerifyImplementation(r, one, tool).Verified(),
			"another DID":     !VerifyImplementation(r, one, "did:web:other.example").Verified(),
			"other keys":      !VerifyImplementation(r, two, tool).Verified(),
			"fewer keys":      !VerifyImplementation(r, &fewer, tool).Verified(),
			"a co-signer":     VerifyCosigner(r, tool, one),
			"other co-signer": !VerifyCosigner(r, tool, two),
			"another text": !VerifyImplementation(read(bytes.Replace(text, []byte("L17"), []byte("L18"), 1)), one,
				tool).Verified(),
			"the same schema":  len(r.Violations()) > 0 && reflect.DeepEqual(r.Violations(), parse(t, o).Violations()),
			"an empty witness": !r.WitnessedBy(one.Keys, ""),
		} {
			if !verified {
				t.Errorf("%s: judged otherwise", name)
			}
		}
		message := must.Get(r.WitnessedBytes())(t)
		value := base64.RawURLEncoding.EncodeToString(ed25519.Sign(key("one"), message))
		if !r.WitnessedBy(one.Keys, value) || r.WitnessedBy(two.Keys, value) {
			t.Error("a witness's signature is judged otherwise")
		}
		clear(VerifyImplementation(r, one, tool).Keys) // a caller's own
	}
}

func TestVerifyCosigner(t *testing.T) {
	const maintainer = "did:web:maintainer.example"
	doc := document(t, maintainer, `"verificationMethod":[`+method("#m", "maintainer")+`]`)
	signed := func(by, alg, name string, without ...string) *Receipt {
		o := valid()
		o["registry_anchor"] = object{}
		value := sign(t, o, name, without...)
		o["signatures"] = []any{object{"by": tool + "#1", "alg": "EdDSA", "value": sign(t, o, "one")},
			object{"by": by, "alg": alg, "value": value}}
		return parse(t, o)
	}
	for name, r := range map[string]*Receipt{
		"whole":          signed(maintainer+"#m", "EdDSA", "maintainer"),
		"by the DID":     signed(maintainer, "EdDSA", "maintainer"),
		"without anchor": signed(maintainer+"#m", "EdDSA", "maintainer", "registry_anchor"),
	} {
		if !VerifyCosigner(r, maintainer, doc) {
			t.Errorf("%s: not verified", name)
		}
	}
	for name, r := range map[string]*Receipt{
		"none":                 parse(t, valid()),
		"by another":           signed(tool+"#1", "EdDSA", "maintainer"),
		"by a fragment":        signed("#m", "EdDSA", "maintainer"),
		"of another algorithm": signed(maintainer+"#m", "ES256", "maintainer"),
		"by another's key":     signed(maintainer+"#m", "EdDSA", "one"),
		"over other bytes":     signed(maintainer+"#m", "EdDSA", "maintainer", "validity"),
	} {
		if VerifyCosigner(r, maintainer, doc) {
			t.Errorf("%s: verified", name)
		}
	}
}

func TestVerifyBy(t *testing.T) {
	keys := document(t, tool, `"verificationMethod":[`+method("#1", "one")+`,`+method("#2", "two")+`]`).Keys
	o := valid()
	o["signatures"] = []any{object{"by": "x"}}
	text := sign(t, o, "two")
	message := must.Get(parse(t, o).WitnessedBytes())(t)
	if !VerifyBy(keys, message, text) {
		t.Error("not verified")
	}
	if VerifyBy(keys[:1], message, text) || VerifyBy(nil, message, text) || VerifyBy(keys, message[1:], text) ||
		VerifyBy(keys, message, text+"=") || VerifyBy(keys, message, "") {
		t.Error("verified")
	}
	o["signatures"] = []any{}
	if other, err := parse(t, o).WitnessedBytes(); err != nil || VerifyBy(keys, other, text) {
		t.Error("a witness's signature covers the signatures member")
	}
}

// A signature whose R is the neutral element verifies for the standard library, under a sound key too, and not for
// readers that refuse points of small order.
func TestUnsoundR(t *testing.T) {
	o := valid()
	message := must.Get(signature.CanonicalWithout(parse(t, o).root(), "signatures", "peer_witnesses"))(t)
	private := key("a")
	hashed := sha512.Sum512(private.Seed())
	secret := must.Get(edwards25519.NewScalar().SetBytesWithClamping(hashed[:32]))(t)
	r := edwards25519.NewIdentityPoint().Bytes()
	digest := sha512.Sum512(slices.Concat(r, private.Public().(ed25519.PublicKey), message))
	k := must.Get(edwards25519.NewScalar().SetUniformBytes(digest[:]))(t)
	sig := slices.Concat(r, k.Multiply(k, secret).Bytes())
	if !ed25519.Verify(private.Public().(ed25519.PublicKey), message, sig) {
		t.Fatal("the standard library refuses it: nothing is shown")
	}
	text := base64.RawURLEncoding.EncodeToString(sig)
	o["signatures"] = []any{object{"by": tool + "#1", "alg": "EdDSA", "value": text}}
	d := document(t, tool, `"verificationMethod":[`+method("#1", "a")+`]`)
	v := VerifyImplementation(parse(t, o), d, tool)
	if v.Verified() || len(v.Unverified) != 1 || !strings.Contains(v.Unverified[0].Why, "R is unsound") {
		t.Errorf("%+v", v)
	}
	if VerifyCosigner(parse(t, o), tool, d) || VerifyBy(d.Keys, message, text) {
		t.Error("verified as a cosigner's or a witness's")
	}
}

func TestPlaceholder(t *testing.T) {
	for _, s := range []string{
		"PLACEHOLDER_NOT_FOR_PRODUCTION", "unsigned-reference", "placeholder:", "placeholder:abc",
		"Placeholder_Not_For_Production", "UNSIGNED-REFERENCE",
		"PlaceHolder:x", " \t\nplaceholder:x", "unsigned-reference\r\n", "\u00a0\ufeffplaceholder:x\u2003",
		"un\u017figned-reference", "unsigned-reference-2",
	} {
		if !Placeholder(s) {
			t.Errorf("%q passes", s)
		}
	}
	for _, s := range []string{"", "placeholder", "xplaceholder:", "unsigned", strings.Repeat("A", 86)} {
		if Placeholder(s) {
			t.Errorf("%q does not pass", s)
		}
	}
}

func TestMinified(t *testing.T) {
	served := []byte("{\n  \"b\": \"caf\\u00e9 \\/ \\u2028\",\n  \"a\": [1.0, 1e21, 10E-1]\n}\n")
	before := bytes.Clone(served)
	want := []string{plain.SHA256([]byte(`{"b":"caf\u00e9 \/ \u2028","a":[1.0,1e21,10E-1]}`)),
		plain.SHA256([]byte("{\"b\":\"café / \u2028\",\"a\":[1,1e+21,1]}"))}
	if got := Minified(served); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if !bytes.Equal(before, served) {
		t.Error("the text was changed")
	}
	for _, text := range []string{"", "<html>", strings.Repeat("[", 1<<20)} {
		if got := Minified([]byte(text)); got != nil {
			t.Errorf("%.10q: %q", text, got)
		}
	}
}

// A Receipt that parses has bytes to sign, and a signature over them verifies; after any edit of the signed
// part it does not.
func FuzzReceipt(f *testing.F) {
	o := valid()
	f.Add(encode(f, o))
	o["registry_anchor"] = object{}
	o["signatures"] = []any{object{"by": tool, "alg": "EdDSA", "value": "x"}}
	f.Add(encode(f, o))
	f.Add([]byte(`{"a":1e21,"b":"\u2028","results_summary":{"passed":1e300}}`))
	doc := document(f, tool, `"verificationMethod":[`+method("#1", "one")+`]`)
	f.Fuzz(func(t *testing.T, data []byte) {
		Minified(data)
		r, err := Parse("u", data)
		if err != nil {
			return
		}
		VerifyImplementation(r, doc, tool)
		message := must.Get(r.SignedBytes())(t)
		value := base64.RawURLEncoding.EncodeToString(ed25519.Sign(key("one"), message))
		r.Signatures = []Signature{{tool + "#1", "EdDSA", value}}
		if v := VerifyImplementation(r, doc, tool); !v.Verified() || v.Mismatch || v.Unverified != nil ||
			v.WithoutAnchor {
			t.Fatalf("%+v", v)
		}
		again := must.Get(Parse("v", message))(t)
		again.Signatures = r.Signatures
		if v := VerifyImplementation(again, doc, tool); !v.Verified() {
			t.Fatal("the canonical form does not verify")
		}
		root := again.root()
		if root["added"] == "x" {
			return
		}
		root["added"] = "x"
		changed, err := signature.Canonical(root)
		must.OK(t, err)
		if again, err = Parse("w", changed); err != nil {
			return // a few bytes too many
		}
		again.Signatures = r.Signatures
		if v := VerifyImplementation(again, doc, tool); v.Verified() {
			t.Fatal("verifies with a member added")
		}
	})
}
