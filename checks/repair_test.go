package checks

import (
	"context"
	"slices"
	"testing"
	"time"

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

// A Receipt is revoked with an earlier one of the same implementation that was pinned after it was signed.
func TestRevokedWith(t *testing.T) {
	at := func(seconds float64) time.Time {
		return time.Unix(1_800_000_000, 0).Add(time.Duration(seconds * float64(time.Second)))
	}
	const signed, now = 1000, 100_000
	v := &seenRevocation{pin: pin{"ada", "01"}}
	version := func(did, sum string, issued, landed float64) listed {
		return listed{did: did, sha256: sum, issued: at(issued), landed: at(landed)}
	}
	none := listed{did: "ada", sha256: "01", landed: at(signed)}
	for _, c := range []struct {
		name     string
		sha256   string
		versions []listed
		want     bool
		unclear  bool
	}{
		{"its own hash", "01", nil, true, false},
		{"another hash that nothing pinned", "02", nil, false, false},
		{"issued later", "02", []listed{version("ada", "01", signed+1, signed+1)}, true, false},
		{"issued at the same time", "02", []listed{version("ada", "01", signed, signed)}, true, false},
		{"issued a second before", "02", []listed{version("ada", "01", signed-1, signed-1)}, true, false},
		{"issued earlier", "02", []listed{version("ada", "01", signed-1.001, signed-1)}, false, false},
		{"of another DID", "02", []listed{version("bob", "01", signed+1, signed+1)}, false, false},
		{"of another Receipt", "02", []listed{version("ada", "03", signed+1, signed+1)}, false, false},
		{"no date, landed then", "02", []listed{none}, true, false},
		{"a date within the skew", "02", []listed{version("ada", "01", now+Skew.Seconds(), 1)}, true, false},
		{"a date beyond the skew", "02", []listed{version("ada", "01", now+Skew.Seconds()+1, 1)}, false, false},
		{"issued before, landed after", "02", []listed{version("ada", "01", 1, signed)}, false, true},
		{"issued before, landed just before", "02", []listed{version("ada", "01", 1, signed-0.001)}, false, false},
		{"landed at the time of the question", "02", []listed{version("ada", "01", 1, now)}, false, false},
		{"only the first commit that pinned it counts", "02", []listed{version("ada", "01", 1, 2),
			version("ada", "01", 1, signed)}, false, false},
	} {
		is, unclear := v.of(c.versions, "ada", c.sha256, at(signed), at(now))
		if is != c.want || (unclear != nil) != c.unclear {
			t.Errorf("%s: got %v, unclear %v", c.name, is, unclear)
		}
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
	tree, err := repo.Tree(t.Context(), "main")
	if err != nil {
		t.Fatal(err)
	}
	entry, err := tree.Leaf("implementations/ada.json")
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	const ada, odd, sum = "implementations/ada.json", "revocations/odd.json",
		"1111111111111111111111111111111111111111111111111111111111111111"
	link := lost(t)
	link.Mode = registry.ModeSymlink
	repairs := func(c registry.Change, path string) func(*Run) error {
		return func(r *Run) error {
			s := &Subject{Run: r, Path: path, Kind: registry.KindOf(path), Change: c}
			r.Subjects = []*Subject{s}
			_, err := r.Repaired()
			_, again := s.Recovers()
			if (err == nil) != (again == nil) {
				t.Errorf("%s: %v, %v", path, err, again)
			}
			return err
		}
	}
	past := func(path string, e *registry.Entry) func(*Run) error {
		return func(r *Run) error {
			r.pasts = map[registry.Kind]map[string][]registry.Version{
				registry.KindOf(path): {path: {{Entry: e}}}}
			_, err := r.outlook(&Subject{Run: r, Path: path, Kind: registry.KindOf(path)})
			return err
		}
	}
	pinned := func(e *registry.Entry) func(*Run) error {
		return func(r *Run) error {
			r.everPins.set(map[string][]registry.PathVersion{
				sum: {{Path: ada, Version: registry.Version{Entry: e}}}}, nil)
			_, err := r.everPinned(sum)
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
		{"a former version", t.Context(), past(odd, lost(t))},
		{"a former link", t.Context(), past(odd, link)},
		{"the listings of the history", ended, func(r *Run) error { _, err := r.everPinned(sum); return err }},
		{"the listings of the history, for a name", ended, func(r *Run) error {
			_, err := r.holds(&registry.Record{Path: sum, Entry: *entry})
			return err
		}},
		{"a listing of the history", t.Context(), pinned(lost(t))},
	} {
		r := &Run{Context: c.ctx, Repo: repo, Range: &registry.Range{Base: tree}, Base: emptyStanding(tree)}
		r.Base.Schemas = builtinSchemas()
		if err := c.do(r); err == nil {
			t.Errorf("%s is lost: no error", c.name)
		}
	}
}
