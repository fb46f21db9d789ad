package checks_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/revocation"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// naive is a first-parent history: what each commit holds, and its first-parent time. Its methods say who is listed and
// revoked without any cache, as the rules say it.
type naive []naiveCommit

type naiveCommit struct {
	files map[string]string
	when  time.Time
}

// object returns the JSON object that a text is, or nil.
func object(text string) map[string]any {
	var out map[string]any
	if json.Unmarshal([]byte(text), &out) != nil {
		return nil
	}
	return out
}

func member(o map[string]any, name string) string {
	text, _ := o[name].(string)
	return text
}

func moment(o map[string]any, name string) time.Time {
	t, _ := time.Parse(time.RFC3339, member(o, name))
	return t
}

// pairs returns the slugs and hashes that a revocation names, by its file name and by its text.
func pairs(path, text string) map[[2]string]bool {
	out := map[[2]string]bool{}
	name, found := strings.CutPrefix(path, "revocations/")
	if !found || name == "README.md" || name == ".gitkeep" {
		return out
	}
	base := strings.TrimSuffix(strings.ToLower(name[strings.LastIndexByte(name, '/')+1:]), ".json")
	if i := len(base) - 65; i > 1 && base[i] == '-' {
		out[[2]string{base[:i], base[i+1:]}] = true
	}
	o := object(text)
	if slug, sum := member(o, "slug"), member(o, "revoked_receipt_sha256"); slug != "" && sum != "" {
		out[[2]string{strings.ToLower(slug), strings.ToLower(sum)}] = true
	}
	return out
}

// acts calls f with each DID on which a revocation acts, its hash, and when the version that pinned it was issued.
func (n naive) acts(f func(did, sum string, issued time.Time)) {
	for _, c := range n {
		for path, text := range c.files {
			o := object(text)
			for pair := range pairs(path, text) {
				owners := map[string]time.Time{}
				for _, then := range n {
					l := object(then.files["implementations/"+pair[0]+".json"])
					if member(l, "tool_did") == "" || member(l, "conformance_receipt_sha256") != pair[1] {
						continue
					}
					id, issued := strings.ToLower(member(l, "tool_did")), moment(l, "issued_at")
					if issued.After(then.when) {
						issued = then.when
					}
					if was, found := owners[id]; !found || issued.Before(was) {
						owners[id] = issued
					}
				}
				signatures, _ := o["peer_witness_signatures"].([]any)
				by := strings.ToLower(member(o, "revoked_by_did"))
				_, own := owners[by]
				for id, issued := range owners {
					if !own || id == by || len(signatures) >= 3 {
						f(id, pair[1], issued)
					}
				}
			}
		}
	}
}

// fault returns the rule that refuses the text of a listing by itself.
func naiveFault(path, text string, now time.Time) string {
	o := object(text)
	id := member(o, "tool_did")
	switch {
	case o == nil:
		return "unreadable"
	case path != "implementations/"+member(o, "slug")+".json" || id != strings.ToLower(id) || id == "":
		return "layout"
	case o["extra"] != nil:
		return "schema"
	case moment(o, "expires_at").Sub(moment(o, "issued_at")) > checks.Window,
		moment(o, "issued_at").After(now.Add(checks.Skew)):
		return "window"
	}
	return ""
}

// since returns from which commit on a path has listed its DID without a break.
func (n naive) since(path string) int {
	last := len(n) - 1
	id := member(object(n[last].files[path]), "tool_did")
	for last > 0 && member(object(n[last-1].files[path]), "tool_did") == id {
		last--
	}
	return last
}

// state returns the state of a listing at the end of the history, and the rule that refuses it.
func (n naive) state(path string, now time.Time) (state, rule string) {
	files := n[len(n)-1].files
	o := object(files[path])
	id := strings.ToLower(member(o, "tool_did"))
	revoked := false
	n.acts(func(did, sum string, issued time.Time) {
		if did == id && (sum == member(o, "conformance_receipt_sha256") ||
			!moment(o, "issued_at").After(issued.Add(time.Second))) {
			revoked = true
		}
	})
	if revoked && o != nil {
		return verdict.StatusRevoked, ""
	}
	rule = naiveFault(path, files[path], now)
	for other, text := range files {
		if other == path || !strings.HasPrefix(other, "implementations/") || o == nil || rule == "layout" ||
			strings.ToLower(member(object(text), "tool_did")) != id || naiveFault(other, text, now) != "" {
			continue
		}
		if a, b := n.since(other), n.since(path); a < b || a == b && other < path {
			return verdict.StatusRefused, "layout"
		}
	}
	switch left := moment(o, "expires_at").Sub(now); {
	case rule != "":
		return verdict.StatusRefused, rule
	case left <= 0:
		return verdict.StatusExpired, ""
	case o["provisional"] == true && now.Before(n[n.since(path)].when.Add(registry.ProvisionalFor)):
		return verdict.StatusProvisional, ""
	case left < verdict.Soon:
		return verdict.StatusExpiring, ""
	}
	return verdict.StatusValid, ""
}

// step changes the files of a history at random, as pushes and pull requests may.
func step(r *rand.Rand, files map[string]string, now time.Time) {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	sum := func() string { return receipts()[r.IntN(3)].sum }
	id := func() string { return "did:web:" + pick("ada", "bob", "eve") + ".example" }
	slug := func() string { return pick("ada", "bob", "xx") }
	day := func(n int) string { return now.AddDate(0, 0, n).Format(time.RFC3339) }
	switch r.IntN(8) {
	case 0, 1, 2, 3:
		s := slug()
		issued := -r.IntN(70)
		o := map[string]any{"slug": s, "name": "Name", "tool_did": id(), "manifest_uri": "https://x.example/m",
			"conformance_level": pick("L1", "L4"), "conformance_receipt_uri": "https://x.example/r",
			"conformance_receipt_sha256": sum(), "issued_at": day(issued), "expires_at": day(issued + 10 + r.IntN(81))}
		switch r.IntN(12) {
		case 0:
			o["extra"] = 1
		case 1:
			o["slug"] = "other"
		case 2:
			o["tool_did"] = strings.Replace(o["tool_did"].(string), "example", "EXAMPLE", 1)
		case 3:
			o["expires_at"] = day(issued + 91)
		case 4:
			o["issued_at"], o["expires_at"] = day(2), day(40)
		case 5, 6:
			o["provisional"] = true
		case 7:
			delete(o, "tool_did")
		}
		text, _ := json.Marshal(o)
		files["implementations/"+s+".json"] = pick(string(text), string(text), string(text), string(text), "{")
	case 4:
		delete(files, "implementations/"+slug()+".json")
	case 5, 6:
		s, h := slug(), sum()
		o := map[string]any{"slug": pick(s, s, strings.ToUpper(s)), "revoked_receipt_sha256": h, "revoked_by_did": id()}
		if r.IntN(4) == 0 {
			o["peer_witness_signatures"] = []int{1, 2, 3}[:2+r.IntN(2)]
		}
		text, _ := json.Marshal(o)
		path := "revocations/" + pick(s+"-"+h+".json", s+"-"+h+".json", "a.json", "x/"+s+"-"+h+".json", "a.txt",
			slug()+"-"+sum()+".json", strings.ToUpper(s)+"-"+h+".JSON", "README.md")
		files[path] = pick(string(text), string(text), string(text), "{", "{}")
	case 7:
		var all []string
		for path := range files {
			if strings.HasPrefix(path, "revocations/") {
				all = append(all, path)
			}
		}
		if slices.Sort(all); len(all) > 0 {
			delete(files, pick(all...))
		}
	}
}

// All ways to ask who is listed, revoked and may witness give one answer, that of the rules: a check that reads the
// history, and audits that follow it from the root and from any commit.
func TestOneAnswer(t *testing.T) {
	histories := 200
	if testing.Short() {
		histories = 120
	} else if os.Getenv("CI") != "" {
		histories = 2000
	}
	for seed := range histories {
		oneAnswer(t, uint64(seed))
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func oneAnswer(t *testing.T, seed uint64) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 43))
	on, err := fixture.NewRepo(t.TempDir())
	must.OK(t, err)
	now := fixture.Clock
	when, landed := now.AddDate(0, 0, -60), time.Time{}
	files := map[string]string{"implementations/.gitkeep": "", "revocations/.gitkeep": ""}
	written := map[string]string{}
	commit := func() (at time.Time) {
		for path := range written {
			if _, found := files[path]; !found {
				must.OK(t, on.Remove(path))
			}
		}
		for _, path := range slices.Sorted(maps.Keys(files)) {
			on.Write(path, []byte(files[path]))
		}
		written = maps.Clone(files)
		at = when.AddDate(0, 0, -r.IntN(9)*r.IntN(2)) // an earlier date makes no earlier landing
		on.Commit("Change", at)
		return at
	}
	on.Branch("main")
	var history naive
	for n := range 2 + r.IntN(11) {
		if n > 0 && r.IntN(4) == 0 { // what only a merged branch held never landed
			main, side := maps.Clone(files), fmt.Sprint("side", n)
			on.Branch(side)
			step(r, files, now)
			commit()
			must.OK(t, errors.Join(on.Checkout("main"), on.Merge(side)))
			if r.IntN(2) == 0 {
				files = main
			}
		}
		for range 1 + r.IntN(3) {
			step(r, files, now)
		}
		when = when.Add(time.Duration(r.IntN(3)) * 48 * time.Hour)
		if at := commit(); at.After(landed) {
			landed = at
		}
		history = append(history, naiveCommit{maps.Clone(files), landed})
	}
	must.OK(t, on.Sync())
	repo, err := registry.Open(on.Dir)
	must.OK(t, err)
	defer repo.Close()
	chain, err := repo.FirstParents(t.Context(), "", "main")
	if err != nil || len(chain) != len(history) {
		t.Fatalf("%d commits, %v; expected %d", len(chain), err, len(history))
	}
	compareMarks(t, repo, chain, history)
	compareReaders(t, repo, chain, history, r)
	for i, commit := range chain {
		tree, err := repo.Tree(t.Context(), commit)
		must.OK(t, err)
		read, err := checks.NewStanding(t.Context(), tree, func(string) bool { return true })
		must.OK(t, err)
		all := map[string]*checks.Standing{"read": read}
		if i == len(chain)-1 || r.IntN(4) == 0 {
			for name, from := range map[string]string{"followed": "", "followed from " + fmt.Sprint(i/2): chain[i/2]} {
				ledger := checks.NewLedger(repo, now)
				if from != "" {
					ledger = checks.LedgerAt(repo, from, now)
				}
				must.OK(t, repo.Steps(t.Context(), from, commit, func(s *registry.Step) error {
					_, err := ledger.Step(t.Context(), s)
					return err
				}))
				if all[name], err = ledger.Standing(t.Context(), tree); err != nil {
					t.Fatal(err)
				}
			}
		}
		for name, st := range all {
			compareAnswers(t, fmt.Sprintf("commit %d, %s", i, name),
				&checks.Run{Context: t.Context(), Repo: repo, Base: st, Range: &registry.Range{Base: tree}, Now: now},
				history[:i+1])
		}
	}
}

// compareMarks compares the marks of each commit with what the rules say: those of a marker that begins with the root
// commit, of one that begins later, and of ledgers. A listing without a mark or a revocation that names it is one that
// readers list, as far as the clock allows.
func compareMarks(t *testing.T, repo *registry.Repository, chain []string, history naive) {
	t.Helper()
	half := chain[len(chain)/2]
	markers := map[string]*checks.Marker{"root": checks.NewMarker(repo, "main"), "half": checks.NewMarker(repo, "main")}
	ledgers := map[string]*checks.Ledger{"root": checks.NewLedger(repo, fixture.Clock),
		// The other clock is behind some commits.
		"half": checks.LedgerAt(repo, half, fixture.Clock.AddDate(0, 0, -45))}
	tree, err := repo.Tree(t.Context(), half)
	if err == nil {
		err = markers["half"].Start(t.Context(), tree)
	}
	must.OK(t, err)
	marked := map[[2]string]string{} // the content that revokes or is refused
	wasBad := map[string]bool{}
	set := func(at [2]string, content string) {
		if marked[at] == "" {
			marked[at] = content
		}
	}
	i, late := 0, false
	must.OK(t, repo.Steps(t.Context(), "", "main", func(s *registry.Step) error {
		files := history[i].files
		for _, path := range slices.Sorted(maps.Keys(files)) {
			for _, at := range revocation.Read(path, []byte(files[path])).Pins {
				set([2]string{at.Slug, at.SHA256}, files[path])
			}
		}
		var first []checks.Mark
		for _, name := range []string{"root", "half"} {
			if name == "half" && !late {
				continue
			}
			marks, err := markers[name].Marks(t.Context(), i+1, s.Result, s.Changes)
			if err != nil {
				return err
			}
			if _, err := ledgers[name].Step(t.Context(), s); err != nil {
				return err
			}
			followed, err := ledgers[name].Marker().Marks(t.Context(), i+1, s.Result, s.Changes)
			if err != nil {
				return err
			}
			if name == "root" {
				first = marks
			}
			if !slices.Equal(marks, first) || !slices.Equal(followed, first) {
				t.Errorf("commit %d, %s: marks %v, and of a ledger %v; expected %v", i, name, marks, followed, first)
			}
		}
		for _, m := range first {
			content, err := repo.Bytes(m.By, 1<<20)
			if err != nil {
				return err
			}
			set([2]string{m.Slug, m.SHA256}, string(content))
		}
		for path, text := range files {
			l, slug := object(text), strings.TrimSuffix(strings.TrimPrefix(path, "implementations/"), ".json")
			if member(l, "slug") != slug || l["extra"] != nil || member(l, "tool_did") == "" {
				continue // which a reader sees
			}
			at := [2]string{slug, member(l, "conformance_receipt_sha256")}
			state, rule := history[:i+1].state(path, time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC))
			bad := state == verdict.StatusRevoked || state == verdict.StatusRefused && rule != "window"
			if bad && marked[at] == "" {
				t.Errorf("commit %d: %s is %s %s, and has no mark", i, path, state, rule)
			}
			wasBad[text] = wasBad[text] || bad
			if marked[at] == text && !wasBad[text] {
				t.Errorf("commit %d: %s is %s, and marked as refused", i, path, state)
			}
			now, _ := history[:i+1].state(path, fixture.Clock)
			clock := now == verdict.StatusExpired || now == verdict.StatusRefused
			if marked[at] == "" && !(&checks.State{Status: now}).InForce() && !clock {
				t.Errorf("commit %d: a proof calls %s valid, which is %s", i, path, now)
			}
		}
		late = late || s.Commit.ID == half
		i++
		return nil
	}))
}

// compareAnswers compares what a run says with what the rules say.
func compareAnswers(t *testing.T, name string, run *checks.Run, history naive) {
	t.Helper()
	witnesses := map[string]bool{}
	for path := range history[len(history)-1].files {
		if !strings.HasPrefix(path, "implementations/") || path == "implementations/.gitkeep" {
			continue
		}
		want, rule := history.state(path, run.Now)
		l := run.Base.BySlug(strings.TrimSuffix(strings.TrimPrefix(path, "implementations/"), ".json"))
		is := checks.Unreadable()
		if l != nil {
			var err error
			if is, err = run.State(l); err != nil {
				t.Fatal(err)
			}
			id := strings.ToLower(l.ToolDID)
			witnesses[id] = witnesses[id] || l.Level == "L4" &&
				(want == verdict.StatusValid || want == verdict.StatusExpiring)
		}
		if l != nil && !l.Provisional && !is.Until.IsZero() {
			t.Errorf("%s: %s is not provisional, but until %s", name, path, is.Until)
		}
		if is.Status != want || is.RefusedBy != rule {
			t.Errorf("%s: %s is %s %s by %s; expected %s %s", name, path, is.Status, is.RefusedBy, is.RevokedBy, want,
				rule)
		}
	}
	for id, may := range witnesses {
		l, code, why, err := run.MayWitness(id)
		if err != nil || (l != nil) != may && code != checks.WitnessOpen {
			t.Errorf("%s: %s may witness: %t, %q %q, %v; expected %t", name, id, l != nil, code, why, err, may)
		}
	}
}
