package checktest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// inHistory lists the checks by which an audit judges each commit of the history.
var inHistory = []string{"layout", "append-only", "reissue", "revocations"}

// apart lists the codes that an audit and a check give for different reasons.
var apart = map[string]bool{
	"mixed": true, // an audit only warns
	// These need evidence.
	"level-not-highest": true, "name-not-signed": true, "not-authorised": true, "provisional-set": true,
	"suffix-not-kept": true, "too-many-witnesses": true, "did-published-key": true,
	// These are about governance files, which a maintainer reviewed when they were merged.
	"device-name": true, "empty-folder": true, "path-character": true, "private-key": true,
	"record-elsewhere": true, "large-file": true, "gitkeep-content": true,
	// If a record has these, a check reports the schema, by which no audit judges the history.
	"no-such-reason": true, "revokes-nothing": true, "signature-form": true, "unreadable-time": true,
	"revoked-in-future": true, // an audit compares with the time of the commit
}

// follow checks that an audit that follows the history finds in the commit of the pull request the errors that the
// check of it found, and that it knows in the end what reading the head shows. It follows the history from the root,
// and from the base.
func follow(t *testing.T, w *fixture.World, repo *registry.Repository, rng *registry.Range, rep *verdict.Report) {
	t.Helper()
	base, head := rng.Base.Commit(), rng.Head.Commit()
	chain, err := repo.FirstParents(t.Context(), base, head)
	if err != nil || len(chain) != 1 || len(rng.Commits) != 1 {
		return // the base has moved on, or an audit judges more than one commit
	}
	var want []string
	for r := range rep.Results.All() {
		for _, f := range r.Findings {
			if slices.Contains(inHistory, r.Check) {
				want = note(want, r.Check, f)
			}
		}
	}
	slices.Sort(want)
	tree := must.Get(repo.Tree(t.Context(), head))(t)
	read := must.Get(checks.NewStanding(t.Context(), tree, func(string) bool { return true }))(t)
	var origins map[string]checks.Origin
	for _, from := range []string{"", base, head} {
		ledger := checks.NewLedger(repo, w.Now)
		if from != "" {
			ledger = checks.LedgerAt(repo, from, w.Now)
		}
		var got []string
		err := repo.Steps(t.Context(), from, head, func(s *registry.Step) error {
			found, err := ledger.Step(t.Context(), s)
			if s.Commit.ID == head {
				for _, f := range found {
					got = note(got, f.Check, f.Finding)
				}
			}
			return err
		})
		must.OK(t, err)
		slices.Sort(got)
		if from != head && !slices.Equal(got, want) {
			t.Errorf("an audit from commit %q finds\n%s\na check finds\n%s", from, strings.Join(got, "\n"),
				strings.Join(want, "\n"))
		}
		followed, err := ledger.Standing(t.Context(), tree)
		must.OK(t, err)
		if diff := cmp.Diff(state(t, repo, w, read), state(t, repo, w, followed)); diff != "" {
			t.Errorf("read, and followed from commit %q:\n%s", from, diff)
		}
		now := map[string]checks.Origin{}
		for l := range read.Listings() {
			if now[l.Path], err = ledger.Origin(t.Context(), l.Path); err != nil {
				t.Error(err)
			}
		}
		if origins == nil {
			origins = now
		}
		if diff := cmp.Diff(origins, now); diff != "" {
			t.Errorf("origins from the root, and from commit %q:\n%s", from, diff)
		}
	}
}

func note(found []string, check string, f verdict.Finding) []string {
	if f.Severity != verdict.Error || apart[f.Code] {
		return found
	}
	return append(found, fmt.Sprintf("%s: %s: %s", f.Pos.Path, check, f.Code))
}

// state returns what is known about each listing of a tree.
func state(t *testing.T, repo *registry.Repository, w *fixture.World, st *checks.Standing) map[string]any {
	t.Helper()
	run := &checks.Run{Context: t.Context(), Repo: repo, Base: st, Now: w.Now}
	out := map[string]any{}
	for l := range st.Listings() {
		is := must.Get(run.State(l))(t)
		out[l.Path] = []any{l, st.ByDID(l.ToolDID), is}
	}
	return out
}
