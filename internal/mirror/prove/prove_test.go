package prove

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/base/remedy"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/proof"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/gittest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

func open(t *testing.T, dir string) *registry.Repository {
	t.Helper()
	repo := must.Get(registry.Open(dir))(t)
	t.Cleanup(func() { _ = repo.Close() })
	return repo
}

// logged is the log of a clone's branches, each after a rewrite of the one before.
func logged(t *testing.T, dir string, branches ...string) *History {
	t.Helper()
	h := NewHistory(open(t, dir))
	for _, branch := range branches {
		must.OK(t, h.Extend(t.Context(), branch, 0))
	}
	return h
}

func rootOf(t *testing.T, h *History, size int64) tlog.Hash {
	t.Helper()
	root := must.Get(h.Log.Root(size))(t)
	return root
}

// TestVectors compares the logs of two histories with those that are kept outside of the repository.
func TestVectors(t *testing.T) {
	shared := filepath.Join("..", "..", "..", "..", "shared", "data", "proofs")
	text, err := os.ReadFile(filepath.Join(shared, "log.json"))
	if os.IsNotExist(err) {
		t.Skip("SKIPPED: log.json is not here")
	}
	var v struct {
		Logs []struct {
			History         string
			Branches, Roots []string
			Entries         []struct{ Entry string }
		}
	}
	must.OK(t, json.Unmarshal(text, &v))
	for _, want := range v.Logs {
		c := gittest.New(t)
		stream := must.Read(t, filepath.Join(shared, want.History))
		c.GitInput(string(stream), "fast-import", "--quiet")
		h := logged(t, c.Dir, want.Branches...)
		if got := string(h.Last.Text()); h.Log.Size() != int64(len(want.Entries)) ||
			got != want.Entries[len(want.Entries)-1].Entry {
			t.Errorf("%s %q: %d entries, the last one\n%s", want.History, want.Branches, h.Log.Size(), got)
		}
		for i, root := range want.Roots {
			if got := rootOf(t, h, int64(i+1)).String(); got != root {
				t.Errorf("%s %q: root %s at size %d, want %s", want.History, want.Branches, got, i+1, root)
			}
		}
	}
}

var pin = strings.Repeat("ab", 32)

func listing(slug string) string {
	return fmt.Sprintf(`{"slug":%q,"name":"Tool","tool_did":"did:web:`+slug+`.example",`+
		`"manifest_uri":"https://tool.example/m.json","conformance_level":"L1",`+
		`"conformance_receipt_uri":"https://tool.example/r.json","conformance_receipt_sha256":%q,`+
		`"issued_at":"2026-05-01T00:00:00Z","expires_at":"2026-07-01T00:00:00Z"}`+"\n", slug, pin)
}

var now = time.Date(2026, 5, 7, 0, 0, 0, 0, time.UTC)

// history makes a clone with a merge, a commit without records, a removed and a misnamed revocation, and a branch
// "rewritten" that leaves main after two commits.
func history(t *testing.T) *gittest.Clone {
	c := gittest.New(t)
	c.Commit("README.md", "registry\n")
	c.Commit("implementations/tool.json", listing("tool"), "revocations/README.md", "x\n")
	c.Git("branch", "rewritten")
	c.Git("checkout", "-q", "-b", "side")
	c.Commit("implementations/gone.json", listing("gone"))
	c.Git("checkout", "-q", "main")
	c.Commit("CODEOWNERS", "* @m\n")
	c.Git("merge", "-q", "--no-ff", "-m", "m", "side")
	c.Commit("revocations/d/GONE-"+strings.ToUpper(pin)+".JSON", "", "implementations/other.json", listing("other"))
	c.Git("rm", "-q", "-r", "revocations/d")
	c.Commit()
	c.Git("checkout", "-q", "rewritten")
	c.Commit("implementations/gone.json", listing("gone"))
	c.Commit("peer-witnesses/x.json", "{}\n")
	c.Git("checkout", "-q", "main")
	return c
}

func TestSameLog(t *testing.T) {
	c := history(t)
	full := logged(t, c.Dir, "main", "rewritten")
	if full.Log.Size() != 8 {
		t.Fatalf("%d entries", full.Log.Size())
	}
	c.Git("repack", "-q", "-a", "-d")
	bare := filepath.Join(t.TempDir(), "bare.git")
	c.Git("clone", "-q", "--bare", "--no-local", c.Dir, bare)
	for name, dir := range map[string]string{"packed": c.Dir, "bare": bare} {
		if h := logged(t, dir, "main", "rewritten"); rootOf(t, h, 8) != rootOf(t, full, 8) || h.Last != full.Last {
			t.Errorf("%s: another log", name)
		}
	}
	// Continued from any earlier size, also where the branch goes back in between.
	chain := strings.Fields(c.Git("rev-list", "--first-parent", "--reverse", "main"))
	for i := range chain {
		h := logged(t, c.Dir, chain[i], "main", chain[i], "rewritten", "rewritten~1")
		if rootOf(t, h, 8) != rootOf(t, full, 8) || h.Log.Size() != 8 {
			t.Errorf("continued from size %d: another log", i+1)
		}
		limited := NewHistory(open(t, c.Dir))
		if err := limited.Extend(t.Context(), "main", int64(i+1)); err != nil || limited.Last.Commit != chain[i] ||
			rootOf(t, limited, int64(i+1)) != rootOf(t, full, int64(i+1)) {
			t.Errorf("up to size %d: %v, %+v", i+1, err, limited.Last)
		}
	}
	// What the rewrite dropped stays revoked; the file that it dropped does not stay.
	has := func(name string) bool { return full.Map.Prove(name).Value != nil }
	if !has(proof.RevokedName("gone", pin)) || has(proof.ListingPath("other")) || !has(proof.ListingPath("gone")) ||
		!has("peer-witnesses/x.json") {
		t.Error("the map after the rewrite is wrong")
	}
	// A rewrite without a common commit.
	c.Git("checkout", "-q", "--orphan", "new")
	c.Commit()
	if h := logged(t, c.Dir, "main", "new"); h.Log.Size() != 7 || h.Last.After != c.Git("rev-parse", "main") {
		t.Errorf("without a common commit: %d entries, %+v", h.Log.Size(), h.Last)
	}
}

// TestSee requires the same log whatever part of a step's changes was seen before, in whatever order.
func TestSee(t *testing.T) {
	c := gittest.New(t)
	c.Commit("implementations/a.json", "a", "implementations/b.json", "b", "revocations/a-"+pin+".json", "{}", "x", "")
	c.Git("rm", "-q", "implementations/a.json")
	c.Commit("a", "", "implementations/b.json", "B", "implementations/c.json", "c", "implementations/d.json", "d")
	want := logged(t, c.Dir, "main")
	for _, order := range []string{"", "abcdef", "abcdefabcdef", "bd", "dbdb", "fedcba", "c", "ace", "f"} {
		h := NewHistory(open(t, c.Dir))
		marker := checks.NewMarker(h.repo, "main")
		err := h.repo.Steps(t.Context(), "", "main", func(s *registry.Step) error {
			for _, i := range order {
				if n := int(i - 'a'); n < len(s.Changes) && s.Changes[n].Head != nil {
					text, err := h.repo.Bytes(*s.Changes[n].Head, maxFile)
					if err != nil {
						return err
					}
					h.See(s, s.Changes[n], text)
				}
			}
			return h.Step(t.Context(), s, marker)
		})
		if err != nil || h.Last != want.Last || rootOf(t, h, 2) != rootOf(t, want, 2) {
			t.Errorf("seen %q: %+v, %v; want %+v", order, h.Last, err, want.Last)
		}
	}
}

// published writes the log of a history below a directory, and returns it.
func published(t *testing.T, h *History, size int64, entries []proof.Entry) string {
	t.Helper()
	dir := t.TempDir()
	private, _, err := note.GenerateKey(bytes.NewReader(make([]byte, ed25519.SeedSize)), "log.example")
	must.OK(t, err)
	signer := must.Get(note.NewSigner(private))(t)
	c := proof.Checkpoint{Origin: "log.example", Size: size, Root: rootOf(t, h, size)}
	data := must.Get(note.Sign(&note.Note{Text: c.Text()}, signer))(t)
	files := map[string][]byte{"checkpoint": data}
	_, bundles := proof.Tiles(0, size)
	for _, tile := range bundles {
		for _, e := range entries[:size] {
			files[proof.TilePath(tile)] = proof.AppendEntry(files[proof.TilePath(tile)], e.Text())
		}
	}
	for name, text := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		must.OK(t, os.MkdirAll(filepath.Dir(file), 0o777))
		must.OK(t, os.WriteFile(file, text, 0o666))
	}
	return dir
}

// entriesOf returns the entries of branches, one by one.
func entriesOf(t *testing.T, c *gittest.Clone, branches ...string) []proof.Entry {
	h := NewHistory(open(t, c.Dir))
	var all []proof.Entry
	for _, branch := range branches {
		for _, id := range strings.Fields(c.Git("rev-list", "--first-parent", "--reverse", branch)) {
			if slices.Contains(h.chain, id) {
				continue
			}
			must.OK(t, h.Extend(t.Context(), id, 0))
			if int(h.Log.Size()) > len(all) {
				all = append(all, h.Last)
			}
		}
	}
	return all
}

func TestWrite(t *testing.T) {
	c := history(t)
	main, both := logged(t, c.Dir, "main"), logged(t, c.Dir, "main", "rewritten")
	entries := entriesOf(t, c, "main", "rewritten")
	whole := published(t, both, 8, entries)
	early, current := published(t, main, 2, entries), published(t, main, 6, entries)
	tileless := published(t, both, 8, entries)
	must.OK(t, os.RemoveAll(filepath.Join(tileless, "tile")))
	damaged := published(t, both, 8, entries)
	must.OK(t, os.WriteFile(filepath.Join(damaged, "tile", "entries", "000.p", "8"), []byte("x"), 0o666))
	torn := published(t, main, 6, entries)
	must.OK(t, os.RemoveAll(filepath.Join(torn, "tile", "entries")))
	c.Git("checkout", "-q", "rewritten")
	for range 5 {
		c.Commit()
	}
	c.Git("branch", "split", "main~1")
	c.Git("checkout", "-q", "split")
	c.Commit("implementations/tool.json", "{}\n")
	for _, tt := range []struct {
		name, log, rev, slug string
		shown, code, err     string
	}{
		{name: "listed", log: current, rev: "main", slug: "tool"},
		{name: "the clone is ahead", log: early, rev: "main", slug: "tool"},
		{name: "the file of the log checkpoint", log: current + "/checkpoint", rev: "main", slug: "tool"},
		{name: "revoked", log: current, rev: "main", slug: "gone", shown: "revoked"},
		{name: "absent", log: early, rev: "main", slug: "gone", shown: "not-listed"},
		{name: "after a rewrite", log: whole, rev: "rewritten", slug: "tool"},
		{name: "revoked before a rewrite", log: whole, rev: "rewritten", slug: "gone", shown: "revoked"},
		{name: "a split view", log: current, rev: "split", slug: "tool", code: "log-differs"},
		{name: "a rewrite, and the file alone", log: tileless + "/checkpoint", rev: "rewritten", slug: "tool",
			code: "log-differs"},
		{name: "a rewrite, and damaged tiles", log: damaged, rev: "rewritten", slug: "tool", err: "tiles"},
		{name: "a rewrite, and no tiles", log: tileless, rev: "rewritten", slug: "tool", code: "log-differs"},
		{name: "no rewrite, and damaged tiles", log: torn, rev: "main", slug: "tool"},
		{name: "behind", log: current, rev: "main~1", slug: "tool", err: "behind"},
		{name: "not a log", log: c.Dir, rev: "main", slug: "tool", err: "no log checkpoint"},
		{name: "not a log checkpoint", log: c.Dir + "/README.md", rev: "main", slug: "tool", err: "signed note"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var data []byte
			var shown *proof.Refusal
			p, err := ReadPublished(tt.log)
			if err == nil {
				data, shown, err = Write(t.Context(), open(t, c.Dir), tt.rev, tt.slug, p, now)
			}
			if tt.err != "" || tt.code != "" {
				if err == nil || remedy.CodeOf(err) != tt.code || !strings.Contains(err.Error(), tt.err) ||
					data != nil {
					t.Errorf("%v [%s], want %q [%s]", err, remedy.CodeOf(err), tt.err, tt.code)
				}
				return
			}
			if err != nil || (shown != nil) != (tt.shown != "") || shown != nil && shown.Code != tt.shown {
				t.Fatalf("shown %v, %v", shown, err)
			}
			_, public, _ := note.GenerateKey(bytes.NewReader(make([]byte, ed25519.SeedSize)), "log.example")
			policy, err := proof.PolicyOf(public, nil)
			must.OK(t, err)
			_, err = proof.Check(data, tt.slug, proof.Options{Policy: policy, Now: now, AnyAge: true})
			if refusal, ok := err.(*proof.Refusal); ok != (tt.shown != "") || ok && refusal.Code != tt.shown {
				t.Errorf("the proof is checked as %v", err)
			}
		})
	}
}

func TestRefusedListing(t *testing.T) {
	c := gittest.New(t)
	c.Commit("implementations/tool.json", strings.Replace(listing("tool"), `"name":"Tool",`, "", 1),
		"implementations/empty.json", "", "implementations/large.json", strings.Replace(listing("large"), "Tool",
			strings.Repeat("x", 60<<10), 1))
	h := logged(t, c.Dir, "main")
	p := must.Get(ReadPublished(published(t, h, 1, entriesOf(t, c, "main"))))(t)
	for slug, code := range map[string]string{"tool": "proof-subject", "empty": "proof-subject", "large": ""} {
		if data, _, err := Write(t.Context(), open(t, c.Dir), "main", slug, p, now); err == nil || data != nil ||
			remedy.CodeOf(err) != code {
			t.Errorf("%s: %v [%s]", slug, err, remedy.CodeOf(err))
		}
	}
}

// TestMarks requires a proof to say valid only of a listing that the registry's rules do not refuse, and whose Receipt
// is not revoked under another slug of its DID.
func TestMarks(t *testing.T) {
	of := func(slug, id, pin string) string {
		return strings.NewReplacer("did:web:"+slug+".example", "did:web:"+id, strings.Repeat("ab", 32), pin).
			Replace(listing(slug))
	}
	path := proof.ListingPath
	one, two := strings.Repeat("1", 64), strings.Repeat("2", 64)
	revoked := `{"slug":"old","revoked_receipt_sha256":"` + one + `","revoked_by_did":"did:web:a.example"}`
	stranger := strings.Replace(revoked, "a.example", "b.example", 1)
	file := "revocations/old-" + one + ".json"
	later := strings.Replace(of("tool", "a.example", two), "2026-05-01", "2026-05-02", 1)
	shut := `{"required":["level_two"]}`
	for _, tt := range []struct {
		name, want string
		commits    [][]string
	}{
		{"the Receipt is revoked under another slug, later", "revoked", [][]string{
			{path("old"), of("old", "a.example", one)}, {path("old"), "{"},
			{path("tool"), of("tool", "a.example", one)}, {file, revoked}}},
		{"the Receipt is revoked under another slug, before", "revoked", [][]string{
			{path("old"), of("old", "a.example", one)}, {path("old"), "{"}, {file, revoked},
			{path("tool"), of("tool", "a.example", one)}}},
		{"an older Receipt than the revoked one", "revoked", [][]string{
			{path("old"), of("old", "a.example", one)}, {path("old"), "{"}, {file, revoked},
			{path("tool"), of("tool", "a.example", two)}}},
		{"a later Receipt than the revoked one", "", [][]string{
			{path("old"), of("old", "a.example", one)}, {path("old"), "{"}, {file, revoked}, {path("tool"), later}}},
		{"a stranger's Receipt is revoked", "", [][]string{
			{path("old"), of("old", "b.example", one)}, {path("tool"), of("tool", "a.example", one)},
			{file, stranger}}},
		{"another listing had the DID first", "listing-refused", [][]string{
			{path("old"), of("old", "a.example", one)}, {path("tool"), of("tool", "a.example", two)}}},
		{"it had the DID first", "", [][]string{
			{path("tool"), of("tool", "a.example", two)}, {path("old"), of("old", "a.example", one)}}},
		{"the one that had the DID first is valid again", "listing-refused", [][]string{
			{path("old"), strings.Replace(of("old", "a.example", one), `"slug":"old"`, `"slug":"x"`, 1)},
			{path("tool"), of("tool", "a.example", two)}, {path("old"), of("old", "a.example", one)}}},
		{"the DID has another spelling", "listing-refused", [][]string{{path("tool"), of("tool", "A.example", two)}}},
		{"the schema of the tree", "listing-refused", [][]string{
			{path("tool"), of("tool", "a.example", two)}, {"schemas/implementation.schema.json", shut}}},
		{"a schema of the tree that allows it", "", [][]string{
			{path("tool"), of("tool", "a.example", two)}, {"schemas/implementation.schema.json", "{}"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := gittest.New(t)
			c.Date = int(now.Add(-time.Hour).Unix())
			for _, files := range tt.commits {
				c.Commit(files...)
			}
			h := logged(t, c.Dir, "main")
			p := must.Get(ReadPublished(published(t, h, h.Log.Size(), entriesOf(t, c, "main"))))(t)
			_, shown, err := Write(t.Context(), open(t, c.Dir), "main", "tool", p, now)
			if err != nil || (shown != nil) != (tt.want != "") || shown != nil && shown.Code != tt.want {
				t.Errorf("shown %+v, %v; want %q", shown, err, tt.want)
			}
		})
	}
}

// TestLackingCommit requires the commit before a rewrite, which a clone of the rewritten branch lacks.
func TestLackingCommit(t *testing.T) {
	c := history(t)
	both := logged(t, c.Dir, "main", "rewritten")
	p, err := ReadPublished(published(t, both, 8, entriesOf(t, c, "main", "rewritten")))
	must.OK(t, err)
	dir := filepath.Join(t.TempDir(), "clone")
	c.Git("clone", "-q", "--no-local", "--single-branch", "-b", "rewritten", c.Dir, dir)
	_, _, err = Write(t.Context(), open(t, dir), "rewritten", "tool", p, now)
	if err == nil || !strings.Contains(err.Error(), c.Git("rev-parse", "main")) || remedy.CodeOf(err) != "" {
		t.Errorf("a clone without the commit before the rewrite: %v", err)
	}
	shallow := filepath.Join(t.TempDir(), "shallow")
	c.Git("clone", "-q", "--no-local", "--depth", "2", "file://"+c.Dir, shallow)
	if _, _, err := Write(t.Context(), open(t, shallow), "main", "tool", p, now); err == nil {
		t.Error("a shallow clone has a log")
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Write(ended, open(t, c.Dir), "rewritten", "tool", p, now); err == nil {
		t.Error("an ended context does not end the replay")
	}
}

func TestChanges(t *testing.T) {
	c := history(t)
	lines := func(since int64) []string {
		var b strings.Builder
		must.OK(t, Changes(t.Context(), open(t, c.Dir), "main", since, &b))
		return strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
	}
	type line struct {
		Index                int64
		Path, Change, SHA256 string
	}
	var got []string
	all := lines(0)
	for _, text := range all[:len(all)-1] {
		var l line
		must.OK(t, json.Unmarshal([]byte(text), &l))
		got = append(got, fmt.Sprintf("%d %s %s %v", l.Index, l.Change, l.Path, l.SHA256 != ""))
	}
	misnamed := "revocations/d/GONE-" + strings.ToUpper(pin) + ".JSON"
	want := []string{"1 added implementations/tool.json true", "1 added revocations/README.md true",
		"3 added implementations/gone.json true", "4 added implementations/other.json true",
		"4 added " + misnamed + " true", "4 added " + proof.RevokedName("gone", pin) + " true",
		"5 removed " + misnamed + " false"}
	if !slices.Equal(got, want) {
		t.Errorf("changes\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	last := fmt.Sprintf(`{"size":6,"root":"%s"}`, rootOf(t, logged(t, c.Dir, "main"), 6))
	if all[len(all)-1] != last {
		t.Errorf("last line %s, want %s", all[len(all)-1], last)
	}
	if got := lines(5); len(got) != 2 || got[0] != all[len(all)-2] || got[1] != last {
		t.Errorf("since 5: %q", got)
	}
	if got := lines(6); len(got) != 1 || got[0] != last {
		t.Errorf("since 6: %q", got)
	}
	if err := Changes(t.Context(), open(t, c.Dir), "main", 7, &strings.Builder{}); err == nil {
		t.Error("more than the history has is accepted")
	}
	// Another mode, and another file of the same content, change nothing in the map.
	c.Git("update-index", "--chmod=+x", "implementations/tool.json")
	c.Git("commit", "-q", "-m", "m")
	if got := lines(6); len(got) != 1 {
		t.Errorf("another mode: %q", got)
	}
}
