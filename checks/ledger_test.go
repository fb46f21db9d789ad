package checks

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// TestLedgerInParts checks that a commit with many new listings is judged in parts as it is judged whole, claims of one
// slug or DID in two parts included.
func TestLedgerInParts(t *testing.T) {
	for _, test := range []struct {
		name string
		twin string // slug and DID of listing 9
		want []string
	}{
		{"apart", "did:web:nine.example", []string{"layout json-syntax implementations/odd.json"}},
		{"one DID", "did:web:two.example", []string{"layout duplicate-did implementations/agent-2.json",
			"layout duplicate-did implementations/agent-9.json", "layout json-syntax implementations/odd.json"}},
		{"one DID in another spelling", "did:web:TWO.example",
			[]string{"layout duplicate-did implementations/agent-2.json",
				"layout did-spelling implementations/agent-9.json",
				"layout duplicate-did implementations/agent-9.json", "layout json-syntax implementations/odd.json"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := must.Get(fixture.NewRepo(t.TempDir()))(t)
			names := []string{"zero", "one", "two", "three", "four", "five", "six", "seven", "eight"}
			for n := range 10 {
				did := test.twin
				if n < len(names) {
					did = "did:web:" + names[n] + ".example"
				}
				text := fmt.Sprintf("{\"slug\": \"agent-%d\", \"name\": \"Agent %d\", \"tool_did\": %q}\n", n, n, did)
				r.Write(fmt.Sprintf("implementations/agent-%d.json", n), []byte(text))
			}
			r.Write("implementations/odd.json", []byte("{"))
			r.Commit("List ten", fixture.Clock.Add(-24*time.Hour))
			r.Branch("main")
			must.OK(t, r.Sync())
			for _, part := range []int{3, defaultPart} {
				var got []string
				for _, f := range faultsInParts(t, r.Dir, part, 11) {
					got = append(got, strings.Join(strings.Fields(f)[:3], " "))
				}
				if !slices.Equal(got, test.want) {
					t.Errorf("in parts of %d: %q, want %q", part, got, test.want)
				}
			}
		})
	}
}

// TestSlugTwiceInParts checks that a slug is found twice in a large commit as in a small one, also where one of the
// files is not the slug's own.
func TestSlugTwiceInParts(t *testing.T) {
	r := must.Get(fixture.NewRepo(t.TempDir()))(t)
	for path, slug := range map[string]string{"ada": "ada", "ada.json": "ada", "Bob.json": "Bob", "bob.json": "bob",
		"x/cyd.json": "cyd", "cyd.json": "cyd"} {
		r.Write("implementations/"+path, fmt.Appendf(nil, "{\"slug\": %q, \"tool_did\": \"did:web:%x.example\"}\n",
			slug, path))
	}
	r.Commit("List", fixture.Clock.Add(-24*time.Hour))
	r.Branch("main")
	must.OK(t, r.Sync())
	want := faultsInParts(t, r.Dir, defaultPart, 6)
	for part := 1; part < 6; part++ {
		if got := faultsInParts(t, r.Dir, part, 6); !slices.Equal(got, want) {
			t.Errorf("in parts of %d: %q, want %q", part, got, want)
		}
	}
	if twice := strings.Count(strings.Join(want, "\n"), "duplicate-slug"); twice != 6 {
		t.Errorf("%d files share a slug, want 6: %q", twice, want)
	}
}

// faultsInParts returns what a ledger that judges large commits in parts finds in a history of so many listings.
func faultsInParts(t *testing.T, dir string, part, listings int) []string {
	repo := opened(t, dir)
	l := NewLedger(repo, time.Now())
	l.part = part
	out := faultsOf(t, l, repo, "", "main")
	for i, f := range out {
		_, out[i], _ = strings.Cut(f, " ") // without the commit
	}
	if n := l.state.Len() + len(l.files); n != listings || len(l.origins) != l.state.Len() {
		t.Errorf("%d files, want %d; of %d listings %d are known by what brought them", n, listings, l.state.Len(),
			len(l.origins))
	}
	return out
}

// TestTwinsInParts checks that what many listings claim together is told in the same words where their commit is judged
// in parts, with what stands before it, and where their documents are too large to be held together.
func TestTwinsInParts(t *testing.T) {
	var want []string
	for _, padding := range []string{"", strings.Repeat("x", maxKept)} {
		dir := twins(t, padding)
		if want == nil {
			want = faultsInParts(t, dir, defaultPart, 12)
		}
		for _, part := range []int{1, 2, 3, 7, defaultPart} {
			if got := faultsInParts(t, dir, part, 12); !slices.Equal(got, want) {
				t.Errorf("in parts of %d, padded with %d bytes: %q, want %q", part, len(padding), got, want)
			}
		}
	}
	found := 0
	for _, f := range want {
		if strings.Contains(f, "duplicate-") {
			found++
		}
	}
	if found != 9 { // of the DIDs of 0, 1, 4, 7, and the slugs of 2, 5, 8, 10, 11
		t.Errorf("%d claims of what another has, want 9: %q", found, want)
	}
}

// TestChangesInParts requires that a commit that also changes or removes merged records is judged as a whole.
func TestChangesInParts(t *testing.T) {
	_, repo := built(t, `
base:
  - {listing: ada}
  - {listing: bob}
  - {listing: cyd}
  - {listing: dan}
  - {revoke: dan}
  - {commit: List}
  - {reissue: ada}
  - {listing: eve}
  - {listing: fox}
  - {listing: gus, set: {/slug: fox}}
  - {commit: Change}
  - {remove: implementations/bob.json}
  - {listing: hal}
  - {listing: ida, set: {/slug: hal}}
  - {commit: Remove}
  - {revoke: cyd}
  - {listing: joe}
  - {listing: kay, set: {/slug: joe}}
`)
	want := faultsOf(t, NewLedger(repo, fixture.Clock), repo, "", "main")
	for part := 1; part < 4; part++ {
		l := NewLedger(repo, fixture.Clock)
		l.part = part
		if got := faultsOf(t, l, repo, "", "main"); !slices.Equal(got, want) {
			t.Errorf("in parts of %d: %q, want %q", part, got, want)
		}
		var paths []string
		for listing := range l.state.Listings() {
			paths = append(paths, listing.Path)
		}
		slices.Sort(paths)
		if got := strings.Join(paths, " "); got != "implementations/ada.json implementations/cyd.json "+
			"implementations/dan.json implementations/eve.json implementations/fox.json implementations/gus.json "+
			"implementations/hal.json implementations/ida.json implementations/joe.json implementations/kay.json" {
			t.Errorf("in parts of %d the listings are %s", part, got)
		}
		if len(l.files) != 2 {
			t.Errorf("in parts of %d there are %d other files; expected two revocations", part, len(l.files))
		}
	}
}

// ledgerFrom returns a ledger that begins after a commit, or with the root.
func ledgerFrom(repo *registry.Repository, commit string) *Ledger {
	if commit == "" {
		return NewLedger(repo, fixture.Clock)
	}
	return LedgerAt(repo, commit, fixture.Clock)
}

// faultsOf returns what a ledger finds in the steps after a commit, each with its commit.
func faultsOf(t *testing.T, l *Ledger, repo *registry.Repository, from, to string) []string {
	t.Helper()
	var out []string
	err := repo.Steps(t.Context(), from, to, func(s *registry.Step) error {
		faults, err := l.Step(t.Context(), s)
		for _, f := range faults {
			out = append(out, strings.Join([]string{f.Commit, f.Check, f.Code, f.Path, f.Message}, " "))
		}
		return err
	})
	must.OK(t, err)
	return out
}

// TestLedgerAfterCommit checks that a ledger which begins after a commit finds what one from the root finds after it.
func TestLedgerAfterCommit(t *testing.T) {
	for _, c := range []struct{ name, code, world, head string }{
		{"paths that are one", " case-twin ", `
base:
  - {listing: ada}
  - {write: docs/Guide.md, text: a}
  - {write: docs/Guides/A.md, text: a}
  - {write: docs/Guides/B.md, text: a}
  - {write: docs/plain.md, text: a}
  - {write: old/A.md, text: a}
  - {write: "\u200b", text: a}
  - {commit: Begin}
  - {write: docs/guide.md, text: a}
  - {write: docs/guides/b.md, text: a}
  - {write: docs/Plain.md, text: a}
  - {commit: Bring}
  - {remove: docs/Guide.md}
  - {remove: docs/Guides/A.md}
  - {remove: old}
  - {commit: Remove}
  - {write: docs/GUIDE.md, text: a}
  - {write: "docs/gu\u200bide.md", text: a}
  - {write: docs/guides/a.md, text: a}
  - {write: Old/b.md, text: a}
  - {write: "\u200c", text: a}
`, "main"},
		{"what git refuses, and a merge", " fsck-file ", `
base:
  - {listing: ada}
  - {write: .gitmodules, mode: "120000", text: x}
  - {commit: Begin}
  - {remove: .gitmodules}
  - {commit: Remove}
pr: [{listing: nova}, {write: a/.gitmodules, mode: "120000", text: y}]
merge: true
`, "merge"},
	} {
		_, repo := built(t, c.world)
		want := faultsOf(t, NewLedger(repo, fixture.Clock), repo, "", c.head)
		if !slices.ContainsFunc(want, func(f string) bool { return strings.Contains(f, c.code) }) {
			t.Fatalf("%s: %q; expected%s", c.name, want, c.code)
		}
		chain := must.Get(repo.FirstParents(t.Context(), "", c.head))(t)
		for _, from := range chain {
			want = slices.DeleteFunc(want, func(f string) bool { return strings.HasPrefix(f, from) })
			l := LedgerAt(repo, from, fixture.Clock)
			if got := faultsOf(t, l, repo, from, c.head); !slices.Equal(got, want) {
				t.Errorf("%s, after %s:\n%s\nwant\n%s", c.name, from, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
}

// TestOrigin requires that a ledger knows which commit brought each record, wherever the ledger begins. For any other
// path it returns an error.
func TestOrigin(t *testing.T) {
	w, repo := built(t, "base: [{listing: ada}, {commit: List}, {listing: bob}, {revoke: ada}]\n")
	chain := must.Get(repo.FirstParents(t.Context(), "", "main"))(t)
	sum := must.Get(w.Pin("ada", 0))(t)
	for _, from := range append([]string{""}, chain...) {
		l := ledgerFrom(repo, from)
		faultsOf(t, l, repo, from, "main")
		for _, path := range []string{"implementations/cyd.json", "revocations/cyd.json", "README.md"} {
			if o, err := l.Origin(t.Context(), path); err == nil {
				t.Errorf("after %q, %s: %v, expected an error", from, path, o)
			}
		}
		for path, own := range map[string]int{"implementations/ada.json": 0, "implementations/bob.json": 1,
			"revocations/ada-" + sum + ".json": 1} {
			o, err := l.Origin(t.Context(), path)
			parent := append([]string{""}, chain...)[own]
			if err != nil || o.Parent != parent || o.When.IsZero() || o.First.IsZero() {
				t.Errorf("after %q, %s: %v, error %v; expected the commit after %q", from, path, o, err, parent)
			}
		}
	}
}

// TestMixedHistory requires that a ledger reports only commits that change both records and governance files.
func TestMixedHistory(t *testing.T) {
	_, repo := built(t, `
base:
  - {listing: ada}
  - {commit: List}
  - {write: docs/a.md, text: a}
  - {commit: Write}
  - {listing: bob}
  - {write: docs/a.md, text: b}
  - {commit: Mix}
  - {reissue: ada}
`)
	chain := must.Get(repo.FirstParents(t.Context(), "", "main"))(t)
	found := faultsOf(t, NewLedger(repo, fixture.Clock), repo, "", "main")
	mixed := func(f string) bool { return strings.Contains(f, " append-only mixed ") }
	found = slices.DeleteFunc(found, func(f string) bool { return !mixed(f) || strings.HasPrefix(f, chain[0]) })
	if len(found) != 1 || !strings.HasPrefix(found[0], chain[2]) {
		t.Errorf("%q; expected one mixed commit, %s", found, chain[2])
	}
}

// TestLedgerSeen requires that Seen gets only strict documents, and each of them, in path order.
func TestLedgerSeen(t *testing.T) {
	w, repo := built(t, `
base:
  - {listing: bob}
  - {listing: ada}
  - {write: implementations/odd.json, text: "{"}
  - {commit: List}
  - {remove: implementations/bob.json}
  - {reissue: ada}
`)
	l := NewLedger(repo, w.Now)
	var seen []string
	l.Seen = func(c registry.Change, text []byte) {
		if !strings.Contains(string(text), "conformance_receipt_sha256") {
			t.Errorf("the text of %s is %q", c.Path, text)
		}
		seen = append(seen, c.Path)
	}
	faultsOf(t, l, repo, "", "main")
	if got := strings.Join(seen, " "); got != "implementations/ada.json implementations/bob.json "+
		"implementations/ada.json" {
		t.Errorf("seen are %s", got)
	}
}

// lapsing is a context that is over after it was asked a number of times.
type lapsing struct {
	context.Context
	left atomic.Int64
}

func (l *lapsing) Err() error {
	if l.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestInterruptedLedger requires that a ledger whose context ends fails, or finds what it finds without that.
func TestInterruptedLedger(t *testing.T) {
	_, repo := built(t, `
base:
  - {listing: ada, set: {/contact: "`+strings.Repeat("x", maxKept)+`"}}
  - {listing: bob, host: ada.example}
  - {listing: cyd}
  - {commit: List}
  - {reissue: ada}
  - {revoke: bob}
`)
	ctx := t.Context()
	for _, part := range []int{1, defaultPart} {
		var want string
		for most := int64(1 << 30); ; most++ {
			l := NewLedger(repo, fixture.Clock)
			l.part = part
			end := &lapsing{Context: ctx}
			end.left.Store(most)
			var out strings.Builder
			err := repo.Steps(ctx, "", "main", func(s *registry.Step) error {
				faults, err := l.Step(end, s)
				for _, f := range faults {
					fmt.Fprintln(&out, f.Path, f.Code)
				}
				return err
			})
			switch got := out.String(); {
			case want == "" && err == nil:
				want, most = got, -1
				continue
			case err == nil && got != want:
				t.Errorf("in parts of %d, after %d questions: %s\nwant %s", part, most, got, want)
			}
			if err == nil {
				break
			}
		}
	}
}

// twins is a clone whose listings claim slugs and DIDs of others, and say besides what padding says.
func twins(t *testing.T, padding string) (dir string) {
	r := must.Get(fixture.NewRepo(t.TempDir()))(t)
	list := func(n int, slug, tool string) {
		r.Write(fmt.Sprintf("implementations/agent-%d.json", n), []byte(fmt.Sprintf(
			"{\"slug\": %q, \"tool_did\": %q, \"contact\": %q}\n", slug, "did:web:"+tool+".example", padding)))
	}
	list(3, "agent-3", "one")
	list(6, "agent-2", "six")
	r.Commit("Two stand", fixture.Clock.Add(-48*time.Hour))
	for n, tool := range map[int]string{0: "one", 1: "one", 4: "six", 5: "five", 7: "ONE", 8: "eight", 9: "nine"} {
		list(n, fmt.Sprintf("agent-%d", n), tool)
	}
	list(2, "agent-2", "two")
	list(5, "agent-8", "five")
	list(10, "agent-3", "ten")
	list(11, "agent-3", "eleven")
	r.Commit("Ten more", fixture.Clock.Add(-24*time.Hour))
	r.Branch("main")
	must.OK(t, r.Sync())
	return r.Dir
}

// TestLargeRecordIsPutAside checks that an audit does not hold the documents of large records beside one another, nor
// those of very many, and reads them again.
func TestLargeRecordIsPutAside(t *testing.T) {
	for _, padding := range []string{"", strings.Repeat("x", maxKept)} {
		repo := opened(t, twins(t, padding))
		head, err := repo.Resolve("HEAD")
		must.OK(t, err)
		err = repo.Steps(t.Context(), "", head, func(step *registry.Step) error {
			many := slices.Repeat(step.Changes, defaultPart/len(step.Changes)+1)
			for _, c := range []struct {
				run     *Run
				changes []registry.Change
				tenure  bool
			}{
				{&Run{}, step.Changes, true},
				{&Run{Asks: OfHead}, step.Changes, padding == ""},
				{&Run{Asks: ofCommit}, step.Changes, padding == ""},
				{&Run{Asks: ofCommit}, many[:defaultPart], padding == ""},
				{&Run{Asks: ofCommit}, many, false},
			} {
				c.run.Context, c.run.Repo = t.Context(), repo
				subjects, err := NewSubjects(c.run, c.changes)
				if err != nil {
					return err
				}
				for _, s := range subjects {
					if tenure := s.Record != nil; tenure != c.tenure || s.Listing == nil {
						t.Errorf("%s of %d, padded with %d bytes, asked by %+v: held %t, its listing %v",
							s.Path, len(c.changes), len(padding), c.run.Asks, tenure, s.Listing)
					}
				}
				if err := subjects[0].Read(); err != nil || subjects[0].Record == nil || subjects[0].forgotten {
					t.Errorf("%s is not read again: %v", subjects[0].Path, err)
				}
			}
			return nil
		})
		must.OK(t, err)
	}
}

// TestPinnedBefore checks that what a revocation at the head revokes is known about the one walk through the history,
// from its root or from what was verified on: reading the history again for each of them takes hours.
func TestPinnedBefore(t *testing.T) {
	w, repo := built(t, "base: [{listing: ada}, {listing: bob}, {commit: List}, {reissue: ada}, {commit: Renew}, "+
		"{revoke: ada, number: 1}, {commit: Revoke}, {listing: cyd}]")
	ctx := t.Context()
	chain := must.Get(repo.FirstParents(ctx, "", "main"))(t)
	tree := must.Get(repo.Tree(ctx, chain[len(chain)-1]))(t)
	old := must.Get(w.Pin("ada", 1))(t)
	for n, verified := range append([]string{""}, chain...) {
		l := ledgerFrom(repo, verified)
		faultsOf(t, l, repo, verified, "main")
		st := must.Get(l.Standing(ctx, tree))(t)
		run := &Run{Context: ctx, Base: st, Asks: OfHead}
		got, err := run.past().owners(ctx, pin{Slug: "ada", SHA256: old}, asOf{})
		if err != nil || len(got) != 1 || got[0].did != st.BySlug("ada").ToolDID || got[0].issued.IsZero() {
			t.Errorf("from commit %d on: the revoked Receipt was pinned by %v, error %v", n, got, err)
		}
		byPath := func(a, b *Listed) int { return strings.Compare(a.Path, b.Path) }
		if all := slices.Collect(st.Listings()); len(all) != 3 || !slices.IsSortedFunc(all, byPath) {
			t.Errorf("from commit %d on: the listings are %v", n, all)
		}
	}
}

// TestManyTwins checks that paths which folding makes one are named up to a bound, and that the rest is counted: there
// are as many pairs as the square of the paths.
func TestManyTwins(t *testing.T) {
	const paths = 500
	r, err := fixture.NewRepo(t.TempDir())
	must.OK(t, err)
	name := func(n int) string { // of invisible characters, so that folding leaves an a
		text := "docs/a"
		for bit := range 12 {
			text += string(rune(0x200B + n>>bit&1))
		}
		return text
	}
	r.Write("docs/a", []byte("x\n"))
	r.Commit("Begin", fixture.Clock.Add(-3*time.Hour))
	for n := range paths {
		r.Write(name(n), []byte("x\n"))
	}
	r.Commit("Bring", fixture.Clock.Add(-2*time.Hour))
	for n := range paths - 1 {
		must.OK(t, r.Remove(name(n)))
	}
	r.Commit("Take away", fixture.Clock.Add(-time.Hour))
	r.Branch("main")
	must.OK(t, r.Sync())
	repo := opened(t, r.Dir)
	l := NewLedger(repo, time.Now())
	told := slices.DeleteFunc(faultsOf(t, l, repo, "", "main"), func(f string) bool {
		return !strings.Contains(f, " case-twin ")
	})
	want := fmt.Sprintf(" %d more pairs of paths are one", paths-maxNamed)
	if len(told) != maxNamed+1 || !strings.Contains(told[maxNamed], want) {
		t.Errorf("%d findings, want %d and %q", len(told), maxNamed+1, want)
	}
	if odd := l.odd["docs/a"]; !slices.Equal(odd, []string{name(paths - 1)}) {
		t.Errorf("known in the end are %q", odd)
	}
}

// built builds a world in memory, and opens its registry on disk until the test ends. Package checktest, which does the
// same, imports checks.
func built(t *testing.T, world string) (*fixture.World, *registry.Repository) {
	t.Helper()
	w := must.Get(fixture.BuildUnserved(t.TempDir(), []byte(world)))(t)
	return w, opened(t, w.Repo.Dir)
}

// opened opens a repository until the test ends.
func opened(t *testing.T, dir string) *registry.Repository {
	t.Helper()
	repo := must.Get(registry.Open(dir))(t)
	t.Cleanup(func() { repo.Close() })
	return repo
}
