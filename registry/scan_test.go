package registry

import (
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"testing"

	"github.com/openagentprotocol-OAP/oap-gate/internal/test/fixture"
	"github.com/openagentprotocol-OAP/oap-gate/internal/test/must"
)

// collect gives all that a scan yields, or its error.
func collect[T any](seq iter.Seq2[T, error]) ([]T, error) {
	var all []T
	for one, err := range seq {
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// TestScanInParts checks that however many files are decoded at once, all are given, in order, and no more are read
// once nobody wants them.
func TestScanInParts(t *testing.T) {
	const listings = 150
	generated := must.Get(fixture.Generate(filepath.Join(t.TempDir(), "registry"), fixture.Bulk{Listings: listings}))(t)
	repo := must.Get(Open(generated.Dir))(t)
	defer repo.Close()
	tree := must.Get(repo.Tree(t.Context(), "main"))(t)
	path := func(r *Record) string { return r.Path }
	for _, atOnce := range []int{1, 49, 50, 75, 149, 150, 151} {
		t.Run(fmt.Sprint(atOnce), func(t *testing.T) {
			paths, err := collect(scan(t.Context(), tree, KindListing, atOnce, path))
			if err != nil || len(paths) != listings || !slices.IsSorted(paths) ||
				len(slices.Compact(paths)) != listings {
				t.Errorf("%d paths, %v", len(paths), err)
			}
			given := 0
			for range scan(t.Context(), tree, KindListing, atOnce, path) {
				if given++; given == 50 {
					break
				}
			}
			if given != 50 {
				t.Errorf("%d given", given)
			}
		})
	}
}

func TestInParallelCrash(t *testing.T) {
	defer func() {
		if r := recover(); r != "a bug" {
			t.Errorf("recovered %v", r)
		}
	}()
	_ = inParallel(t.Context(), 100, 10, func(int, int) error { panic("a bug") })
}
