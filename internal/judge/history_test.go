package judge_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/internal/evidence/sources"
	"github.com/openagentprotocol-OAP/oap-gate/internal/judge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/mirror"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

var gitOnly = []string{"layout", "append-only", "reissue", "revocations"}

// TestHistoryAgreesWithCheck holds, on random histories with every kind of change, that an audit finds in
// each commit the errors that a check of that commit against its first parent finds. Mixed commits are apart:
// an audit only warns of them.
func TestHistoryAgreesWithCheck(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			h := &history{rng: rand.New(rand.NewPCG(seed, 7)), now: fixture.Clock.AddDate(0, -6, 0)}
			var err error
			if h.repo, err = fixture.NewRepo(filepath.Join(t.TempDir(), "registry")); err != nil {
				t.Fatal(err)
			}
			h.make(t, 40)
			ctx := context.Background()
			repo, err := registry.Open(h.repo.Dir)
			must.OK(t, err)
			defer repo.Close()
			ledger := checks.NewLedger(repo, time.Now())
			faults := 0
			err = repo.Steps(ctx, "", "main", func(s *registry.Step) error {
				found, err := ledger.Step(ctx, s)
				if err != nil || s.Base.Commit() == "" {
					return err
				}
				var audited []string
				for _, f := range found {
					if f.Severity == verdict.Error && f.Code != "mixed" {
						audited = append(audited, fmt.Sprintf("%s %s %s %s", f.Finding.Pos.Path, f.Check, f.Code,
							f.Path))
					}
				}
				slices.Sort(audited)
				checked := checkErrors(t, repo, s)
				if !slices.Equal(audited, checked) {
					t.Errorf("commit %s: audit finds\n  %s\ncheck finds\n  %s", s.Commit.ID,
						strings.Join(audited, "\n  "), strings.Join(checked, "\n  "))
				}
				faults += len(checked)
				return nil
			})
			must.OK(t, err)
			if faults == 0 {
				t.Error("no commit of this history is at fault: the test shows nothing")
			}
			sameStanding(t, repo, ledger)
		})
	}
}

// sameStanding requires that a ledger that followed the whole history stands where reading the head anew does.
func sameStanding(t *testing.T, repo *registry.Repository, ledger *checks.Ledger) {
	t.Helper()
	head := must.Get(repo.Resolve("main"))(t)
	tree := must.Get(repo.Tree(t.Context(), head))(t)
	read := must.Get(checks.NewStanding(t.Context(), tree, func(string) bool { return true }))(t)
	followed := must.Get(ledger.Standing(t.Context(), tree))(t)
	if diff := cmp.Diff(slices.Collect(read.Listings()), slices.Collect(followed.Listings())); diff != "" {
		t.Errorf("read, and followed:\n%s", diff)
	}
	for l := range read.Listings() {
		if diff := cmp.Diff(read.ByDID(l.ToolDID), followed.ByDID(l.ToolDID)); diff != "" {
			t.Errorf("by the DID of %s:\n%s", l.Path, diff)
		}
		in := func(st *checks.Standing) *checks.State {
			is := must.Get((&checks.Run{Context: t.Context(), Repo: repo, Base: st, Now: time.Now()}).State(l))(t)
			return is
		}
		if diff := cmp.Diff(in(read), in(followed)); diff != "" {
			t.Errorf("%s, read, and followed:\n%s", l.Path, diff)
		}
	}
}

func checkErrors(t *testing.T, repo *registry.Repository, s *registry.Step) []string {
	t.Helper()
	ctx := context.Background()
	r := must.Get(repo.Range(ctx, s.Base.Commit(), s.Commit.ID))(t)
	rep := must.Get(judge.Check(ctx, repo, []*registry.Range{r}, sources.Offline(s.Commit.When, 0),
		judge.Config{Offline: true, Selected: func(id string) bool { return slices.Contains(gitOnly, id) }}))(t)
	var out []string
	for res := range rep.Results.All() {
		for _, f := range res.Findings {
			if f.Severity == verdict.Error && f.Code != "mixed" {
				out = append(out, fmt.Sprintf("%s %s %s %s", f.Path, res.Check, f.Code, res.Subject))
			}
		}
	}
	slices.Sort(out)
	return out
}

// history writes commits at random, honest and dishonest.
type history struct {
	repo *fixture.Repo
	rng  *rand.Rand
	now  time.Time
}

func (h *history) make(t *testing.T, commits int) {
	h.repo.Write("implementations/.gitkeep", nil)
	h.repo.Write("implementations/first.json", h.listing("first", "did:web:first.example", 0))
	h.commit("first")
	for i := range commits {
		if h.rng.IntN(6) == 0 {
			side := fmt.Sprintf("side%d", i)
			h.repo.Branch(side)
			h.repo.Write(fmt.Sprintf("implementations/side-%d.json", i),
				h.listing(fmt.Sprintf("side-%d", i), fmt.Sprintf("did:web:side%d.example", i), i))
			h.commit(side)
			must.OK(t, h.repo.Checkout("main"))
			h.change(i)
			h.commit(fmt.Sprint("before the merge ", i))
			must.OK(t, h.repo.Merge(side))
		} else {
			for range 1 + h.rng.IntN(2) {
				h.change(i)
			}
		}
		h.commit(fmt.Sprint("change ", i))
	}
	must.OK(t, h.repo.Sync())
}

func (h *history) commit(message string) {
	h.now = h.now.Add(time.Hour)
	h.repo.Commit(message, h.now)
}

// pick is a random path of the data directories.
func (h *history) pick() string {
	paths := slices.DeleteFunc(h.repo.Paths(), func(p string) bool { return !strings.HasSuffix(p, ".json") })
	return paths[h.rng.IntN(len(paths))]
}

func (h *history) change(i int) {
	slug := fmt.Sprintf("impl-%d", i)
	path := h.pick()
	known := strings.TrimSuffix(path[strings.LastIndex(path, "/")+1:], ".json")
	switch h.rng.IntN(14) {
	case 0, 1, 2, 3:
		h.repo.Write("implementations/"+slug+".json", h.listing(slug, "did:web:"+slug+".example", i))
	case 4, 5:
		h.repo.Write("implementations/"+known+".json", h.listing(known, "did:web:"+known+".example", i+1))
	case 6:
		h.repo.Write(path, append([]byte("\n"), mustRead(h.repo, path)...))
	case 7:
		if len(h.repo.Paths()) > 4 {
			_ = h.repo.Remove(path)
		}
	case 8:
		_ = h.repo.Move(path, "implementations/moved-"+fmt.Sprint(i)+".json")
	case 9:
		h.repo.WriteMode(path, "100755", mustRead(h.repo, path))
	case 10:
		h.repo.Write("implementations/"+strings.ToUpper(known)+".json", h.listing(strings.ToUpper(known), "did:web:up"+
			slug+".example", i))
	case 11:
		h.repo.Write("implementations/"+slug+".json", h.listing(slug, "did:web:first.example", i))
	case 12:
		h.repo.Write(fmt.Sprintf("revocations/first-%064x.json", h.rng.IntN(4)),
			h.revocation("first", fmt.Sprintf("%064x", h.rng.IntN(4))))
	case 13:
		h.repo.Write("README.md", []byte(slug))
	}
}

func mustRead(r *fixture.Repo, path string) []byte {
	text, err := r.Read(path)
	if err != nil {
		panic(err)
	}
	return text
}

func (h *history) listing(slug, tool string, pin int) []byte {
	return fmt.Appendf(nil,
		`{"slug":%q,"name":"Name of %s","tool_did":%q,"manifest_uri":"https://a.example/m","conformance_level":"L1",
"conformance_receipt_uri":"https://a.example/r","conformance_receipt_sha256":"%064x","issued_at":%q,"expires_at":%q}`,
		slug, slug, tool, pin, h.now.Format(time.RFC3339), h.now.AddDate(0, 0, 80).Format(time.RFC3339))
}

func (h *history) revocation(slug, sum string) []byte {
	return fmt.Appendf(nil,
		`{"slug":%q,"revoked_receipt_sha256":%q,"reason":"superseded","revoked_at":%q,"revoked_by_did":"did:web:first.example",
"signature":{"alg":"EdDSA","value":"x","by":"did:web:first.example#key-1"}}`, slug, sum, h.now.Format(time.RFC3339))
}

// TestRevokedByFileName checks that an audit looks for a listing's revocation under the slug of its file, not under the
// one that its text claims: a listing can neither shed a revocation by another slug nor take one over.
func TestRevokedByFileName(t *testing.T) {
	h := &history{now: fixture.Clock.AddDate(0, 0, -1)}
	var err error
	if h.repo, err = fixture.NewRepo(filepath.Join(t.TempDir(), "registry")); err != nil {
		t.Fatal(err)
	}
	sum := fmt.Sprintf("%064x", 1)
	revocation := "revocations/first-" + sum + ".json"
	h.repo.Write("implementations/first.json", h.listing("other", "did:web:first.example", 1))
	h.repo.Write("implementations/second.json", h.listing("first", "did:web:second.example", 1))
	h.repo.Write(revocation, h.revocation("first", sum))
	h.commit("revoked")
	must.OK(t, h.repo.Sync())
	repo := must.Get(registry.Open(h.repo.Dir))(t)
	defer repo.Close()
	head := must.Get(repo.Resolve("main"))(t)
	rep := must.Get(mirror.Audit(context.Background(), repo, head, sources.Offline(fixture.Clock, 0),
		mirror.AuditConfig{Config: judge.Config{Offline: true, Selected: func(string) bool { return true }}}))(t)
	want := map[string]string{"did:web:first.example": revocation, "did:web:second.example": ""}
	for _, l := range rep.Listings {
		if path, ok := want[l.ToolDID]; !ok || l.RevokedBy != path ||
			(l.Status == verdict.StatusRevoked) != (path != "") {
			t.Errorf("%s is %s, revoked by %q, want %q", l.ToolDID, l.Status, l.RevokedBy, path)
		}
		delete(want, l.ToolDID)
	}
	if len(want) > 0 {
		t.Errorf("no listing of %v", want)
	}
}
