package checks_test

import (
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/gate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/author/listing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/forge"
	"github.com/openagentprotocol-OAP/oap-gate/internal/install/upkeep"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/ghtest"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
	"github.com/openagentprotocol-OAP/oap-gate/registry"
)

// A servedReceipt is one that its implementation serves.
type servedReceipt struct {
	id, sum string
	issued  time.Time
	host    map[string]fs.FS
}

// receipts are the three Receipts that the listings of the histories pin, each of one implementation.
var receipts = sync.OnceValue(func() (out [3]servedReceipt) {
	dir, err := os.MkdirTemp("", "receipts")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	w, err := fixture.BuildUnserved(dir, []byte("{}"))
	if err != nil {
		panic(err)
	}
	defer w.Close()
	for i, slug := range []string{"ada", "bob", "eve"} {
		age, name := 5+20*i, slug+".example"
		d, err := w.Documents(fixture.Implementation{Slug: slug, Issued: fixture.When(fmt.Sprintf("-%dd", age))})
		if err != nil {
			panic(err)
		}
		out[i] = servedReceipt{"did:web:" + name, d.Pin, w.Now.AddDate(0, 0, -age),
			map[string]fs.FS{name: fstest.MapFS{".well-known/oap-tool.json": {Data: d.Manifest},
				".well-known/did.json": {Data: d.DIDDocument}, "oap-conformance-receipt.json": {Data: d.Receipt}}}}
	}
	return out
})

// compareReaders compares what list, audit and remind say of one commit with what the rules say.
func compareReaders(t *testing.T, repo *registry.Repository, commit string, want map[string]status) {
	t.Helper()
	now := fixture.Clock
	listed := must.Get(listing.Read(t.Context(), repo, commit, now, nil))(t)
	audited := must.Get(gate.Audit(t.Context(), repo, commit, gate.Offline(now), gate.Options{}))(t)
	plan := must.Get(upkeep.Remind(t.Context(), client(), listed, 1000*time.Hour*24, forge.ActionsApp))(t)
	if len(listed.Listings) != len(want) || len(audited.Listings) != len(want) {
		t.Fatalf("commit %s: list has %d rows, an audit %d; expected %d", commit, len(listed.Listings),
			len(audited.Listings), len(want))
	}
	reminded := 0
	for i, row := range listed.Listings {
		want := want["implementations/"+row.Slug+".json"]
		if got := (status{row.Status, row.RefusedBy}); got != want {
			t.Errorf("commit %s: list says %s is %s; expected %s", commit, row.Slug, got, want)
		}
		is := audited.Listings[i]
		documents := is.Status == verdict.StatusInvalid || is.Status == verdict.StatusUnreachable
		got := status{is.Status, is.RefusedBy}
		if is.Slug != row.Slug || got != want && !(inForce(want) && documents) {
			t.Errorf("commit %s: an audit says %s is %s; expected %s", commit, is.Slug, got, want)
		}
		ended := want.state == verdict.StatusExpired && now.Sub(*row.Until) < 30*24*time.Hour
		if inForce(want) || ended {
			reminded++
		}
		if slices.ContainsFunc(plan.Changes, func(c upkeep.Change) bool {
			return strings.HasPrefix(c.Text, "create issue: implementations/"+row.Slug+".json expires")
		}) != (inForce(want) || ended) {
			t.Errorf("commit %s: %s is %s; reminded of are %v", commit, row.Slug, want, plan.Changes)
		}
	}
	if len(plan.Changes) != reminded {
		t.Errorf("commit %s: reminded of are %v; expected %d", commit, plan.Changes, reminded)
	}
}

// client returns a client of a forge without issues.
var client = sync.OnceValue(func() *forge.Client {
	s := ghtest.Start("acme", "registry")
	s.Grant("robot", ghtest.Access{Login: "github-actions[bot]", App: true, Comment: true})
	c, err := forge.New(forge.Options{BaseURL: s.URL, Token: "robot", Repository: "acme/registry"})
	if err != nil {
		panic(err)
	}
	return c
})

// compareVerify compares the steps revocation and registry-anchor for an implementation with what the rules say of the
// Receipt that it serves.
func compareVerify(t *testing.T, repo *registry.Repository, commit string, history naive, want map[string]status,
	served servedReceipt) {
	t.Helper()
	now := fixture.Clock
	web := must.Get(gate.Local(now, served.host))(t)
	found := must.Get(gate.Verify(t.Context(), served.id, web, gate.VerifyOptions{Registry: repo, Rev: commit}))(t)
	codes := map[string]bool{}
	for _, s := range found.Steps {
		for _, f := range s.Findings {
			codes[f.Code] = true
		}
	}
	revoked, anchored := history.unpinned(served.id, served.sum), false
	for _, a := range history.acts() {
		revoked = revoked || a.did == served.id &&
			(a.sum == served.sum || !served.issued.After(a.issued.Add(time.Second)))
	}
	for path, is := range want {
		f := history[len(history)-1].files[path]
		anchored = anchored || f.did() == served.id && f.sum() == served.sum && is.state != verdict.StatusRefused &&
			f.moment("expires_at").After(now)
	}
	if codes["revoked"] != revoked || codes["anchored"] != anchored {
		t.Errorf("commit %s: verify of %s: revoked %t, anchored %t; expected %t, %t\n%+v", commit, served.id,
			codes["revoked"], codes["anchored"], revoked, anchored, found.Reasons)
	}
}

// unpinned reports whether a Receipt that no listing of its DID ever pinned is revoked by its hash alone, under a slug
// that listed the DID and never pinned it.
func (n naive) unpinned(id, hash string) bool {
	named, own, pins := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, c := range n {
		for path, f := range c.files {
			if slug := slugIn(path); slug != "" && f.object != nil {
				is, pinned := f.did() == id, f.sum() == hash
				if own[slug] = own[slug] || is; is && pinned {
					return false
				}
				pins[slug] = pins[slug] || pinned && f.did() != ""
			}
			for pair := range pairs(path, f) {
				named[pair[0]] = named[pair[0]] || pair[1] == hash
			}
		}
	}
	for slug := range named {
		if named[slug] && own[slug] && !pins[slug] {
			return true
		}
	}
	return false
}

// compareRanges checks that a pull request of some commits fails where the check of one of them by itself fails, as a
// merge queue asks. It may say to squash them instead if the one fails for a listing, which its author corrected, or
// for a governance file in passing.
func compareRanges(t *testing.T, repo *registry.Repository, chain []string) {
	t.Helper()
	judged := func(single bool, base, head string) (squash bool, failure string) {
		rep := must.Get(gate.Check(t.Context(), repo, base, head, gate.Offline(fixture.Clock), gate.Options{}))(t)
		for res := range rep.Results.All() {
			for _, f := range res.Findings {
				squash = squash || f.Code == "squash" || f.Code == "governance-in-passing"
				ofListing := slugIn(res.Subject) != "" || f.Code == "several-reissues" || f.Code == "mixed"
				landed := single && strings.HasPrefix(f.Code, "transient-") // only a merged branch held it
				if f.Severity == verdict.Error && !landed && (failure == "" || !ofListing) {
					failure = "a listing"
					if !ofListing {
						failure = res.Subject + ": " + f.Code
					}
				}
			}
		}
		return squash, failure
	}
	alone := make([]string, len(chain)) // how a commit fails by itself
	for i := range chain[1:] {
		_, alone[i+1] = judged(true, chain[i], chain[i+1])
	}
	for from := range chain {
		for to := from + 2; to < len(chain); to++ {
			squash, failure := judged(false, chain[from], chain[to])
			for i := from + 1; i <= to && failure == ""; i++ {
				if alone[i] != "" && !(squash && alone[i] == "a listing") {
					t.Errorf("commits %d to %d pass, but commit %d fails by %s", from, to, i, alone[i])
				}
			}
		}
	}
}
