package proof

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

var update = flag.Bool("update", false, "write the files of testdata")

// naive is the root of members by the definition alone.
func naive(members []Member, depth int) (Hash, int) {
	switch len(members) {
	case 0:
		return Hash{}, 0
	case 1:
		return sha256.Sum256(slices.Concat([]byte{0}, members[0].Key[:], members[0].Value[:])), 1
	}
	var half [2][]Member
	for _, m := range members {
		bit := m.Key[depth/8] >> (7 - depth%8) & 1
		half[bit] = append(half[bit], m)
	}
	left, _ := naive(half[0], depth+1)
	right, _ := naive(half[1], depth+1)
	return sha256.Sum256(slices.Concat([]byte{1}, left[:], right[:])), len(members)
}

func TestMapIsTheTrie(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	m, all := NewMap(), map[string]Hash{}
	for i := range 3000 {
		for range 1 + random.IntN(3) {
			name := fmt.Sprintf("implementations/n%d.json", random.IntN(120))
			if random.IntN(3) > 0 && i < 2500 {
				all[name] = sha256.Sum256(fmt.Append(nil, i))
				m.Set(name, all[name])
			} else {
				delete(all, name)
				m.Delete(name)
			}
		}
		var members []Member
		for name, value := range all {
			members = append(members, Member{sha256.Sum256([]byte(name)), value})
		}
		want, _ := naive(members, 0)
		if got := m.Root(); got != want {
			t.Fatalf("step %d, %d names: root %s, want %s", i, len(all), got, want)
		}
		if i%100 == 0 { // the same in one go, in another order, over half of the members with other values
			whole := NewMap()
			for _, e := range members[:len(members)/2] {
				whole.Add(Member{Key: e.Key})
			}
			if whole.Add(append(members, members...)...); whole.Root() != want {
				t.Fatalf("step %d, %d names added together: another root", i, len(all))
			}
		}
		name := fmt.Sprintf("implementations/n%d.json", random.IntN(120))
		p := m.Prove(name)
		value, has := all[name]
		if has != (p.Value != nil) || has && *p.Value != value {
			t.Fatalf("step %d: proof of %s: present %v, want %v", i, name, p.Value != nil, has)
		}
		if root, err := p.Root(); err != nil || root != want {
			t.Fatalf("step %d: proof of %s: root %s, %v", i, name, root, err)
		}
	}
}

// TestDeepKeys requires keys that share many bits to be told apart, and to collapse again.
func TestDeepKeys(t *testing.T) {
	byPrefix := map[uint32]string{}
	var a, b string
	for i := 0; a == ""; i++ {
		name := fmt.Sprintf("implementations/%d.json", i)
		sum := sha256.Sum256([]byte(name))
		prefix := binary.BigEndian.Uint32(sum[:]) >> 11 // 21 bits
		if byPrefix[prefix] != "" {
			a, b = byPrefix[prefix], name
		}
		byPrefix[prefix] = name
	}
	m := NewMap()
	m.Set(a, Hash{1})
	alone := m.Root()
	m.Set(b, Hash{2})
	for _, name := range []string{a, b, "implementations/x.json"} {
		p := m.Prove(name)
		if root, err := p.Root(); err != nil || root != m.Root() || p.Name == a && len(p.Siblings) < 22 {
			t.Errorf("%s: root %s, %v, %d siblings", name, root, err, len(p.Siblings))
		}
	}
	m.Delete(b)
	if m.Root() != alone {
		t.Error("the map does not collapse after a deletion")
	}
	if p := m.Prove(b); p.Other == nil || len(p.Siblings) != 0 {
		t.Errorf("proof of a deleted name: %+v", p)
	}
	m.Delete(a)
	if m.Root() != (Hash{}) {
		t.Error("an empty map has another root than zeros")
	}
}

// TestOneAnswer refuses proofs that show another member at a place where it cannot be.
func TestOneAnswer(t *testing.T) {
	m := NewMap()
	for i := range 50 {
		m.Set(fmt.Sprint(i), Hash{byte(i)})
	}
	p := m.Prove("7")
	own := Member{sha256.Sum256([]byte("7")), *p.Value}
	absent := &NameProof{Name: "7", Siblings: p.Siblings, Other: &own}
	if _, err := absent.Root(); err == nil {
		t.Error("a name's own member shows that it is absent")
	}
	other := m.Prove("8")
	elsewhere := &NameProof{Name: "7", Siblings: other.Siblings,
		Other: &Member{sha256.Sum256([]byte("8")), *other.Value}}
	if root, err := elsewhere.Root(); err == nil && root == m.Root() {
		t.Error("a member of another place shows that a name is absent")
	}
	if _, err := (&NameProof{Name: "7", Siblings: make([]Hash, 257)}).Root(); err == nil {
		t.Error("257 siblings are accepted")
	}
}

func (m *Map) has(name string) bool { return m.Prove(name).Value != nil }

func TestRevocationsStay(t *testing.T) {
	sum := strings.Repeat("0a", 32)
	path, text := "revocations/X/Tool-"+strings.ToUpper(sum)+".JSON", []byte("{}")
	m := NewMap()
	m.Apply([]Change{NewChange("revocations/README.md", modeFile, nil),
		NewChange("revocations/.gitkeep", modeFile, nil)})
	if m.Apply([]Change{NewChange(path, modeExecutable, text)}); !m.has("revoked/tool-"+sum) || !m.has(path) {
		t.Fatal("a nested revocation in another case is not one")
	}
	m.Apply([]Change{NewChange(path, modeFile, []byte("{ }"))})
	m.Apply([]Change{NewChange(path, Gone, nil)})
	p := m.Prove("revoked/tool-" + sum)
	if p.Value == nil || *p.Value != sha256.Sum256(text) || m.has(path) {
		t.Errorf("after the file went the name has %v", p.Value)
	}
	// Of several entries in one commit the least path counts.
	m = NewMap()
	m.Apply([]Change{NewChange("revocations/b/tool-"+sum, 0o120000, []byte("b")),
		NewChange("revocations/a/tool-"+sum, 0o160000, nil)})
	if p := m.Prove("revoked/tool-" + sum); p.Value == nil || *p.Value != sha256.Sum256(nil) {
		t.Errorf("two entries in one commit set %v", p.Value)
	}
	large := append([]byte(`{"slug":"tool","revoked_receipt_sha256":"`+sum+`"}`), bytes.Repeat([]byte(" "), 1<<20)...)
	if names := revoked("revocations/x", large); names != nil {
		t.Errorf("a file of more than 1 MiB revokes %q", names)
	}
	if names := revoked("revocations/\u212Aa-"+sum, nil); names != nil {
		t.Errorf("a Kelvin sign is taken for a k: %q", names)
	}
}

// world is a registry with one listing, its log, and those who sign.
type world struct {
	entries []Entry
	log     Log
	state   *Map
	listing []byte
	signers map[string]ed25519.PrivateKey
	policy  string
}

const (
	origin   = "registry.example.org/log"
	testSlug = "tool"
)

var testTime = time.Date(2026, 5, 7, 0, 0, 0, 0, time.UTC)

func testListing(slug, pin string) []byte {
	return fmt.Appendf(nil, `{"slug":%q,"name":"Tool","tool_did":"did:web:tool.example",`+
		`"manifest_uri":"https://tool.example/m.json","conformance_level":"L1",`+
		`"conformance_receipt_uri":"https://tool.example/r.json","conformance_receipt_sha256":%q,`+
		`"issued_at":"2026-05-01T00:00:00Z","expires_at":"2026-07-01T00:00:00Z"}`+"\n", slug, pin)
}

var testPin = strings.Repeat("ab", 32)

func newWorld(t testing.TB, commits ...[]Change) *world {
	t.Helper()
	w := &world{state: NewMap(), listing: testListing(testSlug, testPin), signers: map[string]ed25519.PrivateKey{}}
	w.policy = "log " + w.key("log", origin, typeNote) + "\n"
	for _, name := range []string{"a", "b", "c"} {
		w.policy += "witness " + name + " " + w.key(name, name+".example", typeCosignature) + "\n"
	}
	w.policy += "group two 2 a b c\nquorum two\n"
	w.commit(t, NewChange("README.md", modeFile, nil))
	w.commit(t, NewChange(ListingPath(testSlug), modeFile, w.listing))
	for _, changes := range commits {
		w.commit(t, changes...)
	}
	return w
}

func (w *world) key(signer, name string, kind byte) string {
	seed := sha256.Sum256([]byte(signer))
	w.signers[signer] = ed25519.NewKeyFromSeed(seed[:])
	return verifierKey(name, kind, w.signers[signer].Public().(ed25519.PublicKey))
}

func verifierKey(name string, kind byte, public []byte) string {
	data := append([]byte{kind}, public...)
	sum := sha256.Sum256(append([]byte(name+"\n"), data...))
	return fmt.Sprintf("%s+%x+%s", name, sum[:4], base64.StdEncoding.EncodeToString(data))
}

func (w *world) commit(t testing.TB, changes ...Change) {
	t.Helper()
	w.state.Apply(changes)
	id := fmt.Sprintf("%040x", len(w.entries)+1)
	e := Entry{Commit: id, Time: testTime.Unix() + int64(len(w.entries)), Files: w.state.Root()}
	must.OK(t, w.log.Add(e.Text()))
	w.entries = append(w.entries, e)
}

// line returns a signature line.
func (w *world) line(signer, name string, kind byte, text string, at time.Time) string {
	private := w.signers[signer]
	sum := sha256.Sum256(slices.Concat([]byte(name+"\n"), []byte{kind}, private.Public().(ed25519.PublicKey)))
	sig := sum[:4]
	if kind == typeCosignature {
		sig = binary.BigEndian.AppendUint64(sig, uint64(at.Unix()))
		text = fmt.Sprintf("cosignature/v1\ntime %d\n%s", at.Unix(), text)
	}
	sig = append(sig, ed25519.Sign(private, []byte(text))...)
	return "— " + name + " " + base64.StdEncoding.EncodeToString(sig) + "\n"
}

// checkpoint returns the signed log checkpoint, cosigned by a and b an hour ago.
func (w *world) checkpoint(t testing.TB) (text, signatures string) {
	t.Helper()
	root := must.Get(w.log.Root(w.log.Size()))(t)
	text = Checkpoint{origin, w.log.Size(), root}.Text()
	signatures = w.line("log", origin, typeNote, text, testTime)
	for _, name := range []string{"a", "b"} {
		signatures += w.line(name, name+".example", typeCosignature, text, testTime.Add(-time.Hour))
	}
	return text, signatures
}

// prove returns the proof of a listing, over a signed log checkpoint.
func (w *world) prove(t testing.TB, slug, checkpoint string) []byte {
	t.Helper()
	s, err := ParseSigned([]byte(checkpoint))
	must.OK(t, err)
	f := &File{Signed: s, Entry: w.entries[len(w.entries)-1], Index: w.log.Size() - 1,
		Names: []NameProof{*w.state.Prove(ListingPath(slug))}}
	if f.Names[0].Value != nil {
		f.Content = w.listing
		f.Names = append(f.Names, *w.state.Prove(RevokedName(slug, testPin)))
	}
	if f.Path, err = tlog.ProveRecord(w.log.Size(), f.Index, &w.log); err != nil {
		t.Fatal(err)
	}
	data := must.Get(f.Encode())(t)
	return data
}

func (w *world) proof(t testing.TB) []byte {
	t.Helper()
	text, signatures := w.checkpoint(t)
	return w.prove(t, testSlug, text+"\n"+signatures)
}

func (w *world) options(t testing.TB) Options {
	t.Helper()
	policy := must.Get(ParsePolicy([]byte(w.policy)))(t)
	return Options{Policy: policy, Now: testTime, MaxAge: 24 * time.Hour}
}

func codeOf(err error) string {
	if r, ok := err.(*Refusal); ok {
		return r.Code
	}
	return fmt.Sprint(err)
}

// TestListed requires the format to stay: the proof is compared with the one in testdata.
func TestListed(t *testing.T) {
	w := newWorld(t)
	data := w.proof(t)
	r := must.Get(Check(data, testSlug, w.options(t)))(t)
	if r.Cosigned != 2 || r.Witnesses != 3 || !r.AsOf.Equal(testTime.Add(-time.Hour)) || r.Listing.Level != "L1" ||
		r.Entry != w.entries[1] || r.Log.Name() != origin {
		t.Errorf("result %+v", r)
	}
	for name, made := range map[string][]byte{"listed.tlog-proof": data, "policy.txt": []byte(w.policy)} {
		file := filepath.Join("testdata", name)
		if *update {
			must.OK(t, os.WriteFile(file, made, 0o666))
		}
		if kept, err := os.ReadFile(file); err != nil || !bytes.Equal(kept, made) {
			t.Errorf("%s differs, %v; made\n%s", file, err, made)
		}
	}
}

// TestEachByte changes each byte of a proof in several ways. Only the line of an unknown key and the line of a witness
// that the quorum does not need may change.
func TestEachByte(t *testing.T) {
	w := newWorld(t)
	w.key("x", "unknown.example", typeNote)
	text, signatures := w.checkpoint(t)
	beyond := len(text) + 1 + len(signatures)
	signatures += w.line("x", "unknown.example", typeNote, text, testTime)
	signatures += w.line("c", "c.example", typeCosignature, text, testTime)
	data := w.prove(t, testSlug, text+"\n"+signatures)
	beyond += len(data) - len(text) - 1 - len(signatures)
	w.policy = strings.Replace(w.policy, "two 2 a b c", "two all a b", 1)
	o := w.options(t)
	if _, err := Check(data, testSlug, o); err != nil {
		t.Fatal(err)
	}
	for _, anyAge := range []bool{false, true} {
		o.AnyAge = anyAge
		for i := range beyond {
			for _, to := range []byte{data[i] ^ 1, data[i] ^ 0x20, data[i] ^ 0x80, 'A', '\n', ' ', 0} {
				if to == data[i] {
					continue
				}
				changed := slices.Clone(data)
				changed[i] = to
				if _, err := Check(changed, testSlug, o); err == nil {
					t.Fatalf("byte %d %q may be %q", i, data[i], to)
				}
			}
			if _, err := Check(slices.Delete(slices.Clone(data), i, i+1), testSlug, o); err == nil {
				t.Fatalf("byte %d %q may be missing", i, data[i])
			}
			if _, err := Check(slices.Insert(slices.Clone(data), i, data[i]), testSlug, o); err == nil {
				t.Fatalf("byte %d %q may be there twice", i, data[i])
			}
		}
	}
}

func TestCheck(t *testing.T) {
	gone := func(path string) []Change { return []Change{NewChange(path, Gone, nil)} }
	revocation := "revocations/" + testSlug + "-" + testPin + ".json"
	ago := func(d time.Duration) time.Time { return testTime.Add(-d) }
	signed := func(edit func(w *world, text string) string) func(*testing.T, *world) []byte {
		return func(t *testing.T, w *world) []byte {
			text, _ := w.checkpoint(t)
			return w.prove(t, testSlug, text+"\n"+edit(w, text))
		}
	}
	log := func(w *world, text string) string { return w.line("log", origin, typeNote, text, testTime) }
	by := func(w *world, name, text string, at time.Time) string {
		return w.line(name, name+".example", typeCosignature, text, at)
	}
	sized := func(size int64) func(*testing.T, *world) []byte {
		return func(t *testing.T, w *world) []byte {
			c := Checkpoint{origin, size, Hash{}}
			text := c.Text()
			lines := log(w, text) + by(w, "a", text, ago(0)) + by(w, "b", text, ago(0))
			f := &File{Entry: w.entries[1], Index: size - 1, Content: w.listing, Path: make([]Hash, 1),
				Signed: &Signed{c, []byte(text + "\n" + lines)},
				Names: []NameProof{*w.state.Prove(ListingPath(testSlug)),
					*w.state.Prove(RevokedName(testSlug, testPin))}}
			data := must.Get(f.Encode())(t)
			return data
		}
	}
	for _, tt := range []struct {
		name    string
		commits [][]Change
		proof   func(*testing.T, *world) []byte
		policy  func(*world) string
		slug    string
		code    string
	}{
		{name: "listed, later commits, an empty one", commits: [][]Change{nil, {NewChange("x", modeFile, nil)}, nil}},
		{name: "revoked", commits: [][]Change{{NewChange(revocation, modeFile, nil)}}, code: "revoked"},
		{name: "revoked, and the file is gone", commits: [][]Change{{NewChange(revocation, modeFile, nil)},
			gone(revocation)}, code: "revoked"},
		{name: "removed", commits: [][]Change{gone(ListingPath(testSlug))}, code: "not-listed"},
		{name: "another slug", slug: "other", code: "proof-subject"},
		{name: "an older log checkpoint with the proof of an earlier entry", commits: [][]Change{nil},
			proof: func(t *testing.T, w *world) []byte {
				text, signatures := w.checkpoint(t)
				s, _ := ParseSigned([]byte(text + "\n" + signatures))
				f := &File{Signed: s, Entry: w.entries[1], Index: 1, Content: w.listing,
					Names: []NameProof{*w.state.Prove(ListingPath(testSlug)),
						*w.state.Prove(RevokedName(testSlug, testPin))}}
				f.Path, _ = tlog.ProveRecord(w.log.Size(), 1, &w.log)
				data, _ := f.Encode()
				return data
			}, code: "proof-not-current"},
		{name: "unknown lines, twice", proof: signed(func(w *world, text string) string {
			w.key("x", "x.example", typeNote)
			x := w.line("x", "x.example", typeNote, text, testTime)
			return x + by(w, "a", text, ago(0)) + x + log(w, text) + by(w, "b", text, ago(0))
		})},
		{name: "three where two are asked, one of them old", proof: signed(func(w *world, text string) string {
			return log(w, text) + by(w, "a", text, ago(0)) + by(w, "b", text, ago(48*time.Hour)) +
				by(w, "c", text, ago(0))
		})},
		{name: "two of three are old", proof: signed(func(w *world, text string) string {
			return log(w, text) + by(w, "a", text, ago(0)) + by(w, "b", text, ago(25*time.Hour)) +
				by(w, "c", text, ago(48*time.Hour))
		}), code: "proof-old"},
		{name: "the second line of a witness does not count", proof: signed(func(w *world, text string) string {
			return log(w, text) + by(w, "a", text, ago(48*time.Hour)) + by(w, "b", text, ago(0)) +
				by(w, "a", text, ago(0))
		}), code: "proof-old"},
		{name: "one witness twice", proof: signed(func(w *world, text string) string {
			return log(w, text) + by(w, "a", text, ago(0)) + by(w, "a", text, ago(time.Second))
		}), code: "proof-quorum"},
		{name: "a cosignature of the future", proof: signed(func(w *world, text string) string {
			return log(w, text) + by(w, "a", text, ago(0)) + by(w, "b", text, ago(-5*time.Minute-time.Second))
		}), code: "proof-quorum"},
		{name: "a clock that is five minutes ahead", proof: signed(func(w *world, text string) string {
			return log(w, text) + by(w, "a", text, ago(0)) + by(w, "b", text, ago(-5*time.Minute))
		})},
		{name: "a wrong cosignature beyond the quorum", proof: signed(func(w *world, text string) string {
			return log(w, text) + by(w, "a", text, ago(0)) + by(w, "b", text, ago(0)) + by(w, "c", text+"x", ago(0))
		}), code: "proof-quorum"},
		{name: "no signature of the log", proof: signed(func(w *world, text string) string {
			return by(w, "a", text, ago(0)) + by(w, "b", text, ago(0))
		}), code: "proof-unsigned"},
		{name: "a witness that signs as the log does", proof: signed(func(w *world, text string) string {
			return log(w, text) + by(w, "a", text, ago(0)) + w.line("b", "b.example", typeNote, text, ago(0))
		}), code: "proof-quorum"},
		{name: "a log of another origin", policy: func(w *world) string {
			return "log " + w.key("log", "other.example/log", typeNote) + "\nquorum none\n"
		}, proof: signed(func(w *world, text string) string {
			return w.line("log", "other.example/log", typeNote, text, ago(0))
		}), code: "proof-unsigned"},
		{name: "a log of the largest size", proof: sized(1 << 62), code: "proof-root"},
		{name: "a log of more entries than a tree can have", proof: sized(1<<62 + 1), code: "proof-malformed"},
		{name: "a log of the largest number", proof: sized(math.MaxInt64), code: "proof-malformed"},
		{name: "any one log suffices", policy: func(w *world) string {
			return "log " + w.key("log2", origin, typeNote) + "\n" + w.policy
		}},
		{name: "no quorum", policy: func(w *world) string {
			return strings.ReplaceAll(w.policy, "quorum two", "quorum none")
		}, code: "proof-undated"},
		{name: "one of one", policy: func(w *world) string {
			return strings.ReplaceAll(w.policy, "quorum two", "quorum b")
		}},
		{name: "all of two", policy: func(w *world) string {
			return strings.ReplaceAll(w.policy, "group two 2 a b c", "group two all a b")
		}},
		{name: "all of three", policy: func(w *world) string {
			return strings.ReplaceAll(w.policy, "two 2 a", "two all a")
		}, code: "proof-quorum"},
		{name: "a group in a group", policy: func(w *world) string {
			return strings.ReplaceAll(w.policy, "group two 2 a b c", "group bc any b c\ngroup two all a bc")
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, tt.commits...)
			if tt.proof == nil {
				tt.proof = func(t *testing.T, w *world) []byte { return w.proof(t) }
			}
			data := tt.proof(t, w)
			if tt.policy != nil {
				w.policy = tt.policy(w)
			}
			slug := testSlug
			if tt.slug != "" {
				slug = tt.slug
			}
			_, err := Check(data, slug, w.options(t))
			if got := codeOf(err); got != tt.code && (err != nil || tt.code != "") {
				t.Errorf("%s (%v), want %q", got, err, tt.code)
			}
		})
	}
}

// TestSpellings requires the one spelling of each part of the file, in proofs that are signed as they should be.
func TestSpellings(t *testing.T) {
	w := newWorld(t)
	data := string(w.proof(t))
	object, _, _ := strings.Cut(data[strings.Index(data, "extra ")+6:], "\n")
	text := must.Get(fromBase64(object))(t)
	extra := func(old, new string) string {
		if !strings.Contains(string(text), old) {
			t.Fatalf("no %s in %s", old, text)
		}
		changed := strings.Replace(string(text), old, new, 1)
		return strings.Replace(data, object, base64.StdEncoding.EncodeToString([]byte(changed)), 1)
	}
	longer, _ := w.checkpoint(t)
	longer += "\nx\n"
	cosigned := data[:strings.Index(data, origin+"\n")] + longer + "\n" +
		w.line("log", origin, typeNote, longer, testTime)
	for _, name := range []string{"a", "b"} {
		cosigned += w.line(name, name+".example", typeCosignature, longer, testTime)
	}
	for name, changed := range map[string]string{
		"a second text":     cosigned,
		"white space":       extra(`{"version":1`, `{ "version":1`),
		"a version":         extra(`{"version":1`, `{"version":2`),
		"an exponent":       extra(`{"version":1`, `{"version":1e0`),
		"another order":     extra(`{"version":1,`, `{`),
		"a member twice":    extra(`{"version":1,`, `{"version":1,"version":1,`),
		"an extra member":   extra(`{"version":1,`, `{"version":1,"x":1,`),
		"null":              extra(`,"files":`, `,"after":null,"files":`),
		"an empty after":    extra(`,"files":`, `,"after":"","files":`),
		"another case":      extra(`"commit":"`, `"Commit":"`),
		"an escape":         extra(`"path":"i`, `"path":"\u0069`),
		"no files":          extra(`"files":[`, `"files":[],"x":[`),
		"an empty other":    extra(`"siblings":`, `"other":"","siblings":`),
		"a sum for content": extra(`"content":"`, `"sha256":"`),
		"a short sibling":   extra(`"siblings":"`, `"siblings":"AAAA`),
		"trailing text":     extra(`]}`, `]} `),
		"a leading zero":    strings.Replace(data, "index 1", "index 01", 1),
		"a sign":            strings.Replace(data, "index 1", "index +1", 1),
		"a line more":       data + "\n",
		"CR LF":             strings.ReplaceAll(data, "\n", "\r\n"),
		"an extension line": strings.Replace(data, "\n\n—", "\nx 1\n\n—", 1),
		"no signature":      data[:strings.Index(data, "—")],
		"unused bits":       strings.Replace(data, "=\n\n"+origin, "B\n\n"+origin, 1),
		"a second proof":    data + data,
		"":                  "",
	} {
		if _, err := Check([]byte(changed), testSlug, w.options(t)); codeOf(err) != "proof-malformed" {
			t.Errorf("%s: %v", name, err)
		}
	}
	// Other unused bits in a signature, which note.Open accepts.
	for i := range data {
		if data[i] == '=' && i > strings.Index(data, "—") && data[i-1] != '=' {
			for _, c := range "BCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/" {
				changed := data[:i-1] + string(c) + data[i:]
				if _, err := Check([]byte(changed), testSlug, w.options(t)); changed != data && err == nil {
					t.Errorf("byte %d may be %q", i-1, c)
				}
			}
		}
	}
}

// TestEmptyFile requires an empty file to be one: its absence is another thing.
func TestEmptyFile(t *testing.T) {
	w := newWorld(t, []Change{NewChange(ListingPath(testSlug), modeFile, nil)})
	w.listing = nil
	data := w.proof(t)
	if _, err := Check(data, testSlug, w.options(t)); codeOf(err) != "proof-subject" {
		t.Errorf("an empty listing: %v", err)
	}
	f, err := ParseFile(data)
	if err != nil || f.Names[0].Value == nil || *f.Names[0].Value != sha256.Sum256(nil) {
		t.Errorf("an empty file is read as %+v, %v", f, err)
	}
}

func TestPolicyRefused(t *testing.T) {
	w := newWorld(t)
	lines := strings.SplitAfter(w.policy, "\n")
	log, a, b := lines[0], lines[1], lines[2]
	mldsa := "witness m " + verifierKey("m.example", typeMLDSA, make([]byte, mldsaSize)) + "\n"
	many := log
	for i := range 33 {
		many += fmt.Sprintf("witness w%d %s\n", i, w.key(fmt.Sprint(i), "w.example", typeCosignature))
	}
	for _, tt := range []struct{ name, policy, want string }{
		{"comments and blanks", "# x\n\n \t# y\n" + log + "  quorum \t none \n", ""},
		{"URLs", log[:len(log)-1] + " https://log.example/\n" + a[:len(a)-1] + " https://a.example/x\nquorum a\n", ""},
		{"ML-DSA-44", log + mldsa + a + "group g any a m\nquorum a\n", ""},
		{"no log", a + "quorum a\n", `no line "log"`},
		{"no quorum", log, `no line "quorum"`},
		{"two quorums", log + "quorum none\nquorum none\n", "line 3"},
		{"keyword", log + "witnesses x\n", "line 2"},
		{"defined later", log + "quorum a\n" + a, "line 2"},
		{"a group of itself", log + a + "group g any a g\n", "line 3"},
		{"a name twice", log + a + strings.Replace(b, " b ", " a ", 1), "line 3"},
		{"a group of a witness's name", log + a + "group a any a\n", "line 3"},
		{"the name none", log + strings.Replace(a, " a ", " none ", 1), "line 2"},
		{"a key twice", log + a + strings.Replace(a, " a ", " z ", 1), "line 3"},
		{"a log as witness", log + "witness l " + w.key("log", "l.example", typeCosignature) + "\n", "line 2"},
		{"two groups", log + a + b + "group g any a\ngroup h any a b\n", "line 5"},
		{"K 0", log + a + "group g 0 a\n", "line 3"},
		{"K above", log + a + "group g 2 a\n", "line 3"},
		{"K spelled otherwise", log + a + "group g 01 a\n", "line 3"},
		{"an empty group", log + "group g all\n", "line 2"},
		{"a log's key as witness", log + "witness x " + w.key("x", "x.example", typeNote) + "\n", "line 2"},
		{"a witness's key as log", "log " + w.key("x", "x.example", typeCosignature) + "\n", "line 1"},
		{"a URL", log[:len(log)-1] + " ftp://x\n", "line 1"},
		{"CR LF", strings.ReplaceAll(w.policy, "\n", "\r\n"), "line 1"},
		{"33 witnesses", many, "line 34"},
		{"too large", w.policy + strings.Repeat("#", MaxPolicy), "exceeds"},
		{"another hash", strings.Replace(log, "+", "+0", 1), "line 1"},
	} {
		p, err := ParsePolicy([]byte(tt.policy))
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
		if err == nil && (len(p.Warnings) > 0) != (tt.name == "ML-DSA-44") {
			t.Errorf("%s: warnings %q", tt.name, p.Warnings)
		}
	}
	p := must.Get(ParsePolicy([]byte(log + mldsa + a + "group g all a m\nquorum g\n")))(t)
	o := w.options(t)
	o.Policy = p
	if _, err := Check(w.proof(t), testSlug, o); codeOf(err) != "proof-quorum" {
		t.Errorf("an ML-DSA-44 witness counts: %v", err)
	}
}

// TestOneHistory compares the rule with all pairs of disjoint sets.
func TestOneHistory(t *testing.T) {
	w := newWorld(t)
	log, _, _ := strings.Cut(w.policy, "\n")
	witnesses := log + "\n"
	names := strings.Fields("a b c d e f")
	for _, name := range names {
		witnesses += "witness " + name + " " + w.key("w"+name, name+".example", typeCosignature) + "\n"
	}
	for _, groups := range []string{
		"group g 1 a\nquorum g", "group g 1 a b\nquorum g", "group g 2 a b c\nquorum g", "group g all a b c\nquorum g",
		"group g 2 a b c d\nquorum g", "group g 3 a b c d\nquorum g", "quorum none", "quorum a",
		"group x any a b\ngroup y any c d\ngroup g all x y\nquorum g",
		"group x all a b\ngroup y any c d\ngroup g all x y\nquorum g",
		"group x all a b\ngroup y any c d\ngroup g any x y\nquorum g",
		"group x any a b\ngroup g 2 x c d\nquorum g", "group x any a b\ngroup y any c d\ngroup g 3 x y e f\nquorum g",
		"group x 2 a b c\ngroup y 2 d e f\ngroup g all x y\nquorum g", "group x any a b\ngroup g 2 x c\nquorum g",
	} {
		p := must.Get(ParsePolicy([]byte(witnesses + groups + "\n")))(t)
		split := false
		for set := range 1 << len(names) {
			rest := 1<<len(names) - 1 - set
			split = split || p.quorum != nil && p.Missing(func(i int) bool { return set>>i&1 == 1 }) == 0 &&
				p.Missing(func(i int) bool { return rest>>i&1 == 1 }) == 0
		}
		if err := p.OneHistory(); (err != nil) != split {
			t.Errorf("%q: %v, want an error: %v", groups, err, split)
		}
	}
}

func TestPolicyOf(t *testing.T) {
	w := newWorld(t)
	log, a, b := w.key("log", origin, typeNote), w.key("a", "a.example", typeCosignature),
		w.key("b", "b.example", typeCosignature)
	o := w.options(t)
	for _, tt := range []struct {
		witnesses []string
		code      string
	}{
		{nil, "proof-undated"},
		{[]string{a}, ""},
		{[]string{a, b}, ""},
		{[]string{a, w.key("c", "c.example", typeCosignature)}, "proof-quorum"},
	} {
		var err error
		if o.Policy, err = PolicyOf(log, tt.witnesses); err != nil {
			t.Fatal(err)
		}
		_, err = Check(w.proof(t), testSlug, o)
		if err == nil && tt.code != "" || err != nil && codeOf(err) != tt.code {
			t.Errorf("%d witnesses: %v, want %q", len(tt.witnesses), err, tt.code)
		}
	}
	for _, bad := range [][]string{{log}, {a, a}, {"x"}} {
		if _, err := PolicyOf(log, bad); err == nil {
			t.Errorf("the witnesses %q are accepted", bad)
		}
	}
	if _, err := PolicyOf(a, nil); err == nil {
		t.Error("a witness is accepted as log")
	}
}

// TestKeysOfNote compares keys and signatures with those of package note.
func TestKeysOfNote(t *testing.T) {
	w := newWorld(t)
	seed := w.signers["log"].Seed()
	private, public, err := note.GenerateKey(bytes.NewReader(seed), origin)
	must.OK(t, err)
	signer := must.Get(note.NewSigner(private))(t)
	text, _ := w.checkpoint(t)
	data := must.Get(note.Sign(&note.Note{Text: text}, signer))(t)
	s := must.Get(ParseSigned(data))(t)
	key := must.Get(ParseKey(public))(t)
	if signature, err := key.Signature(s); signature == nil || err != nil || key.String() != public {
		t.Errorf("signature %x, %v", signature, err)
	}
	for _, bad := range []string{"", "x", public + "=", strings.ToUpper(public), strings.Replace(public, "+", " +", 1),
		strings.Replace(public, "+", "\u2003+", 1), "x" + public} {
		if _, err := ParseKey(bad); err == nil {
			t.Errorf("the key %q is accepted", bad)
		}
	}
}

func TestTiles(t *testing.T) {
	var log Log
	var entries []Entry
	for i := range 600 {
		e := Entry{Commit: fmt.Sprintf("%064x", i), Time: int64(i), Files: Hash{byte(i)}}
		if i%100 == 99 {
			e.After = strings.Repeat("f", 40)
		}
		entries = append(entries, e)
		must.OK(t, log.Add(e.Text()))
	}
	tiles := writeTiles(t, &log, entries)
	var paths []string
	for path := range tiles {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	want := []string{"tile/0/000", "tile/0/001", "tile/0/002.p/88", "tile/1/000.p/2", "tile/entries/000",
		"tile/entries/001", "tile/entries/002.p/88"}
	if !slices.Equal(paths, want) {
		t.Errorf("tiles %q, want %q", paths, want)
	}
	if got := TilePath(tlog.Tile{H: 8, L: 12, N: 1234067, W: 3}); got != "tile/12/x001/x234/067.p/3" {
		t.Errorf("path %s", got)
	}
	read := func(path string, most int64) ([]byte, error) {
		data, found := tiles[path]
		if !found || int64(len(data)) > most {
			return nil, os.ErrNotExist
		}
		return data, nil
	}
	for _, size := range []int64{1, 256, 512, 600} {
		root := must.Get(log.Root(size))(t)
		c := Checkpoint{origin, size, root}
		if all, err := ReadEntries(c, read); err != nil || !slices.Equal(all, entries[:size]) {
			t.Errorf("size %d: %d entries, %v", size, len(all), err)
		}
		c.Root[0]++
		if _, err := ReadEntries(c, read); err == nil {
			t.Errorf("size %d: tiles of another root are accepted", size)
		}
	}
	root, _ := log.Root(600)
	for _, size := range []int64{0, 599, 601, 1 << 62} {
		if _, err := ReadEntries(Checkpoint{origin, size, root}, read); err == nil {
			t.Errorf("the root of 600 entries is accepted for %d", size)
		}
	}
	const path = "tile/entries/001"
	whole := tiles[path]
	first, second := AppendEntry(nil, entries[256].Text()), AppendEntry(nil, entries[257].Text())
	rest := whole[len(first)+len(second):]
	for name, data := range map[string][]byte{
		"missing":          nil,
		"cut":              whole[:len(whole)-1],
		"cut at an entry":  whole[:len(whole)-len(AppendEntry(nil, entries[511].Text()))],
		"in another order": slices.Concat(second, first, rest),
		"an entry twice":   slices.Concat(first, first, second, rest),
		"an entry less":    slices.Concat(second, rest),
		"another tile":     tiles["tile/entries/000"],
		"a huge entry":     slices.Concat([]byte{0xff, 0xff}, whole),
	} {
		if tiles[path] = data; data == nil {
			delete(tiles, path)
		}
		if _, err := ReadEntries(Checkpoint{origin, 600, root}, read); err == nil {
			t.Errorf("%s: the tile is accepted", name)
		}
	}
}

func TestParseEntry(t *testing.T) {
	e := Entry{Commit: strings.Repeat("a", 40), Time: 7, After: strings.Repeat("b", 40)}
	text := string(e.Text())
	if got, err := ParseEntry([]byte(text)); err != nil || got != e {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"", text + "\n", text + "x\n", strings.Replace(text, "time 7", "time 07", 1),
		strings.Replace(text, "time 7", "time -7", 1), strings.Replace(text, "v1", "v2", 1), text[:len(text)-1],
		strings.Replace(text, "A=", "B=", 1), strings.ToUpper(text), strings.Replace(text, "aaaa", "aaa", 1)} {
		if _, err := ParseEntry([]byte(bad)); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func FuzzParseFile(f *testing.F) {
	w := newWorld(f)
	f.Add(w.proof(f))
	f.Add([]byte("c2sp.org/tlog-proof@v1\nextra e30=\nindex 0\n\nx\n1\n\n— x AAAAAAA=\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := ParseFile(data)
		if err != nil {
			return
		}
		if again, err := file.Encode(); err != nil || !bytes.Equal(again, data) {
			t.Errorf("%q is written again as %q, %v", data, again, err)
		}
	})
}
