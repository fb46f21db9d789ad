package checks

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/checks/internal/listed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/git/gitobject"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// lost is an entry whose object no repository has.
func lost(t *testing.T) *registry.Entry {
	t.Helper()
	id := must.Get(gitobject.ParseID("1111111111111111111111111111111111111111"))(t)
	return &registry.Entry{Mode: registry.ModeFile, ID: id}
}

// A pull request may bring many files with private keys. Work that grew with the square of their number would not end.
func TestManyPrivateKeys(t *testing.T) {
	const many = 1 << 19
	r := &Run{Selected: func(string) bool { return true }}
	governance, leaks := make([]string, many), make([]leak, many)
	for i := range governance {
		governance[i] = fmt.Sprintf("docs/%06d.pem", i)
		leaks[i] = leak{path: governance[i], kind: "a PEM block"}
	}
	r.leakage.set(leaks, nil)
	if mixed, err := r.kindsMixed(append(governance, "docs/readme.md")); err != nil || len(mixed) != 1 {
		t.Errorf("%d files, %v; expected the one without a key", len(mixed), err)
	}
}

// Each comparison and each commit of a range counts by itself, whatever the range as a whole does. An object of them
// that cannot be read is an error.
func TestViewsAndCommits(t *testing.T) {
	const ada, odd = "implementations/ada.json", "revocations/odd.json"
	w, repo := built(t, `
base: [{listing: ada}]
pr:
  - {edit: implementations/ada.json, set: {/contact: a@ada.example}}
  - {commit: Edit}
  - {write: implementations/ada.json, text: "{"}
  - {commit: Break}
  - {reissue: ada}
`)
	rng := must.Get(repo.Range(t.Context(), w.Base, w.Head))(t)
	whole := rng.Changes[0]
	edited, broken := rng.Commits[0].Touched[0].Head, rng.Commits[1].Touched[0].Head
	never := &outlook{broken: true}
	for _, c := range []struct {
		name    string
		path    string
		head    *registry.Entry // of the range as a whole
		views   []registry.Entry
		commits []registry.Entry
		outlook *outlook
		want    string
	}{
		{"a re-issue", ada, whole.Head, []registry.Entry{*whole.Head}, nil, nil, ""},
		{"a view that is lost", ada, whole.Head, []registry.Entry{*lost(t)}, nil, nil, "an error"},
		{"a commit that is lost", ada, whole.Head, nil, []registry.Entry{*lost(t)}, nil, "an error"},
		{"a commit's listing that is lost", ada, whole.Head, nil, []registry.Entry{*lost(t)}, &outlook{}, "an error"},
		{"an edit in between", ada, whole.Head, nil, []registry.Entry{*edited}, nil, ""},
		{"a broken text in between", ada, whole.Head, nil, []registry.Entry{*broken}, nil, "error commit-tampers"},
		{"a broken file that is removed", odd, nil, []registry.Entry{{}}, nil, never, ""},
		{"a broken file that a merged side edits", odd, nil, []registry.Entry{{}, *edited}, nil, never, "error edited"},
		{"a broken file that a commit edits", odd, nil, []registry.Entry{{}}, []registry.Entry{*edited}, never,
			"error commit-tampers"},
	} {
		r := *rng
		r.Views, r.Commits = nil, nil
		for _, e := range c.views {
			change := registry.Change{Path: c.path, Base: whole.Base, Head: &e}
			if e == (registry.Entry{}) {
				change.Head = nil
			}
			r.Views = append(r.Views, registry.View{Changes: []registry.Change{change}})
		}
		for _, e := range c.commits {
			r.Commits = append(r.Commits, registry.Commit{Touched: []registry.Change{{Path: c.path, Head: &e}}})
		}
		run := &Run{Context: t.Context(), Repo: repo, Range: &r, Now: w.Now, Base: emptyStanding(r.Base)}
		s := must.Get(NewSubject(run, registry.Change{Path: c.path, Base: whole.Base, Head: c.head}))(t)
		s.outlook = c.outlook
		out, err := runAppendOnly(s)
		got := spelled(out)
		if err != nil {
			got = "an error"
		}
		if got != c.want {
			t.Errorf("%s: %q, %v; expected %q", c.name, got, err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	run := &Run{Context: ctx, Repo: repo, Range: rng, Now: w.Now, Base: emptyStanding(rng.Base)}
	s := &Subject{Run: run, Path: "revocations/a.json", Kind: registry.KindRevocation,
		Change: registry.Change{Head: whole.Head}}
	if out, err := runAppendOnly(s); err == nil {
		t.Errorf("without the history: %+v; expected an error", out)
	}
	run.Context, run.Range = t.Context(), &registry.Range{Base: rng.Base, Commits: []registry.Commit{
		{Touched: []registry.Change{{Path: ada, Head: edited}}}}}
	s = &Subject{Run: run, Path: ada, Kind: registry.KindListing, Change: registry.Change{Base: lost(t), Head: lost(t)}}
	if out, err := runAppendOnly(s); err == nil {
		t.Errorf("without the base's listing: %+v; expected an error", out)
	}
}

// What a range as a whole does with kinds of files, re-issues and commits. A commit of the history is judged as it was
// merged: what governance files it changes was for a maintainer to judge.
func TestRangeAsAWhole(t *testing.T) {
	w, repo := built(t, "base: [{listing: ada}]\npr: [{listing: nova}]")
	rng := must.Get(repo.Range(t.Context(), w.Base, w.Head))(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	again, closed := built(t, "base: [{listing: ada}]\npr: [{listing: nova}]")
	closedRange := must.Get(closed.Range(t.Context(), again.Base, again.Head))(t)
	must.OK(t, closed.Close())
	was, is := &registry.Entry{Mode: registry.ModeFile}, lost(t)
	change := func(path string) registry.Change { return registry.Change{Path: path, Base: was, Head: is} }
	subject := func(slug string, how *outlook) *Subject {
		path := listed.Path(slug)
		return &Subject{Path: path, Kind: registry.KindListing, Change: change(path), outlook: how}
	}
	renewed, other := subject("ada", &outlook{}), subject("bob", &outlook{})
	restored, unread := subject("cyd", &outlook{broken: true, last: is}), subject("dan", nil)
	touching := func(path string, head *registry.Entry) registry.Commit {
		return registry.Commit{Touched: []registry.Change{{Path: path, Head: head}}}
	}
	const several, anError = "error several-reissues", "an error"
	for _, c := range []struct {
		name     string
		subjects []*Subject
		files    []string // other files that change
		edit     func(*Run)
		want     string // of a proposed range
		merged   string // of the same range in the history
	}{
		{"nothing", nil, nil, nil, "changes nothing", "changes nothing"},
		{"a file that only commits touch", nil, nil, func(r *Run) {
			r.Range.Changes = []registry.Change{{Path: "a.md", Base: is, Head: is}}
		}, "changes nothing", "changes nothing"},
		{"a re-issue", []*Subject{renewed}, nil, nil, "", ""},
		{"two", []*Subject{renewed, other}, nil, nil, several, several},
		{"one, and a listing restored", []*Subject{renewed, restored}, nil, nil, "error mixed", ""},
		{"one, and a listing that cannot be read", []*Subject{renewed, unread}, nil, nil, anError, anError},
		{"a listing that cannot be read", []*Subject{unread}, nil, nil, anError, ""},
		{"a file", nil, []string{"a.md"}, nil, "warning governance", ""},
		{"a file and a re-issue", []*Subject{renewed}, []string{"a.md"}, nil, "error mixed", "warning mixed"},
		{"a .gitkeep and a re-issue", []*Subject{renewed}, []string{"revocations/.gitkeep"}, nil, "", ""},
		{"files that could not be searched", nil, []string{"a.md"}, func(r *Run) { r.leakage.err = registry.ErrLimit },
			anError, anError},
		{"a file in passing", nil, nil, func(r *Run) {
			r.Range.Commits = []registry.Commit{touching("a.md", is)}
		}, "warning governance-in-passing", "warning governance-in-passing"},
		{"commits, in none of which anything changes", nil, nil, func(r *Run) {
			r.Range.MergeBases, r.Range.Commits = []string{"a"}, make([]registry.Commit, 1)
		}, "changes nothing", "changes nothing"},
		{"no commits", []*Subject{renewed}, nil, func(r *Run) { r.Range.MergeBases = []string{"a"} },
			"warning nothing-judged", "warning nothing-judged"},
		{"the base cannot be read", nil, nil, func(r *Run) {
			r.Range, r.Asks.baseJudged = closedRange, r.Asks.onMain
		}, anError, ""},
		{"the head cannot be read", nil, nil, func(r *Run) {
			r.Range, r.Context, r.Landing = rng, ended, &Landing{}
		}, anError, anError},
	} {
		for _, merged := range []bool{false, true} {
			r := &Run{Context: t.Context(), Repo: repo, Range: &registry.Range{Base: rng.Base,
				Head: &registry.Tree{}}, Base: emptyStanding(nil), Now: w.Now,
				Asks: Asks{onMain: merged, baseJudged: true}, Selected: func(string) bool { return true }}
			r.leakage.set(nil, nil)
			for _, s := range c.subjects {
				s := *s
				s.Run = r
				r.Subjects = append(r.Subjects, &s)
				r.Range.Changes = append(r.Range.Changes, s.Change)
			}
			for _, path := range c.files {
				r.Range.Changes = append(r.Range.Changes, change(path))
			}
			if c.edit != nil {
				c.edit(r)
			}
			out, err := runAppendOnlyRegistry(r)
			got := spelled(out)
			if out.Verified != "" {
				got += strings.TrimPrefix(out.Verified, "the range ")
			}
			want := c.want
			if merged {
				want = c.merged
			}
			if err != nil {
				got = anError
			}
			if got != want {
				t.Errorf("%s, merged %t: %q, %v; expected %q", c.name, merged, got, err, want)
			}
		}
	}
}

// Rebase-merged, a range's commits make the step that it makes as a whole if one commit touches records, and what it
// makes of them lands.
func TestSquash(t *testing.T) {
	const ada, bob = "implementations/ada.json", "implementations/bob.json"
	is, other := &registry.Entry{Mode: registry.ModeFile}, &registry.Entry{Mode: registry.ModeExecutable}
	commit := func(path string, head *registry.Entry) registry.Commit {
		return registry.Commit{Touched: []registry.Change{{Path: path, Head: head}}}
	}
	for _, c := range []struct {
		name    string
		commits []registry.Commit
		want    bool
	}{
		{"none", nil, false},
		{"one", []registry.Commit{commit(ada, is)}, false},
		{"one, and one of another file", []registry.Commit{commit(ada, is), commit("a.md", is)}, false},
		{"two", []registry.Commit{commit(ada, is), commit(ada, is)}, true},
		{"one whose record does not land", []registry.Commit{commit(bob, is)}, true},
		{"one whose record lands otherwise", []registry.Commit{commit(ada, other)}, true},
		{"one whose record is removed", []registry.Commit{commit(ada, nil)}, true},
	} {
		r := &registry.Range{Changes: []registry.Change{{Path: ada, Head: is}}, Commits: c.commits}
		if got := Squash(r); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}

func TestShort(t *testing.T) {
	for commit, want := range map[string]string{"": "the files on disk", "0123456789abcd": "0123456789ab", "01": "01"} {
		if got := short(commit); got != want {
			t.Errorf("%q: %q; expected %q", commit, got, want)
		}
	}
}
