package checks

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/checks/internal/listed"
	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/revocation"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/verdict"
)

// What many owners of one pin, or many listings of one DID, cost grows with their number, and not with its square.
func TestCostOfMany(t *testing.T) {
	owners := func(many int) {
		sum := strings.Repeat("1", 64)
		path := "revocations/slug-" + sum + ".json"
		p := newPast(nil, "", time.Time{})
		p.revoke(revokedFile{Revocation: revocation.Read(path, nil), path: path})
		for i := range many {
			id := fmt.Sprintf("did:web:d%d.example", i)
			p.pin("implementations/slug.json", version{did: id, sha256: sum, number: i + 1})
			if by, err := p.revokedBy(t.Context(), id, sum, time.Time{}, asOf{}); by == nil || err != nil {
				t.Fatalf("owner %d: %v, %v; expected the file to revoke its Receipt", i, by, err)
			}
		}
	}
	listings := func(many int) {
		st := emptyStanding(nil)
		run := &Run{Context: t.Context(), Base: st, Now: fixture.Clock}
		for i := range many {
			slug := fmt.Sprintf("d%04d", i)
			st.listings.Add(listed.Pack(&Listed{Path: listed.Path(slug), Slug: slug, ToolDID: "did:web:ada.example",
				Issued: fixture.Clock, Expires: fixture.Clock.Add(80 * 24 * time.Hour)}, uint8(sound)))
		}
		for l := range st.Listings() {
			is, err := run.State(l)
			if err != nil || (is.Status == verdict.StatusValid) != (l.Path == listed.Path("d0000")) {
				t.Fatalf("%s is %+v, %v; expected that the first one counts", l.Path, is, err)
			}
		}
	}
	for name, work := range map[string]func(many int){"owners": owners, "listings": listings} {
		cost := func(many int) uint64 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			work(many)
			runtime.ReadMemStats(&after)
			return after.TotalAlloc - before.TotalAlloc
		}
		if few, many := cost(500), cost(1000); many > few*5/2 {
			t.Errorf("500 %s take %d bytes, 1,000 take %d; expected at most 2.5 times as many", name, few, many)
		}
	}
}

// An owner revokes what is his own: the path of a DID keeps its letter case, its host does not.
func TestOwnersInLetterCase(t *testing.T) {
	const alice, other = "did:web:h.example:alice", "did:web:h.example:Alice"
	sum := strings.Repeat("1", 64)
	path := "revocations/slug-" + sum + ".json"
	p := newPast(nil, "", time.Time{})
	text := fmt.Sprintf(`{"slug": "slug", "revoked_receipt_sha256": %q, "revoked_by_did": %q}`, sum, alice)
	p.revoke(revokedFile{Revocation: revocation.Read(path, []byte(text)), path: path})
	for i, id := range []string{other, alice} {
		p.pin("implementations/slug.json", version{did: id, sha256: sum, number: i + 1})
	}
	for id, revoked := range map[string]bool{alice: true, "did:web:H.example:alice": true, other: false} {
		if by, err := p.revokedBy(t.Context(), id, sum, time.Time{}, asOf{}); (by != nil) != revoked || err != nil {
			t.Errorf("%s: %v, %v; expected revoked to be %v", id, by, err, revoked)
		}
	}
	if all, err := p.owners(t.Context(), pin{Slug: "slug", SHA256: sum}, asOf{}); len(all) != 2 || err != nil {
		t.Errorf("%d owners, %v; expected 2", len(all), err)
	}
}
