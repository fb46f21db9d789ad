package checks

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/openagentprotocol-OAP/oap-gate/internal/oap/revocation"
)

// What many owners of one pin cost grows with their number, and not with its square.
func TestManyOwnersOfOnePin(t *testing.T) {
	sum := strings.Repeat("1", 64)
	path := "revocations/slug-" + sum + ".json"
	cost := func(owners int) uint64 {
		p := newPast(nil, "", time.Time{})
		p.revoke(revokedFile{Revocation: revocation.Read(path, nil), path: path})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i := range owners {
			id := fmt.Sprintf("did:web:d%d.example", i)
			p.pin("implementations/slug.json", version{did: id, sha256: sum, number: i + 1})
			if by, err := p.revokedBy(t.Context(), id, sum, time.Time{}, asOf{}); by == nil || err != nil {
				t.Fatalf("owner %d: %v, %v; expected the file to revoke its Receipt", i, by, err)
			}
		}
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	if few, many := cost(500), cost(1000); many > few*5/2 {
		t.Errorf("500 owners take %d bytes, 1,000 take %d; expected at most 2.5 times as many", few, many)
	}
}
