package checks

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

func TestPacked(t *testing.T) {
	sum := strings.Repeat("0123456789abcdef", 4)
	at := time.Date(2026, 6, 1, 12, 0, 0, 123456789, time.UTC)
	for _, l := range []*Listed{
		{Path: "implementations/ada.json"},
		{Path: "implementations/ada.json", Slug: "ada", Name: "Ada", ToolDID: "did:web:ada.example",
			ReceiptSHA256: sum, Level: "L5.A", Issued: at, Expires: at.Add(90 * 24 * time.Hour),
			Provisional: true},
		{Path: "implementations", Slug: "ADA", ReceiptSHA256: strings.ToUpper(sum), Level: "\x00"},
		{Path: "implementations/a/\xff.txt", Slug: "a\x00b", Name: strings.Repeat("n", 60_000), ReceiptSHA256: "abc",
			Issued:  time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC),
			Expires: time.Date(9999, 12, 31, 23, 59, 59, 1, time.UTC)},
	} {
		if diff := cmp.Diff(l, pack(l, sound).unpack()); diff != "" {
			t.Errorf("%.40q:\n%s", l.Path, diff)
		}
	}
}

func TestListingsAreInPathOrder(t *testing.T) {
	ls := newListings()
	want := []string{"implementations", "implementations/a.json", "implementations/a/b.json",
		"implementations/b\x7f.json"}
	for _, path := range []string{want[2], want[0], want[3], want[1]} {
		ls.add(pack(&Listed{Path: path}, sound))
	}
	var got []string
	ls.sort()
	for l := range ls.all() {
		got = append(got, l.Path)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Two texts may have one hash. Here all have: what is found, and what stays when one goes, is by the texts alone.
func TestListingsOfOneHash(t *testing.T) {
	ls := newListings()
	paths := func(all []*Listed) string {
		var out []string
		for _, l := range all {
			out = append(out, slugOf(l.Path))
		}
		return strings.Join(out, " ")
	}
	for _, l := range []*Listed{
		{Path: "implementations/ada.json", Slug: "ada", ToolDID: "did:web:one.example"},
		{Path: "implementations/bob.json", Slug: "Ada", ToolDID: "did:web:two.example"},
		{Path: "implementations/cyd.json", Slug: "cyd", ToolDID: "did:web:ONE.example"},
	} {
		ls.add(pack(l, sound))
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
		gone := ls.byPath("implementations/ada.json")
		if got := paths(ls.bySlug("ADA")); got != slug {
			t.Errorf("slug ada: %q, want %q", got, slug)
		}
		if got := paths(ls.byDID(did.Fold("did:web:one.example."))); got != one {
			t.Errorf("DID one: %q, want %q", got, one)
		}
		if got := paths(ls.byDID("did:web:two.example")); got != two {
			t.Errorf("DID two: %q, want %q", got, two)
		}
		if got := gone != nil; got != (path != "") {
			t.Errorf("path of ada: %t, want %q", got, path)
		}
	}
	expect("ada bob", "ada cyd", "bob", "ada")
	if l := ls.remove("implementations/ada.json"); l == nil || l.Slug != "ada" {
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
	if ls.count != 2 || ls.remove("implementations/ada.json") != nil {
		t.Errorf("%d listings, want 2", ls.count)
	}
}

// others tells what looking through all does, each time that it is asked, whether they stand or land.
func TestOthers(t *testing.T) {
	const tool = "did:web:vega.example"
	for n := range 5 {
		for landing := range n + 1 {
			st := emptyStanding(nil)
			run := &Run{Base: st, Asks: Asks{AsIs: landing == 0}}
			var all []string
			for i := range n {
				path := listingPath(string(rune('a' + i)))
				listing := &registry.Listing{ToolDID: tool}
				if i < landing {
					run.Subjects = append(run.Subjects, &Subject{Run: run, Path: path, Kind: registry.KindListing,
						Change: registry.Change{Path: path, Head: &registry.Entry{}}, Listing: listing})
				} else {
					st.listings.add(pack(&Listed{Path: path, ToolDID: tool}, sound))
				}
				all = append(all, path)
			}
			ask := func(path string) (string, int) {
				return run.others(path, didClaim(tool))
			}
			for range 2 {
				for i, path := range all {
					if i >= landing && landing > 0 {
						break // what stands is not judged
					}
					first := ""
					if n > 1 {
						first = all[min(1, 1-min(i, 1))]
					}
					if got, count := ask(path); got != first || count != n-1 {
						t.Errorf("of %d, %d landing: others of %s are %d, the first %q; want %d, %q", n, landing, path,
							count, got, n-1, first)
					}
				}
			}
			if got, count := ask("gone"); n == 0 && (got != "" || count != 0) {
				t.Errorf("others of one that nobody shares with are %d, the first %q", count, got)
			}
			run.Asks = Asks{}
			if n > 1 && landing == 0 {
				if got, count := ask(all[0]); got != all[1] || count != n-1 {
					t.Errorf("of %d: others of a draft of the first are %d, the first %q", n, count, got)
				}
			}
			first := ""
			if n > 0 {
				first = all[0]
			}
			if got, count := ask("draft"); got != first || count != n {
				t.Errorf("of %d, %d landing: others of a draft are %d, the first %q", n, landing, count, got)
			}
		}
	}
}

// What shares a text is found without what was removed, and by its own slug, not by that of its path.
func TestListingsThatShare(t *testing.T) {
	const tool = "did:web:one.example"
	ls := newListings()
	for _, slug := range []string{"ada", "bob", "cyd"} {
		ls.add(pack(&Listed{Path: listingPath(slug), Slug: slug + "-x", ToolDID: tool}, sound))
	}
	for left := 2; left > 0; left-- {
		ls.remove(listingPath([]string{"cyd", "bob", "ada"}[left]))
		if got := len(ls.byDID(tool)); got != left {
			t.Errorf("%d listings have the DID; expected %d", got, left)
		}
	}
	if got := len(ls.bySlug("cyd")); got != 0 {
		t.Errorf("%d listings have the slug of a path alone; expected none", got)
	}
	if got := ls.bySlug("CYD-X"); len(got) != 1 || got[0].Path != listingPath("cyd") {
		t.Errorf("%v have the slug cyd-x; expected cyd", got)
	}
}

func TestDataDirectories(t *testing.T) {
	for path, want := range map[string][2]bool{ // a data directory, a .gitkeep of one
		"implementations":            {true, false},
		"implementations/.gitkeep":   {false, true},
		"implementations/a":          {false, false},
		"implementations/a/.gitkeep": {false, false},
		"docs":                       {false, false},
		"docs/.gitkeep":              {false, false},
		"":                           {false, false},
		"/.gitkeep":                  {false, false},
	} {
		if got := [2]bool{isDataDirectory(path), isGitkeep(path)}; got != want {
			t.Errorf("%q: %v; expected %v", path, got, want)
		}
	}
}
