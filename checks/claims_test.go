package checks

import (
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/checks/internal/listed"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// TestOthers compares others with a loop over all listings. The listings stand in the base tree, or the range lands
// them, and each is asked twice.
func TestOthers(t *testing.T) {
	const tool = "did:web:vega.example"
	for n := range 5 {
		for landing := range n + 1 {
			st := emptyStanding(nil)
			run := &Run{Base: st, Asks: Asks{AsIs: landing == 0}}
			var all []string
			for i := range n {
				path := listed.Path(string(rune('a' + i)))
				listing := &registry.Listing{ToolDID: tool}
				if i < landing {
					run.Subjects = append(run.Subjects, &Subject{Run: run, Path: path, Kind: registry.KindListing,
						Change: registry.Change{Path: path, Head: &registry.Entry{}}, Listing: listing})
				} else {
					st.listings.Add(listed.Pack(&Listed{Path: path, ToolDID: tool}, uint8(sound)))
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
