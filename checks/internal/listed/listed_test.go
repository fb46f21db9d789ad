package listed

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
)

func TestPacked(t *testing.T) {
	sum := strings.Repeat("0123456789abcdef", 4)
	at := time.Date(2026, 6, 1, 12, 0, 0, 123456789, time.UTC)
	for _, l := range []*Listing{
		{Path: "implementations/ada.json"},
		{Path: "implementations/ada.json", Slug: "ada", Name: "Ada", ToolDID: "did:web:ada.example",
			ReceiptSHA256: sum, Level: "L5.A", Issued: at, Expires: at.Add(90 * 24 * time.Hour),
			Provisional: true},
		{Path: "implementations", Slug: "ADA", ReceiptSHA256: strings.ToUpper(sum), Level: "\x00"},
		{Path: "implementations/a/\xff.txt", Slug: "a\x00b", Name: strings.Repeat("n", 60_000), ReceiptSHA256: "abc",
			Issued:  time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC),
			Expires: time.Date(9999, 12, 31, 23, 59, 59, 1, time.UTC)},
	} {
		if diff := cmp.Diff(l, Pack(l, 1).Unpack()); diff != "" {
			t.Errorf("%.40q:\n%s", l.Path, diff)
		}
	}
}

func TestListingsAreInPathOrder(t *testing.T) {
	ls := NewSet()
	want := []string{"implementations", "implementations/a.json", "implementations/a/b.json",
		"implementations/b\x7f.json"}
	for _, path := range []string{want[2], want[0], want[3], want[1]} {
		ls.Add(Pack(&Listing{Path: path}, 1))
	}
	var got []string
	ls.Sort()
	for l := range ls.All() {
		got = append(got, l.Path)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Two texts may have one hash. Here all have: what is found, and what stays when one goes, is by the texts alone.
func TestListingsOfOneHash(t *testing.T) {
	ls := NewSet()
	paths := func(all []*Listing) string {
		var out []string
		for _, l := range all {
			out = append(out, SlugOf(l.Path))
		}
		return strings.Join(out, " ")
	}
	for _, l := range []*Listing{
		{Path: "implementations/ada.json", Slug: "ada", ToolDID: "did:web:one.example"},
		{Path: "implementations/bob.json", Slug: "Ada", ToolDID: "did:web:two.example"},
		{Path: "implementations/cyd.json", Slug: "cyd", ToolDID: "did:web:ONE.example"},
	} {
		ls.Add(Pack(l, 1))
	}
	for _, x := range []*index{&ls.paths, &ls.slugs, &ls.dids} {
		x.first, x.more = map[uint32]uint32{}, map[uint32][]uint32{}
		for _, text := range []string{"ada", "cyd", "bob", "did:web:one.example", "did:web:two.example",
			"implementations/ada.json", "implementations/bob.json", "implementations/cyd.json"} {
			x.first[x.hash(text)], x.more[x.hash(text)] = 0, []uint32{1, 2}
		}
	}
	// The slug of a listing that has that of its path is not in the index of slugs.
	ls.slugs.first[ls.slugs.hash("ada")], ls.slugs.more[ls.slugs.hash("ada")] = 1, nil
	expect := func(slug, one, two, path string) {
		t.Helper()
		gone := ls.ByPath("implementations/ada.json")
		if got := paths(ls.BySlug("ADA")); got != slug {
			t.Errorf("slug ada: %q, want %q", got, slug)
		}
		if got := paths(ls.ByDID(did.Fold("did:web:one.example."))); got != one {
			t.Errorf("DID one: %q, want %q", got, one)
		}
		if got := paths(ls.ByDID("did:web:two.example")); got != two {
			t.Errorf("DID two: %q, want %q", got, two)
		}
		if got := gone != nil; got != (path != "") {
			t.Errorf("path of ada: %t, want %q", got, path)
		}
	}
	expect("ada bob", "ada cyd", "bob", "ada")
	if l := ls.Remove("implementations/ada.json"); l == nil || l.Slug != "ada" {
		t.Fatalf("removed %v", l)
	}
	// What was put in their way by hand goes too: a number whose listing is gone is in no index.
	for _, x := range []*index{&ls.paths, &ls.slugs, &ls.dids} {
		for h := range x.first {
			x.first[h], x.more[h] = 1, []uint32{2}
		}
	}
	ls.slugs.first[ls.slugs.hash("ada")], ls.slugs.more[ls.slugs.hash("ada")] = 1, nil
	expect("bob", "cyd", "bob", "")
	if ls.count != 2 || ls.Remove("implementations/ada.json") != nil {
		t.Errorf("%d listings, want 2", ls.count)
	}
}

// What shares a text is found without what was removed, and by its own slug, not by that of its path.
func TestListingsThatShare(t *testing.T) {
	const tool = "did:web:one.example"
	ls := NewSet()
	for _, slug := range []string{"ada", "bob", "cyd"} {
		ls.Add(Pack(&Listing{Path: Path(slug), Slug: slug + "-x", ToolDID: tool}, 1))
	}
	for left := 2; left > 0; left-- {
		ls.Remove(Path([]string{"cyd", "bob", "ada"}[left]))
		if got := len(ls.ByDID(tool)); got != left {
			t.Errorf("%d listings have the DID; expected %d", got, left)
		}
	}
	if got := len(ls.BySlug("cyd")); got != 0 {
		t.Errorf("%d listings have the slug of a path alone; expected none", got)
	}
	if got := ls.BySlug("CYD-X"); len(got) != 1 || got[0].Path != Path("cyd") {
		t.Errorf("%v have the slug cyd-x; expected cyd", got)
	}
}
