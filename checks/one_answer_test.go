package checks_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
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
	files map[string]file
	when  time.Time
}

// A file is a text, and the JSON object that it is, if any.
type file struct {
	text   string
	object map[string]any
}

func fileOf(text string) (f file) {
	if f.text = text; json.Unmarshal([]byte(text), &f.object) != nil {
		f.object = nil
	}
	return f
}

func (f file) member(name string) string {
	text, _ := f.object[name].(string)
	return text
}

func (f file) moment(name string) time.Time {
	t, _ := time.Parse(time.RFC3339, f.member(name))
	return t
}

// did returns tool_did as it is compared, sum the pinned hash.
func (f file) did() string { return strings.ToLower(f.member("tool_did")) }
func (f file) sum() string { return f.member("conformance_receipt_sha256") }

// slugIn returns the slug in the name of a listing's file, "" for another path.
func slugIn(path string) string {
	slug, found := strings.CutPrefix(path, "implementations/")
	if slug, json := strings.CutSuffix(slug, ".json"); found && json {
		return slug
	}
	return ""
}

// pairs returns the slugs and hashes that a revocation names, by its file name and by its text.
func pairs(path string, f file) map[[2]string]bool {
	out := map[[2]string]bool{}
	name, found := strings.CutPrefix(path, "revocations/")
	if !found || name == "README.md" || name == ".gitkeep" {
		return out
	}
	base := strings.TrimSuffix(strings.ToLower(name[strings.LastIndexByte(name, '/')+1:]), ".json")
	if i := len(base) - 65; i > 1 && base[i] == '-' {
		out[[2]string{base[:i], base[i+1:]}] = true
	}
	if slug, sum := f.member("slug"), f.member("revoked_receipt_sha256"); slug != "" && sum != "" {
		out[[2]string{strings.ToLower(slug), strings.ToLower(sum)}] = true
	}
	return out
}

// An act is what a revocation does: to a DID, with a hash that it pinned in a version issued then.
type act struct {
	did, sum string
	issued   time.Time
}

func (n naive) acts() (out []act) {
	for _, c := range n {
		for path, f := range c.files {
			for pair := range pairs(path, f) {
				owners := map[string]time.Time{}
				for _, then := range n {
					l := then.files["implementations/"+pair[0]+".json"]
					if l.did() == "" || l.sum() != pair[1] {
						continue
					}
					issued := l.moment("issued_at")
					if issued.After(then.when) {
						issued = then.when
					}
					if was, found := owners[l.did()]; !found || issued.Before(was) {
						owners[l.did()] = issued
					}
				}
				signatures, _ := f.object["peer_witness_signatures"].([]any)
				by := strings.ToLower(f.member("revoked_by_did"))
				_, own := owners[by]
				for id, issued := range owners {
					if !own || id == by || len(signatures) >= 3 {
						out = append(out, act{id, pair[1], issued})
					}
				}
			}
		}
	}
	return out
}

// fault returns the rule that refuses a listing by itself.
func (f file) fault(path string, now time.Time) string {
	switch id := f.member("tool_did"); {
	case f.object == nil:
		return "unreadable"
	case slugIn(path) != f.member("slug") || id != strings.ToLower(id) || id == "":
		return "layout"
	case f.object["extra"] != nil:
		return "schema"
	case f.moment("expires_at").Sub(f.moment("issued_at")) > checks.Window,
		f.moment("issued_at").After(now.Add(checks.Skew)):
		return "window"
	}
	return ""
}

// since returns from which commit on a path has listed its DID without a break.
func (n naive) since(path string) int {
	last := len(n) - 1
	id := n[last].files[path].member("tool_did")
	for last > 0 && n[last-1].files[path].member("tool_did") == id {
		last--
	}
	return last
}

// A status is the state of a listing, and the rule that refuses it.
type status struct{ state, rule string }

// statuses returns the status of each file of implementations/ at the end of the history, by path.
func (n naive) statuses(now time.Time) map[string]status {
	out, acts := map[string]status{}, n.acts()
	for path := range n[len(n)-1].files {
		if slugIn(path) != "" {
			out[path] = n.status(path, acts, now)
		}
	}
	return out
}

func (n naive) status(path string, acts []act, now time.Time) status {
	files := n[len(n)-1].files
	f := files[path]
	for _, a := range acts {
		if f.object != nil && a.did == f.did() &&
			(a.sum == f.sum() || !f.moment("issued_at").After(a.issued.Add(time.Second))) {
			return status{verdict.StatusRevoked, ""}
		}
	}
	rule := f.fault(path, now)
	for other, o := range files {
		if other == path || slugIn(other) == "" || f.object == nil || rule == "layout" || o.did() != f.did() ||
			o.fault(other, now) != "" {
			continue
		}
		if a, b := n.since(other), n.since(path); a < b || a == b && other < path {
			return status{verdict.StatusRefused, "layout"}
		}
	}
	switch left := f.moment("expires_at").Sub(now); {
	case rule != "":
		return status{verdict.StatusRefused, rule}
	case left <= 0:
		return status{verdict.StatusExpired, ""}
	case f.object["provisional"] == true && now.Before(n[n.since(path)].when.Add(registry.ProvisionalFor)):
		return status{verdict.StatusProvisional, ""}
	case left < verdict.Soon:
		return status{verdict.StatusExpiring, ""}
	}
	return status{verdict.StatusValid, ""}
}

// A maker changes the files of a history at random, as pushes and pull requests may.
type maker struct {
	*rand.Rand
	now    time.Time
	ids    []string // whose listings there are
	lawful int      // of four steps
	files  map[string]string
	former [][2]string // paths and texts that the history had
}

func (m *maker) pick(of ...string) string { return of[m.IntN(len(of))] }
func (m *maker) sum() string              { return receipts()[m.IntN(3)].sum }

func (m *maker) day(n int) string { return m.now.AddDate(0, 0, n).Format(time.RFC3339) }

// some returns a path of the files below a directory, or "".
func (m *maker) some(directory string) string {
	var all []string
	for path := range m.files {
		if strings.HasPrefix(path, directory) && !strings.HasSuffix(path, ".gitkeep") {
			all = append(all, path)
		}
	}
	slices.Sort(all)
	return m.pick(append(all, "")...)
}

func (m *maker) write(path string, o map[string]any) {
	text, _ := json.Marshal(o)
	m.files[path] = string(text)
	m.former = append(m.former, [2]string{path, string(text)})
}

func (m *maker) listing(slug, id, sum string, issued, days int) map[string]any {
	return map[string]any{"slug": slug, "name": "Name", "tool_did": id, "manifest_uri": "https://x.example/m",
		"conformance_level": m.pick("L1", "L4"), "conformance_receipt_uri": "https://x.example/r",
		"conformance_receipt_sha256": sum, "issued_at": m.day(issued), "expires_at": m.day(issued + days)}
}

func (m *maker) revocation(slug, id, sum string) map[string]any {
	return map[string]any{"slug": slug, "revoked_receipt_sha256": sum, "revoked_by_did": id, "reason": "superseded",
		"revoked_at": m.day(-1), "signature": map[string]any{"alg": "EdDSA", "by": id,
			"value": strings.Repeat("A", 86)}}
}

// step takes a step that a pull request may take, or any other.
func (m *maker) step() {
	slug := m.pick(m.ids...)
	path, id := "implementations/"+slug+".json", "did:web:"+slug+".example"
	switch is := fileOf(m.files[path]); {
	case m.IntN(4) >= m.lawful:
		m.push("did:web:"+slug+".example", m.sum(), m.pick("ada", "bob", "xx"))
	case is.object != nil && m.IntN(2) == 0:
		m.write("revocations/"+slug+"-"+is.sum()+".json", m.revocation(slug, id, is.sum()))
	default: // each Receipt is later than those before
		m.write(path, m.listing(slug, id, m.sum(), len(m.former)-60, 90))
	}
}

func (m *maker) push(id, sum, slug string) {
	switch m.IntN(14) {
	case 0, 1, 2, 3, 4, 5:
		issued := -m.IntN(70)
		o := m.listing(slug, id, sum, issued, 10+m.IntN(81))
		switch m.IntN(12) {
		case 0:
			o["extra"] = 1
		case 1:
			o["slug"] = "other"
		case 2:
			o["tool_did"] = strings.Replace(id, "example", "EXAMPLE", 1)
		case 3:
			o["expires_at"] = m.day(issued + 91)
		case 4:
			o["issued_at"], o["expires_at"] = m.day(2), m.day(40)
		case 5, 6:
			o["provisional"] = true
		case 7:
			delete(o, "tool_did")
		}
		if m.write("implementations/"+slug+".json", o); m.IntN(5) == 0 {
			m.files["implementations/"+slug+".json"] = "{"
		}
	case 6:
		delete(m.files, "implementations/"+slug+".json")
	case 7, 8, 9:
		o := m.revocation(m.pick(slug, slug, strings.ToUpper(slug)), id, sum)
		switch m.IntN(6) {
		case 0:
			o["peer_witness_signatures"] = []int{1, 2, 3}[:2+m.IntN(2)]
		case 1:
			o["signature"] = "ed25519:abc"
		}
		path := "revocations/" + m.pick(slug+"-"+sum+".json", slug+"-"+sum+".json", "a.json",
			"x/"+slug+"-"+sum+".json", "a.txt", m.pick("ada", "bob", "xx")+"-"+m.sum()+".json",
			strings.ToUpper(slug)+"-"+sum+".JSON", "README.md", ".gitkeep")
		if m.write(path, o); m.IntN(3) == 0 {
			m.files[path] = m.pick("{", "{}")
		}
	case 10:
		delete(m.files, m.some("revocations/"))
	case 11: // what was there is restored
		if len(m.former) > 0 {
			was := m.former[m.IntN(len(m.former))]
			m.files[was[0]] = was[1]
		}
	case 12: // a listing moves to another slug, a revocation to its name
		from, to := m.some(m.pick("implementations/", "revocations/")), "implementations/"+slug+".json"
		o := fileOf(m.files[from]).object
		if slugIn(from) == "" {
			to = fmt.Sprintf("revocations/%v-%v.json", o["slug"], o["revoked_receipt_sha256"])
		} else if o != nil {
			o["slug"] = slug
		}
		if delete(m.files, from); o != nil {
			m.write(to, o)
		}
	case 13:
		m.files[m.pick("docs/a.md", "implementation/ada.json", "implementations/.gitkeep")] = m.pick("", "{", "x")
	}
}

// All ways to ask who is listed, revoked and may witness give one answer, that of the rules: a check that reads the
// history, and audits that follow it from the root and from any commit.
func TestOneAnswer(t *testing.T) {
	histories := 200
	if text := os.Getenv("OAP_GATE_HISTORIES"); text != "" {
		histories = must.Get(strconv.Atoi(text))(t)
	} else if testing.Short() {
		histories = 60
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
	on := must.Get(fixture.NewRepo(t.TempDir()))(t)
	now := fixture.Clock
	when, landed := now.AddDate(0, 0, -60), time.Time{}
	m := &maker{Rand: r, now: now, ids: []string{"ada", "bob", "eve", "fay", "gus"}[:2+r.IntN(4)],
		lawful: 2 * r.IntN(3), files: map[string]string{"implementations/.gitkeep": "", "revocations/.gitkeep": ""}}
	written := map[string]string{}
	commit := func() (at time.Time) {
		for path := range written {
			if _, found := m.files[path]; !found {
				must.OK(t, on.Remove(path))
			}
		}
		for _, path := range slices.Sorted(maps.Keys(m.files)) {
			on.Write(path, []byte(m.files[path]))
		}
		written = maps.Clone(m.files)
		at = when.AddDate(0, 0, -r.IntN(9)*r.IntN(2)) // an earlier date makes no earlier landing
		on.Commit("Change", at)
		return at
	}
	on.Branch("main")
	var history naive
	var before map[string]string
	for n := range 1 + r.IntN(12) {
		if n > 0 && r.IntN(4) == 0 { // what only a merged branch held never landed
			main, side := maps.Clone(m.files), fmt.Sprint("side", n)
			on.Branch(side)
			m.step()
			commit()
			must.OK(t, errors.Join(on.Checkout("main"), on.Merge(side)))
			if r.IntN(2) == 0 {
				m.files = main
			}
		}
		if before != nil { // what the commit before brought was there in passing
			m.files, before = before, nil
		} else if r.IntN(3) == 0 {
			before = maps.Clone(m.files)
		}
		for range 1 + r.IntN(3-m.lawful/2) {
			m.step()
		}
		when = when.Add(time.Duration(r.IntN(3)) * 48 * time.Hour)
		if at := commit(); at.After(landed) {
			landed = at
		}
		c := naiveCommit{map[string]file{}, landed}
		for path, text := range m.files {
			c.files[path] = fileOf(text)
		}
		history = append(history, c)
	}
	must.OK(t, on.Sync())
	repo := must.Get(registry.Open(on.Dir))(t)
	defer repo.Close()
	chain, err := repo.FirstParents(t.Context(), "", "main")
	if err != nil || len(chain) != len(history) {
		t.Fatalf("%d commits, %v; expected %d", len(chain), err, len(history))
	}
	compareMarks(t, repo, chain, history)
	compareRanges(t, repo, chain)
	for i, commit := range chain {
		want := history[:i+1].statuses(now)
		compareReaders(t, repo, commit, want)
		compareVerify(t, repo, commit, history[:i+1], want, receipts()[r.IntN(min(3, len(m.ids)))])
		tree := must.Get(repo.Tree(t.Context(), commit))(t)
		read := must.Get(checks.NewStanding(t.Context(), tree, func(string) bool { return true }))(t)
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
				history[i].files, want)
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
			for _, at := range revocation.Read(path, []byte(files[path].text)).Pins {
				set([2]string{at.Slug, at.SHA256}, files[path].text)
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
		ever, now := history[:i+1].statuses(time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)),
			history[:i+1].statuses(fixture.Clock)
		for path, is := range ever {
			f := files[path]
			if f.member("slug") != slugIn(path) || f.object["extra"] != nil || f.did() == "" {
				continue // which a reader sees
			}
			mark := marked[[2]string{slugIn(path), f.sum()}]
			bad := is.state == verdict.StatusRevoked || is.state == verdict.StatusRefused && is.rule != "window"
			if bad && mark == "" {
				t.Errorf("commit %d: %s is %s, and has no mark", i, path, is)
			}
			wasBad[f.text] = wasBad[f.text] || bad
			if mark == f.text && !wasBad[f.text] {
				t.Errorf("commit %d: %s is %s, and marked as refused", i, path, is)
			}
			clock := now[path].state == verdict.StatusExpired || now[path].state == verdict.StatusRefused
			if mark == "" && !inForce(now[path]) && !clock {
				t.Errorf("commit %d: a proof calls %s valid, which is %s", i, path, now[path])
			}
		}
		late = late || s.Commit.ID == half
		i++
		return nil
	}))
}

func inForce(s status) bool { return (&checks.State{Status: s.state}).InForce() }

// compareAnswers compares what a run says with what the rules say.
func compareAnswers(t *testing.T, name string, run *checks.Run, files map[string]file, want map[string]status) {
	t.Helper()
	witnesses, open := map[string]bool{}, map[string]bool{}
	for path, want := range want {
		l, is := run.Base.BySlug(slugIn(path)), checks.Unreadable()
		if l != nil {
			is = must.Get(run.State(l))(t)
			id := strings.ToLower(l.ToolDID)
			may := l.Level == "L4" && (want.state == verdict.StatusValid || want.state == verdict.StatusExpiring)
			witnesses[id] = witnesses[id] || may
			open[id] = open[id] || may && mayRevoke(files, slugIn(path))
		}
		if l != nil && !l.Provisional && !is.Until.IsZero() {
			t.Errorf("%s: %s is not provisional, but until %s", name, path, is.Until)
		}
		if is.Status != want.state || is.RefusedBy != want.rule {
			t.Errorf("%s: %s is %s %s by %s; expected %s", name, path, is.Status, is.RefusedBy, is.RevokedBy, want)
		}
	}
	for id, may := range witnesses {
		l, code, why, err := run.MayWitness(id)
		if err != nil || (l != nil) != (may && !open[id]) || (code == checks.WitnessOpen) != open[id] {
			t.Errorf("%s: %s may witness: %t, %q %q, %v; expected %t, open %t", name, id, l != nil, code, why, err,
				may, open[id])
		}
	}
}

// mayRevoke reports whether a file that cannot be read may be about a slug.
func mayRevoke(files map[string]file, slug string) bool {
	for path, f := range files {
		named := pairs(path, f)
		if strings.HasPrefix(path, "revocations/") && strings.HasSuffix(strings.ToLower(path), ".json") &&
			f.object == nil && (len(named) == 0 || slices.ContainsFunc(slices.Collect(maps.Keys(named)),
			func(at [2]string) bool { return at[0] == slug })) {
			return true
		}
	}
	return false
}
