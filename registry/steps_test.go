package registry

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// TestStretches checks that commits compared in batches change what each compared by itself changes: loose, packed by
// git the newest first, and packed the oldest first.
func TestStretches(t *testing.T) {
	c := newClone(t)
	rnd := rand.New(rand.NewPCG(5, 6))
	var blobs []string
	for i := range 4 {
		blobs = append(blobs, c.object("blob", fmt.Sprint(i)))
	}
	const count = 80
	files := map[string]string{}
	const listings = 1800 // trees large enough to be put together of pieces
	for i := range listings {
		files[fmt.Sprintf("implementations/impl-%04d.json", i)] = "100644 blob " + blobs[i%len(blobs)]
		files[fmt.Sprintf("peer-witnesses/impl-%04d.json", i)] = "100644 blob " + blobs[i%len(blobs)]
	}
	parent := ""
	for range count {
		if rnd.IntN(4) == 0 {
			scramble(rnd, files, blobs)
		}
		kind := []string{"implementations", "revocations", "peer-witnesses"}[rnd.IntN(3)]
		files[fmt.Sprintf("%s/impl-%04d.json", kind, rnd.IntN(listings+400))] = "100644 blob " +
			blobs[rnd.IntN(len(blobs))]
		if rnd.IntN(3) == 0 {
			delete(files, fmt.Sprintf("implementations/impl-%04d.json", rnd.IntN(listings+400)))
		}
		if tree := c.tree(files); parent == "" {
			parent = c.commitTree(tree)
		} else {
			parent = c.commitTree(tree, parent)
		}
	}
	c.Git("update-ref", "refs/heads/main", parent)
	sameStretches(t, "loose", c.open())
	c.Git("repack", "-q", "-a", "-d", "-f", "--window=50")
	sameStretches(t, "the newest first", c.open())

	dir := t.TempDir()
	if _, err := fixture.Generate(dir, fixture.Bulk{Listings: listings, Commits: 70}); err != nil {
		t.Fatal(err)
	}
	sameStretches(t, "the oldest first", open(t, dir))
}

func sameStretches(t *testing.T, name string, r *Repository) {
	t.Helper()
	chain, err := r.firstParents(ctx, "", "main")
	must.OK(t, err)
	want := make([][]Change, len(chain))
	base := r.EmptyTree().root
	for i, c := range chain {
		if want[i], err = r.compare(ctx, base, c.tree); err != nil {
			t.Fatal(err)
		}
		base = c.tree
	}
	for _, limits := range []batchLimits{batches, {1, 1000}, {7, 1 << 20}, {64, 20}} {
		var got [][]Change
		for b, err := range r.compareChain(ctx, "", r.EmptyTree().root, chain, limits) {
			if err != nil || len(b.commits) != len(b.changes) {
				t.Fatalf("%s, %v: %v", name, limits, err)
			}
			got = append(got, b.changes...)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s, %v: got %v, want %v", name, limits, got, want)
		}
	}
}
