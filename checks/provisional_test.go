package checks

import (
	"context"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// TestListedSince checks that a file has held its DID since the same commit in a check, in an audit that follows the
// history and in one that does not; of an earlier tree since the commit that counted then.
func TestListedSince(t *testing.T) {
	w, repo := built(t, `
base:
  - {at: "-60d"}
  - {commit: Begin}
  - {listing: ada, provisional: true}
  - {commit: List}
  - {at: "-40d"}
  - {move: [implementations/ada.json, ada.json]}
  - {commit: Remove}
  - {at: "-20d"}
  - {move: [ada.json, implementations/ada.json]}
  - {commit: Return}
  - {listing: bob}
`)
	chain, err := repo.FirstParents(t.Context(), "", "main")
	must.OK(t, err)
	ledger := NewLedger(repo, w.Now)
	faultsOf(t, ledger, repo, "", "main")
	late := LedgerAt(repo, chain[3], w.Now)
	faultsOf(t, late, repo, chain[3], "main")
	day := func(n int) time.Time { return w.Now.AddDate(0, 0, n) }
	for name, l := range map[string]*Ledger{"a check": nil, "an audit": nil, "an audit from the root": ledger,
		"an audit of the last commit": late} {
		run := runOn(t, repo, w.Now)
		run.Asks.AsIs = name != "a check"
		if l != nil {
			if run.Base, err = l.Standing(t.Context(), run.Base.Tree); err != nil {
				t.Fatal(err)
			}
		}
		ada := run.Base.BySlug("ada")
		for _, c := range []struct {
			commit int
			at     time.Time
			since  int  // days
			is     bool // provisional
		}{
			{1, day(-50), -60, true},
			{1, day(-31), -60, true},
			{1, day(-29), -60, false},
			{1, day(-10), -60, false}, // the next commit has a date of today
			{3, day(-10), -20, true},
			{len(chain) - 1, w.Now, -20, true},
		} {
			tree := must.Get(repo.Tree(t.Context(), chain[c.commit]))(t)
			found, err := run.since(ada, &Moment{Tree: tree, When: c.at, number: c.commit + 2})
			since := found.landed
			if d := since.Sub(day(c.since)); err != nil || d < 0 || d > time.Hour {
				t.Errorf("%s, commit %d at %s: since %s, error %v; expected %s", name, c.commit, c.at, since, err,
					day(c.since))
			}
			if is := c.at.Before(since.Add(registry.ProvisionalFor)); is != c.is {
				t.Errorf("%s, commit %d at %s: provisional is %t", name, c.commit, c.at, is)
			}
		}
		gone := must.Get(repo.Tree(t.Context(), chain[2]))(t)
		if found, err := run.since(ada, &Moment{Tree: gone, When: w.Now, number: 4}); err != nil || found.number != 0 {
			t.Errorf("%s: since commit %d, error %v, where the commit itself brought it", name, found.number, err)
		}
		was, err := runOn(t, repo, w.Now).past().tenure(t.Context(), ada.Path, ada.ToolDID, asOf{before: 3})
		if err != nil || was.number != 2 {
			t.Errorf("before commit 3: since commit %d, error %v; expected 2", was.number, err)
		}
		if now, err := run.since(ada, nil); err != nil || now.number != 4 && name != "an audit of the last commit" {
			t.Errorf("%s: since commit %d, error %v; expected 4", name, now.number, err)
		}
		if l != nil {
			continue
		}
		run = runOn(t, repo, w.Now)
		run.Asks.AsIs = name != "a check"
		ended, end := context.WithCancel(t.Context())
		end()
		run.Context = ended
		first := must.Get(repo.Tree(t.Context(), chain[1]))(t)
		for _, tree := range []*registry.Tree{run.Base.Tree, first} {
			if _, err := run.since(ada, &Moment{Tree: tree, When: w.Now}); err == nil {
				t.Errorf("%s: no error of a run that has ended", name)
			}
		}
	}
}
