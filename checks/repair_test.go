package checks

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/checks/internal/listed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/revocation"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// A file is removed only if it never was a record and holds no hash that is pinned. It is recovered only by the very
// entry that it had as a record.
func TestOutlook(t *testing.T) {
	is, other := &registry.Entry{Mode: registry.ModeFile}, &registry.Entry{Mode: registry.ModeExecutable}
	for _, c := range []struct {
		name    string
		outlook outlook
		head    *registry.Entry
		want    repair
	}{
		{"a record is removed", outlook{}, nil, noRepair},
		{"a record is edited", outlook{last: is}, is, noRepair},
		{"a broken file is removed", outlook{broken: true}, nil, removal},
		{"a broken file with a pinned hash is removed", outlook{broken: true, kept: "why"}, nil, noRepair},
		{"a broken file that was a record is removed", outlook{broken: true, last: is}, nil, noRepair},
		{"a broken file that was a record is restored", outlook{broken: true, last: is}, is, recovery},
		{"it gets another mode", outlook{broken: true, last: is}, other, noRepair},
		{"a broken file that never was a record is edited", outlook{broken: true}, is, noRepair},
	} {
		if got := c.outlook.of(c.head); got != c.want {
			t.Errorf("%s: got %d, want %d", c.name, got, c.want)
		}
	}
}

// A Receipt is revoked with its own hash, and with an earlier one of the same DID that was not issued before it.
func TestRevokedWith(t *testing.T) {
	at := func(seconds float64) time.Time {
		return time.Unix(1_800_000_000, 0).Add(time.Duration(seconds * float64(time.Second)))
	}
	const signed, ada = 1000, "did:web:ada.example"
	of := func(id, sum string, issued, landed float64) version {
		return versionOf(&registry.Listing{ToolDID: "did:web:" + id + ".example", ReceiptSHA256: sum,
			Issued: at(issued)}, at(landed), at(landed), "", 1)
	}
	one := strings.Repeat("1", 64)
	two, three := strings.Repeat("2", 64), strings.Repeat("3", 64)
	for _, c := range []struct {
		name, sha256, text string
		versions           []version
		want               bool
	}{
		{"its own hash", one, "", []version{of("ada", one, 1, 1)}, true},
		{"its own hash, which nothing pinned", one, "", nil, false},
		{"its own hash, which another DID pinned", one, "", []version{of("bob", one, 1, 1)}, false},
		{"another hash that nothing pinned", two, "", nil, false},
		{"issued later", two, "", []version{of("ada", one, signed+1, signed+1)}, true},
		{"issued at the same time", two, "", []version{of("ada", one, signed, signed)}, true},
		{"issued a second before", two, "", []version{of("ada", one, signed-1, signed-1)}, true},
		{"issued earlier", two, "", []version{of("ada", one, signed-1.001, signed-1)}, false},
		{"of another DID", two, "", []version{of("bob", one, signed+1, signed+1)}, false},
		{"of another Receipt", two, "", []version{of("ada", three, signed+1, signed+1)}, false},
		{"issued after it landed, before", two, "", []version{of("ada", one, signed+9, signed-2)}, false},
		{"issued after it landed", two, "", []version{of("ada", one, signed+9, signed)}, true},
		{"pinned twice, first before", two, "", []version{of("ada", one, signed-2, signed),
			of("ada", one, signed+9, signed+9)}, false},
		{"pinned twice, at last before", two, "", []version{of("ada", one, signed+9, signed+9),
			of("ada", one, signed-2, signed)}, false},
		{"two DIDs, the file is nobody's", one, "{}", []version{of("ada", one, 1, 1), of("bob", one, 1, 1)}, true},
		{"two DIDs, the file is the other's", one, `{"revoked_by_did":"did:web:bob.example"}`,
			[]version{of("ada", one, 1, 1), of("bob", one, 1, 1)}, false},
		{"two DIDs, the file is its own", one, `{"revoked_by_did":"did:web:ADA.example"}`,
			[]version{of("ada", one, 1, 1), of("bob", one, 1, 1)}, true},
		{"the file is a stranger's", one, `{"revoked_by_did":"did:web:bob.example"}`,
			[]version{of("ada", one, 1, 1)}, true},
		{"two DIDs, two witnesses and the other", one,
			`{"revoked_by_did":"did:web:bob.example","peer_witness_signatures":[1,2]}`,
			[]version{of("ada", one, 1, 1), of("bob", one, 1, 1)}, false},
		{"two DIDs, three witnesses", one,
			`{"revoked_by_did":"did:web:bob.example","peer_witness_signatures":[1,2,3]}`,
			[]version{of("ada", one, 1, 1), of("bob", one, 1, 1)}, true},
		{"two DIDs, a text that cannot be read", one, `{"revoked_by_did":"did:web:bob.example"`,
			[]version{of("ada", one, 1, 1), of("bob", one, 1, 1)}, true},
	} {
		for _, when := range []string{"before", "after", "before the present listing"} { // the listings
			p := newPast(nil, "", time.Time{})
			path := "revocations/slug-" + one + ".json"
			file := revokedFile{Revocation: revocation.Read(path, []byte(c.text)), path: path}
			if when == "before" {
				p.revoke(file)
			}
			p.current = func(string) (v version, is bool) { return v, false }
			for i, v := range c.versions {
				if when == "before the present listing" && i == len(c.versions)-1 {
					p.current = func(string) (version, bool) { return v, true }
				} else {
					p.pin("implementations/slug.json", v)
				}
			}
			if when != "before" {
				p.revoke(file)
			}
			by, err := p.revokedBy(t.Context(), ada, c.sha256, at(signed), asOf{})
			if named, _ := p.names(t.Context(), ada); err != nil || (by != nil) != c.want || c.want && !named {
				t.Errorf("%s, the file %s: %v, %v; expected %t", c.name, when, by, err, c.want)
			}
		}
	}
}

// A version that comes after another one is kept if it counts where that one does not, or is older by a clock.
func TestHolders(t *testing.T) {
	at := func(n int) time.Time { return time.Unix(int64(n), 0) }
	p := newPast(nil, "", time.Time{})
	for _, v := range []version{{number: 9, issued: at(5), dated: at(5)}, {number: 2, issued: at(5), dated: at(5)},
		{number: 9, issued: at(6), dated: at(3)}, {number: 9, issued: at(4), dated: at(6)}} {
		v.did, v.sha256 = "did:web:ada.example", "1"
		p.pin("implementations/ada.json", v)
	}
	for _, c := range []struct {
		as   asOf
		want int
	}{{asOf{}, 4}, {asOf{before: 3}, 5}, {asOf{before: 2}, 0}, {asOf{dated: true}, 3}} {
		all := p.holders(pin{Slug: "ada", SHA256: "1"}, c.as)
		if got := len(all); got != min(c.want, 1) || got > 0 && !c.as.issued(all[0]).Equal(at(c.want)) {
			t.Errorf("%+v: %v; expected %d", c.as, all, c.want)
		}
	}
}

// A listing without a date is issued when it lands.
func TestUndated(t *testing.T) {
	landed, dated := time.Unix(5, 0), time.Unix(4, 0)
	if v := versionOf(&registry.Listing{}, landed, dated, "", 1); v.issued != landed || v.dated != dated {
		t.Errorf("issued %s, dated %s; expected %s and %s", v.issued, v.dated, landed, dated)
	}
}

// The first commit that pinned a hash counts, and of one commit the first path.
func TestPinnedFirst(t *testing.T) {
	p := newPast(nil, "", time.Time{})
	p.listed("ada", version{sha256: "1", number: 1}) // nobody asked yet
	p.all = func(note func(string, version)) {
		for _, path := range []string{"b", "a", "c"} {
			note(path, version{sha256: "1", number: 4})
		}
		note("0", version{sha256: "1", number: 5})
		note("d", version{sha256: "2", number: 6})
		note("e", version{sha256: "2", number: 5})
	}
	p.pin("implementations/f.json", version{sha256: "3", number: 4})
	if _, err := p.pinnedBefore(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	p.listed("g", version{sha256: "1", number: 7})
	p.listed("h", version{sha256: "4", number: 8})
	for number, want := range map[int]string{3: "", 4: "a  implementations/f.json", 5: "a e implementations/f.json",
		8: "a e implementations/f.json h"} {
		pinned, err := p.pinnedBefore(t.Context(), number)
		got := ""
		for _, sum := range []string{"1", "2", "3", "4"} {
			got += pinned([]byte(sum)) + " "
		}
		if err != nil || strings.TrimSpace(got) != want {
			t.Errorf("up to commit %d: %q, %v; expected %q", number, got, err, want)
		}
	}
}

// A listing is judged by the text and the schema of the tree that is asked about.
func TestFaultOfATree(t *testing.T) {
	_, repo := built(t, `
base:
  - {listing: ada}
  - {commit: List}
  - {write: schemas/implementation.schema.json, text: '{"type": "array"}'}
  - {commit: Refuse}
  - {move: [schemas/implementation.schema.json, schemas/revocation.schema.json]}
  - {commit: Move}
  - {remove: schemas/revocation.schema.json}
  - {edit: implementations/ada.json, set: {/contact: 7}}
`)
	chain := must.Get(repo.FirstParents(t.Context(), "", "main"))(t)
	var trees []*registry.Tree
	for _, commit := range chain[len(chain)-4:] {
		tree := must.Get(repo.Tree(t.Context(), commit))(t)
		trees = append(trees, tree)
	}
	read := must.Get(NewStanding(t.Context(), trees[1], anyPath))(t)
	for name, st := range map[string]*Standing{"read": read, "followed": emptyStanding(trees[1])} {
		for range 2 {
			for i, want := range []fault{sound, badSchema, sound, badSchema} {
				got, err := st.fault(t.Context(), read.BySlug("ada"), trees[i])
				if err != nil || got != want {
					t.Errorf("%s, commit %d: %d, %v; expected %d", name, i, got, err, want)
				}
			}
		}
	}
}

// What the state of a listing depends on and cannot be read is an error, whatever was read of another tree.
func TestUnreadState(t *testing.T) {
	w, repo := built(t, "base: [{listing: ada}, {listing: bob, host: ada.example}, {listing: pro, provisional: true}]")
	again := opened(t, w.Repo.Dir)
	tree := must.Get(again.Tree(t.Context(), "main"))(t)
	st := must.Get(NewStanding(t.Context(), must.Get(repo.Tree(t.Context(), "main"))(t), anyPath))(t)
	must.OK(t, again.Close())
	if s, err := st.schemasOf(t.Context(), tree); err == nil {
		t.Errorf("the schemas are %v; expected an error", s)
	}
	p := &past{files: []revokedFile{{path: "revocations/a.json"}}}
	if err := p.irregular(&Withdrawal{}, nil, tree); err == nil {
		t.Error("a revocation is looked for in a tree that cannot be read: no error")
	}
	for slug, first := range map[string]string{"ada": "", "pro": "", "bob": "implementations/a.json"} {
		run := &Run{Context: t.Context(), Repo: again, Base: st, Now: w.Now}
		if st.past = newPast(again, w.Head, w.Now); first != "" {
			run.first = map[string]tenant{"did:web:ada.example": {1, first}}
		}
		st.past.read = true
		if is, err := run.State(st.BySlug(slug)); err == nil {
			t.Errorf("the history of %s cannot be read: %+v; expected an error", slug, is)
		}
	}
	run := &Run{Context: t.Context(), Repo: again, Base: emptyStanding(tree), Now: w.Now}
	run.Base.past = newPast(again, "", w.Now)
	if is, err := run.State(st.BySlug("ada")); err == nil {
		t.Errorf("a listing cannot be read: %+v; expected an error", is)
	}
	for _, slug := range []string{"ada", "bob"} {
		run.Base.listings.Add(listed.Pack(st.BySlug(slug), uint8(unjudged)))
	}
	if is, err := run.state(st.BySlug("ada"), sound, run.past(), nil); err == nil {
		t.Errorf("another listing cannot be read: %+v; expected an error", is)
	}
	run.Base = emptyStanding(nil)
	run.Base.past, run.Base.unread = newPast(again, w.Head, w.Now), []string{"implementations/ada.json"}
	run.Base.past.read = true
	if found, err := run.Withdrawn("did:web:ada.example", "", w.Now); err == nil {
		t.Errorf("the history of a listing cannot be read: %+v; expected an error", found)
	}
	none := &Listed{Path: "implementations/none.json", Slug: "none", Issued: w.Now, Expires: w.Now.AddDate(0, 1, 0)}
	if is, err := runOn(t, repo, w.Now).State(none); err != nil || is.RefusedBy != byUnreadable {
		t.Errorf("a listing that the tree lacks is %+v, %v", is, err)
	}
}

func TestSaysNothing(t *testing.T) {
	for text, want := range map[string]bool{"# comment\n": true, "\n  # comment\n\n# more": true,
		"# comment\n\n": true, "": false,
		"\n \n": false, "# comment\na: b\n": false, "a: b # comment\n": false, "a: b\n": false} {
		if got := saysNothing([]byte(text)); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

func TestPathList(t *testing.T) {
	all := slices.Repeat([]string{"a"}, 11)
	if got, want := list(all[:10]), "a, a, a, a, a, a, a, a, a, a"; got != want {
		t.Errorf("ten: %s, want %s", got, want)
	}
	if got, want := list(all), "a, a, a, a, a, a, a, a, a, a, and 1 more file"; got != want {
		t.Errorf("eleven: %s, want %s", got, want)
	}
}

// What decides about a repair and cannot be read is an error.
func TestUnreadRepair(t *testing.T) {
	_, repo := built(t, "base: [{listing: ada}, {write: schemas/revocation.schema.json, text: '{}'}]")
	tree := must.Get(repo.Tree(t.Context(), "main"))(t)
	entry := must.Get(tree.Leaf("implementations/ada.json"))(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	const ada, odd, sum = "implementations/ada.json", "revocations/odd.json",
		"1111111111111111111111111111111111111111111111111111111111111111"
	repairs := func(c registry.Change, path string) func(*Run) error {
		return func(r *Run) error {
			s := &Subject{Run: r, Path: path, Kind: registry.KindOf(path), Change: c}
			r.Subjects = []*Subject{s}
			_, err := r.Repaired()
			_, again := s.Recovers()
			if why := revocations.applies(s); (err == nil) != (again == nil) || why != "" {
				t.Errorf("%s: %v, %v, %q", path, err, again, why)
			}
			return err
		}
	}
	past := func(path string, e *registry.Entry) func(*Run) error {
		return func(r *Run) error {
			r.past().folders[registry.KindOf(path)] = []registry.PathVersion{{Path: path,
				Version: registry.Version{Entry: e}}}
			_, err := r.outlook(&Subject{Run: r, Path: path, Kind: registry.KindOf(path)})
			return err
		}
	}
	for _, c := range []struct {
		name string
		ctx  context.Context
		do   func(*Run) error
	}{
		{"the history of a new file", ended, repairs(registry.Change{Head: entry}, odd)},
		{"the base's file, which is removed", t.Context(), repairs(registry.Change{Base: lost(t)}, odd)},
		{"the base's listing, which changes", t.Context(), repairs(registry.Change{Base: lost(t), Head: entry}, ada)},
		{"a revocation", t.Context(), func(r *Run) error {
			_, err := readRevoked(r.Repo, odd, *lost(t))
			return err
		}},
		{"a former version", t.Context(), past(odd, lost(t))},
		{"the listings of the history, for a name", ended, func(r *Run) error {
			_, err := r.holds(&registry.Record{Path: sum, Entry: *entry}, 1)
			return err
		}},
	} {
		r := &Run{Context: c.ctx, Repo: repo, Range: &registry.Range{Base: tree}, Base: emptyStanding(tree)}
		r.Base.Schemas = builtinSchemas()
		if err := c.do(r); err == nil {
			t.Errorf("%s is lost: no error", c.name)
		}
	}
}
