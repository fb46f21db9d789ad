package checks_test

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/checks"
	"github.com/openagentprotocol-OAP/oap-gate/gate"
	"github.com/openagentprotocol-OAP/oap-gate/internal/author/listing"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/did"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
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

// compareReaders compares what list, audit and verify say of one commit with what the rules say, and what a check says
// of a range with what it says of each commit.
func compareReaders(t *testing.T, repo *registry.Repository, chain []string, history naive, r *rand.Rand) {
	t.Helper()
	now := fixture.Clock
	last := r.IntN(len(chain))
	commit, then := chain[last], history[:last+1]
	offline := gate.Offline(now)
	listed, err := listing.Read(t.Context(), repo, commit, now, nil)
	must.OK(t, err)
	audited, err := gate.Audit(t.Context(), repo, commit, offline, gate.Options{})
	must.OK(t, err)
	for _, row := range listed.Listings {
		want, rule := then.state("implementations/"+row.Slug+".json", now)
		if row.Status != want || row.RefusedBy != rule {
			t.Errorf("commit %d: list says %s is %s %s; expected %s %s", last, row.Slug, row.Status, row.RefusedBy,
				want, rule)
		}
		i := slices.IndexFunc(audited.Listings, func(l verdict.Listing) bool { return l.Slug == row.Slug })
		if i < 0 {
			t.Errorf("commit %d: an audit has no row of %s", last, row.Slug)
			continue
		}
		is := audited.Listings[i]
		documents := is.Status == verdict.StatusInvalid || is.Status == verdict.StatusUnreachable
		if force := (&checks.State{Status: want}).InForce(); is.RefusedBy != rule ||
			is.Status != want && !(force && documents) {
			t.Errorf("commit %d: an audit says %s is %s %s; expected %s %s", last, row.Slug, is.Status, is.RefusedBy,
				want, rule)
		}
	}
	if len(audited.Listings) != len(listed.Listings) {
		t.Errorf("commit %d: an audit has %d rows; expected %d", last, len(audited.Listings), len(listed.Listings))
	}
	compareVerify(t, repo, commit, then, receipts()[r.IntN(3)])
	compareRanges(t, repo, chain, offline, r)
}

// compareVerify compares the steps revocation and registry-anchor for an implementation with what the rules say of the
// Receipt that it serves.
func compareVerify(t *testing.T, repo *registry.Repository, commit string, history naive, served servedReceipt) {
	t.Helper()
	now := fixture.Clock
	web, err := gate.Local(now, served.host)
	must.OK(t, err)
	found, err := gate.Verify(t.Context(), served.id, web, gate.VerifyOptions{Registry: repo, Rev: commit})
	must.OK(t, err)
	codes := map[string]bool{}
	for _, s := range found.Steps {
		for _, f := range s.Findings {
			codes[f.Code] = true
		}
	}
	revoked, anchored := history.unpinned(served.id, served.sum), false
	history.acts(func(on, sum string, issued time.Time) {
		revoked = revoked || on == served.id && (sum == served.sum || !served.issued.After(issued.Add(time.Second)))
	})
	for path, text := range history[len(history)-1].files {
		o := object(text)
		state, _ := history.state(path, now)
		anchored = anchored || strings.HasPrefix(path, "implementations/") &&
			did.Same(member(o, "tool_did"), served.id) && member(o, "conformance_receipt_sha256") == served.sum &&
			state != verdict.StatusRefused && moment(o, "expires_at").After(now)
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
		for path, text := range c.files {
			slug := strings.TrimSuffix(strings.TrimPrefix(path, "implementations/"), ".json")
			if l := object(text); l != nil && strings.HasPrefix(path, "implementations/") {
				is := strings.ToLower(member(l, "tool_did")) == id
				pinned := member(l, "conformance_receipt_sha256") == hash
				if own[slug] = own[slug] || is; is && pinned {
					return false
				}
				pins[slug] = pins[slug] || pinned && member(l, "tool_did") != ""
			}
			for pair := range pairs(path, text) {
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

// compareRanges checks that a pull request of some commits fails, or says to squash them, where the check of one of
// them by itself fails.
func compareRanges(t *testing.T, repo *registry.Repository, chain []string, offline gate.Web, r *rand.Rand) {
	t.Helper()
	from := r.IntN(len(chain) - 1)
	to := from + 1 + r.IntN(min(3, len(chain)-1-from))
	judged := func(base, head string) *gate.Report {
		rep, err := gate.Check(t.Context(), repo, base, head, offline, gate.Options{})
		must.OK(t, err)
		return rep
	}
	whole := judged(chain[from], chain[to])
	if whole.Verdict == gate.Failed {
		return
	}
	for res := range whole.Results.All() {
		for _, f := range res.Findings {
			if f.Code == "squash" {
				return
			}
		}
	}
	for i := from; i < to; i++ {
		if one := judged(chain[i], chain[i+1]); one.Verdict == gate.Failed {
			t.Errorf("commits %d to %d: %s; but commit %d: %s", from, to, whole.Verdict, i+1, one.Verdict)
		}
	}
}
