package checks

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/strict"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// set makes a value, or an error, what a run has worked out.
func (o *once[T]) set(value T, err error) { o.get(func() (T, error) { return value, err }) }

// Only records that land, and can be read, are compared with one another.
func TestLanding(t *testing.T) {
	one, other := &registry.Entry{Mode: registry.ModeFile}, &registry.Entry{Mode: registry.ModeExecutable}
	const listing = registry.KindListing
	l, anchor := &registry.Listing{Slug: "Ada", ToolDID: "did:web:ada.example"}, &registry.Anchor{WorkflowID: "w"}
	r := &Run{Subjects: []*Subject{
		{Path: "new", Kind: listing, Change: registry.Change{Head: one}, Listing: l},
		{Path: "changed", Kind: listing, Change: registry.Change{Base: other, Head: one}, Listing: l},
		{Path: "unchanged", Kind: listing, Change: registry.Change{Base: one, Head: one}, Listing: l},
		{Path: "unreadable", Kind: listing, Change: registry.Change{Head: one}},
		{Path: "anchor", Kind: registry.KindWorkflowAnchor, Change: registry.Change{Head: one}, Anchor: anchor},
	}}
	got := ""
	for _, s := range r.landingListings(func(s *Subject) bool { return s.Path != "new" }) {
		got += " " + s.Path
	}
	if got != " changed" {
		t.Errorf("landing, without the new one:%s", got)
	}
	for claim, want := range map[claim]string{{"/slug", "ada"}: "new changed",
		{"/tool_did", "did:web:ada.example"}: "new changed", {"/workflow_id", "w"}: "anchor", {"/slug", "w"}: ""} {
		if got := strings.Join(r.landed().claims[claim], " "); got != want {
			t.Errorf("%v: %q; expected %q", claim, got, want)
		}
	}
}

// A file that a range takes away is neither added nor modified, and no check has to be well formed for it.
func TestSides(t *testing.T) {
	e := &registry.Entry{}
	for _, c := range []struct {
		base, head      *registry.Entry
		added, modified bool
	}{{nil, e, true, false}, {e, e, false, true}, {e, nil, false, false}, {nil, nil, false, false}} {
		s := &Subject{Run: &Run{Asks: OfHead}, Change: registry.Change{Base: c.base, Head: c.head}}
		if s.Added() != c.added || s.modified() != c.modified {
			t.Errorf("%v, %v: added %t, modified %t", c.base, c.head, s.Added(), s.modified())
		}
		for _, check := range All {
			if owner, _, _, _ := check.Blocked(s); owner != "" {
				t.Errorf("%s of a file that is not there: blocked by %s", check.ID, owner)
			}
		}
	}
}

// What the repository has lost is an error of each that reads it. TestMissingObject has a whole run in which another
// may have read it before.
func TestLostObjects(t *testing.T) {
	const world = `
base:
  - {write: .github/gate-policy.yml, text: "public_suffixes: [a.example]\n"}
  - {write: docs/registry.git/x, text: x}
  - {write: key.pem, text: "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIFoXw5laF8OZWhfDmVoXw5laF8OZWhfDmVoXw5laF8OZ\n` +
		`-----END PRIVATE KEY-----\n"}
  - {listing: ada}
`
	_, whole := built(t, world)
	w, _ := built(t, world)
	packs, err := filepath.Glob(filepath.Join(w.Repo.Dir, "objects", "pack", "*.pack"))
	if err != nil || len(packs) != 1 {
		t.Fatalf("%d packs, %v", len(packs), err)
	}
	pack := must.Get(os.ReadFile(packs[0]))(t)
	there := must.Get(whole.Tree(t.Context(), "main"))(t)
	const ada = "implementations/ada.json"
	entry := func(path string) *registry.Entry {
		e, err := there.Leaf(path)
		if err != nil || e == nil {
			t.Fatalf("%s: %v, %v", path, e, err)
		}
		return e
	}
	changed := func(r *Run) *Subject {
		return &Subject{Run: r, Path: ada, Kind: registry.KindListing, Facts: unsought, Record: &registry.Record{},
			Change:  registry.Change{Path: ada, Base: entry(ada), Head: entry("key.pem")},
			Listing: &registry.Listing{ToolDID: "did:web:ada.example"}, baseListing: &registry.Listing{}}
	}
	brought := func(r *Run) {
		r.Range.Commits = []registry.Commit{{Touched: []registry.Change{{Path: "key.pem", Head: entry("key.pem")}}}}
	}
	passes := &Check{Run: func(*Subject) (verdict.Outcome, error) { return verdict.Outcome{}.OrPass(), nil }}
	for _, c := range []struct {
		name string
		read func(*Run) error // before they are lost; nil: nothing is
		find func(*Run) error
	}{
		{"a record", nil, func(r *Run) error {
			_, err := NewSubject(r, registry.Change{Path: ada, Head: entry(ada)})
			return err
		}},
		{"a record, again", nil, func(r *Run) error {
			s := &Subject{Run: r, Path: ada, Change: registry.Change{Path: ada, Head: entry(ada)}, forgotten: true}
			return s.Read()
		}},
		{"what a file was", nil, func(r *Run) error {
			_, err := passes.Judge(changed(r))
			return err
		}},
		{"the history", nil, func(r *Run) error {
			_, err := r.Anchored(changed(r).Path)
			return err
		}},
		{"the history of an old domain", nil, func(r *Run) error {
			_, err := runDomainAge(changed(r))
			return err
		}},
		{"the history of the policy", nil, func(r *Run) error {
			_, err := changed(r).wasReferenceServer("")
			return err
		}},
		{"a former policy", func(r *Run) error {
			_, err := r.Repo.FolderHistory(r.Context, "main", ".github", r.Now, anyPath)
			return err
		}, func(r *Run) error {
			_, err := r.referenceServers()
			return err
		}},
		{"the directory of the policy", nil, func(r *Run) error {
			_, err := ReadPolicy(r.Context, r.Range.Base)
			return err
		}},
		{"the policy", func(r *Run) error {
			_, err := r.Range.Base.Leaf(policyFile)
			return err
		}, func(r *Run) error {
			_, err := ReadPolicy(r.Context, r.Range.Base)
			return err
		}},
		{"a directory of the result", nil, func(r *Run) error {
			_, err := shadowFindings(r)
			return err
		}},
		{"a directory of the result, after a repository", func(r *Run) error {
			_, first := r.Range.Result.Leaf(policyFile)
			_, second := r.Range.Result.Leaf("docs/registry.git/x")
			return errors.Join(first, second)
		}, func(r *Run) error {
			r.Range.Base = there
			_, err := shadowFindings(r)
			return err
		}},
		{"a directory of the base", nil, func(r *Run) error {
			r.Range.Result = there
			_, err := shadowFindings(r)
			return err
		}},
		{"a directory at the head", nil, func(r *Run) error {
			r.Asks = OfHead
			_, err := privateKeys(r)
			return err
		}},
		{"a file at the head", func(r *Run) error {
			return r.Range.Base.Walk(func(string, registry.Entry) error { return nil })
		}, func(r *Run) error {
			r.Asks = OfHead
			_, err := privateKeys(r)
			return err
		}},
		{"a file that a commit brings", nil, func(r *Run) error {
			brought(r)
			_, err := privateKeys(r)
			return err
		}},
		{"a directory that may hold it already", nil, func(r *Run) error {
			r.Repo = whole
			brought(r)
			_, err := privateKeys(r)
			return err
		}},
	} {
		repo := opened(t, w.Repo.Dir)
		tree := must.Get(repo.Tree(t.Context(), "main"))(t)
		r := &Run{Context: t.Context(), Repo: repo, Range: &registry.Range{Base: tree, Result: tree}, Now: w.Now,
			Base: emptyStanding(tree), Selected: func(string) bool { return true }}
		if c.read != nil {
			if err := c.read(r); err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		must.OK(t, os.Truncate(packs[0], 0))
		if err := c.find(r); err == nil {
			t.Errorf("%s: no error", c.name)
		}
		must.OK(t, os.WriteFile(packs[0], pack, 0o600))
	}
}

// Of a record, only what its kind has is read.
func TestTake(t *testing.T) {
	doc := must.Get(strict.Parse("a.json", []byte("{}"), strict.RegistryFile))(t)
	for path, want := range map[string][4]bool{"implementations/a.json": {true, true, false, false},
		"revocations/a.json": {false, false, true, false}, "workflow-anchors/a.json": {false, false, false, true},
		"peer-witnesses/a.json": {}} {
		for _, rec := range []*registry.Record{{Document: doc}, {}, nil} {
			if rec == nil || rec.Document == nil {
				want = [4]bool{}
			}
			s := newSubject(&Run{}, registry.Change{Path: path}, registry.Sides{Base: rec, Head: rec})
			got := [4]bool{s.baseListing != nil, s.Listing != nil, s.Revocation != nil, s.Anchor != nil}
			if got != want {
				t.Errorf("%s, %+v: %v; expected %v", path, rec, got, want)
			}
		}
	}
}
