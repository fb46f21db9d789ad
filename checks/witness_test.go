package checks

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/receipt"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"

	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/domainage"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/manifest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// web5 is a witness that counts for L5, on a domain of its own, of a publisher.
func web5(name, publisher string) witness {
	m := &manifest.Manifest{}
	m.Publisher.DID, m.Publisher.LegalName = "did:web:"+publisher+".example", publisher
	return witness{did: "did:web:" + name + ".example", domain: domainage.Domain{ICANN: name + ".example"},
		publisher: m}
}

func TestTally(t *testing.T) {
	a, b, c := web5("a", "one"), web5("b", "two"), web5("c", "three")
	like := func(w witness, edit func(*witness)) witness {
		edit(&w)
		return w
	}
	twin := func(w witness, name string) witness { // of one publisher
		return like(w, func(w *witness) { w.did, w.domain.ICANN = "did:web:"+name+".example", name+".example" })
	}
	open := func(w witness) witness {
		return like(w, func(w *witness) { w.weight, w.publisher = unsure, nil })
	}
	doubted := func(w witness) witness {
		return like(w, func(w *witness) { w.doubt, w.publisher = "no Manifest", nil })
	}
	path := like(web5("d", "four"), func(w *witness) { w.dependence = "a path" })
	bad := like(web5("d", "four"), func(w *witness) { w.weight = broken })
	idle := like(web5("d", "four"), func(w *witness) { w.weight = ignored })
	for _, test := range []struct {
		name           string
		all            []witness
		sure, possible int
	}{
		{"none", nil, 0, 0},
		{"one", []witness{a}, 1, 1},
		{"three", []witness{a, b, c}, 3, 3},
		{"one DID three times", []witness{a, a, a}, 1, 1},
		{"what does not count", []witness{a, b, path, bad, idle}, 2, 2},
		{"the first is the one to leave out", []witness{twin(a, "x"), a, b, c}, 3, 3},
		{"two that block one another, with two others", []witness{a, twin(a, "x"), b, c}, 3, 3},
		{"the hub of a star", []witness{a, twin(a, "x"), twin(a, "y"), b, c}, 3, 3},
		{"two pairs", []witness{a, twin(a, "x"), b, twin(b, "y")}, 2, 2},
		{"one open", []witness{a, b, open(c)}, 2, 3},
		{"one of unknown publisher", []witness{a, b, doubted(c)}, 2, 3},
		{"an open one on a domain that is there",
			[]witness{a, b, like(open(c), func(w *witness) { w.domain = b.domain })}, 2, 2},
		{"open ones of one DID", []witness{open(a), open(a), open(a)}, 0, 1},
	} {
		if sure, possible := tally(test.all, false); sure != test.sure || possible != test.possible {
			t.Errorf("%s: %d count and %d may, want %d and %d", test.name, sure, possible, test.sure, test.possible)
		}
	}
}

// TestIndependentSet compares the search with one that tries all subsets.
func TestIndependentSet(t *testing.T) {
	for seed := range 300 {
		var all []*witness
		for i := range seed % 7 {
			w := web5(fmt.Sprintf("w%d", i), fmt.Sprintf("p%d", (seed*7+i*i*3+seed/7)%4))
			all = append(all, &w)
		}
		want := 0
		for set := range 1 << len(all) {
			var chosen []*witness
			independent := true
			for i, w := range all {
				if set&(1<<i) == 0 {
					continue
				}
				for _, other := range chosen {
					independent = independent && dependent(w, other) == ""
				}
				chosen = append(chosen, w)
			}
			if independent {
				want = max(want, min(len(chosen), quorum))
			}
		}
		if got := independentSet(all, dependent); got != want {
			t.Errorf("seed %d: %d are independent, want %d", seed, got, want)
		}
	}
}

// A witness whose documents nobody sought may count, and one on an odd A-label stands under its registered domain.
func TestWeighWithoutDocuments(t *testing.T) {
	w, repo := built(t, `
base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
`)
	s := &Subject{Run: runOn(t, repo, w.Now)}
	for _, c := range []struct {
		id         string
		weight     weight
		code       string
		dependence bool
	}{
		{"did:web:ada.example", unsure, "witness-not-sought", false},
		{"did:web:ada.example:path", ignored, "witness-not-listed", true},
		{"did:web:xn--zzzzzz99.ada.example", ignored, "witness-not-listed", false},
	} {
		got := must.Get(weigh(s, statement{}, c.id, "EdDSA", ""))(t)
		if got.weight != c.weight || got.code != c.code || (got.dependence != "") != c.dependence ||
			got.domain.ICANN != "ada.example" {
			t.Errorf("%s: weight %d, code %q, dependence %q, domain %q", c.id, got.weight, got.code, got.dependence,
				got.domain.ICANN)
		}
	}
}

// manyKeys is a subject, and a statement with what is known about its witness ada, whose DID Document has 190 keys.
// asked counts the signatures that are verified.
func manyKeys(t testing.TB, w *fixture.World, repo *registry.Repository) (*Subject, func() statement, *int) {
	const url, id = "https://ada.example/.well-known/did.json", "did:web:ada.example"
	d := must.Get(did.Parse(id))(t)
	var more strings.Builder
	for i := range 189 {
		key := strings.TrimPrefix(fixture.DIDKey(fmt.Sprint("many ", i)), "did:key:")
		fmt.Fprintf(&more, `{"id": "#more-%d", "type": "Multikey", "publicKeyMultibase": %q},`, i, key)
	}
	text := strings.Replace(string(w.Web.Body(url)), `"verificationMethod": [`, `"verificationMethod": [`+more.String(), 1)
	doc, err := did.ParseDocument(url, []byte(text), d, w.Now)
	if err != nil || len(doc.Keys) != 190 {
		t.Fatal(doc, err)
	}
	own := must.Get(receipt.Parse("", w.Web.Body("https://ada.example/oap-conformance-receipt.json")))(t)
	known := &evidence.Witness{DIDDocument: evidence.Result[*did.Document]{State: evidence.Obtained, Value: doc},
		Receipt: evidence.Result[*receipt.Receipt]{State: evidence.Obtained, Value: own}}
	asked := 0
	return &Subject{Run: runOn(t, repo, w.Now)}, func() statement {
		st := newStatement("peer-witnesses", "did:web:nova.example", func(keys []did.Key, text string) bool {
			asked++
			return text == signedText
		}, map[string]*evidence.Witness{id: known})
		for i := range 190 {
			st.material = append(st.material, fmt.Sprint("Ed25519 ", i))
		}
		return st
	}, &asked
}

// signedText has the form of a signature.
var signedText = strings.Repeat("A", 86)

const manyKeysWorld = `
base:
  - {listing: ada, level: L4, witness: [bob]}
  - {listing: bob, level: L4, witness: [ada]}
`

// 32 entries of one witness cost little more than one: its documents are weighed once.
func TestManyEntriesOfOne(t *testing.T) {
	w, repo := built(t, manyKeysWorld)
	s, statement, asked := manyKeys(t, w, repo)
	weighAll := func(n int) func() {
		return func() {
			st := statement()
			for i := range n {
				got, err := weigh(s, st, "did:web:ada.example", "EdDSA", signedText)
				if err != nil || got.weight != counts {
					t.Fatalf("entry %d: %+v, %v", i, got, err)
				}
			}
		}
	}
	one, many := testing.AllocsPerRun(3, weighAll(1)), testing.AllocsPerRun(3, weighAll(32))
	if many > 1.2*one {
		t.Errorf("%g allocations for 32 entries, %g for one", many, one)
	}
	if *asked != 8 {
		t.Errorf("%d signatures are verified in 8 runs", *asked)
	}
	st := statement()
	for text, want := range map[string]weight{signedText: counts, strings.Repeat("B", 86): broken} {
		if got, err := weigh(s, st, "did:web:ada.example", "EdDSA", text); err != nil || got.weight != want {
			t.Errorf("%s: %+v, %v; expected weight %d", text, got, err, want)
		}
	}
}

// A budget that ends after the first witness ends the work.
func TestBudgetOfWitnesses(t *testing.T) {
	w, repo := built(t, manyKeysWorld)
	s, statement, _ := manyKeys(t, w, repo)
	clock := 0
	s.Run.Reach = func(check, subject string) bool {
		clock++
		return check == "peer-witnesses" && clock < 2
	}
	st := statement()
	for i, id := range []string{"did:web:ada.example", "did:web:ada.example", "did:web:bob.example"} {
		_, err := weigh(s, st, id, "EdDSA", signedText)
		if want := i == 2; errors.Is(err, errNotReached) != want || !want && err != nil {
			t.Errorf("entry %d: %v", i, err)
		}
	}
	if clock != 2 {
		t.Errorf("the clock was asked %d times", clock)
	}
}

func BenchmarkManyEntriesOfOne(b *testing.B) {
	w := must.Get(fixture.BuildUnserved(b.TempDir(), []byte(manyKeysWorld)))(b)
	repo := must.Get(registry.Open(w.Repo.Dir))(b)
	defer repo.Close()
	s, statement, _ := manyKeys(b, w, repo)
	for _, n := range []int{1, 32} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				st := statement()
				for range n {
					if _, err := weigh(s, st, "did:web:ada.example", "EdDSA", signedText); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
