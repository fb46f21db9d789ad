package checks

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

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
	const signed = 1000
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
		for _, before := range []bool{true, false} { // the file comes before the listings, or after them
			p := newPast(nil, "", time.Time{})
			path := "revocations/slug-" + one + ".json"
			file := revokedFile{Revocation: revocation.Read(path, []byte(c.text)), path: path}
			if before {
				p.revoke(file)
			}
			for _, v := range c.versions {
				p.pin("implementations/slug.json", v)
			}
			if !before {
				p.revoke(file)
			}
			by, err := p.revokedBy(t.Context(), "did:web:ada.example", c.sha256, at(signed), asOf{})
			if err != nil || (by != nil) != c.want {
				t.Errorf("%s: %v, %v; expected %t", c.name, by, err, c.want)
			}
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
	must.OK(t, err)
	entry, err := tree.Leaf("implementations/ada.json")
	must.OK(t, err)
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
			if (err == nil) != (again == nil) {
				t.Errorf("%s: %v, %v", path, err, again)
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
